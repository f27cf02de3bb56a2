//! What questions about the present are answered from.

use crate::config::Config;
use crate::model::{Source, Timestamp};
use crate::state::{Crawl, Schedule, State};

/// What questions about the present are answered from.
pub struct Basis<'a> {
    /// The configuration.
    pub config: &'a Config,
    /// What is remembered of pages and runs.
    pub state: Option<&'a State>,
    /// When each host may be asked again.
    pub schedule: Option<&'a Schedule>,
    /// The time at which a run would begin.
    pub now: Timestamp,
    /// The same by the clock of the machine, in milliseconds since 1970: hosts go by it.
    pub machine: i64,
    /// What a run knows about itself.
    pub run: RunRules,
}

/// What a run knows about itself: reports do not run anything.
#[derive(Clone, Copy)]
pub struct RunRules {
    /// Fingerprint of what decides the conversion of a site's pages.
    pub conversion: fn(&Source) -> Option<i64>,
    /// Whether a run that began now would go on with a crawl that was left.
    pub goes_on: fn(&Config, &Crawl, Timestamp) -> bool,
}

/// A time in milliseconds, as text.
pub(super) fn time(milliseconds: i64) -> String {
    let time = Timestamp::from_unix(milliseconds.div_euclid(1000));
    time.unwrap_or(Timestamp::EPOCH).to_string()
}
