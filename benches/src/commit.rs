//! One commit of many pages, beside `git fast-import` fed the same files.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::Arguments;
use crate::corpus::{self, configure, fast_import, pagelog};
use crate::measure::{Cost, git, isolated, mb, median, middle, size};
use crate::phases;

const FIRST: &str = "2026-11-30T02:00:00Z";
const NEXT: &str = "2026-12-01T02:00:00Z";

/// What one method cost, round by round.
#[derive(Default)]
struct Method {
    name: &'static str,
    first: Vec<Cost>,
    next: Vec<Cost>,
    /// Of the second commit: from the moment at which all was converted to the end.
    committing: Vec<Duration>,
    bytes: u64,
}

/// First commit of all pages, then 1 % of them changed.
pub fn run(arguments: &Arguments) {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path();
    let versions = corpus::versions(arguments.bundle(), path);
    let pages = arguments.pages.unwrap_or(20_000);
    let upstream = make_upstream(path, &versions, pages);
    println!("{pages} pages, {} versions in the history\n", versions.len());
    let streams = streams_of_archive(arguments, path, &upstream);
    let mut ours = Method { name: "pagelog run", ..Method::default() };
    let mut prefetched = Method { name: "pagelog run, upstream in the cache", ..Method::default() };
    let mut theirs = Method { name: "git fast-import", ..Method::default() };
    let mut quick = Method { name: "git fast-import, compression 1, depth 0", ..Method::default() };
    for round in 0..arguments.rounds {
        let place = path.join(format!("round-{round}"));
        pagelog_round(arguments, &place, &upstream, &mut ours);
        import_round(&place.join("plain.git"), &streams, &[], &mut theirs);
        prefetched_round(arguments, &place, &upstream, &mut prefetched);
        let settings = ["-c", "core.compression=1", "-c", "pack.compression=1", "--depth=0"];
        import_round(&place.join("quick.git"), &streams, &settings, &mut quick);
        fs::remove_dir_all(&place).expect("round is removed");
    }
    table([&ours, &prefetched, &theirs, &quick], (&median(&theirs.first), &median(&theirs.next)));
}

fn table(methods: [&Method; 4], (base, base_next): (&Cost, &Cost)) {
    println!(
        "| method | first: wall | cpu | memory | fast-import / this | 1 %: wall | fast-import / \
         this | 1 %, after converting | fast-import / this | MB |"
    );
    println!("|---|---|---|---|---|---|---|---|---|---|");
    for method in methods {
        let (first, next) = (median(&method.first), median(&method.next));
        let committing = match method.committing.as_slice() {
            [] => " | ".to_owned(),
            times => {
                let time = middle(times.to_vec()).as_secs_f64();
                format!("{time:.3} s | {:.1}", base_next.wall.as_secs_f64() / time)
            }
        };
        println!(
            "| {} | {:.2} s | {:.2} s | {:.0} MB | {:.1} | {:.3} s | {:.1} | {committing} | {:.1} |",
            method.name,
            first.wall.as_secs_f64(),
            first.cpu.as_secs_f64(),
            mb(first.memory),
            base.wall.as_secs_f64() / first.wall.as_secs_f64(),
            next.wall.as_secs_f64(),
            base_next.wall.as_secs_f64() / next.wall.as_secs_f64(),
            mb(method.bytes)
        );
    }
}

/// An upstream with two commits: all pages, and 1 % of them in their next version.
struct Upstream {
    path: PathBuf,
    first: String,
    next: String,
}

fn make_upstream(folder: &Path, versions: &[Vec<u8>], pages: usize) -> Upstream {
    let path = folder.join("upstream.git");
    git(folder, &["init", "-q", "--bare", "-b", "main", "upstream.git"]);
    let all = (0..pages).map(|n| (corpus::page_path(n), corpus::page_text(versions, n)));
    fast_import(&path, &corpus::stream(&folder.join("first.stream"), (0, None), all));
    let first = id(&path, "main");
    let changed = (0..pages).step_by(100).map(|n| {
        let text = [b"Changed.\n".as_slice(), &corpus::page_text(versions, n)].concat();
        (corpus::page_path(n), text)
    });
    let stream =
        corpus::stream(&folder.join("next.stream"), (1, Some("refs/heads/main^0")), changed);
    fast_import(&path, &stream);
    let next = id(&path, "main");
    git(&path, &["repack", "-adq"]);
    Upstream { path, first, next }
}

fn id(repository: &Path, name: &str) -> String {
    String::from_utf8_lossy(&git(repository, &["rev-parse", name])).trim().to_owned()
}

/// Makes a round's folder whose upstream is at its first commit.
fn prepare(place: &Path, upstream: &Upstream) {
    fs::create_dir_all(place).expect("round is made");
    configure(place, "true");
    let from = upstream.path.to_string_lossy();
    let _ = fs::remove_dir_all(place.join("up.git"));
    git(place, &["clone", "-q", "--bare", &from, "up.git"]);
    git(&place.join("up.git"), &["update-ref", "refs/heads/main", &upstream.first]);
}

fn pagelog_round(arguments: &Arguments, place: &Path, upstream: &Upstream, method: &mut Method) {
    prepare(place, upstream);
    both_runs(arguments, place, upstream, method);
}

/// A first run, and one after the upstream went on.
fn both_runs(arguments: &Arguments, place: &Path, upstream: &Upstream, method: &mut Method) {
    method.first.push(crate::measure::run(&mut pagelog(&arguments.program, place, FIRST), None));
    method.bytes = size(&place.join("archive/objects"));
    git(&place.join("up.git"), &["update-ref", "refs/heads/main", &upstream.next]);
    let next = phases::run(&arguments.program, place, NEXT);
    method.next.push(next.cost);
    method.committing.push(next.committing());
}

/// The same with the upstream's objects already fetched: what reading, converting and
/// committing cost.
fn prefetched_round(arguments: &Arguments, place: &Path, upstream: &Upstream, method: &mut Method) {
    let kept = place.join("archive/pagelog/upstream");
    let aside = place.join("kept-upstream");
    fs::rename(&kept, &aside).expect("cache is kept");
    fs::remove_dir_all(place.join("archive")).expect("archive is removed");
    prepare(place, upstream);
    fs::create_dir_all(place.join("archive/pagelog")).expect("folder is made");
    fs::rename(&aside, &kept).expect("cache is put back");
    both_runs(arguments, place, upstream, method);
}

/// The files of the archive's two commits as streams: what `git fast-import` is fed.
fn streams_of_archive(arguments: &Arguments, folder: &Path, upstream: &Upstream) -> [PathBuf; 2] {
    let place = folder.join("model");
    let mut unused = Method::default();
    pagelog_round(arguments, &place, upstream, &mut unused);
    let archive = place.join("archive");
    let make = |name: &str, parent: Option<&str>, rows: &[(String, String)]| {
        let ids: Vec<&str> = rows.iter().map(|(id, _)| id.as_str()).collect();
        let texts = corpus::batch(&archive, &ids);
        let files = rows.iter().map(|(_, path)| path.clone()).zip(texts);
        corpus::stream(&folder.join(name), (2, parent), files)
    };
    let first = make("model-first.stream", None, &listed(&archive, &["ls-tree", "main~1"], 2));
    let changed = listed(&archive, &["diff-tree", "--no-renames", "main~1", "main"], 3);
    let next = make("model-next.stream", Some("refs/heads/main^0"), &changed);
    fs::remove_dir_all(&place).expect("model is removed");
    [first, next]
}

/// Ids and paths that Git lists: the id is the word of that number before the path.
fn listed(archive: &Path, command: &[&str], word: usize) -> Vec<(String, String)> {
    let (command, rest) = command.split_first().expect("a command");
    let output = git(archive, &[&[*command, "-r", "-z"], rest].concat());
    let output = String::from_utf8_lossy(&output).into_owned();
    // `ls-tree` puts a tab before the path, `diff-tree` a zero.
    let words: Vec<&str> = output.split_terminator(['\0', '\t']).collect();
    let id = |meta: &str| meta.split(' ').nth(word).expect("an id").to_owned();
    words.chunks(2).map(|pair| (id(pair[0]), pair[1].to_owned())).collect()
}

fn import_round(repository: &Path, streams: &[PathBuf; 2], settings: &[&str], method: &mut Method) {
    fs::create_dir_all(repository).expect("repository is made");
    git(repository, &["init", "-q", "--bare", "-b", "main", "."]);
    let import = |stream: &PathBuf| {
        let mut command = isolated(repository);
        corpus::fast_import_arguments(&mut command, settings);
        crate::measure::run(&mut command, Some(stream))
    };
    method.first.push(import(&streams[0]));
    method.bytes = size(&repository.join("objects"));
    method.next.push(import(&streams[1]));
}
