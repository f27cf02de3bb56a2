//! The nouns: plain values with checked constructors and no setters.
//!
//! Nothing here reads a file, opens a connection, asks the clock or knows where it will
//! be stored. Everything else in the crate speaks in these words.

mod address;
mod bot;
mod capture;
mod connect;
mod fingerprint;
mod link;
mod media;
mod outcome;
mod page;
mod path;
mod pattern;
mod policy;
mod printable;
mod remote;
mod repository;
mod request;
mod run;
mod source;
mod stated;
mod time;
mod url;
mod visit;
pub mod yaml;

pub use address::is_global_address;
pub use bot::Bot;
pub use capture::{Capture, Validators};
pub use connect::{ConnectTo, InvalidConnectTo, host_key, split_port};
pub use fingerprint::fingerprint;
pub use link::{Link, Resolve};
pub use media::MediaType;
pub use outcome::{Note, Outcome, OutcomeKind};
pub use page::{GitOrigin, Page, Representation};
pub(crate) use path::is_safe_component;
pub use path::{CaseRule, PathError, TreePath};
pub use pattern::{matches_pattern, pattern_start};
pub use policy::{
    Bulk, Limit, LimitScope, Policy, PolicyKind, PolicyName, Quota, Slow, UrlPattern,
};
pub use printable::printable;
pub use remote::{RemoteError, RemoteUrl, redacted};
pub use repository::{Repository, RepositoryError, RepositoryFile, UrlMapping};
pub use request::RequestKind;
pub use run::{Counts, RunId, RunKind, Tips, UpstreamHead};
pub use source::{
    Feed, GitSource, InvalidSourceId, MarkdownChoice, RobotsRemoved, Site, Source, SourceId,
    SourceKind, Visibility, Volatile,
};
pub use stated::{Record, Spread, Stated};
pub use time::{InvalidTime, Timestamp};
pub use url::{PageUrl, Refusal};
pub use visit::{Known, Move, UrlId, UrlKind, Visit};
