//! Bodies and headers that are far larger than they look, with little memory to read them in.

use std::io::Write as _;

use flate2::Compression;
use flate2::write::{DeflateEncoder, ZlibEncoder};

use super::case::{Case, at};
use super::security::limited;
use crate::support::crawl::{Crawl, PUBLIC, SiteSource};
use crate::support::script::{Framing, Reply, Script};

const MEBI: usize = 1 << 20;

/// A deflate stream (RFC 1951) in parts: one that gives a MiB of `unit`, to be sent as
/// often as wanted, and the end.
fn deflated(unit: &[u8]) -> (Vec<u8>, Vec<u8>) {
    let plain: Vec<u8> = unit.iter().copied().cycle().take(MEBI).collect();
    let mut encoder = DeflateEncoder::new(Vec::new(), Compression::best());
    encoder.write_all(&plain).expect("memory");
    // After a flush the next part does not look back.
    encoder.flush().expect("memory");
    let part = encoder.get_ref().clone();
    let whole = encoder.finish().expect("memory");
    let end = whole[part.len()..].to_vec();
    (part, end)
}

/// Begins gzip data (RFC 1952).
const GZIP: &[u8] = &[0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 3];

/// 2 GiB of zeros in gzip; its check sum is never reached.
fn gzip_bomb() -> Reply {
    let (part, _) = deflated(b"\0");
    Reply::html("").header("Content-Encoding", "gzip").repeating(GZIP, &part, 2048)
}

/// One run with 512 MiB of memory over a bomb, as a page among others.
fn play(bomb: Reply) -> (Crawl, Vec<String>) {
    let script = Script::new()
        .on("docs.example.org", "/robots.txt", Reply::robots(""))
        .on("docs.example.org", "/", Reply::page("Index", "Text.", &["/a", "/bomb", "/c"]))
        .on("docs.example.org", "/a", Reply::page("A", "Text.", &[]))
        .on("docs.example.org", "/c", Reply::page("C", "Text.", &[]))
        .on("docs.example.org", "/bomb", bomb);
    let crawl = Crawl::docs(script, &at("/"));
    let ran = limited(&crawl, 512 * 1024);
    assert!(matches!(ran.code, Some(0 | 3)), "{ran:?}");
    let targets = crawl.hosts.exchanges().into_iter().map(|exchange| exchange.target).collect();
    (crawl, targets)
}

/// The bomb failed, nothing of it is stored, and the pages beside it are.
#[track_caller]
fn defuse(bomb: Reply) {
    if Case::load("sec-decompression-bombs").is_none() {
        return;
    }
    let (crawl, targets) = play(bomb);
    assert!(targets.iter().any(|target| target == "/bomb"), "{targets:?}");
    assert_eq!(
        crawl.pages(PUBLIC),
        ["a.md", "c.md", "index.md"].map(|n| format!("docs/docs.example.org/{n}"))
    );
    let (outcome, reason) = crawl.outcome(&at("/bomb"));
    assert_eq!(outcome, "failed", "{reason}");
    assert!(!reason.is_empty());
}

#[test]
fn expect_sec_decompression_bombs_in_gzip() {
    defuse(gzip_bomb());
}

#[test]
fn expect_sec_decompression_bombs_in_deflate() {
    let plain = vec![0; MEBI];
    let mut encoder = ZlibEncoder::new(Vec::new(), Compression::best());
    encoder.write_all(&plain).expect("memory");
    encoder.flush().expect("memory");
    let start = encoder.get_ref().clone();
    let (part, _) = deflated(b"\0");
    defuse(Reply::html("").header("Content-Encoding", "deflate").repeating(&start, &part, 2047));
}

/// Codings that nobody asked for: what stands in them does not matter.
#[test]
fn expect_sec_decompression_bombs_in_other_codings() {
    for coding in ["br", "zstd", "compress"] {
        defuse(Reply::html("").header("Content-Encoding", coding).repeating(
            b"\x28\xb5\x2f\xfd",
            &[0; 4096],
            256,
        ));
    }
}

#[test]
fn expect_sec_decompression_bombs_in_two_layers() {
    let (zeros, end) = deflated(b"\0");
    // The inner layer is ten GiB; the outer one packs its repetitions.
    let inner = [GZIP, &zeros.repeat(1024), &end].concat();
    let mut encoder = DeflateEncoder::new(Vec::new(), Compression::best());
    encoder.write_all(&inner).expect("memory");
    encoder.flush().expect("memory");
    let outer = [GZIP, encoder.get_ref()].concat();
    let coding = "gzip, gzip";
    defuse(Reply::html("").header("Content-Encoding", coding).repeating(&outer, &zeros, 1024));
}

#[test]
fn expect_sec_decompression_bombs_without_coding() {
    let endless = Reply::html("").framing(Framing::Chunked);
    let chunk = [b"10000\r\n".as_slice(), &vec![b' '; 0x10000], b"\r\n"].concat();
    defuse(endless.repeating(b"", &chunk, u64::MAX));
}

#[test]
fn expect_sec_decompression_bombs_in_a_header_line() {
    defuse(Reply::html("x").flood("X-Long: ", &"a".repeat(64 * 1024), 1024));
}

#[test]
fn expect_sec_decompression_bombs_of_headers() {
    let lines = "X-Many: 1\r\n".repeat(1000);
    // The last line is ended by the end of the section.
    defuse(Reply::html("x").flood("X-First: 1\r\n", &lines, 100));
}

#[test]
fn expect_sec_decompression_bombs_as_sitemap() {
    if Case::load("sec-decompression-bombs").is_none() {
        return;
    }
    let (part, _) = deflated(b"<url>");
    let bomb = Reply::ok("application/gzip", "").repeating(GZIP, &part, 2048);
    let script = Script::new()
        .on("docs.example.org", "/robots.txt", Reply::robots(""))
        .on("docs.example.org", "/", Reply::page("Index", "Text.", &[]))
        .on("docs.example.org", "/sitemap.xml.gz", bomb);
    let start = [at("/sitemap.xml.gz"), at("/")];
    let source = SiteSource::new("docs", "docs.example.org", &[&start[0], &start[1]]);
    let crawl = Crawl::new(script, &[source]);
    let ran = limited(&crawl, 512 * 1024);
    assert_eq!(ran.code, Some(3), "{ran:?}");
    crawl.assert_page(&at("/"), "# Index");
}
