//! Hosts that mean harm, and signals of those who do not want to be archived.

use super::case::{Case, at};
use crate::support::Outcome;
use crate::support::crawl::{Crawl, PRIVATE, PUBLIC, clock};
use crate::support::script::{Reply, Script, page};

#[test]
fn expect_sec_ssrf_redirects() {
    let Some(case) = Case::load("sec-ssrf-redirects") else { return };
    let crawl = case.crawl();
    let ran = crawl.run_with(&clock(1), &[]);
    assert!(matches!(ran.outcome.code, Some(0 | 3)), "{:?}", ran.outcome);
    case.assert_silent();
    assert_eq!(crawl.pages(PUBLIC), ["docs/docs.example.org/index.md"]);
    for n in 0..12 {
        assert_eq!(ran.times(&format!("/r{n}")), 1, "{:?}", ran.asked());
        let (outcome, reason) = crawl.outcome(&at(&format!("/r{n}")));
        assert!(!["changed", "same"].contains(&outcome.as_str()), "/r{n}: {outcome}");
        assert!(!reason.is_empty(), "/r{n}: {outcome}");
    }
    let archived = crawl.git(&["grep", "-c", "root:x:0", PUBLIC]);
    assert_eq!(archived.stdout, "");
}

#[test]
fn expect_sec_xml_entities() {
    let Some(case) = Case::load("sec-xml-entities") else { return };
    let start = ["/a.xml", "/b.xml", "/c.xml", "/"].map(at);
    let start: Vec<&str> = start.iter().map(String::as_str).collect();
    let source = crate::support::crawl::SiteSource::new("docs", "docs.example.org", &start);
    let script = case.script().on("docs.example.org", "/", Reply::page("Good", "Text.", &[]));
    let crawl = Case::crawl_of(script, &[source]);
    // A gigabyte of address space is less than the entities ask for.
    let ran = limited(&crawl, 1 << 20);
    assert!(matches!(ran.code, Some(0 | 3)), "{ran:?}");
    case.assert_silent();
    let said = format!("{}{}", ran.stdout, ran.stderr);
    assert!(!said.contains("root:x:0"), "{said}");
    crawl.assert_page(&at("/"), "# Good");
    let archived = crawl.git(&["grep", "-c", "root:x:0", PUBLIC]);
    assert_eq!(archived.stdout, "");
}

/// One run with so many KiB of address space.
pub fn limited(crawl: &Crawl, kibibytes: u64) -> Outcome {
    let run = crawl.start_run(&clock(1), &[]);
    let mut command = crawl.other("sh");
    let script = format!("ulimit -v {kibibytes} && exec \"$@\"");
    command.args(["-c", &script, "sh"]).arg(run.get_program()).args(run.get_args());
    command.output().expect("sh starts").into()
}

#[test]
fn expect_sec_dotgit_and_traversal_paths() {
    let Some(case) = Case::load("sec-dotgit-and-traversal-paths") else { return };
    let crawl = case.crawl();
    let outside = list(&crawl);
    crawl.run_with(&clock(1), &[]).exits(0);
    let pages = crawl.pages(PUBLIC);
    assert!(pages.len() > 5, "{pages:?}");
    let protections = ["-c", "core.protectHFS=true", "-c", "core.protectNTFS=true"];
    let fsck = crawl.git(&[&protections[..], &["fsck", "--strict"]].concat()).exits(0);
    assert_eq!(fsck.stdout, "");
    let archive = crawl.archive().display().to_string();
    let clone = [&protections[..], &["clone", "-q", &archive, "copy"]].concat();
    crawl.git_in(crawl.path(), &clone).ok();
    for path in crawl.files(PUBLIC).iter().filter(|path| *path != ".gitattributes") {
        for part in path.split('/') {
            let lower = part.to_lowercase();
            let bad = [".git", ".gitattributes", ".gitmodules", ".mailmap", "..", "."];
            assert!(!bad.contains(&lower.as_str()) && !lower.starts_with("git~"), "{path}");
        }
    }
    let hooks = crawl.path().join("copy/.git/hooks/post-checkout");
    assert!(!hooks.exists(), "a hook was planted");
    std::fs::remove_dir_all(crawl.path().join("copy")).expect("a copy");
    assert_eq!(list(&crawl), outside, "something was written outside of the archive");
}

/// What is in the folder beside the archive.
fn list(crawl: &Crawl) -> Vec<String> {
    let entries = std::fs::read_dir(crawl.path()).expect("the folder").flatten();
    let names = entries.map(|entry| entry.file_name().to_string_lossy().into_owned());
    let mut names: Vec<String> = names.filter(|name| name != "archive").collect();
    names.sort();
    names
}

/// Control codes that must not reach a terminal, in what was printed or committed.
#[track_caller]
fn assert_harmless(what: &str, text: &str) {
    let bidi =
        |c: char| matches!(u32::from(c), 0x202a..=0x202e | 0x2066..=0x2069 | 0x200e..=0x200f);
    let bad = |c: char| (c.is_control() && c != '\n' && c != '\t') || bidi(c);
    let found: Vec<_> = text.lines().filter(|line| line.chars().any(bad)).collect();
    assert!(found.is_empty(), "{what}: {found:?}");
}

#[test]
fn expect_sec_terminal_escapes() {
    let Some(case) = Case::load("sec-terminal-escapes") else { return };
    // Headers are sent raw: the control code itself.
    let raw = case.script();
    let crawl = Case::crawl_of(raw, &[case.source()]);
    let first = crawl.run_with(&clock(1), &["-vv"]);
    let json = crawl.run_with(&clock(2), &["-vv", "--log-format", "json"]);
    for (what, ran) in [("text", &first), ("json", &json)] {
        assert!(matches!(ran.outcome.code, Some(0 | 3)), "{:?}", ran.outcome);
        assert_harmless(what, &ran.outcome.stdout);
        assert_harmless(what, &ran.outcome.stderr);
    }
    for line in json.outcome.stderr.lines().filter(|line| line.starts_with('{')) {
        let parsed: Result<serde_json::Value, _> = serde_json::from_str(line);
        assert!(parsed.is_ok(), "{line}");
    }
    for name in [PUBLIC, PRIVATE] {
        let messages = crawl.git(&["log", "--format=%B", name]).ok();
        assert_harmless("messages", &messages);
        let of_others = |line: &&str| line.starts_with("Signed-off-by") || line.contains("Fake");
        assert_eq!(messages.lines().find(of_others), None, "{messages}");
    }
    for arguments in [&["explain", &at("/%1B%5B31mred")][..], &["changes"], &["status"]] {
        let printed = crawl.pagelog(arguments);
        assert_harmless("a command", &printed.stdout);
        assert_harmless("a command", &printed.stderr);
    }
}

#[test]
fn expect_prv_noarchive_signals() {
    let Some(case) = Case::load("prv-noarchive-signals") else { return };
    let crawl = case.crawl();
    let ran = crawl.day(1, 0);
    assert_eq!(ran.times("/below"), 0, "a link was followed that says nofollow");
    let holds = |text: &str| !crawl.git(&["grep", "-l", text, PUBLIC]).stdout.is_empty();
    for text in ["secret-m", "secret-h", "secret-n"] {
        assert!(!holds(text), "{text}");
    }
    assert!(holds("public-o") && holds("public-k") && holds("secret-l"));
    for path in ["/m", "/h", "/named"] {
        crawl.assert_outcome(&at(path), "noarchive");
    }
    // Whoever says `none` asks for as little as possible.
    let late = Reply::html(page("L", "secret-l", &[]));
    crawl.hosts.on("docs.example.org", "/late", late.header("X-Robots-Tag", "none"));
    crawl.day(2, 0);
    assert_eq!(crawl.page(&at("/late")), None);
    crawl.assert_outcome(&at("/late"), "noarchive");
    let all = crawl.git(&["log", "--all", "-p", "--format="]).ok();
    for text in ["secret-m", "secret-h", "secret-n"] {
        assert!(!all.contains(text), "{text} is in the history");
    }
}

#[test]
fn expect_prv_session_data_in_public_tree() {
    let Some(case) = Case::load("prv-session-data-in-public-tree") else { return };
    let crawl = case.crawl();
    let ran = crawl.day(1, 0);
    assert_eq!(ran.times("/b?x=1"), 1, "{:?}", ran.asked());
    let pages = crawl.pages(PUBLIC);
    let other = |text: &str| {
        (5..=8).fold(text.to_owned(), |text, n| {
            text.replace(&format!("SESS{}", n - 4), &format!("SESS{n}"))
        })
    };
    let second = case.input("hosts")["docs.example.org"]["/"][0].clone();
    let mut script = Script::new();
    script.set("docs.example.org", "/", vec![Reply::from_json(&second, &other)]);
    crawl.hosts.change(&script);
    crawl.day(2, 0);
    // Words that people see stay as they are; addresses do not.
    let target = regex::Regex::new(r"(?m)^url: (.*)$|\]\(([^)\s]*)").expect("a pattern");
    let messages = crawl.git(&["log", "--format=%B", PUBLIC]).ok();
    let mut addresses = vec![messages];
    for path in crawl.files(PUBLIC) {
        let text = crawl.file(PUBLIC, &path);
        if path.starts_with("links/") {
            addresses.extend(text.lines().filter_map(|l| Some(l.split('\t').next()?.to_owned())));
        } else {
            let found = target.captures_iter(&text).flat_map(|found| {
                [1, 2].map(|n| found.get(n).map_or("", |m| m.as_str()).to_owned())
            });
            addresses.extend(found);
        }
        addresses.push(path);
    }
    // A token that no rule names is part of an address like any other.
    for n in [1, 2, 4, 5, 6, 8] {
        let word = format!("SESS{n}");
        let public: Vec<&String> = addresses.iter().filter(|text| text.contains(&word)).collect();
        assert!(public.is_empty(), "{public:?}");
    }
    let of_c = |path: &&String| path.contains("/c!-");
    let kept: Vec<String> = pages.iter().filter(|path| !of_c(path)).cloned().collect();
    let now: Vec<String> = crawl.pages(PUBLIC).iter().filter(|path| !of_c(path)).cloned().collect();
    assert_eq!(now, kept);
}
