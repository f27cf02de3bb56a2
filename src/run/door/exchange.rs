//! One request with its retries.

use std::sync::Arc;
use std::time::Duration;

use super::hosts;
use super::turn::{Done, Outlook, Put, TIME_IS_UP, left};
use super::{Door, RequestKind, RunError, locked};
use crate::fetch::http::{Exchange, HttpFailure, Request, Response, Transport};
use crate::model::{PageUrl, Source, Timestamp};
use crate::politeness::{Gate, Next, Reply, retry_after};

/// Who asks, and what for.
#[derive(Clone, Copy)]
pub(super) struct Errand<'q> {
    pub source: &'q Source,
    pub kind: RequestKind,
    /// Whether it is no hop of a redirect.
    pub fresh: bool,
}

/// What became of one request.
pub(super) enum Got {
    /// A response whose status asks for no other attempt, and when it had come.
    Response(Box<Response>, Timestamp),
    /// Not now, or not in this run.
    Put(Put),
    /// It failed; the status of the last attempt, where that had one.
    Failed(Option<u16>, String),
}

impl Door<'_> {
    /// Makes a request, and again where that may help.
    pub(super) fn exchange(
        &self,
        errand: Errand<'_>,
        request: Request<'_>,
    ) -> Result<Got, RunError> {
        let transport = self.transport()?;
        let (host, kind) = (request.url.host(), errand.kind);
        let mut claim = self.claim(&errand, (host, request.url.as_str()));
        let policy = errand.source.policy.kind(kind, request.url.as_str());
        let request = Request {
            gzip: policy.is_none_or(|policy| policy.gzip),
            bits_per_second: claim.gates.iter().filter_map(Gate::share).min(),
            ..request
        };
        for retries in 0.. {
            claim.fresh = errand.fresh && retries == 0;
            let taken = match self.await_turn(&claim)? {
                Ok(taken) => taken,
                Err(put) => return Ok(Got::Put(put)),
            };
            let give_up = || self.is_closed() || self.is_late();
            let exchange = transport.get(request, &give_up);
            let done = self.judge(&exchange, retries);
            let next = self.end_turn(&claim, &taken, &done)?;
            self.log((request.url, kind), &exchange, (retries, next));
            let why = match exchange.result {
                Err(HttpFailure::GivenUp) if self.is_closed() => return Err(RunError::Interrupted),
                Err(HttpFailure::GivenUp) => return Ok(Got::Put(Put::off(TIME_IS_UP))),
                Ok(response) if next == Next::Done => {
                    return Ok(Got::Response(Box::new(response), self.context.clock.now()));
                }
                Ok(response) => (Some(response.status), format!("status {}", response.status)),
                Err(failure) => (None, failure.to_string()),
            };
            match next {
                Next::Retry => {}
                Next::Deferred => return Ok(Got::Put(Put::off(&self.why_parked(host, &why.1)))),
                Next::Done | Next::Failed => return Ok(failed(why, retries)),
            }
        }
        // No policy allows that many retries.
        Ok(Got::Failed(None, "too many retries".to_owned()))
    }

    /// What an exchange means to its host.
    fn judge(&self, exchange: &Exchange, retries: u32) -> Done {
        let done = Done {
            reply: None,
            retry_after: None,
            retries,
            outlook: Outlook::Open,
            bytes: 0,
            connections: exchange.connections,
        };
        match &exchange.result {
            Ok(response) => {
                let headers = &response.headers;
                let values: Vec<&str> = headers.retry_after.iter().map(String::as_str).collect();
                let asked = retry_after(&values, headers.date.as_deref(), self.ticks.stamp());
                let reply = Some(Reply::Status(response.status));
                Done { reply, retry_after: asked, bytes: response.raw_length, ..done }
            }
            Err(failure) => {
                let (reply, outlook) = meaning(failure);
                Done { reply, outlook, ..done }
            }
        }
    }

    fn log(
        &self,
        (url, kind): (&PageUrl, RequestKind),
        exchange: &Exchange,
        (retries, next): (u32, Next),
    ) {
        let (run, kind) = (self.run.0, kind.name());
        match &exchange.result {
            Ok(response) => {
                let (status, bytes) = (response.status, response.raw_length);
                tracing::debug!(run, %url, kind, status, bytes, retries, ?next, "asked");
            }
            Err(failure) => tracing::debug!(run, %url, kind, %failure, retries, ?next, "asked"),
        }
    }

    /// Why a host is left alone, after a request of which `fallback` tells.
    fn why_parked(&self, host: &str, fallback: &str) -> String {
        let row = locked(&self.desk).schedule.host(host, self.ticks.start());
        let parked = row.ok().and_then(|row| row.state.parked);
        parked.map_or_else(|| fallback.to_owned(), |parked| left(host, &parked))
    }

    /// The HTTP client, made when it is first needed.
    fn transport(&self) -> Result<Arc<Transport>, RunError> {
        let mut transport = locked(&self.transport);
        if let Some(made) = transport.as_ref() {
            return Ok(Arc::clone(made));
        }
        let config = self.context.config;
        let made = Transport::new(&config.bot, &config.network, hosts::allowed(config))?;
        Ok(Arc::clone(transport.insert(Arc::new(made))))
    }
}

/// What a failure tells of its host, and whether the request is worth another attempt.
fn meaning(failure: &HttpFailure) -> (Option<Reply>, Outlook) {
    match failure {
        HttpFailure::GivenUp => (None, Outlook::Open),
        HttpFailure::Address(_) | HttpFailure::Request(_) => (None, Outlook::Hopeless),
        // The host answered; what it sent is of no use.
        HttpFailure::TooLarge { .. } | HttpFailure::Ratio | HttpFailure::Encoding(_) => {
            (Some(Reply::Status(200)), Outlook::Hopeless)
        }
        HttpFailure::Tls(_) | HttpFailure::Protocol(_) => {
            (Some(Reply::NoAnswer), Outlook::Hopeless)
        }
        HttpFailure::Resolve(_)
        | HttpFailure::Connect(_)
        | HttpFailure::Timeout(_)
        | HttpFailure::Reset
        | HttpFailure::Truncated => (Some(Reply::NoAnswer), Outlook::Open),
    }
}

fn failed((status, why): (Option<u16>, String), retries: u32) -> Got {
    let attempts = match retries {
        0 => String::new(),
        more => format!(", also after {more} retries"),
    };
    Got::Failed(status, format!("{why}{attempts}"))
}

/// A little more than the 500 KiB that are read of a robots.txt, since what is packed ends
/// somewhere near the limit.
pub(super) const ROBOTS_LIMIT: u64 = 576 * 1024;

/// How soon a robots.txt that another thread is reading is looked at again.
pub(super) const ROBOTS_LOOK: Duration = Duration::from_millis(5);
