//! Looking at what would leave, before anything does.
//!
//! The archive looks at every commit, tree and file that is new to the mirror that has least
//! ([`Archive::audit_outgoing`]). Git then says by itself which objects a push would send: one
//! that was not looked at is a fault. [`Checked`] is made here alone, and pushes are made of
//! what it holds alone.

use std::collections::{BTreeSet, HashMap, HashSet};

use super::plan::Plan;
use super::slices::Size;
use super::{Context, PublishError};
use crate::archive::{
    Archive, ArchiveError, Fault, FaultKind, Faults, ObjectId, Outgoing, page_sources,
};
use crate::config::Config;
use crate::git::{Git, GitError, ObjectSize};
use crate::model::{SourceId, Visibility};

/// What was found.
pub(super) struct Found {
    pub checked: Checked,
    pub faults: Faults,
    pub notes: Vec<String>,
}

/// Commits that were looked at, with all that is new in them.
pub(super) struct Checked {
    /// Oldest first; the last one is the tip.
    commits: Vec<Outgoing>,
    sizes: HashMap<ObjectId, Size>,
}

impl Checked {
    /// The commits behind the one that a mirror is at, oldest first.
    pub fn behind(&self, at: Option<ObjectId>) -> &[Outgoing] {
        let place = at.and_then(|at| self.commits.iter().position(|known| known.commit == at));
        self.commits.get(place.map_or(0, |place| place + 1)..).unwrap_or_default()
    }

    /// The size of an object that was looked at.
    pub fn size(&self, id: &ObjectId) -> Option<Size> {
        self.sizes.get(id).copied()
    }

    /// Fills in how much a mirror lacks, as Git says.
    pub fn measure(
        &self,
        (git, archive): (&Git, &Archive),
        plan: &mut Plan,
    ) -> Result<(), PublishError> {
        let lacking = self.behind(plan.base);
        let Some(tip) = lacking.last() else { return Ok(()) };
        let objects = listed((git, archive), (plan.base, tip.commit))?;
        plan.commits = lacking.len();
        plan.objects = objects.len();
        plan.bytes = objects.iter().filter_map(|id| self.size(id)).map(|size| size.stored).sum();
        Ok(())
    }
}

/// Looks at all that is new from behind `from` up to `to`.
pub(super) fn audit(
    context: &Context<'_>,
    archive: &Archive,
    (from, to): (Option<ObjectId>, ObjectId),
) -> Result<Found, PublishError> {
    let private = private_sources(context.config, archive)?;
    let stopped = || ArchiveError::Git(GitError::Interrupted);
    let go_on = || if context.interrupt.is_raised() { Err(stopped()) } else { Ok(()) };
    let audit = archive.audit_outgoing(&context.git, (from, to), &private, &go_on);
    let mut audit = audit.map_err(|error| match error {
        ArchiveError::Git(error) => PublishError::from(error),
        other => other.into(),
    })?;
    let looked_at: HashSet<ObjectId> = audit
        .commits
        .iter()
        .flat_map(|c| std::iter::once(c.commit).chain(c.objects.iter().map(|object| object.id)))
        .collect();
    for id in listed((&context.git, archive), (from, to))? {
        if !looked_at.contains(&id) {
            let what = "it would leave, and was not looked at";
            audit.faults.add(Fault::new(FaultKind::Leak, format!("object {id}"), what));
        }
    }
    let ids: Vec<ObjectId> = looked_at.into_iter().collect();
    let names: Vec<String> = ids.iter().map(ObjectId::to_string).collect();
    let sizes = context.git.object_sizes(archive.path(), names.iter().map(String::as_str))?;
    let size = |size: ObjectSize| Size {
        content: size.content,
        stored: size.stored,
        base: size.base.and_then(|hex| ObjectId::from_hex(hex.as_bytes()).ok()),
    };
    let sizes = ids.into_iter().zip(sizes.into_iter().map(size)).collect();
    let checked = Checked { commits: audit.commits, sizes };
    Ok(Found { checked, faults: audit.faults, notes: audit.notes })
}

/// The objects that a push would send, as Git says.
fn listed(
    (git, archive): (&Git, &Archive),
    (from, to): (Option<ObjectId>, ObjectId),
) -> Result<Vec<ObjectId>, PublishError> {
    let from = from.map(|id| id.to_string());
    let known: Vec<&str> = from.as_deref().into_iter().collect();
    let listed = git.list_objects(archive.path(), &to.to_string(), &known)?;
    Ok(listed.iter().filter_map(|hex| ObjectId::from_hex(hex.as_bytes()).ok()).collect())
}

/// The sources of which nothing but URLs may leave: private ones under every id that they
/// ever had, and those that left the configuration but have pages on the private ref.
fn private_sources(config: &Config, archive: &Archive) -> Result<BTreeSet<SourceId>, ArchiveError> {
    let of = |visibility| config.sources.iter().filter(move |s| s.visibility == visibility);
    let mut private: BTreeSet<SourceId> = of(Visibility::Private)
        .flat_map(|source| std::iter::once(&source.id).chain(&source.was))
        .cloned()
        .collect();
    let stored = page_sources(archive, archive.heads()?.private)?;
    private.extend(stored.into_iter().filter(|id| config.source(id.as_str()).is_none()));
    Ok(private)
}
