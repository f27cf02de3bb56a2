//! Trees as they are, with all that may stand in them.

use std::collections::{BTreeMap, BTreeSet};

use super::ObjectId;
use super::directory::Archive;
use super::error::ArchiveError;
use super::reader::tree_of;
use super::stored_tree::StoredTree;
use crate::model::SourceId;

/// What an entry of a tree is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Node {
    /// A directory.
    Tree,
    /// A plain file.
    Blob,
    /// Anything else, by its mode.
    Other(u16),
}

/// The entries of a tree by name.
pub(super) type Entries = BTreeMap<Vec<u8>, (Node, ObjectId)>;

/// An entry of a tree, in the order of the tree.
pub(super) struct Listed {
    pub name: Vec<u8>,
    pub node: Node,
    pub id: ObjectId,
}

/// The entries of a tree.
pub(super) fn list(
    repository: &gix::Repository,
    id: ObjectId,
) -> Result<Vec<Listed>, ArchiveError> {
    let tree = StoredTree::read(&repository.objects, Some(id))?;
    let entries = tree.entries().map(|entry| Listed {
        name: entry.name.to_vec(),
        node: match entry.mode.value() {
            0o040_000 => Node::Tree,
            0o100_644 => Node::Blob,
            other => Node::Other(other),
        },
        id: entry.id,
    });
    Ok(entries.collect())
}

/// The same, by name.
pub(super) fn entries(
    repository: &gix::Repository,
    id: Option<ObjectId>,
) -> Result<Entries, ArchiveError> {
    let Some(id) = id else { return Ok(Entries::new()) };
    let listed = list(repository, id)?;
    Ok(listed.into_iter().map(|entry| (entry.name, (entry.node, entry.id))).collect())
}

/// The tree of that name in a tree.
pub(super) fn subtree(
    repository: &gix::Repository,
    id: ObjectId,
    name: &str,
) -> Result<Option<ObjectId>, ArchiveError> {
    let found = list(repository, id)?.into_iter().find(|entry| entry.name == name.as_bytes());
    Ok(found.filter(|entry| entry.node == Node::Tree).map(|entry| entry.id))
}

/// Sources that have pages in a tree.
pub(super) fn sources_in(
    repository: &gix::Repository,
    root: ObjectId,
) -> Result<BTreeSet<SourceId>, ArchiveError> {
    let pages = entries(repository, subtree(repository, root, "pages")?)?;
    let names = pages.keys().filter_map(|name| std::str::from_utf8(name).ok());
    Ok(names.filter_map(|name| SourceId::new(name).ok()).collect())
}

/// Sources that have pages at a commit.
///
/// # Errors
/// The commit or a tree cannot be read.
pub fn page_sources(
    archive: &Archive,
    commit: Option<ObjectId>,
) -> Result<BTreeSet<SourceId>, ArchiveError> {
    let Some(commit) = commit else { return Ok(BTreeSet::new()) };
    let repository = archive.repository();
    sources_in(&repository, tree_of(&repository, commit)?)
}

/// Gives path and id of each file of a source's pages at a commit, in byte order of the paths
/// below the source's folder.
///
/// # Errors
/// A tree cannot be read, or `each` failed.
pub fn each_page_file<E: From<ArchiveError>>(
    archive: &Archive,
    (commit, source): (ObjectId, &SourceId),
    each: &mut impl FnMut(&str, ObjectId) -> Result<(), E>,
) -> Result<(), E> {
    let repository = archive.repository();
    let root = tree_of(&repository, commit)?;
    let Some(pages) = subtree(&repository, root, "pages")? else { return Ok(()) };
    match subtree(&repository, pages, source.as_str())? {
        Some(tree) => files_below(&repository, (tree, ""), each),
        None => Ok(()),
    }
}

fn files_below<E: From<ArchiveError>>(
    repository: &gix::Repository,
    (tree, prefix): (ObjectId, &str),
    each: &mut impl FnMut(&str, ObjectId) -> Result<(), E>,
) -> Result<(), E> {
    for entry in list(repository, tree)? {
        let path = format!("{prefix}{}", String::from_utf8_lossy(&entry.name));
        match entry.node {
            Node::Tree => files_below(repository, (entry.id, &format!("{path}/")), each)?,
            _ => each(&path, entry.id)?,
        }
    }
    Ok(())
}
