//! Gates, on a clock that is only a number.

use super::*;
use crate::politeness::shipped;

/// A gate of a policy that is shipped, and what passed it.
struct Walk {
    gate: Gate,
    passages: Vec<Passage>,
}

impl Walk {
    fn of(policy: &str, limit: &str) -> Self {
        let policy = shipped(policy);
        let limit = policy.limits.iter().find(|it| it.name == limit).unwrap();
        let source = SourceId::new("docs").unwrap();
        let gate = Gate::new(&policy.name, limit, ("h.example", &source));
        Self { gate, passages: Vec::new() }
    }

    fn way(&self, now: Millis) -> Way {
        self.gate.way(&self.passages, true, now)
    }

    fn begin(&mut self, now: Millis) {
        assert_eq!(self.way(now), Way::Open, "at {now}");
        self.start(now, true);
    }

    fn start(&mut self, now: Millis, fresh: bool) {
        let passage = Passage { started_at: now, ended_at: None, hold_until: now, fresh };
        self.passages.push(passage);
    }

    /// Ends the oldest request under way.
    fn end(&mut self, now: Millis, status: u16) {
        let passage = self.passages.iter_mut().find(|it| it.ended_at.is_none()).unwrap();
        passage.ended_at = Some(now);
        let span = (passage.started_at, now);
        passage.hold_until = self.gate.hold_until(span, Some(Reply::Status(status)));
    }
}

fn wait(ms: u64) -> Way {
    Way::Wait(Duration::from_millis(ms))
}

#[test]
fn most_at_once() {
    let mut walk = Walk::of("courteous-feeds", "connection");
    walk.begin(1000);
    assert_eq!(walk.way(9_000_000), Way::Busy);
    walk.end(9_000_000, 200);
    walk.begin(9_000_000);
}

#[test]
fn least_gap() {
    let mut walk = Walk::of("courteous-feeds", "pause");
    assert_eq!(walk.gate.name, "courteous-feeds/pause, host h.example");
    walk.begin(0);
    walk.end(400, 200);
    assert_eq!(walk.way(400), wait(1500));
    assert_eq!(walk.way(1899), wait(1));
    walk.begin(1900);
}

#[test]
fn most_in_any_second() {
    let mut walk = Walk::of("wikimedia", "action");
    for start in [0, 0, 400, 900] {
        walk.begin(start);
        walk.end(start, 200);
    }
    assert_eq!(walk.way(950), wait(50));
    for _ in 0..2 {
        walk.begin(1000);
        walk.end(1000, 200);
    }
    assert_eq!(walk.way(1000), wait(400));
    walk.begin(1400);
}

#[test]
fn a_pause_follows_a_slow_answer() {
    let mut walk = Walk::of("wikimedia", "action");
    walk.begin(0);
    walk.end(1001, 200);
    assert_eq!(walk.way(1001), wait(5000));
    walk.begin(6001);
    walk.end(7001, 200);
    assert_eq!(walk.way(7001), Way::Open, "a second is not more than a second");
}

#[test]
fn a_longer_pause_follows_an_error() {
    let mut walk = Walk::of("wikimedia", "other");
    walk.begin(0);
    walk.end(10, 503);
    assert_eq!(walk.way(10), wait(900_000));
    walk.begin(900_010);
    walk.end(900_020, 404);
    assert_eq!(walk.way(900_020), wait(1000));
}

#[test]
fn a_quota_counts_things_and_not_their_retries() {
    let mut walk = Walk::of("courteous-feeds", "articles of a source");
    assert_eq!(walk.gate.name, "courteous-feeds/articles of a source, source docs");
    for minute in 0..5 {
        walk.begin(minute * 60_000);
        walk.end(minute * 60_000 + 5000, 503);
        assert_eq!(walk.gate.way(&walk.passages, false, minute * 60_000 + 5000), Way::Open);
        walk.start(minute * 60_000 + 6000, false);
        walk.end(minute * 60_000 + 7000, 200);
    }
    assert_eq!(walk.way(300_000), Way::Full(Duration::from_mins(10)));
    walk.begin(900_000);
    walk.end(900_100, 200);
    assert_eq!(walk.way(900_100), Way::Full(Duration::from_millis(59_900)));
}

#[test]
fn a_clock_set_back_lengthens_no_pause() {
    let mut walk = Walk::of("wikimedia", "other");
    walk.begin(1_000_000_000);
    walk.end(1_000_000_010, 503);
    assert_eq!(walk.way(5), wait(900_000));
    let mut walk = Walk::of("courteous-feeds", "feeds of a source");
    walk.begin(1_000_000_000);
    walk.end(1_000_000_010, 200);
    assert_eq!(walk.way(5), Way::Full(Duration::from_mins(15)));
}

#[test]
fn bandwidth_is_shared_by_as_many_as_may_be_under_way() {
    assert_eq!(Walk::of("wikimedia", "media").gate.share(), Some(12_500_000));
    assert_eq!(Walk::of("wikimedia", "rest").gate.share(), None);
}

#[test]
fn what_is_forgotten_no_longer_counts() {
    for policy in ["courteous-feeds", "wikimedia"] {
        for limit in shipped(policy).limits {
            let mut walk = Walk::of(policy, &limit.name);
            while walk.way(1000) == Way::Open {
                walk.begin(1000);
                walk.end(1000, 503);
                if walk.passages.len() > 100 {
                    break;
                }
            }
            let later = 1000 + millis(walk.gate.memory());
            assert_eq!(walk.way(later), Way::Open, "{}", limit.name);
        }
    }
}
