//! Labels in a hierarchy: one network without rules, with the hierarchy as a soft axiom, and with the hierarchy as a law.
//!
//! Not a task of the paper: the sets of C-HMCNN, gene functions and X-ray pictures. What is predicted of a thing by the law is
//! how probable each label is given that the hierarchy holds. All networks are also asked for the most probable labels that
//! keep it.

mod labelled;

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

use logltn::{
    Code, ColumnData, Data, Diagnostic, Diagnostics, Engine, Output, Plan, Source, Theory,
};
use logltn_learn::{By, State};
use logltn_train::train::Trainer;

use super::jobs::{Finding, Found, Progress};
use super::published::{Other, cited};
use super::record::{Job, Portion};
use super::training::{predicate, train, trainer};
use super::{About, Configuration, DataKind, Experiment, Metric, Options, data_folders, load};
use labelled::Labelled;
pub use labelled::LabelledSet;

const PRECISION: Metric = Metric::greater(
    "au_prc",
    "area under the precision-recall curve of all labels together",
    3,
);
const EXACT: Metric = Metric::greater(
    "exact_match",
    "test things of which every label is right, those above ½, in %",
    2,
);
const VIOLATIONS: Metric = Metric::smaller(
    "violations",
    "test things that have a label above ½ without one over it, in %",
    2,
);
const WORLD: Metric = Metric::greater(
    "world_match",
    "test things of which the most probable labels that keep the hierarchy are right, in %",
    2,
);

const PLAIN: Configuration = Configuration::of("plain", "no rules", "probability");
const SOFT: Configuration = Configuration::of("soft", "hierarchy as a soft axiom", "logltn");
const LAW: Configuration = Configuration::of("law", "hierarchy as a law", "probability");
/// The rows of the table.
pub(super) const ALL: [Configuration; 3] = [PLAIN, SOFT, LAW];

const THEORY: &str = include_str!("declarations.ltn");
const HIERARCHY: &str =
    "axiom hierarchy: forall (x) in examples. forall (c, p) in isa. is(x, c) -> is(x, p)\n";
const BATCH: usize = 32;
const EPOCHS: u64 = 60;
const QUICK_EPOCHS: u64 = 10;
/// What the soft axiom counts beside all labels together.
const SOFT_WEIGHT: f64 = 0.1;
/// How many rows are queried at once.
const ASKED: usize = 128;

/// The task.
pub(super) struct Hierarchy {
    about: About,
    set: LabelledSet,
    place: Option<PathBuf>,
    data: Labelled,
    epochs: u64,
    work: PathBuf,
}

impl Hierarchy {
    pub fn new(options: &Options) -> Result<Hierarchy, Diagnostics> {
        let set = &options.set;
        let place = data_folders::find(options.data.as_deref(), "hmc", set.files())?;
        let data = match &place {
            Some(place) => set.read(place)?,
            None => Labelled::made_up(),
        };
        Ok(Hierarchy::of(place, data, options))
    }

    fn of(place: Option<PathBuf>, data: Labelled, options: &Options) -> Hierarchy {
        let set = options.set;
        let usual = if options.quick { QUICK_EPOCHS } else { EPOCHS };
        let epochs = options.epochs.unwrap_or(usual);
        let own = [
            ("set", set.name.to_string()),
            ("start", "how common each label is".to_string()),
            ("epochs", epochs.to_string()),
        ];
        let no_tree = "; no tree, so learning under the law takes long and is left out unless asked for, and worlds that keep it are minimum cuts";
        let is_tree = data.is_tree();
        let sizes = format!(
            "{} labels, {} links, {} things to learn from and {} to test{}",
            data.labels,
            data.isa.len(),
            data.train.labels.len(),
            data.test.labels.len(),
            if is_tree { "" } else { no_tree }
        );
        let title = match &place {
            Some(place) => format!("real: {} in {}: {sizes}", set.name, place.display()),
            None => format!(
                "made up, as there is no `hmc/` with {} in the data: {sizes}",
                set.name
            ),
        };
        let source = "C-HMCNN: Giunchiglia and Lukasiewicz, Coherent Hierarchical Multi-Label Classification Networks, NeurIPS 2020";
        let metrics = &[PRECISION, EXACT, WORLD, VIOLATIONS];
        let about = About::new(metrics, DataKind::at(&place), title, own);
        Hierarchy {
            about: About {
                only_if_asked: if is_tree { Vec::new() } else { vec![LAW] },
                sources: place.iter().map(|_| source.to_string()).collect(),
                ..about.with_configurations(&ALL)
            },
            set,
            place,
            data,
            epochs,
            work: PathBuf::new(),
        }
    }

    fn write(&self) -> Result<(), Diagnostics> {
        let Labelled { train, test, .. } = &self.data;
        let rows = |head: &str, rows: &mut dyn Iterator<Item = (usize, u32)>| {
            let mut text = format!("{head}\n");
            rows.for_each(|(a, b)| {
                let _ = writeln!(text, "{a},{b}");
            });
            text
        };
        let isa = self.data.isa.iter().map(|(c, p)| (*c as usize, *p));
        let own = train.labels.iter().enumerate();
        let has = own
            .clone()
            .flat_map(|(x, own)| own.iter().map(move |l| (x, *l)));
        let all = 0..self.data.labels as u32;
        let has_not = own.flat_map(|(x, own)| {
            let others = all.clone().filter(move |l| own.binary_search(l).is_err());
            others.map(move |l| (x, l))
        });
        let width = train.features.first().map_or(0, Vec::len);
        let mut features = (0..width)
            .map(|i| format!("f{i}"))
            .collect::<Vec<_>>()
            .join(",")
            + "\n";
        for row in train.features.iter().chain(&test.features) {
            let cells: Vec<String> = row.iter().map(f64::to_string).collect();
            features += &(cells.join(",") + "\n");
        }
        let examples: String = (0..train.labels.len()).map(|x| format!("{x}\n")).collect();
        let mut files = vec![
            ("isa.csv".to_string(), rows("child,parent", &mut { isa })),
            ("has.csv".to_string(), rows("x,l", &mut { has })),
            ("has_not.csv".to_string(), rows("x,l", &mut { has_not })),
            ("examples.csv".to_string(), format!("x\n{examples}")),
            ("things.csv".to_string(), features),
        ];
        for configuration in ALL {
            let name = configuration.name;
            files.push((format!("{name}.ltn"), self.theory(configuration)));
            files.push((format!("{name}.toml"), self.manifest(configuration)));
        }
        data_folders::write_files(&self.work, &files)
    }

    /// Under `probability` the labels of a thing are one event: its log is their cross-entropy, given the law if there is one.
    /// Under `logltn` they are two axioms that count by how many labels there are and are not.
    fn theory(&self, configuration: Configuration) -> String {
        let Labelled { train, labels, .. } = &self.data;
        let has: usize = train.labels.iter().map(Vec::len).sum();
        let share = has as f64 / (train.labels.len() * labels).max(1) as f64;
        let of =
            |table: &str, not: &str| format!("forall (y, l) in {table} where y = x. {not}is(x, l)");
        let axioms = match configuration {
            SOFT => format!(
                "axiom has (weight {share}): forall (x) in examples. {}\n\
                 axiom has_not (weight {}): forall (x) in examples. {}\n\
                 axiom hierarchy (weight {SOFT_WEIGHT}): {}",
                of("has", ""),
                1.0 - share,
                of("has_not", "not "),
                HIERARCHY.trim_start_matches("axiom hierarchy: "),
            ),
            _ => {
                let law = if configuration == LAW { HIERARCHY } else { "" };
                let labels = [of("has", ""), of("has_not", "not ")].map(|part| format!("({part})"));
                let labels = labels.join(" and ");
                format!("axiom labels: forall (x) in examples. {labels}\n{law}")
            }
        };
        let sort = format!("sort Label = 0..{}\n", labels.saturating_sub(1));
        let declared = THEORY.replace("sort Label\n", &sort);
        format!("{declared}\n{axioms}")
    }

    /// C-HMCNN's network.
    fn manifest(&self, configuration: Configuration) -> String {
        let hidden = self.set.hidden;
        let law = match configuration {
            LAW => "[axioms.hierarchy]\nhard = true\n\n",
            _ => "",
        };
        format!(
            r#"theory = "{name}.ltn"

{law}[sorts.Thing]
features = "things.csv"

[tables]
isa = {{ rows = "isa.csv" }}
examples = {{ rows = "examples.csv", batch = {BATCH} }}
has = {{ rows = "has.csv" }}
has_not = {{ rows = "has_not.csv" }}

[predicates.is]
network = {{ layers = [
    {{ dense = {hidden} }}, "relu", {{ dropout = 0.7 }}, {{ dense = {hidden} }}, "relu", {{ dropout = 0.7 }} ] }}
output = "sigmoid"

[schedule]
alpha = 1

[train]
steps = {steps}
optimizer = "adam"
learning_rate = {{ linear = [0.001, 0] }}
"#,
            name = configuration.name,
            steps = self.run_steps()
        )
    }

    fn run_steps(&self) -> u64 {
        self.epochs * self.data.train.labels.len().div_ceil(BATCH) as u64
    }

    /// Where the biases of the last layer start: at the log odds of each label among all things. All that the law learns of a label
    /// it learns from things that have those above, so there it is the log odds among these, without what the labels below add.
    /// Otherwise rare labels spend most of a training on becoming rare.
    fn first_biases(&self, configuration: Configuration) -> Vec<f32> {
        let Labelled {
            train, labels, isa, ..
        } = &self.data;
        let is_law = configuration == LAW;
        let mut above = vec![Vec::new(); *labels];
        for (child, parent) in isa.iter().filter(|_| is_law) {
            above[*child as usize].push(*parent);
        }
        let (mut has, mut may) = (vec![0.5; *labels], vec![1.0; *labels]);
        for own in &train.labels {
            own.iter().for_each(|l| has[*l as usize] += 1.0);
            let has = |l: &u32| own.binary_search(l).is_ok();
            for (may, above) in may.iter_mut().zip(&above) {
                *may += f64::from(u8::from(above.iter().all(has)));
            }
        }
        let odds: Vec<f64> = (has.iter().zip(&may))
            .map(|(has, may)| (has / (may - has)).ln())
            .collect();
        let mut biases = odds.clone();
        for (above, odds) in above.iter().zip(&odds) {
            let added = odds.max(0.0) + (-odds.abs()).exp().ln_1p();
            let share = added / above.len().max(1) as f64;
            above.iter().for_each(|l| biases[*l as usize] -= share);
        }
        biases.into_iter().map(|x| x as f32).collect()
    }

    fn start(&self, job: &Job, trainer: &mut Trainer) -> Result<(), Diagnostics> {
        let mut state = State::default();
        let model = trainer.model_mut();
        model.store(&mut state);
        let mut last_first = state.tensors.iter_mut().rev();
        let biases = last_first.find(|(_, shape, _)| *shape == [self.data.labels]);
        let (_, _, biases) = biases.ok_or_else(|| {
            Diagnostic::error(Code::Internal, "the network has no number for each label")
        })?;
        *biases = self.first_biases(job.configuration);
        model.restore(&state)
    }

    /// The worlds of some things that keep the hierarchy; without time for a circuit, the most probable ones alone.
    fn worlds(&self, with_circuit: bool) -> Result<Engine<f64>, Diagnostics> {
        let text = format!("{THEORY}\n{HIERARCHY}");
        let theory = Theory::parse(Source::new("hierarchy.ltn", text))?;
        let mut data = Data::new(&theory);
        data.set_size("Thing", ASKED)?;
        data.set_size("Label", self.data.labels)?;
        let (children, parents) = self.data.isa.iter().copied().unzip();
        let columns = [children, parents].map(ColumnData::Individuals).to_vec();
        data.set_rows("isa", columns)?;
        let everyone = (0..ASKED as u32).collect();
        data.set_rows("examples", vec![ColumnData::Individuals(everyone)])?;
        let nothing = || vec![ColumnData::Individuals(Vec::new()); 2];
        data.set_rows("has", nothing())?;
        data.set_rows("has_not", nothing())?;
        data.set_laws(["hierarchy"]);
        if !with_circuit {
            data.set_compile_time(Duration::ZERO);
        }
        Ok(Engine::new(Plan::for_worlds(
            &data,
            &[Output::sigmoid().per_class()],
        )?))
    }

    /// The value of a network for the test things.
    fn measure(
        &self,
        configuration: Configuration,
        trainer: &mut Trainer,
        finding: &mut Finding,
    ) -> Result<(), Diagnostics> {
        let predicate = predicate(trainer.project(), "is")?;
        let (first, labels) = (self.data.train.labels.len(), self.data.labels);
        let test = &self.data.test.labels;
        let things: Vec<u32> = (first..first + test.len()).map(|x| x as u32).collect();
        let logits = trainer.model_mut().predict(predicate, &things, 1)?;
        let mut engine = self.worlds(configuration == LAW || self.data.is_tree())?;
        let (mut said, mut worlds): (Vec<Vec<f64>>, Vec<Vec<u32>>) = Default::default();
        for some in logits.chunks(ASKED * labels) {
            let own = AskedRows {
                logits: some,
                labels,
            };
            let rows = some.len() / labels.max(1);
            own.ask(&mut engine);
            let world = engine.world()?;
            worlds.extend(own.answers(&engine, &world.states[0]));
            match configuration {
                LAW => {
                    let marginals = engine.marginals()?;
                    said.extend(own.answers(&engine, &marginals[0]));
                }
                _ => {
                    let degree = |x: &f32| 1.0 / (1.0 + f64::from(-x).exp());
                    let degrees = some.chunks(labels).map(|r| r.iter().map(degree).collect());
                    said.extend(degrees);
                }
            }
            debug_assert!(said.len() == worlds.len() && rows <= ASKED);
        }
        finding.metrics = self.figures(&said, &worlds);
        Ok(())
    }

    /// All metrics of the predictions for the test rows: degrees, and worlds.
    fn figures(&self, said: &[Vec<f64>], worlds: &[Vec<u32>]) -> BTreeMap<String, f64> {
        let test = &self.data.test.labels;
        let mut is_left_out = vec![false; self.data.labels];
        (self.data.left_out.iter()).for_each(|l| is_left_out[*l as usize] = true);
        let mut scores = Vec::new();
        let (mut exact, mut broken, mut in_world) = (0, 0, 0);
        for ((said, world), known) in said.iter().zip(worlds).zip(test) {
            let has = |l: usize| known.binary_search(&(l as u32)).is_ok();
            let above = |l: usize| said[l] > 0.5;
            for (label, degree) in said.iter().enumerate().filter(|(l, _)| !is_left_out[*l]) {
                scores.push((*degree, has(label)));
            }
            exact += usize::from((0..said.len()).all(|l| above(l) == has(l)));
            in_world += usize::from((0..said.len()).all(|l| (world[l] == 1) == has(l)));
            let breaks = |(c, p): &(u32, u32)| above(*c as usize) && !above(*p as usize);
            broken += usize::from(self.data.isa.iter().any(breaks));
        }
        let share = |count: usize| 100.0 * count as f64 / test.len().max(1) as f64;
        let figures = [
            (PRECISION, average_precision(scores)),
            (EXACT, share(exact)),
            (WORLD, share(in_world)),
            (VIOLATIONS, share(broken)),
        ];
        (figures.into_iter())
            .map(|(metric, value)| (metric.name.to_string(), value))
            .collect()
    }
}

/// Some rows of logits.
struct AskedRows<'a> {
    logits: &'a [f32],
    labels: usize,
}

impl AskedRows<'_> {
    /// Hands them to the engine; rows that are missing are 0.
    fn ask(&self, engine: &mut Engine<f64>) {
        let (request, numbers) = engine.request_and_numbers(0);
        let places = (0..request.rows()).map(|row| request.row(row)[0] as usize);
        for (thing, to) in places.zip(numbers.chunks_mut(self.labels)) {
            let from = self.logits.chunks(self.labels).nth(thing);
            for (at, to) in to.iter_mut().enumerate() {
                *to = from.map_or(0.0, |from| f64::from(from[at]));
            }
        }
    }

    /// What the engine says, row by row.
    fn answers<V: Copy + Default>(&self, engine: &Engine<f64>, said: &[V]) -> Vec<Vec<V>> {
        let request = &engine.requests()[0];
        let mut rows = vec![Vec::new(); self.logits.len() / self.labels.max(1)];
        for (row, own) in said.chunks(self.labels).enumerate() {
            let thing = request.row(row)[0] as usize;
            if let Some(to) = rows.get_mut(thing) {
                *to = own.to_vec();
            }
        }
        rows
    }
}

/// The area under the precision-recall curve, as steps; equal scores are one step.
fn average_precision(mut scores: Vec<(f64, bool)>) -> f64 {
    scores.sort_by(|a, b| b.0.total_cmp(&a.0));
    let all = scores.iter().filter(|(_, is)| *is).count().max(1) as f64;
    let (mut area, mut right, mut seen) = (0.0, 0, 0);
    for equal in scores.chunk_by(|a, b| a.0 == b.0) {
        let own = equal.iter().filter(|(_, is)| *is).count();
        right += own;
        seen += equal.len();
        area += own as f64 / all * right as f64 / seen as f64;
    }
    area
}

impl Experiment for Hierarchy {
    fn about(&self) -> &About {
        &self.about
    }

    fn others(&self, metric: &str) -> Vec<Other> {
        match (metric == PRECISION.name, &self.place) {
            (true, Some(_)) => vec![cited("C-HMCNN", 0, self.set.published, 3)],
            _ => Vec::new(),
        }
    }

    fn steps(&self, _: Portion) -> u64 {
        self.run_steps()
    }

    fn prepare(&mut self, jobs: &[Job], folder: &Path) -> Result<(), Diagnostics> {
        self.work = folder.to_path_buf();
        match jobs.is_empty() {
            true => Ok(()),
            false => self.write(),
        }
    }

    fn run(&self, job: &Job, progress: &Progress<'_>) -> Found {
        let file = format!("{}.toml", job.configuration.name);
        let mut project = load(&self.work.join(file))?;
        job.configuration.configure(&mut project, By::Step, 1.0);
        let mut trainer = trainer(project, job)?;
        self.start(job, &mut trainer)?;
        train(
            &mut trainer,
            self.run_steps(),
            progress,
            |trainer, _, finding| self.measure(job.configuration, trainer, finding),
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn task(data: Labelled) -> Hierarchy {
        Hierarchy::of(None, data, &Options::default())
    }

    #[test]
    fn minimum_cuts_find_the_worlds_of_circuits() {
        let mut data = Labelled::made_up();
        data.isa.extend([(59, 1), (40, 2), (17, 2)]);
        let task = task(data);
        assert!(!task.data.is_tree() && task.about.only_if_asked == [LAW]);
        let labels = task.data.labels;
        let logits: Vec<f32> = (0..ASKED * labels)
            .map(|i| 3.0 * (i as f32 * 1.7).sin())
            .collect();
        let asked = AskedRows {
            logits: &logits,
            labels,
        };
        let [by_circuit, by_cut] = [true, false].map(|with_circuit| {
            let mut engine = task.worlds(with_circuit).unwrap();
            asked.ask(&mut engine);
            let world = engine.world().unwrap();
            assert_eq!(world.log_probability.is_nan(), !with_circuit);
            assert_eq!(engine.export().is_ok(), with_circuit);
            asked.answers(&engine, &world.states[0])
        });
        assert_eq!(by_circuit, by_cut);
        assert!(by_cut.iter().flatten().any(|state| *state == 1));
    }

    #[test]
    fn under_the_law_labels_start_as_common_as_they_are() {
        let task = task(Labelled::made_up());
        let data = &task.data;
        assert!(data.is_tree() && task.about.only_if_asked.is_empty());
        let logits = task.first_biases(LAW);
        let asked = AskedRows {
            logits: &logits,
            labels: data.labels,
        };
        let mut engine = task.worlds(true).unwrap();
        asked.ask(&mut engine);
        let marginals = engine.marginals().unwrap();
        let said = &asked.answers(&engine, &marginals[0])[0];
        let with = |label: u32| {
            let things = data.train.labels.iter();
            things.filter(|own| own.contains(&label)).count() as f64
        };
        let all = data.train.labels.len() as f64;
        for label in 0..data.labels as u32 {
            let parent = data.isa.iter().find(|(child, _)| *child == label);
            let (among, of) = match parent {
                Some((_, parent)) => (with(*parent), said[*parent as usize]),
                None => (all, 1.0),
            };
            let expected = (with(label) + 0.5) / (among + 1.0) * of;
            assert!((said[label as usize] - expected).abs() < 1e-6, "{label}");
        }
    }

    #[test]
    fn the_area_is_that_of_steps() {
        let area = average_precision(vec![(0.9, true), (0.8, false), (0.7, true), (0.1, false)]);
        assert!((area - (0.5 + 0.5 * 2.0 / 3.0)).abs() < 1e-12);
        // Equal scores have no order.
        let tied = average_precision(vec![(0.5, false), (0.5, true)]);
        assert!((tied - 0.5).abs() < 1e-12);
        assert_eq!(average_precision(Vec::new()), 0.0);
    }
}
