//! The cases of `conformance/`: theories with the numbers that another program computed.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use logltn::theory::{ColumnSort, SortKind};
use logltn::{ColumnData, Data, Output, Parameters, Semantics, Source, Theory};
use serde_json::Value;

use crate::reference::{Case, Num};

/// One entry of `expected.json`.
pub struct Expected {
    pub semantics: Semantics,
    pub parameters: Parameters,
    /// `None`: must be refused.
    pub outcome: Option<Value>,
}

/// Every case, with its name.
pub fn cases() -> Vec<(String, Case, Vec<Expected>)> {
    let name = |path: &Path| path.file_name().unwrap().to_string_lossy().into_owned();
    (folders().iter())
        .map(|folder| (name(folder), read_case(folder), read_expected(folder)))
        .collect()
}

fn folders() -> Vec<PathBuf> {
    let all = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../conformance");
    let mut folders: Vec<PathBuf> = (fs::read_dir(&all).unwrap())
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.join("theory.ltn").is_file())
        .collect();
    folders.sort();
    // A test that found none would pass without having compared anything.
    assert!(folders.len() >= 30, "only {} cases", folders.len());
    folders
}

/// Section → key → value, of the little TOML that the cases use.
fn read_toml(path: &Path) -> BTreeMap<String, BTreeMap<String, String>> {
    let mut sections: BTreeMap<String, BTreeMap<String, String>> = BTreeMap::new();
    let mut section = String::new();
    for line in fs::read_to_string(path).unwrap().lines() {
        let line = line.trim();
        if let Some(name) = line.strip_prefix('[') {
            section = name.trim_end_matches(']').to_string();
        } else if let Some((key, value)) = line.split_once(" = ") {
            let value = value.trim_matches('"').to_string();
            let keys = sections.entry(section.clone()).or_default();
            keys.insert(key.to_string(), value);
        }
    }
    sections
}

/// The lines after the header, cell by cell.
fn read_csv(path: &Path) -> Vec<Vec<String>> {
    let text = fs::read_to_string(path).unwrap();
    let cells = |line: &str| line.split(',').map(str::to_string).collect();
    text.lines().skip(1).map(cells).collect()
}

fn numbers(rows: &[Vec<String>]) -> Vec<f64> {
    rows.iter()
        .flatten()
        .map(|cell| cell.parse().unwrap())
        .collect()
}

fn read_case(folder: &Path) -> Case {
    let toml = read_toml(&folder.join("case.toml"));
    let file = |section: &str, key: &str| toml.get(section)?.get(key).map(|f| folder.join(f));
    let text = fs::read_to_string(file("", "theory").unwrap()).unwrap();
    let theory = Theory::parse(Source::new("theory.ltn", text)).unwrap();
    let mut data = Data::new(&theory);
    for sort in &theory.sorts {
        if let Some(path) = file(&format!("sorts.{}", sort.name), "features") {
            let rows = read_csv(&path);
            data.set_features(&sort.name, rows[0].len(), numbers(&rows))
                .unwrap();
        }
    }
    for table in &theory.tables {
        let rows = read_csv(&file(&format!("tables.{}", table.name), "rows").unwrap());
        let column = |index: usize| {
            let integers = rows.iter().map(|row| row[index].parse::<i64>().unwrap());
            match table.columns[index].sort {
                ColumnSort::Int => ColumnData::Int(integers.collect()),
                ColumnSort::Real => {
                    ColumnData::Real(rows.iter().map(|row| row[index].parse().unwrap()).collect())
                }
                ColumnSort::Sort(sort) => {
                    let low = match theory[sort].kind {
                        SortKind::Range(low, _) => low,
                        _ => 0,
                    };
                    ColumnData::Individuals(integers.map(|n| (n - low) as u32).collect())
                }
            }
        };
        let columns = (0..table.columns.len()).map(column).collect();
        data.set_rows(&table.name, columns).unwrap();
    }
    let params: Vec<Num> = (theory.params.iter())
        .map(|param| match &toml["params"][&param.name] {
            text if text.contains(['.', 'e']) => Num::Real(text.parse().unwrap()),
            text => Num::Int(text.parse().unwrap()),
        })
        .collect();
    for (param, value) in theory.params.iter().zip(&params) {
        match *value {
            Num::Int(n) => data.set_param(&param.name, n).unwrap(),
            Num::Real(x) => data.set_param(&param.name, x).unwrap(),
        }
    }
    let (mut outputs, mut tables) = (Vec::new(), Vec::new());
    for predicate in &theory.predicates {
        let section = format!("predicates.{}", predicate.name);
        let found = ["logits", "truth", "log_truth"]
            .into_iter()
            .find_map(|key| Some((key, file(&section, key)?)));
        let (key, path) = found.unwrap();
        let output = match (key, toml[&section].get("output").map(String::as_str)) {
            ("truth", _) => Output::truth(),
            ("log_truth", _) => Output::log_truth(),
            (_, Some("softmax")) => Output::softmax(),
            (_, output) => {
                assert_eq!(output, Some("sigmoid"));
                Output::sigmoid()
            }
        };
        let rows = read_csv(&path);
        let several = rows.iter().any(|row| row.len() > 1);
        outputs.push(if several { output.per_class() } else { output });
        tables.push(numbers(&rows));
    }
    Case {
        theory,
        data,
        params,
        outputs,
        numbers: tables,
    }
}

fn read_expected(folder: &Path) -> Vec<Expected> {
    let text = fs::read_to_string(folder.join("expected.json")).unwrap();
    let entries: Vec<Value> = serde_json::from_str(&text).unwrap();
    assert!(!entries.is_empty());
    let expected = |entry: Value| {
        let default = Parameters::default();
        let number = |key: &str, default: f64| entry[key].as_f64().unwrap_or(default);
        Expected {
            semantics: Semantics::named(entry["name"].as_str().unwrap()).unwrap(),
            parameters: Parameters {
                alpha: number("alpha", default.alpha),
                p: number("p", default.p),
                p_forall: number("p_forall", default.p_forall),
            },
            outcome: (entry["error"] != Value::Bool(true)).then_some(entry),
        }
    };
    entries.into_iter().map(expected).collect()
}
