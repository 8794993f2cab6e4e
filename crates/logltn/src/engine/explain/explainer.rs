//! What an explanation of one axiom reads: the tables of the engine, where literals are in them, and the definitions that
//! it opens instead of treating their uses as literals.

use crate::engine::Ground;
use crate::engine::strata::Layer;
use crate::guard::{Cell, Scope, TableIndexes};
use crate::operators::{Settings, Space};
use crate::plan::normal::{Kind, Normal};
use crate::plan::program::ArgumentShape;
use crate::plan::{Leaf, strides};
use crate::theory::{PredicateId, Term, VarId};
use crate::vector::Real;

/// A literal by its place in the tables: request, whether it is negated, and where.
pub(super) type LiteralPlace = (usize, bool, usize);

/// The data that explanations of one axiom read.
pub(super) struct Explainer<'a, T> {
    pub ground: &'a Ground<T>,
    /// By request: which of its tables are filled in.
    pub wanted: &'a [[bool; 2]],
    pub settings: Settings<f64>,
    /// The names of definitions that are opened.
    pub opened: &'a [String],
    pub indexes: &'a TableIndexes,
}

/// Where a part of a formula is: in the axiom, or in a definition that is opened.
#[derive(Clone)]
pub(super) struct Inside<'a> {
    pub scope: Scope<'a>,
    pub layer: Layer,
    /// The variables bound around it.
    pub bound: Vec<VarId>,
    /// Of these, the parameters of the definition.
    pub parameters: &'a [VarId],
}

/// A binding of the variables around a part of a formula, for one of the bindings that are shown.
#[derive(Clone)]
pub(super) struct At {
    pub shown: usize,
    pub env: Vec<Cell>,
}

/// The formula of a definition at a tuple.
pub(super) struct Opened<'a> {
    pub inside: Inside<'a>,
    pub formula: &'a Normal,
    pub env: Vec<Cell>,
    /// The place of its step in the order of computing.
    pub step: usize,
}

/// An atom, ready to be looked up.
pub(super) struct Atom<'n> {
    /// `None` for a definition.
    pub predicate: Option<PredicateId>,
    pub arguments: &'n [Term],
    pub negated: bool,
    pub leaves: Vec<(Leaf, ArgumentShape)>,
    pub request: usize,
    /// Of the leaves that name the row; a further one picks the class.
    strides: Vec<u64>,
}

impl<'a, T: Real> Explainer<'a, T> {
    /// The atom that a formula is, if it is one.
    pub fn atom<'n>(&self, inside: &Inside, normal: &'n Normal) -> Option<Atom<'n>> {
        let plan = &self.ground.plan;
        let (predicate, arguments, negated, stratum) = match &normal.kind {
            Kind::Literal {
                predicate,
                arguments,
                negated,
            } => (Some(*predicate), arguments, *negated, 0),
            Kind::Use {
                stratum,
                arguments,
                negated,
            } => (None, arguments, *negated, *stratum),
            _ => return None,
        };
        let per_class = predicate.is_some_and(|p| plan.output(p).per_class);
        let mut leaves = Vec::new();
        let shape: Vec<_> = (arguments.iter())
            .map(|a| inside.scope.argument(a, &mut leaves))
            .collect();
        let shape = &shape[..shape.len() - usize::from(per_class)];
        let request = predicate.map_or(Some(stratum), |predicate| {
            let mut requests = plan.requests.iter();
            requests.position(|r| r.predicate == predicate && r.shape == shape)
        });
        let request = request.unwrap_or(0);
        Some(Atom {
            predicate,
            arguments,
            negated,
            leaves,
            request,
            strides: strides(&plan.requests[request].extents).unwrap_or_default(),
        })
    }

    /// Where an atom's number is.
    pub fn place(&self, inside: &Inside, atom: &Atom, env: &[Cell]) -> usize {
        let index = |(leaf, _): &(Leaf, ArgumentShape)| inside.scope.leaf_index(leaf, env);
        let (row, class) = atom.leaves.split_at(atom.strides.len());
        let parts = row.iter().zip(&atom.strides);
        let code = parts.map(|(leaf, stride)| u64::from(index(leaf)) * stride);
        let class = class.first().map_or(0, |leaf| index(leaf) as usize);
        self.row(inside, atom.request, code.sum()) + class
    }

    /// Where the row with a code begins.
    pub fn row(&self, inside: &Inside, request: usize, code: u64) -> usize {
        let Ground { plan, active, .. } = self.ground;
        let row = active.numbering[request].number(code) as usize * plan.requests[request].width;
        match request < plan.strata.strata.len() {
            true => inside.layer.start(plan, request) + row,
            false => row,
        }
    }

    pub fn truth(&self, (request, negated, place): LiteralPlace) -> f64 {
        let semantics = &self.ground.plan.semantics;
        let literals = &self.ground.literals[request];
        // A row that nothing in the plan reads has no number.
        let at = |table: &[T]| table.get(place).map_or(0.0, |x| x.to_f64());
        if !negated || semantics.space == Space::Log {
            return at([&literals.positive, &literals.negative][usize::from(negated)]);
        }
        let mut out = [0.0];
        let not = semantics.not.computation::<f64>();
        (not.forward)(&[at(&literals.positive)], &mut out);
        out[0]
    }

    /// Whether the complements of a literal's values are in a table.
    pub fn has_complement(&self, request: usize, negated: bool) -> bool {
        let is_stratum = request < self.ground.plan.strata.strata.len();
        let wanted = self.wanted[request][usize::from(!negated)];
        wanted && !is_stratum && self.ground.plan.semantics.space == Space::Log
    }
    /// Whether a request is that of a definition that is opened.
    pub fn is_opened(&self, request: usize) -> bool {
        let stratum = self.ground.plan.strata.strata.get(request);
        stratum.is_some_and(|s| {
            let mut formulas = s.form.formulas.iter();
            self.opened.contains(&s.form.name) && formulas.any(Option::is_some)
        })
    }

    /// The formula of a definition at a tuple. Its value is known: the engine has computed it. `None` if it has none, or
    /// at the end of a depth.
    pub fn open(
        &self,
        (stratum, negated, place): LiteralPlace,
        group: usize,
    ) -> Option<Opened<'a>> {
        let plan = &*self.ground.plan;
        let planned = &plan.strata.strata[stratum];
        let form = &*planned.form;
        let formula = form.formulas[usize::from(negated)].as_ref()?;
        let (layer, tuple) = planned.tuple_at(place);
        let step = plan.strata.steps.iter().position(|step| {
            (step.stratum, step.layer) == (stratum, layer)
                && (step.start as usize..step.end as usize).contains(&tuple)
        })?;
        let at = plan.strata.steps.get(step).filter(|at| !at.constant)?;
        let scope = Scope {
            data: &plan.data,
            variables: &form.variables,
            indexes: self.indexes,
        };
        let mut individuals = vec![0; form.parameters.len()];
        plan.requests[stratum].decode(planned.codes[tuple], &mut individuals);
        let mut env = scope.environment();
        for (parameter, individual) in form.parameters.iter().zip(individuals) {
            env[parameter.index()] = Cell::Individual(individual);
        }
        let inside = Inside {
            scope,
            layer: Layer::inside(plan, at, group),
            bound: form.parameters.clone(),
            parameters: &form.parameters,
        };
        Some(Opened {
            inside,
            formula,
            env,
            step,
        })
    }
}
