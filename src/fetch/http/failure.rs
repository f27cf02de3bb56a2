//! Why a request brought no response.

use std::error::Error;
use std::fmt::Write as _;
use std::io;

use super::address::Refused;

/// Most characters of a message that comes from elsewhere.
const MESSAGE: usize = 200;

/// The wait that took too long.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wait {
    /// For a connection, the TLS handshake included.
    Connect,
    /// For the header section, or the next part of the body.
    Idle,
    /// For all of it.
    Whole,
}

/// Why one request brought no response that can be used.
#[derive(Debug, thiserror::Error)]
pub enum HttpFailure {
    /// The host is, or resolves to, an address that is never contacted. There was no
    /// connection.
    #[error(transparent)]
    Address(#[from] Refused),
    /// The address cannot be asked in this way at all.
    #[error("the request cannot be made: {0}")]
    Request(String),
    /// The name of the host has no address.
    #[error("the host cannot be resolved: {0}")]
    Resolve(String),
    /// There was no connection.
    #[error("no connection: {0}")]
    Connect(String),
    /// The host did not prove that it is the one that was asked for.
    #[error("no secure connection: {0}")]
    Tls(String),
    /// It took too long.
    #[error("{}", match .0 {
        Wait::Connect => "the host did not take the connection in time",
        Wait::Idle => "the host was silent for too long",
        Wait::Whole => "the response took too long",
    })]
    Timeout(Wait),
    /// The connection was cut.
    #[error("the connection was reset")]
    Reset,
    /// The response ended before it was complete (RFC 9112, section 8).
    #[error("the response is incomplete")]
    Truncated,
    /// The body is larger than was asked for.
    #[error("the body is larger than {limit} bytes")]
    TooLarge {
        /// Most bytes, decoded.
        limit: u64,
    },
    /// The body unpacks to suspiciously much.
    #[error("the body unpacks to more than {} times its size", super::decode::RATIO)]
    Ratio,
    /// The content coding is unknown, or its data are damaged.
    #[error("the body cannot be decoded: {0}")]
    Encoding(String),
    /// Whoever asked wants no answer any more.
    #[error("the request was given up")]
    GivenUp,
    /// What came is not HTTP/1.1, or not what was asked for.
    #[error("the response is not understood: {0}")]
    Protocol(String),
}

impl HttpFailure {
    /// Whether the network or the host failed: such a request may be made again, later.
    #[must_use]
    pub fn is_network(&self) -> bool {
        matches!(
            self,
            Self::Resolve(_) | Self::Connect(_) | Self::Timeout(_) | Self::Reset | Self::Truncated
        )
    }
}

/// What an error of the client means, by its causes.
pub(super) fn classify(error: &reqwest::Error) -> HttpFailure {
    let causes = causes(error);
    if let Some(refused) = find::<Refused>(&causes) {
        return refused.clone().into();
    }
    if let Some(unresolved) = find::<super::address::Unresolved>(&causes) {
        return HttpFailure::Resolve(printable(&unresolved.to_string()));
    }
    if let Some(tls) = find::<rustls::Error>(&causes) {
        return HttpFailure::Tls(printable(&tls.to_string()));
    }
    if error.is_connect() {
        let timed_out = error.is_timeout() || is_io(&causes, &[io::ErrorKind::TimedOut]);
        return if timed_out {
            HttpFailure::Timeout(Wait::Connect)
        } else {
            HttpFailure::Connect(last(&causes))
        };
    }
    if error.is_builder() || error.is_redirect() {
        return HttpFailure::Request(last(&causes));
    }
    classify_transfer(&causes)
}

/// The same for an error after the connection was there.
fn classify_transfer(causes: &[&(dyn Error + 'static)]) -> HttpFailure {
    const RESET: &[io::ErrorKind] = &[
        io::ErrorKind::ConnectionReset,
        io::ErrorKind::ConnectionAborted,
        io::ErrorKind::BrokenPipe,
    ];
    if is_io(causes, RESET) {
        return HttpFailure::Reset;
    }
    let http = find::<hyper::Error>(causes);
    if is_io(causes, &[io::ErrorKind::UnexpectedEof])
        || http.is_some_and(|error| error.is_incomplete_message() || error.is_closed())
    {
        return HttpFailure::Truncated;
    }
    if http.is_some_and(hyper::Error::is_canceled) {
        return HttpFailure::Reset;
    }
    HttpFailure::Protocol(last(causes))
}

/// An error and all its causes; what an I/O error wraps is one of them.
fn causes<'a>(error: &'a (dyn Error + 'static)) -> Vec<&'a (dyn Error + 'static)> {
    let mut found = vec![error];
    let mut here = error;
    loop {
        let wrapped = here.downcast_ref::<io::Error>().and_then(io::Error::get_ref);
        let next: Option<&'a (dyn Error + 'static)> = match wrapped {
            Some(inner) => Some(inner),
            None => here.source(),
        };
        let Some(next) = next else { return found };
        found.push(next);
        here = next;
    }
}

fn find<'a, E: Error + 'static>(causes: &[&'a (dyn Error + 'static)]) -> Option<&'a E> {
    causes.iter().find_map(|cause| cause.downcast_ref())
}

fn is_io(causes: &[&(dyn Error + 'static)], kinds: &[io::ErrorKind]) -> bool {
    let mut errors = causes.iter().filter_map(|cause| cause.downcast_ref::<io::Error>());
    errors.any(|error| kinds.contains(&error.kind()))
}

/// What the innermost cause says; the outer ones repeat the URL.
fn last(causes: &[&(dyn Error + 'static)]) -> String {
    printable(&causes.last().map(ToString::to_string).unwrap_or_default())
}

/// A text from elsewhere on one line and without control characters, shortened.
pub(super) fn printable(text: &str) -> String {
    let mut out = String::new();
    for c in text.chars().take(MESSAGE) {
        let plain = c == ' ' || c.is_alphanumeric() || c.is_ascii_punctuation();
        if plain {
            out.push(c);
        } else {
            // Writing to a string cannot fail.
            let _ = write!(out, "{}", c.escape_unicode());
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::printable;

    #[test]
    fn texts_from_elsewhere_cannot_reach_a_terminal() {
        assert_eq!(printable("a\u{1b}[31m b\nc\u{202e}ü"), "a\\u{1b}[31m b\\u{a}c\\u{202e}ü");
        assert_eq!(printable(&"x".repeat(1000)).len(), super::MESSAGE);
    }
}
