//! Made-up facts of a graph of a given size.

use logltn_learn::random::Random;
use rustc_hash::FxHashSet;

/// What is known of a graph.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GraphFigures {
    /// How many individuals it has.
    pub entities: usize,
    /// How many relations.
    pub relations: usize,
    /// How many facts are told, kept for choosing, and asked for.
    pub facts: [usize; 3],
}

/// A graph that was made up.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GraphStandIn {
    /// The individuals.
    pub entities: Vec<String>,
    /// The relations.
    pub relations: Vec<String>,
    /// Facts that are told: head, relation, tail.
    pub train: Vec<[u32; 3]>,
    /// Facts to choose by.
    pub valid: Vec<[u32; 3]>,
    /// Facts that are asked for.
    pub test: Vec<[u32; 3]>,
}

/// One in this many facts is anyone's guess.
const NOISE: usize = 20;

/// Facts of individuals on a circle: the k-th relation leads some steps on, mostly k. So there is something to find for rules, since
/// steps add up, and something for embeddings. Nothing of a real graph but its size is in it.
///
/// ```
/// use logltn_standin::{GraphFigures, standin_graph};
/// let figures = GraphFigures { entities: 50, relations: 4, facts: [200, 20, 20] };
/// let graph = standin_graph(&figures, 0);
/// assert_eq!((graph.entities.len(), graph.train.len(), graph.test.len()), (50, 200, 20));
/// assert_eq!(graph, standin_graph(&figures, 0));
/// ```
///
/// # Panics
/// If there are not twice as many possible facts as are wanted.
pub fn standin_graph(figures: &GraphFigures, seed: u64) -> GraphStandIn {
    let GraphFigures {
        entities,
        relations,
        facts,
    } = *figures;
    let wanted: usize = facts.iter().sum();
    assert!(2 * wanted <= entities * entities * relations);
    // Each relation can lead to this many, of which about half are facts.
    let steps = (2 * wanted).div_ceil(entities * relations).max(1);
    let mut random = Random::new(seed, 0);
    let mut seen = FxHashSet::default();
    let mut all = Vec::new();
    while all.len() < wanted {
        let [head, relation] = [entities, relations].map(|n| random.below(n));
        let step = 1 + relation + relations * random.below(steps);
        let tail = match random.below(NOISE) {
            0 => random.below(entities),
            _ => (head + step) % entities,
        };
        let fact = [head, relation, tail].map(|n| n as u32);
        if seen.insert(fact) {
            all.push(fact);
        }
    }
    let test = all.split_off(facts[0] + facts[1]);
    let valid = all.split_off(facts[0]);
    let named = |what: &str, count| (0..count).map(|i| format!("{what}{i}")).collect();
    GraphStandIn {
        entities: named("e", entities),
        relations: named("r", relations),
        train: all,
        valid,
        test,
    }
}
