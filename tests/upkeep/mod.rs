//! Upkeep as its users meet it: few packs, whatever was run, and nobody is disturbed.

mod others;
mod readers;
mod runs;
