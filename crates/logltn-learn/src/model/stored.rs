//! The parameters of a model by name.

use logltn::{Code, Diagnostic, Diagnostics};

use super::Model;
use crate::state::State;

impl Model {
    /// Adds all parameters to a state: each tensor of each network by name, then what else is learnt.
    pub fn store(&mut self, state: &mut State) {
        let mut blocks: Vec<(String, Vec<f32>)> = Vec::new();
        self.visit_parameters(&mut |name, values, _| {
            blocks.push((name.to_string(), values.to_vec()));
        });
        for (name, values) in blocks {
            match self.tensors(&name) {
                Some(tensors) => {
                    for tensor in tensors {
                        let numbers = values[tensor.range.clone()].to_vec();
                        let name = format!("{name}.{}", tensor.name);
                        state.tensors.push((name, tensor.shape.clone(), numbers));
                    }
                }
                None => {
                    let shape = self.shape(&name).map(<[usize]>::to_vec);
                    let shape = shape.unwrap_or_else(|| vec![values.len()]);
                    state.tensors.push((name, shape, values));
                }
            }
        }
    }

    /// Puts stored parameters back.
    ///
    /// # Errors
    /// If they belong to other networks. The model is then unchanged.
    pub fn restore(&mut self, state: &State) -> Result<(), Diagnostics> {
        let mut expected = State::default();
        self.store(&mut expected);
        let mut wrong = Diagnostics::new();
        let mut found = Vec::new();
        for (name, shape, _) in &expected.tensors {
            match state.tensor(name) {
                Some((stored, values)) if stored == shape.as_slice() => {
                    found.extend_from_slice(values);
                }
                Some((stored, _)) => wrong.push(Diagnostic::error(Code::WeightsDoNotFit, format!(
                    "the stored weights have `{name}` in the shape {stored:?}, the network here needs {shape:?}"
                ))),
                None => wrong.push(Diagnostic::error(Code::WeightsDoNotFit, format!(
                    "the stored weights have no `{name}`, which the networks here need"
                ))),
            }
        }
        wrong.into_result(())?;
        // The tensors of a block are in its order, without gaps.
        let mut at = 0;
        self.visit_parameters(&mut |_, values, _| {
            values.copy_from_slice(&found[at..at + values.len()]);
            at += values.len();
        });
        Ok(())
    }
}
