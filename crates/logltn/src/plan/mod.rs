//! The plan: a theory, its data and a semantics, compiled to programs for the engine.

mod account;
pub(crate) mod applied;
mod compile;
mod cost;
mod distances;
mod eliminate;
mod functions;
mod ground;
mod laws;
mod lower;
mod narrow;
pub(crate) mod normal;
mod passes;
pub(crate) mod physical;
pub(crate) mod program;
mod query;
mod shard;
mod show;
mod stream;

use std::sync::Arc;

use crate::data::Data;
use crate::diagnostic::{Diagnostics, memory};
use crate::output::Output;
use crate::semantics::Semantics;
use crate::source::Span;
use crate::theory::{PredicateId, Query};

use compile::{Problem, compile};
pub(crate) use ground::{KeyIds, Leaf, codes, strides};
use passes::Forms;
pub use passes::Pass;
use physical::Physical;
pub use program::ArgumentShape;
use program::{Component, Map, RequestPlan};
use stream::Streaming;

/// A theory compiled for some data, some outputs and a semantics.
///
/// Made once. It holds the lists of bindings that each guard keeps, never a grid, and the argument rows
/// on which each predicate will be asked. [`Engine`](crate::Engine) runs it; `to_string()` shows it.
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
    /// By axiom, if they were to be kept.
    forms: Vec<Forms>,
    warnings: Diagnostics,
    /// What is needed to plan again what depends on rows that come with the call.
    streaming: Option<Streaming>,
}

/// How to plan.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PlanOptions {
    /// Whether quantifiers may be moved inward, where the value and the gradient stay the same and it is cheaper. On
    /// unless switched off.
    pub narrow: bool,
    /// Whether the variables of an `exists` may be eliminated one at a time, likewise.
    pub eliminate: bool,
    /// How many bytes the lists of bindings and the tables of answers may take. A plan that would need more is refused
    /// with the place in the theory that asks for it, instead of exhausting the machine. [What the whole program
    /// may take](crate::memory::limit) unless said otherwise, and never more.
    pub memory: u64,
    /// Whether to keep what each pass made of the axioms, as text for [`Plan::show_pass`].
    pub keep_forms: bool,
    /// Whether other processes have other rows of batched and streamed tables, and other individuals of sorts whose size comes
    /// with the call: [`Engine::evaluate_together`](crate::Engine::evaluate_together). What that cannot be had for is refused.
    pub sharded: bool,
    /// Rewrites wherever that is exact, even where it does not pay: for tests, whose theories are small.
    #[doc(hidden)]
    pub always: bool,
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
    /// All `forall`s up to the first thing else.
    Foralls,
}

impl Default for PlanOptions {
    fn default() -> PlanOptions {
        PlanOptions {
            narrow: true,
            eliminate: true,
            memory: memory::limit(),
            keep_forms: false,
            sharded: false,
            always: false,
            ranked: Ranked::None,
        }
    }
}

impl PlanOptions {
    /// Nothing is rewritten: every formula is evaluated as it was written.
    pub fn as_written() -> PlanOptions {
        PlanOptions {
            narrow: false,
            eliminate: false,
            ..PlanOptions::default()
        }
    }
}

/// A part of an axiom that is evaluated in another form than it was written in.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Rewrite {
    /// As written.
    pub before: String,
    /// The formula that is evaluated instead.
    pub after: String,
    /// About how many operations it would have taken for one binding of the enclosing variables.
    pub cost_before: f64,
    /// About how many it takes.
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
    /// How many bindings of an `exists`' enclosing variables leave it without any binding.
    pub empty_exists: u64,
    /// Where the axiom stands in the theory.
    pub span: Span,
}

impl Plan {
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
        Plan::new_with(&data.with_query(query), outputs, semantics, &options)
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

    /// Leaves only some axioms, such as the members of a family that a phase of training names.
    pub fn retain_axioms(&mut self, keep: impl Fn(&PlannedAxiom) -> bool) {
        let kept: Vec<bool> = self.axioms.iter().map(keep).collect();
        let mut at = kept.iter();
        self.axioms.retain(|_| at.next() == Some(&true));
        let mut at = kept.iter();
        self.programs.retain(|_| at.next() == Some(&true));
        let mut at = kept.iter();
        self.forms.retain(|_| at.next() == Some(&true));
        if let Some(streaming) = &mut self.streaming {
            streaming.retain_axioms(&kept);
        }
    }

    /// The axioms, families written out.
    pub fn axioms(&self) -> &[PlannedAxiom] {
        &self.axioms
    }

    /// What is probably not meant: guards that keep nothing, families without members.
    pub fn warnings(&self) -> &Diagnostics {
        &self.warnings
    }

    /// The semantics it was made for.
    pub fn semantics(&self) -> &Semantics {
        &self.semantics
    }

    /// The data it was made for.
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

    /// The summands of all axioms in order, by axiom; and whether each process has a share of it
    /// ([`PlanOptions::sharded`]).
    pub fn shares(&self) -> Vec<(usize, bool)> {
        let programs = self.programs.iter().enumerate();
        let roots = programs.flat_map(|(i, p)| p.roots.iter().map(move |root| (i, root.sharded)));
        roots.collect()
    }

    /// How many parts the formulas of all axioms have, families, `all` and `any` written out.
    pub fn parts(&self) -> usize {
        self.programs.iter().map(|p| p.nodes.len()).sum()
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
