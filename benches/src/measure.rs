//! Running a process and telling what it cost.

use std::fs::File;
use std::path::Path;
use std::process::{Command, Stdio};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use wait4::Wait4 as _;

/// What a process cost.
#[derive(Clone, Copy, Debug, Default)]
pub struct Cost {
    pub wall: Duration,
    pub cpu: Duration,
    /// Largest resident set, in bytes.
    pub memory: u64,
}

/// Runs a command that must succeed, its output thrown away.
pub fn run(command: &mut Command, stdin: Option<&Path>) -> Cost {
    let input =
        stdin.map_or_else(Stdio::null, |path| File::open(path).expect("input opens").into());
    command.stdin(input).stdout(Stdio::null()).stderr(Stdio::null());
    let start = Instant::now();
    let mut child = command.spawn().expect("the process starts");
    let watched = watch_memory(child.id());
    let used = child.wait4().expect("the process ends");
    let wall = start.elapsed();
    assert!(used.status.success(), "{command:?} failed");
    let memory = watched.join().expect("the watch ends");
    Cost { wall, cpu: used.rusage.utime + used.rusage.stime, memory }
}

/// Follows a process to its end; gives the largest resident set seen. (What `wait4` tells
/// counts the parent's pages before exec.)
fn watch_memory(process: u32) -> JoinHandle<u64> {
    std::thread::spawn(move || {
        let mut most = 0;
        while let Ok(status) = std::fs::read_to_string(format!("/proc/{process}/status")) {
            let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
            let Some(kilobytes) =
                line.and_then(|l| l.trim().trim_end_matches(" kB").parse::<u64>().ok())
            else {
                break;
            };
            if !status.starts_with("Name:\tbench") {
                most = most.max(kilobytes * 1024);
            }
            std::thread::sleep(Duration::from_millis(5));
        }
        most
    })
}

/// The median of each figure.
pub fn median(costs: &[Cost]) -> Cost {
    fn middle<T: Ord + Copy>(mut values: Vec<T>) -> T {
        values.sort_unstable();
        values[values.len() / 2]
    }
    Cost {
        wall: middle(costs.iter().map(|c| c.wall).collect()),
        cpu: middle(costs.iter().map(|c| c.cpu).collect()),
        memory: middle(costs.iter().map(|c| c.memory).collect()),
    }
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
