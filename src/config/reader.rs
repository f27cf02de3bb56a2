//! Reads one table of a TOML document key by key and goes on after a mistake.
//!
//! A getter takes its key, records what is wrong with the value and answers `None`. What
//! nobody asked for is refused at the end, with the nearest key that was asked for.

use std::collections::BTreeMap;
use std::ops::{Range, RangeInclusive};
use std::time::Duration;

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::faults::{Complaint, Faults, quote};
use super::nearest::nearest;
use super::values::duration;

/// A value with the bytes of the file that it was read from.
#[derive(Clone, Debug)]
pub(super) struct Located<T> {
    pub value: T,
    pub span: Range<usize>,
}

/// The values of a list, each with its place.
pub(super) type List<T> = Located<Vec<Located<T>>>;

/// The values of a list without their places; an absent list is empty.
pub(super) fn plain<T>(list: Option<List<T>>) -> Vec<T> {
    let items = list.map(|list| list.value).unwrap_or_default();
    items.into_iter().map(|item| item.value).collect()
}

/// A table that is being read.
pub(super) struct Table<'a> {
    name: &'static str,
    span: Range<usize>,
    entries: BTreeMap<&'a str, (Range<usize>, &'a Spanned<DeValue<'a>>)>,
    asked: Vec<&'static str>,
    faults: &'a Faults,
}

impl<'a> Table<'a> {
    /// Begins to read `table`, which messages call `name` and which stands at `span`.
    pub fn new(
        name: &'static str,
        span: Range<usize>,
        table: &'a DeTable<'a>,
        faults: &'a Faults,
    ) -> Self {
        let entry = |(key, value): (&'a Spanned<_>, _)| {
            let text: &'a std::borrow::Cow<'a, str> = key.get_ref();
            (&**text, (key.span(), value))
        };
        let entries = table.iter().map(entry).collect();
        Self { name, span, entries, asked: Vec::new(), faults }
    }

    /// A table that is not there, for messages about what it should hold.
    pub fn absent(name: &'static str, faults: &'a Faults) -> Self {
        Self { name, span: 0..0, entries: BTreeMap::new(), asked: Vec::new(), faults }
    }

    /// Where the table begins.
    pub fn span(&self) -> Range<usize> {
        self.span.clone()
    }

    /// Where mistakes are recorded.
    pub fn faults(&self) -> &'a Faults {
        self.faults
    }

    fn take(&mut self, key: &'static str) -> Option<&'a Spanned<DeValue<'a>>> {
        self.asked.push(key);
        self.entries.remove(key).map(|(_, value)| value)
    }

    fn refuse(&self, key: &str, span: Range<usize>, complaint: Complaint) {
        let message = format!("`{key}`: {}", complaint.message);
        self.faults.add(span, Complaint { message, hint: complaint.hint });
    }

    /// Records that a key that must be given is not there.
    pub fn missing(&self, key: &str, example: &str) {
        let message = format!("`{key}` is missing in {}", self.name);
        let hint = format!("it has no default; write for instance {key} = {example}");
        self.faults.add(self.span(), Complaint::new(message, hint));
    }

    fn wrong_type(&self, key: &str, value: &Spanned<DeValue<'_>>, wanted: &str, hint: &str) {
        let message = format!("expected {wanted}, found {}", type_name(value.get_ref()));
        self.refuse(key, value.span(), Complaint::new(message, hint));
    }

    /// Where the value of a key stands, if it is given.
    pub fn place(&self, key: &str) -> Option<Range<usize>> {
        self.entries.get(key).map(|(_, value)| value.span())
    }

    /// A text that passes `check`.
    pub fn text<T>(
        &mut self,
        key: &'static str,
        check: impl FnOnce(&str) -> Result<T, Complaint>,
    ) -> Option<Located<T>> {
        let value = self.take(key)?;
        let Some(text) = value.get_ref().as_str() else {
            self.wrong_type(key, value, "a text", &format!("write {key} = \"…\""));
            return None;
        };
        match check(text) {
            Ok(checked) => Some(Located { value: checked, span: value.span() }),
            Err(complaint) => {
                self.refuse(key, value.span(), complaint);
                None
            }
        }
    }

    /// A text that passes `check` and must be given.
    pub fn required_text<T>(
        &mut self,
        key: &'static str,
        example: &str,
        check: impl FnOnce(&str) -> Result<T, Complaint>,
    ) -> Option<Located<T>> {
        if !self.entries.contains_key(key) {
            self.missing(key, &format!("\"{example}\""));
        }
        self.text(key, check)
    }

    /// A list of texts that pass `check`; those that do not are left out.
    pub fn list<T>(
        &mut self,
        key: &'static str,
        check: impl Fn(&str) -> Result<T, Complaint>,
    ) -> Option<List<T>> {
        let value = self.take(key)?;
        let Some(array) = value.get_ref().as_array() else {
            let found = value.get_ref().as_str().map_or_else(|| "\"…\"".to_owned(), quoted);
            self.wrong_type(key, value, "a list of texts", &format!("write {key} = [{found}]"));
            return None;
        };
        let mut items = Vec::new();
        for item in array {
            let Some(text) = item.get_ref().as_str() else {
                self.wrong_type(key, item, "a text in the list", "put it in quotes");
                continue;
            };
            match check(text) {
                Ok(value) => items.push(Located { value, span: item.span() }),
                Err(complaint) => self.refuse(key, item.span(), complaint),
            }
        }
        Some(Located { value: items, span: value.span() })
    }

    /// A list that must be given and hold at least one text.
    pub fn required_list<T>(
        &mut self,
        key: &'static str,
        example: &str,
        check: impl Fn(&str) -> Result<T, Complaint>,
    ) -> Option<List<T>> {
        let example = format!("[\"{example}\"]");
        match self.entries.get(key).map(|(_, value)| value) {
            None => self.missing(key, &example),
            Some(value) if value.get_ref().as_array().is_some_and(|list| list.is_empty()) => {
                let hint = format!("write for instance {key} = {example}");
                self.refuse(key, value.span(), Complaint::new("the list is empty", hint));
            }
            Some(_) => {}
        }
        self.list(key, check)
    }

    /// `true` or `false`.
    pub fn flag(&mut self, key: &'static str) -> Option<bool> {
        let value = self.take(key)?;
        let flag = value.get_ref().as_bool();
        if flag.is_none() {
            let hint = format!("write {key} = true or {key} = false, without quotes");
            self.wrong_type(key, value, "true or false", &hint);
        }
        flag
    }

    /// `true` or `false`, which must be given.
    pub fn required_flag(&mut self, key: &'static str) -> Option<bool> {
        if !self.entries.contains_key(key) {
            self.missing(key, "false");
        }
        self.flag(key)
    }

    /// A whole number in `range`.
    pub fn number(&mut self, key: &'static str, range: RangeInclusive<u64>) -> Option<u64> {
        let value = self.take(key)?;
        let hint = format!("write a whole number from {} to {}", range.start(), range.end());
        let Some(integer) = value.get_ref().as_integer() else {
            self.wrong_type(key, value, "a whole number", &hint);
            return None;
        };
        let number = u64::from_str_radix(integer.as_str(), integer.radix()).ok();
        let number = number.filter(|number| range.contains(number));
        if number.is_none() {
            let message = format!("{} is out of range", quote(integer.as_str()));
            self.refuse(key, value.span(), Complaint::new(message, hint));
        }
        number
    }

    /// A length of time, as `"12h"`; the number 0 needs no unit.
    pub fn duration(&mut self, key: &'static str) -> Option<Located<Duration>> {
        let zero = self.entries.get(key).and_then(|(_, value)| {
            let integer = value.get_ref().as_integer()?;
            (integer.as_str() == "0").then(|| value.span())
        });
        if let Some(span) = zero {
            self.take(key);
            return Some(Located { value: Duration::ZERO, span });
        }
        self.text(key, duration)
    }

    /// A table below this one.
    pub fn table(&mut self, key: &'static str, name: &'static str) -> Option<Table<'a>> {
        let value = self.take(key)?;
        if let DeValue::Table(table) = value.get_ref() {
            return Some(Table::new(name, value.span(), table, self.faults));
        }
        self.wrong_type(key, value, "a table", &format!("write [{key}], once"));
        None
    }

    /// Tables below this one, written `[[key]]`.
    pub fn tables(&mut self, key: &'static str, name: &'static str) -> Vec<Table<'a>> {
        let Some(value) = self.take(key) else { return Vec::new() };
        let hint = format!("write [[{key}]] above each of them");
        let DeValue::Array(array) = value.get_ref() else {
            self.wrong_type(key, value, "a list of tables", &hint);
            return Vec::new();
        };
        let mut tables = Vec::new();
        for item in array {
            match item.get_ref() {
                DeValue::Table(table) => {
                    tables.push(Table::new(name, item.span(), table, self.faults));
                }
                _ => self.wrong_type(key, item, "a table", &hint),
            }
        }
        tables
    }

    /// Lets go of keys without looking at them, where it cannot be told what they mean.
    pub fn ignore(&mut self, keys: &[&'static str]) {
        for key in keys {
            self.take(key);
        }
    }

    /// Refuses the keys that nobody asked for; `elsewhere` tells where a key would belong.
    pub fn finish(self, elsewhere: impl Fn(&str) -> Option<String>) {
        for (key, (span, _)) in &self.entries {
            let hint = elsewhere(key).unwrap_or_else(|| {
                nearest(key, self.asked.iter().copied()).map_or_else(
                    || format!("known here: {}", self.asked.join(", ")),
                    |near| format!("did you mean `{near}`?"),
                )
            });
            let message = format!("unknown key {} in {}", quote(key), self.name);
            self.faults.add(span.clone(), Complaint::new(message, hint));
        }
    }
}

fn quoted(text: &str) -> String {
    format!("\"{}\"", quote(text).trim_matches('`'))
}

fn type_name(value: &DeValue<'_>) -> &'static str {
    match value {
        DeValue::String(_) => "a text",
        DeValue::Integer(_) => "a whole number",
        DeValue::Float(_) => "a number with a fraction",
        DeValue::Boolean(_) => "true or false",
        DeValue::Datetime(_) => "a date or time",
        DeValue::Array(_) => "a list",
        DeValue::Table(_) => "a table",
    }
}
