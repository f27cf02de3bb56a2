//! When a site says that a page was last changed.
//!
//! Owns the reading of such dates (the W3C profile of ISO 8601 that sitemaps ask for, what
//! is often written in its place, and the dates of feeds) and the one question that is
//! asked of them: was a text that was read then read after the change? A date is a hint. It
//! covers a span of time, a whole day or year where it says no more, and a text is trusted
//! only if it was read when that span was over everywhere on Earth. What lies in the
//! future or at the beginning of Unix time says nothing.

use std::fmt;

use crate::model::{Spread, Timestamp};

/// Seconds around the reading of a sitemap that count as the moment of it.
const FRESH: i64 = 3600;
/// Seconds from the end of a day in UTC to its end in the last time zone (UTC−12).
const LAST_ZONE: i64 = 12 * 3600;
const DAY: i64 = 24 * 3600;
/// The last moment of 1970-01-01 anywhere on Earth.
const EPOCH_IS_OVER: i64 = DAY + LAST_ZONE;

const MONTHS: [&str; 12] =
    ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"];
const WEEKDAYS: [&str; 7] = ["mon", "tue", "wed", "thu", "fri", "sat", "sun"];
/// The zones that RFC 822 knows by name.
const ZONES: [(&str, &str); 12] = [
    ("gmt", "Z"),
    ("utc", "Z"),
    ("ut", "Z"),
    ("z", "Z"),
    ("est", "-05:00"),
    ("edt", "-04:00"),
    ("cst", "-06:00"),
    ("cdt", "-05:00"),
    ("mst", "-07:00"),
    ("mdt", "-06:00"),
    ("pst", "-08:00"),
    ("pdt", "-07:00"),
];

/// How much a date says.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Form {
    Year,
    Month,
    Day,
    /// A time without zone.
    Local,
    Time,
}

/// A stated time of change: a date or a time. Its text is a W3C date, which reads back as
/// the same value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct LastMod {
    at: Timestamp,
    form: Form,
}

impl LastMod {
    /// Reads a W3C date (`2005`, `2005-01`, `2005-01-01`, `2005-01-01T18:00Z`, with seconds
    /// and fractions, which are cut off), leniently: a space for the `T`, small letters, a
    /// zone without colon or none, which means UTC. The dates of mail and RSS (RFC 822, with
    /// four digits of the year) are read as well.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let text = text.trim_matches([' ', '\t', '\n', '\r']);
        if !text.is_ascii() || text.len() > 64 {
            return None;
        }
        let (date, time) = text.split_at_checked(10).unwrap_or((text, ""));
        if !time.is_empty() {
            return date_time(date, time).or_else(|| mail_date(text));
        }
        let (form, rest) = match date.len() {
            4 => (Form::Year, "-01-01"),
            7 => (Form::Month, "-01"),
            10 => (Form::Day, ""),
            _ => return None,
        };
        Some(Self { at: instant(&format!("{date}{rest}"), "00:00:00", "Z")?, form })
    }

    /// The same, where it says something at `now`: nothing in the future, nothing of the
    /// first day of Unix time or before, which programs write that do not know.
    #[must_use]
    pub fn known(self, now: Timestamp) -> Option<Self> {
        (self.at <= now && self.at.unix() >= EPOCH_IS_OVER).then_some(self)
    }

    /// The first moment of what is stated, in UTC.
    #[must_use]
    pub fn start(self) -> Timestamp {
        self.at
    }

    /// Whether it is a time of day and not only a date.
    #[must_use]
    pub fn is_time(self) -> bool {
        matches!(self.form, Form::Time | Form::Local)
    }

    /// Whether both may be the same statement: one of them may say less than the other.
    #[must_use]
    pub fn agrees_with(self, other: Self) -> bool {
        let (one, two) = (self.to_string(), other.to_string());
        one.starts_with(&two) || two.starts_with(&one)
    }

    /// Whether a text that was read at `looked` holds the change, as far as this tells. A
    /// date counts as a whole: that day, month or year must be over, in every time zone.
    #[must_use]
    pub fn was_seen_at(self, looked: Timestamp) -> bool {
        let (at, looked) = (self.at.unix(), looked.unix());
        let end = match self.form {
            Form::Time => at,
            Form::Local => at + LAST_ZONE,
            Form::Day => at + DAY + LAST_ZONE,
            Form::Month => at + 31 * DAY + LAST_ZONE,
            Form::Year => at + 366 * DAY + LAST_ZONE,
        };
        looked >= end
    }
}

impl fmt::Display for LastMod {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = self.at.to_string();
        f.write_str(match self.form {
            Form::Year => &text[..4],
            Form::Month => &text[..7],
            Form::Day => &text[..10],
            Form::Local => &text[..19],
            Form::Time => &text,
        })
    }
}

/// The moment of three parts that are in the form of RFC 3339, if there is one.
fn instant(date: &str, time: &str, zone: &str) -> Option<Timestamp> {
    let shaped = |text: &str, shape: &str| {
        text.len() == shape.len()
            && text.bytes().zip(shape.bytes()).all(|(byte, want)| match want {
                b'0' => byte.is_ascii_digit(),
                want => byte == want,
            })
    };
    let zoned = zone == "Z"
        || zone
            .strip_prefix(['+', '-'])
            .is_some_and(|zone| shaped(zone, "00:00") && &zone[..2] < "24" && &zone[3..] < "60");
    if !(shaped(date, "0000-00-00") && shaped(time, "00:00:00") && zoned) {
        return None;
    }
    Timestamp::parse(&format!("{date}T{time}{zone}")).ok()
}

/// What follows a date: `T18:00:15.25+02:00` and its lenient forms.
fn date_time(date: &str, rest: &str) -> Option<LastMod> {
    let rest = rest.strip_prefix(['T', 't', ' '])?;
    let end = rest.find(|c: char| !(c.is_ascii_digit() || c == ':' || c == '.'));
    let (clock, zone) = rest.split_at(end.unwrap_or(rest.len()));
    let (clock, fraction) = clock.split_once('.').unwrap_or((clock, "0"));
    if fraction.is_empty() || !fraction.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    let form = if zone.is_empty() { Form::Local } else { Form::Time };
    let zone = match zone {
        "" | "z" => "Z".to_owned(),
        zone if zone.len() == 5 => format!("{}:{}", &zone[..3], &zone[3..]),
        zone => zone.to_owned(),
    };
    let clock = if clock.len() == 5 { format!("{clock}:00") } else { clock.to_owned() };
    Some(LastMod { at: instant(date, &clock, &zone)?, form })
}

/// `Thu, 23 Dec 2004 18:00:15 GMT` (RFC 822, section 5): the weekday may be missing and is
/// not compared with the date.
fn mail_date(text: &str) -> Option<LastMod> {
    let text = text.to_ascii_lowercase();
    let text = match text.split_once(',') {
        Some((day, rest)) => WEEKDAYS.contains(&day.trim()).then_some(rest)?,
        None => &text,
    };
    let mut words = text.split_ascii_whitespace();
    let (day, month, year) = (words.next()?, words.next()?, words.next()?);
    let (clock, zone) = (words.next()?, words.next()?);
    if words.next().is_some() || day.len() > 2 {
        return None;
    }
    let month = MONTHS.iter().position(|name| *name == month)? + 1;
    let named = ZONES.iter().find(|(name, _)| *name == zone).map(|(_, zone)| (*zone).to_owned());
    let zone = match named {
        Some(zone) => zone,
        None if zone.len() == 5 => format!("{}:{}", &zone[..3], &zone[3..]),
        None => return None,
    };
    let clock = if clock.len() == 5 { format!("{clock}:00") } else { clock.to_owned() };
    let date = format!("{year}-{month:02}-{day:0>2}");
    Some(LastMod { at: instant(&date, &clock, &zone)?, form: Form::Time })
}

/// What the dates of one sitemap have in common, gathered while its entries pass by.
#[derive(Clone, Copy, Debug)]
pub struct LastModSpread {
    now: Timestamp,
    entries: u64,
    /// Entries that state something.
    stating: u64,
    /// Those of them that state something that can be.
    possible: u64,
    /// Those of them that state a time shortly before the sitemap was read.
    fresh: u64,
    first: Option<LastMod>,
    differs: bool,
}

impl LastModSpread {
    /// Of a sitemap that is read at `now`.
    #[must_use]
    pub fn new(now: Timestamp) -> Self {
        Self { now, entries: 0, stating: 0, possible: 0, fresh: 0, first: None, differs: false }
    }

    /// Counts an entry in.
    pub fn see(&mut self, lastmod: Option<LastMod>) {
        if self.entries == 0 {
            self.first = lastmod;
        }
        self.differs |= lastmod.is_none() || lastmod != self.first;
        self.entries += 1;
        let Some(lastmod) = lastmod else { return };
        self.stating += 1;
        self.possible += u64::from(lastmod.known(self.now).is_some());
        let age = self.now.unix() - lastmod.start().unix();
        self.fresh += u64::from(lastmod.is_time() && (-FRESH..=FRESH).contains(&age));
    }

    /// What they have in common. Two entries at least are needed to tell.
    #[must_use]
    pub fn common(&self) -> Spread {
        match self {
            _ if self.stating == 0 => Spread::Silent,
            _ if self.possible == 0 && self.fresh == 0 => Spread::Impossible,
            _ if self.entries < 2 => Spread::Varied,
            _ if !self.differs => Spread::Equal,
            _ if self.fresh == self.entries => Spread::Now,
            _ => Spread::Varied,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::Timestamp;

    fn at(text: &str) -> Timestamp {
        Timestamp::parse(text).unwrap()
    }

    fn lastmod(text: &str) -> LastMod {
        LastMod::parse(text).unwrap_or_else(|| panic!("{text} was not read"))
    }

    #[test]
    fn every_form_is_written_so_that_it_reads_back() {
        for (text, written) in [
            ("2005", "2005"),
            ("2005-02", "2005-02"),
            ("2005-02-03", "2005-02-03"),
            ("2005-02-03T04:05", "2005-02-03T04:05:00"),
            ("2005-02-03 04:05:06.7", "2005-02-03T04:05:06"),
            ("2005-02-03T04:05:06+02:00", "2005-02-03T02:05:06Z"),
            ("2005-02-03t04:05-0230", "2005-02-03T06:35:00Z"),
            ("Thu, 3 Feb 2005 04:05:06 EST", "2005-02-03T09:05:06Z"),
            ("3 feb 2005 04:05 +0100", "2005-02-03T03:05:00Z"),
        ] {
            assert_eq!(lastmod(text).to_string(), written);
            assert_eq!(lastmod(written), lastmod(text), "{text}");
        }
    }

    #[test]
    fn other_texts_are_no_dates() {
        for text in [
            "2005-1-1",
            "2005/01/01",
            "2005-01-01T",
            "2005-01-01T4:05Z",
            "2005-01-01T04Z",
            "2005-01-01T04:05:06.Z",
            "2005-01-01T04:05:06.1.2Z",
            "2005-01-01T04:05:06 Z",
            "2005-01-01T04:05:06+24:00",
            "2005-01-01T04:05:06+01:60",
            "2005-01-01T04:05:06+1",
            "2024-05-08 08:53:11 AM",
            "2015-10-08T07:18:53.8Z 2015-06-15T15:33:55Z",
            "Foo, 3 Feb 2005 04:05:06 GMT",
            "Thu, 3 Feb 05 04:05:06 GMT",
            "Thu, 33 Feb 2005 04:05:06 GMT",
            "Thu, 3 Feb 2005 04:05:06",
            "2005-01-0é",
        ] {
            assert_eq!(LastMod::parse(text), None, "{text}");
        }
    }

    #[test]
    fn a_date_is_over_when_it_is_over_everywhere() {
        for (text, looked, seen) in [
            ("2026-03-10T12:00:00Z", "2026-03-10T11:59:59Z", false),
            ("2026-03-10T12:00:00Z", "2026-03-10T12:00:00Z", true),
            ("2026-03-10T12:00:00", "2026-03-10T23:59:59Z", false),
            ("2026-03-10T12:00:00", "2026-03-11T00:00:00Z", true),
            ("2026-03-10", "2026-03-10T23:59:59Z", false),
            ("2026-03-10", "2026-03-11T11:59:59Z", false),
            ("2026-03-10", "2026-03-11T12:00:00Z", true),
            ("2026-03", "2026-03-31T12:00:00Z", false),
            ("2026-03", "2026-04-01T12:00:00Z", true),
            ("2026", "2026-12-31T12:00:00Z", false),
            ("2026", "2027-01-02T12:00:00Z", true),
        ] {
            assert_eq!(lastmod(text).was_seen_at(at(looked)), seen, "{text} at {looked}");
        }
    }

    #[test]
    fn the_future_and_the_beginning_of_time_say_nothing() {
        let now = at("2026-11-30T02:00:00Z");
        for (text, known) in [
            ("2026-11-30", true),
            ("2026-11-30T02:00:00Z", true),
            ("2026-11-30T02:00:01Z", false),
            ("2099-01-01", false),
            ("1970", false),
            ("1970-01-01", false),
            ("1970-01-01T12:00:00+12:00", false),
            ("1969-12-31", false),
            ("1994-07-01", true),
        ] {
            assert_eq!(lastmod(text).known(now).is_some(), known, "{text}");
        }
    }

    fn spread(texts: &[&str]) -> Spread {
        let mut spread = LastModSpread::new(at("2026-11-30T02:00:00Z"));
        for text in texts {
            spread.see(LastMod::parse(text));
        }
        spread.common()
    }

    #[test]
    fn one_date_for_all_entries_is_the_date_of_the_file() {
        assert_eq!(spread(&["2026-01-01", "2026-01-01", "2026-01-01"]), Spread::Equal);
        for texts in [
            &["2026-01-01"][..],
            &["2026-01-01", "2026-01-02"],
            &["2026-01-01", "", "2026-01-01"],
            &["", "2026-01-01", "2026-01-01"],
            &["2026-01-01", "2026-01-01T00:00:00Z"],
        ] {
            assert_eq!(spread(texts), Spread::Varied, "{texts:?}");
        }
        assert_eq!((spread(&[]), spread(&["", ""])), (Spread::Silent, Spread::Silent));
    }

    #[test]
    fn the_moment_of_reading_is_no_date_of_a_change() {
        let (one, two) = ("2026-11-30T01:59:58Z", "2026-11-30T01:59:59Z");
        assert_eq!(spread(&[one, two]), Spread::Now);
        // A clock that is a little ahead of ours.
        assert_eq!(spread(&["2026-11-30T02:00:01Z", "2026-11-30T02:00:02Z"]), Spread::Now);
        assert_eq!(spread(&[one, two, "2026-11-29T01:00:00Z"]), Spread::Varied);
        assert_eq!(spread(&[one, two, ""]), Spread::Varied);
        assert_eq!(spread(&[one]), Spread::Varied, "a site of one page that was just edited");
    }

    #[test]
    fn dates_that_cannot_be_are_none() {
        assert_eq!(spread(&["2099-01-01", "2099-01-02"]), Spread::Impossible);
        assert_eq!(spread(&["1970-01-01"]), Spread::Impossible);
        assert_eq!(spread(&["2099-01-01", "2026-01-02"]), Spread::Varied);
    }
}
