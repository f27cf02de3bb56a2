//! What requests to several hosts, or of several kinds, share: the limits of policies.
//!
//! A gate is a limit and the requests that passed it lately, which others load and save: all
//! processes on one archive share them. A request needs the turn of its host and the way
//! through each gate that its kind belongs to.

use std::time::Duration;

use super::schedule::{MILLIS_PER_SECOND, Millis, Reply, duration, millis};
use crate::model::{Limit, LimitScope, PolicyName, SourceId};

/// A request that passed a gate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Passage {
    /// When it began.
    pub started_at: Millis,
    /// When it ended; `None` where it is under way.
    pub ended_at: Option<Millis>,
    /// Until when nothing passes because of it.
    pub hold_until: Millis,
    /// Whether it asked for something new: no retry, and no redirect of another.
    pub fresh: bool,
}

/// Whether a request may pass.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Way {
    /// Now.
    Open,
    /// After that time, if nothing happens until then.
    Wait(Duration),
    /// After a request that is under way.
    Busy,
    /// After that time: its quota is used up.
    Full(Duration),
}

/// A limit of a policy.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Gate {
    /// Under which name its passages are kept: those with one name share the limit.
    pub name: String,
    limit: Limit,
}

impl Gate {
    /// The gate that requests of a source to a host pass.
    #[must_use]
    pub fn new(policy: &PolicyName, limit: &Limit, (host, source): (&str, &SourceId)) -> Self {
        let own = format!("{policy}/{}", limit.name);
        let name = match limit.scope {
            LimitScope::All => own,
            LimitScope::Host => format!("{own}, host {host}"),
            LimitScope::Source => format!("{own}, source {source}"),
        };
        Self { name, limit: limit.clone() }
    }

    /// Whether a request may begin now, after those that passed.
    #[must_use]
    pub fn way(&self, passages: &[Passage], fresh: bool, now: Millis) -> Way {
        let limit = &self.limit;
        let quota = limit.quota.filter(|_| fresh);
        let full = quota.map_or(now, |quota| {
            let things = passages.iter().filter(|passage| passage.fresh);
            free_at(things, quota.most, millis(quota.window), now)
        });
        if full > now {
            return Way::Full(duration(full.saturating_sub(now)));
        }
        let under_way = passages.iter().filter(|passage| passage.ended_at.is_none()).count();
        if limit.at_once.is_some_and(|most| under_way >= most as usize) {
            return Way::Busy;
        }
        // A clock that was set back since lengthens no pause.
        let longest = now.saturating_add(millis(self.longest_hold()));
        let held = passages.iter().map(|passage| passage.hold_until.min(longest)).max();
        let second =
            limit.per_second.map(|most| free_at(passages.iter(), most, MILLIS_PER_SECOND, now));
        let at = held.unwrap_or(now).max(second.unwrap_or(now));
        if at > now { Way::Wait(duration(at.saturating_sub(now))) } else { Way::Open }
    }

    /// Until when nothing passes after a request.
    #[must_use]
    pub fn hold_until(&self, (started, ended): (Millis, Millis), reply: Option<Reply>) -> Millis {
        let failed = matches!(reply, Some(Reply::Status(500..=599)));
        let took = ended.saturating_sub(started);
        let slow = self.limit.slow.filter(|slow| took > millis(slow.longest));
        let pause = self
            .limit
            .gap
            .max(if failed { self.limit.after_error } else { Duration::ZERO })
            .max(slow.map(|slow| slow.pause).unwrap_or_default());
        ended.saturating_add(millis(pause))
    }

    /// For how long a request counts after its end.
    #[must_use]
    pub fn memory(&self) -> Duration {
        let second = self.limit.per_second.map(|_| Duration::from_secs(1)).unwrap_or_default();
        let window = self.limit.quota.map(|quota| quota.window).unwrap_or_default();
        second.max(window).max(self.longest_hold())
    }

    /// Most bits that one request may bring in a second: its share, so that all that may be
    /// under way together stay within the limit, over whatever time it is measured.
    #[must_use]
    pub fn share(&self) -> Option<u64> {
        let at_once = self.limit.at_once.unwrap_or(1);
        self.limit.bits_per_second.map(|bits| bits / u64::from(at_once.max(1)))
    }

    fn longest_hold(&self) -> Duration {
        let slow = self.limit.slow.map(|slow| slow.pause).unwrap_or_default();
        self.limit.gap.max(self.limit.after_error).max(slow)
    }
}

/// When one more may begin, so that no window has more than `most` starts.
fn free_at<'p>(
    passages: impl Iterator<Item = &'p Passage>,
    most: u32,
    window: Millis,
    now: Millis,
) -> Millis {
    let mut starts: Vec<Millis> = passages.map(|passage| passage.started_at.min(now)).collect();
    starts.sort_unstable();
    let last = starts.len().checked_sub(most as usize).and_then(|at| starts.get(at));
    last.map_or(now, |start| start.saturating_add(window))
}

#[cfg(test)]
mod tests;
