//! The constraints on a map of classes: relations between the classes that a formula mentions.

use std::collections::BTreeMap;

use super::count::members;
use crate::circuit::Proposition;
use crate::recursion::deep;

/// A set of up to 127 classes.
pub(super) type Set = u128;

/// The greatest number of classes.
pub(super) const MOST_CLASSES: usize = 127;

/// Relations with more combinations than these are not listed.
const MOST_LISTED: usize = 1 << 22;

/// How many words all listed relations may take together: 128 MB.
const MOST_WORDS: usize = 1 << 24;

/// Maps from each class to one of the same classes, and the constraints on them.
#[derive(Clone, Debug)]
pub(super) struct Constraints {
    pub classes: usize,
    /// By class: the classes that it may be mapped to.
    pub domains: Vec<Set>,
    pub pairs: Vec<Pair>,
    pub wider: Vec<Wider>,
    /// By class: the pairs and the wider relations that involve it.
    pub in_pairs: Vec<Vec<usize>>,
    pub in_wider: Vec<Vec<usize>>,
}

/// A relation between the values of two classes.
#[derive(Clone, Debug)]
pub(super) struct Pair {
    pub of: [usize; 2],
    /// For either side: by the value of this class, the values that the other may have.
    pub allowed: [Vec<Set>; 2],
}

/// A relation between the values of more than two classes.
#[derive(Clone, Debug)]
pub(super) struct Wider {
    pub scope: Vec<usize>,
    allowed: Allowed,
}

#[derive(Clone, Debug)]
enum Allowed {
    /// By combination; the values of the last class are consecutive.
    Listed(Vec<u64>),
    /// Variables are places in the scope.
    Formulas(Vec<Proposition>),
}

impl Wider {
    /// Whether the classes may have these values, in the order of the scope.
    pub fn allows(&self, becomes: &[u32], classes: usize) -> bool {
        match &self.allowed {
            Allowed::Listed(bits) => {
                let at = |sum: usize, value: &u32| sum * classes + *value as usize;
                is_set(bits, becomes.iter().fold(0, at))
            }
            Allowed::Formulas(all) => all.iter().all(|p| holds(p, becomes)),
        }
    }
}

/// Whether a formula holds if its variables are in these states.
pub(super) fn holds(formula: &Proposition, states: &[u32]) -> bool {
    match formula {
        Proposition::True => true,
        Proposition::False => false,
        Proposition::Is {
            var,
            state,
            positive,
        } => (states[*var as usize] == *state) == *positive,
        Proposition::And(members) => deep(|| members.iter().all(|m| holds(m, states))),
        Proposition::Or(members) => deep(|| members.iter().any(|m| holds(m, states))),
    }
}

fn is_set(bits: &[u64], at: usize) -> bool {
    bits[at / 64] >> (at % 64) & 1 == 1
}

fn unset(bits: &mut [u64], at: usize) {
    bits[at / 64] &= !(1 << (at % 64));
}

/// How many combinations this many classes have, if they may be listed.
pub(super) fn combinations(classes: usize, variables: usize) -> Option<usize> {
    let count = classes.checked_pow(u32::try_from(variables).ok()?)?;
    (count <= MOST_LISTED).then_some(count)
}

/// All combinations that make a formula true, by number.
pub(super) struct Listed {
    classes: usize,
    variables: usize,
    bits: Vec<u64>,
}

impl Listed {
    /// Of a formula over this many variables; None if there are too many combinations.
    pub fn new(formula: &Proposition, classes: usize, variables: usize) -> Option<Listed> {
        let count = combinations(classes, variables)?;
        let mut list = Lister {
            classes,
            count,
            literals: BTreeMap::new(),
        };
        let bits = list.list(formula, variables);
        Some(Listed {
            classes,
            variables,
            bits,
        })
    }

    /// Whether no combination makes it true.
    pub fn is_empty(&self) -> bool {
        let count = self.classes.pow(self.variables as u32);
        let (words, rest) = (count / 64, count % 64);
        let some = self.bits[..words].iter().any(|w| *w != 0);
        !some && (rest == 0 || self.bits[words] & ((1 << rest) - 1) == 0)
    }

    /// Calls `visit` with each combination that makes it true.
    pub fn each(&self, visit: impl FnMut(&[u32])) {
        each(&self.bits, self.classes, self.variables, visit);
    }
}

/// Calls `visit` with the combination of each bit.
fn each(bits: &[u64], classes: usize, variables: usize, mut visit: impl FnMut(&[u32])) {
    let count = classes.pow(variables as u32);
    let mut states = vec![0; variables];
    for (word, set) in bits.iter().enumerate() {
        let places = members(Set::from(*set)).map(|bit| word * 64 + bit as usize);
        for mut at in places.take_while(|at| *at < count) {
            for state in states.iter_mut().rev() {
                *state = (at % classes) as u32;
                at /= classes;
            }
            visit(&states);
        }
    }
}

struct Lister {
    classes: usize,
    count: usize,
    literals: BTreeMap<(usize, u32), Vec<u64>>,
}

impl Lister {
    fn list(&mut self, formula: &Proposition, variables: usize) -> Vec<u64> {
        let words = self.count.div_ceil(64);
        match formula {
            Proposition::True => vec![u64::MAX; words],
            Proposition::False => vec![0; words],
            &Proposition::Is {
                var,
                state,
                positive,
            } => {
                let mut bits = self.literal(var as usize, state, variables).to_vec();
                if !positive {
                    bits.iter_mut().for_each(|w| *w = !*w);
                }
                bits
            }
            Proposition::And(members) | Proposition::Or(members) => {
                let is_and = matches!(formula, Proposition::And(_));
                let mut bits = vec![if is_and { u64::MAX } else { 0 }; words];
                deep(|| {
                    for member in members {
                        if !is_and && let Some(single) = self.single(member, variables) {
                            single.iter().for_each(|at| bits[at / 64] |= 1 << (at % 64));
                            continue;
                        }
                        for (to, from) in bits.iter_mut().zip(self.list(member, variables)) {
                            *to = if is_and { *to & from } else { *to | from };
                        }
                    }
                });
                bits
            }
        }
    }

    /// For a formula that fixes every variable: the one combination that makes it true, or none if it contradicts
    /// itself.
    fn single(&self, formula: &Proposition, variables: usize) -> Option<Option<usize>> {
        let Proposition::And(members) = formula else {
            return None;
        };
        let mut states = vec![None; variables];
        for member in members {
            match *member {
                Proposition::Is {
                    var,
                    state,
                    positive: true,
                } if states[var as usize].is_none_or(|s| s == state) => {
                    states[var as usize] = Some(state);
                }
                Proposition::Is { positive: true, .. } => return Some(None),
                _ => return None,
            }
        }
        let at = |sum: usize, state: &Option<u32>| Some(sum * self.classes + (*state)? as usize);
        states.iter().try_fold(0, at).map(Some)
    }

    fn literal(&mut self, var: usize, state: u32, variables: usize) -> &[u64] {
        let (classes, count) = (self.classes, self.count);
        self.literals.entry((var, state)).or_insert_with(|| {
            let stride = classes.pow((variables - 1 - var) as u32);
            let mut bits = vec![0; count.div_ceil(64)];
            for at in (0..count).filter(|at| at / stride % classes == state as usize) {
                bits[at / 64] |= 1 << (at % 64);
            }
            bits
        })
    }
}

/// Collects the constraints, by the classes that they involve.
pub(super) struct Collected {
    classes: usize,
    listed: BTreeMap<Vec<usize>, Vec<u64>>,
    /// The number of combinations of all listed relations.
    words: usize,
    formulas: BTreeMap<Vec<usize>, Vec<Proposition>>,
}

impl Collected {
    pub fn new(classes: usize) -> Collected {
        Collected {
            classes,
            listed: BTreeMap::new(),
            words: 0,
            formulas: BTreeMap::new(),
        }
    }

    /// Requires that the formula stays true when its variables, whose true classes are these, take the values of these
    /// classes. `listed` are the combinations that make it true, if they are known.
    pub fn require(&mut self, formula: &Proposition, listed: Option<&Listed>, truly: &[u32]) {
        let mut scope: Vec<usize> = truly.iter().map(|c| *c as usize).collect();
        scope.sort_unstable();
        scope.dedup();
        let place = |class: u32| scope.partition_point(|c| *c < class as usize);
        let listable = combinations(self.classes, scope.len())
            .filter(|n| self.listed.contains_key(&scope) || self.words + n / 64 <= MOST_WORDS);
        let Some(count) = listable else {
            let formula = formula.renamed(&|var| place(truly[var as usize]) as u32);
            let formulas = self.formulas.entry(scope).or_default();
            if !formulas.contains(&formula) {
                formulas.push(formula);
            }
            return;
        };
        let words = count.div_ceil(64);
        if !self.listed.contains_key(&scope) {
            self.words += words;
        }
        match listed {
            Some(listed) => {
                let mut strides = vec![0; scope.len()];
                for (var, class) in truly.iter().enumerate() {
                    strides[place(*class)] += self.classes.pow((truly.len() - 1 - var) as u32);
                }
                let bits = self.listed.entry(scope);
                let bits = bits.or_insert_with(|| vec![u64::MAX; words]);
                narrow(bits, listed, &strides, self.classes, count);
            }
            None => {
                let formula = formula.renamed(&|var| place(truly[var as usize]) as u32);
                let Some(own) = Listed::new(&formula, self.classes, scope.len()) else {
                    return;
                };
                let bits = self.listed.entry(scope);
                let bits = bits.or_insert_with(|| vec![u64::MAX; words]);
                bits.iter_mut().zip(own.bits).for_each(|(to, b)| *to &= b);
            }
        }
    }

    pub fn constraints(self) -> Constraints {
        let classes = self.classes;
        let all: Set = (1 << classes) - 1;
        let mut out = Constraints {
            classes,
            domains: vec![all; classes],
            pairs: Vec::new(),
            wider: Vec::new(),
            in_pairs: vec![Vec::new(); classes],
            in_wider: vec![Vec::new(); classes],
        };
        for (scope, bits) in self.listed {
            match scope[..] {
                [] => {}
                [one] => out.domains[one] &= Set::from(bits[0]) | Set::from(second(&bits)) << 64,
                [a, b] => out.pair([a, b], &bits),
                _ => out.wider.push(Wider {
                    scope,
                    allowed: Allowed::Listed(bits),
                }),
            }
        }
        for (scope, formulas) in self.formulas {
            let allowed = Allowed::Formulas(formulas);
            out.wider.push(Wider { scope, allowed });
        }
        for domain in &mut out.domains {
            *domain &= all;
        }
        out.narrow();
        for (i, pair) in out.pairs.iter().enumerate() {
            pair.of.iter().for_each(|c| out.in_pairs[*c].push(i));
        }
        for (i, wider) in out.wider.iter().enumerate() {
            wider.scope.iter().for_each(|c| out.in_wider[*c].push(i));
        }
        out
    }
}

fn second(bits: &[u64]) -> u64 {
    bits.get(1).copied().unwrap_or(0)
}

/// Listed relations with more combinations than this do not narrow domains before counting.
const MOST_NARROWING: u32 = 1 << 14;

impl Constraints {
    /// Removes from the domains the values that no combination of a relation supports, until nothing changes.
    fn narrow(&mut self) {
        let (classes, pairs, domains) = (self.classes, &self.pairs, &mut self.domains);
        let mut few: Vec<(&[usize], &[u64])> = Vec::new();
        for wider in &self.wider {
            if let Allowed::Listed(bits) = &wider.allowed
                && bits.iter().map(|w| w.count_ones()).sum::<u32>() <= MOST_NARROWING
            {
                few.push((&wider.scope, bits));
            }
        }
        loop {
            let before = domains.clone();
            for Pair { of, allowed } in pairs {
                for side in [0, 1] {
                    let values = members(domains[of[1 - side]]);
                    let supported = values.fold(0, |all, v| all | allowed[1 - side][v as usize]);
                    domains[of[side]] &= supported;
                }
            }
            for (scope, bits) in &few {
                let mut supported: Vec<Set> = vec![0; scope.len()];
                each(bits, classes, scope.len(), |becomes| {
                    let mut both = scope.iter().zip(becomes);
                    if both.all(|(class, value)| domains[*class] >> value & 1 == 1) {
                        let both = supported.iter_mut().zip(becomes);
                        both.for_each(|(set, value)| *set |= 1 << value);
                    }
                });
                let both = scope.iter().zip(supported);
                both.for_each(|(class, set)| domains[*class] &= set);
            }
            if *domains == before {
                return;
            }
        }
    }

    fn pair(&mut self, of: [usize; 2], bits: &[u64]) {
        let classes = self.classes;
        let mut allowed = [vec![0; classes], vec![0; classes]];
        for at in (0..classes * classes).filter(|at| is_set(bits, *at)) {
            allowed[0][at / classes] |= 1 << (at % classes);
            allowed[1][at % classes] |= 1 << (at / classes);
        }
        self.pairs.push(Pair { of, allowed });
    }
}

/// Removes the combinations that a listed formula, read with these strides, does not have.
fn narrow(bits: &mut [u64], listed: &Listed, strides: &[usize], classes: usize, count: usize) {
    let mut states = vec![0; strides.len()];
    let mut from = 0;
    for at in 0..count {
        if is_set(bits, at) && !is_set(&listed.bits, from) {
            unset(bits, at);
        }
        for place in (0..states.len()).rev() {
            states[place] += 1;
            from += strides[place];
            if states[place] < classes {
                break;
            }
            from -= classes * strides[place];
            states[place] = 0;
        }
    }
}
