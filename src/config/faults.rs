//! Mistakes in a file: collected while it is read, reported together.

use std::cell::RefCell;
use std::fmt;
use std::ops::Range;
use std::sync::{Arc, LazyLock};

use miette::{Diagnostic, LabeledSpan, NamedSource, SourceCode};
use regex::Regex;

/// What is wrong with a value, and what would be right; not yet where.
pub(super) struct Complaint {
    pub message: String,
    pub hint: String,
}

impl Complaint {
    pub fn new(message: impl Into<String>, hint: impl Into<String>) -> Self {
        Self { message: message.into(), hint: hint.into() }
    }
}

/// Shows an offending text in a message: on one line, with an end, without a password.
pub(super) fn quote(text: &str) -> String {
    const LONGEST: usize = 80;
    let masked = mask(text);
    let mut shown: String = masked.chars().take(LONGEST).flat_map(show).collect();
    if masked.chars().nth(LONGEST).is_some() {
        shown.push('…');
    }
    format!("`{shown}`")
}

fn show(c: char) -> Vec<char> {
    if c.is_control() { c.escape_default().collect() } else { vec![c] }
}

/// Replaces what is secret in addresses by as many asterisks, so that no offset changes:
/// passwords, whoever asks a web server, and tokens in queries.
pub(super) fn mask(text: &str) -> String {
    static SECRETS: LazyLock<Vec<Regex>> = LazyLock::new(|| {
        let patterns = [
            r#"(://[^/\s"'@:]*:)([^\s"'/]+)(@)"#,
            r#"(?i)(https?://)([^/\s"'@*]+)(@)"#,
            r#"(?i)([?&][a-z_-]*(?:token|password|secret|api_?key)=)([^&#\s"']+)()"#,
        ];
        patterns.iter().filter_map(|pattern| Regex::new(pattern).ok()).collect()
    });
    let stars = |found: &regex::Captures<'_>| {
        format!("{}{}{}", &found[1], "*".repeat(found[2].len()), &found[3])
    };
    let hide = |text: String, secret: &Regex| secret.replace_all(&text, stars).into_owned();
    SECRETS.iter().fold(text.to_owned(), hide)
}

struct Fault {
    span: Option<Range<usize>>,
    also: Option<Range<usize>>,
    complaint: Complaint,
}

/// The mistakes found so far; spans are byte offsets in the file.
#[derive(Default)]
pub(super) struct Faults(RefCell<Vec<Fault>>);

impl Faults {
    /// Records a mistake at `span`.
    pub fn add(&self, span: Range<usize>, complaint: Complaint) {
        self.0.borrow_mut().push(Fault { span: Some(span), also: None, complaint });
    }

    /// Records that what stands at `span` contradicts what stands at `other`.
    pub fn contradiction(&self, span: Range<usize>, other: Range<usize>, complaint: Complaint) {
        self.0.borrow_mut().push(Fault { span: Some(span), also: Some(other), complaint });
    }

    /// Turns `value` into the result of reading the file `name` with that text.
    ///
    /// # Errors
    /// Something was recorded.
    pub fn settle<T>(self, value: T, name: &str, text: &str) -> Result<T, ConfigErrors> {
        let faults = self.0.into_inner();
        if faults.is_empty() { Ok(value) } else { Err(ConfigErrors::new(name, text, faults)) }
    }
}

impl Fault {
    fn place(self, name: &str, text: &str, source: &Arc<NamedSource<String>>) -> ConfigError {
        let (line, column) = self.span.as_ref().map_or((0, 0), |span| position(text, span.start));
        let offending = self.span.clone().and_then(|span| text.get(span)).unwrap_or_default();
        let also = self.also.map(|span| (position(text, span.start).0, span));
        ConfigError {
            file: name.to_owned(),
            line,
            column,
            offending: offending.to_owned(),
            message: mask(&self.complaint.message),
            hint: mask(&self.complaint.hint),
            span: self.span,
            also,
            text: Arc::clone(source),
        }
    }
}

/// Line and column of a byte offset, both from 1, columns in characters.
fn position(text: &str, offset: usize) -> (usize, usize) {
    let before = text.get(..offset).unwrap_or(text);
    let line = before.matches('\n').count() + 1;
    let start = before.rfind('\n').map_or(0, |newline| newline + 1);
    (line, before.get(start..).unwrap_or_default().chars().count() + 1)
}

/// All that is wrong with a configuration file; never empty, in the order of the file.
#[derive(Debug, thiserror::Error)]
#[error("{name}: {}", count(.errors.len()))]
pub struct ConfigErrors {
    name: String,
    errors: Vec<ConfigError>,
}

fn count(errors: usize) -> String {
    if errors == 1 { "one mistake".to_owned() } else { format!("{errors} mistakes") }
}

impl ConfigErrors {
    fn new(name: &str, text: &str, mut faults: Vec<Fault>) -> Self {
        faults.sort_by_key(|fault| fault.span.as_ref().map_or(0, |span| span.start));
        let masked = mask(text);
        let source = Arc::new(NamedSource::new(name, masked.clone()));
        let errors = faults.into_iter().map(|fault| fault.place(name, &masked, &source)).collect();
        Self { name: name.to_owned(), errors }
    }

    /// The only mistake of a file, at `span`.
    pub(super) fn one(name: &str, text: &str, span: Range<usize>, complaint: Complaint) -> Self {
        Self::new(name, text, vec![Fault { span: Some(span), also: None, complaint }])
    }

    /// The mistake of a file that cannot be read at all.
    pub(super) fn whole(name: &str, complaint: Complaint) -> Self {
        Self::new(name, "", vec![Fault { span: None, also: None, complaint }])
    }

    /// What was read, unless it or one of the files that it names has a mistake.
    pub(super) fn join<T>(read: Result<T, Self>, more: Vec<Self>) -> Result<T, Self> {
        let mut more = more.into_iter();
        let mut joined = match read {
            Err(errors) => errors,
            Ok(value) => match more.next() {
                None => return Ok(value),
                Some(errors) => errors,
            },
        };
        joined.errors.extend(more.flat_map(|errors| errors.errors));
        Err(joined)
    }

    /// The mistakes, in the order of the file.
    #[must_use]
    pub fn errors(&self) -> &[ConfigError] {
        &self.errors
    }

    /// One plain line for each mistake: `sources.toml:12:5: message (hint)`.
    #[must_use]
    pub fn lines(&self) -> Vec<String> {
        self.errors.iter().map(ConfigError::line).collect()
    }
}

impl Diagnostic for ConfigErrors {
    fn related<'a>(&'a self) -> Option<Box<dyn Iterator<Item = &'a dyn Diagnostic> + 'a>> {
        Some(Box::new(self.errors.iter().map(|error| error as &dyn Diagnostic)))
    }
}

/// One mistake in a configuration file. Passwords in addresses are masked in all of it.
#[derive(Debug, thiserror::Error)]
#[error("{message}")]
pub struct ConfigError {
    /// Name of the file, as it was given.
    pub file: String,
    /// Line, from 1; 0 where the file could not be read at all.
    pub line: usize,
    /// Column in characters, from 1; 0 where the file could not be read at all.
    pub column: usize,
    /// The offending text as it stands in the file; empty where something is missing.
    pub offending: String,
    /// What is wrong.
    pub message: String,
    /// What would be right.
    pub hint: String,
    span: Option<Range<usize>>,
    also: Option<(usize, Range<usize>)>,
    text: Arc<NamedSource<String>>,
}

impl ConfigError {
    /// The mistake on one plain line: `sources.toml:12:5: message (hint)`.
    #[must_use]
    pub fn line(&self) -> String {
        let place = match self.span {
            Some(_) => format!("{}:{}:{}", self.file, self.line, self.column),
            None => self.file.clone(),
        };
        let also = self.also.as_ref().map(|(line, _)| format!(", see line {line}"));
        format!("{place}: {}{} ({})", self.message, also.unwrap_or_default(), self.hint)
    }
}

impl Diagnostic for ConfigError {
    fn help<'a>(&'a self) -> Option<Box<dyn fmt::Display + 'a>> {
        Some(Box::new(&self.hint))
    }

    fn source_code(&self) -> Option<&dyn SourceCode> {
        self.span.as_ref().map(|_| &*self.text as &dyn SourceCode)
    }

    fn labels(&self) -> Option<Box<dyn Iterator<Item = LabeledSpan> + '_>> {
        let here = LabeledSpan::new_with_span(Some("here".to_owned()), self.span.clone()?);
        let also = self
            .also
            .as_ref()
            .map(|(_, span)| LabeledSpan::new_with_span(Some("and here".to_owned()), span.clone()));
        Some(Box::new(std::iter::once(here).chain(also)))
    }
}
