//! Expressions: quantifiers, connectives, comparisons, arithmetic, terms.

use super::{Bail, MAX_NESTING, Parsed, Parser, Unit};
use crate::diagnostic::{Code, Diagnostic, shortened};
use crate::recursion::deep;
use crate::source::Span;
use crate::syntax::*;
use crate::token::{Keyword, Token};

/// How tightly an infix operator binds, loosest first.
#[derive(Clone, Copy, PartialEq, PartialOrd)]
enum Binds {
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

impl Parser<'_> {
    // --- quantifiers ----------------------------------------------------------------------------

    /// `x, y: S, z: T`
    pub(super) fn sorted_names(&mut self, binder: &str) -> Parsed<SortedNames> {
        let mut bound = Vec::new();
        loop {
            let mut group = vec![self.name("a variable", false)?];
            while self.peek() == Token::Comma {
                self.advance();
                group.push(self.name("a variable", false)?);
            }
            let what = format!("`{binder}` variable");
            let sort = self.colon_and_sort(&group[group.len() - 1], &what)?;
            bound.extend(group.into_iter().map(|name| (name, sort.clone())));
            self.comma_before_a_quantifier();
            // Rows of a table may follow, which are read elsewhere.
            let rows_follow = self.tokens.get(self.at + 1).map(|t| t.0) == Some(Token::Open);
            if self.peek() != Token::Comma || rows_follow {
                return Ok(bound);
            }
            self.advance();
        }
    }

    /// `forall x: S, exists y: T. …`: the comma should be a dot. Reported and read as one.
    fn comma_before_a_quantifier(&mut self) {
        let next = self.tokens.get(self.at + 1).map(|t| t.0);
        if self.peek() == Token::Comma
            && matches!(
                next,
                Some(Token::Forall | Token::Exists | Token::All | Token::Any)
            )
        {
            let expected = "expected `.` before the next quantifier";
            let help =
                "a comma separates variables, a dot ends their list: `forall x: S. exists …`";
            self.missing(expected, "expected `.`", help);
            self.tokens[self.at].0 = Token::Dot;
        }
    }

    pub(super) fn guard(&mut self) -> Parsed<Option<Expr>> {
        if self.peek() == Token::Name
            && matches!(
                self.source.slice(self.span()),
                "if" | "when" | "with" | "such"
            )
            && self
                .tokens
                .get(self.at + 1)
                .is_some_and(|t| t.0 != Token::Open)
        {
            let what = "a guard starts with `where`";
            self.missing(what, "expected `where`", "write `where`");
        } else if self.peek() != Token::Keyword(Keyword::Where) {
            return Ok(None);
        }
        self.advance();
        Ok(Some(self.reading("a condition", |p| p.expression())?))
    }

    /// Reads an expression that messages call `what`.
    fn reading<T>(&mut self, what: &'static str, read: impl FnOnce(&mut Self) -> T) -> T {
        let outer = std::mem::replace(&mut self.expected, what);
        let result = read(self);
        self.expected = outer;
        result
    }

    /// `x, y in T` without its parentheses, reported; the tokens are at `in`.
    fn rows_without_parentheses(&mut self, names: Vec<Name>) -> Parsed<Binding> {
        let list: Vec<_> = names.iter().map(|n| n.text.as_str()).collect();
        let list = shortened(&list.join(", "));
        let message = "the variables of a row go in parentheses".to_string();
        let help = format!(
            "write `({list}) in …` for the rows of a table, `{list}: …` for the individuals of a sort"
        );
        if let (Some(first), Some(last)) = (names.first(), names.last()) {
            let error = Diagnostic::error(Code::UnexpectedToken, message).at(
                self.source,
                first.span.to(last.span),
                "",
            );
            self.out.push(error.help(help));
        }
        self.advance();
        Ok(Binding::Rows(names, self.name("a table", false)?))
    }

    /// Whether `x, y in` comes next.
    fn at_rows_without_parentheses(&self) -> bool {
        let mut at = self.at;
        let token = |at: usize| self.tokens.get(at).map(|t| t.0);
        while token(at) == Some(Token::Name) {
            match token(at + 1) {
                Some(Token::Comma) => at += 2,
                Some(Token::Keyword(Keyword::In)) => return true,
                _ => return false,
            }
        }
        false
    }

    fn quantified(&mut self, quantifier: Quantifier) -> Parsed<Expr> {
        self.binder(quantifier, quantifier.word())
    }

    /// Whether the comma that comes next separates binders, `(x, y) in T, c: S` or `c: S, (x, y) in T`.
    fn binds_more(&self) -> bool {
        let token = |ahead: usize| self.tokens.get(self.at + ahead).map(|t| t.0);
        match token(1) {
            Some(Token::Open) => true,
            Some(Token::Name) => matches!(token(2), Some(Token::Colon | Token::Comma)),
            _ => false,
        }
    }

    /// Variables of sorts, or of the rows of one table.
    fn bound_together(&mut self, word: &str) -> Parsed<Binding> {
        Ok(if self.peek() == Token::Open {
            self.advance();
            let names = self.list(Token::Close, |p| p.name("a variable", false))?;
            if self.peek() == Token::Colon {
                let message = "parentheses bind the rows of a table";
                let help = format!(
                    "write `{word} (x, y) in table. …` for rows, `{word} x: S, y: S. …` for sorts"
                );
                return Err(self.refuse(message, "", help));
            }
            self.expect(Token::Close, "`)` or `,`", "after a variable")?;
            self.expect(
                Token::Keyword(Keyword::In),
                "`in` and a table",
                "after the variables of its row",
            )?;
            Binding::Rows(names, self.name("a table", false)?)
        } else if self.at_rows_without_parentheses() {
            let mut names = vec![self.name("a variable", false)?];
            while self.eat(Token::Comma) {
                names.push(self.name("a variable", false)?);
            }
            self.rows_without_parentheses(names)?
        } else {
            Binding::Sorts(self.sorted_names(word)?)
        })
    }

    /// A quantifier, or `find`, which binds like one: the word is for messages.
    pub(super) fn binder(&mut self, quantifier: Quantifier, word: &str) -> Parsed<Expr> {
        let quantifier_span = self.advance();
        let mut parts = vec![self.bound_together(word)?];
        while self.peek() == Token::Comma && self.binds_more() {
            self.advance();
            parts.push(self.bound_together(word)?);
        }
        let binding = match parts.len() {
            1 => parts.remove(0),
            _ => Binding::Mixed(parts),
        };
        let guard = self.guard()?;
        if !self.eat(Token::Dot) {
            let expected = format!("expected `.` before the body of `{word}`");
            let repairable = self.peek().starts_expression()
                || matches!(self.peek(), Token::Colon | Token::Comma);
            let help = match (self.peek(), &guard) {
                (Token::Colon | Token::Comma, _) => {
                    format!("write `.` instead of {}", self.quoted())
                }
                (Token::Keyword(Keyword::In), _) => {
                    let names = shortened(&binding.names().join(", "));
                    format!("rows of a table bind names without sorts: `{word} ({names}) in …`")
                }
                (_, Some(_)) => "the guard ends with a dot: `where guard. body`".to_string(),
                (_, None) => "write `x: S. body`, or `x: S where guard. body`".to_string(),
            };
            let bail = self.missing(expected, "expected `.`", help);
            if !repairable {
                return Err(bail);
            }
            if matches!(self.peek(), Token::Colon | Token::Comma) {
                self.advance();
            }
        }
        let body = self.expression()?;
        Ok(Expr::at(
            quantifier_span.to(body.span),
            ExprKind::Quantified(Box::new(Quantified {
                quantifier,
                quantifier_span,
                binding,
                guard,
                body,
            })),
        ))
    }

    // --- expressions ----------------------------------------------------------------------------

    pub(super) fn expression(&mut self) -> Parsed<Expr> {
        self.binding_at_least(Binds::Iff)
    }

    /// One level deeper; refuses expressions that are nested too deeply.
    fn deeper<T>(&mut self, read: impl FnOnce(&mut Self) -> Parsed<T>) -> Parsed<T> {
        if self.depth >= MAX_NESTING {
            let message = format!("nested deeper than {MAX_NESTING} levels");
            let help = "split the formula into several axioms".to_string();
            return Err(self.report(Code::NestedTooDeep, message, "too deep here", Some(help)));
        }
        self.depth += 1;
        let result = deep(|| read(self));
        self.depth -= 1;
        result
    }

    fn binding_at_least(&mut self, least: Binds) -> Parsed<Expr> {
        let mut left = self.operand(least)?;
        loop {
            if let Some(operator) = self.comparison_operator()
                && least <= Binds::Compare
            {
                left = self.comparison(left, operator)?;
                continue;
            }
            left = match self.peek() {
                Token::Star | Token::Slash | Token::Percent if least <= Binds::Product => {
                    self.product(left)?
                }
                Token::Plus | Token::Minus if least <= Binds::Sum => self.sum(left)?,
                Token::And if least <= Binds::And => {
                    let members = self.run(left, Token::And, Binds::Not)?;
                    spanning(members, ExprKind::And)
                }
                Token::Or if least <= Binds::Or => {
                    let members = self.run(left, Token::Or, Binds::And)?;
                    spanning(members, ExprKind::Or)
                }
                Token::Implies if least <= Binds::Implies => {
                    self.advance();
                    // To the right: `a -> b -> c` is `a -> (b -> c)`.
                    let right = self.deeper(|p| p.binding_at_least(Binds::Implies))?;
                    Expr::at(
                        left.span.to(right.span),
                        ExprKind::Implies(Box::new(left), Box::new(right)),
                    )
                }
                Token::Iff if least <= Binds::Iff => self.equivalence(left)?,
                _ => return Ok(left),
            };
        }
    }

    /// `left op b op c …` for one n-ary connective.
    fn run(&mut self, left: Expr, operator: Token, tighter: Binds) -> Parsed<Vec<Expr>> {
        let mut members = vec![left];
        while self.eat(operator) {
            members.push(self.binding_at_least(tighter)?);
        }
        Ok(members)
    }

    fn equivalence(&mut self, left: Expr) -> Parsed<Expr> {
        let operator = self.advance();
        let right = self.binding_at_least(Binds::Implies)?;
        let mut span = left.span.to(right.span);
        if self.peek() != Token::Iff {
            let kind = ExprKind::Iff(Box::new(left), Box::new(right));
            return Ok(Expr::at(span, kind));
        }
        self.out.push(
            Diagnostic::error(Code::DoesNotChain, "`<->` does not chain")
                .at(self.source, self.tokens[self.at].1, "second `<->`")
                .mark(operator, "first `<->`")
                .help("group with parentheses: `(a <-> b) and (b <-> c)`, or `a <-> (b <-> c)`"),
        );
        // One mistake, however long the chain. Its members are checked like those of any connective.
        let mut members = vec![left, right];
        while self.eat(Token::Iff) {
            members.push(self.binding_at_least(Binds::Implies)?);
            span = span.to(self.previous_span());
        }
        Ok(Expr::at(span, ExprKind::And(members)))
    }

    /// The comparison here, if there is one.
    fn comparison_operator(&self) -> Option<Comparison> {
        Some(match self.peek() {
            Token::Equal => Comparison::Equal,
            Token::NotEqual => Comparison::NotEqual,
            Token::Less => Comparison::Less,
            Token::LessEqual => Comparison::LessEqual,
            Token::Greater => Comparison::Greater,
            Token::GreaterEqual => Comparison::GreaterEqual,
            _ => return None,
        })
    }

    fn comparison(&mut self, left: Expr, operator: Comparison) -> Parsed<Expr> {
        self.advance();
        let right = self.binding_at_least(Binds::Sum)?;
        let span = left.span.to(right.span);
        let Some(second) = self.comparison_operator() else {
            let kind = ExprKind::Compare(operator, Box::new(left), Box::new(right));
            return Ok(Expr::at(span, kind));
        };
        let place = self.advance();
        let third = self.binding_at_least(Binds::Sum)?;
        let [a, b, c] = [&left, &right, &third].map(|e| shortened(self.source.slice(e.span)));
        let (first, second) = (operator.symbol(), second.symbol());
        self.out.push(
            Diagnostic::error(Code::DoesNotChain, "comparisons do not chain")
                .at(self.source, place, "second comparison")
                .help(format!("write `{a} {first} {b} and {b} {second} {c}`")),
        );
        // One mistake, however long the chain.
        while self.comparison_operator().is_some() {
            self.advance();
            self.binding_at_least(Binds::Sum)?;
        }
        Ok(Expr::at(span.to(self.previous_span()), ExprKind::Error))
    }

    /// `left sign b sign c …` for one n-ary operation.
    fn signed<S>(
        &mut self,
        first: (S, Expr),
        sign: impl Fn(Token) -> Option<S>,
        tighter: Binds,
        kind: fn(Vec<(S, Expr)>) -> ExprKind,
    ) -> Parsed<Expr> {
        let start = first.1.span;
        let mut members = vec![first];
        while let Some(sign) = sign(self.peek()) {
            self.advance();
            members.push((sign, self.binding_at_least(tighter)?));
        }
        Ok(Expr::at(start.to(self.previous_span()), kind(members)))
    }

    fn sum(&mut self, left: Expr) -> Parsed<Expr> {
        let sign = |token| match token {
            Token::Plus => Some(Sign::Plus),
            Token::Minus => Some(Sign::Minus),
            _ => None,
        };
        self.signed((Sign::Plus, left), sign, Binds::Product, ExprKind::Sum)
    }

    fn product(&mut self, left: Expr) -> Parsed<Expr> {
        let factor = |token| match token {
            Token::Star => Some(Factor::Times),
            Token::Slash => Some(Factor::Over),
            Token::Percent => Some(Factor::Modulo),
            _ => None,
        };
        let first = (Factor::Times, left);
        self.signed(first, factor, Binds::Negative, ExprKind::Product)
    }

    fn operand(&mut self, least: Binds) -> Parsed<Expr> {
        let start = self.span();
        match self.peek() {
            Token::Not if least <= Binds::Not => {
                self.advance();
                let inner = self.deeper(|p| p.binding_at_least(Binds::Not))?;
                Ok(Expr::at(
                    start.to(inner.span),
                    ExprKind::Not(Box::new(inner)),
                ))
            }
            Token::Minus => {
                self.advance();
                let inner = self.deeper(|p| p.binding_at_least(Binds::Negative))?;
                Ok(Expr::at(
                    start.to(inner.span),
                    ExprKind::Negative(Box::new(inner)),
                ))
            }
            Token::Forall => self.deeper(|p| p.quantified(Quantifier::Forall)),
            Token::Exists => self.deeper(|p| p.quantified(Quantifier::Exists)),
            Token::All => self.deeper(|p| p.quantified(Quantifier::All)),
            Token::Any => self.deeper(|p| p.quantified(Quantifier::Any)),
            Token::Open => self.parenthesis(),
            Token::Integer(n) => {
                self.advance();
                Ok(Expr::at(start, ExprKind::Integer(n)))
            }
            Token::Number(x) => {
                self.advance();
                Ok(Expr::at(start, ExprKind::Number(x)))
            }
            Token::Name => self.name_or_call(),
            Token::Label => {
                let next = self.tokens.get(self.at + 1);
                if next.is_some_and(|t| t.0 == Token::Open) {
                    self.name_in_quotes();
                    return self.name_or_call();
                }
                self.advance();
                Ok(Expr::at(start, ExprKind::Label(self.text(start))))
            }
            Token::Bad => {
                // Reported by the lexer; the rest of the formula can still be read.
                self.advance();
                if self.peek().starts_expression() {
                    return self.deeper(|p| p.operand(least));
                }
                Ok(Expr::at(start, ExprKind::Error))
            }
            _ => {
                let message = format!("expected {}, found {}", self.expected, self.found());
                let help = match self.peek() {
                    _ if self.unit == Unit::Formula && self.at == 0 => {
                        Some("write the formula alone, as in `forall x: S. P(x)`".into())
                    }
                    Token::Keyword(Keyword::Where) => Some(
                        "a guard follows the variables: `forall x: S where guard. body`".into(),
                    ),
                    Token::Not => Some("negate the whole comparison: `not (a < b)`".into()),
                    Token::And | Token::Or | Token::Implies | Token::Iff => {
                        Some("a connective goes between two formulas".into())
                    }
                    _ => None,
                };
                let label = format!("expected {}", self.expected);
                Err(self.report(Code::UnexpectedToken, message, &label, help))
            }
        }
    }

    fn parenthesis(&mut self) -> Parsed<Expr> {
        let open = self.advance();
        // Around a quantifier they are optional where it comes last, and the printer always writes them: they do not
        // count as a level, or a text at the limit could not be printed.
        let inner = match self.peek() {
            Token::Forall | Token::Exists | Token::All | Token::Any => deep(|| self.expression())?,
            _ => self.deeper(|p| p.expression())?,
        };
        let close = self.close(open, "`)` or a connective", self.expected)?;
        // The parenthesis belongs to the place of the formula.
        Ok(Expr::at(open.to(close), inner.kind))
    }

    /// `)`, or a message that shows the parenthesis that is still open.
    fn close(&mut self, open: Span, expected: &str, after: &str) -> Parsed<Span> {
        if self.peek() == Token::Close {
            return Ok(self.advance());
        }
        let ended = self.at_end();
        if self.peek() != Token::Bad {
            let (code, message) = if ended {
                let message = "this parenthesis is never closed".to_string();
                (Code::UnclosedParenthesis, message)
            } else {
                let message = format!("expected {expected} after {after}, found {}", self.found());
                (Code::UnexpectedToken, message)
            };
            let place = self.place();
            let mut error = Diagnostic::error(code, message);
            // `isa(x, reform.n.01)`
            if after == "an argument" && matches!(self.peek(), Token::Dot | Token::Number(_)) {
                error = error.help("put a label that is not a name in double quotes");
            }
            self.out.push(if ended {
                error
                    .at(self.source, open, "opened here")
                    .mark(place, "expected `)`")
            } else {
                error
                    .at(self.source, place, format!("expected {expected}"))
                    .mark(open, "opened here")
            });
        }
        if ended {
            // Only the parenthesis is missing: the expression is complete.
            return Ok(self.previous_span());
        }
        Err(Bail)
    }

    /// Whether `.age` follows a name that ends at `before`, without spaces and without a `(` after it: in `x = y.C(x)` the
    /// dot is that of a quantifier.
    fn at_field(&self, before: Span) -> bool {
        let token = |i: usize| self.tokens.get(self.at + i).copied();
        let (Some((Token::Dot, dot)), Some((Token::Name, name))) = (token(0), token(1)) else {
            return false;
        };
        dot.start == before.end
            && name.start == dot.end
            && token(2).is_none_or(|(next, _)| next != Token::Open)
    }

    fn name_or_call(&mut self) -> Parsed<Expr> {
        let name = self.word();
        let span = name.span;
        if self.at_field(span) {
            self.advance();
            let field = self.word();
            return Ok(Expr::at(span.to(field.span), ExprKind::Field(name, field)));
        }
        if self.peek() != Token::Open {
            return Ok(Expr::at(span, ExprKind::Name(name.text)));
        }
        let open = self.advance();
        let argument = |p: &mut Self| p.deeper(|p| p.expression());
        let arguments = self.list(Token::Close, |p| p.reading("an argument", argument))?;
        let unclosed = self.peek() != Token::Close;
        let close = self.close(open, "`,` or `)`", "an argument")?;
        // Without its `)` a call swallows the rest of the formula, which is not a second mistake.
        let swallowed = unclosed && arguments.last().is_some_and(|a| !a.kind.is_term());
        Ok(Expr::at(
            span.to(close),
            match swallowed {
                true => ExprKind::Error,
                false => ExprKind::Call(name, arguments),
            },
        ))
    }
}

fn spanning(members: Vec<Expr>, kind: fn(Vec<Expr>) -> ExprKind) -> Expr {
    let span = match (members.first(), members.last()) {
        (Some(a), Some(b)) => a.span.to(b.span),
        _ => Span::default(),
    };
    Expr::at(span, kind(members))
}
