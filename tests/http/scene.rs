//! A client that may contact the sites of a test, and short ways to ask it.

use std::path::PathBuf;
use std::time::Duration;

use pagelog::config::NetworkConfig;
use pagelog::fetch::http::{Accept, Allowed, Client, HttpFailure, Request, Response, Timeouts};
use pagelog::model::{Bot, PageUrl};
use tokio::runtime::{Builder, Runtime};

use crate::support::site::Site;

/// Most bytes of a body unless a test says otherwise.
pub const LIMIT: u64 = 8 << 20;

/// A file below `tests/fixtures/tls`: an authority, and a certificate of it for
/// `docs.example.org`, both valid for a hundred years.
pub fn fixture(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/tls").join(name)
}

/// A client and what runs it.
pub struct Asker {
    runtime: Runtime,
    client: Client,
}

/// How an [`Asker`] differs from the usual.
pub struct Setup {
    pub bot: Bot,
    pub network: NetworkConfig,
    pub hosts: Vec<String>,
    pub timeouts: Timeouts,
}

impl Default for Setup {
    fn default() -> Self {
        let bot = Bot {
            name: "TestBot".into(),
            version: "1.0".into(),
            url: "https://example.org/bot".into(),
            contact: "bot@example.org".into(),
            ..Bot::default()
        };
        // No test may hang, and none may fail on a slow machine.
        let whole = Duration::from_mins(1);
        let timeouts = Timeouts { connect: whole, idle: whole, whole };
        // What the machine trusts makes no difference.
        let network = NetworkConfig { ca_file: Some(fixture("ca.pem")), ..Default::default() };
        Self { bot, network, hosts: Vec::new(), timeouts }
    }
}

impl Setup {
    pub fn connect_to(mut self, rule: &str) -> Self {
        self.network.connect_to.push(rule.parse().expect("a rule"));
        self
    }

    pub fn host(mut self, host: impl Into<String>) -> Self {
        self.hosts.push(host.into());
        self
    }

    pub fn asker(self) -> Asker {
        let allowed = Allowed::of_hosts(self.hosts.iter().map(String::as_str));
        let client = Client::with_timeouts(&self.bot, &self.network, allowed, self.timeouts);
        let runtime = Builder::new_current_thread().enable_all().build().expect("a runtime");
        Asker { runtime, client: client.expect("a client") }
    }
}

impl Asker {
    /// One that may contact this site.
    pub fn of(site: &Site) -> Self {
        Setup::default().host(site.host()).asker()
    }

    pub fn ask(&self, request: Request<'_>) -> Result<Response, HttpFailure> {
        self.runtime.block_on(self.client.get(request))
    }

    pub fn get(&self, url: &str) -> Result<Response, HttpFailure> {
        self.get_up_to(LIMIT, url)
    }

    pub fn get_up_to(&self, limit: u64, url: &str) -> Result<Response, HttpFailure> {
        let url = PageUrl::parse(url).expect("a URL");
        self.ask(Request::new(&url, Accept::Page, limit))
    }

    /// Lets the connections of the client do what they have to do.
    pub fn pass(&self, time: Duration) {
        self.runtime.block_on(async { tokio::time::sleep(time).await });
    }
}

/// Asks a site for `/`.
pub fn get(site: &Site) -> Result<Response, HttpFailure> {
    Asker::of(site).get(&site.url("/"))
}
