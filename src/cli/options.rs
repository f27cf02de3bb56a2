//! The arguments as they are typed.

use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, Parser, Subcommand, ValueEnum};

use crate::model::{ConnectTo, Timestamp};

/// Keeps public documentation as dated commits of Markdown pages and links.
#[derive(Debug, Parser)]
#[command(name = "pagelog", version, max_term_width = 100, propagate_version = true)]
pub(crate) struct Options {
    /// The configuration
    #[arg(long, global = true, value_name = "FILE", default_value = "sources.toml")]
    pub config: PathBuf,
    /// The archive, instead of the configuration's
    #[arg(long, global = true, value_name = "DIR")]
    pub archive: Option<PathBuf>,
    /// Take this as the time at the start (RFC 3339); waits stay real
    #[arg(long, global = true, value_name = "TIME", value_parser = clock_time)]
    pub clock: Option<Timestamp>,
    /// Connect to ADDR and PORT instead of HOST and PORT, as curl does
    #[arg(long, global = true, value_name = "HOST:PORT:ADDR:PORT")]
    pub connect_to: Vec<ConnectTo>,
    /// Trust the certificates of this file instead of the system's
    #[arg(long, global = true, value_name = "FILE")]
    pub ca_file: Option<PathBuf>,
    /// Print errors only
    #[arg(short, long, global = true)]
    pub quiet: bool,
    /// Tell more of what is done; twice for everything
    #[arg(short, long, global = true, action = clap::ArgAction::Count)]
    pub verbose: u8,
    /// When to use colours
    #[arg(long, global = true, value_name = "WHEN", default_value = "auto")]
    pub color: Color,
    /// How the log is written
    #[arg(long, global = true, value_name = "FORMAT", default_value = "text")]
    pub log_format: LogFormat,
    #[command(subcommand)]
    pub command: Command,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Color {
    Auto,
    Always,
    Never,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum LogFormat {
    Text,
    Json,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Write a commented sources.toml and make an empty archive
    Init(InitArguments),
    /// Validate the configuration and show what a run would read
    Check(CheckArguments),
    /// Read the sources once and commit what they say
    Run(RunArguments),
    /// Tell how archive and sources stand
    Status(JsonArguments),
    /// Tell which pages a run, or the runs between two commits, changed
    Changes(ChangesArguments),
    /// List the dated versions of a page
    History(HistoryArguments),
    /// Print a page as it is, or as it was
    Show(ShowArguments),
    /// Print the link graph
    Links(LinksArguments),
    /// Print the path that a URL has in the archive
    Path(PathArguments),
    /// Print the URL that a path of the archive belongs to
    Url(UrlArguments),
    /// Tell why a URL was read, skipped, kept or refused, run by run
    Explain(ExplainArguments),
    /// Tell how each host was treated: requests, gaps, retries, robots.txt
    Manners(MannersArguments),
    /// Let the run in progress make no further request to a source or host
    Stop {
        /// Id of the source, or name of the host
        #[arg(value_name = "SOURCE|HOST")]
        name: String,
    },
    /// Check the archive: objects, layout, separation, state
    Audit(AuditArguments),
    /// Push the public branch to the mirrors, after looking at all that would leave
    Publish(PublishArguments),
    /// Take pages or a source out of all history, and never read them again
    Purge(PurgeArguments),
    /// Print a HTML or Markdown file as a run would convert it
    Convert(ConvertArguments),
    /// Copy the whole archive, consistently, also during a run
    Backup {
        /// Where to; must not exist
        #[arg(value_name = "DIR")]
        directory: PathBuf,
    },
    /// Print completions for a shell
    Completions {
        /// The shell
        shell: clap_complete::Shell,
    },
    /// Write man pages
    Man {
        /// Where to; made where it does not exist
        #[arg(value_name = "DIR")]
        directory: PathBuf,
    },
}

#[derive(Debug, Args)]
pub(crate) struct InitArguments {
    /// Escape capitals in paths, so that no two differ in case only; cannot be changed later
    #[arg(long)]
    pub portable_case: bool,
}

#[derive(Debug, Args)]
pub(crate) struct CheckArguments {
    /// Ask each site for its robots.txt, its first start and one page twice, and tell what was
    /// found
    #[arg(long)]
    pub probe: bool,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct JsonArguments {
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct RunArguments {
    /// Sources to read; all where none is named
    #[arg(value_name = "SOURCE")]
    pub sources: Vec<String>,
    /// Read only sources that are due by their `every`
    #[arg(long)]
    pub due: bool,
    /// End after this time (12h, 30m), with a commit of what was read
    #[arg(long, value_name = "TIME", value_parser = duration)]
    pub budget: Option<Duration>,
    /// Let many pages of this source leave at once
    #[arg(long, value_name = "SOURCE")]
    pub accept_removals: Vec<String>,
    /// Read, and tell what would change, but commit nothing
    #[arg(long)]
    pub dry_run: bool,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct ChangesArguments {
    /// A run, by commit, revision or date, or two as A..B; the last one where none is given
    #[arg(value_name = "REV|DATE|A..B")]
    pub range: Option<String>,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct HistoryArguments {
    /// URL of the page or its path in the archive, with * for any text
    pub url: String,
    /// Show the difference that each version made
    #[arg(long)]
    pub diff: bool,
    /// The source, where more than one holds the page
    #[arg(long, value_name = "SOURCE")]
    pub source: Option<String>,
    /// Print JSON
    #[arg(long, conflicts_with = "diff")]
    pub json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct ShowArguments {
    /// URL of the page, or its path in the archive
    pub url: String,
    /// A date (that day's last run), a time, or a commit
    #[arg(long, value_name = "DATE|REV")]
    pub at: Option<String>,
    /// The source, where more than one holds the page
    #[arg(long, value_name = "SOURCE")]
    pub source: Option<String>,
}

#[derive(Debug, Args)]
pub(crate) struct LinksArguments {
    /// Only links of this source
    #[arg(value_name = "SOURCE")]
    pub source: Option<String>,
    /// A date (that day's last run), a time, or a commit
    #[arg(long, value_name = "DATE|REV")]
    pub at: Option<String>,
    /// Print JSON Lines
    #[arg(long)]
    pub json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct PathArguments {
    /// The URL
    pub url: String,
    /// The source; all that cover the URL where none is given
    #[arg(long, value_name = "SOURCE")]
    pub source: Option<String>,
}

#[derive(Debug, Args)]
pub(crate) struct UrlArguments {
    /// Path of a page or links file in the archive
    pub path: String,
}

#[derive(Debug, Args)]
pub(crate) struct ExplainArguments {
    /// The URL
    pub url: String,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct MannersArguments {
    /// Number of the run, or `outside` for the last command that asked outside of runs; the
    /// last run that made a request where none is given
    #[arg(value_name = "RUN", value_parser = run_number)]
    pub run: Option<i64>,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct AuditArguments {
    /// Repair what can be made anew (state, hook and settings, left-over files) and tell of it;
    /// accept refs as they are
    #[arg(long)]
    pub repair: bool,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct PublishArguments {
    /// Only these mirrors; all where none is named
    #[arg(long, value_name = "NAME", num_args = 1..)]
    pub mirror: Vec<String>,
    /// Ask the mirrors, look at what would leave, and push nothing
    #[arg(long)]
    pub dry_run: bool,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

#[derive(Debug, Args)]
#[command(group = clap::ArgGroup::new("what").required(true).multiple(true).args(["urls", "path", "source"]))]
pub(crate) struct PurgeArguments {
    /// URLs of pages, with * for any text
    #[arg(value_name = "URL")]
    pub urls: Vec<String>,
    /// Pages at these paths of the tree (SOURCE/HOST/PATH.md), with * for any text
    #[arg(long, value_name = "GLOB")]
    pub path: Vec<String>,
    /// All pages of this source
    #[arg(long, value_name = "ID")]
    pub source: Vec<String>,
    /// Why, for all to read in TAKEDOWNS.md
    #[arg(long, value_name = "TEXT")]
    pub why: Option<String>,
    #[command(flatten)]
    pub how: PurgeManner,
    /// Tell what would be written anew, and change nothing
    #[arg(long)]
    pub dry_run: bool,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

/// How far a takedown goes.
#[derive(Debug, Args)]
pub(crate) struct PurgeManner {
    /// Take links of other pages to them out, too; their addresses stay otherwise
    #[arg(long)]
    pub links: bool,
    /// Fail where a run is in progress, instead of stopping it
    #[arg(long)]
    pub no_stop: bool,
}

#[derive(Debug, Args)]
pub(crate) struct ConvertArguments {
    /// The file; - is standard input
    #[arg(value_name = "FILE", default_value = "-")]
    pub file: PathBuf,
    /// What references in it are relative to
    #[arg(long, value_name = "URL")]
    pub base: Option<String>,
    /// Print its links as TSV instead
    #[arg(long)]
    pub links: bool,
    /// CSS selector of the main content
    #[arg(long, value_name = "SELECTOR")]
    pub main: Vec<String>,
    /// CSS selector of what is no content
    #[arg(long, value_name = "SELECTOR")]
    pub drop: Vec<String>,
}

/// A run as `manners` takes it; 0 is outside of runs.
fn run_number(text: &str) -> Result<i64, String> {
    match text.parse() {
        Ok(number) if number > 0 => Ok(number),
        _ if text == "outside" => Ok(0),
        _ => Err("write the number of a run, or `outside`".to_owned()),
    }
}

/// A time that Git can write into a commit.
fn clock_time(text: &str) -> Result<Timestamp, String> {
    let time = Timestamp::parse(text).map_err(|error| error.to_string())?;
    if time < Timestamp::EPOCH { Err("Git knows no time before 1970".to_owned()) } else { Ok(time) }
}

fn duration(text: &str) -> Result<Duration, String> {
    humantime::parse_duration(text).map_err(|error| format!("{error}; write it as 12h, 30m or 90s"))
}
