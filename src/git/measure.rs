//! How much room objects take.

use std::path::Path;

use super::client::{Git, GitError};

impl Git {
    /// Bytes on disk of all objects that `tip` reaches and `without` does not, as they are
    /// packed now.
    ///
    /// # Errors
    /// Git could not be run or does not know the commits.
    pub fn disk_usage(
        &self,
        repository: &Path,
        tip: &str,
        without: Option<&str>,
    ) -> Result<u64, GitError> {
        let not = without.map(|commit| format!("^{commit}"));
        let mut arguments =
            vec!["rev-list", "--disk-usage", "--objects", "--use-bitmap-index", tip];
        arguments.extend(not.as_deref());
        let said = self.local(repository, &arguments)?;
        let text = String::from_utf8_lossy(&said);
        text.trim().parse().map_err(|_| GitError::Failed {
            command: "rev-list".to_owned(),
            directory: repository.to_owned(),
            message: format!("`{}` is no number of bytes", text.trim()),
        })
    }
}
