//! BTF, the kernel's compact type information, as far as names are wanted from it.
//!
//! The format is described in the kernel's `Documentation/bpf/btf.rst`: a header, a list of type
//! records numbered from 1, and a table of NUL-terminated strings that the records refer to.

use std::collections::HashMap;

use memchr::memmem;

/// The record kinds that carry more than their common twelve bytes, or that are asked for.
mod kind {
    pub(super) const INT: u32 = 1;
    pub(super) const ARRAY: u32 = 3;
    pub(super) const STRUCT: u32 = 4;
    pub(super) const UNION: u32 = 5;
    pub(super) const ENUM: u32 = 6;
    pub(super) const FUNC: u32 = 12;
    pub(super) const FUNC_PROTO: u32 = 13;
    pub(super) const VAR: u32 = 14;
    pub(super) const DATASEC: u32 = 15;
    pub(super) const DECL_TAG: u32 = 17;
    pub(super) const ENUM64: u32 = 19;
    pub(super) const LAST: u32 = 19;
}

/// The magic number and version that BTF data begins with on a little-endian machine.
pub(crate) const MAGIC: [u8; 3] = [0x9f, 0xeb, 0x01];

/// The shortest header: magic, version, flags, header length, and two offset-length pairs.
pub(crate) const HEADER_LEN: usize = 24;

/// Each tracepoint has a function of this prefix that calls its probes.
const TRACEPOINT_PREFIX: &[u8] = b"__traceiter_";

/// One kernel's type information.
#[derive(Debug)]
pub(crate) struct Btf {
    data: Vec<u8>,
    layout: Layout,
}

/// Where the two parts of BTF data are, as offsets from its start.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Layout {
    types: (usize, usize),
    strings: (usize, usize),
}

impl Layout {
    /// Reads a header. `None` if these bytes are not one.
    pub(crate) fn parse(header: &[u8]) -> Option<Self> {
        let header_len = field(header, 4)?;
        let (type_off, type_len) = (field(header, 8)?, field(header, 12)?);
        let (string_off, string_len) = (field(header, 16)?, field(header, 20)?);
        let plausible = header.starts_with(&MAGIC)
            && (HEADER_LEN..=256).contains(&header_len)
            && type_off == 0
            && type_len % 4 == 0
            && string_off >= type_len
            && string_len > 0;
        if !plausible {
            return None;
        }
        let types = header_len;
        let strings = header_len + string_off;
        Some(Self { types: (types, types + type_len), strings: (strings, strings + string_len) })
    }

    /// How many bytes the data has, header included.
    pub(crate) fn len(&self) -> usize {
        self.strings.1
    }
}

impl Btf {
    /// Takes raw BTF data; bytes after its end are dropped.
    ///
    /// # Errors
    /// Says what is wrong with the data.
    pub(crate) fn new(mut data: Vec<u8>) -> Result<Self, String> {
        let layout = Layout::parse(&data).ok_or("it does not begin with a BTF header")?;
        if data.len() < layout.len() {
            return Err(format!("its BTF ends after {} of {} bytes", data.len(), layout.len()));
        }
        data.truncate(layout.len());
        if data[layout.strings.0] != 0 || data[layout.strings.1 - 1] != 0 {
            return Err("its BTF strings are not NUL-terminated".to_owned());
        }
        Ok(Self { data, layout })
    }

    /// The raw data.
    pub(crate) fn bytes(&self) -> &[u8] {
        &self.data
    }

    /// Whether the kernel has the tracepoint.
    pub(crate) fn has_tracepoint(&self, name: &str) -> bool {
        let mut function = TRACEPOINT_PREFIX.to_vec();
        function.extend_from_slice(name.as_bytes());
        self.string_offsets(&function).next().is_some()
    }

    /// The names of all tracepoints, sorted.
    pub(crate) fn tracepoints(&self) -> Vec<String> {
        let mut names: Vec<String> = self
            .strings()
            .split(|&byte| byte == 0)
            .filter_map(|name| name.strip_prefix(TRACEPOINT_PREFIX))
            .map(|name| String::from_utf8_lossy(name).into_owned())
            .collect();
        names.sort_unstable();
        names
    }

    /// How many functions have that name.
    pub(crate) fn functions_named(&self, name: &str) -> usize {
        let offsets: Vec<usize> = self.string_offsets(name.as_bytes()).collect();
        if offsets.is_empty() {
            return 0;
        }
        self.function_names().filter(|offset| offsets.contains(offset)).count()
    }

    /// How many functions have each name.
    pub(crate) fn function_counts(&self) -> HashMap<Box<[u8]>, usize> {
        let mut counts = HashMap::new();
        for name in self.function_names().filter_map(|offset| self.string(offset)) {
            *counts.entry(name.into()).or_default() += 1;
        }
        counts
    }

    /// The names of all functions, sorted, each once.
    pub(crate) fn functions(&self) -> Vec<String> {
        let mut names: Vec<String> = self
            .function_names()
            .filter_map(|offset| self.string(offset))
            .map(|name| String::from_utf8_lossy(name).into_owned())
            .collect();
        names.sort_unstable();
        names.dedup();
        names
    }

    fn strings(&self) -> &[u8] {
        &self.data[self.layout.strings.0..self.layout.strings.1]
    }

    /// The string that begins at an offset into the table.
    fn string(&self, offset: usize) -> Option<&[u8]> {
        let rest = self.strings().get(offset..)?;
        Some(&rest[..memchr::memchr(0, rest)?])
    }

    /// The offsets at which the table holds exactly that string.
    fn string_offsets(&self, text: &[u8]) -> impl Iterator<Item = usize> {
        let mut needle = vec![0];
        needle.extend_from_slice(text);
        needle.push(0);
        memmem::find_iter(self.strings(), &needle)
            .map(|position| position + 1)
            .collect::<Vec<_>>()
            .into_iter()
    }

    /// The name offsets of all function records. A record of unknown kind ends the list, since
    /// its length is not known.
    fn function_names(&self) -> impl Iterator<Item = usize> {
        let types = &self.data[self.layout.types.0..self.layout.types.1];
        let mut at = 0;
        std::iter::from_fn(move || {
            loop {
                let name = field(types, at)?;
                let info = field(types, at + 4)?;
                let (kind, entries) = ((info as u32 >> 24) & 0x1f, info & 0xffff);
                at += 12 + extra_len(kind, entries)?;
                if kind == kind::FUNC {
                    return Some(name);
                }
            }
        })
    }
}

/// How many bytes follow the common part of a record.
fn extra_len(kind: u32, entries: usize) -> Option<usize> {
    match kind {
        kind::INT | kind::VAR | kind::DECL_TAG => Some(4),
        kind::ARRAY => Some(12),
        kind::STRUCT | kind::UNION | kind::DATASEC | kind::ENUM64 => Some(12 * entries),
        kind::ENUM | kind::FUNC_PROTO => Some(8 * entries),
        1..=kind::LAST => Some(0),
        _ => None,
    }
}

/// A little-endian 32-bit field.
fn field(bytes: &[u8], at: usize) -> Option<usize> {
    let bytes = bytes.get(at..at + 4)?;
    Some(u32::from_le_bytes(bytes.try_into().ok()?) as usize)
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// BTF data with one record per function name, after a record of every longer kind.
    pub(crate) fn sample(functions: &[&str]) -> Vec<u8> {
        let mut strings = vec![0];
        let mut types: Vec<u32> = Vec::new();
        let record = |types: &mut Vec<u32>, name: u32, kind: u32, entries: u32, extra: usize| {
            types.extend([name, kind << 24 | entries, 0]);
            types.extend(std::iter::repeat_n(0xdead_beef, extra));
        };
        record(&mut types, 0, kind::INT, 0, 1);
        record(&mut types, 0, kind::ARRAY, 0, 3);
        record(&mut types, 0, kind::STRUCT, 2, 6);
        record(&mut types, 0, kind::ENUM, 3, 6);
        record(&mut types, 0, kind::ENUM64, 1, 3);
        record(&mut types, 0, kind::FUNC_PROTO, 2, 4);
        record(&mut types, 0, kind::DECL_TAG, 0, 1);
        for function in functions {
            record(&mut types, strings.len() as u32, kind::FUNC, 1, 0);
            strings.extend_from_slice(function.as_bytes());
            strings.push(0);
        }
        let type_len = 4 * types.len() as u32;
        let mut data = vec![0x9f, 0xeb, 1, 0];
        for word in [24, 0, type_len, type_len, strings.len() as u32] {
            data.extend_from_slice(&word.to_le_bytes());
        }
        data.extend(types.iter().flat_map(|word| word.to_le_bytes()));
        data.extend(strings);
        data
    }

    #[test]
    fn names_are_found_whole() {
        let data = sample(&["do_exit", "__traceiter_sys_enter", "__traceiter_a", "do_exit"]);
        let btf = Btf::new(data).expect("well-formed");
        assert_eq!(btf.tracepoints(), ["a", "sys_enter"]);
        assert!(btf.has_tracepoint("sys_enter"));
        assert!(!btf.has_tracepoint("sys_ente"));
        assert!(!btf.has_tracepoint("enter"));
        assert_eq!(btf.functions_named("do_exit"), 2);
        assert_eq!(btf.functions_named("exit"), 0);
        assert_eq!(btf.functions(), ["__traceiter_a", "__traceiter_sys_enter", "do_exit"]);
    }

    #[test]
    fn damaged_data_is_refused() {
        let whole = sample(&["do_exit"]);
        let error = |data: &[u8]| Btf::new(data.to_vec()).expect_err("damaged");
        assert_eq!(error(b""), "it does not begin with a BTF header");
        assert_eq!(error(&whole[1..]), "it does not begin with a BTF header");
        let (len, cut) = (whole.len(), whole.len() - 1);
        assert_eq!(error(&whole[..cut]), format!("its BTF ends after {cut} of {len} bytes"));
        let mut unterminated = whole;
        unterminated[cut] = b'x';
        assert_eq!(error(&unterminated), "its BTF strings are not NUL-terminated");
    }

    #[test]
    fn every_truncation_and_flip_of_a_header_is_survived() {
        let whole = sample(&["do_exit", "schedule"]);
        for at in 0..whole.len() {
            let mut data = whole.clone();
            data[at] ^= 0xff;
            if let Ok(btf) = Btf::new(data) {
                btf.functions();
                btf.tracepoints();
            }
        }
    }
}
