//! What is wrong, and a list of it that cannot grow without end.

use std::collections::{BTreeMap, BTreeSet};

/// Faults of one kind that are named; of the others it is told how many there are.
const NAMED: usize = 20;

/// What a fault is about; in the order in which faults are told.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum FaultKind {
    /// Private text or a private commit where it may not be.
    Leak,
    /// The directory looks served, or is open to others.
    Served,
    /// A hook or setting that keeps private commits in is missing, or one lets them out.
    Guard,
    /// An object is missing or damaged.
    Object,
    /// A ref is not where it should be.
    Ref,
    /// A commit that no run makes.
    Commit,
    /// The commits of the two refs do not belong together.
    Runs,
    /// An entry of a tree that is neither a plain file nor a directory.
    Mode,
    /// A name or path that the format does not have.
    Path,
    /// A file at the root of a tree.
    Root,
    /// A page.
    Page,
    /// A links file.
    Links,
    /// A list of redirects.
    Moved,
    /// State and archive differ, or a file of the state is damaged.
    State,
    /// A file that should not be there.
    LeftOver,
}

impl FaultKind {
    /// The name in JSON.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Leak => "leak",
            Self::Served => "served",
            Self::Guard => "guard",
            Self::Object => "object",
            Self::Ref => "ref",
            Self::Commit => "commit",
            Self::Runs => "runs",
            Self::Mode => "mode",
            Self::Path => "path",
            Self::Root => "root",
            Self::Page => "page",
            Self::Links => "links",
            Self::Moved => "moved",
            Self::State => "state",
            Self::LeftOver => "left-over",
        }
    }

    /// What is to be done about faults of this kind.
    #[must_use]
    pub fn remedy(self) -> &'static str {
        match self {
            Self::Leak => {
                "push nothing. A ref of another name is removed (`git update-ref -d NAME` in the \
                 archive); the public ref is put back to the last commit without it (`git \
                 update-ref refs/heads/main COMMIT` in the archive), then `pagelog audit \
                 --repair`; what a mirror already has must be removed there"
            }
            Self::Served => {
                "close the directory, and serve a mirror that holds the public ref only"
            }
            Self::Guard => {
                "`pagelog audit --repair`, or the next run, puts hook and settings back; what is \
                 told of a remote is removed with `git config --unset`"
            }
            Self::Object => {
                "copy `objects/` of a backup over that of the archive: what is there already \
                 stays, what is missing comes back. A damaged pack is moved away before"
            }
            Self::Ref => {
                "put it back with `git update-ref`, or accept it with `pagelog audit --repair`"
            }
            Self::Commit | Self::Runs | Self::Mode | Self::Path => {
                "no run writes this: put both refs back to their last commits of one run without \
                 it (`git update-ref`), then `pagelog audit --repair`; the next run reads anew \
                 what is missing"
            }
            Self::Root => "the next run writes these files anew",
            Self::Page | Self::Links | Self::Moved => {
                "no run writes this: put the ref back as above, or keep it until a run that finds \
                 the page changed replaces it"
            }
            Self::State => "`pagelog audit --repair` brings it into step",
            Self::LeftOver => {
                "`pagelog audit --repair` removes what is the archive's own; files of Git are \
                 removed by hand, where no Git works on the archive"
            }
        }
    }
}

/// Something that is not as it should be.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Fault {
    /// What it is about.
    pub kind: FaultKind,
    /// Where: a path, a ref, a commit or a file.
    pub place: String,
    /// What is wrong, and what to do where that is more than the kind tells.
    pub what: String,
}

impl Fault {
    /// A fault.
    #[must_use]
    pub fn new(kind: FaultKind, place: impl Into<String>, what: impl Into<String>) -> Self {
        Self { kind, place: place.into(), what: what.into() }
    }
}

/// Faults by kind: the first of each by place, and how many there are.
#[derive(Clone, Debug, Default)]
pub struct Faults {
    kinds: BTreeMap<FaultKind, Found>,
}

#[derive(Clone, Debug, Default)]
struct Found {
    named: BTreeSet<Fault>,
    more: usize,
}

impl Faults {
    /// Adds one. Which ones are named does not depend on the order in which they come.
    pub fn add(&mut self, fault: Fault) {
        let found = self.kinds.entry(fault.kind).or_default();
        if !found.named.insert(fault) {
            return;
        }
        if found.named.len() > NAMED {
            found.named.pop_last();
            found.more += 1;
        }
    }

    /// Whether there is none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.kinds.is_empty()
    }

    /// How many there are.
    #[must_use]
    pub fn count(&self) -> usize {
        self.kinds.values().map(|found| found.named.len() + found.more).sum()
    }

    /// Of each kind the faults that are named, and how many more there are.
    pub fn by_kind(
        &self,
    ) -> impl Iterator<Item = (FaultKind, impl Iterator<Item = &Fault>, usize)> {
        self.kinds.iter().map(|(kind, found)| (*kind, found.named.iter(), found.more))
    }
}

/// Sentences on what is no fault by itself: the first ones, and how many there are.
#[derive(Debug, Default)]
pub(super) struct Notes {
    named: BTreeSet<String>,
    more: usize,
}

impl Notes {
    pub fn add(&mut self, note: String) {
        if self.named.insert(note) && self.named.len() > NAMED {
            self.named.pop_last();
            self.more += 1;
        }
    }

    /// All that is told.
    pub fn told(self) -> Vec<String> {
        let more = (self.more > 0).then(|| format!("and {} more like these", self.more));
        self.named.into_iter().chain(more).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_are_named_and_the_rest_is_counted() {
        let fault = |n: usize| Fault::new(FaultKind::Page, format!("{n:03}"), "wrong");
        let (mut up, mut down) = (Faults::default(), Faults::default());
        for n in 0..NAMED + 5 {
            up.add(fault(n));
            down.add(fault(NAMED + 4 - n));
        }
        up.add(Fault::new(FaultKind::Leak, "x", "text"));
        for faults in [&up, &down] {
            let (_, named, more) = faults.by_kind().last().unwrap();
            let places: Vec<_> = named.map(|fault| fault.place.clone()).collect();
            assert_eq!((places.len(), more), (NAMED, 5));
            assert_eq!(places[0], "000");
        }
        assert_eq!(up.count(), NAMED + 6);
        assert_eq!(up.by_kind().next().unwrap().0, FaultKind::Leak);
        assert!(Faults::default().is_empty());
    }
}
