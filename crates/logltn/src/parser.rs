//! Tokens to [syntax](crate::syntax): recursive descent with one precedence ladder.
//!
//! Written by hand rather than with a combinator crate for the sake of the messages: the parser knows
//! what it was doing, repairs what it can (a missing dot or colon is reported and taken as read), and
//! starts afresh at the next declaration where it cannot. See `docs/design.md`.

use crate::diagnostic::{Diagnostic, Diagnostics};
use crate::recursion::deep;
use crate::source::{Source, Span};
use crate::syntax::*;
use crate::token::{Keyword, Token, tokenize};

/// The deepest nesting that is accepted. Deeper text is a mistake or an attack.
pub(crate) const MAX_NESTING: usize = 1000;

/// Reads all declarations, reporting what is wrong.
pub(crate) fn parse(source: &Source, out: &mut Diagnostics) -> Vec<Declaration> {
    let mut parser = Parser {
        source,
        tokens: tokenize(source, out),
        at: 0,
        depth: 0,
        out,
    };
    parser.theory()
}

/// Reads one formula, as `logltn query` does.
pub(crate) fn parse_formula(source: &Source, out: &mut Diagnostics) -> Option<Expr> {
    let mut parser = Parser {
        source,
        tokens: tokenize(source, out),
        at: 0,
        depth: 0,
        out,
    };
    let formula = parser.expression().ok()?;
    parser.expect_end_of("formula").ok()?;
    Some(formula)
}

/// The error has been reported; go on at the next declaration.
struct Bail;

type Parsed<T> = Result<T, Bail>;

struct Parser<'a> {
    source: &'a Source,
    tokens: Vec<(Token, Span)>,
    at: usize,
    depth: usize,
    out: &'a mut Diagnostics,
}

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
    // --- moving about ---------------------------------------------------------------------------

    fn peek(&self) -> Token {
        self.tokens[self.at].0
    }

    fn span(&self) -> Span {
        self.tokens[self.at].1
    }

    fn previous_span(&self) -> Span {
        self.tokens[self.at.saturating_sub(1)].1
    }

    fn advance(&mut self) -> Span {
        let span = self.span();
        if self.at + 1 < self.tokens.len() {
            self.at += 1;
        }
        span
    }

    fn eat(&mut self, token: Token) -> bool {
        let found = self.peek() == token;
        if found {
            self.advance();
        }
        found
    }

    fn text(&self, span: Span) -> String {
        self.source.slice(span).to_string()
    }

    // --- reporting ------------------------------------------------------------------------------

    /// The current token in the user's words.
    fn found(&self) -> String {
        match self.peek() {
            Token::End => "the end of the file".to_string(),
            t if t.starts_declaration() => {
                format!(
                    "the next declaration (`{}`)",
                    self.source.slice(self.span())
                )
            }
            _ => format!("`{}`", self.source.slice(self.span())),
        }
    }

    fn error(&mut self, message: String, label: &str) -> Bail {
        self.error_with_help(message, label, None)
    }

    fn error_with_help(&mut self, message: String, label: &str, help: Option<String>) -> Bail {
        // An unreadable character has been reported by the lexer: its consequences are not news.
        if self.peek() != Token::Bad {
            let span = self.place();
            self.out.push(
                Diagnostic::error(message)
                    .at(self.source, span, label)
                    .maybe_help(help),
            );
        }
        Bail
    }

    /// Where to point: at the current token, or, when that is the end or another declaration, just
    /// after the last one, where the missing thing belongs.
    fn place(&self) -> Span {
        if self.peek() == Token::End || self.peek().starts_declaration() {
            self.previous_span().after()
        } else {
            self.span()
        }
    }

    fn expect(&mut self, token: Token, what: &str, context: &str) -> Parsed<Span> {
        if self.peek() == token {
            return Ok(self.advance());
        }
        let message = format!("expected {what} {context}, found {}", self.found());
        Err(self.error(message, &format!("expected {what}")))
    }

    /// A name, or with `reserved_too` any word: axioms and columns have namespaces of their own.
    fn name(&mut self, what: &str, reserved_too: bool) -> Parsed<Name> {
        let is_word = self
            .source
            .slice(self.span())
            .starts_with(|c: char| c.is_alphabetic() || c == '_');
        if self.peek() == Token::Name || (reserved_too && is_word) {
            let span = self.advance();
            return Ok(Name {
                text: self.text(span),
                span,
            });
        }
        let message = format!("expected {what}, found {}", self.found());
        let help = (is_word && !self.peek().starts_declaration())
            .then(|| format!("`{}` is a reserved word", self.source.slice(self.span())));
        Err(self.error_with_help(message, &format!("expected {what}"), help))
    }

    /// Skips to the next declaration, whether or not it starts on a line of its own.
    fn skip_to_declaration(&mut self) {
        while self.peek() != Token::End && !self.peek().starts_declaration() {
            self.advance();
        }
    }

    // --- declarations ---------------------------------------------------------------------------

    fn theory(&mut self) -> Vec<Declaration> {
        let mut declarations = Vec::new();
        while self.peek() != Token::End {
            if !self.peek().starts_declaration() {
                self.unexpected_at_top();
                self.skip_to_declaration();
                continue;
            }
            let start = self.at;
            self.depth = 0;
            match self.declaration() {
                Ok(declaration) => declarations.push(declaration),
                Err(Bail) => {
                    // Its name is known all the same: uses of it are not the mistake.
                    if let Some(&(Token::Name, span)) = self.tokens.get(start + 1) {
                        let name = Name {
                            text: self.text(span),
                            span,
                        };
                        if self.tokens[start].0 != Token::Keyword(Keyword::Axiom) {
                            declarations.push(Declaration::Broken(name));
                        }
                    }
                    if self.at == start {
                        self.advance();
                    }
                    self.skip_to_declaration();
                }
            }
        }
        declarations
    }

    fn unexpected_at_top(&mut self) {
        let word = self.source.slice(self.span());
        let known = [
            "sort",
            "table",
            "predicate",
            "function",
            "constant",
            "param",
            "axiom",
        ];
        let help = match crate::nearest(word, known) {
            Some(near) => format!("did you mean `{near}`?"),
            None => format!("a declaration starts with one of: {}", known.join(", ")),
        };
        let message = format!("expected a declaration, found {}", self.found());
        self.error_with_help(message, "", Some(help));
    }

    fn declaration(&mut self) -> Parsed<Declaration> {
        let start = self.advance();
        let keyword = self.tokens[self.at - 1].0;
        let declaration = match keyword {
            Token::Keyword(Keyword::Sort) => self.sort()?,
            Token::Keyword(Keyword::Table) => self.table()?,
            Token::Keyword(Keyword::Predicate) => {
                let name = self.name("the name of the predicate", false)?;
                Declaration::Predicate(name, self.argument_types("predicate")?)
            }
            Token::Keyword(Keyword::Function) => self.function()?,
            Token::Keyword(Keyword::Constant) => {
                let name = self.name("the name of the constant", false)?;
                let sort = self.colon_and_sort(&name, "constant")?;
                Declaration::Constant(name, sort)
            }
            Token::Keyword(Keyword::Param) => {
                Declaration::Param(self.name("the name of the param", false)?)
            }
            _ => return self.axiom(start),
        };
        let what = self.text(start);
        self.expect_end_of(&what)?;
        Ok(declaration)
    }

    fn expect_end_of(&mut self, what: &str) -> Parsed<()> {
        if self.peek() == Token::End || self.peek().starts_declaration() {
            return Ok(());
        }
        let message = format!("unexpected {} after the {what}", self.found());
        Err(self.error_with_help(
            message,
            "",
            Some("the next declaration should start here".to_string()),
        ))
    }

    fn sort(&mut self) -> Parsed<Declaration> {
        let name = self.name("the name of the sort", false)?;
        if !self.eat(Token::Equal) {
            return Ok(Declaration::Sort(name, SortDefinition::Data));
        }
        let definition = if self.eat(Token::OpenBrace) {
            let mut labels = Vec::new();
            while self.peek() != Token::CloseBrace {
                labels.push(self.name("a label", false)?);
                if !self.eat(Token::Comma) {
                    break;
                }
            }
            let close = self.expect(Token::CloseBrace, "`}` or `,`", "after a label")?;
            if labels.is_empty() {
                self.out.push(
                    Diagnostic::error(format!("sort `{}` has no labels", name.text))
                        .at(self.source, name.span.to(close), "")
                        .help("name at least one: `{red, green}`"),
                );
                SortDefinition::Error
            } else {
                SortDefinition::Labels(labels)
            }
        } else {
            self.integer_range(&name)?
        };
        Ok(Declaration::Sort(name, definition))
    }

    fn integer_range(&mut self, name: &Name) -> Parsed<SortDefinition> {
        let first = self.span();
        let low = self.signed_integer("the first integer of the sort, or `{`")?;
        self.expect(Token::Range, "`..`", "between the two ends of the sort")?;
        let high = self.signed_integer("the last integer of the sort")?;
        let span = first.to(self.previous_span());
        let error = if low > high {
            Diagnostic::error(format!("sort `{}` is empty", name.text))
                .at(self.source, span, "the first end is above the second")
                .help(format!("did you mean `{high}..{low}`?"))
        } else if high.checked_sub(low).is_none_or(|n| n >= u32::MAX as i64) {
            Diagnostic::error(format!("sort `{}` has too many integers", name.text))
                .at(self.source, span, "")
                .help("a sort has at most 4,294,967,294 individuals")
        } else {
            return Ok(SortDefinition::Range(low, high));
        };
        self.out.push(error);
        Ok(SortDefinition::Error)
    }

    fn signed_integer(&mut self, what: &str) -> Parsed<i64> {
        let negative = self.eat(Token::Minus);
        if let Token::Integer(n) = self.peek() {
            let value = if negative {
                Some((n as i64).wrapping_neg())
            } else {
                i64::try_from(n).ok()
            };
            if let Some(value) = value {
                self.advance();
                return Ok(value);
            }
        }
        let help = matches!(self.peek(), Token::Number(_))
            .then(|| "the ends of a sort are integers, as in `0..4`".to_string());
        let message = format!("expected {what}, found {}", self.found());
        Err(self.error_with_help(message, "expected an integer", help))
    }

    fn table(&mut self) -> Parsed<Declaration> {
        let name = self.name("the name of the table", false)?;
        self.expect(Token::Open, "`(`", "before the columns of the table")?;
        let mut columns = Vec::new();
        while self.peek() != Token::Close {
            let column = self.name("the name of a column", true)?;
            if self.peek() != Token::Colon {
                let message = format!(
                    "column `{}` has no sort: expected `:`, found {}",
                    column.text,
                    self.found()
                );
                let help = format!(
                    "write `{}: S`, with `Int` or `Real` for numbers",
                    column.text
                );
                return Err(self.error_with_help(message, "expected `:`", Some(help)));
            }
            self.advance();
            columns.push((column, self.type_name("a sort, `Int` or `Real`")?));
            if !self.eat(Token::Comma) {
                break;
            }
        }
        let close = self.expect(Token::Close, "`)` or `,`", "after a column")?;
        if columns.is_empty() {
            self.out.push(
                Diagnostic::error(format!("table `{}` has no columns", name.text))
                    .at(self.source, name.span.to(close), "")
                    .help("name at least one: `(x: S)`"),
            );
            return Ok(Declaration::Broken(name));
        }
        Ok(Declaration::Table(name, columns))
    }

    fn function(&mut self) -> Parsed<Declaration> {
        let name = self.name("the name of the function", false)?;
        let arguments = self.argument_types("function")?;
        if !self.eat(Token::Colon) {
            let message = format!(
                "function `{}` has no result: expected `:`, found {}",
                name.text,
                self.found()
            );
            let help = "write `: S`, `: Real` or `: Real[8]`".to_string();
            self.error_with_help(message, "expected `:`", Some(help));
            return Ok(Declaration::Function(name, arguments, None));
        }
        let result = self.type_name("a sort, `Real` or `Real[k]`")?;
        Ok(Declaration::Function(name, arguments, Some(result)))
    }

    fn argument_types(&mut self, what: &str) -> Parsed<Vec<TypeName>> {
        let context = format!("before the sorts of the {what}'s arguments");
        self.expect(Token::Open, "`(`", &context)?;
        let mut sorts = Vec::new();
        while self.peek() != Token::Close {
            sorts.push(self.type_name("a sort")?);
            if self.peek() == Token::Colon {
                let message = format!("the arguments of a {what} are sorts without names");
                let help = "write only the sort".to_string();
                return Err(self.error_with_help(message, "", Some(help)));
            }
            if !self.eat(Token::Comma) {
                break;
            }
        }
        self.expect(Token::Close, "`)` or `,`", "after a sort")?;
        Ok(sorts)
    }

    fn type_name(&mut self, what: &str) -> Parsed<TypeName> {
        if self.peek() == Token::Keyword(Keyword::Int) {
            return Ok(TypeName::Int(self.advance()));
        }
        if self.peek() != Token::Keyword(Keyword::Real) {
            return Ok(TypeName::Sort(self.name(what, false)?));
        }
        let start = self.advance();
        if !self.eat(Token::OpenBracket) {
            return Ok(TypeName::Real);
        }
        let width = match self.peek() {
            Token::Integer(n @ 1..=1_000_000) => n as usize,
            _ => {
                let message = format!("expected a width, found {}", self.found());
                let help = "a vector has 1 to 1,000,000 numbers, as in `Real[8]`".to_string();
                return Err(self.error_with_help(message, "", Some(help)));
            }
        };
        self.advance();
        let end = self.expect(Token::CloseBracket, "`]`", "after the width")?;
        Ok(TypeName::Vector(width, start.to(end)))
    }

    fn colon_and_sort(&mut self, name: &Name, what: &str) -> Parsed<Option<Name>> {
        if self.eat(Token::Colon) {
            return Ok(Some(self.name("a sort", false)?));
        }
        let message = format!(
            "expected `:` and the sort of {what} `{}`, found {}",
            name.text,
            self.found()
        );
        let help = match self.peek() {
            Token::Name => format!("write `{}: {}`", name.text, self.source.slice(self.span())),
            _ => format!("write `{}: S`", name.text),
        };
        let repairable = self.peek() == Token::Name;
        self.error_with_help(message, "expected `:`", Some(help));
        if repairable {
            return Ok(Some(self.name("a sort", false)?));
        }
        Ok(None)
    }

    fn axiom(&mut self, start: Span) -> Parsed<Declaration> {
        let name = if self.peek() == Token::Colon {
            let message = "this axiom has no name".to_string();
            let help = "write `axiom some_name: …`".to_string();
            self.error_with_help(message, "expected a name", Some(help));
            Name {
                text: String::new(),
                span: self.span(),
            }
        } else {
            self.name("the name of the axiom", true)?
        };
        let weight = self.weight()?;
        let family = if self.eat(Token::Keyword(Keyword::For)) {
            let binding = self.sorted_names("for")?;
            Some((binding, self.guard()?))
        } else {
            None
        };
        if !self.eat(Token::Colon) {
            let message = format!(
                "expected `:` before the formula of axiom `{}`, found {}",
                name.text,
                self.found()
            );
            let repairable = self.peek().starts_expression();
            let bail = self.error(message, "expected `:`");
            if !repairable {
                return Err(bail);
            }
        }
        let formula = self.expression()?;
        self.expect_end_of_formula()?;
        Ok(Declaration::Axiom(AxiomSyntax {
            name,
            weight,
            family,
            span: start.to(formula.span),
            formula,
        }))
    }

    fn expect_end_of_formula(&mut self) -> Parsed<()> {
        if self.peek() == Token::Close {
            let message = "this `)` closes nothing".to_string();
            let help = "remove it, or open a parenthesis before".to_string();
            return Err(self.error_with_help(message, "no parenthesis is open here", Some(help)));
        }
        if self.peek().starts_expression() {
            let message = format!("unexpected {} after the end of a formula", self.found());
            let help = "join formulas with `and`, `or`, `->` or `<->`".to_string();
            return Err(self.error_with_help(message, "expected a connective", Some(help)));
        }
        if self.peek() == Token::Dot {
            let message = "this dot ends nothing".to_string();
            let help = "a dot stands between a quantifier and its body only".to_string();
            return Err(self.error_with_help(message, "", Some(help)));
        }
        self.expect_end_of("formula")
    }

    fn weight(&mut self) -> Parsed<Option<(f64, Span)>> {
        if self.peek() != Token::Open {
            return Ok(None);
        }
        self.advance();
        if self.source.slice(self.span()) != "weight" {
            let message = format!("expected `weight`, found {}", self.found());
            let help = "write `axiom name (weight 2): …`".to_string();
            return Err(self.error_with_help(message, "expected `weight`", Some(help)));
        }
        self.advance();
        let start = self.span();
        let negative = self.eat(Token::Minus);
        let value = match self.peek() {
            Token::Integer(n) => Some(n as f64),
            Token::Number(x) => Some(x),
            _ => None,
        };
        let mut weight = value.map(|value| (value, start));
        if value.is_some() {
            self.advance();
        }
        if value.is_none() || negative {
            let found = if value.is_some() {
                format!("`{}`", self.source.slice(start.to(self.previous_span())))
            } else {
                self.found()
            };
            let span = start.to(if value.is_some() {
                self.previous_span()
            } else {
                self.span()
            });
            self.out.push(
                Diagnostic::error(format!("a weight is a number of 0 or more, found {found}"))
                    .at(self.source, span, "")
                    .help("a negated axiom is written with `not`, not with a negative weight"),
            );
            weight = None;
            while !matches!(
                self.peek(),
                Token::Close | Token::Colon | Token::End | Token::Keyword(_)
            ) {
                self.advance();
            }
        }
        self.expect(Token::Close, "`)`", "after the weight")?;
        Ok(weight)
    }

    // --- quantifiers ----------------------------------------------------------------------------

    /// `x, y: S, z: T`
    fn sorted_names(&mut self, binder: &str) -> Parsed<Vec<(Name, Option<Name>)>> {
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
            if !self.eat(Token::Comma) {
                return Ok(bound);
            }
        }
    }

    fn guard(&mut self) -> Parsed<Option<Expr>> {
        if self.eat(Token::Keyword(Keyword::Where)) {
            return Ok(Some(self.expression()?));
        }
        Ok(None)
    }

    fn quantified(&mut self, quantifier: Quantifier) -> Parsed<Expr> {
        let quantifier_span = self.advance();
        let binding = if self.peek() == Token::Open {
            self.advance();
            let mut names = Vec::new();
            while self.peek() != Token::Close {
                names.push(self.name("a variable", false)?);
                if !self.eat(Token::Comma) {
                    break;
                }
            }
            if self.peek() == Token::Colon {
                let message = "parentheses bind the rows of a table".to_string();
                let help = format!(
                    "write `{0} (x, y) in table. …` for rows, `{0} x: S, y: S. …` for sorts",
                    quantifier.word()
                );
                return Err(self.error_with_help(message, "", Some(help)));
            }
            self.expect(Token::Close, "`)` or `,`", "after a variable")?;
            self.expect(
                Token::Keyword(Keyword::In),
                "`in` and a table",
                "after the variables of its row",
            )?;
            Binding::Rows(names, self.name("a table", false)?)
        } else {
            Binding::Sorts(self.sorted_names(quantifier.word())?)
        };
        let guard = self.guard()?;
        if !self.eat(Token::Dot) {
            let message = format!(
                "expected `.` before the body of `{}`, found {}",
                quantifier.word(),
                self.found()
            );
            let repairable = self.peek().starts_expression() || self.peek() == Token::Colon;
            let help = match (self.peek(), &guard) {
                (Token::Colon, _) => "write `.` instead of `:`".to_string(),
                (_, Some(_)) => "the guard ends with a dot: `where guard. body`".to_string(),
                (_, None) => "write `x: S. body`, or `x: S where guard. body`".to_string(),
            };
            let bail = self.error_with_help(message, "expected `.`", Some(help));
            if !repairable {
                return Err(bail);
            }
            self.eat(Token::Colon);
        }
        let body = self.expression()?;
        Ok(Expr {
            span: quantifier_span.to(body.span),
            kind: ExprKind::Quantified(Box::new(Quantified {
                quantifier,
                quantifier_span,
                binding,
                guard,
                body,
            })),
        })
    }

    // --- expressions ----------------------------------------------------------------------------

    fn expression(&mut self) -> Parsed<Expr> {
        self.binding_at_least(Binds::Iff)
    }

    /// One level deeper; refuses what nests too deep.
    fn deeper<T>(&mut self, read: impl FnOnce(&mut Self) -> Parsed<T>) -> Parsed<T> {
        if self.depth >= MAX_NESTING {
            let message = format!("nested deeper than {MAX_NESTING} levels");
            let help = "split the formula into several axioms".to_string();
            return Err(self.error_with_help(message, "too deep here", Some(help)));
        }
        self.depth += 1;
        let result = deep(|| read(self));
        self.depth -= 1;
        result
    }

    fn binding_at_least(&mut self, least: Binds) -> Parsed<Expr> {
        let mut left = self.operand(least)?;
        loop {
            left = match self.peek() {
                Token::Star | Token::Slash | Token::Percent if least <= Binds::Product => {
                    self.product(left)?
                }
                Token::Plus | Token::Minus if least <= Binds::Sum => self.sum(left)?,
                Token::Equal
                | Token::NotEqual
                | Token::Less
                | Token::LessEqual
                | Token::Greater
                | Token::GreaterEqual
                    if least <= Binds::Compare =>
                {
                    self.comparison(left)?
                }
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
                    Expr {
                        span: left.span.to(right.span),
                        kind: ExprKind::Implies(Box::new(left), Box::new(right)),
                    }
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
        if self.peek() == Token::Iff {
            let span = self.span();
            self.out.push(
                Diagnostic::error("`<->` does not chain")
                    .at(self.source, span, "second `<->`")
                    .mark(operator, "first `<->`")
                    .help(
                        "group with parentheses: `(a <-> b) and (b <-> c)`, or `a <-> (b <-> c)`",
                    ),
            );
        }
        Ok(Expr {
            span: left.span.to(right.span),
            kind: ExprKind::Iff(Box::new(left), Box::new(right)),
        })
    }

    fn comparison(&mut self, left: Expr) -> Parsed<Expr> {
        let operator = match self.peek() {
            Token::Equal => Comparison::Equal,
            Token::NotEqual => Comparison::NotEqual,
            Token::Less => Comparison::Less,
            Token::LessEqual => Comparison::LessEqual,
            Token::Greater => Comparison::Greater,
            _ => Comparison::GreaterEqual,
        };
        if let ExprKind::Compare(_, a, b) = &left.kind
            // `(a < b) = c` is a different mistake, and the resolver's.
            && !self.source.slice(left.span).starts_with('(')
        {
            let (a, b) = (self.source.slice(a.span), self.source.slice(b.span));
            let help = format!("write `{a} … {b} and {b} …`");
            return Err(self.error_with_help(
                "comparisons do not chain".to_string(),
                "second comparison",
                Some(help),
            ));
        }
        self.advance();
        let right = self.binding_at_least(Binds::Sum)?;
        Ok(Expr {
            span: left.span.to(right.span),
            kind: ExprKind::Compare(operator, Box::new(left), Box::new(right)),
        })
    }

    fn sum(&mut self, left: Expr) -> Parsed<Expr> {
        let start = left.span;
        let mut members = vec![(Sign::Plus, left)];
        loop {
            let sign = match self.peek() {
                Token::Plus => Sign::Plus,
                Token::Minus => Sign::Minus,
                _ => break,
            };
            self.advance();
            members.push((sign, self.binding_at_least(Binds::Product)?));
        }
        Ok(Expr {
            span: start.to(self.previous_span()),
            kind: ExprKind::Sum(members),
        })
    }

    fn product(&mut self, left: Expr) -> Parsed<Expr> {
        let start = left.span;
        let mut members = vec![(Factor::Times, left)];
        loop {
            let factor = match self.peek() {
                Token::Star => Factor::Times,
                Token::Slash => Factor::Over,
                Token::Percent => Factor::Modulo,
                _ => break,
            };
            self.advance();
            members.push((factor, self.binding_at_least(Binds::Negative)?));
        }
        Ok(Expr {
            span: start.to(self.previous_span()),
            kind: ExprKind::Product(members),
        })
    }

    fn operand(&mut self, least: Binds) -> Parsed<Expr> {
        let start = self.span();
        match self.peek() {
            Token::Not if least <= Binds::Not => {
                self.advance();
                let inner = self.deeper(|p| p.binding_at_least(Binds::Not))?;
                Ok(Expr {
                    span: start.to(inner.span),
                    kind: ExprKind::Not(Box::new(inner)),
                })
            }
            Token::Minus => {
                self.advance();
                let inner = self.deeper(|p| p.binding_at_least(Binds::Negative))?;
                Ok(Expr {
                    span: start.to(inner.span),
                    kind: ExprKind::Negative(Box::new(inner)),
                })
            }
            Token::Forall => self.deeper(|p| p.quantified(Quantifier::Forall)),
            Token::Exists => self.deeper(|p| p.quantified(Quantifier::Exists)),
            Token::All => self.deeper(|p| p.quantified(Quantifier::All)),
            Token::Any => self.deeper(|p| p.quantified(Quantifier::Any)),
            Token::Open => self.parenthesis(),
            Token::Integer(n) => {
                self.advance();
                Ok(Expr {
                    kind: ExprKind::Integer(n),
                    span: start,
                })
            }
            Token::Number(x) => {
                self.advance();
                Ok(Expr {
                    kind: ExprKind::Number(x),
                    span: start,
                })
            }
            Token::Name => self.name_or_call(),
            Token::Bad => {
                // Reported by the lexer; the rest of the formula can still be read.
                self.advance();
                if self.peek().starts_expression() {
                    return self.deeper(|p| p.operand(least));
                }
                Ok(Expr {
                    kind: ExprKind::Error,
                    span: start,
                })
            }
            _ => {
                let message = format!("expected a formula, found {}", self.found());
                let help = match self.peek() {
                    Token::Keyword(Keyword::Where) => Some(
                        "a guard follows the variables: `forall x: S where guard. body`".into(),
                    ),
                    Token::Not => Some("negate the whole comparison: `not (a < b)`".into()),
                    Token::And | Token::Or | Token::Implies | Token::Iff => {
                        Some("a connective stands between two formulas".into())
                    }
                    _ => None,
                };
                Err(self.error_with_help(message, "expected a formula", help))
            }
        }
    }

    fn parenthesis(&mut self) -> Parsed<Expr> {
        let open = self.advance();
        let inner = self.deeper(|p| p.expression())?;
        let close = self.close(open, "a formula")?;
        // The parenthesis belongs to the place of the formula, and tells `(a < b) = c` from a chain.
        Ok(Expr {
            span: open.to(close),
            kind: inner.kind,
        })
    }

    /// `)`, or a message that shows the parenthesis that is still open.
    fn close(&mut self, open: Span, after: &str) -> Parsed<Span> {
        if self.peek() == Token::Close {
            return Ok(self.advance());
        }
        let ended = self.peek() == Token::End || self.peek().starts_declaration();
        if self.peek() != Token::Bad {
            let message = if ended {
                "this parenthesis is never closed".to_string()
            } else {
                format!(
                    "expected `)` or a connective after {after}, found {}",
                    self.found()
                )
            };
            let place = self.place();
            let error = Diagnostic::error(message);
            self.out.push(if ended {
                error
                    .at(self.source, open, "opened here")
                    .mark(place, "expected `)`")
            } else {
                error
                    .at(self.source, place, "expected `)`")
                    .mark(open, "opened here")
            });
        }
        if ended {
            // Only the parenthesis is missing: what was read is whole.
            return Ok(self.previous_span());
        }
        Err(Bail)
    }

    fn name_or_call(&mut self) -> Parsed<Expr> {
        let span = self.advance();
        let name = Name {
            text: self.text(span),
            span,
        };
        if self.peek() != Token::Open {
            return Ok(Expr {
                kind: ExprKind::Name(name.text),
                span,
            });
        }
        let open = self.advance();
        let mut arguments = Vec::new();
        while self.peek() != Token::Close {
            arguments.push(self.deeper(|p| p.expression())?);
            if !self.eat(Token::Comma) {
                break;
            }
        }
        let close = self.close(open, "an argument")?;
        Ok(Expr {
            kind: ExprKind::Call(name, arguments),
            span: span.to(close),
        })
    }
}

fn spanning(members: Vec<Expr>, kind: fn(Vec<Expr>) -> ExprKind) -> Expr {
    let span = match (members.first(), members.last()) {
        (Some(a), Some(b)) => a.span.to(b.span),
        _ => Span::default(),
    };
    Expr {
        kind: kind(members),
        span,
    }
}
