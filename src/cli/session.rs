//! What most commands need: configuration, clock, Git, archive, state.

use std::time::{Duration, SystemTime};

use crate::archive::{Archive, Heads, UpkeepLock, WaitForUpkeep};
use crate::clock::Clock;
use crate::config::{Config, load};
use crate::git::{Environment, Git, Interrupt, Network};
use crate::model::Timestamp;
use crate::report::{Basis, RunRules};
use crate::run::{can_go_on, conversion_rules};
use crate::state::{Schedule, State};

use super::Failure;
use super::options::Options;
use super::output::Output;

/// How much longer than its budget an upkeep is awaited.
const MORE_TIME: Duration = Duration::from_mins(1);

/// One call of the program.
pub(crate) struct Session {
    pub config: Config,
    pub clock: Clock,
    pub git: Git,
    pub interrupt: Interrupt,
}

impl Session {
    pub fn new(options: &Options, interrupt: Interrupt) -> Result<Self, Failure> {
        let config = load(&options.config).map_err(Box::new)?;
        Self::with(config, options, interrupt)
    }

    /// One call with a configuration that was read already: the command line may change
    /// where its archive is and how it is connected.
    pub fn with(
        mut config: Config,
        options: &Options,
        interrupt: Interrupt,
    ) -> Result<Self, Failure> {
        if let Some(path) = &options.archive {
            config.archive.path.clone_from(path);
        }
        if !options.connect_to.is_empty() {
            config.network.connect_to.clone_from(&options.connect_to);
        }
        if let Some(file) = &options.ca_file {
            config.network.ca_file = Some(file.clone());
        }
        let absolute = std::path::absolute(&config.archive.path);
        config.archive.path = absolute.map_err(|error| Failure::File {
            what: "find",
            path: config.archive.path.display().to_string(),
            error,
        })?;
        let git = git(&config).with_interrupt(interrupt.clone());
        let clock = options.clock.map_or_else(Clock::system, Clock::starting_at);
        Ok(Self { config, clock, git, interrupt })
    }

    /// The archive, which must be there.
    pub fn archive(&self) -> Result<Archive, Failure> {
        Ok(Archive::open(&self.config.archive.path)?)
    }

    /// Keeps the packs of the archive as they are; waits for an upkeep that a run does.
    pub fn hold_packs(&self, archive: &Archive, output: &Output) -> Result<UpkeepLock, Failure> {
        let tell = || output.tell("a run does the archive's upkeep; waiting for its end");
        let longest = self.config.run.upkeep.saturating_add(MORE_TIME);
        Ok(archive.hold_packs(&WaitForUpkeep { longest, tell: &tell })?)
    }

    /// The archive and what the state knows of it.
    pub fn archive_and_state(&self, output: &Output) -> Result<(Archive, Option<State>), Failure> {
        let archive = self.archive()?;
        let state = readable_state(&archive, output)?;
        Ok((archive, state))
    }

    /// What questions about the present are answered from.
    pub fn basis<'a>(
        &'a self,
        state: Option<&'a State>,
        schedule: Option<&'a Schedule>,
    ) -> Basis<'a> {
        let machine = self.clock.machine().duration_since(SystemTime::UNIX_EPOCH);
        let machine = machine.unwrap_or_default().as_millis();
        Basis {
            config: &self.config,
            state,
            schedule,
            now: self.now(),
            machine: i64::try_from(machine).unwrap_or(i64::MAX),
            run: RunRules { conversion: conversion_rules, goes_on: can_go_on },
        }
    }

    /// Time of the command's start.
    pub fn now(&self) -> Timestamp {
        self.clock.now()
    }
}

/// What is remembered beside an archive: of pages and runs, and of hosts.
pub(crate) fn memory(
    archive: &Archive,
    output: &Output,
) -> Result<(Option<State>, Option<Schedule>), Failure> {
    let state = readable_state(archive, output)?;
    if state.is_none() && archive.heads()? != Heads::default() {
        output.warn(
            "what is known of runs and addresses is missing; the next run makes it anew from the \
             archive",
        );
    }
    Ok((state, Schedule::open_to_read(&archive.politeness_file())?))
}

/// What the state knows; nothing where it is damaged, which is told.
fn readable_state(archive: &Archive, output: &Output) -> Result<Option<State>, Failure> {
    match State::open_to_read(&archive.state_file()) {
        Err(error) if error.is_damage() => {
            output.warn(&format!(
                "{error}; answered without it. `pagelog audit --repair`, or the next run, makes \
                 it anew from the archive"
            ));
            Ok(None)
        }
        other => Ok(other?),
    }
}

/// Lets Ctrl-C and a request to terminate raise the interrupt instead of ending the program.
pub(crate) fn obey_signals(interrupt: &Interrupt) {
    let interrupt = interrupt.clone();
    // Without a handler the signals end the program at once, which loses nothing.
    let _ = ctrlc::set_handler(move || interrupt.raise());
}

/// By what Git finds the settings of the user and of the system.
const USER_SETTINGS: &[&str] =
    &["GIT_CONFIG_GLOBAL", "GIT_CONFIG_SYSTEM", "GIT_CONFIG_NOSYSTEM", "XDG_CONFIG_HOME"];

/// By what common credential helpers find what they keep.
const HELPERS: &[&str] = &[
    "XDG_CONFIG_HOME",
    "XDG_CACHE_HOME",
    "XDG_DATA_HOME",
    "XDG_RUNTIME_DIR",
    "DBUS_SESSION_BUS_ADDRESS",
    "GNUPGHOME",
    "PASSWORD_STORE_DIR",
];

/// The Git client of a configuration.
pub(crate) fn git(config: &Config) -> Git {
    let variable = |name: &str| std::env::var_os(name);
    let variables = |names: &[&str]| {
        names.iter().filter_map(|name| Some(((*name).to_owned(), variable(name)?))).collect()
    };
    let environment = Environment {
        path: variable("PATH"),
        home: variable("HOME"),
        ssh_auth_sock: variable("SSH_AUTH_SOCK"),
        temporary: variable("TMPDIR"),
        settings: variables(USER_SETTINGS),
        helpers: variables(HELPERS),
    };
    let network = Network {
        proxy: config.network.proxy.clone(),
        ca_file: config.network.ca_file.clone(),
        connect_to: config.network.connect_to.clone(),
    };
    Git::new(&config.bot, environment, network)
}
