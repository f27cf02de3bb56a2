//! gix's public way to a pack: entries made from data, written as a stream by
//! `FromEntriesIter`, which `Bundle::write_to_directory` reads to make pack and index.
//!
//! The number of objects stands at the beginning of the stream, so it has to be known
//! before: it is counted ahead, which is not measured. What gix writes it does not flush;
//! that is done here, as ours does it. Entries are made with as many threads as there are
//! cores and given on in chunks, so that only some are in memory.

use std::collections::HashSet;
use std::fs::File;
use std::io::{self, BufReader, PipeReader, PipeWriter};
use std::path::Path;
use std::sync::atomic::AtomicBool;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};

use gix::objs::tree::{Entry as TreeEntry, EntryKind};
use gix::objs::{Data, Kind, Tree, WriteTo as _};
use gix::{ObjectId, hash, zlib::Compression};
use gix_pack::data::Version;
use gix_pack::data::output::bytes::FromEntriesIter;
use gix_pack::data::output::{Count, Entry};
use pagelog::archive::{Archive, Heads, RefMove, encode_links, encode_page};
use pagelog::model::Visibility;

use super::pages::{self, Ready};

/// Chunks that wait to be written.
const WAITING: usize = 2;
/// Entries of a chunk.
const CHUNK: usize = 128;

/// The distinct objects of the commit.
pub fn count(pages: &[Ready]) -> usize {
    let mut ids = HashSet::new();
    let mut files = Vec::new();
    for (path, bytes) in pages::files(pages) {
        let id = id(Kind::Blob, &bytes);
        ids.insert(id);
        files.push((path, id));
    }
    let root = tree(&files, 0, &mut |bytes| {
        let id = id(Kind::Tree, bytes);
        ids.insert(id);
        id
    });
    ids.insert(id(Kind::Commit, &commit(root)));
    ids.len()
}

/// Writes the pages as the first commit of an archive.
pub fn write(archive: &Archive, pages: &[Ready], objects: usize) {
    let folder = archive.path().join("objects/pack");
    let (reader, writer) = io::pipe().expect("a pipe");
    let (sender, receiver) = sync_channel(WAITING);
    let head = std::thread::scope(|scope| {
        let stream = scope.spawn(move || stream(receiver, writer, objects));
        let bundle = scope.spawn(|| bundle(&folder, reader));
        let head = Feed::new(sender).all(pages);
        stream.join().expect("the stream ends");
        bundle.join().expect("the bundle is written");
        head
    });
    let new = Heads { public: Some(head), private: None };
    archive.move_refs(&RefMove { old: Heads::default(), new }).expect("the ref moves");
}

/// Entries as the bytes of a pack.
fn stream(receiver: Receiver<Vec<Entry>>, writer: PipeWriter, objects: usize) {
    let count = u32::try_from(objects).expect("fewer objects");
    let input = receiver.into_iter().map(Ok);
    let written = FromEntriesIter::new(
        input,
        io::BufWriter::with_capacity(1 << 16, writer),
        count,
        Version::V2,
        hash::Kind::Sha1,
    );
    for result in written {
        result.expect("entries are written");
    }
}

/// The bytes of a pack as pack and index, flushed.
fn bundle(folder: &Path, reader: PipeReader) {
    let written = gix_pack::Bundle::write_to_directory(
        &mut BufReader::with_capacity(1 << 16, reader),
        Some(folder),
        &mut gix::progress::Discard,
        &AtomicBool::new(false),
        None::<gix::OdbHandle>,
        hash::Kind::Sha1,
        gix_pack::bundle::write::Options::default(),
    )
    .expect("a pack is written");
    for path in [written.data_path, written.index_path, Some(folder.to_owned())] {
        let path = path.expect("a file was written");
        File::open(path).and_then(|file| file.sync_all()).expect("it is flushed");
    }
    if let Some(keep) = written.keep_path {
        std::fs::remove_file(keep).expect("it is ours");
    }
}

/// What the stream is fed with.
struct Feed {
    sender: SyncSender<Vec<Entry>>,
    chunk: Vec<Entry>,
    known: HashSet<ObjectId>,
}

impl Feed {
    fn new(sender: SyncSender<Vec<Entry>>) -> Self {
        Self { sender, chunk: Vec::new(), known: HashSet::new() }
    }

    /// All objects of the commit, whose id it gives.
    fn all(mut self, pages: &[Ready]) -> ObjectId {
        let mut files: Vec<(String, ObjectId)> = Vec::new();
        for file in pages::root_files(Visibility::Public) {
            files.push((file.name.to_owned(), self.data(Kind::Blob, &file.bytes)));
        }
        let encode = |(): &mut (), ready: &Ready| {
            [encode_page(&ready.page), encode_links(&ready.links)].map(|b| entry(Kind::Blob, &b))
        };
        pages::in_order(pages, (|| (), encode), |ready, [page, links]| {
            files.push((ready.entry.page_path(), page.id));
            files.push((ready.entry.links_path(), links.id));
            self.put(page);
            self.put(links);
        });
        files.sort_unstable();
        let root = tree(&files, 0, &mut |bytes| self.data(Kind::Tree, bytes));
        let head = self.data(Kind::Commit, &commit(root));
        self.send();
        head
    }

    fn data(&mut self, kind: Kind, bytes: &[u8]) -> ObjectId {
        let entry = entry(kind, bytes);
        let id = entry.id;
        self.put(entry);
        id
    }

    fn put(&mut self, entry: Entry) {
        if self.known.insert(entry.id) {
            self.chunk.push(entry);
        }
        if self.chunk.len() >= CHUNK {
            self.send();
        }
    }

    fn send(&mut self) {
        self.sender.send(std::mem::take(&mut self.chunk)).expect("the stream goes on");
    }
}

fn entry(kind: Kind, bytes: &[u8]) -> Entry {
    let data = Data { kind, object_hash: hash::Kind::Sha1, data: bytes };
    let count = Count::from_data(id(kind, bytes), None);
    Entry::from_data(&count, &data, Compression::BEST_SPEED).expect("an entry is made")
}

fn id(kind: Kind, bytes: &[u8]) -> ObjectId {
    gix::objs::compute_hash(hash::Kind::Sha1, kind, bytes).expect("an id")
}

/// Trees of files that are sorted by their paths, from `at` of these on.
fn tree(
    files: &[(String, ObjectId)],
    at: usize,
    put: &mut impl FnMut(&[u8]) -> ObjectId,
) -> ObjectId {
    let (mut entries, mut rest) = (Vec::new(), files);
    while let Some((path, id)) = rest.first() {
        let name = &path[at..];
        let (name, kind, oid, taken) = match name.find('/') {
            None => (name, EntryKind::Blob, *id, 1),
            Some(end) => {
                let inside = &path[..=at + end];
                let taken = rest.iter().take_while(|(path, _)| path.starts_with(inside)).count();
                let id = tree(&rest[..taken], at + end + 1, put);
                (&name[..end], EntryKind::Tree, id, taken)
            }
        };
        entries.push(TreeEntry { mode: kind.into(), filename: name.into(), oid });
        rest = &rest[taken..];
    }
    let mut bytes = Vec::new();
    Tree { entries }.write_to(&mut bytes).expect("a tree is written");
    put(&bytes)
}

fn commit(tree: ObjectId) -> Vec<u8> {
    let who = gix::actor::Signature {
        name: "Bench".into(),
        email: "bot@example.org".into(),
        time: gix::date::Time { seconds: pages::STARTED, offset: 0 },
    };
    let commit = gix::objs::Commit {
        tree,
        parents: [].into_iter().collect(),
        author: who.clone(),
        committer: who,
        encoding: None,
        message: "Pages\n".into(),
        extra_headers: Vec::new(),
    };
    let mut bytes = Vec::new();
    commit.write_to(&mut bytes).expect("a commit is written");
    bytes
}
