//! Git as the oracle: what it says of the archive is what the program says.

use std::collections::BTreeSet;

use super::World;

/// The id of the tree without entries, which stands before the first commit.
const EMPTY_TREE: &str = "4b825dc642cb6eb9a060e54bf8d69288fbee4904";

impl World {
    /// The archive is sound, has its two refs and no other, is without faults by its own
    /// audit, Git tells the same of the last run as `pagelog changes`, and the index of the
    /// history what the commits tell.
    #[track_caller]
    pub fn assert_whole(&self) {
        self.assert_sound();
        self.assert_indexed();
        let refs = self.git(&["for-each-ref", "--format=%(refname)"]).ok();
        assert_eq!(refs, "refs/heads/main\nrefs/private/main\n");
        assert_eq!(self.pagelog(&["audit"]).ok(), "audit: no faults\n");
        let changes = self.pagelog(&["changes", "--json"]).json();
        let refs = changes.as_array().expect("a list of refs");
        assert_eq!(refs.len(), 2, "{changes}");
        for of in refs {
            let name = of["ref"].as_str().expect("a ref");
            let log = self.git(&["log", "-1", "--format=%H %P", name]).ok();
            let old = of["old"].as_str().unwrap_or_default();
            let new = of["new"].as_str().expect("a commit");
            assert_eq!(log.trim_end_matches('\n'), format!("{new} {old}"), "{name}");
            let old = if old.is_empty() { EMPTY_TREE } else { old };
            assert_eq!(told(&of["pages"]), self.diff(old, new), "{name}: {changes}");
        }
    }

    /// Status and path of the pages that differ, by Git.
    #[track_caller]
    fn diff(&self, old: &str, new: &str) -> BTreeSet<(char, String)> {
        let arguments = ["diff", "--no-renames", "--name-status", "-z", old, new, "--", "pages"];
        let output = self.git(&arguments).ok();
        let words: Vec<&str> = output.split_terminator('\0').collect();
        let pairs = words.as_chunks::<2>().0;
        pairs.iter().map(|[status, path]| (first(status), (*path).to_owned())).collect()
    }

    /// The pages that the last run changed on the public ref: kind and path below the folder.
    #[track_caller]
    pub fn changed(&self, folder: &str) -> Vec<(String, String)> {
        let changes = self.pagelog(&["changes", "--json"]).json();
        pages(&changes[0], folder)
    }

    /// The same, of the commit that a revision names.
    #[track_caller]
    pub fn changed_in(&self, revision: &str, folder: &str) -> Vec<(String, String)> {
        let changes = self.pagelog(&["changes", revision, "--json"]).json();
        pages(&changes[0], folder)
    }

    /// How many commits a ref has.
    #[track_caller]
    pub fn commits(&self, name: &str) -> usize {
        self.git(&["rev-list", "--count", name]).ok().trim().parse().expect("a number")
    }

    /// The message of a commit.
    #[track_caller]
    pub fn message(&self, revision: &str) -> String {
        self.git(&["log", "-1", "--format=%B", revision]).ok().trim_end().to_owned() + "\n"
    }

    /// Values of a trailer of a commit, as Git reads them.
    #[track_caller]
    pub fn trailers(&self, revision: &str, key: &str) -> Vec<String> {
        let format = format!("--format=%(trailers:key={key},valueonly)");
        let text = self.git(&["log", "-1", &format, revision]).ok();
        text.lines().filter(|line| !line.is_empty()).map(str::to_owned).collect()
    }
}

/// A value of a page's front matter, as it stands there.
#[track_caller]
pub fn value<'a>(page: &'a str, key: &str) -> &'a str {
    let front = page.strip_prefix("---\n").and_then(|rest| rest.split("\n---\n").next());
    let mut lines = front.expect("front matter").lines();
    lines.find_map(|line| line.strip_prefix(key)?.strip_prefix(": ")).expect("the key is there")
}

/// What stands below a page's front matter.
#[track_caller]
pub fn body(page: &str) -> &str {
    page.split_once("\n---\n").expect("front matter").1.trim_start_matches('\n')
}

fn pages(of: &serde_json::Value, folder: &str) -> Vec<(String, String)> {
    let text = |value: &serde_json::Value| value.as_str().expect("text").to_owned();
    let below = |path: String| path.strip_prefix(folder).map_or(path.clone(), str::to_owned);
    let pages = of["pages"].as_array().expect("pages");
    pages.iter().map(|page| (text(&page["kind"]), below(text(&page["path"])))).collect()
}

fn told(pages: &serde_json::Value) -> BTreeSet<(char, String)> {
    let mut all = BTreeSet::new();
    for page in pages.as_array().expect("pages") {
        let path = page["path"].as_str().expect("a path").to_owned();
        match page["kind"].as_str() {
            Some("added") => all.insert(('A', path)),
            Some("edited") => all.insert(('M', path)),
            Some("removed") => all.insert(('D', path)),
            _ => {
                all.insert(('D', page["from"].as_str().expect("an old path").to_owned()));
                all.insert(('A', path))
            }
        };
    }
    all
}

fn first(text: &str) -> char {
    text.chars().next().expect("a status")
}
