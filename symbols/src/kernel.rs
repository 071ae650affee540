//! The kernel being probed, and where its files are.

use std::cell::{Cell, OnceCell};
use std::collections::HashMap;
use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use crate::btf::Btf;
use crate::headers;
use crate::names::BtfSources;
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

/// Questions about names that are answered by searching; after them lists of all names are made.
const FEW_QUESTIONS: u32 = 8;

/// One kernel and what is known of it. Everything but the release is read when first asked for.
#[derive(Debug)]
pub struct Kernel {
    roots: Roots,
    release: String,
    version: Version,
    running: bool,
    /// The build tree, if the user named one.
    given_tree: Option<PathBuf>,
    /// The folder that keeps unpacked BTF.
    cache: Option<PathBuf>,
    config: OnceCell<Config>,
    exports: OnceCell<Exports>,
    header_tracepoints: OnceCell<Option<Vec<String>>>,
    btf: OnceCell<Result<Btf, Error>>,
    tracepoints: OnceCell<Vec<String>>,
    functions: OnceCell<Vec<String>>,
    function_counts: OnceCell<HashMap<Box<[u8]>, usize>>,
    /// How often it has been asked about a name.
    asked: Cell<u32>,
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
                if *release != running {
                    check_installed(&roots, release)?;
                }
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
            cache: None,
            config: OnceCell::new(),
            exports: OnceCell::new(),
            header_tracepoints: OnceCell::new(),
            btf: OnceCell::new(),
            tracepoints: OnceCell::new(),
            functions: OnceCell::new(),
            function_counts: OnceCell::new(),
            asked: Cell::new(0),
        })
    }

    /// Keeps what is costly to find out in `folder`, which is made when needed.
    pub fn with_cache(mut self, folder: PathBuf) -> Self {
        self.cache = Some(folder);
        self
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
    ///
    /// Asks the cheapest source that can tell: BTF that needs no unpacking, then the declarations
    /// in the header tree (a declared tracepoint counts as present, though the kernel's
    /// configuration may have left it out), then the kernel image.
    pub fn tracepoint(&self, name: &str) -> Presence {
        if self.btf.get().is_none()
            && let Some(btf) = self.btf_sources().quick()
        {
            // A cell that was empty a moment ago on this thread takes the value.
            let _ = self.btf.set(Ok(btf));
        }
        let declared = || {
            self.header_tracepoints()
                .is_some_and(|names| names.binary_search_by(|n| n.as_str().cmp(name)).is_ok())
        };
        if self.btf.get().is_none() && declared() {
            return Presence::Present;
        }
        match self.btf() {
            Ok(btf) => {
                let present = if self.asks_often() {
                    let names = self.tracepoints.get_or_init(|| btf.tracepoints());
                    names.binary_search_by(|n| n.as_str().cmp(name)).is_ok()
                } else {
                    btf.has_tracepoint(name)
                };
                if present { Presence::Present } else { Presence::Absent }
            }
            Err(_) if declared() => Presence::Present,
            Err(_) => Presence::Unknown,
        }
    }

    /// The names of the kernel's tracepoints, sorted; `None` if there is nothing to read them
    /// from. With the header tree alone the list may miss some and have some too many.
    pub fn tracepoints(&self) -> Option<&[String]> {
        match self.btf() {
            Ok(btf) => Some(self.tracepoints.get_or_init(|| btf.tracepoints())),
            Err(_) => self.header_tracepoints(),
        }
    }

    /// Whether the kernel image has a function `name`.
    ///
    /// [`Presence::Absent`] is not the last word: functions written in assembly have no type
    /// information, and only those that modules may call are known all the same.
    pub fn function(&self, name: &str) -> Presence {
        match self.functions_named(name) {
            Some(0) => match self.exports() {
                Ok(exports) if exports.get(name).is_some_and(|export| export.in_kernel) => {
                    Presence::Present
                }
                _ => Presence::Absent,
            },
            Some(_) => Presence::Present,
            None => Presence::Unknown,
        }
    }

    /// How many functions of the kernel image that have type information are called `name`: a
    /// probe by name cannot tell two of them apart. `None` if there is nothing to count in.
    pub fn functions_named(&self, name: &str) -> Option<usize> {
        let btf = self.btf().ok()?;
        if self.asks_often() {
            let counts = self.function_counts.get_or_init(|| btf.function_counts());
            return Some(counts.get(name.as_bytes()).copied().unwrap_or(0));
        }
        Some(btf.functions_named(name))
    }

    /// The names of the kernel image's functions that have type information, sorted; `None` if
    /// there is nothing to read them from. Functions written in assembly are not among them.
    pub fn functions(&self) -> Option<&[String]> {
        let btf = self.btf().ok()?;
        Some(self.functions.get_or_init(|| btf.functions()))
    }

    /// Why names are unknown: what kept the kernel's type information from being read, if
    /// anything did.
    pub fn names_error(&self) -> Option<&Error> {
        self.btf().err()
    }

    /// Counts a question about a name; gives whether there have been so many that lists of all names
    /// are worth making.
    fn asks_often(&self) -> bool {
        self.asked.set(self.asked.get() + 1);
        self.asked.get() > FEW_QUESTIONS
    }

    /// The kernel's type information.
    fn btf(&self) -> Result<&Btf, &Error> {
        let read = || {
            let sources = self.btf_sources();
            sources.quick().map_or_else(|| sources.full(), Ok)
        };
        self.btf.get_or_init(read).as_ref()
    }

    /// Where to look for BTF.
    fn btf_sources(&self) -> BtfSources {
        let release = &self.release;
        let mut images = Vec::new();
        images.extend(self.given_tree.as_ref().map(|tree| tree.join("vmlinux")));
        images.push(self.roots.boot.join(format!("vmlinuz-{release}")));
        images.push(self.roots.modules.join(release).join("vmlinuz"));
        images.push(self.roots.modules.join(release).join("vmlinux"));
        BtfSources {
            release: release.clone(),
            live: self.running.then(|| self.roots.sys.join("kernel/btf/vmlinux")),
            images,
            cache: self.cache.clone(),
        }
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

#[cfg(test)]
mod tests {
    use super::*;

    /// A machine with one kernel of release 6.1.0-9-test, headers in two parts as in Debian.
    struct Machine {
        folder: tempfile::TempDir,
    }

    impl Machine {
        fn new() -> Self {
            let machine = Self { folder: tempfile::tempdir().expect("temporary folder") };
            machine.write("proc/sys/kernel/osrelease", "6.18.1-live\n");
            let common = machine.path("src/common");
            machine.write("src/common/include/linux/module.h", "");
            machine.write(
                "src/common/include/trace/events/sample.h",
                "TRACE_EVENT(sample_one,\n\tTP_PROTO(int a));\n",
            );
            let build = "modules/6.1.0-9-test/build";
            machine.write(&format!("{build}/Makefile"), format!("include {common}/Makefile\n"));
            machine.write(&format!("{build}/include/config/auto.conf"), "CONFIG_HZ=250\n");
            machine.write(&format!("{build}/include/config/kernel.release"), "6.1.0-9-test\n");
            machine.write(
                &format!("{build}/Module.symvers"),
                "0x1\tmemcpy\tvmlinux\tEXPORT_SYMBOL\t\n",
            );
            machine
        }

        fn path(&self, name: &str) -> String {
            self.folder.path().join(name).display().to_string()
        }

        fn write(&self, name: &str, contents: impl AsRef<[u8]>) {
            let path = self.folder.path().join(name);
            fs::create_dir_all(path.parent().expect("has a parent")).expect("folder made");
            fs::write(path, contents).expect("written");
        }

        fn open(&self, spec: &KernelSpec) -> Result<Kernel, Error> {
            let folder = |name| self.folder.path().join(name);
            let (modules, boot) = (folder("modules"), folder("boot"));
            Kernel::open_in(Roots { modules, boot, proc: folder("proc"), sys: folder("sys") }, spec)
        }

        fn open_release(&self) -> Kernel {
            self.open(&KernelSpec::from_argument("6.1.0-9-test")).expect("installed")
        }

        /// An error's message with the machine's folder taken out.
        fn message(&self, error: &Error) -> String {
            error.to_string().replace(&self.folder.path().display().to_string(), "DIR")
        }
    }

    #[test]
    fn an_installed_release() {
        let machine = Machine::new();
        let kernel = machine.open_release();
        assert_eq!(kernel.release(), "6.1.0-9-test");
        assert_eq!(kernel.version(), Version::new(6, 1, 0));
        assert!(!kernel.is_running());
        assert_eq!(kernel.config().expect("config").get("CONFIG_HZ"), Some("250"));
        assert!(kernel.exports().expect("exports").get("memcpy").is_some());
        let source = kernel.source_dir().expect("source");
        assert_eq!(source, Path::new(&machine.path("src/common")));
    }

    #[test]
    fn a_build_tree_by_path() {
        let machine = Machine::new();
        let tree = machine.path("modules/6.1.0-9-test/build");
        let kernel = machine.open(&KernelSpec::from_argument(&tree)).expect("a tree");
        assert_eq!(kernel.release(), "6.1.0-9-test");
        assert_eq!(kernel.build_dir().expect("build tree"), Path::new(&tree));
    }

    #[test]
    fn the_running_kernel_needs_no_files() {
        let machine = Machine::new();
        for spec in [KernelSpec::Running, KernelSpec::from_argument("6.18.1-live")] {
            let kernel = machine.open(&spec).expect("running");
            assert!(kernel.is_running());
            assert_eq!(kernel.tracepoint("sys_enter"), Presence::Unknown);
            assert_eq!(kernel.function("schedule"), Presence::Unknown);
            assert_eq!(kernel.tracepoints(), None);
            assert_eq!(
                machine.message(&kernel.build_dir().expect_err("no headers")),
                "the headers of kernel 6.18.1-live are not installed: \
                 DIR/modules/6.18.1-live/build is missing; install them (on Debian: `apt-get \
                 install linux-headers-6.18.1-live`), or use -r to name another kernel or a \
                 build tree"
            );
            assert!(machine.message(&kernel.config().expect_err("no config")).starts_with(
                "the configuration of kernel 6.18.1-live was not found: tried DIR/boot/config-"
            ));
            assert!(matches!(kernel.names_error(), Some(Error::NoBtf { .. })));
        }
    }

    #[test]
    fn releases_and_trees_that_do_not_exist() {
        let machine = Machine::new();
        let message = |argument: &str| {
            machine.message(&machine.open(&KernelSpec::from_argument(argument)).expect_err("bad"))
        };
        assert_eq!(
            message("9.9.9"),
            "no kernel of release `9.9.9` in DIR/modules (installed: 6.1.0-9-test); \
             give -r an installed release or the path of a kernel build tree"
        );
        assert!(message("").starts_with("no kernel of release ``"));
        assert_eq!(
            message("/nonexistent/tree"),
            "/nonexistent/tree is not a prepared kernel build tree: it has no \
             /nonexistent/tree/include/config/kernel.release; run `make modules_prepare` there, \
             or give -r another tree or a release"
        );
    }

    #[test]
    fn headers_know_some_tracepoints_and_an_image_all() {
        let machine = Machine::new();
        let kernel = machine.open_release();
        assert_eq!(kernel.tracepoint("sample_one"), Presence::Present);
        assert_eq!(kernel.tracepoint("hidden"), Presence::Unknown);
        assert_eq!(kernel.tracepoints(), Some(&["sample_one".to_owned()][..]));

        let btf = crate::btf::tests::sample(&["__traceiter_hidden", "twice", "once", "twice"]);
        machine.write("boot/vmlinuz-6.1.0-9-test", btf);
        let kernel = machine.open_release();
        // The second time, many questions have been asked.
        for _ in 0..2 {
            assert_eq!(kernel.tracepoint("hidden"), Presence::Present);
            assert_eq!(kernel.tracepoint("hiden"), Presence::Absent);
            assert_eq!(kernel.function("once"), Presence::Present);
            assert_eq!(kernel.function("never"), Presence::Absent);
            // Assembly, known because it is exported.
            assert_eq!(kernel.function("memcpy"), Presence::Present);
            assert_eq!(kernel.functions_named("twice"), Some(2));
            assert!((0..FEW_QUESTIONS).all(|_| kernel.functions_named("once") == Some(1)));
        }
        assert_eq!(kernel.tracepoints(), Some(&["hidden".to_owned()][..]));
        assert_eq!(kernel.functions().map(<[String]>::len), Some(3));
    }

    #[test]
    fn a_cache_answers_before_the_headers_do() {
        let machine = Machine::new();
        machine
            .write("boot/vmlinuz-6.1.0-9-test", crate::btf::tests::sample(&["__traceiter_hidden"]));
        let open = || machine.open_release().with_cache(machine.folder.path().join("cache"));
        assert_eq!(open().tracepoint("sample_one"), Presence::Present);
        assert_eq!(open().tracepoint("hidden"), Presence::Present);
        // The image did not have it, whatever the headers say.
        assert_eq!(open().tracepoint("sample_one"), Presence::Absent);
    }
}
