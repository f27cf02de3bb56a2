//! A folder with a configuration, an archive and the program.

use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use super::Upstream;

/// The time at which runs of a test begin unless it says otherwise.
pub const START: &str = "2026-11-30T02:00:00Z";

/// Who the bot of all tests is.
const BOT: &str = r#"
[bot]
name = "TestBot"
url = "https://example.org/bot"
contact = "bot@example.org"
[archive]
path = "archive"
"#;

/// A test's own folder; removed with it.
pub struct World {
    folder: tempfile::TempDir,
}

/// What a process printed and how it ended.
#[derive(Debug)]
pub struct Outcome {
    pub code: Option<i32>,
    pub stdout: String,
    pub stderr: String,
}

impl Outcome {
    /// The same, where the exit code is `code`.
    #[track_caller]
    pub fn exits(self, code: i32) -> Self {
        assert_eq!(self.code, Some(code), "stdout:\n{}\nstderr:\n{}", self.stdout, self.stderr);
        self
    }

    /// Standard output of a process that succeeded.
    #[track_caller]
    pub fn ok(self) -> String {
        self.exits(0).stdout
    }

    /// Standard output of a process that succeeded, as JSON.
    #[track_caller]
    pub fn json(self) -> serde_json::Value {
        serde_json::from_str(&self.ok()).expect("standard output is JSON")
    }
}

impl From<Output> for Outcome {
    fn from(output: Output) -> Self {
        Self {
            code: output.status.code(),
            stdout: String::from_utf8_lossy(&output.stdout).into_owned(),
            stderr: String::from_utf8_lossy(&output.stderr).into_owned(),
        }
    }
}

impl World {
    /// An empty folder.
    pub fn empty() -> Self {
        Self { folder: tempfile::tempdir().expect("a temporary folder") }
    }

    /// A folder whose configuration has these sources, written as TOML.
    pub fn new(sources: &str) -> Self {
        let world = Self::empty();
        world.configure(sources);
        world
    }

    /// A folder with an upstream `up`, and a configuration that reads it as source `docs`.
    pub fn with_upstream(publish: &str) -> (Self, Upstream) {
        let world = Self::new(&git_source("docs", publish, &["./up.git"]));
        let upstream = world.upstream("up");
        (world, upstream)
    }

    /// Writes the configuration anew.
    pub fn configure(&self, sources: &str) {
        self.write("sources.toml", &format!("{BOT}{sources}"));
    }

    /// A new upstream `<name>.git` in the folder.
    pub fn upstream(&self, name: &str) -> Upstream {
        Upstream::new(self.path(), name)
    }

    /// A copy of the folder as it is, without work trees. Upstreams, which no run changes,
    /// are shared with the original.
    pub fn copy(&self) -> Self {
        let copy = Self::empty();
        for entry in fs::read_dir(self.path()).expect("folder is read").flatten() {
            let name = entry.file_name().to_string_lossy().into_owned();
            let target = copy.path().join(&name);
            if entry.path().extension().is_some_and(|end| end == "git") {
                std::os::unix::fs::symlink(entry.path(), target).expect("upstream is shared");
            } else if !name.ends_with("-work") {
                copy_tree(&entry.path(), &target);
            }
        }
        copy
    }

    pub fn path(&self) -> &Path {
        self.folder.path()
    }

    pub fn archive(&self) -> PathBuf {
        self.path().join("archive")
    }

    /// Writes a file of the folder.
    pub fn write(&self, name: &str, text: &str) {
        let path = self.path().join(name);
        fs::create_dir_all(path.parent().expect("a folder")).expect("folder is made");
        fs::write(path, text).expect("file is written");
    }

    /// The program with these arguments, its time beginning at [`START`].
    pub fn pagelog<S: AsRef<OsStr>>(&self, arguments: &[S]) -> Outcome {
        self.command(START).args(arguments).output().expect("pagelog starts").into()
    }

    /// The program, its time beginning at `clock`.
    pub fn pagelog_at<S: AsRef<OsStr>>(&self, clock: &str, arguments: &[S]) -> Outcome {
        self.command(clock).args(arguments).output().expect("pagelog starts").into()
    }

    /// The program as a command to be changed further.
    pub fn command(&self, clock: &str) -> Command {
        let mut command = self.other(program());
        command.args(["--clock", clock]);
        command
    }

    /// Another program, in the folder and with the same environment.
    pub fn other(&self, program: &str) -> Command {
        let mut command = Command::new(program);
        command.current_dir(self.path()).stdin(Stdio::null());
        self.isolate(&mut command);
        command
    }

    /// One run that must succeed; gives what it printed.
    #[track_caller]
    pub fn run(&self) -> String {
        self.pagelog(&["run"]).ok()
    }

    /// One run at a time that must succeed.
    #[track_caller]
    pub fn run_at(&self, clock: &str) -> String {
        self.pagelog_at(clock, &["run"]).ok()
    }

    /// Git in the archive.
    pub fn git<S: AsRef<OsStr>>(&self, arguments: &[S]) -> Outcome {
        self.git_in(&self.archive(), arguments)
    }

    /// Git in a folder, without the machine's settings.
    pub fn git_in<S: AsRef<OsStr>>(&self, folder: &Path, arguments: &[S]) -> Outcome {
        let mut command = Command::new("git");
        command.current_dir(folder).stdin(Stdio::null());
        self.isolate(&mut command);
        command.args(arguments).output().expect("git starts").into()
    }

    /// Git finds nothing wrong with the archive, nothing in it is loose, and no lock or
    /// temporary file is left.
    #[track_caller]
    pub fn assert_sound(&self) {
        let fsck = self.git(&["fsck", "--full", "--strict"]);
        assert_eq!((fsck.code, fsck.stdout.as_str()), (Some(0), ""), "{}", fsck.stderr);
        let count = self.git(&["count-objects", "-v"]).ok();
        assert!(count.contains("count: 0\n"), "loose objects: {count}");
        assert!(count.contains("garbage: 0\n"), "left-over files: {count}");
    }

    /// The trees of both tips.
    #[track_caller]
    pub fn trees(&self) -> [String; 2] {
        ["refs/heads/main^{tree}", "refs/private/main^{tree}"]
            .map(|name| self.git(&["rev-parse", name]).ok().trim().to_owned())
    }

    /// Paths of all files at a revision.
    #[track_caller]
    pub fn files(&self, revision: &str) -> Vec<String> {
        let listed = self.git(&["ls-tree", "-r", "--name-only", "-z", revision]).ok();
        listed.split_terminator('\0').map(str::to_owned).collect()
    }

    /// A file at a revision.
    #[track_caller]
    pub fn file(&self, revision: &str, path: &str) -> String {
        self.git(&["cat-file", "blob", &format!("{revision}:{path}")]).ok()
    }

    fn isolate(&self, command: &mut Command) {
        isolate(command, self.path());
    }
}

/// Copies a file or a folder with everything in it.
pub fn copy_tree(from: &Path, to: &Path) {
    let status = Command::new("cp").arg("-a").arg(from).arg(to).status().expect("cp starts");
    assert!(status.success(), "{} is not copied", from.display());
}

/// The program under test.
pub fn program() -> &'static str {
    env!("CARGO_BIN_EXE_pagelog")
}

/// Takes the machine's Git settings, proxies and colours out of a command's environment.
pub fn isolate(command: &mut Command, home: &Path) {
    for (name, _) in std::env::vars_os() {
        let name = name.to_string_lossy().into_owned();
        if name.starts_with("GIT_") || name.to_lowercase().ends_with("_proxy") {
            command.env_remove(name);
        }
    }
    command
        .env("HOME", home)
        .env("XDG_CONFIG_HOME", home)
        .env("GIT_CONFIG_NOSYSTEM", "1")
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
        .env("NO_COLOR", "1")
        .env("LC_ALL", "C.UTF-8")
        .env("TZ", "UTC");
}

/// A Git source as TOML.
pub fn git_source(id: &str, publish: &str, repositories: &[&str]) -> String {
    let quoted: Vec<String> = repositories.iter().map(|text| format!("{text:?}")).collect();
    format!(
        "[[source]]\nid = \"{id}\"\nkind = \"git\"\nlicence = \"CC-BY-4.0\"\npublish = {publish}\n\
         repositories = [{}]\n",
        quoted.join(", ")
    )
}
