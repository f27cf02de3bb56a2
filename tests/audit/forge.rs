//! Commits and trees that no run makes, written with Git's plumbing.

use std::io::Write as _;
use std::process::Stdio;

use crate::support::world::git_source;
use crate::support::{Outcome, World};

pub const PUBLIC: &str = "refs/heads/main";
pub const PRIVATE: &str = "refs/private/main";

/// What stands at a path of a forged tree.
pub enum Put<'a> {
    File(&'a str),
    /// A mode and the id of what is there.
    Entry(&'a str, String),
    Nothing,
}

/// A sound archive of three runs over a public and a private source, to be damaged.
pub struct Forge {
    pub world: World,
}

impl Forge {
    pub fn new() -> Self {
        let both = git_source("open", "true", &["./open.git"])
            + &git_source("closed", "false", &["./closed.git"]);
        let world = World::new(&both);
        let (open, closed) = (world.upstream("open"), world.upstream("closed"));
        open.write("a.md", "# A\n\n[x](https://example.org/x) [y](https://example.org/y)\n")
            .write("folder/b.md", "# B\n")
            .commit();
        closed.write("s.md", "# Closed\n\n[anchor](https://example.org/s)\n").commit();
        world.run();
        open.write("folder/b.md", "# B\n\nMore.\n").commit();
        closed.write("t.md", "# Closed too\n").commit();
        world.run_at("2026-12-01T02:00:00Z");
        world.run_at("2026-12-02T02:00:00Z");
        world.assert_whole();
        Self { world }
    }

    /// Kind, place and text of all faults; there must be some.
    #[track_caller]
    pub fn faults(&self) -> Vec<[String; 3]> {
        let told = self.world.pagelog(&["audit", "--json"]).exits(1).stdout;
        let told: serde_json::Value = serde_json::from_str(&told).expect("JSON");
        let text = |fault: &serde_json::Value, key: &str| {
            fault[key].as_str().unwrap_or_default().to_owned()
        };
        let all = told.as_array().expect("a list");
        all.iter().map(|f| ["kind", "place", "what"].map(|key| text(f, key))).collect()
    }

    /// There is a fault of that kind at that place, with that in its text.
    #[track_caller]
    pub fn names(&self, [kind, place, what]: [&str; 3]) {
        let faults = self.faults();
        let found =
            faults.iter().any(|[k, p, w]| k == kind && p.contains(place) && w.contains(what));
        assert!(found, "{kind} at {place}: {what}\n{faults:#?}");
    }

    /// Git in the archive with something on its standard input; gives what it printed.
    #[track_caller]
    fn feed(&self, arguments: &[&str], input: &[u8]) -> String {
        let mut command = self.world.other("git");
        command.current_dir(self.world.archive()).args(arguments);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().expect("git starts");
        child.stdin.take().expect("a pipe").write_all(input).expect("it is read");
        Outcome::from(child.wait_with_output().expect("git ends")).ok().trim().to_owned()
    }

    pub fn blob(&self, text: &str) -> String {
        self.feed(&["hash-object", "-w", "--stdin"], text.as_bytes())
    }

    pub fn id(&self, revision: &str) -> String {
        self.world.git(&["rev-parse", revision]).ok().trim().to_owned()
    }

    /// The tree of a revision with something put at a path.
    pub fn tree(&self, revision: &str, path: &str, put: &Put<'_>) -> String {
        let mut lines: Vec<String> = {
            let listed = self.world.git(&["ls-tree", "-z", revision]);
            listed.stdout.split_terminator('\0').map(str::to_owned).collect()
        };
        let (name, below) = path.split_once('/').map_or((path, None), |(n, b)| (n, Some(b)));
        let is_it = |line: &String| line.ends_with(&format!("\t{name}"));
        let before = lines.iter().position(is_it).map(|at| lines.remove(at));
        let entry = match (below, put) {
            (Some(below), _) => {
                let id = before.as_deref().and_then(|line| line.split([' ', '\t']).nth(2));
                let empty = self.feed(&["mktree", "-z"], b"");
                let inner = self.tree(id.unwrap_or(&empty), below, put);
                (inner != empty).then(|| format!("040000 tree {inner}\t{name}"))
            }
            (None, Put::Nothing) => None,
            (None, Put::File(text)) => Some(format!("100644 blob {}\t{name}", self.blob(text))),
            (None, Put::Entry(mode, id)) => {
                let kind = if mode.starts_with("16") { "commit" } else { "blob" };
                Some(format!("{mode} {kind} {id}\t{name}"))
            }
        };
        lines.extend(entry);
        let input = lines.join("\0") + if lines.is_empty() { "" } else { "\0" };
        self.feed(&["mktree", "-z", "--missing"], input.as_bytes())
    }

    /// Writes a commit anew as `change` makes it of its raw text, and those after it.
    pub fn rewrite(&self, name: &str, back: usize, change: &dyn Fn(String) -> String) {
        let mut parent = None;
        for back in (0..=back).rev() {
            let old = format!("{name}~{back}");
            let mut raw = self.world.git(&["cat-file", "commit", &old]).ok();
            if let Some((before, now)) = &parent {
                raw = raw.replace(&format!("parent {before}"), &format!("parent {now}"));
            } else {
                raw = change(raw);
            }
            let new = self.feed(&["hash-object", "-t", "commit", "-w", "--stdin"], raw.as_bytes());
            parent = Some((self.id(&old), new));
        }
        let (_, tip) = parent.expect("a commit");
        self.world.git(&["update-ref", name, &tip]).ok();
        self.accept(name, &tip);
    }

    /// Lets the state speak of another tip, so that a moved ref is no fault of its own.
    pub fn accept(&self, name: &str, tip: &str) {
        let which = if name == PUBLIC { "public" } else { "private" };
        let sql = "UPDATE tip SET commit_id = ? WHERE ref = ?";
        assert_eq!(self.state().execute(sql, [tip, which]), Ok(1));
    }

    /// Puts something into the tree of a commit, `back` commits before the tip.
    pub fn put(&self, (name, back): (&str, usize), path: &str, put: &Put<'_>) {
        let revision = format!("{name}~{back}");
        let old = self.id(&format!("{revision}^{{tree}}"));
        let new = self.tree(&revision, path, put);
        assert_ne!(old, new, "{path}");
        self.rewrite(name, back, &|raw| {
            raw.replace(&format!("tree {old}"), &format!("tree {new}"))
        });
    }

    pub fn state(&self) -> rusqlite::Connection {
        let path = self.world.archive().join("pagelog/state.sqlite");
        rusqlite::Connection::open(path).expect("the state")
    }

    /// Back to where `tips` were.
    pub fn restore(&self, tips: &[String; 2]) {
        for (name, tip) in [PUBLIC, PRIVATE].iter().zip(tips) {
            self.world.git(&["update-ref", name, tip]).ok();
            self.accept(name, tip);
        }
    }

    pub fn tips(&self) -> [String; 2] {
        [PUBLIC, PRIVATE].map(|name| self.id(name))
    }
}
