//! A way of writing as a process of its own: it makes the pages, then measures itself.

use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};
use std::time::Duration;

use pagelog::archive::Archive;
use pagelog::git::{Environment, Git, Network};
use pagelog::model::CaseRule;
use serde_json::{Value, json};

use super::{gix_pack, own, pages};
use crate::corpus;
use crate::measure::{Cost, within};

/// Name of the command that this program calls itself with.
pub const NAME: &str = "write-pages";

/// Writes `count` pages in a process of its own, and tells what that cost.
pub fn call(method: &str, (corpus, count): (&Path, usize), place: &Path) -> Cost {
    let program = std::env::current_exe().expect("this program");
    let mut command = Command::new(program);
    command.args([NAME, method]).arg(corpus).arg(count.to_string()).arg(place);
    let output = command.output().expect("this program starts");
    assert!(
        output.status.success(),
        "{command:?} failed: {}",
        String::from_utf8_lossy(&output.stderr)
    );
    let told: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    let seconds = |name: &str| Duration::from_secs_f64(told[name].as_f64().expect("seconds"));
    let bytes = |name: &str| told[name].as_u64().expect("bytes");
    Cost {
        wall: seconds("wall"),
        cpu: seconds("cpu"),
        memory: bytes("memory"),
        anonymous: bytes("anonymous"),
    }
}

/// That process: `write-pages METHOD VERSIONS COUNT PLACE`.
pub fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(2).collect();
    let [method, corpus, count, place] = words.as_slice() else { return ExitCode::from(2) };
    let Ok(count) = count.parse() else { return ExitCode::from(2) };
    let pages = pages::make(Path::new(corpus), count);
    let place = PathBuf::from(place);
    let cost = match method.as_str() {
        "own" => {
            let archive = archive(&place);
            within(|| own::write(&archive, &pages))
        }
        "gix" => {
            let (archive, objects) = (archive(&place), gix_pack::count(&pages));
            within(|| gix_pack::write(&archive, &pages, objects))
        }
        "stream" => within(|| drop(corpus::stream(&place, (2, None), pages::files(&pages)))),
        _ => return ExitCode::from(2),
    };
    println!(
        "{}",
        json!({
            "wall": cost.wall.as_secs_f64(),
            "cpu": cost.cpu.as_secs_f64(),
            "memory": cost.memory,
            "anonymous": cost.anonymous,
        })
    );
    ExitCode::SUCCESS
}

fn archive(place: &Path) -> Archive {
    let environment = Environment { path: std::env::var_os("PATH"), ..Environment::default() };
    let git = Git::new(&pages::bot(), environment, Network::default());
    Archive::init(place, CaseRule::Keep, &git).expect("an archive is made")
}
