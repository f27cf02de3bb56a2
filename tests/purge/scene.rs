//! An archive with a past of four runs, and a look at everything that is in it.

use std::fs;
use std::path::{Path, PathBuf};

use crate::support::world::git_source;
use crate::support::{Upstream, World};

pub const PUBLIC: &str = "refs/heads/main";
pub const PRIVATE: &str = "refs/private/main";

/// When the takedown begins.
pub const LATER: &str = "2026-12-09T12:00:00Z";

/// A page that came with the second run, changed with the third, and is linked to.
pub const SECRET: &str = "https://up.git.invalid/part/secret.md";

/// A page of the private source that came with the second run, too.
pub const INNER: &str = "https://in.git.invalid/part/secret.md";

/// When a run of the past began.
pub fn day(n: usize) -> String {
    format!("2026-12-0{n}T02:00:00Z")
}

/// A public source `docs` and a private one `inner`, four days long.
pub struct Scene {
    pub world: World,
    pub upstreams: [Upstream; 2],
}

impl Scene {
    pub fn new() -> Self {
        let sources = git_source("docs", "true", &["./up.git"])
            + &git_source("inner", "false", &["./in.git"]);
        let world = World::new(&sources);
        let upstreams = [world.upstream("up"), world.upstream("in")];
        let scene = Self { world, upstreams };
        for day in 1..=4 {
            scene.write(day);
            scene.world.run_at(&self::day(day));
        }
        scene
    }

    /// What the upstreams hold on a day.
    fn write(&self, day: usize) {
        for (upstream, word) in self.upstreams.iter().zip(["open", "closed"]) {
            let text =
                format!("# Page\n\nThe {word} text of day {day}. See [it](part/secret.md).\n");
            upstream.write("a.md", text);
            upstream.write("part/b.md", format!("# B\n\nThe {word} text that stays.\n"));
            if day > 1 {
                let text = format!("# Hidden\n\nThe {word} zqsecret{} of it.\n", day.min(3));
                upstream.write("part/secret.md", text);
            }
            upstream.commit();
        }
    }

    /// The commits of a ref, oldest first, each without tree and parent.
    pub fn commits(&self, name: &str) -> Vec<(String, String)> {
        let listed = self.world.git(&["rev-list", "--reverse", name]).ok();
        let commit = |id: &str| {
            let text = self.world.git(&["cat-file", "commit", id]).ok();
            let kept =
                text.lines().filter(|it| !it.starts_with("tree ") && !it.starts_with("parent "));
            (id.to_owned(), kept.collect::<Vec<_>>().join("\n"))
        };
        listed.lines().map(commit).collect()
    }

    /// Everything is as it should be, and the state is in step.
    #[track_caller]
    pub fn assert_whole(&self) {
        assert_whole(&self.world);
    }
}

/// Everything is as it should be, and the state is in step.
#[track_caller]
pub fn assert_whole(world: &World) {
    world.assert_sound();
    world.assert_indexed();
    let audit = world.pagelog_at(LATER, &["audit"]);
    assert_eq!(audit.code, Some(0), "{}{}", audit.stdout, audit.stderr);
}

/// The word is in no object of a repository, whatever reaches it.
#[track_caller]
pub fn assert_nowhere(world: &World, repository: &Path, word: &str) {
    let arguments = ["cat-file", "--batch-all-objects", "--batch", "--unordered"];
    let mut command = world.other("git");
    command.current_dir(repository).args(arguments);
    let all = command.output().expect("git starts");
    assert!(all.status.success(), "{}", String::from_utf8_lossy(&all.stderr));
    assert!(all.stdout.len() > 1000, "the objects of {}", repository.display());
    let found = all.stdout.windows(word.len()).filter(|it| *it == word.as_bytes()).count();
    assert_eq!(found, 0, "`{word}` is in objects of {}", repository.display());
}

/// Files of a folder, and of all below it, that hold a word as it is.
pub fn files_with(folder: &Path, word: &str) -> Vec<PathBuf> {
    let (mut found, mut open) = (Vec::new(), vec![folder.to_owned()]);
    while let Some(folder) = open.pop() {
        for entry in fs::read_dir(folder).expect("a folder").flatten() {
            let path = entry.path();
            if path.is_dir() {
                open.push(path);
            } else if fs::read(&path)
                .expect("a file")
                .windows(word.len())
                .any(|it| it == word.as_bytes())
            {
                found.push(path);
            }
        }
    }
    found
}
