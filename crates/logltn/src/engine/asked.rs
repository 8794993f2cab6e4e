//! The tuples of strata that a batch asks for. The plan knows those that all rows together need; a step computes only
//! those that its own rows need.

use std::ops::Range;

use super::strata::Layer;
use crate::plan::Plan;
use crate::plan::active::Active;
use crate::plan::blocks::{Block, BlockPlaces, Blocks};
use crate::plan::physical::{Physical, SlotSource};
use crate::plan::program::NodeKind;

#[derive(Clone, Debug, Default)]
pub(super) struct Asked {
    /// By step of the plan.
    runs: Vec<Vec<Range<u32>>>,
    /// By stratum: the tuples of each layer that are needed.
    marks: Vec<Vec<bool>>,
    blocks: Blocks,
}

impl Asked {
    /// The tuples that a step of the plan computes, in ascending order.
    pub fn runs(&self, step: usize) -> &[Range<u32>] {
        &self.runs[step]
    }

    /// Everything that all rows need.
    pub fn everything(&mut self, plan: &Plan) {
        let steps = plan.strata.steps.iter();
        let whole = steps.map(|step| std::iter::once(step.start..step.end).collect());
        self.runs = whole.collect();
    }

    /// What the current batch needs. Parts that axioms share are computed whole, since every batch needs most of them.
    pub fn of_batch(&mut self, plan: &Plan, active: &Active) {
        let mut strata = plan.strata.strata.iter();
        if strata.all(|stratum| stratum.shared.is_some()) {
            return;
        }
        self.marks.resize(plan.strata.strata.len(), Vec::new());
        for (marks, stratum) in self.marks.iter_mut().zip(&plan.strata.strata) {
            marks.clear();
            marks.resize(stratum.layers * stratum.codes.len(), false);
        }
        for (program, exec) in plan.programs.iter().enumerate() {
            self.mark(plan, active, program, exec, Layer::outside(0), None);
        }
        for (at, step) in plan.strata.steps.iter().enumerate().rev() {
            let stratum = &plan.strata.strata[step.stratum];
            let first = step.layer * stratum.codes.len();
            let marks = &self.marks[step.stratum][first..][..stratum.codes.len()];
            let mut runs = std::mem::take(&mut self.runs[at]);
            runs.clear();
            for tuple in (step.start..step.end).filter(|tuple| marks[*tuple as usize]) {
                match runs.last_mut() {
                    Some(run) if run.end == tuple => run.end += 1,
                    _ => runs.push(tuple..tuple + 1),
                }
            }
            if let (Some(contraction), false) = (stratum.contraction, runs.is_empty()) {
                runs.clear();
                runs.push(step.start..step.end);
                for side in [contraction.left, contraction.right] {
                    self.marks[side].fill(true);
                }
            }
            let layer = Layer::inside(plan, step, 0);
            for (sign, exec) in stratum.programs.iter().enumerate() {
                let Some(exec) = exec.as_ref().filter(|_| !step.constant) else {
                    continue;
                };
                let program = plan.programs.len() + 2 * step.stratum + sign;
                for run in &runs {
                    let range = (u64::from(run.start), u64::from(run.end));
                    self.mark(plan, active, program, exec, layer, Some(range));
                }
            }
            self.runs[at] = runs;
        }
    }

    /// Marks the tuples that a program needs.
    fn mark(
        &mut self,
        plan: &Plan,
        active: &Active,
        program: usize,
        exec: &Physical,
        layer: Layer,
        range: Option<(u64, u64)>,
    ) {
        let Asked { marks, blocks, .. } = self;
        let uses = || {
            exec.nodes.iter().filter_map(|node| match node.kind {
                NodeKind::Use { stratum, .. } => Some((stratum, node.level, node.place)),
                _ => None,
            })
        };
        for (stratum, _, place) in uses() {
            if let SlotSource::Base(slot) = place {
                let place = active.bases[program][slot] as usize;
                marks[stratum][layer.start(plan, stratum) + place] = true;
            }
        }
        let listed = |place: SlotSource| matches!(place, SlotSource::Array(_));
        for level in 0..exec.levels.len() {
            let here = || uses().filter(|(_, at, place)| *at == level && listed(*place));
            if here().next().is_none() {
                continue;
            }
            blocks.make_room(exec);
            blocks.visit(active, plan, program, exec, level, range, &mut |block| {
                for (stratum, _, place) in here() {
                    let SlotSource::Array(index) = place else {
                        continue;
                    };
                    let start = layer.start(plan, stratum);
                    mark_places(block, index, &mut marks[stratum][start..]);
                }
            });
        }
    }
}

fn mark_places(block: &Block, index: usize, marks: &mut [bool]) {
    match block.places(index) {
        BlockPlaces::Listed(places) => {
            for place in places {
                marks[*place as usize] = true;
            }
        }
        BlockPlaces::Spaced(spaced) => {
            let mut from = 0;
            for (end, start) in spaced.ends.iter().zip(spaced.starts) {
                for step in 0..end - from {
                    marks[(start + step * spaced.stride) as usize] = true;
                }
                from = *end;
            }
        }
    }
}
