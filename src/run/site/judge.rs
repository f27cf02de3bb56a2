//! What an answer means for a page, its place in the tree and what is remembered of it.
//!
//! Owns the rules of what removes a page. A page leaves when it was gone in two runs that
//! are far enough apart, when it redirects permanently in two runs, or when its owner asks
//! that it is not kept. Whatever else comes, what the archive has stays.

use std::time::Duration;

use crate::archive::{PageEntry, PageIds, Replaced};
use crate::model::{
    Move, Outcome, OutcomeKind, PageUrl, RobotsRemoved, Timestamp, Validators, Visit,
};
use crate::state::{Draft, DraftFiles, TreeChange};

/// What is known about a page when its answer comes.
pub(super) struct Facts<'f> {
    /// The start of the run.
    pub run: Timestamp,
    /// When the answer came.
    pub time: Timestamp,
    /// How it answered last.
    pub visit: Option<&'f Visit>,
    /// What its sitemap states now.
    pub listed: Option<&'f str>,
    /// Its place, where the tree has the page.
    pub stored: Option<&'f PageEntry>,
    /// Fingerprint of the rules of conversion.
    pub rules: i64,
    /// The form it was asked for in.
    pub form: &'static str,
}

impl Facts<'_> {
    /// What is remembered of an answer without text.
    fn visit(&self, outcome: OutcomeKind) -> Visit {
        let before = self.visit;
        Visit {
            outcome,
            stored: self.stored.is_some(),
            looked: self.time,
            read: before.map_or(Timestamp::EPOCH, |visit| visit.read),
            lastmod: self.listed.map(str::to_owned),
            rules: before.map_or(0, |visit| visit.rules),
            form: self.form.to_owned(),
            validators: before.map(|visit| visit.validators.clone()).unwrap_or_default(),
            followed: before.is_some_and(|visit| visit.followed),
            text: before.map_or(0, |visit| visit.text),
            gone_since: None,
            moved: None,
        }
    }

    /// A draft by which the page leaves, where it is stored.
    fn leave(&self, outcome: Outcome, visit: Visit) -> Draft {
        let visit = Visit { stored: false, validators: Validators::default(), ..visit };
        let path = self.stored.map(|entry| entry.path.to_string());
        let change = if path.is_some() { TreeChange::Removed } else { TreeChange::None };
        Draft { outcome, change, path, files: None, visit: Some(visit) }
    }

    /// 304: the text is the one that is stored.
    pub fn not_modified(&self, validators: Validators) -> Draft {
        let mut visit = self.visit(OutcomeKind::NotModified);
        // It was asked with validators, which are kept of what is stored only.
        visit.stored = true;
        // A 304 may carry new validators (RFC 9111, section 4.3.4).
        visit.validators.etag = validators.etag.or(visit.validators.etag);
        visit.validators.last_modified =
            validators.last_modified.or(visit.validators.last_modified);
        let outcome = Outcome::new(OutcomeKind::NotModified, "");
        Draft { visit: Some(visit), ..Draft::only(outcome) }
    }

    /// 404 or 410.
    pub fn gone(&self, status: u16, gone_after: Duration) -> Draft {
        let mut visit = self.visit(OutcomeKind::Gone);
        let Some(since) = self.visit.and_then(|visit| visit.gone_since) else {
            visit.gone_since = Some(self.run);
            let kept = if self.stored.is_some() {
                "; kept until a second look finds the same"
            } else {
                ""
            };
            let outcome = Outcome::new(OutcomeKind::Gone, format!("status {status}{kept}"));
            return Draft { visit: Some(visit), ..Draft::only(outcome) };
        };
        visit.gone_since = Some(since);
        let apart = i64::try_from(gone_after.as_secs()).unwrap_or(i64::MAX);
        if since < self.run && self.run.unix().saturating_sub(since.unix()) >= apart {
            let why = format!("status {status}, as on {}", since.date());
            return self.leave(Outcome::new(OutcomeKind::Gone, why), visit);
        }
        let why = format!("status {status}; the first look that found it gone is not long ago");
        let outcome = Outcome::new(OutcomeKind::Gone, why);
        Draft { visit: Some(visit), ..Draft::only(outcome) }
    }

    /// A permanent redirect.
    pub fn moved(&self, to: &PageUrl, status: u16) -> Draft {
        let mut visit = self.visit(OutcomeKind::Moved);
        let before = self.visit.and_then(|visit| visit.moved.as_ref());
        let since = before.map_or(self.run, |moved| moved.since);
        visit.moved = Some(Move { to: to.to_string(), status, since });
        let outcome = Outcome::new(OutcomeKind::Moved, format!("status {status}, to {to}"));
        if since < self.run {
            return self.leave(outcome, visit);
        }
        Draft { visit: Some(visit), ..Draft::only(outcome) }
    }

    /// A redirect for now: what the archive has stays.
    pub fn elsewhere(&self, to: &PageUrl, status: u16) -> Draft {
        let why = format!("status {status}, for now to {to}, which is another page");
        if self.stored.is_some() {
            return Draft::only(Outcome::new(OutcomeKind::Failed, why));
        }
        let visit = self.visit(OutcomeKind::Moved);
        Draft { visit: Some(visit), ..Draft::only(Outcome::new(OutcomeKind::Moved, why)) }
    }

    /// Its owner asks that it is not kept.
    pub fn noarchive(&self) -> Draft {
        let visit = self.visit(OutcomeKind::NoArchive);
        let why = "it asks not to be archived (noarchive)";
        self.leave(Outcome::new(OutcomeKind::NoArchive, why), visit)
    }

    /// robots.txt forbids it; `drop` is what the configuration wants then.
    pub fn disallowed(&self, ground: &str, drop: RobotsRemoved) -> Draft {
        let outcome = Outcome::new(OutcomeKind::Disallowed, ground);
        match drop {
            RobotsRemoved::Drop if self.stored.is_some() => {
                self.leave(outcome, self.visit(OutcomeKind::Disallowed))
            }
            _ => Draft::only(outcome),
        }
    }

    /// It is no page by its content. What the archive has stays.
    pub fn skipped(&self, why: String) -> Draft {
        let outcome = Outcome::new(OutcomeKind::Skipped, why);
        if self.stored.is_some() {
            return Draft::only(Outcome { kind: OutcomeKind::Failed, ..outcome });
        }
        Draft { visit: Some(self.visit(OutcomeKind::Skipped)), ..Draft::only(outcome) }
    }

    /// It could not be read or used. What the archive has stays, and so does what is
    /// remembered of it.
    pub fn failed(&self, why: String) -> Draft {
        let outcome = Outcome::new(OutcomeKind::Failed, why);
        if self.stored.is_some() {
            return Draft::only(outcome);
        }
        Draft { visit: Some(self.visit(OutcomeKind::Failed)), ..Draft::only(outcome) }
    }

    /// A sitemap was read, and its entries are known.
    pub fn listed(&self, replaced: Replaced, (validators, text): (Validators, i64)) -> Draft {
        let kind = match replaced {
            Replaced::Same => OutcomeKind::Same,
            Replaced::Other | Replaced::Nothing => OutcomeKind::Changed,
        };
        let visit = Visit { stored: true, read: self.time, validators, text, ..self.visit(kind) };
        let outcome = Outcome::new(kind, "a sitemap");
        Draft { visit: Some(visit), ..Draft::only(outcome) }
    }

    /// Its text was read and put.
    pub fn read(&self, replaced: Replaced, page: PutPage) -> Draft {
        let (kind, change, reason) = match replaced {
            Replaced::Same => (OutcomeKind::Same, TreeChange::None, ""),
            Replaced::Other => (OutcomeKind::Changed, TreeChange::Edited, ""),
            Replaced::Nothing => (OutcomeKind::Changed, TreeChange::Added, "added"),
        };
        let visit = Visit {
            stored: true,
            read: self.time,
            rules: self.rules,
            validators: page.validators,
            followed: page.followed,
            text: page.text,
            ..self.visit(kind)
        };
        let put = replaced != Replaced::Same;
        Draft {
            outcome: Outcome::new(kind, reason),
            change,
            path: put.then(|| page.entry.path.to_string()),
            files: put.then(|| DraftFiles {
                page: page.ids.page.to_string(),
                links: page.ids.links.to_string(),
                public_links: page.ids.public_links.map(|id| id.to_string()),
                sketch: page.sketch,
            }),
            visit: Some(visit),
        }
    }
}

/// A page that was put into the next commit.
pub(super) struct PutPage {
    pub entry: PageEntry,
    pub ids: PageIds,
    pub sketch: Option<Vec<u64>>,
    pub validators: Validators,
    pub followed: bool,
    pub text: i64,
}

#[cfg(test)]
mod tests;
