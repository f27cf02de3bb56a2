//! Every case by its id: where it is played, or why it is not.

use std::collections::BTreeSet;
use std::path::Path;

use super::case::all;

/// How a case is covered.
enum Cover {
    /// By a test of this folder whose name is the id in snake case, after `expect_`.
    Here,
    /// By this function of this file below `tests/`.
    In(&'static str, &'static str),
    /// Not yet, and why.
    Later(&'static str),
}

use Cover::{Here, In, Later};

const FEEDS: &str = "feeds are not read yet";
const PUSH: &str = "nothing is pushed yet";

const CASES: &[(&str, Cover)] = &[
    ("rob-bom-first-line", Here),
    // Run 1 answers 503 to each try, since a retry within the run would read the second answer.
    ("rob-5xx-closed", Here),
    ("rob-429", Here),
    ("rob-redirect-five", Here),
    ("rob-redirect-loop", Here),
    ("rob-longest-match", Here),
    ("rob-groups-merge", Here),
    ("rob-percent-path", Here),
    ("rob-crawl-delay-odd-values", Here),
    // With a shorter delay; what is linked as a feed is a file like others.
    ("rob-delay-all-paths", Here),
    ("smp-gzip-matrix", Here),
    // The operator names sitemaps in `start`; robots.txt may name them, too.
    ("smp-self-reference", Here),
    ("smp-lastmod-odd", Here),
    ("smp-lastmod-lies", Here),
    ("smp-offsite-locs", Here),
    ("smp-undeclared-entity", Here),
    ("fed-guid-scheme-flip", Later(FEEDS)),
    ("fed-no-guid-no-date-stable", Later(FEEDS)),
    ("fed-xml-base-nested", Later(FEEDS)),
    ("fed-guid-not-permalink", Later(FEEDS)),
    ("fed-charset-triangle", Later(FEEDS)),
    ("fed-host-wide-429", Later(FEEDS)),
    ("fed-html-entities-bare-amp", Later(FEEDS)),
    // One cut page a run, since back-off after three of them takes minutes.
    ("htt-short-body", Here),
    ("htt-304-keeps-children", Here),
    ("htt-304-coded-empty", Here),
    ("htt-200-same-etag-new-body", Here),
    ("htt-etag-gzip-suffix", Here),
    ("htt-retry-after-forms", Here),
    ("htt-maintenance-hammer", Here),
    ("htt-late-meta-charset", Here),
    ("htt-empty-200", Here),
    ("htt-soft-404-redirect", Here),
    ("htt-representation-flip", Here),
    ("url-file-and-directory", Here),
    ("url-case-collision", Here),
    ("url-long-names", Here),
    ("mkd-fence-longer-than-content", Here),
    ("mkd-pre-whitespace-and-spans", Here),
    ("mkd-literal-punctuation", Here),
    ("lnk-attribute-blanks", Here),
    ("lnk-base-href", Here),
    ("lnk-trailing-dot-and-entities", Here),
    ("git-tree-order", In("git_source/shared_cases.rs", "git_tree_order")),
    ("git-shallow-update", In("git_source/shared_cases.rs", "git_shallow_update")),
    ("git-stale-lock", In("crash/locks.rs", "locks_of_others_are_left_alone")),
    ("git-push-race", Later(PUSH)),
    ("git-submodule-lfs-gaps", In("git_source/shared_cases.rs", "git_submodule_lfs_gaps")),
    // One fault a test: several in one run would back off for minutes.
    ("sch-outage-is-not-deletion", Here),
    ("sch-empty-checkpoint", Here),
    ("sch-disk-full", In("crash/disk.rs", "second_run_on_a_full_disk")),
    ("sec-ssrf-redirects", Here),
    ("sec-decompression-bombs", Here),
    ("sec-xml-entities", Here),
    ("sec-dotgit-and-traversal-paths", Here),
    ("sec-terminal-escapes", Here),
    // A password in a repository's address is refused by the configuration; the rest is
    // about pushes.
    ("sec-token-in-output", Later(PUSH)),
    ("sec-repo-symlinks-filters", In("git_source/shared_cases.rs", "sec_repo_symlinks_filters")),
    ("prv-purge-is-complete", Later("nothing is purged yet")),
    ("prv-noarchive-signals", Here),
    // The visible words of a link are text of its page, whatever they spell.
    ("prv-session-data-in-public-tree", Here),
];

fn text_of(path: &Path) -> String {
    std::fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

#[test]
fn each_case_is_named() {
    let Some(cases) = all() else { return };
    let known: BTreeSet<&str> = CASES.iter().map(|(id, _)| *id).collect();
    let shared: BTreeSet<&str> = cases.iter().filter_map(|case| case["id"].as_str()).collect();
    assert_eq!(known.len(), CASES.len(), "an id stands twice in the table");
    let unknown: Vec<_> = shared.difference(&known).collect();
    assert!(unknown.is_empty(), "cases that the table does not name: {unknown:?}");
    let lost: Vec<_> = known.difference(&shared).collect();
    assert!(lost.is_empty(), "the table names cases that are not there: {lost:?}");
}

#[test]
fn each_place_that_the_table_names_is_there() {
    let tests = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests");
    let files = std::fs::read_dir(tests.join("faults")).expect("the folder").flatten();
    let here: String = files.map(|file| text_of(&file.path())).collect();
    for (id, cover) in CASES {
        let (text, name) = match cover {
            Here => (here.clone(), format!("expect_{}", id.replace('-', "_"))),
            In(file, name) => (text_of(&tests.join(file)), (*name).to_owned()),
            Later(why) => {
                assert!(!why.is_empty());
                continue;
            }
        };
        // Where a case is more than one test, its parts have further words behind the name.
        let found = text.contains(&format!("#[test]\nfn {name}"));
        let ignored = text.contains(&format!("]\nfn {name}"));
        assert!(found || ignored, "{id}: no test is called {name}");
    }
}
