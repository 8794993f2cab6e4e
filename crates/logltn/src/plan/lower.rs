//! Formulas to nodes. In log space negation is pushed to the atoms on the way down, which is negation
//! normal form without building another formula; `all` and `any` are written out.

use super::build::Builder;
use super::program::*;
use crate::diagnostic::{Code, Diagnostic};
use crate::operators::Space;
use crate::recursion::deep;
use crate::theory::*;

impl Builder<'_> {
    /// The root of an axiom.
    pub(super) fn root(&mut self, formula: &Formula) -> Result<usize, Diagnostic> {
        if self.semantics.space == Space::Mixed {
            return self.mixed_root(formula);
        }
        self.formula(formula, false)
    }

    /// Refuses what the semantics cannot evaluate, by the text alone: a family without members or an
    /// empty `all` hides no mistake.
    pub(super) fn check_semantics(&self, formula: &Formula) -> Result<(), Diagnostic> {
        if self.semantics.space != Space::Mixed {
            return Ok(());
        }
        let mut inner = formula;
        while let FormulaKind::Quantified {
            quantifier: Quantifier::Forall,
            body,
            ..
        } = &inner.kind
        {
            inner = body;
        }
        match first_forall(inner) {
            Some(forall) => Err(self.misplaced_forall(forall)),
            None => Ok(()),
        }
    }

    /// In `prod` the leading `forall`s add up logs of what is under them.
    fn mixed_root(&mut self, formula: &Formula) -> Result<usize, Diagnostic> {
        deep(|| match &formula.kind {
            FormulaKind::Quantified {
                quantifier: Quantifier::Forall,
                binding,
                guard,
                body,
            } => self.quantifier(true, binding, guard.as_ref(), formula, |this| {
                this.mixed_root(body)
            }),
            _ => {
                let inner = self.formula(formula, false)?;
                Ok(self.node(NodeKind::Log(inner), formula))
            }
        })
    }

    pub(super) fn node(&mut self, kind: NodeKind, formula: &Formula) -> usize {
        self.program.nodes.push(Node {
            kind,
            level: self.level,
            equivalence: false,
            groundings: None,
            span: formula.span,
        });
        self.program.nodes.len() - 1
    }

    pub(super) fn formula(&mut self, formula: &Formula, negate: bool) -> Result<usize, Diagnostic> {
        deep(|| self.formula_here(formula, negate))
    }

    fn formula_here(&mut self, formula: &Formula, negate: bool) -> Result<usize, Diagnostic> {
        let log_space = self.semantics.space == Space::Log;
        let kind = match &formula.kind {
            FormulaKind::Atom {
                predicate,
                arguments,
            } => self.literal(*predicate, arguments, negate, formula.span)?,
            FormulaKind::Not(inner) if log_space => return self.formula(inner, !negate),
            FormulaKind::Not(inner) => NodeKind::Not(self.formula(inner, false)?),
            FormulaKind::And(members) => {
                let members = self.formulas(members, negate)?;
                connective(!negate, members)
            }
            FormulaKind::Or(members) => {
                let members = self.formulas(members, negate)?;
                connective(negate, members)
            }
            FormulaKind::Implies(a, b) if log_space => {
                let members = vec![self.formula(a, !negate)?, self.formula(b, negate)?];
                connective(negate, members)
            }
            FormulaKind::Implies(a, b) => {
                NodeKind::Implies(self.formula(a, false)?, self.formula(b, false)?)
            }
            FormulaKind::Iff(a, b) if log_space => {
                let mut halves = Vec::new();
                for (p, q) in [(a, b), (b, a)] {
                    let members = vec![self.formula(p, !negate)?, self.formula(q, negate)?];
                    halves.push(self.node(connective(negate, members), formula));
                }
                let node = self.node(connective(!negate, halves), formula);
                self.program.nodes[node].equivalence = true;
                return Ok(node);
            }
            FormulaKind::Iff(a, b) => {
                NodeKind::Iff(self.formula(a, false)?, self.formula(b, false)?)
            }
            FormulaKind::Quantified {
                quantifier,
                binding,
                guard,
                body,
            } => {
                let guard = guard.as_ref();
                let quantifier = if negate {
                    quantifier.dual()
                } else {
                    *quantifier
                };
                let is_and = quantifier == Quantifier::All;
                match quantifier {
                    Quantifier::All | Quantifier::Any => {
                        let members = self.members(binding, guard, body, quantifier, negate)?;
                        match members.as_slice() {
                            [] => {
                                self.warn_empty_connective(quantifier, formula);
                                NodeKind::Constant(is_and)
                            }
                            // One member stands for itself.
                            [only] => return Ok(*only),
                            _ => connective(is_and, members),
                        }
                    }
                    Quantifier::Forall | Quantifier::Exists => {
                        if quantifier == Quantifier::Exists {
                            return self.exists(binding, guard, body, negate, formula);
                        }
                        self.check_distances(guard)?;
                        let narrow = self.narrow(true, binding, guard, body, negate, formula)?;
                        if let Some(node) = narrow {
                            return Ok(node);
                        }
                        return self.quantifier(true, binding, guard, formula, |this| {
                            this.formula(body, negate)
                        });
                    }
                }
            }
        };
        Ok(self.node(kind, formula))
    }

    fn formulas(&mut self, members: &[Formula], negate: bool) -> Result<Vec<usize>, Diagnostic> {
        members.iter().map(|m| self.formula(m, negate)).collect()
    }

    fn misplaced_forall(&self, formula: &Formula) -> Diagnostic {
        Diagnostic::error(Code::MisplacedForall, format!(
            "`{}` cannot evaluate a `forall` inside another formula",
            self.semantics.name
        ))
        .at(&self.theory().source, formula.span, "this `forall` is not at the front of its axiom")
        .note("there `forall` gives the log of a truth degree, while connectives, `exists` and `not` take truth degrees")
        .help("use the semantics `logltn`, which evaluates any formula, or move the `forall` to the front")
    }

    /// Like an empty `exists`, an empty `any` is never silent.
    fn warn_empty_connective(&mut self, quantifier: Quantifier, formula: &Formula) {
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
            &self.theory().source,
            formula.span,
            "no individual passes its guard",
        );
        self.warnings.push(warning);
    }

    /// The members of `all` or `any`.
    fn members(
        &mut self,
        binding: &Binding,
        guard: Option<&Guard>,
        body: &Formula,
        quantifier: Quantifier,
        negate: bool,
    ) -> Result<Vec<usize>, Diagnostic> {
        let variables = binding.variables();
        let bindings = self.bindings(variables, guard, quantifier.word())?;
        let mut members = Vec::with_capacity(bindings.len());
        for cells in bindings {
            for (&variable, cell) in variables.iter().zip(cells) {
                self.fix(variable, cell);
            }
            members.push(self.formula(body, negate)?);
        }
        for variable in variables {
            self.fixed[variable.index()] = false;
        }
        Ok(members)
    }

    /// An `exists`, as cheaply as it can be had.
    pub(super) fn exists(
        &mut self,
        binding: &Binding,
        guard: Option<&Guard>,
        body: &Formula,
        negate: bool,
        formula: &Formula,
    ) -> Result<usize, Diagnostic> {
        self.check_distances(guard)?;
        if let Some(node) = self.narrow(false, binding, guard, body, negate, formula)? {
            return Ok(node);
        }
        if let Some(node) = self.eliminate(binding, guard, body, negate, formula)? {
            return Ok(node);
        }
        self.quantifier(false, binding, guard, formula, |this| {
            this.formula(body, negate)
        })
    }

    pub(super) fn quantifier(
        &mut self,
        forall: bool,
        binding: &Binding,
        guard: Option<&Guard>,
        formula: &Formula,
        body: impl FnOnce(&mut Self) -> Result<usize, Diagnostic>,
    ) -> Result<usize, Diagnostic> {
        self.check_distances(guard)?;
        let outer = self.level;
        let level = self.program.levels.len();
        let (in_scope, components) = self.components(binding, guard, level)?;
        let bindings = components.iter().try_fold(1_u64, |n, c| {
            let component = &self.components[c.component];
            n.checked_mul((component.len() / component.keys().max(1)) as u64)
        });
        if bindings.is_none() {
            return Err(self.too_many_bindings(formula.span));
        }
        self.program.levels.push(Level {
            parent: outer,
            components,
            ..Level::default()
        });
        self.level_scopes.push(in_scope.clone());
        let depth = self.scope.len();
        self.scope.extend(in_scope);
        self.level = level;
        let body = body(self);
        self.level = outer;
        self.scope.truncate(depth);
        let kind = NodeKind::Quantifier {
            forall,
            level,
            body: body?,
        };
        Ok(self.node(kind, formula))
    }

    /// Every `dist` of a guard needs features of one width on both sides.
    pub(super) fn check_distances(&self, guard: Option<&Guard>) -> Result<(), Diagnostic> {
        let mut distances = Vec::new();
        guard.iter().for_each(|g| find_distances(g, &mut distances));
        for (value, a, b) in distances {
            let width = |term: &Term| {
                let sort = match &term.kind {
                    TermKind::Variable(id) => match self.variables[id.index()].sort {
                        ColumnSort::Sort(sort) => sort,
                        _ => return None,
                    },
                    TermKind::Individual(sort, _) => *sort,
                    TermKind::Constant(id) => self.theory()[*id].sort,
                    TermKind::Apply(..) => return None,
                };
                let features = self.data.sorts[sort.index()].features.as_ref();
                Some((sort, features.map(|(width, _)| *width)))
            };
            let (Some((s, a)), Some((t, b))) = (width(a), width(b)) else {
                continue;
            };
            let (s, t) = (&self.theory()[s].name, &self.theory()[t].name);
            let message = match (a, b) {
                (None, _) => {
                    format!("sort `{s}` has no features, so `dist` has nothing to measure")
                }
                (_, None) => {
                    format!("sort `{t}` has no features, so `dist` has nothing to measure")
                }
                (Some(a), Some(b)) if a != b => format!(
                    "`{s}` has {a} features and `{t}` has {b}: `dist` needs as many on both sides"
                ),
                _ => continue,
            };
            let code = match (a, b) {
                (Some(_), Some(_)) => Code::SizesDisagree,
                _ => Code::NoFeatures,
            };
            return Err(Diagnostic::error(code, message).at(&self.theory().source, value.span, ""));
        }
        Ok(())
    }
}

fn first_forall(formula: &Formula) -> Option<&Formula> {
    deep(|| match &formula.kind {
        FormulaKind::Atom { .. } => None,
        FormulaKind::Not(inner) => first_forall(inner),
        FormulaKind::And(members) | FormulaKind::Or(members) => {
            members.iter().find_map(first_forall)
        }
        FormulaKind::Implies(a, b) | FormulaKind::Iff(a, b) => {
            first_forall(a).or_else(|| first_forall(b))
        }
        FormulaKind::Quantified {
            quantifier: Quantifier::Forall,
            ..
        } => Some(formula),
        FormulaKind::Quantified { body, .. } => first_forall(body),
    })
}

fn connective(and: bool, members: Vec<usize>) -> NodeKind {
    if and {
        NodeKind::And(members)
    } else {
        NodeKind::Or(members)
    }
}

fn find_distances<'g>(guard: &'g Guard, found: &mut Vec<(&'g Value, &'g Term, &'g Term)>) {
    match &guard.kind {
        GuardKind::Compare(_, a, b) => {
            distances_of(a, found);
            distances_of(b, found);
        }
        GuardKind::Same { .. } => {}
        GuardKind::Member(_, cells) => cells.iter().for_each(|c| distances_of(c, found)),
        GuardKind::Not(inner) => find_distances(inner, found),
        GuardKind::And(members) | GuardKind::Or(members) => {
            members.iter().for_each(|m| find_distances(m, found));
        }
        GuardKind::Exists(_, guard, body) => {
            guard.iter().for_each(|g| find_distances(g, found));
            find_distances(body, found);
        }
    }
}

fn distances_of<'g>(value: &'g Value, found: &mut Vec<(&'g Value, &'g Term, &'g Term)>) {
    match &value.kind {
        ValueKind::Dist(a, b) => found.push((value, a, b)),
        ValueKind::Negative(inner) | ValueKind::Abs(inner) => distances_of(inner, found),
        ValueKind::Sum(members) => members.iter().for_each(|(_, m)| distances_of(m, found)),
        ValueKind::Product(members) => members.iter().for_each(|(_, m)| distances_of(m, found)),
        ValueKind::Min(values) | ValueKind::Max(values) => {
            values.iter().for_each(|v| distances_of(v, found));
        }
        ValueKind::Int(_)
        | ValueKind::Real(_)
        | ValueKind::Param(_)
        | ValueKind::Number(_)
        | ValueKind::Individual(_) => {}
    }
}
