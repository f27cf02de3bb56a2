//! Calls that make packs and commit-graphs out of what a repository has.
//!
//! They write to an object directory beside the repository's, which borrows from it: what a
//! call leaves behind that was killed or ran out of room lies there and nowhere else.

use std::fs::File;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use super::client::{Git, GitError, failed};

/// Where a call reads and writes, and how long it may take.
#[derive(Clone, Copy, Debug)]
pub struct Workshop<'a> {
    /// The repository; nothing in it is written.
    pub repository: &'a Path,
    /// The object directory that is written to: an absolute path.
    pub objects: &'a Path,
    /// The longest time of the call.
    pub longest: Duration,
}

/// What bounds the memory of a call, whatever is in the packs; for each thread, 64 MiB of
/// versions to compare.
const BOUNDED: &[&str] = &[
    "pack.windowMemory=64m",
    "pack.deltaCacheSize=64m",
    "core.deltaBaseCacheLimit=32m",
    "core.bigFileThreshold=16m",
    "pack.writeReverseIndex=false",
];

impl Git {
    /// Makes one pack out of several; gives its name, without ending. `packs` lists them, one
    /// file name a line; objects of packs behind a `^` are left out.
    ///
    /// # Errors
    /// Git failed, took too long, or the run was interrupted.
    pub fn roll_up(&self, place: Workshop<'_>, packs: File) -> Result<String, GitError> {
        let mut command = self.command_beside(place);
        for setting in BOUNDED {
            command.args(["-c", setting]);
        }
        command.args(["pack-objects", "--stdin-packs", "--quiet", "--delta-base-offset"]);
        command.args(["--window=10", "--depth=50"]).arg(place.objects.join("pack/pack"));
        command.stdin(packs);
        let out = self.finish_beside(command, "pack-objects", place)?;
        Ok(format!("pack-{}", String::from_utf8_lossy(&out).trim()))
    }

    /// Makes one pack of all that these refs reach; gives its name, without ending.
    ///
    /// # Errors
    /// Git failed, took too long, or the run was interrupted.
    pub fn pack_reached(&self, place: Workshop<'_>, refs: &[&str]) -> Result<String, GitError> {
        let mut command = self.command_beside(place);
        for setting in BOUNDED {
            command.args(["-c", setting]);
        }
        command.args(["pack-objects", "--revs", "--quiet", "--delta-base-offset"]);
        command.args(["--window=10", "--depth=50"]).arg(place.objects.join("pack/pack"));
        let input = refs.iter().flat_map(|name| [name, "\n"]).collect::<String>();
        let fed =
            self.finish_fed(command, Some(input.into_bytes()), ("pack-objects", place.longest))?;
        if fed.success {
            return Ok(format!("pack-{}", String::from_utf8_lossy(&fed.stdout).trim()));
        }
        Err(failed("pack-objects", place.objects, &fed))
    }

    /// Writes a commit-graph of everything that the refs reach, with a filter of changed paths
    /// for each commit, so many new ones at most.
    ///
    /// # Errors
    /// Git failed, took too long, or the run was interrupted.
    pub fn write_commit_graph(&self, place: Workshop<'_>, filters: u32) -> Result<(), GitError> {
        let mut command = self.command_beside(place);
        command.args(["commit-graph", "write", "--reachable", "--changed-paths", "--no-progress"]);
        command.arg(format!("--max-new-filters={filters}"));
        self.finish_beside(command, "commit-graph", place).map(drop)
    }

    /// A call that reads the repository's objects and writes to others.
    fn command_beside(&self, place: Workshop<'_>) -> Command {
        let mut command = self.command_in(place.repository);
        command.env("GIT_OBJECT_DIRECTORY", place.objects);
        // Relative to the repository, which the call is made in: no character of its own path
        // can be taken for a separator.
        command.env("GIT_ALTERNATE_OBJECT_DIRECTORIES", "objects");
        command
    }

    fn finish_beside(
        &self,
        command: Command,
        name: &str,
        place: Workshop<'_>,
    ) -> Result<Vec<u8>, GitError> {
        let finished = self.finish(command, name, place.longest)?;
        if finished.success {
            return Ok(finished.stdout);
        }
        Err(failed(name, place.objects, &finished))
    }
}
