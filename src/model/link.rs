//! Links from a page to absolute URLs.

use super::{PageUrl, Refusal};

/// A directed edge from a page to a canonical absolute URL.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Link {
    /// Where it leads, without fragment.
    pub to: PageUrl,
    /// Anchor text on one line: runs of white space are one space.
    pub text: String,
    /// The `rel` tokens that matter, sorted, separated by one space; often empty.
    pub rel: String,
}

/// Something that references are relative to: a page, or a file of a repository.
pub trait Resolve {
    /// The canonical URL that `href`, as found in the text, leads to.
    ///
    /// # Errors
    /// The reference leads to nothing that can be archived, with the reason.
    fn resolve(&self, href: &str) -> Result<PageUrl, Refusal>;
}

impl Resolve for PageUrl {
    fn resolve(&self, href: &str) -> Result<PageUrl, Refusal> {
        self.join(href)
    }
}
