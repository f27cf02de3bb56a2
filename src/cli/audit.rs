//! `pagelog audit`

use std::collections::BTreeSet;

use serde::Serialize;

use super::meter::Meter;
use super::options::AuditArguments;
use super::output::Output;
use super::session::Session;
use super::{Ending, Failure};
use crate::archive::{Archive, Audit, Faults};
use crate::model::{SourceId, Visibility};
use crate::run::{repair, state_faults};

/// A line of `audit --json`.
#[derive(Serialize)]
struct Found<'a> {
    kind: &'static str,
    /// Empty where faults are counted that are not named.
    place: &'a str,
    what: &'a str,
    remedy: &'static str,
    /// How many more of this kind there are.
    #[serde(skip_serializing_if = "Option::is_none")]
    more: Option<usize>,
}

pub(crate) fn audit(
    session: &Session,
    arguments: &AuditArguments,
    output: &Output,
) -> Result<Ending, Failure> {
    let archive = session.archive()?;
    if arguments.repair {
        repair((&archive, &session.git), session.now(), &mut |text| output.tell(text))?;
    }
    let _packs = session.hold_packs(&archive, output)?;
    let meter = Meter::new(output);
    let looked = look(session, &archive, &meter);
    meter.end();
    let (faults, notes) = looked?;
    for note in &notes {
        output.warn(note);
    }
    if arguments.json {
        print_json(&faults, output)?;
    } else {
        print_text(&faults, output)?;
    }
    Ok(if faults.is_empty() { Ending::Done } else { Ending::Faults })
}

fn look(
    session: &Session,
    archive: &Archive,
    meter: &Meter,
) -> Result<(Faults, Vec<String>), Failure> {
    let sources = &session.config.sources;
    let private = sources.iter().filter(|source| source.visibility == Visibility::Private);
    let private: BTreeSet<SourceId> = private.map(|source| source.id.clone()).collect();
    let configured: BTreeSet<SourceId> = sources.iter().map(|source| source.id.clone()).collect();
    let audit = Audit::new(archive, (private, &configured), meter)?;
    audit.check(&session.git)?;
    state_faults(archive, &mut |fault| audit.add(fault))?;
    Ok(audit.end())
}

fn print_text(faults: &Faults, output: &Output) -> Result<(), Failure> {
    for (kind, named, more) in faults.by_kind() {
        for fault in named {
            output.data(&format!("{}: {}\n", fault.place, fault.what))?;
        }
        if more > 0 {
            output.data(&format!("and {more} more of this kind ({})\n", kind.name()))?;
        }
        output.data(&format!("  → {}\n", kind.remedy()))?;
    }
    let sum = match faults.count() {
        0 => "no faults".to_owned(),
        1 => "1 fault".to_owned(),
        count => format!("{count} faults"),
    };
    output.data(&format!("audit: {sum}\n"))
}

fn print_json(faults: &Faults, output: &Output) -> Result<(), Failure> {
    let mut found = Vec::new();
    for (kind, named, more) in faults.by_kind() {
        let (kind, remedy) = (kind.name(), kind.remedy());
        found.extend(named.map(|fault| {
            let (place, what) = (fault.place.as_str(), fault.what.as_str());
            Found { kind, place, what, remedy, more: None }
        }));
        if more > 0 {
            let what = "more of this kind";
            found.push(Found { kind, place: "", what, remedy, more: Some(more) });
        }
    }
    output.json(&found)
}
