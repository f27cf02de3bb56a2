//! Turns, pauses and what is closed.

use std::cell::RefCell;
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

use super::super::receive::Named;
use super::*;
use crate::model::{PageUrl, UrlId, UrlKind};
use crate::state::SiteUrl;

/// What the threads of hosts would receive.
#[derive(Default)]
struct Hosts(RefCell<Vec<(String, Receiver<Job>)>>);

impl Hosts {
    fn start(&self, host: &str) -> Sender<Job> {
        let (jobs, waiting) = channel();
        self.0.borrow_mut().push((host.to_owned(), waiting));
        jobs
    }

    fn names(&self) -> Vec<String> {
        self.0.borrow().iter().map(|(host, _)| host.clone()).collect()
    }
}

fn job(host: &str, site: usize) -> Job {
    Job {
        site,
        row: Box::new(SiteUrl::unknown(UrlId(1), "")),
        url: PageUrl::parse(&format!("https://{host}/a")).unwrap(),
        kind: UrlKind::Page,
        named: Named::BySite,
        class: 1,
        hops: 0,
        validators: None,
    }
}

/// Which sites of a host have their turns, one after the other.
fn turns(lanes: &mut Lanes<'_>, now: Instant, most: usize) -> Vec<usize> {
    let mut turns = Vec::new();
    while turns.len() < most {
        let Some((host, site)) = lanes.next(now) else { break };
        assert!(lanes.hand(job(&host, site)));
        lanes.take_back(&host);
        turns.push(site);
    }
    turns
}

#[test]
fn sites_of_a_host_take_turns() {
    let hosts = Hosts::default();
    let start = |host: &str| hosts.start(host);
    let mut lanes = Lanes::new(&start);
    for (site, count) in [(0, 5), (1, 2), (4, 3)] {
        lanes.add("h.example", site, count);
    }
    let now = Instant::now();
    assert_eq!(turns(&mut lanes, now, 100), [1, 4, 0, 1, 4, 0, 4, 0, 0, 0]);
    assert!(!lanes.is_waiting());
    assert_eq!(hosts.names(), ["h.example"], "one thread a host");
}

#[test]
fn a_host_has_so_many_jobs_at_once() {
    let hosts = Hosts::default();
    let start = |host: &str| hosts.start(host);
    let mut lanes = Lanes::new(&start);
    lanes.add("a.example", 0, 100);
    lanes.add("b.example", 0, 100);
    let now = Instant::now();
    let mut handed = Vec::new();
    while let Some((host, site)) = lanes.next(now) {
        assert!(lanes.hand(job(&host, site)));
        handed.push(host);
    }
    assert_eq!(lanes.outstanding(), AHEAD * 2);
    assert_eq!(handed.iter().filter(|host| *host == "a.example").count(), AHEAD);
    lanes.take_back("b.example");
    assert_eq!(lanes.next(now), Some(("b.example".to_owned(), 0)));
    let done: Vec<(String, u64)> =
        lanes.iter().map(|(host, lane)| (host.to_owned(), lane.done)).collect();
    assert_eq!(done, [("a.example".to_owned(), 0), ("b.example".to_owned(), 1)]);
}

#[test]
fn a_pause_ends_and_holds_no_other_site() {
    let hosts = Hosts::default();
    let start = |host: &str| hosts.start(host);
    let mut lanes = Lanes::new(&start);
    lanes.add("h.example", 0, 2);
    lanes.add("h.example", 1, 1);
    let now = Instant::now();
    let later = now + Duration::from_mins(1);
    lanes.pause("h.example", 0, later);
    assert_eq!(turns(&mut lanes, now, 100), [1]);
    assert!(lanes.is_waiting(), "what is paused still waits");
    assert_eq!(turns(&mut lanes, later, 100), [0, 0]);
}

#[test]
fn what_is_closed_is_left_for_its_first_reason() {
    let hosts = Hosts::default();
    let start = |host: &str| hosts.start(host);
    let mut lanes = Lanes::new(&start);
    lanes.add("h.example", 0, 3);
    lanes.add("h.example", 1, 1);
    lanes.add("other.example", 0, 1);
    lanes.close("h.example", 0, "it failed");
    lanes.close("h.example", 0, "something else");
    lanes.add("h.example", 0, 2);
    let now = Instant::now();
    assert_eq!(turns(&mut lanes, now, 100), [1, 0], "the other host, and the other site");
    assert!(!lanes.is_waiting());
    let left = lanes.left();
    let why = |host: &str, site| {
        let found = left.iter().find(|(of, it, _)| of == host && *it == site);
        found.and_then(|(_, _, why)| why.clone())
    };
    assert_eq!(why("h.example", 0).as_deref(), Some("it failed"));
    assert_eq!((why("h.example", 1), why("other.example", 0)), (None, None));
}

#[test]
fn nothing_waits_where_the_queue_had_nothing() {
    let hosts = Hosts::default();
    let start = |host: &str| hosts.start(host);
    let mut lanes = Lanes::new(&start);
    lanes.add("h.example", 0, 3);
    lanes.empty("h.example", 0);
    assert!(!lanes.is_waiting());
    assert_eq!(lanes.next(Instant::now()), None);
    // More came to be known.
    lanes.add("h.example", 0, 1);
    assert!(lanes.is_waiting());
}

#[test]
fn a_thread_that_is_gone_takes_nothing() {
    let hosts = Hosts::default();
    let start = |host: &str| hosts.start(host);
    let mut lanes = Lanes::new(&start);
    lanes.add("h.example", 0, 1);
    hosts.0.borrow_mut().clear();
    assert!(!lanes.hand(job("h.example", 0)));
}
