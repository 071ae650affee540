//! What a compiled module depends on, as one number.
//!
//! Two requests with the same key give the same module, so the key covers the source, the runtime
//! headers, the build rules, the kernel's build tree and the compiler. Files are identified by
//! path, size and time of change; reading a compiler of 30 MB each time would cost more than the
//! cache saves.

use std::env;
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use sha2::{Digest, Sha256};
use xlate_symbols::Kernel;

/// Collects the parts of a key.
pub(crate) struct Key {
    digest: Sha256,
}

impl Key {
    pub(crate) fn new() -> Self {
        Self { digest: Sha256::new() }
    }

    /// Adds one part. Its length goes in too, so that parts cannot run into each other.
    pub(crate) fn add(&mut self, part: impl AsRef<[u8]>) {
        let part = part.as_ref();
        self.digest.update((part.len() as u64).to_le_bytes());
        self.digest.update(part);
    }

    /// Adds the identity of a file; a missing file is a part as well.
    pub(crate) fn add_file(&mut self, path: &Path) {
        let resolved = fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
        self.add(resolved.as_os_str().as_encoded_bytes());
        let identity = fs::metadata(&resolved)
            .map(|file| format!("{} {} {}", file.len(), file.mtime(), file.mtime_nsec()));
        self.add(identity.unwrap_or_default());
    }

    /// Adds the build tree and the compilers that its kbuild may choose.
    pub(crate) fn add_kernel(&mut self, kernel: &Kernel, tree: &Path, make_variables: &[String]) {
        self.add(kernel.release());
        for file in ["Makefile", "Module.symvers", "include/config/auto.conf", ".kernelvariables"] {
            self.add_file(&tree.join(file));
        }
        for compiler in compilers(kernel, make_variables) {
            self.add_file(&compiler);
        }
        for variable in make_variables {
            self.add(variable);
        }
    }

    /// The key: 32 hexadecimal digits.
    pub(crate) fn finish(self) -> String {
        let hash = self.digest.finalize();
        hash.iter().take(16).map(|byte| format!("{byte:02x}")).collect()
    }
}

/// The compilers that may come into play: the one the user names, the one the kernel was built
/// with, and the default one.
fn compilers(kernel: &Kernel, make_variables: &[String]) -> Vec<PathBuf> {
    let given = make_variables.iter().filter_map(|variable| variable.strip_prefix("CC="));
    let built_with = kernel.config().ok().and_then(|config| config.get("CONFIG_CC_VERSION_TEXT"));
    given
        .chain(built_with)
        .filter_map(|command| command.split_whitespace().next())
        .chain(["gcc", "cc"])
        .filter_map(in_path)
        .collect()
}

/// The file that a command name stands for.
pub(crate) fn in_path(command: &str) -> Option<PathBuf> {
    if command.contains('/') {
        return Some(command.into());
    }
    env::split_paths(&env::var_os("PATH")?).map(|folder| folder.join(command)).find(|p| p.is_file())
}

#[cfg(test)]
mod tests {
    use std::fs::File;
    use std::time::{Duration, UNIX_EPOCH};

    use super::*;

    fn key(parts: &[&str]) -> String {
        let mut key = Key::new();
        parts.iter().for_each(|part| key.add(part));
        key.finish()
    }

    #[test]
    fn parts_do_not_run_together() {
        assert_eq!(key(&["ab", "c"]), key(&["ab", "c"]));
        assert_ne!(key(&["ab", "c"]), key(&["a", "bc"]));
        assert_ne!(key(&["ab"]), key(&["ab", ""]));
        assert_eq!(key(&["ab"]).len(), 32);
    }

    #[test]
    fn a_changed_file_changes_the_key() {
        let folder = tempfile::tempdir().expect("temporary folder");
        let path = folder.path().join("file");
        let of_file = || {
            let mut key = Key::new();
            key.add_file(&path);
            key.finish()
        };
        let missing = of_file();
        fs::write(&path, "one").expect("written");
        let file = File::options().write(true).open(&path).expect("open");
        file.set_modified(UNIX_EPOCH + Duration::from_secs(1)).expect("dated");
        let one = of_file();
        assert_ne!(missing, one);
        assert_eq!(one, of_file());
        file.set_modified(UNIX_EPOCH + Duration::from_secs(2)).expect("dated");
        assert_ne!(one, of_file());
    }
}
