//! Time in whole milliseconds, as the politeness file keeps it.

use std::time::{Duration, Instant, SystemTime};

use crate::clock::Clock;
use crate::model::Timestamp;
use crate::politeness::Millis;

const NANOS: i128 = 1_000_000;

/// The clock of the machine, read once, and run on from there by its monotonic clock.
#[derive(Clone, Copy, Debug)]
pub(super) struct Ticks {
    clock: Clock,
    begun: Instant,
    /// Nanoseconds since 1970.
    begun_at: i128,
}

impl Ticks {
    pub fn new(clock: &Clock) -> Self {
        let begun_at = clock.machine().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
        Self { clock: *clock, begun: clock.monotonic(), begun_at: nanos(begun_at) }
    }

    fn now(&self) -> i128 {
        self.begun_at + nanos(self.clock.monotonic().saturating_duration_since(self.begun))
    }

    /// Now, for the start of a request.
    pub fn start(&self) -> Millis {
        Millis::try_from(self.now().div_euclid(NANOS)).unwrap_or(Millis::MAX)
    }

    /// Now, for the end of a request.
    pub fn end(&self) -> Millis {
        Millis::try_from((self.now() + NANOS - 1).div_euclid(NANOS)).unwrap_or(Millis::MAX)
    }

    /// How long it is until a point in time.
    pub fn until(&self, time: Millis) -> Duration {
        let left = (i128::from(time) * NANOS).saturating_sub(self.now());
        u64::try_from(left.max(0)).map_or(Duration::MAX, Duration::from_nanos)
    }

    /// Now by the clock of the machine, for dates that servers send.
    pub fn stamp(&self) -> Timestamp {
        Timestamp::from_unix(self.start().div_euclid(1000)).unwrap_or(Timestamp::EPOCH)
    }
}

fn nanos(time: Duration) -> i128 {
    i128::try_from(time.as_nanos()).unwrap_or(i128::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn starts_are_rounded_down_and_ends_up() {
        let ticks = Ticks::new(&Clock::system());
        let (start, end) = (ticks.start(), ticks.end());
        assert!(start < end, "{start} {end}");
        assert_eq!(ticks.until(start), Duration::ZERO);
        let ahead = ticks.until(start + 60_000);
        assert!(ahead <= Duration::from_mins(1), "{ahead:?}");
        assert_eq!(ticks.until(Millis::MAX).max(Duration::from_hours(1)), ticks.until(Millis::MAX));
    }
}
