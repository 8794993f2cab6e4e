//! What the names in a closed form stand for, and how many numbers each part of it is.

use logltn::{Code, Span, did_you_mean};

use super::sums::{Of, Sum};
use super::syntax::{Binary, Expression, Fold, Half, Mistake, Node, Pair};
use super::tape::{Leaf, Op};
use crate::spanned::Spanned;

/// An argument of a closed form.
#[derive(Clone, Debug, Default)]
pub(crate) struct Given {
    pub name: String,
    /// How many numbers it is; 0 if its sort has none.
    pub length: usize,
    /// Its fields: where each begins, and how many numbers it is.
    pub fields: Vec<(String, usize, usize)>,
    /// The sort that it is of.
    pub sort: Option<String>,
}

impl Given {
    pub fn new(name: String, length: usize) -> Given {
        Given {
            name,
            length,
            ..Given::default()
        }
    }
}

/// How many numbers something is, and whether each row has its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Shape {
    pub length: usize,
    pub varying: bool,
}

/// A node whose names have been looked up; its parts by their places in the list.
#[derive(Clone, Copy, Debug)]
pub(super) struct Typed {
    pub op: Op,
    pub shape: Shape,
}

struct Check<'a> {
    given: &'a [Given],
    learn: &'a [(String, Vec<f64>)],
    mistakes: Vec<Mistake>,
}

/// The nodes of an expression with their lengths; or all mistakes, each once.
pub(super) fn check(
    expression: &Expression,
    given: &[Given],
    learn: &[(String, Vec<f64>)],
) -> Result<Vec<Typed>, Vec<Mistake>> {
    let mut check = Check {
        given,
        learn,
        mistakes: Vec::new(),
    };
    // `None`: what it depends on is wrong, which has been said.
    let mut nodes: Vec<Option<Typed>> = Vec::with_capacity(expression.nodes.len());
    for node in &expression.nodes {
        let typed = check.node(&node.value, node.span, &nodes);
        nodes.push(typed);
    }
    if let (Some(Some(whole)), Some(node)) = (nodes.last(), expression.nodes.last())
        && whole.shape.length != 1
    {
        let message = format!(
            "a closed form must be one number, but this is a vector of {}",
            whole.shape.length
        );
        let wrong = Mistake::new(Code::WrongShape, node.span, "not one number", message);
        check
            .mistakes
            .push(wrong.help("`sum`, `mean`, `norm`, `dot` or `dist` makes one number of vectors"));
    }
    match check.mistakes.is_empty() {
        true => Ok(nodes.into_iter().flatten().collect()),
        false => Err(check.mistakes),
    }
}

impl Check<'_> {
    fn node(&mut self, node: &Node, span: Span, nodes: &[Option<Typed>]) -> Option<Typed> {
        let shape = |at: &usize| nodes[*at].map(|typed| typed.shape);
        let number = |varying| Shape { length: 1, varying };
        Some(match node {
            Node::Number(x) => Typed {
                op: Op::Number(x.to_bits()),
                shape: number(false),
            },
            Node::Name(name) => self.name(name, span)?,
            Node::Field(variable, field) => self.field(variable, field)?,
            Node::Half(half, of) => self.half(*half, of)?,
            Node::Unary(f, x) => Typed {
                op: Op::Unary(*f, *x),
                shape: shape(x)?,
            },
            Node::Fold(f, x) => Typed {
                op: match f {
                    Fold::Sum => Op::Sum(Sum::new(Of::Product, &[*x], false)),
                    Fold::Mean => Op::Sum(Sum::new(Of::Product, &[*x], true)),
                    Fold::Norm => Op::Sum(Sum::new(Of::Norm, &[*x], false)),
                    Fold::Min | Fold::Max => Op::Extreme {
                        greatest: *f == Fold::Max,
                        of: *x,
                    },
                },
                shape: number(shape(x)?.varying),
            },
            Node::Binary(f, x, y) => {
                let (a, b) = (shape(x)?, shape(y)?);
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
                Typed {
                    op: Op::Binary(*f, *x, *y),
                    shape: Shape {
                        length: a.length.max(b.length),
                        varying: a.varying || b.varying,
                    },
                }
            }
            Node::Pair(f, x, y) => {
                let (a, b) = (shape(x)?, shape(y)?);
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
                Typed {
                    op: Op::Sum(match f {
                        Pair::Dot => Sum::new(Of::Product, &[*x, *y], false),
                        Pair::Dist => Sum::new(Of::Norm, &[*x, *y], false).last_minus(),
                    }),
                    shape: number(a.varying || b.varying),
                }
            }
        })
    }

    fn field(&mut self, variable: &Spanned<String>, field: &Spanned<String>) -> Option<Typed> {
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
        Some(leaf(argument, from, length))
    }

    fn half(&mut self, half: Half, of: &Spanned<String>) -> Option<Typed> {
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
        Some(leaf(argument, from, length / 2))
    }

    /// Two lengths that do not go together.
    fn lengths(&mut self, message: String, a: Shape, b: Shape, span: Span) {
        let label = format!("{} and {} numbers", a.length, b.length);
        let wrong = Mistake::new(Code::SizesDisagree, span, &label, message);
        self.mistakes.push(wrong);
    }

    fn name(&mut self, name: &str, span: Span) -> Option<Typed> {
        if let Some(at) = self.learn.iter().position(|(learnt, _)| learnt == name) {
            return Some(Typed {
                op: Op::Learnt(at),
                shape: Shape {
                    length: self.learn[at].1.len(),
                    varying: false,
                },
            });
        }
        let argument = self.argument(name, span)?;
        Some(leaf(argument, 0, self.given[argument].length))
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
}

fn leaf(argument: usize, from: usize, length: usize) -> Typed {
    Typed {
        op: Op::Leaf(Leaf {
            argument,
            from,
            length,
        }),
        shape: Shape {
            length,
            varying: true,
        },
    }
}
