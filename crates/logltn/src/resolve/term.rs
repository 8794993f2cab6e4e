//! Terms: what can be an argument of a predicate or a function.

use super::{Resolver, Symbol};
use crate::diagnostic::{Code, Diagnostic, shortened};
use crate::recursion::deep;
use crate::source::Span;
use crate::syntax::{Expr, ExprKind, Name};
use crate::theory::*;
use crate::token::{quoted_label, written_label};

impl Resolver<'_> {
    /// A term of the sort `wanted`. `place` describes its use, `declared` is where the expected sort was declared.
    pub(super) fn term(
        &mut self,
        expr: &Expr,
        wanted: ArgumentSort,
        place: &str,
        declared: Span,
    ) -> Option<Term> {
        deep(|| self.term_here(expr, wanted, place, declared))
    }

    fn term_here(
        &mut self,
        expr: &Expr,
        wanted: ArgumentSort,
        place: &str,
        declared: Span,
    ) -> Option<Term> {
        let span = expr.span;
        let (kind, found) = match &expr.kind {
            ExprKind::Error => return None,
            ExprKind::Name(name) => self.named_term(name, wanted, span)?,
            ExprKind::Label(label) => self.labelled_term(label, wanted, span)?,
            ExprKind::Integer(_) | ExprKind::Number(_) | ExprKind::Negative(_)
                if wanted == REAL && number_literal(expr).is_some() =>
            {
                let kind = TermKind::Number(Literal(number_literal(expr)?));
                return Some(Term::new(kind, span));
            }
            ExprKind::Sum(_) | ExprKind::Product(_) | ExprKind::Negative(_) if wanted == REAL => {
                return self.refuse_with_help(
                    Code::ExpectedNumber,
                    format!("{place} must be a number: arithmetic is for guards"),
                    span,
                    "expected a number, a column or a function's value",
                    Some(match has_call(expr) {
                        // Learnt values cannot become a column.
                        true => "let the predicate compute it, as a closed form of its arguments, such as \
                                 `-abs(u + 1 - v)` for the log of its truth",
                        false => "compute it beforehand, as a column of a table",
                    }
                    .to_string()),
                );
            }
            ExprKind::Integer(_) | ExprKind::Negative(_) => {
                let kind = self.integer_term(expr, wanted, place)?;
                return Some(Term::new(kind, span));
            }
            ExprKind::Call(name, arguments) => self.applied(name, arguments, span)?,
            ExprKind::Sum(_) | ExprKind::Product(_) => {
                let text = shortened(self.theory.source.slice(span));
                let help =
                    format!("compute it in a guard: `… n: S where n = {text}. …`, and use `n`");
                return self.refuse_with_help(
                    Code::ExpectedIndividual,
                    format!("{place} must be an individual: arithmetic is for guards"),
                    span,
                    "expected an individual",
                    Some(help),
                );
            }
            _ => {
                return self.refuse(
                    Code::ExpectedIndividual,
                    format!("{place} must be an individual"),
                    span,
                    "expected a variable, a constant, a label, an integer or a function's value",
                );
            }
        };
        match found {
            None => None, // of a sort that is unknown, and reported
            Some(Found::Argument(sort)) if sort == wanted => Some(Term::new(kind, span)),
            Some(Found::Number(_)) if wanted == REAL => Some(Term::new(kind, span)),
            Some(found) => {
                let is_vector = matches!(wanted, ArgumentSort::Vector(_));
                let wanted = self.argument_sort_name(wanted);
                let found = match found {
                    Found::Argument(sort) => format!("of sort `{}`", self.argument_sort_name(sort)),
                    Found::Number(column) => format!("a number of a table's `{column}` column"),
                };
                let text = shortened(self.theory.source.slice(span));
                let mut error = Diagnostic::error(
                    Code::WrongSort,
                    format!("{place} must be of sort `{wanted}`, but `{text}` is {found}"),
                )
                .at(&self.theory.source, span, format!("expected a `{wanted}`"));
                error = Self::declared_here(error, declared, "declared here");
                if found.starts_with('a') {
                    error = error.help(match is_vector {
                        true => "several numbers are the value of a function: `function f(S): Real[k]`",
                        false => "`Int` and `Real` columns are for guards, and for arguments that are `Real`",
                    });
                }
                self.out.push(error);
                None
            }
        }
    }

    fn named_term(
        &mut self,
        name: &str,
        wanted: ArgumentSort,
        span: Span,
    ) -> Option<(TermKind, Option<Found>)> {
        if let Some((id, sort)) = self.local(name) {
            self.refuse_batch_data(id, name, span)?;
            let found = sort.map(|sort| match sort {
                ColumnSort::Sort(id) => Found::Argument(ArgumentSort::Sort(id)),
                ColumnSort::Int => Found::Number("Int"),
                ColumnSort::Real => Found::Number("Real"),
            });
            return Some((TermKind::Variable(id), found));
        }
        let sorted = |id| Some(Found::Argument(ArgumentSort::Sort(id)));
        match self.symbols.get(name) {
            Some((Symbol::Broken, _)) => return None,
            Some(&(Symbol::Label(sort, index), _)) => {
                return Some((TermKind::Individual(sort, index), sorted(sort)));
            }
            Some(&(Symbol::Constant(id), _)) => {
                self.mark_used(name);
                return Some((TermKind::Constant(id), sorted(self.theory[id].sort)));
            }
            _ => {}
        }
        if let Some(individual) = self.data_label(name, wanted) {
            return Some(individual);
        }
        let may_be_label = |sort: &SortId| wanted == ArgumentSort::Sort(*sort);
        if self.symbols.contains_key(name) || !self.unreadable.iter().any(may_be_label) {
            self.unknown_individual(name, wanted, span);
        }
        None
    }

    /// A name that the data give to an individual, of the wanted sort if possible.
    fn data_label(&self, name: &str, wanted: ArgumentSort) -> Option<(TermKind, Option<Found>)> {
        let candidates = self.data_labels.get(name)?;
        let (sort, index) = candidates
            .iter()
            .find(|(sort, _)| wanted == ArgumentSort::Sort(*sort))
            .unwrap_or(&candidates[0]);
        let found = Found::Argument(ArgumentSort::Sort(*sort));
        Some((TermKind::Individual(*sort, *index), Some(found)))
    }

    /// What is in quotes is a label, whatever else has its name.
    fn labelled_term(
        &mut self,
        label: &str,
        wanted: ArgumentSort,
        span: Span,
    ) -> Option<(TermKind, Option<Found>)> {
        if let Some(&(Symbol::Label(sort, index), _)) = self.symbols.get(label) {
            let found = Found::Argument(ArgumentSort::Sort(sort));
            return Some((TermKind::Individual(sort, index), Some(found)));
        }
        if let Some(individual) = self.data_label(label, wanted) {
            return Some(individual);
        }
        let may_be_label = |sort: &SortId| wanted == ArgumentSort::Sort(*sort);
        if self.unreadable.iter().any(may_be_label) {
            return None;
        }
        let written = quoted_label(label);
        let (of, known) = match wanted {
            ArgumentSort::Sort(id) => (
                format!("sort `{}`", self.theory[id].name),
                self.theory[id].labels.as_slice(),
            ),
            ArgumentSort::Vector(_) => ("no sort".to_string(), &[][..]),
        };
        let as_written = self.to_suggest(known, quoted_label);
        let near = self.suggestion(&written, as_written.iter().map(String::as_str));
        let help = near.or_else(|| match known {
            [] => None,
            known => Some(format!("its labels are {}", some_of(known))),
        });
        let message = format!("{of} has no label {}", shortened(&written));
        self.refuse_with_help(Code::UnknownIndividual, message, span, "", help)
    }

    fn unknown_individual(&mut self, name: &str, wanted: ArgumentSort, span: Span) {
        let labels: &[String] = match wanted {
            ArgumentSort::Sort(id) => &self.theory[id].labels,
            ArgumentSort::Vector(_) => &[],
        };
        let labels = self.to_suggest(labels, written_label);
        let known = (self.local_names())
            .chain(self.theory.constants.iter().map(|c| c.name.as_str()))
            .chain(labels.iter().map(String::as_str));
        let near = self.suggestion(name, known);
        let short = shortened(name);
        let code = match self.symbols.contains_key(name) {
            true => Code::WrongKindOfName,
            false => Code::UnknownVariable,
        };
        let (message, help) = match self.symbols.get(name) {
            Some(_) if self.declared_twice.contains(name) => return,
            Some((Symbol::Param(_), _)) => (
                format!("param `{name}` is a number, for guards only"),
                Some(match wanted {
                    ArgumentSort::Sort(id) => {
                        let sort = &self.theory[id].name;
                        format!("an individual is declared with `constant {short}: {sort}`")
                    }
                    ArgumentSort::Vector(_) => "write the number itself, as in `big(2.5)`, or bind a column of a table that holds it: \
                        `forall (k) in limits. big(k)`"
                        .to_string(),
                }),
            ),
            Some((symbol, _)) => (
                format!("`{name}` is a {}, not an individual", symbol.kind()),
                near,
            ),
            None => (
                format!("unbound variable `{short}`"),
                near.or_else(|| match wanted {
                    ArgumentSort::Vector(_) => None,
                    ArgumentSort::Sort(id) => {
                        let sort = self.argument_sort_name(wanted);
                        let labels = &self.theory[id].labels;
                        let Some(question) = self.question else {
                            return Some(format!(
                                "bind it with a quantifier, `forall {short}: {sort}. …`, or declare it: `constant {short}: {sort}`"
                            ));
                        };
                        let exists = format!("bind it with a quantifier, `exists {short}: {sort}. …`");
                        let ways = match question.may_find {
                            true => format!("ask which ones it is true of, `find {short}: {sort}. …`, or {exists}"),
                            false => exists,
                        };
                        Some(match labels.is_empty() {
                            true => ways,
                            false => format!("the individuals of `{sort}` are {}; {ways}", some_of(labels)),
                        })
                    }
                }),
            ),
        };
        self.error_with_help(code, message, span, "", help);
    }

    /// An integer literal as an individual of an integer sort.
    fn integer_term(&mut self, expr: &Expr, wanted: ArgumentSort, place: &str) -> Option<TermKind> {
        let value = integer_literal(expr);
        let sort = match wanted {
            ArgumentSort::Sort(id) => Some((id, self.theory[id].kind)),
            ArgumentSort::Vector(_) => None,
        };
        let text = shortened(self.theory.source.slice(expr.span));
        match (value, sort) {
            (Some(value), Some((id, SortKind::Range(low, high)))) => {
                if (low..=high).contains(&value) {
                    return Some(TermKind::Individual(id, (value - low) as u32));
                }
                let sort = &self.theory[id];
                let error = Diagnostic::error(
                    Code::UnknownIndividual,
                    format!("`{text}` is not in sort `{}`", sort.name),
                )
                .at(&self.theory.source, expr.span, "")
                .help(format!("{place} is one of {low}..{high}"));
                let range = format!("the integers {low} to {high}");
                let error = Self::declared_here(error, sort.span, range);
                self.out.push(error);
            }
            // The data decide whether there are this many.
            (Some(value @ 0..=0xffff_ffff), Some((id, SortKind::Data)))
                if self.question.is_some() && self.theory[id].labels.is_empty() =>
            {
                return Some(TermKind::Individual(id, value as u32));
            }
            (_, sort) => {
                let help = match sort {
                    Some((id, _)) if !self.theory[id].labels.is_empty() => Some(format!(
                        "use a label: {}",
                        some_of(&self.theory[id].labels)
                    )),
                    Some((_, SortKind::Data)) => Some(
                        "only the individuals of an integer sort are written as integers; name a row of \
                         the data with `constant`"
                            .to_string(),
                    ),
                    _ => None,
                };
                let wanted = self.argument_sort_name(wanted);
                self.error_with_help(
                    Code::WrongSort,
                    format!("{place} must be of sort `{wanted}`, but `{text}` is a number"),
                    expr.span,
                    "",
                    help,
                );
            }
        }
        None
    }

    pub(super) fn applied(
        &mut self,
        name: &Name,
        arguments: &[Expr],
        span: Span,
    ) -> Option<(TermKind, Option<Found>)> {
        let found = self.symbols.get(&name.text).copied();
        match found {
            Some((Symbol::Function(id), declared)) => {
                self.mark_used(&name.text);
                let function = &self.theory[id];
                let (wanted, result) = (function.arguments.clone(), function.result);
                let terms = self.arguments("function", name, arguments, &wanted, declared, span)?;
                Some((TermKind::Apply(id, terms), Some(Found::Argument(result))))
            }
            Some(_) if self.is_broken(&name.text) => None,
            Some((symbol, declared)) => {
                let help = matches!(symbol, Symbol::Predicate(_))
                    .then(|| "join the two atoms with a connective: `P(x) and Q(x)`".to_string());
                let error = Diagnostic::error(
                    Code::WrongKindOfName,
                    format!(
                        "`{}` is a {}, not a function: it cannot be an argument",
                        name.text,
                        symbol.kind()
                    ),
                )
                .at(&self.theory.source, name.span, "expected an individual")
                .maybe_help(help);
                self.push_declared(error, declared);
                None
            }
            None => {
                let known = self.theory.functions.iter().map(|f| f.name.as_str());
                let short = shortened(&name.text);
                let help = match name.text.as_str() {
                    "dist" | "abs" | "min" | "max" => Some(format!("`{short}` is for guards only")),
                    _ => (self.suggestion(&name.text, known.clone())).or_else(|| {
                        Some(self.how_to_declare(format!("function {short}(…): …"), known))
                    }),
                };
                let message = format!("unknown function `{short}`");
                self.refuse_with_help(Code::UnknownFunction, message, name.span, "", help)
            }
        }
    }

    /// In the guard of a big connective or a family, variables of quantifiers are out of reach: the
    /// members are written out before any data is seen.
    pub(super) fn refuse_batch_data(&mut self, id: VarId, name: &str, span: Span) -> Option<()> {
        let Some(word) = self.crisp_binder else {
            return Some(());
        };
        let variable = &self.variables[id.index()];
        let BoundBy::Quantifier(quantifier) = variable.bound_by else {
            return Some(());
        };
        if quantifier.is_big_connective() {
            return Some(());
        }
        let help = if word == "any" {
            "use `exists`, which looks at each binding"
        } else {
            "use `forall`, which looks at each binding"
        };
        let error = Diagnostic::error(
            Code::MembersDependOnData,
            format!(
                "the guard of `{word}` cannot look at `{name}`, which `{}` binds",
                quantifier.word()
            ),
        )
        .at(&self.theory.source, span, "varies with the data")
        .mark(variable.span, "bound here")
        .note("it may use tables, params, and variables of `for`, `all` and `any`")
        .help(help);
        self.out.push(error);
        None
    }
}

/// One number.
const REAL: ArgumentSort = ArgumentSort::Vector(1);

/// Whether a function is in it.
fn has_call(expr: &Expr) -> bool {
    match &expr.kind {
        ExprKind::Call(..) => true,
        ExprKind::Negative(inner) => has_call(inner),
        ExprKind::Sum(members) => members.iter().any(|(_, m)| has_call(m)),
        ExprKind::Product(members) => members.iter().any(|(_, m)| has_call(m)),
        _ => false,
    }
}

/// `3`, `-3` or `-2.5`
fn number_literal(expr: &Expr) -> Option<f64> {
    match &expr.kind {
        ExprKind::Integer(n) => Some(*n as f64),
        ExprKind::Number(x) => Some(*x),
        ExprKind::Negative(inner) => match inner.kind {
            ExprKind::Integer(n) => Some(-(n as f64)),
            ExprKind::Number(x) => Some(-x),
            _ => None,
        },
        _ => None,
    }
}

/// The type of a term that was found.
pub(super) enum Found {
    Argument(ArgumentSort),
    /// A variable of an `Int` or `Real` column.
    Number(&'static str),
}

/// `3` or `-3`
pub(super) fn integer_literal(expr: &Expr) -> Option<i64> {
    match &expr.kind {
        ExprKind::Integer(n) => i64::try_from(*n).ok(),
        ExprKind::Negative(inner) => match inner.kind {
            ExprKind::Integer(n) if n <= i64::MAX as u64 + 1 => Some((n as i64).wrapping_neg()),
            _ => None,
        },
        _ => None,
    }
}

/// The first few names of a list.
pub(super) fn some_of(names: &[String]) -> String {
    let shown: Vec<_> = (names.iter().take(6))
        .map(|n| format!("`{}`", written_label(n)))
        .collect();
    let more = if names.len() > 6 { ", …" } else { "" };
    format!("{}{more}", shown.join(", "))
}
