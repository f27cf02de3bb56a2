//! The project's own `sources.toml` and the sample that `pagelog init` writes.

use super::*;

#[test]
fn the_shipped_file_says_who_we_are() {
    let config = read(SHIPPED).unwrap();
    let bot = &config.bot;
    assert_eq!(
        bot.user_agent(),
        "OpenCloudModelBot/1.0 (+https://opencloudmodel.org/crawler; crawler@opencloudmodel.org)"
    );
    assert_eq!(bot.operator, "OpenCloudModel, an academic research project");
    assert_eq!(bot.purpose, "Compares how cloud providers name and describe their services.");
    assert_eq!(bot.reverse_dns.as_deref(), Some("crawler.opencloudmodel.org"));
    assert_eq!(bot.ips_url.as_deref(), Some("https://opencloudmodel.org/crawler/ips.json"));
    assert!(bot.addresses.is_empty() && bot.comment.is_none() && bot.postal.is_none());
    assert!(bot.uses.is_none() && bot.bind.is_none());
    assert_eq!(config.archive.path, PathBuf::from("/srv/pages/archive"));
    assert_eq!(config.archive.case, CaseRule::Keep);
    assert_eq!(config.run.budget, Duration::from_hours(12));
    assert_eq!(config.run.gone_after, Duration::from_hours(24));
    assert_eq!(config.run.checkpoint, Duration::from_mins(5));
    assert_eq!(config.network, NetworkConfig::default());
    assert!(!config.publish.after_run && config.mirrors.is_empty());
    let lacking = config.missing_for_bot_page();
    assert_eq!(lacking.len(), 2, "{lacking:?}");
    assert!(lacking[0].contains("`addresses`") && lacking[1].contains("`postal`"));
}

fn summary(source: &Source) -> (&str, Option<&str>, &str, Visibility, &str) {
    let vendor = source.vendor.as_deref();
    (source.id.as_str(), vendor, &source.licence, source.visibility, source.kind.name())
}

#[test]
fn the_shipped_file_names_the_sources() {
    let config = read(SHIPPED).unwrap();
    let found: Vec<_> = config.sources.iter().map(summary).collect();
    let (public, private) = (Visibility::Public, Visibility::Private);
    assert_eq!(
        found,
        [
            ("azure-learn", Some("azure"), "CC-BY-4.0", public, "site"),
            ("gcp-docs", Some("gcp"), "CC-BY-4.0", public, "site"),
            ("aws-docs", Some("aws"), "CC-BY-SA-4.0", private, "site"),
            ("azure-git", Some("azure"), "CC-BY-4.0", public, "git"),
        ]
    );
    for source in &config.sources {
        assert_eq!(source.policy.name.as_str(), "standard");
        assert!(source.was.is_empty() && source.every.is_none() && source.profile.is_none());
        assert_eq!(source.volatile, crate::model::Volatile::default());
    }
}

#[test]
fn the_shipped_sites_are_exactly_those() {
    let config = read(SHIPPED).unwrap();
    let texts = |list: &[&str]| list.iter().map(|text| (*text).to_owned()).collect::<Vec<_>>();
    let expected = |host: &str, path: &str, seconds: u64| Site {
        hosts: texts(&[host]),
        paths: texts(&[path]),
        skip: Vec::new(),
        start: Vec::new(),
        pace: Duration::from_secs(seconds),
        depth: 3,
        max_pages: None,
        max_files: None,
        documents: Vec::new(),
        render: false,
        click: Vec::new(),
        markdown: MarkdownChoice::Auto,
        main: Vec::new(),
        drop: Vec::new(),
        recheck: Duration::from_hours(720),
        robots_removed: RobotsRemoved::Keep,
    };
    let sitemap = |n| format!("https://learn.microsoft.com/_sitemaps/azure_en-us_{n}.xml");
    let azure = Site {
        start: (1..=7).map(sitemap).collect(),
        ..expected("learn.microsoft.com", "/en-us/azure/", 1)
    };
    let gcp = Site {
        skip: texts(&[
            "/(java|nodejs|ruby|python|dotnet|php|go|cpp)/docs/reference",
            "/(reference|rest|rpc)/",
        ]),
        start: texts(&["https://docs.cloud.google.com/sitemap.xml"]),
        ..expected("docs.cloud.google.com", "/", 1)
    };
    let aws = Site {
        skip: texts(&[
            r"^https://docs\.aws\.amazon\.com/[a-z]{2}_[a-z]{2}/",
            r"^https://docs\.aws\.amazon\.com/(AWSCloudFormation|cdk|whitepapers|solutions|prescriptive-guidance|hands-on|code-library|sdkref|sdk-for-[^/]+)/",
            "/(APIReference|apireference|api|cli|relnotes|TemplateReference)/",
            r"/example_[^/]*\.html$",
            r"/(doc-history|document-history|glossary)\.html$",
        ]),
        start: texts(&["https://docs.aws.amazon.com/sitemap_index.xml"]),
        ..expected("docs.aws.amazon.com", "/", 5)
    };
    for (source, expected) in config.sources.iter().zip([azure, gcp, aws]) {
        assert_eq!(source.kind, SourceKind::Site(expected));
    }
    let SourceKind::Git(git) = &config.sources[3].kind else { panic!() };
    let names = ["docs", "compute-docs", "aks-docs", "management-docs", "monitor-docs"];
    let urls = names.map(|name| format!("https://github.com/MicrosoftDocs/azure-{name}.git"));
    let found: Vec<_> = git.repositories.iter().map(|it| it.fetch_url().to_owned()).collect();
    assert_eq!(found, urls);
    assert!(git.branch.is_none() && git.paths.is_empty() && git.skip.is_empty());
    assert_eq!(git.mapping, crate::model::UrlMapping::default());
    assert_eq!((git.pace, git.keep_upstream), (Duration::from_secs(1), None));
}

#[test]
fn the_sample_parses_and_says_what_is_missing() {
    let config = read(SAMPLE).unwrap();
    assert!(config.sources.is_empty() && config.mirrors.is_empty());
    let lacking = config.missing_for_bot_page();
    for key in ["`url`", "`contact`", "`name`", "`operator`", "`purpose`", "`addresses`"] {
        assert!(lacking.iter().any(|sentence| sentence.starts_with(key)), "{key}: {lacking:?}");
    }
}

/// The sample with every key in use.
fn whole_sample() -> String {
    let used = |line: &&str| {
        line.strip_prefix('#').is_some_and(|rest| rest.starts_with(|c: char| c != ' '))
    };
    let plain = |line| if used(&line) { &line[1..] } else { line };
    SAMPLE.lines().map(plain).collect::<Vec<_>>().join("\n")
}

#[test]
fn every_key_of_the_sample_is_valid_and_every_key_is_there() {
    let text = whole_sample();
    let config = read(&text).unwrap_or_else(|errors| panic!("{:#?}", errors.lines()));
    assert_eq!(config.sources.len(), 3);
    let shows = |part: &str, key: &str| part.lines().any(|l| l.starts_with(&format!("{key} =")));
    let parts: Vec<&str> = text.split("[[source]]").collect();
    for (part, keys) in parts[1..].iter().zip([site::KEYS, git::KEYS, feed::KEYS]) {
        for key in keys.iter().filter(|key| **key != "pace") {
            assert!(shows(part, key), "{key}");
        }
    }
    for key in ["id", "was", "kind", "vendor", "licence", "publish", "every", "profile", "policy"] {
        assert!(shows(parts[1], key), "{key}");
    }
}

/// What each table says that it knows, told by an unknown key.
#[test]
fn the_lists_of_keys_are_those_that_are_read() {
    for (kind, keys) in [("site", site::KEYS), ("git", git::KEYS), ("feed", feed::KEYS)] {
        let lines = bad(&source("a", kind, "true", "qqqqqqqqqqqqqqqq=1"));
        let line = lines.iter().find(|line| line.contains("unknown key")).unwrap();
        let known = line.split("known here: ").nth(1).unwrap().trim_end_matches(')');
        let known: Vec<&str> = known.split(", ").collect();
        for key in keys {
            assert!(known.contains(key), "{kind}: {key}");
        }
        assert_eq!(known.len(), keys.len() + 10 + 1, "{kind}: {known:?}");
    }
}

#[test]
fn all_keys_of_all_kinds_are_resolved() {
    let text = whole_sample();
    let config = read(&text).unwrap();
    assert_eq!(config.archive.case, CaseRule::Portable);
    assert_eq!(config.network.ca_file, Some(PathBuf::from("/srv/pages/ca.pem")));
    assert_eq!(config.network.proxy.as_deref(), Some("http://127.0.0.1:3128"));
    assert_eq!(config.network.connect_to[0].target("docs.example.org", 443).unwrap().1, 8443);
    assert!(config.publish.after_run);
    assert_eq!(config.publish.slice, 1 << 30);
    assert_eq!(config.mirrors[0].name, "backup");
    assert_eq!(config.mirrors[0].url.to_string(), "https://git.example.org/archive.git");
    assert_eq!(config.source("docs").unwrap().id.as_str(), "example-docs");
    assert_eq!(config.source("example-docs"), config.source("docs"));
    assert!(config.source("nothing").is_none());

    let source = &config.sources[0];
    assert_eq!(source.volatile.keys, ["ms.date"]);
    assert_eq!(source.volatile.patterns, [r"\d+ minutes to read"]);
    assert_eq!(source.every, Some(Duration::from_hours(24)));
    assert_eq!(source.profile.as_deref(), Some("sphinx"));
    let site = site_of(&config);
    assert_eq!((site.max_pages, site.max_files), (Some(10_000), Some(100)));
    assert_eq!((site.documents[0].as_str(), site.render), ("pdf", true));
    assert_eq!((site.click.len(), site.main.len(), site.drop.len()), (1, 1, 1));

    let SourceKind::Git(git) = &config.sources[1].kind else { panic!() };
    assert_eq!(git.branch.as_deref(), Some("main"));
    assert_eq!((&git.paths, &git.mapping.roots), (&git.paths, &git.paths));
    assert_eq!(git.mapping.base.as_ref().unwrap().as_str(), "https://guide.example.org/");
    assert_eq!(git.keep_upstream, Some(Duration::from_hours(720)));

    let feed = Feed {
        feeds: vec!["https://news.example.org/rss".to_owned()],
        max_entries: 40,
        teaser: 600,
        pace: Duration::from_secs(1),
    };
    assert_eq!(config.sources[2].kind, SourceKind::Feed(feed));
    assert_eq!(config.sources[2].policy.name.as_str(), "courteous-feeds");
}
