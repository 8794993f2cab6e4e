//! Beginning with the weights of another run.

use std::ops::Range;

use logltn::{Code, Diagnostic, Diagnostics};

use super::Session;
use crate::part_names::{belongs, constant};
use crate::state::State;

/// What a training began with of another one.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Begun {
    /// The names of the tensors that were taken.
    pub taken: Vec<String>,
    /// What was not, and why.
    pub left: Vec<String>,
}

impl Session {
    /// Begins with the weights of another training, instead of random ones: those named in `only`, or else all that
    /// have the same name and shape.
    ///
    /// # Errors
    /// If something in `only` is not learnt here, or is not there in that shape; without `only`, if nothing fits. The
    /// parameters are then as they were.
    pub fn begin_with(
        &mut self,
        weights: &State,
        only: Option<&[String]>,
    ) -> Result<Begun, Diagnostics> {
        let mut now = self.weights();
        let mut begun = Begun::default();
        let mut wrong = Diagnostics::new();
        for name in only.unwrap_or_default() {
            if let Err(error) = self.model.check_part(&self.knowledge, name) {
                wrong.push(error);
            }
        }
        let constants: Vec<(String, Range<usize>)> = (only.unwrap_or_default().iter())
            .filter_map(|name| constant(&self.knowledge, name))
            .collect();
        for (name, shape, values) in &mut now.tensors {
            let whole = match only {
                Some(only) => only.iter().any(|part| belongs(name, part)),
                None => true,
            };
            let rows = constants.iter().filter(|(block, _)| block == name);
            let rows: Vec<Range<usize>> = rows.map(|(_, range)| range.clone()).collect();
            if !whole && rows.is_empty() {
                begun.left.push(format!("`{name}`: not requested"));
                continue;
            }
            let reason = match weights.tensor(name) {
                Some((stored, numbers)) if stored == shape.as_slice() => {
                    match whole {
                        true => values.copy_from_slice(numbers),
                        false => (rows.into_iter())
                            .for_each(|r| values[r.clone()].copy_from_slice(&numbers[r])),
                    }
                    begun.taken.push(name.clone());
                    continue;
                }
                Some((stored, _)) => {
                    format!("its shape is {stored:?} there and {shape:?} here")
                }
                None => "it is not there".to_string(),
            };
            match only {
                Some(_) => wrong.push(Diagnostic::error(
                    Code::WeightsDoNotFit,
                    format!("`{name}` cannot be taken from the other run: {reason}"),
                )),
                None => begun.left.push(format!("`{name}`: {reason}")),
            }
        }
        if only.is_none() {
            for (name, _, _) in &weights.tensors {
                let here = now.tensors.iter().any(|(known, _, _)| known == name);
                // The optimizer state of a checkpoint is not needed.
                if !here && !name.starts_with("optimiser.") {
                    begun.left.push(format!("`{name}`: it is not here"));
                }
            }
            if begun.taken.is_empty() {
                let error = Diagnostic::error(
                    Code::WeightsDoNotFit,
                    "the other run has nothing that fits: no tensor of the same name and shape",
                );
                wrong.push(
                    begun
                        .left
                        .iter()
                        .take(10)
                        .fold(error, |e, left| e.note(left)),
                );
            }
        }
        wrong.into_result(())?;
        self.restore_weights(&now)?;
        Ok(begun)
    }
}
