//! What a network reads: `inputs = ["x.roi", "stop(type(x))", "containment(x.position, y.position)"]`.

use std::fmt;

use logltn::Span;

use super::phrase::Phrase;
use super::reader::{Item, Problems};
use super::spanned::Spanned;

/// One input of a network. Variables are the names in `args`.
#[derive(Clone, Debug, PartialEq)]
pub enum InputExpr {
    /// `x`: all features of an argument.
    Features(Spanned<String>),
    /// `x.position`: one array of a file that holds several.
    Field {
        /// The argument.
        variable: Spanned<String>,
        /// The array's name.
        field: Spanned<String>,
    },
    /// `type(x)`: the logits of a predicate, or the value of a function.
    Call {
        /// The predicate or function.
        symbol: Spanned<String>,
        /// Its arguments; for a softmax predicate, all but the last.
        args: Vec<Spanned<String>>,
    },
    /// `stop(…)`: the same value, but no gradient flows back through it.
    Stop(Box<InputExpr>),
    /// `containment(x.position, y.position)`: how much of the first box lies in the second.
    Containment(Box<InputExpr>, Box<InputExpr>),
}

/// Deeper than anyone writes; keeps recursion off the end of the stack.
const MAX_DEPTH: usize = 16;

impl InputExpr {
    /// Reads one string of `inputs`.
    pub(super) fn read(item: &Item<'_>, problems: &mut Problems<'_>) -> Option<Spanned<InputExpr>> {
        let text = item.string(
            problems,
            "an input such as \"x\" or \"x.position\", as a string",
        )?;
        let mut phrase = Phrase::new(item, &text.value, problems.source);
        let expr = parse(&mut phrase, problems, 0)?;
        phrase.end(problems)?;
        Some(Spanned::new(expr, phrase.so_far()))
    }

    /// The variables it uses.
    pub fn variables(&self) -> Vec<&Spanned<String>> {
        match self {
            InputExpr::Features(variable) | InputExpr::Field { variable, .. } => vec![variable],
            InputExpr::Call { args, .. } => args.iter().collect(),
            InputExpr::Stop(inner) => inner.variables(),
            InputExpr::Containment(a, b) => [a.variables(), b.variables()].concat(),
        }
    }

    /// The predicate or function that it reads, with the arguments it passes.
    pub fn call(&self) -> Option<(&Spanned<String>, &[Spanned<String>])> {
        match self {
            InputExpr::Call { symbol, args } => Some((symbol, args)),
            InputExpr::Stop(inner) => inner.call(),
            _ => None,
        }
    }

    /// Whether gradient flows back through it.
    pub fn passes_gradient(&self) -> bool {
        !matches!(self, InputExpr::Stop(_))
    }
}

impl fmt::Display for InputExpr {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            InputExpr::Features(variable) => f.write_str(variable),
            InputExpr::Field { variable, field } => write!(f, "{}.{}", variable.value, field.value),
            InputExpr::Call { symbol, args } => {
                let args: Vec<&str> = args.iter().map(|a| a.as_str()).collect();
                write!(f, "{}({})", symbol.value, args.join(", "))
            }
            InputExpr::Stop(inner) => write!(f, "stop({inner})"),
            InputExpr::Containment(a, b) => write!(f, "containment({a}, {b})"),
        }
    }
}

fn parse(phrase: &mut Phrase<'_>, problems: &mut Problems<'_>, depth: usize) -> Option<InputExpr> {
    if depth > MAX_DEPTH {
        return phrase.unexpected(problems, "less nesting");
    }
    let name = phrase.name(
        problems,
        "an argument's name, `stop(…)`, `containment(…, …)` or a predicate",
    )?;
    if phrase.accept('.') {
        let field = phrase.name(problems, "the name of a field")?;
        return Some(InputExpr::Field {
            variable: name,
            field,
        });
    }
    if !phrase.accept('(') {
        return Some(InputExpr::Features(name));
    }
    match name.as_str() {
        "stop" => {
            let inner = parse(phrase, problems, depth + 1)?;
            phrase.expect(problems, ')')?;
            Some(InputExpr::Stop(Box::new(inner)))
        }
        "containment" => {
            let part = box_of(phrase, problems)?;
            phrase.expect(problems, ',')?;
            let whole = box_of(phrase, problems)?;
            phrase.expect(problems, ')')?;
            Some(InputExpr::Containment(Box::new(part), Box::new(whole)))
        }
        _ => {
            let mut args = vec![phrase.name(problems, "an argument's name")?];
            while phrase.accept(',') {
                args.push(phrase.name(problems, "an argument's name")?);
            }
            phrase.expect(problems, ')')?;
            Some(InputExpr::Call { symbol: name, args })
        }
    }
}

/// `x` or `x.field`: four numbers that are a bounding box.
fn box_of(phrase: &mut Phrase<'_>, problems: &mut Problems<'_>) -> Option<InputExpr> {
    let variable = phrase.name(problems, "a box such as `x.position`")?;
    if phrase.accept('.') {
        let field = phrase.name(problems, "the name of a field")?;
        return Some(InputExpr::Field { variable, field });
    }
    Some(InputExpr::Features(variable))
}

/// `dist(Point, Point)`: the two sorts.
pub(super) fn read_distance(
    item: &Item<'_>,
    problems: &mut Problems<'_>,
) -> Option<[Spanned<String>; 2]> {
    let text = item.string(problems, "\"dist(S, S)\" for a sort S, as a string")?;
    let mut phrase = Phrase::new(item, &text.value, problems.source);
    let name = phrase.name(problems, "`dist(S, S)` for a sort S")?;
    if name.as_str() != "dist" {
        let at: Span = name.span;
        problems.push(
            at,
            "only `dist` is known",
            logltn::Diagnostic::error(
                logltn::Code::MalformedExpression,
                format!(
                    "`{}`: expected `dist(S, S)` for a sort S, found `{}`",
                    item.path, name.value
                ),
            ),
        );
        return None;
    }
    phrase.expect(problems, '(')?;
    let first = phrase.name(problems, "the name of a sort")?;
    phrase.expect(problems, ',')?;
    let second = phrase.name(problems, "the name of a sort")?;
    phrase.expect(problems, ')')?;
    phrase.end(problems)?;
    Some([first, second])
}
