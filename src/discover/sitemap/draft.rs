//! An entry of an XML file while it is read.

use super::Fault;
use crate::model::PageUrl;

/// Longest address, in characters.
const LONGEST: usize = 2048;
/// How many bytes of a field are kept.
const KEPT: usize = 4 * LONGEST;

/// The text of a field, with what is wrong with it.
#[derive(Debug, Default)]
pub(super) struct Captured {
    pub(super) text: String,
    pub(super) fault: Option<Fault>,
}

impl Captured {
    /// Appends text; of too much of it only the beginning is kept.
    pub(super) fn push(&mut self, text: &str) {
        let room = KEPT.saturating_sub(self.text.len());
        if text.len() <= room {
            self.text.push_str(text);
        } else {
            self.text.push_str(&text[..text.floor_char_boundary(room)]);
            self.spoil(Fault::TooLong);
        }
    }

    /// Records the first fault.
    pub(super) fn spoil(&mut self, fault: Fault) {
        self.fault.get_or_insert(fault);
    }

    /// The address that this is: absolute, or relative to `base` where there is one.
    pub(super) fn address(&self, base: Option<&PageUrl>) -> Result<PageUrl, Fault> {
        if let Some(fault) = &self.fault {
            return Err(fault.clone());
        }
        // Only what XML takes for white space is not part of an address.
        let text = self.text.trim_matches([' ', '\t', '\n', '\r']);
        if text.is_empty() {
            return Err(Fault::NoAddress);
        }
        if text.contains(|c: char| c.is_control() || c == char::REPLACEMENT_CHARACTER) {
            return Err(Fault::Unreadable);
        }
        if text.chars().nth(LONGEST).is_some() {
            return Err(Fault::TooLong);
        }
        base.map_or_else(|| PageUrl::parse(text), |base| base.join(text)).map_err(Fault::Address)
    }
}

/// The parts of an entry that are read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Field {
    /// Its address.
    Address,
    /// Its identity, which is an address where it has no other.
    Identity,
    /// When it was changed.
    LastMod,
}

/// An entry whose end was not seen yet. Of each field the first counts.
#[derive(Debug, Default)]
pub(super) struct Draft {
    /// Elements that are open below the entry.
    pub(super) inner: u64,
    /// The field that is open, with the name of its element.
    pub(super) open: Option<(Field, String)>,
    /// What relative addresses are relative to, where the entry says so.
    pub(super) base: Option<PageUrl>,
    pub(super) address: Option<Captured>,
    pub(super) identity: Option<Captured>,
    pub(super) lastmod: Option<Captured>,
    pub(super) fault: Option<Fault>,
}

impl Draft {
    pub(super) fn slot(&mut self, field: Field) -> &mut Option<Captured> {
        match field {
            Field::Address => &mut self.address,
            Field::Identity => &mut self.identity,
            Field::LastMod => &mut self.lastmod,
        }
    }

    /// The text of the field that is open.
    pub(super) fn captured(&mut self) -> Option<&mut Captured> {
        let field = self.open.as_ref()?.0;
        self.slot(field).as_mut()
    }

    /// Closes the open field; `name` is that of the tag that ends it.
    pub(super) fn close(&mut self, name: &str) {
        let Some((field, opened)) = self.open.take() else { return };
        if !opened.eq_ignore_ascii_case(name)
            && let Some(captured) = self.slot(field)
        {
            captured.spoil(Fault::NotClosed);
        }
    }

    /// What the entry, whose fields are closed, says for its address, and the address that
    /// it is.
    pub(super) fn finish(mut self, base: Option<&PageUrl>) -> (String, Result<PageUrl, Fault>) {
        let address = self.address.unwrap_or_default();
        let found = match self.fault.take() {
            Some(fault) => Err(fault),
            None => address.address(self.base.as_ref().or(base)),
        };
        let identity = self.identity.filter(|_| found == Err(Fault::NoAddress));
        // Identities are often no addresses at all: then the entry has none.
        if let Some(identity) = identity
            && let Ok(url) = identity.address(None)
        {
            return (identity.text, Ok(url));
        }
        (address.text, found)
    }
}
