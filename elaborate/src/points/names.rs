//! What probe points ask of the kernel that is probed.

use xlate_symbols::{Kernel, Presence};

/// The names that a kernel has. Tests have kernels of their own.
pub(crate) trait Names {
    /// The release.
    fn release(&self) -> &str;
    /// Whether there is a tracepoint of this name.
    fn tracepoint(&self, name: &str) -> Presence;
    /// The tracepoints that are known, sorted.
    fn tracepoints(&self) -> &[String];
    /// Whether there is a function of this name.
    fn function(&self, name: &str) -> Presence;
    /// The functions that are known, sorted.
    fn functions(&self) -> &[String];
}

impl Names for Kernel {
    fn release(&self) -> &str {
        self.release()
    }

    fn tracepoint(&self, name: &str) -> Presence {
        self.tracepoint(name)
    }

    fn tracepoints(&self) -> &[String] {
        self.tracepoints().unwrap_or_default()
    }

    fn function(&self, name: &str) -> Presence {
        self.function(name)
    }

    fn functions(&self) -> &[String] {
        self.functions().unwrap_or_default()
    }
}
