//! One evaluation: values go from Python's arrays into the requests, and gradients come back.

use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use logltn::Precision as Real;
use logltn::theory::{ArgumentSort, PredicateId, SortId, TableId};
use logltn::{
    ArgumentShape, Code, ColumnData, Diagnostic, Diagnostics, Engine, Evaluation, Exchange,
    ExportedBatch, InPlace, OutputKind, Parameters, Plan, Request, StandIns, Wanted,
};

use crate::array::{Rows, View};
use crate::coming::Setting;
use crate::ctrl_c::{CtrlC, compute};
use crate::prepared::Prepared;

/// Which numbers an array holds.
#[derive(Clone, Copy)]
pub enum Target {
    /// One for each tuple of individuals.
    Grid(PredicateId),
    /// One for each row that a predicate is queried at.
    AtRows(PredicateId),
    /// One for each row of a request.
    Request(usize),
}

pub struct Value {
    pub target: Target,
    pub values: View,
    pub gradient: Option<View>,
}

/// The predicates that are given at rows.
pub fn at_rows(given: &[Value]) -> Vec<PredicateId> {
    let at_rows = |value: &Value| match value.target {
        Target::AtRows(predicate) => Some(predicate),
        _ => None,
    };
    given.iter().filter_map(at_rows).collect()
}

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

/// Where the rows of requests are in arrays.
#[derive(Default)]
struct Layout {
    /// By predicate.
    predicates: Vec<Asked>,
    /// For each request: the rows in a dense array, `None` if they are the same.
    places: Vec<Option<Vec<usize>>>,
    /// For each request: the individuals of its rows, if the plan numbers them differently.
    individuals: Vec<Option<Vec<u32>>>,
    /// For each request, computed on demand: the positions of its rows among the distinct ones, and how many those are;
    /// `None` if all are distinct and in order.
    different: Vec<Option<(Vec<usize>, usize)>>,
}

#[derive(Default)]
struct Asked {
    requests: Vec<usize>,
    /// The shape of an array with a number for each tuple, if such an array is possible.
    shape: Option<Vec<usize>>,
    /// The distinct rows of all requests, computed on demand.
    at_rows: OnceLock<AtRows>,
}

/// The distinct rows that a predicate is queried at, in the order of their arguments: independent of what else the plan was made for.
struct AtRows {
    count: usize,
    /// For each request, the positions of its rows among all of them; `None` if there is only one request.
    among: Option<Vec<Vec<usize>>>,
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

/// Truths slightly outside their range are rounding errors and are clamped.
const ROUNDING: f64 = 1e-6;
/// The log of a masked truth: the floor of log space.
const MASKED: f64 = -1e5;

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
        (self.engine.shared_plan(), batch, self.places())
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
                self.engine.shared_plan(),
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

    /// Finds equal rows whose individuals differ in the plan, once per layout.
    fn find_different(&mut self) {
        if !self.layout.different.is_empty() {
            return;
        }
        let requests = self.engine.requests().iter().zip(&self.layout.individuals);
        let different =
            requests.map(|(request, actual)| different(actual.as_ref()?, request.arity));
        self.layout.different = different.collect();
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

    fn lay_out(&mut self) {
        let plan = self.engine.plan();
        let (theory, requests) = (plan.data().theory(), self.engine.requests());
        let size = |sort: SortId| {
            let who = self.who.iter().find(|who| who.stand_ins.of == sort);
            who.and_then(|who| who.size)
                .unwrap_or_else(|| plan.data().extent(sort))
        };
        let mut predicates: Vec<Asked> = (theory.predicates.iter())
            .map(|p| Asked {
                shape: shape(&size, &p.arguments),
                ..Asked::default()
            })
            .collect();
        let mut places = Vec::with_capacity(requests.len());
        let mut individuals = Vec::with_capacity(requests.len());
        for (i, request) in requests.iter().enumerate() {
            let asked = &mut predicates[request.predicate.index()];
            if request.rows() > 0 {
                asked.requests.push(i);
            }
            let actual = actual_individuals(request, &self.who);
            let rows = actual.as_deref().unwrap_or(request.individuals());
            let shape = asked.shape.as_deref();
            places.push(shape.and_then(|s| dense_places(request, rows, s)));
            individuals.push(actual);
        }
        self.layout = Layout {
            predicates,
            places,
            individuals,
            different: Vec::new(),
        };
        self.version = VERSIONS.fetch_add(1, Ordering::Relaxed) + 1;
    }

    /// For each request: its predicate, and the positions of its rows in an array with an axis for each argument,
    /// in an array of the queried rows, and among those that networks are asked about; `None` if they are its rows
    /// in order.
    pub fn places(&self) -> Vec<Places> {
        let requests = self.engine.requests().iter().enumerate();
        let places = requests.map(|(i, request)| {
            let asked = &self.layout.predicates[request.predicate.index()];
            let at = asked.requests.iter().position(|r| *r == i);
            let among = self.at_rows(request.predicate).among.as_ref();
            let among = among.zip(at).map(|(all, at)| all[at].clone());
            let predicate = request.predicate.index();
            let different = self.layout.different.get(i).and_then(Option::as_ref);
            let different = different.map(|(places, _)| places.clone());
            (predicate, self.layout.places[i].clone(), among, different)
        });
        places.collect()
    }

    /// The rows that a predicate is queried at.
    pub fn rows(&self, predicate: PredicateId) -> Result<(Vec<u32>, usize), Diagnostics> {
        let asked = &self.layout.predicates[predicate.index()];
        let requests = self.engine.requests();
        if asked.requests.iter().any(|&r| applies(&requests[r])) {
            return Err(self.applied(predicate));
        }
        let Some(arity) = asked.requests.first().map(|&r| requests[r].arity) else {
            let plan = self.engine.plan();
            let arguments = plan.data().theory()[predicate].arguments.len();
            let per_class = usize::from(plan.output(predicate).per_class);
            return Ok((Vec::new(), arguments.saturating_sub(per_class)));
        };
        let at_rows = self.at_rows(predicate);
        let mut rows = vec![0; at_rows.count * arity];
        for (at, &request) in asked.requests.iter().enumerate() {
            let own = self.individuals(request).chunks_exact(arity.max(1));
            for (row, individuals) in own.enumerate() {
                let among = at_rows.among.as_ref().map_or(row, |a| a[at][row]);
                rows[among * arity..(among + 1) * arity].copy_from_slice(individuals);
            }
        }
        Ok((rows, arity))
    }

    /// The individuals of a request's rows, as the call numbers them.
    fn individuals(&self, request: usize) -> &[u32] {
        let actual = self.layout.individuals[request].as_deref();
        actual.unwrap_or(self.engine.requests()[request].individuals())
    }

    /// The distinct rows of all requests for a predicate.
    fn at_rows(&self, predicate: PredicateId) -> &AtRows {
        let asked = &self.layout.predicates[predicate.index()];
        asked.at_rows.get_or_init(|| {
            let requests = self.engine.requests();
            let numbered = |r: &Request| r.shape.contains(&ArgumentShape::Number);
            match asked.requests[..] {
                [only] if !numbered(&requests[only]) => {
                    let request = &requests[only];
                    let actual = self.layout.individuals[only].as_ref();
                    match actual.and_then(|rows| different(rows, request.arity)) {
                        Some((places, count)) => AtRows {
                            count,
                            among: Some(vec![places]),
                        },
                        None => AtRows {
                            count: request.rows(),
                            among: None,
                        },
                    }
                }
                ref own => {
                    let keys: Vec<Vec<Vec<u64>>> =
                        own.iter().map(|&r| self.keys(r).collect()).collect();
                    let mut all: Vec<&Vec<u64>> = keys.iter().flatten().collect();
                    all.sort_unstable();
                    all.dedup();
                    let place = |key: &Vec<u64>| all.partition_point(|known| *known < key);
                    let among = keys.iter().map(|keys| keys.iter().map(place).collect());
                    AtRows {
                        among: Some(among.collect()),
                        count: all.len(),
                    }
                }
            }
        })
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
            self.kinds[predicate.index()]
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

    /// The rows that a predicate is queried at, by their arguments, in the order of an array at rows.
    pub fn known_rows(&self, predicate: PredicateId) -> HashMap<Vec<u64>, usize> {
        let asked = &self.layout.predicates[predicate.index()];
        let among = self.at_rows(predicate).among.as_ref();
        let mut known = HashMap::new();
        for (at, &request) in asked.requests.iter().enumerate() {
            for (row, key) in self.keys(request).enumerate() {
                known.insert(key, among.map_or(row, |a| a[at][row]));
            }
        }
        known
    }

    /// Declares that an array at rows has these rows; the requests may want some of them in another
    /// order.
    pub fn know_rows(
        &mut self,
        predicate: PredicateId,
        known: &HashMap<Vec<u64>, usize>,
    ) -> Result<(), Diagnostics> {
        let requests = &self.layout.predicates[predicate.index()].requests;
        let places = requests.iter().map(|&r| {
            self.keys(r)
                .map(|key| known.get(&key).copied())
                .collect::<Option<Vec<_>>>()
        });
        let Some(among) = places.collect::<Option<Vec<_>>>() else {
            let name = &self.engine.plan().data().theory()[predicate].name;
            let message = format!(
                "predicate `{name}` is asked about rows that no axiom asks about, so there are no values for them"
            );
            let help = "give an array with an axis for each argument instead of `logltn.AtRows`";
            return Err(Diagnostic::error(Code::NotGrounded, message)
                .help(help)
                .into());
        };
        let asked = &mut self.layout.predicates[predicate.index()];
        asked.at_rows = OnceLock::from(AtRows {
            count: known.len(),
            among: Some(among),
        });
        Ok(())
    }

    /// What identifies the arguments of each row of a request, so that rows have an order. Numbers have different positions in
    /// different plans, so they stand for themselves.
    fn keys(&self, request: usize) -> impl Iterator<Item = Vec<u64>> {
        let (individuals, request) = (self.individuals(request), &self.engine.requests()[request]);
        let numbers = self.engine.plan().data().numbers();
        (0..request.rows()).map(move |row| {
            let own = &individuals[row * request.arity..(row + 1) * request.arity];
            let key = |(shape, &i): (&ArgumentShape, &u32)| match shape {
                ArgumentShape::Number => ordered_bits(numbers[i as usize]),
                _ => u64::from(i),
            };
            request.shape.iter().zip(own).map(key).collect()
        })
    }

    /// Checks that the values are present and have the right shape.
    pub fn check(&self, values: &[Value]) -> Result<(), Diagnostics> {
        let plan = self.engine.plan();
        let theory = plan.data().theory();
        let requests = self.engine.requests();
        let mut found = Diagnostics::new();
        let mut given = vec![false; theory.predicates.len()];
        for value in values {
            let (predicate, expected) = match value.target {
                Target::Grid(predicate) => {
                    let asked = &self.layout.predicates[predicate.index()];
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
                    let asked = &self.layout.predicates[predicate.index()];
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
            given[predicate.index()] = true;
            if value.values.shape != expected {
                found.push(self.wrong_shape(predicate, value, &expected));
            }
            let writable = |g: &View| g.writable && g.shape == expected;
            if !value.gradient.as_ref().is_none_or(writable) && !found.has_errors() {
                let message = "the array for a gradient does not fit";
                found.push(Diagnostic::error(Code::Internal, message));
            }
        }
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
        match found.has_errors() {
            true => Err(found),
            false => Ok(()),
        }
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
            let kind = self.kinds[predicate.index()];
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

fn wrong_value(name: &str, kind: OutputKind, index: &[usize], number: f64) -> Diagnostic {
    let place = match index {
        [] => String::new(),
        index => format!(" at [{}]", join(index)),
    };
    let message = format!("predicate `{name}`: the value{place} is {number}");
    if !number.is_finite() {
        return Diagnostic::error(Code::NotFinite, message);
    }
    let help = match kind {
        OutputKind::Truth => {
            "a truth is between 0 and 1; the output of logits is \"sigmoid\" or \"softmax\""
        }
        _ => "the log of a truth is at most 0",
    };
    Diagnostic::error(Code::ValueOutOfRange, message).help(help)
}

impl Layout {
    /// The requests that an array holds the numbers for.
    fn requests<'a>(&'a self, target: &'a Target) -> &'a [usize] {
        match target {
            Target::Grid(p) | Target::AtRows(p) => &self.predicates[p.index()].requests,
            Target::Request(request) => std::slice::from_ref(request),
        }
    }

    /// Where the rows of one of them are in the array.
    fn rows<'a>(&'a self, target: Target, at: usize, request: usize, of: &'a Request) -> Rows<'a> {
        let among = |p: PredicateId| {
            let at_rows = self.predicates[p.index()].at_rows.get();
            at_rows.and_then(|rows| rows.among.as_ref())
        };
        let (places, indexes) = match target {
            Target::Grid(_) => {
                let actual = self.individuals[request].as_deref();
                let indexes = Some((actual.unwrap_or(of.individuals()), of.arity));
                (self.places[request].as_deref(), indexes)
            }
            Target::AtRows(p) => (among(p).map(|among| &among[at][..]), None),
            Target::Request(_) => {
                let different = self.different.get(request).and_then(Option::as_ref);
                (different.map(|(places, _)| &places[..]), None)
            }
        };
        Rows {
            places,
            indexes,
            width: of.width,
        }
    }
}

/// Bits that sort like the numbers.
fn ordered_bits(x: f64) -> u64 {
    let bits = x.to_bits();
    match x.is_sign_negative() {
        true => !bits,
        false => bits | 1 << 63,
    }
}

fn applies(request: &Request) -> bool {
    let applied = |s: &ArgumentShape| matches!(s, ArgumentShape::Apply(..));
    request.shape.iter().any(applied)
}

/// The shape of an array with a number for each tuple of arguments.
fn shape(size: &dyn Fn(SortId) -> usize, arguments: &[ArgumentSort]) -> Option<Vec<usize>> {
    let axes = arguments.iter().map(|sort| match sort {
        ArgumentSort::Sort(sort) => Some(size(*sort)),
        ArgumentSort::Vector(_) => None,
    });
    axes.collect()
}

/// The individuals of a request's rows, if the plan numbers them differently. Function values have none.
fn actual_individuals(request: &Request, who: &[Who]) -> Option<Vec<u32>> {
    fn leaves<'w>(shape: &ArgumentShape, who: &'w [Who], columns: &mut Vec<Option<&'w Who>>) {
        match shape {
            ArgumentShape::Individual(sort) => {
                columns.push(who.iter().find(|w| w.stand_ins.sort == *sort));
            }
            ArgumentShape::Number | ArgumentShape::Row(_) => columns.push(None),
            ArgumentShape::Apply(_, inner) => inner.iter().for_each(|s| leaves(s, who, columns)),
        }
    }
    if who.is_empty() {
        return None;
    }
    let mut columns = Vec::with_capacity(request.arity);
    request
        .shape
        .iter()
        .for_each(|s| leaves(s, who, &mut columns));
    if columns.iter().all(Option::is_none) {
        return None;
    }
    let mut actual = request.individuals().to_vec();
    for row in actual.chunks_exact_mut(request.arity) {
        for (cell, who) in row.iter_mut().zip(&columns) {
            if let Some(who) = who {
                *cell = who.individuals[*cell as usize];
            }
        }
    }
    Some(actual)
}

/// Replaces the sort of stand-ins by the sort that they stand for.
fn name(shape: &mut ArgumentShape, who: &[Who]) {
    match shape {
        ArgumentShape::Individual(sort) => {
            if let Some(who) = who.iter().find(|w| w.stand_ins.sort == *sort) {
                *sort = who.stand_ins.of;
            }
        }
        ArgumentShape::Number | ArgumentShape::Row(_) => {}
        ArgumentShape::Apply(_, inner) => inner.iter_mut().for_each(|s| name(s, who)),
    }
}

/// The positions of rows among the distinct ones in order, and how many those are; `None` if they
/// are the same.
pub fn different(rows: &[u32], arity: usize) -> Option<(Vec<usize>, usize)> {
    let row = |i: usize| &rows[i * arity..(i + 1) * arity];
    let count = rows.len() / arity.max(1);
    if (1..count).all(|i| row(i - 1) < row(i)) {
        return None;
    }
    let mut order: Vec<usize> = (0..count).collect();
    match packed(rows, arity) {
        // Sorting contiguous numbers is many times faster than sorting rows elsewhere.
        Some(keys) => {
            let mut keyed: Vec<(u64, usize)> = keys.into_iter().zip(0..).collect();
            keyed.sort_unstable();
            order.iter_mut().zip(keyed).for_each(|(to, (_, i))| *to = i);
        }
        None => order.sort_unstable_by(|&a, &b| row(a).cmp(row(b))),
    }
    let (mut places, mut next) = (vec![0; count], 0);
    for (at, &i) in order.iter().enumerate() {
        if at > 0 && row(order[at - 1]) != row(i) {
            next += 1;
        }
        places[i] = next;
    }
    Some((places, next + 1))
}

/// Each row as one number, in their order, if that fits.
fn packed(rows: &[u32], arity: usize) -> Option<Vec<u64>> {
    let mut most = vec![0; arity];
    for row in rows.chunks_exact(arity) {
        most.iter_mut().zip(row).for_each(|(m, cell)| *m |= cell);
    }
    let bits: Vec<u32> = most.iter().map(|m| u32::BITS - m.leading_zeros()).collect();
    if bits.iter().sum::<u32>() > u64::BITS {
        return None;
    }
    let key = |row: &[u32]| {
        let cells = row.iter().zip(&bits);
        cells.fold(0, |key, (&cell, &bits)| (key << bits) | u64::from(cell))
    };
    Some(rows.chunks_exact(arity).map(key).collect())
}

/// The positions of a request's rows in a dense array; `None` if they are its rows in order.
fn dense_places(request: &Request, individuals: &[u32], shape: &[usize]) -> Option<Vec<usize>> {
    if applies(request) || shape.len() < request.arity {
        return None;
    }
    let (arity, axes) = (request.arity, &shape[..request.arity]);
    let place = |row: usize| {
        let indexes = individuals[row * arity..(row + 1) * arity].iter().zip(axes);
        indexes.fold(0, |place, (&i, &size)| place * size + i as usize)
    };
    let rows = request.rows();
    // All rows, in order.
    let all = axes.iter().product::<usize>() == rows && (0..rows).all(|row| place(row) == row);
    (!all).then(|| (0..rows).map(place).collect())
}

/// Whether no number has to be clamped to its range. The engine finds non-finite ones.
fn in_range<T: Real>(kind: OutputKind, numbers: &[T]) -> bool {
    match kind {
        OutputKind::Softmax | OutputKind::Sigmoid => true,
        OutputKind::Truth => numbers.iter().all(|&x| T::ZERO <= x && x <= T::ONE),
        OutputKind::LogTruth => numbers.iter().all(|&x| x <= T::ZERO),
    }
}

/// Replaces logits of −∞, which mask a class or an atom, by an equivalent finite value, and returns their positions. A softmax must have a
/// class left.
fn unmask<T: Real>(kind: OutputKind, numbers: &mut [T], width: usize) -> Vec<usize> {
    let softmax = match kind {
        OutputKind::Softmax => true,
        OutputKind::Sigmoid => false,
        OutputKind::Truth | OutputKind::LogTruth => return Vec::new(),
    };
    let is_masked = |x: &T| *x == T::from_f64(f64::NEG_INFINITY);
    if T::kernels().sum(numbers).is_finite() || !numbers.iter().any(is_masked) {
        return Vec::new();
    }
    let mut masked = Vec::new();
    for (row, numbers) in numbers.chunks_mut(width.max(1)).enumerate() {
        let left = numbers.iter().copied().filter(|x| !is_masked(x));
        let top = left.fold(None, |top: Option<T>, x| {
            Some(top.map_or(x, |top| if x > top { x } else { top }))
        });
        let floor = T::from_f64(MASKED);
        let instead = match (softmax, top) {
            (true, Some(top)) if top.is_finite() => top + floor,
            (true, _) => continue,
            (false, _) => floor,
        };
        for (class, x) in numbers.iter_mut().enumerate().filter(|(_, x)| is_masked(x)) {
            *x = instead;
            masked.push(row * width + class);
        }
    }
    masked
}

/// The first number that is not valid for its kind. Rounding errors are allowed.
fn wrong_number<T: Real>(kind: OutputKind, numbers: &mut [T]) -> Option<usize> {
    // The sum of finite numbers may overflow, but with a NaN or an infinity it is never finite.
    if !T::kernels().sum(numbers).is_finite()
        && let Some(at) = numbers.iter().position(|x| !x.is_finite())
    {
        return Some(at);
    }
    let (low, high) = match kind {
        OutputKind::Softmax | OutputKind::Sigmoid => return None,
        OutputKind::Truth => (T::ZERO, T::ONE),
        OutputKind::LogTruth => (T::MIN_VALUE, T::ZERO),
    };
    let slack = T::from_f64(ROUNDING);
    for (at, x) in numbers.iter_mut().enumerate() {
        if *x < low {
            if low - *x > slack {
                return Some(at);
            }
            *x = low;
        } else if *x > high {
            if *x - high > slack {
                return Some(at);
            }
            *x = high;
        }
    }
    None
}

fn join(numbers: &[usize]) -> String {
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
