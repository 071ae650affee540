//! What can go wrong in passes 4 and 5. Each message names the thing, the place and the way out.

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

/// Why a module was not built or did not run.
#[derive(Debug)]
pub enum Error {
    /// The kernel, or its headers, cannot be used.
    Kernel(xlate_symbols::Error),
    /// The cache folder cannot be used.
    Cache {
        /// The cache folder.
        path: PathBuf,
        /// What is wrong with it.
        reason: String,
    },
    /// A module name, given by the user, that the kernel would not take.
    ModuleName {
        /// The name.
        name: String,
        /// The rule that it breaks.
        rule: &'static str,
    },
    /// A `-B` argument that is not `NAME=VALUE`.
    MakeVariable {
        /// The argument.
        argument: String,
    },
    /// A file or folder cannot be read or written.
    Io {
        /// What was being done, as in "cannot write".
        action: &'static str,
        /// The file or folder.
        path: PathBuf,
        /// The operating system's answer.
        source: io::Error,
    },
    /// A file system is full.
    NoSpace {
        /// Something on that file system.
        path: PathBuf,
    },
    /// A program that is needed cannot be started.
    Tool {
        /// The program.
        tool: String,
        /// The operating system's answer.
        source: io::Error,
    },
    /// kbuild failed.
    Kbuild {
        /// The lines of its output that say why.
        messages: String,
        /// The build folder, if it was to be kept.
        kept: Option<PathBuf>,
    },
    /// A `-B` argument that the build of a host program does not have.
    HostVariable {
        /// The argument.
        argument: String,
    },
    /// The system's C compiler failed.
    Compiler {
        /// The lines of its output that say why.
        messages: String,
        /// The build folder, if it was to be kept.
        kept: Option<PathBuf>,
    },
    /// The user interrupted the work.
    Interrupted,
    /// The kernel refused to load the module.
    Load {
        /// The module's name.
        name: String,
        /// The operating system's answer.
        source: io::Error,
    },
    /// A module could not be removed.
    Unload {
        /// The module's name.
        name: String,
        /// The operating system's answer.
        source: io::Error,
    },
    /// The file is not a module that this loader can run.
    NotAModule {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        reason: String,
    },
    /// The module did not behave as the control protocol wants.
    Protocol {
        /// The module's name.
        name: String,
        /// What happened.
        reason: String,
    },
    /// The target process of `-x` does not exist.
    NoSuchProcess {
        /// Its number.
        pid: u32,
    },
}

impl Error {
    /// A cache that the operating system refuses.
    pub(crate) fn cache(path: &Path, source: io::Error) -> Self {
        match source.kind() {
            io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => {
                Self::NoSpace { path: path.to_owned() }
            }
            _ => Self::Cache { path: path.to_owned(), reason: plain(&source) },
        }
    }

    /// A file that the operating system refuses.
    pub(crate) fn io(action: &'static str, path: &Path, source: io::Error) -> Self {
        match source.kind() {
            io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => {
                Self::NoSpace { path: path.to_owned() }
            }
            _ => Self::Io { action, path: path.to_owned(), source },
        }
    }
}

/// The system's words for an error, without Rust's addition of the number.
fn plain(error: &io::Error) -> String {
    let text = error.to_string();
    match text.find(" (os error") {
        Some(end) => text[..end].to_owned(),
        None => text,
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Kernel(error) => error.fmt(f),
            Self::Cache { path, reason } => write!(
                f,
                "the cache {} cannot be used: {reason}; make it writable for you alone, or set \
                 XDG_CACHE_HOME to another folder",
                path.display()
            ),
            Self::ModuleName { name, rule } => {
                write!(f, "`{name}` cannot be the name of a module: {rule}")
            }
            Self::MakeVariable { argument } => {
                write!(f, "`-B {argument}` does not set a make variable: write -B NAME=VALUE")
            }
            Self::HostVariable { argument } => write!(
                f,
                "`-B {argument}` is not for a host program: write -B CC=COMPILER or -B CFLAGS=OPTIONS"
            ),
            Self::Io { action, path, source } => {
                write!(f, "{action} {}: {}", path.display(), plain(source))
            }
            Self::NoSpace { path } => write!(
                f,
                "no space left on the file system of {}; free some, or set TMPDIR or \
                 XDG_CACHE_HOME to a folder elsewhere",
                path.display()
            ),
            Self::Tool { tool, source } => write!(
                f,
                "cannot run `{tool}`: {}; compiling a module needs make and the kernel's compiler \
                 (on Debian: `apt-get install make gcc`)",
                plain(source)
            ),
            Self::Kbuild { messages, kept } => {
                write!(f, "the kernel module did not compile:\n{messages}")?;
                match kept {
                    Some(folder) => write!(f, "\nthe build folder is {}", folder.display()),
                    None => write!(f, "\nuse -k to keep the build folder"),
                }
            }
            Self::Compiler { messages, kept } => {
                write!(f, "the host program did not compile:\n{messages}")?;
                match kept {
                    Some(folder) => write!(f, "\nthe build folder is {}", folder.display()),
                    None => write!(
                        f,
                        "\nuse -k to keep the build folder; C of the script can use only the \
                         kernel's headers that a host program has"
                    ),
                }
            }
            Self::Interrupted => write!(f, "interrupted"),
            Self::Load { name, source } => {
                write!(
                    f,
                    "the kernel refused module {name}: {}; {}",
                    plain(source),
                    refusal(source)
                )
            }
            Self::Unload { name, source } => {
                write!(f, "cannot remove module {name}: {}; {}", plain(source), survival(source))
            }
            Self::NotAModule { path, reason } => {
                write!(f, "{} is not a module that can be run: {reason}", path.display())
            }
            Self::Protocol { name, reason } => write!(f, "module {name}: {reason}"),
            Self::NoSuchProcess { pid } => write!(f, "there is no process {pid} to be the target"),
        }
    }
}

/// What to do about a refusal to load.
fn refusal(source: &io::Error) -> &'static str {
    use rustix::io::Errno;
    match Errno::from_io_error(source) {
        Some(Errno::PERM) => "run as root, and see whether modules are disabled or locked down",
        Some(Errno::EXIST) => "a module of that name is loaded: remove it or choose another name",
        Some(Errno::NOEXEC) => "it was compiled for another kernel; `dmesg` says which",
        Some(Errno::NOENT) => "it needs a symbol that this kernel does not export; see `dmesg`",
        Some(Errno::KEYREJECTED | Errno::NOKEY | Errno::BADMSG) => {
            "this machine only takes signed modules (secure boot)"
        }
        Some(Errno::NOMEM) => "lower -D MAXMAPENTRIES, array sizes or the buffer size",
        _ => "see `dmesg`",
    }
}

/// What to do about a module that stays.
fn survival(source: &io::Error) -> &'static str {
    use rustix::io::Errno;
    match Errno::from_io_error(source) {
        Some(Errno::NOENT) => "`lsmod` shows which modules are loaded",
        Some(Errno::PERM) => "run as root",
        _ => "see which program uses it, and try again",
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Kernel(error) => Some(error),
            Self::Io { source, .. }
            | Self::Tool { source, .. }
            | Self::Load { source, .. }
            | Self::Unload { source, .. } => Some(source),
            _ => None,
        }
    }
}

impl From<xlate_symbols::Error> for Error {
    fn from(error: xlate_symbols::Error) -> Self {
        Self::Kernel(error)
    }
}
