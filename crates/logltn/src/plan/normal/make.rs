//! The first pass: from an axiom to the normal forms of its members.

use std::sync::Arc;

use super::{Kind, Normal};
use crate::diagnostic::{Code, Diagnostic, Diagnostics};
use crate::guard::{Cell, Join, Scope, conjuncts, free_variables, tables};
use crate::guard_parts::PartMut;
use crate::nnf::{Layer, Signed};
use crate::operators::Space;
use crate::plan::distances::check_distances;
use crate::recursion::deep;
use crate::semantics::Semantics;
use crate::source::Span;
use crate::theory::*;

/// An axiom, or one member of a family.
#[derive(Clone, Debug)]
pub(crate) struct Member {
    /// `name[individual]` for a member of a family.
    pub name: String,
    /// What a family's variables are, in its order.
    pub individuals: Vec<u32>,
    pub formula: Normal,
}

/// Makes the normal forms of one axiom.
pub(crate) struct Maker<'a> {
    pub scope: Scope<'a>,
    pub semantics: &'a Semantics,
    /// The values bound by `for`, `all` and `any`, by variable.
    pub fixed: Vec<Option<u32>>,
    /// Where its text is: formulas from elsewhere are definitions that were written out, whose bindings do not count.
    pub text: Span,
    pub warnings: &'a mut Diagnostics,
}

/// The most members of a family, `all` or `any`.
const MOST_MEMBERS: usize = 1_000_000;

impl Maker<'_> {
    /// The members of a family, or the axiom itself.
    pub fn members(&mut self, axiom: &Axiom) -> Result<Vec<Member>, Diagnostic> {
        self.check(axiom)?;
        self.check_foralls(axiom)?;
        self.check_written_out(axiom)?;
        let Some(family) = &axiom.family else {
            let formula = self.root(&axiom.formula)?;
            return Ok(vec![Member {
                name: axiom.name.clone(),
                individuals: Vec::new(),
                formula,
            }]);
        };
        let bindings = self.bindings(&family.variables, family.guard.as_ref(), "for")?;
        if bindings.is_empty() {
            let guard = family.guard.as_ref();
            self.warnings.push(
                Diagnostic::warning(
                    Code::NothingToRangeOver,
                    format!("family `{}` has no members", axiom.name),
                )
                .at(&self.scope.theory().source, axiom.name_span, "")
                .maybe_help(guard.map(|_| "its guard keeps nothing".to_string())),
            );
        }
        let mut members = Vec::with_capacity(bindings.len());
        for cells in bindings {
            let mut names = Vec::new();
            for (&variable, &cell) in family.variables.iter().zip(&cells) {
                self.fixed[variable.index()] = Some(cell);
                let sort = axiom.variables[variable.index()].sort;
                names.push(self.scope.show_cell(sort, Cell::Individual(cell)));
            }
            self.check_memory(axiom.name_span)?;
            members.push(Member {
                name: format!("{}[{}]", axiom.name, names.join(", ")),
                individuals: cells,
                formula: self.root(&axiom.formula)?,
            });
        }
        Ok(members)
    }

    /// Refuses a normal form that is too large, or that the semantics cannot evaluate. It looks at the text alone, so
    /// a family without members or an empty `all` hides no mistake.
    fn check(&self, axiom: &Axiom) -> Result<(), Diagnostic> {
        let source = &self.scope.theory().source;
        if axiom.formula.nnf_is_too_large() {
            return Err(Diagnostic::error(Code::NestedTooDeep, format!(
                "the equivalences of axiom `{}` are nested too deep: its negation normal form would have more than {} nodes",
                axiom.name,
                crate::MAX_NNF_NODES
            ))
            .at(source, axiom.name_span, "")
            .help("name the parts: give the inner equivalence its own predicate"));
        }
        Ok(())
    }

    /// The formula of a definition, or of its negation.
    pub fn definition(
        &mut self,
        definition: &Definition,
        negated: bool,
    ) -> Result<Normal, Diagnostic> {
        self.check(&definition.body)?;
        self.check_written_out(&definition.body)?;
        let formula = &definition.body.formula;
        match self.semantics.space {
            Space::Log => self.in_log_space((formula, negated)),
            Space::Truth | Space::Mixed => self.in_truth_space(formula),
        }
    }

    /// Refuses a `forall` where it would be read as a truth degree, in the axiom or in a definition that it uses.
    fn check_foralls(&self, axiom: &Axiom) -> Result<(), Diagnostic> {
        if self.semantics.space != Space::Mixed {
            return Ok(());
        }
        let source = &self.scope.theory().source;
        let mut inner = &axiom.formula;
        while let FormulaKind::Quantified {
            quantifier: Quantifier::Forall,
            body,
            ..
        } = &inner.kind
        {
            inner = body;
        }
        let mut seen = Vec::new();
        let Some(forall) = first_forall(self.scope.theory(), inner, &mut seen) else {
            return Ok(());
        };
        let error = Diagnostic::error(Code::MisplacedForall, format!(
            "`{}` cannot evaluate a `forall` inside another formula",
            self.semantics.name
        ))
        .at(source, forall.span, "this `forall` is not at the front of its axiom")
        .note("there `forall` gives the log of a truth degree, while connectives, `exists` and `not` take truth degrees")
        .help("use the semantics `logltn`, which evaluates any formula, or move the `forall` to the front");
        Err(match seen.last() {
            Some(definition) => error.note(format!(
                "axiom `{}` uses definition `{}`, which means its formula in parentheses",
                axiom.name,
                self.scope.theory()[*definition].name()
            )),
            None => error,
        })
    }

    fn root(&mut self, formula: &Formula) -> Result<Normal, Diagnostic> {
        match self.semantics.space {
            Space::Log => self.in_log_space((formula, false)),
            Space::Truth => self.in_truth_space(formula),
            Space::Mixed => self.with_logs_outside(formula),
        }
    }

    /// In `prod` the leading `forall`s add up logs of the formula under them.
    fn with_logs_outside(&mut self, formula: &Formula) -> Result<Normal, Diagnostic> {
        let normal = deep(|| match &formula.kind {
            FormulaKind::Quantified {
                quantifier: Quantifier::Forall,
                binding,
                guard,
                body,
            } => {
                let guard = self.guard(guard.as_ref())?;
                let body = self.with_logs_outside(body)?;
                Ok(quantified(true, binding, guard, body, formula.span))
            }
            _ => {
                let inner = Box::new(self.in_truth_space(formula)?);
                Ok(Normal::new(Kind::Log(inner), formula.span))
            }
        });
        Ok(self.uncounted(normal?, formula.span))
    }

    /// Marks what does not come from the axiom's own text.
    fn uncounted(&self, normal: Normal, span: Span) -> Normal {
        let inside = self.text.start <= span.start && span.end <= self.text.end;
        match self.text == Span::default() || inside && span != Span::default() {
            true => normal,
            false => Normal {
                groundings: Some(1.into()),
                ..normal
            },
        }
    }

    fn in_truth_space(&mut self, formula: &Formula) -> Result<Normal, Diagnostic> {
        let normal = deep(|| {
            let mut inner = |f: &Formula| self.in_truth_space(f);
            let kind = match &formula.kind {
                FormulaKind::Atom {
                    predicate,
                    arguments,
                } => self.literal(*predicate, arguments, false),
                FormulaKind::Use {
                    definition,
                    arguments,
                } => self.used(*definition, arguments, false),
                FormulaKind::Not(a) => Kind::Not(inner(a)?.into()),
                FormulaKind::Implies(a, b) => Kind::Implies(inner(a)?.into(), inner(b)?.into()),
                FormulaKind::Iff(a, b) => Kind::Iff(inner(a)?.into(), inner(b)?.into()),
                FormulaKind::Or(members) if members.is_empty() => Kind::Constant(false),
                FormulaKind::And(members) => {
                    Kind::And(members.iter().map(inner).collect::<Result<_, _>>()?)
                }
                FormulaKind::Or(members) => {
                    Kind::Or(members.iter().map(inner).collect::<Result<_, _>>()?)
                }
                FormulaKind::Quantified {
                    quantifier,
                    binding,
                    guard,
                    body,
                } => {
                    let (guard, span) = (guard.as_ref(), formula.span);
                    return self.quantified(*quantifier, binding, guard, span, &mut |this| {
                        this.in_truth_space(body)
                    });
                }
            };
            Ok(Normal::new(kind, formula.span))
        });
        Ok(self.uncounted(normal?, formula.span))
    }

    fn in_log_space(&mut self, signed: Signed) -> Result<Normal, Diagnostic> {
        let span = signed.0.span;
        let normal = deep(|| match Layer::of(signed) {
            Layer::Literal {
                predicate,
                arguments,
                negated,
            } => Ok(Normal::new(
                self.literal(predicate, arguments, negated),
                span,
            )),
            Layer::Use {
                definition,
                arguments,
                negated,
            } => Ok(Normal::new(self.used(definition, arguments, negated), span)),
            Layer::Same(inner) => self.in_log_space(inner),
            Layer::Connective { and, members } => self.connective(and, &members, span),
            Layer::Equivalence { and, halves } => {
                let halves = halves.iter().map(|half| self.connective(!and, half, span));
                let halves = halves.collect::<Result<_, _>>()?;
                let mut both = Normal::connective(and, halves, span);
                both.equivalence = true;
                Ok(both)
            }
            Layer::Quantified {
                quantifier,
                binding,
                guard,
                body,
            } => self.quantified(quantifier, binding, guard, span, &mut |this| {
                this.in_log_space(body)
            }),
        });
        Ok(self.uncounted(normal?, span))
    }

    fn connective(
        &mut self,
        and: bool,
        members: &[Signed],
        span: Span,
    ) -> Result<Normal, Diagnostic> {
        if members.is_empty() {
            return Ok(Normal::new(Kind::Constant(and), span));
        }
        let members = members.iter().map(|m| self.in_log_space(*m));
        let members = members.collect::<Result<_, _>>()?;
        Ok(Normal::connective(and, members, span))
    }

    fn literal(&self, predicate: PredicateId, arguments: &[Term], negated: bool) -> Kind {
        Kind::Literal {
            predicate,
            arguments: self.arguments(arguments),
            negated,
        }
    }

    /// The strata begin with the definitions.
    fn used(&self, definition: DefinitionId, arguments: &[Term], negated: bool) -> Kind {
        Kind::Use {
            stratum: definition.index(),
            arguments: self.arguments(arguments),
            negated,
        }
    }

    fn arguments(&self, arguments: &[Term]) -> Vec<Term> {
        let mut arguments = arguments.to_vec();
        for argument in &mut arguments {
            argument.visit_mut(&mut |part| substitute(&self.scope, &self.fixed, part));
        }
        arguments
    }

    fn guard(&self, guard: Option<&Guard>) -> Result<Option<Arc<Guard>>, Diagnostic> {
        let Some(guard) = guard else { return Ok(None) };
        check_distances(&self.scope, guard)?;
        let mut guard = guard.clone();
        guard.visit_mut(&mut |part| substitute(&self.scope, &self.fixed, part));
        Ok(Some(Arc::new(guard)))
    }

    fn quantified(
        &mut self,
        quantifier: Quantifier,
        binding: &Binding,
        guard: Option<&Guard>,
        span: Span,
        body: &mut dyn FnMut(&mut Self) -> Result<Normal, Diagnostic>,
    ) -> Result<Normal, Diagnostic> {
        if !quantifier.is_big_connective() {
            let guard = self.guard(guard)?;
            let forall = quantifier == Quantifier::Forall;
            return Ok(quantified(forall, binding, guard, body(self)?, span));
        }
        let variables = binding.variables();
        self.check_fixed(variables, guard, quantifier)?;
        let bindings = self.bindings(variables, guard, quantifier.word())?;
        let and = quantifier == Quantifier::All;
        if bindings.is_empty() {
            self.warn_empty(quantifier, span);
            return Ok(Normal::new(Kind::Constant(and), span));
        }
        let mut members = Vec::with_capacity(bindings.len());
        for cells in bindings {
            for (variable, cell) in variables.iter().zip(cells) {
                self.fixed[variable.index()] = Some(cell);
            }
            self.check_memory(span)?;
            members.push(body(self)?);
        }
        for variable in variables {
            self.fixed[variable.index()] = None;
        }
        Ok(Normal::connective(and, members, span))
    }

    /// The values of a definition's parameters are not known: where its uses are written out, they may be variables of
    /// quantifiers.
    fn check_fixed(
        &self,
        own: &[VarId],
        guard: Option<&Guard>,
        quantifier: Quantifier,
    ) -> Result<(), Diagnostic> {
        let varies = |v: &VarId| !own.contains(v) && self.fixed[v.index()].is_none();
        let Some((guard, id)) =
            guard.and_then(|g| Some((g, free_variables(g).into_iter().find(varies)?)))
        else {
            return Ok(());
        };
        let (word, variable) = (quantifier.word(), &self.scope.variables[id.index()]);
        let (bound, more) = match variable.bound_by {
            BoundBy::Quantifier(quantifier) => (format!("`{}`", quantifier.word()), ""),
            _ => (
                "a definition".to_string(),
                ", unless all its uses name the individual",
            ),
        };
        let instead = if word == "any" { "exists" } else { "forall" };
        Err(Diagnostic::error(
            Code::MembersDependOnData,
            format!(
                "the guard of `{word}` cannot look at `{}`, which {bound} binds{more}",
                variable.name
            ),
        )
        .at(
            &self.scope.theory().source,
            guard.span,
            "varies with the data",
        )
        .mark(variable.span, "bound here")
        .note("it may use tables, params, and variables of `for`, `all` and `any`")
        .help(format!("use `{instead}`, which looks at each binding")))
    }

    /// An empty `any` gets a warning, as an empty `exists` does.
    fn warn_empty(&mut self, quantifier: Quantifier, span: Span) {
        let truth = match quantifier {
            Quantifier::All => "true",
            _ => "false",
        };
        let warning = Diagnostic::warning(
            Code::NothingToRangeOver,
            format!(
                "`{}` has no members here: it counts as {truth}",
                quantifier.word()
            ),
        )
        .at(
            &self.scope.theory().source,
            span,
            "no individual passes its guard",
        );
        self.warnings.push(warning);
    }

    /// The bindings of the variables of `for`, `all` or `any` that pass the guard.
    pub(super) fn bindings(
        &self,
        variables: &[VarId],
        guard: Option<&Guard>,
        word: &str,
    ) -> Result<Vec<Vec<u32>>, Diagnostic> {
        let scope = self.scope;
        let theory = scope.theory();
        for &id in variables {
            let variable = &scope.variables[id.index()];
            let ColumnSort::Sort(sort) = variable.sort else {
                continue;
            };
            // A list of names without any is known to be empty.
            let nobody = scope.size_of(id) == 0 && !scope.data.streams_sort(sort);
            let sort = &theory[sort];
            if sort.kind == SortKind::Data && sort.labels.is_empty() && !nobody {
                return Err(Diagnostic::error(Code::MembersDependOnData, format!(
                    "`{word}` writes out one member per individual, but the individuals of sort `{}` are rows of data",
                    sort.name
                ))
                .at(&theory.source, variable.span, "not a sort of labels or integers")
                .help("range over them with `forall` or `exists`"));
            }
        }
        let conditions = guard.map(conjuncts).unwrap_or_default();
        for condition in &conditions {
            if let Some(table) = self.changing_table(condition) {
                return Err(Diagnostic::error(Code::MembersDependOnData, format!(
                    "the guard of `{word}` uses table `{}`, but each step sees only a part of it",
                    theory[table].name
                ))
                .at(&theory.source, condition.span, "")
                .help("let each step see all of that table, or use another table"));
            }
        }
        let mut found = Vec::new();
        let mut env = scope.environment();
        for (cell, fixed) in env.iter_mut().zip(&self.fixed) {
            *cell = fixed.map_or(*cell, Cell::Individual);
        }
        let join = Join::over_sorts(scope, variables, &conditions);
        let sizes = variables.iter().map(|v| u128::from(scope.size_of(*v)));
        let sizes = sizes.fold(1, u128::saturating_mul);
        if let (Some(first), Some(last)) = (conditions.first(), conditions.last())
            && scope.is_worth_an_estimate(sizes, &conditions)
            && let Some(found) = join.estimate(&mut env)
        {
            found.check(theory, first.span.to(last.span))?;
        }
        join.run(&mut env, &mut |env, _| {
            let cells = variables.iter().map(|v| env[v.index()].individual());
            found.push(cells.collect::<Vec<u32>>());
            found.len() <= MOST_MEMBERS
        })
        .map_err(|error| scope.diagnose(&error))?;
        if found.len() > MOST_MEMBERS {
            let span = scope.variables[variables[0].index()].span;
            return Err(Diagnostic::error(
                Code::TooManyMembers,
                format!("`{word}` writes out more than a million members here"),
            )
            .at(&theory.source, span, ""));
        }
        found.sort_unstable();
        Ok(found)
    }

    /// A table that the guard reads and of which a step sees only a part.
    fn changing_table(&self, guard: &Guard) -> Option<TableId> {
        let data = self.scope.data;
        let batched = |t: TableId| data.table(t).is_some_and(|t| t.batched);
        let changes = |t: &TableId| batched(*t) || data.streams_table(*t);
        tables(guard).into_iter().find(changes)
    }
}

/// An individual in place of the variable that stands for it.
fn substitute(scope: &Scope, fixed: &[Option<u32>], part: PartMut) {
    match part {
        PartMut::Value(value) => {
            if let ValueKind::Number(id) = value.kind
                && let Some(index) = fixed[id.index()]
            {
                let sort = scope.variables[id.index()].sort;
                value.kind = ValueKind::Int(scope.integer_of(sort, index));
            }
        }
        PartMut::Term(term) => {
            if let TermKind::Variable(id) = term.kind
                && let Some(index) = fixed[id.index()]
                && let Some(sort) = scope.sort_of(term)
            {
                term.kind = TermKind::Individual(sort, index);
            }
        }
        PartMut::Guard(_) => {}
    }
}

fn quantified(
    forall: bool,
    binding: &Binding,
    guard: Option<Arc<Guard>>,
    body: Normal,
    span: Span,
) -> Normal {
    let kind = Kind::Quantifier {
        forall,
        binding: binding.clone(),
        guard,
        body: Box::new(body),
    };
    Normal::new(kind, span)
}

/// `seen` are the definitions that it searched; the last of them contains one.
fn first_forall<'f>(
    theory: &'f Theory,
    formula: &'f Formula,
    seen: &mut Vec<DefinitionId>,
) -> Option<&'f Formula> {
    match formula.kind {
        FormulaKind::Quantified {
            quantifier: Quantifier::Forall,
            ..
        } => Some(formula),
        FormulaKind::Use { definition, .. } if !seen.contains(&definition) => {
            seen.push(definition);
            deep(|| first_forall(theory, &theory[definition].body.formula, seen))
        }
        _ => deep(|| {
            let mut children = formula.children().into_iter();
            children.find_map(|child| first_forall(theory, child, seen))
        }),
    }
}
