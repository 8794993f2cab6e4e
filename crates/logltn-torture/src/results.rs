//! What of a finished run must be the same whatever happened on the way: everything but times.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use serde_json::Value;

/// Each file of a run by its name, times aside.
#[derive(PartialEq)]
pub struct Results(BTreeMap<String, Vec<u8>>);

impl Results {
    /// Those of a run.
    pub fn of(run: &Path) -> Result<Results, String> {
        // The checkpoint before the last is of whichever step a run was interrupted at.
        Results::some_of(run, |name| name != "previous.safetensors")
    }

    /// Those of some files of a run, by their names; the others may hold anything.
    pub fn some_of(run: &Path, wanted: impl Fn(&str) -> bool) -> Result<Results, String> {
        let mut found = BTreeMap::new();
        let mut folders = vec![run.to_path_buf()];
        while let Some(folder) = folders.pop() {
            for entry in fs::read_dir(&folder)
                .map_err(|e| format!("{}: {e}", folder.display()))?
                .flatten()
            {
                let path = entry.path();
                if path.is_dir() {
                    folders.push(path);
                    continue;
                }
                let name = path
                    .strip_prefix(run)
                    .unwrap_or(&path)
                    .display()
                    .to_string();
                if !wanted(&name) {
                    continue;
                }
                let bytes = fs::read(&path).map_err(|e| format!("{name}: {e}"))?;
                let timeless = timeless(&name, bytes).map_err(|e| format!("{name}: {e}"))?;
                found.insert(name, timeless);
            }
        }
        Ok(Results(found))
    }

    /// The first file in which they differ.
    pub fn same(&self, other: &Results) -> Result<(), String> {
        let names = self.0.keys().chain(other.0.keys());
        for name in names {
            if self.0.get(name) != other.0.get(name) {
                let [expected, found] = [self, other].map(|r| r.0.get(name));
                return Err(format!(
                    "{name} is not as in the undisturbed run: {}",
                    difference(expected, found)
                ));
            }
        }
        Ok(())
    }
}

/// The first place in which two files differ, or which of them is missing.
fn difference(expected: Option<&Vec<u8>>, found: Option<&Vec<u8>>) -> String {
    let (Some(expected), Some(found)) = (expected, found) else {
        return format!("there {}, here {}", expected.is_some(), found.is_some());
    };
    let at = expected
        .iter()
        .zip(found)
        .take_while(|(a, b)| a == b)
        .count();
    let [expected, found] = [expected, found].map(|bytes| {
        let piece = &bytes[at.saturating_sub(100)..bytes.len().min(at + 200)];
        String::from_utf8_lossy(piece).into_owned()
    });
    format!("at byte {at}\n{expected}\nhere\n{found}")
}

/// A file without times, paths and what follows from them.
fn timeless(name: &str, bytes: Vec<u8>) -> Result<Vec<u8>, String> {
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).map_err(|e| e.to_string());
    let without = |mut value: Value, keys: &[&str]| {
        if let Some(object) = value.as_object_mut() {
            keys.iter().for_each(|key| drop(object.remove(*key)));
        }
        value.to_string()
    };
    let read =
        |line: &str| serde_json::from_str::<Value>(line).map_err(|e| format!("{e} in {line:?}"));
    let kept = match name {
        "metrics.jsonl" => {
            let text = text(bytes)?;
            let lines: Result<Vec<String>, String> = (text.lines())
                .map(|line| Ok(without(read(line)?, &["step_time", "check"])))
                .collect();
            lines?.join("\n")
        }
        "metrics.csv" => {
            let text = text(bytes)?;
            let lines = text.lines().map(|line| {
                let cells = line.split(',').enumerate();
                let kept: Vec<&str> = cells
                    .filter(|(at, _)| *at != 4)
                    .map(|(_, cell)| cell)
                    .collect();
                kept.join(",")
            });
            lines.collect::<Vec<_>>().join("\n")
        }
        // Its first line names the manifest that it was made from.
        "manifest.toml" => text(bytes)?.lines().skip(1).collect::<Vec<_>>().join("\n"),
        "run.json" => without(
            read(&text(bytes)?)?,
            &["started", "updated", "command", "title", "check", "files"],
        ),
        // Frames of fixed size: as many events have as many bytes.
        _ if name.contains("tfevents") => format!("{} bytes", bytes.len()),
        // Pages and plots show times.
        _ if name.ends_with(".html") || name.starts_with("plots/") => String::new(),
        _ => return Ok(bytes),
    };
    Ok(kept.into_bytes())
}
