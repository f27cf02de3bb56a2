//! Running a process and telling what it cost.

use std::fs::File;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use rustix::time::{ClockId, clock_gettime};
use wait4::Wait4 as _;

/// What a process cost.
#[derive(Clone, Copy, Debug, Default)]
pub struct Cost {
    pub wall: Duration,
    /// User and system time, that of children included.
    pub cpu: Duration,
    /// Largest resident set, in bytes.
    pub memory: u64,
    /// Largest anonymous memory seen (`RssAnon`, each 5 ms), in bytes.
    pub anonymous: u64,
}

/// A process that was measured to its end.
pub struct Measured {
    pub cost: Cost,
    pub code: i32,
    /// Anonymous memory each half second: time since the start, bytes.
    pub series: Vec<(Duration, u64)>,
}

/// Runs a command that must succeed, its output thrown away.
pub fn run(command: &mut Command, stdin: Option<&Path>) -> Cost {
    let measured = run_to_end(command, stdin);
    assert!(measured.code == 0, "{command:?} failed with exit code {}", measured.code);
    measured.cost
}

/// Runs a command to its end, its output thrown away.
pub fn run_to_end(command: &mut Command, stdin: Option<&Path>) -> Measured {
    let input =
        stdin.map_or_else(Stdio::null, |path| File::open(path).expect("input opens").into());
    command.stdin(input).stdout(Stdio::null()).stderr(Stdio::null());
    follow(command)
}

/// Runs a command to its end, what it writes to standard error kept in a file.
pub fn run_logged(command: &mut Command, log: &Path) -> Measured {
    let file = File::create(log).expect("log is made");
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(file);
    follow(command)
}

fn follow(command: &mut Command) -> Measured {
    let start = Instant::now();
    let mut child = command.spawn().expect("the process starts");
    let watched = watch_memory(child.id(), start);
    let used = child.wait4().expect("the process ends");
    let wall = start.elapsed();
    let watched = watched.join().expect("the watch ends");
    Measured {
        cost: Cost {
            wall,
            cpu: used.rusage.utime + used.rusage.stime,
            memory: watched.resident,
            anonymous: watched.anonymous,
        },
        code: used.status.code().unwrap_or(-1),
        series: watched.series,
    }
}

/// What a part of this process costs. Memory is what came on top of what was there before.
pub fn within(work: impl FnOnce()) -> Cost {
    let ended = AtomicBool::new(false);
    let status = || std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let look = || ["RssAnon:", "VmRSS:"].map(|name| bytes(&status(), name).unwrap_or(0));
    let before = look();
    std::thread::scope(|scope| {
        let watch = scope.spawn(|| {
            let mut peak = before;
            while !ended.load(Ordering::Relaxed) {
                let now = look();
                peak = [peak[0].max(now[0]), peak[1].max(now[1])];
                std::thread::sleep(Duration::from_millis(5));
            }
            peak
        });
        let (start, used) = (Instant::now(), process_time());
        work();
        let (wall, cpu) = (start.elapsed(), process_time().saturating_sub(used));
        ended.store(true, Ordering::Relaxed);
        let [anonymous, memory] = watch.join().expect("the watch ends");
        Cost { wall, cpu, memory: memory - before[1], anonymous: anonymous - before[0] }
    })
}

/// User and system time of this process.
fn process_time() -> Duration {
    clock(ClockId::ProcessCPUTime)
}

/// User and system time of this thread.
pub fn thread_time() -> Duration {
    clock(ClockId::ThreadCPUTime)
}

fn clock(of: ClockId) -> Duration {
    Duration::try_from(clock_gettime(of)).expect("a time that was used")
}

/// Peaks of a process, and its memory over time.
#[derive(Default)]
struct Watched {
    resident: u64,
    anonymous: u64,
    series: Vec<(Duration, u64)>,
}

/// Follows a process to its end. (The resident set that `wait4` tells counts the parent's
/// pages before exec.)
fn watch_memory(process: u32, start: Instant) -> JoinHandle<Watched> {
    std::thread::spawn(move || {
        let mut watched = Watched::default();
        let mut next = Duration::ZERO;
        while let Ok(status) = std::fs::read_to_string(format!("/proc/{process}/status")) {
            let Some(resident) = bytes(&status, "VmHWM:") else { break };
            if !status.starts_with("Name:\tbench") {
                let anonymous = bytes(&status, "RssAnon:").unwrap_or(0);
                watched.resident = watched.resident.max(resident);
                watched.anonymous = watched.anonymous.max(anonymous);
                let now = start.elapsed();
                if now >= next {
                    watched.series.push((now, anonymous));
                    next = now + Duration::from_millis(500);
                }
            }
            std::thread::sleep(Duration::from_millis(5));
        }
        watched
    })
}

/// A size in `/proc/PID/status`.
fn bytes(status: &str, name: &str) -> Option<u64> {
    let line = status.lines().find_map(|line| line.strip_prefix(name))?;
    line.trim().trim_end_matches(" kB").parse::<u64>().ok().map(|kilobytes| kilobytes * 1024)
}

/// The median of each figure.
pub fn median(costs: &[Cost]) -> Cost {
    Cost {
        wall: middle(costs.iter().map(|c| c.wall).collect()),
        cpu: middle(costs.iter().map(|c| c.cpu).collect()),
        memory: middle(costs.iter().map(|c| c.memory).collect()),
        anonymous: middle(costs.iter().map(|c| c.anonymous).collect()),
    }
}

/// The middle one of values in any order.
pub fn middle<T: Ord + Copy>(mut values: Vec<T>) -> T {
    values.sort_unstable();
    values[values.len() / 2]
}

/// Bytes as megabytes.
pub fn mb(bytes: u64) -> f64 {
    bytes as f64 / 1e6
}

/// Bytes of all files below a folder.
pub fn size(path: &Path) -> u64 {
    let Ok(entries) = std::fs::read_dir(path) else { return 0 };
    let each = entries.flatten().map(|entry| match entry.file_type() {
        Ok(kind) if kind.is_dir() => size(&entry.path()),
        _ => entry.metadata().map_or(0, |data| data.len()),
    });
    each.sum()
}

/// Git in a folder, without the machine's settings; gives standard output.
pub fn git(folder: &Path, arguments: &[&str]) -> Vec<u8> {
    let output = isolated(folder).args(arguments).output().expect("git starts");
    assert!(
        output.status.success(),
        "git {arguments:?}: {}",
        String::from_utf8_lossy(&output.stderr)
    );
    output.stdout
}

/// A call of Git without the machine's settings.
pub fn isolated(folder: &Path) -> Command {
    let mut command = Command::new("git");
    command
        .current_dir(folder)
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
        .env("GIT_CONFIG_NOSYSTEM", "1");
    command
}
