//! Front matter as a tree, and the one way it is written: block style, two spaces a level,
//! keys in their order, scalars by the rule of [`crate::model::yaml`]. Comments that have a
//! line of their own are kept, each before the top-level key that follows it; publishers say
//! in them what a page is for.

use std::collections::BTreeMap;
use std::ops::Range;

use saphyr_parser::{Event, Parser, ScalarStyle};

use crate::model::yaml;

/// Deepest nesting of lists and mappings that is read.
const MAX_DEPTH: usize = 32;
/// Longest key as written, in bytes; YAML's own bound is 1,024 characters.
const MAX_KEY: usize = 1_000;

/// A value of front matter. Scalars and keys are in their canonical form already.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Node {
    Scalar {
        written: String,
        text: String,
    },
    List(Vec<Node>),
    Map(Mapping),
    /// A line of its own among the keys of the top level; its key is the whole line.
    Comment,
}

/// Keys as they are written, with their values.
pub(super) type Mapping = Vec<(String, Node)>;

/// Why front matter is kept as it was found.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub(super) enum Unread {
    #[error("it is not valid YAML (line {0})")]
    Syntax(usize),
    #[error("it has anchors, aliases or tags")]
    Anchors,
    #[error("it is more than one document, or has directives")]
    Documents,
    #[error("it is not a mapping")]
    NotMapping,
    #[error("a key is a list, a mapping or too long")]
    Key,
    #[error("it is nested deeper than {MAX_DEPTH} levels")]
    Depth,
}

/// Parses one mapping, and the keys that were given twice (the last value counts, where
/// the first stood). No document at all is an empty mapping.
pub(super) fn parse(text: &str) -> Result<(Mapping, Vec<String>), Unread> {
    let mut builder = Builder::default();
    for event in Parser::new_from_str(text) {
        let (event, span) = event.map_err(|error| Unread::Syntax(error.marker().line()))?;
        builder.line = span.start.line();
        if matches!(event, Event::Scalar(..)) {
            let last = span.end.line() + usize::from(span.end.col() > 0);
            builder.scalars.push(builder.line..last);
        }
        builder.event(event)?;
    }
    let mut map = match builder.root.take() {
        Some(Node::Map(map)) => map,
        None => Mapping::new(),
        Some(Node::Scalar { written, .. }) if written == "null" => Mapping::new(),
        Some(_) => return Err(Unread::NotMapping),
    };
    for (line, comment) in builder.comments(text) {
        let later = |(key, _): &(String, Node)| builder.keys.get(key).is_some_and(|at| *at > line);
        let place = map.iter().position(later).unwrap_or(map.len());
        map.insert(place, (comment, Node::Comment));
    }
    Ok((map, builder.doubled))
}

/// Writes a mapping as lines, each ended by a newline; empty for an empty mapping.
pub(super) fn write(map: &Mapping) -> String {
    let mut out = String::new();
    write_map(map, 0, &mut out);
    out
}

/// What is open while events arrive.
enum Open {
    List(Vec<Node>),
    Map { entries: Mapping, places: BTreeMap<String, usize>, key: Option<String> },
}

#[derive(Default)]
struct Builder {
    open: Vec<Open>,
    root: Option<Node>,
    doubled: Vec<String>,
    documents: usize,
    /// Line of the event at hand, from 1.
    line: usize,
    /// Lines that scalars stand on: what looks like a comment there is text.
    scalars: Vec<Range<usize>>,
    /// Keys of the top level with the line of their first mention.
    keys: BTreeMap<String, usize>,
}

impl Builder {
    /// Comments on lines of their own, with their line.
    fn comments(&self, text: &str) -> Vec<(usize, String)> {
        let comment = |(number, line): (usize, &str)| {
            let line = line.trim_matches([' ', '\t']);
            let is_text = || {
                // Scalars come in order: the last one that begins here or before decides.
                let after = self.scalars.partition_point(|range| range.start <= number);
                self.scalars[..after].last().is_some_and(|range| range.contains(&number))
            };
            if !line.starts_with('#') || is_text() {
                return None;
            }
            Some((number, line.replace(char::is_control, " ")))
        };
        text.split('\n').enumerate().filter_map(|(n, line)| comment((n + 1, line))).collect()
    }

    fn event(&mut self, event: Event<'_>) -> Result<(), Unread> {
        match event {
            Event::Nothing | Event::StreamStart | Event::StreamEnd | Event::DocumentEnd => Ok(()),
            Event::DocumentStart(explicit) => {
                self.documents += 1;
                if explicit || self.documents > 1 { Err(Unread::Documents) } else { Ok(()) }
            }
            Event::Scalar(text, style, 0, None) => self.add(scalar(&text, style)),
            Event::SequenceStart(0, None) => self.push(Open::List(Vec::new())),
            Event::MappingStart(0, None) => {
                let (entries, places) = (Mapping::new(), BTreeMap::new());
                self.push(Open::Map { entries, places, key: None })
            }
            Event::SequenceEnd | Event::MappingEnd => {
                let node = match self.open.pop() {
                    Some(Open::List(items)) => Node::List(items),
                    Some(Open::Map { entries, .. }) => Node::Map(entries),
                    None => return Err(Unread::NotMapping),
                };
                self.add(node)
            }
            _ => Err(Unread::Anchors),
        }
    }

    fn push(&mut self, open: Open) -> Result<(), Unread> {
        if self.open.len() == MAX_DEPTH {
            return Err(Unread::Depth);
        }
        if matches!(self.open.last(), Some(Open::Map { key: None, .. })) {
            return Err(Unread::Key);
        }
        self.open.push(open);
        Ok(())
    }

    fn add(&mut self, node: Node) -> Result<(), Unread> {
        let depth = self.open.len();
        match self.open.last_mut() {
            None => self.root = Some(node),
            Some(Open::List(items)) => items.push(node),
            Some(Open::Map { entries, places, key }) => match (key.take(), node) {
                (Some(name), node) => {
                    if let Some(&place) = places.get(&name) {
                        entries[place].1 = node;
                        self.doubled.push(name);
                    } else {
                        places.insert(name.clone(), entries.len());
                        entries.push((name, node));
                    }
                }
                (None, Node::Scalar { written, .. }) if written.len() <= MAX_KEY => {
                    if depth == 1 {
                        self.keys.entry(written.clone()).or_insert(self.line);
                    }
                    *key = Some(written);
                }
                (None, _) => return Err(Unread::Key),
            },
        }
        Ok(())
    }
}

/// A scalar in its canonical form: plain ones stay as they were written, whatever type
/// they have, if that is safe; the rest are strings.
fn scalar(text: &str, style: ScalarStyle) -> Node {
    let written = match style {
        ScalarStyle::Plain if yaml::is_plain_null(text) => "null".to_owned(),
        ScalarStyle::Plain if yaml::is_plain_safe(text) => text.to_owned(),
        ScalarStyle::Plain => yaml::quoted(text),
        _ => yaml::scalar(text),
    };
    Node::Scalar { written, text: text.to_owned() }
}

/// Writes the entries; the indentation of the first line is already there.
fn write_map(map: &Mapping, indent: usize, out: &mut String) {
    for (number, (key, value)) in map.iter().enumerate() {
        if number > 0 {
            push_indent(indent, out);
        }
        out.push_str(key);
        if *value == Node::Comment {
            out.push('\n');
            continue;
        }
        out.push(':');
        match value {
            Node::List(items) if !items.is_empty() => {
                out.push('\n');
                push_indent(indent + 2, out);
                write_list(items, indent + 2, out);
            }
            Node::Map(entries) if !entries.is_empty() => {
                out.push('\n');
                push_indent(indent + 2, out);
                write_map(entries, indent + 2, out);
            }
            short => {
                out.push(' ');
                write_short(short, out);
            }
        }
    }
}

/// Writes the items; the indentation of the first line is already there.
fn write_list(items: &[Node], indent: usize, out: &mut String) {
    for (number, item) in items.iter().enumerate() {
        if number > 0 {
            push_indent(indent, out);
        }
        out.push_str("- ");
        match item {
            Node::List(items) if !items.is_empty() => write_list(items, indent + 2, out),
            Node::Map(entries) if !entries.is_empty() => write_map(entries, indent + 2, out),
            short => write_short(short, out),
        }
    }
}

/// Writes what fits on the line: a scalar, an empty list or an empty mapping.
fn write_short(node: &Node, out: &mut String) {
    out.push_str(match node {
        Node::Scalar { written, .. } => written,
        Node::List(_) => "[]",
        Node::Map(_) => "{}",
        // Stands among keys only, where it is written by itself.
        Node::Comment => "null",
    });
    out.push('\n');
}

fn push_indent(indent: usize, out: &mut String) {
    out.extend(std::iter::repeat_n(' ', indent));
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// The canonical form, after a check that it is its own canonical form and holds the
    /// same values.
    fn canonical(text: &str) -> String {
        let (map, _) = parse(text).unwrap();
        let written = write(&map);
        assert_eq!(values(&written), values(&write(&parse(&written).unwrap().0)), "{written}");
        assert_eq!(write(&parse(&written).unwrap().0), written);
        written
    }

    /// The events of a document, scalars with whether a reader takes them for strings.
    fn values(text: &str) -> Vec<String> {
        let events = Parser::new_from_str(text).map(|event| match event.unwrap().0 {
            Event::Scalar(text, style, ..) => {
                let plain = style == ScalarStyle::Plain;
                if plain && yaml::is_plain_null(&text) {
                    "null".to_owned()
                } else {
                    format!("{text:?} {}", !plain || yaml::is_plain_string(&text))
                }
            }
            other => format!("{other:?}"),
        });
        events.collect()
    }

    #[test]
    fn scalars() {
        let cases = [
            ("a: b", "a: b\n"),
            ("a: 'b c'", "a: b c\n"),
            ("a: 'b: c'", "a: \"b: c\"\n"),
            ("a: b, c", "a: \"b, c\"\n"),
            ("d: 10/22/2025", "d: 10/22/2025\n"),
            ("d: 2025-10-22", "d: 2025-10-22\n"),
            ("d: '2025-10-22'", "d: \"2025-10-22\"\n"),
            ("n: 1\nm: \"1\"", "n: 1\nm: \"1\"\n"),
            ("t: yes\nu: 'yes'", "t: yes\nu: \"yes\"\n"),
            ("x: ~\ny:\nz: null", "x: null\ny: null\nz: null\n"),
            ("x: ''", "x: \"\"\n"),
            ("x: one\n  two\n\n  three", "x: \"one two\\nthree\"\n"),
            ("x: >\n  one\n  two", "x: \"one two\\n\"\n"),
            ("x: |-\n  one\n  two", "x: \"one\\ntwo\"\n"),
            ("'a b': c # d", "a b: c\n"),
            ("\"a: b\": c", "\"a: b\": c\n"),
            ("# only\n\n# comments", "# only\n# comments\n"),
            ("", ""),
            ("~", ""),
        ];
        for (text, written) in cases {
            assert_eq!(canonical(text), written, "{text:?}");
        }
    }

    #[test]
    fn collections() {
        let cases = [
            ("a:\n- b\n- c", "a:\n  - b\n  - c\n"),
            ("a: [b, {c: d, e: f}]", "a:\n  - b\n  - c: d\n    e: f\n"),
            ("a: []\nb: {}\nc: [[], {}]", "a: []\nb: {}\nc:\n  - []\n  - {}\n"),
            ("a: [[b, c], [d]]", "a:\n  - - b\n    - c\n  - - d\n"),
            (
                "a:\n    b:\n        - c: {d: [e]}",
                "a:\n  b:\n    - c:\n        d:\n          - e\n",
            ),
            ("{b: 1, a: 2}", "b: 1\na: 2\n"),
        ];
        for (text, written) in cases {
            assert_eq!(canonical(text), written, "{text:?}");
            assert_eq!(values(text)[2..], values(written)[2..], "{text:?}");
        }
    }

    #[test]
    fn the_last_of_doubled_keys_counts() {
        let (map, doubled) = parse("a: 1\nb: 2\na: 3\n'a': 4\n1: x\n'1': y").unwrap();
        assert_eq!(write(&map), "a: 4\nb: 2\n1: x\n\"1\": y\n");
        assert_eq!(doubled, ["a", "a"]);
    }

    #[test]
    fn what_is_not_read() {
        let deep = format!("a: {}{}", "[".repeat(40), "]".repeat(40));
        let long = format!("{}: b", "k".repeat(1_001));
        let cases = [
            ("a: [b", Unread::Syntax(2)),
            ("a: b\n\tc: d", Unread::Syntax(2)),
            ("a: b: c", Unread::Syntax(1)),
            ("a: &x b", Unread::Anchors),
            ("a: &x b\nc: *x", Unread::Anchors),
            ("a: !!str b", Unread::Anchors),
            ("%YAML 1.2\n--- {a: b}", Unread::Documents),
            ("--- {a: b}", Unread::Documents),
            ("- a", Unread::NotMapping),
            ("just text", Unread::NotMapping),
            ("? [a]\n: b", Unread::Key),
            (long.as_str(), Unread::Key),
            (deep.as_str(), Unread::Depth),
        ];
        for (text, why) in cases {
            let found = parse(text).unwrap_err();
            let same = match why {
                Unread::Syntax(_) => matches!(found, Unread::Syntax(_)),
                _ => found == why,
            };
            assert!(same, "{text:?}: {found:?}");
        }
    }

    fn node() -> impl Strategy<Value = Node> {
        let text = "\\PC{0,6}|[ -~]{0,12}|[a-z0-9 .:+-]{0,8}|(?s).{0,6}|[0-9:.-]{1,6}|-+|~|yes";
        let leaf = (text, any::<bool>()).prop_map(|(text, plain)| {
            let plain = plain && yaml::is_plain_safe(&text);
            scalar(&text, if plain { ScalarStyle::Plain } else { ScalarStyle::DoubleQuoted })
        });
        leaf.prop_recursive(4, 24, 4, |inner| {
            let entry = (text.prop_map(|it| yaml::scalar(&it)), inner.clone());
            prop_oneof![
                prop::collection::vec(inner, 0..4).prop_map(Node::List),
                prop::collection::vec(entry, 0..4).prop_map(|mut map| {
                    map.sort_by(|a, b| a.0.cmp(&b.0));
                    map.dedup_by(|a, b| a.0 == b.0);
                    Node::Map(map)
                }),
            ]
        })
    }

    proptest! {
        #[test]
        fn what_is_written_reads_the_same(value in node()) {
            let map = vec![("key".to_owned(), value)];
            let written = write(&map);
            prop_assert_eq!(parse(&written).unwrap().0, map, "{}", written);
        }

        #[test]
        fn no_text_panics(text in "[a:\\- \n\\[\\]{},'\"#&*!|>?%@`\t0]{0,60}") {
            if let Ok((map, _)) = parse(&text) {
                let written = write(&map);
                prop_assert_eq!(write(&parse(&written).unwrap().0), written);
            }
        }
    }
}
