//! How often a rule's conclusion is true where its premise is true.

use std::sync::Arc;

use super::Engine;
use super::rank::Order;
use crate::data::Data;
use crate::diagnostic::Diagnostics;
use crate::output::Output;
use crate::parameters::Parameters;
use crate::plan::{Plan, PlanOptions};
use crate::semantics::Semantics;
use crate::syntax::Quantifier;
use crate::theory::{Axiom, Formula, FormulaKind, Theory};

/// An axiom `forall …. a -> b`, where every truth above ½ counts as true. The truth of the axiom also depends on
/// the semantics and on the groundings with a false premise; these counts do not.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rule {
    /// The axiom or family of the theory, by index.
    pub axiom: usize,
    /// How many bindings of its `forall`s pass the guards, for all members of a family together.
    pub groundings: u64,
    /// The bindings whose premise is true.
    pub premises: u64,
    /// The bindings whose premise is true and whose conclusion is not.
    pub broken: u64,
}

impl Rule {
    /// Looks at all rules of a theory among the axioms to `keep`. `fill_in` gives the engine the numbers of its requests.
    ///
    /// ```
    /// use logltn::{Data, Output, Rule, Source, Theory};
    /// let theory = Theory::parse(Source::new("t", "
    ///     sort Person = {ann, bob, cleo}  predicate rich(Person)  predicate happy(Person)
    ///     axiom some: exists x: Person. happy(x)
    ///     axiom rule: forall x: Person. rich(x) -> happy(x)"))?;
    /// let outputs = [Output::truth(), Output::truth()];
    /// let rules = Rule::all(&Data::new(&theory), &outputs, &Default::default(), |_| true, |engine| {
    ///     let [rich, happy] = [[0.9, 0.6, 0.1], [0.8, 0.4, 0.3]];
    ///     engine.numbers_mut(0).copy_from_slice(&rich);
    ///     engine.numbers_mut(1).copy_from_slice(&happy);
    ///     Ok(())
    /// })?;
    /// assert_eq!(rules, [Rule { axiom: 1, groundings: 3, premises: 2, broken: 1 }]);
    /// # Ok::<(), logltn::Diagnostics>(())
    /// ```
    ///
    /// # Errors
    /// As those of [`Plan::new`] and [`Engine::evaluate`].
    pub fn all(
        data: &Data,
        outputs: &[Output],
        options: &PlanOptions,
        keep: impl Fn(&Axiom) -> bool,
        fill_in: impl FnOnce(&mut Engine<f64>) -> Result<(), Diagnostics>,
    ) -> Result<Vec<Rule>, Diagnostics> {
        let mut theory = Theory::clone(data.theory());
        let axioms = std::mem::take(&mut theory.axioms);
        let mut rules = Vec::new();
        for (axiom, rule) in axioms.into_iter().enumerate() {
            if keep(&rule)
                && let Some(parts) = parts(&rule)
            {
                rules.push(Rule {
                    axiom,
                    groundings: 0,
                    premises: 0,
                    broken: 0,
                });
                theory.axioms.extend(parts);
            }
        }
        if rules.is_empty() {
            return Ok(rules);
        }
        let data = data.with_theory(Arc::new(theory)).unbatched();
        let plan = Plan::for_explaining(&data, outputs, &two_valued(), options)?;
        let parts: Vec<usize> = plan.axioms().iter().map(|planned| planned.axiom).collect();
        let mut engine = Engine::new(plan);
        fill_in(&mut engine)?;
        let ranks = engine.ranks(&Parameters::default(), Order::TruestFirst, 1)?;
        for (part, ranks) in parts.into_iter().zip(ranks) {
            let (rule, ranks) = (&mut rules[part / 2], ranks.unwrap_or_default());
            if part % 2 == 0 {
                rule.groundings += ranks.total;
                rule.premises += ranks.likely;
            } else {
                rule.broken += ranks.likely;
            }
        }
        Ok(rules)
    }
}

/// With min, max and 1 − x a formula is truer than ½ if it is true classically after its atoms are rounded at ½.
fn two_valued() -> Semantics {
    let base = Semantics::named("godel").unwrap_or_default();
    let with = |base: Semantics, key, operator| base.with(key, operator).unwrap_or(base);
    with(with(base, "implies", "kleene_dienes"), "not", "standard")
}

/// The premise of a rule under its quantifiers, and the formula that breaks the rule.
fn parts(rule: &Axiom) -> Option<[Axiom; 2]> {
    let with = |formula| Axiom {
        formula,
        ..rule.clone()
    };
    // A `forall` there is part of the premise, not one of the rule's.
    let premise = instead(&rule.formula, &|a, _| match &a.kind {
        FormulaKind::Quantified { .. } => and(a.clone(), a.clone()),
        _ => a.clone(),
    })?;
    let broken = instead(&rule.formula, &|a, b| and(a.clone(), not(b.clone())))?;
    Some([with(premise), with(broken)])
}

/// The formula with something else instead of the implication under its `forall`s; `None` if it has no such
/// implication.
fn instead(formula: &Formula, of: &dyn Fn(&Formula, &Formula) -> Formula) -> Option<Formula> {
    let FormulaKind::Quantified {
        quantifier: Quantifier::Forall,
        binding,
        guard,
        body,
    } = &formula.kind
    else {
        return None;
    };
    let body = match &body.kind {
        FormulaKind::Implies(a, b) => of(a, b),
        _ => instead(body, of)?,
    };
    Some(Formula::new(
        FormulaKind::Quantified {
            quantifier: Quantifier::Forall,
            binding: binding.clone(),
            guard: guard.clone(),
            body: Box::new(body),
        },
        formula.span,
    ))
}

fn and(a: Formula, b: Formula) -> Formula {
    let span = a.span;
    let kind = FormulaKind::And(vec![a, b]);
    Formula::new(kind, span)
}

fn not(formula: Formula) -> Formula {
    let span = formula.span;
    Formula::new(FormulaKind::Not(Box::new(formula)), span)
}
