//! Politeness: what keeping to the pace costs over the least time that it allows.
//!
//! Three hosts, each of which may be asked once in a while; the limit is that of the slowest
//! one, all of them read side by side: the time it took to answer, and the pace between.

use std::fs;
use std::net::Ipv4Addr;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use serde_json::Value;

use crate::Arguments;
use crate::corpus::{BOT, pagelog, site_source};
use crate::measure::{middle, run_to_end};
use crate::responder::{Responder, Span, least_gap, most_at_once};

const PACE: Duration = Duration::from_millis(50);
const SERVICE: Duration = Duration::from_millis(5);
const PAGES: usize = 100;

/// One host in all rounds.
#[derive(Default)]
struct Seen {
    requests: usize,
    gap: Option<Duration>,
    at_once: usize,
}

/// Measures all.
pub fn run(arguments: &Arguments) {
    let pages = arguments.pages.unwrap_or(PAGES);
    let addresses = [(127, 0, 0, 1), (127, 0, 1, 1), (127, 0, 2, 1)]
        .map(|(a, b, c, d)| Ipv4Addr::new(a, b, c, d));
    let hosts = addresses.map(|address| Responder::start(address, pages, SERVICE));
    let (mut ratios, mut walls) = (Vec::new(), Vec::new());
    let mut seen: [Seen; 3] = Default::default();
    let mut all_at_once = 0;
    let mut told = Value::Null;
    for _ in 0..arguments.rounds {
        let folder = tempfile::tempdir().expect("a folder");
        configure(folder.path(), &hosts);
        let mut command = pagelog(&arguments.program, folder.path(), "2026-11-30T02:00:00Z");
        let measured = run_to_end(&mut command, None);
        assert!([0, 3].contains(&measured.code), "{command:?}: exit code {}", measured.code);
        let spans = [hosts[0].spans(), hosts[1].spans(), hosts[2].spans()];
        let limit = spans.iter().map(|spans| least_time(spans)).max().unwrap_or_default();
        let wall = measured.cost.wall;
        walls.push((wall, limit));
        ratios.push((wall.as_secs_f64() / limit.as_secs_f64().max(1e-9) * 1e4) as u64);
        for (seen, spans) in seen.iter_mut().zip(&spans) {
            seen.requests = spans.len();
            seen.at_once = seen.at_once.max(most_at_once(spans));
            seen.gap = least_gap(spans).into_iter().chain(seen.gap).min();
        }
        all_at_once = all_at_once.max(most_at_once(&spans.concat()));
        told = manners(&arguments.program, folder.path());
    }
    let (wall, limit) = middle(walls);
    println!("| three hosts, pace {PACE:?}, service {SERVICE:?} | |\n|---|---|");
    println!("| wall | {:.3} s |", wall.as_secs_f64());
    println!("| limit: the slowest host | {:.3} s |", limit.as_secs_f64());
    let ratio = middle(ratios) as f64 / 1e4;
    println!("| wall / limit, median | {ratio:.4} |");
    arguments.note("pace: wall, of the limit", ratio);
    println!("| hosts asked at one moment, at most | {all_at_once} |\n");
    println!(
        "| host | requests | least gap seen | told | at once seen | told |\n|---|---|---|---|---|---|"
    );
    for (host, seen) in hosts.iter().zip(&seen) {
        let name = host.host.split(':').next().unwrap_or_default();
        let told = host_of(&told, name);
        println!(
            "| {name} | {} | {} | {} | {} | {} |",
            seen.requests,
            seen.gap.map_or("-".to_owned(), |gap| format!("{:.2} ms", gap.as_secs_f64() * 1e3)),
            told.map_or("-".to_owned(), |host| format!("{} ms", host["least_gap_ms"])),
            seen.at_once,
            told.map_or("-".to_owned(), |host| host["most_at_once"].to_string())
        );
    }
    println!(
        "\nSeen: by the servers, the least of all rounds. Told: by `pagelog manners`, of the last one."
    );
}

/// A source a host, so that each has its own sitemap.
fn configure(folder: &Path, hosts: &[Responder]) {
    let mut text = BOT.to_owned();
    for (number, host) in hosts.iter().enumerate() {
        let start = format!("http://{}/sitemap.xml", host.host);
        let pace = format!("{}ms", PACE.as_millis());
        text += &site_source(&format!("host-{number}"), (&host.host, &start), &pace);
    }
    fs::write(folder.join("sources.toml"), text).expect("configuration is written");
}

/// The least time in which these requests can be made one after another.
fn least_time(spans: &[Span]) -> Duration {
    let service: Duration = spans.iter().map(|(start, end)| *end - *start).sum();
    service + PACE * u32::try_from(spans.len().saturating_sub(1)).expect("few requests")
}

/// What the program tells of its own conduct in the last run.
fn manners(program: &Path, folder: &Path) -> Value {
    let output = Command::new(program).current_dir(folder).args(["manners", "--json"]).output();
    let output = output.expect("pagelog starts");
    serde_json::from_slice(&output.stdout).unwrap_or(Value::Null)
}

fn host_of<'v>(told: &'v Value, name: &str) -> Option<&'v Value> {
    told["hosts"].as_array()?.iter().find(|host| host["host"] == name)
}
