//! Where a mirror is: an address that may be given to Git and that can be shown to anybody.

use std::fmt;
use std::net::IpAddr;

use super::{Repository, RepositoryError};

/// The address of a mirror: `https://`, `ssh://`, `user@host:path`, `file://` or an absolute
/// path; `http://` for literal loopback addresses alone. Nothing secret can be part of it, and
/// what is shown of it names no user of the web.
#[derive(Clone, PartialEq, Eq)]
pub struct RemoteUrl {
    repository: Repository,
    shown: String,
}

impl RemoteUrl {
    /// Reads an address.
    ///
    /// # Errors
    /// It names no repository, has a password, a token or a query in it, or is of a protocol
    /// that no mirror is pushed to.
    pub fn parse(text: &str) -> Result<Self, RemoteError> {
        let refuse = |why: &str| RemoteError { text: redacted(text), why: why.to_owned() };
        if has_web_user(text) {
            return Err(refuse(
                "a user name, password or token is never written down: let Git's own \
                 `credential.helper` give it, or use ssh",
            ));
        }
        let repository = Repository::parse(text)
            .map_err(|RepositoryError { why, .. }| RemoteError { text: redacted(text), why })?;
        match protocol_of(&repository) {
            "https" | "ssh" | "file" => {}
            "http" if is_loopback(&repository) => {}
            "http" => {
                return Err(refuse("http is for loopback addresses alone: write https"));
            }
            _ => return Err(refuse("a mirror is reached by https, by ssh or by a local path")),
        }
        let local = text.starts_with('/');
        let shown = if local { text.to_owned() } else { redacted(repository.fetch_url()) };
        Ok(Self { repository, shown })
    }

    /// The repository as Git is given it; not to be shown.
    #[must_use]
    pub fn repository(&self) -> &Repository {
        &self.repository
    }

    /// `https`, `http`, `ssh` or `file`.
    #[must_use]
    pub fn protocol(&self) -> &str {
        protocol_of(&self.repository)
    }
}

impl fmt::Display for RemoteUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.shown)
    }
}

impl fmt::Debug for RemoteUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "RemoteUrl({})", self.shown)
    }
}

/// Why a text does not name a mirror.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{text}` does not name a mirror: {why}")]
pub struct RemoteError {
    /// The text, without anything that may be secret.
    pub text: String,
    /// What is wrong with it.
    pub why: String,
}

fn protocol_of(repository: &Repository) -> &str {
    repository.fetch_url().split(':').next().unwrap_or_default()
}

fn is_loopback(repository: &Repository) -> bool {
    let address = repository.endpoint().and_then(|(host, _)| host.parse::<IpAddr>().ok());
    address.is_some_and(|address| address.is_loopback())
}

/// Whether an address of the web names a user.
fn has_web_user(text: &str) -> bool {
    let Some((scheme, rest)) = text.split_once("://") else { return false };
    let web = ["http", "https"].iter().any(|web| scheme.eq_ignore_ascii_case(web));
    web && authority(rest).contains('@')
}

/// What stands in front of the path of an address, behind its scheme.
fn authority(rest: &str) -> &str {
    let end = rest.find(|c: char| "/?#\\".contains(c) || c.is_whitespace() || is_quote(c));
    &rest[..end.unwrap_or(rest.len())]
}

fn is_quote(c: char) -> bool {
    matches!(c, '\'' | '"' | '`' | '<' | '>')
}

/// A text whose addresses have lost what may be secret: who asks (but for ssh a plain user
/// name), and the query.
#[must_use]
pub fn redacted(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find("://") {
        let (before, after) = rest.split_at(at + 3);
        out.push_str(before);
        let authority = authority(after);
        let (user, host) = authority.rsplit_once('@').map_or(("", authority), |(u, h)| (u, h));
        if !user.is_empty() {
            let plain = before.ends_with("ssh://") && !user.contains(':');
            out.push_str(if plain { user } else { "***" });
            out.push('@');
        }
        out.push_str(host);
        rest = &after[authority.len()..];
        let end = rest.find(|c: char| c.is_whitespace() || is_quote(c)).unwrap_or(rest.len());
        let (path, behind) = rest.split_at(end);
        match path.split_once('?') {
            Some((path, _)) => out.extend([path, "?***"]),
            None => out.push_str(path),
        }
        rest = behind;
    }
    out.push_str(rest);
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_secret_is_shown() {
        for (text, shown) in [
            ("https://git.example.org/a.git", "https://git.example.org/a.git"),
            ("https://bob:hunter2@git.example.org/a", "https://***@git.example.org/a"),
            ("https://ghp_abc@git.example.org/a", "https://***@git.example.org/a"),
            ("https://g.example/a?token=abc", "https://g.example/a?***"),
            ("ssh://git@g.example/a", "ssh://git@g.example/a"),
            ("ssh://git:pw@g.example/a", "ssh://***@g.example/a"),
            (
                "fatal: no 'https://a:b@h/x?k=v' and \"http://t@h\"",
                "fatal: no 'https://***@h/x?***' and \"http://***@h\"",
            ),
            ("/srv/a@b.git", "/srv/a@b.git"),
        ] {
            assert_eq!(redacted(text), shown);
        }
    }

    #[test]
    fn mirrors_are_reached_in_few_ways() {
        for (text, protocol, shown) in [
            ("https://g.example/o/a.git", "https", "https://g.example/o/a.git"),
            ("ssh://git@g.example/o/a.git", "ssh", "ssh://git@g.example/o/a.git"),
            ("git@g.example:o/a.git", "ssh", "ssh://git@g.example/o/a.git"),
            ("/srv/mirror.git", "file", "/srv/mirror.git"),
            ("file:///srv/mirror.git", "file", "file:///srv/mirror.git"),
            ("http://127.0.0.1:8080/a.git", "http", "http://127.0.0.1:8080/a.git"),
            ("http://[::1]:8080/a.git", "http", "http://[::1]:8080/a.git"),
        ] {
            let url = RemoteUrl::parse(text).unwrap();
            assert_eq!((url.protocol(), url.to_string().as_str()), (protocol, shown));
            assert!(format!("{url:?}").contains(shown));
        }
    }

    #[test]
    fn what_is_refused_is_shown_without_secrets() {
        for (text, why) in [
            ("https://bob:hunter2@g.example/a", "credential.helper"),
            ("https://hunter2@g.example/a", "credential.helper"),
            ("https://g.example/a?token=hunter2", "no query"),
            ("ssh://git:hunter2@g.example/a", "credential helper"),
            ("http://g.example/a", "write https"),
            ("http://localhost/a", "write https"),
            ("git://g.example/a", "by https, by ssh"),
            ("mirror.git", "absolute path"),
        ] {
            let error = RemoteUrl::parse(text).unwrap_err().to_string();
            assert!(error.contains(why) && !error.contains("hunter2"), "{error}");
        }
    }
}
