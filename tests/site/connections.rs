//! Every connection of every command, read from the system calls, against what was counted.

use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::thread;
use std::time::Duration;

use super::scene::{HOST, at};
use crate::support::Outcome;
use crate::support::crawl::{Crawl, SiteSource, clock, docs};
use crate::support::script::{Framing, Reply, Script};
use crate::support::server::Web;
use crate::support::tracer::usable;
use crate::support::world::{git_source, program};

/// A host that is asked without TLS: so it has a port of its own here.
const PLAIN: &str = "plain.example.org";

/// Whose call it was.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Caller {
    Ours,
    Git,
}

/// Connections over the internet protocols, by caller and where they lead.
type Connects = BTreeMap<(Caller, String), u64>;

/// Two sites, one of them without TLS and private, and a repository.
struct Scene {
    crawl: Crawl,
    web: Web,
    /// Ports of the hosts by name, those of the repository's server included.
    ports: BTreeMap<String, u16>,
    traces: usize,
}

impl Scene {
    fn new() -> Self {
        let mut script = Script::new();
        for (host, scheme) in [(HOST, "https"), (PLAIN, "http")] {
            script.set(host, "/robots.txt", vec![Reply::robots("")]);
            let links: Vec<String> = (0..6).map(|n| format!("{scheme}://{host}/p{n}")).collect();
            script.set(host, "/sitemap.xml", vec![Reply::sitemap(&links)]);
            for n in 0..6 {
                let text = format!("The text of {n} at {host}.");
                let page = Reply::page(&format!("Page {n}"), &text, &[]).etag(&format!("\"{n}\""));
                // Some connections cannot be used again.
                let closing = n % 2 == 1;
                let page = if closing { page.framing(Framing::Close) } else { page };
                script.set(host, &format!("/p{n}"), vec![page]);
            }
        }
        // One request fails, and is made again.
        let cut = Reply::page("Cut", "Its first answer is cut.", &[]);
        script.set(HOST, "/p5", vec![cut.clone().framing(Framing::Cut(20)), cut]);
        let crawl = Crawl::new(script, &[]);
        let web = Web::serving_git(crawl.path());
        crawl.upstream("up").write("a.md", "# A\n").commit();
        let start = format!("http://{PLAIN}/sitemap.xml");
        let sites = [
            docs(&at("/sitemap.xml")).toml(),
            SiteSource::new("plain", PLAIN, &[&start]).private().toml(),
        ];
        let address = format!("http://127.0.0.1:{}/up.git", web.port());
        let git = git_source("guide", "true", &[&address]) + "pace = \"10ms\"\n";
        crawl.configure(&(sites.concat() + &git));
        let [plain, secure] = crawl.hosts.ports();
        let ports = [(HOST, secure), (PLAIN, plain), ("127.0.0.1", web.port())];
        let ports = ports.map(|(host, port)| (host.to_owned(), port)).into_iter().collect();
        Self { crawl, web, ports, traces: 0 }
    }

    /// A command under `strace`, and where its trace is written.
    fn command(&mut self, day: u32, arguments: &[&str]) -> (Command, PathBuf) {
        self.traces += 1;
        let log = self.crawl.path().join(format!("connects-{}", self.traces));
        let mut strace = self.crawl.other("strace");
        strace.args(["-f", "-q", "-s", "4096", "-e", "signal=none"]);
        strace.args(["-e", "trace=connect,execve", "-o"]).arg(&log);
        strace.arg(program()).args(["--clock", &clock(day)]);
        strace.args(self.crawl.hosts.arguments()).args(arguments);
        strace.stdout(Stdio::piped()).stderr(Stdio::piped());
        (strace, log)
    }

    /// Runs a command; gives how it ended and its connections.
    fn traced(&mut self, day: u32, arguments: &[&str]) -> (Outcome, Trace) {
        let (mut command, log) = self.command(day, arguments);
        let outcome = Outcome::from(command.output().expect("strace starts"));
        (outcome, self.read(&log))
    }

    /// A trace, whose connections lead to hosts of the test only.
    #[track_caller]
    fn read(&self, log: &PathBuf) -> Trace {
        let trace = Trace::parse(&fs::read_to_string(log).expect("a trace"));
        let known: Vec<String> = self.ports.values().map(|n| format!("127.0.0.1:{n}")).collect();
        for (_, to) in trace.connects.keys() {
            assert!(known.contains(to), "{to} is no host of the test: {trace:?}");
        }
        trace
    }

    /// What `manners` counts of a run equals what a trace shows.
    #[track_caller]
    fn assert_counted(&self, run: &str, trace: &Trace) {
        let told = self.crawl.pagelog(&["manners", run, "--json"]).json();
        let hosts = told["hosts"].as_array().expect("hosts");
        assert_eq!(hosts.len(), 3, "{told}");
        for host in hosts {
            let name = host["host"].as_str().expect("a name");
            let to = format!("127.0.0.1:{}", self.ports[name]);
            let of = |caller| trace.connects.get(&(caller, to.clone())).copied().unwrap_or(0);
            let counted = host["connections"].as_u64().expect("a number");
            assert_eq!(counted, of(Caller::Ours), "{name}: {told}\n{trace:?}");
            let updates = host["requests"]["git"].as_u64().unwrap_or(0);
            assert_eq!(updates > 0, of(Caller::Git) > 0, "{name}: {told}\n{trace:?}");
            if updates > 0 {
                assert_eq!(updates, trace.fetches, "{name}: {told}\n{trace:?}");
            }
        }
    }
}

/// What a command connected to.
#[derive(Debug, Default)]
struct Trace {
    connects: Connects,
    /// How many updates of repositories were begun.
    fetches: u64,
    /// Connections of Git outside of these.
    astray: u64,
}

impl Trace {
    fn parse(text: &str) -> Self {
        let mut this = Self::default();
        let (mut git, mut open) = (Vec::new(), Vec::new());
        for line in text.lines() {
            let Some((process, call)) = line.split_once(' ') else { continue };
            let call = call.trim_start();
            if let Some(rest) = call.strip_prefix("execve(") {
                let program = rest.split('"').nth(1).unwrap_or_default();
                let name = program.rsplit('/').next().unwrap_or_default();
                let begun = !rest.contains(" = -1 ");
                if begun && name.starts_with("git") {
                    git.push(process.to_owned());
                }
                if begun && name == "git" && rest.contains("\"fetch\"") {
                    this.fetches += 1;
                    open.push(process.to_owned());
                }
            } else if call.starts_with("+++ ") {
                open.retain(|it| it != process);
                git.retain(|it| it != process);
            } else if let Some(to) = call.strip_prefix("connect(").and_then(destination) {
                let ours = !git.iter().any(|it| it == process);
                let caller = if ours { Caller::Ours } else { Caller::Git };
                this.astray += u64::from(!ours && open.is_empty());
                *this.connects.entry((caller, to)).or_default() += 1;
            }
        }
        this
    }

    fn add(&mut self, other: Self) {
        self.fetches += other.fetches;
        self.astray += other.astray;
        for (key, count) in other.connects {
            *self.connects.entry(key).or_default() += count;
        }
    }
}

/// Address and port of a call, where it is one of the internet protocols.
fn destination(call: &str) -> Option<String> {
    let value = |from: &str, to: char| Some(call.split_once(from)?.1.split_once(to)?.0.to_owned());
    let port = value("port=htons(", ')')?;
    let address = value("sin_addr=inet_addr(\"", '"').or_else(|| {
        let text = value("sin6_addr", ')')?;
        Some(format!("[{text}]"))
    })?;
    Some(format!("{address}:{port}"))
}

#[test]
fn destinations_are_read() {
    let four = "7, {sa_family=AF_INET, sin_port=htons(80), sin_addr=inet_addr(\"192.0.2.1\")}, 16";
    assert_eq!(destination(four).as_deref(), Some("192.0.2.1:80"));
    let six = "7, {sa_family=AF_INET6, sin6_port=htons(443), sin6_flowinfo=htonl(0), \
               inet_pton(AF_INET6, \"2001:db8::1\", &sin6_addr), sin6_scope_id=0}, 28";
    assert!(destination(six).is_some_and(|to| to.ends_with(":443")));
    assert_eq!(destination("7, {sa_family=AF_UNIX, sun_path=\"/run/socket\"}, 110"), None);
}

#[test]
fn every_connection_is_counted_and_leads_to_a_source() {
    if !usable("the connections of all commands") {
        return;
    }
    let mut scene = Scene::new();
    let (checked, trace) = scene.traced(1, &["check"]);
    checked.exits(0);
    assert_eq!(trace.connects, Connects::new(), "check");

    let (ended, first) = scene.traced(1, &["run"]);
    ended.exits(0);
    scene.assert_counted("1", &first);

    let (ended, dry) = scene.traced(2, &["run", "--dry-run"]);
    ended.exits(0);
    scene.assert_counted("outside", &dry);

    let interrupted = interrupted_and_continued(&mut scene);
    scene.assert_counted("2", &interrupted);

    let (ended, last) = scene.traced(3, &["run"]);
    ended.exits(0);
    scene.assert_counted("3", &last);

    let page = at("/p0");
    let questions: [&[&str]; 12] = [
        &["status"],
        &["manners"],
        &["changes"],
        &["history", &page],
        &["show", &page],
        &["links"],
        &["explain", &page],
        &["path", &page],
        &["url", "pages/docs/docs.example.org/p0.md"],
        &["audit"],
        &["backup", "copy"],
        &["check"],
    ];
    for arguments in questions {
        let (ended, trace) = scene.traced(3, arguments);
        assert_eq!(ended.code, Some(0), "{arguments:?}: {ended:?}");
        assert_eq!(trace.connects, Connects::new(), "{arguments:?}");
    }
    let sum = |of: Caller| -> u64 {
        [&first, &dry, &interrupted, &last]
            .iter()
            .flat_map(|trace| &trace.connects)
            .filter(|((caller, _), _)| *caller == of)
            .map(|(_, count)| count)
            .sum()
    };
    println!("{} connections of ours, {} of Git", sum(Caller::Ours), sum(Caller::Git));
    assert_eq!([&first, &dry, &interrupted, &last].map(|trace| trace.astray), [0; 4]);
    assert_eq!(scene.web.requests().len() as u64, sum(Caller::Git));
}

/// A run that is interrupted while it waits for an answer, and the one that goes on with it:
/// they count as one.
fn interrupted_and_continued(scene: &mut Scene) -> Trace {
    let slow = Reply::page("Page 4", "Its answer takes its time.", &[]);
    scene.crawl.hosts.on(PLAIN, "/p4", slow.clone().delay(Duration::from_secs(20)));
    let before = scene.crawl.hosts.count();
    let (mut command, log) = scene.command(2, &["run"]);
    let run = command.spawn().expect("strace starts");
    let asked = |scene: &Scene| {
        let since = scene.crawl.hosts.exchanges().split_off(before);
        since.iter().any(|it| it.host() == PLAIN && it.target == "/p4")
    };
    for _ in 0..3000 {
        if asked(scene) {
            break;
        }
        thread::sleep(Duration::from_millis(10));
    }
    let text = fs::read_to_string(&log).expect("a trace");
    let process = text.split_whitespace().next().expect("the number of the process");
    let signal = Command::new("kill").args(["-INT", process]).status();
    assert!(signal.expect("kill starts").success());
    let ended: Outcome = run.wait_with_output().expect("it ends").into();
    assert_eq!(ended.code, Some(130), "{ended:?}");
    let mut trace = scene.read(&log);
    scene.crawl.hosts.on(PLAIN, "/p4", slow);
    let (ended, rest) = scene.traced(2, &["run"]);
    ended.exits(0);
    trace.add(rest);
    trace
}
