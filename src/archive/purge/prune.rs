//! Removing what no ref reaches.
//!
//! Git makes one pack of all that the two refs reach, in a folder of ours; when that is on
//! disk, every other pack, loose object and index over several packs goes, whoever made it.
//! Killed in between, the next call does it again. The file `pagelog/pruning` says that it is
//! to be done, from before the refs move until it is done.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::Duration;

use crate::archive::directory::{Archive, remove_if_there};
use crate::archive::error::ArchiveError;
use crate::archive::layout::{OWN_FOLDER, PRIVATE_REF, PUBLIC_REF};
use crate::archive::lock::RunLock;
use crate::archive::pack::{flush_directory, remove_packs, rename_flushed, write_flushed};
use crate::archive::upkeep::{FILTERS, flush, multi_pack_indexes};
use crate::git::{Git, Workshop};

/// Longest time of one call of Git.
const LONGEST: Duration = Duration::from_hours(6);

/// Time between two looks whether the packs may be removed.
const LOOK: Duration = Duration::from_millis(100);

/// What a pruning came to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pruned {
    /// Nothing was to be done.
    NotDue,
    /// Somebody reads all packs, a backup for instance: it is still to be done.
    Busy,
    /// Only what the refs reach is left.
    Done {
        /// Bytes of all packs before.
        before: u64,
        /// Bytes of the one that is left.
        after: u64,
    },
}

impl Archive {
    /// Notes, durably, that what no ref reaches is to be removed.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn begin_pruning(&self) -> Result<(), ArchiveError> {
        write_flushed(&self.pruning_file(), b"what no ref reaches is to be removed\n")?;
        flush_directory(&self.path().join(OWN_FOLDER))
    }

    /// Whether what no ref reaches is still to be removed.
    #[must_use]
    pub fn is_pruning_due(&self) -> bool {
        self.pruning_file().exists()
    }

    /// Refs that are none of ours: they may reach what is taken down.
    ///
    /// # Errors
    /// The refs cannot be read.
    pub fn other_refs(&self) -> Result<Vec<String>, ArchiveError> {
        let failed = || "cannot list the refs";
        let repository = self.repository();
        let platform = repository.references().map_err(ArchiveError::object(failed()))?;
        let all = platform.all().map_err(ArchiveError::object(failed()))?;
        let names = all.flatten().map(|it| it.name().as_bstr().to_string());
        Ok(names.filter(|name| ![PUBLIC_REF, PRIVATE_REF].contains(&name.as_str())).collect())
    }

    /// Removes what no ref reaches, where that is to be done: objects, logs of the refs, what
    /// was to be sent to mirrors. Waits so long for those who read all packs.
    ///
    /// # Errors
    /// Git or the disk failed; what the refs reach is all there, and the next call goes on.
    pub fn prune(
        &self,
        _run: &RunLock,
        git: &Git,
        mut wait: Duration,
    ) -> Result<Pruned, ArchiveError> {
        if !self.is_pruning_due() {
            return Ok(Pruned::NotDue);
        }
        let _lock = loop {
            match self.try_upkeep()? {
                Some(lock) => break lock,
                None if wait.is_zero() => return Ok(Pruned::Busy),
                None => thread::sleep(LOOK.min(wait)),
            }
            wait = wait.saturating_sub(LOOK);
        };
        let before = self.pack_bytes();
        self.clear_workshop()?;
        let made = self.pack_reached(git)?;
        for path in multi_pack_indexes(&self.pack_folder()) {
            remove_if_there(&path)?;
        }
        remove_if_there(&self.path().join("objects/info/commit-graph"))?;
        self.remove_all_but(&made)?;
        let folder = self.absolute_workshop()?.join("objects");
        let place = Workshop { repository: self.path(), objects: &folder, longest: LONGEST };
        git.write_commit_graph(place, FILTERS)?;
        self.install_graph(&folder.join("info/commit-graph"))?;
        for name in ["logs", "pagelog/publish"] {
            remove_folder(&self.path().join(name))?;
        }
        for name in ["ORIG_HEAD", "FETCH_HEAD"] {
            remove_if_there(&self.path().join(name))?;
        }
        self.clear_workshop()?;
        remove_if_there(&self.pruning_file())?;
        Ok(Pruned::Done { before, after: self.pack_bytes() })
    }

    /// Makes a pack of all that the refs reach; gives its path.
    fn pack_reached(&self, git: &Git) -> Result<PathBuf, ArchiveError> {
        let folder = self.absolute_workshop()?;
        for part in ["objects/pack", "objects/info"] {
            let part = folder.join(part);
            fs::create_dir_all(&part).map_err(ArchiveError::io("make", &part))?;
        }
        let objects = folder.join("objects");
        let place = Workshop { repository: self.path(), objects: &objects, longest: LONGEST };
        let name = git.pack_reached(place, &[PUBLIC_REF, PRIVATE_REF])?;
        let target = self.pack_folder();
        for end in ["pack", "idx"] {
            let made = objects.join(format!("pack/{name}.{end}"));
            flush(&made)?;
            rename_flushed(&made, &target.join(format!("{name}.{end}")))?;
        }
        Ok(target.join(format!("{name}.pack")))
    }

    /// Removes all packs but one, and all loose objects.
    fn remove_all_but(&self, kept: &Path) -> Result<(), ArchiveError> {
        let folder = self.pack_folder();
        let listed = entries(&folder)?;
        let name = kept.with_extension("");
        let old: Vec<PathBuf> =
            listed.into_iter().filter(|p| p.with_extension("") != name).collect();
        remove_packs(&old.iter().map(PathBuf::as_path))?;
        for path in old.iter().filter(|path| path.is_file()) {
            remove_if_there(path)?;
        }
        remove_if_there(&kept.with_extension("keep"))?;
        for path in entries(&self.path().join("objects"))? {
            let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
            if name.len() == 2 && name.bytes().all(|byte| byte.is_ascii_hexdigit()) {
                remove_folder(&path)?;
            }
        }
        flush_directory(&folder)
    }

    fn pack_bytes(&self) -> u64 {
        let packs = entries(&self.pack_folder()).unwrap_or_default();
        let packs = packs.iter().filter(|path| path.extension().is_some_and(|it| it == "pack"));
        packs.filter_map(|path| fs::metadata(path).ok()).map(|data| data.len()).sum()
    }

    fn absolute_workshop(&self) -> Result<PathBuf, ArchiveError> {
        let folder = self.workshop();
        std::path::absolute(&folder).map_err(ArchiveError::io("find", &folder))
    }

    fn pruning_file(&self) -> PathBuf {
        self.path().join(OWN_FOLDER).join("pruning")
    }
}

/// The paths in a folder.
fn entries(folder: &Path) -> Result<Vec<PathBuf>, ArchiveError> {
    let listed = fs::read_dir(folder).map_err(ArchiveError::io("read", folder))?;
    Ok(listed.flatten().map(|entry| entry.path()).collect())
}

fn remove_folder(path: &Path) -> Result<(), ArchiveError> {
    match fs::remove_dir_all(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => {
            Err(ArchiveError::io("remove", path)(error))
        }
        _ => Ok(()),
    }
}
