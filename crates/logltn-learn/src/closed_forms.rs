//! The closed forms of a knowledge base: whether they fit their arguments, and their programs.

use logltn::theory::{ArgumentSort, PredicateId, SortKind};
use logltn::{Code, Diagnostic, Diagnostics};

use crate::closed_form::{Argument, ClosedForm, Tape};
use crate::knowledge::{Ground, KnowledgeBase};

impl KnowledgeBase {
    /// Whether closed forms fit their arguments: names, fields and lengths, of all predicates that are `wanted`. Features
    /// need not be there for that, only their shapes.
    pub fn check_closed_forms(&self, wanted: impl Fn(PredicateId) -> bool) -> Diagnostics {
        let mut out = Diagnostics::new();
        for (i, ground) in self.predicates.iter().enumerate() {
            let predicate = PredicateId(i as u32);
            if let Ground::ClosedForm(form) = ground
                && wanted(predicate)
                && let Err(errors) = self.compile(predicate, form)
            {
                out.extend(errors);
            }
        }
        out
    }

    /// The program of a predicate's closed form.
    pub(crate) fn compile(
        &self,
        predicate: PredicateId,
        form: &ClosedForm,
    ) -> Result<Tape, Diagnostics> {
        let predicate = &self.theory()[predicate];
        let (name, arity) = (&predicate.name, predicate.arguments.len());
        let names = form.argument_names(arity);
        if names.len() != arity {
            let given = names.len();
            let what =
                format!("`{name}` has {arity} arguments in the theory, but {given} in `args`");
            let error = Diagnostic::error(Code::WrongNumberOfArguments, what);
            return Err(form.mark(error).into());
        }
        let arguments = names.into_iter().zip(&predicate.arguments);
        let given: Vec<Argument> = arguments
            .map(|(name, argument)| self.given(name, *argument))
            .collect();
        form.compile(&given)
    }

    /// How many numbers an argument is.
    fn given(&self, name: String, argument: ArgumentSort) -> Argument {
        let sort = match argument {
            ArgumentSort::Vector(length) => return Argument::new(name, length),
            ArgumentSort::Sort(sort) => sort,
        };
        let theory = self.theory();
        let vectors = &self.vectors[sort];
        let mut given = Argument {
            sort: Some(theory[sort].name.clone()),
            ..Argument::new(name, 0)
        };
        for field in vectors.fields.iter() {
            let (from, width) = (given.length, field.width());
            given.length += width;
            if let Some(name) = &field.name {
                given.fields.push((name.clone(), from, width));
            }
        }
        given.length = match vectors.width() {
            0 => (self.learnt_constants(sort).next()).map_or(0, |(_, width)| width),
            width => width,
        };
        if given.length == 0 && matches!(theory[sort].kind, SortKind::Range(..)) {
            given.length = 1; // its number
        }
        given
    }
}
