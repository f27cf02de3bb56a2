//! How hosts were treated, and stopping a run from asking one.

use std::process::Stdio;
use std::thread;
use std::time::Duration;

use crate::support::server::Web;
use crate::support::world::{START, git_source};
use crate::support::{Outcome, World};

/// Two repositories on one server, and a source that reads both with this pace.
fn served(pace: &str) -> (World, Web) {
    let world = World::empty();
    let web = Web::serving_git(world.path());
    let address = |name: &str| format!("http://127.0.0.1:{}/{name}.git", web.port());
    let source = git_source("docs", "true", &[&address("one"), &address("two")]);
    world.configure(&format!("{source}pace = \"{pace}\"\n"));
    for name in ["one", "two"] {
        world.upstream(name).write("a.md", "# A\n").commit();
    }
    (world, web)
}

#[test]
fn what_was_measured_is_told() {
    let (world, _web) = served("400ms");
    world.configure(&git_source("docs", "true", &[]).replace("[]", "[\"./one.git\"]"));
    world.run();
    assert_eq!(world.pagelog(&["manners"]).ok(), "no request was made yet\n");

    let (world, _web) = served("400ms");
    for clock in [START, "2026-12-01T02:00:00Z"] {
        world.run_at(clock);
    }
    let told = world.pagelog(&["manners", "--json"]).json();
    assert_eq!((told["run"].as_i64(), told["token"].as_str()), (Some(2), Some("TestBot")));
    let hosts = told["hosts"].as_array().unwrap();
    assert_eq!(hosts.len(), 1, "{told}");
    let host = &hosts[0];
    assert_eq!(host["host"], "127.0.0.1");
    assert_eq!(host["requests"], serde_json::json!({ "git": 2 }));
    assert_eq!((host["retries"].as_u64(), host["failures"].as_u64()), (Some(0), Some(0)));
    assert_eq!((host["most_at_once"].as_u64(), host["pace_ms"].as_u64()), (Some(1), Some(400)));
    // Also from the last request of one run to the first of the next.
    assert!(host["least_gap_ms"].as_i64().unwrap() >= 400, "{told}");
    let first = world.pagelog(&["manners", "1"]).ok();
    assert!(first.starts_with("run 1, as TestBot\n\n127.0.0.1\n  requests     2 (git 2), "));
    assert!(first.contains("  in force     pace 400 ms, Crawl-delay 0 ms\n"), "{first}");
    assert_eq!(world.pagelog(&["manners", "7"]).ok(), "run 7: no request\n");
    assert_eq!(world.pagelog(&["manners", "outside"]).ok(), "outside of runs: no request\n");
    world.pagelog(&["manners", "last"]).exits(2);
    // Requests of a dry run are requests.
    world.pagelog(&["run", "--dry-run"]).exits(0);
    let dry = world.pagelog(&["manners", "outside", "--json"]).json();
    assert_eq!(dry["hosts"][0]["requests"]["git"], 2, "{dry}");
    world.assert_whole();
}

#[test]
fn what_was_measured_is_copied() {
    let (world, _web) = served("0s");
    world.run();
    world.pagelog(&["backup", "copy"]).exits(0);
    let copied = world.pagelog(&["--archive", "copy", "manners"]).ok();
    assert_eq!(copied, world.pagelog(&["manners"]).ok());
}

#[test]
fn a_host_that_fails_is_given_more_time_by_the_next_run() {
    let (world, web) = served("0s");
    drop(web);
    world.pagelog(&["run"]).exits(3);
    let told = world.pagelog(&["manners", "--json"]).json();
    let host = &told["hosts"][0];
    assert_eq!((host["requests"]["git"].as_u64(), host["failures"].as_u64()), (Some(2), Some(2)));
    assert!(host["least_gap_ms"].as_i64().unwrap() >= 1000, "{told}");
}

#[test]
fn a_run_makes_no_further_request_where_it_is_stopped() {
    for name in ["docs", "127.0.0.1"] {
        let (world, web) = served("1h");
        let refused = world.pagelog(&["stop", "news"]).exits(1);
        assert!(refused.stderr.contains("there is no archive"), "{}", refused.stderr);
        let mut run = world.command(START);
        run.arg("run").stdout(Stdio::piped()).stderr(Stdio::piped());
        let run = run.spawn().expect("pagelog starts");
        while web.requests().is_empty() {
            thread::sleep(Duration::from_millis(10));
        }
        let refused = world.pagelog(&["stop", "news"]).exits(2);
        assert!(refused.stderr.contains("neither a source"), "{}", refused.stderr);
        let told = world.pagelog(&["stop", name]).exits(0);
        assert!(told.stderr.contains("no further request"), "{}", told.stderr);
        let ended = Outcome::from(run.wait_with_output().expect("pagelog ends")).exits(3);
        assert!(ended.stderr.contains("two.git: stopped by `pagelog stop`"), "{}", ended.stderr);
        assert!(ended.stdout.starts_with("docs: 0 changed, 1 added"), "{}", ended.stdout);
        let late = world.pagelog(&["stop", name]).exits(1);
        assert!(late.stderr.contains("no run is in progress"), "{}", late.stderr);
        world.assert_whole();
    }
}
