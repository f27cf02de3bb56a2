//! The crate spider as a peer of pagelog: crawls a site and writes each page as Markdown.
//!
//! `spider-to-markdown START FOLDER VALIDATORS` follows the links of the page at START,
//! writes a Markdown file a page into FOLDER, and keeps the validators of all pages in the
//! file VALIDATORS. Where that file is there already its validators are sent, and pages
//! that answer 304 keep their files: spider keeps its own cache in memory only, so that a
//! process that is to be compared with a second run has to save it.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use spider::page::Page;
use spider::website::Website;

/// `ETag` and `Last-Modified` of each URL.
type Validators = BTreeMap<String, (String, String)>;

#[tokio::main]
async fn main() {
    let mut words = std::env::args().skip(1);
    let (Some(start), Some(folder), Some(kept), None) =
        (words.next(), words.next(), words.next(), words.next())
    else {
        eprintln!("usage: spider-to-markdown START FOLDER VALIDATORS");
        std::process::exit(2);
    };
    fs::create_dir_all(&folder).expect("folder is made");
    let mut validators = read(Path::new(&kept));
    let mut website = Website::new(&start);
    website.with_respect_robots_txt(true);
    website.configuration.with_etag_cache(true);
    website.configure_setup().await;
    if let Some(cache) = website.get_etag_cache() {
        for (url, (tag, modified)) in validators.iter().filter(|(url, _)| **url != start) {
            cache.store(url, some(tag), some(modified));
        }
    }
    let mut pages = website.subscribe(16_384);
    let writer = tokio::spawn(async move {
        let mut count = 0_usize;
        loop {
            match pages.recv().await {
                Ok(page) => count += usize::from(write(&page, &folder, &mut validators)),
                Err(error) if error.to_string().contains("lagged") => {
                    eprintln!("pages were lost: {error}");
                    std::process::exit(1);
                }
                Err(_) => return (count, validators),
            }
        }
    });
    website.crawl().await;
    website.unsubscribe();
    drop(website);
    let (count, validators) = writer.await.expect("the writer ends");
    let lines = validators.iter().map(|(url, (tag, time))| format!("{url}\t{tag}\t{time}\n"));
    fs::write(&kept, lines.collect::<String>()).expect("validators are written");
    println!("{count} pages");
}

/// Writes a page as Markdown, and notes its validators; tells whether it did.
fn write(page: &Page, folder: &str, validators: &mut Validators) -> bool {
    if page.status_code.as_u16() != 200 {
        return false;
    }
    let header = |name: &str| {
        let value = page.headers.as_ref().and_then(|headers| headers.get(name));
        value.and_then(|value| value.to_str().ok()).unwrap_or_default().to_owned()
    };
    let url = page.get_url();
    validators.insert(url.to_owned(), (header("etag"), header("last-modified")));
    let path = url.split_once("://").map_or(url, |(_, rest)| rest);
    let path = path.split_once('/').map_or("", |(_, rest)| rest);
    let file = Path::new(folder).join(format!("{path}.md"));
    fs::create_dir_all(file.parent().expect("a folder")).expect("folder is made");
    // What spider's own transformations call for Markdown.
    let base = spider::url::Url::parse(url).ok();
    let text = html2md::rewrite_html_custom_with_url(&page.get_html(), &None, false, &base);
    fs::write(file, text).expect("page is written");
    true
}

fn some(text: &str) -> Option<&str> {
    Some(text).filter(|text| !text.is_empty())
}

fn read(path: &Path) -> Validators {
    let text = fs::read_to_string(path).unwrap_or_default();
    let rows = text.lines().filter_map(|line| {
        let mut fields = line.split('\t').map(str::to_owned);
        Some((fields.next()?, (fields.next()?, fields.next()?)))
    });
    rows.collect()
}
