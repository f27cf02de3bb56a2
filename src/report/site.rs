//! What is known of a URL as one of a site, and what a run would do with it.

use std::fmt::Write as _;

use serde::Serialize;

use super::basis::{Basis, time};
use super::{ReportError, lookup};
use crate::discover::frontier::{Decision, Priority};
use crate::discover::revisit::{Rules, Subject, Turn, conditional, decision, turn};
use crate::discover::trust::doubt;
use crate::model::{OutcomeKind, PageUrl, Site, Source, SourceKind, Timestamp, UrlKind, Visit};
use crate::politeness::Robots;
use crate::state::{RobotsRow, SiteUrl, State};

/// What is known of a URL of a site.
#[derive(Clone, Debug, Serialize)]
pub struct SiteLine {
    /// The source.
    pub source: String,
    /// `page` or `sitemap`.
    pub kind: &'static str,
    /// Fewest link steps from a start.
    pub depth: u32,
    /// The sitemap that lists it.
    pub listed_by: Option<String>,
    /// The lastmod that the sitemap states.
    pub stated: Option<String>,
    /// Why the lastmods of the sitemap are ignored; `None` where they are believed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ignored: Option<String>,
    /// How it answered last; `None` where no run asked for it.
    pub last: Option<VisitLine>,
    /// What a run that began now would do with it, in words.
    pub next: String,
}

/// How a URL answered last.
#[derive(Clone, Debug, Serialize)]
pub struct VisitLine {
    /// What came of it.
    pub outcome: &'static str,
    /// When it was asked for last.
    pub looked: String,
    /// When it was last read in full; `None` is never.
    pub read: Option<String>,
    /// Whether its text is in the archive; of a sitemap, whether its entries are known.
    pub stored: bool,
    /// In which form it was asked for.
    pub form: String,
    /// The validators that it came with.
    pub validators: Vec<&'static str>,
    /// What its sitemap stated then.
    pub stated: Option<String>,
    /// The first of the looks that found it gone.
    pub gone_since: Option<String>,
    /// Where it leads permanently, and since when.
    pub moved: Option<(String, String)>,
}

/// What robots.txt says of a URL.
#[derive(Clone, Debug, Serialize)]
pub struct RobotsLine {
    /// Whether it may be asked for; `None` where nobody has read the file yet.
    pub allowed: Option<bool>,
    /// The verdict in words.
    pub verdict: String,
}

impl SiteLine {
    /// What is known of a URL of a site; `None` where that is nothing.
    pub(super) fn of(
        basis: &Basis<'_>,
        state: &State,
        (source, url): (&Source, &PageUrl),
        robots: Option<&RobotsLine>,
    ) -> Result<Option<Self>, ReportError> {
        let SourceKind::Site(site) = &source.kind else { return Ok(None) };
        let Some(row) = state.site_url(&source.id, url.as_str())? else { return Ok(None) };
        let Some(known) = row.known.clone() else { return Ok(None) };
        let sitemap = known.sitemap.map(|id| state.site_url_of(id)).transpose()?.flatten();
        let stated = known.sitemap.map(|id| state.stated(id)).transpose()?.flatten();
        let doubt = stated.as_ref().and_then(doubt);
        let denied = state.denied_urls(&source.id)?;
        let denied = denied.iter().any(|denied| denied == "*" || denied == url.as_str());
        let forbidden = robots.filter(|robots| robots.allowed == Some(false));
        let next = if denied {
            "does not ask for it: it was taken down".to_owned()
        } else if let Some(why) = outside(source, url, known.kind) {
            format!("does not ask for it: {why}")
        } else if let Some(robots) = forbidden {
            format!("does not ask for it: {}", robots.verdict)
        } else {
            let subject = Subject { url, known: &known, doubt };
            next(basis, (source, site), (&subject, &row))
        };
        Ok(Some(Self {
            source: source.id.to_string(),
            kind: known.kind.name(),
            depth: known.depth,
            listed_by: sitemap.map(|row| row.url),
            stated: known.listed,
            ignored: doubt.map(|doubt| doubt.to_string()),
            last: row.visit.map(VisitLine::of),
            next,
        }))
    }

    pub(super) fn write(&self, out: &mut String) {
        let Self { source, kind, depth, .. } = self;
        let steps = if *depth == 1 { "step" } else { "steps" };
        let _ = write!(out, "  known to {source} as a {kind}, {depth} link {steps} from a start");
        if let Some(sitemap) = &self.listed_by {
            let stated = self.stated.as_ref().map(|it| format!(", which states {it}"));
            let _ = write!(out, ", listed by {sitemap}{}", stated.unwrap_or_default());
        }
        out.push('\n');
        if let Some(why) = &self.ignored {
            let _ = writeln!(out, "    what its sitemap states of changes is ignored: {why}");
        }
        match &self.last {
            Some(last) => last.write(out),
            None => out.push_str("    not asked for yet\n"),
        }
        let _ = writeln!(out, "    a run that began now {}", self.next);
    }
}

impl VisitLine {
    fn of(visit: Visit) -> Self {
        let given = [
            ("ETag", visit.validators.etag.is_some()),
            ("Last-Modified", visit.validators.last_modified.is_some()),
        ];
        Self {
            outcome: visit.outcome.name(),
            looked: visit.looked.to_string(),
            read: (visit.read > Timestamp::EPOCH).then(|| visit.read.to_string()),
            stored: visit.stored,
            form: visit.form,
            validators: given.into_iter().filter(|it| it.1).map(|it| it.0).collect(),
            stated: visit.lastmod,
            gone_since: visit.gone_since.map(|since| since.to_string()),
            moved: visit.moved.map(|it| (it.to, it.since.to_string())),
        }
    }

    fn write(&self, out: &mut String) {
        let read = match &self.read {
            Some(read) if *read == self.looked => "and read".to_owned(),
            Some(read) => format!("and last read in full {read}"),
            None => "never read".to_owned(),
        };
        let _ = write!(out, "    asked for {}: {}, {read}", self.looked, self.outcome);
        let with = match self.validators.as_slice() {
            [] => "without validators".to_owned(),
            given => format!("with {}", given.join(" and ")),
        };
        let form = form(&self.form);
        let _ = writeln!(out, "; {form}, {with}");
        if let Some(since) = &self.gone_since {
            let _ = writeln!(out, "    gone since the run of {since}");
        }
        if let Some((to, since)) = &self.moved {
            let _ = writeln!(out, "    moved to {to} since the run of {since}");
        }
    }
}

/// How a form is told.
fn form(name: &str) -> &'static str {
    match name {
        "negotiated" => "as Markdown or HTML",
        "variant" => "as Markdown at an address of its own",
        "sitemap" => "as a sitemap",
        _ => "as HTML",
    }
}

/// Why a page is none of the source by its configuration of today.
fn outside(source: &Source, url: &PageUrl, kind: UrlKind) -> Option<String> {
    if kind == UrlKind::Sitemap || is_start(source, url) || lookup::covers(source, url) {
        return None;
    }
    let why = lookup::left_out(source, url);
    Some(why.unwrap_or_else(|| "it is outside of `hosts` and `paths`".to_owned()))
}

fn is_start(source: &Source, url: &PageUrl) -> bool {
    match &source.kind {
        SourceKind::Site(site) => {
            site.start.iter().any(|start| PageUrl::parse(start).is_ok_and(|start| start == *url))
        }
        SourceKind::Git(_) | SourceKind::Feed(_) => false,
    }
}

/// What a run that began now would do, as the end of a sentence.
fn next(
    basis: &Basis<'_>,
    (source, site): (&Source, &Site),
    (subject, row): (&Subject<'_>, &SiteUrl),
) -> String {
    let Subject { url, known, .. } = *subject;
    let conversion = (basis.run.conversion)(source).unwrap_or_default();
    let rules = Rules { recheck: site.recheck, depth: site.depth, conversion };
    let visit = row.visit.as_ref();
    let ask = if is_start(source, url) {
        "asks for it first, since it is a start".to_owned()
    } else if known.kind == UrlKind::Sitemap {
        match visit.filter(|visit| visit.stored) {
            Some(visit)
                if decision(&rules, subject, visit, basis.now) == Decision::SkipUnchanged =>
            {
                return "does not ask for it: its index states that it is as it was".to_owned();
            }
            _ => "asks for it, if an index still lists it".to_owned(),
        }
    } else {
        match turn(&rules, subject, visit, basis.now) {
            Turn::Unchanged(until) => {
                return format!(
                    "does not ask for it before {until}, unless its sitemap states a change"
                );
            }
            Turn::Leave(until) => {
                let was = visit.map_or(OutcomeKind::Skipped, |visit| visit.outcome);
                return format!(
                    "does not ask for it before {until}, unless its sitemap states something \
                     else: the last look found it {was}"
                );
            }
            Turn::Wait(priority, cause) => format!("asks for it {}: {cause}", place(priority)),
        }
    };
    let Some(visit) = visit else { return ask };
    match conditional(&rules, (known.kind, Some(known)), visit, basis.now) {
        Ok(()) => format!("{ask}; with its validators"),
        Err(why) => format!("{ask}; without validators, since {why}"),
    }
}

/// Among what a page is read.
fn place(priority: Priority) -> &'static str {
    match priority {
        Priority::New(_) => "among what is new",
        Priority::Changed(_) => "among what has changed",
        Priority::Revisit(_) => "after what is new and what has changed",
    }
}

impl RobotsLine {
    /// What robots.txt of a URL's origin says, as it was read last.
    pub(super) fn of(basis: &Basis<'_>, url: &PageUrl) -> Result<Option<Self>, ReportError> {
        let Some(schedule) = basis.schedule else { return Ok(None) };
        let rows = schedule.robots_of(url.host())?;
        let row = rows.into_iter().find(|row| row.origin == url.origin());
        Ok(row.map(|row| Self::verdict(&row, (url, &basis.config.bot.name))))
    }

    fn verdict(row: &RobotsRow, (url, token): (&PageUrl, &str)) -> Self {
        let read = time(row.read_at);
        let file = format!("robots.txt of {}, asked for {read},", row.origin);
        match (row.standing.as_str(), &row.text) {
            ("read", Some(text)) => {
                let robots = Robots::parse(text, token);
                let verdict = robots.allows(&url.as_str()[url.origin().len()..]);
                let ground = crate::model::printable(&verdict.ground.to_string());
                let word = if verdict.allowed { "allows" } else { "forbids" };
                Self {
                    allowed: Some(verdict.allowed),
                    verdict: format!("{file} {word} it to {token}, by {ground}"),
                }
            }
            ("absent", _) => Self {
                allowed: Some(true),
                verdict: format!("{file} does not exist: nothing is forbidden"),
            },
            _ => {
                let why = row.reason.as_deref().unwrap_or("no reason is known");
                let why = crate::model::printable(why);
                Self {
                    allowed: None,
                    verdict: format!("{file} could not be read: {why}; a run asks for it again"),
                }
            }
        }
    }
}

/// Hosts that are left alone, in words, of those that `wanted` names.
pub(super) fn left_alone(
    basis: &Basis<'_>,
    wanted: impl Fn(&str) -> bool,
) -> Result<Vec<String>, ReportError> {
    let Some(schedule) = basis.schedule else { return Ok(Vec::new()) };
    let mut told = Vec::new();
    for (host, parked) in schedule.parked()?.into_iter().filter(|(host, _)| wanted(host)) {
        let reason = parked.reason;
        match parked.until {
            Some(until) if until > basis.machine => {
                told.push(format!("{host} is left alone until {}: {reason}", time(until)));
            }
            // It may be asked again.
            Some(_) => {}
            None => told.push(format!("{host} was left for the next run: {reason}")),
        }
    }
    Ok(told)
}
