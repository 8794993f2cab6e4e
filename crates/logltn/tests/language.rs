//! The language as `docs/language.md` describes it, sentence by sentence.

use logltn::theory::{BoundBy, FormulaKind, Quantifier, SortKind};
use logltn::{Diagnostics, Labels, Source, Theory};

const SYMBOLS: &str = "sort Point sort Digit = 0..9 sort Colour = {red, green} param near constant origin: Point
    table pairs(x: Point, y: Point) table sums(x: Point, n: Int) predicate a() predicate b() predicate c()
    predicate d() predicate P(Point) predicate D(Digit) predicate K(Colour) ";

fn parse(text: &str) -> Theory {
    Theory::parse(Source::new("theory.ltn", text)).unwrap_or_else(|e| panic!("{e}\nin\n{text}"))
}

fn errors(text: &str) -> String {
    match Theory::parse(Source::new("theory.ltn", text)) {
        Ok(_) => panic!("accepted: {text}"),
        Err(errors) => errors.to_string(),
    }
}

fn warnings(text: &str) -> Vec<String> {
    let mut found = Diagnostics::new();
    let source = Source::new("theory.ltn", text);
    Theory::parse_as_far_as_possible(source, &Labels::default(), &mut found);
    assert!(!found.has_errors(), "{found}");
    found.iter().map(|d| d.message().to_string()).collect()
}

/// The theory with one axiom over [`SYMBOLS`].
fn with_axiom(formula: &str) -> Theory {
    parse(&format!("{SYMBOLS}\naxiom x: {formula}"))
}

fn accepts(formula: &str) {
    with_axiom(formula);
}

/// Both texts are read as the same tree.
fn same(one: &str, other: &str) {
    assert!(
        with_axiom(one).same_as(&with_axiom(other)),
        "{one} is not {other}"
    );
}

fn different(one: &str, other: &str) {
    assert!(
        !with_axiom(one).same_as(&with_axiom(other)),
        "{one} is {other}"
    );
}

fn nnf(formula: &str) -> String {
    let theory = with_axiom(formula);
    let axiom = &theory.axioms[0];
    let nnf = axiom.formula.nnf().expect("small");
    theory.show(axiom, &nnf)
}

// --- formulas ----------------------------------------------------------------------------------------

#[test]
fn precedence_from_not_to_equivalence() {
    same("not a() and b()", "(not a()) and b()");
    same("a() and b() or c()", "(a() and b()) or c()");
    same("a() or b() and c()", "a() or (b() and c())");
    same("a() or b() -> c() and d()", "(a() or b()) -> (c() and d())");
    same("a() -> b() -> c()", "a() -> (b() -> c())");
    different("a() -> b() -> c()", "(a() -> b()) -> c()");
    same("a() -> b() <-> c() -> d()", "(a() -> b()) <-> (c() -> d())");
    same("not not a()", "not (not a())");
    assert!(errors(&format!("{SYMBOLS} axiom x: a() <-> b() <-> c()")).contains("does not chain"));
}

#[test]
fn a_run_is_one_connective_and_parentheses_make_another() {
    let members = |formula: &str| match &with_axiom(formula).axioms[0].formula.kind {
        FormulaKind::And(members) | FormulaKind::Or(members) => members.len(),
        other => panic!("{other:?}"),
    };
    assert_eq!(members("a() or b() or c()"), 3);
    assert_eq!(members("(a() or b()) or c()"), 2);
    assert_eq!(members("a() and b() and c() and d()"), 4);
    different("a() or b() or c()", "(a() or b()) or c()");
    different("a() or b() or c()", "a() or (b() or c())");
    same("((a())) or (b())", "a() or b()");
}

#[test]
fn words_and_symbols() {
    same(
        "forall x: Point. exists y: Point. not P(x) and a() or b() -> c() <-> P(y)",
        "∀x: Point. ∃y: Point. ¬P(x) ∧ a() ∨ b() → c() ↔ P(y)",
    );
    same(
        "all d: Digit. any e: Digit. D(d) and D(e)",
        "⋀d: Digit. ⋁e: Digit. D(d) ∧ D(e)",
    );
}

#[test]
fn a_body_reaches_as_far_right_as_it_can() {
    same(
        "forall x: Point. P(x) -> a() <-> b()",
        "forall x: Point. (P(x) -> a() <-> b())",
    );
    same(
        "a() and forall x: Point. P(x) or b()",
        "a() and (forall x: Point. P(x) or b())",
    );
    different(
        "(forall x: Point. P(x)) or b()",
        "forall x: Point. P(x) or b()",
    );
    same(
        "not exists x: Point. P(x) and a()",
        "not (exists x: Point. P(x) and a())",
    );
}

#[test]
fn binders() {
    same(
        "exists x, y: Point, d: Digit. P(x) and P(y) and D(d)",
        "exists x: Point, y: Point, d: Digit. P(x) and P(y) and D(d)",
    );
    // Several variables in one quantifier are one aggregation, nested quantifiers are two.
    different(
        "exists x, y: Point. P(x) and P(y)",
        "exists x: Point. exists y: Point. P(x) and P(y)",
    );
    accepts("forall (x, y) in pairs where x != y. P(x) and P(y)");
    accepts("forall (p, n) in sums. exists d: Digit where d = n. P(p) and D(d)");
    // Siblings may reuse names.
    accepts("(forall x: Point. P(x)) and (exists x: Digit. D(x))");
    // Variables may have the names of sorts, tables and predicates.
    accepts("forall P: Point. P(P)");
}

#[test]
fn literals_are_individuals() {
    accepts("D(0) and D(9) and K(red) and P(origin)");
    let negative = "sort N = -3..3 predicate Q(N) axiom x: Q(-3) and Q(-0) and Q(- 2)";
    parse(negative);
    assert!(errors(&negative.replace("-3)", "-4)")).contains("`-4` is not in sort `N`"));
}

// --- negation normal form ----------------------------------------------------------------------------

#[test]
fn normal_forms_keep_the_nesting() {
    assert_eq!(nnf("a() and b() -> c()"), "(not a() or not b()) or c()");
    assert_eq!(nnf("a() <-> b()"), "(not a() or b()) and (not b() or a())");
    assert_eq!(
        nnf("not (a() <-> b())"),
        "a() and not b() or b() and not a()"
    );
    assert_eq!(nnf("not not a()"), "a()");
    assert_eq!(nnf("not not not a()"), "not a()");
    assert_eq!(
        nnf("not (a() and b() and c())"),
        "not a() or not b() or not c()"
    );
    assert_eq!(
        nnf("not (a() or (b() or c()))"),
        "not a() and (not b() and not c())"
    );
    assert_eq!(nnf("not (a() -> b())"), "a() and not b()");
    assert_eq!(nnf("a() -> b() -> c()"), "not a() or (not b() or c())");
}

#[test]
fn normal_forms_of_quantifiers_keep_the_guard() {
    assert_eq!(
        nnf("not (forall x: Point where dist(x, origin) < near. P(x))"),
        "exists x: Point where dist(x, origin) < near. not P(x)"
    );
    assert_eq!(
        nnf("not (exists (x, y) in pairs where x != y. P(x) and P(y))"),
        "forall (x, y) in pairs where x != y. not P(x) or not P(y)"
    );
    assert_eq!(
        nnf("not (all d: Digit where d < 3. D(d))"),
        "any d: Digit where d < 3. not D(d)"
    );
    assert_eq!(
        nnf("not (any d: Digit where d < 3. D(d))"),
        "all d: Digit where d < 3. not D(d)"
    );
    assert_eq!(
        nnf("not forall x: Point. exists d: Digit. P(x) -> D(d)"),
        "exists x: Point. forall d: Digit. P(x) and not D(d)"
    );
}

// --- guards ------------------------------------------------------------------------------------------

#[test]
fn precedence_in_guards() {
    let same = |one: &str, other: &str| {
        let text = |guard: &str| {
            format!("forall x: Point, d, e: Digit where {guard}. P(x) and D(d) and D(e)")
        };
        same(&text(one), &text(other));
    };
    same("d + e * 2 < 3", "(d + (e * 2)) < 3");
    same("not d < e and e < d", "(not (d < e)) and (e < d)");
    same("d < 1 or e < 2 and d = e", "d < 1 or (e < 2 and d = e)");
    same("-d * 2 < 1", "(-d) * 2 < 1");
    same("d - e - 1 < 2", "d - e - 1 < (2)");
    same(
        "pairs(x, x) and exists y: Point. pairs(x, y)",
        "pairs(x, x) and (exists y: Point. pairs(x, y))",
    );
}

#[test]
fn everything_a_guard_may_use() {
    accepts(
        "forall x, y: Point, d, e: Digit, k: Colour where dist(x, y) <= near and abs(d - e) > 1 and min(d, e, 3) = 1
            and max(d, near) >= 2 and d % 3 != 1 and d / 2 < 2.5 and k = red and x != origin and pairs(x, y)
            and sums(x, d + e) and not (exists (p, q) in pairs where p = x. q = y)
            and (exists f: Digit where f < d. f + e = 3). P(x) and P(y) and D(d) and D(e) and K(k)",
    );
    // An individual of an integer sort is its integer, whatever the sort.
    parse(
        "sort A = 0..3 sort B = 5..9 predicate P(A, B) axiom x: forall a: A, b: B where a + 5 = b and a = b. P(a, b)",
    );
}

#[test]
fn guards_of_families_and_big_connectives_see_no_batch_data() {
    let theory = parse(
        "sort Type = {car, wheel} table ontology(w: Type, p: Type) param limit predicate T(Type)
         axiom parts (weight 2) for w: Type where exists p: Type. ontology(w, p):
             T(w) -> (any p: Type where ontology(w, p) and limit > 2. T(p))",
    );
    let axiom = &theory.axioms[0];
    assert_eq!(axiom.weight, 2.0);
    let bound_by: Vec<_> = axiom.variables.iter().map(|v| v.bound_by).collect();
    assert_eq!(
        bound_by,
        [
            BoundBy::Family,
            BoundBy::Guard,
            BoundBy::Quantifier(Quantifier::Any)
        ]
    );
    let text = "sort A = 0..3 predicate P(A) axiom x: forall a: A. any b: A where a < b. P(b)";
    assert!(errors(text).contains("the guard of `any` cannot look at `a`"));
    // The body may.
    parse("sort A = 0..3 predicate P(A, A) axiom x: forall a: A. any b: A where b < 2. P(a, b)");
}

// --- lexical -----------------------------------------------------------------------------------------

#[test]
fn dots_after_numbers() {
    accepts("forall x: Point where dist(x, origin) < 2.5. P(x)");
    accepts("forall x: Point where dist(x, origin) < 2. P(x)");
    accepts("forall x: Point where dist(x, origin) < 2.P(x)");
    accepts("forall x: Point where dist(x, origin) < 1e-3. P(x)");
    accepts("forall x: Point where dist(x, origin) < 1.5E+3.P(x)");
}

#[test]
fn comments_line_ends_and_byte_order_mark() {
    let text =
        "# first\nsort A # a sort\npredicate P(A) # ∀ \"\n\naxiom x: forall a: A. # why\n    P(a)";
    let theory = parse(text);
    assert!(theory.same_as(&parse(&text.replace('\n', "\r\n"))));
    assert!(theory.same_as(&parse(&format!("\u{feff}{text}"))));
    assert!(theory.same_as(&parse(&format!("{text}\n# the end"))));
    assert!(parse("").axioms.is_empty());
    assert!(parse("# nothing\n").axioms.is_empty());
}

#[test]
fn names_of_any_script() {
    parse(
        "sort Größe sort 点 = {一, 二} predicate 猫(点) predicate _p1(Größe) axiom Ω: 猫(一) and forall ж: Größe. _p1(ж)",
    );
}

#[test]
fn namespaces() {
    // Columns and axioms have their own, reserved words included.
    let theory = parse(
        "sort A table t(where: A, t: A, Int: Int) predicate P(A)
         axiom any: forall (x, y, n) in t where n < 3. P(x) and P(y)
         axiom P: forall x: A. P(x)
         axiom sort (weight 0): forall x: A. P(x)
         axiom for for x: A: P(x)",
    );
    let names: Vec<_> = theory.axioms.iter().map(|a| a.name.as_str()).collect();
    assert_eq!(names, ["any", "P", "sort", "for"]);
    // Symbols and labels share one.
    for twice in [
        "sort A sort A",
        "sort A = {A}",
        "sort A = {b} param b",
        "param p predicate p()",
    ] {
        assert!(errors(twice).contains("declared twice"), "{twice}");
    }
    // `weight` is not reserved.
    parse(
        "sort A predicate weight(A) axiom weight (weight 1e-2): forall weight: A. weight(weight)",
    );
}

#[test]
fn the_order_of_declarations_is_free() {
    parse("axiom x: forall a: A where T(a). P(a) predicate P(A) table T(x: A) sort A");
}

#[test]
fn sorts() {
    let theory = parse(
        "sort A sort B = -2..2 sort C = {x, y,} predicate P(A, B, C) axiom q: forall a: A. P(a, 1, x)",
    );
    let kinds: Vec<_> = theory.sorts.iter().map(|s| s.kind).collect();
    assert_eq!(
        kinds,
        [SortKind::Data, SortKind::Range(-2, 2), SortKind::Labels]
    );
    assert_eq!(
        theory.sorts.iter().map(|s| s.size()).collect::<Vec<_>>(),
        [None, Some(5), Some(2)]
    );
    assert_eq!(theory.sorts[1].individual_name(0), "-2");
}

#[test]
fn weights() {
    for (weight, value) in [("0", 0.0), ("2", 2.0), ("0.5", 0.5), ("1e-3", 1e-3)] {
        let theory = parse(&format!("predicate a() axiom x (weight {weight}): a()"));
        assert_eq!(theory.axioms[0].weight, value);
    }
    assert_eq!(parse("predicate a() axiom x: a()").axioms[0].weight, 1.0);
    assert!(errors("predicate a() axiom x (weight 1e999): a()").contains("too large"));
}

#[test]
fn functions_of_numbers_feed_predicates_of_numbers() {
    parse(
        "sort A function f(A): Real[3] function g(Real[3]): Real function h(A, A): A predicate Q(Real[3], Real) predicate P(A)
         axiom x: forall a: A. Q(f(h(a, a)), g(f(a))) and P(h(a, h(a, a)))",
    );
    assert!(
        errors("sort A function f(A): Real[3] predicate Q(Real[4]) axiom x: forall a: A. Q(f(a))")
            .contains("`Real[4]`")
    );
}

#[test]
fn labels_of_data_sorts_are_found_by_the_expected_sort() {
    let mut labels = Labels::default();
    labels.insert("A", ["cat", "dog"]);
    labels.insert("B", ["dog", "cat"]);
    let text = "sort A sort B predicate P(A, B) axiom x: P(cat, cat) axiom y: forall a: A where a != cat. P(a, dog)";
    let theory = Theory::parse_with(Source::new("theory.ltn", text), &labels)
        .unwrap_or_else(|e| panic!("{e}"));
    let shown: Vec<_> = theory
        .axioms
        .iter()
        .map(|a| theory.show(a, &a.formula))
        .collect();
    assert_eq!(
        shown,
        ["P(cat, cat)", "forall a: A where a != cat. P(a, dog)"]
    );
    let FormulaKind::Atom { arguments, .. } = &theory.axioms[0].formula.kind else {
        panic!("an atom");
    };
    use logltn::theory::{SortId, TermKind::Individual};
    assert_eq!(arguments[0].kind, Individual(SortId(0), 0));
    assert_eq!(arguments[1].kind, Individual(SortId(1), 1));
}

#[test]
fn labels_in_quotes() {
    let text = r#"sort T = {"reform.n.01", "in", dog} sort D constant ann: D table t(x: T, y: D)
        predicate isa(T, T) predicate P(D)
        axiom a: isa(dog, "reform.n.01") and isa("in", "dog")
        axiom b for x: T where x != "reform.n.01" and exists y: D. t(x, y) and y = "a \"b\"": isa(x, "in")
        axiom c: P("ann") and P(ann) and P("2") and P(other)"#;
    let mut labels = Labels::default();
    labels.insert("D", ["a \"b\"", "ann", "2", "other"]);
    let parse = |text: &str| Theory::parse_with(Source::new("t.ltn", text), &labels);
    let theory = parse(text).unwrap_or_else(|e| panic!("{e}"));
    let printed = theory.to_string();
    // A label of the data that has the name of a constant keeps its quotes.
    for expected in [
        r#"sort T = {"reform.n.01", "in", dog}"#,
        r#"isa("in", dog)"#,
        r#"y = "a \"b\"""#,
        r#"P("ann") and P(ann) and P("2") and P(other)"#,
    ] {
        assert!(printed.contains(expected), "{printed}");
    }
    let again = parse(&printed).unwrap_or_else(|e| panic!("{e}"));
    assert!(theory.same_as(&again), "{printed}");
    for (axiom, expected) in [
        (
            r#"isa(dog, "reform.n.1")"#,
            "sort `T` has no label \"reform.n.1\"",
        ),
        (
            r#"isa(dog, "reform.n.1")"#,
            "did you mean `\"reform.n.01\"`?",
        ),
        (
            r#"isa(dog, reform.n.01)"#,
            "put a label that is not a name in double quotes",
        ),
        (r#"isa(dog, ‘reform.n.01’)"#, "write `\"reform.n.01\"`"),
        (
            r#"isa(dog, 3)"#,
            "use a label: `\"reform.n.01\"`, `\"in\"`, `dog`",
        ),
        (r#""isa"(dog, dog)"#, "names are written without quotes"),
        (r#""dog""#, "a label is an individual, not a formula"),
        (
            r#"forall x: T where "dog". isa(x, x)"#,
            "is not a condition",
        ),
        (
            r#"forall x: T where x = "cat". isa(x, x)"#,
            "sort `T` has no label \"cat\"",
        ),
        (
            r#"forall x: T where 1 < "dog". isa(x, x)"#,
            "`\"dog\"` is an individual of sort `T`, not a number",
        ),
        (
            r#"forall x: T where 1 + "dog" = 2. isa(x, x)"#,
            "\"dog\" is a label, not a number",
        ),
        (r#"isa(dog, "")"#, "this label is empty"),
        (r#"isa(dog, "dog)"#, "this quote is never closed"),
        (r#"isa(dog, "a\nb")"#, "a backslash has no meaning here"),
        ("isa(dog, \"a\tb\")", "a label has no control characters"),
        (r#"P("nobody")"#, "sort `D` has no label \"nobody\""),
        (r#"P("dog")"#, "must be of sort `D`"),
    ] {
        let text = format!(
            "{}\naxiom wrong: {axiom}",
            &text[..text.find("axiom").unwrap_or(0)]
        );
        let errors = parse(&text).expect_err(axiom).to_string();
        assert!(errors.contains(expected), "{axiom}: {errors}");
    }
    for wrong in [
        "sort \"S\" = 0..2",
        "sort S = {a, \"a\"}",
        "predicate \"P\"()",
    ] {
        assert!(
            Theory::parse(Source::new("t.ltn", wrong)).is_err(),
            "{wrong}"
        );
    }
}

// --- warnings ----------------------------------------------------------------------------------------

#[test]
fn what_is_never_used_gets_a_warning() {
    assert_eq!(
        warnings(
            "sort A sort B table t(x: A) param p constant k: A function f(A): A predicate P(A) predicate Q() axiom x: Q()"
        ),
        [
            "sort `B` is never used",
            "table `t` is never used",
            "param `p` is never used",
            "constant `k` is never used",
            "function `f` is never used",
            "predicate `P` is never used",
        ]
    );
    let unused =
        warnings("sort A predicate P() predicate Q(A) axiom x: forall y, _z, u: A. P() and Q(u)");
    assert_eq!(unused, ["variable `y` never occurs"]);
}

#[test]
fn a_variable_of_a_row_is_not_to_be_removed() {
    let text = "sort A table t(x: A, n: Int) predicate P(A)
        axiom a: forall (x, n) in t. P(x)
        axiom b: forall x, y: A. P(x)";
    let mut found = Diagnostics::new();
    Theory::parse_as_far_as_possible(Source::new("t.ltn", text), &Labels::default(), &mut found);
    let help: Vec<&str> = found.iter().filter_map(|w| w.help_text()).collect();
    assert_eq!(
        help,
        [
            "call it `_n` if that is intended",
            "remove it, or call it `_y` if that is intended"
        ]
    );
}
