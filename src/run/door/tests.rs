//! What passes the door, and when.

mod scene;
mod site;

use std::thread;
use std::time::{Duration, Instant};

use scene::{Scene, ask, get, page, source, told};
use site::{Play, Site, lead, play};

use super::{Follow, RequestKind};
use crate::model::{RunId, Validators};
use crate::politeness::Reply;
use crate::run::RunError;
use crate::state::{Stop, Tally};

/// A site, and a source over it that waits as long as `pace` says.
fn one(pace: &str) -> (Site, Scene) {
    let site = Site::new("127.0.0.1");
    let scene = Scene::new(&source("docs", &[site.host()], &format!("pace = {pace:?}")));
    (site, scene)
}

/// Least time from the end of an answer to the start of the next request.
fn least_gap(site: &Site) -> Duration {
    let seen = site.seen();
    seen.windows(2).map(|two| two[1].start - two[0].end).min().unwrap()
}

#[test]
fn robots_comes_first_and_every_request_waits() {
    let (site, scene) = one("60ms");
    site.on("/robots.txt", [play(200, "User-agent: *\nDisallow: /private\n")]);
    site.on("/a", [play(200, "A")]);
    site.on("/b", [lead(302, "/a2"), play(200, "B")]).on("/a2", [play(200, "A2")]);
    let context = scene.context();
    let door = scene.door(&context, None);
    let of = |target: &str| told(&get(&door, scene.source(0), &site.url(target)));
    assert_eq!(of("/a"), format!("answer 200 {}", site.url("/a")));
    assert_eq!(
        of("/private/x"),
        format!("disallowed {}: line 2 of robots.txt: Disallow: /private", site.url("/private/x"))
    );
    assert_eq!(of("/b"), format!("answer 200 {}", site.url("/a2")));
    assert_eq!(of("/missing"), format!("answer 404 {}", site.url("/missing")));
    assert_eq!(site.targets(), ["/robots.txt", "/a", "/b", "/a2", "/missing"]);
    assert!(least_gap(&site) >= Duration::from_millis(60), "{:?}", least_gap(&site));
    assert_eq!(site.most_at_once(), 1);
    let conduct = scene.conduct();
    assert_eq!((conduct.host.as_str(), conduct.most_at_once), ("127.0.0.1", 1));
    assert!(conduct.least_gap.unwrap() >= 60, "{conduct:?}");
    assert_eq!(conduct.pace, Duration::from_millis(60));
    let requests: Vec<_> = conduct.kinds.iter().map(|(kind, t)| (*kind, t.requests)).collect();
    assert_eq!(requests, [(RequestKind::Robots, 1), (RequestKind::Page, 4)]);
    let connections: u64 = conduct.kinds.iter().map(|(_, tally)| tally.connections).sum();
    assert_eq!(connections, u64::from(site.connections()));
    assert!(scene.told.0.lock().unwrap().is_empty());
    let robots = scene.schedule().robots_of("127.0.0.1").unwrap();
    assert_eq!((robots.len(), robots[0].standing.as_str()), (1, "read"));
    assert!(robots[0].text.as_ref().unwrap().starts_with(b"User-agent"));
}

#[test]
fn threads_and_doors_share_the_turns_of_a_host() {
    let (site, scene) = one("30ms");
    let slow = Play { delay: Duration::from_millis(10), ..play(200, "text") };
    site.on("/p", [slow]);
    let context = scene.context();
    let (one, two) = (scene.door(&context, None), scene.door(&context, None));
    thread::scope(|scope| {
        for door in [&one, &one, &two, &two] {
            let (scene, site) = (&scene, &site);
            scope.spawn(move || {
                for _ in 0..4 {
                    let visit = get(door, scene.source(0), &site.url("/p"));
                    assert!(told(&visit).starts_with("answer 200"), "{visit:?}");
                }
            });
        }
    });
    let targets = site.targets();
    let robots = targets.iter().filter(|target| *target == "/robots.txt").count();
    assert_eq!((robots, targets.len()), (2, 18), "once for each process: {targets:?}");
    assert_eq!(site.most_at_once(), 1);
    assert!(least_gap(&site) >= Duration::from_millis(30), "{:?}", least_gap(&site));
    assert_eq!(scene.conduct().most_at_once, 1);
}

#[test]
fn ports_of_a_host_share_its_turns_and_hosts_do_not() {
    let (site, beside) = (Site::new("127.0.0.1"), Site::new("127.0.0.1"));
    let far = Site::new("127.0.3.1");
    let scene = Scene::new(
        &(source("one", &[site.host(), far.host()], "pace = \"0s\"")
            + &source("two", &[beside.host()], "pace = \"50ms\"")),
    );
    let context = scene.context();
    let door = scene.door(&context, None);
    for site in [&site, &beside, &far, &site, &far] {
        get(&door, scene.source(0), &site.url("/p"));
    }
    let mut seen: Vec<_> = site.seen().into_iter().chain(beside.seen()).collect();
    seen.sort_by_key(|seen| seen.start);
    let gaps: Vec<_> = seen.windows(2).map(|two| two[1].start - two[0].end).collect();
    assert_eq!(gaps.len(), 4);
    assert!(gaps.iter().all(|gap| *gap >= Duration::from_millis(50)), "{gaps:?}");
    assert_eq!(door.host("127.0.0.1").wait, Duration::from_millis(50));
    assert_eq!(door.host("127.0.3.1").wait, Duration::ZERO);
}

#[test]
fn what_fails_is_tried_again_and_the_host_gets_more_time() {
    let (site, scene) = one("10ms");
    let cut = Play { cut: true, ..Play::default() };
    site.on("/a", [play(503, ""), play(200, "A")]).on("/b", [cut, play(200, "B")]);
    let context = scene.context();
    let door = scene.door(&context, None);
    assert!(told(&get(&door, scene.source(0), &site.url("/a"))).starts_with("answer 200"));
    assert!(door.host("127.0.0.1").wait < Duration::from_secs(1), "a success ends it");
    let seen = site.seen();
    assert_eq!(site.targets(), ["/robots.txt", "/a", "/a"]);
    assert!(seen[2].start - seen[1].end >= Duration::from_secs(1));
    assert!(told(&get(&door, scene.source(0), &site.url("/b"))).starts_with("answer 200"));
    let page = scene.conduct().kinds[1].1;
    assert_eq!((page.requests, page.retries, page.failures), (4, 2, 2));
}

#[test]
fn a_host_that_asks_for_rest_gets_it() {
    let (site, scene) = one("10ms");
    let later = |status, seconds| Play {
        headers: format!("Retry-After: {seconds}\r\n"),
        ..play(status, "")
    };
    site.on("/a", [later(200, 1)]).on("/b", [play(200, "")]).on("/c", [later(429, 86_400)]);
    let context = scene.context();
    let door = scene.door(&context, None);
    get(&door, scene.source(0), &site.url("/a"));
    get(&door, scene.source(0), &site.url("/b"));
    let seen = site.seen();
    assert!(seen[2].start - seen[1].end >= Duration::from_secs(1));
    for target in ["/c", "/b"] {
        let visit = told(&get(&door, scene.source(0), &site.url(target)));
        assert!(visit.starts_with("deferred: 127.0.0.1 is left for a later run, not"), "{visit}");
    }
    assert_eq!(site.targets(), ["/robots.txt", "/a", "/b", "/c"]);
    let parked = door.host("127.0.0.1").parked.unwrap();
    assert!(parked.contains("asks to be left alone"), "{parked}");
    // The next run keeps to it as well, and asks for nothing.
    let next = scene.door(&context, None);
    assert!(told(&get(&next, scene.source(0), &site.url("/b"))).starts_with("deferred"));
    assert_eq!(site.targets().len(), 4);
}

#[test]
fn robots_that_cannot_be_read_forbids() {
    let (site, scene) = one("10ms");
    site.on("/robots.txt", [play(503, "")]).on("/a", [play(200, "A")]);
    let context = scene.context();
    let door = scene.door(&context, None);
    for _ in 0..2 {
        let visit = told(&get(&door, scene.source(0), &site.url("/a")));
        assert_eq!(visit, "unreachable true: status 503");
    }
    assert_eq!(site.targets(), ["/robots.txt"; 3]);
    let access = door.robots(scene.source(0), &page(&site.url("/"))).unwrap();
    assert_eq!(access.robots.unreachable(), Some("status 503"));
}

#[test]
fn redirects_of_robots_are_followed_and_rules_belong_to_the_first() {
    let (site, other) = (Site::new("127.0.0.1"), Site::new("127.0.2.1"));
    let hosts = [site.host(), other.host()];
    let scene = Scene::new(&source("docs", &hosts, "pace = \"0s\""));
    site.on("/robots.txt", [lead(301, other.url("/r1.txt"))]).on("/guide", [play(200, "G")]);
    for n in 1..4 {
        other.on(&format!("/r{n}.txt"), [lead(302, format!("/r{}.txt", n + 1))]);
    }
    other.on("/r4.txt", [play(200, "User-agent: *\nDisallow: /private\n")]);
    other.on("/private", [play(200, "P")]);
    let context = scene.context();
    let door = scene.door(&context, None);
    let of = |url: String| told(&get(&door, scene.source(0), &url));
    assert!(of(site.url("/private")).starts_with("disallowed"));
    assert!(of(site.url("/guide")).starts_with("answer 200"));
    assert!(of(other.url("/private")).starts_with("answer 200"));
    let chain = ["/robots.txt", "/r1.txt", "/r2.txt", "/r3.txt", "/r4.txt", "/private"];
    assert_eq!(other.targets(), chain);
}

#[test]
fn loops_of_robots_end_and_are_named() {
    let (site, other) = (Site::new("127.0.0.1"), Site::new("127.0.2.1"));
    let hosts = [site.host(), other.host()];
    let scene = Scene::new(&source("docs", &hosts, "pace = \"0s\""));
    let context = scene.context();
    let unreachable = |why: &str| {
        let door = scene.door(&context, None);
        let visit = told(&get(&door, scene.source(0), &site.url("/a")));
        assert!(visit.starts_with("unreachable") && visit.contains(why), "{visit}");
    };
    site.on("/robots.txt", [lead(302, other.url("/robots.txt"))]);
    other.on("/robots.txt", [lead(302, site.url("/robots.txt"))]);
    unreachable("loop");
    assert_eq!((site.targets().len(), other.targets().len()), (1, 1));
    // Each needs the other's rules before it can be read.
    site.on("/robots.txt", [lead(302, other.url("/r.txt"))]);
    other.on("/robots.txt", [lead(302, site.url("/r.txt"))]);
    unreachable("loop");
    assert_eq!((site.targets().len(), other.targets().len()), (2, 2));
    site.on("/robots.txt", [lead(302, "/elsewhere.txt")]);
    unreachable("loop");
    site.on("/robots.txt", [lead(302, other.url("/x"))]);
    other.on("/robots.txt", [play(200, "User-agent: *\nDisallow: /x\n")]);
    unreachable("forbidden by line 2");
    let far = |n: usize| lead(302, other.url(&format!("/robots.txt?{n}")));
    site.on("/robots.txt", [far(1)]);
    other.on("/robots.txt", [play(404, "")]);
    for n in 1..7 {
        other.on(&format!("/robots.txt?{n}"), [far(n + 1)]);
    }
    unreachable("more than 5 redirects");
    site.on("/robots.txt", [lead(302, "ftp://example.org/")]);
    unreachable("Location that cannot be used");
}

#[test]
fn the_beginning_of_an_endless_robots_counts() {
    let (site, scene) = one("0s");
    let mut body = b"User-agent: *\nDisallow: /private\n".to_vec();
    body.extend(b"# comment\n".repeat(200_000));
    site.on("/robots.txt", [play(200, body)]);
    let context = scene.context();
    let door = scene.door(&context, None);
    assert!(told(&get(&door, scene.source(0), &site.url("/private"))).starts_with("disallowed"));
}

#[test]
fn redirects_of_pages() {
    let (site, scene) = one("0s");
    site.on("/for-good", [lead(301, "/new")]).on("/new", [play(200, "N")]);
    site.on("/temporary", [lead(307, "/for-good")]);
    site.on("/circle", [lead(302, "/circle2")]).on("/circle2", [lead(302, "/circle")]);
    site.on("/nowhere", [play(302, "")]).on("/mail", [lead(302, "mailto:a@example.org")]);
    site.on("/outside", [lead(302, "https://example.org/")]);
    for n in 0..6 {
        site.on(&format!("/r{n}"), [lead(302, format!("/r{}", n + 1))]);
    }
    let context = scene.context();
    let door = scene.door(&context, None);
    let inside = |url: &crate::model::PageUrl| {
        if url.host() == "127.0.0.1" { Ok(()) } else { Err("out of scope".to_owned()) }
    };
    let of = |target: &str, follow: Follow<'_>| {
        let url = page(&site.url(target));
        told(&door.get(&super::Ask { follow, ..ask(scene.source(0), &url) }).unwrap())
    };
    let temporary = |target: &str| of(target, Follow::Temporary(&inside));
    assert_eq!(temporary("/for-good"), format!("moved 301 {}", site.url("/new")));
    assert_eq!(of("/for-good", Follow::All(&inside)), format!("answer 200 {}", site.url("/new")));
    assert_eq!(temporary("/temporary"), format!("answer 200 {}", site.url("/new")));
    assert!(temporary("/circle").contains("loop"));
    assert!(temporary("/nowhere").starts_with("astray 302 : status 302 without a Location"));
    assert!(temporary("/mail").starts_with("astray 302 mailto:a@example.org: "));
    assert_eq!(temporary("/outside"), "astray 302 https://example.org/: out of scope");
    assert!(temporary("/r0").contains("more than 5 redirects"));
    assert_eq!(temporary("/r1"), format!("answer 404 {}", site.url("/r6")));
}

#[test]
fn validators_go_to_the_address_itself_only() {
    let (site, scene) = one("0s");
    site.on("/a", [lead(302, "/b")]).on("/b", [play(200, "B")]).on("/c", [play(304, "")]);
    let context = scene.context();
    let door = scene.door(&context, None);
    let etag = Validators { etag: Some("\"1\"".into()), last_modified: None };
    for target in ["/a", "/c"] {
        let url = page(&site.url(target));
        door.get(&super::Ask { validators: Some(&etag), ..ask(scene.source(0), &url) }).unwrap();
    }
    let sent: Vec<bool> =
        site.seen().iter().map(|seen| seen.headers.contains_key("if-none-match")).collect();
    assert_eq!(sent, [false, true, false, true]);
}

#[test]
fn an_interrupt_ends_waits_and_requests() {
    let (site, scene) = one("0s");
    site.on("/slow", [Play { delay: Duration::from_secs(20), ..play(200, "") }]);
    let context = scene.context();
    let door = scene.door(&context, None);
    let url = page(&site.url("/slow"));
    thread::scope(|scope| {
        let asking = scope.spawn(|| door.get(&ask(scene.source(0), &url)));
        while site.targets().is_empty()
            || scene.schedule().host("127.0.0.1", 0).unwrap().state.started_at.is_none()
        {
            thread::sleep(Duration::from_millis(5));
        }
        scene.interrupt.raise();
        assert!(matches!(asking.join().unwrap(), Err(RunError::Interrupted)));
    });
    assert!(matches!(door.get(&ask(scene.source(0), &url)), Err(RunError::Interrupted)));
    let state = scene.schedule().host("127.0.0.1", 0).unwrap().state;
    assert_eq!((state.failures, state.backoff, state.started_at), (0, Duration::ZERO, None));
    let page: Tally = scene.conduct().kinds.last().unwrap().1;
    assert_eq!(page.failures, 0);
}

#[test]
fn the_end_of_the_time_and_a_stop_put_off() {
    let (site, scene) = one("1h");
    let context = scene.context();
    let door = scene.door(&context, Some(Instant::now() + Duration::from_mins(1)));
    let visit = told(&get(&door, scene.source(0), &site.url("/a")));
    assert_eq!(visit, "deferred: the time of this run is up");
    assert_eq!(site.targets(), ["/robots.txt"]);
    let over = scene.door(&context, Some(Instant::now()));
    let visit = told(&get(&over, scene.source(0), &site.url("/a")));
    assert_eq!(visit, "deferred: the time of this run is up");

    let door = scene.door(&context, None);
    thread::scope(|scope| {
        let waiting = scope.spawn(|| get(&door, scene.source(0), &site.url("/a")));
        scene.schedule().stop(Stop::Source("docs")).unwrap();
        assert_eq!(told(&waiting.join().unwrap()), "deferred: stopped by `pagelog stop`");
    });
    super::forget_stops(&context, &scene.archive).unwrap();
    scene.schedule().stop(Stop::Host("127.0.0.1")).unwrap();
    let visit = told(&get(&door, scene.source(0), &site.url("/a")));
    assert_eq!(visit, "deferred: stopped by `pagelog stop`");
    assert_eq!(door.host("127.0.0.1").parked.as_deref(), Some("stopped by `pagelog stop`"));
    assert_eq!(site.targets(), ["/robots.txt"]);
}

#[test]
fn a_crawl_delay_is_obeyed_and_a_shortened_one_is_told() {
    let (site, scene) = one("0s");
    site.on("/robots.txt", [play(200, "User-agent: *\nCrawl-delay: 0.2\n")]);
    let context = scene.context();
    let door = scene.door(&context, None);
    for _ in 0..3 {
        get(&door, scene.source(0), &site.url("/a"));
    }
    assert!(least_gap(&site) >= Duration::from_millis(200), "{:?}", least_gap(&site));
    assert_eq!(scene.conduct().crawl_delay, Duration::from_millis(200));

    let site = Site::new("127.0.0.1");
    let more = "pace = \"0s\"\npolicy = \"bounded\"";
    let scene = Scene::new(&source("docs", &[site.host()], more));
    site.on("/robots.txt", [play(200, "User-agent: *\nCrawl-delay: 60\n")]);
    let context = scene.context();
    let door = scene.door(&context, Some(Instant::now() + Duration::from_secs(5)));
    get(&door, scene.source(0), &site.url("/a"));
    assert_eq!(door.host("127.0.0.1").wait, Duration::from_secs(10));
    let told = scene.told.0.lock().unwrap();
    assert!(told.len() == 1 && told[0].contains("Crawl-delay of 60 s"), "{told:?}");
}

#[test]
fn an_address_that_nobody_named_costs_no_request() {
    let (site, scene) = one("0s");
    let hidden = Site::new("127.0.4.1");
    site.on("/a", [lead(302, hidden.url("/secret"))]);
    let context = scene.context();
    let door = scene.door(&context, None);
    let visit = told(&get(&door, scene.source(0), &site.url("/a")));
    assert!(visit.contains("private or local address"), "{visit}");
    assert!(hidden.targets().is_empty());
    assert_eq!(scene.schedule().host("127.0.4.1", 0).unwrap().state.failures, 0);
    assert_eq!(scene.conduct().host, "127.0.0.1");
}

#[test]
fn an_update_of_a_repository_is_a_request_to_its_host() {
    let (site, scene) = one("40ms");
    let context = scene.context();
    let door = scene.door(&context, None);
    get(&door, scene.source(0), &site.url("/a"));
    let begun = door.git(scene.source(0), "127.0.0.1", || (Reply::Status(200), Instant::now()));
    let gap = begun.unwrap().unwrap() - site.seen()[1].end;
    assert!(gap >= Duration::from_millis(40), "{gap:?}");
    let failed = door.git(scene.source(0), "127.0.0.1", || (Reply::NoAnswer, ()));
    assert!(failed.unwrap().is_ok());
    assert_eq!(door.host("127.0.0.1").wait, Duration::from_secs(1));
    let git = scene.conduct().kinds[2];
    let tally = Tally { requests: 2, failures: 1, ..Tally::default() };
    assert_eq!(git, (RequestKind::Git, tally));
    assert_eq!(scene.schedule().last_run().unwrap(), Some(RunId(1)));
}

#[test]
#[cfg(target_os = "linux")]
fn a_request_of_a_process_that_is_gone_counts_as_ended_now() {
    let (site, scene) = one("80ms");
    let context = scene.context();
    let door = scene.door(&context, None);
    get(&door, scene.source(0), &site.url("/a"));
    let file = rusqlite::Connection::open(scene.archive.politeness_file()).unwrap();
    let lease =
        "UPDATE host SET started_at = ended_at, holder = ?1, lease_until = ended_at + 300000";
    // Somebody who is there is waited for.
    file.execute(lease, [std::process::id().to_string()]).unwrap();
    let soon = scene.door(&context, Some(Instant::now() + Duration::from_millis(300)));
    let visit = told(&get(&soon, scene.source(0), &site.url("/a")));
    assert_eq!(visit, "deferred: the time of this run is up");
    assert_eq!(site.targets().len(), 2);
    file.execute(lease, ["4194999:1"]).unwrap();
    let gone = Instant::now();
    get(&door, scene.source(0), &site.url("/a"));
    let seen = site.seen();
    assert_eq!(seen.len(), 3);
    assert!(seen[2].start - gone >= Duration::from_millis(79), "{:?}", seen[2].start - gone);
}

#[test]
fn doors_on_one_archive_share_the_limits_of_a_policy() {
    let (one, two) = (Site::new("127.0.0.1"), Site::new("127.0.2.1"));
    let more = "pace = \"0s\"\npolicy = \"courteous-feeds\"";
    let scene = Scene::new(&source("docs", &[one.host(), two.host()], more));
    for site in [&one, &two] {
        site.on("/robots.txt", [Play { delay: Duration::from_millis(80), ..play(404, "") }]);
    }
    let context = scene.context();
    let doors = [scene.door(&context, None), scene.door(&context, None)];
    thread::scope(|scope| {
        for (site, door) in [&one, &two].into_iter().zip(&doors) {
            let scene = &scene;
            scope.spawn(move || door.robots(scene.source(0), &page(&site.url("/"))).unwrap());
        }
    });
    let mut seen = [one.seen(), two.seen()].concat();
    seen.sort_by_key(|seen| seen.start);
    assert_eq!(seen.len(), 2);
    assert!(seen[1].start >= seen[0].end, "one connection over all hosts");
}

#[test]
fn a_quota_that_is_used_up_puts_off_and_says_until_when() {
    let site = Site::new("127.0.0.1");
    let policy = "about = \"Few.\"\n[[limit]]\nname = \"few\"\nscope = \"source\"\n\
                  kinds = [\"page\"]\nquota = { most = 2, window = \"1h\" }\n\
                  [[kind]]\nname = \"private\"\nurl = ['/refused']\nrefused = \"it is ours\"\n\
                  [[kind]]\nname = \"page\"\nasked_for = [\"page\"]\n";
    let file = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(file.path(), policy).unwrap();
    let named = format!("[[policy]]\nname = \"few\"\nfile = {:?}\n", file.path());
    let more = "pace = \"0s\"\npolicy = \"few\"";
    let scene = Scene::new(&(named + &source("docs", &[site.host()], more)));
    site.on("/a", [lead(302, "/b")]).on("/b", [play(200, "B")]).on("/r", [lead(302, "/refused")]);
    let context = scene.context();
    let door = scene.door(&context, None);
    let of =
        |door: &super::Door<'_>, target: &str| told(&get(door, scene.source(0), &site.url(target)));
    assert!(of(&door, "/a").starts_with("answer 200"), "a redirect is no second page");
    let refused = format!("refused {}: the policy `few` does not allow it", site.url("/refused"));
    assert!(of(&door, "/refused").starts_with(&refused));
    assert!(of(&door, "/r").starts_with(&refused), "nor at a hop");
    let later = of(&door, "/b");
    assert!(later.starts_with("later in 35") && later.contains("few/few, source docs"), "{later}");
    // It is remembered by whoever comes next.
    assert!(of(&scene.door(&context, None), "/b").starts_with("later in 35"));
    assert_eq!(site.targets(), ["/robots.txt", "/a", "/b", "/r", "/robots.txt"]);
}

#[test]
fn an_exception_from_robots_is_asked_for_and_told() {
    let site = Site::new("127.0.0.1");
    site.on("/robots.txt", [play(200, "User-agent: *\nDisallow: /\n")]);
    site.on("/w/rest.php/v1", [play(200, "R")]);
    for (more, wanted) in [("", "disallowed"), ("robots_exception = true\n", "answer 200")] {
        let more = format!("pace = \"0s\"\npolicy = \"wikimedia\"\n{more}");
        let scene = Scene::new(&source("docs", &[site.host()], &more));
        let context = scene.context();
        let door = scene.door(&context, None);
        let of = |target: &str| told(&get(&door, scene.source(0), &site.url(target)));
        let visit = of("/w/rest.php/v1");
        assert!(visit.starts_with(wanted), "{visit}");
        assert!(of("/else").starts_with("disallowed"), "for the kinds that the policy names only");
        let warnings = scene.told.0.lock().unwrap().len();
        assert_eq!(warnings, usize::from(wanted == "answer 200"));
    }
}
