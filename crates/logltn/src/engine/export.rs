//! The plan as plain arrays, for callers that run it elsewhere: on a GPU, or in another program. The format is
//! described in `crates/logltn/PLAN-FORMAT.md`; it is a header in JSON and the arrays that it names by number.

use std::fmt::Write;

use super::Engine;
use crate::data::FunctionData;
use crate::diagnostic::{Code, Diagnostic, Diagnostics};
use crate::operators::{
    AggregatorLaws, ConnectiveLaws, Expressed, How, Loss, Reduction, Semiring, Space,
};
use crate::output::OutputKind;
use crate::parameters::AxiomParameters;
use crate::plan::Plan;
use crate::plan::applied::{Applied, Tree, Values};
use crate::plan::events::ExportedEvents;
use crate::plan::physical::{Add, Level, Lookup, Node, Physical, SlotSource};
use crate::plan::program::{
    Elimination, EliminationInput, MapValues, NO_LIST, NodeKind, ResolveTable,
};
use crate::vector::Real;

/// The version of the format. A reader must refuse versions that it does not know.
const EXPORT_VERSION: u32 = 2;

/// A plan with the rows of the current batch, as a header and arrays: [`Engine::export`].
#[derive(Clone, Debug, Default)]
pub struct Exported {
    /// JSON.
    pub header: String,
    /// Indexed by the numbers that the header uses.
    pub arrays: Vec<ExportedArray>,
}

/// The part of a plan, exported with all rows, that the current batch uses:
/// [`Engine::export_batch`].
#[derive(Clone, Debug, Default)]
pub struct ExportedBatch {
    /// Of components that list rows of batched tables: the number, the offsets, and the tuples that take part, by their places in
    /// the list of all.
    pub components: Vec<(usize, Vec<u32>, Vec<u32>)>,
    /// By request: the codes of its rows, if they are not those of the plan with all rows.
    pub codes: Vec<Option<Vec<u64>>>,
}

/// An array of an [`Exported`] plan.
#[derive(Clone, Debug)]
pub enum ExportedArray {
    /// Places, keys and offsets.
    Int32(Vec<i32>),
    /// Codes of rows, and places that do not fit 32 bits.
    Int64(Vec<i64>),
    /// Logs of counts.
    Float64(Vec<f64>),
}

/// Builds the header.
struct Writer {
    out: String,
    arrays: Vec<ExportedArray>,
    too_large: bool,
    /// The number of strata, which have the first requests.
    strata: usize,
    /// By stratum, if they are written: the arrays of its tuples' codes and places.
    tuples: Vec<Option<[usize; 2]>>,
}

type Written = Result<(), std::fmt::Error>;

impl Writer {
    fn text(&mut self, text: &str) -> Written {
        self.out.push('"');
        for c in text.chars() {
            match c {
                '"' | '\\' => write!(self.out, "\\{c}")?,
                c if (c as u32) < 0x20 => write!(self.out, "\\u{:04x}", c as u32)?,
                c => self.out.push(c),
            }
        }
        self.out.push('"');
        Ok(())
    }

    fn key(&mut self, key: &str) -> Written {
        match self.out.ends_with(['{', '[']) {
            true => write!(self.out, "\"{key}\":"),
            false => write!(self.out, ",\"{key}\":"),
        }
    }

    fn number(&mut self, key: &str, value: impl std::fmt::Display) -> Written {
        self.key(key)?;
        write!(self.out, "{value}")
    }

    fn name(&mut self, key: &str, value: &str) -> Written {
        self.key(key)?;
        self.text(value)
    }

    fn list<I>(
        &mut self,
        items: impl IntoIterator<Item = I>,
        mut each: impl FnMut(&mut Writer, I) -> Written,
    ) -> Written {
        self.out.push('[');
        for (i, item) in items.into_iter().enumerate() {
            if i > 0 {
                self.out.push(',');
            }
            each(self, item)?;
        }
        self.out.push(']');
        Ok(())
    }

    fn numbers(&mut self, key: &str, items: &[usize]) -> Written {
        self.key(key)?;
        self.list(items, |w, n| write!(w.out, "{n}"))
    }

    fn array(&mut self, array: ExportedArray) -> Written {
        self.arrays.push(array);
        write!(self.out, "{}", self.arrays.len() - 1)
    }

    fn places(&mut self, values: &[u32]) -> Written {
        let narrow = values.iter().all(|v| i32::try_from(*v).is_ok());
        self.array(match narrow {
            true => ExportedArray::Int32(values.iter().map(|v| *v as i32).collect()),
            false => ExportedArray::Int64(values.iter().map(|v| i64::from(*v)).collect()),
        })
    }

    fn wide(&mut self, values: &[u64]) -> Written {
        self.too_large |= values.iter().any(|v| i64::try_from(*v).is_err());
        self.array(ExportedArray::Int64(
            values.iter().map(|v| *v as i64).collect(),
        ))
    }

    /// The values of a map; a range where possible, so that the individuals of a sort are not
    /// listed.
    fn map(&mut self, narrow: Option<&[u32]>, wide: &[u64]) -> Written {
        let at = |i: usize| narrow.map_or_else(|| wide[i], |n| u64::from(n[i])) as i64;
        let len = narrow.map_or(wide.len(), <[u32]>::len);
        let step = if len > 1 {
            at(1).wrapping_sub(at(0))
        } else {
            0
        };
        let even = (1..len).all(|i| at(i).wrapping_sub(at(i - 1)) == step);
        if len > 0 && even {
            self.key("range")?;
            return write!(self.out, "[{},{step}]", at(0));
        }
        self.key("values")?;
        match narrow {
            Some(narrow) => self.places(narrow),
            None => self.wide(wide),
        }
    }

    fn place(&mut self, key: &str, place: SlotSource, bases: &[u32]) -> Written {
        self.key(key)?;
        match place {
            SlotSource::Base(slot) => write!(self.out, "{{\"base\":{}}}", bases[slot]),
            SlotSource::Array(index) => write!(self.out, "{{\"array\":{index}}}"),
        }
    }

    fn adds(&mut self, key: &str, adds: &[Add], base: impl Fn(usize) -> u64) -> Written {
        self.key(key)?;
        self.list(adds, |w, add| {
            w.out.push('{');
            w.key("from")?;
            match add.from {
                SlotSource::Base(slot) => write!(w.out, "{{\"base\":{}}}", base(slot))?,
                SlotSource::Array(index) => write!(w.out, "{{\"array\":{index}}}")?,
            }
            w.key("maps")?;
            w.list(&add.maps, |w, own| {
                w.list(own, |w, map| write!(w.out, "{map}"))
            })?;
            w.out.push('}');
            Ok(())
        })
    }

    fn level(&mut self, plan: &Plan, exec: &Physical, level: &Level, bases: &[u32]) -> Written {
        self.out.push('{');
        self.number("parent", level.parent)?;
        self.key("components")?;
        self.list(&level.components, |w, c| {
            w.out.push('{');
            w.number("component", c.component)?;
            if let Some(key) = c.key {
                w.place("key", key, bases)?;
            }
            w.out.push('}');
            Ok(())
        })?;
        self.adds("adds", &level.adds, |slot| u64::from(bases[slot]))?;
        self.adds("wide_adds", &level.wide_adds, |slot| exec.wide_slots[slot])?;
        self.key("lookups")?;
        self.list(&level.resolves, |w, lookup| w.lookup(plan, exec, lookup))?;
        self.out.push('}');
        Ok(())
    }

    /// What a code is looked up in: a request's rows, or a stratum's tuples.
    fn looked_up_in(&mut self, plan: &Plan, request: usize) -> Written {
        let Some(stratum) = plan.strata.strata.get(request) else {
            return self.number("request", request - self.strata);
        };
        // Codes that are places already stay unchanged.
        let mut codes = stratum.codes.iter().enumerate();
        if codes.all(|(place, code)| place as u64 == *code) {
            return Ok(());
        }
        if self.tuples[request].is_none() {
            let mut entries: Vec<(u64, u32)> = stratum.codes.iter().copied().zip(0..).collect();
            entries.sort_unstable();
            let at = self.arrays.len();
            let codes = entries.iter().map(|e| e.0 as i64).collect();
            let places = entries.iter().map(|e| i64::from(e.1)).collect();
            self.arrays.push(ExportedArray::Int64(codes));
            self.arrays.push(ExportedArray::Int64(places));
            self.tuples[request] = Some([at, at + 1]);
        }
        let [codes, places] = self.tuples[request].unwrap_or_default();
        self.number("codes", codes)?;
        self.number("keys", places)
    }

    fn lookup(&mut self, plan: &Plan, exec: &Physical, lookup: &Lookup) -> Written {
        self.out.push('{');
        self.number("wide", lookup.wide)?;
        self.number("array", lookup.array)?;
        match lookup.table {
            ResolveTable::Request(request) => self.looked_up_in(plan, request)?,
            ResolveTable::Key(table) => {
                let mut entries: Vec<(u64, u32)> = exec.key_tables[table]
                    .iter()
                    .map(|(c, k)| (*c, *k))
                    .collect();
                entries.sort_unstable();
                self.key("codes")?;
                self.wide(&entries.iter().map(|e| e.0).collect::<Vec<_>>())?;
                self.key("keys")?;
                self.places(&entries.iter().map(|e| e.1).collect::<Vec<_>>())?;
            }
            ResolveTable::Applied { functions, request } => {
                if let Some(request) = request {
                    self.looked_up_in(plan, request)?;
                }
                self.applied(&exec.applied[functions])?;
            }
        }
        self.out.push('}');
        Ok(())
    }

    fn applied(&mut self, applied: &Applied) -> Written {
        self.key("applied")?;
        self.list(&applied.arguments, |w, (tree, stride)| {
            w.out.push('[');
            w.tree(tree)?;
            write!(w.out, ",{stride}]")
        })
    }

    fn tree(&mut self, tree: &Tree) -> Written {
        match tree {
            Tree::Digit { stride, extent } => {
                write!(self.out, "{{\"digit\":[{stride},{extent}]}}")
            }
            Tree::Fixed(index) => write!(self.out, "{{\"fixed\":{index}}}"),
            Tree::Function { values, arguments } => {
                self.out.push('{');
                self.key("arguments")?;
                self.list(arguments, |w, (tree, size)| {
                    w.out.push('[');
                    w.tree(tree)?;
                    write!(w.out, ",{size}]")
                })?;
                let individuals = match values {
                    Values::Row => None,
                    Values::Numbered(places) => Some(&places[..]),
                    Values::Given(values) => match values.as_ref() {
                        FunctionData::Individuals(values) => Some(&values[..]),
                        FunctionData::Reals(_) => None,
                    },
                };
                if let Some(values) = individuals {
                    self.key("values")?;
                    self.places(values)?;
                }
                self.out.push('}');
                Ok(())
            }
        }
    }

    fn node(&mut self, node: &Node, bases: &[u32]) -> Written {
        self.out.push('{');
        self.number("level", node.level)?;
        match &node.kind {
            NodeKind::Constant(truth) => {
                self.name("kind", "constant")?;
                self.number("truth", truth)?;
            }
            NodeKind::Literal {
                request, negated, ..
            } => {
                self.name("kind", "literal")?;
                self.number("request", request - self.strata)?;
                self.number("negated", negated)?;
                self.place("place", node.place, bases)?;
            }
            NodeKind::Use {
                stratum, negated, ..
            } => {
                self.name("kind", "use")?;
                self.number("stratum", stratum)?;
                self.number("negated", negated)?;
                self.place("place", node.place, bases)?;
            }
            NodeKind::Not(a) => {
                self.name("kind", "not")?;
                self.numbers("members", &[*a])?;
            }
            NodeKind::And(members) => {
                self.name("kind", "and")?;
                self.numbers("members", members)?;
            }
            NodeKind::Or(members) => {
                self.name("kind", "or")?;
                self.numbers("members", members)?;
            }
            NodeKind::Implies(a, b) => {
                self.name("kind", "implies")?;
                self.numbers("members", &[*a, *b])?;
            }
            NodeKind::Iff(a, b) => {
                self.name("kind", "iff")?;
                self.numbers("members", &[*a, *b])?;
            }
            NodeKind::Log(a) => {
                self.name("kind", "log")?;
                self.numbers("members", &[*a])?;
            }
            NodeKind::Quantifier {
                forall,
                level,
                body,
            } => {
                self.name("kind", if *forall { "forall" } else { "exists" })?;
                self.number("inner", level)?;
                self.number("body", body)?;
            }
            NodeKind::Elimination(index) => {
                self.name("kind", "elimination")?;
                self.number("elimination", index)?;
                self.place("key", node.place, bases)?;
            }
        }
        self.out.push('}');
        Ok(())
    }

    /// Formulas, levels and eliminations: what axioms and strata have in common.
    fn program(&mut self, plan: &Plan, exec: &Physical, bases: &[u32]) -> Written {
        self.key("nodes")?;
        self.list(&exec.nodes, |w, node| w.node(node, bases))?;
        self.key("levels")?;
        let levels = &exec.levels[..exec.quantifier_levels];
        self.list(levels, |w, level| w.level(plan, exec, level, bases))?;
        self.key("eliminations")?;
        self.list(&exec.eliminations, |w, of| w.elimination(of))
    }

    fn stratum(&mut self, plan: &Plan, number: usize, bases: &[Vec<u32>]) -> Written {
        let stratum = &plan.strata.strata[number];
        self.out.push('{');
        self.name("name", &stratum.name)?;
        self.number("tuples", stratum.codes.len())?;
        self.number("layers", stratum.layers)?;
        self.number("circle", stratum.circle)?;
        self.number("counts", stratum.counts)?;
        if let Some(of) = stratum.contraction {
            self.key("product")?;
            self.out.push('{');
            for (key, value) in [
                ("left", of.left),
                ("right", of.right),
                ("rows", of.rows),
                ("columns", of.columns),
                ("inner", of.inner),
            ] {
                self.number(key, value)?;
            }
            self.out.push('}');
        }
        self.key("programs")?;
        self.list(stratum.programs.iter().enumerate(), |w, (sign, exec)| {
            let Some(exec) = exec else {
                return write!(w.out, "null");
            };
            w.out.push('{');
            w.number("root", exec.root)?;
            let bases = &bases[plan.programs.len() + 2 * number + sign];
            w.program(plan, exec, bases)?;
            w.out.push('}');
            Ok(())
        })?;
        self.out.push('}');
        Ok(())
    }

    /// Numbers one after the other, this many for each thing.
    fn flat<const N: usize>(&mut self, key: &str, values: &[[i64; N]]) -> Written {
        self.key(key)?;
        self.array(ExportedArray::Int64(values.concat()))
    }

    fn events(&mut self, events: &ExportedEvents) -> Written {
        self.out.push('{');
        self.flat("states", &events.states)?;
        self.key("circuits")?;
        self.list(&events.circuits, |w, circuit| {
            w.out.push('{');
            w.key("slots")?;
            w.places(&circuit.slots)?;
            w.flat("nodes", &circuit.nodes)?;
            w.key("entries")?;
            w.places(&circuit.entries)?;
            w.number("root", circuit.root)?;
            w.key("instances")?;
            w.array(ExportedArray::Int64(circuit.instances.clone()))?;
            w.key("firsts")?;
            w.places(&circuit.firsts)?;
            w.flat("evidence", &circuit.evidence)?;
            w.key("allowed")?;
            w.places(&circuit.allowed)?;
            w.out.push('}');
            Ok(())
        })?;
        self.flat("observations", &events.observations)?;
        self.key("weights")?;
        self.array(ExportedArray::Float64(events.weights.clone()))?;
        self.flat("terms", &events.terms)?;
        self.out.push('}');
        Ok(())
    }

    fn own_parameters(&mut self, own: &AxiomParameters) -> Written {
        for (key, value) in [
            ("alpha", own.alpha),
            ("p", own.p),
            ("p_forall", own.p_forall),
        ] {
            if let Some(value) = value {
                self.number(key, value)?;
            }
        }
        Ok(())
    }

    /// What an operator computes, and its laws.
    fn operator(
        &mut self,
        key: &str,
        expressed: Expressed,
        laws: impl FnOnce(&mut Writer) -> Written,
    ) -> Written {
        self.key(key)?;
        self.out.push('{');
        match expressed {
            Expressed::Of(text) => self.name("of", text)?,
            Expressed::All(reduction) => self.reduction(&reduction)?,
            Expressed::Rewritten => {}
        }
        laws(self)?;
        self.out.push('}');
        Ok(())
    }

    fn reduction(&mut self, of: &Reduction) -> Written {
        self.key("keeps")?;
        self.list(of.keeps, |w, kept| {
            w.out.push('{');
            w.name("name", kept.name)?;
            let how = match kept.how {
                How::Sum => "sum",
                How::Greatest => "greatest",
            };
            w.name(how, kept.of)?;
            if let Some((to, factor)) = kept.moves {
                w.name("relative_to", to)?;
                w.name("factor", factor)?;
            }
            w.out.push('}');
            Ok(())
        })?;
        self.name("value", of.value)
    }

    fn connective(&mut self, laws: &ConnectiveLaws) -> Written {
        self.number("adds", laws.adds)?;
        self.number("complements", laws.wants_complements)?;
        self.semiring(laws.semiring)
    }

    fn aggregator(&mut self, laws: &AggregatorLaws) -> Written {
        self.number("linear", laws.is_linear())?;
        self.number("picks_one", laws.picks_one)?;
        self.number("complements", laws.wants_complements)?;
        self.semiring(laws.semiring)
    }

    fn semiring(&mut self, semiring: Option<Semiring>) -> Written {
        match semiring {
            None => Ok(()),
            Some(Semiring::Greatest) => self.name("semiring", "greatest"),
            Some(Semiring::Exponentials { mean: true }) => self.name("semiring", "mean"),
            Some(Semiring::Exponentials { mean: false }) => self.name("semiring", "sum"),
        }
    }

    fn elimination(&mut self, of: &Elimination) -> Written {
        self.out.push('{');
        self.number("keyed", of.key_slot.is_some())?;
        self.numbers("common", &of.common)?;
        self.key("factors")?;
        self.list(&of.factors, |w, factor| {
            w.out.push('{');
            w.number("level", factor.level)?;
            w.number("body", factor.body)?;
            w.number("size", factor.size)?;
            w.out.push('}');
            Ok(())
        })?;
        self.key("steps")?;
        self.list(of.steps.iter().zip(&of.last), |w, (step, last)| {
            w.out.push('{');
            w.number("last", last)?;
            w.key("inputs")?;
            w.list(&step.inputs, |w, input| match input {
                EliminationInput::Message(m) => write!(w.out, "{{\"message\":{m}}}"),
                EliminationInput::Factor(f) => write!(w.out, "{{\"factor\":{f}}}"),
            })?;
            let (mut messages, mut combinations) = (vec![0], vec![0]);
            let mut ends = Vec::new();
            for list in &step.lists {
                ends.extend_from_slice(&list.ends);
                messages.push(ends.len() as u32);
                combinations.push(combinations[combinations.len() - 1] + list.len() as u32);
            }
            w.key("message_offsets")?;
            w.places(&messages)?;
            w.key("combination_offsets")?;
            w.places(&combinations)?;
            w.key("ends")?;
            w.places(&ends)?;
            w.key("places")?;
            w.list(0..step.inputs.len(), |w, i| {
                let own = step.lists.iter().flat_map(|list| {
                    let len = list.len();
                    &list.places[i * len..(i + 1) * len]
                });
                let own: Vec<u32> = own.copied().collect();
                w.places(&own)
            })?;
            w.out.push('}');
            Ok(())
        })?;
        self.key("lists_of_key")?;
        let lists = of.lists_of_key.iter();
        self.array(ExportedArray::Int32(
            lists
                .map(|&l| if l == NO_LIST { -1 } else { l as i32 })
                .collect(),
        ))?;
        self.key("counts")?;
        let counts = of.counts.iter().map(|&c| c as f64).collect();
        self.array(ExportedArray::Float64(counts))?;
        self.key("log_counts")?;
        self.array(ExportedArray::Float64(of.log_counts.clone()))?;
        self.number("log_unread", of.log_unread)?;
        self.out.push('}');
        Ok(())
    }
}

impl<T: Real> Engine<T> {
    /// The plan with the rows of the current batch, as plain arrays: lists of bindings with one number per listed tuple,
    /// ranges for the individuals of a sort, and formulas as nodes. Never a grid.
    ///
    /// # Errors
    /// If a predicate has more than 2⁶³ tuples of which some are looked up, or laws that are asked about have no circuit.
    pub fn export(&self) -> Result<Exported, Diagnostics> {
        if let Some(events) = &self.events {
            events.has_circuits()?;
        }
        let mut writer = Writer {
            out: String::new(),
            arrays: Vec::new(),
            too_large: false,
            strata: self.strata(),
            tuples: vec![None; self.strata()],
        };
        let written = self.write(&mut writer);
        if writer.too_large {
            let message = "a predicate has too many tuples for them to be numbered in 64 bits";
            return Err(Diagnostic::error(Code::TooManyTuples, message).into());
        }
        if let Err(error) = written {
            return Err(Diagnostic::error(Code::Internal, error.to_string()).into());
        }
        Ok(Exported {
            header: writer.out,
            arrays: writer.arrays,
        })
    }

    /// The part of the plan that the current batch uses; the plan is the one that [`Engine::export`] gives before any
    /// batch is set. The time depends on the size of the batch, not of the table.
    pub fn export_batch(&self) -> ExportedBatch {
        let (plan, active) = (&*self.ground.plan, &self.ground.active);
        let components = plan.components.iter().zip(&active.components).enumerate();
        let requests = plan.requests.iter().zip(&active.numbering);
        ExportedBatch {
            components: components
                .filter(|(_, (component, _))| component.batched.is_some())
                .map(|(i, (_, own))| (i, own.offsets.clone(), own.chosen.clone()))
                .collect(),
            codes: requests
                .skip(self.strata())
                .map(|(r, own)| (r.dynamic && !r.complete).then(|| own.codes.clone()))
                .collect(),
        }
    }

    fn write(&self, w: &mut Writer) -> Written {
        let (plan, active) = (&*self.ground.plan, &self.ground.active);
        let theory = plan.data.theory();
        w.out.push('{');
        w.name("format", "logltn-plan")?;
        w.number("version", EXPORT_VERSION)?;
        let s = &plan.semantics;
        w.key("semantics")?;
        w.out.push('{');
        w.name("name", s.name)?;
        w.name(
            "space",
            match s.space {
                Space::Log => "log",
                Space::Truth => "truth",
                Space::Mixed => "mixed",
            },
        )?;
        let (and, or) = (s.and, s.or);
        w.operator("and", and.expressed(), |w| w.connective(and.laws()))?;
        w.operator("or", or.expressed(), |w| w.connective(or.laws()))?;
        w.operator("implies", s.implies.expressed(), |_| Ok(()))?;
        w.operator("not", s.not.expressed(), |_| Ok(()))?;
        for (key, aggregator) in [
            ("forall", s.aggregator(true)),
            ("exists", s.aggregator(false)),
            ("over_axioms", s.over_axioms),
        ] {
            let expressed = Expressed::All(aggregator.expressed());
            w.operator(key, expressed, |w| w.aggregator(aggregator.laws()))?;
        }
        w.number("stable_eps", s.stable_eps)?;
        if let Some(p) = self.over_axioms.p_forall {
            w.number("p_axioms", p)?;
        }
        w.name(
            "loss",
            match s.loss {
                Loss::MinusSat => "minus_sat",
                Loss::OneMinusSat => "one_minus_sat",
            },
        )?;
        w.out.push('}');
        w.key("requests")?;
        w.list(self.strata()..plan.requests.len(), |w, i| {
            let (request, own) = (&self.requests[i], &plan.requests[i]);
            w.out.push('{');
            w.name("predicate", &theory[request.predicate].name)?;
            w.name(
                "output",
                match plan.output(request.predicate).kind {
                    OutputKind::Softmax => "softmax",
                    OutputKind::Sigmoid => "sigmoid",
                    OutputKind::Truth => "truth",
                    OutputKind::LogTruth => "log_truth",
                },
            )?;
            w.number("rows", request.rows())?;
            w.number("width", request.width)?;
            w.number("arity", request.arity)?;
            w.number("negated", self.wanted[i][1])?;
            let events = self.events.as_ref();
            if own.complete && events.is_none() {
                w.key("extents")?;
                w.list(&own.extents, |w, n| write!(w.out, "{n}"))?;
            } else {
                w.key("individuals")?;
                w.places(request.individuals())?;
                w.key("codes")?;
                let codes = events.map_or(&active.numbering[i].codes[..], |e| e.rows(i));
                w.wide(codes)?;
            }
            w.out.push('}');
            Ok(())
        })?;
        w.key("components")?;
        w.list(&active.components, |w, component| {
            w.out.push('{');
            match component.offsets[..] {
                [0, size] => w.number("size", size)?,
                _ => {
                    w.key("offsets")?;
                    w.places(&component.offsets)?;
                }
            }
            w.out.push('}');
            Ok(())
        })?;
        w.key("maps")?;
        w.list(plan.maps.iter().enumerate(), |w, (i, map)| {
            w.out.push('{');
            w.number("component", map.component)?;
            match &map.values {
                MapValues::Wide(_) => w.map(None, &active.wide[i])?,
                _ => w.map(Some(&active.maps[i]), &[])?,
            }
            w.out.push('}');
            Ok(())
        })?;
        w.key("axioms")?;
        w.list(plan.programs.iter().enumerate(), |w, (i, exec)| {
            let bases = &active.bases[i];
            w.out.push('{');
            w.name("name", &plan.axioms[i].name)?;
            w.number("weight", self.over_axioms.weights[i])?;
            w.own_parameters(&self.own[i])?;
            w.number("group", self.ground.groups[i])?;
            if self.events.is_some() {
                // Its meaning is in its events.
                w.out
                    .push_str(",\"roots\":[],\"nodes\":[],\"levels\":[{}],\"eliminations\":[]}");
                return Ok(());
            }
            w.key("roots")?;
            w.list(&exec.roots, |w, root| write!(w.out, "{}", root.node))?;
            if exec.roots.iter().any(|root| root.sharded) {
                w.key("sharded")?;
                w.list(&exec.roots, |w, root| write!(w.out, "{}", root.sharded))?;
            }
            w.program(plan, exec, bases)?;
            w.out.push('}');
            Ok(())
        })?;
        w.key("strata")?;
        w.list(0..self.strata(), |w, i| w.stratum(plan, i, &active.bases))?;
        w.key("groups")?;
        w.list(&self.leaders, |w, leader| {
            w.out.push('{');
            w.own_parameters(&self.own[*leader])?;
            w.out.push('}');
            Ok(())
        })?;
        w.key("steps")?;
        let steps = plan.strata.steps.iter();
        let steps: Vec<i64> = steps
            .flat_map(|s| {
                let constant = i64::from(s.constant);
                [
                    s.stratum as i64,
                    s.layer as i64,
                    i64::from(s.start),
                    i64::from(s.end),
                    constant,
                ]
            })
            .collect();
        w.array(ExportedArray::Int64(steps))?;
        if let Some(events) = &self.events {
            w.key("events")?;
            w.events(&events.export(plan, self.strata()))?;
        }
        w.out.push('}');
        Ok(())
    }
}
