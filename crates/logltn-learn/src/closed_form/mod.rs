//! Closed forms: a predicate as arithmetic over its arguments and numbers that are learnt, `margin - norm(h + r - t)`.
//!
//! The text becomes a list of nodes (`syntax.rs`), whose names and lengths are then looked up (`lengths.rs`), and these a
//! short program of operations over blocks of rows (`tape.rs`). The derivatives are operations of the same program: the way
//! back is another choice of what to compute (`plan.rs`), and both ways run alike (`run.rs`). Sums over vectors, which are most
//! of the work, read these where they are (`sums.rs`), unless a product of matrices has found them already. Where the rows'
//! numbers come from is the model's affair.

mod lengths;
mod plan;
mod run;
mod sums;
mod syntax;
mod tape;
#[cfg(test)]
mod tests;

use logltn::{Code, Diagnostic, Diagnostics, Output, OutputKind, Source, Span};

use crate::phrase::Mistake;
use syntax::Expression;

pub(crate) use lengths::Argument;
pub(crate) use plan::Plan;
pub(crate) use run::{InPlace, Work};
pub(crate) use tape::Tape;

/// A predicate that is arithmetic over its arguments, their fields, numbers, and numbers that are learnt.
///
/// There are `+ - * /` (number by number; one number goes with any vector), unary minus, `dot`, `dist`, `norm`, `sum`,
/// `mean`, `min`, `max`, `abs`, `sqrt`, `exp`, `log`, `tanh`, `sigmoid` and `softplus`. `min` and `max` of one vector are
/// its least and greatest number, of several they go number by number. `re(x)` and `im(x)` are the first and the second half of
/// the argument x, for vectors of complex numbers.
///
/// ```
/// use logltn::ColumnData;
/// use logltn_learn::{ClosedForm, Individuals, Session};
/// let theory = "sort Entity  sort Relation  table facts(h: Entity, r: Relation, t: Entity)
///     predicate linked(Entity, Relation, Entity)
///     axiom facts: forall (h, r, t) in facts. linked(h, r, t)";
/// let column = |cells: &[u32]| ColumnData::Individuals(cells.to_vec());
/// let mut session = Session::builder(theory)
///     .sort("Entity", Individuals::named(["ann", "bob", "eve"]).learnable(4))
///     .sort("Relation", Individuals::named(["likes"]).learnable(4))
///     .table("facts", vec![column(&[0, 1]), column(&[0, 0]), column(&[1, 2])])
///     .closed_form(
///         "linked",
///         ClosedForm::logit("margin - norm(h + r - t)").args(["h", "r", "t"]).learn("margin", 1.0),
///     )
///     .learning_rate(0.1)
///     .steps(100)
///     .build()?;
/// let before = session.predict("linked", &[0, 0, 1])?[0];
/// while !session.is_done() {
///     session.step()?;
/// }
/// assert!(session.predict("linked", &[0, 0, 1])?[0] > before);
/// assert!(session.weights().tensor("linked.margin").is_some());
/// # Ok::<(), logltn::Diagnostics>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct ClosedForm {
    kind: OutputKind,
    text: String,
    args: Option<Vec<String>>,
    learn: Vec<(String, Vec<f64>)>,
    written: Written,
}

/// Where the text of a closed form is.
#[derive(Clone, Debug)]
struct Written {
    source: Source,
    /// The whole of it.
    span: Span,
    /// Where the text begins; `None` if its bytes are not those of the source, because of escapes.
    origin: Option<usize>,
}

impl PartialEq for Written {
    fn eq(&self, other: &Written) -> bool {
        (self.span, self.origin) == (other.span, other.origin)
    }
}

impl ClosedForm {
    fn new(kind: OutputKind, text: impl Into<String>) -> ClosedForm {
        let text = text.into();
        let written = Written {
            source: Source::new("a closed form", text.as_str()),
            span: Span::new(0, text.len()),
            origin: Some(0),
        };
        ClosedForm {
            kind,
            text,
            args: None,
            learn: Vec::new(),
            written,
        }
    }

    /// What it gives is a truth degree, from 0 to 1.
    pub fn truth(text: impl Into<String>) -> ClosedForm {
        ClosedForm::new(OutputKind::Truth, text)
    }

    /// The result is the log of a truth degree, at most 0.
    pub fn log_truth(text: impl Into<String>) -> ClosedForm {
        ClosedForm::new(OutputKind::LogTruth, text)
    }

    /// What it gives is a logit, whose sigmoid is the truth.
    pub fn logit(text: impl Into<String>) -> ClosedForm {
        ClosedForm::new(OutputKind::Sigmoid, text)
    }

    /// What it gives is a logit of the last argument, one of the classes: the truth is its softmax among those of all classes.
    ///
    /// ```
    /// use logltn::ColumnData;
    /// use logltn_learn::{ClosedForm, Individuals, Session};
    /// let theory = "sort Entity  sort Relation  table facts(h: Entity, r: Relation, t: Entity)
    ///     predicate tail(Entity, Relation, Entity)
    ///     axiom facts: forall (h, r, t) in facts. tail(h, r, t)";
    /// let column = |cells: &[u32]| ColumnData::Individuals(cells.to_vec());
    /// // ComplEx: the real part of a sum of products of three complex numbers, the last one conjugated.
    /// let complex = "sum(re(h) * re(r) * re(t)) + sum(im(h) * re(r) * im(t)) \
    ///     + sum(re(h) * im(r) * im(t)) - sum(im(h) * im(r) * re(t))";
    /// let mut session = Session::builder(theory)
    ///     .sort("Entity", Individuals::named(["ann", "bob", "eve"]).learnable(4))
    ///     .sort("Relation", Individuals::named(["likes"]).learnable(4))
    ///     .table("facts", vec![column(&[0, 1]), column(&[0, 0]), column(&[1, 2])])
    ///     .closed_form("tail", ClosedForm::softmax(complex).args(["h", "r", "t"]))
    ///     .learning_rate(0.1)
    ///     .steps(100)
    ///     .build()?;
    /// while !session.is_done() {
    ///     session.step()?;
    /// }
    /// let logits = session.predict("tail", &[0, 0])?;
    /// assert!(logits[1] > logits[0] && logits[1] > logits[2]);
    /// # Ok::<(), logltn::Diagnostics>(())
    /// ```
    pub fn softmax(text: impl Into<String>) -> ClosedForm {
        ClosedForm::new(OutputKind::Softmax, text)
    }

    /// Names for the arguments; without them they are a1, a2, ….
    pub fn args<A: Into<String>>(self, args: impl IntoIterator<Item = A>) -> ClosedForm {
        ClosedForm {
            args: Some(args.into_iter().map(Into::into).collect()),
            ..self
        }
    }

    /// A number, or a vector, that is trained, with its first value.
    pub fn learn(mut self, name: impl Into<String>, first: impl Into<Learnt>) -> ClosedForm {
        self.learn.push((name.into(), first.into().0));
        self
    }

    /// Where it is written, for messages: a part of `source`, in which the text itself begins at `origin`, unless
    /// escapes make its bytes others.
    pub fn written(self, source: &Source, span: Span, origin: Option<usize>) -> ClosedForm {
        let written = Written {
            source: source.clone(),
            span,
            origin,
        };
        ClosedForm { written, ..self }
    }

    /// Where the whole of it is written.
    pub fn span(&self) -> Span {
        self.written.span
    }

    /// What it is, as it was written.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// What its number means.
    pub fn output(&self) -> Output {
        match self.kind {
            OutputKind::Truth => Output::truth(),
            OutputKind::LogTruth => Output::log_truth(),
            OutputKind::Sigmoid => Output::sigmoid(),
            OutputKind::Softmax => Output::softmax(),
        }
    }

    /// What manifests call what it gives.
    pub fn key(&self) -> &'static str {
        match self.kind {
            OutputKind::Truth => "truth",
            OutputKind::LogTruth => "log_truth",
            OutputKind::Sigmoid => "logit",
            OutputKind::Softmax => "softmax",
        }
    }

    /// What is learnt, with its first values.
    pub fn learnt(&self) -> &[(String, Vec<f64>)] {
        &self.learn
    }

    /// The names of its arguments, of which there are this many.
    pub(crate) fn argument_names(&self, arity: usize) -> Vec<String> {
        match &self.args {
            Some(args) => args.clone(),
            None => (1..=arity).map(|i| format!("a{i}")).collect(),
        }
    }

    /// The text without spaces, its arguments by their places: what they are called makes no difference.
    pub(crate) fn canonical(&self, arity: usize) -> String {
        let text: String = self.text.chars().filter(|c| !c.is_whitespace()).collect();
        let args = self.argument_names(arity);
        format!("{} = {}", self.key(), crate::input::by_place(&text, &args))
    }

    /// Whether it can be read at all, whatever its names stand for.
    ///
    /// # Errors
    /// With the mistake, at a place in the text.
    pub fn check_syntax(&self) -> Result<(), Mistake> {
        Expression::parse(&self.text).map(drop)
    }

    /// The names that it uses.
    pub fn names(&self) -> Vec<String> {
        let nodes = Expression::parse(&self.text).unwrap_or_default().nodes;
        let names = nodes.into_iter().filter_map(|node| match node.value {
            syntax::Node::Name(name) => Some(name),
            syntax::Node::Field(variable, _) | syntax::Node::Half(_, variable) => {
                Some(variable.value)
            }
            _ => None,
        });
        names.collect()
    }

    /// Marks the whole text.
    pub(crate) fn mark(&self, error: Diagnostic) -> Diagnostic {
        error.at(&self.written.source, self.written.span, "")
    }

    fn show(&self, mistake: Mistake) -> Diagnostic {
        let Written {
            source,
            span,
            origin,
        } = &self.written;
        let place = match origin {
            Some(origin) => Span::new(
                origin + mistake.span.start as usize,
                origin + mistake.span.end as usize,
            ),
            None => *span,
        };
        mistake.shown(source, place)
    }

    /// The program that computes it, for arguments of these lengths.
    pub(crate) fn compile(&self, given: &[Argument]) -> Result<Tape, Diagnostics> {
        let mut wrong = Diagnostics::new();
        let whole = |code, message: String| self.mark(Diagnostic::error(code, message));
        for (i, (name, first)) in self.learn.iter().enumerate() {
            if given.iter().any(|argument| argument.name == *name) {
                let what = format!("`{name}` is an argument, so it cannot be learnt as well");
                wrong.push(whole(Code::DuplicateName, what));
            }
            if self.learn[..i].iter().any(|(earlier, _)| earlier == name) {
                wrong.push(whole(
                    Code::DuplicateName,
                    format!("`{name}` is learnt twice"),
                ));
            }
            if first.is_empty() {
                let what = format!("`{name}` is learnt, but has no first value");
                wrong.push(whole(Code::EmptyValue, what));
            }
            if let Some(x) = first.iter().find(|x| !(**x as f32).is_finite()) {
                let what = format!("the first value of `{name}` is {x}");
                wrong.push(whole(Code::NotFinite, what));
            }
        }
        let found = Expression::parse(&self.text)
            .map_err(|mistake| vec![mistake])
            .and_then(|expression| lengths::check(&expression, given, &self.learn));
        match found {
            Ok(tape) => wrong.into_result(tape).map(|(tape, _)| tape),
            Err(mistakes) => {
                mistakes.into_iter().for_each(|m| wrong.push(self.show(m)));
                Err(wrong)
            }
        }
    }
}

/// The first value of something that is learnt: a number, or a vector.
#[derive(Clone, Debug, PartialEq)]
pub struct Learnt(Vec<f64>);

impl From<f64> for Learnt {
    fn from(number: f64) -> Learnt {
        Learnt(vec![number])
    }
}

impl From<Vec<f64>> for Learnt {
    fn from(vector: Vec<f64>) -> Learnt {
        Learnt(vector)
    }
}

impl<const N: usize> From<[f64; N]> for Learnt {
    fn from(vector: [f64; N]) -> Learnt {
        Learnt(vector.to_vec())
    }
}
