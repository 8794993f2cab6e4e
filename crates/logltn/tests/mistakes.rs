//! What the tool says to a user who makes a mistake: one snapshot per mistake, message as rendered.
//!
//! After a change, `INSTA_UPDATE=always cargo test -p logltn --test all mistakes::` rewrites the snapshots;
//! then read each one that changed as a new user would.

use logltn::{Source, Theory};

/// Something of every kind, for the axioms below to misuse.
const SYMBOLS: &str = "sort Point
sort Digit = 0..9
sort Colour = {red, green}
param near
constant origin: Point
table pairs(x: Point, y: Point)
table sums(x: Point, n: Int)
function f(Point): Point
predicate C(Point, Digit)
predicate paint(Colour)
predicate rains()
";

fn messages(text: &str) -> String {
    match Theory::parse(Source::new("theory.ltn", text)) {
        Ok(_) => panic!("no error in\n{text}"),
        Err(errors) => errors.to_string(),
    }
}

fn check(name: &str, text: &str) {
    insta::with_settings!({ description => text, omit_expression => true }, {
        insta::assert_snapshot!(name, messages(text));
    });
}

/// Mistakes in axioms over [`SYMBOLS`].
macro_rules! in_axioms {
    ($($name:ident: $text:expr;)*) => {$(
        #[test]
        fn $name() {
            check(stringify!($name), &format!("{SYMBOLS}{}\n", $text));
        }
    )*};
}

/// Mistakes in whole theories.
macro_rules! in_theories {
    ($($name:ident: $text:expr;)*) => {$(
        #[test]
        fn $name() {
            check(stringify!($name), $text);
        }
    )*};
}

// --- names -------------------------------------------------------------------------------------------

in_axioms! {
    unknown_predicate: "axiom a: forall x: Point. C(x, 1) and rians()";
    unknown_predicate_in_another_case: "axiom a: forall x: Point. c(x, 1)";
    unknown_predicate_unlike_any: "axiom a: forall x: Point. elephant(x)";
    unknown_sort: "axiom a: forall x, y: Piont. C(x, 1) and C(y, 1)";
    unknown_table_in_a_guard: "axiom a: forall x: Point where pears(x, x). C(x, 1)";
    unknown_table_in_a_row_binder: "axiom a: forall (x, y) in piars. C(x, 1) and C(y, 1)";
    unknown_function: "axiom a: forall x: Point. C(g(x), 1)";
    unknown_function_in_a_guard: "axiom a: forall x, y: Point where distance(x, y) < 1. C(x, 1) and C(y, 1)";
    unknown_name_in_a_guard: "axiom a: forall x: Point, d: Digit where d < naer. C(x, d)";
    unbound_variable: "axiom a: forall x: Point. C(y, 1)";
    unbound_variable_like_a_bound_one: "axiom a: forall point: Point. C(piont, 1)";
    shadowed_variable: "axiom a: forall x: Point. C(x, 1) -> (exists x: Point. C(x, 2))";
    variable_bound_twice_in_one_binder: "axiom a: forall (x, x) in pairs. C(x, 1)";
    variable_named_as_a_label: "axiom a: forall red: Point. C(red, 1)";
    variable_named_as_a_constant: "axiom a: forall origin: Point. C(origin, 1)";
    variable_named_as_a_param: "axiom a: forall near: Point. C(near, 1)";
    variable_as_a_formula: "axiom a: forall x: Point. x";
    variable_as_a_predicate: "axiom a: forall x: Point. x(origin)";
    reserved_word_as_a_variable: "axiom a: forall in: Point. C(in, 1)";
    cyrillic_lookalike_in_a_name: "axiom a: forall x: Point. С(x, 1)";
    decomposed_accent_in_a_name: "predicate größer(Point)\naxiom a: forall x: Point. gro\u{308}ßer(x)";
}

// --- arities and sorts -------------------------------------------------------------------------------

in_axioms! {
    wrong_arity_of_a_predicate: "axiom a: forall x: Point. C(x)";
    wrong_arity_of_a_function: "axiom a: forall x: Point. C(f(x, x), 1)";
    wrong_arity_of_dist: "axiom a: forall x: Point where dist(x) < 1. C(x, 1)";
    wrong_sort: "axiom a: forall x: Point, d: Digit. C(d, x)";
    wrong_sort_of_a_label: "axiom a: forall d: Digit. paint(d)";
    table_with_wrong_number_of_columns_in_a_guard: "axiom a: forall x: Point where pairs(x). C(x, 1)";
    table_with_wrong_number_of_columns_in_a_row_binder: "axiom a: forall (x) in pairs. C(x, 1)";
    table_as_a_formula: "axiom a: forall x, y: Point. pairs(x, y) -> C(x, 1)";
    sort_as_a_predicate: "axiom a: forall x: Point. Point(x)";
    sort_in_a_row_binder: "axiom a: forall (x) in Point. C(x, 1)";
    function_as_a_formula: "axiom a: forall x: Point. f(x)";
    predicate_as_an_argument: "axiom a: forall x: Point. C(C(x, 1), 1)";
    integer_outside_its_sort: "axiom a: forall x: Point. C(x, 10)";
    integer_for_a_label: "axiom a: paint(0)";
    integer_for_an_individual_of_the_data: "axiom a: C(3, 3)";
    real_as_an_argument: "axiom a: forall x: Point. C(x, 1.5)";
    sum_as_an_argument: "axiom a: forall x: Point, d: Digit. C(x, d + 1)";
    int_column_as_a_predicate_argument: "axiom a: forall (x, n) in sums. C(x, n)";
    param_as_a_predicate_argument: "axiom a: forall x: Point. C(x, near)";
    bare_proposition_without_parentheses: "axiom a: rains";
    bare_predicate_with_arguments: "axiom a: forall x: Point. C";
    bare_unknown_name: "axiom a: rians";
}

// --- guards ------------------------------------------------------------------------------------------

in_axioms! {
    number_as_a_guard: "axiom a: forall x: Point, d: Digit where d. C(x, d)";
    arithmetic_as_a_guard: "axiom a: forall x: Point where dist(x, origin). C(x, 1)";
    predicate_in_a_guard: "axiom a: forall x: Point where C(x, 1). C(x, 2)";
    predicate_compared_in_a_guard: "axiom a: forall x: Point where C(x, 1) > 0.5. C(x, 2)";
    function_that_says_no_number: "axiom a: forall x: Point where f(x) < 3. C(x, 2)";
    function_named_like_arithmetic: "function abs(Point): Real axiom a: forall x: Point where abs(x) < 3. C(x, 2)";
    forall_in_a_guard: "axiom a: forall x: Point where forall y: Point. pairs(x, y). C(x, 2)";
    implication_in_a_guard: "axiom a: forall x, y: Point where pairs(x, y) -> pairs(y, x). C(x, 2) and C(y, 2)";
    chained_comparisons: "axiom a: forall x: Point, d: Digit where 1 < d < 5. C(x, d)";
    comparison_of_a_comparison: "axiom a: forall x: Point, d: Digit where (1 < d) = 5. C(x, d)";
    data_individuals_compared_with_less: "axiom a: forall x, y: Point where x < y. C(x, 1) and C(y, 1)";
    individuals_of_different_sorts: "axiom a: forall x: Point, c: Colour where x = c. C(x, 1) and paint(c)";
    individual_compared_with_a_number: "axiom a: forall x: Point where x < 3. C(x, 1)";
    label_in_arithmetic: "axiom a: forall x: Point where red + 1 < 3. C(x, 1)";
    dist_of_integers: "axiom a: forall x: Point, d: Digit where dist(d, 3) < 2. C(x, d)";
    dist_of_an_unknown_name: "axiom a: forall x: Point where dist(x, y) < 2. C(x, 1)";
    big_connective_guard_uses_a_forall_variable: "axiom a: forall x: Point. any y: Point where pairs(x, y). C(y, 1)";
    any_over_rows: "axiom a: any (x, y) in pairs. C(x, 1) and C(y, 1)";
    comparison_in_a_formula: "axiom a: forall x: Point, d: Digit. d < 3 -> C(x, d)";
    number_as_a_formula: "axiom a: 1 + 2";
    guard_without_a_quantifier: "axiom a: rains() where 1 < 2";
}

// --- punctuation -------------------------------------------------------------------------------------

in_axioms! {
    binder_without_a_colon: "axiom a: exists x Point. C(x, 1)";
    binder_without_a_sort: "axiom a: exists x. C(x, 1)";
    row_binder_without_parentheses: "axiom a: forall x, y in pairs. C(x, 1) and C(y, 1)";
    sorts_in_parentheses: "axiom a: forall (x: Point, y: Point). C(x, 1) and C(y, 1)";
    missing_dot: "axiom a: forall x: Point C(x, 1)";
    missing_dot_after_a_guard: "axiom a: forall x: Point where dist(x, origin) < near C(x, 1)";
    comma_instead_of_a_dot: "axiom a: forall x: Point, exists d: Digit. C(x, e)";
    comma_instead_of_a_dot_after_a_guard: "axiom a: forall x: Point where dist(x, origin) < 2, exists d: Digit. C(x, e)";
    colon_instead_of_a_dot: "axiom a: forall x: Point: C(x, 1)";
    dot_at_the_end: "axiom a: forall x: Point. C(x, 1).";
    parenthesis_never_closed: "axiom a: forall x: Point. (C(x, 1) and (C(x, 2) or C(x, 3))\naxiom b: rains()";
    call_never_closed: "axiom a: forall x: Point. C(x, 1 and rains()";
    parenthesis_too_many: "axiom a: forall x: Point. (C(x, 1) and C(x, 2)) or C(x, 3))";
    missing_comma: "axiom a: forall x: Point. C(x 1)";
    missing_connective: "axiom a: rains() rains()";
    connective_without_a_left_side: "axiom a: and rains()";
    connective_without_a_right_side: "axiom a: rains() and\naxiom b: rains()";
    two_connectives: "axiom a: rains() and or rains()";
    chained_equivalences: "axiom a: rains() <-> rains() <-> rains()";
    foreign_and: "axiom a: rains() && rains()";
    foreign_or: "axiom a: rains() || rains()";
    foreign_implies: "axiom a: rains() => rains()";
    foreign_equals: "axiom a: forall x: Point, d: Digit where d == 3. C(x, d)";
    foreign_not: "axiom a: !rains()";
    foreign_less_or_equal: "axiom a: forall x: Point, d: Digit where d ≤ 3. C(x, d)";
    foreign_minus: "axiom a: forall x: Point, d: Digit where d \u{2212} 1 > 3. C(x, d)";
    foreign_prime: "axiom a: forall x, x': Point. C(x, 1) and C(x', 1)";
    foreign_quotes: "axiom a: paint('red')";
    label_that_is_misspelt: "axiom a: paint(\"dark red\") and paint(\"grean\")";
    foreign_comment: "// a remark: nothing to see\naxiom a: rains() and rians()";
    foreign_end: "axiom a: rains();\naxiom b: rians();";
    number_glued_to_a_name: "axiom a: forall x: Point, d: Digit where 2d < 5. C(x, d)";
    integer_too_large: "axiom a: forall x: Point, d: Digit where d < 99999999999999999999. C(x, d)";
    integer_one_too_large: "axiom a: forall x: Point, d: Digit where d < 9223372036854775808. C(x, d)";
    nested_too_deep: format!("axiom a: {}rains(){}", "(".repeat(1001), ")".repeat(1001));
    unreadable_character: "axiom a: rains() $$$ rains()";
    backslash: "axiom a: \\forall x: Point. C(x, 1)";
}

// --- declarations ------------------------------------------------------------------------------------

in_theories! {
    empty_range: "sort Digit = 5..2\npredicate P(Digit)\naxiom a: forall d: Digit. P(d) and P(7)\n";
    range_of_reals: "sort Digit = 0.5..2\npredicate P(Digit)\naxiom a: forall d: Digit. P(d)\n";
    range_with_three_dots: "sort Digit = 0...9\npredicate P(Digit)\naxiom a: forall d: Digit. P(d)\n";
    range_that_is_huge: "sort Digit = 0..9999999999\npredicate P(Digit)\naxiom a: forall d: Digit. P(d)\n";
    range_end_too_large: "sort Digit = 0..9223372036854775808\npredicate P(Digit)\naxiom a: forall d: Digit. P(d)\n";
    two_axioms_of_one_name: "predicate rains()\naxiom a: rains()\naxiom b: rains()\naxiom a: not rains()\n";
    symbol_declared_twice: "sort Point\npredicate Point(Point)\naxiom a: forall x: Point. Point(x)\n";
    label_declared_twice: "sort Colour = {red, green, red}\npredicate P(Colour)\naxiom a: P(red)\n";
    column_declared_twice: "sort A\ntable T(x: A, x: A)\npredicate P(A)\naxiom a: forall (x, y) in T. P(x) and P(y)\n";
    weight_negative: "predicate rains()\naxiom a (weight -0.5): rains()\n";
    weight_not_a_number: "predicate rains()\naxiom a (weight heavy): rains()\naxiom b (weigth 2): rains()\n";
    weight_that_cannot_be_read: "predicate rains()\naxiom a (weight 1e): rains()\naxiom b (weight -2 3x): rains()\n";
    weight_without_its_word: "predicate rains()\naxiom a (2): rains()\n";
    unterminated_label_set: "sort Colour = {red, green\npredicate paint(Colour)\naxiom a: paint(red)\n";
    empty_label_set: "sort Colour = {}\npredicate paint(Colour)\naxiom a: forall c: Colour. paint(c)\n";
    reserved_word_as_a_label: "sort Quantifier = {all, some}\npredicate P(Quantifier)\naxiom a: P(some)\n";
    reserved_word_as_a_predicate: "sort Point\npredicate in(Point)\naxiom a: forall x: Point. in(x)\n";
    int_as_a_predicate_argument: "predicate P(Int)\naxiom a: P(3)\n";
    int_as_a_quantified_sort: "predicate P()\naxiom a: forall n: Int where n < 3. P()\n";
    vector_as_a_column: "table T(x: Real[3])\npredicate P()\naxiom a: forall (x) in T. P()\n";
    vector_without_a_width: "sort A\nfunction f(A): Real[]\npredicate P(Real)\naxiom a: forall x: A. P(f(x))\n";
    function_without_a_result: "sort A\nfunction f(A)\npredicate P(A)\naxiom a: forall x: A. P(f(x))\n";
    predicate_without_parentheses: "predicate rains\naxiom a: rains()\n";
    predicate_with_named_arguments: "sort A\npredicate P(x: A)\naxiom a: forall x: A. P(x)\n";
    column_without_a_sort: "sort A\ntable T(x, y: A)\npredicate P(A)\naxiom a: forall (x, y) in T. P(x) and P(y)\n";
    table_without_columns: "table T()\npredicate P()\naxiom a: forall () in T. P()\n";
    constant_without_a_sort: "sort A\nconstant c\npredicate P(A)\naxiom a: P(c)\n";
    param_with_a_value: "param near = 3\nsort N = 0..3\npredicate P(N)\naxiom a: forall n: N where n < near. P(n)\n";
    misspelt_keyword: "sort A\npredciate P(A)\naxoim a: forall x: A. P(x)\n";
    unknown_keyword: "sort A\npredicate P(A)\nrule a: forall x: A. P(x)\n";
    axiom_without_a_name: "predicate rains()\naxiom: rains()\n";
    axiom_without_a_colon: "predicate rains()\naxiom a rains()\n";
    axiom_without_a_formula: "predicate rains()\naxiom a:\naxiom b: rains()\n";
    text_after_a_declaration: "sort Point of view\npredicate P(Point)\naxiom a: forall x: Point. P(x)\n";
    broken_declaration_is_reported_once: "sort A\ntable T(x: A y: A)\nfunction f(A: Real\npredicate P(A,, A)\n\
        axiom a: forall (x, y) in T where T(y, x). P(x, f(y))\naxiom b: forall x: A. P(x)\n";
    unknown_sort_is_reported_once: "sort A\npredicate P(Aa)\nconstant c: Aaa\ntable T(x: Aaaa)\n\
        axiom a: P(c)\naxiom b: forall (x) in T where T(c). P(x)\n";
    unfinished_file: "sort A\npredicate P(A)\naxiom a: forall x: A.";
    file_that_is_no_theory: "{\"theory\": [1, 2, 3]}\n";
    family_of_an_unknown_sort: "sort A = 0..3\npredicate P(A)\naxiom a for x: B where x < 2: P(x)\n";
    family_without_a_guard_word: "sort A = 0..3\npredicate P(A)\naxiom a for x: A if x < 2: P(x)\n";
    family_over_too_many: "sort A = 0..3000000\npredicate P(A)\naxiom a for x: A: P(x)\n";
    tabs_before_the_mistake: "sort\tA\npredicate P(A)\naxiom a:\n\t\tforall x: A.\t\tP(x) and Q(x)\n";
    carriage_returns_before_the_mistake: "sort A\r\npredicate P(A)\r\n# remark\r\naxiom a:\r\n    forall x: A. P(x) and Q(x)\r\naxiom b: forall x: A. P(x\r\n";
    wide_characters_before_the_mistake: "sort 点\npredicate 猫(点)\naxiom 公理: forall 点一: 点. 猫(点一) and 犬(点一)\n";
    combining_characters_before_the_mistake: "sort A\npredicate e\u{301}te\u{301}(A)\naxiom a: forall x: A. e\u{301}te\u{301}(x) and Q(x)\n";
    many_independent_mistakes: "sort Point
sort Digit = 0..9
predicate C(Point, Digit)
predicate C(Point)
table pairs(x: Point, y: Pont)
axiom one: forall x: Point. C(x, 12)
axiom two: forall x: Point where C(x, 1). C(x)
axiom three: forall x: Point. (C(x, 1) and C(y, 2)
axiom four (weight -1): forall x: Point. C(x, 1) && C(x, 2)
axiom one: forall d: Digit where 1 < d < 3. C(d, d)
axiom five: forall x Point, d: Digit. C(x, d) or D(x, d)
axiom six: forall x: Point, d: Digit. d = 3 -> C(x, d)
";
}

// --- layout ------------------------------------------------------------------------------------------

/// A place in a very long line is shown with its neighbourhood only.
#[test]
fn long_lines_do_not_flood_the_terminal() {
    let many = "rains() and ".repeat(1000);
    let shown = messages(&format!(
        "predicate rains()\naxiom a: {many}rians() and {many}rains()\n"
    ));
    assert!(shown.contains("rians()"), "{shown}");
    assert!(shown.contains("theory.ltn:2:12010"), "{shown}");
    let longest = shown.lines().map(|l| l.chars().count()).max();
    assert!(longest <= Some(200), "{shown}");
}

/// A mistake about a formula of many lines points at it without printing it all.
#[test]
fn many_lines_are_folded() {
    let many = "    d + 1 +\n".repeat(40);
    let text = format!("sort D = 0..3\npredicate P(D)\naxiom a: forall d: D.\n{many}    d\n");
    let shown = messages(&text);
    assert!(shown.lines().count() <= 15, "{shown}");
    let many = "\n".repeat(40);
    let text = format!("predicate rains()\naxiom a:\n    rains({many}rains())\n");
    let shown = messages(&text);
    assert!(shown.lines().count() <= 15, "{shown}");
    insta::assert_snapshot!("many_lines_are_folded", shown);
}

/// What is quoted inside a message is short as well.
#[test]
fn quoted_text_is_short() {
    let many = "1 +\n ".repeat(10_000);
    for guard in [
        format!("{many}1"),
        format!("0 < {many}1 < 3"),
        format!("abs({many}1) < 2 = 3"),
    ] {
        let shown = messages(&format!(
            "predicate rains()\nsort D = 0..3\naxiom a: forall _d: D where {guard}. rains()\n"
        ));
        assert!(shown.len() < 2_000, "{} bytes", shown.len());
    }
    let shown = messages(&format!("predicate rains()\naxiom a: {many} 1 < 2\n"));
    assert!(shown.len() < 2_000, "{} bytes", shown.len());
    let shown = messages(&format!(
        "predicate {}()\naxiom a: rains()\n",
        "x".repeat(100_000)
    ));
    assert!(shown.len() < 2_000, "{} bytes", shown.len());
    let shown = messages(&format!("axiom a: {}()\n", "x".repeat(100_000)));
    assert!(shown.len() < 2_000, "{} bytes", shown.len());
}

/// A formula that is asked for later points into its own text, not into the theory's.
#[test]
fn mistakes_in_a_query() {
    let theory = Theory::parse(Source::new(
        "theory.ltn",
        format!("{SYMBOLS}\naxiom a: rains()\n"),
    ));
    let theory = theory.unwrap_or_else(|e| panic!("{e}"));
    let queries = [
        "forall x: Point. C(x)",
        "C(origin, 12)",
        "forall (x) in pairs. C(x, 1)",
        "exists x: Point where pairs(x). C(x, 1)",
        "pairs(origin, origin)",
        "rains() and rains())",
        "rains() and",
        "(rains()",
        "axiom a: rains()",
        "C(x, 1)",
        "forall near: Point. C(near, 1)",
        "rains().",
        "",
    ];
    let shown: Vec<_> = queries
        .iter()
        .map(|q| match theory.parse_formula(Source::new("query", *q)) {
            Ok(_) => panic!("no error in {q}"),
            Err(errors) => format!("{q}\n\n{errors}"),
        })
        .collect();
    insta::assert_snapshot!("mistakes_in_a_query", shown.join("\n----\n"));
}
