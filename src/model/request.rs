//! What a request is made for.

/// What a request is made for, as the measured conduct tells them apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum RequestKind {
    /// robots.txt.
    Robots,
    /// A sitemap or an index of sitemaps.
    Sitemap,
    /// A feed.
    Feed,
    /// A page.
    Page,
    /// A document such as a PDF file.
    Document,
    /// An update of a Git repository.
    Git,
}

impl RequestKind {
    const ALL: [(Self, &'static str); 6] = [
        (Self::Robots, "robots"),
        (Self::Sitemap, "sitemap"),
        (Self::Feed, "feed"),
        (Self::Page, "page"),
        (Self::Document, "document"),
        (Self::Git, "git"),
    ];

    /// The name in the state and in reports.
    #[must_use]
    pub fn name(self) -> &'static str {
        Self::ALL.iter().find(|(kind, _)| *kind == self).map_or("page", |(_, name)| name)
    }

    /// The kind of that name.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.iter().find(|(_, own)| *own == name).map(|(kind, _)| *kind)
    }
}
