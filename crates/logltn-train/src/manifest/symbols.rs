//! `[predicates]`, `[functions]` and `[constants]`: what stands behind the symbols of the theory.

use std::collections::BTreeSet;
use std::path::PathBuf;

use logltn::{Code, Diagnostic, Span};
use logltn_learn::{ClosedForm, InputExpr, Spanned};

use super::Section;
use super::closed_form;
use super::network::{MAX_WIDTH, Network, NetworkRef};
use super::reader::{Item, Problems, at_most_one};

/// How a predicate is grounded.
#[derive(Clone, Debug, PartialEq)]
pub struct Predicate {
    /// Names for the arguments, to be used in `inputs`.
    pub args: Option<Spanned<Vec<Spanned<String>>>>,
    /// Where its truth comes from.
    pub grounding: Grounding,
}

/// Where the truth of a predicate comes from.
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
    /// `learnable = true`: a logit of its own for each tuple of individuals.
    Learnable {
        /// Where this is said.
        span: Span,
        /// What each is before training: `initial`, 0 unless said.
        initial: f64,
        /// What they mean; a sigmoid unless said.
        output: Option<Spanned<Output>>,
    },
    /// `closed_form = …`: arithmetic over its arguments and what it learns.
    ClosedForm(ClosedForm),
    /// Nothing: the program that uses this crate gives the logits (from PyTorch, say).
    Host {
        /// What they mean, if the manifest says so.
        output: Option<Spanned<Output>>,
    },
}

impl Grounding {
    /// Whether it is a file of numbers.
    pub fn is_numbers(&self) -> bool {
        match self {
            Grounding::Logits { .. } | Grounding::Truth(_) | Grounding::LogTruth(_) => true,
            Grounding::Network { .. }
            | Grounding::Learnable { .. }
            | Grounding::ClosedForm(_)
            | Grounding::Host { .. } => false,
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

const OUTPUTS: [(&str, Output); 2] = [("softmax", Output::Softmax), ("sigmoid", Output::Sigmoid)];

/// How a function is grounded.
#[derive(Clone, Debug, PartialEq)]
pub struct Function {
    /// Names for the arguments, to be used in `inputs`.
    pub args: Option<Spanned<Vec<Spanned<String>>>>,
    /// Its network.
    pub network: Option<Spanned<NetworkRef>>,
    /// `values = "age.csv"`: it is given by data. Without this and a network it is host code.
    pub values: Option<Spanned<PathBuf>>,
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
    pub(super) fn read(item: &Item<'_>, problems: &mut Problems<'_>) -> Option<Predicate> {
        let mut table = item.table(
            problems,
            "a table with `network`, `closed_form`, `learnable`, `logits`, `truth` or `log_truth`",
        )?;
        let args = table.take("args").map(|item| read_args(&item, problems));
        let network = table.take("network");
        let logits = table.take("logits");
        let truth = table.take("truth");
        let log_truth = table.take("log_truth");
        let learnable = table.take("learnable");
        let closed = table.take("closed_form");
        let learn = table.take("learn");
        let initial = table.take("initial");
        let output = table.take("output");
        let place = table.span;
        table.finish(problems);

        let one = at_most_one(
            problems,
            &item.path,
            &[&network, &learnable, &closed, &logits, &truth, &log_truth],
        );
        if let (true, Some(closed), Some(output)) = (one, &closed, &output) {
            problems.push(
                output.key,
                "not needed",
                Diagnostic::error(
                    Code::ConflictingKeys,
                    format!(
                        "`{}` cannot be given: a closed form says itself what it is",
                        output.path
                    ),
                )
                .mark(closed.key, "")
                .help("remove `output`, and call the closed form `truth`, `log_truth` or `logit`"),
            );
        }
        if let (Some(learn), None) = (&learn, &closed) {
            problems.push(
                learn.key,
                "no effect",
                Diagnostic::error(
                    Code::ConflictingKeys,
                    format!("`{}` is for the numbers of a `closed_form`", learn.path),
                )
                .help(match &learnable {
                    Some(_) => "remove it: `learnable` predicates learn a number for each tuple",
                    None => "add `closed_form = { log_truth = \"-rate * dist(u, v)\" }`, or remove `learn`",
                }),
            );
        }
        if let (true, Some(numbers), Some(output)) =
            (one, truth.as_ref().or(log_truth.as_ref()), &output)
        {
            problems.push(
                output.key,
                "not needed",
                Diagnostic::error(
                    Code::ConflictingKeys,
                    format!(
                        "`{}` cannot be given: `{}` is truth already",
                        output.path, numbers.path
                    ),
                )
                .mark(numbers.key, "")
                .help("remove `output`; if the numbers are logits, give them as `logits`"),
            );
        }
        if let (Some(initial), None) = (&initial, &learnable) {
            problems.push(
                initial.key,
                "no effect",
                Diagnostic::error(
                    Code::ConflictingKeys,
                    format!("`{}` is for a predicate that is `learnable`", initial.path),
                )
                .help("add `learnable = true`, or remove `initial`"),
            );
        }
        let learnable = learnable.map(|item| {
            let learnable = item.boolean(problems)?;
            if !learnable.value {
                problems.push(
                    item.span,
                    "",
                    Diagnostic::error(
                        Code::ValueOutOfRange,
                        format!("`{}` can only be `true`", item.path),
                    )
                    .help("remove it"),
                );
                return None;
            }
            Some(learnable.span)
        });
        let range = "a number that single precision can hold";
        let fits = |x: f64| (x as f32).is_finite();
        let initial = initial.map(|item| item.number_where(problems, range, fits));
        let needs_output = network.as_ref().or(logits.as_ref());
        if let (Some(needy), None) = (needs_output, &output) {
            problems.push(
                place,
                "missing here",
                Diagnostic::error(Code::MissingKey, format!("`{}` has no `output`", item.path))
                    .mark(needy.key, "this gives logits")
                    .help("add `output = \"softmax\"` if the last argument picks a class, else `output = \"sigmoid\"`"),
            );
        }
        let output = output.map(|item| item.one_of(problems, &OUTPUTS));
        let read_network = network
            .map(|item| NetworkRef::read(&item, problems).map(|n| Spanned::new(n, item.span)));
        let logits = logits.map(|item| item.file(problems));
        let truth = truth.map(|item| item.file(problems));
        let log_truth = log_truth.map(|item| item.file(problems));
        let args = flatten(args)?;
        let output = flatten(output)?;
        let closed = closed.map(|form| {
            closed_form::read(&item.path, &form, learn.as_ref(), args.as_ref(), problems)
        });
        let grounding = if let Some(network) = read_network {
            let (network, output) = (network?, output?);
            if let NetworkRef::Own(network) = &network.value {
                check_inputs(
                    network,
                    &item.path,
                    args.as_ref(),
                    Some(output.value),
                    problems,
                );
            }
            Grounding::Network { network, output }
        } else if let Some(span) = learnable {
            Grounding::Learnable {
                span: span?,
                initial: flatten(initial)?.map_or(0.0, |initial| initial.value),
                output,
            }
        } else if let Some(form) = closed {
            Grounding::ClosedForm(form?)
        } else if let Some(file) = logits {
            Grounding::Logits {
                file: file?,
                output: output?,
            }
        } else if let Some(file) = truth {
            Grounding::Truth(file?)
        } else if let Some(file) = log_truth {
            Grounding::LogTruth(file?)
        } else {
            Grounding::Host { output }
        };
        Some(Predicate { args, grounding })
    }

    /// Whether training changes it.
    pub fn learns(&self) -> bool {
        match &self.grounding {
            Grounding::Network { .. } | Grounding::Learnable { .. } => true,
            Grounding::ClosedForm(form) => !form.learnt().is_empty(),
            Grounding::Logits { .. }
            | Grounding::Truth(_)
            | Grounding::LogTruth(_)
            | Grounding::Host { .. } => false,
        }
    }

    /// Its network, if it has one of its own or shares one.
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

impl Function {
    pub(super) fn read(item: &Item<'_>, problems: &mut Problems<'_>) -> Option<Function> {
        let mut table = item.table(problems, "a table with `network` or `values`")?;
        let args = table.take("args").map(|item| read_args(&item, problems));
        let (network, values) = (table.take("network"), table.take("values"));
        at_most_one(problems, &item.path, &[&network, &values]);
        if let Some(output) = table.take("output") {
            output.one_of(problems, &[("linear", ())]);
            if let Some(values) = &values {
                let what = format!(
                    "`{}` cannot be given: nothing is learnt of `{}`",
                    output.path, values.path
                );
                let error = Diagnostic::error(Code::ConflictingKeys, what);
                problems.push(output.key, "not needed", error.help("remove `output`"));
            }
        }
        table.finish(problems);
        let network = network
            .map(|item| NetworkRef::read(&item, problems).map(|n| Spanned::new(n, item.span)));
        let values = values.map(|item| item.file(problems));
        let (args, network, values) = (flatten(args), flatten(network), flatten(values));
        let (args, network, values) = (args?, network?, values?);
        if let Some(NetworkRef::Own(network)) = network.as_ref().map(|n| &n.value) {
            check_inputs(network, &item.path, args.as_ref(), None, problems);
        }
        Some(Function {
            args,
            network,
            values,
        })
    }
}

impl Constant {
    pub(super) fn read(item: &Item<'_>, problems: &mut Problems<'_>) -> Option<Constant> {
        let mut table = item.table(problems, "a table with `row` or `learnable`")?;
        let (row, learnable) = (table.take("row"), table.take("learnable"));
        let place = table.span;
        table.finish(problems);
        if !at_most_one(problems, &item.path, &[&row, &learnable]) {
            return None;
        }
        match (row, learnable) {
            (Some(row), _) if row.is_string() => Some(Constant::Name(
                row.string(problems, "an individual's name")?,
            )),
            (Some(row), _) => Some(Constant::Row(row.whole(problems, 0, i64::MAX as u64)?)),
            (_, Some(length)) => Some(Constant::Learnable(length.size(problems, MAX_WIDTH)?)),
            _ => {
                problems.push(
                    place,
                    "not grounded",
                    Diagnostic::error(Code::MissingKey, format!("`{}` has neither `row` nor `learnable`", item.path))
                        .help("add `row = 3` for a row of the data (from 0), or `learnable = 8` for a trained vector"),
                );
                None
            }
        }
    }
}

/// `None` only if something was there but could not be read.
pub(super) fn flatten<T>(read: Option<Option<T>>) -> Option<Option<T>> {
    match read {
        Some(None) => None,
        Some(some) => Some(some),
        None => Some(None),
    }
}

fn read_args(
    item: &Item<'_>,
    problems: &mut Problems<'_>,
) -> Option<Spanned<Vec<Spanned<String>>>> {
    let names = item.names(problems, "an array of names such as [\"x\", \"y\"]")?;
    for name in &names {
        let word = name.chars().all(|c| c.is_alphanumeric() || c == '_');
        if !word || name.starts_with(|c: char| c.is_numeric()) {
            problems.error(
                Code::MalformedExpression,
                name.span,
                format!(
                    "`{}`: `{}` is not a name of letters, digits and `_`",
                    item.path, name.value
                ),
            );
        }
    }
    Some(Spanned::new(names, item.span))
}

/// The variables of a network's inputs must be arguments of the symbol it stands behind.
pub(super) fn check_inputs(
    network: &Network,
    path: &str,
    args: Option<&Spanned<Vec<Spanned<String>>>>,
    output: Option<Output>,
    problems: &mut Problems<'_>,
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
            // Any letter is near to any other.
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

/// Predicates and functions that share a network with `inputs` need the arguments that these name;
/// networks that nothing uses, or that are not there, are reported. `declared` are the names in `[networks]`,
/// also of those that could not be read.
pub(super) fn check_shared(
    networks: &Section<Network>,
    declared: &BTreeSet<&str>,
    predicates: &Section<Predicate>,
    functions: &Section<Function>,
    problems: &mut Problems<'_>,
) {
    let users = predicates
        .iter()
        .filter_map(|(name, p)| {
            Some((
                format!("predicates.{name}"),
                p.network()?,
                p.args.as_ref(),
                p.output(),
            ))
        })
        .chain(functions.iter().filter_map(|(name, f)| {
            Some((
                format!("functions.{name}"),
                &f.network.as_ref()?.value,
                f.args.as_ref(),
                None,
            ))
        }));
    let mut unused: Section<()> = networks
        .iter()
        .map(|(name, n)| (name.clone(), Spanned::new((), n.span)))
        .collect();
    for (path, network, args, output) in users {
        let NetworkRef::Shared(shared) = network else {
            continue;
        };
        unused.remove(&shared.value);
        match networks.get(&shared.value) {
            Some(network) => check_inputs(network, &path, args, output.map(|o| o.value), problems),
            None if declared.contains(shared.as_str()) => {}
            None => {
                let guess = logltn::nearest(shared, declared.iter().copied());
                // Most likely this is its use.
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
