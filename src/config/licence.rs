//! Licences: SPDX expressions (SPDX 2.3, annex D).

use spdx::Expression;
use spdx::identifiers::LICENSES;

use super::faults::{Complaint, quote};
use super::nearest::nearest;
use super::values::Checked;

const OWN: &str = "a licence without an SPDX id is written LicenseRef-Some-Name";

/// An SPDX expression.
pub(super) fn licence(text: &str) -> Checked<String> {
    let text = text.trim();
    if text.is_empty() {
        return Err(Complaint::new("the licence is empty", format!("write an SPDX id; {OWN}")));
    }
    if matches!(text, "NONE" | "NOASSERTION") {
        return Err(Complaint::new(format!("{} names no licence", quote(text)), OWN));
    }
    match Expression::parse(text) {
        Ok(_) => Ok(text.to_owned()),
        Err(error) => {
            let term = text.get(error.span.clone()).unwrap_or(text);
            let message = if term == text {
                format!("{} is not an SPDX expression", quote(text))
            } else {
                format!("{} is not an SPDX expression: {}", quote(text), quote(term))
            };
            Err(Complaint::new(message, hint(text, term, &error)))
        }
    }
}

fn hint(text: &str, term: &str, error: &spdx::ParseError) -> String {
    let repaired = Expression::canonicalize(text).ok().flatten();
    if let Some(repaired) = repaired.filter(|text| Expression::parse(text).is_ok()) {
        return format!("did you mean \"{repaired}\"?");
    }
    match nearest_id(term) {
        Some(id) => format!("did you mean \"{id}\"?"),
        None => format!("{}; {OWN}", error.reason),
    }
}

/// The known id that continues `term` with the highest version, else the one nearest to it.
fn nearest_id(term: &str) -> Option<&'static str> {
    let ids = || LICENSES.iter().map(|licence| licence.name);
    let continues = |id: &&str| {
        let rest = id.get(..term.len()).filter(|begin| begin.eq_ignore_ascii_case(term));
        rest.is_some() && id.get(term.len()..).is_some_and(is_version)
    };
    ids().rfind(continues).or_else(|| nearest(term, ids()))
}

fn is_version(rest: &str) -> bool {
    rest.starts_with(['.', '-']) && rest.chars().all(|c| c.is_ascii_digit() || ".-".contains(c))
}

#[cfg(test)]
mod tests {
    use super::licence;

    fn hint(text: &str) -> String {
        licence(text).map_or_else(|complaint| complaint.hint, |text| format!("accepted: {text}"))
    }

    #[test]
    fn expressions_of_spdx_are_accepted() {
        for text in [
            "CC-BY-4.0",
            "CC-BY-SA-4.0",
            "MIT OR Apache-2.0",
            "(MIT AND CC-BY-4.0)",
            "Apache-2.0 WITH LLVM-exception",
            "LicenseRef-Vendor-Terms",
            "CC-BY-4.0 AND LicenseRef-x",
        ] {
            assert!(licence(text).is_ok(), "{text}");
        }
    }

    #[test]
    fn the_nearest_id_is_proposed() {
        assert_eq!(hint("CC-BY-4"), "did you mean \"CC-BY-4.0\"?");
        assert_eq!(hint("CC-BY-SA"), "did you mean \"CC-BY-SA-4.0\"?");
        assert_eq!(hint("cc-by-4.0"), "did you mean \"CC-BY-4.0\"?");
        assert_eq!(hint("CC-BY-SA-40"), "did you mean \"CC-BY-SA-4.0\"?");
        assert_eq!(hint("MIT or apache2"), "did you mean \"MIT OR Apache-2.0\"?");
    }

    #[test]
    fn what_has_no_id_is_told_how_to_be_written() {
        for text in ["", "NOASSERTION", "all rights reserved", "(MIT", "MIT MIT"] {
            let hint = hint(text);
            assert!(
                hint.contains("LicenseRef-") || hint.contains("did you mean"),
                "{text}: {hint}"
            );
        }
    }
}
