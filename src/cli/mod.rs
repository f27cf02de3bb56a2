//! The command line: the only module that prints, reads the environment, or exits.
//!
//! Data goes to standard output, everything else to standard error. Exit codes: 0 done;
//! 1 failed and nothing was committed or published (or, for `audit` and `check`, faults were
//! found);
//! 2 bad usage or configuration; 3 done in part; 4 another run holds the lock;
//! 130 interrupted.

mod address;
mod archive;
mod audit;
mod backup;
mod changes;
mod check;
mod conduct;
mod convert;
mod explain;
mod generate;
mod history;
mod init;
mod links;
mod manners;
mod meter;
mod options;
mod output;
mod probe;
mod progress;
mod publish;
mod purge;
mod run;
mod session;
mod show;
mod status;
mod stop;

use std::process::ExitCode;

use clap::Parser as _;

use crate::archive::ArchiveError;
use crate::config::ConfigErrors;
use crate::git::Interrupt;
use crate::publish::PublishError;
use crate::report::ReportError;
use crate::run::RunError;
use crate::state::StateError;
use options::{Command, Options};
use output::Output;
use session::Session;

/// How a command ended, when it did not fail.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Ending {
    /// All was done.
    Done,
    /// Faults were found.
    Faults,
    /// It was done in part.
    Partly,
}

/// Why a command failed.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Failure {
    /// The configuration is not valid.
    #[error("{0}")]
    Config(#[from] Box<ConfigErrors>),
    /// The command line asks for something impossible.
    #[error("{0}")]
    Usage(String),
    /// A run failed.
    #[error(transparent)]
    Run(#[from] RunError),
    /// Nothing was published.
    #[error(transparent)]
    Publish(#[from] PublishError),
    /// A question could not be answered.
    #[error(transparent)]
    Report(#[from] ReportError),
    /// A file could not be read or written.
    #[error("cannot {what} {path}: {error}")]
    File { what: &'static str, path: String, error: std::io::Error },
    /// Somebody asked to stop, and there is nothing that a next call could go on with.
    #[error("interrupted")]
    Interrupted,
    /// Standard output is closed: whoever reads it has seen enough.
    #[error("standard output was closed")]
    Closed,
}

impl From<ArchiveError> for Failure {
    fn from(error: ArchiveError) -> Self {
        Self::Run(error.into())
    }
}

impl From<StateError> for Failure {
    fn from(error: StateError) -> Self {
        Self::Run(error.into())
    }
}

impl From<crate::git::GitError> for Failure {
    fn from(error: crate::git::GitError) -> Self {
        Self::Run(error.into())
    }
}

impl Failure {
    fn code(&self) -> u8 {
        match self {
            Self::Config(_)
            | Self::Usage(_)
            | Self::Publish(PublishError::NoMirror | PublishError::UnknownMirror(_))
            | Self::Run(
                RunError::UnknownSource(_)
                | RunError::NothingToPurge(_)
                | RunError::StillPublic(_)
                | RunError::CaseRule
                | RunError::Archive(ArchiveError::Revision { .. }),
            )
            | Self::Report(ReportError::Archive(ArchiveError::Revision { .. })) => 2,
            Self::Run(RunError::Archive(ArchiveError::Locked { .. }))
            | Self::Publish(PublishError::Archive(ArchiveError::Locked { .. })) => 4,
            Self::Run(RunError::Interrupted)
            | Self::Publish(PublishError::Interrupted)
            | Self::Interrupted => 130,
            Self::Closed => 0,
            _ => 1,
        }
    }
}

/// Runs the program with the arguments of the process.
#[must_use]
pub fn main() -> ExitCode {
    let options = match Options::try_parse() {
        Ok(options) => options,
        Err(error) => {
            let wanted = !error.use_stderr();
            // Nobody is left to be told where the terminal is gone.
            let _ = error.print();
            return ExitCode::from(if wanted { 0 } else { 2 });
        }
    };
    output::begin_log(&options);
    let output = Output::new(&options);
    match dispatch(&options, &output) {
        Ok(Ending::Done) => ExitCode::SUCCESS,
        Ok(Ending::Faults) => ExitCode::from(1),
        Ok(Ending::Partly) => ExitCode::from(3),
        Err(Failure::Config(errors)) => {
            output.config_errors(*errors);
            ExitCode::from(2)
        }
        Err(failure) => {
            if !matches!(failure, Failure::Closed) {
                output.error(&failure.to_string());
            }
            ExitCode::from(failure.code())
        }
    }
}

fn dispatch(options: &Options, output: &Output) -> Result<Ending, Failure> {
    match &options.command {
        Command::Init(arguments) => init::init(options, arguments, output),
        Command::Check(arguments) => check::check(options, arguments, output),
        Command::Convert(arguments) => convert::convert(arguments, output),
        Command::Completions { shell } => generate::completions(*shell, output),
        Command::Man { directory } => generate::man(directory, output),
        other => {
            let interrupt = Interrupt::default();
            if matches!(other, Command::Run(_) | Command::Publish(_) | Command::Purge(_)) {
                // Before anything is begun that would have to be ended in good order.
                session::obey_signals(&interrupt);
            }
            let session = Session::new(options, interrupt)?;
            match other {
                Command::Run(arguments) => run::run(&session, arguments, output),
                Command::Status(arguments) => status::status(&session, arguments, output),
                Command::Changes(arguments) => changes::changes(&session, arguments, output),
                Command::History(arguments) => history::history(&session, arguments, output),
                Command::Show(arguments) => show::show(&session, arguments, output),
                Command::Links(arguments) => links::links(&session, arguments, output),
                Command::Path(arguments) => address::path(&session, arguments, output),
                Command::Url(arguments) => address::url(&session, arguments, output),
                Command::Explain(arguments) => explain::explain(&session, arguments, output),
                Command::Manners(arguments) => manners::manners(&session, arguments, output),
                Command::Stop { name } => stop::stop(&session, name, output),
                Command::Audit(arguments) => audit::audit(&session, arguments, output),
                Command::Publish(arguments) => publish::publish(&session, arguments, output),
                Command::Purge(arguments) => purge::purge(&session, arguments, output),
                Command::Backup { directory } => backup::backup(&session, directory, output),
                Command::Init(_)
                | Command::Check(_)
                | Command::Convert(_)
                | Command::Completions { .. }
                | Command::Man { .. } => Ok(Ending::Done),
            }
        }
    }
}
