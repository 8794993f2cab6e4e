//! Pairs that make up cliques: "at most one of these" is written as a law for every two of them.

use rustc_hash::FxHashMap;

/// Cliques of fewer things stay pairs.
const LEAST: usize = 4;

/// What is not found after so many steps is not looked for.
const MOST_STEPS: usize = 1 << 26;

/// Cliques among sorted pairs of different things, the lower one first, each of which has a pair that earlier ones do not
/// have, and by pair whether a clique has it.
pub(super) fn cliques(pairs: &[(u32, u32)]) -> (Vec<Vec<u32>>, Vec<bool>) {
    let mut found = Vec::new();
    let mut covered = vec![false; pairs.len()];
    if pairs.len() < LEAST * (LEAST - 1) / 2 {
        return (found, covered);
    }
    // By thing: those above it, and where its pairs begin.
    let mut above: FxHashMap<u32, (usize, Vec<u32>)> = FxHashMap::default();
    for (at, (a, b)) in pairs.iter().enumerate() {
        let (_, of) = above.entry(*a).or_insert_with(|| (at, Vec::new()));
        of.push(*b);
    }
    let mut steps = 0;
    for (at, &(a, b)) in pairs.iter().enumerate() {
        if covered[at] || steps > MOST_STEPS {
            continue;
        }
        let mut clique = vec![a];
        let mut next = Some(b);
        // The lower ones of a clique that begins below the pair are found from there.
        let mut common = above[&a].1.clone();
        while let Some(thing) = next {
            clique.push(thing);
            steps += common.len();
            match above.get(&thing) {
                Some((_, of)) => common.retain(|c| of.binary_search(c).is_ok()),
                None => common.clear(),
            }
            next = common.first().copied();
        }
        if clique.len() < LEAST {
            continue;
        }
        for (i, a) in clique.iter().enumerate() {
            let Some((start, of)) = above.get(a) else {
                continue;
            };
            for b in &clique[i + 1..] {
                let place = of.binary_search(b).unwrap_or_default();
                covered[start + place] = true;
            }
        }
        found.push(clique);
    }
    (found, covered)
}
