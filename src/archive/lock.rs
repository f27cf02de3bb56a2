//! The lock that lets one run at a time work on an archive.

use std::fs::{self, File, TryLockError};
use std::io::Write;
use std::path::Path;

use super::error::ArchiveError;

/// The lock, held until this value is dropped or the process ends, however it ends.
#[derive(Debug)]
pub struct RunLock {
    _file: File,
}

impl RunLock {
    /// Who holds the lock, if anybody does; in no words where it does not say.
    pub(super) fn holder(path: &Path) -> Result<Option<String>, ArchiveError> {
        let file = match File::open(path) {
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
            opened => opened.map_err(ArchiveError::io("open", path))?,
        };
        match file.try_lock_shared() {
            Ok(()) => Ok(None),
            Err(TryLockError::WouldBlock) => {
                let text = fs::read_to_string(path).unwrap_or_default();
                Ok(Some(text.trim().to_owned()))
            }
            Err(TryLockError::Error(error)) => Err(ArchiveError::io("lock", path)(error)),
        }
    }

    /// Takes the lock without waiting. `holder` says who takes it, for messages to others.
    pub(super) fn acquire(path: &Path, holder: &str) -> Result<Self, ArchiveError> {
        let opened = File::options().read(true).write(true).create(true).truncate(false).open(path);
        let mut file = opened.map_err(ArchiveError::io("open", path))?;
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => {
                let holder = fs::read_to_string(path).ok().map(|text| text.trim().to_owned());
                let holder = holder.filter(|text| !text.is_empty());
                return Err(ArchiveError::Locked { path: path.to_owned(), holder });
            }
            Err(TryLockError::Error(error)) => return Err(ArchiveError::io("lock", path)(error)),
        }
        let written = file.set_len(0).and_then(|()| writeln!(file, "{holder}"));
        written.map_err(ArchiveError::io("write", path))?;
        Ok(Self { _file: file })
    }
}
