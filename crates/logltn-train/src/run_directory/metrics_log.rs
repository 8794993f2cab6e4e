//! The two files that grow with every step, and how they are cut back.

use std::fs::{File, OpenOptions};
use std::io::{self, BufRead, BufReader, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use logltn::{Code, Diagnostic, Diagnostics};

use super::atomic::explain;
use super::record::{RecordReader, StepRecord};
use super::seal::LINE;

/// Appends records to `metrics.csv` and `metrics.jsonl`.
///
/// Records are buffered for half a second at most, so that others can follow the run;
/// [`super::RunDirectory::write_checkpoint`] writes them to disk before the checkpoint that depends on them, and
/// dropping the log writes the rest.
#[derive(Debug)]
pub struct MetricsLog {
    axiom_names: Vec<String>,
    metric_names: Vec<String>,
    csv: Growing,
    jsonl: Growing,
    /// When the records were last passed to the system.
    seen: Instant,
}

/// Followers of a run see its records after at most this time.
const SEEN_AFTER: Duration = Duration::from_millis(500);

impl MetricsLog {
    pub(super) fn open(
        dir: &Path,
        axioms: &[String],
        metrics: &[String],
        after: Option<u64>,
    ) -> Result<MetricsLog, Diagnostics> {
        let header = header(axioms, metrics)?;
        let path = dir.join("metrics.jsonl");
        let jsonl = Growing::after(&path, after)?;
        // Only the records are trusted: where the table differs, it is made anew from them.
        let records = match after {
            Some(_) => Some(RecordReader::open(&path)?),
            None => None,
        };
        let lines = records.into_iter().flatten();
        let lines = lines.map(|record| csv_line(&record?, metrics));
        let csv = Growing::of(
            &dir.join("metrics.csv"),
            std::iter::once(Ok(header)).chain(lines),
        )?;
        Ok(MetricsLog {
            axiom_names: axioms.to_vec(),
            metric_names: metrics.to_vec(),
            csv,
            jsonl,
            seen: Instant::now(),
        })
    }

    /// Appends a record.
    ///
    /// # Errors
    /// If it has another number of axioms than the run, a metric that the run does not know, or cannot be written.
    pub fn append(&mut self, record: &StepRecord) -> Result<(), Diagnostics> {
        if record.axioms.len() != self.axiom_names.len() {
            return Err(Diagnostic::error(
                Code::RunDiffers,
                format!(
                    "the record of step {} has {} axioms, but the run has {}",
                    record.step,
                    record.axioms.len(),
                    self.axiom_names.len()
                ),
            )
            .into());
        }
        let line = csv_line(record, &self.metric_names)?;
        self.csv.append(line.as_bytes())?;
        let line = record.to_json_line(&self.axiom_names);
        self.jsonl.append(line.as_bytes())?;
        // To the files, where others can read them; syncing to disk would be slow.
        if self.seen.elapsed() >= SEEN_AFTER {
            self.csv.flush()?;
            self.jsonl.flush()?;
            self.seen = Instant::now();
        }
        Ok(())
    }

    /// Writes all records to disk.
    pub fn sync(&mut self) -> Result<(), Diagnostics> {
        self.csv.sync()?;
        self.jsonl.sync()?;
        Ok(())
    }
}

/// A record as a line of the table.
fn csv_line(record: &StepRecord, metrics: &[String]) -> Result<String, Diagnostics> {
    let unknown =
        (record.metrics.iter()).find(|(name, _)| !metrics.iter().any(|known| known == name));
    if let Some((name, _)) = unknown {
        return Err(Diagnostic::error(
            Code::RunDiffers,
            format!(
                "the record of step {} has a metric `{name}` that the run does not know",
                record.step
            ),
        )
        .into());
    }
    let metric = |name: &String| {
        let found = record.metrics.iter().find(|(known, _)| known == name);
        found.map_or(f64::NAN, |(_, value)| *value)
    };
    let numbers = [
        record.loss,
        record.sat,
        record.gradient_norm,
        record.step_time,
    ];
    let cells = (numbers.into_iter())
        .chain(metrics.iter().map(metric))
        .chain(record.axioms.iter().copied());
    let mut line = record.step.to_string();
    for value in cells {
        line.push(',');
        // An empty cell is what spreadsheets and data frames take for "no value"; the records have `null` there.
        if value.is_finite() {
            // `{:?}` has exponents where `{}` would have three hundred zeros.
            line.push_str(&format!("{value:?}"));
        }
    }
    line.push('\n');
    Ok(line)
}

/// The first line of `metrics.csv`. Axioms and metrics may have the same name, so each has its kind as a prefix.
fn header(axioms: &[String], metrics: &[String]) -> Result<String, Diagnostics> {
    let fixed = ["step", "loss", "sat", "gradient_norm", "step_time"];
    let cells = (fixed.iter().map(|name| (*name).to_string()))
        .chain(metrics.iter().map(|name| format!("metric:{name}")))
        .chain(axioms.iter().map(|name| format!("axiom:{name}")));
    // A label of the user's data may hold a line break, but resuming reads line by line.
    let one_line = |cell: String| cell.replace(|c: char| c.is_control(), " ");
    let mut writer = csv::Writer::from_writer(Vec::new());
    let written = writer
        .write_record(cells.map(one_line))
        .map_err(|error| Diagnostic::error(Code::CannotWrite, format!("metrics.csv: {error}")))
        .and_then(|()| {
            writer.into_inner().map_err(|error| {
                Diagnostic::error(Code::CannotWrite, format!("metrics.csv: {error}"))
            })
        })?;
    Ok(String::from_utf8_lossy(&written).into_owned())
}

/// A file that is appended to.
#[derive(Debug)]
pub(crate) struct Growing {
    path: PathBuf,
    file: BufWriter<File>,
}

/// A file to be read and written; made if it is not there.
pub(crate) fn open(path: &Path) -> io::Result<File> {
    OpenOptions::new()
        .read(true)
        .write(true)
        .create(true)
        .truncate(false)
        .open(path)
}

impl Growing {
    /// The records of a run, cut after those of step `after`; `None` keeps none.
    ///
    /// # Errors
    /// If they do not reach that far: a checkpoint is written after its records, so some have been lost or damaged.
    fn after(path: &Path, after: Option<u64>) -> Result<Growing, Diagnostic> {
        let wrong = |error: &io::Error| explain(path, "cannot be written", error);
        let file = open(path).map_err(|error| wrong(&error))?;
        let (length, last) = match after {
            None => (0, 0),
            Some(after) => kept(&file, after).map_err(|error| wrong(&error))?,
        };
        if let Some(after) = after
            && last < after
        {
            let what = format!(
                "{}: the checkpoint is from step {after}, but the record of step {} is missing or damaged",
                path.display(),
                last + 1
            );
            return Err(Diagnostic::error(Code::RunDamaged, what).help(
                "restore the file from a copy; or start again in another folder, from these weights if you like: \
                 `start = { run = \"…\" }` under `[train]`",
            ));
        }
        Growing::cut(path, file, length)
    }

    /// Makes a file of these lines. Existing lines stay; from the first different line on, the file is rewritten.
    fn of(
        path: &Path,
        mut lines: impl Iterator<Item = Result<String, Diagnostics>>,
    ) -> Result<Growing, Diagnostics> {
        let wrong = |error: io::Error| explain(path, "cannot be written", &error);
        let file = open(path).map_err(wrong)?;
        let mut there = BufReader::with_capacity(1 << 18, &file);
        let (mut length, mut other) = (0, None);
        let mut found = Vec::new();
        for line in lines.by_ref() {
            let line = line?;
            found.clear();
            there.read_until(b'\n', &mut found).map_err(wrong)?;
            if found != line.as_bytes() {
                other = Some(Ok(line));
                break;
            }
            length += line.len() as u64;
        }
        let mut growing = Growing::cut(path, file, length)?;
        for line in other.into_iter().chain(lines) {
            growing.append(line?.as_bytes())?;
        }
        Ok(growing)
    }

    /// Cuts a file, to go on from there.
    ///
    /// That is one call that the system does wholly or not at all, needs no room on a full disk, and may be repeated: it is
    /// as safe as a copy that takes the file's place.
    pub(crate) fn cut(path: &Path, mut file: File, length: u64) -> Result<Growing, Diagnostic> {
        let cut = file.set_len(length);
        cut.and_then(|()| io::Seek::seek(&mut file, io::SeekFrom::Start(length)))
            .and_then(|_| file.sync_all())
            .map_err(|error| explain(path, "cannot be written", &error))?;
        Ok(Growing {
            path: path.to_path_buf(),
            file: BufWriter::with_capacity(1 << 16, file),
        })
    }

    pub(crate) fn append(&mut self, line: &[u8]) -> Result<(), Diagnostic> {
        (self.file.write_all(line)).map_err(|error| self.wrong(&error))
    }

    fn flush(&mut self) -> Result<(), Diagnostic> {
        (self.file.flush()).map_err(|error| self.wrong(&error))
    }

    pub(crate) fn sync(&mut self) -> Result<(), Diagnostic> {
        (self.file.flush())
            .and_then(|()| self.file.get_ref().sync_data())
            .map_err(|error| self.wrong(&error))
    }

    fn wrong(&self, error: &io::Error) -> Diagnostic {
        explain(&self.path, "cannot be written", error)
    }
}

/// The bytes up to the first record that is later than `after`, out of order, cut short or damaged, and the last step
/// before it.
fn kept(file: &File, after: u64) -> io::Result<(u64, u64)> {
    #[derive(serde::Deserialize)]
    struct Step {
        step: u64,
    }
    let mut lines = BufReader::with_capacity(1 << 18, file);
    let (mut length, mut last) = (0, 0);
    let mut line = Vec::new();
    loop {
        line.clear();
        let read = lines.read_until(b'\n', &mut line)?;
        let step = serde_json::from_slice::<Step>(&line).map(|found| found.step);
        match step {
            Ok(step)
                if (step == last + 1 || length == 0)
                    && step <= after
                    && line.ends_with(b"\n")
                    && LINE.is_whole(&line) =>
            {
                length += read as u64;
                last = step;
            }
            _ => return Ok((length, last)),
        }
    }
}
