//! The YAML block that a Markdown file may begin with.

use std::fmt::Write as _;

use super::{noise::Noise, text::one_line, yaml};
use crate::model::{Note, yaml as scalars};

/// Longest block that is parsed, in bytes.
const MAX_BYTES: usize = 64 * 1024;
/// Longest title, in characters.
pub(super) const MAX_TITLE: usize = 500;

/// What front matter says.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct FrontMatter {
    /// Title on one line.
    pub title: Option<String>,
    /// The rest as canonical YAML lines, or the whole block as one quoted line.
    pub upstream: String,
    /// What was unusual.
    pub notes: Vec<Note>,
}

/// Splits a text with LF into the inside of its front matter and the body. A first line
/// `---` without a line `---` or `...` after it is a thematic break.
pub(super) fn split(text: &str) -> (Option<&str>, &str) {
    let mut lines = text.split_inclusive('\n');
    let Some(first) = lines.next().filter(|line| fence(line) == "---") else {
        return (None, text);
    };
    let mut end = first.len();
    for line in lines {
        if matches!(fence(line), "---" | "...") {
            return (Some(&text[first.len()..end]), &text[end + line.len()..]);
        }
        end += line.len();
    }
    (None, text)
}

fn fence(line: &str) -> &str {
    line.trim_end_matches([' ', '\t', '\n'])
}

/// Reads the inside of a block. What cannot be read is kept whole, with a note.
pub(super) fn read(block: &str, noise: &Noise) -> FrontMatter {
    if block.len() > MAX_BYTES {
        return raw(block, "it is longer than 64 KiB");
    }
    match yaml::parse(block) {
        Ok((mut map, doubled)) => {
            for key in noise.keys() {
                remove(&mut map, key);
            }
            let title = take_title(&mut map);
            let notes = doubled_notes(&doubled);
            FrontMatter { title, upstream: yaml::write(&map), notes }
        }
        Err(unread) => raw(block, &unread.to_string()),
    }
}

fn raw(block: &str, why: &str) -> FrontMatter {
    let upstream = format!("{}\n", scalars::quoted(block.strip_suffix('\n').unwrap_or(block)));
    let note = Note(format!("front matter kept as it was found: {why}"));
    FrontMatter { title: None, upstream, notes: vec![note] }
}

/// The names, each once, the first ten.
fn doubled_notes(doubled: &[String]) -> Vec<Note> {
    let mut names: Vec<&String> = doubled.iter().collect();
    names.sort_unstable();
    names.dedup();
    let mut text = String::from("front matter gives keys more than once, the last counts:");
    for name in names.iter().take(10) {
        // Writing to a `String` cannot fail.
        let _ = write!(text, " {}", one_line(name, 60));
    }
    if names.is_empty() { Vec::new() } else { vec![Note(text)] }
}

/// Removes the key `path`, and where `path` is `a.b` also `b` in the mapping at `a`.
fn remove(map: &mut yaml::Mapping, path: &str) {
    map.retain(|(key, _)| key_text(key) != path);
    for (key, value) in map {
        let below = path.strip_prefix(&*key_text(key)).and_then(|rest| rest.strip_prefix('.'));
        if let (Some(below), yaml::Node::Map(inner)) = (below, value) {
            remove(inner, below);
        }
    }
}

fn key_text(written: &str) -> std::borrow::Cow<'_, str> {
    if written.starts_with('"') {
        scalars::parse_scalar(written).unwrap_or_default().into()
    } else {
        written.into()
    }
}

/// Takes the title out; one that would be cut also stays where it was.
fn take_title(map: &mut yaml::Mapping) -> Option<String> {
    let place = map.iter().position(|(key, _)| key == "title")?;
    let yaml::Node::Scalar { written, text } = &map[place].1 else { return None };
    let title = one_line(text, MAX_TITLE);
    if title.is_empty() || written == "null" {
        return None;
    }
    if title == one_line(text, usize::MAX) {
        map.remove(place);
    }
    Some(title)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::Volatile;

    fn noise(keys: &[&str]) -> Noise {
        let keys = keys.iter().map(|&key| key.to_owned()).collect();
        Noise::new(&Volatile { keys, patterns: vec![] }).unwrap()
    }

    #[test]
    fn blocks_are_split_off() {
        let cases = [
            ("---\na: b\n---\nbody\n", Some("a: b\n"), "body\n"),
            ("---\na: b\n...\nbody", Some("a: b\n"), "body"),
            ("--- \t\na: b\n---  \nbody", Some("a: b\n"), "body"),
            ("---\n---\n", Some(""), ""),
            ("---\na: b\n---", Some("a: b\n"), ""),
            ("---\nno end\n", None, "---\nno end\n"),
            ("---\n --- \n", None, "---\n --- \n"),
            ("----\na\n---\n", None, "----\na\n---\n"),
            ("\n---\na: b\n---\n", None, "\n---\na: b\n---\n"),
            ("", None, ""),
        ];
        for (text, block, body) in cases {
            assert_eq!(split(text), (block, body), "{text:?}");
        }
    }

    #[test]
    fn a_block_as_vendors_write_it() {
        let block = "title: \"Scale nodes: a guide\"\n\
            description: Learn how nodes grow, shrink and rest.\n\
            ms.date: 10/22/2025\n\
            ms.custom: [one-two, three]\n\
            author: someone\n\
            zone_pivot_groups:\n- client\n\
            # Customer intent: As an operator, I want to see nodes grow.\n\
            titleSuffix: Example Service   # trailing\n";
        let read = read(block, &noise(&["author"]));
        assert_eq!(read.title.as_deref(), Some("Scale nodes: a guide"));
        assert_eq!(
            read.upstream,
            "description: \"Learn how nodes grow, shrink and rest.\"\n\
            ms.date: 10/22/2025\n\
            ms.custom:\n  - one-two\n  - three\n\
            zone_pivot_groups:\n  - client\n\
            # Customer intent: As an operator, I want to see nodes grow.\n\
            titleSuffix: Example Service\n"
        );
        assert!(read.notes.is_empty());
    }

    #[test]
    fn comments_on_their_own_line_stay() {
        let block = "# first\na: |\n  text\n  # text too\n# second\nb:\n  - 1\n  # third\n  - 2\n\
            c: \"one\n  # in quotes\"\nd: plain # trailing\n   # last  \n";
        assert_eq!(
            read(block, &Noise::default()).upstream,
            "# first\na: \"text\\n# text too\\n\"\n# second\nb:\n  - 1\n  - 2\n# third\n\
            c: \"one # in quotes\"\nd: plain\n# last\n"
        );
        assert_eq!(read("# only\n", &Noise::default()).upstream, "# only\n");
    }

    #[test]
    fn noise_keys_at_both_depths() {
        let block = "ms.date: 1\nms: {date: 2, x: 3}\nb:\n  date: 4\n'q?': 5\n";
        assert_eq!(
            read(block, &noise(&["ms.date"])).upstream,
            "ms:\n  x: 3\nb:\n  date: 4\n\"q?\": 5\n"
        );
        let both = read(block, &noise(&["b.date", "q?"]));
        assert_eq!(both.upstream, "ms.date: 1\nms:\n  date: 2\n  x: 3\nb: {}\n");
        assert_eq!(read("title: t\na: 1", &noise(&["title"])).title, None);
    }

    #[test]
    fn titles() {
        let long = "word ".repeat(200);
        let cases = [
            ("title: Plain", Some("Plain"), ""),
            ("title: >\n  two\n  lines", Some("two lines"), ""),
            ("title: 404", Some("404"), ""),
            ("title: ''", None, "title: \"\"\n"),
            ("title:", None, "title: null\n"),
            ("title: [a]", None, "title:\n  - a\n"),
            ("a: {title: b}", None, "a:\n  title: b\n"),
        ];
        for (block, title, upstream) in cases {
            let read = read(block, &Noise::default());
            assert_eq!((read.title.as_deref(), read.upstream.as_str()), (title, upstream));
        }
        let cut = read(&format!("title: {long}"), &Noise::default());
        assert_eq!(cut.title.unwrap().chars().count(), 499);
        assert_eq!(cut.upstream, format!("title: {}\n", long.trim_end()));
    }

    #[test]
    fn what_cannot_be_read_is_kept_whole() {
        let kept = read("a: [\n\"b\": é\n", &Noise::default());
        assert_eq!(kept.upstream, "\"a: [\\n\\\"b\\\": é\"\n");
        assert_eq!(kept.notes.len(), 1);
        assert!(kept.notes[0].0.starts_with("front matter kept as it was found: it is not valid"));
        let large = format!("a: {}\n", "x".repeat(MAX_BYTES));
        assert!(read(&large, &Noise::default()).upstream.starts_with("\"a: xxx"));
    }

    #[test]
    fn doubled_keys_are_noted() {
        let read = read("a: 1\na: 2\ntitle: x\ntitle: y", &Noise::default());
        assert_eq!((read.title.as_deref(), read.upstream.as_str()), (Some("y"), "a: 2\n"));
        let note = "front matter gives keys more than once, the last counts: a title";
        assert_eq!(read.notes, [Note(note.to_owned())]);
    }
}
