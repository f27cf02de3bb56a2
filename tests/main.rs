//! All integration tests, in one binary: a folder an area.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a test fails by panicking, its helpers too"
)]

mod architecture;
mod audit;
mod cli;
mod crash;
mod docs;
mod faults;
mod format;
mod git_source;
mod http;
mod leak;
mod packs;
mod paths;
mod publish;
mod purge;
mod rust_docs;
mod score;
mod site;
mod support;
mod upkeep;
