//! A formula in normal form, ready to be looked at binding by binding: each literal knows its request and how its row is
//! numbered, each quantifier how its bindings are found.

use crate::guard::{Cell, Join, Scope, conjuncts};
use crate::plan::normal::{Kind, Normal};
use crate::plan::program::{RequestPlan, Ungrounded};
use crate::plan::{KeyIds, Leaf, Plan, strides};
use crate::recursion::deep;
use crate::theory::*;

pub(super) struct Tree<'a> {
    pub kind: TreeKind<'a>,
    pub normal: &'a Normal,
}

pub(super) enum TreeKind<'a> {
    Constant(bool),
    Literal(Literal<'a>),
    /// The value of a definition for a tuple.
    Use(Literal<'a>),
    Not(Box<Tree<'a>>),
    Implies(Box<Tree<'a>>, Box<Tree<'a>>),
    Iff(Box<Tree<'a>>, Box<Tree<'a>>),
    And(Vec<Tree<'a>>),
    Or(Vec<Tree<'a>>),
    Log(Box<Tree<'a>>),
    Quantifier(Box<Quantifier<'a>>),
    /// Only inside another one: a formula that is shown has the form that was written.
    Sum(Box<Sum<'a>>),
}

pub(super) struct Quantifier<'a> {
    pub forall: bool,
    pub binding: &'a Binding,
    pub guard: Option<&'a Guard>,
    pub join: Join<'a>,
    pub body: Tree<'a>,
    /// The same by elimination.
    pub sum: Option<Sum<'a>>,
}

/// An `exists` whose variables are eliminated one after another.
pub(super) struct Sum<'a> {
    /// Which elimination of the program.
    pub index: usize,
    /// The outer variables that its guard looks at, and the numbers of its lists.
    pub keys: &'a (Vec<VarId>, KeyIds),
    pub common: Vec<Tree<'a>>,
    pub factors: Vec<Factor<'a>>,
}

/// Members that read the same variables.
pub(super) struct Factor<'a> {
    pub variables: &'a [VarId],
    /// All combinations of them, flat.
    pub tuples: &'a [u32],
    pub body: Tree<'a>,
}

pub(super) struct Literal<'a> {
    /// `None` for a definition.
    pub predicate: Option<PredicateId>,
    pub arguments: &'a [Term],
    pub request: usize,
    pub negated: bool,
    width: usize,
    /// The leaves that name the row, with their strides.
    leaves: Vec<(Leaf, u64)>,
    class: Option<Leaf>,
}

impl Literal<'_> {
    /// The code of its row, and the place of its number in the row.
    pub fn code(&self, scope: &Scope, env: &[Cell]) -> (u64, usize) {
        let parts = self.leaves.iter();
        let code = parts
            .map(|(leaf, stride)| u64::from(scope.leaf_index(leaf, env)) * stride)
            .sum();
        let class = self.class.as_ref();
        let class = class.map_or(0, |leaf| scope.leaf_index(leaf, env) as usize);
        (code, class)
    }

    pub fn place(&self, row: u32, class: usize) -> usize {
        row as usize * self.width + class
    }
}

/// Makes trees of the normal forms of one axiom.
pub(super) struct Planter<'a> {
    scope: Scope<'a>,
    plan: &'a Plan,
    /// How many eliminations there were so far: they are numbered as grounding does.
    sums: usize,
}

impl<'a> Planter<'a> {
    pub fn new(scope: Scope<'a>, plan: &'a Plan) -> Planter<'a> {
        Planter {
            scope,
            plan,
            sums: 0,
        }
    }

    /// The formula under the `forall`s at the root.
    pub fn plant(mut self, form: &'a Ungrounded) -> Tree<'a> {
        let under = |normal: &'a Normal| {
            let mut at = normal;
            for _ in 0..form.foralls {
                if let Kind::Quantifier { body, .. } = &at.kind {
                    at = body;
                }
            }
            at
        };
        self.tree(under(&form.written), form.eliminated.as_ref().map(under))
    }

    /// The formula of a definition, as it was written.
    pub fn plant_written(mut self, formula: &'a Normal) -> Tree<'a> {
        self.tree(formula, None)
    }

    /// `eliminated` is the same formula after elimination.
    fn tree(&mut self, normal: &'a Normal, eliminated: Option<&'a Normal>) -> Tree<'a> {
        deep(|| self.tree_here(normal, eliminated))
    }

    fn tree_here(&mut self, normal: &'a Normal, eliminated: Option<&'a Normal>) -> Tree<'a> {
        let twins: Vec<Option<&'a Normal>> = match eliminated {
            Some(Normal {
                kind: Kind::SumProduct(_),
                ..
            })
            | None => normal.children().map(|_| None).collect(),
            Some(twin) => twin.children().map(Some).collect(),
        };
        let mut at = 0;
        let mut child = |this: &mut Self, inner: &'a Normal| {
            let twin = twins.get(at).copied().flatten();
            at += 1;
            this.tree(inner, twin)
        };
        let kind = match &normal.kind {
            Kind::Constant(truth) => TreeKind::Constant(*truth),
            Kind::Literal {
                predicate,
                arguments,
                negated,
            } => TreeKind::Literal(self.literal(*predicate, arguments, *negated)),
            Kind::Use {
                stratum,
                arguments,
                negated,
            } => TreeKind::Use(self.used(*stratum, arguments, *negated)),
            Kind::Not(a) => TreeKind::Not(child(self, a).into()),
            Kind::Log(a) => TreeKind::Log(child(self, a).into()),
            Kind::Implies(a, b) => {
                let a = child(self, a);
                TreeKind::Implies(a.into(), child(self, b).into())
            }
            Kind::Iff(a, b) => {
                let a = child(self, a);
                TreeKind::Iff(a.into(), child(self, b).into())
            }
            Kind::And(members) => TreeKind::And(members.iter().map(|m| child(self, m)).collect()),
            Kind::Or(members) => TreeKind::Or(members.iter().map(|m| child(self, m)).collect()),
            Kind::Quantifier {
                forall,
                binding,
                guard,
                body,
            } => {
                let guard = guard.as_deref();
                let conditions = guard.map(conjuncts).unwrap_or_default();
                let body = child(self, body);
                TreeKind::Quantifier(Box::new(Quantifier {
                    forall: *forall,
                    binding,
                    guard,
                    join: Join::new(self.scope, binding, &conditions),
                    body,
                    sum: eliminated.and_then(|twin| self.sum(twin)),
                }))
            }
            Kind::SumProduct(_) => match self.sum(normal) {
                Some(sum) => TreeKind::Sum(Box::new(sum)),
                None => TreeKind::Constant(false),
            },
        };
        Tree { kind, normal }
    }

    /// In the order in which grounding numbers them: what is inside comes first.
    fn sum(&mut self, eliminated: &'a Normal) -> Option<Sum<'a>> {
        let Kind::SumProduct(sum) = &eliminated.kind else {
            return None;
        };
        let common = sum.common.iter().map(|m| self.eliminated(m)).collect();
        let factors = (sum.factors.iter())
            .map(|factor| {
                let component = &self.plan.components[factor.bound.component];
                Factor {
                    variables: &factor.bound.variables,
                    tuples: &component.tuples,
                    body: self.eliminated(&factor.body),
                }
            })
            .collect();
        self.sums += 1;
        Some(Sum {
            index: self.sums - 1,
            keys: &sum.keys,
            common,
            factors,
        })
    }

    /// A formula that exists only after elimination.
    fn eliminated(&mut self, normal: &'a Normal) -> Tree<'a> {
        self.tree(normal, Some(normal))
    }

    fn used(&self, stratum: usize, arguments: &'a [Term], negated: bool) -> Literal<'a> {
        let mut leaves = Vec::new();
        for argument in arguments {
            self.scope.argument(argument, &mut leaves);
        }
        let strides = strides(&self.plan.requests[stratum].extents).unwrap_or_default();
        Literal {
            predicate: None,
            arguments,
            request: stratum,
            negated,
            width: 1,
            leaves: leaves.into_iter().map(|l| l.0).zip(strides).collect(),
            class: None,
        }
    }

    fn literal(&self, predicate: PredicateId, arguments: &'a [Term], negated: bool) -> Literal<'a> {
        let scope = &self.scope;
        let per_class = self.plan.output(predicate).per_class;
        let (class, rest) = match (per_class, arguments.split_last()) {
            (true, Some((class, rest))) => (Some(scope.leaf(class).0), rest),
            _ => (None, arguments),
        };
        let mut leaves = Vec::new();
        let shape: Vec<_> = (rest.iter())
            .map(|a| scope.argument(a, &mut leaves))
            .collect();
        let requests = &self.plan.requests;
        let is_it = |r: &RequestPlan| r.predicate == predicate && r.shape == shape;
        let request = requests.iter().position(is_it).unwrap_or(0);
        let strides = strides(&requests[request].extents).unwrap_or_default();
        Literal {
            predicate: Some(predicate),
            arguments,
            request,
            negated,
            width: requests[request].width,
            leaves: leaves.into_iter().map(|l| l.0).zip(strides).collect(),
            class,
        }
    }
}
