//! What is right by itself and wrong together: ids, repositories, public and private scope.

use std::ops::Range;

use super::faults::{Complaint, Faults, quote};
use super::host::host as canonical_host;
use super::reader::Located;
use super::source::{Places, Read, host_of};
use crate::model::{Repository, Source, SourceId, SourceKind};

/// Records every contradiction among the sources.
pub(super) fn check(sources: &[Read], faults: &Faults) {
    ids(sources, faults);
    let resolved: Vec<(&Source, &Places)> =
        sources.iter().filter_map(|read| Some((read.source.as_ref()?, &read.places))).collect();
    for (index, (source, places)) in resolved.iter().enumerate() {
        repositories_of(source, places, faults);
        for (earlier, earlier_places) in resolved.iter().take(index) {
            if earlier.visibility != source.visibility {
                let (here, there) = ((*source, *places), (*earlier, *earlier_places));
                shared_repositories(here, there, faults);
                shared_scope(here, there, faults);
            }
        }
    }
}

/// Ids are permanent, those of the past included: no two sources share one.
fn ids(sources: &[Read], faults: &Faults) {
    let names = sources.iter().flat_map(|read| read.id.iter().chain(&read.was));
    let mut seen: Vec<&Located<SourceId>> = Vec::new();
    for name in names {
        if let Some(first) = seen.iter().find(|first| first.value == name.value) {
            let message = format!("the id {} is used twice", quote(name.value.as_str()));
            let hint = "every source has an id of its own, and none has what another one `was`";
            let complaint = Complaint::new(message, hint);
            faults.contradiction(name.span.clone(), first.span.clone(), complaint);
        }
        seen.push(name);
    }
}

/// Repositories of a source with their places.
fn repositories<'a>(
    source: &'a Source,
    places: &'a Places,
) -> impl Iterator<Item = (&'a Repository, &'a Range<usize>)> {
    let repositories = match &source.kind {
        SourceKind::Git(git) => git.repositories.as_slice(),
        SourceKind::Site(_) | SourceKind::Feed(_) => &[],
    };
    repositories.iter().zip(&places.repositories)
}

/// Two repositories of one source never share a place in the tree.
fn repositories_of(source: &Source, places: &Places, faults: &Faults) {
    let all: Vec<_> = repositories(source, places).collect();
    for (index, (repository, span)) in all.iter().enumerate() {
        let (mine, earlier) = (repository.tree_root(), all.iter().take(index));
        for (other, other_span) in earlier {
            let theirs = other.tree_root();
            let complaint = if mine == theirs {
                Complaint::new(
                    format!("two repositories of this source stand at {}", quote(mine)),
                    "name each once, or read one of them in a source of its own",
                )
            } else if is_below(mine, theirs) || is_below(theirs, mine) {
                Complaint::new(
                    format!("{} and {} lie in one another", quote(mine), quote(theirs)),
                    "read one of them in a source of its own",
                )
            } else {
                continue;
            };
            faults.contradiction((*span).clone(), (*other_span).clone(), complaint);
            break;
        }
    }
}

fn is_below(path: &str, folder: &str) -> bool {
    let rest = path.strip_prefix(folder.trim_end_matches('/'));
    rest.is_some_and(|rest| rest.starts_with('/'))
}

type Placed<'a> = (&'a Source, &'a Places);

fn shared_repositories(here: Placed<'_>, there: Placed<'_>, faults: &Faults) {
    for (repository, span) in repositories(here.0, here.1) {
        let same = |other: &Repository| {
            let remote = repository.endpoint().is_some() && other.endpoint().is_some();
            other.fetch_url() == repository.fetch_url()
                || (remote && other.tree_root() == repository.tree_root())
        };
        if let Some((_, other)) = repositories(there.0, there.1).find(|(other, _)| same(other)) {
            let message = format!(
                "{} is read by {} and by {}, one public and one private",
                quote(repository.address()),
                quote(here.0.id.as_str()),
                quote(there.0.id.as_str()),
            );
            let hint = "what is private in one source cannot be public in another: drop one";
            faults.contradiction(span.clone(), other.clone(), Complaint::new(message, hint));
        }
    }
}

/// A part of the web that a source says its pages are from.
struct Claim {
    host: String,
    /// A prefix of paths, or the whole path of one resource.
    path: String,
    single: bool,
    key: &'static str,
    span: Range<usize>,
}

impl Claim {
    fn meets(&self, other: &Self) -> bool {
        self.host == other.host
            && match (self.single, other.single) {
                (true, true) => self.path == other.path,
                (true, false) => self.path.starts_with(&other.path),
                (false, true) => other.path.starts_with(&self.path),
                (false, false) => {
                    self.path.starts_with(&other.path) || other.path.starts_with(&self.path)
                }
            }
    }
}

fn claims(source: &Source, places: &Places) -> Vec<Claim> {
    match &source.kind {
        SourceKind::Site(site) => {
            let paths = || site.paths.iter().zip(&places.paths);
            let claim = |host: &str, path: &str, span: &Range<usize>| Claim {
                host: host.to_owned(),
                path: path.to_owned(),
                single: false,
                key: "paths",
                span: span.clone(),
            };
            let on = |host| paths().map(move |(path, span)| claim(host, path, span));
            site.hosts.iter().flat_map(|host| on(host)).collect()
        }
        SourceKind::Git(git) => {
            let base = git.mapping.base.iter();
            base.filter_map(|base| claim(base.as_str(), "base_url", &places.base_url)).collect()
        }
        SourceKind::Feed(feed) => {
            let feeds = feed.feeds.iter().zip(&places.feeds);
            feeds.filter_map(|(feed, span)| claim(feed, "feeds", span)).collect()
        }
    }
}

fn claim(address: &str, key: &'static str, span: &Range<usize>) -> Option<Claim> {
    let url = url::Url::parse(address).ok()?;
    let host = canonical_host(&host_of(address)).ok()?;
    let query = url.query().map(|query| format!("?{query}")).unwrap_or_default();
    let path = format!("{}{query}", url.path());
    Some(Claim { host, path, single: key == "feeds", key, span: span.clone() })
}

/// A public and a private source claim no page both.
fn shared_scope(here: Placed<'_>, there: Placed<'_>, faults: &Faults) {
    let others = claims(there.0, there.1);
    for claim in claims(here.0, here.1) {
        let Some(other) = others.iter().find(|other| claim.meets(other)) else { continue };
        let longer = if claim.path.len() >= other.path.len() { &claim.path } else { &other.path };
        let message = format!(
            "`{}` overlaps `{}` of {}: {} would be public and private",
            claim.key,
            other.key,
            quote(there.0.id.as_str()),
            quote(&format!("{}{longer}", claim.host)),
        );
        let hint = "narrow the paths of one, or give both the same `publish`";
        let complaint = Complaint::new(message, hint);
        faults.contradiction(claim.span.clone(), other.span.clone(), complaint);
        return;
    }
}
