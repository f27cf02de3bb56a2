//! What is to be done with a mirror. Pure.

use std::collections::HashMap;
use std::fmt;

use crate::archive::ObjectId;

/// What a mirror has of ours.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Has {
    /// Where its public branch is.
    pub main: Option<ObjectId>,
    /// Where the tag of an upload in parts is.
    pub upload: Option<ObjectId>,
}

/// What is to be done with one mirror.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Plan {
    /// How it stands to the archive.
    pub standing: Standing,
    /// The commit that its branch is at.
    pub old: Option<ObjectId>,
    /// The newest commit that both have; what is behind it is sent.
    pub base: Option<ObjectId>,
    /// Commits that it lacks.
    pub commits: usize,
    /// Objects that it lacks, commits among them.
    pub objects: usize,
    /// Bytes that they take in the archive.
    pub bytes: u64,
}

/// How a mirror stands to the archive.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Standing {
    /// It has the newest commit.
    UpToDate,
    /// It has no such branch yet.
    First,
    /// It has an older commit.
    Forward,
    /// It has commits that a takedown rewrote: they are replaced.
    Rewritten,
    /// It has something else, which is never overwritten.
    Refused(Refusal),
}

impl Standing {
    /// The name in reports.
    #[must_use]
    pub fn name(&self) -> &'static str {
        match self {
            Self::UpToDate => "up-to-date",
            Self::First => "first-push",
            Self::Forward => "fast-forward",
            Self::Rewritten => "rewritten",
            Self::Refused(Refusal::Ahead(_)) => "ahead",
            Self::Refused(Refusal::Diverged(_)) => "diverged",
            Self::Refused(Refusal::Foreign(_)) => "foreign",
        }
    }
}

/// Why a mirror is left as it is, with the commit that its branch is at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// It has commits on top of the newest one, which the archive knows.
    Ahead(ObjectId),
    /// It is at a commit of another history that the archive knows.
    Diverged(ObjectId),
    /// It is at a commit that the archive does not have.
    Foreign(ObjectId),
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Ahead(at) => write!(
                f,
                "its branch main is ahead of the archive, at {at}: the archive's ref was set \
                 back. `git update-ref refs/heads/main {at}` in the archive and `pagelog audit \
                 --repair` take it forward again; to keep it as it is, remove the branch on the \
                 mirror and publish again"
            ),
            Self::Diverged(at) => write!(
                f,
                "its branch main has diverged, at {at}: both have commits that the other lacks. \
                 Nothing is overwritten; where the archive is right, remove the branch on the \
                 mirror and publish again"
            ),
            Self::Foreign(at) => write!(
                f,
                "its branch main is at {at}, which is no commit of this archive: somebody \
                 pushed to it, or it belongs to another archive. Nothing is overwritten; name an \
                 empty repository, or remove the branch there and publish again"
            ),
        }
    }
}

/// What takedowns made of commits that mirrors may still have.
#[derive(Debug, Default)]
pub(super) struct Replaced {
    /// Commits, and those that stand for them.
    by: HashMap<ObjectId, ObjectId>,
    /// The newest commit that no takedown rewrote.
    base: Option<ObjectId>,
}

impl Replaced {
    /// `history` are the commits of the public ref, newest first.
    pub fn new(history: &[ObjectId], by: HashMap<ObjectId, ObjectId>) -> Self {
        let new: std::collections::HashSet<&ObjectId> = by.values().collect();
        let untouched = history.iter().rev().take_while(|commit| !new.contains(commit));
        let base = untouched.last().copied();
        Self { by, base }
    }

    /// Whether a commit was replaced by one of the history, be it by several takedowns.
    pub fn explains(&self, history: &[ObjectId], at: ObjectId) -> bool {
        let mut next = at;
        // No takedown makes a circle, but a list can be written by hand.
        for _ in 0..=self.by.len() {
            match self.by.get(&next) {
                Some(newer) if history.contains(newer) => return true,
                Some(newer) => next = *newer,
                None => return false,
            }
        }
        false
    }

    /// The newest commit that the archive and a mirror have, whose branch is at a commit.
    pub fn base_of(&self, history: &[ObjectId], at: Option<ObjectId>) -> Option<ObjectId> {
        let replaced = |at: &ObjectId| !history.contains(at) && self.explains(history, *at);
        if at.as_ref().is_some_and(replaced) { self.base } else { at }
    }
}

/// Decides what is to be done with a mirror whose branch is `at` a commit. `history` are the
/// commits of the public ref, newest first, and `theirs` those before and with `at`, where the
/// archive has it.
pub(super) fn standing(
    history: &[ObjectId],
    at: Option<ObjectId>,
    (theirs, replaced): (Option<&[ObjectId]>, &Replaced),
) -> Standing {
    let Some(at) = at else { return Standing::First };
    if history.first() == Some(&at) {
        return Standing::UpToDate;
    }
    if history.contains(&at) {
        return Standing::Forward;
    }
    if replaced.explains(history, at) {
        return Standing::Rewritten;
    }
    Standing::Refused(match theirs {
        None => Refusal::Foreign(at),
        Some(theirs) if history.first().is_some_and(|tip| theirs.contains(tip)) => {
            Refusal::Ahead(at)
        }
        Some(_) => Refusal::Diverged(at),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ids(text: &str) -> Vec<ObjectId> {
        let id = |c: char| ObjectId::from_hex(c.to_string().repeat(40).as_bytes()).unwrap();
        text.chars().map(id).collect()
    }

    #[test]
    fn a_mirror_stands_in_one_of_these_ways() {
        let history = ids("cba");
        let stands = |at: &str, theirs: Option<&str>| {
            let theirs = theirs.map(ids);
            let replaced = Replaced::default();
            let at = ids(at).first().copied();
            standing(&history, at, (theirs.as_deref(), &replaced)).name()
        };
        assert_eq!(stands("", None), "first-push");
        assert_eq!(stands("c", Some("cba")), "up-to-date");
        assert_eq!(stands("b", Some("ba")), "fast-forward");
        assert_eq!(stands("a", Some("a")), "fast-forward");
        assert_eq!(stands("d", Some("dcba")), "ahead");
        assert_eq!(stands("e", Some("eba")), "diverged");
        assert_eq!(stands("e", Some("e")), "diverged");
        assert_eq!(stands("f", None), "foreign");
    }

    #[test]
    fn only_a_takedown_that_leads_to_the_history_explains_another_one() {
        let history = ids("dcba");
        let by = |pairs: &[&str]| {
            let pairs = pairs.iter().map(|pair| ids(pair));
            Replaced::new(&history, pairs.map(|pair| (pair[0], pair[1])).collect())
        };
        let stands = |replaced: &Replaced| {
            let at = ids("8").first().copied();
            let base = replaced.base_of(&history, at);
            (standing(&history, at, (None, replaced)).name(), base)
        };
        let (none, eight) = (None, Some(ids("8")[0]));
        assert_eq!(stands(&by(&[])), ("foreign", eight));
        assert_eq!(stands(&by(&["8c", "7b"])), ("rewritten", Some(ids("a")[0])));
        assert_eq!(stands(&by(&["8c", "7a"])), ("rewritten", none));
        assert_eq!(
            stands(&by(&["89", "9c"])),
            ("rewritten", Some(ids("b")[0])),
            "taken down twice"
        );
        assert_eq!(stands(&by(&["89"])), ("foreign", eight), "a takedown that never was");
        assert_eq!(stands(&by(&["89", "98"])), ("foreign", eight), "a list made by hand");
        assert_eq!(by(&["8c"]).base_of(&history, Some(ids("b")[0])), Some(ids("b")[0]));
    }

    #[test]
    fn a_refusal_says_what_to_do() {
        let at = ids("d")[0];
        for refusal in [Refusal::Ahead(at), Refusal::Diverged(at), Refusal::Foreign(at)] {
            let text = refusal.to_string();
            assert!(text.contains("publish again") && text.contains("dddd"), "{text}");
        }
    }
}
