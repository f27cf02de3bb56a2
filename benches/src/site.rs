//! A site of real pages, read first, unchanged, and with 1 % edited, beside what else turns
//! a site into files: `wget --mirror`, and the crate spider with its own converter.
//!
//! All read the same pages from the same nginx. The pages that are linked but not there make
//! the difference between a crawler and a list: wget and spider follow the links of pages,
//! pagelog reads what the sitemap names (`depth = 0`).

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::Arguments;
use crate::measure::{Cost, Measured, git, mb, median, middle, run_to_end};
use crate::nginx::{Nginx, Requests};
use crate::sitemap;
use crate::toolchain::{self, RealPage};

const DAYS: [&str; 4] = [
    "2026-11-28T02:00:00Z",
    "2026-11-29T02:00:00Z",
    "2026-11-30T02:00:00Z",
    "2026-12-01T02:00:00Z",
];
/// 2026-11-29T12:00:00Z: between the second run and the third.
const EDITED: i64 = 1_795_953_600;

/// What a kind of run cost, round by round.
#[derive(Default)]
struct Row {
    name: String,
    costs: Vec<Cost>,
    requests: Vec<Requests>,
    codes: BTreeSet<i32>,
}

/// The site and its server.
struct Place {
    folder: PathBuf,
    pages: Vec<RealPage>,
    server: Nginx,
}

/// Measures all.
pub fn run(arguments: &Arguments) {
    let folder = tempfile::tempdir().expect("a folder");
    let place = Place::new(folder.path(), arguments.pages.unwrap_or(5_000));
    let mut rows = Vec::new();
    for round in 0..arguments.rounds {
        let at = folder.path().join(format!("round-{round}"));
        pagelog_round(arguments, &place, (&at, &mut rows));
        if available("wget") {
            wget_round(&place, (&at.join("wget"), &mut rows));
        }
        if let Some(spider) = &arguments.spider {
            spider_round((spider, &place), (&at.join("spider"), &mut rows));
        }
        fs::remove_dir_all(&at).expect("round is removed");
    }
    table(&rows);
    note_figures(arguments, &rows, place.pages.len());
    flushes(arguments, &place);
}

impl Place {
    fn new(folder: &Path, count: usize) -> Self {
        let site = folder.join("site");
        fs::create_dir_all(&site).expect("folder is made");
        let (pages, bytes) = toolchain::copy(&site, count);
        println!("{} pages, {:.1} MB\n", pages.len(), mb(bytes));
        let server = Nginx::start(folder, "");
        fs::write(site.join("robots.txt"), "User-agent: *\nAllow: /\n").expect("robots.txt");
        let items =
            pages.iter().map(|page| format!("<li><a href=\"/{0}\">{0}</a></li>\n", page.path));
        let list = format!(
            "<!DOCTYPE html>\n<html><head><title>All</title></head><body><ul>\n{}</ul></body></html>\n",
            items.collect::<String>()
        );
        fs::write(site.join("all.html"), list).expect("list is written");
        let place = Self { folder: folder.to_owned(), pages, server };
        place.write_sitemaps();
        place
    }

    /// One sitemap that tells no time of change, and one that does.
    fn write_sitemaps(&self) {
        let origin = self.server.origin.as_str();
        let address = |page: &RealPage| format!("{origin}/{}", page.path);
        let plain: Vec<_> = self.pages.iter().map(|page| (address(page), None)).collect();
        let dated: Vec<_> =
            self.pages.iter().map(|page| (address(page), Some(self.time(page)))).collect();
        let site = self.folder.join("site");
        sitemap::write(&site, (origin, "sitemap"), &plain);
        sitemap::write(&site, (origin, "dated"), &dated);
    }

    fn file(&self, page: &RealPage) -> PathBuf {
        self.folder.join("site").join(&page.path)
    }

    fn time(&self, page: &RealPage) -> i64 {
        let changed = fs::metadata(self.file(page)).and_then(|data| data.modified());
        let since = changed.expect("a time").duration_since(std::time::UNIX_EPOCH);
        i64::try_from(since.expect("a time after 1970").as_secs()).expect("a time of now")
    }

    /// Edits every hundredth page; what it gives puts them back.
    fn edit(&self) -> Vec<(&RealPage, Vec<u8>)> {
        let mut before = Vec::new();
        for page in self.pages.iter().step_by(100) {
            let file = self.file(page);
            let text = fs::read(&file).expect("page is read");
            fs::write(&file, edited(&text)).expect("page is written");
            toolchain::set_time(&file, EDITED);
            before.push((page, text));
        }
        self.write_sitemaps();
        before
    }

    fn put_back(&self, before: Vec<(&RealPage, Vec<u8>)>) {
        for (page, text) in before {
            fs::write(self.file(page), text).expect("page is written");
            toolchain::set_time(&self.file(page), page.time);
        }
        self.write_sitemaps();
    }
}

/// The page with one more word: in its first paragraph, or in one of its own.
fn edited(text: &[u8]) -> Vec<u8> {
    let text = String::from_utf8_lossy(text);
    let main = text.find("<main").or_else(|| text.find("<body")).unwrap_or(0);
    let (at, added) = match text[main..].find("</p>") {
        Some(end) => (main + end, " Edited."),
        None => {
            let end = text.find("</section>").or_else(|| text.find("</main>"));
            (end.or_else(|| text.find("</body>")).unwrap_or(text.len()), "<p>Edited.</p>")
        }
    };
    [&text[..at], added, &text[at..]].concat().into_bytes()
}

/// Notes what a run cost under its name.
fn note(rows: &mut Vec<Row>, name: &str, (measured, requests): (Measured, Requests)) {
    let at = rows.iter().position(|row| row.name == name).unwrap_or_else(|| {
        rows.push(Row { name: name.to_owned(), ..Row::default() });
        rows.len() - 1
    });
    rows[at].costs.push(measured.cost);
    rows[at].requests.push(requests);
    rows[at].codes.insert(measured.code);
}

/// Writes a configuration that reads the site.
fn configure(place: &Place, (folder, sitemap): (&Path, &str)) {
    fs::create_dir_all(folder).expect("folder is made");
    let start = format!("{}/{sitemap}.xml", place.server.origin);
    let text = crate::corpus::site_source("real", (place.server.host(), &start), "0s");
    fs::write(folder.join("sources.toml"), crate::corpus::BOT.to_owned() + &text)
        .expect("configuration is written");
}

fn pagelog_round(arguments: &Arguments, place: &Place, (at, rows): (&Path, &mut Vec<Row>)) {
    for (kind, sitemap) in [("", "sitemap"), (", sitemap with lastmod", "dated")] {
        let folder = at.join(sitemap);
        configure(place, (&folder, sitemap));
        let mut run = |name: &str, clock| {
            let mut command = crate::corpus::pagelog(&arguments.program, &folder, clock);
            place.server.requests();
            let measured = run_to_end(&mut command, None);
            assert!([0, 3].contains(&measured.code), "{command:?}: exit code {}", measured.code);
            note(rows, &format!("pagelog, {name}{kind}"), (measured, place.server.requests()));
        };
        run("first run", DAYS[0]);
        run("nothing changed", DAYS[1]);
        let before = place.edit();
        run("1 % edited", DAYS[2]);
        check(&arguments.program, &folder, (place, &before));
        place.put_back(before);
    }
}

/// Says so where the last commit changed other pages than the edited ones, or left something
/// loose.
fn check(program: &Path, folder: &Path, (place, edited): (&Place, &[(&RealPage, Vec<u8>)])) {
    let archive = folder.join("archive");
    let listed = git(&archive, &["diff", "--name-only", "main~1", "main", "--", "pages"]);
    let listed = String::from_utf8_lossy(&listed).into_owned();
    let changed: BTreeSet<&str> = listed.lines().collect();
    let expected: Vec<String> = edited
        .iter()
        .map(|(page, _)| {
            let mut command = Command::new(program);
            let address = format!("{}/{}", place.server.origin, page.path);
            command.current_dir(folder).args(["path", &address]);
            let output = command.output().expect("pagelog starts");
            String::from_utf8_lossy(&output.stdout).trim().to_owned()
        })
        .collect();
    let expected: BTreeSet<&str> = expected.iter().map(String::as_str).collect();
    if changed != expected {
        let missing: Vec<_> = expected.difference(&changed).collect();
        let others: Vec<_> = changed.difference(&expected).collect();
        let few = |paths: &[&&str]| format!("{:?}", &paths[..paths.len().min(3)]);
        println!("NOT the edited pages: {} missing, {}", missing.len(), few(&missing));
        println!("  {} others, {}", others.len(), few(&others));
    }
    let loose = String::from_utf8_lossy(&git(&archive, &["count-objects"])).trim().to_owned();
    if !loose.starts_with("0 objects") {
        println!("loose objects: {loose}");
    }
}

fn wget_round(place: &Place, (at, rows): (&Path, &mut Vec<Row>)) {
    fs::create_dir_all(at).expect("folder is made");
    let mut run = |name: &str| {
        let mut command = Command::new("wget");
        // Pages only; what they look like is read by none of the peers. Asked with a time,
        // wget follows no links of a page that answers 304: it has to ask with HEAD.
        command.current_dir(at).args([
            "--quiet",
            "--no-config",
            "--mirror",
            "--no-proxy",
            "--no-if-modified-since",
            r"--reject-regex=\.(css|js|svg|png|jpg|gif|ico|woff2?|txt|md)(\?.*)?$",
        ]);
        command.arg(format!("{}/all.html", place.server.origin));
        place.server.requests();
        let measured = run_to_end(&mut command, None);
        // 8: the server answered 404 to something.
        assert!([0, 8].contains(&measured.code), "wget: exit code {}", measured.code);
        note(rows, &format!("wget --mirror, {name}"), (measured, place.server.requests()));
    };
    run("first run");
    let before = place.edit();
    run("1 % edited");
    place.put_back(before);
}

fn spider_round((program, place): (&Path, &Place), (at, rows): (&Path, &mut Vec<Row>)) {
    fs::create_dir_all(at).expect("folder is made");
    let mut run = |name: &str| {
        let mut command = Command::new(program);
        command.current_dir(at).arg(format!("{}/all.html", place.server.origin));
        command.args(["pages", "validators.tsv"]);
        place.server.requests();
        let measured = run_to_end(&mut command, None);
        assert!(measured.code == 0, "spider: exit code {}", measured.code);
        note(rows, &format!("spider, {name}"), (measured, place.server.requests()));
    };
    run("first run");
    let before = place.edit();
    run("1 % edited");
    place.put_back(before);
}

fn available(program: &str) -> bool {
    let found = Command::new(program).arg("--version").output().is_ok();
    if !found {
        println!("no {program}: that peer is left out");
    }
    found
}

fn table(rows: &[Row]) {
    println!("| | wall | CPU | resident | anonymous | requests: 200 / 304 / others | exit code |");
    println!("|---|---|---|---|---|---|---|");
    for row in rows {
        let cost = median(&row.costs);
        let each = |of: fn(&Requests) -> usize| middle(row.requests.iter().map(of).collect());
        let requests = Requests {
            ok: each(|r| r.ok),
            not_modified: each(|r| r.not_modified),
            other: each(|r| r.other),
        };
        let codes: Vec<String> = row.codes.iter().map(i32::to_string).collect();
        println!(
            "| {} | {:.2} s | {:.2} s | {:.0} MB | {:.0} MB | {requests} | {} |",
            row.name,
            cost.wall.as_secs_f64(),
            cost.cpu.as_secs_f64(),
            mb(cost.memory),
            mb(cost.anonymous),
            codes.join(", ")
        );
    }
}

/// Notes how the program stands beside its peers, as far as they are there.
fn note_figures(arguments: &Arguments, rows: &[Row], pages: usize) {
    let find = |name: &str| rows.iter().find(|row| row.name == name);
    let wall = |name: &str| find(name).map(|row| median(&row.costs).wall.as_secs_f64());
    let pairs = [
        ("site: first run's wall, of wget's", "first run", "wget --mirror"),
        ("site: 1 % edited's wall, of wget's", "1 % edited", "wget --mirror"),
        ("site: first run's wall, of spider's", "first run", "spider"),
        ("site: 1 % edited's wall, of spider's", "1 % edited", "spider"),
    ];
    for (figure, run, peer) in pairs {
        let (ours, theirs) = (wall(&format!("pagelog, {run}")), wall(&format!("{peer}, {run}")));
        if let (Some(ours), Some(theirs)) = (ours, theirs) {
            arguments.note(figure, ours / theirs);
        }
    }
    if let Some(row) = find("pagelog, 1 % edited, sitemap with lastmod") {
        let all = middle(row.requests.iter().map(|r| r.ok + r.not_modified + r.other).collect());
        // robots.txt and the sitemap are asked for whatever changed.
        let requests = all.saturating_sub(2) as f64 / pages.div_ceil(100) as f64;
        arguments.note("site: requests a changed page", requests);
    }
}

/// Flushes of a first run and of one in which 1 % changed; not measured otherwise, since
/// being traced is slow.
fn flushes(arguments: &Arguments, place: &Place) {
    if Command::new("strace").arg("-V").output().is_err() {
        println!("no strace: flushes are not counted");
        return;
    }
    let folder = place.folder.join("traced");
    configure(place, (&folder, "sitemap"));
    println!();
    let traced = |name: &str, clock| {
        let counts = folder.join("counts");
        let status = Command::new("strace")
            .current_dir(&folder)
            .args(["-f", "-c", "-e", "trace=fsync,fdatasync", "-o"])
            .arg(&counts)
            .arg(&arguments.program)
            .args(["--clock", clock, "-q", "run"])
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .status()
            .expect("strace starts");
        let text = fs::read_to_string(&counts).unwrap_or_default();
        let told: Vec<String> = ["fsync", "fdatasync"]
            .iter()
            .map(|call| format!("{} {call}", calls(&text, call)))
            .collect();
        println!("* flushes, {name}: {} (exit code {:?})", told.join(", "), status.code());
    };
    traced("first run", DAYS[0]);
    traced("nothing changed", DAYS[1]);
    let before = place.edit();
    traced("1 % edited", DAYS[2]);
    place.put_back(before);
}

/// Calls of that name in a summary of strace: the fourth column, the name in the last one.
fn calls(summary: &str, name: &str) -> u64 {
    let rows = summary.lines().map(|line| line.split_whitespace().collect::<Vec<_>>());
    let row = rows.into_iter().find(|row| row.last() == Some(&name));
    row.and_then(|row| row.get(3)?.parse().ok()).unwrap_or(0)
}
