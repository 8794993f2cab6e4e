//! The kinds of torture.

use crate::program::Attempt;
use crate::rng::Rng;
use crate::{damage, faults, hdf5, hostile, kills};

/// One kind of torture.
pub struct Kind {
    /// Its name.
    pub name: &'static str,
    /// What a try is.
    pub about: &'static str,
    /// Makes the try of a number; all that is random comes from the generator.
    pub attempt: fn(&mut Rng, u64) -> Attempt,
}

/// All of them.
pub const KINDS: [Kind; 5] = [
    Kind {
        name: "faults",
        about: "a call on a file fails, is done by halves, or is the last one; then resumed",
        attempt: faults::attempt,
    },
    Kind {
        name: "kills",
        about: "killed and signalled at random moments, resumed until it is finished",
        attempt: kills::attempt,
    },
    Kind {
        name: "damage",
        about: "a flipped bit, a cut, a hole or a missing file in a run; then evaluated, compared, resumed",
        attempt: damage::attempt,
    },
    Kind {
        name: "hostile",
        about: "a project with a mutated theory, manifest or data file, given to the program",
        attempt: hostile::attempt,
    },
    Kind {
        name: "hdf5",
        about: "mutated HDF5 files, given to the program",
        attempt: hdf5::attempt,
    },
];
