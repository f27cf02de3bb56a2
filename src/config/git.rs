//! Sources of kind `git`.

use std::path::Path;

use super::general::repository;
use super::reader::{Table, plain};
use super::source::{Places, pace};
use super::values;
use crate::model::{GitSource, Repository, UrlMapping};

/// The keys that Git sources have beside those of all sources.
pub(super) const KEYS: &[&str] =
    &["repositories", "branch", "paths", "skip", "base_url", "pace", "keep_upstream"];

pub(super) fn git(table: &mut Table<'_>, places: &mut Places, dir: &Path) -> GitSource {
    let found = table.required_list("repositories", "https://github.com/owner/name.git", |text| {
        repository(dir, text).map(|(_, repository)| repository)
    });
    let found = found.map(|list| list.value).unwrap_or_default();
    places.repositories = found.iter().map(|repository| repository.span.clone()).collect();
    let repositories: Vec<Repository> = found.into_iter().map(|found| found.value).collect();
    let branch = table.text("branch", values::branch).map(|branch| branch.value);
    let paths = plain(table.list("paths", values::repository_path));
    let skip = plain(table.list("skip", values::regex));
    let base = table.text("base_url", values::base_address);
    places.base_url = base.as_ref().map(|base| base.span.clone()).unwrap_or_default();
    let mapping = UrlMapping { base: base.map(|base| base.value), roots: paths.clone() };
    let endpoints = repositories.iter().filter_map(Repository::endpoint);
    let pace = pace(table, endpoints.map(|(host, _)| host.to_owned()));
    let keep_upstream = table.duration("keep_upstream").map(|time| time.value);
    GitSource { repositories, branch, paths, skip, mapping, pace, keep_upstream }
}
