//! `pagelog explain`

use super::options::ExplainArguments;
use super::output::Output;
use super::session::Session;
use super::{Ending, Failure};
use crate::archive::Archive;
use crate::report::Explanation;
use crate::state::State;

pub(crate) fn explain(
    session: &Session,
    arguments: &ExplainArguments,
    output: &Output,
) -> Result<Ending, Failure> {
    let archive = Archive::open(&session.config.archive.path).ok();
    let state =
        archive.map(|archive| State::open_to_read(&archive.state_file())).transpose()?.flatten();
    let explanation = Explanation::of(&session.config, state.as_ref(), &arguments.url)?;
    if arguments.json {
        output.json(&explanation)?;
    } else {
        output.data(&explanation.to_text())?;
    }
    Ok(Ending::Done)
}
