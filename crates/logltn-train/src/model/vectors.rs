//! The vectors of individuals: features from files, embeddings, and learnable constants.

use std::sync::Arc;

use logltn::Diagnostics;
use logltn::theory::SortId;

use super::parameters::Parameters;
use crate::data::{Field, Values};
use crate::manifest;
use crate::project::Project;
use crate::random::Random;

/// The vectors of a sort's individuals. Those after the last individual belong to learnable constants.
#[derive(Debug, Default)]
pub(super) struct SortVectors {
    /// How many individuals have data.
    size: usize,
    width: usize,
    fields: Vec<FieldVectors>,
    /// Embeddings of the individuals, in the model's list of learnable tables.
    pub embedding: Option<usize>,
    /// The vectors of the learnable constants, likewise.
    pub constants: Option<usize>,
}

#[derive(Debug)]
struct FieldVectors {
    name: Option<String>,
    shape: Vec<usize>,
    /// Where it starts in the whole vector.
    from: usize,
    width: usize,
    numbers: Numbers,
}

/// Bytes stay bytes: a set of pictures is four times larger as floats. Bytes and floats of single precision stay where
/// they are, which other models may share.
#[derive(Debug)]
enum Numbers {
    Bytes(FieldOf, f32),
    Floats(FieldOf),
    /// Of any other precision, rounded.
    Rounded(Vec<f32>),
}

/// One of several fields.
#[derive(Debug)]
struct FieldOf {
    fields: Arc<[Field]>,
    index: usize,
}

impl FieldOf {
    fn bytes(&self) -> &[u8] {
        match &self.fields[self.index].array.values {
            Values::U8(bytes) => bytes,
            _ => &[],
        }
    }

    fn floats(&self) -> &[f32] {
        match &self.fields[self.index].array.values {
            Values::F32(values) => values,
            _ => &[],
        }
    }
}

impl SortVectors {
    /// The number of numbers of an individual.
    pub fn width(&self) -> usize {
        self.width
    }

    /// Place and shape of one field of the vectors.
    pub fn field(&self, name: &str) -> Option<(usize, usize)> {
        let field = self
            .fields
            .iter()
            .find(|f| f.name.as_deref() == Some(name))?;
        Some((field.from, field.width))
    }

    /// The shape of an individual, if its vector is a single array.
    pub fn shape(&self) -> Option<&[usize]> {
        match self.fields.as_slice() {
            [only] => Some(&only.shape),
            _ => None,
        }
    }

    /// Which row of a learnable table an individual's vector is, if it is learnt.
    pub fn learnt(&self, individual: u32) -> Option<(usize, usize)> {
        let individual = individual as usize;
        match (self.embedding, self.constants) {
            (Some(table), _) if individual < self.size => Some((table, individual)),
            (_, Some(table)) if individual >= self.size => Some((table, individual - self.size)),
            _ => None,
        }
    }

    /// Copies numbers `from..from + out.len()` of an individual's vector.
    pub fn read(&self, individual: u32, from: usize, out: &mut [f32], learnable: &[Parameters]) {
        if let Some((table, row)) = self.learnt(individual) {
            let start = row * self.width + from;
            out.copy_from_slice(&learnable[table].values[start..start + out.len()]);
            return;
        }
        let end = from + out.len();
        for field in &self.fields {
            let (a, b) = (field.from.max(from), (field.from + field.width).min(end));
            if a >= b {
                continue;
            }
            let out = &mut out[a - from..b - from];
            let start = individual as usize * field.width + (a - field.from);
            match &field.numbers {
                Numbers::Floats(field) => {
                    out.copy_from_slice(&field.floats()[start..start + out.len()]);
                }
                Numbers::Rounded(values) => out.copy_from_slice(&values[start..start + out.len()]),
                Numbers::Bytes(field, scale) => {
                    for (out, &byte) in out.iter_mut().zip(&field.bytes()[start..]) {
                        *out = f32::from(byte) * scale;
                    }
                }
            }
        }
    }
}

/// The vectors of every sort, and the learnable tables that they need.
pub(super) fn read(
    project: &Project,
    learnable: &mut Vec<Parameters>,
    random: &mut Random,
) -> Result<Vec<SortVectors>, Diagnostics> {
    let theory = project.theory();
    let mut sorts = Vec::new();
    for (i, sort) in theory.sorts.iter().enumerate() {
        let id = SortId(i as u32);
        let mut vectors = SortVectors {
            size: project.data.size(id),
            ..SortVectors::default()
        };
        let fields = project.shared_features_of(id)?;
        for index in 0..fields.len() {
            let field = field_vectors(&fields, index, vectors.width);
            vectors.width += field.width;
            vectors.fields.push(field);
        }
        let given = project.manifest.sorts.get(&sort.name);
        if let Some(width) = given.and_then(|s| s.learnable) {
            vectors.width = width.value;
            vectors.embedding = Some(learnable.len());
            let name = format!("embedding.{}", sort.name);
            learnable.push(Parameters::embedding(
                name,
                vectors.size,
                width.value,
                random,
            ));
        }
        let constants = theory.constants.iter().filter(|c| c.sort == id);
        let mut rows = 0;
        for constant in constants {
            let given = project.manifest.constants.get(&constant.name);
            if let Some(manifest::Constant::Learnable(width)) = given.map(|c| c.value) {
                if vectors.width == 0 {
                    vectors.width = width.value;
                }
                rows += 1;
            }
        }
        if rows > 0 {
            vectors.constants = Some(learnable.len());
            let name = format!("constants.{}", sort.name);
            learnable.push(Parameters::embedding(name, rows, vectors.width, random));
        }
        sorts.push(vectors);
    }
    Ok(sorts)
}

fn field_vectors(fields: &Arc<[Field]>, index: usize, from: usize) -> FieldVectors {
    let field = &fields[index];
    let shape: Vec<usize> = field.array.shape.iter().skip(1).copied().collect();
    let fields = Arc::clone(fields);
    let numbers = match &field.array.values {
        // Pictures are scaled from 0..255 to 0..1, truth values stay: as everywhere else.
        Values::U8(bytes) => {
            let scale = if bytes.iter().any(|&b| b > 1) {
                1.0 / 255.0
            } else {
                1.0
            };
            Numbers::Bytes(FieldOf { fields, index }, scale)
        }
        Values::F32(_) => Numbers::Floats(FieldOf { fields, index }),
        _ => Numbers::Rounded(field.array.to_f32()),
    };
    FieldVectors {
        name: field.name.clone(),
        width: shape.iter().product(),
        shape,
        from,
        numbers,
    }
}
