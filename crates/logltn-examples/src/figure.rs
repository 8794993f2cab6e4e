//! Figures of ours beside those that LTN and LTNtorch keep in their notebooks.

use logltn::Diagnostics;

use crate::presentation::{Table, degree};
use crate::trained_example::Learnt;

/// A figure of a trained example.
#[derive(Clone, Copy, Debug)]
pub struct Figure {
    /// What it is of.
    pub of: Of,
    /// What LTN's notebook has.
    pub ltn: Option<f64>,
    /// What LTNtorch's notebook has.
    pub ltntorch: Option<f64>,
}

/// What a figure is of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Of {
    /// A metric of the manifest.
    Metric(&'static str),
    /// The satisfaction of all axioms with LTN's operators, also of what was trained in log space.
    Satisfaction,
    /// The truth of one axiom with LTN's operators: a question, if its weight is 0.
    Axiom(&'static str),
}

impl Figure {
    pub(crate) const fn new(of: Of, ltn: Option<f64>, ltntorch: Option<f64>) -> Figure {
        Figure { of, ltn, ltntorch }
    }
}

/// All figures with ours.
pub(crate) fn measured(
    figures: &[Figure],
    learnt: &Learnt,
) -> Result<Vec<(String, Figure, f64)>, Diagnostics> {
    let (now, metrics) = learnt.in_truth_space()?;
    let mut found = Vec::new();
    for figure in figures {
        let (name, ours) = match figure.of {
            Of::Metric(name) => {
                let value = metrics.iter().find(|(metric, _)| metric == name);
                (name.to_string(), value.map(|(_, value)| *value))
            }
            Of::Satisfaction => ("satisfaction".to_string(), Some(now.sat)),
            Of::Axiom(name) => {
                let place = now.axioms.iter().position(|axiom| axiom.name == name);
                (format!("truth of `{name}`"), place.map(|i| now.truths[i]))
            }
        };
        found.extend(ours.map(|ours| (name, *figure, ours)));
    }
    Ok(found)
}

/// The same as a table.
pub(crate) fn table(figures: &[Figure], learnt: &Learnt) -> Result<Table, Diagnostics> {
    let title =
        "with LTN's operators, beside the stored outputs of LTN and LTNtorch (of their data)";
    let mut table = Table::new(title, ["", "here", "LTN", "LTNtorch"]);
    let theirs = |value: Option<f64>| value.map_or("–".to_string(), degree);
    for (name, figure, ours) in measured(figures, learnt)? {
        table.row([
            name,
            degree(ours),
            theirs(figure.ltn),
            theirs(figure.ltntorch),
        ]);
    }
    Ok(table)
}
