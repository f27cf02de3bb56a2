//! How every call of `git` is set up.

use std::ffi::OsString;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use super::child::{self, Finished, Interrupt};
use crate::model::{Bot, ConnectTo};

/// The oldest Git that knows every option used here (`http.curloptResolve`, 2.37).
pub const MINIMUM_VERSION: (u32, u32) = (2, 38);

/// Longest time for a call that only touches local files.
const LOCAL_DEADLINE: Duration = Duration::from_hours(6);

/// What a child process may know of the environment; read by `cli`, nowhere else.
#[derive(Clone, Debug, Default)]
pub struct Environment {
    /// Where programs are found (`PATH`).
    pub path: Option<OsString>,
    /// Home directory: given to `ssh` only, for its keys and known hosts.
    pub home: Option<OsString>,
    /// Socket of the SSH agent.
    pub ssh_auth_sock: Option<OsString>,
    /// Where temporary files go (`TMPDIR`).
    pub temporary: Option<OsString>,
    /// Where the user's settings of Git are (`GIT_CONFIG_GLOBAL` and the like): read for
    /// `credential.*` alone.
    pub settings: Vec<(String, OsString)>,
    /// What credential helpers go by (`XDG_RUNTIME_DIR` and the like); known to a push alone.
    pub helpers: Vec<(String, OsString)>,
}

/// How hosts are reached; from `[network]` and the command line.
#[derive(Clone, Debug, Default)]
pub struct Network {
    /// Proxy for HTTP; none unless given.
    pub proxy: Option<String>,
    /// File of certificates to trust instead of the system's.
    pub ca_file: Option<PathBuf>,
    /// Where to connect to instead of hosts as they are named.
    pub connect_to: Vec<ConnectTo>,
}

/// A call of Git that did not do what it was asked for.
#[derive(Debug, thiserror::Error)]
pub enum GitError {
    /// The program is not there.
    #[error("cannot run `git`: {0}{hint}", hint = install(.0))]
    Missing(std::io::Error),
    /// It is too old.
    #[error("git {0} is too old: {major}.{minor} or later is needed", major = MINIMUM_VERSION.0, minor = MINIMUM_VERSION.1)]
    Version(String),
    /// It ended with an error.
    #[error("git {command} failed in {directory}: {message}")]
    Failed {
        /// The command, without options.
        command: String,
        /// Where it ran.
        directory: PathBuf,
        /// What it said, shortened.
        message: String,
    },
    /// The disk is full.
    #[error(
        "git {command} failed in {directory}: {message}; make room and run again, nothing is lost"
    )]
    NoSpace {
        /// The command, without options.
        command: String,
        /// Where it ran.
        directory: PathBuf,
        /// What it said, shortened.
        message: String,
    },
    /// It took longer than it may.
    #[error("git {command} was stopped after {seconds} s")]
    TimedOut {
        /// The command, without options.
        command: String,
        /// The limit.
        seconds: u64,
    },
    /// The run was interrupted.
    #[error("interrupted")]
    Interrupted,
}

/// What to do where the program is not found.
fn install(error: &std::io::Error) -> String {
    let (major, minor) = MINIMUM_VERSION;
    match error.kind() {
        ErrorKind::NotFound => format!("; install Git {major}.{minor} or later"),
        _ => String::new(),
    }
}

/// The Git client.
#[derive(Clone, Debug)]
pub struct Git {
    pub(super) environment: Environment,
    pub(super) network: Network,
    user_agent: String,
    from: String,
    pub(super) interrupt: Interrupt,
}

impl Git {
    /// A client that speaks for `bot`.
    #[must_use]
    pub fn new(bot: &Bot, environment: Environment, network: Network) -> Self {
        Self {
            environment,
            network,
            user_agent: bot.user_agent(),
            from: bot.from_header().to_owned(),
            interrupt: Interrupt::default(),
        }
    }

    /// The same client, whose calls end early when `interrupt` is raised.
    #[must_use]
    pub fn with_interrupt(mut self, interrupt: Interrupt) -> Self {
        self.interrupt = interrupt;
        self
    }

    /// Fails where Git is missing or older than [`MINIMUM_VERSION`]; gives its version.
    ///
    /// # Errors
    /// Git is missing, does not tell its version, or is too old.
    pub fn check_version(&self) -> Result<String, GitError> {
        let output = self.outside(Path::new("."), &["version"])?;
        let text = String::from_utf8_lossy(&output);
        let version = text.trim().trim_start_matches("git version ").to_owned();
        let mut numbers = version.split('.').map(|n| n.parse::<u32>().unwrap_or(0));
        let found = (numbers.next().unwrap_or(0), numbers.next().unwrap_or(0));
        if found < MINIMUM_VERSION { Err(GitError::Version(version)) } else { Ok(version) }
    }

    /// Runs a call on a bare repository that touches local files only and gives its
    /// standard output.
    pub(super) fn local(&self, repository: &Path, arguments: &[&str]) -> Result<Vec<u8>, GitError> {
        self.call(self.command_in(repository), (repository, arguments))
    }

    /// The same for a call that needs no repository.
    pub(super) fn outside(
        &self,
        directory: &Path,
        arguments: &[&str],
    ) -> Result<Vec<u8>, GitError> {
        self.call(self.command(directory), (directory, arguments))
    }

    fn call(
        &self,
        mut command: Command,
        (directory, arguments): (&Path, &[&str]),
    ) -> Result<Vec<u8>, GitError> {
        command.args(arguments);
        self.succeed(command, None, (directory, arguments.first().copied().unwrap_or_default()))
    }

    /// Runs a prepared command that must succeed and touches local files only; gives its
    /// standard output.
    pub(super) fn succeed(
        &self,
        command: Command,
        input: Option<Vec<u8>>,
        (directory, name): (&Path, &str),
    ) -> Result<Vec<u8>, GitError> {
        let finished = self.finish_fed(command, input, (name, LOCAL_DEADLINE))?;
        if finished.success {
            return Ok(finished.stdout);
        }
        Err(failed(name, directory, &finished))
    }

    /// Runs a prepared command to its end, its deadline or an interrupt.
    pub(super) fn finish(
        &self,
        command: Command,
        name: &str,
        deadline: Duration,
    ) -> Result<Finished, GitError> {
        self.finish_fed(command, None, (name, deadline))
    }

    pub(super) fn finish_fed(
        &self,
        command: Command,
        input: Option<Vec<u8>>,
        (name, deadline): (&str, Duration),
    ) -> Result<Finished, GitError> {
        let timed_out =
            || GitError::TimedOut { command: name.to_owned(), seconds: deadline.as_secs() };
        match child::run(command, input, (deadline, &self.interrupt)) {
            Ok(finished) => Ok(finished),
            Err(child::ChildError::Start(error)) => Err(GitError::Missing(error)),
            Err(child::ChildError::TimedOut) => Err(timed_out()),
            Err(child::ChildError::Interrupted) => Err(GitError::Interrupted),
        }
    }

    /// A call of Git in `directory` with everything closed that a repository, a user or a
    /// server could use to make it do something else.
    pub(super) fn command(&self, directory: &Path) -> Command {
        let mut command = Command::new("git");
        command.current_dir(directory).env_clear().stdin(Stdio::null());
        for (name, value) in
            [("PATH", &self.environment.path), ("TMPDIR", &self.environment.temporary)]
        {
            if let Some(value) = value {
                command.env(name, value);
            }
        }
        command.envs([
            ("LC_ALL", "C"),
            ("HOME", "/nonexistent"),
            ("GIT_CONFIG_NOSYSTEM", "1"),
            ("GIT_CONFIG_GLOBAL", "/dev/null"),
            ("GIT_ATTR_NOSYSTEM", "1"),
            ("GIT_TERMINAL_PROMPT", "0"),
            ("GIT_ALLOW_PROTOCOL", ""),
            ("GIT_LFS_SKIP_SMUDGE", "1"),
            ("GIT_NO_LAZY_FETCH", "1"),
            ("GIT_NO_REPLACE_OBJECTS", "1"),
            ("GIT_OPTIONAL_LOCKS", "0"),
        ]);
        let from = format!("http.extraHeader=From: {}", self.from);
        let agent = format!("http.userAgent={}", self.user_agent);
        for setting in FIXED.iter().copied().chain([from.as_str(), agent.as_str()]) {
            command.args(["-c", setting]);
        }
        command
    }

    /// A call on the bare repository `repository` and on no other: where it is not one, Git
    /// does not look for another one in the directories above.
    pub(super) fn command_in(&self, repository: &Path) -> Command {
        let mut command = self.command(repository);
        command.env("GIT_DIR", ".");
        command
    }

    /// Whom to write to.
    pub(super) fn contact(&self) -> &str {
        &self.from
    }

    /// Opens the environment of a call that goes to the network by `ssh`.
    pub(super) fn allow_ssh(&self, command: &mut Command) {
        command.env("GIT_SSH_COMMAND", "ssh -o BatchMode=yes -o StrictHostKeyChecking=yes");
        let values =
            [("HOME", &self.environment.home), ("SSH_AUTH_SOCK", &self.environment.ssh_auth_sock)];
        for (name, value) in values {
            if let Some(value) = value {
                command.env(name, value);
            }
        }
    }
}

/// The error of a call that ended with one, by Git's (untranslated) message.
pub(super) fn failed(command: &str, directory: &Path, finished: &Finished) -> GitError {
    let (command, directory, message) =
        (command.to_owned(), directory.to_owned(), finished.message());
    // Not every failure of a write is told with its cause.
    if finished.tells_of_full_disk() || is_full(&directory) {
        GitError::NoSpace { command, directory, message }
    } else {
        GitError::Failed { command, directory, message }
    }
}

/// Whether the disk that a directory is on takes no more.
fn is_full(directory: &Path) -> bool {
    let existing = directory.ancestors().find(|path| path.is_dir());
    let Some(existing) = existing else { return false };
    let probe = existing.join(format!("pagelog-room-{}", std::process::id()));
    let written = std::fs::write(&probe, vec![0; ROOM]);
    // Where it could not be made, there is nothing to remove.
    let _ = std::fs::remove_file(&probe);
    written.is_err_and(|error| {
        matches!(error.kind(), ErrorKind::StorageFull | ErrorKind::QuotaExceeded)
    })
}

/// Bytes without which no call of Git can do anything.
const ROOM: usize = 64 * 1024;

/// Settings of every call.
const FIXED: &[&str] = &[
    "core.hooksPath=/dev/null",
    "core.attributesFile=/dev/null",
    "core.fsmonitor=false",
    "core.askPass=",
    "core.pager=cat",
    "credential.helper=",
    "credential.interactive=false",
    "diff.external=",
    // Every fetch stays a pack: packs are counted, and a cache with many is tidied.
    "fetch.unpackLimit=1",
    "fetch.recurseSubmodules=false",
    "submodule.recurse=false",
    "gc.auto=0",
    "maintenance.auto=false",
    "http.followRedirects=false",
    "http.emptyAuth=false",
    "protocol.version=2",
    "advice.detachedHead=false",
];
