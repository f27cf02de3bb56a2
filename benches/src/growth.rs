//! How an archive grows over many runs: with upkeep, and without it.
//!
//! The pages are the files of the bundle's history; where more are asked for, copies of them
//! whose letters are exchanged, so that a page resembles its own versions and no other page.
//! In each run 1 % of them come in their next version, half of these out of a hot twentieth.

use std::collections::HashMap;
use std::fs;
use std::path::Path;
use std::time::Duration;

use crate::Arguments;
use crate::corpus::{self, BOT, fast_import, pagelog};
use crate::measure::{Cost, git, isolated, mb, middle, run, size};

/// Runs after the first one.
const RUNS: usize = 50;
/// How often a question to Git is asked; the middle time counts.
const QUESTIONS: usize = 5;
/// 2026-11-30T02:00:00Z, the first run; the others are a day apart.
const FIRST: i64 = 1_796_004_000;
const DAY: i64 = 86_400;

/// First run, 50 runs in which 1 % changed, and what Git says of what is left.
pub fn run_all(arguments: &Arguments) {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path();
    let count = arguments.pages.unwrap_or(20_000);
    let mut pages = Pages::new(arguments.bundle(), path, count);
    for name in ["up.git", "flat.git"] {
        git(path, &["init", "-q", "--bare", "-b", "main", name]);
    }
    let archives = [Archive::new(path, "with", "5m"), Archive::new(path, "without", "0s")];
    let mut costs: Vec<[Cost; 2]> = Vec::new();
    let mut packs = Vec::new();
    let mut first = [0; 2];
    for number in 0..=RUNS {
        let changed = pages.change(number);
        commit(path, number, &pages, &changed);
        let clock = crate::sitemap::date(FIRST + DAY * i64::try_from(number).expect("few runs"));
        // Each of the two is the first to run in every other round.
        let mut cost = [Cost::default(); 2];
        for which in [number % 2, 1 - number % 2] {
            cost[which] = run(&mut pagelog(&arguments.program, &archives[which].0, &clock), None);
        }
        if number == 0 {
            first = archives.each_ref().map(Archive::bytes);
        } else {
            costs.push(cost);
        }
        packs.push(archives[0].packs());
    }
    let (growth, upkeep) = table(count, &archives, (first, &costs), &packs);
    arguments.note("growth: with upkeep, of without", growth);
    arguments.note("growth: CPU of upkeep a run, s", upkeep);
    questions(path, &archives, &pages.path_of_hot());
}

/// An archive's folder.
struct Archive(std::path::PathBuf);

impl Archive {
    fn new(folder: &Path, name: &str, upkeep: &str) -> Self {
        let place = folder.join(name);
        fs::create_dir_all(&place).expect("folder is made");
        let text = format!(
            "{BOT}[run]\nupkeep = \"{upkeep}\"\n[[source]]\nid = \"docs\"\nkind = \"git\"\n\
             licence = \"CC-BY-4.0\"\npublish = true\nrepositories = [\"../up.git\"]\n"
        );
        fs::write(place.join("sources.toml"), text).expect("configuration is written");
        Self(place)
    }

    fn repository(&self) -> std::path::PathBuf {
        self.0.join("archive")
    }

    fn bytes(&self) -> u64 {
        size(&self.repository().join("objects"))
    }

    fn packs(&self) -> usize {
        let entries = fs::read_dir(self.repository().join("objects/pack")).expect("packs");
        entries.flatten().filter(|e| e.path().extension().is_some_and(|x| x == "pack")).count()
    }
}

/// Pages and how far each of them has come.
struct Pages {
    /// Versions of each file, oldest first.
    files: Vec<Vec<Vec<u8>>>,
    /// How often each page was changed.
    edits: Vec<usize>,
    chance: u64,
}

impl Pages {
    fn new(bundle: &Path, folder: &Path, count: usize) -> Self {
        Self { files: files(bundle, folder), edits: vec![0; count], chance: 0x9e37_79b9_7f4a_7c15 }
    }

    /// Changes 1 % of the pages; gives their numbers. In the first run all are new.
    fn change(&mut self, run: usize) -> Vec<usize> {
        let count = self.edits.len();
        if run == 0 {
            return (0..count).collect();
        }
        let mut chosen = std::collections::BTreeSet::new();
        while chosen.len() < count / 100 {
            let among = if chosen.len() % 2 == 0 { count.div_ceil(20) } else { count };
            chosen.insert(spread(self.next() % among, count));
        }
        for page in &chosen {
            self.edits[*page] += 1;
        }
        chosen.into_iter().collect()
    }

    /// Numbers without pattern, the same in each measurement (xorshift).
    fn next(&mut self) -> usize {
        self.chance ^= self.chance << 13;
        self.chance ^= self.chance >> 7;
        self.chance ^= self.chance << 17;
        usize::try_from(self.chance >> 20).expect("44 bits")
    }

    /// The text of a page as it is now.
    fn text(&self, page: usize) -> Vec<u8> {
        let versions = &self.files[page % self.files.len()];
        let edits = self.edits[page];
        let mut text = exchange(&versions[edits.min(versions.len() - 1)], page / self.files.len());
        for more in versions.len()..=edits {
            text.extend(format!("\nAmended for the {more}. time, on page {page}.\n").bytes());
        }
        text
    }

    /// The page that changed most often, for questions about its history.
    fn path_of_hot(&self) -> String {
        let most = self.edits.iter().enumerate().max_by_key(|(_, edits)| **edits);
        corpus::page_path(most.map_or(0, |(page, _)| page))
    }
}

/// Scatters the hot pages over all folders.
fn spread(number: usize, count: usize) -> usize {
    number * 7919 % count
}

/// Exchanges the letters of a text, another way for each copy; targets of links stay.
fn exchange(text: &[u8], copy: usize) -> Vec<u8> {
    if copy == 0 {
        return text.to_vec();
    }
    let mut alphabet: Vec<u8> = (b'a'..=b'z').collect();
    let mut seed = copy as u64 * 0x2545_f491_4f6c_dd1d;
    for at in (1..alphabet.len()).rev() {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        alphabet.swap(at, usize::try_from((seed >> 33) % (at as u64 + 1)).expect("small"));
    }
    let mut in_target = false;
    let mut before = b' ';
    let letter = |byte: u8| match byte {
        b'a'..=b'z' => alphabet[usize::from(byte - b'a')],
        b'A'..=b'Z' => alphabet[usize::from(byte - b'A')].to_ascii_uppercase(),
        other => other,
    };
    text.iter()
        .map(|byte| {
            in_target = (in_target || (before == b']' && *byte == b'(')) && *byte != b')';
            before = *byte;
            if in_target { *byte } else { letter(*byte) }
        })
        .collect()
}

/// The versions of each Markdown file of the bundle's history.
fn files(bundle: &Path, folder: &Path) -> Vec<Vec<Vec<u8>>> {
    let full = folder.join("full.git");
    git(folder, &["clone", "-q", "--bare", "-b", "main", &bundle.to_string_lossy(), "full.git"]);
    let options = ["--reverse", "--format=", "--raw", "--no-abbrev", "--no-renames", "--root"];
    let log = git(&full, &[&["log"], options.as_slice(), &["main", "--", "*.md"]].concat());
    let log = String::from_utf8_lossy(&log).into_owned();
    let mut order: Vec<&str> = Vec::new();
    let mut ids: HashMap<&str, Vec<&str>> = HashMap::new();
    for line in log.lines() {
        let Some((meta, path)) = line.split_once('\t') else { continue };
        let words: Vec<&str> = meta.split(' ').collect();
        if words[1] != "100644" {
            continue;
        }
        let known = ids.entry(path).or_default();
        if known.is_empty() {
            order.push(path);
        }
        known.push(words[3]);
    }
    let all: Vec<&str> = order.iter().flat_map(|path| ids[path].clone()).collect();
    let mut texts = corpus::batch(&full, &all).into_iter();
    order.iter().map(|path| texts.by_ref().take(ids[path].len()).collect()).collect()
}

/// Commits the pages with these numbers upstream, and into a repository in which they all lie in
/// one directory.
fn commit(folder: &Path, run: usize, pages: &Pages, changed: &[usize]) {
    let parent = (run > 0).then_some("refs/heads/main^0");
    let mark = u64::try_from(run).expect("few runs");
    let stream = folder.join("stream");
    let texts = || changed.iter().map(|page| (*page, pages.text(*page)));
    let nested = texts().map(|(page, text)| (corpus::page_path(page), text));
    fast_import(&folder.join("up.git"), &corpus::stream(&stream, (mark, parent), nested));
    let flat = texts().map(|(page, text)| (flat_path(&corpus::page_path(page)), text));
    fast_import(&folder.join("flat.git"), &corpus::stream(&stream, (mark, parent), flat));
}

/// The same file in the one directory.
fn flat_path(path: &str) -> String {
    let (_, name) = path.rsplit_once('/').unwrap_or(("", path));
    format!("docs/{name}")
}

/// Gives the growth with upkeep over that without, and the mean CPU time of upkeep.
fn table(
    count: usize,
    archives: &[Archive; 2],
    (first, costs): ([u64; 2], &[[Cost; 2]]),
    packs: &[usize],
) -> (f64, f64) {
    let grown: Vec<f64> = (0..2).map(|n| mb(archives[n].bytes() - first[n])).collect();
    println!("| {count} pages, {RUNS} runs of 1 % | with upkeep | without |\n|---|---|---|");
    println!("| objects after the first run | {:.1} MB | {:.1} MB |", mb(first[0]), mb(first[1]));
    println!("| objects since | {:.1} MB | {:.1} MB |", grown[0], grown[1]);
    println!("| packs | {} | {} |", archives[0].packs(), archives[1].packs());
    let sum = |which: usize, of: fn(&Cost) -> Duration| -> f64 {
        costs.iter().map(|cost| of(&cost[which]).as_secs_f64()).sum()
    };
    for (name, of) in [("wall", (|c| c.wall) as fn(&Cost) -> Duration), ("CPU", |c| c.cpu)] {
        let (with, without) = (sum(0, of), sum(1, of));
        println!("| {name} of all runs | {with:.1} s | {without:.1} s |");
    }
    let more =
        costs.iter().map(|[with, without]| with.cpu.as_secs_f64() - without.cpu.as_secs_f64());
    let (most, all) =
        more.clone().fold((0.0, 0.0), |(most, sum): (f64, f64), it| (most.max(it), sum + it));
    let resident = costs.iter().map(|cost| cost[0].memory).max().unwrap_or(0);
    println!(
        "\ngrowth with upkeep / without: {:.2} (at most 0.4)\nCPU of upkeep: mean {:.2} s a run (at \
         most 5 s), most {most:.2} s\npacks at most: {}\nlargest resident set of the program: {:.0} MB\n",
        grown[0] / grown[1],
        all / costs.len() as f64,
        packs.iter().max().unwrap_or(&0),
        mb(resident),
    );
    (grown[0] / grown[1], all / costs.len() as f64)
}

/// What Git says of the archives, and how long it takes.
fn questions(folder: &Path, archives: &[Archive; 2], page: &str) {
    let inside = format!("pages/docs/up.git.invalid/{page}");
    let flat = ("flat.git".to_owned(), folder.join("flat.git"), flat_path(page));
    let [with, without] = archives.each_ref().map(Archive::repository);
    let places = [
        ("with upkeep".to_owned(), with, inside.clone()),
        ("without".to_owned(), without, inside),
        flat,
    ];
    println!("| | `git log -- PAGE` | commits | `rev-list --objects --all` | `fsck` |");
    println!("|---|---|---|---|---|");
    let mut logs = Vec::new();
    for (name, repository, path) in &places {
        let ask = |arguments: &[&str]| {
            let once = |_| run(isolated(repository).args(arguments), None).wall;
            middle((0..QUESTIONS).map(once).collect::<Vec<Duration>>())
        };
        let log = ask(&["log", "--format=%H", "--", path]);
        let found = git(repository, &["log", "--format=%H", "--", path]);
        let listed = ask(&["rev-list", "--objects", "--all"]);
        let checked = run(isolated(repository).args(["fsck", "--full", "--strict"]), None).wall;
        println!(
            "| {name} | {:.1} ms | {} | {:.2} s | {:.1} s |",
            log.as_secs_f64() * 1e3,
            found.iter().filter(|byte| **byte == b'\n').count(),
            listed.as_secs_f64(),
            checked.as_secs_f64()
        );
        logs.push(log);
    }
    println!(
        "\nhistory of a page: 1/{:.0} of that in one directory of all pages (at most 1/50)",
        logs[2].as_secs_f64() / logs[0].as_secs_f64()
    );
}
