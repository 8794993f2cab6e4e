//! True classes that are listed for an axiom, and the individuals that have them.

use rustc_hash::FxHashSet;

use super::events::Asked;
use super::{Identify, Support};
use crate::diagnostic::{Code, Diagnostic, Diagnostics, did_you_mean};
use crate::plan::events::ListedEvent;
use crate::plan::{Individual, Plan};
use crate::recursion::deep;
use crate::theory::{
    Axiom, ColumnSort, DefinitionId, Formula, FormulaKind, PredicateId, Term, TermKind, Theory,
};

/// Refuses supports of axioms that do not exist, or that have one already.
pub(super) fn check_names(plan: &Plan, supports: &[Support]) -> Result<(), Diagnostics> {
    let mut found = Diagnostics::new();
    let theory = plan.data.theory();
    let families = theory.axioms.iter().map(|a| a.name.as_str());
    let known: Vec<&str> = (plan.axioms.iter().map(|a| a.name.as_str()))
        .chain(families)
        .collect();
    for support in supports
        .iter()
        .filter(|s| !known.contains(&s.axiom.as_str()))
    {
        let what = format!(
            "there is no axiom `{}`, of which {} lists the true classes",
            support.axiom, support.name
        );
        let help = did_you_mean(&support.axiom, known.iter().copied());
        found.push(Diagnostic::error(Code::UnknownAxiom, what).maybe_help(help));
    }
    for (at, support) in supports.iter().enumerate() {
        if let Some(first) = supports[..at].iter().find(|s| s.axiom == support.axiom) {
            let what = format!(
                "the true classes of axiom `{}` are listed twice: by {} and by {}",
                support.axiom, first.name, support.name
            );
            found.push(
                Diagnostic::error(Code::DuplicateName, what).help("put all rows in one list"),
            );
        }
    }
    found.into_result(()).map(|_| ())
}

/// The columns of a support, and which of them its axiom asks about.
pub(super) struct Columns<'a> {
    pub file: &'a Support,
    plan: &'a Plan,
    program: usize,
    /// By column. What decides a binding before anybody's class matters (a guard, or what is known of other predicates)
    /// does not take a column away, so that the text of the axiom counts, and beyond it whoever is met.
    asked: Vec<bool>,
    events: u64,
}

impl<'a> Columns<'a> {
    pub fn new(
        plan: &'a Plan,
        program: usize,
        predicate: PredicateId,
        file: &'a Support,
    ) -> Result<Columns<'a>, Diagnostics> {
        let mut own = Columns {
            file,
            plan,
            program,
            asked: Vec::new(),
            events: 0,
        };
        let leading = own.leading();
        for variable in file.columns.iter().flatten() {
            if !leading.contains(&variable.as_str()) {
                return Err(own.unknown(variable));
            }
        }
        let axiom = &plan.data.theory().axioms[plan.axioms[program].axiom];
        let text = Text::of(plan.data.theory(), axiom, predicate);
        let mentioned = |column: &Vec<String>| {
            let column: Vec<&str> = column.iter().map(String::as_str).collect();
            text.asked.contains(&column)
        };
        own.asked = file.columns.iter().map(mentioned).collect();
        Ok(own)
    }

    /// By column: the individual of the event whose class it gives, if any. `before` are the individuals that the event
    /// mentioned before known atoms were filled in.
    pub fn places(
        &mut self,
        event: &ListedEvent,
        asked: &Asked,
        before: &[Vec<u32>],
    ) -> Result<Vec<Option<usize>>, Diagnostics> {
        self.events += 1;
        let bound = event.bound();
        let mut places = Vec::with_capacity(self.file.columns.len());
        for (at, column) in self.file.columns.iter().enumerate() {
            let mut row = Vec::new();
            for variable in column {
                let found = bound.iter().find(|b| b.variable == *variable);
                let Some((_, individual)) = found.and_then(|b| b.individual) else {
                    return Err(self.unknown(variable));
                };
                row.push(individual);
            }
            self.asked[at] |= before.contains(&row);
            places.push(asked.individuals.iter().position(|i| *i == row));
        }
        if (0..asked.individuals.len()).all(|i| places.contains(&Some(i))) {
            return Ok(places);
        }
        let axiom = &self.plan.axioms[self.program];
        let what = format!(
            "{}: axiom `{}` asks about the class of an individual that no column gives",
            self.file.name, self.file.axiom
        );
        Err(Diagnostic::error(Code::MissingColumn, what)
            .at(&self.plan.data.theory().source, axiom.span, "")
            .help(self.expected())
            .into())
    }

    /// Refuses columns of which the predicate is never asked.
    pub fn finish(self) -> Result<(), Diagnostics> {
        let unused = self.asked.iter().position(|asked| !asked);
        match unused {
            Some(column) if self.events > 0 => Err(Diagnostic::error(
                Code::UnknownColumn,
                format!(
                    "{}: axiom `{}` does not ask about the class of `{}`",
                    self.file.name,
                    self.file.axiom,
                    self.file.columns[column].join(",")
                ),
            )
            .help("leave the column out")
            .into()),
            _ => Ok(()),
        }
    }

    /// The variables that can have columns.
    fn leading(&self) -> Vec<&'a str> {
        let program = &self.plan.programs[self.program];
        let variables = &self.plan.data.theory().axioms[program.axiom].variables;
        let ranked = program.ranking.as_ref().map(|r| r.variables());
        (ranked.unwrap_or_default().iter())
            .map(|v| &variables[v.index()])
            .filter(|v| matches!(v.sort, ColumnSort::Sort(_)))
            .map(|v| v.name.as_str())
            .collect()
    }

    fn expected(&self) -> String {
        let names: Vec<String> = self.leading().iter().map(|n| format!("`{n}`")).collect();
        match names.is_empty() {
            true => "this axiom has no variable of a leading `forall` that a column could be named after".to_string(),
            false => format!(
                "columns named after variables of the leading `forall`s ({}; several arguments of one atom together: `x,y`) are expected",
                names.join(", ")
            ),
        }
    }

    fn unknown(&self, variable: &str) -> Diagnostics {
        Diagnostic::error(
            Code::UnknownColumn,
            format!(
                "{}: column `{variable}` is not a variable of axiom `{}` that a leading `forall` binds to an individual",
                self.file.name, self.file.axiom
            ),
        )
        .help(self.expected())
        .into()
    }
}

/// By variable of an axiom: whether the predicate is asked about the class of whoever it is bound to.
pub(super) fn individuals(theory: &Theory, axiom: &Axiom, predicate: PredicateId) -> Vec<bool> {
    let text = Text::of(theory, axiom, predicate);
    let names = axiom.variables.iter().map(|v| v.name.as_str());
    names.map(|name| text.individuals.contains(name)).collect()
}

/// Finds the atoms of a predicate in an axiom and in its definitions.
struct Text<'t> {
    theory: &'t Theory,
    predicate: PredicateId,
    /// The variables of the axiom in the arguments before the class.
    asked: FxHashSet<Vec<&'t str>>,
    /// Each of them, also inside of a function.
    individuals: FxHashSet<&'t str>,
    /// Uses of definitions that have been visited, by the values of their parameters.
    seen: FxHashSet<(DefinitionId, Names<'t>)>,
}

/// By variable: the variable of the axiom that it stands for, if it is one.
type Names<'t> = Vec<Option<&'t str>>;

impl<'t> Text<'t> {
    fn of(theory: &'t Theory, axiom: &'t Axiom, predicate: PredicateId) -> Text<'t> {
        let mut text = Text {
            theory,
            predicate,
            asked: FxHashSet::default(),
            individuals: FxHashSet::default(),
            seen: FxHashSet::default(),
        };
        let own_names = axiom.variables.iter().map(|v| Some(v.name.as_str()));
        text.read(&axiom.formula, &own_names.collect::<Vec<_>>());
        text
    }

    fn read(&mut self, formula: &'t Formula, names: &[Option<&'t str>]) {
        let name = |term: &Term| match term.kind {
            TermKind::Variable(id) => names.get(id.index()).copied().flatten(),
            _ => None,
        };
        match &formula.kind {
            FormulaKind::Atom {
                predicate,
                arguments,
            } if *predicate == self.predicate => {
                let before = &arguments[..arguments.len().saturating_sub(1)];
                self.asked
                    .extend(before.iter().map(name).collect::<Option<Vec<_>>>());
                let mut terms: Vec<&Term> = before.iter().collect();
                while let Some(term) = terms.pop() {
                    self.individuals.extend(name(term));
                    if let TermKind::Apply(_, arguments) = &term.kind {
                        terms.extend(arguments);
                    }
                }
            }
            FormulaKind::Use {
                definition,
                arguments,
            } => {
                let own: Names<'t> = arguments.iter().map(name).collect();
                if self.seen.insert((*definition, own.clone())) {
                    let body = &self.theory.definitions[definition.index()].body.formula;
                    deep(|| self.read(body, &own));
                }
            }
            _ => deep(|| (formula.children().into_iter()).for_each(|f| self.read(f, names))),
        }
    }
}

/// The classes of an event's individuals in a row; `None` if it gives two classes for one individual.
pub(super) fn taken(row: &[u32], places: &[Option<usize>], individuals: usize) -> Option<Vec<u32>> {
    let mut truly: Vec<Option<u32>> = vec![None; individuals];
    for (class, place) in row.iter().zip(places) {
        if let Some(place) = place
            && *truly[*place].get_or_insert(*class) != *class
        {
            return None;
        }
    }
    truly.into_iter().collect()
}

/// Which rows of a support count.
#[derive(Default)]
pub(super) struct Rows {
    counts: Vec<bool>,
    bindings: u64,
    /// Bindings that no row satisfies.
    unmet: u64,
}

impl Rows {
    pub fn new(file: &Support) -> Rows {
        Rows {
            counts: vec![false; file.rows.len()],
            ..Rows::default()
        }
    }

    /// Asks of each row whether it satisfies a binding.
    pub fn each(&mut self, file: &Support, satisfies: &mut dyn FnMut(&[u32]) -> bool) {
        let mut met = false;
        for (row, counts) in file.rows.iter().zip(&mut self.counts) {
            let own = satisfies(row);
            *counts |= own;
            met |= own;
        }
        self.bindings += 1;
        self.unmet += u64::from(!met);
    }

    /// Adds what another member of the family found.
    pub fn take(&mut self, other: &Rows) {
        let both = self.counts.iter_mut().zip(&other.counts);
        both.for_each(|(counts, also)| *counts |= also);
        self.bindings += other.bindings;
        self.unmet += other.unmet;
    }

    /// Of rows that count for nothing, and of bindings that nothing counts for.
    pub fn warning(
        &self,
        file: &Support,
        theory: &Theory,
        predicate: PredicateId,
    ) -> Option<Diagnostic> {
        let (name, axiom, bindings) = (&file.name, &file.axiom, self.bindings);
        let warn = |what: String| Some(Diagnostic::warning(Code::MissingData, what));
        if file.rows.is_empty() {
            let warning = warn(format!(
                "{name}: there are no rows, so axiom `{axiom}` requires nothing"
            ));
            return warning.map(|w| {
                w.help("list the true classes that occur in it, a row for each combination")
            });
        }
        if bindings == 0 {
            return None;
        }
        let idle = self.counts.iter().filter(|counts| !**counts).count();
        let Some(first) = self.counts.iter().position(|counts| !counts) else {
            if self.unmet == 0 {
                return None;
            }
            return warn(format!(
                "{name}: no row satisfies {} of the {bindings} bindings of axiom `{axiom}`, which require nothing",
                self.unmet
            ));
        };
        let (classes, _) = Identify::sorts(theory, predicate)?;
        let cells = file.columns.iter().zip(&file.rows[first]);
        let cells = cells.map(|(column, class)| {
            format!(
                "{} = {}",
                column.join(","),
                Individual::of(theory, classes, *class)
            )
        });
        let cells = cells.collect::<Vec<_>>().join(", ");
        let rows = file.rows.len();
        warn(format!(
            "{name}: {idle} of {rows} rows satisfy no binding of axiom `{axiom}`, so they count for nothing; the first has {cells}"
        ))
    }
}
