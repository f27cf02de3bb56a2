//! Every rule of what removes a page, as a table, and what is remembered of each answer.

use super::*;
use crate::archive::ObjectId;
use crate::model::{CaseRule, SourceId, TreePath};

const DAY: Duration = Duration::from_hours(24);

fn time(text: &str) -> Timestamp {
    Timestamp::parse(text).unwrap()
}

fn run() -> Timestamp {
    time("2026-12-04T02:00:00Z")
}

/// The start of an earlier run.
fn earlier() -> Timestamp {
    time("2026-12-02T02:00:00Z")
}

fn url(path: &str) -> PageUrl {
    PageUrl::parse(&format!("https://h.example{path}")).unwrap()
}

fn entry() -> PageEntry {
    let path = TreePath::of_url(&url("/a"), CaseRule::Keep);
    PageEntry { source: SourceId::new("docs").unwrap(), path }
}

fn visit() -> Visit {
    Visit {
        outcome: OutcomeKind::Same,
        stored: true,
        looked: earlier(),
        read: earlier(),
        lastmod: None,
        rules: 7,
        form: "html".to_owned(),
        validators: Validators { etag: Some("\"a\"".to_owned()), last_modified: None },
        followed: true,
        text: 11,
        gone_since: None,
        moved: None,
    }
}

fn gone(since: &str) -> Visit {
    Visit { outcome: OutcomeKind::Gone, gone_since: Some(time(since)), ..visit() }
}

fn moved(since: Timestamp) -> Visit {
    let to = url("/b").to_string();
    Visit { outcome: OutcomeKind::Moved, moved: Some(Move { to, status: 301, since }), ..visit() }
}

/// A draft by what is known of the page; whether it is stored is known beside.
fn judged(visit: Option<&Visit>, is_stored: bool, judge: &dyn Fn(&Facts<'_>) -> Draft) -> Draft {
    let entry = entry();
    let facts = Facts {
        run: run(),
        time: time("2026-12-04T02:00:09Z"),
        visit,
        listed: Some("2026-12-03"),
        stored: is_stored.then_some(&entry),
        rules: 8,
        form: "negotiated",
    };
    judge(&facts)
}

type Judge = fn(&Facts<'_>) -> Draft;

const GONE: Judge = |facts| facts.gone(404, DAY);
const MOVED: Judge = |facts| facts.moved(&url("/b"), 301);
const MOVED_ELSEWHERE: Judge = |facts| facts.moved(&url("/c"), 308);

/// What came, what was known before, and whether the page leaves.
type Case = (&'static str, Option<Visit>, Judge, bool);

const DAY_BEFORE: &str = "2026-12-03T02:00:00Z";

fn gone_or_moved() -> Vec<Case> {
    vec![
        ("gone for the first time", Some(visit()), GONE, false),
        ("gone, and nothing is remembered", None, GONE, false),
        ("gone twice in this run", Some(gone("2026-12-04T02:00:00Z")), GONE, false),
        ("gone again too soon", Some(gone("2026-12-03T02:00:01Z")), GONE, false),
        ("gone again after just as long", Some(gone(DAY_BEFORE)), GONE, true),
        ("gone again, 410", Some(gone(DAY_BEFORE)), |facts| facts.gone(410, DAY), true),
        ("gone again, by a clock that went back", Some(gone("2026-12-05T02:00:00Z")), GONE, false),
        ("gone after a redirect", Some(moved(earlier())), GONE, false),
        (
            "gone again, and the wait is for ever",
            Some(gone(DAY_BEFORE)),
            |facts| facts.gone(404, Duration::MAX),
            false,
        ),
        ("moved for the first time", Some(visit()), MOVED, false),
        ("moved, and nothing is remembered", None, MOVED, false),
        ("moved twice in this run", Some(moved(run())), MOVED, false),
        ("moved again", Some(moved(earlier())), MOVED, true),
        ("moved again, to another place", Some(moved(earlier())), MOVED_ELSEWHERE, true),
        ("moved after it was gone", Some(gone(DAY_BEFORE)), MOVED, false),
        (
            "elsewhere for now, again",
            Some(moved(earlier())),
            |facts| facts.elsewhere(&url("/b"), 302),
            false,
        ),
    ]
}

fn other_answers() -> Vec<Case> {
    vec![
        ("not to be archived", Some(visit()), |facts| facts.noarchive(), true),
        ("not to be archived, and nothing is remembered", None, |facts| facts.noarchive(), true),
        (
            "forbidden",
            Some(visit()),
            |facts| facts.disallowed("robots.txt", RobotsRemoved::Keep),
            false,
        ),
        (
            "forbidden, where that removes",
            Some(visit()),
            |facts| facts.disallowed("robots.txt", RobotsRemoved::Drop),
            true,
        ),
        (
            "no page by its content",
            Some(gone(DAY_BEFORE)),
            |facts| facts.skipped("a challenge".to_owned()),
            false,
        ),
        ("failed", Some(gone(DAY_BEFORE)), |facts| facts.failed("status 500".to_owned()), false),
        (
            "not modified",
            Some(gone(DAY_BEFORE)),
            |facts| facts.not_modified(Validators::default()),
            false,
        ),
        ("read", Some(gone(DAY_BEFORE)), |facts| facts.read(Replaced::Other, put()), false),
        (
            "read as it was",
            Some(moved(earlier())),
            |facts| facts.read(Replaced::Same, put()),
            false,
        ),
    ]
}

/// Every answer that may remove a page, with what was known before: only those marked do.
#[test]
fn what_removes_a_page() {
    for (what, before, judge, leaves) in gone_or_moved().into_iter().chain(other_answers()) {
        let draft = judged(before.as_ref(), true, &judge);
        assert_eq!(draft.change == TreeChange::Removed, leaves, "{what}: {draft:?}");
        if leaves {
            let visit = draft.visit.unwrap_or_else(|| panic!("{what}: nothing is remembered"));
            assert_eq!(draft.path.as_deref(), Some("h.example/a.md"), "{what}");
            assert!(!visit.stored && visit.validators.is_empty(), "{what}: {visit:?}");
        }
        // What the tree does not have does not leave it.
        let absent = judged(before.as_ref(), false, &judge);
        assert_ne!(absent.change, TreeChange::Removed, "{what}: {absent:?}");
    }
}

fn put() -> PutPage {
    let id = |n: u8| ObjectId::from([n; 20]);
    PutPage {
        entry: entry(),
        ids: PageIds { page: id(1), links: id(2), public_links: None },
        sketch: None,
        validators: Validators { etag: Some("\"new\"".to_owned()), last_modified: None },
        followed: false,
        text: 12,
    }
}

#[test]
fn any_other_answer_ends_what_was_begun() {
    for judge in
        [(|facts: &Facts<'_>| facts.not_modified(Validators::default())) as Judge, |facts| {
            facts.read(Replaced::Same, put())
        }]
    {
        for before in [gone("2026-12-02T02:00:00Z"), moved(earlier())] {
            let after = judged(Some(&before), true, &judge).visit.unwrap();
            assert_eq!((after.gone_since, &after.moved), (None, &None));
            assert!(after.stored);
        }
    }
    let after = judged(Some(&moved(earlier())), true, &GONE).visit.unwrap();
    assert_eq!((after.gone_since, after.moved), (Some(run()), None));
}

#[test]
fn failures_change_nothing_that_is_remembered() {
    let before = gone("2026-12-02T02:00:00Z");
    let kinds: [Judge; 4] = [
        |facts| facts.failed("status 500".to_owned()),
        |facts| facts.skipped("a login page".to_owned()),
        |facts| facts.elsewhere(&url("/b"), 307),
        |facts| facts.disallowed("robots.txt", RobotsRemoved::Keep),
    ];
    for judge in kinds {
        let draft = judged(Some(&before), true, &judge);
        assert_eq!((draft.visit, draft.change, draft.path), (None, TreeChange::None, None));
    }
    // A page that never was: that it was looked at is remembered.
    for judge in &kinds[..3] {
        let visit = judged(None, false, judge).visit.unwrap();
        assert_eq!((visit.stored, visit.read), (false, Timestamp::EPOCH));
    }
}

#[test]
fn what_is_remembered_of_an_answer() {
    let new = Validators { etag: None, last_modified: Some("today".to_owned()) };
    let draft = judged(Some(&visit()), true, &|facts| facts.not_modified(new.clone()));
    let after = draft.visit.unwrap();
    // A 304 adds to the validators, and the text is as old as it was.
    assert_eq!(after.validators.etag.as_deref(), Some("\"a\""));
    assert_eq!(after.validators.last_modified.as_deref(), Some("today"));
    assert_eq!((after.read, after.rules, after.text), (earlier(), 7, 11));
    assert_eq!((after.looked, after.form.as_str()), (time("2026-12-04T02:00:09Z"), "negotiated"));
    assert_eq!(after.lastmod.as_deref(), Some("2026-12-03"));

    let draft = judged(Some(&visit()), true, &|facts| facts.read(Replaced::Other, put()));
    let after = draft.visit.unwrap();
    assert_eq!((draft.change, after.read), (TreeChange::Edited, time("2026-12-04T02:00:09Z")));
    assert_eq!((after.rules, after.text, after.followed), (8, 12, false));
    assert_eq!(after.validators.etag.as_deref(), Some("\"new\""));
    assert_eq!(draft.files.map(|files| files.page), Some("01".repeat(20)));

    let added = judged(None, false, &|facts| facts.read(Replaced::Nothing, put()));
    assert_eq!((added.change, added.outcome.reason.as_str()), (TreeChange::Added, "added"));
    let same = judged(Some(&visit()), true, &|facts| facts.read(Replaced::Same, put()));
    assert_eq!((same.change, same.files, same.path), (TreeChange::None, None, None));
}

#[test]
fn a_sitemap_is_no_page() {
    let text = (Validators::default(), 5);
    let draft = judged(None, false, &|facts| facts.listed(Replaced::Other, text.clone()));
    let visit = draft.visit.unwrap();
    assert_eq!((draft.change, visit.stored, visit.text), (TreeChange::None, true, 5));
    assert_eq!(draft.outcome.kind, OutcomeKind::Changed);
}
