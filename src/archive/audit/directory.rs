//! What stands in the archive's directory and should not.

use std::fs;
use std::path::{Path, PathBuf};

use super::{Fault, FaultKind};
use crate::archive::directory::Archive;
use crate::archive::layout::{OWN_FOLDER, PUBLIC_REF};

/// What the archive's HEAD says.
const HEAD: &str = "ref: refs/heads/main\n";

/// Where Git puts lock files beside those of the refs.
const FOLDERS_OF_LOCKS: &[&str] =
    &["", "info", "objects/info", "objects/info/commit-graphs", "objects/pack"];

/// Checks the directory. While a run works (not `idle`), temporary files are its own.
pub(super) fn check(archive: &Archive, idle: bool) -> Vec<Fault> {
    let mut faults = Vec::new();
    let mut add = |kind, path: &Path, what: String| {
        faults.push(Fault::new(kind, path.display().to_string(), what));
    };
    if idle {
        // Commands that ask may be writing what they counted.
        let counted = |path: &PathBuf| {
            path.file_name().is_some_and(|it| it.to_string_lossy().starts_with("sizes.tsv-"))
        };
        let left = archive.left_overs().into_iter().filter(|path| !counted(path));
        for left in left {
            add(
                FaultKind::LeftOver,
                &left,
                "left by a run that was killed; the next run, or --repair, removes it".to_owned(),
            );
        }
        for path in temporary_of_git(archive.path()) {
            add(
                FaultKind::LeftOver,
                &path,
                "a temporary file of Git: remove it where no Git process works on the archive"
                    .to_owned(),
            );
        }
        let mut locks = archive.ref_locks();
        locks.extend(locks_of_git(archive.path()));
        locks.sort();
        locks.dedup();
        for lock in locks {
            add(FaultKind::LeftOver, &lock, "a lock of a Git process that works on the archive now, or died: remove it where none is running".to_owned());
        }
    }
    for name in ["alternates", "http-alternates"] {
        let path = archive.path().join("objects/info").join(name);
        if path.exists() {
            add(FaultKind::Object, &path, "the archive borrows objects from elsewhere; it must hold all of its own: `git repack -a -d` in the archive takes them in, then remove this file".to_owned());
        }
    }
    for name in ["shallow", "info/grafts"] {
        let path = archive.path().join(name);
        if path.exists() {
            add(
                FaultKind::Object,
                &path,
                "it lets history look shorter or other than it is; remove it".to_owned(),
            );
        }
    }
    let head = archive.path().join("HEAD");
    if fs::read(&head).ok().as_deref() != Some(HEAD.as_bytes()) {
        add(
            FaultKind::Ref,
            &head,
            format!(
                "it does not name {PUBLIC_REF}: `git symbolic-ref HEAD {PUBLIC_REF}` in the archive puts it right"
            ),
        );
    }
    faults
}

/// Lock files of Git that are not among the refs.
fn locks_of_git(archive: &Path) -> Vec<PathBuf> {
    let folders = FOLDERS_OF_LOCKS.iter().map(|folder| archive.join(folder));
    let entries = folders.flat_map(|folder| fs::read_dir(folder).into_iter().flatten().flatten());
    let is_lock = |path: &PathBuf| {
        path.extension().is_some_and(|it| it == "lock") || path.ends_with("gc.pid")
    };
    entries.map(|entry| entry.path()).filter(is_lock).collect()
}

/// Temporary files of Git among the objects.
fn temporary_of_git(archive: &Path) -> Vec<PathBuf> {
    let objects = archive.join("objects");
    let Ok(folders) = fs::read_dir(&objects) else { return Vec::new() };
    let inside = folders.flatten().filter(|entry| entry.path().is_dir());
    let mut found: Vec<PathBuf> = inside
        .flat_map(|folder| fs::read_dir(folder.path()).into_iter().flatten().flatten())
        .map(|entry| entry.path())
        .filter(|path| {
            let name = path.file_name().unwrap_or_default().to_string_lossy();
            let gits = name.starts_with("tmp_") || name.starts_with(".tmp-");
            gits && !Archive::is_own_temporary(path)
        })
        .collect();
    found.sort();
    found
}

/// Files beside the objects that killed processes of ours left.
pub(in crate::archive) fn own_left_overs(archive: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for folder in [archive.to_owned(), archive.join(OWN_FOLDER)] {
        let Ok(entries) = fs::read_dir(&folder) else { continue };
        found.extend(entries.flatten().map(|entry| entry.path()).filter(|path| {
            let name = path.file_name().unwrap_or_default().to_string_lossy();
            name.starts_with("pagelog-room-") || name.starts_with("sizes.tsv-")
        }));
    }
    found.sort();
    found
}
