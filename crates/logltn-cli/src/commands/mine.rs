//! `logltn mine`: Horn rules that the tables support.

use std::path::PathBuf;

use logltn::Diagnostics;
use logltn_learn::mine::{Mine, mine};
use logltn_train::run_directory::write_atomically;
use serde::Serialize;

use crate::commands::load;
use crate::console::{self, Message, messages};
use crate::outcome::Outcome;
use crate::text::{counted, number, positive};

/// Find Horn rules that the tables support, as axioms to read, edit and add to the theory.
///
/// A rule's body is a path along the rows of tables, its head a predicate that some axiom asserts of a table's rows:
/// `axiom facts: forall (h, r, t) in train. linked(h, r, t)`. Its weight is its confidence, the share of the body's pairs that are
/// facts. Tables that no axiom reads, such as those of `filter` for metrics, are left out.
#[derive(clap::Args)]
pub struct Arguments {
    /// The manifest, a `.toml` file
    #[arg(value_name = "MANIFEST")]
    manifest: PathBuf,
    /// The most literals in a body
    #[arg(long, value_name = "N", default_value_t = 2, value_parser = clap::value_parser!(u8).range(1..=3))]
    length: u8,
    /// The fewest facts that a rule must predict
    #[arg(long, value_name = "N", default_value_t = 5, value_parser = clap::value_parser!(u64).range(1..))]
    support: u64,
    /// The least confidence
    #[arg(long, value_name = "C", default_value_t = 0.3, value_parser = share)]
    confidence: f64,
    /// How many rules about each relation to keep, the best first; 0 for all
    #[arg(long, value_name = "K", default_value_t = 20)]
    top: usize,
    /// What the weights of all rules add up to, in proportion to their confidences [default: each has its confidence]
    #[arg(long, value_name = "W", value_parser = positive)]
    weight: Option<f64>,
    /// The tables that hold facts [default: all that axioms read]
    #[arg(long, value_name = "T,T…", value_delimiter = ',')]
    tables: Vec<String>,
    /// The file for the axioms [default: standard output]
    #[arg(long, value_name = "FILE", conflicts_with = "json")]
    out: Option<PathBuf>,
    /// Print one JSON document and nothing else
    #[arg(long)]
    pub(super) json: bool,
}

#[derive(Serialize)]
struct Document<'a> {
    rules: Vec<RuleDocument<'a>>,
    warnings: Vec<Message<'a>>,
}

#[derive(Serialize)]
struct RuleDocument<'a> {
    axiom: &'a str,
    support: u64,
    pairs: u64,
    facts: u64,
    confidence: f64,
}

fn share(text: &str) -> Result<f64, String> {
    number(text, "a share from 0 to 1", |x| (0.0..=1.0).contains(&x))
}

/// Runs the command.
pub fn run(arguments: &Arguments) -> Result<Outcome, Diagnostics> {
    let (project, warnings) = load(&arguments.manifest, None)?;
    if let Some(out) = &arguments.out {
        project.may_write(out)?;
    }
    let how = Mine {
        length: usize::from(arguments.length),
        support: arguments.support,
        confidence: arguments.confidence,
        top: arguments.top,
        tables: arguments.tables.clone(),
        weight: arguments.weight,
    };
    let mined = mine(&project.data, &how)?;
    console::report(&warnings);
    if arguments.json {
        let rules = (mined.axioms()).map(|(rule, axiom)| RuleDocument {
            axiom,
            support: rule.support,
            pairs: rule.pairs,
            facts: rule.facts,
            confidence: rule.confidence(),
        });
        return Ok(console::print_json(&Document {
            rules: rules.collect(),
            warnings: messages(&warnings),
        }));
    }
    let Some(out) = &arguments.out else {
        return Ok(console::print(&mined.to_string()));
    };
    if let Err(error) = write_atomically(out, mined.to_string().as_bytes()) {
        return Ok(console::failed(&error.into(), false));
    }
    console::complain(&format!(
        "{} in {}; add them to the theory\n",
        counted(mined.rules.len(), "rule"),
        out.display()
    ));
    Ok(Outcome::Done)
}
