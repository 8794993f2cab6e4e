//! What is written down of one step, as a line of JSON.

use std::collections::BTreeMap;
use std::fmt;
use std::fs::File;
use std::io::{BufRead, BufReader, Read};
use std::path::Path;

use logltn::{Code, Diagnostic, Diagnostics};
use serde::de::{MapAccess, Visitor};
use serde::ser::SerializeMap;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::atomic::explain;
use super::line_pattern::LinePattern;
use super::seal::LINE;

/// What is written down of one step. A number that does not exist there (an axiom that its phase leaves out, the gradient
/// at an evaluation) is NaN.
#[derive(Clone, Debug, Default)]
pub struct StepRecord {
    /// The number of steps done so far.
    pub step: u64,
    /// The loss.
    pub loss: f64,
    /// The satisfaction of the theory: a log in the log semantics.
    pub sat: f64,
    /// The truth of each axiom, in the order of the run's axioms.
    pub axioms: Vec<f64>,
    /// The metrics evaluated at this step, by name; none at most steps.
    pub metrics: Vec<(String, f64)>,
    /// The norm of the gradient before clipping.
    pub gradient_norm: f64,
    /// The time the step took, in seconds.
    pub step_time: f64,
    /// How many `exists` were left out because the step's samples have no individual for them, by
    /// axiom.
    pub left_out: Vec<(String, u64)>,
}

/// Bit for bit, except that NaN is NaN: a record and its copy are equal.
impl PartialEq for StepRecord {
    fn eq(&self, other: &StepRecord) -> bool {
        let same = |a: f64, b: f64| a == b || (a.is_nan() && b.is_nan());
        self.step == other.step
            && same(self.loss, other.loss)
            && same(self.sat, other.sat)
            && same(self.gradient_norm, other.gradient_norm)
            && same(self.step_time, other.step_time)
            && self.left_out == other.left_out
            && self.axioms.len() == other.axioms.len()
            && (self.axioms.iter().zip(&other.axioms)).all(|(a, b)| same(*a, *b))
            && self.metrics.len() == other.metrics.len()
            && (self.metrics.iter().zip(&other.metrics)).all(|(a, b)| a.0 == b.0 && same(a.1, b.1))
    }
}

/// A line of `metrics.jsonl`. Axioms go by name there, so that a line can be understood by itself. `N` is what holds
/// names and numbers: borrowed when written, since there may be thousands at every step, owned when read.
///
/// Other keys are refused: a flipped letter in the checksum's key must not leave a line without a checksum.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Line<N> {
    step: u64,
    loss: Option<f64>,
    sat: Option<f64>,
    gradient_norm: Option<f64>,
    step_time: Option<f64>,
    axioms: N,
    metrics: N,
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    left_out: BTreeMap<String, u64>,
    /// Checked before the line is parsed, and added after it was written.
    #[serde(default, skip_serializing)]
    #[allow(dead_code)]
    check: Option<String>,
}

/// A JSON object that keeps its order. JSON has no NaN and no infinity: both are `null`.
struct Named(Vec<(String, f64)>);

struct BorrowedNames<'a>(Vec<(&'a str, f64)>);

fn finite(value: f64) -> Option<f64> {
    value.is_finite().then_some(value)
}

impl Serialize for BorrowedNames<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(self.0.len()))?;
        for (name, value) in &self.0 {
            map.serialize_entry(name, &finite(*value))?;
        }
        map.end()
    }
}

impl<'de> Deserialize<'de> for Named {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Named, D::Error> {
        struct Entries;
        impl<'de> Visitor<'de> for Entries {
            type Value = Named;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object of numbers by name")
            }
            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Named, A::Error> {
                let mut entries = Vec::new();
                while let Some((name, value)) = map.next_entry::<String, Option<f64>>()? {
                    entries.push((name, value.unwrap_or(f64::NAN)));
                }
                Ok(Named(entries))
            }
        }
        deserializer.deserialize_map(Entries)
    }
}

impl StepRecord {
    /// The record as a line of JSON, with its checksum and its break.
    pub(crate) fn to_json_line(&self, axiom_names: &[String]) -> String {
        let line = Line {
            step: self.step,
            loss: finite(self.loss),
            sat: finite(self.sat),
            gradient_norm: finite(self.gradient_norm),
            step_time: finite(self.step_time),
            axioms: BorrowedNames(
                (axiom_names.iter().map(String::as_str))
                    .zip(self.axioms.iter().copied())
                    .collect(),
            ),
            metrics: BorrowedNames(
                (self.metrics.iter())
                    .map(|(name, value)| (name.as_str(), *value))
                    .collect(),
            ),
            left_out: self.left_out.iter().cloned().collect(),
            check: None,
        };
        // Objects of text and numbers can always be serialised.
        let mut text = serde_json::to_string(&line).unwrap_or_default();
        text.push('\n');
        LINE.put(&text)
    }

    /// A record from its line, and the names of its axioms.
    pub(crate) fn from_json_line(text: &str) -> Result<(StepRecord, Vec<String>), String> {
        if !LINE.is_whole(text.as_bytes()) {
            return Err("the line is damaged: its checksum does not fit its contents".to_string());
        }
        let line: Line<Named> = serde_json::from_str(text)
            .map_err(|error| format!("the line is not a record of a step: {error}"))?;
        let number = |value: Option<f64>| value.unwrap_or(f64::NAN);
        let (names, axioms) = line.axioms.0.into_iter().unzip();
        let record = StepRecord {
            step: line.step,
            loss: number(line.loss),
            sat: number(line.sat),
            axioms,
            metrics: line.metrics.0,
            gradient_norm: number(line.gradient_norm),
            step_time: number(line.step_time),
            left_out: line.left_out.into_iter().collect(),
        };
        Ok((record, names))
    }
}

/// A line longer than this is not a record: a file of nothing but zeros may have any length.
const LONGEST: u64 = 64 << 20;

/// Reads `metrics.jsonl` record by record, since a long run may not fit into memory.
///
/// A last line without a line break was cut short when the process was killed, and is left out.
#[derive(Debug)]
pub struct RecordReader {
    name: String,
    lines: BufReader<File>,
    line: usize,
    axiom_names: Vec<String>,
    /// How lines of these axioms look.
    pattern: Option<LinePattern>,
    bytes: Vec<u8>,
    /// Where the next line begins.
    position: u64,
    /// The step of the last record read. The first one may have any: a session may have been stepped before its run.
    last: Option<u64>,
}

impl RecordReader {
    pub(super) fn open(path: &Path) -> Result<RecordReader, Diagnostics> {
        let file = logltn_data::open_file(path)
            .map_err(|error| explain(path, "cannot be read", &error))?;
        Ok(RecordReader::new(file, path.display().to_string()))
    }

    /// Reads the records of an open `metrics.jsonl` from where the file is, which must be the beginning of a line;
    /// `name` stands for it in messages, which count lines from there.
    pub fn new(file: File, name: String) -> RecordReader {
        RecordReader {
            name,
            lines: BufReader::with_capacity(1 << 16, file),
            line: 0,
            axiom_names: Vec::new(),
            pattern: None,
            bytes: Vec::new(),
            position: 0,
            last: None,
        }
    }

    /// The number of earlier lines, which messages count, too.
    pub fn skip_lines(&mut self, lines: usize) {
        self.line += lines;
    }

    /// How many bytes the records read so far take.
    pub fn position(&self) -> u64 {
        self.position
    }

    /// The names of the axioms, known once the first record has been read.
    pub fn axiom_names(&self) -> &[String] {
        &self.axiom_names
    }

    fn read(&mut self) -> Result<Option<StepRecord>, Diagnostics> {
        self.bytes.clear();
        self.line += 1;
        let place = |what: String| {
            Diagnostics::from(
                Diagnostic::error(
                    Code::RunDamaged,
                    format!("{}:{}: {what}", self.name, self.line),
                )
                .help("the file should be as `logltn train` wrote it"),
            )
        };
        let length = (&mut self.lines)
            .take(LONGEST)
            .read_until(b'\n', &mut self.bytes)
            .map_err(|error| place(format!("the line cannot be read: {error}")))?;
        // Before it is read as text: a line may have been cut in the middle of a letter.
        if !self.bytes.ends_with(b"\n") {
            return match length as u64 == LONGEST {
                true => Err(place("the line is too long".to_string())),
                false => Ok(None),
            };
        }
        let text = std::str::from_utf8(&self.bytes)
            .map_err(|error| place(format!("the line is damaged: {error}")))?;
        let known = (self.pattern.as_ref()).and_then(|pattern| pattern.record(text));
        let (record, names) = match known {
            Some(record) => (record, None),
            None => {
                let (record, names) = StepRecord::from_json_line(text).map_err(place)?;
                (record, Some(names))
            }
        };
        if self.position > 0
            && names
                .as_ref()
                .is_some_and(|names| *names != self.axiom_names)
        {
            return Err(place(
                "the axioms differ from those in the first line".to_string(),
            ));
        }
        // Each line may be whole although others are gone.
        if let Some(last) = self.last
            && record.step != last + 1
        {
            return Err(place(format!(
                "this is the record of step {}, and that of step {} should be here",
                record.step,
                last + 1
            )));
        }
        self.position += length as u64;
        self.last = Some(record.step);
        if let Some(names) = names {
            self.pattern.get_or_insert_with(|| LinePattern::new(&names));
            self.axiom_names = names;
        }
        Ok(Some(record))
    }
}

impl Iterator for RecordReader {
    type Item = Result<StepRecord, Diagnostics>;

    fn next(&mut self) -> Option<Self::Item> {
        self.read().transpose()
    }
}
