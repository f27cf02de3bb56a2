//! The index of the history: what is told of places and commits, and how it is asked.

use super::schema::STEPS;
use super::*;
use crate::model::{
    Known, OutcomeKind, SourceId, Timestamp, UrlId, UrlKind, Validators, Visibility, Visit,
};

const PUBLIC: Visibility = Visibility::Public;
const PRIVATE: Visibility = Visibility::Private;

struct Scene {
    folder: tempfile::TempDir,
    state: State,
}

impl Scene {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let (state, _) = State::open(&folder.path().join("state.sqlite"), "x").unwrap();
        Self { folder, state }
    }

    /// Adds a commit of the day with that number that gives pages their files; none is one
    /// that leaves.
    fn add(&mut self, on: Visibility, day: u8, pages: &[(&str, Option<u8>)]) {
        self.try_add(on, day, pages.iter().map(|(name, file)| Ok(change(name, *file)))).unwrap();
    }

    fn try_add(
        &mut self,
        visibility: Visibility,
        day: u8,
        changes: impl Iterator<Item = Result<PageChange, Cause>>,
    ) -> Result<(), StateError> {
        let id = commit(visibility, day);
        let changes: PageChanges<'_> = Box::new(changes);
        let addition = Addition { visibility, id, started: time(day), changes };
        self.state.index_commits(std::iter::once(Ok(addition)))
    }

    fn versions(&self, on: (Visibility, i64), name: &str) -> Vec<(i64, Option<u8>)> {
        let rows = self.state.page_versions(on, (&docs(), &path(name))).unwrap();
        rows.into_iter().map(|(commit, file)| (commit.number, file.map(|file| file[0]))).collect()
    }

    fn changed(&self, range: (i64, i64)) -> Vec<(String, Option<u8>, Option<u8>)> {
        let rows = self.state.changed_places(PUBLIC, range).unwrap();
        let first = |file: Option<Id>| file.map(|file| file[0]);
        rows.into_iter().map(|row| (row.place.1, first(row.old), first(row.new))).collect()
    }

    fn gone(&self) -> Vec<(String, Visibility)> {
        let rows = self.state.gone_from(PageKey::Url, "", &|_| true).unwrap();
        rows.into_iter().map(|row| (row.url, row.visibility)).collect()
    }
}

fn docs() -> SourceId {
    SourceId::new("docs").unwrap()
}

fn time(day: u8) -> Timestamp {
    Timestamp::parse(&format!("2026-12-{day:02}T02:00:00Z")).unwrap()
}

fn commit(on: Visibility, day: u8) -> Id {
    [if on == PUBLIC { day } else { 100 + day }; 20]
}

fn path(name: &str) -> String {
    format!("h.example/{name}.md")
}

fn url(name: &str) -> String {
    format!("https://h.example/{name}")
}

fn change(name: &str, file: Option<u8>) -> PageChange {
    let left = file.is_none();
    let file = file.map(|file| [file; 20]);
    PageChange { source: docs(), path: path(name), file, url: left.then(|| url(name)) }
}

#[test]
fn versions_are_those_of_the_commits() {
    let mut scene = Scene::new();
    scene.add(PUBLIC, 1, &[("a", Some(1)), ("b", Some(2))]);
    scene.add(PUBLIC, 2, &[]);
    scene.add(PUBLIC, 3, &[("a", Some(3)), ("b", None), ("c", Some(4))]);
    scene.add(PUBLIC, 4, &[("a", Some(1)), ("b", Some(2))]);
    assert_eq!(scene.versions((PUBLIC, 3), "a"), [(0, Some(1)), (2, Some(3)), (3, Some(1))]);
    assert_eq!(scene.versions((PUBLIC, 2), "b"), [(0, Some(2)), (2, None)]);
    assert_eq!(scene.versions((PRIVATE, 3), "a"), []);
    let file = |at, name| scene.state.file_at((PUBLIC, at), (&docs(), &path(name))).unwrap();
    assert_eq!([file(0, "c"), file(1, "b"), file(2, "b")], [None, Some([2; 20]), None]);

    let last = scene.state.last_indexed(PUBLIC).unwrap().unwrap();
    assert_eq!((last.number, last.id, last.started), (3, commit(PUBLIC, 4), time(4)));
    assert_eq!(scene.state.last_indexed(PRIVATE).unwrap(), None);
    assert_eq!(scene.state.indexed(&commit(PUBLIC, 4)).unwrap(), Some((PUBLIC, last)));
    assert_eq!(scene.state.indexed(&commit(PRIVATE, 4)).unwrap(), None);
    let at = |most, day| scene.state.indexed_at((PUBLIC, most), time(day)).unwrap();
    assert_eq!(at(3, 9), Some(last));
    assert_eq!(at(1, 9).map(|commit| commit.number), Some(1));
    assert_eq!(at(3, 2).map(|commit| commit.number), Some(1));
}

#[test]
fn changes_are_told_of_what_differs_at_both_ends() {
    let mut scene = Scene::new();
    scene.add(PUBLIC, 1, &[("a", Some(1)), ("b", Some(2))]);
    scene.add(PUBLIC, 2, &[("a", Some(3)), ("b", None)]);
    scene.add(PUBLIC, 3, &[("a", Some(1)), ("c", Some(4))]);
    scene.add(PRIVATE, 3, &[("d", Some(5))]);
    let (b, c) = ((path("b"), Some(2), None), (path("c"), None, Some(4)));
    assert_eq!(scene.changed((0, 2)), [b, c.clone()]);
    assert_eq!(scene.changed((-1, 0)).len(), 2);
    assert_eq!(scene.changed((-1, 2)), [(path("a"), None, Some(1)), c]);
    assert_eq!(scene.changed((1, 1)), []);
}

#[test]
fn a_page_is_gone_when_it_is_on_no_ref() {
    let mut scene = Scene::new();
    scene.add(PUBLIC, 1, &[("a", Some(1)), ("b", Some(2)), ("[c]?", Some(3))]);
    scene.add(PRIVATE, 1, &[("d", Some(4))]);
    assert_eq!(scene.gone(), []);
    // From the public ref to the private one, and the other way.
    scene.add(PUBLIC, 2, &[("a", None), ("d", Some(4)), ("b", None), ("[c]?", None)]);
    scene.add(PRIVATE, 2, &[("a", Some(1)), ("d", None)]);
    assert_eq!(scene.gone(), [(url("[c]?"), PUBLIC), (url("b"), PUBLIC)]);
    scene.add(PUBLIC, 3, &[("b", Some(2)), ("d", None)]);
    scene.add(PRIVATE, 3, &[("a", None)]);
    assert_eq!(scene.gone(), [(url("[c]?"), PUBLIC), (url("a"), PRIVATE), (url("d"), PUBLIC)]);
    let found = scene.state.gone_with_url(&url("a")).unwrap();
    assert_eq!(found, scene.state.gone_at(&docs(), &path("a")).unwrap());
    assert_eq!(found[0].place, (docs(), path("a")));
    assert_eq!(scene.state.gone_with_url(&url("b")).unwrap(), []);
    assert_eq!(scene.state.gone_at(&docs(), &path("b")).unwrap(), []);
    let from =
        |start: &str| scene.state.gone_from(PageKey::Url, &url(start), &|_| true).unwrap().len();
    assert_eq!([from("["), from("a"), from("ab"), from("*"), from("")], [1, 1, 0, 0, 3]);
    let some = scene.state.gone_from(PageKey::Url, &url(""), &|url| url.ends_with('d')).unwrap();
    assert_eq!(some.len(), 1);
}

#[test]
fn a_commit_is_in_the_index_with_all_its_changes_or_not_at_all() {
    let mut scene = Scene::new();
    scene.add(PUBLIC, 1, &[("a", Some(1))]);
    let broken = || Err(Cause::from("the tree cannot be read"));
    let changes = [Ok(change("a", None)), Ok(change("b", Some(2))), broken()];
    let failed = scene.try_add(PUBLIC, 2, changes.into_iter()).unwrap_err();
    assert_eq!(failed.to_string(), "the index of the history: the tree cannot be read");
    assert_eq!(scene.versions((PUBLIC, 9), "a"), [(0, Some(1))]);
    assert_eq!(scene.versions((PUBLIC, 9), "b"), []);
    assert_eq!(scene.gone(), []);

    // Many changes go to disk in parts, which a later failure does not take back.
    let many = (0..12_000).map(|n| Ok(change(&format!("page-{n:05}"), Some(7))));
    scene.try_add(PUBLIC, 2, many).unwrap();
    let additions = [3_u8, 4, 5, 6].into_iter().map(|day| {
        let on = if day % 2 == 1 { PUBLIC } else { PRIVATE };
        if day == 6 {
            return Err(StateError::History(Cause::from("stopped")));
        }
        let changes = (0..6_000).map(move |n| Ok(change(&format!("page-{n:05}"), Some(day))));
        let changes: PageChanges<'_> = Box::new(changes);
        Ok(Addition { visibility: on, id: commit(on, day), started: time(day), changes })
    });
    let stopped = scene.state.index_commits(additions);
    assert!(stopped.is_err());
    let last = |on| scene.state.last_indexed(on).unwrap().map(|commit| commit.id);
    assert_eq!(last(PUBLIC), Some(commit(PUBLIC, 3)));
    assert_eq!(last(PRIVATE), Some(commit(PRIVATE, 4)));

    scene.state.forget_history().unwrap();
    assert!(scene.state.has_history().unwrap());
    assert_eq!(scene.state.last_indexed(PUBLIC).unwrap(), None);
    scene.add(PUBLIC, 1, &[("a", Some(1))]);
    assert_eq!(scene.versions((PUBLIC, 0), "a"), [(0, Some(1))]);
}

/// How SQLite goes about a question, step by step.
fn plan(state: &State, sql: &str) -> String {
    let mut statement = state.db.prepare(&format!("EXPLAIN QUERY PLAN {sql}")).unwrap();
    let count = statement.parameter_count();
    let values = rusqlite::params_from_iter(vec!["x"; count]);
    let rows = statement.query_map(values, |row| row.get::<_, String>(3)).unwrap();
    rows.map(Result::unwrap).collect::<Vec<_>>().join("\n")
}

#[test]
fn ranges_of_urls_are_found_in_their_indexes() {
    let scene = Scene::new();
    for (sql, index) in [
        ("SELECT source FROM place WHERE url >= ?1 AND url < ?2", "place_url (url>? AND url<?)"),
        ("SELECT source FROM place WHERE url = ?1", "place_url (url=?)"),
        ("SELECT source FROM page WHERE url >= ? AND url < ?", "page_url (url>? AND url<?)"),
        (
            "SELECT place FROM version WHERE ref = ?1 AND number > ?2 AND number <= ?3",
            "version_commit (ref=? AND number>? AND number<?)",
        ),
    ] {
        let plan = plan(&scene.state, sql);
        assert!(plan.contains(index) && !plan.contains("SCAN"), "{sql}\n{plan}");
    }
}

#[test]
fn a_state_of_version_2_keeps_what_it_knows_of_sites() {
    let scene = Scene::new();
    let file = scene.folder.path().join("old.sqlite");
    let old = rusqlite::Connection::open(&file).unwrap();
    old.execute_batch(STEPS[0]).unwrap();
    old.execute_batch(STEPS[1]).unwrap();
    let rows = "
        INSERT INTO tip VALUES ('public', 'aa'), ('private', 'bb');
        INSERT INTO run VALUES (7, 'read', '2026-12-02T02:00:00Z', '2026-12-02T02:00:09Z',
            'committed', NULL, 'aa', NULL, 'bb', 7);
        INSERT INTO page VALUES (5, 'docs', 'h.example/a.md', 'https://h.example/a', 'cc', 7, NULL);
        INSERT INTO url VALUES (9, 'docs', 'https://h.example/a');
        INSERT INTO ledger VALUES (9, 7, 7, 'changed', 'added');
        INSERT INTO known VALUES (9, 'page', 2, NULL, '2026-12-01');
        INSERT INTO visit VALUES (9, 'changed', 1, 1796176800, 1796176800, '2026-12-01', -3,
            'negotiated', '\"tag\"', 'Wed, 02 Dec 2026 00:00:00 GMT', 1, 42, NULL, NULL, NULL, NULL);
        PRAGMA user_version = 2;";
    old.execute_batch(rows).unwrap();
    drop(old);

    let (mut state, condition) = State::open(&file, "x").unwrap();
    assert_eq!(condition, Condition::Known);
    let known = state.site_url(&docs(), "https://h.example/a").unwrap().unwrap();
    assert_eq!(known.id, UrlId(9));
    let listed = Some("2026-12-01".to_owned());
    let kind = UrlKind::Page;
    assert_eq!(known.known, Some(Known { kind, depth: 2, sitemap: None, listed: listed.clone() }));
    let expected = Visit {
        outcome: OutcomeKind::Changed,
        stored: true,
        looked: time(2),
        read: time(2),
        lastmod: listed,
        rules: -3,
        form: "negotiated".to_owned(),
        validators: Validators {
            etag: Some("\"tag\"".to_owned()),
            last_modified: Some("Wed, 02 Dec 2026 00:00:00 GMT".to_owned()),
        },
        followed: true,
        text: 42,
        gone_since: None,
        moved: None,
    };
    assert_eq!(known.visit, Some(expected));
    assert_eq!(state.tips().unwrap().public.as_deref(), Some("aa"));
    assert_eq!(state.recent_runs(9).unwrap().len(), 1);
    assert_eq!(state.intervals("https://h.example/a").unwrap().len(), 1);
    assert_eq!(state.pages_with_url("https://h.example/a").unwrap().len(), 1);
    let place = "h.example/a.md";
    let told = |blob| state.url_of_file((&docs(), place), blob).unwrap();
    assert_eq!([told("cc"), told("dd")], [Some("https://h.example/a".to_owned()), None]);

    // It has an index that speaks of no commit yet.
    assert!(state.has_history().unwrap());
    assert_eq!(state.last_indexed(PUBLIC).unwrap(), None);
    let added = Addition {
        visibility: PUBLIC,
        id: commit(PUBLIC, 1),
        started: time(1),
        changes: Box::new(std::iter::empty()),
    };
    state.index_commits(std::iter::once(Ok::<_, StateError>(added))).unwrap();
    assert_eq!(state.last_indexed(PUBLIC).unwrap().map(|commit| commit.number), Some(0));
}
