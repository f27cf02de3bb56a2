//! Patterns of URLs and paths, in which `*` stands for any text.

/// Whether a text is what a pattern says.
#[must_use]
pub fn matches_pattern(pattern: &str, text: &str) -> bool {
    let mut parts = pattern.split('*');
    let first = parts.next().unwrap_or_default();
    let Some(mut rest) = text.strip_prefix(first) else { return false };
    let parts: Vec<&str> = parts.collect();
    let Some((last, middle)) = parts.split_last() else { return rest.is_empty() };
    for part in middle {
        match rest.find(part) {
            Some(at) => rest = &rest[at + part.len()..],
            None => return false,
        }
    }
    rest.ends_with(last)
}

/// The part of a pattern before its first star.
#[must_use]
pub fn pattern_start(pattern: &str) -> &str {
    pattern.split_once('*').map_or(pattern, |(start, _)| start)
}

#[cfg(test)]
mod tests {
    use super::matches_pattern;

    #[test]
    fn a_star_stands_for_any_text() {
        for (pattern, url, expected) in [
            ("https://h/a", "https://h/a", true),
            ("https://h/a", "https://h/ab", false),
            ("https://h/*", "https://h/a/b", true),
            ("https://h/*/b", "https://h/a/b", true),
            ("https://h/*/b", "https://h/a/bc", false),
            ("*a*b*", "xxaxxbxx", true),
            ("*a*b*", "xxbxxaxx", false),
            ("*", "", true),
        ] {
            assert_eq!(matches_pattern(pattern, url), expected, "{pattern} {url}");
        }
    }
}
