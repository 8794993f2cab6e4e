//! Things that belong together.

/// Groups this many things that have common variables, which `each` visits, in the order of the first one of each group.
pub(crate) fn connected(count: usize, each: impl Fn(usize, &mut dyn FnMut(u32))) -> Vec<Vec<u32>> {
    connected_by(&mut Vec::new(), count, each)
}

/// The same with a list by variable, which is as empty afterwards as it was before.
pub(crate) fn connected_by(
    owner: &mut Vec<u32>,
    count: usize,
    each: impl Fn(usize, &mut dyn FnMut(u32)),
) -> Vec<Vec<u32>> {
    fn find(leader: &mut [u32], mut i: u32) -> u32 {
        while leader[i as usize] != i {
            leader[i as usize] = leader[leader[i as usize] as usize];
            i = leader[i as usize];
        }
        i
    }
    const NONE: u32 = u32::MAX;
    let mut leader: Vec<u32> = (0..count as u32).collect();
    for i in 0..count as u32 {
        each(i as usize, &mut |var| {
            if owner.len() <= var as usize {
                owner.resize(var as usize + 1, NONE);
            }
            match &mut owner[var as usize] {
                own if *own == NONE => *own = i,
                other => {
                    let (a, b) = (find(&mut leader, i), find(&mut leader, *other));
                    leader[a.max(b) as usize] = a.min(b);
                }
            }
        });
    }
    (0..count).for_each(|i| each(i, &mut |var| owner[var as usize] = NONE));
    // Leaders come before those that they lead.
    let mut groups: Vec<Vec<u32>> = Vec::new();
    let mut place = vec![0; count];
    for i in 0..count as u32 {
        let first = find(&mut leader, i);
        if first == i {
            place[i as usize] = groups.len();
            groups.push(Vec::new());
        }
        groups[place[first as usize]].push(i);
    }
    groups
}
