//! Files of a repository as pages: their addresses, and where references in them lead.
//!
//! Both are pure functions of the repository, the mapping and the names: which files exist
//! never matters, so that an address means the same in every commit.

use super::Repository;
use crate::model::url::{decode_percent, encode_path};
use crate::model::{PageUrl, Refusal, Resolve};

/// How files of repositories become published addresses.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct UrlMapping {
    /// Address that the files are published under; ends in `/`.
    pub base: Option<PageUrl>,
    /// Prefixes of paths that are cut off before the rest is put behind `base`.
    pub roots: Vec<String>,
}

/// One file of a repository: it has an address, and references in it are relative to it.
#[derive(Clone, Copy, Debug)]
pub struct RepositoryFile<'a> {
    /// The repository.
    pub repository: &'a Repository,
    /// How its files become addresses.
    pub mapping: &'a UrlMapping,
    /// Path in the repository, bytes as Git has them.
    pub file: &'a [u8],
}

impl RepositoryFile<'_> {
    /// The address of the file as a page: below the mapping's base, where a Markdown file
    /// loses its extension and `index` and `README` stand for their directory; else on the
    /// web pages of its forge; else below `https://<repository-name>.git.invalid/`.
    ///
    /// # Errors
    /// The path makes no URL (too long, NUL).
    pub fn url(&self) -> Result<PageUrl, Refusal> {
        PageUrl::parse(&self.address(self.file))
    }

    /// The address of any file of the repository.
    fn address(&self, file: &[u8]) -> String {
        let Some(base) = &self.mapping.base else { return self.on_forge(file) };
        let base = base.as_str().split('?').next().unwrap_or_default();
        let mut text = base.to_owned();
        if !text.ends_with('/') {
            text.push('/');
        }
        encode_path(published(self.below_root(file)), &mut text);
        text
    }

    fn on_forge(&self, file: &[u8]) -> String {
        if file.is_empty() {
            return self.repository.home.clone();
        }
        let mut text = self.repository.files.clone();
        encode_path(file, &mut text);
        text
    }

    /// The path without the longest of the mapping's roots that holds it.
    fn below_root<'f>(&self, file: &'f [u8]) -> &'f [u8] {
        let below = |root: &String| {
            let root = root.trim_matches('/').as_bytes();
            if root.is_empty() { None } else { file.strip_prefix(root)?.strip_prefix(b"/") }
        };
        self.mapping.roots.iter().filter_map(below).min_by_key(|rest| rest.len()).unwrap_or(file)
    }

    /// Where a path in a reference leads, as a path in the repository; it cannot climb
    /// above the root.
    fn target(&self, path: &[u8]) -> Vec<u8> {
        let directory = match self.file.iter().rposition(|&byte| byte == b'/') {
            Some(at) if !path.starts_with(b"/") => &self.file[..at],
            _ => b"",
        };
        let mut names: Vec<&[u8]> = Vec::new();
        for name in directory.split(|&byte| byte == b'/').chain(path.split(|&byte| byte == b'/')) {
            match name {
                b"" | b"." => {}
                b".." => {
                    names.pop();
                }
                _ => names.push(name),
            }
        }
        names.join(&b'/')
    }
}

impl Resolve for RepositoryFile<'_> {
    /// The fragment is dropped, a query is kept. Absolute URLs stay what they are. Of the
    /// others, paths of files lead to those files; with a base, a path that begins with `/`
    /// and one without extension are taken for references between published pages.
    fn resolve(&self, href: &str) -> Result<PageUrl, Refusal> {
        let href = plain(href);
        let reference = href.split('#').next().unwrap_or_default();
        let (path, query) = match reference.split_once('?') {
            Some((path, query)) => (path, Some(query)),
            None => (reference, None),
        };
        if reference.is_empty() {
            return self.url();
        }
        if path.is_empty() || path.starts_with("//") || has_scheme(path) {
            return self.url()?.join(reference);
        }
        let bytes = decode_percent(path);
        if let Some(base) = &self.mapping.base {
            if path.starts_with('/') {
                return base.join(reference);
            }
            if extension(last_name(&bytes)).is_none() {
                return self.url()?.join(reference);
            }
        }
        let mut address = self.address(&self.target(&bytes));
        if let Some(query) = query {
            address.push('?');
            address.push_str(query);
        }
        PageUrl::parse(&address)
    }
}

/// The reference as the URL standard reads it: no white space around it, no tabs and line
/// ends in it, and before the query a `\` is a `/`.
fn plain(href: &str) -> String {
    let text: String = href
        .trim_matches(|c: char| c <= ' ')
        .chars()
        .filter(|c| !matches!(c, '\t' | '\n' | '\r'))
        .collect();
    let end = text.find(['?', '#']).unwrap_or(text.len());
    format!("{}{}", text[..end].replace('\\', "/"), &text[end..])
}

/// Whether a scheme (RFC 3986, section 3.1) stands at the beginning.
fn has_scheme(path: &str) -> bool {
    let Some((scheme, _)) = path.split_once(':') else { return false };
    scheme.starts_with(|c: char| c.is_ascii_alphabetic())
        && scheme.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'+' | b'-' | b'.'))
}

/// The path a site publishes a file under: without the extension of Markdown; `index` and
/// `README` are their directory.
fn published(file: &[u8]) -> &[u8] {
    let name = last_name(file);
    let directory = &file[..file.len() - name.len()];
    let Some((stem, extension)) = extension(name) else { return file };
    if !extension.eq_ignore_ascii_case(b"md") && !extension.eq_ignore_ascii_case(b"markdown") {
        return file;
    }
    if stem.eq_ignore_ascii_case(b"index") || stem.eq_ignore_ascii_case(b"readme") {
        return directory;
    }
    &file[..directory.len() + stem.len()]
}

/// What stands behind the last `/`.
fn last_name(path: &[u8]) -> &[u8] {
    path.rsplit(|&byte| byte == b'/').next().unwrap_or_default()
}

/// Stem and extension, where there are both.
fn extension(name: &[u8]) -> Option<(&[u8], &[u8])> {
    let dot = name.iter().rposition(|&byte| byte == b'.')?;
    let (stem, extension) = (&name[..dot], &name[dot + 1..]);
    (!stem.is_empty() && !extension.is_empty()).then_some((stem, extension))
}

impl Repository {
    /// The path of a file that has this address, whether or not it exists: the inverse of
    /// [`RepositoryFile::url`]. Where several names have one address (`a.md`, `a.markdown`),
    /// Markdown comes first.
    #[must_use]
    pub fn file_at(&self, mapping: &UrlMapping, url: &str) -> Option<Vec<u8>> {
        const MARK: &[u8] = b"x";
        let at = |file: &[u8]| RepositoryFile { repository: self, mapping, file }.url().ok();
        let roots = mapping.roots.iter().map(String::as_str).chain([""]);
        for root in roots {
            let root = root.trim_matches('/');
            let folder = if root.is_empty() { String::new() } else { format!("{root}/") };
            let probe = at(&[folder.as_bytes(), MARK].concat())?;
            let prefix = probe.as_str().strip_suffix('x');
            let Some(rest) = prefix.and_then(|prefix| url.strip_prefix(prefix)) else { continue };
            let file = [folder.as_bytes(), &decode_percent(rest)].concat();
            let endings: &[&str] = match mapping.base {
                Some(_) => &[".md", "index.md", "README.md", ".markdown", ""],
                None => &[""],
            };
            for ending in endings {
                let candidate = [file.as_slice(), ending.as_bytes()].concat();
                if at(&candidate).is_some_and(|found| found.as_str() == url) {
                    return Some(candidate);
                }
            }
        }
        None
    }
}
