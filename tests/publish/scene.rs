//! An archive with pages on both refs, and mirrors beside it.

use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::process::Command;

use crate::support::world::{START, git_source};
use crate::support::{Upstream, World};

pub const PUBLIC: &str = "refs/heads/main";
pub const PRIVATE: &str = "refs/private/main";

/// A public source `open`, a private one `closed`, and mirrors.
pub struct Scene {
    pub world: World,
    pub open: Upstream,
    pub closed: Upstream,
}

impl Scene {
    /// After a first run, with these tables in the configuration besides the sources.
    pub fn new(tables: &str) -> Self {
        let scene = Self::before_a_run(tables);
        scene.world.run();
        scene
    }

    /// The same before any run.
    pub fn before_a_run(tables: &str) -> Self {
        let world = World::empty();
        let (open, closed) = (world.upstream("open"), world.upstream("closed"));
        open.write("a.md", "# Open\n\nSee [closed](https://closed.git.invalid/s.md).\n").commit();
        closed.write("s.md", format!("# Closed\n\n{}", words("zqsecret", 60))).commit();
        let scene = Self { world, open, closed };
        scene.configure(tables);
        scene
    }

    /// Writes the configuration anew.
    pub fn configure(&self, tables: &str) {
        let sources = git_source("open", "true", &["./open.git"])
            + &git_source("closed", "false", &["./closed.git"]);
        self.world.configure(&format!("{tables}{sources}"));
    }

    /// An empty bare repository in the folder.
    pub fn repository(&self, name: &str) -> PathBuf {
        let world = &self.world;
        world.git_in(world.path(), &["init", "-q", "--bare", "-b", "main", name]).ok();
        world.path().join(name)
    }

    /// The ref of a repository; empty where it has none.
    pub fn at(&self, repository: &str, name: &str) -> String {
        let folder = self.world.path().join(repository);
        self.world.git_in(&folder, &["rev-parse", "-q", "--verify", name]).stdout.trim().to_owned()
    }

    /// A commit of the archive.
    pub fn id(&self, revision: &str) -> String {
        self.world.git(&["rev-parse", revision]).ok().trim().to_owned()
    }

    /// Ids of all objects that a repository has.
    pub fn objects(&self, repository: &str) -> BTreeSet<String> {
        let check = ["cat-file", "--batch-all-objects", "--batch-check=%(objectname)"];
        let listed = self.world.git_in(&self.world.path().join(repository), &check).ok();
        listed.lines().map(str::to_owned).collect()
    }

    /// Ids of the objects that a ref of the archive reaches.
    pub fn reached(&self, name: &str) -> BTreeSet<String> {
        let listed = self.world.git(&["rev-list", "--objects", "--no-object-names", name]).ok();
        listed.lines().map(str::to_owned).collect()
    }

    /// A mirror has the public ref, nothing else, and no object besides; what it has is whole.
    #[track_caller]
    pub fn assert_mirrored(&self, repository: &str) {
        let folder = self.world.path().join(repository);
        let format = "--format=%(refname) %(objectname)";
        let refs = self.world.git_in(&folder, &["for-each-ref", format]).ok();
        assert_eq!(refs, format!("{PUBLIC} {}\n", self.id(PUBLIC)));
        let fsck = self.world.git_in(&folder, &["fsck", "--full", "--strict", "--no-dangling"]);
        assert_eq!((fsck.code, fsck.stdout.as_str()), (Some(0), ""), "{}", fsck.stderr);
        let missing: Vec<String> =
            self.reached(PUBLIC).difference(&self.objects(repository)).cloned().collect();
        assert!(missing.is_empty(), "{missing:?}");
        self.assert_nothing_private(repository);
        self.world.assert_sound();
    }

    /// A mirror has no object that only the private ref reaches.
    #[track_caller]
    pub fn assert_nothing_private(&self, repository: &str) {
        let private: BTreeSet<String> =
            self.reached(PRIVATE).difference(&self.reached(PUBLIC)).cloned().collect();
        assert!(private.len() > 3, "{private:?}");
        let arrived = self.objects(repository);
        let leaked: Vec<&String> = private.intersection(&arrived).collect();
        assert!(leaked.is_empty(), "{leaked:?}");
    }

    /// The program, with a shell script in place of `git` for every push: `@FOLDER@` is the
    /// folder, `real` the call as it was meant, and `n` counts the pushes.
    pub fn with_stand_in(&self, script: &str) -> Command {
        let path = std::env::var("PATH").expect("a path");
        let programs = self.world.path().join("programs");
        fs::create_dir_all(&programs).expect("a folder");
        let folder = self.world.path().display().to_string();
        let text = format!(
            "#!/bin/sh\nPATH=\"{path}\"\nexport PATH\n\
             case \" $* \" in *\" push --porcelain \"*) ;; *) exec git \"$@\" ;; esac\n\
             real() {{ git \"$@\"; }}\n\
             n=$(($(cat \"@FOLDER@/pushes\" 2>/dev/null || echo 0) + 1))\n\
             echo \"$n\" > \"@FOLDER@/pushes\"\n{script}\n"
        );
        let git = programs.join("git");
        fs::write(&git, text.replace("@FOLDER@", &folder)).expect("a stand-in");
        fs::set_permissions(&git, fs::Permissions::from_mode(0o755)).expect("made executable");
        let mut command = self.world.command(START);
        command.env("PATH", format!("{}:{path}", programs.display()));
        command
    }

    /// How many pushes the stand-in counted.
    pub fn pushes(&self) -> u32 {
        let text = fs::read_to_string(self.world.path().join("pushes")).unwrap_or_default();
        text.trim().parse().unwrap_or(0)
    }
}

/// A mirror as a table of the configuration.
pub fn mirror(name: &str, url: &str) -> String {
    format!("[[mirror]]\nname = \"{name}\"\nurl = \"{url}\"\n")
}

/// So many words that no other text has.
pub fn words(word: &str, count: usize) -> String {
    (0..count).map(|n| format!("{word}{n}")).collect::<Vec<_>>().join(" ") + "\n"
}

/// Text that does not compress well, another for each seed.
pub fn noise(seed: u64, bytes: usize) -> String {
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    let mut text = String::with_capacity(bytes + 20);
    while text.len() < bytes {
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let word = format!("{:08x}", state >> 32);
        text.push_str(&word);
        text.push(if text.len() % 72 < 9 { '\n' } else { ' ' });
    }
    text.push('\n');
    text
}
