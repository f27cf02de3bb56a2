//! Which addresses a request may be sent to.
//!
//! Literal addresses are checked before each request, since no resolver is asked for them;
//! names are checked by the resolver, whose answer is what gets dialled.

use std::collections::BTreeSet;
use std::net::{IpAddr, SocketAddr};

use crate::model::{is_global_address, split_port};

/// An address that is never contacted.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "{host} is at {address}, a private or local address, which is never contacted; name the address itself in `hosts` to allow it"
)]
pub struct Refused {
    /// The host as it was named.
    pub host: String,
    /// The offending address.
    pub address: IpAddr,
}

/// A name without an address.
#[derive(Clone, Debug, thiserror::Error)]
#[error("{host}: {why}")]
pub(super) struct Unresolved {
    pub(super) host: String,
    pub(super) why: String,
}

/// Private and local addresses that the configuration names, each with its port.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Allowed(BTreeSet<(IpAddr, u16)>);

impl Allowed {
    /// Takes the literal addresses out of hosts as they stand in `hosts`: `127.0.0.1:8080`,
    /// `[::1]:8080`; one without a port is allowed on those of http and https. Names allow
    /// nothing.
    pub fn of_hosts<'a>(hosts: impl IntoIterator<Item = &'a str>) -> Self {
        let mut allowed = BTreeSet::new();
        for text in hosts {
            let (host, port) = split_port(text);
            let Some(address) = literal(host) else { continue };
            match port.map(str::parse) {
                None => allowed.extend([(address, 80), (address, 443)]),
                Some(Ok(port)) => allowed.extend([(address, port)]),
                Some(Err(_)) => {}
            }
        }
        Self(allowed)
    }

    pub(super) fn admits(&self, address: IpAddr, port: u16) -> bool {
        is_global_address(address) || self.0.contains(&(address, port))
    }
}

/// A host of a URL that is an address; IPv6 with or without brackets.
pub(super) fn literal(host: &str) -> Option<IpAddr> {
    let bare = host.strip_prefix('[').and_then(|host| host.strip_suffix(']')).unwrap_or(host);
    bare.parse().ok()
}

/// Passes the answer of a resolver on where all of it may be contacted.
fn checked(host: &str, found: Vec<SocketAddr>) -> Result<Vec<SocketAddr>, Refused> {
    match found.iter().map(SocketAddr::ip).find(|address| !is_global_address(*address)) {
        Some(address) => Err(Refused { host: host.to_owned(), address }),
        None => Ok(found),
    }
}

/// What is looked up where a connection asks for a name.
#[derive(Clone, Debug)]
pub(super) enum Resolver {
    /// The name itself. The name of the proxy, which the operator gave, may have any address.
    Name {
        /// Name of the proxy.
        proxy: Option<String>,
    },
    /// Another name (`--connect-to`).
    Other(String),
    /// Nothing: all names are at this address, which the operator gave (`--connect-to`).
    At(IpAddr),
}

impl Resolver {
    async fn addresses(
        self,
        asked: String,
    ) -> Result<Vec<SocketAddr>, Box<dyn std::error::Error + Send + Sync>> {
        let (host, trusted) = match self {
            Self::At(address) => return Ok(vec![SocketAddr::new(address, 0)]),
            Self::Other(host) => (host, false),
            Self::Name { proxy } => {
                let trusted = literal(&asked).is_some() || proxy.as_ref() == Some(&asked);
                (asked, trusted)
            }
        };
        // The port of the URL takes the place of port 0.
        let found = tokio::net::lookup_host((host.as_str(), 0)).await;
        let found: Vec<SocketAddr> = found
            .map_err(|error| Unresolved { host: host.clone(), why: error.to_string() })?
            .collect();
        if found.is_empty() {
            return Err(Unresolved { host, why: "no address".to_owned() }.into());
        }
        Ok(if trusted { found } else { checked(&host, found)? })
    }
}

impl reqwest::dns::Resolve for Resolver {
    fn resolve(&self, name: reqwest::dns::Name) -> reqwest::dns::Resolving {
        let (resolver, asked) = (self.clone(), name.as_str().to_owned());
        Box::pin(async move {
            let found = resolver.addresses(asked).await?;
            Ok(Box::new(found.into_iter()) as reqwest::dns::Addrs)
        })
    }
}

#[cfg(test)]
mod tests {
    use std::net::SocketAddr;

    use super::{Allowed, Resolver, checked};

    #[test]
    fn one_private_answer_spoils_all() {
        let addresses = |texts: &[&str]| -> Vec<SocketAddr> {
            texts.iter().map(|text| SocketAddr::new(text.parse().unwrap(), 0)).collect()
        };
        let good = addresses(&["1.1.1.1", "2606:4700::1111"]);
        assert_eq!(checked("h", good.clone()), Ok(good));
        for bad in [&["1.1.1.1", "10.0.0.1"][..], &["::1"], &["1.1.1.1", "::ffff:127.0.0.1"]] {
            let refused = checked("h", addresses(bad)).unwrap_err();
            assert_eq!(refused.address, bad[bad.len() - 1].parse::<std::net::IpAddr>().unwrap());
        }
    }

    #[test]
    fn only_named_addresses_are_allowed_and_only_with_their_port() {
        let allowed = Allowed::of_hosts(["127.0.0.1:8080", "[::1]", "localhost:80", "10.0.0.1:x"]);
        let admits = |address: &str, port| allowed.admits(address.parse().unwrap(), port);
        assert!(admits("127.0.0.1", 8080) && admits("::1", 80) && admits("::1", 443));
        assert!(admits("1.1.1.1", 1));
        assert!(!admits("127.0.0.1", 80) && !admits("127.0.0.2", 8080) && !admits("::1", 8080));
        assert!(!admits("10.0.0.1", 80));
        assert_eq!(Allowed::of_hosts(["localhost"]), Allowed::default());
    }

    #[test]
    fn a_resolver_gives_what_the_operator_named_and_checks_the_rest() {
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        let ask = |resolver: Resolver, name: &str| {
            runtime.block_on(resolver.addresses(name.to_owned())).map_err(|e| e.to_string())
        };
        let plain = Resolver::Name { proxy: None };
        assert!(ask(plain.clone(), "localhost").unwrap_err().contains("never contacted"));
        assert!(ask(Resolver::Other("localhost".into()), "x.invalid").is_err());
        assert!(
            !ask(Resolver::Name { proxy: Some("localhost".into()) }, "localhost")
                .unwrap()
                .is_empty()
        );
        let at = ask(Resolver::At("127.0.0.1".parse().unwrap()), "x.invalid").unwrap();
        assert_eq!(at, ["127.0.0.1:0".parse().unwrap()]);
    }
}
