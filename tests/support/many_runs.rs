//! An archive of many runs, each of which edited the same pages.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use super::world::git_source;
use super::{Outcome, Upstream, World};

/// The page that every run edits, in its upstream.
const PAGE: &str = "guide/page.md";

/// A folder with a public and a private source, and how often it was run.
pub struct ManyRuns {
    pub world: World,
    upstreams: [Upstream; 2],
    runs: usize,
    /// Bytes of text that no compression makes smaller, in each edit.
    bulk: usize,
}

impl ManyRuns {
    /// Before its first run; `more` is put before the sources into the configuration.
    pub fn new(more: &str) -> Self {
        let world = World::empty();
        let upstreams = [world.upstream("up"), world.upstream("in")];
        let this = Self { world, upstreams, runs: 0, bulk: 0 };
        this.configure(more);
        this
    }

    /// After runs that left more packs than upkeep lets be, with such an edit committed upstream
    /// that the next run has something to do.
    pub fn with_upkeep_due(bulk: usize) -> Self {
        let mut this = Self { bulk, ..Self::new("[run]\nupkeep = \"0s\"\n") };
        for _ in 0..10 {
            this.run().exits(0);
        }
        assert!(packs(&this.world).len() > 8, "{:?}", packs(&this.world));
        this.configure("");
        this.edit();
        this
    }

    /// Writes the configuration anew.
    pub fn configure(&self, more: &str) {
        let sources = [
            git_source("docs", "true", &["./up.git"]),
            git_source("inner", "false", &["./in.git"]),
        ];
        self.world.configure(&format!("{more}{}", sources.concat()));
    }

    /// Edits the pages and runs.
    pub fn run(&mut self) -> Outcome {
        self.edit();
        self.world.pagelog_at(&self.clock(), &["run"])
    }

    /// Edits the pages for the next run.
    pub fn edit(&mut self) {
        self.runs += 1;
        for (upstream, which) in self.upstreams.iter().zip(["public", "private"]) {
            upstream.write(PAGE, self.text(which, self.runs));
            upstream.write("guide/other.md", format!("# Other\n\nThe {which} one stays.\n"));
            upstream.commit();
        }
    }

    /// When the last run began, or is to begin.
    pub fn clock(&self) -> String {
        clock(self.runs)
    }

    /// When the run after that begins.
    pub fn next_clock(&self) -> String {
        clock(self.runs + 1)
    }

    fn text(&self, which: &str, run: usize) -> String {
        let mut text = format!("# Page\n\nThe {which} text of run {run}.\n");
        for line in 0..30 {
            let _ = writeln!(text, "\nParagraph {line} of the {which} page, {} words.", line * 37);
        }
        let mut state = (run * 2 + which.len()) as u64;
        while text.len() < self.bulk {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            let _ = writeln!(text, "\nw{:016x}", state.rotate_left(23) ^ state);
        }
        text
    }

    /// Every run is there with the text that it read.
    #[track_caller]
    pub fn assert_history(&self, world: &World) {
        let refs = [("main", "docs", "up", "public"), ("private", "inner", "in", "private")];
        for (name, source, upstream, which) in refs {
            let tip = if name == "main" { "refs/heads/main" } else { "refs/private/main" };
            let path = format!("pages/{source}/{upstream}.git.invalid/{PAGE}");
            let log = ["log", "--reverse", "--format=%H", tip, "--", &path];
            let commits = world.git(&log).ok();
            let commits: Vec<&str> = commits.lines().collect();
            assert_eq!(commits.len(), self.runs, "{name}");
            for (at, commit) in commits.iter().enumerate() {
                let text = world.file(commit, &path);
                let run = format!("\nThe {which} text of run {}.\n", at + 1);
                assert!(text.contains(&run), "{name}, run {}: {text}", at + 1);
            }
        }
    }
}

/// The time of a run: they are a day apart.
fn clock(run: usize) -> String {
    format!("2027-{:02}-{:02}T02:00:00Z", run / 28 + 1, run % 28 + 1)
}

/// The packs of an archive, by name.
pub fn packs(world: &World) -> Vec<String> {
    names(&world.archive().join("objects/pack"), ".pack")
}

/// The files of a folder whose names end so.
pub fn names(folder: &Path, end: &str) -> Vec<String> {
    let Ok(entries) = fs::read_dir(folder) else { return Vec::new() };
    let names = entries.flatten().map(|entry| entry.file_name().to_string_lossy().into_owned());
    let mut names: Vec<String> = names.filter(|name| name.ends_with(end)).collect();
    names.sort();
    names
}
