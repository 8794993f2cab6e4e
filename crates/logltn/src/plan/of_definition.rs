//! The question for the value of a definition at some tuples: a `find` over a table that has them as its
//! rows.

use std::sync::Arc;

use super::{Plan, PlanOptions};
use crate::data::{ColumnData, Data};
use crate::diagnostic::Diagnostics;
use crate::output::Output;
use crate::semantics::Semantics;
use crate::source::Span;
use crate::theory::*;

impl Plan {
    /// A plan that asks for the value of a definition at some tuples of individuals, given one after the other. A
    /// definition without parameters has one tuple. [`Engine::truths_in_order`](crate::Engine::truths_in_order)
    /// answers.
    ///
    /// ```
    /// use logltn::{Data, Engine, Output, Parameters, Plan, Semantics, Source, Theory};
    /// let theory = Theory::parse(Source::new("t", "
    ///     sort S = {a, b}  predicate P(S)
    ///     define both(x, y: S): P(x) and P(y)
    ///     axiom one: both(a, b)"))?;
    /// let (data, stable) = (Data::new(&theory), Semantics::named("stable").unwrap());
    /// let both = theory.definition("both").unwrap();
    /// let plan = Plan::for_definition(&data, &[Output::truth()], &stable, both, &[1, 1, 0, 1], &Default::default())?;
    /// let mut engine = Engine::<f64>::new(plan);
    /// engine.numbers_mut(0).copy_from_slice(&[0.25, 0.5]);
    /// let truths = engine.truths_in_order(&Parameters::default())?;
    /// assert!((truths[0] - 0.25).abs() < 1e-3 && (truths[1] - 0.125).abs() < 1e-3);
    /// # Ok::<(), logltn::Diagnostics>(())
    /// ```
    ///
    /// # Errors
    /// As [`Plan::new`].
    pub fn for_definition(
        data: &Data,
        outputs: &[Output],
        semantics: &Semantics,
        definition: DefinitionId,
        tuples: &[u32],
        options: &PlanOptions,
    ) -> Result<Plan, Diagnostics> {
        let defined = &data.theory()[definition];
        let parameters = defined.parameter_ids();
        let (data, table) = with_tuples(data, defined, tuples);
        let arguments = parameters.iter().map(|&p| Term {
            kind: TermKind::Variable(p),
            span: Span::default(),
        });
        let mut formula = Formula::new(
            FormulaKind::Use {
                definition,
                arguments: arguments.collect(),
            },
            Span::default(),
        );
        let is_open = !parameters.is_empty();
        if is_open {
            formula.kind = FormulaKind::Quantified {
                quantifier: Quantifier::Forall,
                binding: Binding::Rows(table, parameters),
                guard: None,
                body: Box::new(formula.clone()),
            };
        }
        let mut variables = defined.parameters().to_vec();
        for variable in &mut variables {
            variable.bound_by = BoundBy::Quantifier(Quantifier::Forall);
        }
        let query = Query {
            axiom: Axiom {
                name: defined.name().to_string(),
                weight: 1.0,
                variables,
                family: None,
                formula,
                products: Vec::new(),
                name_span: Span::default(),
                span: Span::default(),
            },
            is_open,
            source: data.theory().source.clone(),
        };
        Plan::for_query(&data, outputs, semantics, &query, options)
    }
}

/// The same data with one more table.
fn with_tuples(data: &Data, definition: &Definition, tuples: &[u32]) -> (Data, TableId) {
    let mut theory = Theory::clone(data.theory());
    let parameters = definition.parameters();
    theory.tables.push(Table {
        // No name of a theory has a space.
        name: format!("tuples of {}", definition.name()),
        columns: (parameters.iter())
            .map(|parameter| Column {
                name: parameter.name.clone(),
                sort: parameter.sort,
                span: Span::default(),
            })
            .collect(),
        span: Span::default(),
    });
    let arity = parameters.len();
    let column = |at: usize| tuples.iter().skip(at).step_by(arity).copied().collect();
    let columns = (0..arity).map(|at| ColumnData::Individuals(column(at)));
    let table = TableId(data.theory().tables.len() as u32);
    let data = data.with_more_rows(Arc::new(theory), columns.collect());
    (data, table)
}
