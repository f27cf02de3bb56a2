//! A child process with a deadline that can be interrupted and never outgrows memory.

use std::io::{Read, Write as _};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::thread;
use std::time::Duration;

/// How often a waiting call looks whether it should stop.
const LOOK: Duration = Duration::from_millis(50);

/// The most that is kept of what a child says on standard error.
const STDERR_KEPT: usize = 64 * 1024;

/// A request to stop, shared by everything that waits.
#[derive(Clone, Debug, Default)]
pub struct Interrupt(Arc<AtomicBool>);

impl Interrupt {
    /// Asks everything that waits to stop.
    pub fn raise(&self) {
        self.0.store(true, Ordering::SeqCst);
    }

    /// Whether somebody asked to stop.
    #[must_use]
    pub fn is_raised(&self) -> bool {
        self.0.load(Ordering::SeqCst)
    }
}

/// A child that came to its end by itself.
#[derive(Debug)]
pub(super) struct Finished {
    pub success: bool,
    pub stdout: Vec<u8>,
    pub stderr: Vec<u8>,
}

impl Finished {
    /// Whether the child said that a disk of this machine is full. What the other side of
    /// a transfer says about its own does not count.
    pub fn tells_of_full_disk(&self) -> bool {
        // The last two are what Git says of a write that came to no byte, or not to its end.
        const FULL: [&str; 4] = [
            "No space left on device",
            "Disk quota exceeded",
            "Out of diskspace",
            "failed to write new configuration file",
        ];
        let text = String::from_utf8_lossy(&self.stderr);
        let mut own = text.split(['\n', '\r']).filter(|line| !line.starts_with("remote:"));
        own.any(|line| FULL.iter().any(|full| line.contains(full)))
    }

    /// What the child said, as one line for people, progress left out.
    pub fn message(&self) -> String {
        let text = String::from_utf8_lossy(&self.stderr);
        let lines: Vec<&str> = text
            .split(['\n', '\r'])
            .map(str::trim)
            .filter(|line| !line.is_empty() && !line.starts_with("remote: Enumerating"))
            .collect();
        let shown = lines.len().saturating_sub(4);
        lines[shown..].join("; ")
    }
}

/// Why a child gave no result.
#[derive(Debug)]
pub(super) enum ChildError {
    Start(std::io::Error),
    TimedOut,
    Interrupted,
}

/// Runs `command` to its end, handing it `input` where there is any.
pub(super) fn run(
    mut command: Command,
    input: Option<Vec<u8>>,
    (deadline, interrupt): (Duration, &Interrupt),
) -> Result<Finished, ChildError> {
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    if input.is_some() {
        command.stdin(Stdio::piped());
    }
    let mut child = command.spawn().map_err(ChildError::Start)?;
    if let Some((mut stdin, input)) = child.stdin.take().zip(input) {
        // A child that does not read to the end says why by how it ends.
        thread::spawn(move || stdin.write_all(&input));
    }
    let stdout = collect(child.stdout.take(), usize::MAX);
    let stderr = collect(child.stderr.take(), STDERR_KEPT);
    let mut looks = deadline.as_millis() / LOOK.as_millis();
    let mut wait = |stream| wait(stream, &mut looks, interrupt);
    let waited = wait(&stdout).and_then(|out| Ok((out, wait(&stderr)?)));
    match waited {
        Ok((stdout, stderr)) => {
            let success = child.wait().is_ok_and(|status| status.success());
            Ok(Finished { success, stdout, stderr })
        }
        Err(error) => {
            stop(&mut child);
            Err(error)
        }
    }
}

/// Reads a stream to its end on a thread of its own; keeps the last `kept` bytes.
fn collect<R: Read + Send + 'static>(stream: Option<R>, kept: usize) -> Receiver<Vec<u8>> {
    let (sender, receiver) = mpsc::channel();
    thread::spawn(move || {
        let mut all = Vec::new();
        let mut buffer = [0; 16 * 1024];
        if let Some(mut stream) = stream {
            while let Ok(n @ 1..) = stream.read(&mut buffer) {
                all.extend_from_slice(&buffer[..n]);
                if all.len() / 2 > kept {
                    all.drain(..all.len() - kept);
                }
            }
        }
        // The receiver is gone only when the child was given up.
        let _ = sender.send(all);
    });
    receiver
}

/// Waits for a stream to end, looking from time to time whether to go on; `looks` is how
/// often it may still do so.
fn wait(
    stream: &Receiver<Vec<u8>>,
    looks: &mut u128,
    interrupt: &Interrupt,
) -> Result<Vec<u8>, ChildError> {
    loop {
        match stream.recv_timeout(LOOK) {
            Ok(bytes) => return Ok(bytes),
            Err(RecvTimeoutError::Disconnected) => return Ok(Vec::new()),
            Err(RecvTimeoutError::Timeout) if interrupt.is_raised() => {
                return Err(ChildError::Interrupted);
            }
            Err(RecvTimeoutError::Timeout) if *looks == 0 => return Err(ChildError::TimedOut),
            Err(RecvTimeoutError::Timeout) => *looks -= 1,
        }
    }
}

/// Ends a child. Its helpers end by themselves when their pipes to it close.
fn stop(child: &mut Child) {
    // A child that has ended already cannot be ended again: nothing to do about that.
    let _ = child.kill();
    let _ = child.wait();
}
