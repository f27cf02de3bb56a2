//! The README's sample configuration parses, and its commands succeed in their order.

use std::path::Path;
use std::process::{Command, Stdio};

use super::blocks::{blocks, document};
use crate::support::hosts::Hosts;
use crate::support::script::{Reply, Script};
use crate::support::world::{START, isolate, program};
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
    for sample in &samples {
        let parsed = pagelog::config::parse("README.md", sample, Path::new("/anywhere"));
        let config = parsed.unwrap_or_else(|errors| panic!("{}", errors.lines().join("\n")));
        assert_eq!(config.sources.len(), 1);
    }
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

/// The host that the README's sample of a site reads.
const SAMPLE_HOST: &str = "handbook.example.org";

#[test]
fn the_site_of_the_readme_is_probed_and_read() {
    let sample = blocks(&document("README.md"), "toml")
        .into_iter()
        .find(|sample| sample.contains(SAMPLE_HOST))
        .expect("the sample of a site");
    let at = |path: &str| format!("https://{SAMPLE_HOST}{path}");
    let listed = ["/en/use", "/en/archive/old", "/en/use?print=1", "/fr/use"].map(at);
    let page = |minutes: u32| {
        Reply::html(format!(
            "<title>Use</title><main><article><h1>Use</h1><p>Read in {minutes} minutes</p>\
             <p>How it is used.</p></article></main>"
        ))
    };
    let script = Script::new()
        .on(SAMPLE_HOST, "/robots.txt", Reply::robots("User-agent: *\nDisallow: /admin/\n"))
        .on(SAMPLE_HOST, "/sitemap.xml", Reply::sitemap(&listed))
        .with(SAMPLE_HOST, "/en/use", &[page(3), page(4)]);
    let hosts = Hosts::new(script);
    let world = World::empty();
    world.write("sources.toml", &sample.replace("\"2s\"", "\"10ms\""));
    let pagelog = |arguments: &[&str]| {
        let mut command = world.command(START);
        command.args(arguments).args(hosts.arguments());
        Outcome::from(command.output().expect("pagelog starts")).exits(0)
    };
    let told = pagelog(&["check", "--probe"]).stdout;
    assert!(told.contains("lists 4 addresses; a run would read 1 of them\n"), "{told}");
    assert!(told.contains("200 with other bytes and the same text\n"), "{told}");
    pagelog(&["run"]);
    let page = world.file("HEAD", &format!("pages/handbook/{SAMPLE_HOST}/en/use.md"));
    assert!(page.ends_with("# Use\n\nHow it is used.\n"), "{page}");
    world.assert_sound();
}
