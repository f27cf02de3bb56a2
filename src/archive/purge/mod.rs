//! Taking pages out of all history.
//!
//! Owns how the commits of both refs are written anew without pages, without whole sources,
//! or with the pages of a source moved from the public history to the private one. Guarantees:
//! commits before the first one that is concerned keep their ids; of all others nothing changes
//! but tree and parent (and lines that name the upstream of a source that is private now);
//! nothing is checked out, and only directories on the way to what goes are opened; nothing
//! that exists is changed or removed. Each ref gets one more commit, which notes the takedown:
//! in `TAKEDOWNS.md` on the public ref, in `denied.tsv` on the private one.
//!
//! What the old commits alone reached is still there afterwards: removing it is
//! [`Archive::prune`].

mod fate;
mod notes;
mod prune;
mod rewriter;
mod rewritten;

use std::collections::{BTreeSet, HashMap, VecDeque};

use gix::objs::tree::EntryKind;

use super::commit::{self, NewCommit};
use super::directory::Archive;
use super::error::ArchiveError;
use super::history::ArchivedRun;
use super::layout::{DENIED, PageEntry, TAKEDOWNS};
use super::outgoing::GoOn;
use super::pack::Kind;
use super::reader::Snapshot;
use super::refs::{Heads, RefMove};
use super::stored_tree::{StoredTree, TreeChanges};
use super::templates::DeniedEntry;
use super::{ObjectId, moved_path};
use crate::model::{RunKind, SourceId, Timestamp, Visibility};
use fate::Fates;
pub use notes::Tombstone;
pub use prune::Pruned;
use rewriter::{Press, Rewriter, recommit, tree_of};

/// What is taken out of all history.
#[derive(Clone, Debug, Default)]
pub struct Takedown {
    /// Single pages, with their links.
    pub pages: BTreeSet<PageEntry>,
    /// Whole sources.
    pub sources: BTreeSet<SourceId>,
    /// Sources whose pages leave the public history for the private one.
    pub made_private: BTreeSet<SourceId>,
    /// URLs of the pages: they leave the lists of redirects.
    pub urls: BTreeSet<String>,
    /// What becomes of links of other pages to these URLs.
    pub links: LinksTo,
}

/// What becomes of links of other pages to what is taken down.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum LinksTo {
    /// They stay: an address is no text.
    #[default]
    Keep,
    /// They are taken out of the links files.
    Remove,
}

/// What is noted of a takedown in its own commit.
pub struct Notes<'a> {
    /// The commit.
    pub commit: NewCommit<'a>,
    /// Lines for `TAKEDOWNS.md`.
    pub tombstones: Vec<Tombstone>,
    /// Lines for `denied.tsv`.
    pub denied: BTreeSet<DeniedEntry>,
}

/// Both histories written anew, in a pack that is not finished: dropped, nothing was.
pub struct Rewriting {
    press: Press,
    moves: RefMove,
    /// The commits that others stand for now, oldest first: ref, old id, new id.
    pub commits: Vec<(Visibility, ObjectId, ObjectId)>,
    /// Objects that are new.
    pub objects: usize,
    /// Bytes that they take.
    pub bytes: u64,
    /// Files that were taken out of a commit.
    pub files: usize,
    /// Bytes of their content.
    pub file_bytes: u64,
}

impl Rewriting {
    /// Brings all new objects to disk. The refs do not move yet.
    ///
    /// # Errors
    /// The pack cannot be written.
    pub fn finish(self) -> Result<RefMove, ArchiveError> {
        self.press.finish()?;
        Ok(self.moves)
    }

    /// Leaves everything as it was.
    ///
    /// # Errors
    /// A file cannot be removed.
    pub fn discard(self) -> Result<(), ArchiveError> {
        self.press.discard()
    }
}

/// Start and kind, by which the commits of one run on both refs belong together.
type RunKey = (Timestamp, RunKind);

impl Archive {
    /// Writes both histories anew without what is taken down, and notes it in a commit on top
    /// of each.
    ///
    /// # Errors
    /// A ref has no commit, an object cannot be read or written, or `go_on` failed.
    pub fn rewrite(
        &self,
        takedown: &Takedown,
        notes: &Notes<'_>,
        go_on: GoOn<'_>,
    ) -> Result<Rewriting, ArchiveError> {
        let old = self.heads()?;
        let mut press = Press::new(self)?;
        let mut commits = Vec::new();
        let lines = Lines { archive: self, old, takedown, notes, go_on };
        let public = lines.public(&mut press, &mut commits)?;
        let private = lines.private(&mut press, &mut commits)?;
        let moves = RefMove { old, new: Heads { public: Some(public), private: Some(private) } };
        let (objects, bytes) = (press.written, press.bytes);
        let (files, file_bytes) = (press.gone.len(), press.gone_bytes());
        Ok(Rewriting { press, moves, commits, objects, bytes, files, file_bytes })
    }
}

type Replaced = Vec<(Visibility, ObjectId, ObjectId)>;

/// The commits of both refs, before they are written anew.
struct Lines<'a> {
    archive: &'a Archive,
    old: Heads,
    takedown: &'a Takedown,
    notes: &'a Notes<'a>,
    go_on: GoOn<'a>,
}

/// What one ref gets.
struct Given<'a> {
    /// Beginnings of lines that leave its messages.
    left_out: Vec<Vec<u8>>,
    /// Public commits by the private ones of the same runs, which get pages of them.
    beside: HashMap<ObjectId, ObjectId>,
    /// The file that notes the takedown, and the message of its commit.
    note: (&'static str, Vec<u8>),
    message: &'a str,
}

impl Lines<'_> {
    /// Writes the public commits anew, and the one that notes the takedown.
    fn public(&self, press: &mut Press, to: &mut Replaced) -> Result<ObjectId, ArchiveError> {
        let before = Snapshot::open(self.archive, self.old.public)?.file(TAKEDOWNS)?;
        let noted = notes::with_tombstones(before.as_deref(), &self.notes.tombstones);
        let upstream = |source: &SourceId| format!("Upstream: {source} ").into_bytes();
        let given = Given {
            left_out: self.takedown.made_private.iter().map(upstream).collect(),
            beside: HashMap::new(),
            note: (TAKEDOWNS, noted),
            message: self.notes.commit.public_message,
        };
        self.line(Visibility::Public, given, (press, to))
    }

    /// Writes the private commits anew, with what they get of the public ones.
    fn private(&self, press: &mut Press, to: &mut Replaced) -> Result<ObjectId, ArchiveError> {
        let mut denied = self.notes.denied.clone();
        let before = Snapshot::open(self.archive, self.old.private)?.file(DENIED)?;
        denied.extend(super::decode_denied(&before.unwrap_or_default()));
        let wanted = !self.takedown.made_private.is_empty();
        let given = Given {
            left_out: Vec::new(),
            beside: if wanted { self.pairs()? } else { HashMap::new() },
            note: (DENIED, notes::encode_denied(&denied)),
            message: self.notes.commit.private_message,
        };
        self.line(Visibility::Private, given, (press, to))
    }

    /// The public commit of each private one that is of the same run.
    fn pairs(&self) -> Result<HashMap<ObjectId, ObjectId>, ArchiveError> {
        let mut public: HashMap<RunKey, VecDeque<ObjectId>> = HashMap::new();
        for run in self.oldest_first(Visibility::Public)? {
            public.entry(key(&run)).or_default().push_back(run.commit);
        }
        let mut pairs = HashMap::new();
        for run in self.oldest_first(Visibility::Private)? {
            let beside = public.get_mut(&key(&run)).and_then(VecDeque::pop_front);
            pairs.extend(beside.map(|beside| (run.commit, beside)));
        }
        Ok(pairs)
    }

    /// Writes the commits of a ref anew, oldest first, and one more; gives the id of that.
    fn line(
        &self,
        visibility: Visibility,
        given: Given<'_>,
        (press, replaced): (&mut Press, &mut Replaced),
    ) -> Result<ObjectId, ArchiveError> {
        let mut rewriter = Rewriter::new(Fates::of(self.takedown, visibility), press);
        let mut tip: Option<ObjectId> = None;
        let mut last: Option<(ObjectId, TreeChanges)> = None;
        for run in self.oldest_first(visibility)? {
            (self.go_on)()?;
            let old = tree_of(rewriter.press, run.commit)?;
            let beside = given.beside.get(&run.commit);
            let grafts = beside.map(|public| self.grafts(rewriter.press, old, *public));
            let grafts = grafts.transpose()?.unwrap_or_default();
            let tree = rewriter.root(old, grafts.clone())?;
            let bytes = rewriter.press.read(run.commit)?;
            let leaves = |line: &[u8]| given.left_out.iter().any(|start| line.starts_with(start));
            let new = recommit(&bytes, (tree, tip), |line| !leaves(line));
            // One that nothing becomes of keeps its id, and is there.
            let new = rewriter.press.write(Kind::Commit, &new)?;
            if new != run.commit {
                replaced.push((visibility, run.commit, new));
            }
            tip = Some(new);
            last = Some((old, grafts));
        }
        let missing = || ArchiveError::Object {
            what: "nothing can be taken down".to_owned(),
            why: "the archive has no commit yet".to_owned(),
        };
        let (old, mut changes) = last.ok_or_else(missing)?;
        let (name, bytes) = given.note;
        let file = rewriter.press.write(Kind::Blob, &bytes)?;
        changes.insert(name.as_bytes().to_vec(), Some((EntryKind::Blob.into(), file)));
        let tree = rewriter.root(old, changes)?;
        let note = commit::encode(&self.notes.commit, tree, tip, given.message)?;
        rewriter.press.write(Kind::Commit, &note)
    }

    /// What a private root gets of the public commit of the same run: the pages of sources
    /// that are private now, as far as they were public then, with all that belongs to them.
    fn grafts(
        &self,
        press: &mut Press,
        root: ObjectId,
        public: ObjectId,
    ) -> Result<TreeChanges, ArchiveError> {
        let read = |press: &Press, id| StoredTree::read(&press.objects, id);
        let (root, public) = (read(press, Some(root))?, tree_of(press, public)?);
        let public = read(press, Some(public))?;
        let pages = read(press, public.tree(b"pages"))?;
        let was_public = |id: &&SourceId| pages.tree(id.as_str().as_bytes()).is_some();
        let sources: Vec<&SourceId> =
            self.takedown.made_private.iter().filter(was_public).collect();
        let mut changes = TreeChanges::new();
        for top in ["pages", "links", "moved"] {
            let given = read(press, public.tree(top.as_bytes()))?;
            let mut grafts = TreeChanges::new();
            for source in &sources {
                let name = match top {
                    "moved" => moved_path(source).split_off("moved/".len()),
                    _ => source.to_string(),
                };
                let folder = given.tree(name.as_bytes()).map(|id| (EntryKind::Tree.into(), id));
                let file = given.file(name.as_bytes()).map(|id| (EntryKind::Blob.into(), id));
                grafts.extend(folder.or(file).map(|entry| (name.into_bytes(), Some(entry))));
            }
            if !grafts.is_empty() {
                let base = read(press, root.tree(top.as_bytes()))?;
                let tree = press.write(Kind::Tree, &base.changed(&grafts))?;
                changes.insert(top.as_bytes().to_vec(), Some((EntryKind::Tree.into(), tree)));
            }
        }
        Ok(changes)
    }

    fn oldest_first(&self, visibility: Visibility) -> Result<Vec<ArchivedRun>, ArchiveError> {
        let mut runs = self.archive.runs(self.old.of(visibility))?;
        runs.reverse();
        Ok(runs)
    }
}

fn key(run: &ArchivedRun) -> RunKey {
    (run.started, run.message.as_ref().map_or(RunKind::Read, |message| message.kind))
}
