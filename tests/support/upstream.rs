//! A repository that is read as a source: bare, with a work tree to change it.

use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use super::world::{Outcome, isolate};

/// An upstream repository. Its commits are an hour apart, from a fixed time on.
pub struct Upstream {
    bare: PathBuf,
    work: PathBuf,
    hours: std::cell::Cell<u64>,
}

impl Upstream {
    /// An empty repository `<folder>/<name>.git`.
    pub fn new(folder: &Path, name: &str) -> Self {
        let this = Self {
            bare: folder.join(format!("{name}.git")),
            work: folder.join(format!("{name}-work")),
            hours: std::cell::Cell::new(0),
        };
        fs::create_dir_all(&this.work).expect("work tree is made");
        let bare = this.bare.to_string_lossy().into_owned();
        this.git(&["init", "-q", "--bare", "-b", "main", &bare]).ok();
        this.git(&["init", "-q", "-b", "main", "."]).ok();
        this.git(&["remote", "add", "origin", &bare]).ok();
        this
    }

    /// The bare repository.
    pub fn path(&self) -> &Path {
        &self.bare
    }

    /// The work tree.
    pub fn work(&self) -> &Path {
        &self.work
    }

    /// Writes a file of the work tree.
    pub fn write<B: AsRef<[u8]>>(&self, name: &str, bytes: B) -> &Self {
        let path = self.work.join(name);
        fs::create_dir_all(path.parent().expect("a folder")).expect("folder is made");
        fs::write(path, bytes).expect("file is written");
        self
    }

    /// Removes a file of the work tree.
    pub fn remove(&self, name: &str) -> &Self {
        fs::remove_file(self.work.join(name)).expect("file is removed");
        self
    }

    /// Commits all of the work tree and pushes it; gives the commit's id.
    pub fn commit(&self) -> String {
        self.git(&["add", "-A", "."]).ok();
        self.commit_index()
    }

    /// Commits the index as it is and pushes it.
    pub fn commit_index(&self) -> String {
        self.git(&["commit", "-q", "--allow-empty", "-m", "change"]).ok();
        self.git(&["push", "-q", "--force", "origin", "HEAD:refs/heads/main"]).ok();
        self.git(&["rev-parse", "HEAD"]).ok().trim().to_owned()
    }

    /// Git in the work tree, without the machine's settings.
    pub fn git<S: AsRef<OsStr>>(&self, arguments: &[S]) -> Outcome {
        self.hours.set(self.hours.get() + 1);
        let time = format!("{} +0000", 1_780_000_000 + self.hours.get() * 3600);
        let mut command = Command::new("git");
        command.current_dir(&self.work).stdin(Stdio::null());
        isolate(&mut command, &self.work);
        for who in ["AUTHOR", "COMMITTER"] {
            command
                .env(format!("GIT_{who}_NAME"), "Writer")
                .env(format!("GIT_{who}_EMAIL"), "writer@example.org")
                .env(format!("GIT_{who}_DATE"), &time);
        }
        command.args(arguments).output().expect("git starts").into()
    }
}
