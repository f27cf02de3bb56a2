//! Printing: data to standard output, everything else to standard error.

use std::io::{self, IsTerminal, Write};
use std::time::Duration;

use serde::Serialize;
use tracing_subscriber::filter::{LevelFilter, Targets};
use tracing_subscriber::layer::SubscriberExt as _;
use tracing_subscriber::util::SubscriberInitExt as _;

use super::Failure;
use super::options::{Color, LogFormat, Options};
use crate::config::ConfigErrors;

/// Where a command prints.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Output {
    quiet: bool,
    colours: Colours,
    log: LogFormat,
}

/// Whether the two streams take colours.
#[derive(Clone, Copy, Debug)]
struct Colours {
    stdout: bool,
    stderr: bool,
}

impl Output {
    pub fn new(options: &Options) -> Self {
        let wanted = |terminal: bool| match options.color {
            Color::Always => true,
            Color::Never => false,
            Color::Auto => terminal && std::env::var_os("NO_COLOR").is_none_or(|v| v.is_empty()),
        };
        let colours = Colours {
            stdout: wanted(io::stdout().is_terminal()),
            stderr: wanted(io::stderr().is_terminal()),
        };
        Self { quiet: options.quiet, colours, log: options.log_format }
    }

    /// Prints data.
    pub fn data(&self, text: &str) -> Result<(), Failure> {
        self.bytes(text.as_bytes())
    }

    /// Prints data as it is.
    #[expect(clippy::unused_self, reason = "whoever prints has been given an output")]
    pub fn bytes(&self, bytes: &[u8]) -> Result<(), Failure> {
        let mut stdout = io::stdout().lock();
        stdout.write_all(bytes).and_then(|()| stdout.flush()).map_err(|error| {
            if error.kind() == io::ErrorKind::BrokenPipe {
                Failure::Closed
            } else {
                Failure::File { what: "write to", path: "standard output".to_owned(), error }
            }
        })
    }

    /// Prints a value as JSON.
    pub fn json<T: Serialize>(&self, value: &T) -> Result<(), Failure> {
        let text = serde_json::to_string_pretty(value).unwrap_or_default();
        self.data(&format!("{text}\n"))
    }

    /// Prints a diff, coloured where that is wanted.
    pub fn diff(&self, text: &str) -> Result<(), Failure> {
        if !self.colours.stdout {
            return self.data(text);
        }
        let coloured = text.lines().map(|line| match line.as_bytes().first() {
            Some(b'+') => format!("\x1b[32m{line}\x1b[m\n"),
            Some(b'-') => format!("\x1b[31m{line}\x1b[m\n"),
            Some(b'@') => format!("\x1b[36m{line}\x1b[m\n"),
            _ => format!("{line}\n"),
        });
        self.data(&coloured.collect::<String>())
    }

    /// Tells something that is not data; silent with `--quiet`.
    pub fn tell(&self, text: &str) {
        if !self.quiet {
            self.line("", text);
        }
    }

    /// Warns.
    pub fn warn(&self, text: &str) {
        self.line("warning: ", text);
    }

    /// Tells why the command failed.
    pub fn error(&self, text: &str) {
        self.line("error: ", text);
    }

    /// Tells what is wrong with the configuration.
    pub fn config_errors(&self, errors: ConfigErrors) {
        if self.colours.stderr {
            let report = format!("{:?}", miette::Report::new(errors));
            self.line("", &report);
        } else {
            for line in errors.lines() {
                self.error(&line);
            }
        }
    }

    /// Whether a progress bar may be drawn.
    pub fn draws_progress(&self) -> bool {
        !self.quiet && self.log == LogFormat::Text && io::stderr().is_terminal()
    }

    fn line(&self, label: &str, text: &str) {
        if self.log == LogFormat::Json {
            match label {
                "error: " => tracing::error!("{text}"),
                "warning: " => tracing::warn!("{text}"),
                _ => tracing::info!("{text}"),
            }
            return;
        }
        let label = match (label, self.colours.stderr) {
            ("error: ", true) => "\x1b[1;31merror:\x1b[m ",
            ("warning: ", true) => "\x1b[1;33mwarning:\x1b[m ",
            (label, _) => label,
        };
        // Nobody is left to be told where standard error is closed.
        let _ = writeln!(io::stderr().lock(), "{label}{text}");
    }
}

/// A duration as people write it: with whole seconds, where it is longer than a minute.
pub(crate) fn words(time: Duration) -> String {
    let time = if time.as_secs() < 60 { time } else { Duration::from_secs(time.as_secs()) };
    humantime::format_duration(time).to_string()
}

/// Begins the log on standard error.
pub(crate) fn begin_log(options: &Options) {
    let level = match (options.quiet, options.verbose, options.log_format) {
        (true, ..) | (_, 0, LogFormat::Text) => LevelFilter::ERROR,
        (_, 0, LogFormat::Json) | (_, 1, _) => LevelFilter::INFO,
        _ => LevelFilter::TRACE,
    };
    let ours = Targets::new().with_target("pagelog", level);
    let registry = tracing_subscriber::registry().with(ours);
    let layer = tracing_subscriber::fmt::layer().with_writer(io::stderr).with_target(false);
    // A second log is never begun; should it be, the first one stays.
    let _ = match options.log_format {
        LogFormat::Text => registry.with(layer.with_ansi(false).without_time()).try_init(),
        LogFormat::Json => registry.with(layer.json()).try_init(),
    };
}

/// Bytes as people read them.
pub(crate) fn size(bytes: u64) -> String {
    let of = |unit: f64| bytes.to_string().parse::<f64>().unwrap_or(0.0) / unit;
    match bytes {
        0..1_000 => format!("{bytes} bytes"),
        1_000..1_000_000 => format!("{:.1} kB", of(1e3)),
        _ => format!("{:.1} MB", of(1e6)),
    }
}
