//! Several labels for each individual: the colour and the sex of crabs.

use logltn::Diagnostics;
use logltn_learn::random::Random;
use logltn_report::{ScatterPanel, pca_2d, write_scatter};
use logltn_standin::Normal;

use crate::figure::{Figure, Of};
use crate::file::File;
use crate::presentation::{Shown, Table};
use crate::sources::{Sources, rows};
use crate::standardise::scaled;
use crate::trained_example::Learnt;
use crate::{Example, Made};

pub(crate) const EXAMPLE: Example = Example {
    name: "crabs",
    about: "several labels each: colour and sex of crabs, with rules that exclude pairs",
    theory: include_str!("../projects/crabs.ltn"),
    manifest: include_str!("../projects/crabs.toml"),
    data,
    figures: &[
        Figure::new(Of::Metric("1 - Hamming loss"), Some(0.969), Some(0.938)),
        Figure::new(Of::Axiom("blue_is_not_orange"), Some(0.836), Some(0.868)),
        Figure::new(Of::Axiom("blue_is_orange"), Some(0.185), Some(0.137)),
        Figure::new(Of::Axiom("blue_is_male"), Some(0.293), Some(0.247)),
    ],
    show,
};

const LABELS: [&str; 4] = ["blue", "orange", "male", "female"];
const HEADER: [&str; 8] = ["sp", "sex", "index", "FL", "RW", "CL", "CW", "BD"];
const EACH: usize = 50;

/// Mean and covariance of five measures, in millimetres, of blue males, blue females, orange males, orange females.
const FIGURES: [([f64; 5], [f64; 15]); 4] = [
    (
        [14.842, 11.718, 32.014, 36.81, 13.35],
        [
            10.256, 6.54311, 4.45906, 23.2955, 15.0789, 53.4167, 26.6118, 17.2604, 60.9823,
            69.7809, 10.1705, 6.54806, 23.2389, 26.5889, 10.2393,
        ],
    ),
    (
        [13.27, 12.138, 28.102, 32.624, 11.816],
        [
            6.90541, 6.27892, 5.9473, 15.4733, 14.2532, 35.0422, 17.7981, 16.3893, 40.2104,
            46.2908, 7.10294, 6.5553, 16.1379, 18.529, 7.57607,
        ],
    ),
    (
        [16.626, 12.262, 33.688, 37.188, 15.324],
        [
            12.355, 7.59815, 4.82077, 26.6189, 16.5342, 57.9305, 29.3146, 18.2342, 63.7723,
            70.3484, 12.3245, 7.64705, 26.7634, 29.4883, 12.441,
        ],
    ),
    (
        [17.594, 14.836, 34.618, 39.036, 15.632],
        [
            8.84466, 6.72553, 5.515, 17.1719, 13.3971, 34.0725, 19.2543, 15.0458, 38.0765, 42.8007,
            8.01203, 6.21168, 15.9082, 17.7631, 7.57691,
        ],
    ),
];

/// A crab: its measures, whether it is orange, whether it is female.
type Crab = (Vec<f64>, [bool; 2]);

/// Every fifth crab tests what was learnt.
fn is_test(crab: usize) -> bool {
    crab % 5 == 4
}

fn labels([orange, female]: [bool; 2]) -> [bool; 4] {
    [!orange, orange, !female, female]
}

fn data(sources: &Sources) -> Result<Made, Diagnostics> {
    let mut crabs: Vec<Crab> = Vec::new();
    let what = if let Some(([text], folder)) = sources.classics(["crabs.dat"])? {
        for row in rows(&text, &folder.join("crabs.dat"), &HEADER)? {
            let one_of = |cell: usize, [no, yes]: [&str; 2]| match row.cells[cell] {
                found if found == no => Ok(false),
                found if found == yes => Ok(true),
                found => Err(row.wrong(&format!("`{found}` is neither `{no}` nor `{yes}`"))),
            };
            crabs.push((
                row.numbers(3..8)?,
                [one_of(0, ["B", "O"])?, one_of(1, ["M", "F"])?],
            ));
        }
        format!("the real data, from {}", folder.display())
    } else {
        let mut random = Random::new(0, 3);
        for (kind, (mean, covariance)) in FIGURES.iter().enumerate() {
            let normal = Normal::new(mean, covariance);
            crabs.extend((0..EACH).map(|_| (normal.draw(&mut random), [kind >= 2, kind % 2 == 1])));
        }
        "a stand-in: 200 crabs drawn from the means and covariances of the real data".to_string()
    };
    let (measures, kinds): (Vec<_>, Vec<_>) = crabs.into_iter().unzip();
    let of = |i: usize| LABELS.into_iter().zip(labels(kinds[i]));
    let these = |test: bool| (0..kinds.len()).filter(move |&i| is_test(i) == test);
    let labelled = these(false).flat_map(|i| {
        let its = of(i).filter(|(_, truth)| *truth);
        its.map(move |(label, _)| [i.to_string(), label.to_string()])
    });
    let test = these(true).flat_map(|i| {
        of(i).map(move |(l, truth)| [i.to_string(), l.to_string(), u8::from(truth).to_string()])
    });
    Ok(Made {
        what,
        files: vec![
            File::numbers("crabs.csv", &HEADER[3..].join(","), &scaled(&measures)),
            File::csv("labelled.csv", "x,l", labelled),
            File::csv("seen.csv", "x", these(false).map(|i| [i])),
            File::csv("test.csv", "x,l,truth", test),
        ],
    })
}

fn show(learnt: &mut Learnt, shown: &mut Shown) -> Result<(), Diagnostics> {
    let features = learnt.features("Crab")?;
    let individuals: Vec<u32> = (0..features.len() as u32).collect();
    let truths = learnt.truths("P", &individuals)?;
    let said = |crab: usize| -> Vec<bool> {
        truths[crab * LABELS.len()..][..LABELS.len()]
            .iter()
            .map(|&t| t > 0.5)
            .collect()
    };
    let mut table = Table::new(
        "how many labels each crab was given",
        ["colours", "sexes", "crabs"],
    );
    for colours in 0..=2 {
        for sexes in 0..=2 {
            let count = |labels: &[bool]| labels.iter().filter(|&&l| l).count();
            let is_so = |&crab: &usize| {
                let said = said(crab);
                [count(&said[..2]), count(&said[2..])] == [colours, sexes]
            };
            let crabs = (0..features.len()).filter(is_so).count();
            if crabs > 0 {
                table.row([colours, sexes, crabs].map(|n| n.to_string()));
            }
        }
    }
    shown.tables.push(table);
    let width = features.first().map_or(0, Vec::len);
    let points = pca_2d(&features.concat(), width)?;
    let panel = |title: &str, first: usize| ScatterPanel {
        title: title.to_string(),
        points: points.clone(),
        class: (0..features.len())
            .map(|crab| match said(crab)[first..][..2] {
                [true, false] => 0,
                [false, true] => 1,
                _ => 2,
            })
            .collect(),
        class_names: [LABELS[first], LABELS[first + 1], "both or neither"]
            .map(str::to_string)
            .to_vec(),
        ..ScatterPanel::default()
    };
    let path = learnt.picture("crabs.svg")?;
    let title = "Crabs in two principal components, as they were labelled";
    write_scatter(&[panel("colour", 0), panel("sex", 2)], 2, title, &path)?;
    shown.pictures.push(path);
    Ok(())
}
