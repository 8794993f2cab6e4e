//! Classes that have collapsed: the labels are learnt, and everything without a label is of one class.
//!
//! Rules that ask individuals to agree (`forall (x, y) in links. exists k: Class. class(x, k) and class(y, k)`) are truest
//! where everybody is alike. A network can know its few labels by heart and obey them everywhere else.

use std::sync::Arc;

use logltn::theory::{ArgumentSort, Axiom, Formula, FormulaKind, PredicateId};
use logltn::{Code, ColumnData, Diagnostic, Diagnostics, OutputKind};

use super::Session;
use crate::axioms;
use crate::degrees::largest;
use crate::labels::{Labels, LabelsOf};

/// Fewer individuals without a label say nothing.
const FEWEST: usize = 10;
/// This many are looked at; of more, every second, or every third.
const MOST: usize = 100_000;

impl Session {
    /// What to say after a training in which the labels of a predicate hold, and nearly all individuals that have none are
    /// of one class, although the labels are of several.
    ///
    /// # Errors
    /// If a network cannot be run.
    pub(crate) fn about_collapsed(&mut self) -> Result<Vec<Diagnostic>, Diagnostics> {
        let theory = Arc::clone(self.knowledge.data.theory());
        let all = Labels::all(&theory);
        let mut said = Vec::new();
        for labels in &all {
            let LabelsOf::Predicate(predicate) = labels.of else {
                continue;
            };
            let output = &self.knowledge.outputs[predicate];
            let others: Vec<&Axiom> = (theory.axioms.iter().enumerate())
                .filter(|(i, _)| all.iter().all(|labels| labels.axiom != *i))
                .map(|(_, axiom)| axiom)
                .filter(|axiom| self.counts(axiom) && speaks_of(&axiom.formula, predicate))
                .collect();
            let counts = self.counts(&theory.axioms[labels.axiom]);
            if counts && output.kind == OutputKind::Softmax && !others.is_empty() {
                said.extend(self.collapsed(labels, predicate, &others)?);
            }
        }
        Ok(said)
    }

    /// Whether the manifest leaves it a weight.
    fn counts(&self, axiom: &Axiom) -> bool {
        let mut named = self
            .axioms
            .iter()
            .filter(|a| axioms::is_named(&a.name, &axiom.name));
        named.any(|a| a.weight > 0.0)
    }

    fn collapsed(
        &mut self,
        labels: &Labels,
        id: PredicateId,
        others: &[&Axiom],
    ) -> Result<Option<Diagnostic>, Diagnostics> {
        let theory = Arc::clone(self.knowledge.data.theory());
        let predicate = &theory[id];
        let [ArgumentSort::Sort(sort), ArgumentSort::Sort(class)] = predicate.arguments[..] else {
            return Ok(None);
        };
        let Some(table) = self.knowledge.data.table(labels.table).cloned() else {
            return Ok(None);
        };
        let [ColumnData::Individuals(who), ColumnData::Individuals(what)] = &table.columns[..]
        else {
            return Ok(None);
        };
        let size = self.knowledge.data.size(sort);
        let classes = self.knowledge.data.size(class);
        let mut labelled = vec![false; size];
        who.iter().for_each(|i| labelled[*i as usize] = true);
        let rest: Vec<u32> = (0..size as u32)
            .filter(|i| !labelled[*i as usize])
            .collect();
        if rest.len() < FEWEST || who.is_empty() {
            return Ok(None);
        }
        let mut classes_of = |individuals: &[u32]| -> Option<Vec<usize>> {
            let numbers = self.model.predict(id, individuals, 1).ok()?;
            Some(numbers.chunks_exact(classes).map(largest).collect())
        };
        let some: Vec<u32> = rest
            .iter()
            .copied()
            .step_by(rest.len().div_ceil(MOST))
            .collect();
        let (Some(learnt), Some(found)) = (classes_of(who), classes_of(&some)) else {
            return Ok(None); // no network of ours
        };
        let right = learnt.iter().zip(what).filter(|(a, b)| **a == **b as usize);
        let labels_hold = 10 * right.count() >= 9 * who.len();
        let (most, count) = most_frequent(&found, classes);
        let known = what.iter().filter(|k| **k as usize == most).count();
        // 95 of 100, where at most half of the labels say so.
        if !labels_hold || 20 * count < 19 * found.len() || 2 * known > what.len() {
            return Ok(None);
        }
        let (name, kind) = (&theory[sort].name, &theory[class].name);
        let axiom = &theory.axioms[labels.axiom];
        let others: Vec<String> = others
            .iter()
            .take(3)
            .map(|a| format!("`{}`", a.name))
            .collect();
        let message = format!(
            "`{}` predicts `{}` for {} of the {} individuals of `{name}` without a label",
            predicate.name,
            theory[class].individual_name(most),
            match count == found.len() {
                true => "all".to_string(),
                false => format!("{:.0} %", 100.0 * count as f64 / found.len() as f64),
            },
            rest.len(),
        );
        let where_ = format!("{} of the {} labels are of this class", known, what.len());
        Ok(Some(
            Diagnostic::warning(Code::ClassesCollapsed, message)
                .at(&theory.source, axiom.name_span, where_)
                .note(format!(
                    "the labels are memorised, and {} {} most true when all individuals are alike",
                    others.join(", "),
                    if others.len() == 1 { "is" } else { "are" },
                ))
                .help(format!(
                    "three things together prevent it (docs/semi-supervised.md): say that every class occurs, `axiom every: \
                     forall k: {kind}. exists x: {name}. {0}(x, k)`; keep `alpha` at 1; and begin with the labels alone, a phase of \
                     `{1}` before one of all axioms. Or ask for agreement class by class, \
                     `forall k: {kind}. {0}(x, k) <-> {0}(y, k)`, which undecided individuals satisfy too",
                    predicate.name, axiom.name
                )),
        ))
    }
}

fn speaks_of(formula: &Formula, predicate: PredicateId) -> bool {
    let is_it = |part: &Formula| matches!(part.kind, FormulaKind::Atom { predicate: p, .. } if p == predicate);
    formula.parts().any(is_it)
}

/// The class that most have, the first of several, and how many.
fn most_frequent(found: &[usize], classes: usize) -> (usize, usize) {
    let mut counts = vec![0; classes];
    found.iter().for_each(|class| counts[*class] += 1);
    let most = largest(&counts);
    (most, counts[most])
}
