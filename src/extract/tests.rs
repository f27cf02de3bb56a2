//! Whole documents: what comes out, and what no document may do.

use std::time::{Duration, Instant};

use super::*;
use crate::model::{PageUrl, Refusal, Volatile};

/// `https://base.example/dir/page`, with refusals as the model words them.
pub(in crate::extract) struct Base;

impl Resolve for Base {
    fn resolve(&self, href: &str) -> Result<PageUrl, Refusal> {
        if href.len() > 2_048 {
            return Err(Refusal::TooLong);
        }
        let lower = href.to_ascii_lowercase();
        if ["mailto:", "javascript:", "data:", "tel:", "ftp:"]
            .iter()
            .any(|it| lower.starts_with(it))
        {
            return Err(Refusal::Scheme);
        }
        let authority = lower.split_once("//").map_or("", |(_, rest)| rest);
        if authority.split('/').next().is_some_and(|it| it.contains('@')) {
            return Err(Refusal::Userinfo);
        }
        PageUrl::parse("https://base.example/dir/page")?.join(href)
    }
}

fn run(bytes: &[u8], markup: Markup, noise: &Noise) -> Result<Extracted, NotText> {
    extract(&Document { bytes, markup, name: "scale-nodes.md", base: &Base, noise })
}

fn markdown(text: &str) -> Extracted {
    run(text.as_bytes(), Markup::Markdown, &Noise::default()).unwrap()
}

#[test]
fn a_whole_document() {
    let text = "\u{feff}---\r\ntitle: Scale\r\nms.date: 10/22/2025\r\n# intent\r\n---\r\n\r\n\
        # Scale nodes\r\n\r\nSee [the limits](limits.md).  \r\nBuild 7\r\n\r\n";
    let patterns = vec!["(?m)^Build [0-9]+\n".to_owned()];
    let noise = Noise::new(&Volatile { keys: vec![], patterns }).unwrap();
    let found = run(text.as_bytes(), Markup::Markdown, &noise).unwrap();
    assert_eq!(found.title, "Scale");
    assert_eq!(found.upstream, "ms.date: 10/22/2025\n# intent\n");
    assert_eq!(found.body, "# Scale nodes\n\nSee [the limits](limits.md).  \n");
    assert_eq!(found.links.len(), 1);
    assert_eq!(found.links[0].to.as_str(), "https://base.example/dir/limits.md");
    assert_eq!(found.links[0].text, "the limits");
    assert!(found.notes.is_empty());
}

#[test]
fn utf16_gives_the_same_as_utf8() {
    let text = "---\ntitle: Größe\n---\n# x\n";
    let wide: Vec<u8> =
        "\u{feff}".encode_utf16().chain(text.encode_utf16()).flat_map(u16::to_be_bytes).collect();
    assert_eq!(run(&wide, Markup::Markdown, &Noise::default()).unwrap(), markdown(text));
}

#[test]
fn titles() {
    let cases = [
        ("## Two\n\n# One *and* `only`\n\n# Later", "One and only"),
        ("### Three\n\n## Two", "Three"),
        ("Setext\nheading\n===", "Setext heading"),
        ("# ![Logo](l.png) of [us](u)", "Logo of us"),
        ("#\n\n## Real", "Real"),
        ("# a<br>b <b>c</b> &amp; \\*d", "a b c & *d"),
        ("> # Quoted", "Quoted"),
        ("```\n# code\n```", "scale-nodes.md"),
        ("---\ntitle: ''\n---\n# Head", "Head"),
        ("---\nnot: [closed\n---\n# Head", "Head"),
        ("", "scale-nodes.md"),
        ("---\n\nbreak, no end\n\n# Head", "Head"),
    ];
    for (text, title) in cases {
        assert_eq!(markdown(text).title, title, "{text:?}");
    }
    assert_eq!(markdown(&format!("# {}", "x".repeat(900))).title.len(), 500);
}

#[test]
fn bodies_stay_as_they_are() {
    for body in ["a  \nb\n", "* a\n\n\tcode\n", "e\u{301} \u{c}\n", "---\nno end\n", "<!-- x\n"] {
        assert_eq!(markdown(body).body, body);
    }
}

#[test]
fn other_text_has_bare_links_only() {
    let text = "---\na: b\n---\n`Site <https://a.example/x>`_ and link:https://b.example/y[Why]\n\
        .. _t: https://c.example\n[no](link.md)\n";
    let found = run(text.as_bytes(), Markup::Text, &Noise::default()).unwrap();
    assert_eq!(found.body, text);
    assert_eq!((found.title.as_str(), found.upstream.as_str()), ("scale-nodes.md", ""));
    let to: Vec<_> = found.links.iter().map(|link| link.to.as_str()).collect();
    assert_eq!(to, ["https://a.example/x", "https://b.example/y", "https://c.example/"]);
}

#[test]
fn bytes_that_are_no_text() {
    assert_eq!(run(b"a\0", Markup::Text, &Noise::default()), Err(NotText::Binary));
    let latin = run(b"\xe9", Markup::Markdown, &Noise::default());
    assert_eq!(latin, Err(NotText::Encoding { offset: 0 }));
}

/// Deterministic numbers (splitmix64).
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, bound: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        usize::try_from((z ^ (z >> 31)) % u64::try_from(bound).unwrap()).unwrap()
    }
}

const PIECES: [&str; 64] = [
    "[",
    "]",
    "(",
    ")",
    "![",
    "](",
    "](x)",
    "<",
    ">",
    "<a ",
    "<a href=x>",
    "</a>",
    "<!--",
    "-->",
    "*",
    "**",
    "_",
    "`",
    "```",
    "~~",
    "~",
    "\n",
    "\n\n",
    " ",
    "    ",
    "\t",
    "- ",
    "1. ",
    "> ",
    "#",
    "# ",
    "|",
    "|-|-|\n",
    "---\n",
    "...\n",
    "[a]: b\n",
    "[^1]",
    "[^1]: ",
    "\\",
    "&amp;",
    "&#0;",
    "https://a.example/",
    "www.a.b",
    "http://",
    "'",
    "\"",
    "\u{feff}",
    "é",
    "🌍",
    "\u{85}",
    "\r",
    "a: ",
    "b:\n",
    "{",
    "}",
    "&x ",
    "*x ",
    "!!t ",
    "|\n",
    "? ",
    "%",
    "<div>",
    "</div>",
    "<script>",
];

#[test]
fn random_documents_neither_panic_nor_break_the_format() {
    let mut numbers = Numbers(2026);
    let noise = Noise::default();
    let start = Instant::now();
    for round in 0..6_000 {
        let mut text = String::from(if round % 2 == 0 { "---\n" } else { "" });
        for _ in 0..numbers.below(80) {
            text.push_str(PIECES[numbers.below(PIECES.len())]);
        }
        let found = run(text.as_bytes(), Markup::Markdown, &noise).unwrap();
        assert!(found.body.is_empty() || found.body.ends_with('\n'), "{text:?}");
        assert!(found.upstream.is_empty() || found.upstream.ends_with('\n'), "{text:?}");
        assert!(found.links.is_sorted_by(|a, b| a < b), "{text:?}");
        assert!(!found.title.contains('\n'), "{text:?}");
        let again = run(found.body.as_bytes(), Markup::Text, &noise).unwrap();
        assert_eq!(again.body, found.body.strip_prefix('\u{feff}').unwrap_or(&found.body));
        run(text.as_bytes(), Markup::Text, &noise).unwrap();
        if start.elapsed() > Duration::from_secs(30) {
            break;
        }
    }
}

/// Texts that grow without end from a piece, where naive parsers take quadratic time.
const GROWING: [(&str, &str); 51] = [
    ("", "["),
    ("", "!["),
    ("", "![]("),
    ("", "[a]("),
    ("", "[](<"),
    ("", "[a](b \""),
    ("", "[a](b '"),
    ("", "[a](b ("),
    ("", "<a "),
    ("", "<a href=\""),
    ("", "<a href='x' "),
    ("", "<a href=x>"),
    ("", "x <a href=x>"),
    ("", "<!--"),
    ("", "x <!--"),
    ("", "x <?"),
    ("", "x <![CDATA["),
    ("", "x <!A "),
    ("", "x </a "),
    ("", "*"),
    ("", "*a "),
    ("", "a**b"),
    ("", "**a *b "),
    ("", "_"),
    ("", "a_"),
    ("", "~a"),
    ("", "`"),
    ("", "`a``"),
    ("", "> "),
    ("", ">"),
    ("", "- "),
    ("", "- - "),
    ("", "1. "),
    ("", "- a\n"),
    ("", "> a\n\n"),
    ("", "|"),
    ("|a|\n|-|\n", "|a|\n"),
    ("", "a|b\n-|-\n"),
    ("", "[a]: b\n"),
    ("", "[a] "),
    ("", "[a]: b \""),
    ("", "[^a]: "),
    ("", "[^a]"),
    ("", "&"),
    ("", "&amp"),
    ("", "\\"),
    ("", "<div><a>\n"),
    ("<div>", "<a href=x>y"),
    ("", "(www."),
    ("", "---\n"),
    ("[a]: /b\n\n", "[a]"),
];

#[test]
fn hostile_texts_take_linear_time() {
    for (head, piece) in GROWING {
        let count = 100_000 / piece.len();
        for tail in ["", "\n\nx", "\">"] {
            let text = format!("{head}{}{tail}", piece.repeat(count));
            let start = Instant::now();
            markdown(&text);
            let took = start.elapsed();
            assert!(took < Duration::from_secs(5), "{head:?} {piece:?} {tail:?}: {took:?}");
        }
    }
}

#[test]
fn hostile_structures_take_linear_time() {
    let lines = |count: usize, line: &dyn Fn(usize) -> String| {
        (0..count).map(line).collect::<Vec<_>>().concat()
    };
    let stairs = lines(1_500, &|n| format!("{}- a\n", "  ".repeat(n)));
    let ticks = lines(1_200, &|n| format!("a{} ", "`".repeat(n + 1)));
    let many = lines(100_000, &|n| format!("[{n}](p{n})\n"));
    let keys = lines(10_000, &|n| format!("k{}:\n", n % 9_000));
    let bomb =
        format!("[a]: https://a.example/{}\n\n{}", "x".repeat(1_000), "[a]\n".repeat(50_000));
    let lists = format!("{}x\n{}", "- ".repeat(90), "\n".repeat(500_000));
    let notes = format!("[^1]: {}x\n{}", "- ".repeat(50_000), "\n".repeat(100_000));
    for text in [stairs, ticks, bomb, many, lists, notes, format!("---\n{keys}---\n")] {
        let start = Instant::now();
        markdown(&text);
        let took = start.elapsed();
        assert!(took < Duration::from_secs(20), "{:?}: {took:?}", &text[..40]);
    }
}
