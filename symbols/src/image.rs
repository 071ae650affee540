//! BTF out of a kernel image: raw, in an ELF section, or inside a compressed boot image.
//!
//! A boot image (`vmlinuz`) is described by the kernel's `Documentation/arch/x86/boot.rst`. Its
//! payload is the compressed `vmlinux`. The section table of that stands at its end, behind some
//! 30 MB that nobody wants to wait for, so the BTF is recognized by its header while the payload
//! is being unpacked, and unpacking stops behind it.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom, Take};
use std::path::Path;

use flate2::read::GzDecoder;
use lzma_rust2::XzReader;
use memchr::memmem;
use object::read::elf::ElfFile64;
use object::{Object, ObjectSection, ReadCache};
use ruzstd::decoding::StreamingDecoder;

use crate::Error;
use crate::btf::{Btf, HEADER_LEN, Layout, MAGIC};

/// How much is unpacked at a time, in bytes.
const CHUNK: usize = 1 << 20;

/// An image that has not shown its BTF after so many bytes has none.
const UNPACKED_MAX: usize = 1 << 30;

/// Reads the BTF of a kernel from any file that carries it.
///
/// # Errors
/// [`Error::Io`], and [`Error::Malformed`] if the file holds no BTF.
pub(crate) fn read_btf(path: &Path) -> Result<Btf, Error> {
    let io_error = |error| Error::io(path, error);
    let malformed = |reason: String| Error::malformed(path, reason);
    let mut file = File::open(path).map_err(io_error)?;
    let mut start = Vec::new();
    file.by_ref().take(4096).read_to_end(&mut start).map_err(io_error)?;
    let data = if start.starts_with(&MAGIC) {
        file.read_to_end(&mut start).map_err(io_error)?;
        start
    } else if start.starts_with(b"\x7fELF") {
        section(file, ".BTF").map_err(malformed)?
    } else if let Some(payload) = Payload::locate(&start) {
        payload.unpack_btf(file).map_err(malformed)?
    } else {
        return Err(malformed("it is not a kernel image of a known format".to_owned()));
    };
    Btf::new(data).map_err(malformed)
}

/// The contents of an ELF file's section. Only the needed parts of the file are read.
fn section(file: File, name: &str) -> Result<Vec<u8>, String> {
    let cache = ReadCache::new(file);
    let elf = ElfFile64::<object::Endianness, _>::parse(&cache)
        .map_err(|error| format!("it is not a 64-bit ELF file: {error}"))?;
    let section = elf.section_by_name(name).ok_or_else(|| format!("it has no section {name}"))?;
    let data = section.data().map_err(|error| format!("section {name}: {error}"))?;
    Ok(data.to_vec())
}

/// The compressed kernel inside a boot image: offset and length in bytes.
#[derive(Debug, PartialEq, Eq)]
struct Payload {
    offset: u64,
    len: u64,
}

impl Payload {
    /// Finds the payload by the boot header, which has named it since boot protocol 2.08.
    fn locate(start: &[u8]) -> Option<Self> {
        let word = |at: usize| Some(u32::from_le_bytes(start.get(at..at + 4)?.try_into().ok()?));
        let version = u16::from_le_bytes(start.get(0x206..0x208)?.try_into().ok()?);
        if start.get(0x202..0x206)? != b"HdrS" || version < 0x208 {
            return None;
        }
        // Zero stands for four, as in the days of floppy disks.
        let setup_sectors = match start[0x1f1] {
            0 => 4,
            sectors => u64::from(sectors),
        };
        let offset = (setup_sectors + 1) * 512 + u64::from(word(0x248)?);
        Some(Self { offset, len: u64::from(word(0x24c)?) })
    }

    /// Unpacks until the BTF has been seen.
    fn unpack_btf(&self, mut file: File) -> Result<Vec<u8>, String> {
        let read_error = |error: io::Error| format!("cannot read the packed kernel: {error}");
        let mut magic = [0; 6];
        file.seek(SeekFrom::Start(self.offset)).map_err(read_error)?;
        file.read_exact(&mut magic).map_err(read_error)?;
        file.seek(SeekFrom::Start(self.offset)).map_err(read_error)?;
        let packed = io::BufReader::with_capacity(CHUNK, file.take(self.len));
        find_btf(decoder(magic, packed)?)
    }
}

/// The decoder for packed data that begins with `magic`.
fn decoder(magic: [u8; 6], packed: io::BufReader<Take<File>>) -> Result<Box<dyn Read>, String> {
    Ok(match magic {
        [0xfd, b'7', b'z', b'X', b'Z', 0] => Box::new(XzReader::new(packed, false)),
        [0x28, 0xb5, 0x2f, 0xfd, ..] => Box::new(
            StreamingDecoder::new(packed)
                .map_err(|error| format!("cannot unpack the kernel: {error}"))?,
        ),
        [0x1f, 0x8b, ..] => Box::new(GzDecoder::new(packed)),
        [0x7f, b'E', b'L', b'F', ..] => Box::new(packed),
        _ => return Err(format!("the kernel in it is packed in an unknown way ({magic:02x?})")),
    })
}

/// Reads until BTF data has been found and is complete.
fn find_btf(mut unpacked: impl Read) -> Result<Vec<u8>, String> {
    let mut data = Vec::new();
    let mut searched = 0;
    while data.len() < UNPACKED_MAX && read_chunk(&mut unpacked, &mut data)? {
        let Some((at, layout)) = find_header(&data[searched..]) else {
            // A header may lie across the end of this chunk.
            searched = data.len().saturating_sub(HEADER_LEN);
            continue;
        };
        let begin = searched + at;
        while data.len() < begin + layout.len() {
            if !read_chunk(&mut unpacked, &mut data)? {
                return Err("the kernel in it ends within its BTF".to_owned());
            }
        }
        return Ok(data[begin..begin + layout.len()].to_vec());
    }
    Err("the kernel in it has no BTF".to_owned())
}

/// Appends the next chunk; false at the end.
fn read_chunk(unpacked: &mut impl Read, data: &mut Vec<u8>) -> Result<bool, String> {
    unpacked
        .take(CHUNK as u64)
        .read_to_end(data)
        .map(|count| count > 0)
        .map_err(|error| format!("cannot unpack the kernel: {error}"))
}

/// The first plausible BTF header of a kernel: one with at least a few types.
fn find_header(data: &[u8]) -> Option<(usize, Layout)> {
    memmem::find_iter(data, &MAGIC).find_map(|at| {
        let layout = Layout::parse(data.get(at..at + HEADER_LEN)?)?;
        (layout.len() < UNPACKED_MAX).then_some((at, layout))
    })
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;
    use crate::btf::tests::sample;

    /// A boot image around the given packed kernel.
    fn boot_image(packed: &[u8]) -> Vec<u8> {
        let mut image = vec![0; 5 * 512 + 16];
        image[0x1f1] = 4;
        image[0x202..0x206].copy_from_slice(b"HdrS");
        image[0x206..0x208].copy_from_slice(&0x20f_u16.to_le_bytes());
        image[0x248..0x24c].copy_from_slice(&16_u32.to_le_bytes());
        image[0x24c..0x250].copy_from_slice(&(packed.len() as u32).to_le_bytes());
        image.extend_from_slice(packed);
        image.extend_from_slice(b"the size, which is not part of the packed data");
        image
    }

    /// Something like a `vmlinux`: BTF between other bytes, after a false start.
    fn kernel(before: usize) -> Vec<u8> {
        let mut kernel = b"\x7fELF".to_vec();
        kernel.extend_from_slice(&MAGIC);
        kernel.resize(before, 0x5a);
        kernel.extend(sample(&["do_exit", "__traceiter_sys_enter"]));
        kernel.extend([0; 4096]);
        kernel
    }

    fn read_back(contents: &[u8]) -> Result<Btf, Error> {
        let mut file = tempfile::NamedTempFile::new().expect("temporary file");
        file.write_all(contents).expect("written");
        read_btf(file.path())
    }

    #[test]
    fn packed_and_plain_kernels() {
        let gzip = |data: &[u8]| {
            let mut encoder =
                flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
            encoder.write_all(data).expect("packed");
            encoder.finish().expect("packed")
        };
        // The header lies within a chunk, across two, and at the start of one.
        for before in [100, CHUNK - 7, CHUNK] {
            let btf = read_back(&boot_image(&gzip(&kernel(before)))).expect("gzip");
            assert_eq!(btf.tracepoints(), ["sys_enter"], "{before}");
            let btf = read_back(&boot_image(&kernel(before))).expect("plain");
            assert_eq!(btf.functions_named("do_exit"), 1, "{before}");
        }
        assert!(read_back(&sample(&["a"])).is_ok());
    }

    #[test]
    fn files_without_btf_are_named() {
        let reason = |contents: &[u8]| match read_back(contents) {
            Err(Error::Malformed { reason, .. }) => reason,
            other => panic!("{other:?}"),
        };
        assert_eq!(reason(b"hello"), "it is not a kernel image of a known format");
        assert_eq!(reason(&boot_image(b"\x7fELF no more")), "the kernel in it has no BTF");
        let cut = kernel(100).len() - 4096 - 10;
        let short = &kernel(100)[..cut];
        assert_eq!(reason(&boot_image(short)), "the kernel in it ends within its BTF");
        let strange = reason(&boot_image(b"BZh91AY"));
        assert!(strange.starts_with("the kernel in it is packed in an unknown way"), "{strange}");
        assert!(reason(b"\x7fELF").starts_with("it is not a 64-bit ELF file"));
    }

    #[test]
    fn old_boot_protocols_do_not_name_a_payload() {
        let mut image = boot_image(b"");
        image[0x206] = 7;
        assert_eq!(Payload::locate(&image[..4096.min(image.len())]), None);
    }
}
