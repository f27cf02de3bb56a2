//! How fast HTML becomes Markdown and how much of it survives, beside other converters; and what
//! hostile pages cost.
//!
//! Speed is bytes of whole pages a second of CPU time, on one thread. For what survives the others
//! are given the content of a page, as the measure finds it: they do not look for it themselves.

use std::collections::HashSet;
use std::fs;
use std::io::Write as _;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::process::{Command, Stdio};
use std::time::Duration;

use html5ever::serialize::{SerializeOpts, TraversalScope, serialize};
use html5ever::tendril::TendrilSink as _;
use markup5ever_rcdom::{Handle, RcDom, SerializableHandle};
use url::Url;

use crate::Arguments;
use crate::markdown::{both_ways, corpus, percent};
use crate::measure;
use crate::score::features::{self, COUNTED, NAMES};
use crate::score::tree::{Element, Page};
use crate::score::{ByReader, content, convert, is_perfect, judge_markdown};

/// Bytes of pages that are measured.
const BYTES: usize = 24 << 20;
/// Of so many pages one is given to pandoc, which starts anew for each.
const PANDOC: usize = 8;

/// A page: its text, the HTML of its content, and where it stands.
struct Input {
    page: String,
    content: String,
    base: Url,
}

/// A converter: its name, and what it makes of HTML.
type Converter = (&'static str, fn(&str, &Url) -> String);

const CONVERTERS: [Converter; 5] = [
    ("pagelog", |html, base| convert(html.as_bytes(), base).body),
    ("parsing alone (html5ever)", |html, _| {
        html5ever::parse_document(RcDom::default(), html5ever::ParseOpts::default()).one(html);
        String::new()
    }),
    ("mdka", |html, _| mdka::html_to_markdown(html)),
    ("htmd", |html, _| htmd::convert(html).unwrap_or_default()),
    ("html-to-markdown-rs", |html, _| {
        let converted = html_to_markdown_rs::convert(html, None);
        converted.ok().and_then(|it| it.content).unwrap_or_default()
    }),
];

/// Measures speed and what survives, then hostile pages.
pub fn run(arguments: &Arguments) {
    // A converter that panics loses the page; that is told by its figures.
    std::panic::set_hook(Box::new(|_| {}));
    let inputs = inputs(arguments);
    let bytes: usize = inputs.iter().map(|it| it.page.len()).sum();
    println!("{} pages, {:.1} MB\n", inputs.len(), bytes as f64 / 1e6);
    print_speed(&inputs, arguments.rounds);
    print_survival(&inputs);
    let _ = std::panic::take_hook();
    print_hostile(arguments);
}

/// Pages at equal distances.
fn inputs(arguments: &Arguments) -> Vec<Input> {
    let (folder, entries) = corpus(arguments);
    let pages: Vec<(Vec<u8>, Url)> = entries
        .iter()
        .filter_map(|it| Some((fs::read(folder.join(&it.path)).ok()?, it.base())))
        .collect();
    let all: usize = pages.iter().map(|(page, _)| page.len()).sum();
    let step = all.div_ceil(BYTES).max(1);
    let chosen = pages.into_iter().step_by(step);
    chosen
        .map(|(bytes, base)| {
            let page = String::from_utf8_lossy(&bytes).into_owned();
            let content = content_of(&page);
            Input { page, content, base }
        })
        .collect()
}

/// The HTML of the content of a page, without what in it is none.
fn content_of(html: &str) -> String {
    let page = Page::parse(html);
    let found = content::find(&page);
    remove(&found.root.0, &found.dropped);
    let mut out = Vec::new();
    let options = SerializeOpts {
        traversal_scope: TraversalScope::ChildrenOnly(None),
        ..SerializeOpts::default()
    };
    serialize(&mut out, &SerializableHandle::from(found.root.0), options).expect("it is written");
    String::from_utf8(out).expect("UTF-8")
}

fn remove(node: &Handle, dropped: &HashSet<usize>) {
    let mut children = node.children.borrow_mut();
    children.retain(|it| !dropped.contains(&Element(it.clone()).key()));
    for child in children.iter() {
        remove(child, dropped);
    }
}

fn print_speed(inputs: &[Input], rounds: usize) {
    let bytes: usize = inputs.iter().map(|it| it.page.len()).sum();
    let mut times: Vec<Vec<Duration>> = vec![Vec::new(); CONVERTERS.len()];
    for _ in 0..rounds {
        for ((_, converter), times) in CONVERTERS.iter().zip(&mut times) {
            let before = measure::thread_time();
            for it in inputs {
                let _ = catch_unwind(AssertUnwindSafe(|| converter(&it.page, &it.base).len()));
            }
            times.push(measure::thread_time().saturating_sub(before));
        }
    }
    println!("| whole pages, one core, median of {rounds} | MB/s |\n|---|---|");
    for ((name, _), times) in CONVERTERS.iter().zip(&mut times) {
        times.sort_unstable();
        let middle = times[times.len() / 2].as_secs_f64();
        println!("| {name} | {:.1} |", bytes as f64 / 1e6 / middle);
    }
    println!();
}

fn print_survival(inputs: &[Input]) {
    println!("| converter | pages | perfect | {} |", NAMES[..COUNTED].join(" | "));
    println!("|{}", "---|".repeat(3 + COUNTED));
    let all: Vec<&Input> = inputs.iter().collect();
    for (name, converter) in CONVERTERS {
        if name.starts_with("parsing") {
            continue;
        }
        print_survivor(name, &all, |it| {
            let html = if name == "pagelog" { &it.page } else { &it.content };
            catch_unwind(AssertUnwindSafe(|| converter(html, &it.base))).unwrap_or_default()
        });
    }
    let some: Vec<&Input> = inputs.iter().step_by(PANDOC).collect();
    print_survivor("pandoc -t gfm", &some, |it| pandoc(&it.content));
    println!();
}

fn print_survivor(name: &str, inputs: &[&Input], convert: impl Fn(&Input) -> String) {
    let judged: Vec<ByReader> = inputs
        .iter()
        .map(|it| judge_markdown(&features::of_page(&it.page, &it.base), &convert(it), &it.base))
        .collect();
    let perfect = judged.iter().filter(|it| it.iter().all(|it| is_perfect(it))).count();
    let columns: Vec<String> = (0..COUNTED)
        .map(|feature| {
            let all = judged.iter().flatten().map(|it| &it[feature]);
            both_ways(&all.collect::<Vec<_>>())
        })
        .collect();
    let perfect = percent(perfect, judged.len());
    println!("| {name} | {} | {perfect} | {} |", judged.len(), columns.join(" | "));
}

fn pandoc(html: &str) -> String {
    let mut child = Command::new("pandoc")
        .args(["--from", "html", "--to", "gfm", "--wrap", "none"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .expect("pandoc starts");
    let mut input = child.stdin.take().expect("an input");
    let html = html.to_owned();
    let writer = std::thread::spawn(move || input.write_all(html.as_bytes()));
    let output = child.wait_with_output().expect("pandoc ends");
    let _ = writer.join();
    String::from_utf8_lossy(&output.stdout).into_owned()
}

/// Pages that are made to cost much.
fn hostile() -> Vec<(&'static str, String)> {
    let row = "<tr><td>one</td><td>two words</td><td><a href=x>three</a></td></tr>\n";
    vec![
        ("100,000 nested `div`", format!("{}x", "<div>".repeat(100_000))),
        ("100,000 open `b`", format!("{}x", "<b>".repeat(100_000))),
        ("100,000 nested lists", format!("{}x", "<ul><li>".repeat(100_000))),
        ("20,000 `p i a table td` that nothing closes", "<p><i><a><table><td>".repeat(20_000)),
        ("5,000 nested tables", format!("{}x", "<table><tr><td>a".repeat(5_000))),
        (
            "a tag with 1,000,000 attributes",
            format!("<p{}>x", (0..1_000_000).map(|n| format!(" a{n}=b")).collect::<String>()),
        ),
        ("100,000 misnested `b` and `p`", "<b><p></b></p>".repeat(100_000)),
        (
            "a table of 50 MB",
            format!("<main><table>{}</table>", row.repeat((50 << 20) / row.len())),
        ),
        ("a paragraph of 16 MB", format!("<main><p>{}", "word * _a_ [b] ".repeat((16 << 20) / 15))),
        (
            "cells that reach over 1,000 columns and 65,534 rows",
            format!("<main><table>{}", "<tr><td colspan=1000 rowspan=65534>a".repeat(50_000)),
        ),
    ]
}

fn print_hostile(arguments: &Arguments) {
    println!("| hostile page | bytes | time | memory, times the page |\n|---|---|---|---|");
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("page.html");
    for (name, html) in hostile() {
        fs::write(&file, &html).expect("a page is written");
        let mut command = Command::new(&arguments.program);
        command.arg("convert").arg(&file);
        let cost = measure::run(&mut command, None);
        let times = cost.memory as f64 / html.len() as f64;
        println!(
            "| {name} | {:.1} MB | {:.2} s | {} MB ({times:.1}) |",
            html.len() as f64 / 1e6,
            cost.wall.as_secs_f64(),
            cost.memory >> 20
        );
    }
}
