//! The two files that grow with every step, and how they are cut back.

use std::fs::{File, OpenOptions};
use std::io::{self, BufRead, BufReader, BufWriter, Write};
use std::path::{Path, PathBuf};

use logltn::{Code, Diagnostic, Diagnostics};

use super::atomic::explain;
use super::record::StepRecord;

/// Appends records to `metrics.csv` and `metrics.jsonl`.
///
/// Records are buffered; [`super::RunDirectory::write_checkpoint`] brings them to disk before the checkpoint that knows
/// of them, and dropping the log writes what is left.
#[derive(Debug)]
pub struct MetricsLog {
    axiom_names: Vec<String>,
    metric_names: Vec<String>,
    csv: Growing,
    jsonl: Growing,
}

impl MetricsLog {
    pub(super) fn open(
        dir: &Path,
        axioms: &[String],
        metrics: &[String],
        after: Option<u64>,
    ) -> Result<MetricsLog, Diagnostics> {
        let header = header(axioms, metrics)?;
        let csv = Growing::open(&dir.join("metrics.csv"), after, header.len(), |line| {
            if line == header.as_bytes() {
                return Some(0);
            }
            let text = std::str::from_utf8(line).ok()?;
            text.split(',').next()?.parse().ok()
        })?;
        let jsonl = Growing::open(&dir.join("metrics.jsonl"), after, 0, |line| {
            #[derive(serde::Deserialize)]
            struct Step {
                step: u64,
            }
            serde_json::from_slice::<Step>(line).ok().map(|s| s.step)
        })?;
        let mut log = MetricsLog {
            axiom_names: axioms.to_vec(),
            metric_names: metrics.to_vec(),
            csv,
            jsonl,
        };
        if log.csv.length == 0 {
            log.csv.append(header.as_bytes())?;
        }
        Ok(log)
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
        let line = self.csv_line(record)?;
        self.csv.append(line.as_bytes())?;
        let line = record.to_json_line(&self.axiom_names);
        self.jsonl.append(line.as_bytes())?;
        Ok(())
    }

    /// Brings all records to disk.
    pub fn sync(&mut self) -> Result<(), Diagnostics> {
        self.csv.sync()?;
        self.jsonl.sync()?;
        Ok(())
    }

    fn csv_line(&self, record: &StepRecord) -> Result<String, Diagnostics> {
        let unknown = (record.metrics.iter())
            .find(|(name, _)| !self.metric_names.iter().any(|known| known == name));
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
            .chain(self.metric_names.iter().map(metric))
            .chain(record.axioms.iter().copied());
        let mut line = record.step.to_string();
        for value in cells {
            line.push(',');
            // An empty cell is what spreadsheets and data frames take for "no value".
            if !value.is_nan() {
                // `{:?}` has exponents where `{}` would have three hundred zeros.
                line.push_str(&format!("{value:?}"));
            }
        }
        line.push('\n');
        Ok(line)
    }
}

/// The first line of `metrics.csv`. Axioms and metrics may have the same name, so each says what it is.
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
struct Growing {
    path: PathBuf,
    file: BufWriter<File>,
    length: u64,
}

impl Growing {
    /// Opens the file after its last line whose step, as `step_of` reads it, is at most `after`.
    ///
    /// Cutting a file is one call that the system does wholly or not at all, needs no room on a full disk, and may be
    /// repeated: it is as safe as a copy that takes the file's place.
    fn open(
        path: &Path,
        after: Option<u64>,
        header: usize,
        step_of: impl Fn(&[u8]) -> Option<u64>,
    ) -> Result<Growing, Diagnostic> {
        let wrong = |error: &io::Error| explain(path, "cannot be written", error);
        let mut file = OpenOptions::new()
            .read(true)
            .write(true)
            .create(true)
            .truncate(false)
            .open(path)
            .map_err(|error| wrong(&error))?;
        let length = match after {
            None => 0,
            Some(after) => kept_length(&file, after, header, step_of).map_err(|e| wrong(&e))?,
        };
        file.set_len(length).map_err(|error| wrong(&error))?;
        io::Seek::seek(&mut file, io::SeekFrom::Start(length)).map_err(|error| wrong(&error))?;
        file.sync_all().map_err(|error| wrong(&error))?;
        Ok(Growing {
            path: path.to_path_buf(),
            file: BufWriter::with_capacity(1 << 16, file),
            length,
        })
    }

    fn append(&mut self, line: &[u8]) -> Result<(), Diagnostic> {
        self.length += line.len() as u64;
        (self.file.write_all(line)).map_err(|error| self.wrong(&error))
    }

    fn sync(&mut self) -> Result<(), Diagnostic> {
        (self.file.flush())
            .and_then(|()| self.file.get_ref().sync_data())
            .map_err(|error| self.wrong(&error))
    }

    fn wrong(&self, error: &io::Error) -> Diagnostic {
        explain(&self.path, "cannot be written", error)
    }
}

/// The bytes up to the first line that is later than `after`, cut short, or not understood.
fn kept_length(
    file: &File,
    after: u64,
    header: usize,
    step_of: impl Fn(&[u8]) -> Option<u64>,
) -> io::Result<u64> {
    let mut lines = BufReader::with_capacity(1 << 18, file);
    let mut kept = 0;
    let mut line = Vec::new();
    loop {
        line.clear();
        let length = lines.read_until(b'\n', &mut line)?;
        let whole = line.ends_with(b"\n");
        if !whole || step_of(&line).is_none_or(|step| step > after) {
            // A file whose header is not the expected one keeps nothing, and gets a new one.
            return Ok(if kept < header as u64 { 0 } else { kept });
        }
        kept += length as u64;
    }
}
