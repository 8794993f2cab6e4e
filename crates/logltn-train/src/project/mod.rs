//! From the path of a manifest to a theory with its data: everything that is known before anything runs.
//!
//! ```no_run
//! use std::path::{Path, PathBuf};
//! use logltn::Diagnostics;
//! use logltn_train::project::Project;
//!
//! let mut found = Diagnostics::new();
//! match Project::load(Path::new("theories/clustering.toml"), &mut found) {
//!     Some(project) => println!("{} axioms", project.theory().axioms.len()),
//!     None => eprintln!("{found}"),
//! }
//! ```
use std::time::Duration;

mod asked_rows;
mod cells;
mod columns_in_guards;
mod dependencies;
mod description;
mod evaluate;
mod evaluation_labels;
mod feature_file_rows;
mod features;
mod functions;
mod identify;
mod inputs;
mod knowledge;
mod magnitudes;
mod metrics;
mod new_features;
mod number_tables;
mod outputs;
mod params;
mod report;
mod sorts;
mod tables;
mod texts;
mod theory_file;

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use logltn::theory::{ArgumentSort, ColumnSort, PredicateId, SortId, SortKind};
use logltn::{Code, ColumnData, Data, Diagnostic, Diagnostics, Output, Theory};
use logltn_data::problems::Problems;
use logltn_data::{CsvFile, Field};
use logltn_learn::{Distance, distances};

use crate::in_manifest::all_in_manifest;
use crate::manifest::{Individuals, Manifest, Param, check_against, learnt_from, measured_against};

pub use features::{Chosen, FeatureFile, Features, FieldShape, scaled};
pub use identify::{IdentifyOptions, read_support};
pub use number_tables::NumberTable;
pub use texts::check_texts;
pub use theory_file::read_theory_file;

use cells::Cells;
use dependencies::Needed;
use knowledge::FieldsRead;
use report::Report;
use sorts::Prepared;

/// A grounded theory: a manifest and the files that it names, checked against each other.
#[derive(Clone, Debug)]
pub struct Project {
    /// The manifest.
    pub manifest: Manifest,
    /// The theory and its data.
    pub data: Data,
    /// What the numbers of each predicate mean, in the order of the theory.
    pub outputs: Vec<Output>,
    /// The numbers of each predicate that is given by a file of numbers, in the order of the theory.
    pub numbers: Vec<Option<NumberTable>>,
    features: BTreeMap<String, FeatureFile>,
    /// The manifest's own files, where others replace them.
    own_features: BTreeMap<String, PathBuf>,
    fields_read: FieldsRead,
}

/// A project with the features that were read for it.
struct Grounded {
    project: Project,
    read: BTreeMap<String, Vec<Field>>,
}

impl Grounded {
    /// The project with these features; `None` if they do not fit it, as reported in `out`.
    fn keep(self, out: &mut Diagnostics) -> Option<Project> {
        match self.project.keep(self.read) {
            Ok(()) => Some(self.project),
            Err(errors) => {
                out.extend(errors);
                None
            }
        }
    }
}

impl Project {
    /// Reads a manifest and all that it names. Mistakes and warnings go to `out`, those of manifest, theory
    /// and data in one pass; with a mistake there is no project.
    pub fn load(path: &Path, out: &mut Diagnostics) -> Option<Project> {
        let mistakes_before = out.error_count();
        let manifest = Manifest::read_as_far_as_possible(path, out)?;
        Project::ground(manifest, None, &Prepared::new(), mistakes_before, out)?.keep(out)
    }

    /// The same for a manifest that has been read, or built.
    pub fn of(manifest: Manifest, out: &mut Diagnostics) -> Option<Project> {
        let mistakes_before = out.error_count();
        Project::ground(manifest, None, &Prepared::new(), mistakes_before, out)?.keep(out)
    }

    /// The same, with columns [prepared](logltn_data::Preparation) as for a run that was trained with the manifest: its
    /// networks have learnt from these numbers, even if the file has changed.
    pub fn load_for_run(path: &Path, run: &Path, out: &mut Diagnostics) -> Option<Project> {
        let manifest = Manifest::read_as_far_as_possible(path, out)?;
        Project::of_run(manifest, run, out)
    }

    /// The same for a manifest that has been read.
    pub fn of_run(manifest: Manifest, run: &Path, out: &mut Diagnostics) -> Option<Project> {
        let mistakes_before = out.error_count();
        let prepared = description::prepared_by(run);
        Project::ground(manifest, None, &prepared, mistakes_before, out)?.keep(out)
    }

    /// Only what predicates or functions need: tables, params and axioms are not read, so they may mention other
    /// individuals. Laws and what they mention are read: those that are `given`, by default the manifest's.
    /// `features` names other files for sorts with features, which then have the individuals of these files; their
    /// paths are relative to the working directory. Columns are prepared as `run` has them.
    pub fn load_symbols(
        path: &Path,
        run: Option<&Path>,
        symbols: &[String],
        features: &[(String, PathBuf)],
        given: Option<&[String]>,
        out: &mut Diagnostics,
    ) -> Option<Project> {
        let mistakes_before = out.error_count();
        let mut manifest = Manifest::read_as_far_as_possible(path, out)?;
        let source = theory_file::read(&manifest, out)?;
        let theory = Theory::parse_symbols(source.clone(), &logltn::Labels::default(), out);
        if out.error_count() > mistakes_before {
            return None;
        }
        let laws = match given {
            Some(laws) => laws.to_vec(),
            // Laws do not change the values of functions.
            None if symbols.iter().all(|s| theory.function(s).is_some()) => Vec::new(),
            None => manifest.laws().map(str::to_string).collect(),
        };
        let needed = match Needed::by(&manifest, &theory, &source, symbols, &laws) {
            Ok(needed) => needed,
            Err(errors) => {
                out.extend(errors);
                return None;
            }
        };
        let own: BTreeMap<String, PathBuf> = (features.iter())
            .filter_map(|(sort, _)| {
                let file = &manifest.features(sort)?.file;
                Some((sort.clone(), manifest.resolve(file)))
            })
            .collect();
        let mut prepared = run.map(description::prepared_by).unwrap_or_default();
        prepared.extend(prepare_own(&manifest, &own, &prepared, out));
        if let Err(errors) = needed.replace(&mut manifest, &theory, symbols, features) {
            out.extend(errors);
            return None;
        }
        let compile_seconds = manifest.train.as_ref().and_then(|t| t.compile_seconds);
        needed.cut(&mut manifest);
        let mut grounded =
            Project::ground(manifest, Some(&needed), &prepared, mistakes_before, out)?;
        set_compile_time(&mut grounded.project.data, compile_seconds);
        grounded.project.own_features = own;
        grounded.keep(out)
    }

    /// For training and questions the features are read too: those of a million individuals should be read once.
    fn ground(
        manifest: Manifest,
        needed: Option<&Needed>,
        prepared: &Prepared,
        mistakes_before: usize,
        out: &mut Diagnostics,
    ) -> Option<Grounded> {
        let mut report = Report {
            manifest: &manifest,
            out,
        };
        let labels = sorts::read_labels(&mut report);
        let Some(source) = theory_file::read(&manifest, report.out) else {
            // The features still have to be checked.
            sorts::read_features(&mut report, &BTreeSet::new(), false, prepared);
            return None;
        };
        let (mut theory, whole_theory) = read_theory(&mut report, source, &labels, needed);
        give_weights(&manifest, &mut theory);
        let distances = distances(&theory);
        let mut measured: BTreeSet<String> = (distances.iter())
            .flat_map(|d| d.sorts)
            .map(|sort| theory[sort].name.clone())
            .collect();
        for param in manifest.params.values() {
            if let Param::Percentile { sorts, .. } = &param.value {
                measured.extend(sorts.iter().map(|sort| sort.value.clone()));
            }
        }
        let wanted = needed.is_some() || manifest.train.is_some();
        let features = sorts::read_features(&mut report, &measured, wanted, prepared);
        let mut data = Data::new(&theory);
        match needed {
            Some(needed) => data.set_laws(needed.laws()),
            None => data.set_laws(manifest.laws()),
        }
        let seconds = manifest.train.as_ref().and_then(|t| t.compile_seconds);
        set_compile_time(&mut data, seconds);
        set_sizes(&mut report, &theory, &features, &mut data);
        inputs::check(&mut report, &theory, &features.files);
        magnitudes::check(&mut report, &theory, &features.files);
        magnitudes::warn_of_unscaled(&mut report, &theory, &features.files);
        params::read(&mut report, &theory, &features, &mut data);
        check_distances(&mut report, &theory, &features, &distances);

        let known = |sort: SortId| {
            let sort = &theory[sort];
            sort.kind != SortKind::Data
                || (features.files.contains_key(&sort.name)
                    && features.files[&sort.name].chosen.names.is_some() != sort.labels.is_empty())
                || is_read(&manifest, &theory, &sort.name)
        };
        let cells: Vec<Cells<'_>> = (theory.sorts.iter().enumerate())
            .map(|(i, sort)| {
                let id = SortId(i as u32);
                Cells::of(sort, known(id).then(|| data.size(id)))
            })
            .collect();
        tables::read(&mut report, &theory, &mut data, |sort: SortId| &cells[sort]);
        functions::read(&mut report, &theory, &mut data, &cells, known);
        columns_in_guards::read(&mut report, &theory, &mut data);
        magnitudes::check_arguments(&mut report, &theory, &data);
        params::read_constants(&mut report, &theory, &features, &mut data, known);
        let (outputs, numbers) = read_predicates(&mut report, &theory, &data, known);
        set_features(&mut report, features.values, &distances, &theory, &mut data);
        let mistaken = report.out.error_count() > mistakes_before;
        if !whole_theory {
            return None;
        }
        let project = Project {
            data,
            outputs,
            numbers,
            features: features.files,
            own_features: BTreeMap::new(),
            fields_read: FieldsRead::default(),
            manifest,
        };
        // Errors in closed forms are reported after other errors too, unless these may be their cause.
        let wrong = (project.sketch())
            .check_closed_forms(|predicate| !mistaken || project.is_read_so_far(predicate));
        let fits = !mistaken && !wrong.has_errors();
        out.extend(all_in_manifest(wrong));
        let read = features.fields;
        fits.then_some(Grounded { project, read })
    }

    /// Whether everything that a closed form needs was read: its arguments' names, and the shapes of their features.
    fn is_read_so_far(&self, predicate: PredicateId) -> bool {
        let declared = &self.theory()[predicate];
        let given = self.manifest.predicates.get(&declared.name);
        let args = given.and_then(|p| p.args.as_ref());
        let sort = |argument: &ArgumentSort| match argument {
            ArgumentSort::Vector(_) => true,
            ArgumentSort::Sort(sort) => {
                let sort = &self.theory()[*sort];
                match self.manifest.sorts.get(&sort.name) {
                    Some(given) => match given.individuals {
                        Some(Individuals::Features(_)) => self.features.contains_key(&sort.name),
                        _ => true,
                    },
                    None => sort.kind != SortKind::Data,
                }
            }
        };
        args.is_none_or(|args| args.len() == declared.arguments.len())
            && declared.arguments.iter().all(sort)
    }

    /// The files that it was read from, and those that metrics are measured against.
    pub fn files(&self) -> Vec<PathBuf> {
        let manifest = &self.manifest;
        let mut files = vec![
            PathBuf::from(manifest.source.name()),
            manifest.resolve(&manifest.theory),
        ];
        let data = learnt_from(manifest).into_iter();
        let data = data.chain(measured_against(manifest));
        files.extend(data.map(|file| manifest.resolve(file)));
        files
    }

    /// Whether a path may be written: it must be none of its [files](Project::files).
    ///
    /// # Errors
    /// If it is one.
    pub fn may_write(&self, path: &Path) -> Result<(), Diagnostic> {
        let same = |file: &PathBuf| match (file.canonicalize(), path.canonicalize()) {
            (Ok(file), Ok(path)) => file == path,
            _ => false, // a missing file belongs to nobody
        };
        match self.files().iter().any(same) {
            false => Ok(()),
            true => {
                let what = format!(
                    "{}: it would be written over, but it belongs to the manifest",
                    path.display()
                );
                Err(Diagnostic::error(Code::OwnFile, what).help("choose another place"))
            }
        }
    }

    /// The theory.
    pub fn theory(&self) -> &Theory {
        self.data.theory()
    }

    /// The file of a sort's features, if it has one: the fields and their shapes.
    pub fn feature_file(&self, sort: SortId) -> Option<&FeatureFile> {
        self.features.get(&self.theory()[sort].name)
    }

    /// Reads the features of a sort, for networks. A sort without features has none. [`scaled`] gives the
    /// numbers of a field as networks should see them.
    pub fn features_of(&self, sort: SortId) -> Result<Vec<Field>, Diagnostics> {
        let Some(file) = self.feature_file(sort) else {
            return Ok(Vec::new());
        };
        let fields = file.chosen.read(&file.path)?;
        let name = &self.theory()[sort].name;
        if FeatureFile::of(file.path.clone(), file.chosen.clone(), &fields) != *file {
            return Err(Diagnostic::error(
                Code::FileChanged,
                format!(
                    "{}: the features of sort `{name}` were changed while this program runs",
                    file.path.display()
                ),
            )
            .into());
        }
        Ok(fields)
    }

    /// Reads the true class of each individual of a sort, for evaluation; `None` if the manifest gives none.
    pub fn labels_of(&self, sort: SortId) -> Result<Option<Vec<String>>, Diagnostics> {
        let name = &self.theory()[sort].name;
        let given = self
            .manifest
            .sorts
            .get(name)
            .and_then(|s| s.labels.as_ref());
        let Some(labels) = given else {
            return Ok(None);
        };
        evaluation_labels::read(&self.manifest, labels, name, self.data.size(sort)).map(Some)
    }

    /// A column of a CSV file, such as the rows of a metric, as what a column of a table holds.
    pub fn read_column(
        &self,
        file: &CsvFile,
        column: usize,
        sort: ColumnSort,
    ) -> Result<ColumnData, Diagnostics> {
        match sort {
            ColumnSort::Int => file.ints(column).map(ColumnData::Int),
            ColumnSort::Real => file.reals(column).map(ColumnData::Real),
            ColumnSort::Sort(id) => {
                let cells = Cells::of(&self.theory()[id], Some(self.data.size(id)));
                let mut problems = Problems::new();
                let individuals = cells::read_column(file, column, &cells, &mut problems);
                problems.finish(ColumnData::Individuals(individuals))
            }
        }
    }
}

fn set_compile_time(data: &mut Data, seconds: Option<f64>) {
    if let Some(seconds) = seconds {
        data.set_compile_time(Duration::from_secs_f64(seconds.min(1e9)));
    }
}

/// The columns of sorts whose files are about to be replaced by others, prepared as their own files say, where no run does.
fn prepare_own(
    manifest: &Manifest,
    own: &BTreeMap<String, PathBuf>,
    known: &Prepared,
    out: &mut Diagnostics,
) -> Prepared {
    let mut prepared = Prepared::new();
    for (sort, path) in own.iter().filter(|(sort, _)| !known.contains_key(*sort)) {
        let Some(from) = manifest.features(sort) else {
            continue;
        };
        let mut chosen = Chosen::of(from);
        match chosen.prepare(manifest, sort, from, path) {
            Ok(_) => prepared.extend(chosen.prepared.map(|found| (sort.clone(), found))),
            Err(errors) => out.extend(errors),
        }
    }
    prepared
}

/// Whether the labels of a data sort were read, or given in the manifest.
fn is_read(manifest: &Manifest, theory: &Theory, name: &str) -> bool {
    match manifest.individuals(name) {
        Some(Individuals::Names(_)) => true,
        Some(Individuals::LabelFile(_)) => theory
            .sort(name)
            .is_some_and(|id| !theory[id].labels.is_empty()),
        Some(Individuals::Features(_)) | None => false,
    }
}

/// The theory as far as it could be read, and whether it is complete.
fn read_theory(
    report: &mut Report<'_>,
    source: logltn::Source,
    labels: &logltn::Labels,
    needed: Option<&Needed>,
) -> (Theory, bool) {
    let before = report.out.error_count();
    let mut said = Diagnostics::new();
    let theory = match needed {
        None => Theory::parse_as_far_as_possible(source, labels, &mut said),
        Some(needed) => {
            let keep = |declared, name: &str| needed.keeps(declared, name);
            Theory::parse_part(source, labels, &keep, &mut said)
        }
    };
    let filters = filters(report.manifest);
    let of_use = |d: &Diagnostic| {
        d.code() == Code::UnusedDeclaration && filters.iter().any(|f| d.message() == unused(f))
    };
    (report.out).extend(said.into_iter().filter(|d| !of_use(d)));
    let whole = report.out.error_count() == before;
    let broken = match whole {
        true => BTreeSet::new(),
        false => theory_file::declared_names(&theory.source),
    };
    (report.out).extend(check_against(report.manifest, &theory, &broken));
    (theory, whole)
}

/// The tables whose rows a metric does not count as mistakes. They are used, even if no axiom names them.
fn filters(manifest: &Manifest) -> Vec<&str> {
    let metrics = manifest.evaluate.iter().flat_map(|e| &e.value.metrics);
    let rankings = metrics.filter_map(|metric| metric.ranking.as_ref());
    (rankings.flat_map(|ranking| &ranking.filter))
        .map(|table| &table.value[..])
        .collect()
}

fn unused(table: &str) -> String {
    format!("table `{table}` is never used")
}

/// The weights of `[axioms]` replace those of the theory, also for whole families. Single members of a family get
/// theirs when they are written out.
fn give_weights(manifest: &Manifest, theory: &mut Theory) {
    for axiom in &mut theory.axioms {
        let given = manifest.axioms.get(&axiom.name);
        axiom.weight = given
            .and_then(|g| g.settings.weight)
            .unwrap_or(axiom.weight);
    }
}

/// The sizes of the sorts that have features or an array of names; those of the others come with their labels.
fn set_sizes(
    report: &mut Report<'_>,
    theory: &Theory,
    features: &sorts::FeatureSorts,
    data: &mut Data,
) {
    let manifest = report.manifest;
    for sort in theory.sorts.iter().filter(|s| s.kind == SortKind::Data) {
        let Some(given) = manifest.sorts.get(&sort.name) else {
            continue;
        };
        let size = match &given.individuals {
            Some(Individuals::Features(_)) => match features.files.get(&sort.name) {
                Some(file) => file.rows,
                None => continue,
            },
            Some(Individuals::Names(names)) => names.len(),
            Some(Individuals::LabelFile(_)) | None => continue,
        };
        let set = data.set_size(&sort.name, size);
        report.read(given.span, set);
    }
}

/// A distance needs features of the same width on both sides.
fn check_distances(
    report: &mut Report<'_>,
    theory: &Theory,
    features: &sorts::FeatureSorts,
    distances: &[Distance],
) {
    let manifest = report.manifest;
    for distance in distances {
        let [a, b] = distance.sorts.map(|sort| &theory[sort]);
        let mut push = |error: Diagnostic| {
            report.out.push(error.at(&theory.source, distance.span, ""));
        };
        for sort in [a, b]
            .into_iter()
            .take(if a.name == b.name { 1 } else { 2 })
        {
            let given = manifest.individuals(&sort.name);
            if matches!(
                given,
                Some(Individuals::LabelFile(_) | Individuals::Names(_))
            ) {
                push(
                    Diagnostic::error(
                        Code::NoFeatures,
                        format!(
                            "sort `{}` has no features to measure distances with",
                            sort.name
                        ),
                    )
                    .help(format!(
                        "give `features` in `[sorts.{}]` of the manifest",
                        sort.name
                    )),
                );
            }
        }
        let widths = [a, b].map(|sort| features.values.get(&sort.name).map(|f| f.width));
        if let [Some(first), Some(second)] = widths
            && first != second
        {
            push(Diagnostic::error(
                Code::SizesDisagree,
                format!(
                    "there is no distance between {first} numbers (`{}`) and {second} (`{}`)",
                    a.name, b.name
                ),
            ));
        }
    }
}

fn set_features(
    report: &mut Report<'_>,
    mut features: BTreeMap<String, Features>,
    distances: &[Distance],
    theory: &Theory,
    data: &mut Data,
) {
    let manifest = report.manifest;
    let guarded: BTreeSet<&String> = (distances.iter())
        .flat_map(|d| d.sorts)
        .map(|sort| &theory[sort].name)
        .collect();
    for name in guarded {
        if let (Some(found), Some(given)) = (features.remove(name), manifest.sorts.get(name)) {
            let set = data.set_features(name, found.width, found.values);
            report.read(given.span, set);
        }
    }
}

fn read_predicates(
    report: &mut Report<'_>,
    theory: &Theory,
    data: &Data,
    known: impl Fn(SortId) -> bool,
) -> (Vec<Output>, Vec<Option<NumberTable>>) {
    let manifest = report.manifest;
    let mut outputs = Vec::with_capacity(theory.predicates.len());
    let mut numbers = Vec::with_capacity(theory.predicates.len());
    for predicate in &theory.predicates {
        let given = manifest.predicates.get(&predicate.name).map(|p| &p.value);
        let has_numbers = given.is_some_and(|g| g.grounding.numbers().is_some());
        let read = given.filter(|_| has_numbers).and_then(|g| {
            number_tables::read(report, theory, predicate, &g.grounding, data, &known)
        });
        let (output, table) = match read {
            Some((output, table)) => (output, Some(table)),
            None if has_numbers => (Output::sigmoid(), None), // reported
            None => {
                let output = outputs::output(report, theory, predicate, given, data, &known);
                (output, None)
            }
        };
        outputs.push(output);
        numbers.push(table);
    }
    (outputs, numbers)
}
