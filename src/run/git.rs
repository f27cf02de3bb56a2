//! Reading a Git source: fetch each repository, convert what changed since the commit that
//! is archived, remove what its tree no longer has.

use std::collections::HashSet;
use std::io;
use std::path::PathBuf;

use super::changes::Changes;
use super::convert::{BATCH, Item, Job, Rule, convert};
use super::door::Door;
use super::pass::{Pass, hash_of};
use super::{RunError, SourceReport};
use crate::archive::{ArchiveError, LeakGuard, PageEntry};
use crate::discover::Selection;
use crate::extract::{self, Noise};
use crate::fetch::{FileKind, Upstream, UpstreamChange, UpstreamError};
use crate::git::{Fetch, FetchError, GitError};
use crate::model::{
    GitSource, Outcome, OutcomeKind, Repository, RepositoryFile, Source, SourceId, TreePath,
};
use crate::politeness::Reply;
use crate::state::UpstreamRow;

/// Begins the reason of pages that were held back because of a private page; they are
/// looked at again in every run.
const HELD_BACK: &str = "held back";

/// Begins the reason of files that the cache lost or damaged, as the reading of them tells
/// it; in the next run the repository is fetched and converted anew.
const UNREADABLE: &str = "its content cannot be read";

/// A repository of a source, with what is needed to turn its files into pages.
pub(super) struct Reading<'a> {
    pub source: &'a Source,
    pub git: &'a GitSource,
    pub repository: &'a Repository,
    pub selection: Selection,
    pub noise: Noise,
}

impl<'a> Reading<'a> {
    /// Compiles the rules of a source for one of its repositories. Resolved configurations
    /// hold no broken pattern; should one, the source reports it.
    pub fn new(
        (source, git): (&'a Source, &'a GitSource),
        repository: &'a Repository,
    ) -> Result<Self, regex::Error> {
        let selection = Selection::new(git)?;
        Ok(Self { source, git, repository, selection, noise: Noise::new(&source.volatile)? })
    }

    /// What decides how a file becomes a page, as text to compare.
    pub fn settings(&self) -> String {
        let Source { licence, profile, volatile, .. } = self.source;
        let GitSource { paths, skip, mapping, .. } = self.git;
        format!("1 {:?}", (licence, profile, volatile, paths, skip, mapping))
    }

    /// What of a snapshot is to be looked at, where that commit is archived.
    pub fn changes(
        &self,
        upstream: &Upstream,
        (archived, commit): (Option<&str>, &str),
    ) -> Result<Changes, UpstreamError> {
        let is_document = |path: &[u8]| self.selection.representation(path).is_some();
        match archived {
            Some(old) => Changes::between(upstream, (old, commit), is_document),
            None => Changes::all(upstream, commit, is_document),
        }
    }

    /// The file's place in the archive.
    pub fn entry(&self, pass: &Pass<'_>, file: &[u8]) -> PageEntry {
        let path = TreePath::of_file(self.repository, file, pass.archive.case());
        PageEntry { source: self.source.id.clone(), path }
    }

    /// The file as something with an address.
    pub fn file<'f>(&'f self, file: &'f [u8]) -> RepositoryFile<'f> {
        RepositoryFile { repository: self.repository, mapping: &self.git.mapping, file }
    }

    /// The file's address for messages and the ledger.
    fn url(&self, file: &[u8]) -> String {
        self.file(file).url().map_or_else(
            |_| format!("{}#{}", self.repository.address(), String::from_utf8_lossy(file)),
            |url| url.to_string(),
        )
    }
}

/// Reads all repositories of a source.
pub(super) fn read_source(
    (pass, door): (&mut Pass<'_>, &Door<'_>),
    (source, git): (&Source, &GitSource),
    guard: &mut LeakGuard,
) -> Result<(), RunError> {
    let mut report = SourceReport::new(source.id.clone());
    for repository in &git.repositories {
        match Reading::new((source, git), repository) {
            Ok(reading) => read_repository((pass, door), &reading, guard, &mut report)?,
            Err(error) => report.fail(format!("{}: {error}", repository.address())),
        }
    }
    pass.report(report);
    Ok(())
}

/// The bare cache of an upstream.
pub(super) fn cache_of(pass: &Pass<'_>, source: &SourceId, repository: &Repository) -> PathBuf {
    let folder = pass.archive.upstream_folder().join(source.as_str());
    folder.join(format!("{}.git", repository.tree_root()))
}

/// A snapshot of an upstream, and what in it differs from what is archived.
struct Fetched {
    upstream: Upstream,
    cache: PathBuf,
    commit: String,
    changes: Changes,
    /// How many pages are archived of the commit that `changes` are relative to.
    before: u64,
}

/// What keeps a repository from being read; a fact about it, not a fault of the run.
type Hindrance = String;

fn read_repository(
    (pass, door): (&mut Pass<'_>, &Door<'_>),
    reading: &Reading<'_>,
    guard: &mut LeakGuard,
    report: &mut SourceReport,
) -> Result<(), RunError> {
    let (source, address) = (reading.source, reading.repository.address());
    let known = pass.state.upstream(&source.id, address)?;
    let fetched = match fetch_changes((pass, door), reading, known.as_ref())? {
        Ok(fetched) => fetched,
        Err(why) => {
            freeze(pass, reading, known, report, why);
            return Ok(());
        }
    };
    let Fetched { upstream, cache, commit, changes, before } = fetched;
    let job = Job { upstream: &upstream, commit: &commit, rule: Rule::Read };
    let pages = apply(pass, (reading, &job), (changes, before), (guard, report))?;
    let row = UpstreamRow {
        source: source.id.clone(),
        repository: address.to_owned(),
        commit: commit.clone(),
        settings: reading.settings(),
        extractor: extract::VERSION,
        pages,
        trouble: None,
    };
    pass.upstream(source, row);
    pass.caches.push((cache, commit));
    Ok(())
}

/// Fetches a repository and compares it with the commit that is archived.
fn fetch_changes(
    (pass, door): (&Pass<'_>, &Door<'_>),
    reading: &Reading<'_>,
    known: Option<&UpstreamRow>,
) -> Result<Result<Fetched, Hindrance>, RunError> {
    if pass.is_over() {
        return Ok(Err("left for a later run: the time of this one is up".to_owned()));
    }
    let (id, address) = (&reading.source.id, reading.repository.address());
    let cache = cache_of(pass, id, reading.repository);
    let failed = pass.state.urls_with(id, OutcomeKind::Failed)?;
    let failed_by = |reason: &str| failed.iter().any(|(_, why)| why.starts_with(reason));
    if failed_by(UNREADABLE)
        && let Err(error) = std::fs::remove_dir_all(&cache)
    {
        tracing::warn!(cache = %cache.display(), %error, "the damaged cache stays");
    }
    let all_again = failed_by(UNREADABLE) || failed_by(HELD_BACK);
    pass.context.progress.stage(id, &format!("fetching {address}"));
    let commit = match fetch((pass, door), reading, &cache)? {
        Ok(commit) => commit,
        Err(why) => return Ok(Err(why)),
    };
    tracing::info!(source = %id, repository = address, commit, "fetched");
    let compare = || {
        let upstream = Upstream::open(&cache)?;
        let same_rules = |row: &&UpstreamRow| {
            row.settings == reading.settings() && row.extractor == extract::VERSION
        };
        let base = known.filter(same_rules).filter(|_| !all_again);
        let base = base.filter(|row| upstream.has_commit(&row.commit));
        let changes = reading.changes(&upstream, (base.map(|row| row.commit.as_str()), &commit))?;
        Ok((upstream, changes, base.map_or(0, |row| row.pages)))
    };
    let compared: Result<_, UpstreamError> = compare();
    Ok(match compared {
        Ok((upstream, changes, before)) => Ok(Fetched { upstream, cache, commit, changes, before }),
        Err(error) => Err(error.to_string()),
    })
}

/// Fetches one repository, as one request where it has a host.
fn fetch(
    (pass, door): (&Pass<'_>, &Door<'_>),
    reading: &Reading<'_>,
    cache: &std::path::Path,
) -> Result<Result<String, Hindrance>, RunError> {
    let work = || {
        let fetched = pass.context.git.fetch(Fetch {
            repository: reading.repository,
            branch: reading.git.branch.as_deref(),
            cache,
            longest: pass.time_left(),
        });
        (reply(&fetched), fetched)
    };
    let fetched = match reading.repository.endpoint() {
        None => work().1,
        Some((host, _)) => match door.git(reading.source, host, work)? {
            Ok(fetched) => fetched,
            Err(why) => return Ok(Err(why)),
        },
    };
    match fetched {
        Ok(commit) => Ok(Ok(commit)),
        Err(FetchError::Git(GitError::Interrupted)) => Err(RunError::Interrupted),
        // No fault of the source: the rest of the run would fail as well.
        Err(FetchError::Git(error @ GitError::NoSpace { .. })) => Err(error.into()),
        Err(FetchError::Cache { path, error }) if is_full(&error) => {
            Err(ArchiveError::Io { what: "use", path, error }.into())
        }
        Err(error) => Ok(Err(error.to_string())),
    }
}

/// What a fetch tells of the host. Faults of this machine tell nothing against it.
fn reply(fetched: &Result<String, FetchError>) -> Reply {
    match fetched {
        Err(FetchError::Network(_) | FetchError::Git(GitError::TimedOut { .. })) => Reply::NoAnswer,
        Err(FetchError::Gone(_)) => Reply::Status(404),
        Ok(_)
        | Err(
            FetchError::NoBranch(_)
            | FetchError::Address { .. }
            | FetchError::Cache { .. }
            | FetchError::Orphan { .. }
            | FetchError::Git(_),
        ) => Reply::Status(200),
    }
}

fn is_full(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded)
}

/// Leaves the pages of a repository that cannot be read as they are, and says why.
fn freeze(
    pass: &mut Pass<'_>,
    reading: &Reading<'_>,
    known: Option<UpstreamRow>,
    report: &mut SourceReport,
    why: String,
) {
    let address = reading.repository.address();
    tracing::warn!(source = %reading.source.id, repository = address, "{why}");
    report.fail(format!("{address}: {why}"));
    let row = known.unwrap_or_else(|| UpstreamRow {
        source: reading.source.id.clone(),
        repository: address.to_owned(),
        commit: String::new(),
        settings: String::new(),
        extractor: extract::VERSION,
        pages: 0,
        trouble: None,
    });
    let row = UpstreamRow { trouble: Some(why), ..row };
    if row.commit.is_empty() {
        pass.record.upstreams.push(row);
    } else {
        pass.upstream(reading.source, row);
    }
}

/// Brings the archive's pages of one repository to a snapshot; gives how many there are
/// then. `before` is how many there were; where the changes are all paths, pages that are not
/// among them leave.
pub(super) fn apply(
    pass: &mut Pass<'_>,
    (reading, job): (&Reading<'_>, &Job<'_>),
    (mut changes, before): (Changes, u64),
    (guard, report): (&mut LeakGuard, &mut SourceReport),
) -> Result<u64, RunError> {
    let counts = report.counts;
    let (documents, everything) = (changes.documents, changes.everything);
    let mut stored = Stored::default();
    let next = &mut |pass: &mut Pass<'_>, report: &mut SourceReport| {
        let mut items = Vec::with_capacity(BATCH);
        while items.len() < BATCH
            && let Some(change) = changes.next()
        {
            let change = change.map_err(|error| ArchiveError::Format {
                place: reading.repository.address().to_owned(),
                why: error.to_string(),
            })?;
            let Some(item) = sort_out(pass, reading, (change, everything), report)? else {
                continue;
            };
            stored.note(&item, everything);
            items.push(item);
        }
        Ok(items)
    };
    convert(pass, (reading, job), (documents, next), (guard, report))?;
    let added = report.counts.added - counts.added;
    if everything {
        return Ok(remove_absent(pass, reading, &stored, report)? + added);
    }
    let removed = report.counts.removed - counts.removed;
    report.counts.not_modified += before.saturating_sub(removed + stored.count);
    Ok((before + added).saturating_sub(removed))
}

/// Archived pages whose files a snapshot still has.
#[derive(Default)]
struct Stored {
    count: u64,
    /// Hashes of their places, where all are looked at.
    places: HashSet<u64>,
}

impl Stored {
    fn note(&mut self, item: &Item, everything: bool) {
        if item.old.is_some() {
            self.count += 1;
            if everything {
                self.places.insert(hash_of(&item.entry));
            }
        }
    }

    fn has(&self, entry: &PageEntry) -> bool {
        self.places.contains(&hash_of(entry))
    }
}

/// Decides about one path: gives what is to be converted, and deals with the rest.
fn sort_out(
    pass: &mut Pass<'_>,
    reading: &Reading<'_>,
    (change, everything): (UpstreamChange, bool),
    report: &mut SourceReport,
) -> Result<Option<Item>, RunError> {
    let source = &reading.source.id;
    let representation = reading.selection.representation(&change.path);
    let entry = representation.map(|_| reading.entry(pass, &change.path));
    let left_out = match change.now {
        None => None,
        Some((FileKind::SymbolicLink, _)) => {
            Some("a symbolic link; what it points to is archived under its own name, if at all")
        }
        Some((FileKind::Submodule, _)) => {
            Some("a submodule: another repository, which is not read")
        }
        Some((FileKind::File, blob)) => {
            let (Some(representation), Some(entry)) = (representation, entry) else {
                return Ok(None);
            };
            let url = reading.url(&change.path);
            if let Some(since) = pass.state.denied_since(source, &url)? {
                let outcome = Outcome::new(OutcomeKind::Denied, format!("taken down on {since}"));
                pass.remove(&entry, &outcome, report)?;
                pass.learn(source, url, outcome)?;
                return Ok(None);
            }
            let base = pass.writer.base(reading.source.visibility);
            let old = base.blob_at(&entry.page_path())?;
            return Ok(Some(Item { path: change.path, blob, entry, representation, old }));
        }
    };
    let outcome = match left_out {
        None => Outcome::new(OutcomeKind::Gone, "no longer in the repository"),
        Some(why) => Outcome::new(OutcomeKind::Skipped, why),
    };
    if let Some(entry) = entry.filter(|_| !everything) {
        pass.remove(&entry, &outcome, report)?;
    }
    if outcome.kind == OutcomeKind::Skipped && reading.selection.covers(&change.path) {
        let url = reading.url(&change.path);
        report.skipped.push((url.clone(), outcome.reason.clone()));
        pass.learn(source, url, outcome)?;
    }
    Ok(None)
}

/// Removes the archived pages of a repository that are not in its snapshot; gives how many
/// pages it has then.
fn remove_absent(
    pass: &mut Pass<'_>,
    reading: &Reading<'_>,
    present: &Stored,
    report: &mut SourceReport,
) -> Result<u64, RunError> {
    let root = reading.repository.tree_root_for(pass.archive.case());
    let folder = format!("pages/{}/{root}", reading.source.id);
    let stored = pass.writer.base(reading.source.visibility).files(&folder)?;
    let stored: Vec<PageEntry> =
        stored.iter().filter_map(|(path, _)| PageEntry::from_page_path(path)).collect();
    let outcome =
        Outcome::new(OutcomeKind::Gone, "no longer in the repository, or no longer selected");
    let mut pages = stored.len() as u64;
    for entry in stored.iter().filter(|entry| !present.has(entry)) {
        if pass.remove(entry, &outcome, report)? {
            pages -= 1;
        }
    }
    Ok(pages)
}

/// What becomes of a conversion that gave no page.
pub(super) fn keep(
    pass: &mut Pass<'_>,
    reading: &Reading<'_>,
    (path, outcome): (&[u8], Outcome),
    report: &mut SourceReport,
) -> Result<(), RunError> {
    let url = reading.url(path);
    let told = (url.clone(), outcome.reason.clone());
    if outcome.kind == OutcomeKind::Failed {
        report.counts.failed += 1;
        report.failed.push(told);
    } else {
        report.skipped.push(told);
    }
    pass.learn(&reading.source.id, url, outcome)
}

/// The outcome of a page that resembles a private one.
pub(super) fn held_back(private: &str) -> Outcome {
    Outcome::new(
        OutcomeKind::Failed,
        format!("{HELD_BACK}: it holds more than half of the private page {private}"),
    )
}
