//! The bare repository: layout, objects, refs, messages, and what can be read from them.
//!
//! Owns the archive format (`docs/FORMAT.md`) and the directory it stands in. Guarantees:
//! objects enter as whole, flushed packs and never loose; both refs move in one
//! transaction, by compare-and-swap; only trees that changed are written; text of a
//! private source can reach the private ref only, because [`Writer::put`] is the one
//! place where a page enters a tree. Does not know where pages come from.

mod audit;
mod backup;
mod changes;
mod commit;
mod differences;
mod directory;
mod edits;
mod error;
mod fold;
mod guards;
mod history;
mod layout;
mod leak;
mod links;
mod listing;
mod lock;
mod message;
mod moved;
mod outgoing;
mod pack;
mod page;
mod published;
mod purge;
mod reader;
mod refs;
mod sizes;
mod stored_tree;
mod templates;
mod tree;
mod upkeep;
mod writer;

pub use audit::{Audit, Fault, FaultKind, Faults, Watch, ref_fault};
pub use changes::{Change, ChangeKind, changes_of};
pub use commit::NewCommit;
pub use differences::{PageDifference, PageDifferences};
pub use directory::Archive;
pub use error::ArchiveError;
pub use history::{ArchivedRun, Step, Version, Walk, versions};
pub use layout::{FORMAT_VERSION, PRIVATE_REF, PUBLIC_REF, PageEntry, ref_name};
pub use leak::{LeakGuard, Sketch, sketch};
pub use links::{decode_links, encode_links, without_text};
pub use listing::{each_page_file, page_sources};
pub use lock::RunLock;
pub use message::{RunMessage, SourceLine};
pub use moved::{Moved, decode_moved, encode_moved, encode_moved_urls, moved_path};
pub use outgoing::{GoOn, NewObject, Outgoing, OutgoingAudit};
pub use page::{PageFormatError, decode_page, encode_page};
pub use published::Published;
pub use purge::{LinksTo, Notes, Pruned, Rewriting, Takedown, Tombstone};
pub use reader::Snapshot;
pub use refs::{Heads, RefMove};
pub use sizes::{Growth, Largest, Sizes};
pub use templates::{ArchiveFile, DeniedEntry, decode_denied};
pub use upkeep::{Upkeep, UpkeepLock, UpkeepMeans, WaitForUpkeep};
pub use writer::{EncodedPage, Encoder, PageIds, Replaced, Writer};

/// A Git object id (SHA-1).
pub type ObjectId = gix::ObjectId;

/// The bytes of an object id.
#[must_use]
pub fn id_bytes(id: ObjectId) -> [u8; 20] {
    let mut bytes = [0; 20];
    bytes.copy_from_slice(id.as_slice());
    bytes
}
