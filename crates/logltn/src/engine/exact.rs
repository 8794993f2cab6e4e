//! A step of a semantics with exact probabilities: events instead of programs.

use std::sync::Arc;

use super::in_place::{Lent, numbers};
use super::rank::{Order, Ranks};
use super::{Engine, Precision, Wanted};
use crate::diagnostic::{Code, Diagnostic, Diagnostics};
use crate::operators::Settings;
use crate::parameters::Parameters;
use crate::plan::World;
use crate::plan::events::Events;
use crate::plan::events::{Along, Found};
use crate::vector::Real;

impl<T: Precision> Engine<T> {
    pub(super) fn run_exact(
        &mut self,
        parameters: &Parameters,
        wanted: Option<Wanted>,
        lent: Lent<T>,
    ) -> Result<(), Diagnostics> {
        parameters.validate()?;
        (0..self.numbers.len()).try_for_each(|i| self.check_numbers(i, lent))?;
        let Some(mut shared) = self.events.take() else {
            return Ok(());
        };
        let done = self.run_events(Arc::make_mut(&mut shared), parameters, wanted, lent);
        self.events = Some(shared);
        done
    }

    fn run_events(
        &mut self,
        events: &mut Events,
        parameters: &Parameters,
        wanted: Option<Wanted>,
        lent: Lent<T>,
    ) -> Result<(), Diagnostics> {
        let plan = Arc::clone(&self.ground.plan);
        let mut found = vec![Found::default(); plan.axioms.len()];
        {
            let read = |request: usize, at: usize, count: usize, out: &mut [f64]| {
                copy(
                    &numbers(lent, &self.numbers, request, 0)[at..at + count],
                    out,
                );
            };
            events.weigh(&plan, &read);
            match &self.pool {
                Some(pool) => pool.install(|| events.evaluate(&plan, &mut found))?,
                None => events.evaluate(&plan, &mut found)?,
            }
        }
        for (axiom, found) in self.evaluation.axioms.iter_mut().zip(&found) {
            axiom.truth = found.truth;
            axiom.empty_exists = 0;
            axiom.impossible = found.impossible;
        }
        let semantics = plan.semantics;
        let settings = Settings::new(parameters, semantics.stable_eps);
        if self.over_axioms.weights.iter().all(|w| *w == 0.0) {
            (self.evaluation.sat, self.evaluation.loss) = (0.0, 0.0);
            self.derivatives.fill(0.0);
        } else {
            let evaluation = &mut self.evaluation;
            (self.over_axioms).finish(&semantics, &settings, evaluation, &mut self.derivatives);
        }
        let by_axiom = match wanted {
            None => return self.unless_stopped(),
            Some(Wanted::OfLoss) => self.derivatives.clone(),
            Some(Wanted::Of(given)) => {
                let finite = |d: &f64| if d.is_finite() { *d } else { 0.0 };
                given.iter().map(finite).collect()
            }
        };
        let mut gradients: Vec<Vec<f64>> =
            self.numbers.iter().map(|n| vec![0.0; n.len()]).collect();
        {
            let read = |request: usize, at: usize, count: usize, out: &mut [f64]| {
                copy(
                    &numbers(lent, &self.numbers, request, 0)[at..at + count],
                    out,
                );
            };
            events.derive(&plan, &by_axiom, &read, &mut |request, at, value| {
                gradients[request][at] += value;
            });
        }
        for (request, gradient) in gradients.into_iter().enumerate() {
            let to = match lent.get_mut(request) {
                Some(Some(lent)) => lent.gradient.as_deref_mut(),
                _ => None,
            };
            let to = to.unwrap_or(&mut self.gradients[request]);
            // The slope by a degree that is nearly impossible may be too great for any number.
            let most = T::MAX_VALUE.to_f64();
            for (to, from) in to.iter_mut().zip(gradient) {
                *to = T::from_f64(from.clamp(-most, most));
            }
        }
        self.unless_stopped()
    }

    pub(super) fn exact_gradient_norms(&mut self, parameters: &Parameters) -> Vec<f64> {
        let by_axiom = self.derivatives.clone();
        let mut norms = Vec::with_capacity(by_axiom.len());
        for axiom in 0..by_axiom.len() {
            let mut own = vec![0.0; by_axiom.len()];
            own[axiom] = by_axiom[axiom];
            // Every error has been reported before this point.
            if self
                .run_exact(parameters, Some(Wanted::Of(&own)), &mut [])
                .is_err()
            {
                break;
            }
            let squares = (self.gradients.iter().flatten()).map(|g| g.to_f64() * g.to_f64());
            norms.push(squares.sum::<f64>().sqrt());
        }
        norms
    }

    /// The best bindings of each axiom's root under exact probabilities.
    pub(super) fn exact_ranks(
        &mut self,
        parameters: &Parameters,
        order: Order,
        top: usize,
    ) -> Result<Vec<Option<Ranks>>, Diagnostics> {
        self.run_exact(parameters, None, &mut [])?;
        let plan = Arc::clone(&self.ground.plan);
        let Some(events) = &self.events else {
            return Ok(Vec::new());
        };
        let ranks = plan.programs.iter().enumerate().map(|(axiom, program)| {
            program.ranking.as_ref()?;
            Some(Ranks::of(events.ranked(axiom), order, top))
        });
        Ok(ranks.collect())
    }

    fn with_weights<V>(
        &mut self,
        ask: impl FnOnce(&mut Events, &crate::plan::Plan) -> Result<V, Diagnostics>,
    ) -> Result<V, Diagnostics> {
        (0..self.numbers.len()).try_for_each(|i| self.check_numbers(i, &[]))?;
        let Some(mut shared) = self.events.take() else {
            return Err(Diagnostic::error(
                Code::OperatorsDoNotMix,
                "worlds need the semantics `probability`",
            )
            .into());
        };
        let plan = Arc::clone(&self.ground.plan);
        let events = Arc::make_mut(&mut shared);
        let own = &self.numbers;
        let read = |request: usize, at: usize, count: usize, out: &mut [f64]| {
            copy(&own[request][at..at + count], out);
        };
        events.weigh(&plan, &read);
        let done = ask(events, &plan);
        self.events = Some(shared);
        done
    }

    /// For a plan of laws alone: the probability of each atom given the laws, by request, one for each number
    /// of [`Engine::numbers_mut`].
    ///
    /// ```
    /// use logltn::{Data, Engine, Output, Plan, Semantics, Source, Theory};
    /// let theory = Theory::parse(Source::new("t", "
    ///     predicate cat()  predicate animal()
    ///     axiom isa: cat() -> animal()"))?;
    /// let mut data = Data::new(&theory);
    /// data.set_laws(["isa"]);
    /// let semantics = Semantics::named("probability").unwrap();
    /// let mut engine = Engine::<f64>::new(Plan::new(&data, &[Output::truth(); 2], &semantics)?);
    /// (0..2).for_each(|request| engine.numbers_mut(request)[0] = 0.5);
    /// let marginals = engine.marginals()?;
    /// assert!((marginals[0][0] - 1.0 / 3.0).abs() < 1e-12 && (marginals[1][0] - 2.0 / 3.0).abs() < 1e-12);
    /// assert_eq!(engine.world()?.states, [[0], [0]]);
    /// assert!((engine.entropy()? - 3.0_f64.ln()).abs() < 1e-12);
    /// # Ok::<(), logltn::Diagnostics>(())
    /// ```
    pub fn marginals(&mut self) -> Result<Vec<Vec<f64>>, Diagnostics> {
        self.with_weights(|events, plan| events.marginals(plan))
    }

    /// By request and number: whether a law or an axiom mentions it. Answers about worlds leave out the other numbers.
    pub fn in_events(&self) -> Vec<Vec<bool>> {
        let plan = &self.ground.plan;
        (self.events.as_ref()).map_or_else(Vec::new, |events| events.in_use(plan))
    }

    /// The most probable world that keeps all laws, over the atoms that the laws mention.
    pub fn world(&mut self) -> Result<World, Diagnostics> {
        self.with_weights(|events, plan| events.world(plan))
    }

    /// Worlds drawn from the distribution given the laws, each as [`World::states`].
    pub fn sample_worlds(
        &mut self,
        count: usize,
        seed: u64,
    ) -> Result<Vec<Vec<Vec<u32>>>, Diagnostics> {
        self.with_weights(|events, plan| events.sample(plan, count, seed))
    }

    /// The entropy, in nats, of the atoms that the laws mention, given the laws.
    pub fn entropy(&mut self) -> Result<f64, Diagnostics> {
        self.with_weights(|events, plan| events.entropy(plan))
    }

    /// By request, the derivative by its numbers of the sum of all [`Engine::marginals`], each times what is given; without
    /// anything given, of [`Engine::entropy`].
    pub fn derive_worlds(
        &mut self,
        along: Option<&[Vec<f64>]>,
    ) -> Result<Vec<Vec<f64>>, Diagnostics> {
        let mut gradients: Vec<Vec<f64>> =
            self.numbers.iter().map(|n| vec![0.0; n.len()]).collect();
        let own: Vec<Vec<f64>> = (self.numbers.iter())
            .map(|n| n.iter().map(|x| x.to_f64()).collect())
            .collect();
        self.with_weights(|events, plan| {
            let along = along.map_or(Along::Entropy, Along::Given);
            let read = |request: usize, at: usize, count: usize, out: &mut [f64]| {
                out.copy_from_slice(&own[request][at..at + count]);
            };
            events.derive_marginals(plan, along, &read, &mut |request, at, value| {
                gradients[request][at] += value;
            })
        })?;
        Ok(gradients)
    }
}

fn copy<T: Real>(from: &[T], to: &mut [f64]) {
    to.iter_mut()
        .zip(from)
        .for_each(|(to, from)| *to = from.to_f64());
}
