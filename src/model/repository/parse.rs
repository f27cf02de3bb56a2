//! Reading what an operator wrote for a repository.

use url::{Host, Url};

use super::{Repository, tree_root};
use crate::model::CaseRule;
use crate::model::path::host_directory;
use crate::model::url::{Part, decode_percent, encode_path, host_name, normalise};

/// Longest directory of a repository in the tree, so that hashed paths below it stay short.
const MAX_ROOT: usize = 512;
/// Most segments of a repository's path.
const MAX_SEGMENTS: usize = 20;
/// Longest label of a host name.
const MAX_LABEL: usize = 63;

/// The repository that `text` names, or what is wrong with it.
pub(super) fn repository(text: &str) -> Result<Repository, String> {
    if text.trim().is_empty() {
        return Err("it is empty".into());
    }
    if text.starts_with('-') {
        return Err("it begins with `-`".into());
    }
    if text.chars().any(char::is_control) {
        return Err("it holds a control character".into());
    }
    if text.trim() != text {
        return Err("it begins or ends with a space".into());
    }
    if text.starts_with('/') {
        return local(text.as_bytes());
    }
    if let Some((scheme, rest)) = text.split_once("://").filter(|(scheme, _)| is_word(scheme)) {
        return match scheme.to_ascii_lowercase().as_str() {
            scheme @ ("https" | "http" | "git" | "ssh") => network(scheme, text),
            "file" => file_url(rest),
            _ => Err("only https, http, git, ssh and file URLs are read".into()),
        };
    }
    if text.split_once("::").is_some_and(|(helper, _)| is_word(helper)) {
        return Err("remote helpers (`name::address`) are never run".into());
    }
    match text.find(['/', ':']) {
        Some(at) if text[at..].starts_with(':') => short_ssh(text),
        _ => Err("a local repository needs an absolute path or file://".into()),
    }
}

/// `text` without anything that could be a password (user, query and fragment are left
/// out), printable.
pub(super) fn without_secrets(text: &str) -> String {
    let text = text.replace(char::is_control, "\u{fffd}");
    if text.starts_with('/') || text.starts_with("file:") {
        return text;
    }
    let scheme_end = text.find("://").map_or(0, |at| at + 3);
    let (scheme, rest) = text.split_at(scheme_end);
    let rest = rest.rsplit_once('@').map_or(rest, |(_, rest)| rest);
    let public =
        if scheme.is_empty() { rest } else { rest.split(['?', '#']).next().unwrap_or_default() };
    format!("{scheme}{public}")
}

fn is_word(text: &str) -> bool {
    !text.is_empty()
        && text.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'+' | b'-' | b'.'))
}

/// `user@host:path` and `host:path` (gitglossary, "scp-like syntax").
fn short_ssh(text: &str) -> Result<Repository, String> {
    let literal = text.find('[').filter(|&at| at == 0 || text[..at].ends_with('@'));
    let host_end = match literal {
        Some(at) => text[at..].find("]:").map(|end| at + end + 1),
        None => text.find(':'),
    };
    let Some((authority, path)) = host_end.map(|at| (&text[..at], &text[at + 1..])) else {
        return Err("the host is not followed by `:` and a path".into());
    };
    if is_scheme(authority) {
        return Err("a URL has `://` behind its scheme".into());
    }
    if path.split('/').next().is_some_and(|name| name.contains('@')) {
        return Err("there is an `@` behind the `:`, as if a password were given".into());
    }
    let mut url = format!("ssh://{authority}/");
    encode_path(path.trim_start_matches('/').as_bytes(), &mut url);
    network("ssh", &url)
}

fn is_scheme(text: &str) -> bool {
    ["https", "http", "git", "ssh", "file", "ftp", "ftps"]
        .iter()
        .any(|scheme| text.eq_ignore_ascii_case(scheme))
}

fn file_url(rest: &str) -> Result<Repository, String> {
    let (host, path) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
    if !host.is_empty() && !host.eq_ignore_ascii_case("localhost") {
        return Err("a file URL names no other host: write file:///path".into());
    }
    if path.contains(['?', '#']) {
        return Err("a repository has no query and no fragment".into());
    }
    local(&decode_percent(path))
}

fn local(path: &[u8]) -> Result<Repository, String> {
    if path.iter().any(u8::is_ascii_control) {
        return Err("it holds a control character".into());
    }
    let mut fetch = "file://".to_owned();
    let mut names = Vec::new();
    for name in path.split(|&byte| byte == b'/') {
        match name {
            b"" | b"." => {}
            b".." => return Err("a local path is written without `..`".into()),
            _ => {
                fetch.push('/');
                encode_path(name, &mut fetch);
                names.push(name);
            }
        }
    }
    if names.is_empty() {
        return Err("it names no directory".into());
    }
    let name = name_of(&names);
    let home = format!("https://{name}.git.invalid/");
    let root = host_directory(&format!("{name}.git.invalid"), None, "https");
    Ok(Repository {
        fetch,
        address: home.clone(),
        endpoint: None,
        portable_root: root.clone(),
        root,
        files: home.clone(),
        home,
    })
}

fn network(scheme: &str, text: &str) -> Result<Repository, String> {
    let url = Url::parse(text).map_err(|error| error.to_string())?;
    if url.password().is_some() {
        return Err("a password is never written down: use a credential helper or ssh".into());
    }
    let user = url.username();
    if !user.is_empty() && (scheme != "ssh" || !is_user(user)) {
        return Err(
            "a user name is for ssh only, and made of letters, digits, `.`, `_`, `-`".into()
        );
    }
    if url.query().is_some() || url.fragment().is_some() {
        return Err("a repository has no query and no fragment".into());
    }
    let host = host(url.host_str().unwrap_or_default())?;
    let path = normalise(url.path(), Part::Path).map_err(|refusal| refusal.to_string())?;
    if decode_percent(&path).iter().any(u8::is_ascii_control) {
        return Err("it holds a control character".into());
    }
    let segments: Vec<&str> = path.split('/').filter(|segment| !segment.is_empty()).collect();
    if segments.is_empty() {
        return Err("it names a host, but no repository there".into());
    }
    let default = default_port(scheme);
    let port = url.port().filter(|&port| port != default);
    let place = Place { scheme, host: &host, port, segments };
    let address = place.address("");
    let fetch = if user.is_empty() { address.clone() } else { place.address(&format!("{user}@")) };
    let stripped = without_git(&place.segments);
    let directory = host_directory(&host, port, scheme);
    let root = tree_root(&directory, &stripped, CaseRule::Keep);
    let portable_root = tree_root(&directory, &stripped, CaseRule::Portable);
    if root.len().max(portable_root.len()) > MAX_ROOT || stripped.len() > MAX_SEGMENTS {
        return Err("its path is too long".into());
    }
    let (home, files) = place.web(&stripped);
    let endpoint = host.trim_matches(['[', ']']).to_owned();
    Ok(Repository {
        fetch,
        address,
        endpoint: Some((endpoint, port.unwrap_or(default))),
        root,
        portable_root,
        home,
        files,
    })
}

fn is_user(user: &str) -> bool {
    let allowed = |b: u8| b.is_ascii_alphanumeric() || matches!(b, b'.' | b'_' | b'-');
    !user.starts_with('-') && user.bytes().all(allowed)
}

fn default_port(scheme: &str) -> u16 {
    match scheme {
        "https" => 443,
        "http" => 80,
        "git" => 9418,
        _ => 22,
    }
}

/// The canonical host. It becomes an argument of a command for ssh, hence the few letters.
fn host(text: &str) -> Result<String, String> {
    if text.is_empty() {
        return Err("it names no host".into());
    }
    let parsed = Host::parse(text).map_err(|error| error.to_string())?.to_string();
    let name = host_name(&parsed).map_err(|refusal| refusal.to_string())?;
    let allowed = |b: u8| b.is_ascii_alphanumeric() || matches!(b, b'.' | b'_' | b'-');
    let plain = name.bytes().all(allowed) && !name.starts_with('-');
    if plain || name.starts_with('[') {
        Ok(name.to_owned())
    } else {
        Err("its host name is not made of letters, digits, `.`, `_` and `-`".into())
    }
}

/// Where a repository is found in the network.
struct Place<'a> {
    scheme: &'a str,
    host: &'a str,
    port: Option<u16>,
    segments: Vec<&'a str>,
}

impl Place<'_> {
    fn origin(&self, user: &str) -> String {
        let Self { scheme, host, .. } = self;
        let port = self.port.map(|port| format!(":{port}")).unwrap_or_default();
        format!("{scheme}://{user}{host}{port}")
    }

    fn address(&self, user: &str) -> String {
        format!("{}/{}", self.origin(user), self.segments.join("/"))
    }

    /// Web address of the repository, and what the path of a file is put behind.
    fn web(&self, segments: &[&str]) -> (String, String) {
        let path = segments.join("/");
        let (home, middle) = match (self.host, segments.len()) {
            ("github.com", 2) => (format!("https://github.com/{path}"), "/blob/HEAD/"),
            ("bitbucket.org", 2) => (format!("https://bitbucket.org/{path}"), "/src/HEAD/"),
            ("gitlab.com", 2..) => (format!("https://gitlab.com/{path}"), "/-/blob/HEAD/"),
            (host, 2..) if host.starts_with("gitlab.") => {
                let is_web = matches!(self.scheme, "https" | "http");
                let origin = if is_web { self.origin("") } else { format!("https://{host}") };
                (format!("{origin}/{path}"), "/-/blob/HEAD/")
            }
            _ => {
                let names: Vec<Vec<u8>> = segments.iter().map(|s| decode_percent(s)).collect();
                let names: Vec<&[u8]> = names.iter().map(Vec::as_slice).collect();
                (format!("https://{}.git.invalid/", name_of(&names)), "")
            }
        };
        let files = format!("{home}{middle}");
        (home, files)
    }
}

/// The segments without a last `.git`, or without `.git` at the end of the last.
fn without_git<'a>(segments: &[&'a str]) -> Vec<&'a str> {
    let mut segments = segments.to_vec();
    match segments.as_slice() {
        [_, .., ".git"] => {
            segments.pop();
        }
        [.., last] => {
            let stripped = last.strip_suffix(".git").filter(|name| !name.is_empty());
            if let (Some(name), Some(last)) = (stripped, segments.last_mut()) {
                *last = name;
            }
        }
        [] => {}
    }
    segments
}

/// The name of a repository as a label of a host name.
fn name_of(names: &[&[u8]]) -> String {
    let name = match names {
        [.., name, b".git"] => name,
        [.., name] => *name,
        [] => b"",
    };
    let name = name.strip_suffix(b".git").unwrap_or(name);
    let mut label: String = name
        .iter()
        .map(|byte| match byte.to_ascii_lowercase() {
            byte @ (b'a'..=b'z' | b'0'..=b'9') => char::from(byte),
            _ => '-',
        })
        .take(MAX_LABEL)
        .collect();
    // What begins with `xn--` would be read as an internationalised name.
    while label.trim_start_matches('-').starts_with("xn--") {
        label = label.replacen("xn--", "xn-", 1);
    }
    match label.trim_matches('-') {
        "" => "repository".to_owned(),
        label => label.to_owned(),
    }
}
