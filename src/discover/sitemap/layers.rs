//! The bytes of a sitemap without their compression, and never more of them than allowed.

use std::io::{self, BufRead, BufReader, Cursor, Read};

use flate2::bufread::GzDecoder;

use super::Limits;

/// How many layers of gzip are taken off: a `.gz` file that is compressed once more on its
/// way is common.
const LAYERS: usize = 2;
const GZIP: [u8; 2] = [0x1f, 0x8b];

/// How much of the beginning is looked at before anything is read.
const HEAD: u64 = 4096;

/// Why a file was not read to its end.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(super) enum Stop {
    #[error("the file is larger than allowed and was not read to its end")]
    TooLarge,
    #[error("the file expands out of all proportion and was not read to its end")]
    Expands,
    #[error("the compressed file ends early")]
    Cut,
    #[error("the compressed file is damaged")]
    Damaged,
    #[error("one tag or text is larger than allowed; the file was not read to its end")]
    LongToken,
    #[error("the file could not be read to its end ({0})")]
    Unreadable(io::ErrorKind),
}

impl Stop {
    pub(super) fn of(error: &io::Error) -> Self {
        let stop = error.get_ref().and_then(|inner| inner.downcast_ref::<Self>());
        stop.cloned().unwrap_or(Self::Unreadable(error.kind()))
    }
}

impl From<Stop> for io::Error {
    fn from(stop: Stop) -> Self {
        Self::other(stop)
    }
}

/// A reader whose compression is undone.
pub(super) type Plain<'a> = Box<dyn BufRead + 'a>;

/// Undoes the compression of `input`, which its first two bytes tell, and gives the first
/// bytes of the result beside it. Reading fails with a [`Stop`], and does so again.
pub(super) fn open<'a>(input: impl BufRead + 'a, limits: &Limits) -> (Vec<u8>, Plain<'a>) {
    let (mut head, mut reader) = peek(Box::new(Capped::new(input, limits.bytes)));
    for _ in 0..LAYERS {
        if !head.starts_with(&GZIP) {
            break;
        }
        let unpacked = BufReader::new(Gunzip::new(reader, limits));
        (head, reader) = peek(Box::new(Capped::new(unpacked, limits.bytes)));
    }
    (head, reader)
}

fn peek(mut reader: Plain<'_>) -> (Vec<u8>, Plain<'_>) {
    let mut head = Vec::new();
    // A failure is met again by whoever reads on.
    let _ = reader.by_ref().take(HEAD).read_to_end(&mut head);
    (head.clone(), Box::new(Cursor::new(head).chain(reader)))
}

/// A reader that fails after so many bytes.
struct Capped<R> {
    inner: R,
    left: u64,
    failed: Option<Stop>,
}

impl<R: BufRead> Capped<R> {
    fn new(inner: R, bytes: u64) -> Self {
        Self { inner, left: bytes, failed: None }
    }
}

impl<R: BufRead> Read for Capped<R> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let mut have = self.fill_buf()?;
        let count = have.read(into)?;
        self.consume(count);
        Ok(count)
    }
}

impl<R: BufRead> BufRead for Capped<R> {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        if let Some(stop) = &self.failed {
            return Err(stop.clone().into());
        }
        let have = match self.inner.fill_buf() {
            Ok(have) => have,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => return Err(error),
            Err(error) => {
                let stop = self.failed.insert(Stop::of(&error));
                return Err(stop.clone().into());
            }
        };
        if self.left == 0 && !have.is_empty() {
            let stop = self.failed.insert(Stop::TooLarge);
            return Err(stop.clone().into());
        }
        let most = usize::try_from(self.left).unwrap_or(usize::MAX).min(have.len());
        Ok(&have[..most])
    }

    fn consume(&mut self, count: usize) {
        self.left = self.left.saturating_sub(count as u64);
        self.inner.consume(count);
    }
}

/// A reader that counts what is taken from it.
struct Counted<R> {
    inner: R,
    taken: u64,
}

impl<R: BufRead> Read for Counted<R> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let count = self.inner.read(into)?;
        self.taken += count as u64;
        Ok(count)
    }
}

impl<R: BufRead> BufRead for Counted<R> {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        self.inner.fill_buf()
    }

    fn consume(&mut self, count: usize) {
        self.taken += count as u64;
        self.inner.consume(count);
    }
}

/// The members of a gzip file (RFC 1952), one after the other; what follows the last and is
/// no member is left alone. Gives what could be unpacked before it fails.
struct Gunzip<R> {
    member: Option<GzDecoder<Counted<R>>>,
    /// Whether this is not the first member.
    later: bool,
    /// Bytes that this member gave.
    of_member: u64,
    given: u64,
    ratio: u64,
    ratio_after: u64,
    failed: Option<Stop>,
}

impl<R: BufRead> Gunzip<R> {
    fn new(inner: R, limits: &Limits) -> Self {
        Self {
            member: Some(GzDecoder::new(Counted { inner, taken: 0 })),
            later: false,
            of_member: 0,
            given: 0,
            ratio: limits.ratio,
            ratio_after: limits.ratio_after,
            failed: None,
        }
    }

    fn next_member(&mut self) {
        let Some(mut rest) = self.member.take().map(GzDecoder::into_inner) else { return };
        match rest.fill_buf() {
            Ok([]) => {}
            Ok(_) => self.member = Some(GzDecoder::new(rest)),
            Err(error) => self.failed = Some(Stop::of(&error)),
        }
        (self.later, self.of_member) = (true, 0);
    }

    /// Takes a failure for what it means. One of a reader below is passed on; one before the
    /// first byte of a later member says that there is no such member.
    fn fail(&mut self, error: &io::Error) {
        use io::ErrorKind::{InvalidData, InvalidInput, UnexpectedEof};
        let below = error.get_ref().and_then(|inner| inner.downcast_ref::<Stop>()).is_some();
        self.failed = Some(match error.kind() {
            _ if below => Stop::of(error),
            InvalidData | InvalidInput | UnexpectedEof if self.later && self.of_member == 0 => {
                self.member = None;
                return;
            }
            UnexpectedEof => Stop::Cut,
            InvalidData | InvalidInput => Stop::Damaged,
            _ => Stop::of(error),
        });
    }
}

impl<R: BufRead> Read for Gunzip<R> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        loop {
            if let Some(stop) = &self.failed {
                return Err(stop.clone().into());
            }
            let Some(member) = self.member.as_mut().filter(|_| !into.is_empty()) else {
                return Ok(0);
            };
            match member.read(into) {
                Ok(0) => self.next_member(),
                Ok(count) => {
                    let taken = member.get_ref().taken.max(1);
                    self.of_member += count as u64;
                    self.given += count as u64;
                    if self.given > self.ratio_after && self.given / taken > self.ratio {
                        self.failed = Some(Stop::Expands);
                    }
                    return Ok(count);
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => return Err(error),
                Err(error) => self.fail(&error),
            }
        }
    }
}
