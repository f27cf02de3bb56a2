//! One address asked for, and followed where it leads.

use super::exchange::{Errand, Got};
use super::robots::Rules;
use super::turn::Put;
use super::{Answer, Ask, Door, Follow, RequestKind, RunError, Visit, locked};
use crate::fetch::http::{Request, Response};
use crate::model::{PageUrl, PolicyKind, Source, printable};

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
            let request = Request { validators, ..Request::new(here, ask.accept, ask.limit) };
            let errand = Errand { source: ask.source, kind: ask.kind, fresh: hops.len() == 1 };
            let (response, time) = match self.exchange(errand, request)? {
                Got::Put(Put { why, retry: None }) => return Ok(Visit::Deferred(why)),
                Got::Put(Put { why, retry: Some(retry) }) => {
                    return Ok(Visit::Later { why, retry });
                }
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

    /// What the policy or robots.txt has against an address, if anything.
    fn hindrance(&self, ask: &Ask<'_>, url: &PageUrl) -> Result<Option<Visit>, RunError> {
        let kind = ask.source.policy.kind(ask.kind, url.as_str());
        if let Some(why) = kind.and_then(|kind| kind.refused.as_ref()) {
            let why = format!("the policy `{}` does not allow it: {why}", ask.source.policy.name);
            return Ok(Some(Visit::Refused { url: url.clone(), why }));
        }
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
        if ask.source.robots_exception && kind.is_some_and(|kind| kind.robots_exception) {
            self.tell_exception((ask.source, kind), url, &ground);
            return Ok(None);
        }
        Ok(Some(Visit::Disallowed { url: url.clone(), ground }))
    }

    /// Says that an exception from robots.txt was made, once for each kind and origin; the log
    /// has every one.
    fn tell_exception(
        &self,
        (source, kind): (&Source, Option<&PolicyKind>),
        url: &PageUrl,
        ground: &str,
    ) {
        let (id, origin) = (&source.id, url.origin());
        let kind = kind.map_or("", |kind| kind.name.as_str());
        tracing::warn!(source = %id, %url, ground, "asked for by the robots_exception of the source");
        let told = format!(
            "{id}: `robots_exception` lets requests of the kind `{kind}` through that robots.txt of \
             {origin} forbids ({ground})"
        );
        if locked(&self.desk).told.insert(format!("{kind} {origin}")) {
            self.context.progress.warn(&told);
        }
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
