//! What was retrieved, without its body.

use super::{MediaType, PageUrl, Timestamp};

/// One retrieved resource. Its body is kept apart, since most of what is asked about a
/// capture needs none.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Capture {
    /// The URL that was asked for first.
    pub requested: PageUrl,
    /// The URL that answered, after redirects; the same where there were none.
    pub found: PageUrl,
    /// Status code of that answer.
    pub status: u16,
    /// What the server called it; `None` where it said nothing that can be read.
    pub media_type: Option<MediaType>,
    /// What to ask with the next time.
    pub validators: Validators,
    /// When the answer began.
    pub time: Timestamp,
}

/// Validators of a representation (RFC 9110, section 8.8), as opaque as they came: octets
/// become the characters of the same numbers (ISO 8859-1), and these go back as octets.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Validators {
    /// The `ETag` with its quotes and `W/`.
    pub etag: Option<String>,
    /// The Last-Modified date as text.
    pub last_modified: Option<String>,
}

impl Validators {
    /// Whether there is nothing to ask with.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.etag.is_none() && self.last_modified.is_none()
    }
}
