//! A run in plain words: what was learnt, how well, which rule fails and where.

use logltn::Theory;
use logltn::theory::ArgumentSort;
use logltn_train::run_directory::RunStatus;

use super::summary::Report;
use super::violations::Violated;

/// A rule that is at least this true needs no word of where it fails.
const TRUE_ENOUGH: f64 = 0.95;

impl Report {
    /// A few sentences, the most important first.
    pub fn words(&self) -> Vec<String> {
        let mut said = vec![self.learnt()];
        said.extend(self.how_well());
        said.extend(self.mixed_up.iter().cloned());
        said.extend(self.least_true());
        said.extend(self.not_kept());
        said
    }

    fn learnt(&self) -> String {
        let theory = Theory::parse(logltn::Source::new("theory.ltn", &self.theory[..])).ok();
        // What has a word in `model` was trained.
        let trained = |name: &str| {
            let words = self.info.model.keys();
            words.into_iter().any(|word| {
                word.split([' ', '.'])
                    .any(|part| part.trim_matches('`') == name)
            })
        };
        let mut symbols = Vec::new();
        if let Some(theory) = &theory {
            let sorts = |arguments: &[ArgumentSort]| -> String {
                let names = arguments.iter().map(|argument| match argument {
                    ArgumentSort::Sort(sort) => theory[*sort].name.clone(),
                    ArgumentSort::Vector(_) => "Real".to_string(),
                });
                names.collect::<Vec<_>>().join(", ")
            };
            let predicates = theory.predicates.iter().map(|p| (&p.name, &p.arguments));
            let functions = theory.functions.iter().map(|f| (&f.name, &f.arguments));
            for (name, arguments) in predicates
                .chain(functions)
                .filter(|(name, _)| trained(name))
            {
                symbols.push(format!("{name}({})", sorts(arguments)));
            }
        }
        let what = match symbols.len() {
            0 => "This run".to_string(),
            1..=4 => format!("What was learnt: {}. The run", symbols.join(", ")),
            n => format!(
                "What was learnt: {} and {} more. The run",
                symbols[..3].join(", "),
                n - 3
            ),
        };
        let steps = match (self.last_step, self.info.total) {
            (done, Some(total)) if done < total => format!("{done} of {total} steps"),
            (1, _) => "1 step".to_string(),
            (done, _) => format!("{done} steps"),
        };
        let end = match self.info.status {
            RunStatus::Finished => String::new(),
            status => format!(" It is not finished ({}).", status.word()),
        };
        let semantics = match &self.info.semantics[..] {
            "" => String::new(),
            name => format!(", in the semantics {name}"),
        };
        let axioms = match self.axioms.len() {
            1 => "1 axiom".to_string(),
            n => format!("{n} axioms"),
        };
        format!("{what} had {axioms} and {steps}{semantics}.{end}")
    }

    fn how_well(&self) -> Option<String> {
        let metrics = &self.listed.metrics;
        let told: Vec<String> = (metrics.iter())
            .map(|(name, value)| in_words(name, *value))
            .collect();
        match told.is_empty() {
            true => {
                Some("Nothing was measured: a metric under [evaluate] would say how well.".into())
            }
            false => Some(format!("How well: {}.", told.join(", "))),
        }
    }

    fn least_true(&self) -> Option<String> {
        let worst = self.worst_axioms().first()?.name.clone();
        let place = self.axioms.iter().position(|axiom| axiom.name == worst)?;
        let truth = self.degree(self.end(place)?);
        if self.axioms.len() > 1 && truth >= TRUE_ENOUGH {
            let word = format!(
                "Every rule is at least {} true; the least true is {worst}.",
                shown(truth)
            );
            return Some(word);
        }
        let place = self.violated.iter().find(|one| one.axiom == worst);
        let where_ = place.and_then(fails_at).unwrap_or_default();
        let which = match self.axioms.len() {
            1 => "The only rule",
            _ => "The rule that holds least",
        };
        Some(format!(
            "{which} is {worst}: its truth, between 0 and 1, is {}{where_}.",
            shown(truth)
        ))
    }

    fn not_kept(&self) -> Vec<String> {
        let rules = self.info.whole.iter().flat_map(|whole| &whole.rules);
        let mut broken: Vec<_> = rules
            .filter(|rule| rule.broken > 0 && rule.premises > 0)
            .collect();
        broken.sort_by(|a, b| (b.broken * a.premises).cmp(&(a.broken * b.premises)));
        (broken.iter().take(3))
            .map(|rule| {
                format!(
                    "{}: of {} groundings in which its premise is true, its conclusion is false in {}.",
                    rule.name, rule.premises, rule.broken
                )
            })
            .collect()
    }
}

fn fails_at(violated: &Violated) -> Option<String> {
    let worst = violated
        .worst
        .first()
        .filter(|one| !one.binding.is_empty())?;
    let blamed = worst
        .literals
        .first()
        .map(|(literal, truth, _)| format!(", where {literal} is {} true", shown(*truth)));
    Some(format!(
        ", and it fails most at {}{}",
        worst.binding,
        blamed.unwrap_or_default()
    ))
}

/// What a metric has measured.
fn in_words(name: &str, value: f64) -> String {
    let of = |kind: &str| {
        let rest = name.strip_prefix(kind)?;
        rest.strip_prefix('(')?.strip_suffix(')')
    };
    if let Some(predicate) = of("accuracy") {
        return format!(
            "{predicate} is right in {:.1} % of the rows of {name}",
            100.0 * value
        );
    }
    if let Some(function) = of("rmse") {
        return format!("{function} is off by about {} ({name})", shown(value));
    }
    match (0.0..=1.0).contains(&value) && is_share(name) {
        true => format!("{name} is {:.1} %", 100.0 * value),
        false => format!("{name} is {}", shown(value)),
    }
}

/// Metrics that are shares of rows.
fn is_share(name: &str) -> bool {
    ["accuracy", "precision", "recall", "hits"]
        .iter()
        .any(|kind| name.contains(kind))
}

/// Three digits.
fn shown(value: f64) -> String {
    match value.abs() {
        0.0 => "0".into(),
        size if (1e-3..1e5).contains(&size) => {
            let digits = (2 - size.log10().floor() as i64).clamp(0, 6) as usize;
            format!("{value:.digits$}")
        }
        _ => format!("{value:.2e}"),
    }
}

#[cfg(test)]
mod tests {
    use logltn_train::run_directory::{RunInfo, StepRecord};

    use super::*;
    use crate::RunSummary;

    #[test]
    fn it_says_which_rule_fails() {
        let mut report = Report::new(&RunSummary {
            info: RunInfo {
                logs: Some(false),
                ..RunInfo::default()
            },
            axiom_names: vec!["labels".into(), "agree".into()],
            steps: vec![StepRecord {
                step: 7,
                axioms: vec![0.99, 0.4],
                metrics: vec![("accuracy(p)".into(), 0.9664), ("rmse(f)".into(), 12345.0)],
                ..StepRecord::default()
            }],
            ..RunSummary::default()
        });
        report.violated = vec![Violated {
            axiom: "agree".into(),
            worst: vec![crate::Culprits {
                binding: "x = 3".into(),
                literals: vec![("p(3)".into(), 0.02, 1.0)],
                ..crate::Culprits::default()
            }],
            ..Violated::default()
        }];
        let words = report.words().join("\n");
        for part in [
            "2 axioms and 7 steps",
            "p is right in 96.6 % of the rows of accuracy(p), f is off by about 12345 (rmse(f))",
            "holds least is agree: its truth, between 0 and 1, is 0.400, and it fails most at x = 3, where p(3) is 0.0200 true",
        ] {
            assert!(words.contains(part), "{part} is not in:\n{words}");
        }
    }

    #[test]
    fn a_run_without_anything_has_words_too() {
        assert!(!Report::new(&RunSummary::default()).words().is_empty());
    }
}
