//! Files at the root of both trees, made from the configuration.

use std::fmt::Write as _;

use super::layout::{ARCHIVE_TOML, FORMAT_VERSION, GITATTRIBUTES, PATHS_VERSION, README};
use crate::model::{Bot, CaseRule, Source, Visibility};

/// A file at the root of a tree.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ArchiveFile {
    /// Its name.
    pub name: &'static str,
    /// Its bytes.
    pub bytes: Vec<u8>,
}

impl ArchiveFile {
    /// All of them, for one ref.
    #[must_use]
    pub fn all(bot: &Bot, sources: &[Source], visibility: Visibility, case: CaseRule) -> Vec<Self> {
        let file = |name, text: String| Self { name, bytes: text.into_bytes() };
        vec![
            file(README, readme(bot, sources, visibility)),
            file(ARCHIVE_TOML, archive_toml(case)),
            file(GITATTRIBUTES, ATTRIBUTES.to_owned()),
        ]
    }
}

/// How Git shows the files.
pub(super) const ATTRIBUTES: &str = "*.md diff=markdown text eol=lf\n*.tsv text eol=lf\n";

/// The versions of the layout.
pub(super) fn archive_toml(case: CaseRule) -> String {
    let portable = case == CaseRule::Portable;
    format!("format = {FORMAT_VERSION}\npaths = {PATHS_VERSION}\nportable_case = {portable}\n")
}

fn readme(bot: &Bot, sources: &[Source], visibility: Visibility) -> String {
    let mut out = String::from(
        "# A dated archive of public documentation\n\n\
         Each commit is one run: the pages below `pages/` as they were on that day, as\n\
         Markdown, and the links between them below `links/`. `git log`, `git diff`,\n\
         `git grep` and `git blame` tell how the documentation changed.\n\n",
    );
    match visibility {
        Visibility::Public => out.push_str(
            "Of sources marked as private only the URLs and links are here, not the text.\n\n",
        ),
        Visibility::Private => out.push_str(
            "This is the private part: text that may not be published. It must not leave\n\
             the machine it was made on.\n\n",
        ),
    }
    out.push_str("## Sources\n\n| source | vendor | licence | text |\n|---|---|---|---|\n");
    for source in sources {
        let text = match source.visibility {
            Visibility::Public => "public",
            Visibility::Private => "private",
        };
        let vendor = source.vendor.as_deref().unwrap_or("");
        let cells = [source.id.as_str(), &cell(vendor), &cell(&source.licence), text];
        let _ = writeln!(out, "| {} |", cells.join(" | "));
    }
    out.push_str(
        "\nThe text of each page belongs to its publisher and stands under the licence that\n\
         the page's front matter names; `url` there is where it was published.\n\n## How to cite\n\n\
         Name the publisher, the page's `url`, the date of the commit, and the commit id.\n",
    );
    if !bot.contact.is_empty() {
        let operator = if bot.operator.is_empty() { &bot.name } else { &bot.operator };
        let _ = write!(
            out,
            "\n## Who made this, and how to ask for removal\n\n\
             Read by {}/{} ({}), operated by {operator}. Owners of a page who want it\n\
             removed from all of this history write to {}.\n",
            bot.name, bot.version, bot.url, bot.contact
        );
    }
    out
}

/// Text that cannot break a table.
pub(super) fn cell(text: &str) -> String {
    text.replace('|', "\\|").replace(['\n', '\r'], " ")
}

/// An address that was taken down and is never read again.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct DeniedEntry {
    /// The source it was read under.
    pub source: String,
    /// The address; `*` is the whole source.
    pub url: String,
    /// The date of the takedown.
    pub since: String,
}

/// Reads `denied.tsv`: a header line, then `source`, `url` and `since`, tab-separated.
#[must_use]
pub fn decode_denied(bytes: &[u8]) -> Vec<DeniedEntry> {
    let text = String::from_utf8_lossy(bytes);
    let rows = text.lines().skip(1).filter_map(|line| {
        let mut cells = line.split('\t');
        let (source, url) = (cells.next()?.to_owned(), cells.next()?.to_owned());
        Some(DeniedEntry { source, url, since: cells.next().unwrap_or_default().to_owned() })
    });
    rows.collect()
}
