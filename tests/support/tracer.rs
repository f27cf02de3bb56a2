//! Runs under `strace`: which calls they make, and killing them at one of these.

use std::collections::BTreeMap;
use std::fs;
use std::process::Command;

use super::world::program;
use super::{Outcome, World};

/// Whether `strace` works here. Where it does not, says that `what` was not run; fails
/// where everything must be run (`CI=true`).
pub fn usable(what: &str) -> bool {
    let works = Command::new("strace").args(["-qq", "-o", "/dev/null", "true"]).output();
    let works = works.is_ok_and(|output| output.status.success());
    missing(works, "strace", what);
    works
}

/// Says that `what` was not run where something it needs is not there, or fails there.
pub fn missing(here: bool, needed: &str, what: &str) {
    if !here {
        assert_ne!(std::env::var("CI").as_deref(), Ok("true"), "{what} needs {needed}");
        println!("{needed} cannot be used here: {what} was not run");
    }
}

/// The calls that a run can be killed at, with how often a thread of an undisturbed run makes
/// them: of `openat`, only those that may create a file are listed.
pub type Calls = BTreeMap<String, Vec<usize>>;

/// One line of a trace.
#[derive(Clone, Debug)]
pub struct Call {
    /// Where children and threads are traced, too, whose it is.
    thread: String,
    pub name: String,
    pub rest: String,
}

/// Runs once under `strace`, its children left alone, and gives its calls in order.
#[track_caller]
pub fn trace(world: &World, clock: &str, names: &str) -> Vec<Call> {
    trace_with(world, clock, (&[], names))
}

/// The same with more options for `strace`.
#[track_caller]
pub fn trace_with(world: &World, clock: &str, options: (&[String], &str)) -> Vec<Call> {
    trace_command(world, clock, options, &["run"])
}

/// The same of another command than `run`.
#[track_caller]
pub fn trace_command(
    world: &World,
    clock: &str,
    (more, names): (&[String], &str),
    arguments: &[&str],
) -> Vec<Call> {
    let log = world.path().join("trace");
    let options = ["-qq", "-y", "-s", "0", "-e", "signal=none"];
    let mut strace = world.other("strace");
    strace.args(options).args(more).arg("-o").arg(&log).args(["-e", &format!("trace={names}")]);
    strace.arg(program()).args(["--clock", clock]).args(arguments);
    Outcome::from(strace.output().expect("strace starts")).ok();
    parse(&fs::read_to_string(&log).expect("a trace"))
}

fn parse(text: &str) -> Vec<Call> {
    let call = |line: &str| {
        let (name, rest) = line.split_once('(')?;
        let (thread, name) = name.rsplit_once(' ').unwrap_or(("", name));
        let own = |text: &str| text.trim().to_owned();
        Some(Call { thread: own(thread), name: own(name), rest: own(rest) })
    };
    text.lines().filter_map(call).collect()
}

/// Numbers the calls of each thread: what `when=` of an injection counts.
pub fn count(calls: &[Call]) -> Calls {
    let mut seen: BTreeMap<(&str, &str), usize> = BTreeMap::new();
    let mut found = Calls::new();
    for call in calls {
        let n = seen.entry((&call.thread, &call.name)).or_default();
        *n += 1;
        let numbers = found.entry(call.name.clone()).or_default();
        if (call.name != "openat" || call.rest.contains("O_CREAT")) && !numbers.contains(n) {
            numbers.push(*n);
        }
    }
    found
}

/// Runs `pagelog` and kills it when it enters its `n`-th call of that name.
#[track_caller]
pub fn kill_at(world: &World, clock: &str, (name, n): (&str, usize)) {
    let outcome = run_until(world, clock, (&[], name, n));
    assert_eq!(outcome.code, None, "not killed at {name} {n}: {outcome:?}");
}

/// The same with more options for `strace`, where the call may never come.
pub fn run_until(world: &World, clock: &str, call: (&[String], &str, usize)) -> Outcome {
    until(world, clock, call, &["run"])
}

/// The same of another command than `run`.
pub fn until(
    world: &World,
    clock: &str,
    (more, name, n): (&[String], &str, usize),
    arguments: &[&str],
) -> Outcome {
    let mut strace = world.other("strace");
    strace.args(["-qq", "-o", "/dev/null", "-e", &format!("trace={name}")]).args(more);
    strace.args(["-e", &format!("inject={name}:signal=SIGKILL:when={n}")]);
    strace.arg(program()).args(["--clock", clock]).args(arguments);
    strace.output().expect("strace starts").into()
}
