//! One `[[source]]`: the keys that all kinds have, and which kind it is.

use std::ops::Range;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use super::faults::{Complaint, quote};
use super::licence::licence;
use super::reader::{List, Located, Table, plain};
use super::values::{self, Checked};
use super::{feed, git, site};
use crate::model::{Policy, PolicyName, Site, Source, SourceId, SourceKind, Visibility, Volatile};

/// Least time between two requests to a host, where a source does not say.
const PACE: Duration = Duration::from_secs(1);

/// A source as far as it could be read, with the places that contradictions are told by.
pub(super) struct Read {
    pub id: Option<Located<SourceId>>,
    pub was: Vec<Located<SourceId>>,
    /// `None` where the kind or the visibility is not known.
    pub source: Option<Source>,
    pub places: Places,
}

/// Where the values stand that can contradict those of other sources.
#[derive(Clone, Default)]
pub(super) struct Places {
    pub base_url: Range<usize>,
    /// As many as a site has paths, in their order.
    pub paths: Vec<Range<usize>>,
    /// As many as there are repositories, in their order.
    pub repositories: Vec<Range<usize>>,
    /// As many as there are feeds, in their order.
    pub feeds: Vec<Range<usize>>,
}

#[derive(Clone, Copy)]
enum Kind {
    Site,
    Git,
    Feed,
}

const KINDS: [(&str, Kind); 3] = [("site", Kind::Site), ("git", Kind::Git), ("feed", Kind::Feed)];

/// The policy of sources of kind feed that name none.
const FEEDS: &str = "courteous-feeds";

/// Reads a source; `dir` is what relative paths are relative to.
pub(super) fn source(mut table: Table<'_>, dir: &Path, policies: &[Policy]) -> Read {
    let id = table.required_text("id", "example-docs", source_id);
    let was = table.list("was", source_id).map(|list| list.value).unwrap_or_default();
    let kind = table.required_text("kind", "site", |text| values::one_of(text, &KINDS));
    let vendor = table.text("vendor", values::filled).map(|vendor| vendor.value);
    let licence = table.required_text("licence", "CC-BY-4.0", licence);
    let publish = table.required_flag("publish");
    let every = table.duration("every").map(|every| every.value);
    let profile = table.text("profile", profile).map(|profile| profile.value);
    let volatile = volatile(table.list("volatile", volatile_entry));
    let kind = kind.map(|kind| kind.value);
    let policy = policy(&mut table, kind, policies);
    let robots_exception = robots_exception(&mut table, policy.as_deref());
    let mut places = Places::default();
    let kind = match kind {
        Some(Kind::Site) => Some(SourceKind::Site(site::site(&mut table, &mut places))),
        Some(Kind::Git) => Some(SourceKind::Git(git::git(&mut table, &mut places, dir))),
        Some(Kind::Feed) => Some(SourceKind::Feed(feed::feed(&mut table, &mut places))),
        None => {
            for keys in [site::KEYS, git::KEYS, feed::KEYS] {
                table.ignore(keys);
            }
            None
        }
    };
    table.finish(other_kind);
    let known = id.as_ref().zip(kind).zip(publish).zip(policy);
    let source = known.map(|(((id, kind), publish), policy)| Source {
        id: id.value.clone(),
        was: was.iter().map(|was| was.value.clone()).collect(),
        vendor,
        licence: licence.map(|licence| licence.value).unwrap_or_default(),
        visibility: if publish { Visibility::Public } else { Visibility::Private },
        every,
        profile,
        volatile,
        kind: bounded(kind, &policy),
        policy,
        robots_exception,
    });
    Read { id, was, source, places }
}

/// The policy that a source names, or that of its kind; `None` where there is none of that
/// name.
fn policy(table: &mut Table<'_>, kind: Option<Kind>, policies: &[Policy]) -> Option<Arc<Policy>> {
    let of = |name: &str| policies.iter().find(|policy| policy.name.as_str() == name);
    let default = match kind {
        Some(Kind::Feed) => FEEDS,
        _ => PolicyName::STANDARD,
    };
    let named = table.text("policy", |text| {
        of(text).ok_or_else(|| {
            let names: Vec<String> =
                policies.iter().map(|policy| format!("\"{}\"", policy.name)).collect();
            let hint = format!("write {}, or give it a file in [[policy]]", names.join(" or "));
            Complaint::new(format!("{} is not known", quote(text)), hint)
        })
    });
    // A policy that is not known is told of; the rest of the source is read all the same.
    let found = named.map(|named| named.value).or_else(|| of(default));
    found.map(|policy| Arc::new(policy.clone()))
}

/// Whether the source asks for the exception from robots.txt that its policy may have.
fn robots_exception(table: &mut Table<'_>, policy: Option<&Policy>) -> bool {
    let span = table.place("robots_exception");
    let asked = table.flag("robots_exception").unwrap_or_default();
    let policy = policy.filter(|policy| asked && !policy.has_robots_exception());
    if let Some((policy, span)) = policy.zip(span) {
        let message = format!("`robots_exception`: the policy `{}` knows none", policy.name);
        let hint = "leave it out: robots.txt is obeyed, except where a policy names requests that \
                    the owners recommend all the same";
        table.faults().add(span, Complaint::new(message, hint));
    }
    asked
}

/// A kind of source with the bound that its policy gives where it has none itself.
fn bounded(kind: SourceKind, policy: &Policy) -> SourceKind {
    match kind {
        SourceKind::Site(site) => {
            let max_pages = site.max_pages.or(policy.max_pages);
            SourceKind::Site(Site { max_pages, ..site })
        }
        other => other,
    }
}

fn source_id(text: &str) -> Checked<SourceId> {
    SourceId::new(text).map_err(|_| {
        let lower = text.to_lowercase();
        let parts = lower.split(|c: char| !c.is_ascii_lowercase() && !c.is_ascii_digit());
        let parts: Vec<&str> = parts.filter(|part| !part.is_empty()).collect();
        let rule = "use 1 to 64 of a-z, 0-9 and `-`, beginning with a letter or digit";
        let hint = match parts.join("-") {
            proposal if proposal.is_empty() || proposal.len() > 64 => rule.to_owned(),
            proposal => format!("{rule}, as \"{proposal}\""),
        };
        Complaint::new(format!("{} is not a source id", quote(text)), hint)
    })
}

fn profile(text: &str) -> Checked<String> {
    let allowed = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
    if !text.is_empty() && text.chars().all(allowed) {
        return Ok(text.to_owned());
    }
    let message = format!("{} is not the name of a profile", quote(text));
    Err(Complaint::new(message, "names of profiles have a-z, 0-9 and `-` only"))
}

enum VolatileEntry {
    Key(String),
    Pattern(String),
}

fn volatile_entry(text: &str) -> Checked<VolatileEntry> {
    let pattern = text.strip_prefix('/').and_then(|text| text.strip_suffix('/'));
    if let Some(pattern) = pattern {
        return values::regex(pattern).map(VolatileEntry::Pattern);
    }
    if text.starts_with('/') || text.ends_with('/') || text.trim().is_empty() {
        return Err(Complaint::new(
            format!("{} is neither a key nor a pattern", quote(text)),
            "write a front-matter key, or a text pattern between two `/`",
        ));
    }
    values::filled(text).map(VolatileEntry::Key)
}

fn volatile(list: Option<List<VolatileEntry>>) -> Volatile {
    let mut volatile = Volatile::default();
    for entry in plain(list) {
        match entry {
            VolatileEntry::Key(key) => volatile.keys.push(key),
            VolatileEntry::Pattern(pattern) => volatile.patterns.push(pattern),
        }
    }
    volatile
}

/// Tells which kinds of source a key belongs to.
fn other_kind(key: &str) -> Option<String> {
    let kinds = [("site", site::KEYS), ("git", git::KEYS), ("feed", feed::KEYS)];
    let owners: Vec<&str> =
        kinds.iter().filter(|(_, keys)| keys.contains(&key)).map(|(kind, _)| *kind).collect();
    (!owners.is_empty()).then(|| format!("`{key}` is a key of kind {}", owners.join(" and ")))
}

/// The pace of a source; 0 is accepted where every host it reads is a literal loopback
/// address or its repositories are local.
pub(super) fn pace(table: &mut Table<'_>, mut hosts: impl Iterator<Item = String>) -> Duration {
    let Some(pace) = table.duration("pace") else { return PACE };
    let public = hosts.find(|host| !super::host::is_loopback(host));
    if let (true, Some(host)) = (pace.value.is_zero(), public) {
        let complaint = Complaint::new(
            format!("`pace`: 0 is for loopback addresses only, not for {}", quote(&host)),
            "write pace = \"1s\" or more",
        );
        table.faults().add(pace.span, complaint);
    }
    pace.value
}

/// Host and port of an address of the web.
pub(super) fn host_of(address: &str) -> String {
    let url = url::Url::parse(address).ok();
    let host = url.as_ref().and_then(|url| Some((url.host_str()?, url.port())));
    match host {
        Some((host, Some(port))) => format!("{host}:{port}"),
        Some((host, None)) => host.to_owned(),
        None => String::new(),
    }
}
