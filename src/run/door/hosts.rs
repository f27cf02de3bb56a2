//! What the configuration says about hosts: their terms, and addresses that are allowed.

use std::collections::HashMap;
use std::time::Duration;

use crate::config::Config;
use crate::fetch::http::Allowed;
use crate::model::{PageUrl, Source, SourceKind};
use crate::politeness::Terms;

/// The terms of all hosts that are named.
#[derive(Debug)]
pub(super) struct Hosts(HashMap<String, Terms>);

impl Hosts {
    pub fn of(config: &Config) -> Self {
        let mut terms: HashMap<String, Terms> = HashMap::new();
        for source in &config.sources {
            let own = terms_of(source);
            for host in source.hosts() {
                let known = terms.entry(host).or_insert_with(|| own.clone());
                *known = known.strictest(&own);
            }
        }
        Self(terms)
    }

    /// The terms of a host for a source: the strictest of all that name it.
    pub fn terms(&self, host: &str, source: &Source) -> Terms {
        let own = terms_of(source);
        self.0.get(host).map_or_else(|| own.clone(), |known| known.strictest(&own))
    }

    /// The terms of a host, whoever asks.
    pub fn named(&self, host: &str) -> Option<&Terms> {
        self.0.get(host)
    }
}

fn terms_of(source: &Source) -> Terms {
    let pace = match &source.kind {
        SourceKind::Site(site) => site.pace,
        SourceKind::Git(git) => git.pace,
        SourceKind::Feed(feed) => feed.pace,
    };
    Terms::new(pace, &source.policy)
}

/// Private and local addresses that the configuration names.
pub(super) fn allowed(config: &Config) -> Allowed {
    let mut hosts = Vec::new();
    for source in &config.sources {
        let urls = match &source.kind {
            SourceKind::Site(site) => {
                hosts.extend(site.hosts.iter().cloned());
                &site.start
            }
            SourceKind::Feed(feed) => &feed.feeds,
            // Git asks these itself.
            SourceKind::Git(_) => continue,
        };
        for url in urls.iter().filter_map(|url| PageUrl::parse(url).ok()) {
            hosts.push(format!("{}:{}", url.host(), url.effective_port()));
        }
    }
    Allowed::of_hosts(hosts.iter().map(String::as_str))
}

/// How long a fetch of Git may take at the most, and a little more.
pub(super) const LONGEST_UPDATE: Duration = Duration::from_mins(130);

/// How long one request over HTTP may take at the most, and a little more.
pub(super) const LONGEST_REQUEST: Duration = Duration::from_secs(330);
