//! Every tree of both histories: modes, names and paths of the format, and nothing private
//! in a public one.
//!
//! A tree is looked at once in each kind of place: what may be wrong with it depends on the
//! place and on whether its source was private then. A source was private in a run where it
//! has pages on the private ref, or links but no pages on the public one; it may have been
//! public before or after, so that pages of a source that is private now are no fault in
//! older commits.

use std::collections::{BTreeSet, HashMap, HashSet};

use super::batches::{Feed, look_at_all};
use super::commits::{self, Line, Run};
use super::{Audit, Fault, FaultKind, ref_name};
use crate::archive::layout::{DENIED, DIRECTORIES, PageEntry, READ_ONCE, ROOT_FILES, TAKEDOWNS};
use crate::archive::listing::{Listed, Node, list, sources_in};
use crate::archive::{ObjectId, Snapshot, decode_links};
use crate::model::{SourceId, Visibility, is_safe_component};

/// What a place in a tree may hold.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum Zone {
    Root,
    /// `pages/`, `links/` or `moved/` themselves.
    Folder(&'static str),
    /// A list of redirects.
    Moved(Then),
    Pages(SourceId, Then),
    Links(SourceId, Then),
    /// Where the format has nothing: told once, at its top.
    Foreign,
}

/// What a source was in a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Then {
    Public,
    Private,
}

/// A file of the public ref that must hold URLs only.
struct UrlsOnly {
    path: String,
    blob: ObjectId,
    since: String,
}

/// What the private history holds.
#[derive(Default)]
struct Private {
    /// Pages, and the sources they are of, by number.
    pages: HashMap<ObjectId, u32>,
    links: HashSet<ObjectId>,
    sources: Vec<SourceId>,
}

/// Checks all trees of both histories.
pub(super) fn check(audit: &Audit<'_>, [public, private]: &[Line; 2]) {
    audit.watch.stage("looking at the trees of all commits");
    let mut known = Private::default();
    let mut walk = Walk::new(audit, private.visibility);
    for run in &private.runs {
        walk.commit(run, &BTreeSet::new(), &mut |zone, _, listed| known.learn(zone, listed));
    }
    let twins = commits::by_run(private);
    let begin = || Snapshot::open(audit.archive, None);
    let feed = |feed: &mut Feed<UrlsOnly>| {
        let mut walk = Walk::new(audit, public.visibility);
        let mut seen = HashSet::new();
        let mut earlier = BTreeSet::new();
        for (number, run) in public.runs.iter().enumerate() {
            let twin = commits::twin(run, &twins);
            let mut then = twin.map(|twin| walk.sources(twin)).unwrap_or_default();
            commits::check_upstreams(audit, run, &then);
            if number + 1 == public.runs.len() {
                then.extend(audit.private.iter().cloned());
            } else {
                let pages = walk.sources(run);
                earlier.extend(pages.into_iter().filter(|id| !then.contains(id)));
            }
            walk.commit(run, &then, &mut |zone, path, listed| {
                if let Some(what) = known.leak(zone, listed) {
                    audit.add(Fault::new(FaultKind::Leak, path, since(&what, public, run)));
                } else if holds_urls_only(zone) && seen.insert(listed.id) {
                    let since = since("", public, run);
                    feed.put(UrlsOnly { path: path.to_owned(), blob: listed.id, since });
                }
            });
        }
        for source in earlier.intersection(&audit.private) {
            audit.note(format!(
                "{source} is private now; older commits of the public ref hold its pages, from \
                 when it was public"
            ));
        }
    };
    look_at_all(audit, feed, begin, |snapshot, file: UrlsOnly| {
        let Ok(snapshot) = snapshot else { return };
        let Ok(bytes) = snapshot.read(file.blob) else {
            return audit.add(Fault::new(
                FaultKind::Object,
                file.path,
                format!("the blob {} cannot be read", file.blob),
            ));
        };
        if !is_urls_only(&file.path, &bytes) {
            let what = "it holds more than the URLs of a private source";
            audit.add(Fault::new(FaultKind::Leak, file.path, format!("{what}{}", file.since)));
        }
    });
}

/// A sentence with the commit with which it began to be true.
fn since(what: &str, line: &Line, run: &Run) -> String {
    format!("{what} ({} from {} on)", ref_name(line.visibility), run.name())
}

fn holds_urls_only(zone: &Zone) -> bool {
    matches!(zone, Zone::Links(_, Then::Private) | Zone::Moved(Then::Private))
}

/// Whether a links file, or a list of redirects, has nothing but URLs.
fn is_urls_only(path: &str, bytes: &[u8]) -> bool {
    if path.starts_with("moved/") {
        let text = String::from_utf8_lossy(bytes);
        return text.lines().skip(1).all(|line| line.ends_with("\t\t"));
    }
    let links = decode_links(bytes);
    links.is_some_and(|links| links.iter().all(|link| link.text.is_empty() && link.rel.is_empty()))
}

impl Private {
    /// Remembers a file of the private history.
    fn learn(&mut self, zone: &Zone, listed: &Listed) {
        match zone {
            Zone::Pages(source, _) => {
                let number = self.number(source);
                self.pages.insert(listed.id, number);
            }
            Zone::Links(..) => drop(self.links.insert(listed.id)),
            _ => {}
        }
    }

    fn number(&mut self, source: &SourceId) -> u32 {
        let known = self.sources.iter().position(|known| known == source);
        let number = known.unwrap_or_else(|| {
            self.sources.push(source.clone());
            self.sources.len() - 1
        });
        u32::try_from(number).unwrap_or(u32::MAX)
    }

    /// Why a file of the public history may not be there.
    fn leak(&self, zone: &Zone, listed: &Listed) -> Option<String> {
        if let Zone::Pages(source, Then::Private) = zone {
            return Some(format!("it is a page of the private source {source}"));
        }
        if let Some(number) = self.pages.get(&listed.id) {
            let source = self.sources.get(*number as usize)?;
            let own = matches!(zone, Zone::Pages(here, Then::Public) if here == source);
            return (!own).then(|| format!("it is a page of the private source {source}"));
        }
        // Where links stand, their text decides.
        let elsewhere = !matches!(zone, Zone::Links(..)) && self.links.contains(&listed.id);
        elsewhere.then(|| "it is a links file of a private source".to_owned())
    }
}

/// Goes over the trees of one history.
struct Walk<'a> {
    audit: &'a Audit<'a>,
    repository: gix::Repository,
    visibility: Visibility,
    zones: HashMap<Zone, u32>,
    visited: HashSet<(u32, ObjectId)>,
    /// What was told of the top, which is listed each time.
    told: HashSet<(String, ObjectId)>,
}

/// Where a walk is.
struct At<'a> {
    run: &'a Run,
    then: &'a BTreeSet<SourceId>,
    /// Sources with pages in this commit.
    pages: BTreeSet<SourceId>,
}

/// What is done with each file: where it stands, its path, its entry.
type Each<'a> = &'a mut dyn FnMut(&Zone, &str, &Listed);

impl<'a> Walk<'a> {
    fn new(audit: &'a Audit<'a>, visibility: Visibility) -> Self {
        let repository = audit.archive.repository();
        let (zones, visited, told) = (HashMap::new(), HashSet::new(), HashSet::new());
        Self { audit, repository, visibility, zones, visited, told }
    }

    /// Sources with pages in a commit.
    fn sources(&self, run: &Run) -> BTreeSet<SourceId> {
        sources_in(&self.repository, run.tree).unwrap_or_default()
    }

    fn commit(&mut self, run: &Run, then: &BTreeSet<SourceId>, each: Each<'_>) {
        let at = At { run, then, pages: self.sources(run) };
        self.tree(&at, (&Zone::Root, run.tree), "", each);
        self.audit.watch.count(self.visited.len() as u64);
    }

    /// Goes over a tree, unless that was done in such a place before. What stands at the top
    /// is what it is by the run, so that trees are listed there each time.
    fn tree(&mut self, at: &At<'_>, (zone, id): (&Zone, ObjectId), prefix: &str, each: Each<'_>) {
        let top = matches!(zone, Zone::Root | Zone::Folder(_));
        if !self.is_new(zone, id) && !top {
            return;
        }
        let listed = match list(&self.repository, id) {
            Ok(listed) => listed,
            Err(error) => return self.audit.add_unreadable(prefix, &error),
        };
        for entry in listed {
            let path = format!("{prefix}{}", String::from_utf8_lossy(&entry.name));
            let inner = match inner(self.visibility, at, zone, (&path, &entry)) {
                Ok(inner) => inner,
                Err((kind, what)) => {
                    if !top || self.told.insert((path.clone(), entry.id)) {
                        let place = ref_name(self.visibility);
                        let what = format!("{what} ({place} from {} on)", at.run.name());
                        self.audit.add(Fault::new(kind, &path, what));
                    }
                    // Whatever it is: what is private may not be in it.
                    Zone::Foreign
                }
            };
            match entry.node {
                Node::Tree => self.tree(at, (&inner, entry.id), &format!("{path}/"), each),
                Node::Blob if top && !self.is_new(&inner, entry.id) => {}
                Node::Blob => each(&inner, &path, &entry),
                Node::Other(_) => {}
            }
        }
    }

    /// Whether an object is met in such a place for the first time.
    fn is_new(&mut self, zone: &Zone, id: ObjectId) -> bool {
        let next = u32::try_from(self.zones.len()).unwrap_or(u32::MAX);
        let number = match self.zones.get(zone) {
            Some(number) => *number,
            None => *self.zones.entry(zone.clone()).or_insert(next),
        };
        self.visited.insert((number, id))
    }
}

/// What is wrong with an entry.
type Wrong = (FaultKind, String);

/// Checks an entry; gives the place that it is.
fn inner(
    visibility: Visibility,
    at: &At<'_>,
    zone: &Zone,
    (path, entry): (&str, &Listed),
) -> Result<Zone, Wrong> {
    if let Node::Other(mode) = entry.node {
        let what =
            format!("its mode is {mode:06o}; an archive has plain files (100644) and directories");
        return Err((FaultKind::Mode, what));
    }
    if *zone == Zone::Foreign {
        return Ok(Zone::Foreign);
    }
    if *zone != Zone::Root && !is_safe_component(&entry.name) {
        let what = "its name is none that Git can check out on every file system";
        return Err((FaultKind::Path, what.to_owned()));
    }
    let found = match entry.node {
        Node::Tree => directory(at, zone, &entry.name),
        _ => file(visibility, at, zone, path),
    };
    found.ok_or_else(|| {
        (FaultKind::Path, "no file or directory of the format has this path".to_owned())
    })
}

/// What a directory of that name is.
fn directory(at: &At<'_>, zone: &Zone, name: &[u8]) -> Option<Zone> {
    match zone {
        Zone::Root => {
            let known = DIRECTORIES.iter().find(|known| known.as_bytes() == name);
            known.map(|known| Zone::Folder(known))
        }
        Zone::Folder("moved") | Zone::Moved(_) | Zone::Foreign => None,
        Zone::Folder(folder) => {
            let source = SourceId::new(std::str::from_utf8(name).ok()?).ok()?;
            let private = at.then.contains(&source) || !at.pages.contains(&source);
            let then = if private { Then::Private } else { Then::Public };
            Some(match *folder {
                "pages" => Zone::Pages(source, then),
                _ => Zone::Links(source, then),
            })
        }
        Zone::Pages(..) | Zone::Links(..) => Some(zone.clone()),
    }
}

/// What a file with that path is.
fn file(visibility: Visibility, at: &At<'_>, zone: &Zone, path: &str) -> Option<Zone> {
    match zone {
        Zone::Root => {
            let other = match path {
                TAKEDOWNS => Visibility::Private,
                DENIED | READ_ONCE => Visibility::Public,
                _ => return ROOT_FILES.contains(&path).then_some(Zone::Root),
            };
            (visibility != other).then_some(Zone::Root)
        }
        Zone::Folder("moved") => {
            let name = path.strip_prefix("moved/")?.strip_suffix(".tsv")?;
            let private = at.then.contains(&SourceId::new(name).ok()?);
            Some(Zone::Moved(if private { Then::Private } else { Then::Public }))
        }
        Zone::Pages(..) => PageEntry::from_page_path(path).map(|_| zone.clone()),
        Zone::Links(..) => PageEntry::from_links_path(path).map(|_| zone.clone()),
        Zone::Folder(_) | Zone::Moved(_) | Zone::Foreign => None,
    }
}
