//! The vectors of individuals: features from files, embeddings, and learnable constants.

use std::sync::Arc;

use logltn::Diagnostics;
use logltn::theory::SortId;

use super::parameters::Parameters;
use crate::manifest;
use crate::project::{NetworkField, Project};
use crate::random::Random;

/// The vectors of a sort's individuals. Those after the last individual belong to learnable constants.
#[derive(Default)]
pub(super) struct SortVectors {
    /// How many individuals have data.
    size: usize,
    width: usize,
    /// Shared with the other models of the project.
    fields: Arc<[NetworkField]>,
    /// Embeddings of the individuals, in the model's list of learnable tables.
    pub embedding: Option<usize>,
    /// The vectors of the learnable constants, likewise.
    pub constants: Option<usize>,
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
        match &*self.fields {
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
        for field in self.fields.iter() {
            let (a, b) = (field.from.max(from), (field.from + field.width).min(end));
            if a >= b {
                continue;
            }
            let out = &mut out[a - from..b - from];
            let start = individual as usize * field.width + (a - field.from);
            field.copy(start, out);
        }
    }
}

/// The vectors of every sort, and the learnable tables that they need; `fields` gives the features of a sort.
pub(super) fn read(
    project: &Project,
    fields: impl Fn(SortId) -> Result<Arc<[NetworkField]>, Diagnostics>,
    learnable: &mut Vec<Parameters>,
    random: &mut Random,
) -> Result<Vec<SortVectors>, Diagnostics> {
    let theory = project.theory();
    let mut sorts = Vec::new();
    for (i, sort) in theory.sorts.iter().enumerate() {
        let id = SortId(i as u32);
        let mut vectors = SortVectors {
            size: project.data.size(id),
            fields: fields(id)?,
            ..SortVectors::default()
        };
        vectors.width = vectors.fields.iter().map(|f| f.width).sum();
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
