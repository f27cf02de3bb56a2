//! `pagelog audit`

use std::collections::BTreeSet;

use serde::Serialize;

use super::options::AuditArguments;
use super::output::Output;
use super::session::Session;
use super::{Ending, Failure};
use crate::archive::{
    Archive, Fault, LeakGuard, ObjectId, PageEntry, Snapshot, audit_commit, audit_directory,
    decode_page, sketch,
};
use crate::model::{SourceId, Visibility};
use crate::run::{accept_refs, state_faults};
use crate::state::{Condition, State};

/// A line of `audit --json`.
#[derive(Serialize)]
struct Found<'a> {
    place: &'a str,
    what: &'a str,
}

pub(crate) fn audit(
    session: &Session,
    arguments: &AuditArguments,
    output: &Output,
) -> Result<Ending, Failure> {
    let archive = session.archive()?;
    if arguments.repair {
        repair(session, &archive, output)?;
    }
    let _packs = session.hold_packs(&archive, output)?;
    let mut faults = audit_directory(&archive, &session.git)?;
    faults.extend(archive.guard_faults(&session.git)?);
    faults.extend(archive.history_faults()?);
    let heads = archive.heads()?;
    let mut guard = LeakGuard::new(private_sources(session, &archive, heads.private)?);
    for visibility in [Visibility::Public, Visibility::Private] {
        if let Some(tip) = heads.of(visibility) {
            faults.extend(audit_commit(&archive, (visibility, tip), &guard)?);
        }
    }
    faults.extend(state_check(&archive)?);
    add_private_pages(&mut guard, &Snapshot::open(&archive, heads.private)?)?;
    for note in resembling_pages(&guard, &Snapshot::open(&archive, heads.public)?)? {
        output.warn(&note);
    }
    if arguments.json {
        let found: Vec<Found<'_>> =
            faults.iter().map(|f| Found { place: &f.place, what: &f.what }).collect();
        output.json(&found)?;
    } else {
        for fault in &faults {
            output.data(&format!("{}: {}\n", fault.place, fault.what))?;
        }
        let sum = if faults.is_empty() {
            "no faults".to_owned()
        } else {
            format!("{} faults", faults.len())
        };
        output.data(&format!("audit: {sum}\n"))?;
    }
    Ok(if faults.is_empty() { Ending::Done } else { Ending::Faults })
}

/// The private sources: those of the configuration, and those that left it but have pages
/// on the private ref.
fn private_sources(
    session: &Session,
    archive: &Archive,
    tip: Option<ObjectId>,
) -> Result<BTreeSet<SourceId>, Failure> {
    let sources = &session.config.sources;
    let files = Snapshot::open(archive, tip)?.files("pages")?;
    let stored = files.iter().filter_map(|(path, _)| Some(PageEntry::from_page_path(path)?.source));
    let mut private: BTreeSet<SourceId> =
        stored.filter(|id| session.config.source(id.as_str()).is_none()).collect();
    let configured = sources.iter().filter(|s| s.visibility == Visibility::Private);
    private.extend(configured.map(|source| source.id.clone()));
    Ok(private)
}

/// Lets a guard know all private pages.
fn add_private_pages(guard: &mut LeakGuard, private: &Snapshot) -> Result<(), Failure> {
    for (_, blob) in private.files("pages")? {
        if let Ok(page) = decode_page(&private.read(blob)?) {
            guard.add(page.url.as_str(), &sketch(&page.body));
        }
    }
    Ok(())
}

/// Public pages that hold more than half of a private one. No fault by itself: what was
/// public first may stand in both, and a run holds back only what is new.
fn resembling_pages(guard: &LeakGuard, public: &Snapshot) -> Result<Vec<String>, Failure> {
    let mut notes = Vec::new();
    for (path, blob) in public.files("pages")? {
        let Ok(page) = decode_page(&public.read(blob)?) else { continue };
        if let Some(private) = guard.resembles(&page.body) {
            notes.push(format!(
                "{path} is public and holds more than half of the private page {private}"
            ));
        }
    }
    Ok(notes)
}

/// Compares state and archive.
fn state_check(archive: &Archive) -> Result<Vec<Fault>, Failure> {
    match State::open_to_read(&archive.state_file()) {
        Ok(Some(state)) => Ok(state_faults(archive, &state)?),
        Ok(None) if archive.heads()?.public.is_none() => Ok(Vec::new()),
        Ok(None) => Ok(vec![fault(
            archive,
            "missing; the next run makes it anew from the archive".to_owned(),
        )]),
        Err(error) => {
            Ok(vec![fault(archive, format!("{error}; the next run, or --repair, makes it anew"))])
        }
    }
}

fn fault(archive: &Archive, what: String) -> Fault {
    Fault { place: archive.state_file().display().to_string(), what }
}

/// Makes the state anew, accepts the refs as they are and removes what killed runs left.
fn repair(session: &Session, archive: &Archive, output: &Output) -> Result<(), Failure> {
    let lock = archive.lock(&format!("process {}, repairing", std::process::id()))?;
    archive.remove_temporary_packs(&lock)?;
    archive.remove_upkeep_left_overs(&lock)?;
    let mark = session.now().to_string().replace(':', "");
    let (mut state, condition) = State::open(&archive.state_file(), &mark)?;
    if let Condition::SetAside(aside) = condition {
        output.warn(&format!("the state was damaged; it is kept as {}", aside.display()));
    }
    let pages = accept_refs(archive, &mut state)?;
    output.tell(&format!("made the state anew: {pages} pages"));
    Ok(())
}
