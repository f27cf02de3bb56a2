//! How large an archive is, where it matters to hosts of mirrors: its refs, the largest file
//! that a public commit has, the largest public directory, and how fast it grows.
//!
//! What takes a walk is kept in `pagelog/sizes.tsv` with the commits it belongs to, and
//! brought up to date from there: time follows the commits that came since. The file is a
//! cache: without it everything is counted once more.

use std::collections::{BTreeSet, HashMap};
use std::fs;
use std::path::PathBuf;

use gix::objs::FindHeader;

use super::differences::FileDifferences;
use super::directory::Archive;
use super::error::ArchiveError;
use super::layout::OWN_FOLDER;
use super::listing::{Listed, Node, list};
use super::reader::tree_of;
use super::{ArchivedRun, ObjectId};
use crate::git::Git;

/// Runs over which growth is measured.
const GROWTH_RUNS: usize = 30;

/// First line of the cache: its version.
const VERSION: &str = "pagelog sizes 3";

/// Last line of the cache: it was written to its end.
const END: &str = "end";

/// How many of the largest directories are kept in mind.
const DIRECTORIES: usize = 10;

/// The largest of something: where it is, and how large.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Largest {
    /// Path in the tree.
    pub path: String,
    /// Bytes of a file, entries of a directory.
    pub size: u64,
}

/// How fast the public ref grows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Growth {
    /// Bytes that came with these runs.
    pub size: u64,
    /// How many runs.
    pub runs: u64,
}

/// How large an archive is. Bytes are those on disk, as objects are packed now.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Sizes {
    /// What the public ref reaches.
    pub public: u64,
    /// What the private ref reaches; what both have counts in either.
    pub private: u64,
    /// The most that one push to a mirror would carry; all of the public ref where no mirror
    /// is known to have any of it.
    pub push: u64,
    /// The largest file that any public commit has.
    pub largest_file: Option<Largest>,
    /// The directories with most entries at the public tip, the largest first; at most ten.
    pub largest_directories: Vec<Largest>,
    /// Growth over the last runs; the first one, which fills an archive, is none of them.
    pub growth: Option<Growth>,
}

/// What was counted, and for which commits.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Counted {
    public: Option<ObjectId>,
    private: Option<ObjectId>,
    /// The packs that there were. Where one of them is gone, objects were packed anew.
    packs: BTreeSet<String>,
    /// Where mirrors were known to be.
    mirrors: BTreeSet<ObjectId>,
    sizes: Sizes,
}

impl Counted {
    /// What a ref took when it was at a commit; nothing where objects were packed anew since.
    fn usage(&self, commit: Option<ObjectId>, size: u64, packs: &BTreeSet<String>) -> Usage {
        if self.packs.is_subset(packs) { (commit, size) } else { (None, 0) }
    }
}

/// Bytes that a commit reaches.
type Usage = (Option<ObjectId>, u64);

impl Archive {
    /// Measures the archive.
    ///
    /// # Errors
    /// The archive cannot be read, or Git failed.
    pub fn sizes(&self, git: &Git) -> Result<Sizes, ArchiveError> {
        let heads = self.heads()?;
        let known = self.counted().unwrap_or_default();
        let (packs, mirrors) = (self.pack_names(), self.mirrored());
        let mut now = Counted { packs, mirrors, ..known.clone() };
        let of_private = known.usage(known.private, known.sizes.private, &now.packs);
        if of_private.0 != heads.private {
            let usage = self.usage(git, &self.runs(heads.private)?, of_private)?;
            (now.private, now.sizes.private) = (heads.private, usage);
        }
        let of_public = known.usage(known.public, known.sizes.public, &now.packs);
        if of_public.0 == heads.public && now.mirrors == known.mirrors {
            // All is known: no commit has to be walked for that.
            if now != known {
                self.keep(&now);
            }
            return Ok(now.sizes);
        }
        let runs = self.runs(heads.public)?;
        if of_public.0 != heads.public {
            now.sizes.public = self.usage(git, &runs, of_public)?;
            now.sizes.growth = self.growth(git, &runs)?;
        }
        if known.public != heads.public {
            now.public = heads.public;
            now.sizes.largest_file = self.largest_file(&runs, &known)?;
            now.sizes.largest_directories = self.largest_directories(heads.public)?;
        }
        now.sizes.push = self.push_size(git, (&runs, &now.mirrors), now.sizes.public)?;
        if now != known {
            self.keep(&now);
        }
        Ok(now.sizes)
    }

    /// Bytes that a ref reaches, from what was counted for an older commit of it.
    fn usage(
        &self,
        git: &Git,
        runs: &[ArchivedRun],
        (commit, size): Usage,
    ) -> Result<u64, ArchiveError> {
        let Some(tip) = runs.first() else { return Ok(0) };
        let tip = tip.commit.to_string();
        let known = commit.filter(|id| runs.iter().any(|run| run.commit == *id));
        let without = known.map(|id| id.to_string());
        let more = git.disk_usage(self.path(), &tip, without.as_deref())?;
        Ok(more + if known.is_some() { size } else { 0 })
    }

    fn growth(&self, git: &Git, runs: &[ArchivedRun]) -> Result<Option<Growth>, ArchiveError> {
        let back = GROWTH_RUNS.min(runs.len().saturating_sub(1));
        let Some((tip, old)) = runs.first().zip(runs.get(back)).filter(|_| back > 0) else {
            return Ok(None);
        };
        let (tip, old) = (tip.commit.to_string(), old.commit.to_string());
        let size = git.disk_usage(self.path(), &tip, Some(&old))?;
        Ok(Some(Growth { size, runs: back as u64 }))
    }

    /// The largest file of all public commits: of those since the last count, and before.
    fn largest_file(
        &self,
        runs: &[ArchivedRun],
        known: &Counted,
    ) -> Result<Option<Largest>, ArchiveError> {
        let new = runs.iter().position(|run| Some(run.commit) == known.public);
        let mut largest = new.and_then(|_| known.sizes.largest_file.clone()).unwrap_or_default();
        let repository = self.repository();
        for run in &runs[..new.unwrap_or(runs.len())] {
            for file in FileDifferences::between(self, run.parent, Some(run.commit))? {
                let file = file?;
                let Some(id) = file.new else { continue };
                let header = repository.objects.try_header(&id);
                let size = header.ok().flatten().map_or(0, |header| header.size);
                // Of equals the first by name, whatever the order of commits.
                let first = largest.path.is_empty() || file.path < largest.path;
                if size > largest.size || size == largest.size && first {
                    largest = Largest { path: file.path, size };
                }
            }
        }
        Ok(Some(largest).filter(|largest| !largest.path.is_empty()))
    }

    fn largest_directories(&self, tip: Option<ObjectId>) -> Result<Vec<Largest>, ArchiveError> {
        let mut largest: Vec<Largest> = Vec::new();
        let Some(tip) = tip else { return Ok(largest) };
        let repository = self.repository();
        let mut open = vec![(String::new(), tree_of(&repository, tip)?)];
        while let Some((path, id)) = open.pop() {
            let entries = list(&repository, id)?;
            let size = entries.len() as u64;
            for Listed { name, node, id } in entries {
                if node == Node::Tree {
                    open.push((format!("{path}{}/", String::from_utf8_lossy(&name)), id));
                }
            }
            // The root has what the format gives it.
            let Some(path) = path.strip_suffix('/').map(str::to_owned) else { continue };
            // Of equals the first by name, whatever the order of the walk.
            let better = |it: &Largest| (it.size, &path) > (size, &it.path);
            let at = largest.partition_point(better);
            if at < DIRECTORIES {
                largest.insert(at, Largest { path, size });
                largest.truncate(DIRECTORIES);
            }
        }
        Ok(largest)
    }

    /// The most that a push carries to any of the mirrors that are known.
    fn push_size(
        &self,
        git: &Git,
        (runs, known): (&[ArchivedRun], &BTreeSet<ObjectId>),
        all: u64,
    ) -> Result<u64, ArchiveError> {
        let Some(tip) = runs.first() else { return Ok(0) };
        let on_line = known.iter().filter(|id| runs.iter().any(|run| run.commit == **id));
        let mut most = None;
        for id in on_line {
            let size = if *id == tip.commit {
                0
            } else {
                let (tip, id) = (tip.commit.to_string(), id.to_string());
                git.disk_usage(self.path(), &tip, Some(&id))?
            };
            most = most.max(Some(size));
        }
        Ok(most.unwrap_or(all))
    }

    /// Where mirrors are, as far as that is known: what they were published, and what the
    /// branches of remotes are at.
    fn mirrored(&self) -> BTreeSet<ObjectId> {
        let mut known: BTreeSet<ObjectId> =
            self.published().iter().map(|last| last.commit).collect();
        let repository = self.repository();
        if let Ok(platform) = repository.references()
            && let Ok(found) = platform.prefixed("refs/remotes/")
        {
            known.extend(found.flatten().filter_map(|it| Some(it.try_id()?.detach())));
        }
        known
    }

    fn sizes_file(&self) -> PathBuf {
        self.path().join(OWN_FOLDER).join("sizes.tsv")
    }

    /// What was counted last, if that can be read.
    fn counted(&self) -> Option<Counted> {
        let text = fs::read_to_string(self.sizes_file()).ok()?;
        let mut lines = text.strip_suffix(END)?.lines();
        if lines.next() != Some(VERSION) {
            return None;
        }
        let packs = lines.next()?.strip_prefix("packs\t")?.split(' ').map(str::to_owned).collect();
        let ids = lines.next()?.strip_prefix("mirrors\t")?.split_whitespace();
        let mirrors =
            ids.map(|id| ObjectId::from_hex(id.as_bytes()).ok()).collect::<Option<_>>()?;
        let (directories, rows): (Vec<_>, Vec<_>) = lines
            .map(|line| line.split('\t').collect::<Vec<_>>())
            .partition(|row| row[0] == "directory");
        let largest_directories =
            directories.iter().map(|row| largest_of(&row[1..])).collect::<Option<_>>()?;
        let rows: HashMap<&str, Vec<&str>> =
            rows.iter().filter_map(|row| Some((*row.first()?, row[1..].to_vec()))).collect();
        let number = |key: &str| rows.get(key)?.first()?.parse::<u64>().ok();
        let id = |key: &str| ObjectId::from_hex(rows.get(key)?.first()?.as_bytes()).ok();
        let sizes = Sizes {
            public: number("public_size")?,
            private: number("private_size")?,
            push: number("push_size")?,
            largest_file: rows.get("largest_file").and_then(|row| largest_of(row)),
            largest_directories,
            growth: number("growth")
                .zip(number("growth_runs"))
                .map(|(size, runs)| Growth { size, runs }),
        };
        Some(Counted { public: id("public"), private: id("private"), packs, mirrors, sizes })
    }

    /// Writes down what was counted. Where it cannot be kept, it is counted again.
    fn keep(&self, counted: &Counted) {
        let Counted { public, private, packs, mirrors, sizes } = counted;
        let packs: Vec<&str> = packs.iter().map(String::as_str).collect();
        let mirrors: Vec<String> = mirrors.iter().map(ObjectId::to_string).collect();
        let mut lines = vec![
            VERSION.to_owned(),
            format!("packs\t{}", packs.join(" ")),
            format!("mirrors\t{}", mirrors.join(" ")),
        ];
        for (key, id) in [("public", public), ("private", private)] {
            lines.extend(id.map(|id| format!("{key}\t{id}")));
        }
        for (key, size) in [
            ("public_size", sizes.public),
            ("private_size", sizes.private),
            ("push_size", sizes.push),
        ] {
            lines.push(format!("{key}\t{size}"));
        }
        let row = |key: &str, it: &Largest| format!("{key}\t{}\t{}", it.size, it.path);
        lines.extend(sizes.largest_file.as_ref().map(|it| row("largest_file", it)));
        lines.extend(sizes.largest_directories.iter().map(|it| row("directory", it)));
        if let Some(Growth { size, runs }) = sizes.growth {
            lines.extend([format!("growth\t{size}"), format!("growth_runs\t{runs}")]);
        }
        lines.push(END.to_owned());
        let file = self.sizes_file();
        let temporary = file.with_extension(format!("tsv-{}", std::process::id()));
        let written = fs::write(&temporary, lines.join("\n"));
        if written.and_then(|()| fs::rename(&temporary, &file)).is_err() {
            // Nothing to do where that fails too.
            let _ = fs::remove_file(&temporary);
        }
    }

    /// The packs that are there.
    fn pack_names(&self) -> BTreeSet<String> {
        let Ok(entries) = fs::read_dir(self.pack_folder()) else { return BTreeSet::new() };
        let names = entries.flatten().filter_map(|entry| entry.file_name().into_string().ok());
        names.filter_map(|name| Some(name.strip_suffix(".pack")?.to_owned())).collect()
    }
}

/// What a row of the cache says of the largest of something.
fn largest_of(row: &[&str]) -> Option<Largest> {
    let [size, path] = row else { return None };
    Some(Largest { path: (*path).to_owned(), size: size.parse().ok()? })
}
