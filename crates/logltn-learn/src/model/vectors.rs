//! The vectors of individuals: features from files, embeddings, and learnable constants.

use std::sync::Arc;

use logltn::theory::SortId;
use logltn::vector::Real;
use logltn::{Diagnostics, memory};

use super::build::BYTES_LEARNT;
use super::parameters::Parameters;
use crate::field::Field;
use crate::knowledge::KnowledgeBase;
use crate::random::Random;

/// The vectors of a sort's individuals. Those after the last individual belong to learnable constants.
#[derive(Default)]
pub(super) struct SortVectors {
    /// How many individuals have data.
    size: usize,
    width: usize,
    /// Shared with the other models of the knowledge base.
    fields: Arc<[Field]>,
    /// Where each field starts in an individual's whole vector, and how wide it is.
    places: Vec<(usize, usize)>,
    /// Embeddings of the individuals, in the model's list of learnable tables.
    pub embedding: Option<usize>,
    /// The vectors of the learnable constants, likewise.
    pub constants: Option<usize>,
    /// What these are called.
    names: Vec<String>,
}

impl SortVectors {
    /// The number of numbers of an individual.
    pub fn width(&self) -> usize {
        self.width
    }

    /// Place and width of one field of the vectors.
    pub fn field(&self, name: &str) -> Option<(usize, usize)> {
        let named = |f: &Field| f.name.as_deref() == Some(name);
        let at = self.fields.iter().position(named)?;
        Some(self.places[at])
    }

    /// The shape of an individual, if its vector is a single array.
    pub fn shape(&self) -> Option<&[usize]> {
        match &*self.fields {
            [only] => Some(&only.shape),
            _ => None,
        }
    }

    /// The name of a learnable constant.
    pub fn constant(&self, individual: u32) -> Option<&str> {
        let at = (individual as usize).checked_sub(self.size)?;
        self.names.get(at).map(String::as_str)
    }

    /// Which row of a learnable table an individual's vector is, if it is learnt.
    #[inline(always)]
    pub fn learnt(&self, individual: u32) -> Option<(usize, usize)> {
        let individual = individual as usize;
        match (self.embedding, self.constants) {
            (Some(table), _) if individual < self.size => Some((table, individual)),
            (_, Some(table)) if individual >= self.size => Some((table, individual - self.size)),
            _ => None,
        }
    }

    /// Copies numbers `from..from + out.len()` of an individual's vector.
    #[inline(always)]
    pub fn read<T: Real>(
        &self,
        individual: u32,
        from: usize,
        out: &mut [T],
        learnable: &[Parameters],
    ) {
        if let Some((table, row)) = self.learnt(individual) {
            let start = row * self.width + from;
            let values = &learnable[table].values[start..start + out.len()];
            copy(values, out);
            return;
        }
        self.read_fields(individual, from, out);
    }

    fn read_fields<T: Real>(&self, individual: u32, from: usize, out: &mut [T]) {
        let end = from + out.len();
        for (field, &(first, width)) in self.fields.iter().zip(&self.places) {
            let (a, b) = (first.max(from), (first + width).min(end));
            if a >= b {
                continue;
            }
            let out = &mut out[a - from..b - from];
            let start = individual as usize * width + (a - first);
            field.copy(start, out);
        }
    }
}

/// Copies numbers. Vectors are often short, so they are cut into pieces of a fixed size.
#[inline(always)]
pub(super) fn copy<T: Real>(from: &[f32], to: &mut [T]) {
    let (pieces, rest) = from.as_chunks::<16>();
    let (to_pieces, to_rest) = to.as_chunks_mut::<16>();
    for (from, to) in pieces.iter().zip(to_pieces) {
        *to = from.map(|x| T::from_f64(f64::from(x)));
    }
    let rest = rest.iter().zip(to_rest);
    rest.for_each(|(&x, to)| *to = T::from_f64(f64::from(x)));
}

/// Refuses learnable vectors that take too much memory.
pub(super) fn check_memory(knowledge: &KnowledgeBase) -> Result<(), Diagnostics> {
    let theory = knowledge.theory();
    for (i, (sort, given)) in theory.sorts.iter().zip(&knowledge.vectors).enumerate() {
        let (Some(width), size) = (given.learnable, knowledge.data.size(SortId(i as u32))) else {
            continue;
        };
        let numbers = size as u128 * width as u128;
        if let Err(error) = memory::ask(numbers * BYTES_LEARNT as u128) {
            let who = format!(
                "training {width} numbers for each of {size} individuals of sort `{}`",
                sort.name
            );
            return Err((error.refuse(who))
                .help(format!(
                    "fewer numbers (`learnable`); {}",
                    memory::allow_more()
                ))
                .into());
        }
    }
    Ok(())
}

/// The vectors of every sort, and the learnable tables that they need.
pub(super) fn of(
    knowledge: &KnowledgeBase,
    learnable: &mut Vec<Parameters>,
    random: &mut Random,
) -> Vec<SortVectors> {
    let theory = knowledge.theory();
    let mut sorts = Vec::new();
    for (i, (sort, given)) in theory.sorts.iter().zip(&knowledge.vectors).enumerate() {
        let id = SortId(i as u32);
        let mut vectors = SortVectors {
            size: knowledge.data.size(id),
            fields: Arc::clone(&given.fields),
            ..SortVectors::default()
        };
        for field in given.fields.iter() {
            vectors.places.push((vectors.width, field.width()));
            vectors.width += field.width();
        }
        if let Some(width) = given.learnable {
            vectors.width = width;
            vectors.embedding = Some(learnable.len());
            let name = format!("embedding.{}", sort.name);
            learnable.push(Parameters::embedding(name, vectors.size, width, random));
        }
        let own = knowledge.learnt_constants(id);
        vectors.names = own.map(|(name, _)| name.to_string()).collect();
        if let Some((_, width)) = knowledge.learnt_constants(id).next() {
            if vectors.width == 0 {
                vectors.width = width;
            }
            vectors.constants = Some(learnable.len());
            let name = format!("constants.{}", sort.name);
            let rows = vectors.names.len();
            learnable.push(Parameters::embedding(name, rows, vectors.width, random));
        }
        sorts.push(vectors);
    }
    sorts
}
