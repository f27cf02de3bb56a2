//! Sources of kind `feed`.

use super::reader::Table;
use super::site::number;
use super::source::{Places, host_of, pace};
use super::values;
use crate::model::Feed;

/// The keys that feed sources have beside those of all sources.
pub(super) const KEYS: &[&str] = &["feeds", "max_entries", "teaser", "pace"];

const MAX_ENTRIES: u32 = 40;
const TEASER: u32 = 600;

pub(super) fn feed(table: &mut Table<'_>, places: &mut Places) -> Feed {
    let example = "https://news.example.org/rss";
    let found = table.required_list("feeds", example, values::web_address);
    let found = found.map(|list| list.value).unwrap_or_default();
    places.feeds = found.iter().map(|feed| feed.span.clone()).collect();
    let feeds: Vec<String> = found.into_iter().map(|feed| feed.value).collect();
    let most = u64::from(u32::MAX);
    Feed {
        max_entries: number(table.number("max_entries", 1..=most), MAX_ENTRIES),
        teaser: number(table.number("teaser", 0..=most), TEASER),
        pace: pace(table, feeds.iter().map(|feed| host_of(feed))),
        feeds,
    }
}
