//! What pass 4 makes: found in the cache, or built in a temporary folder and put into the cache.

use std::path::{Path, PathBuf};

use tempfile::TempDir;

use crate::{Cache, Error};

/// A file that pass 4 made: a module, or a program for the host.
#[derive(Debug)]
pub struct Built {
    /// The name of the module, as `lsmod` would show it if it is not renamed, or the name that the
    /// program sees as its module's.
    pub name: String,
    /// The file. It may lie in a temporary folder that goes with this value.
    pub path: PathBuf,
    /// Whether it was in the cache.
    pub cached: bool,
    /// The build folder, if it was to be kept and there was anything to build.
    pub kept: Option<PathBuf>,
    /// Why the file is not in the cache, if that failed.
    pub cache_problem: Option<Error>,
    /// What the compiler printed; empty if nothing was built.
    pub log: String,
    /// Removes the build folder.
    folder: Option<TempDir>,
}

impl Built {
    /// Whether the file goes with this value.
    pub(crate) fn is_temporary(&self) -> bool {
        let inside =
            self.folder.as_ref().is_some_and(|folder| self.path.starts_with(folder.path()));
        inside && self.kept.is_none()
    }
}

/// How a file is known.
pub(crate) struct Wanted<'a> {
    /// See [`Built::name`].
    pub(crate) name: String,
    /// The file's name in the cache.
    pub(crate) entry: String,
    /// Where to look first, and to put the file afterwards.
    pub(crate) cache: Option<&'a Cache>,
    /// Whether the temporary folder stays.
    pub(crate) keep: bool,
}

impl Wanted<'_> {
    /// Finds the file in the cache, or has `build` make it in an empty folder: that gives its path and
    /// what the compiler printed.
    ///
    /// # Errors
    /// Those of `build`, and if no folder can be made.
    pub(crate) fn find_or(
        self,
        build: impl FnOnce(&Path, &str) -> Result<(PathBuf, String), Error>,
    ) -> Result<Built, Error> {
        let Wanted { name, entry, cache, keep } = self;
        if let Some(path) = cache.filter(|_| !keep).and_then(|cache| cache.find(&entry)) {
            let (kept, cache_problem, log) = (None, None, String::new());
            return Ok(Built { name, path, cached: true, kept, cache_problem, log, folder: None });
        }
        let mut folder = tempfile::Builder::new()
            .prefix("xlate-")
            .tempdir()
            .map_err(|error| Error::io("cannot make a folder in", &std::env::temp_dir(), error))?;
        // What the user wants to look at stays even if it does not compile.
        folder.disable_cleanup(keep);
        let (mut path, log) = build(folder.path(), &name)?;
        let mut cache_problem = None;
        match cache.map(|cache| cache.store(&entry, &path)) {
            Some(Ok(stored)) => path = stored,
            Some(Err(problem)) => cache_problem = Some(problem),
            None => {}
        }
        let kept = keep.then(|| folder.path().to_owned());
        Ok(Built { name, path, cached: false, kept, cache_problem, log, folder: Some(folder) })
    }
}
