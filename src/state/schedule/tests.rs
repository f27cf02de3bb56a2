//! The politeness file: what is saved comes back, and processes share it.

use std::fs;
use std::path::PathBuf;
use std::thread;
use std::time::Duration;

use super::*;
use crate::model::RequestKind;
use crate::politeness::{CrawlDelay, Parked, Reason};

struct Folder(tempfile::TempDir);

impl Folder {
    fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    fn file(&self) -> PathBuf {
        self.0.path().join("politeness.sqlite")
    }

    fn open(&self) -> Schedule {
        Schedule::open(&self.file(), "x").unwrap().0
    }
}

fn docs() -> SourceId {
    SourceId::new("docs").unwrap()
}

fn save(schedule: &mut Schedule, state: &HostState, hold: Hold) {
    let change = Change { state: state.clone(), hold, gates: AtGates::AsTheyAre, counted: None };
    schedule.with_host(("h", &docs(), &[]), 1000, |_| (Some(change), ())).unwrap();
}

fn counted(run: i64, kind: RequestKind, gap: Option<Millis>) -> Counted {
    let tally = Tally { requests: 1, retries: 0, failures: 1, bytes: 10, connections: 1 };
    Counted {
        run: RunId(run),
        kind,
        tally,
        span: (1000, 1010),
        gap,
        at_once: 1,
        pace: Duration::from_secs(1),
        crawl_delay: Duration::ZERO,
    }
}

#[test]
fn a_host_comes_back_as_it_was() {
    let folder = Folder::new();
    let full = HostState {
        pace: Duration::from_millis(1500),
        crawl_delays: [("http://h", 7), ("https://h", 0)]
            .map(|(origin, seconds)| {
                let delay = Duration::from_secs(seconds);
                (origin.to_owned(), CrawlDelay { delay, inherited: seconds == 0 })
            })
            .into(),
        backoff: Duration::from_secs(4),
        failures: 3,
        started_at: Some(1),
        ended_at: Some(2),
        next_at: Some(i64::MAX),
        parked: Some(Parked { reason: Reason::CrawlDelay, until: Some(4) }),
    };
    let parked = Some(Parked { reason: Reason::Failures, until: None });
    let spare = HostState { parked, ..HostState::default() };
    for state in [&full, &spare, &HostState::default(), &full] {
        save(&mut folder.open(), state, Hold::Ended);
        let row = folder.open().host("h", 1000).unwrap();
        assert_eq!(
            row,
            HostRow {
                state: state.clone(),
                lease: Lease::Free,
                stopped: false,
                passages: Vec::new(),
            }
        );
    }
    let state = HostState { backoff: Duration::from_nanos(1), ..HostState::default() };
    save(&mut folder.open(), &state, Hold::Ended);
    let saved = folder.open().host("h", 1000).unwrap().state.backoff;
    assert_eq!(saved, Duration::from_millis(1), "no wait gets shorter");
    assert!(folder.open().knows("h").unwrap() && !folder.open().knows("i").unwrap());
}

#[test]
fn a_lease_is_kept_taken_and_ended() {
    let folder = Folder::new();
    let lease = || folder.open().host("h", 1000).unwrap().lease;
    let state = HostState { started_at: Some(900), ..HostState::default() };
    save(&mut folder.open(), &state, Hold::Until(2000));
    assert_eq!(lease(), Lease::Held);
    save(&mut folder.open(), &state, Hold::AsItIs);
    assert_eq!(lease(), Lease::Held);
    save(&mut folder.open(), &state, Hold::Until(1000));
    assert_eq!(lease(), Lease::Left, "it had its time");
    save(&mut folder.open(), &state, Hold::Ended);
    assert_eq!(lease(), Lease::Free);
}

#[test]
fn whoever_has_the_turn_has_it_alone() {
    let folder = Folder::new();
    // All open the new file at the same time, as processes may.
    thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                let mut schedule = folder.open();
                for _ in 0..50 {
                    let add = |row: HostRow| {
                        let failures = row.state.failures + 1;
                        let state = HostState { failures, ..row.state };
                        (
                            Some(Change {
                                state,
                                hold: Hold::AsItIs,
                                gates: AtGates::AsTheyAre,
                                counted: None,
                            }),
                            (),
                        )
                    };
                    schedule.with_host(("h", &docs(), &[]), 1000, add).unwrap();
                }
            });
        }
    });
    assert_eq!(folder.open().host("h", 1000).unwrap().state.failures, 200);
}

#[test]
fn conduct_adds_up_by_run_host_and_kind() {
    let folder = Folder::new();
    let mut schedule = folder.open();
    assert_eq!(schedule.last_run().unwrap(), None);
    let mut count = |host: &str, counted: Counted| {
        let change = |row: HostRow| {
            let gates = AtGates::AsTheyAre;
            let counted = Some(counted);
            (Some(Change { state: row.state, hold: Hold::Ended, gates, counted }), ())
        };
        schedule.with_host((host, &docs(), &[]), 1000, change).unwrap();
    };
    count("b", counted(3, RequestKind::Page, Some(50)));
    count("b", counted(3, RequestKind::Robots, None));
    count("b", Counted { at_once: 2, ..counted(3, RequestKind::Page, Some(70)) });
    count("a", counted(3, RequestKind::Git, None));
    count("a", counted(4, RequestKind::Git, None));
    count("a", counted(0, RequestKind::Page, None));
    let hosts = schedule.conduct(RunId(3)).unwrap();
    assert_eq!(hosts.iter().map(|host| host.host.as_str()).collect::<Vec<_>>(), ["a", "b"]);
    let page = Tally { requests: 2, retries: 0, failures: 2, bytes: 20, connections: 2 };
    let b = &hosts[1];
    assert_eq!((b.kinds.len(), b.kinds[1]), (2, (RequestKind::Page, page)));
    assert_eq!((b.least_gap, b.most_at_once, b.span), (Some(50), 2, (1000, 1010)));
    assert_eq!(hosts[0].least_gap, None);
    assert_eq!(schedule.last_run().unwrap(), Some(RunId(4)));
    // A state that was made anew counts runs from the beginning.
    schedule.begin_run(RunId(4)).unwrap();
    assert_eq!(schedule.last_run().unwrap(), Some(RunId(3)));
    schedule.begin_run(RunId(0)).unwrap();
    assert!(schedule.conduct(RunId(0)).unwrap().is_empty());
    schedule.begin_run(RunId(1)).unwrap();
    assert_eq!(schedule.last_run().unwrap(), None);
}

#[test]
fn stops_hold_until_they_are_forgotten() {
    let folder = Folder::new();
    let mut schedule = folder.open();
    let stopped = |host: &str, id: &str| {
        folder.open().is_stopped((host, &SourceId::new(id).unwrap())).unwrap()
    };
    schedule.stop(Stop::Source("docs")).unwrap();
    schedule.stop(Stop::Source("docs")).unwrap();
    schedule.stop(Stop::Host("h")).unwrap();
    assert!(stopped("other", "docs") && stopped("h", "other"));
    assert!(!stopped("docs", "h") && !stopped("other", "other"));
    assert!(schedule.with_host(("h", &docs(), &[]), 0, |row| (None, row.stopped)).unwrap());
    schedule.forget_stops().unwrap();
    assert!(!stopped("h", "docs"));
}

#[test]
fn robots_of_an_origin_is_kept_as_it_was_read_last() {
    let folder = Folder::new();
    let mut schedule = folder.open();
    let row = |origin: &str, standing: &str| RobotsRow {
        origin: origin.to_owned(),
        host: "h".to_owned(),
        read_at: 5,
        standing: standing.to_owned(),
        reason: None,
        text: (standing == "read").then(|| b"User-agent: *\xff".to_vec()),
    };
    for kept in [row("https://h", "absent"), row("http://h", "read"), row("https://h", "read")] {
        schedule.keep_robots(&kept).unwrap();
    }
    let rows = schedule.robots_of("h").unwrap();
    assert_eq!(rows, [row("http://h", "read"), row("https://h", "read")]);
    assert!(schedule.robots_of("i").unwrap().is_empty());
}

#[test]
fn a_damaged_file_is_set_aside() {
    let folder = Folder::new();
    assert!(Schedule::open_to_read(&folder.file()).unwrap().is_none());
    assert_eq!(Schedule::open(&folder.file(), "x").unwrap().1, Condition::New);
    assert_eq!(Schedule::open(&folder.file(), "x").unwrap().1, Condition::Known);
    fs::write(folder.file(), "no database, but long enough to be taken for one".repeat(100))
        .unwrap();
    let (schedule, condition) = Schedule::open(&folder.file(), "now").unwrap();
    let aside = folder.0.path().join("politeness.damaged-now");
    assert_eq!(condition, Condition::SetAside(aside.clone()));
    assert!(aside.exists() && schedule.last_run().unwrap().is_none());
    let copy = folder.0.path().join("copy");
    schedule.copy_to(&copy).unwrap();
    assert!(Schedule::open_to_read(&copy).unwrap().is_some());
    Connection::open(&copy).unwrap().pragma_update(None, "user_version", 9).unwrap();
    let newer = Schedule::open_to_read(&copy).unwrap_err().to_string();
    assert!(newer.contains("version 9"), "{newer}");
}
