//! From a manifest and its files to the parts of a session.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

use logltn::theory::{ArgumentSort, PredicateId, SortId};
use logltn::{Code, Diagnostic, Diagnostics};
use logltn_data::{Plain, Stored, Values};
use logltn_learn::{Behind, Field, Ground, Kept, KnowledgeBase, NetworkRef, Place, Vectors};

use super::{Project, new_features};
use crate::manifest::{self, Constant, Grounding, Spanned};

/// The features that the sessions of a project, and of its clones, have read so far.
///
/// A table of the paper has many runs of one project at the same time. Each has its own model, but the pictures of
/// 15,000 sums are 55 MB, and no model changes them.
#[derive(Clone, Default)]
pub(super) struct FieldsRead(Arc<Mutex<BTreeMap<SortId, Arc<[Field]>>>>);

impl fmt::Debug for FieldsRead {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("FieldsRead(..)")
    }
}

impl Project {
    /// The parts of a session. Features are read the first time, and kept as long as the project or a clone of it
    /// exists.
    ///
    /// # Errors
    /// If a file of features can no longer be read, or has another shape.
    pub fn knowledge(&self) -> Result<KnowledgeBase, Diagnostics> {
        let mut knowledge = self.sketch();
        for (i, vectors) in knowledge.vectors.iter_mut().enumerate() {
            vectors.fields = self.fields(SortId(i as u32))?;
        }
        Ok(knowledge)
    }

    /// The same, with the columns of features that a question uses, `x.age`, besides those of the axioms.
    ///
    /// # Errors
    /// As [`Project::knowledge`].
    pub fn knowledge_for_question(&self, formula: &str) -> Result<KnowledgeBase, Diagnostics> {
        let data = self.data_for_question(formula);
        let project = Project {
            data,
            ..self.clone()
        };
        project.knowledge()
    }

    /// Predicates that axioms use and nothing grounds: each is an error if no program gives its numbers.
    pub fn left_to_the_host(&self) -> Diagnostics {
        let (theory, manifest) = (self.theory(), &self.manifest);
        let mut out = Diagnostics::new();
        for (predicate, occurs) in theory.predicates.iter().zip(theory.polarities()) {
            let given = manifest.predicates.get(&predicate.name);
            let is_host = given.is_none_or(|g| matches!(g.grounding, Grounding::Host { .. }));
            let Some(span) = occurs.positive.or(occurs.negative).filter(|_| is_host) else {
                continue;
            };
            let name = &predicate.name;
            out.push(
                Diagnostic::error(
                    Code::NotGrounded,
                    format!("nothing grounds predicate `{name}`"),
                )
                .at(&theory.source, span, "needed here")
                .help(format!(
                    "give it a `network` and an `output` in `[predicates.{name}]`, or numbers"
                )),
            );
        }
        out
    }

    /// The error for a training in which nothing could be learnt: no network, no learnable number or vector, and
    /// nothing from host code. `None` if there is something.
    pub fn nothing_to_train(&self) -> Option<Diagnostic> {
        let manifest = &self.manifest;
        let sketch = self.sketch();
        let some = (0..sketch.predicates.len() as u32).any(|p| sketch.learns(PredicateId(p)))
            || sketch.functions.iter().any(Option::is_some)
            || sketch.vectors.iter().any(|v| v.learnable.is_some())
            || sketch.learnable_constants.iter().any(Option::is_some);
        if some {
            return None;
        }
        let error = Diagnostic::error(
            Code::NothingToTrain,
            "there is nothing to train: all predicates are given by numbers, data or closed forms without `learn`",
        )
        .help(
            "give a predicate a `network`, or `learnable = true`, or a closed form `learn`; `logltn eval` shows how true the axioms are",
        );
        Some(match &manifest.train {
            Some(train) => error.at(&manifest.source, train.span, "asked for here"),
            None => error,
        })
    }

    /// The same with only the shapes of features: enough to check networks before features are read.
    pub fn sketch(&self) -> KnowledgeBase {
        let (theory, manifest) = (self.theory(), &self.manifest);
        let vectors = theory.sorts.iter().enumerate().map(|(i, sort)| {
            let files = self.feature_file(SortId(i as u32)).into_iter();
            let fields = files.flat_map(|file| &file.fields);
            Vectors {
                fields: fields
                    // Their shapes alone: enough to say whether networks fit.
                    .map(|field| {
                        Field::new(field.name.clone(), field.shape.clone(), Vec::<f32>::new())
                    })
                    .collect(),
                learnable: (manifest.sorts.get(&sort.name))
                    .and_then(|sort| sort.learnable)
                    .map(|width| width.value),
            }
        });
        let predicates = theory.predicates.iter().zip(&self.numbers);
        let predicates = predicates.map(|(predicate, numbers)| match numbers {
            Some(table) => Ground::Numbers(Arc::clone(&table.numbers)),
            None => match manifest.predicates.get(&predicate.name) {
                Some(given) => match &given.grounding {
                    Grounding::Network { network, .. } => {
                        Ground::Network(self.behind(network, given.args.as_ref()))
                    }
                    Grounding::Learnable { initial, span, .. } => Ground::Learnable {
                        initial: *initial,
                        place: Place::new(&manifest.source, *span),
                    },
                    Grounding::ClosedForm(form) => Ground::ClosedForm(Arc::new(form.clone())),
                    _ => Ground::Host,
                },
                None => Ground::Host,
            },
        });
        let functions = theory.functions.iter().map(|function| {
            let given = manifest.functions.get(&function.name)?;
            let behind = self.behind(given.network.as_ref()?, given.args.as_ref());
            Some(Behind {
                units: given.units,
                ..behind
            })
        });
        let constants = theory.constants.iter().map(|constant| {
            match &manifest.constants.get(&constant.name)?.value {
                Constant::Learnable(width) => Some(width.value),
                Constant::Row(_) | Constant::Name(_) => None,
            }
        });
        let networks = manifest.networks.iter();
        KnowledgeBase {
            data: self.data.clone(),
            outputs: self.outputs.clone(),
            predicates: predicates.collect(),
            functions: functions.collect(),
            networks: networks
                .map(|(name, network)| (name.clone(), network.described(&manifest.source)))
                .collect(),
            vectors: vectors.collect(),
            learnable_constants: constants.collect(),
        }
    }

    fn behind(
        &self,
        network: &Spanned<manifest::NetworkRef>,
        args: Option<&Spanned<Vec<Spanned<String>>>>,
    ) -> Behind {
        let source = &self.manifest.source;
        Behind {
            network: match &network.value {
                manifest::NetworkRef::Own(own) => NetworkRef::Own(own.described(source)),
                manifest::NetworkRef::Shared(name) => NetworkRef::Shared(name.value.clone()),
            },
            args: args.map(|args| args.iter().map(|arg| arg.value.clone()).collect()),
            units: None,
            place: Place::new(source, network.span),
        }
    }

    /// The features of a sort for networks; none for a sort without features.
    fn fields(&self, sort: SortId) -> Result<Arc<[Field]>, Diagnostics> {
        // Held while reading, so that two sessions that start together read once. A reader that panicked has stored
        // nothing, so the contents are valid.
        let mut read = (self.fields_read.0.lock()).unwrap_or_else(PoisonError::into_inner);
        if let Some(fields) = read.get(&sort) {
            return Ok(Arc::clone(fields));
        }
        let fields = self.fields_of(sort, self.features_of(sort)?)?;
        read.insert(sort, Arc::clone(&fields));
        Ok(fields)
    }

    /// Takes features that have been read already.
    pub(super) fn keep(
        &self,
        read: BTreeMap<String, Vec<logltn_data::Field>>,
    ) -> Result<(), Diagnostics> {
        for (name, fields) in read {
            if let Some(sort) = self.theory().sort(&name) {
                let fields = self.fields_of(sort, fields)?;
                let mut kept = (self.fields_read.0.lock()).unwrap_or_else(PoisonError::into_inner);
                kept.insert(sort, fields);
            }
        }
        Ok(())
    }

    fn fields_of(
        &self,
        sort: SortId,
        fields: Vec<logltn_data::Field>,
    ) -> Result<Arc<[Field]>, Diagnostics> {
        let name = &self.theory()[sort].name;
        let closed = |predicate: &logltn::theory::Predicate| {
            let given = self.manifest.predicates.get(&predicate.name);
            let closed = given.is_some_and(|g| matches!(g.grounding, Grounding::ClosedForm(_)));
            closed && predicate.arguments.contains(&ArgumentSort::Sort(sort))
        };
        let exact = self.theory().predicates.iter().any(closed);
        Ok(
            match (self.own_features.get(name), self.features.get(name)) {
                (Some(own), Some(file)) => {
                    new_features::like(fields, &file.path, own, &file.chosen, exact)?.into()
                }
                _ => (fields.into_iter())
                    .map(|field| for_networks(field, exact))
                    .collect(),
            },
        )
    }
}

/// A field as it was read; without closed forms in single precision, unless it stays in its file.
pub(super) fn for_networks(field: logltn_data::Field, exact: bool) -> Field {
    let shape: Vec<usize> = field.array.shape.iter().skip(1).copied().collect();
    match field.array.values {
        Values::U8(bytes) => Field::new(field.name, shape, kept(bytes)),
        Values::F32(numbers) => Field::new(field.name, shape, kept(numbers)),
        // Closed forms are evaluated in double precision; features that are read in place stay in place.
        Values::F64(numbers) if exact || numbers.is_in_file() => {
            Field::new(field.name, shape, kept(numbers))
        }
        _ => Field::new(field.name, shape, field.array.to_f32()),
    }
}

/// Numbers that were read, shared.
fn kept<T: Plain>(numbers: Stored<T>) -> Kept<T> {
    Arc::new(numbers)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clones_of_a_project_share_what_was_read() {
        let folder = tempfile::tempdir().expect("a folder");
        let write = |name: &str, text: &str| std::fs::write(folder.path().join(name), text);
        write(
            "t.ltn",
            "sort Point\npredicate p(Point)\naxiom a: forall x: Point. p(x)\n",
        )
        .and_then(|()| write("points.csv", "x,y\n1,2\n3,4\n"))
        .and_then(|()| {
            let text = "theory = 't.ltn'\n[sorts.Point]\nfeatures = 'points.csv'\n\
                            [predicates.p]\nnetwork = { layers = [{ dense = 2 }] }\noutput = 'sigmoid'\n";
            write("t.toml", text)
        })
        .expect("files");
        let mut found = Diagnostics::new();
        let project = Project::load(&folder.path().join("t.toml"), &mut found);
        let project = project.unwrap_or_else(|| panic!("{found}"));
        let point = project.theory().sort("Point").expect("a sort");
        let early = project.clone();
        let first = project.fields(point).expect("features");
        for other in [early, project.clone()] {
            assert!(Arc::ptr_eq(&first, &other.fields(point).expect("features")));
        }
    }
}
