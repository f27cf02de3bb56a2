//! `pagelog convert`: a file as a run would convert it.

use std::io::Write as _;
use std::process::{Command, Stdio};

use crate::support::World;
use crate::support::world::program;

const PAGE: &str = "<!doctype html><html><head><title>T</title></head><body><nav><a href=/x>menu</a></nav>\
    <main><h1>Title</h1><p>One <b>word</b> and <a href=\"next.html#part\">the next</a>.</p>\
    <pre><code class=language-sh>echo 1\n</code></pre></main></body></html>";

fn convert(arguments: &[&str], input: &str) -> (Option<i32>, String, String) {
    let mut child = Command::new(program())
        .arg("convert")
        .args(arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    // A program that refuses at once may not read its input to the end.
    let _ = child.stdin.take().unwrap().write_all(input.as_bytes());
    let output = child.wait_with_output().unwrap();
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    (output.status.code(), text(&output.stdout), text(&output.stderr))
}

#[test]
fn html_from_standard_input() {
    let (code, markdown, _) = convert(&["-", "--base", "https://h.example/a/b.html"], PAGE);
    let expected = "# Title\n\nOne **word** and [the next](https://h.example/a/next.html#part).\n\n\
                    ```sh\necho 1\n```\n";
    assert_eq!((code, markdown.as_str()), (Some(0), expected));
    let (code, links, _) = convert(&["--base", "https://h.example/a/b.html", "--links"], PAGE);
    let expected = "to\ttext\trel\nhttps://h.example/a/next.html\tthe next\t\n";
    assert_eq!((code, links.as_str()), (Some(0), expected));
}

#[test]
fn files_by_their_names() {
    let world = World::empty();
    world.write("a.html", PAGE);
    world.write("b.md", "---\ntitle: B\n---\n\r\n# B\r\n<b>kept</b>\r\n");
    world.write("c.pdf", "%PDF-1.7\n");
    assert!(world.pagelog(&["convert", "a.html"]).ok().starts_with("# Title\n"));
    assert_eq!(world.pagelog(&["convert", "b.md"]).ok(), "# B\n<b>kept</b>\n");
    let chosen = world.pagelog(&["convert", "a.html", "--main", "pre"]).ok();
    assert_eq!(chosen, "```sh\necho 1\n```\n");
    assert!(world.pagelog(&["convert", "c.pdf"]).exits(2).stderr.contains("PDF"));
    assert!(world.pagelog(&["convert", "missing.md"]).exits(1).stderr.contains("missing.md"));
    assert!(world.pagelog(&["convert", "a.html", "--base", "x"]).exits(2).stderr.contains("base"));
    assert!(world.pagelog(&["convert", "a.html", "--main", "[["]).exits(2).stderr.contains("[["));
}
