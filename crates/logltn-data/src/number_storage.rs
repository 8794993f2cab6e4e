//! Numbers in memory, or in a file that may be larger than memory.

use std::fmt;
use std::fs::File;
use std::marker::PhantomData;
use std::ops::Deref;
use std::path::Path;
use std::sync::Arc;

use logltn_diagnostics::{Code, Diagnostic, Diagnostics};
use memmap2::Mmap;

use super::problems::fatal;
use super::truncated_file::{Watched, watch};

/// Files of at least this many bytes are memory-mapped.
pub(super) const MAPPED_FROM: u64 = 1 << 28;

/// Numbers in memory, or mapped from their file and read on access. Dereferences to a slice.
///
/// A mapped file must not change. If it is truncated, reading ends the program (`truncated_file.rs`).
pub struct Stored<T: Plain>(Storage<T>);

#[derive(Clone)]
enum Storage<T> {
    Memory(Arc<Vec<T>>),
    File(InFile<T>),
}

#[derive(Clone)]
struct InFile<T> {
    map: Arc<Mapped>,
    start: usize,
    count: usize,
    of: PhantomData<T>,
}

/// Numbers for which any bytes are valid.
pub trait Plain: Copy + PartialEq + fmt::Debug + Send + Sync + sealed::Sealed + 'static {}

mod sealed {
    pub trait Sealed {}
    impl Sealed for u8 {}
    impl Sealed for f32 {}
    impl Sealed for f64 {}
}

impl Plain for u8 {}
impl Plain for f32 {}
impl Plain for f64 {}

/// A mapped file.
pub(super) struct Mapped {
    // Declared first, so that it is dropped first.
    _watched: Watched,
    map: Mmap,
}

impl Mapped {
    pub(super) fn open(path: &Path) -> Result<Arc<Mapped>, Diagnostics> {
        let opened = File::open(path).and_then(|file| {
            // SAFETY: the bytes are only read, as numbers for which any bytes are valid. Writing to the file meanwhile
            // changes them; the documentation of the type says so.
            unsafe { Mmap::map(&file) }
        });
        match opened {
            Ok(map) => Ok(Arc::new(Mapped {
                _watched: watch(&map, path),
                map,
            })),
            Err(error) => {
                let what = format!("{}: the file cannot be read: {error}", path.display());
                fatal(Diagnostic::error(Code::FileUnreadable, what))
            }
        }
    }

    pub(super) fn bytes(&self) -> &[u8] {
        &self.map
    }
}

impl<T: Plain> Stored<T> {
    /// The numbers of a file, if they can be read in place: the machine must have the same byte order, and the numbers
    /// must be aligned.
    pub(super) fn mapped(map: &Arc<Mapped>, bytes: &[u8]) -> Option<Stored<T>> {
        let start = bytes.as_ptr().addr().checked_sub(map.map.as_ptr().addr())?;
        let fits = start + bytes.len() <= map.map.len();
        let aligned = bytes.as_ptr().addr().is_multiple_of(align_of::<T>());
        (fits && aligned && cfg!(target_endian = "little")).then(|| {
            Stored(Storage::File(InFile {
                map: Arc::clone(map),
                start,
                count: bytes.len() / size_of::<T>(),
                of: PhantomData,
            }))
        })
    }
}

impl<T: Plain> Stored<T> {
    /// Whether they are read from their file on access.
    pub fn is_in_file(&self) -> bool {
        matches!(self.0, Storage::File(_))
    }
}

impl<T: Plain> Deref for Stored<T> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        match &self.0 {
            Storage::Memory(numbers) => numbers,
            Storage::File(file) => {
                let bytes = &file.map.map[file.start..][..file.count * size_of::<T>()];
                // SAFETY: alignment was checked at construction and the map does not move, the length is right, and any
                // bytes are a valid `Plain` number.
                unsafe { std::slice::from_raw_parts(bytes.as_ptr().cast(), file.count) }
            }
        }
    }
}

impl<T: Plain> AsRef<[T]> for Stored<T> {
    fn as_ref(&self) -> &[T] {
        self
    }
}

impl<T: Plain> Clone for Stored<T> {
    fn clone(&self) -> Stored<T> {
        Stored(self.0.clone())
    }
}

impl<T: Plain> PartialEq for Stored<T> {
    fn eq(&self, other: &Stored<T>) -> bool {
        **self == **other
    }
}

impl<T: Plain> fmt::Debug for Stored<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (**self).fmt(f)
    }
}

impl<T: Plain> From<Vec<T>> for Stored<T> {
    fn from(numbers: Vec<T>) -> Stored<T> {
        Stored(Storage::Memory(Arc::new(numbers)))
    }
}

impl<T: Plain> FromIterator<T> for Stored<T> {
    fn from_iter<I: IntoIterator<Item = T>>(numbers: I) -> Stored<T> {
        Vec::from_iter(numbers).into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::array::{Array, Values};
    use crate::{npy, parse_safetensors, safetensors};

    fn npy(kind: &str, shape: &str, numbers: &[u8]) -> Vec<u8> {
        let mut header = format!("{{'descr': '{kind}', 'fortran_order': False, 'shape': {shape}}}");
        while (10 + header.len() + 1) % 64 != 0 {
            header.push(' ');
        }
        header.push('\n');
        let mut bytes = b"\x93NUMPY\x01\x00".to_vec();
        bytes.extend((header.len() as u16).to_le_bytes());
        bytes.extend(header.bytes());
        bytes.extend(numbers);
        bytes
    }

    fn in_file(array: &Array) -> bool {
        match &array.values {
            Values::U8(x) => x.is_in_file(),
            Values::F32(x) => x.is_in_file(),
            Values::F64(x) => x.is_in_file(),
            Values::I64(_) => false,
        }
    }

    #[test]
    fn what_is_read_where_it_stands_is_the_same() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.npy");
        let singles: Vec<u8> = (0..6)
            .flat_map(|i| (i as f32 / 3.0).to_le_bytes())
            .collect();
        let doubles: Vec<u8> = (0..6)
            .flat_map(|i| (f64::from(i) / 3.0).to_le_bytes())
            .collect();
        let turned: Vec<u8> = (0..6)
            .flat_map(|i| (i as f32 / 3.0).to_be_bytes())
            .collect();
        let nan: Vec<u8> = [0.0, f32::NAN]
            .iter()
            .flat_map(|x| x.to_le_bytes())
            .collect();
        for (bytes, mapped) in [
            (npy("<f4", "(3, 2)", &singles), true),
            (npy("<f8", "(3, 2)", &doubles), true),
            (npy("|u1", "(3, 8)", &singles), true),
            // What cannot be read in place is copied.
            (npy(">f4", "(3, 2)", &turned), false),
            (npy("<i4", "(3, 2)", &singles), false),
            (npy("<f4", "(2, 1)", &nan), false),
            (npy("<f4", "(4, 2)", &singles), false),
        ] {
            std::fs::write(&path, &bytes).unwrap();
            let map = Mapped::open(&path).unwrap();
            let here = npy::parse(map.bytes(), Some(&map), "a.npy");
            let read = npy::parse(&bytes, None, "a.npy");
            match (here, read) {
                (Ok(here), Ok(read)) => {
                    assert_eq!(here, read);
                    assert_eq!((in_file(&here), in_file(&read)), (mapped, false));
                }
                (Err(here), Err(read)) => assert_eq!(here.to_string(), read.to_string()),
                other => panic!("{other:?}"),
            }
        }
    }

    #[test]
    fn tensors_are_read_where_they_stand() {
        let numbers: Vec<u8> = (0..6).flat_map(|i| (i as f32).to_le_bytes()).collect();
        let mut header =
            br#"{"a":{"dtype":"F32","shape":[2,1],"data_offsets":[0,8]},"b":{"dtype":"F32","shape":[2,2],"data_offsets":[8,24]}}"#
                .to_vec();
        header.resize(header.len().next_multiple_of(8), b' ');
        let mut bytes = (header.len() as u64).to_le_bytes().to_vec();
        bytes.extend(&header);
        bytes.extend(&numbers);
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.safetensors");
        std::fs::write(&path, &bytes).unwrap();
        let map = Mapped::open(&path).unwrap();
        let here = safetensors::parse(map.bytes(), Some(&map), "a").unwrap();
        assert_eq!(here, parse_safetensors(&bytes, "a").unwrap());
        assert!(here.iter().all(|field| in_file(&field.array)));
        // The file stays open, and the numbers outlive the reader.
        drop(map);
        std::fs::remove_file(&path).unwrap();
        assert_eq!(here[1].array.to_f32(), [2.0, 3.0, 4.0, 5.0]);
    }
}
