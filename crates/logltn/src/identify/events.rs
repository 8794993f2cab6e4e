//! From the bindings of axioms to constraints on a map of classes.

use rustc_hash::{FxHashMap, FxHashSet};

use super::constraints::{Collected, Constraints, Listed, combinations, holds};
use super::joined::{Groups, Key, States};
use super::support::{self, Columns, Rows, taken};
use super::{Identify, SupportKind, too_hard};
use crate::circuit::{Proposition, Shape};
use crate::connected::connected;
use crate::diagnostic::{Code, Diagnostic, Diagnostics};
use crate::plan::events::{EventLister, ListedEvent};
use crate::plan::program::NodeKind;
use crate::plan::{ArgumentShape, Plan, PlanOptions, Ranked};
use crate::semantics::Semantics;

pub(super) struct Required {
    pub constraints: Constraints,
    pub support: SupportKind,
    pub left_out: Vec<String>,
    pub contradicted: u64,
    pub warnings: Diagnostics,
}

/// All constraints of the axioms.
pub(super) fn required(question: &Identify, classes: usize) -> Result<Required, Diagnostics> {
    let data = question.data.clone().unbatched();
    if data.streams_anything() {
        return Err(Diagnostic::error(
            Code::MissingData,
            "rows or individuals come with each call, so there are no bindings to look at",
        )
        .help("ask a knowledge base that has the rows of all tables and the sizes of all sorts")
        .into());
    }
    let options = PlanOptions {
        events: false,
        ranked: Ranked::Foralls,
        ..PlanOptions::as_written()
    };
    let semantics = Semantics::named("probability").unwrap_or_default();
    let plan = Plan::new_with(&data, question.outputs, &semantics, &options)?;
    support::check_names(&plan, question.supports)?;
    let mut lister = EventLister::new(&plan);
    let mut collector = Collector {
        question,
        classes,
        collected: Collected::new(classes),
        shapes: FxHashMap::default(),
        listed: Vec::new(),
        never: FxHashMap::default(),
        seen: FxHashSet::default(),
        work: MOST_WORK,
        contradicted: 0,
        numbers: FxHashMap::default(),
        formulas: Vec::new(),
        states: States::default(),
        groups: Groups::default(),
        rows: (question.supports.iter()).map(Rows::new).collect(),
        warnings: Diagnostics::new(),
    };
    let (mut left_out, mut support) = (Vec::new(), None);
    for (program, axiom) in plan.axioms.iter().enumerate() {
        let about = speaks_of(&plan, program, question);
        let whole = plan.data.theory().axioms[axiom.axiom].name.as_str();
        let listed = |name: &str| question.supports.iter().position(|s| s.axiom == name);
        let file = listed(&axiom.name).or_else(|| listed(whole));
        let events = match about {
            About::Others => None,
            About::Classes | About::Nothing => {
                collector.events(&plan, &mut lister, program, file)?
            }
        };
        match (events, about) {
            (None, _) => left_out.push(axiom.name.clone()),
            (Some(kind), About::Classes) => support = support.max(Some(kind)),
            _ => {}
        }
        let next = plan.axioms.get(program + 1);
        if next.is_none_or(|next| next.axiom != axiom.axiom) {
            collector.require_groups(whole)?;
        }
    }
    for (rows, file) in collector.rows.iter().zip(question.supports) {
        collector
            .warnings
            .extend(rows.warning(file, data.theory(), question.predicate));
    }
    let kind = match (question.labels, question.supports) {
        (Some(_), _) => SupportKind::Labels,
        (None, []) => SupportKind::Satisfying,
        (None, _) => SupportKind::File,
    };
    Ok(Required {
        constraints: collector.collected.constraints(),
        support: support.unwrap_or(kind),
        left_out,
        contradicted: collector.contradicted,
        warnings: collector.warnings,
    })
}

#[derive(Clone, Copy)]
enum About {
    /// Mentions the predicate, and no unknown symbol.
    Classes,
    /// Mentions neither the predicate nor anything learnt.
    Nothing,
    /// Mentions something else that is learnt.
    Others,
}

/// What an axiom's formula mentions, whether or not it has bindings.
fn speaks_of(plan: &Plan, program: usize, question: &Identify) -> About {
    let mut about = About::Nothing;
    for node in &plan.programs[program].nodes {
        let NodeKind::Literal { request, .. } = node.kind else {
            continue;
        };
        let request = &plan.requests[request];
        if request.predicate == question.predicate {
            let learnt = |shape: &ArgumentShape| !matches!(shape, ArgumentShape::Individual(_));
            if request.shape.iter().any(learnt) {
                return About::Others;
            }
            about = About::Classes;
        } else if !question.is_given(request.predicate) {
            return About::Others;
        }
    }
    about
}

/// The most combinations that are tried in total, for all shapes of events.
const MOST_WORK: u64 = 1 << 31;

/// The most combinations of a formula that are listed for later look-up.
const MOST_SHARED: usize = 1 << 16;

struct Collector<'a> {
    question: &'a Identify<'a>,
    classes: usize,
    collected: Collected,
    /// Formulas over individuals, each shape once.
    shapes: FxHashMap<Shape, u32>,
    listed: Vec<(Proposition, Option<Listed>)>,
    /// For shapes that are not listed: whether nothing makes them true.
    never: FxHashMap<u32, bool>,
    /// Shapes with the true classes of their individuals.
    seen: FxHashSet<(u32, Vec<u32>)>,
    work: u64,
    contradicted: u64,
    /// What single bindings say, by number.
    numbers: FxHashMap<Shape, u32>,
    formulas: Vec<Proposition>,
    states: States,
    /// Of the axiom, or of the members of the family that have been looked at.
    groups: Groups,
    /// By support: which of its rows count.
    rows: Vec<Rows>,
    warnings: Diagnostics,
}

/// For an event: its formula over the individuals that the predicate is queried at, numbered in order of
/// occurrence.
pub(super) struct Asked {
    pub formula: Proposition,
    pub individuals: Vec<Vec<u32>>,
}

impl Collector<'_> {
    /// Adds all bindings of an axiom. Returns `None`, and adds nothing, if the axiom uses an atom that is neither true
    /// nor false.
    fn events(
        &mut self,
        plan: &Plan,
        lister: &mut EventLister,
        program: usize,
        file: Option<usize>,
    ) -> Result<Option<SupportKind>, Diagnostics> {
        let name = &plan.axioms[program].name;
        let single = plan.data.theory()[self.question.predicate].arguments.len() == 2;
        let labels = self.question.labels.filter(|_| single && file.is_none());
        let kind = match (file, labels) {
            (Some(_), _) => SupportKind::File,
            (None, Some(_)) => SupportKind::Labels,
            (None, None) => SupportKind::Satisfying,
        };
        // The constraints are known once every binding has been visited.
        let mut required: FxHashSet<(u32, Vec<u32>)> = FxHashSet::default();
        let mut in_order = Vec::new();
        let (mut unknown, mut contradicted) = (false, 0);
        let given = file.map(|f| &self.question.supports[f]);
        let columns = given.map(|f| Columns::new(plan, program, self.question.predicate, f));
        let mut columns = columns.transpose()?;
        let mut rows = given.map(Rows::new);
        let mut groups = Groups::default();
        let key = Key::new(plan, program, self.question.predicate);
        let mut looked_at = 0_u64;
        lister.each(program, &mut |event| {
            if self.is_late() {
                return Err(Diagnostic::error(
                    Code::TooHard,
                    format!(
                        "axiom `{name}` has too many bindings to go through in time: {looked_at} were looked at"
                    ),
                )
                .help("one binding for each combination of true classes is enough: ask with tables of fewer rows")
                .into());
            }
            looked_at += 1;
            let Some((asked, individuals)) = self.asked(plan, &event) else {
                unknown = true;
                return Ok(false);
            };
            let mut add = |shape: u32, truly: &[u32]| {
                if required.insert((shape, truly.to_vec())) {
                    in_order.push((shape, truly.to_vec()));
                }
            };
            if let Some(labels) = labels {
                let of = |i: &Vec<u32>| labels.get(i[0] as usize).copied();
                let truly: Option<Vec<u32>> = asked.individuals.iter().map(of).collect();
                match truly {
                    None => unknown = true,
                    Some(truly) if holds(&asked.formula, &truly) => add(self.shape(&asked), &truly),
                    Some(_) => contradicted += 1,
                }
                return Ok(!unknown);
            }
            if let (Some(columns), Some(rows)) = (&mut columns, &mut rows) {
                let places = columns.places(&event, &asked, &individuals)?;
                let shape = self.shape(&asked);
                rows.each(columns.file, &mut |row| {
                    let truly = taken(row, &places, asked.individuals.len());
                    let truly = truly.filter(|truly| holds(&asked.formula, truly));
                    truly.inspect(|truly| add(shape, truly)).is_some()
                });
                return Ok(true);
            }
            let number = self.number(&asked.formula);
            groups.add(&mut self.states, key.of(&event), number, &asked.individuals);
            Ok(true)
        })?;
        if unknown {
            return Ok(None);
        }
        if let Some(columns) = columns {
            columns.finish()?;
        }
        self.contradicted += contradicted;
        if let (Some(file), Some(rows)) = (file, &rows) {
            self.rows[file].take(rows);
        }
        for (shape, truly) in in_order {
            self.require(shape, &truly, name)?;
        }
        self.groups.take(&mut self.states, groups);
        Ok(Some(kind))
    }

    /// Requires what the groups of an axiom or a family do, for all true classes that satisfy them.
    fn require_groups(&mut self, axiom: &str) -> Result<(), Diagnostics> {
        let groups = std::mem::take(&mut self.groups);
        let (mut all, mut never) = (0, 0);
        for (state, count) in groups.states() {
            let steps = self.states.all(state).into_iter();
            let formulas = steps.map(|(formula, places)| {
                self.formulas[*formula as usize].renamed(&|v| places[v as usize])
            });
            let formula = Proposition::and(formulas);
            let individuals: Vec<Vec<u32>> =
                (0..variables(&formula) as u32).map(|i| vec![i]).collect();
            let parts = Asked::new(formula, &individuals).parts();
            let shapes: Vec<u32> = parts.iter().map(|part| self.shape(part)).collect();
            all += count;
            // What cannot be true as a whole requires nothing, even if its parts would.
            if shapes.iter().any(|shape| self.never_true(*shape)) {
                never += count;
                continue;
            }
            for shape in shapes {
                self.require_all(shape, axiom)?;
            }
        }
        if never > 0 {
            let what = format!(
                "axiom `{axiom}`: no true classes satisfy {never} of its {all} bindings, which require nothing"
            );
            self.warnings
                .push(Diagnostic::warning(Code::MissingData, what));
        }
        Ok(())
    }

    /// The number of what a binding says.
    fn number(&mut self, formula: &Proposition) -> u32 {
        let classes = self.classes as u32;
        let (shape, _) = Shape::of([formula].into_iter(), |_| classes);
        let next = self.formulas.len() as u32;
        let number = *self.numbers.entry(shape).or_insert(next);
        if number == next {
            self.formulas.push(formula.clone());
        }
        number
    }

    /// The event over individuals after known atoms are filled in, and the individuals that it mentioned before;
    /// `None` if something is unknown.
    fn asked(&self, plan: &Plan, event: &ListedEvent) -> Option<(Asked, Vec<Vec<u32>>)> {
        let mut individuals: Vec<Vec<u32>> = Vec::new();
        let mut numbers: FxHashMap<u32, Result<u32, Option<bool>>> = FxHashMap::default();
        event.formula.each_variable(&mut |var| {
            numbers.entry(var).or_insert_with(|| {
                let (request, row, class) = event.atom(var);
                let request = &plan.requests[request];
                if request.predicate != self.question.predicate {
                    return Err((self.question.known)(request.predicate, &row, class));
                }
                // Requests of one predicate differ in how their arguments are built.
                let place = individuals.iter().position(|i| *i == row);
                Ok(place.unwrap_or_else(|| {
                    individuals.push(row);
                    individuals.len() - 1
                }) as u32)
            });
        });
        if numbers.values().any(|n| *n == Err(None)) {
            return None;
        }
        let formula = event
            .formula
            .mapped(&|var, state, positive| match numbers[&var] {
                Ok(var) => Proposition::Is {
                    var,
                    state,
                    positive,
                },
                Err(is) if is == Some(positive) => Proposition::True,
                Err(_) => Proposition::False,
            });
        let asked = Asked::new(formula, &individuals);
        Some((asked, individuals))
    }

    fn is_late(&self) -> bool {
        let late = |until: std::time::Instant| std::time::Instant::now() > until;
        self.question.until.is_some_and(late)
    }

    fn shape(&mut self, asked: &Asked) -> u32 {
        let classes = self.classes as u32;
        let (shape, _) = Shape::of([&asked.formula].into_iter(), |_| classes);
        let next = self.listed.len() as u32;
        let number = *self.shapes.entry(shape).or_insert(next);
        if number == next {
            let variables = asked.individuals.len();
            let few = combinations(self.classes, variables).is_some_and(|n| n <= MOST_SHARED);
            let listed = match few {
                true => Listed::new(&asked.formula, self.classes, variables),
                false => None,
            };
            self.listed.push((asked.formula.clone(), listed));
        }
        number
    }

    fn require(&mut self, shape: u32, truly: &[u32], axiom: &str) -> Result<(), Diagnostics> {
        if !self.seen.insert((shape, truly.to_vec())) {
            return Ok(());
        }
        let mut distinct = truly.to_vec();
        distinct.sort_unstable();
        distinct.dedup();
        let cost = combinations(self.classes, distinct.len()).unwrap_or(0) as u64;
        match self.work.checked_sub(cost) {
            Some(left) if !self.is_late() => self.work = left,
            _ => {
                return Err(too_hard(format!(
                    "axiom `{axiom}` has too many combinations of true classes to look at"
                )));
            }
        }
        let (formula, listed) = &self.listed[shape as usize];
        (self.collected).require(formula, listed.as_ref(), truly);
        Ok(())
    }

    /// Whether no true classes make it true. For shapes with too many combinations to list, this is computed once.
    fn never_true(&mut self, shape: u32) -> bool {
        let (formula, listed) = &self.listed[shape as usize];
        if let Some(listed) = listed {
            return listed.is_empty();
        }
        let classes = self.classes;
        *self.never.entry(shape).or_insert_with(|| {
            Listed::new(formula, classes, variables(formula)).is_some_and(|l| l.is_empty())
        })
    }

    /// Requires it for all true classes that make it true.
    fn require_all(&mut self, shape: u32, axiom: &str) -> Result<(), Diagnostics> {
        let (formula, listed) = &self.listed[shape as usize];
        let variables = variables(formula);
        let own;
        let listed = match listed {
            Some(listed) => listed,
            None => match Listed::new(formula, self.classes, variables) {
                Some(listed) => {
                    own = listed;
                    &own
                }
                None => {
                    return Err(too_hard(format!(
                        "axiom `{axiom}` speaks of {variables} individuals at once, whose true classes have too many combinations to check"
                    )));
                }
            },
        };
        let mut all = Vec::new();
        listed.each(|truly| all.push(truly.to_vec()));
        all.iter()
            .try_for_each(|truly| self.require(shape, truly, axiom))
    }
}

fn variables(formula: &Proposition) -> usize {
    let mut variables = 0;
    formula.each_variable(&mut |v| variables = variables.max(v as usize + 1));
    variables
}

impl Asked {
    /// The remaining formula may mention fewer individuals.
    fn new(formula: Proposition, individuals: &[Vec<u32>]) -> Asked {
        let mut order: Vec<u32> = Vec::new();
        formula.each_variable(&mut |v| {
            if !order.contains(&v) {
                order.push(v);
            }
        });
        let name = |v: u32| order.iter().position(|o| *o == v).unwrap_or(0) as u32;
        Asked {
            formula: formula.renamed(&name),
            individuals: order
                .iter()
                .map(|v| individuals[*v as usize].clone())
                .collect(),
        }
    }

    /// Conjuncts grouped by shared individuals; constants are left out.
    fn parts(self) -> Vec<Asked> {
        let Proposition::And(members) = &self.formula else {
            return vec![self];
        };
        let groups = connected(members.len(), |i, visit| {
            members[i].each_variable(&mut |v| visit(v));
        });
        let part = |group: Vec<u32>| {
            let formulas = group.iter().map(|i| members[*i as usize].clone());
            Asked::new(Proposition::and(formulas), &self.individuals)
        };
        groups.into_iter().map(part).collect()
    }
}
