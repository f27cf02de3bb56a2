//! Sitemaps of the sites that are measured.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;

/// Most addresses of one sitemap, by the protocol.
const MOST: usize = 50_000;
const SPACE: &str = "xmlns=\"http://www.sitemaps.org/schemas/sitemap/0.9\"";

/// An address, and when it was last changed as Unix time.
pub type Entry = (String, Option<i64>);

/// Writes a sitemap, or where one cannot hold all addresses an index and its parts, into the
/// folder of a site; `name` is without `.xml`.
pub fn write(folder: &Path, (origin, name): (&str, &str), entries: &[Entry]) {
    if entries.len() <= MOST {
        return set(&folder.join(format!("{name}.xml")), entries);
    }
    let mut index = format!("<?xml version=\"1.0\"?>\n<sitemapindex {SPACE}>\n");
    for (number, part) in entries.chunks(MOST).enumerate() {
        let file = format!("{name}-{number}.xml");
        set(&folder.join(&file), part);
        let _ = writeln!(index, "<sitemap><loc>{origin}/{file}</loc></sitemap>");
    }
    index.push_str("</sitemapindex>\n");
    fs::write(folder.join(format!("{name}.xml")), index).expect("index is written");
}

fn set(file: &Path, entries: &[Entry]) {
    let mut text = format!("<?xml version=\"1.0\"?>\n<urlset {SPACE}>\n");
    for (address, time) in entries {
        let _ = write!(text, "<url><loc>{address}</loc>");
        if let Some(time) = time {
            let _ = write!(text, "<lastmod>{}</lastmod>", date(*time));
        }
        text.push_str("</url>\n");
    }
    text.push_str("</urlset>\n");
    fs::write(file, text).expect("sitemap is written");
}

/// A Unix time in RFC 3339.
pub fn date(time: i64) -> String {
    let (days, seconds) = (time.div_euclid(86_400), time.rem_euclid(86_400));
    // Days since 0000-03-01, in eras of 400 years, so that a leap day is a year's last one.
    let shifted = days + 719_468;
    let (era, day) = (shifted.div_euclid(146_097), shifted.rem_euclid(146_097));
    let year = (day - day / 1_460 + day / 36_524 - day / 146_096) / 365;
    let rest = day - (365 * year + year / 4 - year / 100);
    let month = (5 * rest + 2) / 153;
    let day = rest - (153 * month + 2) / 5 + 1;
    let (month, next) = if month < 10 { (month + 3, 0) } else { (month - 9, 1) };
    format!(
        "{:04}-{month:02}-{day:02}T{:02}:{:02}:{:02}Z",
        era * 400 + year + next,
        seconds / 3600,
        seconds / 60 % 60,
        seconds % 60
    )
}

#[cfg(test)]
mod tests {
    #[test]
    fn dates_are_those_of_the_calendar() {
        assert_eq!(super::date(0), "1970-01-01T00:00:00Z");
        assert_eq!(super::date(951_782_399), "2000-02-28T23:59:59Z");
        assert_eq!(super::date(951_782_400), "2000-02-29T00:00:00Z");
        assert_eq!(super::date(1_796_083_200), "2026-12-01T00:00:00Z");
    }
}
