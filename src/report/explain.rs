//! Why a URL was read, skipped, kept or refused.

use std::fmt::Write as _;

use serde::Serialize;

use super::ReportError;
use super::basis::Basis;
use super::lookup::{covers, left_out};
use super::site::{RobotsLine, SiteLine, left_alone};
use crate::model::{PageUrl, SourceKind};
use crate::state::State;

/// An outcome that stood for some runs.
#[derive(Clone, Debug, Serialize)]
pub struct Step {
    /// The source.
    pub source: String,
    /// The first run with it.
    pub first_run: i64,
    /// The last run that recorded it.
    pub last_run: i64,
    /// The outcome.
    pub outcome: &'static str,
    /// Why; empty where the outcome says all.
    pub reason: String,
}

/// What is known of a URL.
#[derive(Clone, Debug, Serialize)]
pub struct Explanation {
    /// The URL, canonical.
    pub url: String,
    /// Sources whose scope it is in.
    pub covered_by: Vec<String>,
    /// Sources whose rules leave it out, and which rule that is.
    pub left_out_by: Vec<(String, String)>,
    /// Where it stands in the archive, with the run in which its text came.
    pub pages: Vec<(String, i64)>,
    /// What runs learnt, oldest first.
    pub steps: Vec<Step>,
    /// Upstreams of its sources that could not be read the last time.
    pub trouble: Vec<String>,
    /// What is known of it as a URL of a site.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub sites: Vec<SiteLine>,
    /// What robots.txt of its origin says, where a run over a site asked for that.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub robots: Option<RobotsLine>,
    /// Why its host is left alone.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub left_alone: Vec<String>,
}

impl Explanation {
    /// Gathers what is known.
    ///
    /// # Errors
    /// The state or the politeness file cannot be read.
    pub fn of(basis: &Basis<'_>, url: &str) -> Result<Self, ReportError> {
        let Basis { config, state, .. } = *basis;
        let parsed = PageUrl::parse(url).ok();
        let (mut covered_by, mut left_out_by) = (Vec::new(), Vec::new());
        for source in &config.sources {
            let Some(url) = &parsed else { break };
            if let Some(why) = left_out(source, url) {
                left_out_by.push((source.id.to_string(), why));
            } else if covers(source, url) {
                covered_by.push(source.id.to_string());
            }
        }
        let mut this = Self {
            covered_by,
            left_out_by,
            url: parsed.as_ref().map_or_else(|| url.to_owned(), PageUrl::to_string),
            pages: Vec::new(),
            steps: Vec::new(),
            trouble: Vec::new(),
            sites: Vec::new(),
            robots: None,
            left_alone: Vec::new(),
        };
        let Some(state) = state else { return Ok(this) };
        for row in state.pages_with_url(&this.url)? {
            this.pages.push((format!("pages/{}/{}", row.source, row.path), row.run.0));
            for upstream in state.upstreams(&row.source)? {
                let told = upstream.trouble.map(|why| format!("{}: {why}", upstream.repository));
                this.trouble.extend(told);
            }
        }
        for interval in state.intervals(&this.url)? {
            this.steps.push(Step {
                source: interval.source,
                first_run: interval.first.0,
                last_run: interval.last.0,
                outcome: interval.outcome.kind.name(),
                reason: interval.outcome.reason,
            });
        }
        if let Some(url) = &parsed {
            this.add_sites(basis, state, url)?;
        }
        Ok(this)
    }

    /// Adds what is known of it as a URL of sites.
    fn add_sites(
        &mut self,
        basis: &Basis<'_>,
        state: &State,
        url: &PageUrl,
    ) -> Result<(), ReportError> {
        let robots = RobotsLine::of(basis, url)?;
        let mut of_site = false;
        for source in &basis.config.sources {
            if !matches!(source.kind, SourceKind::Site(_)) {
                continue;
            }
            of_site |= covers(source, url);
            self.sites.extend(SiteLine::of(basis, state, (source, url), robots.as_ref())?);
        }
        if of_site || !self.sites.is_empty() {
            self.robots = robots;
            self.left_alone = left_alone(basis, |host| host == url.host())?;
        }
        Ok(())
    }

    /// As text.
    #[must_use]
    pub fn to_text(&self) -> String {
        let mut out = format!("{}\n", self.url);
        for (source, why) in &self.left_out_by {
            let _ = writeln!(out, "  left out by {source}: {why}");
        }
        match self.covered_by.as_slice() {
            [] if !self.left_out_by.is_empty() => {}
            [] => out.push_str("  in the scope of no source\n"),
            ids => {
                let _ = writeln!(out, "  in the scope of {}", ids.join(", "));
            }
        }
        for (path, run) in &self.pages {
            match run {
                0 => {
                    let _ = writeln!(out, "  archived at {path}");
                }
                run => {
                    let _ = writeln!(out, "  archived at {path}, this text since run {run}");
                }
            }
        }
        if self.pages.is_empty() {
            out.push_str("  not in the archive\n");
        }
        for step in &self.steps {
            let runs = if step.first_run == step.last_run {
                format!("run {}", step.first_run)
            } else {
                format!("runs {} to {}", step.first_run, step.last_run)
            };
            let reason =
                if step.reason.is_empty() { String::new() } else { format!(": {}", step.reason) };
            let _ = writeln!(out, "  {runs} ({}): {}{reason}", step.source, step.outcome);
        }
        if self.steps.is_empty() {
            out.push_str("  no run has recorded an outcome for it\n");
        }
        for site in &self.sites {
            site.write(&mut out);
        }
        if let Some(robots) = &self.robots {
            let _ = writeln!(out, "  {}", robots.verdict);
        }
        for told in &self.left_alone {
            let _ = writeln!(out, "  {told}");
        }
        for trouble in &self.trouble {
            let _ = writeln!(out, "  its upstream could not be read the last time: {trouble}");
        }
        out
    }
}
