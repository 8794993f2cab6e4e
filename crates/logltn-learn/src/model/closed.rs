//! Closed forms behind predicates: which numbers their arguments are, and where their gradients go.
//!
//! A request is answered in blocks of rows, the blocks shared out among lanes. How many lanes there are depends on the size of the request
//! alone, and what they find is added up in their order, so the bits do not depend on the number of threads. Sums of products of vectors
//! are products of matrices where rows ask about many pairs of the same few (`grid.rs`); what is below is all else. Vectors that are learnt
//! are read where they are, and so are the derivatives by them added to, wherever only sums over vectors read them. Of a block the way back
//! finds the sums over vectors, one number each a row; the rest is computed again, which is cheaper than reading it from memory.

mod ranking;

use std::ops::Range;
use std::sync::Arc;

use logltn::theory::{ArgumentSort, PredicateId, SortKind};
use logltn::vector::{Real, Task, run_task};
use logltn::{
    ArgumentShape, Code, Diagnostic, Diagnostics, Engine, OutputKind, Precision, Request,
};
use logltn_nn::Floats;
use rayon::prelude::*;

use super::build::{Builder, leaves};
use super::grid::{Grids, Split, splits};
use super::inputs::Sources;
use super::parameters::Parameters;
use super::unit::Piece;
use super::vectors::SortVectors;
use super::{Model, rows_shape};
use crate::closed_form::{Again, ClosedForm, InPlace, Rest, Tape, Work};

/// A lane has at least about this many numbers to compute.
const LANE_NUMBERS: usize = 1 << 16;

/// The most lanes.
const MOST_LANES: usize = 8;

/// This many numbers of a vector are added up at once.
const PIECE: usize = 16;

/// What is off by no more than this many roundings is as meant: the cosine of a vector with itself is at most 1.
const ROUNDINGS: f64 = 32.0;

/// A closed form, with its program and the ways in which it is applied.
pub(super) struct Closed {
    predicate: PredicateId,
    form: Arc<ClosedForm>,
    tape: Tape,
    /// What it learns, among the model's learnable tables.
    learnt: Vec<usize>,
    /// A softmax has one number for each of this many classes, which are the last argument.
    pub classes: Option<u32>,
    pub feeds: Vec<ClosedFeed>,
}

/// A closed form at arguments of some shape.
pub(super) struct ClosedFeed {
    shape: Vec<ArgumentShape>,
    /// How many individuals and numbers name a row.
    arity: usize,
    /// Where the numbers of each leaf of the program come from.
    pub pieces: Vec<Piece>,
    /// Which results of the program pass a gradient on.
    active: Vec<bool>,
    /// Where gradients go, each once.
    targets: Vec<Target>,
    /// For each leaf that is read where it is: which learnable table that is, and its place among the targets.
    in_place: Vec<Option<(usize, usize)>>,
    again: Again,
    /// The ways to compute it as a product of matrices.
    pub splits: Vec<Split>,
    room: Room<f32>,
    /// Those of the last request.
    grids: Grids,
    /// The rows of the last request of a softmax, each with all classes.
    with_classes: Vec<u32>,
}

/// What a request is computed in.
#[derive(Default)]
struct Room<T> {
    lanes: Vec<Lane<T>>,
    /// What the way back needs from each block, one block after another; empty if there is none.
    kept: Option<Vec<T>>,
}

/// What a gradient is of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Target {
    /// A table of learnable vectors.
    Table(usize),
    /// The outputs of a network.
    Unit(usize),
}

/// Part of a request's rows.
#[derive(Default)]
struct Lane<T> {
    work: Work<T>,
    /// The derivatives by each target.
    gradients: Vec<Floats>,
    /// The derivatives by each number that is learnt.
    by_learnt: Vec<f64>,
}

/// The rows that a closed form is queried at.
#[derive(Clone, Copy)]
struct Rows<'a> {
    individuals: &'a [u32],
    count: usize,
}

/// What of a block is computed.
#[derive(Clone, Copy)]
enum What<'a> {
    All,
    /// What is not known.
    Rest(&'a Rest),
    /// What the way back needs.
    Again(&'a Again),
    /// What the way back needs of what is not known.
    RestAgain(&'a Rest, &'a Again),
}

/// A row whose number cannot be.
struct OutOfRange {
    row: usize,
    value: f64,
}

impl Builder<'_> {
    /// The closed form of a predicate, with its first numbers.
    pub(super) fn closed(
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
            tape,
            learnt,
            classes: self.classes(predicate),
            feeds: Vec::new(),
        });
        Ok(self.model.closed.len() - 1)
    }

    fn classes(&self, predicate: PredicateId) -> Option<u32> {
        let knowledge = self.knowledge;
        let softmax = knowledge.outputs[predicate.index()].kind == OutputKind::Softmax;
        match knowledge.theory()[predicate].arguments.last() {
            Some(ArgumentSort::Sort(sort)) if softmax => Some(knowledge.data.size(*sort) as u32),
            _ => None,
        }
    }

    /// The feed of a closed form for a request, which does not name the class of a softmax.
    pub(super) fn closed_feed_of(
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
    pub(super) fn closed_feed(
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
            let found: Vec<Target> = match piece {
                Piece::Vector { sort, .. } => {
                    let vectors = &self.model.vectors[*sort];
                    let tables = [vectors.embedding, vectors.constants];
                    tables.into_iter().flatten().map(Target::Table).collect()
                }
                Piece::Unit { unit, .. } => vec![Target::Unit(*unit)],
                Piece::Number { .. }
                | Piece::Integer { .. }
                | Piece::Given { .. }
                | Piece::Containment { .. } => Vec::new(),
            };
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
            let target = targets.iter().position(|t| *t == Target::Table(table))?;
            (tape.may_stay(leaf) && u32::try_from(numbers).is_ok()).then_some((table, target))
        });
        let active = tape.active(&learns);
        let arity = shape.iter().map(leaves).sum();
        let feed = ClosedFeed {
            shape: shape.to_vec(),
            arity,
            in_place: in_place.collect(),
            again: tape.again(&active, &[]),
            splits: splits(tape, &pieces, arity, &active),
            grids: Grids::default(),
            with_classes: Vec::new(),
            pieces,
            active,
            targets,
            room: Room {
                lanes: Vec::new(),
                kept: Some(Vec::new()),
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
            && self.model.vectors[sort.index()].width() == 0
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

/// Rows without their last argument, each with all of this many classes.
fn with_classes(rows: &[u32], count: usize, classes: u32, out: &mut Vec<u32>) {
    let arity = rows.len().checked_div(count).unwrap_or(0);
    out.clear();
    out.reserve(count * classes as usize * (arity + 1));
    for row in 0..count {
        for class in 0..classes {
            out.extend_from_slice(&rows[row * arity..][..arity]);
            out.push(class);
        }
    }
}

impl Closed {
    /// The rows that a request asks about: of a softmax all classes of each, as they were written down with the request.
    fn rows<'a>(&self, request: &'a Request, with_classes: &'a [u32]) -> Rows<'a> {
        match self.classes {
            None => request.into(),
            Some(classes) => Rows {
                individuals: with_classes,
                count: request.rows() * classes as usize,
            },
        }
    }

    /// What a step over so many rows of a request takes, about: bytes of the rows with their classes, in both orders, and of
    /// their sums, results and derivatives; and how many numbers are computed.
    pub(super) fn work(&self, feed: usize, rows: usize) -> (u128, u128) {
        let feed = &self.feeds[feed];
        let sums = feed.splits.iter().map(|split| split.rest.known.len());
        let numbers = 2 * feed.arity + 3 * sums.max().unwrap_or(0) + feed.again.kept.len() + 6;
        let rows = rows as u128 * self.classes.map_or(1, u128::from);
        (4 * numbers as u128 * rows, self.tape.width() as u128 * rows)
    }

    /// Lanes for this many rows.
    fn lanes(&self, rows: usize) -> usize {
        let numbers = rows * self.tape.width();
        (numbers / LANE_NUMBERS).clamp(1, MOST_LANES)
    }

    /// How many rows each of this many lanes takes: whole blocks.
    fn share(&self, rows: usize, lanes: usize) -> usize {
        rows.div_ceil(self.tape.rows).div_ceil(lanes) * self.tape.rows
    }

    /// Computes all rows: those of grids as products of matrices, keeping what a backward pass can use.
    fn forward_in_grids(
        &self,
        feed: &ClosedFeed,
        sources: Sources<'_>,
        rows: Rows<'_>,
        (room, grids): (&mut Room<f32>, &mut Grids),
        (out, rows_are_new): (&mut [f32], bool),
    ) {
        if rows_are_new {
            grids.find(rows.individuals, feed.arity, &feed.splits);
        }
        if grids.are_none() {
            return self.forward(feed, sources, rows, None, room, out);
        }
        grids.multiply(&feed.splits, &feed.pieces, sources, feed.arity);
        let mut numbers = std::mem::take(&mut grids.numbers);
        numbers.resize(rows.count, 0.0);
        let rows = rows.in_order_of(grids);
        self.forward(feed, sources, rows, Some(grids), room, &mut numbers);
        grids.numbers = numbers;
        grids.hand_out(out);
    }

    /// Computes all rows, on all threads. Of rows of grids, which come first, the sums are known.
    fn forward<T: Real>(
        &self,
        feed: &ClosedFeed,
        sources: Sources<'_>,
        rows: Rows<'_>,
        grids: Option<&Grids>,
        room: &mut Room<T>,
        out: &mut [T],
    ) {
        let count = self.lanes(rows.count);
        let Room { lanes, kept } = room;
        if lanes.len() < count {
            lanes.resize_with(count, Lane::default);
        }
        let share = self.share(rows.count, count).max(1);
        let keeps = kept.as_ref().map_or(0, |_| feed.again.kept.len());
        let mut none = Vec::new();
        let kept = kept.as_mut().unwrap_or(&mut none);
        kept.resize(rows.count * keeps, T::ZERO);
        let run = |i: usize, lane: &mut Lane<T>, mut out: &mut [T], mut kept: &mut [T]| {
            let end = i * share + out.len();
            for (part, split) in self.blocks(grids, i * share..end) {
                if sources.are_stopped() {
                    return;
                }
                let (first, count) = (part.start, part.len());
                let some = rows.some(feed, first, count);
                let rest = split.map(|split| &feed.splits[split].rest);
                lane.work.prepare(&self.tape);
                for (which, &at) in rest.iter().flat_map(|rest| &rest.known).enumerate() {
                    let sums = grids.map(|grids| grids.sums(first, which));
                    let sums = sums.into_iter().flatten();
                    let sums = sums.map(|&sum| T::from_f64(f64::from(sum)));
                    lane.work.put(&self.tape, at, count, sums);
                }
                let what = rest.map_or(What::All, What::Rest);
                self.block(feed, sources, some, first, lane, what);
                let own;
                (own, out) = out.split_at_mut(count);
                lane.work.result(&self.tape, own);
                let own;
                (own, kept) = kept.split_at_mut(count * keeps);
                if keeps > 0 {
                    lane.work.keep(&self.tape, &feed.again, own);
                }
            }
        };
        match count {
            1 => run(0, &mut lanes[0], out, kept),
            _ => {
                let parts = lanes.par_iter_mut().zip(out.par_chunks_mut(share));
                let parts = parts.enumerate();
                match keeps {
                    0 => parts.for_each(|(i, (lane, out))| run(i, lane, out, &mut [])),
                    _ => (parts.zip(kept.par_chunks_mut(share * keeps)))
                        .for_each(|((i, (lane, out)), kept)| run(i, lane, out, kept)),
                }
            }
        }
    }

    /// Blocks of some rows; those of a grid, or of none, apart. They end at the same rows whichever the range begins with.
    fn blocks<'g>(
        &self,
        grids: Option<&'g Grids>,
        rows: Range<usize>,
    ) -> impl Iterator<Item = (Range<usize>, Option<usize>)> + use<'g> {
        let none = grids.is_none().then(|| (rows.clone(), None));
        let cut = grids.into_iter().flat_map(move |g| g.cut(rows.clone()));
        let most = self.tape.rows;
        none.into_iter().chain(cut).flat_map(move |(part, split)| {
            let blocks = part.start / most..part.end.div_ceil(most);
            blocks.map(move |at| {
                let block = part.start.max(at * most)..part.end.min((at + 1) * most);
                (block, split)
            })
        })
    }

    /// Whether all numbers can be what they are to be.
    fn in_range<T: Real>(&self, sources: Sources<'_>, out: &mut [T]) -> Result<(), OutOfRange> {
        match sources.are_stopped() {
            // After a stop request these numbers are not used.
            true => Ok(()),
            false => in_range(self.form.output().kind, out),
        }
    }

    /// Computes one block; all of it, or some.
    fn block<T: Real>(
        &self,
        feed: &ClosedFeed,
        sources: Sources<'_>,
        rows: Rows<'_>,
        first: usize,
        lane: &mut Lane<T>,
        what: What<'_>,
    ) {
        let tape = &self.tape;
        let again = match what {
            What::All => None,
            What::Rest(rest) => Some(&rest.forward),
            What::Again(again) | What::RestAgain(_, again) => Some(again),
        };
        for (leaf, piece) in feed.pieces.iter().enumerate() {
            let width = piece.width().max(1);
            match piece {
                _ if what.leaves_out(leaf) => {}
                Piece::Vector {
                    place, sort, from, ..
                } if feed.place::<T>(sources, leaf).is_some() => {
                    let (width, from) = (sources.vectors[*sort].width() as u32, *from as u32);
                    let individuals = rows.individuals[*place..].iter().step_by(feed.arity);
                    let starts = lane.work.starts_mut(leaf, rows.count).iter_mut();
                    starts
                        .zip(individuals)
                        .for_each(|(start, individual)| *start = individual * width + from);
                }
                _ if again.is_some_and(|again| !tape.needs(again, leaf)) => {}
                // By far the most, so the choice is not made row by row.
                Piece::Vector {
                    place, sort, from, ..
                } => run_task(Gather {
                    out: lane.work.leaf_mut(tape, leaf, rows.count),
                    width,
                    rows,
                    arity: feed.arity,
                    place: *place,
                    from: *from,
                    vectors: &sources.vectors[*sort],
                    learnable: sources.learnable,
                }),
                _ => {
                    let numbers = lane.work.leaf_mut(tape, leaf, rows.count);
                    for (row, out) in numbers.chunks_exact_mut(width).enumerate() {
                        sources.put(rows.tuple(feed, row), first + row, piece, out);
                    }
                }
            }
        }
        let learnt = |at: usize| &*sources.learnable[self.learnt[at]].values;
        let places = &|leaf: usize| feed.place(sources, leaf);
        lane.work.forward(tape, rows.count, learnt, places, again);
    }

    /// The derivatives by whatever is learnt, from those by the numbers of all rows: added to those of the targets, which
    /// the first lane holds.
    fn backward(
        &self,
        feed: &ClosedFeed,
        sources: Sources<'_>,
        rows: Rows<'_>,
        grids: Option<&Grids>,
        (lanes, by_sums): (&mut [Lane<f32>], &mut [f32]),
        (kept, by): (&[f32], &[f32]),
    ) {
        let share = self.share(rows.count, lanes.len()).max(1);
        let keeps = feed.again.kept.len();
        let per_row = grids.map_or(0, |grids| grids.per_row);
        let run = |i: usize, lane: &mut Lane<f32>, by_sums: &mut [f32]| {
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
                let block = rows.some(feed, first, count);
                lane.work.prepare(&self.tape);
                let kept = &kept[first * keeps..(first + count) * keeps];
                lane.work.put_back(&self.tape, &feed.again, kept);
                let rest = split.map(|split| &feed.splits[split].rest);
                let what = match rest {
                    None => What::Again(&feed.again),
                    Some(rest) => What::RestAgain(rest, &rest.again),
                };
                self.block(feed, sources, block, first, lane, what);
                let places = &|leaf: usize| feed.place(sources, leaf);
                let tables = &mut lane.gradients;
                let (active, known) = match rest {
                    None => (&feed.active, &[][..]),
                    Some(rest) => (&rest.active, &rest.known[..]),
                };
                (lane.work).backward(&self.tape, (active, known), by, places, tables);
                for (which, &at) in known.iter().enumerate().filter(|(_, at)| active[**at]) {
                    let to = &mut by_sums[(first - i * share) * per_row + which..];
                    let found = lane.work.by(&self.tape, at, count);
                    let pairs = to.iter_mut().step_by(per_row).zip(found);
                    pairs.for_each(|(to, by)| *to = *by);
                }
                self.scatter(feed, sources, block, first, lane, active);
            }
        };
        match (lanes, per_row) {
            ([one], _) => run(0, one, by_sums),
            (lanes, 0) => {
                let lanes = lanes.par_iter_mut().enumerate();
                lanes.for_each(|(i, lane)| run(i, lane, &mut []));
            }
            // Lanes without rows have nothing to do.
            (lanes, _) => (lanes
                .par_iter_mut()
                .zip(by_sums.par_chunks_mut(share * per_row)))
            .enumerate()
            .for_each(|(i, (lane, by_sums))| run(i, lane, by_sums)),
        }
    }

    /// Adds the derivatives by a block's leaves to those by what they were read from.
    fn scatter(
        &self,
        feed: &ClosedFeed,
        sources: Sources<'_>,
        rows: Rows<'_>,
        first: usize,
        lane: &mut Lane<f32>,
        active: &[bool],
    ) {
        let Lane {
            work,
            gradients,
            by_learnt,
            ..
        } = lane;
        let place_of = |target| feed.targets.iter().position(|t| *t == target);
        for (leaf, piece) in feed.pieces.iter().enumerate() {
            if feed.in_place[leaf].is_some() || !active[self.tape.leaf_place(leaf)] {
                continue;
            }
            let (by, opposite) = work.by_leaf(&self.tape, leaf, rows.count);
            let width = piece.width().max(1);
            match piece {
                Piece::Vector {
                    place, sort, from, ..
                } => {
                    let vectors = &sources.vectors[*sort];
                    let [embedding, constants] = [vectors.embedding, vectors.constants]
                        .map(|table| table.and_then(|table| place_of(Target::Table(table))));
                    if embedding.or(constants).is_none() {
                        continue;
                    }
                    let individual = |row: usize| rows.tuple(feed, row)[*place];
                    scatter(by, width, opposite, gradients, individual, |individual| {
                        let (table, learnt) = vectors.learnt(individual)?;
                        let own = match vectors.embedding == Some(table) {
                            true => embedding,
                            false => constants,
                        };
                        Some((own?, learnt * vectors.width() + from))
                    });
                }
                Piece::Unit {
                    unit,
                    feed: theirs,
                    rows: their_rows,
                    ..
                } => {
                    let Some(own) = place_of(Target::Unit(*unit)) else {
                        continue;
                    };
                    let start = sources.units[*unit].feeds[*theirs].start;
                    let their_row = |row: usize| their_rows[first + row];
                    scatter(by, width, opposite, gradients, their_row, |row| {
                        Some((own, (start + row as usize) * width))
                    });
                }
                Piece::Number { .. }
                | Piece::Integer { .. }
                | Piece::Given { .. }
                | Piece::Containment { .. } => {}
            }
        }
        for (at, by) in work.by_learnt(&self.tape) {
            let start: usize = self.form.learnt()[..at].iter().map(|(_, x)| x.len()).sum();
            let sums = by_learnt[start..].iter_mut().zip(by);
            sums.for_each(|(sum, &by)| *sum += f64::from(by));
        }
    }
}

impl ClosedFeed {
    /// Where a leaf is read, if that is where it is.
    fn place<'a, T: Real>(&self, sources: Sources<'a>, leaf: usize) -> Option<InPlace<'a, T>> {
        let (table, target) = self.in_place[leaf]?;
        let numbers = T::of_single(&sources.learnable[table].values)?;
        let table = Some(target);
        Some(InPlace { numbers, table })
    }
}

impl<'a> Rows<'a> {
    /// Some of them.
    fn some(self, feed: &ClosedFeed, first: usize, count: usize) -> Rows<'a> {
        Rows {
            individuals: &self.individuals[first * feed.arity..(first + count) * feed.arity],
            count,
        }
    }

    /// The same in the order of grids.
    fn in_order_of(self, grids: &Grids) -> Rows<'_> {
        Rows {
            individuals: grids.individuals(),
            count: self.count,
        }
    }

    fn tuple(self, feed: &ClosedFeed, row: usize) -> &'a [u32] {
        &self.individuals[row * feed.arity..(row + 1) * feed.arity]
    }
}

impl What<'_> {
    /// Whether it has nothing to do with a leaf.
    fn leaves_out(self, leaf: usize) -> bool {
        match self {
            What::All | What::Again(_) => false,
            What::Rest(rest) | What::RestAgain(rest, _) => !rest.leaves[leaf],
        }
    }
}

impl<'a> From<&'a Request> for Rows<'a> {
    fn from(request: &'a Request) -> Rows<'a> {
        Rows {
            individuals: request.individuals(),
            count: request.rows(),
        }
    }
}

/// Reads a vector for each row. (A closure would be compiled apart, for any processor.)
struct Gather<'a, T> {
    out: &'a mut [T],
    width: usize,
    rows: Rows<'a>,
    arity: usize,
    place: usize,
    from: usize,
    vectors: &'a SortVectors,
    learnable: &'a [Parameters],
}

impl<T: Real> Task for Gather<'_, T> {
    type Output = ();

    #[inline(always)]
    fn run<const FUSED: bool>(self) {
        let tuples = self.rows.individuals.chunks_exact(self.arity);
        for (tuple, out) in tuples.zip(self.out.chunks_exact_mut(self.width)) {
            let individual = tuple[self.place];
            (self.vectors).read(individual, self.from, out, self.learnable);
        }
    }
}

/// Adds the vectors of a block to those of what each row names, at the table and place that `to` says; or subtracts them.
fn scatter(
    by: &[f32],
    width: usize,
    opposite: bool,
    tables: &mut [Floats],
    name: impl Fn(usize) -> u32,
    to: impl Fn(u32) -> Option<(usize, usize)>,
) {
    run_task(Scatter {
        by,
        width,
        sign: if opposite { -1.0 } else { 1.0 },
        tables,
        name,
        to,
    });
}

struct Scatter<'a, N, F> {
    by: &'a [f32],
    width: usize,
    sign: f32,
    tables: &'a mut [Floats],
    name: N,
    to: F,
}

impl<N: Fn(usize) -> u32, F: Fn(u32) -> Option<(usize, usize)>> Task for Scatter<'_, N, F> {
    type Output = ();

    #[inline(always)]
    fn run<const FUSED: bool>(self) {
        let rows = self.by.len() / self.width;
        let mut first = 0;
        while first < rows {
            // Rows that follow each other often name the same, such as a relation: then one sum waits for the next, and
            // should not go through memory.
            let name = (self.name)(first);
            let mut end = first + 1;
            while end < rows && (self.name)(end) == name {
                end += 1;
            }
            let by = &self.by[first * self.width..end * self.width];
            first = end;
            let Some((table, start)) = (self.to)(name) else {
                continue;
            };
            let sums = &mut self.tables[table][start..start + self.width];
            let (pieces, rest) = sums.as_chunks_mut::<PIECE>();
            let done = pieces.len() * PIECE;
            for (at, piece) in pieces.iter_mut().enumerate() {
                let mut sum = *piece;
                for by in by.chunks_exact(self.width) {
                    let by = &by[at * PIECE..][..PIECE];
                    for k in 0..PIECE {
                        sum[k] += self.sign * by[k];
                    }
                }
                *piece = sum;
            }
            if !rest.is_empty() {
                for by in by.chunks_exact(self.width) {
                    let pairs = rest.iter_mut().zip(&by[done..]);
                    pairs.for_each(|(sum, by)| *sum += self.sign * by);
                }
            }
        }
    }
}

/// Adds the numbers, and sets them to 0 for the next time.
fn add(to: &mut [f32], x: &mut [f32]) {
    to.iter_mut()
        .zip(x)
        .for_each(|(to, x)| *to += std::mem::take(x));
}

/// Whether all numbers can be what they are to be; what is off by roundings is set right.
fn in_range<T: Real>(kind: OutputKind, numbers: &mut [T]) -> Result<(), OutOfRange> {
    let slack = T::from_f64(ROUNDINGS * T::EPSILON.to_f64());
    let (least, most) = match kind {
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

impl Model {
    /// Which rows of networks closed forms need.
    pub(super) fn ask_for_closed(&mut self, requests: &[Request]) {
        let mut tuple = Vec::new();
        for (request, closed) in requests.iter().zip(&self.closed_feeds) {
            let Some((closed, feed)) = *closed else {
                continue;
            };
            let classes = self.closed[closed].classes;
            let own = &mut self.closed[closed].feeds[feed];
            let mut named = std::mem::take(&mut own.with_classes);
            if let Some(classes) = classes {
                with_classes(request.individuals(), request.rows(), classes, &mut named);
            }
            let arity = own.arity;
            let rows_of = self.closed[closed].rows(request, &named);
            let (individuals, count) = (rows_of.individuals, rows_of.count);
            for piece in &mut self.closed[closed].feeds[feed].pieces {
                let Piece::Unit {
                    unit,
                    feed,
                    places,
                    rows,
                    ..
                } = piece
                else {
                    continue;
                };
                rows.clear();
                let theirs = &mut self.units[*unit].feeds[*feed];
                for row in 0..count {
                    let from = &individuals[row * arity..][..arity];
                    tuple.clear();
                    tuple.extend(places.iter().map(|&place| from[place]));
                    rows.push(theirs.row(&tuple));
                }
            }
            self.closed[closed].feeds[feed].with_classes = named;
        }
    }

    /// Answers the requests of closed forms, keeping what a backward pass can use. Their rows are new, or those of the last time.
    pub(super) fn hand_out_closed(
        &mut self,
        engine: &mut Engine<f32>,
        rows_are_new: bool,
    ) -> Result<(), Diagnostics> {
        for index in 0..self.closed_feeds.len() {
            let Some((closed, feed)) = self.closed_feeds[index] else {
                continue;
            };
            let own = &mut self.closed[closed].feeds[feed];
            let mut room = std::mem::take(&mut own.room);
            let mut grids = std::mem::take(&mut own.grids);
            let (request, numbers) = engine.request_and_numbers(index);
            let (own, sources) = (&self.closed[closed], self.sources());
            let (its, work) = (&own.feeds[feed], (&mut room, &mut grids));
            let rows = own.rows(request, &its.with_classes);
            own.forward_in_grids(its, sources, rows, work, (&mut *numbers, rows_are_new));
            let done = own.in_range(sources, numbers);
            let done = done.map_err(|wrong| self.refuse((closed, feed), rows, wrong));
            let own = &mut self.closed[closed].feeds[feed];
            (own.room, own.grids) = (room, grids);
            done?;
        }
        Ok(())
    }

    /// The same in any precision, keeping nothing.
    pub(super) fn evaluate_closed<T: Precision>(
        &mut self,
        engine: &mut Engine<T>,
    ) -> Result<(), Diagnostics> {
        for index in 0..self.closed_feeds.len() {
            if let Some(closed) = self.closed_feeds[index] {
                let (request, numbers) = engine.request_and_numbers(index);
                let own = &self.closed[closed.0];
                let rows = own.rows(request, &own.feeds[closed.1].with_classes);
                self.closed_form(closed, rows, &mut Room::default(), numbers)?;
            }
        }
        Ok(())
    }

    fn closed_form<T: Precision>(
        &self,
        (closed, feed): (usize, usize),
        rows: Rows<'_>,
        room: &mut Room<T>,
        numbers: &mut [T],
    ) -> Result<(), Diagnostics> {
        let (own, sources) = (&self.closed[closed], self.sources());
        own.forward(&own.feeds[feed], sources, rows, None, room, numbers);
        let done = own.in_range(sources, numbers);
        done.map_err(|wrong| self.refuse((closed, feed), rows, wrong))
    }

    fn refuse(
        &self,
        (closed, feed): (usize, usize),
        rows: Rows<'_>,
        wrong: OutOfRange,
    ) -> Diagnostics {
        let closed = &self.closed[closed];
        let feed = &closed.feeds[feed];
        let tuple = rows.tuple(feed, wrong.row);
        self.out_of_range(closed, feed, wrong.row, tuple, wrong.value)
            .into()
    }

    /// The values of a closed form for rows of individuals and numbers, in double precision; each number by its place
    /// among `numbers`. Rows of a softmax are without the class, and it says a number for each.
    pub(crate) fn of_closed_form(
        &mut self,
        predicate: PredicateId,
        tuples: &[u32],
        numbers: &[f64],
    ) -> Result<Vec<f64>, Diagnostics> {
        let shape = rows_shape(&self.theory[predicate].arguments)?;
        let found = self.closed.iter().position(|c| c.predicate == predicate);
        let same = |feed: &ClosedFeed| feed.shape == shape;
        let feed = found.and_then(|closed| self.closed[closed].feeds.iter().position(same));
        let (Some(closed), Some(feed)) = (found, feed) else {
            let what = "there is no closed form to evaluate";
            return Err(Diagnostic::error(Code::CannotPredict, what).into());
        };
        self.set_numbers(numbers);
        let (arity, classes) = (
            self.closed[closed].feeds[feed].arity,
            self.closed[closed].classes,
        );
        let mut named = Vec::new();
        let rows = match classes {
            None => Rows {
                individuals: tuples,
                count: tuples.len().checked_div(arity).unwrap_or(1),
            },
            Some(classes) => {
                let count = tuples.len().checked_div(arity - 1).unwrap_or(1);
                with_classes(tuples, count, classes, &mut named);
                Rows {
                    individuals: &named,
                    count: count * classes as usize,
                }
            }
        };
        let mut numbers = vec![0.0; rows.count];
        self.closed_form((closed, feed), rows, &mut Room::default(), &mut numbers)?;
        self.unless_stopped()?;
        Ok(numbers)
    }

    /// Evaluates those closed forms whose arguments are data: what is wrong with their numbers is known before anything is
    /// learnt. The engine must be [attached](Model::attach), and should look at all rows of its tables.
    ///
    /// # Errors
    /// With the first number of each that cannot be.
    pub fn check_closed_forms<T: Precision>(
        &mut self,
        engine: &mut Engine<T>,
    ) -> Result<(), Diagnostics> {
        let mut wrong = Diagnostics::new();
        for index in 0..self.closed_feeds.len() {
            let Some((closed, feed)) = self.closed_feeds[index] else {
                continue;
            };
            if !self.closed[closed].feeds[feed].targets.is_empty() {
                continue;
            }
            let (request, numbers) = engine.request_and_numbers(index);
            self.set_numbers(request.numbers());
            let (mut named, room) = (Vec::new(), &mut Room::default());
            let own = &self.closed[closed];
            if let Some(classes) = own.classes {
                with_classes(request.individuals(), request.rows(), classes, &mut named);
            }
            let rows = own.rows(request, &named);
            if let Err(errors) = self.closed_form((closed, feed), rows, room, numbers) {
                wrong.extend(errors);
            }
        }
        wrong.into_result(()).map(drop)
    }

    /// Takes the gradients of the requests of closed forms.
    pub(super) fn backward_closed(&mut self, engine: &Engine<f32>) {
        for index in 0..self.closed_feeds.len() {
            let Some((closed, feed)) = self.closed_feeds[index] else {
                continue;
            };
            self.backward_closed_form(
                closed,
                feed,
                &engine.requests()[index],
                engine.gradient(index),
            );
        }
    }

    fn backward_closed_form(&mut self, closed: usize, feed: usize, request: &Request, by: &[f32]) {
        let own = &mut self.closed[closed].feeds[feed];
        if !own.active.contains(&true) {
            return;
        }
        let mut room = std::mem::take(&mut own.room);
        let mut grids = std::mem::take(&mut own.grids);
        let with_classes = std::mem::take(&mut own.with_classes);
        let Room { lanes, kept } = &mut room;
        let targets = std::mem::take(&mut own.targets);
        // Lanes have tables of derivatives of their own, which must be worth being added up.
        let mut sizes = 0;
        for (at, target) in targets.iter().enumerate() {
            let gradients = self.gradients_of(*target);
            sizes += gradients.len();
            let first = &mut lanes[0].gradients;
            if first.len() <= at {
                first.resize(at + 1, Floats::default());
            }
            std::mem::swap(&mut first[at], gradients);
        }
        let own = &self.closed[closed];
        let rows = own.rows(request, &with_classes);
        // Those of grids have next to nothing to do there.
        let one_by_one = rows.count - grids.rows();
        let worth = 1 + one_by_one * own.tape.width() / (8 * sizes).max(1);
        let count = own.lanes(one_by_one).min(worth);
        let learnt: usize = own.form.learnt().iter().map(|(_, x)| x.len()).sum();
        let (first, others) = lanes.split_at_mut(1);
        for lane in others[..count - 1].iter_mut() {
            lane.gradients.resize(targets.len(), Floats::default());
            for (gradients, first) in lane.gradients.iter_mut().zip(&first[0].gradients) {
                // All of them are 0 since they were added up.
                if gradients.len() != first.len() {
                    gradients.reset(first.len());
                }
            }
        }
        for lane in &mut lanes[..count] {
            lane.by_learnt.clear();
            lane.by_learnt.resize(learnt, 0.0);
        }
        self.closed[closed].feeds[feed].targets = targets;
        let (own, sources) = (&self.closed[closed], self.sources());
        let its = &own.feeds[feed];
        let kept = kept.as_deref().unwrap_or_default();
        match grids.are_none() {
            true => {
                let work = (&mut lanes[..count], &mut [][..]);
                own.backward(its, sources, rows, None, work, (kept, by));
            }
            false => {
                grids.take_in(by);
                let mut by_sums = std::mem::take(&mut grids.by_sums);
                let (rows, by) = (rows.in_order_of(&grids), &grids.numbers);
                let work = (&mut lanes[..count], &mut by_sums[..]);
                own.backward(its, sources, rows, Some(&grids), work, (kept, by));
                grids.by_sums = by_sums;
                let parts = (&its.splits[..], &its.pieces[..], its.arity);
                let place_of = |table| its.targets.iter().position(|t| *t == Target::Table(table));
                grids.backward(
                    parts,
                    sources,
                    &mut lanes[0].gradients,
                    |sort, individual| {
                        let vectors = &sources.vectors[sort];
                        let (table, row) = vectors.learnt(individual)?;
                        Some((place_of(table)?, row * vectors.width()))
                    },
                );
            }
        }
        self.add_up(closed, feed, &mut lanes[..count]);
        let own = &mut self.closed[closed].feeds[feed];
        (own.room, own.grids, own.with_classes) = (room, grids, with_classes);
    }

    /// Adds what the lanes have found to the gradients, in their order.
    fn add_up(&mut self, closed: usize, feed: usize, lanes: &mut [Lane<f32>]) {
        for at in 0..self.closed[closed].feeds[feed].targets.len() {
            let mut sum = std::mem::take(&mut lanes[0].gradients[at]);
            for lane in &mut lanes[1..] {
                add(&mut sum, &mut lane.gradients[at]);
            }
            // What stood there while the lanes worked has no numbers, and is kept for the next time.
            let target = self.closed[closed].feeds[feed].targets[at];
            std::mem::swap(self.gradients_of(target), &mut sum);
            lanes[0].gradients[at] = sum;
        }
        let mut start = 0;
        for at in 0..self.closed[closed].learnt.len() {
            let table = &mut self.learnable[self.closed[closed].learnt[at]];
            for (k, gradient) in table.gradients.iter_mut().enumerate() {
                let sum: f64 = lanes.iter().map(|lane| lane.by_learnt[start + k]).sum();
                *gradient += sum as f32;
            }
            start += table.values.len();
        }
    }

    fn gradients_of(&mut self, target: Target) -> &mut Floats {
        match target {
            Target::Table(table) => &mut self.learnable[table].gradients,
            Target::Unit(unit) => &mut self.units[unit].by_outputs,
        }
    }

    /// What to say of a number that cannot be: of which individuals it is, and what it was made of.
    fn out_of_range(
        &self,
        closed: &Closed,
        feed: &ClosedFeed,
        row: usize,
        tuple: &[u32],
        value: f64,
    ) -> Diagnostic {
        let name = &self.theory[closed.predicate].name;
        let mut leaves = tuple.iter().copied();
        let arguments: Vec<String> = (feed.shape.iter())
            .map(|shape| self.shown(shape, &mut leaves))
            .collect();
        let atom = format!("{name}({})", arguments.join(", "));
        let kind = closed.form.output().kind;
        let (what, must) = match kind {
            OutputKind::Truth => ("truth", "a truth lies between 0 and 1"),
            OutputKind::LogTruth => ("log truth", "the log of a truth is at most 0"),
            OutputKind::Sigmoid | OutputKind::Softmax => ("logit", ""),
        };
        let (message, help) = match value.is_finite() {
            true => (
                format!("`{atom}` has the {what} {value}, but {must}"),
                match (kind, closed.form.learnt().first()) {
                    (OutputKind::Truth, _) => {
                        "`sigmoid(…)`, and `exp(-…)` of something positive, lie between 0 and 1".to_string()
                    }
                    (_, Some((learnt, _))) => format!(
                        "if `{learnt}` must stay positive, write `softplus({learnt})`, or keep it where it is with \
                         `freeze = [\"{name}\"]` under `[train]`"
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
        let names = closed.form.argument_names(feed.shape.len());
        for (leaf, piece) in closed.tape.leaves().zip(&feed.pieces) {
            if leaf.length == 1 {
                let mut number = [0.0_f64];
                self.sources().put(tuple, row, piece, &mut number);
                let argument = names.get(leaf.argument).map_or("", String::as_str);
                made_of.push(format!("`{argument}` is {}", number[0]));
            }
        }
        for ((learnt, _), table) in closed.form.learnt().iter().zip(&closed.learnt) {
            if let [number] = self.learnable[*table].values[..] {
                made_of.push(format!("`{learnt}` is {number}"));
            }
        }
        let error = Diagnostic::error(Code::ClosedFormOutOfRange, message);
        let error = match made_of.is_empty() {
            true => error,
            false => error.note(format!("here {}", made_of.join(", "))),
        };
        closed.form.mark(error).help(help)
    }

    /// An argument as users write it.
    fn shown(&self, shape: &ArgumentShape, leaves: &mut impl Iterator<Item = u32>) -> String {
        match shape {
            ArgumentShape::Individual(sort) => {
                let individual = leaves.next().unwrap_or(0);
                let constant = self.vectors[sort.index()].constant(individual);
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
