//! Cutting what a mirror lacks into pushes below a host's limit. Pure.
//!
//! Commits are pushed in groups that fit into a slice. A commit that does not fit is sent in
//! parts first: each part is a tree that holds the files of the commit up to one of them, in
//! Git's order, so that all directories before it are those of the commit, and only those
//! on the way to it are of the part alone. What was sent so is found by its ids, and is not
//! sent again.

use std::collections::{HashMap, HashSet};

use crate::archive::{ObjectId, Outgoing};
use crate::git::PushMode;

/// What an object takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Size {
    /// Bytes of its content.
    pub content: u64,
    /// Bytes that it takes as it is stored.
    pub stored: u64,
    /// The object that it is stored as a difference to.
    pub base: Option<ObjectId>,
}

/// Where sizes are looked up.
pub(super) type Sizes<'a> = &'a dyn Fn(&ObjectId) -> Option<Size>;

/// Bytes of a pack besides its objects.
const PACK: u64 = 12 + 20;

/// Bytes that the commit of a part takes at most.
const PART: u64 = 1024;

/// What is pushed next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Next<'a> {
    /// All commits up to this one.
    UpTo(&'a Outgoing, PushMode),
    /// This commit, in parts.
    Parts(&'a Outgoing),
}

/// Which part of a commit is sent next.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Part<'a> {
    /// All that is left, and the commit with it.
    Rest,
    /// Everything up to this file.
    Through(&'a str),
    /// One file or directory does not fit into a slice.
    TooLarge(&'a str, u64),
}

/// Bytes by which an object may grow in a pack.
const HEADER: u64 = 8;

/// Bytes that an object takes in a push at the most. What is stored whole is sent as it is
/// stored; of what is stored as a difference, the other object may be missing.
fn cost(size: Option<Size>) -> u64 {
    match size {
        Some(Size { content, base: Some(_), .. }) => written_anew(content),
        Some(size) => size.stored + HEADER,
        None => 0,
    }
}

/// Bytes of an object that is deflated anew, at the most.
fn written_anew(content: u64) -> u64 {
    content + content / 1000 + 64
}

/// The ids of commits and of all that is new in them.
fn ids(commits: &[Outgoing]) -> impl Iterator<Item = &ObjectId> {
    commits.iter().flat_map(|commit| {
        std::iter::once(&commit.commit).chain(commit.objects.iter().map(|object| &object.id))
    })
}

/// Bytes of a push of all of them: differences are sent as they are where their base goes along.
fn together(commits: &[Outgoing], size: Sizes<'_>) -> u64 {
    let all: HashSet<&ObjectId> = ids(commits).collect();
    let bytes = |id: &&ObjectId| match size(id) {
        Some(Size { stored, base: Some(base), .. }) if all.contains(&base) => stored + HEADER,
        other => cost(other),
    };
    all.iter().map(bytes).fold(PACK, u64::saturating_add)
}

/// What of these commits, oldest first, is pushed next; `None` where there are none.
pub(super) fn next<'a>(lacking: &'a [Outgoing], size: Sizes<'_>, slice: u64) -> Option<Next<'a>> {
    if together(lacking, size) <= slice {
        return lacking.last().map(|last| Next::UpTo(last, PushMode::Small));
    }
    let (mut total, mut fits) = (PACK, None);
    for commit in lacking {
        let objects = ids(std::slice::from_ref(commit)).map(|id| cost(size(id)));
        total = objects.fold(total, u64::saturating_add);
        if total > slice {
            let parts = Next::Parts(commit);
            return Some(fits.map_or(parts, |last| Next::UpTo(last, PushMode::AsStored)));
        }
        fits = Some(commit);
    }
    fits.map(|last| Next::UpTo(last, PushMode::AsStored))
}

/// Which part of a commit is sent next to a mirror that already has some of its objects.
pub(super) fn part<'a>(
    commit: &'a Outgoing,
    size: Sizes<'_>,
    (has, slice): (&HashSet<ObjectId>, u64),
) -> Part<'a> {
    let lacks = |id: &ObjectId| if has.contains(id) { 0 } else { cost(size(id)) };
    let trees = commit.objects.iter().filter(|object| object.is_tree);
    // Directories of a part are written anew, without being compared with others.
    let whole = |id| size(id).map_or(0, |size| written_anew(size.content));
    let trees: HashMap<&str, u64> =
        trees.map(|tree| (tree.path.as_str(), whole(&tree.id))).collect();
    let mut total = PACK + cost(size(&commit.commit)) + PART;
    let rest: u64 = commit.objects.iter().map(|object| lacks(&object.id)).sum();
    if total.saturating_add(rest) <= slice {
        return Part::Rest;
    }
    let mut through = None;
    for object in &commit.objects {
        let cost = lacks(&object.id);
        total = total.saturating_add(cost);
        let above: u64 = above(&object.path).filter_map(|path| trees.get(path)).sum();
        if cost > 0 && total.saturating_add(above) > slice {
            let too_large = Part::TooLarge(&object.path, cost + above);
            return through.map_or(too_large, Part::Through);
        }
        if !object.is_tree && cost > 0 {
            through = Some(object.path.as_str());
        }
    }
    through.map_or(Part::Rest, Part::Through)
}

/// The directories that a path is in, the root first.
fn above(path: &str) -> impl Iterator<Item = &str> {
    let root = (!path.is_empty()).then_some("");
    root.into_iter().chain(path.match_indices('/').map(|(at, _)| &path[..at]))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::archive::NewObject;

    fn id(number: usize) -> ObjectId {
        ObjectId::from_hex(format!("{number:040x}").as_bytes()).unwrap()
    }

    /// A commit whose objects have these paths; a directory ends in `/`.
    fn commit(number: usize, paths: &[&str]) -> Outgoing {
        let object = |(n, path): (usize, &&str)| NewObject {
            id: id(number * 100 + n + 1),
            path: path.trim_end_matches('/').to_owned(),
            is_tree: path.ends_with('/'),
        };
        let objects = paths.iter().enumerate().map(object).collect();
        Outgoing { commit: id(number * 100), parent: None, objects }
    }

    /// Everything takes a thousand bytes.
    #[expect(clippy::unnecessary_wraps, reason = "it stands for a look into a table")]
    fn size(_: &ObjectId) -> Option<Size> {
        Some(Size { content: 1000, stored: 1000 - HEADER, base: None })
    }

    #[test]
    fn commits_go_in_groups_that_fit() {
        let commits = [commit(1, &["a", "/"]), commit(2, &["a", "/"]), commit(3, &["b", "/"])];
        let all = Next::UpTo(&commits[2], PushMode::Small);
        assert_eq!(next(&commits, &size, 9000 + PACK), Some(all));
        let two = Next::UpTo(&commits[1], PushMode::AsStored);
        assert_eq!(next(&commits, &size, 9000), Some(two));
        assert_eq!(next(&commits, &size, 2999), Some(Next::Parts(&commits[0])));
        assert_eq!(next(&commits[..0], &size, 9000), None);
    }

    #[test]
    fn a_large_commit_goes_in_parts_that_grow() {
        let commit = commit(1, &["a/b/1", "a/b/2", "a/b/", "a/3", "a/", "z", "/"]);
        let whole = 1000 + 1000 / 1000 + 64;
        // Two files with three directories, or one more where a directory was complete.
        let slice = PACK + 1000 + PART + 2000 + 3 * whole;
        let mut has = HashSet::new();
        assert_eq!(part(&commit, &size, (&has, slice)), Part::Through("a/b/2"));
        has.extend([1, 2].map(|n| id(100 + n)));
        assert_eq!(part(&commit, &size, (&has, slice)), Part::Rest);
        let tight = PACK + 1000 + PART + 1000 + 3 * whole;
        assert_eq!(part(&commit, &size, (&HashSet::new(), tight)), Part::Through("a/b/1"));
        let tiny = Part::TooLarge("a/b/1", 1000 + 3 * whole);
        assert_eq!(part(&commit, &size, (&HashSet::new(), 2000)), tiny);
    }

    #[test]
    fn what_is_stored_as_a_difference_counts_in_full_without_its_base() {
        let delta = |id: &ObjectId| {
            let base = (*id == self::id(101)).then(|| self::id(201));
            Some(Size { content: 50_000, stored: 100, base })
        };
        let commits = [commit(1, &["a", "/"]), commit(2, &["a", "/"])];
        let all = Next::UpTo(&commits[1], PushMode::Small);
        assert_eq!(next(&commits, &delta, 700), Some(all));
        assert_eq!(next(&commits, &delta, 600), Some(Next::Parts(&commits[0])));
        assert_eq!(next(&commits[..1], &delta, 50_000), Some(Next::Parts(&commits[0])));
    }
}
