//! The lock that lets one run at a time work on an archive.

use std::fs::{self, File, TryLockError};
use std::io::Write;
use std::path::Path;
use std::thread;
use std::time::Duration;

use super::error::ArchiveError;

/// How often the lock is looked at before it counts as held: a run that was killed may leave
/// a child that was just being started and still has its files, and a question whether
/// anybody holds it holds it for an instant itself.
const LOOKS: u32 = 50;

/// Time between two looks.
const LOOK: Duration = Duration::from_millis(20);

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

    /// Takes the lock; waits a moment, and no longer, where another process has it. `holder`
    /// says who takes it, for messages to others.
    pub(super) fn acquire(path: &Path, holder: &str) -> Result<Self, ArchiveError> {
        let opened = File::options().read(true).write(true).create(true).truncate(false).open(path);
        let mut file = opened.map_err(ArchiveError::io("open", path))?;
        let mut looks = 0;
        loop {
            match file.try_lock() {
                Ok(()) => break,
                Err(TryLockError::WouldBlock) if looks < LOOKS => {
                    looks += 1;
                    thread::sleep(LOOK);
                }
                Err(TryLockError::WouldBlock) => {
                    let holder = fs::read_to_string(path).ok().map(|text| text.trim().to_owned());
                    let holder = holder.filter(|text| !text.is_empty());
                    return Err(ArchiveError::Locked { path: path.to_owned(), holder });
                }
                Err(TryLockError::Error(error)) => {
                    return Err(ArchiveError::io("lock", path)(error));
                }
            }
        }
        let written = file.set_len(0).and_then(|()| writeln!(file, "{holder}"));
        written.map_err(ArchiveError::io("write", path))?;
        Ok(Self { _file: file })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_moment_is_waited_for_and_no_longer() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("run.lock");
        let held = RunLock::acquire(&path, "the first").unwrap();
        assert_eq!(RunLock::holder(&path).unwrap().as_deref(), Some("the first"));
        let refused = RunLock::acquire(&path, "the second").unwrap_err();
        assert!(refused.to_string().contains("(the first)"), "{refused}");
        thread::scope(|scope| {
            let waiting = scope.spawn(|| RunLock::acquire(&path, "the third"));
            thread::sleep(LOOK * 3);
            drop(held);
            waiting.join().unwrap().unwrap();
        });
        assert_eq!(RunLock::holder(&path).unwrap(), None);
    }
}
