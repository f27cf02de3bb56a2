//! A bound on how deep lists and quotes nest: the Markdown parser goes through all open
//! ones at each line, so that depth times lines is its time.

/// Deepest nesting that is parsed.
const MAX_DEPTH: usize = 100;

/// Whether the markers and the indentation at the begin of some line may open more levels
/// than anybody writes.
pub(super) fn is_too_deep(text: &str) -> bool {
    text.lines().any(|line| depth(line) > MAX_DEPTH)
}

/// An upper bound of the levels that a line is nested in: its markers, and one for every
/// two columns of white space if a marker follows. Thematic breaks have none.
fn depth(line: &str) -> usize {
    let mut rest = line.as_bytes();
    let mut markers = 0;
    let mut columns = 0;
    let mut at_marker = 0;
    while let Some((&byte, tail)) = rest.split_first() {
        let width = match byte {
            b' ' | b'\t' => {
                columns += if byte == b'\t' { 4 } else { 1 };
                1
            }
            b'>' => 1,
            b'-' | b'+' | b'*' if ends_marker(tail) => 1,
            b'0'..=b'9' => match numbered(rest) {
                Some(width) => width,
                None => break,
            },
            b'[' => match footnote(rest) {
                Some(width) => width,
                None => break,
            },
            _ => break,
        };
        if !matches!(byte, b' ' | b'\t') {
            markers += 1;
            at_marker = columns;
        }
        rest = &rest[width..];
        if markers > MAX_DEPTH {
            break;
        }
    }
    if markers > MAX_DEPTH && is_thematic_break(line) { 0 } else { markers + at_marker / 2 }
}

fn ends_marker(tail: &[u8]) -> bool {
    matches!(tail.first(), None | Some(b' ' | b'\t'))
}

/// The width of `123.` or `123)` before white space.
fn numbered(rest: &[u8]) -> Option<usize> {
    let digits = rest.iter().take(10).take_while(|b| b.is_ascii_digit()).count();
    let marked = digits < 10 && matches!(rest.get(digits), Some(b'.' | b')'));
    (marked && ends_marker(&rest[digits + 1..])).then_some(digits + 1)
}

/// The width of `[^label]:`.
fn footnote(rest: &[u8]) -> Option<usize> {
    let label = rest.strip_prefix(b"[^")?;
    let end = label.iter().take(1_000).position(|b| *b == b']')?;
    (label.get(end + 1) == Some(&b':')).then_some(2 + end + 2)
}

fn is_thematic_break(line: &str) -> bool {
    let only = |mark: char| line.chars().all(|c| c == mark || c == ' ' || c == '\t');
    only('-') || only('*')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn depth_is_an_upper_bound() {
        let cases = [
            ("plain", 0),
            ("- a", 1),
            ("> - 1. + * a", 7),
            ("        text", 0),
            ("        - text", 5),
            ("**bold**", 0),
            ("-a", 0),
            ("12345678901. a", 0),
            ("-", 1),
            ("[^a]: - b", 2),
            ("[^a] - b", 0),
            ("[^", 0),
        ];
        for (line, expected) in cases {
            assert_eq!(depth(line), expected, "{line}");
        }
    }

    #[test]
    fn what_nobody_writes_is_too_deep() {
        assert!(is_too_deep(&">".repeat(200)));
        assert!(is_too_deep(&format!("{}x", "- ".repeat(200))));
        assert!(is_too_deep(&format!("a\n{}- x", " ".repeat(300))));
        assert!(!is_too_deep(&"- ".repeat(200)));
        assert!(!is_too_deep(&format!("{}x", " ".repeat(3_000))));
        assert!(!is_too_deep(&"-".repeat(3_000)));
    }
}
