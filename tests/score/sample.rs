//! The pages in `tests/fixtures/generators`, one a generator.

use std::fs;
use std::path::{Path, PathBuf};

use url::Url;

use super::measure::readers::READERS;
use super::measure::{Judged, judge};

/// The pages of the sample with their names, in order.
pub fn pages() -> Vec<(String, Vec<u8>)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/generators");
    let mut files: Vec<PathBuf> =
        fs::read_dir(folder).expect("a folder").map(|it| it.expect("an entry").path()).collect();
    files.sort();
    let name = |it: &Path| it.file_stem().expect("a name").to_string_lossy().into_owned();
    files.iter().map(|it| (name(it), fs::read(it).expect("a page"))).collect()
}

/// The address of a page.
pub fn base(name: &str) -> Url {
    Url::parse(&format!("https://docs.example.org/{name}/shelf.html")).expect("an address")
}

fn judged() -> Vec<(String, Judged)> {
    let pages = pages();
    assert!(pages.len() >= 20, "only {} pages", pages.len());
    pages.into_iter().map(|(name, bytes)| (name.clone(), judge(&bytes, &base(&name)))).collect()
}

/// Words, headings, code, links and rows: what the page has the Markdown has, and no more,
/// whichever program reads it. The list of links is exact.
#[test]
fn nothing_is_lost_and_nothing_added() {
    let mut findings = Vec::new();
    for (name, page) in judged() {
        let is_perfect = (0..READERS.len()).all(|reader| page.is_perfect(reader));
        if !is_perfect || !page.links.is_none() {
            findings.push(format!("{name}:\n  {}", page.report().join("\n  ")));
        }
    }
    assert!(findings.is_empty(), "{}", findings.join("\n"));
}

/// HTML that stays as it is passes any reader; so there is little of it.
#[test]
fn little_stays_html() {
    let judged = judged();
    let bytes: usize = judged.iter().map(|(_, it)| it.markdown.len()).sum();
    let raw: usize = judged.iter().map(|(_, it)| it.raw).sum();
    assert!(raw * 50 <= bytes, "{raw} of {bytes} bytes are blocks of HTML");
}

/// The measure notices what is lost: a word, a row, a block of code, a link.
#[test]
fn the_measure_sees_losses() {
    let page = "<main><h2>A</h2><p>one <a href=b>two</a></p><pre>three</pre>\
        <table><tr><th>4<th>5<tr><td>6<td>7</table></main>";
    let base = base("x");
    let whole = super::measure::features::of_page(page, &base);
    for (n, (cut, with)) in [
        ("one ", ""),
        ("<h2>A", "<h3>A"),
        ("three", "thre"),
        ("href=b", "href=c"),
        ("<td>6", "<td>"),
    ]
    .into_iter()
    .enumerate()
    {
        let less = super::measure::features::of_page(&page.replace(cut, with), &base);
        let found = super::measure::compare::compare(&whole.found[n], &less.found[n]);
        assert!(found.lost() > 0, "{cut}");
    }
}
