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
