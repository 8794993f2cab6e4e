//! Text to tokens. The lexer never fails: what it cannot read becomes a [`Token::Bad`] that has been reported
//! already, so that the parser can continue.

use unicode_ident::{is_xid_continue, is_xid_start};

use crate::diagnostic::{Code, Diagnostic, Diagnostics, shortened, turns_direction};
use crate::source::{Source, Span};

/// A word with its own meaning. Axioms and columns may still be named so: they have their own
/// namespaces.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Keyword {
    Sort,
    Table,
    Predicate,
    Function,
    Constant,
    Param,
    Axiom,
    /// Not reserved: the parser recognises it by its place.
    Define,
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
    /// A label in double quotes; [`unquoted`] returns it.
    Label,
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
    /// Whether a declaration starts here; after an error the parser continues at the next one.
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
                | Token::Label
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

/// The reserved words.
const WORDS: [(&str, Token); 19] = [
    ("sort", Token::Keyword(Keyword::Sort)),
    ("table", Token::Keyword(Keyword::Table)),
    ("predicate", Token::Keyword(Keyword::Predicate)),
    ("function", Token::Keyword(Keyword::Function)),
    ("constant", Token::Keyword(Keyword::Constant)),
    ("param", Token::Keyword(Keyword::Param)),
    ("axiom", Token::Keyword(Keyword::Axiom)),
    ("for", Token::Keyword(Keyword::For)),
    ("in", Token::Keyword(Keyword::In)),
    ("where", Token::Keyword(Keyword::Where)),
    ("Int", Token::Keyword(Keyword::Int)),
    ("Real", Token::Keyword(Keyword::Real)),
    ("not", Token::Not),
    ("and", Token::And),
    ("or", Token::Or),
    ("forall", Token::Forall),
    ("exists", Token::Exists),
    ("all", Token::All),
    ("any", Token::Any),
];

/// The words that cannot be names.
pub fn reserved_words() -> impl Iterator<Item = &'static str> {
    WORDS.into_iter().map(|(word, _)| word)
}

fn word(text: &str) -> Token {
    let found = WORDS.into_iter().find(|(word, _)| *word == text);
    found.map_or(Token::Name, |(_, token)| token)
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

/// How to treat notation of another language.
#[derive(Clone, Copy)]
enum Meant {
    /// It means this symbol or word: continue as if that were written.
    Write(&'static str),
    /// It should not be there: report why, and continue without it.
    Drop(&'static str),
    /// A comment: continue at the next line.
    Comment,
}

/// Notation of other languages, or what an editor or a copied PDF turns ours into, with the right form here. Longest
/// first.
#[rustfmt::skip] // a table reads better than a column
const FOREIGN: &[(&str, Meant)] = {
    use Meant::*;
    const ENDS: Meant = Drop("a declaration ends where the next one starts: leave it out");
    const SPACE: Meant = Drop("it looks like a space but is not one: write a plain space");
    const NO: Meant = Drop("write `not (exists x: S. …)`");
    const EITHER: Meant = Drop("for either a or b write `not (a <-> b)`");
    const POWER: Meant = Drop("write `and` for a conjunction; a power is a product, `x*x`");
    const INVISIBLE: Meant = Drop("it is invisible: delete it");
    &[
        ("<=>", Write("<->")), ("==>", Write("->")), ("-->", Write("->")), ("...", Write("..")),
        ("=>", Write("->")), ("==", Write("=")), ("&&", Write("and")), ("||", Write("or")),
        ("/\\", Write("and")), ("\\/", Write("or")), ("//", Comment), ("<>", Write("!=")),
        ("=<", Write("<=")),
        ("&", Write("and")), ("|", Write("or")), ("!", Write("not")), ("~", Write("not")),
        (";", ENDS), ("；", ENDS), ("\\", Drop("words are written without a backslash: `forall`, `and`")),
        ("⇒", Write("->")), ("⟹", Write("->")), ("⟶", Write("->")), ("⊃", Write("->")),
        ("⇔", Write("<->")), ("⟺", Write("<->")), ("≡", Write("<->")), ("∼", Write("not")),
        ("≤", Write("<=")), ("≥", Write(">=")), ("⩽", Write("<=")), ("⩾", Write(">=")),
        ("≠", Write("!=")), ("·", Write("*")), ("⋅", Write("*")), ("×", Write("*")), ("÷", Write("/")),
        ("−", Write("-")), ("–", Write("-")), ("—", Write("-")), ("‐", Write("-")), ("‑", Write("-")),
        ("：", Write(":")), ("，", Write(",")), ("．", Write(".")), ("。", Write(".")),
        ("（", Write("(")), ("）", Write(")")), ("…", Write("..")), ("∩", Write("and")),
        ("∪", Write("or")), ("∈", Write("in")), ("∄", NO), ("⊕", EITHER), ("⊻", EITHER), ("^", POWER),
        ("\u{a0}", SPACE), ("\u{202f}", SPACE), ("\u{200b}", INVISIBLE), ("\u{200c}", INVISIBLE),
        ("\u{200d}", INVISIBLE), ("\u{2060}", INVISIBLE), ("\u{ad}", INVISIBLE), ("\u{feff}", INVISIBLE),
    ]
};

/// Characters that are quotation marks in some language.
const QUOTES: &[char] = &['"', '\'', '`', '‘', '’', '“', '”', '«', '»'];

/// All tokens of a source, ending in [`Token::End`].
pub(crate) fn tokenize(source: &Source, out: &mut Diagnostics) -> Vec<(Token, Span)> {
    let text = source.text();
    let mut tokens = Vec::with_capacity(text.len() / 4 + 1);
    let mut at = 0;
    while let Some(c) = text[at..].chars().next() {
        let start = at;
        if c.is_whitespace() && c != '\u{a0}' && c != '\u{202f}' {
            at += c.len_utf8();
            continue;
        }
        if c == '#' {
            at += text[at..].find('\n').unwrap_or(text.len() - at);
            point_out_turns(source, start, at, out);
            continue;
        }
        let token = if starts_name(c) {
            at += run_length(&text[at..], is_xid_continue);
            let name = at;
            at += primes(source, start, at, out);
            if at > name {
                Token::Name
            } else {
                word(&text[start..at])
            }
        } else if c.is_ascii_digit() {
            let (token, length) = number(source, at, out);
            at += length;
            token
        } else if let Some((token, length)) = foreign_or_symbol(source, at, out) {
            at += length;
            match token {
                Some(token) => token,
                None => continue,
            }
        } else if QUOTES.contains(&c) {
            let (token, length) = match c {
                '"' => label(source, at, out),
                _ => quoted(source, at, out),
            };
            at += length;
            point_out_turns(source, start, at, out);
            token
        } else {
            at += c.len_utf8();
            // A run of the same unreadable character is one mistake.
            at += run_length(&text[at..], |d| d == c);
            out.push(
                Diagnostic::error(
                    Code::UnexpectedCharacter,
                    format!(
                        "unexpected character `{}` (U+{:04X})",
                        readable(c),
                        c as u32
                    ),
                )
                .at(source, Span::new(start, at), "not part of the language"),
            );
            Token::Bad
        };
        if token == Token::Exists {
            at += exactly_one(source, start, at, out);
        }
        tokens.push((token, Span::new(start, at)));
    }
    tokens.push((Token::End, Span::new(text.len(), text.len())));
    tokens
}

/// Reports comments and labels that change the direction of writing: the displayed text may then differ from the
/// actual one (<https://trojansource.codes>). Elsewhere such characters are errors.
fn point_out_turns(source: &Source, start: usize, end: usize, out: &mut Diagnostics) {
    let text = &source.text()[start..end];
    let Some((at, c)) = text.char_indices().find(|(_, c)| turns_direction(*c)) else {
        return;
    };
    let span = Span::new(start + at, start + at + c.len_utf8());
    out.push(
        Diagnostic::warning(
            Code::TurnedText,
            format!(
                "the invisible character U+{:04X} turns the direction of writing: this line may not be what it looks like",
                c as u32
            ),
        )
        .at(source, span, "")
        .help("delete it, unless it is intended"),
    );
}

/// The length of the `!` of `exists!`, which is no negation.
fn exactly_one(source: &Source, start: usize, end: usize, out: &mut Diagnostics) -> usize {
    let rest = &source.text()[end..];
    if !rest.starts_with('!') || rest.starts_with("!=") {
        return 0;
    }
    out.push(
        Diagnostic::error(
            Code::UnexpectedCharacter,
            "there is no quantifier for exactly one individual",
        )
        .at(source, Span::new(start, end + 1), "")
        .help(
            "write two parts: `exists x: S. P(x)`, and `forall x, y: S where x != y. not (P(x) and P(y))`",
        )
        .note("in a `softmax`, at most one class is true anyway"),
    );
    1
}

/// A character, escaped if it would be invisible.
fn readable(c: char) -> String {
    if c.is_control() || c.is_whitespace() || c.escape_debug().count() > 2 {
        c.escape_debug().to_string()
    } else {
        c.to_string()
    }
}

/// The length of the primes after a name, as in `x'`. They are read as part of it, so that `x'` is not
/// read as `x`.
fn primes(source: &Source, start: usize, end: usize, out: &mut Diagnostics) -> usize {
    let text = source.text();
    let prime = |c: char| matches!(c, '\'' | '’' | '′' | '″');
    let length = run_length(&text[end..], prime);
    // `x'y'` is some kind of quotation.
    if length == 0 || text[end + length..].starts_with(starts_name) {
        return 0;
    }
    let name = &text[start..end];
    out.push(
        Diagnostic::error(Code::UnexpectedCharacter, "a name has no primes")
            .at(source, Span::new(end, end + length), "")
            .help(format!("call it `{}2` or `next_{0}`", shortened(name))),
    );
    length
}

/// A label in double quotes, on one line.
fn label(source: &Source, at: usize, out: &mut Diagnostics) -> (Token, usize) {
    let text = &source.text()[at..];
    let mut wrong = |from: usize, to: usize, message: &str, help: &str| {
        let span = Span::new(at + from, at + to);
        let error = Diagnostic::error(Code::MalformedLabel, message).at(source, span, "");
        out.push(error.help(help));
    };
    if text.starts_with("\"\"") {
        // A run of quotes is one mistake.
        let length = run_length(text, |c| c == '"');
        let help = "a label has at least one character";
        wrong(0, length, "this label is empty", help);
        return (Token::Bad, length);
    }
    // One mistake in a label is enough.
    let (mut sound, mut end) = (true, 1);
    while let Some(c) = text[end..].chars().next().filter(|c| !"\n\r".contains(*c)) {
        let start = end;
        end += c.len_utf8();
        match c {
            '"' if sound => return (Token::Label, end),
            '"' => return (Token::Bad, end),
            '\\' if text[end..].starts_with(['"', '\\']) => end += 1,
            '\\' if sound => {
                let help = "inside a label, a backslash is `\\\\` and a quote is `\\\"`";
                wrong(start, end, "a backslash has no meaning here", help);
                sound = false;
            }
            c if c.is_control() && sound => {
                let message = format!("a label has no control characters: `{}`", readable(c));
                wrong(start, end, &message, "leave it out, here and in the data");
                sound = false;
            }
            _ => {}
        }
    }
    let help = "a label begins and ends with `\"` on the same line";
    wrong(0, 1, "this quote is never closed", help);
    (Token::Bad, end)
}

/// The label that is in quotes.
pub(crate) fn unquoted(text: &str) -> String {
    let inner = text.strip_prefix('"').and_then(|t| t.strip_suffix('"'));
    let mut label = String::new();
    let mut escaped = false;
    for c in inner.unwrap_or(text).chars() {
        escaped = c == '\\' && !escaped;
        if !escaped {
            label.push(c);
        }
    }
    label
}

/// A label as a theory has it: in quotes, unless it is a name. One with control characters, which only data can have,
/// cannot be written; it is shown with escapes.
pub(crate) fn written_label(label: &str) -> String {
    let is_name = label.starts_with(starts_name)
        && run_length(label, is_xid_continue) == label.len()
        && word(label) == Token::Name;
    match is_name {
        true => label.to_string(),
        false => quoted_label(label),
    }
}

/// A label as a theory has it in quotes: then it is a label even if something else has its name.
pub fn quoted_label(label: &str) -> String {
    let mut out = String::from('"');
    for c in label.chars() {
        match c {
            '"' | '\\' => out.extend(['\\', c]),
            c if c.is_control() => out.extend(c.escape_default()),
            c => out.push(c),
        }
    }
    out + "\""
}

/// A quotation in marks of another language, to the end of its line: one mistake, read as the name inside.
fn quoted(source: &Source, at: usize, out: &mut Diagnostics) -> (Token, usize) {
    let text = &source.text()[at..];
    let open = run_length(text, |c| QUOTES.contains(&c));
    let inner = text[open..].find(|c: char| c == '\n' || QUOTES.contains(&c));
    let inner = inner.unwrap_or(text.len() - open);
    let content = text[open..open + inner].trim_end();
    let closed = run_length(&text[open + content.len()..], |c| QUOTES.contains(&c));
    let length = open + content.len() + closed;
    let written = written_label(content);
    let (message, help) = match written == content {
        true => (
            "names are written without quotes",
            format!("write `{}`", shortened(content)),
        ),
        false => (
            "put a label that is not a name in plain double quotes",
            format!("write `{}`", shortened(&written)),
        ),
    };
    out.push(
        Diagnostic::error(Code::UnexpectedCharacter, message)
            .at(source, Span::new(at, at + length), "")
            .help(help),
    );
    (Token::Bad, length)
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
            Diagnostic::error(
                Code::MalformedNumber,
                format!(
                    "`{}` is neither a number nor a name",
                    shortened(&text[..length + tail])
                ),
            )
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
                    Diagnostic::error(
                        Code::NumberTooLarge,
                        "this number is too large for a 64-bit real",
                    )
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
                    Diagnostic::error(
                        Code::NumberTooLarge,
                        "this integer is too large: integers are 64-bit",
                    )
                    .at(source, span, "")
                    .help(format!("a real can be larger: `{}.0`", shortened(literal))),
                );
                Token::Integer(0)
            }
        }
    };
    (token, length)
}

/// The token at a symbol, ours or foreign; no token if something was dropped.
fn foreign_or_symbol(
    source: &Source,
    at: usize,
    out: &mut Diagnostics,
) -> Option<(Option<Token>, usize)> {
    let text = &source.text()[at..];
    let symbol = SYMBOLS.iter().find(|(s, _)| text.starts_with(s));
    let foreign = FOREIGN.iter().find(|(s, _)| text.starts_with(s));
    let (written, meant) = match (symbol, foreign) {
        (None, None) => return None,
        (Some((s, token)), None) => return Some((Some(*token), s.len())),
        // `=>` begins with the symbol `=`; the longer reading is intended.
        (Some((s, token)), Some((f, _))) if s.len() >= f.len() => {
            return Some((Some(*token), s.len()));
        }
        (_, Some((f, meant))) => (*f, *meant),
    };
    let (shown, code) = match written.chars().next() {
        Some(c) if !c.is_ascii() => (readable(c), format!(" (U+{:04X})", c as u32)),
        _ => (written.to_string(), String::new()),
    };
    let help = match (written, meant) {
        ("=>", _) => "write `->` for an implication, `>=` for a comparison".to_string(),
        (_, Meant::Write(m)) => format!("write `{m}`"),
        (_, Meant::Drop(why)) => why.to_string(),
        (_, Meant::Comment) => "comments start with `#`".to_string(),
    };
    let span = Span::new(at, at + written.len());
    out.push(
        Diagnostic::error(
            Code::UnexpectedCharacter,
            format!("`{shown}`{code} is not part of the language"),
        )
        .at(source, span, "")
        .help(help),
    );
    // Continue with the intended token, so that the rest of the line can be checked.
    Some(match meant {
        Meant::Write(m) => {
            let symbol = SYMBOLS.iter().find(|(s, _)| *s == m);
            (
                Some(symbol.map_or_else(|| word(m), |(_, t)| *t)),
                written.len(),
            )
        }
        Meant::Drop(_) => (None, written.len()),
        Meant::Comment => (None, text.find('\n').unwrap_or(text.len())),
    })
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
    fn labels_in_quotes() {
        use Token::*;
        let text = r#"P("a b", "\"\\", "in")"#;
        let expected = [Name, Open, Label, Comma, Label, Comma, Label, Close, End];
        assert_eq!(tokens(text), expected);
        for label in ["a b", "\"", "\\", "in", "3", "猫", "a.b", "\\\"", "'"] {
            let written = written_label(label);
            assert_eq!(unquoted(&written), label);
            let token = if label == "猫" { Name } else { Label };
            assert_eq!(tokens(&written), [token, End], "{written}");
        }
        for wrong in [
            "\"\"", "\"a", "\"a\n\"", "\"\\n\"", "\"a\tb\"", "\"\\", "\"",
        ] {
            let mut out = Diagnostics::new();
            tokenize(&Source::new("t", wrong), &mut out);
            assert!(out.has_errors(), "{wrong}");
        }
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
