//! Links that are hard to find or to resolve.

use super::case::{Case, at};
use super::files::{convert, links};

#[test]
fn expect_lnk_attribute_blanks() {
    let Some(case) = Case::load("lnk-attribute-blanks") else { return };
    let base = case.text("base_url");
    let mut found = links("page.html", &case.text("html"), &base);
    found.retain(|url| *url != base);
    assert_eq!(found, [at("/abs"), at("/broken"), at("/guide")]);
}

#[test]
fn expect_lnk_base_href() {
    let Some(case) = Case::load("lnk-base-href") else { return };
    let (html, base) = (case.text("html"), case.text("base_url"));
    let found = links("page.html", &html, &base);
    assert_eq!(
        found,
        [at("/docs/v2/"), at("/docs/v2/?q=1"), at("/docs/v2/intro.html"), at("/root")]
    );
    let markdown = convert("page.html", &html, &["--base", &base]);
    for url in [at("/docs/v2/intro.html"), at("/root"), at("/docs/v2/?q=1")] {
        assert!(markdown.contains(&format!("({url})")), "{url}: {markdown}");
    }
    assert!(!markdown.contains("wrong"), "{markdown}");
}

#[test]
fn expect_lnk_trailing_dot_and_entities() {
    let Some(case) = Case::load("lnk-trailing-dot-and-entities") else { return };
    let mut found = links("page.md", &case.text("markdown"), &case.text("base_url"));
    found.sort();
    let expected =
        ["/Sony_(A7)_x_(1).avif", "/auto", "/docs/target.md", "/plain", "/str.", "/two?a=1&b=2"];
    assert_eq!(found, expected.map(at));
}
