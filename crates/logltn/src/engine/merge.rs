//! Merges the results of the lanes, in their order.

use super::run::{self, Partial, Shared};
use super::share::{LaneWork, Part};
use super::together::Joint;
use super::{AxiomValue, Evaluation};
use crate::plan::program::NodeKind;
use crate::vector::Real;

/// Merges the state of other bindings of a part into the state so far; it may come from another lane, an earlier call
/// or another process. A state that has seen no binding changes nothing, not even a sign. False if it is not the state
/// of a quantifier on both sides, of which alone there can be several.
pub(super) fn take_in<T: Real>(
    shared: &Shared<T>,
    part: &Part,
    total: &mut Partial,
    more: &Partial,
) -> bool {
    let (Partial::State(total), Partial::State(more)) = (total, more) else {
        return false;
    };
    match (total.count > 0.0, more.count > 0.0) {
        (_, false) => {}
        (false, true) => *total = *more,
        (true, true) => {
            let aggregation = shared.aggregation(root_is_forall(shared, part));
            aggregation.merge(&shared.settings[part.program], total, more);
        }
    }
    true
}

/// An extreme that several lanes reach has one derivative, not one per lane.
pub(super) fn find_attaining_lanes<T: Real>(
    lanes: &[LaneWork<T>],
    totals: &[Partial],
    attained_by: &mut Vec<usize>,
) {
    attained_by.clear();
    attained_by.resize(totals.len(), usize::MAX);
    for (lane, work) in lanes.iter().enumerate() {
        for (item, (partial, _)) in work.items.iter().zip(&work.found) {
            if let (Partial::State(total), Partial::State(part)) = (&totals[item.part], partial)
                && part.a == total.a
                && attained_by[item.part] == usize::MAX
            {
                attained_by[item.part] = lane;
            }
        }
    }
}

/// Merges the lanes' shares of each part, in order.
pub(super) fn merge<T: Real>(
    shared: &Shared<T>,
    parts: &[Part],
    lanes: &[LaneWork<T>],
    totals: &mut Vec<Partial>,
    empties: &mut Vec<u64>,
) {
    totals.clear();
    empties.clear();
    empties.resize(parts.len(), 0);
    for work in lanes {
        for (item, (partial, empty)) in work.items.iter().zip(&work.found) {
            let part = &parts[item.part];
            empties[item.part] += empty;
            if totals.len() == item.part {
                totals.push(*partial);
            } else {
                take_in(shared, part, &mut totals[item.part], partial);
            }
        }
    }
}

/// The value of a part.
pub(super) fn value<T: Real>(shared: &Shared<T>, part: &Part, total: &Partial) -> f64 {
    match total {
        Partial::Value(value) => *value,
        Partial::State(state) => {
            let settings = &shared.settings[part.program];
            run::quantifier_value(shared, settings, root_is_forall(shared, part), state)
        }
    }
}

/// Adds up the parts of each axiom.
pub(super) fn add_up<T: Real>(
    shared: &Shared<T>,
    parts: &[Part],
    totals: &[Partial],
    empties: &[u64],
    joint: &[Joint],
    evaluation: &mut Evaluation,
) {
    evaluation.axioms.fill(AxiomValue::default());
    for (i, (part, total)) in parts.iter().zip(totals).enumerate() {
        let axiom = &mut evaluation.axioms[part.program];
        let own = || value(shared, part, total);
        axiom.truth += joint.get(i).map_or_else(own, |joint| joint.value);
        let empty = matches!(total, Partial::State(state) if state.count == 0.0)
            && !root_is_forall(shared, part)
            && !shared.plan.programs[part.program].nodes[part.root.node].uncounted;
        axiom.empty_exists += empties[i] + u64::from(empty);
    }
}

pub(super) fn root_is_forall<T>(shared: &Shared<T>, part: &Part) -> bool {
    let root = &shared.plan.programs[part.program].nodes[part.root.node];
    matches!(root.kind, NodeKind::Quantifier { forall: true, .. })
}

pub(super) fn root_is_quantifier<T>(shared: &Shared<T>, part: &Part) -> bool {
    let root = &shared.plan.programs[part.program].nodes[part.root.node];
    matches!(root.kind, NodeKind::Quantifier { .. })
}
