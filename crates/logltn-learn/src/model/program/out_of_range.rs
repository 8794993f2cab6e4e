//! Numbers of closed forms that cannot be, and what to say of them.

use logltn::vector::Real;
use logltn::{ArgumentShape, Code, Diagnostic, Diagnostics, OutputKind};

use super::super::inputs::Sources;
use super::super::{Answer, Model, Rows};
use super::Program;

/// What is off by no more than this many roundings is as meant: the cosine of a vector with itself is at most 1.
const ROUNDINGS: f64 = 32.0;

/// A row whose number cannot be.
pub(super) struct OutOfRange {
    pub row: usize,
    pub value: f64,
}

impl Program {
    /// Whether all numbers can be what they are to be; what is off by roundings is set right.
    pub(super) fn in_range<T: Real>(
        &self,
        sources: Sources<'_>,
        numbers: &mut [T],
    ) -> Result<(), OutOfRange> {
        let Some(form) = self.form().filter(|_| !sources.are_stopped()) else {
            return Ok(()); // After a stop request these numbers are not used.
        };
        let slack = T::from_f64(ROUNDINGS * T::EPSILON.to_f64());
        let (least, most) = match form.output().kind {
            OutputKind::Truth => (T::ZERO, T::ONE),
            OutputKind::LogTruth => (T::MIN_VALUE, T::ZERO),
            OutputKind::Sigmoid | OutputKind::Softmax => (T::MIN_VALUE, T::MAX_VALUE),
        };
        for (row, x) in numbers.iter_mut().enumerate() {
            if *x >= least && *x <= most {
                continue;
            }
            if !(*x >= least - slack && *x <= most + slack) {
                let value = x.to_f64();
                return Err(OutOfRange { row, value });
            }
            *x = if *x < least { least } else { most };
        }
        Ok(())
    }
}

impl Model {
    /// What to say of a number that cannot be: of which individuals it is, and what it was made of.
    pub(super) fn refuse(
        &self,
        answer: Answer,
        rows: Rows<'_>,
        OutOfRange { row, value }: OutOfRange,
    ) -> Diagnostics {
        let ((program, feed), tuple) = (self.feed(answer), rows.row(row));
        let Some(form) = program.form() else {
            return Diagnostics::new(); // others pass on what they are given
        };
        let name = &self.theory[program.predicate].name;
        let mut leaves = tuple.iter().copied();
        let arguments: Vec<String> = (feed.shape.iter())
            .map(|shape| self.shown(shape, &mut leaves))
            .collect();
        let atom = format!("{name}({})", arguments.join(", "));
        let kind = form.output().kind;
        let (what, must) = match kind {
            OutputKind::Truth => ("truth", "a truth lies between 0 and 1"),
            OutputKind::LogTruth => ("log truth", "the log of a truth is at most 0"),
            OutputKind::Sigmoid | OutputKind::Softmax => ("logit", ""),
        };
        let (message, help) = match value.is_finite() {
            true => (
                format!("`{atom}` has the {what} {value}, but {must}"),
                match (kind, form.learnt().first()) {
                    (OutputKind::Truth, _) => {
                        "`sigmoid(…)`, and `exp(-…)` of something positive, lie between 0 and 1".to_string()
                    }
                    (_, Some((learnt, _))) => format!(
                        "if `{learnt}` must stay positive, write `softplus({learnt})`, or freeze `{name}`"
                    ),
                    _ => "a log truth is minus something positive, such as `-dist(u, v)`".to_string(),
                },
            ),
            false => (
                format!("`{atom}` has the {what} {value}"),
                "look for a division by 0, the `log` of 0 or the `sqrt` of something negative, or a number that has \
                 become too large"
                    .to_string(),
            ),
        };
        let mut made_of = Vec::new();
        let names = form.argument_names(feed.shape.len());
        for (leaf, piece) in program.tape.leaves().zip(&feed.pieces) {
            if leaf.length == 1 {
                let mut number = [0.0_f64];
                self.sources().put(tuple, row, piece, &mut number);
                let argument = names.get(leaf.argument).map_or("", String::as_str);
                made_of.push(format!("`{argument}` is {}", number[0]));
            }
        }
        for ((learnt, _), table) in form.learnt().iter().zip(&program.learnt) {
            if let [number] = self.learnable[*table].values[..] {
                made_of.push(format!("`{learnt}` is {number}"));
            }
        }
        let error = Diagnostic::error(Code::ClosedFormOutOfRange, message);
        let error = match made_of.is_empty() {
            true => error,
            false => error.note(format!("here {}", made_of.join(", "))),
        };
        form.mark(error).help(help).into()
    }

    /// An argument as users write it.
    fn shown(&self, shape: &ArgumentShape, leaves: &mut impl Iterator<Item = u32>) -> String {
        match shape {
            ArgumentShape::Individual(sort) => {
                let individual = leaves.next().unwrap_or(0);
                let constant = self.vectors[*sort].constant(individual);
                match constant {
                    Some(name) => name.to_string(),
                    None => self.theory[*sort].individual_name(individual as usize),
                }
            }
            ArgumentShape::Number => {
                let number = leaves.next().and_then(|n| self.numbers.get(n as usize));
                number.map_or(String::new(), f64::to_string)
            }
            ArgumentShape::Row(function) => {
                let row = leaves.next().unwrap_or(0);
                format!("row {row} of {}", self.theory[*function].name)
            }
            ArgumentShape::Apply(function, arguments) => {
                let name = &self.theory[*function].name;
                let arguments: Vec<String> =
                    arguments.iter().map(|a| self.shown(a, leaves)).collect();
                format!("{name}({})", arguments.join(", "))
            }
        }
    }
}
