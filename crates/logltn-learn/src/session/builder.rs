//! A session put together in memory, piece by piece.

use std::collections::BTreeSet;

use logltn::theory::{ArgumentSort, SortId, SymbolKind};
use logltn::{
    Code, ColumnData, ConstantData, Data, Diagnostic, Diagnostics, FunctionData, Labels, Number,
    Output, OutputKind, Points, Semantics, Source, Theory, percentile,
};

use super::Session;
use crate::closed_form::ClosedForm;
use crate::distances::distances;
use crate::given_numbers::Numbers;
use crate::individuals::Individuals;
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
    params: Vec<(String, Param)>,
    constants: Vec<(String, Constant)>,
    tables: Vec<(String, Vec<ColumnData>)>,
    predicates: Vec<(String, Output, Given)>,
    functions: Vec<(String, Behind)>,
    function_values: Vec<(String, FunctionData)>,
    networks: Vec<(String, Network)>,
    training: Training,
}

/// What was given for a predicate.
enum Given {
    Network(Behind),
    Numbers(Vec<f64>),
    Learnable(f64),
    ClosedForm(ClosedForm),
    Host(Box<dyn Grounding>),
}

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
            params: Vec::new(),
            constants: Vec::new(),
            tables: Vec::new(),
            predicates: Vec::new(),
            functions: Vec::new(),
            function_values: Vec::new(),
            networks: Vec::new(),
            training: Training::default(),
        }
    }

    // --- what the theory is grounded in ----------------------------------------------------------

    /// The individuals of a sort: a number of them, names, or [`Individuals`] with features.
    pub fn sort(mut self, sort: &str, individuals: impl Into<Individuals>) -> Builder {
        self.sorts.push((sort.into(), individuals.into()));
        self
    }

    /// The value of a param.
    pub fn param(mut self, param: &str, value: impl Into<Param>) -> Builder {
        self.params.push((param.into(), value.into()));
        self
    }

    /// Which individual a constant is.
    pub fn constant(mut self, constant: &str, is: Constant) -> Builder {
        self.constants.push((constant.into(), is));
        self
    }

    /// The rows of a table, column by column.
    pub fn table(mut self, table: &str, columns: Vec<ColumnData>) -> Builder {
        self.tables.push((table.into(), columns));
        self
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
    pub fn predicate(
        mut self,
        predicate: &str,
        network: impl Into<Behind>,
        output: Output,
    ) -> Builder {
        let given = Given::Network(network.into());
        self.predicates.push((predicate.into(), output, given));
        self
    }

    /// Numbers behind a predicate, which do not learn: one for each tuple of individuals, the last argument changing
    /// fastest.
    pub fn numbers(mut self, predicate: &str, values: Vec<f64>, output: Output) -> Builder {
        let given = Given::Numbers(values);
        self.predicates.push((predicate.into(), output, given));
        self
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
    pub fn learnable(mut self, predicate: &str, initial: f64, output: Output) -> Builder {
        let given = Given::Learnable(initial);
        self.predicates.push((predicate.into(), output, given));
        self
    }

    /// Arithmetic over its arguments behind a predicate, see [`ClosedForm`].
    pub fn closed_form(mut self, predicate: &str, form: ClosedForm) -> Builder {
        let (output, given) = (form.output(), Given::ClosedForm(form));
        self.predicates.push((predicate.into(), output, given));
        self
    }

    /// Code of your own behind a predicate.
    pub fn host(
        mut self,
        predicate: &str,
        grounding: impl Grounding + 'static,
        output: Output,
    ) -> Builder {
        let given = Given::Host(Box::new(grounding));
        self.predicates.push((predicate.into(), output, given));
        self
    }

    /// A network behind a function.
    pub fn function(mut self, function: &str, network: impl Into<Behind>) -> Builder {
        self.functions.push((function.into(), network.into()));
        self
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
    pub fn function_values(mut self, function: &str, values: FunctionData) -> Builder {
        self.function_values.push((function.into(), values));
        self
    }

    /// Hidden layers that several symbols share, see [`Behind::shared`].
    pub fn network(mut self, name: &str, network: Network) -> Builder {
        self.networks.push((name.into(), network));
        self
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
        let mut grounder = Grounder {
            knowledge: KnowledgeBase {
                outputs: vec![Output::sigmoid(); theory.predicates.len()],
                predicates: vec![Ground::Host; theory.predicates.len()],
                functions: vec![None; theory.functions.len()],
                networks: self.networks.into_iter().collect(),
                vectors: vec![Vectors::default(); theory.sorts.len()],
                learnable_constants: vec![None; theory.constants.len()],
                data: Data::new(&theory),
            },
            found,
        };
        if grounder.found.has_errors() {
            return Err(grounder.found); // what follows would refer to symbols that do not exist
        }
        for (name, param) in &self.params {
            grounder.param(name, param, &self.sorts);
        }
        grounder.sorts(self.sorts);
        for (name, constant) in self.constants {
            grounder.constant(&name, constant);
        }
        for (name, columns) in self.tables {
            let batched = self.training.batches.contains_key(&name);
            grounder.table(&name, columns, batched);
        }
        let mut hosts = Vec::new();
        for (name, output, given) in self.predicates {
            hosts.extend(grounder.predicate(name, output, given));
        }
        for (name, behind) in self.functions {
            if self.function_values.iter().any(|(given, _)| *given == name) {
                let what = format!("function `{name}` has both a network and values");
                grounder.wrong(Code::ConflictingKeys, what);
            }
            grounder.function(&name, behind);
        }
        for (name, values) in self.function_values {
            let set = grounder.knowledge.data.set_function(&name, values);
            grounder.check(set);
        }
        let (knowledge, warnings) = grounder.found.into_result(grounder.knowledge)?;
        let mut session = Session::new(knowledge, self.training)?;
        session.warnings.extend(warnings);
        for (name, host) in hosts {
            session.ground(&name, host)?;
        }
        Ok(session)
    }
}

/// A knowledge base on its way, and what is wrong with it.
struct Grounder {
    knowledge: KnowledgeBase,
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
            if let Err(errors) = set {
                self.found.extend(errors);
                continue;
            }
            let Some(id) = self.knowledge.theory().sort(&name) else {
                continue;
            };
            if measured.contains(&id)
                && let Some((width, values)) = given.points()
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

    fn param(&mut self, name: &str, param: &Param, sorts: &[(String, Individuals)]) {
        let value = match param {
            Param::Number(number) => *number,
            Param::Percentile { percent, of } => match percentile_of(*percent, of, sorts) {
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

    fn table(&mut self, name: &str, columns: Vec<ColumnData>, batched: bool) {
        let data = &mut self.knowledge.data;
        let mut set = data.set_rows(name, columns);
        if batched {
            set = set.and_then(|()| data.set_batched(name));
        }
        self.check(set);
    }

    /// A host's code is for the session.
    fn predicate(
        &mut self,
        name: String,
        output: Output,
        given: Given,
    ) -> Option<(String, Box<dyn Grounding>)> {
        let theory = self.knowledge.data.theory();
        let Some(id) = theory.predicate(&name) else {
            self.found
                .push(theory.unknown(SymbolKind::Predicate, &name));
            return None;
        };
        let arity = theory[id].arguments.len();
        self.knowledge.outputs[id] = output;
        let ground = match given {
            Given::Host(host) => return Some((name, host)),
            Given::Network(behind) => {
                self.check_args(&name, arity, &behind);
                Ground::Network(behind)
            }
            Given::Learnable(initial) => {
                if !initial.is_finite() {
                    let what = format!("predicate `{name}`: its first value is {initial}");
                    self.wrong(Code::NotFinite, what);
                }
                if let OutputKind::Truth | OutputKind::LogTruth = output.kind {
                    let what =
                        format!("predicate `{name}`: what is learnt is a logit, not a truth");
                    self.wrong(Code::ConflictingKeys, what);
                }
                let place = Place::default();
                Ground::Learnable { initial, place }
            }
            Given::ClosedForm(form) => Ground::ClosedForm(form.into()),
            Given::Numbers(values) => Ground::Numbers(self.numbers(&name, values, output)?.into()),
        };
        self.knowledge.predicates[id] = ground;
        None
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

    fn numbers(&mut self, name: &str, values: Vec<f64>, output: Output) -> Option<Numbers> {
        let KnowledgeBase { data, .. } = &self.knowledge;
        let theory = data.theory();
        let arguments = &theory[theory.predicate(name)?].arguments;
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
}

fn percentile_of(
    percent: f64,
    of: &str,
    sorts: &[(String, Individuals)],
) -> Result<f64, (Code, String)> {
    if !(0.0..=100.0).contains(&percent) {
        let what = format!("{percent} is not between 0 and 100");
        return Err((Code::ValueOutOfRange, what));
    }
    let [first, second] =
        parse_distance(of).map_err(|wrong| (wrong.code, format!("`{of}`: {}", wrong.message)))?;
    let points = |sort: &str| {
        let given = sorts.iter().find(|(name, _)| name == sort);
        let nothing = || (Code::NoFeatures, format!("sort `{sort}` has no features"));
        (given.and_then(|(_, given)| given.points())).ok_or_else(nothing)
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
