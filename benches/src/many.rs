//! Sites of very many small pages: a run in which nothing changed, and memory over time.
//!
//! nginx makes the pages out of their own address, so that no file is needed for each. All
//! have one ETag: whoever sends one is told that nothing changed.

use std::fs;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use crate::Arguments;
use crate::corpus::{BOT, pagelog, site_source};
use crate::measure::{Cost, Measured, mb, median, run_to_end, size};
use crate::nginx::{Nginx, Requests};
use crate::sitemap;

/// 2026-11-30T02:00:00Z, the first run.
const FIRST: i64 = 1_796_004_000;
const DAY: i64 = 86_400;
/// Pages of one folder.
const FOLDER: usize = 300;
/// Rows of the table of memory over time.
const SAMPLES: usize = 20;

/// A page of 1 kB; nginx puts its path where `$uri` stands.
const PAGE: &str = "<!DOCTYPE html><html lang=\"en\"><head><title>About $uri</title></head><body>\
    <nav><a href=\"/docs/\">All pages</a></nav><main><h1>About $uri</h1>\
    <p>This is the page at <code>$uri</code>. It says <em>little</em>, and what it says differs \
    from every other page in its address alone. See <a href=\"https://example.org$uri\">the other \
    one</a> and <a href=\"https://example.org/about\">what all of them link to</a>.</p>\
    <h2>Values</h2><table><thead><tr><th>Name</th><th>Value</th></tr></thead><tbody>\
    <tr><td>path</td><td>$uri</td></tr><tr><td>kind</td><td>small</td></tr></tbody></table>\
    <h2>Use</h2><ol><li>Read it.</li><li>Keep it.</li><li>Look again.</li></ol>\
    <pre><code class=\"language-sh\">show $uri</code></pre></main>\
    <footer>One of many</footer></body></html>";

/// A run over 300,000 pages in which the sitemaps say that nothing changed.
pub fn unchanged(arguments: &Arguments) {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path();
    let pages = arguments.pages.unwrap_or(300_000);
    let server = serve(path, pages, |number| Some(FIRST - DAY * 300 + 60 * number));
    let (first, requests) = one_run(arguments, (path, &server), FIRST);
    let mut rows = vec![("first run".to_owned(), first.cost, requests)];
    let (mut costs, mut last) = (Vec::new(), Requests::default());
    for round in (1..).take(arguments.rounds) {
        let (measured, requests) = one_run(arguments, (path, &server), FIRST + round * DAY);
        costs.push(measured.cost);
        last = requests;
    }
    rows.push(("nothing changed, by lastmod".to_owned(), median(&costs), last));
    table(pages, &rows);
    println!("\nstate: {:.0} MB", mb(state(path)));
}

/// 100,000 pages: memory over time, time a page, and a second run that asks for all of them.
pub fn large(arguments: &Arguments) {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path();
    let pages = arguments.pages.unwrap_or(100_000);
    let server = serve(path, pages, |_| None);
    let mut rows = Vec::new();
    for (name, time) in [("first run", FIRST), ("second run, all asked for", FIRST + DAY)] {
        let ended = AtomicBool::new(false);
        let ((measured, requests), counts) = std::thread::scope(|scope| {
            let counter = server.counter();
            let counts = scope.spawn(|| follow(counter, &ended));
            let run = one_run(arguments, (path, &server), time);
            ended.store(true, Ordering::Relaxed);
            (run, counts.join().expect("the count ends"))
        });
        over_time(name, &measured, &counts);
        rows.push((name.to_owned(), measured.cost, requests));
    }
    table(pages, &rows);
    println!("\nstate: {:.0} MB", mb(state(path)));
}

/// Starts a site of many pages whose sitemaps name them all.
fn serve(folder: &Path, pages: usize, time: impl Fn(i64) -> Option<i64>) -> Nginx {
    let site = folder.join("site");
    fs::create_dir_all(&site).expect("folder is made");
    fs::write(site.join("robots.txt"), "User-agent: *\nAllow: /\n").expect("robots.txt");
    let locations = format!(
        "location /docs/ {{ types {{ }} default_type text/html; add_header ETag '\"1\"';\n\
         if ($http_if_none_match) {{ return 304; }}\nreturn 200 '{PAGE}'; }}"
    );
    let server = Nginx::start(folder, &locations);
    let entries: Vec<_> = (0..pages)
        .map(|number| {
            let address =
                format!("{}/docs/part-{:04}/page-{number:06}.html", server.origin, number / FOLDER);
            (address, time(i64::try_from(number).expect("few pages")))
        })
        .collect();
    sitemap::write(&site, (&server.origin, "sitemap"), &entries);
    let start = format!("{}/sitemap.xml", server.origin);
    let text = BOT.to_owned() + &site_source("many", (server.host(), &start), "0s");
    fs::write(folder.join("sources.toml"), text).expect("configuration is written");
    server
}

fn one_run(
    arguments: &Arguments,
    (folder, server): (&Path, &Nginx),
    time: i64,
) -> (Measured, Requests) {
    let mut command = pagelog(&arguments.program, folder, &sitemap::date(time));
    let measured = run_to_end(&mut command, None);
    assert!([0, 3].contains(&measured.code), "{command:?}: exit code {}", measured.code);
    if measured.code != 0 {
        println!("{command:?} ended with exit code {}", measured.code);
    }
    (measured, server.requests())
}

/// Notes each half second how many requests there were.
fn follow(mut counter: impl FnMut() -> usize, ended: &AtomicBool) -> Vec<(Duration, usize)> {
    let start = Instant::now();
    let mut counts = Vec::new();
    while !ended.load(Ordering::Relaxed) {
        counts.push((start.elapsed(), counter()));
        std::thread::sleep(Duration::from_millis(500));
    }
    counts
}

/// Anonymous memory beside the requests made so far.
fn over_time(name: &str, measured: &Measured, counts: &[(Duration, usize)]) {
    println!("| {name}: seconds | requests so far | anonymous |\n|---|---|---|");
    let series = &measured.series;
    let step = series.len().div_ceil(SAMPLES).max(1);
    let rest = (series.len().saturating_sub(1)) % step;
    for (at, bytes) in series.iter().skip(rest).step_by(step) {
        let near = counts.iter().min_by_key(|(time, _)| time.abs_diff(*at));
        let requests = near.map_or(0, |(_, count)| *count);
        println!("| {:.1} | {requests} | {:.0} MB |", at.as_secs_f64(), mb(*bytes));
    }
    println!();
}

fn table(pages: usize, rows: &[(String, Cost, Requests)]) {
    println!(
        "| {pages} pages | wall | CPU | a page | resident | anonymous | requests: 200 / 304 / others |"
    );
    println!("|---|---|---|---|---|---|---|");
    for (name, cost, requests) in rows {
        println!(
            "| {name} | {:.2} s | {:.2} s | {:.0} µs | {:.0} MB | {:.0} MB | {requests} |",
            cost.wall.as_secs_f64(),
            cost.cpu.as_secs_f64(),
            cost.wall.as_secs_f64() * 1e6 / pages as f64,
            mb(cost.memory),
            mb(cost.anonymous)
        );
    }
}

fn state(folder: &Path) -> u64 {
    size(&folder.join("archive/pagelog"))
}
