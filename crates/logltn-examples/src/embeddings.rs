//! Embeddings of constants: a map of countries from their borders.

use logltn::Diagnostics;
use logltn_report::{ScatterPanel, write_scatter};

use crate::figure::{Figure, Of};
use crate::file::File;
use crate::presentation::{Shown, Table, degree};
use crate::sources::Sources;
use crate::trained_example::Learnt;
use crate::{Example, Made};

pub(crate) const EXAMPLE: Example = Example {
    name: "embeddings",
    about: "learnt vectors: a map of countries, from their borders",
    theory: include_str!("../projects/embeddings.ltn"),
    manifest: include_str!("../projects/embeddings.toml"),
    data,
    figures: &[Figure::new(Of::Metric("f1(near)"), None, None)],
    show,
};

const COUNTRIES: [&str; 20] = [
    "portugal",
    "spain",
    "france",
    "belgium",
    "netherlands",
    "luxembourg",
    "germany",
    "switzerland",
    "italy",
    "austria",
    "denmark",
    "poland",
    "czechia",
    "slovakia",
    "hungary",
    "slovenia",
    "croatia",
    "ukraine",
    "romania",
    "serbia",
];

/// A country and those of its neighbours that are behind it in the list.
const BORDERS: [(&str, &[&str]); 17] = [
    ("portugal", &["spain"]),
    ("spain", &["france"]),
    (
        "france",
        &["belgium", "luxembourg", "germany", "switzerland", "italy"],
    ),
    ("belgium", &["netherlands", "luxembourg", "germany"]),
    ("netherlands", &["germany"]),
    ("luxembourg", &["germany"]),
    (
        "germany",
        &["switzerland", "austria", "denmark", "poland", "czechia"],
    ),
    ("switzerland", &["italy", "austria"]),
    ("italy", &["austria", "slovenia"]),
    ("austria", &["czechia", "slovakia", "hungary", "slovenia"]),
    ("poland", &["czechia", "slovakia", "ukraine"]),
    ("czechia", &["slovakia"]),
    ("slovakia", &["hungary", "ukraine"]),
    (
        "hungary",
        &["slovenia", "croatia", "ukraine", "romania", "serbia"],
    ),
    ("slovenia", &["croatia"]),
    ("croatia", &["serbia"]),
    ("romania", &["ukraine", "serbia"]),
];

fn borders() -> impl Iterator<Item = [&'static str; 2]> {
    BORDERS
        .iter()
        .flat_map(|(x, ys)| ys.iter().map(|y| [*x, *y]))
}

fn data(_: &Sources) -> Result<Made, Diagnostics> {
    let known = COUNTRIES.iter().enumerate().flat_map(|(i, &x)| {
        let others = COUNTRIES[i + 1..].iter();
        others.map(move |&y| {
            let truth = borders().any(|pair| pair == [x, y] || pair == [y, x]);
            [x.to_string(), y.to_string(), u8::from(truth).to_string()]
        })
    });
    Ok(Made {
        what: "20 countries of Europe and their borders".to_string(),
        files: vec![
            File {
                name: "countries.txt",
                bytes: COUNTRIES
                    .map(|name| format!("{name}\n"))
                    .concat()
                    .into_bytes(),
            },
            File::csv("borders.csv", "x,y", borders()),
            File::csv("known.csv", "x,y,truth", known),
        ],
    })
}

fn show(learnt: &mut Learnt, shown: &mut Shown) -> Result<(), Diagnostics> {
    let points: Vec<(f64, f64)> = (learnt.tensor("embedding.Country").chunks_exact(2))
        .map(|xy| (xy[0], xy[1]))
        .collect();
    let utopia: Vec<(f64, f64)> = (learnt.tensor("constants.Country").chunks_exact(2))
        .map(|xy| (xy[0], xy[1]))
        .collect();
    let mut nearest: Vec<(f64, &str)> = Vec::new();
    if let [(a, b)] = utopia[..] {
        let distance = |&(x, y): &(f64, f64)| (x - a).hypot(y - b);
        nearest.extend(points.iter().map(distance).zip(COUNTRIES));
        nearest.sort_by(|one, other| one.0.total_cmp(&other.0));
    }
    let mut table = Table::new(
        "the countries next to utopia, which is on no map",
        ["", "distance"],
    );
    for (distance, name) in nearest.into_iter().take(4) {
        table.row([name.to_string(), degree(distance)]);
    }
    shown.tables.push(table);
    let count = points.len() + utopia.len();
    let names = COUNTRIES.iter().copied().chain(["utopia"]);
    let panel = ScatterPanel {
        points: points.into_iter().chain(utopia).collect(),
        class: vec![0; count],
        class_names: vec!["a country".to_string()],
        names: names.map(str::to_string).collect(),
        ..ScatterPanel::default()
    };
    let path = learnt.picture("map.svg")?;
    write_scatter(&[panel], 1, "A map, from borders alone", &path)?;
    shown.pictures.push(path);
    Ok(())
}
