//! Where a kernel's BTF is read from, and the cache of what was unpacked.
//!
//! The running kernel offers its BTF as a file. Any other kernel's is inside its boot image, and
//! unpacking that takes most of a second, so the result is kept: one file per image, whose name
//! holds the image's size and time of change. A cache that cannot be written is done without.

use std::fs;
use std::io::Write;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use crate::Error;
use crate::btf::Btf;
use crate::image::read_btf;

/// The places to look for one kernel's BTF.
#[derive(Debug)]
pub(crate) struct BtfSources {
    /// The kernel's release, for names and messages.
    pub(crate) release: String,
    /// The raw BTF of the running kernel, if it is the one that is meant.
    pub(crate) live: Option<PathBuf>,
    /// Images that may exist, best first.
    pub(crate) images: Vec<PathBuf>,
    /// The folder that keeps unpacked BTF, if there is to be one.
    pub(crate) cache: Option<PathBuf>,
}

impl BtfSources {
    /// The BTF, if it can be had without unpacking an image.
    pub(crate) fn quick(&self) -> Option<Btf> {
        let live = self.live.as_deref().and_then(|live| read_btf(live).ok());
        live.or_else(|| read_btf(&self.cached(self.image()?)?).ok())
    }

    /// The BTF, from an image if need be.
    ///
    /// # Errors
    /// [`Error::NoBtf`], or what is wrong with the image.
    pub(crate) fn full(&self) -> Result<Btf, Error> {
        let Some(image) = self.image() else {
            let tried = self.live.iter().chain(&self.images).cloned().collect();
            return Err(Error::NoBtf { release: self.release.clone(), tried });
        };
        let btf = read_btf(image)?;
        if let Some(cached) = self.cached(image) {
            // Only the next run's speed depends on it.
            let _ = store(&cached, btf.bytes());
        }
        Ok(btf)
    }

    /// The first image that exists.
    fn image(&self) -> Option<&Path> {
        self.images.iter().map(PathBuf::as_path).find(|image| image.is_file())
    }

    /// The cache file for an image as it is now.
    fn cached(&self, image: &Path) -> Option<PathBuf> {
        let metadata = fs::metadata(image).ok()?;
        let name = format!(
            "{}-{:x}-{:x}.{:x}.btf",
            self.release,
            metadata.size(),
            metadata.mtime(),
            metadata.mtime_nsec()
        );
        Some(self.cache.as_ref()?.join(name))
    }
}

/// Writes a cache file so that it is there whole or not at all.
fn store(path: &Path, data: &[u8]) -> std::io::Result<()> {
    let folder = path.parent().unwrap_or(Path::new("."));
    fs::create_dir_all(folder)?;
    let mut file = tempfile::NamedTempFile::new_in(folder)?;
    file.write_all(data)?;
    file.persist(path)?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::btf::tests::sample;

    fn sources(folder: &Path) -> BtfSources {
        BtfSources {
            release: "6.1.0-test".to_owned(),
            live: None,
            images: vec![folder.join("vmlinuz-none"), folder.join("vmlinux")],
            cache: Some(folder.join("cache/btf")),
        }
    }

    #[test]
    fn unpacked_once_and_again_when_the_image_changes() {
        let folder = tempfile::tempdir().expect("temporary folder");
        let sources = sources(folder.path());
        fs::write(folder.path().join("vmlinux"), sample(&["one"])).expect("written");
        assert!(sources.quick().is_none());
        assert_eq!(sources.full().expect("read").functions(), ["one"]);
        assert_eq!(sources.quick().expect("cached").functions(), ["one"]);
        fs::write(folder.path().join("vmlinux"), sample(&["one", "two"])).expect("written");
        assert!(sources.quick().is_none());
        assert_eq!(sources.full().expect("read").functions(), ["one", "two"]);
    }

    #[test]
    fn a_cache_that_cannot_be_written_is_done_without() {
        let folder = tempfile::tempdir().expect("temporary folder");
        fs::write(folder.path().join("cache"), "a file in the way").expect("written");
        fs::write(folder.path().join("vmlinux"), sample(&["one"])).expect("written");
        assert_eq!(sources(folder.path()).full().expect("read").functions(), ["one"]);
    }

    #[test]
    fn a_damaged_cache_file_is_replaced() {
        let folder = tempfile::tempdir().expect("temporary folder");
        let sources = sources(folder.path());
        let image = folder.path().join("vmlinux");
        fs::write(&image, sample(&["one"])).expect("written");
        store(&sources.cached(&image).expect("cache"), b"half").expect("stored");
        assert!(sources.quick().is_none());
        assert!(sources.full().is_ok());
        assert!(sources.quick().is_some());
    }

    #[test]
    fn missing_images_are_listed() {
        let folder = tempfile::tempdir().expect("temporary folder");
        let message = sources(folder.path()).full().expect_err("nothing there").to_string();
        let message = message.replace(&folder.path().display().to_string(), "DIR");
        assert_eq!(
            message,
            "no BTF type information of kernel 6.1.0-test was found: tried DIR/vmlinuz-none, \
             DIR/vmlinux; install the image of a kernel built with CONFIG_DEBUG_INFO_BTF"
        );
    }
}
