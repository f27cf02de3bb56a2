//! What of the snapshot of an upstream is looked at: the paths that differ from the commit
//! that is archived, or all of them, one after the other.

use crate::fetch::{FileKind, Upstream, UpstreamChange, UpstreamError};

/// Paths to look at, once each.
pub(super) struct Changes {
    list: Box<dyn Iterator<Item = Result<UpstreamChange, UpstreamError>>>,
    /// Of how many of them a page is to be made.
    pub documents: usize,
    /// Whether they are all paths of the snapshot.
    pub everything: bool,
}

impl Changes {
    /// The paths that differ between two commits: first those that are gone, since a page
    /// may come to a place that another one leaves; `is_document` tells which are selected.
    ///
    /// # Errors
    /// A commit or directory cannot be read.
    pub fn between(
        upstream: &Upstream,
        (old, new): (&str, &str),
        is_document: impl Fn(&[u8]) -> bool,
    ) -> Result<Self, UpstreamError> {
        let mut list = upstream.changes(old, new)?;
        list.sort_by_key(|change| change.now.is_some());
        let documents = list.iter().filter(|change| counts(change, &is_document)).count();
        let list = Box::new(list.into_iter().map(Ok));
        Ok(Self { list, documents, everything: false })
    }

    /// All paths of a commit. They are walked through once before, so that a snapshot that
    /// cannot be read is known before anything is made of it.
    ///
    /// # Errors
    /// The commit or a directory cannot be read.
    pub fn all(
        upstream: &Upstream,
        commit: &str,
        is_document: impl Fn(&[u8]) -> bool,
    ) -> Result<Self, UpstreamError> {
        let mut documents = 0;
        for file in upstream.files(commit)? {
            documents += usize::from(counts(&file?, &is_document));
        }
        let list = Box::new(upstream.files(commit)?);
        Ok(Self { list, documents, everything: true })
    }
}

/// Whether a page is to be made of what stands at a path now.
fn counts(change: &UpstreamChange, is_document: &impl Fn(&[u8]) -> bool) -> bool {
    matches!(change.now, Some((FileKind::File, _))) && is_document(&change.path)
}

impl Iterator for Changes {
    type Item = Result<UpstreamChange, UpstreamError>;

    fn next(&mut self) -> Option<Self::Item> {
        self.list.next()
    }
}
