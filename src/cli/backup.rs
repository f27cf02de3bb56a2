//! `pagelog backup`

use std::path::Path;

use super::output::Output;
use super::session::Session;
use super::{Ending, Failure};
use crate::archive::Archive;
use crate::state::{Schedule, State, StateError};

pub(crate) fn backup(
    session: &Session,
    directory: &Path,
    output: &Output,
) -> Result<Ending, Failure> {
    let archive = session.archive()?;
    let copy_state = |copy: &Archive| -> Result<(), StateError> {
        if let Some(state) = State::open_to_read(&archive.state_file())? {
            state.copy_to(&copy.state_file())?;
        }
        match Schedule::open_to_read(&archive.politeness_file())? {
            Some(schedule) => schedule.copy_to(&copy.politeness_file()),
            None => Ok(()),
        }
    };
    let copy_state = |copy: &Archive| copy_state(copy).map_err(|error| error.to_string());
    let packs = session.hold_packs(&archive, output)?;
    let bytes = archive.back_up(directory, &packs, &copy_state)?;
    output.tell(&format!("copied {bytes} bytes to {}", directory.display()));
    Ok(Ending::Done)
}
