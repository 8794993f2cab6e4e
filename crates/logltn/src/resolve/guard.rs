//! Guards: crisp conditions over numbers, individuals and tables.

use super::term::integer_literal;
use super::{Resolver, Symbol, all_or_none, count};
use crate::diagnostic::{Code, Diagnostic, shortened};
use crate::recursion::deep;
use crate::source::Span;
use crate::suggest::did_you_mean;
use crate::syntax::{Expr, ExprKind, Name, Quantified};
use crate::theory::*;
use crate::token::quoted_label;

/// One side of a comparison.
enum Side {
    Number(Value),
    Individual(Term, SortId),
}

impl Resolver<'_> {
    pub(super) fn guard(&mut self, expr: &Expr) -> Option<Guard> {
        deep(|| self.guard_here(expr))
    }

    fn guard_here(&mut self, expr: &Expr) -> Option<Guard> {
        let kind = match &expr.kind {
            ExprKind::Error => return None,
            ExprKind::Compare(op, a, b) => self.comparison(*op, a, b, expr.span)?,
            ExprKind::Call(name, arguments) => self.membership(name, arguments, expr.span)?,
            ExprKind::Not(inner) => GuardKind::Not(Box::new(self.guard(inner)?)),
            ExprKind::And(members) => GuardKind::And(self.guards(members)?),
            ExprKind::Or(members) => GuardKind::Or(self.guards(members)?),
            ExprKind::Quantified(q) if q.quantifier == Quantifier::Exists => {
                self.guard_exists(q)?
            }
            ExprKind::Quantified(q) => {
                let help = match q.quantifier {
                    Quantifier::Any => "write `exists`",
                    _ => "write `not exists x: S. not …`",
                };
                return self.refuse_with_help(
                    Code::OperatorNotInGuard,
                    format!("a guard cannot use `{}`", q.quantifier.word()),
                    q.quantifier_span,
                    "only `exists` in a guard",
                    Some(help.to_string()),
                );
            }
            ExprKind::Implies(..) | ExprKind::Iff(..) => {
                let (symbol, help) = match &expr.kind {
                    ExprKind::Implies(..) => ("->", "write `not a or b`"),
                    _ => ("<->", "write `(a and b) or (not a and not b)`"),
                };
                return self.refuse_with_help(
                    Code::OperatorNotInGuard,
                    format!("a guard cannot use `{symbol}`: only `not`, `and`, `or` and `exists`"),
                    expr.span,
                    "",
                    Some(help.to_string()),
                );
            }
            ExprKind::Name(_)
            | ExprKind::Label(_)
            | ExprKind::Integer(_)
            | ExprKind::Number(_)
            | ExprKind::Field(..)
            | ExprKind::Negative(_)
            | ExprKind::Sum(_)
            | ExprKind::Product(_) => {
                let text = shortened(self.theory.source.slice(expr.span));
                let message = format!("`{text}` is not a condition");
                return self.refuse_with_help(
                    Code::ExpectedCondition,
                    message,
                    expr.span,
                    "expected a comparison or a table",
                    Some("compare it with something, as in `x < 3`".to_string()),
                );
            }
        };
        Some(Guard::new(kind, expr.span))
    }

    fn guards(&mut self, members: &[Expr]) -> Option<Vec<Guard>> {
        let members: Vec<_> = members.iter().map(|m| self.guard(m)).collect();
        members.into_iter().collect()
    }

    fn guard_exists(&mut self, quantified: &Quantified) -> Option<GuardKind> {
        self.with_binding(&quantified.binding, BoundBy::Guard, |this, binding| {
            let guard = quantified.guard.as_ref().map(|g| this.guard(g));
            let body = this.guard(&quantified.body);
            let guard = all_or_none(guard)?.map(Box::new);
            Some(GuardKind::Exists(binding?, guard, Box::new(body?)))
        })
    }

    fn comparison(&mut self, op: Comparison, a: &Expr, b: &Expr, span: Span) -> Option<GuardKind> {
        // A name that only the data knows takes its sort from the other side.
        let hint = self.sort_of_name(a).or_else(|| self.sort_of_name(b));
        let (left, right) = (self.side(a, hint), self.side(b, hint));
        match (left?, right?) {
            (Side::Number(left), Side::Number(right)) => Some(GuardKind::Compare(op, left, right)),
            (Side::Individual(left, s), Side::Individual(right, t)) => {
                if s != t {
                    let (s, t) = (&self.theory[s].name, &self.theory[t].name);
                    let message = format!(
                        "a `{s}` and a `{t}` cannot be compared: individuals of different sorts are never the same"
                    );
                    return self.refuse(Code::NotComparable, message, span, "");
                }
                let negated = match op {
                    Comparison::Equal => false,
                    Comparison::NotEqual => true,
                    _ => {
                        let sort = &self.theory[s].name;
                        let message = format!(
                            "individuals of sort `{sort}` have no order: only `=` and `!=` compare them"
                        );
                        return self.refuse(Code::NotComparable, message, span, "");
                    }
                };
                Some(GuardKind::Same {
                    negated,
                    left,
                    right,
                })
            }
            (Side::Number(_), Side::Individual(term, sort))
            | (Side::Individual(term, sort), Side::Number(_)) => {
                let help = match self.theory[sort].kind {
                    SortKind::Data => Some(
                        "only individuals of an integer sort are numbers; use `dist` for features, or a \
                         table with an `Int` or `Real` column"
                            .to_string(),
                    ),
                    _ => None,
                };
                let message = format!(
                    "`{}` is an individual of sort `{}`, not a number",
                    self.theory.source.slice(term.span),
                    self.theory[sort].name
                );
                self.refuse_with_help(Code::NotComparable, message, span, "cannot compare", help)
            }
        }
    }

    /// The sort of a name or of a function's value, if it is clear.
    fn sort_of_name(&self, expr: &Expr) -> Option<SortId> {
        let name = match &expr.kind {
            ExprKind::Name(name) => name,
            ExprKind::Call(name, _) => {
                return match self.symbols.get(&name.text) {
                    Some((Symbol::Function(id), _)) => self.theory[*id].result.sort(),
                    _ => None,
                };
            }
            ExprKind::Label(label) => {
                return match self.symbols.get(label) {
                    Some((Symbol::Label(sort, _), _)) => Some(*sort),
                    _ => None,
                };
            }
            _ => return None,
        };
        if let Some(local) = self.local_unused(name) {
            return match local.sort {
                Some(ColumnSort::Sort(id)) => Some(id),
                _ => None,
            };
        }
        match self.symbols.get(name) {
            Some((Symbol::Label(sort, _), _)) => Some(*sort),
            Some((Symbol::Constant(id), _)) => Some(self.theory[*id].sort),
            _ => None,
        }
    }

    fn side(&mut self, expr: &Expr, hint: Option<SortId>) -> Option<Side> {
        let sort = self.sort_of_name(expr).or_else(|| {
            let (ExprKind::Name(name) | ExprKind::Label(name)) = &expr.kind else {
                return None;
            };
            let Some(labels) = self.data_labels.get(name) else {
                // For an unknown name, the other side tells what it should be: perhaps a label that the data will give.
                let may_be_label = |sort: &SortId| {
                    self.unreadable.contains(sort) && !self.symbols.contains_key(name)
                };
                return hint
                    .filter(|sort| matches!(expr.kind, ExprKind::Label(_)) || may_be_label(sort));
            };
            let fits = labels.iter().find(|(s, _)| Some(*s) == hint);
            Some(fits.unwrap_or(&labels[0]).0)
        });
        if let Some(sort) = sort
            && !matches!(self.theory[sort].kind, SortKind::Range(..))
        {
            let wanted = ArgumentSort::Sort(sort);
            let term = self.term(expr, wanted, "this side", Span::default())?;
            return Some(Side::Individual(term, sort));
        }
        self.value(expr).map(Side::Number)
    }

    fn membership(&mut self, name: &Name, arguments: &[Expr], span: Span) -> Option<GuardKind> {
        let found = self.symbols.get(&name.text).copied();
        let table = match found {
            Some((Symbol::Table(id), _)) => id,
            _ if is_arithmetic(&name.text) && !self.is_broken(&name.text) => {
                let message = format!("`{}` is a number, not a condition", name.text);
                let help = format!("compare it: `{}(…) < …`", name.text);
                return self.refuse_with_help(
                    Code::ExpectedCondition,
                    message,
                    span,
                    "expected a condition",
                    Some(help),
                );
            }
            Some(_) if self.is_broken(&name.text) => return None,
            Some((Symbol::Predicate(_) | Symbol::Definition(_), declared)) => {
                self.predicate_in_guard(name, declared);
                return None;
            }
            Some(other) => {
                self.wrong_kind(name, other, "a table", None);
                return None;
            }
            None => {
                self.unknown_table(name);
                return None;
            }
        };
        self.mark_used(&name.text);
        let columns = self.theory[table].columns.clone();
        if columns.len() != arguments.len() {
            let names: Vec<_> = columns.iter().map(|c| c.name.as_str()).collect();
            let error = Diagnostic::error(
                Code::WrongNumberOfArguments,
                format!(
                    "table `{}` has {}, found {}",
                    name.text,
                    count(columns.len(), "column"),
                    count(arguments.len(), "argument"),
                ),
            )
            .at(&self.theory.source, span, "")
            .help(format!(
                "its columns: `{}({})`",
                name.text,
                shortened(&names.join(", "))
            ));
            let declared = self.theory[table].span;
            self.push_declared(error, declared);
            return None;
        }
        let cells: Vec<_> = arguments
            .iter()
            .zip(&columns)
            .map(|(argument, column)| self.cell(argument, column, name))
            .collect();
        let cells: Option<Vec<_>> = cells.into_iter().collect();
        Some(GuardKind::Member(table, cells?))
    }

    fn predicate_in_guard(&mut self, name: &Name, declared: Span) {
        let error = Diagnostic::error(Code::LearntInGuard, format!(
            "predicate `{}` in a guard: a guard is crisp, a predicate has a degree of truth",
            name.text
        ))
        .at(&self.theory.source, name.span, "not crisp")
        .help(
            "move it into the body (`… where guard. P(x) -> …`), or declare a table of the rows that count",
        );
        self.push_declared(error, declared);
    }

    /// The numeric value of a function. Whether the function is given by data is known only with the data.
    fn function_number(
        &mut self,
        id: FunctionId,
        name: &Name,
        arguments: &[Expr],
        span: Span,
    ) -> Option<ValueKind> {
        let (term, _) = self.applied(name, arguments, span)?;
        match self.theory[id].result {
            ArgumentSort::Vector(1) => {}
            ArgumentSort::Sort(sort) if matches!(self.theory[sort].kind, SortKind::Range(..)) => {}
            ArgumentSort::Sort(sort) => {
                let text = shortened(self.theory.source.slice(span));
                self.not_a_number(&text, sort, span);
                return None;
            }
            ArgumentSort::Vector(width) => {
                let message = format!("`{}` is {width} numbers, where one is expected", name.text);
                return self.refuse(Code::ExpectedNumber, message, span, "expected a number");
            }
        }
        Some(ValueKind::Individual(Term::new(term, span)))
    }

    /// An argument of a table: an individual of the column's sort, or a number.
    fn cell(&mut self, expr: &Expr, column: &Column, table: &Name) -> Option<Value> {
        let place = format!("column `{}` of `{}`", column.name, table.text);
        let sort = match column.sort {
            ColumnSort::Int | ColumnSort::Real => return self.value(expr),
            ColumnSort::Sort(sort) => sort,
        };
        let is_integers = matches!(self.theory[sort].kind, SortKind::Range(..));
        if is_integers && integer_literal(expr).is_none() {
            // An individual of an integer sort is its integer, whatever the sort.
            return self.value(expr);
        }
        let term = self.term(expr, ArgumentSort::Sort(sort), &place, column.span)?;
        Some(Value::new(ValueKind::Individual(term), expr.span))
    }

    // --- numbers --------------------------------------------------------------------------------

    fn value(&mut self, expr: &Expr) -> Option<Value> {
        deep(|| self.value_here(expr))
    }

    fn value_here(&mut self, expr: &Expr) -> Option<Value> {
        let span = expr.span;
        // `-0` stays a sign and a zero: as the number 0 it would read back differently in `- -0`.
        if let Some(n) = integer_literal(expr)
            && (n != 0 || !matches!(expr.kind, ExprKind::Negative(_)))
        {
            return Some(Value::new(ValueKind::Int(n), span));
        }
        let kind = match &expr.kind {
            ExprKind::Error => return None,
            ExprKind::Integer(_) => {
                return self.refuse(
                    Code::NumberTooLarge,
                    "this integer is too large: integers are 64-bit".to_string(),
                    span,
                    "",
                );
            }
            ExprKind::Number(x) => ValueKind::Real(Literal(*x)),
            ExprKind::Name(name) => self.named_number(name, span)?,
            ExprKind::Label(label) => {
                let message = format!("{} is a label, not a number", quoted_label(label));
                let label = "expected a number";
                return self.refuse(Code::ExpectedNumber, message, span, label);
            }
            ExprKind::Negative(inner) => ValueKind::Negative(Box::new(self.value(inner)?)),
            ExprKind::Sum(members) => {
                let members: Vec<_> = members
                    .iter()
                    .map(|(sign, m)| Some((*sign, self.value(m)?)))
                    .collect();
                ValueKind::Sum(members.into_iter().collect::<Option<_>>()?)
            }
            ExprKind::Product(members) => {
                let members: Vec<_> = members
                    .iter()
                    .map(|(factor, m)| Some((*factor, self.value(m)?)))
                    .collect();
                ValueKind::Product(members.into_iter().collect::<Option<_>>()?)
            }
            ExprKind::Call(name, arguments) => self.arithmetic(name, arguments, span)?,
            ExprKind::Field(variable, field) => self.field(variable, field, span)?,
            ExprKind::Compare(..)
            | ExprKind::Not(_)
            | ExprKind::And(_)
            | ExprKind::Or(_)
            | ExprKind::Implies(..)
            | ExprKind::Iff(..)
            | ExprKind::Quantified(_) => {
                return self.refuse_with_help(
                    Code::ExpectedNumber,
                    "a condition is true or false, not a number".to_string(),
                    span,
                    "expected a number",
                    Some("join conditions with `and`, `or` and `not`".to_string()),
                );
            }
        };
        Some(Value::new(kind, span))
    }

    fn named_number(&mut self, name: &str, span: Span) -> Option<ValueKind> {
        if let Some((id, sort)) = self.local(name) {
            self.refuse_batch_data(id, name, span)?;
            return match sort? {
                ColumnSort::Int | ColumnSort::Real => Some(ValueKind::Number(id)),
                ColumnSort::Sort(sort) => match self.theory[sort].kind {
                    SortKind::Range(..) => Some(ValueKind::Number(id)),
                    _ => {
                        self.not_a_number(name, sort, span);
                        None
                    }
                },
            };
        }
        match self.symbols.get(name).copied() {
            Some((Symbol::Param(id), _)) => {
                self.mark_used(name);
                Some(ValueKind::Param(id))
            }
            Some((Symbol::Constant(id), _)) => {
                self.mark_used(name);
                let sort = self.theory[id].sort;
                if matches!(self.theory[sort].kind, SortKind::Range(..)) {
                    return Some(ValueKind::Individual(Term::new(
                        TermKind::Constant(id),
                        span,
                    )));
                }
                self.not_a_number(name, sort, span);
                None
            }
            Some((Symbol::Label(sort, _), _)) => {
                self.not_a_number(name, sort, span);
                None
            }
            Some(_) if self.is_broken(name) => None,
            Some((symbol, _)) => {
                let message = format!("`{name}` is a {}, not a number", symbol.kind());
                self.refuse(Code::ExpectedNumber, message, span, "expected a number")
            }
            None => {
                let known = (self.local_names())
                    .chain(self.theory.params.iter().map(|p| p.name.as_str()))
                    .chain(self.theory.constants.iter().map(|c| c.name.as_str()));
                let short = shortened(name);
                let help = (self.suggestion(name, known))
                    .unwrap_or_else(|| self.how_to_bind(&short, format!("param {short}")));
                let message = format!("unknown name `{short}` in a guard");
                self.refuse_with_help(Code::UnknownVariable, message, span, "", Some(help))
            }
        }
    }

    fn how_to_bind(&self, name: &str, declaration: String) -> String {
        match self.question {
            Some(_) => format!("bind it with a quantifier, `exists {name}: S. …`"),
            None => format!("bind it with a quantifier, or declare it: `{declaration}`"),
        }
    }

    fn not_a_number(&mut self, name: &str, sort: SortId, span: Span) {
        let message = format!(
            "`{name}` is an individual of sort `{}`, not a number",
            self.theory[sort].name
        );
        let help = match self.theory[sort].kind {
            SortKind::Data => {
                "use `dist(x, y)` for the distance of two individuals, or a table with a `Real` column"
            }
            _ => "only individuals of an integer sort are numbers",
        };
        self.error_with_help(
            Code::ExpectedNumber,
            message,
            span,
            "expected a number",
            Some(help.to_string()),
        );
    }

    fn arithmetic(&mut self, name: &Name, arguments: &[Expr], span: Span) -> Option<ValueKind> {
        if is_arithmetic(&name.text)
            && let Some(&(Symbol::Function(_), declared)) = self.symbols.get(&name.text)
        {
            let message = format!(
                "in a guard `{}` is arithmetic, and it is a function of the theory",
                name.text
            );
            let error = Diagnostic::error(Code::WrongKindOfName, message)
                .at(&self.theory.source, name.span, "which of the two?")
                .help("give the function another name");
            self.push_declared(error, declared);
            return None;
        }
        let takes = |n: usize| arguments.len() == n;
        let right = match name.text.as_str() {
            "abs" => takes(1),
            "min" | "max" => arguments.len() >= 2,
            "dist" => takes(2),
            function => {
                if let Some(&(Symbol::Function(id), _)) = self.symbols.get(function) {
                    return self.function_number(id, name, arguments, span);
                }
                self.unknown_arithmetic(name);
                return None;
            }
        };
        if !right {
            let wanted = match name.text.as_str() {
                "abs" => "1 argument",
                "dist" => "2 arguments",
                _ => "2 or more arguments",
            };
            let message = format!("`{}` takes {wanted}, found {}", name.text, arguments.len());
            return self.refuse(Code::WrongNumberOfArguments, message, span, "");
        }
        if name.text == "dist" {
            // One after the other, so that the distance of two integers is one mistake, not two.
            let a = self.featured(&arguments[0])?;
            let b = self.featured(&arguments[1])?;
            return Some(ValueKind::Dist(a, b));
        }
        let values: Vec<_> = arguments.iter().map(|a| self.value(a)).collect();
        let mut values = values.into_iter().collect::<Option<Vec<_>>>()?;
        Some(match name.text.as_str() {
            "abs" => ValueKind::Abs(Box::new(values.remove(0))),
            "min" => ValueKind::Min(values),
            _ => ValueKind::Max(values),
        })
    }

    /// `x.age`. It is a function given by data, declared at its first use; a question can use existing ones.
    fn field(&mut self, variable: &Name, field: &Name, span: Span) -> Option<ValueKind> {
        let individual = Expr {
            kind: ExprKind::Name(variable.text.clone()),
            span: variable.span,
        };
        let Some(sort) = self.sort_of_name(&individual) else {
            self.featured(&individual); // says what is wrong with the name
            return None;
        };
        let name = self.theory[sort].name.clone();
        if self.theory[sort].kind != SortKind::Data {
            let message = format!("individuals of sort `{name}` have no features, so no column");
            return self.refuse(Code::NoFeatures, message, span, "");
        }
        let function = Name {
            text: format!("{name}.{}", field.text),
            span: field.span,
        };
        let known = self.symbols.get(&function.text).copied();
        let id = match known {
            Some((Symbol::Function(id), _)) => id,
            _ if self.question.is_some() => {
                let message = format!("sort `{name}` has no column of numbers `{}`", field.text);
                return self.refuse(Code::UnknownColumn, message, field.span, "");
            }
            _ => {
                let id = FunctionId(self.theory.functions.len() as u32);
                let declared = Function::of_field(sort, &name, &field.text, field.span);
                self.theory.functions.push(declared);
                (self.symbols).insert(function.text.clone(), (Symbol::Function(id), field.span));
                id
            }
        };
        self.function_number(id, &function, &[individual], span)
    }

    fn unknown_arithmetic(&mut self, name: &Name) {
        match self.symbols.get(&name.text).copied() {
            Some((Symbol::Predicate(_) | Symbol::Definition(_), declared)) => {
                self.predicate_in_guard(name, declared);
            }
            Some(_) if self.is_broken(&name.text) => {}
            Some((symbol, _)) => {
                let help = (symbol.kind() == "table").then(|| {
                    "a table in a guard is a condition: join it with `and`, `or` and `not`"
                        .to_string()
                });
                let message = format!("`{}` is a {}, not a number", name.text, symbol.kind());
                self.error_with_help(
                    Code::ExpectedNumber,
                    message,
                    name.span,
                    "expected a number",
                    help,
                );
            }
            None => {
                let known = ["abs", "min", "max", "dist"];
                let own = self.theory.functions.iter().map(|f| f.name.as_str());
                let own = own.filter(|f| !f.contains('.')); // not those of fields
                let longer = known.into_iter().find(|k| name.text.starts_with(k));
                let help = (longer.map(|k| format!("did you mean `{k}`?")))
                    .or_else(|| did_you_mean(&name.text, known.into_iter().chain(own)))
                    .or_else(|| {
                        let known = "`abs`, `min`, `max`, `dist` and functions given by data";
                        Some(format!(
                            "guards know {known}; a column of a sort is `x.age`"
                        ))
                    });
                let message = format!("unknown function `{}` in a guard", shortened(&name.text));
                self.error_with_help(Code::UnknownFunction, message, name.span, "", help);
            }
        }
    }

    /// An argument of `dist`: an individual with features.
    fn featured(&mut self, expr: &Expr) -> Option<Term> {
        let sort = match &expr.kind {
            ExprKind::Name(name) | ExprKind::Label(name) => self.sort_of_name(expr).or_else(|| {
                let labels = self.data_labels.get(name)?;
                Some(labels[0].0)
            }),
            _ => self.sort_of_name(expr),
        };
        let Some(sort) = sort else {
            if let ExprKind::Name(name) = &expr.kind
                && self.local(name).is_none()
                && !self.symbols.contains_key(name)
            {
                let known = (self.local_names())
                    .chain(self.theory.constants.iter().map(|c| c.name.as_str()));
                let short = shortened(name);
                let help = (self.suggestion(name, known))
                    .unwrap_or_else(|| self.how_to_bind(&short, format!("constant {short}: S")));
                let message = format!("unbound variable `{short}`");
                return self.refuse_with_help(
                    Code::UnknownVariable,
                    message,
                    expr.span,
                    "",
                    Some(help),
                );
            }
            return self.refuse(
                Code::WrongSort,
                "`dist` takes two individuals with features".to_string(),
                expr.span,
                "expected a variable of a data sort, or a constant",
            );
        };
        if self.theory[sort].kind != SortKind::Data {
            let message = format!(
                "individuals of sort `{}` have no features, so no distance",
                self.theory[sort].name
            );
            let help = matches!(self.theory[sort].kind, SortKind::Range(..))
                .then(|| "for integers write `abs(a - b)`".to_string());
            return self.refuse_with_help(Code::NoFeatures, message, expr.span, "", help);
        }
        self.term(
            expr,
            ArgumentSort::Sort(sort),
            "this argument",
            Span::default(),
        )
    }
}

fn is_arithmetic(name: &str) -> bool {
    matches!(name, "abs" | "min" | "max" | "dist")
}
