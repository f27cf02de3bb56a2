//! Shared cases beside the project: used where they are, named where they are not.

use std::path::{Path, PathBuf};

/// A file of the folder of shared cases, which stands beside the project (or where the
/// variable `PAGELOG_SHARED` says). `None`, with a line that says so, where it does not
/// exist.
pub fn shared(name: &str) -> Option<PathBuf> {
    let beside = Path::new(env!("CARGO_MANIFEST_DIR")).join("../shared");
    let folder = std::env::var_os("PAGELOG_SHARED").map_or(beside, PathBuf::from);
    let path = folder.join(name);
    if path.exists() {
        return Some(path);
    }
    println!("the shared cases are not here: {name} was not run");
    None
}
