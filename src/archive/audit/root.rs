//! Files at the root of a tip, and lists of redirects.

use super::{Audit, Fault, FaultKind};
use crate::archive::directory::Archive;
use crate::archive::layout::{ARCHIVE_TOML, DENIED, GITATTRIBUTES, README};
use crate::archive::listing::{Node, entries};
use crate::archive::reader::tree_of;
use crate::archive::templates::{ATTRIBUTES, archive_toml};
use crate::archive::{ArchiveError, ObjectId};
use crate::model::{PageUrl, SourceId, Visibility};

/// Adds a fault for each file that every tree has and this one has not.
pub(super) fn check_presence(
    audit: &Audit<'_>,
    (visibility, commit): (Visibility, ObjectId),
) -> Result<(), ArchiveError> {
    let repository = audit.archive.repository();
    let found = entries(&repository, Some(tree_of(&repository, commit)?))?;
    for name in [README, ARCHIVE_TOML, GITATTRIBUTES] {
        if found.get(name.as_bytes()).is_none_or(|(node, _)| *node != Node::Blob) {
            let what = format!("missing on {}", super::ref_name(visibility));
            audit.add(Fault::new(FaultKind::Root, name, what));
        }
    }
    Ok(())
}

/// What is wrong with a file of the root.
pub(in crate::archive) fn fault(
    archive: &Archive,
    (visibility, name): (Visibility, &str),
    bytes: &[u8],
) -> Option<String> {
    let told = |what: &str| Some(format!("{what}, on {}", super::ref_name(visibility)));
    match name {
        ARCHIVE_TOML if bytes != archive_toml(archive.case()).as_bytes() => {
            told("not what this archive's version and settings make it")
        }
        GITATTRIBUTES if bytes != ATTRIBUTES.as_bytes() => told("not as the format has it"),
        README => match std::str::from_utf8(bytes) {
            Ok(text) if text.ends_with('\n') && !text.contains('\r') => None,
            _ => told("not a text in UTF-8 that ends in LF"),
        },
        DENIED => denied_fault(bytes).and_then(|what| told(&what)),
        _ => None,
    }
}

fn denied_fault(bytes: &[u8]) -> Option<String> {
    table_fault(bytes, "source\turl\tsince", &|cells| match cells {
        [source, url, since] => {
            let known = *url == "*" || is_canonical(url);
            SourceId::new(source).is_ok() && known && is_date(since)
        }
        _ => false,
    })
}

/// What is wrong with a list of redirects, of a public or a private source.
pub(in crate::archive) fn moved_fault(bytes: &[u8]) -> Option<String> {
    table_fault(bytes, "from\tto\tstatus\tfirst seen", &|cells| match cells {
        [from, to, "", ""] => is_canonical(from) && is_canonical(to),
        [from, to, "301" | "308", seen] => is_canonical(from) && is_canonical(to) && is_date(seen),
        _ => false,
    })
}

/// What is wrong with a table: its header, a line, or the order of the lines.
fn table_fault(bytes: &[u8], header: &str, is_row: &dyn Fn(&[&str]) -> bool) -> Option<String> {
    let Ok(text) = std::str::from_utf8(bytes) else { return Some("not UTF-8".to_owned()) };
    let Some(text) = text.strip_suffix('\n') else {
        return Some("it does not end in LF".to_owned());
    };
    let mut lines = text.split('\n');
    if lines.next() != Some(header) {
        return Some("its first line is not the header of the format".to_owned());
    }
    let mut before = String::new();
    for (number, line) in lines.enumerate() {
        let cells: Vec<&str> = line.split('\t').collect();
        if !is_row(&cells) {
            return Some(format!("line {} is not of the format", number + 2));
        }
        // By whole lines; of redirects an address has one.
        let key = if header.starts_with("from") { cells[0] } else { line };
        if number > 0 && before.as_str() >= key {
            return Some(format!("line {} is not sorted, or there twice", number + 2));
        }
        key.clone_into(&mut before);
    }
    None
}

fn is_canonical(url: &str) -> bool {
    PageUrl::parse(url).is_ok_and(|parsed| parsed.as_str() == url)
}

/// Whether a text is a date, as far as its form tells.
fn is_date(text: &str) -> bool {
    let form: String = text.chars().map(|c| if c.is_ascii_digit() { '0' } else { c }).collect();
    form == "0000-00-00"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_of_redirects_are_sorted_and_canonical() {
        let head = "from\tto\tstatus\tfirst seen\n";
        let sound = [
            "",
            "https://h.example/a\thttps://h.example/b\t301\t2026-11-30\n",
            "https://h.example/a\thttps://h.example/b\t\t\nhttps://h.example/b\thttps://h.example/c\t\t\n",
        ];
        for rows in sound {
            assert_eq!(moved_fault(format!("{head}{rows}").as_bytes()), None, "{rows}");
        }
        let wrong = [
            "https://h.example/b\thttps://h.example/c\t\t\nhttps://h.example/a\thttps://h.example/b\t\t\n",
            "https://h.example/a\thttps://h.example/b\t\t\nhttps://h.example/a\thttps://h.example/c\t\t\n",
            "https://h.example/a\thttps://h.example/b\t302\t2026-11-30\n",
            "https://h.example/a\thttps://h.example/b\t301\ttoday\n",
            "https://h.example:443/a\thttps://h.example/b\t301\t2026-11-30\n",
            "https://h.example/a\n",
            "no newline",
        ];
        for rows in wrong {
            assert!(moved_fault(format!("{head}{rows}").as_bytes()).is_some(), "{rows}");
        }
        assert!(moved_fault(b"from\tto\n").is_some());
        assert!(moved_fault(b"\xff\n").is_some());
    }

    #[test]
    fn takedowns_are_sorted() {
        let head = "source\turl\tsince\n";
        let sound = "a\t*\t2026-12-01\na\thttps://h.example/\t2026-12-01\n";
        assert_eq!(denied_fault(format!("{head}{sound}").as_bytes()), None);
        for wrong in ["A\t*\t2026-12-01\n", "a\t/\t2026-12-01\n", "a\t*\t\n", "a\t*\n"] {
            assert!(denied_fault(format!("{head}{wrong}").as_bytes()).is_some(), "{wrong}");
        }
    }
}
