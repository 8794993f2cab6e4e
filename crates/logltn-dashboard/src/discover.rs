//! All runs under the folder, and where each stands: from `run.json` and the ends of files.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use logltn_report::ListedRun;
use logltn_train::run_directory::RunInfo;
use logltn_train::train::told_by_key;

use crate::alive::Locks;
use crate::place::Place;
use crate::tail::see_end;

/// How deep runs may lie, and how many folders are looked at: a mistaken `logltn dashboard /` ends.
const DEEPEST: usize = 8;
const MOST_FOLDERS: usize = 50_000;
const MOST_RUNS: usize = 5_000;

/// The runs that are known, by their names: their folders as seen from the folder of all.
pub struct Runs {
    place: Place,
    known: BTreeMap<String, Known>,
}

/// A run as it was last seen.
struct Known {
    folder: PathBuf,
    seen: Seen,
    listed: ListedRun,
    step_time: Option<f64>,
}

/// What tells whether a run has changed: length and time of its two files.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Seen {
    info: Option<(u64, SystemTime)>,
    records: Option<(u64, SystemTime)>,
}

impl Runs {
    /// None yet.
    pub fn new(place: Place) -> Runs {
        Runs {
            place,
            known: BTreeMap::new(),
        }
    }

    /// The folder of a run, which must be as training leaves it. Names that are not in the list have none, whatever they
    /// say: no path is ever made of what a request says.
    pub fn folder(&self, name: &str) -> Option<PathBuf> {
        let known = self.known.get(name)?;
        self.place.check(&known.folder).ok()?;
        Some(known.folder.clone())
    }

    /// All runs, in the order of their names.
    pub fn list(&self) -> Vec<ListedRun> {
        self.known.values().map(|run| run.listed.clone()).collect()
    }

    /// Looks what is there now.
    pub fn scan(&mut self) {
        let mut before = std::mem::take(&mut self.known);
        let locks = Locks::now();
        for folder in folders(&self.place) {
            let name = match folder.strip_prefix(self.place.root()) {
                Ok(path) if path.as_os_str().is_empty() => ".".to_string(),
                Ok(path) => path.to_string_lossy().replace('\\', "/"),
                Err(_) => continue,
            };
            let old = before.remove(&name);
            let mut known = look(&self.place, &name, folder, old);
            known.judge(&locks);
            self.known.insert(name, known);
        }
    }
}

impl Known {
    /// Whether a run that should be running is, and how much longer.
    fn judge(&mut self, locks: &Locks) {
        let says_running = ["running", "silent"].contains(&&self.listed.state[..]);
        self.listed.left = None;
        if !says_running {
            return;
        }
        let modified = [self.seen.info, self.seen.records].into_iter().flatten();
        let modified = modified.map(|(_, time)| time).max();
        match locks.silence(&self.folder, modified, self.step_time) {
            None => {
                self.listed.state = "running".into();
                self.listed.reason.clear();
                let left = (self.listed.total).map(|total| total.saturating_sub(self.listed.step));
                self.listed.left = left.zip(self.step_time).map(|(n, time)| n as f64 * time);
            }
            Some(silent) => {
                self.listed.state = "silent".into();
                self.listed.reason = format!(
                    "nothing was written for {}: it was killed, or its machine is away",
                    roughly(silent)
                );
            }
        }
    }
}

/// `3 minutes`, so that the list does not change every second.
fn roughly(time: Duration) -> String {
    let seconds = time.as_secs();
    let (number, unit) = match seconds {
        0..120 => return "a minute".to_string(),
        120..7_200 => (seconds / 60, "minutes"),
        7_200..172_800 => (seconds / 3_600, "hours"),
        _ => (seconds / 86_400, "days"),
    };
    format!("{number} {unit}")
}

/// The folders that hold a run, from the first name to the last. Links are not followed, and nothing is looked for inside
/// of a run.
fn folders(place: &Place) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut open = vec![(place.root().to_path_buf(), 0)];
    let mut seen = 0;
    while let Some((folder, depth)) = open.pop() {
        seen += 1;
        if seen > MOST_FOLDERS || found.len() >= MOST_RUNS {
            break;
        }
        let is_file = |name: &str| {
            let kind = fs::symlink_metadata(folder.join(name));
            kind.is_ok_and(|kind| kind.is_file())
        };
        if is_file("run.json") || is_file("metrics.jsonl") {
            found.push(folder);
            continue;
        }
        let Ok(entries) = fs::read_dir(&folder) else {
            continue;
        };
        if depth == DEEPEST {
            continue;
        }
        for entry in entries.flatten() {
            let hidden = entry.file_name().to_string_lossy().starts_with('.');
            if !hidden && entry.file_type().is_ok_and(|kind| kind.is_dir()) {
                open.push((entry.path(), depth + 1));
            }
        }
    }
    found
}

/// What can be said of a run; if something cannot be read, that.
fn look(place: &Place, name: &str, folder: PathBuf, old: Option<Known>) -> Known {
    match look_at(place, name, &folder, old) {
        Ok(known) => known,
        Err(reason) => Known {
            listed: ListedRun {
                id: name.to_string(),
                state: "unreadable".into(),
                reason,
                ..ListedRun::default()
            },
            folder,
            seen: Seen::default(),
            step_time: None,
        },
    }
}

fn look_at(place: &Place, name: &str, folder: &Path, old: Option<Known>) -> Result<Known, String> {
    let text = |error: io::Error| error.to_string();
    let open = |file: &str| place.open(&folder.join(file)).map_err(text);
    let (info, records) = (open("run.json")?, open("metrics.jsonl")?);
    let print = |file: &Option<File>| -> Option<(u64, SystemTime)> {
        let facts = file.as_ref()?.metadata().ok()?;
        Some((facts.len(), facts.modified().ok()?))
    };
    let seen = Seen {
        info: print(&info),
        records: print(&records),
    };
    let same_info = old.as_ref().is_some_and(|old| old.seen.info == seen.info);
    let mut known = match old {
        Some(old) if old.seen == seen => return Ok(old),
        Some(old) if same_info && old.listed.state != "unreadable" => old,
        _ => {
            place
                .check(folder)
                .map_err(|error| error.message().to_string())?;
            let bytes = place.text(&folder.join("run.json")).map_err(text)?;
            let info = match info {
                Some(_) => RunInfo::parse(bytes.as_bytes(), "run.json")
                    .map_err(|errors| first_message(&errors))?,
                None => RunInfo::default(),
            };
            Known {
                listed: ListedRun {
                    group: group(folder),
                    ..ListedRun::new(name, &info)
                },
                folder: folder.to_path_buf(),
                seen,
                step_time: None,
            }
        }
    };
    if let (Some(file), Some((length, _))) = (records, seen.records) {
        known.step_time = see_end(&mut known.listed, file, length).map_err(text)?;
    }
    known.seen = seen;
    let (length, time) = seen.records.unwrap_or((0, SystemTime::UNIX_EPOCH));
    let time = time
        .duration_since(SystemTime::UNIX_EPOCH)
        .unwrap_or_default();
    known.listed.version = format!("{length}.{}", time.as_nanos());
    Ok(known)
}

/// The first thing that is wrong.
pub fn first_message(errors: &logltn::Diagnostics) -> String {
    let first = errors.iter().next();
    first.map_or(String::new(), |error| error.message().to_string())
}

/// What is the same in runs that differ in the seed only.
fn group(folder: &Path) -> String {
    let Ok(mut told) = told_by_key(folder) else {
        return String::new();
    };
    told.remove("train.seed");
    let mut hash = DefaultHasher::new();
    serde_json::to_string(&told)
        .unwrap_or_default()
        .hash(&mut hash);
    format!("{:016x}", hash.finish())
}

#[cfg(test)]
mod tests {
    use super::*;
    use logltn_train::run_directory::{RunDirectory, RunStatus, StepRecord};

    /// The only run under a folder.
    fn only(runs: &mut Runs) -> ListedRun {
        runs.scan();
        let list = runs.list();
        assert_eq!(list.len(), 1);
        list[0].clone()
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn a_run_lives_while_somebody_writes_it() {
        let folder = tempfile::tempdir().unwrap();
        let dir = folder.path().join("deep/a");
        let run = RunDirectory::create(&dir).unwrap();
        let mut log = run.metrics_log(&["x".into()], &[], None).unwrap();
        for step in 1..=10 {
            let record = StepRecord {
                step,
                loss: 0.5,
                axioms: vec![f64::NAN],
                step_time: 2.0,
                ..StepRecord::default()
            };
            log.append(&record).unwrap();
        }
        log.sync().unwrap();
        run.write_info(&RunInfo {
            status: RunStatus::Running,
            total: Some(100),
            ..RunInfo::default()
        })
        .unwrap();
        let mut runs = Runs::new(Place::new(folder.path()).unwrap());
        let seen = only(&mut runs);
        assert_eq!(
            (&seen.id[..], &seen.state[..], seen.step),
            ("deep/a", "running", 10)
        );
        assert_eq!(
            (seen.left, seen.loss, seen.sat),
            (Some(180.0), Some(0.5), Some(0.0))
        );
        let long_ago = SystemTime::now() - Duration::from_secs(4000);
        for name in ["run.json", "metrics.jsonl"] {
            let file = File::options().append(true).open(dir.join(name)).unwrap();
            file.set_modified(long_ago).unwrap();
        }
        // Its lock says that it lives, however long it is silent.
        assert_eq!(only(&mut runs).state, "running");
        drop((run, log));
        let seen = only(&mut runs);
        assert_eq!((&seen.state[..], seen.left), ("silent", None));
        assert!(seen.reason.contains("66 minutes"), "{}", seen.reason);
        // Written to again, as from another machine.
        let file = File::options()
            .append(true)
            .open(dir.join("metrics.jsonl"))
            .unwrap();
        file.set_modified(SystemTime::now()).unwrap();
        assert_eq!(only(&mut runs).state, "running");
        fs::write(dir.join("run.json"), "{").unwrap();
        assert_eq!(only(&mut runs).state, "unreadable");
        fs::remove_dir_all(&dir).unwrap();
        runs.scan();
        assert!(runs.list().is_empty());
    }
}
