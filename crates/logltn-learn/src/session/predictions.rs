//! The values of a session for individuals.

use logltn::Diagnostics;

use super::Session;
use crate::predict::Asked;
use crate::predictions::Predictions;

impl Session {
    /// What a predicate or a function says of some rows of individuals, as truth degrees, classes or values; without
    /// arguments there is one row. The argument that picks the class is left out.
    ///
    /// ```
    /// use logltn::Output;
    /// use logltn_learn::{Answers, Session};
    ///
    /// let mut session = Session::builder("sort P  sort C = {a, b}  predicate is(P, C)  axiom x: forall p: P. is(p, a)")
    ///     .sort("P", 2)
    ///     .numbers("is", vec![3.0, 1.0, -1.0, 1.0], Output::softmax())
    ///     .steps(1)
    ///     .build()?;
    /// let said = session.predictions("is", &[0, 1])?;
    /// let classes: Vec<usize> = said.classes().map(|(class, _)| class).collect();
    /// assert_eq!(classes, [0, 1]);
    /// assert!((said.numbers[0] - 1.0 / (1.0 + (-2.0_f64).exp())).abs() < 1e-12);
    /// # Ok::<(), logltn::Diagnostics>(())
    /// ```
    ///
    /// # Errors
    /// If there is no such symbol or individual, or if it can only be queried at the rows of the axioms.
    pub fn predictions(&mut self, symbol: &str, rows: &[u32]) -> Result<Predictions, Diagnostics> {
        let asked = Asked::new(&self.knowledge, symbol)?;
        // The model's rows are those of the question now.
        self.attached = None;
        asked.predict(&self.knowledge, &mut self.model, rows, &[])
    }
}
