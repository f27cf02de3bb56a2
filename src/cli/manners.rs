//! `pagelog manners`

use super::options::MannersArguments;
use super::output::Output;
use super::session::Session;
use super::{Ending, Failure};
use crate::model::RunId;
use crate::report::Manners;
use crate::state::Schedule;

pub(crate) fn manners(
    session: &Session,
    arguments: &MannersArguments,
    output: &Output,
) -> Result<Ending, Failure> {
    let archive = session.archive()?;
    let schedule = Schedule::open_to_read(&archive.politeness_file())?;
    let run = arguments.run.map(RunId);
    let manners = Manners::of(&session.config, schedule.as_ref(), run)?;
    if arguments.json {
        output.json(&manners)?;
    } else {
        output.data(&manners.to_text())?;
    }
    Ok(Ending::Done)
}
