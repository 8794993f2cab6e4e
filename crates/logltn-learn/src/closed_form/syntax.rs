//! The grammar of closed forms: `margin - norm(h + r - t)`.

use logltn::{Code, Span, did_you_mean};

use crate::phrase::{Mistake, Phrase};
use crate::spanned::Spanned;

/// Deeper than anyone writes; keeps recursion off the end of the stack.
const MAX_DEPTH: usize = 200;

/// An expression: each node after those that it is made of, the whole one last. A list and not a tree, so that a sum of
/// a million terms is no deep recursion.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Expression {
    pub nodes: Vec<Spanned<Node>>,
}

/// A part of an expression; its own parts by their places in the list.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Node {
    Number(f64),
    /// An argument, or a number that is learnt.
    Name(String),
    /// `x.position`.
    Field(Spanned<String>, Spanned<String>),
    /// `re(x)` and `im(x)`: a half of an argument's numbers.
    Half(Half, Spanned<String>),
    Unary(Unary, usize),
    Fold(Fold, usize),
    Binary(Binary, usize, usize),
    Pair(Pair, usize, usize),
}

/// A half of a vector of complex numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Half {
    /// The first: the real parts.
    Real,
    /// The second: the imaginary parts.
    Imaginary,
}

/// What is done to each number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Unary {
    Negate,
    Abs,
    Sqrt,
    Exp,
    Log,
    Tanh,
    Sigmoid,
    Softplus,
}

/// What makes one number of a vector.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Fold {
    Sum,
    Mean,
    Min,
    Max,
    Norm,
}

/// What is done number by number; one number goes with any vector.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Binary {
    Add,
    Subtract,
    Multiply,
    Divide,
    Min,
    Max,
}

/// What makes one number of two vectors of the same length.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Pair {
    Dot,
    Dist,
}

/// What a name before a parenthesis means.
#[derive(Clone, Copy)]
enum Function {
    Unary(Unary),
    Fold(Fold),
    Pair(Pair),
    Half(Half),
    /// Of one vector its least or greatest number; of several, number by number.
    Extreme(Fold, Binary),
}

const FUNCTIONS: [(&str, Function); 16] = [
    ("dot", Function::Pair(Pair::Dot)),
    ("dist", Function::Pair(Pair::Dist)),
    ("norm", Function::Fold(Fold::Norm)),
    ("sum", Function::Fold(Fold::Sum)),
    ("mean", Function::Fold(Fold::Mean)),
    ("min", Function::Extreme(Fold::Min, Binary::Min)),
    ("max", Function::Extreme(Fold::Max, Binary::Max)),
    ("abs", Function::Unary(Unary::Abs)),
    ("sqrt", Function::Unary(Unary::Sqrt)),
    ("exp", Function::Unary(Unary::Exp)),
    ("log", Function::Unary(Unary::Log)),
    ("tanh", Function::Unary(Unary::Tanh)),
    ("sigmoid", Function::Unary(Unary::Sigmoid)),
    ("softplus", Function::Unary(Unary::Softplus)),
    ("re", Function::Half(Half::Real)),
    ("im", Function::Half(Half::Imaginary)),
];

/// What others call it, and how it is written here.
const ELSEWHERE: [(&str, &str); 10] = [
    ("ln", "the natural logarithm is `log(x)`"),
    ("relu", "write `max(x, 0)`"),
    ("cos", "of two vectors: `dot(u, v) / (norm(u) * norm(v))`"),
    ("cosine", "write `dot(u, v) / (norm(u) * norm(v))`"),
    ("pow", "there are no powers: `x * x`, or `exp(n * log(x))`"),
    ("square", "write `x * x`"),
    ("logistic", "write `sigmoid(x)`"),
    ("l2", "write `norm(x)` or `dist(x, y)`"),
    ("distance", "write `dist(x, y)`"),
    ("inner", "write `dot(x, y)`"),
];

impl Expression {
    pub fn parse(text: &str) -> Result<Expression, Mistake> {
        let mut parser = Parser {
            phrase: Phrase::new(text),
            nodes: Vec::new(),
        };
        parser.sum(0)?;
        if let Some((symbol, help)) = parser.operator_of_others() {
            let mut wrong = parser.phrase.unexpected("`+`, `-`, `*`, `/` or the end");
            wrong.span = Span::new(
                wrong.span.start as usize,
                wrong.span.start as usize + symbol.len(),
            );
            return Err(wrong.help(help));
        }
        parser
            .phrase
            .end()
            .map_err(|_| parser.phrase.unexpected("`+`, `-`, `*`, `/` or the end"))?;
        let nodes = parser.nodes;
        Ok(Expression { nodes })
    }
}

struct Parser<'t> {
    phrase: Phrase<'t>,
    nodes: Vec<Spanned<Node>>,
}

impl Parser<'_> {
    fn push(&mut self, node: Node, span: Span) -> usize {
        self.nodes.push(Spanned::new(node, span));
        self.nodes.len() - 1
    }

    fn between(&self, a: usize, b: usize) -> Span {
        self.nodes[a].span.to(self.nodes[b].span)
    }

    /// An operator that other languages have, with how to do without it.
    fn operator_of_others(&mut self) -> Option<(&'static str, &'static str)> {
        const POWERS: &str = "there are no powers: `x * x`, or `exp(n * log(x))`";
        [
            ("**", POWERS),
            ("^", POWERS),
            ("@", "write `dot(u, v)`"),
            ("%", "there is no remainder here"),
            (
                "<",
                "a closed form is a number: compare softly, as in `sigmoid(x - y)`",
            ),
            (
                ">",
                "a closed form is a number: compare softly, as in `sigmoid(x - y)`",
            ),
            (
                "[",
                "a vector is used whole; fields have names, `x.position`",
            ),
        ]
        .into_iter()
        .find(|(symbol, _)| self.phrase.starts_with(symbol))
    }

    fn sum(&mut self, depth: usize) -> Result<usize, Mistake> {
        let mut left = self.product(depth)?;
        loop {
            let operator = match () {
                () if self.phrase.accept('+') => Binary::Add,
                () if self.phrase.accept('-') => Binary::Subtract,
                () => return Ok(left),
            };
            let right = self.product(depth)?;
            let span = self.between(left, right);
            left = self.push(Node::Binary(operator, left, right), span);
        }
    }

    fn product(&mut self, depth: usize) -> Result<usize, Mistake> {
        let mut left = self.signed(depth)?;
        loop {
            let operator = match () {
                () if self.phrase.starts_with("**") => return Ok(left),
                () if self.phrase.accept('*') => Binary::Multiply,
                () if self.phrase.accept('/') => Binary::Divide,
                () => return Ok(left),
            };
            let right = self.signed(depth)?;
            let span = self.between(left, right);
            left = self.push(Node::Binary(operator, left, right), span);
        }
    }

    fn signed(&mut self, depth: usize) -> Result<usize, Mistake> {
        let start = self.phrase.here();
        let mut minus = false;
        while self.phrase.accept('-') {
            minus = !minus;
        }
        let inner = self.primary(depth)?;
        if !minus {
            return Ok(inner);
        }
        let span = Span::new(start, self.nodes[inner].span.end as usize);
        Ok(self.push(Node::Unary(Unary::Negate, inner), span))
    }

    fn primary(&mut self, depth: usize) -> Result<usize, Mistake> {
        if depth > MAX_DEPTH {
            return Err(self.phrase.unexpected("less nesting"));
        }
        let start = self.phrase.here();
        if self.phrase.accept('(') {
            let inner = self.sum(depth + 1)?;
            self.close()?;
            self.nodes[inner].span = Span::new(start, self.phrase.position());
            return Ok(inner);
        }
        if let Some(number) = self.phrase.number()? {
            if !(number.value as f32).is_finite() {
                let what = format!(
                    "{:e} is more than single precision can hold, which is what closed forms compute in",
                    number.value
                );
                return Err(Mistake::new(Code::ValueOutOfRange, number.span, "", what));
            }
            return Ok(self.push(Node::Number(number.value), number.span));
        }
        let name = self
            .phrase
            .name("a number, an argument, a name in `learn` or a function such as `norm(…)`")?;
        if self.phrase.accept('(') {
            return self.call(name, depth);
        }
        if self.phrase.accept('.') {
            let field = self.phrase.name("the name of a field")?;
            let span = name.span.to(field.span);
            return Ok(self.push(Node::Field(name, field), span));
        }
        Ok(self.push(Node::Name(name.value), name.span))
    }

    /// `)`, or what to write instead of what is there.
    fn close(&mut self) -> Result<(), Mistake> {
        if let Some((_, help)) = self.operator_of_others() {
            let wrong = self.phrase.unexpected("`+`, `-`, `*`, `/` or `)`");
            return Err(wrong.help(help));
        }
        self.phrase.expect(')')
    }

    fn call(&mut self, name: Spanned<String>, depth: usize) -> Result<usize, Mistake> {
        let found = FUNCTIONS.iter().find(|(known, _)| *known == name.value);
        let Some((_, function)) = found else {
            let known = FUNCTIONS.map(|(known, _)| known);
            let message = format!("closed forms have no function `{}`", name.value);
            let wrong = Mistake::new(Code::UnknownFunction, name.span, "not known", message);
            let elsewhere = ELSEWHERE.iter().find(|(other, _)| *other == name.value);
            let help = match (elsewhere, did_you_mean(&name, known)) {
                (Some((_, help)), _) => help.to_string(),
                (None, Some(guess)) => guess,
                (None, None) => format!("there are {}", known.map(|f| format!("`{f}`")).join(", ")),
            };
            return Err(wrong.help(help));
        };
        let mut arguments = Vec::new();
        if !self.phrase.accept(')') {
            loop {
                arguments.push(self.sum(depth + 1)?);
                if !self.phrase.accept(',') {
                    break;
                }
            }
            self.close()?;
        }
        let span = Span::new(name.span.start as usize, self.phrase.position());
        let wanted = match (function, arguments.as_slice()) {
            (Function::Unary(f), [x]) => return Ok(self.push(Node::Unary(*f, *x), span)),
            (Function::Fold(f), [x]) => return Ok(self.push(Node::Fold(*f, *x), span)),
            (Function::Extreme(f, _), [x]) => return Ok(self.push(Node::Fold(*f, *x), span)),
            (Function::Pair(f), [x, y]) => return Ok(self.push(Node::Pair(*f, *x, *y), span)),
            (Function::Extreme(_, f), [first, others @ ..]) => {
                let both = |left, right: &usize| self.push(Node::Binary(*f, left, *right), span);
                return Ok(others.iter().fold(*first, both));
            }
            (Function::Half(half), [_]) => match self.nodes.pop() {
                // Nothing but a name stands between the brackets, so its node is the last.
                Some(Spanned {
                    value: Node::Name(of),
                    span: place,
                }) => return Ok(self.push(Node::Half(*half, Spanned::new(of, place)), span)),
                _ => "the name of an argument of the predicate",
            },
            (Function::Unary(_) | Function::Fold(_) | Function::Half(_), _) => "one argument",
            (Function::Pair(_), _) => "two arguments",
            (Function::Extreme(..), _) => "one argument or more",
        };
        let message = format!(
            "`{}` takes {wanted}, but has {} here",
            name.value,
            arguments.len()
        );
        let label = format!("takes {wanted}");
        Err(Mistake::new(
            Code::WrongNumberOfArguments,
            span,
            &label,
            message,
        ))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// In prefix form.
    fn shown(text: &str) -> String {
        let parsed = Expression::parse(text).unwrap_or_else(|wrong| panic!("{wrong:?}"));
        let mut words: Vec<String> = Vec::new();
        for node in &parsed.nodes {
            words.push(match &node.value {
                Node::Number(x) => x.to_string(),
                Node::Name(name) => name.clone(),
                Node::Field(x, field) => format!("{}.{}", x.value, field.value),
                Node::Half(half, x) => format!("({half:?} {})", x.value),
                Node::Unary(f, x) => format!("({f:?} {})", words[*x]),
                Node::Fold(f, x) => format!("({f:?} {})", words[*x]),
                Node::Binary(f, x, y) => format!("({f:?} {} {})", words[*x], words[*y]),
                Node::Pair(f, x, y) => format!("({f:?} {} {})", words[*x], words[*y]),
            });
        }
        words.pop().expect("a node")
    }

    #[test]
    fn products_bind_tighter_than_sums_and_both_to_the_left() {
        for (text, meant) in [
            ("a - b - c", "(Subtract (Subtract a b) c)"),
            ("a - b * c / d", "(Subtract a (Divide (Multiply b c) d))"),
            ("-a * b", "(Multiply (Negate a) b)"),
            ("a * -b", "(Multiply a (Negate b))"),
            ("--a", "a"),
            ("(a + b) * 2", "(Multiply (Add a b) 2)"),
            (
                "margin - norm(h + r - t)",
                "(Subtract margin (Norm (Subtract (Add h r) t)))",
            ),
            ("max(a, 0, .5e1)", "(Max (Max a 0) 5)"),
            ("min(x.position)", "(Min x.position)"),
            ("re(x) * im((y))", "(Multiply (Real x) (Imaginary y))"),
            ("dot(a, 1e-3)", "(Dot a 0.001)"),
        ] {
            assert_eq!(shown(text), meant, "{text}");
        }
        let long = vec!["x"; 100_000].join("+");
        assert_eq!(Expression::parse(&long).map(|e| e.nodes.len()), Ok(199_999));
    }

    #[test]
    fn mistakes_are_shown_where_they_are() {
        for (text, place, words) in [
            ("a +", 3..3, "found the end of the string"),
            ("a b", 2..3, "`+`, `-`, `*`, `/` or the end"),
            ("(a", 2..2, "expected `)`"),
            ("norm(a", 6..6, "expected `)`"),
            ("1 + nrom(a)", 4..8, "no function `nrom`"),
            (
                "dist(a)",
                0..7,
                "`dist` takes two arguments, but has 1 here",
            ),
            ("sqrt()", 0..6, "`sqrt` takes one argument, but has 0"),
            ("max()", 0..5, "one argument or more"),
            ("re(a + b)", 0..9, "takes the name of an argument"),
            ("im(a, b)", 0..8, "takes one argument, but has 2"),
            ("a ^ 2", 2..3, "`+`"),
            ("norm(a ** 2)", 7..8, "`)`"),
            ("1e999", 0..5, "too large"),
            ("a..b", 2..3, "the name of a field"),
            ("", 0..0, "a number, an argument"),
        ] {
            let wrong = Expression::parse(text).expect_err(text);
            let found = wrong.span.start as usize..wrong.span.end as usize;
            assert_eq!(found, place, "{text}: {wrong:?}");
            assert!(wrong.message.contains(words), "{text}: {wrong:?}");
        }
        let deep = format!("{}a{}", "(".repeat(9999), ")".repeat(9999));
        let wrong = Expression::parse(&deep).expect_err("too deep");
        assert!(wrong.message.contains("less nesting"), "{wrong:?}");
        let help = |text: &str| Expression::parse(text).expect_err(text).help;
        assert_eq!(help("nrom(a)").as_deref(), Some("did you mean `norm`?"));
        assert!(help("ln(a)").expect("help").contains("`log(x)`"));
        assert!(help("a ** 2").expect("help").contains("`x * x`"));
    }
}
