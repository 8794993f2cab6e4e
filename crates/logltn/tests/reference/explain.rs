//! What is true of each binding of an axiom's root, and why: by going through all of them.

use logltn::theory::{Axiom, Formula, FormulaKind, Quantifier};
use logltn::{Parameters, Semantics, Space};

use super::Case;
use super::formula::{Evaluator, Literal, Read};
use super::guard::{Cell, Environment, all_bindings, individual, passes};
use super::tape::{Tape, Ties, Var};

/// A binding of the root, in the order of the individuals.
#[derive(Clone, Debug)]
pub struct Bound {
    pub cells: Vec<Cell>,
    pub truth: f64,
    pub literals: Vec<Blamed>,
    pub witnesses: Vec<Witness>,
    /// Rounding decides what is shown: two witnesses are as true, or next to it.
    pub is_close: bool,
    /// Rounding decides a derivative.
    pub is_rough: bool,
}

#[derive(Clone, Debug)]
pub struct Blamed {
    pub literal: Literal,
    pub truth: f64,
    pub blame: f64,
}

#[derive(Clone, Debug)]
pub struct Witness {
    pub cells: Option<Vec<Cell>>,
    pub truth: Option<f64>,
}

/// How near two truths are that rounding could take for each other.
const CLOSE: f64 = 1e-9;

/// All bindings of the first few quantifiers of an axiom, or of all `forall`s at its root.
pub fn bindings(
    case: &Case,
    axiom: &Axiom,
    environment: &Environment,
    quantifiers: Option<usize>,
    semantics: &Semantics,
    parameters: &Parameters,
    ties: Ties,
) -> Result<Vec<Bound>, String> {
    let formula = match semantics.space {
        Space::Log => axiom.formula.nnf().ok_or("too large in normal form")?,
        Space::Truth | Space::Mixed => axiom.formula.clone(),
    };
    let mut chain = Vec::new();
    let mut body = &formula;
    let mut environment = environment.clone();
    while let FormulaKind::Quantified {
        quantifier,
        binding,
        guard,
        body: inner,
    } = &body.kind
        && quantifiers.is_none_or(|n| chain.len() < n)
    {
        if matches!(quantifier, Quantifier::All | Quantifier::Any) {
            // One member stands for itself.
            let mut members = Vec::new();
            for cells in all_bindings(case, axiom, binding) {
                environment.bind(binding.variables(), &cells);
                if passes(case, &mut environment, guard.as_ref())? {
                    members.push(cells);
                }
            }
            let [only] = members.as_slice() else { break };
            environment.bind(binding.variables(), only);
        } else if *quantifier == Quantifier::Forall {
            chain.push((binding, guard.as_ref()));
        } else {
            break;
        }
        body = inner;
    }
    let mut environments = vec![(environment, Vec::new())];
    for (binding, guard) in chain {
        let mut longer = Vec::new();
        for (mut environment, cells) in environments {
            for own in all_bindings(case, axiom, binding) {
                environment.bind(binding.variables(), &own);
                if passes(case, &mut environment, guard)? {
                    longer.push((environment.clone(), [cells.clone(), own].concat()));
                }
            }
        }
        environments = longer;
    }
    let bound = environments.into_iter().map(|(environment, cells)| {
        let mut tape = Tape::new(ties);
        let leaves: Vec<Vec<Var>> = (case.numbers.iter())
            .map(|numbers| numbers.iter().map(|&x| tape.leaf(x)).collect())
            .collect();
        let mut evaluator = Evaluator {
            case,
            semantics,
            parameters,
            leaves: &leaves,
            tape: &mut tape,
            environment,
            empty_exists: 0,
            read: Vec::new(),
        };
        let truth = match semantics.space {
            Space::Mixed => evaluator.outer_log(body)?,
            Space::Log | Space::Truth => evaluator.formula(body)?,
        };
        let read = std::mem::take(&mut evaluator.read);
        let mut bound = Bound {
            cells,
            truth: evaluator.tape.value(truth),
            literals: Vec::new(),
            witnesses: Vec::new(),
            is_close: false,
            is_rough: false,
        };
        list(&mut evaluator, body, &mut bound)?;
        bound.is_rough = tape.singular || tape.kink_gap < CLOSE || tape.jump_gap < CLOSE;
        let adjoints = tape.backward(truth);
        for blamed in &mut bound.literals {
            let own = read.iter().filter(|r| r.literal == blamed.literal);
            blamed.blame = own
                .map(
                    |Read {
                         var, as_complement, ..
                     }| {
                        let by = adjoints[var.index()];
                        match as_complement {
                            false => by,
                            true if blamed.truth < -1e-30 => {
                                -by * (blamed.truth - tape.value(*var)).exp()
                            }
                            true => 0.0,
                        }
                    },
                )
                .sum();
        }
        Ok(bound)
    });
    bound.collect()
}

/// The literals and witnesses that are shown.
fn list(evaluator: &mut Evaluator, formula: &Formula, to: &mut Bound) -> Result<(), String> {
    match &formula.kind {
        FormulaKind::Use { .. } => unreachable!("no definitions here"),
        FormulaKind::Atom { .. } => add(evaluator, formula, formula, false, to),
        FormulaKind::Not(inner) => match &inner.kind {
            FormulaKind::Use { .. } => unreachable!("no definitions here"),
            FormulaKind::Atom { .. } => add(evaluator, formula, inner, true, to),
            _ => list(evaluator, inner, to),
        },
        FormulaKind::And(members) | FormulaKind::Or(members) => {
            members.iter().try_for_each(|m| list(evaluator, m, to))
        }
        FormulaKind::Implies(a, b) | FormulaKind::Iff(a, b) => {
            list(evaluator, a, to)?;
            list(evaluator, b, to)
        }
        FormulaKind::Quantified {
            quantifier: Quantifier::All | Quantifier::Any,
            body,
            ..
        } => {
            // Each member by itself.
            let mut inner = Bound {
                literals: std::mem::take(&mut to.literals),
                witnesses: std::mem::take(&mut to.witnesses),
                ..to.clone()
            };
            evaluator.under(formula, |e| list(e, body, &mut inner))?;
            *to = inner;
            Ok(())
        }
        FormulaKind::Quantified {
            quantifier,
            binding,
            body,
            ..
        } => {
            let forall = *quantifier == Quantifier::Forall;
            let found = evaluator.under(formula, |e| {
                let value = e.formula(body)?;
                let cells = binding.variables().iter().map(|v| e.environment.get(*v));
                Ok((cells.collect::<Vec<Cell>>(), e.tape.value(value)))
            })?;
            let sign = if forall { -1.0 } else { 1.0 };
            let best = (found.iter().map(|f| sign * f.1)).fold(f64::NEG_INFINITY, f64::max);
            let close = |f: &&(Vec<Cell>, f64)| sign * f.1 >= best - CLOSE * best.abs().max(1.0);
            to.is_close |= found.iter().filter(close).count() > 1;
            let first = found.iter().find(|f| sign * f.1 == best);
            if !forall {
                to.witnesses.push(Witness {
                    cells: first.map(|f| f.0.clone()),
                    truth: first.map(|f| f.1),
                });
            }
            let Some((cells, _)) = first else {
                return Ok(());
            };
            evaluator.environment.bind(binding.variables(), cells);
            list(evaluator, body, to)
        }
    }
}

fn add(
    evaluator: &mut Evaluator,
    formula: &Formula,
    atom: &Formula,
    negated: bool,
    to: &mut Bound,
) -> Result<(), String> {
    let truth = evaluator.formula(formula)?;
    let FormulaKind::Atom {
        predicate,
        arguments,
    } = &atom.kind
    else {
        panic!("not an atom");
    };
    let individuals: Vec<u32> = (arguments.iter())
        .map(|term| individual(evaluator.case, &evaluator.environment, term).1)
        .collect();
    let literal = Literal {
        predicate: *predicate,
        position: evaluator.case.position(*predicate, &individuals),
        negated,
    };
    if !to.literals.iter().any(|known| known.literal == literal) {
        to.literals.push(Blamed {
            literal,
            truth: evaluator.tape.value(truth),
            blame: 0.0,
        });
    }
    Ok(())
}
