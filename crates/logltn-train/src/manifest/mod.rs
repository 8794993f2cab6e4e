//! Manifests: the data, networks and semantics that ground a theory, and how to train.
//!
//! A manifest is a TOML file. Reading one finds every mistake in one pass, each with its place; unknown
//! keys are refused.
//!
//! ```
//! use std::path::Path;
//! use logltn::Source;
//! use logltn_train::manifest::{Individuals, Manifest};
//!
//! let text = r#"
//!     theory = "clustering.ltn"
//!     sorts.Point.features = "points.csv"
//! "#;
//! let (manifest, _warnings) = Manifest::parse(Source::new("m.toml", text), Path::new("data")).unwrap();
//! let Some(Individuals::Features(from)) = &manifest.sorts["Point"].individuals else { panic!() };
//! assert_eq!(manifest.resolve(&from.file), Path::new("data/points.csv"));
//!
//! let wrong = Source::new("m.toml", "theory = 1\nsemantic = \"logltn\"\n");
//! let errors = Manifest::parse(wrong, Path::new("data")).unwrap_err();
//! assert_eq!(errors.error_count(), 2);
//! ```

mod against;
mod axioms;
mod closed_form;
mod data;
mod evaluate;
mod files;
pub mod keys;
mod network;
mod phrase;
mod reader;
mod schedule;
mod semantics;
mod symbols;
mod train;

use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use logltn::{Code, Diagnostic, Diagnostics, Semantics, Source, Span};
use logltn_data::CsvFile;
use toml::de::DeTable;

pub use against::check_against;
pub use axioms::Axiom;
pub use data::{FeatureSource, Individuals, Labels, Param, Sort, Split, Table};
pub use evaluate::{Evaluate, MetricSpec, MetricTruth, Ranking};
pub(crate) use files::{learnt_from, measured_against};
pub use logltn_learn::{
    By, Curve, InputExpr, Length, MetricKind, Moment, Optimizer, Schedule, Schedules, Spanned,
};
pub use logltn_nn::{Activation, LayerSpec as Layer};
pub use network::{Network, NetworkRef};
pub use schedule::Scheduled;
pub(crate) use schedule::papers_alpha;
pub(crate) use symbols::users;
pub use symbols::{Constant, Function, Grounding, Output, Predicate};
pub use train::{EarlyStop, Phase, Start, Train};

use keys::MANIFEST;
use reader::Problems;

/// The named entries of a section, such as the sorts of `[sorts]`; the place of each is its name.
///
/// Ordered by name, so that nothing that is derived from it depends on the order in the file.
pub type Section<T> = BTreeMap<String, Spanned<T>>;

/// A valid manifest. [`check_against`] checks it against its theory.
#[derive(Clone, Debug)]
pub struct Manifest {
    /// The text, for messages that point into it.
    pub source: Source,
    /// The folder that paths are relative to.
    pub dir: PathBuf,
    /// The theory's file, as written.
    pub theory: Spanned<PathBuf>,
    /// What the connectives mean.
    pub semantics: Semantics,
    /// `[sorts]`.
    pub sorts: Section<Sort>,
    /// `[params]`.
    pub params: Section<Param>,
    /// `[tables]`.
    pub tables: Section<Table>,
    /// `[predicates]`.
    pub predicates: Section<Predicate>,
    /// `[functions]`.
    pub functions: Section<Function>,
    /// `[constants]`.
    pub constants: Section<Constant>,
    /// `[networks]`: those that several symbols share.
    pub networks: Section<Network>,
    /// `[schedule]`.
    pub schedule: Scheduled,
    /// `[axioms]`.
    pub axioms: Section<Axiom>,
    /// `[train]`, if it is there.
    pub train: Option<Spanned<Train>>,
    /// `[evaluate]`, if it is there.
    pub evaluate: Option<Spanned<Evaluate>>,
    /// Entries with errors that were reported and are left out above, such as `sorts.Point`; empty in a valid
    /// manifest. They are not reported as missing again.
    pub broken: BTreeSet<String>,
}

impl Manifest {
    /// The largest file that is read: a thousand times the size of any real manifest.
    pub const MAX_BYTES: u64 = 16 << 20;

    /// Reads a manifest, with its warnings.
    pub fn read(path: impl AsRef<Path>) -> Result<(Manifest, Diagnostics), Diagnostics> {
        let mut found = Diagnostics::new();
        match Manifest::read_as_far_as_possible(path.as_ref(), &mut found) {
            Some(manifest) => found.into_result(manifest),
            None => Err(found),
        }
    }

    /// The parts of a manifest that could be understood, with mistakes and warnings pushed to `out`: for programs
    /// that go on to find more mistakes elsewhere. `None` if not even the theory's path is known.
    pub fn read_as_far_as_possible(path: &Path, out: &mut Diagnostics) -> Option<Manifest> {
        let dir = match path.parent() {
            Some(dir) if !dir.as_os_str().is_empty() => dir,
            _ => Path::new("."),
        };
        match read_source(path) {
            Ok(source) => Manifest::parse_as_far_as_possible(source, dir, out),
            Err(error) => {
                out.push(error);
                None
            }
        }
    }

    /// Reads the text of a manifest whose paths are relative to `dir`.
    pub fn parse(source: Source, dir: &Path) -> Result<(Manifest, Diagnostics), Diagnostics> {
        let mut found = Diagnostics::new();
        match Manifest::parse_as_far_as_possible(source, dir, &mut found) {
            Some(manifest) => found.into_result(manifest),
            None => Err(found),
        }
    }

    /// Like [`Manifest::read_as_far_as_possible`], for the text of a manifest.
    pub fn parse_as_far_as_possible(
        source: Source,
        dir: &Path,
        out: &mut Diagnostics,
    ) -> Option<Manifest> {
        if source.text().len() as u64 > Manifest::MAX_BYTES {
            out.push(too_large(source.name()));
            return None;
        }
        let shared = source.clone();
        let problems = Problems::new(&shared);
        let (document, errors) = DeTable::parse_recoverable(shared.text());
        let manifest = if report_syntax(&errors, &problems) {
            None
        } else {
            read_document(document.get_ref(), source, dir, &problems)
        };
        out.extend(problems.finish());
        manifest
    }

    /// A path of the manifest, relative to the working directory.
    pub fn resolve(&self, path: impl AsRef<Path>) -> PathBuf {
        if self.dir == Path::new(".") {
            return path.as_ref().to_owned(); // `./points.csv` would be the same, but is not what the manifest says
        }
        self.dir.join(path)
    }

    /// The individuals of a sort, if the manifest gives them.
    pub fn individuals(&self, sort: &str) -> Option<&Individuals> {
        self.sorts.get(sort)?.individuals.as_ref()
    }

    /// The features of a sort, if it has some.
    pub fn features(&self, sort: &str) -> Option<&FeatureSource> {
        match self.individuals(sort)? {
            Individuals::Features(from) => Some(from),
            Individuals::LabelFile(_) | Individuals::Names(_) => None,
        }
    }

    /// The place of a column that the manifest names.
    pub(crate) fn column(
        &self,
        file: &CsvFile,
        column: &Spanned<String>,
    ) -> Result<usize, Diagnostic> {
        let found = file.column_index(column);
        found.map_err(|error| error.at(&self.source, column.span, "this column"))
    }

    /// The network behind a symbol, looked up in `[networks]` if it is shared.
    pub fn network<'m>(&'m self, network: &'m NetworkRef) -> Option<&'m Network> {
        match network {
            NetworkRef::Own(network) => Some(network),
            NetworkRef::Shared(name) => self.networks.get(&name.value).map(|n| &n.value),
        }
    }
}

fn too_large(name: &str) -> Diagnostic {
    let megabytes = Manifest::MAX_BYTES >> 20;
    Diagnostic::error(
        Code::FileTooLarge,
        format!("`{name}` is too large for a manifest: more than {megabytes} MB"),
    )
    .help("a manifest is a small TOML file; put data into other files")
}

/// The text of a file, or why it cannot be read.
fn read_source(path: &Path) -> Result<Source, Diagnostic> {
    let name = path.display().to_string();
    let fail = |error: io::Error| match error.kind() {
        io::ErrorKind::NotFound => {
            Diagnostic::error(Code::FileNotFound, format!("there is no manifest `{name}`"))
                .help("check the path")
        }
        _ => Diagnostic::error(
            Code::FileUnreadable,
            format!("cannot read the manifest `{name}`: {error}"),
        ),
    };
    if path.is_dir() {
        return Err(Diagnostic::error(
            Code::NotAFile,
            format!("`{name}` is a folder, not a manifest"),
        )
        .help("give the `.toml` file in it"));
    }
    if let Some(other) = logltn_data::not_regular(path) {
        return Err(Diagnostic::error(
            Code::NotAFile,
            format!("`{name}` is {other}, not a manifest"),
        ));
    }
    if path.is_file() && path.extension().is_some_and(|extension| extension == "ltn") {
        let theory = path.file_name().unwrap_or_default().display();
        return Err(Diagnostic::error(
            Code::MalformedToml,
            format!("`{name}` is a theory, not a manifest"),
        )
        .help(format!(
            "give the `.toml` file that says `theory = \"{theory}\"` and grounds its predicates"
        )));
    }
    let mut bytes = Vec::new();
    let file = File::open(path).map_err(fail)?;
    file.take(Manifest::MAX_BYTES + 1)
        .read_to_end(&mut bytes)
        .map_err(fail)?;
    if bytes.len() as u64 > Manifest::MAX_BYTES {
        return Err(too_large(&name));
    }
    utf8_source(name, bytes, "the manifest")
}

/// The text of a file, or where it is not UTF-8.
pub(crate) fn utf8_source(name: String, bytes: Vec<u8>, what: &str) -> Result<Source, Diagnostic> {
    let wrong = match String::from_utf8(bytes) {
        Ok(text) => return Ok(Source::new(name, text)),
        Err(wrong) => wrong,
    };
    // The lossy text is the same up to the bad byte, where it has a replacement character.
    let at = wrong.utf8_error().valid_up_to();
    let lossy = String::from_utf8_lossy(wrong.as_bytes()).into_owned();
    // A byte-order mark is dropped by the source.
    let at = at - if lossy.starts_with('\u{feff}') { 3 } else { 0 };
    let (source, place) = (Source::new(name, lossy), Span::new(at, at + 3));
    let error = Diagnostic::error(Code::NotUtf8, format!("{what} is not UTF-8 text"));
    let error = error.at(&source, place, "not UTF-8");
    Err(error.help("save the file as UTF-8"))
}

/// After this many syntax errors the parser is guessing.
const MAX_SYNTAX_ERRORS: usize = 10;

/// Reports syntax errors; true if the document cannot be relied on. After a duplicate key the rest of the document is
/// still checked.
fn report_syntax(errors: &[toml::de::Error], problems: &Problems<'_>) -> bool {
    let end = problems.source.text().len();
    let mut places: Vec<(usize, usize, &toml::de::Error)> = errors
        .iter()
        .map(|error| {
            let span = error.span().unwrap_or(0..0);
            (span.start.min(end), span.end.min(end), error)
        })
        .collect();
    places.sort_by_key(|(start, ..)| *start);
    // One for each line: others on the line usually follow from it.
    places.dedup_by_key(|(start, ..)| problems.source.line(*start as u32));
    for (start, end, error) in places.iter().take(MAX_SYNTAX_ERRORS) {
        let message = error.message();
        let diagnostic = if message == "duplicate key" {
            let key = problems.source.slice(Span::new(*start, *end));
            Diagnostic::error(Code::DuplicateKey, format!("`{key}` is given twice"))
                .help("remove one of the two")
        } else if let Some(word) = unquoted_word(problems.source, *start) {
            Diagnostic::error(
                Code::MalformedToml,
                format!("not TOML: `{word}` is not in quotes"),
            )
            .help(format!("write \"{word}\""))
        } else {
            Diagnostic::error(Code::MalformedToml, format!("not TOML: {message}"))
        };
        problems.push(Span::new(*start, *end), "", diagnostic);
    }
    errors
        .iter()
        .any(|error| error.message() != "duplicate key")
}

/// A string without quotes, if that is what is at `start`: the commonest slip in TOML, for which the
/// parser's own words ("invalid boolean") are no help.
fn unquoted_word(source: &Source, start: usize) -> Option<&str> {
    let before = source.text().get(..start)?.trim_end_matches([' ', '\t']);
    let rest = source.text().get(start..)?;
    let end = rest
        .find(|c: char| !(c.is_alphanumeric() || "_-./".contains(c)))
        .unwrap_or(rest.len());
    let word = rest.get(..end)?;
    (before.ends_with('=') && word.starts_with(char::is_alphabetic)).then_some(word)
}

fn read_document<'d>(
    document: &'d DeTable<'d>,
    source: Source,
    dir: &Path,
    problems: &'d Problems<'d>,
) -> Option<Manifest> {
    let mut table = reader::Table::new(
        problems,
        String::new(),
        Span::new(0, 0),
        document,
        &MANIFEST,
    );
    let theory = table
        .require("theory", "\"theory.ltn\"")
        .and_then(|item| item.file());
    let semantics = match table.take("semantics") {
        Some(item) => semantics::read(&item),
        None => Some(Semantics::default()),
    };
    let mut broken = BTreeSet::new();
    // A section that is not a table has been reported; an empty one replaces it.
    macro_rules! section {
        ($key:literal, $type:ty) => {
            table
                .take($key)
                .and_then(|item| item.section(&mut broken, <$type>::read))
                .unwrap_or_default()
        };
    }
    let sorts = section!("sorts", Sort);
    let params = section!("params", Param);
    let tables = section!("tables", Table);
    let network_names = table.take("networks").map(|item| item.keys().collect());
    let networks = section!("networks", Network);
    let predicates = section!("predicates", Predicate);
    let functions = section!("functions", Function);
    let constants = section!("constants", Constant);
    let axioms = section!("axioms", Axiom);
    let schedule = match table.take("schedule") {
        Some(item) => schedule::read_schedules(&item),
        None => Some(Scheduled::default()),
    };
    let train = table
        .take("train")
        .and_then(|item| Some(Spanned::new(Train::read(&item)?, item.key)));
    let before = problems.count();
    let evaluate = table
        .take("evaluate")
        .and_then(|item| Some(Spanned::new(Evaluate::read(&item)?, item.key)));
    let evaluate_is_sound = problems.count() == before;
    table.end();
    let declared: BTreeSet<&str> = network_names.unwrap_or_default();
    symbols::check_shared(&networks, &declared, &predicates, &functions, problems);
    if let (Some(train), true) = (&train, evaluate_is_sound) {
        train.check_early_stop(evaluate.as_ref().map(|e| &e.value), problems);
    }
    Some(Manifest {
        source,
        dir: dir.to_owned(),
        theory: theory?,
        // The error has been reported; with the default, the rest can be checked.
        semantics: semantics.unwrap_or_default(),
        sorts,
        params,
        tables,
        predicates,
        functions,
        constants,
        networks,
        schedule: schedule.unwrap_or_default(),
        axioms,
        train,
        evaluate,
        broken,
    })
}
