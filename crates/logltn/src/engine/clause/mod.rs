//! Small clauses in one pass: for each binding the literals' numbers are read, value and derivatives are computed
//! in registers, and the derivatives are added to their tables, without a buffer in between and without a second
//! pass.
//!
//! One pass is enough although the derivative of the loss by a clause may depend on all values (that of a p-mean does):
//! the part that depends on all of them is the same factor for all bindings, and is multiplied in at the end, once per
//! literal. In log space the tables hold exp(α·literal). Then log(eᵅᵃ + eᵅᵇ) needs no exponential for each binding, its
//! derivatives are those exponentials over their sum, and logarithms are added up as a product of mantissas.
//!
//! Where both exponentials are too small for that, the log of their sum is computed in log space as everywhere else; where
//! most are, or some are infinite, the clause goes node by node in that step ([`Exponentials`]).

mod kernel;
mod operator;
mod tables;

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use super::lane::Lane;
use super::pieces::Threads;
use super::region::{Region, Touches};
use super::run::{Partial, Run};
use super::touched::Touched;
use crate::operators::{Settings, State, Summand};
use crate::plan::blocks::{BlockPlaces, Blocks, Spaced};
use crate::plan::physical::{ClauseLiteral, Form, MOST_LITERALS, SlotSource, SmallClause};
use crate::vector::{Power, Real, run_task};

use kernel::{Bindings, GATHERED, OverPlaces, OverRows, OverSums, Places};
use operator::{Greatest, Itself, Log, LogSum, Operator, Product, Squared};
pub(super) use tables::Tables;
use tables::{Entry, TableRows, add_rows, filled_up};

/// Whether small clauses are evaluated in one pass.
#[doc(hidden)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Fusing {
    /// Where there are enough bindings to be worth the tables.
    #[default]
    WhereCheaper,
    /// Wherever possible: for tests, whose theories are small.
    Always,
    /// Nowhere.
    Never,
}

/// A part of an axiom that is evaluated as a small clause in the current batch.
#[derive(Clone, Copy, Debug)]
pub(super) struct Fused {
    /// Of the program.
    pub clause: usize,
    /// The table of each literal.
    pub tables: [usize; MOST_LITERALS],
}

/// The derivatives by the literals of a clause, except for common factors, in the shape of [`Tables`].
#[derive(Clone, Debug, Default)]
pub(super) struct Sums<T> {
    /// Still to be multiplied by the exponentials, if the clause uses them.
    by_number: Vec<T>,
    /// The places that may differ from 0, by the clause's literals; if several share a table, at the first of them.
    /// Places that a lane does not reach need not be cleared or added up.
    touched: [Touches; MOST_LITERALS],
    /// The derivatives by the literals themselves, for bindings that were computed in log space; empty without such
    /// bindings.
    by_literal: Vec<T>,
}

impl<T: Real> Sums<T> {
    /// Zeros, for tables of this many numbers.
    fn clear(&mut self, numbers: usize) {
        self.by_literal.clear();
        let by_number = &mut self.by_number;
        for touched in &mut self.touched {
            touched.each_within(0..by_number.len(), |range| by_number[range].fill(T::ZERO));
            touched.clear(numbers);
        }
        if numbers > self.by_number.capacity() {
            // Zeros from the system take no memory before they are touched.
            self.by_number = vec![T::ZERO; numbers];
        } else {
            self.by_number.resize(numbers, T::ZERO);
        }
    }

    /// Notes that derivatives will be added between these places of a literal's table, and in the rest of their
    /// rows.
    fn touch(&mut self, literal: usize, (least, most): (u32, u32), entry: &Entry) {
        if least <= most {
            let end = (most as usize + entry.stride).min(entry.range().end);
            self.touched[literal].add(least as usize..end);
        }
    }

    /// The same for runs of places.
    fn touch_runs(&mut self, literal: usize, spaced: Spaced, entry: &Entry) {
        let mut from = 0;
        for (&start, &end) in spaced.starts.iter().zip(spaced.ends) {
            let (start, stride) = (entry.base + start as usize, spaced.stride as usize);
            let run = Region::spaced(start, stride, (end - from) as usize);
            self.touched[literal].join(run);
            from = end;
        }
    }
}

/// With longer rows, the `exists` is as quick node by node, without tables.
const MOST_CLASSES: usize = 64;

/// The fewest bindings for each number of the tables that make the tables worthwhile.
const WORTH: u64 = 2;

impl Fused {
    pub fn new(clause: usize) -> Fused {
        Fused {
            clause,
            tables: [0; MOST_LITERALS],
        }
    }

    /// The first literal with a table.
    fn first_with(&self, table: usize) -> usize {
        (self.tables.iter().position(|t| *t == table)).unwrap_or(0)
    }
}

impl SmallClause {
    fn wants_exponentials(&self) -> bool {
        matches!(self.form, Form::LogExp { .. } | Form::ExistsClass { .. })
    }

    /// The state of its exponentials in this step, from those of its literals' requests, plain or
    /// negated.
    pub(in crate::engine) fn exponentials(
        &self,
        mut of: impl FnMut(&ClauseLiteral) -> Exponentials,
    ) -> Exponentials {
        let mut all = Exponentials::default();
        if self.wants_exponentials() {
            // Literals are treated as independent; a row of classes has one that is not small.
            all.small = f64::from(u8::from(matches!(self.form, Form::LogExp { .. })));
            for literal in &self.literals {
                let of = of(literal);
                all.small *= of.small;
                all.infinite |= of.infinite;
            }
        }
        all
    }

    /// Whether it may be evaluated in one pass now.
    pub(in crate::engine) fn is_possible(&self, settings: &Settings<f64>) -> bool {
        match self.form {
            Form::Product {
                summand: Summand::Power(_),
                ..
            } => settings.powers_are_tame(),
            Form::Product { .. } | Form::LogExp { .. } | Form::ExistsClass { .. } | Form::Max => {
                true
            }
        }
    }

    /// Whether the tables are worth it for this many bindings.
    pub(in crate::engine) fn is_worth_it(
        &self,
        bindings: u64,
        lengths: impl Fn(usize) -> usize,
    ) -> bool {
        let mut numbers = 0;
        for (k, literal) in self.literals.iter().enumerate() {
            let same =
                |l: &ClauseLiteral| (l.request, l.negated) == (literal.request, literal.negated);
            if !self.literals[..k].iter().any(same) {
                numbers += lengths(literal.request) as u64;
            }
        }
        // With a row for each binding, the table costs one more pass and saves several if the row is short.
        if let Form::ExistsClass { .. } = self.form {
            return self.members <= MOST_CLASSES
                && bindings.saturating_mul(self.members as u64) >= numbers;
        }
        bindings.saturating_mul(self.classes as u64) >= WORTH * numbers
    }
}

/// The state of exp(α·log) for many logs.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Exponentials {
    /// The share of exponentials that may be too small to be represented.
    pub small: f64,
    /// Whether some of them, or sums of them, overflow: logs above 0, which rounding can make of a truth of exactly 1,
    /// times a huge α.
    pub infinite: bool,
}

impl Exponentials {
    /// With more small ones than this, going node by node is quicker.
    pub const MOST_SMALL: f64 = 0.25;

    pub fn of<T: Real>(logs: &[T], alpha: f64, threads: Threads) -> Exponentials {
        let least = T::from_f64(LogSum::<T>::new().least.to_f64().ln() / alpha);
        // Even a million of them can be added up.
        let greatest = T::from_f64((T::EXP_MAX.to_f64() - 14.0) / alpha);
        let (small, great) = (AtomicUsize::new(0), AtomicBool::new(false));
        threads.each(logs, |logs| {
            let (mut few, mut too_great) = (0_u32, 0_u32);
            for &log in logs {
                few += u32::from(log < least);
                too_great |= u32::from(log > greatest);
            }
            small.fetch_add(few as usize, Ordering::Relaxed);
            great.fetch_or(too_great > 0, Ordering::Relaxed);
        });
        Exponentials {
            small: small.into_inner() as f64 / logs.len().max(1) as f64,
            infinite: great.into_inner(),
        }
    }
}

impl<T: Real> Run<'_, '_, T> {
    /// The forward and the backward pass over the bindings `start..end` of a clause's level.
    pub fn clause(
        &mut self,
        fused: Fused,
        tables: &Tables<T>,
        start: u64,
        end: u64,
        sums: &mut Sums<T>,
    ) -> Partial {
        self.make_room();
        let clause = &self.exec.clauses[fused.clause];
        // Needed without gradients too, since the loops add to them anyway.
        sums.clear(tables.values.len());
        let (mut total, mut count) = (0.0, 0_u64);
        let mut cursor = self.root_cursor(clause.level, start, end);
        while self.fill(clause.level, &mut cursor) {
            let len = self.lane.blocks.block(clause.level).len;
            count += (len * clause.classes) as u64;
            self.place_literals(clause, fused, tables, len, sums);
            total += self.clause_block(clause, fused, tables, len, sums);
            if !self.lane.left_out.is_empty() {
                total += self.clause_in_log_space(clause, fused, tables, len, sums);
            }
        }
        self.lane.blocks.put_cursor(clause.level, cursor);
        let count = count as f64;
        let total = match clause.form {
            Form::LogExp { mean } | Form::ExistsClass { mean } => {
                let less = match mean {
                    true => count * (clause.members as f64).ln(),
                    false => 0.0,
                };
                (total - less) / self.aggregators.alpha
            }
            Form::Product { .. } | Form::Max => total,
        };
        Partial::State(match count > 0.0 {
            true => (clause.additive.state)(total, count),
            false => (self.shared.aggregation(clause.forall).start)(),
        })
    }

    /// Writes down the places of the literals of the block's bindings in the clauses' tables, where they do not follow a
    /// rule.
    fn place_literals(
        &mut self,
        clause: &SmallClause,
        fused: Fused,
        tables: &Tables<T>,
        len: usize,
        sums: &mut Sums<T>,
    ) {
        let Lane {
            blocks,
            places,
            listed,
            ..
        } = &mut *self.lane;
        let block = blocks.block(clause.level);
        for (k, (literal, places)) in clause.literals.iter().zip(places).enumerate() {
            let table = fused.tables[k];
            let entry = &tables.entries[table];
            let between = match literal.place {
                SlotSource::Array(index) => match block.places(index) {
                    BlockPlaces::Listed(listed) => {
                        places.resize(len, 0);
                        entry.places(places, listed)
                    }
                    BlockPlaces::Spaced(spaced) if entry.is_dense() => {
                        sums.touch_runs(fused.first_with(table), spaced, entry);
                        continue;
                    }
                    BlockPlaces::Spaced(spaced) => {
                        listed.clear();
                        listed.extend(spaced.listed());
                        places.resize(len, 0);
                        entry.places(places, listed)
                    }
                },
                SlotSource::Base(slot) => {
                    let base = self.shared.active.bases[self.program][slot];
                    let place = entry.place(base);
                    if clause.reads_rows() {
                        places.resize(len, 0);
                        places.fill(place);
                    }
                    (place, place)
                }
            };
            sums.touch(fused.first_with(table), between, entry);
        }
    }

    /// Goes through a block; the sum of its values.
    fn clause_block(
        &mut self,
        clause: &SmallClause,
        fused: Fused,
        tables: &Tables<T>,
        len: usize,
        sums: &mut Sums<T>,
    ) -> f64 {
        let Lane {
            blocks,
            places,
            class_values: values,
            left_out,
            ..
        } = &mut *self.lane;
        left_out.clear();
        let bases = &self.shared.active.bases[self.program];
        let whole = [len as u32];
        let (runs, places_in_runs) =
            places_in_runs(clause, fused, tables, blocks, bases, places, &whole);
        let valid = match clause.over_rows {
            true => clause.classes,
            false => GATHERED,
        };
        values.clear();
        values.resize(
            if clause.over_rows {
                filled_up(valid)
            } else {
                valid
            },
            T::ZERO,
        );
        let block = Block {
            over_rows: clause.over_rows,
            places: std::array::from_fn(|k| places[k].get(..len).unwrap_or_default()),
            runs,
            places_in_runs,
            numbers: &tables.values,
            derivatives: &mut sums.by_number,
            values,
            left_out,
        };
        match (clause.form, clause.literals.len()) {
            (Form::LogExp { .. }, 2) => block.run::<_, 2>(LogSum::new()),
            (Form::LogExp { .. }, 3) => block.run::<_, 3>(LogSum::new()),
            (Form::LogExp { .. }, _) => block.run::<_, 4>(LogSum::new()),
            (Form::ExistsClass { .. }, _) => block.sums(clause.members),
            (Form::Max, 2) => block.run::<_, 2>(Greatest),
            (Form::Max, 3) => block.run::<_, 3>(Greatest),
            (Form::Max, _) => block.run::<_, 4>(Greatest),
            (Form::Product { of, summand }, _) => {
                let p = match summand {
                    Summand::Log => None,
                    Summand::Itself => Some(1.0),
                    Summand::Power(exponent) => Some(self.aggregators.exponent(exponent)),
                };
                match p {
                    None => block.run::<_, 2>(Product::new(of, Log)),
                    Some(1.0) => block.run::<_, 2>(Product::new(of, Itself)),
                    Some(2.0) => block.run::<_, 2>(Product::new(of, Squared)),
                    Some(p) => {
                        let power = Power::new(T::from_f64(p - 1.0));
                        block.run::<_, 2>(Product::new(of, power));
                    }
                }
            }
        }
        let values = &self.lane.class_values[..valid];
        values.iter().map(|v| v.to_f64()).sum()
    }

    /// Computes the bindings whose exponentials were too small, with logs instead. Returns the sum of their values, as
    /// a sum of logs of exponentials.
    fn clause_in_log_space(
        &mut self,
        clause: &SmallClause,
        fused: Fused,
        tables: &Tables<T>,
        len: usize,
        sums: &mut Sums<T>,
    ) -> f64 {
        if sums.by_literal.is_empty() {
            sums.by_literal.resize(tables.values.len(), T::ZERO);
        }
        let mut exponentials = std::mem::take(&mut self.lane.exponentials);
        let Lane {
            blocks,
            places,
            left_out,
            ..
        } = &*self.lane;
        let bases = &self.shared.active.bases[self.program];
        let whole = [len as u32];
        let (runs, in_runs) = places_in_runs(clause, fused, tables, blocks, bases, places, &whole);
        let alpha = self.aggregators.alpha;
        let least = LogSum::new().least;
        let n = clause.members;
        let a_row = matches!(clause.form, Form::ExistsClass { .. });
        let place = |k: usize, binding: usize, class: usize| match a_row {
            true => places[0][binding] as usize + k,
            false if clause.over_rows => places[k][binding] as usize + class,
            false => in_runs[k].of(binding, runs),
        };
        let mut total = 0.0;
        for &(from, to) in left_out {
            for binding in from as usize..(to as usize).min(len) {
                for class in 0..clause.classes {
                    let at = |k: usize| place(k, binding, class);
                    let mut sum = T::ZERO;
                    (0..n).for_each(|k| sum += tables.values[at(k)]);
                    if sum >= least {
                        continue;
                    }
                    let log = |k: usize| {
                        let literal = if a_row { 0 } else { k };
                        let entry = &tables.entries[fused.tables[literal]];
                        let place = at(k) - entry.base;
                        let place = place / entry.stride * entry.width + place % entry.stride;
                        alpha * self.literal(&clause.literals[literal], place).to_f64()
                    };
                    let greatest = (0..n).map(log).fold(f64::NEG_INFINITY, f64::max);
                    exponentials.clear();
                    exponentials.extend((0..n).map(|k| (log(k) - greatest).exp()));
                    let sum: f64 = exponentials.iter().sum();
                    total += greatest + sum.ln();
                    for (k, e) in exponentials.iter().enumerate() {
                        sums.by_literal[at(k)] += T::from_f64(e / sum);
                    }
                }
            }
        }
        self.lane.exponentials = exponentials;
        total
    }

    fn literal(&self, literal: &ClauseLiteral, place: usize) -> T {
        let literals = &self.shared.literals[literal.request];
        match literal.negated {
            true => literals.negative[place],
            false => literals.positive[place],
        }
    }
}

/// The runs of a block, and where the literals of a clause over single numbers are in them.
fn places_in_runs<'a, T: Real>(
    clause: &SmallClause,
    fused: Fused,
    tables: &Tables<T>,
    blocks: &'a Blocks,
    bases: &[u32],
    listed: &'a [Vec<u32>; MOST_LITERALS],
    whole: &'a [u32; 1],
) -> (&'a [u32], [Places<'a>; MOST_LITERALS]) {
    let mut places = [Places::Listed(&[]); MOST_LITERALS];
    if clause.reads_rows() {
        return (whole, places);
    }
    let block = blocks.block(clause.level);
    let mut runs = whole.as_slice();
    for (k, literal) in clause.literals.iter().enumerate() {
        let entry = &tables.entries[fused.tables[k]];
        places[k] = match literal.place {
            SlotSource::Base(slot) => Places::Same(entry.place(bases[slot])),
            SlotSource::Array(index) => match block.places(index) {
                BlockPlaces::Spaced(spaced) if entry.is_dense() => {
                    runs = spaced.ends;
                    Places::Spaced {
                        stride: spaced.stride as usize,
                        starts: spaced.starts,
                        base: entry.base as u32,
                    }
                }
                _ => Places::Listed(&listed[k][..block.len]),
            },
        };
    }
    (runs, places)
}

/// A block of bindings, before the number of literals and the width of vectors are chosen.
struct Block<'a, T> {
    over_rows: bool,
    places: [&'a [u32]; MOST_LITERALS],
    runs: &'a [u32],
    places_in_runs: [Places<'a>; MOST_LITERALS],
    numbers: &'a [T],
    derivatives: &'a mut [T],
    values: &'a mut [T],
    left_out: &'a mut Vec<(u32, u32)>,
}

impl<T: Real> Block<'_, T> {
    /// An `exists` over rows of this many numbers.
    fn sums(self, width: usize) {
        run_task(OverSums {
            operator: LogSum::new(),
            width,
            bindings: Bindings {
                places: [self.places[0]],
                numbers: self.numbers,
                derivatives: self.derivatives,
                values: self.values,
                left_out: self.left_out,
            },
        });
    }

    fn run<O: Operator<T, N>, const N: usize>(self, operator: O) {
        let by_fours = self.values.len() == 4;
        let bindings = Bindings {
            places: std::array::from_fn(|k| self.places[k]),
            numbers: self.numbers,
            derivatives: self.derivatives,
            values: self.values,
            left_out: self.left_out,
        };
        match (self.over_rows, by_fours) {
            (false, _) => run_task(OverPlaces {
                operator,
                bindings,
                runs: self.runs,
                places: std::array::from_fn(|k| self.places_in_runs[k]),
            }),
            (true, true) => run_task(OverRows::<T, O, N, 4> { operator, bindings }),
            (true, false) => run_task(OverRows::<T, O, N, 8> { operator, bindings }),
        }
    }
}

/// The factor of a clause's derivatives that is the same for all bindings, from the derivative of the loss by its axiom.
pub(super) fn common_factor(
    clause: &SmallClause,
    settings: &Settings<f64>,
    total: &State,
    by_axiom: f64,
) -> f64 {
    let factor = (clause.additive.slope)(by_axiom, settings, total);
    if factor.is_finite() { factor } else { 0.0 }
}

/// Adds the derivatives of one part, from all lanes in their order, to those by the literals of a request.
#[allow(clippy::too_many_arguments)] // a clause, its tables, and the lanes' and the request's derivatives
pub(super) fn finish<'s, T: Real>(
    clause: &SmallClause,
    fused: Fused,
    tables: &Tables<T>,
    request: usize,
    factor: f64,
    lanes: impl Iterator<Item = &'s Sums<T>> + Clone + Send + Sync,
    scratch: &mut Vec<T>,
    by: &mut [Touched<T>; 2],
    threads: Threads,
) {
    let factor = T::from_f64(factor);
    let own = &fused.tables[..clause.literals.len()];
    for (k, &table) in own.iter().enumerate() {
        let entry = &tables.entries[table];
        if entry.request != request || own[..k].contains(&table) {
            continue;
        }
        scratch.resize(entry.range().len(), T::ZERO);
        let exponentials = clause.wants_exponentials();
        let rows = TableRows {
            entry,
            from: entry.base,
            rows: scratch,
            by: by[usize::from(entry.negated)].all_mut(),
        };
        threads.each(rows, |piece| {
            let range = piece.from..piece.from + piece.rows.len();
            piece.rows.fill(T::ZERO);
            for sums in lanes.clone() {
                sums.touched[k].each_within(range.clone(), |own| {
                    let rows = &mut piece.rows[own.start - range.start..own.end - range.start];
                    let pairs = rows.iter_mut().zip(&sums.by_number[own]);
                    pairs.for_each(|(a, &b)| *a += b);
                });
            }
            for (sum, &e) in piece.rows.iter_mut().zip(&tables.values[range.clone()]) {
                // In this order, since a small exponential times the factor may underflow.
                *sum = if exponentials { *sum * e } else { *sum } * factor;
            }
            for sums in lanes.clone().filter(|s| !s.by_literal.is_empty()) {
                let sums = &sums.by_literal[range.clone()];
                let pairs = piece.rows.iter_mut().zip(sums);
                pairs.for_each(|(a, &b)| *a += factor * b);
            }
            add_rows(entry, piece.rows, piece.by);
        });
    }
}
