//! The kernel being probed, and where its files are.

use std::cell::OnceCell;
use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use crate::headers;
use crate::{Config, Error, Exports, Version};

/// Which kernel a script is translated for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum KernelSpec {
    /// The kernel that is running.
    #[default]
    Running,
    /// An installed kernel, by its release: `6.1.0-57-amd64`.
    Release(String),
    /// A prepared kernel build tree, or a package of headers, by its path.
    BuildTree(PathBuf),
}

impl KernelSpec {
    /// Reads the argument of `-r`: a path if it has a slash, else a release.
    pub fn from_argument(argument: &str) -> Self {
        if argument.contains('/') {
            Self::BuildTree(PathBuf::from(argument))
        } else {
            Self::Release(argument.to_owned())
        }
    }
}

/// The folders in which a machine keeps its kernels. Tests point them elsewhere.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Roots {
    /// Installed modules and links to build trees, one folder per release: `/lib/modules`.
    pub modules: PathBuf,
    /// Kernel images and configurations: `/boot`.
    pub boot: PathBuf,
    /// The proc file system: `/proc`.
    pub proc: PathBuf,
    /// The sys file system: `/sys`.
    pub sys: PathBuf,
}

impl Default for Roots {
    fn default() -> Self {
        Self {
            modules: "/lib/modules".into(),
            boot: "/boot".into(),
            proc: "/proc".into(),
            sys: "/sys".into(),
        }
    }
}

/// What the sources at hand say of a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Presence {
    /// The kernel has it.
    Present,
    /// The kernel does not have it: a complete list was read and the name is not in it.
    Absent,
    /// Nothing at hand can tell; loading the module will.
    Unknown,
}

/// One kernel and what is known of it. Everything but the release is read when first asked for.
#[derive(Debug)]
pub struct Kernel {
    roots: Roots,
    release: String,
    version: Version,
    running: bool,
    /// The build tree, if the user named one.
    given_tree: Option<PathBuf>,
    config: OnceCell<Config>,
    exports: OnceCell<Exports>,
    header_tracepoints: OnceCell<Option<Vec<String>>>,
}

impl Kernel {
    /// Finds out which kernel `spec` means. The running kernel need not have any files.
    ///
    /// # Errors
    /// [`Error::NoSuchRelease`], [`Error::NotABuildTree`], or an unreadable release file.
    pub fn open(spec: &KernelSpec) -> Result<Self, Error> {
        Self::open_in(Roots::default(), spec)
    }

    /// As [`Kernel::open`], with the machine's folders elsewhere.
    ///
    /// # Errors
    /// As [`Kernel::open`].
    pub fn open_in(roots: Roots, spec: &KernelSpec) -> Result<Self, Error> {
        let running = read_line(&roots.proc.join("sys/kernel/osrelease"))?;
        let (release, given_tree) = match spec {
            KernelSpec::Running => (running.clone(), None),
            KernelSpec::Release(release) => {
                check_installed(&roots, release)?;
                (release.clone(), None)
            }
            KernelSpec::BuildTree(path) => (tree_release(path)?, Some(path.clone())),
        };
        let version = release.parse().map_err(|_| {
            Error::malformed(&roots.modules, format!("`{release}` is not a kernel release"))
        })?;
        let running = running == release;
        Ok(Self {
            roots,
            release,
            version,
            running,
            given_tree,
            config: OnceCell::new(),
            exports: OnceCell::new(),
            header_tracepoints: OnceCell::new(),
        })
    }

    /// The release string, as `uname -r` prints it on that kernel.
    pub fn release(&self) -> &str {
        &self.release
    }

    /// The numbers in the release string.
    pub fn version(&self) -> Version {
        self.version
    }

    /// The architecture as `uname -m` prints it.
    pub fn arch(&self) -> &'static str {
        std::env::consts::ARCH
    }

    /// Whether it is the kernel that is running now.
    pub fn is_running(&self) -> bool {
        self.running
    }

    /// The tree that kbuild is run in (`make -C`).
    ///
    /// # Errors
    /// [`Error::NoHeaders`], or [`Error::NotABuildTree`] for a tree that was not prepared.
    pub fn build_dir(&self) -> Result<PathBuf, Error> {
        let dir = match &self.given_tree {
            Some(tree) => tree.clone(),
            None => self.roots.modules.join(&self.release).join("build"),
        };
        if !dir.is_dir() {
            return Err(Error::NoHeaders { release: self.release.clone(), expected: dir });
        }
        let prepared = dir.join("include/config/auto.conf");
        if !prepared.is_file() {
            return Err(Error::NotABuildTree { path: dir, missing: prepared });
        }
        Ok(dir)
    }

    /// The tree with the kernel's own headers; the build tree itself unless headers and
    /// generated files are kept apart.
    ///
    /// # Errors
    /// As [`Kernel::build_dir`].
    pub fn source_dir(&self) -> Result<PathBuf, Error> {
        let build = self.build_dir()?;
        let linked = build.join("source");
        let beside = self.roots.modules.join(&self.release).join("source");
        let named = makefile_include(&build.join("Makefile"));
        let candidates = [Some(build.clone()), Some(linked), named, Some(beside)];
        let has_headers = |dir: &PathBuf| dir.join("include/linux/module.h").is_file();
        Ok(candidates.into_iter().flatten().find(has_headers).unwrap_or(build))
    }

    /// The options that the kernel was built with.
    ///
    /// # Errors
    /// [`Error::NoConfig`] if no copy is found, or an unreadable file.
    pub fn config(&self) -> Result<&Config, Error> {
        get_or_try(&self.config, || self.read_config())
    }

    /// The symbols that modules may use.
    ///
    /// # Errors
    /// [`Error::NoHeaders`], or an unreadable or malformed `Module.symvers`.
    pub fn exports(&self) -> Result<&Exports, Error> {
        get_or_try(&self.exports, || {
            let path = self.build_dir()?.join("Module.symvers");
            Exports::parse(&read(&path)?).map_err(|reason| Error::malformed(path, reason))
        })
    }

    /// Whether the kernel image has the tracepoint `name`.
    pub fn tracepoint(&self, name: &str) -> Presence {
        match self.header_tracepoints() {
            Some(names) if names.binary_search_by(|n| n.as_str().cmp(name)).is_ok() => {
                Presence::Present
            }
            _ => Presence::Unknown,
        }
    }

    /// The names of the kernel's tracepoints, sorted; `None` if there is nothing to read them
    /// from.
    pub fn tracepoints(&self) -> Option<&[String]> {
        self.header_tracepoints()
    }

    /// Whether the kernel image has a function `name`.
    pub fn function(&self, _name: &str) -> Presence {
        Presence::Unknown
    }

    /// The names of the kernel image's functions that have type information, sorted; `None` if
    /// there is nothing to read them from. Functions written in assembly are not among them.
    pub fn functions(&self) -> Option<&[String]> {
        None
    }

    /// The names that the header tree declares.
    fn header_tracepoints(&self) -> Option<&[String]> {
        self.header_tracepoints
            .get_or_init(|| self.source_dir().ok().map(|source| headers::tracepoints(&source)))
            .as_deref()
    }

    /// Reads the first copy of the configuration that exists.
    fn read_config(&self) -> Result<Config, Error> {
        let mut tried = Vec::new();
        if let Ok(build) = self.build_dir() {
            tried.push(build.join("include/config/auto.conf"));
            tried.push(build.join(".config"));
        }
        if self.given_tree.is_none() {
            tried.push(self.roots.boot.join(format!("config-{}", self.release)));
            tried.push(self.roots.modules.join(&self.release).join("config"));
        }
        for path in &tried {
            match fs::read_to_string(path) {
                Ok(text) => return Ok(Config::parse(&text)),
                Err(error) if error.kind() == ErrorKind::NotFound => {}
                Err(error) => return Err(Error::io(path, error)),
            }
        }
        Err(Error::NoConfig { release: self.release.clone(), tried })
    }
}

/// [`OnceCell::get_or_init`] for what can fail; failures are not kept.
fn get_or_try<T>(cell: &OnceCell<T>, make: impl FnOnce() -> Result<T, Error>) -> Result<&T, Error> {
    match cell.get() {
        Some(value) => Ok(value),
        None => {
            let value = make()?;
            Ok(cell.get_or_init(|| value))
        }
    }
}

/// Makes sure that something of the release is on this machine.
fn check_installed(roots: &Roots, release: &str) -> Result<(), Error> {
    let in_boot = ["vmlinuz", "config"]
        .iter()
        .any(|kind| roots.boot.join(format!("{kind}-{release}")).exists());
    if !release.is_empty() && (roots.modules.join(release).is_dir() || in_boot) {
        return Ok(());
    }
    let mut installed: Vec<String> = fs::read_dir(&roots.modules)
        .map(|entries| {
            entries
                .flatten()
                .map(|entry| entry.file_name().to_string_lossy().into_owned())
                .collect()
        })
        .unwrap_or_default();
    installed.sort();
    Err(Error::NoSuchRelease {
        release: release.to_owned(),
        modules: roots.modules.clone(),
        installed,
    })
}

/// The release that a build tree was prepared for.
fn tree_release(tree: &Path) -> Result<String, Error> {
    let file = tree.join("include/config/kernel.release");
    if !file.is_file() {
        return Err(Error::NotABuildTree { path: tree.to_owned(), missing: file });
    }
    read_line(&file)
}

/// The folder whose Makefile is included by `makefile`: how Debian's header packages refer from
/// the generated part to the common one.
fn makefile_include(makefile: &Path) -> Option<PathBuf> {
    let text = fs::read_to_string(makefile).ok()?;
    let line = text.lines().find_map(|line| line.strip_prefix("include "))?;
    let folder = line.trim().strip_suffix("/Makefile")?;
    Some(PathBuf::from(folder))
}

fn read(path: &Path) -> Result<String, Error> {
    fs::read_to_string(path).map_err(|error| Error::io(path, error))
}

fn read_line(path: &Path) -> Result<String, Error> {
    read(path).map(|text| text.trim().to_owned())
}
