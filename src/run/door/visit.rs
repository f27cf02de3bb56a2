//! One address asked for, and followed where it leads.

use super::exchange::Got;
use super::robots::Rules;
use super::{Answer, Ask, Door, Follow, RequestKind, RunError, Visit};
use crate::fetch::http::{Request, Response};
use crate::model::{PageUrl, printable};

/// Most redirects that are followed.
pub(super) const HOPS: usize = 5;

/// Where a redirect leads.
pub(super) enum Redirect {
    /// There.
    To(PageUrl),
    /// Nowhere: what it says instead, and what is wrong with that.
    Nowhere(String, String),
}

/// Where a response leads, if it is a redirect (RFC 9110, section 15.4).
pub(super) fn redirect(from: &PageUrl, response: &Response) -> Option<Redirect> {
    let status = response.status;
    if !matches!(status, 301 | 302 | 303 | 307 | 308) {
        return None;
    }
    let Some(location) = response.headers.location.as_deref() else {
        let why = format!("status {status} without a Location, or with several");
        return Some(Redirect::Nowhere(String::new(), why));
    };
    Some(match from.join(location) {
        Ok(to) => Redirect::To(to),
        Err(error) => {
            let why = format!("status {status} with a Location that cannot be used: {error}");
            Redirect::Nowhere(location.to_owned(), why)
        }
    })
}

/// Whether a status says that an address has moved for good.
fn is_permanent(status: u16) -> bool {
    matches!(status, 301 | 308)
}

impl Door<'_> {
    /// Asks for an address and follows its redirects.
    ///
    /// Validators go to the address itself only: another one's answer cannot be compared
    /// with what they belong to. Behind a temporary redirect all are followed: what moved
    /// for good is not the address that was asked for.
    pub(super) fn visit(&self, ask: &Ask<'_>) -> Result<Visit, RunError> {
        let mut hops = vec![ask.url.clone()];
        while let Some(here) = hops.last() {
            if let Some(hindrance) = self.hindrance(ask, here)? {
                return Ok(hindrance);
            }
            let validators = ask.validators.filter(|_| hops.len() == 1);
            let request = Request { url: here, accept: ask.accept, validators, limit: ask.limit };
            let (response, time) = match self.exchange((ask.source, ask.kind), request)? {
                Got::Deferred(why) => return Ok(Visit::Deferred(why)),
                Got::Failed(_, why) => return Ok(Visit::Failed(why)),
                Got::Response(response, time) => (response, time),
            };
            let status = response.status;
            let to = match redirect(here, &response) {
                None => {
                    let answer = Answer { response: *response, found: here.clone(), time };
                    return Ok(Visit::Answer(Box::new(answer)));
                }
                Some(Redirect::Nowhere(to, why)) => return Ok(Visit::Astray { to, status, why }),
                Some(Redirect::To(to)) => to,
            };
            let first = hops.len() == 1;
            if first && is_permanent(status) && matches!(ask.follow, Follow::Temporary(_)) {
                return Ok(Visit::Moved { to, status, time });
            }
            if let Err(why) = may_lead(ask, &hops, &to) {
                return Ok(Visit::Astray { to: to.to_string(), status, why });
            }
            hops.push(to);
        }
        Ok(Visit::Failed("nothing was asked for".to_owned()))
    }

    /// What robots.txt has against an address, if anything.
    fn hindrance(&self, ask: &Ask<'_>, url: &PageUrl) -> Result<Option<Visit>, RunError> {
        let (access, retry) = match self.rules(ask.source, url, &[])? {
            Rules::Deferred(why) => return Ok(Some(Visit::Deferred(why))),
            Rules::Known(access, retry) => (access, retry),
        };
        let verdict = access.robots.allows(&url.as_str()[url.origin().len()..]);
        if verdict.allowed {
            return Ok(None);
        }
        if let Some(why) = access.robots.unreachable() {
            return Ok(Some(Visit::Unreachable { why: why.to_owned(), retry }));
        }
        let ground = printable(&verdict.ground.to_string());
        Ok(Some(Visit::Disallowed { url: url.clone(), ground }))
    }
}

/// Whether a redirect from the last of `hops` is followed.
fn may_lead(ask: &Ask<'_>, hops: &[PageUrl], to: &PageUrl) -> Result<(), String> {
    if hops.contains(to) {
        return Err("its redirects are a loop".to_owned());
    }
    if hops.len() > HOPS {
        return Err(format!("there are more than {HOPS} redirects"));
    }
    let secure = hops.last().is_some_and(|from| from.scheme() == "https");
    if ask.kind != RequestKind::Robots && secure && to.scheme() == "http" {
        return Err("it leads from https to http".to_owned());
    }
    match ask.follow {
        Follow::Temporary(may) | Follow::All(may) => may(to),
    }
}
