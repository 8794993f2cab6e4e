//! The parameters of a model in a file, by name.

use logltn::{Code, Diagnostic, Diagnostics};

use super::Model;
use crate::run_directory::Checkpoint;

impl Model {
    /// Adds all parameters to a checkpoint: each tensor of each network by name, then what else is learnt.
    pub fn store(&mut self, checkpoint: &mut Checkpoint) {
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
                        checkpoint
                            .tensors
                            .push((name, tensor.shape.clone(), numbers));
                    }
                }
                None => {
                    let shape = self.shape(&name).map(<[usize]>::to_vec);
                    let shape = shape.unwrap_or_else(|| vec![values.len()]);
                    checkpoint.tensors.push((name, shape, values));
                }
            }
        }
    }

    /// Puts stored parameters back.
    ///
    /// # Errors
    /// If they are of other networks. The model is then as it was.
    pub fn restore(&mut self, checkpoint: &Checkpoint) -> Result<(), Diagnostics> {
        let mut expected = Checkpoint::default();
        self.store(&mut expected);
        let mut wrong = Diagnostics::new();
        let mut found = Vec::new();
        for (name, shape, _) in &expected.tensors {
            match checkpoint.tensor(name) {
                Some((stored, values)) if stored == shape.as_slice() => {
                    found.extend_from_slice(values);
                }
                Some((stored, _)) => wrong.push(Diagnostic::error(Code::WeightsDoNotFit, format!(
                    "the stored weights have `{name}` in the shape {stored:?}, the manifest's network needs {shape:?}"
                ))),
                None => wrong.push(Diagnostic::error(Code::WeightsDoNotFit, format!(
                    "the stored weights have no `{name}`, which the manifest's networks need"
                ))),
            }
        }
        wrong.into_result(())?;
        // The tensors of a block stand in its order, without gaps.
        let mut at = 0;
        self.visit_parameters(&mut |_, values, _| {
            values.copy_from_slice(&found[at..at + values.len()]);
            at += values.len();
        });
        Ok(())
    }
}
