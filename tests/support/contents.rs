//! What is on both refs, but for the times at which it was read: a run that was disturbed
//! reads some pages at another time.

use std::collections::BTreeSet;

use super::World;
use super::crawl::{PRIVATE, PUBLIC};

/// Refs, paths and texts of all files.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Contents(Vec<(String, String)>);

impl Contents {
    /// Those of an archive now.
    #[track_caller]
    pub fn of(world: &World) -> Self {
        let mut all = Vec::new();
        for name in [PUBLIC, PRIVATE] {
            for path in world.files(name) {
                let text = world.file(name, &path);
                let lines = text.lines().filter(|line| !line.starts_with("retrieved: "));
                let text: Vec<&str> = lines.collect();
                all.push((format!("{name}:{path}"), text.join("\n")));
            }
        }
        Self(all)
    }

    /// The other has the same.
    #[track_caller]
    pub fn assert_same(&self, other: &Self, what: &str) {
        let differing = self.differences(other);
        assert!(differing.is_empty(), "{what}: another tree:\n{}", differing.join("\n"));
    }

    /// What is missing, more, or other in the second.
    fn differences(&self, other: &Self) -> Vec<String> {
        let find = |all: &Self, path: &String| {
            all.0.iter().find(|(found, _)| found == path).map(|(_, text)| text.clone())
        };
        let all = self.0.iter().chain(&other.0);
        let paths: BTreeSet<&String> = all.map(|(path, _)| path).collect();
        let told =
            paths.into_iter().filter_map(|path| match (find(self, path), find(other, path)) {
                (Some(old), Some(new)) if old == new => None,
                (Some(old), Some(new)) => Some(format!("{path} is\n{new}\ninstead of\n{old}")),
                (Some(_), None) => Some(format!("{path} is missing")),
                (None, _) => Some(format!("{path} is too much")),
            });
        told.collect()
    }
}
