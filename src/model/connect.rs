//! `--connect-to` and `connect_to`, as curl has them.

use std::fmt;
use std::net::Ipv6Addr;
use std::str::FromStr;

/// Connections to one host and port that go to another instead: `HOST:PORT:ADDR:PORT`.
/// Names, certificates and the Host header stay those of the request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConnectTo {
    /// Host of the request, in lower case, IPv6 without brackets; `None` is every host.
    pub host: Option<String>,
    /// Port of the request; `None` is every port.
    pub port: Option<u16>,
    /// Host or address to connect to, IPv6 without brackets; `None` is the host of the request.
    pub to_host: Option<String>,
    /// Port to connect to; `None` is the port of the request.
    pub to_port: Option<u16>,
}

/// A text that is not of the form `HOST:PORT:ADDR:PORT`.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{text}` is not of the form HOST:PORT:ADDR:PORT: {why}")]
pub struct InvalidConnectTo {
    /// The text.
    pub text: String,
    /// What is wrong with it.
    pub why: &'static str,
}

impl ConnectTo {
    /// Where a connection to `host` (no brackets) and `port` goes; `None` where this says
    /// nothing about it.
    #[must_use]
    pub fn target<'a>(&'a self, host: &'a str, port: u16) -> Option<(&'a str, u16)> {
        let host_fits = self.host.as_deref().is_none_or(|own| own.eq_ignore_ascii_case(host));
        let port_fits = self.port.is_none_or(|own| own == port);
        let target = (self.to_host.as_deref().unwrap_or(host), self.to_port.unwrap_or(port));
        (host_fits && port_fits).then_some(target)
    }
}

impl FromStr for ConnectTo {
    type Err = InvalidConnectTo;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let refuse = |why| InvalidConnectTo { text: text.to_owned(), why };
        let (rest, to_port) = split_port(text);
        let (rest, to_host) = cut_host(rest).ok_or_else(|| refuse("four parts are needed"))?;
        let (host, port) = split_port(rest);
        let (Some(to_port), Some(port)) = (to_port, port) else {
            return Err(refuse("four parts are needed"));
        };
        if host.contains(':') && !(host.starts_with('[') && host.ends_with(']')) {
            return Err(refuse("an IPv6 address stands in brackets"));
        }
        Ok(Self {
            host: read_host(host).map_err(refuse)?,
            port: read_port(port).map_err(refuse)?,
            to_host: read_host(to_host).map_err(refuse)?,
            to_port: read_port(to_port).map_err(refuse)?,
        })
    }
}

/// Cuts the last host, `[v6]` or a name, from what stands before it.
fn cut_host(text: &str) -> Option<(&str, &str)> {
    if text.ends_with(']') {
        let (before, _) = text.rsplit_once('[')?;
        let host = text.get(before.len()..)?;
        return Some((before.strip_suffix(':')?, host));
    }
    text.rsplit_once(':')
}

fn read_host(text: &str) -> Result<Option<String>, &'static str> {
    let bare = text.strip_prefix('[').and_then(|text| text.strip_suffix(']'));
    if let Some(address) = bare {
        let address: Result<Ipv6Addr, _> = address.parse();
        return address
            .map(|address| Some(address.to_string()))
            .map_err(|_| "what stands in brackets is not an IPv6 address");
    }
    let allowed = |c: char| c.is_alphanumeric() || "-._".contains(c);
    match text {
        "" => Ok(None),
        text if text.chars().all(allowed) => Ok(Some(text.to_lowercase())),
        _ => Err("a host is a name or an address"),
    }
}

fn read_port(text: &str) -> Result<Option<u16>, &'static str> {
    match text.parse() {
        _ if text.is_empty() => Ok(None),
        Ok(port) if port > 0 => Ok(Some(port)),
        _ => Err("a port is a number from 1 to 65535"),
    }
}

impl fmt::Display for ConnectTo {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let host = |host: &Option<String>| match host.as_deref() {
            Some(host) if host.contains(':') => format!("[{host}]"),
            host => host.unwrap_or_default().to_owned(),
        };
        let port = |port: Option<u16>| port.map(|port| port.to_string()).unwrap_or_default();
        let (from, to) = (host(&self.host), host(&self.to_host));
        write!(f, "{from}:{}:{to}:{}", port(self.port), port(self.to_port))
    }
}

/// The form in which hosts are told from each other, that of [`super::PageUrl::host`]: lower
/// case, without the dot of the root, an IPv6 address in brackets, no port.
#[must_use]
pub fn host_key(host: &str) -> String {
    let name = host.strip_suffix('.').unwrap_or(host);
    if name.parse::<Ipv6Addr>().is_ok() { format!("[{name}]") } else { name.to_ascii_lowercase() }
}

/// Splits `host:port`; the colons of `[v6]` are no ports.
#[must_use]
pub fn split_port(text: &str) -> (&str, Option<&str>) {
    match text.rsplit_once(':') {
        Some((host, port)) if !port.contains(']') => (host, Some(port)),
        _ => (text, None),
    }
}

#[cfg(test)]
mod tests {
    use super::ConnectTo;

    #[test]
    fn all_forms_of_curl_are_read_and_written_back() {
        for text in [
            "docs.example.org:443:127.0.0.1:8443",
            "docs.example.org:443:[::1]:8443",
            "[2001:db8::1]:80:[::1]:8080",
            "::127.0.0.1:8080",
            "docs.example.org:443::8443",
            ":443:127.0.0.1:",
            ":::",
        ] {
            let parsed: ConnectTo = text.parse().unwrap();
            assert_eq!(parsed.to_string(), text);
        }
    }

    #[test]
    fn a_host_is_replaced_where_both_parts_fit() {
        let rule: ConnectTo = "Docs.Example.org:443:[::1]:8443".parse().unwrap();
        assert_eq!(rule.target("docs.example.org", 443), Some(("::1", 8443)));
        assert_eq!(rule.target("docs.example.org", 80), None);
        assert_eq!(rule.target("other.example.org", 443), None);
        let any: ConnectTo = ":::8443".parse().unwrap();
        assert_eq!(any.target("h", 1), Some(("h", 8443)));
    }

    #[test]
    fn other_texts_are_refused() {
        for text in [
            "",
            "a",
            "a:1",
            "a:1:b",
            "a:1:b:c",
            "a:0:b:1",
            "a:1:::1:1",
            "::1:80:h:80",
            "a b:1:c:1",
            "a:1:[x]:1",
            "a:99999:b:1",
            "a:1:[::1:1",
        ] {
            assert!(text.parse::<ConnectTo>().is_err(), "{text}");
        }
    }
}
