//! Which files of a repository are pages.

use regex::bytes::RegexSet;

use super::Verdict;
use crate::model::{GitSource, Representation};

/// Endings of Markdown files, lower case.
const MARKDOWN: &[&str] = &["md", "markdown"];

/// Endings of other text that is documentation, lower case.
const TEXT: &[&str] = &["rst", "adoc", "asciidoc"];

/// The rules of one Git source, compiled.
#[derive(Debug)]
pub struct Selection {
    paths: Vec<String>,
    skip: RegexSet,
}

impl Selection {
    /// Compiles the rules.
    ///
    /// # Errors
    /// A pattern of `skip` is no regular expression.
    pub fn new(source: &GitSource) -> Result<Self, regex::Error> {
        Ok(Self { paths: source.paths.clone(), skip: RegexSet::new(&source.skip)? })
    }

    /// Whether a path is within `paths` and not in `skip`, whatever its ending.
    #[must_use]
    pub fn covers(&self, file: &[u8]) -> bool {
        self.verdict(file) == Verdict::In
    }

    /// The same, with the rule that decided.
    #[must_use]
    pub fn verdict(&self, file: &[u8]) -> Verdict<'_> {
        let below = |prefix: &String| file.starts_with(prefix.trim_start_matches('/').as_bytes());
        if !self.paths.is_empty() && !self.paths.iter().any(below) {
            return Verdict::OutOfPath;
        }
        let rule = self.skip.matches(file).iter().next();
        rule.map_or(Verdict::In, |rule| Verdict::Skipped(&self.skip.patterns()[rule]))
    }

    /// The form in which a file is a page; `None` where it is none.
    #[must_use]
    pub fn representation(&self, file: &[u8]) -> Option<Representation> {
        let name = file.rsplit(|byte| *byte == b'/').next()?;
        let dot = name.iter().rposition(|byte| *byte == b'.')?;
        let ending = String::from_utf8_lossy(&name[dot + 1..]).to_ascii_lowercase();
        let form = if MARKDOWN.contains(&ending.as_str()) {
            Representation::Git
        } else if TEXT.contains(&ending.as_str()) {
            Representation::Text
        } else {
            return None;
        };
        self.covers(file).then_some(form)
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::model::UrlMapping;

    fn selection(paths: &[&str], skip: &[&str]) -> Selection {
        let texts = |list: &[&str]| list.iter().map(|text| (*text).to_owned()).collect();
        let source = GitSource {
            repositories: Vec::new(),
            branch: None,
            paths: texts(paths),
            skip: texts(skip),
            mapping: UrlMapping::default(),
            pace: Duration::from_secs(1),
            keep_upstream: None,
        };
        Selection::new(&source).unwrap()
    }

    #[test]
    fn endings_decide_the_form() {
        let all = selection(&[], &[]);
        for (file, form) in [
            ("a.md", Some(Representation::Git)),
            ("docs/A.MD", Some(Representation::Git)),
            ("a.markdown", Some(Representation::Git)),
            ("a.rst", Some(Representation::Text)),
            ("a.adoc", Some(Representation::Text)),
            ("a.png", None),
            ("md", None),
            ("a.md/b", None),
            (".md", Some(Representation::Git)),
        ] {
            assert_eq!(all.representation(file.as_bytes()), form, "{file}");
        }
    }

    #[test]
    fn paths_are_prefixes_and_skip_is_searched() {
        let some = selection(&["articles/", "/docs"], &["/includes/", r"-old\.md$"]);
        for (file, selected) in [
            ("articles/a.md", true),
            ("docs/a.md", true),
            ("docs.md", true),
            ("article.md", false),
            ("README.md", false),
            ("articles/includes/x.md", false),
            ("articles/x-old.md", false),
        ] {
            assert_eq!(some.representation(file.as_bytes()).is_some(), selected, "{file}");
        }
    }
}
