//! Horn rules: ancestors from parents.

use logltn::Diagnostics;
use logltn_report::{HeatMap, write_heat_map};

use crate::figure::{Figure, Of};
use crate::file::File;
use crate::presentation::{Shown, Table};
use crate::sources::Sources;
use crate::trained_example::Learnt;
use crate::{Example, Made};

pub(crate) const EXAMPLE: Example = Example {
    name: "ancestors",
    about: "what follows from rules: ancestors, from parents",
    theory: include_str!("../projects/ancestors.ltn"),
    manifest: include_str!("../projects/ancestors.toml"),
    data,
    figures: &[
        Figure::new(Of::Satisfaction, Some(0.936), None),
        Figure::new(Of::Metric("f1(ancestor)"), None, None),
    ],
    show,
};

const PEOPLE: [&str; 17] = [
    "sue", "diana", "john", "edna", "paul", "francis", "john2", "john3", "john4", "joe",
    "jennifer", "juliet", "janice", "joey", "tom", "bonnie", "katie",
];

/// Two parents, and their children.
const FAMILIES: [([&str; 2], &[&str]); 5] = [
    (["sue", "john"], &["diana", "bonnie", "tom"]),
    (["diana", "paul"], &["katie"]),
    (["edna", "john2"], &["sue", "john3"]),
    (["francis", "john4"], &["john", "janice"]),
    (["janice", "joe"], &["jennifer", "juliet", "joey"]),
];

fn parents() -> Vec<[&'static str; 2]> {
    let of = |(parents, children): &([&'static str; 2], &'static [&'static str])| {
        let pairs = parents.map(|p| children.iter().map(move |&c| [p, c]));
        pairs.into_iter().flatten()
    };
    FAMILIES.iter().flat_map(of).collect()
}

/// Whether x is an ancestor of y.
fn is_ancestor(x: &str, y: &str) -> bool {
    let of = parents().into_iter().filter(|[_, child]| *child == y);
    of.into_iter()
        .any(|[parent, _]| parent == x || is_ancestor(x, parent))
}

fn data(_: &Sources) -> Result<Made, Diagnostics> {
    let pairs = PEOPLE
        .iter()
        .flat_map(|x| PEOPLE.iter().map(move |y| (x, y)));
    let known = pairs.map(|(x, y)| {
        let truth = u8::from(is_ancestor(x, y));
        [x.to_string(), y.to_string(), truth.to_string()]
    });
    let names = PEOPLE.map(|name| format!("{name}\n")).concat();
    Ok(Made {
        what: "17 people, those of LTN's example".to_string(),
        files: vec![
            File {
                name: "people.txt",
                bytes: names.into_bytes(),
            },
            File::csv("parents.csv", "x,y", parents()),
            File::csv("ancestors.csv", "x,y,truth", known),
        ],
    })
}

fn show(learnt: &mut Learnt, shown: &mut Shown) -> Result<(), Diagnostics> {
    let names = learnt.names("Person");
    let everybody = 0..names.len() as u32;
    let pairs: Vec<u32> = (everybody.clone())
        .flat_map(|x| everybody.clone().flat_map(move |y| [x, y]))
        .collect();
    let truths = learnt.truths("ancestor", &pairs)?;
    let title = "ancestors found (+ wrong, - missing)";
    let mut table = Table::new(title, ["of", "ancestors"]);
    for (j, of) in names.iter().enumerate() {
        let one = |(i, name): (usize, &String)| match (
            truths[i * names.len() + j] > 0.5,
            is_ancestor(name, of),
        ) {
            (true, true) => Some(name.clone()),
            (true, false) => Some(format!("+{name}")),
            (false, true) => Some(format!("-{name}")),
            (false, false) => None,
        };
        let found: Vec<String> = names.iter().enumerate().filter_map(one).collect();
        if !found.is_empty() {
            table.row([of.clone(), found.join(" ")]);
        }
    }
    shown.tables.push(table);
    let really: Vec<bool> = (names.iter())
        .flat_map(|x| names.iter().map(move |y| is_ancestor(x, y)))
        .collect();
    let wrong = truths.iter().zip(&really).map(|(t, is)| (*t > 0.5) != *is);
    let outlined = wrong.collect();
    let table = |title: &str, truths: Vec<f64>, outlined: Vec<bool>| HeatMap {
        title: title.to_string(),
        rows: names.clone(),
        columns: names.clone(),
        truths,
        outlined,
    };
    let as_it_is = really.iter().map(|&is| f64::from(u8::from(is))).collect();
    let path = learnt.picture("ancestors.svg")?;
    write_heat_map(
        &[
            table("as it was learnt", truths, outlined),
            table("as it is", as_it_is, Vec::new()),
        ],
        "Ancestors, learnt from parents",
        "A row: the descendants of one person. Darker is more true. Outlined: wrong.",
        &path,
    )?;
    shown.pictures.push(path);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ancestors_are_the_parents_and_theirs() {
        assert!(is_ancestor("edna", "katie") && is_ancestor("edna", "sue"));
        assert!(!is_ancestor("katie", "edna") && !is_ancestor("paul", "tom"));
        assert_eq!(parents().len(), 22);
    }
}
