//! Whether a request may be made, and when.
//!
//! Owns the rules of conduct: what robots.txt allows ([`Robots`]), how long a host is left
//! alone between two requests ([`Host`]), the limits of policies that several hosts or kinds
//! of requests share ([`Gate`]) and the time that a run may take ([`Budget`]). It opens no
//! connection, reads no file, keeps no thread and has no clock: time comes in with each
//! call, and what must outlive a process is plain data that others load and save.
//!
//! Guarantees:
//!
//! * Nothing is allowed before robots.txt of its origin was read, or answered that there is
//!   none; what cannot be read forbids.
//! * From the end of one request to a host to the start of the next passes at least the
//!   longest of pace, Crawl-delay, back-off and Retry-After, also across processes that load
//!   and save the host's state, and never less because a clock was set.
//! * No input of a host, however hostile, panics, takes more than time in proportion to its
//!   size, or makes a wait shorter than the configured one.

mod budget;
mod gate;
#[cfg(test)]
mod promises;
mod retry_after;
mod robots;
mod schedule;

pub use budget::Budget;
pub use gate::{Gate, Passage, Way};
pub use retry_after::{http_date, retry_after};
pub use robots::{Access, Answer, Ground, Robots, Standing, Verdict, looks_like_html};
pub use schedule::{
    CrawlDelay, Ended, Host, HostState, Millis, Next, Parked, Reason, Reply, Terms, Turn,
};

/// A policy that is shipped.
#[cfg(test)]
pub(crate) fn shipped(name: &str) -> crate::model::Policy {
    let policies = crate::config::shipped_policies().unwrap_or_else(|error| panic!("{error:?}"));
    policies.into_iter().find(|policy| policy.name.as_str() == name).unwrap()
}
