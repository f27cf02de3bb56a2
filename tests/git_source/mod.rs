//! Git sources: from upstream commits to dated commits.

mod mishaps;
mod steps;
mod transport;
