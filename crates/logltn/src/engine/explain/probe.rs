//! The engine on a part of a formula at a few bindings of the variables around it: the values there, the extremes of a
//! quantifier, and the derivatives by literals.

use std::ops::Range;

use super::explainer::{At, Explainer, Inside, LiteralPlace};
use crate::diagnostic::Diagnostic;
use crate::engine::lane::Lane;
use crate::engine::literals::Literals;
use crate::engine::run::{Run, Shared};
use crate::engine::stop::Stop;
use crate::guard::{Cell, Scope};
use crate::operators::{NOTHING, Settings, complements};
use crate::plan::excerpt::Excerpt;
use crate::plan::normal::Normal;
use crate::plan::program::NodeKind;
use crate::theory::{Binding, VarId};
use crate::vector::Real;

pub(super) struct Probe<'a> {
    pub excerpt: Excerpt,
    pub scope: Scope<'a>,
    pub bindings: Vec<At>,
    settings: [Settings<f64>; 1],
    /// By literal: its values as `positive`, and the complements of these as `negative`.
    literals: Vec<Literals<f64>>,
    /// By literal: where each row begins in the tables of the whole plan, and how long it is.
    rows: Vec<(Vec<usize>, usize)>,
    lane: Lane<f64>,
}

impl<'a, T: Real> Explainer<'a, T> {
    pub fn probe(
        &self,
        inside: &Inside<'a>,
        part: &Normal,
        bindings: Vec<At>,
    ) -> Result<Probe<'a>, Diagnostic> {
        let plan = &self.ground.plan;
        let environments = bindings.iter().map(|at| at.env.clone()).collect();
        let opened = |stratum: usize| self.is_opened(stratum);
        let excerpt = plan.excerpt(inside.scope, part, &inside.bound, environments, &opened)?;
        let mut lane = Lane::default();
        (lane.by_literal).resize_with(excerpt.literals.len(), Default::default);
        let (mut tables, mut rows) = (Vec::new(), Vec::new());
        for &(request, negated) in &excerpt.literals {
            let planned = &plan.requests[request];
            let numbering = &excerpt.active.numbering[request];
            let own: Vec<usize> = (0..numbering.rows(&excerpt.plan.requests[request]))
                .map(|row| self.row(inside, request, numbering.code(row)))
                .collect();
            let places = own.iter().flat_map(|row| *row..row + planned.width);
            let places = places.map(|place| (request, negated, place));
            let mut literals = Literals::default();
            literals.positive = places.clone().map(|place| self.truth(place)).collect();
            literals.negative = vec![0.0; literals.positive.len()];
            if self.has_complement(request, negated) {
                let all = literals.negative.iter_mut().zip(places);
                all.for_each(|(to, (_, _, place))| *to = self.truth((request, !negated, place)));
            } else {
                complements(&literals.positive, &mut literals.negative);
            }
            tables.push(literals);
            rows.push((own, planned.width));
        }
        Ok(Probe {
            scope: inside.scope,
            bindings,
            settings: [self.settings],
            literals: tables,
            rows,
            lane,
            excerpt,
        })
    }
}

impl Probe<'_> {
    /// Lets the engine go through the bindings from one to another; `visit` gets the node of the part, and the number
    /// of the first binding of the block.
    pub fn run(
        &self,
        lane: &mut Lane<f64>,
        range: Range<usize>,
        visit: &mut dyn FnMut(&mut Run<f64>, usize, usize),
    ) {
        let (stop, Excerpt { plan, active, .. }) = (Stop::default(), &self.excerpt);
        let shared = Shared::new(plan, active, &self.literals, &self.settings, &[0], &stop);
        let exec = &plan.programs[0];
        let NodeKind::Quantifier { level, body, .. } = exec.nodes[exec.root].kind else {
            unreachable!("the root goes through the bindings");
        };
        let mut run = Run::new(&shared, 0, exec.root, lane);
        run.make_room();
        run.lane.again = true;
        let mut first = range.start;
        run.each_block(level, range.start as u32..range.end as u32, |run| {
            visit(run, body, first);
            first += run.len(body);
        });
    }

    /// The values of the part.
    pub fn values(&self) -> Vec<f64> {
        let mut values = Vec::with_capacity(self.bindings.len());
        self.run(
            &mut Lane::default(),
            0..self.bindings.len(),
            &mut |run, part, _| {
                run.forward(part);
                values.extend_from_slice(run.values(part));
            },
        );
        values
    }

    /// Of a part that is a quantifier, by binding: its own truest binding if it is an `exists`, the least true one if
    /// it is a `forall`, the first in order if several are, and the truth there; `None` if there is none.
    pub fn extremes(&self, binding: &Binding) -> Vec<Option<(Vec<Cell>, f64)>> {
        let count = self.bindings.len();
        let mut seen = vec![0; count];
        let mut best: Vec<Option<(Vec<Cell>, f64)>> = vec![None; count];
        self.run(&mut Lane::default(), 0..count, &mut |run, part, first| {
            let &NodeKind::Quantifier {
                forall,
                level,
                body,
            } = &run.exec.nodes[part].kind
            else {
                return;
            };
            let mut cursor = run.lane.blocks.take_cursor(level);
            cursor.reset(run.len(part));
            while run.fill(level, &mut cursor) {
                run.forward(body);
                for segment in &run.lane.blocks.block(level).segments {
                    let at = first + segment.parent;
                    for &value in &run.values(body)[segment.start..segment.end] {
                        seen[at] += 1;
                        let known = best[at].as_ref();
                        let is_better = known.is_none_or(|(_, known)| match forall {
                            true => value < *known,
                            false => value > *known,
                        });
                        let is_equal = known.is_some_and(|(_, known)| value == *known);
                        if !is_better && !is_equal {
                            continue;
                        }
                        let mut env = self.bindings[at].env.clone();
                        (self.excerpt).bind(&self.scope, level, seen[at] - 1, &mut env);
                        let is_before = |(known, _): &(Vec<Cell>, f64)| match binding {
                            Binding::Rows(..) => false,
                            Binding::Sorts(variables) => {
                                individuals(variables, &env) < individuals(variables, known)
                            }
                        };
                        if is_better || known.is_some_and(is_before) {
                            best[at] = Some((env, value));
                        }
                    }
                }
            }
            run.lane.blocks.put_cursor(level, cursor);
        });
        best
    }

    /// The derivatives by literals, given that by the part's value at one binding.
    pub fn derivatives(&mut self, at: usize, by: f64, found: &mut dyn FnMut(LiteralPlace, f64)) {
        for (sums, literals) in self.lane.by_literal.iter_mut().zip(&self.literals) {
            sums.iter_mut()
                .for_each(|sums| sums.clear(literals.positive.len()));
        }
        let mut lane = std::mem::take(&mut self.lane);
        self.run(&mut lane, at..at + 1, &mut |run, part, _| {
            run.forward(part);
            let mut own = run.take_derivatives(part);
            own[0] = by;
            run.put_derivatives(part, own);
            run.backward(part);
        });
        self.lane = lane;
        for (literal, &(request, negated)) in self.excerpt.literals.iter().enumerate() {
            let Literals {
                positive, negative, ..
            } = &self.literals[literal];
            let (rows, width) = &self.rows[literal];
            let sums = self.lane.by_literal[literal].iter_mut();
            for (sums, of_complements) in sums.zip([false, true]) {
                let (sums, touched) = sums.parts_mut();
                // The derivative of log(1 − eˣ) by x; where the truth is exactly 1 there is none.
                let slope = |place: usize| match of_complements {
                    false => 1.0,
                    true if positive[place] < -NOTHING => {
                        -(positive[place] - negative[place]).exp()
                    }
                    true => 0.0,
                };
                touched.each_within(0..positive.len(), |range| {
                    for place in range.filter(|place| sums[*place] != 0.0) {
                        let row = rows[place / width] + place % width;
                        found((request, negated, row), sums[place] * slope(place));
                    }
                });
            }
        }
    }
}

/// What the order of bindings goes by.
pub(super) fn individuals(variables: &[VarId], env: &[Cell]) -> Vec<u32> {
    let individual = |v: &VarId| env[v.index()].individual();
    variables.iter().map(individual).collect()
}
