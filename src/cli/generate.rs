//! Completions and man pages, made from the arguments themselves.

use std::fs;
use std::path::Path;

use clap::CommandFactory as _;

use super::options::Options;
use super::output::Output;
use super::{Ending, Failure};

pub(crate) fn completions(shell: clap_complete::Shell, output: &Output) -> Result<Ending, Failure> {
    let mut text = Vec::new();
    clap_complete::generate(shell, &mut Options::command(), "pagelog", &mut text);
    output.bytes(&text)?;
    Ok(Ending::Done)
}

pub(crate) fn man(directory: &Path, output: &Output) -> Result<Ending, Failure> {
    let failed = |error| Failure::File {
        what: "write man pages to",
        path: directory.display().to_string(),
        error,
    };
    fs::create_dir_all(directory).map_err(failed)?;
    clap_mangen::generate_to(Options::command(), directory).map_err(failed)?;
    output.tell(&format!("wrote man pages to {}", directory.display()));
    Ok(Ending::Done)
}
