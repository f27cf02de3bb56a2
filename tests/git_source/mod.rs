//! Git sources: from upstream commits to dated commits.

mod steps;
