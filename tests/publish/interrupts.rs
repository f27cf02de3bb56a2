//! Publishing is ended in the middle, and goes on where it was.

use std::process::{Command, Stdio};
use std::thread;
use std::time::Duration;

use super::scene::{PUBLIC, Scene};
use super::slices::large;
use crate::support::Outcome;

fn publish(scene: &Scene, script: &str) -> Outcome {
    scene.with_stand_in(script).args(["publish", "--json"]).output().unwrap().into()
}

/// Pushes that an undisturbed publishing makes.
fn undisturbed() -> u32 {
    let scene = large();
    publish(&scene, "real \"$@\"").ok();
    scene.pushes()
}

#[test]
fn what_was_sent_before_a_kill_is_not_sent_again() {
    let all = undisturbed();
    assert!(all >= 5, "{all}");
    for (at, done) in [(1, true), (3, true), (3, false), (all - 1, true)] {
        let scene = large();
        let kill = if done {
            format!("real \"$@\"; code=$?; [ $n = {at} ] && kill -9 $PPID; exit $code")
        } else {
            format!("[ $n = {at} ] && kill -9 $PPID && exit 1; real \"$@\"")
        };
        let ended = publish(&scene, &kill);
        assert_eq!(ended.code, None, "{}", ended.stderr);
        scene.assert_nothing_private("copy.git");
        publish(&scene, "real \"$@\"").ok();
        let again = u32::from(!done);
        assert_eq!(scene.pushes(), all + again, "killed at push {at}");
        scene.assert_mirrored("copy.git");
    }
}

#[test]
fn a_push_whose_end_nobody_heard_is_looked_at() {
    let all = undisturbed();
    let scene = large();
    // The mirror took it, and the connection broke before it could say so.
    let deaf = "real \"$@\"; code=$?\n\
                [ $n = 2 ] && echo 'fatal: the remote end hung up unexpectedly' >&2 && exit 128\n\
                exit $code";
    let told = publish(&scene, deaf).json();
    assert_eq!(told["mirrors"][0]["result"], "published", "{told}");
    assert_eq!(scene.pushes(), all);
    scene.assert_mirrored("copy.git");
}

#[test]
fn an_interrupt_ends_it_and_it_goes_on() {
    let scene = large();
    let mut command = scene.with_stand_in(
        "if [ $n = 3 ]; then touch \"@FOLDER@/waiting\"; sleep 300; fi\nexec git \"$@\"",
    );
    let child = command.arg("publish").stdout(Stdio::piped()).stderr(Stdio::piped()).spawn();
    let child = child.unwrap();
    let marker = scene.world.path().join("waiting");
    while !marker.exists() {
        thread::sleep(Duration::from_millis(20));
    }
    let id = child.id().to_string();
    assert!(Command::new("kill").args(["-INT", &id]).status().unwrap().success());
    let ended: Outcome = child.wait_with_output().unwrap().into();
    let ended = ended.exits(130);
    assert!(ended.stderr.contains("interrupted; publish again to go on"), "{}", ended.stderr);
    assert!(
        ended.stdout.contains("failed after 2 pushes; they are kept there"),
        "{}",
        ended.stdout
    );
    assert_eq!(scene.at("copy.git", PUBLIC), "");
    let told = publish(&scene, "real \"$@\"").json();
    assert_eq!(told["mirrors"][0]["result"], "published");
    scene.assert_mirrored("copy.git");
}

#[test]
fn the_network_is_tried_again_and_a_refusal_is_not() {
    let scene = large();
    let flaky = "if [ $n -le 2 ]; then echo 'fatal: unable to connect to x' >&2; exit 128; fi\n\
                 real \"$@\"";
    publish(&scene, flaky).ok();
    scene.assert_mirrored("copy.git");
    let scene = large();
    let ended = publish(&scene, "echo 'fatal: unable to connect to x' >&2; exit 128").exits(1);
    assert!(ended.stderr.contains("it could not be reached"), "{}", ended.stderr);
    assert_eq!(scene.pushes(), 3);
}
