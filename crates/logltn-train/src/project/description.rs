//! What stands behind the symbols of a project, in words, and whether it is what weights were learnt for.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{BufRead, BufReader, Read};
use std::path::Path;

use logltn::Diagnostics;
use logltn::theory::SortId;
use logltn_data::CsvFile;
use logltn_learn::same_model;

use super::Project;
use super::features::Chosen;

impl Project {
    /// [In words](logltn_learn::KnowledgeBase::description), with the columns that features are made of.
    pub fn description(&self) -> BTreeMap<String, String> {
        let mut out = self.sketch().description();
        for (i, sort) in self.theory().sorts.iter().enumerate() {
            let file = self.feature_file(SortId(i as u32));
            if let Some(columns) = file.and_then(|file| columns(&file.path, &file.chosen)) {
                let columns: Vec<String> = columns.iter().map(|c| format!("{c:?}")).collect();
                out.insert(format!("sorts.{}.columns", sort.name), columns.join(", "));
            }
        }
        out
    }

    /// Compares what weights were learnt for with this project. Other columns of features, or in another order, are a
    /// difference: what stands under another name may be something else.
    ///
    /// # Errors
    /// With each difference.
    pub fn same_model(&self, learnt: &BTreeMap<String, String>) -> Result<(), Diagnostics> {
        let (mut learnt, mut used) = (learnt.clone(), self.description());
        // Only a CSV has names for its columns.
        let named = |side: &BTreeMap<String, String>| side.keys().cloned().collect::<Vec<_>>();
        for key in [named(&learnt), named(&used)].concat() {
            let is_columns = key.starts_with("sorts.") && key.ends_with(".columns");
            if is_columns && !(learnt.contains_key(&key) && used.contains_key(&key)) {
                learnt.remove(&key);
                used.remove(&key);
            }
        }
        same_model(&learnt, &used)
    }
}

/// The longest header that is looked at.
const LONGEST: u64 = 1 << 20;

/// The columns of a CSV that are features; `None` if they have no names.
fn columns(path: &Path, chosen: &Chosen) -> Option<Vec<String>> {
    if chosen.columns.is_some() {
        return chosen.columns.clone();
    }
    let name = path.display().to_string();
    if !name.to_lowercase().ends_with(".csv") {
        return None;
    }
    let mut line = Vec::new();
    let mut start = BufReader::new(File::open(path).ok()?.take(LONGEST));
    start.read_until(b'\n', &mut line).ok()?;
    let header = CsvFile::parse(&line, &name).ok()?;
    let columns = header.columns().iter();
    let columns: Vec<String> = columns
        .filter(|c| Some(*c) != chosen.names.as_ref())
        .cloned()
        .collect();
    // A header that was forgotten is a row of numbers.
    let names = columns.iter().any(|c| c.trim().parse::<f64>().is_err());
    names.then_some(columns)
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
            columns(&path, chosen)
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
