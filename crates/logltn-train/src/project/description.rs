//! The groundings of a project's symbols in words, and whether weights were learnt for these groundings.

use std::collections::BTreeMap;
use std::io;
use std::path::Path;
use std::sync::Arc;

use logltn::theory::SortId;
use logltn::{Code, Diagnostic, Diagnostics};
use logltn_data::{CsvFile, first_line, is_table};
use logltn_learn::same_model;

use super::Project;
use super::features::Chosen;
use super::sorts::Prepared;
use crate::run_directory::RunDirectory;

/// The key of a description that holds how the columns of a sort are prepared.
const PREPARED: &str = "prepared";

/// How the columns of sorts were prepared for the run in this folder. Errors in the run are reported elsewhere.
pub(super) fn prepared_by(run: &Path) -> Prepared {
    let model = RunDirectory::open(run)
        .and_then(|run| run.info())
        .map(|info| info.model);
    let mut prepared = Prepared::new();
    for (key, text) in model.unwrap_or_default() {
        let sort = key
            .strip_prefix("sorts.")
            .and_then(|key| key.strip_suffix(PREPARED));
        if let Some(sort) = sort.and_then(|sort| sort.strip_suffix('.'))
            && let Ok(found) = serde_json::from_str(&text)
        {
            prepared.insert(sort.to_string(), Arc::new(found));
        }
    }
    prepared
}

impl Project {
    /// [In words](logltn_learn::KnowledgeBase::description), with the columns that features are made of.
    ///
    /// # Errors
    /// If a file of features can no longer be read: without the names, changed columns would go unnoticed.
    pub fn description(&self) -> Result<BTreeMap<String, String>, Diagnostics> {
        let mut out = self.sketch().description();
        for (i, sort) in self.theory().sorts.iter().enumerate() {
            let Some(file) = self.feature_file(SortId(i as u32)) else {
                continue;
            };
            let unreadable = |error: io::Error| {
                let what = format!("{}: the file cannot be read: {error}", file.path.display());
                Diagnostic::error(Code::FileUnreadable, what)
            };
            if let Some(columns) = columns(&file.path, &file.chosen).map_err(unreadable)? {
                let columns: Vec<String> = columns.iter().map(|c| format!("{c:?}")).collect();
                out.insert(format!("sorts.{}.columns", sort.name), columns.join(", "));
            }
            if let Some(prepared) = &file.chosen.prepared
                && let Ok(text) = serde_json::to_string(&**prepared)
            {
                out.insert(format!("sorts.{}.{PREPARED}", sort.name), text);
            }
        }
        Ok(out)
    }

    /// Compares the groundings that weights were learnt for with this project. Different columns of features, or a
    /// different order, are a difference: a column with another name may mean something else.
    ///
    /// # Errors
    /// With each difference.
    pub fn same_model(&self, learnt: &BTreeMap<String, String>) -> Result<(), Diagnostics> {
        let (mut learnt, mut used) = (learnt.clone(), self.description()?);
        // Only a CSV has names for its columns.
        let named = |side: &BTreeMap<String, String>| side.keys().cloned().collect::<Vec<_>>();
        for key in [named(&learnt), named(&used)].concat() {
            let is_columns = key.starts_with("sorts.") && key.ends_with(".columns");
            if is_columns && !(learnt.contains_key(&key) && used.contains_key(&key)) {
                learnt.remove(&key);
                used.remove(&key);
            }
        }
        same_model(&learnt, &used).map_err(|errors| {
            let with_help = |error: Diagnostic| {
                let choose = learnt.iter().find_map(|(key, was)| {
                    let sort = key.strip_prefix("sorts.")?.strip_suffix(".columns")?;
                    let file = self.features.get(sort)?;
                    let about = error.message().contains(&format!("`{key}`"));
                    about
                        .then(|| choose_columns(sort, &file.path, &file.chosen, was))
                        .flatten()
                });
                error.maybe_help(choose)
            };
            errors.into_iter().map(with_help).collect()
        })
    }
}

/// How to choose the columns of the training, `was`, if the file has all of them.
fn choose_columns(sort: &str, path: &Path, chosen: &Chosen, was: &str) -> Option<String> {
    let all = Chosen {
        columns: None,
        ..chosen.clone()
    };
    let has = columns(path, &all).ok()??;
    let mut wanted = was.split(", ");
    let is_there = |name: &str| has.iter().any(|c| format!("{c:?}") == name);
    let file = path.file_name()?.to_string_lossy();
    wanted.all(is_there).then(|| {
        format!("choose the columns that it was trained with: under `[sorts.{sort}]`, `features = {{ file = {file:?}, columns = [{was}] }}`")
    })
}

/// The longest header that is read.
const LONGEST: u64 = 1 << 20;

/// The columns of a CSV that are features; `None` if they have no names.
pub(super) fn columns(path: &Path, chosen: &Chosen) -> io::Result<Option<Vec<String>>> {
    if let Some(prepared) = &chosen.prepared {
        return Ok(Some(prepared.names()));
    }
    if chosen.columns.is_some() {
        return Ok(chosen.columns.clone());
    }
    let name = path.display().to_string();
    if !is_table(path) {
        return Ok(None);
    }
    let line = first_line(path, LONGEST)?;
    let Ok(header) = CsvFile::parse(&line, &name) else {
        return Ok(None);
    };
    let columns = header.columns().iter();
    let columns: Vec<String> = columns
        .filter(|c| Some(*c) != chosen.names.as_ref() && !chosen.except.contains(c))
        .cloned()
        .collect();
    // If the header is missing, the first line is a row of numbers.
    let names = columns.iter().any(|c| c.trim().parse::<f64>().is_err());
    Ok(names.then_some(columns))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headers() {
        let folder = tempfile::tempdir().expect("a folder");
        let of = |text: &str, chosen: &Chosen| {
            let path = folder.path().join("points.csv");
            std::fs::write(&path, text).expect("a file");
            columns(&path, chosen).expect("it can be read")
        };
        let names = |names: &[&str]| Some(names.iter().map(|n| n.to_string()).collect::<Vec<_>>());
        let all = Chosen::default();
        assert_eq!(of("b,a\n1,2\n", &all), names(&["b", "a"]));
        assert_eq!(of("\"b, c\",a\r\n1,2\r\n", &all), names(&["b, c", "a"]));
        assert_eq!(of("1,2\n3,4\n", &all), None);
        let named = Chosen {
            names: Some("who".to_string()),
            ..Chosen::default()
        };
        assert_eq!(of("b,who,a\n1,ann,2\n", &named), names(&["b", "a"]));
        let some = Chosen {
            columns: names(&["a"]),
            ..Chosen::default()
        };
        assert_eq!(of("b,a\n1,2\n", &some), names(&["a"]));
    }
}
