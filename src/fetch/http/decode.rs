//! Content codings, undone while the body arrives.
//!
//! Only `gzip` is asked for, but what servers send is read: gzip with any number of members
//! (RFC 1952), deflate with and without its zlib header (RFC 1950, RFC 1951), at most two
//! codings, and bodies that claim gzip and are not, as they are. What is decoded is counted
//! at each layer as it is made, so a bomb ends early and takes no more memory than the
//! limit that was asked for.

use flate2::{Crc, Decompress, FlushDecompress, Status};

use super::failure::{HttpFailure, printable};

/// How many times its size a body may unpack to.
pub(super) const RATIO: u64 = 200;

/// Bytes that may be made whatever the ratio.
const RATIO_FROM: u64 = 1024 * 1024;

/// Most codings of a body.
const CODINGS: usize = 2;

/// Most bytes of the header of a gzip member: it may hold a name and a comment.
const MEMBER_HEADER: usize = 64 * 1024;

/// Bytes that are decoded in one go.
const STEP: usize = 16 * 1024;

/// A coding that can be undone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Coding {
    /// RFC 1952.
    Gzip,
    /// RFC 1950 or 1951.
    Deflate,
}

/// Reads the values of Content-Encoding (RFC 9110, section 8.4): codings in the order in
/// which they were applied.
pub(super) fn codings<'a>(
    values: impl IntoIterator<Item = &'a [u8]>,
) -> Result<Vec<Coding>, HttpFailure> {
    let mut found = Vec::new();
    for value in values {
        let value = String::from_utf8_lossy(value).to_ascii_lowercase();
        for name in value.split(',').map(str::trim) {
            match name {
                "" | "identity" => {}
                "gzip" | "x-gzip" => found.push(Coding::Gzip),
                "deflate" => found.push(Coding::Deflate),
                other => {
                    let name = printable(other);
                    let why = format!("the coding `{name}` is not one that was asked for");
                    return Err(HttpFailure::Encoding(why));
                }
            }
        }
    }
    if found.len() > CODINGS {
        return Err(HttpFailure::Encoding(format!("there are more than {CODINGS} codings")));
    }
    Ok(found)
}

/// Undoes the codings of one body and keeps what comes out.
pub(super) struct Decoder {
    layers: Vec<Layer>,
    out: Vec<u8>,
    bounds: Bounds,
}

/// How much of a body was read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Extent {
    /// All of it.
    Whole,
    /// As much as the limit allows.
    Beginning,
}

/// What bounds the bytes that a layer makes.
#[derive(Clone, Copy)]
struct Bounds {
    limit: u64,
    raw: u64,
}

impl Bounds {
    fn check(self, made: u64) -> Result<(), HttpFailure> {
        if made > self.limit {
            return Err(HttpFailure::TooLarge { limit: self.limit });
        }
        if made > RATIO_FROM && made / RATIO > self.raw {
            return Err(HttpFailure::Ratio);
        }
        Ok(())
    }
}

impl Decoder {
    /// A decoder of a body with these codings that gives at most `limit` bytes.
    pub(super) fn new(codings: &[Coding], limit: u64) -> Self {
        let layers = codings.iter().rev().map(|coding| Layer::new(*coding)).collect();
        Self { layers, out: Vec::new(), bounds: Bounds { limit, raw: 0 } }
    }

    /// Most bytes that come out.
    pub(super) fn limit(&self) -> u64 {
        self.bounds.limit
    }

    /// Most bytes that a body may have as it is sent: what is packed may be a little larger
    /// than what is in it.
    pub(super) fn raw_limit(&self) -> u64 {
        let slack = if self.layers.is_empty() { 0 } else { self.bounds.limit / 64 + 64 * 1024 };
        self.bounds.limit.saturating_add(slack)
    }

    /// Bytes that came in.
    pub(super) fn raw_length(&self) -> u64 {
        self.bounds.raw
    }

    /// Takes the next part of the body.
    pub(super) fn push(&mut self, data: &[u8]) -> Result<(), HttpFailure> {
        self.bounds.raw += data.len() as u64;
        // What is not packed is counted as it comes out.
        if !self.layers.is_empty() && self.bounds.raw > self.raw_limit() {
            return Err(HttpFailure::TooLarge { limit: self.bounds.limit });
        }
        feed(&mut self.layers, data, self.bounds, &mut self.out)
    }

    /// The decoded body; where all of it was read, it must be complete.
    pub(super) fn finish(mut self, extent: Extent) -> Result<Vec<u8>, HttpFailure> {
        if extent == Extent::Beginning {
            return Ok(self.out);
        }
        for at in 0..self.layers.len() {
            let rest = self.layers[at].end()?;
            feed(&mut self.layers[at + 1..], &rest, self.bounds, &mut self.out)?;
        }
        Ok(self.out)
    }
}

fn feed(
    layers: &mut [Layer],
    data: &[u8],
    bounds: Bounds,
    out: &mut Vec<u8>,
) -> Result<(), HttpFailure> {
    if data.is_empty() {
        return Ok(());
    }
    let Some((layer, rest)) = layers.split_first_mut() else {
        let room = usize::try_from(bounds.limit).unwrap_or(usize::MAX) - out.len();
        out.extend_from_slice(&data[..data.len().min(room)]);
        let made = (out.len() + data.len().saturating_sub(room)) as u64;
        return bounds.check(made);
    };
    let mut made = layer.made;
    let result = layer.take(data, &mut |part| {
        made += part.len() as u64;
        bounds.check(made)?;
        feed(rest, part, bounds, out)
    });
    layer.made = made;
    result
}

/// Where decoded bytes go.
type Emit<'a> = dyn FnMut(&[u8]) -> Result<(), HttpFailure> + 'a;

/// One coding in the course of being undone.
struct Layer {
    coding: Coding,
    state: State,
    /// Bytes that do not yet tell what they are.
    held: Vec<u8>,
    made: u64,
    crc: Crc,
}

enum State {
    /// Before the first byte of the body.
    Start,
    /// In the header of a gzip member.
    Header,
    /// In compressed data.
    Data(Box<Decompress>),
    /// In the trailer of a gzip member.
    Trailer,
    /// Behind a gzip member: another one, or padding.
    Next,
    /// The body is not coded after all.
    Plain,
    /// All that follows is padding.
    Done,
}

impl Layer {
    fn new(coding: Coding) -> Self {
        Self { coding, state: State::Start, held: Vec::new(), made: 0, crc: Crc::new() }
    }

    /// Takes the next bytes; gives on what they hold.
    fn take(&mut self, data: &[u8], emit: &mut Emit<'_>) -> Result<(), HttpFailure> {
        let mut held = std::mem::take(&mut self.held);
        let mut rest = data;
        if !held.is_empty() {
            held.extend_from_slice(data);
            rest = &held;
        }
        while !rest.is_empty() {
            match &mut self.state {
                State::Data(inflate) => {
                    let (used, ended) = inflated(inflate, &mut self.crc, rest, emit)?;
                    rest = &rest[used..];
                    if ended {
                        self.state = match self.coding {
                            Coding::Gzip => State::Trailer,
                            Coding::Deflate => State::Done,
                        };
                    }
                }
                State::Plain => return emit(rest),
                State::Done => return Ok(()),
                State::Start | State::Header | State::Trailer | State::Next => {
                    let used = self.structure(rest)?;
                    if used == 0 && !matches!(self.state, State::Data(_) | State::Plain) {
                        self.held = rest.to_vec();
                        return Ok(());
                    }
                    rest = &rest[used..];
                }
            }
        }
        Ok(())
    }

    /// Reads what stands around compressed data; 0 where more of it is needed (or, at the
    /// start, where none of it is there).
    fn structure(&mut self, held: &[u8]) -> Result<usize, HttpFailure> {
        match self.state {
            State::Start | State::Next if held.len() < 2 => Ok(0),
            State::Start if self.coding == Coding::Deflate => {
                self.state = State::Data(Box::new(Decompress::new(has_zlib_header(held))));
                Ok(0)
            }
            State::Start if !held.starts_with(&GZIP_MAGIC) => {
                self.state = State::Plain;
                Ok(0)
            }
            // Anything behind a complete member that is no member is padding.
            State::Next if !held.starts_with(&GZIP_MAGIC) => {
                self.state = State::Done;
                Ok(held.len())
            }
            State::Trailer => self.trailer(held),
            _ => {
                self.state = State::Header;
                let Some(length) = member_header(held)? else { return Ok(0) };
                self.crc.reset();
                self.state = State::Data(Box::new(Decompress::new(false)));
                Ok(length)
            }
        }
    }

    /// Compares check sum and length (RFC 1952, section 2.3.1).
    fn trailer(&mut self, held: &[u8]) -> Result<usize, HttpFailure> {
        let Some((trailer, _)) = held.split_first_chunk::<8>() else { return Ok(0) };
        let [sum, length] = [0, 4].map(|at| {
            let four = [trailer[at], trailer[at + 1], trailer[at + 2], trailer[at + 3]];
            u32::from_le_bytes(four)
        });
        if (sum, length) != (self.crc.sum(), self.crc.amount()) {
            return Err(damaged());
        }
        self.state = State::Next;
        Ok(8)
    }

    /// What is left at the end of the body, where it may end here.
    fn end(&mut self) -> Result<Vec<u8>, HttpFailure> {
        match self.state {
            State::Start | State::Plain => Ok(std::mem::take(&mut self.held)),
            State::Next | State::Done => Ok(Vec::new()),
            State::Header | State::Data(_) | State::Trailer => Err(HttpFailure::Truncated),
        }
    }
}

/// Decompresses until the data are used up or end; tells how many bytes were used and
/// whether they ended.
fn inflated(
    inflate: &mut Decompress,
    crc: &mut Crc,
    data: &[u8],
    emit: &mut Emit<'_>,
) -> Result<(usize, bool), HttpFailure> {
    let mut buffer = [0; STEP];
    let mut used = 0;
    loop {
        let (before_in, before_out) = (inflate.total_in(), inflate.total_out());
        let status = inflate
            .decompress(&data[used..], &mut buffer, FlushDecompress::None)
            .map_err(|_| damaged())?;
        let made = usize::try_from(inflate.total_out() - before_out).unwrap_or(STEP);
        used += usize::try_from(inflate.total_in() - before_in).unwrap_or(data.len());
        crc.update(&buffer[..made]);
        emit(&buffer[..made])?;
        if matches!(status, Status::StreamEnd) {
            return Ok((used, true));
        }
        // A full buffer may have left more to come without further input.
        if used == data.len() && made < STEP {
            return Ok((used, false));
        }
        if made == 0 && inflate.total_in() == before_in {
            return Err(damaged());
        }
    }
}

const GZIP_MAGIC: [u8; 2] = [0x1f, 0x8b];

/// Length of the header of a gzip member (RFC 1952, section 2.3); `None` where it goes on.
fn member_header(held: &[u8]) -> Result<Option<usize>, HttpFailure> {
    const EXTRA: u8 = 4;
    let Some(&[_, _, method, flags, ..]) = held.first_chunk::<10>() else { return Ok(None) };
    if method != 8 || flags & 0xe0 != 0 {
        return Err(damaged());
    }
    if held.len() > MEMBER_HEADER {
        return Err(damaged());
    }
    let mut at = 10;
    if flags & EXTRA != 0 {
        let Some(length) = held.get(at..at + 2) else { return Ok(None) };
        at += 2 + usize::from(u16::from_le_bytes([length[0], length[1]]));
    }
    // The name and the comment, each ended by a zero.
    for flag in [8, 16] {
        if flags & flag != 0 {
            let end = held.get(at..).and_then(|rest| rest.iter().position(|byte| *byte == 0));
            let Some(end) = end else { return Ok(None) };
            at += end + 1;
        }
    }
    if flags & 2 != 0 {
        at += 2;
    }
    Ok((at <= held.len()).then_some(at))
}

/// RFC 1950, section 2.2.
fn has_zlib_header(held: &[u8]) -> bool {
    let (method, flags) = (held[0], held[1]);
    method & 0x0f == 8 && (u16::from(method) << 8 | u16::from(flags)) % 31 == 0
}

fn damaged() -> HttpFailure {
    HttpFailure::Encoding("its data are damaged".to_owned())
}

#[cfg(test)]
#[path = "decode_tests.rs"]
mod tests;
