//! How the lanes go through a small clause, resolved once: which literals, over rows or over places, by which level.

use crate::engine::exec::{Exec, ExecLevel, Place};
use crate::operators::Aggregator;
use crate::plan::Plan;
use crate::plan::clause::{Clause, Form};
use crate::plan::program::{ComponentSource, MapValues, NodeKind};

/// A small clause, ready for the lanes.
#[derive(Clone, Debug)]
pub(in crate::engine) struct ExecClause {
    /// The one whose place changes least comes first.
    pub literals: Vec<ClauseLiteral>,
    pub form: Form,
    /// Of its quantifier.
    pub aggregator: Aggregator,
    /// The level that lists the bindings; without the classes if the clause goes over rows.
    pub level: usize,
    /// How many classes all literals have in a binding of that level: a row of them, or 1 if the clause goes over
    /// places.
    pub classes: usize,
    pub over_rows: bool,
    /// About how much work a binding of that level is.
    pub cost: u64,
}

/// Where a literal of a clause finds its numbers.
#[derive(Clone, Copy, Debug)]
pub(in crate::engine) struct ClauseLiteral {
    pub request: usize,
    pub negated: bool,
    pub place: Place,
}

impl ExecClause {
    /// The clause that a root of a program is about, if it is a small one. May add a level to `exec`.
    pub fn new(exec: &mut Exec, plan: &Plan, program: usize, root: usize) -> Option<ExecClause> {
        let Clause { literals, mut form } =
            Clause::of(&plan.programs[program], root, &plan.semantics)?;
        let NodeKind::Quantifier {
            forall, level: own, ..
        } = exec.nodes[root].kind
        else {
            return None;
        };
        let mut literals: Vec<ClauseLiteral> = (literals.iter())
            .map(|&node| match exec.nodes[node].kind {
                NodeKind::Literal {
                    request, negated, ..
                } => Some(ClauseLiteral {
                    request,
                    negated,
                    place: exec.nodes[node].place,
                }),
                _ => None,
            })
            .collect::<Option<_>>()?;
        let by_rows = without_classes(&exec.levels[own], plan, &literals);
        let (level, classes, over_rows) = match by_rows {
            Some((outside, classes)) => {
                exec.levels.push(outside);
                (exec.levels.len() - 1, classes, true)
            }
            None => (own, 1, false),
        };
        let changes = |l: &ClauseLiteral| changes(&exec.levels[level], plan, l);
        let calmest = (0..literals.len()).min_by_key(|&k| changes(&literals[k]))?;
        if calmest != 0 && can_reorder(&form) {
            literals.swap(0, calmest);
            if let Form::Product { of, .. } = &mut form {
                *of = of.exchanged();
            }
        }
        let cost = match over_rows {
            true => 2 + 2 * classes.div_ceil(8) * (literals.len() - 1),
            false => 2 * literals.len(),
        };
        Some(ExecClause {
            literals,
            form,
            aggregator: plan.semantics.aggregator(forall),
            level,
            classes,
            over_rows,
            cost: cost as u64,
        })
    }
}

/// Where literals are equal, the first of them has the derivative of a maximum.
fn can_reorder(form: &Form) -> bool {
    !matches!(form, Form::Max)
}

/// The level without the component that picks the class of every literal, if there is one and others are left; and the
/// number of classes.
fn without_classes(
    level: &ExecLevel,
    plan: &Plan,
    literals: &[ClauseLiteral],
) -> Option<(ExecLevel, usize)> {
    let classes = plan.requests[literals[0].request].width;
    if level.components.len() < 2 || classes == 0 {
        return None;
    }
    let picks_classes = |at: usize| {
        let component = &plan.components[level.components[at].component];
        let all = |l: &ClauseLiteral| match l.place {
            Place::Base(_) => false,
            Place::Array(index) => match level.adds[index].maps[at].as_slice() {
                [map] => match &plan.maps[*map].values {
                    MapValues::Plain(values) => {
                        values.len() == plan.requests[l.request].width
                            && (values.iter().enumerate()).all(|(i, v)| i == *v as usize)
                    }
                    _ => false,
                },
                _ => false,
            },
        };
        matches!(component.source, ComponentSource::Sort(_))
            && level.components[at].key.is_none()
            && level.wide_adds.iter().all(|add| add.maps[at].is_empty())
            && literals.iter().all(all)
    };
    let at = (0..level.components.len()).find(|&at| picks_classes(at))?;
    let mut outside = level.clone();
    outside.components.remove(at);
    for add in outside.adds.iter_mut().chain(&mut outside.wide_adds) {
        add.maps.remove(at);
    }
    outside.buffers = 0;
    Some((outside, classes))
}

/// How often a literal's place changes from binding to binding, in a sample.
fn changes(level: &ExecLevel, plan: &Plan, literal: &ClauseLiteral) -> usize {
    fn count<V: PartialEq>(values: &[V]) -> usize {
        let sample = &values[..values.len().min(4096)];
        sample.windows(2).filter(|pair| pair[0] != pair[1]).count()
    }
    let Place::Array(index) = literal.place else {
        return 0;
    };
    let maps = level.adds[index].maps.last();
    let changes = |map: &usize| match &plan.maps[*map].values {
        MapValues::Plain(values) => count(values),
        MapValues::Rows { codes, .. } => count(codes),
        MapValues::Wide(values) => count(values),
    };
    maps.into_iter().flatten().map(changes).sum()
}
