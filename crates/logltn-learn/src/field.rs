//! Features of individuals as networks read them.

use std::fmt;

/// One array of a sort's features: as many numbers for each individual.
///
/// Cheap to share, not to clone: a session, and the sessions beside it, hold fields by `Arc`.
pub struct Field {
    /// Its name, for inputs such as `x.position`; `None` if it is all that there is of an individual.
    pub name: Option<String>,
    /// The shape of an individual, for example `[28, 28]`.
    pub shape: Vec<usize>,
    numbers: Numbers,
}

/// Bytes stay bytes: a set of pictures is four times larger as floats.
enum Numbers {
    Bytes(Vec<u8>, f32),
    Floats(Vec<f32>),
    /// Only the shape is known.
    None,
}

impl Field {
    /// A field of floats, one individual after the other.
    pub fn floats(name: Option<String>, shape: Vec<usize>, values: Vec<f32>) -> Field {
        let numbers = Numbers::Floats(values);
        Field {
            name,
            shape,
            numbers,
        }
    }

    /// A field of bytes: pictures, whose 0..255 networks see as 0..1. Bytes of which none is above 1 are truth values
    /// and stay as they are.
    pub fn bytes(name: Option<String>, shape: Vec<usize>, values: Vec<u8>) -> Field {
        let scale = match values.iter().any(|&b| b > 1) {
            true => 1.0 / 255.0,
            false => 1.0,
        };
        let numbers = Numbers::Bytes(values, scale);
        Field {
            name,
            shape,
            numbers,
        }
    }

    /// A field of which only the shape is known: enough to say whether networks fit, not to run them.
    pub fn sketch(name: Option<String>, shape: Vec<usize>) -> Field {
        let numbers = Numbers::None;
        Field {
            name,
            shape,
            numbers,
        }
    }

    /// How many numbers an individual has.
    pub fn width(&self) -> usize {
        self.shape.iter().product()
    }

    /// How many numbers there are in all.
    pub fn len(&self) -> usize {
        match &self.numbers {
            Numbers::Bytes(values, _) => values.len(),
            Numbers::Floats(values) => values.len(),
            Numbers::None => 0,
        }
    }

    /// Whether there are no numbers.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Copies numbers `start..start + out.len()` of all individuals' numbers.
    pub(crate) fn copy(&self, start: usize, out: &mut [f32]) {
        match &self.numbers {
            Numbers::Floats(values) => out.copy_from_slice(&values[start..start + out.len()]),
            Numbers::Bytes(values, scale) => {
                for (out, &byte) in out.iter_mut().zip(&values[start..]) {
                    *out = f32::from(byte) * scale;
                }
            }
            Numbers::None => unreachable!("a sketch of networks never runs"),
        }
    }
}

impl fmt::Debug for Field {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Millions of numbers help nobody.
        let Field { name, shape, .. } = self;
        write!(
            f,
            "Field({name:?}, {} × {shape:?})",
            self.len() / self.width().max(1)
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pictures_are_scaled_and_all_else_is_as_it_is() {
        let mut out = [0.0; 2];
        let pictures = Field::bytes(None, vec![1, 2], vec![0, 9, 0, 255]);
        assert_eq!((pictures.width(), pictures.len()), (2, 4));
        pictures.copy(2, &mut out);
        assert_eq!(out, [0.0, 1.0]);
        let truths = Field::bytes(None, vec![2], vec![0, 1, 1, 1]);
        truths.copy(0, &mut out);
        assert_eq!(out, [0.0, 1.0]);
        let numbers = Field::floats(None, vec![], vec![2.5, -1.0, 7.0]);
        assert_eq!(numbers.width(), 1);
        numbers.copy(1, &mut out);
        assert_eq!(out, [-1.0, 7.0]);
    }
}
