//! `logltn sample`: worlds drawn at random.

use std::io::{self, BufWriter, Write};
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use logltn::theory::{ArgumentSort, Sort};
use logltn::{Diagnostics, OutputKind};
use logltn_learn::Asked;
use logltn_train::train::{Asking, Predictor};

use super::predict::{individual, quoted, written};
use crate::console;
use crate::outcome::Outcome;

/// Draw worlds of some predicates' atoms from their exact distribution, as CSV.
///
/// Every world keeps all laws: the axioms that the manifest makes hard, or those of `--given`. A row has the number of the
/// world, the predicate, its arguments and its value: 0 or 1; for a softmax the value is the class, which is left out of
/// the arguments.
#[derive(clap::Args)]
pub struct Arguments {
    /// The manifest, a `.toml` file
    #[arg(value_name = "MANIFEST")]
    manifest: PathBuf,
    /// The predicates
    #[arg(value_name = "PREDICATE", required = true)]
    symbols: Vec<String>,
    /// The folder of a run, finished or not; may be left out where nothing is learnt
    #[arg(long, value_name = "DIR")]
    run: Option<PathBuf>,
    /// How many worlds to draw
    #[arg(long, value_name = "N", default_value_t = 1)]
    worlds: u64,
    /// The seed: the same seed gives the same worlds
    #[arg(long, value_name = "S", default_value_t = 0)]
    seed: u64,
    /// Take these axioms as laws instead of those that the manifest makes hard; `none` for none
    #[arg(long, value_name = "AXIOM,…")]
    given: Option<String>,
}

/// Runs the command.
pub fn run(arguments: &Arguments) -> Result<Outcome, Diagnostics> {
    let given = arguments.given.as_deref().map(listed_laws);
    // A predicate named twice is listed once.
    let mut symbols = arguments.symbols.clone();
    let mut seen = std::collections::BTreeSet::new();
    symbols.retain(|symbol| seen.insert(symbol.clone()));
    let mut predictor = Predictor::load(&Asking {
        manifest: &arguments.manifest,
        run: arguments.run.as_deref(),
        symbols: &symbols,
        features: &[],
        given: given.as_deref(),
    })?;
    console::report(predictor.warnings());
    write(&mut predictor, arguments)?;
    Ok(Outcome::Done)
}

/// How the atoms of a predicate are written.
struct Page {
    name: String,
    sorts: Vec<Option<Sort>>,
    classes: Option<Sort>,
    is_softmax: bool,
}

impl Page {
    fn new(predictor: &Predictor, asked: &Asked) -> Page {
        let theory = predictor.project().theory();
        let classes = match asked.answers() {
            logltn_learn::Answers::Classes(sort) => Some(theory[sort].clone()),
            _ => None,
        };
        let sort = |argument: &ArgumentSort| match argument {
            ArgumentSort::Sort(sort) => Some(theory[*sort].clone()),
            ArgumentSort::Vector(_) => None,
        };
        Page {
            name: asked.name().to_string(),
            sorts: asked.arguments().iter().map(sort).collect(),
            classes,
            is_softmax: (asked.predicate()).is_some_and(|(_, o)| o.kind == OutputKind::Softmax),
        }
    }

    fn columns(&self) -> usize {
        self.sorts.len() + usize::from(self.classes.is_some() && !self.is_softmax)
    }

    /// The lines of one world, with blanks where other predicates have more arguments.
    fn lines(
        &self,
        columns: usize,
        world: u64,
        rows: &[u32],
        states: &[Vec<u32>],
        out: &mut String,
    ) {
        let arity = self.sorts.len();
        for (row, states) in states.iter().enumerate() {
            for (class, &state) in states.iter().enumerate() {
                *out += &format!("{world},{}", quoted(&self.name));
                let tuple = &rows[row * arity..(row + 1) * arity];
                for (sort, &i) in self.sorts.iter().zip(tuple) {
                    let text = sort.as_ref().map(|sort| individual(sort, i as usize));
                    *out += &format!(",{}", quoted(&text.unwrap_or_default()));
                }
                let value = match &self.classes {
                    Some(sort) if self.is_softmax => quoted(&individual(sort, state as usize)),
                    Some(sort) => {
                        *out += &format!(",{}", quoted(&individual(sort, class)));
                        state.to_string()
                    }
                    None => state.to_string(),
                };
                *out += &",".repeat(columns - self.columns());
                *out += &format!(",{value}\n");
            }
        }
    }
}

fn write(predictor: &mut Predictor, arguments: &Arguments) -> Result<(), Diagnostics> {
    let pages: Vec<Page> = (predictor.all_asked().iter())
        .map(|asked| Page::new(predictor, asked))
        .collect();
    let columns = pages.iter().map(Page::columns).max().unwrap_or(0);
    let mut out = BufWriter::new(io::stdout().lock());
    let mut head = vec!["world".to_string(), "predicate".to_string()];
    head.extend((1..=columns).map(|i| format!("a{i}")));
    head.push("value".to_string());
    let mut text = head.join(",") + "\n";
    let mut result = Ok(());
    predictor.sample(
        arguments.worlds,
        arguments.seed,
        |world, asked, rows, states| {
            if let Some(page) = pages.iter().find(|page| page.name == asked.name()) {
                page.lines(columns, world, rows, states, &mut text);
            }
            result = out.write_all(text.as_bytes());
            text.clear();
            match result {
                Ok(()) => ControlFlow::Continue(()),
                Err(_) => ControlFlow::Break(()),
            }
        },
    )?;
    let result = result
        .and_then(|()| out.write_all(text.as_bytes()))
        .and_then(|()| out.flush());
    written(result, Path::new("standard output"))
}

/// The names in a list of laws, `a, b[x], b[y, z]`: commas in brackets do not separate. `none` is the list of none.
pub(super) fn listed_laws(list: &str) -> Vec<String> {
    let (mut laws, mut open) = (vec![String::new()], 0_usize);
    for c in list.chars() {
        match c {
            '[' => open += 1,
            ']' => open = open.saturating_sub(1),
            _ => {}
        }
        match (c, open, laws.last_mut()) {
            (',', 0, _) => laws.push(String::new()),
            (c, _, Some(law)) => law.push(c),
            (_, _, None) => {}
        }
    }
    let mut laws: Vec<String> = laws.iter().map(|law| law.trim().to_string()).collect();
    if laws == ["none"] {
        laws.clear();
    }
    laws
}

#[test]
fn commas_in_brackets_do_not_separate_laws() {
    assert_eq!(listed_laws("isa, part[a,b]"), ["isa", "part[a,b]"]);
    assert!(listed_laws("none").is_empty());
}
