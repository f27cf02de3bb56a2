//! `pagelog backup`

use std::path::Path;

use super::output::Output;
use super::session::Session;
use super::{Ending, Failure};
use crate::state::State;

pub(crate) fn backup(
    session: &Session,
    directory: &Path,
    output: &Output,
) -> Result<Ending, Failure> {
    let archive = session.archive()?;
    let copy_state = |target: &Path| match State::open_to_read(&archive.state_file()) {
        Ok(Some(state)) => state.copy_to(target).map_err(|error| error.to_string()),
        Ok(None) => Ok(()),
        Err(error) => Err(error.to_string()),
    };
    let bytes = archive.back_up(directory, &copy_state)?;
    output.tell(&format!("copied {bytes} bytes to {}", directory.display()));
    Ok(Ending::Done)
}
