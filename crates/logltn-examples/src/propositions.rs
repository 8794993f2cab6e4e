//! Propositions that are learnt.

use logltn::Diagnostics;
use logltn_report::{HeatMap, write_heat_map};

use crate::figure::{Figure, Of};
use crate::file::File;
use crate::presentation::{Shown, Table, degree};
use crate::sources::Sources;
use crate::trained_example::Learnt;
use crate::{Example, Made};

pub(crate) const EXAMPLE: Example = Example {
    name: "propositions",
    about: "learnt truths: three propositions",
    theory: include_str!("../projects/propositions.ltn"),
    manifest: include_str!("../projects/propositions.toml"),
    data,
    figures: &[
        Figure::new(Of::Satisfaction, Some(0.956), None),
        Figure::new(Of::Axiom("contrary"), None, None),
    ],
    show,
};

fn data(_: &Sources) -> Result<Made, Diagnostics> {
    let points = [[1, 2], [3, 4], [5, 6]];
    Ok(Made {
        what: "three points, those of LTN's example".to_string(),
        files: vec![
            File::csv("points.csv", "u,v", points),
            File::csv("d.csv", "d", [[0.3]]),
            File::csv("e.csv", "e", [[0.9]]),
        ],
    })
}

fn show(learnt: &mut Learnt, shown: &mut Shown) -> Result<(), Diagnostics> {
    let mut table = Table::new(
        "what was learnt (d and e are given)",
        ["", "at first", "truth"],
    );
    let (mut names, mut truths) = (Vec::new(), Vec::new());
    let points: Vec<u32> = (0..learnt.names("Point").len() as u32).collect();
    for name in ["a", "b", "c", "d", "e", "P"] {
        let rows = if name == "P" { &points[..] } else { &[] };
        let (first, now) = (
            learnt.truths_at_first(name, rows)?,
            learnt.truths(name, rows)?,
        );
        for (i, (first, now)) in first.into_iter().zip(now).enumerate() {
            let name = match rows.get(i) {
                Some(point) => format!("{name}({point})"),
                None => name.to_string(),
            };
            table.row([name.clone(), degree(first), degree(now)]);
            names.push(name);
            truths.extend([first, now]);
        }
    }
    shown.tables.push(table);
    let outlined = names
        .iter()
        .flat_map(|name| [matches!(&**name, "d" | "e"); 2]);
    let picture = HeatMap {
        title: String::new(),
        columns: ["at first", "learnt"].map(str::to_string).to_vec(),
        outlined: outlined.collect(),
        rows: names,
        truths,
    };
    let path = learnt.picture("truths.svg")?;
    let note = "Darker is more true. Outlined: given, not learnt.";
    write_heat_map(
        &[picture],
        "Propositions before and after training",
        note,
        &path,
    )?;
    shown.pictures.push(path);
    Ok(())
}
