//! Own cases: tables of what files mean, and the differential check against `robotxt`.

use std::time::Duration;

use proptest::prelude::*;

use super::*;

const TOKEN: &str = "ExampleBot";

/// Whether the path may be read by the rules of a file for all agents.
fn allowed(rules: &str, path: &str) -> bool {
    Robots::parse(format!("User-agent: *\n{rules}\n").as_bytes(), TOKEN).allows(path).allowed
}

fn file(bytes: impl AsRef<[u8]>) -> Robots {
    Robots::parse(bytes.as_ref(), TOKEN)
}

/// Rules for all agents, path, whether it may be read.
const RULES: [(&str, &str, bool); 76] = [
    ("", "/", true),
    ("Disallow:", "/a", true),
    ("Disallow: /", "/", false),
    ("Disallow: /", "", false),
    ("Disallow: /", "?q", false),
    ("Disallow: /", "/robots.txt", true),
    ("Disallow: /", "/robots%2Etxt", true),
    ("Disallow: /", "/robots.txt?a", false),
    ("Disallow: /", "/robots.txt/", false),
    ("Disallow: /", "/Robots.txt", false),
    ("Disallow: /a", "/abc", false),
    ("Disallow: /a", "/A", true),
    ("Disallow: /a/", "/a", true),
    ("Disallow: /a", "/b/a", true),
    ("Disallow: a", "/a", true),
    ("Disallow: https://h.example/a", "/a", true),
    // The longest rule decides, whatever the order; Allow where two are as long.
    ("Disallow: /\nAllow: /docs/", "/docs/x", true),
    ("Allow: /docs/\nDisallow: /", "/docs/x", true),
    ("Allow: /docs\nDisallow: /docs/", "/docs/x", false),
    ("Disallow: /docs\nAllow: /docs", "/docs/x", true),
    ("Allow: /a*z\nDisallow: /abz", "/abz", true),
    ("Allow: /a*\nDisallow: /ab", "/ab", true),
    ("Allow: /ab\nDisallow: /a**", "/ab", false),
    ("Allow: /ab\nDisallow: /ab$", "/ab", false),
    ("Allow: /a%62\nDisallow: /ab", "/ab", true),
    ("Allow: /\u{e9}\nDisallow: /%C3*", "/%c3%a9", true),
    // Wildcards.
    ("Disallow: /*.pdf$", "/a/b.pdf", false),
    ("Disallow: /*.pdf$", "/a/b.pdf?x", true),
    ("Disallow: /*.pdf", "/a/b.pdf?x", false),
    ("Disallow: /a*b*c", "/a-c-b", true),
    ("Disallow: /a*b*c", "/a-b-b-c-", false),
    ("Disallow: /*ab$", "/abab", false),
    ("Disallow: /*aba$", "/ababa", false),
    ("Disallow: /a*a$", "/a", true),
    ("Disallow: /a*a$", "/aa", false),
    ("Disallow: /*$", "/", false),
    ("Disallow: *", "/x", false),
    ("Disallow: *$", "/x", false),
    ("Disallow: */secret", "/a/secret", false),
    ("Disallow: ***x***y***$", "/axby", false),
    ("Disallow: $", "/", true),
    ("Disallow: /$", "/", false),
    ("Disallow: /$", "/?a", true),
    ("Disallow: /a$b", "/a", true),
    ("Disallow: /a$b", "/a$b", false),
    ("Disallow: /a$b", "/a%24b", false),
    ("Disallow: /a%24", "/a", true),
    ("Disallow: /a%24", "/a$", false),
    ("Disallow: /a%2A", "/a*", false),
    ("Disallow: /a%2a", "/ab", true),
    // Encodings.
    ("Disallow: /%7ejoe", "/~joe", false),
    ("Disallow: /~joe", "/%7Ejoe", false),
    ("Disallow: /x%2Fy", "/x/y", true),
    ("Disallow: /x/y", "/x%2fy", true),
    ("Disallow: /x%2fy", "/x%2Fy", false),
    ("Disallow: /\u{4e16}", "/%E4%B8%96", false),
    ("Disallow: /%e4%b8%96", "/\u{4e16}", false),
    ("Disallow: /a b", "/a%20b", false),
    ("Disallow: /a[1]", "/a%5B1%5D", false),
    ("Disallow: /a?q='x'", "/a?q=%27x%27", false),
    ("Disallow: /100%", "/100%25", false),
    ("Disallow: /100%$", "/100%25", false),
    ("Disallow: /%zz", "/%25zz", false),
    ("Disallow: /*%*", "/a%2Fb", false),
    ("Disallow: /*%*", "/%41", true),
    ("Disallow: /*%2*", "/a%2Fb", false),
    // How lines are read.
    ("disallow/a", "/a", true),
    ("disallow /a", "/a", false),
    ("disallow /a b", "/a", true),
    ("dissalow: /a", "/a", false),
    ("DISALLOW:/a#comment", "/a", false),
    ("Disallow : \t /a\t ", "/a", false),
    ("Disallow: /a\u{a0}", "/a", true),
    ("Disallow: /a\0/b", "/a", false),
    ("Disallow: /a: b", "/a:%20b", false),
    ("Disallow: /a\rDisallow: /b", "/b", false),
];

#[test]
fn rules_of_one_group() {
    for (rules, path, want) in RULES {
        assert_eq!(allowed(rules, path), want, "{rules:?} {path:?}");
    }
}

#[test]
fn a_fragment_plays_no_part() {
    assert!(!allowed("Disallow: /a$", "/a#b"));
    assert!(allowed("Disallow: /*b", "/a#b"));
}

#[test]
fn a_verdict_names_its_rule() {
    let robots = file("# rules\r\n\r\nUser-agent: *\r\n  Disallow: /a # why\r\nAllow: /a/b\r\n");
    assert_eq!(robots.allows("/a/c").rule(), Some((4, "Disallow: /a # why")));
    assert_eq!(robots.allows("/a/b").rule(), Some((5, "Allow: /a/b")));
    assert_eq!(robots.allows("/c").ground, Ground::NoRule);
    assert_eq!(robots.allows("/robots.txt").ground, Ground::RobotsTxt);
    assert_eq!(
        robots.allows("/a/c").ground.to_string(),
        "line 4 of robots.txt: Disallow: /a # why"
    );
    let long = file(format!("User-agent: *\nDisallow: /{}", "é".repeat(5000)));
    let verdict = long.allows(&format!("/{}", "é".repeat(5000)));
    assert!(verdict.rule().is_some_and(|(_, text)| text.len() < 210));
}

#[test]
fn everything_or_nothing() {
    assert!(Robots::allow_all().allows("/a").allowed);
    let nothing = Robots::forbid_all("status 503");
    let verdict = nothing.allows("/a");
    assert_eq!((verdict.allowed, verdict.ground), (false, Ground::Unreachable("status 503")));
    assert!(nothing.allows("/robots.txt").allowed);
}

/// File, path, whether the bot may read it.
const GROUPS: [(&str, &str, bool); 20] = [
    ("User-agent: examplebot\nDisallow: /a", "/a", false),
    ("User-agent: EXAMPLEBOT/2.0\nDisallow: /a", "/a", false),
    ("User-agent: ExampleBot (all)\nDisallow: /a", "/a", false),
    ("User-agent: ExampleBot-News\nDisallow: /a", "/a", true),
    ("User-agent: Example\nDisallow: /a", "/a", true),
    ("User-agent: My ExampleBot\nDisallow: /a", "/a", true),
    ("User-agent ExampleBot\nDisallow: /a", "/a", false),
    ("Useragent: ExampleBot\nDisallow: /a", "/a", false),
    ("User-agent: x*\nDisallow: /a", "/a", true),
    ("User-agent: *\nDisallow: /a\nUser-agent: ExampleBot\nDisallow: /b", "/a", true),
    ("User-agent: *\nDisallow: /\nUser-agent: ExampleBot\n", "/a", true),
    ("User-agent: ExampleBot\nUser-agent: *\n\n\nDisallow: /a", "/a", false),
    ("User-agent: ExampleBot\nSitemap: x\nUser-agent: y\nDisallow: /a", "/a", false),
    ("User-agent: ExampleBot\nCrawl-delay: 3\nUser-agent: y\nDisallow: /a", "/a", false),
    ("User-agent: ExampleBot\nDisallow:\nUser-agent: y\nDisallow: /a", "/a", true),
    ("User-agent: ExampleBot\nDisallow: x\nUser-agent: y\nDisallow: /a", "/a", true),
    (
        "User-agent: ExampleBot\nDisallow: /a\nUser-agent: y\nDisallow: /b\n\
      User-agent: examplebot\nDisallow: /c",
        "/c",
        false,
    ),
    (
        "User-agent: *\nDisallow: /a\nUser-agent: y\nDisallow: /b\nUser-agent: *\nDisallow: /c",
        "/a",
        false,
    ),
    ("Disallow: /a\nUser-agent: *\nDisallow: /b", "/a", true),
    ("User-agent: y\n\nDisallow: /a", "/a", true),
];

#[test]
fn groups() {
    for (text, path, want) in GROUPS {
        assert_eq!(file(text).allows(path).allowed, want, "{text:?} {path:?}");
    }
}

#[test]
fn every_encoding_of_a_file() {
    let text = "User-agent: *\nDisallow: /a\nDisallow: /\u{e9}\n";
    let le = |text: &str| text.encode_utf16().flat_map(u16::to_le_bytes).collect::<Vec<u8>>();
    let be = |text: &str| text.encode_utf16().flat_map(u16::to_be_bytes).collect::<Vec<u8>>();
    let marked = format!("\u{feff}{text}");
    for (name, bytes) in [
        ("UTF-8", text.as_bytes().to_vec()),
        ("with a mark", marked.as_bytes().to_vec()),
        (
            "with two bytes of it",
            marked.as_bytes()[..2].iter().copied().chain(text.bytes()).collect(),
        ),
        (
            "with one byte of it",
            marked.as_bytes()[..1].iter().copied().chain(text.bytes()).collect(),
        ),
        ("UTF-16, little end first", le(&marked)),
        ("UTF-16, big end first", be(&marked)),
        ("UTF-16 without a mark", le(text)),
        ("UTF-16 without a mark, big end first", be(text)),
        ("half a unit too much", [le(&marked), vec![0]].concat()),
    ] {
        let robots = file(&bytes);
        for path in ["/a", "/%C3%A9"] {
            assert!(!robots.allows(path).allowed, "{name}: {path}");
        }
        assert!(robots.allows("/b").allowed, "{name}");
    }
    assert!(!file(b"User-agent: *\nDisallow: /caf\xe9\n").allows("/caf%E9").allowed);
}

#[test]
fn the_limit_cuts_at_a_line() {
    let padding = |length: usize| "#".repeat(length - 1) + "\n";
    let head = "User-agent: *\nDisallow: /a\n";
    let with = |padding_length: usize| {
        file(format!("{head}{}Disallow: /wxyz\nDisallow: /b", padding(padding_length)))
    };
    let rest = lines::LIMIT - head.len();
    let line = "Disallow: /wxyz".len();
    for (padding, whole) in [(rest - line - 1, true), (rest - line, true), (rest - line + 1, false)]
    {
        let robots = with(padding);
        assert!(!robots.allows("/a").allowed);
        assert_eq!(robots.allows("/wxyz").allowed, !whole, "{padding}");
        assert!(robots.allows("/wx").allowed, "no shortened rule");
        assert!(robots.allows("/b").allowed);
    }
    assert!(file(format!("User-agent:*{}", "x".repeat(lines::LIMIT))).allows("/").allowed);
}

#[test]
fn web_pages_are_told_from_rules() {
    for text in [
        "<!DOCTYPE html>\n<html>",
        "\u{feff}\n\n <HTML lang=en>",
        "<!-- page -->\n<html>",
        "<?xml version='1.0'?><!DOCTYPE html PUBLIC>",
        "<head>",
    ] {
        assert!(looks_like_html(text.as_bytes()), "{text:?}");
        assert!(file(text).looks_like_html());
    }
    for text in ["", "User-agent: *\n# <html>", "# <!doctype html>", "<br />\nUser-agent: *"] {
        assert!(!looks_like_html(text.as_bytes()), "{text:?}");
    }
}

fn delay(text: &str) -> Option<Duration> {
    file(text).crawl_delay()
}

#[test]
fn values_of_crawl_delay() {
    let millis = |value: &str| {
        let delay = delay(&format!("User-agent: *\nCrawl-delay:{value}\n"));
        delay.map(|delay| delay.as_millis())
    };
    for (value, want) in [
        ("5", Some(5000)),
        ("0", Some(0)),
        ("0.5", Some(500)),
        (".25", Some(250)),
        ("3.", Some(3000)),
        ("007", Some(7000)),
        ("1.0009999999999999", Some(1000)),
        (" 5 # be kind", Some(5000)),
        ("10s", Some(10_000)),
        ("10 s", Some(10_000)),
        ("3 seconds", Some(3000)),
        ("2Sec", Some(2000)),
        ("86400", Some(86_400_000)),
        ("99999999999999999999999", Some(u128::from(u32::MAX) * 1000)),
        ("", None),
        (".", None),
        ("-5", None),
        ("+5", None),
        ("NaN", None),
        ("inf", None),
        ("1e3", None),
        ("0,5", None),
        ("1.2.3", None),
        ("10a", None),
        ("0x10", None),
        ("five", None),
        ("\u{665}", None),
    ] {
        assert_eq!(millis(value), want, "{value:?}");
    }
}

#[test]
fn whom_a_crawl_delay_is_for() {
    let seconds = |text: &str| delay(text).map(|delay| delay.as_secs());
    for (text, want) in [
        ("User-agent: *\nCrawl-delay: 60\nUser-agent: ExampleBot\nCrawl-delay: 2", Some(2)),
        ("User-agent: *\nCrawl-delay: 60\nUser-agent: ExampleBot\nDisallow:", None),
        ("User-agent: ExampleBot\nCrawl-delay: 2\nUser-agent: x\nCrawl-delay: 9", Some(2)),
        ("User-agent: ExampleBot\nUser-agent: x\nCrawl-delay: 2", Some(2)),
        ("User-agent: x\nCrawl-delay: 2\nUser-agent: *\nDisallow: /", None),
        ("User-agent: *\nDisallow: /\nCrawl-delay: 4", Some(4)),
        ("User-agent: *\nCrawl-delay: 4\nDisallow: /\nCrawl-delay: 7", Some(7)),
        ("User-agent: *\nCrawl-delay: 9\nCrawl-delay: 7\nCrawl-delay: soon", Some(9)),
        (
            "User-agent: *\nCrawl-delay: 9\n\nUser-agent: x\nCrawl-delay: 1\n\
          User-agent: *\nCrawl-delay: 3",
            Some(9),
        ),
        ("Crawl-delay: 9\nUser-agent: *", None),
    ] {
        assert_eq!(seconds(text), want, "{text:?}");
    }
}

#[test]
fn sitemaps_of_all_groups() {
    let robots = file(
        b"Sitemap: https://h.example/1.xml\nUser-agent: x\nsitemap:https://h.example/2.xml # two\n\
          Disallow: /\nSITEMAP: https://h.example/1.xml\nSitemap:\nSitemap: /caf\xe9.xml\n",
    );
    let want = ["https://h.example/1.xml", "https://h.example/2.xml", "/caf%E9.xml"];
    assert_eq!(robots.sitemaps(), want);
}

/// A line of a generated file. Left out are the known faults of the other parser: patterns
/// that begin with `*` or with neither `*` nor `/`, agents with more than a token,
/// Crawl-delay between agents or repeated, `%2A` and `%24`, UTF-16.
fn line() -> impl Strategy<Value = String> {
    let agent = prop::sample::select(vec!["*", "ExampleBot", "examplebot", "OtherBot", "Example"]);
    let piece = prop::sample::select(vec![
        "a", "b", "ab", "/", "*", "?", "=", "%2F", "%61", "%c3%a9", "\u{e9}", "~", ".", "&", "-",
    ]);
    let pattern = (prop::collection::vec(piece, 0..7), prop::bool::weighted(0.2))
        .prop_map(|(pieces, end)| format!("/{}{}", pieces.concat(), if end { "$" } else { "" }));
    let rule = prop::sample::select(vec!["Allow", "Disallow", "DISALLOW"]);
    prop_oneof![
        2 => agent.prop_map(|agent| format!("User-agent: {agent}")),
        5 => (rule, pattern).prop_map(|(rule, pattern)| format!("{rule}: {pattern}")),
        1 => prop::sample::select(vec![
            "", "# note", "Sitemap: https://h.example/s.xml", "Noindex: /a", "Disallow:",
        ]).prop_map(str::to_owned),
    ]
}

fn any_path() -> impl Strategy<Value = String> {
    let piece = prop::sample::select(vec![
        "a", "b", "ab", "/", "?", "=", "%2F", "%2f", "%61", "%C3%A9", "~", ".", "&", "-",
    ]);
    prop::collection::vec(piece, 0..9).prop_map(|pieces| format!("/{}", pieces.concat()))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1000))]

    #[test]
    fn agrees_with_another_parser(
        lines in prop::collection::vec(line(), 1..14),
        paths in prop::collection::vec(any_path(), 1..12),
    ) {
        let text = lines.join("\n");
        let own = file(&text);
        let other = robotxt::Robots::parse(text.as_bytes(), TOKEN);
        for path in paths {
            prop_assert_eq!(
                own.allows(&path).allowed, other.is_allowed(&path),
                "{:?} {:?}", text, path
            );
        }
    }
}
