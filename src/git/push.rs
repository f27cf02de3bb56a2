//! Asking a mirror what it has, and giving it what it lacks.
//!
//! A push names each ref and each commit by itself, with the commit that the mirror must be
//! at for it to be made: nothing goes along that was not named, and what somebody else pushed
//! meanwhile is never overwritten.

use std::net::IpAddr;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use super::child::Finished;
use super::client::{Git, GitError};
use super::transport::FetchError;
use super::trouble::{is_closed, is_network, says};
use crate::model::{RemoteUrl, redacted};

/// Longest time that a mirror may take to say what it has.
const ASKING: Duration = Duration::from_mins(5);

/// How ssh is called: an end that no longer answers is noticed.
const SSH: &str = "ssh -o BatchMode=yes -o StrictHostKeyChecking=yes -o ConnectTimeout=60 \
                   -o ServerAliveInterval=60 -o ServerAliveCountMax=10";

/// A mirror, and how long a call to it may take.
#[derive(Clone, Copy, Debug)]
pub struct Remote<'a> {
    /// Where it is.
    pub url: &'a RemoteUrl,
    /// The longest time of one call.
    pub longest: Duration,
    /// How it is known what the mirror has.
    pub known: KnownBy,
}

/// How it is known what a mirror has, which is not sent again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KnownBy {
    /// By where its refs are.
    Refs,
    /// By asking it: its refs are at commits that are not known here.
    Asking,
}

/// The change of one ref.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RefUpdate {
    /// Full name of the ref.
    pub name: String,
    /// The commit that it must be at; `None` where there must be none.
    pub old: Option<String>,
    /// The commit that it goes to; `None` removes it.
    pub new: Option<String>,
}

/// How what is sent is packed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PushMode {
    /// As small as Git makes it.
    Small,
    /// As it is stored, so that its size is known before.
    AsStored,
}

/// Why a mirror was not given what it lacks.
#[derive(Debug, thiserror::Error)]
pub enum PushError {
    /// The ref of the mirror is not at the commit that it was at before.
    #[error(
        "somebody else pushed to it meanwhile, and nothing was overwritten; publish again to see what it has now"
    )]
    LeaseLost,
    /// The mirror does not take a push of that size.
    #[error("it does not take a push of this size ({0}); set `slice` in [publish] to less")]
    TooLarge(String),
    /// The mirror took the connection and refused the push.
    #[error("it refused the push: {0}")]
    Refused(String),
    /// There is no repository, or not for us.
    #[error(
        "it does not exist, or is closed to us ({0}); make an empty repository there, and let Git's `credential.helper`, or ssh with its agent, tell who you are"
    )]
    Closed(String),
    /// An address that is never contacted.
    #[error(
        "{host} resolves to {address}, a private or local address, which is never contacted; name the address itself, or lead to it with `connect_to` in [network]"
    )]
    Address {
        /// The host.
        host: String,
        /// The offending address.
        address: IpAddr,
    },
    /// The network or the server failed; another try may succeed.
    #[error("it could not be reached: {0}")]
    Network(String),
    /// Anything else.
    #[error(transparent)]
    Git(#[from] GitError),
}

impl Git {
    /// Asks a mirror for refs by their full names; gives those that it has, with their ids.
    ///
    /// # Errors
    /// See [`PushError`].
    pub fn remote_refs(
        &self,
        remote: Remote<'_>,
        names: &[&str],
    ) -> Result<Vec<(String, String)>, PushError> {
        let mut command = self.command(Path::new("/"));
        command.env("GIT_DIR", "/nonexistent");
        let url = self.approach(&mut command, remote.url)?;
        command.args(["ls-remote", "--quiet", &url]).args(names);
        let finished = self.finish(command, "ls-remote", remote.longest.min(ASKING))?;
        if !finished.success {
            return Err(classify(("ls-remote", Path::new("/")), &finished));
        }
        let text = String::from_utf8_lossy(&finished.stdout);
        let refs = text.lines().filter_map(|line| line.split_once('\t'));
        let wanted = refs.filter(|(_, name)| names.contains(name));
        Ok(wanted.map(|(id, name)| (name.to_owned(), id.to_owned())).collect())
    }

    /// Changes refs of a mirror, all or none, and sends it what it lacks of them out of an
    /// outbox. A ref that is not at its old commit stops all of it.
    ///
    /// # Errors
    /// See [`PushError`].
    pub fn push(
        &self,
        outbox: &Path,
        remote: Remote<'_>,
        (updates, mode): (&[RefUpdate], PushMode),
    ) -> Result<(), PushError> {
        let mut command = self.command_in(outbox);
        let url = self.approach(&mut command, remote.url)?;
        // Exactly what the edges have is left out, whatever the names of directories.
        command.args(["-c", "pack.useSparse=false"]);
        if remote.known == KnownBy::Asking {
            command.args(["-c", "push.negotiate=true"]);
        }
        if mode == PushMode::AsStored {
            command.args(["-c", "pack.window=0"]);
        }
        command.args(["push", "--porcelain", "--atomic", "--no-verify", "--no-follow-tags"]);
        command.args(["--no-signed", "--recurse-submodules=no"]);
        for RefUpdate { name, old, .. } in updates {
            let old = old.as_deref().unwrap_or_default();
            command.arg(format!("--force-with-lease={name}:{old}"));
        }
        command.arg(url);
        for RefUpdate { name, new, .. } in updates {
            command.arg(format!("{}:{name}", new.as_deref().unwrap_or_default()));
        }
        let finished = self.finish(command, "push", remote.longest)?;
        if finished.success { Ok(()) } else { Err(classify(("push", outbox), &finished)) }
    }

    /// Opens a call to a mirror: its protocol, its address, and who we are there. Gives the
    /// URL to use.
    fn approach(&self, command: &mut Command, url: &RemoteUrl) -> Result<String, PushError> {
        let address = self.point_at(command, url.repository()).map_err(|error| match error {
            FetchError::Address { host, address } => PushError::Address { host, address },
            FetchError::Network(why) => PushError::Network(why),
            FetchError::Git(error) => PushError::Git(error),
            other => PushError::Network(other.to_string()),
        })?;
        // While a mirror works on what it was sent, little comes from it.
        command.args(["-c", "http.lowSpeedLimit=1", "-c", "http.lowSpeedTime=600"]);
        match url.protocol() {
            "ssh" => {
                command.env("GIT_SSH_COMMAND", SSH);
            }
            "http" | "https" => self.allow_credentials(command)?,
            _ => {}
        }
        Ok(address)
    }
}

/// Says what a failed call means, by Git's (untranslated) messages.
fn classify((command, directory): (&str, &Path), finished: &Finished) -> PushError {
    const LEASE: &[&str] = &["(stale info)", "(fetch first)", "(non-fast-forward)"];
    const SIZE: &[&str] = &["maximum allowed size", "HTTP 413", "error: 413"];
    let told = String::from_utf8_lossy(&finished.stdout);
    let rejected = told.lines().find(|line| line.starts_with('!')).unwrap_or_default();
    let message = redacted(&finished.message());
    let all = String::from_utf8_lossy(&finished.stderr);
    if says(&told, LEASE) {
        return PushError::LeaseLost;
    }
    if says(&all, SIZE) {
        return PushError::TooLarge(message);
    }
    let reason = rejected.split('\t').nth(2).unwrap_or_default();
    if reason.contains("rejected") {
        return PushError::Refused(format!("{}; {message}", redacted(reason)));
    }
    if is_closed(&all) || all.contains("Host key verification failed") {
        return PushError::Closed(message);
    }
    if is_network(&all) {
        return PushError::Network(message);
    }
    let (command, directory) = (command.to_owned(), directory.to_owned());
    PushError::Git(GitError::Failed { command, directory, message })
}
