//! Whole pages: what comes out, how much of it survives, and what no page may do.

mod hostile;
mod pages;
mod rules;
mod score;

use super::*;
use crate::extract::tests::Base;
use crate::model::Volatile;

fn with(html: &str, selectors: &Selectors) -> ExtractedHtml {
    let noise = Noise::default();
    extract_html(&HtmlDocument {
        bytes: html.as_bytes(),
        charset: Some("utf-8"),
        name: "scale.html",
        base: &Base,
        selectors,
        noise: &noise,
        bot: "pagelog",
    })
}

fn page(html: &str) -> ExtractedHtml {
    with(html, &Selectors::default())
}

/// The Markdown of content.
fn body(html: &str) -> String {
    page(&format!("<main>{html}</main>")).body
}

#[test]
fn probe() {
    let html = std::fs::read_to_string(std::env::var("PROBE").unwrap()).unwrap();
    println!("{}", page(&html).body);
    let mut o = comrak::Options::default();
    o.extension.autolink = true;
    println!("{}", comrak::markdown_to_html("a\\@b.com x@y.com <x@y.com> u&#64;b.com http\\://a.com www\\.b.com [http://c.com](http://d.com) v<!-- -->@b.com", &o));
}
