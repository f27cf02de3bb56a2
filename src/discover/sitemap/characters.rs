//! The text of a sitemap as UTF-8, whatever it is encoded in.

use std::io::{self, BufRead, Read};

use encoding_rs::{CoderResult, Decoder, Encoding, UTF_8, UTF_16BE, UTF_16LE};

use super::layers::{Plain, Stop};

/// Room for decoded text.
const ROOM: usize = 16 * 1024;

/// What stands for a control character that no XML may hold: a character that no address
/// holds either, so that its entry is seen to be spoiled.
const CONTROL: u8 = 0x7f;

/// A reader of UTF-8 over bytes in any encoding. A byte order mark decides, then what the
/// XML declaration says, then it is UTF-8; what cannot be decoded becomes U+FFFD.
pub(super) struct Characters<'a> {
    inner: Plain<'a>,
    decoder: Decoder,
    room: Vec<u8>,
    /// Decoded and not yet taken: `at..end` of the room.
    at: usize,
    end: usize,
    ended: bool,
    /// Bytes taken since the last mark, and how many may be.
    taken: usize,
    most: usize,
}

impl<'a> Characters<'a> {
    /// Reads `inner`, whose first bytes are `head`; between two marks at most about `most`
    /// bytes can be taken.
    pub(super) fn new(head: &[u8], inner: Plain<'a>, most: usize) -> Self {
        let decoder = encoding_of(head).new_decoder();
        let room = vec![0; ROOM];
        Self { inner, decoder, room, at: 0, end: 0, ended: false, taken: 0, most }
    }

    /// Begins a new token.
    pub(super) fn mark(&mut self) {
        self.taken = 0;
    }

    /// Takes white space off the beginning.
    ///
    /// # Errors
    /// The file cannot be read on.
    pub(super) fn skip_blank(&mut self) -> io::Result<()> {
        loop {
            self.mark();
            let have = self.fill_buf()?;
            let blank = have.iter().take_while(|byte| byte.is_ascii_whitespace()).count();
            let done = blank < have.len() || have.is_empty();
            self.consume(blank);
            if done {
                return Ok(());
            }
        }
    }

    /// What comes next, `count` bytes of it where there are so many (at most half of the
    /// room), without taking it.
    pub(super) fn ahead(&mut self, count: usize) -> &[u8] {
        while self.end - self.at < count && !self.ended {
            // A failure is met again by whoever reads on.
            if self.decode().is_err() {
                break;
            }
        }
        &self.room[self.at..self.end.min(self.at + count)]
    }

    /// Decodes some more behind what is there.
    fn decode(&mut self) -> io::Result<()> {
        self.room.copy_within(self.at..self.end, 0);
        (self.at, self.end) = (0, self.end - self.at);
        let raw = self.inner.fill_buf()?;
        let last = raw.is_empty();
        let (result, read, written, _) =
            self.decoder.decode_to_utf8(raw, &mut self.room[self.end..], last);
        self.inner.consume(read);
        for byte in &mut self.room[self.end..self.end + written] {
            if *byte < b' ' && !matches!(*byte, b'\t' | b'\n' | b'\r') {
                *byte = CONTROL;
            }
        }
        self.end += written;
        self.ended = last && result == CoderResult::InputEmpty;
        Ok(())
    }
}

impl Read for Characters<'_> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let mut have = self.fill_buf()?;
        let count = have.read(into)?;
        self.consume(count);
        Ok(count)
    }
}

impl BufRead for Characters<'_> {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        while self.at == self.end && !self.ended {
            self.decode()?;
        }
        if self.taken > self.most && self.at < self.end {
            return Err(Stop::LongToken.into());
        }
        Ok(&self.room[self.at..self.end])
    }

    fn consume(&mut self, count: usize) {
        self.at += count;
        self.taken += count;
    }
}

/// The encoding of a text without byte order mark (with one, the decoder sees to it).
fn encoding_of(head: &[u8]) -> &'static Encoding {
    match head {
        [b'<', 0, ..] => UTF_16LE,
        [0, b'<', ..] => UTF_16BE,
        // A declaration that could be read byte by byte is not in UTF-16, whatever it says.
        _ => declared(head).filter(|found| found.is_ascii_compatible()).unwrap_or(UTF_8),
    }
}

/// What the XML declaration near the beginning names.
fn declared(head: &[u8]) -> Option<&'static Encoding> {
    let after = |text: &'_ [u8], word: &[u8]| {
        text.windows(word.len()).position(|window| window == word).map(|at| at + word.len())
    };
    let declaration = &head[after(head, b"<?xml")?..];
    let declaration = &declaration[..after(declaration, b"?>")?];
    let value = declaration[after(declaration, b"encoding")?..].trim_ascii_start();
    let value = value.strip_prefix(b"=")?.trim_ascii_start();
    let (quote, value) = value.split_first().filter(|(quote, _)| matches!(quote, b'"' | b'\''))?;
    Encoding::for_label_no_replacement(value.split(|byte| byte == quote).next()?)
}
