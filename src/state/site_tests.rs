//! The open run over sites: its queue, its drafts, and what they become with the commit.

use std::path::PathBuf;

use super::schema::STEPS;
use super::*;
use crate::model::{
    Counts, Known, Move, Outcome, OutcomeKind, RunId, RunKind, SourceId, Timestamp, Tips, UrlId,
    UrlKind, Validators, Visit,
};

struct Folder(tempfile::TempDir);

impl Folder {
    fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    fn file(&self) -> PathBuf {
        self.0.path().join("state.sqlite")
    }

    fn open(&self) -> State {
        State::open(&self.file(), "x").unwrap().0
    }
}

fn docs() -> SourceId {
    SourceId::new("docs").unwrap()
}

fn time(day: u8) -> Timestamp {
    Timestamp::parse(&format!("2026-12-{day:02}T02:00:00Z")).unwrap()
}

fn url(n: i64) -> String {
    format!("https://h.example/{n}")
}

fn page() -> Known {
    Known { kind: UrlKind::Page, depth: 0, sitemap: None, listed: None }
}

fn visit(text: i64) -> Visit {
    Visit {
        outcome: OutcomeKind::Changed,
        stored: true,
        looked: time(4),
        read: time(4),
        lastmod: Some("2026-12-01".to_owned()),
        rules: -3,
        form: "negotiated".to_owned(),
        validators: Validators {
            etag: Some("W/\"a\"".to_owned()),
            last_modified: Some("Fri, 04 Dec 2026 00:00:00 GMT".to_owned()),
        },
        followed: true,
        text,
        gone_since: Some(time(2)),
        moved: Some(Move { to: url(9), status: 308, since: time(3) }),
    }
}

fn draft(kind: OutcomeKind, change: TreeChange, visit: Option<Visit>) -> Draft {
    Draft { change, visit, ..Draft::only(Outcome::new(kind, "why")) }
}

fn put(n: i64, change: TreeChange) -> Draft {
    Draft {
        path: Some(format!("h.example/{n}.md")),
        files: Some(DraftFiles {
            page: format!("{n:040}"),
            links: format!("{:040}", n + 1),
            public_links: Some(format!("{:040}", n + 2)),
            sketch: Some(vec![1, u64::MAX]),
        }),
        ..draft(OutcomeKind::Changed, change, Some(visit(n)))
    }
}

/// A draft by which a page leaves.
fn leave(n: i64, kind: OutcomeKind) -> Draft {
    let visit = Visit { stored: false, ..visit(n) };
    let path = Some(format!("h.example/{n}.md"));
    Draft { path, ..draft(kind, TreeChange::Removed, Some(visit)) }
}

/// Notes so many URLs, from 1 on, and puts them into the queue, the last one first.
fn queue(state: &mut State, count: i64) -> Vec<UrlId> {
    let source = docs();
    let mut ids = Vec::new();
    for n in 1..=count {
        let id = state.note_known((&source, &url(n)), &page()).unwrap();
        let place =
            Place { host: "h.example", source: &source, class: 1, rank: count - n, hops: 0 };
        assert!(state.enqueue(id, &place).unwrap());
        ids.push(id);
    }
    ids
}

fn begin(state: &mut State) -> RunId {
    let run = state.begin_run(RunKind::Read, time(4), &Tips::default()).unwrap();
    state.begin_crawl(Some(run), 42, &[&docs(), &SourceId::new("inner").unwrap()]).unwrap();
    run
}

fn commit(state: &mut State, run: RunId) {
    let tips = Tips { public: Some("a".into()), private: Some("b".into()) };
    state.record_intent(run, (&tips, None)).unwrap();
    state.end_crawl().unwrap();
    let record = CommitRecord { tips, ..CommitRecord::default() };
    state.record_commit(run, time(4), (&record, Vec::new())).unwrap();
}

fn take(state: &mut State) -> Option<UrlId> {
    state.take("h.example", &docs()).unwrap().map(|(id, _, _)| id)
}

#[test]
fn the_queue_is_taken_in_order_of_class_and_rank() {
    let folder = Folder::new();
    let mut state = folder.open();
    begin(&mut state);
    let ids = queue(&mut state, 3);
    let source = docs();
    let first = Place { host: "h.example", source: &source, class: 0, rank: 9, hops: 2 };
    // One that waits is put elsewhere; it is in no queue twice.
    assert!(!state.enqueue(ids[0], &first).unwrap());
    let all = vec![("h.example".to_owned(), "docs".to_owned(), 3)];
    assert_eq!(state.waiting().unwrap(), all);
    assert_eq!(state.waiting_first(&source).unwrap(), 1);
    assert_eq!(state.take("h.example", &source).unwrap(), Some((ids[0], 0, 2)));
    // One that is being read stays.
    assert!(!state.enqueue(ids[0], &Place { class: 3, ..first }).unwrap());
    assert_eq!(take(&mut state), Some(ids[2]));
    state.give_back(ids[0]).unwrap();
    assert_eq!(take(&mut state), Some(ids[0]));
    assert_eq!(take(&mut state), Some(ids[1]));
    assert_eq!(take(&mut state), None);
    assert_eq!(state.take("other.example", &source).unwrap(), None);
    assert_eq!(state.waiting().unwrap(), all, "what is taken stays until it is drafted");
    state.draft(ids[0], &put(1, TreeChange::Added)).unwrap();
    let row = state.site_url_of(ids[0]).unwrap().unwrap();
    assert_eq!((row.queued, row.drafted, row.visit), (false, true, None));
}

#[test]
fn a_process_that_ends_loses_what_came_after_the_checkpoint() {
    let folder = Folder::new();
    let mut state = folder.open();
    let run = begin(&mut state);
    let ids = queue(&mut state, 3);
    assert_eq!(take(&mut state), Some(ids[2]));
    state.draft(ids[2], &put(3, TreeChange::Added)).unwrap();
    assert_eq!(take(&mut state), Some(ids[1]));
    state.checkpoint_crawl().unwrap();
    state.draft(ids[1], &put(2, TreeChange::Added)).unwrap();
    drop(state);

    let mut state = folder.open();
    let sources = vec!["docs".to_owned(), "inner".to_owned()];
    let open = Crawl { run, started: time(4), settings: 42, sources };
    assert_eq!(state.open_crawl().unwrap(), Some(open));
    state.abandon_open_runs().unwrap();
    assert!(state.open_crawl().unwrap().is_some(), "it can be gone on with");
    state.resume_crawl().unwrap();
    let pages = state.drafted_pages(&docs(), UrlId(0), 10).unwrap();
    let files = put(3, TreeChange::Added).files.unwrap();
    let expected =
        DraftedPage { id: ids[2], url: url(3), path: "h.example/3.md".to_owned(), files };
    assert_eq!(pages, [expected]);
    // What was being read is read again.
    assert_eq!(
        [take(&mut state), take(&mut state), take(&mut state)],
        [Some(ids[1]), Some(ids[0]), None]
    );
    state.roll_back_crawl().unwrap();
    state.drop_crawl().unwrap();
    assert_eq!((state.open_crawl().unwrap(), state.waiting().unwrap()), (None, Vec::new()));
    state.abandon_open_runs().unwrap();
    assert_eq!(state.run(run).unwrap().unwrap().phase, Phase::Abandoned);
}

#[test]
fn drafts_become_true_with_the_commit_and_not_before() {
    let folder = Folder::new();
    let mut state = folder.open();
    let source = docs();
    let first = begin(&mut state);
    let ids = queue(&mut state, 4);
    for (n, id) in (1..).zip(&ids) {
        state.draft(*id, &put(n, TreeChange::Added)).unwrap();
    }
    assert_eq!(state.page_count(&source).unwrap(), 0);
    assert_eq!(state.text_of(&source, &url(1)).unwrap(), Some(1), "the open run knows it");
    assert_eq!(state.drafted_at(&source, "h.example/2.md").unwrap(), Some(ids[1]));
    commit(&mut state, first);
    let row = state.page_at(&source, "h.example/2.md").unwrap().unwrap();
    assert_eq!((row.url, row.blob, row.run), (url(2), format!("{:040}", 2), first));
    assert_eq!(row.sketch, Some(vec![1, u64::MAX]));
    let known = state.site_url(&source, &url(2)).unwrap().unwrap();
    assert_eq!((known.visit, known.drafted, known.known), (Some(visit(2)), false, Some(page())));
    assert_eq!(state.site_progress(&source).unwrap(), (4, 4));

    let second = begin(&mut state);
    let edited = Draft {
        files: Some(DraftFiles {
            page: format!("{:040}", 77),
            public_links: None,
            sketch: None,
            ..put(1, TreeChange::Edited).files.unwrap()
        }),
        ..put(1, TreeChange::Edited)
    };
    state.draft(ids[0], &edited).unwrap();
    state.draft(ids[1], &leave(2, OutcomeKind::Gone)).unwrap();
    // A failure changes nothing of what is remembered.
    state.draft(ids[2], &draft(OutcomeKind::Failed, TreeChange::None, None)).unwrap();
    let counts = Counts { changed: 1, removed: 1, failed: 1, ..Counts::default() };
    assert_eq!(state.drafted_counts(&source).unwrap(), counts);
    let failed = state.drafted_with(&source, OutcomeKind::Failed, 9).unwrap();
    assert_eq!(failed, [(url(3), "why".to_owned())]);
    assert_eq!(state.text_of(&source, &url(4)).unwrap(), Some(4));
    commit(&mut state, second);
    let pages = state.pages_of(&source).unwrap();
    let told: Vec<(&str, RunId)> = pages.iter().map(|it| (it.path.as_str(), it.run)).collect();
    let expected =
        [("h.example/1.md", second), ("h.example/3.md", first), ("h.example/4.md", first)];
    assert_eq!(told, expected);
    assert_eq!((&pages[0].blob, &pages[0].sketch), (&format!("{:040}", 77), &None));
    let of = |n| state.site_url(&source, &url(n)).unwrap().unwrap().visit.unwrap();
    assert!(!of(2).stored);
    assert_eq!(of(3), visit(3));
    let outcome = |n| state.intervals(&url(n)).unwrap().pop().unwrap().outcome.kind;
    assert_eq!(
        [1, 2, 3, 4].map(outcome),
        [OutcomeKind::Changed, OutcomeKind::Gone, OutcomeKind::Failed, OutcomeKind::Changed]
    );
}

#[test]
fn drafts_of_another_run_are_not_made_true() {
    let folder = Folder::new();
    let mut state = folder.open();
    let open = begin(&mut state);
    let ids = queue(&mut state, 1);
    state.draft(ids[0], &put(1, TreeChange::Added)).unwrap();
    state.end_crawl().unwrap();
    let other = state.begin_run(RunKind::Configuration, time(5), &Tips::default()).unwrap();
    state.record_commit(other, time(5), (&CommitRecord::default(), Vec::new())).unwrap();
    assert_eq!(state.page_count(&docs()).unwrap(), 0);
    assert_eq!(state.open_crawl().unwrap().map(|crawl| crawl.run), Some(open));
}

#[test]
fn what_is_left_is_written_down_and_stays_as_it_was() {
    let folder = Folder::new();
    let mut state = folder.open();
    let run = begin(&mut state);
    let ids = queue(&mut state, 3);
    state.draft(ids[1], &put(2, TreeChange::Added)).unwrap();
    assert_eq!(state.defer_rest("other.example", &docs(), "never").unwrap(), 0);
    assert_eq!(state.defer_rest("h.example", &docs(), "no time").unwrap(), 2);
    assert_eq!(state.waiting().unwrap(), Vec::new());
    let deferred = state.drafted_with(&docs(), OutcomeKind::Deferred, 9).unwrap();
    assert_eq!(deferred, [(url(1), "no time".to_owned()), (url(3), "no time".to_owned())]);
    commit(&mut state, run);
    assert_eq!(state.site_progress(&docs()).unwrap(), (3, 1));
    assert_eq!(state.urls_with(&docs(), OutcomeKind::Deferred).unwrap(), deferred);
}

#[test]
fn removals_can_be_held_by_their_kind_or_all() {
    let folder = Folder::new();
    let mut state = folder.open();
    let first = begin(&mut state);
    let ids = queue(&mut state, 3);
    for (n, id) in (1..).zip(&ids) {
        state.draft(*id, &put(n, TreeChange::Added)).unwrap();
    }
    commit(&mut state, first);
    let second = begin(&mut state);
    let kinds = [OutcomeKind::Gone, OutcomeKind::Moved, OutcomeKind::NoArchive];
    for ((n, id), kind) in (1..).zip(&ids).zip(kinds) {
        state.draft(*id, &leave(n, kind)).unwrap();
    }
    let moves = vec![(url(2), url(9), 308, time(3).unix())];
    assert_eq!(state.drafted_moves(&docs(), time(4)).unwrap(), moves);
    assert_eq!(state.drafted_moves(&docs(), time(3)).unwrap(), [], "seen in one run only");
    assert_eq!(state.leaving_pages(&docs()).unwrap().len(), 3);
    state.hold_removals(&docs(), &kinds[..2], "; held").unwrap();
    assert_eq!(state.leaving_pages(&docs()).unwrap(), ["h.example/3.md"]);
    assert_eq!(state.drafted_moves(&docs(), time(4)).unwrap(), [], "a held page did not move");
    let held = state.drafted_with(&docs(), OutcomeKind::Gone, 9).unwrap();
    assert_eq!(held, [(url(1), "why; held".to_owned())]);
    state.hold_removals(&docs(), &[], "; all").unwrap();
    assert_eq!(state.leaving_pages(&docs()).unwrap(), [""; 0]);
    commit(&mut state, second);
    assert_eq!(state.page_count(&docs()).unwrap(), 3);
    let visit = state.site_url(&docs(), &url(1)).unwrap().unwrap().visit.unwrap();
    assert!(visit.stored && visit.gone_since.is_some(), "the next look may find it gone");
}

#[test]
fn drafts_of_sources_that_are_gone_are_dropped() {
    let folder = Folder::new();
    let mut state = folder.open();
    begin(&mut state);
    let ids = queue(&mut state, 2);
    let other = SourceId::new("docs-2").unwrap();
    let id = state.note_known((&other, &url(1)), &page()).unwrap();
    let place = Place { host: "h.example", source: &other, class: 1, rank: 0, hops: 0 };
    state.enqueue(id, &place).unwrap();
    state.draft(ids[0], &put(1, TreeChange::Added)).unwrap();
    state.keep_drafts_of(&[&other]).unwrap();
    assert_eq!(state.drafted_pages(&docs(), UrlId(0), 9).unwrap(), []);
    assert_eq!(state.waiting().unwrap(), [("h.example".to_owned(), "docs-2".to_owned(), 1)]);
    state.draft(id, &put(1, TreeChange::Added)).unwrap();
    state.forget_draft(id).unwrap();
    assert!(!state.site_url_of(id).unwrap().unwrap().drafted);
}

#[test]
fn known_urls_are_gone_through_in_parts() {
    let folder = Folder::new();
    let mut state = folder.open();
    let source = docs();
    let map = Known { kind: UrlKind::Sitemap, ..page() };
    let sitemap = state.note_known((&source, "https://h.example/sitemap.xml"), &map).unwrap();
    let mut ids = vec![sitemap];
    for n in 1..=5 {
        let listed = Known {
            depth: 2,
            sitemap: (n % 2 == 1).then_some(sitemap),
            listed: Some("2026".to_owned()),
            ..page()
        };
        ids.push(state.note_known((&source, &url(n)), &listed).unwrap());
    }
    let other = SourceId::new("inner").unwrap();
    state.note_known((&other, &url(1)), &page()).unwrap();
    let (mut after, mut seen) = (UrlId(0), Vec::new());
    loop {
        let part = state.known_urls(&source, after, 2).unwrap();
        let Some(last) = part.last() else { break };
        after = last.id;
        seen.extend(part.iter().map(|row| row.id));
    }
    assert_eq!(seen, ids);
    let listed = state.listed_urls(sitemap, ids[1], 9).unwrap();
    assert_eq!(listed.iter().map(|row| row.id).collect::<Vec<_>>(), [ids[3], ids[5]]);
    let near = Known { depth: 0, sitemap: None, listed: None, ..page() };
    state.update_known(ids[3], &near).unwrap();
    assert_eq!(state.site_url_of(ids[3]).unwrap().unwrap().known, Some(near));
    assert_eq!(state.site_progress(&source).unwrap(), (5, 0), "a sitemap is no page");
    assert_eq!(state.site_url(&source, "https://h.example/none").unwrap(), None);
}

#[test]
fn pages_of_which_no_url_is_known_are_told() {
    let folder = Folder::new();
    let mut state = folder.open();
    let row = |n: i64| PageRow {
        source: docs(),
        path: format!("h.example/{n}.md"),
        url: url(n),
        blob: format!("{n:040}"),
        sketch: None,
        run: RunId(0),
    };
    state.restore_pages(&[row(1), row(2)]).unwrap();
    state.note_known((&docs(), &url(2)), &page()).unwrap();
    assert_eq!(state.unknown_pages(&docs()).unwrap(), [url(1)]);
}

/// A row of each table of version 1.
const ROWS: &str = "
INSERT INTO tip VALUES ('public', 'aa'), ('private', 'bb');
INSERT INTO run VALUES (1, 'read', '2026-12-02T02:00:00Z', '2026-12-02T02:00:09Z', 'committed',
    NULL, 'aa', NULL, 'bb', 7);
INSERT INTO source VALUES ('docs', '2026-12-02T02:00:00Z', 1);
INSERT INTO page VALUES (5, 'docs', 'h.example/1.md', 'https://h.example/1', 'cc', 1, x'0102');
INSERT INTO url VALUES (9, 'docs', 'https://h.example/1');
INSERT INTO ledger VALUES (9, 1, 1, 'changed', 'added');
INSERT INTO upstream VALUES ('docs', 'https://h.example/up.git', 'dd', 'settings', 1, 3, NULL);
INSERT INTO denied VALUES ('docs', 'https://h.example/2', '2026-12-01');
";

/// Everything in the tables of version 1, as SQL literals.
fn all_rows(db: &rusqlite::Connection) -> Vec<String> {
    let mut all = Vec::new();
    for table in ["tip", "run", "source", "page", "url", "ledger", "upstream", "denied"] {
        let mut columns =
            db.prepare(&format!("SELECT name FROM pragma_table_info('{table}')")).unwrap();
        let names = columns.query_map([], |row| row.get(0)).unwrap();
        let names: Vec<String> = names.map(Result::unwrap).collect();
        let quoted: Vec<String> = names.iter().map(|name| format!("quote({name})")).collect();
        let sql = format!("SELECT {} FROM {table}", quoted.join(" || ',' || "));
        let mut rows = db.prepare(&sql).unwrap();
        let rows = rows.query_map([], |row| row.get::<_, String>(0)).unwrap();
        all.extend(rows.map(|row| format!("{table}: {}", row.unwrap())));
    }
    all
}

#[test]
fn a_state_of_version_1_keeps_everything() {
    let folder = Folder::new();
    let old = rusqlite::Connection::open(folder.file()).unwrap();
    old.execute_batch(STEPS[0]).unwrap();
    old.execute_batch(ROWS).unwrap();
    old.pragma_update(None, "user_version", 1).unwrap();
    let before = all_rows(&old);
    assert_eq!(before.len(), 9);
    drop(old);

    let (mut state, condition) = State::open(&folder.file(), "x").unwrap();
    assert_eq!(condition, Condition::Known);
    assert_eq!(all_rows(&state.db), before);
    let version: i64 = state.db.query_row("PRAGMA user_version", [], |row| row.get(0)).unwrap();
    assert_eq!(version, i64::try_from(STEPS.len()).unwrap());
    // What it knew is what the new tables build on.
    assert_eq!(state.unknown_pages(&docs()).unwrap(), ["https://h.example/1"]);
    let id = state.note_known((&docs(), "https://h.example/1"), &page()).unwrap();
    assert_eq!(id, UrlId(9));
    let run = begin(&mut state);
    assert_eq!(run, RunId(2));
    state
        .draft(id, &Draft { path: Some("h.example/1.md".to_owned()), ..put(1, TreeChange::Edited) })
        .unwrap();
    commit(&mut state, run);
    let row = state.page_at(&docs(), "h.example/1.md").unwrap().unwrap();
    assert_eq!((row.blob, row.run), (format!("{:040}", 1), run));
    assert_eq!(state.intervals("https://h.example/1").unwrap().len(), 2);
    drop(state);
    let (_, condition) = State::open(&folder.file(), "x").unwrap();
    assert_eq!(condition, Condition::Known);
}
