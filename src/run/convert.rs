//! Turning files of an upstream into encoded pages, on all cores, in order.

use std::panic::resume_unwind;
use std::sync::{Mutex, PoisonError};
use std::thread::{self, ScopedJoinHandle};

use super::git::{Reading, held_back, keep};
use super::pass::Pass;
use super::{RunError, SourceReport};
use crate::archive::{
    ArchiveError, EncodedPage, Encoder, LeakGuard, ObjectId, PageEntry, Sketch, Writer,
    decode_page, sketch,
};
use crate::extract::{Document, Markup, NotText, extract};
use crate::fetch::{BlobReader, ReadFailure, Upstream};
use crate::model::{
    GitOrigin, Link, Note, Outcome, OutcomeKind, Page, PageUrl, Representation, Resolve, Timestamp,
    Visibility,
};

/// Documents that are converted and then put into the archive together.
pub(super) const BATCH: usize = 256;

/// The largest file that is converted, in bytes.
const LARGEST: u64 = 16 << 20;

/// The first line of a pointer file (Git LFS specification, version 1).
const LFS_POINTER: &[u8] = b"version https://git-lfs.github.com/spec/v1";

/// A file to convert.
pub(super) struct Item {
    pub path: Vec<u8>,
    pub blob: ObjectId,
    pub entry: PageEntry,
    pub representation: Representation,
    /// The page that is archived now.
    pub old: Option<ObjectId>,
}

/// The snapshot that files are read from.
pub(super) struct Job<'a> {
    pub upstream: &'a Upstream,
    pub commit: &'a str,
    pub rule: Rule,
}

/// What a conversion means for the time at which a text was first read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Rule {
    /// A text that differs from the archive's was read now.
    Read,
    /// The same bytes are converted again: whatever comes out was read then.
    Again,
}

/// What became of one file.
pub(super) enum Conversion {
    Page(Box<ReadPage>),
    /// What the archive has stays.
    Kept(Outcome),
}

/// A page ready to be put.
pub(super) struct ReadPage {
    url: String,
    encoded: EncodedPage,
    sketch: Option<Sketch>,
    notes: Vec<Note>,
}

/// What one thread works with.
struct Worker {
    blobs: BlobReader,
    encoder: Encoder,
}

/// Everything that the threads share.
struct Shared<'a> {
    reading: &'a Reading<'a>,
    job: &'a Job<'a>,
    guard: &'a LeakGuard,
    started: Timestamp,
    idle: Mutex<Vec<Worker>>,
    archive: &'a crate::archive::Archive,
}

/// Gives the files to convert next, at most [`BATCH`]; none where there are no more.
pub(super) type NextBatch<'a> =
    &'a mut dyn FnMut(&mut Pass<'_>, &mut SourceReport) -> Result<Vec<Item>, RunError>;

/// Converts so many files and puts what they became.
pub(super) fn convert(
    pass: &mut Pass<'_>,
    (reading, job): (&Reading<'_>, &Job<'_>),
    (documents, next): (usize, NextBatch<'_>),
    (guard, report): (&mut LeakGuard, &mut SourceReport),
) -> Result<(), RunError> {
    let shared = Shared {
        reading,
        job,
        guard,
        started: pass.started,
        idle: Mutex::default(),
        archive: pass.archive,
    };
    let threads = thread::available_parallelism().map_or(1, usize::from);
    pass.context
        .progress
        .stage(&reading.source.id, &format!("converting {}", reading.repository.address()));
    let mut sketches = Vec::new();
    let mut done = 0;
    thread::scope(|scope| -> Result<(), RunError> {
        let mut running: Vec<ScopedJoinHandle<'_, Result<Vec<_>, RunError>>> = Vec::new();
        loop {
            // The next batch is converted while this one is put, and never more than that.
            let mut batch = next(pass, report)?;
            let mut results = Vec::new();
            for thread in std::mem::take(&mut running) {
                results.extend(thread.join().unwrap_or_else(|panic| resume_unwind(panic))?);
            }
            let is_last = batch.is_empty();
            while !batch.is_empty() {
                let rest = batch.split_off(batch.len().min(BATCH.div_ceil(threads)));
                let part = std::mem::replace(&mut batch, rest);
                let shared = &shared;
                running.push(scope.spawn(move || shared.convert_all(part)));
            }
            done += results.len();
            for (item, conversion) in results {
                put(pass, (reading, &item), conversion, (report, &mut sketches))?;
            }
            pass.context.progress.advance(done, documents);
            pass.check_interrupt()?;
            if is_last {
                return Ok(());
            }
        }
    })?;
    tracing::info!(source = %reading.source.id, documents = done, "converted");
    for (url, sketch) in sketches {
        guard.add(&url, &sketch);
    }
    Ok(())
}

/// Puts one conversion into the next commit.
fn put(
    pass: &mut Pass<'_>,
    (reading, item): (&Reading<'_>, &Item),
    conversion: Conversion,
    (report, sketches): (&mut SourceReport, &mut Vec<(String, Sketch)>),
) -> Result<(), RunError> {
    match conversion {
        Conversion::Kept(outcome) => keep(pass, reading, (&item.path, outcome), report)?,
        Conversion::Page(page) => {
            let ReadPage { url, encoded, sketch, notes } = *page;
            report.notes.extend(notes.into_iter().map(|note| (url.clone(), note)));
            sketches.extend(sketch.clone().map(|sketch| (url.clone(), sketch)));
            pass.put((reading.source, &item.entry), encoded, (url, sketch), report)?;
        }
    }
    Ok(())
}

impl Shared<'_> {
    fn convert_all(&self, items: Vec<Item>) -> Result<Vec<(Item, Conversion)>, RunError> {
        let idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner).pop();
        let mut worker = idle.unwrap_or_else(|| Worker {
            blobs: self.job.upstream.reader(),
            encoder: Writer::encoder(self.archive),
        });
        let convert = |item: Item| {
            let conversion = self.convert_one(&mut worker, &item)?;
            Ok((item, conversion))
        };
        let results = items.into_iter().map(convert).collect();
        self.idle.lock().unwrap_or_else(PoisonError::into_inner).push(worker);
        results
    }

    fn convert_one(&self, worker: &mut Worker, item: &Item) -> Result<Conversion, RunError> {
        let kept = |kind, reason: String| Ok(Conversion::Kept(Outcome::new(kind, reason)));
        let bytes = match worker.blobs.read(item.blob, LARGEST) {
            Ok(bytes) => bytes,
            Err(
                failure @ (ReadFailure::Missing
                | ReadFailure::TooLarge(_)
                | ReadFailure::Damaged(_)),
            ) => {
                return kept(OutcomeKind::Failed, failure.to_string());
            }
        };
        if bytes.len() < 1024 && bytes.starts_with(LFS_POINTER) {
            let why = "a Git LFS pointer: its content is kept elsewhere and is not read";
            return kept(OutcomeKind::Skipped, why.to_owned());
        }
        let file = self.reading.file(&item.path);
        let url = match file.url() {
            Ok(url) => url,
            Err(refusal) => return kept(OutcomeKind::Failed, refusal.to_string()),
        };
        let (page, links, notes) = match self.read_page(item, &bytes, (&file, url)) {
            Ok(read) => read,
            Err(NotText::Binary) => return kept(OutcomeKind::Skipped, NotText::Binary.to_string()),
            Err(other) => return kept(OutcomeKind::Failed, other.to_string()),
        };
        let visibility = self.reading.source.visibility;
        if visibility == Visibility::Public
            && let Some(private) = self.guard.resembles(&page.body)
        {
            return Ok(Conversion::Kept(held_back(private)));
        }
        let page = self.with_first_reading(worker, item, page)?;
        let sketch = (visibility == Visibility::Private).then(|| sketch(&page.body));
        let encoded = worker.encoder.encode(&item.entry, (&page, &links), visibility, self.guard);
        let encoded = match encoded {
            Err(error @ ArchiveError::Format { .. }) => {
                return kept(OutcomeKind::Failed, error.to_string());
            }
            other => other?,
        };
        let url = page.url.to_string();
        Ok(Conversion::Page(Box::new(ReadPage { url, encoded, sketch, notes })))
    }
}

impl Shared<'_> {
    /// Reads a file as a page that was first read now.
    fn read_page(
        &self,
        item: &Item,
        bytes: &[u8],
        (file, url): (&dyn Resolve, PageUrl),
    ) -> Result<(Page, Vec<Link>, Vec<Note>), NotText> {
        let name = item.path.rsplit(|byte| *byte == b'/').next().unwrap_or(&item.path);
        let name = String::from_utf8_lossy(name);
        let markup = match item.representation {
            Representation::Text => Markup::Text,
            _ => Markup::Markdown,
        };
        let noise = &self.reading.noise;
        let extracted = extract(&Document { bytes, markup, name: &name, base: file, noise })?;
        let source = self.reading.source;
        let page = Page {
            url,
            title: extracted.title,
            source: source.id.clone(),
            licence: source.licence.clone(),
            retrieved: self.started,
            representation: item.representation,
            git: Some(GitOrigin {
                repository: self.reading.repository.address().to_owned(),
                file: String::from_utf8_lossy(&item.path).into_owned(),
                commit: self.job.commit.to_owned(),
            }),
            upstream: extracted.upstream,
            body: extracted.body,
        };
        Ok((page, extracted.links, extracted.notes))
    }

    /// The page with the time at which its text was first read, where the archive has that
    /// text already.
    fn with_first_reading(
        &self,
        worker: &Worker,
        item: &Item,
        page: Page,
    ) -> Result<Page, RunError> {
        let Some(old) = item.old else { return Ok(page) };
        let bytes = worker.encoder.read(old)?;
        // A page that cannot be read, which `audit` tells of, is replaced like any other.
        let Ok(older) = decode_page(&bytes) else { return Ok(page) };
        let keeps = self.job.rule == Rule::Again || page.same_text(&older);
        Ok(if keeps { page.first_read_as(&older) } else { page })
    }
}
