//! Checking an archive against its own format.

use std::collections::HashSet;
use std::fs;
use std::path::Path;

use super::directory::Archive;
use super::error::ArchiveError;
use super::layout::{ARCHIVE_TOML, PageEntry, ROOT_FILES};
use super::leak::LeakGuard;
use super::links::{decode_links, encode_links};
use super::page::{decode_page, encode_page};
use super::reader::Snapshot;
use super::{ObjectId, refs};
use crate::git::Git;
use crate::model::{Page, Repository, TreePath, Visibility};

/// Something that is not as it should be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// Where: a path, a ref or a file.
    pub place: String,
    /// What is wrong, and what to do where something can be done.
    pub what: String,
}

impl Fault {
    pub(crate) fn new(place: impl Into<String>, what: impl Into<String>) -> Self {
        Self { place: place.into(), what: what.into() }
    }
}

/// Checks the directory: Git's own check, left-over files, signs of being served.
///
/// # Errors
/// Git could not be run.
pub fn audit_directory(archive: &Archive, git: &Git) -> Result<Vec<Fault>, ArchiveError> {
    let said = git.fsck(archive.path())?;
    let mut faults: Vec<Fault> =
        said.into_iter().map(|line| Fault::new("git fsck", line)).collect();
    // While a run works, temporary packs are its own.
    let idle = archive.lock(&format!("process {}, looking", std::process::id())).is_ok();
    let mut left_over = if idle { archive.temporary_packs() } else { Vec::new() };
    left_over.extend(archive.upkeep_left_over().filter(|_| idle));
    faults.extend(left_over.iter().map(|path| {
        Fault::new(
            path.display().to_string(),
            "left by a run that was killed; the next run removes it",
        )
    }));
    let alternates = archive.path().join("objects/info/alternates");
    if alternates.exists() {
        let what = "the archive borrows objects from elsewhere; it must hold all of its own";
        faults.push(Fault::new(alternates.display().to_string(), what));
    }
    faults.extend(served_signs(archive.path()));
    Ok(faults)
}

/// Signs that the archive's directory is served by Git, which would hand out private pages.
#[must_use]
pub fn served_signs(path: &Path) -> Vec<Fault> {
    const WHAT: &str =
        "the archive looks served; Git hands out any object by its id. Serve a mirror instead";
    let mut faults = Vec::new();
    if path.join("git-daemon-export-ok").exists() {
        let place = path.join("git-daemon-export-ok").display().to_string();
        faults.push(Fault::new(place, format!("{WHAT}, and remove this file")));
    }
    let full = fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    if ["/srv/www", "/srv/git", "/srv/http", "/var/www", "/usr/share/nginx"]
        .iter()
        .any(|root| full.starts_with(root))
    {
        faults.push(Fault::new(
            full.display().to_string(),
            format!("{WHAT}: it stands where servers look"),
        ));
    }
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        let open = fs::metadata(path).is_ok_and(|data| data.permissions().mode() & 0o005 != 0);
        if open {
            let what = "every user of this machine can read private pages; `chmod o-rwx` closes it";
            faults.push(Fault::new(full.display().to_string(), what));
        }
    }
    faults
}

/// Checks every file of one ref's tip against the format, and of the public ref that
/// nothing private is in it.
///
/// # Errors
/// A tree or blob cannot be read.
pub fn audit_commit(
    archive: &Archive,
    (visibility, commit): (Visibility, ObjectId),
    guard: &LeakGuard,
) -> Result<Vec<Fault>, ArchiveError> {
    let snapshot = Snapshot::open(archive, Some(commit))?;
    let files = snapshot.files("")?;
    let mut faults = Vec::new();
    let (mut pages, mut links) = (HashSet::new(), HashSet::new());
    if !files.iter().any(|(path, _)| path == ARCHIVE_TOML) {
        faults.push(Fault::new(ARCHIVE_TOML, "missing"));
    }
    for (path, id) in files {
        let bytes = snapshot.read(id)?;
        if visibility == Visibility::Public {
            faults.extend(
                guard.check_public_file(&path, &bytes).err().map(|what| Fault::new(&path, what)),
            );
        }
        if let Some(entry) = PageEntry::from_page_path(&path) {
            faults.extend(page_fault(archive, &entry, &bytes).map(|what| Fault::new(&path, what)));
            pages.insert(entry);
        } else if let Some(entry) = PageEntry::from_links_path(&path) {
            let canonical = decode_links(&bytes).is_some_and(|links| encode_links(&links) == bytes);
            if !canonical {
                faults.push(Fault::new(&path, "not a links file of the format"));
            }
            links.insert(entry);
        } else if !ROOT_FILES.contains(&path.as_str()) && !path.starts_with("moved/") {
            faults.push(Fault::new(&path, "no file of the format has this path"));
        }
    }
    let lonely =
        |entry: &&PageEntry| visibility == Visibility::Private || !guard.is_private(&entry.source);
    faults.extend(
        pages.difference(&links).map(|e| Fault::new(e.page_path(), "its links file is missing")),
    );
    let orphans = links.difference(&pages).filter(lonely);
    faults.extend(orphans.map(|e| Fault::new(e.links_path(), "its page is missing")));
    faults.sort_by(|a, b| a.place.cmp(&b.place));
    Ok(faults)
}

/// What is wrong with a page's file.
fn page_fault(archive: &Archive, entry: &PageEntry, bytes: &[u8]) -> Option<String> {
    let page = match decode_page(bytes) {
        Ok(page) => page,
        Err(error) => return Some(error.to_string()),
    };
    if encode_page(&page) != bytes {
        return Some("not written as the format says".to_owned());
    }
    if page.source != entry.source {
        return Some(format!("its front matter names the source {}", page.source));
    }
    let expected = expected_path(archive, &page)?;
    (expected != entry.path).then(|| format!("it belongs at {expected}"))
}

/// The path that a page must have; `None` where its file name cannot be told.
fn expected_path(archive: &Archive, page: &Page) -> Option<TreePath> {
    let Some(git) = &page.git else { return Some(TreePath::of_url(&page.url, archive.case())) };
    let repository = Repository::parse(&git.repository).ok()?;
    let told = !git.file.contains('\u{fffd}');
    told.then(|| TreePath::of_file(&repository, git.file.as_bytes(), archive.case()))
}

/// Compares where a ref is with where it should be.
#[must_use]
pub fn ref_fault(name: &str, expected: Option<ObjectId>, found: Option<ObjectId>) -> Option<Fault> {
    (expected != found).then(|| Fault::new(name, refs::moved(name, expected, found).to_string()))
}
