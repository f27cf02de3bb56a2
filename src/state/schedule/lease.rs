//! Leases: which process has a request to a host under way.
//!
//! A process is its number and, where the system has `/proc`, the time at which it began, so
//! that another one that got the same number later is not taken for it.

use std::fs;

use crate::politeness::Millis;

/// Whether a request to a host is under way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lease {
    /// None is.
    Free,
    /// One is.
    Held,
    /// One was, and its process is gone or has had more time than a request takes.
    Left,
}

/// Who has it, and until when at the latest.
pub(super) type SavedLease = (Option<String>, Option<Millis>);

/// This process.
pub(super) fn own() -> String {
    let number = std::process::id();
    match started(number) {
        Some(start) => format!("{number}:{start}"),
        None => number.to_string(),
    }
}

/// What a saved lease means now, for the process `own`.
pub(super) fn of((holder, until): &SavedLease, own: &str, now: Millis) -> Lease {
    let Some(holder) = holder else { return Lease::Free };
    let in_time = until.is_some_and(|until| now < until);
    if in_time && (holder == own || is_alive(holder)) { Lease::Held } else { Lease::Left }
}

/// Whether the process is still there; where that cannot be known, it is taken to be.
fn is_alive(holder: &str) -> bool {
    let Some((number, start)) = holder.split_once(':') else { return true };
    number.parse().ok().and_then(started).is_some_and(|found| found == start)
}

/// When a process began, in the words of the system; `None` where it has ended, or nobody
/// knows.
fn started(number: u32) -> Option<String> {
    let text = fs::read_to_string(format!("/proc/{number}/stat")).ok()?;
    // The name, which may hold anything, stands in parentheses before all that counts.
    let (_, fields) = text.rsplit_once(')')?;
    let mut fields = fields.split_whitespace();
    let state = fields.next()?;
    // The 22nd field of all; the state was the third.
    let start = fields.nth(18)?;
    (!matches!(state, "Z" | "X")).then(|| start.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lease(holder: &str, until: Millis) -> Lease {
        of(&(Some(holder.to_owned()), Some(until)), &own(), 1000)
    }

    #[test]
    fn a_lease_ends_with_its_time_or_its_process() {
        assert_eq!(of(&(None, None), &own(), 1000), Lease::Free);
        assert_eq!(lease(&own(), 1001), Lease::Held);
        assert_eq!(lease(&own(), 1000), Lease::Left);
        // Who cannot be looked for is waited for.
        assert_eq!(lease("1234567", 1001), Lease::Held);
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn another_process_of_the_same_number_is_another_process() {
        let own = own();
        let (number, start) = own.split_once(':').unwrap();
        assert_eq!(lease(&format!("{number}:1{start}"), 1001), Lease::Left);
        assert_eq!(lease("4194999:5", 1001), Lease::Left);
        assert_eq!(lease("none:5", 1001), Lease::Left);
    }
}
