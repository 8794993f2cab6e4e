//! The individuals of a sort, given in memory.

use std::sync::Arc;

use logltn::{Code, Diagnostic};

use crate::field::Field;

/// Who the individuals of a sort are, and what is known of them.
///
/// ```
/// use logltn_learn::Individuals;
/// let images = Individuals::features([28, 28], vec![0_u8; 10 * 28 * 28]);
/// let boxes = Individuals::default().field("roi", [1024], vec![0.0_f32; 2048]).field("position", [4], vec![0.0; 8]);
/// let people = Individuals::named(["ann", "bob"]).learnable(8);
/// let entities = Individuals::from(1000).learnable(32);
/// ```
#[derive(Clone, Debug, Default)]
pub struct Individuals {
    size: Option<usize>,
    pub(crate) names: Vec<String>,
    features: Vec<Feature>,
    pub(crate) learnable: Option<usize>,
}

#[derive(Clone, Debug)]
struct Feature {
    name: Option<String>,
    shape: Vec<usize>,
    values: Values,
}

/// Numbers of features. Bytes are pictures, whose 0..255 become 0..1, unless none is above 1.
#[derive(Clone, Debug)]
pub enum Values {
    /// Bytes.
    U8(Vec<u8>),
    /// Single precision.
    F32(Vec<f32>),
    /// Double precision, which distances see; networks see single precision.
    F64(Vec<f64>),
}

macro_rules! values_from {
    ($($type:ty, $kind:ident;)*) => {
        $(impl From<Vec<$type>> for Values {
            fn from(values: Vec<$type>) -> Values {
                Values::$kind(values)
            }
        })*
    };
}
values_from! { u8, U8; f32, F32; f64, F64; }

impl Individuals {
    /// Individuals with names.
    pub fn named<N: Into<String>>(names: impl IntoIterator<Item = N>) -> Individuals {
        let names: Vec<String> = names.into_iter().map(Into::into).collect();
        Individuals {
            size: Some(names.len()),
            names,
            ..Individuals::default()
        }
    }

    /// Individuals with features: an array of this shape for each, one after the other.
    pub fn features(shape: impl Into<Vec<usize>>, values: impl Into<Values>) -> Individuals {
        Individuals::default().with(None, shape.into(), values.into())
    }

    /// Another field of features, such as `position` in `x.position`.
    pub fn field(
        self,
        name: &str,
        shape: impl Into<Vec<usize>>,
        values: impl Into<Values>,
    ) -> Individuals {
        self.with(Some(name.to_string()), shape.into(), values.into())
    }

    fn with(mut self, name: Option<String>, shape: Vec<usize>, values: Values) -> Individuals {
        self.features.push(Feature {
            name,
            shape,
            values,
        });
        self
    }

    /// A trained vector of this length for each.
    pub fn learnable(self, width: usize) -> Individuals {
        Individuals {
            learnable: Some(width),
            ..self
        }
    }

    pub(crate) fn has_features(&self) -> bool {
        !self.features.is_empty()
    }

    /// How many there are, or what is wrong with them.
    pub(crate) fn size(&self, sort: &str) -> Result<usize, Diagnostic> {
        let wrong =
            |code, what: String| Err(Diagnostic::error(code, format!("sort `{sort}`: {what}")));
        if self.learnable.is_some() && self.has_features() {
            return wrong(
                Code::ConflictingKeys,
                "its individuals have features, or are learnable, not both".to_string(),
            );
        }
        let mut size = self.size;
        for feature in &self.features {
            let (width, numbers) = (feature.width(), feature.values.len());
            if width == 0 || !numbers.is_multiple_of(width) {
                return wrong(
                    Code::WrongShape,
                    format!("{numbers} numbers are no rows of {:?}", feature.shape),
                );
            }
            let rows = numbers / width;
            if let Some(size) = size.filter(|size| *size != rows) {
                return wrong(
                    Code::SizesDisagree,
                    format!("{size} individuals in one place and {rows} in another"),
                );
            }
            if let Some(at) = feature.values.not_finite() {
                return wrong(
                    Code::NotFinite,
                    format!("number {at} of its features is not finite"),
                );
            }
            size = Some(rows);
        }
        match size {
            Some(size) => Ok(size),
            None => wrong(
                Code::MissingData,
                "how many individuals does it have?".to_string(),
            ),
        }
    }

    /// What distances see: the width, and all numbers of all fields, side by side.
    pub(crate) fn points(&self) -> (usize, Vec<f64>) {
        let fields: Vec<(usize, Vec<f64>)> = (self.features.iter())
            .map(|f| (f.width(), f.values.to_f64()))
            .collect();
        let width = fields.iter().map(|f| f.0).sum();
        let rows = (fields.first()).map_or(0, |(width, values)| values.len() / width.max(&1));
        let row = |i: usize| (fields.iter()).flat_map(move |(w, v)| &v[i * w..(i + 1) * w]);
        (width, (0..rows).flat_map(row).copied().collect())
    }

    /// What networks see.
    pub(crate) fn fields(&self) -> Arc<[Field]> {
        let field = |f: &Feature| {
            let (name, shape) = (f.name.clone(), f.shape.clone());
            match &f.values {
                Values::U8(bytes) => Field::bytes(name, shape, bytes.clone()),
                Values::F32(floats) => Field::floats(name, shape, floats.clone()),
                Values::F64(floats) => {
                    Field::floats(name, shape, floats.iter().map(|&x| x as f32).collect())
                }
            }
        };
        self.features.iter().map(field).collect()
    }
}

impl From<usize> for Individuals {
    fn from(size: usize) -> Individuals {
        Individuals {
            size: Some(size),
            ..Individuals::default()
        }
    }
}

impl<const N: usize> From<[&str; N]> for Individuals {
    fn from(names: [&str; N]) -> Individuals {
        Individuals::named(names)
    }
}

impl Feature {
    fn width(&self) -> usize {
        self.shape.iter().product()
    }
}

impl Values {
    fn len(&self) -> usize {
        match self {
            Values::U8(values) => values.len(),
            Values::F32(values) => values.len(),
            Values::F64(values) => values.len(),
        }
    }

    fn not_finite(&self) -> Option<usize> {
        match self {
            Values::U8(_) => None,
            Values::F32(values) => values.iter().position(|x| !x.is_finite()),
            Values::F64(values) => values.iter().position(|x| !x.is_finite()),
        }
    }

    fn to_f64(&self) -> Vec<f64> {
        match self {
            Values::U8(bytes) if bytes.iter().any(|&b| b > 1) => {
                bytes.iter().map(|&b| f64::from(b) / 255.0).collect()
            }
            Values::U8(bytes) => bytes.iter().map(|&b| f64::from(b)).collect(),
            Values::F32(values) => values.iter().map(|&x| f64::from(x)).collect(),
            Values::F64(values) => values.clone(),
        }
    }
}
