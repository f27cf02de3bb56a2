//! The archive's directory: making, opening, cleaning.

use std::fs;
use std::path::{Path, PathBuf};

use gix::odb::pack::cache::lru::MemoryCappedHashmap;

use super::audit::own_left_overs;
use super::error::ArchiveError;
use super::fold::is_whole;
use super::guards::write_hook;
use super::layout::{OWN_FOLDER, PRIVATE_REF};
use super::lock::RunLock;
use super::pack::{KEEP, TEMPORARY_PREFIX, flush_directory, write_flushed};
use crate::git::Git;
use crate::model::CaseRule;

/// Bytes of delta bases that a reader keeps.
const DELTA_BASES: usize = 4 << 20;

/// An archive on disk.
#[derive(Clone, Debug)]
pub struct Archive {
    path: PathBuf,
    repository: gix::ThreadSafeRepository,
    case: CaseRule,
}

/// Files that may stand in a directory before an archive is made in it.
const TOLERATED: &[&str] = &["README.md", ".gitignore", ".gitkeep", OWN_FOLDER];

/// The file of the run lock, in the own folder.
const LOCK: &str = "run.lock";

/// Stands in the own folder while an archive is being made: what is beside it then is
/// ours, and no archive yet.
const UNFINISHED: &str = "unfinished";

impl Archive {
    /// Makes an empty archive, in a new directory or one without content. Killed on the
    /// way, it is no archive yet, and the next call begins again.
    ///
    /// # Errors
    /// Something else is there, another process makes it now, or the disk or Git failed.
    pub fn init(path: &Path, case: CaseRule, git: &Git) -> Result<Self, ArchiveError> {
        refuse_foreign_content(path)?;
        make_private_directory(path)?;
        let own = path.join(OWN_FOLDER);
        fs::create_dir_all(&own).map_err(ArchiveError::io("make", &own))?;
        let holder = format!("process {}, making the archive", std::process::id());
        let _lock = RunLock::acquire(&own.join(LOCK), &holder)?;
        match Self::open(path) {
            Err(ArchiveError::Missing(_)) => {}
            made_meanwhile => return made_meanwhile,
        }
        let unfinished = own.join(UNFINISHED);
        write_flushed(&unfinished, b"")?;
        for name in ["HEAD", "HEAD.lock", "config", "config.lock"] {
            remove_if_there(&path.join(name))?;
        }
        git.init_bare(path)?;
        let config = path.join("config");
        write_flushed(&config, config_text(case).as_bytes())?;
        write_hook(path)?;
        flush_directory(path)?;
        remove_if_there(&unfinished)?;
        Self::open(path)
    }

    /// Opens an archive.
    ///
    /// # Errors
    /// There is none, or it is of a newer format.
    pub fn open(path: &Path) -> Result<Self, ArchiveError> {
        let unfinished = path.join(OWN_FOLDER).join(UNFINISHED).exists();
        if unfinished || !path.join("HEAD").is_file() || !path.join("objects").is_dir() {
            refuse_foreign_content(path)?;
            return Err(ArchiveError::Missing(path.to_owned()));
        }
        refuse_unreadable(path)?;
        let not_ours = |why: String| ArchiveError::NotAnArchive { path: path.to_owned(), why };
        let options = gix::open::Options::isolated().with(gix::sec::Trust::Full);
        let opened = options.open_path_as_is(true).open(path);
        let repository = opened.map_err(|error| not_ours(error.to_string()))?;
        let local = repository.to_thread_local();
        let config = local.config_snapshot();
        if !local.is_bare() {
            return Err(not_ours("it is a Git repository with a work tree".to_owned()));
        }
        let Some(format) = config.integer("pagelog.format") else {
            return Err(not_ours("it is a Git repository that pagelog did not make".to_owned()));
        };
        if format > i64::from(super::layout::FORMAT_VERSION) {
            return Err(not_ours(format!("its format {format} is newer than this program")));
        }
        let portable = config.boolean("pagelog.portableCase").unwrap_or(false);
        let case = if portable { CaseRule::Portable } else { CaseRule::Keep };
        let own = path.join(OWN_FOLDER);
        fs::create_dir_all(&own).map_err(ArchiveError::io("make", &own))?;
        Ok(Self { path: path.to_owned(), repository, case })
    }

    /// The directory.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// What becomes of capitals in its paths.
    #[must_use]
    pub fn case(&self) -> CaseRule {
        self.case
    }

    /// The file of the state.
    #[must_use]
    pub fn state_file(&self) -> PathBuf {
        self.path.join(OWN_FOLDER).join("state.sqlite")
    }

    /// The file of the politeness: when each host may be asked again.
    #[must_use]
    pub fn politeness_file(&self) -> PathBuf {
        self.path.join(OWN_FOLDER).join("politeness.sqlite")
    }

    /// The file of answers that no checkpoint holds yet.
    #[must_use]
    pub fn spool_file(&self) -> PathBuf {
        self.path().join(OWN_FOLDER).join("spool.sqlite")
    }

    /// The folder of the caches of upstream repositories.
    #[must_use]
    pub fn upstream_folder(&self) -> PathBuf {
        self.path.join(OWN_FOLDER).join("upstream")
    }

    /// Takes the run lock.
    ///
    /// # Errors
    /// Another run holds it.
    pub fn lock(&self, holder: &str) -> Result<RunLock, ArchiveError> {
        RunLock::acquire(&self.path.join(OWN_FOLDER).join(LOCK), holder)
    }

    /// Who holds the run lock, if anybody does; in no words where it does not say.
    ///
    /// # Errors
    /// The lock cannot be looked at.
    pub fn locked_by(&self) -> Result<Option<String>, ArchiveError> {
        RunLock::holder(&self.path.join(OWN_FOLDER).join(LOCK))
    }

    /// Removes temporary packs of runs that were killed, and packs of ours that have no index:
    /// nothing can be in them yet that anybody knows of. Only the holder of the lock may.
    ///
    /// # Errors
    /// A file cannot be removed.
    pub fn remove_temporary_packs(&self, _lock: &RunLock) -> Result<(), ArchiveError> {
        self.left_over_files().iter().try_for_each(|path| remove_if_there(path))
    }

    /// What killed processes of ours left, or one that works now has: temporary files, packs
    /// of ours that have no index, and the folder of an upkeep.
    #[must_use]
    pub fn left_overs(&self) -> Vec<PathBuf> {
        let mut found = self.left_over_files();
        found.extend(self.upkeep_left_over());
        found
    }

    fn left_over_files(&self) -> Vec<PathBuf> {
        let mut found = self.temporary_packs();
        for keep in self.keep_files() {
            if !keep.with_extension("idx").exists() {
                found
                    .extend([keep.with_extension("pack"), keep].into_iter().filter(|p| p.exists()));
            }
        }
        found.extend(own_left_overs(&self.path));
        found
    }

    /// Whether a file among the objects is a temporary one of ours.
    pub(super) fn is_own_temporary(path: &Path) -> bool {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        name.starts_with(TEMPORARY_PREFIX)
    }

    /// Temporary packs of runs that were killed, or of one that works now.
    #[must_use]
    pub fn temporary_packs(&self) -> Vec<PathBuf> {
        let Ok(entries) = fs::read_dir(self.pack_folder()) else { return Vec::new() };
        entries.flatten().map(|entry| entry.path()).filter(|p| Self::is_own_temporary(p)).collect()
    }

    /// Lets upkeep have the packs that runs of ours kept until their refs had moved.
    ///
    /// # Errors
    /// A file cannot be removed.
    pub fn release_packs(&self) -> Result<(), ArchiveError> {
        self.keep_files().iter().try_for_each(|path| remove_if_there(path))
    }

    /// The packs that runs of ours keep until their refs have moved, by name.
    pub(super) fn kept_packs(&self) -> Vec<PathBuf> {
        let packs = self.keep_files().into_iter().map(|keep| keep.with_extension("pack"));
        let mut packs: Vec<PathBuf> = packs.filter(|pack| is_whole(pack)).collect();
        packs.sort();
        packs
    }

    /// Files by which runs of ours keep packs until their refs have moved.
    fn keep_files(&self) -> Vec<PathBuf> {
        let Ok(entries) = fs::read_dir(self.pack_folder()) else { return Vec::new() };
        let ours = |path: &PathBuf| {
            let kept = path.extension().is_some_and(|ending| ending == "keep");
            kept && fs::read(path).is_ok_and(|text| text == KEEP)
        };
        entries.flatten().map(|entry| entry.path()).filter(ours).collect()
    }

    pub(super) fn pack_folder(&self) -> PathBuf {
        self.path.join("objects/pack")
    }

    /// A handle on the repository for the calling thread.
    pub(super) fn repository(&self) -> gix::Repository {
        let mut repository = self.repository.to_thread_local();
        repository.objects.set_pack_cache(|| Box::new(MemoryCappedHashmap::new(DELTA_BASES)));
        repository
    }
}

/// Refuses a path at which something other than an archive stands.
fn refuse_foreign_content(path: &Path) -> Result<(), ArchiveError> {
    let not_ours = |why: String| ArchiveError::NotAnArchive { path: path.to_owned(), why };
    if !path.exists() || path.join(OWN_FOLDER).join(UNFINISHED).exists() {
        return Ok(());
    }
    if !path.is_dir() {
        return Err(not_ours("it is a file".to_owned()));
    }
    let entries = fs::read_dir(path).map_err(ArchiveError::io("read", path))?;
    for entry in entries.flatten() {
        let name = entry.file_name().to_string_lossy().into_owned();
        if !TOLERATED.contains(&name.as_str()) {
            return Err(not_ours(format!("it holds `{name}` and is no bare Git repository")));
        }
    }
    Ok(())
}

/// Refuses an archive that may not be read: what it is cannot be said then.
fn refuse_unreadable(path: &Path) -> Result<(), ArchiveError> {
    for name in ["HEAD", "config"] {
        let file = path.join(name);
        match fs::File::open(&file) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                return Err(ArchiveError::io("read", &file)(error));
            }
            _ => {}
        }
    }
    Ok(())
}

pub(super) fn remove_if_there(path: &Path) -> Result<(), ArchiveError> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
            Err(ArchiveError::io("remove", path)(error))
        }
        _ => Ok(()),
    }
}

/// Settings of the archive's repository.
fn config_text(case: CaseRule) -> String {
    let portable = case == CaseRule::Portable;
    format!(
        "[core]\n\trepositoryformatversion = 0\n\tfilemode = true\n\tbare = true\n\
         \tlogAllRefUpdates = false\n\tprotectNTFS = true\n\tprotectHFS = true\n\
         \tcommitGraph = true\n\tmultiPackIndex = true\n\
         [gc]\n\tauto = 0\n[maintenance]\n\tauto = false\n\
         [fetch]\n\twriteCommitGraph = false\n\
         [transfer]\n\thideRefs = {hidden}\n[uploadpack]\n\tallowAnySHA1InWant = false\n\
         [push]\n\tdefault = nothing\n\
         [pagelog]\n\tformat = {format}\n\tportableCase = {portable}\n",
        hidden = PRIVATE_REF.trim_end_matches("/main"),
        format = super::layout::FORMAT_VERSION,
    )
}

#[cfg(unix)]
pub(super) fn make_private_directory(path: &Path) -> Result<(), ArchiveError> {
    use std::os::unix::fs::{DirBuilderExt, PermissionsExt};
    let made = fs::DirBuilder::new().recursive(true).mode(0o700).create(path);
    made.map_err(ArchiveError::io("make", path))?;
    let closed = fs::set_permissions(path, fs::Permissions::from_mode(0o700));
    closed.map_err(ArchiveError::io("close to others", path))
}

#[cfg(not(unix))]
pub(super) fn make_private_directory(path: &Path) -> Result<(), ArchiveError> {
    fs::create_dir_all(path).map_err(ArchiveError::io("make", path))
}

#[cfg(unix)]
pub(super) fn make_executable(path: &Path) -> Result<(), ArchiveError> {
    use std::os::unix::fs::PermissionsExt;
    let set = fs::set_permissions(path, fs::Permissions::from_mode(0o755));
    set.map_err(ArchiveError::io("make executable", path))
}

#[cfg(not(unix))]
pub(super) fn make_executable(_path: &Path) -> Result<(), ArchiveError> {
    Ok(())
}
