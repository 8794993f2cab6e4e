//! `[predicates]`, `[functions]` and `[constants]`: the groundings of the symbols of the theory.

use std::collections::BTreeSet;
use std::path::PathBuf;

use logltn::{Code, Diagnostic, Span};
use logltn_learn::metrics::Subject;
use logltn_learn::{ClosedForm, InputExpr, Spanned, Units};

use super::Section;
use super::closed_form;
use super::network::{Network, NetworkRef};
use super::reader::{Item, Problems};

/// How a predicate is grounded.
#[derive(Clone, Debug, PartialEq)]
pub struct Predicate {
    /// Names for the arguments, to be used in `inputs`.
    pub args: Option<Spanned<Vec<Spanned<String>>>>,
    /// The source of its truth.
    pub grounding: Grounding,
    /// `crisp`: the weight of a term that pushes each row of a softmax to a decision; 0 by default.
    pub crisp: f64,
}

/// The source of a predicate's truth.
#[derive(Clone, Debug, PartialEq)]
pub enum Grounding {
    /// `network = …`.
    Network {
        /// The network.
        network: Spanned<NetworkRef>,
        /// What its last layer means.
        output: Spanned<Output>,
    },
    /// `logits = "p.csv"`.
    Logits {
        /// The numbers.
        file: Spanned<PathBuf>,
        /// What they mean.
        output: Spanned<Output>,
    },
    /// `truth = "p.csv"`: truth degrees.
    Truth(Spanned<PathBuf>),
    /// `log_truth = "p.csv"`: logs of truth degrees.
    LogTruth(Spanned<PathBuf>),
    /// `learnable = true`: a separate logit for each tuple of individuals.
    Learnable {
        /// The place of this key.
        span: Span,
        /// The value of each before training: `initial`, 0 by default.
        initial: f64,
        /// What they mean; a sigmoid by default.
        output: Option<Spanned<Output>>,
    },
    /// `closed_form = …`: arithmetic over its arguments and what it learns.
    ClosedForm(ClosedForm),
    /// Nothing: the program that uses this crate gives the logits (from PyTorch, say).
    Host {
        /// What they mean, if given.
        output: Option<Spanned<Output>>,
    },
}

impl Grounding {
    /// The file of numbers that it is, what these mean, and where that is said; `None` if it is something else.
    pub fn numbers(&self) -> Option<(&Spanned<PathBuf>, logltn::Output, Option<Span>)> {
        match self {
            Grounding::Logits { file, output } => {
                let kind = match output.value {
                    Output::Softmax => logltn::Output::softmax(),
                    Output::Sigmoid => logltn::Output::sigmoid(),
                };
                Some((file, kind, Some(output.span)))
            }
            Grounding::Truth(file) => Some((file, logltn::Output::truth(), None)),
            Grounding::LogTruth(file) => Some((file, logltn::Output::log_truth(), None)),
            Grounding::Network { .. }
            | Grounding::Learnable { .. }
            | Grounding::ClosedForm(_)
            | Grounding::Host { .. } => None,
        }
    }
}

/// How logits become truth.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Output {
    /// The last argument picks the class.
    Softmax,
    /// One logit, or one for each individual of the last argument.
    Sigmoid,
}

pub(super) const OUTPUTS: [(&str, Output); 2] =
    [("softmax", Output::Softmax), ("sigmoid", Output::Sigmoid)];

/// How a function is grounded.
#[derive(Clone, Debug, PartialEq)]
pub struct Function {
    /// Names for the arguments, to be used in `inputs`.
    pub args: Option<Spanned<Vec<Spanned<String>>>>,
    /// Its network.
    pub network: Option<Spanned<NetworkRef>>,
    /// `values = "age.csv"`: it is given by data. Without this and a network it is host code.
    pub values: Option<Spanned<PathBuf>>,
    /// `column = "age"`: the column of the values, where the file has others.
    pub column: Option<Spanned<String>>,
    /// `output = { scale = 100, shift = 20 }`: the units of its values.
    pub units: Option<Units>,
}

/// How a constant is grounded.
#[derive(Clone, Debug, PartialEq)]
pub enum Constant {
    /// `row = 3`: an individual of its sort, counted from 0.
    Row(Spanned<u64>),
    /// `row = "ann"`: an individual with a name.
    Name(Spanned<String>),
    /// `learnable = 8`: a vector of that length, trained with the networks.
    Learnable(Spanned<usize>),
}

impl Predicate {
    pub(super) fn read(item: &Item<'_>) -> Option<Predicate> {
        let mut table = item.table()?;
        let args = table.read("args", read_args);
        let [network, learnable, closed] =
            ["network", "learnable", "closed_form"].map(|key| table.take(key));
        let [logits, truth, log_truth] =
            ["logits", "truth", "log_truth"].map(|key| table.take(key));
        let [learn, initial, output] = ["learn", "initial", "output"].map(|key| table.take(key));
        let sources = [&network, &learnable, &closed, &logits, &truth, &log_truth];
        if let ([source], Some(output)) = (
            &sources
                .map(Option::as_ref)
                .into_iter()
                .flatten()
                .collect::<Vec<_>>()[..],
            &output,
        ) {
            needs_no_output(
                source,
                output,
                closed.is_some(),
                truth.is_some() || log_truth.is_some(),
            );
        }
        if let (Some(learn), None) = (&learn, &closed) {
            let what = format!("`{}` is for the numbers of a `closed_form`", learn.path);
            let help = match &learnable {
                Some(_) => "remove it: `learnable` predicates learn a number for each tuple",
                None => {
                    "add `closed_form = { log_truth = \"-rate * dist(u, v)\" }`, or remove `learn`"
                }
            };
            learn.misplaced("no effect", what, help);
        }
        if let (Some(initial), None) = (&initial, &learnable) {
            let what = format!("`{}` is for a predicate that is `learnable`", initial.path);
            initial.misplaced(
                "no effect",
                what,
                "add `learnable = true`, or remove `initial`",
            );
        }
        if let (Some(needy), None) = (network.as_ref().or(logits.as_ref()), &output) {
            let what = format!("`{}` has no `output`", item.path);
            let error = Diagnostic::error(Code::MissingKey, what)
                .mark(needy.key, "this gives logits")
                .help("add `output = \"softmax\"` if the last argument picks a class, else `output = \"sigmoid\"`");
            item.problems.push(table.span, "missing here", error);
        }
        let initial = table.number("initial").unwrap_or(0.0);
        let output = table.read("output", |item| item.one_of(&OUTPUTS));
        let is_softmax = output.is_some_and(|output| output.value == Output::Softmax);
        if let (Some(crisp), false) = (
            &table.take("crisp"),
            is_softmax && (network.is_some() || learnable.is_some()),
        ) {
            let what = format!("`{}` is for a softmax that is trained", crisp.path);
            let help =
                "add `output = \"softmax\"` to a network or `learnable = true`, or remove `crisp`";
            crisp.misplaced("no effect", what, help);
        }
        let crisp = table.number("crisp");
        let grounding = if network.is_some() {
            let network = table.read("network", NetworkRef::read_spanned);
            network.zip(output).map(|(network, output)| {
                if let NetworkRef::Own(network) = &network.value {
                    let class = Some(output.value);
                    check_inputs(network, &item.path, args.as_ref(), class, item.problems);
                }
                Grounding::Network { network, output }
            })
        } else if learnable.is_some() {
            let span = table.read("learnable", read_learnable);
            span.map(|span| Grounding::Learnable {
                span,
                initial,
                output,
            })
        } else if let Some(form) = &closed {
            let form = closed_form::read(&item.path, form, learn.as_ref(), args.as_ref());
            form.map(Grounding::ClosedForm)
        } else if logits.is_some() {
            let file = table.read("logits", Item::file);
            let both = file.zip(output);
            both.map(|(file, output)| Grounding::Logits { file, output })
        } else if truth.is_some() {
            table.read("truth", Item::file).map(Grounding::Truth)
        } else if log_truth.is_some() {
            table.read("log_truth", Item::file).map(Grounding::LogTruth)
        } else {
            Some(Grounding::Host { output })
        };
        table.end()?;
        Some(Predicate {
            args,
            grounding: grounding?,
            crisp: crisp.unwrap_or(0.0),
        })
    }

    /// Its network, whether shared or not, if it has one.
    pub fn network(&self) -> Option<&NetworkRef> {
        match &self.grounding {
            Grounding::Network { network, .. } => Some(&network.value),
            _ => None,
        }
    }

    /// What its logits mean, if it has logits.
    pub fn output(&self) -> Option<Spanned<Output>> {
        match &self.grounding {
            Grounding::Network { output, .. } | Grounding::Logits { output, .. } => Some(*output),
            Grounding::Learnable { output, .. } | Grounding::Host { output } => *output,
            Grounding::Truth(_) | Grounding::LogTruth(_) | Grounding::ClosedForm(_) => None,
        }
    }
}

/// Closed forms and truths need no `output`.
fn needs_no_output(source: &Item<'_>, output: &Item<'_>, closed: bool, is_truth: bool) {
    let (why, help) = match (closed, is_truth) {
        (true, _) => (
            "a closed form says itself what it is".to_string(),
            "remove `output`, and call the closed form `truth`, `log_truth` or `logit`",
        ),
        (_, true) => (
            format!("`{}` is truth already", source.path),
            "remove `output`; if the numbers are logits, give them as `logits`",
        ),
        _ => return,
    };
    let what = format!("`{}` cannot be given: {why}", output.path);
    let error = Diagnostic::error(Code::ConflictingKeys, what).mark(source.key, "");
    output
        .problems
        .push(output.key, "not needed", error.help(help));
}

/// `true`, and where that stands.
fn read_learnable(item: &Item<'_>) -> Option<Span> {
    let learnable = item.boolean()?;
    if !learnable.value {
        let what = format!("`{}` can only be `true`", item.path);
        item.wrong(
            "",
            Diagnostic::error(Code::ValueOutOfRange, what).help("remove it"),
        );
        return None;
    }
    Some(learnable.span)
}

impl Function {
    pub(super) fn read(item: &Item<'_>) -> Option<Function> {
        let mut table = item.table()?;
        let args = table.read("args", read_args);
        let values = table.take("values");
        if let (Some(column), None) = (table.take("column"), &values) {
            let what = format!(
                "`{}` is for a function that is given by `values`",
                column.path
            );
            column.misplaced("no effect", what, "remove it");
        }
        if let (Some(output), Some(values)) = (table.take("output"), &values) {
            let (path, values) = (&output.path, &values.path);
            let what = format!("`{path}` cannot be given: nothing is learnt of `{values}`");
            output.misplaced("not needed", what, "remove `output`");
        }
        let function = Function {
            args,
            network: table.read("network", NetworkRef::read_spanned),
            values: table.read("values", Item::file),
            column: table.text("column"),
            units: table.read("output", read_units).flatten(),
        };
        if let Some(NetworkRef::Own(network)) = function.network.as_ref().map(|n| &n.value) {
            let args = function.args.as_ref();
            check_inputs(network, &item.path, args, None, item.problems);
        }
        table.end()?;
        Some(function)
    }
}

/// `{ scale = 100, shift = 20 }`.
fn read_units(item: &Item<'_>) -> Option<Option<Units>> {
    if !item.is_table() {
        return item.one_of(&[("linear", None)]).map(|linear| linear.value);
    }
    let mut table = item.table()?;
    let scale = table.require("scale", "100");
    let scale = scale.and_then(|scale| scale.number());
    let shift = table.number("shift").unwrap_or(0.0);
    table.end()?;
    Some(Some(Units {
        scale: scale?.value as f32,
        shift: shift as f32,
    }))
}

impl Constant {
    pub(super) fn read(item: &Item<'_>) -> Option<Constant> {
        let table = item.table()?;
        let (row, learnable) = (table.take("row"), table.take("learnable"));
        let place = table.span;
        table.end()?;
        match (row, learnable) {
            (Some(row), _) if row.is_string() => row.text().map(Constant::Name),
            (Some(row), _) => row.whole().map(Constant::Row),
            (_, Some(length)) => length.size().map(Constant::Learnable),
            _ => {
                let what = format!("`{}` has neither `row` nor `learnable`", item.path);
                let error = Diagnostic::error(Code::MissingKey, what)
                    .help("add `row = 3` for a row of the data (from 0), or `learnable = 8` for a trained vector");
                item.problems.push(place, "not grounded", error);
                None
            }
        }
    }
}

fn read_args(item: &Item<'_>) -> Option<Spanned<Vec<Spanned<String>>>> {
    let names = item.names()?;
    for name in names.iter().filter(|name| !is_word(name)) {
        let (path, value) = (&item.path, &name.value);
        let what = format!("`{path}`: `{value}` is not a name of letters, digits and `_`");
        item.problems
            .error(Code::MalformedExpression, name.span, what);
    }
    Some(names)
}

/// Whether it is a name of letters, digits and `_`.
pub(super) fn is_word(name: &str) -> bool {
    let letters = name.chars().all(|c| c.is_alphanumeric() || c == '_');
    letters && !name.starts_with(|c: char| c.is_numeric())
}

/// The variables of a network's inputs must be arguments of the symbol that uses it.
pub(super) fn check_inputs(
    network: &Network,
    path: &str,
    args: Option<&Spanned<Vec<Spanned<String>>>>,
    output: Option<Output>,
    problems: &Problems<'_>,
) {
    let Some(inputs) = &network.inputs else {
        return;
    };
    let Some(args) = args else {
        problems.push(
            inputs.first().map_or(network.span, |input| input.span),
            "which arguments are meant?",
            Diagnostic::error(
                Code::MissingKey,
                format!("the network of `{path}` has `inputs`, but its arguments have no names"),
            )
            .help(format!(
                "add `args = [\"x\", …]` to `{path}`, one name for each argument"
            )),
        );
        return;
    };
    let class = args.last().filter(|_| output == Some(Output::Softmax));
    for variable in inputs
        .iter()
        .flat_map(|input: &Spanned<InputExpr>| input.variables())
    {
        if !args.iter().any(|arg| arg.value == variable.value) {
            // Any letter is similar to any other.
            let guess = Some(variable.as_str())
                .filter(|name| name.len() > 1)
                .and_then(|name| logltn::did_you_mean(name, args.iter().map(|arg| arg.as_str())));
            problems.push(
                variable.span,
                "not an argument",
                Diagnostic::error(
                    Code::UnknownVariable,
                    format!("`{}` is not among the `args` of `{path}`", variable.value),
                )
                .mark(args.span, "the arguments")
                .maybe_help(guess),
            );
        } else if class.is_some_and(|class| class.value == variable.value) {
            problems.push(
                variable.span,
                "picks the class",
                Diagnostic::error(Code::UnknownVariable, format!("`{}` cannot be an input of `{path}`", variable.value))
                    .note("with `output = \"softmax\"` the last argument picks the class, so the network does not read it"),
            );
        }
    }
}

/// A predicate or a function that has a network.
pub(crate) struct User<'m> {
    pub subject: Subject,
    pub name: &'m String,
    pub network: &'m NetworkRef,
    pub args: Option<&'m Spanned<Vec<Spanned<String>>>>,
    pub output: Option<Output>,
}

/// Those of a manifest.
pub(crate) fn users<'m>(
    predicates: &'m Section<Predicate>,
    functions: &'m Section<Function>,
) -> impl Iterator<Item = User<'m>> {
    let predicates = predicates.iter().filter_map(|(name, predicate)| {
        Some(User {
            subject: Subject::Predicate,
            name,
            network: predicate.network()?,
            args: predicate.args.as_ref(),
            output: predicate.output().map(|output| output.value),
        })
    });
    let functions = functions.iter().filter_map(|(name, function)| {
        Some(User {
            subject: Subject::Function,
            name,
            network: function.network.as_ref()?,
            args: function.args.as_ref(),
            output: None,
        })
    });
    predicates.chain(functions)
}

/// Predicates and functions that share a network with `inputs` need the arguments that these name; networks that
/// nothing uses, or that are not there, are reported. `declared` are the names in `[networks]`, including those that
/// could not be read.
pub(super) fn check_shared(
    networks: &Section<Network>,
    declared: &BTreeSet<&str>,
    predicates: &Section<Predicate>,
    functions: &Section<Function>,
    problems: &Problems<'_>,
) {
    let mut unused: Section<()> = networks
        .iter()
        .map(|(name, n)| (name.clone(), Spanned::new((), n.span)))
        .collect();
    for user in users(predicates, functions) {
        let NetworkRef::Shared(shared) = user.network else {
            continue;
        };
        let path = format!("{}s.{}", user.subject.key(), user.name);
        unused.remove(&shared.value);
        match networks.get(&shared.value) {
            Some(network) => check_inputs(network, &path, user.args, user.output, problems),
            None if declared.contains(shared.as_str()) => {}
            None => {
                let guess = logltn::nearest(shared, declared.iter().copied());
                // Most likely this is its intended use.
                guess.map(|guess| unused.remove(guess));
                let help = match guess {
                    Some(guess) => format!("did you mean `{guess}`?"),
                    None => format!("add `[networks.{}]` with `mlp = [16, 16]`", shared.value),
                };
                problems.push(
                    shared.span,
                    "not in `[networks]`",
                    Diagnostic::error(
                        Code::UnknownNetwork,
                        format!(
                            "`{path}` uses the network `{}`, which is not there",
                            shared.value
                        ),
                    )
                    .help(help),
                );
            }
        }
    }
    for (name, place) in unused {
        problems.push(
            place.span,
            "never used",
            Diagnostic::warning(
                Code::UnusedDeclaration,
                format!("nothing uses the network `{name}`"),
            )
            .help(format!("a predicate does with `network = \"{name}\"`")),
        );
    }
}
