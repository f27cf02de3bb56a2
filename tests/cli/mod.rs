//! The command line: what each command prints, and how it ends.

mod archives;
mod explanations;
mod histories;
mod scene;
