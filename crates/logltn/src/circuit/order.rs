//! Which variable to decide first.

use rustc_hash::{FxHashMap, FxHashSet};

use super::store::{Formula, Id, Store};

/// How a compilation chooses its variables.
#[derive(Clone, Debug)]
pub(super) enum Order {
    /// The one that most members of the formula at hand mention, short members counting more.
    Occurrences,
    /// The one that cuts the formula best: by variable, its depth in a tree in which all that go together lie on one path.
    Depths(Vec<u32>),
}

/// Members of a formula with more variables than these are left out of the graph: they would make it complete.
const LONG: usize = 48;

impl Order {
    /// Orders to try, the most promising first.
    pub fn to_try(store: &Store, root: Id) -> Vec<Order> {
        let mut orders = Vec::new();
        if let Some(depths) = depths(store, root) {
            orders.push(Order::Depths(depths));
        }
        orders.push(Order::Occurrences);
        orders
    }

    /// The variable to decide in a formula, which has some.
    pub fn choose(&self, store: &Store, id: Id) -> u32 {
        if let Order::Depths(depths) = self {
            let vars = store.variables(id).iter().copied();
            return vars.min_by_key(|v| (depths[*v as usize], *v)).unwrap_or(0);
        }
        let members: &[Id] = match store.formula(id) {
            Formula::And(members) | Formula::Or(members) => members,
            _ => &[],
        };
        let mut scores: FxHashMap<u32, f64> = FxHashMap::default();
        for member in members {
            let vars = store.variables(*member);
            let score = 1.0 / (vars.len() as f64).powi(2);
            for var in vars {
                *scores.entry(*var).or_default() += score;
            }
        }
        let mut best = (
            f64::NEG_INFINITY,
            store.variables(id).first().copied().unwrap_or(0),
        );
        for var in store.variables(id) {
            let score = scores.get(var).copied().unwrap_or(0.0);
            if score > best.0 {
                best = (score, *var);
            }
        }
        best.1
    }
}

/// Depths in the tree of an elimination by minimum fill (of many variables, minimum degree) of the graph of those that
/// occur together. None if there is no such structure to find.
fn depths(store: &Store, root: Id) -> Option<Vec<u32>> {
    let Formula::And(members) = store.formula(root) else {
        return None;
    };
    let count = store.domains.len();
    let mut neighbours: Vec<FxHashSet<u32>> = vec![FxHashSet::default(); count];
    for member in members {
        let vars = store.variables(*member);
        if vars.len() > LONG {
            return None;
        }
        for (i, a) in vars.iter().enumerate() {
            for b in &vars[i + 1..] {
                neighbours[*a as usize].insert(*b);
                neighbours[*b as usize].insert(*a);
            }
        }
    }
    let vars = store.variables(root);
    let few = vars.len() <= 150;
    let mut left: Vec<u32> = vars.to_vec();
    // How high the tree under a variable is so far: among equals the lower goes first, which keeps the tree flat.
    let mut heights = vec![0_u32; count];
    // By degree and height, renewed as they change.
    let mut heap: std::collections::BTreeSet<(usize, u32, u32)> = (left.iter())
        .map(|&v| (neighbours[v as usize].len(), 0, v))
        .collect();
    let mut parent = vec![u32::MAX; count];
    let mut place = vec![u32::MAX; count];
    let mut work = 0_usize;
    let mut eliminated = Vec::new();
    while eliminated.len() < vars.len() {
        let var = if few {
            let fill = |v: u32| {
                let around: Vec<u32> = neighbours[v as usize].iter().copied().collect();
                let mut missing = 0;
                for (i, a) in around.iter().enumerate() {
                    let of = &neighbours[*a as usize];
                    missing += around[i + 1..].iter().filter(|b| !of.contains(b)).count();
                }
                (missing, heights[v as usize], around.len(), v)
            };
            let best = left.iter().copied().min_by_key(|v| fill(*v))?;
            left.retain(|v| *v != best);
            best
        } else {
            heap.pop_first()?.2
        };
        place[var as usize] = eliminated.len() as u32;
        eliminated.push(var);
        let mut around: Vec<u32> = std::mem::take(&mut neighbours[var as usize])
            .into_iter()
            .collect();
        around.sort_unstable();
        let own_height = heights[var as usize];
        work += around.len() * around.len();
        if work > 50_000_000 {
            return None;
        }
        for a in &around {
            let height = &mut heights[*a as usize];
            heap.remove(&(neighbours[*a as usize].len(), *height, *a));
            *height = (*height).max(own_height + 1);
            neighbours[*a as usize].remove(&var);
            for b in &around {
                if a != b {
                    neighbours[*a as usize].insert(*b);
                }
            }
        }
        if !few {
            let key = |a: u32| (neighbours[a as usize].len(), heights[a as usize], a);
            heap.extend(around.iter().map(|&a| key(a)));
        }
        // Whichever of them goes first is the parent; all are still there.
        neighbours[var as usize] = around.into_iter().collect();
    }
    for &var in &eliminated {
        let later = neighbours[var as usize].iter().copied();
        let first = later.min_by_key(|n| place[*n as usize]);
        parent[var as usize] = first.unwrap_or(u32::MAX);
    }
    let mut depths = vec![0; count];
    for &var in eliminated.iter().rev() {
        let above = parent[var as usize];
        if above != u32::MAX {
            depths[var as usize] = depths[above as usize] + 1;
        }
    }
    Some(depths)
}
