//! How the archive stands.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use serde::Serialize;

use super::basis::Basis;
use super::limits::{self, bytes};
use super::mirrors::MirrorStatus;
use super::site::left_alone;
use super::{Past, ReportError};
use crate::archive::{Archive, Largest, Sizes};
use crate::model::{OutcomeKind, Source, SourceKind, Timestamp, Visibility};
use crate::state::State;

/// How one source stands.
#[derive(Clone, Debug, Serialize)]
pub struct SourceStatus {
    /// Its id.
    pub source: String,
    /// `site`, `git` or `feed`.
    pub kind: &'static str,
    /// `public` or `private`.
    pub visibility: &'static str,
    /// Its pages in the archive.
    pub pages: u64,
    /// Start of the last run that read it in full.
    pub last_complete: Option<String>,
    /// Whether `--due` would read it now.
    pub due: bool,
    /// What could not be read the last time.
    pub trouble: Vec<String>,
    /// How many of its URLs failed when they were last looked at.
    pub failed: usize,
    /// What is known of a site.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub site: Option<SiteStatus>,
}

/// What is known of a site.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct SiteStatus {
    /// Pages that are known to exist.
    pub known: u64,
    /// Those of them that were read at least once.
    pub read: u64,
}

/// A run over sites that did not come to its commit.
#[derive(Clone, Debug, Serialize)]
pub struct OpenRun {
    /// Its number.
    pub run: i64,
    /// Its start.
    pub started: String,
    /// `in-progress`, `resumable`, or `stale`: the next run commits what it has, and begins
    /// anew.
    pub standing: &'static str,
    /// Host, source, and how many addresses of it wait, by its last checkpoint.
    pub waiting: Vec<(String, String, u64)>,
}

/// How the archive stands.
#[derive(Clone, Debug, Serialize)]
pub struct Status {
    /// The archive's directory.
    pub archive: String,
    /// The last run, in words; `None` before the first.
    pub last_run: Option<String>,
    /// Commits on the public ref.
    pub runs: usize,
    /// Tip of the public ref.
    pub public: Option<String>,
    /// Tip of the private ref.
    pub private: Option<String>,
    /// The sources, in order of the configuration.
    pub sources: Vec<SourceStatus>,
    /// Ids that have pages but are no longer configured.
    pub not_configured: Vec<String>,
    /// Bytes of the archive's objects.
    pub objects_size: u64,
    /// Bytes of all packs' largest file.
    pub largest_pack: u64,
    /// Bytes of the state and the caches.
    pub own_size: u64,
    /// What matters to hosts of mirrors.
    pub sizes: SizesStatus,
    /// What needs attention.
    pub warnings: Vec<String>,
    /// A run over sites that did not come to its commit.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub open_run: Option<OpenRun>,
    /// The mirrors, in order of the configuration.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub mirrors: Vec<MirrorStatus>,
    /// Hosts that are left alone, until when and why.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub left_alone: Vec<String>,
}

/// The largest of something.
#[derive(Clone, Debug, Serialize)]
pub struct LargestStatus {
    /// Path in the tree.
    pub path: String,
    /// Bytes of a file, entries of a directory.
    pub size: u64,
}

/// What matters to hosts of mirrors.
#[derive(Clone, Debug, Serialize)]
pub struct SizesStatus {
    /// Bytes of what the public ref reaches.
    pub public_size: u64,
    /// Bytes of what the private ref reaches.
    pub private_size: u64,
    /// Bytes of the largest push that a mirror would need.
    pub push_size: u64,
    /// The largest file that a public commit has.
    pub largest_file: Option<LargestStatus>,
    /// The public directory with most entries.
    pub largest_directory: Option<LargestStatus>,
    /// Bytes by which the public ref grew in a run, over the last ones.
    pub growth_size: Option<u64>,
    /// Over how many runs that was measured.
    pub growth_runs: Option<u64>,
    /// Runs until the public ref reaches what common hosts advise at most.
    pub runs_left: Option<u64>,
}

impl SizesStatus {
    fn of(sizes: &Sizes) -> Self {
        let largest = |it: Option<&Largest>| {
            it.map(|it| LargestStatus { path: it.path.clone(), size: it.size })
        };
        let growth = sizes.growth;
        Self {
            public_size: sizes.public,
            private_size: sizes.private,
            push_size: sizes.push,
            largest_file: largest(sizes.largest_file.as_ref()),
            largest_directory: largest(sizes.largest_directories.first()),
            growth_size: growth.map(|growth| growth.size / growth.runs.max(1)),
            growth_runs: growth.map(|growth| growth.runs),
            runs_left: limits::runs_left(sizes),
        }
    }

    fn write(&self, out: &mut String) {
        if let (Some(file), Some(directory)) = (&self.largest_file, &self.largest_directory) {
            let _ = writeln!(
                out,
                "largest     {}: {}; {}: {} entries",
                file.path,
                bytes(file.size),
                directory.path,
                directory.size
            );
        }
        if let (Some(size), Some(runs)) = (self.growth_size, self.growth_runs) {
            let _ = write!(out, "growth      {} a run, over {runs} runs", bytes(size));
            if let Some(left) = self.runs_left {
                let _ = write!(
                    out,
                    "; the public ref reaches {} in about {left} runs",
                    bytes(limits::REPOSITORY.most)
                );
            }
            out.push('\n');
        }
    }
}

impl Status {
    /// Gathers how things stand.
    ///
    /// # Errors
    /// Archive or state cannot be read.
    pub fn of(basis: &Basis<'_>, archive: &Archive, sizes: &Sizes) -> Result<Self, ReportError> {
        let Basis { config, state, now, .. } = *basis;
        let past = Past::open(archive, state)?;
        let heads = past.heads();
        let counts = state.map(State::page_counts).transpose()?.unwrap_or_default();
        let mut sources = Vec::new();
        for source in &config.sources {
            sources.push(source_status(source, state, &counts, now)?);
        }
        let configured = |id: &String| config.sources.iter().any(|s| s.id.as_str() == id);
        let objects = archive.path().join("objects");
        Ok(Self {
            archive: archive.path().display().to_string(),
            last_run: state.map(last_run).transpose()?.flatten(),
            runs: past.count(Visibility::Public)?,
            public: heads.public.map(|id| id.to_string()),
            private: heads.private.map(|id| id.to_string()),
            sources,
            not_configured: counts
                .iter()
                .map(|(id, _)| id.clone())
                .filter(|id| !configured(id))
                .collect(),
            objects_size: size_of(&objects),
            largest_pack: largest_in(&objects.join("pack")),
            own_size: size_of(&archive.path().join("pagelog")),
            sizes: SizesStatus::of(sizes),
            warnings: warnings(archive, sizes),
            open_run: state.map(|state| open_run(basis, state, archive)).transpose()?.flatten(),
            mirrors: MirrorStatus::all(basis, archive)?,
            left_alone: left_alone(basis, |_| true)?,
        })
    }

    /// As text.
    #[must_use]
    pub fn to_text(&self) -> String {
        let mut out = format!("archive     {}\n", self.archive);
        let last = self.last_run.as_deref().unwrap_or("none yet");
        let _ = writeln!(out, "last run    {last}\ncommits     {}", self.runs);
        let _ = writeln!(
            out,
            "size        {} in Git ({} public, {} private), {} of state and caches",
            bytes(self.objects_size),
            bytes(self.sizes.public_size),
            bytes(self.sizes.private_size),
            bytes(self.own_size)
        );
        self.sizes.write(&mut out);
        if let Some(open) = &self.open_run {
            open.write(&mut out);
        }
        for mirror in &self.mirrors {
            mirror.write(&mut out);
        }
        for told in &self.left_alone {
            let _ = writeln!(out, "politeness  {told}");
        }
        for source in &self.sources {
            let due = if source.due { "due" } else { "not due" };
            let last = source.last_complete.as_deref().unwrap_or("never");
            let _ = writeln!(
                out,
                "\n{} ({}, {}): {} pages, {due}\n  last read in full: {last}",
                source.source, source.kind, source.visibility, source.pages
            );
            if let Some(SiteStatus { known, read }) = source.site {
                let _ = writeln!(out, "  {known} pages are known, {read} of them were ever read");
            }
            if source.failed > 0 {
                let _ = writeln!(out, "  {} URLs failed when last looked at", source.failed);
            }
            for trouble in &source.trouble {
                let _ = writeln!(out, "  {trouble}");
            }
        }
        for id in &self.not_configured {
            let _ =
                writeln!(out, "\n{id}: no longer in the configuration; its pages stay as they are");
        }
        for warning in &self.warnings {
            let _ = writeln!(out, "\nwarning: {warning}");
        }
        out
    }
}

/// What needs attention: signs of being served, and limits of hosts.
fn warnings(archive: &Archive, sizes: &Sizes) -> Vec<String> {
    let served = archive.served_signs().into_iter();
    let served = served.map(|fault| format!("{}: {}", fault.place, fault.what));
    served.chain(limits::warnings(sizes)).collect()
}

fn source_status(
    source: &Source,
    state: Option<&State>,
    counts: &[(String, u64)],
    now: Timestamp,
) -> Result<SourceStatus, ReportError> {
    let known = state.map(|state| state.source_status(&source.id)).transpose()?.flatten();
    let due = source.is_due(known.as_ref().map(|(last, _)| *last), now);
    let (mut trouble, mut failed) = (Vec::new(), 0);
    if let Some(state) = state {
        for upstream in state.upstreams(&source.id)? {
            trouble.extend(upstream.trouble.map(|why| format!("{}: {why}", upstream.repository)));
        }
        failed = state.urls_with(&source.id, OutcomeKind::Failed)?.len();
    }
    Ok(SourceStatus {
        source: source.id.to_string(),
        kind: source.kind.name(),
        visibility: match source.visibility {
            Visibility::Public => "public",
            Visibility::Private => "private",
        },
        pages: counts.iter().find(|(id, _)| id == source.id.as_str()).map_or(0, |(_, n)| *n),
        last_complete: known.map(|(last, _)| last.to_string()),
        due,
        trouble,
        failed,
        site: state.map(|state| site_status(source, state)).transpose()?.flatten(),
    })
}

fn site_status(source: &Source, state: &State) -> Result<Option<SiteStatus>, ReportError> {
    if !matches!(source.kind, SourceKind::Site(_)) {
        return Ok(None);
    }
    let (known, read) = state.site_progress(&source.id)?;
    Ok(Some(SiteStatus { known, read }))
}

fn open_run(
    basis: &Basis<'_>,
    state: &State,
    archive: &Archive,
) -> Result<Option<OpenRun>, ReportError> {
    let Some(open) = state.open_crawl()? else { return Ok(None) };
    let standing = if archive.locked_by()?.is_some() {
        "in-progress"
    } else if (basis.run.goes_on)(basis.config, &open, basis.now) {
        "resumable"
    } else {
        "stale"
    };
    Ok(Some(OpenRun {
        run: open.run.0,
        started: open.started.to_string(),
        standing,
        waiting: state.waiting()?,
    }))
}

impl OpenRun {
    fn write(&self, out: &mut String) {
        let Self { run, started, .. } = self;
        let standing = match self.standing {
            "in-progress" => "is in progress",
            "resumable" => "can be gone on with",
            _ => "did not come to its end; the next run commits what it has, and begins anew",
        };
        let waiting: Vec<String> = self
            .waiting
            .iter()
            .map(|(host, source, count)| format!("{count} of {source} on {host}"))
            .collect();
        let waiting = match waiting.as_slice() {
            [] => "no address waits".to_owned(),
            some => format!("addresses that wait: {}", some.join(", ")),
        };
        let _ = writeln!(out, "open run    run {run} of {started} {standing}: {waiting}");
    }
}

fn last_run(state: &State) -> Result<Option<String>, ReportError> {
    let run = state.recent_runs(1)?.into_iter().next();
    Ok(run.map(|run| format!("{} of {}, {}", run.id, run.started, run.phase.name())))
}

/// Bytes of all files below a directory.
fn size_of(path: &Path) -> u64 {
    let Ok(entries) = fs::read_dir(path) else { return 0 };
    entries
        .flatten()
        .map(|entry| match entry.file_type() {
            Ok(kind) if kind.is_dir() => size_of(&entry.path()),
            _ => entry.metadata().map_or(0, |data| data.len()),
        })
        .sum()
}

fn largest_in(path: &Path) -> u64 {
    let Ok(entries) = fs::read_dir(path) else { return 0 };
    entries
        .flatten()
        .filter_map(|entry| entry.metadata().ok())
        .map(|data| data.len())
        .max()
        .unwrap_or(0)
}
