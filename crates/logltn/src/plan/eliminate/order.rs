//! The order of elimination: at each turn the variable whose elimination has the least estimated cost.

use super::network::*;

/// One turn: the combinations of `scope`, summed over `eliminated`, give a message on `out`.
#[derive(Clone, Debug)]
pub(super) struct Clique {
    pub eliminated: Vec<usize>,
    pub scope: Vec<usize>,
    pub out: Vec<usize>,
    pub relations: Vec<usize>,
    pub factors: Vec<usize>,
    /// Earlier turns whose messages it reads.
    pub children: Vec<usize>,
}

enum Input {
    Relation(usize),
    Factor(usize),
    Message(usize),
}

/// The turns, and about how many combinations they enumerate together.
pub(super) fn order(network: &Network) -> (Vec<Clique>, f64) {
    let size = |v: usize| network.variables[v].size() as f64;
    let product = |scope: &[usize]| scope.iter().map(|v| size(*v)).product::<f64>();
    // A factor, relation or message that is still to be used: its scope, and the share of its
    // combinations that it keeps.
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

/// A turn that enumerates no variables beyond those of an earlier turn is merged with it.
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
    // The remaining turns, renumbered.
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
