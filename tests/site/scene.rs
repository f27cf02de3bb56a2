//! A small site with a sitemap, and ways to change it.

use crate::support::crawl::Crawl;
use crate::support::script::{Reply, Script};

/// Its host.
pub const HOST: &str = "docs.example.org";

/// The URL of a path.
pub fn at(path: &str) -> String {
    format!("https://{HOST}{path}")
}

/// A page of the site, with an `ETag` of its text.
pub fn leaf(n: usize, text: &str) -> Reply {
    Reply::page(&format!("Page {n}"), text, &[]).etag(&format!("\"{n}-{}\"", text.len()))
}

/// Addresses of so many pages.
pub fn addresses(pages: usize) -> Vec<String> {
    (0..pages).map(|n| at(&format!("/p{n:02}"))).collect()
}

/// `/p00` and so on, in a sitemap without times.
pub fn script(pages: usize) -> Script {
    let mut script = Script::new()
        .on(HOST, "/robots.txt", Reply::robots("User-agent: *\nDisallow: /private/\n"))
        .on(HOST, "/sitemap.xml", Reply::sitemap(&addresses(pages)));
    for n in 0..pages {
        let text = format!("The first text of {n}.");
        script.set(HOST, &format!("/p{n:02}"), vec![leaf(n, &text)]);
    }
    script
}

/// A folder whose source reads that site.
pub fn crawl(pages: usize) -> Crawl {
    Crawl::docs(script(pages), &at("/sitemap.xml"))
}

/// A site of one index with these pages below it.
pub fn linked(pages: &[(&str, Reply)]) -> Script {
    let targets: Vec<&str> = pages.iter().map(|(path, _)| *path).collect();
    let mut script = Script::new().on(HOST, "/robots.txt", Reply::robots("")).on(
        HOST,
        "/",
        Reply::page("Index", "Text of the index.", &targets),
    );
    for (path, reply) in pages {
        script.set(HOST, path, vec![reply.clone()]);
    }
    script
}
