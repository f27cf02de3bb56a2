//! White space and other characters, as HTML and Markdown see them.

/// White space that HTML collapses.
pub(super) fn is_space(c: char) -> bool {
    matches!(c, ' ' | '\t' | '\n' | '\x0c' | '\r')
}

/// Whether a text is nothing but white space that HTML collapses.
pub(super) fn is_blank(text: &str) -> bool {
    text.bytes().all(|byte| matches!(byte, b' ' | b'\t' | b'\n' | b'\x0c' | b'\r'))
}

/// White space and characters without width.
pub(super) fn is_invisible(c: char) -> bool {
    c.is_whitespace() || matches!(c, '\u{200b}' | '\u{200c}' | '\u{200d}' | '\u{2060}' | '\u{feff}')
}

/// What Markdown takes for punctuation beside a delimiter: ASCII punctuation, and what
/// Unicode calls punctuation or symbols.
pub(super) fn is_punctuation(c: char) -> bool {
    if c.is_ascii() {
        return c.is_ascii_punctuation();
    }
    // Neither letter nor number nor space. Marks that combine and other rare characters are
    // taken for both: a delimiter is only used where either reading binds.
    !c.is_alphanumeric() && !c.is_whitespace()
}

/// The longest run of a character.
pub(super) fn longest_run(text: &str, which: char) -> usize {
    let mut longest = 0;
    let mut run = 0;
    for c in text.chars() {
        run = if c == which { run + 1 } else { 0 };
        longest = longest.max(run);
    }
    longest
}
