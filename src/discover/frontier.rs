//! What a run over a site reads next.
//!
//! Owns the order of the pages of a run and the reasons to leave one out, as functions over
//! the rows that a run remembers of each URL; where they are kept is not known here.
//!
//! * New pages come first, those near a start before those far away; then those whose
//!   sitemap says that they changed; then the others, that looked at longest ago first.
//! * What a sitemap says is believed only for a text that was read after the change, as
//!   long as it says the same, and never for longer than `recheck`.
//! * A page without a word from a sitemap is asked for in every run: its server decides
//!   whether it changed.
//! * A URL is as far away as the shortest way to it that is known.

use std::time::Duration;

use super::lastmod::LastMod;
use crate::model::{PageUrl, Timestamp};

/// A URL that a run may read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Candidate {
    /// The URL.
    pub url: PageUrl,
    /// Link steps from a start or a sitemap, which are at 0.
    pub depth: u32,
    /// What is remembered of it; `None` where no text of it is stored.
    pub known: Option<Known>,
    /// What its sitemap says now; `None` where that is nothing, or the same for every page.
    pub lastmod: Option<LastMod>,
}

/// What is remembered of a page whose text is stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Known {
    /// When its server last answered with that text, or that it had not changed.
    pub last_looked: Timestamp,
    /// What its sitemap said then.
    pub lastmod: Option<LastMod>,
}

/// What a run does with a candidate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Decision {
    /// It is read when its turn comes.
    Fetch(Priority),
    /// Its sitemap says that the stored text is the current one.
    SkipUnchanged,
    /// This run looked at it already.
    NotDue,
}

/// The turn of a page in a run: the smallest is read first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Priority {
    /// Nothing of it is stored; it is that many link steps away.
    New(u32),
    /// Its sitemap says that it changed; it was looked at then.
    Changed(Timestamp),
    /// It may have changed; it was looked at then.
    Revisit(Timestamp),
}

/// What a run that began at `now` does with a candidate; `recheck` is the longest time
/// that the word of a sitemap is taken for.
///
/// A page that was looked at since `now` was looked at by this very run, before it was
/// resumed. One that was looked at more than `recheck` after `now` was not: a clock was
/// wrong, and it is asked for again.
#[must_use]
pub fn decide(candidate: &Candidate, recheck: Duration, now: Timestamp) -> Decision {
    let Some(known) = candidate.known else {
        return Decision::Fetch(Priority::New(candidate.depth));
    };
    let looked = known.last_looked;
    let recheck = i64::try_from(recheck.as_secs()).unwrap_or(i64::MAX);
    let since = now.unix() - looked.unix();
    if since <= 0 && -since <= recheck {
        return Decision::NotDue;
    }
    match candidate.lastmod {
        Some(lastmod) if has_news(lastmod, known) => Decision::Fetch(Priority::Changed(looked)),
        Some(_) if (0..recheck).contains(&since) => Decision::SkipUnchanged,
        _ => Decision::Fetch(Priority::Revisit(looked)),
    }
}

/// Whether what a sitemap says now speaks of another text than the stored one: of a change
/// after that was read, or of something else than it said then. The latter is how a page
/// looks that was put back to an older version, date and all.
fn has_news(lastmod: LastMod, known: Known) -> bool {
    let same_word = known.lastmod.is_none_or(|then| then.agrees_with(lastmod));
    !(lastmod.was_seen_at(known.last_looked) && same_word)
}

/// The order in which pages are read: by priority, then by address, so that two runs over
/// the same rows read them in the same order.
#[must_use]
pub fn turn(priority: Priority, url: &PageUrl) -> (Priority, &str) {
    (priority, url.as_str())
}

/// The depth of what a page at `parent` links to; `None` where that is beyond `limit` and
/// the links are not followed.
#[must_use]
pub fn depth_below(parent: u32, limit: u32) -> Option<u32> {
    parent.checked_add(1).filter(|depth| *depth <= limit)
}

/// What a new way to a URL means for the depth it is remembered with: the smaller depth,
/// which the row then takes and its own links are offered with again; `None` where the URL
/// is known to be as near.
#[must_use]
pub fn nearer(remembered: Option<u32>, offered: u32) -> Option<u32> {
    remembered.is_none_or(|depth| offered < depth).then_some(offered)
}

/// How many more pages a run may read of a site (`max_pages`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Allowance {
    left: Option<u64>,
}

impl Allowance {
    /// As many as `max_pages` says, less those that this run `read` before it was resumed;
    /// without bound where it is not given.
    #[must_use]
    pub fn new(max_pages: Option<u64>, read: u64) -> Self {
        Self { left: max_pages.map(|most| most.saturating_sub(read)) }
    }

    /// Takes one page; false where none is left, and the page waits for a later run.
    #[must_use]
    pub fn take(&mut self) -> bool {
        match &mut self.left {
            None => true,
            Some(0) => false,
            Some(left) => {
                *left -= 1;
                true
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const RECHECK: Duration = Duration::from_hours(30 * 24);

    fn at(text: &str) -> Timestamp {
        Timestamp::parse(text).unwrap()
    }

    fn candidate(looked: Option<&str>, lastmod: Option<&str>) -> Candidate {
        let known = looked.map(|looked| Known { last_looked: at(looked), lastmod: None });
        Candidate {
            url: PageUrl::parse("https://h.example/a").unwrap(),
            depth: 2,
            known,
            lastmod: lastmod.map(|text| LastMod::parse(text).unwrap()),
        }
    }

    fn decision(looked: Option<&str>, lastmod: Option<&str>) -> Decision {
        decide(&candidate(looked, lastmod), RECHECK, at("2026-11-30T02:00:00Z"))
    }

    #[test]
    fn pages_without_text_are_new_whatever_the_sitemap_says() {
        assert_eq!(decision(None, None), Decision::Fetch(Priority::New(2)));
        assert_eq!(decision(None, Some("2001-01-01")), Decision::Fetch(Priority::New(2)));
    }

    #[test]
    fn a_sitemap_is_believed_for_texts_read_after_the_change() {
        let changed = |looked| Decision::Fetch(Priority::Changed(at(looked)));
        for (looked, lastmod, want) in [
            ("2026-11-20T02:00:00Z", "2026-11-20T02:00:00Z", Decision::SkipUnchanged),
            ("2026-11-20T02:00:00Z", "2026-11-20T02:00:01Z", changed("2026-11-20T02:00:00Z")),
            // A daily run at two o'clock must see what changes at ten the same day.
            ("2026-11-20T02:00:00Z", "2026-11-20", changed("2026-11-20T02:00:00Z")),
            ("2026-11-22T02:00:00Z", "2026-11-20", Decision::SkipUnchanged),
        ] {
            assert_eq!(decision(Some(looked), Some(lastmod)), want, "{looked} {lastmod}");
        }
    }

    #[test]
    fn a_page_put_back_to_an_older_version_is_news() {
        let looked = at("2026-11-20T02:00:00Z");
        let now = at("2026-11-30T02:00:00Z");
        let decided = |then: &str, today| {
            let lastmod = LastMod::parse(then);
            let known = Some(Known { last_looked: looked, lastmod });
            decide(&Candidate { known, ..candidate(None, Some(today)) }, RECHECK, now)
        };
        assert_eq!(decided("2026-11-10", "2026-11-10"), Decision::SkipUnchanged);
        assert_eq!(decided("2026-11-10T08:00:00Z", "2026-11-10"), Decision::SkipUnchanged);
        assert_eq!(decided("2026-11-10", "2026-06-01"), Decision::Fetch(Priority::Changed(looked)));
    }

    #[test]
    fn after_recheck_a_page_is_asked_for_all_the_same() {
        let revisit = |looked| Decision::Fetch(Priority::Revisit(at(looked)));
        let old = Some("2024-07-17");
        assert_eq!(decision(Some("2026-10-31T02:00:01Z"), old), Decision::SkipUnchanged);
        assert_eq!(decision(Some("2026-10-31T02:00:00Z"), old), revisit("2026-10-31T02:00:00Z"));
        let one = candidate(Some("2026-11-29T02:00:00Z"), old);
        let now = at("2026-11-30T02:00:00Z");
        assert_eq!(decide(&one, Duration::ZERO, now), revisit("2026-11-29T02:00:00Z"));
        assert_eq!(decide(&one, Duration::MAX, now), Decision::SkipUnchanged);
    }

    #[test]
    fn without_a_sitemap_the_server_is_asked_in_every_run() {
        let looked = "2026-11-29T02:00:00Z";
        assert_eq!(decision(Some(looked), None), Decision::Fetch(Priority::Revisit(at(looked))));
    }

    #[test]
    fn a_resumed_run_does_not_look_twice() {
        for looked in ["2026-11-30T02:00:00Z", "2026-11-30T09:00:00Z"] {
            assert_eq!(decision(Some(looked), None), Decision::NotDue);
            assert_eq!(decision(Some(looked), Some("2026-11-30")), Decision::NotDue);
        }
        let wrong = "2099-01-01T00:00:00Z";
        assert_eq!(decision(Some(wrong), None), Decision::Fetch(Priority::Revisit(at(wrong))));
        assert_eq!(
            decision(Some(wrong), Some("2026-11-20")),
            Decision::Fetch(Priority::Revisit(at(wrong)))
        );
    }

    #[test]
    fn new_pages_go_before_changed_ones_and_those_before_old_ones() {
        let url = |text| PageUrl::parse(text).unwrap();
        let (a, b) = (url("https://h.example/a"), url("https://h.example/b"));
        let (early, late) = (at("2026-01-01T00:00:00Z"), at("2026-02-01T00:00:00Z"));
        let ordered = [
            turn(Priority::New(0), &b),
            turn(Priority::New(1), &a),
            turn(Priority::New(1), &b),
            turn(Priority::Changed(early), &b),
            turn(Priority::Changed(late), &a),
            turn(Priority::Revisit(early), &b),
            turn(Priority::Revisit(late), &a),
        ];
        assert!(ordered.is_sorted());
    }

    #[test]
    fn the_shortest_way_gives_the_depth() {
        assert_eq!(nearer(None, 3), Some(3));
        assert_eq!(nearer(Some(3), 2), Some(2));
        assert_eq!(nearer(Some(2), 2), None);
        assert_eq!(nearer(Some(2), 3), None);
        assert_eq!(depth_below(0, 3), Some(1));
        assert_eq!(depth_below(2, 3), Some(3));
        assert_eq!(depth_below(3, 3), None);
        assert_eq!(depth_below(u32::MAX, u32::MAX), None);
    }

    #[test]
    fn max_pages_bounds_a_run_also_when_it_was_resumed() {
        let mut bound = Allowance::new(Some(3), 1);
        assert_eq!([bound.take(), bound.take(), bound.take()], [true, true, false]);
        assert!(!Allowance::new(Some(3), 5).take());
        assert!(Allowance::new(None, u64::MAX).take());
    }
}
