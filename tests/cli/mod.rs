//! The command line: what each command prints, and how it ends.

mod archives;
mod histories;
mod scene;
