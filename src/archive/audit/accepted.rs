//! Commits that a person accepted as they are, after something else had moved the refs.
//!
//! They stand in the settings of the archive's repository, as the tips of then: what is wrong
//! with commits up to these is a note from then on, and no fault.

use crate::archive::ObjectId;
use crate::archive::directory::Archive;
use crate::archive::error::ArchiveError;
use crate::archive::refs::Heads;
use crate::git::Git;

/// The setting: the two tips, `-` where there was none.
const SETTING: &str = "pagelog.accepted";

impl Archive {
    /// Notes that the commits up to where the refs are now are accepted as they are.
    ///
    /// # Errors
    /// The refs cannot be read, or Git failed.
    pub fn accept_commits(&self, git: &Git) -> Result<(), ArchiveError> {
        let heads = self.heads()?;
        let name = |id: Option<ObjectId>| id.map_or_else(|| "-".to_owned(), |id| id.to_string());
        if git.local_settings(self.path())?.iter().any(|(name, _)| name == SETTING) {
            git.unset_local(self.path(), SETTING)?;
        }
        let value = format!("{} {}", name(heads.public), name(heads.private));
        Ok(git.add_local(self.path(), SETTING, &value)?)
    }

    /// The tips up to which commits were accepted.
    pub(in crate::archive) fn accepted(&self, git: &Git) -> Result<Heads, ArchiveError> {
        let settings = git.local_settings(self.path())?;
        let value = settings.into_iter().find(|(name, _)| name == SETTING).map(|(_, value)| value);
        let value = value.unwrap_or_default();
        let mut ids = value.split(' ').map(|hex| ObjectId::from_hex(hex.as_bytes()).ok());
        Ok(Heads { public: ids.next().flatten(), private: ids.next().flatten() })
    }
}
