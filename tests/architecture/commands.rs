//! Whether a newcomer is told of every command.

use std::fs;

use super::expect_none;
use super::source::project;
use crate::support::World;

#[test]
fn the_readme_names_every_command() {
    let help = World::empty().pagelog(&["--help"]).ok();
    let listed = help.split("Commands:\n").nth(1).expect("a list of commands");
    let names: Vec<&str> = listed
        .lines()
        .take_while(|line| !line.is_empty())
        .filter(|line| line.starts_with("  ") && !line.starts_with("   "))
        .filter_map(|line| line.split_whitespace().next())
        .filter(|name| *name != "help")
        .collect();
    assert!(names.len() >= 15, "the list of commands was not understood: {names:?}");
    let readme = fs::read_to_string(project().join("README.md")).expect("README.md");
    let missing: Vec<String> = names
        .into_iter()
        .filter(|name| !readme.contains(&format!("`pagelog {name}")))
        .map(str::to_owned)
        .collect();
    expect_none(&missing, "README.md names every command as `pagelog …`");
}
