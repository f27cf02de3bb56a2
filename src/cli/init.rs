//! `pagelog init`

use std::fs::File;
use std::io::{self, Write as _};

use super::options::{InitArguments, Options};
use super::output::Output;
use super::session::git;
use super::{Ending, Failure};
use crate::archive::{Archive, ArchiveError};
use crate::config::{SAMPLE, load};
use crate::model::CaseRule;

pub(crate) fn init(
    options: &Options,
    arguments: &InitArguments,
    output: &Output,
) -> Result<Ending, Failure> {
    let path = options.config.display().to_string();
    let text = if arguments.portable_case {
        SAMPLE.replace("[archive]\n", "[archive]\nportable_case = true\n")
    } else {
        SAMPLE.to_owned()
    };
    match File::create_new(&options.config) {
        Ok(mut file) => {
            let written = file.write_all(text.as_bytes());
            written.map_err(|error| Failure::File { what: "write", path: path.clone(), error })?;
            output.tell(&format!("wrote {path}: fill in who you are and what to read"));
        }
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
            output.tell(&format!("kept {path}, which was there already"));
        }
        Err(error) => return Err(Failure::File { what: "create", path, error }),
    }
    let mut config = load(&options.config).map_err(Box::new)?;
    if let Some(path) = &options.archive {
        config.archive.path.clone_from(path);
    }
    if arguments.portable_case && config.archive.case == CaseRule::Keep {
        let hint =
            "add `portable_case = true` to its [archive], or remove the file and run init again";
        return Err(Failure::Usage(format!(
            "{path} was there and does not ask for portable case; {hint}"
        )));
    }
    let shown = config.archive.path.display();
    match Archive::open(&config.archive.path) {
        Ok(_) => output.tell(&format!("kept the archive at {shown}")),
        Err(ArchiveError::Missing(_)) => {
            Archive::init(&config.archive.path, config.archive.case, &git(&config))?;
            output.tell(&format!("made an empty archive at {shown}"));
        }
        Err(other) => return Err(other.into()),
    }
    output.tell("next: `pagelog check`, then `pagelog run`");
    Ok(Ending::Done)
}
