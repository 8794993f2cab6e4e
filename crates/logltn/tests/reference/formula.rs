//! Formulas, by recursion over their bindings.

use logltn::theory::{Axiom, Formula, FormulaKind, PredicateId, Quantifier};
use logltn::{Aggregator, Parameters, Semantics, Space};

use super::Case;
use super::guard::{Environment, all_bindings, individual, passes};
use super::literal::literal;
use super::operators;
use super::tape::{Tape, Var};

/// The log of falsity.
const FLOOR: f64 = -1e5;

pub struct Evaluator<'a> {
    pub case: &'a Case,
    pub semantics: &'a Semantics,
    pub parameters: &'a Parameters,
    pub leaves: &'a [Vec<Var>],
    pub tape: &'a mut Tape,
    pub environment: Environment<'a>,
    pub empty_exists: u64,
    /// Every literal that was read.
    pub read: Vec<Read>,
}

/// A literal, where it was read.
#[derive(Clone, Copy, Debug)]
pub struct Read {
    pub literal: Literal,
    pub var: Var,
    /// Its complement was.
    pub as_complement: bool,
}

/// An atom by its place in the predicate's table, negated or not.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Literal {
    pub predicate: PredicateId,
    pub position: usize,
    pub negated: bool,
}

/// An operand of `or` or of a quantifier.
#[derive(Clone, Copy)]
struct Member {
    value: Var,
    complement: Var,
}

/// What a semantics cannot evaluate.
pub fn check(case: &Case, semantics: &Semantics) -> Result<(), String> {
    let refused = |axiom: &&Axiom| prod_refuses(&axiom.formula);
    match case.theory.axioms.iter().find(refused) {
        Some(axiom) if semantics.space == Space::Mixed => {
            Err(format!("a `forall` inside axiom `{}`", axiom.name))
        }
        _ => Ok(()),
    }
}

/// Whether `prod` refuses a formula: a `forall` anywhere but at the front.
pub fn prod_refuses(formula: &Formula) -> bool {
    match &formula.kind {
        FormulaKind::Quantified {
            quantifier: Quantifier::Forall,
            body,
            ..
        } => prod_refuses(body),
        _ => has_forall(formula),
    }
}

fn has_forall(formula: &Formula) -> bool {
    match &formula.kind {
        FormulaKind::Use { .. } => unreachable!("no definitions here"),
        FormulaKind::Atom { .. } => false,
        FormulaKind::Not(inner) => has_forall(inner),
        FormulaKind::And(members) | FormulaKind::Or(members) => members.iter().any(has_forall),
        FormulaKind::Implies(a, b) | FormulaKind::Iff(a, b) => has_forall(a) || has_forall(b),
        FormulaKind::Quantified {
            quantifier, body, ..
        } => *quantifier == Quantifier::Forall || has_forall(body),
    }
}

impl Evaluator<'_> {
    pub fn axiom(&mut self, axiom: &Axiom) -> Result<Var, String> {
        match self.semantics.space {
            Space::Log => {
                let nnf = axiom.formula.nnf().ok_or("too large in normal form")?;
                self.formula(&nnf)
            }
            Space::Truth => self.formula(&axiom.formula),
            Space::Mixed => self.outer_log(&axiom.formula),
        }
    }

    /// `prod`: the `forall`s at the front add up the logs of what is under them.
    pub fn outer_log(&mut self, formula: &Formula) -> Result<Var, String> {
        let FormulaKind::Quantified {
            quantifier: Quantifier::Forall,
            body,
            ..
        } = &formula.kind
        else {
            let truth = self.formula(formula)?;
            let projected = operators::pi0(self.tape, self.semantics.stable_eps, truth);
            return Ok(self.tape.log(projected));
        };
        let logs = self.under(formula, |this| this.outer_log(body))?;
        let logs: Vec<(f64, Var)> = logs.into_iter().map(|v| (1.0, v)).collect();
        Ok(self.tape.affine(0.0, &logs))
    }

    pub fn formula(&mut self, formula: &Formula) -> Result<Var, String> {
        let eps = self.semantics.stable_eps;
        Ok(match &formula.kind {
            FormulaKind::Use { .. } => unreachable!("no definitions here"),
            FormulaKind::Atom { .. } => self.literal(formula, false),
            FormulaKind::Not(inner) if self.semantics.space == Space::Log => {
                self.literal(inner, true)
            }
            FormulaKind::Not(inner) => {
                let reads = self.read.len();
                let x = self.formula(inner)?;
                let value = operators::not(self.tape, self.semantics.not, x);
                // A directly negated atom is its own literal.
                if let FormulaKind::Atom { .. } = inner.kind {
                    self.read[reads].literal.negated = true;
                    self.read[reads].var = value;
                }
                value
            }
            FormulaKind::And(members) => {
                let members: Result<Vec<Var>, String> =
                    members.iter().map(|m| self.formula(m)).collect();
                self.and(&members?)
            }
            FormulaKind::Or(members) => {
                let members: Result<Vec<Member>, String> =
                    members.iter().map(|m| self.member(m)).collect();
                self.or(&members?)
            }
            FormulaKind::Implies(a, b) => {
                let (x, y) = (self.formula(a)?, self.formula(b)?);
                operators::implies(self.tape, self.semantics.implies, eps, x, y)
            }
            FormulaKind::Iff(a, b) => {
                let (x, y) = (self.formula(a)?, self.formula(b)?);
                let there = operators::implies(self.tape, self.semantics.implies, eps, x, y);
                let back = operators::implies(self.tape, self.semantics.implies, eps, y, x);
                self.and(&[there, back])
            }
            FormulaKind::Quantified {
                quantifier, body, ..
            } => match quantifier {
                Quantifier::All | Quantifier::Any => self.big_connective(formula)?.value,
                Quantifier::Forall => {
                    let members = self.under(formula, |this| this.member(body))?;
                    self.aggregate(self.semantics.forall, true, &members)
                }
                Quantifier::Exists => {
                    let members = self.under(formula, |this| this.member(body))?;
                    self.empty_exists += u64::from(members.is_empty());
                    self.aggregate(self.semantics.exists, false, &members)
                }
            },
        })
    }

    /// `all` or `any`. One member stands for itself.
    fn big_connective(&mut self, formula: &Formula) -> Result<Member, String> {
        let FormulaKind::Quantified {
            quantifier, body, ..
        } = &formula.kind
        else {
            panic!("not a quantifier");
        };
        let members = self.under(formula, |this| this.member(body))?;
        let values: Vec<Var> = members.iter().map(|m| m.value).collect();
        Ok(match (members.as_slice(), quantifier) {
            ([only], _) => *only,
            (_, Quantifier::All) => {
                let value = self.and(&values);
                self.with_complement(value)
            }
            _ => {
                let value = self.or(&members);
                self.with_complement(value)
            }
        })
    }

    fn with_complement(&mut self, value: Var) -> Member {
        let complement = match self.semantics.space {
            Space::Log => operators::complement(self.tape, value),
            Space::Truth | Space::Mixed => value,
        };
        Member { value, complement }
    }

    /// With the complement, which is a literal's own negation.
    fn member(&mut self, formula: &Formula) -> Result<Member, String> {
        let complement = match &formula.kind {
            FormulaKind::Quantified {
                quantifier: Quantifier::All | Quantifier::Any,
                ..
            } => {
                return self.big_connective(formula);
            }
            FormulaKind::Atom { .. } if self.semantics.space == Space::Log => {
                self.complement(formula, true)
            }
            FormulaKind::Not(atom) if self.semantics.space == Space::Log => {
                self.complement(atom, false)
            }
            _ => {
                let value = self.formula(formula)?;
                return Ok(self.with_complement(value));
            }
        };
        let value = self.formula(formula)?;
        Ok(Member { value, complement })
    }

    /// The negation of a literal, as its complement.
    fn complement(&mut self, atom: &Formula, negated: bool) -> Var {
        let var = self.literal(atom, negated);
        if let Some(read) = self.read.last_mut() {
            read.as_complement = true;
            read.literal.negated = !negated;
        }
        var
    }

    /// The value of `body` under each binding of a quantifier that passes its guard.
    pub fn under<M>(
        &mut self,
        quantified: &Formula,
        mut body: impl FnMut(&mut Self) -> Result<M, String>,
    ) -> Result<Vec<M>, String> {
        let FormulaKind::Quantified { binding, guard, .. } = &quantified.kind else {
            panic!("not a quantifier");
        };
        let mut values = Vec::new();
        for cells in all_bindings(self.case, self.environment.axiom, binding) {
            self.environment.bind(binding.variables(), &cells);
            if passes(self.case, &mut self.environment, guard.as_ref())? {
                values.push(body(self)?);
            }
        }
        Ok(values)
    }

    /// True or false, as a number.
    fn crisp(&mut self, truth: bool) -> Var {
        let value = match (self.semantics.space, truth) {
            (Space::Log, true) => 0.0,
            (Space::Log, false) => FLOOR,
            (_, true) => 1.0,
            (_, false) => 0.0,
        };
        self.tape.constant(value)
    }

    fn and(&mut self, members: &[Var]) -> Var {
        if members.is_empty() {
            return self.crisp(true);
        }
        let Semantics {
            and, stable_eps, ..
        } = *self.semantics;
        operators::and(self.tape, and, stable_eps, members)
    }

    fn or(&mut self, members: &[Member]) -> Var {
        if members.is_empty() {
            return self.crisp(false);
        }
        let values: Vec<Var> = members.iter().map(|m| m.value).collect();
        let complements: Vec<Var> = members.iter().map(|m| m.complement).collect();
        let Semantics { or, stable_eps, .. } = *self.semantics;
        let parameters = self.parameters;
        operators::or(self.tape, or, stable_eps, parameters, &values, &complements)
    }

    fn aggregate(&mut self, operator: Aggregator, empty: bool, members: &[Member]) -> Var {
        if members.is_empty() {
            return self.crisp(empty);
        }
        let values: Vec<(f64, Var)> = members.iter().map(|m| (1.0, m.value)).collect();
        let complements: Vec<Var> = members.iter().map(|m| m.complement).collect();
        let (eps, parameters) = (self.semantics.stable_eps, self.parameters);
        operators::aggregate(self.tape, operator, eps, parameters, &values, &complements)
    }

    fn literal(&mut self, atom: &Formula, negated: bool) -> Var {
        let FormulaKind::Atom {
            predicate,
            arguments,
        } = &atom.kind
        else {
            panic!("negation normal form negates atoms only");
        };
        let individuals: Vec<u32> = (arguments.iter())
            .map(|term| individual(self.case, &self.environment, term).1)
            .collect();
        let position = self.case.position(*predicate, &individuals);
        // The numbers that decide together: those of all classes of the last argument.
        let classes = self.case.shape(*predicate).last().copied().unwrap_or(1);
        let class = position % classes;
        let numbers = &self.leaves[*predicate][position - class..][..classes];
        let output = self.case.outputs[*predicate].kind;
        let literal = literal(
            self.tape,
            self.semantics.space,
            output,
            numbers,
            class,
            negated,
        );
        // Some are the numbers themselves, which other literals read as well.
        let value = self.tape.value(literal);
        let var = self.tape.literal(value, vec![(literal, 1.0)]);
        self.read.push(Read {
            literal: Literal {
                predicate: *predicate,
                position,
                negated,
            },
            var,
            as_complement: false,
        });
        var
    }
}
