//! Who we are is told by Git's own helpers, to mirrors alone, and never shown.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::process::Command;

use super::scene::{PUBLIC, Scene, mirror};
use crate::support::Outcome;
use crate::support::server::Web;
use crate::support::world::START;

/// `bob:hunter2`, as HTTP says it.
const BASIC: &str = "Basic Ym9iOmh1bnRlcjI=";

const HELPER: &str = "[credential \"http://127.0.0.1\"]\n\tusername = bob\n\
    [credential]\n\thelper = \"!f() { echo username=bob; echo password=hunter2; }; f\"\n\
    [url \"http://127.0.0.1:9/\"]\n\tpushInsteadOf = http://\n";

fn web() -> (Scene, Web, String) {
    let scene = Scene::before_a_run("");
    let web = Web::serving_git_to(scene.world.path(), BASIC);
    let copy = scene.repository("copy.git");
    scene.world.git_in(&copy, &["config", "http.receivepack", "true"]).ok();
    let url = format!("http://127.0.0.1:{}/copy.git", web.port());
    scene.configure(&mirror("copy", &url));
    scene.world.run();
    (scene, web, url)
}

/// The program with settings of the user.
fn pagelog(scene: &Scene, settings: &str) -> Command {
    scene.world.write("gitconfig", settings);
    let mut command = scene.world.command(START);
    command.env("GIT_CONFIG_GLOBAL", scene.world.path().join("gitconfig"));
    command
}

#[test]
fn a_helper_of_the_user_is_asked() {
    let (scene, web, _) = web();
    let mut command = pagelog(&scene, HELPER);
    let told: Outcome =
        command.args(["publish", "-vv", "--log-format", "json"]).output().unwrap().into();
    let told = told.exits(0);
    scene.assert_mirrored("copy.git");
    let requests = web.requests();
    assert!(requests.iter().any(|r| r.headers.get("authorization").is_some_and(|a| a == BASIC)));
    for text in [&told.stdout, &told.stderr] {
        assert!(!text.contains("hunter2") && !text.contains("Ym9iOmh1bnRlcjI"), "{text}");
    }
    let grep = scene.world.other("grep").args(["-r", "hunter2", "archive"]).output().unwrap();
    assert_eq!(grep.status.code(), Some(1), "{}", String::from_utf8_lossy(&grep.stdout));
}

#[test]
fn without_a_helper_it_is_told_what_to_do() {
    let (scene, _web, url) = web();
    let told: Outcome = pagelog(&scene, "").arg("publish").output().unwrap().into();
    let told = told.exits(1);
    assert!(told.stderr.contains("credential.helper"), "{}", told.stderr);
    assert!(told.stdout.contains(&url), "{}", told.stdout);
    let wrong = HELPER.replace("hunter2", "hunter3");
    let told: Outcome = pagelog(&scene, &wrong).arg("publish").output().unwrap().into();
    let told = told.exits(1);
    assert!(!told.stderr.contains("hunter3"), "{}", told.stderr);
    assert_eq!(scene.at("copy.git", PUBLIC), "");
}

#[test]
fn no_source_is_ever_told_who_we_are() {
    let scene = Scene::before_a_run("");
    let web = Web::serving_git_to(scene.world.path(), BASIC);
    let address = format!("http://127.0.0.1:{}/open.git", web.port());
    scene.world.configure(&crate::support::world::git_source("open", "true", &[&address]));
    let told: Outcome = pagelog(&scene, HELPER).arg("run").output().unwrap().into();
    told.exits(3);
    assert!(web.requests().iter().all(|r| !r.headers.contains_key("authorization")));
}

#[test]
fn ssh_is_spoken_to_a_short_address() {
    let scene = Scene::before_a_run("");
    let copy = scene.repository("copy.git");
    let divert = "[network]\nconnect_to = [\"git.example.org:22:127.0.0.1:22\"]\n";
    let url = format!("git@git.example.org:{}", copy.display());
    scene.configure(&(divert.to_owned() + &mirror("copy", &url)));
    scene.world.run();
    // A stand-in for ssh that has no need of a network.
    let programs = scene.world.path().join("programs");
    fs::create_dir_all(&programs).unwrap();
    let ssh = programs.join("ssh");
    let script = format!(
        "#!/bin/sh\necho \"$@\" >> {}/ssh-calls\nfor last; do :; done\nexec sh -c \"$last\"\n",
        scene.world.path().display()
    );
    fs::write(&ssh, script).unwrap();
    fs::set_permissions(&ssh, fs::Permissions::from_mode(0o755)).unwrap();
    let path = format!("{}:{}", programs.display(), std::env::var("PATH").unwrap());
    let mut command = scene.world.command(START);
    let told: Outcome = command.env("PATH", path).arg("publish").output().unwrap().into();
    let told = told.exits(0);
    assert!(told.stdout.contains("ssh://git@git.example.org/"), "{}", told.stdout);
    scene.assert_mirrored("copy.git");
    let calls = fs::read_to_string(scene.world.path().join("ssh-calls")).unwrap();
    assert!(calls.contains("BatchMode=yes") && calls.contains("StrictHostKeyChecking=yes"));
}

#[test]
fn an_address_with_a_secret_is_refused_without_showing_it() {
    let scene = Scene::before_a_run("");
    for url in ["https://bob:hunter2@git.example.org/a.git", "https://hunter2@git.example.org/a"] {
        scene.configure(&mirror("copy", url));
        for (arguments, code) in
            [(["publish"].as_slice(), 2), (&["check"], 1), (&["publish", "--color", "always"], 2)]
        {
            let told = scene.world.pagelog(arguments).exits(code);
            assert!(told.stderr.contains("credential.helper"), "{}", told.stderr);
            assert!(!told.stderr.contains("hunter2"), "{}", told.stderr);
        }
    }
}

#[test]
fn the_archives_own_settings_change_nothing() {
    let scene = Scene::new(&mirror("copy", "./copy.git"));
    let copy = scene.repository("copy.git");
    let archive = |arguments: &[&str]| scene.world.git(&[&["config"], arguments].concat()).ok();
    let address = format!("file://{}", copy.display());
    archive(&[
        "url.file:///nowhere/.pushInsteadOf",
        &format!("file://{}/", scene.world.path().display()),
    ]);
    archive(&["push.followTags", "true"]);
    archive(&["remote.copy.url", &address]);
    archive(&["remote.copy.mirror", "true"]);
    scene.world.git(&["tag", "oops", super::scene::PRIVATE]).ok();
    scene.world.pagelog(&["publish"]).ok();
    scene.world.git(&["tag", "-d", "oops"]).ok();
    scene.assert_mirrored("copy.git");
}
