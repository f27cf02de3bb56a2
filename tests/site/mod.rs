//! Runs over sites: what is asked, what is kept, what changes, and what leaves.

mod budget;
mod changes;
mod connections;
mod forbidden;
mod hosts;
mod kept;
mod kills;
mod lastmod;
mod leaving;
mod nginx;
mod redirects;
pub mod scene;
mod unreachable;
