//! A configuration over some sites, an archive to share, and doors to it.

use std::sync::Mutex;
use std::time::Instant;

use crate::archive::Archive;
use crate::clock::Clock;
use crate::config::{Config, parse};
use crate::fetch::http::Accept;
use crate::git::{Environment, Git, Interrupt, Network};
use crate::model::{CaseRule, PageUrl, RunId, Source, SourceId};
use crate::run::door::{Ask, Door, Follow, RequestKind, Visit};
use crate::run::{Context, Progress};
use crate::state::{HostConduct, Schedule};

/// Remembers what it was told.
#[derive(Default)]
pub struct Told(pub Mutex<Vec<String>>);

impl Progress for Told {
    fn hosts(&self, _hosts: &[crate::run::HostProgress]) {}

    fn stage(&self, _: &SourceId, _: &str) {}
    fn advance(&self, _: usize, _: usize) {}
    fn warn(&self, message: &str) {
        self.0.lock().unwrap().push(message.to_owned());
    }
}

pub struct Scene {
    pub config: Config,
    pub archive: Archive,
    pub told: Told,
    pub interrupt: Interrupt,
    _folder: tempfile::TempDir,
}

/// A site source over hosts, with further keys.
pub fn source(id: &str, hosts: &[String], more: &str) -> String {
    let list: Vec<String> = hosts.iter().map(|host| format!("{host:?}")).collect();
    format!(
        "[[source]]\nid = {id:?}\nkind = \"site\"\nlicence = \"CC0-1.0\"\npublish = true\n\
         hosts = [{}]\npaths = [\"/\"]\nstart = [\"http://{}/\"]\n{more}\n",
        list.join(", "),
        hosts[0]
    )
}

impl Scene {
    pub fn new(sources: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let text = format!(
            "[bot]\nname = \"TestBot\"\nurl = \"https://example.org/bot\"\n\
             contact = \"bot@example.org\"\n[archive]\npath = \"archive\"\n{sources}"
        );
        let config = parse("sources.toml", &text, folder.path());
        let config = config.unwrap_or_else(|errors| panic!("{}", errors.lines().join("\n")));
        let environment = Environment { path: std::env::var_os("PATH"), ..Environment::default() };
        let git = Git::new(&config.bot, environment, Network::default());
        let archive = Archive::init(&config.archive.path, CaseRule::Keep, &git).unwrap();
        let (told, interrupt) = (Told::default(), Interrupt::default());
        Self { config, archive, told, interrupt, _folder: folder }
    }

    pub fn context(&self) -> Context<'_> {
        Context {
            config: &self.config,
            git: Git::new(&self.config.bot, Environment::default(), Network::default()),
            clock: Clock::system(),
            interrupt: self.interrupt.clone(),
            progress: &self.told,
        }
    }

    pub fn source(&self, at: usize) -> &Source {
        &self.config.sources[at]
    }

    pub fn door<'a>(&self, context: &'a Context<'a>, deadline: Option<Instant>) -> Door<'a> {
        Door::open(context, &self.archive, RunId(1), deadline).unwrap()
    }

    pub fn schedule(&self) -> Schedule {
        Schedule::open(&self.archive.politeness_file(), "x").unwrap().0
    }

    /// The conduct on the only host of run 1.
    pub fn conduct(&self) -> HostConduct {
        let mut hosts = self.schedule().conduct(RunId(1)).unwrap();
        assert_eq!(hosts.len(), 1, "{hosts:?}");
        hosts.remove(0)
    }
}

pub fn page(url: &str) -> PageUrl {
    PageUrl::parse(url).unwrap()
}

/// An ask for a page that follows what is temporary, anywhere.
pub fn ask<'q>(source: &'q Source, url: &'q PageUrl) -> Ask<'q> {
    Ask {
        source,
        url,
        kind: RequestKind::Page,
        accept: Accept::Page,
        validators: None,
        limit: 1 << 20,
        follow: Follow::Temporary(&|_| Ok(())),
    }
}

pub fn get(door: &Door<'_>, source: &Source, url: &str) -> Visit {
    door.get(&ask(source, &page(url))).unwrap()
}

/// What became of a visit, as a word and what matters most.
pub fn told(visit: &Visit) -> String {
    match visit {
        Visit::Answer(answer) => format!("answer {} {}", answer.response.status, answer.found),
        Visit::Moved { to, status, .. } => format!("moved {status} {to}"),
        Visit::Astray { to, status, why } => format!("astray {status} {to}: {why}"),
        Visit::Disallowed { url, ground } => format!("disallowed {url}: {ground}"),
        Visit::Refused { url, why } => format!("refused {url}: {why}"),
        Visit::Later { why, retry } => format!("later in {} s: {why}", retry.as_secs()),
        Visit::Unreachable { why, retry } => format!("unreachable {}: {why}", retry.is_some()),
        Visit::Deferred(why) => format!("deferred: {why}"),
        Visit::Failed(why) => format!("failed: {why}"),
    }
}
