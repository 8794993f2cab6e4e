//! A graph: who there is, and which facts are told, kept for choosing, and asked for.

use std::path::{Path, PathBuf};

use crate::graph_model::{Facts, Triple};
use logltn::{Code, ColumnData, Data, Diagnostic, Diagnostics, Labels, Source, Theory};
use logltn_data::read_unpacked;
use rustc_hash::{FxHashMap, FxHashSet};

use crate::data_folders;
use crate::standin::{GraphFigures, standin_graph};

/// What a relation is called when it is walked backwards.
const BACKWARDS: &str = "~";

/// A graph: one that there are figures for, or any other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GraphName {
    /// The semantic network of the Unified Medical Language System.
    Umls,
    /// Kinship terms of the Alyawarra.
    Kinship,
    /// Families.
    Family,
    /// WordNet without its inverse relations.
    Wn18rr,
    /// Any other, by the name of its folder.
    Other(&'static str),
}

impl GraphName {
    /// All that there are figures for.
    pub const ALL: [GraphName; 4] = [
        GraphName::Umls,
        GraphName::Kinship,
        GraphName::Family,
        GraphName::Wn18rr,
    ];

    /// The graph with a name, which is that of a folder.
    pub fn named(name: &str) -> Result<GraphName, String> {
        let known = GraphName::ALL
            .into_iter()
            .find(|graph| graph.name() == name);
        let is_folder = !name.is_empty() && !name.starts_with('.') && !name.contains(['/', '\\']);
        match known {
            Some(graph) => Ok(graph),
            // Once for each command, and small.
            None if is_folder => Ok(GraphName::Other(Box::leak(Box::<str>::from(name)))),
            None => Err("expected the name of a folder".to_string()),
        }
    }

    /// As on the command line, and as its folder is called.
    pub fn name(self) -> &'static str {
        match self {
            GraphName::Umls => "umls",
            GraphName::Kinship => "kinship",
            GraphName::Family => "family",
            GraphName::Wn18rr => "wn18rr",
            GraphName::Other(name) => name,
        }
    }

    /// As in headings.
    pub fn title(self) -> &'static str {
        match self {
            GraphName::Umls => "UMLS",
            GraphName::Kinship => "Kinship",
            GraphName::Family => "Family",
            GraphName::Wn18rr => "WN18RR",
            GraphName::Other(name) => name,
        }
    }

    /// What a stand-in is made from, if it is known how large the graph is.
    fn figures(self) -> Option<GraphFigures> {
        let figures = |entities, relations, facts| GraphFigures {
            entities,
            relations,
            facts,
        };
        Some(match self {
            GraphName::Umls => figures(135, 46, [5_327, 569, 633]),
            GraphName::Kinship => figures(104, 25, [8_487, 1_099, 1_100]),
            GraphName::Family => figures(3_007, 12, [23_483, 2_038, 2_835]),
            GraphName::Wn18rr => figures(40_943, 11, [86_835, 3_034, 3_134]),
            GraphName::Other(_) => return None,
        })
    }

    /// Where the graph is, if it is there: `kg/NAME` of the data.
    pub fn place(self, data: Option<&Path>) -> Result<Option<PathBuf>, Diagnostic> {
        let folder = format!("kg/{}", self.name());
        // One is enough: that another is missing is said by whoever reads it, rather than a stand-in made.
        let is_graph = |folder: &Path| FILES.iter().any(|name| file(folder, name).is_file());
        data_folders::find_where(data, &folder, is_graph)
    }
}

const FILES: [&str; 3] = ["train.txt", "valid.txt", "test.txt"];

/// A file of a graph, which may be gzipped.
fn file(folder: &Path, name: &str) -> PathBuf {
    let [plain, packed] = [name.to_string(), format!("{name}.gz")].map(|name| folder.join(name));
    match !plain.exists() && packed.is_file() {
        true => packed,
        false => plain,
    }
}

/// A graph.
pub struct Graph {
    pub entities: Vec<String>,
    pub relations: Vec<String>,
    /// Told, each once.
    pub train: Vec<Triple>,
    pub valid: Vec<Triple>,
    pub test: Vec<Triple>,
}

/// Numbers for names, in the order in which they come.
#[derive(Default)]
struct Names {
    numbers: FxHashMap<String, u32>,
    names: Vec<String>,
}

impl Names {
    fn number(&mut self, name: &str) -> u32 {
        if let Some(&number) = self.numbers.get(name) {
            return number;
        }
        let number = self.names.len() as u32;
        self.numbers.insert(name.to_string(), number);
        self.names.push(name.to_string());
        number
    }
}

impl Graph {
    /// The files of a graph: `train.txt`, `valid.txt` and `test.txt`, a fact in each line, with tabs between head, relation
    /// and tail, gzipped (`train.txt.gz`) or not. Facts of a file `facts.txt` are told as well: Neural-LP keeps some of the training facts there.
    pub fn read(folder: &Path) -> Result<Graph, Diagnostics> {
        let (mut entities, mut relations) = (Names::default(), Names::default());
        let mut read = |name: &str| -> Result<Vec<Triple>, Diagnostics> {
            let path = file(folder, name);
            let bytes = read_unpacked(&path)?;
            let text = std::str::from_utf8(&bytes).map_err(|_| {
                let what = format!("{}: not UTF-8", path.display());
                Diagnostic::error(Code::NotUtf8, what)
            })?;
            let mut triples = Vec::new();
            for (at, line) in text.lines().enumerate() {
                let cells: Vec<&str> = line.split('\t').collect();
                let [head, relation, tail] = cells[..] else {
                    let what = format!(
                        "{}:{}: expected head, relation and tail with tabs between, found {} cells",
                        path.display(),
                        at + 1,
                        cells.len()
                    );
                    return Err(Diagnostic::error(Code::MalformedCsv, what).into());
                };
                let head = entities.number(head);
                triples.push([head, relations.number(relation), entities.number(tail)]);
            }
            if triples.is_empty() {
                let what = format!("{}: there are no facts in it", path.display());
                return Err(Diagnostic::error(Code::NotEnoughData, what).into());
            }
            Ok(triples)
        };
        let mut train = match file(folder, "facts.txt").is_file() {
            true => read("facts.txt")?,
            false => Vec::new(),
        };
        train.extend(read("train.txt")?);
        let (valid, test) = (read("valid.txt")?, read("test.txt")?);
        let mut seen = FxHashSet::default();
        train.retain(|triple| seen.insert(*triple));
        Ok(Graph {
            entities: entities.names,
            relations: relations.names,
            train,
            valid,
            test,
        })
    }

    /// A graph of the same size, made up: results on it say nothing about the real one.
    ///
    /// # Errors
    /// If it is not known how large the graph is.
    pub fn standin(name: GraphName) -> Result<Graph, Diagnostic> {
        let figures = name.figures().ok_or_else(|| {
            let what = format!("there is no graph `kg/{}` in the data", name.name());
            let help = "say with `--data DIR` where `kg/` is; it holds the graph's folder with train.txt, valid.txt and test.txt";
            Diagnostic::error(Code::FileNotFound, what).help(help)
        })?;
        let made = standin_graph(&figures, 0);
        Ok(Graph {
            entities: made.entities,
            relations: made.relations,
            train: made.train,
            valid: made.valid,
            test: made.test,
        })
    }

    /// The relations, and then each backwards.
    pub fn both_ways(&self) -> Vec<String> {
        let backwards = self.relations.iter().map(|r| format!("{r}{BACKWARDS}"));
        self.relations.iter().cloned().chain(backwards).collect()
    }

    /// The facts that are told.
    pub fn facts(&self) -> Facts<'_> {
        Facts {
            entities: self.entities.len(),
            relations: self.relations.len(),
            told: &self.train,
        }
    }

    /// The names by which a theory knows individuals.
    pub fn labels(&self) -> Labels {
        let mut labels = Labels::default();
        labels.insert("Entity", self.entities.clone());
        labels.insert("Relation", self.both_ways());
        labels
    }

    /// The columns of facts.
    pub fn columns(triples: &[Triple]) -> Vec<ColumnData> {
        let column = |at: usize| ColumnData::Individuals(triples.iter().map(|t| t[at]).collect());
        (0..3).map(column).collect()
    }

    /// The data of a theory of graphs.
    pub fn data(&self, theory: &str) -> Result<Data, Diagnostics> {
        let theory = Theory::parse_with(Source::new("graph.ltn", theory), &self.labels())?;
        let mut data = Data::new(&theory);
        data.set_size("Entity", self.entities.len())?;
        data.set_size("Relation", 2 * self.relations.len())?;
        data.set_rows("train", Graph::columns(&self.train))?;
        Ok(data)
    }
}
