//! The tree that the parser builds: names are still text, nothing has been checked.
//!
//! Formulas, guards and terms share one tree. A user who puts a comparison into a formula or a
//! predicate into a guard has made a mistake about logic, not about grammar, and the resolver can say
//! so in words; a parser with separate grammars could only say "unexpected token".

use crate::source::Span;

#[derive(Clone, Debug)]
pub(crate) struct Name {
    pub text: String,
    pub span: Span,
}

#[derive(Clone, Debug)]
pub(crate) struct Expr {
    pub kind: ExprKind,
    pub span: Span,
}

impl Expr {
    pub fn at(span: Span, kind: ExprKind) -> Expr {
        Expr { kind, span }
    }
}

#[derive(Clone, Debug)]
pub(crate) enum ExprKind {
    Name(String),
    /// A label that is in quotes, without them.
    Label(String),
    /// A magnitude; `-1` is `Negative(Integer(1))`.
    Integer(u64),
    Number(f64),
    Call(Name, Vec<Expr>),
    /// `x.age`: a column of an individual's features.
    Field(Name, Name),
    Negative(Box<Expr>),
    /// Flat, so that a long sum is not a deep tree.
    Sum(Vec<(Sign, Expr)>),
    Product(Vec<(Factor, Expr)>),
    Compare(Comparison, Box<Expr>, Box<Expr>),
    Not(Box<Expr>),
    And(Vec<Expr>),
    Or(Vec<Expr>),
    Implies(Box<Expr>, Box<Expr>),
    Iff(Box<Expr>, Box<Expr>),
    Quantified(Box<Quantified>),
    /// Could not be read, and has been reported.
    Error,
}

impl ExprKind {
    /// Whether it has the form of a term: a name, a number or a call.
    pub fn is_term(&self) -> bool {
        use ExprKind::*;
        matches!(
            self,
            Name(_) | Label(_) | Integer(_) | Number(_) | Call(..) | Negative(_) | Error
        )
    }
}

/// `+` or `-` before a member of a sum.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Sign {
    /// Added.
    Plus,
    /// Subtracted.
    Minus,
}

/// How a member enters a product.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Factor {
    /// `*`, and the first member.
    Times,
    /// `/`, real division.
    Over,
    /// `%`, the Euclidean remainder.
    Modulo,
}

/// A comparison in a guard.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Comparison {
    /// `=`
    Equal,
    /// `!=`
    NotEqual,
    /// `<`
    Less,
    /// `<=`
    LessEqual,
    /// `>`
    Greater,
    /// `>=`
    GreaterEqual,
}

impl Comparison {
    /// As it is written.
    pub(crate) fn symbol(self) -> &'static str {
        match self {
            Comparison::Equal => "=",
            Comparison::NotEqual => "!=",
            Comparison::Less => "<",
            Comparison::LessEqual => "<=",
            Comparison::Greater => ">",
            Comparison::GreaterEqual => ">=",
        }
    }
}

/// What binds a variable.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Quantifier {
    /// `forall`: a universal quantifier over data.
    Forall,
    /// `exists`: an existential quantifier over data.
    Exists,
    /// `all`: the n-ary `and` over a finite sort.
    All,
    /// `any`: the n-ary `or` over a finite sort.
    Any,
}

impl Quantifier {
    /// As it is written.
    pub(crate) fn word(self) -> &'static str {
        match self {
            Quantifier::Forall => "forall",
            Quantifier::Exists => "exists",
            Quantifier::All => "all",
            Quantifier::Any => "any",
        }
    }

    /// `all` and `any`, the n-ary connectives.
    pub(crate) fn is_big_connective(self) -> bool {
        matches!(self, Quantifier::All | Quantifier::Any)
    }

    /// The quantifier after negation.
    pub(crate) fn dual(self) -> Quantifier {
        match self {
            Quantifier::Forall => Quantifier::Exists,
            Quantifier::Exists => Quantifier::Forall,
            Quantifier::All => Quantifier::Any,
            Quantifier::Any => Quantifier::All,
        }
    }
}

#[derive(Clone, Debug)]
pub(crate) struct Quantified {
    pub quantifier: Quantifier,
    pub quantifier_span: Span,
    pub binding: Binding,
    pub guard: Option<Expr>,
    pub body: Expr,
}

/// Variables, each with the name of its sort.
pub(crate) type SortedNames = Vec<(Name, Option<Name>)>;

#[derive(Clone, Debug)]
pub(crate) enum Binding {
    /// `x, y: S, z: T`, flattened to pairs; a sort that was left out has been reported.
    Sorts(SortedNames),
    /// `(a, b) in T`
    Rows(Vec<Name>, Name),
    /// Several of these at once.
    Mixed(Vec<Binding>),
}

impl Binding {
    /// The names that it binds.
    pub fn names(&self) -> Vec<&str> {
        match self {
            Binding::Sorts(sorted) => sorted.iter().map(|(n, _)| n.text.as_str()).collect(),
            Binding::Rows(names, _) => names.iter().map(|n| n.text.as_str()).collect(),
            Binding::Mixed(parts) => parts.iter().flat_map(Binding::names).collect(),
        }
    }
}

#[derive(Clone, Debug)]
pub(crate) enum SortDefinition {
    Data,
    Range(i64, i64),
    Labels(Vec<Name>),
    /// Could not be read, and has been reported.
    Error,
}

/// The type of a column, an argument or a result.
#[derive(Clone, Debug)]
pub(crate) enum TypeName {
    Sort(Name),
    Int(Span),
    Real,
    Vector(usize, Span),
}

#[derive(Clone, Debug)]
pub(crate) enum Declaration {
    Sort(Name, SortDefinition),
    Table(Name, Vec<(Name, TypeName)>),
    Predicate(Name, Vec<TypeName>),
    Function(Name, Vec<TypeName>, Option<TypeName>),
    Constant(Name, Option<Name>),
    Param(Name),
    Axiom(AxiomSyntax),
    Define(DefinitionSyntax),
    /// Its name could be read, the rest not: it is declared, but its uses get no messages.
    Broken(Name),
}

impl Declaration {
    pub fn name(&self) -> &Name {
        match self {
            Declaration::Sort(name, _)
            | Declaration::Table(name, _)
            | Declaration::Predicate(name, _)
            | Declaration::Function(name, ..)
            | Declaration::Constant(name, _)
            | Declaration::Param(name)
            | Declaration::Broken(name) => name,
            Declaration::Axiom(axiom) => &axiom.name,
            Declaration::Define(definition) => &definition.name,
        }
    }
}

#[derive(Clone, Debug)]
pub(crate) struct DefinitionSyntax {
    pub name: Name,
    pub parameters: SortedNames,
    pub depth: Option<u32>,
    pub formula: Expr,
    pub span: Span,
}

#[derive(Clone, Debug)]
pub(crate) struct AxiomSyntax {
    pub name: Name,
    pub weight: Option<(f64, Span)>,
    pub family: Option<(SortedNames, Option<Expr>)>,
    pub formula: Expr,
    pub span: Span,
}
