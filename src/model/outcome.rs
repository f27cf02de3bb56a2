//! What a run learnt about one URL.

use std::fmt;

/// The kind of an outcome; the names are those of the design and of the ledger.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum OutcomeKind {
    /// The page's text or links are new or differ from the archive.
    Changed,
    /// It was read and is what the archive has.
    Same,
    /// The server or the upstream said that nothing changed; it was not read.
    NotModified,
    /// It was left out by choice: not text, not selected, a pointer to something else.
    Skipped,
    /// It no longer exists.
    Gone,
    /// It is now found at another address.
    Moved,
    /// robots.txt forbids it.
    Disallowed,
    /// It was taken down and is never read again.
    Denied,
    /// Its owner asks that it is not archived.
    NoArchive,
    /// Left for a later run: budget or host.
    Deferred,
    /// It could not be read or used; what the archive has stays.
    Failed,
}

impl OutcomeKind {
    const ALL: [(Self, &'static str); 11] = [
        (Self::Changed, "changed"),
        (Self::Same, "same"),
        (Self::NotModified, "not-modified"),
        (Self::Skipped, "skipped"),
        (Self::Gone, "gone"),
        (Self::Moved, "moved"),
        (Self::Disallowed, "disallowed"),
        (Self::Denied, "denied"),
        (Self::NoArchive, "noarchive"),
        (Self::Deferred, "deferred"),
        (Self::Failed, "failed"),
    ];

    /// The name in the ledger and in messages.
    #[must_use]
    pub fn name(self) -> &'static str {
        Self::ALL.iter().find(|(kind, _)| *kind == self).map_or("failed", |(_, name)| name)
    }

    /// The kind of that name.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.iter().find(|(_, n)| *n == name).map(|(kind, _)| *kind)
    }
}

impl fmt::Display for OutcomeKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// An outcome with its reason, a short text for people (empty where the kind says all).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Outcome {
    /// What kind of outcome.
    pub kind: OutcomeKind,
    /// Why; never text of the page.
    pub reason: String,
}

impl Outcome {
    /// An outcome of `kind` for `reason`.
    pub fn new(kind: OutcomeKind, reason: impl Into<String>) -> Self {
        Self { kind, reason: reason.into() }
    }
}

/// Something a person may want to know about how a page was converted. A fault of a page
/// is data: it never stops a run. Holds no text of the page beyond an address or a name.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Note(pub String);
