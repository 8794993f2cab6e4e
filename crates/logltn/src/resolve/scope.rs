//! Binders and the variables in scope.

use super::{Resolver, Symbol, count};
use crate::diagnostic::{Code, Diagnostic, shortened};
use crate::source::Span;
use crate::syntax::{self, Name};
use crate::theory::*;

/// A variable in scope. Its sort is unknown if the sort's name was wrong.
#[derive(Clone, Copy)]
pub(super) struct Local {
    pub(super) id: VarId,
    pub(super) sort: Option<ColumnSort>,
}

impl Resolver<'_> {
    /// The sort of each name, if it is one.
    pub(super) fn sorts_of(&mut self, names: &[(Name, Option<Name>)]) -> Vec<Option<SortId>> {
        // `x, y: S` names its sort once, and an unknown sort is one mistake.
        let mut last: Option<(Span, Option<SortId>)> = None;
        let mut sort = |sort: &Name| match last {
            Some((span, id)) if span == sort.span => id,
            _ => {
                let id = self.sort_named(sort);
                last = Some((sort.span, id));
                id
            }
        };
        (names.iter())
            .map(|(_, name)| name.as_ref().and_then(&mut sort))
            .collect()
    }

    /// Brings variables into scope. `None` if one of them is wrong; they are in scope anyway.
    pub(super) fn bind_sorts(
        &mut self,
        binding: &[(Name, Option<Name>)],
        bound_by: BoundBy,
    ) -> Option<Vec<VarId>> {
        let mut whole = true;
        let mut ids = Vec::with_capacity(binding.len());
        let sorts = self.sorts_of(binding);
        for ((name, _), sort) in binding.iter().zip(sorts) {
            let big = match bound_by {
                BoundBy::Family => Some("for"),
                BoundBy::Quantifier(q) if q.is_big_connective() => Some(q.word()),
                _ => None,
            };
            if let (Some(word), Some(id)) = (big, sort)
                && self.theory[id].size().is_some_and(|n| n > 1_000_000)
            {
                let message = format!(
                    "`{word}` writes out one member per individual, and sort `{}` has more than a million",
                    self.theory[id].name
                );
                self.error(Code::TooManyMembers, message, name.span, "");
                whole = false;
            }
            whole &= sort.is_some();
            whole &= self.may_bind(name);
            ids.push(self.bind(name, sort.map(ColumnSort::Sort), bound_by));
        }
        whole.then_some(ids)
    }

    pub(super) fn bind_rows(
        &mut self,
        names: &[Name],
        table: &Name,
        bound_by: BoundBy,
    ) -> Option<(TableId, Vec<VarId>)> {
        let id = self.table_named(table);
        let columns = match id {
            Some(id) => self.theory[id]
                .columns
                .iter()
                .map(|c| Some(c.sort))
                .collect(),
            None => vec![None; names.len()],
        };
        let mut whole = id.is_some();
        if columns.len() != names.len() {
            self.wrong_number_of_columns(table, id, names.len(), names, columns.len());
            whole = false;
        }
        let mut ids = Vec::with_capacity(names.len());
        for (i, name) in names.iter().enumerate() {
            whole &= self.may_bind(name);
            let sort = if columns.len() == names.len() {
                columns[i]
            } else {
                None
            };
            self.row_variables.insert(name.span);
            ids.push(self.bind(name, sort, bound_by));
        }
        match (whole, id) {
            (true, Some(id)) => Some((id, ids)),
            _ => None,
        }
    }

    /// Rows and individuals together: the rows of a table that is their product.
    fn bind_product(&mut self, parts: &[syntax::Binding], bound_by: BoundBy) -> Option<Binding> {
        let mut variables = Vec::new();
        let mut product = Some(Vec::new());
        for part in parts {
            let bound = match part {
                syntax::Binding::Sorts(list) => self.bind_sorts(list, bound_by).map(|ids| {
                    let sort = |id: &VarId| match self.variables[id.index()].sort {
                        ColumnSort::Sort(sort) => ProductPart::Sort(sort),
                        // Variables of sorts are of sorts.
                        ColumnSort::Int | ColumnSort::Real => ProductPart::Sort(SortId(0)),
                    };
                    (ids.iter().map(sort).collect(), ids)
                }),
                syntax::Binding::Rows(names, table) => (self.bind_rows(names, table, bound_by))
                    .map(|(table, ids)| (vec![ProductPart::Rows(table)], ids)),
                // They are not nested.
                syntax::Binding::Mixed(_) => None,
            };
            match (bound, &mut product) {
                (Some((parts, ids)), Some(product)) => {
                    product.extend(parts);
                    variables.extend(ids);
                }
                _ => product = None,
            }
        }
        let parts = product?;
        let column = |id: &VarId| {
            let variable = &self.variables[id.index()];
            Column {
                name: variable.name.clone(),
                sort: variable.sort,
                span: variable.span,
            }
        };
        let columns: Vec<Column> = variables.iter().map(column).collect();
        let span = columns.first().map_or_else(Span::default, |c| c.span);
        let id = TableId::of_product(self.theory.products.len());
        self.theory.products.push(Product {
            table: Table {
                name: "a product".to_string(),
                columns,
                span,
            },
            parts,
        });
        Some(Binding::Rows(id, variables))
    }

    pub(super) fn wrong_number_of_columns(
        &mut self,
        table: &Name,
        id: Option<TableId>,
        given: usize,
        names: &[Name],
        wanted: usize,
    ) {
        let Some(id) = id else { return };
        let span = match (names.first(), names.last()) {
            (Some(a), Some(b)) => a.span.to(b.span),
            _ => table.span,
        };
        let columns: Vec<_> = self.theory[id]
            .columns
            .iter()
            .map(|c| c.name.as_str())
            .collect();
        let error = Diagnostic::error(
            Code::WrongNumberOfArguments,
            format!(
                "table `{}` has {}, but {} bound here",
                table.text,
                count(wanted, "column"),
                if given == 1 {
                    "1 variable is".into()
                } else {
                    format!("{given} variables are")
                },
            ),
        )
        .at(&self.theory.source, span, "")
        .help(format!(
            "one variable per column: `({}) in {}`",
            shortened(&columns.join(", ")),
            table.text
        ));
        let declared = self.theory[id].span;
        self.push_declared(error, declared);
    }

    pub(super) fn table_named(&mut self, name: &Name) -> Option<TableId> {
        match self.symbols.get(&name.text) {
            Some(&(Symbol::Table(id), _)) => {
                self.mark_used(&name.text);
                Some(id)
            }
            Some(_) if self.is_broken(&name.text) => None,
            Some((symbol, _)) => {
                let message = format!("`{}` is a {}, not a table", name.text, symbol.kind());
                let help = matches!(symbol, Symbol::Sort(_))
                    .then(|| format!("write `x: {}` to range over a sort", name.text));
                let (code, label) = (Code::WrongKindOfName, "expected a table");
                self.refuse_with_help(code, message, name.span, label, help)
            }
            None => {
                self.unknown_table(name);
                None
            }
        }
    }

    /// The help for a name without similar known names: declare it; in a question, use one of the theory's.
    pub(super) fn how_to_declare<'k>(
        &self,
        declaration: String,
        known: impl Iterator<Item = &'k str>,
    ) -> String {
        const MOST: usize = 12;
        if self.question.is_none() {
            return format!("declare it: `{declaration}`");
        }
        let kind = declaration.split(' ').next().unwrap_or_default();
        let known: Vec<&str> = known.collect();
        let mut names: Vec<String> = (known.iter().take(MOST))
            .map(|name| format!("`{}`", shortened(name)))
            .collect();
        if known.len() > MOST {
            names.push("…".to_string());
        }
        match names.is_empty() {
            true => format!("the theory has no {kind}s, and a question cannot declare any"),
            false => format!("the theory's {kind}s are {}", names.join(", ")),
        }
    }

    pub(super) fn unknown_table(&mut self, name: &Name) {
        let short = shortened(&name.text);
        let tables = self.theory.tables.iter().map(|t| t.name.as_str());
        let help = (self.suggestion(&name.text, tables.clone()))
            .or_else(|| Some(self.how_to_declare(format!("table {short}(column: S, …)"), tables)));
        self.error_with_help(
            Code::UnknownTable,
            format!("unknown table `{short}`"),
            name.span,
            "",
            help,
        );
    }

    /// Whether a variable may have this name here.
    pub(super) fn may_bind(&mut self, name: &Name) -> bool {
        if let Some(&outer) = self.locals.get(&name.text).and_then(|l| l.last()) {
            let outer = self.variables[outer.id.index()].span;
            self.out.push(
                Diagnostic::error(
                    Code::ShadowedName,
                    format!("variable `{}` is bound already", shortened(&name.text)),
                )
                .at(&self.theory.source, name.span, "bound again")
                .mark(outer, "first bound here")
                .help("rename one of the two"),
            );
            return false;
        }
        let taken = match self.symbols.get(&name.text) {
            Some(&(
                symbol @ (Symbol::Label(..) | Symbol::Constant(_) | Symbol::Param(_)),
                span,
            )) => Some((symbol.kind(), Some(span))),
            _ => self
                .data_labels
                .get(&name.text)
                .map(|_| ("label of the data", None)),
        };
        let Some((kind, span)) = taken else {
            return true;
        };
        let mut error = Diagnostic::error(
            Code::ShadowedName,
            format!("variable `{}` has the name of a {kind}", name.text),
        )
        .at(&self.theory.source, name.span, "")
        .help("rename the variable");
        if let Some(span) = span {
            error = Self::declared_here(error, span, format!("{kind} declared here"));
        }
        self.out.push(error);
        false
    }

    pub(super) fn bind(
        &mut self,
        name: &Name,
        sort: Option<ColumnSort>,
        bound_by: BoundBy,
    ) -> VarId {
        let id = VarId(self.variables.len() as u32);
        self.variables.push(Variable {
            name: name.text.clone(),
            sort: sort.unwrap_or(ColumnSort::Int),
            bound_by,
            span: name.span,
        });
        self.variable_used.push(false);
        self.scope.push(name.text.clone());
        let same_name = self.locals.entry(name.text.clone()).or_default();
        same_name.push(Local { id, sort });
        id
    }

    /// Takes all but the outermost `keep` variables out of scope.
    pub(super) fn leave_scopes(&mut self, keep: usize) {
        for name in self.scope.drain(keep..) {
            if let Some(same_name) = self.locals.get_mut(&name) {
                same_name.pop();
                if same_name.is_empty() {
                    self.locals.remove(&name);
                }
            }
        }
    }

    /// Brings a quantifier's variables into scope, runs `inside`, and takes them out again.
    pub(super) fn with_binding<T>(
        &mut self,
        binding: &syntax::Binding,
        bound_by: BoundBy,
        inside: impl FnOnce(&mut Self, Option<Binding>) -> T,
    ) -> T {
        let depth = self.scope.len();
        let bound = match binding {
            syntax::Binding::Sorts(list) => self.bind_sorts(list, bound_by).map(Binding::Sorts),
            syntax::Binding::Rows(names, table) => self
                .bind_rows(names, table, bound_by)
                .map(|(table, ids)| Binding::Rows(table, ids)),
            syntax::Binding::Mixed(parts) => self.bind_product(parts, bound_by),
        };
        let result = inside(self, bound);
        self.leave_scopes(depth);
        result
    }

    /// The variable with that name in scope; marks it used.
    pub(super) fn local(&mut self, name: &str) -> Option<(VarId, Option<ColumnSort>)> {
        let local = self.local_unused(name)?;
        self.variable_used[local.id.index()] = true;
        Some((local.id, local.sort))
    }

    /// The variable with that name in scope; looking it up here is not a use.
    pub(super) fn local_unused(&self, name: &str) -> Option<Local> {
        self.locals.get(name)?.last().copied()
    }

    pub(super) fn local_names(&self) -> impl Iterator<Item = &str> {
        self.scope.iter().map(String::as_str)
    }
}
