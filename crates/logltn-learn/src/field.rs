//! Features of individuals.

use std::fmt;
use std::sync::Arc;

use logltn::vector::Real;

/// One array of a sort's features: the same count of numbers for each individual, one individual after
/// another.
#[derive(Clone)]
pub struct Field {
    /// Its name, for inputs such as `x.position`; `None` if it is all that there is of an individual.
    pub name: Option<String>,
    /// The shape of an individual, for example `[28, 28]`.
    pub shape: Vec<usize>,
    values: Values,
    /// What networks and distances see is as many times the value.
    scale: f32,
}

/// Numbers that are kept elsewhere, in memory or in a file that is read where it is.
pub type Kept<T> = Arc<dyn AsRef<[T]> + Send + Sync>;

/// The numbers of a field.
#[derive(Clone)]
pub enum Values {
    /// Bytes: pictures, which stay bytes since they are four times larger as floats. Their 0..255 is seen as 0..1; if
    /// none is above 1, they are truth values and seen as they are.
    U8(Kept<u8>),
    /// Single precision.
    F32(Kept<f32>),
    /// Double precision, which distances and closed forms see; networks see single precision.
    F64(Kept<f64>),
}

macro_rules! values_from {
    ($($type:ty, $kind:ident;)*) => {
        $(impl From<Vec<$type>> for Values {
            fn from(values: Vec<$type>) -> Values {
                Values::$kind(Arc::new(values))
            }
        }
        impl From<Kept<$type>> for Values {
            fn from(values: Kept<$type>) -> Values {
                Values::$kind(values)
            }
        })*
    };
}
values_from! { u8, U8; f32, F32; f64, F64; }

impl Field {
    /// A field with its numbers.
    pub fn new(name: Option<String>, shape: Vec<usize>, values: impl Into<Values>) -> Field {
        let values = values.into();
        let scale = match &values {
            Values::U8(bytes) if slice(bytes).iter().any(|&b| b > 1) => 1.0 / 255.0,
            _ => 1.0,
        };
        Field {
            name,
            shape,
            values,
            scale,
        }
    }

    /// Whether bytes are seen as 0..1, whatever is among them: of some pictures, what is so of all.
    pub fn scaled(mut self, scaled: bool) -> Field {
        if let Values::U8(_) = self.values {
            self.scale = if scaled { 1.0 / 255.0 } else { 1.0 };
        }
        self
    }

    /// How many numbers an individual has.
    pub fn width(&self) -> usize {
        self.shape.iter().product()
    }

    /// How many numbers there are in all.
    #[allow(clippy::len_without_is_empty)] // nobody asks
    pub fn len(&self) -> usize {
        match &self.values {
            Values::U8(values) => slice(values).len(),
            Values::F32(values) => slice(values).len(),
            Values::F64(values) => slice(values).len(),
        }
    }

    /// The numbers of an individual, as networks see them; `None` if the index is out of range.
    pub fn individual(&self, index: usize) -> Option<Vec<f32>> {
        let width = self.width();
        let start = index.checked_mul(width)?;
        (start + width <= self.len()).then(|| {
            let mut numbers = vec![0.0; width];
            self.copy(start, &mut numbers);
            numbers
        })
    }

    /// The place of the first number that is not finite.
    pub(crate) fn not_finite(&self) -> Option<usize> {
        match &self.values {
            Values::U8(_) => None,
            Values::F32(values) => slice(values).iter().position(|x| !x.is_finite()),
            Values::F64(values) => slice(values).iter().position(|x| !x.is_finite()),
        }
    }

    /// All numbers as distances see them.
    pub(crate) fn to_f64(&self) -> Vec<f64> {
        match &self.values {
            Values::U8(bytes) if self.scale != 1.0 => {
                let bytes = slice(bytes).iter();
                bytes.map(|&b| f64::from(b) / 255.0).collect()
            }
            Values::U8(bytes) => slice(bytes).iter().map(|&b| f64::from(b)).collect(),
            Values::F32(values) => slice(values).iter().map(|&x| f64::from(x)).collect(),
            Values::F64(values) => slice(values).to_vec(),
        }
    }

    /// Copies numbers `start..start + out.len()` of all individuals' numbers, as networks and closed forms see them.
    pub(crate) fn copy<T: Real>(&self, start: usize, out: &mut [T]) {
        let end = start + out.len();
        match &self.values {
            Values::F32(values) => {
                let pairs = out.iter_mut().zip(&slice(values)[start..end]);
                pairs.for_each(|(out, &x)| *out = T::from_f64(f64::from(x)));
            }
            Values::F64(values) => {
                let pairs = out.iter_mut().zip(&slice(values)[start..end]);
                pairs.for_each(|(out, &x)| *out = T::from_f64(x));
            }
            Values::U8(bytes) => {
                let pairs = out.iter_mut().zip(&slice(bytes)[start..end]);
                pairs.for_each(|(out, &byte)| {
                    *out = T::from_f64(f64::from(f32::from(byte) * self.scale));
                });
            }
        }
    }
}

fn slice<T>(kept: &Kept<T>) -> &[T] {
    (**kept).as_ref()
}

impl fmt::Debug for Field {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Millions of numbers help no one.
        write!(f, "Field({:?}, {:?})", self.name, self.shape)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pictures_are_scaled_and_all_else_is_as_it_is() {
        let mut out = [0.0_f32; 2];
        let pictures = Field::new(None, vec![1, 2], vec![0_u8, 9, 0, 255]);
        assert_eq!((pictures.width(), pictures.len()), (2, 4));
        pictures.copy(2, &mut out);
        assert_eq!(out, [0.0, 1.0]);
        let truths = Field::new(None, vec![2], vec![0_u8, 1, 1, 1]);
        truths.copy(0, &mut out);
        assert_eq!(out, [0.0, 1.0]);
        let numbers = Field::new(None, vec![], vec![2.5, -1.0, 7.0]);
        assert_eq!(numbers.width(), 1);
        numbers.copy(1, &mut out);
        assert_eq!(out, [-1.0, 7.0]);
    }
}
