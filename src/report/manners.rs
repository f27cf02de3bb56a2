//! How hosts were treated.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::time::Duration;

use serde::Serialize;

use super::ReportError;
use super::basis::time;
use crate::config::Config;
use crate::model::RunId;
use crate::state::{HostConduct, RobotsRow, Schedule, Tally};

/// How the hosts of a run were treated.
#[derive(Clone, Debug, Serialize)]
pub struct Manners {
    /// The run; 0 stands for the last command that made requests outside of runs, `None` for
    /// no request at all.
    pub run: Option<i64>,
    /// The product token for which robots.txt is read.
    pub token: String,
    /// The hosts, by name.
    pub hosts: Vec<HostManners>,
}

/// How one host was treated.
#[derive(Clone, Debug, Serialize)]
pub struct HostManners {
    /// The host.
    pub host: String,
    /// Requests by kind, retries included.
    pub requests: BTreeMap<&'static str, u64>,
    /// Requests that repeated one that had failed.
    pub retries: u64,
    /// Requests without an answer that could be used.
    pub failures: u64,
    /// Connections that were begun; those of Git are not counted.
    pub connections: u64,
    /// Bytes of bodies, as they were sent; those of Git are not counted.
    pub bytes: u64,
    /// Least time from the end of a request to the start of the next.
    pub least_gap_ms: Option<i64>,
    /// Most requests at once.
    pub most_at_once: u32,
    /// Start of the first request, by the clock of the machine.
    pub first: String,
    /// End of the last one.
    pub last: String,
    /// Pace in force at the last request.
    pub pace_ms: u64,
    /// Crawl-delay in force at the last request.
    pub crawl_delay_ms: u64,
    /// robots.txt of its origins, as they are in force now.
    pub robots: Vec<RobotsFile>,
}

/// robots.txt of one origin.
#[derive(Clone, Debug, Serialize)]
pub struct RobotsFile {
    /// The origin.
    pub origin: String,
    /// `read`, `absent` or `unreachable`.
    pub standing: String,
    /// When it was asked for.
    pub read: String,
    /// Why it is unreachable.
    pub reason: Option<String>,
}

impl Manners {
    /// Gathers the conduct of a run; of the last one that made a request where none is named.
    ///
    /// # Errors
    /// The politeness file cannot be read.
    pub fn of(
        config: &Config,
        schedule: Option<&Schedule>,
        run: Option<RunId>,
    ) -> Result<Self, ReportError> {
        let token = config.bot.name.clone();
        let Some(schedule) = schedule else {
            return Ok(Self { run: run.map(|run| run.0), token, hosts: Vec::new() });
        };
        let run = match run {
            None => schedule.last_run()?,
            named => named,
        };
        let mut hosts = Vec::new();
        for conduct in run.map(|run| schedule.conduct(run)).transpose()?.unwrap_or_default() {
            let robots = schedule.robots_of(&conduct.host)?;
            hosts.push(HostManners::of(conduct, robots));
        }
        Ok(Self { run: run.map(|run| run.0), token, hosts })
    }

    /// As text.
    #[must_use]
    pub fn to_text(&self) -> String {
        let name = match self.run {
            None => return "no request was made yet\n".to_owned(),
            Some(0) => "outside of runs".to_owned(),
            Some(run) => format!("run {run}"),
        };
        if self.hosts.is_empty() {
            return format!("{name}: no request\n");
        }
        let mut out = format!("{name}, as {}\n", self.token);
        for host in &self.hosts {
            host.write(&mut out);
        }
        out
    }
}

impl HostManners {
    fn of(conduct: HostConduct, robots: Vec<RobotsRow>) -> Self {
        let sum =
            |part: fn(&Tally) -> u64| conduct.kinds.iter().map(|(_, tally)| part(tally)).sum();
        let milliseconds = |time: Duration| u64::try_from(time.as_millis()).unwrap_or(u64::MAX);
        Self {
            requests: conduct
                .kinds
                .iter()
                .map(|(kind, tally)| (kind.name(), tally.requests))
                .collect(),
            retries: sum(|tally| tally.retries),
            failures: sum(|tally| tally.failures),
            connections: sum(|tally| tally.connections),
            bytes: sum(|tally| tally.bytes),
            least_gap_ms: conduct.least_gap,
            most_at_once: conduct.most_at_once,
            first: time(conduct.span.0),
            last: time(conduct.span.1),
            pace_ms: milliseconds(conduct.pace),
            crawl_delay_ms: milliseconds(conduct.crawl_delay),
            robots: robots.into_iter().map(RobotsFile::of).collect(),
            host: conduct.host,
        }
    }

    fn write(&self, out: &mut String) {
        let all: u64 = self.requests.values().sum();
        let kinds: Vec<String> =
            self.requests.iter().map(|(kind, count)| format!("{kind} {count}")).collect();
        let _ = writeln!(
            out,
            "\n{}\n  requests     {all} ({}), {} of them retries, {} failed",
            self.host,
            kinds.join(", "),
            self.retries,
            self.failures
        );
        let gap = self.least_gap_ms.map_or_else(|| "none".to_owned(), |gap| format!("{gap} ms"));
        let _ = writeln!(
            out,
            "  least gap    {gap}\n  most at once {}\n  in force     pace {} ms, Crawl-delay {} ms",
            self.most_at_once, self.pace_ms, self.crawl_delay_ms
        );
        let _ = writeln!(
            out,
            "  received     {} bytes over {} connections\n  time         {} to {}",
            self.bytes, self.connections, self.first, self.last
        );
        for robots in &self.robots {
            let why = robots.reason.as_ref().map(|why| format!(": {why}")).unwrap_or_default();
            let RobotsFile { origin, standing, read, .. } = robots;
            let _ = writeln!(out, "  robots.txt   {origin}: {standing}{why}, asked for {read}");
        }
    }
}

impl RobotsFile {
    fn of(row: RobotsRow) -> Self {
        let RobotsRow { origin, standing, read_at, reason, .. } = row;
        Self { origin, standing, read: time(read_at), reason }
    }
}
