//! A checked theory: every name resolved, every sort known, every place in the source kept.

use std::hash::{Hash, Hasher};
use std::ops::{Index, IndexMut};

use crate::diagnostic::{Code, Diagnostic};
use crate::recursion::deep;
use crate::source::{Source, Span};
use crate::suggest::did_you_mean;
pub use crate::syntax::{Comparison, Factor, Quantifier, Sign};

/// A list in the order of the theory can be asked for what belongs to an id.
macro_rules! by_id {
    ($name:ident, $list:ty) => {
        impl<T> Index<$name> for $list {
            type Output = T;
            fn index(&self, id: $name) -> &T {
                &self[id.0 as usize]
            }
        }

        impl<T> IndexMut<$name> for $list {
            fn index_mut(&mut self, id: $name) -> &mut T {
                &mut self[id.0 as usize]
            }
        }
    };
}

macro_rules! ids {
    ($($(#[$doc:meta])* $name:ident),*) => {$(
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub struct $name(pub u32);

        impl $name {
            pub(crate) fn index(self) -> usize {
                self.0 as usize
            }
        }

        by_id!($name, [T]);
        by_id!($name, Vec<T>);
    )*};
}

ids! {
    /// A [`Sort`] of the theory.
    SortId,
    /// A [`Table`] of the theory.
    TableId,
    /// A [`Predicate`] of the theory.
    PredicateId,
    /// A [`Function`] of the theory.
    FunctionId,
    /// A [`Constant`] of the theory.
    ConstantId,
    /// A [`Param`] of the theory.
    ParamId,
    /// A [`Definition`] of the theory.
    DefinitionId,
    /// A [`Variable`] of one axiom.
    VarId
}

/// The kinds of names that a theory declares and data are given for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)] // they are what they are called
pub enum SymbolKind {
    Sort,
    Table,
    Predicate,
    Function,
    Constant,
    Param,
}

/// Sorts, symbols and axioms, checked. Made by [`Theory::parse`].
#[derive(Clone, Debug)]
pub struct Theory {
    /// The text that all spans point into.
    pub source: Source,
    /// In the order of their declarations, as are all the lists below.
    pub sorts: Vec<Sort>,
    /// The tables.
    pub tables: Vec<Table>,
    /// The predicates.
    pub predicates: Vec<Predicate>,
    /// The functions.
    pub functions: Vec<Function>,
    /// The constants.
    pub constants: Vec<Constant>,
    /// The params.
    pub params: Vec<Param>,
    /// The definitions.
    pub definitions: Vec<Definition>,
    /// The axioms; a family counts as one.
    pub axioms: Vec<Axiom>,
    /// The products that quantifiers over rows and individuals together range over.
    pub products: Vec<Product>,
}

/// All combinations of rows of tables and individuals of sorts: an undeclared table whose columns are those of its
/// parts. A quantifier that binds several of these is one aggregation over its rows.
#[derive(Clone, Debug, PartialEq)]
pub struct Product {
    /// Its columns.
    pub table: Table,
    /// Its parts; the last one varies fastest.
    pub parts: Vec<ProductPart>,
}

/// A part of a [`Product`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum ProductPart {
    /// The rows of a table, with all its columns.
    Rows(TableId),
    /// The individuals of a sort, which are a column.
    Sort(SortId),
}

/// Tables with numbers from here on are products.
const PRODUCTS: u32 = 1 << 31;

impl TableId {
    /// The table of a product, by its place in [`Theory::products`].
    pub(crate) fn of_product(place: usize) -> TableId {
        TableId(PRODUCTS + place as u32)
    }

    /// The place in [`Theory::products`], if the table is a product.
    pub fn product(self) -> Option<usize> {
        self.0.checked_sub(PRODUCTS).map(|place| place as usize)
    }
}

impl Index<TableId> for Theory {
    type Output = Table;
    fn index(&self, id: TableId) -> &Table {
        match id.product() {
            Some(place) => &self.products[place].table,
            None => &self.tables[id.index()],
        }
    }
}

macro_rules! indexed {
    ($($id:ident => $list:ident: $item:ident),*) => {$(
        impl Index<$id> for Theory {
            type Output = $item;
            fn index(&self, id: $id) -> &$item {
                &self.$list[id.index()]
            }
        }
    )*};
}

indexed! {
    SortId => sorts: Sort,
    PredicateId => predicates: Predicate,
    FunctionId => functions: Function,
    ConstantId => constants: Constant,
    ParamId => params: Param,
    DefinitionId => definitions: Definition
}

/// A sort of individuals.
#[derive(Clone, Debug, PartialEq)]
pub struct Sort {
    /// Its name.
    pub name: String,
    /// The source of its individuals.
    pub kind: SortKind,
    /// The names of its individuals in order, if they have names: the labels of the theory, or those that the data
    /// gave to a data sort.
    pub labels: Vec<String>,
    /// Where its name is declared.
    pub span: Span,
}

/// The source of a sort's individuals.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SortKind {
    /// `sort S`: from data.
    Data,
    /// `sort S = a..b`: the integers from the first to the second, inclusive.
    Range(i64, i64),
    /// `sort S = {a, b}`: the labels of the theory.
    Labels,
}

impl Sort {
    /// The number of individuals, if the theory alone determines it.
    pub fn size(&self) -> Option<usize> {
        match self.kind {
            SortKind::Data => None,
            SortKind::Range(low, high) => Some((high - low) as usize + 1),
            SortKind::Labels => Some(self.labels.len()),
        }
    }

    /// How an individual is written: its integer, its label, or its row as `#3`.
    pub fn individual_name(&self, index: usize) -> String {
        match (self.kind, self.labels.get(index)) {
            (SortKind::Range(low, _), _) => (low + index as i64).to_string(),
            (_, Some(label)) => label.clone(),
            _ => format!("#{index}"),
        }
    }
}

/// The type of a variable or a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ColumnSort {
    /// Individuals.
    Sort(SortId),
    /// Integers, for guards and where a `Real` is expected.
    Int,
    /// Reals, likewise.
    Real,
}

impl ColumnSort {
    /// That of individuals.
    pub fn sort(self) -> Option<SortId> {
        match self {
            ColumnSort::Sort(sort) => Some(sort),
            ColumnSort::Int | ColumnSort::Real => None,
        }
    }
}

/// The type of an argument of a predicate or a function, or of a function's value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ArgumentSort {
    /// An individual, or a function's value of that sort.
    Sort(SortId),
    /// Numbers that a function returned. `Real` is a vector of width 1, and may also be a number or the cell of an `Int`
    /// or `Real` column.
    Vector(usize),
}

impl ArgumentSort {
    /// That of individuals.
    pub fn sort(self) -> Option<SortId> {
        match self {
            ArgumentSort::Sort(sort) => Some(sort),
            ArgumentSort::Vector(_) => None,
        }
    }
}

/// A table: named columns, rows from data.
#[derive(Clone, Debug, PartialEq)]
pub struct Table {
    /// Its name.
    pub name: String,
    /// The columns in order.
    pub columns: Vec<Column>,
    /// Where its name is declared.
    pub span: Span,
}

/// A column of a table.
#[derive(Clone, Debug, PartialEq)]
pub struct Column {
    /// Its name.
    pub name: String,
    /// The type of its cells.
    pub sort: ColumnSort,
    /// Where it is declared.
    pub span: Span,
}

/// A predicate, grounded outside the theory.
#[derive(Clone, Debug, PartialEq)]
pub struct Predicate {
    /// Its name.
    pub name: String,
    /// The sorts of its arguments.
    pub arguments: Vec<ArgumentSort>,
    /// Where its name is declared.
    pub span: Span,
}

/// A function, grounded outside the theory.
#[derive(Clone, Debug, PartialEq)]
pub struct Function {
    /// Its name.
    pub name: String,
    /// The sorts of its arguments.
    pub arguments: Vec<ArgumentSort>,
    /// The type of its value.
    pub result: ArgumentSort,
    /// Where its name is declared.
    pub span: Span,
}

impl Function {
    /// The column that it stands for, if it is one of a sort's features: `age` of `Person.age`, which a theory uses as
    /// `x.age` and does not declare.
    pub fn field(&self) -> Option<&str> {
        self.name.split_once('.').map(|(_, field)| field)
    }

    pub(crate) fn of_field(sort: SortId, sort_name: &str, field: &str, span: Span) -> Function {
        Function {
            name: format!("{sort_name}.{field}"),
            arguments: vec![ArgumentSort::Sort(sort)],
            result: ArgumentSort::Vector(1),
            span,
        }
    }
}

/// A named individual.
#[derive(Clone, Debug, PartialEq)]
pub struct Constant {
    /// Its name.
    pub name: String,
    /// Its sort.
    pub sort: SortId,
    /// Where its name is declared.
    pub span: Span,
}

/// A number for guards, given with the data.
#[derive(Clone, Debug, PartialEq)]
pub struct Param {
    /// Its name.
    pub name: String,
    /// Where its name is declared.
    pub span: Span,
}

/// An axiom, or a family of axioms.
#[derive(Clone, Debug, PartialEq)]
pub struct Axiom {
    /// Its name.
    pub name: String,
    /// The weight, 1 by default; each member of a family has it.
    pub weight: f64,
    /// Every variable bound in the axiom, in the order of the binders. [`VarId`] points in here.
    pub variables: Vec<Variable>,
    /// `for v: S where guard`
    pub family: Option<Family>,
    /// The formula.
    pub formula: Formula,
    /// For a question: the products that the theory does not have yet.
    pub products: Vec<Product>,
    /// Where its name is.
    pub name_span: Span,
    /// The whole axiom.
    pub span: Span,
}

impl Index<VarId> for Axiom {
    type Output = Variable;
    fn index(&self, id: VarId) -> &Variable {
        &self.variables[id.index()]
    }
}

/// A formula with a name: `define NAME(v: S, …) to depth N: formula`.
#[derive(Clone, Debug, PartialEq)]
pub struct Definition {
    /// The name, the formula and its variables, of which the first [`arity`](Definition::arity) are the parameters. It has
    /// weight 1 and no family.
    pub body: Axiom,
    /// The number of parameters.
    pub arity: usize,
    /// How deep its uses of itself go, if it has a depth.
    pub depth: Option<u32>,
}

impl Definition {
    /// Its name.
    pub fn name(&self) -> &str {
        &self.body.name
    }

    /// The parameters, all of them individuals of sorts.
    pub fn parameters(&self) -> &[Variable] {
        &self.body.variables[..self.arity]
    }

    /// The parameters as variables of its formula.
    pub(crate) fn parameter_ids(&self) -> Vec<VarId> {
        (0..self.arity as u32).map(VarId).collect()
    }
}

/// A question to a theory. Made by [`Theory::parse_query`].
#[derive(Clone, Debug)]
pub struct Query {
    /// The formula, under the binder `find` as if that were a `forall`.
    pub axiom: Axiom,
    /// Whether it begins with `find`, and so asks for bindings instead of a truth.
    pub is_open: bool,
    /// Its text.
    pub source: Source,
}

/// A bound variable.
#[derive(Clone, Debug, PartialEq)]
pub struct Variable {
    /// Its name.
    pub name: String,
    /// Its type.
    pub sort: ColumnSort,
    /// What binds it.
    pub bound_by: BoundBy,
    /// Where it is bound.
    pub span: Span,
}

/// What binds a variable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BoundBy {
    /// `for`, at the head of a family.
    Family,
    /// A quantifier or big connective of the formula.
    Quantifier(Quantifier),
    /// `exists` within a guard.
    Guard,
    /// The head of a definition.
    Definition,
}

/// The head of a family of axioms: one member per binding that passes the guard.
#[derive(Clone, Debug, PartialEq)]
pub struct Family {
    /// The variables, usually one.
    pub variables: Vec<VarId>,
    /// The guard that chooses the members.
    pub guard: Option<Guard>,
}

/// A formula, with its place in the source.
#[derive(Debug)]
pub struct Formula {
    /// What it is.
    pub kind: FormulaKind,
    /// Where it is.
    pub span: Span,
}

impl Formula {
    /// The direct subformulas.
    pub fn children(&self) -> Vec<&Formula> {
        match &self.kind {
            FormulaKind::Atom { .. } | FormulaKind::Use { .. } => Vec::new(),
            FormulaKind::Not(inner) | FormulaKind::Quantified { body: inner, .. } => vec![inner],
            FormulaKind::And(members) | FormulaKind::Or(members) => members.iter().collect(),
            FormulaKind::Implies(a, b) | FormulaKind::Iff(a, b) => vec![a, b],
        }
    }

    /// This formula and all under it, outer ones first.
    pub fn parts(&self) -> impl Iterator<Item = &Formula> {
        let mut open = vec![self];
        std::iter::from_fn(move || {
            let next = open.pop()?;
            open.extend(next.children().into_iter().rev());
            Some(next)
        })
    }

    pub(crate) fn children_mut(&mut self) -> Vec<&mut Formula> {
        match &mut self.kind {
            FormulaKind::Atom { .. } | FormulaKind::Use { .. } => Vec::new(),
            FormulaKind::Not(inner) | FormulaKind::Quantified { body: inner, .. } => vec![inner],
            FormulaKind::And(members) | FormulaKind::Or(members) => members.iter_mut().collect(),
            FormulaKind::Implies(a, b) | FormulaKind::Iff(a, b) => vec![a, b],
        }
    }
}

/// The kinds of formulas.
#[derive(Clone, Debug, PartialEq)]
// A quantifier is large and rare; boxing its guard would complicate every match on it.
#[allow(clippy::large_enum_variant)]
pub enum FormulaKind {
    /// `P(x, y)`
    Atom {
        /// The predicate.
        predicate: PredicateId,
        /// Its arguments.
        arguments: Vec<Term>,
    },
    /// `D(x, y)`, where `D` is a definition.
    Use {
        /// The definition.
        definition: DefinitionId,
        /// The arguments.
        arguments: Vec<Term>,
    },
    /// `not a`
    Not(Box<Formula>),
    /// `a and b and c`: one n-ary connective.
    And(Vec<Formula>),
    /// `a or b or c`: one n-ary connective.
    Or(Vec<Formula>),
    /// `a -> b`
    Implies(Box<Formula>, Box<Formula>),
    /// `a <-> b`
    Iff(Box<Formula>, Box<Formula>),
    /// A quantifier or a big connective.
    Quantified {
        /// The kind.
        quantifier: Quantifier,
        /// What it binds.
        binding: Binding,
        /// The guard.
        guard: Option<Guard>,
        /// The formula under it.
        body: Box<Formula>,
    },
}

/// What a quantifier binds.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Binding {
    /// Variables that range over their sorts: all combinations.
    Sorts(Vec<VarId>),
    /// Variables bound together to the rows of a table.
    Rows(TableId, Vec<VarId>),
}

impl Binding {
    /// The variables, in order.
    pub fn variables(&self) -> &[VarId] {
        match self {
            Binding::Sorts(variables) | Binding::Rows(_, variables) => variables,
        }
    }
}

/// An argument of a predicate or a function.
#[derive(Debug)]
pub struct Term {
    /// What it is.
    pub kind: TermKind,
    /// Where it is.
    pub span: Span,
}

/// The kinds of terms.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum TermKind {
    /// A bound variable.
    Variable(VarId),
    /// An individual written out: `3`, `bottle`; its index in its sort.
    Individual(SortId, u32),
    /// A constant.
    Constant(ConstantId),
    /// A number, where a `Real` is expected.
    Number(Literal),
    /// A function's value; in a guard, of a function given by data.
    Apply(FunctionId, Vec<Term>),
}

/// A number of a theory's text, which is never NaN.
#[derive(Clone, Copy, Debug)]
pub struct Literal(pub f64);

impl PartialEq for Literal {
    fn eq(&self, other: &Literal) -> bool {
        self.0 == other.0
    }
}

impl Eq for Literal {}

impl Hash for Literal {
    fn hash<H: Hasher>(&self, state: &mut H) {
        // The two zeros are equal.
        (self.0 + 0.0).to_bits().hash(state);
    }
}

/// A crisp condition.
#[derive(Debug)]
pub struct Guard {
    /// What it is.
    pub kind: GuardKind,
    /// Where it is.
    pub span: Span,
}

/// The kinds of guards.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum GuardKind {
    /// A comparison of numbers.
    Compare(Comparison, Value, Value),
    /// Whether two individuals of one sort are the same (or, negated, not).
    Same {
        /// `!=` instead of `=`.
        negated: bool,
        /// One.
        left: Term,
        /// The other.
        right: Term,
    },
    /// `T(a, b)`: whether the table has such a row.
    Member(TableId, Vec<Value>),
    /// `not a`
    Not(Box<Guard>),
    /// `a and b`
    And(Vec<Guard>),
    /// `a or b`
    Or(Vec<Guard>),
    /// `exists x: S where guard. body`
    Exists(Binding, Option<Box<Guard>>, Box<Guard>),
}

/// A number in a guard, or an individual as a cell of a table.
#[derive(Debug)]
pub struct Value {
    /// What it is.
    pub kind: ValueKind,
    /// Where it is.
    pub span: Span,
}

/// The kinds of values.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum ValueKind {
    /// An integer literal.
    Int(i64),
    /// A real literal.
    Real(Literal),
    /// A param.
    Param(ParamId),
    /// A variable of an integer sort or an `Int` or `Real` column, as its number.
    Number(VarId),
    /// An individual of a sort, in a cell of a table or as its integer; or a function's value, which may be a number.
    Individual(Term),
    /// `-a`
    Negative(Box<Value>),
    /// `a + b - c`
    Sum(Vec<(Sign, Value)>),
    /// `a * b / c % d`
    Product(Vec<(Factor, Value)>),
    /// `abs(a)`
    Abs(Box<Value>),
    /// `min(a, b)`
    Min(Vec<Value>),
    /// `max(a, b)`
    Max(Vec<Value>),
    /// `dist(x, y)`: the Euclidean distance of two individuals' features.
    Dist(Term, Term),
}

// A tree can be some thousand levels high, and an unoptimised build needs more than a kilobyte of stack
// for each when it clones: more than a thread has.
macro_rules! trees {
    ($($tree:ident: $kind:ident),*) => {$(
        impl $tree {
            pub(crate) fn new(kind: $kind, span: Span) -> $tree {
                $tree { kind, span }
            }
        }

        impl Clone for $tree {
            fn clone(&self) -> $tree {
                deep(|| $tree::new(self.kind.clone(), self.span))
            }
        }

        impl PartialEq for $tree {
            fn eq(&self, other: &$tree) -> bool {
                self.span == other.span && deep(|| self.kind == other.kind)
            }
        }
    )*};
}

trees!(Formula: FormulaKind, Term: TermKind, Guard: GuardKind, Value: ValueKind);

// Guards are looked up by their contents. A number in a theory's text is never NaN, so each equals itself.
macro_rules! hashed {
    ($($tree:ident),*) => {$(
        impl Eq for $tree {}

        impl Hash for $tree {
            fn hash<H: Hasher>(&self, state: &mut H) {
                deep(|| self.kind.hash(state));
            }
        }
    )*};
}

hashed!(Term, Guard, Value);

impl Theory {
    /// The sort with that name.
    pub fn sort(&self, name: &str) -> Option<SortId> {
        position(&self.sorts, |s| s.name == name).map(SortId)
    }

    /// The table with that name.
    pub fn table(&self, name: &str) -> Option<TableId> {
        position(&self.tables, |t| t.name == name).map(TableId)
    }

    /// The predicate with that name.
    pub fn predicate(&self, name: &str) -> Option<PredicateId> {
        position(&self.predicates, |p| p.name == name).map(PredicateId)
    }

    /// The function with that name.
    pub fn function(&self, name: &str) -> Option<FunctionId> {
        position(&self.functions, |f| f.name == name).map(FunctionId)
    }

    /// The definition with that name.
    pub fn definition(&self, name: &str) -> Option<DefinitionId> {
        position(&self.definitions, |d| d.name() == name).map(DefinitionId)
    }

    /// The error for a missing name of this kind, with a suggestion.
    pub fn unknown(&self, kind: SymbolKind, name: &str) -> Diagnostic {
        fn names<T>(list: &[T], name: impl Fn(&T) -> &String) -> Vec<&str> {
            list.iter().map(|one| name(one).as_str()).collect()
        }
        let (code, what) = match kind {
            SymbolKind::Sort => (Code::UnknownSort, "sort"),
            SymbolKind::Table => (Code::UnknownTable, "table"),
            SymbolKind::Predicate => (Code::UnknownPredicate, "predicate"),
            SymbolKind::Function => (Code::UnknownFunction, "function"),
            SymbolKind::Constant => (Code::UnknownConstant, "constant"),
            SymbolKind::Param => (Code::UnknownParam, "param"),
        };
        let known = match kind {
            SymbolKind::Sort => names(&self.sorts, |s| &s.name),
            SymbolKind::Table => names(&self.tables, |t| &t.name),
            SymbolKind::Predicate => names(&self.predicates, |p| &p.name),
            SymbolKind::Function => names(&self.functions, |f| &f.name),
            SymbolKind::Constant => names(&self.constants, |c| &c.name),
            SymbolKind::Param => names(&self.params, |p| &p.name),
        };
        Diagnostic::error(code, format!("the theory has no {what} `{name}`"))
            .maybe_help(did_you_mean(name, known))
    }

    /// All formulas of the text with their variables: those of the axioms, then those of the definitions.
    pub fn formulas(&self) -> impl Iterator<Item = &Axiom> {
        let definitions = self.definitions.iter().map(|d| &d.body);
        self.axioms.iter().chain(definitions)
    }

    /// The axiom (or family) with that name.
    pub fn axiom(&self, name: &str) -> Option<&Axiom> {
        self.axioms.iter().find(|a| a.name == name)
    }

    /// How a type is written in the language.
    pub fn column_sort_name(&self, sort: ColumnSort) -> &str {
        match sort {
            ColumnSort::Sort(id) => &self[id].name,
            ColumnSort::Int => "Int",
            ColumnSort::Real => "Real",
        }
    }
}

fn position<T>(list: &[T], found: impl FnMut(&T) -> bool) -> Option<u32> {
    list.iter().position(found).map(|i| i as u32)
}
