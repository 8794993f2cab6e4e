//! How the lanes go through a small clause, resolved once: which literals, over rows or over places, by which level.

use crate::engine::exec::{Exec, ExecLevel, Place};
use crate::operators::Additive;
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
    pub forall: bool,
    pub additive: Additive,
    /// The level that lists the bindings; without the classes if the clause goes over rows.
    pub level: usize,
    /// How many classes all literals have in a binding of that level: a row of them, or 1 if the clause goes over
    /// places.
    pub classes: usize,
    pub over_rows: bool,
    /// How many numbers make a value: one of each literal, or a row of the only one.
    pub members: usize,
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
        let Clause {
            literals,
            mut form,
            additive,
        } = Clause::of(&plan.programs[program], root, &plan.semantics)?;
        let NodeKind::Quantifier {
            forall, level: own, ..
        } = exec.nodes[root].kind
        else {
            return None;
        };
        if let Form::ExistsClass { .. } = form {
            return exists_class(exec, plan, program, root, literals[0], form, additive);
        }
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
            members: literals.len(),
            literals,
            form,
            forall,
            additive,
            level,
            classes,
            over_rows,
            cost: cost as u64,
        })
    }
}

/// A `forall` over an `exists` over all classes of a literal, if that is what the root is.
fn exists_class(
    exec: &Exec,
    plan: &Plan,
    program: usize,
    root: usize,
    literal: usize,
    form: Form,
    additive: Additive,
) -> Option<ExecClause> {
    let NodeKind::Quantifier {
        forall,
        level: own,
        body,
    } = exec.nodes[root].kind
    else {
        return None;
    };
    let (
        NodeKind::Quantifier { level: inner, .. },
        NodeKind::Literal {
            request,
            negated,
            slot,
        },
    ) = (&exec.nodes[body].kind, &exec.nodes[literal].kind)
    else {
        return None;
    };
    let row = ClauseLiteral {
        request: *request,
        negated: *negated,
        place: exec.nodes[literal].place,
    };
    let inner = &exec.levels[*inner];
    if inner.components.len() != 1 || !picks_classes(inner, plan, &[row], 0) {
        return None;
    }
    let adds = &plan.programs[program].levels[own].adds;
    let place = match adds.iter().position(|a| a.slot == *slot) {
        Some(index) => Place::Array(index),
        None => Place::Base(*slot),
    };
    let members = plan.requests[*request].width;
    (members > 0).then(|| ExecClause {
        literals: vec![ClauseLiteral { place, ..row }],
        form,
        forall,
        additive,
        level: own,
        classes: 1,
        over_rows: false,
        members,
        cost: 2 + members as u64,
    })
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
    let at = (0..level.components.len()).find(|&at| picks_classes(level, plan, literals, at))?;
    let mut outside = level.clone();
    outside.components.remove(at);
    for add in outside.adds.iter_mut().chain(&mut outside.wide_adds) {
        add.maps.remove(at);
    }
    outside.buffers = 0;
    Some((outside, classes))
}

/// Whether a component of a level runs over all classes of all the literals, and decides nothing else.
fn picks_classes(level: &ExecLevel, plan: &Plan, literals: &[ClauseLiteral], at: usize) -> bool {
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
        && level.resolves.is_empty()
        && literals.iter().all(all)
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
