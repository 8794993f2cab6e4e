//! The values of a manifest's symbols, with the weights of a run.

use std::path::{Path, PathBuf};

use logltn::theory::PredicateId;
use logltn::{Code, Diagnostic, Diagnostics, Parameters, Semantics};
use logltn_learn::{
    Asked, AskedRows, Ground, InWorld, KnowledgeBase, Model, Predictions, Worlds, random::Random,
};

use super::ask::Questions;
use super::ensemble::members;
use super::run_weights::RunWeights;
use crate::project::Project;
use crate::run_directory::RunDirectory;

/// The most tuples that are visited unless rows say which.
pub const MOST_TUPLES: u64 = 10_000_000;

/// How many rows are queried at once.
const BLOCK: usize = 16_384;

/// A question to a manifest.
#[derive(Clone, Copy, Debug)]
pub struct Asking<'a> {
    /// The manifest's path.
    pub manifest: &'a Path,
    /// A run whose newest weights are used; `None` where nothing is learnt.
    pub run: Option<&'a Path>,
    /// Predicates or functions.
    pub symbols: &'a [String],
    /// Other files for sorts with features: the individuals are then those of the files.
    pub features: &'a [(String, PathBuf)],
    /// The laws to condition on, instead of the manifest's.
    pub given: Option<&'a [String]>,
}

impl<'a> Asking<'a> {
    /// Symbols of a manifest in which nothing is learnt.
    pub fn of(manifest: &'a Path, symbols: &'a [String]) -> Asking<'a> {
        Asking {
            manifest,
            run: None,
            symbols,
            features: &[],
            given: None,
        }
    }
}

/// Predicates or functions with everything that they need, and nothing else of the manifest.
///
/// ```
/// use std::ops::ControlFlow;
/// use logltn_train::train::{Asking, Predictor};
/// # let folder = tempfile::tempdir().unwrap();
/// # let path = |name: &str| folder.path().join(name);
/// # std::fs::write(path("p.csv"), "p\n0.25\n1\n").unwrap();
/// # std::fs::write(path("t.ltn"), "sort P = 0..1\npredicate good(P)\naxiom a: forall x: P. good(x)\n").unwrap();
/// # std::fs::write(path("m.toml"), "theory = 't.ltn'\n[predicates.good]\ntruth = 'p.csv'\n").unwrap();
/// let mut good = Predictor::load(&Asking::of(&path("m.toml"), &["good".to_string()]))?;
/// good.each_block(None, |rows, said| {
///     assert_eq!((rows, &said.numbers[..]), (&[0, 1][..], &[0.25, 1.0][..]));
///     ControlFlow::Continue(())
/// })?;
/// # Ok::<(), logltn::Diagnostics>(())
/// ```
pub struct Predictor {
    project: Project,
    knowledge: KnowledgeBase,
    model: Model,
    /// Of an ensemble, those after the first.
    others: Vec<Model>,
    asked: Vec<Asked>,
    /// None without laws.
    worlds: Option<Worlds>,
    warnings: Diagnostics,
    /// Where the weights are.
    run: Option<PathBuf>,
    /// What a definition means.
    semantics: Semantics,
    parameters: Parameters,
}

impl Predictor {
    /// Reads what predicates or functions need, the laws that they are given, and the newest weights of a run.
    ///
    /// # Errors
    /// With whatever is wrong with the files; if there is no such symbol or axiom, the run does not fit, or no world keeps
    /// the laws.
    pub fn load(asking: &Asking) -> Result<Predictor, Diagnostics> {
        let Asking {
            manifest,
            run,
            symbols,
            features,
            given,
        } = *asking;
        let mut warnings = Diagnostics::new();
        let runs = run.map(members).transpose()?.unwrap_or_default();
        let run = runs.first().map(PathBuf::as_path);
        let loaded = Project::load_symbols(manifest, run, symbols, features, given, &mut warnings);
        let Some(project) = loaded else {
            return Err(warnings);
        };
        let sketch = project.sketch();
        let asked: Vec<Asked> = (symbols.iter())
            .map(|symbol| Asked::new(&sketch, symbol))
            .collect::<Result<_, _>>()?;
        let weights = match run {
            Some(run) => {
                same_shapes(&project, run, features)?;
                let weights = RunWeights::read(&project, run)?;
                warnings.extend(weights.warnings().clone());
                Some(weights)
            }
            None => {
                // What a definition asks is known once it is planned.
                if !asked.iter().any(Asked::is_definition) {
                    learns_nothing(&project, &symbols.join("`, `"))?;
                }
                project.check_new_features()?;
                None
            }
        };
        let knowledge = project.knowledge()?;
        let mut model = Model::new(&knowledge, 0)?;
        (asked.iter()).try_for_each(|asked| asked.prepare(&knowledge, &mut model))?;
        let laws = knowledge.data.laws().to_vec();
        // What a definition says is given the laws where its semantics says so.
        let mut worlds = match laws.is_empty() || asked.iter().any(Asked::is_definition) {
            true => None,
            false => Some(Worlds::new(&knowledge, &laws)?),
        };
        if let Some(worlds) = &worlds {
            worlds.prepare(&knowledge, &mut model)?;
        }
        if let Some(weights) = weights.filter(|_| !asked.iter().any(Asked::is_definition)) {
            weights.put_into(&mut model)?;
        }
        if runs.len() > 1 && (worlds.is_some() || asked.iter().any(Asked::is_definition)) {
            let what = "an ensemble cannot answer with laws or definitions: each of its members has its own";
            return Err(Diagnostic::error(Code::CannotPredict, what)
                .help("ask one of its members, DIR/1")
                .into());
        }
        let mut others = Vec::new();
        for run in runs.iter().skip(1) {
            let weights = RunWeights::read(&project, run)?;
            let mut other = Model::new(&knowledge, 0)?;
            (asked.iter()).try_for_each(|asked| asked.prepare(&knowledge, &mut other))?;
            weights.put_into(&mut other)?;
            others.push(other);
        }
        if let Some(worlds) = &mut worlds {
            worlds.look(&knowledge, &mut model)?;
        }
        Ok(Predictor {
            run: run.map(Path::to_path_buf),
            semantics: project.manifest.semantics,
            parameters: project.manifest.schedule.last(run.is_some()),
            project,
            knowledge,
            model,
            others,
            asked,
            worlds,
            warnings,
        })
    }

    /// What definitions mean, instead of what the manifest says: a semantics and its parameters.
    pub fn mean(&mut self, semantics: Semantics, parameters: Parameters) {
        (self.semantics, self.parameters) = (semantics, parameters);
    }

    /// What definitions mean.
    pub fn meaning(&self) -> (Semantics, Parameters) {
        (self.semantics, self.parameters)
    }

    /// What is probably not as it was meant.
    pub fn warnings(&self) -> &Diagnostics {
        &self.warnings
    }

    /// How many runs answer together: more than one of an ensemble.
    pub fn members(&self) -> usize {
        1 + self.others.len()
    }

    /// What is asked; of several the first.
    pub fn asked(&self) -> &Asked {
        &self.asked[0]
    }

    /// All that are asked.
    pub fn all_asked(&self) -> &[Asked] {
        &self.asked
    }

    /// The project, as far as it was read.
    pub fn project(&self) -> &Project {
        &self.project
    }

    /// The columns of a row: what its arguments are called.
    pub fn columns(&self) -> Vec<String> {
        let mut names = self.project.argument_names(self.asked().name());
        names.truncate(self.asked().arguments().len());
        names
    }

    /// The rows of a file.
    ///
    /// # Errors
    /// With all that is wrong with it.
    pub fn rows(&self, path: &Path) -> Result<AskedRows, Diagnostics> {
        self.project.asked_rows(path, self.asked())
    }

    /// How many rows there are in all.
    ///
    /// # Errors
    /// If they are all tuples, and these are too many or cannot be listed, since an argument is a number.
    pub fn count(&self, rows: Option<&AskedRows>) -> Result<u64, Diagnostics> {
        if let Some(rows) = rows {
            let arity = self.asked().arguments().len();
            return Ok(rows.arguments.len().checked_div(arity).unwrap_or(1) as u64);
        }
        self.count_tuples(self.asked())
    }

    fn count_tuples(&self, asked: &Asked) -> Result<u64, Diagnostics> {
        let name = asked.name();
        let (code, what) = match asked.tuples(&self.knowledge) {
            Some(tuples) if tuples <= MOST_TUPLES.into() => return Ok(tuples as u64),
            Some(tuples) => (
                Code::TooManyTuples,
                format!("`{name}` has {tuples} tuples, more than {MOST_TUPLES}"),
            ),
            None => (
                Code::VectorArgument,
                format!(
                    "`{name}` has an argument that is a number: there is no list of all its tuples"
                ),
            ),
        };
        Err(Diagnostic::error(code, what)
            .help("name those that you want in a file: `--rows FILE`")
            .into())
    }

    /// Goes through rows, or all tuples, block by block: each with what is said of it. Memory does not grow with them.
    ///
    /// # Errors
    /// If there are too many tuples, or a number is not finite.
    pub fn each_block(
        &mut self,
        rows: Option<&AskedRows>,
        mut take: impl FnMut(&[u32], &Predictions) -> std::ops::ControlFlow<()>,
    ) -> Result<(), Diagnostics> {
        let count = self.count(rows)?;
        if let Some(worlds) = &mut self.worlds {
            worlds.sum_up()?;
        }
        let asked = &self.asked[0];
        let arity = asked.arguments().len();
        let numbers = rows.map_or(&[][..], |rows| &rows.numbers);
        let mut from = 0;
        // What tuples of a definition ask each other is found once for a block.
        let most = match asked.is_definition() {
            true => 64 * BLOCK,
            false => BLOCK,
        };
        while from < count {
            let to = (from + most as u64).min(count);
            let made;
            let block = match rows {
                Some(rows) => &rows.arguments[from as usize * arity..to as usize * arity],
                None => {
                    made = asked.some_tuples(&self.knowledge, from, to);
                    &made
                }
            };
            let mut said = match asked.is_definition() {
                true => self.defined(asked, block)?,
                false => asked.predict(&self.knowledge, &mut self.model, block, numbers)?,
            };
            if !self.others.is_empty() {
                let mut all = vec![said];
                for other in &mut self.others {
                    all.push(asked.predict(&self.knowledge, other, block, numbers)?);
                }
                said = Predictions::of_ensemble(&all);
            }
            if let (Some(worlds), Some(of)) = (&self.worlds, asked.rows_of(block, numbers)) {
                worlds.condition(&of, said.width, &mut said.numbers);
            }
            if take(block, &said).is_break() {
                break;
            }
            from = to;
        }
        Ok(())
    }

    /// The rows, or all tuples, with their state in the most probable world.
    ///
    /// # Errors
    /// If there are too many tuples, or it is a function that is asked.
    pub fn world(&mut self, rows: Option<&AskedRows>) -> Result<(Vec<u32>, InWorld), Diagnostics> {
        let count = self.count(rows)?;
        let asked = &self.asked[0];
        let (arguments, numbers) = match rows {
            Some(rows) => (rows.arguments.clone(), &rows.numbers[..]),
            None => (asked.some_tuples(&self.knowledge, 0, count), &[][..]),
        };
        let Some(of) = asked.rows_of(&arguments, numbers) else {
            return Err(no_worlds(asked));
        };
        let said = asked.predict(&self.knowledge, &mut self.model, &arguments, numbers)?;
        let world = logltn_learn::world(self.worlds.as_mut(), &of, &said)?;
        Ok((arguments, world))
    }

    /// Worlds at random of all atoms of all predicates that are asked: for each world and predicate its tuples and their
    /// states. The same for the same seed.
    ///
    /// # Errors
    /// If a predicate has too many tuples, or it is a function.
    pub fn sample(
        &mut self,
        count: u64,
        seed: u64,
        mut take: impl FnMut(u64, &Asked, &[u32], &[Vec<u32>]) -> std::ops::ControlFlow<()>,
    ) -> Result<(), Diagnostics> {
        let mut all = Vec::with_capacity(self.asked.len());
        for asked in &self.asked {
            let tuples = self.count_tuples(asked)?;
            let tuples = asked.some_tuples(&self.knowledge, 0, tuples);
            if asked.predicate().is_none() {
                return Err(no_worlds(asked));
            }
            let said = asked.predict(&self.knowledge, &mut self.model, &tuples, &[])?;
            all.push((tuples, said));
        }
        let mut random = Random::new(seed, SAMPLES);
        let mut done = 0;
        while done < count {
            let some = (count - done).min(MOST_WORLDS) as usize;
            let drawn = match &mut self.worlds {
                Some(worlds) => worlds.sample(some, random.bits())?,
                None => vec![Vec::new(); some],
            };
            for world in drawn {
                for (asked, (tuples, said)) in self.asked.iter().zip(&all) {
                    let Some(of) = asked.rows_of(tuples, &[]) else {
                        continue;
                    };
                    let worlds = self.worlds.as_ref().map(|worlds| (worlds, &world[..]));
                    let states = logltn_learn::draw(worlds, &of, said, &mut random);
                    if take(done, asked, tuples, &states).is_break() {
                        return Ok(());
                    }
                }
                done += 1;
            }
        }
        Ok(())
    }
}

/// This many worlds are drawn at once.
const MOST_WORLDS: u64 = 256;

/// Randomness for worlds.
const SAMPLES: u64 = 31;

fn no_worlds(asked: &Asked) -> Diagnostics {
    let what = format!(
        "`{}` is a function: worlds assign truth to predicates",
        asked.name()
    );
    Diagnostic::error(Code::NoClasses, what)
        .help("ask about a predicate")
        .into()
}

impl Predictor {
    /// The value of a definition for tuples, as truth degrees.
    fn defined(&self, asked: &Asked, tuples: &[u32]) -> Result<Predictions, Diagnostics> {
        let questions = Questions {
            project: &self.project,
            run: self.run.as_deref(),
            semantics: self.semantics,
            parameters: self.parameters,
            top: 0,
            most_groundings: None,
            open: Vec::new(),
            joint: false,
        };
        // They were said when the run was compared.
        let mut known = Diagnostics::new();
        let truths = questions.truths_of(asked.name(), tuples, &mut known)?;
        Ok(Predictions {
            answers: asked.answers(),
            width: 1,
            disagreement: Vec::new(),
            numbers: (truths.into_iter())
                .map(|truth| self.semantics.degree(truth).clamp(0.0, 1.0))
                .collect(),
        })
    }
}

/// New features must look like those that the networks were trained with.
fn same_shapes(
    project: &Project,
    run: &Path,
    features: &[(String, PathBuf)],
) -> Result<(), Diagnostics> {
    let learnt = RunDirectory::open(run)?.info().map(|info| info.model);
    let (Ok(learnt), used) = (learnt, project.description()?) else {
        return Ok(()); // said where the run is compared
    };
    let mut wrong = Diagnostics::new();
    for (sort, file) in features {
        let key = format!("sorts.{sort}.features");
        if let (Some(was), Some(is)) = (learnt.get(&key), used.get(&key))
            && was != is
        {
            let what = format!(
                "{}: an individual of sort `{sort}` is `{is}` here, but the networks were trained with `{was}`",
                file.display()
            );
            wrong.push(Diagnostic::error(Code::WrongShape, what).help(
                "give the same columns, or arrays of the same shape, as the manifest's features",
            ));
        }
    }
    wrong.into_result(()).map(drop)
}

/// Without a run there must be nothing that is learnt.
fn learns_nothing(project: &Project, symbol: &str) -> Result<(), Diagnostics> {
    let knowledge = project.sketch();
    let functions = knowledge.functions.iter().any(Option::is_some);
    let is_host = |id: PredicateId| matches!(knowledge.predicates[id], Ground::Host);
    let mut predicates = (0..knowledge.predicates.len() as u32).map(PredicateId);
    if !functions && !predicates.any(|id| knowledge.learns(id) && !is_host(id)) {
        return Ok(());
    }
    let what = format!("what `{symbol}` says is known only after training");
    Err(Diagnostic::error(Code::NotTrained, what)
        .help("give the folder of a run: `--run DIR`; `logltn train` makes one")
        .into())
}
