//! The order in which the variables go: at each turn the one whose elimination is cheapest by estimate.

use super::network::*;

/// One turn: the combinations of `scope`, summed over `eliminated`, give a message on `out`.
#[derive(Clone, Debug)]
pub(super) struct Clique {
    pub eliminated: Vec<usize>,
    pub scope: Vec<usize>,
    pub out: Vec<usize>,
    pub relations: Vec<usize>,
    pub factors: Vec<usize>,
    /// Earlier turns whose messages it takes in.
    pub children: Vec<usize>,
}

enum Input {
    Relation(usize),
    Factor(usize),
    Message(usize),
}

/// The turns, and about how many combinations they go through together.
pub(super) fn order(network: &Network) -> (Vec<Clique>, f64) {
    let size = |v: usize| network.variables[v].size() as f64;
    let product = |scope: &[usize]| scope.iter().map(|v| size(*v)).product::<f64>();
    // What is still to be taken in: its scope, and which part of its combinations it keeps.
    let mut inputs: Vec<(Input, Vec<usize>, f64)> = Vec::new();
    for (i, relation) in network.relations.iter().enumerate() {
        if !relation.scope.is_empty() {
            inputs.push((Input::Relation(i), relation.scope.clone(), relation.kept));
        }
    }
    for (i, scope) in network.factors.iter().enumerate() {
        inputs.push((Input::Factor(i), scope.clone(), 1.0));
    }
    let mut left: Vec<usize> = (0..network.variables.len()).collect();
    let mut turns: Vec<Clique> = Vec::new();
    let mut total = 0.0;
    while !left.is_empty() {
        let mut best: Option<(f64, usize, usize, Vec<usize>)> = None;
        for (at, &v) in left.iter().enumerate() {
            let mut scope = vec![v];
            let mut kept = 1.0;
            for (_, other, part) in inputs.iter().filter(|(_, s, _)| s.contains(&v)) {
                scope.extend(other);
                kept *= part;
            }
            scope.sort_unstable();
            scope.dedup();
            let cost = (product(&scope) * kept).max(1.0);
            let better = best.as_ref().is_none_or(|(least, width, ..)| {
                cost < *least || cost == *least && scope.len() < *width
            });
            if better {
                best = Some((cost, scope.len(), at, scope));
            }
        }
        let Some((cost, _, at, scope)) = best else {
            break;
        };
        let v = left.remove(at);
        let (taken, others): (Vec<_>, Vec<_>) =
            inputs.into_iter().partition(|(_, s, _)| s.contains(&v));
        inputs = others;
        let mut turn = Clique {
            eliminated: vec![v],
            out: scope.iter().copied().filter(|&w| w != v).collect(),
            scope,
            relations: Vec::new(),
            factors: Vec::new(),
            children: Vec::new(),
        };
        for (input, _, _) in taken {
            match input {
                Input::Relation(i) => turn.relations.push(i),
                Input::Factor(i) => turn.factors.push(i),
                Input::Message(i) => turn.children.push(i),
            }
        }
        if !turn.out.is_empty() {
            let kept = (cost / product(&turn.out)).min(1.0);
            inputs.push((Input::Message(turns.len()), turn.out.clone(), kept));
        }
        total += cost;
        turns.push(turn);
    }
    (merge(turns), total)
}

/// Where a turn goes through no variable that one before it has not gone through, both are one.
fn merge(turns: Vec<Clique>) -> Vec<Clique> {
    let mut turns: Vec<Option<Clique>> = turns.into_iter().map(Some).collect();
    for j in 0..turns.len() {
        let Some(mut turn) = turns[j].take() else {
            continue;
        };
        while let Some(at) = turn.children.iter().position(|&i| {
            let child = turns[i].as_ref();
            child.is_some_and(|c| turn.scope.iter().all(|v| c.scope.contains(v)))
        }) {
            let Some(child) = turns[turn.children.remove(at)].take() else {
                break;
            };
            turn.scope = child.scope;
            turn.eliminated.extend(child.eliminated);
            turn.relations.extend(child.relations);
            turn.factors.extend(child.factors);
            turn.children.extend(child.children);
        }
        turns[j] = Some(turn);
    }
    // Those that are left, numbered again.
    let mut number = vec![0; turns.len()];
    let mut merged: Vec<Clique> = Vec::new();
    for (i, turn) in turns.into_iter().enumerate() {
        let Some(mut turn) = turn else { continue };
        turn.children.iter_mut().for_each(|c| *c = number[*c]);
        turn.children.sort_unstable();
        turn.eliminated.sort_unstable();
        turn.relations.sort_unstable();
        turn.factors.sort_unstable();
        number[i] = merged.len();
        merged.push(turn);
    }
    merged
}
