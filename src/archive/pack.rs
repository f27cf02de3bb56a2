//! Writing objects as one pack with its index (Git's pack format, version 2).
//!
//! A pack is written to a temporary file, flushed, and only then given its name: pack
//! first, index last, the directory flushed after each, so that Git never sees an index
//! without its pack. Deflating is a pure function of the object ([`Deflater`]), so it can
//! be done on any thread and the bytes do not depend on how many there are.

#[cfg(test)]
mod tests;

use std::collections::HashSet;
use std::fmt::Write as _;
use std::fs::{self, File};
use std::io::{self, BufWriter, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

use sha1::{Digest, Sha1};

use super::ObjectId;
use super::error::ArchiveError;

/// Prefix of temporary files; what bears it is ours.
pub(super) const TEMPORARY_PREFIX: &str = "tmp_pack_pagelog_";

/// What is in the `.keep` files of our own.
pub(super) const KEEP: &[u8] = b"pagelog: kept until the refs have moved\n";

/// Level of deflate. Level 1 of libdeflate packs Markdown as tightly as zlib's 6.
const LEVEL: i32 = 1;

/// Offsets from here on stand in the index's table of 64-bit offsets.
const LARGE_OFFSET: u64 = 1 << 31;

/// The kinds of object an archive has; the numbers are those of the pack format.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Commit = 1,
    Tree = 2,
    Blob = 3,
}

/// An object, hashed and deflated.
#[derive(Debug)]
pub(super) struct Packed {
    pub id: ObjectId,
    entry: Vec<u8>,
}

impl Packed {
    /// An object as another pack has it; not a delta.
    pub fn copied(id: ObjectId, entry: Vec<u8>) -> Self {
        Self { id, entry }
    }

    /// Bytes in the pack.
    pub fn size(&self) -> usize {
        self.entry.len()
    }
}

/// Hashes and deflates objects; one a thread.
pub(super) struct Deflater(libdeflater::Compressor);

impl Deflater {
    pub fn new() -> Self {
        let level = libdeflater::CompressionLvl::new(LEVEL).unwrap_or_default();
        Self(libdeflater::Compressor::new(level))
    }

    /// Makes an object ready to be appended.
    pub fn pack(&mut self, kind: Kind, id: ObjectId, bytes: &[u8]) -> Packed {
        let mut entry = entry_header(kind, bytes.len());
        let start = entry.len();
        entry.resize(start + self.0.zlib_compress_bound(bytes.len()), 0);
        // The bound makes this infallible; an empty entry would be caught by the index.
        let written = self.0.zlib_compress(bytes, &mut entry[start..]).unwrap_or(0);
        entry.truncate(start + written);
        Packed { id, entry }
    }
}

/// The id of an object.
pub(super) fn object_id(kind: Kind, bytes: &[u8]) -> Result<ObjectId, ArchiveError> {
    let kind = match kind {
        Kind::Commit => gix::objs::Kind::Commit,
        Kind::Tree => gix::objs::Kind::Tree,
        Kind::Blob => gix::objs::Kind::Blob,
    };
    gix::objs::compute_hash(gix::hash::Kind::Sha1, kind, bytes)
        .map_err(ArchiveError::object("cannot hash an object"))
}

/// Type and size in front of an object's data (gitformat-pack, "pack-*.pack files").
fn entry_header(kind: Kind, size: usize) -> Vec<u8> {
    let mut rest = size >> 4;
    let mut byte = ((kind as u8) << 4) | low_bits(size, 0x0f);
    let mut header = Vec::with_capacity(10);
    while rest > 0 {
        header.push(byte | 0x80);
        byte = low_bits(rest, 0x7f);
        rest >>= 7;
    }
    header.push(byte);
    header
}

fn low_bits(value: usize, mask: u8) -> u8 {
    value.to_le_bytes()[0] & mask
}

struct IndexEntry {
    id: ObjectId,
    crc: u32,
    offset: u64,
}

/// A temporary file that vanishes with its owner, unless it was renamed by then.
pub(super) struct Temporary(pub PathBuf);

impl Drop for Temporary {
    fn drop(&mut self) {
        // Nothing to do where it cannot be removed: the next run tries again.
        let _ = fs::remove_file(&self.0);
    }
}

/// A pack under construction.
pub(super) struct PackWriter {
    folder: PathBuf,
    path: Temporary,
    file: BufWriter<File>,
    offset: u64,
    entries: Vec<IndexEntry>,
    known: HashSet<ObjectId>,
}

impl PackWriter {
    /// Begins a pack in `folder` (`objects/pack`).
    pub fn new(folder: &Path) -> Result<Self, ArchiveError> {
        fs::create_dir_all(folder).map_err(ArchiveError::io("make", folder))?;
        let path = temporary(folder, "");
        let options =
            File::options().read(true).write(true).create(true).truncate(true).open(&path);
        let file = options.map_err(ArchiveError::io("create", &path))?;
        let mut this = Self {
            folder: folder.to_owned(),
            file: BufWriter::with_capacity(1 << 20, file),
            path: Temporary(path),
            offset: 0,
            entries: Vec::new(),
            known: HashSet::new(),
        };
        this.write(b"PACK\0\0\0\x02\0\0\0\0")?;
        Ok(this)
    }

    /// Begins another pack where `other` is.
    pub fn beside(other: &Self) -> Result<Self, ArchiveError> {
        Self::new(&other.folder)
    }

    /// Whether the pack has that object already.
    pub fn contains(&self, id: &ObjectId) -> bool {
        self.known.contains(id)
    }

    /// Appends an object, unless the pack has it.
    pub fn append(&mut self, object: &Packed) -> Result<(), ArchiveError> {
        if self.known.insert(object.id) {
            let crc = crc32fast::hash(&object.entry);
            self.entries.push(IndexEntry { id: object.id, crc, offset: self.offset });
            self.write(&object.entry)?;
        }
        Ok(())
    }

    /// How many objects it has.
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Ends the pack, flushes it and gives it its name; returns, with its path, when both
    /// files and their directory are on disk. A pack without objects leaves nothing behind.
    pub fn finish(self) -> Result<Option<PathBuf>, ArchiveError> {
        let Self { folder, path, file, mut entries, .. } = self;
        if entries.is_empty() {
            return Ok(None);
        }
        let Temporary(ref path) = path;
        let writing = || ArchiveError::io("write", path);
        let mut file = file.into_inner().map_err(|e| writing()(e.into_error()))?;
        let count = u32::try_from(entries.len())
            .map_err(|_| writing()(io::ErrorKind::FileTooLarge.into()))?;
        let checksum = seal(&mut file, count).map_err(writing())?;
        file.sync_all().map_err(ArchiveError::io("flush", path))?;

        entries.sort_unstable_by_key(|entry| entry.id);
        let index_path = Temporary(temporary(&folder, ".idx"));
        write_index(&index_path.0, &entries, &checksum)
            .map_err(ArchiveError::io("write", &index_path.0))?;

        let name = format!("pack-{}", hex(&checksum));
        // Until the refs have moved nothing reaches its objects: a repack must not drop them.
        // A file that is not whole would not be known as ours.
        let keep = Temporary(temporary(&folder, ".keep"));
        write_flushed(&keep.0, KEEP)?;
        rename_flushed(&keep.0, &folder.join(format!("{name}.keep")))?;
        let pack = folder.join(format!("{name}.pack"));
        rename_flushed(path, &pack)?;
        rename_flushed(&index_path.0, &pack.with_extension("idx"))?;
        Ok(Some(pack))
    }

    fn write(&mut self, bytes: &[u8]) -> Result<(), ArchiveError> {
        self.file.write_all(bytes).map_err(ArchiveError::io("write", &self.path.0))?;
        self.offset += bytes.len() as u64;
        Ok(())
    }
}

/// A new name for a temporary file of this process.
pub(super) fn temporary(folder: &Path, end: &str) -> PathBuf {
    static NUMBER: AtomicU32 = AtomicU32::new(0);
    let number = NUMBER.fetch_add(1, Ordering::Relaxed);
    folder.join(format!("{TEMPORARY_PREFIX}{}_{number}{end}", std::process::id()))
}

/// Patches the number of objects into the header and appends the checksum of all.
fn seal(file: &mut File, count: u32) -> io::Result<[u8; 20]> {
    file.seek(SeekFrom::Start(8))?;
    file.write_all(&count.to_be_bytes())?;
    file.rewind()?;
    let mut hasher = Sha1::new();
    let mut buffer = vec![0; 1 << 20];
    loop {
        let n = file.read(&mut buffer)?;
        if n == 0 {
            break;
        }
        hasher.update(&buffer[..n]);
    }
    let checksum: [u8; 20] = hasher.finalize().into();
    file.write_all(&checksum)?;
    Ok(checksum)
}

/// Writes the index of a pack and flushes it (gitformat-pack, "Version 2 pack-*.idx files");
/// entries sorted by id.
fn write_index(path: &Path, entries: &[IndexEntry], pack_checksum: &[u8; 20]) -> io::Result<()> {
    let mut out = Hashing { file: BufWriter::new(File::create(path)?), hasher: Sha1::new() };
    out.write_all(b"\xfftOc\0\0\0\x02")?;
    let mut fanout = [0_u32; 256];
    for entry in entries {
        fanout[usize::from(entry.id.first_byte())] += 1;
    }
    let mut total = 0;
    for count in fanout {
        total += count;
        out.write_all(&total.to_be_bytes())?;
    }
    for entry in entries {
        out.write_all(entry.id.as_slice())?;
    }
    for entry in entries {
        out.write_all(&entry.crc.to_be_bytes())?;
    }
    let mut large = Vec::new();
    for entry in entries {
        let small = u32::try_from(entry.offset).ok().filter(|_| entry.offset < LARGE_OFFSET);
        let value = small.unwrap_or_else(|| {
            large.push(entry.offset);
            // Fewer than 2^31 objects: their number is one of 32 bits, and the first are not large.
            u32::try_from(large.len() - 1).unwrap_or(u32::MAX) | 0x8000_0000
        });
        out.write_all(&value.to_be_bytes())?;
    }
    for offset in large {
        out.write_all(&offset.to_be_bytes())?;
    }
    out.write_all(pack_checksum)?;
    let Hashing { mut file, hasher } = out;
    file.write_all(&hasher.finalize())?;
    file.into_inner().map_err(io::IntoInnerError::into_error)?.sync_all()
}

/// A file whose checksum is made while it is written.
struct Hashing {
    file: BufWriter<File>,
    hasher: Sha1,
}

impl Write for Hashing {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.file.write_all(bytes)?;
        self.hasher.update(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}

/// Writes a file and flushes it to disk.
pub(super) fn write_flushed(path: &Path, bytes: &[u8]) -> Result<(), ArchiveError> {
    let mut file = File::create(path).map_err(ArchiveError::io("create", path))?;
    file.write_all(bytes).map_err(ArchiveError::io("write", path))?;
    file.sync_all().map_err(ArchiveError::io("flush", path))
}

/// Removes packs with what belongs to them: indexes first, since a pack without one is not
/// seen and the reverse is a fault; marks of ours last.
pub(super) fn remove_packs<'a>(
    packs: &(impl Iterator<Item = &'a Path> + Clone),
) -> Result<(), ArchiveError> {
    for ending in ["idx", "pack", "rev", "bitmap", "keep"] {
        for path in packs.clone().map(|pack| pack.with_extension(ending)) {
            match fs::remove_file(&path) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => {
                    return Err(ArchiveError::io("remove", &path)(error));
                }
                _ => {}
            }
        }
    }
    Ok(())
}

/// Renames a flushed file and flushes the directory it is in.
pub(super) fn rename_flushed(from: &Path, to: &Path) -> Result<(), ArchiveError> {
    fs::rename(from, to).map_err(ArchiveError::io("rename to", to))?;
    to.parent().map_or(Ok(()), flush_directory)
}

/// Flushes a directory: the names in it are on disk afterwards.
pub(super) fn flush_directory(path: &Path) -> Result<(), ArchiveError> {
    let directory = File::open(path).map_err(ArchiveError::io("open", path))?;
    directory.sync_all().map_err(ArchiveError::io("flush", path))
}
