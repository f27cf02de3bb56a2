//! The value of a Crawl-delay record.

use std::time::Duration;

use super::lines::is_space;

/// Longest delay that is told apart; about 136 years.
const LONGEST: u64 = u32::MAX as u64;

/// Digits of a fraction that count.
const FRACTION_DIGITS: usize = 9;

/// Seconds, with or without a fraction and a unit (`5`, `0.5`, `10s`, `3 seconds`). A sign,
/// an exponent, a second point or other text makes the value nonsense, which counts as no
/// value at all.
pub(super) fn parse(value: &[u8]) -> Option<Duration> {
    let (whole, rest) = digits(value);
    let (fraction, rest) = match rest.split_first() {
        Some((b'.', rest)) => digits(rest),
        _ => (&[][..], rest),
    };
    if (whole.is_empty() && fraction.is_empty()) || !is_unit(rest) {
        return None;
    }
    let seconds = whole.iter().fold(0_u64, |sum, digit| push(sum, *digit)).min(LONGEST);
    let kept = &fraction[..fraction.len().min(FRACTION_DIGITS)];
    let padding = std::iter::repeat_n(&b'0', FRACTION_DIGITS - kept.len());
    let nanos = kept.iter().chain(padding).fold(0_u64, |sum, digit| push(sum, *digit));
    Some(Duration::from_secs(seconds) + Duration::from_nanos(nanos))
}

fn push(sum: u64, digit: u8) -> u64 {
    sum.saturating_mul(10).saturating_add(u64::from(digit - b'0'))
}

fn digits(text: &[u8]) -> (&[u8], &[u8]) {
    let end = text.iter().position(|b| !b.is_ascii_digit()).unwrap_or(text.len());
    text.split_at(end)
}

/// Nothing, a word after a space, or a unit of seconds right behind the number.
fn is_unit(rest: &[u8]) -> bool {
    let attached = rest.iter().position(|b| is_space(*b)).unwrap_or(rest.len());
    let unit = &rest[..attached];
    let units: [&[u8]; 6] = [b"", b"s", b"sec", b"secs", b"second", b"seconds"];
    units.iter().any(|name| unit.eq_ignore_ascii_case(name))
}
