//! Why a URL was read, skipped, kept or refused.

use std::fmt::Write as _;

use serde::Serialize;

use super::ReportError;
use super::lookup::{covers, left_out};
use crate::config::Config;
use crate::model::PageUrl;
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
}

impl Explanation {
    /// Gathers what is known.
    ///
    /// # Errors
    /// The state cannot be read.
    pub fn of(config: &Config, state: Option<&State>, url: &str) -> Result<Self, ReportError> {
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
        Ok(this)
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
        for trouble in &self.trouble {
            let _ = writeln!(out, "  its upstream could not be read the last time: {trouble}");
        }
        out
    }
}
