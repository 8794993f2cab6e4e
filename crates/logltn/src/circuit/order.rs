//! Which variable to decide first.

use std::collections::BTreeSet;

use rustc_hash::{FxHashMap, FxHashSet};

use super::store::{Formula, Id, Store};

/// How a compilation chooses its variables.
#[derive(Clone, Debug)]
pub(super) struct Order {
    /// By variable, its depth in a tree in which variables that occur together are on one path. In formulas of many
    /// variables the first one in this tree is chosen.
    depths: Option<Vec<u32>>,
}

/// Members of a formula with more variables than these are left out of the graph, which they would make complete; what they
/// connect is halved instead.
const LONG: usize = 48;

impl Order {
    /// With the tree of an elimination, if there is one.
    pub fn new(eliminated: Option<&Eliminated>) -> Order {
        let depths = eliminated.map(|eliminated| {
            let mut depths = vec![0; eliminated.len()];
            for (var, around) in eliminated.iter().rev() {
                // The one that is eliminated first is the parent.
                let above = around.first();
                depths[*var as usize] = above.map_or(0, |above| depths[*above as usize] + 1);
            }
            depths
        });
        Order { depths }
    }

    /// The variable to decide in a formula that has variables: the one that most members of the formula mention (short
    /// members count more) and that has the fewest states. If all have two states, only among the last ones of an
    /// elimination, which separate the others.
    pub fn choose(&self, store: &Store, id: Id) -> u32 {
        let vars = store.variables(id);
        if let (Some(depths), true) = (&self.depths, vars.len() > FEW) {
            let vars = vars.iter().copied();
            return vars.min_by_key(|v| (depths[*v as usize], *v)).unwrap_or(0);
        }
        let place = |var: &u32| vars.binary_search(var).unwrap_or_default();
        let mut scores = vec![0.0; vars.len()];
        let told_apart = told_apart(store, id);
        let eliminates = told_apart.is_empty() && vars.len() <= FEW;
        let mut near = vec![0_u128; if eliminates { vars.len() } else { 0 }];
        for member in store.members(id) {
            let of = store.variables(*member);
            let count = of.len() as f64;
            let score = match store.formula(*member) {
                // As if they were written out.
                Formula::Pairs { .. } => (count - 1.0) / 4.0,
                _ => 1.0 / count.powi(2),
            };
            of.iter().for_each(|var| scores[place(var)] += score);
            if !near.is_empty() {
                let all = of.iter().fold(0, |all, var| all | 1 << place(var));
                of.iter().for_each(|var| near[place(var)] |= all);
            }
        }
        let mut last = u128::MAX;
        if !near.is_empty() {
            let degrees: Vec<u32> = near.iter().map(|near| near.count_ones()).collect();
            last = last_neighbours(near, &scores);
            let others = degrees.iter().map(|degree| f64::from(degree - 1));
            (scores.iter_mut().zip(others)).for_each(|(score, others)| *score *= others);
        }
        let mut best = (f64::NEG_INFINITY, vars.first().copied().unwrap_or(0));
        for (at, var) in vars.iter().enumerate() {
            let score = scores[at] / told_apart.get(var).map_or(1, FxHashSet::len) as f64;
            if score > best.0 && last >> (at % FEW) & 1 == 1 {
                best = (score, *var);
            }
        }
        best.1
    }
}

/// So many variables are eliminated anew for each choice.
pub(super) const FEW: usize = 128;

/// Those that are left of an elimination by the fewest neighbours, the ones with the lowest scores first, when all that are
/// left are neighbours. Everything is near itself.
fn last_neighbours(mut near: Vec<u128>, scores: &[f64]) -> u128 {
    let bits = |mut set: u128| {
        std::iter::from_fn(move || {
            let at = set.trailing_zeros();
            set &= set.wrapping_sub(1);
            (at < u128::BITS).then_some(at as usize)
        })
    };
    let mut left = u128::MAX >> (FEW - near.len());
    let fewest = |near: &[u128], left: u128| {
        let degree = |at: usize| (near[at] & left).count_ones();
        bits(left).min_by(|a, b| {
            let by_score = || scores[*a].total_cmp(&scores[*b]);
            degree(*a).cmp(&degree(*b)).then_with(by_score)
        })
    };
    while let Some(next) = fewest(&near, left) {
        let around = near[next] & left;
        if around == left {
            break;
        }
        left &= !(1 << next);
        bits(around & left).for_each(|at| near[at] |= around);
    }
    left
}

/// For formulas with variables of many states: the sets of states in the literals of each variable. Once one digit of a
/// sum is known, few are left for the digit that is added to it.
fn told_apart(store: &Store, id: Id) -> FxHashMap<u32, FxHashSet<u32>> {
    let mut found: FxHashMap<u32, FxHashSet<u32>> = FxHashMap::default();
    let has_many = |var: &u32| store.domains[*var as usize] > 2;
    if !store.variables(id).iter().any(has_many) {
        return found;
    }
    let (mut seen, mut open) = (FxHashSet::default(), vec![id]);
    while let Some(id) = open.pop() {
        if let Formula::In { var, set } = store.formula(id) {
            found.entry(var).or_default().insert(set);
        }
        open.extend(store.members(id).iter().filter(|m| seen.insert(**m)));
    }
    found
}

/// The graph of variables that occur together, during their elimination one by one.
struct Graph {
    neighbours: Vec<FxHashSet<u32>>,
    /// The height of the tree under a variable so far: among equal variables the one with the lower tree is
    /// eliminated first, which keeps the tree flat.
    heights: Vec<u32>,
    /// Whether to eliminate first the variables that add the fewest edges; if that takes too long, those with the
    /// fewest neighbours.
    by_fill: bool,
    work: usize,
}

type Key = (usize, u32, usize, u32);

impl Graph {
    /// The priority of a variable.
    fn key(&mut self, var: u32) -> Key {
        let around: Vec<u32> = self.neighbours[var as usize].iter().copied().collect();
        let degree = around.len();
        let mut first = degree;
        if self.by_fill {
            self.work += degree * degree;
            first = 0;
            for (i, a) in around.iter().enumerate() {
                let of = &self.neighbours[*a as usize];
                first += around[i + 1..].iter().filter(|b| !of.contains(b)).count();
            }
        }
        (first, self.heights[var as usize], degree, var)
    }

    /// Eliminates a variable and connects its neighbours. Returns them, sorted, and whether edges were added.
    fn eliminate(&mut self, var: u32) -> (Vec<u32>, bool) {
        let mut around: Vec<u32> = std::mem::take(&mut self.neighbours[var as usize])
            .into_iter()
            .collect();
        around.sort_unstable();
        self.work += around.len() * around.len();
        let height = self.heights[var as usize] + 1;
        let mut adds = false;
        for a in &around {
            let own = &mut self.heights[*a as usize];
            *own = (*own).max(height);
            let of = &mut self.neighbours[*a as usize];
            of.remove(&var);
            for b in around.iter().filter(|b| *b != a) {
                adds |= of.insert(*b);
            }
        }
        (around, adds)
    }
}

/// Variables in the order of an elimination, each with its neighbours at that time, the next one first.
pub(super) type Eliminated = Vec<(u32, Vec<u32>)>;

/// Eliminates variables by minimum fill. Equally good ones are eliminated in the order of their names, which is another one for
/// other seeds. `None` if it takes too long.
pub(super) fn elimination(
    neighbours: &[FxHashSet<u32>],
    vars: &[u32],
    seed: u32,
) -> Option<Eliminated> {
    let count = neighbours.len();
    if seed == 0 {
        return eliminated(neighbours.to_vec(), vars);
    }
    let mut named: Vec<u32> = (0..count as u32).collect();
    named.sort_unstable_by_key(|v| (v ^ seed).wrapping_mul(0x9E37_79B1).rotate_left(seed));
    let mut name = vec![0; count];
    (named.iter().zip(0..)).for_each(|(v, i)| name[*v as usize] = i);
    let mut renamed = vec![FxHashSet::default(); count];
    for (v, of) in neighbours.iter().enumerate() {
        renamed[name[v] as usize] = of.iter().map(|w| name[*w as usize]).collect();
    }
    let vars: Vec<u32> = vars.iter().map(|v| name[*v as usize]).collect();
    let mut eliminated = eliminated(renamed, &vars)?;
    for (var, around) in &mut eliminated {
        *var = named[*var as usize];
        around.iter_mut().for_each(|v| *v = named[*v as usize]);
    }
    Some(eliminated)
}

fn eliminated(neighbours: Vec<FxHashSet<u32>>, vars: &[u32]) -> Option<Eliminated> {
    const MOST_BY_FILL: usize = 50_000_000;
    const MOST: usize = 2 * MOST_BY_FILL;
    let count = neighbours.len();
    let mut graph = Graph {
        neighbours,
        heights: vec![0; count],
        by_fill: true,
        work: 0,
    };
    let mut keys: Vec<Key> = vec![(0, 0, 0, 0); count];
    vars.iter().for_each(|v| keys[*v as usize] = graph.key(*v));
    let mut queue: BTreeSet<Key> = vars.iter().map(|v| keys[*v as usize]).collect();
    let mut place = vec![u32::MAX; count];
    let mut eliminated = Eliminated::with_capacity(vars.len());
    while let Some((.., var)) = queue.pop_first() {
        place[var as usize] = eliminated.len() as u32;
        let (around, adds) = graph.eliminate(var);
        let mut changed = around.clone();
        if graph.work > MOST {
            return None;
        } else if graph.by_fill && graph.work > MOST_BY_FILL {
            graph.by_fill = false;
            changed = queue.iter().map(|key| key.3).collect();
        } else if graph.by_fill && adds {
            let of = |a: &u32| graph.neighbours[*a as usize].iter().copied();
            changed.extend(around.iter().flat_map(of).collect::<FxHashSet<u32>>());
            changed.sort_unstable();
            changed.dedup();
        }
        for other in changed {
            let key = &mut keys[other as usize];
            queue.remove(key);
            *key = graph.key(other);
            queue.insert(*key);
        }
        eliminated.push((var, around));
    }
    for (_, around) in &mut eliminated {
        around.sort_unstable_by_key(|n| place[*n as usize]);
    }
    Some(eliminated)
}

/// An elimination of the graph of those that occur together, and whether members were left out of it. `None` if no such
/// structure is found.
pub(super) fn structure(store: &Store, members: &[Id]) -> Option<(Eliminated, bool)> {
    let mut neighbours = vec![FxHashSet::default(); store.domains.len()];
    let mut left_out = false;
    for member in members {
        let vars = store.variables(*member);
        if vars.len() > LONG {
            left_out = true;
            continue;
        }
        for (i, a) in vars.iter().enumerate() {
            for b in &vars[i + 1..] {
                neighbours[*a as usize].insert(*b);
                neighbours[*b as usize].insert(*a);
            }
        }
    }
    let vars: Vec<u32> = (0..store.domains.len() as u32).collect();
    Some((elimination(&neighbours, &vars, 0)?, left_out))
}
