//! Who is contacted, and who never is.

use std::net::{IpAddr, TcpListener};

use pagelog::fetch::http::HttpFailure;

use super::scene::{Asker, Setup};
use crate::support::server::free_port;
use crate::support::site::{Answer, Site};

fn refused(asker: &Asker, url: &str) -> IpAddr {
    match asker.get(url) {
        Err(HttpFailure::Address(refused)) => refused.address,
        other => panic!("{url}: {other:?}"),
    }
}

#[test]
fn private_addresses_are_not_connected_to_however_they_are_spelt() {
    let listener = TcpListener::bind("0.0.0.0:0").unwrap();
    listener.set_nonblocking(true).unwrap();
    let port = listener.local_addr().unwrap().port();
    // Another address or another port of the same host being allowed changes nothing.
    let asker = Setup::default().host("127.0.0.1:1").host(format!("127.0.0.9:{port}")).asker();
    for host in [
        "127.0.0.1",
        "127.1",
        "0x7f.1",
        "0177.0.0.1",
        "2130706433",
        "0",
        "127.0.0.1.",
        "[::1]",
        "[::]",
        "[::ffff:127.0.0.1]",
        "[::ffff:7f00:1]",
        "[64:ff9b::127.0.0.1]",
        "[2002:7f00:1::]",
        "169.254.169.254",
        "[::ffff:169.254.169.254]",
        "10.0.0.1",
        "192.168.0.1",
        "１２７.０.０.１",
        "localhost",
        "LOCALHOST.",
    ] {
        refused(&asker, &format!("http://{host}:{port}/"));
        refused(&asker, &format!("https://{host}:{port}/"));
    }
    assert!(listener.accept().is_err(), "somebody connected");
}

#[test]
fn addresses_that_the_configuration_names_are_contacted_at_their_port() {
    let (site, other) =
        (Site::answering(Answer::ok(&[], "x")), Site::answering(Answer::ok(&[], "y")));
    let asker = Asker::of(&site);
    assert_eq!(asker.get(&site.url("/")).unwrap().body, b"x");
    refused(&asker, &other.url("/"));
    refused(&asker, &format!("http://localhost:{}/", site.port()));
    assert_eq!((site.connections(), other.connections()), (1, 0));
}

#[test]
fn connect_to_leads_elsewhere_and_changes_nothing_else() {
    let site = Site::answering(Answer::ok(&[], "x"));
    let to = format!("127.0.0.1:{}", site.port());
    let asker = Setup::default()
        .connect_to(&format!("docs.example.org:80:{to}"))
        .connect_to(&format!("docs.example.org:8080:{to}"))
        .connect_to(&format!("192.0.2.1:80:{to}"))
        .connect_to(&format!("192.0.2.1:443:{to}"))
        .asker();
    for (url, host) in [
        ("http://docs.example.org/", "docs.example.org"),
        ("http://docs.example.org:8080/", "docs.example.org:8080"),
        ("http://192.0.2.1/", "192.0.2.1"),
    ] {
        let answer = asker.get(url).unwrap();
        assert_eq!(answer.remote.unwrap().port(), site.port());
        assert_eq!(site.asked().last().unwrap().header("host"), Some(host));
    }
    let connections = site.connections();
    let failure = asker.get("https://192.0.2.1/").unwrap_err();
    assert!(matches!(failure, HttpFailure::Request(_)), "{failure:?}");
    assert_eq!(site.connections(), connections);
}

#[test]
fn connect_to_for_every_host_opens_no_private_address() {
    let (site, canary) =
        (Site::answering(Answer::ok(&[], "x")), Site::answering(Answer::ok(&[], "y")));
    let asker = Setup::default().connect_to(&format!("::127.0.0.1:{}", site.port())).asker();
    assert_eq!(asker.get("http://a.example.org:81/").unwrap().body, b"x");
    refused(&asker, &canary.url("/"));
    refused(&asker, "http://169.254.169.254/latest/");
    // A rule that changes the port only says nothing about the address.
    let asker = Setup::default().connect_to(&format!(":80::{}", canary.port())).asker();
    refused(&asker, "http://localhost/");
    // A name in a rule is resolved and checked like others.
    let rule = format!("docs.example.org:80:localhost:{}", canary.port());
    refused(&Setup::default().connect_to(&rule).asker(), "http://docs.example.org/");
    assert_eq!((site.connections(), canary.connections()), (1, 0));
}

#[test]
fn requests_come_from_the_address_of_the_bot() {
    let site = Site::answering(Answer::ok(&[], "x"));
    let mut setup = Setup::default().host(site.host());
    setup.bot.bind = Some("127.0.0.7".parse().unwrap());
    setup.asker().get(&site.url("/")).unwrap();
    assert_eq!(site.asked()[0].from.ip().to_string(), "127.0.0.7");
}

#[test]
fn nobody_listens_and_nobody_has_the_name() {
    let host = format!("127.0.0.1:{}", free_port());
    let asker = Setup::default().host(host.as_str()).asker();
    let failure = asker.get(&format!("http://{host}/")).unwrap_err();
    assert!(matches!(failure, HttpFailure::Connect(_)) && failure.is_network(), "{failure:?}");
    let failure = asker.get("http://no-such-host.invalid/").unwrap_err();
    assert!(matches!(failure, HttpFailure::Resolve(_)) && failure.is_network(), "{failure:?}");
}
