//! A case of the shared file, and the hosts and the folder that it is played with.

use std::fs;
use std::net::TcpListener;

use serde_json::Value;

use crate::support::crawl::{Crawl, SiteSource, docs};
use crate::support::judge::Judge;
use crate::support::script::Script;
use crate::support::shared::shared;

/// Product token of the tests' bot.
pub const TOKEN: &str = "TestBot";

/// A case, with a port on which nobody may knock.
pub struct Case {
    value: Value,
    canary: TcpListener,
}

/// All cases of the shared file; `None`, with a line that says so, where it is not here.
pub fn all() -> Option<Vec<Value>> {
    let text = fs::read_to_string(shared("faults/cases.json")?).expect("the file is read");
    Some(serde_json::from_str(&text).expect("an array of cases"))
}

impl Case {
    /// The case of that id; `None` where the shared cases are not here.
    pub fn load(id: &str) -> Option<Self> {
        let value = all()?.into_iter().find(|case| case["id"] == id);
        let value = value.unwrap_or_else(|| panic!("no case is called {id}"));
        let canary = TcpListener::bind("127.0.0.1:0").expect("a port");
        canary.set_nonblocking(true).expect("a listener that does not wait");
        Some(Self { value, canary })
    }

    /// A value of its input.
    pub fn input(&self, name: &str) -> &Value {
        &self.value["input"][name]
    }

    /// A text of its input, with the names of this test in it.
    #[track_caller]
    pub fn text(&self, name: &str) -> String {
        self.put(self.input(name).as_str().expect("a text"))
    }

    /// Puts the names of this test in.
    pub fn put(&self, text: &str) -> String {
        let port = self.canary.local_addr().expect("an address").port();
        text.replace("{UA}", TOKEN)
            .replace("{UA_UPPER}", &TOKEN.to_uppercase())
            .replace("{CANARY}", &port.to_string())
    }

    /// What its hosts answer in the first run.
    pub fn script(&self) -> Script {
        Script::from_json(self.input("hosts"), &|text| self.put(text))
    }

    /// What they answer from the run of that number on.
    pub fn later(&self, run: usize) -> Script {
        Script::from_json(&self.input("later_runs")[run - 2]["hosts"], &|text| self.put(text))
    }

    /// A public source `docs` of `docs.example.org` that starts at the seed.
    pub fn source(&self) -> SiteSource {
        docs(&self.text("seed"))
    }

    /// A folder with that source alone, and hosts that answer as the case says.
    pub fn crawl(&self) -> Crawl {
        Self::crawl_of(self.script(), &[self.source()])
    }

    /// A folder with these sources. Requests may go to `docs.example.org` only.
    pub fn crawl_of(script: Script, sources: &[SiteSource]) -> Crawl {
        Crawl::new(script, sources).judged(Self::judge())
    }

    pub fn judge() -> Judge {
        let judge = Judge::new(crate::support::crawl::PACE);
        judge.within(&["https://docs.example.org/", "http://docs.example.org/"])
    }

    /// Nobody knocked where nobody may.
    #[track_caller]
    pub fn assert_silent(&self) {
        assert!(self.canary.accept().is_err(), "the canary was contacted");
    }
}

/// The URL of a path of `docs.example.org`.
pub fn at(path: &str) -> String {
    format!("https://docs.example.org{path}")
}
