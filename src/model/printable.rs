//! Text of others, fit to be shown.

/// A text as it may be shown on a terminal: characters that move the cursor, turn the
/// direction of writing or cannot be seen are written as escapes.
///
/// ```
/// assert_eq!(pagelog::model::printable("caf\u{e9}\u{1b}[1m"), "caf\u{e9}\\u{1b}[1m");
/// ```
#[must_use]
pub fn printable(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        if is_hidden(c) { out.extend(c.escape_unicode()) } else { out.push(c) }
    }
    out
}

fn is_hidden(c: char) -> bool {
    c.is_control()
        || matches!(
            c,
            '\u{ad}'
                | '\u{61c}'
                | '\u{200b}'..='\u{200f}'
                | '\u{2028}'..='\u{202e}'
                | '\u{2060}'..='\u{206f}'
                | '\u{feff}'
                | '\u{e0000}'..='\u{e007f}'
        )
}
