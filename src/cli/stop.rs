//! `pagelog stop`

use super::output::Output;
use super::session::Session;
use super::{Ending, Failure};
use crate::model::host_key;
use crate::state::{Schedule, Stop};

pub(crate) fn stop(session: &Session, name: &str, output: &Output) -> Result<Ending, Failure> {
    let archive = session.archive()?;
    let file = archive.politeness_file();
    let source = session.config.source(name).map(|source| source.id.to_string());
    let host = host_key(name);
    let named = session.config.sources.iter().any(|source| source.hosts().contains(&host));
    let known = || match Schedule::open_to_read(&file)? {
        Some(schedule) => schedule.knows(&host),
        None => Ok(false),
    };
    let host = (named || known()?).then_some(host);
    if source.is_none() && host.is_none() {
        return Err(Failure::Usage(format!(
            "`{name}` is neither a source of the configuration nor a host that was ever asked; \
             `pagelog check` lists the sources, `pagelog manners` the hosts"
        )));
    }
    if archive.locked_by()?.is_none() {
        output.error("no run is in progress: there is nothing to stop");
        return Ok(Ending::Faults);
    }
    let mark = session.now().to_string().replace(':', "");
    let (mut schedule, _) = Schedule::open(&file, &mark)?;
    if let Some(id) = &source {
        schedule.stop(Stop::Source(id))?;
        output.tell(&format!("the run makes no further request for the source {id}"));
    }
    if let Some(host) = &host {
        schedule.stop(Stop::Host(host))?;
        output.tell(&format!("the run makes no further request to the host {host}"));
    }
    Ok(Ending::Done)
}
