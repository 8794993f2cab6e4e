//! The whole state of a training, by name.

use std::collections::BTreeMap;

/// A tensor's name, its shape, and its numbers in row-major order.
pub type NamedTensor = (String, Vec<usize>, Vec<f32>);

/// What a training has learnt and where it is: numbers and facts by name, to be kept wherever the program likes.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct State {
    /// Parameters, and what the optimizer remembers of them.
    pub tensors: Vec<NamedTensor>,
    /// The rest: how many steps are done, where each table's batches are.
    pub facts: BTreeMap<String, String>,
}

impl State {
    /// The tensor of a name: its shape and its numbers.
    pub fn tensor(&self, name: &str) -> Option<(&[usize], &[f32])> {
        (self.tensors.iter())
            .find(|(known, _, _)| known == name)
            .map(|(_, shape, values)| (shape.as_slice(), values.as_slice()))
    }

    pub(crate) fn fact(&self, name: &str) -> &str {
        self.facts.get(name).map_or("", String::as_str)
    }
}
