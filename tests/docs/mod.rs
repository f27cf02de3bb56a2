//! The documents say what the program does: their commands are run, their samples read.

mod blocks;
mod format;
mod promises;
mod references;
mod usage;
