//! Giving one mirror what it lacks, push by push.

use std::collections::HashSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant};

use super::check::Checked;
use super::plan::{Has, Replaced, Standing, standing};
use super::slices::{Next, Part, next, part};
use super::{Context, PublishError};
use crate::archive::{Archive, ObjectId, Outgoing, PUBLIC_REF, Published};
use crate::config::Mirror;
use crate::git::{GitError, KnownBy, PushError, PushMode, RefUpdate, Remote};

/// The ref of a mirror that holds the parts of a commit while they are sent. A branch would
/// become the default branch of an empty repository, and could not be removed then.
const UPLOAD: &str = "refs/tags/pagelog-upload";

/// The objects of the archive, seen from those of an outbox.
const OBJECTS: &str = "../../../../objects";

/// Longest time for one mirror.
const LONGEST: Duration = Duration::from_hours(12);

/// Waits before a mirror that could not be reached is tried again.
const WAITS: [Duration; 2] = [Duration::from_secs(1), Duration::from_secs(5)];

/// How often a wait looks whether it should end.
const LOOK: Duration = Duration::from_millis(50);

/// Where pushes are made up.
pub(super) struct Desk<'a> {
    pub context: &'a Context<'a>,
    pub archive: &'a Archive,
    /// Commits of the public ref, newest first.
    pub history: &'a [ObjectId],
    /// What takedowns made of commits that mirrors may still have.
    pub replaced: &'a Replaced,
}

/// What one mirror was given.
pub(super) struct Served {
    pub pushes: u32,
    pub ended: Result<(), String>,
}

/// Why a mirror was not given all.
#[derive(Debug, thiserror::Error)]
enum Trouble {
    #[error(transparent)]
    Push(#[from] PushError),
    #[error("{0}")]
    Refused(String),
    #[error(transparent)]
    Publish(#[from] PublishError),
    #[error(
        "`{0}` takes {1} bytes with the directories above it, more than a push may hold; set `slice` in [publish] to more"
    )]
    TooLarge(String, u64),
    #[error("it was given up after {} hours; what was sent is kept there, publish again to go on", LONGEST.as_secs() / 3600)]
    Late,
}

impl From<GitError> for Trouble {
    fn from(error: GitError) -> Self {
        Self::Push(error.into())
    }
}

/// One mirror that is being served.
struct Serving<'a> {
    desk: &'a Desk<'a>,
    mirror: &'a Mirror,
    checked: &'a Checked,
    outbox: PathBuf,
    begun: Instant,
    /// What the mirror has, where that is known.
    has: Option<Has>,
    /// Where its branch was before the last push.
    main: Option<ObjectId>,
    pushes: u32,
}

impl Desk<'_> {
    /// How a mirror stands to the archive.
    pub fn standing(&self, has: &Has) -> Result<Standing, PublishError> {
        let theirs = match has.main {
            Some(at) if !self.history.contains(&at) => {
                let known = self.context.git.has_commit(self.archive.path(), &at.to_string())?;
                let runs = known.then(|| self.archive.runs(Some(at))).transpose()?;
                runs.map(|runs| runs.into_iter().map(|run| run.commit).collect::<Vec<_>>())
            }
            _ => None,
        };
        Ok(standing(self.history, has.main, (theirs.as_deref(), self.replaced)))
    }

    /// The newest commit that the archive and a mirror have.
    pub fn base(&self, main: Option<ObjectId>) -> Option<ObjectId> {
        self.replaced.base_of(self.history, main)
    }

    /// Asks a mirror what it has, again where it could not be reached; the error is for people.
    pub fn ask_patiently(&self, mirror: &Mirror) -> Result<Has, String> {
        let mut waits = WAITS.iter();
        loop {
            match self.ask(mirror, LONGEST) {
                Ok(has) => return Ok(has),
                Err(PushError::Network(why)) => {
                    let Some(wait) = waits.next() else {
                        return Err(PushError::Network(why).to_string());
                    };
                    self.pause(mirror, &why, *wait).map_err(|error| error.to_string())?;
                }
                Err(error) => return Err(error.to_string()),
            }
        }
    }

    fn ask(&self, mirror: &Mirror, longest: Duration) -> Result<Has, PushError> {
        let remote = Remote { url: &mirror.url, longest, known: KnownBy::Refs };
        let refs = self.context.git.remote_refs(remote, &[PUBLIC_REF, UPLOAD])?;
        let at = |name: &str| {
            let found = refs.iter().find(|(known, _)| known == name);
            found.and_then(|(_, id)| ObjectId::from_hex(id.as_bytes()).ok())
        };
        Ok(Has { main: at(PUBLIC_REF), upload: at(UPLOAD) })
    }

    /// Waits before another try.
    fn pause(&self, mirror: &Mirror, why: &str, wait: Duration) -> Result<(), GitError> {
        let again = format!("{why}; trying again in {} s", wait.as_secs());
        self.context.progress.stage(Some(&mirror.name), &again);
        let mut left = wait;
        while !left.is_zero() {
            if self.context.interrupt.is_raised() {
                return Err(GitError::Interrupted);
            }
            thread::sleep(LOOK.min(left));
            left = left.saturating_sub(LOOK);
        }
        Ok(())
    }

    /// Gives a mirror what it lacks of the commits that were looked at.
    pub fn serve(&self, mirror: &Mirror, checked: &Checked, has: &Has) -> Served {
        let mut serving = Serving {
            desk: self,
            mirror,
            checked,
            outbox: self.archive.outbox(&mirror.name),
            begun: self.context.clock.monotonic(),
            has: Some(*has),
            main: has.main,
            pushes: 0,
        };
        let ended = serving.all().map_err(|trouble| trouble.to_string());
        if let (Ok(()), Some(commit)) = (&ended, self.history.first()) {
            let at = self.context.clock.now();
            let note = Published { mirror: mirror.name.clone(), commit: *commit, at };
            if let Err(error) = self.archive.note_published(&note) {
                let what = format!("was published, which could not be noted: {error}");
                self.context.progress.stage(Some(&mirror.name), &what);
            }
        }
        Served { pushes: serving.pushes, ended }
    }

    /// Removes the tag of an upload that did not come to its end.
    pub fn remove_upload(&self, mirror: &Mirror, has: &Has) -> Result<(), String> {
        let outbox = self.archive.outbox(&mirror.name);
        let git = &self.context.git;
        git.open_outbox(&outbox, OBJECTS).map_err(|error| error.to_string())?;
        let remote = Remote { url: &mirror.url, longest: LONGEST, known: KnownBy::Refs };
        let pushed = git.push(&outbox, remote, (&[update(UPLOAD, has.upload, None)], SMALL));
        discard(&outbox);
        pushed.map_err(|error| error.to_string())
    }
}

const SMALL: PushMode = PushMode::Small;

impl Serving<'_> {
    /// Pushes until the mirror has all; tries again where it could not be reached, and
    /// asks it first what it has by now.
    fn all(&mut self) -> Result<(), Trouble> {
        self.desk.context.git.open_outbox(&self.outbox, OBJECTS)?;
        let mut tries = 0;
        loop {
            let before = self.pushes;
            match self.step() {
                Ok(true) => break,
                Ok(false) => tries = 0,
                Err(Trouble::Push(PushError::Network(why))) if tries < WAITS.len() => {
                    self.desk.pause(self.mirror, &why, WAITS[tries])?;
                    tries += 1;
                    self.has = None;
                }
                Err(trouble) => return Err(trouble),
            }
            if self.pushes > before {
                let lacking =
                    self.checked.behind(self.desk.base(self.has.and_then(|has| has.main))).len();
                let what = format!("{} pushes made, {lacking} commits left", self.pushes);
                self.tell(&what);
            }
        }
        discard(&self.outbox);
        Ok(())
    }

    /// Makes the next push; `true` where there is none to be made.
    fn step(&mut self) -> Result<bool, Trouble> {
        let longest = self.left()?;
        let has = match self.has.take() {
            Some(has) => has,
            None => self.ask_again(longest)?,
        };
        self.main = has.main;
        let slice = self.desk.context.config.publish.slice;
        let lacking = self.checked.behind(self.desk.base(has.main));
        let upload_ends = has.upload.map(|_| update(UPLOAD, has.upload, None));
        let size = |id: &ObjectId| self.checked.size(id);
        match next(lacking, &size, slice) {
            None => match upload_ends {
                None => Ok(true),
                Some(end) => {
                    let after = Has { upload: None, ..has };
                    self.push((&[end], SMALL), after).map(|()| true)
                }
            },
            Some(Next::UpTo(last, mode)) => {
                let mut updates = vec![update(PUBLIC_REF, has.main, Some(last.commit))];
                updates.extend(upload_ends);
                let after = Has { main: Some(last.commit), upload: None };
                self.push((&updates, mode), after).map(|()| false)
            }
            Some(Next::Parts(commit)) => self.part(commit, has, slice).map(|()| false),
        }
    }

    /// Sends the next part of a commit that is larger than a slice.
    fn part(&mut self, commit: &Outgoing, mut has: Has, slice: u64) -> Result<(), Trouble> {
        let sent = match has.upload {
            Some(upload) => self.sent(upload, commit.parent)?,
            None => Some(HashSet::new()),
        };
        let Some(sent) = sent else {
            // Of another upload, or one that was begun elsewhere: nobody knows what it holds.
            let after = Has { upload: None, ..has };
            return self.push((&[update(UPLOAD, has.upload, None)], SMALL), after);
        };
        let (git, outbox) = (&self.desk.context.git, &self.outbox);
        let size = |id: &ObjectId| self.checked.size(id);
        let id = commit.commit;
        let mut updates = Vec::new();
        let tree = match part(commit, &size, (&sent, slice)) {
            Part::TooLarge(path, bytes) => {
                let path = if path.is_empty() { "/" } else { path };
                return Err(Trouble::TooLarge(path.to_owned(), bytes));
            }
            Part::Through(file) => Some(git.make_partial_tree(outbox, (&id.to_string(), file))?),
            Part::Rest => {
                updates.push(update(PUBLIC_REF, has.main, Some(id)));
                has.main = Some(id);
                has.upload.map(|upload| format!("{upload}^{{tree}}"))
            }
        };
        if let Some(tree) = tree {
            // On top of what was sent, so that Git leaves out all that is in it.
            let parent = has.upload.or(commit.parent).map(|id| id.to_string());
            let made = git.make_outbox_commit(outbox, (&tree, parent.as_deref()))?;
            let made = ObjectId::from_hex(made.as_bytes()).ok();
            updates.push(update(UPLOAD, has.upload, made));
            has.upload = made;
        }
        self.push((&updates, PushMode::AsStored), has)
    }

    /// The objects that an upload brought to the mirror; `None` where this outbox does not
    /// know it.
    fn sent(
        &self,
        upload: ObjectId,
        parent: Option<ObjectId>,
    ) -> Result<Option<HashSet<ObjectId>>, Trouble> {
        let git = &self.desk.context.git;
        let (upload, parent) = (upload.to_string(), parent.map(|id| id.to_string()));
        if !git.has_commit(&self.outbox, &upload)? {
            return Ok(None);
        }
        let known: Vec<&str> = parent.as_deref().into_iter().collect();
        match git.list_objects(&self.outbox, &upload, &known) {
            Ok(ids) => {
                let ids = ids.iter().filter_map(|hex| ObjectId::from_hex(hex.as_bytes()).ok());
                Ok(Some(ids.collect()))
            }
            Err(GitError::Failed { .. }) => Ok(None),
            Err(error) => Err(error.into()),
        }
    }

    /// Asks again after a push of which nobody knows how it ended.
    fn ask_again(&self, longest: Duration) -> Result<Has, Trouble> {
        let has = self.desk.ask(self.mirror, longest)?;
        match self.desk.standing(&has)? {
            Standing::Refused(why) => Err(Trouble::Refused(why.to_string())),
            _ => Ok(has),
        }
    }

    /// Makes one push; `after` is what the mirror has then.
    fn push(
        &mut self,
        (updates, mode): (&[RefUpdate], PushMode),
        after: Has,
    ) -> Result<(), Trouble> {
        // Git cannot know by itself what such a commit has in common with ours.
        let rewritten = self.main.is_some_and(|at| !self.desk.history.contains(&at));
        let known = if rewritten { KnownBy::Asking } else { KnownBy::Refs };
        let remote = Remote { url: &self.mirror.url, longest: self.left()?, known };
        self.desk.context.git.push(&self.outbox, remote, (updates, mode))?;
        self.pushes += 1;
        self.has = Some(after);
        Ok(())
    }

    /// How long this mirror may still take.
    fn left(&self) -> Result<Duration, Trouble> {
        let now = self.desk.context.clock.monotonic();
        let left = LONGEST.saturating_sub(now.saturating_duration_since(self.begun));
        if left.is_zero() { Err(Trouble::Late) } else { Ok(left) }
    }

    fn tell(&self, what: &str) {
        self.desk.context.progress.stage(Some(&self.mirror.name), what);
    }
}

fn update(name: &str, old: Option<ObjectId>, new: Option<ObjectId>) -> RefUpdate {
    let text = |id: Option<ObjectId>| id.map(|id| id.to_string());
    RefUpdate { name: name.to_owned(), old: text(old), new: text(new) }
}

/// Removes an outbox that is no longer needed; the next time makes it anew.
fn discard(outbox: &Path) {
    // What cannot be removed is used again.
    let _ = fs::remove_dir_all(outbox);
}
