//! A theory in its standard form: `logltn fmt`.
//!
//! The formatter moves tokens and comments and never changes their text, except that symbols become words (`∀` is
//! `forall`). Of the grammar it only needs to know where declarations begin, so new constructs need no code here.
//!
//! Line breaks inside a declaration are kept where a line may end; lines that are too long are broken. Indentation and
//! alignment follow from the breaks alone, which is why formatting twice changes nothing.

use std::collections::BTreeSet;

use crate::diagnostic::Diagnostics;
use crate::parser::{self, Layout};
use crate::source::{Source, Span};
use crate::token::{Keyword, Token};

const AXIOM: Token = Token::Keyword(Keyword::Axiom);
/// Lines are broken beyond this many characters, comments not counted.
const WIDTH: usize = 120;
const INDENT: usize = 4;
/// Formulas and comments of neighbouring lines are not aligned if that needs this many spaces.
const MOST_PADDING: usize = 20;

/// The text in its standard form: one declaration after the other, spaces and indentation by rule, comments kept. It parses to
/// the same theory, and formatting it again changes nothing. Fails where the text does not parse.
///
/// ```
/// use logltn::{Source, format};
/// let text = "sort  S predicate P( S )\naxiom a :forall x:S.¬P(x) # nobody";
/// assert_eq!(
///     format(&Source::new("t.ltn", text)).unwrap(),
///     "sort S\npredicate P(S)\naxiom a: forall x: S. not P(x)  # nobody\n"
/// );
/// ```
pub fn format(source: &Source) -> Result<String, Diagnostics> {
    let mut found = Diagnostics::new();
    let Layout { tokens, starts } = parser::parse_layout(source, &mut found);
    if found.has_errors() {
        return Err(found);
    }
    let mut page = Page::default();
    let mut ends = starts.iter().skip(1).copied();
    page.between(gap(source, &tokens, 0), false);
    for &start in &starts {
        let end = ends.next().unwrap_or(tokens.len() - 1);
        Declared::new(source, &tokens, start, end).lay_out(&mut page);
        page.between(gap(source, &tokens, end), true);
    }
    let newline = match source.text().find('\n') {
        Some(at) if source.text()[..at].ends_with('\r') => "\r\n",
        _ => "\n",
    };
    Ok(page.finish(newline))
}

/// What is between two tokens: white space and comments.
fn gap<'a>(source: &'a Source, tokens: &[(Token, Span)], at: usize) -> &'a str {
    let start = at.checked_sub(1).map_or(0, |before| tokens[before].1.end);
    &source.text()[start as usize..tokens[at].1.start as usize]
}

/// The comment on the line of the previous token, and the lines below it, each a comment or empty. The rest of the next
/// token's line does not count.
fn comments(gap: &str) -> (Option<&str>, Vec<&str>) {
    let mut lines = gap.split('\n');
    let first = lines.next().unwrap_or_default().trim();
    let mut below: Vec<&str> = lines.collect();
    // At the end of the text a comment needs no line break.
    if below.last().is_some_and(|last| !last.contains('#')) {
        below.pop();
    }
    ((!first.is_empty()).then_some(first), below)
}

/// One line of the result.
#[derive(Default)]
struct Line {
    text: String,
    comment: Option<String>,
    /// Where the formula of a one-line axiom begins: formulas of neighbours are aligned.
    formula: Option<usize>,
}

#[derive(Default)]
struct Page {
    lines: Vec<Line>,
}

impl Page {
    fn push(&mut self, text: String) {
        self.lines.push(Line {
            text,
            ..Line::default()
        });
    }

    /// What is between declarations, or before the first of them.
    fn between(&mut self, gap: &str, after_declaration: bool) {
        let (first, below) = comments(gap);
        if let Some(comment) = first {
            match self.lines.last_mut() {
                Some(line) if after_declaration => line.comment = Some(comment.to_string()),
                _ => self.push(comment.to_string()),
            }
        }
        // An indented comment right below a declaration belongs to it.
        let mut inside = after_declaration;
        for line in below {
            let comment = line.trim();
            inside &= !comment.is_empty() && line.starts_with([' ', '\t']);
            let indent = if inside { INDENT } else { 0 };
            match comment.is_empty() {
                true => self.push(String::new()),
                false => self.push(" ".repeat(indent) + comment),
            }
        }
    }

    fn finish(mut self, newline: &str) -> String {
        self.drop_blank_lines();
        self.align_formulas();
        self.align_comments();
        let mut out = String::new();
        for line in &self.lines {
            out += line.text.trim_end();
            if let Some(comment) = &line.comment {
                // The padding is part of the text.
                out += &line.text[line.text.trim_end().len()..];
                out += comment;
            }
            out += newline;
        }
        out
    }

    /// No blank lines at the ends, and at most one elsewhere.
    fn drop_blank_lines(&mut self) {
        let blank = |line: &Line| line.text.is_empty() && line.comment.is_none();
        self.lines.dedup_by(|b, a| blank(a) && blank(b));
        while self.lines.last().is_some_and(blank) {
            self.lines.pop();
        }
        if self.lines.first().is_some_and(blank) {
            self.lines.remove(0);
        }
    }

    fn align_formulas(&mut self) {
        for run in self
            .lines
            .chunk_by_mut(|a, b| a.formula.is_some() && b.formula.is_some())
        {
            let starts: Vec<usize> = run.iter().filter_map(|line| line.formula).collect();
            let (Some(&first), Some(&last)) = (starts.iter().min(), starts.iter().max()) else {
                continue;
            };
            let fits = |line: &Line| {
                line.formula
                    .is_none_or(|at| line.text.chars().count() + last - at <= WIDTH)
            };
            if last - first > MOST_PADDING || !run.iter().all(fits) {
                continue;
            }
            for (line, at) in run.iter_mut().zip(starts) {
                let byte = line
                    .text
                    .char_indices()
                    .nth(at)
                    .map_or(line.text.len(), |(i, _)| i);
                line.text.insert_str(byte, &" ".repeat(last - at));
            }
        }
    }

    fn align_comments(&mut self) {
        for run in self
            .lines
            .chunk_by_mut(|a, b| a.comment.is_some() && b.comment.is_some())
        {
            let widths = || run.iter().map(|line| line.text.chars().count());
            let (least, most) = (widths().min().unwrap_or(0), widths().max().unwrap_or(0));
            for line in run.iter_mut().filter(|line| line.comment.is_some()) {
                let width = line.text.chars().count();
                let padding = if most - least > MOST_PADDING {
                    0
                } else {
                    most - width
                };
                line.text += &" ".repeat(padding + 2);
            }
        }
    }
}

/// The tokens of one declaration.
struct Declared<'a> {
    tokens: Vec<(Token, &'a str)>,
    /// Which tokens are preceded by a space.
    spaced: Vec<bool>,
    /// How many characters are before each token, and after the last, if all are on one line.
    widths: Vec<usize>,
    /// What is before each token.
    gaps: Vec<&'a str>,
    /// See [`open_before`].
    open: Vec<usize>,
    /// The token after the colon of an axiom's or a definition's head.
    body: Option<usize>,
}

impl<'a> Declared<'a> {
    fn new(source: &'a Source, all: &[(Token, Span)], start: usize, end: usize) -> Declared<'a> {
        let tokens: Vec<(Token, &str)> = (all[start..end].iter())
            .map(|(token, span)| (*token, standard_text(*token, source.slice(*span))))
            .collect();
        let fields: Vec<bool> = (start..end).map(|at| is_field(all, at)).collect();
        let open = open_before(&tokens);
        let spaced: Vec<bool> = (0..tokens.len())
            .map(|at| is_spaced(&tokens, &fields, at))
            .collect();
        let mut widths = vec![0];
        for (at, (_, text)) in tokens.iter().enumerate() {
            widths.push(widths[at] + usize::from(spaced[at]) + text.chars().count());
        }
        Declared {
            gaps: (start..end).map(|at| gap(source, all, at)).collect(),
            body: body(&tokens),
            spaced,
            widths,
            tokens,
            open,
        }
    }

    fn lay_out(&self, page: &mut Page) {
        let mut breaks: BTreeSet<usize> = (1..self.tokens.len())
            .filter(|&at| {
                let (beside, below) = comments(self.gaps[at]);
                let forced = beside.is_some() || below.iter().any(|line| !line.trim().is_empty());
                forced || self.gaps[at].contains('\n') && self.cost(at).is_some()
            })
            .collect();
        self.break_long_lines(&mut breaks);
        let lines = self.ranges(&breaks);
        let alone = lines.len() == 1;
        for (start, end) in lines {
            if start > 0 {
                let (beside, below) = comments(self.gaps[start]);
                if let (Some(comment), Some(line)) = (beside, page.lines.last_mut()) {
                    line.comment = Some(comment.to_string());
                }
                let indent = " ".repeat(self.indent(start, &breaks));
                for comment in below
                    .iter()
                    .map(|line| line.trim())
                    .filter(|c| !c.is_empty())
                {
                    page.push(indent.clone() + comment);
                }
            }
            let line = self.line(start, end, &breaks);
            let is_axiom = self.tokens[0].0 == AXIOM;
            let is_family = |(token, _): &(Token, &str)| *token == Token::Keyword(Keyword::For);
            let formula = self
                .body
                .filter(|&body| alone && is_axiom && !self.tokens[2..body].iter().any(is_family));
            page.lines.push(Line {
                formula: formula.map(|body| self.width(0, body) + 1),
                text: line,
                comment: None,
            });
        }
    }

    fn ranges(&self, breaks: &BTreeSet<usize>) -> Vec<(usize, usize)> {
        let starts = std::iter::once(0).chain(breaks.iter().copied());
        let ends = breaks.iter().copied().chain([self.tokens.len()]);
        starts.zip(ends).collect()
    }

    fn line(&self, start: usize, end: usize, breaks: &BTreeSet<usize>) -> String {
        let mut out = " ".repeat(self.indent(start, breaks));
        for at in start..end {
            if at > start && self.spaced[at] {
                out.push(' ');
            }
            out += self.tokens[at].1;
        }
        out
    }

    /// The spaces before a line that begins with this token.
    fn indent(&self, at: usize, breaks: &BTreeSet<usize>) -> usize {
        if at == 0 {
            return 0;
        }
        let (token, _) = self.tokens[at];
        let closes = matches!(
            token,
            Token::Close | Token::CloseBracket | Token::CloseBrace
        );
        let open = self.open[at] - usize::from(closes && self.open[at] > 0);
        let Some(body) = self.body.filter(|&body| at >= body) else {
            return INDENT * if closes { open } else { open.max(1) };
        };
        // The bodies of quantifiers, each on its own line, are indented one step further.
        let below_quantifier = (breaks.range(body..at))
            .any(|&line| self.open[line] == self.open[at] && is_quantifier(self.tokens[line].0));
        let further = below_quantifier && !is_quantifier(token);
        INDENT * (1 + open + usize::from(further))
    }

    /// Breaks lines that are too long. The form of a line depends only on the breaks before it, so once is enough.
    fn break_long_lines(&self, breaks: &mut BTreeSet<usize>) {
        let mut start = 0;
        while start < self.tokens.len() {
            let end = breaks.range(start + 1..).next().copied();
            let end = end.unwrap_or(self.tokens.len());
            let indent = self.indent(start, breaks);
            let fits = |at: usize| indent + self.width(start, at) <= WIDTH;
            let places = || (start + 1..end).filter(|&at| self.cost(at).is_some());
            // The outermost place, the last if there are several.
            let best = || {
                let fitting = places().take_while(|&at| fits(at));
                let best = fitting.min_by_key(|&at| (self.cost(at), end - at));
                best.or_else(|| places().next())
            };
            match fits(end) {
                true => start = end,
                false => match best() {
                    Some(at) => drop(breaks.insert(at)),
                    None => start = end,
                },
            }
        }
    }

    /// The characters of these tokens on one line, without the indentation.
    fn width(&self, start: usize, end: usize) -> usize {
        self.widths[end] - self.widths[start] - usize::from(self.spaced[start])
    }

    /// How bad it is to begin a line with a token; `None` where no line should begin.
    fn cost(&self, at: usize) -> Option<usize> {
        let (before, token) = (self.tokens[at - 1].0, self.tokens[at].0);
        let cost = match (before, token) {
            _ if self.body == Some(at) => return Some(0),
            (Token::Dot, _) if self.spaced[at] => 1,
            (_, Token::Iff) | (Token::Iff, _) => 2,
            (_, Token::Implies) | (Token::Implies, _) => 3,
            (_, Token::Or) | (Token::Or, _) => 4,
            (_, Token::And) | (Token::And, _) => 5,
            (_, Token::Keyword(Keyword::Where | Keyword::For)) => 6,
            (Token::Comma, _) => 7,
            (Token::Open | Token::OpenBrace, _) | (_, Token::Close | Token::CloseBrace) => 9,
            _ => return None,
        };
        // A word at the end of a line is where its author put it; we put it at the beginning.
        Some(cost + 10 * self.open[at])
    }
}

/// How many parentheses, brackets and braces are open before each token.
fn open_before(tokens: &[(Token, &str)]) -> Vec<usize> {
    let mut depth = 0usize;
    let step = |(token, _): &(Token, &str)| {
        let before = depth;
        match token {
            Token::Open | Token::OpenBracket | Token::OpenBrace => depth += 1,
            Token::Close | Token::CloseBracket | Token::CloseBrace => {
                depth = depth.saturating_sub(1);
            }
            _ => {}
        }
        before
    };
    tokens.iter().map(step).collect()
}

/// Symbols become words.
fn standard_text(token: Token, text: &str) -> &str {
    match token {
        Token::Not => "not",
        Token::And => "and",
        Token::Or => "or",
        Token::Implies => "->",
        Token::Iff => "<->",
        Token::Forall => "forall",
        Token::Exists => "exists",
        Token::All => "all",
        Token::Any => "any",
        _ => text,
    }
}

/// The token after the first colon outside parentheses that belongs to no variable: that of an axiom or a definition.
pub(crate) fn body(tokens: &[(Token, &str)]) -> Option<usize> {
    let has_body = match tokens.first()? {
        (Token::Keyword(Keyword::Axiom), _) => true,
        (Token::Name, word) => *word == "define",
        _ => false,
    };
    if !has_body {
        return None;
    }
    let open = open_before(tokens);
    let token = |at: usize| tokens.get(at).map(|(token, _)| *token);
    let is_head = |&at: &usize| {
        let sort = token(at + 1) == Some(Token::Name)
            && matches!(
                token(at + 2),
                Some(Token::Comma | Token::Colon | Token::Dot | Token::Keyword(Keyword::Where))
            );
        open[at] == 0 && token(at) == Some(Token::Colon) && !sort
    };
    let head = (0..tokens.len()).find(is_head)?;
    (head + 1 < tokens.len()).then_some(head + 1)
}

/// Whether a dot is between a variable and its feature, `x.age`, instead of after a quantifier's variables: there is no
/// space around it, and what follows is not a formula.
pub(crate) fn is_field(tokens: &[(Token, Span)], at: usize) -> bool {
    let [before, dot, after] = [at.wrapping_sub(1), at, at + 1].map(|at| tokens.get(at));
    let (Some(before), Some(dot), Some(after)) = (before, dot, after) else {
        return false;
    };
    let called = tokens
        .get(at + 2)
        .is_some_and(|(token, _)| *token == Token::Open);
    dot.0 == Token::Dot
        && before.0 == Token::Name
        && matches!(after.0, Token::Name | Token::Keyword(_))
        && before.1.end == dot.1.start
        && dot.1.end == after.1.start
        && !called
}

/// Whether there is a space before a token that does not begin a line.
fn is_spaced(tokens: &[(Token, &str)], fields: &[bool], at: usize) -> bool {
    use Token::*;
    let Some(before) = at.checked_sub(1) else {
        return false;
    };
    let (previous, token) = (tokens[before].0, tokens[at].0);
    match (previous, token) {
        (_, Comma | Colon | Close | CloseBracket | CloseBrace | Dot | Range | OpenBracket) => false,
        (Open | OpenBracket | OpenBrace | Range, _) => false,
        (Dot, _) => !fields[before],
        // There is a space between an axiom's name and its weight.
        (Name, Open) => before == 1 && tokens[0].0 == AXIOM,
        (Star, _) | (_, Star) => false,
        (Minus, Minus) => true,
        (Minus, _) => !is_sign(tokens, before),
        _ => true,
    }
}

/// Whether a minus is a sign, not a difference.
fn is_sign(tokens: &[(Token, &str)], at: usize) -> bool {
    use Token::*;
    let before = at.checked_sub(1).map(|before| tokens[before].0);
    !matches!(before, Some(Name | Label | Integer(_) | Number(_) | Close))
}

fn is_quantifier(token: Token) -> bool {
    matches!(
        token,
        Token::Forall | Token::Exists | Token::All | Token::Any
    )
}
