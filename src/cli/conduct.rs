//! A policy, told whole.

use std::fmt::Write as _;
use std::time::Duration;

use crate::model::{Limit, LimitScope, Policy, PolicyKind};

fn time(time: Duration) -> String {
    humantime::format_duration(time).to_string()
}

/// A policy with all its numbers, kinds and limits, in words.
pub(crate) fn policy(policy: &Policy) -> String {
    let mut out = format!("policy {}: {}\n", policy.name, policy.about);
    let ceiling = policy.crawl_delay_ceiling.map_or_else(
        || "honoured whole".to_owned(),
        |most| format!("honoured up to {}, and told where it is longer", time(most)),
    );
    let retry = policy.robots_retry.map_or_else(
        || "the origin is out of the run".to_owned(),
        |after| format!("the origin is out, and asked again after {}", time(after)),
    );
    let _ = writeln!(
        out,
        "  robots.txt first, never older than {}; where it cannot be read, {retry}\n  Crawl-delay \
         {ceiling}\n  one request at a time to a host; back-off from {} to {}, at most {} retries\n  \
         a host is left for a later run after {} failed requests in a row, or asked for more than {}",
        time(policy.robots_max_age),
        time(policy.backoff_least),
        time(policy.backoff_max),
        policy.retries,
        policy.failures_before_parking,
        time(policy.give_up_after)
    );
    if !policy.least_pace.is_zero() {
        let _ = writeln!(out, "  at least {} between two requests", time(policy.least_pace));
    }
    if let Some(most) = policy.max_pages {
        let _ = writeln!(out, "  at most {most} pages of a run, where the source says nothing");
    }
    if let Some(bulk) = &policy.bulk {
        let _ = writeln!(out, "  above {} pages: {}", bulk.above, bulk.advice);
    }
    policy.kinds.iter().for_each(|it| kind(&mut out, it));
    policy.limits.iter().for_each(|it| limit(&mut out, it));
    out
}

fn kind(out: &mut String, kind: &PolicyKind) {
    let mut notes = Vec::new();
    if !kind.purposes.is_empty() {
        let purposes: Vec<&str> = kind.purposes.iter().map(|purpose| purpose.name()).collect();
        notes.push(format!("asked for as {}", purposes.join(", ")));
    }
    if let Some(why) = &kind.refused {
        notes.push(format!("not asked for: {why}"));
    }
    if !kind.gzip {
        notes.push("not compressed".to_owned());
    }
    if kind.robots_exception {
        notes.push("`robots_exception` holds for it".to_owned());
    }
    let notes = if notes.is_empty() { String::new() } else { format!(", {}", notes.join(", ")) };
    let _ = writeln!(out, "  kind {}{notes}", kind.name);
    for url in &kind.urls {
        let _ = writeln!(out, "    {}", url.as_str());
    }
}

fn limit(out: &mut String, limit: &Limit) {
    let scope = match limit.scope {
        LimitScope::All => "over all hosts",
        LimitScope::Host => "for each host",
        LimitScope::Source => "for each source",
    };
    let kinds = if limit.kinds.is_empty() {
        "every request".to_owned()
    } else {
        format!("requests of kind {}", limit.kinds.join(", "))
    };
    let gap = Some(limit.gap).filter(|gap| !gap.is_zero());
    let error = Some(limit.after_error).filter(|pause| !pause.is_zero());
    let slow = limit.slow;
    let numbers = [
        limit.at_once.map(|most| format!("at most {most} at once")),
        gap.map(|gap| format!("{} from the end of one to the next", time(gap))),
        limit.per_second.map(|most| format!("at most {most} in a second")),
        limit.bits_per_second.map(|bits| format!("at most {bits} bits in a second")),
        limit.quota.map(|quota| format!("at most {} in {}", quota.most, time(quota.window))),
        error.map(|pause| format!("a pause of {} after a 5xx", time(pause))),
        slow.map(|slow| format!("{} after one over {}", time(slow.pause), time(slow.longest))),
    ];
    let numbers: Vec<String> = numbers.into_iter().flatten().collect();
    let _ = writeln!(out, "  limit {}, {scope}, {kinds}: {}", limit.name, numbers.join(", "));
}
