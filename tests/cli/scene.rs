//! An archive with some history, and outputs without what differs from run to run.

use crate::support::world::git_source;
use crate::support::{Upstream, World};

/// Two sources and three runs: pages are added, edited, moved and removed, one fails.
pub struct Scene {
    pub world: World,
    pub open: Upstream,
}

/// The sources of a [`Scene`].
pub fn sources() -> String {
    git_source("open", "true", &["./open.git"])
        + "vendor = \"example\"\nskip = ['^drafts/']\nevery = \"7d\"\n"
        + &git_source("closed", "false", &["./closed.git"])
}

impl Scene {
    pub fn new() -> Self {
        let world = World::new(&sources());
        let (open, closed) = (world.upstream("open"), world.upstream("closed"));
        open.write("README.md", "# Welcome\n\n[Guide](guide/a.md)\n")
            .write("guide/a.md", "# A\n\nFirst line.\nSecond line.\n")
            .write("guide/b.md", "# B\n\nMoves, but does not change.\n")
            .write("guide/c.md", "# C\n\nWill be removed.\n")
            .write("drafts/d.md", "# Draft\n")
            .commit();
        closed.write("s.md", "# Secret\n\n[Anchor](https://example.org/s)\n").commit();
        world.run();
        open.git(&["mv", "guide/b.md", "guide/moved.md"]).ok();
        open.write("guide/a.md", "# A\n\nFirst line, edited.\nSecond line.\n")
            .write("guide/new.md", "# New\n\n[Out](https://example.org/?q=1 'x')\n")
            .write("guide/latin.md", b"caf\xe9\n")
            .remove("guide/c.md")
            .commit();
        world.run_at("2026-12-01T02:00:00Z");
        closed.write("s.md", "# Secret\n\nEdited.\n").commit();
        world.run_at("2026-12-08T02:00:00Z");
        Self { world, open }
    }

    /// What a command prints on standard output, which must succeed, made stable.
    #[track_caller]
    pub fn told(&self, arguments: &[&str]) -> String {
        let ended = self.world.pagelog_at("2026-12-09T02:00:00Z", arguments).exits(0);
        stable(&self.world, &ended.stdout)
    }
}

/// Replaces commit ids, the test's folder and sizes on disk by words that never change.
pub fn stable(world: &World, text: &str) -> String {
    let folder = world.path().display().to_string();
    let text = text.replace(&folder, "<folder>");
    let replace = |text: &str, pattern: &str, by: &str| {
        regex::Regex::new(pattern).unwrap().replace_all(text, by).into_owned()
    };
    let text = replace(&text, r"\b[0-9a-f]{40}\b", "<id>");
    let text = replace(&text, r"(?m)  [0-9a-f]{12}$", "  <short id>");
    let text = replace(
        &text,
        r#"("(?:(?:objects|own|public|private|push|growth)_size|largest_pack|size|runs_left)"): \d+"#,
        "$1: 0",
    );
    let text = replace(&text, r#"("ended"): "[^"]*""#, "$1: \"<time>\"");
    let text = replace(&text, r"about \d+ runs", "about <n> runs");
    replace(&text, r"\d+\.\d [kMG]B", "<size>")
}
