//! The shared cases: those of public suites, against the column `rfc9309`, and the tables
//! of the fault cases.

use std::fs;
use std::path::PathBuf;

use serde_json::Value;

use super::Robots;

/// Rows that are believed to be wrong, each with the reason.
const DISPUTED: [(u64, &str); 0] = [];

/// The rows of a shared file; none, with a line that says so, where it is not at hand.
fn shared(name: &str) -> Vec<Value> {
    let beside = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../shared");
    let folder = std::env::var_os("PAGELOG_SHARED").map_or(beside, PathBuf::from);
    let Ok(text) = fs::read_to_string(folder.join(name)) else {
        println!("skipped: {name} is not at hand (PAGELOG_SHARED)");
        return Vec::new();
    };
    serde_json::from_str(&text).unwrap()
}

/// The bytes of the file of a row: text, base64, or repeated parts in Latin-1.
fn file(row: &Value) -> Vec<u8> {
    if let Some(text) = row["robots"].as_str() {
        return text.as_bytes().to_vec();
    }
    if let Some(text) = row["robots_b64"].as_str() {
        return base64(text);
    }
    let mut bytes = Vec::new();
    for part in row["robots_parts_latin1"].as_array().unwrap() {
        let text: Vec<u8> =
            part[0].as_str().unwrap().chars().map(|c| u8::try_from(c).unwrap()).collect();
        for _ in 0..part[1].as_u64().unwrap() {
            bytes.extend(&text);
        }
    }
    bytes
}

fn base64(text: &str) -> Vec<u8> {
    const DIGITS: &str = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut bytes = Vec::new();
    let (mut bits, mut count) = (0_u32, 0);
    for digit in text.trim_end_matches('=').chars() {
        bits = bits << 6 | u32::try_from(DIGITS.find(digit).unwrap()).unwrap();
        count += 6;
        if count >= 8 {
            count -= 8;
            bytes.push(u8::try_from(bits >> count & 0xff).unwrap());
        }
    }
    bytes
}

/// Path and query of what the suites call a URL, which may be half of one.
fn path(url: &str) -> String {
    let rest = url.split_once("://").map_or(url, |(scheme, rest)| {
        if scheme.contains('/') {
            url
        } else {
            &rest[rest.find(['/', '?']).unwrap_or(rest.len())..]
        }
    });
    if url.contains("://") || rest.starts_with('/') { rest.to_owned() } else { format!("/{rest}") }
}

#[test]
fn conformance() {
    let rows = shared("conformance/robots_cases.json");
    let (mut rules, mut delays, mut wrong) = (0, 0, Vec::new());
    for row in &rows {
        let id = row["id"].as_u64().unwrap();
        if DISPUTED.iter().any(|(disputed, _)| *disputed == id) {
            continue;
        }
        let robots = Robots::parse(&file(row), row["user_agent"].as_str().unwrap());
        let (found, want) = if row["kind"] == "crawl-delay" {
            delays += 1;
            let found = robots.crawl_delay().map(|delay| delay.as_secs_f64().to_string());
            (found, row["recommended"].as_f64().map(|delay| delay.to_string()))
        } else {
            rules += 1;
            let verdict = robots.allows(&path(row["url"].as_str().unwrap()));
            let word = if verdict.allowed { "allow" } else { "disallow" };
            (Some(word.to_owned()), row["rfc9309"].as_str().map(str::to_owned))
        };
        if found != want {
            wrong.push(format!("{id} {}: {found:?} instead of {want:?}", row["test"]));
        }
    }
    println!("{rules} rows of rules, {delays} of Crawl-delay, {} disputed", DISPUTED.len());
    assert!(wrong.is_empty(), "{} rows differ:\n{}", wrong.len(), wrong.join("\n"));
    assert!(rows.is_empty() || (rules > 1100 && delays > 35));
}

#[test]
fn tables_of_the_fault_cases() {
    let mut tables = 0;
    let cases = shared("faults/cases.json");
    for case in cases.iter().filter(|case| case["input"]["type"] == "robots-table") {
        let text = case["input"]["robots_txt"].as_str().unwrap();
        let text = text.replace("{UA_UPPER}", "EXAMPLEBOT").replace("{UA}", "ExampleBot");
        let robots = Robots::parse(text.as_bytes(), "ExampleBot");
        for row in case["input"]["urls"].as_array().unwrap() {
            let allowed = robots.allows(row[0].as_str().unwrap()).allowed;
            assert_eq!(Some(allowed), row[1].as_bool(), "{} {}", case["id"], row[0]);
        }
        tables += 1;
    }
    assert!(cases.is_empty() || tables >= 3, "{tables} tables");
}

#[test]
fn base64_of_the_rows_is_read() {
    assert_eq!(base64("//4A"), [0xff, 0xfe, 0]);
    assert_eq!(base64("QWI="), b"Ab");
}
