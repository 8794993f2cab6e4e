//! How many bindings an axiom has, and which leave an `exists` with nothing.

use super::build::Builder;
use super::program::*;
use crate::diagnostic::{Code, Diagnostic};
use crate::guard::Cell;
use crate::operators::Space;
use crate::recursion::deep;
use crate::theory::*;

#[derive(Default)]
pub(super) struct Counts {
    pub groundings: u128,
    pub empty_exists: u128,
    /// The first binding that leaves an `exists` empty, and that `exists`.
    example: Option<(usize, Vec<(VarId, Cell)>)>,
    /// The first quantifier whose guard keeps nothing at all.
    nothing: Option<usize>,
}

/// Bindings, and empty `exists`, below one node for one binding of what is around it.
type Count = (u128, u128);

impl Builder<'_> {
    pub(super) fn count(&self) -> Counts {
        let mut counts = Counts::default();
        let mut env = self.env.clone();
        let invariant = self.invariant();
        let (groundings, empty) =
            self.count_node(self.program.root, &mut env, &invariant, &mut counts);
        counts.groundings = groundings;
        counts.empty_exists = empty;
        counts
    }

    /// For each node: whether its count is the same for every outer binding.
    fn invariant(&self) -> Vec<bool> {
        let mut invariant = vec![true; self.program.nodes.len()];
        // Children come before their parents.
        for (i, node) in self.program.nodes.iter().enumerate() {
            invariant[i] = match &node.kind {
                _ if node.groundings.is_some() => true,
                NodeKind::Constant(_) | NodeKind::Literal { .. } => true,
                NodeKind::Not(a) | NodeKind::Log(a) => invariant[*a],
                NodeKind::And(members) | NodeKind::Or(members) => {
                    members.iter().all(|m| invariant[*m])
                }
                NodeKind::Implies(a, b) | NodeKind::Iff(a, b) => invariant[*a] && invariant[*b],
                NodeKind::Quantifier { level, body, .. } => {
                    let keyed = |u: &ComponentUse| u.key_slot.is_some();
                    invariant[*body] && !self.program.levels[*level].components.iter().any(keyed)
                }
                NodeKind::Elimination(index) => {
                    let elimination = &self.program.eliminations[*index];
                    let factors = elimination.factors.iter().map(|f| f.body);
                    elimination.key_slot.is_none()
                        && (factors.chain(elimination.common.iter().copied())).all(|m| invariant[m])
                }
            };
        }
        invariant
    }

    fn count_node(
        &self,
        node: usize,
        env: &mut Vec<Cell>,
        invariant: &[bool],
        counts: &mut Counts,
    ) -> Count {
        if let Some(groundings) = self.program.nodes[node].groundings {
            return (groundings, 0);
        }
        deep(|| match &self.program.nodes[node].kind {
            NodeKind::Constant(_) | NodeKind::Literal { .. } => (1, 0),
            NodeKind::Not(a) | NodeKind::Log(a) => self.count_node(*a, env, invariant, counts),
            NodeKind::And(members) | NodeKind::Or(members) => {
                let mut total: Count = (1, 0);
                for (i, member) in members.iter().enumerate() {
                    let (n, empty) = self.count_node(*member, env, invariant, counts);
                    // The second half of an equivalence binds the same variables again.
                    if i == 0 || !self.program.nodes[node].equivalence {
                        total.0 = total.0.saturating_mul(n);
                    }
                    total.1 = total.1.saturating_add(empty);
                }
                total
            }
            NodeKind::Implies(a, b) | NodeKind::Iff(a, b) => {
                let (n, x) = self.count_node(*a, env, invariant, counts);
                let (m, y) = self.count_node(*b, env, invariant, counts);
                (n.saturating_mul(m), x.saturating_add(y))
            }
            NodeKind::Quantifier {
                forall,
                level,
                body,
            } => {
                let scopes = &self.level_scopes[*level];
                let ranges: Vec<_> = scopes
                    .iter()
                    .map(|s| {
                        let component = &self.components[s.component];
                        match self.key_of(s.component, env) {
                            Some(key) => {
                                component.offsets[key as usize]..component.offsets[key as usize + 1]
                            }
                            None => 0..0,
                        }
                    })
                    .collect();
                let sizes = ranges.iter().map(|r| r.len() as u128);
                let bindings = sizes.fold(1, u128::saturating_mul);
                if bindings == 0 {
                    if !forall && counts.example.is_none() {
                        counts.example = Some((node, self.bound_outside(*level, env)));
                    }
                    counts.nothing = counts.nothing.or(Some(node));
                    return (0, u128::from(!forall));
                }
                if invariant[*body] {
                    let (n, empty) = self.count_node(*body, env, invariant, counts);
                    return (bindings.saturating_mul(n), bindings.saturating_mul(empty));
                }
                let mut total = (0, 0);
                self.each_binding(scopes, &ranges, env, &mut |this, env| {
                    let (n, empty) = this.count_node(*body, env, invariant, counts);
                    total.0 = u128::saturating_add(total.0, n);
                    total.1 = u128::saturating_add(total.1, empty);
                });
                total
            }
            NodeKind::Elimination(index) => {
                self.count_elimination(node, *index, env, invariant, counts)
            }
        })
    }

    /// The bindings of an `exists` by elimination, each counted as often as the members of its body have
    /// bindings of their own: sums of products, along the lists that the engine runs through.
    fn count_elimination(
        &self,
        node: usize,
        index: usize,
        env: &mut Vec<Cell>,
        invariant: &[bool],
        counts: &mut Counts,
    ) -> Count {
        let elimination = &self.program.eliminations[index];
        let key = self.key_in(&self.elimination_keys[index], env).unwrap_or(0) as usize;
        let bindings = elimination.counts[key];
        if bindings == 0 {
            if counts.example.is_none() {
                let level = self.program.nodes[node].level;
                counts.example = Some((node, self.bound_at(level, env)));
            }
            counts.nothing = counts.nothing.or(Some(node));
            return (0, 1);
        }
        // Members in which an `exists` could be empty are not moved.
        let mut times = 1_u128;
        let mut weights: Vec<Option<Vec<u128>>> = vec![None; elimination.factors.len()];
        for &member in &elimination.common {
            times = times.saturating_mul(self.count_node(member, env, invariant, counts).0);
        }
        for (factor, weights) in elimination.factors.iter().zip(&mut weights) {
            if invariant[factor.body] {
                let (n, _) = self.count_node(factor.body, env, invariant, counts);
                times = times.saturating_mul(n);
                continue;
            }
            let mut own = Vec::with_capacity(factor.size);
            let scopes = &self.level_scopes[factor.level];
            let range = 0..factor.size as u32;
            let all = std::slice::from_ref(&range);
            self.each_binding(scopes, all, env, &mut |this, env| {
                own.push(this.count_node(factor.body, env, invariant, counts).0);
            });
            *weights = Some(own);
        }
        let total = match weights.iter().any(Option::is_some) {
            true => {
                let sum = elimination.sum_of_products(key, &weights);
                sum.saturating_mul(elimination.unread)
            }
            false => bindings,
        };
        (total.saturating_mul(times), 0)
    }

    fn each_binding(
        &self,
        scopes: &[super::component::InScope],
        ranges: &[std::ops::Range<u32>],
        env: &mut Vec<Cell>,
        visit: &mut dyn FnMut(&Self, &mut Vec<Cell>),
    ) {
        match (scopes.split_first(), ranges.split_first()) {
            (Some((first, scopes)), Some((range, ranges))) => {
                for tuple in range.clone() {
                    self.bind_tuple(first, tuple as usize, env);
                    self.each_binding(scopes, ranges, env, visit);
                }
            }
            _ => visit(self, env),
        }
    }

    /// The variables bound around a level, with what they are bound to.
    fn bound_outside(&self, level: usize, env: &[Cell]) -> Vec<(VarId, Cell)> {
        self.bound_at(self.program.levels[level].parent, env)
    }

    /// The variables bound at a level and around it.
    fn bound_at(&self, level: usize, env: &[Cell]) -> Vec<(VarId, Cell)> {
        let mut bound = Vec::new();
        let mut at = level;
        while at != 0 {
            let variables = self.level_scopes[at].iter().flat_map(|s| &s.variables);
            bound.extend(variables.map(|v| (*v, env[v.index()])));
            at = self.program.levels[at].parent;
        }
        bound.sort_unstable_by_key(|(v, _)| *v);
        bound
    }

    /// How many bindings there would be without guards.
    pub(super) fn groundings_before(&self, formula: &Formula) -> u128 {
        deep(|| match &formula.kind {
            FormulaKind::Atom { .. } => 1,
            FormulaKind::Not(inner) => self.groundings_before(inner),
            FormulaKind::And(members) | FormulaKind::Or(members) => members
                .iter()
                .map(|m| self.groundings_before(m))
                .fold(1, u128::saturating_mul),
            FormulaKind::Implies(a, b) | FormulaKind::Iff(a, b) => self
                .groundings_before(a)
                .saturating_mul(self.groundings_before(b)),
            FormulaKind::Quantified {
                quantifier,
                binding,
                body,
                ..
            } => {
                let body = self.groundings_before(body);
                if quantifier.is_big_connective() {
                    return body;
                }
                let own = match binding {
                    Binding::Rows(table, _) => {
                        self.data.table(*table).map_or(0, |t| t.rows as u128)
                    }
                    Binding::Sorts(variables) => variables
                        .iter()
                        .map(|v| u128::from(self.guard_scope().size_of(*v)))
                        .fold(1, u128::saturating_mul),
                };
                own.saturating_mul(body)
            }
        })
    }

    /// Says that some `exists` has nothing to choose from.
    pub(super) fn warn_empty(&mut self, axiom: &Axiom, name: &str, counts: &Counts) {
        let Some((node, binding)) = &counts.example else {
            return;
        };
        let times = match counts.empty_exists {
            1 => "once".to_string(),
            n => format!("{n} times"),
        };
        let mut warning = Diagnostic::warning(Code::NothingToRangeOver, format!(
            "in axiom `{name}` an `exists` has nothing to choose from, {times}: it counts as false"
        ))
        .at(
            &self.theory().source,
            self.program.nodes[*node].span,
            "no binding passes its guard",
        );
        if !binding.is_empty() {
            let shown = self.guard_scope().show_binding(binding);
            warning = warning.note(format!("for example for {shown}"));
        }
        if self.semantics.space == Space::Log && axiom.formula.nnf_differs() {
            warning = warning.note("`exists` and `forall` as in the negation normal form");
        }
        if !binding.is_empty() {
            warning = warning.help(
                "guard the enclosing quantifier as well, so that it leaves such bindings out",
            );
        }
        self.warnings.push(warning);
    }
}
