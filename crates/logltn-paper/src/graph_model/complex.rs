//! ComplEx (Trouillon et al. 2016): the embeddings behind `linked`.
//!
//! An entity is a vector of complex numbers, and so is a relation in each direction. The score of an entity after two others is the real
//! part of ⟨h, r, t̄⟩: of all entities at once, one product of matrices, which a dense layer computes whose weights are the entities.
//! Only the log of one probability of each row goes to the theory, so that nothing else walks through all entities.

use std::sync::{Arc, Mutex};

use logltn::{Code, Diagnostic, Diagnostics, Request};
use logltn_nn::{LayerSpec, Network, NetworkSpec, Shape};
use rayon::prelude::*;

use super::softmax::{exponentials, one_each};
use super::{Triple, asked, held};
use logltn_learn::Grounding;
use logltn_learn::random::Random;

/// How large the first numbers are.
const FIRST: f64 = 0.1;

/// Randomness of first numbers, apart from that of batches.
const STREAM: u64 = 2;

/// Embeddings behind `linked`: ComplEx, with N3 regularisation, and a softmax over all entities, of which a fact is asked for the log
/// ([`Output::log_truth`](logltn::Output::log_truth)). A clone shares them, so that one can train and the other rank.
#[derive(Clone)]
pub struct ComplEx(Arc<Mutex<Embeddings>>);

struct Embeddings {
    /// Complex numbers of a vector: first all real parts, then all imaginary ones.
    rank: usize,
    entities: usize,
    /// From a question's vector to the scores of all entities; its weights are these. No bias.
    network: Network,
    by_entities: Vec<f32>,
    relations: Vec<f32>,
    by_relations: Vec<f32>,
    /// The N3 regulariser of Lacroix et al. (2018): as many times the cubes of the magnitudes of entity and relation, of each
    /// question.
    cubes: f32,
    /// The vectors of the questions last asked, and the derivatives by them.
    asked: Vec<[u32; 2]>,
    vectors: Vec<f32>,
    by_vectors: Vec<f32>,
    /// The facts last asked for, and for each the exponentials of all scores, and their sum.
    facts: Vec<Triple>,
    exponentials: Vec<f32>,
    sums: Vec<f32>,
}

impl ComplEx {
    /// This many complex numbers for each entity and relation (count both directions). `cubes` is the strength of the regulariser:
    /// its gradient is added to that of the loss.
    ///
    /// # Errors
    /// If there are no entities, or no numbers.
    pub fn new(
        entities: usize,
        relations: usize,
        rank: usize,
        cubes: f32,
        seed: u64,
    ) -> Result<ComplEx, Diagnostics> {
        let spec = NetworkSpec {
            input: Shape::Flat(2 * rank),
            layers: vec![LayerSpec::Dense(entities)],
        };
        let mut network = Network::new(&spec, seed)
            .map_err(|error| Diagnostic::error(Code::Internal, error.to_string()))?;
        let mut random = Random::new(seed, STREAM);
        let mut draw = || (FIRST * random.normal()) as f32;
        let own = 2 * rank * entities;
        network.parameters_mut()[..own].fill_with(&mut draw);
        let mut first = vec![0.0; 2 * rank * relations];
        first.fill_with(&mut draw);
        Ok(ComplEx(Arc::new(Mutex::new(Embeddings {
            rank,
            entities,
            network,
            by_entities: vec![0.0; own],
            by_relations: vec![0.0; first.len()],
            relations: first,
            cubes,
            asked: Vec::new(),
            vectors: Vec::new(),
            by_vectors: Vec::new(),
            facts: Vec::new(),
            exponentials: Vec::new(),
            sums: Vec::new(),
        }))))
    }

    /// Adds the scores of all entities after each entity and relation.
    pub fn add(&self, questions: &[[u32; 2]], scores: &mut [f32]) {
        let mut embeddings = held(&self.0);
        embeddings.ask(questions.iter().copied());
        let Embeddings {
            network, vectors, ..
        } = &mut *embeddings;
        let found = network.forward_only(vectors, questions.len());
        scores.iter_mut().zip(found).for_each(|(s, f)| *s += f);
    }
}

impl Embeddings {
    /// The vectors of questions: h times r.
    fn ask(&mut self, questions: impl Iterator<Item = [u32; 2]>) {
        let k = self.rank;
        self.asked.clear();
        self.asked.extend(questions);
        self.vectors.resize(self.asked.len() * 2 * k, 0.0);
        let entities = self.network.parameters();
        let rows = self.asked.iter().zip(self.vectors.chunks_exact_mut(2 * k));
        for (&[h, r], vector) in rows {
            let (a, b) = entities[2 * k * h as usize..][..2 * k].split_at(k);
            let (c, d) = self.relations[2 * k * r as usize..][..2 * k].split_at(k);
            let (re, im) = vector.split_at_mut(k);
            for i in 0..k {
                re[i] = a[i] * c[i] - b[i] * d[i];
                im[i] = a[i] * d[i] + b[i] * c[i];
            }
        }
    }

    /// Hands the derivatives by the questions' vectors on to entities and relations.
    fn hand_on(&mut self) {
        let (k, share) = (self.rank, self.cubes / self.asked.len().max(1) as f32);
        let entities = self.network.parameters();
        let rows = self.asked.iter().zip(self.by_vectors.chunks_exact(2 * k));
        for (&[h, r], by) in rows {
            let [h, r] = [h, r].map(|x| 2 * k * x as usize);
            let (a, b) = entities[h..h + 2 * k].split_at(k);
            let (c, d) = self.relations[r..r + 2 * k].split_at(k);
            let (re, im) = by.split_at(k);
            let (by_a, by_b) = self.by_entities[h..h + 2 * k].split_at_mut(k);
            let (by_c, by_d) = self.by_relations[r..r + 2 * k].split_at_mut(k);
            for i in 0..k {
                let cube = |x: f32, y: f32| 3.0 * share * (x * x + y * y).sqrt();
                let (of_h, of_r) = (cube(a[i], b[i]), cube(c[i], d[i]));
                by_a[i] += re[i] * c[i] + im[i] * d[i] + of_h * a[i];
                by_b[i] += im[i] * c[i] - re[i] * d[i] + of_h * b[i];
                by_c[i] += re[i] * a[i] + im[i] * b[i] + of_r * c[i];
                by_d[i] += im[i] * a[i] - re[i] * b[i] + of_r * d[i];
            }
        }
    }
}

impl Embeddings {
    /// The log of the probability of each fact.
    fn logs(&mut self, facts: Vec<Triple>, logs: Option<&mut [f32]>) {
        self.ask(facts.iter().map(|[h, r, _]| [*h, *r]));
        let scores = self.network.forward(&self.vectors, facts.len());
        self.exponentials.resize(scores.len(), 0.0);
        self.sums.resize(facts.len(), 0.0);
        let mut unused = Vec::new();
        let logs = logs.unwrap_or_else(|| {
            unused.resize(facts.len(), 0.0);
            &mut unused
        });
        let rows = (self.exponentials.par_chunks_exact_mut(self.entities))
            .zip(scores.par_chunks_exact(self.entities));
        let rows = rows.zip(&mut self.sums).zip(logs).zip(&facts);
        rows.for_each(|((((row, scores), total), log), fact)| {
            let top = exponentials(scores, row, total);
            *log = scores[fact[2] as usize] - top - total.ln();
        });
        self.facts = facts;
    }
}

impl Grounding for ComplEx {
    fn forward(&mut self, request: &Request, numbers: &mut [f32]) -> Result<(), Diagnostics> {
        one_each(request)?;
        held(&self.0).logs(asked(request).collect(), Some(numbers));
        Ok(())
    }

    fn backward(&mut self, request: &Request, by_numbers: &[f32]) {
        let mut embeddings = held(&self.0);
        let embeddings = &mut *embeddings;
        if !embeddings.facts.iter().copied().eq(asked(request)) {
            // There is more than one request: the network remembers the last.
            embeddings.logs(asked(request).collect(), None);
        }
        let Embeddings {
            network,
            vectors,
            by_vectors,
            by_entities,
            facts,
            exponentials,
            sums,
            entities,
            ..
        } = embeddings;
        let rows = exponentials.par_chunks_exact_mut(*entities);
        let rows = rows.zip(sums).zip(by_numbers).zip(&*facts);
        rows.for_each(|(((row, sum), by), fact)| {
            let share = -by / *sum;
            row.iter_mut().for_each(|x| *x *= share);
            row[fact[2] as usize] += by;
        });
        by_vectors.resize(vectors.len(), 0.0);
        network.backward_anew(exponentials, Some(by_vectors));
        // The exponentials are used up.
        facts.clear();
        let found = by_entities.par_iter_mut().zip(network.gradients());
        found.for_each(|(sum, by)| *sum += by);
        embeddings.hand_on();
    }

    fn visit_parameters(&mut self, visit: &mut dyn FnMut(&str, &mut [f32], &mut [f32])) {
        let mut embeddings = held(&self.0);
        let Embeddings {
            rank,
            entities,
            network,
            by_entities,
            relations,
            by_relations,
            ..
        } = &mut *embeddings;
        let own = 2 * *rank * *entities;
        visit(
            "entities",
            &mut network.parameters_mut()[..own],
            by_entities,
        );
        visit("relations", relations, by_relations);
    }
}
