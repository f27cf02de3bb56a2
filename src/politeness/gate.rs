//! What hosts share: limits over all of them together.

use std::collections::VecDeque;
use std::time::Duration;

use super::policy::Limits;
use super::schedule::{MILLIS_PER_SECOND, Millis, Turn, millis};

/// Requests under way and begun, against the limits of a policy. A request needs the turn
/// of its host and of each gate that it belongs to.
#[derive(Clone, Debug)]
pub struct Gate {
    limits: Limits,
    under_way: u32,
    /// Starts of the last second, oldest first.
    starts: VecDeque<Millis>,
    not_before: Millis,
    /// Until when the bits received so far are within the limit.
    received_until: Millis,
}

impl Gate {
    /// A gate through which nothing has gone yet.
    #[must_use]
    pub fn new(limits: Limits) -> Self {
        Self {
            limits,
            under_way: 0,
            starts: VecDeque::new(),
            not_before: Millis::MIN,
            received_until: Millis::MIN,
        }
    }

    /// Whether a request may begin now; [`Turn::Parked`] is never the answer.
    #[must_use]
    pub fn turn(&self, now: Millis) -> Turn {
        if self.limits.at_once.is_some_and(|most| self.under_way >= most) {
            return Turn::Busy;
        }
        let most = self.limits.per_second.map(|most| most as usize);
        let full = most.filter(|most| self.starts.len() >= *most);
        let oldest =
            full.and_then(|most| self.starts.get(self.starts.len().checked_sub(most.max(1))?));
        let room = oldest.map_or(Millis::MIN, |start| start.saturating_add(MILLIS_PER_SECOND));
        Turn::at(self.not_before.max(self.received_until).max(room), now)
    }

    /// Notes the start of a request; only after [`Gate::turn`] answered [`Turn::Now`].
    pub fn begin(&mut self, now: Millis) {
        self.under_way = self.under_way.saturating_add(1);
        while self
            .starts
            .front()
            .is_some_and(|start| now.saturating_sub(*start) >= MILLIS_PER_SECOND)
        {
            self.starts.pop_front();
        }
        if self.limits.per_second.is_some() {
            self.starts.push_back(now);
        }
    }

    /// Notes the end of a request that began at `started` and brought that many bytes.
    pub fn end(&mut self, now: Millis, started: Millis, bytes: u64) {
        self.under_way = self.under_way.saturating_sub(1);
        let mut wait_until = |wait: Duration| {
            self.not_before = self.not_before.max(now.saturating_add(millis(wait)));
        };
        wait_until(self.limits.min_gap);
        if let Some((longest, pause)) = self.limits.slow
            && now.saturating_sub(started) > millis(longest)
        {
            wait_until(pause);
        }
        if let Some(bits) = self.limits.bits_per_second {
            let took = bytes.saturating_mul(8 * 1000).div_ceil(bits.max(1));
            let took = Millis::try_from(took).unwrap_or(Millis::MAX);
            self.received_until = self.received_until.max(started).saturating_add(took);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::PolicyName;
    use crate::politeness::Policy;

    fn wait(gate: &Gate, now: Millis) -> Option<u64> {
        match gate.turn(now) {
            Turn::Now => Some(0),
            Turn::Wait(wait) => u64::try_from(wait.as_millis()).ok(),
            Turn::Busy | Turn::Parked => None,
        }
    }

    #[test]
    fn one_connection_over_all_hosts() {
        let mut gate = Gate::new(Policy::of(PolicyName::CourteousFeeds).overall);
        assert_eq!(wait(&gate, 1000), Some(0));
        gate.begin(1000);
        assert_eq!(wait(&gate, 9000), None);
        gate.end(9000, 1000, 5_000_000);
        assert_eq!(wait(&gate, 9000), Some(1500));
        assert_eq!(wait(&gate, 10_499), Some(1));
        assert_eq!(wait(&gate, 10_500), Some(0));
    }

    #[test]
    fn starts_within_any_second() {
        let mut gate = Gate::new(Limits { per_second: Some(4), ..Limits::NONE });
        for start in [0, 0, 400, 900] {
            assert_eq!(wait(&gate, start), Some(0));
            gate.begin(start);
        }
        assert_eq!(wait(&gate, 950), Some(50));
        gate.begin(1000);
        gate.begin(1000);
        assert_eq!(wait(&gate, 1000), Some(400));
        assert_eq!(wait(&gate, 1400), Some(0));
    }

    #[test]
    fn a_slow_answer_is_followed_by_a_pause() {
        let mut gate = Gate::new(Policy::of(PolicyName::Wikimedia).limits("action"));
        gate.begin(0);
        assert_eq!(wait(&gate, 10), None);
        gate.end(1001, 0, 10);
        assert_eq!(wait(&gate, 1001), Some(5000));
        gate.begin(6001);
        gate.end(7001, 6001, 10);
        assert_eq!(wait(&gate, 7001), Some(0));
    }

    #[test]
    fn bits_of_several_connections_add_up() {
        let mut gate = Gate::new(Policy::of(PolicyName::Wikimedia).limits("media"));
        gate.begin(0);
        gate.begin(0);
        assert_eq!(wait(&gate, 100), None);
        gate.end(200, 0, 6_250_000);
        gate.end(300, 0, 3_125_000);
        assert_eq!(wait(&gate, 300), Some(2700));
        assert_eq!(wait(&gate, 3000), Some(0));
        gate.begin(3000);
        gate.end(3001, 3000, u64::MAX);
        assert!(wait(&gate, 3001).is_some_and(|wait| wait > 1_000_000_000));
    }

    #[test]
    fn no_limits_hold_nothing_back() {
        let mut gate = Gate::new(Limits::NONE);
        (0..100).for_each(|_| gate.begin(5));
        assert_eq!(wait(&gate, 5), Some(0));
    }
}
