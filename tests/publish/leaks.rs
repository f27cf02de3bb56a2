//! Something private on the public ref stops every push.

use std::io::Write;
use std::process::Stdio;

use super::scene::{PRIVATE, PUBLIC, Scene, mirror, words};

/// Hands a text to Git in the archive; gives the id that it prints.
fn fed(scene: &Scene, arguments: &[&str], input: &str) -> String {
    let mut command = scene.world.other("git");
    for who in ["AUTHOR", "COMMITTER"] {
        command
            .env(format!("GIT_{who}_NAME"), "TestBot")
            .env(format!("GIT_{who}_EMAIL"), "bot@example.org")
            .env(format!("GIT_{who}_DATE"), "2026-12-01T02:00:00Z");
    }
    command.env("GIT_INDEX_FILE", scene.world.path().join("index"));
    command.current_dir(scene.world.archive()).args(arguments);
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    child.stdin.take().unwrap().write_all(input.as_bytes()).unwrap();
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success(), "{arguments:?}");
    String::from_utf8(output.stdout).unwrap().trim().to_owned()
}

/// Adds files, each `mode,id,path`, to a commit on top of the public ref.
fn commit(scene: &Scene, files: &[String], more: &[&str], message: Option<&str>) {
    fed(scene, &["read-tree", PUBLIC], "");
    for file in files {
        fed(scene, &["update-index", "--add", "--cacheinfo", file], "");
    }
    let tree = fed(scene, &["write-tree"], "");
    let usual = scene.world.git(&["log", "-1", "--format=%B", PUBLIC]).ok();
    let usual = usual.trim_end().to_owned() + "\n";
    let parents = [&["commit-tree", &tree, "-p", PUBLIC], more].concat();
    let id = fed(scene, &parents, message.unwrap_or(&usual));
    scene.world.git(&["update-ref", PUBLIC, &id]).ok();
}

fn blob(scene: &Scene, text: &str) -> String {
    fed(scene, &["hash-object", "-w", "--stdin"], text)
}

/// A public page with that body, and its links file.
fn page(scene: &Scene, name: &str, body: &str) -> Vec<String> {
    let text = format!(
        "---\nurl: https://open.git.invalid/{name}.md\ntitle: {name}\nsource: open\n\
         licence: CC-BY-4.0\nretrieved: 2026-12-01T02:00:00Z\nrepresentation: git\n\
         repository: https://open.git.invalid/\nfile: {name}.md\ncommit: {}\n---\n\n{body}",
        "a1".repeat(20)
    );
    let links = blob(scene, "to\ttext\trel\n");
    vec![
        format!("100644,{},pages/open/open.git.invalid/{name}.md", blob(scene, &text)),
        format!("100644,{links},links/open/open.git.invalid/{name}.tsv"),
    ]
}

/// What the publishing of a scene that something was done to says.
#[track_caller]
fn assert_stopped(scene: &Scene, expected: &str) {
    for arguments in [["publish", "--dry-run"].as_slice(), &["publish"]] {
        let told = scene.world.pagelog(arguments).exits(1);
        assert!(told.stdout.contains(expected), "{expected}: {}", told.stdout);
        assert!(told.stderr.contains("nothing was pushed anywhere"), "{}", told.stderr);
        assert!(!told.stdout.contains("zqsecret7"), "{}", told.stdout);
    }
    for mirror in ["one.git", "two.git"] {
        assert_eq!(scene.at(mirror, "refs/tags/pagelog-upload"), "");
        scene.assert_nothing_private_but_named(mirror);
    }
}

impl Scene {
    /// A mirror has nothing that came with the last commit of the public ref.
    #[track_caller]
    fn assert_nothing_private_but_named(&self, mirror: &str) {
        let arrived = self.objects(mirror);
        let last = self.id(PUBLIC);
        assert!(!arrived.contains(&last), "{mirror}");
        let secret = self.id(&format!("{PRIVATE}:pages/closed/closed.git.invalid/s.md"));
        assert!(!arrived.contains(&secret), "{mirror}");
    }
}

/// Two mirrors: one that has the first commit, one that has nothing.
fn scene() -> Scene {
    let one = mirror("one", "./one.git");
    let scene = Scene::new(&one);
    scene.repository("one.git");
    scene.repository("two.git");
    scene.world.pagelog(&["publish"]).ok();
    scene.configure(&(one + &mirror("two", "./two.git")));
    scene
}

#[test]
fn a_private_page_stops_all() {
    let scene = scene();
    let secret = scene.id(&format!("{PRIVATE}:pages/closed/closed.git.invalid/s.md"));
    commit(&scene, &[format!("100644,{secret},pages/closed/closed.git.invalid/s.md")], &[], None);
    assert_stopped(&scene, "it is a page of the private source closed");
}

#[test]
fn a_private_page_under_another_name_stops_all() {
    let scene = scene();
    let secret = scene.id(&format!("{PRIVATE}:pages/closed/closed.git.invalid/s.md"));
    let links = blob(&scene, "to\ttext\trel\n");
    let files = [
        format!("100644,{secret},pages/open/open.git.invalid/s.md"),
        format!("100644,{links},links/open/open.git.invalid/s.tsv"),
    ];
    commit(&scene, &files, &[], None);
    assert_stopped(&scene, "it is a page of the private source closed");
}

#[test]
fn text_of_a_private_page_stops_all() {
    let scene = scene();
    commit(&scene, &page(&scene, "copied", &words("zqsecret", 50)), &[], None);
    assert_stopped(&scene, "holds more than half of the private page");
}

#[test]
fn private_text_that_was_public_first_is_told_and_pushed() {
    let scene = scene();
    scene.open.write("first.md", words("zqlater", 50)).commit();
    scene.world.run_at("2026-12-01T02:00:00Z");
    scene.closed.write("later.md", words("zqlater", 50)).commit();
    scene.world.run_at("2026-12-02T02:00:00Z");
    let told = scene.world.pagelog(&["publish"]).exits(0);
    assert!(told.stderr.contains("which came later"), "{}", told.stderr);
    scene.assert_mirrored("one.git");
    scene.assert_mirrored("two.git");
    // An edit that keeps the text is no news either, wherever it was first.
    scene.open.write("first.md", format!("{}\nMore.\n", words("zqlater", 50))).commit();
    scene.world.run_at("2026-12-03T02:00:00Z");
    scene.world.pagelog(&["publish"]).ok();
    scene.assert_mirrored("one.git");
}

#[test]
fn private_commits_and_merges_stop_all() {
    let scene = scene();
    commit(&scene, &[], &["-p", PRIVATE], None);
    assert_stopped(&scene, "it has more than one parent");
    assert_stopped(&scene, "it would leave, and was not looked at");
}

#[test]
fn what_is_no_file_of_the_format_stops_all() {
    for (mode, path, text, expected) in [
        ("100644", "notes.txt", "x\n", "no public file of the format has this path"),
        (
            "100644",
            "denied.tsv",
            "source\turl\tsince\n",
            "no public file of the format has this path",
        ),
        ("120000", "pages/open/open.git.invalid/x.md", "a.md", "neither a plain file nor"),
        ("100755", "archive.toml", "format = 1\n", "neither a plain file nor"),
        (
            "100644",
            "archive.toml",
            "format = 1\n",
            "not what this archive's version and settings make it",
        ),
        ("100644", "README.md", "@SECRET@", "it holds text of a private page"),
        ("100644", "pages/open/open.git.invalid/x.md", "# X\n", "pages/open/open.git.invalid/x.md"),
        ("100644", "links/open/open.git.invalid/x.tsv", "to\ttext\trel\n", "its page is missing"),
        (
            "100644",
            "links/closed/closed.git.invalid/s.tsv",
            "to\ttext\trel\nhttps://example.org/\tzqanchor\t\n",
            "it holds more than the URLs of the private source closed",
        ),
        ("100644", "moved/closed.tsv", "from\tto\tx\nhello\n", "its first line is not the header"),
    ] {
        let scene = scene();
        let text = text.replace("@SECRET@", &words("zqsecret", 60));
        let id = blob(&scene, &text);
        commit(&scene, &[format!("{mode},{id},{path}")], &[], None);
        assert_stopped(&scene, expected);
    }
}

#[test]
fn messages_say_nothing_but_what_their_trailers_say() {
    let scene = scene();
    commit(&scene, &[], &[], Some("a title of a private page\n"));
    assert_stopped(&scene, "its message is not that of a run");
    let scene = self::scene();
    let usual = scene.world.git(&["log", "-1", "--format=%B", PUBLIC]).ok();
    let told = usual.replacen("\n\n", "\n\nzqtitle of a page\n\n", 1);
    commit(&scene, &[], &[], Some(&format!("{}\n", told.trim_end())));
    assert_stopped(&scene, "its title, or its lines for people, are not those of a run");
}

#[test]
fn pages_of_a_source_that_became_private_do_not_leave_with_the_history() {
    let scene = scene();
    let path = scene.world.path().join("sources.toml");
    let text = std::fs::read_to_string(&path).unwrap();
    scene.world.write("sources.toml", &text.replace("publish = true", "publish = false"));
    scene.world.run_at("2026-12-01T02:00:00Z");
    // The mirror that had it before is given what came since; a new one is given nothing.
    scene.world.pagelog(&["publish", "--mirror", "one"]).ok();
    let told = scene.world.pagelog(&["publish", "--mirror", "two"]).exits(1);
    assert!(told.stdout.contains("is a page of the private source open"), "{}", told.stdout);
    assert_eq!(scene.at("two.git", PUBLIC), "");
}
