//! Writing a first commit of many pages: our writer beside gix's public way to a pack and
//! `git fast-import`, and the libraries for deflate beside each other.
//!
//! All write the same files; that the trees are equal is checked in each round. What is
//! measured of the first two is a part of a process of their own, which has made all pages
//! as values before the clock starts: encoding, hashing, deflating, writing, flushing and
//! moving the ref. `git fast-import` is measured as a process that reads the files as a
//! stream. Memory is what comes on top of the pages.

mod child;
mod deflate;
mod gix_pack;
mod own;
mod pages;

use std::fs;
use std::path::{Path, PathBuf};

use crate::Arguments;
use crate::corpus;
use crate::measure::{Cost, git, isolated, mb, median, size};

pub use child::{NAME as WRITE_PAGES, main as write_pages};

/// Smallest and largest version that becomes a page: those of the documentation that is
/// read here have 9.1 kB on average.
const SIZES: std::ops::RangeInclusive<usize> = 200..=16_000;

/// What makes `git fast-import` quick.
const QUICK: [&str; 5] = ["-c", "core.compression=1", "-c", "pack.compression=1", "--depth=0"];

/// Who writes the commit.
#[derive(Clone, Copy)]
enum Way {
    /// In a process of this program.
    Child(&'static str),
    /// `git fast-import` with these settings.
    Import(&'static [&'static str]),
}

/// What a way cost, round by round.
struct Method {
    name: &'static str,
    way: Way,
    costs: Vec<Cost>,
    bytes: u64,
}

/// Measures all.
pub fn run(arguments: &Arguments) {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path();
    let mut versions = corpus::versions(arguments.bundle(), path);
    versions.retain(|text| SIZES.contains(&text.len()));
    let count = arguments.pages.unwrap_or(20_000);
    let corpus = path.join("versions");
    pages::store(&corpus, &versions);
    let stream = path.join("files.stream");
    child::call("stream", (&corpus, count), &stream);
    let bytes: usize = versions.iter().map(Vec::len).sum();
    println!(
        "{count} pages of {:.1} kB on average, from {} versions in the history\n",
        bytes as f64 / 1e3 / versions.len() as f64,
        versions.len()
    );
    let mut methods = methods();
    for round in 0..arguments.rounds {
        one_round(&path.join(format!("round-{round}")), (&corpus, count, &stream), &mut methods);
    }
    table(arguments, &methods);
    deflate::run(arguments, &versions);
}

fn methods() -> [Method; 4] {
    [
        ("pagelog's writer", Way::Child("own")),
        ("gix-pack, its public way, zlib 1", Way::Child("gix")),
        ("git fast-import", Way::Import(&[])),
        ("git fast-import, compression 1, depth 0", Way::Import(&QUICK)),
    ]
    .map(|(name, way)| Method { name, way, costs: Vec::new(), bytes: 0 })
}

/// Every method once.
fn one_round(
    place: &Path,
    (corpus, count, stream): (&Path, usize, &Path),
    methods: &mut [Method; 4],
) {
    fs::create_dir_all(place).expect("round is made");
    let mut trees = Vec::new();
    for (number, method) in methods.iter_mut().enumerate() {
        let repository = place.join(format!("{number}.git"));
        let cost = match method.way {
            Way::Child(name) => child::call(name, (corpus, count), &repository),
            Way::Import(settings) => import(&repository, stream, settings),
        };
        method.costs.push(cost);
        method.bytes = size(&repository.join("objects"));
        trees.push(git(&repository, &["rev-parse", "main^{tree}"]));
        git(&repository, &["fsck", "--strict", "--no-dangling"]);
        fs::remove_dir_all(&repository).expect("repository is removed");
    }
    assert!(trees.windows(2).all(|pair| pair[0] == pair[1]), "the trees differ");
}

fn import(repository: &PathBuf, stream: &Path, settings: &[&str]) -> Cost {
    fs::create_dir_all(repository).expect("repository is made");
    git(repository, &["init", "-q", "--bare", "-b", "main", "."]);
    let mut command = isolated(repository);
    corpus::fast_import_arguments(&mut command, settings);
    crate::measure::run(&mut command, Some(stream))
}

fn table(arguments: &Arguments, methods: &[Method; 4]) {
    let costs = methods.each_ref().map(|method| median(&method.costs));
    let (theirs, quick) = (costs[2], costs[3]);
    println!(
        "| first commit | wall | CPU | anonymous | fast-import / this | MB | MB / fast-import |"
    );
    println!("|---|---|---|---|---|---|---|");
    for (method, cost) in methods.iter().zip(costs) {
        println!(
            "| {} | {:.2} s | {:.2} s | {:.0} MB | {:.1} | {:.1} | {:.3} |",
            method.name,
            cost.wall.as_secs_f64(),
            cost.cpu.as_secs_f64(),
            mb(cost.anonymous),
            theirs.wall.as_secs_f64() / cost.wall.as_secs_f64(),
            mb(method.bytes),
            method.bytes as f64 / methods[2].bytes as f64
        );
    }
    let ours = costs[0].wall.as_secs_f64();
    arguments.note("writer: wall, of fast-import's", ours / theirs.wall.as_secs_f64());
    arguments.note("writer: wall, of quick fast-import's", ours / quick.wall.as_secs_f64());
    let cpu = costs[0].cpu.as_secs_f64() / theirs.cpu.as_secs_f64();
    arguments.note("writer: CPU, of fast-import's", cpu);
    let bytes = methods[0].bytes as f64 / methods[2].bytes as f64;
    arguments.note("writer: size, of fast-import's", bytes);
    arguments.note("writer: anonymous memory, MB", mb(costs[0].anonymous));
}
