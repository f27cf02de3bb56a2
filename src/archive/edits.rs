//! The changes that a commit makes to one tree, in bounded memory.
//!
//! Changes come in any order, the last one of a path counts, and one can be taken back.
//! What no longer fits into memory goes, sorted, into a temporary file; reading them gives
//! all in the order of the tree, each path once.

use std::cmp::Ordering;
use std::collections::{BTreeMap, BinaryHeap, btree_map};
use std::fs::File;
use std::io::{BufReader, BufWriter, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use super::ObjectId;
use super::error::ArchiveError;
use super::pack::{Temporary, temporary};

/// Changes that are held in memory; an average path takes some 200 bytes there.
const IN_MEMORY: usize = 1 << 15;

/// Bytes read at a time from each part of the file.
const READ_BUFFER: usize = 16 << 10;

/// Why a file may be where it is put.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Provenance {
    /// A page of a public source, or its links.
    PublicCapture,
    /// URLs that a page of a private source links to.
    LinkUrls,
    /// One of our own templates.
    Template,
    /// Whatever of a private source may be on the private ref only.
    PrivateCapture,
}

impl Provenance {
    const ALL: [Self; 4] =
        [Self::PublicCapture, Self::LinkUrls, Self::Template, Self::PrivateCapture];
}

/// What happens to a path: a file is put there, or what is there goes, a directory with
/// everything in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Edit {
    Put(ObjectId, Provenance),
    Remove,
}

/// The path in the order of the tree: `/` is less than any other byte of a name, so that
/// a directory comes directly before everything in it.
type Key = Vec<u8>;

/// Changes by full path; `None` takes back what was said before.
pub(super) struct Edits {
    folder: PathBuf,
    limit: usize,
    recent: BTreeMap<Key, Option<Edit>>,
    spilled: Option<Spilled>,
}

/// Sorted parts of a temporary file.
struct Spilled {
    path: Temporary,
    file: BufWriter<File>,
    end: u64,
    parts: Vec<(u64, u64)>,
}

impl Edits {
    /// No changes; `folder` is where a temporary file may be made.
    pub fn new(folder: &Path) -> Self {
        Self::with_limit(folder, IN_MEMORY)
    }

    fn with_limit(folder: &Path, limit: usize) -> Self {
        Self { folder: folder.to_owned(), limit, recent: BTreeMap::new(), spilled: None }
    }

    /// Whether nothing was ever said.
    pub fn is_empty(&self) -> bool {
        self.spilled.is_none() && self.recent.is_empty()
    }

    /// Sets what happens to a path.
    pub fn insert(&mut self, path: &str, edit: Edit) -> Result<(), ArchiveError> {
        self.set(path, Some(edit))
    }

    /// Takes back what was to happen to a path.
    pub fn take_back(&mut self, path: &str) -> Result<(), ArchiveError> {
        if self.spilled.is_none() {
            self.recent.remove(&key(path));
            return Ok(());
        }
        self.set(path, None)
    }

    fn set(&mut self, path: &str, edit: Option<Edit>) -> Result<(), ArchiveError> {
        self.recent.insert(key(path), edit);
        if self.recent.len() < self.limit {
            return Ok(());
        }
        let recent = std::mem::take(&mut self.recent);
        let spilled = match &mut self.spilled {
            Some(spilled) => spilled,
            none => none.insert(Spilled::new(&self.folder)?),
        };
        spilled.add(&recent)
    }

    /// All changes in the order of the tree.
    pub fn sorted(&mut self) -> Result<Sorted<'_>, ArchiveError> {
        let mut parts = Vec::new();
        if let Some(spilled) = &mut self.spilled {
            spilled.file.flush().map_err(ArchiveError::io("write", &spilled.path.0))?;
            for &(start, end) in &spilled.parts {
                parts.push(Part::File(FilePart::open(&spilled.path.0, (start, end))?));
            }
        }
        parts.push(Part::Memory(self.recent.iter()));
        let mut heap = BinaryHeap::with_capacity(parts.len());
        for (age, part) in parts.iter_mut().enumerate() {
            heap.extend(part.next()?.map(|(key, edit)| Head { key, age, edit }));
        }
        Ok(Sorted { parts, heap })
    }
}

fn key(path: &str) -> Key {
    path.bytes().map(|byte| if byte == b'/' { 0 } else { byte }).collect()
}

fn path_of(key: &[u8]) -> String {
    let bytes = key.iter().map(|&byte| if byte == 0 { b'/' } else { byte }).collect();
    // Keys are made of text, in which no byte but `/` was changed.
    String::from_utf8(bytes).unwrap_or_default()
}

impl Spilled {
    fn new(folder: &Path) -> Result<Self, ArchiveError> {
        let path = Temporary(temporary(folder, ".edits"));
        let file = File::create(&path.0).map_err(ArchiveError::io("create", &path.0))?;
        Ok(Self { path, file: BufWriter::new(file), end: 0, parts: Vec::new() })
    }

    fn add(&mut self, edits: &BTreeMap<Key, Option<Edit>>) -> Result<(), ArchiveError> {
        let start = self.end;
        for (key, edit) in edits {
            let record = encode(key, *edit);
            self.file.write_all(&record).map_err(ArchiveError::io("write", &self.path.0))?;
            self.end += record.len() as u64;
        }
        self.parts.push((start, self.end));
        Ok(())
    }
}

const TAKEN_BACK: u8 = 0;
const REMOVE: u8 = 1;
const PUT: u8 = 2;

/// Length of the key (4 bytes), the key, what happens (1 byte), the id of a file.
fn encode(key: &[u8], edit: Option<Edit>) -> Vec<u8> {
    let length = u32::try_from(key.len()).unwrap_or(u32::MAX);
    let mut record = length.to_le_bytes().to_vec();
    record.extend_from_slice(key);
    match edit {
        None => record.push(TAKEN_BACK),
        Some(Edit::Remove) => record.push(REMOVE),
        Some(Edit::Put(id, from)) => {
            record.push(PUT + from as u8);
            record.extend_from_slice(id.as_slice());
        }
    }
    record
}

/// A part of the file, read from its beginning.
struct FilePart {
    path: PathBuf,
    reader: std::io::Take<BufReader<File>>,
}

impl FilePart {
    fn open(path: &Path, (start, end): (u64, u64)) -> Result<Self, ArchiveError> {
        let mut file = File::open(path).map_err(ArchiveError::io("open", path))?;
        file.seek(SeekFrom::Start(start)).map_err(ArchiveError::io("read", path))?;
        let reader = BufReader::with_capacity(READ_BUFFER, file).take(end - start);
        Ok(Self { path: path.to_owned(), reader })
    }

    fn next(&mut self) -> Result<Option<(Key, Option<Edit>)>, ArchiveError> {
        if self.reader.limit() == 0 {
            return Ok(None);
        }
        let Self { path, reader } = self;
        let mut read = || -> std::io::Result<_> {
            let mut length = [0; 4];
            reader.read_exact(&mut length)?;
            let mut key = vec![0; usize::try_from(u32::from_le_bytes(length)).unwrap_or_default()];
            reader.read_exact(&mut key)?;
            let mut tag = [0];
            reader.read_exact(&mut tag)?;
            let edit = match tag[0] {
                TAKEN_BACK => None,
                REMOVE => Some(Edit::Remove),
                other => {
                    let mut id = [0; 20];
                    reader.read_exact(&mut id)?;
                    let from = Provenance::ALL.get(usize::from(other - PUT)).copied();
                    let from = from.ok_or(std::io::ErrorKind::InvalidData)?;
                    Some(Edit::Put(ObjectId::from(id), from))
                }
            };
            Ok(Some((key, edit)))
        };
        read().map_err(ArchiveError::io("read", path))
    }
}

enum Part<'a> {
    File(FilePart),
    Memory(btree_map::Iter<'a, Key, Option<Edit>>),
}

impl Part<'_> {
    fn next(&mut self) -> Result<Option<(Key, Option<Edit>)>, ArchiveError> {
        match self {
            Self::File(part) => part.next(),
            Self::Memory(iter) => Ok(iter.next().map(|(key, edit)| (key.clone(), *edit))),
        }
    }
}

/// The first change of a part that was not given yet.
struct Head {
    key: Key,
    age: usize,
    edit: Option<Edit>,
}

impl Ord for Head {
    /// The greatest is given first: the least path, and of that what was said last.
    fn cmp(&self, other: &Self) -> Ordering {
        other.key.cmp(&self.key).then(self.age.cmp(&other.age))
    }
}

impl PartialOrd for Head {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Head {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Head {}

/// Changes in the order of the tree, each path once.
pub(super) struct Sorted<'a> {
    parts: Vec<Part<'a>>,
    heap: BinaryHeap<Head>,
}

impl Sorted<'_> {
    /// The next path and what happens to it.
    pub fn next(&mut self) -> Result<Option<(String, Edit)>, ArchiveError> {
        while let Some(head) = self.take()? {
            while self.heap.peek().is_some_and(|older| older.key == head.key) {
                self.take()?;
            }
            if let Some(edit) = head.edit {
                return Ok(Some((path_of(&head.key), edit)));
            }
        }
        Ok(None)
    }

    /// The greatest head, its part's next one put in its place.
    fn take(&mut self) -> Result<Option<Head>, ArchiveError> {
        let Some(head) = self.heap.pop() else { return Ok(None) };
        let age = head.age;
        let next = self.parts[age].next()?;
        self.heap.extend(next.map(|(key, edit)| Head { key, age, edit }));
        Ok(Some(head))
    }
}

#[cfg(test)]
mod tests {
    use super::{Edit, Edits, ObjectId, Provenance};

    fn id(n: u8) -> ObjectId {
        ObjectId::from([n; 20])
    }

    fn put(n: u8) -> Edit {
        Edit::Put(id(n), Provenance::PublicCapture)
    }

    fn all(edits: &mut Edits) -> Vec<(String, Edit)> {
        let mut sorted = edits.sorted().expect("they are sorted");
        std::iter::from_fn(|| sorted.next().expect("they are read")).collect()
    }

    #[test]
    fn whatever_went_to_the_file_the_last_word_counts() {
        let folder = tempfile::tempdir().expect("a folder");
        for limit in [1, 2, 3, 5, 100] {
            let mut edits = Edits::with_limit(folder.path(), limit);
            assert!(edits.is_empty());
            for (path, edit) in [
                ("pages/b/x.md", put(1)),
                ("pages/a-b", put(2)),
                ("pages/a/x.md", put(3)),
                ("pages/a", Edit::Remove),
                ("pages/b/x.md", put(4)),
                ("README.md", Edit::Put(id(5), Provenance::Template)),
            ] {
                edits.insert(path, edit).expect("inserted");
            }
            edits.take_back("pages/a-b").expect("taken back");
            edits.take_back("never/said").expect("taken back");
            let expected = [
                ("README.md", Edit::Put(id(5), Provenance::Template)),
                ("pages/a", Edit::Remove),
                ("pages/a/x.md", put(3)),
                ("pages/b/x.md", put(4)),
            ];
            let expected = expected.map(|(path, edit)| (path.to_owned(), edit));
            assert_eq!(all(&mut edits), expected, "limit {limit}");
            edits.insert("pages/a-b", put(6)).expect("said again");
            assert_eq!(all(&mut edits).len(), 5, "limit {limit}");
        }
        assert_eq!(std::fs::read_dir(folder.path()).expect("a folder").count(), 0);
    }

    #[test]
    fn a_directory_comes_directly_before_what_is_in_it() {
        let folder = tempfile::tempdir().expect("a folder");
        let mut edits = Edits::with_limit(folder.path(), 2);
        for path in ["a.b", "a/b", "a", "a-b", "a/b/c", "a0"] {
            edits.insert(path, put(1)).expect("inserted");
        }
        let paths: Vec<String> = all(&mut edits).into_iter().map(|(path, _)| path).collect();
        assert_eq!(paths, ["a", "a/b", "a/b/c", "a-b", "a.b", "a0"]);
    }
}
