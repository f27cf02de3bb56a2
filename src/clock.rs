//! The only place that asks what time it is.
//!
//! Wall time (stamps, what is due) can be set to begin at a given time, from which it runs
//! on. Waits use the monotonic clock and are always real. Lock files are compared with the
//! machine's own time, which cannot be set.

use std::time::{Instant, SystemTime};

use crate::model::Timestamp;

/// Wall time and monotonic time of one command.
#[derive(Clone, Copy, Debug)]
pub struct Clock {
    begun: Instant,
    begun_at: i64,
}

impl Clock {
    /// The machine's time.
    #[must_use]
    pub fn system() -> Self {
        let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
        Self { begun: Instant::now(), begun_at: since.as_secs().cast_signed() }
    }

    /// A clock that shows `start` now and runs on from there.
    #[must_use]
    pub fn starting_at(start: Timestamp) -> Self {
        Self { begun: Instant::now(), begun_at: start.unix() }
    }

    /// Wall time.
    #[must_use]
    pub fn now(&self) -> Timestamp {
        let seconds = self.begun_at.saturating_add(self.begun.elapsed().as_secs().cast_signed());
        // Out of range only for a machine whose clock is in another millennium.
        Timestamp::from_unix(seconds).unwrap_or(Timestamp::EPOCH)
    }

    /// Monotonic time, for waits and budgets.
    #[must_use]
    pub fn monotonic(&self) -> Instant {
        Instant::now()
    }

    /// The machine's wall time, whatever this clock was set to.
    #[must_use]
    pub fn machine(&self) -> SystemTime {
        SystemTime::now()
    }
}

/// Tests that hold work to the time of the processor, whatever else the machine does.
#[cfg(test)]
pub(crate) mod tests {
    use std::fs;
    use std::time::{Duration, Instant};

    /// Runs `work`, and gives the time that the processor spent on it; where the system does
    /// not tell that, the time that passed.
    pub fn worked<T>(work: impl FnOnce() -> T) -> (T, Duration) {
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
}
