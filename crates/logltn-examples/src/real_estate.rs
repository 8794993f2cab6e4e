//! Regression: the price of a house.

use logltn::Diagnostics;
use logltn_learn::random::Random;
use logltn_report::{ScatterPanel, write_scatter};
use logltn_standin::Normal;

use crate::figure::{Figure, Of};
use crate::file::File;
use crate::presentation::Shown;
use crate::sources::{Sources, rows};
use crate::standardise::scaled;
use crate::trained_example::Learnt;
use crate::{Example, Made};

pub(crate) const EXAMPLE: Example = Example {
    name: "real-estate",
    about: "a learnt function: the price of a house (regression)",
    theory: include_str!("../projects/real-estate.ltn"),
    manifest: include_str!("../projects/real-estate.toml"),
    data,
    figures: &[Figure::new(Of::Metric("rmse(f)"), Some(987.8), Some(7.70))],
    show,
};

const HEADER: [&str; 8] = [
    "No",
    "X1 transaction date",
    "X2 house age",
    "X3 distance to the nearest MRT station",
    "X4 number of convenience stores",
    "X5 latitude",
    "X6 longitude",
    "Y house price of unit area",
];
const HOUSES: usize = 414;

/// Mean and covariance of the six columns and the price.
const MEAN: [f64; 7] = [
    2013.149, 17.71256, 1083.886, 4.094203, 24.96903, 121.5334, 37.98019,
];
const COVARIANCE: [f64; 28] = [
    0.07950552,
    0.05637204,
    129.7887,
    21.66557,
    368.4082,
    1592921.0,
    0.008002737,
    1.664189,
    -2239.938,
    8.676334,
    0.0001226765,
    0.007694048,
    -9.257892,
    0.01623566,
    0.000154013,
    -0.0001777774,
    -0.00848337,
    -15.61822,
    0.020302,
    7.864614e-05,
    0.000235536,
    0.335665,
    -32.64036,
    -11567.87,
    22.88516,
    0.0922489,
    0.1092733,
    185.1365,
];

/// Every fifth house tests what was learnt.
fn is_test(house: usize) -> bool {
    house % 5 == 4
}

fn data(sources: &Sources) -> Result<Made, Diagnostics> {
    let mut houses: Vec<Vec<f64>> = Vec::new();
    let what = if let Some(([text], folder)) = sources.classics(["real-estate.csv"])? {
        for row in rows(&text, &folder.join("real-estate.csv"), &HEADER)? {
            houses.push(row.numbers(1..8)?);
        }
        format!("the real data, from {}", folder.display())
    } else {
        let mut random = Random::new(0, 6);
        let normal = Normal::new(&MEAN, &COVARIANCE);
        houses.extend((0..HOUSES).map(|_| normal.draw(&mut random)));
        "a stand-in: 414 houses drawn from the means and covariances of the real data".to_string()
    };
    let prices: Vec<f64> = houses.iter_mut().filter_map(Vec::pop).collect();
    let these = |test: bool| {
        let rows = (0..prices.len()).filter(move |&i| is_test(i) == test);
        rows.map(|i| [i.to_string(), format!("{:.6}", prices[i])])
    };
    Ok(Made {
        what,
        files: vec![
            File::numbers(
                "houses.csv",
                "date,age,station,shops,latitude,longitude",
                &scaled(&houses),
            ),
            File::csv("prices.csv", "x,y", these(false)),
            File::csv("test.csv", "x,value", these(true)),
        ],
    })
}

fn show(learnt: &mut Learnt, shown: &mut Shown) -> Result<(), Diagnostics> {
    let known = learnt.column("test.csv", 1)?;
    let houses: Vec<u32> = learnt
        .column("test.csv", 0)?
        .into_iter()
        .map(|x| x as u32)
        .collect();
    let said = learnt.values("f", &houses)?;
    let panel = ScatterPanel {
        points: known.into_iter().zip(said).collect(),
        class: vec![0; houses.len()],
        class_names: vec!["house not used in training".to_string()],
        x_label: "price paid".to_string(),
        y_label: "price predicted".to_string(),
        ..ScatterPanel::default()
    };
    let path = learnt.picture("prices.svg")?;
    write_scatter(&[panel], 1, "Prices of houses, per unit of area", &path)?;
    shown.pictures.push(path);
    Ok(())
}
