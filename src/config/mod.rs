//! `sources.toml`: who we are, what is read and under which rules.
//!
//! Owns the file's keys, their defaults and what contradicts what. Text comes in, plain
//! values of [`crate::model`] and of this module come out, and nothing that came out needs
//! to be checked again: every address parses, every regular expression compiles, every id
//! is unique, no repository or page is claimed by a public and a private source.
//!
//! A file is read to its end whatever is wrong with it: [`ConfigErrors`] holds every
//! mistake with file, line, column, the offending text and a hint. Only a file that is not
//! TOML is not looked at further. Unknown keys are refused. `url`, `contact`, `licence`
//! and `publish` have no default. Environment variables are never read, and no file but
//! the one that is named and the policies that it names.

mod contradictions;
mod faults;
mod feed;
mod general;
mod git;
mod host;
mod licence;
mod nearest;
mod policy;
mod reader;
mod site;
mod source;
mod syntax;
#[cfg(test)]
mod tests;
mod values;

use std::fmt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::model::{Bot, CaseRule, ConnectTo, Policy, RemoteUrl, Source};

pub use faults::{ConfigError, ConfigErrors};

use faults::{Complaint, Faults, mask};
use reader::Table;

/// The commented `sources.toml` that `pagelog init` writes; it parses as it stands.
pub const SAMPLE: &str = include_str!("sample.toml");

/// A configuration without mistakes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Config {
    /// `[bot]`: who we are.
    pub bot: Bot,
    /// `[archive]`: where it is kept.
    pub archive: ArchiveConfig,
    /// `[run]`: what every run obeys.
    pub run: RunConfig,
    /// `[network]`: how connections are made.
    pub network: NetworkConfig,
    /// `[publish]`: when and how the mirrors are served.
    pub publish: PublishConfig,
    /// `[[mirror]]`: the remotes that receive the public ref; names are unique.
    pub mirrors: Vec<Mirror>,
    /// The rules of conduct that are shipped, and those of `[[policy]]` in their place or
    /// beside them; the standard ones are among them.
    pub policies: Vec<Policy>,
    /// `[[source]]`: what is read, in the order of the file; may be empty.
    pub sources: Vec<Source>,
}

/// Where the archive is kept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ArchiveConfig {
    /// Directory of the archive (`path`, default `archive`), resolved against the folder of
    /// the file.
    pub path: PathBuf,
    /// What becomes of capitals in paths (`portable_case`, default false); fixed when the
    /// archive is made.
    pub case: CaseRule,
}

/// What every run obeys.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RunConfig {
    /// Longest duration of a run; more than zero, 12 hours where not given.
    pub budget: Duration,
    /// Least time between the two looks that make a page gone; 24 hours where not given.
    pub gone_after: Duration,
    /// Time after which what was read of sites so far is brought to disk; more than zero, 5
    /// minutes where not given.
    pub checkpoint: Duration,
    /// Longest time that a run spends on the archive's upkeep after its commit; none where
    /// zero, 5 minutes where not given.
    pub upkeep: Duration,
}

/// How connections are made. The Debug form masks the password of the proxy.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct NetworkConfig {
    /// Connections that go elsewhere than the address says; the first that fits counts.
    pub connect_to: Vec<ConnectTo>,
    /// File of certificates (PEM) that are trusted, resolved against the folder of the file.
    pub ca_file: Option<PathBuf>,
    /// Address of a proxy: http, https, socks5 or socks5h; it may hold a password.
    pub proxy: Option<String>,
}

impl fmt::Debug for NetworkConfig {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("NetworkConfig")
            .field("connect_to", &self.connect_to)
            .field("ca_file", &self.ca_file)
            .field("proxy", &self.proxy.as_deref().map(mask))
            .finish()
    }
}

/// When and how the mirrors are served.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PublishConfig {
    /// Whether a run ends with a push to all mirrors (`after_run`, default false).
    pub after_run: bool,
    /// Most bytes that one push may hold (`slice`, at least 64 KiB, default 1 GiB).
    pub slice: u64,
}

/// A Git remote of ours that receives the public ref.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mirror {
    /// Name: letters, digits, `-` and `_`.
    pub name: String,
    /// Where it is.
    pub url: RemoteUrl,
}

impl Config {
    /// The source with that id, or that once had it.
    #[must_use]
    pub fn source(&self, id: &str) -> Option<&Source> {
        let named = self.sources.iter().find(|source| source.id.as_str() == id);
        named.or_else(|| {
            self.sources.iter().find(|source| source.was.iter().any(|was| was.as_str() == id))
        })
    }

    /// What the bot page lacks, in sentences; values of `example.org` count as lacking.
    #[must_use]
    pub fn missing_for_bot_page(&self) -> Vec<String> {
        let bot = &self.bot;
        let mut missing = Vec::new();
        let mut say = |lacking, sentence: String| {
            if lacking {
                missing.push(sentence);
            }
        };
        let texts = [("url", Some(&bot.url)), ("contact", Some(&bot.contact))];
        let more = [("reverse_dns", bot.reverse_dns.as_ref()), ("ips_url", bot.ips_url.as_ref())];
        for (key, text) in texts.into_iter().chain(more) {
            let example = text.filter(|text| text.contains("example.org"));
            let value = example.map(String::as_str).unwrap_or_default();
            say(example.is_some(), format!("`{key}` is still the example value `{value}`."));
        }
        say(bot.name == "ExampleBot", "`name` is still the example value `ExampleBot`.".into());
        say(bot.operator.is_empty(), "`operator` does not say who runs the bot.".into());
        say(bot.purpose.is_empty(), "`purpose` does not say what the pages are used for.".into());
        say(
            bot.addresses.is_empty(),
            "`addresses` does not say where requests come from, so nobody can verify the bot."
                .into(),
        );
        say(bot.postal.is_none(), "`postal` gives no postal address of the operator.".into());
        missing
    }
}

/// Reads a configuration file.
///
/// # Errors
/// The file cannot be read, is not UTF-8 or TOML, or holds mistakes: all of them.
pub fn load(path: &Path) -> Result<Config, ConfigErrors> {
    let name = path.display().to_string();
    let unreadable = |error: &std::io::Error| {
        let hint = match error.kind() {
            std::io::ErrorKind::NotFound => "`pagelog init` writes one; `--config` names another",
            _ => "it must be a file that may be read",
        };
        ConfigErrors::whole(&name, Complaint::new(format!("cannot be read: {error}"), hint))
    };
    let bytes = std::fs::read(path).map_err(|error| unreadable(&error))?;
    let absolute = std::path::absolute(path).map_err(|error| unreadable(&error))?;
    let dir = absolute.parent().unwrap_or(&absolute);
    match std::str::from_utf8(&bytes) {
        Ok(text) => parse(&name, text, dir),
        Err(error) => Err(not_utf8(&name, &bytes, error.valid_up_to())),
    }
}

fn not_utf8(name: &str, bytes: &[u8], at: usize) -> ConfigErrors {
    let text = String::from_utf8_lossy(bytes);
    let hint = "save the file as UTF-8";
    let byte = bytes.get(at).copied().unwrap_or_default();
    let complaint = Complaint::new(format!("the byte 0x{byte:02x} here is not UTF-8"), hint);
    let end = at + char::REPLACEMENT_CHARACTER.len_utf8();
    ConfigErrors::one(name, &text, at..end, complaint)
}

/// Reads the text of a configuration file; `name` stands in messages, and relative paths
/// are relative to `dir`, which should be absolute.
///
/// # Errors
/// The text is not TOML, or holds mistakes: all of them.
pub fn parse(name: &str, text: &str, dir: &Path) -> Result<Config, ConfigErrors> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let document = syntax::document(name, text)?;
    let faults = Faults::default();
    let mut errors = Vec::new();
    let root = Table::new("the file", 0..0, document.get_ref(), &faults);
    let config = resolve(root, dir, &mut errors)?;
    ConfigErrors::join(faults.settle(config, name, text), errors)
}

/// The policies that are shipped, the standard one first.
///
/// # Errors
/// One of them has a mistake; none has in a program that passed its tests.
pub fn shipped_policies() -> Result<Vec<Policy>, ConfigErrors> {
    policy::shipped()
}

fn resolve(
    mut root: Table<'_>,
    dir: &Path,
    errors: &mut Vec<ConfigErrors>,
) -> Result<Config, ConfigErrors> {
    let faults = root.faults();
    let bot = root.table("bot", "[bot]");
    let archive = root.table("archive", "[archive]");
    let run = root.table("run", "[run]");
    let network = root.table("network", "[network]");
    let publish = root.table("publish", "[publish]");
    let mirrors = root.tables("mirror", "[[mirror]]");
    let policies = policy::files(root.tables("policy", "[[policy]]"), dir);
    let sources = root.tables("source", "[[source]]");
    root.finish(|_| None);
    let policies = policy::all(&policies, (faults, errors))?;
    let read = |table| source::source(table, dir, &policies);
    let read: Vec<_> = sources.into_iter().map(read).collect();
    contradictions::check(&read, faults);
    Ok(Config {
        bot: general::bot(bot.unwrap_or_else(|| Table::absent("[bot]", faults))),
        archive: general::archive(archive, dir),
        run: general::run(run),
        network: general::network(network, dir),
        publish: general::publish(publish),
        mirrors: general::mirrors(mirrors, dir),
        sources: read.into_iter().filter_map(|read| read.source).collect(),
        policies,
    })
}
