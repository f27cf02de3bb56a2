//! The Git client as a child process, hardened, in one place.
//!
//! Owns every call of the program `git`: transport, checks, upkeep, push. Guarantees that
//! no call reads the system's or the user's configuration, runs a hook, a filter, an
//! external diff or a pager, asks for a credential, touches a submodule, follows a
//! redirect, uses a proxy that was not configured, or speaks a protocol that was not
//! asked for; and that the bot's User-Agent and From go with every HTTP request. Calls to a
//! mirror, and they alone, may ask the user's credential helpers.
//!
//! Reading objects is not done here: that is gix, in `fetch` and `archive`.

mod child;
mod client;
mod credentials;
mod measure;
mod objects;
mod push;
mod roll_up;
mod transport;
mod trouble;
mod upkeep;

pub use child::Interrupt;
pub use client::{Environment, Git, GitError, MINIMUM_VERSION, Network};
pub use objects::ObjectSize;
pub use push::{KnownBy, PushError, PushMode, RefUpdate, Remote};
pub use roll_up::Workshop;
pub use transport::{Fetch, FetchError};
