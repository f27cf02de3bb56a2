//! How far a check is, on a terminal; nothing elsewhere.

use std::time::Duration;

use indicatif::{ProgressBar, ProgressStyle};

use super::output::Output;
use crate::archive::Watch;

/// How often it is drawn while nothing happens.
const TICK: Duration = Duration::from_millis(200);

/// A line on a terminal: what is looked at, and how many of it.
pub(crate) struct Meter(ProgressBar);

impl Meter {
    pub fn new(output: &Output) -> Self {
        if !output.draws_progress() {
            return Self(ProgressBar::hidden());
        }
        let bar = ProgressBar::new_spinner();
        let style = ProgressStyle::with_template("{spinner} {msg}: {pos} ({elapsed})");
        bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_spinner()));
        bar.enable_steady_tick(TICK);
        Self(bar)
    }

    /// Clears it.
    pub fn end(&self) {
        self.0.finish_and_clear();
    }
}

impl Watch for Meter {
    fn stage(&self, what: &str) {
        self.0.set_message(what.to_owned());
        self.0.set_position(0);
    }

    fn count(&self, done: u64) {
        self.0.set_position(done);
    }
}
