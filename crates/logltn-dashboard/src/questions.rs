//! Questions to a run: why an axiom is broken, and how true a formula is, with its newest weights.

use std::path::Path;

use logltn::{Answers, Code, Diagnostic, Diagnostics};
use logltn_learn::{Asked, KnowledgeBase, Measures, Model};
use logltn_report::Violated;
use logltn_train::manifest::Manifest;
use logltn_train::project::Project;
use logltn_train::run_directory::RunDirectory;
use logltn_train::train::{Questions, RunWeights, check_noted};
use serde_json::{Value, json};

use crate::violated::{binding_text, log, violated};

/// More groundings than these take longer than anybody waits for a page.
const MOST_GROUNDINGS: u64 = 50_000_000;
/// How many bindings are shown.
const SHOWN: usize = 10;
/// How many answers may be asked for.
const MOST_ANSWERS: usize = 1000;

/// A run that can be asked.
pub struct Run<'a> {
    folder: &'a Path,
    project: Project,
}

impl Run<'_> {
    /// Reads its manifest and its data. Files that do not lie in `inside` must hold what the run noted of them.
    ///
    /// # Errors
    /// With all that is wrong with it.
    pub fn load<'a>(folder: &'a Path, inside: &Path) -> Result<Run<'a>, Diagnostics> {
        let run = RunDirectory::open(folder)?;
        let info = run.info()?;
        let (manifest, _) = Manifest::read(run.file("manifest.toml"))?;
        if !info.is_noted("manifest.toml", manifest.source.text().as_bytes()) {
            let what = "the run's manifest was changed after `logltn train` wrote it";
            return Err(Diagnostic::error(Code::RunDamaged, what)
                .help("restore the file, or train again")
                .into());
        }
        check_noted(&manifest, &info, inside)?;
        let mut found = Diagnostics::new();
        let project = Project::of_run(manifest, folder, &mut found).ok_or(found)?;
        Ok(Run { folder, project })
    }

    /// The project.
    pub fn project(&self) -> &Project {
        &self.project
    }

    /// Its networks with its newest weights, those of all predicates with classes, and its metrics.
    pub fn model(&self) -> Result<(KnowledgeBase, Model, Measures), Diagnostics> {
        let weights = RunWeights::read(&self.project, self.folder)?;
        let knowledge = self.project.knowledge()?;
        let mut model = Model::new(&knowledge, 0)?;
        for predicate in &knowledge.theory().predicates {
            // Skips what cannot be evaluated.
            if let Ok(asked) = Asked::new(&knowledge, &predicate.name) {
                let _ = asked.prepare(&knowledge, &mut model);
            }
        }
        let mut measures = Measures::new(&knowledge, &self.project.metrics()?)?;
        measures.prepare(&knowledge, &mut model)?;
        weights.put_into(&mut model)?;
        Ok((knowledge, model, measures))
    }

    fn questions(&self, top: usize) -> Questions<'_> {
        Questions {
            project: &self.project,
            run: Some(self.folder),
            semantics: self.project.manifest.semantics,
            parameters: self.project.manifest.schedule.last(true),
            top,
            joint: false,
            most_groundings: Some(MOST_GROUNDINGS),
            open: Vec::new(),
        }
    }

    /// What breaks an axiom, or each of them.
    ///
    /// # Errors
    /// If there is no such axiom, or it has too many groundings for a page.
    pub fn explain(&self, axiom: Option<&str>) -> Result<Vec<Violated>, Diagnostics> {
        let questions = self.questions(SHOWN);
        let found = questions.explain(axiom)?;
        let (knowledge, mut model, _) = self.model()?;
        let mut predict = |id, rows: &[u32]| model.predict(id, rows, 1).ok();
        Ok((found.axioms.iter())
            .map(|axiom| violated(&knowledge, &questions.semantics, axiom, &mut predict))
            .collect())
    }

    /// How true a formula is, or which bindings satisfy it.
    ///
    /// # Errors
    /// With the mistakes in it, each with its place.
    pub fn query(&self, formula: &str, top: usize) -> Result<Value, Diagnostics> {
        let questions = self.questions(top.clamp(1, MOST_ANSWERS));
        let found = questions.query(formula)?;
        let semantics = &questions.semantics;
        let warnings = messages(&found.warnings);
        Ok(match found.answers {
            Answers::Closed(truth) => json!({
                "truth": semantics.degree(truth), "log": log(semantics, truth), "warnings": warnings,
            }),
            Answers::Open { total, answers } => {
                let answers = answers.iter().map(|answer| {
                    json!({
                        "binding": binding_text(&answer.binding),
                        "truth": semantics.degree(answer.truth),
                        "log": log(semantics, answer.truth),
                    })
                });
                json!({
                    "total": total,
                    "answers": answers.collect::<Vec<_>>(),
                    "warnings": warnings,
                })
            }
        })
    }
}

/// Mistakes and warnings in the form that the page reads. Columns are characters, from 1.
pub fn messages(found: &Diagnostics) -> Value {
    let message = |d: &Diagnostic| {
        json!({
            "code": d.code().name(),
            "message": d.message(),
            "file": d.file(),
            "line": d.line(),
            "column": d.column(),
            "length": d.marked().map(|text| text.chars().count()),
            "notes": d.notes(),
            "help": d.help_text(),
        })
    };
    found.iter().map(message).collect()
}
