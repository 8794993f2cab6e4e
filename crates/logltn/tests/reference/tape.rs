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
    /// By how much, at most, each value and each summand of a derivative is off, as rounding could have it: what then
    /// differs, rounding decides.
    pub jitter: f64,
    /// Where that comes from.
    pub seed: u64,
}

impl Default for Ties {
    fn default() -> Ties {
        Ties {
            rule: TieRule::First,
            tolerance: 0.0,
            jitter: 0.0,
            seed: 0,
        }
    }
}

struct Node {
    value: f64,
    parents: Vec<(Var, f64)>,
    /// The operands of a minimum or maximum that could each be it, where they are several.
    tied: Vec<Var>,
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

    /// The value of a predicate for an atom.
    pub fn literal(&mut self, value: f64, parents: Vec<(Var, f64)>) -> Var {
        self.push(value, parents, true)
    }

    fn push(&mut self, mut value: f64, parents: Vec<(Var, f64)>, exact: bool) -> Var {
        if !exact {
            value = self.rounded(value);
        }
        self.nodes.push(Node {
            value,
            parents,
            tied: Vec::new(),
            exact,
        });
        Var(self.nodes.len() - 1)
    }

    /// The value, or one next to it: for the same value always the same, as rounding has it.
    fn rounded(&self, value: f64) -> f64 {
        let Ties { jitter, seed, .. } = self.ties;
        let random = (value.to_bits() ^ seed.rotate_left(40)).wrapping_mul(0x9E37_79B9_7F4A_7C15);
        value * (1.0 + jitter * (((random >> 40) % 5) as f64 / 2.0 - 1.0))
    }

    /// constant + Σ factor · operand
    pub fn affine(&mut self, constant: f64, terms: &[(f64, Var)]) -> Var {
        let summands = || terms.iter().map(|&(factor, v)| factor * self.value(v));
        let exact = summands().fold(constant, |sum, x| sum + x);
        // What is left of numbers that cancel is off by as much as they are: 4e-18 is lost beside 1. Of a degree near 0
        // that matters, since the slope of p-means with p < 1 has no bound there. The sign stays: degrees are not below 0.
        let greatest = summands().fold(constant.abs(), |most, x| most.max(x.abs()));
        let value = match greatest > 2.0 * exact.abs() {
            true => {
                let rounded = exact + (self.rounded(greatest) - greatest);
                if (rounded < 0.0) == (exact < 0.0) {
                    rounded
                } else {
                    0.0
                }
            }
            false => exact,
        };
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
        // Of infinite ones only the same.
        let near = match best.is_finite() {
            true => best - self.ties.tolerance * best.abs().max(1.0),
            false => best,
        };
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
        let extreme = self.push(sign * best, parents, exact);
        if tied.len() > 1 {
            self.nodes[extreme.0].tied = tied;
        }
        extreme
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
                    adjoints[parent.0] += self.rounded(adjoint * derivative);
                }
            }
        }
        adjoints
    }

    /// The least and the greatest derivative of `output` by every leaf, whatever share each (nearly) equal operand of
    /// every minimum and maximum is given: between them is every subgradient that the chain rule can make. By the
    /// leaves up, so that operands that tie and mean the same leave nothing open. None if there are no ties.
    pub fn bracket(&self, output: Var, leaves: &[Var]) -> Option<Vec<(f64, f64)>> {
        let mut needed = vec![false; output.0 + 1];
        needed[output.0] = true;
        let mut ties = false;
        for at in (0..=output.0).rev() {
            if needed[at] {
                let node = &self.nodes[at];
                ties |= !node.tied.is_empty();
                let parents = node.parents.iter().filter(|(_, slope)| *slope != 0.0);
                for parent in parents.map(|(v, _)| v).chain(&node.tied) {
                    needed[parent.0] = true;
                }
            }
        }
        if !ties {
            return None;
        }
        // Of each value by the leaves that it depends on, in their order.
        let mut by_leaves: Vec<Vec<(usize, f64, f64)>> = vec![Vec::new(); output.0 + 1];
        let is_leaf: std::collections::HashSet<usize> = leaves.iter().map(|v| v.0).collect();
        let mut row = vec![(0.0, 0.0); leaves.iter().map(|v| v.0 + 1).max().unwrap_or(0)];
        let mut touched = Vec::new();
        for at in (0..=output.0).filter(|&at| needed[at]) {
            if is_leaf.contains(&at) {
                by_leaves[at] = vec![(at, 1.0, 1.0)];
                continue;
            }
            let node = &self.nodes[at];
            if node.tied.is_empty() {
                for &(parent, slope) in node.parents.iter().filter(|(_, slope)| *slope != 0.0) {
                    for &(leaf, least, greatest) in &by_leaves[parent.0] {
                        let (a, b) = (slope * least, slope * greatest);
                        row[leaf].0 += a.min(b);
                        row[leaf].1 += a.max(b);
                        touched.push(leaf);
                    }
                }
            } else {
                touched.extend((node.tied.iter()).flat_map(|v| by_leaves[v.0].iter().map(|e| e.0)));
                touched.sort_unstable();
                touched.dedup();
                for &leaf in &touched {
                    let sides = node.tied.iter().map(|v| {
                        let own = &by_leaves[v.0];
                        (own.binary_search_by_key(&leaf, |e| e.0))
                            .map_or((0.0, 0.0), |place| (own[place].1, own[place].2))
                    });
                    row[leaf] = sides
                        .reduce(|x, y| (x.0.min(y.0), x.1.max(y.1)))
                        .expect("several tie");
                }
            }
            touched.sort_unstable();
            touched.dedup();
            by_leaves[at] = (touched.drain(..))
                .map(|leaf| {
                    let (least, greatest) = std::mem::take(&mut row[leaf]);
                    (leaf, least, greatest)
                })
                .collect();
        }
        let mut brackets = vec![(0.0, 0.0); row.len()];
        for &(leaf, least, greatest) in &by_leaves[output.0] {
            brackets[leaf] = (least, greatest);
        }
        Some(leaves.iter().map(|v| brackets[v.0]).collect())
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
