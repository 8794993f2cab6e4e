//! Random well-formed theories, as text.
//!
//! Every construct of the language can occur, in words or symbols, with and without parentheses that
//! are not needed. The same seed gives the same theory.

/// A stream of random numbers (SplitMix64): a few lines, the same on every machine.
pub struct Rng(u64);

impl Rng {
    pub fn new(seed: u64) -> Rng {
        Rng(seed)
    }

    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// A number below `n`.
    pub fn below(&mut self, n: usize) -> usize {
        (self.next() % n.max(1) as u64) as usize
    }

    /// Whether something happens that happens once in `n` times.
    pub fn one_in(&mut self, n: usize) -> bool {
        self.below(n) == 0
    }

    pub fn pick<'a, T: ?Sized>(&mut self, list: &[&'a T]) -> &'a T {
        list[self.below(list.len())]
    }
}

/// The text of a random theory. `size` is roughly the depth of its formulas and guards.
pub fn random_theory(seed: u64, size: usize) -> String {
    let mut writer = Writer::new(seed);
    writer.symbols();
    let axioms = 1 + writer.rng.below(4);
    for i in 0..axioms {
        writer.axiom(i, size);
    }
    writer.out
}

#[derive(Clone, PartialEq)]
enum SortKind {
    Data,
    Range(i64, i64),
    Labels(Vec<String>),
}

struct Sort {
    name: String,
    kind: SortKind,
    /// Every sort has a constant, so that a term can always be found.
    constant: String,
}

#[derive(Clone, Copy, PartialEq)]
enum Type {
    Sort(usize),
    Int,
    Real,
    Vector(usize),
}

struct Signature {
    name: String,
    arguments: Vec<Type>,
    result: Type,
}

#[derive(Clone, Copy, PartialEq)]
enum Binder {
    /// `forall` and `exists`, out of reach for the guards of families and big connectives.
    Quantifier,
    /// `for`, `all`, `any`, and `exists` in a guard.
    Crisp,
}

struct Variable {
    name: String,
    sort: Type,
    binder: Binder,
}

struct Writer {
    rng: Rng,
    out: String,
    sorts: Vec<Sort>,
    tables: Vec<Signature>,
    predicates: Vec<Signature>,
    functions: Vec<Signature>,
    params: Vec<String>,
    scope: Vec<Variable>,
    /// In the guard of a family or a big connective.
    crisp_only: bool,
}

impl Writer {
    fn new(seed: u64) -> Writer {
        Writer {
            rng: Rng::new(seed),
            out: String::new(),
            sorts: Vec::new(),
            tables: Vec::new(),
            predicates: Vec::new(),
            functions: Vec::new(),
            params: Vec::new(),
            scope: Vec::new(),
            crisp_only: false,
        }
    }

    fn line(&mut self, text: String) {
        if self.rng.one_in(8) {
            self.out
                .push_str("# forall (a remark -> ∀ \"not\" & read\n");
        }
        self.out.push_str(&text);
        let end = self
            .rng
            .pick(&["\n", "\n", "\r\n", "\n\n", " # why\n", " "]);
        self.out.push_str(end);
    }

    // --- declarations ---------------------------------------------------------------------------

    fn symbols(&mut self) {
        for i in 0..1 + self.rng.below(4) {
            self.sort(i);
        }
        for i in 0..self.rng.below(3) {
            let name = format!("param_{i}");
            self.line(format!("param {name}"));
            self.params.push(name);
        }
        for i in 0..self.rng.below(4) {
            self.function(i);
        }
        for i in 0..self.rng.below(4) {
            self.table(i);
        }
        for i in 0..1 + self.rng.below(4) {
            self.predicate(i);
        }
    }

    fn sort(&mut self, i: usize) {
        let name = format!(
            "{}{i}",
            self.rng.pick(&["Sort", "Größe", "点", "Тип", "_S"])
        );
        let constant = format!("c{i}");
        let kind = match self.rng.below(3) {
            0 => SortKind::Data,
            1 => {
                let low = self.rng.below(20) as i64 - 10;
                SortKind::Range(low, low + self.rng.below(10) as i64)
            }
            _ => {
                let n = 1 + self.rng.below(4);
                SortKind::Labels((0..n).map(|k| self.label(i, k)).collect())
            }
        };
        self.line(match &kind {
            SortKind::Data => format!("sort {name}"),
            SortKind::Range(low, high) => format!("sort {name} = {low}..{high}"),
            SortKind::Labels(labels) => format!("sort {name} = {{{}}}", labels.join(", ")),
        });
        self.line(format!("constant {constant}: {name}"));
        self.sorts.push(Sort {
            name,
            kind,
            constant,
        });
    }

    fn type_name(&self, sort: Type) -> String {
        match sort {
            Type::Sort(i) => self.sorts[i].name.clone(),
            Type::Int => "Int".into(),
            Type::Real | Type::Vector(1) => "Real".into(),
            Type::Vector(k) => format!("Real[{k}]"),
        }
    }

    fn any_sort(&mut self) -> Type {
        Type::Sort(self.rng.below(self.sorts.len()))
    }

    /// A sort, or the value of a function that is declared already.
    fn argument_type(&mut self) -> Type {
        if self.rng.one_in(4) && !self.functions.is_empty() {
            let i = self.rng.below(self.functions.len());
            return self.functions[i].result;
        }
        self.any_sort()
    }

    fn argument_types(&mut self) -> Vec<Type> {
        (0..self.rng.below(4))
            .map(|_| self.argument_type())
            .collect()
    }

    fn function(&mut self, i: usize) {
        let name = format!("f{i}");
        let arguments = self.argument_types();
        let result = match self.rng.below(3) {
            0 => Type::Vector(1 + self.rng.below(3)),
            _ => self.any_sort(),
        };
        let names: Vec<_> = arguments.iter().map(|a| self.type_name(*a)).collect();
        let result_name = self.type_name(result);
        self.line(format!(
            "function {name}({}): {result_name}",
            names.join(", ")
        ));
        self.functions.push(Signature {
            name,
            arguments,
            result,
        });
    }

    fn table(&mut self, i: usize) {
        let name = format!("table_{i}");
        let columns: Vec<_> = (0..1 + self.rng.below(3))
            .map(|_| match self.rng.below(5) {
                0 => Type::Int,
                1 => Type::Real,
                _ => self.any_sort(),
            })
            .collect();
        // Columns have their own namespace, reserved words included.
        let words = ["where", "x", "Int", "near"];
        let names: Vec<_> = (columns.iter().zip(words))
            .map(|(sort, word)| format!("{word}: {}", self.type_name(*sort)))
            .collect();
        self.line(format!("table {name}({})", names.join(", ")));
        self.tables.push(Signature {
            name,
            arguments: columns,
            result: Type::Int,
        });
    }

    fn predicate(&mut self, i: usize) {
        let name = format!("{}{i}", self.rng.pick(&["P", "is_a", "猫", "min"]));
        let arguments = self.argument_types();
        let names: Vec<_> = arguments.iter().map(|a| self.type_name(*a)).collect();
        self.line(format!("predicate {name}({})", names.join(", ")));
        self.predicates.push(Signature {
            name,
            arguments,
            result: Type::Int,
        });
    }

    fn axiom(&mut self, i: usize, size: usize) {
        let mut head = format!("axiom {}", ["any", "sort", "axiom", "größe", "a"][i % 5]);
        if i >= 5 {
            head.push_str(&i.to_string());
        }
        if self.rng.one_in(3) {
            let weight = self.rng.pick(&["0", "2", "0.25", "1e-3", "3.5e10"]);
            head.push_str(&format!(" (weight {weight})"));
        }
        self.scope.clear();
        if self.rng.one_in(3) {
            let binder = self.sorted_binder(Binder::Crisp);
            let guard = self.crisp_guard(size);
            head.push_str(&format!(" for {binder}{guard}"));
        }
        let formula = self.formula(size, true);
        self.line(format!("{head}: {formula}"));
    }

    // --- binders --------------------------------------------------------------------------------

    /// A name that is not in scope; names of siblings come again.
    fn fresh(&mut self) -> String {
        let base = self.rng.pick(&["x", "y", "_z", "名", "whole"]);
        let taken = |name: &str| self.scope.iter().any(|v| v.name == name);
        let mut name = base.to_string();
        let mut i = 1;
        while taken(&name) {
            name = format!("{base}{i}");
            i += 1;
        }
        name
    }

    fn bind(&mut self, sort: Type, binder: Binder) -> String {
        let name = self.fresh();
        self.scope.push(Variable {
            name: name.clone(),
            sort,
            binder,
        });
        name
    }

    /// `x, y: S, z: T`, in scope afterwards.
    fn sorted_binder(&mut self, binder: Binder) -> String {
        let groups: Vec<_> = (0..1 + self.rng.below(2))
            .map(|_| {
                let sort = self.any_sort();
                let names: Vec<_> = (0..1 + self.rng.below(2))
                    .map(|_| self.bind(sort, binder))
                    .collect();
                format!("{}: {}", names.join(", "), self.type_name(sort))
            })
            .collect();
        groups.join(", ")
    }

    /// `(x, y) in T` or sorts.
    fn binder(&mut self, binder: Binder) -> String {
        if self.tables.is_empty() || self.rng.one_in(2) {
            return self.sorted_binder(binder);
        }
        let i = self.rng.below(self.tables.len());
        let (table, columns) = (
            self.tables[i].name.clone(),
            self.tables[i].arguments.clone(),
        );
        let names: Vec<_> = columns.iter().map(|c| self.bind(*c, binder)).collect();
        format!("({}) in {table}", names.join(", "))
    }

    fn crisp_guard(&mut self, size: usize) -> String {
        let outer = std::mem::replace(&mut self.crisp_only, true);
        let guard = self.optional_guard(size);
        self.crisp_only = outer;
        guard
    }

    fn optional_guard(&mut self, size: usize) -> String {
        if self.rng.one_in(2) {
            return String::new();
        }
        format!(" where {}", self.guard(size.min(3)))
    }

    // --- formulas -------------------------------------------------------------------------------

    /// Puts parentheses around `text`, always or now and then.
    fn wrapped(&mut self, text: String, always: bool) -> String {
        if always || self.rng.one_in(4) {
            format!("({text})")
        } else {
            text
        }
    }

    /// `open`: nothing follows that its last quantifier could swallow.
    fn formula(&mut self, size: usize, open: bool) -> String {
        if size == 0 || self.rng.one_in(6) {
            let text = self.atom(size.min(2));
            return self.wrapped(text, false);
        }
        match self.rng.below(7) {
            0 => {
                let inner = self.formula(size - 1, false);
                let not = self.rng.pick(&["not ", "¬", "not not ", "¬ not"]);
                let inner = self.wrapped(inner, true);
                self.wrapped(format!("{not}{inner}"), false)
            }
            1 => self.run(size, &[" and ", " ∧ ", "\n  and "]),
            2 => self.run(size, &[" or ", " ∨ "]),
            3 => {
                let (a, b) = (self.formula(size - 1, false), self.formula(size - 1, false));
                let arrow = self.rng.pick(&[" -> ", "→"]);
                self.wrapped(format!("{a}{arrow}{b}"), false)
            }
            4 => {
                let (a, b) = (self.formula(size - 1, false), self.formula(size - 1, false));
                let arrow = self.rng.pick(&[" <-> ", "↔"]);
                self.wrapped(format!("{a}{arrow}{b}"), true)
            }
            5 => self.quantified(size, open),
            _ => self.big_connective(size, open),
        }
    }

    fn run(&mut self, size: usize, words: &[&'static str]) -> String {
        let word = self.rng.pick(words);
        let members: Vec<_> = (0..2 + self.rng.below(3))
            .map(|_| self.formula(size - 1, false))
            .collect();
        self.wrapped(members.join(word), false)
    }

    fn quantified(&mut self, size: usize, open: bool) -> String {
        let depth = self.scope.len();
        let word = self.rng.pick(&["forall ", "exists ", "∀", "∃ "]);
        let binder = self.binder(Binder::Quantifier);
        let guard = self.optional_guard(size);
        let body = self.formula(size - 1, true);
        self.scope.truncate(depth);
        self.wrapped(format!("{word}{binder}{guard}. {body}"), !open)
    }

    fn big_connective(&mut self, size: usize, open: bool) -> String {
        let depth = self.scope.len();
        let word = self.rng.pick(&["all ", "any ", "⋀", "⋁ "]);
        let binder = self.sorted_binder(Binder::Crisp);
        let guard = self.crisp_guard(size);
        let body = self.formula(size - 1, true);
        self.scope.truncate(depth);
        self.wrapped(format!("{word}{binder}{guard}. {body}"), !open)
    }

    fn atom(&mut self, size: usize) -> String {
        let i = self.rng.below(self.predicates.len());
        let wanted = self.predicates[i].arguments.clone();
        let arguments: Vec<_> = wanted.iter().map(|t| self.term(*t, size)).collect();
        format!("{}({})", self.predicates[i].name, arguments.join(", "))
    }

    /// A term of any type that functions are declared for.
    fn term(&mut self, wanted: Type, size: usize) -> String {
        let functions: Vec<usize> = (0..self.functions.len())
            .filter(|f| self.functions[*f].result == wanted)
            .collect();
        let Type::Sort(sort) = wanted else {
            // The first with that result takes only earlier types: this ends.
            return self.applied(functions[0], 0);
        };
        if size > 0 && !functions.is_empty() && self.rng.one_in(3) {
            let function = functions[self.rng.below(functions.len())];
            return self.applied(function, size - 1);
        }
        self.individual(sort)
    }

    fn applied(&mut self, function: usize, size: usize) -> String {
        let wanted = self.functions[function].arguments.clone();
        let arguments: Vec<_> = wanted.iter().map(|t| self.term(*t, size)).collect();
        format!(
            "{}({})",
            self.functions[function].name,
            arguments.join(", ")
        )
    }

    /// A label as it is written: a name, or anything else in quotes.
    fn label(&mut self, sort: usize, place: usize) -> String {
        const ODD: [&str; 10] = [
            "",
            " ",
            ".n.01",
            "\\\"",
            "\\\\",
            "#",
            "猫",
            "'x'",
            "{,}: ",
            "“\u{202e}\u{a0}",
        ];
        match self.rng.one_in(2) {
            true => format!("label_{sort}_{place}"),
            false => {
                let [before, after] = [self.rng.pick(&ODD), self.rng.pick(&ODD)];
                format!("\"{before}{sort}{after}{place}\"")
            }
        }
    }

    /// A variable, a constant, a label or an integer of a sort.
    fn individual(&mut self, sort: usize) -> String {
        let variables = self.variables(|t| t == Type::Sort(sort));
        if !variables.is_empty() && !self.rng.one_in(4) {
            return variables[self.rng.below(variables.len())].clone();
        }
        match self.sorts[sort].kind.clone() {
            SortKind::Range(low, high) if self.rng.one_in(2) => {
                (low + self.rng.below((high - low) as usize + 1) as i64).to_string()
            }
            SortKind::Labels(labels) if self.rng.one_in(2) => {
                labels[self.rng.below(labels.len())].clone()
            }
            _ => self.sorts[sort].constant.clone(),
        }
    }

    /// The names of the variables within reach whose type is right.
    fn variables(&self, right: impl Fn(Type) -> bool) -> Vec<String> {
        let reach = |v: &&Variable| !self.crisp_only || v.binder == Binder::Crisp;
        (self.scope.iter().filter(reach))
            .filter(|v| right(v.sort))
            .map(|v| v.name.clone())
            .collect()
    }

    // --- guards ---------------------------------------------------------------------------------

    fn guard(&mut self, size: usize) -> String {
        if size == 0 || self.rng.one_in(3) {
            let text = self.condition(size);
            return self.wrapped(text, false);
        }
        match self.rng.below(4) {
            0 => {
                let inner = self.guard(size - 1);
                let inner = self.wrapped(inner, true);
                self.wrapped(format!("not {inner}"), false)
            }
            1 | 2 => {
                let word = self.rng.pick(&[" and ", " or ", " ∧ ", " ∨ "]);
                let members: Vec<_> = (0..2 + self.rng.below(2))
                    .map(|_| self.guard(size - 1))
                    .collect();
                self.wrapped(members.join(word), false)
            }
            _ => {
                let depth = self.scope.len();
                let binder = self.binder(Binder::Crisp);
                let guard = self.optional_guard(size - 1);
                let body = self.guard(size - 1);
                self.scope.truncate(depth);
                format!("(exists {binder}{guard}. {body})")
            }
        }
    }

    fn condition(&mut self, size: usize) -> String {
        match self.rng.below(4) {
            0 if !self.tables.is_empty() => {
                let i = self.rng.below(self.tables.len());
                let columns = self.tables[i].arguments.clone();
                let cells: Vec<_> = columns.iter().map(|c| self.cell(*c, size)).collect();
                format!("{}({})", self.tables[i].name, cells.join(", "))
            }
            1 => {
                let sort = self.rng.below(self.sorts.len());
                let (a, b) = (self.individual(sort), self.individual(sort));
                let op = self.rng.pick(&["=", " != "]);
                format!("{a}{op}{b}")
            }
            _ => {
                let (a, b) = (self.value(size), self.value(size));
                let op = self.rng.pick(&[" = ", " != ", "<", " <= ", ">", ">="]);
                format!("{a}{op}{b}")
            }
        }
    }

    fn cell(&mut self, column: Type, size: usize) -> String {
        match column {
            Type::Sort(sort) => self.individual(sort),
            _ => self.value(size),
        }
    }

    fn value(&mut self, size: usize) -> String {
        if size == 0 || self.rng.one_in(3) {
            return self.number();
        }
        match self.rng.below(5) {
            0 => {
                let op = self.rng.pick(&[" + ", "-", " - ", "*", " / ", " % "]);
                let members: Vec<_> = (0..2 + self.rng.below(2))
                    .map(|_| self.value(size - 1))
                    .collect();
                self.wrapped(members.join(op), false)
            }
            1 => {
                let inner = self.value(size - 1);
                let inner = self.wrapped(inner, false);
                format!("- {inner}")
            }
            2 => format!("abs({})", self.value(size - 1)),
            3 => {
                let values: Vec<_> = (0..2 + self.rng.below(2))
                    .map(|_| self.value(size - 1))
                    .collect();
                format!("{}({})", self.rng.pick(&["min", "max"]), values.join(", "))
            }
            _ => self.distance().unwrap_or_else(|| self.number()),
        }
    }

    fn distance(&mut self) -> Option<String> {
        let sort = self.sorts.iter().position(|s| s.kind == SortKind::Data)?;
        let (a, b) = (self.individual(sort), self.individual(sort));
        Some(format!("dist({a}, {b})"))
    }

    fn number(&mut self) -> String {
        let integers: Vec<bool> = (self.sorts.iter())
            .map(|s| matches!(s.kind, SortKind::Range(..)))
            .collect();
        let variables = self.variables(|t| match t {
            Type::Int | Type::Real => true,
            Type::Sort(i) => integers[i],
            Type::Vector(_) => false,
        });
        match self.rng.below(4) {
            0 | 1 if !variables.is_empty() => variables[self.rng.below(variables.len())].clone(),
            2 if !self.params.is_empty() => self.params[self.rng.below(self.params.len())].clone(),
            3 => (self.rng)
                .pick(&[
                    "2.5",
                    "1e-3",
                    "0.0",
                    "12e10",
                    "-3",
                    "-9223372036854775808",
                    "--4",
                ])
                .to_string(),
            _ => self.rng.below(30).to_string(),
        }
    }
}
