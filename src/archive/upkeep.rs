//! Upkeep: many packs become few, and history is found quickly.
//!
//! Each run adds a pack. Upkeep rolls small packs up into one in which versions of a page are
//! stored as differences, and writes Git's commit-graph. Guarantees: no object is lost,
//! whenever it is ended, also those that no ref reaches; packs of others (with a `.keep`,
//! `.promisor` or `.mtimes` beside them) are left alone; whatever a killed call of Git leaves
//! behind lies in a folder that is wholly ours.
//!
//! Order: the new pack is made in that folder, compared with the indexes of those that it
//! replaces, and flushed → a list of the packs that come and go is flushed → pack, then index
//! get their names in `objects/pack` → the old ones are removed, index first. Killed in between,
//! a pack of the list without index is removed by the next run, and objects that are there twice
//! are rolled up by the next upkeep.

mod lock;
mod plan;

use std::collections::HashSet;
use std::fs::{self, File};
use std::io::{self, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use std::time::Duration;

use gix::odb::pack::index;

use super::directory::{Archive, remove_if_there};
use super::error::ArchiveError;
use super::layout::OWN_FOLDER;
use super::lock::RunLock;
use super::pack::{flush_directory, remove_packs, rename_flushed, write_flushed};
use crate::git::{Git, GitError, Workshop};
pub use lock::{UpkeepLock, WaitForUpkeep};
use plan::{Limits, PackFacts, Plan, plan};

/// Most filters of changed paths that one upkeep makes: those of years of runs.
pub(super) const FILTERS: u32 = 4096;

/// Where the number of objects stands in an index: the last entry of its fan-out table
/// (gitformat-pack, "Version 2 pack-*.idx files").
const COUNT_AT: u64 = 8 + 255 * 4;

/// The file that lists, in the folder of an upkeep, the packs that come and go.
const MOVING: &str = "moving";

/// Endings of files beside a pack that say that it is somebody else's.
const FOREIGN_ENDINGS: &[&str] = &["keep", "promisor", "mtimes"];

/// What an upkeep may use.
pub struct UpkeepMeans<'a> {
    /// The Git client.
    pub git: &'a Git,
    /// The longest time that it may take.
    pub longest: Duration,
    /// How much of that is left.
    pub left: &'a dyn Fn() -> Duration,
}

/// What an upkeep came to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Upkeep {
    /// Nothing was to be done.
    NotDue,
    /// Somebody reads all packs, a backup for instance: they stay as they are.
    Busy,
    /// Packs were rolled up.
    Done {
        /// How many became one.
        packs: usize,
        /// Bytes of those.
        before: u64,
        /// Bytes of the one.
        after: u64,
    },
}

impl Archive {
    /// Rolls up packs and writes the commit-graph, where that is due.
    ///
    /// # Errors
    /// Git or the disk failed, or it took too long; no object is lost, and the next upkeep
    /// goes on.
    pub fn keep_up(&self, _run: &RunLock, means: &UpkeepMeans<'_>) -> Result<Upkeep, ArchiveError> {
        let limits = self.limits(means.longest);
        let Some(plan) = plan(self.packs()?, &limits) else { return Ok(Upkeep::NotDue) };
        let Some(_lock) = self.try_upkeep()? else { return Ok(Upkeep::Busy) };
        let done = self.roll_up(&plan, means);
        let cleared = self.clear_workshop();
        let after = done.inspect_err(|error| self.note_too_much(error, &plan, means.longest))?;
        cleared?;
        Ok(Upkeep::Done { packs: plan.rolled.len(), before: plan.bytes(), after })
    }

    /// Removes what a killed upkeep left. Only the holder of the run lock may.
    ///
    /// # Errors
    /// A file cannot be removed.
    pub fn remove_upkeep_left_overs(&self, _run: &RunLock) -> Result<(), ArchiveError> {
        self.clear_workshop()
    }

    /// The folder that an upkeep works in, where one is there: of an upkeep that was killed, or
    /// of one that works now.
    #[must_use]
    pub fn upkeep_left_over(&self) -> Option<PathBuf> {
        Some(self.workshop()).filter(|path| path.exists())
    }

    pub(super) fn workshop(&self) -> PathBuf {
        self.path().join(OWN_FOLDER).join("upkeep")
    }

    pub(super) fn clear_workshop(&self) -> Result<(), ArchiveError> {
        let path = self.workshop();
        let moving = fs::read_to_string(path.join(MOVING)).unwrap_or_default();
        for name in moving.lines() {
            // Nothing is found in it yet, or nothing any more.
            let pack = pack_path(&self.pack_folder(), name);
            if !pack.with_extension("idx").exists() {
                remove_packs(&[pack.as_path()].into_iter())?;
            }
        }
        match fs::remove_dir_all(&path) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => {
                Err(ArchiveError::io("remove", &path)(error))
            }
            _ => Ok(()),
        }
    }

    /// Rolls up what a plan says; gives the bytes of the new pack.
    fn roll_up(&self, plan: &Plan, means: &UpkeepMeans<'_>) -> Result<u64, ArchiveError> {
        self.clear_workshop()?;
        let folder = self.workshop();
        let folder = std::path::absolute(&folder).map_err(ArchiveError::io("find", &folder))?;
        for part in ["objects/pack", "objects/info"] {
            let part = folder.join(part);
            fs::create_dir_all(&part).map_err(ArchiveError::io("make", &part))?;
        }
        let objects = folder.join("objects");
        let place =
            || Workshop { repository: self.path(), objects: &objects, longest: (means.left)() };
        let name = means.git.roll_up(place(), listed(plan, &folder.join("packs"))?)?;
        let [pack, index] = ["pack", "idx"].map(|end| objects.join(format!("pack/{name}.{end}")));
        self.compare(plan, &index)?;
        let bytes = fs::metadata(&pack).map_or(0, |data| data.len());
        flush(&pack)?;
        flush(&index)?;
        self.note_moves(plan, &name)?;
        for path in [&pack, &index] {
            rename_flushed(path, &self.pack_folder().join(path.file_name().unwrap_or_default()))?;
        }
        self.remove_packs(plan, &name)?;
        means.git.write_commit_graph(place(), FILTERS)?;
        self.install_graph(&objects.join("info/commit-graph"))?;
        Ok(bytes)
    }

    /// The packs that upkeep may have.
    fn packs(&self) -> Result<Vec<PackFacts>, ArchiveError> {
        let folder = self.pack_folder();
        let entries = match fs::read_dir(&folder) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            entries => entries.map_err(ArchiveError::io("read", &folder))?,
        };
        let names: HashSet<String> =
            entries.flatten().filter_map(|entry| entry.file_name().into_string().ok()).collect();
        let mut packs = Vec::new();
        for name in names.iter().filter_map(|name| name.strip_suffix(".idx")) {
            let has = |ending: &&str| names.contains(&format!("{name}.{ending}"));
            if name.starts_with("pack-") && has(&"pack") && !FOREIGN_ENDINGS.iter().any(has) {
                packs.extend(facts(&folder, name)?);
            }
        }
        Ok(packs)
    }

    /// Fails where an object of a replaced pack is neither in the new one nor in one that stays.
    fn compare(&self, plan: &Plan, new: &Path) -> Result<(), ArchiveError> {
        let folder = self.pack_folder();
        let open = |path: &Path| {
            let opened = index::File::at(path, gix::hash::Kind::Sha1);
            opened.map_err(ArchiveError::object(format!("cannot read {}", path.display())))
        };
        let of = |pack: &PackFacts| open(&folder.join(format!("{}.idx", pack.name)));
        let mut kept = vec![open(new)?];
        for pack in &plan.staying {
            kept.push(of(pack)?);
        }
        for pack in &plan.rolled {
            let old = of(pack)?;
            for entry in old.iter() {
                if !kept.iter().any(|index| index.lookup(entry.oid).is_some()) {
                    return Err(ArchiveError::Object {
                        what: format!("cannot roll up {}", pack.name),
                        why: format!("the new pack lacks the object {}", entry.oid),
                    });
                }
            }
        }
        Ok(())
    }

    /// Notes which packs come and go: one of them without an index is ours.
    fn note_moves(&self, plan: &Plan, new: &str) -> Result<(), ArchiveError> {
        let old = plan.rolled.iter().map(|pack| pack.name.as_str());
        let names: Vec<&str> = old.chain([new]).collect();
        write_flushed(&self.workshop().join(MOVING), names.join("\n").as_bytes())?;
        flush_directory(&self.workshop())
    }

    /// Removes packs whose objects are in the one of that name, and what lists packs: an index
    /// over several of them would name some that are gone.
    fn remove_packs(&self, plan: &Plan, new: &str) -> Result<(), ArchiveError> {
        let folder = self.pack_folder();
        for path in multi_pack_indexes(&folder) {
            remove_if_there(&path)?;
        }
        let old = plan.rolled.iter().filter(|pack| pack.name != new);
        let old: Vec<PathBuf> = old.map(|pack| pack_path(&folder, &pack.name)).collect();
        remove_packs(&old.iter().map(PathBuf::as_path))?;
        flush_directory(&folder)
    }

    pub(super) fn install_graph(&self, made: &Path) -> Result<(), ArchiveError> {
        if !made.exists() {
            // Before the first commit there is nothing to write.
            return Ok(());
        }
        flush(made)?;
        let info = self.path().join("objects/info");
        fs::create_dir_all(&info).map_err(ArchiveError::io("make", &info))?;
        rename_flushed(made, &info.join("commit-graph"))
    }

    /// The limits, lower where an upkeep with no more time took too long.
    fn limits(&self, longest: Duration) -> Limits {
        let noted = fs::read_to_string(self.too_much()).unwrap_or_default();
        let mut numbers = noted.split_whitespace().map(str::parse::<u64>);
        match (numbers.next(), numbers.next()) {
            (Some(Ok(bytes)), Some(Ok(seconds))) if longest.as_secs() <= seconds => {
                Limits::STANDARD.below(bytes)
            }
            _ => Limits::STANDARD,
        }
    }

    /// The file that notes what took too long: bytes, and the seconds that it had.
    fn too_much(&self) -> PathBuf {
        self.path().join(OWN_FOLDER).join("upkeep-limit")
    }

    /// Notes what took too long, so that the next upkeep does less at once.
    fn note_too_much(&self, error: &ArchiveError, plan: &Plan, longest: Duration) {
        let text = format!("{} {}\n", plan.bytes(), longest.as_secs());
        let packing = |command: &str| command == "pack-objects";
        if matches!(error, ArchiveError::Git(GitError::TimedOut { command, .. }) if packing(command))
            && let Err(error) = write_flushed(&self.too_much(), text.as_bytes())
        {
            tracing::debug!(%error, "what took too long could not be noted");
        }
    }
}

fn pack_path(folder: &Path, name: &str) -> PathBuf {
    folder.join(format!("{name}.pack"))
}

/// What can be told of a pack at a glance; nothing where it vanished.
fn facts(folder: &Path, name: &str) -> Result<Option<PackFacts>, ArchiveError> {
    let [pack, index] = ["pack", "idx"].map(|end| folder.join(format!("{name}.{end}")));
    let read = || -> io::Result<PackFacts> {
        let mut file = File::open(&index)?;
        file.seek(SeekFrom::Start(COUNT_AT))?;
        let mut count = [0; 4];
        file.read_exact(&mut count)?;
        let objects = u64::from(u32::from_be_bytes(count));
        Ok(PackFacts { name: name.to_owned(), objects, bytes: fs::metadata(&pack)?.len() })
    };
    match read() {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        found => found.map(Some).map_err(ArchiveError::io("read", &index)),
    }
}

/// Writes the list of packs that Git is to roll up, and opens it.
fn listed(plan: &Plan, path: &Path) -> Result<File, ArchiveError> {
    let rolled = plan.rolled.iter().map(|pack| format!("{}.pack\n", pack.name));
    let staying = plan.staying.iter().map(|pack| format!("^{}.pack\n", pack.name));
    let text: String = rolled.chain(staying).collect();
    fs::write(path, text).map_err(ArchiveError::io("write", path))?;
    File::open(path).map_err(ArchiveError::io("open", path))
}

/// Indexes over several packs, whoever made them.
pub(super) fn multi_pack_indexes(folder: &Path) -> Vec<PathBuf> {
    let chain = folder.join("multi-pack-index.d/multi-pack-index-chain");
    let Ok(entries) = fs::read_dir(folder) else { return vec![chain] };
    let paths = entries.flatten().map(|entry| entry.path());
    let named = |path: &PathBuf| {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        name.starts_with("multi-pack-index") && !name.ends_with(".lock") && path.is_file()
    };
    paths.filter(named).chain([chain]).collect()
}

pub(super) fn flush(path: &Path) -> Result<(), ArchiveError> {
    let file = File::open(path).map_err(ArchiveError::io("open", path))?;
    file.sync_all().map_err(ArchiveError::io("flush", path))
}
