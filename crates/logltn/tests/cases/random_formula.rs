//! Random axioms over a signature, as text.

use logltn::theory::{ColumnSort, SortId, SortKind};

use super::random_guard::guard;
use super::rng::Rng;
use crate::reference::Num;

/// The symbols of a random theory.
#[derive(Default)]
pub struct Signature {
    /// Name, kind and number of individuals.
    pub sorts: Vec<(String, SortKind, usize)>,
    pub tables: Vec<(String, Vec<ColumnSort>)>,
    pub params: Vec<(String, Num)>,
    pub constants: Vec<(String, SortId)>,
    pub predicates: Vec<(String, Vec<SortId>)>,
    /// Given by data: name, arguments and what they say.
    pub functions: Vec<(String, Vec<SortId>, ColumnSort)>,
}

impl Signature {
    pub fn any_sort(&self, rng: &mut Rng) -> SortId {
        SortId(rng.below(self.sorts.len()) as u32)
    }

    pub fn size(&self, sort: SortId) -> usize {
        self.sorts[sort].2
    }

    pub fn kind(&self, sort: SortId) -> SortKind {
        self.sorts[sort].1
    }

    fn name(&self, sort: SortId) -> &str {
        &self.sorts[sort].0
    }

    /// The individuals that a theory can name without data.
    pub fn written(&self, sort: SortId) -> Vec<String> {
        let size = self.size(sort);
        match self.kind(sort) {
            SortKind::Range(low, high) => (low..=high).map(|n| n.to_string()).collect(),
            SortKind::Labels => (0..size)
                .map(|i| format!("{}_{i}", self.name(sort).to_lowercase()))
                .collect(),
            SortKind::Data => Vec::new(),
        }
    }

    pub fn declarations(&self) -> String {
        let mut text = String::new();
        for (index, (name, kind, _)) in self.sorts.iter().enumerate() {
            text += &match kind {
                SortKind::Data => format!("sort {name}\n"),
                SortKind::Range(low, high) => format!("sort {name} = {low}..{high}\n"),
                SortKind::Labels => {
                    let labels = self.written(SortId(index as u32));
                    format!("sort {name} = {{{}}}\n", labels.join(", "))
                }
            };
        }
        for (name, columns) in &self.tables {
            let columns: Vec<String> = (columns.iter().enumerate())
                .map(|(index, column)| match column {
                    ColumnSort::Int => format!("c{index}: Int"),
                    ColumnSort::Real => format!("c{index}: Real"),
                    ColumnSort::Sort(sort) => format!("c{index}: {}", self.name(*sort)),
                })
                .collect();
            text += &format!("table {name}({})\n", columns.join(", "));
        }
        for (name, _) in &self.params {
            text += &format!("param {name}\n");
        }
        for (name, sort) in &self.constants {
            text += &format!("constant {name}: {}\n", self.name(*sort));
        }
        for (name, arguments, result) in &self.functions {
            let arguments: Vec<&str> = arguments.iter().map(|s| self.name(*s)).collect();
            let result = match result {
                ColumnSort::Sort(sort) => self.name(*sort),
                _ => "Real",
            };
            text += &format!("function {name}({}): {result}\n", arguments.join(", "));
        }
        for (name, arguments) in &self.predicates {
            let arguments: Vec<&str> = arguments.iter().map(|s| self.name(*s)).collect();
            text += &format!("predicate {name}({})\n", arguments.join(", "));
        }
        text
    }
}

/// A variable that may be used.
#[derive(Clone)]
pub struct Local {
    pub name: String,
    pub sort: ColumnSort,
    /// Bound by `for`, `all` or `any`: the guards of these may look at it.
    pub written_out: bool,
}

/// What is in scope, and how much may still be built.
pub struct Scope<'a> {
    pub signature: &'a Signature,
    pub locals: Vec<Local>,
    /// How many bindings the quantifiers below may still multiply up to.
    pub budget: f64,
    /// No `forall` from here on.
    pub no_forall: bool,
    pub next_variable: usize,
}

impl Scope<'_> {
    pub fn fresh(&mut self, sort: ColumnSort, written_out: bool) -> Local {
        self.next_variable += 1;
        Local {
            name: format!("v{}", self.next_variable),
            sort,
            written_out,
        }
    }
}

/// One to four axioms. With `prenex`, every `forall` is at the front of its axiom.
pub fn axioms(rng: &mut Rng, signature: &Signature, prenex: bool) -> String {
    let mut text = String::new();
    for index in 0..=rng.below(4) {
        let mut scope = Scope {
            signature,
            locals: Vec::new(),
            budget: 600.0,
            no_forall: false,
            next_variable: 0,
        };
        let weight = match rng.below(6) {
            0 => " (weight 0.25)",
            1 => " (weight 2)",
            2 if index > 0 => " (weight 0)",
            _ => "",
        };
        let family = finite_sorts(signature);
        let head = if !family.is_empty() && rng.chance(0.25) {
            let sort = *rng.pick(&family);
            let variable = scope.fresh(ColumnSort::Sort(sort), true);
            scope.locals.push(variable.clone());
            scope.budget /= signature.size(sort) as f64;
            let condition = optional_guard(rng, &mut scope, 0.6, true);
            format!(
                " for {}: {}{condition}",
                variable.name,
                signature.name(sort)
            )
        } else {
            String::new()
        };
        let formula = front(rng, &mut scope, prenex);
        text += &format!("axiom a{index}{weight}{head}: {formula}\n");
    }
    text
}

fn finite_sorts(signature: &Signature) -> Vec<SortId> {
    (0..signature.sorts.len() as u32)
        .map(SortId)
        .filter(|&sort| signature.kind(sort) != SortKind::Data)
        .collect()
}

/// Usually quantifiers first, as in real theories.
fn front(rng: &mut Rng, scope: &mut Scope, prenex: bool) -> String {
    if rng.chance(0.55) {
        return quantified(rng, scope, "forall", |rng, scope| front(rng, scope, prenex));
    }
    scope.no_forall = prenex;
    let depth = 1 + rng.below(3);
    formula(rng, scope, depth)
}

fn optional_guard(rng: &mut Rng, scope: &mut Scope, chance: f64, written_out: bool) -> String {
    if rng.chance(chance) {
        format!(" where {}", guard(rng, scope, 2, written_out))
    } else {
        String::new()
    }
}

fn formula(rng: &mut Rng, scope: &mut Scope, depth: usize) -> String {
    if depth == 0 {
        return atom(rng, scope);
    }
    let members = |rng: &mut Rng, scope: &mut Scope| -> Vec<String> {
        (0..2 + rng.below(3))
            .map(|_| member(rng, scope, depth - 1))
            .collect()
    };
    match rng.below(16) {
        14 | 15 => eliminable(rng, scope),
        0 => format!("not {}", member(rng, scope, depth - 1)),
        1 | 2 => members(rng, scope).join(" and "),
        3 | 4 => members(rng, scope).join(" or "),
        5 | 6 => {
            let (a, b) = (member(rng, scope, depth - 1), member(rng, scope, depth - 1));
            format!("{a} -> {b}")
        }
        7 => {
            let (a, b) = (member(rng, scope, depth - 1), member(rng, scope, depth - 1));
            format!("{a} <-> {b}")
        }
        8 | 9 if !scope.no_forall => quantified(rng, scope, "forall", |rng, scope| {
            formula(rng, scope, depth - 1)
        }),
        8..=11 => quantified(rng, scope, "exists", |rng, scope| {
            formula(rng, scope, depth - 1)
        }),
        12 => big_connective(rng, scope, depth),
        _ => atom(rng, scope),
    }
}

/// A formula that can stand in a connective.
fn member(rng: &mut Rng, scope: &mut Scope, depth: usize) -> String {
    if depth == 0 {
        return atom(rng, scope);
    }
    format!("({})", formula(rng, scope, depth))
}

fn quantified(
    rng: &mut Rng,
    scope: &mut Scope,
    word: &str,
    body: impl FnOnce(&mut Rng, &mut Scope) -> String,
) -> String {
    let (outer, budget, no_forall) = (scope.locals.len(), scope.budget, scope.no_forall);
    let signature = scope.signature;
    let head = if !signature.tables.is_empty() && rng.chance(0.25) {
        let (table, columns) = rng.pick(&signature.tables);
        let variables: Vec<Local> = columns.iter().map(|&c| scope.fresh(c, false)).collect();
        let names: Vec<&str> = variables.iter().map(|v| v.name.as_str()).collect();
        let head = format!("({}) in {table}", names.join(", "));
        scope.locals.extend(variables);
        scope.budget /= 6.0;
        head
    } else {
        let mut parts = Vec::new();
        for _ in 0..1 + rng.below(3) {
            let sort = signature.any_sort(rng);
            if !parts.is_empty() && scope.budget < signature.size(sort) as f64 {
                break;
            }
            scope.budget /= signature.size(sort) as f64;
            let variable = scope.fresh(ColumnSort::Sort(sort), false);
            parts.push(format!("{}: {}", variable.name, signature.name(sort)));
            scope.locals.push(variable);
        }
        parts.join(", ")
    };
    let condition = optional_guard(rng, scope, 0.4, false);
    let text = if scope.budget < 1.0 {
        let atom = atom(rng, scope);
        format!("{word} {head}{condition}. {atom}")
    } else {
        format!("{word} {head}{condition}. {}", body(rng, scope))
    };
    scope.locals.truncate(outer);
    scope.budget = budget;
    scope.no_forall = no_forall;
    text
}

/// `exists v1, v2, v3 where v1 + 2*v2 = v3. P(v1) and Q(v2) and R(x, v3)`: what a planner takes apart.
fn eliminable(rng: &mut Rng, scope: &mut Scope) -> String {
    let outer = scope.locals.len();
    let signature = scope.signature;
    let mut parts = Vec::new();
    let mut bindings = 1.0;
    for _ in 0..2 + rng.below(3) {
        let sort = signature.any_sort(rng);
        bindings *= signature.size(sort) as f64;
        if parts.is_empty() || bindings < scope.budget {
            let variable = scope.fresh(ColumnSort::Sort(sort), false);
            parts.push(format!("{}: {}", variable.name, signature.name(sort)));
            scope.locals.push(variable);
        }
    }
    let conditions: Vec<String> = (0..rng.below(3))
        .map(|_| format!("({})", guard(rng, scope, 0, false)))
        .collect();
    let condition = match conditions.as_slice() {
        [] => String::new(),
        conditions => format!(" where {}", conditions.join(" and ")),
    };
    let word = *rng.pick(&["and", "and", "or"]);
    let atoms: Vec<String> = (0..1 + rng.below(4)).map(|_| atom(rng, scope)).collect();
    let body = atoms.join(&format!(" {word} "));
    scope.locals.truncate(outer);
    format!("exists {}{condition}. {body}", parts.join(", "))
}

fn big_connective(rng: &mut Rng, scope: &mut Scope, depth: usize) -> String {
    let sorts = finite_sorts(scope.signature);
    if sorts.is_empty() {
        return atom(rng, scope);
    }
    let (outer, budget) = (scope.locals.len(), scope.budget);
    let sort = *rng.pick(&sorts);
    let word = *rng.pick(&["all", "any"]);
    let variable = scope.fresh(ColumnSort::Sort(sort), true);
    let name = variable.name.clone();
    scope.locals.push(variable);
    // Written out, nested quantifiers multiply: a smaller share for what is below.
    scope.budget /= (4 * scope.signature.size(sort)) as f64;
    let condition = optional_guard(rng, scope, 0.5, true);
    let body = if scope.budget < 1.0 {
        atom(rng, scope)
    } else {
        formula(rng, scope, depth - 1)
    };
    scope.locals.truncate(outer);
    scope.budget = budget;
    format!(
        "{word} {name}: {}{condition}. {body}",
        scope.signature.name(sort)
    )
}

/// The terms of a sort that are in reach.
pub fn terms(scope: &Scope, sort: SortId) -> Vec<String> {
    // More often than the others, and the innermost most of all: an atom without variables tests little.
    let variables = (scope.locals.iter().enumerate())
        .filter(|(_, local)| local.sort == ColumnSort::Sort(sort))
        .flat_map(|(age, local)| vec![local.name.clone(); 2 + 2 * age]);
    let constants = (scope.signature.constants.iter())
        .filter(|(_, s)| *s == sort)
        .map(|(name, _)| name.clone());
    let written = scope.signature.written(sort);
    variables.chain(constants).chain(written).collect()
}

/// One of them, or the value of a function for some.
pub fn term(rng: &mut Rng, scope: &Scope, sort: SortId, depth: usize) -> Option<String> {
    if depth > 0 && rng.chance(0.4) {
        let found = application(rng, scope, |result| result == ColumnSort::Sort(sort), depth);
        if found.is_some() {
            return found;
        }
    }
    let terms = terms(scope, sort);
    (!terms.is_empty()).then(|| rng.pick(&terms).clone())
}

/// What a function of some kind says, if there is one and it finds arguments.
pub fn application(
    rng: &mut Rng,
    scope: &Scope,
    fits: impl Fn(ColumnSort) -> bool,
    depth: usize,
) -> Option<String> {
    let functions: Vec<_> = (scope.signature.functions.iter())
        .filter(|(_, _, result)| fits(*result))
        .collect();
    if functions.is_empty() {
        return None;
    }
    let (name, sorts, _) = rng.pick(&functions);
    let arguments: Option<Vec<String>> = (sorts.iter())
        .map(|&sort| term(rng, scope, sort, depth - 1))
        .collect();
    Some(format!("{name}({})", arguments?.join(", ")))
}

/// An atom in brackets if need be; what it needs and is not in scope is quantified on the spot.
fn atom(rng: &mut Rng, scope: &mut Scope) -> String {
    let signature = scope.signature;
    let (name, arguments) = rng.pick(&signature.predicates);
    let outer = scope.locals.len();
    let mut missing = Vec::new();
    let mut chosen = Vec::new();
    for &sort in arguments {
        if terms(scope, sort).is_empty() {
            let variable = scope.fresh(ColumnSort::Sort(sort), false);
            missing.push(format!("{}: {}", variable.name, signature.name(sort)));
            scope.locals.push(variable);
        }
        chosen.push(term(rng, scope, sort, 2).expect("one is in scope"));
    }
    scope.locals.truncate(outer);
    let atom = format!("{name}({})", chosen.join(", "));
    let negation = if rng.chance(0.2) { "not " } else { "" };
    match missing.as_slice() {
        [] => format!("{negation}{atom}"),
        missing => {
            let word = if scope.no_forall || rng.chance(0.5) {
                "exists"
            } else {
                "forall"
            };
            format!("({word} {}. {negation}{atom})", missing.join(", "))
        }
    }
}
