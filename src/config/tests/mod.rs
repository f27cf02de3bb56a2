//! The file as a whole: what is refused, where, and with what hint.

mod policies;
mod shipped;

use std::path::{Path, PathBuf};
use std::time::Duration;

use miette::{Diagnostic, GraphicalReportHandler, GraphicalTheme};

use super::*;
use crate::model::{Feed, GitSource, MarkdownChoice, RobotsRemoved, Site, SourceKind, Visibility};

const SHIPPED: &str = include_str!("../../../sources.toml");
const BOT: &str = "[bot]\nname='B'\nurl='https://b.example/'\ncontact='a@b.example'\n";

fn read(text: &str) -> Result<Config, ConfigErrors> {
    parse("sources.toml", text, Path::new("/srv/pages"))
}

/// The configuration of a text behind a valid `[bot]`.
fn good(text: &str) -> Config {
    read(&format!("{BOT}{text}")).unwrap_or_else(|errors| panic!("{:#?}", errors.lines()))
}

/// What is said about a text behind a valid `[bot]`, which has four lines.
fn bad(text: &str) -> Vec<String> {
    match read(&format!("{BOT}{text}")) {
        Ok(_) => panic!("accepted: {text}"),
        Err(errors) => errors.lines(),
    }
}

#[track_caller]
fn refused(text: &str, expected: &[&str]) {
    let lines = bad(text);
    let fits = lines.len() == expected.len()
        && lines.iter().zip(expected).all(|(line, part)| line.contains(part));
    assert!(fits, "{lines:#?}\nexpected {expected:#?}");
}

fn source(id: &str, kind: &str, publish: &str, rest: &str) -> String {
    format!("[[source]]\nid='{id}'\nkind='{kind}'\nlicence='MIT'\npublish={publish}\n{rest}\n")
}

fn site(id: &str, publish: &str, host: &str, path: &str) -> String {
    let rest = format!("hosts=['{host}']\npaths=['{path}']\nstart=['https://{host}/s.xml']");
    source(id, "site", publish, &rest)
}

fn git(id: &str, publish: &str, rest: &str) -> String {
    source(id, "git", publish, rest)
}

fn site_of(config: &Config) -> &Site {
    match &config.sources[0].kind {
        SourceKind::Site(site) => site,
        other => panic!("{other:?}"),
    }
}

fn git_of(config: &Config) -> &GitSource {
    match &config.sources[0].kind {
        SourceKind::Git(git) => git,
        other => panic!("{other:?}"),
    }
}

#[test]
fn defaults_are_those_of_the_design() {
    let feed = source("n", "feed", "false", "feeds=['https://n.example/rss']");
    let config = good(&feed);
    assert_eq!(config.sources[0].policy.name.as_str(), "courteous-feeds");
    let SourceKind::Feed(feed) = &config.sources[0].kind else { panic!() };
    assert_eq!((feed.max_entries, feed.teaser), (40, 600));
    assert_eq!(config.run.budget, Duration::from_hours(12));
    assert_eq!(config.archive.path, PathBuf::from("/srv/pages/archive"));
    assert_eq!(config.bot.version, "1.0");
    assert!(good("").sources.is_empty());
}

#[test]
fn markdown_has_five_forms() {
    let with = |value: &str| {
        let text = site("a", "true", "a.example", "/") + &format!("markdown='{value}'");
        site_of(&good(&text)).markdown.clone()
    };
    assert_eq!(with("auto"), MarkdownChoice::Auto);
    assert_eq!(with("accept"), MarkdownChoice::Accept);
    assert_eq!(with("suffix:.md.txt"), MarkdownChoice::Suffix(".md.txt".into()));
    let query = MarkdownChoice::Query("accept=text/markdown".into());
    assert_eq!(with("query:accept=text/markdown"), query);
    assert_eq!(with("off"), MarkdownChoice::Off);
    for value in ["", "suffix:", "query:", "suffix:a/b", "html", "Accept"] {
        let text = site("a", "true", "a.example", "/") + &format!("markdown='{value}'");
        refused(&text, &["no way to ask for Markdown"]);
    }
}

const ELEVEN: &str = "\
[bot]
name = \"Bot 2\"
url = \"https://b.example/\"

[archiv]
path = \"archive\"

[[source]]
id = \"Azure Docs\"
kind = \"site\"
licence = \"CC-BY-4\"
publish = \"yes\"
hosts = [\"https://docs.example.org/\"]
paths = [\"en-us/\"]
start = [\"https://docs.example.org/s.xml\"]
skip = ['/api/', '(']
deph = 3
pace = \"5\"
";

#[test]
fn eleven_mistakes_are_eleven_errors_at_their_places() {
    let errors = read(ELEVEN).unwrap_err();
    let expected = [
        (1, 1, "[bot]", "`contact` is missing in [bot]", "crawler@example.org"),
        (2, 8, "\"Bot 2\"", "`name`: `Bot 2` is not a product token", "letters"),
        (5, 2, "archiv", "unknown key `archiv` in the file", "did you mean `archive`?"),
        (9, 6, "\"Azure Docs\"", "`id`: `Azure Docs` is not a source id", "\"azure-docs\""),
        (11, 11, "\"CC-BY-4\"", "`licence`: `CC-BY-4` is not an SPDX", "\"CC-BY-4.0\""),
        (12, 11, "\"yes\"", "`publish`: expected true or false, found a text", "without quotes"),
        (13, 10, "\"https://docs.example.org/\"", "is an address, not a host", "docs.example.org"),
        (14, 10, "\"en-us/\"", "does not begin with `/`", "write \"/en-us/\""),
        (16, 18, "'('", "`(` is not a regular expression", "unclosed group"),
        (17, 1, "deph", "unknown key `deph` in [[source]]", "did you mean `depth`?"),
        (18, 8, "\"5\"", "`5` is not a length of time", "\"5s\""),
    ];
    assert_eq!(errors.errors().len(), expected.len(), "{:#?}", errors.lines());
    for (error, (line, column, offending, message, hint)) in errors.errors().iter().zip(expected) {
        assert_eq!((error.line, error.column), (line, column), "{}", error.line());
        assert_eq!(error.offending, offending);
        assert!(error.message.contains(message), "{}", error.line());
        assert!(error.hint.contains(hint), "{}", error.line());
        assert!(error.line().starts_with(&format!("sources.toml:{line}:{column}: ")));
    }
}

#[test]
fn both_renderings_show_place_and_hint() {
    let errors = read(ELEVEN).unwrap_err();
    assert_eq!(errors.to_string(), "sources.toml: 11 mistakes");
    assert_eq!(errors.related().unwrap().count(), 11);
    let mut fancy = String::new();
    let handler = GraphicalReportHandler::new_themed(GraphicalTheme::unicode_nocolor());
    handler.render_report(&mut fancy, &errors).unwrap();
    for part in ["sources.toml:11:11", "did you mean \"CC-BY-4.0\"?", "deph = 3"] {
        assert!(fancy.contains(part), "{part}\n{fancy}");
    }
}

#[test]
fn a_file_that_is_not_toml_is_told_line_by_line() {
    refused(
        "[run]\nbudget = 12h\ngone_after = = 1\n[network\n",
        &["sources.toml:6:", "sources.toml:7:", "sources.toml:8:"],
    );
    refused(
        "[run]\nbudget = '1h'\nbudget = '2h'\n",
        &["sources.toml:7:1: duplicate key: `budget` (each key"],
    );
    refused("x = \"\\.html$\"\n", &["single quotes"]);
    refused("x = 1 y\n[run\n", &["`", "expected `]`: `[run`"]);
}

#[test]
fn an_empty_file_lacks_what_has_no_default() {
    let lines = read("").unwrap_err().lines();
    let expected = ["`name` is missing", "`url` is missing", "`contact` is missing"];
    assert_eq!(lines.len(), 3);
    for (line, part) in lines.iter().zip(expected) {
        assert!(line.starts_with("sources.toml:1:1: ") && line.contains(part), "{line}");
    }
}

#[test]
fn byte_order_mark_and_crlf_move_nothing() {
    let text = format!("\u{feff}{}", ELEVEN.replace('\n', "\r\n"));
    let place = |error: &ConfigError| (error.line, error.column, error.offending.clone());
    let places =
        |text: &str| -> Vec<_> { read(text).unwrap_err().errors().iter().map(place).collect() };
    assert_eq!(places(&text), places(ELEVEN));
    assert!(read(&format!("\u{feff}{}", SHIPPED.replace('\n', "\r\n"))).is_ok());
    let error = &read("\u{feff}bot = 1").unwrap_err().errors()[0].line();
    assert!(error.starts_with("sources.toml:1:"), "{error}");
}

#[test]
fn columns_count_characters() {
    refused("x = { 'é€' = 1, y = 2 }\n[run]\n'öö' = 1", &[":5:1: ", ":7:1: "]);
    let lines = bad("[run]\n\"é\" = 1 # ü\nbudget = [ \"ü\", 2 ]");
    assert!(lines[1].starts_with("sources.toml:7:10: "), "{lines:?}");
}

#[test]
fn huge_nesting_is_refused_in_time() {
    for text in ["x = ".to_owned() + &"[".repeat(100_000), "[a".to_owned() + &".a".repeat(50_000)] {
        assert!(!bad(&text).is_empty());
    }
    let tables = "[[source]]\n".repeat(2_000);
    assert_eq!(bad(&tables).len(), 8_000);
}

#[test]
fn files_that_cannot_be_read_say_why() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("sources.toml");
    let lines = load(&path).unwrap_err().lines();
    assert!(lines[0].contains("sources.toml: cannot be read") && lines[0].contains("init"));
    std::fs::write(&path, b"[bot]\nname = \"\xff\"\n").unwrap();
    let errors = load(&path).unwrap_err();
    let error = &errors.errors()[0];
    assert_eq!((error.line, error.column), (2, 9));
    assert!(error.message.contains("0xff") && error.hint.contains("UTF-8"));
    std::fs::write(&path, SHIPPED).unwrap();
    assert_eq!(load(&path).unwrap().archive.path, dir.path().join("archive"));
    assert!(load(dir.path()).is_err());
}

#[test]
fn passwords_are_never_shown() {
    let text = "[network]\nproxy = 'ftp://u:s3cret@h:1'\n[x]\ny = 'http://u:s3cret@h'";
    let errors = read(&format!("{BOT}{text}")).unwrap_err();
    let mut fancy = String::new();
    let handler = GraphicalReportHandler::new_themed(GraphicalTheme::unicode_nocolor());
    handler.render_report(&mut fancy, &errors).unwrap();
    let all = format!("{:?} {errors:?} {fancy}", errors.lines());
    assert!(!all.contains("s3cret"), "{all}");
    let config = good("[network]\nproxy = 'http://u:s3cret@h:1'");
    assert!(!format!("{config:?}").contains("s3cret"));
    assert_eq!(config.network.proxy.as_deref(), Some("http://u:s3cret@h:1"));
}

#[test]
fn keys_of_another_kind_say_so() {
    let text = git("a", "true", "repositories=['https://g.example/a/b.git']\ndepth=3\nteaser=1");
    refused(&text, &["`depth` is a key of kind site", "`teaser` is a key of kind feed"]);
    let text = source("a", "sight", "true", "depth=3\nrepositories=[]\nfoo=1");
    refused(&text, &["`sight` is not known (write \"site\" or", "unknown key `foo`"]);
}

#[test]
fn tables_of_the_wrong_shape_are_refused() {
    refused("[source]\nid='a'", &["expected a list of tables, found a table (write [[source]]"]);
    refused("[[run]]\nbudget='1h'", &["expected a table, found a list (write [run], once)"]);
    refused("[network]\nconnect_to='a:1:b:2'", &["write connect_to = [\"a:1:b:2\"]"]);
    refused("[network]\nconnect_to=['a:1:b']", &["`a:1:b` is not of the form"]);
    refused("[run]\nbudget=12", &["expected a text, found a whole number (write budget"]);
    refused("[run]\nbudget='0s'", &["a run without time reads nothing"]);
    refused(
        "[run]\ncheckpoint='0s'",
        &["comes to nothing else (write for instance checkpoint = \"5m\")"],
    );
}

#[test]
fn the_bot_is_what_headers_and_commits_can_carry() {
    let bot = |lines: &str| {
        let text = format!("[bot]\nname='B'\nurl='https://b/'\ncontact='a@b'\n{lines}");
        read(&text).map_or_else(|errors| errors.lines(), |_| Vec::new())
    };
    let line = |lines: &str| bot(lines).join("\n");
    assert_eq!(line("bind='::1'\naddresses=['192.0.2.0/24','2001:db8::/32','192.0.2.7']"), "");
    assert_eq!(line("comment='see page'\npostal='A\\nB'"), "");
    assert!(line("comment=\"a\\r\\nX: y\"").contains("control characters"));
    assert!(line("comment='a) (b'").contains("User-Agent"));
    assert!(line("version='1 0'").contains("not a version"));
    assert!(line("bind='localhost'").contains("not an IP address"));
    assert!(line("addresses=['192.0.2.7/24']").contains("192.0.2.0/24"));
    assert!(line("addresses=['192.0.2.0/33']").contains("0 to 32"));
    assert!(line("addresses=['h']").contains("not a range"));
    assert!(line("reverse_dns='192.0.2.1'").contains("not a host name"));
    assert!(line("ips_url='ips.json'").contains("not an address of the web"));
    let wrong = "[bot]\nname='B1'\nurl='ftp://b/'\ncontact='nobody'";
    assert_eq!(read(wrong).unwrap_err().lines().len(), 3);
}

#[test]
fn pace_zero_is_for_loopback_only() {
    let with = |host: &str, pace: &str| site("a", "true", host, "/") + &format!("pace={pace}");
    assert_eq!(site_of(&good(&with("127.0.1.1:8080", "0"))).pace, Duration::ZERO);
    assert_eq!(site_of(&good(&with("[::1]:8080", "'0s'"))).pace, Duration::ZERO);
    assert_eq!(site_of(&good(&with("a.example", "'250ms'"))).pace, Duration::from_millis(250));
    refused(&with("a.example", "0"), &["loopback addresses only, not for `a.example`"]);
    refused(&with("10.0.0.1", "'0s'"), &["loopback addresses only"]);
    refused(&with("localhost", "0"), &["loopback addresses only"]);
    let elsewhere = with("127.0.0.1", "0").replace("https://127.0.0.1/", "https://a.example/");
    refused(&elsewhere, &["not for `a.example`"]);
    let local = git("g", "true", "repositories=['/srv/git/a.git']\npace=0");
    assert_eq!(git_of(&good(&local)).pace, Duration::ZERO);
}

#[test]
fn repositories_may_be_relative() {
    let with = |text: &str| {
        let config = good(&git("g", "true", &format!("repositories=['{text}']")));
        git_of(&config).repositories[0].fetch_url().to_owned()
    };
    assert!(with("./up/a.git").ends_with("/srv/pages/up/a.git"));
    assert!(with("up/a.git").ends_with("/srv/pages/up/a.git"));
    assert!(with("../a.git").contains("/srv/"));
    assert!(with("/srv/git/a.git").ends_with("/srv/git/a.git"));
    assert_eq!(with("https://g.example/o/a.git"), "https://g.example/o/a.git");
    refused(&git("g", "true", "repositories=['']"), &["does not name a repository"]);
    let mirror = "[[mirror]]\nname='m'\nurl='./mirror.git'";
    assert_eq!(good(mirror).mirrors[0].url.to_string(), "/srv/pages/mirror.git");
}

#[test]
fn values_of_git_sources_are_checked() {
    let with = |line: &str| git("g", "true", &format!("repositories=['https://g/o/a']\n{line}"));
    for branch in ["main", "release/1.2", "a-b_c"] {
        good(&with(&format!("branch='{branch}'")));
    }
    for branch in ["", "-x", "a..b", "a b", "a~", "a^", "a:b", "a?", "a*", "a[", "a\\b", "a/", "@"]
    {
        refused(&with(&format!("branch='{branch}'")), &["cannot be the name of a branch"]);
    }
    let config = good(&with("base_url='https://d.example/guide'\npaths=['docs/']"));
    let mapping = &git_of(&config).mapping;
    assert_eq!(mapping.base.as_ref().unwrap().as_str(), "https://d.example/guide/");
    assert_eq!(mapping.roots, ["docs/"]);
    refused(&with("base_url='https://d.example/?a'"), &["query or fragment"]);
    refused(&with("base_url='d.example'"), &["not an address of the web"]);
    refused(&with("paths=['/docs/']"), &["write \"docs/\""]);
}

#[test]
fn a_site_needs_hosts_paths_and_a_start() {
    refused(
        &source("a", "site", "true", ""),
        &["`hosts` is missing", "`paths` is missing", "`start` is missing"],
    );
    refused(
        &source("a", "site", "true", "hosts=[]\npaths=[]\nstart=[]"),
        &["`hosts`: the list is empty", "`paths`: the list is empty", "`start`: the list is empty"],
    );
    refused(&source("a", "git", "true", ""), &["`repositories` is missing"]);
    refused(&source("a", "feed", "true", "feeds=['x']"), &["`x` is not an address of the web"]);
}

#[test]
fn other_values_of_sites_are_checked() {
    let with = |line: &str| site("a", "true", "a.example", "/") + line;
    refused(&with("documents=['doc']"), &["`doc` is not known (write \"pdf\")"]);
    refused(&with("robots_removed='no'"), &["write \"keep\" or \"drop\""]);
    refused(&with("policy='fast'"), &["\"standard\" or \"courteous-feeds\""]);
    refused(&with("depth=-1"), &["`-1` is out of range"]);
    refused(&with("max_pages=0"), &["out of range"]);
    refused(&with("depth=99999999999"), &["out of range"]);
    refused(&with("volatile=['/(/', '/x', '']"), &["unclosed", "neither", "neither"]);
    assert_eq!(site_of(&good(&with("depth=0x10"))).depth, 16);
    refused(&site("a", "true", "a.example", "/a b/"), &["write \"/a%20b/\""]);
    refused(&site("a", "true", "a.example", "/a?b"), &["more than a path"]);
}

#[test]
fn ids_and_names_are_unique() {
    let two = site("a", "true", "a.example", "/") + &site("a", "true", "b.example", "/");
    refused(&two, &["sources.toml:14:4: the id `a` is used twice, see line 6 ("]);
    let was =
        site("a", "true", "a.example", "/") + &site("b", "true", "b.example", "/") + "was=['a']";
    refused(&was, &["the id `a` is used twice"]);
    let own = site("a", "true", "a.example", "/") + "was=['a']";
    refused(&own, &["the id `a` is used twice"]);
    let mirrors =
        "[[mirror]]\nname='m'\nurl='https://a/b'\n[[mirror]]\nname='m'\nurl='https://c/d'";
    refused(mirrors, &["two mirrors are called `m`, see line 6"]);
}

#[test]
fn repositories_of_one_source_do_not_clash() {
    let with = |list: &str| git("g", "true", &format!("repositories=[{list}]"));
    refused(
        &with("'https://g/o/a.git', 'https://g/o/a.git'"),
        &["two repositories of this source stand at"],
    );
    refused(&with("'https://g/o/a', 'https://g/o/a/b'"), &["lie in one another"]);
    good(&with("'https://g/o/a', 'https://g/o/ab', 'https://g/o/b'"));
    let apart = git("g", "true", "repositories=['https://g/o/a']")
        + &git("h", "true", "repositories=['https://g/o/a']");
    good(&apart);
}

#[test]
fn no_repository_is_public_and_private() {
    let list = "repositories=['https://g/o/a.git']";
    let text = git("g", "true", list) + &git("h", "false", list);
    refused(&text, &["is read by `h` and by `g`, one public and one private"]);
}

#[test]
fn public_and_private_scope_do_not_overlap() {
    let sites = |host: &str, one: &str, two: &str, publish: &str| {
        site("a", "true", "a.example", one) + &site("b", publish, host, two)
    };
    refused(
        &sites("a.example", "/", "/docs/", "false"),
        &["`paths` overlaps `paths` of `a`: `a.example/docs/` would be public and private"],
    );
    refused(&sites("A.example", "/docs/x/", "/docs/", "false"), &["overlaps"]);
    good(&sites("a.example", "/docs/", "/blog/", "false"));
    good(&sites("a.example", "/", "/docs/", "true"));
    good(&sites("a.example:8443", "/", "/", "false"));
    let based = |base: &str| {
        site("a", "false", "a.example", "/docs/")
            + &git("g", "true", &format!("repositories=['https://g/o/a']\nbase_url='{base}'"))
    };
    refused(&based("https://a.example/docs/guide/"), &["`base_url` overlaps `paths` of `a`"]);
    refused(&based("https://a.example/"), &["`base_url` overlaps"]);
    good(&based("https://a.example/guide/"));
    let feed = |address: &str| {
        site("a", "false", "a.example", "/docs/")
            + &source("f", "feed", "true", &format!("feeds=['{address}']"))
    };
    refused(&feed("https://a.example/docs/rss"), &["`feeds` overlaps"]);
    good(&feed("https://a.example/"));
}

/// Whatever is cut off or put in, every mistake has a place in the file.
#[test]
fn damaged_files_are_refused_in_good_order() {
    let whole = format!("{SHIPPED}\n# é\n");
    let cuts: Vec<usize> = whole.char_indices().map(|(at, _)| at).step_by(29).collect();
    for at in cuts {
        let (before, after) = whole.split_at(at);
        for text in [before.to_owned(), format!("{before}é\"{after}"), format!("{before}]={after}")]
        {
            let Err(errors) = read(&text) else { continue };
            let lines = text.matches('\n').count() + 1;
            for error in errors.errors() {
                assert!((1..=lines).contains(&error.line) && error.column > 0, "{}", error.line());
                assert!(!error.message.is_empty() && !error.hint.is_empty());
            }
            assert!(errors.errors().is_sorted_by_key(|error| error.line));
        }
    }
}

#[test]
fn mirrors_are_checked() {
    let mirror = |url: &str| format!("[[mirror]]\nname='m'\nurl='{url}'\n");
    for url in ["https://bob:hunter2@g.example/a", "https://hunter2@g.example/a"] {
        let lines = bad(&mirror(url));
        assert!(lines.iter().any(|line| line.contains("credential.helper")), "{lines:?}");
        assert!(!lines.concat().contains("hunter2"), "{lines:?}");
        let shown = format!(
            "{:?}",
            miette::Report::new(read(&format!("{BOT}{}", mirror(url))).unwrap_err())
        );
        assert!(!shown.contains("hunter2"), "{shown}");
    }
    let lines = bad(&mirror("https://g.example/a?access_token=hunter2"));
    assert!(!lines.concat().contains("hunter2"), "{lines:?}");
    refused(&mirror("http://g.example/a"), &["write https"]);
    refused(&mirror("git://g.example/a"), &["by https, by ssh or by a local path"]);
    for url in ["git@g.example:o/a.git", "ssh://g.example/a", "http://127.0.0.1:1/a"] {
        good(&mirror(url));
    }
    let slice = |text: &str| good(&format!("[publish]\nslice='{text}'")).publish.slice;
    assert_eq!(["64KiB", "2 GiB", "500MB"].map(slice), [65_536, 2 << 30, 500_000_000]);
    refused("[publish]\nslice='1KiB'", &["too little for a push"]);
    refused("[publish]\nslice='big'", &["is not a number of bytes"]);
    refused("[publish]\nslice='99999999999GiB'", &["is not a number of bytes"]);
}
