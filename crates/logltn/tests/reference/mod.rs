//! A dense evaluator of theories in float64, written from `docs/language.md` to be obviously right.
//!
//! Everything is done the slow way: every binding of every quantifier is visited, guards are evaluated
//! on the full product, every number goes onto a tape of derivatives. Nothing is shared with the
//! engine but the parsed theory, its negation normal form and the names of the operators.

#![allow(dead_code)] // each test file uses a part of this

mod count;
pub mod explain;
mod formula;
mod guard;
pub mod literal;
mod number;
pub mod operators;
pub mod tape;

use logltn::theory::{ArgumentSort, PredicateId, SortId};
use logltn::{Aggregator, AxiomParameters, Data, Loss, Output, Parameters, Semantics, Theory};

#[allow(unused_imports)]
pub use formula::{check as check_formula, prod_refuses};
#[allow(unused_imports)] // by those who look at single bindings
pub use guard::Cell;
pub use guard::Environment;
pub use number::Num;
#[allow(unused_imports)] // by those who compare subgradients
pub use tape::TieRule;
pub use tape::Ties;

use tape::{Tape, Var};

/// A theory with everything that an evaluation needs.
#[derive(Clone, Debug)]
pub struct Case {
    pub theory: Theory,
    pub data: Data,
    /// The values of the theory's params, in order: `Data` does not give them back.
    pub params: Vec<Num>,
    /// One per predicate.
    pub outputs: Vec<Output>,
    /// For each predicate a number per tuple of its argument sorts, row-major.
    pub numbers: Vec<Vec<f64>>,
}

impl Case {
    /// The number of individuals that an argument of this sort can name: those of the data, and the
    /// learnable constants, which come after them.
    pub fn extent(&self, sort: SortId) -> usize {
        let constants = (0..self.theory.constants.len() as u32)
            .map(logltn::theory::ConstantId)
            .filter(|&id| self.theory[id].sort == sort)
            .map(|id| self.data.constant_index(id) as usize + 1);
        constants.fold(self.data.size(sort), usize::max)
    }

    /// The extents of a predicate's arguments.
    pub fn shape(&self, predicate: PredicateId) -> Vec<usize> {
        let arguments = &self.theory[predicate].arguments;
        let extent = |sort: &ArgumentSort| match sort {
            ArgumentSort::Sort(sort) => self.extent(*sort),
            ArgumentSort::Vector(_) => panic!("the reference knows no functions"),
        };
        arguments.iter().map(extent).collect()
    }

    /// Where the number of an atom is in the predicate's table.
    pub fn position(&self, predicate: PredicateId, individuals: &[u32]) -> usize {
        let shape = self.shape(predicate);
        assert_eq!(shape.len(), individuals.len());
        (individuals.iter().zip(&shape)).fold(0, |at, (&i, &extent)| at * extent + i as usize)
    }
}

/// What a theory evaluates to.
#[derive(Clone, Debug)]
pub struct Evaluation {
    pub sat: f64,
    pub loss: f64,
    /// Families written out.
    pub axioms: Vec<AxiomValue>,
    /// d loss / d number, in the layout of [`Case::numbers`].
    pub gradients: Vec<Vec<f64>>,
    /// The least and the greatest of each of them that the choices at ties leave open: where there are ties, and their
    /// tolerance is not 0.
    pub brackets: Option<Vec<Vec<(f64, f64)>>>,
    /// How near the evaluation came to a jump of Gödel's implication or negation, where rounding decides
    /// the value. Infinite if there was none.
    pub jump_gap: f64,
    /// The same for Goguen's implication, where rounding decides the gradient.
    pub kink_gap: f64,
    /// A power was differentiated where it has no derivative, such as (Σ xᵖ)^(1/p) at 0.
    pub singular: bool,
    /// The least and the greatest size of what was computed on the way, zeros aside: single precision
    /// underflows below 1e-38, and next to the floor of −1e5 has steps of 0.008.
    pub range: (f64, f64),
}

#[derive(Clone, Debug, PartialEq)]
pub struct AxiomValue {
    pub name: String,
    /// Which axiom of the theory.
    pub axiom: usize,
    pub weight: f64,
    pub truth: f64,
    pub empty_exists: u64,
    pub groundings: u128,
}

/// Evaluates the theory, or says why it must be refused.
pub fn evaluate(
    case: &Case,
    semantics: &Semantics,
    parameters: &Parameters,
) -> Result<Evaluation, String> {
    evaluate_with(case, semantics, parameters, Ties::default())
}

/// Like [`evaluate`], choosing between the subgradients at ties.
pub fn evaluate_with(
    case: &Case,
    semantics: &Semantics,
    parameters: &Parameters,
    ties: Ties,
) -> Result<Evaluation, String> {
    evaluate_own(case, semantics, parameters, ties, &[])
}

/// Like [`evaluate_with`], with parameters and weights of single axioms, in the order of the axioms with families
/// written out; those that are missing have none.
pub fn evaluate_own(
    case: &Case,
    semantics: &Semantics,
    parameters: &Parameters,
    ties: Ties,
    own: &[(AxiomParameters, f64)],
) -> Result<Evaluation, String> {
    semantics.validate().map_err(|e| e.message().to_string())?;
    let Parameters { alpha, p, p_forall } = *parameters;
    for (name, value) in Parameters::NAMES.into_iter().zip([alpha, p, p_forall]) {
        Parameters::check(name, value).map_err(|e| e.message().to_string())?;
    }
    literal::check(case)?;
    formula::check(case, semantics)?;

    let mut tape = Tape::new(ties);
    let leaves: Vec<Vec<Var>> = (case.numbers.iter())
        .map(|numbers| numbers.iter().map(|&x| tape.leaf(x)).collect())
        .collect();
    let mut axioms = Vec::new();
    let mut truths = Vec::new();
    for (index, axiom) in case.theory.axioms.iter().enumerate() {
        for (name, environment) in family(case, index)? {
            let (own, weight) = match own.get(axioms.len()) {
                Some((own, weight)) => (own.over(parameters), *weight),
                None => (*parameters, axiom.weight),
            };
            let mut evaluator = formula::Evaluator {
                case,
                semantics,
                parameters: &own,
                leaves: &leaves,
                tape: &mut tape,
                environment: environment.clone(),
                empty_exists: 0,
                read: Vec::new(),
            };
            let truth = evaluator.axiom(axiom)?;
            let empty_exists = evaluator.empty_exists;
            let groundings = count::groundings(case, environment)?;
            truths.push((weight, truth));
            axioms.push(AxiomValue {
                name,
                axiom: index,
                weight,
                truth: tape.value(truth),
                empty_exists,
                groundings,
            });
        }
    }
    if truths.iter().map(|(weight, _)| weight).sum::<f64>() == 0.0 {
        return Err("the weights of the axioms add up to 0".into());
    }
    let complements: Vec<Var> = (truths.iter())
        .filter(|_| semantics.over_axioms == Aggregator::LogProbabilisticSum)
        .map(|&(_, truth)| operators::complement(&mut tape, truth))
        .collect();
    let sat = operators::aggregate(
        &mut tape,
        semantics.over_axioms,
        semantics.stable_eps,
        parameters,
        &truths,
        &complements,
    );
    let loss = match semantics.loss {
        Loss::MinusSat => tape.affine(0.0, &[(-1.0, sat)]),
        Loss::OneMinusSat => tape.affine(1.0, &[(-1.0, sat)]),
    };
    let adjoints = tape.backward(loss);
    let gradients = (leaves.iter())
        .map(|leaves| leaves.iter().map(|leaf| adjoints[leaf.index()]).collect())
        .collect();
    let brackets = match ties.tolerance > 0.0 {
        true => tape.bracket(loss, &leaves.concat()).map(|brackets| {
            let mut brackets = brackets.into_iter();
            (leaves.iter())
                .map(|leaves| brackets.by_ref().take(leaves.len()).collect())
                .collect()
        }),
        false => None,
    };
    Ok(Evaluation {
        sat: tape.value(sat),
        loss: tape.value(loss),
        axioms,
        gradients,
        brackets,
        jump_gap: tape.jump_gap,
        kink_gap: tape.kink_gap,
        singular: tape.singular,
        range: tape.range(&adjoints),
    })
}

/// The members of a family, each with its name and what `for` binds; an axiom that is no family is its
/// only member.
pub(crate) fn family(case: &Case, index: usize) -> Result<Vec<(String, Environment<'_>)>, String> {
    let axiom = &case.theory.axioms[index];
    let mut environment = Environment::new(axiom);
    let Some(family) = &axiom.family else {
        return Ok(vec![(axiom.name.clone(), environment)]);
    };
    let mut members = Vec::new();
    for binding in guard::over_sorts(case, axiom, &family.variables) {
        environment.bind(&family.variables, &binding);
        if guard::passes(case, &mut environment, family.guard.as_ref())? {
            let individuals: Vec<String> = (binding.iter())
                .map(|cell| guard::cell_name(case, cell))
                .collect();
            let name = format!("{}[{}]", axiom.name, individuals.join(", "));
            members.push((name, environment.clone()));
        }
    }
    Ok(members)
}
