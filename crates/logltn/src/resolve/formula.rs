//! Formulas: atoms, connectives, quantifiers.

use super::{Resolver, Symbol, all_or_none, count};
use crate::diagnostic::{Code, Diagnostic, shortened};
use crate::recursion::deep;
use crate::source::Span;
use crate::syntax::{Expr, ExprKind, Name, Quantified};
use crate::theory::*;

impl Resolver<'_> {
    pub(super) fn formula(&mut self, expr: &Expr) -> Option<Formula> {
        deep(|| self.formula_here(expr))
    }

    fn formula_here(&mut self, expr: &Expr) -> Option<Formula> {
        let kind = match &expr.kind {
            ExprKind::Error => return None,
            ExprKind::Call(name, arguments) => self.atom(name, arguments, expr.span)?,
            ExprKind::Name(name) => {
                self.name_as_formula(name, expr.span);
                return None;
            }
            ExprKind::Not(inner) => FormulaKind::Not(Box::new(self.formula(inner)?)),
            ExprKind::And(members) => FormulaKind::And(self.formulas(members)?),
            ExprKind::Or(members) => FormulaKind::Or(self.formulas(members)?),
            ExprKind::Implies(a, b) => {
                let (a, b) = (self.formula(a), self.formula(b));
                FormulaKind::Implies(Box::new(a?), Box::new(b?))
            }
            ExprKind::Iff(a, b) => {
                let (a, b) = (self.formula(a), self.formula(b));
                FormulaKind::Iff(Box::new(a?), Box::new(b?))
            }
            ExprKind::Quantified(quantified) => self.quantified(quantified)?,
            ExprKind::Compare(operator, a, b) => {
                self.comparison_as_formula(*operator, a, b, expr.span);
                return None;
            }
            ExprKind::Label(_) => {
                return self.refuse(
                    Code::ExpectedFormula,
                    "a label is an individual, not a formula".to_string(),
                    expr.span,
                    "expected a formula",
                );
            }
            ExprKind::Integer(_)
            | ExprKind::Number(_)
            | ExprKind::Field(..)
            | ExprKind::Negative(_)
            | ExprKind::Sum(_)
            | ExprKind::Product(_) => {
                return self.refuse(
                    Code::ExpectedFormula,
                    "a number is not a formula".to_string(),
                    expr.span,
                    "expected a formula",
                );
            }
        };
        Some(Formula::new(kind, expr.span))
    }

    /// What to write instead depends on what is compared: a guard takes neither predicates nor learnt functions.
    fn comparison_as_formula(&mut self, operator: Comparison, a: &Expr, b: &Expr, span: Span) {
        let slice = |expr: &Expr| shortened(self.theory.source.slice(expr.span));
        let text = shortened(self.theory.source.slice(a.span.to(b.span)));
        let (left, right) = (slice(a), slice(b));
        let is_predicate = |expr: &Expr| match &expr.kind {
            ExprKind::Call(name, _) => {
                matches!(
                    self.symbols.get(&name.text),
                    Some((Symbol::Predicate(_) | Symbol::Definition(_), _))
                )
            }
            _ => false,
        };
        if is_predicate(a) || is_predicate(b) {
            use Comparison::*;
            let help = match (is_predicate(a), is_predicate(b)) {
                (true, true) => match operator {
                    Equal => format!("write `{left} <-> {right}`"),
                    NotEqual => format!("write `not ({left} <-> {right})`"),
                    Less | LessEqual => format!("write `{left} -> {right}`"),
                    Greater | GreaterEqual => format!("write `{right} -> {left}`"),
                },
                // `class(x) = cat`: the class is an argument.
                (first, _) if self.class_beside(if first { b } else { a }) => {
                    let (atom, class) = if first {
                        (&left, &right)
                    } else {
                        (&right, &left)
                    };
                    match atom.strip_suffix("()").or(atom.strip_suffix(')')) {
                        Some(open) if atom.ends_with("()") => format!("write `{open}({class})`"),
                        Some(open) => format!("write `{open}, {class})`"),
                        None => format!("make `{class}` an argument of it"),
                    }
                }
                (first, _) => {
                    let (atom, number) = if first { (&left, b) } else { (&right, a) };
                    let zero = matches!(number.kind, ExprKind::Integer(0));
                    let below = match operator {
                        Equal => zero,
                        NotEqual => !zero,
                        Less | LessEqual => first,
                        Greater | GreaterEqual => !first,
                    };
                    match below {
                        true => format!("write `not {atom}`"),
                        false => format!("write `{atom}` alone: an axiom asks for it to be true"),
                    }
                }
            };
            return self.error_with_help(
                Code::ExpectedFormula,
                "the truth of a predicate is not a number to be compared".to_string(),
                span,
                "expected a formula",
                Some(help),
            );
        }
        let guard = format!("put it into a guard: `forall … where {text}. …`");
        let message = "a comparison is crisp and cannot be part of a formula";
        let error = Diagnostic::error(Code::ExpectedFormula, message).at(
            &self.theory.source,
            span,
            "expected a formula",
        );
        let function = [a, b]
            .into_iter()
            .find_map(|side| self.function_inside(side));
        self.out.push(match function {
            None => error.help(guard),
            Some(name) => {
                let predicate = match operator {
                    Comparison::Equal | Comparison::NotEqual => "equal",
                    Comparison::Less | Comparison::LessEqual => "below",
                    Comparison::Greater | Comparison::GreaterEqual => "above",
                };
                let not = match operator {
                    Comparison::NotEqual => "not ",
                    _ => "",
                };
                let name = shortened(name);
                error
                    .note(format!("if `{name}` is given by data (`values` in the manifest), {guard}"))
                    .help(format!(
                        "if `{name}` is learnt, compare it by a predicate, `predicate {predicate}(Real, Real)`, \
                         which the manifest grounds by a closed form: `{not}{predicate}({left}, {right})`"
                    ))
            }
        });
    }

    /// Whether this must be an individual: a name that is not a number.
    fn class_beside(&self, expr: &Expr) -> bool {
        match &expr.kind {
            ExprKind::Name(name) => !matches!(self.symbols.get(name), Some((Symbol::Param(_), _))),
            ExprKind::Label(_) => true,
            _ => false,
        }
    }

    /// The name of a function whose value a term needs.
    fn function_inside<'e>(&self, expr: &'e Expr) -> Option<&'e str> {
        match &expr.kind {
            ExprKind::Call(name, arguments) => match self.symbols.get(&name.text) {
                Some((Symbol::Function(_), _)) => Some(name.text.as_str()),
                _ => deep(|| arguments.iter().find_map(|a| self.function_inside(a))),
            },
            ExprKind::Negative(inner) => deep(|| self.function_inside(inner)),
            ExprKind::Sum(members) => {
                deep(|| members.iter().find_map(|(_, m)| self.function_inside(m)))
            }
            ExprKind::Product(members) => {
                deep(|| members.iter().find_map(|(_, m)| self.function_inside(m)))
            }
            _ => None,
        }
    }

    fn formulas(&mut self, members: &[Expr]) -> Option<Vec<Formula>> {
        // All are checked before giving up, so that every mistake is reported.
        let members: Vec<_> = members.iter().map(|m| self.formula(m)).collect();
        members.into_iter().collect()
    }

    fn atom(&mut self, name: &Name, arguments: &[Expr], span: Span) -> Option<FormulaKind> {
        let (symbol, declared) = match self.symbols.get(&name.text) {
            Some(&(symbol, declared)) => (symbol, declared),
            None => {
                self.unknown_predicate(name);
                return None;
            }
        };
        let predicate = match symbol {
            Symbol::Predicate(id) => id,
            Symbol::Definition(id) => {
                return self.definition_use(id, name, arguments, declared, span);
            }
            _ if self.is_broken(&name.text) => return None,
            other => {
                let help = match other {
                    Symbol::Table(id) => {
                        let table = &self.theory[id];
                        let columns: Vec<_> = table.columns.iter().map(|c| &c.name[..]).collect();
                        let (table, columns) = (&table.name, shortened(&columns.join(", ")));
                        Some(format!(
                            "membership in a table is crisp: put it into a guard, \
                             `where {table}({columns})`, or range over its rows, \
                             `forall ({columns}) in {table}. …`"
                        ))
                    }
                    Symbol::Function(_) => {
                        Some("a function's value can be an argument of a predicate".to_string())
                    }
                    _ => None,
                };
                self.wrong_kind(name, (other, declared), "a predicate", help);
                return None;
            }
        };
        self.mark_used(&name.text);
        let wanted = self.theory[predicate].arguments.clone();
        let arguments = self.arguments("predicate", name, arguments, &wanted, declared, span)?;
        Some(FormulaKind::Atom {
            predicate,
            arguments,
        })
    }

    /// The arguments of a predicate or a function, checked against the declared sorts.
    pub(super) fn arguments(
        &mut self,
        what: &str,
        name: &Name,
        arguments: &[Expr],
        wanted: &[ArgumentSort],
        declared: Span,
        span: Span,
    ) -> Option<Vec<Term>> {
        if arguments.len() != wanted.len() && self.declared_twice.contains(&name.text) {
            return None;
        }
        if arguments.len() != wanted.len() {
            let sorts: Vec<_> = wanted.iter().map(|s| self.argument_sort_name(*s)).collect();
            let error = Diagnostic::error(
                Code::WrongNumberOfArguments,
                format!(
                    "{what} `{}` takes {}, found {}",
                    name.text,
                    count(wanted.len(), "argument"),
                    arguments.len()
                ),
            )
            .at(&self.theory.source, span, "")
            .help(format!(
                "its arguments: `{}({})`",
                name.text,
                shortened(&sorts.join(", "))
            ));
            self.push_declared(error, declared);
            return None;
        }
        let terms: Vec<_> = arguments
            .iter()
            .zip(wanted)
            .enumerate()
            .map(|(i, (argument, &sort))| {
                let place = format!("argument {} of `{}`", i + 1, name.text);
                self.term(argument, sort, &place, declared)
            })
            .collect();
        terms.into_iter().collect()
    }

    fn unknown_predicate(&mut self, name: &Name) {
        let short = shortened(&name.text);
        if self.local(&name.text).is_some() {
            let message = format!("`{short}` is a variable, not a predicate");
            let help = Some(format!("apply a predicate to it: `P({short})`"));
            return self.error_with_help(
                Code::WrongKindOfName,
                message,
                name.span,
                "expected a predicate",
                help,
            );
        }
        let known = self.known_atoms();
        let help = match name.text.as_str() {
            "dist" | "abs" | "min" | "max" => {
                format!("`{short}` is arithmetic, for guards: `where {short}(…) < …`")
            }
            _ => (self.suggestion(&name.text, known.iter().map(String::as_str))).unwrap_or_else(
                || {
                    let known = known.iter().map(String::as_str);
                    self.how_to_declare(format!("predicate {short}(…)"), known)
                },
            ),
        };
        self.error_with_help(
            Code::UnknownPredicate,
            format!("unknown predicate `{short}`"),
            name.span,
            "",
            Some(help),
        );
    }

    fn name_as_formula(&mut self, name: &str, span: Span) {
        let mut code = Code::ExpectedFormula;
        let (message, help) = if self.local(name).is_some() {
            (
                format!("variable `{name}` is not a formula"),
                Some(format!("apply a predicate to it: `P({name})`")),
            )
        } else {
            match self.symbols.get(name) {
                Some(_) if self.is_broken(name) => return,
                Some((symbol @ (Symbol::Predicate(_) | Symbol::Definition(_)), _)) => {
                    let arity = match symbol {
                        Symbol::Definition(id) => self.theory[*id].arity,
                        Symbol::Predicate(id) => self.theory[*id].arguments.len(),
                        _ => 0,
                    };
                    let help = match arity {
                        0 => format!("write `{name}()`"),
                        n => format!("it takes {}", count(n, "argument")),
                    };
                    let kind = symbol.kind();
                    (format!("{kind} `{name}` needs parentheses"), Some(help))
                }
                Some((symbol, _)) => (
                    format!("`{name}` is a {}, not a formula", symbol.kind()),
                    None,
                ),
                None => {
                    let known = self.known_atoms();
                    code = Code::UnknownPredicate;
                    let message = format!("unknown name `{}`", shortened(name));
                    let help = match name.to_lowercase().as_str() {
                        "true" | "false" | "top" | "bottom" => Some(
                            "there are no constants for truth and falsehood: write `P(x)` for `P(x) <-> true`, \
                             `not P(x)` for `P(x) <-> false`"
                                .to_string(),
                        ),
                        _ => self.suggestion(name, known.iter().map(String::as_str)),
                    };
                    (message, help)
                }
            }
        };
        self.error_with_help(code, message, span, "expected a formula", help);
    }

    fn quantified(&mut self, quantified: &Quantified) -> Option<FormulaKind> {
        let quantifier = quantified.quantifier;
        if quantifier.is_big_connective()
            && let crate::syntax::Binding::Rows(_, table) = &quantified.binding
        {
            let help = format!(
                "range over the sort and guard it with the table: `{} x: S where {}(x). …`",
                quantifier.word(),
                table.text
            );
            self.error_with_help(
                Code::WrongKindOfName,
                format!("`{}` ranges over a sort, not over rows", quantifier.word()),
                table.span,
                "",
                Some(help),
            );
        }
        let bound_by = BoundBy::Quantifier(quantifier);
        self.with_binding(&quantified.binding, bound_by, |this, binding| {
            let outer = this.crisp_binder;
            if quantifier.is_big_connective() {
                this.crisp_binder = Some(quantifier.word());
            }
            let guard = quantified.guard.as_ref().map(|g| this.guard(g));
            this.crisp_binder = outer;
            let body = this.formula(&quantified.body);
            Some(FormulaKind::Quantified {
                quantifier,
                binding: binding?,
                guard: all_or_none(guard)?,
                body: Box::new(body?),
            })
        })
    }

    pub(super) fn argument_sort_name(&self, sort: ArgumentSort) -> String {
        match sort {
            ArgumentSort::Sort(id) => self.theory[id].name.clone(),
            ArgumentSort::Vector(1) => "Real".to_string(),
            ArgumentSort::Vector(k) => format!("Real[{k}]"),
        }
    }
}
