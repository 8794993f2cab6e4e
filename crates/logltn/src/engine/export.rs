//! The plan as plain arrays, for whoever runs it elsewhere: on a GPU, or in another program. The format is described in
//! `crates/logltn/PLAN-FORMAT.md`; it is a header in JSON and the arrays that it names by number.

use std::fmt::Write;

use super::Engine;
use crate::data::FunctionData;
use crate::diagnostic::{Code, Diagnostic, Diagnostics};
use crate::operators::{Loss, Space};
use crate::output::OutputKind;
use crate::plan::applied::{Applied, Tree, Values};
use crate::plan::physical::{Add, Level, Lookup, Node, Physical, Place};
use crate::plan::program::{
    Elimination, EliminationInput, MapValues, NO_LIST, NodeKind, ResolveTable,
};
use crate::vector::Real;

/// The version of the format: other numbers are read by other programs.
pub const EXPORT_VERSION: u32 = 1;

/// A plan with the rows of the current batch, as a header and arrays: [`Engine::export`].
#[derive(Clone, Debug, Default)]
pub struct Exported {
    /// JSON.
    pub header: String,
    /// By the numbers that the header uses.
    pub arrays: Vec<ExportedArray>,
}

/// What the current batch has of a plan that was exported with all rows: [`Engine::export_batch`].
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

/// Makes the header.
struct Writer {
    out: String,
    arrays: Vec<ExportedArray>,
    too_large: bool,
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

    /// The values of a map, as a range where they are one: the individuals of a sort are not listed.
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

    fn place(&mut self, key: &str, place: Place, bases: &[u32]) -> Written {
        self.key(key)?;
        match place {
            Place::Base(slot) => write!(self.out, "{{\"base\":{}}}", bases[slot]),
            Place::Array(index) => write!(self.out, "{{\"array\":{index}}}"),
        }
    }

    fn adds(&mut self, key: &str, adds: &[Add], base: impl Fn(usize) -> u64) -> Written {
        self.key(key)?;
        self.list(adds, |w, add| {
            w.out.push('{');
            w.key("from")?;
            match add.from {
                Place::Base(slot) => write!(w.out, "{{\"base\":{}}}", base(slot))?,
                Place::Array(index) => write!(w.out, "{{\"array\":{index}}}")?,
            }
            w.key("maps")?;
            w.list(&add.maps, |w, own| {
                w.list(own, |w, map| write!(w.out, "{map}"))
            })?;
            w.out.push('}');
            Ok(())
        })
    }

    fn level(&mut self, exec: &Physical, level: &Level, bases: &[u32]) -> Written {
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
        self.list(&level.resolves, |w, lookup| w.lookup(exec, lookup))?;
        self.out.push('}');
        Ok(())
    }

    fn lookup(&mut self, exec: &Physical, lookup: &Lookup) -> Written {
        self.out.push('{');
        self.number("wide", lookup.wide)?;
        self.number("array", lookup.array)?;
        match lookup.table {
            ResolveTable::Request(request) => self.number("request", request)?,
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
                    self.number("request", request)?;
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
                self.number("request", request)?;
                self.number("negated", negated)?;
                self.place("place", node.place, bases)?;
            }
            // Refused before.
            NodeKind::Use { .. } => return Err(std::fmt::Error),
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
    /// If a predicate has more than 2⁶³ tuples of which some are looked up, the theory has definitions, parts of axioms are
    /// shared ([`PlanOptions::share`](crate::PlanOptions::share)), or formulas have exact probabilities.
    pub fn export(&self) -> Result<Exported, Diagnostics> {
        if self.strata() > 0 {
            let message = match self.ground.plan.shares_parts() {
                true => "plans that share parts of axioms are run by the CPU engine only",
                false => "plans of theories with definitions are run by the CPU engine only",
            };
            return Err(Diagnostic::error(Code::NotExported, message).into());
        }
        if self.events.is_some() {
            let message = "exact probabilities are computed by the CPU engine only";
            return Err(Diagnostic::error(Code::NotExported, message).into());
        }
        let mut writer = Writer {
            out: String::new(),
            arrays: Vec::new(),
            too_large: false,
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

    /// What the current batch has of the plan with all rows, as [`Engine::export`] gives it before any batch is set. It takes the
    /// time of listing the batch, not the table.
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
        for (key, name) in [
            ("and", s.and.name()),
            ("or", s.or.name()),
            ("implies", s.implies.name()),
            ("not", s.not.name()),
            ("forall", s.aggregator(true).name()),
            ("exists", s.aggregator(false).name()),
            ("over_axioms", s.over_axioms.name()),
        ] {
            w.name(key, name)?;
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
        w.list(0..plan.requests.len(), |w, i| {
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
            if own.complete {
                w.key("extents")?;
                w.list(&own.extents, |w, n| write!(w.out, "{n}"))?;
            } else {
                w.key("individuals")?;
                w.places(request.individuals())?;
                w.key("codes")?;
                w.wide(&active.numbering[i].codes)?;
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
            let own = &self.own[i];
            for (key, value) in [
                ("alpha", own.alpha),
                ("p", own.p),
                ("p_forall", own.p_forall),
            ] {
                if let Some(value) = value {
                    w.number(key, value)?;
                }
            }
            w.key("roots")?;
            w.list(&exec.roots, |w, root| write!(w.out, "{}", root.node))?;
            if exec.roots.iter().any(|root| root.sharded) {
                w.key("sharded")?;
                w.list(&exec.roots, |w, root| write!(w.out, "{}", root.sharded))?;
            }
            w.key("nodes")?;
            w.list(&exec.nodes, |w, node| w.node(node, bases))?;
            w.key("levels")?;
            let levels = &exec.levels[..exec.quantifier_levels];
            w.list(levels, |w, level| w.level(exec, level, bases))?;
            w.key("eliminations")?;
            w.list(&exec.eliminations, |w, of| w.elimination(of))?;
            w.out.push('}');
            Ok(())
        })?;
        w.out.push('}');
        Ok(())
    }
}
