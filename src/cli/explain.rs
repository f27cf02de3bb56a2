//! `pagelog explain`

use super::options::ExplainArguments;
use super::output::Output;
use super::session::{Session, memory};
use super::{Ending, Failure};
use crate::archive::Archive;
use crate::report::Explanation;

pub(crate) fn explain(
    session: &Session,
    arguments: &ExplainArguments,
    output: &Output,
) -> Result<Ending, Failure> {
    let archive = Archive::open(&session.config.archive.path).ok();
    let (state, schedule) = match &archive {
        Some(archive) => memory(archive, output)?,
        None => (None, None),
    };
    let basis = session.basis(state.as_ref(), schedule.as_ref());
    let explanation = Explanation::of(&basis, &arguments.url)?;
    if arguments.json {
        output.json(&explanation)?;
    } else {
        output.data(&explanation.to_text())?;
    }
    Ok(Ending::Done)
}
