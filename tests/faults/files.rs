//! `pagelog convert` over a text.

use crate::support::World;

/// What `pagelog convert` prints of a file with that name and text.
#[track_caller]
pub fn convert(name: &str, text: &str, arguments: &[&str]) -> String {
    let world = World::empty();
    world.write(name, text);
    world.pagelog(&[&["convert", name], arguments].concat()).ok()
}

/// The addresses of its links, in their order.
#[track_caller]
pub fn links(name: &str, text: &str, base: &str) -> Vec<String> {
    let printed = convert(name, text, &["--base", base, "--links"]);
    let lines = printed.lines().skip(1).filter_map(|line| line.split('\t').next());
    lines.map(str::to_owned).collect()
}
