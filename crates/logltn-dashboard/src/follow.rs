//! The curves of runs that are being viewed, extended as their records grow.

use std::collections::VecDeque;
use std::fs::File;
use std::io::{ErrorKind, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use std::thread;
use std::time::Duration;

use logltn::{Code, Diagnostic, Diagnostics};
use logltn_report::{Report, RunSummary};
use logltn_train::run_directory::{RecordReader, RunDirectory, RunInfo, StepRecord};
use serde_json::{Value, json};

use crate::runs_folder::{RunsFolder, patiently};

/// How many runs are followed at once; and how many axioms they may have together, since each has a curve.
const MOST_RUNS: usize = 64;
const MOST_AXIOMS: usize = 20_000;
/// This many bytes before the end are remembered: they hold the last record's checksum.
const REMEMBERED: usize = 64;
/// A place in the file is noted once in this many records, to find the steps between two others.
const NOTED: usize = 256;

/// The runs that are looked at, those of late at the end.
#[derive(Default)]
pub struct Followed {
    runs: VecDeque<Following>,
    begun: u64,
}

struct Following {
    folder: PathBuf,
    /// Changes whenever the curves begin again.
    generation: u64,
    /// The text of `run.json`.
    info: String,
    report: Report,
    /// How many records have been read.
    lines: usize,
    /// How far the records have been read, and what stood just before.
    offset: u64,
    before: Vec<u8>,
    /// Steps, and where their records begin.
    noted: Vec<(u64, u64)>,
    axioms: usize,
}

impl Followed {
    /// The curves of a run: what is new after a step if they have not begun again since, or all.
    ///
    /// # Errors
    /// If the records cannot be read, or are damaged.
    pub fn curves(
        &mut self,
        place: &RunsFolder,
        folder: &Path,
        since: Option<(u64, u64)>,
    ) -> Result<Value, Diagnostics> {
        let run = self.up_to_date(place, folder)?;
        let after = since.filter(|(generation, _)| *generation == run.generation);
        let mut document = run.report.curves(after.map(|(_, step)| step));
        document["generation"] = json!(run.generation);
        Ok(document)
    }

    /// The curves between two steps, as fine as those of a whole run.
    ///
    /// # Errors
    /// If the records cannot be read, or are damaged.
    pub fn stretch(
        &mut self,
        place: &RunsFolder,
        folder: &Path,
        (from, to): (u64, u64),
    ) -> Result<Value, Diagnostics> {
        let run = self.up_to_date(place, folder)?;
        let before = run.noted.partition_point(|(step, _)| *step <= from);
        let start = before.checked_sub(1).map_or(0, |at| run.noted[at].1);
        let (mut report, _) = begin(place, folder)?;
        let Some(mut file) = open(place, folder)? else {
            return Ok(report.curves(None));
        };
        file.seek(SeekFrom::Start(start)).map_err(unreadable)?;
        for record in RecordReader::new(file, "metrics.jsonl".into()) {
            let record = record?;
            if record.step > to {
                break;
            }
            if record.step >= from {
                report.push(&record);
            }
        }
        Ok(report.curves(None))
    }

    fn up_to_date(
        &mut self,
        place: &RunsFolder,
        folder: &Path,
    ) -> Result<&mut Following, Diagnostics> {
        let at = self.runs.iter().position(|run| run.folder == folder);
        let known = at.and_then(|at| self.runs.remove(at));
        let goes_on = known.as_ref().map(|run| run.goes_on(place));
        let mut run = match (known, &goes_on) {
            (Some(run), Some(Ok(true) | Err(_))) => run,
            _ => {
                self.begun += 1;
                Following::new(place, folder, self.begun)?
            }
        };
        // What was read stays, for when the rest can be.
        let read = (goes_on.unwrap_or(Ok(true))).and_then(|_| run.catch_up(place));
        self.runs.push_back(run);
        let axioms = |runs: &VecDeque<Following>| runs.iter().map(|r| r.axioms).sum::<usize>();
        while self.runs.len() > MOST_RUNS
            || (self.runs.len() > 1 && axioms(&self.runs) > MOST_AXIOMS)
        {
            self.runs.pop_front();
        }
        read?;
        // It was inserted above.
        let last = self.runs.len() - 1;
        Ok(&mut self.runs[last])
    }
}

impl Following {
    fn new(place: &RunsFolder, folder: &Path, generation: u64) -> Result<Following, Diagnostics> {
        let (report, info) = begin(place, folder)?;
        Ok(Following {
            folder: folder.to_path_buf(),
            generation,
            axioms: report.axioms(),
            info,
            report,
            lines: 0,
            offset: 0,
            before: Vec::new(),
            noted: Vec::new(),
        })
    }

    /// Whether the records that were read are still there: those after the last checkpoint are cut off when a run is
    /// resumed.
    fn goes_on(&self, place: &RunsFolder) -> Result<bool, Diagnostics> {
        let Some(mut file) = open(place, &self.folder)? else {
            return Ok(self.offset == 0);
        };
        let mut now = vec![0; self.before.len()];
        let start = self.offset - self.before.len() as u64;
        let read = patiently(|| {
            file.seek(SeekFrom::Start(start))?;
            file.read_exact(&mut now)
        });
        match read {
            Ok(()) => Ok(now == self.before),
            Err(error) if error.kind() == ErrorKind::UnexpectedEof => Ok(false),
            Err(error) => Err(unreadable(error)),
        }
    }

    /// Takes over what is new in `run.json` and the records.
    fn catch_up(&mut self, place: &RunsFolder) -> Result<(), Diagnostics> {
        // A file that is being replaced may be missing for a moment.
        let text = info_text(place, &self.folder)?;
        if !text.is_empty() && self.info != text {
            self.report.info = info(&text)?;
            self.info = text;
        }
        // A line may look damaged while another machine writes it: a disk may show its room before its letters.
        for pause in [10, 50] {
            if self.read_on(place).is_ok() {
                return Ok(());
            }
            thread::sleep(Duration::from_millis(pause));
        }
        self.read_on(place)
    }

    fn read_on(&mut self, place: &RunsFolder) -> Result<(), Diagnostics> {
        let Some(mut file) = open(place, &self.folder)? else {
            return Ok(());
        };
        file.seek(SeekFrom::Start(self.offset))
            .map_err(unreadable)?;
        let mut records = RecordReader::new(
            file.try_clone().map_err(unreadable)?,
            "metrics.jsonl".into(),
        );
        records.skip_lines(self.lines);
        let start = self.offset;
        let read = loop {
            let record: StepRecord = match records.next() {
                None => break Ok(()),
                Some(Err(errors)) => break Err(errors),
                Some(Ok(record)) => record,
            };
            if self.lines.is_multiple_of(NOTED) {
                self.noted.push((record.step, self.offset));
            }
            self.lines += 1;
            self.report.push(&record);
            self.offset = start + records.position();
        };
        if self.offset > start {
            let length = (self.offset as usize).min(REMEMBERED);
            self.before.resize(length, 0);
            let from = SeekFrom::Start(self.offset - length as u64);
            patiently(|| {
                file.seek(from)?;
                file.read_exact(&mut self.before)
            })
            .map_err(unreadable)?;
        }
        read
    }
}

/// The report of a run without its records, and the text of its `run.json`.
fn begin(place: &RunsFolder, folder: &Path) -> Result<(Report, String), Diagnostics> {
    let text = info_text(place, folder)?;
    let mut summary = RunSummary {
        info: info(&text)?,
        ..RunSummary::default()
    };
    let axioms = summary.info.axioms.iter();
    summary.axiom_names = axioms.map(|axiom| axiom.name.clone()).collect();
    if let Some(file) = open(place, folder)? {
        let mut records = RecordReader::new(file, "metrics.jsonl".into());
        if records.next().transpose()?.is_some() {
            summary.axiom_names = records.axiom_names().to_vec();
        }
    }
    let mut report = Report::new(&summary);
    place.check(folder)?;
    report.set_schedules(&RunDirectory::open(folder)?);
    Ok((report, text))
}

fn info_text(place: &RunsFolder, folder: &Path) -> Result<String, Diagnostics> {
    place.text(&folder.join("run.json")).map_err(unreadable)
}

fn info(text: &str) -> Result<RunInfo, Diagnostics> {
    match text.is_empty() {
        true => Ok(RunInfo::default()),
        false => RunInfo::parse(text.as_bytes(), "run.json"),
    }
}

fn open(place: &RunsFolder, folder: &Path) -> Result<Option<File>, Diagnostics> {
    patiently(|| place.open(&folder.join("metrics.jsonl"))).map_err(unreadable)
}

fn unreadable(error: std::io::Error) -> Diagnostics {
    Diagnostic::error(
        Code::FileUnreadable,
        format!("the records cannot be read: {error}"),
    )
    .into()
}
