//! Addresses that are hard to turn into paths.

use std::collections::BTreeSet;
use std::fs;

use super::case::{Case, at};
use crate::support::agree::value;
use crate::support::crawl::{Crawl, PUBLIC};
use crate::support::script::{Reply, Script, page};

/// An index of these targets at `/`.
fn index(script: Script, targets: &[&str]) -> Script {
    script.on("docs.example.org", "/", Reply::html(page("Index", "Body text.", targets)))
}

#[test]
fn expect_url_file_and_directory() {
    let Some(case) = Case::load("url-file-and-directory") else { return };
    let mut targets = ["/guide", "/guide/", "/guide/install", "/guide.html", "/guide/index.html"];
    let titles = ["Guide no slash", "Guide slash", "Install", "Guide html", "Guide index"];
    let one = case.crawl();
    one.day(1, 0);
    for (target, title) in targets.iter().zip(titles) {
        one.assert_page(&at(target), &format!("# {title}\n"));
    }
    targets.reverse();
    let other = Case::crawl_of(index(case.script(), &targets), &[case.source()]);
    other.day(1, 0);
    assert_eq!(one.pages(PUBLIC), other.pages(PUBLIC));
    assert_eq!(one.pages(PUBLIC).len(), 6);

    // With some of them gone, the others stay where they are.
    let left = index(Script::new(), &["/guide/", "/guide/index.html"]);
    one.hosts.change(&left);
    for target in ["/guide", "/guide/install", "/guide.html"] {
        one.hosts.on("docs.example.org", target, Reply::status(404));
    }
    one.day(2, 0);
    one.day(3, 0);
    let kept =
        ["docs/docs.example.org/guide/index.html.md", "docs/docs.example.org/guide/index.md"];
    let pages = one.pages(PUBLIC);
    for path in kept {
        assert!(pages.iter().any(|found| found == path), "{path}: {pages:?}");
    }
    assert_eq!(pages.len(), 3, "{pages:?}");
}

/// No two paths, at any level, differ in case only.
fn assert_case_is_enough(paths: &[String]) {
    let mut all = BTreeSet::new();
    for path in paths {
        let parts: Vec<&str> = path.split('/').collect();
        all.extend((1..=parts.len()).map(|n| parts[..n].join("/")));
    }
    let folded: BTreeSet<String> = all.iter().map(|path| path.to_lowercase()).collect();
    assert_eq!(folded.len(), all.len(), "{all:?}");
}

#[test]
fn expect_url_case_collision() {
    let Some(case) = Case::load("url-case-collision") else { return };
    let targets = [
        "/Components",
        "/components",
        "/%D0%93%D0%B5%D0%BC",
        "/%D0%B3%D0%B5%D0%BC",
        "/API/x",
        "/api/y",
    ];
    let portable = |crawl: &Crawl| {
        let path = crawl.path().join("sources.toml");
        let text = fs::read_to_string(&path).expect("the configuration");
        let text = text.replace("[archive]\n", "[archive]\nportable_case = true\n");
        fs::write(path, text).expect("the configuration");
    };
    let one = case.crawl();
    portable(&one);
    one.day(1, 0);
    let paths = one.pages(PUBLIC);
    assert_eq!(paths.len(), 7, "{paths:?}");
    assert_case_is_enough(&paths);
    for (target, title) in targets.iter().zip(["Upper", "Lower", "U", "L", "X", "Y"]) {
        let shown = one.pagelog(&["show", &at(target)]).ok();
        assert!(shown.contains(&format!("# {title}\n")), "{target}: {shown}");
    }
    let mut reversed = targets;
    reversed.reverse();
    let other = Case::crawl_of(index(case.script(), &reversed), &[case.source()]);
    portable(&other);
    other.day(1, 0);
    assert_eq!(other.pages(PUBLIC), paths);
}

#[test]
fn expect_url_long_names() {
    let Some(case) = Case::load("url-long-names") else { return };
    let crawl = case.crawl();
    crawl.day(1, 0);
    let paths = crawl.pages(PUBLIC);
    assert_eq!(paths.len(), 5, "{paths:?}");
    let mut urls = BTreeSet::new();
    for path in &paths {
        let path = format!("pages/{path}");
        assert!(path.split('/').all(|part| part.len() <= 255) && path.len() < 4096, "{path}");
        let page = crawl.file(PUBLIC, &path);
        urls.insert(value(&page, "url").trim_matches('"').to_owned());
    }
    for title in ["One", "Two", "Han", "Deep"] {
        let page = |path: &String| crawl.file(PUBLIC, &format!("pages/{path}"));
        assert!(paths.iter().any(|path| page(path).contains(&format!("# {title}\n"))), "{title}");
    }
    let script = case.script();
    for (_, target, _) in script.entries().filter(|(_, target, _)| *target != "/robots.txt") {
        assert!(urls.contains(&at(target)), "{target}: {urls:?}");
    }
    let archive = crawl.archive().display().to_string();
    crawl.git_in(crawl.path(), &["clone", "-q", &archive, "copy"]).ok();
    let status = crawl.git_in(&crawl.path().join("copy"), &["status", "--porcelain"]).ok();
    assert_eq!(status, "");
}
