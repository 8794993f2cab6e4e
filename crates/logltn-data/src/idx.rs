//! IDX, the format of MNIST: two zero bytes, the type, the number of dimensions, the dimensions as
//! big-endian 32-bit integers, then the numbers, big-endian too. Usually gzipped.

use std::io::Read;
use std::path::Path;

use flate2::bufread::MultiGzDecoder;
use logltn_diagnostics::{Code, Diagnostic, Diagnostics};

use super::array::Array;
use super::elements::{ByteOrder, Element, Layout};
use super::file::read_bytes;
use super::problems::{cut_short, fatal};
use super::sniff;

/// Memory for unpacked bytes is allocated in steps of at most this size, since the header may be
/// wrong.
const LARGEST_STEP: usize = 1 << 26;

const GZIP_MAGIC: &[u8] = b"\x1f\x8b";

/// Reads an IDX file. Whether it is gzipped is told by its first bytes, not by its name.
pub fn read_idx(path: &Path) -> Result<Array, Diagnostics> {
    parse_idx(&read_bytes(path)?, &path.display().to_string())
}

/// Reads the bytes of an IDX file, gzipped or not; `name` stands for the file in messages.
pub(super) fn parse_idx(bytes: &[u8], name: &str) -> Result<Array, Diagnostics> {
    if bytes.starts_with(GZIP_MAGIC) {
        parse(MultiGzDecoder::new(bytes), Some(bytes.len()), name)
    } else {
        parse(bytes, None, name)
    }
}

/// Reads a file. Whether it is gzipped is told by its first bytes, not by its name.
///
/// # Errors
/// If it cannot be read, is damaged, or does not fit into memory.
pub fn read_unpacked(path: &Path) -> Result<Vec<u8>, Diagnostics> {
    unpacked(read_bytes(path)?, &path.display().to_string())
}

/// The bytes of a file, unpacked if they are gzipped, as far as memory allows.
pub(crate) fn unpacked(bytes: Vec<u8>, name: &str) -> Result<Vec<u8>, Diagnostics> {
    if !bytes.starts_with(GZIP_MAGIC) {
        return Ok(bytes);
    }
    let most = logltn_memory::limit() / 4;
    let mut out = Vec::new();
    let mut reader = MultiGzDecoder::new(&bytes[..]).take(most);
    match reader.read_to_end(&mut out) {
        Ok(read) if (read as u64) < most => Ok(out),
        Ok(_) => fatal(Diagnostic::error(
            Code::TooMuchMemory,
            format!("{name}: unpacked, it does not fit into the memory that may be used"),
        )),
        Err(error) => fatal(gzip_error(name, &error)),
    }
}

/// Reads what the header promises, and one more byte to find the end: a gzipped file can unpack to
/// any size. Reaching the end also makes the decoder verify its checksum.
fn parse(mut reader: impl Read, packed: Option<usize>, name: &str) -> Result<Array, Diagnostics> {
    let mut read = |most: usize| {
        let mut bytes = Vec::with_capacity(most.min(LARGEST_STEP));
        match reader.by_ref().take(most as u64).read_to_end(&mut bytes) {
            Ok(_) => Ok(bytes),
            Err(error) => Err(gzip_error(name, &error)),
        }
    };
    let start = read(4)?;
    let [0, 0, element, dimensions] = start[..] else {
        return fatal(not_idx(name, &start, packed.is_some(), &read(508)?));
    };
    let element = match element {
        0x08 => Element::U8,
        0x09 => Element::I8,
        0x0b => Element::I16,
        0x0c => Element::I32,
        0x0d => Element::F32,
        0x0e => Element::F64,
        other => {
            return fatal(
                Diagnostic::error(Code::WrongFormat, format!(
                    "{name}: not an IDX file: its third byte is 0x{other:02x}, which is not an IDX type"
                ))
                .note("types are 0x08, 0x09, 0x0b, 0x0c, 0x0d and 0x0e"),
            );
        }
    };
    let header = read(4 * usize::from(dimensions))?;
    let shape: Vec<usize> = header
        .as_chunks::<4>()
        .0
        .iter()
        .map(|&n| u32::from_be_bytes(n) as usize)
        .collect();
    if shape.len() < usize::from(dimensions) {
        let what = format!("{name}: the file is cut short, within its header");
        return fatal(cut_short(what));
    }
    let layout = Layout {
        shape,
        element,
        order: ByteOrder::Big,
        fortran: false,
    };
    let expected = layout.bytes(name)?;
    if let Some(packed) = packed {
        layout.check_packed(expected, packed, name)?;
    }
    layout.ask(expected, name)?;
    let numbers = read(expected.saturating_add(1))?;
    layout.decode(&numbers, name)
}

fn not_idx(name: &str, start: &[u8], gzipped: bool, more: &[u8]) -> Diagnostic {
    let all = [start, more].concat();
    let (found, help) = sniff::found(&all, 4);
    let inside = if gzipped { "unpacked, " } else { "" };
    let help = help.map(|help| {
        if gzipped {
            format!("unpack it with `gunzip`, then {help}")
        } else {
            help
        }
    });
    Diagnostic::error(
        Code::WrongFormat,
        format!("{name}: not an IDX file: {inside}{found}"),
    )
    .maybe_help(help)
}

fn gzip_error(name: &str, error: &std::io::Error) -> Diagnostic {
    match error.kind() {
        std::io::ErrorKind::UnexpectedEof => {
            cut_short(format!("{name}: the gzip file is cut short"))
        }
        _ => {
            let what = format!("{name}: the gzip file is damaged: {error}");
            Diagnostic::error(Code::FileDamaged, what).help("copy or download the file again")
        }
    }
}
