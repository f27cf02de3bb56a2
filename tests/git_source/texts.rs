//! What is a change of a text, and what is not.

use crate::support::World;
use crate::support::agree::{body, value};

const PAGE: &str = "pages/docs/up.git.invalid/a.md";
const PUBLIC: &str = "refs/heads/main";

/// A text in UTF-16, little endian, with its byte order mark.
fn utf16(text: &str) -> Vec<u8> {
    "\u{feff}".encode_utf16().chain(text.encode_utf16()).flat_map(u16::to_le_bytes).collect()
}

#[test]
fn line_ends_and_encodings_are_no_change() {
    let (world, up) = World::with_upstream("true");
    let text = "# Grüße\n\nOne line.\nAnother.\n";
    let first = up.write("a.md", text).commit();
    world.run();
    let page = world.file(PUBLIC, PAGE);
    assert_eq!(body(&page), text);
    assert_eq!(value(&page, "commit"), first);

    let forms: [Vec<u8>; 5] = [
        text.replace('\n', "\r\n").into_bytes(),
        format!("\u{feff}{text}").into_bytes(),
        utf16(text),
        format!("\n\n{text}\n\n").into_bytes(),
        text.trim_end().as_bytes().to_vec(),
    ];
    for (day, form) in forms.iter().enumerate() {
        up.write("a.md", form).commit();
        let said = world.run_at(&format!("2026-12-0{}T02:00:00Z", day + 1));
        assert!(said.starts_with("docs: 0 changed, 0 added, 0 removed, 1 same"), "{said}");
        assert_eq!(world.file(PUBLIC, PAGE), page, "form {day}");
        world.assert_whole();
    }

    let last = up.write("a.md", format!("{text}More.\n")).commit();
    world.run_at("2026-12-20T02:00:00Z");
    let page = world.file(PUBLIC, PAGE);
    assert_eq!(value(&page, "commit"), last);
    assert_eq!(value(&page, "retrieved"), "2026-12-20T02:00:00Z");
    world.assert_whole();
}

#[test]
fn retrieved_and_commit_are_those_of_the_first_reading() {
    let (world, up) = World::with_upstream("true");
    let first = up.write("a.md", "# A\n").write("b.md", "# B\n").commit();
    world.run();
    let trees = world.trees();
    let page = world.file(PUBLIC, PAGE);
    // Nothing new, a commit that touches something else, and one without any file.
    world.run_at("2026-12-01T02:00:00Z");
    assert_eq!(world.trees(), trees);
    up.write("b.md", "# B, changed\n").write("code.rs", "fn main() {}\n").commit();
    world.run_at("2026-12-02T02:00:00Z");
    assert_eq!(world.file(PUBLIC, PAGE), page);
    let empty = up.commit();
    world.run_at("2026-12-03T02:00:00Z");
    assert_eq!(world.file(PUBLIC, PAGE), page);
    assert_eq!(value(&page, "commit"), first);
    assert_eq!(value(&page, "retrieved"), "2026-11-30T02:00:00Z");
    // What was read in each run stands in its message.
    let upstream = format!("docs https://up.git.invalid/ {empty}");
    assert_eq!(world.trailers(PUBLIC, "Upstream"), [upstream]);
    assert_eq!(world.commits(PUBLIC), 4);
    world.assert_whole();
}

#[test]
fn a_text_that_comes_back_was_first_read_when_it_came_back() {
    let (world, up) = World::with_upstream("true");
    up.write("a.md", "# A\n").commit();
    world.run();
    up.write("a.md", "# B\n").commit();
    world.run_at("2026-12-01T02:00:00Z");
    let again = up.write("a.md", "# A\n").commit();
    world.run_at("2026-12-02T02:00:00Z");
    let page = world.file(PUBLIC, PAGE);
    assert_eq!(value(&page, "commit"), again);
    assert_eq!(value(&page, "retrieved"), "2026-12-02T02:00:00Z");
    world.assert_whole();
}

#[test]
fn links_alone_change_no_page() {
    let (world, up) = World::with_upstream("true");
    let up_text = |target: &str| format!("# A\n\nSee [there](./{target}).\n");
    up.write("a.md", up_text("b.md")).commit();
    world.run();
    let links = "links/docs/up.git.invalid/a.tsv";
    let expected = "to\ttext\trel\nhttps://up.git.invalid/b.md\tthere\t\n";
    assert_eq!(world.file(PUBLIC, links), expected);
    up.write("a.md", up_text("c.md")).commit();
    world.run_at("2026-12-01T02:00:00Z");
    let expected = "to\ttext\trel\nhttps://up.git.invalid/c.md\tthere\t\n";
    assert_eq!(world.file(PUBLIC, links), expected);
    up.write("a.md", "# A\n").commit();
    world.run_at("2026-12-02T02:00:00Z");
    assert_eq!(world.file(PUBLIC, links), "to\ttext\trel\n");
    world.assert_whole();
}

#[test]
fn what_is_no_text_never_replaces_a_page() {
    let (world, up) = World::with_upstream("true");
    up.write("a.md", "# A\n\nGood text.\n").commit();
    world.run();
    let page = world.file(PUBLIC, PAGE);
    let huge = vec![b'x'; (16 << 20) + 1];
    let pointer =
        format!("version https://git-lfs.github.com/spec/v1\noid sha256:{:064}\nsize 99\n", 7);
    let cases: [(&[u8], &str, &str); 5] = [
        (b"caf\xe9 au lait\n", "1 failed", "neither UTF-8 nor UTF-16"),
        (b"\x89PNG\r\n\x1a\n\0\0\0", "0 failed", "binary"),
        (&huge, "1 failed", "too large: 16777217 bytes"),
        (pointer.as_bytes(), "0 failed", "Git LFS pointer"),
        (b"\xff\xfe\x00\xd8", "1 failed", "neither UTF-8 nor UTF-16"),
    ];
    for (day, (bytes, count, why)) in cases.into_iter().enumerate() {
        up.write("a.md", bytes).commit();
        let said = world.run_at(&format!("2026-12-0{}T02:00:00Z", day + 1));
        assert!(said.contains(count) && said.contains(why), "{said}");
        assert_eq!(world.file(PUBLIC, PAGE), page, "{why}");
        let explained = world.pagelog(&["explain", "https://up.git.invalid/a.md"]).ok();
        assert!(explained.contains(why), "{explained}");
        world.assert_whole();
    }
    up.write("a.md", "# A\n\nBetter text.\n").commit();
    world.run_at("2026-12-20T02:00:00Z");
    assert_eq!(body(&world.file(PUBLIC, PAGE)), "# A\n\nBetter text.\n");
    world.assert_whole();
    up.write("a.md", b"\0").commit();
    world.run_at("2026-12-21T02:00:00Z");
    up.remove("a.md").commit();
    world.run_at("2026-12-22T02:00:00Z");
    assert!(!world.files(PUBLIC).iter().any(|path| path == PAGE));
    world.assert_whole();
}

#[test]
fn empty_files_are_pages_without_text() {
    let (world, up) = World::with_upstream("true");
    up.write("a.md", "").write("b.md", "\n \n").write("c.md", "---\ntitle: Only front\n---\n");
    up.commit();
    world.run();
    let page = world.file(PUBLIC, PAGE);
    assert_eq!(value(&page, "title"), "a.md");
    assert!(page.ends_with("\n---\n"), "{page}");
    let page = world.file(PUBLIC, "pages/docs/up.git.invalid/c.md");
    assert_eq!(value(&page, "title"), "Only front");
    world.assert_whole();
    up.write("a.md", "# Text\n").write("b.md", "").commit();
    world.run_at("2026-12-01T02:00:00Z");
    let changed = world.changed("pages/docs/up.git.invalid/");
    assert_eq!(changed, [("edited".to_owned(), "a.md".to_owned())]);
    world.assert_whole();
}

#[test]
fn front_matter_whose_first_key_is_quoted_stays_a_mapping() {
    let (world, up) = World::with_upstream("true");
    let page = "---\ngr\u{f6}\u{df}e: klein\nlicence: MIT\nurl: https://evil.example/\n---\n# T\n";
    up.write("a.md", page).write("b.md", "---\n\u{6807}\u{9898}: x\n---\n# B\n").commit();
    world.run();
    world.assert_whole();
    let stored = world.file(PUBLIC, "pages/docs/up.git.invalid/a.md");
    let upstream = "upstream:\n  \"gr\u{f6}\u{df}e\": klein\n  licence: MIT\n  url: https://evil.example/\n---\n";
    assert!(stored.contains(upstream), "{stored}");
    let stored = world.file(PUBLIC, "pages/docs/up.git.invalid/b.md");
    assert!(stored.contains("upstream:\n  \"\u{6807}\u{9898}\": x\n---\n"), "{stored}");
    up.write("a.md", page.replace("klein", "gross")).commit();
    world.run_at("2026-12-01T02:00:00Z");
    world.assert_whole();
}
