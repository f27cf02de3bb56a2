//! Codings, their damages and their bombs.

use std::io::Write as _;

use flate2::Compression;
use flate2::write::{DeflateEncoder, GzEncoder, ZlibEncoder};

use super::{Coding, Decoder, Extent, codings};
use crate::fetch::http::HttpFailure;

fn gzip(data: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
    encoder.write_all(data).unwrap();
    encoder.finish().unwrap()
}

/// Decodes a body that arrives in parts of a size.
fn decode_in(
    (kinds, part, limit): (&[Coding], usize, u64),
    body: &[u8],
) -> Result<Vec<u8>, HttpFailure> {
    let mut decoder = Decoder::new(kinds, limit);
    for part in body.chunks(part) {
        let result = decoder.push(part);
        assert!(decoder.out.len() as u64 <= limit, "more is held than may be");
        result?;
    }
    decoder.finish(Extent::Whole)
}

#[test]
fn the_beginning_of_what_is_too_large() {
    let text: Vec<u8> = (0..90_000_u64).map(|n| u8::try_from(n * n % 251).unwrap()).collect();
    for (kinds, body, least) in
        [(&[][..], text.clone(), 60_000), (&[Coding::Gzip], gzip(&text), 60_000 - 16 * 1024)]
    {
        let mut decoder = Decoder::new(kinds, 60_000);
        let result = body.chunks(25_000).try_for_each(|part| decoder.push(part));
        assert!(matches!(result, Err(HttpFailure::TooLarge { limit: 60_000 })), "{result:?}");
        let begun = decoder.finish(Extent::Beginning).unwrap();
        assert!((least..=60_000).contains(&begun.len()), "{}", begun.len());
        assert!(text.starts_with(&begun));
    }
}

fn decode(kinds: &[Coding], body: &[u8]) -> Result<Vec<u8>, HttpFailure> {
    let whole = decode_in((kinds, usize::MAX, 1 << 20), body);
    let bytewise = decode_in((kinds, 1, 1 << 20), body);
    assert_eq!(format!("{whole:?}"), format!("{bytewise:?}"), "parts make no difference");
    whole
}

const GZIP: &[Coding] = &[Coding::Gzip];

#[test]
fn what_was_coded_comes_back() {
    let text: Vec<u8> = (0..90_000_u64).map(|n| u8::try_from(n * n % 251).unwrap()).collect();
    let once = gzip(&text);
    assert_eq!(decode(&[], &text).unwrap(), text);
    assert_eq!(decode(GZIP, &once).unwrap(), text);
    assert_eq!(decode(&[Coding::Gzip, Coding::Gzip], &gzip(&once)).unwrap(), text);
    let mut zlib = ZlibEncoder::new(Vec::new(), Compression::default());
    zlib.write_all(&text).unwrap();
    assert_eq!(decode(&[Coding::Deflate], &zlib.finish().unwrap()).unwrap(), text);
    let mut raw = DeflateEncoder::new(Vec::new(), Compression::default());
    raw.write_all(&text).unwrap();
    let raw = raw.finish().unwrap();
    assert_eq!(decode(&[Coding::Deflate], &raw).unwrap(), text);
    assert_eq!(decode(&[Coding::Deflate, Coding::Gzip], &gzip(&raw)).unwrap(), text);
}

#[test]
fn members_follow_each_other_and_padding_is_passed_over() {
    let two = [gzip(b"one "), gzip(b""), gzip(b"two")].concat();
    assert_eq!(decode(GZIP, &two).unwrap(), b"one two");
    assert_eq!(decode(GZIP, &[&two[..], &[0; 600]].concat()).unwrap(), b"one two");
    assert_eq!(decode(GZIP, &[&two[..], b"\n"].concat()).unwrap(), b"one two");
}

#[test]
fn all_fields_of_a_header_are_passed_over() {
    let plain = gzip(b"text");
    let body = [
        &[0x1f, 0x8b, 8, 4 | 8 | 16 | 2, 0, 0, 0, 0, 0, 3][..],
        &[3, 0, 1, 2, 3],
        b"name\0comment\0",
        &[9, 9],
        &plain[10..],
    ]
    .concat();
    assert_eq!(decode(GZIP, &body).unwrap(), b"text");
}

#[test]
fn what_claims_gzip_and_is_not_stays_as_it_is() {
    for body in [&b"<!doctype html><p>text"[..], b"x", b"", b"\x1f", b"\x1fx"] {
        assert_eq!(decode(GZIP, body).unwrap(), body);
    }
}

#[test]
fn a_body_without_its_end_is_incomplete() {
    let body = gzip(b"a text that is long enough to be cut in all places");
    for end in 2..body.len() {
        let result = decode(GZIP, &body[..end]);
        assert!(matches!(result, Err(HttpFailure::Truncated)), "{end}: {result:?}");
    }
    let second = [gzip(b"one"), body[..20].to_vec()].concat();
    assert!(matches!(decode(GZIP, &second), Err(HttpFailure::Truncated)));
    let inner = gzip(&body[..30]);
    assert!(matches!(decode(&[Coding::Gzip; 2], &inner), Err(HttpFailure::Truncated)));
}

#[test]
fn damage_is_found() {
    let body = gzip(b"a text whose check sum is wrong, or whose length is");
    for at in [2, 3, body.len() - 8, body.len() - 1] {
        let mut body = body.clone();
        body[at] ^= 0xff;
        let result = decode(GZIP, &body);
        assert!(matches!(result, Err(HttpFailure::Encoding(_))), "{at}: {result:?}");
    }
    assert!(matches!(decode(&[Coding::Deflate], b"plain text"), Err(HttpFailure::Encoding(_))));
    let endless_name = [&[0x1f, 0x8b, 8, 8, 0, 0, 0, 0, 0, 3][..], &b"n".repeat(100_000)].concat();
    let result = decode_in((GZIP, 4096, 1 << 20), &endless_name);
    assert!(matches!(result, Err(HttpFailure::Encoding(_))), "{result:?}");
}

#[test]
fn bombs_end_early() {
    let zeros = gzip(&vec![0; 32 << 20]);
    let run = |kinds: &[Coding], limit, body: &[u8]| decode_in((kinds, 8192, limit), body);
    assert!(matches!(run(GZIP, 64 << 20, &zeros), Err(HttpFailure::Ratio)));
    assert!(matches!(run(GZIP, 1000, &zeros), Err(HttpFailure::TooLarge { limit: 1000 })));
    let twice = gzip(&zeros);
    assert!(matches!(run(&[Coding::Gzip; 2], 64 << 20, &twice), Err(HttpFailure::Ratio)));
    // The inner layer makes nothing of what the outer one makes.
    let idle = gzip(&[gzip(b""), vec![0; 32 << 20]].concat());
    let result = run(&[Coding::Gzip; 2], 64 << 20, &idle);
    assert!(matches!(result, Err(HttpFailure::Ratio)), "{} {result:?}", idle.len());
    let endless = gzip(b"").repeat(20_000);
    assert!(matches!(run(GZIP, 1000, &endless), Err(HttpFailure::TooLarge { limit: 1000 })));
    assert_eq!(run(GZIP, 1 << 20, &gzip(&vec![0; 1 << 20])).unwrap().len(), 1 << 20);
}

#[test]
fn names_of_codings() {
    let read = |values: &[&str]| codings(values.iter().map(|value| value.as_bytes()));
    assert_eq!(read(&[]).unwrap(), []);
    assert_eq!(read(&["identity", ""]).unwrap(), []);
    assert_eq!(read(&["GZIP"]).unwrap(), [Coding::Gzip]);
    assert_eq!(read(&["deflate , x-gzip"]).unwrap(), [Coding::Deflate, Coding::Gzip]);
    assert_eq!(read(&["gzip", "gzip"]).unwrap(), [Coding::Gzip; 2]);
    for bad in [&["br"][..], &["gzip, zstd"], &["gzip, gzip", "gzip"], &["\u{1b}[31m"]] {
        let failure = read(bad).unwrap_err();
        assert!(matches!(failure, HttpFailure::Encoding(_)), "{bad:?}");
        assert!(!failure.to_string().contains('\u{1b}'));
    }
}
