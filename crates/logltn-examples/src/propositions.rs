//! Propositions that are learnt.

use logltn::Diagnostics;

use crate::figure::{Figure, Of};
use crate::file::File;
use crate::learnt::Learnt;
use crate::shown::{Shown, Table, degree};
use crate::sources::Sources;
use crate::{Example, Made};

pub(crate) const EXAMPLE: Example = Example {
    name: "propositions",
    about: "truths of nothing in particular: three propositions that are learnt",
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
    let mut table = Table::new("what was learnt", ["", "at first", "truth"]);
    for (name, first) in [("a", 0.2), ("b", 0.5), ("c", 0.5)] {
        let now = learnt.truths(name, &[])?;
        table.row([name.to_string(), degree(first), degree(now[0])]);
    }
    shown.tables.push(table);
    Ok(())
}
