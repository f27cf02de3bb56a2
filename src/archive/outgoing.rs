//! What would leave with a push: the commits that a mirror lacks, every object that is new in
//! them, and the proof that none of it is private.
//!
//! Nothing is believed here but the refs and the pages: each commit is compared with its
//! parent, each tree and file that differs is looked at by the rules of an audit, and texts
//! are compared with the private pages as they stand on the private ref. What is private is
//! what is private now, whatever it was when a commit was made.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use super::audit::{
    Fault, FaultKind, Faults, links_fault, look_at, moved_fault, page_fault, root_fault,
};
use super::directory::Archive;
use super::error::ArchiveError;
use super::layout::{DENIED, PUBLIC_REF, PageEntry, READ_ONCE, README, ROOT_FILES, TAKEDOWNS};
use super::leak::{LeakGuard, sketch};
use super::listing::{Listed, Node, list};
use super::page::decode_page;
use super::reader::{Snapshot, tree_of};
use super::{ObjectId, moved_path};
use crate::git::Git;
use crate::model::{SourceId, Timestamp, Visibility, is_safe_component};

/// A commit that would leave, and what is new in it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Outgoing {
    /// The commit.
    pub commit: ObjectId,
    /// The commit before it.
    pub parent: Option<ObjectId>,
    /// Trees and files that its parent does not have, each directory behind what is in it,
    /// in the order of Git's trees.
    pub objects: Vec<NewObject>,
}

/// A tree or file that a commit brings.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewObject {
    /// Its id.
    pub id: ObjectId,
    /// Its path; `""` is the tree of the commit.
    pub path: String,
    /// Whether it is a directory.
    pub is_tree: bool,
}

/// What was found in the commits that would leave.
#[derive(Clone, Debug, Default)]
pub struct OutgoingAudit {
    /// The commits, oldest first.
    pub commits: Vec<Outgoing>,
    /// What must not leave, and what is not of the format.
    pub faults: Faults,
    /// What is no fault, but worth a look.
    pub notes: Vec<String>,
}

/// Whether a long look goes on: fails where it is to end.
pub type GoOn<'a> = &'a dyn Fn() -> Result<(), ArchiveError>;

/// What the public commits are compared with.
struct Rules<'a> {
    go_on: GoOn<'a>,
    archive: &'a Archive,
    private: Snapshot,
    /// Knows the private pages by their paths.
    guard: LeakGuard,
    private_commits: HashSet<ObjectId>,
    private_pages: HashSet<ObjectId>,
}

impl Archive {
    /// Looks at every commit from behind `from` (all where `None`) up to `to`, and at every
    /// object that is new in it, by its path and its bytes. `private` names the sources of
    /// which nothing but URLs may leave; `go_on` is asked now and then.
    ///
    /// # Errors
    /// An object cannot be read, `from` is none of the commits before `to`, or `go_on` failed.
    pub fn audit_outgoing(
        &self,
        git: &Git,
        (from, to): (Option<ObjectId>, ObjectId),
        private: &BTreeSet<SourceId>,
        go_on: GoOn<'_>,
    ) -> Result<OutgoingAudit, ArchiveError> {
        let rules = Rules::of(self, private, go_on)?;
        let accepted = self.accepted(git)?.public;
        let repository = self.repository();
        let mut audit = OutgoingAudit::default();
        for commit in self.line((from, to), (accepted, private), &mut audit)? {
            let old = commit.parent.map(|id| tree_of(&repository, id)).transpose()?;
            let mut walk = Walk { repository: &repository, new: Vec::new(), files: Vec::new() };
            if old != Some(commit.tree) {
                walk.directory("", (old, Some(commit.tree)), &mut audit.faults)?;
            }
            let Walk { new: objects, mut files, .. } = walk;
            files.sort_unstable_by(|a, b| a.path.cmp(&b.path));
            rules.check(&commit, &files, &mut audit)?;
            audit.commits.push(Outgoing { commit: commit.id, parent: commit.parent, objects });
        }
        Ok(audit)
    }

    /// The commits from behind `from` to `to`, oldest first. What is wrong with those up to the
    /// accepted one was accepted, but that a second parent brings in what was never looked at.
    fn line(
        &self,
        (from, to): (Option<ObjectId>, ObjectId),
        (accepted, private): (Option<ObjectId>, &BTreeSet<SourceId>),
        audit: &mut OutgoingAudit,
    ) -> Result<Vec<Commit>, ArchiveError> {
        let repository = self.repository();
        let (mut line, mut next, mut is_accepted) = (Vec::new(), Some(to), false);
        while next != from {
            let failed = |why: &str| ArchiveError::Object {
                what: format!("cannot read the commits before {to}"),
                why: why.to_owned(),
            };
            let id = next.ok_or_else(|| failed("what the mirror has is none of them"))?;
            is_accepted |= accepted == Some(id);
            let wrong = std::cell::RefCell::new(Vec::new());
            let read = look_at(&repository, id, &|what| wrong.borrow_mut().push(what.to_owned()));
            let read = read.map_err(|why| failed(&why))?;
            let place = format!("{PUBLIC_REF} {id}");
            for what in wrong.into_inner() {
                if is_accepted && read.parents.len() < 2 {
                    audit.notes.push(format!("{place}: {what}; it was accepted as it is"));
                } else {
                    audit.faults.add(Fault::new(FaultKind::Commit, &place, what));
                }
            }
            for source in read.upstreams.iter().filter(|source| private.contains(source)) {
                let what = format!("its message names the upstream of the private source {source}");
                audit.faults.add(Fault::new(FaultKind::Leak, &place, what));
            }
            next = read.parents.first().copied();
            line.push(Commit { id, parent: next, tree: read.tree, started: read.started });
        }
        line.reverse();
        Ok(line)
    }
}

/// A commit as it is looked at.
struct Commit {
    id: ObjectId,
    parent: Option<ObjectId>,
    tree: ObjectId,
    started: Timestamp,
}

/// A file that differs, and its ids before and after.
struct ChangedFile {
    path: String,
    old: Option<ObjectId>,
    new: Option<ObjectId>,
}

/// Comparing two trees, directory by directory.
struct Walk<'a> {
    repository: &'a gix::Repository,
    new: Vec<NewObject>,
    files: Vec<ChangedFile>,
}

impl Walk<'_> {
    /// Compares a directory, which differs, and all that differs in it.
    fn directory(
        &mut self,
        path: &str,
        (old, new): (Option<ObjectId>, Option<ObjectId>),
        faults: &mut Faults,
    ) -> Result<(), ArchiveError> {
        let listed = self.entries(old)?.into_iter().map(|entry| (entry.name.clone(), entry));
        let mut before: BTreeMap<Vec<u8>, Listed> = listed.collect();
        for entry in self.entries(new)? {
            let old = before.remove(&entry.name);
            let same = |old: &Listed| (old.node, old.id) == (entry.node, entry.id);
            if old.as_ref().is_some_and(same) {
                continue;
            }
            let full = below(path, &entry);
            if !path.is_empty() && !is_safe_component(&entry.name) {
                let what = "its name is none that Git can check out on every file system";
                faults.add(Fault::new(FaultKind::Path, &full, what));
            }
            let was = old.as_ref().filter(|old| old.node == entry.node).map(|old| old.id);
            match entry.node {
                Node::Tree => self.directory(&full, (was, Some(entry.id)), faults)?,
                Node::Blob => {
                    self.new.push(NewObject { id: entry.id, path: full.clone(), is_tree: false });
                    let path = full.clone();
                    self.files.push(ChangedFile { path, old: was, new: Some(entry.id) });
                }
                Node::Other(mode) => {
                    let what =
                        format!("its mode is {mode:06o}: neither a plain file nor a directory");
                    faults.add(Fault::new(FaultKind::Mode, &full, what));
                }
            }
            // A file gave way to a directory of its name, or the other way round.
            if let Some(old) = old.filter(|old| old.node != entry.node) {
                self.gone(&full, &old, faults)?;
            }
        }
        for entry in before.into_values() {
            self.gone(&below(path, &entry), &entry, faults)?;
        }
        if let Some(id) = new {
            self.new.push(NewObject { id, path: path.to_owned(), is_tree: true });
        }
        Ok(())
    }

    /// Notes what left with an entry that is no longer there.
    fn gone(
        &mut self,
        path: &str,
        entry: &Listed,
        faults: &mut Faults,
    ) -> Result<(), ArchiveError> {
        if entry.node == Node::Tree {
            return self.directory(path, (Some(entry.id), None), faults);
        }
        self.files.push(ChangedFile { path: path.to_owned(), old: Some(entry.id), new: None });
        Ok(())
    }

    fn entries(&self, tree: Option<ObjectId>) -> Result<Vec<Listed>, ArchiveError> {
        tree.map_or_else(|| Ok(Vec::new()), |id| list(self.repository, id))
    }
}

/// The path of an entry of a directory.
fn below(path: &str, entry: &Listed) -> String {
    let name = String::from_utf8_lossy(&entry.name);
    if path.is_empty() { name.into_owned() } else { format!("{path}/{name}") }
}

impl<'a> Rules<'a> {
    fn of(
        archive: &'a Archive,
        private: &BTreeSet<SourceId>,
        go_on: GoOn<'a>,
    ) -> Result<Self, ArchiveError> {
        let tip = archive.heads()?.of(Visibility::Private);
        let mut rules = Self {
            go_on,
            archive,
            private: Snapshot::open(archive, tip)?,
            guard: LeakGuard::new(private.iter().cloned()),
            private_commits: archive.runs(tip)?.iter().map(|run| run.commit).collect(),
            private_pages: HashSet::new(),
        };
        for (path, blob) in rules.private.files("pages")? {
            let Some(entry) = PageEntry::from_page_path(&path) else { continue };
            if !private.contains(&entry.source) {
                // The source is public now; the next run moves its pages.
                continue;
            }
            go_on()?;
            rules.private_pages.insert(blob);
            if let Ok(page) = decode_page(&rules.private.read(blob)?) {
                rules.guard.add(&path, &sketch(&page.body));
            }
        }
        Ok(rules)
    }

    fn check(
        &self,
        commit: &Commit,
        files: &[ChangedFile],
        audit: &mut OutgoingAudit,
    ) -> Result<(), ArchiveError> {
        let mut add = |kind, place: &str, what: String| {
            let what = format!("{what} ({PUBLIC_REF} {})", commit.id.to_hex_with_len(12));
            audit.faults.add(Fault::new(kind, place, what));
        };
        if self.private_commits.contains(&commit.id) {
            add(FaultKind::Leak, PUBLIC_REF, "it is a commit of the private ref".to_owned());
        }
        let snapshot = Snapshot::open(self.archive, Some(commit.id))?;
        let mut places: BTreeSet<PageEntry> = BTreeSet::new();
        for file in files {
            let entry = PageEntry::from_page_path(&file.path)
                .or_else(|| PageEntry::from_links_path(&file.path));
            places.extend(entry);
            let Some(id) = file.new else { continue };
            (self.go_on)()?;
            if let Some((kind, what)) = self.file_fault(&file.path, id, &snapshot.read(id)?) {
                add(kind, &file.path, what);
            }
        }
        for entry in places.iter().filter(|entry| !self.guard.is_private(&entry.source)) {
            let page = snapshot.blob_at(&entry.page_path())?.is_some();
            let links = snapshot.blob_at(&entry.links_path())?.is_some();
            if page && !links {
                let what = "its links file is missing".to_owned();
                add(FaultKind::Links, &entry.page_path(), what);
            } else if links && !page {
                add(FaultKind::Page, &entry.links_path(), "its page is missing".to_owned());
            }
        }
        for (path, private, standing) in self.resembling(commit, files, &snapshot)? {
            let what = format!("it holds more than half of the private page {private}");
            match standing {
                Standing::Leak => add(FaultKind::Leak, &path, what),
                Standing::PublicFirst => {
                    audit.notes.push(format!("{path}: {what}, which came later"));
                }
            }
        }
        Ok(())
    }

    /// What is wrong with a new file of a public commit, by its path and bytes.
    fn file_fault(&self, path: &str, id: ObjectId, bytes: &[u8]) -> Option<Wrong> {
        if let Some(entry) = PageEntry::from_page_path(path) {
            let wrong = page_fault(self.archive, &entry, bytes);
            return self.page_leak(&entry, id, bytes).or(wrong.map(|what| (FaultKind::Page, what)));
        }
        if let Some(entry) = PageEntry::from_links_path(path) {
            let leak = self.guard.check_public_file(path, bytes).is_err();
            let what =
                format!("it holds more than the URLs of the private source {}", entry.source);
            let wrong = links_fault(bytes).map(|what| (FaultKind::Links, what.to_owned()));
            return wrong.or_else(|| leak.then_some((FaultKind::Leak, what)));
        }
        if let Some(source) = path.strip_prefix("moved/").and_then(|p| p.strip_suffix(".tsv")) {
            let source = SourceId::new(source).ok().filter(|id| moved_path(id) == path);
            return self.moved_fault(source.as_ref(), bytes);
        }
        if [README, TAKEDOWNS].contains(&path)
            && self.guard.resembles(&String::from_utf8_lossy(bytes)).is_some()
        {
            return Some((FaultKind::Leak, "it holds text of a private page".to_owned()));
        }
        if [DENIED, READ_ONCE].contains(&path) || !ROOT_FILES.contains(&path) {
            let what = "no public file of the format has this path".to_owned();
            return Some((FaultKind::Path, what));
        }
        root_fault(self.archive, (Visibility::Public, path), bytes)
            .map(|what| (FaultKind::Root, what))
    }

    /// Why a page may not leave: of its own, or as a copy of what the private ref has.
    fn page_leak(&self, entry: &PageEntry, id: ObjectId, bytes: &[u8]) -> Option<Wrong> {
        let named = decode_page(bytes).ok().map(|page| page.source);
        let sources = [Some(&entry.source), named.as_ref()].into_iter().flatten();
        let private = sources.into_iter().find(|source| self.guard.is_private(source));
        if let Some(source) = private {
            return Some((FaultKind::Leak, format!("it is a page of the private source {source}")));
        }
        let what = "it is a page of the private ref".to_owned();
        self.private_pages.contains(&id).then_some((FaultKind::Leak, what))
    }

    /// What is wrong with a list of redirects.
    fn moved_fault(&self, source: Option<&SourceId>, bytes: &[u8]) -> Option<Wrong> {
        let Some(source) = source else {
            let what = "no public file of the format has this path".to_owned();
            return Some((FaultKind::Path, what));
        };
        if let Some(what) = moved_fault(bytes) {
            return Some((FaultKind::Moved, what));
        }
        let text = String::from_utf8_lossy(bytes);
        let urls_only = text.lines().skip(1).all(|line| line.ends_with("\t\t"));
        let leak = self.guard.is_private(source) && !urls_only;
        let what = format!("it holds more than the URLs of the private source {source}");
        leak.then_some((FaultKind::Leak, what))
    }

    /// New and changed pages of a commit that hold more than half of a private page: path,
    /// private page, and whether the public one was first. One whose text at that place, or
    /// at the place it was moved from, held as much before is no news.
    fn resembling(
        &self,
        commit: &Commit,
        files: &[ChangedFile],
        snapshot: &Snapshot,
    ) -> Result<Vec<(String, String, Standing)>, ArchiveError> {
        let mut gone: HashMap<String, ObjectId> = HashMap::new();
        for file in files {
            let entry = PageEntry::from_page_path(&file.path).filter(|_| file.new.is_none());
            gone.extend(entry.map(|entry| entry.path.to_string()).zip(file.old));
        }
        let mut found = Vec::new();
        for file in files {
            let (Some(entry), Some(new)) = (PageEntry::from_page_path(&file.path), file.new) else {
                continue;
            };
            let private = |id| -> Result<Option<String>, ArchiveError> {
                let page = decode_page(&snapshot.read(id)?);
                Ok(page.ok().and_then(|page| self.guard.resembles(&page.body).map(str::to_owned)))
            };
            let Some(path) = private(new)? else { continue };
            let before = file.old.or_else(|| gone.get(&entry.path.to_string()).copied());
            if before.map(private).transpose()?.flatten().is_some() {
                continue;
            }
            let bytes = self.private.file(&path)?.unwrap_or_default();
            let since = decode_page(&bytes).map(|page| page.retrieved);
            let first = since.is_ok_and(|since| commit.started < since);
            let standing = if first { Standing::PublicFirst } else { Standing::Leak };
            found.push((file.path.clone(), path, standing));
        }
        Ok(found)
    }
}

/// What is wrong with a file.
type Wrong = (FaultKind, String);

/// Of a public page that resembles a private one, which was first.
enum Standing {
    PublicFirst,
    Leak,
}
