//! `moved/<source>.tsv`: permanent redirects that two runs saw.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use crate::model::{PageUrl, SourceId};

const HEADER: &str = "from\tto\tstatus\tfirst seen\n";

/// A permanent redirect.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Moved {
    /// The address that redirects.
    pub from: PageUrl,
    /// Where it leads.
    pub to: PageUrl,
    /// Its status: 301 or 308.
    pub status: u16,
    /// The date of the first run that saw it.
    pub first_seen: String,
}

/// Path of the list of a source in the tree.
#[must_use]
pub fn moved_path(source: &SourceId) -> String {
    format!("moved/{source}.tsv")
}

/// Writes a list: sorted, one line for each address that redirects, the last one given.
#[must_use]
pub fn encode_moved(moved: &[Moved]) -> Vec<u8> {
    encode(moved, |row| format!("{}\t{}", row.status, row.first_seen))
}

/// The same with URLs only, as it stands on the public ref for a private source.
#[must_use]
pub fn encode_moved_urls(moved: &[Moved]) -> Vec<u8> {
    encode(moved, |_| "\t".to_owned())
}

fn encode(moved: &[Moved], rest: impl Fn(&Moved) -> String) -> Vec<u8> {
    let by_address: BTreeMap<&PageUrl, &Moved> = moved.iter().map(|row| (&row.from, row)).collect();
    let mut out = HEADER.to_owned();
    for row in by_address.values() {
        // Writing to a string cannot fail.
        let _ = writeln!(out, "{}\t{}\t{}", row.from, row.to, rest(row));
    }
    out.into_bytes()
}

/// Reads a list; lines that are none of the format are left out.
#[must_use]
pub fn decode_moved(bytes: &[u8]) -> Vec<Moved> {
    String::from_utf8_lossy(bytes).lines().skip(1).filter_map(line).collect()
}

fn line(line: &str) -> Option<Moved> {
    let mut columns = line.split('\t');
    Some(Moved {
        from: PageUrl::parse(columns.next()?).ok()?,
        to: PageUrl::parse(columns.next()?).ok()?,
        status: columns.next()?.parse().ok()?,
        first_seen: columns.next()?.to_owned(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn moved(from: &str, to: &str) -> Moved {
        Moved {
            from: PageUrl::parse(from).unwrap(),
            to: PageUrl::parse(to).unwrap(),
            status: 301,
            first_seen: "2026-11-30".into(),
        }
    }

    #[test]
    fn a_list_is_sorted_and_reads_back() {
        let rows = [
            moved("https://h.example/b", "https://h.example/c"),
            moved("https://h.example/a", "https://h.example/x"),
            moved("https://h.example/a", "https://h.example/b"),
        ];
        let bytes = encode_moved(&rows);
        let expected = "from\tto\tstatus\tfirst seen\n\
            https://h.example/a\thttps://h.example/b\t301\t2026-11-30\n\
            https://h.example/b\thttps://h.example/c\t301\t2026-11-30\n";
        assert_eq!(String::from_utf8(bytes.clone()).unwrap(), expected);
        assert_eq!(decode_moved(&bytes), [rows[2].clone(), rows[0].clone()]);
        let urls = String::from_utf8(encode_moved_urls(&rows[..1])).unwrap();
        assert!(urls.ends_with("https://h.example/b\thttps://h.example/c\t\t\n"));
    }

    #[test]
    fn other_lines_are_left_out() {
        assert!(decode_moved(b"").is_empty());
        assert!(decode_moved(b"from\tto\na\tb\nhttps://h.example/\n\xff\n").is_empty());
    }
}
