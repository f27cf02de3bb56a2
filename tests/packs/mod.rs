//! What a run writes into packs does not depend on the machine.

use std::fs;
use std::path::Path;

use crate::support::World;
use crate::support::world::program;

/// Names and bytes of the packs of an archive.
fn packs(archive: &Path) -> Vec<(String, Vec<u8>)> {
    let entries = fs::read_dir(archive.join("objects/pack")).expect("a folder").flatten();
    let packs = entries.filter(|entry| entry.path().extension().is_some_and(|it| it == "pack"));
    let mut packs: Vec<_> = packs
        .map(|entry| {
            let bytes = fs::read(entry.path()).expect("a pack");
            (entry.file_name().to_string_lossy().into_owned(), bytes)
        })
        .collect();
    packs.sort();
    packs
}

#[cfg(target_os = "linux")]
#[test]
fn packs_have_the_same_bytes_whatever_the_number_of_threads() {
    let (world, upstream) = World::with_upstream("true");
    for n in 0..700 {
        let text = format!("# Page {n}\n\n{}\n", "Some words to deflate. ".repeat(n % 40));
        upstream.write(&format!("part{}/page-{n}.md", n % 7), &text);
    }
    upstream.commit();
    let on_one = world.copy();
    // The threads of a run are as many as the processors that it may use.
    let mut command = on_one.other("taskset");
    command.args(["-c", "0", program()]);
    command.args(["--clock", "2026-11-30T02:00:00Z", "run"]);
    let output = command.output().expect("taskset starts");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let on_all = world.copy();
    on_all.run_at("2026-11-30T02:00:00Z");
    let (one, all) = (packs(&on_one.archive()), packs(&on_all.archive()));
    assert_eq!(one.len(), 1);
    assert!(one == all, "the packs differ");
}
