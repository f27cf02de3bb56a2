//! Bare web addresses in running text, as GitHub Flavored Markdown finds them (section 6.9).

use std::ops::Range;

/// Punctuation that is never the end of an address.
const TRAILING: &str = "?!.,:*_~'\"";

/// Finds the addresses in `text`. `before` is the character that stands before it, if any;
/// white space, angle brackets and the characters of `stops` end an address.
pub(super) fn find(text: &str, before: Option<char>, stops: &str) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    if !text.contains("://") && !text.contains("www.") {
        return found;
    }
    let mut at = 0;
    while let Some(start) = next_candidate(text, at) {
        let previous = text[..start].chars().next_back().or(before);
        let rest = &text[start..];
        let Some(prefix) = prefix(rest).filter(|prefix| may_follow(previous, prefix)) else {
            at = start + 1;
            continue;
        };
        let domain = domain(&rest[prefix.len()..]);
        if !is_valid(domain) {
            // What begins later in the same domain is no better.
            at = start + (prefix.len() + domain.len()).max(1);
            continue;
        }
        let ends = |c: char| c.is_whitespace() || matches!(c, '<' | '>') || stops.contains(c);
        let whole = rest.find(ends).unwrap_or(rest.len());
        let length = trimmed(&rest[..whole]);
        at = start + whole;
        if length > prefix.len() && is_valid(self::domain(&rest[prefix.len()..length])) {
            found.push(start..start + length);
        }
    }
    found
}

/// Whether an address that begins a text may go on behind its end.
pub(super) fn reaches_end(text: &str) -> bool {
    !text.contains(|c: char| c.is_whitespace() || matches!(c, '<' | '>'))
}

/// The next `h` or `w` that may begin an address.
fn next_candidate(text: &str, from: usize) -> Option<usize> {
    let begins = |b: &u8| matches!(b, b'h' | b'H' | b'w');
    text.as_bytes()[from..].iter().position(begins).map(|at| from + at)
}

/// `http://`, `https://` or `www.`, as written.
fn prefix(rest: &str) -> Option<&str> {
    let head = |length: usize| rest.get(..length);
    let same = |it: &&str| head(it.len()).is_some_and(|head| head.eq_ignore_ascii_case(it));
    match ["https://", "http://"].into_iter().find(|it| same(it)) {
        Some(scheme) => head(scheme.len()),
        None => head(4).filter(|head| *head == "www."),
    }
}

/// Whether an address may stand after that character: never within a word, and `www.` only
/// after white space and what opens emphasis or a parenthesis.
fn may_follow(previous: Option<char>, prefix: &str) -> bool {
    previous.is_none_or(|c| {
        if prefix == "www." {
            c.is_whitespace() || matches!(c, '*' | '_' | '~' | '(')
        } else {
            !c.is_alphanumeric() && c != '+'
        }
    })
}

fn domain(rest: &str) -> &str {
    let inside = |c: char| c.is_alphanumeric() || matches!(c, '-' | '_' | '.');
    rest.find(|c| !inside(c)).map_or(rest, |end| &rest[..end])
}

/// At least two segments, none of the first two from the right with an underscore.
fn is_valid(domain: &str) -> bool {
    let mut segments = domain.trim_end_matches('.').rsplit('.');
    let good = |segment: Option<&str>| {
        segment.is_some_and(|segment| !segment.is_empty() && !segment.contains('_'))
    };
    good(segments.next()) && good(segments.next())
}

/// The length without trailing punctuation, entities and unmatched closing parentheses.
fn trimmed(url: &str) -> usize {
    let count = |which: char| url.matches(which).count();
    let mut surplus = count(')').saturating_sub(count('('));
    let mut rest = url;
    while let Some(last) = rest.chars().next_back() {
        if last == ')' && surplus > 0 {
            surplus -= 1;
        } else if last == ';' {
            let name = rest[..rest.len() - 1].trim_end_matches(|c: char| c.is_ascii_alphanumeric());
            if !name.ends_with('&') || name.len() == rest.len() - 1 {
                break;
            }
            rest = &name[..name.len() - 1];
            continue;
        } else if !TRAILING.contains(last) {
            break;
        }
        rest = &rest[..rest.len() - last.len_utf8()];
    }
    rest.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all(text: &str) -> Vec<&str> {
        find(text, None, "").into_iter().map(|range| &text[range]).collect()
    }

    #[test]
    fn addresses() {
        let cases: [(&str, &[&str]); 30] = [
            ("see https://a.example/b.", &["https://a.example/b"]),
            ("HTTP://A.example/ and http://b.example", &["HTTP://A.example/", "http://b.example"]),
            ("www.a.example/x, www.b.example", &["www.a.example/x", "www.b.example"]),
            ("(www.a.example)", &["www.a.example"]),
            ("https://a.example/q?x=(y)", &["https://a.example/q?x=(y)"]),
            ("(https://a.example/q?x=(y))", &["https://a.example/q?x=(y)"]),
            ("https://a.example/q?x=(y)))", &["https://a.example/q?x=(y)"]),
            ("https://a.example/(x", &["https://a.example/(x"]),
            ("https://a.example/a).b", &["https://a.example/a).b"]),
            ("https://a.example/q&copy;", &["https://a.example/q"]),
            ("https://a.example/q&x;&y;", &["https://a.example/q"]),
            ("https://a.example/q;", &["https://a.example/q;"]),
            ("https://a.example/q&x", &["https://a.example/q&x"]),
            ("https://a.example<b", &["https://a.example"]),
            ("\"https://a.example/x\"", &["https://a.example/x"]),
            ("**https://a.example/x**", &["https://a.example/x"]),
            ("https://a.example?!", &["https://a.example"]),
            ("https://a.example:8080/x", &["https://a.example:8080/x"]),
            ("https://a_b.c.example/", &["https://a_b.c.example/"]),
            ("https://a.b_c.example/", &[]),
            ("https://a.example_x/", &[]),
            ("https://localhost/x", &[]),
            ("https://", &[]),
            ("https://{name}.a.example", &[]),
            ("www.", &[]),
            ("xhttps://a.example git+https://a.example", &[]),
            ("-www.a.example xwww.a.example", &[]),
            ("ftp://www.a.example", &[]),
            ("https://größe.example/ü.", &["https://größe.example/ü"]),
            ("http://a@b.example", &[]),
        ];
        for (text, found) in cases {
            assert_eq!(all(text), found, "{text}");
        }
    }

    #[test]
    fn what_stands_before_and_what_stops() {
        assert!(find("www.a.example", Some('x'), "").is_empty());
        assert!(find("https://a.example", Some('1'), "").is_empty());
        assert_eq!(find("https://a.example[b]", Some('`'), "[").len(), 1);
        assert_eq!(find("https://a.example[b]", None, "[")[0], 0..17);
    }

    #[test]
    fn long_texts_take_linear_time() {
        for piece in
            ["_www.", "http://", "www.a.", "https://a.b/)", "&a;", "(", "h", "https://a.b;"]
        {
            all(&piece.repeat(300_000));
            all(&format!("https://a.b/{}", piece.repeat(300_000)));
        }
    }
}
