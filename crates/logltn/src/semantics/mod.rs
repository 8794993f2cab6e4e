//! What `and`, `or`, `forall` and the rest mean: a [`Semantics`] is a struct of operators, each of which has its file in
//! `operators/`.

mod error;

use std::fmt;

use crate::diagnostic::Diagnostic;
use crate::operators::{
    Aggregator, And, Domain, Implies, Key, Loss, Not, Or, Semiring, Space, table,
};

/// The meaning of every connective, quantifier and of the theory as a whole.
///
/// # Which operators go together
/// The base decides the [`Space`], and an override must belong to it:
///
#[doc = include_str!("../operators/choices.md")]
///
///`min`, `max` and `mean` are in both columns: the first two commute with the log, the third means a
///different mean in each. A bare sum of truth degrees is in neither, since it leaves [0, 1].
///
///```
///use logltn::{Or, Semantics};
///let semantics = Semantics::named("logltn").unwrap().with("or", "max").unwrap();
///assert_eq!(semantics.or, Or::Max);
///assert_eq!(semantics.to_string(), "logltn with or = max");
///
///let error = semantics.with("and", "product").unwrap_err();
///assert_eq!(
///   error.message(),
///   "`and = product` works on truth degrees, but `exists = log_mean_exp` of `logltn` works on logs: they do not mix",
///);
///```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Semantics {
    /// The base this started from, one of [`Semantics::NAMES`].
    pub name: &'static str,
    /// Where the values of formulas live.
    pub space: Space,
    /// `and`, `all`.
    pub and: And,
    /// `or`, `any`.
    pub or: Or,
    /// `->`.
    pub implies: Implies,
    /// `not`.
    pub not: Not,
    /// `forall`.
    pub forall: Aggregator,
    /// `exists`.
    pub exists: Aggregator,
    /// The axioms together.
    pub over_axioms: Aggregator,
    /// ε of the stable projections π0 and π1 of the product-based operators; 0 switches them off. Nothing
    /// reads it in log space.
    pub stable_eps: f64,
    /// What training minimises.
    pub loss: Loss,
    /// Whether formulas have exact probabilities, of whole events. The operators then apply to single literals only,
    /// and cannot be replaced.
    pub exact: bool,
}

impl Default for Semantics {
    fn default() -> Semantics {
        LOGLTN
    }
}

const LOGLTN: Semantics = Semantics {
    name: "logltn",
    space: Space::Log,
    and: And::Sum,
    or: Or::LogMeanExp,
    implies: Implies::Nnf,
    not: Not::Nnf,
    forall: Aggregator::Mean,
    exists: Aggregator::LogMeanExp,
    over_axioms: Aggregator::Mean,
    stable_eps: 0.0,
    loss: Loss::MinusSat,
    exact: false,
};

const STABLE: Semantics = Semantics {
    name: "stable",
    space: Space::Truth,
    and: And::Product,
    or: Or::ProbabilisticSum,
    implies: Implies::Reichenbach,
    not: Not::Standard,
    forall: Aggregator::PMeanError,
    exists: Aggregator::PMean,
    over_axioms: Aggregator::PMeanError,
    stable_eps: 1e-4,
    loss: Loss::OneMinusSat,
    exact: false,
};

/// In the order of the table in the language's description.
const BASES: &[Semantics] = &[
    LOGLTN,
    Semantics {
        name: "logltn-sum",
        forall: Aggregator::Sum,
        over_axioms: Aggregator::Sum,
        ..LOGLTN
    },
    Semantics {
        name: "logltn-max",
        or: Or::Max,
        exists: Aggregator::Max,
        ..LOGLTN
    },
    Semantics {
        name: "logltn-lse",
        or: Or::LogSumExp,
        exists: Aggregator::LogSumExp,
        ..LOGLTN
    },
    Semantics {
        name: "prod",
        space: Space::Mixed,
        forall: Aggregator::LogProduct,
        over_axioms: Aggregator::Sum,
        loss: Loss::MinusSat,
        ..STABLE
    },
    STABLE,
    Semantics {
        name: "godel",
        and: And::Min,
        or: Or::Max,
        implies: Implies::Godel,
        not: Not::Godel,
        forall: Aggregator::Min,
        exists: Aggregator::Max,
        over_axioms: Aggregator::Min,
        // No product-based operator to protect; an override that brings one in can set `stable_eps` too.
        stable_eps: 0.0,
        ..STABLE
    },
    Semantics {
        name: "logltn-prob",
        or: Or::LogProbabilisticSum,
        ..LOGLTN
    },
    Semantics {
        name: "probability",
        or: Or::LogProbabilisticSum,
        exists: Aggregator::LogProbabilisticSum,
        exact: true,
        ..LOGLTN
    },
    Semantics {
        name: "lukasiewicz",
        and: And::Lukasiewicz,
        or: Or::Lukasiewicz,
        implies: Implies::Lukasiewicz,
        forall: Aggregator::Mean,
        exists: Aggregator::Max,
        over_axioms: Aggregator::Mean,
        stable_eps: 0.0,
        ..STABLE
    },
    Semantics {
        name: "goguen",
        implies: Implies::Goguen,
        not: Not::Godel,
        ..STABLE
    },
];

impl Semantics {
    /// The names that [`Semantics::named`] knows.
    pub const NAMES: [&'static str; BASES.len()] = {
        let mut names = [""; BASES.len()];
        let mut i = 0;
        while i < BASES.len() {
            names[i] = BASES[i].name;
            i += 1;
        }
        names
    };

    /// The keys of [`Semantics::with`].
    pub const KEYS: [&'static str; 7] = {
        let mut names = [""; Key::ALL.len()];
        let mut i = 0;
        while i < names.len() {
            names[i] = Key::ALL[i].name();
            i += 1;
        }
        names
    };

    /// The operators that [`Semantics::with`] knows for a key, for any base; empty if there is no such key.
    ///
    /// ```
    /// use logltn::Semantics;
    /// assert_eq!(Semantics::choices("not"), ["standard", "godel"]);
    /// ```
    pub fn choices(key: &str) -> Vec<&'static str> {
        Key::named(key).map(Key::every_name).unwrap_or_default()
    }

    /// What the operator of a key computes, in Markdown: a line for each space that it works in; empty if there is no
    /// such key.
    ///
    /// ```
    /// use logltn::Semantics;
    /// let lines = Semantics::default().formulas("forall");
    /// assert_eq!(lines[0], "`mean` of logs: 1/n Σ v (the geometric mean of the truth degrees)");
    /// ```
    pub fn formulas(&self, key: &str) -> Vec<String> {
        let Some(key) = Key::named(key) else {
            return Vec::new();
        };
        let (name, _) = self.operator(key);
        table::formulas(name)
    }

    /// The tables of the documents, in Markdown: the semantics, which operators each key can have, and what each
    /// operator computes.
    ///
    /// ```
    /// let [semantics, choices, operators] = logltn::Semantics::tables();
    /// assert!(semantics.contains("| `logltn-max` | `sum` | `max` |"));
    /// assert!(choices.contains("| `not` | `nnf` | `standard` `godel` |"));
    /// assert!(operators.contains("| `log_sum_exp` | logs | 1/α · log Σ exp(α v) |"));
    /// ```
    pub fn tables() -> [String; 3] {
        let mut semantics = format!("| | {} | loss |\n", Self::KEYS.join(" | "));
        semantics += &format!("|{}\n", "---|".repeat(Self::KEYS.len() + 2));
        for base in BASES {
            let operators = Key::ALL.map(|key| match base.exact && key != Key::OverAxioms {
                true => "exact".to_string(),
                false => format!("`{}`", base.operator(key).0),
            });
            let cells = operators.join(" | ");
            semantics += &format!("| `{}` | {cells} | {} |\n", base.name, base.loss);
        }
        [semantics, table::choices(), table::operators()]
    }

    /// The semantics of that name.
    ///
    /// ```
    /// use logltn::Semantics;
    /// assert_eq!(Semantics::named("logltn"), Some(Semantics::default()));
    /// assert_eq!(Semantics::named("prod").unwrap().stable_eps, 1e-4);
    /// assert!(Semantics::named("fuzzy").is_none());
    /// ```
    pub fn named(name: &str) -> Option<Semantics> {
        BASES.iter().find(|base| base.name == name).copied()
    }

    /// The aggregator of a quantifier, applied to what the plan puts under it.
    pub(crate) fn aggregator(&self, forall: bool) -> Aggregator {
        let aggregator = if forall { self.forall } else { self.exists };
        aggregator.laws().of_logs.unwrap_or(aggregator)
    }

    /// Whether small clauses use exp(α·literal) instead of the literals. They share tables, so either all of them do or
    /// none.
    pub(crate) fn clauses_take_exponentials(&self) -> bool {
        let exponentials = |semiring| matches!(semiring, Some(Semiring::Exponentials { .. }));
        match self.or.laws().semiring {
            Some(of) => exponentials(Some(of)),
            None => exponentials(self.exists.laws().semiring),
        }
    }

    /// The same with one operator replaced, both by the names that a manifest uses.
    pub fn with(self, key: &str, operator: &str) -> Result<Semantics, Diagnostic> {
        let key = Key::named(key).ok_or_else(|| error::unknown_key(key))?;
        if self.exact {
            return Err(error::exact(key.name()));
        }
        // The space is checked before the name: in log space no name is right for `not`.
        if self.space == Space::Log && key.is_normal_form_of_logs() {
            return Err(error::normal_form(key.name()));
        }
        let unknown = || error::unknown_operator(key, operator);
        if !key.every_name().contains(&operator) {
            return Err(unknown());
        }
        fn find<O: Copy>(
            all: &[O],
            name: fn(O) -> &'static str,
            wanted: &str,
            into: &mut O,
        ) -> Option<()> {
            *into = all.iter().copied().find(|op| name(*op) == wanted)?;
            Some(())
        }
        let mut changed = self;
        let Semantics {
            and,
            or,
            implies,
            not,
            forall,
            exists,
            over_axioms,
            ..
        } = &mut changed;
        match key {
            Key::And => find(And::ALL, And::name, operator, and),
            Key::Or => find(Or::ALL, Or::name, operator, or),
            Key::Implies => find(Implies::ALL, Implies::name, operator, implies),
            Key::Not => find(Not::ALL, Not::name, operator, not),
            Key::Forall => find(Aggregator::ALL, Aggregator::name, operator, forall),
            Key::Exists => find(Aggregator::ALL, Aggregator::name, operator, exists),
            Key::OverAxioms => find(Aggregator::ALL, Aggregator::name, operator, over_axioms),
        }
        .ok_or_else(unknown)?;
        changed.check(key).map(|()| changed)
    }

    /// The same with another ε of the stable projections.
    ///
    /// ```
    /// use logltn::Semantics;
    /// let stable = Semantics::named("stable").unwrap();
    /// assert_eq!(stable.with_stable_eps(0.0).unwrap().stable_eps, 0.0);
    /// assert!(stable.with_stable_eps(1.0).is_err());
    /// ```
    pub fn with_stable_eps(mut self, eps: f64) -> Result<Semantics, Diagnostic> {
        self.stable_eps = eps;
        self.check_numbers().map(|()| self)
    }

    /// Whether all operators live in the space of this semantics. Always true of what [`Semantics::named`] and
    /// [`Semantics::with`] return; needed for a semantics that was built field by field.
    ///
    /// ```
    /// use logltn::{And, Semantics};
    /// let mixture = Semantics { and: And::Product, ..Semantics::default() };
    /// assert!(mixture.validate().is_err());
    /// ```
    pub fn validate(&self) -> Result<(), Diagnostic> {
        Key::ALL.into_iter().try_for_each(|key| self.check(key))?;
        self.check_numbers()?;
        if self.sat_is_log() && self.loss == Loss::OneMinusSat {
            return Err(error::loss_of_log());
        }
        Ok(())
    }

    /// Whether the aggregate over axioms is the truth of a single axiom, so that the others have no gradient.
    ///
    /// ```
    /// use logltn::Semantics;
    /// assert!(Semantics::named("godel").unwrap().one_axiom_counts());
    /// assert!(!Semantics::default().one_axiom_counts());
    /// ```
    pub fn one_axiom_counts(&self) -> bool {
        self.over_axioms.laws().picks_one
    }

    /// Whether the axioms' values and their combination are logs of truth degrees.
    pub fn sat_is_log(&self) -> bool {
        self.space != Space::Truth
    }

    /// A truth or satisfaction that this semantics has computed, for display: a degree between 0 and 1.
    ///
    /// LogSumExp can go beyond a truth of 1; that is shown as 1.
    ///
    /// ```
    /// use logltn::Semantics;
    /// let named = |name| Semantics::named(name).unwrap();
    /// assert_eq!(named("logltn").degree(0.5f64.ln()), 0.5);
    /// assert_eq!(named("logltn-lse").degree(0.4), 1.0);
    /// assert_eq!(named("stable").degree(0.5), 0.5);
    /// ```
    pub fn degree(&self, truth: f64) -> f64 {
        match self.sat_is_log() {
            true => truth.exp().min(1.0),
            false => truth,
        }
    }

    /// The operator under `key`: its name and domain.
    fn operator(&self, key: Key) -> (&'static str, Domain) {
        match key {
            Key::And => (self.and.name(), self.and.domain()),
            Key::Or => (self.or.name(), self.or.domain()),
            Key::Implies => (self.implies.name(), self.implies.domain()),
            Key::Not => (self.not.name(), self.not.domain()),
            Key::Forall => (self.forall.name(), self.forall.domain()),
            Key::Exists => (self.exists.name(), self.exists.domain()),
            Key::OverAxioms => (self.over_axioms.name(), self.over_axioms.domain()),
        }
    }

    fn check_numbers(&self) -> Result<(), Diagnostic> {
        // 1 is excluded: π0 would then map every truth degree to 1.
        match (0.0..1.0).contains(&self.stable_eps) {
            true => Ok(()),
            false => Err(error::stable_eps(self.stable_eps)),
        }
    }

    fn check(&self, key: Key) -> Result<(), Diagnostic> {
        if key.fits(self.space, self.operator(key).1) {
            return Ok(());
        }
        if self.space == Space::Log && key.is_normal_form_of_logs() {
            return Err(error::normal_form(key.name()));
        }
        Err(error::mixed(self, key, self.partner(key)))
    }

    /// The key of another operator, to show in the message why that of `key` does not fit.
    fn partner(&self, key: Key) -> Key {
        let home = match (self.space, key) {
            (Space::Mixed, Key::Forall) => return Key::OverAxioms,
            (Space::Mixed, Key::OverAxioms) => return Key::Forall,
            (Space::Log, _) => Domain::Logs,
            (Space::Truth | Space::Mixed, _) => Domain::Truths,
        };
        // `not` comes last: it always fits, but explains least.
        [
            Key::Or,
            Key::Exists,
            Key::And,
            Key::Forall,
            Key::OverAxioms,
            Key::Not,
        ]
        .into_iter()
        .find(|&k| k != key && self.operator(k).1 == home)
        .unwrap_or(Key::Not)
    }
}

/// `logltn`, or `logltn with or = max` if it was changed.
impl fmt::Display for Semantics {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name)?;
        let Some(base) = Semantics::named(self.name) else {
            return Ok(());
        };
        let mut separator = " with";
        for key in Key::ALL {
            let operator = self.operator(key).0;
            if operator != base.operator(key).0 {
                write!(f, "{separator} {} = {operator}", key.name())?;
                separator = ",";
            }
        }
        if self.stable_eps != base.stable_eps {
            write!(f, "{separator} stable_eps = {}", self.stable_eps)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn base(name: &str) -> Semantics {
        Semantics::named(name).expect("a base")
    }

    #[test]
    fn every_base_is_valid_and_shows_its_name() {
        for name in Semantics::NAMES {
            let semantics = base(name);
            assert_eq!(semantics.name, name);
            assert_eq!(semantics.to_string(), name);
            assert!(semantics.validate().is_ok(), "{name}");
        }
    }

    #[test]
    fn bases_are_the_rows_of_the_table() {
        let row = |name| {
            let s = base(name);
            let operators = Key::ALL.map(|key| s.operator(key).0).join(" ");
            format!("{operators} {:?} {}", s.loss, s.stable_eps)
        };
        let nnf = "nnf nnf";
        assert_eq!(
            row("logltn"),
            format!("sum log_mean_exp {nnf} mean log_mean_exp mean MinusSat 0")
        );
        assert_eq!(
            row("logltn-sum"),
            format!("sum log_mean_exp {nnf} sum log_mean_exp sum MinusSat 0")
        );
        assert_eq!(
            row("logltn-max"),
            format!("sum max {nnf} mean max mean MinusSat 0")
        );
        assert_eq!(
            row("logltn-lse"),
            format!("sum log_sum_exp {nnf} mean log_sum_exp mean MinusSat 0")
        );
        let product = "product probabilistic_sum";
        assert_eq!(
            row("prod"),
            format!("{product} reichenbach standard log_product p_mean sum MinusSat 0.0001")
        );
        assert_eq!(
            row("stable"),
            format!(
                "{product} reichenbach standard p_mean_error p_mean p_mean_error OneMinusSat 0.0001"
            )
        );
        assert_eq!(
            row("godel"),
            "min max godel godel min max min OneMinusSat 0"
        );
        assert_eq!(
            row("logltn-prob"),
            format!("sum log_probabilistic_sum {nnf} mean log_mean_exp mean MinusSat 0")
        );
        assert_eq!(
            row("lukasiewicz"),
            "lukasiewicz lukasiewicz lukasiewicz standard mean max mean OneMinusSat 0"
        );
        assert_eq!(
            row("goguen"),
            format!("{product} goguen godel p_mean_error p_mean p_mean_error OneMinusSat 0.0001")
        );
    }

    /// `with` accepts exactly the documented table, for every base, key and operator.
    #[test]
    fn overrides_follow_the_table() {
        for name in Semantics::NAMES {
            let semantics = base(name);
            for key in Key::ALL {
                for operator in key.every_name() {
                    let result = semantics.with(key.name(), operator);
                    let fits = key.allowed(semantics.space).contains(&operator) && !semantics.exact;
                    assert_eq!(result.is_ok(), fits, "{name} {key:?} {operator}");
                    if let Ok(changed) = result {
                        assert_eq!(changed.operator(key).0, operator);
                        assert!(changed.validate().is_ok());
                    }
                }
                assert!(semantics.with(key.name(), "nnf").is_err());
            }
        }
    }

    fn message(name: &str, key: &str, operator: &str) -> String {
        let error = base(name).with(key, operator).expect_err("must not fit");
        format!(
            "{}\n{}",
            error.message(),
            error.help_text().unwrap_or_default()
        )
    }

    #[test]
    fn messages_name_the_two_that_do_not_mix() {
        let mistakes = [
            ("logltn", "and", "product"),
            ("logltn", "exists", "p_mean"),
            ("logltn", "not", "standard"),
            ("stable", "or", "log_sum_exp"),
            ("stable", "forall", "log_product"),
            ("godel", "forall", "sum"),
            ("prod", "forall", "mean"),
            ("prod", "over_axioms", "p_mean"),
            ("logltn", "or", "maxx"),
            ("logltn", "impiles", "godel"),
        ];
        let all: Vec<String> = mistakes.map(|(b, k, o)| message(b, k, o)).to_vec();
        insta::assert_snapshot!(all.join("\n\n"));
    }

    #[test]
    fn a_semantics_put_together_by_hand_is_checked() {
        let not = Semantics {
            not: Not::Standard,
            ..Semantics::default()
        };
        let message = |semantics: Semantics| {
            let error = semantics.validate().expect_err("must not fit");
            error.message().to_string()
        };
        assert!(message(not).starts_with("`not` cannot be replaced in log space"));
        let loss = Semantics {
            loss: Loss::OneMinusSat,
            ..base("prod")
        };
        assert!(message(loss).starts_with("a loss of 1 − sat needs truth degrees"));
        for eps in [-0.1, 1.0, f64::NAN, f64::INFINITY] {
            assert!(base("stable").with_stable_eps(eps).is_err(), "{eps}");
        }
    }

    #[test]
    fn changes_are_shown() {
        let changed = base("prod")
            .with("and", "min")
            .and_then(|s| s.with("over_axioms", "mean"))
            .and_then(|s| s.with_stable_eps(0.0));
        assert_eq!(
            changed.expect("they fit").to_string(),
            "prod with and = min, over_axioms = mean, stable_eps = 0"
        );
    }
}
