//! Git sources: from upstream commits to dated commits.

mod conduct;
mod mishaps;
mod names;
mod placement;
mod selection;
mod shared_cases;
mod steps;
mod texts;
mod transport;
