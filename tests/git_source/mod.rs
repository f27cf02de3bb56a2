//! Git sources: from upstream commits to dated commits.

mod mishaps;
mod placement;
mod steps;
mod transport;
