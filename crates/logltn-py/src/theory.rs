//! A theory, as Python sees it.

use logltn::theory::{ArgumentSort, SortKind};
use logltn::{Diagnostics, Labels, Source};
use pyo3::prelude::*;

use crate::error::{Failure, guarded, warn};

/// A theory, and its text for when the labels of its data sorts are known.
#[pyclass(frozen, module = "logltn._native")]
pub struct Theory {
    pub source: Source,
    theory: logltn::Theory,
    /// Names in it may be labels that the data will give.
    open: bool,
}

/// A name and, for each of its parts, name and type.
type Signature = (String, Vec<(String, String)>);

#[pymethods]
impl Theory {
    #[new]
    fn new(py: Python<'_>, text: String, name: String) -> PyResult<Theory> {
        guarded(py, || {
            let source = Source::new(name, text);
            let mut found = Diagnostics::new();
            let theory = logltn::Theory::parse_as_far_as_possible(
                source.clone(),
                &Labels::default(),
                &mut found,
            );
            if !found.has_errors() {
                warn(py, &found)?;
                let open = false;
                return Ok(Theory {
                    source,
                    theory,
                    open,
                });
            }
            // An unknown name may be a label that comes with the data.
            let mut labels = Labels::default();
            for sort in theory.sorts.iter().filter(|s| s.kind == SortKind::Data) {
                labels.insert_unreadable(&sort.name);
            }
            let mut still = Diagnostics::new();
            let theory =
                logltn::Theory::parse_as_far_as_possible(source.clone(), &labels, &mut still);
            if still.has_errors() {
                return Err(Failure::Input(found));
            }
            warn(py, &still)?;
            let open = true;
            Ok(Theory {
                source,
                theory,
                open,
            })
        })
    }

    fn __str__(&self, py: Python<'_>) -> PyResult<String> {
        guarded(py, || match self.open {
            // Printing it needs to know all names.
            true => Ok(self.source.text().to_string()),
            false => Ok(self.theory.to_string()),
        })
    }

    /// The text as it was given, and its name.
    #[getter]
    fn source(&self) -> (&str, &str) {
        (self.source.text(), self.source.name())
    }

    /// Name, kind (`data`, `range` or `labels`), labels or first and last integer.
    #[getter]
    fn sorts(&self) -> Vec<(String, &'static str, Vec<String>)> {
        let sort = |s: &logltn::theory::Sort| match s.kind {
            SortKind::Data => (s.name.clone(), "data", s.labels.clone()),
            SortKind::Range(low, high) => {
                let ends = vec![low.to_string(), high.to_string()];
                (s.name.clone(), "range", ends)
            }
            SortKind::Labels => (s.name.clone(), "labels", s.labels.clone()),
        };
        self.theory.sorts.iter().map(sort).collect()
    }

    #[getter]
    fn tables(&self) -> Vec<Signature> {
        let theory = &self.theory;
        let column = |c: &logltn::theory::Column| {
            (c.name.clone(), theory.column_sort_name(c.sort).to_string())
        };
        (theory.tables.iter())
            .map(|t| (t.name.clone(), t.columns.iter().map(column).collect()))
            .collect()
    }

    /// Name and sorts of arguments.
    #[getter]
    fn predicates(&self) -> Vec<(String, Vec<String>)> {
        let predicates = self.theory.predicates.iter();
        predicates
            .map(|p| (p.name.clone(), self.names(&p.arguments)))
            .collect()
    }

    /// Name, sorts of arguments, sort of the value.
    #[getter]
    fn functions(&self) -> Vec<(String, Vec<String>, String)> {
        let functions = self.theory.functions.iter();
        functions
            .map(|f| {
                let result = self.theory.argument_sort_name(&f.result);
                (f.name.clone(), self.names(&f.arguments), result)
            })
            .collect()
    }

    #[getter]
    fn constants(&self) -> Vec<(String, String)> {
        let constants = self.theory.constants.iter();
        constants
            .map(|c| (c.name.clone(), self.theory[c.sort].name.clone()))
            .collect()
    }

    #[getter]
    fn definitions(&self) -> Vec<String> {
        let definitions = self.theory.definitions.iter();
        definitions.map(|d| d.name().to_string()).collect()
    }

    #[getter]
    fn params(&self) -> Vec<String> {
        self.theory.params.iter().map(|p| p.name.clone()).collect()
    }

    /// Name, weight and formula; one entry for a family.
    #[getter]
    fn axioms(&self) -> Vec<(String, f64, String)> {
        let theory = &self.theory;
        (theory.axioms.iter())
            .map(|a| {
                let text = match self.open {
                    true => self.source.slice(a.formula.span).to_string(),
                    false => theory.show(a, &a.formula),
                };
                (a.name.clone(), a.weight, text)
            })
            .collect()
    }

    /// By axiom, its variables with their sorts.
    #[getter]
    fn variables(&self) -> Vec<Signature> {
        let theory = &self.theory;
        let variable = |v: &logltn::theory::Variable| {
            (v.name.clone(), theory.column_sort_name(v.sort).to_string())
        };
        (theory.axioms.iter())
            .map(|a| (a.name.clone(), a.variables.iter().map(variable).collect()))
            .collect()
    }

    /// The sorts whose features guards measure distances in, where individuals of other sorts have these names.
    fn measured(
        &self,
        py: Python<'_>,
        labels: Vec<(String, Vec<String>)>,
    ) -> PyResult<Vec<String>> {
        guarded(py, || {
            let measured = |theory: &logltn::Theory| -> Vec<String> {
                let found = logltn_learn::distances(theory);
                let sorts = found.into_iter().flat_map(|d| d.sorts);
                sorts.map(|s| theory[s].name.clone()).collect()
            };
            if !self.open {
                return Ok(measured(&self.theory));
            }
            // An axiom that names an individual cannot be resolved without it.
            let mut names = Labels::default();
            for (sort, own) in labels {
                names.insert(&sort, own);
            }
            let mut found = Diagnostics::new();
            let source = self.source.clone();
            let theory = logltn::Theory::parse_as_far_as_possible(source, &names, &mut found);
            Ok(measured(&theory))
        })
    }
}

impl Theory {
    fn names(&self, sorts: &[ArgumentSort]) -> Vec<String> {
        let sorts = sorts.iter();
        sorts.map(|s| self.theory.argument_sort_name(s)).collect()
    }
}
