//! Files of policies, and what they may not say.

use std::path::Path;

use super::super::{parse, shipped_policies};

fn faults(policy: &str, source: &str) -> String {
    let file = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(file.path(), policy).unwrap();
    let text = format!(
        "[bot]\nname = \"TestBot\"\nurl = \"https://example.org/bot\"\n\
         contact = \"bot@example.org\"\n[[policy]]\nname = \"own\"\nfile = {:?}\n\
         [[source]]\nid = \"a\"\nkind = \"site\"\nlicence = \"CC0-1.0\"\npublish = true\n\
         hosts = [\"a.example\"]\npaths = [\"/\"]\nstart = [\"https://a.example/\"]\n{source}\n",
        file.path()
    );
    let read = parse("sources.toml", &text, Path::new("/srv"));
    read.err().map(|errors| errors.lines().join("\n")).unwrap_or_default()
}

#[test]
fn the_shipped_ones_have_no_mistake_and_the_standard_one_is_first() {
    let policies = shipped_policies().unwrap();
    let names: Vec<&str> = policies.iter().map(|policy| policy.name.as_str()).collect();
    assert_eq!(names, ["standard", "courteous-feeds", "bounded", "wikimedia"]);
}

#[test]
fn one_of_our_own_stands_beside_them() {
    assert_eq!(faults("about = \"Ours.\"", "policy = \"own\""), "");
    assert!(faults("about = \"Ours.\"", "policy = \"other\"").contains("\"wikimedia\" or \"own\""));
    assert!(faults("about = \"Ours.\"", "robots_exception = true").contains("knows none"));
}

#[test]
fn no_file_loosens_what_is_promised() {
    let with = |line: &str| faults(&format!("about = \"Ours.\"\n{line}\n"), "policy = \"own\"");
    assert!(with("robots_max_age = \"2h\"").contains("no policy goes beyond 1h"));
    assert!(with("retries = 3").contains("from 0 to 2"));
    assert!(with("backoff_least = \"500ms\"").contains("no policy goes beyond 1s"));
    assert!(with("backoff_max = \"1m\"").contains("no policy goes beyond 10m"));
    assert!(with("failures_before_parking = 4").contains("from 1 to 3"));
    assert!(with("robots_retry = \"1s\"").contains("from \"1m\" to \"1h\""));
    assert!(with("speed = 3").contains("unknown key"));
    assert!(with("[[limit]]\nname = \"x\"\nscope = \"all\"\nkinds = [\"y\"]").contains("no kind"));
    let media = "[[limit]]\nname = \"x\"\nscope = \"all\"\nbits_per_second = 5000";
    assert!(with(media).contains("nothing to divide by"));
    assert!(
        with("[[limit]]\nname = \"x\"\nscope = \"all\"\nquota = { most = 1 }").contains("quota")
    );
}
