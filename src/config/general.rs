//! Everything in `sources.toml` but the sources: `[bot]`, `[archive]`, `[run]`,
//! `[network]`, `[publish]`, `[[mirror]]`.

use std::path::{Component, Path, PathBuf};
use std::time::Duration;

use url::Url;

use super::faults::{Complaint, quote};
use super::host::host_name;
use super::reader::{Located, Table, plain};
use super::values::{self, Checked};
use super::{ArchiveConfig, Mirror, NetworkConfig, PublishConfig, RunConfig};
use crate::model::{Bot, CaseRule, RemoteUrl, Repository};
use crate::model::{ConnectTo, InvalidConnectTo};

const HOUR: Duration = Duration::from_hours(1);

pub(super) fn bot(mut table: Table<'_>) -> Bot {
    let value = |found: Option<Located<String>>| found.map(|found| found.value);
    let given = |found| value(found).filter(|text| !text.is_empty());
    let bot = Bot {
        name: value(table.required_text("name", "ExampleBot", product)).unwrap_or_default(),
        version: value(table.text("version", version)).unwrap_or_else(|| "1.0".to_owned()),
        operator: value(table.text("operator", values::line)).unwrap_or_default(),
        url: value(table.required_text("url", "https://example.org/crawler", bot_url))
            .unwrap_or_default(),
        contact: value(table.required_text("contact", "crawler@example.org", contact))
            .unwrap_or_default(),
        purpose: value(table.text("purpose", values::line)).unwrap_or_default(),
        comment: given(table.text("comment", header_text)),
        reverse_dns: value(table.text("reverse_dns", host_name)),
        ips_url: value(table.text("ips_url", bot_url)),
        addresses: plain(table.list("addresses", values::address_range)),
        postal: given(table.text("postal", postal)),
        uses: given(table.text("uses", values::line)),
        bind: table.text("bind", values::ip_address).map(|address| address.value),
    };
    table.finish(|_| None);
    bot
}

/// The product token: it names the group of robots.txt, so it has no digits and no dots.
fn product(text: &str) -> Checked<String> {
    let allowed = |c: char| c.is_ascii_alphabetic() || c == '-' || c == '_';
    if text.chars().all(allowed) && text.chars().any(|c| c.is_ascii_alphabetic()) {
        return Ok(text.to_owned());
    }
    Err(Complaint::new(
        format!("{} is not a product token", quote(text)),
        "use letters, `-` and `_` only, as ExampleBot; robots.txt knows the bot by it",
    ))
}

fn version(text: &str) -> Checked<String> {
    let allowed = |c: char| c.is_ascii_alphanumeric() || "._+-".contains(c);
    if !text.is_empty() && text.chars().all(allowed) {
        return Ok(text.to_owned());
    }
    Err(Complaint::new(format!("{} is not a version", quote(text)), "write for instance \"1.0\""))
}

/// Text that a request header can carry inside the brackets of the User-Agent.
fn header_text(text: &str) -> Checked<String> {
    let text = values::line(text)?;
    if text.is_ascii() && !text.contains(['(', ')', '\\']) {
        return Ok(text);
    }
    Err(Complaint::new(
        format!("{} cannot stand in a User-Agent", quote(&text)),
        "use ASCII without brackets and `\\`",
    ))
}

fn bot_url(text: &str) -> Checked<String> {
    values::web_address(text)?;
    header_text(text)
}

fn contact(text: &str) -> Checked<String> {
    let allowed = |c: char| c.is_ascii_graphic() && !"<>(),;:\\\"[]".contains(c);
    match text.split_once('@') {
        Some((user, host))
            if !user.is_empty()
                && !host.is_empty()
                && !host.contains('@')
                && text.chars().all(allowed) =>
        {
            Ok(text.to_owned())
        }
        _ => Err(Complaint::new(
            format!("{} is not a mail address", quote(text)),
            "write one that a person reads, as crawler@example.org",
        )),
    }
}

/// A postal address may have lines.
fn postal(text: &str) -> Checked<String> {
    values::line(&text.replace("\r\n", "\n").replace('\n', " "))?;
    Ok(text.trim().to_owned())
}

pub(super) fn archive(table: Option<Table<'_>>, dir: &Path) -> ArchiveConfig {
    let mut config = ArchiveConfig { path: resolve(dir, "archive"), case: CaseRule::Keep };
    let Some(mut table) = table else { return config };
    if let Some(path) = table.text("path", values::filled) {
        config.path = resolve(dir, &path.value);
    }
    if table.flag("portable_case") == Some(true) {
        config.case = CaseRule::Portable;
    }
    table.finish(|_| None);
    config
}

pub(super) fn run(table: Option<Table<'_>>) -> RunConfig {
    let mut config = RunConfig {
        budget: HOUR * 12,
        gone_after: HOUR * 24,
        checkpoint: Duration::from_mins(5),
        upkeep: Duration::from_mins(5),
    };
    let Some(mut table) = table else { return config };
    let none = Complaint::new(
        "`budget`: a run without time reads nothing",
        "write for instance budget = \"12h\"",
    );
    config.budget = some_time(&mut table, "budget", none).unwrap_or(config.budget);
    let always = Complaint::new(
        "`checkpoint`: a run that is always at one comes to nothing else",
        "write for instance checkpoint = \"5m\"",
    );
    config.checkpoint = some_time(&mut table, "checkpoint", always).unwrap_or(config.checkpoint);
    config.gone_after = table.duration("gone_after").map_or(config.gone_after, |time| time.value);
    config.upkeep = table.duration("upkeep").map_or(config.upkeep, |time| time.value);
    table.finish(|_| None);
    config
}

/// A length of time that must not be zero, and what is said where it is.
fn some_time(table: &mut Table<'_>, key: &'static str, zero: Complaint) -> Option<Duration> {
    let time = table.duration(key)?;
    if time.value.is_zero() {
        table.faults().add(time.span, zero);
    }
    Some(time.value)
}

pub(super) fn network(table: Option<Table<'_>>, dir: &Path) -> NetworkConfig {
    let Some(mut table) = table else { return NetworkConfig::default() };
    let file = |text: &str| values::filled(text).map(|text| resolve(dir, &text));
    let config = NetworkConfig {
        connect_to: plain(table.list("connect_to", connect_to)),
        ca_file: table.text("ca_file", file).map(|file| file.value),
        proxy: table.text("proxy", proxy).map(|proxy| proxy.value),
    };
    table.finish(|_| None);
    config
}

fn connect_to(text: &str) -> Checked<ConnectTo> {
    text.parse().map_err(|error: InvalidConnectTo| {
        let message = format!("{} is not of the form HOST:PORT:ADDR:PORT", quote(text));
        Complaint::new(message, format!("{}, as docs.example.org:443:127.0.0.1:8443", error.why))
    })
}

fn proxy(text: &str) -> Checked<String> {
    let known = |url: &Url| matches!(url.scheme(), "http" | "https" | "socks5" | "socks5h");
    match Url::parse(text) {
        Ok(url) if known(&url) && url.has_host() => Ok(text.to_owned()),
        _ => Err(Complaint::new(
            format!("{} is not the address of a proxy", quote(text)),
            "write http://HOST:PORT, https://HOST:PORT, socks5://HOST:PORT or socks5h://HOST:PORT",
        )),
    }
}

pub(super) fn publish(table: Option<Table<'_>>) -> PublishConfig {
    let mut config = PublishConfig { after_run: false, slice: SLICE };
    let Some(mut table) = table else { return config };
    config.after_run = table.flag("after_run").unwrap_or_default();
    if let Some(slice) = table.text("slice", slice) {
        config.slice = slice.value;
    }
    table.finish(|_| None);
    config
}

/// Most bytes of one push: common hosts refuse two gigabytes.
const SLICE: u64 = 1 << 30;

/// Least of `slice`: a page and the directories above it have room in it.
const LEAST_SLICE: u64 = 64 << 10;

fn slice(text: &str) -> Checked<u64> {
    let bytes = values::bytes(text)?;
    if bytes >= LEAST_SLICE {
        return Ok(bytes);
    }
    Err(Complaint::new(
        format!("{} is too little for a push", quote(text)),
        "write at least \"64KiB\"; hosts take one or two gigabytes",
    ))
}

pub(super) fn mirrors(tables: Vec<Table<'_>>, dir: &Path) -> Vec<Mirror> {
    let mut mirrors: Vec<Located<Mirror>> = Vec::new();
    for mut table in tables {
        let faults = table.faults();
        let name = table.required_text("name", "github", mirror_name);
        let url = |text: &str| remote(dir, text);
        let url = table.required_text("url", "https://git.example.org/archive.git", url);
        table.finish(|_| None);
        let Some((name, url)) = name.zip(url.map(|url| url.value)) else { continue };
        if let Some(first) = mirrors.iter().find(|first| first.value.name == name.value) {
            let message = format!("two mirrors are called {}", quote(&name.value));
            let complaint = Complaint::new(message, "give each mirror a name of its own");
            faults.contradiction(name.span, first.span.clone(), complaint);
            continue;
        }
        mirrors.push(Located { value: Mirror { name: name.value, url }, span: name.span });
    }
    mirrors.into_iter().map(|mirror| mirror.value).collect()
}

fn mirror_name(text: &str) -> Checked<String> {
    let allowed = |c: char| c.is_ascii_alphanumeric() || "-_".contains(c);
    if text.starts_with(|c: char| c.is_ascii_alphanumeric()) && text.chars().all(allowed) {
        return Ok(text.to_owned());
    }
    Err(Complaint::new(
        format!("{} is not the name of a mirror", quote(text)),
        "use letters, digits, `-` and `_`, as github",
    ))
}

/// A path of the configuration, relative to the folder of its file.
pub(super) fn resolve(dir: &Path, text: &str) -> PathBuf {
    let mut path = PathBuf::new();
    for component in dir.join(text).components() {
        match component {
            Component::ParentDir => {
                path.pop();
            }
            other => path.push(other),
        }
    }
    path
}

/// What an address of a repository may be.
const REPOSITORY_HINT: &str =
    "write https://HOST/OWNER/NAME.git, ssh://…, user@host:path or a local path";

/// The address of a mirror; a relative path becomes an absolute one.
fn remote(dir: &Path, text: &str) -> Checked<RemoteUrl> {
    let address = absolute(dir, text)?;
    RemoteUrl::parse(&address).map_err(|error| {
        let message = format!("{} does not name a mirror: {}", quote(text), error.why);
        Complaint::new(message, REPOSITORY_HINT)
    })
}

/// The address of a repository; a relative path becomes an absolute one.
pub(super) fn repository(dir: &Path, text: &str) -> Checked<(String, Repository)> {
    let address = absolute(dir, text)?;
    match Repository::parse(&address) {
        Ok(repository) => Ok((address, repository)),
        Err(error) => Err(Complaint::new(
            format!("{} does not name a repository: {}", quote(text), error.why),
            REPOSITORY_HINT,
        )),
    }
}

/// The address of a repository with an absolute path in place of a relative one.
fn absolute(dir: &Path, text: &str) -> Checked<String> {
    if text.trim().is_empty() || text.starts_with('-') {
        let message = format!("{} does not name a repository", quote(text));
        return Err(Complaint::new(message, REPOSITORY_HINT));
    }
    let relative = text.starts_with("./")
        || text.starts_with("../")
        || !(text.contains(':') || text.starts_with('/'));
    if !relative {
        return Ok(text.to_owned());
    }
    let path = resolve(dir, text);
    path.to_str().map(str::to_owned).ok_or_else(|| {
        let message = format!("{} lies in a folder whose name is not UTF-8", quote(text));
        Complaint::new(message, "write an absolute path or move the repository")
    })
}
