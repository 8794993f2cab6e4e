//! The page with the data of all runs inside.

use std::path::{Path, PathBuf};

use logltn::{Code, Diagnostic, Diagnostics};
use logltn_report::{ListedRun, page};
use logltn_train::run_directory::write_atomically;
use serde_json::{Map, Value, json};

use crate::discover::Runs;
use crate::documents;
use crate::follow::Followed;
use crate::networks;
use crate::questions::Run;
use crate::runs_folder::RunsFolder;

/// More axioms than these have no explanation in the file.
const MOST_EXPLAINED: usize = 40;

/// Writes the page with all runs under `dir` to `file`: curves, axioms with what breaks them, what the networks say.
///
/// # Errors
/// If `dir` holds no run, or the file cannot be written, or lies in a run: those are not written to.
pub fn export(dir: &Path, file: &Path) -> Result<(), Diagnostics> {
    let place = RunsFolder::new(dir)?;
    let mut runs = Runs::new(place.clone());
    runs.scan();
    let list: Vec<&ListedRun> = runs.list().collect();
    if list.is_empty() {
        let what = format!("{}: there is no run in the folder", dir.display());
        return Err(Diagnostic::error(Code::RunNotFound, what)
            .help("make one with `logltn train … --out DIR`")
            .into());
    }
    let target = whole(file);
    let inside = |run: &PathBuf| target.starts_with(run);
    let folders: Vec<Option<PathBuf>> = list.iter().map(|run| runs.folder(&run.id)).collect();
    if folders.iter().flatten().any(inside) {
        let what = format!("{}: the file would be inside a run", file.display());
        return Err(Diagnostic::error(Code::FolderTaken, what)
            .help("write it to another folder")
            .into());
    }
    let mut parts = ["details", "curves", "explained", "networks"].map(|name| (name, Map::new()));
    let mut followed = Followed::default();
    for (run, folder) in list.iter().zip(&folders) {
        let Some(folder) = folder else {
            continue; // the list says why
        };
        let found = [
            documents::of_run(&place, folder),
            followed.curves(&place, folder, None),
        ];
        // Without its data a run cannot be asked, but its curves remain.
        let asked = Run::load(folder, place.root());
        let explained = asked.as_ref().map(explained);
        let networks = asked
            .as_ref()
            .ok()
            .and_then(|run| networks::of_run(run).ok());
        let found = found.map(|part| part.ok());
        let found = found
            .into_iter()
            .chain([explained.ok(), networks.map(Value::from)]);
        for ((_, part), value) in parts.iter_mut().zip(found) {
            if let Some(value) = value {
                part.insert(run.id.clone(), value);
            }
        }
    }
    let mut data = json!({ "runs": list });
    for (name, part) in parts {
        data[name] = Value::Object(part);
    }
    let title = place
        .root()
        .file_name()
        .unwrap_or_default()
        .to_string_lossy();
    write_atomically(file, page::with_data(&title, &data).as_bytes())?;
    Ok(())
}

/// What breaks each axiom, by its name.
fn explained(run: &Run<'_>) -> Value {
    let found = run.explain(None).unwrap_or_default();
    (found.iter().take(MOST_EXPLAINED))
        .map(|violated| (violated.axiom.clone(), json!(violated)))
        .collect::<Map<String, Value>>()
        .into()
}

/// The path of a file that may not be there yet, without links.
fn whole(file: &Path) -> PathBuf {
    let path = std::path::absolute(file).unwrap_or_else(|_| file.to_path_buf());
    match (path.parent().map(std::fs::canonicalize), path.file_name()) {
        (Some(Ok(folder)), Some(name)) => folder.join(name),
        _ => path,
    }
}
