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

/// What names begin with that were made up; one that a user chose is never changed.
const MADE_UP: &[u8] = b"xlate_";

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

    /// Makes a name that was made up end in `_NUMBER`, at its old length.
    pub(crate) fn rename(&mut self, number: u32) {
        let suffix = format!("_{number}");
        let made_up = self.bytes[self.name.clone()].starts_with(MADE_UP);
        if made_up && self.name.len() >= PREFIX_MIN + suffix.len() {
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

#[cfg(test)]
mod tests {
    use super::*;

    /// The smallest file with the given sections that a reader of ELF accepts.
    fn elf(sections: &[(&str, &[u8])]) -> Vec<u8> {
        const HEADER_LEN: usize = 64;
        let mut names = vec![0];
        let mut data = Vec::new();
        // Name, kind, offset and length of each section; the first is always empty.
        let mut table = vec![(0, 0, 0, 0)];
        let mut names_at = 0;
        for (name, contents) in sections.iter().chain(&[(".shstrtab", &[][..])]) {
            let name_at = names.len() as u32;
            names.extend_from_slice(name.as_bytes());
            names.push(0);
            names_at = HEADER_LEN + data.len();
            table.push((name_at, 1, names_at, contents.len()));
            data.extend_from_slice(contents);
        }
        if let Some(last) = table.last_mut() {
            *last = (last.0, 3, names_at, names.len());
        }
        data.extend_from_slice(&names);
        let count = table.len() as u16;
        let mut file = b"\x7fELF\x02\x01\x01\0\0\0\0\0\0\0\0\0\x01\0\x3e\0\x01\0\0\0".to_vec();
        file.extend([0; 16]);
        file.extend(((HEADER_LEN + data.len()) as u64).to_le_bytes());
        for half in [0, 0, HEADER_LEN as u16, 0, 0, HEADER_LEN as u16, count, count - 1] {
            file.extend(half.to_le_bytes());
        }
        file.extend(&data);
        for (name, kind, offset, len) in table {
            file.extend(u32::to_le_bytes(name));
            file.extend(u32::to_le_bytes(kind));
            file.extend([0; 16]);
            file.extend((offset as u64).to_le_bytes());
            file.extend((len as u64).to_le_bytes());
            file.extend([0; 24]);
        }
        file
    }

    fn read(contents: &[u8]) -> Result<Image, Error> {
        let file = tempfile::NamedTempFile::new().expect("temporary file");
        fs::write(file.path(), contents).expect("written");
        Image::read(file.path())
    }

    fn module(name: &str) -> Vec<u8> {
        let info = format!("license=GPL\0name={name}\0");
        let module = format!("\x01\0\0\0{name}\0\0\0\0\0");
        elf(&[(".modinfo", info.as_bytes()), (MODULE_SECTION, module.as_bytes())])
    }

    #[test]
    fn a_long_name_takes_the_number_at_its_end() {
        let mut image = read(&module("xlate_0123456789abcdef")).expect("a module");
        assert_eq!(image.name(), "xlate_0123456789abcdef");
        let before = image.bytes().to_vec();
        image.rename(4711);
        assert_eq!(image.name(), "xlate_0123456789a_4711");
        let changed = image.bytes().iter().zip(&before).filter(|(a, b)| a != b).count();
        assert_eq!(image.bytes().len(), before.len());
        assert!(changed <= 5, "{changed} bytes changed");
    }

    #[test]
    fn a_chosen_or_short_name_stays() {
        for name in ["mine", "a_name_of_some_length", "xlate_1"] {
            let mut image = read(&module(name)).expect("a module");
            image.rename(4711);
            assert_eq!(image.name(), name);
        }
    }

    #[test]
    fn other_files_are_refused_with_the_reason() {
        let reason = |contents: &[u8]| match read(contents) {
            Err(Error::NotAModule { reason, .. }) => reason,
            other => panic!("{other:?}"),
        };
        assert!(reason(b"text").starts_with("it is not a 64-bit ELF file"));
        assert_eq!(reason(&elf(&[])), "it has no section .modinfo");
        assert_eq!(reason(&elf(&[(".modinfo", b"name=")])), "its section .modinfo has no name");
        let no_module = elf(&[(".modinfo", b"name=a\0")]);
        assert_eq!(reason(&no_module), format!("it has no section {MODULE_SECTION}"));
        let other = elf(&[(".modinfo", b"name=a\0"), (MODULE_SECTION, b"b\0")]);
        assert_eq!(reason(&other), format!("its section {MODULE_SECTION} does not hold its name"));
    }
}
