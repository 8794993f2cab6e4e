//! How each graph is trained: chosen by the validation facts, one seed.

use logltn_learn::mine::Mine;

use super::graph::GraphName;
use crate::Options;

pub struct Settings {
    /// Complex numbers of an embedding.
    pub rank: usize,
    /// How strongly large embeddings are held back.
    pub cubes: f32,
    pub learning_rate: f64,
    pub epochs: u64,
    /// Facts of a step, from each end.
    pub batch: usize,
    /// The weight of what rules conclude, where they are axioms; facts have 1.
    pub agreement: f64,
    pub mine: Mine,
}

impl Settings {
    /// For a graph with this many training facts.
    pub fn of(graph: GraphName, facts: usize, options: &Options) -> Settings {
        let (rank, cubes, learning_rate, epochs, batch) = match graph {
            GraphName::Umls => (64, 0.005, 0.02, 40, 250),
            GraphName::Kinship => (128, 0.02, 0.02, 60, 250),
            GraphName::Family => (48, 0.01, 0.02, 15, 500),
            GraphName::Wn18rr => (50, 0.1, 0.05, 10, 500),
            // A small graph has small batches, so that there are steps enough.
            GraphName::Other(_) => (64, 0.01, 0.02, 20, (facts / 20).clamp(10, 500)),
        };
        let (length, support, confidence, top) = match graph {
            GraphName::Umls => (2, 5, 0.3, 20),
            GraphName::Kinship => (2, 5, 0.1, 20),
            GraphName::Family => (3, 5, 0.1, 100),
            GraphName::Wn18rr => (3, 2, 0.002, 0),
            GraphName::Other(_) => (2, 5, 0.1, 100),
        };
        Settings {
            rank,
            cubes,
            learning_rate,
            epochs: match options.quick {
                true => 3,
                false => options.epochs.unwrap_or(epochs),
            },
            batch,
            agreement: options.rule_weight.unwrap_or(0.1),
            mine: Mine {
                length,
                support,
                confidence,
                top,
                ..Mine::default()
            },
        }
    }

    /// How rules are found.
    pub fn mining(&self) -> String {
        let Mine {
            length,
            support,
            confidence,
            top,
            ..
        } = &self.mine;
        format!("mined: length {length} support {support} confidence {confidence} top {top}")
    }

    /// What results depend on.
    pub fn shown(&self) -> [(&'static str, String); 6] {
        [
            ("rank", self.rank.to_string()),
            ("n3", self.cubes.to_string()),
            ("learning_rate", format!("{} to 0", self.learning_rate)),
            ("epochs", self.epochs.to_string()),
            ("batch", format!("{} from each end", self.batch)),
            ("weight_of_rules", format!("{}, as axioms", self.agreement)),
        ]
    }
}

/// A number for some bytes, the same everywhere (FNV-1a).
pub fn fingerprint(bytes: impl Iterator<Item = u8>) -> String {
    let add = |hash: u64, byte: u8| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
    format!("{:016x}", bytes.fold(0xcbf2_9ce4_8422_2325, add))
}
