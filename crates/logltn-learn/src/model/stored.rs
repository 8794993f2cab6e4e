//! The parameters of a model by name.

use logltn::{Code, Diagnostic, Diagnostics};
use logltn_nn::Tensor;

use super::Model;
use crate::state::State;

impl Model {
    /// Shows every block of parameters with its name and gradients, always in the same order.
    #[allow(clippy::type_complexity)] // a name would hide what the closure takes
    pub fn visit_parameters(&mut self, visit: &mut dyn FnMut(&str, &mut [f32], &[f32])) {
        self.visit_rows(&mut |name, values, gradients, _| visit(name, values, gradients));
    }

    /// The same, with the rows that may have a gradient, where others have none.
    #[allow(clippy::type_complexity)] // as above
    pub(crate) fn visit_rows(
        &mut self,
        visit: &mut dyn FnMut(&str, &mut [f32], &[f32], Option<&[u32]>),
    ) {
        for unit in self.units.iter_mut().filter(|u| u.twin_of.is_none()) {
            let (values, gradients) = unit.network.parameters_and_gradients();
            visit(&unit.name, values, gradients, None);
        }
        for (table, gradients) in self.learnable.iter_mut().zip(&self.gradients.tables) {
            let rows = table.read.listed();
            visit(&table.name, &mut table.values, gradients, rows);
        }
        for (predicate, host) in self.theory.predicates.iter().zip(&mut self.hosts) {
            let (predicate, host) = (&predicate.name, host.iter_mut());
            host.for_each(|host| {
                host.visit_parameters(&mut |name, values, gradients| {
                    visit(&format!("host.{predicate}.{name}"), values, gradients, None);
                });
            });
        }
    }

    /// Shows the gradients that may be other than 0, a block or a row at a time: to be measured or clipped.
    pub(crate) fn visit_pieces(&mut self, visit: &mut dyn FnMut(&mut [f32])) {
        if self
            .learnable
            .iter()
            .all(|table| table.read.listed().is_none())
        {
            return self.visit_gradients(visit);
        }
        let mut tables = std::mem::take(&mut self.gradients.tables);
        self.visit_gradients(visit);
        for (table, gradients) in self.learnable.iter().zip(&mut tables) {
            let width = table.row_width().unwrap_or(0);
            match table.read.listed() {
                None => visit(gradients),
                Some(rows) => rows.iter().for_each(|&row| {
                    visit(&mut gradients[row as usize * width..][..width]);
                }),
            }
        }
        self.gradients.tables = tables;
    }

    /// Shows the gradients of every block, in the same order as their parameters.
    pub(crate) fn visit_gradients(&mut self, visit: &mut dyn FnMut(&mut [f32])) {
        for unit in self.units.iter_mut().filter(|u| u.twin_of.is_none()) {
            visit(unit.network.gradients_mut());
        }
        (self.gradients.tables.iter_mut()).for_each(|gradients| visit(gradients));
        for host in self.hosts.iter_mut().flatten() {
            host.visit_parameters(&mut |_, _, gradients| visit(gradients));
        }
    }

    /// The named tensors inside a block of parameters, if it is a network's.
    pub(crate) fn tensors(&self, block: &str) -> Option<&[Tensor]> {
        let unit = self.units.iter().find(|u| u.name == block)?;
        Some(unit.network.tensors())
    }

    /// The shape of a block of parameters that is not a network's.
    pub fn shape(&self, block: &str) -> Option<&[usize]> {
        let table = self.learnable.iter().find(|t| t.name == block)?;
        Some(&table.shape)
    }

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
                // Of a sort without individuals there is nothing to keep.
                None if values.is_empty() => {}
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
