//! Arrays of numbers as the files hold them.

use super::number_storage::Stored;

/// The numbers of an [`Array`], in the precision of the file.
///
/// Bytes stay bytes, since pictures come as bytes and would take eight times the memory otherwise;
/// the other integers are rare and become 64-bit.
#[derive(Clone, Debug, PartialEq)]
pub enum Values {
    /// Unsigned bytes, and truth values as 0 and 1.
    U8(Stored<u8>),
    /// All other integers.
    I64(Vec<i64>),
    /// 32-bit numbers, and the 16-bit ones.
    F32(Stored<f32>),
    /// 64-bit numbers.
    F64(Stored<f64>),
}

impl Values {
    /// How many numbers there are.
    pub fn len(&self) -> usize {
        match self {
            Values::U8(values) => values.len(),
            Values::I64(values) => values.len(),
            Values::F32(values) => values.len(),
            Values::F64(values) => values.len(),
        }
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// Numbers in rows: one row per individual, whatever the shape of a row.
///
/// The readers return arrays with at least one dimension and one value, in row-major order, with as
/// many values as the shape says, and without NaN or infinity.
///
/// ```
/// use logltn_data::{Array, Values};
/// let pictures = Array { shape: vec![3, 2, 2], values: Values::U8((0..12).collect()) };
/// assert_eq!((pictures.rows(), pictures.row_width()), (3, 4));
/// assert_eq!(pictures.to_f32()[4..8], [4.0, 5.0, 6.0, 7.0]);
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Array {
    /// Rows first.
    pub shape: Vec<usize>,
    /// Row-major.
    pub values: Values,
}

impl Array {
    /// How many rows there are.
    pub fn rows(&self) -> usize {
        self.shape.first().copied().unwrap_or(0)
    }

    /// How many numbers a row has: the product of the dimensions after the first.
    pub fn row_width(&self) -> usize {
        self.shape.iter().skip(1).product()
    }

    /// All values in double precision. Integers beyond 2^53 are rounded.
    pub fn to_f64(&self) -> Vec<f64> {
        match &self.values {
            Values::U8(values) => values.iter().map(|&v| f64::from(v)).collect(),
            Values::I64(values) => values.iter().map(|&v| v as f64).collect(),
            Values::F32(values) => values.iter().map(|&v| f64::from(v)).collect(),
            Values::F64(values) => values.to_vec(),
        }
    }

    /// All values in single precision, rounded. A double beyond the range of single precision (3.4e38)
    /// becomes infinite.
    pub fn to_f32(&self) -> Vec<f32> {
        match &self.values {
            Values::U8(values) => values.iter().map(|&v| f32::from(v)).collect(),
            Values::I64(values) => values.iter().map(|&v| v as f32).collect(),
            Values::F32(values) => values.to_vec(),
            Values::F64(values) => values.iter().map(|&v| v as f32).collect(),
        }
    }
}

/// One array of a data file. Files of several arrays (npz, safetensors) name each of them, and a
/// manifest refers to one as `x.name`; in the other formats the only array has no name.
#[derive(Clone, Debug, PartialEq)]
pub struct Field {
    /// The name in the file, if the format has names.
    pub name: Option<String>,
    /// The numbers.
    pub array: Array,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn converts_every_precision() {
        let each = [
            Values::U8(vec![0, 255].into()),
            Values::I64(vec![0, 255]),
            Values::F32(vec![0.0, 255.0].into()),
            Values::F64(vec![0.0, 255.0].into()),
        ];
        for values in each {
            assert_eq!(values.len(), 2);
            assert!(!values.is_empty());
            let array = Array {
                shape: vec![2],
                values,
            };
            assert_eq!((array.rows(), array.row_width()), (2, 1));
            assert_eq!(array.to_f64(), [0.0, 255.0]);
            assert_eq!(array.to_f32(), [0.0, 255.0]);
        }
    }

    #[test]
    fn keeps_single_precision_exactly() {
        let array = Array {
            shape: vec![1, 1],
            values: Values::F32(vec![0.1].into()),
        };
        assert_eq!(array.to_f64(), [f64::from(0.1f32)]);
    }
}
