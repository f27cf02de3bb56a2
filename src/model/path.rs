//! Paths in the archive's tree.
//!
//! A path is a pure function of the canonical URL, or of a repository and a file in it:
//! no two have the same path, no path is a directory of another, and every name is safe
//! for Git on every file system. It stays as close to the address as that allows.
//!
//! A page is `<host>[+port][+http]/<segment>/…/<last>.md`. A last segment that is empty is
//! `index`, a real `index` is `!69ndex`; a query follows behind `!-`.

mod escape;
#[cfg(test)]
mod tests;

use std::fmt;

use self::escape::Text;
use super::{PageUrl, Repository};

/// Longest path in bytes.
const MAX_BYTES: usize = 900;
/// Most names in a path.
const MAX_NAMES: usize = 40;
/// Name of the page whose URL ends in `/`.
const INDEX: &str = "index";

/// What becomes of capital letters in paths; fixed when an archive is made.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum CaseRule {
    /// Capitals stay capitals.
    #[default]
    Keep,
    /// Capitals are escaped, so that no two paths differ in case only.
    Portable,
}

/// Path of a page below `pages/<source>/`; ends in `.md`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TreePath(String);

/// Why a path cannot be turned back.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PathError {
    /// The path was too long and holds a hash; the page's own `url` tells the address.
    #[error("the path is hashed: the address stands in the page's front matter")]
    Hashed,
    /// No URL or file has this path.
    #[error("no page can have the path `{0}`")]
    Invalid(String),
}

impl TreePath {
    /// The path of the page with that URL.
    #[must_use]
    pub fn of_url(url: &PageUrl, case: CaseRule) -> Self {
        let mut path = String::with_capacity(url.as_str().len() + 16);
        path.push_str(&host_directory(url.host(), url.port(), url.scheme()));
        let root = path.len();
        let segments = &url.path()[1..];
        let (directories, last) = match segments.rfind('/') {
            Some(at) => (Some(&segments[..at]), &segments[at + 1..]),
            None => (None, segments),
        };
        if let Some(directories) = directories {
            for segment in directories.split('/') {
                push_directory(&mut path, segment.as_bytes(), Text::Url, case);
            }
        }
        path.push('/');
        let start = path.len();
        match last {
            "" => path.push_str(INDEX),
            INDEX => path.push_str("!69ndex"),
            _ => escape::push(&mut path, last.as_bytes(), Text::Url, case),
        }
        if let Some(query) = url.query() {
            path.push_str(escape::QUERY);
            escape::push(&mut path, query.as_bytes(), Text::Url, case);
        }
        escape::end_page(&mut path, start, ".md");
        Self(bounded(path, root))
    }

    /// The path of a file of a repository; `file` is its path there, bytes as Git has them.
    ///
    /// A name that ends in `.md` stays as it is, any other gets `!.md`.
    #[must_use]
    pub fn of_file(repository: &Repository, file: &[u8], case: CaseRule) -> Self {
        let mut path = repository.tree_root_for(case).to_owned();
        let root = path.len();
        let mut names: Vec<&[u8]> = file.split(|&byte| byte == b'/').collect();
        let last = names.pop().unwrap_or_default();
        for name in names {
            push_directory(&mut path, name, Text::File, case);
        }
        path.push('/');
        let start = path.len();
        let (stem, ending) = match last.strip_suffix(b".md") {
            Some(stem) if !stem.is_empty() => (stem, ".md"),
            _ => (last, "!.md"),
        };
        if stem.is_empty() {
            path.push_str(escape::EMPTY);
        }
        escape::push(&mut path, stem, Text::File, case);
        escape::end_page(&mut path, start, ending);
        Self(bounded(path, root))
    }

    /// Takes a path as it stands in a tree below `pages/<source>/`.
    ///
    /// # Errors
    /// No page can have that path.
    pub fn parse(path: &str) -> Result<Self, PathError> {
        if is_tree_path(path) {
            Ok(Self(path.to_owned()))
        } else {
            Err(PathError::Invalid(path.to_owned()))
        }
    }

    /// The URL that has this path, for pages of sites and feeds.
    ///
    /// # Errors
    /// The path is hashed, or no URL has it.
    pub fn to_url(&self) -> Result<PageUrl, PathError> {
        if escape::is_hashed(&self.0) {
            return Err(PathError::Hashed);
        }
        let url = decode_url(&self.0).and_then(|text| PageUrl::parse(&text).ok());
        url.filter(|url| self.rules().iter().any(|&case| Self::of_url(url, case) == *self))
            .ok_or_else(|| PathError::Invalid(self.0.clone()))
    }

    /// The file that has this path below that repository.
    ///
    /// # Errors
    /// The path is hashed, or no file of that repository has it.
    pub fn to_file(&self, repository: &Repository) -> Result<Vec<u8>, PathError> {
        let below = |case| self.0.strip_prefix(repository.tree_root_for(case))?.strip_prefix('/');
        let mut hashed = false;
        for case in self.rules() {
            let Some(rest) = below(case) else { continue };
            hashed |= escape::is_hashed(rest);
            let file = decode_file(rest);
            if let Some(file) = file.filter(|file| Self::of_file(repository, file, case) == *self) {
                return Ok(file);
            }
        }
        Err(if hashed { PathError::Hashed } else { PathError::Invalid(self.0.clone()) })
    }

    /// The path as text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The path of the page's links file below `links/<source>/`: `.tsv` for the last `.md`.
    #[must_use]
    pub fn links(&self) -> String {
        format!("{}.tsv", self.0.strip_suffix(".md").unwrap_or(&self.0))
    }

    /// The rules that may have made this path, the likelier one first.
    fn rules(&self) -> [CaseRule; 2] {
        if has_capital(&self.0) {
            [CaseRule::Keep, CaseRule::Portable]
        } else {
            [CaseRule::Portable, CaseRule::Keep]
        }
    }
}

impl fmt::Display for TreePath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Whether a name can be given to a file or directory on every file system, and means
/// nothing to Git: 1 to 200 bytes of `A-Za-z0-9-_.+=,@!%`, no dot at either end, no device
/// of Windows. Git's own `.gitattributes` is no such name.
#[must_use]
pub fn is_safe_component(name: &[u8]) -> bool {
    let (Some(first), Some(last)) = (name.first(), name.last()) else { return false };
    if *first == b'.' || *last == b'.' || name.len() > escape::MAX_NAME || escape::is_reserved(name)
    {
        return false;
    }
    let mut at = 0;
    while at < name.len() {
        if !matches!(name[at], b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'_' | b'.'
            | b'+' | b'=' | b',' | b'@' | b'!' | b'%')
        {
            return false;
        }
        at += 1;
    }
    true
}

/// The directory of a host: `<host>[+port][+http]`; `port` where it is not the default.
pub(super) fn host_directory(host: &str, port: Option<u16>, scheme: &str) -> String {
    let mut out = String::with_capacity(host.len() + 16);
    escape::push_host(&mut out, host);
    if let Some(port) = port {
        out.push('+');
        out.push_str(&port.to_string());
    }
    if scheme == "http" {
        out.push_str("+http");
    }
    escape::end_directory(&mut out, 0);
    out
}

/// Appends `/` and a segment of a URL as a directory.
pub(super) fn push_segment(path: &mut String, segment: &str, case: CaseRule) {
    push_directory(path, segment.as_bytes(), Text::Url, case);
}

fn push_directory(path: &mut String, name: &[u8], kind: Text, case: CaseRule) {
    path.push('/');
    let start = path.len();
    escape::push(path, name, kind, case);
    escape::end_directory(path, start);
}

/// The path, or that of its hash below its first `root` bytes if it is too long.
fn bounded(mut path: String, root: usize) -> String {
    if path.len() > MAX_BYTES || path.split('/').count() > MAX_NAMES {
        let hash = escape::hash(&path);
        path.truncate(root);
        path.push('/');
        path.push_str(escape::HASHED_PATHS);
        path.push('/');
        path.push_str(&hash);
        path.push_str(".md");
    }
    path
}

fn decode_url(path: &str) -> Option<String> {
    let (host, rest) = path.split_once('/')?;
    let (mut host, http) = match host.strip_suffix("+http") {
        Some(host) => (host, true),
        None => (host, false),
    };
    let mut port = None;
    if let Some((name, digits)) = host.split_once('+') {
        (host, port) = (name, Some(digits));
    }
    let mut url = if http { b"http://".to_vec() } else { b"https://".to_vec() };
    url.extend(escape::decode(host, Text::Url)?);
    if let Some(port) = port {
        url.push(b':');
        url.extend(port.bytes());
    }
    let mut names = rest.split('/').peekable();
    while let Some(name) = names.next() {
        url.push(b'/');
        if names.peek().is_some() {
            if name != escape::EMPTY {
                url.extend(escape::decode(name, Text::Url)?);
            }
            continue;
        }
        let stem = name.strip_suffix(".md")?;
        let (last, query) = match stem.split_once(escape::QUERY) {
            Some((last, query)) => (last, Some(query)),
            None => (stem, None),
        };
        if last != INDEX {
            url.extend(escape::decode(last, Text::Url)?);
        }
        if let Some(query) = query {
            url.push(b'?');
            url.extend(escape::decode(query, Text::Url)?);
        }
    }
    String::from_utf8(url).ok()
}

fn decode_file(path: &str) -> Option<Vec<u8>> {
    let (directories, last) = path.rsplit_once('/').unwrap_or(("", path));
    let mut file = Vec::with_capacity(path.len());
    for name in directories.split('/').filter(|name| !name.is_empty()) {
        if name != escape::EMPTY {
            file.extend(escape::decode(name, Text::File)?);
        }
        file.push(b'/');
    }
    let stem = last.strip_suffix(".md")?;
    match stem.strip_suffix('!') {
        Some(escape::EMPTY) => {}
        Some(other) => file.extend(escape::decode(other, Text::File)?),
        None => {
            file.extend(escape::decode(stem, Text::File)?);
            file.extend(b".md");
        }
    }
    Some(file)
}

fn is_tree_path(path: &str) -> bool {
    let Some((directories, page)) = path.rsplit_once('/') else { return false };
    if path.len() > MAX_BYTES {
        return false;
    }
    let (directories, page_is_valid) = match directories.rsplit_once('/') {
        Some((root, escape::HASHED_PATHS)) => (root, escape::is_hash_page(page)),
        _ => (directories, escape::is_page(page)),
    };
    if !page_is_valid || has_capital(path) && has_escaped_capital(path) {
        return false;
    }
    let mut names = 1;
    for name in directories.split('/') {
        if !escape::is_directory(name) {
            return false;
        }
        names += 1;
    }
    names <= MAX_NAMES
}

fn has_capital(path: &str) -> bool {
    path.as_bytes().iter().any(u8::is_ascii_uppercase)
}

fn has_escaped_capital(path: &str) -> bool {
    path.as_bytes().windows(2).any(|pair| pair[0] == b'!' && pair[1].is_ascii_lowercase())
}
