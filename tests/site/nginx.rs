//! A server that is not ours: validators, gzip and 304 as nginx has them.

use std::fs;
use std::path::Path;

use crate::support::World;
use crate::support::crawl::{PUBLIC, SiteSource, clock};
use crate::support::nginx::{Logged, Nginx};
use crate::support::script::page;

/// A folder with an index and so many pages below it.
fn site(folder: &Path, pages: usize) {
    fs::create_dir_all(folder).expect("folder is made");
    let targets: Vec<String> = (0..pages).map(|n| format!("p{n}.html")).collect();
    let links: Vec<&str> = targets.iter().map(String::as_str).collect();
    let write = |name: &str, text: String| {
        fs::write(folder.join(name), text).expect("file is written");
    };
    write("index.html", page("Index", "Text of the index.", &links));
    for target in &targets {
        write(target, page(target, &format!("A text of {target}. ").repeat(30), &[]));
    }
}

/// A run; gives the lines that nginx logged of it.
#[track_caller]
fn run(world: &World, nginx: &Nginx, (day, before): (u32, usize), requests: usize) -> Vec<Logged> {
    world.pagelog_at(&clock(day), &["run"]).ok();
    let log = nginx.log(before + requests);
    assert_eq!(log.len(), before + requests, "{log:?}");
    let mut run = log[before..].to_vec();
    assert!(run.iter().all(|line| line.host == nginx.host()), "{run:?}");
    assert!(run.iter().all(|line| line.connection == run[0].connection), "{run:?}");
    run.sort_by(|one, two| one.msec.total_cmp(&two.msec));
    for pair in run.windows(2) {
        // Both in whole milliseconds: no request begins before the one before it ended.
        let began = pair[1].msec - pair[1].request_time;
        assert!(began + 0.002 >= pair[0].msec, "{pair:?}");
    }
    run
}

#[test]
fn second_runs_transfer_nothing_that_did_not_change() {
    let world = World::empty();
    let folder = world.path().join("site");
    site(&folder, 6);
    let Some(nginx) = Nginx::serving(&folder, world.path()) else { return };
    let source = SiteSource::new("docs", &nginx.host(), &[&nginx.url("/")]).pace("0s");
    world.configure(&source.toml());
    let first = run(&world, &nginx, (1, 0), 8);
    assert_eq!((first[0].uri.as_str(), first[0].status), ("/robots.txt", 404));
    assert!(first[1..].iter().all(|line| line.status == 200), "{first:?}");
    world.assert_whole();
    let pages = world.files(PUBLIC).iter().filter(|path| path.starts_with("pages/")).count();
    assert_eq!(pages, 7);

    let second = run(&world, &nginx, (2, 8), 8);
    assert!(second[1..].iter().all(|line| (line.status, line.bytes) == (304, 0)), "{second:?}");

    fs::write(folder.join("p3.html"), page("Edited", "Another text.", &[])).expect("a file");
    let third = run(&world, &nginx, (3, 16), 8);
    let whole: Vec<&str> =
        third[1..].iter().filter(|line| line.status == 200).map(|l| l.uri.as_str()).collect();
    assert_eq!(whole, ["/p3.html"]);
    let changed = world.git(&["diff", "--name-only", "refs/heads/main~1", PUBLIC]).ok();
    let changed: Vec<&str> = changed.lines().filter(|path| path.starts_with("pages/")).collect();
    assert!(changed.len() == 1 && changed[0].ends_with("/p3.html.md"), "{changed:?}");
    world.assert_whole();
}
