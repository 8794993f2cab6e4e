//! Rules that hold only because they say nothing, or that hardly ever hold where they do.
//!
//! The truth of `forall …. a -> b` is mostly that of groundings whose premise is false. It can be close to 1 although what
//! it is there for was not learnt at all.

use logltn::{Code, Diagnostic, Diagnostics, Or, PlanOptions, Rule};

use super::Session;
use crate::axioms::{self, NAMED, listed};

/// This many groundings are looked at, which takes a second or two.
const MOST_GROUNDINGS: u128 = 50_000_000;

impl Session {
    /// How often what the rules among the axioms conclude is so where their premise is, everything counted as true that is
    /// truer than ½. Axioms of weight 0 are questions, not rules, and laws hold whatever the networks say. Those are left out of which there are so many groundings
    /// that looking at each would take long: how true they are may be found without.
    ///
    /// # Errors
    /// As those of [`Session::evaluate`].
    pub fn rules(&mut self) -> Result<Vec<Rule>, Diagnostics> {
        let data = self.knowledge.data.clone();
        let outputs = self.knowledge.outputs.clone();
        let plan = self.plan_of_everything()?;
        let mut left = MOST_GROUNDINGS;
        let mut counting: Vec<String> = Vec::new();
        for (axiom, planned) in self.axioms.iter().zip(plan.axioms()) {
            if axiom.weight > 0.0 && !planned.hard && planned.groundings <= left {
                left -= planned.groundings;
                counting.push(axiom.name.clone());
            }
        }
        let counts = |name: &str| counting.iter().any(|one| axioms::is_named(one, name));
        let keep = |axiom: &logltn::theory::Axiom| counts(&axiom.name);
        Rule::all(&data, &outputs, &PlanOptions::default(), keep, |engine| {
            self.fill_in(engine)
        })
    }

    /// What to say after a training, in view of its [rules](Session::rules): of these, and of classes that have collapsed.
    pub fn afterthoughts(&mut self, rules: &[Rule]) -> Vec<Diagnostic> {
        let mut said = self.about_rules(rules);
        said.extend(self.about_collapsed().unwrap_or_default());
        said
    }

    fn about_rules(&self, rules: &[Rule]) -> Vec<Diagnostic> {
        // Where many premises are true, the truth of the axiom shows it; where facts and rules contradict each other,
        // about half of them are often kept.
        let broken = |rule: &&Rule| {
            let rare = 4 * rule.premises <= rule.groundings;
            rare && rule.broken > 0 && 3 * rule.broken >= 2 * rule.premises
        };
        let idle = |rule: &&Rule| rule.groundings > 0 && rule.premises == 0;
        let broken: Vec<&Rule> = rules.iter().filter(broken).collect();
        let idle: Vec<&Rule> = rules.iter().filter(idle).collect();
        let mut out = Vec::new();
        if !broken.is_empty() {
            let message = match &broken[..] {
                [rule] => format!(
                    "axiom {} does not hold where its premise is true: {}",
                    self.named(&[rule]),
                    how_often(rule)
                ),
                rules => format!(
                    "axioms {} do not hold where their premises are true",
                    self.named(rules)
                ),
            };
            let warning = Diagnostic::warning(Code::RuleNotKept, message)
                .note("a truth above 0.5 counts as true; most groundings of such an axiom hold only because their premise is false");
            out.push(self.marked(warning, &broken, how_often).help(self.help()));
        }
        if !idle.is_empty() {
            let message = match &idle[..] {
                [rule] => format!("the premise of axiom {} is never true", self.named(&[rule])),
                rules => format!(
                    "the premises of axioms {} are never true",
                    self.named(rules)
                ),
            };
            let label = |rule: &Rule| format!("in none of {} groundings", rule.groundings);
            let warning = Diagnostic::warning(Code::PremiseNeverTrue, message);
            out.push(self.marked(warning, &idle, label).help(
                "an axiom whose premise is never true holds whatever it concludes: ask how true the premise is; more steps, a greater `learning_rate` or facts about it may make it true",
            ));
        }
        out
    }

    fn named(&self, rules: &[&Rule]) -> String {
        let axioms = &self.knowledge.theory().axioms;
        let name = |rule: &&Rule| axioms[rule.axiom].name.as_str();
        listed(&rules.iter().map(name).collect::<Vec<_>>())
    }

    fn marked(
        &self,
        mut warning: Diagnostic,
        rules: &[&Rule],
        label: impl Fn(&Rule) -> String,
    ) -> Diagnostic {
        let theory = self.knowledge.theory();
        for (i, rule) in rules.iter().take(NAMED).enumerate() {
            let span = theory.axioms[rule.axiom].name_span;
            warning = match i {
                0 => warning.at(&theory.source, span, label(rule)),
                _ => warning.mark(span, label(rule)),
            };
        }
        warning
    }

    fn help(&self) -> String {
        let mean = match self.training.semantics.or {
            Or::LogMeanExp => {
                ", or try the semantics `logltn-prob`, whose `or` is true when one member is"
            }
            _ => "",
        };
        format!(
            "train for longer or with a greater `learning_rate`; let what is known choose the groundings, as a table in \
             the guard{mean}; docs/choosing.md, \"Horn rules\", says why and what else helps"
        )
    }
}

fn how_often(rule: &Rule) -> String {
    format!(
        "its premise is true in {} of {} groundings, and in {} of these its conclusion is false",
        rule.premises, rule.groundings, rule.broken
    )
}
