//! What makes the lists of two guards the same, whatever their variables are called and wherever they stand.

use super::lists::Bound;
use crate::guard::Scope;
use crate::plan::program::ComponentSource;
use crate::theory::*;

/// The tuples of a component depend on this and on nothing else.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) enum ListKey {
    /// All there is.
    All(ComponentSource),
    Guarded {
        rows_of: Option<TableId>,
        /// Of the variables that the tuples bind, in their order.
        sorts: Vec<ColumnSort>,
        guard: Vec<Symbol>,
        /// The components that bind what the guard looks at outside, and what those depend on.
        around: Vec<usize>,
    },
}

/// A guard in prefix notation, with its variables by what they stand for.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) enum Symbol {
    Compare(Comparison),
    Same {
        negated: bool,
    },
    Member(TableId),
    Not,
    And(usize),
    Or(usize),
    Exists {
        rows_of: Option<TableId>,
        sorts: Vec<ColumnSort>,
        guarded: bool,
    },
    Int(i64),
    Real(u64),
    Param(ParamId),
    Negative,
    Sum(Vec<Sign>),
    Product(Vec<Factor>),
    Abs,
    Min(usize),
    Max(usize),
    Dist,
    Individual(SortId, u32),
    Constant(ConstantId),
    Apply(FunctionId, usize),
    /// One of the variables that the tuples bind.
    Own(usize),
    /// A place in the tuple of one of the components around.
    Outer(usize, usize),
    /// One that an `exists` of the guard binds, by number.
    Inner(usize),
}

impl ListKey {
    /// The key of what `conditions` leave of some variables, or of a table's rows.
    pub fn guarded(
        scope: &Scope,
        variables: &[VarId],
        rows_of: Option<TableId>,
        conditions: &[&Guard],
        around: &[&Bound],
    ) -> ListKey {
        let mut writer = Writer {
            scope,
            own: variables,
            around,
            inner: Vec::new(),
            out: Vec::new(),
        };
        conditions.iter().for_each(|g| writer.guard(g));
        ListKey::Guarded {
            rows_of,
            sorts: writer.sorts(variables),
            guard: writer.out,
            around: around.iter().map(|b| b.component).collect(),
        }
    }
}

struct Writer<'w> {
    scope: &'w Scope<'w>,
    own: &'w [VarId],
    around: &'w [&'w Bound],
    inner: Vec<VarId>,
    out: Vec<Symbol>,
}

impl Writer<'_> {
    fn sorts(&self, variables: &[VarId]) -> Vec<ColumnSort> {
        let sort = |v: &VarId| self.scope.variables[v.index()].sort;
        variables.iter().map(sort).collect()
    }

    fn guard(&mut self, guard: &Guard) {
        match &guard.kind {
            GuardKind::Compare(op, a, b) => {
                self.out.push(Symbol::Compare(*op));
                self.value(a);
                self.value(b);
            }
            GuardKind::Same {
                negated,
                left,
                right,
            } => {
                self.out.push(Symbol::Same { negated: *negated });
                self.term(left);
                self.term(right);
            }
            GuardKind::Member(table, cells) => {
                self.out.push(Symbol::Member(*table));
                cells.iter().for_each(|c| self.value(c));
            }
            GuardKind::Not(inner) => {
                self.out.push(Symbol::Not);
                self.guard(inner);
            }
            GuardKind::And(members) => {
                self.out.push(Symbol::And(members.len()));
                members.iter().for_each(|m| self.guard(m));
            }
            GuardKind::Or(members) => {
                self.out.push(Symbol::Or(members.len()));
                members.iter().for_each(|m| self.guard(m));
            }
            GuardKind::Exists(binding, guard, body) => {
                let rows_of = match binding {
                    Binding::Rows(table, _) => Some(*table),
                    Binding::Sorts(_) => None,
                };
                self.out.push(Symbol::Exists {
                    rows_of,
                    sorts: self.sorts(binding.variables()),
                    guarded: guard.is_some(),
                });
                self.inner.extend_from_slice(binding.variables());
                guard.iter().for_each(|g| self.guard(g));
                self.guard(body);
            }
        }
    }

    fn value(&mut self, value: &Value) {
        match &value.kind {
            ValueKind::Int(n) => self.out.push(Symbol::Int(*n)),
            ValueKind::Real(x) => self.out.push(Symbol::Real(x.to_bits())),
            ValueKind::Param(id) => self.out.push(Symbol::Param(*id)),
            ValueKind::Number(id) => self.variable(*id),
            ValueKind::Individual(term) => self.term(term),
            ValueKind::Negative(inner) => self.call(Symbol::Negative, [&**inner]),
            ValueKind::Abs(inner) => self.call(Symbol::Abs, [&**inner]),
            ValueKind::Sum(members) => {
                let signs = members.iter().map(|(sign, _)| *sign).collect();
                self.call(Symbol::Sum(signs), members.iter().map(|(_, m)| m));
            }
            ValueKind::Product(members) => {
                let factors = members.iter().map(|(factor, _)| *factor).collect();
                self.call(Symbol::Product(factors), members.iter().map(|(_, m)| m));
            }
            ValueKind::Min(values) => self.call(Symbol::Min(values.len()), values),
            ValueKind::Max(values) => self.call(Symbol::Max(values.len()), values),
            ValueKind::Dist(a, b) => {
                self.out.push(Symbol::Dist);
                self.term(a);
                self.term(b);
            }
        }
    }

    fn call<'v>(&mut self, symbol: Symbol, values: impl IntoIterator<Item = &'v Value>) {
        self.out.push(symbol);
        values.into_iter().for_each(|v| self.value(v));
    }

    fn term(&mut self, term: &Term) {
        match &term.kind {
            TermKind::Variable(id) => self.variable(*id),
            TermKind::Individual(sort, index) => self.out.push(Symbol::Individual(*sort, *index)),
            TermKind::Constant(id) => self.out.push(Symbol::Constant(*id)),
            TermKind::Apply(id, arguments) => {
                self.out.push(Symbol::Apply(*id, arguments.len()));
                arguments.iter().for_each(|a| self.term(a));
            }
        }
    }

    fn variable(&mut self, id: VarId) {
        let place = |variables: &[VarId]| variables.iter().position(|v| *v == id);
        let outer = || {
            let mut around = self.around.iter().enumerate();
            around.find_map(|(i, b)| Some(Symbol::Outer(i, place(&b.variables)?)))
        };
        // Every variable is bound somewhere; names keep apart what would not be.
        let symbol = (place(self.own).map(Symbol::Own))
            .or_else(outer)
            .or_else(|| place(&self.inner).map(Symbol::Inner))
            .unwrap_or(Symbol::Inner(usize::MAX - id.index()));
        self.out.push(symbol);
    }
}
