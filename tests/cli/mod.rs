//! The command line: what each command prints, and how it ends.

mod addresses;
mod archives;
mod configuration;
mod conversions;
mod ends;
mod explanations;
mod histories;
mod manners;
mod mistakes;
mod outputs;
mod pasts;
mod probes;
mod questions;
mod scene;
mod sites;
