//! `pagelog status`

use super::options::JsonArguments;
use super::output::Output;
use super::session::{Session, memory};
use super::{Ending, Failure};
use crate::archive::Sizes;
use crate::report::Status;

pub(crate) fn status(
    session: &Session,
    arguments: &JsonArguments,
    output: &Output,
) -> Result<Ending, Failure> {
    let archive = session.archive()?;
    let (state, schedule) = memory(&archive, output)?;
    let sizes = archive.sizes(&session.git).unwrap_or_else(|error| {
        output.warn(&format!("sizes are not known: {error}; `pagelog audit` says more"));
        Sizes::default()
    });
    let basis = session.basis(state.as_ref(), schedule.as_ref());
    let status = Status::of(&basis, &archive, &sizes)?;
    if arguments.json {
        output.json(&status)?;
    } else {
        output.data(&status.to_text())?;
    }
    Ok(Ending::Done)
}
