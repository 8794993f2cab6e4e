//! What the symbols of a manifest say, with the weights of a run.

use std::path::{Path, PathBuf};

use logltn::{Code, Diagnostic, Diagnostics};
use logltn_learn::{Asked, Ground, KnowledgeBase, Model, Predictions};

use super::run_weights::RunWeights;
use crate::project::{AskedRows, Project};
use crate::run_directory::RunDirectory;

/// The most tuples that are gone through unless rows say which.
pub const MOST_TUPLES: u64 = 10_000_000;

/// How many rows are asked about at once.
const BLOCK: usize = 16_384;

/// A predicate or a function with all that it needs, and nothing else of its manifest.
///
/// ```
/// use std::ops::ControlFlow;
/// use logltn_train::train::Predictor;
/// # let folder = tempfile::tempdir().unwrap();
/// # let path = |name: &str| folder.path().join(name);
/// # std::fs::write(path("p.csv"), "p\n0.25\n1\n").unwrap();
/// # std::fs::write(path("t.ltn"), "sort P = 0..1\npredicate good(P)\naxiom a: forall x: P. good(x)\n").unwrap();
/// # std::fs::write(path("m.toml"), "theory = 't.ltn'\n[predicates.good]\ntruth = 'p.csv'\n").unwrap();
/// let mut good = Predictor::load(&path("m.toml"), None, "good", &[])?;
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
    asked: Asked,
    warnings: Diagnostics,
}

impl Predictor {
    /// Reads what a predicate or a function needs, and the newest weights of a run, which may be left out where nothing is
    /// learnt. `features` names other files for sorts with features: the individuals are then those of the files.
    ///
    /// # Errors
    /// With whatever is wrong with the files; if there is no such symbol, or the run does not fit.
    pub fn load(
        manifest: &Path,
        run: Option<&Path>,
        symbol: &str,
        features: &[(String, PathBuf)],
    ) -> Result<Predictor, Diagnostics> {
        let mut warnings = Diagnostics::new();
        let Some(project) = Project::load_symbol(manifest, symbol, features, &mut warnings) else {
            return Err(warnings);
        };
        let asked = Asked::new(&project.sketch(), symbol)?;
        let weights = match run {
            Some(run) => {
                same_shapes(&project, run, features)?;
                let weights = RunWeights::read(&project, run)?;
                warnings.extend(weights.warnings().clone());
                Some(weights)
            }
            None => {
                learns_nothing(&project, symbol)?;
                project.check_new_features()?;
                None
            }
        };
        let knowledge = project.knowledge()?;
        let mut model = Model::new(&knowledge, 0)?;
        asked.prepare(&knowledge, &mut model)?;
        if let Some(weights) = weights {
            weights.put_into(&mut model)?;
        }
        Ok(Predictor {
            project,
            knowledge,
            model,
            asked,
            warnings,
        })
    }

    /// What is probably not as it was meant.
    pub fn warnings(&self) -> &Diagnostics {
        &self.warnings
    }

    /// What is asked.
    pub fn asked(&self) -> &Asked {
        &self.asked
    }

    /// The project, as far as it was read.
    pub fn project(&self) -> &Project {
        &self.project
    }

    /// The columns of a row: what its arguments are called.
    pub fn columns(&self) -> Vec<String> {
        let mut names = self.project.argument_names(self.asked.name());
        names.truncate(self.asked.arguments().len());
        names
    }

    /// The rows of a file.
    ///
    /// # Errors
    /// With all that is wrong with it.
    pub fn rows(&self, path: &Path) -> Result<AskedRows, Diagnostics> {
        self.project.asked_rows(path, &self.asked)
    }

    /// How many rows there are in all.
    ///
    /// # Errors
    /// If they are all tuples, and these are too many or cannot be listed, since an argument is a number.
    pub fn count(&self, rows: Option<&AskedRows>) -> Result<u64, Diagnostics> {
        if let Some(rows) = rows {
            let arity = self.asked.arguments().len();
            return Ok(rows.arguments.len().checked_div(arity).unwrap_or(1) as u64);
        }
        let name = self.asked.name();
        let (code, what) = match self.asked.tuples(&self.knowledge) {
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
        let arity = self.asked.arguments().len();
        let numbers = rows.map_or(&[][..], |rows| &rows.numbers);
        let mut from = 0;
        while from < count {
            let to = (from + BLOCK as u64).min(count);
            let made;
            let block = match rows {
                Some(rows) => &rows.arguments[from as usize * arity..to as usize * arity],
                None => {
                    made = self.asked.some_tuples(&self.knowledge, from, to);
                    &made
                }
            };
            let said = (self.asked).predict(&self.knowledge, &mut self.model, block, numbers)?;
            if take(block, &said).is_break() {
                break;
            }
            from = to;
        }
        Ok(())
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
    let predicates = project.manifest.predicates.values().any(|p| p.learns());
    // A closed form may be of vectors that are learnt.
    let closed = |ground: &Ground| matches!(ground, Ground::ClosedForm(_));
    let vectors = knowledge.vectors.iter().any(|v| v.learnable.is_some());
    let of_vectors = vectors && knowledge.predicates.iter().any(closed);
    if !functions && !predicates && !of_vectors {
        return Ok(());
    }
    let what = format!("what `{symbol}` says is known only after training");
    Err(Diagnostic::error(Code::NotTrained, what)
        .help("give the folder of a run: `--run DIR`; `logltn train` makes one")
        .into())
}
