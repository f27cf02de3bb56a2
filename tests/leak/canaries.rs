//! Words that stand in private text only, searched for in everything that may be published.

use std::process::Command;

use crate::support::world::{git_source, isolate};
use crate::support::{Upstream, World};

const PUBLIC: &str = "refs/heads/main";
const PRIVATE: &str = "refs/private/main";

/// Begins every word that must not be public.
const CANARY: &str = "zqcanary";

/// A private page with a canary in each place where text stands. `mark` tells versions
/// apart.
fn private_page(mark: &str) -> String {
    let word = |place: &str| format!("{CANARY}{place}{mark}");
    format!(
        "---\ntitle: {title}\ndescription: {front}\nkeywords: [{list}]\n---\n\n# {heading}\n\n\
         {body} text.\n\n[{anchor}](https://example.org/{mark}) and\n\
         <a href=\"./other.md\" title=\"{tooltip}\">{html}</a> ![{alt}](picture.png)\n\n\
         [{reference}][ref]\n\n[ref]: https://example.org/ref/{mark} \"{hover}\"\n\n\
         ```\n{code}\n```\n\n| {cell} |\n|---|\n| x |\n",
        title = word("title"),
        front = word("front"),
        list = word("list"),
        heading = word("heading"),
        body = word("body"),
        anchor = word("anchor"),
        tooltip = word("tooltip"),
        html = word("html"),
        alt = word("alt"),
        reference = word("reference"),
        hover = word("hover"),
        code = word("code"),
        cell = word("cell"),
    )
}

/// Every object that a ref reaches, messages included, as one text.
fn everything(world: &World, folder: &std::path::Path, name: &str) -> String {
    let script = format!(
        "git rev-list --objects {name} | cut -d' ' -f1 | git cat-file --batch && \
         git log --format='%an %ae %cn %ce %B' {name}"
    );
    let mut command = Command::new("sh");
    isolate(&mut command, world.path());
    let output = command.current_dir(folder).args(["-c", &script]).output().unwrap();
    assert!(output.status.success());
    String::from_utf8_lossy(&output.stdout).into_owned()
}

#[track_caller]
fn assert_no_canary(world: &World) {
    world.assert_whole();
    let public = everything(world, &world.archive(), PUBLIC);
    assert!(public.contains("links/") || public.contains("tree "), "nothing was searched");
    for (number, line) in public.lines().enumerate() {
        assert!(!line.contains(CANARY), "line {number}: {line}");
    }
    let private = everything(world, &world.archive(), PRIVATE);
    for place in ["title", "front", "heading", "body", "anchor", "html", "code", "cell"] {
        assert!(private.contains(&format!("{CANARY}{place}")), "{place}");
    }
}

/// No object of either ref names the folder in which all this happens.
#[track_caller]
fn assert_no_local_path(world: &World) {
    let folder = world.path().file_name().unwrap().to_string_lossy().into_owned();
    for name in [PUBLIC, PRIVATE] {
        let all = everything(world, &world.archive(), name);
        assert!(!all.contains(&folder), "{name} names the machine's folder {folder}");
    }
}

fn sources() -> String {
    git_source("open", "true", &["./open.git"]) + &git_source("closed", "false", &["./closed.git"])
}

fn world() -> (World, Upstream, Upstream) {
    let world = World::new(&sources());
    let (open, closed) = (world.upstream("open"), world.upstream("closed"));
    open.write("a.md", "# Open\n\nSee [closed](https://closed.git.invalid/one.md).\n").commit();
    (world, open, closed)
}

#[test]
fn no_run_publishes_private_text() {
    let (world, open, closed) = world();
    closed.write("one.md", private_page("v1")).write("two.md", private_page("v2"));
    closed.write("plain.rst", format!("{CANARY}body in https://example.org/plain\n")).commit();
    world.run();
    assert_no_canary(&world);

    closed.write("one.md", private_page("v3")).remove("two.md").write("six.md", private_page("v6"));
    closed.commit();
    open.write("a.md", "# Open, changed\n").commit();
    world.run_at("2026-12-01T02:00:00Z");
    assert_no_canary(&world);

    closed.git(&["mv", "one.md", "moved.md"]).ok();
    closed.commit();
    world.run_at("2026-12-02T02:00:00Z");
    assert_no_canary(&world);

    // Renamed, other rules, another extractor, a frozen upstream: still private.
    world.configure(&format!(
        "{}{}was = [\"closed\"]\nbase_url = \"https://inside.example.org/\"\n",
        git_source("open", "true", &["./open.git"]),
        git_source("vault", "false", &["./closed.git"])
    ));
    world.run_at("2026-12-03T02:00:00Z");
    assert_no_canary(&world);
    let state = rusqlite::Connection::open(world.archive().join("pagelog/state.sqlite")).unwrap();
    state.execute("UPDATE upstream SET extractor = 0", []).unwrap();
    drop(state);
    world.run_at("2026-12-04T02:00:00Z");
    assert_no_canary(&world);
    std::fs::rename(closed.path(), world.path().join("away")).unwrap();
    world.pagelog_at("2026-12-05T02:00:00Z", &["run"]).exits(3);
    assert_no_canary(&world);
    assert_no_local_path(&world);

    // What somebody clones has none of it either.
    let archive = world.archive().display().to_string();
    world.git_in(world.path(), &["clone", "-q", &archive, "copy"]).ok();
    let copy = world.path().join("copy");
    let all = everything(&world, &copy, "--all");
    assert!(!all.contains(CANARY));
    assert_eq!(world.git_in(&copy, &["grep", "-l", CANARY]).stdout, "");
}

#[test]
fn a_lost_state_publishes_nothing() {
    let (world, _open, closed) = world();
    closed.write("one.md", private_page("v1")).commit();
    world.run();
    for (day, damage) in ["removed", "damaged"].into_iter().enumerate() {
        let state = world.archive().join("pagelog/state.sqlite");
        std::fs::remove_file(&state).unwrap();
        if damage == "damaged" {
            std::fs::write(&state, b"no database at all").unwrap();
        }
        closed.write("one.md", private_page(&format!("v{}", day + 2))).commit();
        world.run_at(&format!("2026-12-0{}T02:00:00Z", day + 1));
        assert_no_canary(&world);
        assert_no_local_path(&world);
    }
}

#[test]
fn links_of_private_pages_are_public_without_their_text() {
    let (world, _open, closed) = world();
    closed.write("one.md", private_page("v1")).commit();
    world.run();
    let links = "links/closed/closed.git.invalid/one.tsv";
    let public = world.file(PUBLIC, links);
    let lines: Vec<&str> = public.lines().collect();
    assert!(lines.contains(&"https://example.org/v1\t\t"), "{public}");
    assert!(lines.contains(&"https://closed.git.invalid/other.md\t\t"), "{public}");
    assert!(lines[1..].iter().all(|line| line.ends_with("\t\t")), "{public}");
    let private = world.file(PRIVATE, links);
    assert!(private.contains(&format!("https://example.org/v1\t{CANARY}anchorv1\t")), "{private}");
    assert!(!world.files(PRIVATE).iter().any(|path| path.contains("open.git.invalid")));
    // Counts of private pages are derived data and may be told.
    assert!(world.message(PUBLIC).contains("closed: 0 changed, 1 added"));
    // The commit that was read of a private upstream stands on the private ref only.
    assert_eq!(world.trailers(PUBLIC, "Upstream").len(), 1);
    assert_eq!(world.trailers(PRIVATE, "Upstream").len(), 2);
}

#[test]
fn the_two_histories_share_no_commit() {
    let (world, open, _closed) = world();
    world.pagelog(&["run"]).exits(3);
    open.write("a.md", "# More\n").commit();
    world.pagelog_at("2026-12-01T02:00:00Z", &["run"]).exits(3);
    let commits = |name: &str| -> std::collections::BTreeSet<String> {
        world.git(&["rev-list", name]).ok().lines().map(str::to_owned).collect()
    };
    let (public, private) = (commits(PUBLIC), commits(PRIVATE));
    assert_eq!((public.len(), private.len()), (2, 2));
    assert!(public.is_disjoint(&private));
}
