//! Sets of things with labels in a hierarchy: Clus's ARFF files, or made up.

use std::path::Path;

use logltn::{Code, Diagnostic, Diagnostics, did_you_mean};
use logltn_data::Arff;
use logltn_learn::random::Random;
use rustc_hash::FxHashMap;

/// A set that figures are published of.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LabelledSet {
    /// What its files are called.
    pub name: &'static str,
    files: &'static [&'static str],
    /// How large the hidden layers are, as C-HMCNN has them.
    pub hidden: usize,
    /// AU(PRC), as C-HMCNN's authors report it.
    pub published: f64,
}

macro_rules! yeast {
    ($name:literal, $hidden:literal, $published:literal) => {
        LabelledSet {
            name: $name,
            files: &[
                concat!($name, ".train.arff.gz"),
                concat!($name, ".valid.arff.gz"),
                concat!($name, ".test.arff.gz"),
            ],
            hidden: $hidden,
            published: $published,
        }
    };
}

const SETS: [LabelledSet; 6] = [
    yeast!("cellcycle_FUN", 500, 0.255),
    yeast!("derisi_FUN", 500, 0.195),
    yeast!("eisen_FUN", 500, 0.306),
    yeast!("cellcycle_GO", 1_000, 0.413),
    yeast!("eisen_GO", 500, 0.455),
    LabelledSet {
        name: "ImCLEF07A",
        files: &["ImCLEF07A_Train.arff.gz", "ImCLEF07A_Test.arff.gz"],
        hidden: 1_000,
        published: 0.956,
    },
];

impl LabelledSet {
    /// The first of them.
    pub const USUAL: LabelledSet = SETS[0];

    /// The set of that name.
    ///
    /// # Errors
    /// If there is none, with those that there are.
    pub fn named(name: &str) -> Result<LabelledSet, String> {
        let found = SETS.into_iter().find(|set| set.name == name);
        found.ok_or_else(|| {
            let names = SETS.map(|set| set.name);
            let help = did_you_mean(name, names).map_or(String::new(), |help| help + " ");
            format!(
                "there is no set `{name}`. {help}There are {}",
                names.join(", ")
            )
        })
    }

    /// The files that it needs, in the folder `hmc` of the data.
    pub fn files(&self) -> &'static [&'static str] {
        self.files
    }

    /// Reads it. What is not for testing is for training.
    pub fn read(&self, folder: &Path) -> Result<Labelled, Diagnostics> {
        let mut parts = Vec::new();
        for file in self.files {
            let path = folder.join(file);
            parts.push((path.display().to_string(), Arff::read(&path)?));
        }
        Labelled::of(&parts)
    }
}

/// Some things, and what they are.
#[derive(Clone, Debug, Default)]
pub struct Things {
    /// Of each, as many as of the others.
    pub features: Vec<Vec<f64>>,
    /// Sorted; with a label all those above it are there.
    pub labels: Vec<Vec<u32>>,
}

/// A hierarchy, things to learn from, and things to test on.
#[derive(Clone, Debug)]
pub struct Labelled {
    pub labels: usize,
    /// Child and parent.
    pub isa: Vec<(u32, u32)>,
    /// What figures leave out: labels that every thing has, or nearly so.
    pub left_out: Vec<u32>,
    pub train: Things,
    pub test: Things,
}

/// The labels of an attribute `hierarchical …`.
struct Hierarchy {
    numbers: FxHashMap<String, u32>,
    isa: Vec<(u32, u32)>,
    roots: Vec<u32>,
}

impl Hierarchy {
    /// Trees are written by their paths (`1,1/2`), other hierarchies by their edges (`root/a,a/b`).
    fn of(text: &str) -> Hierarchy {
        const ROOT: &str = "root";
        let mut found = Hierarchy {
            numbers: FxHashMap::default(),
            isa: Vec::new(),
            roots: Vec::new(),
        };
        let by_edges = text.starts_with("root/");
        for item in text.split(',').map(str::trim) {
            if by_edges {
                let Some((parent, child)) = item.split_once('/') else {
                    continue;
                };
                let child = found.number(child);
                match parent {
                    ROOT => found.roots.push(child),
                    parent => {
                        let parent = found.number(parent);
                        found.isa.push((child, parent));
                    }
                }
                continue;
            }
            let mut above = None;
            for (end, _) in item.match_indices('/').chain([(item.len(), "")]) {
                let known = found.numbers.len();
                let label = found.number(&item[..end]);
                if let (Some(above), true) = (above, found.numbers.len() > known) {
                    found.isa.push((label, above));
                }
                above = Some(label);
            }
        }
        found.isa.sort_unstable();
        found.isa.dedup();
        found
    }

    fn number(&mut self, label: &str) -> u32 {
        let next = self.numbers.len() as u32;
        *self.numbers.entry(label.to_string()).or_insert(next)
    }
}

/// With all labels above them, sorted.
fn closed(labels: Vec<u32>, parents: &[Vec<u32>]) -> Vec<u32> {
    let mut found = Vec::new();
    let mut open = labels;
    while let Some(label) = open.pop() {
        if let Err(at) = found.binary_search(&label) {
            found.insert(at, label);
            open.extend(&parents[label as usize]);
        }
    }
    found
}

fn parents(labels: usize, isa: &[(u32, u32)]) -> Vec<Vec<u32>> {
    let mut parents = vec![Vec::new(); labels];
    for (child, parent) in isa {
        parents[*child as usize].push(*parent);
    }
    parents
}

impl Labelled {
    /// Of files and their names, the last of which is for testing.
    fn of(parts: &[(String, Arff)]) -> Result<Labelled, Diagnostics> {
        let wrong = |name: &str, what: &str| -> Diagnostics {
            Diagnostic::error(Code::MalformedCsv, format!("{name}: {what}")).into()
        };
        let (name, first) = &parts[0];
        let last = first.attributes.len().wrapping_sub(1);
        let hierarchy = (first.attributes.last())
            .and_then(|(_, kind)| kind.strip_prefix("hierarchical"))
            .ok_or_else(|| wrong(name, "the last attribute is not `hierarchical`"))?;
        let hierarchy = Hierarchy::of(hierarchy.trim());
        let labels = hierarchy.numbers.len();
        let parents = parents(labels, &hierarchy.isa);
        let mut all = Vec::new();
        for (name, part) in parts {
            if part.attributes.len() != last + 1 {
                return Err(wrong(name, "other attributes than in the first file"));
            }
            let mut columns = Vec::new();
            for (at, (_, kind)) in part.attributes[..last].iter().enumerate() {
                if kind.eq_ignore_ascii_case("numeric") {
                    columns.push(part.numbers(at, name)?);
                }
            }
            let mut own = Vec::with_capacity(part.rows.len());
            for (row, cells) in part.rows.iter().enumerate() {
                let mut said = Vec::new();
                for label in cells[last].split('@') {
                    let known = hierarchy.numbers.get(label.trim());
                    said.push(*known.ok_or_else(|| {
                        wrong(
                            name,
                            &format!(
                                "row {row} has the label `{label}`, which is not in the hierarchy"
                            ),
                        )
                    })?);
                }
                own.push(closed(said, &parents));
            }
            all.push((columns, own));
        }
        let (test_columns, test_labels) = all.pop().unwrap_or_default();
        let mut columns: Vec<Vec<Option<f64>>> = vec![Vec::new(); test_columns.len()];
        let mut train_labels = Vec::new();
        for (more, labels) in all {
            (columns.iter_mut().zip(more)).for_each(|(column, more)| column.extend(more));
            train_labels.extend(labels);
        }
        let scales: Vec<[f64; 2]> = columns.iter().map(|c| scale(c)).collect();
        let things = |columns: &[Vec<Option<f64>>], labels: Vec<Vec<u32>>| Things {
            features: (0..labels.len())
                .map(|row| {
                    let cells = columns.iter().zip(&scales);
                    cells.map(|(c, s)| scaled(c[row], *s)).collect()
                })
                .collect(),
            labels,
        };
        Ok(Labelled {
            labels,
            isa: hierarchy.isa,
            left_out: hierarchy.roots,
            train: things(&columns, train_labels),
            test: things(&test_columns, test_labels),
        })
    }

    /// Whether each label has one other above it at most. The law of another hierarchy has a circuit that is too large to learn
    /// with, if it has one, but its most probable world is a minimum cut.
    pub fn is_tree(&self) -> bool {
        let mut children: Vec<u32> = self.isa.iter().map(|(c, _)| *c).collect();
        children.sort_unstable();
        children.windows(2).all(|pair| pair[0] != pair[1])
    }

    /// A tree of labels, and things near the middles of some of its ends.
    pub fn made_up() -> Labelled {
        const LABELS: u32 = 60;
        const FEATURES: usize = 12;
        let mut random = Random::new(5, 1);
        let isa: Vec<(u32, u32)> = (3..LABELS).map(|child| (child, (child - 3) / 3)).collect();
        let parents = parents(LABELS as usize, &isa);
        let ends: Vec<u32> = (0..LABELS)
            .filter(|l| isa.iter().all(|(_, p)| p != l))
            .collect();
        let middles: Vec<Vec<f64>> = (ends.iter())
            .map(|_| (0..FEATURES).map(|_| 2.0 * random.normal()).collect())
            .collect();
        let mut things = |count: usize| {
            let mut found = Things::default();
            for _ in 0..count {
                let own: Vec<usize> = (0..1 + random.below(2))
                    .map(|_| random.below(ends.len()))
                    .collect();
                let middle = |at: usize| own.iter().map(|end| middles[*end][at]).sum::<f64>();
                let features =
                    (0..FEATURES).map(|at| middle(at) / own.len() as f64 + random.normal());
                found.features.push(features.collect());
                let labels = own.iter().map(|end| ends[*end]).collect();
                found.labels.push(closed(labels, &parents));
            }
            found
        };
        Labelled {
            labels: LABELS as usize,
            isa,
            left_out: Vec::new(),
            train: things(600),
            test: things(300),
        }
    }
}

/// Mean and standard deviation of what is there.
fn scale(column: &[Option<f64>]) -> [f64; 2] {
    let known: Vec<f64> = column.iter().flatten().copied().collect();
    let count = known.len().max(1) as f64;
    let mean = known.iter().sum::<f64>() / count;
    let square = known.iter().map(|x| (x - mean) * (x - mean)).sum::<f64>() / count;
    [mean, if square > 0.0 { square.sqrt() } else { 1.0 }]
}

/// What is missing is in the middle.
fn scaled(cell: Option<f64>, [mean, deviation]: [f64; 2]) -> f64 {
    cell.map_or(0.0, |x| (x - mean) / deviation)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_read_with_all_labels_above() {
        let tree = "@relation r\n@attribute x numeric\n@attribute class hierarchical 1,1/2,1/2/3,4\n@data\n1,1/2/3\n3,4@1/2\n?,4\n";
        let parts = [("a".to_string(), tree), ("b".to_string(), tree)];
        let parts = parts.map(|(name, text)| (name.clone(), Arff::parse(text, &name).unwrap()));
        let found = Labelled::of(&parts).unwrap();
        assert_eq!(found.isa, [(1, 0), (2, 1)]);
        assert_eq!(found.train.labels, [vec![0, 1, 2], vec![0, 1, 3], vec![3]]);
        assert_eq!(found.train.features, [[-1.0], [1.0], [0.0]]);
        assert!(found.left_out.is_empty());

        let graph = "@relation r\n@attribute x numeric\n@attribute class hierarchical root/a,a/b,a/c,b/d,c/d\n@data\n1,d\n";
        let parts = [
            ("a".to_string(), Arff::parse(graph, "a").unwrap()),
            ("b".to_string(), Arff::parse(graph, "b").unwrap()),
        ];
        let found = Labelled::of(&parts).unwrap();
        assert_eq!(
            (found.labels, found.isa.len(), found.left_out),
            (4, 4, vec![0])
        );
        assert_eq!(found.test.labels, [[0, 1, 2, 3]]);

        let strange = graph.replace("1,d", "1,e");
        let parts = [("a".to_string(), Arff::parse(&strange, "a").unwrap())];
        assert!(
            Labelled::of(&parts)
                .unwrap_err()
                .to_string()
                .contains("`e`")
        );
    }
}
