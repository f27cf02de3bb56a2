//! The order in which one run makes things durable, read from its system calls.

use super::scene::Scene;
use crate::support::tracer::{Call, trace, usable};

const CALLS: &str = "?rename,?renameat,?renameat2,fsync,fdatasync,openat,?link,?mkdir,?mkdirat";

#[test]
fn objects_then_intent_then_refs_then_state() {
    if !usable("the order of what becomes durable") {
        return;
    }
    for scene in [Scene::first_run(8), Scene::second_run(8), Scene::loose_refs(8)] {
        let world = scene.copy();
        let calls = trace(&world, scene.clock, CALLS);
        let mut order = Order { calls: &calls, at: 0 };
        order.then("the pack is flushed", |call| flushes(call, "/objects/pack/tmp_pack_pagelog_"));
        order.then("the index is flushed", |call| flushes(call, ".idx>"));
        order.then("the pack is named", |call| renames(call, ".pack\""));
        order.then("its directory is flushed", |call| flushes(call, "/objects/pack>"));
        order.then("the index is named", |call| renames(call, ".idx\""));
        order.then("its directory is flushed", |call| flushes(call, "/objects/pack>"));
        order.then("the intent is flushed", |call| flushes(call, "/state.sqlite-wal>"));
        order.last("the refs move", |call| renames(call, "/archive/packed-refs\""));
        order.then("they are flushed", |call| flushes(call, "/archive/packed-refs>"));
        order.then("their directory is flushed", |call| flushes(call, "/archive>"));
        order.then("the state is flushed", |call| flushes(call, "/state.sqlite-wal>"));
        let packed = calls.iter().filter(|call| renames(call, ".pack\"")).count();
        assert_eq!(packed, 1, "one pack a run");
        let loose: Vec<&Call> = calls.iter().filter(|call| makes_loose_object(call)).collect();
        assert!(loose.is_empty(), "{loose:?}");
        world.assert_sound();
    }
}

/// Calls of a trace, of which each step must come after the one before.
struct Order<'a> {
    calls: &'a [Call],
    at: usize,
}

impl Order<'_> {
    #[track_caller]
    fn then(&mut self, what: &str, is: impl Fn(&Call) -> bool) {
        let found = self.calls[self.at..].iter().position(is);
        let found = found.unwrap_or_else(|| panic!("{what}: not after call {}", self.at));
        self.at += found + 1;
    }

    /// The last call of that kind, where every one must come after the step before.
    #[track_caller]
    fn last(&mut self, what: &str, is: impl Fn(&Call) -> bool) {
        let first = self.calls.iter().position(&is);
        assert!(first.is_some_and(|first| first >= self.at), "{what}: too early");
        self.at = self.calls.iter().rposition(is).map_or(self.at, |last| last + 1);
    }
}

fn flushes(call: &Call, what: &str) -> bool {
    ["fsync", "fdatasync"].contains(&call.name.as_str()) && call.rest.contains(what)
}

fn renames(call: &Call, to: &str) -> bool {
    call.name.starts_with("rename") && call.rest.contains(to)
}

/// Whether a call makes a file or folder `objects/xx` of the archive.
fn makes_loose_object(call: &Call) -> bool {
    let makes = call.name != "openat" || call.rest.contains("O_CREAT");
    let Some((_, below)) = call.rest.split_once("/archive/objects/") else { return false };
    let hex = below.bytes().take_while(u8::is_ascii_hexdigit).count();
    makes && !call.name.ends_with("sync") && hex == 2
}
