//! Features as networks read them: read once, shared by all models of a project.
//!
//! A table of the paper has many runs of one project at the same time. Each has a model of its own, but the pictures
//! of 15,000 sums are 55 MB, and no model changes them.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

use logltn::Diagnostics;
use logltn::theory::SortId;
use logltn_data::{Field, Values};

use super::{FieldShape, Project};

/// One field of the features of a sort's individuals.
pub(crate) struct NetworkField {
    pub name: Option<String>,
    /// The shape of an individual.
    pub shape: Vec<usize>,
    /// Where it starts in an individual's whole vector.
    pub from: usize,
    /// How many numbers an individual has.
    pub width: usize,
    numbers: Numbers,
}

/// Bytes stay bytes: a set of pictures is four times larger as floats.
enum Numbers {
    Bytes(Vec<u8>, f32),
    Floats(Vec<f32>),
}

impl NetworkField {
    fn new(field: Field, from: usize) -> NetworkField {
        let shape: Vec<usize> = field.array.shape.iter().skip(1).copied().collect();
        let numbers = match field.array.values {
            // Pictures are scaled from 0..255 to 0..1, truth values stay: as everywhere else.
            Values::U8(bytes) => {
                let scale = if bytes.iter().any(|&b| b > 1) {
                    1.0 / 255.0
                } else {
                    1.0
                };
                Numbers::Bytes(bytes, scale)
            }
            _ => Numbers::Floats(field.array.to_f32()),
        };
        NetworkField {
            name: field.name,
            width: shape.iter().product(),
            shape,
            from,
            numbers,
        }
    }

    /// A field of which only the shape is known. It must not be copied from.
    fn sketch(field: &FieldShape, from: usize) -> NetworkField {
        NetworkField {
            name: field.name.clone(),
            width: field.shape.iter().product(),
            shape: field.shape.clone(),
            from,
            numbers: Numbers::Floats(Vec::new()),
        }
    }

    /// Copies numbers `start..start + out.len()` of all individuals' numbers in this field.
    pub fn copy(&self, start: usize, out: &mut [f32]) {
        match &self.numbers {
            Numbers::Floats(values) => out.copy_from_slice(&values[start..start + out.len()]),
            Numbers::Bytes(values, scale) => {
                for (out, &byte) in out.iter_mut().zip(&values[start..]) {
                    *out = f32::from(byte) * scale;
                }
            }
        }
    }
}

/// What the models of a project, and of its clones, have read so far.
#[derive(Clone, Default)]
pub(super) struct NetworkFields(Arc<Mutex<BTreeMap<SortId, Arc<[NetworkField]>>>>);

impl fmt::Debug for NetworkFields {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Millions of numbers help nobody.
        f.write_str("NetworkFields(..)")
    }
}

impl Project {
    /// The features of a sort for networks; none for a sort without features. Read from the file the first time, and
    /// kept as long as the project or a clone of it.
    ///
    /// # Errors
    /// If the file cannot be read any more, or has changed its shape.
    pub(crate) fn network_fields(&self, sort: SortId) -> Result<Arc<[NetworkField]>, Diagnostics> {
        // Held while reading, so that two models that start together read once. A reader that panicked has put nothing
        // in, so what is there is whole.
        let mut read = (self.network_fields.0.lock()).unwrap_or_else(PoisonError::into_inner);
        if let Some(fields) = read.get(&sort) {
            return Ok(Arc::clone(fields));
        }
        let fields = one_after_the_other(self.features_of(sort)?, NetworkField::new);
        read.insert(sort, Arc::clone(&fields));
        Ok(fields)
    }

    /// The same without any numbers: what can be said of networks before features are read.
    pub(crate) fn sketched_fields(&self, sort: SortId) -> Arc<[NetworkField]> {
        let fields = self
            .feature_file(sort)
            .into_iter()
            .flat_map(|file| &file.fields);
        one_after_the_other(fields, NetworkField::sketch)
    }
}

fn one_after_the_other<F>(
    fields: impl IntoIterator<Item = F>,
    make: impl Fn(F, usize) -> NetworkField,
) -> Arc<[NetworkField]> {
    let mut from = 0;
    let made = fields.into_iter().map(|field| {
        let field = make(field, from);
        from += field.width;
        field
    });
    made.collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use logltn_data::Array;

    fn field(shape: &[usize], values: Values) -> Field {
        Field {
            name: None,
            array: Array {
                shape: shape.to_vec(),
                values,
            },
        }
    }

    #[test]
    fn pictures_are_scaled_and_all_else_is_as_it_is() {
        let mut out = [0.0; 2];
        let pictures = NetworkField::new(field(&[2, 1, 2], Values::U8(vec![0, 9, 0, 255])), 3);
        assert_eq!((pictures.from, pictures.width), (3, 2));
        pictures.copy(2, &mut out);
        assert_eq!(out, [0.0, 1.0]);
        let truths = NetworkField::new(field(&[2, 2], Values::U8(vec![0, 1, 1, 1])), 0);
        truths.copy(0, &mut out);
        assert_eq!(out, [0.0, 1.0]);
        let numbers = NetworkField::new(field(&[3], Values::F64(vec![2.5, -1.0, 7.0])), 0);
        assert!(numbers.shape.is_empty() && numbers.width == 1);
        numbers.copy(1, &mut out);
        assert_eq!(out, [-1.0, 7.0]);
    }

    #[test]
    fn clones_of_a_project_share_what_was_read() {
        let folder = tempfile::tempdir().expect("a folder");
        let write = |name: &str, text: &str| std::fs::write(folder.path().join(name), text);
        write(
            "t.ltn",
            "sort Point\npredicate p(Point)\naxiom a: forall x: Point. p(x)\n",
        )
        .and_then(|()| write("points.csv", "x,y\n1,2\n3,4\n"))
        .and_then(|()| {
            let text = "theory = 't.ltn'\n[sorts.Point]\nfeatures = 'points.csv'\n\
                            [predicates.p]\nnetwork = { layers = [{ dense = 2 }] }\noutput = 'sigmoid'\n";
            write("t.toml", text)
        })
        .expect("files");
        let mut found = Diagnostics::new();
        let project = Project::load(&folder.path().join("t.toml"), &mut found);
        let project = project.unwrap_or_else(|| panic!("{found}"));
        let point = project.theory().sort("Point").expect("a sort");
        let early = project.clone();
        let first = project.network_fields(point).expect("features");
        for other in [early, project.clone()] {
            assert!(Arc::ptr_eq(
                &first,
                &other.network_fields(point).expect("features")
            ));
        }
    }
}
