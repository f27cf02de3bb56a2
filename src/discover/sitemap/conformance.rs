//! The shared cases: every file gives what its index says.

use std::fs;
use std::path::PathBuf;

use serde_json::Value;

use super::tests::{list, read};
use crate::discover::LastMod;
use crate::model::{PageUrl, Timestamp};

/// The folder of shared cases, which stands beside the project or where the variable
/// `PAGELOG_SHARED` says.
fn folder() -> Option<PathBuf> {
    let beside = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../shared");
    let shared = std::env::var_os("PAGELOG_SHARED").map_or(beside, PathBuf::from);
    let folder = shared.join("conformance/sitemaps");
    if !folder.exists() {
        println!("skipped: conformance/sitemaps is not at hand (PAGELOG_SHARED)");
        return None;
    }
    Some(folder)
}

fn cases(folder: &std::path::Path, name: &str) -> Vec<Value> {
    serde_json::from_slice(&fs::read(folder.join(name)).unwrap()).unwrap()
}

fn texts(value: &Value) -> Vec<Option<String>> {
    value.as_array().unwrap().iter().map(|text| text.as_str().map(str::to_owned)).collect()
}

#[test]
fn every_file_gives_what_the_index_says() {
    let Some(folder) = folder() else { return };
    let mut wrong = Vec::new();
    let cases = cases(&folder, "index.json");
    for case in &cases {
        let file = case["file"].as_str().unwrap();
        let (report, items) = read(&fs::read(folder.join(file)).unwrap());
        let (entries, _) = list(&items);
        let mut complain = |what: &str, got: String| wrong.push(format!("{file}: {what}: {got}"));
        let kind = report.kind.map_or("invalid", super::Kind::name);
        if case["kind"] != kind {
            complain("kind", kind.to_owned());
        }
        // What is recognised as nothing is no part of anything either.
        let partial = case["partial"].as_bool().unwrap_or(false);
        if partial != report.partial && report.kind.is_some() {
            complain("partial", format!("{:?}", report.notes));
        }
        let got: Vec<_> = entries.iter().map(|entry| entry.url.to_string()).collect();
        if case["locs"].is_null() {
            let numbered = |number| format!("http://test-site.example/p{number}");
            let want: Vec<_> = (0..got.len()).map(numbered).collect();
            if got.is_empty() || got != want {
                complain("locs", format!("{got:?}"));
            }
        } else {
            let canonical =
                |text: &Option<String>| PageUrl::parse(text.as_ref().unwrap()).unwrap().to_string();
            let want: Vec<_> = texts(&case["locs"]).iter().map(canonical).collect();
            if got != want {
                complain("locs", format!("{got:?}"));
            }
        }
        if !case["lastmod"].is_null() {
            let got: Vec<_> =
                entries.iter().map(|entry| entry.lastmod.map(|found| found.to_string())).collect();
            if got != texts(&case["lastmod"]) {
                complain("lastmod", format!("{got:?}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{} of {}:\n{}", wrong.len(), cases.len(), wrong.join("\n"));
}

#[test]
fn every_date_is_read_as_the_cases_say() {
    let Some(folder) = folder() else { return };
    let now = Timestamp::parse("2026-11-30T00:00:00Z").unwrap();
    for case in cases(&folder, "lastmod_cases.json") {
        let (value, note) = (case["value"].as_str().unwrap(), case["note"].as_str().unwrap());
        let got = LastMod::parse(value);
        // Times are kept in whole seconds.
        let whole = |text: &str| Timestamp::parse(text).unwrap();
        let want: Vec<_> = case["utc"].as_str().into_iter().flat_map(|s| s.split(" or ")).collect();
        let fits = match got {
            None => want.is_empty(),
            Some(got) => want.iter().any(|text| whole(text) == got.start()),
        };
        assert!(fits, "{value} ({note}): {got:?}, not {want:?}");
        if note.contains("unknown") || note.contains("future") {
            assert_eq!(got.and_then(|got| got.known(now)), None, "{value}");
        }
    }
}
