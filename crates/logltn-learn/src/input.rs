//! What a network reads: `inputs = ["x.roi", "stop(type(x))", "containment(x.position, y.position)"]`.

use std::fmt;

use logltn::Span;

use crate::phrase::{Mistake, Phrase};
use crate::spanned::Spanned;

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
    /// Reads an input; places are those in the text.
    ///
    /// ```
    /// use logltn_learn::InputExpr;
    /// let input = InputExpr::parse("stop( type(x) )").unwrap();
    /// assert_eq!(input.to_string(), "stop(type(x))");
    /// assert_eq!(input.call().unwrap().0.value, "type");
    /// let wrong = InputExpr::parse("type(x").unwrap_err();
    /// assert_eq!(wrong.message, "expected `)`, found the end of the string");
    /// ```
    pub fn parse(text: &str) -> Result<InputExpr, Mistake> {
        let mut phrase = Phrase::new(text);
        let expr = parse(&mut phrase, 0)?;
        phrase.end()?;
        Ok(expr)
    }

    /// Moves the places of all names, for a text that is a part of another.
    pub fn move_spans(&mut self, to: &impl Fn(Span) -> Span) {
        let names: Vec<&mut Spanned<String>> = match self {
            InputExpr::Features(variable) => vec![variable],
            InputExpr::Field { variable, field } => vec![variable, field],
            InputExpr::Call { symbol, args } => std::iter::once(symbol).chain(args).collect(),
            InputExpr::Stop(inner) => return inner.move_spans(to),
            InputExpr::Containment(a, b) => {
                a.move_spans(to);
                return b.move_spans(to);
            }
        };
        names.into_iter().for_each(|name| name.span = to(name.span));
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

fn parse(phrase: &mut Phrase<'_>, depth: usize) -> Result<InputExpr, Mistake> {
    if depth > MAX_DEPTH {
        return Err(phrase.unexpected("less nesting"));
    }
    let name = phrase.name("an argument's name, `stop(…)`, `containment(…, …)` or a predicate")?;
    if phrase.accept('.') {
        let field = phrase.name("the name of a field")?;
        return Ok(InputExpr::Field {
            variable: name,
            field,
        });
    }
    if !phrase.accept('(') {
        return Ok(InputExpr::Features(name));
    }
    match name.as_str() {
        "stop" => {
            let inner = parse(phrase, depth + 1)?;
            phrase.expect(')')?;
            Ok(InputExpr::Stop(Box::new(inner)))
        }
        "containment" => {
            let part = box_of(phrase)?;
            phrase.expect(',')?;
            let whole = box_of(phrase)?;
            phrase.expect(')')?;
            Ok(InputExpr::Containment(Box::new(part), Box::new(whole)))
        }
        _ => {
            let mut args = vec![phrase.name("an argument's name")?];
            while phrase.accept(',') {
                args.push(phrase.name("an argument's name")?);
            }
            phrase.expect(')')?;
            Ok(InputExpr::Call { symbol: name, args })
        }
    }
}

/// `x` or `x.field`: four numbers that are a bounding box.
fn box_of(phrase: &mut Phrase<'_>) -> Result<InputExpr, Mistake> {
    let variable = phrase.name("a box such as `x.position`")?;
    if phrase.accept('.') {
        let field = phrase.name("the name of a field")?;
        return Ok(InputExpr::Field { variable, field });
    }
    Ok(InputExpr::Features(variable))
}

/// An input with its arguments by their places, `#1.position`: what they are called makes no difference.
pub(crate) fn by_place(text: &str, args: &[String]) -> String {
    let part_of_a_name = |c: char| c.is_alphanumeric() || c == '_';
    let mut out = String::new();
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let length = match rest.find(|c| !part_of_a_name(c)) {
            _ if !part_of_a_name(first) => first.len_utf8(),
            Some(end) => end,
            None => rest.len(),
        };
        let (word, after) = rest.split_at(length);
        let is_argument = !out.ends_with('.') && !after.starts_with('(');
        match args.iter().position(|arg| arg == word) {
            Some(place) if is_argument => out += &format!("#{}", place + 1),
            _ => out += word,
        }
        rest = after;
    }
    out
}

#[cfg(test)]
mod tests {
    use super::by_place;

    #[test]
    fn arguments_go_by_their_places() {
        let args = ["x", "type"].map(String::from);
        let said = by_place("containment(x.x, stop(type(type.position)))", &args);
        assert_eq!(said, "containment(#1.x, stop(type(#2.position)))");
    }
}
