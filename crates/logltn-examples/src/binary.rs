//! Binary classification: which points of a square are near its middle.

use logltn::Diagnostics;
use logltn_learn::random::Random;
use logltn_report::{ScatterPanel, write_scatter};

use crate::figure::{Figure, Of};
use crate::file::File;
use crate::presentation::Shown;
use crate::sources::Sources;
use crate::trained_example::Learnt;
use crate::{Example, Made};

pub(crate) const EXAMPLE: Example = Example {
    name: "binary",
    about: "two classes: which points of a square are A",
    theory: include_str!("../projects/binary.ltn"),
    manifest: include_str!("../projects/binary.toml"),
    data,
    figures: &[Figure::new(Of::Metric("accuracy(A)"), Some(0.90), None)],
    show,
};

const POINTS: usize = 100;
/// The others test what was learnt.
const EXAMPLES: usize = 50;

fn is_a(point: &[f64]) -> bool {
    (point[0] - 0.5).powi(2) + (point[1] - 0.5).powi(2) < 0.09
}

fn data(_: &Sources) -> Result<Made, Diagnostics> {
    let mut random = Random::new(2, 1);
    let points: Vec<Vec<f64>> = (0..POINTS)
        .map(|_| vec![random.uniform(), random.uniform()])
        .collect();
    let examples = |a: bool| -> Vec<[usize; 1]> {
        let these = (0..EXAMPLES).filter(|&i| is_a(&points[i]) == a);
        these.map(|i| [i]).collect()
    };
    let test = (EXAMPLES..POINTS).map(|i| [i, usize::from(is_a(&points[i]))]);
    Ok(Made {
        what: "100 random points, as LTN's example draws them".to_string(),
        files: vec![
            File::csv("inside.csv", "x", examples(true)),
            File::csv("outside.csv", "x", examples(false)),
            File::csv("test.csv", "x,truth", test),
            File::numbers("points.csv", "a,b", &points),
        ],
    })
}

fn show(learnt: &mut Learnt, shown: &mut Shown) -> Result<(), Diagnostics> {
    let points = learnt.features("Point")?;
    let individuals: Vec<u32> = (0..points.len() as u32).collect();
    let truths = learnt.truths("A", &individuals)?;
    let panel = |title: &str, is_a: &dyn Fn(usize) -> bool| ScatterPanel {
        title: title.to_string(),
        points: points.iter().map(|p| (p[0], p[1])).collect(),
        class: (0..points.len()).map(|i| usize::from(!is_a(i))).collect(),
        class_names: vec!["A".to_string(), "not A".to_string()],
        ..ScatterPanel::default()
    };
    let panels = [
        panel("what is true", &|i| is_a(&points[i])),
        panel("what was learnt", &|i| truths[i] > 0.5),
    ];
    let path = learnt.picture("A.svg")?;
    write_scatter(&panels, 2, "100 points, half of them examples", &path)?;
    shown.pictures.push(path);
    Ok(())
}
