//! The door: every request of the program passes it.
#![allow(dead_code, unused_variables, clippy::unused_self, reason = "being built")]

use std::marker::PhantomData;
use std::sync::Arc;
use std::time::{Duration, Instant};

pub(super) use crate::model::RequestKind;

use super::{Context, RunError};
use crate::archive::Archive;
use crate::fetch::http::{Accept, Response};
use crate::model::{PageUrl, RunId, Source, Timestamp, Validators};
use crate::politeness::{Access, Reply};

/// What is asked for, and for whom.
pub(super) struct Ask<'q> {
    /// The source that asks.
    pub source: &'q Source,
    /// The address.
    pub url: &'q PageUrl,
    /// What for.
    pub kind: RequestKind,
    /// In which form.
    pub accept: Accept,
    /// Validators of what is stored of that very address; sent to no other.
    pub validators: Option<&'q Validators>,
    /// Most bytes of the body.
    pub limit: u64,
    /// Which redirects are followed.
    pub follow: Follow<'q>,
}

/// Whether an address that a redirect leads to may be asked for; if not, why.
pub(super) type MayLead<'q> = &'q (dyn Fn(&PageUrl) -> Result<(), String> + Sync);

/// Which redirects are followed.
#[derive(Clone, Copy)]
pub(super) enum Follow<'q> {
    /// Temporary ones (302, 303, 307) that lead to where the function allows; a permanent one
    /// is the answer.
    Temporary(MayLead<'q>),
    /// All that lead to where the function allows.
    All(MayLead<'q>),
}

/// A response, and where it was found.
#[derive(Debug)]
pub(super) struct Answer {
    /// Any status that is no redirect, 304 included.
    pub response: Response,
    /// The address that answered.
    pub found: PageUrl,
    /// When it had answered.
    pub time: Timestamp,
}

/// What became of a request.
#[derive(Debug)]
pub(super) enum Visit {
    /// It was answered.
    Answer(Box<Answer>),
    /// It leads elsewhere for good (301, 308), and such redirects are not followed.
    Moved {
        /// Where to.
        to: PageUrl,
        /// The status.
        status: u16,
        /// When it had answered.
        time: Timestamp,
    },
    /// A redirect that is not followed: to where it may not lead, from https to http, without
    /// a Location, the sixth, or in a circle.
    Astray {
        /// Where to, as it came; not fit to be printed.
        to: String,
        /// The status.
        status: u16,
        /// Why it is not followed.
        why: String,
    },
    /// robots.txt forbids it, at whatever hop.
    Disallowed {
        /// The address that is forbidden.
        url: PageUrl,
        /// What forbids it.
        ground: String,
    },
    /// robots.txt could not be read.
    Unreachable {
        /// Why.
        why: String,
        /// When it is asked for again in this run; `None` is never.
        retry: Option<Duration>,
    },
    /// Not in this run: the host is left alone, somebody stopped it, or the time is up.
    Deferred(String),
    /// It failed, with all its retries.
    Failed(String),
}

/// How a host stands.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct HostView {
    /// Least time from the end of a request to the start of the next.
    pub wait: Duration,
    /// Time until the next request may begin.
    pub next_in: Duration,
    /// Why it is left for a later run, where it is.
    pub parked: Option<String>,
}

/// The door of one process on one archive.
pub(super) struct Door<'a> {
    context: PhantomData<&'a ()>,
}

impl<'a> Door<'a> {
    /// Opens the door; [`RunId`] 0 stands for requests outside of runs.
    pub fn open(
        context: &'a Context<'a>,
        archive: &Archive,
        run: RunId,
        deadline: Option<Instant>,
    ) -> Result<Self, RunError> {
        Ok(Self { context: PhantomData })
    }

    /// Makes a request when its turn has come, and follows it where it leads.
    ///
    /// # Errors
    /// Somebody asked to stop, or the politeness file failed.
    pub fn get(&self, ask: &Ask<'_>) -> Result<Visit, RunError> {
        Err(RunError::Interrupted)
    }

    /// Lets `work` update a repository on a host, as one request to it.
    ///
    /// # Errors
    /// Somebody asked to stop, or the politeness file failed.
    pub fn git<T>(
        &self,
        source: &Source,
        host: &str,
        work: impl FnOnce() -> (Reply, T),
    ) -> Result<Result<T, String>, RunError> {
        Err(RunError::Interrupted)
    }

    /// How a host stands.
    pub fn host(&self, host: &str) -> HostView {
        HostView::default()
    }

    /// What robots.txt of an address's origin says; read where that was not done yet.
    ///
    /// # Errors
    /// Somebody asked to stop, or the politeness file failed.
    pub fn robots(&self, source: &Source, url: &PageUrl) -> Result<Arc<Access>, RunError> {
        Err(RunError::Interrupted)
    }
}
