//! How long a test's own thread worked, whatever else the machine did meanwhile.

use std::fs;
use std::time::{Duration, Instant};

/// Runs `work`, and gives the time that the processor spent on it; where the system does not
/// tell that, the time that passed.
pub(crate) fn worked<T>(work: impl FnOnce() -> T) -> (T, Duration) {
    let (begun, before) = (Instant::now(), on_processor());
    let done = work();
    let took = match (before, on_processor()) {
        (Some(before), Some(after)) => after.saturating_sub(before),
        _ => begun.elapsed(),
    };
    (done, took)
}

/// Time of this thread on a processor (Linux, `/proc/thread-self/schedstat`).
fn on_processor() -> Option<Duration> {
    let text = fs::read_to_string("/proc/thread-self/schedstat").ok()?;
    text.split(' ').next()?.parse().ok().map(Duration::from_nanos)
}
