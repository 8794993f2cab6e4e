//! The flags that questions share: the run, the semantics and its parameters.

use std::path::PathBuf;

use logltn::{Bound, Individual, Parameters, Semantics, did_you_mean};
use logltn_train::project::Project;
use logltn_train::train::Questions;
use serde::ser::{Serialize, SerializeMap, Serializer};

/// The semantics and its parameters.
#[derive(clap::Args)]
pub struct Operators {
    /// The semantics [default: the manifest's]
    #[arg(long, value_parser = semantics)]
    semantics: Option<Semantics>,
    /// α of LogMeanExp and LogSumExp [default: the schedule's last value]
    #[arg(long, value_parser = |s: &str| parameter("alpha", s))]
    alpha: Option<f64>,
    /// p of pMean [default: the schedule's last value]
    #[arg(long, value_parser = |s: &str| parameter("p", s))]
    p: Option<f64>,
    /// p of pMeanError [default: the schedule's last value]
    #[arg(long, value_parser = |s: &str| parameter("p_forall", s))]
    p_forall: Option<f64>,
}

impl Operators {
    /// The semantics, or else this one.
    pub fn semantics(&self, default: Semantics) -> Semantics {
        self.semantics.unwrap_or(default)
    }

    /// The parameters, those that are not given from these.
    pub fn parameters(&self, default: Parameters) -> Parameters {
        Parameters {
            alpha: self.alpha.unwrap_or(default.alpha),
            p: self.p.unwrap_or(default.p),
            p_forall: self.p_forall.unwrap_or(default.p_forall),
        }
    }
}

/// A semantics by its name, for a flag.
pub fn semantics(name: &str) -> Result<Semantics, String> {
    Semantics::named(name).ok_or_else(|| {
        let known = Semantics::NAMES.join(", ");
        match did_you_mean(name, Semantics::NAMES) {
            Some(guess) => format!("{guess} (known: {known})"),
            None => format!("known: {known}"),
        }
    })
}

/// α, p or p_forall, for a flag.
pub fn parameter(name: &'static str, text: &str) -> Result<f64, String> {
    let value: f64 = text.parse().map_err(|_| "expected a number".to_string())?;
    Parameters::check(name, value).map_err(|error| error.message().to_string())?;
    Ok(value)
}

/// The run, the semantics and its parameters.
#[derive(clap::Args)]
pub struct Meaning {
    /// The folder of a run, finished or not; needed where something is learnt
    #[arg(long, value_name = "DIR")]
    pub run: Option<PathBuf>,
    #[command(flatten)]
    operators: Operators,
}

impl Meaning {
    /// The settings of a question to a project.
    pub fn questions<'a>(&'a self, project: &'a Project, top: usize) -> Questions<'a> {
        let last = project.manifest.schedule.last(self.run.is_some());
        Questions {
            most_groundings: None,
            open: Vec::new(),
            project,
            run: self.run.as_deref(),
            semantics: self.operators.semantics(project.manifest.semantics),
            parameters: self.operators.parameters(last),
            top,
            joint: false,
        }
    }
}

/// A binding as JSON: variables in the order of the formula.
pub struct BindingDocument<'a>(pub &'a [Bound]);

impl Serialize for BindingDocument<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(self.0.len()))?;
        for bound in self.0 {
            match &bound.to {
                Individual::Name(name) => map.serialize_entry(&bound.variable, name)?,
                Individual::Int(n) => map.serialize_entry(&bound.variable, n)?,
                Individual::Real(x) => map.serialize_entry(&bound.variable, x)?,
            }
        }
        map.end()
    }
}

/// A truth degree as a bar of ten blanks.
pub fn bar(degree: f64) -> String {
    const PARTS: [&str; 9] = ["", "▏", "▎", "▍", "▌", "▋", "▊", "▉", "█"];
    let eighths = (degree.clamp(0.0, 1.0) * 80.0).round() as usize;
    let bar = format!("{}{}", "█".repeat(eighths / 8), PARTS[eighths % 8]);
    let blanks = " ".repeat(10 - bar.chars().count());
    format!("▕{bar}{blanks}▏")
}
