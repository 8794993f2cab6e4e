//! The paper's seven configurations of operators, and one more.

use logltn::{Code, Diagnostic, Semantics, did_you_mean};
use logltn_learn::{By, Curve, Schedule};
use logltn_train::manifest::Scheduled;
use logltn_train::project::Project;

use super::hierarchy;
use super::knowledge_graph;
use super::multi_add::CEILING;
use super::{shortcuts, stories};

/// A row of the paper's tables: a semantics and its p_forall.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Configuration {
    /// How `--configs` and `--json` call it.
    pub name: &'static str,
    /// How the paper calls it.
    pub title: &'static str,
    /// One of [`Semantics::NAMES`].
    pub semantics: &'static str,
    /// The p of pMeanError; only the stable configurations have one.
    pub p_forall: Option<f64>,
}

const fn plain(name: &'static str, title: &'static str) -> Configuration {
    Configuration::of(name, title, name)
}

pub(super) const fn stable(
    name: &'static str,
    title: &'static str,
    p_forall: f64,
) -> Configuration {
    Configuration {
        p_forall: Some(p_forall),
        ..Configuration::of(name, title, "stable")
    }
}

/// Those of the paper, in the order of its tables.
pub const CONFIGURATIONS: [Configuration; 7] = [
    plain("prod", "LTN-Prod"),
    stable("stable-2", "LTN-Stable (p=2)", 2.0),
    stable("stable-6", "LTN-Stable (p=6)", 6.0),
    plain("logltn", "logLTN"),
    plain("logltn-lse", "logLTN-LSE"),
    plain("logltn-max", "logLTN-max"),
    plain("logltn-sum", "logLTN-sum"),
];

/// What the paper does not have: `or` as the exact dual of `and`. Run where `--configs` names it.
pub const LOGLTN_PROB: Configuration = plain("logltn-prob", "logLTN-prob");
/// Nor this: exact probabilities.
pub const PROBABILITY: Configuration = plain("probability", "probability");

/// The rows that a table of the paper can have.
pub(super) fn with_prob(of_the_paper: &[Configuration]) -> Vec<Configuration> {
    [of_the_paper, &[LOGLTN_PROB, PROBABILITY]].concat()
}

impl Configuration {
    pub(super) const fn of(
        name: &'static str,
        title: &'static str,
        semantics: &'static str,
    ) -> Configuration {
        Configuration {
            name,
            title,
            semantics,
            p_forall: None,
        }
    }

    /// The configuration of that name.
    ///
    /// ```
    /// use logltn_paper::Configuration;
    /// assert_eq!(Configuration::named("stable-6")?.p_forall, Some(6.0));
    /// let error = Configuration::named("stabel-6").unwrap_err();
    /// assert!(error.help_text().unwrap().contains("did you mean `stable-6`?"));
    /// # Ok::<(), logltn::Diagnostic>(())
    /// ```
    ///
    /// # Errors
    /// If there is none, with those that there are.
    pub fn named(name: &str) -> Result<Configuration, Diagnostic> {
        let mut all = with_prob(&CONFIGURATIONS);
        all.push(CEILING);
        all.extend(knowledge_graph::ALL);
        all.extend(hierarchy::ALL);
        let known: Vec<&str> = all.iter().map(|c| c.name).collect();
        let news = (shortcuts::ALL.into_iter())
            .chain(stories::ALL)
            .filter(|c| !known.contains(&c.name));
        all.extend(news.collect::<Vec<_>>());
        let found = all.iter().copied().find(|c| c.name == name);
        found.ok_or_else(|| {
            let names: Vec<&str> = all.iter().map(|c| c.name).collect();
            let all: Vec<String> = names.iter().map(|n| format!("`{n}`")).collect();
            let all = all.join(", ");
            let help = match did_you_mean(name, names) {
                Some(help) => format!("{help} There are {all}"),
                None => format!("there are {all}"),
            };
            Diagnostic::error(
                Code::UnknownConfiguration,
                format!("there is no configuration `{name}`"),
            )
            .help(help)
        })
    }

    /// A project as this configuration trains it: α from 1 to `alpha_end` and p from 1 to 6 along a line, as in the
    /// paper's table of hyperparameters.
    pub(super) fn configure(&self, project: &mut Project, by: By, alpha_end: f64) {
        let line = |to| Schedule {
            curve: Curve::Linear { from: 1.0, to },
            by,
        };
        project.manifest.semantics = self.semantics();
        project.manifest.schedule = Scheduled {
            alpha: Some(line(alpha_end)),
            p: Some(line(6.0)),
            p_forall: Some(Schedule::from(self.p_forall.unwrap_or(2.0))),
        };
    }

    fn semantics(&self) -> Semantics {
        Semantics::named(self.semantics).unwrap_or_default()
    }

    /// Whether satisfaction is a logarithm.
    pub(super) fn sat_is_log(&self) -> bool {
        self.semantics().sat_is_log()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_configuration_names_a_semantics_that_exists() {
        for configuration in CONFIGURATIONS {
            assert!(
                Semantics::named(configuration.semantics).is_some(),
                "{configuration:?}"
            );
            assert_eq!(
                Configuration::named(configuration.name).ok(),
                Some(configuration)
            );
        }
    }
}
