//! Which addresses belong to a site.
//!
//! Owns the meaning of `hosts`, `paths` and `skip`: everything that asks whether a URL is a
//! page of a site asks here. The answer depends on the address alone, so it is the same in
//! every run; robots.txt, redirects and what the operator names in `start` are others'
//! business.

use regex::RegexSet;

use crate::model::{PageUrl, Site};

/// The scope of one site, compiled.
#[derive(Debug)]
pub struct Scope {
    /// In canonical form, with a port where it is not the default of http or https.
    hosts: Vec<String>,
    paths: Vec<String>,
    skip: RegexSet,
}

/// Whether a URL is a page of a site, or why it is not.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict<'a> {
    /// It is.
    In,
    /// Its host and port are not in `hosts`.
    OutOfHost,
    /// Its path begins with none of `paths`.
    OutOfPath,
    /// This rule of `skip`, the first that fits, excludes it.
    Skipped(&'a str),
    /// Its name ends like that of something that is no page.
    Media(&'static str),
}

/// Ends of the names of files that hold no text of a page.
const MEDIA: [&str; 60] = [
    "7z", "apk", "avi", "avif", "bin", "bmp", "bz2", "css", "deb", "dll", "dmg", "doc", "docx",
    "eot", "epub", "exe", "gif", "gz", "ico", "img", "iso", "jar", "jpeg", "jpg", "js", "m4a",
    "m4v", "map", "mjs", "mov", "mp3", "mp4", "mpeg", "msi", "odt", "ogg", "ogv", "otf", "pdf",
    "pkg", "png", "ppt", "pptx", "rar", "rpm", "svg", "tar", "tgz", "tif", "tiff", "ttf", "wasm",
    "wav", "webm", "webp", "woff", "woff2", "xls", "xlsx", "zip",
];

impl Scope {
    /// Compiles the scope of a site.
    ///
    /// # Errors
    /// A pattern of `skip` is no regular expression.
    pub fn new(site: &Site) -> Result<Self, regex::Error> {
        let skip = RegexSet::new(&site.skip)?;
        Ok(Self { hosts: site.hosts.clone(), paths: site.paths.clone(), skip })
    }

    /// The verdict on a URL: the host counts first, then the path, then `skip`, whose
    /// patterns are searched in the whole canonical URL.
    #[must_use]
    pub fn verdict(&self, url: &PageUrl) -> Verdict<'_> {
        if !self.has_host(url) {
            return Verdict::OutOfHost;
        }
        if !self.paths.iter().any(|prefix| url.path().starts_with(prefix.as_str())) {
            return Verdict::OutOfPath;
        }
        let rule = self.skip.matches(url.as_str()).iter().next();
        if let Some(rule) = rule.and_then(|rule| self.skip.patterns().get(rule)) {
            return Verdict::Skipped(rule);
        }
        media(url.path()).map_or(Verdict::In, Verdict::Media)
    }

    /// Whether a host, with its port where it has one, is one of the site's.
    #[must_use]
    pub fn has_host(&self, url: &PageUrl) -> bool {
        let authority = url.origin().split_once("://").map_or("", |(_, authority)| authority);
        self.hosts.iter().any(|host| host == authority)
    }
}

/// The end of a file's name, where files of that kind are no pages.
fn media(path: &str) -> Option<&'static str> {
    let name = path.rsplit('/').next().unwrap_or_default();
    let (_, end) = name.rsplit_once('.')?;
    MEDIA.iter().find(|known| known.eq_ignore_ascii_case(end)).copied()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config;
    use crate::model::SourceKind;

    fn scope(keys: &str) -> Scope {
        let text = format!(
            "[bot]\nname = \"Bot\"\nversion = \"1\"\nurl = \"https://bot.example/\"\n\
             contact = \"bot@bot.example\"\n\n[[source]]\nid = \"docs\"\nkind = \"site\"\n\
             licence = \"MIT\"\npublish = true\nstart = [\"https://h.example/\"]\n{keys}\n"
        );
        let parsed = config::parse("sources.toml", &text, "/".as_ref()).unwrap();
        match &parsed.sources[0].kind {
            SourceKind::Site(site) => Scope::new(site).unwrap(),
            other => panic!("not a site: {other:?}"),
        }
    }

    fn check(scope: &Scope, cases: &[(&str, Verdict<'_>)]) {
        for (text, verdict) in cases {
            assert_eq!(scope.verdict(&PageUrl::parse(text).unwrap()), *verdict, "{text}");
        }
    }

    #[test]
    fn hosts_are_told_apart_by_name_and_port() {
        let some = scope(
            "hosts = [\"h.example\", \"127.0.1.1:8080\", \"[::1]:81\", \"i.example:443\"]\n\
             paths = [\"/\"]",
        );
        check(
            &some,
            &[
                ("https://h.example/", Verdict::In),
                ("http://H.example.:80/a", Verdict::In),
                ("https://h.example:443/a", Verdict::In),
                ("https://h.example:8443/a", Verdict::OutOfHost),
                ("https://www.h.example/", Verdict::OutOfHost),
                ("https://h.example.evil.example/", Verdict::OutOfHost),
                ("http://127.0.1.1:8080/", Verdict::In),
                ("http://127.1.1:8080/", Verdict::OutOfHost),
                ("http://127.0.1.1/", Verdict::OutOfHost),
                ("http://[0::1]:81/", Verdict::In),
                ("http://[::1]/", Verdict::OutOfHost),
                ("https://i.example/", Verdict::In),
            ],
        );
    }

    #[test]
    fn paths_are_prefixes_and_the_first_rule_that_fits_is_named() {
        let some = scope(
            "hosts = [\"h.example\"]\npaths = [\"/en/docs/\", \"/api\"]\n\
             skip = ['/old/', '^http://', 'print=1$', 'docs/old/']",
        );
        check(
            &some,
            &[
                ("https://h.example/en/docs/", Verdict::In),
                ("https://h.example/en/docs", Verdict::OutOfPath),
                ("https://h.example/EN/docs/", Verdict::OutOfPath),
                ("https://h.example/api?x=/en/docs/", Verdict::In),
                ("https://h.example/apis", Verdict::In),
                ("https://h.example/?x=/api", Verdict::OutOfPath),
                ("https://h.example/en/docs/../secret", Verdict::OutOfPath),
                ("https://h.example/en/docs/old/a", Verdict::Skipped("/old/")),
                ("https://h.example/en/docs/a?print=1", Verdict::Skipped("print=1$")),
                ("http://h.example/api", Verdict::Skipped("^http://")),
                ("https://h.example/old/", Verdict::OutOfPath),
                ("https://i.example/old/", Verdict::OutOfHost),
            ],
        );
    }
}
