//! An upstream of made-up pages of which a few hundred change from one commit to the next.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use crate::corpus;
use crate::measure::git;

/// Pages that change from one commit to the next: half of them among the first twentieth of
/// all pages, half spread over the rest.
pub const CHANGED: usize = 300;
/// The branch that is read.
pub const BRANCH: &str = "refs/heads/main";

/// 2026-11-30T02:00:00Z, the first run; the others are a day apart.
const FIRST: i64 = 1_796_004_000;

/// A repository `up.git` whose branch goes from commit to commit.
pub struct Upstream {
    pub repository: PathBuf,
    commits: Vec<String>,
}

impl Upstream {
    /// Makes it in a folder: a commit of all pages, and one for each edition after it.
    pub fn new(folder: &Path, pages: usize, editions: usize) -> Self {
        let repository = folder.join("up.git");
        fs::create_dir_all(folder).expect("folder is made");
        git(folder, &["init", "-q", "--bare", "-b", "main", "up.git"]);
        let mut commits = Vec::new();
        for edition in 0..=editions {
            let numbers = if edition == 0 { (0..pages).collect() } else { changed(pages, edition) };
            let files = numbers
                .into_iter()
                .map(|number| (corpus::page_path(number), corpus::made_up(number, edition)));
            let parent = (edition > 0).then_some("refs/heads/main^0");
            let mark = u64::try_from(edition).expect("few editions");
            let stream = corpus::stream(&folder.join("stream"), (mark, parent), files);
            corpus::fast_import_quickly(&repository, &stream);
            let id = git(&repository, &["rev-parse", "main"]);
            commits.push(String::from_utf8_lossy(&id).trim().to_owned());
        }
        fs::remove_file(folder.join("stream")).expect("stream is removed");
        Self { repository, commits }
    }

    /// Moves the branch to that edition.
    pub fn go_to(&self, edition: usize) {
        git(&self.repository, &["update-ref", BRANCH, &self.commits[edition]]);
    }
}

/// When the run over that edition starts.
pub fn clock(edition: usize) -> String {
    crate::sitemap::date(FIRST + 86_400 * i64::try_from(edition).expect("few editions"))
}

/// Which pages change in that edition.
pub fn changed(pages: usize, edition: usize) -> BTreeSet<usize> {
    let (hot, half) = (pages / 20, CHANGED / 2);
    assert!(hot >= CHANGED, "too few pages: at least {}", CHANGED * 20);
    let first = (0..half).map(|n| (n * hot / half + edition) % hot);
    let rest = (0..half).map(|n| hot + (n * (pages - hot) / half + edition) % (pages - hot));
    first.chain(rest).collect()
}
