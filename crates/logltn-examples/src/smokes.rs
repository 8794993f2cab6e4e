//! Facts and rules that contradict each other: who smokes, who is whose friend, who has cancer.

use logltn::Diagnostics;
use logltn_report::{HeatMap, write_heat_map};

use crate::figure::{Figure, Of};
use crate::file::File;
use crate::presentation::{Shown, Table, degree};
use crate::sources::Sources;
use crate::trained_example::Learnt;
use crate::{Example, Made};

pub(crate) const EXAMPLE: Example = Example {
    name: "smokes",
    about: "facts and rules that contradict each other: friends, smoking and cancer",
    theory: include_str!("../projects/smokes.ltn"),
    manifest: include_str!("../projects/smokes.toml"),
    data,
    figures: &[
        Figure::new(Of::Satisfaction, Some(0.857), Some(0.854)),
        Figure::new(Of::Axiom("only_smokers"), None, Some(0.934)),
        Figure::new(Of::Axiom("ill_friends"), None, Some(0.222)),
    ],
    show,
};

/// Members of a group know each other, and nothing is known across groups.
const GROUPS: [&str; 2] = ["abcdefgh", "ijklmn"];
const FRIENDS: [&str; 12] = [
    "ab", "ae", "af", "ag", "bc", "cd", "ef", "gh", "ij", "jm", "kl", "mn",
];
const SMOKERS: &str = "aefgjn";
const ILL: &str = "ae";

fn people() -> impl Iterator<Item = char> + Clone {
    GROUPS.iter().flat_map(|group| group.chars())
}

fn data(_: &Sources) -> Result<Made, Diagnostics> {
    let pair = |pair: &str| pair.chars().collect::<Vec<_>>();
    let strangers = GROUPS.iter().flat_map(|group| {
        let pairs = group
            .chars()
            .flat_map(|x| group.chars().map(move |y| (x, y)));
        pairs.filter(|(x, y)| x < y && !FRIENDS.contains(&&*format!("{x}{y}")))
    });
    let who =
        |name, these: &mut dyn Iterator<Item = char>| File::csv(name, "x", these.map(|x| [x]));
    Ok(Made {
        what: "14 people, those of LTN's example".to_string(),
        files: vec![
            File::csv("friends.csv", "x,y", FRIENDS.iter().map(|p| pair(p))),
            File::csv("strangers.csv", "x,y", strangers.map(|(x, y)| [x, y])),
            who("smokers.csv", &mut SMOKERS.chars()),
            who(
                "non_smokers.csv",
                &mut people().filter(|&x| !SMOKERS.contains(x)),
            ),
            who("ill.csv", &mut ILL.chars()),
            // For the second group this is unknown.
            who(
                "well.csv",
                &mut GROUPS[0].chars().filter(|&x| !ILL.contains(x)),
            ),
        ],
    })
}

fn show(learnt: &mut Learnt, shown: &mut Shown) -> Result<(), Diagnostics> {
    let names = learnt.names("Person");
    let everybody: Vec<u32> = (0..names.len() as u32).collect();
    let pairs: Vec<u32> = (everybody.iter())
        .flat_map(|&x| everybody.iter().flat_map(move |&y| [x, y]))
        .collect();
    let smokes = learnt.truths("smokes", &everybody)?;
    let cancer = learnt.truths("cancer", &everybody)?;
    let friend = learnt.truths("friend", &pairs)?;
    let mut table = Table::new(
        "what was learnt (* a given fact; cancer is not given for i to n)",
        ["", "smokes", "cancer", "friends"],
    );
    for (i, name) in names.iter().enumerate() {
        let of = &friend[i * names.len()..][..names.len()];
        let friends = names.iter().zip(of).filter(|(_, truth)| **truth > 0.5);
        let friends: Vec<String> = friends.map(|(y, _)| y.clone()).collect();
        let star = |given: bool| if given { "*" } else { " " };
        table.row([
            name.clone(),
            degree(smokes[i]) + star(SMOKERS.contains(name)),
            degree(cancer[i]) + star(ILL.contains(name)),
            friends.join(" "),
        ]);
    }
    shown.tables.push(table);
    let of = |title: &str, columns: Vec<String>, truths: Vec<f64>, outlined: Vec<bool>| HeatMap {
        title: title.to_string(),
        rows: names.clone(),
        columns,
        truths,
        outlined,
    };
    let pairs = names
        .iter()
        .flat_map(|x| names.iter().map(move |y| x.clone() + y));
    let known = pairs.map(|pair| FRIENDS.contains(&pair.as_str()));
    let friends = of("friends", names.clone(), friend, known.collect());
    let columns = ["smokes", "cancer"].map(str::to_string).to_vec();
    let both = smokes.iter().zip(&cancer).flat_map(|(x, y)| [*x, *y]);
    let known = names
        .iter()
        .flat_map(|x| [SMOKERS.contains(x), ILL.contains(x)]);
    let people = of("", columns, both.collect(), known.collect());
    let path = learnt.picture("people.svg")?;
    let title = "Friends, smoking and cancer";
    let note = "Darker is more true. Outlined: a given fact.\n\
                Not given: friendships between a to h and i to n, and cancer of i to n.";
    write_heat_map(&[friends, people], title, note, &path)?;
    shown.pictures.push(path);
    Ok(())
}
