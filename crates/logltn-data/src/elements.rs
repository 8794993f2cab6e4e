//! From the bytes of a binary file to checked numbers: what npy, safetensors and IDX have in common.

use std::sync::Arc;

use logltn_diagnostics::{Code, Diagnostic, Diagnostics};

use super::array::{Array, Values};
use super::file::ask;
use super::number_storage::{Mapped, Stored};
use super::problems::{Problems, counted, cut_short, damaged, fatal};

/// The type of an element in a binary file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Element {
    Bool,
    U8,
    I8,
    U16,
    I16,
    U32,
    I32,
    U64,
    I64,
    F16,
    BF16,
    F32,
    F64,
}

impl Element {
    /// Its size in bytes.
    pub(super) fn size(self) -> usize {
        match self {
            Element::Bool | Element::U8 | Element::I8 => 1,
            Element::U16 | Element::I16 | Element::F16 | Element::BF16 => 2,
            Element::U32 | Element::I32 | Element::F32 => 4,
            Element::U64 | Element::I64 | Element::F64 => 8,
        }
    }
}

/// The byte order of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ByteOrder {
    Little,
    Big,
}

/// The layout of an array in a file, as its header claims.
#[derive(Clone, Debug)]
pub(super) struct Layout {
    pub(super) shape: Vec<usize>,
    pub(super) element: Element,
    pub(super) order: ByteOrder,
    /// Column-major, as Fortran has it.
    pub(super) fortran: bool,
}

impl Layout {
    /// The size of the elements in bytes, if the shape can be read. Nothing is allocated on the
    /// header's word alone: callers compare this with the bytes that are there.
    pub(super) fn bytes(&self, place: &str) -> Result<usize, Diagnostics> {
        const MOST_DIMENSIONS: usize = 64;
        let shape = &self.shape;
        if shape.is_empty() {
            return fatal(
                Diagnostic::error(
                    Code::WrongShape,
                    format!(
                        "{place}: expected rows of numbers, found a single number (shape `[]`)"
                    ),
                )
                .help("give it one dimension per row index, for example with `numpy.atleast_1d`"),
            );
        }
        if shape.len() > MOST_DIMENSIONS {
            return fatal(Diagnostic::error(
                Code::WrongShape,
                format!(
                    "{place}: the array has {} dimensions; more than {MOST_DIMENSIONS} cannot be read",
                    shape.len()
                ),
            ));
        }
        if shape.contains(&0) {
            return fatal(Diagnostic::error(
                Code::WrongShape,
                format!(
                    "{place}: the array is empty (shape `{shape:?}`); at least one row with one number is \
                 needed"
                ),
            ));
        }
        shape
            .iter()
            .try_fold(self.element.size(), |bytes, &n| bytes.checked_mul(n))
            .ok_or_else(|| {
                let shape = format!("an array of shape `{shape:?}`");
                let what = format!(
                    "{place}: the header claims {shape}, which is more than any file can hold"
                );
                damaged(what).into()
            })
    }

    /// Whether there is memory for the `expected` bytes, for what is made of them, and for the copies of features in
    /// both precisions.
    pub(super) fn ask(&self, expected: usize, place: &str) -> Result<(), Diagnostics> {
        let size = self.element.size();
        let number = match self.element {
            Element::Bool | Element::U8 => 1,
            Element::F16 | Element::BF16 | Element::F32 => 4,
            _ => 8,
        };
        let reordered = usize::from(self.fortran) * size;
        let each = size + reordered + number + size_of::<f64>() + size_of::<f32>();
        ask((expected / size) as u128 * each as u128, || {
            format!("the array of shape `{:?}` in {place}", self.shape)
        })
    }

    /// Whether `packed` bytes of a compressed file can possibly unpack to the `expected` ones: deflate
    /// turns one byte into at most 1032.
    pub(super) fn check_packed(
        &self,
        expected: usize,
        packed: usize,
        place: &str,
    ) -> Result<(), Diagnostics> {
        const MOST_PER_BYTE: usize = 1032;
        if expected / MOST_PER_BYTE <= packed {
            return Ok(());
        }
        fatal(
            Diagnostic::error(
                Code::FileDamaged,
                format!(
                    "{place}: the header claims shape `{:?}`, {expected} bytes of numbers, which a \
                 compressed file of {packed} bytes cannot hold",
                    self.shape
                ),
            )
            .help("the file is damaged or cut short: copy or download it again"),
        )
    }

    /// The same for a mapped file, if its elements can be read in place.
    pub(super) fn decode_in(
        self,
        map: Option<&Arc<Mapped>>,
        bytes: &[u8],
        place: &str,
    ) -> Result<Array, Diagnostics> {
        let Some(map) = map else {
            return self.decode(bytes, place);
        };
        let expected = self.bytes(place)?;
        check_length(place, &self.shape, expected, bytes.len())?;
        let plain = self.order == ByteOrder::Little && !self.fortran;
        let values = match self.element {
            Element::U8 => Stored::mapped(map, bytes).map(Values::U8),
            Element::F32 if plain => Stored::mapped(map, bytes).map(Values::F32),
            Element::F64 if plain => Stored::mapped(map, bytes).map(Values::F64),
            _ => None,
        };
        match values {
            Some(values) => self.checked(values, Problems::new(), place),
            None => self.decode(bytes, place),
        }
    }

    /// The elements as numbers. `bytes` must have the length that [`Layout::bytes`] returns.
    pub(super) fn decode(self, bytes: &[u8], place: &str) -> Result<Array, Diagnostics> {
        let expected = self.bytes(place)?;
        check_length(place, &self.shape, expected, bytes.len())?;
        self.ask(expected, place)?;
        let reordered;
        let bytes = if self.fortran && self.shape.len() > 1 {
            reordered = row_major(bytes, &self.shape, self.element.size());
            &reordered
        } else {
            bytes
        };
        let mut problems = Problems::new();
        let values = decode(bytes, self.element, self.order, |index, what| {
            problems.push(|| {
                let place = element_place(place, &self.shape, index);
                Diagnostic::error(Code::ValueOutOfRange, format!("{place}: {what}"))
            });
        });
        self.checked(values, problems, place)
    }

    fn checked(
        self,
        values: Values,
        mut problems: Problems,
        place: &str,
    ) -> Result<Array, Diagnostics> {
        check_finite(&values, |index, found| {
            problems.push(|| {
                let place = element_place(place, &self.shape, index);
                Diagnostic::error(
                    Code::NotFinite,
                    format!("{place}: expected a finite number, found {found}"),
                )
            });
        });
        problems.finish(Array {
            shape: self.shape,
            values,
        })
    }
}

/// Whether there are as many bytes as the header claims.
fn check_length(
    place: &str,
    shape: &[usize],
    expected: usize,
    found: usize,
) -> Result<(), Diagnostics> {
    if found == expected {
        return Ok(());
    }
    let claim = format!(
        "the header claims shape `{shape:?}`, {} of numbers",
        counted(expected, "byte")
    );
    fatal(if found < expected {
        cut_short(format!(
            "{place}: the file is cut short: {claim}, but only {found} are there"
        ))
    } else {
        Diagnostic::error(
            Code::FileDamaged,
            format!("{place}: {claim}, but more bytes follow"),
        )
        .help("the header or the numbers are damaged: write the file again")
    })
}

/// `a.npy, row 2, column 1 (index [2, 1])`: rows and columns count from 0, as individuals do and as in
/// the program that wrote the file.
fn element_place(place: &str, shape: &[usize], index: usize) -> String {
    let width: usize = shape.iter().skip(1).product::<usize>().max(1);
    let mut rest = index;
    let mut position: Vec<usize> = shape
        .iter()
        .rev()
        .map(|&n| {
            let here = rest % n.max(1);
            rest /= n.max(1);
            here
        })
        .collect();
    position.reverse();
    format!(
        "{place}, row {}, column {} (index {position:?})",
        index / width,
        index % width
    )
}

/// The elements of a column-major array in row-major order.
fn row_major(bytes: &[u8], shape: &[usize], size: usize) -> Vec<u8> {
    let mut strides = Vec::with_capacity(shape.len());
    let mut stride = size;
    for &n in shape {
        strides.push(stride);
        stride *= n;
    }
    let mut out = Vec::with_capacity(bytes.len());
    let mut position = vec![0; shape.len()];
    let mut from = 0;
    while out.len() < bytes.len() {
        out.extend_from_slice(&bytes[from..from + size]);
        for axis in (0..shape.len()).rev() {
            position[axis] += 1;
            from += strides[axis];
            if position[axis] < shape[axis] {
                break;
            }
            from -= strides[axis] * shape[axis];
            position[axis] = 0;
        }
    }
    out
}

fn decode(
    bytes: &[u8],
    element: Element,
    order: ByteOrder,
    mut problem: impl FnMut(usize, String),
) -> Values {
    match element {
        Element::U8 => Values::U8(bytes.to_vec().into()),
        Element::Bool => {
            for (i, &b) in bytes.iter().enumerate().filter(|(_, b)| **b > 1) {
                problem(i, format!("expected a truth value (0 or 1), found {b}"));
            }
            Values::U8(bytes.to_vec().into())
        }
        Element::I8 => integers(bytes, order, i8::from_le_bytes),
        Element::U16 => integers(bytes, order, u16::from_le_bytes),
        Element::I16 => integers(bytes, order, i16::from_le_bytes),
        Element::U32 => integers(bytes, order, u32::from_le_bytes),
        Element::I32 => integers(bytes, order, i32::from_le_bytes),
        Element::I64 => integers(bytes, order, i64::from_le_bytes),
        Element::U64 => Values::I64(
            each(bytes, order, u64::from_le_bytes)
                .enumerate()
                .map(|(i, value)| {
                    i64::try_from(value).unwrap_or_else(|_| {
                        problem(
                            i,
                            format!(
                                "the integer {value} is too large; the largest is {}",
                                i64::MAX
                            ),
                        );
                        0
                    })
                })
                .collect(),
        ),
        Element::F16 => Values::F32(each(bytes, order, |b| half(u16::from_le_bytes(b))).collect()),
        // A bfloat16 is the upper half of a float32.
        Element::BF16 => Values::F32(
            each(bytes, order, |b| {
                f32::from_bits(u32::from(u16::from_le_bytes(b)) << 16)
            })
            .collect(),
        ),
        Element::F32 => Values::F32(each(bytes, order, f32::from_le_bytes).collect()),
        Element::F64 => Values::F64(each(bytes, order, f64::from_le_bytes).collect()),
    }
}

fn integers<const N: usize, T: Into<i64>>(
    bytes: &[u8],
    order: ByteOrder,
    from_le_bytes: impl Fn([u8; N]) -> T,
) -> Values {
    Values::I64(each(bytes, order, |b| from_le_bytes(b).into()).collect())
}

fn each<const N: usize, T>(
    bytes: &[u8],
    order: ByteOrder,
    from_le_bytes: impl Fn([u8; N]) -> T,
) -> impl Iterator<Item = T> {
    bytes.as_chunks::<N>().0.iter().map(move |&chunk| {
        let mut chunk = chunk;
        if order == ByteOrder::Big {
            chunk.reverse();
        }
        from_le_bytes(chunk)
    })
}

/// An IEEE half-precision number: 1 sign bit, 5 of exponent (bias 15), 10 of fraction.
fn half(bits: u16) -> f32 {
    let exponent = i32::from((bits >> 10) & 0x1f);
    let fraction = f32::from(bits & 0x3ff);
    let magnitude = match exponent {
        0 => fraction * 2f32.powi(-24),
        31 if fraction == 0.0 => f32::INFINITY,
        31 => f32::NAN,
        _ => (1024.0 + fraction) * 2f32.powi(exponent - 25),
    };
    if bits >> 15 == 1 {
        -magnitude
    } else {
        magnitude
    }
}

fn check_finite(values: &Values, mut problem: impl FnMut(usize, &'static str)) {
    let mut check = |index: usize, value: f64| {
        if value.is_nan() {
            problem(index, "NaN");
        } else if value.is_infinite() {
            problem(index, if value > 0.0 { "infinity" } else { "-infinity" });
        }
    };
    match values {
        Values::U8(_) | Values::I64(_) => {}
        Values::F32(values) => {
            for (i, &v) in values.iter().enumerate() {
                check(i, f64::from(v));
            }
        }
        Values::F64(values) => {
            for (i, &v) in values.iter().enumerate() {
                check(i, v);
            }
        }
    }
}

/// The arrays of one file describe the same individuals, so all have the same number of rows.
pub(super) fn check_same_rows<'a>(
    name: &str,
    mut fields: impl Iterator<Item = (&'a str, &'a Array)>,
) -> Result<(), Diagnostics> {
    let Some((first_name, first)) = fields.next() else {
        return Ok(());
    };
    let mut problems = Problems::new();
    for (other_name, other) in fields.filter(|(_, a)| a.rows() != first.rows()) {
        problems.push(|| {
            Diagnostic::error(
                Code::SizesDisagree,
                format!(
                    "{name}: field `{first_name}` has {}, field `{other_name}` has {}",
                    counted(first.rows(), "row"),
                    counted(other.rows(), "row")
                ),
            )
            .note("row i of every field belongs to the same individual")
            .help("make the first dimension of all fields the same")
        });
    }
    problems.finish(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn half_precision_covers_all_cases() {
        assert_eq!(half(0x0000), 0.0);
        assert_eq!(half(0x3c00), 1.0);
        assert_eq!(half(0xc000), -2.0);
        assert_eq!(half(0x7bff), 65504.0);
        assert_eq!(half(0x0001), 2f32.powi(-24));
        assert_eq!(half(0x03ff), 1023.0 * 2f32.powi(-24));
        assert_eq!(half(0x0400), 2f32.powi(-14));
        assert_eq!(half(0x7c00), f32::INFINITY);
        assert_eq!(half(0xfc00), f32::NEG_INFINITY);
        assert!(half(0x7e00).is_nan());
    }

    #[test]
    fn column_major_becomes_row_major() {
        // [[[0, 1], [2, 3], [4, 5]]] of shape 1×3×2 and its bytes as Fortran writes them.
        let bytes = [0, 2, 4, 1, 3, 5];
        assert_eq!(row_major(&bytes, &[1, 3, 2], 1), [0, 1, 2, 3, 4, 5]);
        assert_eq!(row_major(&[1, 0, 2, 0], &[2, 1], 2), [1, 0, 2, 0]);
    }

    #[test]
    fn names_the_place_both_ways() {
        assert_eq!(
            element_place("a.npy", &[2, 3, 4], 17),
            "a.npy, row 1, column 5 (index [1, 1, 1])"
        );
        assert_eq!(
            element_place("a", &[5], 4),
            "a, row 4, column 0 (index [4])"
        );
    }
}
