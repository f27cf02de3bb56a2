//! How connections are made: one client for what is dialled as it is named, and one for each
//! `--connect-to`, whose connections go elsewhere.

use std::net::{IpAddr, SocketAddr};
use std::path::PathBuf;
use std::time::Duration;

use reqwest::{Certificate, Url};

use super::address::{Allowed, Refused, Resolver, literal};
use super::failure::HttpFailure;
use super::{Timeouts, connections, headers};
use crate::config::NetworkConfig;
use crate::model::{Bot, ConnectTo, PageUrl, is_global_address};

/// Most header fields of a response. The section as a whole has to fit the client's buffer
/// of about 400 KiB.
const HEADER_FIELDS: usize = 256;

/// How long an unused connection is kept: less than the five seconds after which common
/// servers close theirs, so that no request meets a connection that is being closed.
const KEEP: Duration = Duration::from_secs(4);

/// Why no client could be made.
#[derive(Debug, thiserror::Error)]
pub enum ClientError {
    /// The file of certificates cannot be used.
    #[error("cannot use the certificates in {path}: {why}")]
    CaFile {
        /// The file.
        path: PathBuf,
        /// What went wrong.
        why: String,
    },
    /// The proxy's address cannot be used.
    #[error("the address in `proxy` cannot be used")]
    Proxy,
    /// A text of `[bot]` cannot be sent.
    #[error("a text of `[bot]` cannot stand in a header")]
    Header,
    /// Anything else, such as a machine without certificates.
    #[error("cannot prepare connections: {0}; `ca_file` names certificates to trust")]
    Setup(String),
}

/// All ways to dial.
#[derive(Clone)]
pub(super) struct Dialler {
    direct: reqwest::Client,
    diverted: Vec<(ConnectTo, reqwest::Client)>,
    allowed: Allowed,
    proxied: bool,
}

/// How one request is sent.
pub(super) struct Route<'a> {
    pub(super) client: &'a reqwest::Client,
    pub(super) url: Url,
    /// The Host header where it is not that of `url`.
    pub(super) host: Option<String>,
    peer: Peer,
}

/// Who may be at the other end.
enum Peer {
    /// Any address of the public internet.
    Global,
    /// This address, which was named and admitted.
    Named(IpAddr),
    /// The proxy.
    Proxy,
}

impl Dialler {
    pub(super) fn new(
        bot: &Bot,
        network: &NetworkConfig,
        allowed: Allowed,
        timeouts: Timeouts,
    ) -> Result<Self, ClientError> {
        // The provider that was installed first stays; there is only this one.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let base = || base(bot, network, timeouts);
        let mut diverted = Vec::new();
        for rule in &network.connect_to {
            let resolver = match rule.to_host.as_deref() {
                None => Resolver::Name { proxy: None },
                Some(host) => {
                    literal(host).map_or_else(|| Resolver::Other(host.to_owned()), Resolver::At)
                }
            };
            diverted.push((rule.clone(), build(base()?.dns_resolver(resolver))?));
        }
        let direct = match &network.proxy {
            None => base()?.dns_resolver(Resolver::Name { proxy: None }),
            Some(text) => {
                let proxy = reqwest::Proxy::all(text).map_err(|_| ClientError::Proxy)?;
                let url = Url::parse(text).map_err(|_| ClientError::Proxy)?;
                let host = url.host_str().map(str::to_owned);
                base()?.proxy(proxy).dns_resolver(Resolver::Name { proxy: host })
            }
        };
        let direct = build(direct)?;
        Ok(Self { direct, diverted, allowed, proxied: network.proxy.is_some() })
    }

    /// How a request for `page` is sent, where its host may be contacted.
    pub(super) fn route(&self, page: &PageUrl) -> Result<Route<'_>, HttpFailure> {
        let url = Url::parse(page.as_str());
        let url = url.map_err(|error| HttpFailure::Request(error.to_string()))?;
        let (host, port) = (bare(url.host_str().unwrap_or_default()), page.effective_port());
        let rule = self.diverted.iter().find(|(rule, _)| rule.target(host, port).is_some());
        let address = literal(host);
        if let Some(address) = address {
            let named = rule.is_some_and(|(rule, _)| rule.host.is_some());
            if !named && !self.allowed.admits(address, port) {
                return Err(Refused { host: host.to_owned(), address }.into());
            }
        }
        let Some((rule, client)) = rule else {
            let peer = match address {
                _ if self.proxied => Peer::Proxy,
                None => Peer::Global,
                Some(address) => Peer::Named(address),
            };
            return Ok(Route { client: &self.direct, url, host: None, peer });
        };
        let target = rule.to_host.as_deref().map_or(address, literal);
        let mut route = Route {
            client,
            host: Some(authority(page).to_owned()),
            peer: target.map_or(Peer::Global, Peer::Named),
            url: url.clone(),
        };
        let moved = divert(&mut route.url, rule, (host, port));
        moved.map(|()| route).ok_or_else(|| {
            HttpFailure::Request(format!(
                "`connect_to` cannot lead TLS connections to the address {host} elsewhere"
            ))
        })
    }
}

/// Points a URL at the target of a rule. Where its host is a name it stays, and with it what
/// the certificate must be for: the client's resolver knows where it is. No resolver is
/// asked for an address, so that this has to be replaced; `None` where a certificate for it
/// would be asked for.
fn divert(url: &mut Url, rule: &ConnectTo, (host, port): (&str, u16)) -> Option<()> {
    let (to, to_port) = rule.target(host, port)?;
    url.set_port(Some(to_port)).ok()?;
    if literal(host).is_none() || literal(host) == literal(to) {
        return Some(());
    }
    if url.scheme() == "https" {
        return None;
    }
    match literal(to) {
        Some(address) => url.set_ip_host(address).ok(),
        None => url.set_host(Some(to)).ok(),
    }
}

impl Route<'_> {
    /// Fails where the other end is not one that this request was meant for.
    pub(super) fn check_peer(&self, remote: Option<SocketAddr>) -> Result<(), HttpFailure> {
        let found = remote.map(|remote| remote.ip());
        let fits = match (&self.peer, found) {
            (Peer::Proxy, _) => true,
            (_, None) => false,
            (Peer::Global, Some(found)) => is_global_address(found),
            (Peer::Named(named), Some(found)) => named.to_canonical() == found.to_canonical(),
        };
        if fits {
            return Ok(());
        }
        let host = self.url.host_str().unwrap_or_default().to_owned();
        Err(match found {
            Some(address) => Refused { host, address }.into(),
            None => HttpFailure::Protocol("nobody knows who sent it".to_owned()),
        })
    }
}

fn bare(host: &str) -> &str {
    host.strip_prefix('[').and_then(|host| host.strip_suffix(']')).unwrap_or(host)
}

/// Host and port as they stand in the Host header (RFC 9110, section 7.2).
fn authority(page: &PageUrl) -> &str {
    page.origin().split_once("://").map_or("", |(_, authority)| authority)
}

/// What all clients have in common.
fn base(
    bot: &Bot,
    network: &NetworkConfig,
    timeouts: Timeouts,
) -> Result<reqwest::ClientBuilder, ClientError> {
    let headers = headers::of_every_request(bot).ok_or(ClientError::Header)?;
    let mut builder = reqwest::Client::builder()
        .no_proxy()
        .referer(false)
        .redirect(reqwest::redirect::Policy::none())
        .retry(reqwest::retry::never())
        .http1_only()
        .http1_max_headers(HEADER_FIELDS)
        .default_headers(headers)
        .connect_timeout(timeouts.connect)
        .pool_max_idle_per_host(1)
        .pool_idle_timeout(KEEP)
        .connector_layer(connections::Counting)
        .local_address(bot.bind);
    if let Some(path) = &network.ca_file {
        builder = builder.tls_certs_only(certificates(path)?);
    }
    Ok(builder)
}

fn certificates(path: &std::path::Path) -> Result<Vec<Certificate>, ClientError> {
    let failed = |why: String| ClientError::CaFile { path: path.to_owned(), why };
    let text = std::fs::read(path).map_err(|error| failed(error.to_string()))?;
    match Certificate::from_pem_bundle(&text) {
        Ok(found) if !found.is_empty() => Ok(found),
        _ => Err(failed("there is no PEM certificate in it".to_owned())),
    }
}

fn build(builder: reqwest::ClientBuilder) -> Result<reqwest::Client, ClientError> {
    use std::error::Error as _;
    builder.build().map_err(|error| {
        let why = error.source().map_or_else(|| error.to_string(), ToString::to_string);
        ClientError::Setup(why)
    })
}
