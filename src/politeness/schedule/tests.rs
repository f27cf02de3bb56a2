//! The schedule of a host: rules one by one, and that no gap is ever too short.

use proptest::prelude::*;

use super::*;
use crate::politeness::shipped;

const SECOND: Duration = Duration::from_secs(1);

fn seconds(count: u64) -> Duration {
    Duration::from_secs(count)
}

fn host_of(pace: Duration, name: &str) -> Host {
    Host::new(Terms::new(pace, &shipped(name)), HostState::default())
}

fn host(pace: Duration) -> Host {
    host_of(pace, "standard")
}

fn ended(status: u16, retries: u32) -> Ended {
    Ended { reply: Reply::Status(status), retry_after: None, retries }
}

/// Makes one request of 100 ms as soon as it may begin; when it ended and what follows.
fn request(host: &mut Host, now: &mut Millis, ended: &Ended) -> Next {
    loop {
        match host.begin(*now) {
            Turn::Now => break,
            Turn::Wait(wait) => *now += millis(wait),
            other => panic!("{other:?}"),
        }
    }
    *now += 100;
    host.end(*now, ended)
}

#[test]
fn the_wait_counts_from_the_end_of_a_request() {
    let mut host = host(seconds(5));
    assert_eq!(host.begin(1000), Turn::Now);
    assert_eq!(host.turn(9000), Turn::Busy);
    assert_eq!(host.begin(9000), Turn::Busy);
    assert_eq!(host.end(61_000, &ended(200, 0)), Next::Done);
    assert_eq!(host.turn(61_000), Turn::Wait(seconds(5)));
    assert_eq!(host.turn(65_999), Turn::Wait(Duration::from_millis(1)));
    assert_eq!(host.begin(66_000), Turn::Now);
}

#[test]
fn no_pace_is_no_wait() {
    let mut host = host(Duration::ZERO);
    let mut now = 0;
    for _ in 0..5 {
        request(&mut host, &mut now, &ended(200, 0));
    }
    assert_eq!(now, 500);
}

#[test]
fn crawl_delay_lengthens_and_never_shortens() {
    let mut host = host(seconds(5));
    host.set_crawl_delay("https://h.example", Some(seconds(2)));
    assert_eq!(host.wait(), seconds(5));
    host.set_crawl_delay("http://h.example", Some(seconds(20)));
    assert_eq!(host.wait(), seconds(20));
    host.set_crawl_delay("https://h.example", Some(Duration::from_millis(7500)));
    assert_eq!(host.wait(), seconds(20), "the largest of all origins");
    host.set_crawl_delay("http://h.example", None);
    assert_eq!(host.wait(), Duration::from_millis(7500));
    assert_eq!(host.shortened(), None);
}

#[test]
fn a_crawl_delay_over_ten_minutes_is_for_a_later_run() {
    let mut host = host(SECOND);
    host.set_crawl_delay("https://h.example", Some(seconds(600)));
    assert_eq!(host.turn(0), Turn::Now);
    host.set_crawl_delay("https://h.example", Some(seconds(601)));
    assert_eq!(host.turn(0), Turn::Parked);
    assert_eq!(host.parked().map(|parked| parked.reason), Some(Reason::CrawlDelay));
    host.set_crawl_delay("https://h.example", Some(seconds(30)));
    assert_eq!(host.turn(0), Turn::Now);
}

#[test]
fn a_parked_host_is_asked_again_when_its_own_delay_is_over() {
    let mut host = host(SECOND);
    let mut now = 0;
    request(&mut host, &mut now, &ended(200, 0));
    host.set_crawl_delay("https://h.example", Some(seconds(3600)));
    let until = now + 3_600_000;
    host.begin_run(now + 60_000);
    assert_eq!(host.parked(), Some(&Parked { reason: Reason::CrawlDelay, until: Some(until) }));
    host.set_crawl_delay("https://h.example", Some(seconds(3600)));
    host.begin_run(until);
    assert_eq!(host.turn(until), Turn::Now, "to read robots.txt");
    host.set_crawl_delay("https://h.example", Some(seconds(5)));
    assert_eq!((host.parked(), host.wait()), (None, seconds(5)));
}

#[test]
fn a_long_pace_of_our_own_is_waited_for() {
    let mut host = host(seconds(3600));
    let mut now = 0;
    request(&mut host, &mut now, &ended(200, 0));
    host.begin_run(now);
    assert_eq!(host.turn(now), Turn::Wait(seconds(3600)));
}

#[test]
fn what_an_origin_asked_for_is_forgotten_after_a_run_without_it() {
    let mut host = host(SECOND);
    host.set_crawl_delay("http://h.example", Some(seconds(60)));
    host.begin_run(0);
    host.set_crawl_delay("https://h.example", Some(seconds(5)));
    assert_eq!(host.wait(), seconds(60));
    host.begin_run(100_000);
    assert_eq!(host.wait(), seconds(5));
}

#[test]
fn a_ceiling_is_said() {
    let mut host = host_of(SECOND, "bounded");
    host.set_crawl_delay("https://h.example", Some(seconds(10)));
    assert_eq!(host.shortened(), None);
    host.set_crawl_delay("https://h.example", Some(seconds(7200)));
    assert_eq!((host.turn(0), host.wait()), (Turn::Now, seconds(10)));
    assert_eq!(host.shortened(), Some((seconds(7200), seconds(10))));
}

#[test]
fn back_off_doubles_to_ten_minutes_and_halves_to_nothing() {
    let mut host = host(seconds(2));
    let mut waits = Vec::new();
    let mut now = 0;
    for _ in 0..11 {
        request(&mut host, &mut now, &ended(503, 0));
        waits.push(host.wait().as_secs());
    }
    assert_eq!(waits, [2, 4, 8, 16, 32, 64, 128, 256, 512, 600, 600]);
    waits.clear();
    for _ in 0..10 {
        request(&mut host, &mut now, &ended(200, 0));
        waits.push(host.wait().as_secs());
    }
    assert_eq!(waits, [300, 150, 75, 37, 18, 9, 4, 2, 2, 2]);
    assert_eq!(host.state().backoff, Duration::ZERO);
}

#[test]
fn back_off_starts_at_the_longest_of_pace_crawl_delay_and_a_second() {
    let mut now = 0;
    let mut fast = host(Duration::from_millis(100));
    request(&mut fast, &mut now, &ended(429, 0));
    assert_eq!(fast.wait(), SECOND);
    let mut slow = host(seconds(7));
    request(&mut slow, &mut now, &ended(429, 0));
    assert_eq!(slow.wait(), seconds(7));
    let mut asked = host(SECOND);
    asked.set_crawl_delay("https://h.example", Some(seconds(9)));
    request(&mut asked, &mut now, &ended(429, 0));
    request(&mut asked, &mut now, &ended(429, 1));
    assert_eq!(asked.wait(), seconds(18));
}

#[test]
fn what_is_tried_again() {
    for status in [408, 425, 429, 500, 502, 503, 504, 599] {
        assert!(Reply::Status(status).is_retryable(), "{status}");
    }
    for status in [200, 204, 301, 304, 400, 401, 403, 404, 410, 451, 600] {
        assert!(!Reply::Status(status).is_retryable(), "{status}");
    }
    assert!(Reply::NoAnswer.is_retryable());
}

#[test]
fn two_retries_then_the_request_has_failed() {
    let mut host = host(SECOND);
    let mut now = 0;
    let failed = |retries| Ended { reply: Reply::NoAnswer, retry_after: None, retries };
    assert_eq!(request(&mut host, &mut now, &failed(0)), Next::Retry);
    assert_eq!(request(&mut host, &mut now, &failed(1)), Next::Retry);
    assert_eq!(request(&mut host, &mut now, &failed(2)), Next::Failed);
    assert_eq!(host.state().failures, 1);
    assert_eq!(host.parked(), None);
    // 0.1 s each, and 1 s and 2 s of back-off between them.
    assert_eq!(now, 3300);
    assert_eq!(host.wait(), seconds(4));
}

#[test]
fn a_refused_page_is_an_answer() {
    let mut host = host(SECOND);
    let mut now = 0;
    for status in [404, 403, 410, 404] {
        assert_eq!(request(&mut host, &mut now, &ended(status, 0)), Next::Done);
    }
    assert_eq!(host.wait(), SECOND);
}

#[test]
fn three_failed_requests_in_a_row_park_the_host() {
    let mut host = host(SECOND);
    let mut now = 0;
    request(&mut host, &mut now, &ended(500, 2));
    request(&mut host, &mut now, &ended(500, 2));
    request(&mut host, &mut now, &ended(200, 0));
    request(&mut host, &mut now, &ended(500, 2));
    request(&mut host, &mut now, &ended(500, 0));
    request(&mut host, &mut now, &ended(500, 2));
    assert_eq!(host.parked(), None);
    assert_eq!(request(&mut host, &mut now, &ended(500, 2)), Next::Failed);
    assert_eq!(host.parked(), Some(&Parked { reason: Reason::Failures, until: None }));
    assert_eq!(host.begin(now + 10_000_000), Turn::Parked);
    let backoff = host.state().backoff;
    host.begin_run(now);
    assert_eq!((host.parked(), host.state().failures), (None, 0));
    assert_eq!(host.turn(now), Turn::Wait(backoff), "a new run starts no faster");
}

#[test]
fn retry_after_is_waited_for() {
    let mut host = host(SECOND);
    let mut now = 0;
    let asked =
        |status, time| Ended { reply: Reply::Status(status), retry_after: Some(time), retries: 0 };
    assert_eq!(request(&mut host, &mut now, &asked(429, seconds(600))), Next::Retry);
    assert_eq!(host.turn(now), Turn::Wait(seconds(600)));
    assert_eq!(request(&mut host, &mut now, &asked(302, seconds(30))), Next::Done);
    assert_eq!(host.turn(now), Turn::Wait(seconds(30)), "on every status");
    assert_eq!(request(&mut host, &mut now, &asked(503, Duration::ZERO)), Next::Retry);
    assert_eq!(host.turn(now), Turn::Wait(SECOND), "never shorter than back-off");
}

#[test]
fn a_longer_retry_after_parks_the_host_until_then() {
    let mut host = host(SECOND);
    let mut now = 0;
    let ended = Ended { reply: Reply::Status(503), retry_after: Some(seconds(3600)), retries: 0 };
    assert_eq!(request(&mut host, &mut now, &ended), Next::Deferred);
    let until = now + 3_600_000;
    assert_eq!(host.parked(), Some(&Parked { reason: Reason::RetryAfter, until: Some(until) }));
    host.begin_run(until - 1);
    assert_eq!(host.turn(until - 1), Turn::Parked);
    host.begin_run(until);
    assert_eq!(host.turn(until), Turn::Now);
    let forever = Ended { reply: Reply::Status(200), retry_after: Some(Duration::MAX), retries: 0 };
    now = until;
    assert_eq!(request(&mut host, &mut now, &forever), Next::Done);
    let month = now + millis(LONGEST_REST);
    assert_eq!(host.parked().and_then(|parked| parked.until), Some(month));
}

#[test]
fn a_restart_shortens_no_wait() {
    let mut host = host(seconds(5));
    let mut now = 50_000;
    request(&mut host, &mut now, &ended(503, 0));
    let faster = Terms::new(SECOND, &shipped("standard"));
    let mut again = Host::new(faster, host.state().clone());
    assert_eq!(again.turn(now + 100), Turn::Wait(Duration::from_millis(4900)));
    let slower = Terms::new(seconds(60), &shipped("standard"));
    let mut again = Host::new(slower, host.state().clone());
    assert_eq!(again.turn(now), Turn::Wait(seconds(60)));
}

#[test]
fn a_request_without_an_end_ends_when_that_is_found_out() {
    let mut first = host(seconds(5));
    assert_eq!(first.begin(1000), Turn::Now);
    let mut second = Host::new(first.terms.clone(), first.state().clone());
    assert_eq!(second.turn(100_000), Turn::Busy);
    second.abandon(100_000);
    assert_eq!(second.turn(100_000), Turn::Wait(seconds(5)));
    second.abandon(104_000);
    assert_eq!(second.turn(105_000), Turn::Now);
}

#[test]
fn a_clock_set_back_lengthens_nothing() {
    let mut host = host(seconds(5));
    let mut now = 1_000_000;
    let ended = Ended { reply: Reply::Status(503), retry_after: Some(seconds(3600)), retries: 0 };
    request(&mut host, &mut now, &ended);
    host.begin_run(0);
    assert_eq!(host.parked().and_then(|parked| parked.until), Some(3_600_000));
    assert_eq!(host.state().next_at, Some(3_600_000));
}

#[test]
fn sources_on_one_host_take_the_strictest() {
    let standard = Terms::new(seconds(1), &shipped("standard"));
    let bounded = Terms::new(seconds(5), &shipped("bounded"));
    let both = standard.strictest(&bounded);
    assert_eq!(both, bounded.strictest(&standard));
    assert_eq!((both.pace, both.crawl_delay_ceiling), (seconds(5), None));
    assert_eq!(both.strictest(&both), both);
    let feeds = Terms::new(seconds(1), &shipped("courteous-feeds"));
    assert_eq!(feeds.strictest(&bounded).crawl_delay_ceiling, Some(seconds(10)));
}

#[test]
fn reasons_have_names() {
    for reason in [Reason::RetryAfter, Reason::CrawlDelay, Reason::Failures] {
        assert_eq!(Reason::from_name(reason.name()), Some(reason));
    }
    assert_eq!(Reason::from_name("else"), None);
}

/// One step of a host's life.
#[derive(Clone, Debug)]
enum Step {
    Request { takes: u16, status: u16, retry_after: Option<u64>, retries: u32 },
    CrawlDelay(u64),
    Restart,
    NewRun,
    Idle(u32),
}

fn step() -> impl Strategy<Value = Step> {
    let status = prop::sample::select(vec![200, 301, 404, 408, 429, 500, 503, 0]);
    let asked = prop::option::weighted(0.2, 0..900_u64);
    prop_oneof![
        8 => (0..5000_u16, status, asked, 0..3_u32).prop_map(
            |(takes, status, retry_after, retries)| Step::Request {
                takes, status, retry_after, retries
            }
        ),
        1 => (0..700_u64).prop_map(Step::CrawlDelay),
        1 => Just(Step::Restart),
        1 => Just(Step::NewRun),
        1 => (0..100_000_u32).prop_map(Step::Idle),
    ]
}

proptest! {
    /// Against a plain reading of the rules: whatever happens, no request begins before its
    /// time, and one that may begin is never held back for longer.
    #[test]
    fn every_gap_is_the_longest_of_the_four(
        pace in 0..20_000_u64,
        steps in prop::collection::vec(step(), 1..60),
    ) {
        let terms = Terms::new(Duration::from_millis(pace), &shipped("standard"));
        let mut host = Host::new(terms.clone(), HostState::default());
        let (mut now, mut last_end, mut least) = (5_000_000, None, 0);
        for step in steps {
            match step {
                Step::Idle(time) => now += Millis::from(time),
                Step::CrawlDelay(delay) => host.set_crawl_delay("https://h", Some(seconds(delay))),
                Step::Restart => host = Host::new(terms.clone(), host.state().clone()),
                Step::NewRun => host.begin_run(now),
                Step::Request { takes, status, retry_after, retries } => {
                    let begun = match host.begin(now) {
                        Turn::Parked => continue,
                        Turn::Now => true,
                        Turn::Wait(wait) => {
                            now += millis(wait);
                            prop_assert_eq!(host.turn(now - 1), Turn::Wait(Duration::from_millis(1)));
                            host.begin(now) == Turn::Now
                        }
                        Turn::Busy => false,
                    };
                    prop_assert!(begun);
                    let paced = Duration::from_millis(pace).max(host.state().crawl_delay());
                    if let Some(end) = last_end {
                        prop_assert!(now - end >= millis(paced).max(least));
                    }
                    now += Millis::from(takes);
                    let retry_after = retry_after.map(seconds);
                    let reply = if status == 0 { Reply::NoAnswer } else { Reply::Status(status) };
                    host.end(now, &Ended { reply, retry_after, retries });
                    last_end = Some(now);
                    least = millis(host.state().backoff.max(retry_after.unwrap_or_default()));
                    prop_assert!(host.state().backoff <= seconds(600));
                }
            }
        }
    }
}
