//! What an audit finds: one fault of each kind, made by hand in a sound archive, and what of
//! it is repaired.

mod commits;
mod directory;
mod forge;
mod history;
mod mirror;
mod repairs;
mod sizes;
mod state;
mod tips;
