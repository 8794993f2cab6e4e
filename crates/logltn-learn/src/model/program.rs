//! What predicates say: which numbers their arguments are, what is computed of them, and where gradients go.
//!
//! A closed form is a program, and so is anything else but a host: what passes the outputs of a network on, or the numbers of a table,
//! given or learnt. Only `build.rs` tells these apart, and a question about rows, which networks answer in pieces.
//!
//! A request is answered in blocks of rows, the blocks shared out among lanes. How many lanes there are depends on the size of the request
//! alone, and what they find is added up in their order, so the bits do not depend on the number of threads. Sums of products of vectors
//! are products of matrices where rows ask about many pairs of the same few (`grid.rs`); what is below is all else. Vectors that are learnt
//! are read where they are, and so are the derivatives by them added to, wherever only sums over vectors read them. Of a block the way back
//! finds the sums over vectors, one number each a row; the rest is computed again, which is cheaper than reading it from memory.

mod build;
mod gather;
mod out_of_range;
mod ranking;

use std::ops::Range;
use std::sync::Arc;

use logltn::theory::PredicateId;
use logltn::vector::{Real, run_task};
use logltn::{ArgumentShape, Diagnostics, Engine, Precision, Request};
use logltn_nn::Floats;

use super::asked::cannot_predict;
use super::gradients::{Gradients, Target};
use super::grid::{Grids, Split};
use super::inputs::Sources;
use super::table::Table;
use super::unit::Piece;
use super::{Answer, Model, Rows, rows_shape};
use crate::closed_form::{ClosedForm, InPlace, Plan, Tape, Work};
use gather::Gather;

/// A lane has at least about this many numbers to compute.
const LANE_NUMBERS: usize = 1 << 16;

/// The most lanes.
const MOST_LANES: usize = 8;

/// What is computed for a predicate, and the ways in which it is applied.
pub(super) struct Program {
    predicate: PredicateId,
    says: Says,
    tape: Tape,
    /// How it is computed, if nothing is known.
    forward: Plan,
    /// What it learns, among the model's learnable tables.
    learnt: Vec<usize>,
    /// How many arguments name a row of it.
    arity: usize,
    /// The softmax of a closed form has one number for each of this many classes, which are the last argument.
    pub classes: Option<u32>,
    pub feeds: Vec<ProgramFeed>,
}

/// Where the numbers of a program come from.
#[derive(Clone)]
enum Says {
    /// Arithmetic over the arguments.
    ClosedForm(Arc<ClosedForm>),
    /// The outputs of the predicate's network.
    Network,
    /// A table: a row for each tuple of so many individuals.
    Table(Table, Vec<usize>),
}

/// A program at arguments of some shape.
pub(super) struct ProgramFeed {
    shape: Vec<ArgumentShape>,
    /// How many individuals and numbers name a row.
    arity: usize,
    /// Where the numbers of each leaf of the program come from.
    pub pieces: Vec<Piece>,
    /// Where gradients go, each once.
    targets: Vec<Target>,
    /// For each leaf that is read where it is: which learnable table that is.
    in_place: Vec<Option<usize>>,
    /// The way back.
    back: Plan,
    /// The ways to compute it as a product of matrices.
    pub splits: Vec<Split>,
    state: State,
}

/// What is left of the last request.
#[derive(Default)]
struct State {
    room: Room<f32>,
    grids: Grids,
    /// The rows of a softmax, each with all classes.
    with_classes: Vec<u32>,
}

/// What a request is computed in.
#[derive(Default)]
struct Room<T> {
    lanes: Vec<Lane<T>>,
    /// What the way back needs from each block, one block after another; empty if there is none.
    kept: Option<Vec<T>>,
}

/// Part of a request's rows.
#[derive(Default)]
struct Lane<T> {
    work: Work<T>,
    /// The derivatives by the targets.
    gradients: Gradients,
    /// The derivatives by each number that is learnt.
    by_learnt: Vec<f64>,
}

impl Program {
    /// The closed form that it is, if it is one.
    fn form(&self) -> Option<&ClosedForm> {
        match &self.says {
            Says::ClosedForm(form) => Some(form),
            Says::Network | Says::Table(..) => None,
        }
    }

    /// What a closed form learns, with its first values.
    fn own_numbers(&self) -> &[(String, Vec<f64>)] {
        self.form().map_or(&[], ClosedForm::learnt)
    }

    /// How many numbers a row has, side by side.
    fn width(&self) -> usize {
        self.tape.result_length().max(1)
    }

    /// Writes down the rows of a softmax, which are asked about without the class, with all classes.
    fn name_classes(&self, rows: Rows<'_>, out: &mut Vec<u32>) {
        let Some(classes) = self.classes else { return };
        out.clear();
        out.reserve(rows.count * classes as usize * (rows.arity + 1));
        for row in rows.iter() {
            for class in 0..classes {
                out.extend_from_slice(row);
                out.push(class);
            }
        }
    }

    /// The rows that are computed: of a softmax those with classes.
    fn rows<'a>(&self, rows: Rows<'a>, with_classes: &'a [u32]) -> Rows<'a> {
        match self.classes {
            None => rows,
            Some(_) => Rows::new(with_classes, rows.arity + 1, rows.numbers),
        }
    }

    /// What a step over so many rows of a request takes, about: bytes of the rows with their classes, in both orders, and of
    /// their sums, results and derivatives; and how many numbers are computed. What is passed on counts where it comes from.
    pub(super) fn work(&self, feed: usize, rows: usize) -> (u128, u128) {
        let feed = &self.feeds[feed];
        if self.form().is_none() {
            return (0, 0);
        }
        let sums = feed.splits.iter().map(|split| split.sums.len());
        let numbers = 2 * feed.arity + 3 * sums.max().unwrap_or(0) + feed.back.given.len() + 6;
        let rows = rows as u128 * self.classes.map_or(1, u128::from);
        (4 * numbers as u128 * rows, self.tape.width as u128 * rows)
    }

    /// Lanes for this many rows.
    fn lanes(&self, rows: usize) -> usize {
        let numbers = rows * self.tape.width;
        (numbers / LANE_NUMBERS).clamp(1, MOST_LANES)
    }

    /// How many rows each of this many lanes takes: whole blocks.
    fn share(&self, rows: usize, lanes: usize) -> usize {
        rows.div_ceil(self.tape.rows).div_ceil(lanes) * self.tape.rows
    }

    /// Computes all rows: those of grids as products of matrices, keeping what a backward pass can use.
    fn forward_in_grids(
        &self,
        feed: &ProgramFeed,
        sources: Sources<'_>,
        rows: Rows<'_>,
        (room, grids): (&mut Room<f32>, &mut Grids),
        (out, rows_are_new): (&mut [f32], bool),
    ) {
        if rows_are_new {
            grids.find(rows.individuals, feed.arity, &feed.splits);
        }
        if grids.are_none() {
            return self.forward(feed, sources, rows, grids, room, out);
        }
        grids.multiply(&feed.splits, sources, feed.arity);
        let mut numbers = std::mem::take(&mut grids.numbers);
        numbers.resize(rows.count, 0.0);
        let rows = grids.in_order(rows);
        self.forward(feed, sources, rows, grids, room, &mut numbers);
        grids.numbers = numbers;
        grids.hand_out(out);
    }

    /// Computes all rows, on all threads. Of rows of grids, which come first, the sums are known. What is no closed form is passed on.
    fn forward<T: Real>(
        &self,
        feed: &ProgramFeed,
        sources: Sources<'_>,
        rows: Rows<'_>,
        grids: &Grids,
        room: &mut Room<T>,
        out: &mut [T],
    ) {
        if self.form().is_none() {
            return feed.pass_on(sources, rows, out);
        }
        let count = self.lanes(rows.count);
        let Room { lanes, kept } = room;
        if lanes.len() < count {
            lanes.resize_with(count, Lane::default);
        }
        let share = self.share(rows.count, count);
        let keeps = kept.as_ref().map_or(&[][..], |_| &feed.back.given);
        let mut none = Vec::new();
        let kept = kept.as_mut().unwrap_or(&mut none);
        kept.resize(rows.count * keeps.len(), T::ZERO);
        let run = |i: usize, lane: &mut Lane<T>, mut out: &mut [T], mut kept: &mut [T]| {
            let end = i * share + out.len();
            for (part, split) in self.blocks(grids, i * share..end) {
                if sources.are_stopped() {
                    return;
                }
                let (first, count) = (part.start, part.len());
                let split = split.map(|split| &feed.splits[split]);
                let plan = split.map_or(&self.forward, |split| &split.forward);
                let work = &mut lane.work;
                work.prepare(plan, count);
                if let Some(split) = split {
                    for (which, factors) in split.sums.iter().enumerate() {
                        let to = work.result_mut(plan, factors.at, count).iter_mut();
                        let known = to.zip(grids.sums(first, which));
                        known.for_each(|(to, &sum)| *to = T::from_f64(f64::from(sum)));
                    }
                }
                let some = (rows.some(first, count), first);
                self.block(feed, plan, sources, some, work, (&[], &mut []));
                let own;
                (own, out) = out.split_at_mut(count);
                work.root(plan, own);
                let own;
                (own, kept) = kept.split_at_mut(count * keeps.len());
                for (&at, kept) in keeps.iter().zip(own.chunks_exact_mut(count)) {
                    kept.copy_from_slice(work.result(plan, at, count));
                }
            }
        };
        let shares = [share, share * keeps.len()];
        in_lanes(0, &mut lanes[..count], [out, kept], shares, &run);
    }

    /// Blocks of some rows; those of a grid, or of none, apart. They end at the same rows whichever the range begins with.
    fn blocks<'g>(
        &self,
        grids: &'g Grids,
        rows: Range<usize>,
    ) -> impl Iterator<Item = (Range<usize>, Option<usize>)> + use<'g> {
        let most = self.tape.rows;
        grids.cut(rows).flat_map(move |(part, split)| {
            let blocks = part.start / most..part.end.div_ceil(most);
            blocks.map(move |at| {
                let block = part.start.max(at * most)..part.end.min((at + 1) * most);
                (block, split)
            })
        })
    }

    /// Computes one block, of whose rows the first is this one of the request's. On the way back from the derivatives by its
    /// results; those by what is read where it is are added to these tables.
    fn block<T: Real>(
        &self,
        feed: &ProgramFeed,
        plan: &Plan,
        sources: Sources<'_>,
        (rows, first): (Rows<'_>, usize),
        work: &mut Work<T>,
        back: (&[T], &mut [Floats]),
    ) {
        for (leaf, piece) in feed.pieces.iter().enumerate() {
            let width = piece.width().max(1);
            match piece {
                _ if !plan.reads(leaf) => {}
                Piece::Vector {
                    place, sort, from, ..
                } if feed.place::<T>(sources, leaf).is_some() => {
                    let (width, from) = (sources.vectors[*sort].width() as u32, *from as u32);
                    let individuals = rows.individuals[*place..].iter().step_by(feed.arity);
                    let starts = work.starts_mut(leaf, rows.count).iter_mut();
                    starts
                        .zip(individuals)
                        .for_each(|(start, individual)| *start = individual * width + from);
                }
                // By far the most, so the choice is not made row by row.
                Piece::Vector {
                    place, sort, from, ..
                } => run_task(Gather {
                    out: work.leaf_mut(plan, leaf, rows.count),
                    width,
                    rows,
                    arity: feed.arity,
                    place: *place,
                    from: *from,
                    vectors: &sources.vectors[*sort],
                    learnable: sources.learnable,
                }),
                _ => {
                    let numbers = work.leaf_mut(plan, leaf, rows.count);
                    for (row, out) in numbers.chunks_exact_mut(width).enumerate() {
                        sources.put(rows.row(row), first + row, piece, out);
                    }
                }
            }
        }
        let learnt = &|at: usize| &*sources.learnable[self.learnt[at]].values;
        let places = &|leaf: usize| feed.place(sources, leaf);
        work.run(plan, rows.count, learnt, places, back);
    }

    /// The derivatives by whatever is learnt, from those by the numbers of all rows: added to those of the targets, which
    /// the first lane holds.
    fn backward(
        &self,
        feed: &ProgramFeed,
        sources: Sources<'_>,
        rows: Rows<'_>,
        grids: &Grids,
        (lanes, by_sums): (&mut [Lane<f32>], &mut [f32]),
        (kept, by): (&[f32], &[f32]),
    ) {
        let share = self.share(rows.count, lanes.len());
        let keeps = &feed.back.given;
        let per_row = grids.per_row;
        let run = |i: usize, lane: &mut Lane<f32>, by_sums: &mut [f32], _: &mut [f32]| {
            let end = rows.count.min((i + 1) * share);
            for (part, split) in self.blocks(grids, i * share..end) {
                if sources.are_stopped() {
                    return;
                }
                let (first, count) = (part.start, part.len());
                let by = &by[part];
                if by.iter().all(|by| *by == 0.0) {
                    continue;
                }
                let plan = split.map_or(&feed.back, |split| &feed.splits[split].back);
                let some = (rows.some(first, count), first);
                let work = &mut lane.work;
                work.prepare(plan, count);
                let kept = &kept[first * keeps.len()..(first + count) * keeps.len()];
                for (&at, kept) in keeps.iter().zip(kept.chunks_exact(count)) {
                    let pairs = work.result_mut(plan, at, count).iter_mut().zip(kept);
                    pairs.for_each(|(to, &kept)| *to = kept);
                }
                self.block(
                    feed,
                    plan,
                    sources,
                    some,
                    work,
                    (by, &mut lane.gradients.tables),
                );
                for (which, at) in plan.by_known.iter().enumerate() {
                    let found = at.map_or(&[][..], |at| work.result(plan, at, count));
                    let to = by_sums[(first - i * share) * per_row + which..].iter_mut();
                    let pairs = to.step_by(per_row).zip(found);
                    pairs.for_each(|(to, by)| *to = *by);
                }
                self.scatter(feed, plan, sources, some, lane);
            }
        };
        let lists: [&mut [f32]; 2] = [by_sums, &mut []];
        in_lanes(0, lanes, lists, [share * per_row, 0], &run);
    }

    /// Adds the derivatives by a block's leaves to those by what they were read from.
    fn scatter(
        &self,
        feed: &ProgramFeed,
        plan: &Plan,
        sources: Sources<'_>,
        some: (Rows<'_>, usize),
        lane: &mut Lane<f32>,
    ) {
        let count = some.0.count;
        for (piece, at) in feed.pieces.iter().zip(&plan.by_leaves) {
            if let Some(at) = at {
                let by = (lane.work.result(plan, *at, count), piece.width());
                lane.gradients.add(piece, by, some, sources);
            }
        }
        for &(learnt, by) in &plan.by_learnt {
            let earlier = &self.own_numbers()[..learnt];
            let start: usize = earlier.iter().map(|(_, x)| x.len()).sum();
            let by = lane.work.result(plan, by, count);
            let sums = lane.by_learnt[start..].iter_mut().zip(by);
            sums.for_each(|(sum, &by)| *sum += f64::from(by));
        }
    }
}

impl ProgramFeed {
    /// The numbers of each row as they are.
    fn pass_on<T: Real>(&self, sources: Sources<'_>, rows: Rows<'_>, out: &mut [T]) {
        for piece in &self.pieces {
            let each = out.chunks_exact_mut(piece.width().max(1));
            for (row, out) in each.enumerate() {
                sources.put(rows.row(row), row, piece, out);
            }
        }
    }

    /// Where a leaf is read, if that is where it is.
    fn place<'a, T: Real>(&self, sources: Sources<'a>, leaf: usize) -> Option<InPlace<'a, T>> {
        let table = self.in_place[leaf]?;
        let numbers = T::of_single(&sources.learnable[table].values)?;
        Some(InPlace { numbers, table })
    }
}

/// Runs lanes from the `first` on, on all threads; of two lists each has its part, of these lengths.
fn in_lanes<T: Real>(
    first: usize,
    lanes: &mut [Lane<T>],
    [one, other]: [&mut [T]; 2],
    shares: [usize; 2],
    run: &(impl Fn(usize, &mut Lane<T>, &mut [T], &mut [T]) + Sync),
) {
    match lanes {
        [] => {}
        [lane] => run(first, lane, one, other),
        _ => {
            let middle = lanes.len() / 2;
            let (lanes, others) = lanes.split_at_mut(middle);
            let [(a, b), (c, d)] = [(one, shares[0]), (other, shares[1])].map(|(list, share)| {
                let length = list.len();
                list.split_at_mut(length.min(middle * share))
            });
            rayon::join(
                || in_lanes(first, lanes, [a, c], shares, run),
                || in_lanes(first + middle, others, [b, d], shares, run),
            );
        }
    }
}

impl Model {
    /// What answers for a predicate, unless that is a host.
    pub(super) fn program_of(&self, predicate: PredicateId) -> Option<usize> {
        let is_its = |program: &Program| program.predicate == predicate;
        let hosted = self.hosts[predicate].is_some();
        (self.programs.iter().position(is_its)).filter(|_| !hosted)
    }

    /// Whether the answers are those to these requests.
    pub(super) fn is_attached_to(&self, requests: &[Request]) -> bool {
        let same = |(request, answer): (&Request, &Option<Answer>)| match *answer {
            None => self.program_of(request.predicate).is_none(),
            Some(answer) => {
                let (program, feed) = self.feed(answer);
                let is_its = feed.shape.starts_with(&request.shape);
                program.predicate == request.predicate && is_its
            }
        };
        requests.len() == self.answers.len() && requests.iter().zip(&self.answers).all(same)
    }

    fn feed(&self, Answer { program, feed }: Answer) -> (&Program, &ProgramFeed) {
        let program = &self.programs[program];
        (program, &program.feeds[feed])
    }

    fn state_mut(&mut self, Answer { program, feed }: Answer) -> &mut State {
        &mut self.programs[program].feeds[feed].state
    }

    /// Which rows of networks the programs need.
    pub(super) fn ask_for_programs(&mut self, requests: &[Request]) {
        for (request, answer) in requests.iter().zip(&self.answers) {
            let Some(Answer { program, feed }) = *answer else {
                continue;
            };
            let own = &mut self.programs[program];
            let mut named = std::mem::take(&mut own.feeds[feed].state.with_classes);
            own.name_classes(request.into(), &mut named);
            let rows = own.rows(request.into(), &named);
            for piece in &mut own.feeds[feed].pieces {
                piece.forget();
                piece.ask(&mut self.units, rows.iter(), &self.stop);
            }
            own.feeds[feed].state.with_classes = named;
        }
    }

    /// Answers a request, keeping what a backward pass can use. Its rows are new, or those of the last time.
    pub(super) fn forward_program(
        &mut self,
        answer: Answer,
        (request, numbers): (&Request, &mut [f32]),
        rows_are_new: bool,
    ) -> Result<(), Diagnostics> {
        let (own, feed) = self.feed(answer);
        if own.form().is_none() {
            feed.pass_on(self.sources(), request.into(), numbers);
            return Ok(());
        }
        let mut state = std::mem::take(self.state_mut(answer));
        let ((own, feed), sources) = (self.feed(answer), self.sources());
        let rows = own.rows(request.into(), &state.with_classes);
        let work = (&mut state.room, &mut state.grids);
        own.forward_in_grids(feed, sources, rows, work, (&mut *numbers, rows_are_new));
        let done = own.in_range(sources, numbers);
        let done = done.map_err(|wrong| self.refuse(answer, rows, wrong));
        *self.state_mut(answer) = state;
        done
    }

    /// The same in any precision, keeping nothing.
    pub(super) fn evaluate_program<T: Precision>(
        &mut self,
        answer: Answer,
        (rows, numbers): (Rows<'_>, &mut [T]),
    ) -> Result<(), Diagnostics> {
        self.set_numbers(rows.numbers);
        let ((own, feed), sources) = (self.feed(answer), self.sources());
        let (mut named, mut room) = (Vec::new(), Room::default());
        own.name_classes(rows, &mut named);
        let rows = own.rows(rows, &named);
        own.forward(feed, sources, rows, &Grids::default(), &mut room, numbers);
        let done = own.in_range(sources, numbers);
        done.map_err(|wrong| self.refuse(answer, rows, wrong))
    }

    /// What answers for a predicate at rows of individuals and numbers, without the class of a softmax; `None` if nothing that is known does.
    fn answer_for_rows(&self, predicate: PredicateId) -> Result<Option<Answer>, Diagnostics> {
        let Some(program) = self.program_of(predicate) else {
            return Ok(None);
        };
        let Program { arity, feeds, .. } = &self.programs[program];
        let shape = rows_shape(&self.theory[predicate].arguments[..*arity])?;
        let feed = feeds.iter().position(|feed| feed.shape == shape);
        Ok(feed.map(|feed| Answer { program, feed }))
    }

    /// What a predicate says of rows of individuals and numbers, in double precision. Rows of a softmax are without the class, and it says
    /// a number for each.
    ///
    /// # Errors
    /// If it cannot be asked about other rows than those of the axioms.
    pub(super) fn said(
        &mut self,
        predicate: PredicateId,
        rows: Rows<'_>,
    ) -> Result<Vec<f64>, Diagnostics> {
        let answer = self.answer_for_rows(predicate)?;
        let answer = answer.ok_or_else(cannot_predict)?;
        let (own, feed) = self.feed(answer);
        if rows.arity + usize::from(own.classes.is_some()) != own.arity {
            return Err(cannot_predict());
        }
        if let (Says::Network, [Piece::Unit { unit, feed, .. }]) = (&own.says, &feed.pieces[..]) {
            let network = (*unit, *feed);
            return self.ask_about(network, rows);
        }
        let width = own.classes.map_or(own.width(), |classes| classes as usize);
        let mut numbers = vec![0.0; rows.count * width];
        self.evaluate_program(answer, (rows, &mut numbers))?;
        self.unless_stopped()?;
        Ok(numbers)
    }

    /// Evaluates those closed forms whose arguments are data: what is wrong with their numbers is known before anything is
    /// learnt. The engine must be [attached](Model::attach), and should look at all rows of its tables.
    ///
    /// # Errors
    /// With the first number of each that cannot be.
    pub(crate) fn check_closed_forms<T: Precision>(
        &mut self,
        engine: &mut Engine<T>,
    ) -> Result<(), Diagnostics> {
        let mut wrong = Diagnostics::new();
        for index in 0..self.answers.len() {
            let Some(answer) = self.answers[index] else {
                continue;
            };
            let (own, feed) = self.feed(answer);
            let (request, numbers) = engine.request_and_numbers(index);
            if own.form().is_some()
                && feed.targets.is_empty()
                && let Err(errors) = self.evaluate_program(answer, (request.into(), numbers))
            {
                wrong.extend(errors);
            }
        }
        wrong.into_result(()).map(drop)
    }

    /// Takes the gradient of a request.
    pub(super) fn backward_program(&mut self, answer: Answer, request: &Request, by: &[f32]) {
        let (own, feed) = self.feed(answer);
        if feed.back.is_empty() || by.is_empty() {
            return;
        }
        if own.form().is_none() {
            let mut gradients = std::mem::take(&mut self.gradients);
            let (feed, rows) = (self.feed(answer).1, (request.into(), 0));
            for piece in &feed.pieces {
                gradients.add(piece, (by, piece.width()), rows, self.sources());
            }
            self.gradients = gradients;
            return;
        }
        let mut state = std::mem::take(self.state_mut(answer));
        let State {
            room: Room { lanes, kept },
            grids,
            with_classes,
        } = &mut state;
        // The first lane adds to the model's; the others have tables of their own, which must be worth being added up.
        std::mem::swap(&mut lanes[0].gradients, &mut self.gradients);
        let ((own, its), sources) = (self.feed(answer), self.sources());
        let rows = own.rows(request.into(), with_classes);
        let lengths = its.targets.iter().map(|t| lanes[0].gradients.of(*t).len());
        let sizes: usize = lengths.sum();
        // Those of grids have next to nothing to do there.
        let one_by_one = rows.count - grids.rows();
        let worth = 1 + one_by_one * own.tape.width / (8 * sizes).max(1);
        let lanes = &mut lanes[..own.lanes(one_by_one).min(worth)];
        let learnt: usize = own.own_numbers().iter().map(|(_, x)| x.len()).sum();
        for lane in &mut *lanes {
            lane.by_learnt.clear();
            lane.by_learnt.resize(learnt, 0.0);
        }
        if let [first, others @ ..] = &mut *lanes {
            for lane in others {
                for &target in &its.targets {
                    // All of them are 0 since they were added up.
                    let length = first.gradients.of(target).len();
                    let own = lane.gradients.of(target);
                    if own.len() != length {
                        own.reset(length);
                    }
                }
            }
        }
        let kept = kept.as_deref().unwrap_or_default();
        if grids.are_none() {
            own.backward(its, sources, rows, grids, (lanes, &mut []), (kept, by));
        } else {
            grids.take_in(by);
            let mut by_sums = std::mem::take(&mut grids.by_sums);
            let (rows, by) = (grids.in_order(rows), &grids.numbers);
            own.backward(its, sources, rows, grids, (lanes, &mut by_sums), (kept, by));
            grids.by_sums = by_sums;
            let parts = (&its.splits[..], its.arity);
            grids.backward(parts, sources, &mut lanes[0].gradients);
        }
        own.add_up(its, lanes);
        std::mem::swap(&mut lanes[0].gradients, &mut self.gradients);
        *self.state_mut(answer) = state;
    }
}

impl Program {
    /// Adds what the lanes have found to what the first has, in their order.
    fn add_up(&self, feed: &ProgramFeed, lanes: &mut [Lane<f32>]) {
        let mut start = 0;
        for (&table, (_, first)) in self.learnt.iter().zip(self.own_numbers()) {
            for k in 0..first.len() {
                let sum: f64 = lanes.iter().map(|lane| lane.by_learnt[start + k]).sum();
                lanes[0].gradients.tables[table][k] += sum as f32;
            }
            start += first.len();
        }
        let [first, others @ ..] = lanes else { return };
        for lane in others {
            for target in &feed.targets {
                let found = lane.gradients.of(*target).iter_mut();
                // They are 0 for the next time.
                let pairs = first.gradients.of(*target).iter_mut().zip(found);
                pairs.for_each(|(sum, x)| *sum += std::mem::take(x));
            }
        }
    }
}
