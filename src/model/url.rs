//! Canonical URLs of pages.
//!
//! A [`PageUrl`] is the only form in which an address is stored or compared. Parsing
//! follows the WHATWG URL standard; what it leaves open (percent-encoding, the last dot of
//! a host, tracking parameters) is settled here, so that parsing a canonical URL again
//! changes nothing. Nothing is merged by guess: `/a`, `/a/` and `/a/index.html` stay three.

use std::fmt;

use url::{ParseError, Url};

/// Longest canonical URL in bytes.
const MAX_BYTES: usize = 2048;

/// The canonical URL of a page: absolute, http or https, without fragment.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PageUrl(String);

/// Why a text is not the URL of a page.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    /// Scheme other than http and https.
    #[error("only http and https addresses can be archived")]
    Scheme,
    /// User name or password in the URL.
    #[error("an address with a user name or password is never stored")]
    Userinfo,
    /// No host.
    #[error("the address has no host")]
    EmptyHost,
    /// Not absolute.
    #[error("the address is relative and there is no base")]
    Relative,
    /// A NUL byte, encoded or not.
    #[error("the address holds a NUL byte")]
    Nul,
    /// Longer than 2,048 bytes.
    #[error("the address is longer than 2,048 bytes")]
    TooLong,
    /// Not a URL.
    #[error("not a URL: {0}")]
    Parse(String),
}

impl Refusal {
    /// The reason as one word for reports and tests.
    #[must_use]
    pub fn code(&self) -> &'static str {
        match self {
            Self::Scheme => "scheme",
            Self::Userinfo => "userinfo",
            Self::EmptyHost => "empty_host",
            Self::Relative => "relative",
            Self::Nul => "nul",
            Self::TooLong => "too_long",
            Self::Parse(_) => "parse_error",
        }
    }
}

impl From<ParseError> for Refusal {
    fn from(error: ParseError) -> Self {
        match error {
            ParseError::RelativeUrlWithoutBase => Self::Relative,
            ParseError::EmptyHost => Self::EmptyHost,
            other => Self::Parse(other.to_string()),
        }
    }
}

impl PageUrl {
    /// Brings a URL into its canonical form.
    ///
    /// # Errors
    /// The text is not the absolute address of something on the web.
    pub fn parse(text: &str) -> Result<Self, Refusal> {
        Self::of(&Url::parse(text)?)
    }

    /// Resolves a reference found in this page; one that is only a fragment leads to the
    /// page itself.
    ///
    /// # Errors
    /// It leads to nothing that can be archived.
    pub fn join(&self, reference: &str) -> Result<Self, Refusal> {
        Self::of(&Url::parse(&self.0)?.join(reference)?)
    }

    fn of(url: &Url) -> Result<Self, Refusal> {
        if url.scheme() != "https" && url.scheme() != "http" {
            return Err(Refusal::Scheme);
        }
        if !url.username().is_empty() || url.password().is_some() {
            return Err(Refusal::Userinfo);
        }
        let host = host_name(url.host_str().unwrap_or_default())?;
        let mut text = String::with_capacity(url.as_str().len() + 8);
        text.push_str(url.scheme());
        text.push_str("://");
        text.push_str(host);
        if let Some(port) = url.port() {
            text.push(':');
            text.push_str(&port.to_string());
        }
        let path = normalise(url.path(), Part::Path)?;
        if path.contains(';') {
            text.push_str(&without_session(&path));
        } else {
            text.push_str(&path);
        }
        if let Some(query) = url.query() {
            push_query(&mut text, &normalise(query, Part::Query)?);
        }
        if text.len() > MAX_BYTES { Err(Refusal::TooLong) } else { Ok(Self(text)) }
    }

    /// The URL as text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// `https` or `http`.
    #[must_use]
    pub fn scheme(&self) -> &str {
        if self.0.starts_with("https:") { "https" } else { "http" }
    }

    /// Scheme, host and port where it is not the default: `https://h.example:8443`.
    #[must_use]
    pub fn origin(&self) -> &str {
        &self.0[..self.path_start()]
    }

    /// The host, without port; an IPv6 address stands in brackets.
    #[must_use]
    pub fn host(&self) -> &str {
        self.host_and_port().0
    }

    /// The port where it is not the scheme's default.
    #[must_use]
    pub fn port(&self) -> Option<u16> {
        self.host_and_port().1.parse().ok()
    }

    /// The port that a connection goes to.
    #[must_use]
    pub fn effective_port(&self) -> u16 {
        self.port().unwrap_or(if self.scheme() == "https" { 443 } else { 80 })
    }

    /// The path, percent-encoded; begins with `/`.
    #[must_use]
    pub fn path(&self) -> &str {
        let rest = &self.0[self.path_start()..];
        rest.split_once('?').map_or(rest, |(path, _)| path)
    }

    /// The query without its `?`; never empty.
    #[must_use]
    pub fn query(&self) -> Option<&str> {
        self.0.split_once('?').map(|(_, query)| query)
    }

    fn host_start(&self) -> usize {
        self.scheme().len() + "://".len()
    }

    fn path_start(&self) -> usize {
        let start = self.host_start();
        self.0[start..].find('/').map_or(self.0.len(), |at| start + at)
    }

    /// The host, and the digits of the port or nothing.
    fn host_and_port(&self) -> (&str, &str) {
        let authority = &self.0[self.host_start()..self.path_start()];
        let host_end =
            if authority.starts_with('[') { authority.find(']').map_or(0, |at| at + 1) } else { 0 };
        match authority[host_end..].find(':') {
            Some(at) => (&authority[..host_end + at], &authority[host_end + at + 1..]),
            None => (authority, ""),
        }
    }
}

impl fmt::Display for PageUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// A parsed host without the dot of the DNS root.
pub(super) fn host_name(host: &str) -> Result<&str, Refusal> {
    let name = host.strip_suffix('.').unwrap_or(host);
    if name.is_empty() {
        return Err(Refusal::EmptyHost);
    }
    if name.starts_with('.') || name.ends_with('.') || name.contains("..") {
        return Err(Refusal::Parse("empty label in the host name".to_owned()));
    }
    Ok(name)
}

/// The two parts of a URL whose characters differ.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Part {
    /// The path: a `?` is encoded.
    Path,
    /// The query: a `?` stands for itself.
    Query,
}

/// Decodes triplets of unreserved characters (RFC 3986, section 2.3), writes the others in
/// capitals, makes `%25` of a stray `%` and encodes what RFC 3986 does not allow there.
pub(super) fn normalise(raw: &str, part: Part) -> Result<String, Refusal> {
    let bytes = raw.as_bytes();
    let mut out = String::with_capacity(bytes.len() + 8);
    let (mut at, mut plain) = (0, 0);
    while at < bytes.len() {
        let byte = bytes[at];
        if stands_in_path(byte) || byte == b'?' && part == Part::Query {
            at += 1;
            continue;
        }
        out.push_str(&raw[plain..at]);
        let (value, length) = match byte {
            b'%' => triplet(bytes, at + 1).map_or((b'%', 1), |value| (value, 3)),
            _ => (byte, 1),
        };
        match value {
            0 => return Err(Refusal::Nul),
            value if is_unreserved(value) => out.push(char::from(value)),
            value => push_triplet(&mut out, value),
        }
        at += length;
        plain = at;
    }
    out.push_str(&raw[plain..]);
    Ok(out)
}

/// Percent-encodes bytes for the path of a URL; `/` stays.
pub(super) fn encode_path(path: &[u8], out: &mut String) {
    for &byte in path {
        if stands_in_path(byte) {
            out.push(char::from(byte));
        } else {
            push_triplet(out, byte);
        }
    }
}

/// Undoes percent-encoding; a stray `%` stands for itself.
pub(super) fn decode_percent(text: &str) -> Vec<u8> {
    let bytes = text.as_bytes();
    let mut out = Vec::with_capacity(bytes.len());
    let mut at = 0;
    while at < bytes.len() {
        let value = if bytes[at] == b'%' { triplet(bytes, at + 1) } else { None };
        out.push(value.unwrap_or(bytes[at]));
        at += if value.is_some() { 3 } else { 1 };
    }
    out
}

fn is_unreserved(byte: u8) -> bool {
    matches!(byte, b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~')
}

/// Unreserved characters, sub-delims, `:`, `@` (RFC 3986, section 3.3) and `/`.
fn stands_in_path(byte: u8) -> bool {
    matches!(byte, b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~'
        | b'!' | b'$' | b'&' | b'\'' | b'(' | b')' | b'*' | b'+' | b',' | b';' | b'='
        | b':' | b'@' | b'/')
}

/// The value of the two hexadecimal digits at `at`.
pub(super) fn triplet(bytes: &[u8], at: usize) -> Option<u8> {
    let high = hex_value(*bytes.get(at)?)?;
    let low = hex_value(*bytes.get(at + 1)?)?;
    Some(high << 4 | low)
}

fn hex_value(digit: u8) -> Option<u8> {
    match digit {
        b'0'..=b'9' => Some(digit - b'0'),
        b'a'..=b'f' => Some(digit - b'a' + 10),
        b'A'..=b'F' => Some(digit - b'A' + 10),
        _ => None,
    }
}

fn push_triplet(out: &mut String, byte: u8) {
    const DIGITS: &[u8; 16] = b"0123456789ABCDEF";
    out.push('%');
    out.push(char::from(DIGITS[usize::from(byte >> 4)]));
    out.push(char::from(DIGITS[usize::from(byte & 15)]));
}

/// Drops `;jsessionid=…` from every segment. A segment that would be left as `.` or `..`
/// stays whole: those would be taken for steps in the tree when the URL is read again.
fn without_session(path: &str) -> String {
    let mut out = String::with_capacity(path.len());
    for (number, segment) in path.split('/').enumerate() {
        if number > 0 {
            out.push('/');
        }
        let start = out.len();
        for (number, parameter) in segment.split(';').enumerate() {
            if number > 0 {
                if is_session(parameter) {
                    continue;
                }
                out.push(';');
            }
            out.push_str(parameter);
        }
        if matches!(&out[start..], "." | "..") {
            out.truncate(start);
            out.push_str(segment);
        }
    }
    out
}

fn is_session(parameter: &str) -> bool {
    const NAME: &str = "jsessionid=";
    parameter.get(..NAME.len()).is_some_and(|name| name.eq_ignore_ascii_case(NAME))
}

/// Appends `?` and what is left of the query without tracking parameters, if anything.
fn push_query(text: &mut String, query: &str) {
    let start = text.len();
    for parameter in query.split('&') {
        if is_tracking(parameter) {
            continue;
        }
        text.push(if text.len() == start { '?' } else { '&' });
        text.push_str(parameter);
    }
    if text.len() == start + 1 {
        text.truncate(start);
    }
}

fn is_tracking(parameter: &str) -> bool {
    let name = parameter.split_once('=').map_or(parameter, |(name, _)| name);
    name.starts_with("utm_")
        || matches!(
            name,
            "gclid" | "fbclid" | "msclkid" | "dclid" | "yclid" | "mc_cid" | "mc_eid" | "igshid"
        )
        || name.eq_ignore_ascii_case("phpsessid")
        || name.eq_ignore_ascii_case("jsessionid")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn canonical(text: &str) -> String {
        let url = PageUrl::parse(text).unwrap();
        assert_eq!(PageUrl::parse(url.as_str()).unwrap(), url, "{text} is not stable");
        url.to_string()
    }

    #[test]
    fn canonical_forms() {
        for (text, want) in [
            ("  https://h.example/a b\n", "https://h.example/a%20b"),
            ("https:h.example", "https://h.example/"),
            (
                "https://h.example/a|b[c]^`{}\"<>",
                "https://h.example/a%7Cb%5Bc%5D%5E%60%7B%7D%22%3C%3E",
            ),
            ("https://h.example/a'(b)*$", "https://h.example/a'(b)*$"),
            ("https://h.example/%61%41%7e%2d", "https://h.example/aA~-"),
            ("https://h.example/%%41", "https://h.example/%25A"),
            ("https://h.example/%2%35", "https://h.example/%2525"),
            ("https://h.example/%zz%4", "https://h.example/%25zz%254"),
            ("https://h.example/?a=%zz'\\[]", "https://h.example/?a=%25zz%27%5C%5B%5D"),
            ("https://h.example/?q=a?b/c", "https://h.example/?q=a?b/c"),
            ("https://h.example/?&a", "https://h.example/?&a"),
            ("https://h.example/?utm_source=x", "https://h.example/"),
            ("https://h.example/?utm_source=x&", "https://h.example/"),
            ("https://h.example/?%75tm%5fx=1&b", "https://h.example/?b"),
            (
                "https://h.example/?gclid=1&a=1&fbclid&JSESSIONID=x&phpsessid=3",
                "https://h.example/?a=1",
            ),
            ("https://h.example/?UTM_x=1&gclids=2", "https://h.example/?UTM_x=1&gclids=2"),
            ("https://h.example/a;JSessionID=1;v=2/b;jsessionid=3", "https://h.example/a;v=2/b"),
            ("https://h.example/a/..;jsessionid=1/b", "https://h.example/a/..;jsessionid=1/b"),
            ("https://h.example/a;jsessionid", "https://h.example/a;jsessionid"),
            ("http://h.example:443/", "http://h.example:443/"),
            ("https://1.2.3.4./", "https://1.2.3.4/"),
            ("https://[::FFFF:1.2.3.4]:443/", "https://[::ffff:102:304]/"),
            ("https://@h.example/", "https://h.example/"),
        ] {
            assert_eq!(canonical(text), want, "{text}");
        }
    }

    #[test]
    fn refusals() {
        for (text, code) in [
            ("https://a..example/", "parse_error"),
            ("https://h.example../", "parse_error"),
            ("https://./", "empty_host"),
            ("https://user@h.example/", "userinfo"),
            ("https://:pw@h.example/", "userinfo"),
            ("https://h.example/\0x", "nul"),
            ("https://h.example/?a=%00", "nul"),
            ("ws://h.example/", "scheme"),
            ("about:blank", "scheme"),
            ("#a", "relative"),
            ("", "relative"),
        ] {
            assert_eq!(PageUrl::parse(text).unwrap_err().code(), code, "{text}");
        }
        let longest = format!("https://h.example/{}", "a".repeat(MAX_BYTES - 18));
        assert_eq!(PageUrl::parse(&longest).unwrap().as_str().len(), MAX_BYTES);
        assert_eq!(PageUrl::parse(&format!("{longest}a")), Err(Refusal::TooLong));
        PageUrl::parse(&format!("{longest}#fragment")).unwrap();
    }

    #[test]
    fn references() {
        let page = PageUrl::parse("https://h.example/a/b?x=1").unwrap();
        for (reference, want) in [
            ("#frag", "https://h.example/a/b?x=1"),
            ("", "https://h.example/a/b?x=1"),
            ("?", "https://h.example/a/b"),
            (" c#d ", "https://h.example/a/c"),
            ("../../../c", "https://h.example/c"),
            ("//i.example", "https://i.example/"),
            ("/c?utm_x=1", "https://h.example/c"),
            ("http:c", "http://c/"),
        ] {
            assert_eq!(page.join(reference).unwrap().as_str(), want, "{reference}");
        }
        assert_eq!(page.join("mailto:a@b"), Err(Refusal::Scheme));
        assert_eq!(page.join("https://"), Err(Refusal::EmptyHost));
    }

    #[test]
    fn parts() {
        let url = PageUrl::parse("http://[::1]:8080/a?b/c").unwrap();
        assert_eq!((url.scheme(), url.origin()), ("http", "http://[::1]:8080"));
        assert_eq!((url.host(), url.port(), url.effective_port()), ("[::1]", Some(8080), 8080));
        assert_eq!((url.path(), url.query()), ("/a", Some("b/c")));
        let url = PageUrl::parse("https://h.example").unwrap();
        assert_eq!((url.host(), url.port(), url.effective_port()), ("h.example", None, 443));
        assert_eq!((url.path(), url.query(), url.origin()), ("/", None, "https://h.example"));
    }
}
