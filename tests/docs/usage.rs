//! The README's sample configuration parses, and its commands succeed in their order.

use std::path::Path;
use std::process::{Command, Stdio};

use super::blocks::{blocks, document};
use crate::support::world::{isolate, program};
use crate::support::{Outcome, Upstream, World};

/// The repository that the README's sample reads.
const SAMPLE_REPOSITORY: &str = "https://git.example.org/docs/guide.git";

/// A command line as a person types it: through the shell, with the program on the path.
fn shell(world: &World, line: &str) -> Outcome {
    let folder = Path::new(program()).parent().expect("a folder");
    let path = std::env::var_os("PATH").unwrap_or_default();
    let mut all = vec![folder.to_owned()];
    all.extend(std::env::split_paths(&path));
    let mut command = Command::new("sh");
    command.current_dir(world.path()).stdin(Stdio::null());
    isolate(&mut command, world.path());
    command.env("PATH", std::env::join_paths(all).expect("a path")).args(["-c", line]);
    command.output().expect("sh starts").into()
}

fn guide(world: &World) -> Upstream {
    let guide = world.upstream("guide");
    guide.write("articles/install.md", "# Install\n\nSee [use](use.md).\n");
    guide.write("articles/use.md", "---\ntitle: Use\nms.date: 2026-11-30\n---\n\nText.\n");
    guide.write("articles/archive/old.md", "# Old\n").write("README.md", "# Guide\n");
    guide.commit();
    guide
}

#[test]
fn the_samples_of_the_readme_parse() {
    let samples = blocks(&document("README.md"), "toml");
    assert!(!samples.is_empty());
    let parsed = pagelog::config::parse("README.md", &samples[0], Path::new("/anywhere"));
    let config = parsed.unwrap_or_else(|errors| panic!("{}", errors.lines().join("\n")));
    assert_eq!(config.sources.len(), 1);
    assert!(samples[0].contains(SAMPLE_REPOSITORY));
}

#[test]
fn the_commands_of_the_readme_do_what_it_says() {
    let readme = document("README.md");
    let world = World::empty();
    let guide = guide(&world);
    let sample = blocks(&readme, "toml")[0].replace(SAMPLE_REPOSITORY, "./guide.git");
    let mut ran = 0;
    for line in blocks(&readme, "console").iter().flat_map(|block| block.lines()) {
        let Some(command) = line.strip_prefix("$ ") else { continue };
        if command.starts_with("$EDITOR ") {
            world.write("sources.toml", &sample);
            continue;
        }
        let outcome = shell(&world, command);
        assert_eq!(outcome.code, Some(0), "{command}\n{}\n{}", outcome.stdout, outcome.stderr);
        if command.starts_with("pagelog run") {
            // What is looked at next has something to show.
            guide.write("articles/use.md", format!("# Use\n\nVersion {ran}.\n")).commit();
        }
        ran += 1;
    }
    assert!(ran >= 12, "only {ran} commands were found in README.md");
    world.assert_sound();
}
