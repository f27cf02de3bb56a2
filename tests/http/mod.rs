//! The HTTP client against scripted servers: what is sent, who is contacted, what counts as
//! a response.

mod addresses;
mod bodies;
mod mishaps;
mod nginx;
mod requests;
pub mod scene;
mod secure;
