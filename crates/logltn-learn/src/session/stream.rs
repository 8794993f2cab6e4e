//! Rows of tables, and sizes of sorts, that come with each call.

use std::collections::BTreeMap;

use logltn::theory::{SortId, SymbolKind, TableId};
use logltn::{ColumnData, Diagnostics, Engine, Precision};

use super::Session;

/// What came last.
#[derive(Clone, Debug, Default)]
pub(crate) struct Streamed {
    sizes: BTreeMap<SortId, usize>,
    rows: BTreeMap<TableId, Vec<ColumnData>>,
}

impl Streamed {
    /// Whether nothing has come yet.
    pub fn is_empty(&self) -> bool {
        self.sizes.is_empty() && self.rows.is_empty()
    }

    /// Gives all of it to an engine, if there is something.
    pub fn give<T: Precision>(&self, engine: &mut Engine<T>) -> Result<(), Diagnostics> {
        if self.is_empty() {
            return Ok(());
        }
        let sizes: Vec<(SortId, usize)> = self.sizes.iter().map(|(s, n)| (*s, *n)).collect();
        let rows = self.rows.iter().map(|(t, columns)| (*t, columns.clone()));
        engine.stream(&sizes, rows.collect())
    }
}

impl Session {
    /// Gives what comes with each call: how many individuals the sorts have that were said to be
    /// [`streamed`](crate::Individuals::streamed), and the rows of the tables that were
    /// ([`Builder::streamed`](crate::Builder::streamed)). What is not given stays. The next step, and every question
    /// until something else comes, is about these. They are not part of the session's state.
    ///
    /// ```
    /// # use logltn::{ColumnData, Diagnostics, Output, Request};
    /// # use logltn_learn::{Grounding, Individuals, Session};
    /// # struct Zero;
    /// # impl Grounding for Zero {
    /// #     fn forward(&mut self, _: &Request, numbers: &mut [f32]) -> Result<(), Diagnostics> { Ok(numbers.fill(0.0)) }
    /// #     fn backward(&mut self, _: &Request, _: &[f32]) {}
    /// # }
    /// let mut session = Session::builder("
    ///         sort Image  sort Digit = 0..9  table sums(x: Image, y: Image, n: Int)  predicate digit(Image, Digit)
    ///         axiom addition: forall (x, y, n) in sums. exists a, b: Digit where a + b = n. digit(x, a) and digit(y, b)
    ///     ")
    ///     .sort("Image", Individuals::streamed())
    ///     .streamed("sums")
    ///     .host("digit", Zero, Output::softmax())
    ///     .steps(1000)
    ///     .build()?;
    /// let individuals = |of: [u32; 2]| ColumnData::Individuals(of.to_vec());
    /// let rows = vec![individuals([0, 2]), individuals([1, 3]), ColumnData::Int(vec![7, 12])];
    /// session.stream(&[("Image", 4)], [("sums", rows)])?;
    /// assert_eq!(session.requests()[0].individuals(), [0, 1, 2, 3]);
    /// let step = session.step()?;
    /// # assert!(step.loss.is_finite());
    /// # Ok::<(), Diagnostics>(())
    /// ```
    ///
    /// # Errors
    /// If something does not fit, or was not declared to come with a call. Nothing is set then: pass all of it
    /// again.
    pub fn stream<'n>(
        &mut self,
        sizes: &[(&str, usize)],
        rows: impl IntoIterator<Item = (&'n str, Vec<ColumnData>)>,
    ) -> Result<(), Diagnostics> {
        let theory = self.knowledge.theory();
        let mut streamed = self.streamed.clone();
        for (name, size) in sizes {
            let id = (theory.sort(name)).ok_or_else(|| theory.unknown(SymbolKind::Sort, name))?;
            streamed.sizes.insert(id, *size);
        }
        for (name, columns) in rows {
            let id = (theory.table(name)).ok_or_else(|| theory.unknown(SymbolKind::Table, name))?;
            streamed.rows.insert(id, columns);
        }
        let mut phases = self.phases.iter_mut();
        let given = phases.try_for_each(|phase| streamed.give(&mut phase.engine));
        // The requests are others.
        self.attached = None;
        if given.is_err() {
            self.streamed = Streamed::default();
            return given;
        }
        self.streamed = streamed;
        let phase = self.phase();
        self.model
            .attach(&self.knowledge, &self.phases[phase].engine)?;
        self.attached = Some(phase);
        self.optimizers.cover(&mut self.model);
        Ok(())
    }
}
