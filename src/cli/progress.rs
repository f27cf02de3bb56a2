//! How a run tells what it does: bars on a terminal, plain lines elsewhere.
//!
//! On a terminal each host that sites are read from has a line of its own, and where there
//! are many the rest shares one. Elsewhere a host has a line now and then, and none in a
//! run that is over before.

use std::collections::HashMap;
use std::fmt::Write as _;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use indicatif::{MultiProgress, ProgressBar, ProgressStyle};

use super::output::{Output, words};
use crate::clock::Clock;
use crate::model::SourceId;
use crate::run::{HostProgress, Progress};

/// Hosts with a line of their own.
const MOST_HOSTS: usize = 8;

/// How often a host has a line where there is no terminal.
const EVERY: Duration = Duration::from_mins(1);

/// How often bars are drawn while nothing happens.
const TICK: Duration = Duration::from_millis(200);

/// Progress of a run.
pub(crate) struct Teller<'a> {
    output: &'a Output,
    clock: Clock,
    bars: Option<Bars>,
    pulse: Mutex<Pulse>,
}

impl<'a> Teller<'a> {
    pub fn new(output: &'a Output, clock: Clock) -> Self {
        let pulse = Mutex::new(Pulse::new(clock.monotonic()));
        Self { output, clock, bars: output.draws_progress().then(Bars::new), pulse }
    }

    /// Clears the bars.
    pub fn end(&self) {
        if let Some(bars) = &self.bars {
            bars.end();
        }
    }
}

impl Progress for Teller<'_> {
    fn stage(&self, source: &SourceId, what: &str) {
        match &self.bars {
            Some(bars) => {
                bars.main.set_length(0);
                bars.main.set_position(0);
                bars.main.set_message(format!("{source}: {what}"));
            }
            None => self.output.tell(&format!("{source}: {what}")),
        }
    }

    fn advance(&self, done: usize, total: usize) {
        if let Some(bars) = &self.bars {
            bars.main.set_length(total as u64);
            bars.main.set_position(done as u64);
        }
    }

    fn hosts(&self, hosts: &[HostProgress]) {
        let mut pulse = self.pulse.lock().unwrap_or_else(PoisonError::into_inner);
        let now = self.clock.monotonic();
        match &self.bars {
            Some(bars) => bars.show(hosts, &pulse.all(hosts, now)),
            None => pulse.due(hosts, now).iter().for_each(|line| self.output.tell(line)),
        }
    }

    fn warn(&self, message: &str) {
        match &self.bars {
            Some(bars) => bars.all.suspend(|| self.output.warn(message)),
            None => self.output.warn(message),
        }
    }
}

/// What is drawn on a terminal.
struct Bars {
    all: MultiProgress,
    main: ProgressBar,
    /// A line a host, and one for the rest.
    lines: Mutex<Vec<ProgressBar>>,
}

impl Bars {
    fn new() -> Self {
        let all = MultiProgress::new();
        let main = all.add(ProgressBar::new(0));
        let style = ProgressStyle::with_template("{spinner} {msg} {wide_bar} {pos}/{len}");
        main.set_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()));
        main.enable_steady_tick(TICK);
        Self { all, main, lines: Mutex::default() }
    }

    fn show(&self, hosts: &[HostProgress], texts: &[String]) {
        let done = hosts.iter().map(|host| host.done).sum();
        let waiting: u64 = hosts.iter().map(|host| host.waiting).sum();
        self.main.set_length(waiting.saturating_add(done));
        self.main.set_position(done);
        let mut lines = self.lines.lock().unwrap_or_else(PoisonError::into_inner);
        while lines.len() < texts.len() {
            let line = self.all.add(ProgressBar::new_spinner());
            let style = ProgressStyle::with_template("  {wide_msg}");
            line.set_style(style.unwrap_or_else(|_| ProgressStyle::default_spinner()));
            lines.push(line);
        }
        for (line, text) in lines.iter().zip(texts) {
            line.set_message(text.clone());
        }
    }

    fn end(&self) {
        for line in self.lines.lock().unwrap_or_else(PoisonError::into_inner).drain(..) {
            line.finish_and_clear();
        }
        self.main.finish_and_clear();
    }
}

/// How fast hosts are read, and when each was told of last.
struct Pulse {
    begun: Instant,
    hosts: HashMap<String, Seen>,
}

/// One host.
#[derive(Clone, Copy)]
struct Seen {
    /// When it was first met, and what was done then.
    first: (Instant, u64),
    told: Instant,
}

impl Pulse {
    fn new(begun: Instant) -> Self {
        Self { begun, hosts: HashMap::new() }
    }

    fn seen(&mut self, host: &HostProgress, now: Instant) -> &mut Seen {
        let seen = Seen { first: (now, host.done), told: self.begun };
        self.hosts.entry(host.host.clone()).or_insert(seen)
    }

    /// A line for each host, those with most to do first; the rest of many in one.
    fn all(&mut self, hosts: &[HostProgress], now: Instant) -> Vec<String> {
        let mut order: Vec<&HostProgress> = hosts.iter().collect();
        order.sort_by(|a, b| (b.waiting, &a.host).cmp(&(a.waiting, &b.host)));
        let rest = order.split_off(order.len().min(MOST_HOSTS));
        let mut lines: Vec<String> =
            order.into_iter().map(|host| line(host, *self.seen(host, now), now)).collect();
        if !rest.is_empty() {
            let sum = |of: fn(&HostProgress) -> u64| rest.iter().map(|host| of(host)).sum::<u64>();
            let (done, waiting) = (sum(|host| host.done), sum(|host| host.waiting));
            let count = rest.len();
            lines.push(format!("{count} more hosts: {done} done, {waiting} waiting"));
        }
        lines
    }

    /// A line for each host of which nothing was told for long enough.
    fn due(&mut self, hosts: &[HostProgress], now: Instant) -> Vec<String> {
        let mut lines = Vec::new();
        for host in hosts {
            let seen = self.seen(host, now);
            if now.saturating_duration_since(seen.told) >= EVERY {
                seen.told = now;
                lines.push(line(host, *seen, now));
            }
        }
        lines
    }
}

/// How a host stands, on one line.
fn line(host: &HostProgress, seen: Seen, now: Instant) -> String {
    let HostProgress { host: name, done, waiting, pace, left_alone } = host;
    let mut out = format!("{name}: {done} done, {waiting} waiting");
    // Writing to a string cannot fail.
    let _ = if let Some(why) = left_alone {
        write!(out, "; {why}")
    } else {
        let (pace, left) = (words(*pace), words(remaining(host, seen, now)));
        write!(out, ", {pace} between two requests, {left} left")
    };
    out
}

/// How long it takes to the end of what waits: at the pace in force, or as long as an
/// address took so far, where that is longer.
fn remaining(host: &HostProgress, seen: Seen, now: Instant) -> Duration {
    let done = u32::try_from(host.done.saturating_sub(seen.first.1)).unwrap_or(u32::MAX);
    let since = now.saturating_duration_since(seen.first.0);
    let each = since.checked_div(done).unwrap_or_default().max(host.pace);
    let left = each.saturating_mul(u32::try_from(host.waiting).unwrap_or(u32::MAX));
    Duration::from_secs(left.as_secs())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn host(name: &str, done: u64, waiting: u64) -> HostProgress {
        let pace = Duration::from_secs(5);
        HostProgress { host: name.to_owned(), done, waiting, pace, left_alone: None }
    }

    #[test]
    fn what_is_left_goes_by_pace_or_by_what_was_measured() {
        let begun = Clock::system().monotonic();
        let mut pulse = Pulse::new(begun);
        let told = |pulse: &mut Pulse, done, seconds| {
            pulse.all(&[host("h.example", done, 12)], begun + Duration::from_secs(seconds))
        };
        let line = "h.example: 0 done, 12 waiting, 5s between two requests, 1m left";
        assert_eq!(told(&mut pulse, 0, 0), [line]);
        let line = "h.example: 4 done, 12 waiting, 5s between two requests, 1m left";
        assert_eq!(told(&mut pulse, 4, 10), [line]);
        let line = "h.example: 4 done, 12 waiting, 5s between two requests, 2m left";
        assert_eq!(told(&mut pulse, 4, 40), [line]);
        let left_alone = Some("h.example is left for a later run".to_owned());
        let alone = HostProgress { left_alone, ..host("h.example", 4, 12) };
        let line = "h.example: 4 done, 12 waiting; h.example is left for a later run";
        assert_eq!(pulse.all(&[alone], begun), [line]);
    }

    #[test]
    fn many_hosts_share_a_line() {
        let begun = Clock::system().monotonic();
        let hosts: Vec<HostProgress> = (0..11).map(|n| host(&format!("h{n:02}"), 1, n)).collect();
        let lines = Pulse::new(begun).all(&hosts, begun);
        assert_eq!(lines.len(), MOST_HOSTS + 1);
        assert!(lines[0].starts_with("h10: 1 done, 10 waiting"), "{lines:?}");
        assert_eq!(lines[MOST_HOSTS], "3 more hosts: 3 done, 3 waiting");
    }

    #[test]
    fn without_a_terminal_a_host_has_a_line_a_minute() {
        let begun = Clock::system().monotonic();
        let mut pulse = Pulse::new(begun);
        let mut told = 0;
        let mut last = None;
        for quarter in 0..=4 * 150_u32 {
            let now = begun + Duration::from_millis(250) * quarter;
            for line in pulse.due(&[host("a", u64::from(quarter), 9)], now) {
                assert!(line.starts_with("a: "), "{line}");
                let gap = last.map_or(quarter, |last| quarter - last);
                assert!(gap >= 240, "{quarter}");
                last = Some(quarter);
                told += 1;
            }
        }
        assert_eq!(told, 2);
    }
}
