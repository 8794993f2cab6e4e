//! Arrays that Python owns, read and written in place.

use logltn::vector::Real;
use pyo3::buffer::PyBuffer;
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::PyTuple;

use crate::coming;
use crate::dlpack::Elements;

/// An array of either precision, with any strides. The buffer keeps it where it is.
pub enum Array {
    F32(PyBuffer<f32>),
    F64(PyBuffer<f64>),
    /// The numbers of a tensor, without making a buffer of it first: where they begin, their shape and strides, and whether
    /// they are double. The caller keeps the tensor alive for the duration of the call.
    Tensor(*mut u8, Vec<usize>, Vec<isize>, bool),
    /// A single number without axes, as an array of one axis: there is no buffer without.
    Number(Box<Array>),
}

impl<'a, 'py> FromPyObject<'a, 'py> for Array {
    type Error = PyErr;
    fn extract(object: Borrowed<'a, 'py, PyAny>) -> PyResult<Array> {
        if let Ok(tensor) = object.cast::<PyTuple>() {
            let (start, shape, double): (usize, Vec<usize>, bool) = tensor.extract()?;
            let strides = strides(&shape);
            return Ok(Array::Tensor(start as *mut u8, shape, strides, double));
        }
        if let Some(tensor) = coming::tensor(&object) {
            let double = match tensor.elements {
                Elements::Single => false,
                Elements::Double => true,
                Elements::Integers => {
                    return Err(PyTypeError::new_err("integers where numbers are expected"));
                }
            };
            return Ok(Array::Tensor(
                tensor.start,
                tensor.shape,
                tensor.strides,
                double,
            ));
        }
        if let Ok(buffer) = PyBuffer::<f32>::get(&object) {
            return Ok(Array::F32(buffer));
        }
        match PyBuffer::<f64>::get(&object) {
            Ok(buffer) => Ok(Array::F64(buffer)),
            Err(error) => match object.getattr("ndim")?.extract()? {
                0_usize => {
                    let one = object.call_method1("reshape", (1,))?;
                    Ok(Array::Number(Box::new(one.extract()?)))
                }
                _ => Err(error),
            },
        }
    }
}

impl Array {
    /// Where its numbers are.
    pub fn view(&self) -> View {
        fn of<T: pyo3::buffer::Element>(buffer: &PyBuffer<T>, single: bool) -> View {
            View {
                start: buffer.buf_ptr().cast(),
                shape: buffer.shape().to_vec(),
                strides: buffer.strides().to_vec(),
                single,
                dense: buffer.is_c_contiguous()
                    && buffer.buf_ptr().cast::<T>().is_aligned()
                    && !buffer.buf_ptr().is_null(),
                writable: !buffer.readonly(),
            }
        }
        match self {
            Array::F32(buffer) => of(buffer, true),
            Array::F64(buffer) => of(buffer, false),
            Array::Number(array) => View {
                shape: Vec::new(),
                strides: Vec::new(),
                ..array.view()
            },
            Array::Tensor(start, shape, elements, double) => {
                let size = match double {
                    true => size_of::<f64>(),
                    false => size_of::<f32>(),
                };
                let (mut next, mut follow) = (1, true);
                for (axis, stride) in shape.iter().zip(elements).rev() {
                    follow &= *axis <= 1 || *stride == next;
                    next *= *axis as isize;
                }
                View {
                    start: *start,
                    shape: shape.clone(),
                    strides: elements.iter().map(|s| s * size as isize).collect(),
                    single: !*double,
                    dense: follow && !start.is_null() && start.addr().is_multiple_of(size),
                    writable: true,
                }
            }
        }
    }
}

/// The distance between consecutive elements.
fn strides(shape: &[usize]) -> Vec<isize> {
    let mut strides = vec![0; shape.len()];
    let mut stride = 1;
    for (own, axis) in strides.iter_mut().zip(shape).rev() {
        *own = stride;
        stride *= *axis as isize;
    }
    strides
}

/// The numbers of an [`Array`], which must outlive this view.
pub struct View {
    start: *mut u8,
    pub shape: Vec<usize>,
    /// In bytes.
    strides: Vec<isize>,
    single: bool,
    /// Whether the numbers are contiguous, in row-major order and aligned.
    dense: bool,
    pub writable: bool,
}

// SAFETY: the buffer behind it keeps the memory alive and in place, and reading it does not need the interpreter's lock.
// As with any array library, writing to an array during a computation gives undefined numbers.
unsafe impl Send for View {}

/// Where the rows of a request are in an array.
pub struct Rows<'a> {
    /// For each row of the request, its row in a dense array; `None` if they are the same.
    pub places: Option<&'a [usize]>,
    /// The same as [`runs`], if these are long enough to be worth knowing beforehand.
    pub runs: &'a [(usize, usize)],
    /// The indexes of each row, `arity` of them in turn, if the array has an axis for each.
    pub indexes: Option<(&'a [u32], usize)>,
    /// How many numbers a row has.
    pub width: usize,
}

/// Rows that follow each other in the array too: where the first is, and how many they are.
pub fn runs(places: &[usize]) -> impl Iterator<Item = (usize, usize)> {
    (places.chunk_by(|a, b| a + 1 == *b)).map(|run| (run[0], run.len()))
}

impl Rows<'_> {
    fn runs(&self, places: &[usize]) -> impl Iterator<Item = (usize, usize)> {
        let unknown = if self.runs.is_empty() { places } else { &[] };
        self.runs.iter().copied().chain(runs(unknown))
    }
}

impl View {
    /// Whether its numbers are of single precision.
    pub fn is_single(&self) -> bool {
        self.single
    }

    /// An array of this shape that is elsewhere and cannot be read.
    pub fn elsewhere(shape: Vec<usize>) -> View {
        View {
            start: std::ptr::null_mut(),
            strides: Vec::new(),
            single: true,
            dense: false,
            writable: false,
            shape,
        }
    }

    fn is<T: Real>(&self) -> bool {
        self.dense && self.single == (size_of::<T>() == size_of::<f32>())
    }

    /// Its numbers, if they have this precision and are contiguous.
    ///
    /// # Safety
    /// The array outlives them, and nobody writes to it meanwhile.
    pub unsafe fn numbers<T: Real>(&self) -> Option<&[T]> {
        // SAFETY: as promised by the caller; dense ones are aligned.
        (self.is::<T>())
            .then(|| unsafe { std::slice::from_raw_parts(self.start.cast(), self.len()) })
    }

    /// The same, mutable.
    ///
    /// # Safety
    /// The array outlives them, is writable, and nobody else accesses it meanwhile.
    #[allow(clippy::mut_from_ref)] // of memory that Rust does not own
    pub unsafe fn numbers_mut<T: Real>(&self) -> Option<&mut [T]> {
        // SAFETY: as promised by the caller.
        (self.is::<T>() && self.writable)
            .then(|| unsafe { std::slice::from_raw_parts_mut(self.start.cast(), self.len()) })
    }

    /// The distance between the numbers of the last axis, if it holds the `width` numbers of a row.
    fn step(&self, width: usize, leading: usize) -> isize {
        match self.strides.get(leading) {
            Some(step) if width > 1 || self.shape.len() > leading => *step,
            _ => 0,
        }
    }

    /// The start of each row, in bytes from the start of the array.
    fn offsets<'a>(&'a self, rows: &'a Rows, count: usize) -> impl Iterator<Item = isize> + 'a {
        let size = if self.single { 4 } else { 8 };
        let dense = (rows.width * size) as isize;
        (0..count).map(move |row| match rows.indexes {
            Some((indexes, arity)) if !self.dense => {
                let own = &indexes[row * arity..(row + 1) * arity];
                let parts = own.iter().zip(&self.strides);
                parts.map(|(&i, stride)| i as isize * stride).sum()
            }
            _ => {
                let place = rows.places.map_or(row, |places| places[row]);
                match self.dense {
                    true => place as isize * dense,
                    false => place as isize * self.strides.first().copied().unwrap_or(0),
                }
            }
        })
    }

    /// How many axes come before the axis of a row's numbers.
    fn leading(&self, rows: &Rows) -> usize {
        rows.indexes.map_or(1, |(_, arity)| arity)
    }

    /// Copies the rows of a request from the array.
    ///
    /// # Safety
    /// All positions are inside the array, which is still alive.
    pub unsafe fn gather<T: Real>(&self, rows: &Rows, numbers: &mut [T]) {
        // SAFETY: as promised by the caller; the elements are what the buffer said they are.
        unsafe {
            match self.single {
                true => self.gather_from::<f32, T>(rows, numbers),
                false => self.gather_from::<f64, T>(rows, numbers),
            }
        }
    }

    unsafe fn gather_from<A: Real, T: Real>(&self, rows: &Rows, numbers: &mut [T]) {
        if numbers.is_empty() {
            return;
        }
        if self.dense && rows.places.is_none() {
            // SAFETY: the rows are the array's first.
            let values =
                unsafe { std::slice::from_raw_parts(self.start.cast::<A>(), numbers.len()) };
            copy(values, numbers);
            return;
        }
        if let (true, Some(places)) = (self.dense, rows.places) {
            // SAFETY: the caller's promise.
            let all = unsafe { std::slice::from_raw_parts(self.start.cast::<A>(), self.len()) };
            let mut from = 0;
            for (place, count) in rows.runs(places) {
                let target = &mut numbers[from..from + count * rows.width];
                copy(&all[place * rows.width..][..target.len()], target);
                from += target.len();
            }
            return;
        }
        let step = self.step(rows.width, self.leading(rows));
        let count = numbers.len() / rows.width.max(1);
        let targets = numbers.chunks_exact_mut(rows.width);
        for (offset, target) in self.offsets(rows, count).zip(targets) {
            for (k, number) in target.iter_mut().enumerate() {
                // SAFETY: inside the array.
                let value = unsafe { self.start.offset(offset + k as isize * step).cast::<A>() };
                // SAFETY: likewise; it may be unaligned.
                *number = T::from_f64(unsafe { value.read_unaligned() }.to_f64());
            }
        }
    }

    /// Adds to the rows of a request in the array.
    ///
    /// # Safety
    /// All positions are inside the array, which is alive and writable, and nobody else accesses
    /// it.
    pub unsafe fn scatter<T: Real>(&self, rows: &Rows, numbers: &[T], first: bool) {
        // SAFETY: as promised by the caller.
        unsafe {
            match self.single {
                true => self.scatter_to::<f32, T>(rows, numbers, first),
                false => self.scatter_to::<f64, T>(rows, numbers, first),
            }
        }
    }

    unsafe fn scatter_to<A: Real, T: Real>(&self, rows: &Rows, numbers: &[T], first: bool) {
        if first && self.dense && rows.places.is_none() && self.len() == numbers.len() {
            // SAFETY: the rows are all of the array's.
            let values =
                unsafe { std::slice::from_raw_parts_mut(self.start.cast::<A>(), numbers.len()) };
            copy(numbers, values);
            return;
        }
        if first {
            // SAFETY: the caller's promise.
            unsafe { self.clear::<A>() };
        }
        if self.dense {
            // SAFETY: the caller's promise.
            let all = unsafe { std::slice::from_raw_parts_mut(self.start.cast::<A>(), self.len()) };
            let mut add = |place: usize, source: &[T]| {
                let target = &mut all[place * rows.width..][..source.len()];
                for (sum, number) in target.iter_mut().zip(source) {
                    *sum += A::from_f64(number.to_f64());
                }
            };
            let Some(places) = rows.places else {
                return add(0, numbers);
            };
            let mut from = 0;
            for (place, count) in rows.runs(places) {
                add(place, &numbers[from..from + count * rows.width]);
                from += count * rows.width;
            }
            return;
        }
        let step = self.step(rows.width, self.leading(rows));
        let count = numbers.len() / rows.width.max(1);
        let sources = numbers.chunks_exact(rows.width);
        for (offset, source) in self.offsets(rows, count).zip(sources) {
            for (k, number) in source.iter().enumerate() {
                // SAFETY: inside the array.
                let value = unsafe { self.start.offset(offset + k as isize * step).cast::<A>() };
                // SAFETY: likewise.
                let sum = unsafe { value.read_unaligned() } + A::from_f64(number.to_f64());
                // SAFETY: likewise.
                unsafe { value.write_unaligned(sum) };
            }
        }
    }

    /// Fills an array that no request asks about with zeros.
    ///
    /// # Safety
    /// As for [`View::scatter`].
    pub unsafe fn zero(&self) {
        // SAFETY: the caller's promise.
        unsafe {
            match self.single {
                true => self.clear::<f32>(),
                false => self.clear::<f64>(),
            }
        }
    }

    /// Python makes gradients dense.
    unsafe fn clear<A: Real>(&self) {
        if self.len() == 0 {
            return;
        }
        assert!(self.dense, "gradients are dense");
        // SAFETY: the caller's promise.
        let all = unsafe { std::slice::from_raw_parts_mut(self.start.cast::<A>(), self.len()) };
        all.fill(A::ZERO);
    }

    fn len(&self) -> usize {
        self.shape.iter().product()
    }

    /// The indexes of a number, given as row and column of a request's answer.
    pub fn index_of(&self, rows: &Rows, row: usize, column: usize) -> Vec<usize> {
        let mut index: Vec<usize> = match rows.indexes {
            Some((indexes, arity)) => (indexes[row * arity..(row + 1) * arity].iter())
                .map(|&i| i as usize)
                .collect(),
            None => vec![rows.places.map_or(row, |places| places[row])],
        };
        if self.shape.len() > index.len() {
            index.push(column);
        }
        index
    }
}

fn copy<A: Real, B: Real>(from: &[A], to: &mut [B]) {
    for (to, from) in to.iter_mut().zip(from) {
        *to = B::from_f64(from.to_f64());
    }
}
