//! Commits that no run makes, and refs that do not belong together.

use super::forge::{Forge, PRIVATE, PUBLIC};

#[test]
fn commits_are_held_against_the_format() {
    let forge = Forge::new();
    let tips = forge.tips();
    let other = forge.id(&format!("{PUBLIC}~2"));
    let change = |from: &'static str, to: &'static str| {
        move |raw: String| {
            assert!(raw.contains(from), "{raw}");
            raw.replacen(from, to, 1)
        }
    };
    let more_parents =
        |raw: String| raw.replacen("\nauthor", &format!("\nparent {other}\nauthor"), 1);
    let cases: [(&dyn Fn(String) -> String, &str); 12] = [
        (&change("author TestBot", "author Somebody"), "not both the bot"),
        (&|raw| raw.replacen(" +0000\ncommitter", " +0100\ncommitter", 1), "not in UTC"),
        (&change("\n\n", "\nencoding latin1\n\n"), "headers that the format does not have"),
        (&more_parents, "more than one parent"),
        (&change("\nRun: ", "\nWhen: "), "not that of a run"),
        (&change("\nRun: 2026", "\nRun: 2025"), "is not its author date"),
        (&change("\nFormat: 1", "\nFormat: 9"), "newer than this program"),
        (&change("\nFormat: 1\n", "\nFormat: 1\nKind: magic\n"), "`Kind`"),
        (
            &change("\nFormat: 1\nExtractor: 2", "\nExtractor: 2\nFormat: 1"),
            "not written as the format says",
        ),
        (&change(" added=0", " added=00"), "not written as the format says"),
        (&change("\n\nopen: ", "\n\nSecret title\nopen: "), "lines for people"),
        (&|raw| swapped_times(&raw), "ended before it began"),
    ];
    for (change, what) in cases {
        forge.rewrite(PUBLIC, 1, change);
        forge.names(["commit", PUBLIC, what]);
        forge.restore(&tips);
    }
    // What a later version says besides is skipped.
    forge.rewrite(PUBLIC, 1, &change("\nExtractor: 2\n", "\nExtractor: 2\nWeather: fine\n"));
    forge.rewrite(PUBLIC, 1, &change(" complete=yes", " merged=3 complete=yes"));
    assert_eq!(forge.world.pagelog(&["audit"]).ok(), "audit: no faults\n");
}

/// Lets the committer date be the day before.
fn swapped_times(raw: &str) -> String {
    let mut lines: Vec<String> = raw.split('\n').map(str::to_owned).collect();
    for line in lines.iter_mut().filter(|line| line.starts_with("committer ")) {
        let time: i64 = line.rsplit(' ').nth(1).unwrap().parse().unwrap();
        *line = line.replace(&time.to_string(), &(time - 86_400).to_string());
    }
    lines.join("\n")
}

#[test]
fn the_two_refs_have_the_same_runs() {
    let forge = Forge::new();
    let tips = forge.tips();
    let shorter = forge.id(&format!("{PRIVATE}~1"));
    forge.world.git(&["update-ref", PRIVATE, &shorter]).ok();
    forge.accept(PRIVATE, &shorter);
    forge.names(["runs", PUBLIC, "3 commits, and 2 on refs/private/main"]);
    forge.restore(&tips);
    let later = |raw: String| {
        raw.replace("2026-12-01T02:00:00Z", "2026-12-01T02:00:01Z")
            .replace("1796090400", "1796090401")
    };
    forge.rewrite(PRIVATE, 1, &later);
    forge.names(["runs", PUBLIC, "stand at the same place and are not of one run"]);
    forge.restore(&tips);
    assert_eq!(forge.world.pagelog(&["audit"]).ok(), "audit: no faults\n");
}

#[test]
fn what_a_person_accepted_is_a_note() {
    let forge = Forge::new();
    let world = &forge.world;
    let shorter = forge.id(&format!("{PRIVATE}~1"));
    world.git(&["update-ref", PRIVATE, &shorter]).ok();
    forge.names(["ref", PRIVATE, "was moved by something else"]);
    let repaired = world.pagelog(&["audit", "--repair"]).exits(0);
    assert!(repaired.stderr.contains("accepted the refs"), "{}", repaired.stderr);
    world.run_at("2026-12-05T02:00:00Z");
    assert_eq!(world.pagelog(&["audit"]).ok(), "audit: no faults\n");
    // What comes after that is not accepted with it.
    let shorter = forge.id(&format!("{PRIVATE}~1"));
    world.git(&["update-ref", PRIVATE, &shorter]).ok();
    forge.accept(PRIVATE, &shorter);
    forge.names(["runs", PUBLIC, "1 commits, and 0 on"]);
}

#[test]
fn private_commits_are_reached_by_one_ref_only() {
    let forge = Forge::new();
    let world = &forge.world;
    world.git(&["tag", "oops", PRIVATE]).ok();
    forge.names(["leak", "refs/tags/oops", "it reaches private commits"]);
    world.git(&["tag", "-d", "oops"]).ok();
    let named = ["-c", "user.name=x", "-c", "user.email=x@example.org", "tag", "-a", "-m", "x"];
    world.git(&[&named[..], &["deep", &format!("{PRIVATE}~2")]].concat()).ok();
    forge.names(["leak", "refs/tags/deep", "git update-ref -d refs/tags/deep"]);
    world.git(&["tag", "-d", "deep"]).ok();
    world.git(&["tag", "fine", PUBLIC]).ok();
    assert_eq!(world.pagelog(&["audit"]).ok(), "audit: no faults\n");
    // As a second parent, too.
    let private = forge.id(PRIVATE);
    forge.rewrite(PUBLIC, 0, &|raw| {
        raw.replacen("\nauthor", &format!("\nparent {private}\nauthor"), 1)
    });
    forge.names(["leak", PUBLIC, "of refs/private/main: private pages would be published"]);
}

#[test]
fn the_upstreams_of_private_sources_are_not_named() {
    let forge = Forge::new();
    let upstream = format!("Upstream: closed https://closed.git.invalid/ {}\n", "1".repeat(40));
    forge.rewrite(PUBLIC, 1, &|raw| raw + &upstream);
    forge.names(["leak", PUBLIC, "names the upstream of the private source closed"]);
}

#[test]
fn head_names_the_public_ref() {
    let forge = Forge::new();
    forge.world.git(&["symbolic-ref", "HEAD", "refs/heads/other"]).ok();
    forge.names(["ref", "HEAD", "git symbolic-ref HEAD refs/heads/main"]);
}
