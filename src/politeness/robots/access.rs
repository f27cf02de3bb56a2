//! What an attempt to read robots.txt means for its origin.

use std::time::Duration;

use super::Robots;
use crate::model::Policy;

/// How asking for a robots.txt ended, after its redirects and retries.
///
/// The rules found behind redirects belong to the origin that was asked first (RFC 9309,
/// section 2.3.1.2), and to no other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Answer<'a> {
    /// A whole response: its status, and its body without content coding. Of a body over
    /// 500 KiB the beginning is enough.
    Response(u16, &'a [u8]),
    /// No response that can be used, and why: time-out, no address, no connection, a body
    /// that is cut off or cannot be decoded, too many redirects or a loop of them.
    Unreadable(&'a str),
}

/// In what state a robots.txt is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Standing {
    /// It was read.
    Read,
    /// There is none: everything may be read.
    Absent,
    /// It could not be read: nothing may be read, and nothing is concluded from that.
    Unreachable,
}

/// The rules of an origin, and for how long they hold.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Access {
    /// The rules.
    pub robots: Robots,
    /// Where they come from.
    pub standing: Standing,
    /// How long they hold from the time at which they were read; `None` is until the run
    /// ends.
    pub life: Option<Duration>,
}

impl Access {
    /// What an answer means (RFC 9309, section 2.3.1): 2xx is parsed, 4xx means that there
    /// are no rules, all else that the file is unreachable and everything forbidden.
    ///
    /// Stricter than the RFC in three points: 429 is unreachable, since it says "not now"
    /// and not "no such file"; so is a chain of too many redirects; and an unreachable file
    /// forbids for as long as it is unreachable, not for thirty days only. All policies map
    /// alike; they differ in when they ask again.
    #[must_use]
    pub fn from_response(answer: &Answer<'_>, product_token: &str, policy: &Policy) -> Self {
        match *answer {
            // A part of a file that nobody asked for in parts is a file cut off.
            Answer::Response(206, _) => Self::unreachable("only a part of it was sent", policy),
            Answer::Response(200..=299, body) => {
                let robots = Robots::parse(body, product_token);
                Self { robots, standing: Standing::Read, life: Some(policy.robots_max_age) }
            }
            Answer::Response(status @ 400..=499, _) if status != 429 => Self {
                robots: Robots::allow_all(),
                standing: Standing::Absent,
                life: Some(policy.robots_max_age),
            },
            Answer::Response(status, _) => Self::unreachable(&format!("status {status}"), policy),
            Answer::Unreadable(why) => Self::unreachable(why, policy),
        }
    }

    fn unreachable(why: &str, policy: &Policy) -> Self {
        Self {
            robots: Robots::forbid_all(why),
            standing: Standing::Unreachable,
            life: policy.robots_retry,
        }
    }

    /// Whether the file must be read again, that long after it was.
    #[must_use]
    pub fn is_stale(&self, age: Duration) -> bool {
        self.life.is_some_and(|life| age >= life)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::politeness::shipped;

    const FILE: &[u8] = b"User-agent: *\nDisallow: /private/\n";

    fn access(answer: Answer<'_>) -> Access {
        Access::from_response(&answer, "ExampleBot", &shipped("standard"))
    }

    #[test]
    fn answers_and_what_they_mean() {
        for (answer, standing) in [
            (Answer::Response(200, FILE), Standing::Read),
            (Answer::Response(204, b""), Standing::Read),
            (Answer::Response(206, FILE), Standing::Unreachable),
            (Answer::Response(301, FILE), Standing::Unreachable),
            (Answer::Response(304, FILE), Standing::Unreachable),
            (Answer::Response(400, FILE), Standing::Absent),
            (Answer::Response(401, FILE), Standing::Absent),
            (Answer::Response(403, FILE), Standing::Absent),
            (Answer::Response(404, FILE), Standing::Absent),
            (Answer::Response(410, FILE), Standing::Absent),
            (Answer::Response(429, FILE), Standing::Unreachable),
            (Answer::Response(451, FILE), Standing::Absent),
            (Answer::Response(500, FILE), Standing::Unreachable),
            (Answer::Response(503, b""), Standing::Unreachable),
            (Answer::Response(599, b""), Standing::Unreachable),
            (Answer::Response(999, b""), Standing::Unreachable),
            (Answer::Response(0, b""), Standing::Unreachable),
            (Answer::Unreadable("no answer in 30 s"), Standing::Unreachable),
        ] {
            let access = access(answer);
            assert_eq!(access.standing, standing, "{answer:?}");
            let allowed = |path| access.robots.allows(path).allowed;
            assert_eq!(allowed("/guide"), standing != Standing::Unreachable, "{answer:?}");
            assert!(allowed("/robots.txt"), "{answer:?}");
            let private = standing == Standing::Absent || answer == Answer::Response(204, b"");
            assert_eq!(allowed("/private/x"), private, "{answer:?}");
        }
    }

    #[test]
    fn what_could_not_be_read_is_asked_for_again_sooner() {
        let failed = access(Answer::Response(503, b""));
        assert!(!failed.is_stale(Duration::from_secs(299)));
        assert!(failed.is_stale(Duration::from_mins(5)));
        assert_eq!(failed.robots.unreachable(), Some("status 503"));
        let read = access(Answer::Response(200, FILE));
        assert!(!read.is_stale(Duration::from_secs(3599)));
        assert!(read.is_stale(Duration::from_hours(1)));
        assert_eq!(read.robots.unreachable(), None);
    }

    #[test]
    fn bounded_leaves_an_unreachable_site_out_of_the_run() {
        let policy = shipped("bounded");
        let access = Access::from_response(&Answer::Unreadable("reset"), "ExampleBot", &policy);
        assert!(!access.is_stale(Duration::from_secs(1_000_000)));
        assert!(!access.robots.allows("/").allowed);
    }
}
