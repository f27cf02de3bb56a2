//! The rules of the house, read off the sources: who may use whom, what only one module
//! does, how long things may get, whether every test runs, and which licences come in.
//!
//! `docs/ARCHITECTURE.md` explains the rules; each failure here says its reason.

mod commands;
mod conduct;
mod imports;
mod licences;
mod listing;
mod sizes;
mod source;

/// Fails with all findings, each on a line of its own.
#[track_caller]
fn expect_none(findings: &[String], reason: &str) {
    assert!(findings.is_empty(), "{reason}:\n  {}", findings.join("\n  "));
}
