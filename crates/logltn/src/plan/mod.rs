//! The plan: a theory, its data and a semantics, compiled to programs for the engine.

mod account;
pub(crate) mod active;
pub(crate) mod applied;
pub(crate) mod blocks;
mod compile;
mod cost;
mod distances;
mod eliminate;
pub(crate) mod events;
pub(crate) mod excerpt;
mod functions;
mod ground;
pub(crate) mod individual;
mod laws;
mod lower;
mod narrow;
pub(crate) mod normal;
mod of_definition;
mod passes;
pub(crate) mod physical;
pub(crate) mod program;
mod query;
mod shard;
mod share;
mod show;
pub(crate) mod strata;
mod stream;

use std::sync::Arc;

use crate::data::Data;
use crate::diagnostic::Diagnostics;
use crate::memory;
use crate::output::Output;
use crate::semantics::Semantics;
use crate::source::Span;
use crate::theory::{Axiom, FormulaKind, PredicateId, Query};

use compile::{Problem, compile};
pub use events::EventSize;
use events::Events;
pub use events::World;
pub(crate) use ground::{Leaf, strides};
pub use individual::{BlamedLiteral, Bound, Individual};
use passes::Forms;
pub use passes::Pass;
use physical::Physical;
pub use program::ArgumentShape;
use program::{Component, Map, RequestPlan};
use strata::StrataPlan;
use stream::Streaming;

/// What looking at the axioms again takes: in terms of the plan's lists, for each part of a formula that is written out, for
/// each axiom, for each number that a predicate gives (and again where every lane has derivatives by it), and for each value of
/// a definition or shared part. Measured.
const TIMES_LISTS: u128 = 3;
const BYTES_PER_PART: u128 = 1400;
const BYTES_PER_AXIOM: u128 = 2500;
const BYTES_PER_ANSWER: u128 = 90;
const BYTES_PER_SPREAD_ANSWER: u128 = 180;
const BYTES_PER_TUPLE: u128 = 230;

/// A theory compiled for some data, some outputs and a semantics.
///
/// It is made once and holds the lists of bindings that each guard keeps, never a grid, and the
/// argument rows on which each predicate will be evaluated. [`Engine`](crate::Engine) runs it;
/// `to_string()` shows it.
#[derive(Clone, Debug)]
pub struct Plan {
    pub(crate) data: Arc<Data>,
    pub(crate) outputs: Vec<Output>,
    pub(crate) semantics: Semantics,
    pub(crate) axioms: Vec<PlannedAxiom>,
    pub(crate) programs: Vec<Physical>,
    pub(crate) components: Vec<Component>,
    pub(crate) maps: Vec<Map>,
    pub(crate) requests: Vec<RequestPlan>,
    pub(crate) strata: StrataPlan,
    /// By axiom, if they are kept.
    forms: Vec<Forms>,
    warnings: Diagnostics,
    /// What is needed to plan again what depends on rows that come with the call.
    streaming: Option<Streaming>,
    /// By axiom: the number of leading `forall`s under exact probabilities.
    pub(crate) leading: Vec<usize>,
    /// What is computed instead of the programs in that case.
    pub(crate) events: Option<Arc<Events>>,
}

/// How to plan.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PlanOptions {
    /// Whether quantifiers may be moved inward, where the value and the gradient stay the same and it is cheaper. On
    /// by default.
    pub narrow: bool,
    /// Whether the variables of an `exists` may be eliminated one at a time, likewise.
    pub eliminate: bool,
    /// Likewise, in all semantics, whether a part of a formula that reads fewer variables than are bound around it, or
    /// that occurs in several places, may be computed once for each binding of the variables that it reads.
    pub share: bool,
    /// How many bytes the lists of bindings and the tables of answers may take. A plan that would need more is refused
    /// with the place in the theory that asks for it, instead of exhausting the machine. By default, and at most,
    /// [what the whole program may take](crate::memory::limit).
    pub memory: u64,
    /// Whether to keep what each pass made of the axioms, as text for [`Plan::show_pass`].
    pub keep_forms: bool,
    /// Whether other processes have other rows of batched and streamed tables, and other individuals of sorts whose
    /// size comes with the call: [`Engine::evaluate_together`](crate::Engine::evaluate_together). Axioms for which that
    /// is impossible are refused.
    pub sharded: bool,
    /// Under exact probabilities: whether the leading `forall`s belong to the event.
    pub joint: bool,
    /// Under exact probabilities: whether axioms that are not laws are left out.
    #[doc(hidden)]
    pub only_laws: bool,
    /// Rewrites wherever that is exact, even where it does not pay: for tests, whose theories are small.
    #[doc(hidden)]
    pub always: bool,
    /// Under exact probabilities: whether events are compiled.
    #[doc(hidden)]
    pub events: bool,
    /// Which bindings are asked for one by one: see [`Plan::for_query`] and [`Plan::for_explaining`].
    #[doc(hidden)]
    pub ranked: Ranked,
}

/// Which quantifiers at the root of an axiom have bindings that are asked for one by one.
#[doc(hidden)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Ranked {
    #[default]
    None,
    /// The first one, which is a `find`.
    First,
    /// All `forall`s up to the first other node.
    Foralls,
}

impl Default for PlanOptions {
    fn default() -> PlanOptions {
        PlanOptions {
            narrow: true,
            eliminate: true,
            share: true,
            memory: memory::limit(),
            keep_forms: false,
            sharded: false,
            joint: false,
            only_laws: false,
            always: false,
            events: true,
            ranked: Ranked::None,
        }
    }
}

impl PlanOptions {
    /// No rewrites: every formula is evaluated as it was written.
    pub fn as_written() -> PlanOptions {
        PlanOptions {
            narrow: false,
            eliminate: false,
            share: false,
            ..PlanOptions::default()
        }
    }
}

/// A part of an axiom that is evaluated in a form other than the written one.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Rewrite {
    /// As written.
    pub before: String,
    /// The formula that is evaluated instead.
    pub after: String,
    /// About how many operations the written form takes for one binding of the enclosing variables.
    pub cost_before: f64,
    /// About how many the new form takes.
    pub cost_after: f64,
}

/// One axiom of the plan: families are written out.
#[derive(Clone, Debug)]
pub struct PlannedAxiom {
    /// The axiom's name, `name[individual]` for a member of a family.
    pub name: String,
    /// Its weight.
    pub weight: f64,
    /// The axiom (or family) of the theory, by index.
    pub axiom: usize,
    /// How many bindings its quantified variables have, guards aside.
    pub groundings_before: u128,
    /// How many of them pass all guards.
    pub groundings: u128,
    /// How many bindings of the enclosing variables leave an `exists` empty.
    pub empty_exists: u64,
    /// Where the axiom is in the theory.
    pub span: Span,
    /// Whether it is a law of a semantics with exact probabilities: it then has no truth and no weight.
    pub hard: bool,
    /// Of a member of a family: what the family's variables are, in its order.
    pub(crate) individuals: Vec<u32>,
}

/// How a plan uses a definition.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlannedDefinition {
    /// Its name.
    pub name: String,
    /// How many distinct tuples are asked for, by axioms and by definitions.
    pub tuples: usize,
    /// How many uses come one after the other at most, from one that is asked for to one that asks for no more.
    pub depth: usize,
}

impl Plan {
    fn empty(data: Arc<Data>, outputs: &[Output], semantics: Semantics) -> Plan {
        Plan {
            data,
            outputs: outputs.to_vec(),
            semantics,
            axioms: Vec::new(),
            programs: Vec::new(),
            components: Vec::new(),
            maps: Vec::new(),
            requests: Vec::new(),
            strata: StrataPlan::default(),
            forms: Vec::new(),
            warnings: Diagnostics::new(),
            streaming: None,
            leading: Vec::new(),
            events: None,
        }
    }

    /// Plans a theory. `outputs` says for each predicate what its numbers mean.
    pub fn new(
        data: &Data,
        outputs: &[Output],
        semantics: &Semantics,
    ) -> Result<Plan, Diagnostics> {
        Plan::new_with(data, outputs, semantics, &PlanOptions::default())
    }

    /// Plans a theory, with a say in how.
    pub fn new_with(
        data: &Data,
        outputs: &[Output],
        semantics: &Semantics,
        options: &PlanOptions,
    ) -> Result<Plan, Diagnostics> {
        compile(Problem {
            data,
            outputs,
            semantics,
            options,
        })
    }

    /// Plans a question instead of the axioms: its engine answers [`Engine::answers`](crate::Engine::answers).
    ///
    /// # Errors
    /// Also if the question names individuals that do not exist.
    pub fn for_query(
        data: &Data,
        outputs: &[Output],
        semantics: &Semantics,
        query: &Query,
        options: &PlanOptions,
    ) -> Result<Plan, Diagnostics> {
        query::check_individuals(data, query).into_result(())?;
        let options = PlanOptions {
            ranked: match query.is_open {
                true => Ranked::First,
                false => Ranked::None,
            },
            ..*options
        };
        if !(semantics.exact
            && data
                .theory()
                .axioms
                .iter()
                .any(|a| data.has_laws_of(&a.name)))
        {
            return Plan::new_with(&data.with_query(query), outputs, semantics, &options);
        }
        // Errors in the laws refer to their own text.
        let is_law = |axiom: &Axiom| data.has_laws_of(&axiom.name);
        let laws = data.with_axioms(is_law).unbatched();
        Plan::of_laws(&laws, outputs)?;
        let question = data.with_query(query).and_axioms(laws.theory());
        let mut plan = Plan::new_with(&question, outputs, semantics, &options)?;
        // Members of a family whose other members are laws.
        plan.retain_axioms(|axiom| axiom.axiom == 0);
        Ok(plan)
    }

    /// Plans worlds in which all axioms hold and a closed formula does not, for
    /// [`Engine::world`](crate::Engine::world); without a formula, those in which all axioms hold. Atoms are free
    /// unless their degree is 0 or 1.
    ///
    /// # Errors
    /// With the code [`Code::Contradiction`](crate::Code::Contradiction) if there is no such world: the formula follows.
    pub fn for_refuting(
        data: &Data,
        outputs: &[Output],
        query: Option<&Query>,
    ) -> Result<Plan, Diagnostics> {
        let mut laws = match query {
            Some(query) => {
                query::check_individuals(data, query).into_result(())?;
                let mut negated = query.clone();
                let formula = &mut negated.axiom.formula;
                let span = formula.span;
                let inner = Box::new(formula.clone());
                formula.kind = FormulaKind::Not(inner);
                formula.span = span;
                data.with_query(&negated).and_axioms(data.theory())
            }
            None => data.clone().unbatched(),
        };
        let names: Vec<String> = (laws.theory().axioms.iter())
            .map(|axiom| axiom.name.clone())
            .collect();
        laws.set_laws(names);
        Plan::of_laws(&laws, outputs)
    }

    /// Plans the laws alone, whatever the axioms are, for questions about worlds:
    /// [`Engine::marginals`](crate::Engine::marginals) and those beside it.
    ///
    /// # Errors
    /// If no world keeps them ([`Code::Contradiction`](crate::Code::Contradiction)), or they are too hard.
    pub fn for_worlds(data: &Data, outputs: &[Output]) -> Result<Plan, Diagnostics> {
        let laws = data.with_axioms(|axiom| data.has_laws_of(&axiom.name));
        Plan::of_laws(&laws.unbatched(), outputs)
    }

    fn of_laws(data: &Data, outputs: &[Output]) -> Result<Plan, Diagnostics> {
        let semantics = Semantics::named("probability").unwrap_or_default();
        let options = PlanOptions {
            only_laws: true,
            ..PlanOptions::default()
        };
        Plan::new_with(data, outputs, &semantics, &options)
    }

    /// Plans a theory so that its engine can also say which bindings violate an axiom most:
    /// [`Engine::explain`](crate::Engine::explain).
    pub fn for_explaining(
        data: &Data,
        outputs: &[Output],
        semantics: &Semantics,
        options: &PlanOptions,
    ) -> Result<Plan, Diagnostics> {
        let options = PlanOptions {
            ranked: Ranked::Foralls,
            ..*options
        };
        Plan::new_with(data, outputs, semantics, &options)
    }

    /// Keeps only some axioms, such as the members of a family that a phase of training names.
    pub fn retain_axioms(&mut self, keep: impl Fn(&PlannedAxiom) -> bool) {
        // Batches, phases and samples choose observations, never laws.
        let kept: Vec<bool> = self.axioms.iter().map(|a| a.hard || keep(a)).collect();
        let mut at = kept.iter();
        self.axioms.retain(|_| at.next() == Some(&true));
        let mut at = kept.iter();
        self.programs.retain(|_| at.next() == Some(&true));
        let mut at = kept.iter();
        self.forms.retain(|_| at.next() == Some(&true));
        if let Some(streaming) = &mut self.streaming {
            streaming.retain_axioms(&kept);
        }
        if let Some(mut events) = self.events.take() {
            let mut at = kept.iter();
            self.leading.retain(|_| at.next() == Some(&true));
            Arc::make_mut(&mut events).retain_axioms(self, &kept);
            self.events = Some(events);
        }
    }

    /// The size of an axiom's events, by its place in [`Plan::axioms`]; for a law, of all laws together. `None` without
    /// exact probabilities.
    pub fn event_size(&self, axiom: usize) -> Option<EventSize> {
        let events = self.events.as_ref()?;
        Some(match self.axioms[axiom].hard {
            true => events.size_of_laws(),
            false => events.size(axiom),
        })
    }

    /// The axioms, families written out.
    pub fn axioms(&self) -> &[PlannedAxiom] {
        &self.axioms
    }

    /// The definitions of the theory, in its order.
    ///
    /// ```
    /// use logltn::{Data, Output, Plan, Semantics, Source, Theory};
    /// let theory = Theory::parse(Source::new("t", "
    ///     sort Step = 0..9  predicate P(Step)
    ///     define upto(i: Step): P(i) and (forall j: Step where j = i - 1. upto(j))
    ///     axiom a: upto(5)"))?;
    /// let plan = Plan::new(&Data::new(&theory), &[Output::sigmoid()], &Semantics::default())?;
    /// let upto = &plan.definitions()[0];
    /// assert_eq!((upto.tuples, upto.depth), (6, 6));
    /// # Ok::<(), logltn::Diagnostics>(())
    /// ```
    pub fn definitions(&self) -> Vec<PlannedDefinition> {
        let named = self.data.theory().definitions.len();
        (self.strata.strata.iter().take(named))
            .map(|stratum| PlannedDefinition {
                name: stratum.name.clone(),
                tuples: stratum.codes.len(),
                depth: stratum.depth,
            })
            .collect()
    }

    /// Warnings about what is probably a mistake: guards that keep nothing, families without
    /// members.
    pub fn warnings(&self) -> &Diagnostics {
        &self.warnings
    }

    /// The semantics of the plan.
    pub fn semantics(&self) -> &Semantics {
        &self.semantics
    }

    /// The data of the plan.
    pub fn data(&self) -> &Data {
        &self.data
    }

    /// What the numbers of a predicate mean.
    pub fn output(&self, predicate: PredicateId) -> Output {
        self.outputs[predicate.index()]
    }

    /// What was rewritten in an axiom, by its place in [`Plan::axioms`].
    pub fn rewrites(&self, axiom: usize) -> impl Iterator<Item = &Rewrite> {
        let program = self.programs.get(axiom);
        program.into_iter().flat_map(|p| &p.rewrites)
    }

    /// The summands of all axioms in order: the axiom of each, and whether each process has a share
    /// of it ([`PlanOptions::sharded`]).
    pub fn shares(&self) -> Vec<(usize, bool)> {
        let programs = self.programs.iter().enumerate();
        let roots = programs.flat_map(|(i, p)| p.roots.iter().map(move |root| (i, root.sharded)));
        roots.collect()
    }

    /// What the engine runs for each axiom, then for each stratum, plain and negated as needed.
    pub(crate) fn all_programs(&self) -> impl Iterator<Item = Option<&Physical>> {
        let strata = self.strata.strata.iter().flat_map(|s| &s.programs);
        (self.programs.iter().map(Some)).chain(strata.map(Option::as_ref))
    }

    /// What looking at all axioms again takes in memory, in double precision and with all rows: the lists of the plan, parts of
    /// formulas, axioms, what predicates say, and the values of definitions and shared parts.
    pub fn bytes_to_look_again(&self) -> u128 {
        let sizes = [
            (TIMES_LISTS, self.memory_bytes() as u128),
            (BYTES_PER_PART, self.parts() as u128),
            (BYTES_PER_AXIOM, self.axioms.len() as u128),
            (BYTES_PER_ANSWER, self.answers()),
            (BYTES_PER_SPREAD_ANSWER, self.spread_answers()),
            (BYTES_PER_TUPLE, self.tuples()),
        ];
        let all = sizes.into_iter();
        all.map(|(bytes, count)| count.saturating_mul(bytes))
            .fold(0, u128::saturating_add)
    }

    /// How many parts the formulas of all axioms have, families, `all` and `any` written out.
    fn parts(&self) -> usize {
        self.programs.iter().map(|p| p.nodes.len()).sum()
    }

    /// About how many numbers the predicates give, whatever part of them a step sees.
    fn answers(&self) -> u128 {
        // Each part of a formula may need one in each grounding.
        let parts = self.programs.iter().map(|p| p.nodes.len() as u128);
        let axioms = self.axioms.iter().zip(parts);
        let asked = axioms
            .map(|(axiom, parts)| axiom.groundings.saturating_mul(parts))
            .fold(0, u128::saturating_add);
        (self.requests.iter())
            .map(|request| u128::from(request.grid()).min(asked) * request.width as u128)
            .fold(0, u128::saturating_add)
    }

    /// How many of these numbers, plain and negated, every lane may read: lanes share the outermost loop, and other variables
    /// tell more of these numbers apart. Each lane has its own derivatives by them.
    fn spread_answers(&self) -> u128 {
        let mut spread = vec![[false; 2]; self.requests.len()];
        for program in self.programs.iter() {
            for node in program.nodes.iter().filter(|node| node.level != 0) {
                if let program::NodeKind::Literal {
                    request, negated, ..
                } = node.kind
                {
                    let numbers =
                        self.requests[request].grid() * self.requests[request].width as u64;
                    let apart = self.told_apart_outside(program, node);
                    spread[request][usize::from(negated)] |= 2 * apart < numbers;
                }
            }
        }
        let signs = |own: &[bool; 2]| own.iter().filter(|spread| **spread).count() as u128;
        (self.requests.iter().zip(&spread))
            .map(|(request, own)| u128::from(request.grid()) * request.width as u128 * signs(own))
            .fold(0, u128::saturating_add)
    }

    /// About how many numbers the outermost loop around a literal goes past.
    fn told_apart_outside(&self, program: &physical::Physical, node: &physical::Node) -> u64 {
        let (mut level, mut place) = (node.level, node.place);
        loop {
            let physical::SlotSource::Array(index) = place else {
                return 0;
            };
            let (own, add) = (&program.levels[level], &program.levels[level].adds[index]);
            if own.parent != 0 {
                (level, place) = (own.parent, add.from);
                continue;
            }
            let (Some(component), Some(maps)) = (own.components.first(), add.maps.first()) else {
                return 0;
            };
            let step: u64 = (maps.iter())
                .map(|map| {
                    let values = &self.maps[*map].values;
                    let width = match values {
                        program::MapValues::Rows { request, .. } => self.requests[*request].width,
                        _ => 1,
                    };
                    values.step().saturating_mul(width as u64)
                })
                .fold(0, u64::saturating_add);
            return step.saturating_mul(self.components[component.component].len() as u64);
        }
    }

    /// How many values definitions and shared parts have, plain and negated, at each depth that is asked for.
    fn tuples(&self) -> u128 {
        let of = |stratum: &strata::StratumPlan| {
            let signs = stratum.programs.iter().flatten().count();
            (signs * stratum.layers) as u128 * stratum.codes.len() as u128
        };
        self.strata.strata.iter().map(of).sum()
    }

    /// About how much memory the lists of bindings and the maps take.
    pub fn memory_bytes(&self) -> usize {
        let maps = self.maps.iter().map(|m| match &m.values {
            program::MapValues::Plain(values) => 4 * values.len(),
            program::MapValues::Rows { codes, .. } => 12 * codes.len(),
            program::MapValues::Wide(values) => 8 * values.len(),
        });
        let eliminations = self.programs.iter().flat_map(|p| &p.eliminations);
        maps.sum::<usize>()
            + eliminations.map(program::Elimination::bytes).sum::<usize>()
            + self.components.iter().map(Component::bytes).sum::<usize>()
    }
}
