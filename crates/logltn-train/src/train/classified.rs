//! What was learnt about the classes of individuals, for pictures.

use logltn::theory::{ArgumentSort, PredicateId};
use logltn::{Diagnostics, OutputKind};

use logltn_learn::largest;

use super::Trainer;
use crate::project::Features;

/// More points than this make a blot, and more dimensions take longer than they are worth.
const MOST_POINTS: usize = 20_000;
const MOST_DIMENSIONS: usize = 256;

/// The individuals of a sort, and the class that a predicate gives to each.
#[derive(Clone, Debug)]
pub struct Classified {
    /// The predicate's name.
    pub predicate: String,
    /// The name of the individuals' sort.
    pub sort: String,
    /// The features of each.
    pub features: Features,
    /// The place of its class among the names.
    pub class: Vec<usize>,
    /// The names of the classes.
    pub class_names: Vec<String>,
}

impl Trainer {
    /// The classes that each predicate gives to individuals with features, if it gives one of several classes and they
    /// are few enough to draw.
    pub fn classified(&mut self) -> Result<Vec<Classified>, Diagnostics> {
        let mut found = Vec::new();
        for (i, predicate) in self.project.theory().predicates.clone().iter().enumerate() {
            let id = PredicateId(i as u32);
            let [ArgumentSort::Sort(sort), ArgumentSort::Sort(class)] = predicate.arguments[..]
            else {
                continue;
            };
            let few = self.project.data.size(sort) <= MOST_POINTS;
            let width = self.project.feature_file(sort).map_or(0, |f| f.width());
            // Of a sigmoid several classes may be true, or none.
            let one_class = self.project.outputs[i].kind == OutputKind::Softmax;
            if !one_class || !few || !(2..=MOST_DIMENSIONS).contains(&width) {
                continue;
            }
            let features = Features::of(&self.project.features_of(sort)?);
            let individuals: Vec<u32> = (0..features.rows() as u32).collect();
            let Ok(logits) = self.session.model_mut().predict(id, &individuals, 1) else {
                continue; // a network of host code
            };
            let classes = self.project.data.size(class);
            found.push(Classified {
                predicate: predicate.name.clone(),
                sort: self.project.theory()[sort].name.clone(),
                features,
                class: logits.chunks_exact(classes).map(largest).collect(),
                class_names: (0..classes)
                    .map(|c| self.project.theory()[class].individual_name(c))
                    .collect(),
            });
        }
        Ok(found)
    }
}
