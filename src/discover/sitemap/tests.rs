//! Sitemaps: small files of every kind, damage, size and hostility.

use std::cell::Cell;
use std::io::{self, BufReader, Read, Write};

use flate2::Compression;
use flate2::write::GzEncoder;

use super::*;

fn reading(base: &PageUrl, limits: Limits) -> Reading<'_> {
    Reading { base, now: Timestamp::parse("2026-11-30T00:00:00Z").unwrap(), limits }
}

fn read_from(input: impl BufRead, limits: Limits) -> (Report, Vec<Item>) {
    let base = PageUrl::parse("https://h.example/dir/sitemap.xml").unwrap();
    let mut items = Vec::new();
    let report = read_sitemap(input, reading(&base, limits), |item| items.push(item));
    (report, items)
}

/// Reads through a small buffer, which cuts every construct somewhere.
fn read_within(bytes: impl Read, limits: Limits) -> (Report, Vec<Item>) {
    read_from(BufReader::with_capacity(7, bytes), limits)
}

pub(super) fn read(bytes: &[u8]) -> (Report, Vec<Item>) {
    read_within(bytes, Limits::default())
}

pub(super) fn list(items: &[Item]) -> (Vec<&Entry>, Vec<&Spoiled>) {
    let (mut entries, mut spoiled) = (Vec::new(), Vec::new());
    for item in items {
        match item {
            Item::Entry(entry) => entries.push(entry),
            Item::Spoiled(one) => spoiled.push(one),
        }
    }
    (entries, spoiled)
}

/// Items as lines: an address with its date, or what is spoilt with the reason.
fn lines(items: &[Item]) -> Vec<String> {
    let line = |item: &Item| match item {
        Item::Entry(Entry { url, lastmod: None }) => url.to_string(),
        Item::Entry(Entry { url, lastmod: Some(lastmod) }) => format!("{url} {lastmod}"),
        Item::Spoiled(Spoiled { text, fault }) => format!("! {text}: {fault}"),
    };
    items.iter().map(line).collect()
}

#[track_caller]
fn check(text: &str, kind: Option<Kind>, want: &[&str]) -> Report {
    let (report, items) = read(text.as_bytes());
    assert_eq!(lines(&items), want, "{text}");
    assert_eq!(report.kind, kind, "{text}");
    let (entries, spoiled) = list(&items);
    assert_eq!(report.entries, entries.len() as u64);
    assert_eq!(report.spoiled, spoiled.len() as u64);
    report
}

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

const NS: &str = "xmlns=\"http://www.sitemaps.org/schemas/sitemap/0.9\"";

#[test]
fn a_fault_spoils_its_own_entry() {
    let report = check(
        &format!(
            "<urlset {NS}><url><loc>https://h.example/a</loc></url>\
             <url><loc>https://h.example/toy-1&Acirc;&ordm;-x.html</loc></url>\
             <url><loc>https://h.example/p?a=1&b=2;c=3&d</loc></url>\
             <url><loc>https://h.example/b<url><loc>https://h.example/c</loc></url>\
             <url><loc>https://h.example/d</lco></url>\
             <url><loc>https://h.example/<b>e</b></loc></url>\
             <url><!x><loc>https://h.example/f</loc></url>\
             <url><loc>/g</loc></url><url><loc>//h.example/g</loc></url>\
             <url><loc>file:///etc/hostname</loc></url>\
             <url><loc>https://h.example/g\nh</loc></url>\
             <url><loc>https://h.example/&#x85;</loc></url>\
             <url><loc/></url><url/>\
             <url><loc>https://h.example/&#xe9;</loc><lastmod>&x;</lastmod></url>\
             <url><lastmod>2020-01-0<loc>x</loc></lastmod><loc>https://h.example/y</loc></url>\
             <url><loc>https://h.example/z</loc><lastmod>2020</url></urlset>"
        ),
        Some(Kind::UrlSet),
        &[
            "https://h.example/a",
            "! https://h.example/toy-1&Acirc;&ordm;-x.html: \
             the address holds an entity that is not defined",
            "https://h.example/p?a=1&b=2;c=3&d",
            "! https://h.example/b: the entry is not closed",
            "https://h.example/c",
            "! https://h.example/d: the entry is not closed",
            "! https://h.example/e: the entry is not well-formed",
            "! https://h.example/f: the entry is not well-formed",
            "! /g: the address is relative and there is no base",
            "! //h.example/g: the address is relative and there is no base",
            "! file:///etc/hostname: only http and https addresses can be archived",
            "! https://h.example/g\nh: the address holds characters that cannot be read",
            "! https://h.example/: the address holds characters that cannot be read",
            "! : the entry has no address",
            "! : the entry has no address",
            "https://h.example/%C3%A9",
            "https://h.example/y",
            "https://h.example/z",
        ],
    );
    assert!(!report.partial);
}

#[test]
fn only_elements_of_the_protocol_count() {
    check(
        "<s:urlset xmlns:s='http://www.sitemaps.org/schemas/sitemap/0.9' xmlns='urn:other' \
         xmlns:t='https://www.sitemaps.org/schemas/sitemap/0.9'>\
         <url><loc>https://h.example/no</loc></url>\
         <s:url><loc>https://h.example/no</loc><s:loc>https://h.example/a</s:loc></s:url>\
         <t:url><t:loc>https://h.example/b</t:loc></t:url></s:urlset>",
        Some(Kind::UrlSet),
        &["https://h.example/a", "https://h.example/b"],
    );
    check(
        &format!(
            "<urlset {NS} xmlns:i='urn:i'><url><loc xmlns='urn:i'>https://h.example/no</loc>\
             <i:image><loc>https://h.example/no</loc></i:image><i:loc>https://h.example/no</i:loc>\
             <image xmlns='urn:i'><loc>https://h.example/no</loc></image>\
             <loc>https://h.example/a</loc></url></urlset>"
        ),
        Some(Kind::UrlSet),
        &["https://h.example/a"],
    );
}

#[test]
fn complaints_before_the_file_are_passed_over() {
    let file = "<?xml version='1.0'?><urlset><url><loc>https://h.example/a</loc></url></urlset>";
    let warning = "<br />\n<b>Warning</b>: something in <b>a.php</b> on line 1<br />\n";
    check(&format!("{warning}{file}"), Some(Kind::UrlSet), &["https://h.example/a"]);
    check(&format!("Warning: x\n{file}"), Some(Kind::UrlSet), &["https://h.example/a"]);
    check(&format!("<html><body>{file}</body></html>"), None, &[]);
    check("<opml><feed/></opml>", None, &[]);
}

#[test]
fn indexes_list_sitemaps_only() {
    let report = check(
        "<sitemapindex><sitemap><loc>https://h.example/a.xml</loc><lastmod>2026-01-01</lastmod>\
         </sitemap><url><loc>https://h.example/no</loc></url></sitemapindex>",
        Some(Kind::Index),
        &["https://h.example/a.xml 2026-01-01"],
    );
    assert_eq!(report.notes.len(), 1);
}

#[test]
fn texts_are_addresses_line_by_line() {
    check(
        "\u{feff}\n https://h.example/a \r\n\nHTTP://h.example/b\rnonsense\nhttps://h.example/c d",
        Some(Kind::Text),
        &[
            "https://h.example/a",
            "http://h.example/b",
            "! nonsense: the entry has no address",
            "https://h.example/c%20d",
        ],
    );
    check("# pages\nhttps://h.example/a\n", Some(Kind::Text), &["https://h.example/a"]);
    check("HTTP 404\n<html>", None, &[]);
    check("not found", None, &[]);
    let long = format!("https://h.example/{}\nhttps://h.example/a", "x".repeat(100_000));
    let (report, items) = read(long.as_bytes());
    assert_eq!((report.entries, report.spoiled), (1, 1));
    assert!(lines(&items)[0].ends_with(": the address is longer than 2,048 characters"));
}

#[test]
fn feeds_give_their_links() {
    check(
        "<rss xmlns:atom='http://www.w3.org/2005/Atom' xmlns:dc='urn:dc'><channel>\
         <link>https://h.example/</link><item><atom:link href='https://h.example/no'/>\
         <link> a?x=1&y=2 </link><pubDate>Mon, 01 Jan 2018 00:00:00 GMT</pubDate>\
         <description>&nbsp;<b>x</item><item><guid>https://h.example/g</guid></item>\
         <item><guid isPermaLink='false'>https://h.example/no</guid></item>\
         <item><guid>tag:1</guid></item></channel></rss>",
        Some(Kind::Rss),
        &[
            "https://h.example/dir/a?x=1&y=2 2018-01-01T00:00:00Z",
            "https://h.example/g",
            "! : the entry has no address",
            "! : the entry has no address",
        ],
    );
    check(
        "<rdf:RDF xmlns:rdf='urn:rdf' xmlns='http://purl.org/rss/1.0/' xmlns:dc='urn:dc'>\
         <channel/><item rdf:about='x'><link>https://h.example/a</link>\
         <dc:date>2020-02-02</dc:date></item></rdf:RDF>",
        Some(Kind::Rss),
        &["https://h.example/a 2020-02-02"],
    );
    check(
        "<feed xml:base='https://i.example/x/'><link href='no'/><entry><source><link href='no'/>\
         </source><link rel='edit' href='no'/><link href='a?x=1&amp;y=2'/><link href='no'/>\
         <updated>2020-02-02T00:00:00Z</updated></entry><entry xml:base='/y/'>\
         <link rel='alternate' href='b'></link></entry><entry><id>https://i.example/c</id></entry>\
         <entry><id>urn:x</id></entry></feed>",
        Some(Kind::Atom),
        &[
            "https://i.example/x/a?x=1&y=2 2020-02-02T00:00:00Z",
            "https://i.example/y/b",
            "https://i.example/c",
            "! : the entry has no address",
        ],
    );
}

#[test]
fn dates_never_cost_an_entry() {
    let (report, items) = read(
        "<urlset><url><loc>https://h.example/a</loc><lastmod>2024-05-08 08:53:11 AM</lastmod></url>\
         <url><loc>https://h.example/b</loc><lastmod></lastmod></url>\
         <url><loc>https://h.example/c</loc><lastmod>2099-12-31</lastmod></url>\
         <url><loc>https://h.example/d</loc><lastmod>0000-00-00</lastmod></url>\
         <url><loc>https://h.example/e</loc><lastmod>2024-05</lastmod></url></urlset>"
            .as_bytes(),
    );
    let dates: Vec<_> = lines(&items).iter().map(|line| line[19..].to_owned()).collect();
    assert_eq!(dates, ["", "", "", "", " 2024-05"]);
    assert!(!report.spread.is_empty_talk());
    let (report, _) = read(
        "<urlset><url><loc>https://h.example/a</loc><lastmod>2024-05-08</lastmod></url>\
         <url><loc>https://h.example/b</loc><lastmod>2024-05-08</lastmod></url></urlset>"
            .as_bytes(),
    );
    assert!(report.spread.is_empty_talk());
}

/// A sitemap of so many entries that is made while it is read.
struct Made {
    entries: u64,
    next: u64,
    rest: Vec<u8>,
}

impl Made {
    fn new(entries: u64) -> Self {
        Self { entries, next: 0, rest: format!("<urlset {NS}>").into_bytes() }
    }
}

impl Read for Made {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        if self.rest.is_empty() && self.next < self.entries {
            let url = format!("https://h.example/dir/page-{}", self.next);
            self.rest =
                format!("<url><loc>{url}</loc><lastmod>2026-01-01</lastmod></url>\n").into();
            self.next += 1;
            if self.next == self.entries {
                self.rest.extend_from_slice(b"</urlset>");
            }
        }
        let count = (&self.rest[..]).read(into)?;
        self.rest.drain(..count);
        Ok(count)
    }
}

/// Tells how many entries were made.
struct Watched<'a>(Made, &'a Cell<u64>);

impl Read for Watched<'_> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let count = self.0.read(into)?;
        self.1.set(self.0.next);
        Ok(count)
    }
}

#[test]
fn a_large_file_is_read_as_it_comes() {
    let base = PageUrl::parse("https://h.example/").unwrap();
    // What was made and not yet given out is all that is kept.
    let made = Cell::new(0_u64);
    let (mut given, mut most) = (0, 0);
    let input = BufReader::new(Watched(Made::new(50_000), &made));
    let report = read_sitemap(input, reading(&base, Limits::default()), |_| {
        given += 1;
        most = most.max(made.get() - given);
    });
    assert_eq!((report.entries, report.spoiled, given), (50_000, 0, 50_000));
    assert!(!report.partial && report.notes.is_empty() && report.spread.is_empty_talk());
    assert!(most < 1000, "{most} entries were read ahead");
}

#[test]
fn too_many_entries_are_noted_and_then_not_read() {
    let limits = Limits { entries: 5, most_entries: 10, ..Limits::default() };
    let (report, items) = read_within(Made::new(5), limits);
    assert_eq!((report.partial, report.notes.len(), items.len()), (false, 0, 5));
    let (report, items) = read_within(Made::new(10), limits);
    assert_eq!((report.partial, report.notes.len(), items.len()), (false, 1, 10));
    let (report, items) = read_within(Made::new(11), limits);
    assert_eq!((report.partial, report.notes.len(), items.len()), (true, 2, 10));
}

#[test]
fn sizes_are_bounded_in_every_layer() {
    let mut plain = Vec::new();
    Made::new(2000).read_to_end(&mut plain).unwrap();
    let small = Limits { bytes: 50_000, ..Limits::default() };
    let proportion = Limits { ratio: 5, ratio_after: 1000, ..Limits::default() };
    let twice = gzip(&gzip(&plain));
    for (bytes, limits, note) in [
        (&plain, small, "larger than allowed"),
        (&gzip(&plain), small, "larger than allowed"),
        (&twice, small, "larger than allowed"),
        (&gzip(&plain), proportion, "out of all proportion"),
        (&twice, proportion, "out of all proportion"),
        (&plain, Limits { token: 0, ..Limits::default() }, "one tag or text"),
    ] {
        let (report, _) = read_within(&bytes[..], limits);
        assert!(report.partial && report.entries < 2000, "{note}");
        assert!(report.notes[0].0.contains(note), "{:?}", report.notes);
    }
    for bytes in [&plain, &gzip(&plain), &twice] {
        let (report, _) = read(bytes);
        assert_eq!((report.entries, report.partial), (2000, false));
    }
    assert_eq!(read(&gzip(&twice)).0.kind, None);
}

#[test]
fn tags_without_end_cost_no_memory_and_no_later_entry() {
    let open = "<x>".repeat(5000);
    let close = "</x>".repeat(5000);
    let entry = "<url><loc>https://h.example/a</loc></url>";
    let nested = format!("<urlset>{open}{entry}{close}{entry}</urlset>");
    let report = check(&nested, Some(Kind::UrlSet), &["https://h.example/a"]);
    assert!(!report.partial);
    let within = format!("<urlset><url>{open}</url>{entry}</urlset>");
    let spoilt = "! : the entry has no address";
    check(&within, Some(Kind::UrlSet), &[spoilt, "https://h.example/a"]);
    let endless = format!("<urlset>{entry}<url a='{}", "x".repeat(2 * 1024 * 1024));
    let report = check(&endless, Some(Kind::UrlSet), &["https://h.example/a"]);
    assert!(report.partial && report.notes[0].0.contains("one tag or text"));
}

#[test]
fn gzip_members_follow_one_another_and_garbage_ends_them() {
    let (one, two) = ("<urlset><url><loc>https://h.example/a</loc>", "</url></urlset>");
    let both = [gzip(one.as_bytes()), gzip(two.as_bytes())].concat();
    for tail in [&b""[..], b"\0\0\0\0", b"\x1f", b"\x1f\x8b\x08", b"garbage"] {
        let (report, items) = read(&[&both, tail].concat());
        assert_eq!(lines(&items), ["https://h.example/a"]);
        assert!(!report.partial, "{tail:?}");
    }
    let (report, _) = read(&both[..both.len() - 1]);
    assert!(report.partial);
}

#[test]
fn failures_of_the_input_end_the_reading() {
    struct Failing<'a>(&'a [u8]);
    impl Read for Failing<'_> {
        fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
            if self.0.is_empty() {
                return Err(io::ErrorKind::ConnectionReset.into());
            }
            self.0.read(into)
        }
    }
    let text = "https://h.example/a\nhttps://h.example/b";
    let xml = "<urlset><url><loc>https://h.example/a</loc></url>";
    let member = [gzip(text.as_bytes()), gzip(b"x")].concat();
    for bytes in [text.as_bytes(), xml.as_bytes(), &gzip(text.as_bytes()), &member[..60]] {
        let (report, items) = read_within(Failing(bytes), Limits::default());
        assert_eq!(lines(&items)[..], ["https://h.example/a"], "{bytes:?}");
        assert!(report.partial && report.notes[0].0.contains("connection reset"));
    }
}

#[test]
fn encodings_are_told_by_mark_and_declaration() {
    let utf16 = |text: &str, big: bool| -> Vec<u8> {
        let bytes = |unit: u16| if big { unit.to_be_bytes() } else { unit.to_le_bytes() };
        text.encode_utf16().flat_map(bytes).collect()
    };
    let file = |name: &str| {
        format!(
            "<?xml version='1.0' encoding = '{name}' ?><urlset><url>\
             <loc>https://h.example/\u{e9}</loc></url></urlset>"
        )
    };
    let latin = |name| file(name).chars().map(|c| u8::try_from(u32::from(c)).unwrap()).collect();
    let cases: [(Vec<u8>, bool); 9] = [
        (file("utf-8").into(), true),
        (file("utf-16").into(), true),
        (file("nonsense").into(), true),
        (format!("\u{feff}{}", file("latin1")).into(), true),
        (latin("latin1"), true),
        (latin("windows-1252"), true),
        (latin("utf-8"), false),
        (utf16(&file("x"), true), true),
        (utf16(&file("x"), false), true),
    ];
    for (bytes, good) in cases {
        let (report, items) = read(&bytes);
        assert_eq!(report.kind, Some(Kind::UrlSet));
        assert_eq!(lines(&items)[0] == "https://h.example/%C3%A9", good, "{bytes:?}");
    }
}

/// Whatever is done to a file, reading ends, and it ends in good order.
#[test]
fn damaged_files_are_read_without_harm() {
    let seeds: Vec<Vec<u8>> = vec![
        format!(
            "<?xml version='1.0' encoding='utf-8'?><!DOCTYPE a [<!ENTITY b 'c'>]><!-- x -->\
             <urlset {NS} xmlns:i='urn:i'><url><loc>https://h.example/a?b&amp;c&d;</loc><lastmod>\
             2020-01-01</lastmod><i:image><i:loc>x</i:loc></i:image></url><url><loc>\
             <![CDATA[https://h.example/b]]></loc></url></urlset>"
        )
        .into(),
        b"<feed><entry><link href='a'/><id>x</id></entry></feed>".to_vec(),
        b"<rss><item><link>https://h.example/a</link><guid>x</guid></item></rss>".to_vec(),
        b"https://h.example/a\nhttps://h.example/b".to_vec(),
    ];
    let bits: [&[u8]; 14] = [
        b"<",
        b">",
        b"&",
        b"<!",
        b"<![CDATA[",
        b"]]>",
        b"<!--",
        b"-->",
        b"<?",
        b"\0",
        b"\xff\xfe",
        b"</url>",
        b"<url>",
        b"\xc3",
    ];
    let mut state = 0x5eed_u64;
    let mut below = |limit: usize| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        usize::try_from(state >> 33).unwrap() % limit
    };
    for round in 0..4000 {
        let seed = &seeds[round % seeds.len()];
        let mut bytes = if round % 5 == 0 { gzip(seed) } else { seed.clone() };
        for _ in 0..=below(6) {
            let at = below(bytes.len());
            match below(4) {
                0 => bytes[at] = u8::try_from(below(256)).unwrap(),
                1 => drop(bytes.drain(at..(at + below(9)).min(bytes.len()))),
                2 => drop(bytes.splice(at..at, bits[below(bits.len())].iter().copied())),
                _ => bytes.truncate(at.max(1)),
            }
            if bytes.is_empty() {
                bytes.push(b'<');
            }
        }
        let (report, items) = read(&bytes);
        let (entries, spoiled) = list(&items);
        assert_eq!(report.entries, entries.len() as u64);
        assert_eq!(report.spoiled, spoiled.len() as u64);
        assert!(spoiled.iter().all(|one| one.text.chars().count() <= TOLD));
        // How the bytes arrive makes no difference.
        if !bytes.starts_with(b"\x1f\x8b") {
            assert_eq!(read_from(&bytes[..], Limits::default()), (report, items), "{bytes:?}");
        }
    }
}
