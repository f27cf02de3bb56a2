//! Whether a run asks for a URL of a site again, when in the run, and with what.
//!
//! Owns the decision about a URL of which something is remembered, so that a run that asks
//! and a report that tells what a run would do decide alike. Pure: the time comes in.

use std::fmt;
use std::time::Duration;

use super::LastMod;
use super::frontier::{Candidate, Decision, Known as KnownText, Priority, decide};
use super::trust::{Doubt, is_sample};
use crate::model::{Known, OutcomeKind, PageUrl, Timestamp, UrlKind, Visit};

/// How long a page that was never there is not asked for again, in seconds.
const GONE_FOR: i64 = 7 * 24 * 3600;

/// Seconds by which clocks of two runs may differ.
const CLOCK_ERROR: i64 = 24 * 3600;

/// What of a site decides when its URLs are asked for again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rules {
    /// Longest time that the word of a sitemap is taken for, and an answer of 304.
    pub recheck: Duration,
    /// Link steps from a start that are followed.
    pub depth: u32,
    /// Fingerprint of what decides the conversion of a page.
    pub conversion: i64,
}

/// A URL, how it is reached, and whether what its sitemap states is believed.
#[derive(Clone, Copy, Debug)]
pub struct Subject<'a> {
    /// The URL.
    pub url: &'a PageUrl,
    /// How it is reached.
    pub known: &'a Known,
    /// Why what its sitemap states is ignored; `None` where it is believed.
    pub doubt: Option<Doubt>,
}

/// What a run does with a URL.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Turn {
    /// It waits for its turn, for a reason.
    Wait(Priority, Cause),
    /// It is known to be as it was, and would be until then if nothing else came.
    Unchanged(Timestamp),
    /// It is not asked for until then, and its outcome stands.
    Leave(Timestamp),
}

/// Why a URL is asked for. Shown, it completes the sentence "it is asked for: …".
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cause {
    /// It never was.
    New,
    /// The archive has no text of it.
    NoText,
    /// What decides its conversion is not what it was.
    Rules,
    /// Its links were not followed as far as they are now.
    Links,
    /// What its sitemap states speaks of another text.
    Stated,
    /// It was gone when it was asked for last.
    Gone,
    /// What its sitemap states was believed for long enough.
    Recheck,
    /// Its sitemap states no change, and a sample shows whether such sitemaps are right.
    Sample,
    /// What its sitemap states is ignored.
    Doubted(Doubt),
    /// No sitemap states when it changed.
    NothingStated,
}

impl fmt::Display for Cause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Doubted(doubt) => {
                return write!(f, "the dates of its sitemap are ignored, since {doubt}");
            }
            Self::Sample => "its sitemap states no change, and it is in today's sample of such",
            Self::New => "it never was",
            Self::NoText => "the archive has no text of it",
            Self::Rules => "the rules of its conversion have changed",
            Self::Links => "its links were not followed as far as they are now",
            Self::Stated => "its sitemap states a change",
            Self::Gone => "it was gone the last time",
            Self::Recheck => "its sitemap was believed for as long as `recheck` says",
            Self::NothingStated => "no sitemap states when it changed",
        })
    }
}

/// Why a URL is asked for without validators. Shown, it completes the sentence "without
/// validators, since …".
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unconditional {
    /// The archive has no text of it.
    NoText,
    /// It came without any.
    None,
    /// It was read in full too long ago.
    Old,
    /// What decides its conversion is not what it was.
    Rules,
    /// Its links were not followed as far as they are now.
    Links,
}

impl fmt::Display for Unconditional {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::NoText => "the archive has no text of it",
            Self::None => "it came without any",
            Self::Old => "it was read in full longer ago than `recheck` says",
            Self::Rules => "the rules of its conversion have changed",
            Self::Links => "its links were not followed as far as they are now",
        })
    }
}

/// When a page has its turn in a run that began at `now`.
#[must_use]
pub fn turn(rules: &Rules, subject: &Subject<'_>, visit: Option<&Visit>, now: Timestamp) -> Turn {
    let Subject { url, known, doubt } = *subject;
    let Some(visit) = visit else { return Turn::Wait(Priority::New(known.depth), Cause::New) };
    let looked = visit.looked;
    let recheck = seconds(rules.recheck);
    if !visit.stored {
        let patience = patience(visit, recheck);
        let recent = (0..patience).contains(&(now.unix() - looked.unix()));
        return if recent && visit.lastmod == known.listed {
            Turn::Leave(after(looked, patience))
        } else {
            Turn::Wait(Priority::Revisit(looked), Cause::NoText)
        };
    }
    if visit.rules != rules.conversion {
        return Turn::Wait(Priority::Changed(looked), Cause::Rules);
    }
    if known.depth < rules.depth && !visit.followed {
        return Turn::Wait(Priority::Revisit(looked), Cause::Links);
    }
    match decision(rules, subject, visit, now) {
        Decision::Fetch(new @ Priority::New(_)) => Turn::Wait(new, Cause::New),
        Decision::Fetch(changed @ Priority::Changed(_)) => match doubt {
            Some(doubt) => Turn::Wait(Priority::Revisit(looked), Cause::Doubted(doubt)),
            None => Turn::Wait(changed, Cause::Stated),
        },
        Decision::Fetch(revisit @ Priority::Revisit(_)) => {
            let cause = match doubt {
                Some(doubt) if doubt.is_of_all() => Cause::Doubted(doubt),
                _ if stated(known).is_some() => Cause::Recheck,
                _ => Cause::NothingStated,
            };
            Turn::Wait(revisit, cause)
        }
        // Gone once, a page is looked at again whatever its sitemap says.
        Decision::SkipUnchanged | Decision::NotDue if visit.gone_since.is_some() => {
            Turn::Wait(Priority::Revisit(looked), Cause::Gone)
        }
        Decision::SkipUnchanged if is_sample(url, looked, now) => {
            Turn::Wait(Priority::Revisit(looked), Cause::Sample)
        }
        Decision::SkipUnchanged | Decision::NotDue => Turn::Unchanged(after(looked, recheck)),
    }
}

/// For how many seconds a URL without text is left alone.
fn patience(visit: &Visit, recheck: i64) -> i64 {
    match visit.outcome {
        OutcomeKind::Gone => recheck.min(GONE_FOR),
        OutcomeKind::Moved if visit.moved.as_ref().is_some_and(|it| it.since < visit.looked) => {
            recheck
        }
        OutcomeKind::Skipped => recheck,
        _ => 0,
    }
}

/// What a run that began at `now` does with a URL whose text, or entries, are known.
#[must_use]
pub fn decision(rules: &Rules, subject: &Subject<'_>, visit: &Visit, now: Timestamp) -> Decision {
    // What this run looked at is drafted: a look in the second of its start was an earlier
    // run's. One that is far ahead tells of a clock that was wrong.
    let ahead = visit.looked.unix() - now.unix();
    let now = Timestamp::from_unix(visit.looked.unix() + 1)
        .filter(|_| (0..CLOCK_ERROR).contains(&ahead))
        .unwrap_or(now);
    let then = visit.lastmod.as_deref().and_then(LastMod::parse);
    let candidate = Candidate {
        url: subject.url.clone(),
        depth: subject.known.depth,
        known: Some(KnownText { last_looked: visit.looked, lastmod: then }),
        lastmod: stated(subject.known).filter(|_| !subject.doubt.is_some_and(Doubt::is_of_all)),
    };
    decide(&candidate, rules.recheck, now)
}

/// Whether an answer of 304 would tell all: the text is in the archive, made by the rules of
/// today, its links were followed as far as they are followed now, and it was read in full
/// not too long ago. `known` is `None` where nothing tells how the URL is reached.
///
/// # Errors
/// It is asked for without validators, and why.
pub fn conditional(
    rules: &Rules,
    (kind, known): (UrlKind, Option<&Known>),
    visit: &Visit,
    now: Timestamp,
) -> Result<(), Unconditional> {
    if !visit.stored {
        return Err(Unconditional::NoText);
    }
    if visit.validators.is_empty() {
        return Err(Unconditional::None);
    }
    let age = now.unix() - visit.read.unix();
    if !(0..seconds(rules.recheck).max(1)).contains(&age) {
        return Err(Unconditional::Old);
    }
    if kind == UrlKind::Sitemap {
        return Ok(());
    }
    if visit.rules != rules.conversion {
        return Err(Unconditional::Rules);
    }
    let far = known.is_none_or(|known| known.depth >= rules.depth);
    if far || visit.followed { Ok(()) } else { Err(Unconditional::Links) }
}

fn stated(known: &Known) -> Option<LastMod> {
    known.listed.as_deref().and_then(LastMod::parse)
}

fn seconds(time: Duration) -> i64 {
    i64::try_from(time.as_secs()).unwrap_or(i64::MAX)
}

/// A time so many seconds later; the end of time where that is beyond it.
fn after(time: Timestamp, seconds: i64) -> Timestamp {
    Timestamp::from_unix(time.unix().saturating_add(seconds)).unwrap_or(time)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::Validators;

    const RULES: Rules = Rules { recheck: Duration::from_hours(30 * 24), depth: 3, conversion: 7 };

    fn at(text: &str) -> Timestamp {
        Timestamp::parse(text).unwrap()
    }

    fn known(listed: Option<&str>) -> Known {
        let listed = listed.map(str::to_owned);
        Known { kind: UrlKind::Page, depth: 1, sitemap: None, listed }
    }

    fn visit() -> Visit {
        Visit {
            outcome: OutcomeKind::Changed,
            stored: true,
            looked: at("2026-11-20T02:00:00Z"),
            read: at("2026-11-20T02:00:00Z"),
            lastmod: None,
            rules: 7,
            form: "negotiated".to_owned(),
            validators: Validators { etag: Some("\"a\"".to_owned()), last_modified: None },
            followed: true,
            text: 0,
            gone_since: None,
            moved: None,
        }
    }

    fn turned(listed: Option<&str>, visit: &Visit) -> Turn {
        let url = PageUrl::parse("https://h.example/a").unwrap();
        let subject = Subject { url: &url, known: &known(listed), doubt: None };
        turn(&RULES, &subject, Some(visit), at("2026-11-25T02:00:00Z"))
    }

    #[test]
    fn each_turn_has_its_cause() {
        let looked = at("2026-11-20T02:00:00Z");
        let revisit = |cause| Turn::Wait(Priority::Revisit(looked), cause);
        assert_eq!(turned(None, &visit()), revisit(Cause::NothingStated));
        let until = at("2026-12-20T02:00:00Z");
        assert_eq!(turned(Some("2026-11-01"), &visit()), Turn::Unchanged(until));
        let changed = |cause| Turn::Wait(Priority::Changed(looked), cause);
        assert_eq!(turned(Some("2026-11-22"), &visit()), changed(Cause::Stated));
        let old = Visit { rules: 6, ..visit() };
        assert_eq!(turned(Some("2026-11-01"), &old), changed(Cause::Rules));
        let shallow = Visit { followed: false, ..visit() };
        assert_eq!(turned(Some("2026-11-01"), &shallow), revisit(Cause::Links));
        let gone = Visit { gone_since: Some(looked), ..visit() };
        assert_eq!(turned(Some("2026-11-01"), &gone), revisit(Cause::Gone));
    }

    #[test]
    fn what_is_doubted_is_asked_for_and_of_what_is_believed_a_sample() {
        let looked = at("2026-11-20T02:00:00Z");
        let now = at("2026-11-25T02:00:00Z");
        let known = known(Some("2026-11-01"));
        let of = |n: usize, doubt| {
            let url = PageUrl::parse(&format!("https://h.example/{n}")).unwrap();
            turn(&RULES, &Subject { url: &url, known: &known, doubt }, Some(&visit()), now)
        };
        let wait = |cause| Turn::Wait(Priority::Revisit(looked), cause);
        let doubt = Doubt::Missed(2, 9);
        assert_eq!(of(1, Some(doubt)), wait(Cause::Doubted(doubt)));
        let alarms = Some(Doubt::Alarms(40, 42));
        let url = PageUrl::parse("https://h.example/1").unwrap();
        let subject = |listed| Subject { url: &url, known: listed, doubt: alarms };
        let told = |listed| turn(&RULES, &subject(listed), Some(&visit()), now);
        let news = Known { listed: Some("2026-11-22".to_owned()), ..known.clone() };
        assert_eq!(told(&news), wait(Cause::Doubted(Doubt::Alarms(40, 42))));
        assert!(matches!(told(&known), Turn::Unchanged(_)), "that it is unchanged is believed");
        let turns: Vec<Turn> = (0..200).map(|n| of(n, None)).collect();
        let sample = turns.iter().filter(|turn| **turn == wait(Cause::Sample)).count();
        let rest = turns.iter().filter(|turn| matches!(turn, Turn::Unchanged(_))).count();
        assert!((1..20).contains(&sample) && sample + rest == 200, "{sample} {rest}");
    }

    #[test]
    fn a_url_without_text_is_left_alone_for_a_while() {
        let without = |outcome| Visit { stored: false, outcome, ..visit() };
        let week = at("2026-11-27T02:00:00Z");
        assert_eq!(turned(None, &without(OutcomeKind::Gone)), Turn::Leave(week));
        let month = at("2026-12-20T02:00:00Z");
        assert_eq!(turned(None, &without(OutcomeKind::Skipped)), Turn::Leave(month));
        for (listed, outcome) in
            [(None, OutcomeKind::Failed), (Some("2026-11-22"), OutcomeKind::Skipped)]
        {
            let turn = turned(listed, &without(outcome));
            assert!(matches!(turn, Turn::Wait(_, Cause::NoText)), "{turn:?}");
        }
    }

    #[test]
    fn validators_are_sent_for_what_is_stored_and_fresh() {
        let asked = |visit: &Visit, now| {
            conditional(&RULES, (UrlKind::Page, Some(&known(None))), visit, at(now))
        };
        let now = "2026-11-25T02:00:00Z";
        assert_eq!(asked(&visit(), now), Ok(()));
        assert_eq!(asked(&visit(), "2026-12-21T02:00:00Z"), Err(Unconditional::Old));
        let bare = Visit { validators: Validators::default(), ..visit() };
        assert_eq!(asked(&bare, now), Err(Unconditional::None));
        assert_eq!(asked(&Visit { stored: false, ..visit() }, now), Err(Unconditional::NoText));
        assert_eq!(asked(&Visit { rules: 6, ..visit() }, now), Err(Unconditional::Rules));
        let shallow = Visit { followed: false, rules: 6, ..visit() };
        let sitemap = conditional(&RULES, (UrlKind::Sitemap, None), &shallow, at(now));
        assert_eq!(sitemap, Ok(()));
        let shallow = Visit { followed: false, ..visit() };
        assert_eq!(asked(&shallow, now), Err(Unconditional::Links));
        assert_eq!(conditional(&RULES, (UrlKind::Page, None), &shallow, at(now)), Ok(()));
    }
}
