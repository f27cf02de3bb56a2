//! Hosts as they are named in `hosts`: a name or a literal address, perhaps with a port.

use std::net::IpAddr;

use url::Host;

use crate::model::split_port;

use super::faults::{Complaint, quote};
use super::values::Checked;

const HINT: &str =
    "write a name as docs.example.org, or an address as 127.0.0.1:8080 or [::1]:8080";

/// Brings a host into the form it has in canonical URLs: lower case, names in Punycode,
/// IPv6 addresses in brackets, no port where it is the default of http or https.
pub(super) fn host(text: &str) -> Checked<String> {
    let refuse =
        |why: &str, hint: &str| Err(Complaint::new(format!("{} {why}", quote(text)), hint));
    if let Some((_, rest)) = text.split_once("://") {
        let only = rest.split(['/', '?', '#']).next().unwrap_or_default();
        return refuse("is an address, not a host", &format!("write \"{only}\""));
    }
    if let Some((only, _)) = text.split_once('/') {
        let hint = format!("write \"{only}\"; what may be read there stands in `paths`");
        return refuse("is more than a host", &hint);
    }
    if text.contains('*') {
        return refuse("has a wildcard in it", "name every host that may be read");
    }
    if text.parse::<std::net::Ipv6Addr>().is_ok() {
        return refuse("needs brackets", &format!("write \"[{text}]\""));
    }
    let (name, port) = split_port(text);
    let port = match port.map(str::parse::<u16>) {
        None => None,
        Some(Ok(port)) if port > 0 => Some(port),
        Some(_) => return refuse("has no valid port", "a port is a number from 1 to 65535"),
    };
    if name.is_empty() || name.contains(['%', '@']) || name.contains(char::is_whitespace) {
        return refuse("is not a host", HINT);
    }
    let Ok(parsed) = Host::parse(name.strip_suffix('.').unwrap_or(name)) else {
        return refuse("is not a host", HINT);
    };
    if let Host::Ipv4(address) = parsed
        && address.to_string() != name
    {
        return refuse("is an unusual spelling of an address", &format!("write \"{address}\""));
    }
    match port {
        None | Some(80 | 443) => Ok(parsed.to_string()),
        Some(port) => Ok(format!("{parsed}:{port}")),
    }
}

/// Whether a host, with or without port and brackets, is a literal loopback address.
pub(super) fn is_loopback(host: &str) -> bool {
    let bare = |text: &str| text.trim_start_matches('[').trim_end_matches(']').parse::<IpAddr>();
    let address = bare(host).or_else(|_| bare(split_port(host).0));
    address.is_ok_and(|address| address.to_canonical().is_loopback())
}

/// A host name alone: no literal address, no port.
pub(super) fn host_name(text: &str) -> Checked<String> {
    let parsed = host(text)?;
    match Host::parse(&parsed) {
        Ok(Host::Domain(name)) => Ok(name),
        _ => Err(Complaint::new(
            format!("{} is not a host name", quote(text)),
            "write a name as crawler.example.org, without port",
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::{host, host_name, is_loopback};

    fn hint(text: &str) -> String {
        host(text).map_or_else(|complaint| complaint.hint, |host| format!("accepted: {host}"))
    }

    #[test]
    fn hosts_take_their_canonical_form() {
        let canonical = |text| host(text).ok();
        assert_eq!(canonical("Learn.Microsoft.COM").as_deref(), Some("learn.microsoft.com"));
        assert_eq!(canonical("docs.example.org.").as_deref(), Some("docs.example.org"));
        assert_eq!(canonical("bücher.example").as_deref(), Some("xn--bcher-kva.example"));
        assert_eq!(canonical("127.0.1.1:8080").as_deref(), Some("127.0.1.1:8080"));
        assert_eq!(canonical("[0:0::1]:8080").as_deref(), Some("[::1]:8080"));
        assert_eq!(canonical("[::1]").as_deref(), Some("[::1]"));
        assert_eq!(canonical("example.org:443").as_deref(), Some("example.org"));
    }

    #[test]
    fn what_is_not_a_host_is_refused_with_what_would_be() {
        assert_eq!(hint("https://example.org:8443/a"), "write \"example.org:8443\"");
        assert!(hint("example.org/docs").contains("write \"example.org\""));
        assert!(hint("*.example.org").contains("name every host"));
        assert_eq!(hint("::1"), "write \"[::1]\"");
        assert_eq!(hint("127.1"), "write \"127.0.0.1\"");
        assert_eq!(hint("0x7f000001"), "write \"127.0.0.1\"");
        for text in ["", ":80", "a b", "a:0", "a:65536", "a:b", "a%2eb", "u@h", "[::1", "a..b:x"] {
            assert!(host(text).is_err(), "{text}");
        }
    }

    #[test]
    fn loopback_is_told_from_the_literal_only() {
        for text in ["127.0.0.1", "127.9.9.9:80", "[::1]:8080", "::1", "[::ffff:127.0.0.1]"] {
            assert!(is_loopback(text), "{text}");
        }
        for text in ["localhost", "10.0.0.1", "192.0.2.1:80", "[2001:db8::1]", "127.0.0.1.nip.io"] {
            assert!(!is_loopback(text), "{text}");
        }
    }

    #[test]
    fn a_host_name_has_neither_port_nor_digits_only() {
        assert_eq!(host_name("crawler.example.org").ok().as_deref(), Some("crawler.example.org"));
        assert!(host_name("127.0.0.1").is_err());
        assert!(host_name("crawler.example.org:8080").is_err());
    }
}
