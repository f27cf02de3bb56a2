//! A consistent copy of the whole archive, also while a run works on it.
//!
//! Upkeep lets all packs stay meanwhile, and order makes it consistent: the refs are read first and their objects are copied after,
//! so that whatever the refs name is there. The state is copied last; should a run have
//! committed in between, everything is brought up to date and it is copied again.

use std::collections::HashSet;
use std::ffi::OsString;
use std::fs;
use std::io;
use std::path::Path;

use super::directory::{Archive, make_private_directory};
use super::error::ArchiveError;
use super::layout::OWN_FOLDER;
use super::refs::{Heads, RefMove};
use super::upkeep::UpkeepLock;

/// How often the copy is brought up to date with commits that came during it.
const ROUNDS: usize = 5;

/// Copies the state and the politeness file to where they stand in that archive; the text of
/// the error is for people.
pub type CopyState<'a> = &'a dyn Fn(&Archive) -> Result<(), String>;

impl Archive {
    /// Copies objects, refs, settings, state and upstream caches to a new directory; gives
    /// the number of bytes. No upkeep removes packs while the lock is held.
    ///
    /// # Errors
    /// The directory exists or is inside of the archive, a file cannot be copied, or runs kept
    /// committing all the time.
    pub fn back_up(
        &self,
        target: &Path,
        _packs: &UpkeepLock,
        copy_state: CopyState<'_>,
    ) -> Result<u64, ArchiveError> {
        let refused = |why: &str| ArchiveError::Object {
            what: format!("cannot copy the archive to {}", target.display()),
            why: why.to_owned(),
        };
        if target.exists() {
            return Err(refused("it exists; name a new directory"));
        }
        if is_inside(target, self.path()) {
            return Err(refused("it is inside of the archive; name a directory elsewhere"));
        }
        let copied = self.copy_into(target, copy_state);
        if copied.is_err() {
            // Half a copy is none; where it cannot be removed, the error tells of the folder.
            let _ = fs::remove_dir_all(target);
        }
        copied
    }

    fn copy_into(&self, target: &Path, copy_state: CopyState<'_>) -> Result<u64, ArchiveError> {
        make_private_directory(target)?;
        fs::create_dir_all(target.join(OWN_FOLDER)).map_err(ArchiveError::io("make", target))?;
        let mut bytes = 0;
        for name in ["HEAD", "config", "hooks"] {
            bytes += copy(&self.path().join(name), &target.join(name))?;
        }
        fs::create_dir_all(target.join("refs")).map_err(ArchiveError::io("make", target))?;
        let mut copied = Heads::default();
        for _ in 0..ROUNDS {
            let heads = self.heads()?;
            bytes += self.copy_objects(target)?;
            let copy_of = Self::open(target)?;
            if heads != Heads::default() {
                copy_of.move_refs(&RefMove { old: copied, new: heads })?;
            }
            copied = heads;
            let file = copy_of.state_file();
            let failed = |why: String| ArchiveError::Object {
                what: format!("cannot copy the state to {}", file.display()),
                why,
            };
            copy_state(&copy_of).map_err(failed)?;
            if self.heads()? == heads {
                bytes += fs::metadata(&file).map_or(0, |data| data.len());
                bytes += copy(&self.upstream_folder(), &copy_of.upstream_folder())?;
                bytes += copy(&self.published_file(), &copy_of.published_file())?;
                return Ok(bytes);
            }
        }
        Err(ArchiveError::Object {
            what: format!("cannot copy the archive to {}", target.display()),
            why: "runs kept committing while it was copied; try again".to_owned(),
        })
    }

    /// Copies the objects; again where somebody repacked them meanwhile.
    fn copy_objects(&self, target: &Path) -> Result<u64, ArchiveError> {
        let mut bytes = 0;
        for _ in 0..ROUNDS {
            let before = packs(&self.pack_folder());
            bytes += copy(&self.path().join("objects"), &target.join("objects"))?;
            if before.is_subset(&packs(&self.pack_folder())) {
                return Ok(bytes);
            }
        }
        Err(ArchiveError::Object {
            what: format!("cannot copy the archive to {}", target.display()),
            why: "another Git process kept repacking it; try again when that is over".to_owned(),
        })
    }
}

/// The packs in a folder.
fn packs(folder: &Path) -> HashSet<OsString> {
    let Ok(entries) = fs::read_dir(folder) else { return HashSet::new() };
    let names = entries.flatten().map(|entry| entry.file_name());
    names.filter(|name| name.to_string_lossy().ends_with(".pack")).collect()
}

/// Whether a path that does not exist yet would be inside of a folder, links resolved.
fn is_inside(path: &Path, folder: &Path) -> bool {
    let Ok(path) = std::path::absolute(path) else { return false };
    let there = path.ancestors().find_map(|parent| fs::canonicalize(parent).ok());
    let folder = fs::canonicalize(folder).ok();
    there.zip(folder).is_some_and(|(there, folder)| there.starts_with(folder))
}

/// Copies a file or directory that may change meanwhile: temporary files and locks are
/// left out, and lists of packs and commits, which may name some that are not in the copy (Git
/// does without, and the next upkeep makes them anew); what is there already (packs never change) is kept, what vanished is skipped.
fn copy(from: &Path, to: &Path) -> Result<u64, ArchiveError> {
    let name = from.file_name().unwrap_or_default().to_string_lossy();
    let left_out = ["tmp_", "multi-pack-index", "commit-graph"];
    if left_out.iter().any(|begin| name.starts_with(begin)) || name.ends_with(".lock") {
        return Ok(0);
    }
    if !from.is_dir() {
        if to.exists() {
            return Ok(0);
        }
        return match fs::copy(from, to) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(0),
            other => other.map_err(ArchiveError::io("copy to", to)),
        };
    }
    fs::create_dir_all(to).map_err(ArchiveError::io("make", to))?;
    let entries = fs::read_dir(from).map_err(ArchiveError::io("read", from))?;
    let mut names: Vec<_> = entries.flatten().map(|entry| entry.file_name()).collect();
    // A pack's index comes last: a pack without index is not seen, the reverse is a fault.
    names.sort_by_key(|name| name.to_string_lossy().ends_with(".idx"));
    let mut bytes = 0;
    for name in names {
        bytes += copy(&from.join(&name), &to.join(&name))?;
    }
    Ok(bytes)
}
