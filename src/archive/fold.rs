//! Making one pack of those that a run wrote, checkpoint by checkpoint.
//!
//! What is in them is copied as it is: nothing is inflated, and nothing is deflated again.
//! The packs are those that bear our mark (`.keep`): they hold objects of a run whose refs
//! have moved by now. Killed at any moment, every object is in at least one pack, and the
//! next call makes one of whatever is there.

use std::fs::{self, File};
use std::io::{BufReader, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

use gix::odb::pack::index;

use super::directory::Archive;
use super::error::ArchiveError;
use super::pack::{PackWriter, Packed, flush_directory, remove_packs};

/// Bytes of the checksum at the end of a pack.
const CHECKSUM: u64 = 20;

impl Archive {
    /// Makes one pack of those that runs of ours kept until their refs had moved, and lets
    /// upkeep have it. Where that fails, for want of room for instance, they stay as they are.
    ///
    /// # Errors
    /// A file cannot be removed.
    pub fn fold_packs(&self) -> Result<(), ArchiveError> {
        let kept = self.kept_packs();
        // Whoever reads all packs finds those that were there: upkeep rolls them up later.
        let alone = if kept.len() > 1 { self.try_upkeep()? } else { None };
        if alone.is_some() {
            match self.fold(&kept) {
                Ok(()) => tracing::info!(packs = kept.len(), "folded packs into one"),
                Err(error) => tracing::warn!(%error, "the packs of the run were not folded"),
            }
        }
        self.release_packs()
    }

    fn fold(&self, packs: &[PathBuf]) -> Result<(), ArchiveError> {
        let mut writer = PackWriter::new(&self.pack_folder())?;
        for pack in packs {
            append_all(&mut writer, pack)?;
        }
        let Some(folded) = writer.finish()? else { return Ok(()) };
        remove_packs(&packs.iter().map(PathBuf::as_path).filter(|pack| *pack != folded))?;
        flush_directory(&self.pack_folder())
    }
}

/// Copies every object of a pack that has no deltas.
fn append_all(writer: &mut PackWriter, pack: &Path) -> Result<(), ArchiveError> {
    let damaged =
        |why: &str| ArchiveError::Format { place: pack.display().to_string(), why: why.to_owned() };
    let index_path = pack.with_extension("idx");
    let index = index::File::at(&index_path, gix::hash::Kind::Sha1)
        .map_err(ArchiveError::object(format!("cannot read {}", index_path.display())))?;
    let mut entries: Vec<_> = index.iter().map(|it| (it.pack_offset, it.oid, it.crc32)).collect();
    entries.sort_unstable();
    let reading = || ArchiveError::io("read", pack);
    let file = File::open(pack).map_err(reading())?;
    let end = file.metadata().map_err(reading())?.len().saturating_sub(CHECKSUM);
    let mut file = BufReader::with_capacity(1 << 20, file);
    let first = entries.first().map_or(end, |(offset, ..)| *offset);
    file.seek(SeekFrom::Start(first)).map_err(reading())?;
    let ends = entries.iter().skip(1).map(|(offset, ..)| *offset).chain([end]);
    for ((start, id, crc), end) in entries.iter().zip(ends) {
        let size = end.checked_sub(*start).and_then(|size| usize::try_from(size).ok());
        let mut entry = vec![0; size.ok_or_else(|| damaged("it is cut off"))?];
        file.read_exact(&mut entry).map_err(reading())?;
        if *crc != Some(crc32fast::hash(&entry)) {
            return Err(damaged("what it holds is not what its index says"));
        }
        writer.append(&Packed::copied(*id, entry))?;
    }
    Ok(())
}

/// Whether a pack is there with its index.
pub(super) fn is_whole(pack: &Path) -> bool {
    let there = |ending| fs::exists(pack.with_extension(ending)).unwrap_or(false);
    there("pack") && there("idx")
}
