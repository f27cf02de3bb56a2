//! Files at the tips that no run writes.

use super::forge::{Forge, PRIVATE, PUBLIC, Put};

const A: &str = "pages/open/open.git.invalid/a.md";
const A_LINKS: &str = "links/open/open.git.invalid/a.tsv";

#[test]
fn pages_are_held_against_the_format() {
    let forge = Forge::new();
    let tips = forge.tips();
    let page = forge.world.file(PUBLIC, A);
    let changed = |from: &str, to: &str| page.replacen(from, to, 1);
    assert_ne!(changed("title: A", "title: \"A\""), page);
    let cases: [(&str, String, &str); 9] = [
        (A, "hello\n".to_owned(), "no front matter"),
        (A, changed("title: A", "title: \"A\""), "not written as the format says"),
        (A, changed("source: open", "source: other"), "names the source other"),
        (A, changed("file: a.md", "file: c.md"), "it belongs at"),
        (A, changed("retrieved: 2026", "retrieved: in 2026"), "`retrieved`"),
        (A, changed("commit: ", "commit: x"), "no upstream commit"),
        (A, page.clone() + "\n", "end in one LF"),
        (A, page.clone() + "a\rb\n", "has a CR"),
        ("pages/open/open.git.invalid/c.md", page.clone(), "it belongs at"),
    ];
    for (path, text, what) in cases {
        forge.put((PUBLIC, 0), path, &Put::File(&text));
        forge.names(["page", path, what]);
        forge.restore(&tips);
    }
    assert_eq!(forge.world.pagelog(&["audit"]).ok(), "audit: no faults\n");
}

#[test]
fn every_page_has_its_links_file() {
    let forge = Forge::new();
    let tips = forge.tips();
    let row = |to: &str, rest: &str| format!("to\ttext\trel\n{to}\t{rest}\n");
    let long = "x".repeat(1001);
    let cases: [(&str, Put<'_>, &str); 7] = [
        (A_LINKS, Put::Nothing, "its links file is missing"),
        (
            "links/open/open.git.invalid/none.tsv",
            Put::File("to\ttext\trel\n"),
            "its page is missing",
        ),
        (A_LINKS, Put::File("from\tto\n"), "not a links file"),
        (
            A_LINKS,
            Put::File("to\ttext\trel\nhttps://b.example/\t\t\nhttps://a.example/\t\t\n"),
            "not sorted",
        ),
        (A_LINKS, Put::File(&row("https://a.example:443/", "\t")), "not written"),
        (A_LINKS, Put::File(&row("https://a.example/", "a\tnofollow me")), "`rel`"),
        (A_LINKS, Put::File(&row("https://a.example/", &format!("{long}\t"))), "1,000 characters"),
    ];
    for (path, put, what) in cases {
        forge.put((PUBLIC, 0), path, &put);
        let place = if matches!(put, Put::Nothing) { A } else { path };
        forge.names(["links", place, what]);
        forge.restore(&tips);
    }
}

#[test]
fn files_at_the_root_are_held_against_the_format() {
    let forge = Forge::new();
    let tips = forge.tips();
    let head = "source\turl\tsince\n";
    let unsorted = format!("{head}open\t*\t2026-12-01\nclosed\t*\t2026-12-01\n");
    let cases: [(&str, &str, Put<'_>, &str); 7] = [
        (PUBLIC, "archive.toml", Put::File("format = 2\n"), "not what this archive's version"),
        (PUBLIC, "archive.toml", Put::Nothing, "missing on refs/heads/main"),
        (PRIVATE, "README.md", Put::Nothing, "missing on refs/private/main"),
        (PUBLIC, "README.md", Put::File("# No newline"), "ends in LF"),
        (PRIVATE, ".gitattributes", Put::File("* -text\n"), "not as the format has it"),
        (PRIVATE, "denied.tsv", Put::File(&unsorted), "line 3 is not sorted"),
        (PRIVATE, "denied.tsv", Put::File("source\n"), "header"),
    ];
    for (name, path, put, what) in cases {
        forge.put((name, 0), path, &put);
        forge.names(["root", path, what]);
        forge.restore(&tips);
    }
    let sound = format!("{head}closed\t*\t2026-12-01\nopen\thttps://a.example/\t2026-12-01\n");
    forge.put((PRIVATE, 0), "denied.tsv", &Put::File(&sound));
    assert_eq!(forge.world.pagelog(&["audit"]).ok(), "audit: no faults\n");
}

#[test]
fn redirects_are_of_known_sources_and_sorted() {
    let forge = Forge::new();
    let tips = forge.tips();
    let head = "from\tto\tstatus\tfirst seen\n";
    let row = "https://a.example/\thttps://b.example/\t301\t2026-12-01\n";
    let cases = [
        ("moved/open.tsv", format!("{head}{row}{row}"), "line 3 is not sorted"),
        (
            "moved/open.tsv",
            format!("{head}{}", row.replace("301", "302")),
            "line 2 is not of the format",
        ),
        ("moved/nobody.tsv", format!("{head}{row}"), "knows a source of that name"),
    ];
    for (path, text, what) in cases {
        forge.put((PUBLIC, 0), path, &Put::File(&text));
        forge.names(["moved", path, what]);
        forge.restore(&tips);
    }
    forge.put((PUBLIC, 0), "moved/open.tsv", &Put::File(&format!("{head}{row}")));
    let urls = format!("{head}{}", row.replace("301\t2026-12-01", "\t"));
    forge.put((PUBLIC, 0), "moved/closed.tsv", &Put::File(&urls));
    forge.put((PRIVATE, 0), "moved/closed.tsv", &Put::File(&format!("{head}{row}")));
    assert_eq!(forge.world.pagelog(&["audit"]).ok(), "audit: no faults\n");
    forge.put((PUBLIC, 0), "moved/closed.tsv", &Put::File(&format!("{head}{row}")));
    forge.names(["leak", "moved/closed.tsv", "more than the URLs"]);
}

#[test]
fn many_faults_are_counted_and_some_are_named() {
    let forge = Forge::new();
    for number in 0..23 {
        let path = format!("pages/open/open.git.invalid/many/{number:02}.md");
        forge.put((PUBLIC, 0), &path, &Put::File("no page\n"));
    }
    let told = forge.world.pagelog(&["audit"]).exits(1).stdout;
    let named = told.lines().filter(|line| line.ends_with("no front matter")).count();
    assert_eq!(named, 20, "{told}");
    assert!(told.contains("and 3 more of this kind (page)\n"), "{told}");
    assert!(told.contains("\n  → "), "what to do is told: {told}");
    let json = forge.world.pagelog(&["audit", "--json"]).exits(1).stdout;
    let json: serde_json::Value = serde_json::from_str(&json).unwrap();
    let more = json
        .as_array()
        .unwrap()
        .iter()
        .find(|fault| fault["kind"] == "page" && !fault["more"].is_null());
    assert_eq!(more.unwrap()["more"], 3, "{json}");
}
