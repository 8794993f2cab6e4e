//! Text to tokens. The lexer never fails: what it cannot read becomes a [`Token::Bad`] that has been
//! reported already, so that the parser can go on.

use unicode_ident::{is_xid_continue, is_xid_start};

use crate::diagnostic::{Diagnostic, Diagnostics};
use crate::source::{Source, Span};

/// A word with a meaning of its own. Axioms and columns may still be named so: they have namespaces
/// of their own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Keyword {
    Sort,
    Table,
    Predicate,
    Function,
    Constant,
    Param,
    Axiom,
    For,
    In,
    Where,
    Int,
    Real,
}

/// One token. Words and symbols for the same connective are one token.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Token {
    Name,
    Keyword(Keyword),
    /// The magnitude; a sign is the parser's business.
    Integer(u64),
    Number(f64),
    Open,
    Close,
    OpenBrace,
    CloseBrace,
    OpenBracket,
    CloseBracket,
    Comma,
    Colon,
    Dot,
    Range,
    Not,
    And,
    Or,
    Implies,
    Iff,
    Forall,
    Exists,
    All,
    Any,
    Equal,
    NotEqual,
    Less,
    LessEqual,
    Greater,
    GreaterEqual,
    Plus,
    Minus,
    Star,
    Slash,
    Percent,
    /// Unreadable, and reported.
    Bad,
    End,
}

impl Token {
    /// Whether a declaration starts here: where the parser finds its feet again after an error.
    pub(crate) fn starts_declaration(self) -> bool {
        use Keyword::*;
        matches!(
            self,
            Token::Keyword(Sort | Table | Predicate | Function | Constant | Param | Axiom)
        )
    }

    /// Whether a formula, term or guard can start here.
    pub(crate) fn starts_expression(self) -> bool {
        matches!(
            self,
            Token::Name
                | Token::Integer(_)
                | Token::Number(_)
                | Token::Open
                | Token::Not
                | Token::Forall
                | Token::Exists
                | Token::All
                | Token::Any
                | Token::Minus
        )
    }
}

fn word(text: &str) -> Token {
    match text {
        "sort" => Token::Keyword(Keyword::Sort),
        "table" => Token::Keyword(Keyword::Table),
        "predicate" => Token::Keyword(Keyword::Predicate),
        "function" => Token::Keyword(Keyword::Function),
        "constant" => Token::Keyword(Keyword::Constant),
        "param" => Token::Keyword(Keyword::Param),
        "axiom" => Token::Keyword(Keyword::Axiom),
        "for" => Token::Keyword(Keyword::For),
        "in" => Token::Keyword(Keyword::In),
        "where" => Token::Keyword(Keyword::Where),
        "Int" => Token::Keyword(Keyword::Int),
        "Real" => Token::Keyword(Keyword::Real),
        "not" => Token::Not,
        "and" => Token::And,
        "or" => Token::Or,
        "forall" => Token::Forall,
        "exists" => Token::Exists,
        "all" => Token::All,
        "any" => Token::Any,
        _ => Token::Name,
    }
}

fn starts_name(c: char) -> bool {
    c == '_' || is_xid_start(c)
}

/// Two-character and one-character symbols, longest first.
const SYMBOLS: &[(&str, Token)] = &[
    ("<->", Token::Iff),
    ("->", Token::Implies),
    ("..", Token::Range),
    ("!=", Token::NotEqual),
    ("<=", Token::LessEqual),
    (">=", Token::GreaterEqual),
    ("(", Token::Open),
    (")", Token::Close),
    ("{", Token::OpenBrace),
    ("}", Token::CloseBrace),
    ("[", Token::OpenBracket),
    ("]", Token::CloseBracket),
    (",", Token::Comma),
    (":", Token::Colon),
    (".", Token::Dot),
    ("=", Token::Equal),
    ("<", Token::Less),
    (">", Token::Greater),
    ("+", Token::Plus),
    ("-", Token::Minus),
    ("*", Token::Star),
    ("/", Token::Slash),
    ("%", Token::Percent),
    ("¬", Token::Not),
    ("∧", Token::And),
    ("∨", Token::Or),
    ("→", Token::Implies),
    ("↔", Token::Iff),
    ("∀", Token::Forall),
    ("∃", Token::Exists),
    ("⋀", Token::All),
    ("⋁", Token::Any),
];

/// What people write in other languages, or what an editor or a copied PDF makes of it, with what is
/// meant here. Longest first.
const FOREIGN: &[(&str, &str)] = &[
    ("<=>", "<->"),
    ("==>", "->"),
    ("-->", "->"),
    ("=>", "->"),
    ("==", "="),
    ("&&", "and"),
    ("||", "or"),
    ("/\\", "and"),
    ("\\/", "or"),
    ("//", "#"),
    ("<>", "!="),
    ("&", "and"),
    ("|", "or"),
    ("!", "not"),
    ("~", "not"),
    (";", "a new line"),
    ("⇒", "->"),
    ("⊃", "->"),
    ("⇔", "<->"),
    ("≡", "<->"),
    ("∼", "not"),
    ("≤", "<="),
    ("≥", ">="),
    ("≠", "!="),
    ("·", "*"),
    ("×", "*"),
    ("÷", "/"),
    ("−", "-"),
    ("–", "-"),
    ("—", "-"),
    ("‐", "-"),
    ("‑", "-"),
    ("：", ":"),
    ("，", ","),
    ("．", "."),
    ("。", "."),
    ("（", "("),
    ("）", ")"),
    ("；", "a new line"),
    ("…", ".."),
    ("‘", "nothing: names need no quotes"),
    ("’", "nothing: names need no quotes"),
    ("“", "nothing: names need no quotes"),
    ("”", "nothing: names need no quotes"),
    ("\"", "nothing: names need no quotes"),
    ("'", "nothing: names need no quotes"),
    ("\u{a0}", "a plain space"),
    ("\u{200b}", "nothing: it is invisible"),
    ("∩", "and"),
    ("∪", "or"),
];

/// All tokens of a source, ending in [`Token::End`].
pub(crate) fn tokenize(source: &Source, out: &mut Diagnostics) -> Vec<(Token, Span)> {
    let text = source.text();
    let mut tokens = Vec::with_capacity(text.len() / 4 + 1);
    let mut at = 0;
    while let Some(c) = text[at..].chars().next() {
        let start = at;
        if c.is_whitespace() && c != '\u{a0}' {
            at += c.len_utf8();
            continue;
        }
        if c == '#' {
            at += text[at..].find('\n').unwrap_or(text.len() - at);
            continue;
        }
        let token = if starts_name(c) {
            at += run_length(&text[at..], is_xid_continue);
            word(&text[start..at])
        } else if c.is_ascii_digit() {
            let (token, length) = number(source, at, out);
            at += length;
            token
        } else if let Some((token, length)) = foreign_or_symbol(source, at, out) {
            at += length;
            token
        } else {
            at += c.len_utf8();
            // A run of the same unreadable character is one mistake.
            at += run_length(&text[at..], |d| d == c);
            out.push(
                Diagnostic::error(format!(
                    "unexpected character `{}` (U+{:04X})",
                    c.escape_debug(),
                    c as u32
                ))
                .at(source, Span::new(start, at), "not part of the language"),
            );
            Token::Bad
        };
        tokens.push((token, Span::new(start, at)));
    }
    tokens.push((Token::End, Span::new(text.len(), text.len())));
    tokens
}

fn run_length(text: &str, accept: impl Fn(char) -> bool) -> usize {
    text.find(|c| !accept(c)).unwrap_or(text.len())
}

/// Reads `digits[.digits][e±digits]`; a dot that no digit follows belongs to the quantifier.
fn number(source: &Source, at: usize, out: &mut Diagnostics) -> (Token, usize) {
    let text = &source.text()[at..];
    let digit = |c: char| c.is_ascii_digit();
    let mut length = run_length(text, digit);
    let mut real = false;
    if text[length..].starts_with('.') && text[length + 1..].starts_with(digit) {
        length += 1 + run_length(&text[length + 1..], digit);
        real = true;
    }
    if text[length..].starts_with(['e', 'E']) {
        let sign = usize::from(text[length + 1..].starts_with(['+', '-']));
        let digits = run_length(&text[length + 1 + sign..], digit);
        if digits > 0 {
            length += 1 + sign + digits;
            real = true;
        }
    }
    let span = Span::new(at, at + length);
    if text[length..].starts_with(starts_name) {
        let tail = run_length(&text[length..], is_xid_continue);
        out.push(
            Diagnostic::error(format!(
                "`{}` is neither a number nor a name",
                &text[..length + tail]
            ))
            .at(source, Span::new(at, at + length + tail), "")
            .help("a name may not start with a digit; a product needs its sign, as in `2*x`"),
        );
        return (Token::Bad, length + tail);
    }
    let literal = &text[..length];
    let token = if real {
        match literal.parse::<f64>() {
            Ok(x) if x.is_finite() => Token::Number(x),
            _ => {
                out.push(
                    Diagnostic::error("this number is too large for a 64-bit real")
                        .at(source, span, ""),
                );
                Token::Number(f64::MAX)
            }
        }
    } else {
        match literal.parse::<u64>() {
            Ok(n) if n <= i64::MAX as u64 + 1 => Token::Integer(n),
            _ => {
                out.push(
                    Diagnostic::error("this integer is too large: integers are 64-bit")
                        .at(source, span, "")
                        .help(format!("a real can be larger: `{literal}.0`")),
                );
                Token::Integer(0)
            }
        }
    };
    (token, length)
}

fn foreign_or_symbol(source: &Source, at: usize, out: &mut Diagnostics) -> Option<(Token, usize)> {
    let text = &source.text()[at..];
    let symbol = SYMBOLS.iter().find(|(s, _)| text.starts_with(s));
    let foreign = FOREIGN.iter().find(|(s, _)| text.starts_with(s));
    match (symbol, foreign) {
        // `=>` begins with the symbol `=`; the longer reading is what was meant.
        (Some((s, token)), None) => Some((*token, s.len())),
        (Some((s, token)), Some((f, _))) if s.len() >= f.len() => Some((*token, s.len())),
        (_, Some((f, meant))) => {
            let span = Span::new(at, at + f.len());
            let code = match f.chars().next() {
                Some(c) if !c.is_ascii() => format!(" (U+{:04X})", c as u32),
                _ => String::new(),
            };
            let help = match *meant {
                "#" => "comments start with `#`".to_string(),
                m if m.contains(' ') => format!("use {m}"),
                m => format!("write `{m}`"),
            };
            out.push(
                Diagnostic::error(format!(
                    "`{}`{code} is not part of the language",
                    f.escape_debug()
                ))
                .at(source, span, "")
                .help(help),
            );
            if *meant == "#" {
                return Some((Token::Bad, text.find('\n').unwrap_or(text.len())));
            }
            // Go on with what was meant, so that the rest of the line can be checked.
            let token = match *meant {
                "and" => Token::And,
                "or" => Token::Or,
                "not" => Token::Not,
                m => SYMBOLS
                    .iter()
                    .find(|(s, _)| *s == m)
                    .map_or(Token::Bad, |(_, t)| *t),
            };
            Some((token, f.len()))
        }
        (None, None) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tokens(text: &str) -> Vec<Token> {
        let mut out = Diagnostics::new();
        let tokens = tokenize(&Source::new("t", text), &mut out);
        assert!(out.is_empty(), "{out}");
        tokens.into_iter().map(|(t, _)| t).collect()
    }

    #[test]
    fn a_dot_without_a_digit_is_the_quantifiers() {
        use Token::*;
        assert_eq!(tokens("2.5. C"), [Number(2.5), Dot, Name, End]);
        assert_eq!(tokens("2.C"), [Integer(2), Dot, Name, End]);
        assert_eq!(tokens("0..4"), [Integer(0), Range, Integer(4), End]);
        assert_eq!(tokens("n.1e-3"), [Name, Dot, Number(1e-3), End]);
    }

    #[test]
    fn words_and_symbols_are_the_same_tokens() {
        assert_eq!(
            tokens("forall exists not and or -> <-> all any"),
            tokens("∀ ∃ ¬ ∧ ∨ → ↔ ⋀ ⋁")
        );
    }

    #[test]
    fn names_may_be_of_any_script() {
        use Token::*;
        assert_eq!(
            tokens("Größe 猫 _x1 forall"),
            [Name, Name, Name, Forall, End]
        );
    }
}
