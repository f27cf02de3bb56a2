//! What keeps private commits from leaving by mistake: the hook, the settings, and that the
//! two histories share nothing. A run puts the first two back where they are missing;
//! `audit` tells of all of them.

use std::collections::HashSet;
use std::fs;
use std::path::Path;

use super::ObjectId;
use super::audit::{Fault, FaultKind};
use super::directory::{Archive, make_executable};
use super::error::ArchiveError;
use super::layout::{PRIVATE_REF, PUBLIC_REF};
use super::pack::write_flushed;
use crate::git::Git;
use crate::model::Visibility;

/// The hook that every archive has.
const HOOK: &str = include_str!("pre-push.sh");

/// What is hidden from whoever fetches.
const HIDDEN: &str = "refs/private";

/// Settings that upkeep relies on: name in lower case, name and value. `gc.writeCommitGraph` is
/// left on: somebody's `git gc` would otherwise leave a commit-graph of commits that it pruned.
const OF_UPKEEP: &[(&str, &str, &str)] = &[
    ("core.commitgraph", "core.commitGraph", "true"),
    ("core.multipackindex", "core.multiPackIndex", "true"),
    ("gc.auto", "gc.auto", "0"),
    ("fetch.writecommitgraph", "fetch.writeCommitGraph", "false"),
];

/// Settings that would open the archive: name in lower case, and what they would do.
const OPENING: &[(&str, &str)] = &[
    ("core.hookspath", "it takes the `pre-push` hook out of use"),
    ("uploadpack.allowanysha1inwant", "it lets anybody fetch private commits by their id"),
    ("uploadpack.allowreachablesha1inwant", "it lets anybody fetch commits by their id"),
    ("uploadpack.allowtipsha1inwant", "it lets anybody fetch hidden tips by their id"),
    ("uploadarchive.allowunreachable", "it lets anybody fetch any tree as a tar file"),
    ("http.receivepack", "it lets whoever reaches the directory by HTTP push to it"),
    ("daemon.receivepack", "it lets whoever reaches the directory push to it"),
    ("daemon.uploadpack", "it serves the directory by `git daemon`"),
    ("daemon.uploadarch", "it serves the directory by `git daemon`, as tar files"),
];

impl Archive {
    /// Puts hook and settings back where they are missing; gives what was put back. Settings of
    /// upkeep, which older archives lack, are no guards: nothing is said of them.
    ///
    /// # Errors
    /// A file cannot be written, or Git failed.
    pub fn restore_guards(&self, git: &Git) -> Result<Vec<Fault>, ArchiveError> {
        let settings = git.local_settings(self.path())?;
        for (known, name, value) in OF_UPKEEP {
            if !settings.iter().any(|(given, _)| given == known) {
                git.add_local(self.path(), name, value)?;
            }
        }
        let faults = self.faults_of(&settings);
        if faults.is_empty() {
            return Ok(faults);
        }
        write_hook(self.path())?;
        for (name, value) in settings {
            if is_opening(&name, &value) {
                git.unset_local(self.path(), &name)?;
            }
        }
        let hides =
            |(name, value): &(String, String)| name == "transfer.hiderefs" && value == HIDDEN;
        if !git.local_settings(self.path())?.iter().any(hides) {
            git.add_local(self.path(), "transfer.hideRefs", HIDDEN)?;
        }
        Ok(faults)
    }

    /// What is missing of hook and settings.
    ///
    /// # Errors
    /// Git failed.
    pub fn guard_faults(&self, git: &Git) -> Result<Vec<Fault>, ArchiveError> {
        Ok(self.faults_of(&git.local_settings(self.path())?))
    }

    /// What is missing of the hook and of these settings.
    fn faults_of(&self, settings: &[(String, String)]) -> Vec<Fault> {
        let mut faults = Vec::new();
        let hook = self.path().join("hooks/pre-push");
        if fs::read(&hook).ok().as_deref() != Some(HOOK.as_bytes()) || !is_executable(&hook) {
            let what = "missing, changed or not executable: it refuses to push private commits; \
                        the next run puts it back";
            faults.push(Fault::new(FaultKind::Guard, hook.display().to_string(), what));
        }
        let place = self.path().join("config").display().to_string();
        for (name, value) in settings {
            if let Some((_, why)) =
                OPENING.iter().find(|(own, _)| own == name && is_opening(name, value))
            {
                let what = format!("{name} is {value}: {why}");
                faults.push(Fault::new(FaultKind::Guard, &place, what));
            }
            if let Some(what) = other_opening(name, value) {
                faults.push(Fault::new(FaultKind::Guard, &place, what));
            }
        }
        if !settings.iter().any(|(name, value)| name == "transfer.hiderefs" && value == HIDDEN) {
            let what = format!("transfer.hideRefs does not hide {HIDDEN}");
            faults.push(Fault::new(FaultKind::Guard, &place, what));
        }
        faults
    }

    /// What is wrong between the two histories: a commit that both have.
    ///
    /// # Errors
    /// A commit cannot be read.
    pub fn history_faults(&self) -> Result<Vec<Fault>, ArchiveError> {
        let heads = self.heads()?;
        let public = self.runs(heads.of(Visibility::Public))?;
        let private = self.runs(heads.of(Visibility::Private))?;
        let known: HashSet<_> = private.iter().map(|run| run.commit).collect();
        let mut faults = Vec::new();
        if let Some(shared) = public.iter().find(|run| known.contains(&run.commit)) {
            faults.push(shared_commit(shared.commit));
        }
        Ok(faults)
    }
}

/// The fault of a commit that both refs have.
pub(super) fn shared_commit(commit: ObjectId) -> Fault {
    let what = format!(
        "it holds the commit {commit} of {PRIVATE_REF}: private pages would be published. Put the \
         ref back to the last commit that was its own"
    );
    Fault::new(FaultKind::Leak, PUBLIC_REF, what)
}

/// Writes the hook of the archive in a directory.
pub(super) fn write_hook(archive: &Path) -> Result<(), ArchiveError> {
    let folder = archive.join("hooks");
    fs::create_dir_all(&folder).map_err(ArchiveError::io("make", &folder))?;
    let hook = folder.join("pre-push");
    write_flushed(&hook, HOOK.as_bytes())?;
    make_executable(&hook)
}

/// What is wrong with a setting that is not put right by itself: somebody wanted it.
fn other_opening(name: &str, value: &str) -> Option<String> {
    let removed = format!("`git config --unset-all {name}` in the archive removes it");
    let (first, last) = (name.split('.').next()?, name.rsplit('.').next()?);
    let shows =
        last == "hiderefs" && value.trim_start_matches(['^', '!']).starts_with("refs/private");
    match (first, last) {
        ("remote", "mirror") if value == "true" => Some(format!(
            "{name} is true: a push to it would take private commits along; {removed}"
        )),
        ("remote", "push") if value.contains("refs/private") || value.contains("refs/*") => {
            Some(format!("{name} is {value}: a push would take private commits along; {removed}"))
        }
        ("include" | "includeif", _) => Some(format!(
            "{name} is {value}: settings of another file are not looked at; {removed}"
        )),
        _ if shows && value.starts_with(['!']) => {
            Some(format!("{name} is {value}: it shows private refs to whoever fetches; {removed}"))
        }
        _ => None,
    }
}

/// Whether a setting opens the archive.
fn is_opening(name: &str, value: &str) -> bool {
    let named = OPENING.iter().any(|(own, _)| *own == name);
    named && (name == "core.hookspath" || !matches!(value, "false" | "no" | "off" | "0"))
}

#[cfg(unix)]
fn is_executable(path: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt;
    fs::metadata(path).is_ok_and(|data| data.permissions().mode() & 0o100 != 0)
}

#[cfg(not(unix))]
fn is_executable(_path: &Path) -> bool {
    true
}
