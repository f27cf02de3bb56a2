//! A tree as it is stored: its entries are found without copying a name.
//!
//! Whatever reads a tree for one of its entries, compares two of them or writes one that
//! differs in a few does it here: a directory of many pages costs one allocation and not one
//! a page.

use std::cmp::Ordering;
use std::collections::BTreeMap;

use gix::objs::tree::{EntryMode, name_order};
use gix::objs::{Find, FindExt, TreeRefIter};

use super::ObjectId;
use super::error::ArchiveError;

/// Length of an id in a tree.
const ID: usize = 20;

/// A tree and where its entries are.
#[derive(Default)]
pub(super) struct StoredTree {
    bytes: Vec<u8>,
    slots: Vec<Slot>,
    /// Whether the entries are not in Git's order, so that none can be found by halving.
    disordered: bool,
}

/// Where an entry is in the bytes of its tree.
struct Slot {
    mode: EntryMode,
    id: ObjectId,
    /// Where the entry begins.
    start: usize,
    /// Where its name begins and ends.
    name: (usize, usize),
}

/// An entry of a tree.
#[derive(Clone, Copy)]
pub(super) struct TreeEntry<'a> {
    pub name: &'a [u8],
    pub mode: EntryMode,
    pub id: ObjectId,
}

impl TreeEntry<'_> {
    /// Git's order of entries: that of the names, a directory's ended by `/`.
    pub fn order(&self, other: &Self) -> Ordering {
        name_order(self.name, self.mode.is_tree(), other.name, other.mode.is_tree())
    }
}

/// What becomes of names in a tree; nothing where an entry is to go.
pub(super) type TreeChanges = BTreeMap<Vec<u8>, Option<(EntryMode, ObjectId)>>;

impl StoredTree {
    /// Reads a tree; `None` is the empty one.
    pub fn read(objects: &impl Find, id: Option<ObjectId>) -> Result<Self, ArchiveError> {
        let Some(id) = id else { return Ok(Self::default()) };
        let failed = || ArchiveError::object(format!("cannot read the tree {id}"));
        let mut bytes = Vec::new();
        objects.find_tree_iter(&id, &mut bytes).map_err(failed())?;
        Self::parse(bytes, id)
    }

    fn parse(bytes: Vec<u8>, id: ObjectId) -> Result<Self, ArchiveError> {
        let failed = || ArchiveError::object(format!("cannot read the tree {id}"));
        let (mut slots, mut start) = (Vec::new(), 0);
        let mut disordered = false;
        let mut last: Option<TreeEntry<'_>> = None;
        for entry in TreeRefIter::from_bytes(&bytes, gix::hash::Kind::Sha1) {
            let entry = entry.map_err(failed())?;
            let name: &[u8] = entry.filename;
            // The name ends before a zero byte and the id.
            let begin = bytes[start..].iter().position(|byte| *byte == b' ').unwrap_or(0);
            let begin = start + begin + 1;
            let (mode, id) = (entry.mode, entry.oid.to_owned());
            slots.push(Slot { mode, id, start, name: (begin, begin + name.len()) });
            start = begin + name.len() + 1 + ID;
            let this = TreeEntry { name, mode, id };
            disordered |= last.is_some_and(|last| last.order(&this).is_ge());
            last = Some(this);
        }
        Ok(Self { bytes, slots, disordered })
    }

    /// How many entries it has.
    pub fn len(&self) -> usize {
        self.slots.len()
    }

    /// Its entries, in its order.
    pub fn entries(&self) -> impl Iterator<Item = TreeEntry<'_>> {
        (0..self.len()).filter_map(|at| self.at(at))
    }

    /// An entry by its number.
    pub fn at(&self, at: usize) -> Option<TreeEntry<'_>> {
        let slot = self.slots.get(at)?;
        let name = &self.bytes[slot.name.0..slot.name.1];
        Some(TreeEntry { name, mode: slot.mode, id: slot.id })
    }

    /// The directory of that name.
    pub fn tree(&self, name: &[u8]) -> Option<ObjectId> {
        self.find(name, NameOf::Tree).map(|entry| entry.id)
    }

    /// The entry of that name that is no directory.
    pub fn file(&self, name: &[u8]) -> Option<ObjectId> {
        self.find(name, NameOf::File).map(|entry| entry.id)
    }

    fn find(&self, name: &[u8], kind: NameOf) -> Option<TreeEntry<'_>> {
        let wanted = kind == NameOf::Tree;
        if self.disordered {
            return self.entries().find(|it| it.name == name && it.mode.is_tree() == wanted);
        }
        let (mut low, mut high) = (0, self.len());
        while low < high {
            let middle = low.midpoint(high);
            let entry = self.at(middle)?;
            match name_order(entry.name, entry.mode.is_tree(), name, wanted) {
                Ordering::Less => low = middle + 1,
                Ordering::Greater => high = middle,
                Ordering::Equal => return Some(entry),
            }
        }
        None
    }

    /// The bytes of the tree that differs from this one by the changes.
    pub fn changed(&self, changes: &TreeChanges) -> Vec<u8> {
        let mut new: Vec<TreeEntry<'_>> = changes
            .iter()
            .filter_map(|(name, change)| {
                let (mode, id) = (*change)?;
                Some(TreeEntry { name, mode, id })
            })
            .collect();
        new.sort_by(TreeEntry::order);
        let mut new = new.into_iter().peekable();
        let mut out = Vec::with_capacity(self.bytes.len() + new.len() * 64);
        for (at, entry) in self.entries().enumerate() {
            while let Some(before) = new.next_if(|it| it.order(&entry).is_lt()) {
                append(&mut out, &before);
            }
            if !changes.contains_key(entry.name) {
                let end = self.slots.get(at + 1).map_or(self.bytes.len(), |next| next.start);
                out.extend_from_slice(&self.bytes[self.slots[at].start..end]);
            }
        }
        new.for_each(|it| append(&mut out, &it));
        out
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum NameOf {
    Tree,
    File,
}

/// Writes an entry (gitformat: mode, a space, the name, a zero byte, the id).
fn append(out: &mut Vec<u8>, entry: &TreeEntry<'_>) {
    out.extend_from_slice(entry.mode.as_bytes(&mut [0; 6]));
    out.push(b' ');
    out.extend_from_slice(entry.name);
    out.push(0);
    out.extend_from_slice(entry.id.as_slice());
}

#[cfg(test)]
mod tests {
    use gix::objs::WriteTo;
    use gix::objs::tree::EntryKind;
    use proptest::prelude::*;

    use super::*;

    /// The tree that gix writes of the same entries.
    fn written(entries: &BTreeMap<Vec<u8>, (EntryMode, ObjectId)>) -> Vec<u8> {
        let entry = |(name, (mode, oid)): (&Vec<u8>, &(EntryMode, ObjectId))| {
            gix::objs::tree::Entry { mode: *mode, filename: name.as_slice().into(), oid: *oid }
        };
        let mut tree = gix::objs::Tree { entries: entries.iter().map(entry).collect() };
        tree.entries.sort();
        let mut bytes = Vec::new();
        tree.write_to(&mut bytes).expect("a tree");
        bytes
    }

    fn read(bytes: Vec<u8>) -> StoredTree {
        StoredTree::parse(bytes, ObjectId::from([1; 20])).expect("a tree")
    }

    fn some_name() -> impl Strategy<Value = Vec<u8>> {
        proptest::collection::vec(proptest::sample::select(b"a-./0\xc3".to_vec()), 1..4)
            .prop_map(|name| name.into_iter().filter(|byte| *byte != b'/').collect::<Vec<u8>>())
            .prop_filter("a name", |name| !name.is_empty())
    }

    fn some_entry() -> impl Strategy<Value = (EntryMode, ObjectId)> {
        (any::<bool>(), any::<u8>()).prop_map(|(is_tree, byte)| {
            let kind = if is_tree { EntryKind::Tree } else { EntryKind::Blob };
            (kind.into(), ObjectId::from([byte; 20]))
        })
    }

    proptest! {
        #[test]
        fn a_changed_tree_is_the_one_that_gix_writes(
            base in proptest::collection::btree_map(some_name(), some_entry(), 0..12),
            changes in proptest::collection::btree_map(
                some_name(), proptest::option::of(some_entry()), 0..6),
        ) {
            let tree = read(written(&base));
            prop_assert_eq!(tree.len(), base.len());
            for (name, (mode, id)) in &base {
                let (file, folder) = (tree.file(name), tree.tree(name));
                prop_assert_eq!(if mode.is_tree() { (folder, file) } else { (file, folder) },
                    (Some(*id), None));
            }
            let mut expected = base.clone();
            for (name, change) in &changes {
                match change {
                    Some(entry) => expected.insert(name.clone(), *entry),
                    None => expected.remove(name),
                };
            }
            prop_assert_eq!(tree.changed(&changes), written(&expected));
        }
    }

    #[test]
    fn entries_out_of_order_are_found() {
        let mut bytes = Vec::new();
        for name in ["b", "a", "c"] {
            let id = ObjectId::from([name.as_bytes()[0]; 20]);
            let entry = TreeEntry { name: name.as_bytes(), mode: EntryKind::Blob.into(), id };
            append(&mut bytes, &entry);
        }
        let tree = read(bytes);
        for name in ["a", "b", "c"] {
            assert_eq!(tree.file(name.as_bytes()), Some(ObjectId::from([name.as_bytes()[0]; 20])));
        }
        assert_eq!(tree.file(b"d"), None);
    }
}
