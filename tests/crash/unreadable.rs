//! An archive whose files the system does not let a run read or write.

use super::crawl_scene::Site;
use super::scene::Refs;
use crate::support::tracer::usable;
use crate::support::world::program;
use crate::support::{Outcome, World};

/// A run to which the system refuses a call on a file of the archive.
fn refused(site: &Site, world: &World, (call, error, file): (&str, &str, &str)) -> Outcome {
    let path = world.archive().join(file);
    let mut strace = world.other("strace");
    strace.args(["-f", "-qq", "-o", "/dev/null", "-e", &format!("trace={call}"), "-P"]).arg(path);
    strace.args(["-e", &format!("inject={call}:error={error}")]);
    strace.arg(program()).args(["--clock", &site.clock, "run"]);
    strace.output().expect("strace starts").into()
}

#[test]
fn files_that_may_not_be_used_are_named_and_nothing_is_lost() {
    if !usable("files that may not be read") {
        return;
    }
    let site = Site::later_run("");
    for (call, error, file, said) in [
        ("openat", "EACCES", "HEAD", "HEAD"),
        ("openat", "EACCES", "packed-refs", "packed-refs"),
        ("openat", "EACCES", "pagelog/run.lock", "run.lock"),
        ("openat", "EACCES", "pagelog/state.sqlite", "state.sqlite"),
        ("openat", "EACCES", "pagelog/politeness.sqlite", "politeness.sqlite"),
        ("openat", "EACCES", "pagelog/spool.sqlite", "spool.sqlite"),
        ("openat", "EROFS", "objects/pack", "objects/pack"),
        ("fsync", "EIO", "pagelog/state.sqlite-wal", "state.sqlite"),
    ] {
        let world = site.copy();
        let before = site.crawl.hosts.count();
        let ended = refused(&site, &world, (call, error, file));
        let asked = site.asked_since(before);
        let what = format!("{call} of {file} gave {error}");
        println!("{what}: {:?}: {}", ended.code, ended.stderr.lines().last().unwrap_or_default());
        assert_eq!(ended.code, Some(1), "{what}: {ended:?}");
        assert!(ended.stderr.contains(said), "{what}: {}", ended.stderr);
        assert_eq!(site.check(&world, (&asked, &what)), Refs::Old, "{what}");
    }
}
