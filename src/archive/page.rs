//! The file of a page: front matter and body.
//!
//! `decode_page(encode_page(p)) == p` for every page, and encoding is a pure function of
//! the page, so that equal pages are equal blobs.

use std::fmt::Write as _;

use crate::model::yaml;
use crate::model::{GitOrigin, Page, PageUrl, Representation, SourceId, Timestamp};

/// Why a file is not a page.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PageFormatError {
    /// Not UTF-8.
    #[error("not UTF-8")]
    Encoding,
    /// No front matter between two lines `---`.
    #[error("no front matter")]
    NoFrontMatter,
    /// A key is missing, or not where it belongs.
    #[error("the key `{0}` is missing or out of order")]
    Key(&'static str),
    /// The value of a key is not what it must be.
    #[error("the value of `{0}` is wrong")]
    Value(&'static str),
    /// Lines behind the last key.
    #[error("unknown front matter `{0}`")]
    Unknown(String),
}

/// Writes a page as its file.
#[must_use]
pub fn encode_page(page: &Page) -> Vec<u8> {
    let mut out = String::with_capacity(page.body.len() + page.upstream.len() * 2 + 512);
    out.push_str("---\n");
    let mut line = |key: &str, value: &str| {
        out.push_str(key);
        out.push_str(": ");
        out.push_str(value);
        out.push('\n');
    };
    line("url", &yaml::scalar(page.url.as_str()));
    line("title", &yaml::scalar(&page.title));
    line("source", &yaml::scalar(page.source.as_str()));
    line("licence", &yaml::scalar(&page.licence));
    line("retrieved", &page.retrieved.to_string());
    line("representation", page.representation.name());
    if let Some(git) = &page.git {
        line("repository", &yaml::scalar(&git.repository));
        line("file", &yaml::scalar(&git.file));
        line("commit", &yaml::scalar(&git.commit));
    }
    if page.upstream_is_whole() {
        let _ = write!(out, "upstream: {}", page.upstream);
    } else if !page.upstream.is_empty() {
        out.push_str("upstream:\n");
        for inner in page.upstream.lines() {
            let _ = writeln!(out, "  {inner}");
        }
    }
    out.push_str("---\n");
    if !page.body.is_empty() {
        out.push('\n');
        out.push_str(&page.body);
    }
    out.into_bytes()
}

/// Reads a page's file.
///
/// # Errors
/// The bytes are not what [`encode_page`] writes.
pub fn decode_page(bytes: &[u8]) -> Result<Page, PageFormatError> {
    let text = std::str::from_utf8(bytes).map_err(|_| PageFormatError::Encoding)?;
    let text = text.strip_prefix("---\n").ok_or(PageFormatError::NoFrontMatter)?;
    let (front, rest) = split_front(text).ok_or(PageFormatError::NoFrontMatter)?;
    let mut lines = Lines(front);
    let url = lines.scalar("url")?;
    let title = lines.scalar("title")?;
    let source = lines.scalar("source")?;
    let licence = lines.scalar("licence")?;
    let retrieved = lines.plain("retrieved")?;
    let representation = lines.plain("representation")?;
    let git = match lines.try_plain("repository") {
        None => None,
        Some(raw) => Some(GitOrigin {
            repository: parsed(raw, "repository")?,
            file: lines.scalar("file")?,
            commit: lines.scalar("commit")?,
        }),
    };
    let upstream = lines.upstream()?;
    Ok(Page {
        url: PageUrl::parse(&url).map_err(|_| PageFormatError::Value("url"))?,
        title,
        source: SourceId::new(&source).map_err(|_| PageFormatError::Value("source"))?,
        licence,
        retrieved: Timestamp::parse(retrieved).map_err(|_| PageFormatError::Value("retrieved"))?,
        representation: Representation::from_name(representation)
            .ok_or(PageFormatError::Value("representation"))?,
        git,
        upstream,
        body: rest.strip_prefix('\n').unwrap_or(rest).to_owned(),
    })
}

/// Front matter (with its last newline) and what follows the closing line.
fn split_front(text: &str) -> Option<(&str, &str)> {
    if let Some(rest) = text.strip_prefix("---\n") {
        return Some(("", rest));
    }
    let end = text.find("\n---\n")?;
    Some((&text[..=end], &text[end + 5..]))
}

fn parsed(raw: &str, key: &'static str) -> Result<String, PageFormatError> {
    yaml::parse_scalar(raw).ok_or(PageFormatError::Value(key))
}

/// The lines of front matter that were not read yet.
struct Lines<'a>(&'a str);

impl<'a> Lines<'a> {
    fn try_plain(&mut self, key: &'static str) -> Option<&'a str> {
        let (line, rest) = self.0.split_once('\n')?;
        let value = line.strip_prefix(key)?.strip_prefix(": ")?;
        self.0 = rest;
        Some(value)
    }

    fn plain(&mut self, key: &'static str) -> Result<&'a str, PageFormatError> {
        self.try_plain(key).ok_or(PageFormatError::Key(key))
    }

    fn scalar(&mut self, key: &'static str) -> Result<String, PageFormatError> {
        parsed(self.plain(key)?, key)
    }

    /// Upstream front matter, to the end.
    fn upstream(&mut self) -> Result<String, PageFormatError> {
        if let Some(raw) = self.try_plain("upstream") {
            self.finished()?;
            if !raw.starts_with('"') || yaml::parse_scalar(raw).is_none() {
                return Err(PageFormatError::Value("upstream"));
            }
            return Ok(format!("{raw}\n"));
        }
        let Some(block) = self.0.strip_prefix("upstream:\n") else {
            self.finished()?;
            return Ok(String::new());
        };
        let mut inner = String::with_capacity(block.len());
        for line in block.lines() {
            let line = line.strip_prefix("  ").ok_or(PageFormatError::Value("upstream"))?;
            inner.push_str(line);
            inner.push('\n');
        }
        Ok(inner)
    }

    fn finished(&self) -> Result<(), PageFormatError> {
        match self.0.lines().next() {
            None => Ok(()),
            Some(line) => Err(PageFormatError::Unknown(line.to_owned())),
        }
    }
}
