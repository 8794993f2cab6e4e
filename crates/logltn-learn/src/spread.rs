//! What training adds to the axioms where they leave the classes of a softmax open: that all classes are used, that each
//! row is decided, and that a member of an ensemble says something else than the members before it.

use std::collections::BTreeMap;

use logltn::{Engine, OutputKind};

use crate::given_numbers::place;
use crate::knowledge::{Ground, KnowledgeBase};

/// What the members before this one say, for an ensemble whose members are to disagree where the theory permits it.
#[derive(Clone, Debug, Default)]
pub struct Apart {
    /// How much the disagreement counts beside the axioms.
    pub weight: f64,
    /// How many members there are before this one.
    pub members: usize,
    /// By predicate: for all its tuples without the class, the probabilities of all classes, added up over these members.
    pub said: BTreeMap<String, Vec<f32>>,
}

/// All terms, ready to be added in each step.
#[derive(Clone, Debug, Default)]
pub(crate) struct Spread {
    /// How much the entropy of the classes used in a step counts.
    entropy: f64,
    /// By predicate: how much the mean of its rows' entropies counts.
    crisp: Vec<f64>,
    apart: Option<Apart>,
    /// By predicate: whether it is a softmax that is learnt.
    learnt: Vec<bool>,
    /// By predicate: the sizes of its sorts without the class.
    sizes: Vec<Vec<usize>>,
    /// The probabilities of a step's rows, and what a row needs; kept, so that no step asks for memory.
    probabilities: Vec<f64>,
    mean: Vec<f64>,
    slopes: Vec<f64>,
}

/// Logs of probabilities are taken no lower than of this.
const LEAST: f64 = 1e-12;

impl Spread {
    pub fn new(knowledge: &KnowledgeBase, entropy: f64, crisp: &BTreeMap<String, f64>) -> Spread {
        let theory = knowledge.theory();
        let weight = |name: &String| crisp.get(name).copied().unwrap_or(0.0);
        let softmax = knowledge.outputs.iter().zip(&knowledge.predicates);
        let learnt = softmax.map(|(output, ground)| {
            output.kind == OutputKind::Softmax && !matches!(ground, Ground::Numbers(_))
        });
        let sizes = theory.predicates.iter().map(|predicate| {
            let before = predicate.arguments.iter().rev().skip(1).rev();
            let size = |sort| knowledge.data.size(sort);
            before.map(|of| of.sort().map_or(0, size)).collect()
        });
        Spread {
            entropy,
            crisp: theory.predicates.iter().map(|p| weight(&p.name)).collect(),
            learnt: learnt.collect(),
            sizes: sizes.collect(),
            ..Spread::default()
        }
    }

    pub fn set_apart(&mut self, apart: Apart) {
        self.apart = Some(apart);
    }

    /// Adds the derivatives of all terms to those of the loss, and gives what they add to the loss itself.
    pub fn add(&mut self, knowledge: &KnowledgeBase, engine: &mut Engine<f32>) -> f64 {
        let is_crisp = self.crisp.iter().any(|weight| *weight > 0.0);
        if self.entropy == 0.0 && !is_crisp && self.apart.is_none() {
            return 0.0;
        }
        let mut loss = 0.0;
        for request in 0..engine.requests().len() {
            let asked = &engine.requests()[request];
            let (predicate, width, rows) = (asked.predicate, asked.width, asked.rows());
            if !self.learnt[predicate] || rows == 0 || width == 0 {
                continue;
            }
            self.take_probabilities(engine.numbers_mut(request), width);
            if self.entropy > 0.0 {
                loss += self.add_entropy(engine.gradient_mut(request), width, rows);
            }
            let crisp = self.crisp[predicate];
            if crisp > 0.0 {
                loss += self.add_crisp(crisp, engine.gradient_mut(request), width, rows);
            }
            let name = &knowledge.theory()[predicate].name;
            let said = self.apart.as_ref().and_then(|apart| {
                let said = apart.said.get(name)?;
                Some((apart.weight, apart.members as f64 + 1.0, said))
            });
            if let Some((weight, members, said)) = said {
                let sizes = &self.sizes[predicate];
                for row in 0..rows {
                    let individuals = engine.requests()[request].row(row).iter().copied();
                    // A learnable constant is none of the individuals queried before.
                    let Some(said) = place(sizes, individuals)
                        .and_then(|place| said.get(place * width..(place + 1) * width))
                    else {
                        continue;
                    };
                    let own = &self.probabilities[row * width..(row + 1) * width];
                    let scale = weight / rows as f64;
                    self.slopes.resize(width, 0.0);
                    let distance = distance(own, said, members, &mut self.slopes);
                    loss -= scale * distance;
                    let by = &mut engine.gradient_mut(request)[row * width..(row + 1) * width];
                    through_softmax(own, &self.slopes, -scale, by);
                }
            }
        }
        loss
    }

    fn take_probabilities(&mut self, logits: &[f32], width: usize) {
        self.probabilities.clear();
        for row in logits.chunks_exact(width) {
            let most = row.iter().copied().fold(f32::NEG_INFINITY, f32::max);
            let from = self.probabilities.len();
            let exps = row.iter().map(|x| f64::from(x - most).exp());
            self.probabilities.extend(exps);
            let sum: f64 = self.probabilities[from..].iter().sum();
            self.probabilities[from..]
                .iter_mut()
                .for_each(|p| *p /= sum);
        }
    }

    /// Minus the entropy of the mean of a step's rows.
    fn add_entropy(&mut self, by: &mut [f32], width: usize, rows: usize) -> f64 {
        self.mean.clear();
        self.mean.resize(width, 0.0);
        for row in self.probabilities.chunks_exact(width) {
            self.mean
                .iter_mut()
                .zip(row)
                .for_each(|(m, p)| *m += p / rows as f64);
        }
        let entropy: f64 = self.mean.iter().map(|m| -m * m.max(LEAST).ln()).sum();
        self.slopes.clear();
        self.slopes
            .extend(self.mean.iter().map(|m| -m.max(LEAST).ln() - 1.0));
        let scale = -self.entropy / rows as f64;
        let rows = self.probabilities.chunks_exact(width);
        for (own, by) in rows.zip(by.chunks_exact_mut(width)) {
            through_softmax(own, &self.slopes, scale, by);
        }
        -self.entropy * entropy
    }

    /// The mean of the entropies of a step's rows, times how much it counts.
    fn add_crisp(&mut self, weight: f64, by: &mut [f32], width: usize, rows: usize) -> f64 {
        let scale = weight / rows as f64;
        let mut total = 0.0;
        let each = self.probabilities.chunks_exact(width);
        for (own, by) in each.zip(by.chunks_exact_mut(width)) {
            total -= own.iter().map(|p| p * p.max(LEAST).ln()).sum::<f64>();
            self.slopes.clear();
            self.slopes
                .extend(own.iter().map(|p| -p.max(LEAST).ln() - 1.0));
            through_softmax(own, &self.slopes, scale, by);
        }
        scale * total
    }
}

/// How far a distribution is from the mean of itself and others, of which the sum is given: a Kullback-Leibler divergence
/// that is never more than the log of how many they are. `slopes` are its derivatives by the probabilities.
fn distance(own: &[f64], others: &[f32], count: f64, slopes: &mut [f64]) -> f64 {
    let mut total = 0.0;
    for ((p, others), slope) in own.iter().zip(others).zip(slopes) {
        let mean = ((p + f64::from(*others)) / count).max(LEAST);
        let log = (p.max(LEAST) / mean).ln();
        total += p * log;
        *slope = log + 1.0 - p / (count * mean);
    }
    total
}

/// Adds the derivative by logits of what has these derivatives by their probabilities, times a number.
fn through_softmax(own: &[f64], slopes: &[f64], scale: f64, by: &mut [f32]) {
    let mean: f64 = own.iter().zip(slopes).map(|(p, s)| p * s).sum();
    for ((by, p), slope) in by.iter_mut().zip(own).zip(slopes) {
        *by += (scale * p * (slope - mean)) as f32;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn softmax(logits: &[f64]) -> Vec<f64> {
        let sum: f64 = logits.iter().map(|x| x.exp()).sum();
        logits.iter().map(|x| x.exp() / sum).collect()
    }

    /// Against differences of the function itself.
    fn compare(logits: &[f64], value: &dyn Fn(&[f64]) -> f64, found: &[f32]) {
        const STEP: f64 = 1e-5;
        for k in 0..logits.len() {
            let at = |by: f64| {
                let mut moved = logits.to_vec();
                moved[k] += by;
                value(&moved)
            };
            let slope = (at(STEP) - at(-STEP)) / (2.0 * STEP);
            assert!(
                (slope - f64::from(found[k])).abs() < 1e-5,
                "{slope} {}",
                found[k]
            );
        }
    }

    #[test]
    fn derivatives_of_the_distance_are_those_of_differences() {
        let logits = [0.3, -1.2, 0.9, 0.0];
        let others = [0.7, 0.1, 0.15, 1.05];
        let value = |logits: &[f64]| distance(&softmax(logits), &others, 3.0, &mut [0.0; 4]);
        let own = softmax(&logits);
        let (mut slopes, mut by) = (vec![0.0; 4], vec![0.0_f32; 4]);
        distance(&own, &others, 3.0, &mut slopes);
        through_softmax(&own, &slopes, 1.0, &mut by);
        compare(&logits, &value, &by);
        assert!(value(&[40.0, 0.0, 0.0, 0.0]) <= 3.0_f64.ln());
    }

    #[test]
    fn derivatives_of_the_entropy_are_those_of_differences() {
        let logits = [0.3, -1.2, 0.9, 2.0, 0.1, -0.4];
        let entropy = |logits: &[f64]| {
            let rows: Vec<Vec<f64>> = logits.chunks(3).map(softmax).collect();
            let mean = |k: usize| (rows[0][k] + rows[1][k]) / 2.0;
            (0..3).map(|k| 0.5 * mean(k) * mean(k).ln()).sum::<f64>()
        };
        let mut spread = Spread {
            entropy: 0.5,
            ..Spread::default()
        };
        let single: Vec<f32> = logits.iter().map(|x| *x as f32).collect();
        spread.take_probabilities(&single, 3);
        let mut by = vec![0.0; 6];
        let loss = spread.add_entropy(&mut by, 3, 2);
        assert!((loss - entropy(&logits)).abs() < 1e-6);
        compare(&logits, &entropy, &by);
        // Of each row instead of their mean, and added to the loss.
        let crisp = |logits: &[f64]| {
            let each = logits.chunks(3).flat_map(softmax);
            -0.25 / 2.0 * each.map(|p| p * p.ln()).sum::<f64>()
        };
        let mut by = vec![0.0; 6];
        let loss = spread.add_crisp(0.25, &mut by, 3, 2);
        assert!((loss - crisp(&logits)).abs() < 1e-6);
        compare(&logits, &crisp, &by);
    }
}
