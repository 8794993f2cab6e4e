// Theories, after `logltn help ebnf`. Formulas and guards share expressions: which of them may stand where is for `logltn check` to say.
const words = (list) => choice(...list);
const list = (rule) => seq(rule, repeat(seq(",", rule)), optional(","));

module.exports = grammar({
  name: "ltn",
  extras: ($) => [/\s/, $.comment],
  word: ($) => $.identifier,
  rules: {
    theory: ($) => repeat($._declaration),
    _declaration: ($) =>
      choice($.sort, $.table, $.predicate, $.function, $.constant, $.param, $.define, $.axiom),
    sort: ($) =>
      seq("sort", field("name", $.identifier), optional(seq("=", choice($.range, $.labels)))),
    range: ($) => seq($._integer, "..", $._integer),
    labels: ($) => seq("{", list(choice($.identifier, $.string)), "}"),
    table: ($) => seq("table", field("name", $.identifier), "(", list($.column), ")"),
    column: ($) => seq(field("name", $._word), ":", field("type", $._type)),
    predicate: ($) => seq("predicate", field("name", $.identifier), "(", optional(list($._type)), ")"),
    function: ($) =>
      seq("function", field("name", $.identifier), "(", optional(list($._type)), ")", ":", $._type),
    constant: ($) => seq("constant", field("name", $.identifier), ":", $._type),
    param: ($) => seq("param", field("name", $.identifier)),
    define: ($) =>
      seq("define", field("name", $.identifier), "(", optional($.sorted), ")",
        optional(seq("to", "depth", $.number)), ":", $._expression),
    axiom: ($) =>
      seq("axiom", field("name", $._word), optional(seq("(", "weight", $.number, ")")),
        optional(seq("for", $.sorted, optional($.guard))), ":", $._expression),
    _type: ($) => choice(alias($.identifier, $.type), $.builtin_type),
    builtin_type: ($) => choice("Int", seq("Real", optional(seq("[", $.number, "]")))),

    _expression: ($) =>
      choice($.quantified, $.negation, $.equivalence, $.implication, $.disjunction, $.conjunction,
        $.comparison, $.arithmetic, $.negative, $.parenthesized, $.call, $.column_of, $.identifier, $.string, $.number),
    quantified: ($) =>
      prec.right(0, seq(field("quantifier", words(["forall", "exists", "all", "any", "∀", "∃", "⋀", "⋁"])),
        $._binders, optional($.guard), ".", $._expression)),
    guard: ($) => seq("where", $._expression),
    sorted: ($) => seq($._group, repeat(seq(",", $._group))),
    _group: ($) => seq($.identifier, repeat(seq(",", $.identifier)), ":", alias($.identifier, $.type)),
    _binders: ($) => seq(choice($._group, $.rows), repeat(seq(",", choice($._group, $.rows)))),
    rows: ($) => seq("(", list($.identifier), ")", "in", field("table", $.identifier)),
    equivalence: ($) => prec.left(1, seq($._expression, choice("<->", "↔"), $._expression)),
    implication: ($) => prec.right(2, seq($._expression, choice("->", "→"), $._expression)),
    disjunction: ($) => prec.left(3, seq($._expression, choice("or", "∨"), $._expression)),
    conjunction: ($) => prec.left(4, seq($._expression, choice("and", "∧"), $._expression)),
    negation: ($) => prec(5, seq(choice("not", "¬"), $._expression)),
    comparison: ($) => prec.left(6, seq($._expression, choice("=", "!=", "<", "<=", ">", ">="), $._expression)),
    arithmetic: ($) =>
      choice(
        prec.left(7, seq($._expression, choice("+", "-"), $._expression)),
        prec.left(8, seq($._expression, choice("*", "/", "%"), $._expression)),
      ),
    negative: ($) => prec(9, seq("-", $._expression)),
    parenthesized: ($) => seq("(", $._expression, ")"),
    call: ($) => prec(10, seq(field("name", $.identifier), "(", optional(list($._expression)), ")")),
    // `x.age` has no spaces. The program also reads `x = y.P(x)`, with the dot of a quantifier; here that dot wants a space after it, as `logltn fmt` writes it.
    column_of: () => token(/[\p{L}_][\p{L}\p{N}_]*\.[\p{L}_][\p{L}\p{N}_]*/),

    // Axioms and columns may have reserved words as names.
    _word: ($) =>
      choice($.identifier, alias(words(["sort", "table", "predicate", "function", "constant", "param", "axiom", "for", "in",
        "where", "not", "and", "or", "forall", "exists", "all", "any", "Int", "Real", "to", "depth", "weight", "define"]), $.identifier)),
    _integer: ($) => seq(optional("-"), $.number),
    identifier: () => /[\p{L}_][\p{L}\p{N}_]*/,
    number: () => /[0-9]+(\.[0-9]+)?([eE][+-]?[0-9]+)?/,
    string: () => /"([^"\\\n]|\\["\\])+"/,
    comment: () => /#.*/,
  },
});
