//! The examples of `docs/FORMAT.md` are what the program writes.

use pagelog::archive::{
    FORMAT_VERSION, PageEntry, RunMessage, decode_denied, decode_links, decode_moved, decode_page,
    encode_links, encode_moved, encode_page,
};
use pagelog::model::{CaseRule, PageUrl, Repository, TreePath, yaml};

use super::blocks::{blocks, document, table};
use crate::support::World;

fn format() -> String {
    document("docs/FORMAT.md")
}

#[test]
fn it_is_of_the_version_that_is_written() {
    assert!(format().contains(&format!("\nVersion {FORMAT_VERSION}.")));
}

#[test]
fn pages_are_written_like_the_examples() {
    let pages = blocks(&format(), "text page");
    assert!(pages.len() >= 2);
    for text in pages {
        let page = decode_page(text.as_bytes()).unwrap_or_else(|error| panic!("{error}:\n{text}"));
        assert_eq!(String::from_utf8(encode_page(&page)).unwrap(), text);
    }
}

#[test]
fn scalars_are_written_like_the_examples() {
    for row in table(&format(), "string") {
        assert_eq!(yaml::scalar(&row[0]), row[1], "{}", row[0]);
        assert_eq!(yaml::parse_scalar(&row[1]).as_deref(), Some(row[0].as_str()));
    }
}

#[test]
fn links_are_written_like_the_example() {
    for text in blocks(&format(), "text links") {
        let text = text.replace('→', "\t");
        let links = decode_links(text.as_bytes()).expect("a links file");
        assert_eq!(String::from_utf8(encode_links(&links)).unwrap(), text);
    }
}

#[test]
fn moved_pages_are_written_like_the_example() {
    let examples = blocks(&format(), "text moved");
    assert!(!examples.is_empty());
    for text in examples {
        let text = text.replace('→', "\t");
        let moved = decode_moved(text.as_bytes());
        assert_eq!(moved.len(), text.lines().count() - 1);
        assert_eq!(String::from_utf8(encode_moved(&moved)).unwrap(), text);
    }
}

#[test]
fn messages_are_written_like_the_examples() {
    let messages = blocks(&format(), "text message");
    assert!(messages.len() >= 2);
    for text in messages {
        let message = RunMessage::decode(&text).expect("the message of a run");
        assert_eq!(message.encode(), text);
    }
}

#[test]
fn denied_rows_are_read_like_the_example() {
    for text in blocks(&format(), "text denied") {
        let rows = decode_denied(text.replace('→', "\t").as_bytes());
        assert_eq!(rows.len(), text.lines().count() - 1);
        assert!(rows.iter().all(|row| !row.since.is_empty()));
    }
}

#[test]
fn urls_have_the_paths_of_the_table() {
    for row in table(&format(), "URL") {
        let url = PageUrl::parse(&row[0]).expect("a URL");
        assert_eq!(url.as_str(), row[0], "the table holds canonical URLs");
        let keep = TreePath::of_url(&url, CaseRule::Keep);
        assert_eq!(keep.as_str(), row[1]);
        assert_eq!(keep.to_url().as_ref(), Ok(&url));
    }
}

#[test]
fn files_have_the_paths_of_the_table() {
    for row in table(&format(), "repository") {
        let repository = Repository::parse(&row[0]).expect("a repository");
        let path = TreePath::of_file(&repository, row[1].as_bytes(), CaseRule::Keep);
        assert_eq!(path.as_str(), row[2]);
        assert!(PageEntry::from_page_path(&format!("pages/docs/{path}")).is_some());
    }
}

#[test]
fn files_at_the_root_are_those_of_the_examples() {
    let (world, up) = World::with_upstream("true");
    up.write("a.md", "# A\n").commit();
    world.run();
    for (name, info) in [("archive.toml", "toml"), (".gitattributes", "text gitattributes")] {
        let examples = blocks(&format(), info);
        for tip in ["refs/heads/main", "refs/private/main"] {
            assert_eq!(world.file(tip, name), examples[0], "{name}");
        }
    }
}
