//! The Retry-After field, and the dates of HTTP.

use std::time::Duration;

use crate::model::Timestamp;

/// Longest time that is told apart; about 136 years, so that sums with it never overflow.
const LONGEST: u64 = u32::MAX as u64;

/// How long a response asks to be left alone (RFC 9110, section 10.2.3).
///
/// `values` are the values of its Retry-After fields, `date` that of its Date field, from
/// which a date is counted; `now` takes its place where the response has none. A date that
/// is past asks for no time at all. `None` where the field is missing or unusable, or where
/// two fields disagree: then the caller's own back-off holds, never less.
#[must_use]
pub fn retry_after(values: &[&str], date: Option<&str>, now: Timestamp) -> Option<Duration> {
    let mut values = values.iter().map(|value| trim(value));
    let value = values.next()?;
    if values.any(|other| other != value) {
        return None;
    }
    if !value.is_empty() && value.bytes().all(|b| b.is_ascii_digit()) {
        // More digits than a number can hold still ask for a very long time.
        let seconds = value.parse::<u64>().unwrap_or(LONGEST);
        return Some(Duration::from_secs(seconds.min(LONGEST)));
    }
    let until = http_date(value, now)?;
    let from = date.and_then(|date| http_date(date, now)).unwrap_or(now);
    let seconds = until.unix().checked_sub(from.unix())?;
    Some(Duration::from_secs(u64::try_from(seconds).unwrap_or(0).min(LONGEST)))
}

/// Optional white space around a field value is no part of it (RFC 9110, section 5.5).
fn trim(value: &str) -> &str {
    value.trim_matches([' ', '\t'])
}

const MONTHS: [&str; 12] =
    ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];
const DAYS: [&str; 7] = ["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"];
const LONG_DAYS: [&str; 7] =
    ["Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"];

/// Reads a date of HTTP in one of its three forms, letter by letter (RFC 9110, section
/// 5.6.7); nothing else is a date. The name of the day is not compared with the date.
///
/// `now` tells the century of the form that has two digits for the year: a date that would
/// be more than fifty years ahead is one of the past.
#[must_use]
pub fn http_date(text: &str, now: Timestamp) -> Option<Timestamp> {
    let text = trim(text);
    imf_fixdate(text).or_else(|| rfc850(text, now)).or_else(|| asctime(text))
}

/// `Sun, 06 Nov 1994 08:49:37 GMT`
fn imf_fixdate(text: &str) -> Option<Timestamp> {
    let (name, rest) = text.split_once(", ")?;
    let rest = rest.strip_suffix(" GMT")?;
    let [day, month, year, time] = fields(rest, ' ')?;
    DAYS.contains(&name).then_some(())?;
    timestamp([number(year, 4)?, self::month(month)?, number(day, 2)?], time)
}

/// `Sunday, 06-Nov-94 08:49:37 GMT`
fn rfc850(text: &str, now: Timestamp) -> Option<Timestamp> {
    let (name, rest) = text.split_once(", ")?;
    let (date, time) = rest.strip_suffix(" GMT")?.split_once(' ')?;
    let [day, month, year] = fields(date, '-')?;
    LONG_DAYS.contains(&name).then_some(())?;
    let this_year = number(now.date().get(..4)?, 4)?;
    let year = this_year - this_year % 100 + number(year, 2)?;
    let date = |year| timestamp([year, self::month(month)?, number(day, 2)?], time);
    // The last year that is at most fifty ahead and has these two digits.
    let ahead = |year: u32| year > this_year + 50;
    let later = year + 100;
    let year = if !ahead(later) {
        later
    } else if ahead(year) {
        year - 100
    } else {
        year
    };
    date(year)
}

/// `Sun Nov  6 08:49:37 1994`
fn asctime(text: &str) -> Option<Timestamp> {
    let (name, rest) = text.split_once(' ')?;
    let (month, rest) = rest.split_once(' ')?;
    let (day, rest) = rest.split_at_checked(2)?;
    let (time, year) = rest.strip_prefix(' ')?.split_once(' ')?;
    DAYS.contains(&name).then_some(())?;
    let day = match day.strip_prefix(' ') {
        Some(digit) => number(digit, 1)?,
        None => number(day, 2)?,
    };
    timestamp([number(year, 4)?, self::month(month)?, day], time)
}

/// Exactly `N` fields.
fn fields<const N: usize>(text: &str, separator: char) -> Option<[&str; N]> {
    let all: Vec<&str> = text.split(separator).collect();
    all.try_into().ok()
}

/// A number of exactly that many digits.
fn number(text: &str, digits: usize) -> Option<u32> {
    let plain = text.len() == digits && text.bytes().all(|b| b.is_ascii_digit());
    if plain { text.parse().ok() } else { None }
}

/// The number of a month, from 1.
fn month(name: &str) -> Option<u32> {
    let index = MONTHS.iter().position(|month| *month == name)?;
    u32::try_from(index + 1).ok()
}

/// The time of year, month and day, and `hh:mm:ss`.
fn timestamp([year, month, day]: [u32; 3], time: &str) -> Option<Timestamp> {
    Timestamp::parse(&format!("{year:04}-{month:02}-{day:02}T{time}Z"))
        .ok()
        .filter(|_| time.len() == "hh:mm:ss".len())
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: &str = "2026-11-30T12:00:00Z";

    fn now() -> Timestamp {
        Timestamp::parse(NOW).unwrap()
    }

    fn seconds(values: &[&str]) -> Option<u64> {
        retry_after(values, None, now()).map(|wait| wait.as_secs())
    }

    #[test]
    fn numbers_of_seconds() {
        for (value, want) in [
            ("0", Some(0)),
            ("120", Some(120)),
            (" 3\t", Some(3)),
            ("007", Some(7)),
            ("4294967295", Some(LONGEST)),
            ("4294967296", Some(LONGEST)),
            ("18446744073709551616", Some(LONGEST)),
            ("99999999999999999999999999", Some(LONGEST)),
            ("", None),
            ("-1", None),
            ("+1", None),
            ("1.5", None),
            ("1e3", None),
            ("1 2", None),
            ("3s", None),
            ("soon", None),
            ("0x10", None),
            ("\u{664}", None),
            ("120, 120", None),
        ] {
            assert_eq!(seconds(&[value]), want, "{value:?}");
        }
    }

    #[test]
    fn dates_in_three_forms() {
        for (value, want) in [
            ("Mon, 30 Nov 2026 12:00:30 GMT", Some(30)),
            ("Monday, 30-Nov-26 12:01:00 GMT", Some(60)),
            ("Mon Nov 30 12:02:00 2026", Some(120)),
            ("Tue Dec  1 12:00:00 2026", Some(86_400)),
            ("Sun, 30 Nov 2026 12:00:30 GMT", Some(30)),
            ("Mon, 30 Nov 2026 11:59:59 GMT", Some(0)),
            ("Sun, 06 Nov 1994 08:49:37 GMT", Some(0)),
            ("Sunday, 06-Nov-94 08:49:37 GMT", Some(0)),
            ("Fri, 31 Dec 9999 23:59:59 GMT", Some(LONGEST)),
            ("Mon, 30 Nov 2026 12:00:30 UTC", None),
            ("Mon, 30 Nov 2026 12:00:30 +0000", None),
            ("Mon, 30 Nov 2026 12:00:30", None),
            ("mon, 30 nov 2026 12:00:30 gmt", None),
            ("Mon, 31 Nov 2026 12:00:30 GMT", None),
            ("Mon, 30 Nov 2026 25:00:30 GMT", None),
            ("Mon, 30 Nov 2026 12:00:30.5 GMT", None),
            ("Mon, 30 Nov 26 12:00:30 GMT", None),
            ("Mon,30 Nov 2026 12:00:30 GMT", None),
            ("Monday, 30 Nov 2026 12:00:30 GMT", None),
            ("Mon Nov 30 12:02:00 2026 GMT", None),
            ("Mon Nov é 12:02:00 2026", None),
            ("2026-11-30T12:00:30Z", None),
        ] {
            assert_eq!(seconds(&[value]), want, "{value:?}");
        }
    }

    #[test]
    fn two_digits_of_a_year_are_at_most_fifty_years_ahead() {
        let year = |text: &str, now: &str| {
            let date = http_date(text, Timestamp::parse(now).unwrap()).unwrap();
            date.date()[..4].to_owned()
        };
        assert_eq!(year("Monday, 06-Nov-76 08:49:37 GMT", NOW), "2076");
        assert_eq!(year("Monday, 06-Nov-77 08:49:37 GMT", NOW), "1977");
        assert_eq!(year("Monday, 06-Nov-01 08:49:37 GMT", "2099-01-01T00:00:00Z"), "2101");
        assert_eq!(year("Monday, 06-Nov-50 08:49:37 GMT", "2099-01-01T00:00:00Z"), "2050");
    }

    #[test]
    fn the_servers_own_clock_counts() {
        let value = ["Mon, 30 Nov 2026 10:00:30 GMT"];
        let date = "Mon, 30 Nov 2026 10:00:00 GMT";
        let wait = |date| retry_after(&value, date, now()).map(|wait| wait.as_secs());
        assert_eq!(wait(Some(date)), Some(30));
        assert_eq!(wait(None), Some(0));
        assert_eq!(wait(Some("yesterday")), Some(0));
    }

    #[test]
    fn fields_that_disagree_say_nothing() {
        assert_eq!(seconds(&[]), None);
        assert_eq!(seconds(&["5", "5 "]), Some(5));
        assert_eq!(seconds(&["5", "6"]), None);
        assert_eq!(seconds(&["5", ""]), None);
    }
}
