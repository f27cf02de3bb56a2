//! Text to TOML document, with every line that is not TOML reported.

use std::collections::BTreeSet;

use toml::Spanned;
use toml::de::DeTable;

use super::faults::{Complaint, ConfigErrors, Faults, quote};

/// Most mistakes of syntax that are reported: one can cause many.
const MOST: usize = 20;

/// Parses the text of the file `name`.
///
/// # Errors
/// It is not TOML: the first mistake of each line, the first twenty.
pub(super) fn document<'t>(
    name: &str,
    text: &'t str,
) -> Result<Spanned<DeTable<'t>>, ConfigErrors> {
    let (document, errors) = DeTable::parse_recoverable(text);
    let faults = Faults::default();
    let mut lines = BTreeSet::new();
    for error in errors.iter().take(50 * MOST) {
        let end = text.len();
        let span = error.span().unwrap_or(end..end);
        let start = span.start.min(end);
        let line_start = text.get(..start).and_then(|t| t.rfind('\n')).map_or(0, |at| at + 1);
        if lines.len() < MOST && lines.insert(line_start) {
            let line = text.get(line_start..).and_then(|t| t.lines().next()).unwrap_or_default();
            let span = start..span.end.clamp(start, end);
            let found = text.get(span.clone()).and_then(|found| found.lines().next());
            let found = found.map(str::trim).filter(|found| !found.is_empty());
            let message = format!("{}: {}", error.message(), quote(found.unwrap_or(line.trim())));
            faults.add(span, Complaint::new(message, hint(error.message())));
        }
    }
    faults.settle(document, name, text)
}

fn hint(message: &str) -> &'static str {
    if message.contains("duplicate key") {
        "each key stands once in its table, each table once in the file"
    } else if message.contains("escape") {
        "in double quotes `\\` begins an escape: write regular expressions in single quotes"
    } else if message.contains("recurs") {
        "nothing here needs so many brackets"
    } else {
        "write key = \"text\", key = [\"a\", \"b\"], [table] or [[list of tables]]"
    }
}
