//! All runs under the folder and the state of each, from `run.json` and the ends of files.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant, SystemTime};

use logltn_report::ListedRun;
use logltn_train::run_directory::RunInfo;
use logltn_train::train::told_by_key;

use crate::alive::{Locks, is_here};
use crate::last_record::see_end;
use crate::runs_folder::{RunsFolder, patiently};

/// How deep runs are searched for, and in how many folders, so that a mistaken `logltn dashboard /` ends.
const DEEPEST: usize = 8;
const MOST_FOLDERS: usize = 50_000;
const MOST_RUNS: usize = 5_000;
/// Disks that note times in whole seconds show a file that is written twice within one as the same: until it has been so for
/// longer, it is read again. Measured here, since the clock of the disk's machine may be another.
const SETTLED: Duration = Duration::from_secs(3);
/// A run that has ended is watched through its folder only, and from time to time through its files, since not every disk
/// updates a folder's times.
const ANYWAY: Duration = Duration::from_secs(20);
/// A run that was there may be out of reach for so long, before it is said to be: a disk of another machine stumbles now and
/// then, and one that cannot replace a file atomically has none for a moment.
const PATIENCE: Duration = Duration::from_secs(5);

/// The runs that are known, by their names: their folders as seen from the folder of all.
pub struct Runs {
    place: RunsFolder,
    known: BTreeMap<String, Box<Known>>,
    /// Those of which something may be new, or that may be gone, since the last request.
    news: BTreeSet<String>,
    /// The number of scans so far.
    looks: u64,
    patience: Duration,
}

/// A run as it was last seen.
struct Known {
    folder: PathBuf,
    seen: Seen,
    /// Of the text of `run.json`.
    info: u64,
    listed: ListedRun,
    step_time: Option<f64>,
    /// When it was first seen like this, and whether it was seen otherwise before.
    since: Instant,
    moved: bool,
    /// Its folder, and since when it has been like this; when its files were last looked at.
    stamp: Option<(Stamp, Instant)>,
    looked: Instant,
    /// The scan that found it.
    found: u64,
    /// The time since which it cannot be read.
    failing: Option<Instant>,
}

/// What tells that a run has changed: length and time of its two files.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Seen {
    info: Option<(u64, SystemTime)>,
    records: Option<(u64, SystemTime)>,
}

/// What tells that something in a folder was made, replaced or removed: disk, number on it, and the times of its contents and
/// of its own.
type Stamp = (u64, u64, (i64, i64), (i64, i64));

/// The stamp of a folder, where there are such, given the old one. Opening it makes a network's file system look at what is
/// there now; as `.`, so that nothing but a folder is opened. On a disk of this machine it need not be opened.
fn stamp(folder: &Path, old: Option<Stamp>) -> Option<Stamp> {
    #[cfg(unix)]
    {
        use std::os::unix::fs::MetadataExt;
        let facts = match old {
            Some((disk, ..)) if is_here(disk) => fs::metadata(folder).ok()?,
            _ => File::open(folder.join(".")).ok()?.metadata().ok()?,
        };
        let written = (facts.mtime(), facts.mtime_nsec());
        let changed = (facts.ctime(), facts.ctime_nsec());
        Some((facts.dev(), facts.ino(), written, changed))
    }
    #[cfg(not(unix))]
    {
        let _ = folder;
        None
    }
}

impl Runs {
    /// No runs yet.
    pub fn new(place: RunsFolder) -> Runs {
        Runs {
            place,
            known: BTreeMap::new(),
            news: BTreeSet::new(),
            looks: 0,
            patience: PATIENCE,
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
    pub fn list(&self) -> impl Iterator<Item = &ListedRun> {
        self.known.values().map(|run| &run.listed)
    }

    /// The run of a name.
    pub fn get(&self, name: &str) -> Option<&ListedRun> {
        self.known.get(name).map(|run| &run.listed)
    }

    /// The names of those of which something may be new, or that may be gone, since this was last asked.
    pub fn news(&mut self) -> BTreeSet<String> {
        std::mem::take(&mut self.news)
    }

    /// Scans the folder again.
    pub fn scan(&mut self) {
        self.looks += 1;
        let (known, look) = (&mut self.known, self.looks);
        // Unchanged runs are not moved: with many runs, moving and comparing them would be most of the work.
        let found = Found::under(&self.place, |name| {
            (known.get_mut(name)).is_some_and(|run| run.rests(look))
        });
        let mut locks = None;
        for (name, folder) in found.runs {
            let old = self.known.remove(&name);
            let mut known = self.look(&name, folder, old.map(|old| *old));
            known.judge(locks.get_or_insert_with(Locks::now));
            known.found = look;
            self.news.insert(name.clone());
            self.known.insert(name, Box::new(known));
        }
        let missing = self.known.iter().filter(|(_, run)| run.found != look);
        for name in missing.map(|(name, _)| name.clone()).collect::<Vec<_>>() {
            self.news.insert(name.clone());
            let Some(mut known) = self.known.remove(&name) else {
                continue;
            };
            let out_of_reach = (found.unreadable.iter()).any(|f| known.folder.starts_with(f));
            if out_of_reach && !known.is_patient(self.patience) {
                known.fail("its folder cannot be read".into());
            }
            if out_of_reach || (known.folder.is_dir() && known.is_patient(self.patience)) {
                self.known.insert(name, known);
            }
        }
    }

    /// What can be said of a run; if something cannot be read for a while, that.
    fn look(&self, name: &str, folder: PathBuf, old: Option<Known>) -> Known {
        let files = Files::open(&self.place, &folder);
        let old = match old.map(|old| old.looked_at()) {
            Some(old) if files.as_ref().is_ok_and(|files| old.still_is(files)) => return old,
            old => old,
        };
        let found = files.and_then(|files| read(&self.place, name, &folder, files, old.as_ref()));
        match (found, old) {
            (Ok(new), Some(old)) if new.listed.version == old.listed.version => Known {
                since: old.since,
                moved: old.moved,
                stamp: old.stamp,
                ..new
            },
            (Ok(new), old) => Known {
                moved: old.is_some(),
                stamp: old.and_then(|old| old.stamp),
                ..new
            },
            (Err(reason), Some(mut old)) => {
                if !old.is_patient(self.patience) {
                    old.fail(reason);
                }
                old
            }
            (Err(reason), None) => {
                let mut known = Known::new(folder, ListedRun::default());
                known.listed.id = name.to_string();
                known.fail(reason);
                known
            }
        }
    }
}

impl Known {
    fn new(folder: PathBuf, listed: ListedRun) -> Known {
        Known {
            folder,
            listed,
            seen: Seen::default(),
            info: 0,
            step_time: None,
            since: Instant::now(),
            moved: false,
            stamp: None,
            looked: Instant::now(),
            found: 0,
            failing: None,
        }
    }

    /// Its files are looked at now.
    fn looked_at(self) -> Known {
        Known {
            looked: Instant::now(),
            ..self
        }
    }

    /// Whether nothing can have happened to a run that has ended: if it continues, a new `run.json` takes the place of the
    /// old one, and that is seen in its folder. If it rests, it is found by this look.
    fn rests(&mut self, look: u64) -> bool {
        let ended = ["finished", "interrupted", "failed"].contains(&&self.listed.state[..]);
        let old = self.stamp.map(|(stamp, _)| stamp);
        let now = ended.then(|| stamp(&self.folder, old)).flatten();
        match (now, self.stamp) {
            (Some(now), Some((old, since))) if now == old => {
                let rests = since.elapsed() > SETTLED
                    && self.since.elapsed() > SETTLED
                    && self.looked.elapsed() < ANYWAY
                    && self.failing.is_none();
                if rests {
                    self.found = look;
                }
                rests
            }
            _ => {
                self.stamp = now.map(|now| (now, Instant::now()));
                false
            }
        }
    }

    /// Whether there is nothing new in the files.
    fn still_is(&self, files: &Files) -> bool {
        self.seen == files.seen && self.failing.is_none() && self.since.elapsed() > SETTLED
    }

    /// Whether a run that cannot be read now keeps its last known state.
    fn is_patient(&mut self, patience: Duration) -> bool {
        let since = *self.failing.get_or_insert_with(Instant::now);
        self.listed.state != "unreadable" && since.elapsed() < patience
    }

    fn fail(&mut self, reason: String) {
        self.listed.state = "unreadable".into();
        self.listed.reason = reason;
        self.seen = Seen::default();
        self.info = 0;
        self.failing.get_or_insert_with(Instant::now);
    }

    /// Whether a run that should be running is, and how much longer.
    fn judge(&mut self, locks: &Locks) {
        let says_running = ["running", "silent"].contains(&&self.listed.state[..]);
        self.listed.left = None;
        if !says_running {
            return;
        }
        let modified = [self.seen.info, self.seen.records].into_iter().flatten();
        let modified = modified.map(|(_, time)| time).max();
        // What was seen here counts more than the times of a disk whose clock may be another.
        let here = self.since.elapsed();
        let quiet = match (self.moved, modified.map(|time| time.elapsed())) {
            (false, Some(Ok(quiet))) => quiet.max(here),
            _ => here,
        };
        match locks.silence(&self.folder, quiet, self.step_time) {
            None => {
                self.listed.state = "running".into();
                self.listed.reason.clear();
                let left = (self.listed.total).map(|total| total.saturating_sub(self.listed.step));
                self.listed.left = left.zip(self.step_time).map(|(n, time)| n as f64 * time);
            }
            Some(silent) => {
                self.listed.state = "silent".into();
                self.listed.reason = format!(
                    "nothing was written for {}: it was killed, or its machine is unreachable",
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

/// The runs to be looked at, by their names, with their folders; and the folders that could not be looked into.
#[derive(Default)]
struct Found {
    runs: Vec<(String, PathBuf)>,
    unreadable: Vec<PathBuf>,
}

impl Found {
    /// Links are not followed, and nothing is looked for inside a run. The folders of those that rest are not looked into.
    fn under(place: &RunsFolder, mut rests: impl FnMut(&str) -> bool) -> Found {
        let mut found = Found::default();
        let mut open = vec![(place.root().to_path_buf(), 0)];
        let (mut seen, mut runs) = (0, 0);
        while let Some((folder, depth)) = open.pop() {
            seen += 1;
            if seen > MOST_FOLDERS || runs >= MOST_RUNS {
                break;
            }
            let name = match folder.strip_prefix(place.root()) {
                Ok(path) if path.as_os_str().is_empty() => ".".to_string(),
                Ok(path) => path.to_string_lossy().replace('\\', "/"),
                Err(_) => continue,
            };
            if rests(&name) {
                runs += 1;
                continue;
            }
            match names(&folder) {
                Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                Err(_) => found.unreadable.push(folder),
                Ok(names) if names.is_run => {
                    runs += 1;
                    found.runs.push((name, folder));
                }
                Ok(names) if depth < DEEPEST => {
                    open.extend(names.folders.into_iter().map(|path| (path, depth + 1)));
                }
                Ok(_) => {}
            }
        }
        found
    }
}

/// What a folder holds.
#[derive(Default)]
struct Names {
    is_run: bool,
    folders: Vec<PathBuf>,
}

/// All names are read, instead of asking for some: a network's file system looks at a folder anew when it is opened, and may
/// else believe for half a minute that what is new is not there.
fn names(folder: &Path) -> io::Result<Names> {
    patiently(|| {
        let mut names = Names::default();
        for entry in fs::read_dir(folder)? {
            let entry = entry?;
            let (name, kind) = (entry.file_name(), entry.file_type()?);
            if kind.is_file() {
                names.is_run |= name == "run.json" || name == "metrics.jsonl";
            } else if kind.is_dir() && !name.to_string_lossy().starts_with('.') {
                names.folders.push(entry.path());
            }
        }
        Ok(names)
    })
}

/// The two files of a run that say where it is.
struct Files {
    info: Option<File>,
    records: Option<File>,
    seen: Seen,
}

impl Files {
    fn open(place: &RunsFolder, folder: &Path) -> Result<Files, String> {
        let open = |name: &str| {
            let opened = patiently(|| {
                let Some(file) = place.open_walked(&folder.join(name))? else {
                    return Ok(None);
                };
                let facts = file.metadata()?;
                Ok(Some((file, (facts.len(), facts.modified()?))))
            });
            opened.map_err(|error| error.to_string())
        };
        let (info, records) = (open("run.json")?.unzip(), open("metrics.jsonl")?.unzip());
        Ok(Files {
            seen: Seen {
                info: info.1,
                records: records.1,
            },
            info: info.0,
            records: records.0,
        })
    }
}

/// Reads what may be new: `run.json` is only taken apart if it says something else than before.
fn read(
    place: &RunsFolder,
    name: &str,
    folder: &Path,
    files: Files,
    old: Option<&Known>,
) -> Result<Known, String> {
    let text = |error: io::Error| error.to_string();
    if files.info.is_none() && old.is_some_and(|old| old.seen.info.is_some()) {
        return Err("run.json is gone".to_string());
    }
    let json = place.text(&folder.join("run.json")).map_err(text)?;
    let info = hash(&json);
    let known = old.filter(|old| old.info == info && old.listed.state != "unreadable");
    let listed = match known {
        Some(old) => old.listed.clone(),
        None => {
            place
                .check(folder)
                .map_err(|error| error.message().to_string())?;
            let info = match files.info {
                Some(_) => RunInfo::parse(json.as_bytes(), "run.json")
                    .map_err(|errors| first_message(&errors))?,
                None => RunInfo::default(),
            };
            ListedRun {
                group: group(folder),
                ..ListedRun::new(name, &info)
            }
        }
    };
    let mut new = Known {
        seen: files.seen,
        info,
        step_time: known.and_then(|old| old.step_time),
        ..Known::new(folder.to_path_buf(), listed)
    };
    if let (Some(mut file), Some((length, _))) = (files.records, files.seen.records) {
        let mut listed = new.listed.clone();
        new.step_time = patiently(|| see_end(&mut listed, &mut file, length)).map_err(text)?;
        new.listed = listed;
    }
    let bits = |x: Option<f64>| x.map(f64::to_bits);
    let ListedRun {
        step, loss, sat, ..
    } = new.listed;
    new.listed.version = format!(
        "{:016x}",
        hash(&(new.seen.records, info, step, bits(loss), bits(sat)))
    );
    Ok(new)
}

fn hash(of: &impl Hash) -> u64 {
    let mut hash = DefaultHasher::new();
    of.hash(&mut hash);
    hash.finish()
}

/// The first error.
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
    let told = serde_json::to_string(&told).unwrap_or_default();
    format!("{:016x}", hash(&told))
}

#[cfg(test)]
mod tests {
    use super::*;
    use logltn_train::run_directory::{RunDirectory, RunStatus, StepRecord};

    /// The only run under a folder.
    fn only(runs: &mut Runs) -> ListedRun {
        runs.scan();
        let list: Vec<&ListedRun> = runs.list().collect();
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
        let mut runs = Runs::new(RunsFolder::new(folder.path()).unwrap());
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
        // Its lock shows that it is running, however long it is silent.
        let mut runs = Runs::new(RunsFolder::new(folder.path()).unwrap());
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
        // A file that is incomplete now may be complete a moment later: for a while the run keeps its
        // last known state.
        let whole = fs::read(dir.join("run.json")).unwrap();
        fs::write(dir.join("run.json"), "{").unwrap();
        assert_eq!(only(&mut runs).state, "running");
        runs.patience = Duration::ZERO;
        assert_eq!(only(&mut runs).state, "unreadable");
        fs::write(dir.join("run.json"), whole).unwrap();
        assert_eq!(only(&mut runs).state, "running");
        fs::remove_dir_all(&dir).unwrap();
        runs.scan();
        assert!(runs.list().next().is_none());
    }

    /// A run that has ended is not opened at every look, and what happens to it is seen anyway.
    #[test]
    #[cfg(unix)]
    fn what_has_ended_rests_until_it_goes_on() {
        let folder = tempfile::tempdir().unwrap();
        let run = RunDirectory::create(&folder.path().join("a")).unwrap();
        let mut info = RunInfo {
            status: RunStatus::Finished,
            ..RunInfo::default()
        };
        run.write_info(&info).unwrap();
        let mut runs = Runs::new(RunsFolder::new(folder.path()).unwrap());
        assert_eq!(only(&mut runs).state, "finished");
        let aged = |runs: &mut Runs, by: Duration| {
            let known = runs.known.get_mut("a").unwrap();
            let earlier = |time: Instant| time.checked_sub(by).unwrap();
            known.since = earlier(known.since);
            known.looked = earlier(known.looked);
            let stamp = known.stamp.as_mut().unwrap();
            stamp.1 = earlier(stamp.1);
        };
        let rests = |runs: &mut Runs| runs.known.get_mut("a").unwrap().rests(0);
        assert!(
            !rests(&mut runs),
            "it may change again within a coarse time"
        );
        aged(&mut runs, 2 * SETTLED);
        assert!(rests(&mut runs));
        // The file is gone, but the run was not opened.
        let file = fs::read(run.file("run.json")).unwrap();
        let times = fs::metadata(folder.path().join("a")).unwrap().modified();
        info.title = "again".into();
        run.write_info(&info).unwrap();
        let dir = File::open(folder.path().join("a")).unwrap();
        dir.set_modified(times.unwrap()).unwrap();
        assert_eq!(only(&mut runs).title, "again", "times were put back");
        aged(&mut runs, 2 * SETTLED);
        assert!(rests(&mut runs));
        info.status = RunStatus::Running;
        run.write_info(&info).unwrap();
        assert_eq!(only(&mut runs).state, "running");
        info.status = RunStatus::Failed;
        run.write_info(&info).unwrap();
        assert_eq!(only(&mut runs).state, "failed");
        assert!(!rests(&mut runs));
        aged(&mut runs, 2 * SETTLED);
        assert!(rests(&mut runs));
        // Written in place, which no training does: that is noticed later.
        fs::write(run.file("run.json"), file).unwrap();
        assert_eq!(only(&mut runs).state, "failed");
        aged(&mut runs, ANYWAY);
        assert_eq!(only(&mut runs).state, "finished");
    }
}
