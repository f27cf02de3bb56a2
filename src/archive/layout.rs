//! Where things stand in the tree of a commit and in the archive's directory.

use crate::model::{SourceId, TreePath, Visibility};

/// Version of the archive format (`archive.toml`, trailer `Format`).
pub const FORMAT_VERSION: u32 = 1;

/// Version of the rules that turn URLs into paths (`archive.toml`).
pub(super) const PATHS_VERSION: u32 = 1;

/// The ref that may be published.
pub const PUBLIC_REF: &str = "refs/heads/main";

/// The ref that never leaves the machine.
pub const PRIVATE_REF: &str = "refs/private/main";

/// The ref that pages of that visibility stand on.
#[must_use]
pub fn ref_name(visibility: Visibility) -> &'static str {
    match visibility {
        Visibility::Public => PUBLIC_REF,
        Visibility::Private => PRIVATE_REF,
    }
}

pub(super) const README: &str = "README.md";
pub(super) const ARCHIVE_TOML: &str = "archive.toml";
pub(super) const GITATTRIBUTES: &str = ".gitattributes";
pub(super) const DENIED: &str = "denied.tsv";
pub(super) const READ_ONCE: &str = "read-once.tsv";
pub(super) const TAKEDOWNS: &str = "TAKEDOWNS.md";

/// Files at the root of a tree; everything else stands in one of [`DIRECTORIES`].
pub(super) const ROOT_FILES: &[&str] =
    &[README, ARCHIVE_TOML, GITATTRIBUTES, DENIED, TAKEDOWNS, READ_ONCE];

/// Directories at the root of a tree.
pub(super) const DIRECTORIES: &[&str] = &["pages", "links", "moved"];

/// Folder of the archive's directory that holds what is not Git's.
pub(super) const OWN_FOLDER: &str = "pagelog";

/// A page's place: its source and its path there.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PageEntry {
    /// The source.
    pub source: SourceId,
    /// The path below the source's folder.
    pub path: TreePath,
}

impl PageEntry {
    /// Full path of the page in the tree.
    #[must_use]
    pub fn page_path(&self) -> String {
        format!("pages/{}/{}", self.source, self.path)
    }

    /// Full path of its links file in the tree.
    #[must_use]
    pub fn links_path(&self) -> String {
        format!("links/{}/{}", self.source, self.path.links())
    }

    /// The place that a full path of a page names; `None` for anything else.
    #[must_use]
    pub fn from_page_path(full: &str) -> Option<Self> {
        let (source, path) = full.strip_prefix("pages/")?.split_once('/')?;
        Some(Self { source: SourceId::new(source).ok()?, path: TreePath::parse(path).ok()? })
    }

    /// The place that a full path of a links file names; `None` for anything else.
    #[must_use]
    pub fn from_links_path(full: &str) -> Option<Self> {
        let (source, path) = full.strip_prefix("links/")?.split_once('/')?;
        let path = format!("{}.md", path.strip_suffix(".tsv")?);
        Some(Self { source: SourceId::new(source).ok()?, path: TreePath::parse(&path).ok()? })
    }
}
