//! From descriptions of closed forms to what they read.

use std::sync::Arc;

use logltn::theory::{ArgumentSort, PredicateId, SortKind};
use logltn::{ArgumentShape, Code, Diagnostic, Diagnostics, OutputKind, Request};

use super::super::build::{Builder, leaves};
use super::super::gradients::Target;
use super::super::grid::splits;
use super::super::parameters::Parameters;
use super::super::unit::Piece;
use super::{Closed, ClosedFeed, Room, State};
use crate::closed_form::ClosedForm;

impl Builder<'_> {
    /// The closed form of a predicate, with its first numbers.
    pub(crate) fn closed(
        &mut self,
        predicate: PredicateId,
        form: &Arc<ClosedForm>,
    ) -> Result<usize, Diagnostics> {
        let tape = self.knowledge.compile(predicate, form)?;
        let name = &self.knowledge.theory()[predicate].name;
        let mut learnt = Vec::new();
        for (number, first) in form.learnt() {
            learnt.push(self.model.learnable.len());
            let values: Vec<f32> = first.iter().map(|&x| x as f32).collect();
            let (name, shape) = (format!("{name}.{number}"), vec![values.len()]);
            (self.model.learnable).push(Parameters::new(name, shape, values));
        }
        self.model.closed.push(Closed {
            predicate,
            form: Arc::clone(form),
            forward: tape.forward(&[]),
            tape,
            learnt,
            classes: self.classes(predicate),
            feeds: Vec::new(),
        });
        Ok(self.model.closed.len() - 1)
    }

    fn classes(&self, predicate: PredicateId) -> Option<u32> {
        let knowledge = self.knowledge;
        let softmax = knowledge.outputs[predicate].kind == OutputKind::Softmax;
        match knowledge.theory()[predicate].arguments.last() {
            Some(ArgumentSort::Sort(sort)) if softmax => Some(knowledge.data.size(*sort) as u32),
            _ => None,
        }
    }

    /// The feed of a closed form for a request, which does not name the class of a softmax.
    pub(crate) fn closed_feed_of(
        &mut self,
        closed: usize,
        request: &Request,
    ) -> Result<usize, Diagnostics> {
        let mut shape = request.shape.clone();
        if self.model.closed[closed].classes.is_some()
            && let Some(ArgumentSort::Sort(sort)) =
                (self.knowledge.theory()[request.predicate].arguments).last()
        {
            shape.push(ArgumentShape::Individual(*sort));
        }
        self.closed_feed(closed, &shape)
    }

    /// The feed of a closed form for arguments of some shape; made if it is new.
    pub(crate) fn closed_feed(
        &mut self,
        closed: usize,
        shape: &[ArgumentShape],
    ) -> Result<usize, Diagnostics> {
        let known = self.model.closed[closed].feeds.iter();
        if let Some(feed) = known.clone().position(|f| f.shape == shape) {
            return Ok(feed);
        }
        let form = Arc::clone(&self.model.closed[closed].form);
        let wanted: Vec<_> = self.model.closed[closed].tape.leaves().copied().collect();
        let mut pieces = Vec::new();
        for leaf in &wanted {
            let piece = self.leaf_piece(leaf.argument, leaf.from, leaf.length, shape)?;
            pieces.push(piece.ok_or_else(|| {
                let name = &self.knowledge.theory()[self.model.closed[closed].predicate].name;
                let what = format!(
                    "an axiom applies `{name}` to something that lacks the numbers its closed form needs"
                );
                form.mark(Diagnostic::error(Code::WrongShape, what))
            })?);
        }
        let mut targets: Vec<Target> = Vec::new();
        let mut learns = Vec::new();
        for piece in &pieces {
            let found = Target::of(piece, &self.model.vectors);
            learns.push(!found.is_empty());
            for target in found {
                if !targets.contains(&target) {
                    targets.push(target);
                }
            }
        }
        let tape = &self.model.closed[closed].tape;
        let in_place = pieces.iter().enumerate().map(|(leaf, piece)| {
            let Piece::Vector { sort, .. } = piece else {
                return None;
            };
            let vectors = &self.model.vectors[*sort];
            let table = vectors.embedding.filter(|_| vectors.constants.is_none())?;
            let numbers = self.model.learnable[table].values.len();
            (tape.may_stay(leaf) && u32::try_from(numbers).is_ok()).then_some(table)
        });
        let in_place: Vec<_> = in_place.collect();
        let stays: Vec<bool> = in_place.iter().map(Option::is_some).collect();
        let arity = shape.iter().map(leaves).sum();
        let feed = ClosedFeed {
            shape: shape.to_vec(),
            arity,
            in_place,
            back: tape.back(&learns, &stays, &[]),
            splits: splits(tape, &pieces, arity, (&learns, &stays)),
            pieces,
            targets,
            state: State {
                room: Room {
                    lanes: Vec::new(),
                    kept: Some(Vec::new()),
                },
                ..State::default()
            },
        };
        let closed = &mut self.model.closed[closed];
        closed.feeds.push(feed);
        Ok(closed.feeds.len() - 1)
    }

    /// Some of the numbers of an argument; `None` if it has not this many.
    fn leaf_piece(
        &mut self,
        argument: usize,
        from: usize,
        length: usize,
        shape: &[ArgumentShape],
    ) -> Result<Option<Piece>, Diagnostics> {
        let place: usize = shape[..argument].iter().map(leaves).sum();
        if let ArgumentShape::Individual(sort) = shape[argument]
            && self.model.vectors[sort].width() == 0
            && let SortKind::Range(first, _) = self.knowledge.theory()[sort].kind
        {
            return Ok(Some(Piece::Integer { place, first }));
        }
        Ok(match self.argument_vector(argument, shape)? {
            Some(Piece::Vector {
                place, sort, width, ..
            }) if from + length <= width => Some(Piece::Vector {
                place,
                sort,
                from,
                width: length,
                stop: false,
            }),
            // Of a function's value there are no fields.
            Some(whole) if from == 0 && whole.width() == length => Some(whole),
            _ => None,
        })
    }
}
