//! How good a model is on the test pictures.

use logltn::theory::PredicateId;
use logltn::{Code, Diagnostic, Diagnostics};
use logltn_learn::metrics::{Scores, average_precision, balanced_accuracy};
use logltn_train::train::Trainer;

use super::split::Pairs;
use crate::clustering::largest;
use crate::standin::SceneBox;
use crate::standin::ontology::{TYPES, pairs as ontology_pairs};

/// How many pairs are queried at once.
const BLOCK: usize = 1 << 16;

/// Boxes and pairs to measure on.
#[derive(Debug)]
pub(super) struct TestSet {
    boxes: Vec<u32>,
    types: Vec<usize>,
    /// The first and second box of each pair, consecutively.
    pairs: Vec<u32>,
    is_part: Vec<bool>,
    /// Whether the ontology forbids it, going by the true types.
    forbidden: Vec<bool>,
}

/// The paper's three figures.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Measures {
    /// In percent.
    pub partof_ap: f64,
    /// Balanced, in percent.
    pub type_accuracy: f64,
    /// False positives at 0.5 that the ontology forbids.
    pub violations: f64,
}

impl TestSet {
    /// All boxes of every `every`th picture and all ordered pairs of boxes in it. `first` is the number of the first test
    /// box among all boxes.
    pub fn new(boxes: &[SceneBox], first: usize, every: usize) -> TestSet {
        let mut may_be_part = vec![false; TYPES.len() * TYPES.len()];
        for (whole, part) in ontology_pairs() {
            may_be_part[part * TYPES.len() + whole] = true;
        }
        let mut set = TestSet {
            boxes: Vec::new(),
            types: Vec::new(),
            pairs: Vec::new(),
            is_part: Vec::new(),
            forbidden: Vec::new(),
        };
        let number = |place: usize| (first + place) as u32;
        for picture in Pairs::of(boxes).pictures().iter().step_by(every) {
            for x in picture.clone() {
                set.boxes.push(number(x));
                set.types.push(boxes[x].type_id);
                for y in picture.clone() {
                    set.pairs.extend([number(x), number(y)]);
                    set.is_part.push(boxes[x].part_of == Some(y));
                    let types = boxes[x].type_id * TYPES.len() + boxes[y].type_id;
                    set.forbidden.push(!may_be_part[types]);
                }
            }
        }
        set
    }

    /// How many pairs there are.
    pub fn pairs(&self) -> usize {
        self.is_part.len()
    }

    /// Asks the model, and counts.
    pub fn measure(
        &self,
        trainer: &mut Trainer,
        [type_of, part_of]: [PredicateId; 2],
    ) -> Result<Measures, Diagnostics> {
        let model = trainer.model_mut();
        let logits = model.predict(type_of, &self.boxes, 1)?;
        let predicted: Vec<usize> = logits.chunks_exact(TYPES.len()).map(largest).collect();
        let mut scores = Vec::with_capacity(self.pairs());
        for block in self.pairs.chunks(2 * BLOCK) {
            scores.extend(model.predict(part_of, block, 2)?);
        }
        self.count(&predicted, &scores)
    }

    /// The figures of these types and these logits of pairs.
    fn count(&self, predicted: &[usize], logits: &[f32]) -> Result<Measures, Diagnostics> {
        let wrong = |error: logltn_learn::metrics::MetricError| {
            Diagnostic::error(Code::MetricUndefined, error.to_string())
        };
        let scores = logits.iter().map(|&x| f64::from(x)).collect();
        let scores = Scores::logits(scores).map_err(wrong)?;
        let percent = 100.0;
        // A logit above 0 is a truth above 0.5.
        let violations = (logits.iter().zip(&self.is_part).zip(&self.forbidden))
            .filter(|&((&logit, &is_part), &forbidden)| logit > 0.0 && !is_part && forbidden)
            .count();
        Ok(Measures {
            partof_ap: percent * average_precision(&scores, &self.is_part).map_err(wrong)?,
            type_accuracy: percent * balanced_accuracy(predicted, &self.types).map_err(wrong)?,
            violations: violations as f64,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::standin::ontology::type_id;

    /// A bottle with its cap and another bottle, and a picture with a dog.
    fn boxes() -> Vec<SceneBox> {
        let of = |picture: usize, name: &str, part_of: Option<usize>| SceneBox {
            picture,
            type_id: type_id(name).expect("a type"),
            xmin: 0,
            ymin: 0,
            xmax: 10,
            ymax: 10,
            part_of,
            img_w: 20,
            img_h: 20,
        };
        vec![
            of(0, "bottle", None),
            of(0, "cap", Some(0)),
            of(0, "bottle", None),
            of(1, "dog", None),
        ]
    }

    #[test]
    fn violations_are_false_positives_that_the_ontology_forbids() {
        let set = TestSet::new(&boxes(), 100, 1);
        assert_eq!(set.pairs(), 10);
        assert_eq!(set.pairs[2..4], [100, 101]);
        let types = set.types.clone();
        let logits = |yes: &[[u32; 2]]| -> Vec<f32> {
            let is = |pair: &[u32]| yes.iter().any(|y| y.map(|b| b + 100) == pair);
            let logits = set
                .pairs
                .chunks_exact(2)
                .map(|pair| if is(pair) { 2.0 } else { -2.0 });
            logits.collect()
        };
        let count = |yes: &[[u32; 2]]| set.count(&types, &logits(yes)).expect("figures");
        // The cap of the bottle: true. The cap of the other bottle: false, but caps may be parts of bottles.
        assert_eq!(count(&[[1, 0], [1, 2]]).violations, 0.0);
        // A bottle as part of a cap, of a bottle, of itself; a dog as part of itself.
        assert_eq!(
            count(&[[1, 0], [0, 1], [0, 2], [0, 0], [3, 3]]).violations,
            4.0
        );
        assert_eq!(count(&[]).violations, 0.0);
    }

    #[test]
    fn precision_and_accuracy_are_those_of_the_known() {
        let set = TestSet::new(&boxes(), 0, 1);
        let at = |x: u32, y: u32| {
            let mut pairs = set.pairs.chunks_exact(2);
            pairs
                .position(|p| p == [x, y])
                .expect("a pair of one picture")
        };
        let mut logits = vec![-5.0; set.pairs()];
        logits[at(1, 0)] = 1.0;
        let best = set.count(&set.types, &logits).expect("figures");
        assert_eq!((best.partof_ap, best.type_accuracy), (100.0, 100.0));
        logits[at(1, 2)] = 3.0;
        let mut types = set.types.clone();
        types[2] = types[3];
        let worse = set.count(&types, &logits).expect("figures");
        assert_eq!(worse.partof_ap, 50.0);
        // Bottles are right half of the time, the cap and the dog always.
        assert!((worse.type_accuracy - 100.0 * 2.5 / 3.0).abs() < 1e-9);
    }

    #[test]
    fn every_second_picture() {
        let set = TestSet::new(&boxes(), 0, 2);
        assert_eq!((set.boxes.len(), set.pairs()), (3, 9));
    }
}
