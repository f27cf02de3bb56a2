//! Which commits others stand for now.
//!
//! `pagelog/rewritten.tsv` lists them, old and new id, for all takedowns so far. It explains
//! to `publish` why a mirror has a history that the archive no longer has; only what leads to
//! a commit of the public ref explains anything, so that a takedown that did not come to its
//! end explains nothing.

use std::collections::HashMap;
use std::fmt::Write as _;
use std::fs;
use std::path::PathBuf;

use crate::archive::ObjectId;
use crate::archive::directory::Archive;
use crate::archive::error::ArchiveError;
use crate::archive::layout::OWN_FOLDER;
use crate::archive::pack::{rename_flushed, write_flushed};

const HEADER: &str = "old\tnew\n";

impl Archive {
    /// Adds commits to the list, durably.
    ///
    /// # Errors
    /// The file cannot be read or written.
    pub fn note_rewritten(&self, commits: &[(ObjectId, ObjectId)]) -> Result<(), ArchiveError> {
        let file = self.rewritten_file();
        let mut all: HashMap<ObjectId, ObjectId> = self.rewritten()?;
        all.extend(commits.iter().copied());
        let mut all: Vec<_> = all.into_iter().collect();
        all.sort_unstable();
        let mut text = HEADER.to_owned();
        for (old, new) in &all {
            // Writing to a string cannot fail.
            let _ = writeln!(text, "{old}\t{new}");
        }
        let temporary = file.with_extension("new");
        write_flushed(&temporary, text.as_bytes())?;
        rename_flushed(&temporary, &file)
    }

    /// The commits that others stand for now.
    ///
    /// # Errors
    /// The file is there and cannot be read.
    pub fn rewritten(&self) -> Result<HashMap<ObjectId, ObjectId>, ArchiveError> {
        let file = self.rewritten_file();
        let text = match fs::read_to_string(&file) {
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(HashMap::new()),
            read => read.map_err(ArchiveError::io("read", &file))?,
        };
        let line = |line: &str| {
            let (old, new) = line.split_once('\t')?;
            let id = |hex: &str| ObjectId::from_hex(hex.as_bytes()).ok();
            Some((id(old)?, id(new)?))
        };
        Ok(text.lines().skip(1).filter_map(line).collect())
    }

    fn rewritten_file(&self) -> PathBuf {
        self.path().join(OWN_FOLDER).join("rewritten.tsv")
    }
}
