//! What one predicate or function needs of a manifest, and nothing else: its networks and numbers, the predicates and
//! functions that they read, and the sorts of all these.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use logltn::theory::{ArgumentSort, SortId};
use logltn::{Code, Diagnostic, Diagnostics, Span, Theory, did_you_mean};

use crate::manifest::{Constant, Individuals, Manifest, NetworkRef, Spanned, TheoryNames};

/// The names of what is needed.
#[derive(Debug, Default)]
pub(super) struct Needed {
    predicates: BTreeSet<String>,
    functions: BTreeSet<String>,
    sorts: BTreeSet<String>,
}

impl Needed {
    /// Follows a symbol through the inputs of its network. `None` if the theory has no such symbol.
    pub(super) fn by(manifest: &Manifest, theory: &Theory, symbol: &str) -> Option<Needed> {
        let mut needed = Needed::default();
        let mut open = vec![symbol.to_string()];
        let mut first = true;
        while let Some(name) = open.pop() {
            let predicate = theory.predicates.iter().find(|p| p.name == name);
            let function = theory.functions.iter().find(|f| f.name == name);
            let (sorts, network) = match (predicate, function) {
                (Some(predicate), _) => {
                    if !needed.predicates.insert(name.clone()) {
                        continue;
                    }
                    let given = manifest.predicates.get(&name);
                    (predicate.arguments.clone(), given.and_then(|p| p.network()))
                }
                (None, Some(function)) => {
                    if !needed.functions.insert(name.clone()) {
                        continue;
                    }
                    let given = manifest.functions.get(&name);
                    let network = given.and_then(|f| f.network.as_ref()).map(|n| &n.value);
                    let mut sorts = function.arguments.clone();
                    sorts.push(function.result);
                    (sorts, network)
                }
                (None, None) if first => return None,
                // Said where inputs are looked at.
                (None, None) => continue,
            };
            first = false;
            for sort in sorts {
                if let ArgumentSort::Sort(sort) = sort {
                    needed.sorts.insert(theory[sort].name.clone());
                }
            }
            let inputs = network.and_then(|n: &NetworkRef| manifest.network(n)?.inputs.as_ref());
            let calls = inputs
                .into_iter()
                .flatten()
                .filter_map(|input| input.call());
            open.extend(calls.map(|(symbol, _)| symbol.value.clone()));
        }
        Some(needed)
    }

    /// Leaves out of a manifest what is not needed.
    pub(super) fn cut(&self, manifest: &mut Manifest, theory: &Theory) {
        manifest.sorts.retain(|name, _| self.sorts.contains(name));
        (manifest.predicates).retain(|name, _| self.predicates.contains(name));
        (manifest.functions).retain(|name, _| self.functions.contains(name));
        // Where individuals have numbers of their own, constants that are learnt have them too.
        manifest.constants.retain(|name, constant| {
            matches!(constant.value, Constant::Learnable(_)) && self.has_constant(theory, name)
        });
        manifest.params.clear();
        manifest.tables.clear();
        manifest.axioms.clear();
        manifest.train = None;
        manifest.evaluate = None;
        manifest.broken.clear();
    }

    fn has_constant(&self, theory: &Theory, name: &str) -> bool {
        let constant = theory.constants.iter().find(|c| c.name == name);
        constant.is_some_and(|c| self.sorts.contains(&theory[c.sort].name))
    }

    /// The same of a theory. Sorts stay, since they are numbered.
    pub(super) fn cut_theory(&self, theory: &mut Theory, manifest: &Manifest) {
        (theory.predicates).retain(|p| self.predicates.contains(&p.name));
        (theory.functions).retain(|f| self.functions.contains(&f.name));
        (theory.constants).retain(|c| manifest.constants.contains_key(&c.name));
        theory.params.clear();
        theory.tables.clear();
        theory.axioms.clear();
    }

    /// The same of a theory's names.
    pub(super) fn cut_names(&self, names: &mut TheoryNames) {
        names.sorts.retain(|name, _| self.sorts.contains(name));
    }

    /// Puts other files of features in the place of a manifest's.
    pub(super) fn replace(
        &self,
        manifest: &mut Manifest,
        theory: &Theory,
        symbol: &str,
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
            if let Err(error) = self.replace_one(manifest, theory, symbol, (name, sort), file) {
                wrong.push(error);
            }
        }
        wrong.into_result(()).map(drop)
    }

    fn replace_one(
        &self,
        manifest: &mut Manifest,
        theory: &Theory,
        symbol: &str,
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
            let what = format!("`--features {name}=…`: `{symbol}` says nothing of sort `{name}`");
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
                "its individuals are given by name or number, in the theory or in `[sorts.{name}]`: what is learnt of them \
                 says nothing of others"
            )));
        };
        // From where the program runs, not from the manifest.
        let path = match manifest.dir == Path::new(".") {
            true => file.to_path_buf(),
            false => std::path::absolute(file).unwrap_or_else(|_| file.to_path_buf()),
        };
        from.file = Spanned::new(path, Span::default());
        Ok(())
    }
}
