//! A session put together in memory, piece by piece.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use logltn::theory::{ArgumentSort, FunctionId, PredicateId, SortId, SymbolKind};
use logltn::{
    Code, ColumnData, ConstantData, Data, Diagnostic, Diagnostics, FunctionData, Labels, Number,
    Output, OutputKind, Points, Semantics, Source, Theory, percentile,
};

use super::Session;
use crate::closed_form::ClosedForm;
use crate::distances::distances;
use crate::given_numbers::Numbers;
use crate::individuals::{Individuals, points};
use crate::knowledge::{Behind, Ground, KnowledgeBase, Vectors};
use crate::measure::Metric;
use crate::model::Grounding;
use crate::network::Network;
use crate::phrase::parse_distance;
use crate::schedule::Schedule;
use crate::spanned::Place;
use crate::training::{Length, Phase, Training};

/// Declares what a theory is grounded in and how it is trained; [`Builder::build`] reports every mistake in it.
pub struct Builder {
    theory: Source,
    sorts: Vec<(String, Individuals)>,
    /// What else is given, in its order.
    given: Vec<Given>,
    training: Training,
}

/// Something that is given, as what is to be done with it.
type Given = Box<dyn FnOnce(&mut Grounder) + Send>;

/// The value of a param.
#[derive(Clone, Debug)]
pub enum Param {
    /// A number.
    Number(Number),
    /// A percentile of distances: over all ordered pairs, self included, with linear interpolation.
    Percentile {
        /// From 0 to 100.
        percent: f64,
        /// `dist(Point, Point)`.
        of: String,
    },
}

impl Param {
    /// A percentile of the distances of two sorts' individuals: `Param::percentile(2.5, "dist(Point, Point)")`.
    pub fn percentile(percent: f64, of: impl Into<String>) -> Param {
        let of = of.into();
        Param::Percentile { percent, of }
    }
}

impl<N: Into<Number>> From<N> for Param {
    fn from(number: N) -> Param {
        Param::Number(number.into())
    }
}

/// Which individual a constant is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Constant {
    /// An individual of the data, counted from 0.
    Row(u32),
    /// A vector of this length, trained with the networks.
    Learnable(usize),
}

impl Builder {
    pub(crate) fn new(theory: Source) -> Builder {
        Builder {
            theory,
            sorts: Vec::new(),
            given: Vec::new(),
            training: Training::default(),
        }
    }

    fn give(
        mut self,
        name: &str,
        give: impl FnOnce(&mut Grounder, &str) + Send + 'static,
    ) -> Builder {
        let name = name.to_string();
        (self.given).push(Box::new(move |grounder| give(grounder, &name)));
        self
    }

    // --- what the theory is grounded in ----------------------------------------------------------

    /// The individuals of a sort: a number of them, names, or [`Individuals`] with features.
    pub fn sort(mut self, sort: &str, individuals: impl Into<Individuals>) -> Builder {
        self.sorts.push((sort.into(), individuals.into()));
        self
    }

    /// The value of a param.
    pub fn param(self, param: &str, value: impl Into<Param>) -> Builder {
        let value = value.into();
        self.give(param, move |all, name| all.param(name, &value))
    }

    /// Which individual a constant is.
    pub fn constant(self, constant: &str, is: Constant) -> Builder {
        self.give(constant, move |all, name| all.constant(name, is))
    }

    /// The rows of a table, column by column.
    pub fn table(self, table: &str, columns: Vec<ColumnData>) -> Builder {
        self.give(table, |all, name| all.table(name, columns))
    }

    /// The rows of a table, of which each step draws this many.
    pub fn batched(mut self, table: &str, rows: usize, columns: Vec<ColumnData>) -> Builder {
        self.training.batches.insert(table.into(), rows);
        self.table(table, columns)
    }

    /// In each step quantifiers over the sort see this many of its individuals, drawn again and the same for the
    /// whole step. `evaluate` and the questions see all.
    pub fn sample(mut self, sort: &str, individuals: usize) -> Builder {
        self.training.samples.insert(sort.into(), individuals);
        self
    }

    /// A network behind a predicate, and what its last layer means.
    pub fn predicate(self, predicate: &str, network: impl Into<Behind>, output: Output) -> Builder {
        let behind = network.into();
        self.give(predicate, move |all, name| {
            all.ground(name, output, |all, id| {
                let arity = all.knowledge.theory()[id].arguments.len();
                all.check_args(name, arity, &behind);
                Some(Ground::Network(behind))
            });
        })
    }

    /// Numbers behind a predicate, which do not learn: one for each tuple of individuals, the last argument changing
    /// fastest.
    pub fn numbers(self, predicate: &str, values: Vec<f64>, output: Output) -> Builder {
        self.give(predicate, move |all, name| {
            let numbers = |all: &mut Grounder, id| all.numbers(id, values, output);
            all.ground(name, output, |all, id| {
                Some(Ground::Numbers(numbers(all, id)?.into()))
            });
        })
    }

    /// A logit of its own for each tuple of individuals, which learns and begins with this: a proposition, or a
    /// predicate over finite sorts of which nothing is known. A softmax has a row of them for all arguments but the
    /// last.
    ///
    /// ```
    /// use logltn::Output;
    /// use logltn_learn::Session;
    /// let theory = "predicate rain()  predicate wet()
    ///     axiom rain: rain()  axiom then: rain() -> wet()";
    /// let mut session = Session::builder(theory)
    ///     .learnable("rain", 0.0, Output::sigmoid())
    ///     .learnable("wet", 0.0, Output::sigmoid())
    ///     .steps(200)
    ///     .learning_rate(0.1)
    ///     .build()?;
    /// while !session.is_done() {
    ///     session.step()?;
    /// }
    /// let wet = session.predict("wet", &[])?;
    /// assert!(wet[0] > 1.0, "{wet:?}");
    /// # Ok::<(), logltn::Diagnostics>(())
    /// ```
    pub fn learnable(self, predicate: &str, initial: f64, output: Output) -> Builder {
        self.give(predicate, move |all, name| {
            if !initial.is_finite() {
                let what = format!("predicate `{name}`: its first value is {initial}");
                all.wrong(Code::NotFinite, what);
            }
            if let OutputKind::Truth | OutputKind::LogTruth = output.kind {
                let what = format!("predicate `{name}`: what is learnt is a logit, not a truth");
                all.wrong(Code::ConflictingKeys, what);
            }
            let place = Place::default();
            all.ground(name, output, |_, _| {
                Some(Ground::Learnable { initial, place })
            });
        })
    }

    /// Arithmetic over its arguments behind a predicate, see [`ClosedForm`].
    pub fn closed_form(self, predicate: &str, form: ClosedForm) -> Builder {
        self.give(predicate, |all, name| {
            let output = form.output();
            all.ground(name, output, |_, _| Some(Ground::ClosedForm(form.into())));
        })
    }

    /// Code of your own behind a predicate.
    pub fn host(
        self,
        predicate: &str,
        grounding: impl Grounding + 'static,
        output: Output,
    ) -> Builder {
        self.give(predicate, move |all, name| {
            all.ground(name, output, |all, _| {
                (all.hosts).push((name.to_string(), Box::new(grounding)));
                None
            });
        })
    }

    /// A network behind a function.
    pub fn function(self, function: &str, network: impl Into<Behind>) -> Builder {
        let behind = network.into();
        self.give(function, |all, name| all.function(name, behind))
    }

    /// The values of a function that is given by data, one for each tuple of individuals, the last argument changing
    /// fastest. It may also stand in guards.
    ///
    /// ```
    /// use logltn::{FunctionData, Output};
    /// use logltn_learn::Session;
    /// let theory = "sort Person  function age(Person): Real  function boss(Person): Person  predicate rich(Person)
    ///     axiom bosses: forall x: Person where age(boss(x)) > 50. rich(boss(x))";
    /// let session = Session::builder(theory)
    ///     .sort("Person", 3)
    ///     .function_values("age", FunctionData::Reals(vec![30.0, 62.5, 41.0]))
    ///     .function_values("boss", FunctionData::Individuals(vec![1, 1, 0]))
    ///     .learnable("rich", 0.0, Output::sigmoid())
    ///     .steps(1)
    ///     .build()?;
    /// assert_eq!(session.requests()[0].individuals(), [1]); // asked once, though two have that boss
    /// # Ok::<(), logltn::Diagnostics>(())
    /// ```
    pub fn function_values(self, function: &str, values: FunctionData) -> Builder {
        self.give(function, |all, name| {
            let set = all.knowledge.data.set_function(name, values);
            all.check(set);
        })
    }

    /// Hidden layers that several symbols share, see [`Behind::shared`].
    pub fn network(self, name: &str, network: Network) -> Builder {
        self.give(name, |all, name| {
            all.knowledge.networks.insert(name.to_string(), network);
        })
    }

    // --- how it is trained -----------------------------------------------------------------------

    /// Whatever the methods below have no word for: the seed, phases, optimizer, early stopping, p.
    pub fn training(mut self, set: impl FnOnce(&mut Training)) -> Builder {
        set(&mut self.training);
        self
    }

    /// What the connectives and quantifiers mean.
    pub fn semantics(mut self, semantics: Semantics) -> Builder {
        self.training.semantics = semantics;
        self
    }

    /// α of LogMeanExp and LogSumExp.
    pub fn alpha(mut self, alpha: impl Into<Schedule>) -> Builder {
        self.training.schedule.alpha = alpha.into();
        self
    }

    /// Another phase, of this many steps, in which all axioms count.
    pub fn steps(self, steps: u64) -> Builder {
        self.phase(Length::Steps(steps))
    }

    /// Another phase, of this many passes over the largest table with batches.
    pub fn epochs(self, epochs: u64) -> Builder {
        self.phase(Length::Epochs(epochs))
    }

    fn phase(mut self, length: Length) -> Builder {
        let axioms = None;
        self.training.phases.push(Phase { length, axioms });
        self
    }

    /// How long the steps are.
    pub fn learning_rate(mut self, rate: impl Into<Schedule>) -> Builder {
        self.training.learning_rate = rate.into();
        self
    }

    /// Something that [`Session::measure`] measures.
    pub fn metric(mut self, metric: Metric) -> Builder {
        self.training.metrics.push(metric);
        self
    }

    // --- and all of it together ------------------------------------------------------------------

    /// Checks everything, plans, and draws the initial weights.
    ///
    /// # Errors
    /// With all that is wrong.
    pub fn build(self) -> Result<Session, Diagnostics> {
        let mut labels = Labels::default();
        for (name, sort) in &self.sorts {
            if !sort.names.is_empty() {
                labels.insert(name, sort.names.clone());
            }
        }
        let mut found = Diagnostics::new();
        let theory = Theory::parse_as_far_as_possible(self.theory.clone(), &labels, &mut found);
        if found.has_errors() {
            return Err(found); // what follows would refer to symbols that do not exist
        }
        let mut all = Grounder {
            knowledge: KnowledgeBase {
                outputs: vec![Output::sigmoid(); theory.predicates.len()],
                predicates: vec![Ground::Host; theory.predicates.len()],
                functions: vec![None; theory.functions.len()],
                networks: BTreeMap::new(),
                vectors: vec![Vectors::default(); theory.sorts.len()],
                learnable_constants: vec![None; theory.constants.len()],
                data: Data::new(&theory),
            },
            batched: self.training.batches.keys().cloned().collect(),
            hosts: Vec::new(),
            found,
        };
        // All else is about their individuals.
        all.sorts(self.sorts);
        self.given.into_iter().for_each(|give| give(&mut all));
        for (i, function) in theory.functions.iter().enumerate() {
            let has_values = all.knowledge.data.function(FunctionId(i as u32)).is_some();
            if has_values && all.knowledge.functions[i].is_some() {
                let what = format!("function `{}` has both a network and values", function.name);
                all.wrong(Code::ConflictingKeys, what);
            }
        }
        let (knowledge, warnings) = all.found.into_result(all.knowledge)?;
        let mut session = Session::new(knowledge, self.training)?;
        session.warnings.extend(warnings);
        for (name, host) in all.hosts {
            session.ground(&name, host)?;
        }
        Ok(session)
    }
}

/// A knowledge base on its way, and what is wrong with it.
struct Grounder {
    knowledge: KnowledgeBase,
    /// The tables of which steps draw some rows.
    batched: BTreeSet<String>,
    hosts: Vec<(String, Box<dyn Grounding>)>,
    found: Diagnostics,
}

impl Grounder {
    fn wrong(&mut self, code: Code, message: String) {
        self.found.push(Diagnostic::error(code, message));
    }

    fn check(&mut self, set: Result<(), Diagnostics>) {
        if let Err(errors) = set {
            self.found.extend(errors);
        }
    }

    fn sorts(&mut self, sorts: Vec<(String, Individuals)>) {
        let distances = distances(self.knowledge.theory());
        let measured: BTreeSet<SortId> = distances.iter().flat_map(|d| d.sorts).collect();
        for (name, given) in sorts {
            let data = &mut self.knowledge.data;
            let set = (given.size(&name).map_err(Diagnostics::from))
                .and_then(|size| data.set_size(&name, size));
            let is_set = set.is_ok();
            self.check(set);
            let Some(id) = self.knowledge.theory().sort(&name) else {
                continue;
            };
            if is_set
                && measured.contains(&id)
                && let Some((width, values)) = points(&given.fields)
            {
                let set = self.knowledge.data.set_features(&name, width, values);
                self.check(set);
            }
            self.knowledge.vectors[id] = Vectors {
                fields: given.fields.into(),
                learnable: given.learnable,
            };
        }
    }

    fn param(&mut self, name: &str, param: &Param) {
        let value = match param {
            Param::Number(number) => *number,
            Param::Percentile { percent, of } => match self.percentile(*percent, of) {
                Ok(value) => Number::from(value),
                Err((code, what)) => return self.wrong(code, format!("param `{name}`: {what}")),
            },
        };
        let set = self.knowledge.data.set_param(name, value);
        self.check(set);
    }

    fn constant(&mut self, name: &str, constant: Constant) {
        let is = match constant {
            Constant::Row(row) => ConstantData::Row(row),
            Constant::Learnable(_) => ConstantData::Learnable,
        };
        let set = self.knowledge.data.set_constant(name, is);
        self.check(set);
        let theory = self.knowledge.data.theory();
        let at = theory.constants.iter().position(|c| c.name == name);
        if let (Some(at), Constant::Learnable(width)) = (at, constant) {
            let others = self.knowledge.vectors[theory.constants[at].sort].width();
            let sort = &theory[theory.constants[at].sort].name;
            if others != 0 && others != width {
                let what = format!(
                    "constant `{name}` is a vector of {width}, but the individuals of sort `{sort}` have {others} numbers"
                );
                return self.wrong(Code::SizesDisagree, what);
            }
            self.knowledge.learnable_constants[at] = Some(width);
        }
    }

    fn table(&mut self, name: &str, columns: Vec<ColumnData>) {
        let data = &mut self.knowledge.data;
        let mut set = data.set_rows(name, columns);
        if self.batched.contains(name) {
            set = set.and_then(|()| data.set_batched(name));
        }
        self.check(set);
    }

    /// Puts something behind a predicate; nothing yet, if it is code of a host.
    fn ground(
        &mut self,
        name: &str,
        output: Output,
        ground: impl FnOnce(&mut Grounder, PredicateId) -> Option<Ground>,
    ) {
        let theory = self.knowledge.data.theory();
        let Some(id) = theory.predicate(name) else {
            return (self.found).push(theory.unknown(SymbolKind::Predicate, name));
        };
        self.knowledge.outputs[id] = output;
        if let Some(ground) = ground(self, id) {
            self.knowledge.predicates[id] = ground;
        }
    }

    fn function(&mut self, name: &str, behind: Behind) {
        let theory = self.knowledge.data.theory();
        match theory.function(name) {
            Some(id) => {
                let arity = theory[id].arguments.len();
                self.check_args(name, arity, &behind);
                self.knowledge.functions[id] = Some(behind);
            }
            None => self.found.push(theory.unknown(SymbolKind::Function, name)),
        }
    }

    fn check_args(&mut self, name: &str, arity: usize, behind: &Behind) {
        if let Some(args) = &behind.args
            && args.len() != arity
        {
            let given = args.len();
            self.wrong(
                Code::WrongNumberOfArguments,
                format!("`{name}` has {arity} arguments in the theory, but {given} in `args`"),
            );
        }
    }

    fn numbers(&mut self, id: PredicateId, values: Vec<f64>, output: Output) -> Option<Numbers> {
        let KnowledgeBase { data, .. } = &self.knowledge;
        let theory = Arc::clone(data.theory());
        let (name, arguments) = (&theory[id].name, &theory[id].arguments);
        let size = |argument: &ArgumentSort| Some(data.size(argument.sort()?));
        let sizes: Option<Vec<usize>> = arguments.iter().map(size).collect();
        let Some(mut sizes) = sizes else {
            self.wrong(Code::VectorArgument, format!(
                "predicate `{name}` cannot be given by numbers: it has an argument that is a vector"
            ));
            return None;
        };
        let all = sizes.iter().try_fold(1, |n: usize, &m| n.checked_mul(m));
        if all != Some(values.len()) {
            let tuples = all.map_or("more than can be held".to_string(), |n| n.to_string());
            self.wrong(Code::WrongShape, format!(
                "predicate `{name}` needs a number for each tuple of individuals, {tuples}, not {}",
                values.len()
            ));
            return None;
        }
        let fits = |x: &f64| match output.kind {
            OutputKind::Softmax | OutputKind::Sigmoid => x.is_finite(),
            OutputKind::Truth => (0.0..=1.0).contains(x),
            OutputKind::LogTruth => *x <= 0.0 && x.is_finite(),
        };
        if let Some(at) = values.iter().position(|x| !fits(x)) {
            let (kind, value) = (output.kind, values[at]);
            self.wrong(
                Code::ValueOutOfRange,
                format!(
                    "predicate `{name}`: number {at} is {value}, which is not a valid {kind:?}"
                ),
            );
            return None;
        }
        let columns = match output.per_class {
            true => sizes.pop().unwrap_or(1),
            false => 1,
        };
        Some(Numbers {
            columns,
            values,
            sizes,
        })
    }

    fn percentile(&self, percent: f64, of: &str) -> Result<f64, (Code, String)> {
        if !(0.0..=100.0).contains(&percent) {
            let what = format!("{percent} is not between 0 and 100");
            return Err((Code::ValueOutOfRange, what));
        }
        let [first, second] = parse_distance(of)
            .map_err(|wrong| (wrong.code, format!("`{of}`: {}", wrong.message)))?;
        let points = |sort: &str| {
            let given = (self.knowledge.theory().sort(sort)).map(|id| &self.knowledge.vectors[id]);
            let nothing = || (Code::NoFeatures, format!("sort `{sort}` has no features"));
            (given.and_then(|vectors| points(&vectors.fields))).ok_or_else(nothing)
        };
        let (a, b) = (points(&first)?, points(&second)?);
        if a.0 != b.0 {
            let what = format!("there is no distance between {} numbers and {}", a.0, b.0);
            return Err((Code::SizesDisagree, what));
        }
        let [a, b] = [&a, &b].map(|(width, values)| Points {
            width: *width,
            values,
        });
        let other = (first.value != second.value).then_some(b);
        let nothing = "there are no distances, or some are too large for a number";
        percentile(a, other, percent).ok_or_else(|| (Code::NotFinite, nothing.to_string()))
    }
}
