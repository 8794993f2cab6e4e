//! Tensors through DLPack's table of C functions (`__dlpack_c_exchange_api__`, in PyTorch since 2.10): one call returns what
//! a tensor is and where its numbers are, instead of one Python call for each attribute.

use std::ffi::{c_int, c_void};

use pyo3::ffi;
use pyo3::prelude::*;

/// Where a tensor's elements are. The layout is DLPack's.
#[repr(C)]
struct DlTensor {
    data: *mut c_void,
    device_type: i32,
    _device_id: i32,
    axes: i32,
    code: u8,
    bits: u8,
    lanes: u16,
    shape: *const i64,
    /// In elements.
    strides: *const i64,
    offset: u64,
}

/// The beginning of the table, whose layout depends on the major version.
#[repr(C)]
struct Header {
    major: u32,
    _minor: u32,
    earlier: *const Header,
}

#[repr(C)]
struct Table {
    header: Header,
    _others: [*const c_void; 3],
    look: Option<Look>,
}

type Look = unsafe extern "C" fn(*mut c_void, *mut DlTensor) -> c_int;

const MAJOR: u32 = 1;
const CPU: i32 = 1;

/// The type of a tensor's elements.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Elements {
    Integers,
    Single,
    Double,
}

/// A tensor on the CPU, valid while Python holds it.
pub struct Tensor {
    pub start: *mut u8,
    pub elements: Elements,
    pub shape: Vec<usize>,
    /// In elements.
    pub strides: Vec<isize>,
}

/// Direct access to objects of a class.
pub struct Reader(Look);

impl Reader {
    /// For a class that offers it.
    pub fn of(class: &Bound<'_, PyAny>) -> Option<Reader> {
        let capsule = class.getattr("__dlpack_c_exchange_api__").ok()?;
        // SAFETY: Python itself checks whether it is a capsule; the name is a C string.
        let table =
            unsafe { ffi::PyCapsule_GetPointer(capsule.as_ptr(), c"dlpack_exchange_api".as_ptr()) };
        if table.is_null() {
            PyErr::take(class.py());
            return None;
        }
        let mut header: *const Header = table.cast();
        // SAFETY: the provider of such a table keeps it alive forever, along with the earlier versions that
        // it links to.
        while unsafe { header.as_ref() }?.major > MAJOR {
            // SAFETY: as before.
            header = unsafe { &*header }.earlier;
        }
        // SAFETY: as before; with this major version it has this layout.
        let table = unsafe { header.cast::<Table>().as_ref() }?;
        (table.header.major == MAJOR).then_some(())?;
        table.look.map(Reader)
    }

    /// Reads an object of the class. `None` if it is not a plain tensor on the CPU, or has other elements.
    pub fn look(&self, object: &Bound<'_, PyAny>) -> Option<Tensor> {
        let mut seen = DlTensor {
            data: std::ptr::null_mut(),
            device_type: 0,
            _device_id: 0,
            axes: 0,
            code: 0,
            bits: 0,
            lanes: 0,
            shape: std::ptr::null(),
            strides: std::ptr::null(),
            offset: 0,
        };
        // SAFETY: the object is of the class that provided the function, the interpreter's lock is held, and there is room.
        if unsafe { (self.0)(object.as_ptr().cast(), &mut seen) } != 0 {
            PyErr::take(object.py());
            return None;
        }
        let elements = match (seen.code, seen.bits, seen.lanes) {
            (0, 64, 1) => Elements::Integers,
            (2, 32, 1) => Elements::Single,
            (2, 64, 1) => Elements::Double,
            _ => return None,
        };
        if seen.device_type != CPU {
            return None;
        }
        let axes = usize::try_from(seen.axes).ok()?;
        if axes > 0 && (seen.shape.is_null() || seen.strides.is_null()) {
            return None;
        }
        // SAFETY: there is one per axis.
        let axis = |of: *const i64, i: usize| unsafe { *of.add(i) };
        let sizes = (0..axes).map(|i| usize::try_from(axis(seen.shape, i)).ok());
        Some(Tensor {
            start: seen.data.cast::<u8>().wrapping_add(seen.offset as usize),
            elements,
            shape: sizes.collect::<Option<_>>()?,
            strides: (0..axes).map(|i| axis(seen.strides, i) as isize).collect(),
        })
    }
}
