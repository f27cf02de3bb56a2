//! What changes in a page without the page changing.

use regex::Regex;

use crate::model::Volatile;

/// Compiled [`Volatile`]: front-matter keys and text patterns that are left out.
#[derive(Clone, Debug, Default)]
pub struct Noise {
    keys: Vec<String>,
    patterns: Vec<Regex>,
}

impl Noise {
    /// Compiles the patterns.
    ///
    /// # Errors
    /// One of them is not a regular expression.
    pub fn new(volatile: &Volatile) -> Result<Self, regex::Error> {
        let patterns =
            volatile.patterns.iter().map(|it| Regex::new(it)).collect::<Result<_, _>>()?;
        Ok(Self { keys: volatile.keys.clone(), patterns })
    }

    /// Keys of front matter that are left out; `a.b` is the key `a.b`, or `b` below `a`.
    pub(super) fn keys(&self) -> &[String] {
        &self.keys
    }

    /// The text without what the patterns match, each applied to what the former left.
    pub(super) fn remove(&self, mut text: String) -> String {
        for pattern in &self.patterns {
            if pattern.is_match(&text) {
                text = pattern.replace_all(&text, "").into_owned();
            }
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_are_removed_in_order() {
        let patterns = vec!["(?m)^Build [0-9]+\n".to_owned(), "b+".to_owned()];
        let noise = Noise::new(&Volatile { keys: vec![], patterns }).unwrap();
        assert_eq!(noise.remove("a\nBuild 17\nabba\n".to_owned()), "a\naa\n");
        assert_eq!(Noise::default().remove("same".to_owned()), "same");
    }

    #[test]
    fn a_bad_pattern_is_an_error() {
        assert!(Noise::new(&Volatile { keys: vec![], patterns: vec!["(".to_owned()] }).is_err());
    }
}
