//! Commit messages: a title and lines for people, trailers for programs.

use std::fmt::Write as _;

use crate::model::{Counts, RunKind, SourceId, Timestamp, UpstreamHead};

/// What a run did with one source.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SourceLine {
    /// The source.
    pub source: SourceId,
    /// Its pages by outcome.
    pub counts: Counts,
    /// Whether everything that was to be read was read.
    pub complete: bool,
}

/// The message of a commit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RunMessage {
    /// Start of the run.
    pub started: Timestamp,
    /// What made the commit.
    pub kind: RunKind,
    /// Version of the archive format.
    pub format: u32,
    /// Version of the extractor.
    pub extractor: u32,
    /// What was done with each source, in order of the configuration.
    pub sources: Vec<SourceLine>,
    /// Upstream commits that were read.
    pub upstreams: Vec<UpstreamHead>,
}

impl RunMessage {
    /// Writes the message.
    #[must_use]
    pub fn encode(&self) -> String {
        let mut total = Counts::default();
        for line in &self.sources {
            total.changed += line.counts.changed;
            total.added += line.counts.added;
            total.removed += line.counts.removed;
        }
        let kind = Some(self.kind).filter(|kind| *kind != RunKind::Read).map(RunKind::name);
        let what = kind.map_or_else(String::new, |kind| format!("{kind}, "));
        let mut out = format!("{}: {what}{}\n\n", self.started.date(), summary(&total));
        for line in &self.sources {
            let _ = writeln!(out, "{}: {}", line.source, summary(&line.counts));
        }
        if !self.sources.is_empty() {
            out.push('\n');
        }
        let _ = writeln!(out, "Run: {}", self.started);
        let _ = writeln!(out, "Format: {}", self.format);
        let _ = writeln!(out, "Extractor: {}", self.extractor);
        if let Some(kind) = kind {
            let _ = writeln!(out, "Kind: {kind}");
        }
        for line in &self.sources {
            out.push_str(&trailer(line));
        }
        for head in &self.upstreams {
            let _ = writeln!(out, "Upstream: {} {} {}", head.source, head.repository, head.commit);
        }
        out
    }

    /// Reads the trailers of a message; `None` where it is no message of a run.
    #[must_use]
    pub fn decode(message: &str) -> Option<Self> {
        let trailers = message.trim_end().rsplit("\n\n").next()?;
        let (mut started, mut format, mut extractor) = (None, None, None);
        let (mut sources, mut upstreams, mut kind) = (Vec::new(), Vec::new(), RunKind::Read);
        for line in trailers.lines() {
            let (key, value) = line.split_once(": ")?;
            match key {
                "Run" => started = Timestamp::parse(value).ok(),
                "Format" => format = value.parse().ok(),
                "Extractor" => extractor = value.parse().ok(),
                "Kind" => kind = RunKind::from_name(value).unwrap_or(kind),
                "Source" => sources.push(parse_source(value)?),
                "Upstream" => upstreams.push(parse_upstream(value)?),
                // A later version may say more.
                _ => {}
            }
        }
        Some(Self {
            started: started?,
            kind,
            format: format?,
            extractor: extractor?,
            sources,
            upstreams,
        })
    }
}

fn summary(counts: &Counts) -> String {
    format!("{} changed, {} added, {} removed", counts.changed, counts.added, counts.removed)
}

fn trailer(line: &SourceLine) -> String {
    let c = &line.counts;
    format!(
        "Source: {} changed={} added={} removed={} same={} not-modified={} failed={} complete={}\n",
        line.source,
        c.changed,
        c.added,
        c.removed,
        c.same,
        c.not_modified,
        c.failed,
        if line.complete { "yes" } else { "no" }
    )
}

fn parse_source(value: &str) -> Option<SourceLine> {
    let mut words = value.split(' ');
    let source = SourceId::new(words.next()?).ok()?;
    let (mut counts, mut complete) = (Counts::default(), false);
    for word in words {
        let (key, value) = word.split_once('=')?;
        let number = value.parse().unwrap_or(0);
        match key {
            "changed" => counts.changed = number,
            "added" => counts.added = number,
            "removed" => counts.removed = number,
            "same" => counts.same = number,
            "not-modified" => counts.not_modified = number,
            "failed" => counts.failed = number,
            "complete" => complete = value == "yes",
            _ => {}
        }
    }
    Some(SourceLine { source, counts, complete })
}

fn parse_upstream(value: &str) -> Option<UpstreamHead> {
    let mut words = value.split(' ');
    Some(UpstreamHead {
        source: SourceId::new(words.next()?).ok()?,
        repository: words.next()?.to_owned(),
        commit: words.next()?.to_owned(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn message() -> RunMessage {
        let source = SourceId::new("docs").unwrap();
        RunMessage {
            started: Timestamp::parse("2026-11-30T02:00:00Z").unwrap(),
            kind: RunKind::Read,
            format: 1,
            extractor: 4,
            sources: vec![SourceLine {
                source: source.clone(),
                counts: Counts {
                    changed: 812,
                    added: 20,
                    removed: 3,
                    same: 41,
                    not_modified: 9,
                    failed: 2,
                },
                complete: false,
            }],
            upstreams: vec![UpstreamHead {
                source,
                repository: "https://example.org/docs.git".into(),
                commit: "f".repeat(40),
            }],
        }
    }

    #[test]
    fn a_message_is_written_as_the_format_says() {
        let expected = format!(
            "2026-11-30: 812 changed, 20 added, 3 removed\n\n\
             docs: 812 changed, 20 added, 3 removed\n\n\
             Run: 2026-11-30T02:00:00Z\nFormat: 1\nExtractor: 4\n\
             Source: docs changed=812 added=20 removed=3 same=41 not-modified=9 failed=2 complete=no\n\
             Upstream: docs https://example.org/docs.git {}\n",
            "f".repeat(40)
        );
        assert_eq!(message().encode(), expected);
    }

    #[test]
    fn trailers_are_read_back() {
        for kind in [RunKind::Read, RunKind::Extractor, RunKind::Configuration, RunKind::Takedown] {
            let message = RunMessage { kind, ..message() };
            assert_eq!(RunMessage::decode(&message.encode()), Some(message));
        }
        let empty = RunMessage { sources: vec![], upstreams: vec![], ..message() };
        assert_eq!(RunMessage::decode(&empty.encode()), Some(empty));
    }

    #[test]
    fn other_messages_are_not_runs() {
        for text in ["", "hello", "a: b\n\nc: d", "Run: yesterday\nFormat: 1\nExtractor: 1"] {
            assert_eq!(RunMessage::decode(text), None, "{text}");
        }
    }
}
