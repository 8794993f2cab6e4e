//! Labels in a hierarchy: a law that every prediction keeps.

use logltn::Diagnostics;
use logltn_learn::random::Random;
use logltn_train::train::{Asking, Predictor};

use crate::figure::{Figure, Of};
use crate::file::File;
use crate::presentation::{Shown, Table};
use crate::sources::Sources;
use crate::trained_example::Learnt;
use crate::{Example, Made};

pub(crate) const EXAMPLE: Example = Example {
    name: "hierarchy",
    about: "several labels each, in a hierarchy that no prediction breaks (exact probabilities, a law)",
    theory: include_str!("../projects/hierarchy.ltn"),
    manifest: include_str!("../projects/hierarchy.toml"),
    data,
    figures: &[
        Figure::new(Of::Metric("accuracy(is)"), None, None),
        Figure::new(Of::Metric("average_precision(is)"), None, None),
    ],
    show,
};

/// As in the theory.
const LABELS: [&str; 11] = [
    "animal", "mammal", "bird", "vehicle", "cat", "dog", "eagle", "duck", "car", "truck", "bicycle",
];

/// Child and parent.
const ISA: [[&str; 2]; 9] = [
    ["mammal", "animal"],
    ["bird", "animal"],
    ["cat", "mammal"],
    ["dog", "mammal"],
    ["eagle", "bird"],
    ["duck", "bird"],
    ["car", "vehicle"],
    ["truck", "vehicle"],
    ["bicycle", "vehicle"],
];

/// Kinds without kinds of their own, each around a place of the plane.
const KINDS: [(&str, [f64; 2]); 7] = [
    ("cat", [0.0, 0.0]),
    ("dog", [1.0, 0.2]),
    ("eagle", [0.1, 1.4]),
    ("duck", [1.0, 1.5]),
    ("car", [2.6, 0.1]),
    ("truck", [3.4, 0.6]),
    ("bicycle", [2.7, 1.4]),
];

const THINGS: usize = 180;
/// The others test what was learnt.
const EXAMPLES: usize = 60;

/// A label and all above it.
fn with_parents(kind: &'static str) -> Vec<&'static str> {
    let mut labels = vec![kind];
    while let Some([_, parent]) = ISA
        .iter()
        .find(|[child, _]| child == &labels[labels.len() - 1])
    {
        labels.push(parent);
    }
    labels
}

fn data(_: &Sources) -> Result<Made, Diagnostics> {
    let mut random = Random::new(3, 1);
    let mut points = Vec::with_capacity(THINGS);
    let [mut has, mut has_not, mut test] = [const { Vec::new() }; 3];
    for thing in 0..THINGS {
        let (kind, [x, y]) = KINDS[thing % KINDS.len()];
        points.push(vec![x + 0.45 * random.normal(), y + 0.45 * random.normal()]);
        let own = with_parents(kind);
        for label in LABELS {
            let is = own.contains(&label);
            let row = |more: &[&str]| -> Vec<String> {
                let cells = [&[label], more].concat();
                let names = cells.into_iter().map(str::to_string);
                std::iter::once(thing.to_string()).chain(names).collect()
            };
            match (thing < EXAMPLES, is) {
                (true, true) => has.push(row(&[])),
                (true, false) => has_not.push(row(&[])),
                (false, is) => test.push(row(&[if is { "1" } else { "0" }])),
            }
        }
    }
    Ok(Made {
        what: format!("{THINGS} random points of {} kinds", KINDS.len()),
        files: vec![
            File::csv("isa.csv", "child,parent", ISA),
            File::csv("has.csv", "x,l", has),
            File::csv("has_not.csv", "x,l", has_not),
            File::csv("test.csv", "x,l,truth", test),
            File::numbers("things.csv", "a,b", &points),
        ],
    })
}

fn show(learnt: &mut Learnt, shown: &mut Shown) -> Result<(), Diagnostics> {
    let (manifest, run) = (learnt.manifest(), learnt.run().to_path_buf());
    let mut table = Table::new(
        "the things that are not examples, by how their labels are decided",
        [
            "",
            "all labels right",
            "of these, with a child but not its parent",
        ],
    );
    let world = |given: Option<&[String]>| -> Result<(usize, usize), Diagnostics> {
        let symbols = ["is".to_string()];
        let mut predictor = Predictor::load(&Asking {
            run: Some(&run),
            given,
            ..Asking::of(&manifest, &symbols)
        })?;
        let (_, world) = predictor.world(None)?;
        let place = |label: &str| LABELS.iter().position(|l| *l == label).unwrap_or(0);
        let tested = world.states.iter().enumerate().skip(EXAMPLES);
        let (mut right, mut broken) = (0, 0);
        for (thing, states) in tested {
            let own = with_parents(KINDS[thing % KINDS.len()].0);
            let expected = LABELS.map(|label| u32::from(own.contains(&label)));
            right += usize::from(states[..] == expected);
            let breaks = |[child, parent]: &[&str; 2]| states[place(child)] > states[place(parent)];
            broken += usize::from(ISA.iter().any(breaks));
        }
        Ok((right, broken))
    };
    let tested = THINGS - EXAMPLES;
    for (name, given) in [
        ("each label by itself, above ½", Some(&[][..])),
        ("the most probable world that keeps the hierarchy", None),
    ] {
        let (right, broken) = world(given)?;
        table.row([
            name.to_string(),
            format!("{right} of {tested}"),
            broken.to_string(),
        ]);
    }
    shown.tables.push(table);
    Ok(())
}
