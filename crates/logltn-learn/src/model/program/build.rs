//! From what grounds predicates to the programs that answer for them.

use std::sync::Arc;

use logltn::theory::{ArgumentSort, PredicateId, SortKind};
use logltn::{ArgumentShape, Code, Diagnostic, Diagnostics, OutputKind};

use super::super::build::{Builder, Symbol, leaves};
use super::super::gradients::Target;
use super::super::grid::splits;
use super::super::parameters::Parameters;
use super::super::table::{Given, Table};
use super::super::unit::Piece;
use super::super::{Answer, is_vector, rows_shape};
use super::{Program, ProgramFeed, Room, Says, State};
use crate::closed_form::{ClosedForm, Tape};
use crate::knowledge::Ground;

impl Builder<'_> {
    /// Puts a program behind a predicate that is no host's, and applies it to individuals and numbers if these are its arguments. A
    /// network that reads numbers is made when a request shows that it does.
    pub fn ground(&mut self, id: PredicateId) -> Result<(), Diagnostics> {
        let knowledge = self.knowledge;
        let arguments = &knowledge.theory()[id].arguments;
        let row = arguments.len() - usize::from(knowledge.outputs[id].per_class);
        let passed_on = Tape::of_leaf(self.output_width(Symbol::Predicate(id)));
        let (mut learnt, mut classes) = (Vec::new(), None);
        let (says, tape, arity) = match &knowledge.predicates[id] {
            Ground::Host => return Ok(()),
            Ground::Network(_) => (Says::Network, passed_on, row),
            Ground::Numbers(numbers) => {
                let at = knowledge.theory().functions.len() + id.0 as usize;
                self.model.given[at] = Given::Predicate(Arc::clone(numbers));
                let says = Says::Table(Table::Given(at), numbers.sizes.clone());
                (says, passed_on, row)
            }
            Ground::Learnable { initial, place } => {
                let table = self.table(id, *initial, place)?;
                let sizes = table.shape[..row].to_vec();
                self.model.learnable.push(table);
                let table = Table::Learnt(self.model.learnable.len() - 1);
                (Says::Table(table, sizes), passed_on, row)
            }
            Ground::ClosedForm(form) => {
                let tape = knowledge.compile(id, form)?;
                let name = &knowledge.theory()[id].name;
                for (number, first) in form.learnt() {
                    learnt.push(self.model.learnable.len());
                    let values: Vec<f32> = first.iter().map(|&x| x as f32).collect();
                    let (name, shape) = (format!("{name}.{number}"), vec![values.len()]);
                    (self.model.learnable).push(Parameters::new(name, shape, values));
                }
                classes = self.classes(id);
                (Says::ClosedForm(Arc::clone(form)), tape, arguments.len())
            }
        };
        let is_network = matches!(says, Says::Network);
        self.model.programs.push(Program {
            predicate: id,
            says,
            forward: tape.forward(&[]),
            tape,
            learnt,
            arity,
            classes,
            feeds: Vec::new(),
        });
        if !(is_network && arguments.iter().any(is_vector))
            && let Ok(shape) = rows_shape(&arguments[..row])
        {
            self.answer(self.model.programs.len() - 1, &shape)?;
        }
        Ok(())
    }

    fn classes(&self, predicate: PredicateId) -> Option<u32> {
        let knowledge = self.knowledge;
        let softmax = knowledge.outputs[predicate].kind == OutputKind::Softmax;
        match knowledge.theory()[predicate].arguments.last() {
            Some(ArgumentSort::Sort(sort)) if softmax => Some(knowledge.data.size(*sort) as u32),
            _ => None,
        }
    }

    /// The feed of a program for arguments of some shape, without the class of a softmax; made if it is new.
    pub fn answer(
        &mut self,
        program: usize,
        shape: &[ArgumentShape],
    ) -> Result<Answer, Diagnostics> {
        let mut shape = shape.to_vec();
        let own = &self.model.programs[program];
        if own.classes.is_some()
            && let Some(ArgumentSort::Sort(sort)) =
                (self.knowledge.theory()[own.predicate].arguments).last()
        {
            shape.push(ArgumentShape::Individual(*sort));
        }
        if let Some(feed) = own.feeds.iter().position(|f| f.shape == shape) {
            return Ok(Answer { program, feed });
        }
        let (says, id) = (own.says.clone(), own.predicate);
        let pieces = match says {
            Says::ClosedForm(form) => self.leaves(program, &form, &shape)?,
            Says::Network => {
                let from = self.feed(Symbol::Predicate(id), shape.clone())?;
                let count = shape.iter().map(leaves).sum();
                vec![self.outputs(from, (0..count).collect(), false)]
            }
            Says::Table(table, sizes) => {
                let is_applied = |s: &ArgumentShape| !matches!(s, ArgumentShape::Individual(_));
                if shape.iter().any(is_applied) {
                    let name = &self.knowledge.theory()[id].name;
                    let what = format!(
                        "predicate `{name}` has a separate number for each tuple of individuals, but an axiom applies it \
                         to the value of a function"
                    );
                    return Err(Diagnostic::error(Code::NotGrounded, what)
                        .help("give it a `network`")
                        .into());
                }
                vec![Piece::Table {
                    table,
                    places: (0..sizes.len()).collect(),
                    sizes,
                    width: self.output_width(Symbol::Predicate(id)),
                }]
            }
        };
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
        let tape = &self.model.programs[program].tape;
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
        let feed = ProgramFeed {
            shape,
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
        let feeds = &mut self.model.programs[program].feeds;
        feeds.push(feed);
        let feed = feeds.len() - 1;
        Ok(Answer { program, feed })
    }

    /// What a closed form reads of its arguments.
    fn leaves(
        &mut self,
        program: usize,
        form: &ClosedForm,
        shape: &[ArgumentShape],
    ) -> Result<Vec<Piece>, Diagnostics> {
        let wanted: Vec<_> = self.model.programs[program]
            .tape
            .leaves()
            .copied()
            .collect();
        let mut pieces = Vec::new();
        for leaf in &wanted {
            let piece = self.leaf_piece(leaf.argument, leaf.from, leaf.length, shape)?;
            pieces.push(piece.ok_or_else(|| {
                let name = &self.knowledge.theory()[self.model.programs[program].predicate].name;
                let what = format!(
                    "an axiom applies `{name}` to something that lacks the numbers its closed form needs"
                );
                form.mark(Diagnostic::error(Code::WrongShape, what))
            })?);
        }
        Ok(pieces)
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
