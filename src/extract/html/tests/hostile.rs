//! What no page may do: take long, grow without bound, panic, or break the format.

use std::time::Duration;

use super::*;
use crate::clock::tests::worked;

fn within(seconds: u64, name: &str, html: &str) -> ExtractedHtml {
    let (found, took) = worked(|| page(html));
    assert!(took < Duration::from_secs(seconds), "{name}: {took:?}");
    let most = html.len().saturating_mul(40) + 10_000;
    assert!(found.body.len() < most, "{name}: {} bytes", found.body.len());
    found
}

fn numbered(count: usize, piece: impl Fn(usize) -> String) -> String {
    (0..count).map(piece).collect::<Vec<_>>().concat()
}

#[test]
fn deep_pages() {
    for open in [
        "<div>",
        "<b>",
        "<ul><li>",
        "<blockquote>",
        "<table><tr><td>",
        "<dl><dd>",
        "<a href=x>",
        "<span>",
    ] {
        let deep = format!("{}deep{}", open.repeat(100_000), "</div>".repeat(100_000));
        let found = within(20, open, &deep);
        assert!(found.body.contains("deep"), "{open}");
    }
    let tables = format!("<main>{}x", "<table><tr><td>a".repeat(50));
    assert!(within(2, "tables", &tables).body.contains('x'));
}

#[test]
fn long_pages() {
    let many = numbered(1_000_000, |n| format!(" a{n}=b"));
    let found = within(20, "attributes", &format!("<p{many}>text"));
    assert_eq!(found.body, "text\n");
    assert!(!found.notes.is_empty());
    within(20, "signs", &"<".repeat(3_000_000));
    within(20, "markup", &"<p><i><a><table><td>".repeat(20_000));
    within(20, "fonts", &numbered(60_000, |n| format!("<p><font a={n}>x")));
    within(20, "formatting", &"<b><i><s><u>x<p>".repeat(40_000));
    within(20, "misnested", &"<b><p></b><a href=x><div></a>".repeat(20_000));
    within(20, "frames", &"<html a=b><body c=d>".repeat(50_000));
    within(20, "selects", &"<select><option>".repeat(50_000));
    within(20, "svg", &"<svg><desc><math><mi>".repeat(30_000));
}

#[test]
fn long_texts() {
    for piece in [
        "*",
        "_",
        "`",
        "~",
        "[",
        "]",
        "[x](",
        "&",
        "\\",
        "$a",
        "<b>*</b>",
        "<i>a</i>",
        "<code>`</code>",
        "<br>",
        "x<br><br>",
        "http://a.b ",
        "www.",
        "a@b",
        "<li>a",
        "<td>a",
        "<tr><td>",
        "<hr>",
        "<dt>a<dd>b",
        "<a href=x>y</a>",
        "<a href='#f'>1</a>",
        "<pre>`",
        "<sup>",
        "<img alt='['>",
        "!",
        "#",
        "\n- ",
        "<div role=tablist><b role=tab></b></div><div role=tabpanel></div>",
        "<div class=note>",
        "<details><summary>",
        "<ruby>x<rt>",
        "<option>",
        "</p>",
        "</br>",
        "</x>",
    ] {
        let repeated = piece.repeat(80_000 / piece.len());
        within(20, piece, &format!("<main>{repeated}"));
        within(20, piece, &format!("<main><table><tr><td>{repeated}"));
        within(20, piece, &format!("<main><ul><li>{repeated}"));
    }
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

const PIECES: [&str; 96] = [
    "<p>",
    "</p>",
    "<b>",
    "</b>",
    "<i>",
    "</i>",
    "<s>",
    "</s>",
    "<code>",
    "</code>",
    "<pre>",
    "</pre>",
    "<a href=x>",
    "<a href=https://a.example/>",
    "</a>",
    "<ul>",
    "</ul>",
    "<ol start=7>",
    "</ol>",
    "<li>",
    "<table>",
    "</table>",
    "<tr>",
    "<td>",
    "<th>",
    "<td colspan=2>",
    "<dl>",
    "<dt>",
    "<dd>",
    "</dl>",
    "<blockquote>",
    "</blockquote>",
    "<h1>",
    "</h1>",
    "<h3>",
    "</h3>",
    "<br>",
    "<hr>",
    "<div>",
    "</div>",
    "<div class=note>",
    "<sup>",
    "</sup>",
    "<kbd>",
    "</kbd>",
    "<img src=i alt=a>",
    "<details>",
    "<summary>",
    "</details>",
    "<input type=checkbox>",
    "<math>",
    "</math>",
    "<svg>",
    "</svg>",
    "<select>",
    "<template>",
    "<!--",
    "-->",
    "<section hidden>",
    "<aside>",
    "<figure>",
    "<caption>",
    " ",
    "\n",
    "a",
    "word ",
    "*",
    "**",
    "_",
    "`",
    "``",
    "~",
    "~~",
    "[",
    "]",
    "(",
    "<",
    ">",
    "&amp;",
    "&",
    "\\",
    "#",
    "# ",
    "- ",
    "1. ",
    "|",
    "!",
    "$",
    "=",
    "é",
    "🌍",
    "\u{a0}",
    "\u{301}",
    "http://a.b/",
    "www.a.example",
    "«",
];

fn soup(numbers: &mut Numbers) -> String {
    let length = numbers.below(60);
    (0..length).map(|_| PIECES[numbers.below(PIECES.len())]).collect()
}

#[test]
fn random_pages_neither_panic_nor_break_the_format() {
    let mut numbers = Numbers(2026);
    for _ in 0..4_000 {
        let html = soup(&mut numbers);
        let found = page(&html);
        assert_eq!(found, page(&html), "{html:?}");
        assert!(found.body.is_empty() || found.body.ends_with('\n'), "{html:?}");
        assert!(found.links.is_sorted_by(|a, b| a < b), "{html:?}");
        assert!(found.outside_links.is_sorted_by(|a, b| a < b), "{html:?}");
        assert!(!found.title.contains('\n'), "{html:?}");
    }
}

#[test]
fn random_bytes_are_read() {
    let mut numbers = Numbers(7);
    for _ in 0..500 {
        let bytes: Vec<u8> =
            (0..numbers.below(300)).map(|_| u8::try_from(numbers.below(256)).unwrap()).collect();
        let document = HtmlDocument {
            bytes: &bytes,
            charset: None,
            name: "x",
            base: &Base,
            selectors: &Selectors::default(),
            noise: &Noise::default(),
            bot: "pagelog",
        };
        assert!(!extract_html(&document).charset.is_empty());
    }
}

/// Running text of random marks says the same to another reader.
#[test]
fn random_texts_survive_a_round_trip() {
    let inline = [
        "<b>",
        "</b>",
        "<i>",
        "</i>",
        "<s>",
        "</s>",
        "<code>",
        "</code>",
        "<a href=x>",
        "</a>",
        "<sup>",
        "</sup>",
        "<br>",
        "word",
        " ",
        "a",
        "*",
        "**",
        "_",
        "`",
        "~",
        "[",
        "]",
        "(",
        ")",
        "<",
        "&amp;lt;",
        "\\",
        "#",
        "-",
        "1.",
        "|",
        "!",
        "é",
        ".",
        "«",
        "^",
        ":",
        "+",
        "=",
    ];
    let mut numbers = Numbers(41);
    let mut lost = Vec::new();
    for _ in 0..20_000 {
        let length = numbers.below(14);
        let html: String = (0..length).map(|_| inline[numbers.below(inline.len())]).collect();
        let html = format!("<main><p>{html}");
        let markdown = page(&html).body;
        let counts = score::compare(&score::of_page(&html), &score::of_markdown(&markdown));
        if ![0, 1, 2, 4].iter().all(|n| counts[*n].is_full()) {
            lost.push((html, markdown));
        }
    }
    for (html, markdown) in lost.iter().take(12) {
        println!("{html}\n    {markdown:?}");
    }
    assert!(lost.len() <= 20, "{} of 20000", lost.len());
}
