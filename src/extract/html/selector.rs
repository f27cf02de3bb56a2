//! A small part of CSS selectors: `tag`, `.class`, `#id`, `[attr]`, `[attr=value]`, several
//! of them together, below another (` `) or directly below it (`>`), and lists (`,`).

use std::collections::HashMap;

use super::dom::{Id, Tree};

/// Elements that a configuration names.
#[derive(Clone, Debug, Default)]
pub(super) struct SelectorList {
    selectors: Vec<Selector>,
    /// Those whose last step asks for a class, an id or a name, by that.
    by_class: HashMap<String, Vec<usize>>,
    by_id: HashMap<String, Vec<usize>>,
    by_name: HashMap<String, Vec<usize>>,
    /// The others.
    rest: Vec<usize>,
}

/// A text that is no selector of the kind that is understood.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "`{0}` is not understood as a selector: use tag, .class, #id, [attr], [attr=value], spaces and >"
)]
pub struct InvalidSelector(String);

#[derive(Clone, Debug)]
struct Selector {
    /// From the outermost; at most 32.
    steps: Vec<Step>,
}

#[derive(Clone, Debug, Default)]
struct Step {
    /// Whether it stands directly below the one before.
    direct: bool,
    tests: Vec<Test>,
}

#[derive(Clone, Debug)]
enum Test {
    Any,
    Name(String),
    Class(String),
    Has(String),
    Is(String, String),
}

impl SelectorList {
    /// Reads selectors, each of which may be a list.
    pub(super) fn new<'a>(
        texts: impl IntoIterator<Item = &'a str>,
    ) -> Result<Self, InvalidSelector> {
        let mut selectors = Vec::new();
        for text in texts {
            for part in split_list(text) {
                let read = Selector::read(part.trim());
                selectors.push(read.ok_or_else(|| InvalidSelector(text.to_owned()))?);
            }
        }
        let mut list = Self::default();
        for (n, selector) in selectors.iter().enumerate() {
            list.file(n, selector);
        }
        list.selectors = selectors;
        Ok(list)
    }

    /// Files a selector under something that an element has to have to be matched, as rare
    /// as possible.
    fn file(&mut self, n: usize, selector: &Selector) {
        let tests = selector.steps.last().map(|step| step.tests.as_slice()).unwrap_or_default();
        let find = |key: fn(&Test) -> Option<&String>| tests.iter().find_map(key).cloned();
        let class = find(|test| if let Test::Class(class) = test { Some(class) } else { None });
        let own = find(|test| match test {
            Test::Is(name, value) if name == "id" => Some(value),
            _ => None,
        });
        let name = find(|test| if let Test::Name(name) = test { Some(name) } else { None });
        let numbers = match (own, class, name) {
            (Some(key), _, _) => self.by_id.entry(key).or_default(),
            (None, Some(key), _) => self.by_class.entry(key).or_default(),
            (None, None, Some(key)) => self.by_name.entry(key).or_default(),
            (None, None, None) => &mut self.rest,
        };
        numbers.push(n);
    }

    pub(super) fn matches(&self, tree: &Tree, id: Id) -> bool {
        self.matching(tree, id).next().is_some()
    }

    /// The numbers of the selectors that match an element, in no order.
    pub(super) fn matching(&self, tree: &Tree, id: Id) -> impl Iterator<Item = usize> {
        let slice = Vec::as_slice;
        let name = self.by_name.get(tree.name(id)).map(slice).unwrap_or_default();
        let own = tree.attribute(id, "id").and_then(|it| self.by_id.get(it));
        let own = own.map(slice).unwrap_or_default();
        let classes = tree.classes(id).filter_map(|it| self.by_class.get(it)).flatten();
        let all = name.iter().chain(own).chain(classes).chain(&self.rest).copied();
        all.filter(move |n| self.selectors[*n].matches(tree, id))
    }

    /// Each selector by itself, in order.
    pub(super) fn each(&self) -> impl Iterator<Item = impl Fn(&Tree, Id) -> bool> {
        self.selectors.iter().map(|selector| |tree: &Tree, id| selector.matches(tree, id))
    }
}

/// Splits at commas outside of brackets.
fn split_list(text: &str) -> Vec<&str> {
    let mut inside = false;
    text.split(move |c| {
        inside = c == '[' || (inside && c != ']');
        c == ',' && !inside
    })
    .collect()
}

impl Selector {
    fn read(text: &str) -> Option<Self> {
        let mut steps = vec![Step::default()];
        let mut rest = text;
        while let Some(c) = rest.chars().next() {
            if c.is_ascii_whitespace() || c == '>' {
                let gap = rest.len() - rest.trim_start_matches([' ', '\t', '\n', '>']).len();
                let direct = rest[..gap].matches('>').count();
                if steps.last()?.tests.is_empty() || direct > 1 {
                    return None;
                }
                steps.push(Step { direct: direct == 1, tests: Vec::new() });
                rest = &rest[gap..];
                continue;
            }
            let (test, length) = Test::read(rest)?;
            steps.last_mut()?.tests.push(test);
            rest = &rest[length..];
        }
        let complete = steps.len() <= 32 && steps.iter().all(|step| !step.tests.is_empty());
        complete.then_some(Self { steps })
    }

    fn matches(&self, tree: &Tree, id: Id) -> bool {
        let Some((last, above)) = self.steps.split_last() else { return false };
        if !last.matches(tree, id) {
            return false;
        }
        if above.is_empty() {
            return true;
        }
        let mut path: Vec<Id> = std::iter::successors(tree.parent(id), |it| tree.parent(*it))
            .filter(|it| tree.tag(*it).is_some())
            .collect();
        path.reverse();
        // Bit n: the first n steps are found above here; in `here`, the last of them just here.
        let mut found = 1_u64;
        let mut here = 0_u64;
        for ancestor in path {
            let mut next = 0_u64;
            for (n, step) in above.iter().enumerate() {
                let before = if step.direct { here } else { found };
                if before & (1 << n) != 0 && step.matches(tree, ancestor) {
                    next |= 2 << n;
                }
            }
            here = next;
            found |= next;
        }
        let before = if last.direct { here } else { found };
        before & (1 << above.len()) != 0
    }
}

impl Step {
    fn matches(&self, tree: &Tree, id: Id) -> bool {
        self.tests.iter().all(|test| match test {
            Test::Any => true,
            Test::Name(name) => tree.name(id) == name,
            Test::Class(class) => tree.has_class(id, class),
            Test::Has(name) => tree.has_attribute(id, name),
            Test::Is(name, value) => tree.attribute(id, name) == Some(value),
        })
    }
}

impl Test {
    /// Reads one test; how many bytes it takes.
    fn read(text: &str) -> Option<(Self, usize)> {
        let named = |text: &str| {
            let inside = |c: char| c.is_alphanumeric() || matches!(c, '-' | '_') || !c.is_ascii();
            let end = text.find(|c| !inside(c)).unwrap_or(text.len());
            (end > 0).then(|| text[..end].to_owned())
        };
        let rest = &text[1.min(text.len())..text.len()];
        match text.as_bytes().first()? {
            b'*' => Some((Self::Any, 1)),
            b'.' => {
                named(rest).map(|name| (1 + name.len(), name)).map(|(n, it)| (Self::Class(it), n))
            }
            b'#' => named(rest)
                .map(|name| (1 + name.len(), name))
                .map(|(n, it)| (Self::Is("id".to_owned(), it), n)),
            b'[' => {
                let end = rest.find(']')?;
                let (name, value) = match rest[..end].split_once('=') {
                    Some((name, value)) => (name, Some(value)),
                    None => (&rest[..end], None),
                };
                let name = named(name.trim()).filter(|it| it.len() == name.trim().len())?;
                let name = name.to_ascii_lowercase();
                let test = match value.map(str::trim) {
                    Some(value) => Self::Is(name, value.trim_matches(['"', '\'']).to_owned()),
                    None => Self::Has(name),
                };
                Some((test, end + 2))
            }
            _ => named(text).map(|name| (Self::Name(name.to_ascii_lowercase()), name.len())),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::parse::parse;
    use super::*;

    const PAGE: &str = "<main id=m><div class='a b' data-x='1 2'><p id=p1><b id=b1></b></p></div>\
        <p id=p2 hidden></p></main><div class=a><p id=p3></p></div>";

    fn ids(selector: &str) -> Vec<String> {
        let tree = parse(PAGE).tree;
        let list = SelectorList::new([selector]).unwrap();
        tree.elements()
            .filter(|id| list.matches(&tree, *id))
            .map(|id| tree.attribute(id, "id").unwrap_or(tree.name(id)).to_owned())
            .collect()
    }

    #[test]
    fn what_is_matched() {
        let cases: [(&str, &[&str]); 17] = [
            ("p", &["p1", "p2", "p3"]),
            ("#p2", &["p2"]),
            (".a", &["div", "div"]),
            (".a.b", &["div"]),
            ("div.b p", &["p1"]),
            ("main p", &["p1", "p2"]),
            ("main > p", &["p2"]),
            ("main>div>p", &["p1"]),
            ("body main b", &["b1"]),
            ("main > b", &[]),
            ("div > b", &[]),
            ("[hidden]", &["p2"]),
            ("[data-x='1 2']", &["div"]),
            ("p[hidden], #b1", &["b1", "p2"]),
            ("DIV > p", &["p1", "p3"]),
            ("main *", &["div", "p1", "b1", "p2"]),
            ("[id=p3]", &["p3"]),
        ];
        for (selector, expected) in cases {
            assert_eq!(ids(selector), expected, "{selector}");
        }
    }

    #[test]
    fn what_is_not_understood() {
        for text in ["", "a,", "a:hover", "> a", "a >", "a > > b", "[", "[=x]", "a + b", ".", "#"] {
            assert!(SelectorList::new([text]).is_err(), "{text}");
        }
    }
}
