//! Signs that the archive's directory is served by Git or a web server.
//!
//! Git hands out any object of a repository by its id, whatever is hidden: a served archive
//! publishes its private pages. Nothing here is proof; each sign is reason enough to look.

use std::fs;
use std::path::Path;

use super::{Fault, FaultKind};
use crate::archive::directory::Archive;

const WHAT: &str =
    "the archive looks served; Git hands out any object by its id. Serve a mirror instead";

/// Where servers of common systems look.
const ROOTS: &[&str] = &[
    "/srv/www",
    "/srv/git",
    "/srv/http",
    "/srv/cgit",
    "/var/www",
    "/var/git",
    "/var/lib/git",
    "/var/lib/nginx",
    "/var/lib/gitolite3/repositories",
    "/var/cache/git",
    "/usr/share/nginx",
    "/usr/share/httpd",
    "/usr/local/www",
    "/usr/local/nginx",
    "/usr/local/apache2",
    "/etc/nginx",
    "/opt/homebrew/var/www",
    "/Library/WebServer",
];

/// Folders that servers show, wherever they are.
const FOLDERS: &[&str] =
    &["public_html", "htdocs", "www", "wwwroot", "webroot", "httpdocs", "cgit", "gitweb"];

/// Sections of settings that only servers read.
const SERVERS: &[&str] = &["daemon", "gitweb", "cgit", "instaweb"];

impl Archive {
    /// Signs that the directory is served, or open to other users of the machine.
    #[must_use]
    pub fn served_signs(&self) -> Vec<Fault> {
        let mut faults = signs_of_place(self.path());
        let place = self.path().join("config").display().to_string();
        for (name, value) in self.settings() {
            let section = name.split('.').next().unwrap_or_default();
            let is_off = matches!(value.as_str(), "false" | "no" | "off" | "0");
            let serves = SERVERS.contains(&section)
                || matches!(
                    name.as_str(),
                    "http.receivepack" | "http.uploadpack" | "http.getanyfile"
                );
            if serves && !is_off {
                let what = format!(
                    "{WHAT}: {name} is {value}, a setting that only servers read; `git config --unset-all {name}` removes it"
                );
                faults.push(Fault::new(FaultKind::Served, &place, what));
            }
        }
        faults
    }

    /// The settings of the archive's own file: names in lower case but for subsections.
    fn settings(&self) -> Vec<(String, String)> {
        let repository = self.repository();
        let config = repository.config_snapshot();
        let mut settings = Vec::new();
        for section in config.plumbing().sections() {
            let header = section.header();
            let name = header.name().to_string().to_lowercase();
            let middle = header.subsection_name().map_or_else(String::new, |sub| format!(".{sub}"));
            for (key, value) in section.body() {
                let key = key.to_lowercase();
                settings.push((format!("{name}{middle}.{key}"), value.to_string()));
            }
        }
        settings
    }
}

fn signs_of_place(path: &Path) -> Vec<Fault> {
    let mut faults = Vec::new();
    let mut add = |place: &Path, what: String| {
        faults.push(Fault::new(FaultKind::Served, place.display().to_string(), what));
    };
    for name in ["git-daemon-export-ok", "cgitrc", "gitweb.conf"] {
        let file = path.join(name);
        if file.exists() {
            add(&file, format!("{WHAT}, and remove this file"));
        }
    }
    let full = fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    let below = ROOTS.iter().any(|root| full.starts_with(root));
    let inside = full.components().find_map(|component| {
        let name = component.as_os_str().to_str()?;
        FOLDERS.iter().find(|folder| name.eq_ignore_ascii_case(folder))
    });
    if below {
        add(&full, format!("{WHAT}: it stands where servers look; move it elsewhere"));
    } else if let Some(folder) = inside {
        add(
            &full,
            format!("{WHAT}: servers often show folders named `{folder}`; move it elsewhere"),
        );
    }
    if is_open(path) {
        let what = "every user of this machine can read private pages; `chmod o-rwx` closes it";
        add(&full, what.to_owned());
    }
    faults
}

#[cfg(unix)]
fn is_open(path: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt;
    fs::metadata(path).is_ok_and(|data| data.permissions().mode() & 0o005 != 0)
}

#[cfg(not(unix))]
fn is_open(_path: &Path) -> bool {
    false
}
