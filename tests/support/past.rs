//! The index of the history beside the commits that it speaks of.

use std::collections::BTreeSet;

use pagelog::archive::{Archive, PageDifference, PageEntry};
use pagelog::model::Visibility;
use pagelog::report::{Found, Past, Wanted};
use pagelog::state::State;

use super::World;

const REFS: [Visibility; 2] = [Visibility::Public, Visibility::Private];

impl World {
    /// The index of the history is in step with the refs, and tells what walking the commits
    /// tells.
    #[track_caller]
    pub fn assert_indexed(&self) {
        let archive = Archive::open(&self.archive()).expect("an archive");
        let state = State::open_to_read(&archive.state_file()).expect("the state is read");
        let state = state.expect("a state");
        let indexed = Past::open(&archive, Some(&state)).expect("it is opened");
        let walked = Past::open(&archive, None).expect("it is opened");
        assert!(indexed.is_indexed(), "the index is out of step");
        assert!(!walked.is_indexed());
        for on in REFS {
            let places = assert_same_commits(&archive, (&indexed, &walked), on);
            for place in places {
                for on in REFS {
                    let versions = |past: &Past<'_>| past.versions(on, &place).expect("versions");
                    assert_eq!(versions(&indexed), versions(&walked), "{}", place.page_path());
                }
            }
        }
        let gone = |past: &Past<'_>| -> Vec<Found> {
            let mut gone = past.gone(&Wanted::parse("*")).expect("pages that are gone");
            gone.sort();
            gone
        };
        let all = gone(&walked);
        assert_eq!(gone(&indexed), all);
        for page in all {
            let (by_url, by_path) = (page.url.clone(), page.entry.page_path());
            let by_pattern = by_path.replace('/', "*");
            for wanted in [by_url, by_path, by_pattern.replacen('*', "/", 1)] {
                let found = indexed.gone(&Wanted::parse(&wanted)).expect("pages that are gone");
                assert!(found.contains(&page), "{wanted}: {found:?}");
            }
        }
    }
}

/// Compares each commit of a ref with the one before it, with the first and with the last;
/// gives all places of pages.
#[track_caller]
fn assert_same_commits(
    archive: &Archive,
    (indexed, walked): (&Past<'_>, &Past<'_>),
    on: Visibility,
) -> BTreeSet<PageEntry> {
    assert_eq!(indexed.count(on).expect("a count"), walked.count(on).expect("a count"));
    let tip = walked.heads().of(on);
    let mut places = BTreeSet::new();
    for run in archive.walk(tip) {
        let run = run.expect("a commit");
        let at = |past: &Past<'_>| past.commit_at(on, Some(run.started)).expect("a commit");
        assert_eq!(at(indexed), at(walked));
        let id = run.commit.to_string();
        let named = |past: &Past<'_>| past.revision(&id).expect("a commit");
        assert_eq!(named(indexed), named(walked));
        let ranges = [(run.parent, run.commit), (None, run.commit)];
        for commits in ranges.into_iter().chain(tip.map(|tip| (Some(tip), run.commit))) {
            let differences = |past: &Past<'_>| -> Vec<PageDifference> {
                let mut found = past.differences(on, commits).expect("differences");
                found.sort_by(|a, b| a.entry.cmp(&b.entry));
                found
            };
            let found = differences(walked);
            assert_eq!(differences(indexed), found, "{commits:?}");
            for PageDifference { entry, new, .. } in found {
                let file = indexed.file_at((on, &entry), run.commit).expect("a file");
                assert_eq!(file, new, "{}", entry.page_path());
                places.insert(entry);
            }
        }
    }
    places
}
