//! What the archive and the state tell, as values that print as text and as JSON.

mod basis;
mod changes;
mod explain;
mod history;
mod limits;
mod lookup;
mod manners;
mod mirrors;
mod past;
mod site;
mod status;

pub use basis::{Basis, RunRules};
pub use changes::{ChangeLine, Changes};
pub use explain::{Explanation, Step};
pub use history::{VersionLine, find_versions};
pub use lookup::{Found, LookupError, Wanted, find_pages, paths_of};
pub use manners::{HostManners, Manners, RobotsFile};
pub use mirrors::MirrorStatus;
pub use past::Past;
pub use site::{RobotsLine, SiteLine, VisitLine};
pub use status::{LargestStatus, OpenRun, SiteStatus, SizesStatus, SourceStatus, Status};

use crate::archive::ArchiveError;
use crate::state::StateError;

/// Why a question could not be answered.
#[derive(Debug, thiserror::Error)]
pub enum ReportError {
    /// The archive failed.
    #[error(transparent)]
    Archive(#[from] ArchiveError),
    /// The state failed.
    #[error(transparent)]
    State(#[from] StateError),
    /// The page is not known, or more than one is meant.
    #[error(transparent)]
    Lookup(#[from] LookupError),
}
