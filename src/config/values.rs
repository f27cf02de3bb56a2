//! What single values may be, whatever key they belong to.

use std::net::IpAddr;
use std::time::Duration;

use regex::Regex;
use url::Url;

use super::faults::{Complaint, quote};
use crate::model::PageUrl;

/// What a check answers.
pub(super) type Checked<T> = Result<T, Complaint>;

/// Text on one line, perhaps empty.
pub(super) fn line(text: &str) -> Checked<String> {
    if text.chars().any(char::is_control) {
        return Err(Complaint::new(
            format!("{} has control characters in it", quote(text)),
            "write it on one line, without tabs",
        ));
    }
    Ok(text.trim().to_owned())
}

/// Text on one line, not empty.
pub(super) fn filled(text: &str) -> Checked<String> {
    let text = line(text)?;
    if text.is_empty() {
        return Err(Complaint::new("the text is empty", "fill it in, or leave the key out"));
    }
    Ok(text)
}

/// A length of time with its unit.
pub(super) fn duration(text: &str) -> Checked<Duration> {
    if text.trim() == "0" {
        return Ok(Duration::ZERO);
    }
    humantime::parse_duration(text).map_err(|_| {
        Complaint::new(
            format!("{} is not a length of time", quote(text)),
            "write a number and a unit: \"500ms\", \"5s\", \"10m\", \"12h\", \"30d\"",
        )
    })
}

/// A number of bytes with its unit.
pub(super) fn bytes(text: &str) -> Checked<u64> {
    const UNITS: &[(&str, u64)] = &[
        ("", 1),
        ("B", 1),
        ("kB", 1_000),
        ("KB", 1_000),
        ("KiB", 1 << 10),
        ("MB", 1_000_000),
        ("MiB", 1 << 20),
        ("GB", 1_000_000_000),
        ("GiB", 1 << 30),
    ];
    let text = text.trim();
    let end = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    let (number, unit) = text.split_at(end);
    let unit = UNITS.iter().find(|(name, _)| *name == unit.trim()).map(|(_, size)| *size);
    let size = number.parse().ok().zip(unit).and_then(|(n, unit): (u64, u64)| n.checked_mul(unit));
    size.ok_or_else(|| {
        Complaint::new(
            format!("{} is not a number of bytes", quote(text)),
            "write a whole number and a unit: \"512MiB\", \"1GiB\", \"500MB\"",
        )
    })
}

/// A regular expression that compiles.
pub(super) fn regex(text: &str) -> Checked<String> {
    match Regex::new(text) {
        Ok(_) if text.is_empty() => Err(Complaint::new(
            "an empty regular expression matches everything",
            "leave it out, or write '.' to match everything",
        )),
        Ok(_) => Ok(text.to_owned()),
        Err(error) => Err(Complaint::new(
            format!("{} is not a regular expression", quote(text)),
            regex_hint(&error),
        )),
    }
}

fn regex_hint(error: &regex::Error) -> String {
    let text = error.to_string();
    let reason = text.lines().last().unwrap_or_default();
    let reason = reason.trim().trim_start_matches("error: ");
    format!("{reason}; a literal character of `.+*?()[]{{}}|^$` needs a `\\` before it")
}

/// An http or https address without user name and password.
pub(super) fn web_address(text: &str) -> Checked<String> {
    let hint = "write a whole address, as https://docs.example.org/sitemap.xml";
    let refuse = |why: &str| Err(Complaint::new(format!("{} {why}", quote(text)), hint));
    let Ok(url) = Url::parse(text) else {
        return refuse("is not an address of the web");
    };
    if !matches!(url.scheme(), "http" | "https") || !text.contains("://") {
        return refuse("is not an address of the web");
    }
    if !url.username().is_empty() || url.password().is_some() {
        return refuse("has a user name or password in it");
    }
    if text.chars().any(|c| c.is_whitespace() || c.is_control()) {
        return refuse("has white space in it");
    }
    match PageUrl::parse(text) {
        Ok(_) => Ok(text.to_owned()),
        Err(refusal) => Err(Complaint::new(format!("{}: {refusal}", quote(text)), hint)),
    }
}

/// Address that files are published under, with a `/` at the end.
pub(super) fn base_address(text: &str) -> Checked<PageUrl> {
    web_address(text)?;
    if text.contains(['?', '#']) {
        return Err(Complaint::new(
            format!("{} has a query or fragment", quote(text)),
            "write the address of a folder, as https://docs.example.org/guide/",
        ));
    }
    let slash = if text.ends_with('/') { "" } else { "/" };
    PageUrl::parse(&format!("{text}{slash}"))
        .map_err(|refusal| Complaint::new(refusal.to_string(), "write an http or https address"))
}

/// A prefix of the path of canonical URLs.
pub(super) fn url_path(text: &str) -> Checked<String> {
    if !text.starts_with('/') {
        return Err(Complaint::new(
            format!("{} does not begin with `/`", quote(text)),
            format!("write \"/{}\"", text.trim()),
        ));
    }
    if text.contains(['?', '#']) {
        return Err(Complaint::new(
            format!("{} is more than a path", quote(text)),
            "write the path only; `skip` is searched in the whole address",
        ));
    }
    let origin = "https://host.invalid";
    let canonical = PageUrl::parse(&format!("{origin}{text}"));
    match canonical.as_ref().ok().and_then(|url| url.as_str().strip_prefix(origin)) {
        Some(path) if path == text => Ok(text.to_owned()),
        Some(path) => Err(Complaint::new(
            format!("{} never stands so in a canonical address", quote(text)),
            format!("write \"{path}\""),
        )),
        None => Err(Complaint::new(
            format!("{} is not the path of an address", quote(text)),
            "write the beginning of a path, as /en-us/azure/",
        )),
    }
}

/// A prefix of paths in a repository.
pub(super) fn repository_path(text: &str) -> Checked<String> {
    let text = filled(text)?;
    let plain = text.trim_start_matches("./").trim_start_matches('/');
    if plain != text || text.split('/').any(|part| part == "..") {
        return Err(Complaint::new(
            format!("{} is not the beginning of a path in a repository", quote(&text)),
            format!("paths there begin without `/`: write \"{}\"", plain.replace("../", "")),
        ));
    }
    Ok(text)
}

/// The name of a branch (git-check-ref-format).
pub(super) fn branch(text: &str) -> Checked<String> {
    let forbidden = |c: char| c.is_whitespace() || c.is_control() || "~^:?*[\\".contains(c);
    let bad_part = |part: &str| {
        part.is_empty() || part.starts_with('.') || part.strip_suffix(".lock").is_some()
    };
    let bad = text.starts_with('-')
        || text.ends_with('.')
        || text == "@"
        || text.contains("..")
        || text.contains("@{")
        || text.contains(forbidden)
        || text.split('/').any(bad_part);
    if bad {
        return Err(Complaint::new(
            format!("{} cannot be the name of a branch", quote(text)),
            "write the name as `git branch` shows it, as main or live",
        ));
    }
    Ok(text.to_owned())
}

/// A literal IP address.
pub(super) fn ip_address(text: &str) -> Checked<IpAddr> {
    text.parse().map_err(|_| {
        Complaint::new(
            format!("{} is not an IP address", quote(text)),
            "write an address of this machine, as 192.0.2.7 or 2001:db8::7",
        )
    })
}

/// An address range, as `192.0.2.0/24`, or a single address.
pub(super) fn address_range(text: &str) -> Checked<String> {
    let refuse = |hint: String| {
        Err(Complaint::new(format!("{} is not a range of IP addresses", quote(text)), hint))
    };
    let (address, length) = text.split_once('/').map_or((text, None), |(a, l)| (a, Some(l)));
    let Ok(address) = address.parse::<IpAddr>() else {
        return refuse("write 192.0.2.0/24, 2001:db8::/32 or a single address".to_owned());
    };
    let bits = if address.is_ipv4() { 32 } else { 128 };
    let length = match length.map(str::parse::<u32>) {
        None => return Ok(text.to_owned()),
        Some(Ok(length)) if length <= bits => length,
        Some(_) => return refuse(format!("the number behind `/` is one from 0 to {bits}")),
    };
    let network = network(address, length);
    if network == address {
        return Ok(text.to_owned());
    }
    refuse(format!("the range that holds this address is {network}/{length}"))
}

fn network(address: IpAddr, length: u32) -> IpAddr {
    match address {
        IpAddr::V4(v4) => {
            let mask = u32::MAX.checked_shl(32 - length).unwrap_or(0);
            IpAddr::V4((v4.to_bits() & mask).into())
        }
        IpAddr::V6(v6) => {
            let mask = u128::MAX.checked_shl(128 - length).unwrap_or(0);
            IpAddr::V6((v6.to_bits() & mask).into())
        }
    }
}

/// One of a few words, each with what it stands for.
pub(super) fn one_of<T: Copy>(text: &str, words: &[(&'static str, T)]) -> Checked<T> {
    let found = words.iter().find(|(word, _)| *word == text).map(|(_, value)| *value);
    found.ok_or_else(|| {
        let names: Vec<String> = words.iter().map(|(word, _)| format!("\"{word}\"")).collect();
        let message = format!("{} is not known", quote(text));
        Complaint::new(message, format!("write {}", names.join(" or ")))
    })
}
