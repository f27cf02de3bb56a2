//! The files of one tip, page by page with its links.

use std::collections::BTreeSet;

use super::{Audit, Fault, FaultKind};
use crate::archive::layout::PageEntry;
use crate::archive::listing::{Entries, Node, entries, subtree};
use crate::archive::reader::tree_of;
use crate::archive::{ArchiveError, ObjectId};
use crate::model::{SourceId, Visibility};

/// A file of a tip.
pub(super) enum File {
    Page(PageEntry, ObjectId),
    Links(PageEntry, ObjectId),
    /// Anything else, by its path.
    Other(String, ObjectId),
}

/// A tip that is gone over.
pub(super) struct Tip<'a> {
    pub audit: &'a Audit<'a>,
    pub repository: gix::Repository,
    pub visibility: Visibility,
}

impl Tip<'_> {
    /// Gives every file of the format, and adds a fault for each page without links file and
    /// each links file without page. One directory is held at a time, and those above it.
    pub fn each(&self, commit: ObjectId, give: &mut dyn FnMut(File)) -> Result<(), ArchiveError> {
        let root = tree_of(&self.repository, commit)?;
        for (name, (node, id)) in entries(&self.repository, Some(root))? {
            if node == Node::Blob {
                give(File::Other(String::from_utf8_lossy(&name).into_owned(), id));
            }
        }
        let moved = subtree(&self.repository, root, "moved")?;
        for (name, (node, id)) in entries(&self.repository, moved)? {
            if node == Node::Blob {
                give(File::Other(format!("moved/{}", String::from_utf8_lossy(&name)), id));
            }
        }
        let pages = entries(&self.repository, subtree(&self.repository, root, "pages")?)?;
        let links = entries(&self.repository, subtree(&self.repository, root, "links")?)?;
        let names: BTreeSet<&Vec<u8>> = pages.keys().chain(links.keys()).collect();
        for name in names {
            let source = std::str::from_utf8(name).ok().and_then(|name| SourceId::new(name).ok());
            let Some(source) = source else { continue };
            let both = [tree(&pages, name), tree(&links, name)];
            self.directory(&source, both, "", give);
        }
        Ok(())
    }

    fn directory(
        &self,
        source: &SourceId,
        trees: [Option<ObjectId>; 2],
        prefix: &str,
        give: &mut dyn FnMut(File),
    ) {
        let [pages, links] = match trees.map(|tree| entries(&self.repository, tree)) {
            [Ok(pages), Ok(links)] => [pages, links],
            [Err(error), _] | [_, Err(error)] => {
                return self.audit.add_unreadable(&format!("{source}/{prefix}"), &error);
            }
        };
        let names: BTreeSet<&Vec<u8>> = pages.keys().chain(links.keys()).collect();
        for name in names {
            let text = String::from_utf8_lossy(name);
            let both = [tree(&pages, name), tree(&links, name)];
            if both.iter().any(Option::is_some) {
                self.directory(source, both, &format!("{prefix}{text}/"), give);
            }
            let page = format!("pages/{source}/{prefix}{text}");
            if let Some(id) = blob(&pages, name)
                && let Some(entry) = PageEntry::from_page_path(&page)
            {
                let beside = ending(name, b".md", b".tsv").and_then(|name| blob(&links, &name));
                if beside.is_none() {
                    let what = "its links file is missing";
                    self.audit.add(Fault::new(FaultKind::Links, &page, what));
                }
                give(File::Page(entry, id));
            }
            let path = format!("links/{source}/{prefix}{text}");
            if let Some(id) = blob(&links, name)
                && let Some(entry) = PageEntry::from_links_path(&path)
            {
                let beside = ending(name, b".tsv", b".md").and_then(|name| blob(&pages, &name));
                if beside.is_none() && !self.is_elsewhere(source) {
                    let what = "its page is missing";
                    self.audit.add(Fault::new(FaultKind::Links, &path, what));
                }
                give(File::Links(entry, id));
            }
        }
    }

    /// Whether the pages of a source stand on the other ref than their public links.
    fn is_elsewhere(&self, source: &SourceId) -> bool {
        self.visibility == Visibility::Public && self.audit.private.contains(source)
    }
}

fn tree(entries: &Entries, name: &[u8]) -> Option<ObjectId> {
    entries.get(name).filter(|(node, _)| *node == Node::Tree).map(|(_, id)| *id)
}

fn blob(entries: &Entries, name: &[u8]) -> Option<ObjectId> {
    entries.get(name).filter(|(node, _)| *node == Node::Blob).map(|(_, id)| *id)
}

/// A name with another ending.
fn ending(name: &[u8], old: &[u8], new: &[u8]) -> Option<Vec<u8>> {
    name.strip_suffix(old).map(|stem| [stem, new].concat())
}
