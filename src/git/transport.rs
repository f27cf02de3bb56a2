//! Fetching one snapshot of an upstream repository into a bare cache.

use std::fs::{self, File, TryLockError};
use std::net::{IpAddr, ToSocketAddrs};
use std::path::Path;
use std::thread;
use std::time::Duration;

use super::child::Finished;
use super::client::{Git, GitError, failed};
use super::trouble::{is_closed, is_network, says};
use crate::model::{Repository, is_global_address};

/// Longest time for one fetch.
const DEADLINE: Duration = Duration::from_hours(2);

/// How often, and how long each time, the end of a fetch of a killed run is awaited.
const ORPHAN_LOOKS: u32 = 600;

/// See [`ORPHAN_LOOKS`].
const LOOK: Duration = Duration::from_millis(50);

/// The ref of the cache that holds the newest snapshot.
const FETCHED: &str = "refs/upstream/fetched";

/// The ref of the cache that keeps the last archived snapshot from being pruned.
const ARCHIVED: &str = "refs/upstream/archived";

/// Packs in a cache beyond which it is repacked and pruned.
const PACKS_BEFORE_GC: usize = 24;

/// What is to be fetched, and where to.
#[derive(Clone, Copy, Debug)]
pub struct Fetch<'a> {
    /// The upstream.
    pub repository: &'a Repository,
    /// The branch; the remote's HEAD where `None`.
    pub branch: Option<&'a str>,
    /// The bare cache; made where it does not exist.
    pub cache: &'a Path,
    /// The longest time that it may take.
    pub longest: Duration,
}

/// Why a snapshot could not be fetched.
#[derive(Debug, thiserror::Error)]
pub enum FetchError {
    /// The upstream does not exist (any more) or asks for a login.
    #[error("the repository is gone or closed: {0}")]
    Gone(String),
    /// The repository has no commit, or no such branch.
    #[error("the repository is empty or has no such branch: {0}")]
    NoBranch(String),
    /// An address that is never contacted.
    #[error(
        "{host} resolves to {address}, a private or local address, which is never contacted; name the address itself in `repositories` to allow it"
    )]
    Address {
        /// The host.
        host: String,
        /// The offending address.
        address: IpAddr,
    },
    /// The network or the server failed; a later run may succeed.
    #[error("the repository could not be reached: {0}")]
    Network(String),
    /// The cache directory could not be used.
    #[error("cannot use the cache {path}: {error}")]
    Cache {
        /// The cache.
        path: std::path::PathBuf,
        /// What went wrong.
        error: std::io::Error,
    },
    /// A run that was killed left a fetch behind, which goes on.
    #[error(
        "a fetch that a killed run left behind still works on {path}; a later run reads the repository"
    )]
    Orphan {
        /// The cache.
        path: std::path::PathBuf,
    },
    /// Anything else.
    #[error(transparent)]
    Git(#[from] GitError),
}

impl Git {
    /// Fetches the newest commit of the upstream, without its history, and gives its id
    /// in hex. One call is one request to the host.
    ///
    /// The cache belongs to the holder of the run lock: left-over lock files in it are
    /// removed, and a cache that Git cannot use is made anew.
    ///
    /// # Errors
    /// See [`FetchError`]; the cache still holds what it held before.
    pub fn fetch(&self, fetch: Fetch<'_>) -> Result<String, FetchError> {
        let first = self.fetch_into_cache(fetch);
        let result = match first {
            // Neither the upstream nor the network, as far as Git's message tells.
            Err(FetchError::Git(GitError::Failed { .. })) if self.is_damaged(fetch.cache) => {
                let cache_error = |error| FetchError::Cache { path: fetch.cache.to_owned(), error };
                let lock = self.lock_cache(fetch.cache)?;
                discard(fetch.cache).map_err(cache_error)?;
                drop(lock);
                self.fetch_into_cache(fetch)
            }
            other => other,
        };
        result.inspect(|_| self.tidy_cache(fetch.cache))
    }

    /// Notes that `commit` is in the archive, so that the cache keeps it.
    ///
    /// # Errors
    /// The cache cannot be written.
    pub fn keep_archived(&self, cache: &Path, commit: &str) -> Result<(), GitError> {
        self.local(cache, &["update-ref", ARCHIVED, commit]).map(drop)
    }

    fn fetch_into_cache(&self, fetch: Fetch<'_>) -> Result<String, FetchError> {
        let lock = self.lock_cache(fetch.cache)?;
        self.prepare_cache(fetch.cache)?;
        let mut command = self.command_in(fetch.cache);
        command.stdin(lock);
        let url = self.point_at(&mut command, fetch.repository)?;
        let from = fetch.branch.map_or_else(|| "HEAD".to_owned(), |b| format!("refs/heads/{b}"));
        command.args(["fetch", "--quiet", "--depth=1", "--no-tags", "--no-write-fetch-head"]);
        command.args(["--no-recurse-submodules", "--no-auto-maintenance", "--force"]);
        command.args([url.as_str(), &format!("+{from}:{FETCHED}")]);
        let finished = self.finish(command, "fetch", fetch.longest.min(DEADLINE))?;
        if !finished.success {
            return Err(classify(&finished, fetch.cache));
        }
        let id =
            self.local(fetch.cache, &["rev-parse", "--verify", &format!("{FETCHED}^{{commit}}")])?;
        Ok(String::from_utf8_lossy(&id).trim().to_owned())
    }

    /// Whether there is a cache that Git cannot use.
    fn is_damaged(&self, cache: &Path) -> bool {
        let check = ["fsck", "--connectivity-only", "--no-dangling", "--no-progress"];
        cache.exists() && matches!(self.local(cache, &check), Err(GitError::Failed { .. }))
    }

    /// Takes the lock of a cache. It is given to the fetch as its (empty) standard input,
    /// and so is held for as long as that lives, which may be longer than the run.
    fn lock_cache(&self, cache: &Path) -> Result<File, FetchError> {
        let failed = |error| FetchError::Cache { path: cache.to_owned(), error };
        fs::create_dir_all(cache).map_err(failed)?;
        let path = cache.with_extension("lock");
        let options = File::options().read(true).append(true).create(true).open(path);
        let file = options.map_err(failed)?;
        for _ in 0..ORPHAN_LOOKS {
            match file.try_lock() {
                Ok(()) => return Ok(file),
                Err(TryLockError::WouldBlock) if self.interrupt.is_raised() => {
                    return Err(GitError::Interrupted.into());
                }
                Err(TryLockError::WouldBlock) => thread::sleep(LOOK),
                Err(TryLockError::Error(error)) => return Err(failed(error)),
            }
        }
        Err(FetchError::Orphan { path: cache.to_owned() })
    }

    /// Makes the cache where it is missing and removes lock files of a killed run.
    fn prepare_cache(&self, cache: &Path) -> Result<(), FetchError> {
        let failed = |error| FetchError::Cache { path: cache.to_owned(), error };
        if !cache.join("HEAD").exists() {
            fs::create_dir_all(cache).map_err(failed)?;
            self.outside(cache, &["init", "--quiet", "--bare", "--template=", "."])?;
        }
        for name in ["shallow.lock", "packed-refs.lock", "config.lock"] {
            remove_if_there(&cache.join(name)).map_err(failed)?;
        }
        for name in [FETCHED, ARCHIVED] {
            remove_if_there(&cache.join(format!("{name}.lock"))).map_err(failed)?;
        }
        Ok(())
    }

    /// Chooses protocol, address and pin for one upstream; gives the URL to use.
    pub(super) fn point_at(
        &self,
        command: &mut std::process::Command,
        repository: &Repository,
    ) -> Result<String, FetchError> {
        let url = repository.fetch_url();
        let protocol = url.split(':').next().unwrap_or_default();
        command.env("GIT_ALLOW_PROTOCOL", protocol);
        if let Some(proxy) = &self.network.proxy {
            command.args(["-c", &format!("http.proxy={proxy}")]);
        }
        if let Some(file) = &self.network.ca_file {
            command.args(["-c", &format!("http.sslCAInfo={}", file.display())]);
        }
        command.args(["-c", "http.lowSpeedLimit=1000", "-c", "http.lowSpeedTime=120"]);
        if protocol == "ssh" {
            self.allow_ssh(command);
        }
        let Some((host, port)) = repository.endpoint() else { return Ok(url.to_owned()) };
        let mut diversions = self.network.connect_to.iter();
        if let Some((to, to_port)) = diversions.find_map(|divert| divert.target(host, port)) {
            let address = if to == host { resolve(host, to_port)? } else { to.to_owned() };
            command.args(["-c", &format!("http.curloptResolve={host}:{to_port}:{address}")]);
            return Ok(with_port(url, to_port));
        }
        if host.parse::<IpAddr>().is_ok() || self.network.proxy.is_some() {
            return Ok(url.to_owned());
        }
        let address = resolve(host, port)?;
        if protocol.starts_with("http") {
            command.args(["-c", &format!("http.curloptResolve={host}:{port}:{address}")]);
        }
        Ok(url.to_owned())
    }

    /// Repacks and prunes a cache that has grown; a failure leaves it as it was.
    fn tidy_cache(&self, cache: &Path) {
        let packs = fs::read_dir(cache.join("objects/pack")).map_or(0, |entries| {
            entries.flatten().filter(|e| e.path().extension().is_some_and(|x| x == "pack")).count()
        });
        if packs > PACKS_BEFORE_GC
            && let Err(error) = self.local(cache, &["gc", "--quiet", "--prune=now"])
        {
            tracing::warn!(cache = %cache.display(), %error, "the cache could not be tidied");
        }
    }
}

/// Resolves a host and refuses it when any of its addresses is not a public one.
fn resolve(host: &str, port: u16) -> Result<String, FetchError> {
    let found = (host, port).to_socket_addrs();
    let found = found.map_err(|error| FetchError::Network(format!("{host}: {error}")))?;
    let addresses: Vec<IpAddr> = found.map(|address| address.ip()).collect();
    if let Some(address) = addresses.iter().find(|address| !is_global_address(**address)) {
        return Err(FetchError::Address { host: host.to_owned(), address: *address });
    }
    let shown = |address: &IpAddr| match address {
        IpAddr::V4(v4) => v4.to_string(),
        IpAddr::V6(v6) => format!("[{v6}]"),
    };
    match addresses.as_slice() {
        [] => Err(FetchError::Network(format!("{host} has no address"))),
        all => Ok(all.iter().map(shown).collect::<Vec<_>>().join(",")),
    }
}

/// The same URL at another port.
fn with_port(url: &str, port: u16) -> String {
    url::Url::parse(url)
        .ok()
        .and_then(|mut url| url.set_port(Some(port)).ok().map(|()| url.to_string()))
        .unwrap_or_else(|| url.to_owned())
}

/// Puts a cache out of the way at once, and then removes it: helpers of a fetch that was
/// ended may still be writing to it.
fn discard(cache: &Path) -> std::io::Result<()> {
    let away = cache.with_extension("discarded");
    if away.exists() {
        fs::remove_dir_all(&away)?;
    }
    fs::rename(cache, &away)?;
    if let Err(error) = fs::remove_dir_all(&away) {
        tracing::warn!(cache = %away.display(), %error, "a discarded cache could not be removed");
    }
    Ok(())
}

fn remove_if_there(path: &Path) -> std::io::Result<()> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}

/// Says what a failed fetch means, by Git's (untranslated) messages.
fn classify(finished: &Finished, cache: &Path) -> FetchError {
    // Of what a fetch meets alone: redirects are not followed.
    const NETWORK: &[&str] = &[
        "returned error: 3",
        "unable to update url base from redirection",
        "SSL",
        "Host key verification failed",
    ];
    let message = finished.message();
    let local = failed("fetch", cache, finished);
    if matches!(local, GitError::NoSpace { .. }) {
        local.into()
    } else if message.contains("couldn't find remote ref") {
        FetchError::NoBranch(message)
    } else if is_closed(&message) {
        FetchError::Gone(message)
    } else if is_network(&message) || says(&message, NETWORK) {
        FetchError::Network(message)
    } else {
        local.into()
    }
}
