//! One request, one response.
//!
//! Owns the HTTP client. One call of [`Client::get`] is at most one request on the network:
//! it follows no redirect, tries nothing again, and keeps no cookie, cache or credential.
//! When it may be made, and to whom, is for its caller to know; this guarantees that
//!
//! * the bot's User-Agent and From go with every request, and nothing goes that was not
//!   asked for: no Referer, no language;
//! * private and local addresses are not connected to, however they are spelt and whatever
//!   a resolver answers, except where the configuration names the address itself;
//! * proxies and certificates are those of the configuration, not of the environment. With a
//!   proxy it is the proxy that resolves names (`socks5` excepted); literal addresses are
//!   checked all the same. `connect_to` goes around the proxy;
//! * a response is complete, or it is a failure that says so: shorter than its
//!   Content-Length, without its last chunk, or without the end of its gzip data;
//! * memory is bounded by the limit of the request, whatever is sent, and time by
//!   [`Timeouts`].
//!
//! The status of a response that is not a success counts whatever becomes of its body: a
//! cut or oversized error page leaves the body empty. Of a robots.txt that is larger than
//! its limit the beginning is the body (RFC 9309, section 2.5).

mod address;
mod connections;
mod decode;
mod dial;
mod failure;
mod headers;
mod transport;

use std::future::{Future, poll_fn};
use std::net::SocketAddr;
use std::pin::{Pin, pin};
use std::task::Poll;
use std::time::Duration;

use tokio::time::{Sleep, sleep, sleep_until, timeout};

pub use address::{Allowed, Refused};
pub use dial::ClientError;
pub use failure::{HttpFailure, Wait};
pub use headers::{Accept, Headers};
pub use transport::{Exchange, Transport};

use crate::config::NetworkConfig;
use crate::model::{Bot, Capture, PageUrl, Timestamp, Validators};
use decode::{Coding, Decoder, Extent};
use dial::{Dialler, Route};

/// Most bytes of the body of a response that is not a success.
const ERROR_BODY: u64 = 256 * 1024;

/// How long a request may wait.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Timeouts {
    /// For a connection, with name and TLS handshake: 10 s.
    pub connect: Duration,
    /// For the header section (after the time for the connection), and between two parts of
    /// the body: 30 s.
    pub idle: Duration,
    /// For everything: 300 s.
    pub whole: Duration,
}

impl Default for Timeouts {
    fn default() -> Self {
        Self {
            connect: Duration::from_secs(10),
            idle: Duration::from_secs(30),
            whole: Duration::from_mins(5),
        }
    }
}

/// What is asked for.
#[derive(Clone, Copy, Debug)]
pub struct Request<'a> {
    /// The address.
    pub url: &'a PageUrl,
    /// In which form.
    pub accept: Accept,
    /// Validators of what is stored, where the answer may be that it did not change.
    pub validators: Option<&'a Validators>,
    /// Most bytes of the decoded body.
    pub limit: u64,
    /// Whether it may be sent compressed.
    pub gzip: bool,
    /// Most bits that are received in a second, over any time from its beginning; `None` is as
    /// fast as they come.
    pub bits_per_second: Option<u64>,
}

impl<'a> Request<'a> {
    /// A request without validators, for a body that may be compressed and comes as it does.
    #[must_use]
    pub fn new(url: &'a PageUrl, accept: Accept, limit: u64) -> Self {
        Self { url, accept, validators: None, limit, gzip: true, bits_per_second: None }
    }
    /// Whether the beginning of a body over the limit is as good as all of it.
    fn takes_beginnings(&self) -> bool {
        self.accept == Accept::Robots
    }
}

/// What came.
#[derive(Clone, Debug)]
pub struct Response {
    /// Status code, 200 or more.
    pub status: u16,
    /// Header fields.
    pub headers: Headers,
    /// The decoded body; empty where the status has none, and where an error page was cut.
    pub body: Vec<u8>,
    /// Who sent it: the proxy where there is one.
    pub remote: Option<SocketAddr>,
    /// Length of the body as it was sent, in bytes.
    pub raw_length: u64,
}

impl Response {
    /// What is remembered of this answer of `found` to a request for `requested`.
    #[must_use]
    pub fn capture(&self, requested: &PageUrl, found: &PageUrl, time: Timestamp) -> Capture {
        Capture {
            requested: requested.clone(),
            found: found.clone(),
            status: self.status,
            media_type: self.headers.media_type(),
            validators: self.headers.validators.clone(),
            time,
        }
    }
}

/// The HTTP client; built once, since it keeps connections.
#[derive(Clone)]
pub struct Client {
    dialler: Dialler,
    timeouts: Timeouts,
}

impl std::fmt::Debug for Client {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        // The address of the proxy may hold a password.
        f.debug_struct("Client").field("timeouts", &self.timeouts).finish_non_exhaustive()
    }
}

impl Client {
    /// A client that speaks for `bot` and may contact the addresses in `allowed` besides
    /// those of the public internet.
    ///
    /// # Errors
    /// Certificates, proxy or the bot's words cannot be used.
    pub fn new(bot: &Bot, network: &NetworkConfig, allowed: Allowed) -> Result<Self, ClientError> {
        Self::with_timeouts(bot, network, allowed, Timeouts::default())
    }

    /// The same with other time-outs.
    ///
    /// # Errors
    /// As [`Client::new`].
    pub fn with_timeouts(
        bot: &Bot,
        network: &NetworkConfig,
        allowed: Allowed,
        timeouts: Timeouts,
    ) -> Result<Self, ClientError> {
        Ok(Self { dialler: Dialler::new(bot, network, allowed, timeouts)?, timeouts })
    }

    /// Makes one GET request. Needs a tokio runtime with I/O and time.
    ///
    /// # Errors
    /// See [`HttpFailure`].
    pub async fn get(&self, request: Request<'_>) -> Result<Response, HttpFailure> {
        let route = self.dialler.route(request.url)?;
        let mut end = pin!(sleep(self.timeouts.whole));
        let head = self.head(&route, request);
        let mut head = until(&mut end, head).await??;
        route.check_peer(head.remote_addr())?;
        let status = head.status();
        if status.is_informational() {
            // Early hints and the like never get here (RFC 9110, section 15.2).
            return Err(HttpFailure::Protocol(format!("it ends with status {status}")));
        }
        let headers = Headers::of(head.headers());
        let codings = headers::codings(head.headers());
        let limit = if status.is_success() { request.limit } else { request.limit.min(ERROR_BODY) };
        let body = match codings {
            Ok(codings) => {
                let mut decoder = Decoder::new(&codings, limit);
                let read = self.body(&mut head, (&mut decoder, request), &mut end).await;
                let raw_length = decoder.raw_length();
                read.and_then(|extent| decoder.finish(extent)).map(|body| (body, raw_length))
            }
            Err(failure) => Err(failure),
        };
        let (body, raw_length) = match body {
            Err(failure) if status.is_success() => return Err(failure),
            read => read.unwrap_or_default(),
        };
        let remote = head.remote_addr();
        Ok(Response { status: status.as_u16(), headers, body, remote, raw_length })
    }

    /// Sends the request and waits for the header section.
    async fn head(
        &self,
        route: &Route<'_>,
        request: Request<'_>,
    ) -> Result<reqwest::Response, HttpFailure> {
        let headers = headers::of_request(&request);
        let mut sending = route.client.get(route.url.clone()).headers(headers);
        if let Some(host) = &route.host {
            sending = sending.header(reqwest::header::HOST, host);
        }
        let patience = self.timeouts.connect + self.timeouts.idle;
        match timeout(patience, sending.send()).await {
            Err(_) => Err(HttpFailure::Timeout(Wait::Idle)),
            Ok(sent) => sent.map_err(|error| failure::classify(&error)),
        }
    }

    /// Reads and decodes the body; tells how much of it that was.
    async fn body(
        &self,
        head: &mut reqwest::Response,
        (decoder, request): (&mut Decoder, Request<'_>),
        end: &mut Pin<&mut Sleep>,
    ) -> Result<Extent, HttpFailure> {
        let cut = request.takes_beginnings();
        let begun = sleep(Duration::ZERO).deadline();
        if !cut && head.content_length().is_some_and(|length| length > decoder.raw_limit()) {
            return Err(HttpFailure::TooLarge { limit: decoder.limit() });
        }
        loop {
            match until(end, timeout(self.timeouts.idle, head.chunk())).await? {
                Err(_) => return Err(HttpFailure::Timeout(Wait::Idle)),
                Ok(Err(error)) => return Err(failure::classify(&error)),
                Ok(Ok(None)) => return Ok(Extent::Whole),
                Ok(Ok(Some(part))) => match decoder.push(&part) {
                    Err(HttpFailure::TooLarge { .. }) if cut => return Ok(Extent::Beginning),
                    pushed => pushed?,
                },
            }
            if let Some(bits) = request.bits_per_second {
                // What is not read is not sent for long: the window of the connection fills up.
                let bits_read = decoder.raw_length().saturating_mul(8);
                let due = Duration::from_millis(bits_read.saturating_mul(1000) / bits.max(1));
                until(end, sleep_until(begun + due)).await?;
            }
        }
    }
}

/// Waits for `work`, and no longer than to `end`.
async fn until<F: Future>(end: &mut Pin<&mut Sleep>, work: F) -> Result<F::Output, HttpFailure> {
    let mut work = pin!(work);
    poll_fn(|context| {
        if let Poll::Ready(done) = work.as_mut().poll(context) {
            return Poll::Ready(Ok(done));
        }
        end.as_mut().poll(context).map(|()| Err(HttpFailure::Timeout(Wait::Whole)))
    })
    .await
}

/// Unpacks a body that is a gzip file itself, as `sitemap.xml.gz` is; others stay as they
/// are. The same bounds hold as for a coded body.
///
/// # Errors
/// It is cut, damaged, or unpacks to more than `limit` bytes or suspiciously much.
pub fn unpack(body: &[u8], limit: u64) -> Result<Vec<u8>, HttpFailure> {
    let mut decoder = Decoder::new(&[Coding::Gzip], limit);
    decoder.push(body)?;
    decoder.finish(Extent::Whole)
}
