//! Takedowns: what is gone afterwards, what stays as it was, and takedowns that are killed.

mod kills;
mod mirrors;
mod pages;
mod refused;
mod scene;
mod sites;
mod sources;
