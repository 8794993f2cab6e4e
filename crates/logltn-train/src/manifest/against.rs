//! Checks a manifest against its theory.

use std::collections::{BTreeMap, BTreeSet};

use logltn::theory::{FormulaKind, SortKind, Term, TermKind};
use logltn::{Code, Diagnostic, Diagnostics, Part, Span, Theory, did_you_mean, nearest};
use logltn_learn::metrics::Subject;

use super::reader::{Problems, quoted_list};
use super::symbols::users;
use super::{
    Individuals, InputExpr, Manifest, MetricTruth, NetworkRef, Output, Param, Section, Spanned,
};

/// Reports everything in `manifest` that does not fit the theory. Missing groundings are reported at the manifest's
/// `theory`; a predicate or function without grounding is left to the host, with a warning, unless an axiom uses it and
/// the manifest says how to train. Uses of names whose declarations in the theory are `broken` are not reported.
pub fn check_against(
    manifest: &Manifest,
    theory: &Theory,
    broken: &BTreeSet<String>,
) -> Diagnostics {
    let mut check = Check {
        manifest,
        theory: &Declared::by(theory),
        broken,
        misspelt: BTreeSet::new(),
        problems: Problems::new(&manifest.source),
    };
    check.names();
    check.sorts();
    check.params();
    check.symbols();
    check.inputs();
    check.cycles();
    check.missing();
    check.axioms();
    check.metrics();
    check.problems.finish()
}

/// What a theory declares, by name: functions without columns of features, and symbols with how many arguments they have.
struct Declared<'t> {
    sorts: BTreeMap<&'t str, SortKind>,
    tables: BTreeSet<&'t str>,
    predicates: BTreeMap<&'t str, usize>,
    functions: BTreeMap<&'t str, usize>,
    constants: BTreeSet<&'t str>,
    params: BTreeSet<&'t str>,
    axioms: BTreeSet<&'t str>,
    /// The predicates and functions that axioms use.
    used: BTreeSet<&'t str>,
}

impl<'t> Declared<'t> {
    fn by(theory: &'t Theory) -> Declared<'t> {
        let functions = theory.functions.iter().filter(|f| f.field().is_none());
        Declared {
            sorts: theory.sorts.iter().map(|s| (&s.name[..], s.kind)).collect(),
            tables: theory.tables.iter().map(|t| &t.name[..]).collect(),
            predicates: (theory.predicates.iter())
                .map(|p| (&p.name[..], p.arguments.len()))
                .collect(),
            functions: functions
                .map(|f| (&f.name[..], f.arguments.len()))
                .collect(),
            constants: theory.constants.iter().map(|c| &c.name[..]).collect(),
            params: theory.params.iter().map(|p| &p.name[..]).collect(),
            axioms: theory.axioms.iter().map(|a| &a.name[..]).collect(),
            used: used(theory),
        }
    }
}

/// The predicates and functions that axioms use.
fn used(theory: &Theory) -> BTreeSet<&str> {
    let mut found = BTreeSet::new();
    for formula in theory.formulas().flat_map(|axiom| axiom.formula.parts()) {
        let arguments = match &formula.kind {
            FormulaKind::Atom {
                predicate,
                arguments,
            } => {
                found.insert(&theory[*predicate].name[..]);
                arguments
            }
            FormulaKind::Use { arguments, .. } => arguments,
            // The functions of guards are given by data.
            _ => continue,
        };
        for argument in arguments {
            argument.visit(&mut |part| {
                if let Part::Term(Term { kind, .. }) = part
                    && let TermKind::Apply(function, _) = kind
                {
                    found.insert(&theory[*function].name[..]);
                }
            });
        }
    }
    found
}

struct Check<'m> {
    manifest: &'m Manifest,
    theory: &'m Declared<'m>,
    broken: &'m BTreeSet<String>,
    /// Symbols that are missing because the manifest has them under a misspelt name, such as `params.near`. That name
    /// has been reported, and the two are one mistake.
    misspelt: BTreeSet<String>,
    problems: Problems<'m>,
}

impl<'m> Check<'m> {
    /// Reports `name` as not declared in the theory.
    fn unknown<'n>(
        &self,
        span: Span,
        (code, what): (Code, &str),
        name: &str,
        known: impl Iterator<Item = &'n str> + Clone,
    ) {
        if self.broken.contains(name) {
            return;
        }
        let diagnostic = Diagnostic::error(code, format!("the theory has no {what} `{name}`"));
        let guess = did_you_mean(name, known.clone());
        let listed: Vec<&str> = known.take(20).collect();
        let diagnostic = match (guess, listed.is_empty()) {
            (Some(guess), _) => diagnostic.help(guess),
            (None, true) => diagnostic.note(format!("it declares no {what} at all")),
            (None, false) => diagnostic.note(format!("it declares {}", quoted_list(listed))),
        };
        self.problems.push(span, "not declared", diagnostic);
    }

    fn section<'n, T>(
        &mut self,
        code: Code,
        what: &str,
        section: &Section<T>,
        declared: impl Iterator<Item = &'n str> + Clone,
    ) {
        for (name, entry) in section {
            if !declared.clone().any(|known| known == name) {
                if let Some(meant) = nearest(name, declared.clone()) {
                    self.misspelt.insert(format!("{what}s.{meant}"));
                }
                self.unknown(entry.span, (code, what), name, declared.clone());
            }
        }
    }

    #[rustfmt::skip] // a table reads better than a column
    fn names(&mut self) {
        let (manifest, theory) = (self.manifest, self.theory);
        self.section(Code::UnknownSort, "sort", &manifest.sorts, theory.sorts.keys().copied());
        self.section(Code::UnknownTable, "table", &manifest.tables, theory.tables.iter().copied());
        self.section(Code::UnknownPredicate, "predicate", &manifest.predicates, theory.predicates.keys().copied());
        self.section(Code::UnknownFunction, "function", &manifest.functions, theory.functions.keys().copied());
        self.section(Code::UnknownConstant, "constant", &manifest.constants, theory.constants.iter().copied());
        self.section(Code::UnknownParam, "param", &manifest.params, theory.params.iter().copied());
    }

    fn sorts(&mut self) {
        for (name, sort) in &self.manifest.sorts {
            let Some(kind) = self.theory.sorts.get(&name[..]) else {
                continue;
            };
            let given = match &sort.individuals {
                Some(Individuals::Features(from)) => Some(("features", from.file.span)),
                Some(Individuals::LabelFile(file)) => Some(("individuals", file.span)),
                Some(Individuals::Names(names)) => Some(("individuals", names.span)),
                None => None,
            };
            let labels = sort.labels.as_ref().map(|labels| ("labels", labels.span));
            let whose = match kind {
                SortKind::Data if given.is_none() => {
                    let what = format!("sort `{name}` has no individuals");
                    let error = Diagnostic::error(Code::MissingData, what).help(
                        "add `features = \"rows.csv\"` or `individuals = [\"ann\", \"bob\"]`",
                    );
                    self.problems.push(sort.span, "no individuals", error);
                    continue;
                }
                SortKind::Data => continue,
                SortKind::Range(..) => "integers",
                SortKind::Labels => "labels",
            };
            for (key, span) in given.into_iter().chain(labels) {
                let what = format!(
                    "`sorts.{name}.{key}`: the theory already says which {whose} `{name}` consists of"
                );
                let error = Diagnostic::error(Code::DefinedByTheory, what);
                let help = format!("remove `{key}`, or declare `sort {name}` alone in the theory");
                self.problems
                    .push(span, "cannot be given", error.help(help));
            }
        }
    }

    fn params(&mut self) {
        for (name, param) in &self.manifest.params {
            let Param::Percentile { sorts, .. } = &param.value else {
                continue;
            };
            for Spanned { value: sort, span } in sorts {
                let no_features = |which: &str| {
                    let what = format!(
                        "`params.{name}`: `{sort}` has no {which}features to measure distances with"
                    );
                    Diagnostic::error(Code::NoFeatures, what)
                };
                let error = match self.theory.sorts.get(&sort[..]) {
                    None => {
                        let known = self.theory.sorts.keys().copied();
                        self.unknown(*span, (Code::UnknownSort, "sort"), sort, known);
                        continue;
                    }
                    Some(SortKind::Range(..) | SortKind::Labels) => no_features(""),
                    Some(SortKind::Data) => match self.manifest.individuals(sort) {
                        Some(Individuals::Features(_)) | None => continue,
                        Some(Individuals::LabelFile(_) | Individuals::Names(_)) => {
                            let help = format!("give `features` in `[sorts.{sort}]`");
                            no_features("fixed ").help(help)
                        }
                    },
                };
                self.problems.push(*span, "no features", error);
            }
        }
    }

    fn args(
        &mut self,
        path: String,
        args: Option<&Spanned<Vec<Spanned<String>>>>,
        arity: Option<&usize>,
    ) {
        if let (Some(args), Some(arity)) = (args, arity)
            && args.len() != *arity
        {
            self.problems.push(
                args.span,
                &format!("{} here", args.len()),
                Diagnostic::error(
                    Code::WrongNumberOfArguments,
                    format!(
                        "`{path}` has {arity} arguments in the theory, but {} in `args`",
                        args.len()
                    ),
                ),
            );
        }
    }

    fn symbols(&mut self) {
        for (name, predicate) in &self.manifest.predicates {
            let arity = self.theory.predicates.get(&name[..]);
            self.args(format!("predicates.{name}"), predicate.args.as_ref(), arity);
            if let (Some(0), Some(output)) = (arity, predicate.output())
                && output.value == Output::Softmax
            {
                self.problems.push(
                    output.span,
                    "needs a last argument",
                    Diagnostic::error(Code::NoClasses, format!(
                        "`{name}` cannot be a softmax: it has no argument that could pick a class"
                    ))
                    .help("use `output = \"sigmoid\"`"),
                );
            }
        }
        for (name, function) in &self.manifest.functions {
            let arity = self.theory.functions.get(&name[..]);
            self.args(format!("functions.{name}"), function.args.as_ref(), arity);
        }
    }

    /// Every network that is used, with the symbol that uses it.
    fn networks(&self) -> impl Iterator<Item = (&'m String, &'m NetworkRef)> + use<'m> {
        let users = users(&self.manifest.predicates, &self.manifest.functions);
        users.map(|user| (user.name, user.network))
    }

    /// The predicates and functions that a network reads.
    fn calls(&self, network: &'m NetworkRef) -> impl Iterator<Item = Call<'m>> + use<'m> {
        let inputs = self
            .manifest
            .network(network)
            .and_then(|n| n.inputs.as_deref());
        inputs
            .unwrap_or_default()
            .iter()
            .filter_map(|input: &Spanned<InputExpr>| input.call())
    }

    fn inputs(&mut self) {
        let own = self.networks().filter_map(|(_, n)| match n {
            NetworkRef::Own(network) => Some(network),
            NetworkRef::Shared(_) => None,
        });
        // Each network once, however many symbols share it.
        let networks: Vec<_> = own
            .chain(self.manifest.networks.values().map(|n| &n.value))
            .collect();
        let calls = networks
            .into_iter()
            .flat_map(|n| n.inputs.iter().flatten())
            .filter_map(|input| input.call());
        let theory = self.theory;
        for (symbol, args) in calls {
            let name = &symbol.value;
            if let Some(&arity) = theory.functions.get(&name[..]) {
                if args.len() != arity {
                    self.wrong_count(symbol, args.len(), &format!("{arity}"));
                }
            } else if let Some(&arity) = theory.predicates.get(&name[..]) {
                let output = self.manifest.predicates.get(name).and_then(|p| p.output());
                // The logits of a softmax are one row for all classes.
                let (least, most) = match output.map(|o| o.value) {
                    Some(Output::Softmax) => (arity.saturating_sub(1), arity.saturating_sub(1)),
                    Some(Output::Sigmoid) | None => (arity.saturating_sub(1), arity),
                };
                if !(least..=most).contains(&args.len()) {
                    let expected = if least == most {
                        format!("{least}")
                    } else {
                        format!("{least} or {most}")
                    };
                    self.wrong_count(symbol, args.len(), &expected);
                }
            } else {
                let known = theory
                    .predicates
                    .keys()
                    .copied()
                    .chain(theory.functions.keys().copied());
                let what = (Code::UnknownPredicate, "predicate or function");
                self.unknown(symbol.span, what, name, known);
            }
        }
    }

    fn wrong_count(&mut self, symbol: &Spanned<String>, found: usize, expected: &str) {
        let name = &symbol.value;
        let mut diagnostic = Diagnostic::error(
            Code::WrongNumberOfArguments,
            format!("`{name}` as an input must have {expected} argument(s), but has {found} here"),
        );
        let output = self.manifest.predicates.get(name).and_then(|p| p.output());
        if output.is_some_and(|o| o.value == Output::Softmax) {
            diagnostic = diagnostic.note(
                "the last argument of a softmax is left out: the input is its whole row of logits",
            );
        }
        self.problems.push(symbol.span, "", diagnostic);
    }

    /// A network that reads its own output, directly or through others, can never be run.
    fn cycles(&mut self) {
        let readers: BTreeMap<&str, Vec<Call<'m>>> = self
            .networks()
            .map(|(name, network)| (name.as_str(), self.calls(network).collect()))
            .collect();
        let mut done: BTreeSet<&str> = BTreeSet::new();
        for start in readers.keys().copied() {
            // Depth first without recursion: the path from `start`, each with the calls still to follow.
            let mut path: Vec<(&str, std::slice::Iter<'_, Call<'m>>)> = Vec::new();
            let mut on_path: BTreeSet<&str> = BTreeSet::new();
            let mut entered: Vec<&Spanned<String>> = Vec::new();
            if let (false, Some(calls)) = (done.contains(start), readers.get(start)) {
                path.push((start, calls.iter()));
                on_path.insert(start);
            }
            while let Some((name, calls)) = path.last_mut() {
                let Some((symbol, _)) = calls.next() else {
                    done.insert(name);
                    on_path.remove(name);
                    path.pop();
                    entered.pop();
                    continue;
                };
                let next = symbol.value.as_str();
                if on_path.contains(next) {
                    let from = path.iter().position(|(n, _)| *n == next).unwrap_or(0);
                    let names: Vec<&str> = path.iter().skip(from).map(|(n, _)| *n).collect();
                    let mut diagnostic = Diagnostic::error(Code::NetworkReadsItself, format!(
                        "the network of `{next}` reads itself: `{}` → `{next}`",
                        names.join("` → `")
                    ))
                    .help("remove one of these inputs; `stop(…)` does not help, since the value is still needed");
                    for step in entered.iter().skip(from) {
                        diagnostic =
                            diagnostic.mark(step.span, format!("by way of `{}`", step.value));
                    }
                    self.problems
                        .push(symbol.span, &format!("reads `{next}`"), diagnostic);
                } else if let (false, Some(calls)) = (done.contains(next), readers.get(next)) {
                    path.push((next, calls.iter()));
                    on_path.insert(next);
                    entered.push(symbol);
                }
            }
        }
    }

    /// Reports symbols that the theory declares and the manifest does not ground.
    fn missing(&mut self) {
        let (manifest, theory) = (self.manifest, self.theory);
        let misspelt = std::mem::take(&mut self.misspelt);
        let is_missing = |section: &str, name: &str, given: bool| {
            let path = format!("{section}.{name}");
            !given
                && !manifest.broken.contains(section)
                && !manifest.broken.contains(&path)
                && !misspelt.contains(&path)
        };
        let report = |diagnostic: Diagnostic| {
            self.problems
                .push(manifest.theory.span, "in this theory", diagnostic);
        };
        // `[predicates.q]` with an output and nothing else is grounded by host code.
        let stands_behind = |name: &str| manifest.predicates.contains_key(name);
        // Training needs it, and it was not declared to come from host code.
        let trains = manifest.train.is_some();
        let not_grounded = |kind: &str, name: &str, what: &str| match trains
            && theory.used.contains(name)
        {
            true => Diagnostic::error(
                Code::NotGrounded,
                format!("{kind} `{name}` is not grounded, and an axiom that is trained uses it"),
            ),
            false => Diagnostic::warning(
                Code::NotGrounded,
                format!("{kind} `{name}` is not grounded: host code must give its {what}"),
            ),
        };
        let no_data = |what: String| Diagnostic::error(Code::MissingData, what);
        for (&name, kind) in &theory.sorts {
            let given = manifest.sorts.contains_key(name);
            if *kind == SortKind::Data && is_missing("sorts", name, given) {
                let help = format!(
                    "add `[sorts.{name}]` with `features = \"rows.csv\"` or `individuals = [\"ann\", \"bob\"]`"
                );
                report(no_data(format!("sort `{name}` has no data")).help(help));
            }
        }
        for name in theory.tables.iter().copied() {
            if is_missing("tables", name, manifest.tables.contains_key(name)) {
                let help = format!("add `{name} = {{ rows = \"{name}.csv\" }}` to `[tables]`");
                report(no_data(format!("table `{name}` has no rows")).help(help));
            }
        }
        for &name in &theory.params {
            if is_missing("params", name, manifest.params.contains_key(name)) {
                let help = format!("add `{name} = 1.0` to `[params]`");
                report(no_data(format!("param `{name}` has no value")).help(help));
            }
        }
        for &name in &theory.constants {
            if is_missing("constants", name, manifest.constants.contains_key(name)) {
                let what = format!("constant `{name}` is not grounded");
                let help = format!("add `[constants.{name}]` with `row = 0` or `learnable = 8`");
                report(Diagnostic::error(Code::NotGrounded, what).help(help));
            }
        }
        for (&name, arity) in &theory.predicates {
            if is_missing("predicates", name, stands_behind(name)) {
                report(not_grounded("predicate", name, "logits").help(match arity {
                    0 => format!("add `[predicates.{name}]` with `learnable = true`"),
                    _ => format!("add `[predicates.{name}]` with a `network` and an `output`"),
                }));
            }
        }
        for name in theory.functions.keys().copied() {
            if is_missing("functions", name, manifest.functions.contains_key(name)) {
                report(not_grounded("function", name, "values").help(format!(
                    "add `[functions.{name}]` with a `network`, or with `values` if they are known"
                )));
            }
        }
    }

    fn axioms(&mut self) {
        let theory = self.theory;
        for (axiom, span) in self.manifest.named_axioms() {
            // A member of a family: `whole_to_parts[car]`.
            let family = axiom.strip_suffix(']').and_then(|a| a.split_once('['));
            let name = family.map_or(axiom, |(name, _)| name);
            if !theory.axioms.contains(name) {
                let known = theory.axioms.iter().copied();
                self.unknown(span, (Code::UnknownAxiom, "axiom"), name, known);
            }
        }
    }

    fn metrics(&mut self) {
        let (manifest, theory) = (self.manifest, self.theory);
        let evaluate = manifest.evaluate.as_ref();
        for metric in evaluate.map_or(&[][..], |evaluate| &evaluate.metrics) {
            let (code, known): (_, Vec<&str>) = match metric.kind.subject() {
                Subject::Predicate => (
                    Code::UnknownPredicate,
                    theory.predicates.keys().copied().collect(),
                ),
                Subject::Function => (
                    Code::UnknownFunction,
                    theory.functions.keys().copied().collect(),
                ),
                Subject::Table => (Code::UnknownTable, theory.tables.iter().copied().collect()),
            };
            let (of, what) = (&metric.of, (code, metric.kind.subject().key()));
            if !known.contains(&&of.value[..]) {
                self.unknown(of.span, what, &of.value, known.iter().copied());
            }
            for table in metric.ranking.iter().flat_map(|ranking| &ranking.filter) {
                if !theory.tables.contains(&table.value[..]) {
                    let kind = (Code::UnknownTable, "table");
                    self.unknown(
                        table.span,
                        kind,
                        &table.value,
                        theory.tables.iter().copied(),
                    );
                }
            }
            let MetricTruth::Labels(Spanned { value: sort, span }) = &metric.truth else {
                continue;
            };
            let labels = manifest.sorts.get(sort).and_then(|s| s.labels.as_ref());
            if !theory.sorts.contains_key(&sort[..]) {
                let kind = (Code::UnknownSort, "sort");
                self.unknown(*span, kind, sort, theory.sorts.keys().copied());
            } else if labels.is_none() && !manifest.broken.contains(&format!("sorts.{sort}")) {
                let what = format!("sort `{sort}` has no labels to measure against");
                let error = Diagnostic::error(Code::NoLabels, what).help(format!(
                    "add `labels = {{ file = \"labels.csv\", column = \"class\" }}` to `[sorts.{sort}]`"
                ));
                self.problems.push(*span, "no labels", error);
            }
        }
    }
}

/// A predicate or function that is read, with the arguments passed to it.
type Call<'m> = (&'m Spanned<String>, &'m [Spanned<String>]);
