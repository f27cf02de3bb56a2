//! robots.txt of each origin, read before anything else there.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use super::exchange::{Errand, Got, ROBOTS_LIMIT, ROBOTS_LOOK};
use super::visit::{HOPS, Redirect, redirect};
use super::{Door, RequestKind, RunError, locked};
use crate::fetch::http::{Accept, Request};
use crate::model::{PageUrl, Policy, Source, printable};
use crate::politeness::{Access, Answer, Host, Robots, Standing};
use crate::state::{AtGates, Change, Hold, RobotsRow};

/// How often a chain of redirects looks whether another thread has read the file of the
/// origin that it leads to.
const CHAIN_LOOKS: u32 = 2000;

/// What was read in this process.
#[derive(Debug, Default)]
pub(super) struct Shelf {
    /// By origin, with the time of reading.
    read: HashMap<String, (Arc<Access>, Instant)>,
    /// Origins whose file is being read.
    reading: HashSet<String>,
}

/// What is known of an origin.
pub(super) enum Rules {
    /// Its rules; where they could not be read, when they are asked for again.
    Known(Arc<Access>, Option<Duration>),
    /// It cannot be asked in this run.
    Deferred(String),
}

/// What a chain of redirects from a robots.txt came to.
enum Chain {
    Response(u16, Vec<u8>),
    Unreadable(String),
    Deferred(String),
}

impl Door<'_> {
    /// The rules of an address's origin for whoever asks with no chain behind it.
    pub(super) fn access(&self, source: &Source, url: &PageUrl) -> Result<Arc<Access>, RunError> {
        Ok(match self.rules(source, url, &[])? {
            Rules::Known(access, _) => access,
            Rules::Deferred(why) => Arc::new(Access {
                robots: Robots::forbid_all(why),
                standing: Standing::Unreachable,
                life: None,
            }),
        })
    }

    /// The rules of an address's origin. `chain` are the origins whose robots.txt led here,
    /// and are being read.
    pub(super) fn rules(
        &self,
        source: &Source,
        url: &PageUrl,
        chain: &[&str],
    ) -> Result<Rules, RunError> {
        let origin = url.origin();
        let policy = &source.policy;
        let mut looks = 0_u32;
        let claimed = loop {
            let mut shelf = locked(&self.shelf);
            if let Some(known) = self.known(&shelf, origin, policy) {
                return Ok(known);
            }
            // Who holds another file waits for a while only: two that wait for each other end.
            let patient = chain.is_empty() || looks < CHAIN_LOOKS;
            if !shelf.reading.contains(origin) || !patient {
                break shelf.reading.insert(origin.to_owned());
            }
            drop(shelf);
            self.check_interrupt()?;
            thread::sleep(ROBOTS_LOOK);
            looks += 1;
        };
        let read = self.read(source, url, &[chain, &[origin]].concat());
        let mut shelf = locked(&self.shelf);
        if claimed {
            shelf.reading.remove(origin);
        }
        match read? {
            Ok(access) => {
                let now = self.context.clock.monotonic();
                shelf.read.insert(origin.to_owned(), (access, now));
                let known = self.known(&shelf, origin, policy);
                Ok(known.unwrap_or_else(|| Rules::Deferred("robots.txt is out of date".to_owned())))
            }
            Err(why) => Ok(Rules::Deferred(why)),
        }
    }

    /// What was read of an origin and is not out of date for a policy.
    fn known(&self, shelf: &Shelf, origin: &str, policy: &Policy) -> Option<Rules> {
        let (access, read_at) = shelf.read.get(origin)?;
        let age = self.context.clock.monotonic().saturating_duration_since(*read_at);
        // Another source may have had it read under another policy.
        let life = match access.standing {
            Standing::Unreachable => policy.robots_retry,
            Standing::Read | Standing::Absent => Some(policy.robots_max_age),
        };
        if life.is_some_and(|life| age >= life) {
            return None;
        }
        let retry = life.map(|life| life.saturating_sub(age));
        Some(Rules::Known(Arc::clone(access), retry))
    }

    /// Reads the file of an origin and takes over what it says; in words why it cannot be
    /// asked for in this run.
    fn read(
        &self,
        source: &Source,
        url: &PageUrl,
        chain: &[&str],
    ) -> Result<Result<Arc<Access>, String>, RunError> {
        let found = match self.follow_robots(source, url, chain)? {
            Chain::Deferred(why) => return Ok(Err(why)),
            found => found,
        };
        let answer = match &found {
            Chain::Response(status, body) => Answer::Response(*status, body),
            Chain::Unreadable(why) | Chain::Deferred(why) => Answer::Unreadable(why),
        };
        let token = &self.context.config.bot.name;
        let access = Access::from_response(&answer, token, &source.policy);
        if let Some(why) = access.robots.unreachable() {
            tracing::info!(origin = url.origin(), why, "robots.txt could not be read");
        }
        self.take_over((source, url), &access, &found)?;
        Ok(Ok(Arc::new(access)))
    }

    /// Asks for the file, and follows redirects to any host: also to http, since what is
    /// read there can only forbid. A hop needs the rules of its origin first, unless it is
    /// a robots.txt itself.
    fn follow_robots(
        &self,
        source: &Source,
        url: &PageUrl,
        chain: &[&str],
    ) -> Result<Chain, RunError> {
        let first = match PageUrl::parse(&format!("{}/robots.txt", url.origin())) {
            Ok(first) => first,
            Err(error) => return Ok(Chain::Unreadable(error.to_string())),
        };
        let mut hops = vec![first];
        while let Some(here) = hops.last() {
            if let Some(end) = self.may_follow(source, here, chain)? {
                return Ok(end);
            }
            let request = Request::new(here, Accept::Robots, ROBOTS_LIMIT);
            let errand = Errand { source, kind: RequestKind::Robots, fresh: hops.len() == 1 };
            let response = match self.exchange(errand, request)? {
                Got::Put(put) => return Ok(Chain::Deferred(put.why)),
                Got::Failed(Some(status), _) => return Ok(Chain::Response(status, Vec::new())),
                Got::Failed(None, why) => return Ok(Chain::Unreadable(why)),
                Got::Response(response, _) => response,
            };
            match redirect(here, &response) {
                None => return Ok(Chain::Response(response.status, response.body)),
                Some(Redirect::Nowhere(_, why)) => return Ok(Chain::Unreadable(why)),
                Some(Redirect::To(to)) if hops.contains(&to) => {
                    return Ok(Chain::Unreadable(format!("its redirects are a loop, to {to}")));
                }
                Some(Redirect::To(_)) if hops.len() > HOPS => {
                    return Ok(Chain::Unreadable(format!("more than {HOPS} redirects")));
                }
                Some(Redirect::To(to)) => hops.push(to),
            }
        }
        Ok(Chain::Unreadable("nothing was asked for".to_owned()))
    }

    /// What ends a chain before a hop is asked for, if anything does.
    fn may_follow(
        &self,
        source: &Source,
        here: &PageUrl,
        chain: &[&str],
    ) -> Result<Option<Chain>, RunError> {
        if here.path() == "/robots.txt" && here.query().is_none() {
            return Ok(None);
        }
        let unreadable = |why: String| Ok(Some(Chain::Unreadable(why)));
        let origin = here.origin();
        if chain.contains(&origin) {
            return unreadable(format!(
                "its redirects are a loop: for {here} robots.txt of {origin} is needed first, which led there"
            ));
        }
        match self.rules(source, here, chain)? {
            Rules::Deferred(why) => Ok(Some(Chain::Deferred(why))),
            Rules::Known(access, _) => {
                let verdict = access.robots.allows(&here.as_str()[origin.len()..]);
                if verdict.allowed {
                    return Ok(None);
                }
                let ground = printable(&verdict.ground.to_string());
                unreadable(format!("it leads to {here}, forbidden by {ground}"))
            }
        }
    }

    /// Lets the host obey what its robots.txt says, and keeps the file for questions. Of a
    /// file that could not be read nothing is concluded.
    fn take_over(
        &self,
        (source, url): (&Source, &PageUrl),
        access: &Access,
        found: &Chain,
    ) -> Result<(), RunError> {
        let (host, origin) = (url.host(), url.origin());
        let terms = self.hosts.terms(host, source);
        let mut desk = locked(&self.desk);
        let now = self.ticks.start();
        let mut shortened = None;
        if access.standing != Standing::Unreachable {
            shortened = desk.schedule.with_host((host, &source.id, &[]), now, |row| {
                let mut schedule = Host::new(terms, row.state);
                schedule.set_crawl_delay(origin, access.robots.crawl_delay());
                let state = schedule.state().clone();
                let (hold, gates) = (Hold::AsItIs, AtGates::AsTheyAre);
                (Some(Change { state, hold, gates, counted: None }), schedule.shortened())
            })?;
        }
        let text = match found {
            Chain::Response(_, body) if access.standing == Standing::Read => Some(body.clone()),
            _ => None,
        };
        desk.schedule.keep_robots(&RobotsRow {
            origin: origin.to_owned(),
            host: host.to_owned(),
            read_at: now,
            standing: standing(access.standing).to_owned(),
            reason: access.robots.unreachable().map(str::to_owned),
            text,
        })?;
        let first = shortened.is_some() && desk.told.insert(host.to_owned());
        drop(desk);
        if let Some((asked, waited)) = shortened.filter(|_| first) {
            let told = format!(
                "{host} asks for a Crawl-delay of {} s; by the policy of its sources {} s are waited",
                asked.as_secs_f64(),
                waited.as_secs_f64()
            );
            tracing::warn!("{told}");
            self.context.progress.warn(&told);
        }
        Ok(())
    }
}

fn standing(standing: Standing) -> &'static str {
    match standing {
        Standing::Read => "read",
        Standing::Absent => "absent",
        Standing::Unreachable => "unreachable",
    }
}
