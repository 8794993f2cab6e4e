//! Reverse-mode derivatives: a list of values, each with its parents and the derivatives by them.

/// A value on the tape.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Var(usize);

impl Var {
    pub fn index(self) -> usize {
        self.0
    }
}

/// Which subgradient a minimum or maximum takes where several operands are (nearly) equal.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum TieRule {
    First,
    Last,
    /// Equal shares.
    Split,
    /// One or another, different from place to place. The rules above choose in the same way everywhere, so
    /// that what they choose can cancel out, as in `a <-> b` where a = b.
    Scattered(u64),
}

#[derive(Clone, Copy, Debug)]
pub struct Ties {
    pub rule: TieRule,
    /// How near, relative to the greater of 1 and the value, counts as a tie.
    pub tolerance: f64,
}

impl Default for Ties {
    fn default() -> Ties {
        Ties {
            rule: TieRule::First,
            tolerance: 0.0,
        }
    }
}

struct Node {
    value: f64,
    parents: Vec<(Var, f64)>,
    /// No rounding separates this from what another program computes: a literal or a constant, or a
    /// choice among such.
    exact: bool,
}

pub struct Tape {
    nodes: Vec<Node>,
    ties: Ties,
    pub jump_gap: f64,
    pub kink_gap: f64,
    pub singular: bool,
}

impl Tape {
    pub fn new(ties: Ties) -> Tape {
        Tape {
            nodes: Vec::new(),
            ties,
            jump_gap: f64::INFINITY,
            kink_gap: f64::INFINITY,
            singular: false,
        }
    }

    pub fn value(&self, var: Var) -> f64 {
        self.nodes[var.0].value
    }

    pub fn leaf(&mut self, value: f64) -> Var {
        self.push(value, Vec::new(), true)
    }

    /// A number that nothing depends on.
    pub fn constant(&mut self, value: f64) -> Var {
        self.leaf(value)
    }

    /// A value with its derivatives by its parents.
    pub fn node(&mut self, value: f64, parents: Vec<(Var, f64)>) -> Var {
        self.push(value, parents, false)
    }

    /// What a predicate says of an atom.
    pub fn literal(&mut self, value: f64, parents: Vec<(Var, f64)>) -> Var {
        self.push(value, parents, true)
    }

    fn push(&mut self, value: f64, parents: Vec<(Var, f64)>, exact: bool) -> Var {
        self.nodes.push(Node {
            value,
            parents,
            exact,
        });
        Var(self.nodes.len() - 1)
    }

    /// constant + Σ factor · operand
    pub fn affine(&mut self, constant: f64, terms: &[(f64, Var)]) -> Var {
        let value = (terms.iter()).fold(constant, |sum, &(factor, v)| sum + factor * self.value(v));
        self.node(
            value,
            terms.iter().map(|&(factor, v)| (v, factor)).collect(),
        )
    }

    pub fn product(&mut self, x: Var, y: Var) -> Var {
        let (a, b) = (self.value(x), self.value(y));
        self.node(a * b, vec![(x, b), (y, a)])
    }

    pub fn log(&mut self, x: Var) -> Var {
        let a = self.value(x);
        self.node(a.ln(), vec![(x, 1.0 / a)])
    }

    pub fn maximum(&mut self, operands: &[Var]) -> Var {
        self.extreme(operands, 1.0)
    }

    pub fn minimum(&mut self, operands: &[Var]) -> Var {
        self.extreme(operands, -1.0)
    }

    /// The greatest of sign · operand, times sign.
    fn extreme(&mut self, operands: &[Var], sign: f64) -> Var {
        let values: Vec<f64> = operands.iter().map(|&v| sign * self.value(v)).collect();
        let best = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let near = best - self.ties.tolerance * best.abs().max(1.0);
        let tied: Vec<Var> = (operands.iter().zip(&values))
            .filter(|&(_, &value)| value >= near)
            .map(|(&v, _)| v)
            .collect();
        let parents = match self.ties.rule {
            TieRule::First => vec![(tied[0], 1.0)],
            TieRule::Last => vec![(tied[tied.len() - 1], 1.0)],
            TieRule::Scattered(seed) => {
                let place = (self.nodes.len() as u64 ^ seed).wrapping_mul(0x9E37_79B9_7F4A_7C15);
                vec![(tied[(place >> 33) as usize % tied.len()], 1.0)]
            }
            TieRule::Split => (tied.iter())
                .map(|&v| (v, 1.0 / tied.len() as f64))
                .collect(),
        };
        let exact = operands.iter().all(|v| self.nodes[v.0].exact);
        self.push(sign * best, parents, exact)
    }

    /// Whether x ≤ y, where the answer makes the value jump.
    pub fn at_most_or_jump(&mut self, x: Var, y: Var) -> bool {
        self.jump_gap = self.jump_gap.min(self.gap(x, y));
        self.value(x) <= self.value(y)
    }

    /// Whether x ≤ y, where the answer makes only the gradient jump.
    pub fn at_most_or_kink(&mut self, x: Var, y: Var) -> bool {
        self.kink_gap = self.kink_gap.min(self.gap(x, y));
        self.value(x) <= self.value(y)
    }

    /// How far apart two values are; infinite if no rounding can tell them apart.
    fn gap(&self, x: Var, y: Var) -> f64 {
        let (a, b) = (&self.nodes[x.0], &self.nodes[y.0]);
        if a.value == b.value && a.exact && b.exact {
            f64::INFINITY
        } else {
            (a.value - b.value).abs()
        }
    }

    /// The derivative of `output` by every value on the tape.
    pub fn backward(&self, output: Var) -> Vec<f64> {
        let mut adjoints = vec![0.0; self.nodes.len()];
        adjoints[output.0] = 1.0;
        for at in (0..=output.0).rev() {
            let adjoint = adjoints[at];
            // Not only to save time: 0 · ∞ must not get in.
            if adjoint != 0.0 {
                for &(parent, derivative) in &self.nodes[at].parents {
                    adjoints[parent.0] += adjoint * derivative;
                }
            }
        }
        adjoints
    }

    /// The least and the greatest size of the values that the output depends on, zeros aside.
    pub fn range(&self, adjoints: &[f64]) -> (f64, f64) {
        let matter = (self.nodes.iter().zip(adjoints))
            .filter(|(node, adjoint)| **adjoint != 0.0 && node.value != 0.0)
            .map(|(node, _)| node.value.abs());
        matter.fold((f64::INFINITY, 0.0), |(least, greatest), size| {
            (least.min(size), greatest.max(size))
        })
    }
}
