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
        let mut command = self.command_in(repository);
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

    /// The difference between two blobs as Git shows it, without the lines that name them;
    /// `None` stands for no file.
    ///
    /// # Errors
    /// Git could not be run or does not know the blobs.
    pub fn diff_blobs(
        &self,
        repository: &Path,
        blobs: [Option<&str>; 2],
    ) -> Result<String, GitError> {
        let (old, new) = match blobs {
            [Some(old), Some(new)] => (old, new),
            [None, Some(blob)] => return self.whole_blob(repository, blob, '+'),
            [Some(blob), None] => return self.whole_blob(repository, blob, '-'),
            [None, None] => return Ok(String::new()),
        };
        let out = self.local(repository, &["diff", "--no-ext-diff", "--no-textconv", old, new])?;
        let text = String::from_utf8_lossy(&out);
        // The first lines name blobs, not pages: the caller says which page it is.
        let hunks = text.find("\n@@").map_or("", |at| &text[at + 1..]);
        Ok(hunks.to_owned())
    }

    /// A blob as a hunk that adds or removes all of it; the empty blob is in no archive, so
    /// that Git could not compare with it.
    fn whole_blob(&self, repository: &Path, blob: &str, mark: char) -> Result<String, GitError> {
        let out = self.local(repository, &["cat-file", "blob", blob])?;
        let text = String::from_utf8_lossy(&out);
        let all = format!("1,{}", text.lines().count());
        let (old, new) = if mark == '+' { ("0,0", all.as_str()) } else { (all.as_str(), "0,0") };
        let mut hunk = format!("@@ -{old} +{new} @@\n");
        for line in text.lines() {
            hunk.push(mark);
            hunk.push_str(line);
            hunk.push('\n');
        }
        Ok(hunk)
    }

    /// Makes an empty bare repository whose HEAD is `main`, without templates.
    ///
    /// # Errors
    /// Git failed.
    pub fn init_bare(&self, path: &Path) -> Result<(), GitError> {
        let arguments = ["init", "--quiet", "--bare", "--template=", "--initial-branch=main", "."];
        self.outside(path, &arguments).map(drop)
    }

    /// The settings of a repository of ours: names in lower case where Git ignores case.
    ///
    /// # Errors
    /// Git could not be run.
    pub fn local_settings(&self, repository: &Path) -> Result<Vec<(String, String)>, GitError> {
        let out = self.local(repository, &["config", "--local", "--list", "-z"])?;
        let text = String::from_utf8_lossy(&out);
        let entries = text.split_terminator('\0');
        let pair = |entry: &str| {
            let (name, value) = entry.split_once('\n').unwrap_or((entry, "true"));
            (name.to_owned(), value.to_owned())
        };
        Ok(entries.map(pair).collect())
    }

    /// Adds a setting to a repository of ours.
    ///
    /// # Errors
    /// Git failed.
    pub fn add_local(&self, repository: &Path, name: &str, value: &str) -> Result<(), GitError> {
        self.local(repository, &["config", "--local", "--add", name, value]).map(drop)
    }

    /// Removes a setting of a repository of ours.
    ///
    /// # Errors
    /// Git failed.
    pub fn unset_local(&self, repository: &Path, name: &str) -> Result<(), GitError> {
        self.local(repository, &["config", "--local", "--unset-all", name]).map(drop)
    }
}
