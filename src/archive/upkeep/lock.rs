//! The lock between upkeep, which removes packs, and those who read all of them.

use std::fs::{File, TryLockError};
use std::io::ErrorKind;
use std::path::Path;
use std::thread;
use std::time::Duration;

use crate::archive::directory::Archive;
use crate::archive::error::ArchiveError;
use crate::archive::layout::OWN_FOLDER;

/// Time between two looks at a lock that is held.
const LOOK: Duration = Duration::from_millis(50);

/// The lock, held until this value is dropped or the process ends: packs stay while it is
/// shared.
#[derive(Debug)]
pub struct UpkeepLock {
    /// None where nothing can be written, so that nobody does upkeep.
    _file: Option<File>,
}

/// How an upkeep under way is awaited.
pub struct WaitForUpkeep<'a> {
    /// The longest time.
    pub longest: Duration,
    /// Called once, before the waiting begins.
    pub tell: &'a dyn Fn(),
}

impl Archive {
    /// Keeps the packs as they are; waits for an upkeep that is under way.
    ///
    /// # Errors
    /// It is still under way after the longest time, or the lock cannot be used.
    pub fn hold_packs(&self, wait: &WaitForUpkeep<'_>) -> Result<UpkeepLock, ArchiveError> {
        let path = self.path().join(OWN_FOLDER).join("upkeep.lock");
        let Some(file) = open(&path)? else { return Ok(UpkeepLock { _file: None }) };
        let mut looks = wait.longest.as_millis() / LOOK.as_millis();
        let mut told = false;
        loop {
            match file.try_lock_shared() {
                Ok(()) => return Ok(UpkeepLock { _file: Some(file) }),
                Err(TryLockError::Error(error)) => {
                    return Err(ArchiveError::io("lock", &path)(error));
                }
                Err(TryLockError::WouldBlock) if looks == 0 => {
                    return Err(ArchiveError::Upkeep { path });
                }
                Err(TryLockError::WouldBlock) => {
                    if !told {
                        (wait.tell)();
                        told = true;
                    }
                    looks -= 1;
                    thread::sleep(LOOK);
                }
            }
        }
    }

    /// Takes the lock for whoever removes packs; `None` where somebody wants the packs to stay.
    pub(in crate::archive) fn try_upkeep(&self) -> Result<Option<UpkeepLock>, ArchiveError> {
        let path = self.path().join(OWN_FOLDER).join("upkeep.lock");
        let Some(file) = open(&path)? else { return Ok(None) };
        match file.try_lock() {
            Ok(()) => Ok(Some(UpkeepLock { _file: Some(file) })),
            Err(TryLockError::WouldBlock) => Ok(None),
            Err(TryLockError::Error(error)) => Err(ArchiveError::io("lock", &path)(error)),
        }
    }
}

/// Opens the file of the lock; `None` where it cannot be made.
fn open(path: &Path) -> Result<Option<File>, ArchiveError> {
    match File::open(path) {
        Err(error) if error.kind() == ErrorKind::NotFound => {}
        opened => return opened.map(Some).map_err(ArchiveError::io("open", path)),
    }
    let options = File::options().read(true).append(true).create(true).open(path);
    match options {
        Err(error)
            if matches!(
                error.kind(),
                ErrorKind::ReadOnlyFilesystem | ErrorKind::PermissionDenied
            ) =>
        {
            Ok(None)
        }
        opened => opened.map(Some).map_err(ArchiveError::io("open", path)),
    }
}
