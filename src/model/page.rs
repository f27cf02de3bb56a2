//! One document of a source.

use std::fmt;

use super::{PageUrl, SourceId, Timestamp};

/// The form a page was read in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Representation {
    /// Markdown offered by a web site.
    Markdown,
    /// An HTML page.
    Html,
    /// A PDF document.
    Pdf,
    /// An entry of a feed.
    Feed,
    /// Markdown from a Git repository.
    Git,
    /// Other text, kept as it is.
    Text,
}

impl Representation {
    const ALL: [(Self, &'static str); 6] = [
        (Self::Markdown, "markdown"),
        (Self::Html, "html"),
        (Self::Pdf, "pdf"),
        (Self::Feed, "feed"),
        (Self::Git, "git"),
        (Self::Text, "text"),
    ];

    /// The name in a page's front matter.
    #[must_use]
    pub fn name(self) -> &'static str {
        Self::ALL.iter().find(|(it, _)| *it == self).map_or("text", |(_, name)| name)
    }

    /// The representation of that name.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.iter().find(|(_, n)| *n == name).map(|(it, _)| *it)
    }
}

impl fmt::Display for Representation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// Where a page from a Git repository was read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GitOrigin {
    /// Address of the repository as it may be shown.
    pub repository: String,
    /// Path of the file in it, `/`-separated; bytes that are not UTF-8 are replaced.
    pub file: String,
    /// Upstream commit (hex) at which this text was first read.
    pub commit: String,
}

/// A page as it stands in the archive.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Page {
    /// Canonical URL.
    pub url: PageUrl,
    /// Title on one line.
    pub title: String,
    /// The source it was read under.
    pub source: SourceId,
    /// Licence of the source, an SPDX expression.
    pub licence: String,
    /// When this text was first read.
    pub retrieved: Timestamp,
    /// The form it was read in.
    pub representation: Representation,
    /// Set for pages of Git repositories only.
    pub git: Option<GitOrigin>,
    /// Front matter of the original that is not noise, as canonical YAML lines without
    /// indentation, each ended by a newline; or, where it could not be read, the whole of it
    /// as one double-quoted scalar on one line; empty where there is none.
    pub upstream: String,
    /// The Markdown (or text): LF, one newline at the end, or empty.
    pub body: String,
}

impl Page {
    /// Whether the front matter of the original is kept whole, as one quoted scalar. A
    /// mapping may begin with a quoted key, but is never a quoted scalar to its end.
    #[must_use]
    pub fn upstream_is_whole(&self) -> bool {
        let line = self.upstream.strip_suffix('\n').unwrap_or(&self.upstream);
        line.starts_with('"') && super::yaml::parse_scalar(line).is_some()
    }

    /// Whether both hold the same text: then it was first read when the older of them was.
    #[must_use]
    pub fn same_text(&self, other: &Self) -> bool {
        self.title == other.title
            && self.representation == other.representation
            && self.upstream == other.upstream
            && self.body == other.body
    }

    /// Takes over from `older`, which holds the same text, when that text was first read.
    #[must_use]
    pub fn first_read_as(mut self, older: &Self) -> Self {
        self.retrieved = older.retrieved;
        if let (Some(git), Some(old)) = (&mut self.git, &older.git) {
            git.commit.clone_from(&old.commit);
        }
        self
    }
}
