//! Classification with exactly one class per individual: species of iris.

use logltn::Diagnostics;
use logltn_learn::random::Random;
use logltn_standin::Normal;

use crate::figure::{Figure, Of};
use crate::file::File;
use crate::presentation::{Shown, Table};
use crate::sources::{Sources, rows};
use crate::standardise::scaled;
use crate::trained_example::Learnt;
use crate::{Example, Made};

pub(crate) const EXAMPLE: Example = Example {
    name: "iris",
    about: "several classes: species of iris",
    theory: include_str!("../projects/iris.ltn"),
    manifest: include_str!("../projects/iris.toml"),
    data,
    figures: &[Figure::new(
        Of::Metric("accuracy(P)"),
        Some(0.967),
        Some(0.933),
    )],
    show,
};

const SPECIES: [&str; 3] = ["setosa", "versicolor", "virginica"];
const HEADER: [&str; 5] = [
    "sepal_length",
    "sepal_width",
    "petal_length",
    "petal_width",
    "species",
];
/// The first are to learn from, the others to test.
const LABELLED: usize = 120;
/// Of each species in a stand-in.
const EACH: usize = 50;

/// Mean and covariance of each species' measures, in centimetres: no flower, only figures of fifty.
const FIGURES: [([f64; 4], [f64; 10]); 3] = [
    (
        [5.006, 3.418, 1.464, 0.244],
        [
            0.1242, 0.1003, 0.1452, 0.01614, 0.01168, 0.03011, 0.01055, 0.01144, 0.005698, 0.01149,
        ],
    ),
    (
        [5.936, 2.77, 4.26, 1.326],
        [
            0.2664, 0.08518, 0.09847, 0.1829, 0.08265, 0.2208, 0.05578, 0.0412, 0.0731, 0.03911,
        ],
    ),
    (
        [6.588, 2.974, 5.552, 2.026],
        [
            0.4043, 0.09376, 0.104, 0.3033, 0.07138, 0.3046, 0.04909, 0.04763, 0.04882, 0.07543,
        ],
    ),
];

fn data(sources: &Sources) -> Result<Made, Diagnostics> {
    let mut flowers: Vec<(Vec<f64>, usize)> = Vec::new();
    let files = ["iris_training.csv", "iris_test.csv"];
    let what = if let Some((texts, folder)) = sources.classics(files)? {
        for (name, text) in files.iter().zip(&texts) {
            for row in rows(text, &folder.join(name), &HEADER)? {
                let species = row.cells[4]
                    .parse()
                    .ok()
                    .filter(|&s: &usize| s < SPECIES.len());
                let species = species.ok_or_else(|| row.wrong("a species is 0, 1 or 2"))?;
                flowers.push((row.numbers(0..4)?, species));
            }
        }
        format!("the real data, from {}", folder.display())
    } else {
        let mut random = Random::new(0, 2);
        for (species, (mean, covariance)) in FIGURES.iter().enumerate() {
            let normal = Normal::new(mean, covariance);
            flowers.extend((0..EACH).map(|_| (normal.draw(&mut random), species)));
        }
        random.shuffle(&mut flowers);
        "a stand-in: 150 flowers drawn from the means and covariances of the real data".to_string()
    };
    let (measures, species): (Vec<_>, Vec<_>) = flowers.into_iter().unzip();
    let named = |i: usize| [i.to_string(), SPECIES[species[i]].to_string()];
    let flower = |(measures, &species): (Vec<f64>, &usize)| {
        let numbers = measures.iter().map(|x| format!("{x:.6}"));
        numbers
            .chain([SPECIES[species].to_string()])
            .collect::<Vec<_>>()
    };
    let flowers = scaled(&measures).into_iter().zip(&species).map(flower);
    Ok(Made {
        what,
        files: vec![
            File::csv("flowers.csv", &HEADER.join(","), flowers),
            File::csv("labelled.csv", "x,s", (0..LABELLED).map(named)),
            File::csv("test.csv", "x,s", (LABELLED..species.len()).map(named)),
        ],
    })
}

fn show(learnt: &mut Learnt, shown: &mut Shown) -> Result<(), Diagnostics> {
    let known = learnt.labels("Flower")?;
    let said = learnt.classes("P", known.len())?;
    let mut table = Table::new(
        "the test flowers: true and predicted species",
        ["", SPECIES[0], SPECIES[1], SPECIES[2]],
    );
    for species in SPECIES {
        let taken = |class: usize| {
            let these = (LABELLED..known.len()).filter(|&i| known[i] == species);
            these.filter(|&i| said[i] == class).count().to_string()
        };
        table.row([species.to_string(), taken(0), taken(1), taken(2)]);
    }
    shown.tables.push(table);
    Ok(())
}
