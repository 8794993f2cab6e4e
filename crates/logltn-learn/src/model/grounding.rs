//! The one place where logic and other people's networks meet.

use logltn::{Diagnostics, Request};

/// What a program puts behind a predicate when the networks of this crate are not enough: argument rows in,
/// numbers out; gradients in, parameters changed by whoever owns them.
///
/// The example learns one logit per individual, without any network.
///
/// ```
/// use logltn::{Diagnostics, Request};
/// use logltn_learn::Grounding;
///
/// #[derive(Default)]
/// struct Table { logits: Vec<f32>, gradients: Vec<f32> }
///
/// impl Grounding for Table {
///     fn forward(&mut self, request: &Request, numbers: &mut [f32]) -> Result<(), Diagnostics> {
///         for (row, number) in numbers.iter_mut().enumerate() {
///             *number = self.logits[request.row(row)[0] as usize];
///         }
///         Ok(())
///     }
///     fn backward(&mut self, request: &Request, by_numbers: &[f32]) {
///         for (row, by) in by_numbers.iter().enumerate() {
///             self.gradients[request.row(row)[0] as usize] += by;
///         }
///     }
///     fn visit_parameters(&mut self, visit: &mut dyn FnMut(&str, &mut [f32], &mut [f32])) {
///         visit("logits", &mut self.logits, &mut self.gradients);
///     }
/// }
/// ```
pub trait Grounding: Send {
    /// Answers a request: `request.width` numbers for each of its rows, one row after the other.
    fn forward(&mut self, request: &Request, numbers: &mut [f32]) -> Result<(), Diagnostics>;

    /// Takes the derivative of the loss by each of these numbers, and adds to its gradients what follows.
    /// Called after [`Grounding::forward`] with the same request.
    fn backward(&mut self, request: &Request, by_numbers: &[f32]);

    /// Shows each block of parameters, with a name and its gradients, always in the same order: the
    /// optimizer changes the former, and sets the latter to 0. Whoever trains its parameters itself shows none.
    #[allow(clippy::type_complexity)] // a name would hide what the closure takes
    fn visit_parameters(&mut self, visit: &mut dyn FnMut(&str, &mut [f32], &mut [f32])) {
        let _ = visit;
    }
}
