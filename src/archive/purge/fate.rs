//! What becomes of each entry of a tree when pages are taken out of it. Pure.
//!
//! The wishes of a takedown are made one small tree of rules, which stands beside the trees
//! of all commits: a directory that no rule reaches is never opened.

use std::collections::{BTreeMap, BTreeSet};

use super::Takedown;
use crate::archive::layout::PageEntry;
use crate::model::{SourceId, Visibility};

/// Number of a rule.
pub(super) type Rule = usize;

/// The rule of the root of a tree.
pub(super) const ROOT: Rule = 0;

/// What a rule says of an entry.
#[derive(Debug)]
pub(super) enum Fate {
    /// It goes, with all that is below it.
    Remove,
    /// The file, or each file below the directory, is written anew.
    Edit(Edit),
    /// A directory in which rules speak of some entries, and one of all others.
    Among { named: BTreeMap<Vec<u8>, Rule>, others: Option<Rule> },
}

/// How a file is written anew.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Edit {
    /// Links that lead to what was taken down go.
    LinksElsewhere,
    /// Redirects from or to what was taken down go.
    MovedElsewhere,
    /// Only the first columns are kept: those that hold URLs.
    UrlsOnly(usize),
}

/// The rules of one ref.
#[derive(Debug)]
pub(super) struct Fates<'a> {
    rules: Vec<Fate>,
    urls: &'a BTreeSet<String>,
}

impl<'a> Fates<'a> {
    /// The rules that a takedown comes to on one ref.
    pub fn of(takedown: &'a Takedown, visibility: Visibility) -> Self {
        let mut fates = Self { rules: Vec::new(), urls: &takedown.urls };
        fates.push(Fate::Among { named: BTreeMap::new(), others: None });
        for source in &takedown.sources {
            fates.source(source, [Fate::Remove, Fate::Remove, Fate::Remove]);
        }
        for PageEntry { source, path } in &takedown.pages {
            for (top, path) in [("pages", path.to_string()), ("links", path.links())] {
                fates.set(&format!("{top}/{source}/{path}"), Fate::Remove);
            }
        }
        if visibility == Visibility::Public {
            for source in &takedown.made_private {
                let edits = [Edit::UrlsOnly(1), Edit::UrlsOnly(2)].map(Fate::Edit);
                let [links, moved] = edits;
                fates.source(source, [Fate::Remove, links, moved]);
            }
        }
        if !takedown.urls.is_empty() {
            fates.others("moved", Edit::MovedElsewhere);
            if takedown.links == super::LinksTo::Remove {
                fates.others("links", Edit::LinksElsewhere);
            }
        }
        fates
    }

    /// What a rule says.
    pub fn fate(&self, rule: Rule) -> &Fate {
        &self.rules[rule]
    }

    /// The file as it is written anew; `None` where nothing is left of it.
    pub fn edited(&self, edit: Edit, bytes: &[u8]) -> Option<Vec<u8>> {
        let named =
            |cell: &[u8]| std::str::from_utf8(cell).is_ok_and(|url| self.urls.contains(url));
        let mut lines = bytes.split_inclusive(|byte| *byte == b'\n');
        let mut out = lines.next().unwrap_or_default().to_vec();
        let head = out.len();
        let mut seen = BTreeSet::new();
        for line in lines {
            let cells = line.strip_suffix(b"\n").unwrap_or(line).split(|byte| *byte == b'\t');
            match edit {
                Edit::LinksElsewhere if cells.clone().take(1).any(named) => {}
                Edit::MovedElsewhere if cells.clone().take(2).any(named) => {}
                Edit::LinksElsewhere | Edit::MovedElsewhere => out.extend_from_slice(line),
                Edit::UrlsOnly(columns) => {
                    let total = cells.clone().count();
                    let mut kept: Vec<u8> = cells.take(columns).collect::<Vec<_>>().join(&b'\t');
                    kept.extend(std::iter::repeat_n(b'\t', total.saturating_sub(columns)));
                    kept.push(b'\n');
                    // Two links to one address are one without their texts.
                    if seen.insert(kept.clone()) {
                        out.extend_from_slice(&kept);
                    }
                }
            }
        }
        let goes = edit == Edit::MovedElsewhere && out.len() == head;
        (!goes).then_some(out)
    }

    /// Sets what becomes of pages, links and redirects of a source.
    fn source(&mut self, source: &SourceId, [pages, links, moved]: [Fate; 3]) {
        self.set(&format!("pages/{source}"), pages);
        self.set(&format!("links/{source}"), links);
        self.set(&format!("moved/{source}.tsv"), moved);
    }

    /// Sets what becomes of the entry at a path, unless something above it goes.
    fn set(&mut self, path: &str, fate: Fate) {
        let Some(rule) = self.at(path) else { return };
        if !matches!(self.rules[rule], Fate::Remove) {
            self.rules[rule] = fate;
        }
    }

    /// Sets what becomes of all files below a directory of which nothing else is said.
    fn others(&mut self, path: &str, edit: Edit) {
        let all = self.push(Fate::Edit(edit));
        let mut open: Vec<Rule> = self.at(path).into_iter().collect();
        while let Some(rule) = open.pop() {
            if let Fate::Among { named, others } = &mut self.rules[rule] {
                *others = Some(all);
                open.extend(named.values());
            }
        }
    }

    /// The rule of the entry at a path, made where there is none; `None` where something
    /// above it has another fate.
    fn at(&mut self, path: &str) -> Option<Rule> {
        let mut rule = ROOT;
        for name in path.split('/') {
            let next = self.rules.len();
            let Fate::Among { named, .. } = &mut self.rules[rule] else { return None };
            rule = *named.entry(name.as_bytes().to_vec()).or_insert(next);
            if rule == next {
                self.push(Fate::Among { named: BTreeMap::new(), others: None });
            }
        }
        Some(rule)
    }

    fn push(&mut self, fate: Fate) -> Rule {
        self.rules.push(fate);
        self.rules.len() - 1
    }
}
