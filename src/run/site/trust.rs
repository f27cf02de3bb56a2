//! What a run knows and learns of the sitemaps: which are believed, and which were right.
//!
//! What is learnt counts from the next run on, so that all entries of a sitemap have their
//! turn by one rule; what its times have in common counts when it was read.

use super::crawl::Crawl;
use crate::discover::LastMod;
use crate::discover::trust::{Doubt, claim, doubt, learnt};
use crate::model::{Known, Spread, Stated, UrlId, Visit};
use crate::run::RunError;

impl Crawl<'_, '_> {
    /// Why what the sitemap of an entry states is ignored; `None` where it is believed.
    pub fn doubt(&mut self, known: &Known) -> Result<Option<Doubt>, RunError> {
        let Some(sitemap) = known.sitemap else { return Ok(None) };
        if let Some(found) = self.doubts.get(&sitemap) {
            return Ok(*found);
        }
        let stated = self.pass.state.stated(sitemap)?.unwrap_or_default();
        let found = doubt(&stated);
        self.doubts.insert(sitemap, found);
        Ok(found)
    }

    /// Notes what the times of a sitemap have in common, now that it was read.
    pub fn note_spread(&mut self, sitemap: UrlId, spread: Spread) -> Result<(), RunError> {
        let before = self.pass.state.stated(sitemap)?.unwrap_or_default();
        let stated = Stated { spread, ..before };
        self.doubts.insert(sitemap, doubt(&stated));
        if stated != before {
            self.pass.state.note_stated(sitemap, &stated)?;
        }
        Ok(())
    }

    /// Learns from a look at an entry whether its sitemap was right about it.
    pub fn learn_of_sitemap(
        &mut self,
        (known, visit): (&Known, Option<&Visit>),
        has_changed: bool,
    ) -> Result<(), RunError> {
        let listed = known.listed.as_deref().and_then(LastMod::parse);
        let (Some(sitemap), Some(listed)) = (known.sitemap, listed) else { return Ok(()) };
        let Some(visit) = visit.filter(|visit| visit.stored) else { return Ok(()) };
        let Some(claim) = claim(listed, visit) else { return Ok(()) };
        let before = self.pass.state.stated(sitemap)?.unwrap_or_default();
        let record = learnt(before.record, claim, has_changed);
        Ok(self.pass.state.note_stated(sitemap, &Stated { record, ..before })?)
    }
}
