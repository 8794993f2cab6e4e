//! The individuals of a sort, given in memory.

use std::collections::BTreeSet;

use logltn::{Code, Diagnostic};

use crate::field::{Field, Values};

/// The individuals of a sort, and what is known about them.
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
    pub(crate) fields: Vec<Field>,
    pub(crate) learnable: Option<usize>,
}

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
        Individuals {
            fields: vec![Field::new(None, shape.into(), values)],
            ..Individuals::default()
        }
    }

    /// Another field of features, such as `position` in `x.position`.
    pub fn field(
        mut self,
        name: &str,
        shape: impl Into<Vec<usize>>,
        values: impl Into<Values>,
    ) -> Individuals {
        let field = Field::new(Some(name.to_string()), shape.into(), values);
        self.fields.push(field);
        self
    }

    /// A trained vector of this length for each.
    pub fn learnable(self, width: usize) -> Individuals {
        Individuals {
            learnable: Some(width),
            ..self
        }
    }

    /// How many there are, or what is wrong with them.
    pub(crate) fn size(&self, sort: &str) -> Result<usize, Diagnostic> {
        let wrong = |code, what: String| {
            let message = format!("sort `{sort}`: {what}");
            Err(Diagnostic::error(code, message))
        };
        if self.learnable.is_some() && !self.fields.is_empty() {
            let what = "its individuals have features, or are learnable, not both";
            return wrong(Code::ConflictingKeys, what.to_string());
        }
        let mut seen = BTreeSet::new();
        if let Some(twice) = self.names.iter().find(|name| !seen.insert(name.as_str())) {
            let what = format!("two of its individuals are named `{twice}`");
            return wrong(Code::DuplicateName, what);
        }
        let mut size = self.size;
        for field in &self.fields {
            let (width, numbers) = (field.width(), field.len());
            if width == 0 || !numbers.is_multiple_of(width) {
                let what = format!("{numbers} numbers do not make rows of {:?}", field.shape);
                return wrong(Code::WrongShape, what);
            }
            let rows = numbers / width;
            if let Some(size) = size.filter(|size| *size != rows) {
                let what = format!("{size} individuals in one place and {rows} in another");
                return wrong(Code::SizesDisagree, what);
            }
            if let Some(at) = field.not_finite() {
                let what = format!("number {at} of its features is not finite");
                return wrong(Code::NotFinite, what);
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
}

/// What distances see: the width, and all numbers of all fields, side by side. None without features.
pub(crate) fn points(fields: &[Field]) -> Option<(usize, Vec<f64>)> {
    let all: Vec<(usize, Vec<f64>)> = (fields.iter())
        .map(|field| (field.width(), field.to_f64()))
        .collect();
    let (width, values) = all.first()?;
    let rows = values.len().checked_div(*width)?;
    let row = |i: usize| (all.iter()).flat_map(move |(w, v)| v.iter().skip(i * w).take(*w));
    let width = all.iter().map(|(width, _)| width).sum();
    Some((width, (0..rows).flat_map(row).copied().collect()))
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
