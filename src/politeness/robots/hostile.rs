//! Files that are meant to do harm: no panic, no time out of proportion.

use std::fmt::Write as _;
use std::time::Duration;

use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};

use super::*;
use crate::clock::tests::worked;

const TOKEN: &str = "ExampleBot";

/// Far more than any of the files here takes, far less than a quadratic matcher would.
const PATIENCE: Duration = Duration::from_secs(20);

fn within(name: &str, work: impl FnOnce()) {
    let ((), took) = worked(work);
    assert!(took < PATIENCE, "{name} took {took:?}");
}

#[test]
fn a_file_of_wildcards() {
    within("one pattern of 500 KB", || {
        let stars = "*".repeat(500_000);
        let robots =
            Robots::parse(format!("User-agent: *\nDisallow: /{stars}x$").as_bytes(), TOKEN);
        let path = format!("/{}", "a".repeat(2000));
        for _ in 0..1000 {
            assert!(robots.allows(&path).allowed);
        }
        assert!(!robots.allows("/ax").allowed);
    });
    within("one pattern of 250,000 parts", || {
        let parts = "*a".repeat(250_000);
        let text = format!("User-agent: *\nDisallow: /{parts}b");
        let robots = Robots::parse(text.as_bytes(), TOKEN);
        for _ in 0..1000 {
            assert!(robots.allows(&format!("/{}", "a".repeat(2000))).allowed);
        }
        assert!(!robots.allows(&format!("/{}b", "a".repeat(250_000))).allowed);
    });
}

#[test]
fn many_rules_and_long_paths() {
    within("10,000 rules of which none matches", || {
        let mut text = "User-agent: *\n".to_owned();
        for number in 0..10_000 {
            writeln!(text, "Disallow: /*a*aa*aaa*{number}$").unwrap();
        }
        let robots = Robots::parse(text.as_bytes(), TOKEN);
        for _ in 0..20 {
            assert!(robots.allows(&format!("/{}", "a".repeat(2000))).allowed);
        }
    });
    within("parts that nearly fit", || {
        let part = format!("*{}b", "a".repeat(1000));
        let text = format!("User-agent: *\nDisallow: /{}$", part.repeat(400));
        let robots = Robots::parse(text.as_bytes(), TOKEN);
        for _ in 0..20 {
            assert!(robots.allows(&format!("/{}", "a".repeat(400_000))).allowed);
        }
    });
}

#[test]
fn many_lines_of_every_kind() {
    for line in [
        "User-agent: *\n",
        "User-agent: a\nDisallow: /\n",
        "Sitemap: x\n",
        "\n",
        "\r",
        ":\n",
        "*\n",
    ] {
        within(line, || {
            let text = line.repeat(lines::LIMIT / line.len() + 10);
            assert!(Robots::parse(text.as_bytes(), TOKEN).allows("/").allowed);
        });
    }
    within("one line without an end", || {
        for byte in [b'*', b'%', b'#', b':', b' ', 0, 0xff] {
            assert!(Robots::parse(&vec![byte; 3_000_000], TOKEN).allows("/").allowed);
        }
    });
}

/// Bytes that matter to the parser, and now and then any other.
fn bytes(rng: &mut TestRng, most: usize) -> Vec<u8> {
    use proptest::prelude::Rng as _;
    const PIECES: [&[u8]; 24] = [
        b"User-agent:",
        b"*",
        b"ExampleBot",
        b"\n",
        b"\r",
        b"\r\n",
        b"Disallow:",
        b"Allow: ",
        b"/",
        b"$",
        b"%",
        b"%2",
        b"%2f",
        b"%zz",
        b"\0",
        b"#",
        b" ",
        b"\t",
        b"Crawl-delay:",
        b"9",
        b"Sitemap:",
        b"\xef\xbb\xbf",
        b"\xff\xfe",
        b"\xc3",
    ];
    let mut out = Vec::new();
    for _ in 0..rng.next_u32() as usize % most {
        let draw = rng.next_u32() as usize;
        match PIECES.get(draw % (PIECES.len() + 2)) {
            Some(piece) => out.extend(*piece),
            None => out.push(draw.to_le_bytes()[1]),
        }
    }
    out
}

#[test]
fn fuzz() {
    let mut rng = TestRng::from_seed(RngAlgorithm::ChaCha, &[0x5e; 32]);
    for _ in 0..60_000 {
        let mut file = bytes(&mut rng, 40);
        if file.first() != Some(&0xff) {
            file.splice(0..0, *b"User-agent: *\nDisallow:/");
        }
        let path = String::from_utf8_lossy(&bytes(&mut rng, 12)).into_owned();
        let robots = Robots::parse(&file, TOKEN);
        let verdict = robots.allows(&path);
        assert_eq!(robots.allows(&path), verdict);
        assert!(robots.allows("/robots.txt").allowed);
        assert!(verdict.rule().is_none_or(|(line, _)| line > 0));
        robots.sitemaps().iter().for_each(|sitemap| assert!(!sitemap.is_empty()));
    }
}

/// A matcher that is slow and obvious.
fn slow(pattern: &[u8], path: &[u8]) -> bool {
    match pattern {
        [] => true,
        [b'$'] => path.is_empty(),
        [b'*', rest @ ..] => (0..=path.len()).any(|at| slow(rest, &path[at..])),
        [byte, rest @ ..] => path.first() == Some(byte) && slow(rest, &path[1..]),
    }
}

#[test]
fn the_matcher_agrees_with_an_obvious_one() {
    let mut runner =
        TestRunner::new(Config { cases: 8000, failure_persistence: None, ..Config::default() });
    let cases = ("/[ab*]{0,8}[$]?", "/[ab]{0,10}");
    runner
        .run(&cases, |(pattern, path)| {
            let robots =
                Robots::parse(format!("User-agent: *\nDisallow: {pattern}").as_bytes(), TOKEN);
            assert_eq!(
                !robots.allows(&path).allowed,
                slow(pattern.as_bytes(), path.as_bytes()),
                "{pattern} {path}"
            );
            Ok(())
        })
        .unwrap();
}
