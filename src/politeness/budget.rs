//! The time that a run may take.

use std::time::Duration;

use super::schedule::{Millis, millis};

/// When a run makes its last request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Budget {
    end: Millis,
}

impl Budget {
    /// The budget of a run that began at `begun`; without a length it never ends.
    #[must_use]
    pub fn new(begun: Millis, length: Option<Duration>) -> Self {
        Self { end: length.map_or(Millis::MAX, |length| begun.saturating_add(millis(length))) }
    }

    /// Whether a request that first waits that long still begins in time.
    #[must_use]
    pub fn allows(&self, now: Millis, wait: Duration) -> bool {
        now.saturating_add(millis(wait)) < self.end
    }

    /// What is left of it.
    #[must_use]
    pub fn left(&self, now: Millis) -> Duration {
        Duration::from_millis(u64::try_from(self.end.saturating_sub(now)).unwrap_or(0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_request_begins_before_the_end() {
        let budget = Budget::new(1000, Some(Duration::from_secs(5)));
        assert!(budget.allows(1000, Duration::from_millis(4999)));
        assert!(!budget.allows(1000, Duration::from_secs(5)));
        assert!(!budget.allows(7000, Duration::ZERO));
        assert_eq!(budget.left(5500), Duration::from_millis(500));
        assert_eq!(budget.left(7000), Duration::ZERO);
        assert!(!budget.allows(1000, Duration::MAX));
    }

    #[test]
    fn without_a_length_it_never_ends() {
        assert!(Budget::new(1000, None).allows(i64::MAX - 1, Duration::ZERO));
        assert!(Budget::new(1000, Some(Duration::MAX)).allows(9000, Duration::ZERO));
    }
}
