//! A folder with a configuration of sites, and the scripted hosts that they are read from.
//! Each run is the program as a user starts it, and its requests are judged.

use std::ops::Deref;
use std::process::{Command, Stdio};
use std::time::Duration;

use pagelog::model::{CaseRule, PageUrl, TreePath};
use serde_json::Value;

use super::hosts::{Exchange, Hosts};
use super::judge::{self, Judge};
use super::script::Script;
use super::{Outcome, World};

/// Pace of the sources of these tests.
pub const PACE: Duration = Duration::from_millis(10);

/// The public ref.
pub const PUBLIC: &str = "refs/heads/main";
/// The private ref.
pub const PRIVATE: &str = "refs/private/main";

/// A site source as TOML.
#[derive(Clone, Debug)]
pub struct SiteSource {
    id: String,
    publish: bool,
    hosts: Vec<String>,
    paths: Vec<String>,
    start: Vec<String>,
    pace: String,
    more: String,
}

impl SiteSource {
    /// A public one that reads a host from these addresses on.
    pub fn new(id: &str, host: &str, start: &[&str]) -> Self {
        let own = |texts: &[&str]| texts.iter().map(|text| (*text).to_owned()).collect();
        Self {
            id: id.to_owned(),
            publish: true,
            hosts: own(&[host]),
            paths: own(&["/"]),
            start: own(start),
            pace: format!("{}ms", PACE.as_millis()),
            more: String::new(),
        }
    }

    /// The same, private.
    pub fn private(self) -> Self {
        Self { publish: false, ..self }
    }

    pub fn host(mut self, host: &str) -> Self {
        self.hosts.push(host.to_owned());
        self
    }

    /// The same, where paths begin with these only.
    pub fn paths(self, paths: &[&str]) -> Self {
        Self { paths: paths.iter().map(|path| (*path).to_owned()).collect(), ..self }
    }

    pub fn pace(self, pace: &str) -> Self {
        Self { pace: pace.to_owned(), ..self }
    }

    /// The same with another key and its value as TOML.
    pub fn key(mut self, line: &str) -> Self {
        self.more.push_str(line);
        self.more.push('\n');
        self
    }

    /// As it stands in `sources.toml`.
    pub fn toml(&self) -> String {
        format!(
            "[[source]]\nid = {:?}\nkind = \"site\"\nlicence = \"CC-BY-4.0\"\npublish = {}\n\
             hosts = {:?}\npaths = {:?}\nstart = {:?}\npace = {:?}\n{}",
            self.id, self.publish, self.hosts, self.paths, self.start, self.pace, self.more
        )
    }
}

/// The folder and the hosts.
pub struct Crawl {
    world: World,
    pub hosts: Hosts,
    judge: Judge,
}

impl Deref for Crawl {
    type Target = World;

    fn deref(&self) -> &World {
        &self.world
    }
}

/// What a run did: what it printed, and what it asked.
#[derive(Debug)]
pub struct Ran {
    pub outcome: Outcome,
    pub exchanges: Vec<Exchange>,
}

impl Crawl {
    pub fn new(script: Script, sources: &[SiteSource]) -> Self {
        let toml: String = sources.iter().map(SiteSource::toml).collect();
        Self { world: World::new(&toml), hosts: Hosts::new(script), judge: Judge::new(PACE) }
    }

    /// One source `docs` that reads `docs.example.org` from one address on.
    pub fn docs(script: Script, start: &str) -> Self {
        Self::new(script, &[docs(start)])
    }

    /// The same with another judge.
    pub fn judged(self, judge: Judge) -> Self {
        Self { judge, ..self }
    }

    /// Another folder as this one is now, which reads the same hosts.
    pub fn copy(&self) -> World {
        self.world.copy()
    }

    /// `pagelog run` at a time, as a command.
    pub fn start_run(&self, clock: &str, more: &[&str]) -> Command {
        start_run(&self.world, &self.hosts, clock, more)
    }

    /// One run, however it ends; its requests are polite.
    #[track_caller]
    pub fn run_with(&self, clock: &str, more: &[&str]) -> Ran {
        let ran = self.run_unjudged(clock, more);
        self.judge.assert(&ran.exchanges, "a run");
        ran
    }

    /// One run that nobody judges.
    #[track_caller]
    pub fn run_unjudged(&self, clock: &str, more: &[&str]) -> Ran {
        let before = self.hosts.count();
        let output = self.start_run(clock, more).output().expect("pagelog starts");
        let ran =
            Ran { outcome: output.into(), exchanges: self.hosts.exchanges().split_off(before) };
        if matches!(ran.outcome.code, Some(0 | 3)) && self.world.archive().join("HEAD").exists() {
            self.world.assert_sound();
        }
        ran
    }

    /// The run of a day, from 1 on, two days apart; it must end with this exit code.
    #[track_caller]
    pub fn day(&self, day: u32, code: i32) -> Ran {
        self.run_with(&clock(day), &[]).exits(code)
    }

    /// What a page of the source `docs` is at the tip of the public ref.
    pub fn page(&self, url: &str) -> Option<String> {
        self.page_at(PUBLIC, "docs", url)
    }

    /// What a page of a source is at a revision.
    pub fn page_at(&self, revision: &str, source: &str, url: &str) -> Option<String> {
        let name = format!("{revision}:{}", path_of(source, url));
        let found = self.world.git(&["cat-file", "blob", &name]);
        (found.code == Some(0)).then_some(found.stdout)
    }

    /// Whether the page of `docs` is on the public ref and holds a text.
    #[track_caller]
    pub fn assert_page(&self, url: &str, text: &str) {
        let page = self.page(url).unwrap_or_else(|| panic!("{url} is not archived"));
        assert!(page.contains(text), "{url} has no `{text}`:\n{page}");
    }

    /// Paths of the pages of a ref, without the folder `pages/`.
    #[track_caller]
    pub fn pages(&self, revision: &str) -> Vec<String> {
        let files = self.world.files(revision);
        files.iter().filter_map(|file| file.strip_prefix("pages/")).map(str::to_owned).collect()
    }

    /// Outcome and reason that the last run gave a URL.
    #[track_caller]
    pub fn outcome(&self, url: &str) -> (String, String) {
        let explained = self.world.pagelog(&["explain", url, "--json"]).json();
        let steps = explained["steps"].as_array().expect("steps");
        let last = steps.iter().max_by_key(|step| step["last_run"].as_i64());
        let last = last.unwrap_or_else(|| panic!("no run speaks of {url}"));
        let text = |name: &str| last[name].as_str().expect("text").to_owned();
        (text("outcome"), text("reason"))
    }

    /// The last outcome of a URL is this one.
    #[track_caller]
    pub fn assert_outcome(&self, url: &str, outcome: &str) {
        let found = self.outcome(url);
        assert_eq!(found.0, outcome, "{url}: {}", found.1);
    }

    /// Paths below `pages/` that the last commit of the public ref changed, with `A`, `M`
    /// or `D` before each.
    #[track_caller]
    pub fn changes(&self) -> Vec<String> {
        let range = [format!("{PUBLIC}~1"), PUBLIC.to_owned()];
        let arguments = ["diff", "--no-renames", "--name-status", &range[0], &range[1]];
        let listed = self.world.git(&arguments).ok();
        let lines = listed.lines().filter_map(|line| line.split_once("\tpages/"));
        lines.map(|(kind, path)| format!("{kind} {path}")).collect()
    }
}

impl Ran {
    /// The same, where the exit code is this one.
    #[track_caller]
    pub fn exits(self, code: i32) -> Self {
        let Outcome { code: found, stdout, stderr } = &self.outcome;
        let asked = self.asked().join("\n  ");
        assert_eq!(*found, Some(code), "stdout:\n{stdout}\nstderr:\n{stderr}\nasked:\n  {asked}");
        self
    }

    /// URLs that were asked for, in order.
    pub fn asked(&self) -> Vec<String> {
        self.exchanges.iter().map(Exchange::url).collect()
    }

    /// Targets that were asked for, in order, robots.txt left out.
    pub fn targets(&self) -> Vec<&str> {
        let targets = self.exchanges.iter().filter(|exchange| !exchange.is_robots());
        targets.map(|exchange| exchange.target.as_str()).collect()
    }

    /// How often a target was asked for.
    pub fn times(&self, target: &str) -> usize {
        self.exchanges.iter().filter(|exchange| exchange.target == target).count()
    }

    /// Targets of conditional requests, each once, sorted.
    pub fn conditional(&self) -> Vec<String> {
        let mut urls = judge::conditional(&self.exchanges);
        for url in &mut urls {
            let path = url.splitn(4, '/').nth(3).unwrap_or_default();
            *url = format!("/{path}");
        }
        urls
    }

    /// Standard output as JSON.
    #[track_caller]
    pub fn json(&self) -> Value {
        serde_json::from_str(&self.outcome.stdout).expect("standard output is JSON")
    }

    /// A count of the only source.
    #[track_caller]
    pub fn counted(&self, name: &str) -> u64 {
        let report = self.json();
        report["sources"][0][name].as_u64().unwrap_or_else(|| panic!("no `{name}` in {report}"))
    }

    /// Both outputs say this.
    #[track_caller]
    pub fn assert_says(&self, text: &str) {
        let Outcome { stdout, stderr, .. } = &self.outcome;
        let said = stdout.contains(text) || stderr.contains(text);
        assert!(said, "`{text}` is not said\nstdout:\n{stdout}\nstderr:\n{stderr}");
    }
}

/// A source `docs` that reads `docs.example.org` from one address on.
pub fn docs(start: &str) -> SiteSource {
    SiteSource::new("docs", "docs.example.org", &[start])
}

/// The time at which the run of a day begins; days are two days apart.
pub fn clock(day: u32) -> String {
    let start = chrono::NaiveDate::from_ymd_opt(2026, 11, 28).expect("a date");
    let date = start + chrono::Days::new(u64::from(day) * 2);
    format!("{date}T02:00:00Z")
}

/// `pagelog run --json` in a folder, led to these hosts.
pub fn start_run(world: &World, hosts: &Hosts, clock: &str, more: &[&str]) -> Command {
    let mut command = world.command(clock);
    command.args(["run", "--json"]).args(hosts.arguments()).args(more);
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

/// Where the page of a source stands.
#[track_caller]
pub fn path_of(source: &str, url: &str) -> String {
    let url = PageUrl::parse(url).expect("a URL");
    format!("pages/{source}/{}", TreePath::of_url(&url, CaseRule::Keep))
}
