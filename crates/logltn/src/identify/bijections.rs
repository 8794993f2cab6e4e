//! How many of the maps are bijections.

use rustc_hash::FxHashMap;

use super::constraints::{Constraints, Set};
use super::count::{Effort, GivenUp, members};
use crate::natural::Natural;

/// Counts the maps in which no two classes become the same.
pub(super) fn bijections(constraints: &Constraints, effort: Effort) -> Result<Natural, GivenUp> {
    let mut count = Bijections {
        constraints,
        order: Vec::new(),
        known: FxHashMap::default(),
        effort,
    };
    // Unconstrained classes take the remaining values, in any order.
    let all: Set = (1 << constraints.classes) - 1;
    let free = |c: &usize| {
        constraints.domains[*c] == all
            && constraints.in_pairs[*c].is_empty()
            && constraints.in_wider[*c].is_empty()
    };
    count.order = (0..constraints.classes).filter(|c| !free(c)).collect();
    let mut domains = constraints.domains.clone();
    let mut changed = count.order.clone();
    if !constraints.settle(&mut domains, &mut changed, true) {
        return Ok(Natural::default());
    }
    count.order.sort_by_key(|c| (domains[*c].count_ones(), *c));
    let mut total = count.from(0, &domains)?;
    for left in 2..=(constraints.classes - count.order.len()) as u32 {
        total.scale(left);
    }
    Ok(total)
}

struct Bijections<'c> {
    constraints: &'c Constraints,
    /// The classes that are constrained.
    order: Vec<usize>,
    known: FxHashMap<Box<[Set]>, Natural>,
    effort: Effort,
}

/// Beyond this many, counts are not cached.
const MOST_KNOWN: usize = 1 << 20;

impl Bijections<'_> {
    /// The number of completions once the first few classes have been decided.
    fn from(&mut self, decided: usize, domains: &[Set]) -> Result<Natural, GivenUp> {
        let Some(&class) = self.order.get(decided) else {
            return Ok(Natural::one());
        };
        let key = self.key(decided, domains);
        if let Some(known) = self.known.get(&key) {
            return Ok(known.clone());
        }
        let mut total = Natural::default();
        for value in members(domains[class]) {
            self.effort.step()?;
            let mut left = domains.to_vec();
            left[class] = 1 << value;
            let mut changed = vec![class];
            if self.constraints.settle(&mut left, &mut changed, true) {
                total.add(&self.from(decided + 1, &left)?);
            }
        }
        if self.known.len() < MOST_KNOWN {
            self.known.insert(key, total.clone());
        }
        Ok(total)
    }

    /// The state that the rest depends on: the domains of undecided classes, and the values of decided classes that
    /// share a wider relation with an undecided one.
    fn key(&self, decided: usize, domains: &[Set]) -> Box<[Set]> {
        let open = self.order[decided..].iter();
        let mut key: Vec<Set> = vec![decided as Set];
        key.extend(open.clone().map(|c| domains[*c]));
        for class in &self.order[..decided] {
            let shares = |w: &usize| {
                let scope = &self.constraints.wider[*w].scope;
                open.clone().any(|c| scope.contains(c))
            };
            if self.constraints.in_wider[*class].iter().any(shares) {
                key.push(domains[*class]);
            }
        }
        key.into()
    }
}
