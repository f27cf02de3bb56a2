//! Whether what a sitemap states of changes is believed.
//!
//! Owns what is learnt of it. A sitemap is believed until it shows that it should not be:
//! by what its times have in common, or by its record, which each look at an entry adds to.
//! Of the entries that it calls unchanged, a sample is looked at for that ([`is_sample`]);
//! what is asked for once `recheck` is over counts as well. Of one that is not believed, all
//! entries are looked at, and its record may become good again.

use std::fmt;

use super::LastMod;
use crate::model::{PageUrl, Record, Spread, Stated, Timestamp, Visit, fingerprint};

/// One of so many entries that are called unchanged is looked at on a day.
const SAMPLE: u64 = 32;

/// Changes that were not stated from which on they count: one may be an accident.
const MISSED: u32 = 2;

/// Changes that were stated and were none, from which on they count.
const ALARMS: u32 = 20;

/// One in so many may be wrong.
const TOLERATED: u32 = 10;

/// Looks of a kind that a record holds at most: older ones count for less and less.
const MEMORY: u32 = 400;

/// Why the times of a sitemap are ignored. Shown, it completes the sentence "they are
/// ignored: …".
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Doubt {
    /// All of them are the same.
    Equal,
    /// All of them are the moment at which it was asked for.
    Now,
    /// They lie in the future, or at the beginning of Unix time.
    Impossible,
    /// Entries changed without a word: so many, of so many that were called unchanged.
    Missed(u32, u32),
    /// Entries were said to have changed that had not: so many, of so many.
    Alarms(u32, u32),
}

impl Doubt {
    /// Whether that an entry is unchanged is ignored as well. Where changes are stated that
    /// are none, they are no reason to read an entry before others, and that is all.
    #[must_use]
    pub fn is_of_all(self) -> bool {
        !matches!(self, Self::Alarms(..))
    }
}

impl fmt::Display for Doubt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Equal => f.write_str("all entries state the same"),
            Self::Now => f.write_str("all entries state the moment at which it was asked for"),
            Self::Impossible => f.write_str("they cannot be"),
            Self::Missed(missed, all) => {
                write!(f, "{missed} of {all} entries that it called unchanged had changed")
            }
            Self::Alarms(alarms, all) => {
                write!(f, "{alarms} of {all} entries that it called changed had not")
            }
        }
    }
}

/// Why the times of a sitemap are ignored; `None` where they are believed.
#[must_use]
pub fn doubt(stated: &Stated) -> Option<Doubt> {
    let Record { kept, missed, hits, alarms } = stated.record;
    match stated.spread {
        Spread::Equal => return Some(Doubt::Equal),
        Spread::Now => return Some(Doubt::Now),
        Spread::Impossible => return Some(Doubt::Impossible),
        Spread::Silent | Spread::Varied => {}
    }
    let unchanged = kept.saturating_add(missed);
    if missed >= MISSED && missed.saturating_mul(TOLERATED) >= unchanged {
        return Some(Doubt::Missed(missed, unchanged));
    }
    // Where most entries that are called changed are as they were, that is no news.
    let changed = hits.saturating_add(alarms);
    let wrong = alarms >= ALARMS && hits.saturating_mul(TOLERATED) < changed;
    wrong.then_some(Doubt::Alarms(alarms, changed))
}

/// What a sitemap said of an entry before that was looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Claim {
    /// That it had not changed since the last look.
    Unchanged,
    /// That it had.
    Changed,
}

/// What a time claims of a text that was looked at before; `None` where it may be either: a
/// date that was not over at the last look.
#[must_use]
pub fn claim(stated: LastMod, visit: &Visit) -> Option<Claim> {
    let then = visit.lastmod.as_deref().and_then(LastMod::parse);
    let same = then.is_none_or(|then| then.agrees_with(stated));
    match (same, stated.was_seen_at(visit.looked)) {
        (true, true) => Some(Claim::Unchanged),
        (true, false) if stated.start() <= visit.looked => None,
        _ => Some(Claim::Changed),
    }
}

/// A record with one more look in it.
#[must_use]
pub fn learnt(record: Record, claim: Claim, has_changed: bool) -> Record {
    let Record { mut kept, mut missed, mut hits, mut alarms } = record;
    let (right, wrong, fits) = match claim {
        Claim::Unchanged => (&mut kept, &mut missed, !has_changed),
        Claim::Changed => (&mut hits, &mut alarms, has_changed),
    };
    if right.saturating_add(*wrong) >= MEMORY {
        *right /= 2;
        *wrong /= 2;
    }
    let counted = if fits { right } else { wrong };
    *counted = counted.saturating_add(1);
    Record { kept, missed, hits, alarms }
}

/// Whether an entry that was last looked at then is looked at today although its sitemap
/// calls it unchanged. Each day has others, and each of them its turn once.
#[must_use]
pub fn is_sample(url: &PageUrl, looked: Timestamp, now: Timestamp) -> bool {
    let day = now.date();
    looked.date() != day
        && fingerprint(&format!("{day} {url}")).cast_unsigned().is_multiple_of(SAMPLE)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{OutcomeKind, Validators};

    fn at(text: &str) -> Timestamp {
        Timestamp::parse(text).unwrap()
    }

    fn varied(record: Record) -> Option<Doubt> {
        doubt(&Stated { spread: Spread::Varied, record })
    }

    #[test]
    fn a_sitemap_is_believed_until_it_is_found_wrong() {
        let record = Record::default();
        assert_eq!(varied(record), None);
        assert_eq!(varied(Record { kept: 3, missed: 1, ..record }), None);
        assert_eq!(varied(Record { kept: 18, missed: 2, ..record }), Some(Doubt::Missed(2, 20)));
        assert_eq!(varied(Record { kept: 19, missed: 2, ..record }), None);
        assert_eq!(varied(Record { hits: 0, alarms: 19, ..record }), None);
        assert_eq!(varied(Record { hits: 2, alarms: 40, ..record }), Some(Doubt::Alarms(40, 42)));
        assert_eq!(varied(Record { hits: 5, alarms: 40, ..record }), None);
        for (spread, why) in [
            (Spread::Equal, Doubt::Equal),
            (Spread::Now, Doubt::Now),
            (Spread::Impossible, Doubt::Impossible),
        ] {
            assert_eq!(doubt(&Stated { spread, record }), Some(why));
        }
    }

    #[test]
    fn a_record_forgets_and_becomes_good_again() {
        let mut record = Record::default();
        for _ in 0..100 {
            record = learnt(record, Claim::Unchanged, true);
        }
        assert!(varied(record).is_some());
        let mut looks = 0;
        while varied(record).is_some() {
            record = learnt(record, Claim::Unchanged, false);
            looks += 1;
            assert!(looks < 2000, "{record:?}");
        }
        assert!(looks > 300, "{looks}");
        assert!(record.kept + record.missed <= MEMORY);
    }

    #[test]
    fn a_date_that_was_not_over_claims_nothing() {
        let visit = |lastmod: Option<&str>| Visit {
            outcome: OutcomeKind::Changed,
            stored: true,
            looked: at("2026-11-20T02:00:00Z"),
            read: at("2026-11-20T02:00:00Z"),
            lastmod: lastmod.map(str::to_owned),
            rules: 7,
            form: "html".to_owned(),
            validators: Validators::default(),
            followed: true,
            text: 0,
            gone_since: None,
            moved: None,
        };
        for (then, now, claimed) in [
            (Some("2026-11-10"), "2026-11-10", Some(Claim::Unchanged)),
            (None, "2026-11-10", Some(Claim::Unchanged)),
            (Some("2026-11-20"), "2026-11-20", None),
            (None, "2026-11-20", None),
            (Some("2026-11-10"), "2026-11-20", Some(Claim::Changed)),
            (Some("2026-11-10"), "2026-11-22", Some(Claim::Changed)),
            // Put back to an older version.
            (Some("2026-11-10"), "2026-06-01", Some(Claim::Changed)),
        ] {
            let found = claim(LastMod::parse(now).unwrap(), &visit(then));
            assert_eq!(found, claimed, "{then:?} {now}");
        }
    }

    #[test]
    fn a_sample_is_small_and_another_each_day() {
        let urls: Vec<PageUrl> = (0..3200)
            .map(|n| PageUrl::parse(&format!("https://h.example/p{n}")).unwrap())
            .collect();
        let of = |day: &str| -> Vec<usize> {
            let day = at(day);
            let before = at("2026-11-01T02:00:00Z");
            (0..urls.len()).filter(|n| is_sample(&urls[*n], before, day)).collect()
        };
        let (one, two) = (of("2026-11-20T02:00:00Z"), of("2026-11-21T02:00:00Z"));
        assert!((50..200).contains(&one.len()), "{}", one.len());
        assert!(one.iter().filter(|n| two.contains(n)).count() < 20);
        assert_eq!(one, of("2026-11-20T23:00:00Z"), "a run that is gone on with has the same");
        let (morning, night) = (at("2026-11-20T02:00:00Z"), at("2026-11-20T23:00:00Z"));
        assert!(!urls.iter().any(|url| is_sample(url, morning, night)), "once a day");
    }
}
