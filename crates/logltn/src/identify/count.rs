//! Sums over all maps that satisfy the constraints: groups of classes without common constraints are counted
//! separately, and equal parts are counted once.

use std::time::Instant;

use rustc_hash::FxHashMap;

use super::constraints::{Constraints, Set};
use crate::natural::Natural;
use crate::recursion::deep;

/// A quantity that is summed over maps.
pub(super) trait Measure {
    type Value: Clone;
    /// The value for no map.
    fn none() -> Self::Value;
    /// The value for the map of no classes.
    fn one() -> Self::Value;
    /// The value for one class that is mapped to another.
    fn of(class: usize, becomes: u32) -> Self::Value;
    fn add(to: &mut Self::Value, other: &Self::Value);
    fn times(a: &Self::Value, b: &Self::Value) -> Self::Value;
}

/// The number of maps.
pub(super) struct Count;

impl Measure for Count {
    type Value = Natural;
    fn none() -> Natural {
        Natural::default()
    }
    fn one() -> Natural {
        Natural::one()
    }
    fn of(_: usize, _: u32) -> Natural {
        Natural::one()
    }
    fn add(to: &mut Natural, other: &Natural) {
        to.add(other);
    }
    fn times(a: &Natural, b: &Natural) -> Natural {
        a.times(b)
    }
}

/// How many classes maps move: bit n stands for a map that moves n of them.
pub(super) struct Moves;

impl Measure for Moves {
    type Value = u128;
    fn none() -> u128 {
        0
    }
    fn one() -> u128 {
        1
    }
    fn of(class: usize, becomes: u32) -> u128 {
        if class == becomes as usize { 1 } else { 2 }
    }
    fn add(to: &mut u128, other: &u128) {
        *to |= other;
    }
    fn times(a: &u128, b: &u128) -> u128 {
        (members(*b)).fold(0, |sum, shift| sum | a << shift)
    }
}

/// More steps or more time than allowed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct GivenUp;

/// The limits of counting.
#[derive(Clone, Copy, Debug)]
pub(super) struct Effort {
    pub steps: usize,
    pub until: Option<Instant>,
}

impl Effort {
    pub fn step(&mut self) -> Result<(), GivenUp> {
        let late = |until: Instant| Instant::now() > until;
        if self.steps == 0 || self.steps.is_multiple_of(16) && self.until.is_some_and(late) {
            return Err(GivenUp);
        }
        self.steps -= 1;
        Ok(())
    }
}

/// The members of a set.
pub(super) fn members(set: Set) -> impl Iterator<Item = u32> {
    let mut left = set;
    std::iter::from_fn(move || {
        let next = left.trailing_zeros();
        left &= left.wrapping_sub(1);
        (next < 128).then_some(next)
    })
}

fn only(set: Set) -> Option<u32> {
    (set.count_ones() == 1).then(|| set.trailing_zeros())
}

impl Constraints {
    /// Removes from the domains the values that classes with a single remaining value rule out, until nothing
    /// changes. With `apart`, no two of those classes may have the same value. False if a domain becomes empty.
    pub fn settle(&self, domains: &mut [Set], changed: &mut Vec<usize>, apart: bool) -> bool {
        while let Some(class) = changed.pop() {
            let Some(becomes) = only(domains[class]) else {
                if domains[class] == 0 {
                    return false;
                }
                continue;
            };
            let mut narrow = |other: usize, allowed: Set, changed: &mut Vec<usize>| {
                let left = domains[other] & allowed;
                if left != domains[other] {
                    domains[other] = left;
                    changed.push(other);
                }
                left != 0
            };
            for pair in self.in_pairs[class].iter().map(|p| &self.pairs[*p]) {
                let side = usize::from(pair.of[0] != class);
                let allowed = pair.allowed[side][becomes as usize];
                if !narrow(pair.of[1 - side], allowed, changed) {
                    return false;
                }
            }
            if apart {
                for other in (0..self.classes).filter(|o| *o != class) {
                    if !narrow(other, !(1 << becomes), changed) {
                        return false;
                    }
                }
            }
            for wider in &self.in_wider[class] {
                if !self.settle_wider(*wider, domains, changed) {
                    return false;
                }
            }
        }
        true
    }

    /// If a wider relation has no open class any more, tests whether it holds; if it has one, narrows its domain.
    fn settle_wider(&self, wider: usize, domains: &mut [Set], changed: &mut Vec<usize>) -> bool {
        let wider = &self.wider[wider];
        let mut open = None;
        let mut becomes = vec![0; wider.scope.len()];
        for (place, class) in wider.scope.iter().enumerate() {
            match only(domains[*class]) {
                Some(value) => becomes[place] = value,
                None if open.is_none() => open = Some(place),
                None => return true,
            }
        }
        let Some(place) = open else {
            return wider.allows(&becomes, self.classes);
        };
        let class = wider.scope[place];
        let before = domains[class];
        for value in members(before) {
            becomes[place] = value;
            if !wider.allows(&becomes, self.classes) {
                domains[class] &= !(1 << value);
            }
        }
        if domains[class] != before {
            changed.push(class);
        }
        domains[class] != 0
    }

    /// The groups of a set's classes that relations still connect, each as a set.
    fn groups(&self, domains: &[Set], open: Set) -> Vec<Set> {
        let mut groups: Vec<Set> = Vec::new();
        let mut left = open;
        while left != 0 {
            let mut group = 1 << left.trailing_zeros();
            let mut news = vec![left.trailing_zeros() as usize];
            while let Some(class) = news.pop() {
                for other in members(self.tied(domains, class, open) & !group) {
                    group |= 1 << other;
                    news.push(other as usize);
                }
            }
            left &= !group;
            groups.push(group);
        }
        groups
    }

    fn tied(&self, domains: &[Set], class: usize, open: Set) -> Set {
        let mut tied = 0;
        for pair in self.in_pairs[class].iter().map(|p| &self.pairs[*p]) {
            let side = usize::from(pair.of[0] != class);
            let other = pair.of[1 - side];
            let rules_out = |value: u32| domains[other] & !pair.allowed[side][value as usize] != 0;
            if open >> other & 1 == 1 && members(domains[class]).any(rules_out) {
                tied |= 1 << other;
            }
        }
        for wider in self.in_wider[class].iter().map(|w| &self.wider[*w]) {
            tied |= wider.scope.iter().fold(0, |all, c| all | 1 << c) & open;
        }
        tied
    }

    /// The state that the sum over the maps of an open group depends on: its domains, and the values of settled classes
    /// in its wider relations.
    fn key(&self, domains: &[Set], group: Set) -> Box<[Set]> {
        let mut key = vec![group];
        key.extend(members(group).map(|c| domains[c as usize]));
        let mut around = 0;
        for class in members(group) {
            for wider in &self.in_wider[class as usize] {
                around |= self.wider[*wider]
                    .scope
                    .iter()
                    .fold(0, |all, c| all | 1 << c);
            }
        }
        around &= !group;
        key.push(around);
        key.extend(members(around).map(|c| domains[c as usize]));
        key.into()
    }
}

/// Sums of one measure.
pub(super) struct Sums<'c, M: Measure> {
    constraints: &'c Constraints,
    known: FxHashMap<Box<[Set]>, M::Value>,
    pub effort: Effort,
}

/// Beyond this many, sums are not cached.
const MOST_KNOWN: usize = 1 << 20;

impl<'c, M: Measure> Sums<'c, M> {
    pub fn new(constraints: &'c Constraints, effort: Effort) -> Sums<'c, M> {
        Sums {
            constraints,
            known: FxHashMap::default(),
            effort,
        }
    }

    /// The sum over all maps into these domains.
    pub fn over(&mut self, domains: &[Set]) -> Result<M::Value, GivenUp> {
        let mut domains = domains.to_vec();
        let mut changed: Vec<usize> = (0..domains.len()).collect();
        if !self.constraints.settle(&mut domains, &mut changed, false) {
            return Ok(M::none());
        }
        self.sum(&domains, (1 << domains.len()) - 1)
    }

    fn sum(&mut self, domains: &[Set], classes: Set) -> Result<M::Value, GivenUp> {
        let mut total = M::one();
        let mut open = 0;
        for class in members(classes) {
            match only(domains[class as usize]) {
                Some(value) => total = M::times(&total, &M::of(class as usize, value)),
                None => open |= 1 << class,
            }
        }
        for group in self.constraints.groups(domains, open) {
            let of_group = deep(|| self.of_group(domains, group))?;
            total = M::times(&total, &of_group);
        }
        Ok(total)
    }

    fn of_group(&mut self, domains: &[Set], group: Set) -> Result<M::Value, GivenUp> {
        let key = self.constraints.key(domains, group);
        if let Some(known) = self.known.get(&key) {
            return Ok(known.clone());
        }
        let ties =
            |c: usize| self.constraints.in_pairs[c].len() + self.constraints.in_wider[c].len();
        let by = |c: &u32| {
            (
                domains[*c as usize].count_ones(),
                usize::MAX - ties(*c as usize),
                *c,
            )
        };
        let class = members(group).min_by_key(by).unwrap_or(0) as usize;
        let mut total = M::none();
        for value in members(domains[class]) {
            self.effort.step()?;
            let mut left = domains.to_vec();
            left[class] = 1 << value;
            if self.constraints.settle(&mut left, &mut vec![class], false) {
                M::add(&mut total, &self.sum(&left, group)?);
            }
        }
        if self.known.len() < MOST_KNOWN {
            self.known.insert(key, total.clone());
        }
        Ok(total)
    }
}
