//! The folder that keeps compiled modules, and what it takes to trust it.
//!
//! A cached module is loaded into the kernel, so nobody but its user (and root) may have been
//! able to write it: the cache folder and every folder above it must belong to one of the two and
//! be closed to others, or be sticky like `/tmp`.
//!
//! Entries are written beside their place and renamed into it, so that a reader, or a second
//! program that builds the same module at the same time, finds a whole file or none.

use std::env;
use std::fs::{self, DirBuilder, File, Permissions};
use std::io;
use std::os::unix::fs::{DirBuilderExt, MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use crate::Error;

/// When more modules are kept than this, the ones that were not used for longest are removed.
const MODULES_MAX: usize = 400;

/// Write permission for group and others, and the sticky bit that tames it.
const OTHERS_WRITE: u32 = 0o022;
const STICKY: u32 = 0o1000;

/// The cache of one user.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cache {
    root: PathBuf,
}

impl Cache {
    /// The cache in its usual place: `$XDG_CACHE_HOME/xlate`, else `~/.cache/xlate`, else, for
    /// root under somebody else's home (as with `sudo`), `/var/cache/xlate`.
    ///
    /// # Errors
    /// [`Error::Cache`] if there is no such folder and it cannot be made, or if others could
    /// write to it.
    pub fn open() -> Result<Self, Error> {
        let absolute =
            |name| env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute());
        if let Some(folder) = absolute("XDG_CACHE_HOME") {
            return Self::open_at(folder.join("xlate"));
        }
        let is_root = rustix::process::geteuid().is_root();
        match absolute("HOME") {
            Some(home) if !is_root || untrusted(&home).is_none() => {
                Self::open_at(home.join(".cache/xlate"))
            }
            _ if is_root => Self::open_at("/var/cache/xlate".into()),
            _ => Err(Error::Cache {
                path: "~/.cache/xlate".into(),
                reason: "neither XDG_CACHE_HOME nor HOME says where it should be".to_owned(),
            }),
        }
    }

    /// The cache in a given folder, which is made if need be.
    ///
    /// # Errors
    /// As [`Cache::open`].
    pub fn open_at(root: PathBuf) -> Result<Self, Error> {
        let cache = Self { root };
        make_private(&cache.modules())?;
        let resolved =
            fs::canonicalize(&cache.root).map_err(|error| Error::cache(&cache.root, error))?;
        match untrusted(&resolved) {
            None => Ok(cache),
            Some(folder) => Err(Error::Cache {
                reason: format!("others may write to {}", folder.display()),
                path: cache.root,
            }),
        }
    }

    /// The folder for what is known of kernels.
    pub fn kernels(&self) -> PathBuf {
        self.root.join("kernels")
    }

    /// The folder of compiled modules.
    fn modules(&self) -> PathBuf {
        self.root.join("modules")
    }

    /// The entry of that name, if there is one. Asking for it counts as use.
    pub(crate) fn find(&self, entry: &str) -> Option<PathBuf> {
        let path = self.modules().join(entry);
        let file = File::open(&path).ok()?;
        // Only the order of removal depends on it, and an owner's own file takes it.
        let _ = file.set_modified(SystemTime::now());
        Some(path)
    }

    /// Copies a file into the cache.
    ///
    /// # Errors
    /// [`Error::Cache`]; then there is no new entry.
    pub(crate) fn store(&self, entry: &str, from: &Path) -> Result<PathBuf, Error> {
        let path = self.modules().join(entry);
        let store = || -> io::Result<()> {
            let mut copy = tempfile::NamedTempFile::new_in(self.modules())?;
            io::copy(&mut File::open(from)?, &mut copy)?;
            // A host program stays one that its owner may run.
            let mode = fs::metadata(from)?.mode() & 0o700;
            copy.as_file().set_permissions(Permissions::from_mode(mode))?;
            copy.as_file().sync_data()?;
            copy.persist(&path)?;
            self.remove_oldest()
        };
        store().map_err(|error| Error::cache(&self.root, error))?;
        Ok(path)
    }

    /// Keeps the number of modules within its limit.
    fn remove_oldest(&self) -> io::Result<()> {
        let mut entries = Vec::new();
        for entry in fs::read_dir(self.modules())? {
            let entry = entry?;
            // Another program may be tidying up as well: what is gone is gone.
            if let Ok(metadata) = entry.metadata() {
                entries.push((metadata.mtime(), metadata.mtime_nsec(), entry.path()));
            }
        }
        let surplus = entries.len().saturating_sub(MODULES_MAX);
        entries.sort();
        for (_, _, path) in entries.iter().take(surplus) {
            match fs::remove_file(path) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
                _ => {}
            }
        }
        Ok(())
    }
}

/// Makes a folder, and those above it, that only their owner may enter.
fn make_private(folder: &Path) -> Result<(), Error> {
    DirBuilder::new()
        .recursive(true)
        .mode(0o700)
        .create(folder)
        .map_err(|error| Error::cache(folder, error))
}

/// The folder at or above `path` that someone other than root and this user could change.
fn untrusted(path: &Path) -> Option<&Path> {
    let me = rustix::process::geteuid().as_raw();
    path.ancestors().filter(|folder| !folder.as_os_str().is_empty()).find(|folder| {
        fs::metadata(folder).is_ok_and(|metadata| {
            let open = metadata.mode() & OTHERS_WRITE != 0 && metadata.mode() & STICKY == 0;
            open || (metadata.uid() != me && metadata.uid() != 0)
        })
    })
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;
    use std::time::Duration;

    use super::*;

    fn set_mode(path: &Path, mode: u32) {
        fs::set_permissions(path, fs::Permissions::from_mode(mode)).expect("mode set");
    }

    fn entries(cache: &Cache) -> Vec<String> {
        let entries = fs::read_dir(cache.modules()).expect("listed");
        let mut names: Vec<String> = entries
            .map(|entry| entry.expect("entry").file_name().to_string_lossy().into_owned())
            .collect();
        names.sort();
        names
    }

    #[test]
    fn an_entry_is_there_whole() {
        let folder = tempfile::tempdir().expect("temporary folder");
        let cache = Cache::open_at(folder.path().join("a/b")).expect("made");
        assert_eq!(fs::metadata(folder.path().join("a/b")).expect("made").mode() & 0o777, 0o700);
        assert_eq!(cache.find("one.ko"), None);
        let source = folder.path().join("source");
        fs::write(&source, "module").expect("written");
        let stored = cache.store("one.ko", &source).expect("stored");
        assert_eq!(fs::read(&stored).expect("read"), b"module");
        assert_eq!(cache.find("one.ko"), Some(stored));
        assert_eq!(entries(&cache), ["one.ko"]);
    }

    #[test]
    fn a_folder_that_others_may_write_is_refused() {
        let folder = tempfile::tempdir().expect("temporary folder");
        let root = folder.path().join("cache");
        Cache::open_at(root.clone()).expect("made");
        set_mode(&root, 0o777);
        let message = Cache::open_at(root.clone()).expect_err("refused").to_string();
        let message = message.replace(&root.display().to_string(), "CACHE");
        assert_eq!(
            message,
            "the cache CACHE cannot be used: others may write to CACHE; make it writable for you \
             alone, or set XDG_CACHE_HOME to another folder"
        );
        set_mode(&root, 0o1777);
        Cache::open_at(root.clone()).expect("sticky is fine");
        set_mode(&root, 0o700);
        set_mode(folder.path(), 0o770);
        Cache::open_at(root).expect_err("the folder above counts, too");
    }

    #[test]
    fn a_folder_that_cannot_be_made_is_named() {
        let folder = tempfile::tempdir().expect("temporary folder");
        let file = folder.path().join("file");
        fs::write(&file, "").expect("written");
        let error = Cache::open_at(file.join("cache")).expect_err("in the way").to_string();
        assert!(error.contains("cannot be used: Not a directory"), "{error}");
    }

    #[test]
    fn the_least_recently_used_entries_go() {
        let folder = tempfile::tempdir().expect("temporary folder");
        let cache = Cache::open_at(folder.path().join("cache")).expect("made");
        let source = folder.path().join("source");
        fs::write(&source, "").expect("written");
        let long_ago = SystemTime::now() - Duration::from_secs(1000);
        for index in 0..MODULES_MAX {
            let path = cache.modules().join(format!("{index:03}.ko"));
            let file = File::create(&path).expect("written");
            file.set_modified(long_ago + Duration::from_secs(index as u64)).expect("dated");
        }
        assert!(cache.find("000.ko").is_some());
        cache.store("new.ko", &source).expect("stored");
        let names = entries(&cache);
        assert_eq!(names.len(), MODULES_MAX);
        assert!(names.contains(&"000.ko".to_owned()));
        assert!(!names.contains(&"001.ko".to_owned()));
    }
}
