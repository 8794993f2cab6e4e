//! What the names in a closed form stand for, and how many numbers each part of it is.

use logltn::{Code, Span, did_you_mean};

use super::syntax::{Binary, Expression, Fold, Half, Node, Pair};
use super::tape::{Leaf, Op, Shape, Tape};
use crate::phrase::Mistake;
use crate::spanned::Spanned;

/// An argument of a closed form.
#[derive(Clone, Debug, Default)]
pub(crate) struct Argument {
    pub name: String,
    /// How many numbers it is; 0 if its sort has none.
    pub length: usize,
    /// Its fields: where each begins, and how many numbers it is.
    pub fields: Vec<(String, usize, usize)>,
    /// The sort that it is of.
    pub sort: Option<String>,
}

impl Argument {
    pub fn new(name: String, length: usize) -> Argument {
        Argument {
            name,
            length,
            ..Argument::default()
        }
    }
}

struct Check<'a> {
    given: &'a [Argument],
    learn: &'a [(String, Vec<f64>)],
    tape: Tape,
    mistakes: Vec<Mistake>,
}

/// The program of an expression; or all mistakes, each once.
pub(super) fn check(
    expression: &Expression,
    given: &[Argument],
    learn: &[(String, Vec<f64>)],
) -> Result<Tape, Vec<Mistake>> {
    let mut check = Check {
        given,
        learn,
        tape: Tape::default(),
        mistakes: Vec::new(),
    };
    // The place of each node's result. `None`: what it depends on is wrong, which has been said.
    let mut nodes: Vec<Option<usize>> = Vec::with_capacity(expression.nodes.len());
    for node in &expression.nodes {
        let place = check.node(&node.value, node.span, &nodes);
        nodes.push(place);
    }
    let root = nodes.last().copied().flatten();
    if let (Some(root), Some(node)) = (root, expression.nodes.last())
        && let length @ (0 | 2..) = check.tape.shapes[root].length
    {
        let message = format!("a closed form must be one number, but this is a vector of {length}");
        let wrong = Mistake::new(Code::WrongShape, node.span, "not one number", message);
        check
            .mistakes
            .push(wrong.help("`sum`, `mean`, `norm`, `dot` or `dist` makes one number of vectors"));
    }
    match check.mistakes.is_empty() {
        true => Ok(check.tape.finish(root.unwrap_or(0))),
        false => Err(check.mistakes),
    }
}

impl Check<'_> {
    fn node(&mut self, node: &Node, span: Span, nodes: &[Option<usize>]) -> Option<usize> {
        let tape = &mut self.tape;
        Some(match node {
            Node::Number(x) => tape.number(*x),
            Node::Name(name) => self.name(name, span)?,
            Node::Field(variable, field) => self.field(variable, field)?,
            Node::Half(half, of) => self.half(*half, of)?,
            Node::Unary(f, x) => tape.unary(*f, nodes[*x]?),
            Node::Fold(f, x) => {
                let x = nodes[*x]?;
                match f {
                    Fold::Sum => tape.sum(&[x]),
                    Fold::Mean => tape.mean(x),
                    Fold::Norm => tape.norm(x, None),
                    Fold::Min | Fold::Max => tape.extreme(*f == Fold::Max, x),
                }
            }
            Node::Binary(f, x, y) => {
                let (x, y) = (nodes[*x]?, nodes[*y]?);
                let (a, b) = (tape.shapes[x], tape.shapes[y]);
                if a.length != b.length && a.length != 1 && b.length != 1 {
                    let does = match f {
                        Binary::Add => "added to",
                        Binary::Subtract => "subtracted from each other with",
                        Binary::Multiply => "multiplied by",
                        Binary::Divide => "divided by",
                        Binary::Min | Binary::Max => "compared with",
                    };
                    let message = format!(
                        "a vector of {} cannot be {does} one of {}",
                        a.length, b.length
                    );
                    self.lengths(message, a, b, span);
                    return None;
                }
                tape.binary(*f, x, y)
            }
            Node::Pair(f, x, y) => {
                let (x, y) = (nodes[*x]?, nodes[*y]?);
                let (a, b) = (tape.shapes[x], tape.shapes[y]);
                if a.length != b.length {
                    let name = match f {
                        Pair::Dot => "dot",
                        Pair::Dist => "dist",
                    };
                    let message = format!(
                        "`{name}` needs two vectors of the same length, not of {} and {}",
                        a.length, b.length
                    );
                    self.lengths(message, a, b, span);
                    return None;
                }
                match f {
                    Pair::Dot => tape.sum(&[x, y]),
                    Pair::Dist => tape.norm(x, Some(y)),
                }
            }
        })
    }

    fn field(&mut self, variable: &Spanned<String>, field: &Spanned<String>) -> Option<usize> {
        let argument = self.argument(variable, variable.span)?;
        let fields = &self.given[argument].fields;
        let found = fields.iter().find(|(name, ..)| *name == field.value);
        let Some(&(_, from, length)) = found else {
            let names: Vec<&str> = fields.iter().map(|(name, ..)| name.as_str()).collect();
            let message = format!("`{}` has no field `{}`", variable.value, field.value);
            let wrong = Mistake::new(Code::UnknownField, field.span, "no such field", message);
            let help = match (did_you_mean(field, names.iter().copied()), names.is_empty()) {
                (Some(guess), _) => guess,
                (None, true) => format!("write `{}` for all its numbers", variable.value),
                (None, false) => {
                    let list: Vec<String> = names.iter().map(|n| format!("`{n}`")).collect();
                    format!("its fields are {}", list.join(", "))
                }
            };
            self.mistakes.push(wrong.help(help));
            return None;
        };
        Some(self.leaf(argument, from, length))
    }

    fn half(&mut self, half: Half, of: &Spanned<String>) -> Option<usize> {
        let argument = self.argument(of, of.span)?;
        let length = self.given[argument].length;
        if !length.is_multiple_of(2) {
            let message = format!(
                "`{}` is {length} numbers, which are not as many real as imaginary parts",
                of.value
            );
            let wrong = Mistake::new(Code::WrongShape, of.span, "an odd number", message);
            let help = "`re(x)` is the first half of x, and `im(x)` the second";
            self.mistakes.push(wrong.help(help.to_string()));
            return None;
        }
        let from = match half {
            Half::Real => 0,
            Half::Imaginary => length / 2,
        };
        Some(self.leaf(argument, from, length / 2))
    }

    /// Two lengths that do not go together.
    fn lengths(&mut self, message: String, a: Shape, b: Shape, span: Span) {
        let label = format!("{} and {} numbers", a.length, b.length);
        let wrong = Mistake::new(Code::SizesDisagree, span, &label, message);
        self.mistakes.push(wrong);
    }

    fn name(&mut self, name: &str, span: Span) -> Option<usize> {
        if let Some(at) = self.learn.iter().position(|(learnt, _)| learnt == name) {
            let shape = Shape {
                length: self.learn[at].1.len(),
                varying: false,
            };
            return Some(self.tape.push(Op::Learnt(at), shape));
        }
        let argument = self.argument(name, span)?;
        Some(self.leaf(argument, 0, self.given[argument].length))
    }

    /// An argument that is made of numbers.
    fn argument(&mut self, name: &str, span: Span) -> Option<usize> {
        let known = self.given.iter().map(|argument| argument.name.as_str());
        let Some(at) = known.clone().position(|argument| argument == name) else {
            let all = known.chain(self.learn.iter().map(|(learnt, _)| learnt.as_str()));
            let list: Vec<String> = all.clone().map(|name| format!("`{name}`")).collect();
            let message = format!("`{name}` is neither an argument nor in `learn`");
            let wrong = Mistake::new(Code::UnknownVariable, span, "not known", message);
            // Any letter is near to any other.
            let guess = Some(name).filter(|name| name.chars().count() > 1);
            let help = match guess.and_then(|name| did_you_mean(name, all)) {
                Some(guess) => guess,
                None if list.is_empty() => {
                    format!("put `{name}` into `learn`, with its first value")
                }
                None => format!(
                    "there are {}; a number that is learnt is in `learn`, with its first value",
                    list.join(", ")
                ),
            };
            self.mistakes.push(wrong.help(help));
            return None;
        };
        let argument = &self.given[at];
        if argument.length == 0 {
            let sort = argument.sort.clone().unwrap_or_default();
            let message =
                format!("`{name}` is neither a number nor a vector: sort `{sort}` has no features");
            let wrong = Mistake::new(Code::NoFeatures, span, "nothing to compute with", message);
            self.mistakes.push(wrong.help(format!(
                "give `{sort}` features, or vectors that are learnt"
            )));
            return None;
        }
        Some(at)
    }

    fn leaf(&mut self, argument: usize, from: usize, length: usize) -> usize {
        self.tape.leaf(Leaf {
            argument,
            from,
            length,
        })
    }
}
