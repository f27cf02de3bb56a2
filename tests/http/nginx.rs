//! The client and a server that neither of them was made for.

use std::fs;

use pagelog::fetch::http::{Accept, Request};
use pagelog::model::PageUrl;

use super::scene::{LIMIT, Setup};
use crate::support::World;
use crate::support::nginx::Nginx;

#[test]
fn nginx_packs_validates_and_logs() {
    let world = World::empty();
    let folder = world.path().join("site");
    fs::create_dir(&folder).unwrap();
    let text = "<p>A text that is long enough to be packed.</p>\n".repeat(100);
    fs::write(folder.join("a.html"), &text).unwrap();
    let Some(nginx) = Nginx::serving(&folder, world.path()) else { return };
    let asker = Setup::default().host(nginx.host()).asker();
    let url = PageUrl::parse(&nginx.url("/a.html")).unwrap();
    let ask = |validators| {
        asker.ask(Request { validators, ..Request::new(&url, Accept::Page, LIMIT) }).unwrap()
    };
    let answer = ask(None);
    assert_eq!((answer.status, answer.body), (200, text.clone().into_bytes()));
    assert!(answer.raw_length < text.len() as u64 / 4, "{}", answer.raw_length);
    let validators = answer.headers.validators;
    assert!(validators.etag.as_deref().is_some_and(|tag| tag.starts_with("W/\"")));
    assert!(validators.last_modified.is_some());
    assert_eq!(ask(Some(&validators)).status, 304);
    assert_eq!(asker.get(&nginx.url("/missing")).unwrap().status, 404);

    let log = nginx.log(3);
    let lines: Vec<_> = log.iter().map(|line| (line.uri.as_str(), line.status)).collect();
    assert_eq!(lines, [("/a.html", 200), ("/a.html", 304), ("/missing", 404)]);
    // It counts the framing of chunks, too.
    assert!(log[0].bytes >= answer.raw_length && log[0].bytes < text.len() as u64 / 4);
    assert_eq!(log[1].bytes, 0);
    assert!(log.iter().all(|line| line.host == nginx.host() && line.request_time >= 0.0));
    assert!(log.windows(2).all(|two| two[0].msec <= two[1].msec));
    assert_eq!(log[0].connection, log[2].connection, "one connection serves all");
}
