//! The derivatives of a formula at the bindings that are shown, by its literals.

use std::collections::BTreeMap;

use rustc_hash::FxHashMap;

use super::AT_ONCE;
use super::explainer::{At, Explainer, Inside, LiteralPlace};
use crate::diagnostic::Diagnostic;
use crate::plan::normal::Normal;
use crate::vector::Real;

/// By binding that is shown, the derivatives by literals.
pub(super) type Blames = Vec<FxHashMap<LiteralPlace, f64>>;

/// Derivatives by tuples of definitions that are opened, by the step that computes them: those computed last come
/// first. Each is passed on once, however often the tuple is used.
type Pending = BTreeMap<(usize, bool), BTreeMap<(LiteralPlace, usize), f64>>;

impl<'a, T: Real> Explainer<'a, T> {
    pub fn blames(
        &self,
        inside: &Inside<'a>,
        formula: &Normal,
        bindings: Vec<At>,
    ) -> Result<Blames, Diagnostic> {
        let mut blames = vec![FxHashMap::default(); bindings.len()];
        let mut pending = Pending::new();
        let ones = vec![1.0; bindings.len()];
        self.blame(
            inside,
            formula,
            bindings,
            &ones,
            (&mut blames, &mut pending),
        )?;
        while let Some((_, tuples)) = pending.pop_last() {
            let tuples: Vec<_> = tuples.into_iter().collect();
            for some in tuples.chunks(AT_ONCE) {
                let mut formula = None;
                let (bindings, by): (Vec<At>, Vec<f64>) = (some.iter())
                    .filter_map(|&((place, shown), by)| {
                        let opened = self.open(place, inside.layer.group())?;
                        formula = Some((opened.inside, opened.formula));
                        let env = opened.env;
                        Some((At { shown, env }, by))
                    })
                    .unzip();
                if let Some((inside, formula)) = formula {
                    self.blame(&inside, formula, bindings, &by, (&mut blames, &mut pending))?;
                }
            }
        }
        Ok(blames)
    }

    /// Adds the derivatives of a part, given those by its values.
    fn blame(
        &self,
        inside: &Inside<'a>,
        part: &Normal,
        bindings: Vec<At>,
        by: &[f64],
        (blames, pending): (&mut Blames, &mut Pending),
    ) -> Result<(), Diagnostic> {
        let mut probe = self.probe(inside, part, bindings)?;
        for (at, &by) in by.iter().enumerate().filter(|(_, by)| **by != 0.0) {
            let shown = probe.bindings[at].shown;
            probe.derivatives(at, by, &mut |place, by| {
                if !self.is_opened(place.0) {
                    *blames[shown].entry(place).or_default() += by;
                } else if let Some(opened) = self.open(place, inside.layer.group()) {
                    let of_step = pending.entry((opened.step, place.1)).or_default();
                    *of_step.entry((place, shown)).or_default() += by;
                }
            });
        }
        Ok(())
    }
}
