//! Sources of kind `site`.

use std::time::Duration;

use super::faults::{Complaint, quote};
use super::host::host;
use super::reader::{Table, plain};
use super::source::{Places, host_of, pace};
use super::values::{self, Checked};
use crate::model::{MarkdownChoice, RobotsRemoved, Site};

/// The keys that sites have beside those of all sources.
pub(super) const KEYS: &[&str] = &[
    "hosts",
    "paths",
    "skip",
    "start",
    "pace",
    "depth",
    "max_pages",
    "max_files",
    "documents",
    "render",
    "click",
    "markdown",
    "main",
    "drop",
    "recheck",
    "robots_removed",
];

const DEPTH: u32 = 3;
const RECHECK: Duration = Duration::from_hours(30 * 24);
const ROBOTS_REMOVED: [(&str, RobotsRemoved); 2] =
    [("keep", RobotsRemoved::Keep), ("drop", RobotsRemoved::Drop)];

pub(super) fn site(table: &mut Table<'_>, places: &mut Places) -> Site {
    let hosts = table.required_list("hosts", "docs.example.org", host);
    let paths = table.required_list("paths", "/", values::url_path);
    let skip = plain(table.list("skip", values::regex));
    let start =
        table.required_list("start", "https://docs.example.org/sitemap.xml", values::web_address);
    let prefixes = paths.iter().flat_map(|paths| &paths.value);
    places.paths = prefixes.map(|path| path.span.clone()).collect();
    let (hosts, paths, start) = (plain(hosts), plain(paths), plain(start));
    let read_from = hosts.iter().cloned().chain(start.iter().map(|start| host_of(start)));
    Site {
        pace: pace(table, read_from),
        hosts,
        paths,
        skip,
        start,
        depth: number(table.number("depth", 0..=u64::from(u32::MAX)), DEPTH),
        max_pages: table.number("max_pages", 1..=MOST),
        max_files: table.number("max_files", 0..=MOST),
        documents: plain(table.list("documents", document)),
        render: table.flag("render").unwrap_or_default(),
        click: plain(table.list("click", values::filled)),
        markdown: table.text("markdown", markdown).map(|found| found.value).unwrap_or_default(),
        main: plain(table.list("main", values::filled)),
        drop: plain(table.list("drop", values::filled)),
        recheck: table.duration("recheck").map_or(RECHECK, |found| found.value),
        robots_removed: table
            .text("robots_removed", |text| values::one_of(text, &ROBOTS_REMOVED))
            .map(|found| found.value)
            .unwrap_or_default(),
    }
}

/// The largest number that TOML has.
const MOST: u64 = i64::MAX.unsigned_abs();

/// A checked number as the model has it.
pub(super) fn number(found: Option<u64>, default: u32) -> u32 {
    found.and_then(|number| u32::try_from(number).ok()).unwrap_or(default)
}

fn document(text: &str) -> Checked<String> {
    values::one_of(text, &[("pdf", "pdf")]).map(str::to_owned)
}

fn markdown(text: &str) -> Checked<MarkdownChoice> {
    let plain = |text: &str| {
        !text.is_empty() && !text.contains(char::is_whitespace) && !text.contains(['#', '?'])
    };
    match text.split_once(':') {
        None if text == "auto" => Ok(MarkdownChoice::Auto),
        None if text == "accept" => Ok(MarkdownChoice::Accept),
        None if text == "off" => Ok(MarkdownChoice::Off),
        Some(("suffix", suffix)) if plain(suffix) && !suffix.contains('/') => {
            Ok(MarkdownChoice::Suffix(suffix.to_owned()))
        }
        Some(("query", query)) if plain(query) => Ok(MarkdownChoice::Query(query.to_owned())),
        _ => Err(Complaint::new(
            format!("{} is no way to ask for Markdown", quote(text)),
            "write \"auto\", \"accept\", \"suffix:.md\", \"query:accept=text/markdown\" or \"off\"",
        )),
    }
}
