//! How much work and memory a step is, before the first one is done.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use logltn::theory::TableId;
use logltn::{
    ArgumentShape, Code, Diagnostic, Diagnostics, Engine, Parameters, Plan, Precision, Request,
    early, memory,
};

use crate::batches::TableBatches;
use crate::knowledge::KnowledgeBase;
use crate::model::Model;
use crate::session::Session;

/// What a step of a training takes, about.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct StepWork {
    /// How many groundings it goes through: with batches and samples, those of a batch and a sample.
    pub groundings: u128,
    /// How long that takes with the threads there are, in seconds.
    pub seconds: f64,
    /// What networks keep of its rows, in bytes.
    pub network_bytes: u128,
    /// The most memory that training takes, in bytes; 0 where [nobody counts](logltn::memory::Counting).
    pub memory_bytes: u128,
}

/// How long a step may take without a warning, in seconds.
const SLOW: f64 = 60.0;

/// The least work of a plan that could make a step slow, in groundings: others need not be measured for a warning.
const MAYBE_SLOW: u128 = 1 << 24;

/// What a learnt number takes while a checkpoint is written: itself and two moments, as numbers and as bytes.
const BYTES_IN_CHECKPOINT: usize = 24;

/// What looking at the axioms again takes, in terms of the plan's lists.
const TIMES_LOOKING: u128 = 3;

/// The same for each part of a formula, written out.
const BYTES_LOOKING: u128 = 1400;

/// Code, stacks, and what the allocator keeps.
const BYTES_OF_PROGRAM: u128 = 24 << 20;

/// How many rows of a network are measured.
const SAMPLE: usize = 256;

impl StepWork {
    /// A warning, if a step takes a minute or more.
    pub fn warning(&self) -> Option<Diagnostic> {
        (self.seconds >= SLOW).then(|| {
            Diagnostic::warning(
                Code::SlowStep,
                format!(
                    "a step goes through {} groundings, which takes about {}",
                    thousands(self.groundings),
                    duration(self.seconds)
                ),
            )
            .help("a guard, fewer variables under one quantifier, the rows of a table with a `batch`, or a `sample` of a sort make it quicker")
        })
    }
}

/// The least work of a question that is worth an estimate, in groundings.
const PERHAPS_SLOW: u128 = 1 << 28;

/// How long a question may be measured before it is answered.
const MEASURED: Duration = Duration::from_millis(100);

/// Rows of networks that are worth an estimate.
const MANY_ROWS: usize = 1 << 16;

/// How long work may have gone on before it is foretold from that.
const PATIENCE: Duration = Duration::from_secs(1);

/// [Says](early::say) that `what` takes a minute or more, if the engine would take so long for it: `passes` evaluations.
pub fn foretell<T: Precision>(
    engine: &mut Engine<T>,
    parameters: &Parameters,
    passes: f64,
    what: &str,
) {
    if !early::is_heard() {
        return;
    }
    let groundings = engine.groundings();
    if groundings < PERHAPS_SLOW {
        return;
    }
    let seconds = passes * engine.estimate_evaluation(parameters, MEASURED);
    let groundings = thousands(groundings);
    say_if_slow(seconds, || {
        format!("{what} goes through {groundings} groundings")
    });
}

fn say_if_slow(seconds: f64, what: impl FnOnce() -> String) {
    if seconds >= SLOW {
        let what = format!("{}, which takes about {}", what(), duration(seconds));
        early::say(&Diagnostic::warning(Code::SlowWork, what).help(
            "Ctrl-C ends it; a guard, fewer variables, or fewer rows to ask about make it quicker",
        ));
    }
}

/// Work that goes on piece by piece. Once, early on, it is foretold how long it takes in all, if that is a minute or more.
pub struct Foretold {
    begun: Instant,
    said: AtomicBool,
}

impl Default for Foretold {
    fn default() -> Foretold {
        Foretold {
            begun: Instant::now(),
            said: AtomicBool::new(!early::is_heard()),
        }
    }
}

impl Foretold {
    /// So much of the work is done.
    pub fn done(&self, done: u64, of: u64, what: impl FnOnce() -> String) {
        let elapsed = self.begun.elapsed();
        if elapsed < PATIENCE || done == 0 || self.said.swap(true, Ordering::Relaxed) {
            return;
        }
        say_if_slow(elapsed.as_secs_f64() * (of as f64 / done as f64), what);
    }
}

/// A time for people, with as many digits as an estimate has.
pub fn duration(seconds: f64) -> String {
    let units = [
        (365.25 * 86_400.0, "year"),
        (86_400.0, "day"),
        (3_600.0, "hour"),
        (60.0, "minute"),
    ];
    for (unit, name) in units {
        if seconds >= 1.5 * unit {
            return format!("{} {name}s", digits(seconds / unit));
        }
    }
    match seconds {
        s if s >= 1.0 => format!("{} seconds", digits(s)),
        s => format!("{} ms", digits(1e3 * s)),
    }
}

/// Two digits.
fn digits(x: f64) -> String {
    if x < 10.0 {
        return format!("{x:.1}");
    }
    let step = 10_f64.powf(x.log10().floor() - 1.0);
    let rounded = (x / step).round() * step;
    match rounded < 1e15 {
        true => thousands(rounded as u128),
        false => format!("{rounded:.0e}"),
    }
}

pub(crate) fn thousands(n: u128) -> String {
    let digits = n.to_string();
    let mut out = String::new();
    for (i, digit) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

impl Session {
    /// How much a step of the most laborious phase is: real blocks of the plan are measured until the budget is spent,
    /// and the rest is reckoned from them.
    ///
    /// # Errors
    /// If the engine refuses a batch.
    pub fn step_work(&mut self, budget: Duration) -> Result<StepWork, Diagnostics> {
        let mut most = StepWork::default();
        let plans: Vec<Arc<Plan>> = (self.phases.iter())
            .map(|phase| phase.engine.shared_plan())
            .collect();
        let budget = budget / plans.len().max(1) as u32;
        for (at, plan) in plans.iter().enumerate() {
            if plans[..at].iter().any(|earlier| Arc::ptr_eq(earlier, plan)) {
                continue;
            }
            // One of its own: the phase's shall not know of this.
            let mut engine = Engine::<f32>::new(Arc::clone(plan));
            first_batches(&mut engine, &self.batches)?;
            self.model.attach(&self.knowledge, &engine)?;
            self.attached = None;
            let parameters: Parameters = self.parameters();
            let (bytes, networks) = self.model.work(&self.knowledge, engine.requests(), true);
            let seconds = networks + engine.estimate_seconds(&parameters, budget);
            let work = StepWork {
                groundings: engine.groundings(),
                seconds,
                network_bytes: bytes.iter().sum(),
                memory_bytes: 0,
            };
            if work.seconds > most.seconds {
                most = work;
            }
        }
        most.memory_bytes = self.memory_bytes(most.network_bytes);
        Ok(most)
    }

    /// The most memory that training takes: the most that was taken so far, or what there is now and what comes with
    /// the first step, with a checkpoint, or when all is done and looked at again in double precision.
    fn memory_bytes(&mut self, networks: u128) -> u128 {
        if memory::used() == 0 {
            return 0;
        }
        let mut learnt = 0;
        (self.model).visit_parameters(&mut |_, values, _| learnt += values.len());
        let checkpoint = (BYTES_IN_CHECKPOINT * learnt) as u128;
        let looking = TIMES_LOOKING * self.whole.memory_bytes() as u128
            + BYTES_LOOKING * self.whole.parts() as u128;
        let later = networks + checkpoint.max(looking);
        u128::from(memory::peak()).max(u128::from(memory::used()) + later) + BYTES_OF_PROGRAM
    }

    /// A warning, if a step takes a minute or more; measured only where that may be.
    ///
    /// # Errors
    /// As those of [`Session::step_work`].
    pub fn slow_step(&mut self, budget: Duration) -> Result<Option<Diagnostic>, Diagnostics> {
        // Of a sample, the first one: the others are as large.
        let axioms = self.whole.axioms().iter();
        let groundings = axioms.fold(0_u128, |n, a| n.saturating_add(a.groundings));
        match groundings < MAYBE_SLOW {
            true => Ok(None),
            false => Ok(self.step_work(budget)?.warning()),
        }
    }
}

fn first_batches(engine: &mut Engine<f32>, batches: &[TableBatches]) -> Result<(), Diagnostics> {
    let data = engine.plan().data();
    let rows: Vec<(TableId, Vec<u32>)> = (batches.iter())
        .map(|b| {
            // None of a large table, whose first rows the plan has.
            let all = data.table(b.table).map_or(0, |table| table.rows);
            (b.table, (0..b.size().min(all) as u32).collect())
        })
        .collect();
    if rows.is_empty() {
        return Ok(());
    }
    engine.set_batches(rows.iter().map(|(table, rows)| (*table, rows.as_slice())))
}

/// Refuses a phase whose networks would keep more of a step's rows than there may be memory.
pub(crate) fn check_memory(
    knowledge: &KnowledgeBase,
    model: &mut Model,
    engine: &Engine<f32>,
    batches: &[TableBatches],
) -> Result<(), Diagnostics> {
    let limit = u128::from(memory::left());
    let total = |bytes: &[u128]| bytes.iter().sum::<u128>();
    if total(&model.work(knowledge, engine.requests(), false).0) <= limit {
        return Ok(());
    }
    let mut engine = Engine::<f32>::new(engine.shared_plan());
    first_batches(&mut engine, batches)?;
    let (bytes, _) = model.work(knowledge, engine.requests(), false);
    if total(&bytes) <= limit {
        return Ok(());
    }
    let most = (0..bytes.len()).max_by_key(|&at| bytes[at]).unwrap_or(0);
    let theory = knowledge.theory();
    let error = |request: &Request| {
        let name = &theory[request.predicate].name;
        let axiom = theory.axioms.iter().find(|axiom| {
            let (inner, outer) = (request.span, axiom.formula.span);
            outer.start <= inner.start && inner.end <= outer.end
        });
        let axiom = axiom.map_or(String::new(), |a| format!(" by axiom `{}`", a.name));
        Diagnostic::error(
            Code::TooMuchMemory,
            format!(
                "the network of `{name}` is asked about {} rows in a step{axiom}, of which training keeps about {}: more \
                 than the {} of memory that are left",
                thousands(request.rows() as u128),
                memory::shown(total(&bytes)),
                memory::shown(limit)
            ),
        )
        .at(&theory.source, request.span, "for each binding of the quantifiers around it")
        .help(
            "a narrower guard, fewer variables, the rows of a table with a `batch`, or a smaller network; `--memory 16GB` \
             allows more",
        )
    };
    match engine.requests().get(most) {
        Some(request) => Err(error(request).into()),
        None => Ok(()),
    }
}

impl Model {
    /// Says that its networks take a minute or more for their rows, forward only, if they do.
    pub(crate) fn foretell(&self) {
        let large = self.units.iter().filter(|unit| unit.rows() >= MANY_ROWS);
        if !early::is_heard() || large.clone().next().is_none() {
            return;
        }
        // The way back takes twice as long.
        let seconds: f64 = large
            .clone()
            .map(|unit| seconds(unit.network.spec(), unit.rows()) / 3.0)
            .sum();
        say_if_slow(seconds, || {
            let rows: usize = large.map(|unit| unit.rows()).sum();
            format!("networks are asked about {} rows", thousands(rows as u128))
        });
    }

    /// By request of an attached engine: about how many bytes its rows take in training; and, if it is to be
    /// `timed`, how many seconds all networks take for a step. Rows of networks that others read count for those.
    pub(crate) fn work(
        &mut self,
        knowledge: &KnowledgeBase,
        requests: &[Request],
        timed: bool,
    ) -> (Vec<u128>, f64) {
        let mut bytes = Vec::with_capacity(requests.len());
        let mut rows = vec![0_usize; self.units.len()];
        for (at, request) in requests.iter().enumerate() {
            let mut taken = 0;
            let mut open: Vec<(usize, usize, usize)> = (self.feeds[at].iter())
                .map(|&(unit, feed)| (unit, feed, request.rows()))
                .collect();
            while let Some((unit, feed, count)) = open.pop() {
                let of = &self.units[unit];
                rows[unit] += count;
                let numbers = 2 * of.input_width + 3 * of.output_width + of.feeds[feed].arity;
                // A row's entry in a table of those that are known takes about so much more.
                let row = 4 * numbers as u128 + 80;
                taken += of.network.bytes_kept(count) + row * count as u128;
                let leaves = sizes(knowledge, &of.feeds[feed].shape);
                for (other, other_feed, places) in of.feeds[feed].read() {
                    let distinct = (places.iter())
                        .map(|&place| leaves.get(place).copied().unwrap_or(usize::MAX))
                        .fold(1, usize::saturating_mul);
                    open.push((other, other_feed, count.min(distinct)));
                }
            }
            bytes.push(taken);
        }
        let seconds = match timed {
            true => (self.units.iter().zip(&rows))
                .map(|(unit, &rows)| seconds(unit.network.spec(), rows))
                .sum(),
            false => 0.0,
        };
        (bytes, seconds)
    }
}

/// How many there are of each leaf of some arguments.
fn sizes(knowledge: &KnowledgeBase, shape: &[ArgumentShape]) -> Vec<usize> {
    let sizes = shape.iter().flat_map(|argument| match argument {
        ArgumentShape::Individual(sort) if sort.index() < knowledge.theory().sorts.len() => {
            vec![knowledge.data.size(*sort) + knowledge.theory().constants.len()]
        }
        ArgumentShape::Individual(_) | ArgumentShape::Number | ArgumentShape::Row(_) => {
            vec![usize::MAX]
        }
        ArgumentShape::Apply(_, arguments) => sizes(knowledge, arguments),
    });
    sizes.collect()
}

/// How long so many rows of a network take, forward and back.
fn seconds(spec: &logltn_nn::NetworkSpec, rows: usize) -> f64 {
    let sample = rows.min(SAMPLE);
    let Ok(mut network) = logltn_nn::Network::new(spec, 0) else {
        return 0.0;
    };
    if sample == 0 {
        return 0.0;
    }
    let input = vec![0.5; sample * network.input_shape().len()];
    let by_output = vec![1.0; sample * network.output_shape().len()];
    let mut best = f64::INFINITY;
    for _ in 0..2 {
        let begun = Instant::now();
        network.forward(&input, sample);
        network.backward_anew(&by_output, None);
        best = best.min(begun.elapsed().as_secs_f64());
    }
    let whole = best * (rows as f64 / sample as f64);
    match rows > sample {
        // So few rows are not shared among threads.
        true => whole / rayon::current_num_threads().max(1) as f64,
        false => whole,
    }
}

#[cfg(test)]
mod tests {
    use super::{StepWork, duration};

    #[test]
    fn times_for_people() {
        for (seconds, shown) in [
            (0.0012, "1.2 ms"),
            (0.0, "0.0 ms"),
            (2.34, "2.3 seconds"),
            (88.0, "88 seconds"),
            (100.0, "1.7 minutes"),
            (1e6, "12 days"),
            (1e12, "32,000 years"),
        ] {
            assert_eq!(duration(seconds), shown);
        }
        assert!(duration(1e40).ends_with("years"));
    }

    #[test]
    fn a_minute_is_slow() {
        let of = |seconds| StepWork {
            seconds,
            ..StepWork::default()
        };
        assert!(of(59.0).warning().is_none());
        assert!(of(60.0).warning().is_some());
    }
}
