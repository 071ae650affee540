//! A compiled module as a file: its name, and how to change it.
//!
//! The kernel takes a module's name from the `struct module` that modpost puts into the section
//! `.gnu.linkonce.this_module`. Overwriting it there lets one cached file run several times at
//! once: each load gets a name that ends in the loader's process number.

use std::fs;
use std::ops::Range;
use std::path::Path;

use object::read::elf::ElfFile64;
use object::{Object, ObjectSection};

use crate::Error;

/// The section that holds `struct module`.
const MODULE_SECTION: &str = ".gnu.linkonce.this_module";

/// A module's name keeps at least so many characters when it is renamed; shorter names are left
/// alone.
const PREFIX_MIN: usize = 8;

/// A module file in memory.
#[derive(Debug)]
pub(crate) struct Image {
    bytes: Vec<u8>,
    name: Range<usize>,
}

impl Image {
    /// Reads a module.
    ///
    /// # Errors
    /// [`Error::Io`], and [`Error::NotAModule`] if the file is something else.
    pub(crate) fn read(path: &Path) -> Result<Self, Error> {
        let bytes = fs::read(path).map_err(|error| Error::io("cannot read", path, error))?;
        let name = locate_name(&bytes)
            .map_err(|reason| Error::NotAModule { path: path.to_owned(), reason })?;
        Ok(Self { bytes, name })
    }

    /// The bytes to load.
    pub(crate) fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// The module's name.
    pub(crate) fn name(&self) -> String {
        String::from_utf8_lossy(&self.bytes[self.name.clone()]).into_owned()
    }

    /// Makes the name end in `_NUMBER`, at its old length.
    pub(crate) fn rename(&mut self, number: u32) {
        let suffix = format!("_{number}");
        if self.name.len() >= PREFIX_MIN + suffix.len() {
            let end = self.name.end;
            self.bytes[end - suffix.len()..end].copy_from_slice(suffix.as_bytes());
        }
    }
}

/// Where in the file the module's name stands.
fn locate_name(bytes: &[u8]) -> Result<Range<usize>, String> {
    let elf = ElfFile64::<object::Endianness>::parse(bytes)
        .map_err(|error| format!("it is not a 64-bit ELF file: {error}"))?;
    let section = |name| {
        let section = elf.section_by_name(name)?;
        let (start, len) = section.file_range()?;
        let range = start as usize..start.checked_add(len)? as usize;
        Some((bytes.get(range)?, start as usize))
    };
    let (info, _) = section(".modinfo").ok_or("it has no section .modinfo")?;
    let name = info
        .split(|&byte| byte == 0)
        .find_map(|entry| entry.strip_prefix(b"name="))
        .filter(|name| !name.is_empty())
        .ok_or("its section .modinfo has no name")?;
    let (module, start) =
        section(MODULE_SECTION).ok_or_else(|| format!("it has no section {MODULE_SECTION}"))?;
    let terminated = [name, &[0]].concat();
    let at = module
        .windows(terminated.len())
        .position(|window| window == terminated)
        .ok_or_else(|| format!("its section {MODULE_SECTION} does not hold its name"))?;
    Ok(start + at..start + at + name.len())
}
