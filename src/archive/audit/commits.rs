//! Commits: one line on each ref, of the format, and both lines belonging together.

use std::collections::{BTreeSet, HashMap, HashSet};

use super::{Audit, Fault, FaultKind, ref_name};
use crate::archive::layout::FORMAT_VERSION;
use crate::archive::{ObjectId, PRIVATE_REF, PUBLIC_REF, RunMessage, guards};
use crate::model::{RunKind, SourceId, Timestamp, Visibility};

/// A commit of a ref, as far as the checks of others need it.
#[derive(Clone, Debug)]
pub(super) struct Run {
    pub commit: ObjectId,
    pub tree: ObjectId,
    pub started: Timestamp,
    pub kind: RunKind,
    /// Sources whose upstreams its message names.
    upstreams: Vec<SourceId>,
}

impl Run {
    /// How a commit is named in faults.
    pub fn name(&self) -> String {
        format!("{} of {}", self.commit.to_hex_with_len(12), self.started)
    }
}

/// The commits of a ref.
pub(super) struct Line {
    pub visibility: Visibility,
    /// From the first one on.
    pub runs: Vec<Run>,
    /// How many of them were accepted as they are.
    accepted: usize,
    /// Every commit that the ref reaches.
    all: HashSet<ObjectId>,
    /// Every source that a message speaks of.
    pub sources: BTreeSet<SourceId>,
}

/// Reads the commits of a ref and checks each; what is wrong with those up to `accepted` is no
/// fault.
pub(super) fn line(audit: &Audit<'_>, visibility: Visibility, accepted: Option<ObjectId>) -> Line {
    let (runs, all, sources) = (Vec::new(), HashSet::new(), BTreeSet::new());
    let mut line = Line { visibility, runs, accepted: 0, all, sources };
    let repository = audit.archive.repository();
    let (mut next, mut beside) = (audit.heads.of(visibility), Vec::new());
    while let Some(id) = next {
        if !line.all.insert(id) {
            break;
        }
        let place = format!("{} {id}", ref_name(visibility));
        line.accepted += usize::from(line.accepted > 0 || accepted == Some(id));
        let add = |what: &str| match line.accepted {
            0 => audit.add(Fault::new(FaultKind::Commit, &place, what)),
            _ => audit.note(format!("{place}: {what}; it was accepted as it is")),
        };
        let read = commit(&repository, id, &add).inspect_err(|why| {
            let what = format!("the commit cannot be read: {why}");
            audit.add(Fault::new(FaultKind::Object, &place, what));
        });
        let Ok((run, parents, sources)) = read else { break };
        if let Some(younger) = line.runs.last()
            && run.started > younger.started
        {
            audit.note(format!(
                "{}: the run after it began earlier, at {}; dates name the older of the two",
                run.name(),
                younger.started
            ));
        }
        line.runs.push(run);
        line.sources.extend(sources);
        next = parents.first().copied();
        beside.extend(parents.into_iter().skip(1));
    }
    line.runs.reverse();
    reach(&repository, beside, &mut line.all);
    line
}

/// Follows all parents.
fn reach(repository: &gix::Repository, from: Vec<ObjectId>, known: &mut HashSet<ObjectId>) {
    let mut open = from;
    while let Some(id) = open.pop() {
        if known.insert(id)
            && let Ok(commit) = repository.find_commit(id)
        {
            open.extend(commit.parent_ids().map(gix::Id::detach));
        }
    }
}

/// A commit as it is by itself.
pub(in crate::archive) struct Alone {
    pub parents: Vec<ObjectId>,
    pub tree: ObjectId,
    pub started: Timestamp,
    /// Sources whose upstreams its message names.
    pub upstreams: Vec<SourceId>,
}

/// Reads a commit and checks it by itself; the error says why it cannot be read.
pub(in crate::archive) fn look_at(
    repository: &gix::Repository,
    id: ObjectId,
    add: &impl Fn(&str),
) -> Result<Alone, String> {
    let (run, parents, _) = commit(repository, id, add)?;
    Ok(Alone { parents, tree: run.tree, started: run.started, upstreams: run.upstreams })
}

/// A commit, its parents, and the sources that its message speaks of.
type Read = (Run, Vec<ObjectId>, Vec<SourceId>);

/// Reads a commit and checks it by itself; the error says why it cannot be read.
fn commit(repository: &gix::Repository, id: ObjectId, add: &impl Fn(&str)) -> Result<Read, String> {
    let object = repository.find_commit(id).map_err(|error| error.to_string())?;
    let decoded = object.decode().map_err(|error| error.to_string())?;
    let author = decoded.author().map_err(|error| error.to_string())?;
    let committer = decoded.committer().map_err(|error| error.to_string())?;
    if (author.name, author.email) != (committer.name, committer.email) || author.name.is_empty() {
        add("author and committer are not both the bot");
    }
    if ![author.time, committer.time].iter().all(|time| time.ends_with(" +0000")) {
        add("its dates are not in UTC");
    }
    if author.seconds() > committer.seconds() {
        add("it ended before it began: the committer date is before the author date");
    }
    if decoded.encoding.is_some() || !decoded.extra_headers.is_empty() {
        add("it has headers that the format does not have");
    }
    let parents: Vec<ObjectId> = decoded.parents().collect();
    if parents.len() > 1 {
        add("it has more than one parent: the commits of a ref are one line");
    }
    let started = Timestamp::from_unix(author.seconds()).unwrap_or(Timestamp::EPOCH);
    let message = decoded.message.to_vec();
    let message = check_message(&message, started, add);
    let (mut kind, mut sources, mut upstreams) = (RunKind::Read, Vec::new(), Vec::new());
    if let Some(message) = message {
        kind = message.kind;
        sources.extend(message.sources.into_iter().map(|line| line.source));
        upstreams.extend(message.upstreams.into_iter().map(|head| head.source));
        sources.extend(upstreams.iter().cloned());
    }
    let run = Run { commit: id, tree: decoded.tree(), started, kind, upstreams };
    Ok((run, parents, sources))
}

/// Checks a message against the grammar of the format; gives what it says.
fn check_message(bytes: &[u8], started: Timestamp, add: &impl Fn(&str)) -> Option<RunMessage> {
    let text = String::from_utf8_lossy(bytes);
    let Some(message) = RunMessage::decode(&text) else {
        add("its message is not that of a run");
        return None;
    };
    if message.started != started {
        add("its trailer `Run` is not its author date");
    }
    if message.format > FORMAT_VERSION {
        add("its trailer `Format` is newer than this program knows");
    }
    let trailers = text.trim_end().rsplit("\n\n").next().unwrap_or_default();
    let kinds = trailers.lines().filter_map(|line| line.strip_prefix("Kind: "));
    if kinds.clone().any(|kind| RunKind::from_name(kind).is_none_or(|it| it == RunKind::Read)) {
        add("its trailer `Kind` is none of the format");
    }
    // What is not known here is skipped; all else is written in one way.
    let written = message.encode();
    let (head, tail) = written.trim_end().rsplit_once("\n\n").unwrap_or_default();
    let mut lines = trailers.lines();
    let in_order = tail.lines().all(|line| {
        let key = line.split_once(' ').map_or(line, |(key, _)| key);
        lines.any(|found| if key == "Source:" { same_source(line, found) } else { found == line })
    });
    if !in_order {
        add("its trailers are not written as the format says");
    }
    if text.trim_end().rsplit_once("\n\n").map(|(found, _)| found) != Some(head) {
        add("its title, or its lines for people, are not those of a run");
    }
    Some(message)
}

/// Whether two lines of one source tell the same, but for keys that are not known.
fn same_source(written: &str, found: &str) -> bool {
    let found: Vec<&str> = found.split(' ').collect();
    written.split(' ').all(|word| found.contains(&word))
}

/// Checks that the two lines share nothing, and are of the same runs.
pub(super) fn check_together(audit: &Audit<'_>, [public, private]: &[Line; 2]) {
    if let Some(run) = public.runs.iter().rev().find(|run| private.all.contains(&run.commit)) {
        audit.add(guards::shared_commit(run.commit));
    } else if let Some(shared) = public.all.intersection(&private.all).min() {
        audit.add(guards::shared_commit(*shared));
    }
    let [our, their] = [public, private].map(|line| &line.runs[line.accepted..]);
    let [ours, theirs] = [our.len(), their.len()];
    let first = our.iter().zip(their).find(|(a, b)| key(a) != key(b));
    if let Some((a, b)) = first {
        let what = format!(
            "{} and, on the private ref, {} stand at the same place and are not of one run",
            a.name(),
            b.name()
        );
        audit.add(Fault::new(FaultKind::Runs, PUBLIC_REF, what));
    } else if ours != theirs {
        let what =
            format!("{ours} commits, and {theirs} on {PRIVATE_REF}: each run makes one on either");
        audit.add(Fault::new(FaultKind::Runs, PUBLIC_REF, what));
    } else if public.runs.len() != private.runs.len() {
        audit.note(format!(
            "{PUBLIC_REF} has {} commits and {PRIVATE_REF} has {}: they were accepted so, and what \
             either lacks can be put back with `git update-ref` only as long as its objects are \
             there",
            public.runs.len(),
            private.runs.len()
        ));
    }
}

/// What the two commits of a run have in common.
fn key(run: &Run) -> (Timestamp, RunKind) {
    (run.started, run.kind)
}

/// The commits of the private ref, by what they have in common with those of the public one.
pub(super) fn by_run(line: &Line) -> HashMap<(Timestamp, RunKind), &Run> {
    line.runs.iter().map(|run| (key(run), run)).collect()
}

/// The commit of the same run on the other ref.
pub(super) fn twin<'a>(
    run: &Run,
    others: &HashMap<(Timestamp, RunKind), &'a Run>,
) -> Option<&'a Run> {
    others.get(&key(run)).copied()
}

/// Checks that a public message names no upstream of a source that was private then.
pub(super) fn check_upstreams(audit: &Audit<'_>, run: &Run, private: &BTreeSet<SourceId>) {
    for source in run.upstreams.iter().filter(|source| private.contains(source)) {
        let what = format!("its message names the upstream of the private source {source}");
        audit.add(Fault::new(FaultKind::Leak, format!("{PUBLIC_REF} {}", run.commit), what));
    }
}

/// Checks refs that are not of the format: none may reach a private commit.
pub(super) fn check_other_refs(audit: &Audit<'_>, [_, private]: &[Line; 2]) {
    let repository = audit.archive.repository();
    let Ok(platform) = repository.references() else { return };
    let Ok(references) = platform.all() else { return };
    for mut reference in references.flatten() {
        let name = reference.name().as_bstr().to_string();
        if [PUBLIC_REF, PRIVATE_REF].contains(&name.as_str()) {
            continue;
        }
        let Ok(id) = reference.peel_to_id() else { continue };
        let mut reached = HashSet::new();
        reach(&repository, vec![id.detach()], &mut reached);
        if !reached.is_disjoint(&private.all) {
            let what = format!(
                "it reaches private commits; `git update-ref -d {name}` in the archive removes it"
            );
            audit.add(Fault::new(FaultKind::Leak, name, what));
        }
    }
}
