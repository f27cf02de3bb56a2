//! Lists and sizes of objects, and the objects that an outbox adds to those of the archive.
//!
//! An outbox is a bare repository without refs and settings of its own, which borrows the
//! objects of another one. What is made in it never enters the other.

use std::fs;
use std::path::Path;

use super::client::{Git, GitError};

/// How much of a disk, and of a pack that is sent, an object takes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ObjectSize {
    /// Bytes of its content.
    pub content: u64,
    /// Bytes that it takes as it is stored.
    pub stored: u64,
    /// The object that it is stored as a difference to.
    pub base: Option<String>,
}

impl Git {
    /// Ids of the objects that `new` reaches and none of `known` does, as a push would send
    /// them.
    ///
    /// # Errors
    /// Git failed.
    pub fn list_objects(
        &self,
        repository: &Path,
        new: &str,
        known: &[&str],
    ) -> Result<Vec<String>, GitError> {
        let mut arguments = vec!["rev-list", "--objects", "--no-object-names", new, "--not"];
        arguments.extend(known);
        let out = self.local(repository, &arguments)?;
        Ok(String::from_utf8_lossy(&out).lines().map(str::to_owned).collect())
    }

    /// Sizes of objects, in their order.
    ///
    /// # Errors
    /// Git failed, or does not know one of them.
    pub fn object_sizes<'a>(
        &self,
        repository: &Path,
        ids: impl IntoIterator<Item = &'a str>,
    ) -> Result<Vec<ObjectSize>, GitError> {
        let input: String = ids.into_iter().flat_map(|id| [id, "\n"]).collect();
        let mut command = self.command_in(repository);
        let format = "--batch-check=%(objectsize) %(objectsize:disk) %(deltabase)";
        command.args(["cat-file", "--buffer", format]);
        let out = self.succeed(command, Some(input.into_bytes()), (repository, "cat-file"))?;
        let text = String::from_utf8_lossy(&out);
        text.lines()
            .map(|line| {
                size(line).ok_or_else(|| GitError::Failed {
                    command: "cat-file".to_owned(),
                    directory: repository.to_owned(),
                    message: format!("it says `{line}` of an object"),
                })
            })
            .collect()
    }

    /// Makes an outbox that borrows the objects at `alternates`, relative to its own, unless
    /// there is one.
    ///
    /// # Errors
    /// Git or the disk failed.
    pub fn open_outbox(&self, outbox: &Path, alternates: &str) -> Result<(), GitError> {
        let failed = |error: std::io::Error| GitError::Failed {
            command: "init".to_owned(),
            directory: outbox.to_owned(),
            message: error.to_string(),
        };
        fs::create_dir_all(outbox).map_err(failed)?;
        self.init_bare(outbox)?;
        fs::create_dir_all(outbox.join("objects/info")).map_err(failed)?;
        let file = outbox.join("objects/info/alternates");
        fs::write(file, format!("{alternates}\n")).map_err(failed)
    }

    /// Whether a repository has a commit.
    ///
    /// # Errors
    /// Git could not be run.
    pub fn has_commit(&self, repository: &Path, id: &str) -> Result<bool, GitError> {
        match self.local(repository, &["cat-file", "-e", &format!("{id}^{{commit}}")]) {
            Ok(_) => Ok(true),
            Err(GitError::Failed { .. }) => Ok(false),
            Err(error) => Err(error),
        }
    }

    /// Makes the tree of a commit up to a file: everything that stands before the file in the
    /// order of trees, and the file. Gives its id.
    ///
    /// # Errors
    /// Git failed, or the commit has no such file.
    pub fn make_partial_tree(
        &self,
        outbox: &Path,
        (commit, file): (&str, &str),
    ) -> Result<String, GitError> {
        let mut levels = Vec::new();
        let mut tree = format!("{commit}^{{tree}}");
        for name in file.split('/') {
            let out = self.local(outbox, &["ls-tree", "-z", &tree])?;
            let mut entries: Vec<Vec<u8>> = out
                .split(|byte| *byte == 0)
                .filter(|e| !e.is_empty())
                .map(<[u8]>::to_vec)
                .collect();
            let ends = |entry: &Vec<u8>| {
                entry.split(|byte| *byte == b'\t').nth(1) == Some(name.as_bytes())
            };
            let at = entries.iter().position(ends).ok_or_else(|| GitError::Failed {
                command: "ls-tree".to_owned(),
                directory: outbox.to_owned(),
                message: format!("{commit} has no {file}"),
            })?;
            entries.truncate(at + 1);
            tree = entry_id(&entries[at]);
            levels.push(entries);
        }
        let mut below: Option<String> = None;
        while let Some(mut entries) = levels.pop() {
            if let Some((id, last)) = below.zip(entries.last_mut()) {
                let name: Vec<u8> =
                    last.iter().copied().skip_while(|byte| *byte != b'\t').collect();
                *last = [format!("040000 tree {id}").as_bytes(), &name].concat();
            }
            let mut command = self.command_in(outbox);
            command.args(["mktree", "-z"]);
            let mut input = entries.join(&0);
            input.push(0);
            let out = self.succeed(command, Some(input), (outbox, "mktree"))?;
            below = Some(String::from_utf8_lossy(&out).trim().to_owned());
        }
        Ok(below.unwrap_or_default())
    }

    /// Makes a commit of an outbox, which says nothing but that it is none of an archive.
    /// The same tree and parent always give the same commit.
    ///
    /// # Errors
    /// Git failed.
    pub fn make_outbox_commit(
        &self,
        outbox: &Path,
        (tree, parent): (&str, Option<&str>),
    ) -> Result<String, GitError> {
        let mut command = self.command_in(outbox);
        for who in ["AUTHOR", "COMMITTER"] {
            command.env(format!("GIT_{who}_NAME"), "pagelog");
            command.env(format!("GIT_{who}_EMAIL"), self.contact());
            command.env(format!("GIT_{who}_DATE"), "@0 +0000");
        }
        let message = "Part of an upload, which removes it at its end";
        command.args(["commit-tree", "--no-gpg-sign", "-m", message]);
        if let Some(parent) = parent {
            command.args(["-p", parent]);
        }
        command.arg(tree);
        let out = self.succeed(command, None, (outbox, "commit-tree"))?;
        Ok(String::from_utf8_lossy(&out).trim().to_owned())
    }
}

/// What one line of `cat-file` says; `None` where it knows no such object.
fn size(line: &str) -> Option<ObjectSize> {
    let mut words = line.split(' ');
    Some(ObjectSize {
        content: words.next()?.parse().ok()?,
        stored: words.next()?.parse().ok()?,
        base: words.next().filter(|id| id.bytes().any(|byte| byte != b'0')).map(str::to_owned),
    })
}

/// The id that an entry of `ls-tree` names: mode, kind and id, a tab, the name.
fn entry_id(entry: &[u8]) -> String {
    let head = entry.split(|byte| *byte == b'\t').next().unwrap_or_default();
    let id = head.rsplit(|byte| *byte == b' ').next().unwrap_or_default();
    String::from_utf8_lossy(id).into_owned()
}
