//! TLS: who is trusted, and what `connect_to` leaves as it is.

use std::io::{Read as _, Write as _};
use std::net::TcpListener;
use std::sync::Arc;
use std::thread;

use pagelog::config::NetworkConfig;
use pagelog::fetch::http::{Allowed, Client, ClientError, HttpFailure};
use pagelog::model::Bot;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};

use super::scene::{Setup, fixture};
use crate::support::server::free_port;
use crate::support::site::{Answer, Site};

fn site() -> Site {
    let certificate = CertificateDer::from_pem_file(fixture("docs.example.org.pem")).unwrap();
    let key = PrivateKeyDer::from_pem_file(fixture("docs.example.org.key.pem")).unwrap();
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = rustls::ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(vec![certificate], key)
        .unwrap();
    Site::secure(&[("/", &[Answer::ok(&[], "secret")])], config)
}

fn trusting(site: &Site, from: &str) -> Setup {
    Setup::default().connect_to(&format!("{from}:127.0.0.1:{}", site.port()))
}

#[test]
fn names_stay_where_connections_go_elsewhere() {
    let site = site();
    for (from, url, host) in [
        ("docs.example.org:443", "https://docs.example.org/", "docs.example.org"),
        ("docs.example.org:8443", "https://docs.example.org:8443/", "docs.example.org:8443"),
    ] {
        let answer = trusting(&site, from).asker().get(url).unwrap();
        assert_eq!(answer.body, b"secret");
        assert_eq!(site.asked().last().unwrap().header("host"), Some(host));
        assert_eq!(site.names().pop().unwrap().as_deref(), Some("docs.example.org"));
    }
}

#[test]
fn nothing_is_sent_to_a_host_that_does_not_prove_who_it_is() {
    let site = site();
    let mut stranger = trusting(&site, "docs.example.org:443");
    stranger.network.ca_file = Some(fixture("docs.example.org.pem"));
    let other = trusting(&site, "other.example.org:443");
    for (setup, url) in
        [(stranger, "https://docs.example.org/"), (other, "https://other.example.org/")]
    {
        let failure = setup.asker().get(url).unwrap_err();
        assert!(matches!(failure, HttpFailure::Tls(_)), "{failure:?}");
        assert!(!failure.is_network());
    }
    assert!(site.asked().is_empty());
}

#[test]
fn a_host_without_tls_is_told() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let rule = format!("docs.example.org:443:127.0.0.1:{}", listener.local_addr().unwrap().port());
    let server = thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        // Its client hello is no request.
        let _ = stream.read(&mut [0; 4096]);
        let _ = stream.write_all(b"HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n");
    });
    let failure = Setup::default().connect_to(&rule).asker().get("https://docs.example.org/");
    let failure = failure.unwrap_err();
    assert!(matches!(failure, HttpFailure::Tls(_)), "{failure:?}");
    server.join().unwrap();
}

#[test]
fn what_is_configured_wrongly_is_told() {
    let Setup { bot, network: good, .. } = Setup::default();
    let make = |bot: &Bot, network: &NetworkConfig| {
        Client::new(bot, network, Allowed::default()).map(drop).unwrap_err()
    };
    for file in ["no-such-file.pem", "docs.example.org.key.pem"] {
        let network = NetworkConfig { ca_file: Some(fixture(file)), ..NetworkConfig::default() };
        let error = make(&bot, &network);
        assert!(matches!(error, ClientError::CaFile { .. }), "{error:?}");
        assert!(error.to_string().contains(file), "{error}");
    }
    let network = NetworkConfig { proxy: Some("http://user:secret@".into()), ..good.clone() };
    let error = make(&bot, &network);
    assert!(matches!(error, ClientError::Proxy) && !error.to_string().contains("secret"));
    let mut odd = bot.clone();
    odd.contact = "a\nb".to_owned();
    assert!(matches!(make(&odd, &good), ClientError::Header));
}

#[test]
fn the_password_of_a_proxy_is_not_shown() {
    let mut setup = Setup::default();
    let proxy = format!("http://user:hunter2@127.0.0.1:{}", free_port());
    setup.network.proxy = Some(proxy);
    let client = Client::new(&setup.bot, &setup.network, Allowed::default()).unwrap();
    assert!(!format!("{client:?}").contains("hunter2"));
    let asker = setup.asker();
    for url in ["http://docs.example.org/", "https://docs.example.org/"] {
        let failure = asker.get(url).unwrap_err();
        let shown = format!("{failure} {failure:?}");
        assert!(!shown.contains("hunter2") && failure.is_network(), "{shown}");
    }
}
