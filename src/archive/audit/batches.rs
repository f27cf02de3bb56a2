//! Work on many small things, on all cores, with bounded memory.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::sync::{Mutex, PoisonError};
use std::thread;

use super::Audit;

/// Things that are handed over at once.
const BATCH: usize = 256;

/// Takes things one by one and hands them over in batches.
pub(super) struct Feed<T> {
    sender: SyncSender<Vec<T>>,
    batch: Vec<T>,
}

impl<T> Feed<T> {
    /// Hands a thing over, sooner or later.
    pub fn put(&mut self, thing: T) {
        self.batch.push(thing);
        if self.batch.len() == BATCH {
            self.flush();
        }
    }

    fn flush(&mut self) {
        // Nobody receives any more only where a worker panicked: that ends all of it.
        let _ = self.sender.send(std::mem::take(&mut self.batch));
    }
}

/// Lets `feed` find things, and workers look at them meanwhile; each worker has what `begin`
/// gives it.
pub(super) fn look_at_all<T: Send, W>(
    audit: &Audit<'_>,
    feed: impl FnOnce(&mut Feed<T>),
    begin: impl Fn() -> W + Sync,
    look: impl Fn(&mut W, T) + Sync,
) {
    let workers = thread::available_parallelism().map_or(1, usize::from);
    let (sender, receiver) = sync_channel(workers * 2);
    let (receiver, done) = (Mutex::new(receiver), AtomicU64::new(0));
    thread::scope(|scope| {
        for _ in 0..workers {
            scope.spawn(|| {
                let mut worker = begin();
                while let Some(batch) = next(&receiver) {
                    let count = batch.len() as u64;
                    for thing in batch {
                        look(&mut worker, thing);
                    }
                    audit.watch.count(done.fetch_add(count, Ordering::Relaxed) + count);
                }
            });
        }
        let mut feeding = Feed { sender, batch: Vec::new() };
        feed(&mut feeding);
        feeding.flush();
    });
}

fn next<T>(receiver: &Mutex<Receiver<Vec<T>>>) -> Option<Vec<T>> {
    receiver.lock().unwrap_or_else(PoisonError::into_inner).recv().ok()
}
