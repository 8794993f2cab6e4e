//! The kinds of torture.

use crate::attempt::Attempt;
use crate::cases::rng::Rng;
use crate::{damage, evaluators, faults, hdf5, hostile, kills, readers, texts};

/// One kind of torture.
pub struct Kind {
    /// Its name.
    pub name: &'static str,
    /// What a try is.
    pub about: &'static str,
    /// How many tries a worker makes before it is replaced.
    pub batch: u64,
    /// How many seconds a try may take.
    pub seconds: u64,
    /// How many bytes a try may take in this process; what programs that it starts may take is their matter.
    pub memory: usize,
    /// Makes the try of a number; all that is random comes from the generator.
    pub attempt: fn(&mut Rng, u64) -> Attempt,
}

const MIB: usize = 1 << 20;

/// All of them.
pub const KINDS: [Kind; 10] = [
    Kind {
        name: "faults",
        about: "a call on a file fails, is done by halves, or is the last one; then resumed",
        batch: 40,
        seconds: 120,
        memory: 64 * MIB,
        attempt: faults::attempt,
    },
    Kind {
        name: "kills",
        about: "killed and signalled at random moments, resumed until it is finished",
        batch: 10,
        seconds: 300,
        memory: 64 * MIB,
        attempt: kills::attempt,
    },
    Kind {
        name: "damage",
        about: "a flipped bit, a cut, a hole or a missing file in a run; then evaluated, compared, resumed",
        batch: 40,
        seconds: 120,
        memory: 64 * MIB,
        attempt: damage::attempt,
    },
    Kind {
        name: "hostile",
        about: "a project with a mutated theory, manifest or data file, given to the program",
        batch: 40,
        seconds: 120,
        memory: 64 * MIB,
        attempt: hostile::attempt,
    },
    Kind {
        name: "readers",
        about: "mutated files of every data format, read in process",
        batch: 4000,
        seconds: 10,
        // A packed file may claim numbers that it has not: up to 64 MiB are made room for at once.
        memory: 80 * MIB,
        attempt: readers::attempt,
    },
    Kind {
        name: "hdf5",
        about: "mutated HDF5 files, given to the program",
        batch: 40,
        seconds: 120,
        memory: 64 * MIB,
        attempt: hdf5::attempt,
    },
    Kind {
        name: "theories",
        about: "mutated theories, parsed, printed, normalised",
        batch: 2000,
        seconds: 10,
        memory: 256 * MIB,
        attempt: texts::theory,
    },
    Kind {
        name: "manifests",
        about: "mutated manifests, read and checked",
        batch: 2000,
        seconds: 10,
        memory: 64 * MIB,
        attempt: texts::manifest,
    },
    Kind {
        name: "evaluators",
        about: "random theories and numbers, ordinary and extreme, against the second evaluator",
        batch: 200,
        seconds: 30,
        memory: 256 * MIB,
        attempt: evaluators::values,
    },
    Kind {
        name: "derivatives",
        about: "the engine's derivatives against differences of the second evaluator's values",
        batch: 200,
        seconds: 30,
        memory: 256 * MIB,
        attempt: evaluators::derivatives,
    },
];
