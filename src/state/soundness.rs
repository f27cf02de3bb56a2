//! Whether a file must be looked through before it is used.
//!
//! Looking through a whole file (`PRAGMA quick_check`) takes time that grows with it. It is
//! done where the file is not just as it was closed last: after a kill or a power cut, after
//! somebody else wrote it, and after SQLite told of damage. What tells is a note beside it
//! with the file's size and time.

use std::cell::Cell;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

/// The note of one open file. Dropped after its connection, it is written anew.
#[derive(Debug)]
pub(super) struct Soundness {
    file: PathBuf,
    trusted: Cell<bool>,
}

impl Soundness {
    pub fn of(file: &Path) -> Self {
        Self { file: file.to_owned(), trusted: Cell::new(false) }
    }

    /// Whether the file is as it was closed last, by a program that found it sound.
    pub fn is_known(&self) -> bool {
        let known = !self.has_log()
            && fingerprint(&self.file)
                .is_some_and(|now| fs::read_to_string(self.note()).is_ok_and(|then| then == now));
        self.trusted.set(known);
        known
    }

    /// Whether changes stand beside the file: it is in use, or its last user was killed.
    pub fn has_log(&self) -> bool {
        fs::metadata(companion(&self.file, "-wal")).is_ok_and(|log| log.len() > 0)
    }

    /// The file was looked through.
    pub fn trust(&self) {
        self.trusted.set(true);
    }

    /// The file is to be looked through the next time, whatever happens until then.
    pub fn doubt(&self) {
        self.trusted.set(false);
        self.forget();
    }

    /// Removes the note while the file is written: a kill leaves none.
    pub fn forget(&self) {
        // Where it stays, the file's size and time will differ from it.
        let _ = fs::remove_file(self.note());
    }

    fn note(&self) -> PathBuf {
        companion(&self.file, ".closed")
    }
}

impl Drop for Soundness {
    fn drop(&mut self) {
        if self.trusted.get()
            && !self.has_log()
            && let Some(now) = fingerprint(&self.file)
        {
            // Without a note the file is looked through the next time.
            let _ = fs::write(self.note(), now);
        }
    }
}

/// Size and time of a file, as text.
fn fingerprint(file: &Path) -> Option<String> {
    let data = fs::metadata(file).ok()?;
    let since = data.modified().ok()?.duration_since(SystemTime::UNIX_EPOCH).ok()?;
    Some(format!("{} bytes, {} ns\n", data.len(), since.as_nanos()))
}

fn companion(file: &Path, ending: &str) -> PathBuf {
    let mut name = file.as_os_str().to_owned();
    name.push(ending);
    name.into()
}
