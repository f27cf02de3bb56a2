//! `pagelog check`

use std::fmt::Write as _;
use std::time::Duration;

use serde::Serialize;

use super::options::{CheckArguments, Options};
use super::output::Output;
use super::progress::Teller;
use super::session::Session;
use super::{Ending, Failure, conduct, probe};
use crate::config::{Config, load};
use crate::git::Interrupt;
use crate::model::{GitSource, Policy, Site, Source, SourceKind, Visibility};
use crate::run::{self, Context, Probe, RunError};

/// What `check --json` prints.
#[derive(Serialize)]
struct Findings {
    valid: bool,
    faults: Vec<String>,
    plan: Vec<String>,
    policies: Vec<String>,
    missing_for_bot_page: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    probe: Option<Vec<serde_json::Value>>,
}

pub(crate) fn check(
    options: &Options,
    arguments: &CheckArguments,
    output: &Output,
) -> Result<Ending, Failure> {
    if !options.config.exists() {
        let path = options.config.display();
        return Err(Failure::Usage(format!(
            "there is no {path}; `pagelog init` writes one, --config names another"
        )));
    }
    let config = match load(&options.config) {
        Ok(config) => config,
        Err(errors) if arguments.json => {
            let (plan, policies, missing_for_bot_page) = (Vec::new(), Vec::new(), Vec::new());
            output.json(&Findings {
                valid: false,
                faults: errors.lines(),
                plan,
                policies,
                missing_for_bot_page,
                probe: None,
            })?;
            return Ok(Ending::Faults);
        }
        Err(errors) => {
            output.config_errors(errors);
            return Ok(Ending::Faults);
        }
    };
    let interrupt = Interrupt::default();
    if arguments.probe {
        super::session::obey_signals(&interrupt);
    }
    let session = Session::with(config, options, interrupt)?;
    let config = &session.config;
    let faults: Vec<String> =
        session.git.check_version().err().iter().map(ToString::to_string).collect();
    let probes = if arguments.probe { Some(ask(&session, output)?) } else { None };
    let findings = Findings {
        valid: true,
        plan: config.sources.iter().map(plan).collect(),
        policies: in_force(config).map(conduct::policy).collect(),
        missing_for_bot_page: config.missing_for_bot_page(),
        faults,
        probe: probes.as_ref().map(|probes| probes.iter().map(probe::json).collect()),
    };
    let probes = probes.unwrap_or_default();
    if arguments.json {
        output.json(&findings)?;
    } else {
        let token = &config.bot.name;
        let told = probes.iter().map(|found| format!("\n{}", probe::text(found, token)));
        output.data(&format!("{}{}", text(config, &findings), told.collect::<String>()))?;
        for fault in &findings.faults {
            output.error(fault);
        }
    }
    let sound = findings.faults.is_empty() && probes.iter().all(Probe::is_sound);
    Ok(if sound { Ending::Done } else { Ending::Faults })
}

/// Asks the sources.
fn ask(session: &Session, output: &Output) -> Result<Vec<Probe>, Failure> {
    let teller = Teller::new(output, session.clock);
    let context = Context {
        config: &session.config,
        git: session.git.clone(),
        clock: session.clock,
        interrupt: session.interrupt.clone(),
        progress: &teller,
    };
    let probes = run::probe(&context);
    teller.end();
    probes.map_err(|error| match error {
        RunError::Interrupted => Failure::Interrupted,
        other => other.into(),
    })
}

fn text(config: &Config, findings: &Findings) -> String {
    let mut out = format!(
        "requests are sent as  {}\nthe archive is at     {}\nits upkeep takes      {}\n",
        config.bot.user_agent(),
        config.archive.path.display(),
        upkeep(config.run.upkeep)
    );
    if findings.plan.is_empty() {
        out.push_str("there is nothing to read: no [[source]] is configured\n");
    }
    for plan in &findings.plan {
        let _ = write!(out, "\n{plan}");
    }
    for policy in &findings.policies {
        let _ = write!(out, "\n{policy}");
    }
    if !findings.missing_for_bot_page.is_empty() {
        out.push_str("\nmissing for the bot page:\n");
        for missing in &findings.missing_for_bot_page {
            let _ = writeln!(out, "  {missing}");
        }
    }
    out
}

/// The policies of the sources, each once.
fn in_force(config: &Config) -> impl Iterator<Item = &Policy> {
    let used = |policy: &&Policy| config.sources.iter().any(|it| it.policy.name == policy.name);
    config.policies.iter().filter(used)
}

/// How long a run does upkeep, in words.
fn upkeep(longest: Duration) -> String {
    if longest.is_zero() {
        return "no time: it is switched off".to_owned();
    }
    format!("at most {} after a run", humantime::format_duration(longest))
}

/// What a run would do with a source, in words.
fn plan(source: &Source) -> String {
    let visibility = match source.visibility {
        Visibility::Public => "public",
        Visibility::Private => "private: only URLs and links are published",
    };
    let mut out =
        format!("{} ({}, {visibility}, {})\n", source.id, source.kind.name(), source.licence);
    match &source.kind {
        SourceKind::Git(git) => git_plan(&mut out, git),
        SourceKind::Site(site) => {
            site_plan(&mut out, site);
        }
        SourceKind::Feed(feed) => {
            out.push_str("  not read by this version: sources of kind git and site are\n");
            for address in &feed.feeds {
                let _ = writeln!(out, "  feed {address}");
            }
        }
    }
    let _ = writeln!(out, "  by the policy {}", source.policy.name);
    if source.robots_exception {
        out.push_str("  although robots.txt forbids it, where that policy says so\n");
    }
    if let (Some(bulk), SourceKind::Site(site)) = (&source.policy.bulk, &source.kind)
        && site.max_pages.is_none_or(|most| most > bulk.above)
    {
        let _ = writeln!(out, "  may be over {} pages: {}", bulk.above, bulk.advice);
    }
    if let Some(every) = source.every {
        let _ = writeln!(out, "  due every {}", humantime::format_duration(every));
    }
    out
}

fn git_plan(out: &mut String, git: &GitSource) {
    for repository in &git.repositories {
        let branch = git.branch.as_deref().unwrap_or("its default branch");
        // Where a local repository stands is told here, and stored nowhere.
        let from = if repository.endpoint().is_some() {
            repository.address().to_owned()
        } else {
            format!("{} at {}", repository.address(), repository.fetch_url())
        };
        let _ = writeln!(out, "  repository {from}, {branch}");
    }
    if !git.paths.is_empty() {
        let _ = writeln!(out, "  only below {}", git.paths.join(", "));
    }
    for skip in &git.skip {
        let _ = writeln!(out, "  but not what matches {skip}");
    }
    if let Some(base) = &git.mapping.base {
        let _ = writeln!(out, "  published below {base}");
    }
}

fn site_plan(out: &mut String, site: &Site) {
    for host in &site.hosts {
        for path in &site.paths {
            let _ = writeln!(out, "  pages below {host}{path}");
        }
    }
    for skip in &site.skip {
        let _ = writeln!(out, "  but not what matches {skip}");
    }
    for start in &site.start {
        let _ = writeln!(out, "  beginning with {start}");
    }
    let pace = humantime::format_duration(site.pace);
    let _ =
        writeln!(out, "  at least {pace} between two requests, links up to {} steps", site.depth);
    let not_yet = [
        ("documents", !site.documents.is_empty()),
        ("render", site.render),
        ("click", !site.click.is_empty()),
        ("max_files", site.max_files.is_some()),
    ];
    for (key, _) in not_yet.iter().filter(|(_, given)| *given) {
        let _ = writeln!(out, "  `{key}` is without effect in this version");
    }
}
