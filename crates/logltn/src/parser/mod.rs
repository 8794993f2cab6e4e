//! Tokens to [syntax](crate::syntax): recursive descent with one precedence ladder.
//!
//! Written by hand rather than with a combinator crate for the sake of the messages: the parser knows its context,
//! repairs what it can (a missing dot or colon is reported and taken as read), and starts afresh at the next
//! declaration where it cannot. See `docs/design.md`.

mod expression;

use std::fmt::Display;

use crate::diagnostic::{Code, Diagnostic, Diagnostics, shortened};
use crate::source::{Source, Span};
use crate::syntax::*;
use crate::token::{Keyword, Token, tokenize, unquoted};

/// The deepest nesting that is accepted. Deeper text is a mistake or an attack.
pub(crate) const MAX_NESTING: usize = 1000;

/// The greatest depth of a definition.
const MAX_DEPTH: u32 = 1_000_000;

/// Reads all declarations, reporting what is wrong.
pub(crate) fn parse(source: &Source, out: &mut Diagnostics) -> Vec<Declaration> {
    Parser::new(source, Unit::Theory, out).theory()
}

/// The tokens of a theory, and which of them begin declarations: what the formatter lays out.
pub(crate) fn parse_layout(source: &Source, out: &mut Diagnostics) -> Layout {
    let mut parser = Parser::new(source, Unit::Theory, out);
    parser.theory();
    Layout {
        tokens: parser.tokens,
        starts: parser.starts,
    }
}

/// See [`parse_layout`].
pub(crate) struct Layout {
    pub tokens: Vec<(Token, Span)>,
    pub starts: Vec<usize>,
}

/// Reads one formula, as `logltn query` does.
pub(crate) fn parse_formula(source: &Source, out: &mut Diagnostics) -> Option<Expr> {
    let mut parser = Parser::new(source, Unit::Formula, out);
    let formula = parser.expression().ok()?;
    parser.expect_end_of_formula().ok()?;
    Some(formula)
}

/// Reads a question: a formula, or one that begins with `find`, which binds like a quantifier; says which.
pub(crate) fn parse_query(
    source: &Source,
    find_is_predicate: bool,
    out: &mut Diagnostics,
) -> Option<(Expr, bool)> {
    let mut parser = Parser::new(source, Unit::Formula, out);
    let open = parser.at_find(find_is_predicate);
    let formula = match open {
        true => parser.binder(Quantifier::Forall, "find"),
        false => parser.expression(),
    };
    let formula = formula.ok()?;
    parser.expect_end_of_formula().ok()?;
    Some((formula, open))
}

/// The whole text must be an expression of this kind.
#[derive(Clone, Copy, PartialEq)]
enum Unit {
    Theory,
    Formula,
}

/// The error has been reported; continue at the next declaration.
struct Bail;

type Parsed<T> = Result<T, Bail>;

struct Parser<'a> {
    source: &'a Source,
    tokens: Vec<(Token, Span)>,
    at: usize,
    /// Where declarations begin.
    starts: Vec<usize>,
    depth: usize,
    unit: Unit,
    /// What kind of expression is being read, for messages.
    expected: &'static str,
    /// Reserved words in the place of a name: reported once, not at every use.
    misused: Vec<Token>,
    out: &'a mut Diagnostics,
}

const DECLARATION_WORDS: [(&str, Keyword); 8] = [
    ("sort", Keyword::Sort),
    ("table", Keyword::Table),
    ("predicate", Keyword::Predicate),
    ("function", Keyword::Function),
    ("constant", Keyword::Constant),
    ("param", Keyword::Param),
    ("axiom", Keyword::Axiom),
    ("define", Keyword::Define),
];

impl<'a> Parser<'a> {
    fn new(source: &'a Source, unit: Unit, out: &'a mut Diagnostics) -> Parser<'a> {
        Parser {
            source,
            tokens: tokenize(source, out),
            at: 0,
            starts: Vec::new(),
            depth: 0,
            unit,
            expected: "a formula",
            misused: Vec::new(),
            out,
        }
    }

    /// Whether the text begins with the binder `find`. Where a predicate has that name, `find(x)` is an atom, but
    /// `find (x) in rows` is not.
    fn at_find(&self, is_predicate: bool) -> bool {
        if self.peek() != Token::Name || self.source.slice(self.span()) != "find" {
            return false;
        }
        let mut after = self.tokens[self.at + 1..].iter().map(|t| t.0);
        if !is_predicate || after.next() != Some(Token::Open) {
            return true;
        }
        let mut open = 1;
        for token in after.by_ref() {
            match token {
                Token::Open => open += 1,
                Token::Close => open -= 1,
                _ => {}
            }
            if open == 0 {
                break;
            }
        }
        after.next() == Some(Token::Keyword(Keyword::In))
    }

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

    /// A name, or what is in quotes.
    fn text(&self, span: Span) -> String {
        let text = self.source.slice(span);
        match text.starts_with('"') {
            true => unquoted(text),
            false => text.to_string(),
        }
    }

    /// The current token as a short quotation.
    fn quoted(&self) -> String {
        format!("`{}`", shortened(self.source.slice(self.span())))
    }

    /// Whether the current expression or declaration cannot continue here.
    fn at_end(&self) -> bool {
        self.peek() == Token::End || self.at_declaration()
    }

    /// Whether a declaration starts here: with its keyword, or with two words at the start of a line,
    /// of which the first must be a misspelt keyword. Nothing else starts with two words.
    fn at_declaration(&self) -> bool {
        self.peek().starts_declaration() || self.at_definition() || self.at_misspelt_declaration()
    }

    /// `define NAME(`: `define` is not reserved, but nothing else starts with two words and a parenthesis.
    fn at_definition(&self) -> bool {
        let next = |n: usize| self.tokens.get(self.at + n).map(|t| t.0);
        self.unit == Unit::Theory
            && self.at_word("define")
            && next(1) == Some(Token::Name)
            && next(2) == Some(Token::Open)
    }

    /// Whether the current word has a meaning in this place only.
    fn at_word(&self, word: &str) -> bool {
        self.peek() == Token::Name && self.source.slice(self.span()) == word
    }

    fn at_misspelt_declaration(&self) -> bool {
        if self.unit == Unit::Formula || self.peek() != Token::Name {
            return false;
        }
        let next = self.tokens.get(self.at + 1).map(|t| t.0);
        next == Some(Token::Name)
            && (self.at == 0 || {
                let (before, here) = (self.previous_span().end, self.span().start);
                let gap = Span {
                    start: before,
                    end: here,
                };
                self.source.slice(gap).contains('\n')
            })
    }

    // --- reporting ------------------------------------------------------------------------------

    /// The current token in the user's words.
    fn found(&self) -> String {
        match (self.peek(), self.unit) {
            (Token::End, Unit::Theory) => "the end of the file".to_string(),
            (Token::End, Unit::Formula) => "the end of the text".to_string(),
            (t, Unit::Theory) if t.starts_declaration() => {
                format!("the next declaration ({})", self.quoted())
            }
            _ => self.quoted(),
        }
    }

    fn refuse(&mut self, message: impl Into<String>, label: &str, help: impl Into<String>) -> Bail {
        self.report(
            Code::UnexpectedToken,
            message.into(),
            label,
            Some(help.into()),
        )
    }

    /// That there is something else instead of what was expected.
    fn missing(&mut self, expected: impl Display, label: &str, help: impl Into<String>) -> Bail {
        let message = format!("{expected}, found {}", self.found());
        self.refuse(message, label, help)
    }

    fn report(&mut self, code: Code, message: String, label: &str, help: Option<String>) -> Bail {
        // An unreadable character has been reported by the lexer; errors that follow from it are not reported.
        if self.peek() != Token::Bad && !self.misused.contains(&self.peek()) {
            let span = self.place();
            self.out.push(
                Diagnostic::error(code, message)
                    .at(self.source, span, label)
                    .maybe_help(help),
            );
        }
        Bail
    }

    /// Where to point: at the current token, or, when that is the end or another declaration, just
    /// after the last one, where the missing thing belongs.
    fn place(&self) -> Span {
        if self.at > 0 && self.at_end() {
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
        Err(self.report(
            Code::UnexpectedToken,
            message,
            &format!("expected {what}"),
            None,
        ))
    }

    /// A name, or with `reserved_too` any word: axioms and columns have their own namespaces.
    fn name(&mut self, what: &str, reserved_too: bool) -> Parsed<Name> {
        let is_word = self
            .source
            .slice(self.span())
            .starts_with(|c: char| c.is_alphabetic() || c == '_');
        if self.peek() == Token::Name || (reserved_too && is_word) {
            return Ok(self.word());
        }
        if self.peek() == Token::Label {
            self.name_in_quotes();
            return Ok(self.word());
        }
        let message = format!("expected {what}, found {}", self.found());
        let label = format!("expected {what}");
        if !is_word || self.at_declaration() || self.peek() == Token::Bad {
            return Err(self.report(Code::UnexpectedToken, message, &label, None));
        }
        let help = format!("{} is a reserved word: choose another name", self.quoted());
        self.report(Code::ReservedName, message, &label, Some(help));
        self.misused.push(self.peek());
        Err(Bail)
    }

    /// Goes past a name or a label.
    fn word(&mut self) -> Name {
        let span = self.advance();
        let text = self.text(span);
        Name { text, span }
    }

    /// What stands between commas, up to a closing token.
    fn list<T>(
        &mut self,
        close: Token,
        mut item: impl FnMut(&mut Self) -> Parsed<T>,
    ) -> Parsed<Vec<T>> {
        let mut items = Vec::new();
        while self.peek() != close {
            items.push(item(self)?);
            if !self.eat(Token::Comma) {
                break;
            }
        }
        Ok(items)
    }

    /// Only labels may be in quotes.
    fn name_in_quotes(&mut self) {
        let help = format!("write `{}`", shortened(&self.text(self.span())));
        self.refuse("names are written without quotes", "", help);
    }

    fn label(&mut self) -> Parsed<Name> {
        match self.peek() {
            Token::Label => Ok(self.word()),
            _ => self.name("a label", false),
        }
    }

    /// Skips to the next declaration, whether or not it starts on its own line.
    fn skip_to_declaration(&mut self) {
        while !self.at_end() {
            self.advance();
        }
    }

    // --- declarations ---------------------------------------------------------------------------

    fn theory(&mut self) -> Vec<Declaration> {
        let mut declarations = Vec::new();
        while self.peek() != Token::End {
            let keyword = match self.peek() {
                Token::Keyword(keyword) if self.peek().starts_declaration() => Some(keyword),
                _ if self.at_word("define") => Some(Keyword::Define),
                _ => self.unexpected_at_top(),
            };
            let start = self.at;
            self.starts.push(start);
            self.advance();
            let Some(keyword) = keyword else {
                self.skip_to_declaration();
                continue;
            };
            self.depth = 0;
            self.expected = "a formula";
            match self.declaration(keyword) {
                Ok(declaration) => declarations.push(declaration),
                Err(Bail) => {
                    // Its name is declared anyway, so that its uses are not reported.
                    if let Some(&(Token::Name, span)) = self.tokens.get(start + 1)
                        && keyword != Keyword::Axiom
                    {
                        let text = self.text(span);
                        declarations.push(Declaration::Broken(Name { text, span }));
                    }
                    self.skip_to_declaration();
                }
            }
        }
        declarations
    }

    /// Reports what is not a declaration. If it is a misspelt one, says which.
    fn unexpected_at_top(&mut self) -> Option<Keyword> {
        let words = DECLARATION_WORDS.map(|(word, _)| word);
        let near = crate::nearest(self.source.slice(self.span()), words);
        let help = match near {
            Some(near) => format!("did you mean `{near}`?"),
            None => format!("a declaration starts with one of: {}", words.join(", ")),
        };
        let message = format!("expected a declaration, found {}", self.found());
        let span = self.span();
        if self.peek() != Token::Bad {
            let error = Diagnostic::error(Code::UnexpectedToken, message).at(self.source, span, "");
            self.out.push(error.help(help));
        }
        let near = near?;
        let meant = DECLARATION_WORDS.iter().find(|(word, _)| *word == near);
        meant.map(|(_, keyword)| *keyword)
    }

    /// A declaration, its first word already read.
    fn declaration(&mut self, keyword: Keyword) -> Parsed<Declaration> {
        let start = self.previous_span();
        let (what, declaration) = match keyword {
            Keyword::Sort => ("sort", self.sort()?),
            Keyword::Table => ("table", self.table()?),
            Keyword::Predicate => {
                let name = self.name("the name of the predicate", false)?;
                let arguments = self.argument_types("predicate")?;
                ("predicate", Declaration::Predicate(name, arguments))
            }
            Keyword::Function => ("function", self.function()?),
            Keyword::Constant => {
                let name = self.name("the name of the constant", false)?;
                let sort = self.colon_and_sort(&name, "constant")?;
                ("constant", Declaration::Constant(name, sort))
            }
            Keyword::Param => {
                let name = self.name("the name of the param", false)?;
                ("param", Declaration::Param(name))
            }
            Keyword::Define => return self.definition(start),
            _ => return self.axiom(start),
        };
        // What follows is wrong, but the declaration is complete.
        if self.expect_end_of(what).is_err() {
            self.skip_to_declaration();
        }
        Ok(declaration)
    }

    fn expect_end_of(&mut self, what: &str) -> Parsed<()> {
        if self.at_end() {
            return Ok(());
        }
        let message = format!("unexpected {} after the {what}", self.found());
        let help = match (self.peek(), what) {
            (_, "formula") if self.unit == Unit::Formula => "a query is one formula",
            (Token::Equal, "param" | "constant") => {
                "the manifest gives it its value; a theory only names it"
            }
            _ => "the next declaration should start here",
        };
        Err(self.refuse(message, "", help))
    }

    fn sort(&mut self) -> Parsed<Declaration> {
        let name = self.name("the name of the sort", false)?;
        if !self.eat(Token::Equal) {
            return Ok(Declaration::Sort(name, SortDefinition::Data));
        }
        let definition = if self.eat(Token::OpenBrace) {
            let mut labels = Vec::new();
            while self.peek() != Token::CloseBrace {
                match self.label() {
                    Ok(label) => labels.push(label),
                    // The other labels are declared anyway.
                    Err(Bail) if matches!(self.peek(), Token::Name | Token::Bad) => {
                        self.advance();
                    }
                    Err(Bail) if self.misused.contains(&self.peek()) => {
                        self.advance();
                    }
                    Err(bail) => return Err(bail),
                }
                if !self.eat(Token::Comma) {
                    break;
                }
            }
            let whole = labels.len();
            let close = match self.expect(Token::CloseBrace, "`}` or `,`", "after a label") {
                Ok(close) => close,
                Err(Bail) => {
                    // Words that only lack a comma or the brace are taken as labels.
                    while matches!(self.peek(), Token::Name | Token::Label | Token::Comma)
                        && !self.at_declaration()
                    {
                        if !self.eat(Token::Comma) {
                            labels.push(self.label()?);
                        }
                    }
                    self.eat(Token::CloseBrace);
                    self.previous_span()
                }
            };
            if whole == 0 && labels.is_empty() {
                let what = format!("sort `{}` has no labels", name.text);
                let error = Diagnostic::error(Code::EmptySort, what);
                let error = error.at(self.source, name.span.to(close), "");
                self.out
                    .push(error.help("name at least one: `{red, green}`"));
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
        if matches!(self.peek(), Token::OpenBracket | Token::Open | Token::Name) {
            let help = "labels go in braces, `{red, green}`; integers are a range, `0..9`";
            return Err(self.missing("expected `{` or an integer", "expected `{`", help));
        }
        let low = self.signed_integer("the first integer of the sort, or `{`")?;
        self.expect(Token::Range, "`..`", "between the two ends of the sort")?;
        let high = self.signed_integer("the last integer of the sort")?;
        let span = first.to(self.previous_span());
        let error = if low > high {
            Diagnostic::error(Code::EmptySort, format!("sort `{}` is empty", name.text))
                .at(self.source, span, "the first end is above the second")
                .help(format!("did you mean `{high}..{low}`?"))
        } else if high.checked_sub(low).is_none_or(|n| n >= u32::MAX as i64) {
            Diagnostic::error(
                Code::TooManyIndividuals,
                format!("sort `{}` has too many integers", name.text),
            )
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
        let help = match self.peek() {
            Token::Integer(_) => Some(format!("integers are 64-bit: at most {}", i64::MAX)),
            Token::Number(_) => Some("the ends of a sort are integers, as in `0..4`".to_string()),
            _ => None,
        };
        let message = format!("expected {what}, found {}", self.found());
        Err(self.report(Code::UnexpectedToken, message, "expected an integer", help))
    }

    fn table(&mut self) -> Parsed<Declaration> {
        let name = self.name("the name of the table", false)?;
        self.expect(Token::Open, "`(`", "before the columns of the table")?;
        let columns = self.list(Token::Close, |p| {
            let column = p.name("the name of a column", true)?;
            if !p.eat(Token::Colon) {
                let what = format!("column `{}` has no sort: expected `:`", column.text);
                let help = format!(
                    "write `{}: S`, with `Int` or `Real` for numbers",
                    column.text
                );
                return Err(p.missing(what, "expected `:`", help));
            }
            Ok((column, p.type_name("a sort, `Int` or `Real`")?))
        })?;
        let close = self.expect(Token::Close, "`)` or `,`", "after a column")?;
        if columns.is_empty() {
            let what = format!("table `{}` has no columns", name.text);
            let error = Diagnostic::error(Code::EmptyValue, what);
            let error = error.at(self.source, name.span.to(close), "");
            self.out.push(error.help("name at least one: `(x: S)`"));
            return Ok(Declaration::Broken(name));
        }
        Ok(Declaration::Table(name, columns))
    }

    fn function(&mut self) -> Parsed<Declaration> {
        let name = self.name("the name of the function", false)?;
        let arguments = self.argument_types("function")?;
        if !self.eat(Token::Colon) {
            let what = format!("function `{}` has no result: expected `:`", name.text);
            self.missing(what, "expected `:`", "write `: S`, `: Real` or `: Real[8]`");
            return Ok(Declaration::Function(name, arguments, None));
        }
        let result = self.type_name("a sort, `Real` or `Real[k]`")?;
        Ok(Declaration::Function(name, arguments, Some(result)))
    }

    fn argument_types(&mut self, what: &str) -> Parsed<Vec<TypeName>> {
        let context = format!("before the sorts of the {what}'s arguments");
        if self.peek() != Token::Open {
            let help = format!("without arguments it is written with `()`, as in `{what} f()`");
            return Err(self.missing(format_args!("expected `(` {context}"), "expected `(`", help));
        }
        self.advance();
        let sorts = self.list(Token::Close, |p| {
            let sort = p.type_name("a sort")?;
            if p.peek() == Token::Colon {
                let message = format!("the arguments of a {what} are sorts without names");
                return Err(p.refuse(message, "", "write only the sort"));
            }
            Ok(sort)
        })?;
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
                let help = "a vector has 1 to 1,000,000 numbers, as in `Real[8]`";
                return Err(self.missing("expected a width", "", help));
            }
        };
        self.advance();
        let end = self.expect(Token::CloseBracket, "`]`", "after the width")?;
        Ok(TypeName::Vector(width, start.to(end)))
    }

    fn colon_and_sort(&mut self, name: &Name, what: &str) -> Parsed<Option<Name>> {
        if self.eat(Token::Colon) {
            if let Token::Keyword(Keyword::Int | Keyword::Real) = self.peek() {
                let message = format!(
                    "{} is for the columns of tables, not for a {what}",
                    self.quoted()
                );
                let help = "declare the integers that are meant: `sort Digit = 0..9`";
                self.refuse(message, "expected a sort", help);
                self.advance();
                return Ok(None);
            }
            return Ok(Some(self.name("a sort", false)?));
        }
        let expected = format!("expected `:` and the sort of {what} `{}`", name.text);
        let help = match self.peek() {
            Token::Name => format!(
                "write `{}: {}`",
                shortened(&name.text),
                shortened(self.source.slice(self.span()))
            ),
            _ => format!("write `{}: S`, where `S` is a sort", shortened(&name.text)),
        };
        let repairable = self.peek() == Token::Name;
        self.missing(expected, "expected `:`", help);
        if repairable {
            return Ok(Some(self.name("a sort", false)?));
        }
        Ok(None)
    }

    fn axiom(&mut self, start: Span) -> Parsed<Declaration> {
        let name = if self.peek() == Token::Colon {
            let help = "write `axiom some_name: …`";
            self.refuse("this axiom has no name", "expected a name", help);
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
            let expected = format!("expected `:` before the formula of axiom `{}`", name.text);
            let quantifier = matches!(
                name.text.as_str(),
                "forall" | "exists" | "not" | "all" | "any"
            );
            let weight = self.source.slice(self.span()) == "weight";
            let repairable = self.peek().starts_expression() && !quantifier && !weight;
            let help = match (quantifier, weight) {
                (true, _) => format!("an axiom has a name: `axiom some_name: {} …`", name.text),
                (_, true) => {
                    "a weight goes in parentheses: `axiom name (weight 2): formula`".to_string()
                }
                _ => "write `axiom name: formula`".to_string(),
            };
            let bail = self.missing(expected, "expected `:`", help);
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

    fn definition(&mut self, start: Span) -> Parsed<Declaration> {
        let name = self.name("the name of the definition", false)?;
        let short = shortened(&name.text);
        if !self.eat(Token::Open) {
            let expected = format!("expected `(` after the name of definition `{short}`");
            let help = "write `define name(x: S): formula`, or `define name(): formula`";
            return Err(self.missing(expected, "expected `(`", help));
        }
        let parameters = match self.peek() {
            Token::Close => Vec::new(),
            _ => self.sorted_names("define")?,
        };
        self.expect(Token::Close, "`)` or `,`", "after a parameter")?;
        let depth = self.depth()?;
        if !self.eat(Token::Colon) {
            let expected = format!("expected `:` before the formula of definition `{short}`");
            let help = "write `define name(x: S): formula`";
            let repairable = self.peek().starts_expression();
            let bail = self.missing(expected, "expected `:`", help);
            if !repairable {
                return Err(bail);
            }
        }
        let formula = self.expression()?;
        self.expect_end_of_formula()?;
        Ok(Declaration::Define(DefinitionSyntax {
            name,
            parameters,
            depth,
            span: start.to(formula.span),
            formula,
        }))
    }

    /// `to depth N`
    fn depth(&mut self) -> Parsed<Option<u32>> {
        if !self.at_word("to") {
            return Ok(None);
        }
        self.advance();
        let help = "write `to depth 8`";
        if !self.at_word("depth") {
            return Err(self.missing("expected `depth` after `to`", "expected `depth`", help));
        }
        self.advance();
        match self.peek() {
            Token::Integer(n) if n <= u64::from(MAX_DEPTH) => {
                self.advance();
                Ok(Some(n as u32))
            }
            _ => {
                let expected = format!("a depth is an integer from 0 to {MAX_DEPTH}");
                Err(self.missing(expected, "expected an integer", help))
            }
        }
    }

    fn expect_end_of_formula(&mut self) -> Parsed<()> {
        if self.peek() == Token::Close {
            let help = "remove it, or open a parenthesis before";
            return Err(self.refuse(
                "this `)` closes nothing",
                "no parenthesis is open here",
                help,
            ));
        }
        if self.peek() == Token::Keyword(Keyword::Where) {
            let help = "a guard follows the variables: `forall x: S where guard. body`";
            return Err(self.refuse("a guard without a quantifier", "", help));
        }
        if self.peek().starts_expression() && !self.at_end() {
            let message = format!("unexpected {} after the end of a formula", self.found());
            let help = self.instead_of_another_formula();
            return Err(self.refuse(message, "expected a connective", help));
        }
        if self.peek() == Token::Dot {
            let mut help = "a dot belongs between a quantifier and its body only".to_string();
            if self.tokens[self.at + 1].0.starts_expression() {
                help += "; a field follows its dot without spaces: `x.age`";
            }
            return Err(self.refuse("this dot ends nothing", "", help));
        }
        self.expect_end_of("formula")
    }

    /// What to write where a second formula seems to begin: words of other languages, or an axiom that has no head.
    fn instead_of_another_formula(&self) -> String {
        let connective = match self.source.slice(self.span()).to_lowercase().as_str() {
            "implies" | "then" | "imp" => Some("->"),
            "iff" | "equivalent" | "equiv" => Some("<->"),
            "and" | "und" => Some("and"),
            "or" | "oder" => Some("or"),
            "xor" => return "for either a or b write `not (a <-> b)`".to_string(),
            _ => None,
        };
        if let Some(connective) = connective {
            return format!("write `{connective}`");
        }
        let between =
            &self.source.text()[self.previous_span().end as usize..self.span().start as usize];
        match between.contains('\n') {
            true => {
                "a separate axiom begins with `axiom name:`; otherwise join formulas with `and`, \
                     `or`, `->` or `<->`"
                    .to_string()
            }
            false => "join formulas with `and`, `or`, `->` or `<->`".to_string(),
        }
    }

    fn weight(&mut self) -> Parsed<Option<(f64, Span)>> {
        if self.peek() != Token::Open {
            return Ok(None);
        }
        self.advance();
        if self.source.slice(self.span()) != "weight" {
            let help = "write `axiom name (weight 2): …`";
            let bail = self.missing("expected `weight`", "expected `weight`", help);
            match self.peek() {
                Token::Name => self.advance(),
                Token::Integer(_) | Token::Number(_) => self.span(),
                _ => return Err(bail),
            };
        } else {
            self.advance();
        }
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
            let (found, span, help) = match value {
                Some(_) => {
                    let span = start.to(self.previous_span());
                    let help = "a negated axiom is written with `not`, not with a negative weight";
                    (format!("`{}`", self.source.slice(span)), span, help)
                }
                None => {
                    let help = "write a number, as in `(weight 0.5)`";
                    (self.found(), start.to(self.span()), help)
                }
            };
            // Text that is no token has been reported already.
            if value.is_some() || self.peek() != Token::Bad {
                let what = format!("a weight is a number of 0 or more, found {found}");
                let error = Diagnostic::error(Code::ValueOutOfRange, what);
                self.out.push(error.at(self.source, span, "").help(help));
            }
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
}
