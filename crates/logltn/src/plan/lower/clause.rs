//! Which parts of an axiom are small clauses, and how the lanes evaluate them: which literals, over rows or over
//! places, by which level.

use super::Lower;
use crate::operators::{Additive, Affine, Polynomial, Semiring, Space, Summand};
use crate::plan::physical::*;
use crate::plan::program::{ComponentSource, MapValues, NodeKind};

/// Below this the projections do not keep roots and logarithms away from 0 in single precision.
const LEAST_EPS: f64 = 1e-5;

/// The nodes of the literals, in order, and what is computed from them.
type Found = (Vec<usize>, Form);

impl Lower<'_> {
    /// The clause under a root, if it is a small one. May add a level.
    pub(super) fn small_clause(&self, physical: &mut Physical, root: usize) -> Option<SmallClause> {
        let nodes = &physical.nodes;
        let NodeKind::Quantifier {
            forall,
            level: own,
            body,
        } = nodes[root].kind
        else {
            return None;
        };
        if !physical.levels[own].weights.is_empty() {
            return None;
        }
        let aggregator = if forall {
            self.semantics.forall
        } else {
            self.semantics.exists
        };
        let additive = aggregator.laws().additive?;
        let (found, mut form) = match (self.semantics.space, &nodes[body].kind) {
            (Space::Log, _) => self.log_clause(nodes, body, additive)?,
            // The node whose logs the aggregator takes.
            (Space::Mixed, NodeKind::Log(inner)) => self.product_clause(nodes, *inner, additive)?,
            (Space::Mixed, _) => return None,
            (Space::Truth, _) => self.product_clause(nodes, body, additive)?,
        };
        let literal = |node: &usize| match nodes[*node].kind {
            NodeKind::Literal {
                request, negated, ..
            } => Some(ClauseLiteral {
                request,
                negated,
                place: nodes[*node].place,
            }),
            _ => None,
        };
        let mut literals: Vec<ClauseLiteral> = found.iter().map(literal).collect::<Option<_>>()?;
        let clause = |literals: Vec<ClauseLiteral>, form, level, classes: Option<usize>| {
            let members = literals.len();
            let cost = match classes {
                Some(classes) => 2 + 2 * classes.div_ceil(8) * (members - 1),
                None => 2 * members,
            };
            SmallClause {
                members,
                literals,
                form,
                forall,
                additive,
                level,
                classes: classes.unwrap_or(1),
                over_rows: classes.is_some(),
                cost: cost as u64,
            }
        };
        if let Form::ExistsClass { .. } = form {
            let inner = &physical.levels[nodes[found[0]].level];
            let members = self.requests[literals[0].request].width;
            let SlotSource::Array(index) = literals[0].place else {
                return None;
            };
            if members == 0
                || inner.components.len() != 1
                || !self.picks_classes(inner, &literals, 0)
            {
                return None;
            }
            literals[0].place = inner.adds[index].from;
            return Some(SmallClause {
                members,
                cost: 2 + members as u64,
                ..clause(literals, form, own, None)
            });
        }
        let by_rows = self.without_classes(&physical.levels[own], &literals);
        let (level, classes) = match by_rows {
            Some((outside, classes)) => {
                physical.levels.push(outside);
                (physical.levels.len() - 1, Some(classes))
            }
            None => (own, None),
        };
        let changes = |l: &ClauseLiteral| self.changes(&physical.levels[level], l);
        let calmest = (0..literals.len()).min_by_key(|&k| changes(&literals[k]))?;
        // Of equal literals the first gets the derivative of a maximum.
        if calmest != 0 && !matches!(form, Form::Max) {
            literals.swap(0, calmest);
            if let Form::Product { of, .. } = &mut form {
                *of = of.exchanged();
            }
        }
        Some(clause(literals, form, level, classes))
    }

    fn log_clause(&self, nodes: &[Node], body: usize, additive: Additive) -> Option<Found> {
        if additive.summand != Summand::Itself {
            return None;
        }
        let is_literal = |m: &usize| matches!(nodes[*m].kind, NodeKind::Literal { .. });
        let or = self.semantics.or.laws().semiring;
        match &nodes[body].kind {
            NodeKind::Or(members) if members.iter().all(is_literal) => {
                let form = match or? {
                    Semiring::Exponentials { mean } => Form::LogExp { mean },
                    Semiring::Greatest => Form::Max,
                };
                (2..=MOST_LITERALS)
                    .contains(&members.len())
                    .then(|| (members.clone(), form))
            }
            // An `exists` over one literal. Clauses share tables: all of them hold exponentials, or none.
            NodeKind::Quantifier {
                forall: false,
                body: literal,
                ..
            } if is_literal(literal) && self.semantics.clauses_take_exponentials() => {
                match self.semantics.exists.laws().semiring? {
                    Semiring::Exponentials { mean } => {
                        Some((vec![*literal], Form::ExistsClass { mean }))
                    }
                    Semiring::Greatest => None,
                }
            }
            _ => None,
        }
    }

    fn product_clause(&self, nodes: &[Node], body: usize, additive: Additive) -> Option<Found> {
        let semantics = self.semantics;
        let (eps, summand) = (semantics.stable_eps, additive.summand);
        if summand != Summand::Itself && eps < LEAST_EPS {
            return None;
        }
        let (members, polynomial) = match &nodes[body].kind {
            NodeKind::Implies(a, b) => ([*a, *b], semantics.implies.laws().polynomial?),
            NodeKind::Or(m) if m.len() == 2 => ([m[0], m[1]], semantics.or.laws().polynomial?),
            NodeKind::And(m) if m.len() == 2 => ([m[0], m[1]], semantics.and.laws().polynomial?),
            _ => return None,
        };
        let Polynomial { projections, value } = polynomial(eps);
        let (x, first) = self.degree(nodes, members[0])?;
        let (y, second) = self.degree(nodes, members[1])?;
        let value = value.of(projections[0].after(x), projections[1].after(y));
        let of = value.then((additive.projection)(eps));
        Some((vec![first, second], Form::Product { of, summand }))
    }

    /// A literal, or the negation of one, as a function of the atom's truth degree.
    fn degree(&self, nodes: &[Node], node: usize) -> Option<(Affine, usize)> {
        match nodes[node].kind {
            NodeKind::Literal { .. } => Some((Affine::IDENTITY, node)),
            NodeKind::Not(a) => {
                let negation = self.semantics.not.laws().affine?;
                matches!(nodes[a].kind, NodeKind::Literal { .. }).then_some((negation, a))
            }
            _ => None,
        }
    }

    /// The level without the component that picks the class of every literal, if there is one and others are left; and
    /// the number of classes.
    fn without_classes(&self, level: &Level, literals: &[ClauseLiteral]) -> Option<(Level, usize)> {
        let classes = self.requests[literals[0].request].width;
        if level.components.len() < 2 || classes == 0 {
            return None;
        }
        let mut components = 0..level.components.len();
        let at = components.find(|&at| self.picks_classes(level, literals, at))?;
        let mut outside = level.clone();
        outside.components.remove(at);
        for add in outside.adds.iter_mut().chain(&mut outside.wide_adds) {
            add.maps.remove(at);
        }
        outside.buffers = 0;
        Some((outside, classes))
    }

    /// Whether a component of a level runs over all classes of all the literals, and affects nothing else.
    fn picks_classes(&self, level: &Level, literals: &[ClauseLiteral], at: usize) -> bool {
        let component = &self.components[level.components[at].component];
        let all = |l: &ClauseLiteral| match l.place {
            SlotSource::Base(_) => false,
            SlotSource::Array(index) => match level.adds[index].maps[at].as_slice() {
                [map] => match &self.maps[*map].values {
                    MapValues::Plain(values) => {
                        values.len() == self.requests[l.request].width
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
    fn changes(&self, level: &Level, literal: &ClauseLiteral) -> usize {
        fn count<V: PartialEq>(values: &[V]) -> usize {
            let sample = &values[..values.len().min(4096)];
            sample.windows(2).filter(|pair| pair[0] != pair[1]).count()
        }
        let SlotSource::Array(index) = literal.place else {
            return 0;
        };
        let maps = level.adds[index].maps.last();
        let changes = |map: &usize| match &self.maps[*map].values {
            MapValues::Plain(values) => count(values),
            MapValues::Rows { codes, .. } => count(codes),
            MapValues::Wide(values) => count(values),
        };
        maps.into_iter().flatten().map(changes).sum()
    }
}
