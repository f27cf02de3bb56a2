//! Caches of upstreams after a run was killed: a fetch that goes on without its run, and a
//! cache that is none yet.

use std::fs;
use std::process::Stdio;
use std::thread;
use std::time::Duration;

use super::scene::Scene;
use crate::support::World;
use crate::support::stand_in;

/// The first fetch takes its time; beginnings and ends are written down.
const SLOW: &str = r#"
case " $* " in
*" fetch "*)
    if mkdir "@FOLDER@/first" 2>/dev/null; then
        echo "first begins" >> "@FOLDER@/events"
        sleep 2
        git "$@"
        code=$?
        echo "first ends" >> "@FOLDER@/events"
        exit $code
    fi
    echo "other begins" >> "@FOLDER@/events"
esac
exec git "$@"
"#;

#[test]
fn a_fetch_that_outlives_its_run_is_awaited() {
    let scene = Scene::second_run(6);
    let world = scene.copy();
    let run = || stand_in::command(&world, scene.clock, SLOW);
    let mut killed = run().stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("it starts");
    for _ in 0..1200 {
        if events(&world).contains(&"first begins".to_owned()) {
            break;
        }
        thread::sleep(Duration::from_millis(50));
    }
    killed.kill().expect("killed");
    killed.wait().expect("ended");

    let next = run().output().expect("it starts");
    assert_eq!(next.status.code(), Some(0), "{}", String::from_utf8_lossy(&next.stderr));
    assert_eq!(events(&world)[..3], ["first begins", "first ends", "other begins"]);
    scene.check(&world, "the run whose fetch went on was killed");
}

fn events(world: &World) -> Vec<String> {
    let text = fs::read_to_string(world.path().join("events")).unwrap_or_default();
    text.lines().map(str::to_owned).collect()
}

#[test]
fn a_cache_that_is_no_repository_is_made_anew_and_the_archive_is_not_taken_for_it() {
    let scene = Scene::second_run(6);
    for missing in ["objects", "refs", "config", "HEAD"] {
        let world = scene.copy();
        let cache = world.archive().join("pagelog/upstream/inner/in.git.invalid.git");
        let path = cache.join(missing);
        let removed =
            if path.is_dir() { fs::remove_dir_all(&path) } else { fs::remove_file(&path) };
        removed.expect("removed");
        scene.check_next(&world, &format!("the cache lost its {missing}"));
        let refs = world.git(&["for-each-ref", "--format=%(refname)"]).ok();
        assert_eq!(refs, "refs/heads/main\nrefs/private/main\n", "{missing}");
    }
}
