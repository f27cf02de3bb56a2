//! The loop over what is asked for and what comes.

use std::collections::HashMap;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, SyncSender};
use std::time::{Duration, Instant};

use super::convert::{Event, Task};
use super::lanes::Lanes;
use super::number;
use super::plan::{Form, Plan, looks_like_sitemap};
use super::receive::{Held, Job, Named, Received};
use crate::discover::frontier::Allowance;
use crate::discover::revisit::conditional;
use crate::discover::trust::Doubt;
use crate::model::{OutcomeKind, PageUrl, UrlId, UrlKind};
use crate::run::RunError;
use crate::run::door::Door;
use crate::run::pass::{HostProgress, Pass};
use crate::state::{SiteUrl, Spool, SpooledAnswer};

/// Bytes of answers after which a checkpoint is made.
const CHECKPOINT_BYTES: u64 = 512 << 20;

/// Pages that were put after which a checkpoint is made: what is remembered of them until
/// then takes memory.
const CHECKPOINT_PAGES: u64 = 50_000;

/// How often the loop looks at what is not an event.
const TICK: Duration = Duration::from_millis(50);

/// How often somebody is told how it goes.
const TELL: Duration = Duration::from_millis(250);

/// How far the URLs that are known of a site were looked through.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Round {
    /// Its starts are being read.
    Starts,
    /// Those up to that number.
    At(UrlId),
    Over,
}

/// What a site has come to.
pub(super) struct Progress {
    pub round: Round,
    /// Starts and sitemaps that are read before anything else.
    pub first: u64,
    /// Pages that are known to be as they were, without being asked for.
    pub unchanged: u64,
    pub allowance: Allowance,
    /// Sitemaps that were met.
    pub sitemaps: u64,
    /// What could not be read.
    pub trouble: Vec<String>,
    pub notes: Vec<(String, crate::model::Note)>,
    /// Answers of any kind.
    pub answers: u64,
}

/// What is left when the loop is over.
pub(super) struct Crawled {
    pub sites: Vec<Progress>,
    /// Hosts by site on which something is left, and why.
    pub left: Vec<(String, usize, Option<String>)>,
}

/// The loop.
pub(super) struct Crawl<'c, 'a> {
    pub pass: &'c mut Pass<'a>,
    pub plans: &'c [Plan<'c>],
    pub held: &'c Held,
    pub lanes: Lanes<'c>,
    pub sites: Vec<Progress>,
    /// Depth at which each URL was offered, by its fingerprint.
    pub seen: HashMap<u64, u8>,
    /// What is thought of the sitemaps, as they come up.
    pub doubts: HashMap<UrlId, Option<Doubt>>,
    checkpoint: Instant,
    /// Pages that were put since then.
    pub put: u64,
    told: Instant,
}

impl<'c, 'a> Crawl<'c, 'a> {
    pub fn new(
        pass: &'c mut Pass<'a>,
        plans: &'c [Plan<'c>],
        held: &'c Held,
        start: &'c dyn Fn(&str) -> Sender<Job>,
    ) -> Self {
        let progress = |plan: &Plan<'_>| Progress {
            round: Round::Starts,
            first: 0,
            unchanged: 0,
            allowance: Allowance::new(plan.site.max_pages, 0),
            sitemaps: 0,
            trouble: Vec::new(),
            notes: Vec::new(),
            answers: 0,
        };
        let now = pass.context.clock.monotonic();
        Self {
            pass,
            plans,
            held,
            lanes: Lanes::new(start),
            sites: plans.iter().map(progress).collect(),
            seen: HashMap::new(),
            doubts: HashMap::new(),
            checkpoint: now,
            put: 0,
            told: now,
        }
    }

    pub fn into_crawled(self) -> Crawled {
        Crawled { left: self.lanes.left(), sites: self.sites }
    }

    /// Runs until nothing is left to be asked for, the time is up, or somebody asks to stop.
    pub fn run(
        &mut self,
        resumed: bool,
        (door, events): (&Door<'_>, &Receiver<Event>),
        tasks: &SyncSender<Task>,
    ) -> Result<(), RunError> {
        for plan in self.plans {
            self.pass.context.progress.stage(&plan.source.id, "reading");
        }
        if resumed {
            for plan in self.plans {
                super::finish::restore_pages(self.pass, plan)?;
            }
            self.recall()?;
        }
        if resumed || !self.pass.is_over() {
            self.offer_starts()?;
        }
        if resumed {
            self.replay(events, tasks)?;
            self.recall()?;
        }
        loop {
            if self.pass.context.interrupt.is_raised() {
                return self.interrupted(events);
            }
            let over = self.pass.is_over();
            if !over {
                self.look_around()?;
                self.hand_out()?;
            }
            let idle = self.lanes.outstanding() == 0;
            if idle && (over || self.is_through()) {
                return Ok(());
            }
            match events.recv_timeout(self.patience()) {
                Ok(event) => self.settle(event)?,
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => return Err(RunError::Interrupted),
            }
            self.tell(door);
            if self.wants_checkpoint() {
                self.checkpoint(events)?;
            }
        }
    }

    /// How long to wait for what comes: not at all while there is something to look through.
    fn patience(&self) -> Duration {
        let looking = self.sites.iter().any(|site| matches!(site.round, Round::At(_)));
        if looking && !self.pass.is_over() { Duration::ZERO } else { TICK }
    }

    /// Whether nothing is left to do.
    fn is_through(&self) -> bool {
        let starting = |site: &Progress| site.round == Round::Starts && site.first > 0;
        !self.lanes.is_waiting()
            && self.sites.iter().all(|site| site.round == Round::Over || starting(site))
    }

    /// Gives the hosts' threads what comes next.
    fn hand_out(&mut self) -> Result<(), RunError> {
        let now = self.pass.context.clock.monotonic();
        while let Some((host, site)) = self.lanes.next(now) {
            let plan = &self.plans[site];
            let Some((id, class, hops)) = self.pass.state.take(&host, &plan.source.id)? else {
                self.lanes.empty(&host, site);
                continue;
            };
            let Some(row) = self.pass.state.site_url_of(id)? else { continue };
            let Ok(url) = PageUrl::parse(&row.url) else { continue };
            let job = self.job(site, (&row, url), (class, hops));
            if job.kind == UrlKind::Page && !self.sites[site].allowance.take() {
                self.lanes.close(&host, site, "`max_pages` of this run is reached");
                continue;
            }
            if !self.lanes.hand(job) {
                return Err(RunError::Interrupted);
            }
        }
        Ok(())
    }

    pub fn job(
        &self,
        site: usize,
        (row, url): (&SiteUrl, PageUrl),
        (class, hops): (u8, u8),
    ) -> Job {
        let plan = &self.plans[site];
        let known = row.known.as_ref();
        let named = if plan.starts.contains(&url) { Named::InStart } else { Named::BySite };
        let kind = known.map_or_else(
            || if looks_like_sitemap(&url) { UrlKind::Sitemap } else { UrlKind::Page },
            |known| known.kind,
        );
        let validators = row
            .visit
            .as_ref()
            .filter(|visit| {
                conditional(&plan.revisit(), (kind, known), visit, self.pass.started).is_ok()
            })
            .map(|visit| (Form::from_name(&visit.form), visit.validators.clone()));
        Job { site, row: Box::new(row.clone()), url, kind, named, class, hops, validators }
    }

    /// Ends in a checkpoint, from which the next run goes on.
    fn interrupted(&mut self, events: &Receiver<Event>) -> Result<(), RunError> {
        while self.lanes.outstanding() > 0 {
            match events.recv_timeout(Duration::from_secs(10)) {
                Ok(event) => self.settle(event)?,
                Err(_) => break,
            }
        }
        self.checkpoint(events)?;
        Err(RunError::Interrupted)
    }

    fn wants_checkpoint(&self) -> bool {
        let since = self.pass.context.clock.monotonic().duration_since(self.checkpoint);
        since >= self.pass.context.config.run.checkpoint
            || self.held.bytes() >= CHECKPOINT_BYTES
            || self.put >= CHECKPOINT_PAGES
    }

    /// Brings everything so far to disk: objects first, then what the state knows of them.
    fn checkpoint(&mut self, events: &Receiver<Event>) -> Result<(), RunError> {
        let held = self.held;
        self.checkpoint = self.pass.context.clock.monotonic();
        // Nothing comes into the spool while what is in it is being settled.
        let mut spool = held.hold();
        while !held.is_settled() {
            match events.recv_timeout(Duration::from_mins(5)) {
                Ok(event) => self.settle(event)?,
                Err(_) => return Err(RunError::Interrupted),
            }
        }
        let Some(spool) = spool.as_mut() else { return Ok(()) };
        self.put = 0;
        self.pass.writer.checkpoint()?;
        self.pass.state.checkpoint_crawl()?;
        spool.clear(number(self.pass.run))?;
        tracing::info!("a checkpoint is on disk");
        Ok(())
    }

    /// Converts again what an earlier process received and did not bring to disk.
    fn replay(
        &mut self,
        events: &Receiver<Event>,
        tasks: &SyncSender<Task>,
    ) -> Result<(), RunError> {
        let mut last = 0;
        loop {
            let next =
                self.held.hold().as_ref().map(|spool: &Spool| spool.next(last)).transpose()?;
            let Some((number, answer)) = next.flatten() else { return Ok(()) };
            last = number;
            let Some((site, row)) = self.find(&answer)? else { continue };
            let (false, Ok(url)) = (row.drafted, PageUrl::parse(&row.url)) else { continue };
            let job = self.job(site, (&row, url), (0, answer.hops));
            self.held.again();
            let received = Ok(Received::Answer(Box::new(answer)));
            if tasks.send(Task { job, received }).is_err() {
                return Err(RunError::Interrupted);
            }
            match events.recv_timeout(Duration::from_mins(5)) {
                Ok(event) => self.settle(event)?,
                Err(_) => return Err(RunError::Interrupted),
            }
        }
    }

    /// The site that asked, and what is known of the URL. Whatever led to it was replayed
    /// before it.
    fn find(&mut self, answer: &SpooledAnswer) -> Result<Option<(usize, SiteUrl)>, RunError> {
        let of = |plan: &Plan<'_>| plan.source.id.as_str() == answer.source;
        let Some(site) = self.plans.iter().position(of) else { return Ok(None) };
        let source = &self.plans[site].source.id;
        Ok(self.pass.state.site_url(source, &answer.url)?.map(|row| (site, row)))
    }

    /// Tells how it goes.
    fn tell(&mut self, door: &Door<'_>) {
        let now = self.pass.context.clock.monotonic();
        if now.duration_since(self.told) < TELL {
            return;
        }
        self.told = now;
        let hosts: Vec<HostProgress> = self
            .lanes
            .iter()
            .map(|(host, lane)| {
                let view = door.host(host);
                let waiting = lane.waiting() + lane.outstanding as u64;
                HostProgress {
                    host: host.to_owned(),
                    done: lane.done,
                    waiting,
                    pace: view.wait,
                    left_alone: view.parked,
                }
            })
            .collect();
        self.pass.context.progress.hosts(&hosts);
    }

    /// Whether a kind of outcome says that the source answered.
    pub fn count_answer(&mut self, site: usize, kind: OutcomeKind) {
        if !matches!(kind, OutcomeKind::Deferred | OutcomeKind::Failed) {
            self.sites[site].answers += 1;
        }
    }
}
