//! What scripted hosts answer: replies with all that can go wrong with them, and the lists
//! of replies that stand behind the paths of a host.

use std::collections::BTreeMap;
use std::time::Duration;

use serde_json::Value;

/// How the end of a body is told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Framing {
    /// With a Content-Length.
    Length,
    /// With a Content-Length; the connection is closed after so many bytes.
    Cut(usize),
    /// In chunks.
    Chunked,
    /// In chunks, of which the last is never sent; closed after so many bytes.
    Unended(usize),
    /// By the end of the connection.
    Close,
}

/// What a body is made of.
#[derive(Clone, Debug)]
pub enum Body {
    Bytes(Vec<u8>),
    /// Some bytes, others so many times, and some at the end.
    Repeat {
        start: Vec<u8>,
        unit: Vec<u8>,
        times: u64,
    },
}

/// When a reply is used, whatever its place in the list.
#[derive(Clone, Debug)]
enum Condition {
    /// The request has this header; with this value unless it is `*`.
    Header(String, String),
    /// Accept does not name this media type.
    AcceptLacks(String),
}

/// One answer.
#[derive(Clone, Debug)]
pub struct Reply {
    pub status: u16,
    /// Values are octets, one character each.
    pub headers: Vec<(String, String)>,
    pub body: Body,
    pub framing: Framing,
    /// Waits before the first byte.
    pub delay: Duration,
    /// Sends the body in parts of so many bytes, with a wait before each.
    pub drip: Option<(usize, Duration)>,
    /// Resets the connection instead of answering.
    pub reset: bool,
    /// Octets behind the header section that belong to nothing.
    pub stray: Vec<u8>,
    /// More header bytes: a start, and a unit so many times, before the end of the section.
    pub flood: Option<(Vec<u8>, Vec<u8>, u64)>,
    /// What is sent is less than it should be, although its framing is whole.
    pub partial: bool,
    /// Answers 304 to a request whose validators are those of the reply.
    pub validates: bool,
    when: Option<Condition>,
}

impl Reply {
    pub fn new(status: u16, headers: &[(&str, &str)], body: impl AsRef<[u8]>) -> Self {
        Self {
            status,
            headers: headers.iter().map(|(n, v)| ((*n).to_owned(), (*v).to_owned())).collect(),
            body: Body::Bytes(body.as_ref().to_vec()),
            framing: Framing::Length,
            delay: Duration::ZERO,
            drip: None,
            reset: false,
            stray: Vec::new(),
            flood: None,
            partial: false,
            validates: false,
            when: None,
        }
    }

    /// `200` with this media type.
    pub fn ok(media: &str, body: impl AsRef<[u8]>) -> Self {
        Self::new(200, &[("Content-Type", media)], body)
    }

    /// `200` with HTML.
    pub fn html(body: impl AsRef<[u8]>) -> Self {
        Self::ok("text/html; charset=utf-8", body)
    }

    /// A page: title, one paragraph, and links.
    pub fn page(title: &str, text: &str, links: &[&str]) -> Self {
        Self::html(page(title, text, links))
    }

    /// A robots.txt.
    pub fn robots(text: &str) -> Self {
        Self::ok("text/plain", text)
    }

    /// A sitemap of these addresses; what stands behind a space is their `lastmod`.
    pub fn sitemap<S: AsRef<str>>(entries: &[S]) -> Self {
        let entry = |text: &str| match text.split_once(' ') {
            Some((url, time)) => {
                format!("<url><loc>{url}</loc><lastmod>{time}</lastmod></url>\n")
            }
            None => format!("<url><loc>{text}</loc></url>\n"),
        };
        let entries: String = entries.iter().map(|text| entry(text.as_ref())).collect();
        let space = "http://www.sitemaps.org/schemas/sitemap/0.9";
        let text =
            format!("<?xml version=\"1.0\"?>\n<urlset xmlns=\"{space}\">\n{entries}</urlset>");
        Self::ok("application/xml", text)
    }

    /// A redirect.
    pub fn redirect(status: u16, location: &str) -> Self {
        Self::new(status, &[("Location", location)], "")
    }

    /// A status with a few words of HTML.
    pub fn status(status: u16) -> Self {
        let text = format!("<html><body><h1>{status}</h1></body></html>");
        Self { status, ..Self::html(text) }
    }

    pub fn header(mut self, name: &str, value: &str) -> Self {
        self.headers.push((name.to_owned(), value.to_owned()));
        self
    }

    /// The same with an `ETag`, answered with 304 to whoever has it.
    pub fn etag(self, tag: &str) -> Self {
        Self { validates: true, ..self.header("ETag", tag) }
    }

    pub fn framing(self, framing: Framing) -> Self {
        Self { framing, ..self }
    }

    pub fn delay(self, delay: Duration) -> Self {
        Self { delay, ..self }
    }

    pub fn reset(self) -> Self {
        Self { reset: true, ..self }
    }

    /// The same with another body.
    pub fn repeating(self, start: &[u8], unit: &[u8], times: u64) -> Self {
        Self { body: Body::Repeat { start: start.to_vec(), unit: unit.to_vec(), times }, ..self }
    }

    pub fn flood(self, start: &str, unit: &str, times: u64) -> Self {
        Self { flood: Some((start.into(), unit.into(), times)), ..self }
    }

    /// A response of the shared cases. `put` puts the names of a test in.
    #[track_caller]
    pub fn from_json(value: &Value, put: &dyn Fn(&str) -> String) -> Self {
        let text = |name: &str| value.get(name).and_then(Value::as_str);
        let number = |name: &str| value.get(name).and_then(Value::as_u64);
        let known = [
            "status",
            "headers",
            "body",
            "body_b64",
            "delay_ms",
            "drip",
            "close_after_bytes",
            "framing",
            "reset_connection",
            "raw_extra_after_headers",
            "only_if_request_header",
            "only_if_accept_lacks",
        ];
        for name in value.as_object().expect("a response").keys() {
            assert!(known.contains(&name.as_str()), "responses with `{name}` are not played");
        }
        let body = match (text("body"), text("body_b64")) {
            (Some(body), _) => put(body).into_bytes(),
            (None, Some(coded)) => base64(coded),
            (None, None) => Vec::new(),
        };
        let cut = number("close_after_bytes").map(|n| usize::try_from(n).expect("a size"));
        let framing = match (text("framing").unwrap_or("length"), cut) {
            (framing, _) if framing.starts_with("chunked") => Framing::Unended(body.len()),
            (framing, _) if framing.starts_with("close") => Framing::Close,
            ("length", Some(cut)) => Framing::Cut(cut),
            ("length", None) => Framing::Length,
            (other, _) => panic!("`{other}` is not played"),
        };
        let headers = value.get("headers").and_then(Value::as_object).into_iter().flatten();
        let headers = headers
            .filter(|(name, _)| !name.eq_ignore_ascii_case("content-length"))
            .map(|(name, value)| (name.clone(), put(value.as_str().expect("a value"))))
            .collect();
        let when = text("only_if_request_header")
            .map(|text| {
                let (name, wanted) = text.split_once(':').unwrap_or((text, "*"));
                Condition::Header(name.trim().to_lowercase(), wanted.trim().to_owned())
            })
            .or_else(|| text("only_if_accept_lacks").map(|t| Condition::AcceptLacks(t.to_owned())));
        let milliseconds = |n| Duration::from_millis(n);
        Self {
            status: u16::try_from(number("status").unwrap_or(200)).expect("a status"),
            headers,
            body: Body::Bytes(body),
            framing,
            delay: number("delay_ms").map(milliseconds).unwrap_or_default(),
            drip: number("drip").map(|n| (1, milliseconds(n))),
            reset: value.get("reset_connection") == Some(&Value::Bool(true)),
            stray: text("raw_extra_after_headers").unwrap_or_default().into(),
            flood: None,
            partial: text("framing").is_some_and(|framing| framing.ends_with("cut")),
            validates: false,
            when,
        }
    }

    /// Whether the reply is one for requests of some kind only; `None` where it is not.
    fn condition(&self, header: &dyn Fn(&str) -> Option<String>) -> Option<bool> {
        Some(match self.when.as_ref()? {
            Condition::Header(name, wanted) => {
                header(name).is_some_and(|value| wanted == "*" || *wanted == value)
            }
            Condition::AcceptLacks(media) => !header("accept").is_some_and(|a| a.contains(media)),
        })
    }

    /// The value of one of its headers.
    pub fn value(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(n, _)| n.eq_ignore_ascii_case(name)).map(|(_, v)| v.as_str())
    }
}

/// A small HTML page with a main part.
pub fn page(title: &str, text: &str, links: &[&str]) -> String {
    let link = |to: &&str| format!("<p><a href=\"{to}\">to {to}</a></p>\n");
    let links = links.iter().map(link).collect::<Vec<_>>().concat();
    format!(
        "<!doctype html><html><head><title>{title}</title></head><body><main><h1>{title}</h1>\n\
         <p>{text}</p>\n{links}</main></body></html>\n"
    )
}

/// What the paths of some hosts answer. A host is a name, for both schemes, or
/// `http://name` or `https://name` for one, which comes first. A path that ends in `*`
/// stands for all that begin so; the longest match counts.
#[derive(Clone, Debug, Default)]
pub struct Script(BTreeMap<String, BTreeMap<String, Vec<Reply>>>);

impl Script {
    pub fn new() -> Self {
        Self::default()
    }

    /// The same, where a path answers one thing after the other; the last is repeated.
    pub fn with(mut self, host: &str, path: &str, replies: &[Reply]) -> Self {
        self.set(host, path, replies.to_vec());
        self
    }

    /// The same with one answer.
    pub fn on(self, host: &str, path: &str, reply: Reply) -> Self {
        self.with(host, path, &[reply])
    }

    pub fn set(&mut self, host: &str, path: &str, replies: Vec<Reply>) {
        assert!(!replies.is_empty(), "{host}{path} has no reply");
        self.0.entry(host.to_owned()).or_default().insert(path.to_owned(), replies);
    }

    /// Everything that a host answers is gone.
    pub fn clear(&mut self, host: &str) {
        self.0.insert(host.to_owned(), BTreeMap::new());
    }

    /// Reads `hosts` of a shared case.
    pub fn from_json(hosts: &Value, put: &dyn Fn(&str) -> String) -> Self {
        let mut script = Self::new();
        for (host, paths) in hosts.as_object().into_iter().flatten() {
            for (path, replies) in paths.as_object().expect("paths") {
                let replies = replies.as_array().expect("responses");
                let replies = replies.iter().map(|reply| Reply::from_json(reply, put)).collect();
                script.set(host, path, replies);
            }
        }
        script
    }

    /// Hosts and their paths.
    pub fn entries(&self) -> impl Iterator<Item = (&str, &str, &[Reply])> {
        self.0.iter().flat_map(|(host, paths)| {
            paths.iter().map(|(path, replies)| (host.as_str(), path.as_str(), replies.as_slice()))
        })
    }

    /// Names of the hosts, without schemes.
    pub fn names(&self) -> Vec<String> {
        let bare = |host: &String| host.rsplit('/').next().unwrap_or(host).to_owned();
        let mut names: Vec<String> = self.0.keys().map(bare).collect();
        names.dedup();
        names
    }

    /// Where a request leads: host and path as the script has them.
    pub fn find(&self, scheme: &str, name: &str, target: &str) -> Option<(String, String)> {
        for host in [format!("{scheme}://{name}"), name.to_owned()] {
            let Some(paths) = self.0.get(&host) else { continue };
            let fits = |path: &&String| match path.strip_suffix('*') {
                Some(start) => target.starts_with(start),
                None => path.as_str() == target,
            };
            let exact = paths.get_key_value(target).map(|(path, _)| path);
            let found = exact.or_else(|| paths.keys().filter(fits).max_by_key(|path| path.len()));
            if let Some(path) = found {
                return Some((host, path.clone()));
            }
        }
        None
    }

    /// The reply of a host and path that [`Script::find`] gave, to the request after `before`
    /// others.
    pub fn reply(
        &self,
        (host, path): &(String, String),
        before: usize,
        header: &dyn Fn(&str) -> Option<String>,
    ) -> Reply {
        let replies = &self.0[host][path];
        let special = replies.iter().find(|reply| reply.condition(header) == Some(true));
        let plain: Vec<&Reply> = replies.iter().filter(|reply| reply.when.is_none()).collect();
        let nth = || plain.get(before.min(plain.len().saturating_sub(1))).copied();
        special.or_else(nth).cloned().unwrap_or_else(|| Reply::status(404))
    }
}

/// Undoes base64 (RFC 4648, section 4).
pub fn base64(text: &str) -> Vec<u8> {
    const LETTERS: &[u8] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let (mut out, mut bits, mut held) = (Vec::new(), 0_u32, 0);
    for letter in text.bytes().filter(|b| *b != b'=' && !b.is_ascii_whitespace()) {
        let value = LETTERS.iter().position(|l| *l == letter).expect("a letter of base64");
        bits = (bits << 6) | u32::try_from(value).expect("six bits");
        held += 6;
        if held >= 8 {
            held -= 8;
            out.push(u8::try_from((bits >> held) & 0xff).expect("an octet"));
        }
    }
    out
}
