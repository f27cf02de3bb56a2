//! Whole pages: what comes out, how much of it survives, and what no page may do.

mod hostile;
mod pages;
mod rules;
mod score;
mod tables;

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
