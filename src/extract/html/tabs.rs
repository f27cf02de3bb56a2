//! Tabs: every panel is shown, under the label that its tab had.

use std::collections::{HashMap, HashSet};

use super::dom::{Id, Tree};

/// The labels of panels, and the lists of tabs that they make superfluous.
#[derive(Default)]
pub(super) struct Tabs {
    labels: HashMap<Id, String>,
    lists: HashSet<Id>,
}

impl Tabs {
    pub(super) fn find(tree: &Tree) -> Self {
        let role = |id: Id, role: &str| tree.attribute(id, "role") == Some(role);
        let panels: Vec<Id> = tree.elements().filter(|id| role(*id, "tabpanel")).collect();
        let mut found = Self::default();
        if panels.is_empty() {
            return found;
        }
        let mut at = 0;
        for list in tree.elements().filter(|id| role(*id, "tablist")) {
            let tabs: Vec<Id> = tree.all_below(list).filter(|id| role(*id, "tab")).collect();
            // The panels of a list of tabs follow it, in the order of the tabs.
            while panels.get(at).is_some_and(|panel| *panel < list) {
                at += 1;
            }
            let mut complete = !tabs.is_empty();
            let mut shown: Vec<(Id, String)> = Vec::new();
            for (n, tab) in tabs.iter().enumerate() {
                let label = tree.plain_text(*tab);
                let named = tree.attribute(*tab, "aria-controls").and_then(|name| {
                    let here = panels[at..].iter().take(64);
                    here.copied().find(|it| tree.attribute(*it, "id") == Some(name))
                });
                match named.or_else(|| panels.get(at + n).copied()) {
                    Some(panel) => shown.push((panel, label)),
                    None => complete = false,
                }
            }
            // Tabs that all lead to one panel choose what of it is shown: none names it.
            let is_filter = shown.len() > 1 && shown.iter().all(|(it, _)| *it == shown[0].0);
            if !is_filter {
                for (panel, label) in shown {
                    found.labels.entry(panel).or_insert(label);
                }
            }
            if complete {
                found.lists.insert(list);
            }
        }
        found
    }

    pub(super) fn label(&self, panel: Id) -> Option<String> {
        self.labels.get(&panel).filter(|label| !label.trim().is_empty()).cloned()
    }

    pub(super) fn is_list(&self, id: Id) -> bool {
        self.lists.contains(&id)
    }
}
