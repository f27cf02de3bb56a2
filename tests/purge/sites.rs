//! Pages of sites: they are not asked for again.

use super::scene::assert_nowhere;
use crate::site::scene::{at, crawl};
use crate::support::crawl::{PRIVATE, PUBLIC, clock};

#[test]
fn a_page_of_a_site_is_not_asked_for_again() {
    let crawl = crawl(4);
    crawl.day(1, 0);
    assert!(crawl.page(&at("/p02")).is_some());
    crawl.pagelog_at(&clock(2), &["purge", &at("/p02")]).ok();
    assert_nowhere(&crawl, &crawl.archive(), "first text of 2");
    for day in [3, 4] {
        let ran = crawl.run_with(&clock(day), &[]);
        assert_eq!(ran.outcome.code, Some(0), "{:?}", ran.outcome);
        let asked: Vec<&str> = ran.exchanges.iter().map(|it| it.target.as_str()).collect();
        assert!(!asked.contains(&"/p02") && asked.contains(&"/sitemap.xml"), "{asked:?}");
        assert_eq!(crawl.page(&at("/p02")), None);
        assert_eq!(crawl.outcome(&at("/p02")).0, "denied");
        if day == 3 {
            std::fs::remove_file(crawl.archive().join("pagelog/state.sqlite")).expect("a state");
        }
    }
    assert!(crawl.file(PRIVATE, "denied.tsv").contains(&at("/p02")));
    assert_eq!(crawl.pages(PUBLIC).len(), 3);
    crawl.assert_sound();
    crawl.pagelog_at(&clock(5), &["audit"]).ok();
}
