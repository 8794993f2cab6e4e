//! A description of a whole run: `run.json`.

use std::collections::BTreeMap;
use std::time::{SystemTime, UNIX_EPOCH};

use logltn::{Code, Diagnostic, Diagnostics};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::seal::{PAGE, crc32};

/// What is known of a run as a whole.
///
/// Nothing else may stand in its file: a letter that changed in the name of the checksum must not leave it without one.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct RunInfo {
    /// The name of the run, usually that of the manifest.
    pub title: String,
    /// The seed of all random numbers.
    pub seed: u64,
    /// The name of the semantics.
    pub semantics: String,
    /// Whether the truths of its records are logs. Missing in runs of older programs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub logs: Option<bool>,
    /// The versions of the programs involved, by name.
    pub versions: BTreeMap<String, String>,
    /// The command line, word by word.
    pub command: Vec<String>,
    /// When it began, as [`utc_time`] writes it.
    pub started: String,
    /// When the status last changed.
    pub updated: String,
    /// Its status.
    pub status: RunStatus,
    /// How many steps it had done when the status last changed. Missing in runs of older programs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub steps: Option<u64>,
    /// How many steps it will have, unless it stops early. Missing in runs of older programs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub total: Option<u64>,
    /// How many steps an epoch has; schedules may use it. Missing in runs of older programs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub steps_per_epoch: Option<u64>,
    /// The reason, if the status alone is not enough.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub reason: String,
    /// The axioms, in the order of the records.
    pub axioms: Vec<AxiomInfo>,
    /// Size and checksum of each data file that training reads, by its path relative to the run.
    pub data: BTreeMap<String, String>,
    /// The same for each file that only metrics read. Empty in runs that are older than this.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub measured: BTreeMap<String, String>,
    /// The checksums of the run's own `manifest.toml` and `theory.ltn`. Empty in runs that are older than this.
    pub files: BTreeMap<String, String>,
    /// What was trained, [in words](logltn_learn::KnowledgeBase::description): layers, inputs, classes. Empty in runs
    /// that are older than this.
    pub model: BTreeMap<String, String>,
    /// The weights that it started from, if they were not random.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub start: Option<StartInfo>,
    /// The weights that early stopping kept, in a finished run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kept: Option<KeptInfo>,
    /// The whole theory with the first weights and the last. Missing in runs of older programs, and where it would take
    /// too long.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub whole: Option<WholeInfo>,
}

/// The weights that `weights.safetensors` holds where that is not the end of the run: the best by the metric of
/// `early_stop`. Those of the end are in `last.safetensors`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct KeptInfo {
    /// The metric.
    pub metric: String,
    /// The step after which its value was the best.
    pub step: u64,
    /// That value.
    pub value: f64,
    /// How many evaluations were not better than that before the run stopped early; `None` if it did all its steps.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stopped_after: Option<u64>,
    /// All metrics of the weights that were kept.
    pub metrics: Vec<(String, f64)>,
}

impl KeptInfo {
    /// What happened, for display: `done` of `total` steps.
    pub fn sentence(&self, done: u64, total: u64) -> String {
        let KeptInfo {
            metric,
            step,
            value,
            ..
        } = self;
        let best = format!("the best {metric}, {}, was at step {step}", shown(*value));
        match self.stopped_after {
            Some(1) => format!(
                "stopped early after step {done} of {total}: {best}, and the next evaluation was not better"
            ),
            Some(n) => format!(
                "stopped early after step {done} of {total}: {best}, and the next {n} evaluations were not better"
            ),
            None => best,
        }
    }
}

/// Six digits are enough for people.
fn shown(value: f64) -> String {
    let digits = (5 - value.abs().max(1e-300).log10().floor() as i64).clamp(0, 12) as usize;
    let text = format!("{value:.digits$}");
    match text.contains('.') {
        true => text.trim_end_matches('0').trim_end_matches('.').to_string(),
        false => text,
    }
}

/// The whole theory, without batches, samples and dropout, with the first weights of a run and with the last, both at
/// the last α, p and p_forall: the difference was learnt.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct WholeInfo {
    /// α, p and p_forall.
    pub alpha: f64,
    /// p of pMean.
    pub p: f64,
    /// p of pMeanError.
    pub p_forall: f64,
    /// Before the first step.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub first: Option<WholeTruth>,
    /// After the last step.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub last: Option<WholeTruth>,
    /// How well rules hold after the last step. Missing in runs of older programs.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub rules: Vec<RuleInfo>,
}

/// An axiom or a family of the form `forall …. a -> b`, where every truth above ½ counts as true.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct RuleInfo {
    /// Its name.
    pub name: String,
    /// How many bindings its `forall`s have, for all members of a family together.
    pub groundings: u64,
    /// The number of bindings whose premise is true.
    pub premises: u64,
    /// How many of these have a false conclusion.
    pub broken: u64,
}

/// The truth of a whole theory: logs in the log semantics.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct WholeTruth {
    /// All axioms together.
    pub sat: f64,
    /// What training minimises.
    pub loss: f64,
    /// Each axiom, in the order of the run's.
    pub axioms: Vec<f64>,
}

impl WholeInfo {
    /// α, p and p_forall for people.
    pub fn parameters(&self) -> String {
        let WholeInfo {
            alpha, p, p_forall, ..
        } = self;
        format!("alpha {alpha}, p {p}, p_forall {p_forall}")
    }
}

/// The weights that a run began with.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct StartInfo {
    /// The run that they come from.
    pub run: String,
    /// The tensors that were taken.
    pub taken: Vec<String>,
    /// The tensors that were not taken, and why.
    pub left: Vec<String>,
}

/// How far a run got.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum RunStatus {
    /// It is running, or its process was killed.
    #[default]
    Running,
    /// It was stopped on purpose and can be resumed.
    Interrupted,
    /// It did all its steps.
    Finished,
    /// It stopped on an error.
    Failed,
}

impl RunStatus {
    /// In one word.
    pub fn word(self) -> &'static str {
        match self {
            RunStatus::Running => "running",
            RunStatus::Interrupted => "interrupted",
            RunStatus::Finished => "finished",
            RunStatus::Failed => "failed",
        }
    }
}

/// A description of an axiom before training.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct AxiomInfo {
    /// Its name; members of a family are `name[individual]`.
    pub name: String,
    /// Its weight.
    pub weight: f64,
    /// Whether it is a law: worlds that break it do not exist, and it has no weight.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub hard: bool,
    /// How many bindings of its variables pass all guards. Missing in runs of older programs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub groundings: Option<u64>,
    /// In a finished run: how many of its `exists` all steps together left out, because their samples had no
    /// individual for them.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub left_out: u64,
}

fn is_zero(count: &u64) -> bool {
    *count == 0
}

impl RunInfo {
    /// The text of `run.json`.
    pub fn to_json(&self) -> String {
        // Text, numbers and lists of them can always be written.
        let mut text = serde_json::to_string_pretty(self).unwrap_or_default();
        text.push('\n');
        PAGE.put(&text)
    }

    /// Records the checksum of a file of the run.
    pub fn note_file(&mut self, name: &str, bytes: &[u8]) {
        self.files.insert(name.to_string(), print(bytes));
    }

    /// Whether a file of the run still has the recorded checksum, if there is one.
    pub fn is_noted(&self, name: &str, bytes: &[u8]) -> bool {
        (self.files.get(name)).is_none_or(|noted| *noted == print(bytes))
    }

    /// Reads the text of `run.json`; `name` stands for the file in messages.
    ///
    /// # Errors
    /// If it is not such a text. Keys that are missing get defaults, so that newer programs can read older runs.
    pub fn parse(bytes: &[u8], name: &str) -> Result<RunInfo, Diagnostics> {
        let damaged = |what: String| {
            Diagnostic::error(Code::RunDamaged, format!("{name}: {what}"))
                .help("the file should be as `logltn train` wrote it")
        };
        let unclear =
            |error: serde_json::Error| damaged(format!("it cannot be understood: {error}"));
        let mut object: Map<String, Value> = serde_json::from_slice(bytes).map_err(unclear)?;
        let check = object.remove("check");
        let info: RunInfo = serde_json::from_value(Value::Object(object)).map_err(unclear)?;
        // It may have another layout, but the contents must match. Without a checksum it comes from an older program.
        let says_the_same = || {
            let mut again: Map<String, Value> =
                serde_json::from_str(&info.to_json()).unwrap_or_default();
            again.remove("check") == check
        };
        match PAGE.fits(bytes) == Some(true) || check.is_none() || says_the_same() {
            true => Ok(info),
            false => {
                Err(damaged("it is damaged: its checksum does not fit its contents".into()).into())
            }
        }
    }
}

fn print(bytes: &[u8]) -> String {
    format!("CRC-32 {:08x}", crc32(&[bytes]))
}

/// A moment in UTC, to the second: `2026-11-15T10:12:00Z`.
///
/// ```
/// use logltn_train::run_directory::utc_time;
/// use std::time::{Duration, UNIX_EPOCH};
/// assert_eq!(utc_time(UNIX_EPOCH + Duration::from_secs(951_827_696)), "2000-02-29T12:34:56Z");
/// ```
pub fn utc_time(moment: SystemTime) -> String {
    // A clock before 1970 is wrong anyway.
    let seconds = moment
        .duration_since(UNIX_EPOCH)
        .map_or(0, |since| since.as_secs());
    let (year, month, day) = date(seconds / 86_400);
    let second = seconds % 86_400;
    format!(
        "{year:04}-{month:02}-{day:02}T{:02}:{:02}:{:02}Z",
        second / 3600,
        second / 60 % 60,
        second % 60
    )
}

/// Year, month and day from the days since 1970-01-01.
///
/// Years are counted from March, so that the leap day comes last, and in eras of 400 years, which all have the same
/// length.
fn date(days: u64) -> (u64, u64, u64) {
    const DAYS_FROM_0000_03_01: u64 = 719_468;
    const ERA: u64 = 146_097;
    let days = days + DAYS_FROM_0000_03_01;
    let day_of_era = days % ERA;
    let year_of_era =
        (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month_from_march = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * month_from_march + 2) / 5 + 1;
    let month = (month_from_march + 2) % 12 + 1;
    let year = days / ERA * 400 + year_of_era + u64::from(month <= 2);
    (year, month, day)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Counts the days one by one.
    #[test]
    fn dates_follow_the_calendar() {
        let (mut year, mut month, mut day) = (1970, 1, 1);
        for days in 0..200_000 {
            assert_eq!(date(days), (year, month, day));
            let leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
            let length = match month {
                2 if leap => 29,
                2 => 28,
                4 | 6 | 9 | 11 => 30,
                _ => 31,
            };
            day += 1;
            if day > length {
                (month, day) = (month + 1, 1);
            }
            if month > 12 {
                (year, month) = (year + 1, 1);
            }
        }
    }

    #[test]
    fn survives_its_file() {
        let info = RunInfo {
            title: "clustering".into(),
            seed: u64::MAX,
            versions: [("logltn".to_string(), "0.1.0".to_string())].into(),
            command: vec!["logltn".into(), "train".into(), "a b.toml".into()],
            status: RunStatus::Failed,
            reason: "the loss is \"NaN\" at step 3".into(),
            axioms: vec![AxiomInfo {
                name: "covered[∀]".into(),
                weight: 0.1,
                left_out: 3,
                hard: true,
                groundings: Some(12),
            }],
            ..RunInfo::default()
        };
        let text = info.to_json();
        assert_eq!(RunInfo::parse(text.as_bytes(), "run.json").unwrap(), info);
        assert_eq!(
            RunInfo::parse(b"{}", "run.json").unwrap(),
            RunInfo::default()
        );
        // A flipped bit never changes the contents unnoticed; another layout has the same contents.
        for bit in 0..8 * text.len() {
            let mut damaged = text.clone().into_bytes();
            damaged[bit / 8] ^= 1 << (bit % 8);
            let read = RunInfo::parse(&damaged, "run.json");
            assert!(
                read.is_err() || read.is_ok_and(|read| read == info),
                "bit {bit}"
            );
        }
        let value: Value = serde_json::from_str(&text).unwrap();
        for layout in [
            format!("{text} \n"),
            value.to_string(),
            format!("{value:#}\n\n"),
        ] {
            assert_eq!(RunInfo::parse(layout.as_bytes(), "run.json").unwrap(), info);
            let changed = layout.replace("0.1", "0.9");
            assert_ne!(changed, layout);
            let wrong = RunInfo::parse(changed.as_bytes(), "run.json").unwrap_err();
            assert!(wrong.to_string().contains("checksum"), "{wrong}");
        }
        let wrong = RunInfo::parse(b"{\"seed\": -1}", "a/run.json").unwrap_err();
        assert!(wrong.to_string().contains("a/run.json"), "{wrong}");
    }
}
