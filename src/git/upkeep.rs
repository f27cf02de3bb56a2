//! Checks and other calls on repositories of our own.

use std::path::Path;

use super::client::{Git, GitError};

impl Git {
    /// Checks every object and ref of a repository; gives what is wrong, one line each,
    /// nothing where all is well. Dangling objects are no fault.
    ///
    /// # Errors
    /// Git could not be run.
    pub fn fsck(&self, repository: &Path) -> Result<Vec<String>, GitError> {
        let mut command = self.command(repository);
        command.args(["fsck", "--full", "--strict", "--no-dangling", "--no-progress"]);
        let finished = self.finish(command, "fsck", std::time::Duration::from_hours(6))?;
        let said = [finished.stdout.as_slice(), finished.stderr.as_slice()].concat();
        let mut lines: Vec<String> = String::from_utf8_lossy(&said)
            .lines()
            .filter(|line| !line.starts_with("notice:"))
            .map(str::to_owned)
            .collect();
        if lines.is_empty() && !finished.success {
            lines.push("git fsck failed without a message".to_owned());
        }
        Ok(lines)
    }

    /// The difference between two blobs as Git shows it, with `label` as name.
    ///
    /// # Errors
    /// Git could not be run or does not know the blobs.
    pub fn diff_blobs(&self, repository: &Path, blobs: [&str; 2]) -> Result<String, GitError> {
        let out = self
            .local(repository, &["diff", "--no-ext-diff", "--no-textconv", blobs[0], blobs[1]])?;
        let text = String::from_utf8_lossy(&out);
        // The first lines name blobs, not pages: the caller says which page it is.
        let hunks = text.find("\n@@").map_or("", |at| &text[at + 1..]);
        Ok(hunks.to_owned())
    }

    /// Copies a repository's refs and everything they reach into a new bare repository,
    /// safe at any time: refs are read first, objects never vanish during it.
    ///
    /// # Errors
    /// The target exists, or Git failed.
    pub fn clone_mirror(&self, from: &Path, to: &Path) -> Result<(), GitError> {
        let mut command = self.command(Path::new("."));
        command.env("GIT_ALLOW_PROTOCOL", "file").env_remove("GIT_DIR");
        command.args(["clone", "--quiet", "--mirror", "--no-hardlinks", "--template="]);
        command.arg("--").arg(from).arg(to);
        let finished = self.finish(command, "clone", std::time::Duration::from_hours(6))?;
        if finished.success {
            return Ok(());
        }
        let (command, directory) = ("clone".to_owned(), from.to_owned());
        Err(GitError::Failed { command, directory, message: finished.message() })
    }
}

impl Git {
    /// Makes an empty bare repository whose HEAD is `main`, without templates.
    ///
    /// # Errors
    /// Git failed.
    pub fn init_bare(&self, path: &Path) -> Result<(), GitError> {
        let arguments = ["init", "--quiet", "--bare", "--template=", "--initial-branch=main", "."];
        self.local(path, &arguments).map(drop)
    }
}
