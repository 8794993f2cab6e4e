//! Quantifiers that see only some of a sort's individuals: the same theory with the sample as an additional
//! condition.
//!
//! The sample is a table whose rows come with each call, and `forall x: S where G` becomes `forall x: S where x is in
//! the sample and G`. So the planner starts from the sample, guards are tested only for individuals in it, and nothing
//! is as large as the sort. Tables with batches, where such a quantifier is under their rows, come with the call too:
//! their guards are then listed only for the rows of the batch.
//!
//! An axiom can be sampled by its bindings, too: those of its outermost `forall` are listed once, as the planner lists guards, and
//! become the rows of a table of which some come with each call.

use std::sync::Arc;

use crate::data::{ColumnData, Data};
use crate::diagnostic::{Code, Diagnostic, Diagnostics};
use crate::guard::{Join, Scope, TableIndexes, conjuncts, tables};
use crate::memory;
use crate::plan::PlanOptions;
use crate::recursion::deep;
use crate::semantics::Semantics;
use crate::source::Span;
use crate::theory::*;

/// What a training step sees: see [`Data::sampled`].
#[derive(Clone, Debug)]
pub struct Sampled {
    /// The data, with a theory whose quantifiers range over samples.
    pub data: Data,
    /// For each sort, the table of the sample: one column, to be [streamed](crate::Engine::stream).
    pub samples: Vec<(SortId, TableId)>,
    /// For each table with batches that is used together with a sample, the table of the batch's rows, likewise.
    pub batches: Vec<(TableId, TableId)>,
    /// The axioms that see samples, or rows that come with the call.
    pub concerned: Vec<bool>,
    /// Bindings that are left out because of the samples, to be counted: the
    /// [groundings](crate::PlannedAxiom::groundings) of these axioms in the default semantics, each of which has the
    /// name of the one that it counts for. Empty if nothing can be left out.
    pub left_out: Option<Data>,
    /// For each axiom that is sampled by its bindings, the table of the sample, likewise.
    pub bindings: Vec<Bindings>,
}

/// The bindings of an axiom's outermost `forall`.
#[derive(Clone, Debug)]
pub struct Bindings {
    /// The table of the sample.
    pub table: TableId,
    /// All bindings, one column for each variable.
    pub all: Vec<ColumnData>,
    /// The size of a sample.
    pub count: usize,
}

/// Whether a quantifier keeps its written kind in evaluation.
#[derive(Clone, Copy, PartialEq)]
enum Sense {
    AsWritten,
    Turned,
    Both,
}

impl Sense {
    fn turned(self) -> Sense {
        match self {
            Sense::AsWritten => Sense::Turned,
            Sense::Turned => Sense::AsWritten,
            Sense::Both => Sense::Both,
        }
    }
}

impl Theory {
    /// Whether the rows of a table are used only by outermost `forall`s over it: then its axioms can be evaluated for
    /// some of the rows at a time, and the results [merged](crate::Gathered).
    ///
    /// ```
    /// # use logltn::{Source, Theory};
    /// let theory = Theory::parse(Source::new("t", "
    ///     sort P  table a(x: P)  table b(x: P)  table c(x: P)  predicate Q(P)
    ///     axiom all: forall (x) in a. Q(x)
    ///     axiom some: forall (x) in a where not b(x). exists (y) in c. Q(x) or Q(y)")).unwrap();
    /// let only = |name| theory.is_only_gone_through(theory.table(name).unwrap());
    /// assert_eq!([only("a"), only("b"), only("c")], [true, false, false]);
    /// ```
    pub fn is_only_gone_through(&self, table: TableId) -> bool {
        let is_nowhere = |formula: &Formula| {
            formula
                .parts()
                .enumerate()
                .all(|(at, part)| match &part.kind {
                    FormulaKind::Quantified {
                        quantifier,
                        binding,
                        guard,
                        ..
                    } => {
                        let bound = matches!(binding, Binding::Rows(own, _) if *own == table);
                        let fits = at == 0 && *quantifier == Quantifier::Forall;
                        let mut guards = guard.iter().flat_map(tables);
                        (fits || !bound) && guards.all(|other| other != table)
                    }
                    _ => true,
                })
        };
        let heads = self.axioms.iter().filter_map(|axiom| axiom.family.as_ref());
        let mut guards = heads.filter_map(|head| head.guard.as_ref());
        !guards.any(|guard| tables(guard).contains(&table))
            && !self.is_in_product(table)
            && self.axioms.iter().all(|axiom| is_nowhere(&axiom.formula))
    }
}

/// A quantifier that leaves out the bindings for which an `exists` in its body is empty because of the sample alone.
struct Leaving {
    /// The first variable that it binds.
    variable: VarId,
    /// Exactly the bindings that it leaves out.
    guard: Guard,
}

struct Sampler<'a> {
    /// The variables of the current axiom.
    leaving: Vec<Leaving>,
    theory: &'a Theory,
    data: &'a Data,
    tables: Vec<Table>,
    samples: Vec<(SortId, TableId)>,
    batches: Vec<(TableId, TableId)>,
    /// Tables whose rows always come with the call.
    large: &'a [TableId],
    /// Whether negations are moved to the atoms before anything is evaluated.
    normal_form: bool,
    /// Whether bindings are left out for any empty `exists`, and nothing is sampled.
    every: bool,
}

impl Data {
    /// The same data where a quantifier leaves out the bindings for which an `exists` in its body is empty, so that
    /// they do not count as false: a sum of 19 for two digits says nothing about the digits.
    ///
    /// ```
    /// # use logltn::{ColumnData, Data, Engine, Output, Plan, Semantics, Source, Theory};
    /// let theory = Theory::parse(Source::new("t", "
    ///     sort Digit = 0..9  table sums(n: Int)  predicate p(Digit)
    ///     axiom a: forall (n) in sums. exists d: Digit where d = n. p(d)"))?;
    /// let mut data = Data::new(&theory);
    /// data.set_rows("sums", vec![ColumnData::Int(vec![3, 19])])?;
    /// let semantics = Semantics::default();
    /// let truth = |data: &Data| -> Result<f64, logltn::Diagnostics> {
    ///     let mut engine = Engine::<f64>::new(Plan::new(data, &[Output::truth()], &semantics)?);
    ///     engine.numbers_mut(0).fill(1.0);
    ///     Ok(engine.evaluate(&Default::default())?.sat)
    /// };
    /// assert_eq!(truth(&data)?.round(), -50_000.0);
    /// assert!(truth(&data.without_empty(&semantics))?.abs() < 1e-6);
    /// # Ok::<(), logltn::Diagnostics>(())
    /// ```
    pub fn without_empty(&self, semantics: &Semantics) -> Data {
        let mut sampler = Sampler::new(self, &[], semantics, true);
        let mut changed = Theory::clone(self.theory());
        for axiom in &mut changed.axioms {
            let Axiom {
                variables, formula, ..
            } = axiom;
            sampler.formula(formula, variables, Sense::AsWritten, false);
        }
        self.with_theory(Arc::new(changed))
    }

    /// The same data for steps in which quantifiers over some sorts see samples. `all`, `any`, `for` and `exists` in
    /// guards see everyone, and so does an outermost `exists` with a guard: it could be empty, and no quantifier around
    /// it could leave it out.
    ///
    /// An `exists` whose guard keeps some individual, but none of the sample, is left out by the quantifier around it.
    /// Where the semantics moves negations to the atoms, this applies to quantifiers as they are evaluated.
    ///
    /// `axioms`, by their places in the theory, use samples of this many bindings of their outermost `forall` instead
    /// of samples of sorts; an axiom that has no more bindings stays unchanged.
    ///
    /// Of tables that are `large`, with batches and [only gone through](Theory::is_only_gone_through), only the rows of
    /// the batch exist: nothing is planned for the others, and the returned data do not contain them.
    ///
    /// # Errors
    /// If such an axiom begins with no `forall` or is a family, or its bindings cannot be listed.
    pub fn sampled(
        &self,
        sorts: &[SortId],
        axioms: &[(usize, usize)],
        large: &[TableId],
        semantics: &Semantics,
    ) -> Result<Sampled, Diagnostics> {
        let theory = self.theory();
        let mut sampler = Sampler::new(self, large, semantics, false);
        for &sort in sorts {
            let is_part = |p: &&Product| p.parts.contains(&ProductPart::Sort(sort));
            if let Some(product) = theory.products.iter().find(is_part) {
                let message = format!(
                    "sort `{}` is sampled, but a quantifier binds its individuals together with rows of a table",
                    theory[sort].name
                );
                let error = Diagnostic::error(Code::NotStreamed, message);
                return Err(error.at(&theory.source, product.table.span, "").into());
            }
            let column = Column {
                name: "x".to_string(),
                sort: ColumnSort::Sort(sort),
                span: theory[sort].span,
            };
            let name = format!("sample of {}", theory[sort].name);
            let table = sampler.add(name, vec![column], theory[sort].span);
            sampler.samples.push((sort, table));
        }
        let (mut concerned, mut counted) = (Vec::new(), Vec::new());
        let (mut bindings, mut found) = (Vec::new(), Diagnostics::new());
        let mut changed = theory.axioms.clone();
        for &(place, count) in axioms {
            if semantics.exact && self.has_laws_of(&changed[place].name) {
                continue;
            }
            let listed = sampler.list(&mut changed[place], count);
            listed.map_or_else(|error| found.push(error), |list| bindings.extend(list));
        }
        if found.has_errors() {
            return Err(found);
        }
        for (place, axiom) in changed.iter_mut().enumerate() {
            // Quantifiers in definitions see samples too, except in definitions that use themselves.
            let written = theory.written_out(axiom);
            if sampler.concerns(&written) {
                *axiom = written;
            }
            let own = axioms.iter().any(|(sampled, _)| *sampled == place);
            // Samples choose observations, never laws.
            let law = semantics.exact && self.has_laws_of(&axiom.name);
            let concerns = (sampler.concerns(axiom) || own) && !law;
            concerned.push(concerns);
            if concerns {
                let Axiom {
                    variables, formula, ..
                } = axiom;
                sampler.formula(formula, variables, Sense::AsWritten, false);
                let leaving = std::mem::take(&mut sampler.leaving);
                if !leaving.is_empty() {
                    let around = &mut Vec::new();
                    count(axiom, &axiom.formula, &leaving, around, &mut counted);
                }
            }
        }
        let Sampler {
            tables,
            samples,
            batches,
            ..
        } = sampler;
        let of = |axioms: Vec<Axiom>| {
            let theory = Theory {
                tables: tables.clone(),
                axioms,
                ..Theory::clone(theory)
            };
            let mut data = self.with_streamed_tables(Arc::new(theory));
            for &table in large {
                data.leave_out_rows(table);
            }
            data
        };
        Ok(Sampled {
            data: of(changed),
            samples,
            batches,
            bindings,
            concerned,
            left_out: (!counted.is_empty()).then(|| of(counted)),
        })
    }
}

impl<'a> Sampler<'a> {
    fn new(data: &'a Data, large: &'a [TableId], semantics: &Semantics, every: bool) -> Self {
        Sampler {
            leaving: Vec::new(),
            theory: data.theory(),
            data,
            tables: data.theory().tables.clone(),
            samples: Vec::new(),
            batches: Vec::new(),
            large,
            normal_form: semantics.in_log_space(),
            every,
        }
    }

    fn add(&mut self, name: String, columns: Vec<Column>, span: Span) -> TableId {
        self.tables.push(Table {
            name,
            columns,
            span,
        });
        TableId(self.tables.len() as u32 - 1)
    }

    /// Lists the bindings of an axiom's outermost `forall`, if there are more than this many, and lets it range over
    /// a table instead.
    fn list(&mut self, axiom: &mut Axiom, count: usize) -> Result<Option<Bindings>, Diagnostic> {
        let source = &self.theory.source;
        let wrong = |why: &str| {
            let what = format!("axiom `{}` cannot be seen in samples: {why}", axiom.name);
            Diagnostic::error(Code::NothingToSample, what).at(source, axiom.name_span, "")
        };
        if axiom.family.is_some() {
            return Err(wrong("each member of a family has its own bindings"));
        }
        let FormulaKind::Quantified {
            quantifier: Quantifier::Forall,
            binding,
            guard,
            ..
        } = &axiom.formula.kind
        else {
            return Err(wrong("it does not begin with `forall`"));
        };
        let indexes = TableIndexes::default();
        let scope = Scope {
            data: self.data,
            variables: &axiom.variables,
            indexes: &indexes,
        };
        let conditions = guard.as_ref().map(conjuncts).unwrap_or_default();
        let (variables, rows_of) = match binding {
            Binding::Sorts(variables) => (variables, None),
            Binding::Rows(table, variables) => (variables, self.data.table(*table)),
        };
        let width = if rows_of.is_some() {
            1
        } else {
            variables.len()
        };
        let room = PlanOptions::default().memory as usize / (4 * width.max(1));
        let (mut cells, mut found): (Vec<Vec<u32>>, usize) = (vec![Vec::new(); width], 0);
        Join::new(scope, binding, &conditions)
            .run(&mut scope.environment(), &mut |env, row| {
                match rows_of {
                    Some(_) => cells[0].push(row),
                    None => (cells.iter_mut().zip(variables))
                        .for_each(|(cells, v)| cells.push(env[v.index()].code() as u32)),
                }
                found += 1;
                found <= room
            })
            .map_err(|error| scope.diagnose(&error))?;
        if found > room {
            let what = format!(
                "the bindings of axiom `{}` take too much memory",
                axiom.name
            );
            return Err(Diagnostic::error(Code::TooMuchMemory, what)
                .at(source, axiom.name_span, "")
                .help(format!(
                    "a narrower guard, a sample of the sort in place of one of the axiom; {}",
                    memory::allow_more()
                )));
        }
        if found <= count {
            return Ok(None);
        }
        let all = match rows_of {
            Some(table) => (table.columns.iter()).map(|c| c.some(&cells[0])).collect(),
            None => cells.into_iter().map(ColumnData::Individuals).collect(),
        };
        let columns = variables.iter().map(|v| {
            let Variable {
                name, sort, span, ..
            } = axiom[*v].clone();
            Column { name, sort, span }
        });
        let (columns, variables) = (columns.collect(), variables.clone());
        let name = format!("bindings of {}", axiom.name);
        let table = self.add(name, columns, axiom.name_span);
        if let FormulaKind::Quantified { binding, guard, .. } = &mut axiom.formula.kind {
            *binding = Binding::Rows(table, variables);
            *guard = None;
        }
        Ok(Some(Bindings { table, all, count }))
    }

    /// The table of a variable's sample, if its sort has one.
    fn sample(&self, variable: &Variable) -> Option<TableId> {
        let own = |(sort, _): &&(SortId, TableId)| variable.sort == ColumnSort::Sort(*sort);
        Some(self.samples.iter().find(own)?.1)
    }

    /// Whether some quantifier of an axiom will see a sample, or rows that come with the call.
    fn concerns(&self, axiom: &Axiom) -> bool {
        axiom.formula.parts().any(|formula| match &formula.kind {
            FormulaKind::Quantified {
                quantifier,
                binding: Binding::Sorts(variables),
                ..
            } if !quantifier.is_big_connective() => {
                let mut variables = variables.iter();
                variables.any(|v| self.sample(&axiom[*v]).is_some())
            }
            FormulaKind::Quantified {
                binding: Binding::Rows(table, _),
                ..
            } => self.large.contains(table),
            _ => false,
        })
    }

    /// Adds the sample to the guards of a formula. Returns conditions for the quantifier around it (if `inside`): that
    /// nothing is empty because of the sample alone.
    fn formula(
        &mut self,
        formula: &mut Formula,
        variables: &mut Vec<Variable>,
        sense: Sense,
        inside: bool,
    ) -> Vec<Guard> {
        let span = formula.span;
        crate::recursion::deep(|| match &mut formula.kind {
            FormulaKind::Atom { .. } | FormulaKind::Use { .. } => Vec::new(),
            FormulaKind::Not(inner) => self.formula(inner, variables, sense.turned(), inside),
            FormulaKind::And(members) | FormulaKind::Or(members) => (members.iter_mut())
                .flat_map(|member| self.formula(member, variables, sense, inside))
                .collect(),
            FormulaKind::Implies(a, b) => {
                let mut conditions = self.formula(a, variables, sense.turned(), inside);
                conditions.extend(self.formula(b, variables, sense, inside));
                conditions
            }
            FormulaKind::Iff(a, b) => {
                let mut conditions = self.formula(a, variables, Sense::Both, inside);
                conditions.extend(self.formula(b, variables, Sense::Both, inside));
                conditions
            }
            FormulaKind::Quantified {
                quantifier, body, ..
            } if quantifier.is_big_connective() => {
                // Conditions would mention its variables, which are unknown outside.
                self.formula(body, variables, sense, false)
            }
            FormulaKind::Quantified {
                quantifier,
                binding,
                guard,
                body,
            } => {
                let within = self.formula(body, variables, sense, true);
                let is_exists = match (self.normal_form, sense) {
                    (true, Sense::Both) => true,
                    (true, Sense::Turned) => *quantifier != Quantifier::Exists,
                    _ => *quantifier == Quantifier::Exists,
                };
                let mut own: Vec<Guard> = Vec::new();
                match binding {
                    Binding::Rows(table, _) => *table = self.batch(*table),
                    Binding::Sorts(bound) => {
                        for id in &*bound {
                            if let Some(table) = self.sample(&variables[id.index()]) {
                                own.push(member(table, *id, span));
                            }
                        }
                    }
                }
                let before = guard.take();
                let can_be_empty = is_exists && (before.is_some() || !within.is_empty());
                if can_be_empty && !inside {
                    own.clear();
                }
                let sampled = !own.is_empty();
                if !within.is_empty() {
                    let kept = own.iter().cloned().chain(before.clone());
                    let empty = conjunction(within.clone(), span).map(|all| not(all, span));
                    let left = kept.chain(empty).collect();
                    let leaving = conjunction(left, span).zip(binding.variables().first());
                    (self.leaving)
                        .extend(leaving.map(|(guard, &variable)| Leaving { variable, guard }));
                }
                let all: Vec<Guard> = (own.into_iter())
                    .chain(before.clone())
                    .chain(within)
                    .collect();
                let mut conditions = Vec::new();
                if can_be_empty && self.every {
                    conditions.push(exists(binding, all.clone(), variables, span));
                } else if can_be_empty && sampled {
                    let some = exists(binding, all.clone(), variables, span);
                    let none = exists(binding, before.into_iter().collect(), variables, span);
                    conditions.push(Guard::new(GuardKind::Or(vec![some, not(none, span)]), span));
                }
                *guard = conjunction(all, span);
                conditions
            }
        })
    }

    /// The table of a batch's rows, for a table with batches.
    fn batch(&mut self, table: TableId) -> TableId {
        // Tables of samples are not tables of the theory.
        let known = table.index() < self.theory.tables.len() && !self.every;
        if !known || !self.data.table(table).is_some_and(|t| t.batched) {
            return table;
        }
        if let Some((_, known)) = self.batches.iter().find(|(of, _)| *of == table) {
            return *known;
        }
        let declared = self.theory[table].clone();
        let name = format!("batch of {}", declared.name);
        let batch = self.add(name, declared.columns, declared.span);
        self.batches.push((table, batch));
        batch
    }
}

/// Whether a variable is in a sample.
fn member(table: TableId, id: VarId, span: Span) -> Guard {
    let term = Term::new(TermKind::Variable(id), span);
    let cell = Value::new(ValueKind::Individual(term), span);
    Guard::new(GuardKind::Member(table, vec![cell]), span)
}

/// A quantifier for counting: its variables and its guard.
type Around<'f> = (&'f Binding, Option<&'f Guard>);

/// Adds the axioms whose groundings are the bindings that the quantifiers of a formula leave out; `around` are the
/// quantifiers around it.
fn count<'f>(
    axiom: &Axiom,
    formula: &'f Formula,
    leaving: &[Leaving],
    around: &mut Vec<Around<'f>>,
    counted: &mut Vec<Axiom>,
) {
    let span = formula.span;
    let quantified = match &formula.kind {
        FormulaKind::Quantified { binding, guard, .. } => Some((binding, guard.as_ref())),
        _ => None,
    };
    if let Some((binding, guard)) = quantified {
        let own = |l: &&Leaving| binding.variables().first() == Some(&l.variable);
        if let Some(own) = leaving.iter().find(own) {
            let mut body = Formula::new(FormulaKind::And(Vec::new()), span);
            let here = (binding, Some(&own.guard));
            for (binding, guard) in around.iter().copied().chain([here]).rev() {
                body = Formula::new(
                    FormulaKind::Quantified {
                        quantifier: Quantifier::Forall,
                        binding: binding.clone(),
                        guard: guard.cloned(),
                        body: Box::new(body),
                    },
                    span,
                );
            }
            counted.push(Axiom {
                name: axiom.name.clone(),
                weight: 1.0,
                variables: axiom.variables.clone(),
                family: axiom.family.clone(),
                formula: body,
                products: Vec::new(),
                name_span: axiom.name_span,
                span: axiom.span,
            });
        }
        around.push((binding, guard));
    }
    deep(|| {
        for child in formula.children() {
            count(axiom, child, leaving, around, counted);
        }
    });
    if quantified.is_some() {
        around.pop();
    }
}

fn not(guard: Guard, span: Span) -> Guard {
    Guard::new(GuardKind::Not(Box::new(guard)), span)
}

fn conjunction(mut members: Vec<Guard>, span: Span) -> Option<Guard> {
    match members.len() {
        0 | 1 => members.pop(),
        _ => Some(Guard::new(GuardKind::And(members), span)),
    }
}

/// A guard for "some binding passes", with its own variables.
fn exists(
    binding: &Binding,
    conditions: Vec<Guard>,
    variables: &mut Vec<Variable>,
    span: Span,
) -> Guard {
    let mut fresh = |id: &VarId| {
        let mut variable = variables[id.index()].clone();
        variable.bound_by = BoundBy::Guard;
        variables.push(variable);
        VarId(variables.len() as u32 - 1)
    };
    let old = binding.variables().to_vec();
    let new: Vec<VarId> = old.iter().map(&mut fresh).collect();
    let renamed = |id: VarId| {
        let place = old.iter().position(|o| *o == id);
        place.map_or(id, |place| new[place])
    };
    // A quantifier without a guard is never empty.
    let always = Guard::new(GuardKind::And(Vec::new()), span);
    let mut body = conjunction(conditions, span).unwrap_or(always);
    body.visit_mut(&mut |mut part| part.rename(renamed));
    let binding = match binding {
        Binding::Sorts(_) => Binding::Sorts(new.clone()),
        Binding::Rows(table, _) => Binding::Rows(*table, new.clone()),
    };
    Guard::new(GuardKind::Exists(binding, None, Box::new(body)), span)
}
