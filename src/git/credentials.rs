//! What a call to a mirror may know of the user: how credentials are got, and nothing else.
//!
//! The user's settings stay closed, as for every call. Those named `credential.…` are read out
//! of them and handed to the call by environment variables, so that a helper that is a line of
//! shell stands neither in a file of ours nor in the list of processes.

use std::path::Path;
use std::process::Command;

use super::client::{Git, GitError};

/// Begins the names of the variables that carry settings.
const VARIABLE: &str = "PAGELOG_CREDENTIAL_";

impl Git {
    /// Lets a call ask the credential helpers that the user or the system configured. Nobody
    /// is asked for anything: prompts stay closed.
    pub(super) fn allow_credentials(&self, command: &mut Command) -> Result<(), GitError> {
        for (name, value) in &self.environment.helpers {
            command.env(name, value);
        }
        if let Some(home) = &self.environment.home {
            command.env("HOME", home);
        }
        let mut settings = self.credential_settings("--system")?;
        settings.extend(self.credential_settings("--global")?);
        for (number, (name, value)) in settings.iter().enumerate() {
            let variable = format!("{VARIABLE}{number}");
            command.arg(format!("--config-env={name}={variable}")).env(variable, value);
        }
        Ok(())
    }

    /// Settings of one scope that begin with `credential.`, in their order.
    fn credential_settings(&self, scope: &str) -> Result<Vec<(String, String)>, GitError> {
        let mut command = self.command(Path::new("/"));
        command.env_remove("GIT_CONFIG_GLOBAL").env_remove("GIT_CONFIG_NOSYSTEM");
        for (name, value) in &self.environment.settings {
            command.env(name, value);
        }
        if let Some(home) = &self.environment.home {
            command.env("HOME", home);
        }
        command.env("GIT_DIR", "/nonexistent");
        command.args(["config", scope, "--includes", "-z", "--get-regexp", "^credential\\."]);
        let finished = self.finish(command, "config", std::time::Duration::from_mins(1))?;
        // Without such settings, or without a file, Git ends with an error and prints nothing.
        let text = String::from_utf8_lossy(&finished.stdout);
        let pair = |entry: &str| {
            let (name, value) = entry.split_once('\n').unwrap_or((entry, "true"));
            (name.to_owned(), value.to_owned())
        };
        Ok(text.split_terminator('\0').map(pair).collect())
    }
}
