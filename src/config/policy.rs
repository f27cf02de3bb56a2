//! Policies: the files that are shipped, and those that `[[policy]]` names.

use std::path::{Path, PathBuf};
use std::time::Duration;

use super::faults::{Complaint, ConfigErrors, Faults, quote};
use super::reader::{Located, Table, plain};
use super::values::{self, Checked};
use super::{general, syntax};
use crate::model::{
    Bulk, Limit, LimitScope, Policy, PolicyKind, PolicyName, Quota, RequestKind, Slow, UrlPattern,
};

/// The policies that are shipped: name and file. The first is that of every source that
/// names none, and gives the values of keys that others leave out.
const SHIPPED: [(&str, &str); 4] = [
    (PolicyName::STANDARD, include_str!("../../data/policies/standard.toml")),
    ("courteous-feeds", include_str!("../../data/policies/courteous-feeds.toml")),
    ("bounded", include_str!("../../data/policies/bounded.toml")),
    ("wikimedia", include_str!("../../data/policies/wikimedia.toml")),
];

const SCOPES: [(&str, LimitScope); 3] =
    [("all", LimitScope::All), ("host", LimitScope::Host), ("source", LimitScope::Source)];

/// What every policy keeps to, since it is promised of every request.
const OLDEST_ROBOTS: Duration = Duration::from_hours(1);
const MOST_RETRIES: u64 = 2;
const MOST_FAILURES: u64 = 3;
const LEAST_BACKOFF: Duration = Duration::from_secs(1);
const LONGEST_BACKOFF: Duration = Duration::from_mins(10);

/// A file that `[[policy]]` names.
pub(super) struct PolicyFile {
    name: Located<PolicyName>,
    file: Located<PathBuf>,
}

/// Reads `[[policy]]`.
pub(super) fn files(tables: Vec<Table<'_>>, dir: &Path) -> Vec<PolicyFile> {
    let mut files: Vec<PolicyFile> = Vec::new();
    for mut table in tables {
        let faults = table.faults();
        let name = table.required_text("name", "our-own", policy_name);
        let path = |text: &str| values::filled(text).map(|text| general::resolve(dir, &text));
        let file = table.required_text("file", "policies/our-own.toml", path);
        table.finish(|_| None);
        let Some((name, file)) = name.zip(file) else { continue };
        if let Some(first) = files.iter().find(|first| first.name.value == name.value) {
            let message = format!("two policies are called {}", quote(name.value.as_str()));
            let complaint = Complaint::new(message, "give each policy a name of its own");
            faults.contradiction(name.span, first.name.span.clone(), complaint);
            continue;
        }
        files.push(PolicyFile { name, file });
    }
    files
}

fn policy_name(text: &str) -> Checked<PolicyName> {
    PolicyName::new(text).ok_or_else(|| {
        let message = format!("{} is not the name of a policy", quote(text));
        Complaint::new(message, "use 1 to 64 of a-z, 0-9 and `-`, as \"our-own\"")
    })
}

/// All policies: those that are shipped, and in their place or beside them those of `files`.
/// Mistakes in the files go to `errors`.
///
/// # Errors
/// A policy that is shipped has a mistake.
pub(super) fn all(
    files: &[PolicyFile],
    (faults, errors): (&Faults, &mut Vec<ConfigErrors>),
) -> Result<Vec<Policy>, ConfigErrors> {
    let mut policies = shipped()?;
    let standard = policies.first().cloned();
    for PolicyFile { name, file } in files {
        let text = match std::fs::read_to_string(&file.value) {
            Ok(text) => text,
            Err(error) => {
                let message = format!("`file`: it cannot be read: {error}");
                let hint = "name a file in UTF-8; its path is relative to this one";
                faults.add(file.span.clone(), Complaint::new(message, hint));
                continue;
            }
        };
        let shown = file.value.display().to_string();
        match read((&shown, &text), name.value.clone(), standard.as_ref()) {
            Ok(policy) => {
                policies.retain(|known| known.name != policy.name);
                policies.push(policy);
            }
            Err(error) => errors.push(error),
        }
    }
    Ok(policies)
}

/// The policies that are shipped, the standard one first.
pub(super) fn shipped() -> Result<Vec<Policy>, ConfigErrors> {
    let mut policies: Vec<Policy> = Vec::new();
    for (name, text) in SHIPPED {
        let file = format!("data/policies/{name}.toml");
        let Some(name) = PolicyName::new(name) else { continue };
        policies.push(read((&file, text), name, policies.first())?);
    }
    Ok(policies)
}

/// Reads a file; keys that it leaves out have the values of `base`.
fn read(
    (file, text): (&str, &str),
    name: PolicyName,
    base: Option<&Policy>,
) -> Result<Policy, ConfigErrors> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let document = syntax::document(file, text)?;
    let faults = Faults::default();
    let policy = policy(Table::new("the policy", 0..0, document.get_ref(), &faults), name, base);
    faults.settle(policy, file, text)
}

fn policy(mut table: Table<'_>, name: PolicyName, base: Option<&Policy>) -> Policy {
    let about = table.required_text("about", "Our own rules.", values::filled);
    let retry = table.text("robots_retry", robots_retry).map(|found| found.value);
    let ceiling = table.duration("crawl_delay_ceiling").map(|found| found.value);
    let number = |found: Option<u64>| found.and_then(|n| u32::try_from(n).ok());
    let retries = number(table.number("retries", 0..=MOST_RETRIES));
    let failures = number(table.number("failures_before_parking", 1..=MOST_FAILURES));
    let kinds: Vec<PolicyKind> =
        table.tables("kind", "[[kind]]").into_iter().filter_map(kind).collect();
    let names: Vec<&str> = kinds.iter().map(|kind| kind.name.as_str()).collect();
    let limits =
        table.tables("limit", "[[limit]]").into_iter().filter_map(|it| limit(it, &names)).collect();
    let policy = Policy {
        name,
        about: about.map(|found| found.value).unwrap_or_default(),
        robots_max_age: bounded(
            (&mut table, "robots_max_age"),
            base.map(|base| base.robots_max_age),
            (Duration::ZERO, OLDEST_ROBOTS),
        ),
        robots_retry: retry.unwrap_or_else(|| base.and_then(|base| base.robots_retry)),
        crawl_delay_ceiling: ceiling.or_else(|| base.and_then(|base| base.crawl_delay_ceiling)),
        retries: retries.or(base.map(|base| base.retries)).unwrap_or_default(),
        backoff_least: bounded(
            (&mut table, "backoff_least"),
            base.map(|base| base.backoff_least),
            (LEAST_BACKOFF, Duration::MAX),
        ),
        backoff_max: bounded(
            (&mut table, "backoff_max"),
            base.map(|base| base.backoff_max),
            (LONGEST_BACKOFF, Duration::MAX),
        ),
        give_up_after: bounded(
            (&mut table, "give_up_after"),
            base.map(|base| base.give_up_after),
            (Duration::ZERO, Duration::MAX),
        ),
        failures_before_parking: failures
            .or(base.map(|base| base.failures_before_parking))
            .unwrap_or(1),
        least_pace: table.duration("least_pace").map(|found| found.value).unwrap_or_default(),
        max_pages: table.number("max_pages", 1..=i64::MAX.unsigned_abs()),
        bulk: table.table("bulk", "[bulk]").and_then(bulk),
        kinds,
        limits,
    };
    table.finish(|_| None);
    policy
}

/// A time that must lie between two, and must be given where there is no base.
fn bounded(
    (table, key): (&mut Table<'_>, &'static str),
    base: Option<Duration>,
    (least, most): (Duration, Duration),
) -> Duration {
    let Some(found) = table.duration(key) else {
        if base.is_none() {
            table.missing(key, "\"10m\"");
        }
        return base.unwrap_or_default();
    };
    if found.value < least || found.value > most {
        let (word, bound) = if found.value < least { ("less", least) } else { ("more", most) };
        let bound = humantime::format_duration(bound);
        let message = format!("`{key}`: {word} than every site owner is promised");
        let hint = format!("no policy goes beyond {bound}");
        table.faults().add(found.span, Complaint::new(message, hint));
    }
    found.value
}

fn robots_retry(text: &str) -> Checked<Option<Duration>> {
    if text == "next run" {
        return Ok(None);
    }
    let retry = values::duration(text)?;
    if (Duration::from_mins(1)..=OLDEST_ROBOTS).contains(&retry) {
        return Ok(Some(retry));
    }
    let message = format!("{} is no time after which to ask again", quote(text));
    Err(Complaint::new(message, "write a time from \"1m\" to \"1h\", or \"next run\""))
}

fn bulk(mut table: Table<'_>) -> Option<Bulk> {
    let above = table.number("above", 0..=i64::MAX.unsigned_abs());
    let advice = table.required_text("advice", "take the dumps", values::filled);
    table.finish(|_| None);
    above.zip(advice).map(|(above, advice)| Bulk { above, advice: advice.value })
}

fn kind(mut table: Table<'_>) -> Option<PolicyKind> {
    let name = table.required_text("name", "page", values::filled);
    let kind = PolicyKind {
        name: name.as_ref().map(|found| found.value.clone()).unwrap_or_default(),
        purposes: plain(table.list("asked_for", purpose)),
        urls: plain(table.list("url", pattern)),
        refused: table.text("refused", values::filled).map(|found| found.value),
        gzip: table.flag("gzip").unwrap_or(true),
        robots_exception: table.flag("robots_exception").unwrap_or_default(),
    };
    table.finish(|_| None);
    name.map(|_| kind)
}

fn purpose(text: &str) -> Checked<RequestKind> {
    RequestKind::from_name(text).ok_or_else(|| {
        Complaint::new(
            format!("{} is nothing that is asked for", quote(text)),
            "write robots, sitemap, feed, page, document or git",
        )
    })
}

fn pattern(text: &str) -> Checked<UrlPattern> {
    let text = values::regex(text)?;
    UrlPattern::new(&text).map_err(|error| Complaint::new(error.to_string(), "correct it"))
}

fn limit(mut table: Table<'_>, known: &[&str]) -> Option<Limit> {
    let number = |found: Option<u64>| found.and_then(|n| u32::try_from(n).ok());
    let most = u64::from(u32::MAX);
    let span = table.span();
    let name = table.required_text("name", "overall", values::filled);
    let kind = |text: &str| {
        let unknown = || {
            let message = format!("there is no kind {}", quote(text));
            Complaint::new(message, "name one of the [[kind]] of this file")
        };
        known.contains(&text).then(|| text.to_owned()).ok_or_else(unknown)
    };
    let scope = table.required_text("scope", "all", |text| values::one_of(text, &SCOPES));
    let limit = Limit {
        name: name.as_ref().map(|found| found.value.clone()).unwrap_or_default(),
        kinds: plain(table.list("kinds", kind)),
        scope: scope.as_ref().map_or(LimitScope::All, |found| found.value),
        at_once: number(table.number("at_once", 1..=most)),
        gap: table.duration("gap").map(|found| found.value).unwrap_or_default(),
        per_second: number(table.number("per_second", 1..=most)),
        bits_per_second: table.number("bits_per_second", 1000..=i64::MAX.unsigned_abs()),
        quota: table.table("quota", "quota").and_then(quota),
        after_error: table.duration("after_error").map(|found| found.value).unwrap_or_default(),
        slow: table.table("slow", "slow").and_then(slow),
    };
    if limit.bits_per_second.is_some() && limit.at_once.is_none() {
        let hint = "give `at_once` too: each of its requests gets its share";
        table
            .faults()
            .add(span, Complaint::new("`bits_per_second` has nothing to divide by", hint));
    }
    table.finish(|_| None);
    name.zip(scope).map(|_| limit)
}

fn quota(mut table: Table<'_>) -> Option<Quota> {
    let most = table.number("most", 1..=u64::from(u32::MAX));
    let most = most.and_then(|most| u32::try_from(most).ok());
    let window = table.duration("window").map(|found| found.value);
    let (span, faults) = (table.span(), table.faults());
    table.finish(|_| None);
    let quota = most.zip(window).map(|(most, window)| Quota { most, window });
    if quota.is_none() {
        let hint = "write { most = 5, window = \"15m\" }";
        faults.add(span, Complaint::new("a quota is a number in a window", hint));
    }
    quota
}

fn slow(mut table: Table<'_>) -> Option<Slow> {
    let longest = table.duration("longest").map(|found| found.value);
    let pause = table.duration("pause").map(|found| found.value);
    let (span, faults) = (table.span(), table.faults());
    table.finish(|_| None);
    let slow = longest.zip(pause).map(|(longest, pause)| Slow { longest, pause });
    if slow.is_none() {
        let hint = "write { longest = \"1s\", pause = \"5s\" }";
        faults.add(span, Complaint::new("a pause follows what was longer than a time", hint));
    }
    slow
}
