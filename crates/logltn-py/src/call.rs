//! One evaluation: values go from Python's arrays into the requests, and gradients come back.

mod layout;
mod valid;
mod value;

use std::borrow::Cow;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use std::time::{Duration, Instant};

use logltn::Precision as Real;
use logltn::theory::{PredicateId, TableId};
use logltn::{
    ArgumentShape, Code, ColumnData, Diagnostic, Diagnostics, Engine, Evaluation, Exchange,
    ExportedBatch, InPlace, OutputKind, Parameters, Plan, Request, StandIns, Wanted,
};

use crate::array::View;
use crate::coming::Setting;
use crate::ctrl_c::{CtrlC, compute};
use crate::prepared::Prepared;
use layout::{Layout, applies, name};
use valid::{in_range, unmask, wrong_number, wrong_value};

pub use layout::different;
pub use value::{GivenShape, Holds, Target, Value, at_rows};

/// Which gradient is wanted, if any.
pub enum Gradient {
    None,
    OfLoss,
    /// Of a function with these derivatives with respect to the axioms.
    Of(Vec<f64>),
}

/// What a call computes.
pub struct Work<'a> {
    pub parameters: &'a Parameters,
    pub values: &'a [Value],
    pub gradient: &'a Gradient,
    /// Weights of this call, by axiom.
    pub weights: &'a [(usize, f64)],
}

/// An engine, and where the numbers of its requests come from.
pub struct State<T: Real> {
    engine: Engine<T>,
    layout: Layout,
    /// What the numbers of each predicate mean (truths, logits, …).
    kinds: Vec<OutputKind>,
    /// The rows that tables are restricted to.
    batch: Batch,
    /// Plans reused across calls, if that is possible.
    prepared: Option<Prepared<T>>,
    /// The individuals behind the plan's stand-ins.
    who: Vec<Who>,
    /// How long it took to choose the rows of this call and to evaluate them.
    took: Duration,
    calls: u64,
    /// The per-call data that were set last, and whether by rows.
    last: Option<(Arc<Setting>, bool)>,
    /// Changes whenever the requests do; never repeats in this process.
    version: u64,
    /// Listens for interrupts during long computations.
    ctrl_c: Option<Arc<CtrlC>>,
    /// How many plans were made for calls.
    plans: u64,
    /// Whether axioms without bindings are left out of the mean over axioms.
    pub leave_out_empty: bool,
    /// For each request, the numbers of this call that were −∞: masked numbers have no derivative.
    masked: Vec<(usize, Vec<usize>)>,
}

/// A call with at least this much work counts as long: some tens of milliseconds.
const LONG: u64 = 1 << 24;
/// From this many rows and individuals on, planning a call counts as long.
const MANY: usize = 256;

static VERSIONS: AtomicU64 = AtomicU64::new(0);

/// What networks are asked, identified so that answers can be matched even if something else is asked in
/// between.
pub struct Question {
    setting: Arc<Setting>,
    version: u64,
    /// For a plan reused across calls: the plan, and what the call selects from it.
    chosen: Option<(Arc<Plan>, Batch, Vec<Who>)>,
}

impl Question {
    /// The plan, if it is reused across calls.
    pub fn plan(&self) -> Option<&Arc<Plan>> {
        self.chosen.as_ref().map(|(plan, ..)| plan)
    }
}

/// The rows that networks are queried at, each once and in order.
pub struct AskedRows {
    pub predicate: PredicateId,
    pub shape: Vec<ArgumentShape>,
    pub arity: usize,
    pub count: usize,
    pub individuals: Vec<u32>,
}

impl From<&Request> for AskedRows {
    fn from(request: &Request) -> AskedRows {
        AskedRows {
            predicate: request.predicate,
            shape: request.shape.clone(),
            arity: request.arity,
            count: request.rows(),
            individuals: request.individuals().to_vec(),
        }
    }
}

/// Some rows of tables.
type Batch = Vec<(TableId, Vec<u32>)>;

/// The individuals behind a plan's stand-ins in a call.
#[derive(Clone)]
struct Who {
    stand_ins: StandIns,
    /// How many individuals the call has, if the plan does not know.
    size: Option<usize>,
    /// By stand-in.
    individuals: Vec<u32>,
}

/// A request's predicate, and where its rows are in arrays.
pub type Places = (
    usize,
    Option<Vec<usize>>,
    Option<Vec<usize>>,
    Option<Vec<usize>>,
);

/// A plan reused across calls, what a call selects from it, and where the rows of its requests are in arrays.
pub type Choice = (Arc<Plan>, ExportedBatch, Vec<Places>);

impl<T: Real> State<T> {
    pub fn new(
        engine: Engine<T>,
        prepared: Option<Prepared<T>>,
        ctrl_c: Option<Arc<CtrlC>>,
    ) -> State<T> {
        let predicates = 0..engine.plan().data().theory().predicates.len() as u32;
        let kind = |p| engine.plan().output(PredicateId(p)).kind;
        let mut state = State {
            kinds: predicates.map(kind).collect(),
            engine,
            layout: Layout::default(),
            batch: Vec::new(),
            prepared,
            who: Vec::new(),
            took: Duration::ZERO,
            calls: 0,
            last: None,
            version: 0,
            ctrl_c,
            plans: 0,
            leave_out_empty: false,
            masked: Vec::new(),
        };
        state.lay_out();
        state
    }

    /// For the answers to a question that was asked of a plan reused across calls.
    pub fn of_question(
        engine: impl FnOnce(&Arc<Plan>) -> Result<Engine<T>, Diagnostics>,
        question: &Question,
    ) -> Result<Option<State<T>>, Diagnostics> {
        let Some((plan, batch, who)) = &question.chosen else {
            return Ok(None);
        };
        let mut state = State::new(engine(plan)?, None, None);
        state.who = who.clone();
        state.set_batches(&[], batch.clone())?;
        state.find_different();
        Ok(Some(state))
    }

    pub fn engine(&self) -> &Engine<T> {
        &self.engine
    }

    pub fn engine_mut(&mut self) -> &mut Engine<T> {
        &mut self.engine
    }

    pub fn into_engine(self) -> Engine<T> {
        self.engine
    }

    /// Sets the batches and the call's own data. With `by_rows`, rows are identified by their order in the requests, which must
    /// then depend on this call alone.
    pub fn set(&mut self, setting: &Arc<Setting>, by_rows: bool) -> Result<(), Diagnostics> {
        if !setting.streams {
            return self.set_batches(&setting.batch, Vec::new());
        }
        if let Some((last, last_by_rows)) = &self.last
            && (*last_by_rows == by_rows || (by_rows && !self.is_lent()))
            && (Arc::ptr_eq(last, setting) || last == setting)
        {
            return Ok(());
        }
        self.last = None;
        let done = self.set_streams(setting, by_rows);
        self.last = done.is_ok().then(|| (Arc::clone(setting), by_rows));
        done
    }

    fn set_streams(&mut self, setting: &Setting, by_rows: bool) -> Result<(), Diagnostics> {
        self.who.clear();
        let Some(mut prepared) = self.prepared.take() else {
            return self.stream(setting);
        };
        prepared.give_back(&mut self.engine, &mut self.batch);
        self.calls += 1;
        let lent = match by_rows {
            true => None,
            false => prepared.lend(setting, &mut self.engine, self.calls),
        };
        let done = match lent {
            Some(lent) => {
                self.batch = lent.chosen;
                let who = lent.who.into_iter().map(|(stand_ins, individuals)| {
                    let mut sizes = setting.sizes.iter().filter(|_| stand_ins.alone);
                    let size = sizes.find(|(sort, _)| *sort == stand_ins.of);
                    Who {
                        stand_ins,
                        size: size.map(|(_, size)| *size),
                        individuals,
                    }
                });
                self.who = who.collect();
                self.set_batches(&setting.batch, lent.rows)
            }
            None => {
                let done = self.stream(setting);
                if done.is_ok() && !by_rows {
                    let ctrl_c = self.heard_while_planning(setting);
                    let learnt = compute(ctrl_c.as_deref(), || prepared.learn(setting));
                    self.plans += u64::from(learnt);
                }
                done
            }
        };
        self.prepared = Some(prepared);
        done
    }

    /// The listener while planning a call's data, if that may take long.
    fn heard_while_planning(&self, setting: &Setting) -> Option<Arc<CtrlC>> {
        let rows = setting.rows.iter().flat_map(|(_, columns)| columns.first());
        let sizes = setting.sizes.iter().map(|(_, size)| *size);
        let all = rows.map(ColumnData::len).chain(sizes).sum::<usize>();
        self.ctrl_c.clone().filter(|_| all >= MANY)
    }

    /// How many plans were made for calls.
    pub fn plans(&self) -> u64 {
        self.plans
    }

    /// Plans the data of the call.
    fn stream(&mut self, setting: &Setting) -> Result<(), Diagnostics> {
        self.plans += 1;
        let ctrl_c = self.heard_while_planning(setting);
        let plan = || (self.engine).stream(&setting.sizes, setting.rows.clone());
        let done = compute(ctrl_c.as_deref(), plan);
        // All rows take part again.
        self.batch.clear();
        self.lay_out();
        done.and_then(|()| self.set_batches(&setting.batch, Vec::new()))
    }

    /// Whether the engine belongs to a plan reused across calls.
    fn is_lent(&self) -> bool {
        self.prepared.as_ref().is_some_and(Prepared::is_lent)
    }

    /// The plan that a call selects rows from, and the selection: after [`State::set`]. `None` if the plan was made for this call alone,
    /// or if the call uses all of it.
    pub fn choice(&self, setting: &Setting) -> Option<Choice> {
        let chooses = !self.batch.is_empty() && (!setting.streams || self.is_lent());
        chooses.then(|| self.choice_of_this())
    }

    fn choice_of_this(&self) -> Choice {
        let batch = self.engine.export_batch();
        (Arc::clone(self.engine.plan()), batch, self.places())
    }

    /// Runs something with the plan a question was about, whatever was asked meanwhile, and with its selection if the plan is
    /// reused across calls.
    pub fn asked<R>(
        &mut self,
        question: &Question,
        engine: impl FnOnce(&Arc<Plan>) -> Result<Engine<T>, Diagnostics>,
        run: impl FnOnce(&State<T>, Option<Choice>) -> Result<R, Diagnostics>,
    ) -> Result<R, Diagnostics> {
        if self.version == question.version {
            let prepared = question.plan().is_some();
            return run(self, prepared.then(|| self.choice_of_this()));
        }
        match State::of_question(engine, question)? {
            Some(own) => run(&own, Some(own.choice_of_this())),
            None => {
                self.set(&question.setting, true)?;
                run(self, None)
            }
        }
    }

    /// What networks have to be asked now.
    pub fn ask(&mut self, setting: &Arc<Setting>) -> (Question, Vec<AskedRows>) {
        self.find_different();
        let chosen = self.is_lent().then(|| {
            (
                Arc::clone(self.engine.plan()),
                self.batch.clone(),
                self.who.clone(),
            )
        });
        let question = Question {
            setting: Arc::clone(setting),
            version: self.version,
            chosen,
        };
        let requests = self.engine.requests().iter().enumerate();
        let rows = requests.map(|(i, request)| {
            let mut asked = AskedRows::from(request);
            asked.shape.iter_mut().for_each(|s| name(s, &self.who));
            if let Some(actual) = &self.layout.individuals[i] {
                asked.individuals.clone_from(actual);
            }
            if let Some((places, count)) = &self.layout.different[i] {
                let rows = std::mem::take(&mut asked.individuals);
                asked.individuals.resize(count * asked.arity, 0);
                for (row, place) in rows.chunks_exact(asked.arity).zip(places) {
                    asked.individuals[place * asked.arity..][..asked.arity].copy_from_slice(row);
                }
                asked.count = *count;
            }
            asked
        });
        let rows = rows.collect();
        (question, rows)
    }

    /// Restricts these tables to some rows; the others keep all of theirs.
    fn set_batches(
        &mut self,
        batch: &[(TableId, Vec<u32>)],
        chosen: Batch,
    ) -> Result<(), Diagnostics> {
        // The individuals of the selected rows change with each call.
        let same_people = chosen.is_empty();
        let mut batch = batch.to_vec();
        batch.extend(chosen);
        if batch == self.batch {
            if !same_people {
                self.lay_out();
            }
            return Ok(());
        }
        let data = self.engine.plan().data();
        let mut whole = Vec::new();
        for (i, _) in data.theory().tables.iter().enumerate() {
            let table = TableId(i as u32);
            let rows = data
                .table(table)
                .filter(|t| t.batched)
                .map(|t| t.rows as u32);
            if let Some(rows) = rows.filter(|_| !batch.iter().any(|(t, _)| *t == table)) {
                whole.push((table, (0..rows).collect::<Vec<u32>>()));
            }
        }
        let all = batch.iter().chain(&whole);
        let done = self
            .engine
            .set_batches(all.map(|(table, rows)| (*table, &rows[..])));
        self.batch = if done.is_ok() { batch } else { Vec::new() };
        self.lay_out();
        done
    }

    fn applied(&self, predicate: PredicateId) -> Diagnostics {
        let name = &self.engine.plan().data().theory()[predicate].name;
        let message = format!(
            "predicate `{name}` is asked about values of functions, which cannot be listed"
        );
        Diagnostic::error(Code::CannotPredict, message)
            .help("let the knowledge base run the networks: `logltn.torch.KnowledgeBase(…, predicates=…, functions=…)`")
            .into()
    }

    /// One call, with the seconds it took to choose the rows and to evaluate them.
    pub fn call(
        &mut self,
        (setting, by_rows): (&Arc<Setting>, bool),
        work: &Work,
        exchange: Option<&mut Exchange<'_>>,
    ) -> Result<(Evaluation, f64), Diagnostics> {
        let begun = Instant::now();
        self.set(setting, by_rows)?;
        self.took = begun.elapsed();
        let evaluation = self.evaluate(work, exchange)?;
        Ok((evaluation, self.took.as_secs_f64()))
    }

    /// One call with answers to a question. If something else was asked meanwhile, the plan of that question is looked up or made
    /// again: `engine` runs a plan.
    pub fn answer(
        &mut self,
        question: &Question,
        engine: impl FnOnce(&Arc<Plan>) -> Result<Engine<T>, Diagnostics>,
        work: &Work,
        exchange: Option<&mut Exchange<'_>>,
    ) -> Result<(Evaluation, f64), Diagnostics> {
        if self.version != question.version {
            if let Some(mut own) = State::of_question(engine, question)? {
                own.leave_out_empty = self.leave_out_empty;
                let evaluation = own.evaluate(work, exchange)?;
                return Ok((evaluation, own.took.as_secs_f64()));
            }
            let call = (&question.setting, true);
            return self.call(call, work, exchange);
        }
        self.took = Duration::ZERO;
        let evaluation = self.evaluate(work, exchange)?;
        Ok((evaluation, self.took.as_secs_f64()))
    }

    /// Evaluates, and writes gradients into the arrays given for them.
    pub fn evaluate(
        &mut self,
        work: &Work,
        exchange: Option<&mut Exchange<'_>>,
    ) -> Result<Evaluation, Diagnostics> {
        self.check(work.values)?;
        let weights = self.weigh(work.weights)?;
        let done = self.compute(work, exchange);
        if let Some(before) = weights {
            self.engine.set_weights(before.into_iter().enumerate())?;
        }
        done
    }

    /// Sets the weights of a call; returns the previous ones, to be restored, if they differ.
    fn weigh(&mut self, weights: &[(usize, f64)]) -> Result<Option<Vec<f64>>, Diagnostics> {
        let before = self.engine.weights();
        let nothing = |axiom: &usize| self.leave_out_empty && self.engine.is_about_nothing(*axiom);
        let left_out: Vec<usize> = (0..before.len()).filter(nothing).collect();
        if weights.is_empty() && left_out.is_empty() {
            return Ok(None);
        }
        let before = before.to_vec();
        self.engine.set_weights(weights.iter().copied())?;
        // With no axioms left, everything is true.
        let rest = self.engine.weights().iter().enumerate();
        if rest
            .filter(|(i, _)| !left_out.contains(i))
            .any(|(_, w)| *w > 0.0)
        {
            self.engine
                .set_weights(left_out.into_iter().map(|axiom| (axiom, 0.0)))?;
        }
        Ok(Some(before))
    }

    /// Numbers in the engine's own format are read in place, and gradients are written in place.
    fn compute(
        &mut self,
        work: &Work,
        mut exchange: Option<&mut Exchange<'_>>,
    ) -> Result<Evaluation, Diagnostics> {
        let Work {
            parameters,
            values,
            gradient,
            ..
        } = *work;
        self.masked.clear();
        let mut lent: Vec<Option<InPlace<T>>> = Vec::new();
        lent.resize_with(self.engine.requests().len(), || None);
        for value in values {
            if !self.lend(value, &mut lent) {
                self.gather(value)?;
            }
        }
        let wanted = match gradient {
            Gradient::None => None,
            Gradient::OfLoss => Some(Wanted::OfLoss),
            Gradient::Of(by_axiom) => Some(Wanted::Of(by_axiom)),
        };
        let mut again = false;
        let evaluation = loop {
            let begun = Instant::now();
            let engine = &mut self.engine;
            let ctrl_c = self.ctrl_c.as_deref().filter(|_| engine.work() >= LONG);
            let done = match &mut exchange {
                None => compute(ctrl_c, || {
                    (engine.evaluate_in_place(parameters, wanted, &mut lent)).cloned()
                }),
                Some(exchange) => {
                    (engine.evaluate_together(parameters, wanted, &mut lent, exchange)).cloned()
                }
            };
            self.took += begun.elapsed();
            match done {
                Ok(evaluation) => break evaluation,
                Err(errors) => {
                    // The engine reports its own row numbers; the caller wants positions in the array. And the engine cannot know which
                    // numbers of a borrowed array are masked.
                    self.masked.clear();
                    values.iter().try_for_each(|value| self.gather(value))?;
                    if again || self.masked.is_empty() {
                        return Err(errors);
                    }
                    again = true;
                    lent.iter_mut().for_each(|numbers| *numbers = None);
                }
            }
        };
        let written: Vec<bool> = (lent.iter())
            .map(|l| l.as_ref().is_some_and(|l| l.gradient.is_some()))
            .collect();
        for value in values {
            let Some(to) = &value.gradient else { continue };
            let own = self.layout.requests(&value.target);
            for (at, &request) in own.iter().enumerate() {
                if written[request] {
                    continue;
                }
                let of = &self.engine.requests()[request];
                let rows = self.layout.rows(value.target, at, request, of);
                let gradient = self.unmasked(request);
                // SAFETY: the gradient has the shape of the values, whose positions were checked; Python owns it and it is
                // new.
                unsafe { to.scatter(&rows, &gradient, at == 0) };
            }
            if own.is_empty() {
                // SAFETY: likewise.
                unsafe { to.zero() };
            }
        }
        Ok(evaluation)
    }

    /// The gradient with respect to a request's numbers, except for masked ones.
    fn unmasked(&self, request: usize) -> Cow<'_, [T]> {
        let gradient = self.engine.gradient(request);
        let Some((_, masked)) = self.masked.iter().find(|(of, _)| *of == request) else {
            return Cow::Borrowed(gradient);
        };
        let mut gradient = gradient.to_vec();
        for &at in masked {
            gradient[at] = T::ZERO;
        }
        Cow::Owned(gradient)
    }

    /// Lends the engine an array in place, if all requests for it can use it so; its gradient too, if only one request uses
    /// the array.
    fn lend<'v>(&self, value: &'v Value, lent: &mut [Option<InPlace<'v, T>>]) -> bool {
        let own = self.layout.requests(&value.target);
        let kind = |request: usize| {
            let predicate = self.engine.requests()[request].predicate;
            self.kinds[predicate]
        };
        // SAFETY: whoever made the value keeps its array alive and in place for the duration of the
        // call.
        let Some(numbers) = (unsafe { value.values.numbers::<T>() }) else {
            return false;
        };
        let fits = |(at, &request): (usize, &usize)| {
            let of = &self.engine.requests()[request];
            let rows = self.layout.rows(value.target, at, request, of);
            rows.places.is_none() && of.rows() * of.width == numbers.len()
        };
        if own.is_empty() || !own.iter().enumerate().all(fits) || !in_range(kind(own[0]), numbers) {
            return false;
        }
        for &request in own {
            lent[request] = Some(InPlace {
                numbers,
                gradient: None,
            });
        }
        if let ([only], Some(gradient)) = (own, &value.gradient) {
            // SAFETY: likewise; Python owns it and it is new, so nobody else accesses it.
            let gradient = unsafe { gradient.numbers_mut::<T>() };
            if let Some(InPlace { gradient: to, .. }) = &mut lent[*only] {
                *to = gradient.filter(|g| g.len() == numbers.len());
            }
        }
        true
    }

    /// Gives the engine the numbers of its requests.
    pub fn take(&mut self, values: &[Value]) -> Result<(), Diagnostics> {
        self.check(values)?;
        values.iter().try_for_each(|value| self.gather(value))
    }

    /// Checks that the values are present and have the right shape.
    pub fn check(&self, values: &[Value]) -> Result<(), Diagnostics> {
        let theory = self.engine.plan().data().theory();
        let (mut found, given) = self.shapes(values);
        for (i, predicate) in theory.predicates.iter().enumerate() {
            if !given[i] && !self.layout.predicates[i].requests.is_empty() {
                let message = format!("predicate `{}` has no values", predicate.name);
                let shape = self.layout.predicates[i].shape.as_deref();
                let help = shape.map(|s| format!("give an array of shape {}", tuple(s)));
                found.push(
                    Diagnostic::error(Code::NotGrounded, message)
                        .at(&theory.source, predicate.span, "")
                        .maybe_help(help),
                );
            }
        }
        found.into_result(()).map(drop)
    }

    /// What is wrong with the shapes of values, and which predicates are given.
    pub fn shapes(&self, values: &[Value]) -> (Diagnostics, Vec<bool>) {
        let plan = self.engine.plan();
        let theory = plan.data().theory();
        let requests = self.engine.requests();
        let mut found = Diagnostics::new();
        let mut given = vec![false; theory.predicates.len()];
        for value in values {
            let (predicate, expected) = match value.target {
                Target::Grid(predicate) => {
                    let asked = &self.layout.predicates[predicate];
                    let own = asked.requests.iter().map(|&r| &requests[r]);
                    if own.into_iter().any(applies) {
                        found.extend(self.applied(predicate));
                        continue;
                    }
                    let Some(shape) = &asked.shape else {
                        let name = &theory[predicate].name;
                        let message = format!(
                            "predicate `{name}` takes numbers, so there is no array of its values"
                        );
                        let help = format!("give `logltn.AtRows(…)` on `kb.rows(\"{name}\")`");
                        found.push(Diagnostic::error(Code::VectorArgument, message).help(help));
                        continue;
                    };
                    (predicate, shape.clone())
                }
                Target::AtRows(predicate) => {
                    let asked = &self.layout.predicates[predicate];
                    if (asked.requests.iter()).any(|&r| applies(&requests[r])) {
                        found.extend(self.applied(predicate));
                        continue;
                    }
                    let mut shape = vec![self.at_rows(predicate).count];
                    if plan.output(predicate).per_class {
                        let classes = asked.shape.as_ref().and_then(|s| s.last().copied());
                        shape.push(classes.unwrap_or(0));
                    }
                    (predicate, shape)
                }
                Target::Request(request) => {
                    let different = self.layout.different.get(request);
                    let different = different.and_then(|d| d.as_ref().map(|(_, count)| *count));
                    let request = &requests[request];
                    let mut shape = vec![different.unwrap_or(request.rows())];
                    if plan.output(request.predicate).per_class {
                        shape.push(request.width);
                    }
                    (request.predicate, shape)
                }
            };
            given[predicate] = true;
            if value.values.shape != expected {
                found.push(self.wrong_shape(predicate, value, &expected));
            }
            let writable = |g: &View| g.writable && g.shape == expected;
            if !value.gradient.as_ref().is_none_or(writable) && !found.has_errors() {
                let message = "the array for a gradient does not fit";
                found.push(Diagnostic::error(Code::Internal, message));
            }
        }
        (found, given)
    }

    fn wrong_shape(&self, predicate: PredicateId, value: &Value, expected: &[usize]) -> Diagnostic {
        let plan = self.engine.plan();
        let theory = plan.data().theory();
        let declared = &theory[predicate];
        let per_class = plan.output(predicate).per_class;
        let why = match value.target {
            Target::Grid(_) => {
                let last = declared.arguments.len().saturating_sub(1);
                let axes = declared.arguments.iter().zip(expected).enumerate();
                let axes = axes.map(|(i, (sort, size))| {
                    let classes = if per_class && i == last {
                        ", the classes"
                    } else {
                        ""
                    };
                    format!("{size} of `{}`{classes}", theory.argument_sort_name(sort))
                });
                match declared.arguments.len() {
                    0 => "a proposition is one number".to_string(),
                    _ => format!(
                        "an axis for each argument: {}",
                        axes.collect::<Vec<_>>().join(" × ")
                    ),
                }
            }
            _ if per_class => {
                "a row for each row that it is asked about, with a number for each class".into()
            }
            _ => "a number for each row that it is asked about".to_string(),
        };
        let message = format!(
            "the values of predicate `{}` have shape {}, but must have {}: {why}",
            declared.name,
            tuple(&value.values.shape),
            tuple(expected),
        );
        Diagnostic::error(Code::WrongShape, message).at(&theory.source, declared.span, "")
    }

    /// Copies the numbers that are requested, and checks that they are valid for their kind.
    fn gather(&mut self, value: &Value) -> Result<(), Diagnostics> {
        for (at, &request) in self.layout.requests(&value.target).iter().enumerate() {
            let (of, numbers) = self.engine.request_and_numbers(request);
            let rows = self.layout.rows(value.target, at, request, of);
            // SAFETY: the shape was checked, and rows are within it.
            unsafe { value.values.gather(&rows, numbers) };
            let predicate = of.predicate;
            let width = rows.width;
            let kind = self.kinds[predicate];
            let masked = unmask(kind, numbers, width);
            let wrong = wrong_number(kind, numbers);
            let wrong = wrong.map(|at| {
                let index = value.values.index_of(&rows, at / width, at % width);
                (index, numbers[at].to_f64())
            });
            if let Some((index, number)) = wrong {
                let name = &self.engine.plan().data().theory()[predicate].name;
                return Err(wrong_value(name, kind, &index, number).into());
            }
            if !masked.is_empty() {
                self.masked.push((request, masked));
            }
        }
        Ok(())
    }
}

pub fn join(numbers: &[usize]) -> String {
    let numbers: Vec<String> = numbers.iter().map(usize::to_string).collect();
    numbers.join(", ")
}

/// As Python writes it.
fn tuple(shape: &[usize]) -> String {
    match shape {
        [one] => format!("({one},)"),
        _ => format!("({})", join(shape)),
    }
}
