//! `pagelog status`

use super::options::JsonArguments;
use super::output::Output;
use super::session::{Session, memory};
use super::{Ending, Failure};
use crate::report::Status;

pub(crate) fn status(
    session: &Session,
    arguments: &JsonArguments,
    output: &Output,
) -> Result<Ending, Failure> {
    let archive = session.archive()?;
    let (state, schedule) = memory(&archive)?;
    let status = Status::of(&session.basis(state.as_ref(), schedule.as_ref()), &archive)?;
    if arguments.json {
        output.json(&status)?;
    } else {
        output.data(&status.to_text())?;
    }
    Ok(Ending::Done)
}
