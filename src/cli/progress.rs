//! How a run tells what it does: a bar on a terminal, plain lines elsewhere.

use indicatif::{ProgressBar, ProgressStyle};

use super::output::Output;
use crate::model::SourceId;
use crate::run::{HostProgress, Progress};

/// Progress of a run.
pub(crate) struct Teller<'a> {
    output: &'a Output,
    bar: Option<ProgressBar>,
}

impl<'a> Teller<'a> {
    pub fn new(output: &'a Output) -> Self {
        let bar = output.draws_progress().then(|| {
            let bar = ProgressBar::new(0);
            let style = ProgressStyle::with_template("{spinner} {msg} {wide_bar} {pos}/{len}");
            bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()));
            bar.enable_steady_tick(std::time::Duration::from_millis(200));
            bar
        });
        Self { output, bar }
    }

    /// Clears the bar.
    pub fn end(&self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}

impl Progress for Teller<'_> {
    fn stage(&self, source: &SourceId, what: &str) {
        match &self.bar {
            Some(bar) => {
                bar.set_length(0);
                bar.set_position(0);
                bar.set_message(format!("{source}: {what}"));
            }
            None => self.output.tell(&format!("{source}: {what}")),
        }
    }

    fn advance(&self, done: usize, total: usize) {
        if let Some(bar) = &self.bar {
            bar.set_length(total as u64);
            bar.set_position(done as u64);
        }
    }

    fn hosts(&self, hosts: &[HostProgress]) {
        let Some(bar) = &self.bar else { return };
        let (done, waiting) = hosts
            .iter()
            .fold((0, 0), |(done, waiting), host| (done + host.done, waiting + host.waiting));
        bar.set_length(done + waiting);
        bar.set_position(done);
    }

    fn warn(&self, message: &str) {
        match &self.bar {
            Some(bar) => bar.suspend(|| self.output.warn(message)),
            None => self.output.warn(message),
        }
    }
}
