//! How `pagelog check --probe` tells what it found.

use std::fmt::Write as _;
use std::time::Duration;

use serde_json::{Value, json};

use super::output::words;
use crate::run::{Again, Finding, ListingProbe, PageProbe, Probe, RobotsProbe, SiteProbe};

/// What was found of a source, as text; `token` is the bot's.
pub(crate) fn text(probe: &Probe, token: &str) -> String {
    match &probe.finding {
        Finding::NotAsked(why) => format!("{}: not asked: {why}\n", probe.source),
        Finding::Site(site) => format!("{}: asked\n{}", probe.source, site_text(site, token)),
    }
}

fn site_text(site: &SiteProbe, token: &str) -> String {
    let mut out = String::new();
    for robots in &site.robots {
        robots_text(&mut out, robots, token);
    }
    for origin in &site.origins_left {
        let _ = writeln!(out, "  robots.txt of {origin}: not asked, to make few requests");
    }
    if !site.robots.is_empty() {
        let (wait, pace) = (words(site.wait), words(site.pace));
        let _ = writeln!(out, "  in force: {wait} between two requests (`pace` is {pace})");
    }
    if let Some(listing) = &site.listing {
        listing_text(&mut out, listing);
    }
    if let Some(page) = &site.page {
        page_text(&mut out, page);
    }
    for trouble in &site.trouble {
        let _ = writeln!(out, "  could not be read: {trouble}");
    }
    out
}

fn robots_text(out: &mut String, robots: &RobotsProbe, token: &str) {
    let RobotsProbe { origin, standing, reason, .. } = robots;
    let _ = match (*standing, reason) {
        ("read", _) => writeln!(out, "  robots.txt of {origin}: read"),
        ("absent", _) => {
            writeln!(out, "  robots.txt of {origin}: absent, so that nothing is forbidden")
        }
        (_, Some(why)) => writeln!(
            out,
            "  robots.txt of {origin}: unreachable ({why}), so that everything is forbidden"
        ),
        (_, None) => writeln!(out, "  robots.txt of {origin}: unreachable"),
    };
    if robots.looks_like_html {
        out.push_str("    it is a web page rather than rules\n");
    }
    if *standing == "read" {
        match robots.forbidding.as_slice() {
            [] => {
                let _ = writeln!(out, "    forbids {token} no part of `paths`");
            }
            rules => {
                let _ = writeln!(out, "    may forbid {token} parts of `paths`:");
                for (number, line) in rules {
                    let _ = writeln!(out, "      line {number}: {line}");
                }
            }
        }
    }
    if let Some(delay) = robots.crawl_delay {
        let _ = writeln!(out, "    asks for a Crawl-delay of {}", words(delay));
    }
}

fn listing_text(out: &mut String, listing: &ListingProbe) {
    let ListingProbe { sitemap, listed, wanted, .. } = listing;
    if let Some((index, number)) = &listing.index {
        let _ = writeln!(out, "  {index} lists {number} sitemaps; the first was read");
    }
    let _ =
        writeln!(out, "  {sitemap} lists {listed} addresses; a run would read {wanted} of them");
    for (count, why) in [
        (listing.out_of_scope, "outside of `hosts` and `paths`"),
        (listing.skipped, "left out by `skip`, or files that are no pages"),
        (listing.disallowed, "forbidden by robots.txt"),
    ] {
        if count > 0 {
            let _ = writeln!(out, "    {count} {why}");
        }
    }
    if listing.undecided > 0 {
        let _ = writeln!(
            out,
            "    {} on hosts whose robots.txt was not read by this probe",
            listing.undecided
        );
    }
    if listing.partial {
        out.push_str("    it could not be read to its end: there may be more\n");
    }
    let pages = listing.pages;
    let _ = match listing.index {
        Some((_, number)) if number > 1 => writeln!(
            out,
            "    about {pages} pages in all, if each of the {number} sitemaps lists as many"
        ),
        _ => writeln!(out, "    {pages} pages in all, besides what they link to"),
    };
    let time = words(listing.full_pass);
    let _ = writeln!(out, "    a full pass over them takes at least {time}");
    let _ = match (listing.stated, listing.generated) {
        (0, _) => writeln!(out, "    lastmod: not given, so each run asks for each page"),
        (some, true) => writeln!(
            out,
            "    lastmod: given for {some}, but it is the time at which the sitemap was made: \
             says nothing"
        ),
        (some, false) => writeln!(out, "    lastmod: given for {some}, and believed"),
    };
}

fn page_text(out: &mut String, page: &PageProbe) {
    let media = page.content_type.as_deref().unwrap_or("no Content-Type");
    let (words, links) = (page.words, page.links);
    let _ = writeln!(
        out,
        "  {} is {media}, kept as {}\n    title: {}\n    {words} words and {links} links in its \
         main content",
        page.url, page.representation, page.title
    );
    if let Some(guess) = page.guess {
        let _ = writeln!(out, "    the main content is a guess; `main` may name it: {guess}");
    }
    if let Some(why) = &page.refused {
        let _ = writeln!(out, "    its text would not be kept: {why}");
    }
    if page.noarchive {
        out.push_str("    it asks not to be kept (noarchive), and would not be\n");
    }
    if page.nofollow {
        out.push_str("    it asks not to follow its links (nofollow)\n");
    }
    let with = match page.validators.as_slice() {
        [] => "without validators".to_owned(),
        given => format!("with {}", given.join(" and ")),
    };
    let _ = match &page.again {
        Again::Failed(why) => writeln!(out, "    read again {with}: not to be had: {why}"),
        Again::NotModified => writeln!(out, "    read again {with}: 304, not modified"),
        Again::Same => writeln!(out, "    read again {with}: 200 with the same bytes"),
        Again::OtherBytes => {
            writeln!(out, "    read again {with}: 200 with other bytes and the same text")
        }
        Again::OtherText(_) => writeln!(
            out,
            "    read again {with}: 200 with another text; what differs may belong to `volatile`:"
        ),
    };
    if let Again::OtherText(lines) = &page.again {
        for (first, second) in lines {
            let _ = writeln!(out, "      - {first}\n      + {second}");
        }
    }
}

/// What was found of a source, for programs.
pub(crate) fn json(probe: &Probe) -> Value {
    let source = probe.source.as_str();
    let site = match &probe.finding {
        Finding::NotAsked(why) => return json!({ "source": source, "not_asked": why }),
        Finding::Site(site) => site,
    };
    json!({
        "source": source,
        "trouble": site.trouble,
        "robots": site.robots.iter().map(robots_json).collect::<Vec<_>>(),
        "origins_left": site.origins_left,
        "pace_ms": milliseconds(site.pace),
        "in_force_ms": milliseconds(site.wait),
        "listing": site.listing.as_ref().map(listing_json),
        "page": site.page.as_ref().map(page_json),
    })
}

fn milliseconds(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
}

fn robots_json(robots: &RobotsProbe) -> Value {
    json!({
        "origin": robots.origin,
        "standing": robots.standing,
        "reason": robots.reason,
        "looks_like_html": robots.looks_like_html,
        "crawl_delay_ms": robots.crawl_delay.map(milliseconds),
        "forbidding": robots.forbidding,
    })
}

fn listing_json(listing: &ListingProbe) -> Value {
    let index = listing.index.as_ref();
    json!({
        "sitemap": listing.sitemap,
        "index": index.map(|(url, number)| json!({ "url": url, "sitemaps": number })),
        "listed": listing.listed,
        "wanted": listing.wanted,
        "out_of_scope": listing.out_of_scope,
        "skipped": listing.skipped,
        "disallowed": listing.disallowed,
        "undecided": listing.undecided,
        "stated": listing.stated,
        "lastmod_is_generated": listing.generated,
        "partial": listing.partial,
        "pages": listing.pages,
        "pages_are_estimated": index.is_some_and(|(_, number)| *number > 1),
        "full_pass_ms": milliseconds(listing.full_pass),
    })
}

fn page_json(page: &PageProbe) -> Value {
    let (again, lines) = match &page.again {
        Again::Failed(why) => (why.as_str(), None),
        Again::NotModified => ("not-modified", None),
        Again::Same => ("same", None),
        Again::OtherBytes => ("other-bytes", None),
        Again::OtherText(lines) => ("other-text", Some(lines)),
    };
    json!({
        "url": page.url,
        "content_type": page.content_type,
        "representation": page.representation,
        "title": page.title,
        "words": page.words,
        "links": page.links,
        "guess": page.guess,
        "refused": page.refused,
        "noarchive": page.noarchive,
        "nofollow": page.nofollow,
        "validators": page.validators,
        "again": again,
        "differing_lines": lines,
    })
}
