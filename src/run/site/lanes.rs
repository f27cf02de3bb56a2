//! Lanes: what waits for each host, and what its thread works at.

use std::collections::BTreeMap;
use std::sync::mpsc::Sender;
use std::time::Instant;

use super::receive::Job;

/// Jobs that a host's thread may have at once: one that it works at, and some that follow
/// at once where there is no pace.
const AHEAD: usize = 8;

/// What waits for one host.
pub(super) struct Lane {
    jobs: Sender<Job>,
    /// Jobs at its thread, or on their way back from it.
    pub outstanding: usize,
    /// Jobs that are done.
    pub done: u64,
    /// By site: how many URLs wait, and whether there is anything left to ask for.
    sites: BTreeMap<usize, Waiting>,
    /// The site whose turn it was last.
    last: usize,
}

#[derive(Default)]
struct Waiting {
    count: u64,
    /// Why nothing more is asked for in this run.
    closed: Option<String>,
    /// Until when nothing is asked for.
    pause: Option<Instant>,
}

impl Waiting {
    fn is_open(&self) -> bool {
        self.count > 0 && self.closed.is_none()
    }
}

impl Lane {
    fn new(jobs: Sender<Job>) -> Self {
        Self { jobs, outstanding: 0, done: 0, sites: BTreeMap::new(), last: 0 }
    }

    /// How many URLs wait.
    pub fn waiting(&self) -> u64 {
        self.sites.values().map(|site| site.count).sum()
    }

    /// Whether it can take a job.
    pub fn has_room(&self) -> bool {
        self.outstanding < AHEAD
    }

    /// The site whose turn it is: they take turns.
    fn next_site(&self, now: Instant) -> Option<usize> {
        let open = |site: &&usize| {
            let site = self.sites.get(site);
            site.is_some_and(|it| it.is_open() && it.pause.is_none_or(|until| until <= now))
        };
        let behind = self.sites.range(self.last + 1..).map(|(site, _)| site);
        behind.chain(self.sites.keys()).find(open).copied()
    }
}

/// All lanes, by host.
pub(super) struct Lanes<'s> {
    lanes: BTreeMap<String, Lane>,
    start: &'s dyn Fn(&str) -> Sender<Job>,
}

impl<'s> Lanes<'s> {
    /// Lanes whose threads `start` starts when they are first needed.
    pub fn new(start: &'s dyn Fn(&str) -> Sender<Job>) -> Self {
        Self { lanes: BTreeMap::new(), start }
    }

    fn lane(&mut self, host: &str) -> &mut Lane {
        let start = self.start;
        self.lanes.entry(host.to_owned()).or_insert_with(|| Lane::new(start(host)))
    }

    /// Notes that so many more URLs of a site wait for a host.
    pub fn add(&mut self, host: &str, site: usize, count: u64) {
        self.lane(host).sites.entry(site).or_default().count += count;
    }

    /// Notes that nothing waits, whatever was thought.
    pub fn empty(&mut self, host: &str, site: usize) {
        self.lane(host).sites.entry(site).or_default().count = 0;
    }

    /// Leaves what waits of a site for a host for a later run; the first reason stands.
    pub fn close(&mut self, host: &str, site: usize, why: &str) {
        let waiting = self.lane(host).sites.entry(site).or_default();
        waiting.closed.get_or_insert_with(|| why.to_owned());
    }

    /// Asks a host for nothing of a site until then.
    pub fn pause(&mut self, host: &str, site: usize, until: Instant) {
        self.lane(host).sites.entry(site).or_default().pause = Some(until);
    }

    /// Whether something waits that will still be asked for.
    pub fn is_waiting(&self) -> bool {
        self.lanes.values().any(|lane| lane.sites.values().any(Waiting::is_open))
    }

    /// Hands a job to its host's thread; false where that is gone.
    pub fn hand(&mut self, job: Job) -> bool {
        let lane = self.lane(job.url.host());
        lane.last = job.site;
        if let Some(site) = lane.sites.get_mut(&job.site) {
            site.count = site.count.saturating_sub(1);
        }
        lane.outstanding += 1;
        lane.jobs.send(job).is_ok()
    }

    /// Notes that a job came back.
    pub fn take_back(&mut self, host: &str) {
        let lane = self.lane(host);
        lane.outstanding = lane.outstanding.saturating_sub(1);
        lane.done += 1;
    }

    /// A host with room, and the site whose turn it is there.
    pub fn next(&self, now: Instant) -> Option<(String, usize)> {
        let mut open = self.lanes.iter().filter(|(_, lane)| lane.has_room());
        open.find_map(|(host, lane)| Some((host.clone(), lane.next_site(now)?)))
    }

    /// Jobs that did not come back yet.
    pub fn outstanding(&self) -> usize {
        self.lanes.values().map(|lane| lane.outstanding).sum()
    }

    /// Each host with what waits for it.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &Lane)> {
        self.lanes.iter().map(|(host, lane)| (host.as_str(), lane))
    }

    /// What is left of each host and site, and why; `None` where nothing said why.
    pub fn left(&self) -> Vec<(String, usize, Option<String>)> {
        let all = self.lanes.iter().flat_map(|(host, lane)| {
            lane.sites.iter().map(move |(site, it)| (host.clone(), *site, it.closed.clone()))
        });
        all.collect()
    }
}

#[cfg(test)]
mod tests;
