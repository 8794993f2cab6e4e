//! The plan as plain arrays, for callers that run it elsewhere: on a GPU, or in another program. The format is
//! described in `crates/logltn/PLAN-FORMAT.md`; it is a header in JSON and the arrays that it names by number.

use std::fmt::{Display, Write};

use super::Engine;
use crate::data::FunctionData;
use crate::diagnostic::{Code, Diagnostic, Diagnostics};
use crate::operators::{
    AggregatorLaws, ConnectiveLaws, Expressed, How, Loss, Reduction, Semiring, Space,
};
use crate::parameters::AxiomParameters;
use crate::plan::Plan;
use crate::plan::applied::{Tree, Values};
use crate::plan::events::ExportedEvents;
use crate::plan::physical::{Add, Level, Lookup, Node, Physical, SlotSource};
use crate::plan::program::{
    Elimination, EliminationInput, MapValues, NO_LIST, NodeKind, ResolveTable,
};
use crate::vector::Real;

/// The version of the format. A reader must refuse versions that it does not know.
const EXPORT_VERSION: u32 = 4;

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

impl Writer {
    fn write(&mut self, value: impl Display) {
        // Only memory could fail.
        let _ = write!(self.out, "{value}");
    }

    fn text(&mut self, text: &str) {
        self.out.push('"');
        for c in text.chars() {
            match c {
                '"' | '\\' => self.write(format_args!("\\{c}")),
                c if (c as u32) < 0x20 => self.write(format_args!("\\u{:04x}", c as u32)),
                c => self.out.push(c),
            }
        }
        self.out.push('"');
    }

    fn key(&mut self, key: &str) {
        if !self.out.ends_with(['{', '[']) {
            self.out.push(',');
        }
        self.write(format_args!("\"{key}\":"));
    }

    fn number(&mut self, key: &str, value: impl Display) {
        self.key(key);
        self.write(value);
    }

    fn name(&mut self, key: &str, value: &str) {
        self.key(key);
        self.text(value);
    }

    fn list<I>(
        &mut self,
        items: impl IntoIterator<Item = I>,
        mut each: impl FnMut(&mut Writer, I),
    ) {
        self.out.push('[');
        for (i, item) in items.into_iter().enumerate() {
            if i > 0 {
                self.out.push(',');
            }
            each(self, item);
        }
        self.out.push(']');
    }

    fn numbers<I: Display>(&mut self, key: &str, items: impl IntoIterator<Item = I>) {
        self.key(key);
        self.list(items, |w, n| w.write(n));
    }

    fn object(&mut self, write: impl FnOnce(&mut Writer)) {
        self.out.push('{');
        write(self);
        self.out.push('}');
    }

    fn objects<I>(
        &mut self,
        key: &str,
        items: impl IntoIterator<Item = I>,
        mut each: impl FnMut(&mut Writer, I),
    ) {
        self.key(key);
        self.list(items, |w, item| w.object(|w| each(w, item)));
    }

    fn array(&mut self, array: ExportedArray) {
        self.arrays.push(array);
        self.write(self.arrays.len() - 1);
    }

    fn places(&mut self, values: &[u32]) {
        let narrow = values.iter().all(|v| i32::try_from(*v).is_ok());
        self.array(match narrow {
            true => ExportedArray::Int32(values.iter().map(|v| *v as i32).collect()),
            false => ExportedArray::Int64(values.iter().map(|v| i64::from(*v)).collect()),
        });
    }

    fn places_of(&mut self, key: &str, values: &[u32]) {
        self.key(key);
        self.places(values);
    }

    fn wide(&mut self, key: &str, values: &[u64]) {
        self.too_large |= values.iter().any(|v| i64::try_from(*v).is_err());
        self.codes(key, values.iter().map(|v| *v as i64).collect());
    }

    fn codes(&mut self, key: &str, values: Vec<i64>) {
        self.key(key);
        self.array(ExportedArray::Int64(values));
    }

    fn reals(&mut self, key: &str, values: Vec<f64>) {
        self.key(key);
        self.array(ExportedArray::Float64(values));
    }

    /// The values of a map; a range where possible, so that the individuals of a sort are not
    /// listed.
    fn map(&mut self, narrow: Option<&[u32]>, wide: &[u64]) {
        let at = |i: usize| narrow.map_or_else(|| wide[i], |n| u64::from(n[i])) as i64;
        let len = narrow.map_or(wide.len(), <[u32]>::len);
        let step = if len > 1 {
            at(1).wrapping_sub(at(0))
        } else {
            0
        };
        let even = (1..len).all(|i| at(i).wrapping_sub(at(i - 1)) == step);
        match narrow {
            _ if len > 0 && even => self.numbers("range", [at(0), step]),
            Some(narrow) => self.places_of("values", narrow),
            None => self.wide("values", wide),
        }
    }

    fn place(&mut self, key: &str, place: SlotSource, base: impl Fn(usize) -> u64) {
        self.key(key);
        self.object(|w| match place {
            SlotSource::Base(slot) => w.number("base", base(slot)),
            SlotSource::Array(index) => w.number("array", index),
        });
    }

    fn adds(&mut self, key: &str, adds: &[Add], base: impl Fn(usize) -> u64) {
        self.objects(key, adds, |w, add| {
            w.place("from", add.from, &base);
            w.key("maps");
            w.list(&add.maps, |w, own| w.list(own, |w, map| w.write(map)));
        });
    }

    fn level(&mut self, plan: &Plan, exec: &Physical, level: &Level, bases: &[u32]) {
        let base = |slot: usize| u64::from(bases[slot]);
        self.number("parent", level.parent);
        self.objects("components", &level.components, |w, c| {
            w.number("component", c.component);
            if let Some(key) = c.key {
                w.place("key", key, base);
            }
        });
        self.adds("adds", &level.adds, base);
        self.adds("wide_adds", &level.wide_adds, |slot| exec.wide_slots[slot]);
        self.objects("lookups", &level.resolves, |w, l| w.lookup(plan, exec, l));
        if !level.weights.is_empty() {
            self.numbers("weights", &level.weights);
            self.number("counted", level.counted);
        }
    }

    /// What a code is looked up in: a request's rows, or a stratum's tuples.
    fn looked_up_in(&mut self, plan: &Plan, request: usize) {
        let Some(stratum) = plan.strata.strata.get(request) else {
            return self.number("request", request - self.strata);
        };
        // Codes that are places already stay unchanged.
        let mut codes = stratum.codes.iter().enumerate();
        if codes.all(|(place, code)| place as u64 == *code) {
            return;
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
        self.number("codes", codes);
        self.number("keys", places);
    }

    fn lookup(&mut self, plan: &Plan, exec: &Physical, lookup: &Lookup) {
        self.number("wide", lookup.wide);
        self.number("array", lookup.array);
        match lookup.table {
            ResolveTable::Request(request) => self.looked_up_in(plan, request),
            ResolveTable::Key(table) => {
                let entries = exec.key_tables[table].iter();
                let mut entries: Vec<(u64, u32)> = entries.map(|(c, k)| (*c, *k)).collect();
                entries.sort_unstable();
                let (codes, keys): (Vec<u64>, Vec<u32>) = entries.into_iter().unzip();
                self.wide("codes", &codes);
                self.places_of("keys", &keys);
            }
            ResolveTable::Applied { functions, request } => {
                if let Some(request) = request {
                    self.looked_up_in(plan, request);
                }
                self.key("applied");
                self.trees(&exec.applied[functions].arguments);
            }
        }
    }

    /// Each with a number.
    fn trees(&mut self, trees: &[(Tree, u64)]) {
        self.list(trees, |w, (tree, number)| {
            w.out.push('[');
            w.object(|w| w.tree(tree));
            w.write(format_args!(",{number}]"));
        });
    }

    fn tree(&mut self, tree: &Tree) {
        match tree {
            Tree::Digit { stride, extent } => self.numbers("digit", [stride, extent]),
            Tree::Fixed(index) => self.number("fixed", index),
            Tree::Function { values, arguments } => {
                self.key("arguments");
                self.trees(arguments);
                match values {
                    Values::Row => {}
                    Values::Numbered(places) => self.places_of("values", places),
                    Values::Given(values) => {
                        if let FunctionData::Individuals(values) = values.as_ref() {
                            self.places_of("values", values);
                        }
                    }
                }
            }
        }
    }

    fn node(&mut self, node: &Node, bases: &[u32]) {
        let base = |slot: usize| u64::from(bases[slot]);
        self.number("level", node.level);
        let (kind, members) = match &node.kind {
            NodeKind::Constant(truth) => {
                self.name("kind", "constant");
                return self.number("truth", truth);
            }
            NodeKind::Literal {
                request, negated, ..
            } => {
                self.name("kind", "literal");
                self.number("request", request - self.strata);
                self.number("negated", negated);
                return self.place("place", node.place, base);
            }
            NodeKind::Use {
                stratum, negated, ..
            } => {
                self.name("kind", "use");
                self.number("stratum", stratum);
                self.number("negated", negated);
                return self.place("place", node.place, base);
            }
            NodeKind::Quantifier {
                forall,
                level,
                body,
            } => {
                self.name("kind", if *forall { "forall" } else { "exists" });
                self.number("inner", level);
                return self.number("body", body);
            }
            NodeKind::Elimination(index) => {
                self.name("kind", "elimination");
                self.number("elimination", index);
                return self.place("key", node.place, base);
            }
            NodeKind::Not(_) => ("not", node.kind.children(&[])),
            NodeKind::And(_) => ("and", node.kind.children(&[])),
            NodeKind::Or(_) => ("or", node.kind.children(&[])),
            NodeKind::Implies(..) => ("implies", node.kind.children(&[])),
            NodeKind::Iff(..) => ("iff", node.kind.children(&[])),
            NodeKind::Log(_) => ("log", node.kind.children(&[])),
        };
        self.name("kind", kind);
        self.numbers("members", members);
    }

    /// Formulas, levels and eliminations: what axioms and strata have in common.
    fn program(&mut self, plan: &Plan, exec: &Physical, bases: &[u32]) {
        self.objects("nodes", &exec.nodes, |w, node| w.node(node, bases));
        let levels = &exec.levels[..exec.quantifier_levels];
        self.objects("levels", levels, |w, level| {
            w.level(plan, exec, level, bases)
        });
        self.objects("eliminations", &exec.eliminations, Writer::elimination);
    }

    fn stratum(&mut self, plan: &Plan, number: usize, bases: &[Vec<u32>]) {
        let stratum = &plan.strata.strata[number];
        self.name("name", &stratum.name);
        self.number("tuples", stratum.codes.len());
        self.number("layers", stratum.layers);
        self.number("circle", stratum.circle);
        self.number("counts", stratum.counts);
        if let Some(of) = stratum.contraction {
            self.key("product");
            self.object(|w| {
                w.number("left", of.left);
                w.number("right", of.right);
                w.number("rows", of.rows);
                w.number("columns", of.columns);
                w.number("inner", of.inner);
                if of.linear {
                    w.number("linear", true);
                }
                for (key, side, rows) in [
                    ("left_tuples", of.left, of.rows),
                    ("right_tuples", of.right, of.columns),
                ] {
                    let codes = &plan.strata.strata[side].codes;
                    if codes.len() < rows * of.inner {
                        w.wide(key, codes);
                    }
                }
                if !stratum.log_terms.is_empty() {
                    w.reals("log_terms", stratum.log_terms.clone());
                }
            });
        }
        self.key("programs");
        self.list(stratum.programs.iter().enumerate(), |w, (sign, exec)| {
            let Some(exec) = exec else {
                return w.write("null");
            };
            w.object(|w| {
                w.number("root", exec.root);
                let bases = &bases[plan.programs.len() + 2 * number + sign];
                w.program(plan, exec, bases);
            });
        });
    }

    fn events(&mut self, events: &ExportedEvents) {
        // Numbers one after the other, a few for each thing.
        self.codes("states", events.states.concat());
        self.objects("circuits", &events.circuits, |w, circuit| {
            w.places_of("slots", &circuit.slots);
            w.codes("nodes", circuit.nodes.concat());
            w.places_of("entries", &circuit.entries);
            w.number("root", circuit.root);
            w.codes("instances", circuit.instances.clone());
            w.places_of("firsts", &circuit.firsts);
            w.codes("evidence", circuit.evidence.concat());
            w.places_of("allowed", &circuit.allowed);
        });
        self.codes("observations", events.observations.concat());
        self.reals("weights", events.weights.clone());
        self.codes("terms", events.terms.concat());
    }

    fn own_parameters(&mut self, own: &AxiomParameters) {
        for (key, value) in [
            ("alpha", own.alpha),
            ("p", own.p),
            ("p_forall", own.p_forall),
        ] {
            if let Some(value) = value {
                self.number(key, value);
            }
        }
    }

    /// What an operator computes, and its laws.
    fn operator(&mut self, key: &str, expressed: Expressed, laws: impl FnOnce(&mut Writer)) {
        self.key(key);
        self.object(|w| {
            match expressed {
                Expressed::Of(text) => w.name("of", text),
                Expressed::All(reduction) => w.reduction(&reduction),
                Expressed::Rewritten => {}
            }
            laws(w);
        });
    }

    fn reduction(&mut self, of: &Reduction) {
        self.objects("keeps", of.keeps, |w, kept| {
            w.name("name", kept.name);
            let how = match kept.how {
                How::Sum => "sum",
                How::Greatest => "greatest",
            };
            w.name(how, kept.of);
            if let Some((to, factor)) = kept.moves {
                w.name("relative_to", to);
                w.name("factor", factor);
            }
        });
        self.name("value", of.value);
    }

    fn connective(&mut self, laws: &ConnectiveLaws) {
        self.number("adds", laws.adds);
        self.number("complements", laws.wants_complements);
        self.semiring(laws.semiring);
    }

    fn aggregator(&mut self, laws: &AggregatorLaws) {
        self.number("linear", laws.is_linear());
        self.number("picks_one", laws.picks_one);
        self.number("complements", laws.wants_complements);
        self.semiring(laws.semiring);
    }

    fn semiring(&mut self, semiring: Option<Semiring>) {
        match semiring {
            None => {}
            Some(Semiring::Greatest) => self.name("semiring", "greatest"),
            Some(Semiring::Exponentials { mean: true }) => self.name("semiring", "mean"),
            Some(Semiring::Exponentials { mean: false }) => self.name("semiring", "sum"),
        }
    }

    fn elimination(&mut self, of: &Elimination) {
        self.number("keyed", of.key_slot.is_some());
        self.numbers("common", &of.common);
        self.objects("factors", &of.factors, |w, factor| {
            w.number("level", factor.level);
            w.number("body", factor.body);
            w.number("size", factor.size);
        });
        self.objects("steps", of.steps.iter().zip(&of.last), |w, (step, last)| {
            w.number("last", last);
            w.objects("inputs", &step.inputs, |w, input| match input {
                EliminationInput::Message(m) => w.number("message", m),
                EliminationInput::Factor(f) => w.number("factor", f),
            });
            let (mut messages, mut combinations) = (vec![0], vec![0]);
            let mut ends = Vec::new();
            for list in &step.lists {
                ends.extend_from_slice(&list.ends);
                messages.push(ends.len() as u32);
                combinations.push(combinations[combinations.len() - 1] + list.len() as u32);
            }
            w.places_of("message_offsets", &messages);
            w.places_of("combination_offsets", &combinations);
            w.places_of("ends", &ends);
            w.key("places");
            w.list(0..step.inputs.len(), |w, i| {
                let own = step.lists.iter().flat_map(|list| {
                    let len = list.len();
                    &list.places[i * len..(i + 1) * len]
                });
                w.places(&own.copied().collect::<Vec<u32>>());
            });
        });
        self.key("lists_of_key");
        let lists = of.lists_of_key.iter();
        let lists = lists.map(|&l| if l == NO_LIST { -1 } else { l as i32 });
        self.array(ExportedArray::Int32(lists.collect()));
        self.reals("counts", of.counts.iter().map(|&c| c as f64).collect());
        self.reals("log_counts", of.log_counts.clone());
        self.number("log_unread", of.log_unread);
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
        writer.object(|w| self.write(w));
        if writer.too_large {
            let message = "a predicate has too many tuples for them to be numbered in 64 bits";
            return Err(Diagnostic::error(Code::TooManyTuples, message).into());
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

    fn write(&self, w: &mut Writer) {
        let (plan, active) = (&*self.ground.plan, &self.ground.active);
        w.name("format", "logltn-plan");
        w.number("version", EXPORT_VERSION);
        w.key("semantics");
        w.object(|w| self.write_semantics(w));
        let requests = self.strata()..plan.requests.len();
        w.objects("requests", requests, |w, i| self.write_request(w, i));
        w.objects(
            "components",
            &active.components,
            |w, component| match component.offsets[..] {
                [0, size] => w.number("size", size),
                _ => w.places_of("offsets", &component.offsets),
            },
        );
        w.objects("maps", plan.maps.iter().enumerate(), |w, (i, map)| {
            w.number("component", map.component);
            match &map.values {
                MapValues::Wide(_) => w.map(None, &active.wide[i]),
                _ => w.map(Some(&active.maps[i]), &[]),
            }
        });
        w.objects(
            "axioms",
            plan.programs.iter().enumerate(),
            |w, (i, exec)| {
                w.name("name", &plan.axioms[i].name);
                w.number("weight", self.over_axioms.weights[i]);
                w.own_parameters(&self.own[i]);
                w.number("group", self.ground.groups[i]);
                if self.events.is_some() {
                    // Its meaning is in its events.
                    let nothing = ",\"roots\":[],\"nodes\":[],\"levels\":[{}],\"eliminations\":[]";
                    return w.out.push_str(nothing);
                }
                w.numbers("roots", exec.roots.iter().map(|root| root.node));
                if exec.roots.iter().any(|root| root.sharded) {
                    w.numbers("sharded", exec.roots.iter().map(|root| root.sharded));
                }
                w.program(plan, exec, &active.bases[i]);
            },
        );
        w.objects("strata", 0..self.strata(), |w, i| {
            w.stratum(plan, i, &active.bases)
        });
        w.objects("groups", &self.leaders, |w, leader| {
            w.own_parameters(&self.own[*leader])
        });
        let steps = plan.strata.steps.iter().flat_map(|s| {
            let constant = i64::from(s.constant);
            let (start, end) = (i64::from(s.start), i64::from(s.end));
            [s.stratum as i64, s.layer as i64, start, end, constant]
        });
        w.codes("steps", steps.collect());
        if let Some(events) = &self.events {
            w.key("events");
            w.object(|w| w.events(&events.export(plan, self.strata())));
        }
    }

    fn write_semantics(&self, w: &mut Writer) {
        let s = &self.ground.plan.semantics;
        w.name("name", s.name);
        let space = match s.space {
            Space::Log => "log",
            Space::Truth => "truth",
            Space::Mixed => "mixed",
        };
        w.name("space", space);
        let (and, or) = (s.and, s.or);
        w.operator("and", and.expressed(), |w| w.connective(and.laws()));
        w.operator("or", or.expressed(), |w| w.connective(or.laws()));
        w.operator("implies", s.implies.expressed(), |_| {});
        w.operator("not", s.not.expressed(), |_| {});
        for (key, aggregator) in [
            ("forall", s.aggregator(true)),
            ("exists", s.aggregator(false)),
            ("over_axioms", s.over_axioms),
        ] {
            let expressed = Expressed::All(aggregator.expressed());
            w.operator(key, expressed, |w| w.aggregator(aggregator.laws()));
        }
        w.number("stable_eps", s.stable_eps);
        if let Some(p) = self.over_axioms.p_forall {
            w.number("p_axioms", p);
        }
        let loss = match s.loss {
            Loss::MinusSat => "minus_sat",
            Loss::OneMinusSat => "one_minus_sat",
        };
        w.name("loss", loss);
    }

    fn write_request(&self, w: &mut Writer, i: usize) {
        let plan = &*self.ground.plan;
        let (request, own) = (&self.requests[i], &plan.requests[i]);
        w.name("predicate", &plan.data.theory()[request.predicate].name);
        w.name("output", plan.output(request.predicate).kind.name());
        w.number("rows", request.rows());
        w.number("width", request.width);
        w.number("arity", request.arity);
        w.number("negated", self.wanted[i][1]);
        let events = self.events.as_ref();
        if own.complete && events.is_none() {
            return w.numbers("extents", &own.extents);
        }
        w.places_of("individuals", request.individuals());
        let codes = &self.ground.active.numbering[i].codes[..];
        w.wide("codes", events.map_or(codes, |e| e.rows(i)));
    }
}
