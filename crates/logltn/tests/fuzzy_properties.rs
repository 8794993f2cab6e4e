//! The paper's table of fuzzy properties: for each cell a search for truth degrees where the property
//! fails, which must find some exactly where the table has no tick.

use crate::cases::propositional::{Degrees, Formulas};
use crate::cases::rng::Rng;
use logltn::{Parameters, Semantics};

/// How the two formulas of a property must compare.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Relation {
    Equal,
    AtMost,
    AtLeast,
}
use Relation::{AtLeast, AtMost, Equal};

/// A property, as pairs of formulas that must all compare.
struct Property {
    name: &'static str,
    pairs: &'static [(&'static str, Relation, &'static str)],
}

const PROPERTIES: [Property; 14] = [
    Property {
        name: "commutativity",
        pairs: &[
            ("p() and q()", Equal, "q() and p()"),
            ("p() or q()", Equal, "q() or p()"),
        ],
    },
    Property {
        name: "associativity",
        pairs: &[
            ("(p() and q()) and r()", Equal, "p() and (q() and r())"),
            ("(p() or q()) or r()", Equal, "p() or (q() or r())"),
        ],
    },
    Property {
        name: "De Morgan's laws",
        pairs: &[
            ("not (p() and q())", Equal, "not p() or not q()"),
            ("not (p() or q())", Equal, "not p() and not q()"),
        ],
    },
    Property {
        name: "material implication",
        pairs: &[("p() -> q()", Equal, "not p() or q()")],
    },
    Property {
        name: "∧ over ∨",
        pairs: &[(
            "p() and (q() or r())",
            Equal,
            "(p() and q()) or (p() and r())",
        )],
    },
    Property {
        name: "∨ over ∧",
        pairs: &[(
            "p() or (q() and r())",
            Equal,
            "(p() or q()) and (p() or r())",
        )],
    },
    Property {
        name: "double negation",
        pairs: &[("not not p()", Equal, "p()")],
    },
    Property {
        name: "p ∧ ¬p is 0",
        pairs: &[("p() and not p()", Equal, FALSE)],
    },
    Property {
        name: "p ∨ ¬p is 1",
        pairs: &[("p() or not p()", Equal, TRUE)],
    },
    Property {
        name: "conjunction elimination",
        pairs: &[("p() and p()", AtMost, "p()")],
    },
    Property {
        name: "disjunction amplification",
        pairs: &[("p() or p()", AtLeast, "p()")],
    },
    Property {
        name: "∀ generalises ∧",
        pairs: &[("forall u: U. P(u)", Equal, "all u: U. P(u)")],
    },
    Property {
        name: "∃ generalises ∨",
        pairs: &[("exists u: U. P(u)", Equal, "any u: U. P(u)")],
    },
    Property {
        name: "De Morgan's laws for ∀, ∃",
        pairs: &[
            ("not (forall u: U. P(u))", Equal, "exists u: U. not P(u)"),
            ("not (exists u: U. P(u))", Equal, "forall u: U. not P(u)"),
        ],
    },
];

/// Crisp falsity and truth: connectives without members.
const FALSE: &str = "any u: U where u > 9. P(u)";
const TRUE: &str = "all u: U where u > 9. P(u)";

fn with(base: &str, changes: &[(&str, &str)], eps: f64) -> Semantics {
    let base = Semantics::named(base)
        .unwrap()
        .with_stable_eps(eps)
        .unwrap();
    (changes.iter()).fold(base, |s, (key, operator)| s.with(key, operator).unwrap())
}

/// Product and maximum, with `not` as the operator 1 − x: what the paper's column is about. In log space
/// negation normal form makes De Morgan's laws true of every formula by rewriting it.
fn logltn_operators() -> Semantics {
    let changes = [
        ("or", "max"),
        ("implies", "kleene_dienes"),
        ("forall", "product"),
        ("exists", "max"),
    ];
    with("stable", &changes, 0.0)
}

/// `prod`, and for the formulas that it refuses the same operators with Π instead of Σ log.
fn product_real_logic() -> [Semantics; 2] {
    [
        with("prod", &[], 0.0),
        with("stable", &[("forall", "product")], 0.0),
    ]
}

const P_DIFFERS: Parameters = Parameters {
    alpha: 2.0,
    p: 2.0,
    p_forall: 3.0,
};

/// The truth degrees that break a property most, of those tried, with the two formulas' truth.
fn counterexample(
    property: &Property,
    semantics: &[Semantics],
    parameters: Parameters,
) -> Option<(Degrees, f64, f64)> {
    let mut rng = Rng::new(11);
    let mut worst = 1e-9; // rounding breaks nothing
    let mut found = None;
    for &(left, relation, right) in property.pairs {
        let formulas = (semantics.iter())
            .find_map(|&semantics| Formulas::new(&[left, right], semantics, parameters))
            .expect("some semantics accepts it");
        for round in 0..600 {
            // First the corners and middles, then anywhere.
            let degrees = [(); 6].map(|()| match round {
                0..200 => [0.0, 0.5, 1.0][rng.below(3)],
                _ => rng.uniform(),
            });
            let truths = formulas.truths(degrees);
            assert!(truths.iter().all(|t| t.is_finite()), "{left}: {truths:?}");
            let difference = truths[0] - truths[1];
            let violation = match relation {
                Equal => difference.abs(),
                AtMost => difference,
                AtLeast => -difference,
            };
            if violation > worst {
                worst = violation;
                found = Some((degrees, truths[0], truths[1]));
            }
        }
    }
    found
}

/// The properties for which no counterexample was found.
fn ticks(name: &str, semantics: &[Semantics], parameters: Parameters) -> Vec<&'static str> {
    let found = |property: &&Property| {
        let found = counterexample(property, semantics, parameters);
        if let Some((degrees, left, right)) = found {
            println!(
                "{name}: {} fails at {degrees:.3?}: {left:.8} and {right:.8}",
                property.name
            );
        }
        found.is_none()
    };
    PROPERTIES.iter().filter(found).map(|p| p.name).collect()
}

const ALWAYS: [&str; 6] = [
    "commutativity",
    "associativity",
    "material implication",
    "double negation",
    "conjunction elimination",
    "disjunction amplification",
];

fn and_also(more: &[&'static str]) -> Vec<&'static str> {
    (PROPERTIES.iter().map(|p| p.name))
        .filter(|name| ALWAYS.contains(name) || more.contains(name))
        .collect()
}

#[test]
fn the_papers_column_of_logltn() {
    let expected = and_also(&["∧ over ∨", "∀ generalises ∧", "∃ generalises ∨"]);
    assert_eq!(ticks("logLTN", &[logltn_operators()], P_DIFFERS), expected);
}

#[test]
fn the_papers_column_of_product_real_logic() {
    let expected = and_also(&["De Morgan's laws", "∀ generalises ∧"]);
    assert_eq!(ticks("Prod RL", &product_real_logic(), P_DIFFERS), expected);
}

#[test]
fn the_papers_column_of_stable_real_logic() {
    let stable = [with("stable", &[], 0.0)];
    let expected = and_also(&["De Morgan's laws"]);
    assert_eq!(ticks("Stable RL", &stable, P_DIFFERS), expected);
    // The table leaves this out: with the same p, pMean and pMeanError are duals.
    let same = Parameters {
        p_forall: 2.0,
        ..P_DIFFERS
    };
    let expected = and_also(&["De Morgan's laws", "De Morgan's laws for ∀, ∃"]);
    assert_eq!(ticks("Stable RL, p = p_forall", &stable, same), expected);
}

/// What the table does not show: the semantics as they are trained with.
#[test]
fn the_semantics_as_they_run() {
    let without = |left_out: &[&str], more: &[&'static str]| -> Vec<&'static str> {
        let all = and_also(more).into_iter();
        all.filter(|name| !left_out.contains(name)).collect()
    };
    let rewritten = ["De Morgan's laws", "De Morgan's laws for ∀, ∃"];

    // LogMeanExp is not associative, and the mean is no conjunction.
    let logltn = [with("logltn", &[], 0.0)];
    let expected = without(
        &["associativity"],
        &[&rewritten[..], &["∧ over ∨", "∃ generalises ∨"]].concat(),
    );
    assert_eq!(ticks("logltn", &logltn, P_DIFFERS), expected);

    let max = [with("logltn-max", &[], 0.0)];
    let expected = and_also(&[&rewritten[..], &["∧ over ∨", "∃ generalises ∨"]].concat());
    assert_eq!(ticks("logltn-max", &max, P_DIFFERS), expected);

    // The projections keep what is dual, and lose what compares a proposition with itself.
    let stable = [with("stable", &[], 1e-4)];
    let lost = [
        "associativity",
        "conjunction elimination",
        "disjunction amplification",
    ];
    let expected = without(&lost, &["De Morgan's laws"]);
    assert_eq!(ticks("stable, ε = 1e-4", &stable, P_DIFFERS), expected);
}
