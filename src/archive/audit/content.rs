//! The bytes of every file at both tips.

use std::borrow::Cow;
use std::collections::BTreeSet;

use super::batches::{Feed, look_at_all};
use super::pairs::{File, Tip};
use super::{Audit, Fault, FaultKind, ref_name, root};
use crate::archive::directory::Archive;
use crate::archive::layout::PageEntry;
use crate::archive::{
    ArchiveError, Snapshot, decode_links, decode_page, encode_links, encode_page, moved_path,
};
use crate::model::{Page, Repository, Representation, SourceId, TreePath, Visibility};

/// Most characters of a title.
const TITLE: usize = 500;

/// Most characters of a link's text.
const LINK_TEXT: usize = 1_000;

/// Tokens of `rel` that are kept, in their order.
const REL: &[&str] = &[
    "alternate",
    "author",
    "canonical",
    "license",
    "next",
    "nofollow",
    "prev",
    "sponsored",
    "ugc",
];

/// Checks every file of both tips. `sources` are all that the archive ever had.
pub(super) fn check(audit: &Audit<'_>, sources: &BTreeSet<SourceId>) -> Result<(), ArchiveError> {
    for visibility in Visibility::BOTH {
        let Some(commit) = audit.heads.of(visibility) else { continue };
        let name = ref_name(visibility);
        audit.watch.stage(&format!("reading the files of {name}"));
        let feed = |feed: &mut Feed<File>| {
            let repository = audit.archive.repository();
            let tip = Tip { audit, repository, visibility };
            let given = tip.each(commit, &mut |file| feed.put(file));
            if let Err(error) = given {
                audit.add_unreadable(name, &error);
            }
        };
        let begin = || Snapshot::open(audit.archive, None);
        look_at_all(audit, feed, begin, |snapshot, file| {
            let Ok(snapshot) = snapshot else { return };
            check_file(audit, snapshot, (visibility, sources), &file);
        });
        root::check_presence(audit, (visibility, commit))?;
    }
    Ok(())
}

fn check_file(
    audit: &Audit<'_>,
    snapshot: &Snapshot,
    (visibility, sources): (Visibility, &BTreeSet<SourceId>),
    file: &File,
) {
    let (path, id) = match file {
        File::Page(entry, id) => (entry.page_path(), *id),
        File::Links(entry, id) => (entry.links_path(), *id),
        File::Other(path, id) => (path.clone(), *id),
    };
    let bytes = match snapshot.read(id) {
        Ok(bytes) => bytes,
        Err(error) => return audit.add_unreadable(&path, &error),
    };
    let fault = match file {
        File::Page(entry, _) => {
            page_fault(audit.archive, entry, &bytes).map(|what| (FaultKind::Page, what))
        }
        File::Links(..) => links_fault(&bytes).map(|what| (FaultKind::Links, what.to_owned())),
        File::Other(path, _) if path.starts_with("moved/") => {
            let known = sources.iter().any(|source| moved_path(source) == *path);
            let what = if known { root::moved_fault(&bytes) } else { Some(UNKNOWN.to_owned()) };
            what.map(|what| (FaultKind::Moved, what))
        }
        File::Other(path, _) => root::fault(audit.archive, (visibility, path), &bytes)
            .map(|what| (FaultKind::Root, what)),
    };
    if let Some((kind, what)) = fault {
        audit.add(Fault::new(kind, path, what));
    }
}

const UNKNOWN: &str = "no commit of the archive knows a source of that name";

/// What is wrong with a page's file.
pub(in crate::archive) fn page_fault(
    archive: &Archive,
    entry: &PageEntry,
    bytes: &[u8],
) -> Option<String> {
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
    if page.title.chars().count() > TITLE || page.title.chars().any(char::is_control) {
        return Some(format!("its title is not one line of at most {TITLE} characters"));
    }
    let body = page.body.as_str();
    if !body.is_empty()
        && (body.starts_with('\n') || !body.ends_with('\n') || body.ends_with("\n\n"))
    {
        return Some("its body does not begin with a line of text and end in one LF".to_owned());
    }
    if body.contains('\r') {
        return Some("its body has a CR".to_owned());
    }
    if page.git.is_none() && page.representation == Representation::Git {
        return Some("its front matter names no repository".to_owned());
    }
    if page.git.as_ref().is_some_and(|git| !is_object_id(&git.commit)) {
        return Some("its front matter names no upstream commit".to_owned());
    }
    let expected = expected_path(archive, &page)?;
    (expected != entry.path).then(|| format!("it belongs at {expected}"))
}

fn is_object_id(text: &str) -> bool {
    matches!(text.len(), 40 | 64) && text.bytes().all(|b| matches!(b, b'0'..=b'9' | b'a'..=b'f'))
}

/// The path that a page must have; `None` where its file name cannot be told.
fn expected_path(archive: &Archive, page: &Page) -> Option<TreePath> {
    let Some(git) = &page.git else { return Some(TreePath::of_url(&page.url, archive.case())) };
    let repository = Repository::parse(&address(&git.repository)).ok()?;
    let told = !git.file.contains('\u{fffd}');
    told.then(|| TreePath::of_file(&repository, git.file.as_bytes(), archive.case()))
}

/// The address that a repository was read from: one that was local is shown by its name alone.
fn address(shown: &str) -> Cow<'_, str> {
    let name = shown.strip_prefix("https://").and_then(|it| it.strip_suffix(".git.invalid/"));
    name.map_or(Cow::Borrowed(shown), |name| Cow::Owned(format!("/{name}.git")))
}

/// What is wrong with a links file.
pub(in crate::archive) fn links_fault(bytes: &[u8]) -> Option<&'static str> {
    let Some(links) = decode_links(bytes) else { return Some("not a links file of the format") };
    if encode_links(&links) != bytes {
        return Some("not a links file of the format: not sorted, or not written as it says");
    }
    for link in &links {
        if link.text.chars().count() > LINK_TEXT {
            return Some("a link has more than 1,000 characters of text");
        }
        let mut rest = REL.iter();
        let words = || link.rel.split(' ').filter(|_| !link.rel.is_empty());
        if !words().all(|word| rest.any(|token| *token == word)) {
            return Some("the `rel` of a link is not of the format");
        }
    }
    None
}
