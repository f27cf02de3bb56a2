//! Putting pages into the next commit.
//!
//! Encoding a page (bytes, ids, deflate) is pure and done on any thread by an
//! [`Encoder`]; entering it into the trees is done here, in order. [`Writer::put`] alone
//! decides which ref a page's files belong to.

use std::path::PathBuf;

use super::commit::NewCommit;
use super::directory::Archive;
use super::edits::{Edit, Edits, Provenance};
use super::error::ArchiveError;
use super::layout::PageEntry;
use super::leak::LeakGuard;
use super::links::{encode_links, without_text};
use super::moved::{Moved, encode_moved, encode_moved_urls, moved_path};
use super::pack::{Deflater, Kind, PackWriter, Packed, object_id, remove_packs};
use super::page::{decode_page, encode_page};
use super::reader::Snapshot;
use super::refs::{Heads, RefMove};
use super::templates::ArchiveFile;
use super::tree::TreeBuilder;
use super::{ObjectId, commit};
use crate::model::{Link, Page, SourceId, Visibility};

/// Most objects of a pack, and most bytes, before another one is begun.
const PACK_OBJECTS: usize = 200_000;
const PACK_BYTES: usize = 1 << 30;

/// A file made ready for a pack; not packed where the archive has it already.
#[derive(Debug)]
struct Blob {
    id: ObjectId,
    packed: Option<Packed>,
}

/// The files of one page, ready to be put into trees.
#[derive(Debug)]
pub struct EncodedPage {
    visibility: Visibility,
    page: Blob,
    links: Blob,
    /// Links without text; only of a private page.
    public_links: Option<Blob>,
}

impl EncodedPage {
    /// The id of the page's file.
    #[must_use]
    pub fn page_id(&self) -> ObjectId {
        self.page.id
    }

    /// The ids of all its files.
    #[must_use]
    pub fn ids(&self) -> PageIds {
        PageIds {
            page: self.page.id,
            links: self.links.id,
            public_links: self.public_links.as_ref().map(|blob| blob.id),
        }
    }
}

/// The ids of the files of a page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PageIds {
    /// The page.
    pub page: ObjectId,
    /// Its links.
    pub links: ObjectId,
    /// Its links without text; only of a private page.
    pub public_links: Option<ObjectId>,
}

/// Turns pages into files; one a thread.
pub struct Encoder {
    objects: gix::OdbHandle,
    deflater: Deflater,
}

impl Encoder {
    /// Encodes a page and its links, to be put at `entry`.
    ///
    /// # Errors
    /// The page must not be public; or an object could not be hashed.
    pub fn encode(
        &mut self,
        entry: &PageEntry,
        (page, links): (&Page, &[Link]),
        visibility: Visibility,
        guard: &LeakGuard,
    ) -> Result<EncodedPage, ArchiveError> {
        let page_bytes = encode_page(page);
        // What could not be read back would stand in the way of every later run.
        let written = decode_page(&page_bytes);
        if written.as_ref() != Ok(page) {
            let why = written
                .err()
                .map_or_else(|| "it reads back differently".to_owned(), |e| e.to_string());
            return Err(ArchiveError::Format { place: entry.page_path(), why });
        }
        let links_bytes = encode_links(links);
        let public_links = match visibility {
            Visibility::Public => None,
            Visibility::Private => Some(encode_links(&without_text(links))),
        };
        let leak = |why: String| ArchiveError::Format { place: entry.page_path(), why };
        match &public_links {
            None => {
                guard.check_public_file(&entry.page_path(), &page_bytes).map_err(leak)?;
                guard.check_public_file(&entry.links_path(), &links_bytes).map_err(leak)?;
            }
            Some(bytes) => guard.check_public_file(&entry.links_path(), bytes).map_err(leak)?,
        }
        Ok(EncodedPage {
            visibility,
            page: self.blob(&page_bytes)?,
            links: self.blob(&links_bytes)?,
            public_links: public_links.map(|bytes| self.blob(&bytes)).transpose()?,
        })
    }

    /// The bytes of a file that the archive has.
    ///
    /// # Errors
    /// It cannot be read.
    pub fn read(&self, id: ObjectId) -> Result<Vec<u8>, ArchiveError> {
        let mut buffer = Vec::new();
        let found = gix::objs::FindExt::find_blob(&self.objects, &id, &mut buffer);
        found.map_err(ArchiveError::object(format!("cannot read the blob {id}")))?;
        Ok(buffer)
    }

    fn blob(&mut self, bytes: &[u8]) -> Result<Blob, ArchiveError> {
        let id = object_id(Kind::Blob, bytes)?;
        let known = gix::objs::Exists::exists(&self.objects, &id);
        let packed = (!known).then(|| self.deflater.pack(Kind::Blob, id, bytes));
        Ok(Blob { id, packed })
    }
}

/// What putting a page did, compared with the last commit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Replaced {
    /// There was no page.
    Nothing,
    /// Page or links differ.
    Other,
    /// Both are as they were.
    Same,
}

/// The next commit of both refs, under construction. Dropped without being finished, it
/// leaves the packs of its checkpoints behind, and nothing else.
pub struct Writer {
    old: Heads,
    public_base: Snapshot,
    private_base: Snapshot,
    public: Edits,
    private: Edits,
    objects: gix::OdbHandle,
    pack: PackWriter,
    in_pack: usize,
    finished: Vec<PathBuf>,
    deflater: Deflater,
}

impl Writer {
    /// Begins a commit on top of `old`.
    ///
    /// # Errors
    /// The commits cannot be read, or no pack can be made.
    pub fn new(archive: &Archive, old: Heads) -> Result<Self, ArchiveError> {
        Ok(Self {
            old,
            public_base: Snapshot::open(archive, old.public)?,
            private_base: Snapshot::open(archive, old.private)?,
            public: Edits::new(&archive.pack_folder()),
            private: Edits::new(&archive.pack_folder()),
            objects: objects(archive),
            pack: PackWriter::new(&archive.pack_folder())?,
            in_pack: 0,
            finished: Vec::new(),
            deflater: Deflater::new(),
        })
    }

    /// An encoder for another thread.
    #[must_use]
    pub fn encoder(archive: &Archive) -> Encoder {
        Encoder { objects: objects(archive), deflater: Deflater::new() }
    }

    /// The last commit of the ref that pages of that visibility stand on.
    #[must_use]
    pub fn base(&self, visibility: Visibility) -> &Snapshot {
        match visibility {
            Visibility::Public => &self.public_base,
            Visibility::Private => &self.private_base,
        }
    }

    /// Puts a page and its links where its visibility says.
    ///
    /// # Errors
    /// The last commit cannot be read or the pack cannot be written.
    pub fn put(
        &mut self,
        entry: &PageEntry,
        encoded: EncodedPage,
    ) -> Result<Replaced, ArchiveError> {
        let EncodedPage { visibility, page, links, public_links } = encoded;
        let (page_path, links_path) = (entry.page_path(), entry.links_path());
        let before = self.base(visibility).blob_at(&page_path)?;
        let mut changed = false;
        match (visibility, public_links) {
            (Visibility::Public, _) => {
                changed |= self.put_public(&page_path, &page, Provenance::PublicCapture)?;
                changed |= self.put_public(&links_path, &links, Provenance::PublicCapture)?;
            }
            (Visibility::Private, urls) => {
                changed |= self.put_private(&page_path, &page)?;
                changed |= self.put_private(&links_path, &links)?;
                if let Some(urls) = urls {
                    self.put_public(&links_path, &urls, Provenance::LinkUrls)?;
                }
            }
        }
        Ok(match before {
            None => Replaced::Nothing,
            Some(_) if changed => Replaced::Other,
            Some(_) => Replaced::Same,
        })
    }

    /// Brings all objects so far to disk, where they stay until the refs have moved; those
    /// that follow go into another pack.
    ///
    /// # Errors
    /// The pack cannot be written.
    pub fn checkpoint(&mut self) -> Result<(), ArchiveError> {
        let next = PackWriter::beside(&self.pack)?;
        let finished = std::mem::replace(&mut self.pack, next).finish()?;
        self.finished.extend(finished);
        self.in_pack = 0;
        Ok(())
    }

    /// Gives the commit up, and with it what its checkpoints brought to disk.
    ///
    /// # Errors
    /// A file cannot be removed.
    pub fn discard(self) -> Result<(), ArchiveError> {
        remove_packs(&self.finished.iter().map(PathBuf::as_path))
    }

    /// Puts a page whose files a checkpoint of an earlier process brought to disk; false
    /// where one of them is missing.
    ///
    /// # Errors
    /// The last commit cannot be read.
    pub fn restore(
        &mut self,
        entry: &PageEntry,
        ids: &PageIds,
        visibility: Visibility,
    ) -> Result<bool, ArchiveError> {
        let all = [Some(ids.page), Some(ids.links), ids.public_links];
        if all.iter().flatten().any(|id| !gix::objs::Exists::exists(&self.objects, id)) {
            return Ok(false);
        }
        let packed = |id| Blob { id, packed: None };
        let encoded = EncodedPage {
            visibility,
            page: packed(ids.page),
            links: packed(ids.links),
            public_links: ids.public_links.map(packed),
        };
        self.put(entry, encoded).map(|_| true)
    }

    /// Takes back what was done to a page since the last commit.
    ///
    /// # Errors
    /// A temporary file cannot be written.
    pub fn revert(&mut self, entry: &PageEntry) -> Result<(), ArchiveError> {
        for path in [entry.page_path(), entry.links_path()] {
            self.public.take_back(&path)?;
            self.private.take_back(&path)?;
        }
        Ok(())
    }

    /// Gives, of the public pages that were put since the last commit, those for which `ask`
    /// says something. What they hold can be read after a checkpoint.
    ///
    /// # Errors
    /// `ask` failed, or a temporary file cannot be read.
    pub fn public_pages<T, E: From<ArchiveError>>(
        &mut self,
        mut ask: impl FnMut(ObjectId) -> Result<Option<T>, E>,
    ) -> Result<Vec<(PageEntry, T)>, E> {
        let (mut said, mut sorted) = (Vec::new(), self.public.sorted()?);
        while let Some((path, edit)) = sorted.next()? {
            let Edit::Put(id, _) = edit else { continue };
            if let Some(entry) = PageEntry::from_page_path(&path) {
                said.extend(ask(id)?.map(|it| (entry, it)));
            }
        }
        Ok(said)
    }

    /// Puts the list of permanent redirects of a source, as [`Moved`] writes
    /// it: on the public ref with URLs only where the source is private.
    ///
    /// # Errors
    /// The last commit cannot be read or the pack cannot be written.
    pub fn put_moved(
        &mut self,
        source: &SourceId,
        visibility: Visibility,
        moved: &[Moved],
    ) -> Result<(), ArchiveError> {
        let path = moved_path(source);
        let all = self.blob(&encode_moved(moved))?;
        match visibility {
            Visibility::Public => {
                self.put_public(&path, &all, Provenance::PublicCapture)?;
            }
            Visibility::Private => {
                let urls = self.blob(&encode_moved_urls(moved))?;
                self.put_public(&path, &urls, Provenance::LinkUrls)?;
                self.put_private(&path, &all)?;
            }
        }
        Ok(())
    }

    fn blob(&mut self, bytes: &[u8]) -> Result<Blob, ArchiveError> {
        let id = object_id(Kind::Blob, bytes)?;
        let known = gix::objs::Exists::exists(&self.objects, &id);
        let packed = (!known).then(|| self.deflater.pack(Kind::Blob, id, bytes));
        Ok(Blob { id, packed })
    }

    /// Removes a page and its links from both refs; whether there was one.
    ///
    /// # Errors
    /// The last commit cannot be read.
    pub fn remove(&mut self, entry: &PageEntry) -> Result<bool, ArchiveError> {
        let mut found = false;
        for path in [entry.page_path(), entry.links_path()] {
            for visibility in Visibility::BOTH {
                if self.base(visibility).blob_at(&path)?.is_some() {
                    found = true;
                    self.edits(visibility).insert(&path, Edit::Remove)?;
                }
            }
        }
        Ok(found)
    }

    /// Removes a whole directory from one ref.
    ///
    /// # Errors
    /// A temporary file cannot be written.
    pub fn remove_directory(
        &mut self,
        visibility: Visibility,
        path: &str,
    ) -> Result<(), ArchiveError> {
        self.edits(visibility).insert(path, Edit::Remove)
    }

    /// Puts the files at the root of one ref.
    ///
    /// # Errors
    /// The last commit cannot be read or the pack cannot be written.
    pub fn put_root(
        &mut self,
        visibility: Visibility,
        files: &[ArchiveFile],
    ) -> Result<(), ArchiveError> {
        for file in files {
            let blob = self.blob(&file.bytes)?;
            match visibility {
                Visibility::Public => self.put_public(file.name, &blob, Provenance::Template)?,
                Visibility::Private => self.put_private(file.name, &blob)?,
            };
        }
        Ok(())
    }

    /// Whether anything differs from the last commit.
    #[must_use]
    pub fn has_changes(&self) -> bool {
        !self.public.is_empty() || !self.private.is_empty()
    }

    /// Writes trees and commits, and makes everything durable. The refs do not move yet.
    ///
    /// # Errors
    /// An object could not be read or written; then nothing is left behind.
    pub fn finish(self, new: &NewCommit<'_>) -> Result<RefMove, ArchiveError> {
        let Self { old, mut public, mut private, objects, mut pack, mut deflater, .. } = self;
        let mut trees = TreeBuilder { objects: &objects, pack: &mut pack, deflater: &mut deflater };
        let public_base = (self.public_base.tree(), Visibility::Public);
        let private_base = (self.private_base.tree(), Visibility::Private);
        let public_tree = trees.apply(public_base, public.sorted()?)?;
        let private_tree = trees.apply(private_base, private.sorted()?)?;
        let mut commit = |tree, parent, message: &str| -> Result<ObjectId, ArchiveError> {
            let bytes = commit::encode(new, tree, parent, message)?;
            let id = object_id(Kind::Commit, &bytes)?;
            pack.append(&deflater.pack(Kind::Commit, id, &bytes))?;
            Ok(id)
        };
        let public = commit(public_tree, old.public, new.public_message)?;
        let private = commit(private_tree, old.private, new.private_message)?;
        pack.finish()?;
        Ok(RefMove { old, new: Heads { public: Some(public), private: Some(private) } })
    }

    fn edits(&mut self, visibility: Visibility) -> &mut Edits {
        match visibility {
            Visibility::Public => &mut self.public,
            Visibility::Private => &mut self.private,
        }
    }

    fn put_public(
        &mut self,
        path: &str,
        blob: &Blob,
        from: Provenance,
    ) -> Result<bool, ArchiveError> {
        self.put_blob(Visibility::Public, path, (blob, from))
    }

    fn put_private(&mut self, path: &str, blob: &Blob) -> Result<bool, ArchiveError> {
        self.put_blob(Visibility::Private, path, (blob, Provenance::PrivateCapture))
    }

    /// Whether the file differs from what is there.
    fn put_blob(
        &mut self,
        visibility: Visibility,
        path: &str,
        (blob, from): (&Blob, Provenance),
    ) -> Result<bool, ArchiveError> {
        if self.base(visibility).blob_at(path)? == Some(blob.id) {
            return Ok(false);
        }
        if let Some(packed) = &blob.packed {
            self.pack.append(packed)?;
            self.in_pack += packed.size();
        }
        if self.pack.len() >= PACK_OBJECTS || self.in_pack >= PACK_BYTES {
            // What is known of the objects of a pack stays in memory until it is finished.
            self.checkpoint()?;
        }
        self.edits(visibility).insert(path, Edit::Put(blob.id, from))?;
        Ok(true)
    }
}

/// Objects of the archive, without looking for new packs at each miss: nobody else adds
/// any while the run lock is held.
fn objects(archive: &Archive) -> gix::OdbHandle {
    let mut objects = archive.repository().objects;
    objects.refresh_never();
    objects
}
