//! Points in time as the archive writes them.

use std::fmt;

use chrono::{DateTime, SecondsFormat, Utc};

/// A point in time in UTC, whole seconds (RFC 3339, section 5.6, with `Z`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Timestamp(DateTime<Utc>);

/// A text that is not an RFC 3339 date and time.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is not a time; write it as 2026-11-30T02:00:00Z")]
pub struct InvalidTime(String);

impl Timestamp {
    /// 1970-01-01T00:00:00Z.
    pub const EPOCH: Self = Self(DateTime::UNIX_EPOCH);

    /// Reads an RFC 3339 time of any offset; fractions of a second are cut off.
    ///
    /// # Errors
    /// The text is not a time.
    pub fn parse(text: &str) -> Result<Self, InvalidTime> {
        let time = DateTime::parse_from_rfc3339(text).map_err(|_| InvalidTime(text.to_owned()))?;
        Self::from_unix(time.timestamp()).ok_or_else(|| InvalidTime(text.to_owned()))
    }

    /// Reads what a person gives on a command line: a time, or a date, which means the
    /// end of that day in UTC (`2026-11-30` includes every run of that day).
    ///
    /// # Errors
    /// The text is neither.
    pub fn parse_lenient(text: &str) -> Result<Self, InvalidTime> {
        Self::parse(text).or_else(|_| {
            Self::parse(&format!("{text}T23:59:59Z")).map_err(|_| InvalidTime(text.to_owned()))
        })
    }

    /// The time that many seconds after 1970-01-01T00:00:00Z; `None` outside of years 0 to
    /// 9999, which RFC 3339 cannot write.
    #[must_use]
    pub fn from_unix(seconds: i64) -> Option<Self> {
        let in_range = (-62_167_219_200..253_402_300_800).contains(&seconds);
        DateTime::from_timestamp(seconds, 0).filter(|_| in_range).map(Self)
    }

    /// Seconds since 1970-01-01T00:00:00Z.
    #[must_use]
    pub fn unix(self) -> i64 {
        self.0.timestamp()
    }

    /// The date in UTC as `YYYY-MM-DD`.
    #[must_use]
    pub fn date(self) -> String {
        self.0.format("%Y-%m-%d").to_string()
    }
}

impl fmt::Display for Timestamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0.to_rfc3339_opts(SecondsFormat::Secs, true))
    }
}
