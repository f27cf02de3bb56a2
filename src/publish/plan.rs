//! What is to be done with a mirror. Pure.

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

/// Decides what is to be done with a mirror whose branch is `at` a commit. `history` are the
/// commits of the public ref, newest first, and `theirs` those before and with `at`, where the
/// archive has it.
pub(super) fn standing(
    history: &[ObjectId],
    at: Option<ObjectId>,
    theirs: Option<&[ObjectId]>,
) -> Standing {
    let Some(at) = at else { return Standing::First };
    if history.first() == Some(&at) {
        return Standing::UpToDate;
    }
    if history.contains(&at) {
        return Standing::Forward;
    }
    // This is the one place where a history that was rewritten for a takedown could be let
    // through: its commits are among `theirs`, and the archive would say what became of them.
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
            standing(&history, ids(at).first().copied(), theirs.as_deref()).name()
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
    fn a_refusal_says_what_to_do() {
        let at = ids("d")[0];
        for refusal in [Refusal::Ahead(at), Refusal::Diverged(at), Refusal::Foreign(at)] {
            let text = refusal.to_string();
            assert!(text.contains("publish again") && text.contains("dddd"), "{text}");
        }
    }
}
