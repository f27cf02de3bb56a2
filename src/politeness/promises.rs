//! The numbers that are promised to site owners, as the shipped policies have them.

use std::time::Duration;

use super::{Gate, shipped};
use crate::model::{Limit, LimitScope, Policy, Quota, RequestKind, Slow};

fn minutes(minutes: u64) -> Duration {
    Duration::from_mins(minutes)
}

/// The only limit with that name.
fn limit<'p>(policy: &'p Policy, name: &str) -> &'p Limit {
    let found: Vec<&Limit> = policy.limits.iter().filter(|limit| limit.name == name).collect();
    assert_eq!(found.len(), 1, "{name}");
    found[0]
}

/// The names of the limits that hold for a request.
fn limits(policy: &Policy, purpose: RequestKind, url: &str) -> Vec<String> {
    let kind = policy.kind(purpose, url);
    policy.limits_of(kind).map(|limit| limit.name.clone()).collect()
}

/// Why a page is not asked for.
fn refused<'p>(policy: &'p Policy, url: &str) -> Option<&'p str> {
    policy.kind(RequestKind::Page, url).and_then(|kind| kind.refused.as_deref())
}

#[test]
fn the_standard_conduct() {
    let policy = shipped("standard");
    assert_eq!(policy.robots_max_age, minutes(60), "a narrower Disallow counts within the hour");
    assert_eq!(policy.robots_retry, Some(minutes(5)), "an unreachable verdict is for minutes");
    assert_eq!(policy.crawl_delay_ceiling, None, "Crawl-delay is waited for whole");
    assert_eq!((policy.backoff_least, policy.backoff_max), (Duration::from_secs(1), minutes(10)));
    assert_eq!(policy.give_up_after, minutes(10));
    assert_eq!((policy.retries, policy.failures_before_parking), (2, 3));
    assert!(policy.kinds.is_empty() && policy.limits.is_empty() && policy.max_pages.is_none());
}

#[test]
fn no_policy_is_laxer_than_the_standard_one_but_for_crawl_delay() {
    let standard = shipped("standard");
    for name in ["courteous-feeds", "bounded", "wikimedia"] {
        let policy = shipped(name);
        assert_eq!(policy.name.as_str(), name);
        assert!(policy.robots_max_age <= standard.robots_max_age);
        assert!(policy.robots_retry.is_none_or(|retry| Some(retry) >= standard.robots_retry));
        assert!(policy.retries <= standard.retries);
        assert!(policy.backoff_least >= standard.backoff_least);
        assert!(policy.backoff_max >= standard.backoff_max);
        assert!(policy.failures_before_parking <= standard.failures_before_parking);
        assert!(policy.give_up_after <= standard.give_up_after);
    }
}

#[test]
fn a_news_readers_pace() {
    let policy = shipped("courteous-feeds");
    assert_eq!(policy.robots_max_age, minutes(15), "never older than fifteen minutes");
    assert_eq!(policy.crawl_delay_ceiling, Some(Duration::from_secs(10)));
    let connection = limit(&policy, "connection");
    assert_eq!((connection.scope, connection.at_once), (LimitScope::All, Some(1)));
    let pause = limit(&policy, "pause");
    assert_eq!((pause.scope, pause.gap), (LimitScope::Host, Duration::from_millis(1500)));
    for (name, scope, most) in [
        ("feeds of a source", LimitScope::Source, 1),
        ("articles of a source", LimitScope::Source, 5),
        ("articles", LimitScope::All, 60),
    ] {
        let limit = limit(&policy, name);
        let quota = Quota { most, window: minutes(15) };
        assert_eq!((limit.scope, limit.quota), (scope, Some(quota)), "{name}");
    }
    let of = |purpose| limits(&policy, purpose, "https://news.example.org/x");
    assert_eq!(of(RequestKind::Robots), ["connection", "pause"]);
    assert_eq!(of(RequestKind::Feed), ["connection", "pause", "feeds of a source"]);
    let article = ["connection", "pause", "articles of a source", "articles"];
    assert_eq!(of(RequestKind::Page), article);
}

#[test]
fn a_manuals_collectors_rules() {
    let policy = shipped("bounded");
    assert_eq!(policy.robots_retry, None, "the whole site is out");
    assert_eq!(policy.crawl_delay_ceiling, Some(Duration::from_secs(10)));
    assert_eq!(policy.max_pages, Some(1000), "bounded in advance");
}

#[test]
fn wikimedias_numbers() {
    let policy = shipped("wikimedia");
    let all = |name| {
        let limit = limit(&policy, name);
        assert_eq!(limit.scope, LimitScope::All, "over all properties: {name}");
        limit
    };
    let overall = all("overall");
    assert_eq!((overall.at_once, overall.per_second), (Some(9), Some(19)), "under 10 and 20");
    let rest = all("rest");
    assert_eq!((rest.at_once, rest.per_second), (Some(4), Some(9)), "under 5 and 10");
    let action = all("action");
    assert_eq!((action.at_once, action.per_second), (Some(1), Some(4)), "one, under 5");
    let slow = Slow { longest: Duration::from_secs(1), pause: Duration::from_secs(5) };
    assert_eq!(action.slow, Some(slow));
    let media = all("media");
    assert_eq!((media.at_once, media.bits_per_second), (Some(2), Some(25_000_000)));
    let source = crate::model::SourceId::new("docs").unwrap();
    let share = Gate::new(&policy.name, media, ("upload.wikimedia.org", &source)).share();
    assert!(share.is_some_and(|share| share * 2 <= 25_000_000));
    let other = all("other");
    assert_eq!((other.at_once, other.gap), (Some(1), Duration::from_secs(1)));
    assert_eq!(other.after_error, minutes(15));
    assert_eq!(policy.bulk.as_ref().map(|bulk| bulk.above), Some(1000));
    assert!(policy.bulk.unwrap().advice.contains("https://dumps.wikimedia.org/"));
}

#[test]
fn wikimedias_kinds_of_requests() {
    let policy = shipped("wikimedia");
    let page = RequestKind::Page;
    for (url, wanted) in [
        ("https://en.wikipedia.org/wiki/Rust", vec!["overall"]),
        ("https://de.m.wikipedia.org/wiki/Rost", vec!["overall"]),
        ("https://en.wikipedia.org/api/rest_v1/page/html/Rust", vec!["overall", "rest"]),
        ("https://en.wikipedia.org/w/rest.php/v1/page/Rust/html", vec!["overall", "rest"]),
        (
            "https://en.wikipedia.org/w/api.php?action=query&list=allpages",
            vec!["overall", "action"],
        ),
        ("https://upload.wikimedia.org/wikipedia/commons/a/ab/X.png", vec!["overall", "media"]),
        (
            "https://upload.wikimedia.org/wikipedia/commons/thumb/a/ab/X.png/250px-X.png",
            vec!["overall", "media"],
        ),
        ("https://gerrit.wikimedia.org/r/1", vec!["overall", "other"]),
        ("https://phabricator.wikimedia.org/T1", vec!["overall", "other"]),
    ] {
        assert_eq!(limits(&policy, page, url), wanted, "{url}");
        assert_eq!(refused(&policy, url), None, "{url}");
        let gzip = policy.kind(page, url).is_none_or(|kind| kind.gzip);
        assert_eq!(gzip, !wanted.contains(&"media"), "{url}");
    }
    let robots = limits(&policy, RequestKind::Robots, "https://en.wikipedia.org/robots.txt");
    assert_eq!(robots, ["overall"]);
    let robots = limits(&policy, RequestKind::Robots, "https://gerrit.wikimedia.org/robots.txt");
    assert_eq!(robots, ["overall", "other"]);
}

#[test]
fn wikimedias_forms_of_addresses() {
    let policy = shipped("wikimedia");
    for url in [
        "https://en.wikipedia.org/wiki/Rust?action=history",
        "https://en.wikipedia.org/wiki/Rust?oldid=7",
        "https://en.wikipedia.org/?curid=7",
        "https://en.wikipedia.org/w/index.php?title=Rust",
        "https://en.wikipedia.org/w/api.php?action=parse&page=Rust",
        "https://en.wikipedia.org/w/api.php?format=json&action=query&prop=info%7Cextracts",
        "https://en.wikipedia.org/api/rest_v1/page/html/Rust/12345",
        "https://en.wikipedia.org/w/rest.php/v1/revision/12345",
        "https://upload.wikimedia.org/wikipedia/commons/thumb/a/ab/X.png/251px-X.png",
    ] {
        assert!(refused(&policy, url).is_some(), "{url}");
    }
    let excepted = |url| policy.kind(RequestKind::Page, url).is_some_and(|it| it.robots_exception);
    assert!(excepted("https://en.wikipedia.org/api/rest_v1/page/html/Rust"));
    assert!(!excepted("https://en.wikipedia.org/wiki/Special:Random"));
}
