//! Whatever the text, the language neither panics nor overflows the stack nor takes long, and what it
//! accepts survives a round trip through the printer.

use std::time::{Duration, Instant};

use crate::common::random_theory::{Rng, random_theory};
use logltn::theory::{Formula, FormulaKind};
use logltn::{Diagnostics, Labels, Source, Theory};
use proptest::prelude::*;

/// Everything that can be done with a text; `None` if it is refused. The messages are rendered too.
fn run_through(text: &str) -> Option<Theory> {
    let mut found = Diagnostics::new();
    let source = Source::new("theory.ltn", text);
    let theory = Theory::parse_as_far_as_possible(source, &Labels::default(), &mut found);
    let rendered = found.to_string();
    if found.has_errors() {
        assert!(rendered.contains("error"), "{rendered}");
        return None;
    }
    for axiom in &theory.axioms {
        if let Some(nnf) = axiom.formula.nnf() {
            assert_negation_at_atoms(&nnf);
        }
    }
    Some(theory)
}

fn assert_negation_at_atoms(formula: &Formula) {
    match &formula.kind {
        FormulaKind::Use { .. } => unreachable!("no definitions here"),
        FormulaKind::Atom { .. } => {}
        FormulaKind::Not(inner) => {
            assert!(matches!(inner.kind, FormulaKind::Atom { .. }), "{inner:?}");
        }
        FormulaKind::And(members) | FormulaKind::Or(members) => {
            assert!(members.len() > 1);
            members.iter().for_each(assert_negation_at_atoms);
        }
        FormulaKind::Implies(..) | FormulaKind::Iff(..) => panic!("{formula:?}"),
        FormulaKind::Quantified { body, .. } => assert_negation_at_atoms(body),
    }
}

fn parse(text: &str) -> Theory {
    Theory::parse(Source::new("theory.ltn", text)).unwrap_or_else(|e| panic!("{e}\nin\n{text}"))
}

const WORDS: &[&str] = &[
    "sort",
    "table",
    "predicate",
    "function",
    "constant",
    "param",
    "axiom",
    "for",
    "in",
    "where",
    "not",
    "and",
    "or",
    "forall",
    "exists",
    "all",
    "any",
    "Int",
    "Real",
    "weight",
    "A",
    "P",
    "T",
    "f",
    "x",
    "y",
    "c",
    "dist",
    "abs",
    "min",
    "(",
    ")",
    "(",
    ")",
    "(",
    ")",
    "{",
    "}",
    "[",
    "]",
    ",",
    ",",
    ":",
    ":",
    ".",
    ".",
    "..",
    "=",
    "!=",
    "<",
    "<=",
    ">",
    ">=",
    "+",
    "-",
    "*",
    "/",
    "%",
    "->",
    "<->",
    "¬",
    "∧",
    "∨",
    "→",
    "↔",
    "∀",
    "∃",
    "⋀",
    "⋁",
    "0",
    "1",
    "9",
    "2.5",
    "1e3",
    "-1",
    "99999999999999999999",
    "#",
    "\n",
    "\n",
    "\t",
    "\r\n",
    "&&",
    "≤",
    "'",
    "\"",
    "$",
    "猫",
    "e\u{301}",
    "\u{200b}",
    ";",
    "//",
    "\\",
];

/// A few declarations, so that token soup gets past the parser now and then.
const SYMBOLS: &str =
    "sort A = 0..9\ntable T(x: A, y: A)\nfunction f(A): A\nconstant c: A\npredicate P(A)\n";

fn mutated(text: &str, seed: u64) -> String {
    let mut rng = Rng::new(seed);
    let mut characters: Vec<char> = text.chars().collect();
    for _ in 0..1 + rng.below(6) {
        let at = rng.below(characters.len());
        let length = 1 + rng.below(8);
        let end = (at + length).min(characters.len());
        match rng.below(4) {
            0 => drop(characters.drain(at..end)),
            1 => {
                let word = rng.pick(WORDS);
                drop(characters.splice(at..at, word.chars()));
            }
            2 => {
                let copy: Vec<char> = characters[at..end].to_vec();
                let to = rng.below(characters.len());
                drop(characters.splice(to..to, copy));
            }
            _ => {
                let other = rng.below(characters.len());
                if !characters.is_empty() {
                    characters.swap(at, other);
                }
            }
        }
    }
    characters.into_iter().collect()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2000, ..ProptestConfig::default() })]

    #[test]
    fn arbitrary_text(text in any::<String>()) {
        run_through(&text);
        run_through(&format!("predicate P()\naxiom a: {text}"));
    }

    #[test]
    fn arbitrary_words(words in prop::collection::vec(prop::sample::select(WORDS), 0..60), glued in any::<bool>()) {
        let text = words.join(if glued { "" } else { " " });
        run_through(&text);
        run_through(&format!("{SYMBOLS}axiom a: {text}"));
        run_through(&format!("{SYMBOLS}axiom a: forall x: A where {text}. P(x)"));
    }

    #[test]
    fn mutated_theories(seed in any::<u64>(), mutation in any::<u64>()) {
        run_through(&mutated(&random_theory(seed, 3), mutation));
    }

    #[test]
    fn printed_theories_parse_back(seed in any::<u64>(), size in 0_usize..5) {
        let text = random_theory(seed, size);
        let theory = parse(&text);
        let printed = theory.to_string();
        let again = parse(&printed);
        prop_assert!(theory.same_as(&again), "{text}\nprinted as\n{printed}");
        prop_assert_eq!(again.to_string(), printed);
    }

    #[test]
    fn normal_forms_parse_back(seed in any::<u64>(), size in 0_usize..5) {
        let mut theory = parse(&random_theory(seed, size));
        for axiom in &mut theory.axioms {
            let Some(nnf) = axiom.formula.nnf() else { continue };
            assert_negation_at_atoms(&nnf);
            prop_assert!(nnf.nnf().as_ref() == Some(&nnf));
            axiom.formula = nnf;
        }
        let printed = theory.to_string();
        // An equivalence binds its variables twice, so only the text can be the same.
        prop_assert_eq!(parse(&printed).to_string(), printed);
    }

    #[test]
    fn queries(seed in any::<u64>(), words in prop::collection::vec(prop::sample::select(WORDS), 0..20)) {
        let theory = parse(&random_theory(seed, 2));
        for axiom in theory.axioms.iter().filter(|a| a.family.is_none()) {
            let shown = theory.show(axiom, &axiom.formula);
            let query = theory.parse_formula(Source::new("query", shown.as_str()));
            let query = query.unwrap_or_else(|e| panic!("{e}\n{shown}"));
            prop_assert_eq!(theory.show(&query, &query.formula), shown);
        }
        if let Err(errors) = theory.parse_formula(Source::new("query", words.join(" "))) {
            prop_assert!(!errors.to_string().is_empty());
        }
    }
}

// --- depth -------------------------------------------------------------------------------------------

/// On a thread with the default stack of 2 MB, drops included; fails if it takes minutes.
fn on_a_small_stack(work: impl FnOnce() + Send + 'static) {
    let thread = std::thread::Builder::new().stack_size(2 << 20).spawn(work);
    let result = thread.map(std::thread::JoinHandle::join);
    assert!(matches!(result, Ok(Ok(()))));
}

/// Parses, and does everything with it that recursion can break: clone, compare, print, drop.
fn full_circle(text: &str) -> bool {
    let Some(theory) = run_through(text) else {
        return false;
    };
    let printed = theory.to_string();
    let again = parse(&printed);
    assert!(theory.same_as(&again));
    let copy = theory.clone();
    assert!(copy.axioms == theory.axioms);
    true
}

fn accepted(text: String) {
    on_a_small_stack(move || assert!(full_circle(&text), "refused"));
}

fn refused(text: String) {
    on_a_small_stack(move || assert!(!full_circle(&text), "accepted"));
}

const RAINS: &str = "predicate rains()\naxiom a: ";
const GUARD: &str =
    "sort A = 0..9\npredicate P(A)\nfunction f(A): A\ntable T(x: A)\naxiom a: forall x: A where ";

#[test]
fn nested_parentheses() {
    let nested = |n: usize| format!("{RAINS}{}rains(){}", "(".repeat(n), ")".repeat(n));
    accepted(nested(1000));
    refused(nested(1001));
    refused(nested(100_000));
    refused(format!("{RAINS}{}", "(".repeat(100_000)));
    refused(format!("{RAINS}rains(){}", ")".repeat(100_000)));
}

#[test]
fn nested_negations() {
    accepted(format!("{RAINS}{}rains()", "not ".repeat(1000)));
    refused(format!("{RAINS}{}rains()", "not ".repeat(200_000)));
    refused(format!("{RAINS}{}rains()", "!".repeat(200_000)));
    let minus = |n: usize| format!("{GUARD}{}1 < x. P(x)", "- ".repeat(n));
    accepted(minus(999)); // and the quantifier
    refused(minus(100_000));
}

#[test]
fn nested_calls() {
    let calls = |n: usize| format!("{GUARD}x < 3. P({}x{})", "f(".repeat(n), ")".repeat(n));
    accepted(calls(998));
    refused(calls(100_000));
    let abs = |n: usize| format!("{GUARD}{}x{} < 3. P(x)", "abs(".repeat(n), ")".repeat(n));
    accepted(abs(998));
    refused(abs(100_000));
    refused(format!("{GUARD}x < 3. {}", "P(".repeat(100_000)));
}

#[test]
fn nested_quantifiers() {
    let quantifiers = |n: usize| {
        let binders: String = (0..n).map(|i| format!("exists x{i}: A. ")).collect();
        format!("sort A\npredicate P(A)\naxiom a: {binders}P(x0)")
    };
    accepted(quantifiers(999)); // and the atom's parentheses
    refused(quantifiers(1000));
    refused(quantifiers(100_000));
    let in_connectives = |n: usize| {
        let binders: String = (0..n)
            .map(|i| format!("P(c) and exists x{i}: A. "))
            .collect();
        format!("sort A\nconstant c: A\npredicate P(A)\naxiom a: {binders}P(x0)")
    };
    accepted(in_connectives(999));
    refused(in_connectives(100_000));
    let guards = |n: usize| {
        let binders: String = (0..n).map(|i| format!("exists x{i}: A where ")).collect();
        format!("{GUARD}{binders}T(x){}. P(x)", ". T(x)".repeat(n))
    };
    accepted(guards(998));
    refused(guards(100_000));
}

#[test]
fn long_implications_and_chains() {
    let implications = |n: usize| format!("{RAINS}{}rains()", "rains() -> ".repeat(n));
    accepted(implications(1000));
    refused(implications(100_000));
    refused(format!("{RAINS}{}rains()", "rains() <-> ".repeat(100_000)));
    refused(format!("{GUARD}{}x. P(x)", "x < ".repeat(100_000)));
    refused(format!("{GUARD}(x < 1){}. P(x)", " = x".repeat(100_000)));
}

#[test]
fn long_runs_are_flat() {
    accepted(format!("{RAINS}{}rains()", "rains() and ".repeat(100_000)));
    accepted(format!("{RAINS}{}rains()", "rains() or ".repeat(100_000)));
    accepted(format!("{GUARD}{}x < 3. P(x)", "x + ".repeat(100_000)));
    accepted(format!("{GUARD}{}x < 3. P(x)", "x * ".repeat(100_000)));
    accepted(format!("{GUARD}{}x < 3. P(x)", "x < 2 or ".repeat(100_000)));
    accepted(format!("{GUARD}min({}x) < 3. P(x)", "x, ".repeat(100_000)));
}

/// The deepest tree that a thousand parentheses allow: every level of precedence at every level.
#[test]
fn the_deepest_tree() {
    let nested = |level: &str| format!("{RAINS}{}rains(){}", "(".repeat(999), level.repeat(999));
    accepted(nested(") and rains() or rains() -> rains()"));
    let text = nested(") and rains() or rains() -> rains() <-> rains()");
    on_a_small_stack(move || {
        let theory = parse(&text);
        assert!(theory.axioms[0].formula.nnf().is_none());
        assert!(theory.same_as(&parse(&theory.to_string())));
    });
    let level = "not (x < 2 and x < 3 or T(1 + 2 * -(x % (";
    let text = format!("{GUARD}{}x{}. P(x)", level.repeat(2), "))))".repeat(2));
    refused(text); // a condition within arithmetic
    let level = "1 + 2 * -(";
    accepted(format!(
        "{GUARD}x < {}x{}. P(x)",
        level.repeat(499),
        ")".repeat(499)
    ));
}

#[test]
fn equivalences_blow_up_and_are_refused_quickly() {
    let nested = |n: usize| {
        format!(
            "{RAINS}{}rains(){}",
            "(rains() <-> ".repeat(n),
            ")".repeat(n)
        )
    };
    let start = Instant::now();
    for (levels, fits) in [(1, true), (10, true), (40, false), (999, false)] {
        let theory = parse(&nested(levels));
        assert_eq!(theory.axioms[0].formula.nnf().is_some(), fits, "{levels}");
    }
    assert!(start.elapsed() < Duration::from_secs(10));
}

/// What somebody has written is as long as it is.
#[test]
fn a_million_members_are_no_blow_up() {
    let theory = parse(&format!(
        "{RAINS}{}rains()",
        "rains() and ".repeat(1_000_000)
    ));
    assert!(theory.axioms[0].formula.nnf().is_some());
}

// --- length ------------------------------------------------------------------------------------------

/// Runs a text of ten thousand and one of a hundred thousand parts: ten times the text may take ten
/// times the time and some, not a hundred times. Another program that takes the processor at the wrong
/// moment is forgiven; what is quadratic is slow at every attempt.
fn takes_linear_time(make: impl Fn(usize) -> String) {
    let time = |n: usize| {
        let text = make(n);
        let start = Instant::now();
        if let Some(theory) = run_through(&text) {
            let printed = theory.to_string();
            assert!(theory.same_as(&parse(&printed)));
        }
        start.elapsed()
    };
    let mut seen = Vec::new();
    for _attempt in 0..4 {
        let (short, long) = (time(10_000), time(100_000));
        if long < 40 * short.max(Duration::from_millis(20)) {
            return;
        }
        seen.push((short, long));
    }
    panic!("for 10,000 and 100,000 parts: {seen:?}");
}

fn repeated(head: &str, n: usize, part: impl Fn(usize) -> String) -> String {
    let parts: String = (0..n).map(part).collect();
    format!("{head}{parts}")
}

#[test]
fn many_axioms() {
    takes_linear_time(|n| {
        repeated("sort A\npredicate P(A)\n", n, |i| {
            format!("axiom a{i}: forall x: A. P(x) -> not P(x)\n")
        })
    });
}

#[test]
fn many_declarations() {
    takes_linear_time(|n| {
        let mut text = repeated("", n, |i| format!("sort S{i}\npredicate P{i}(S{i})\n"));
        text.push_str(&repeated("", n, |i| {
            format!("axiom a{i}: forall x: S{i}. P{i}(x)\n")
        }));
        text
    });
    takes_linear_time(|n| {
        let labels = repeated("sort L = {", n, |i| format!("l{i}, "));
        let columns = repeated("table T(", n, |i| format!("c{i}: L, "));
        let cells = repeated("T(", n, |i| format!("l{i}, "));
        format!("{labels}}}\n{columns})\npredicate P(L)\naxiom a: forall x: L where {cells}). P(x)")
    });
}

#[test]
fn many_variables() {
    takes_linear_time(|n| {
        let binder = repeated("axiom a: forall ", n, |i| format!("x{i}, "));
        let uses = repeated("", n, |i| format!("P(x{i}) and "));
        format!("sort A\npredicate P(A)\n{binder}y: A. {uses}P(y)")
    });
}

#[test]
fn many_mistakes() {
    let head = "sort A\npredicate P(A)\n";
    takes_linear_time(|n| repeated(head, n, |i| format!("axiom a{i}: forall x: A. Q{i}(x)\n")));
    takes_linear_time(|n| {
        repeated(head, n, |i| {
            format!("axiom a{i}: forall x: B{i}. P(y{i})\n")
        })
    });
    takes_linear_time(|n| repeated(head, n, |i| format!("axiom a{i}: P(P(\n")));
    takes_linear_time(|n| repeated(head, n, |_| "sort A\n".into()));
    takes_linear_time(|n| {
        repeated(head, n, |i| {
            format!("predicate Q{i}(A, A)\naxiom a{i}: Q{i}()\n")
        })
    });
    takes_linear_time(|n| repeated("axiom a: ", n, |_| "? ! ".into()));
    takes_linear_time(|n| repeated("", n, |_| "what is this ".into()));
    takes_linear_time(|n| repeated("", n, |_| "what is this\n".into()));
    takes_linear_time(|n| repeated("axiom a: forall ", n, |i| format!("x{i}, ")));
    takes_linear_time(|n| repeated("axiom a: ", n, |_| "\"".into()));
    takes_linear_time(|n| repeated("axiom a: ", n, |_| "\"\t\\n\" ".into()));
    takes_linear_time(|n| repeated("axiom a: P(\"", n, |_| "\\a ".into()));
    takes_linear_time(|n| repeated("axiom a: ", n, |_| "a' ".into()));
    // Far from the declarations that the messages show.
    takes_linear_time(|n| {
        let mut text = repeated(head, n, |i| format!("axiom a{i}: forall x: A. P(x)\n"));
        text.push_str(&repeated("", 50, |i| format!("axiom b{i}: P()\n")));
        text
    });
}
