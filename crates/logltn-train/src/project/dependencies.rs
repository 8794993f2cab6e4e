//! The parts of a manifest that some predicates or functions need: their networks and numbers, the predicates and
//! functions that they read, the laws that they are conditioned on, and everything that these mention.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use logltn::theory::{ArgumentSort, SortId};
use logltn::{
    Code, Declared, Diagnostic, Diagnostics, Role, Source, Span, Theory, did_you_mean, words,
};
use logltn_learn::Asked;

use crate::manifest::{Constant, Individuals, Manifest, NetworkRef, Param, Spanned};

/// The names of everything needed.
#[derive(Debug, Default)]
pub(super) struct Needed {
    predicates: BTreeSet<String>,
    functions: BTreeSet<String>,
    sorts: BTreeSet<String>,
    tables: BTreeSet<String>,
    params: BTreeSet<String>,
    constants: BTreeSet<String>,
    /// Laws and definitions.
    formulas: BTreeSet<String>,
    laws: Vec<String>,
    /// A definition may need any of it.
    whole: bool,
}

impl Needed {
    /// Follows symbols through the inputs of their networks, and laws through the symbols that they mention. `theory`
    /// has the symbols of `source`.
    ///
    /// # Errors
    /// If the theory has no such symbol or axiom.
    pub(super) fn by(
        manifest: &Manifest,
        theory: &Theory,
        source: &Source,
        symbols: &[String],
        laws: &[String],
    ) -> Result<Needed, Diagnostics> {
        let mut needed = Needed {
            laws: laws.to_vec(),
            ..Needed::default()
        };
        let defined = Theory::defined_names(source);
        if symbols.iter().any(|symbol| defined.contains(symbol)) {
            needed.whole = true;
            needed.sorts = theory.sorts.iter().map(|s| s.name.clone()).collect();
        }
        let mut wrong = Diagnostics::new();
        for symbol in symbols {
            let predicates = theory.predicates.iter().map(|p| &p.name);
            let functions = theory.functions.iter().map(|f| &f.name);
            let mut names = predicates.chain(functions).chain(&defined);
            if !names.any(|name| name == symbol) {
                wrong.push(Asked::unknown(theory, &defined, symbol));
            }
        }
        let mut open = symbols.to_vec();
        if !laws.is_empty() {
            match mentioned(source, laws) {
                Ok((formulas, names)) => {
                    needed.formulas = formulas;
                    open.extend(names);
                }
                Err(errors) => wrong.extend(errors),
            }
        }
        while let Some(name) = open.pop() {
            open.extend(needed.follow(manifest, theory, name));
        }
        // Where individuals have separate numbers, learnt constants have them, too.
        for constant in &theory.constants {
            let given = manifest.constants.get(&constant.name).map(|c| &c.value);
            if matches!(given, Some(Constant::Learnable(_)))
                && needed.sorts.contains(&theory[constant.sort].name)
            {
                needed.constants.insert(constant.name.clone());
            }
        }
        wrong.into_result(needed).map(|(needed, _)| needed)
    }

    /// Adds a name of any kind, and returns the predicates and functions that it needs.
    fn follow(&mut self, manifest: &Manifest, theory: &Theory, name: String) -> Vec<String> {
        let predicate = theory.predicates.iter().find(|p| p.name == name);
        let function = theory.functions.iter().find(|f| f.name == name);
        let (sorts, network) = match (predicate, function) {
            (Some(predicate), _) => {
                let given = manifest.predicates.get(&name);
                if !self.predicates.insert(name) {
                    return Vec::new();
                }
                (predicate.arguments.clone(), given.and_then(|p| p.network()))
            }
            (None, Some(function)) => {
                let given = manifest.functions.get(&name);
                if !self.functions.insert(name) {
                    return Vec::new();
                }
                let network = given.and_then(|f| f.network.as_ref()).map(|n| &n.value);
                let mut sorts = function.arguments.clone();
                sorts.push(function.result);
                (sorts, network)
            }
            (None, None) => {
                self.take(manifest, theory, name);
                return Vec::new();
            }
        };
        let sorts = sorts.into_iter().filter_map(ArgumentSort::sort);
        self.sorts.extend(sorts.map(|s| theory[s].name.clone()));
        let inputs = network.and_then(|n: &NetworkRef| manifest.network(n)?.inputs.as_ref());
        let calls = (inputs.into_iter().flatten()).filter_map(|input| input.call());
        calls.map(|(symbol, _)| symbol.value.clone()).collect()
    }

    /// Adds the name of a sort, table, param or constant; others are variables, labels or definitions.
    fn take(&mut self, manifest: &Manifest, theory: &Theory, name: String) {
        if let Some(table) = theory.tables.iter().find(|t| t.name == name) {
            let sorts = table.columns.iter().filter_map(|c| c.sort.sort());
            self.sorts.extend(sorts.map(|s| theory[s].name.clone()));
            self.tables.insert(name);
        } else if theory.params.iter().any(|p| p.name == name) {
            if let Some(Param::Percentile { sorts, .. }) =
                manifest.params.get(&name).map(|p| &p.value)
            {
                self.sorts
                    .extend(sorts.iter().map(|sort| sort.value.clone()));
            }
            self.params.insert(name);
        } else if let Some(constant) = theory.constants.iter().find(|c| c.name == name) {
            self.sorts.insert(theory[constant.sort].name.clone());
            self.constants.insert(name);
        } else if theory.sort(&name).is_some() {
            self.sorts.insert(name);
        }
    }

    /// Removes what is not needed from a manifest.
    pub(super) fn cut(&self, manifest: &mut Manifest) {
        if self.whole {
            manifest.train = None;
            manifest.evaluate = None;
            return;
        }
        manifest.sorts.retain(|name, _| self.sorts.contains(name));
        (manifest.predicates).retain(|name, _| self.predicates.contains(name));
        (manifest.functions).retain(|name, _| self.functions.contains(name));
        (manifest.constants).retain(|name, _| self.constants.contains(name));
        manifest.params.retain(|name, _| self.params.contains(name));
        manifest.tables.retain(|name, _| self.tables.contains(name));
        manifest.axioms.clear();
        manifest.train = None;
        manifest.evaluate = None;
        manifest.broken.clear();
    }

    /// The laws that were asked for.
    pub(super) fn laws(&self) -> &[String] {
        &self.laws
    }

    /// Whether a declaration of the theory is needed.
    pub(super) fn keeps(&self, declared: Declared, name: &str) -> bool {
        let symbols = [
            &self.predicates,
            &self.functions,
            &self.sorts,
            &self.tables,
            &self.params,
            &self.constants,
        ];
        match declared {
            _ if self.whole => true,
            Declared::Symbol => symbols.iter().any(|names| names.contains(name)),
            Declared::Formula => self.formulas.contains(name),
        }
    }

    /// Replaces a manifest's files of features by others.
    pub(super) fn replace(
        &self,
        manifest: &mut Manifest,
        theory: &Theory,
        symbols: &[String],
        features: &[(String, PathBuf)],
    ) -> Result<(), Diagnostics> {
        let mut wrong = Diagnostics::new();
        for (i, (name, file)) in features.iter().enumerate() {
            if features[..i].iter().any(|(other, _)| other == name) {
                let what = format!("`--features {name}=…` is given twice");
                wrong.push(
                    Diagnostic::error(Code::DuplicateKey, what).help("remove one of the two"),
                );
                continue;
            }
            let sort = theory.sort(name);
            if let Err(error) = self.replace_one(manifest, theory, symbols, (name, sort), file) {
                wrong.push(error);
            }
            wrong.extend(self.of_others(manifest, theory, name));
        }
        wrong.into_result(()).map(drop)
    }

    /// Parts of laws that do not cover new individuals.
    fn of_others(&self, manifest: &Manifest, theory: &Theory, sort: &str) -> Diagnostics {
        let mut wrong = Diagnostics::new();
        let mut push = |what: String| {
            wrong.push(
                Diagnostic::error(Code::LawOfOthers, format!("`--features {sort}=…`: {what}"))
                    .help("leave out the laws that use it (`--given`, or `--given none`)"),
            );
        };
        for table in theory
            .tables
            .iter()
            .filter(|t| self.tables.contains(&t.name))
        {
            let mut sorts = table.columns.iter().filter_map(|c| c.sort.sort());
            if sorts.any(|s| theory[s].name == sort) {
                push(format!(
                    "a law uses table `{}`, whose rows are about the manifest's own individuals of sort `{sort}`",
                    table.name
                ));
            }
        }
        for (name, param) in
            (manifest.params.iter()).filter(|(name, _)| self.params.contains(*name))
        {
            if let Param::Percentile { sorts, .. } = &param.value
                && sorts.iter().any(|s| s.value == sort)
            {
                push(format!(
                    "a law uses param `{name}`, a percentile over the manifest's own individuals of sort `{sort}`"
                ));
            }
        }
        wrong
    }

    fn replace_one(
        &self,
        manifest: &mut Manifest,
        theory: &Theory,
        symbols: &[String],
        (name, sort): (&str, Option<SortId>),
        file: &Path,
    ) -> Result<(), Diagnostic> {
        if sort.is_none() {
            let known = theory.sorts.iter().map(|s| s.name.as_str());
            let what = format!("`--features {name}=…`: the theory has no sort `{name}`");
            let error = Diagnostic::error(Code::UnknownSort, what);
            return Err(error.maybe_help(did_you_mean(name, known)));
        }
        if !self.sorts.contains(name) {
            let read: Vec<String> = self.sorts.iter().map(|s| format!("`{s}`")).collect();
            let symbols = symbols.join("`, `");
            let what = format!("`--features {name}=…`: `{symbols}` does not use sort `{name}`");
            let error = Diagnostic::error(Code::FeaturesNotUsed, what);
            return Err(error.note(format!("the sorts that it needs are {}", read.join(", "))));
        }
        let individuals = manifest
            .sorts
            .get_mut(name)
            .map(|s| &mut s.value.individuals);
        let Some(Some(Individuals::Features(from))) = individuals else {
            let what = format!("`--features {name}=…`: sort `{name}` has no features here");
            return Err(Diagnostic::error(Code::NoFeatures, what).note(format!(
                "its individuals are given by name or number, in the theory or in `[sorts.{name}]`: what is learnt about them does not apply to others"
            )));
        };
        // Relative to the working directory, not to the manifest.
        let path = match manifest.dir == Path::new(".") {
            true => file.to_path_buf(),
            false => std::path::absolute(file).unwrap_or_else(|_| file.to_path_buf()),
        };
        from.file = Spanned::new(path, Span::default());
        Ok(())
    }
}

/// The laws and the definitions that they use, and all words that are in them.
fn mentioned(
    source: &Source,
    laws: &[String],
) -> Result<(BTreeSet<String>, BTreeSet<String>), Diagnostics> {
    let all = words(source);
    // By name: which declaration it is. Axioms have their own names.
    let (mut axioms, mut definitions) = (BTreeMap::new(), BTreeMap::new());
    for word in all.iter().filter(|word| word.declares) {
        match word.role {
            Role::Axiom => axioms.insert(word.text.as_str(), word.declaration),
            Role::Symbol => definitions.insert(word.text.as_str(), word.declaration),
            _ => None,
        };
    }
    let (mut formulas, mut names) = (BTreeSet::new(), BTreeSet::new());
    let mut open = Vec::new();
    let mut wrong = Diagnostics::new();
    for law in laws {
        let name = law.split('[').next().unwrap_or(law);
        match axioms.get(name) {
            Some(declaration) => {
                formulas.insert(name.to_string());
                open.push(*declaration);
            }
            None => {
                let what = format!("the theory has no axiom `{law}`");
                let error = Diagnostic::error(Code::UnknownAxiom, what);
                wrong.push(error.maybe_help(did_you_mean(name, axioms.keys().copied())));
            }
        }
    }
    while let Some(declaration) = open.pop() {
        for word in all.iter().filter(|word| word.declaration == declaration) {
            if !matches!(word.role, Role::Sort | Role::Symbol | Role::Term) {
                continue;
            }
            if names.insert(word.text.clone())
                && let Some(definition) = definitions.get(word.text.as_str())
            {
                formulas.insert(word.text.clone());
                open.push(*definition);
            }
        }
    }
    wrong.into_result((formulas, names)).map(|(found, _)| found)
}
