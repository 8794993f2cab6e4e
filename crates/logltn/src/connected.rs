//! Things that belong together.

use rustc_hash::FxHashMap;

/// Groups this many things that have common variables, which `each` visits, in the order of the first one of each group.
pub(crate) fn connected(count: usize, each: impl Fn(usize, &mut dyn FnMut(u32))) -> Vec<Vec<u32>> {
    fn find(leader: &mut [u32], mut i: u32) -> u32 {
        while leader[i as usize] != i {
            leader[i as usize] = leader[leader[i as usize] as usize];
            i = leader[i as usize];
        }
        i
    }
    let mut owner: FxHashMap<u32, u32> = FxHashMap::default();
    let mut leader: Vec<u32> = (0..count as u32).collect();
    for i in 0..count as u32 {
        each(i as usize, &mut |var| {
            let other = *owner.entry(var).or_insert(i);
            let (a, b) = (find(&mut leader, i), find(&mut leader, other));
            leader[a.max(b) as usize] = a.min(b);
        });
    }
    let mut place: FxHashMap<u32, usize> = FxHashMap::default();
    let mut groups: Vec<Vec<u32>> = Vec::new();
    for i in 0..count as u32 {
        let at = *place.entry(find(&mut leader, i)).or_insert_with(|| {
            groups.push(Vec::new());
            groups.len() - 1
        });
        groups[at].push(i);
    }
    groups
}
