//! Real pages: the HTML documentation that ships with the Rust toolchain.
//!
//! Which pages: all of the books and small crates; then every twelfth of `std`, whose pages
//! are large; then, until there are enough, those of `core`, whose pages are small: 5,000
//! pages have 140 MB. All in the order of their paths. Left out are `src` (listings), and
//! pages that repeat others (`print.html`, `toc.html`) or only lead elsewhere. The order and
//! with it the choice is that of the paths' bytes: the same toolchain gives the same pages.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// A page of the site.
pub struct RealPage {
    /// Path below the site, without a leading slash.
    pub path: String,
    /// Unix time of the file.
    pub time: i64,
}

/// Time of the first page; each next one is a minute younger.
const OLDEST: i64 = 1_790_000_000;

/// Copies `count` pages into a folder, with times of their own.
pub fn copy(site: &Path, count: usize) -> (Vec<RealPage>, u64) {
    let root = folder();
    let mut chosen = Vec::new();
    let mut large = [Vec::new(), Vec::new()];
    for path in html(&root) {
        match path.split('/').next().unwrap_or_default() {
            "std" => large[0].push(path),
            "core" => large[1].push(path),
            "src" => {}
            _ => chosen.push(path),
        }
    }
    let (mut pages, mut bytes) = (Vec::new(), 0);
    let [std, core] = large;
    for path in chosen.into_iter().chain(std.into_iter().step_by(12)).chain(core) {
        if pages.len() == count {
            break;
        }
        let text = fs::read(root.join(&path)).expect("page is read");
        if !is_page(&path, &text) {
            continue;
        }
        let target = site.join(&path);
        fs::create_dir_all(target.parent().expect("a folder")).expect("folder is made");
        fs::write(&target, &text).expect("page is written");
        let time = OLDEST + 60 * i64::try_from(pages.len()).expect("few pages");
        set_time(&target, time);
        bytes += text.len() as u64;
        pages.push(RealPage { path, time });
    }
    (pages, bytes)
}

/// Sets the time of a file.
pub fn set_time(file: &Path, time: i64) {
    let since = Duration::from_secs(u64::try_from(time).expect("a time after 1970"));
    let time: SystemTime = UNIX_EPOCH + since;
    let opened = File::options().write(true).open(file).expect("page opens");
    opened.set_modified(time).expect("time is set");
}

fn folder() -> PathBuf {
    let output = Command::new("rustc").args(["--print", "sysroot"]).output().expect("rustc starts");
    let root = PathBuf::from(String::from_utf8_lossy(&output.stdout).trim());
    let html = root.join("share/doc/rust/html");
    if !html.join("std").is_dir() {
        eprintln!("the Rust toolchain has no documentation: rustup component add rust-docs");
        std::process::exit(2);
    }
    html
}

/// Paths of all HTML files, sorted by their bytes.
fn html(root: &Path) -> Vec<String> {
    let (mut paths, mut folders) = (Vec::new(), vec![root.to_owned()]);
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).expect("folder is read").flatten() {
            let path = entry.path();
            if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
                folders.push(path);
            } else if path.extension().is_some_and(|extension| extension == "html") {
                let below = path.strip_prefix(root).expect("below the root");
                paths.push(below.to_string_lossy().into_owned());
            }
        }
    }
    paths.sort_unstable();
    paths
}

fn is_page(path: &str, text: &[u8]) -> bool {
    let top = String::from_utf8_lossy(&text[..text.len().min(2000)]).to_ascii_lowercase();
    let name = path.rsplit('/').next().unwrap_or_default();
    let elsewhere = top.contains("http-equiv=\"refresh\"") || top.contains("noindex");
    !elsewhere && !matches!(name, "print.html" | "toc.html" | "all.html")
}
