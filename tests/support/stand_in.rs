//! A script that takes the place of `git`.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::process::Command;

use super::World;

/// A run whose `git` is that shell script, in which `@FOLDER@` is the world's folder and
/// `git` the real one.
pub fn command(world: &World, clock: &str, script: &str) -> Command {
    let path = std::env::var("PATH").expect("a path");
    let programs = world.path().join("programs");
    fs::create_dir_all(&programs).expect("a folder");
    let script = script.replace("@FOLDER@", &world.path().display().to_string());
    let git = programs.join("git");
    fs::write(&git, format!("#!/bin/sh\nPATH=\"{path}\"\nexport PATH\n{script}"))
        .expect("a stand-in");
    fs::set_permissions(&git, fs::Permissions::from_mode(0o755)).expect("made executable");
    let mut command = world.command(clock);
    command.arg("run").env("PATH", format!("{}:{path}", programs.display()));
    command
}
