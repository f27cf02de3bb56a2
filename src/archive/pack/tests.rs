//! Indexes of our own beside those that Git makes of the same packs.

use std::fs;
use std::path::Path;
use std::process::Command;

use super::{Deflater, Kind, PackWriter, object_id};

/// More than the 2^31 bytes from which on offsets stand in a table of their own.
const BLOBS: usize = 34;
const BLOB: usize = 64 << 20;

fn git(folder: &Path, arguments: &[&str]) {
    let mut command = Command::new("git");
    command.current_dir(folder).args(arguments);
    for name in ["GIT_CONFIG_GLOBAL", "GIT_CONFIG_SYSTEM"] {
        command.env(name, "/dev/null");
    }
    let output = command.output().expect("git starts");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}

/// A pack of blobs that are stored and not deflated, beside the index that Git makes of it.
fn assert_as_git_indexes(blobs: usize, size: usize) {
    let folder = tempfile::tempdir().expect("a folder");
    git(folder.path(), &["init", "-q", "--bare", "."]);
    let packs = folder.path().join("objects/pack");
    let mut writer = PackWriter::new(&packs).expect("a pack is begun");
    let stored = libdeflater::CompressionLvl::new(0).expect("a level");
    let mut deflater = Deflater(libdeflater::Compressor::new(stored));
    let mut bytes = vec![0; size];
    for n in 0..blobs {
        bytes[..8].copy_from_slice(&n.to_le_bytes());
        let id = object_id(Kind::Blob, &bytes).expect("it is hashed");
        writer.append(&deflater.pack(Kind::Blob, id, &bytes)).expect("it is written");
    }
    let pack = writer.finish().expect("the pack is written").expect("it has objects");
    let text = pack.to_string_lossy();
    git(folder.path(), &["index-pack", "--strict", "--no-rev-index", "-o", "theirs.idx", &text]);
    let ours = fs::read(pack.with_extension("idx")).expect("our index");
    let theirs = fs::read(folder.path().join("theirs.idx")).expect("their index");
    assert!(ours == theirs, "{blobs} blobs of {size} bytes are indexed differently");
}

#[test]
fn an_index_is_the_one_that_git_makes() {
    assert_as_git_indexes(1, 8);
    assert_as_git_indexes(300, 2000);
}

#[test]
fn a_pack_may_be_larger_than_two_gigabytes() {
    assert_as_git_indexes(BLOBS, BLOB);
}
