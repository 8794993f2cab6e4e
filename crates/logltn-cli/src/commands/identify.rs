//! `logltn identify`: can the concepts be learnt from the axioms?

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, mpsc};
use std::time::{Duration, Instant};

use logltn::{Diagnostics, Identified, Individual, SupportKind};
use logltn_train::project::{IdentifyOptions, Project};
use logltn_train::train::{LearntMap, learnt_map, members};
use serde_json::{Value, json};

use crate::commands::load;
use crate::console;
use crate::outcome::Outcome;
use crate::text::{counted, percent, thousands};

/// Check whether the axioms determine the classes of a predicate, and which labels would.
///
/// Counts the ways to mix up the classes that no axiom notices: where there are any, training can reach wrong concepts as
/// well as right ones. Nothing is trained, and the counts are exact.
#[derive(clap::Args)]
pub struct Arguments {
    /// The manifest, a `.toml` file
    #[arg(value_name = "MANIFEST")]
    manifest: PathBuf,
    /// The predicate, where more than one softmax is learnt
    #[arg(long, value_name = "P")]
    predicate: Option<String>,
    /// The true classes that occur in an axiom, as CSV: a column for each of its variables that the predicate is asked about
    #[arg(long, value_name = "AXIOM=FILE", value_parser = support)]
    support: Vec<(String, PathBuf)>,
    /// How many of the maps to list
    #[arg(long, value_name = "N", default_value_t = 10)]
    list: usize,
    /// Also say which of the maps a run has learnt, by the labels of the manifest
    #[arg(long, value_name = "RUN")]
    after: Option<PathBuf>,
    /// Print one JSON document and nothing else
    #[arg(long)]
    pub(super) json: bool,
}

fn support(text: &str) -> Result<(String, PathBuf), String> {
    match text.rsplit_once('=') {
        Some((axiom, file)) if !axiom.is_empty() && !file.is_empty() => {
            Ok((axiom.to_string(), PathBuf::from(file)))
        }
        _ => Err("expected AXIOM=FILE".to_string()),
    }
}

/// Runs the command.
pub fn run(arguments: &Arguments) -> Result<Outcome, Diagnostics> {
    let (project, mut found) = load(&arguments.manifest, None)?;
    let options = IdentifyOptions {
        predicate: arguments.predicate.clone(),
        supports: arguments.support.clone(),
        list: arguments.list,
        until: None,
    };
    let identified = project.identify(&options, &mut found)?;
    let after = arguments.after.as_deref();
    let after = after.map(|run| After::new(&arguments.manifest, run, &identified.predicate));
    let after = after.transpose()?;
    console::report(&found);
    if arguments.json {
        let mut document = document(&identified);
        if let Some(after) = &after {
            document["after"] = after.document(&identified);
        }
        return Ok(console::print_json(&document));
    }
    let mut text = human(&identified);
    if let Some(after) = &after {
        text += &after.text(&identified);
    }
    Ok(console::print(&text))
}

fn class(individual: &Individual) -> Value {
    match individual {
        Individual::Name(name) => json!(name),
        Individual::Int(n) => json!(n),
        Individual::Real(x) => json!(x),
    }
}

/// What `--json` prints.
pub fn document(found: &Identified) -> Value {
    let classes = &found.classes;
    let map = |map: &Vec<u32>| -> Value {
        let becomes = map.iter().map(|c| class(&classes[*c as usize]));
        let entries = classes.iter().map(ToString::to_string).zip(becomes);
        entries.collect()
    };
    let labels = found.labels.iter();
    let labels =
        labels.map(|l| json!({"class": class(&classes[l.class as usize]), "maps": l.maps}));
    let fixed = found.fixed.iter().map(|c| class(&classes[*c as usize]));
    json!({
        "predicate": found.predicate,
        "classes": classes.iter().map(class).collect::<Vec<_>>(),
        "support": found.support.name(),
        "maps": found.maps,
        "bijective": found.bijective,
        "fixed": fixed.collect::<Vec<_>>(),
        "examples": found.examples.iter().map(map).collect::<Vec<_>>(),
        "labels": labels.collect::<Vec<_>>(),
        "left_out": found.left_out,
        "contradicted": found.contradicted,
    })
}

fn named<'i>(classes: impl Iterator<Item = &'i Individual>) -> String {
    classes
        .map(ToString::to_string)
        .collect::<Vec<_>>()
        .join(", ")
}

/// For people.
fn human(found: &Identified) -> String {
    let (name, count) = (&found.predicate, found.classes.len());
    let mut text = match found.maps.as_str() {
        "1" => format!(
            "the axioms fix all {count} classes of `{name}`: a network that satisfies them all is right\n"
        ),
        maps => {
            let bijective = match found.bijective.as_deref() {
                Some("1") => "only the right one is a bijection".to_string(),
                Some(n) => format!("{} of them are bijections", thousands(n)),
                None => "the bijections among them are too many to count".to_string(),
            };
            format!(
                "`{name}` cannot be learnt from this supervision alone: {} maps of its {count} classes satisfy all axioms \
                 ({bijective}), and training cannot tell them apart\n",
                thousands(maps)
            )
        }
    };
    text += match found.support {
        SupportKind::Labels => {
            "  counted for the true classes that occur in the data, by the manifest's labels\n"
        }
        SupportKind::File => "  counted for the true classes that the files list\n",
        SupportKind::Satisfying => {
            "  this is optimistic: without labels, all true classes that satisfy an axiom are taken to occur (`--support` says which do)\n"
        }
    };
    if !found.left_out.is_empty() {
        let axioms = found.left_out.join(", ");
        text += &format!("  left out, since they also use other learnt symbols: {axioms}\n");
    }
    if found.contradicted > 0 {
        let bindings = counted(found.contradicted, "binding");
        text += &format!("  left out: {bindings} that the labels themselves break\n");
    }
    if found.maps == "1" {
        return text;
    }
    if !found.fixed.is_empty() {
        let fixed = named(found.fixed.iter().map(|c| &found.classes[*c as usize]));
        text += &format!("  fixed: {fixed}\n");
    }
    if !found.examples.is_empty() {
        text += "\nconfusions that no axiom notices, the smallest first (true class → predicted class):\n";
    }
    for map in &found.examples {
        text += &format!("  {}\n", found.moved(map));
    }
    text += "\nwhat to label, in this order:\n";
    for label in &found.labels {
        let left = match label.maps.as_str() {
            "1" => "then one map is left, the right one".to_string(),
            maps => format!("{} maps are left", thousands(maps)),
        };
        text += &format!(
            "  examples of class {}: {left}\n",
            found.classes[label.class as usize]
        );
    }
    text
}

/// The map that a run, or an ensemble together, has learnt.
struct After {
    learnt: LearntMap,
    /// For an ensemble: the map of each member. Their mean may mix maps, and is then not one that the axioms allow.
    members: Vec<LearntMap>,
}

impl After {
    fn new(manifest: &Path, run: &Path, predicate: &str) -> Result<After, Diagnostics> {
        let learnt = learnt_map(manifest, run, predicate)?;
        let folders = members(run)?;
        let each = folders.iter().filter(|folder| folder.as_path() != run);
        let members = each.map(|folder| learnt_map(manifest, folder, predicate));
        Ok(After {
            learnt,
            members: members.collect::<Result<_, _>>()?,
        })
    }

    fn document(&self, found: &Identified) -> Value {
        let mut document = after_document(found, &self.learnt);
        if !self.members.is_empty() {
            let members = self.members.iter().map(|m| after_document(found, m));
            document["members"] = members.collect();
        }
        document
    }

    fn text(&self, found: &Identified) -> String {
        if self.members.is_empty() {
            return format!("\nthe run {}\n", after_text(found, &self.learnt));
        }
        let mut text = "\n".to_string();
        for (at, member) in self.members.iter().enumerate() {
            text += &format!("member {} {}\n", at + 1, after_text(found, member));
        }
        let same = |m: &LearntMap| m.map == self.members[0].map;
        text += match self.members.iter().all(same) {
            true => "all members mostly say the same\n",
            false => {
                "the members do not say the same, and their mean need not be any of the maps\n"
            }
        };
        text
    }
}

fn after_document(found: &Identified, after: &LearntMap) -> Value {
    let of = |c: &Option<u32>| c.map_or(Value::Null, |c| class(&found.classes[c as usize]));
    let entries = found.classes.iter().map(ToString::to_string);
    json!({
        "map": entries.zip(after.map.iter().map(of)).collect::<Value>(),
        "share": after.share(),
        "identity": after.is_identity(),
        "allowed": found.allows(&after.map),
    })
}

/// What one run has learnt, after its name.
fn after_text(found: &Identified, after: &LearntMap) -> String {
    let moved = after.map.iter().enumerate().filter_map(|(k, to)| {
        let to = to.filter(|to| *to as usize != k)? as usize;
        Some(format!("{} → {}", found.classes[k], found.classes[to]))
    });
    let moved: Vec<String> = moved.collect();
    let share = percent(after.agreeing.into(), after.individuals.into());
    match (moved.is_empty(), found.allows(&after.map)) {
        (true, _) => format!("predicts every class correctly ({share} of all individuals)"),
        (false, true) => format!(
            "has learnt one of these confusions: {} ({share} of all individuals are as this map says)",
            moved.join(", ")
        ),
        (false, false) => format!(
            "mostly says {} ({share} of all individuals), which breaks axioms: this is not a shortcut, the run has not learnt enough",
            moved.join(", ")
        ),
    }
}

/// A predicate whose classes the axioms leave open.
#[derive(serde::Serialize)]
pub struct NotFixed {
    predicate: String,
    /// In how many ways, in decimal.
    maps: String,
}

impl NotFixed {
    /// The line of `check`.
    pub fn line(&self, manifest: &Path) -> String {
        format!(
            "the axioms do not fix the classes of `{name}`: {} maps of them satisfy all axioms (`logltn identify {} --predicate {name}` \
             says which, and what to label)\n",
            thousands(&self.maps),
            manifest.display(),
            name = self.predicate,
        )
    }
}

/// How long `check` may look.
const LIMIT: Duration = Duration::from_millis(800);

/// The predicates whose classes the axioms leave open, as far as this is found in less than a second.
pub fn not_fixed(project: &Project) -> Vec<NotFixed> {
    let until = Instant::now() + LIMIT;
    let stop = Arc::new(AtomicBool::new(false));
    let mut own = project.clone();
    own.data.set_stop(Arc::clone(&stop));
    let (sender, receiver) = mpsc::channel();
    // The search may be in a part that does not check the clock; it is abandoned then.
    std::thread::spawn(move || {
        for id in own.learnt_classes() {
            let predicate = own.theory()[id].name.clone();
            let options = IdentifyOptions {
                predicate: Some(predicate.clone()),
                list: 0,
                until: Some(until),
                ..IdentifyOptions::default()
            };
            if let Ok(found) = own.identify(&options, &mut Diagnostics::new())
                && found.maps != "1"
            {
                let maps = found.maps;
                let _ = sender.send(NotFixed { predicate, maps });
            }
        }
    });
    let left = || until.saturating_duration_since(Instant::now());
    let found = std::iter::from_fn(|| receiver.recv_timeout(left()).ok()).collect();
    stop.store(true, Ordering::Relaxed);
    found
}
