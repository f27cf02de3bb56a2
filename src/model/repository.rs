//! Git repositories as sources of pages.
//!
//! A [`Repository`] keeps apart what Git is given (which may name a user or a local path)
//! and what may be shown and stored (which never does). No password can be part of it.

mod file;
mod parse;
#[cfg(test)]
mod tests;

use super::CaseRule;
use super::path::push_segment;

pub use self::file::{RepositoryFile, UrlMapping};

/// One repository of a Git source.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Repository {
    fetch: String,
    address: String,
    endpoint: Option<(String, u16)>,
    root: String,
    portable_root: String,
    /// Web address of the repository.
    home: String,
    /// What the path of a file is put behind to make its web address.
    files: String,
}

/// Why a text does not name a repository.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{text}` does not name a repository: {why}")]
pub struct RepositoryError {
    /// The text, without any password.
    pub text: String,
    /// What is wrong with it.
    pub why: String,
}

impl Repository {
    /// Takes `https://`, `http://`, `git://`, `ssh://` and `file://` URLs, `user@host:path`
    /// and absolute local paths.
    ///
    /// # Errors
    /// The text is none of these, or has a password in it.
    pub fn parse(text: &str) -> Result<Self, RepositoryError> {
        parse::repository(text)
            .map_err(|why| RepositoryError { text: parse::without_secrets(text), why })
    }

    /// The URL that Git is given: local paths are `file://` URLs, `user@host:path` is
    /// `ssh://user@host/path`.
    #[must_use]
    pub fn fetch_url(&self) -> &str {
        &self.fetch
    }

    /// The address as it may be shown and stored: no user, no local path.
    #[must_use]
    pub fn address(&self) -> &str {
        &self.address
    }

    /// Host and port that transport connects to; `None` for local repositories. An IPv6
    /// address stands without brackets.
    #[must_use]
    pub fn endpoint(&self) -> Option<(&str, u16)> {
        self.endpoint.as_ref().map(|(host, port)| (host.as_str(), *port))
    }

    /// `<host>/<owner>/<repo>`: where its pages stand below `pages/<source>/`, escaped,
    /// capitals kept.
    #[must_use]
    pub fn tree_root(&self) -> &str {
        self.tree_root_for(CaseRule::Keep)
    }

    /// Where its pages stand below `pages/<source>/` under that rule.
    #[must_use]
    pub fn tree_root_for(&self, case: CaseRule) -> &str {
        match case {
            CaseRule::Keep => &self.root,
            CaseRule::Portable => &self.portable_root,
        }
    }

    /// Whether pages of both would share a directory: one stands where the other does, or
    /// inside of it.
    #[must_use]
    pub fn clashes_with(&self, other: &Self) -> bool {
        let holds = |outer: &str, inner: &str| {
            inner.strip_prefix(outer).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
        };
        holds(&self.root, &other.root) || holds(&other.root, &self.root)
    }
}

fn tree_root(host: &str, segments: &[&str], case: CaseRule) -> String {
    let mut root = host.to_owned();
    for segment in segments {
        push_segment(&mut root, segment, case);
    }
    root
}
