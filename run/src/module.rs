//! Loading and removing modules, and the files that a loaded one offers.

use std::ffi::CString;
use std::fs::{self, File, OpenOptions};
use std::io;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::thread::sleep;
use std::time::{Duration, Instant};

use rustix::fs::OFlags;
use rustix::io::Errno;
use rustix::system::{delete_module, init_module};

use crate::image::Image;
use crate::{Error, Interrupts};

/// Where modules put their folders, in the order in which to look.
const FOLDERS: [&str; 2] = ["/sys/kernel/debug/systemtap", "/proc/systemtap"];

/// How long removal is tried: a probe may still be running, or a file be open.
const REMOVAL_PATIENCE: Duration = Duration::from_secs(10);

/// A module in the running kernel. It stays there when this value goes.
#[derive(Debug)]
pub(crate) struct LoadedModule {
    name: String,
}

impl LoadedModule {
    /// Loads a module.
    ///
    /// # Errors
    /// [`Error::Load`].
    pub(crate) fn load(image: &Image, parameters: &str) -> Result<Self, Error> {
        let name = image.name();
        let load = || -> io::Result<()> {
            let parameters = CString::new(parameters)?;
            Ok(init_module(image.bytes(), &parameters)?)
        };
        match load() {
            Ok(()) => Ok(Self { name }),
            Err(source) => Err(Error::Load { name, source }),
        }
    }

    /// Opens the control file.
    ///
    /// # Errors
    /// [`Error::Protocol`] if the module has none, [`Error::Io`].
    pub(crate) fn open_control(&self) -> Result<File, Error> {
        let path = self.folder()?.join(".cmd");
        OpenOptions::new()
            .read(true)
            .write(true)
            .custom_flags(OFlags::NONBLOCK.bits() as i32)
            .open(&path)
            .map_err(|error| Error::io("cannot open", &path, error))
    }

    /// Opens the trace file of every CPU.
    ///
    /// # Errors
    /// [`Error::Protocol`] if there is none, [`Error::Io`].
    pub(crate) fn open_traces(&self) -> Result<Vec<File>, Error> {
        let folder = self.folder()?;
        let mut traces = Vec::new();
        for entry in fs::read_dir(&folder).map_err(|e| Error::io("cannot list", &folder, e))? {
            let entry = entry.map_err(|error| Error::io("cannot list", &folder, error))?;
            if entry.file_name().to_string_lossy().starts_with("trace") {
                let path = entry.path();
                let file = OpenOptions::new()
                    .read(true)
                    .custom_flags(OFlags::NONBLOCK.bits() as i32)
                    .open(&path)
                    .map_err(|error| Error::io("cannot open", &path, error))?;
                traces.push(file);
            }
        }
        match traces.is_empty() {
            true => Err(self.protocol_error("it has no trace files")),
            false => Ok(traces),
        }
    }

    /// An error that names this module.
    pub(crate) fn protocol_error(&self, reason: impl Into<String>) -> Error {
        Error::Protocol { name: self.name.clone(), reason: reason.into() }
    }

    /// Removes the module. Its files have to be closed. An interruption ends the waiting for a
    /// module that is in use.
    ///
    /// # Errors
    /// [`Error::Unload`].
    pub(crate) fn unload(&self, interrupts: &Interrupts) -> Result<(), Error> {
        remove(&self.name, || interrupts.take() > 0)
    }

    fn folder(&self) -> Result<PathBuf, Error> {
        FOLDERS
            .iter()
            .map(|folder| Path::new(folder).join(&self.name))
            .find(|folder| folder.join(".cmd").exists())
            .ok_or_else(|| {
                self.protocol_error("it offers no control file: it was not made by xlate or stap")
            })
    }
}

/// Removes a loaded module by its name, as when its loader was killed. Its `end` probes run, but
/// nobody reads what they print.
///
/// # Errors
/// [`Error::Unload`] if there is no such module, or if it is in use.
pub fn unload(name: &str) -> Result<(), Error> {
    remove(name, || false)
}

/// The modules in the running kernel that have no loader any more: those that were renamed with
/// the number of a process that is gone.
pub fn abandoned() -> Vec<String> {
    let mut names = Vec::new();
    for folder in FOLDERS {
        for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
            let name = entry.file_name().to_string_lossy().into_owned();
            if loader_is_gone(&name, Path::new("/proc")) {
                names.push(name);
            }
        }
    }
    names.sort();
    names.dedup();
    names
}

/// Whether a name ends in the number of a process that does not exist.
fn loader_is_gone(name: &str, proc: &Path) -> bool {
    match name.rsplit_once('_') {
        Some((prefix, number)) if prefix.starts_with("xlate_") => {
            number.parse::<u32>().is_ok_and(|number| !proc.join(number.to_string()).exists())
        }
        _ => false,
    }
}

/// Removes a module, again and again while it is in use.
fn remove(name: &str, give_up: impl Fn() -> bool) -> Result<(), Error> {
    let error = |source: io::Error| Error::Unload { name: name.to_owned(), source };
    let c_name = CString::new(name).map_err(|nul| error(nul.into()))?;
    let begun = Instant::now();
    let mut pause = Duration::from_millis(1);
    loop {
        match delete_module(&c_name, OFlags::NONBLOCK.bits() as i32) {
            Ok(()) => return Ok(()),
            Err(Errno::AGAIN | Errno::BUSY | Errno::INTR)
                if begun.elapsed() < REMOVAL_PATIENCE && !give_up() =>
            {
                sleep(pause);
                pause = (2 * pause).min(Duration::from_millis(250));
            }
            Err(errno) => return Err(error(errno.into())),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_loader_is_known_by_its_process() {
        let proc = tempfile::tempdir().expect("temporary folder");
        fs::create_dir(proc.path().join("12")).expect("made");
        let gone = |name| loader_is_gone(name, proc.path());
        assert!(gone("xlate_0123456789abcdef_13"));
        assert!(!gone("xlate_0123456789abcdef_12"));
        assert!(!gone("xlate_0123456789abcdef"));
        assert!(!gone("stap_0123456789abcdef_13"));
        assert!(!gone("mine_13"));
    }

    #[test]
    fn a_module_that_is_not_loaded_cannot_be_removed() {
        let message = unload("xlate_no_such_module").expect_err("not loaded").to_string();
        let expected = "cannot remove module xlate_no_such_module: ";
        assert!(message.starts_with(expected), "{message}");
    }
}
