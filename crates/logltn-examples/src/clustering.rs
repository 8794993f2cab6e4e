//! Clustering: points without labels.

use logltn::Diagnostics;
use logltn_learn::random::Random;

use crate::figure::{Figure, Of};
use crate::file::File;
use crate::presentation::{Shown, Table};
use crate::sources::Sources;
use crate::trained_example::Learnt;
use crate::{Example, Made};

pub(crate) const EXAMPLE: Example = Example {
    name: "clustering",
    about: "no labels at all: points sorted into clusters by axioms about clusters",
    theory: include_str!("../projects/clustering.ltn"),
    manifest: include_str!("../projects/clustering.toml"),
    data,
    figures: &[
        Figure::new(Of::Satisfaction, Some(0.854), Some(0.854)),
        Figure::new(Of::Metric("adjusted_rand_index(C)"), None, None),
    ],
    show,
};

const CLUSTERS: usize = 4;
const EACH: usize = 50;

fn data(_: &Sources) -> Result<Made, Diagnostics> {
    let mut random = Random::new(0, 4);
    let mut points = Vec::new();
    for corner in [[-1.0, -1.0], [0.0, -1.0], [-1.0, 0.0], [0.0, 0.0]] {
        // A middle somewhere in each quarter of the square from -1 to 1, not too near its edges.
        let middle = corner.map(|low: f64| low + 0.2 + 0.6 * random.uniform());
        let mut near = |_| middle.map(|m| m + 0.1 * random.normal()).to_vec();
        points.extend((0..EACH).map(&mut near));
    }
    Ok(Made {
        what: "200 random points, as LTN's example draws them".to_string(),
        files: vec![
            File::numbers("points.csv", "a,b", &points),
            File::csv(
                "middles.csv",
                "middle",
                (0..points.len()).map(|i| [i / EACH]),
            ),
        ],
    })
}

fn show(learnt: &mut Learnt, shown: &mut Shown) -> Result<(), Diagnostics> {
    let middles = learnt.labels("Point")?;
    let said = learnt.classes("C", middles.len())?;
    let mut table = Table::new(
        "how many points of each centre are in each cluster",
        ["middle", "cluster 0", "cluster 1", "cluster 2", "cluster 3"],
    );
    for middle in 0..CLUSTERS {
        let count = |cluster: usize| {
            let these = middles
                .iter()
                .zip(&said)
                .filter(|(m, _)| **m == middle.to_string());
            these.filter(|(_, c)| **c == cluster).count().to_string()
        };
        table.row([middle.to_string(), count(0), count(1), count(2), count(3)]);
    }
    shown.tables.push(table);
    Ok(())
}
