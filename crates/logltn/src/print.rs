//! The pretty printer: a theory as text that parses back to the same theory.

use std::fmt::{self, Write as _};

use crate::plan::normal::{Kind, Normal};
use crate::recursion::deep;
use crate::source::Span;
use crate::theory::*;
use crate::token::{quoted_label, written_label};

/// Binding strengths as in the parser, loosest first; a formula is put in parentheses where its own
/// is not above that of its place.
#[derive(Clone, Copy, PartialEq, PartialOrd)]
enum Strength {
    /// Nothing around it that could be confused.
    Top,
    Iff,
    Implies,
    Or,
    And,
    Not,
    Compare,
    Sum,
    Product,
    Negative,
}

impl Theory {
    /// A formula of an axiom of this theory as text, in words (`forall`, `and`).
    pub fn show(&self, axiom: &Axiom, formula: &Formula) -> String {
        self.print(&axiom.variables, |p| p.formula(formula, Strength::Top))
    }

    /// A guard as text, given the axiom's variables.
    pub(crate) fn guard_text(&self, variables: &[Variable], guard: &Guard) -> String {
        self.print(variables, |p| p.guard(guard, Strength::And))
    }

    /// The quantified formula of an axiom that is at some place, as it was written.
    pub(crate) fn written_text(
        &self,
        variables: &[Variable],
        written: &Formula,
        span: Span,
    ) -> String {
        let found = find(written, span).unwrap_or(written);
        self.print(variables, |p| p.formula(found, Strength::Top))
    }

    /// A formula in normal form as text, to stand in a conjunction, given the axiom's variables.
    pub(crate) fn normal_text(&self, variables: &[Variable], normal: &Normal) -> String {
        self.print(variables, |p| p.normal(normal, Strength::Not))
    }

    /// A whole formula in normal form as text.
    pub(crate) fn whole_normal_text(&self, variables: &[Variable], normal: &Normal) -> String {
        self.print(variables, |p| p.normal(normal, Strength::Top))
    }

    /// A value of a guard as text, given the axiom's variables.
    pub(crate) fn value_text(&self, variables: &[Variable], value: &Value) -> String {
        self.print(variables, |p| p.value(value, Strength::Compare))
    }

    fn print(&self, variables: &[Variable], print: impl FnOnce(&mut Printer)) -> String {
        let mut printer = Printer {
            theory: self,
            variables,
            out: String::new(),
        };
        print(&mut printer);
        printer.out
    }

    /// How the sort of an argument is written: `S`, `Real`, `Real[3]`.
    pub fn argument_sort_name(&self, sort: &ArgumentSort) -> String {
        match sort {
            ArgumentSort::Sort(id) => self[*id].name.clone(),
            ArgumentSort::Vector(1) => "Real".to_string(),
            ArgumentSort::Vector(width) => format!("Real[{width}]"),
        }
    }
}

/// The whole theory, symbols first, in the order of their declarations.
///
/// ```
/// use logltn::{Source, Theory};
/// let text = "sort A = 0..3\n\npredicate P(A)\n\naxiom some: exists x: A where x < 2. P(x)\n";
/// let theory = Theory::parse(Source::new("a.ltn", text)).unwrap();
/// assert_eq!(theory.to_string(), text);
/// ```
impl fmt::Display for Theory {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut blocks: Vec<Vec<String>> = vec![
            self.sorts.iter().map(sort_line).collect(),
            (self.params.iter())
                .map(|p| format!("param {}", p.name))
                .collect(),
            (self.constants.iter())
                .map(|c| format!("constant {}: {}", c.name, self[c.sort].name))
                .collect(),
            self.tables.iter().map(|t| self.table_line(t)).collect(),
            self.functions
                .iter()
                .filter(|x| x.field().is_none())
                .map(|x| self.function_line(x))
                .collect(),
            self.predicates
                .iter()
                .map(|p| self.predicate_line(p))
                .collect(),
            (self.definitions.iter())
                .map(|d| self.definition_line(d))
                .collect(),
            self.axioms.iter().map(|a| self.axiom_line(a)).collect(),
        ];
        blocks.retain(|b| !b.is_empty());
        let blocks: Vec<String> = blocks.iter().map(|b| b.join("\n") + "\n").collect();
        f.write_str(&blocks.join("\n"))
    }
}

fn sort_line(sort: &Sort) -> String {
    match sort.kind {
        SortKind::Data => format!("sort {}", sort.name),
        SortKind::Range(low, high) => format!("sort {} = {low}..{high}", sort.name),
        SortKind::Labels => {
            let labels: Vec<String> = sort.labels.iter().map(|l| written_label(l)).collect();
            format!("sort {} = {{{}}}", sort.name, labels.join(", "))
        }
    }
}

impl Theory {
    fn table_line(&self, table: &Table) -> String {
        let columns: Vec<_> = (table.columns.iter())
            .map(|c| format!("{}: {}", c.name, self.column_sort_name(c.sort)))
            .collect();
        format!("table {}({})", table.name, columns.join(", "))
    }

    fn arguments(&self, arguments: &[ArgumentSort]) -> String {
        let names: Vec<_> = arguments
            .iter()
            .map(|s| self.argument_sort_name(s))
            .collect();
        names.join(", ")
    }

    fn predicate_line(&self, predicate: &Predicate) -> String {
        format!(
            "predicate {}({})",
            predicate.name,
            self.arguments(&predicate.arguments)
        )
    }

    fn function_line(&self, function: &Function) -> String {
        format!(
            "function {}({}): {}",
            function.name,
            self.arguments(&function.arguments),
            self.argument_sort_name(&function.result)
        )
    }

    fn definition_line(&self, definition: &Definition) -> String {
        let formula = self.show(&definition.body, &definition.body.formula);
        format!(
            "define {}: {formula}",
            self.show_definition_head(definition)
        )
    }

    /// The name of a definition with its parameters and its depth.
    pub(crate) fn show_definition_head(&self, definition: &Definition) -> String {
        self.print(&definition.body.variables, |p| {
            p.push(definition.name());
            p.push("(");
            p.sorted_variables(&definition.parameter_ids());
            p.push(")");
            if let Some(depth) = definition.depth {
                p.push(&format!(" to depth {depth}"));
            }
        })
    }

    fn axiom_line(&self, axiom: &Axiom) -> String {
        let formula = self.show(axiom, &axiom.formula);
        format!("axiom {}: {formula}", self.show_head(axiom))
    }

    /// The name of an axiom with its weight, unless that is 1, and its family.
    ///
    /// ```
    /// use logltn::{Source, Theory};
    /// let text = "sort S = 0..9  predicate P(S)  axiom a (weight 2) for v: S where v < 3: P(v)";
    /// let theory = Theory::parse(Source::new("t", text)).unwrap();
    /// assert_eq!(theory.show_head(&theory.axioms[0]), "a (weight 2) for v: S where v < 3");
    /// ```
    pub fn show_head(&self, axiom: &Axiom) -> String {
        self.print(&axiom.variables, |p| {
            p.push(&axiom.name);
            if axiom.weight != 1.0 {
                p.push(&format!(" (weight {})", number(axiom.weight)));
            }
            if let Some(family) = &axiom.family {
                p.push(" for ");
                p.sorted_variables(&family.variables);
                p.where_guard(family.guard.as_ref());
            }
        })
    }
}

/// A real that reads back as the same real.
fn number(x: f64) -> String {
    if x == x.trunc() && x.abs() < 1e15 {
        format!("{x}")
    } else {
        format!("{x:?}")
    }
}

struct Printer<'a> {
    theory: &'a Theory,
    variables: &'a [Variable],
    out: String,
}

impl<'a> Printer<'a> {
    fn push(&mut self, text: &str) {
        self.out.push_str(text);
    }

    /// Whether a name means a constant, unless it is in quotes: an individual of the data may have the same.
    fn is_constant(&self, name: &str) -> bool {
        self.theory.constants.iter().any(|c| c.name == name)
    }

    fn variable(&self, id: VarId) -> &'a str {
        &self.variables[id.index()].name
    }

    /// Prints in parentheses if `needed`.
    fn wrapped(&mut self, needed: bool, print: impl FnOnce(&mut Self)) {
        if needed {
            self.push("(");
        }
        deep(|| print(self));
        if needed {
            self.push(")");
        }
    }

    fn list<T>(&mut self, items: &[T], separator: &str, mut each: impl FnMut(&mut Self, &T)) {
        for (i, item) in items.iter().enumerate() {
            if i > 0 {
                self.push(separator);
            }
            each(self, item);
        }
    }

    // --- formulas -------------------------------------------------------------------------------

    fn formula(&mut self, formula: &Formula, place: Strength) {
        match &formula.kind {
            FormulaKind::Atom {
                predicate,
                arguments,
            } => self.atom(*predicate, arguments),
            FormulaKind::Use {
                definition,
                arguments,
            } => self.applied(self.theory[*definition].name(), arguments),
            FormulaKind::Not(inner) => self.not(place, |p| p.formula(inner, Strength::Not)),
            FormulaKind::And(members) => self.all(members, true, place, Printer::formula),
            FormulaKind::Or(members) => self.all(members, false, place, Printer::formula),
            FormulaKind::Implies(a, b) => self.pair([&**a, b], false, place, Printer::formula),
            FormulaKind::Iff(a, b) => self.pair([&**a, b], true, place, Printer::formula),
            FormulaKind::Quantified {
                quantifier,
                binding,
                guard,
                body,
            } => self.wrapped(place > Strength::Top, |p| {
                p.quantified(quantifier.word(), binding, guard.as_ref());
                p.formula(body, Strength::Top);
            }),
        }
    }

    fn not(&mut self, place: Strength, inner: impl FnOnce(&mut Self)) {
        self.wrapped(place > Strength::Not, |p| {
            p.push("not ");
            inner(p);
        });
    }

    /// One n-ary connective. A member that is the same connective keeps its parentheses: the nesting
    /// means something. A run of one (possible after a rewrite only) prints as its member.
    fn all<T>(
        &mut self,
        members: &[T],
        and: bool,
        place: Strength,
        each: impl Fn(&mut Self, &T, Strength),
    ) {
        let (word, own, inner) = match and {
            true => (" and ", Strength::And, Strength::Not),
            false => (" or ", Strength::Or, Strength::And),
        };
        self.wrapped(place > own, |p| {
            p.list(members, word, |p, m| each(p, m, inner))
        });
    }

    /// An equivalence or an implication.
    fn pair<T>(
        &mut self,
        [a, b]: [&T; 2],
        iff: bool,
        place: Strength,
        each: impl Fn(&mut Self, &T, Strength),
    ) {
        let (sign, own, left) = match iff {
            true => (" <-> ", Strength::Iff, Strength::Implies),
            false => (" -> ", Strength::Implies, Strength::Or),
        };
        self.wrapped(place > own, |p| {
            each(p, a, left);
            p.push(sign);
            each(p, b, Strength::Implies);
        });
    }

    /// A quantifier up to its body.
    fn quantified(&mut self, word: &str, binding: &Binding, guard: Option<&Guard>) {
        self.push(word);
        self.push(" ");
        self.binding(binding);
        self.where_guard(guard);
        self.push(". ");
    }

    fn normal(&mut self, normal: &Normal, place: Strength) {
        match &normal.kind {
            Kind::Constant(truth) => self.push(if *truth { "true" } else { "false" }),
            Kind::Literal {
                predicate,
                arguments,
                negated,
            } => self.wrapped(*negated && place > Strength::Not, |p| {
                p.push(if *negated { "not " } else { "" });
                p.atom(*predicate, arguments);
            }),
            Kind::Use {
                stratum,
                arguments,
                negated,
            } => self.wrapped(*negated && place > Strength::Not, |p| {
                p.push(if *negated { "not " } else { "" });
                match p.theory.definitions.get(*stratum) {
                    Some(definition) => p.applied(definition.name(), arguments),
                    None => p.applied(&format!("shared_{stratum}"), arguments),
                }
            }),
            Kind::Not(inner) => self.not(place, |p| p.normal(inner, Strength::Not)),
            Kind::And(members) => self.all(members, true, place, Printer::normal),
            Kind::Or(members) => self.all(members, false, place, Printer::normal),
            Kind::Implies(a, b) => self.pair([&**a, b], false, place, Printer::normal),
            Kind::Iff(a, b) => self.pair([&**a, b], true, place, Printer::normal),
            Kind::Log(inner) => {
                self.push("log ");
                self.wrapped(true, |p| p.normal(inner, Strength::Top));
            }
            Kind::Quantifier {
                forall,
                binding,
                guard,
                body,
            } => self.wrapped(place > Strength::Top, |p| {
                let word = if *forall { "forall" } else { "exists" };
                p.quantified(word, binding, guard.as_deref());
                p.normal(body, Strength::Top);
            }),
            Kind::SumProduct(sum) => {
                self.wrapped(place > Strength::Top, |p| p.push(&sum.rewrite.after));
            }
        }
    }

    fn atom(&mut self, predicate: PredicateId, arguments: &[Term]) {
        self.applied(&self.theory[predicate].name, arguments);
    }

    fn applied(&mut self, name: &str, arguments: &[Term]) {
        self.push(name);
        self.push("(");
        deep(|| self.list(arguments, ", ", |p, t| p.term(t)));
        self.push(")");
    }

    fn binding(&mut self, binding: &Binding) {
        match binding {
            Binding::Sorts(variables) => self.sorted_variables(variables),
            Binding::Rows(table, variables) => match table.product() {
                None => self.rows(*table, variables),
                Some(product) => self.product(product, variables),
            },
        }
    }

    fn rows(&mut self, table: TableId, variables: &[VarId]) {
        self.push("(");
        self.list(variables, ", ", |p, v| p.push(p.variable(*v)));
        self.push(") in ");
        let name = self.theory[table].name.clone();
        self.push(&name);
    }

    /// `(x, y) in T, z: S`
    fn product(&mut self, product: usize, variables: &[VarId]) {
        let theory = self.theory;
        let mut rest = variables;
        for (i, part) in theory.products[product].parts.iter().enumerate() {
            if i > 0 {
                self.push(", ");
            }
            let count = match part {
                ProductPart::Rows(table) => theory[*table].columns.len(),
                ProductPart::Sort(_) => 1,
            };
            let (own, others) = rest.split_at(count.min(rest.len()));
            rest = others;
            match part {
                ProductPart::Rows(table) => self.rows(*table, own),
                ProductPart::Sort(_) => self.sorted_variables(own),
            }
        }
    }

    /// `x, y: S, z: T`
    fn sorted_variables(&mut self, variables: &[VarId]) {
        let mut rest = variables;
        while let Some(&first) = rest.first() {
            let sort = self.variables[first.index()].sort;
            let same = rest
                .iter()
                .take_while(|v| self.variables[v.index()].sort == sort)
                .count();
            let (group, tail) = rest.split_at(same);
            self.list(group, ", ", |p, v| p.push(p.variable(*v)));
            let _ = write!(self.out, ": {}", self.theory.column_sort_name(sort));
            if !tail.is_empty() {
                self.push(", ");
            }
            rest = tail;
        }
    }

    fn where_guard(&mut self, guard: Option<&Guard>) {
        if let Some(guard) = guard {
            self.push(" where ");
            self.guard(guard, Strength::Top);
        }
    }

    fn term(&mut self, term: &Term) {
        match &term.kind {
            TermKind::Variable(id) => self.push(self.variable(*id)),
            TermKind::Individual(sort, index) => {
                let sort = &self.theory[*sort];
                let label = sort.labels.get(*index as usize);
                let name = match label {
                    Some(label) if self.is_constant(label) => quoted_label(label),
                    Some(label) => written_label(label),
                    None => sort.individual_name(*index as usize),
                };
                self.push(&name);
            }
            TermKind::Constant(id) => self.push(&self.theory[*id].name.clone()),
            TermKind::Number(x) => self.push(&number(x.0)),
            TermKind::Apply(id, arguments) => {
                if let ([individual], Some(field)) = (&arguments[..], self.theory[*id].field()) {
                    self.term(individual);
                    self.push(".");
                    self.push(field);
                    return;
                }
                self.applied(&self.theory[*id].name, arguments);
            }
        }
    }

    // --- guards ---------------------------------------------------------------------------------

    fn guard(&mut self, guard: &Guard, place: Strength) {
        match &guard.kind {
            GuardKind::Compare(op, a, b) => self.wrapped(place >= Strength::Compare, |p| {
                p.value(a, Strength::Compare);
                let _ = write!(p.out, " {} ", op.symbol());
                p.value(b, Strength::Compare);
            }),
            GuardKind::Same {
                negated,
                left,
                right,
            } => self.wrapped(place >= Strength::Compare, |p| {
                p.term(left);
                p.push(if *negated { " != " } else { " = " });
                p.term(right);
            }),
            GuardKind::Member(table, cells) => {
                self.call(&self.theory[*table].name, cells);
            }
            GuardKind::Not(inner) => self.not(place, |p| p.guard(inner, Strength::Not)),
            GuardKind::And(members) => self.all(members, true, place, Printer::guard),
            GuardKind::Or(members) => self.all(members, false, place, Printer::guard),
            // Always in parentheses: its body ends with a dot or a colon of someone else's.
            GuardKind::Exists(binding, guard, body) => self.wrapped(true, |p| {
                p.quantified("exists", binding, guard.as_deref());
                p.guard(body, Strength::Top);
            }),
        }
    }

    fn value(&mut self, value: &Value, place: Strength) {
        match &value.kind {
            ValueKind::Int(n) => {
                let _ = write!(self.out, "{n}");
            }
            ValueKind::Real(Literal(x)) => {
                let _ = write!(self.out, "{x:?}");
            }
            ValueKind::Param(id) => self.push(&self.theory[*id].name.clone()),
            ValueKind::Number(id) => self.push(self.variable(*id)),
            ValueKind::Individual(term) => self.term(term),
            // A sign binds tightest, so it needs no parentheses anywhere: text at the limit of nesting
            // must not be printed beyond it.
            ValueKind::Negative(inner) => {
                let again = match inner.kind {
                    ValueKind::Negative(_) => true,
                    ValueKind::Int(n) => n < 0,
                    _ => false,
                };
                self.push(if again { "- " } else { "-" });
                deep(|| self.value(inner, Strength::Negative));
            }
            ValueKind::Sum(members) => self.wrapped(place >= Strength::Sum, |p| {
                for (i, (sign, member)) in members.iter().enumerate() {
                    match (i, sign) {
                        (0, _) => {}
                        (_, Sign::Plus) => p.push(" + "),
                        (_, Sign::Minus) => p.push(" - "),
                    }
                    p.value(member, Strength::Sum);
                }
            }),
            ValueKind::Product(members) => self.wrapped(place >= Strength::Product, |p| {
                for (i, (factor, member)) in members.iter().enumerate() {
                    match (i, factor) {
                        (0, _) => {}
                        (_, Factor::Times) => p.push("*"),
                        (_, Factor::Over) => p.push(" / "),
                        (_, Factor::Modulo) => p.push(" % "),
                    }
                    p.value(member, Strength::Product);
                }
            }),
            ValueKind::Abs(inner) => self.call("abs", std::slice::from_ref(inner.as_ref())),
            ValueKind::Min(values) => self.call("min", values),
            ValueKind::Max(values) => self.call("max", values),
            ValueKind::Dist(a, b) => {
                self.push("dist(");
                self.list(&[a, b], ", ", |p, t| p.term(t));
                self.push(")");
            }
        }
    }

    fn call(&mut self, name: &str, values: &[Value]) {
        self.push(name);
        self.push("(");
        deep(|| self.list(values, ", ", |p, v| p.value(v, Strength::Compare)));
        self.push(")");
    }
}

/// The quantified formula at some place.
fn find(formula: &Formula, span: Span) -> Option<&Formula> {
    let is_it = |f: &&Formula| f.span == span && matches!(f.kind, FormulaKind::Quantified { .. });
    formula.parts().find(is_it)
}
