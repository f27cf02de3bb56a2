//! Upstream repositories made from the history in a bundle.

use std::collections::HashSet;
use std::fs::{self, File};
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::measure::{git, isolated, run};

/// Most files of one folder.
const FOLDER: usize = 400;

/// Who reads, and into which archive: the beginning of every configuration.
pub const BOT: &str = "[bot]\nname = \"Bench\"\nurl = \"https://example.org/bot\"\n\
                       contact = \"bot@example.org\"\n[archive]\npath = \"archive\"\n";

/// A folder with a configuration that reads `./up.git` as source `docs`.
pub fn configure(folder: &Path, publish: &str) {
    let text = format!(
        "{BOT}[[source]]\nid = \"docs\"\nkind = \"git\"\n\
         licence = \"CC-BY-4.0\"\npublish = {publish}\nrepositories = [\"./up.git\"]\n"
    );
    fs::write(folder.join("sources.toml"), text).expect("configuration is written");
}

/// A public source that reads what a sitemap names and follows no links.
pub fn site_source(id: &str, (host, sitemap): (&str, &str), pace: &str) -> String {
    format!(
        "[[source]]\nid = \"{id}\"\nkind = \"site\"\nlicence = \"CC-BY-4.0\"\npublish = true\n\
         hosts = [\"{host}\"]\npaths = [\"/\"]\nstart = [\"{sitemap}\"]\npace = \"{pace}\"\n\
         depth = 0\n"
    )
}

/// A call of the program in such a folder.
pub fn pagelog(program: &Path, folder: &Path, clock: &str) -> Command {
    let mut command = Command::new(program);
    command.current_dir(folder).args(["--clock", clock, "-q", "run"]);
    command
}

/// The texts of all versions of all Markdown files of the bundle's history, oldest first.
pub fn versions(bundle: &Path, folder: &Path) -> Vec<Vec<u8>> {
    let full = folder.join("full.git");
    let text = bundle.to_string_lossy();
    git(folder, &["clone", "-q", "--bare", "-b", "main", &text, "full.git"]);
    let listed = git(&full, &["rev-list", "--objects", "--reverse", "main"]);
    let listed = String::from_utf8_lossy(&listed).into_owned();
    let mut seen = HashSet::new();
    let ids: Vec<&str> = listed
        .lines()
        .filter_map(|line| line.split_once(' '))
        .filter(|(id, path)| path.ends_with(".md") && seen.insert(*id))
        .map(|(id, _)| id)
        .collect();
    batch(&full, &ids)
}

/// The contents of many blobs.
pub fn batch(repository: &Path, ids: &[&str]) -> Vec<Vec<u8>> {
    let mut command = isolated(repository);
    command.args(["cat-file", "--batch"]).stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut child = command.spawn().expect("git starts");
    let mut stdin = child.stdin.take().expect("a pipe");
    let asked = ids.join("\n") + "\n";
    let writer = std::thread::spawn(move || stdin.write_all(asked.as_bytes()));
    let output = child.wait_with_output().expect("git ends").stdout;
    writer.join().expect("thread ends").expect("ids are written");
    let (mut texts, mut rest) = (Vec::new(), output.as_slice());
    while let Some(end) = rest.iter().position(|byte| *byte == b'\n') {
        let header = String::from_utf8_lossy(&rest[..end]).into_owned();
        let size: usize = header.rsplit(' ').next().and_then(|n| n.parse().ok()).expect("a size");
        texts.push(rest[end + 1..=end + size].to_vec());
        rest = &rest[end + size + 2..];
    }
    texts
}

/// Texts for `count` pages: the versions, and where there are too few, copies of them with
/// one extra first line.
pub fn page_text(versions: &[Vec<u8>], number: usize) -> Vec<u8> {
    let text = &versions[number % versions.len()];
    match number / versions.len() {
        0 => text.clone(),
        copy => [format!("Copy {copy}.\n").as_bytes(), text].concat(),
    }
}

/// A made-up text of about 2 kB for the page of that number in that edition.
pub fn made_up(number: usize, edition: usize) -> Vec<u8> {
    const WORDS: [&str; 32] = [
        "archive", "page", "link", "the", "reads", "writes", "a", "commit", "of", "each", "text",
        "and", "tree", "when", "server", "answers", "with", "status", "header", "once", "more",
        "is", "kept", "for", "later", "run", "where", "it", "was", "found", "before", "again",
    ];
    let mut state = (number as u64 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let mut text = format!("# Page {number}\n\nEdition {edition}.\n\n");
    for word in 1..=340_usize {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        text.push_str(WORDS[(state >> 33) as usize % WORDS.len()]);
        text.push_str(if word % 60 == 0 {
            ".\n\n"
        } else if word % 12 == 0 {
            "\n"
        } else {
            " "
        });
    }
    text.push_str("\n\n[All pages](https://example.org/pages/) say what they are.\n");
    text.into_bytes()
}

/// Path of the page of that number.
pub fn page_path(number: usize) -> String {
    format!("docs/part-{:03}/page-{number:06}.md", number / FOLDER)
}

/// Writes a stream for `git fast-import` that makes one commit of files.
pub fn stream(
    path: &Path,
    (mark, parent): (u64, Option<&str>),
    files: impl Iterator<Item = (String, Vec<u8>)>,
) -> PathBuf {
    let mut out = BufWriter::new(File::create(path).expect("stream is made"));
    let time = 1_780_000_000 + mark * 3600;
    let mut put = |bytes: &[u8]| out.write_all(bytes).expect("stream is written");
    put(format!("commit refs/heads/main\ncommitter B <b@example.org> {time} +0000\ndata 1\n.\n")
        .as_bytes());
    if let Some(parent) = parent {
        put(format!("from {parent}\n").as_bytes());
    }
    for (name, bytes) in files {
        put(format!("M 100644 inline {name}\ndata {}\n", bytes.len()).as_bytes());
        put(&bytes);
        put(b"\n");
    }
    put(b"done\n");
    drop(out);
    path.to_owned()
}

/// What Git is told to import with these settings: options of Git, and of `fast-import`.
pub fn fast_import_arguments(command: &mut Command, settings: &[&str]) {
    let (own, git): (Vec<&str>, Vec<&str>) =
        settings.iter().partition(|word| word.starts_with("--"));
    command.args(git).args(["fast-import", "--quiet", "--done"]).args(own);
}

/// Imports a stream into a repository with Git's own settings.
pub fn fast_import(repository: &Path, stream: &Path) -> crate::measure::Cost {
    run(isolated(repository).args(["fast-import", "--quiet", "--done"]), Some(stream))
}

/// Imports a stream as quickly as Git can: for inputs, which are not measured.
pub fn fast_import_quickly(repository: &Path, stream: &Path) {
    let mut command = isolated(repository);
    fast_import_arguments(&mut command, &["-c", "pack.compression=1", "--depth=0"]);
    run(&mut command, Some(stream));
}
