//! What each word of a theory is, for editors: it works on text with mistakes too.

use crate::diagnostic::Diagnostics;
use crate::format::{body, is_field};
use crate::parser::{self, Layout};
use crate::source::{Source, Span};
use crate::token::{Keyword, Token, unquoted};

/// A word of a theory in its place.
#[derive(Clone, Debug, PartialEq)]
pub struct Word {
    /// The word; a label in quotes without them.
    pub text: String,
    /// Where it is, quotes included.
    pub span: Span,
    /// What it names.
    pub role: Role,
    /// Whether this is where it is declared.
    pub declares: bool,
    /// The declaration that it stands in, counted from 0.
    pub declaration: usize,
}

/// What a word names, by its place alone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// A sort.
    Sort,
    /// A predicate, function, table or definition.
    Symbol,
    /// A variable, constant, param or label.
    Term,
    /// A column of a table, or a feature.
    Column,
    /// An axiom.
    Axiom,
    /// A reserved word, or the symbol of a connective.
    Keyword,
}

/// The words of a theory in order.
///
/// ```
/// use logltn::{Role, Source, words};
/// let words = words(&Source::new("t", "sort S axiom a: forall x: S. P(x)"));
/// let roles: Vec<_> = words.iter().map(|word| (word.text.as_str(), word.role)).collect();
/// assert_eq!(roles[1], ("S", Role::Sort));
/// assert_eq!(roles[3], ("a", Role::Axiom));
/// assert_eq!(roles[5..], [("x", Role::Term), ("S", Role::Sort), ("P", Role::Symbol), ("x", Role::Term)]);
/// ```
pub fn words(source: &Source) -> Vec<Word> {
    let Layout { tokens, starts } = parser::parse_layout(source, &mut Diagnostics::new());
    let end = tokens.len() - 1;
    let ends = starts.iter().skip(1).copied().chain([end]);
    let mut words = Vec::new();
    for (declaration, (&start, end)) in starts.iter().zip(ends).enumerate() {
        let texts: Vec<(Token, &str)> = (tokens[start..end].iter())
            .map(|(token, span)| (*token, source.slice(*span)))
            .collect();
        let body = body(&texts).unwrap_or(usize::MAX);
        for at in 0..texts.len() {
            let (token, text) = texts[at];
            let is_word = text.starts_with(|c: char| c.is_alphabetic() || c == '_');
            let is_connective = matches!(
                token,
                Token::Not | Token::And | Token::Or | Token::Implies | Token::Iff
            ) || matches!(
                token,
                Token::Forall | Token::Exists | Token::All | Token::Any
            );
            if !is_word && !is_connective && token != Token::Label {
                continue;
            }
            let field = at > 0 && is_field(&tokens, start + at - 1);
            let (role, declares) = role(&texts, at, body, field);
            words.push(Word {
                text: match token {
                    Token::Label => unquoted(text),
                    _ => text.to_string(),
                },
                span: tokens[start + at].1,
                role,
                declares,
                declaration,
            });
        }
    }
    words
}

fn role(tokens: &[(Token, &str)], at: usize, body: usize, field: bool) -> (Role, bool) {
    let first = tokens[0];
    let token = tokens[at].0;
    let before = at.checked_sub(1).map(|before| tokens[before].0);
    let after = tokens.get(at + 1).map(|(token, _)| *token);
    let define = first == (Token::Name, "define");
    if at == 0 {
        return (Role::Keyword, false);
    }
    if at == 1 {
        let role = match first.0 {
            Token::Keyword(Keyword::Sort) => Role::Sort,
            Token::Keyword(Keyword::Axiom) => Role::Axiom,
            Token::Keyword(Keyword::Constant | Keyword::Param) => Role::Term,
            _ => Role::Symbol,
        };
        return (role, true);
    }
    let is_column = first.0 == Token::Keyword(Keyword::Table) && after == Some(Token::Colon);
    if is_column || field {
        return (Role::Column, is_column);
    }
    if !matches!(token, Token::Name | Token::Label) {
        return (Role::Keyword, false);
    }
    if define && at < body && matches!(tokens[at].1, "to" | "depth") && before != Some(Token::Open)
    {
        return (Role::Keyword, false);
    }
    match first.0 {
        Token::Keyword(Keyword::Sort) => (Role::Term, true),
        Token::Keyword(
            Keyword::Table | Keyword::Predicate | Keyword::Function | Keyword::Constant,
        ) => (Role::Sort, false),
        Token::Keyword(Keyword::Axiom) if at < body && tokens[at].1 == "weight" => {
            (Role::Keyword, false)
        }
        _ if before == Some(Token::Colon) && at != body => (Role::Sort, false),
        _ if before == Some(Token::Keyword(Keyword::In)) => (Role::Symbol, false),
        _ if after == Some(Token::Open) && token == Token::Name => (Role::Symbol, false),
        _ => (Role::Term, false),
    }
}
