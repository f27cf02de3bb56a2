//! `pagelog status`

use super::options::JsonArguments;
use super::output::Output;
use super::session::Session;
use super::{Ending, Failure};
use crate::report::Status;

pub(crate) fn status(
    session: &Session,
    arguments: &JsonArguments,
    output: &Output,
) -> Result<Ending, Failure> {
    let (archive, state) = session.archive_and_state()?;
    let status = Status::of(&session.config, &archive, state.as_ref(), session.now())?;
    if arguments.json {
        output.json(&status)?;
    } else {
        output.data(&status.to_text())?;
    }
    Ok(Ending::Done)
}
