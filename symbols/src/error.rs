//! What can be wrong with the knowledge of a kernel. Each message names the thing, the place
//! where it was looked for, and the way out.

use std::fmt;
use std::io;
use std::path::PathBuf;

/// Why something about the kernel could not be found out.
#[derive(Debug)]
pub enum Error {
    /// Nothing on this machine belongs to a kernel of that release.
    NoSuchRelease {
        /// The release that was asked for.
        release: String,
        /// The folder of installed kernels that was searched.
        modules: PathBuf,
        /// The releases that are installed, sorted.
        installed: Vec<String>,
    },
    /// A path was given in place of a release, and it is not a kernel build tree.
    NotABuildTree {
        /// The path that was given.
        path: PathBuf,
        /// The file that every prepared build tree has and this one lacks.
        missing: PathBuf,
    },
    /// The kernel is known but its headers are not installed.
    NoHeaders {
        /// The kernel's release.
        release: String,
        /// Where the build tree should be.
        expected: PathBuf,
    },
    /// No copy of the kernel's configuration was found.
    NoConfig {
        /// The kernel's release.
        release: String,
        /// The files that were tried, in order.
        tried: Vec<PathBuf>,
    },
    /// No BTF type information was found.
    NoBtf {
        /// The kernel's release.
        release: String,
        /// The files that were tried, in order.
        tried: Vec<PathBuf>,
    },
    /// A file is there but its contents make no sense.
    Malformed {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        reason: String,
    },
    /// A file is there but cannot be read.
    Io {
        /// The file.
        path: PathBuf,
        /// The operating system's answer.
        source: io::Error,
    },
}

impl Error {
    pub(crate) fn io(path: impl Into<PathBuf>, source: io::Error) -> Self {
        Self::Io { path: path.into(), source }
    }

    pub(crate) fn malformed(path: impl Into<PathBuf>, reason: impl Into<String>) -> Self {
        Self::Malformed { path: path.into(), reason: reason.into() }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoSuchRelease { release, modules, installed } => {
                write!(f, "no kernel of release `{release}` in {}", modules.display())?;
                if installed.is_empty() {
                    write!(f, " (no kernel is installed there)")?;
                } else {
                    write!(f, " (installed: {})", installed.join(", "))?;
                }
                write!(f, "; give -r an installed release or the path of a kernel build tree")
            }
            Self::NotABuildTree { path, missing } => write!(
                f,
                "{} is not a prepared kernel build tree: it has no {}; \
                 run `make modules_prepare` there, or give -r another tree or a release",
                path.display(),
                missing.display()
            ),
            Self::NoHeaders { release, expected } => write!(
                f,
                "the headers of kernel {release} are not installed: {} is missing; install them \
                 (on Debian: `apt-get install linux-headers-{release}`), or use -r to name \
                 another kernel or a build tree",
                expected.display()
            ),
            Self::NoConfig { release, tried } => {
                write!(f, "the configuration of kernel {release} was not found")?;
                write_tried(f, tried)?;
                write!(f, "; install the kernel's headers or image")
            }
            Self::NoBtf { release, tried } => {
                write!(f, "no BTF type information of kernel {release} was found")?;
                write_tried(f, tried)?;
                write!(f, "; install the image of a kernel built with CONFIG_DEBUG_INFO_BTF")
            }
            Self::Malformed { path, reason } => write!(f, "{}: {reason}", path.display()),
            Self::Io { path, source } => write!(f, "cannot read {}: {source}", path.display()),
        }
    }
}

/// Appends the list of places that were searched.
fn write_tried(f: &mut fmt::Formatter<'_>, tried: &[PathBuf]) -> fmt::Result {
    let mut separator = ": tried ";
    for path in tried {
        write!(f, "{separator}{}", path.display())?;
        separator = ", ";
    }
    Ok(())
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Io { source, .. } => Some(source),
            _ => None,
        }
    }
}
