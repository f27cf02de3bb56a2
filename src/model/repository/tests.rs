//! Repositories: what is taken and refused, addresses of files, references in them.

use super::*;
use crate::model::{PageUrl, Resolve};

fn repository(text: &str) -> Repository {
    Repository::parse(text).unwrap()
}

#[test]
#[expect(clippy::too_many_lines, reason = "a table of cases")]
fn what_names_a_repository() {
    for (text, fetch, address, root) in [
        ("https://github.com/Own/repo.git", "=", "=", "github.com/Own/repo"),
        ("https://github.com/Own/repo", "=", "=", "github.com/Own/repo"),
        (
            "HTTPS://GitHub.com:443/o/r/",
            "https://github.com/o/r",
            "https://github.com/o/r",
            "github.com/o/r",
        ),
        ("http://h.example:8080/r.git", "=", "=", "h.example+8080+http/r"),
        ("http://h.example/r", "=", "=", "h.example+http/r"),
        ("https://127.0.1.1:8443/a/r.git", "=", "=", "127.0.1.1+8443/a/r"),
        (
            "git://H.example:9418/r.md.git",
            "git://h.example/r.md.git",
            "git://h.example/r.md.git",
            "h.example/r!2emd",
        ),
        ("git://h.example:99/~u/r", "=", "=", "h.example+99/!7eu/r"),
        (
            "ssh://git@h.example:2222/o/r.git",
            "=",
            "ssh://h.example:2222/o/r.git",
            "h.example+2222/o/r",
        ),
        (
            "git@github.com:o/r.git",
            "ssh://git@github.com/o/r.git",
            "ssh://github.com/o/r.git",
            "github.com/o/r",
        ),
        (
            "h.example:/srv/a b",
            "ssh://h.example/srv/a%20b",
            "ssh://h.example/srv/a%20b",
            "h.example/srv/a%20b",
        ),
        ("u@[::1]:r", "ssh://u@[::1]/r", "ssh://[::1]/r", "!5b!3a!3a1!5d/r"),
        ("https://h.example/a/.git", "=", "=", "h.example/a"),
        ("https://h.example/.git", "=", "=", "h.example/!2egit"),
        (
            "https://h.example/a%7eb%2fc/con",
            "https://h.example/a~b%2Fc/con",
            "https://h.example/a~b%2Fc/con",
            "h.example/a!7eb%2fc/!63on",
        ),
        (
            "/srv/My Docs.git",
            "file:///srv/My%20Docs.git",
            "https://my-docs.git.invalid/",
            "my-docs.git.invalid",
        ),
        ("/a/b/.git/", "file:///a/b/.git", "https://b.git.invalid/", "b.git.invalid"),
        ("file:///a/%C3%A9%25b", "file:///a/%C3%A9%25b", "https://b.git.invalid/", "b.git.invalid"),
        (
            "file://localhost/a/xn--x",
            "file:///a/xn--x",
            "https://xn-x.git.invalid/",
            "xn-x.git.invalid",
        ),
        ("/srv/a#b?c", "file:///srv/a%23b%3Fc", "https://a-b-c.git.invalid/", "a-b-c.git.invalid"),
        ("/_/___", "file:///_/___", "https://repository.git.invalid/", "repository.git.invalid"),
    ] {
        let it = repository(text);
        let want = |want: &str| if want == "=" { text.to_owned() } else { want.to_owned() };
        assert_eq!(it.fetch_url(), want(fetch), "{text}");
        assert_eq!(it.address(), want(address), "{text}");
        assert_eq!(it.tree_root(), root, "{text}");
        assert_eq!(repository(it.fetch_url()), it, "{text}");
    }
    assert_eq!(repository("https://h/Own/r").tree_root_for(CaseRule::Portable), "h/!own/r");
}

#[test]
fn endpoints() {
    for (text, want) in [
        ("https://h.example/r", Some(("h.example", 443))),
        ("http://h.example/r", Some(("h.example", 80))),
        ("git://h.example/r", Some(("h.example", 9418))),
        ("h.example:r", Some(("h.example", 22))),
        ("ssh://[::1]:80/r", Some(("::1", 80))),
        ("/srv/r", None),
    ] {
        assert_eq!(repository(text).endpoint(), want, "{text}");
    }
}

#[test]
fn what_names_none() {
    for text in [
        "",
        " ",
        "-u",
        "--upload-pack=x",
        "ext::sh -c x",
        "fd::3",
        "a::b",
        "ftp://h/r",
        "rsync://h/r",
        "docs",
        "./docs",
        "../x",
        "a/b:c",
        "host",
        "https:/h/r",
        "file:/srv",
        "https://h.example",
        "https://h.example/",
        "https:///",
        "ssh:///r",
        "https://h/r?x",
        "https://h/r#x",
        "https://user@h/r",
        "git://user@h/r",
        "https://u:pw@h/r",
        "ssh://u:pw@h/r",
        "ssh://-o@h/r",
        "ssh://-oProxyCommand=x/r",
        "-oProxyCommand=x:r",
        "ssh://h;x/r",
        "ssh://$(x)/r",
        "u:pw@h:r",
        "https://h/a\nb",
        "https://h/a%0ab",
        "https://h/a%00b",
        " https://h/r",
        "file://other/r",
        "file:///",
        "/",
        "/a/../b",
        "file:///a/%2e%2e",
        "file:///a%0ab",
        "[::1]",
        "[::1]r",
        "h:",
        "https://h:99999/r",
        "https://h ex/r",
    ] {
        let error = Repository::parse(text).unwrap_err();
        assert!(!error.why.is_empty() && !error.to_string().contains("pw"), "{text}: {error}");
    }
    let error = Repository::parse("docs").unwrap_err();
    assert_eq!(error.why, "a local repository needs an absolute path or file://");
    let error = Repository::parse("https://u:pw/x@h/r?token=pw").unwrap_err();
    assert_eq!(error.text, "https://h/r");
    let long = format!("https://h/{}", "a/".repeat(30));
    assert!(Repository::parse(&long).is_err());
    let long = format!("https://h/{}/r", "A".repeat(300));
    assert!(repository(&long).tree_root().contains("!9"));
}

#[test]
fn clashes() {
    let it = repository("https://h.example/a/b.git");
    for (other, want) in [
        ("https://h.example/a/b", true),
        ("ssh://git@h.example/a/b", true),
        ("https://h.example/a", true),
        ("https://h.example/a/b/c", true),
        ("https://h.example/a/bc", false),
        ("http://h.example/a/b", false),
        ("https://h.example/", false),
    ] {
        let Ok(other) = Repository::parse(other) else { continue };
        assert_eq!(it.clashes_with(&other), want, "{other:?}");
        assert_eq!(other.clashes_with(&it), want, "{other:?}");
    }
}

fn mapping(base: &str, roots: &[&str]) -> UrlMapping {
    let base = (!base.is_empty()).then(|| PageUrl::parse(base).unwrap());
    UrlMapping { base, roots: roots.iter().map(|&root| root.to_owned()).collect() }
}

#[test]
fn addresses_on_forges() {
    for (text, file, want) in [
        ("https://github.com/o/r.git", "a b/c.md", "https://github.com/o/r/blob/HEAD/a%20b/c.md"),
        ("git@github.com:o/r.git", "c?#%.md", "https://github.com/o/r/blob/HEAD/c%3F%23%25.md"),
        ("https://gitlab.com/g/s/r", "c.md", "https://gitlab.com/g/s/r/-/blob/HEAD/c.md"),
        ("https://gitlab.x.org:8443/g/r", "c.md", "https://gitlab.x.org:8443/g/r/-/blob/HEAD/c.md"),
        ("ssh://git@gitlab.x.org:22/g/r", "c.md", "https://gitlab.x.org/g/r/-/blob/HEAD/c.md"),
        ("https://bitbucket.org/o/r.git", "c.md", "https://bitbucket.org/o/r/src/HEAD/c.md"),
        ("https://h.example/o/Re.po.git", "c.md", "https://re-po.git.invalid/c.md"),
        ("/srv/docs.git", "é/index.md", "https://docs.git.invalid/%C3%A9/index.md"),
    ] {
        let (repository, mapping) = (repository(text), UrlMapping::default());
        let page =
            RepositoryFile { repository: &repository, mapping: &mapping, file: file.as_bytes() };
        assert_eq!(page.url().unwrap().as_str(), want);
        assert_eq!(page.resolve("#x").unwrap().as_str(), want);
    }
    let (repository, mapping) = (repository("/srv/r"), UrlMapping::default());
    let page = RepositoryFile { repository: &repository, mapping: &mapping, file: b"\xff.md" };
    assert_eq!(page.url().unwrap().as_str(), "https://r.git.invalid/%FF.md");
}

#[test]
fn published_addresses() {
    let repository = repository("https://github.com/o/r");
    let mapping = mapping("https://d.example/en/", &["docs", "docs/en/", "/x/"]);
    for (file, want) in [
        ("docs/a.md", "a"),
        ("docs/a.Markdown", "a"),
        ("docs/en/a.md", "a"),
        ("docs/en/b/index.md", "b/"),
        ("docs/README.md", ""),
        ("docs/b/ReadMe.markdown", "b/"),
        ("docsy/a.md", "docsy/a"),
        ("x/a.b.md", "a.b"),
        ("x/index.txt", "index.txt"),
        ("x/README", "README"),
        ("x/.md", ".md"),
        ("docs/en", "en"),
    ] {
        let page =
            RepositoryFile { repository: &repository, mapping: &mapping, file: file.as_bytes() };
        assert_eq!(page.url().unwrap().as_str(), format!("https://d.example/en/{want}"), "{file}");
    }
}

#[test]
fn references() {
    let repository = repository("https://github.com/o/r");
    let with_base = mapping("https://d.example/en/azure/", &["docs"]);
    let without = UrlMapping::default();
    let blob = "https://github.com/o/r/blob/HEAD/";
    let base = "https://d.example/en/azure/";
    for (href, on_site, on_forge) in [
        ("", "sub/a", "docs/sub/a.md"),
        ("  #x", "sub/a", "docs/sub/a.md"),
        ("?tabs=cli#x", "sub/a?tabs=cli", "docs/sub/a.md?tabs=cli"),
        ("b.md", "sub/b", "docs/sub/b.md"),
        ("./b.md#x", "sub/b", "docs/sub/b.md"),
        ("b.md?x=1#y", "sub/b?x=1", "docs/sub/b.md?x=1"),
        ("..\\b.md", "b", "docs/b.md"),
        ("../README.md", "", "docs/README.md"),
        ("../../x/b.md", "x/b", "x/b.md"),
        ("../../../../b.md", "b", "b.md"),
        ("../media/i%20j.png", "media/i%20j.png", "docs/media/i%20j.png"),
        ("%2e%2e/b.md", "b", "docs/b.md"),
        ("b%2Emd", "sub/b", "docs/sub/b.md"),
        ("c:d.md", "!", "!"),
        ("./c:d.md", "sub/c:d", "docs/sub/c:d.md"),
        ("../overview", "overview", "docs/overview"),
        ("dir/", "sub/dir/", "docs/sub/dir"),
        ("b\tc.md\n", "sub/bc", "docs/sub/bc.md"),
        ("100%.md", "sub/100%25", "docs/sub/100%25.md"),
    ] {
        for (mapping, prefix, want) in [(&with_base, base, on_site), (&without, blob, on_forge)] {
            let page = RepositoryFile { repository: &repository, mapping, file: b"docs/sub/a.md" };
            let url = page.resolve(href);
            if want == "!" {
                assert!(url.is_err(), "{href}");
            } else {
                assert_eq!(url.unwrap().as_str(), format!("{prefix}{want}"), "{href}");
            }
        }
    }
    for (href, on_site, on_forge) in [
        ("/x/y.md?z", "https://d.example/x/y.md?z", "https://github.com/o/r/blob/HEAD/x/y.md?z"),
        ("/", "https://d.example/", "https://github.com/o/r"),
        ("//i.example/a#b", "https://i.example/a", "https://i.example/a"),
        ("\\\\i.example\\a", "https://i.example/a", "https://i.example/a"),
        ("HTTP://i.example/a?b#c", "http://i.example/a?b", "http://i.example/a?b"),
        ("https://i.example/?q=a\\b", "https://i.example/?q=a%5Cb", "https://i.example/?q=a%5Cb"),
    ] {
        for (mapping, want) in [(&with_base, on_site), (&without, on_forge)] {
            let page = RepositoryFile { repository: &repository, mapping, file: b"docs/sub/a.md" };
            assert_eq!(page.resolve(href).unwrap().as_str(), want, "{href}");
        }
    }
}

#[test]
fn an_address_gives_its_file_back() {
    let github = repository("https://github.com/o/r.git");
    let base = UrlMapping {
        base: Some(PageUrl::parse("https://docs.example/en/").unwrap()),
        roots: vec!["articles/".to_owned()],
    };
    for (mapping, file) in [
        (UrlMapping::default(), "README.md"),
        (UrlMapping::default(), "docs/a b%20é.md"),
        (UrlMapping::default(), "docs/x.rst"),
        (base.clone(), "articles/aks/a.md"),
        (base.clone(), "articles/aks/index.md"),
    ] {
        let url =
            RepositoryFile { repository: &github, mapping: &mapping, file: file.as_bytes() }.url();
        let found = github.file_at(&mapping, url.unwrap().as_str());
        assert_eq!(found.as_deref(), Some(file.as_bytes()), "{file}");
    }
    assert_eq!(github.file_at(&base, "https://elsewhere.example/a"), None);
}
