//! Splits equations with many terms into several with few, using variables that the planner makes.
//!
//! - **Carries.** In `10*d1 + d2 + 10*d3 + d4 = n` all terms but `d2` and `d4` are multiples of 10, so
//!   `d2 + d4 = n mod 10 + 10*c` and `d1 + d3 + c = n div 10` for exactly one c.
//! - **Partial sums.** `a + b + c + d = n` is `p = a + b` and `p + c + d = n`, where p ranges over the
//!   sums that can be reached.
//!
//! Each solution of the one has exactly one solution of the others: nothing is counted twice.

use super::network::*;

/// The most partial sums that a variable made here may range over.
const MAX_SUMS: usize = 1 << 14;

/// Which of the two to apply.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Split {
    pub carries: bool,
    pub sums: bool,
}

impl Split {
    pub const ALL: [Split; 4] = [
        Split {
            carries: false,
            sums: false,
        },
        Split {
            carries: true,
            sums: false,
        },
        Split {
            carries: true,
            sums: true,
        },
        Split {
            carries: false,
            sums: true,
        },
    ];
}

/// The network with its equations split; `None` if there is nothing to split or the result would be too
/// large.
pub(super) fn split<'g>(network: &Network<'g>, how: Split) -> Option<Network<'g>> {
    let mut out = Network {
        relations: Vec::new(),
        ..network.clone()
    };
    let mut changed = false;
    for relation in &network.relations {
        let RelationKind::Equation(equation) = &relation.kind else {
            out.relations.push(relation.clone());
            continue;
        };
        let mut pieces = vec![equation.clone()];
        if how.carries {
            pieces = carries(&mut out.variables, equation.clone())?;
        }
        if how.sums {
            let mut finer = Vec::new();
            for piece in pieces {
                finer.extend(sums(&mut out.variables, piece)?);
            }
            pieces = finer;
        }
        changed |= pieces.len() > 1;
        for piece in pieces {
            out.relations.push(Relation {
                scope: piece.scope(),
                outer: match piece.right.outer.is_empty() {
                    true => Vec::new(),
                    false => relation.outer.clone(),
                },
                kept: piece.kept(&out.variables),
                kind: RelationKind::Equation(piece),
            });
        }
    }
    changed.then_some(out)
}

/// A new variable, with a name that no variable of the theory has.
fn made(variables: &mut Vec<Unknown>, what: &str, values: Vec<i64>) -> usize {
    let taken = |name: &String| variables.iter().any(|v| v.name == *name);
    let mut names = (1..).map(|number| format!("{what}{number}"));
    let name = names.find(|name| !taken(name)).unwrap_or_default();
    variables.push(Unknown {
        id: None,
        domain: Domain::Integers(values),
        name,
    });
    variables.len() - 1
}

fn carries(variables: &mut Vec<Unknown>, mut equation: Equation) -> Option<Vec<Equation>> {
    let mut pieces = Vec::new();
    loop {
        equation.terms.sort_by_key(|(_, c)| c.unsigned_abs());
        let Some((low, divisor)) = low_terms(&equation.terms) else {
            pieces.push(equation);
            return Some(pieces);
        };
        let rest = equation.terms.split_off(low);
        let (mut least, mut greatest) = (0_i64, 0_i64);
        for (v, c) in &equation.terms {
            let (low, high) = variables[*v].range();
            least += (c * low).min(c * high);
            greatest += (c * low).max(c * high);
        }
        let first = (least - (divisor - 1)).div_euclid(divisor);
        let last = greatest.div_euclid(divisor);
        if last - first >= MAX_SUMS as i64 {
            return None;
        }
        let carry = made(variables, "carry", (first..=last).collect());
        let mut column = equation.clone();
        column.terms.push((carry, -divisor));
        column.right.modulus = Some(divisor);
        pieces.push(column);
        equation.terms = rest.into_iter().map(|(v, c)| (v, c / divisor)).collect();
        equation.terms.push((carry, 1));
        equation.right.over = equation.right.over.checked_mul(divisor)?;
    }
}

/// How many of the terms (smallest coefficients first) are below a common divisor of all others.
fn low_terms(terms: &[(usize, i64)]) -> Option<(usize, i64)> {
    (1..terms.len()).find_map(|low| {
        let divisor = terms[low..]
            .iter()
            .fold(0, |d, (_, c)| gcd(d, c.unsigned_abs()));
        let below = terms[..low]
            .iter()
            .all(|(_, c)| c.unsigned_abs() % divisor != 0);
        (divisor > 1 && below).then_some((low, divisor as i64))
    })
}

fn sums(variables: &mut Vec<Unknown>, mut equation: Equation) -> Option<Vec<Equation>> {
    let mut pieces = Vec::new();
    equation.terms.sort_by_key(|(_, c)| c.unsigned_abs());
    while equation.terms.len() > 3 {
        let mut both: Vec<(usize, i64)> = equation.terms.drain(..2).collect();
        let ((v, a), (w, b)) = (both[0], both[1]);
        let mut reached = Vec::new();
        for i in 0..variables[v].size() as u32 {
            let x = a * variables[v].value(i);
            reached.extend((0..variables[w].size() as u32).map(|j| x + b * variables[w].value(j)));
            if reached.len() > 64 * MAX_SUMS {
                return None;
            }
        }
        reached.sort_unstable();
        reached.dedup();
        if reached.len() > MAX_SUMS {
            return None;
        }
        let sum = made(variables, "sum", reached);
        both.push((sum, -1));
        pieces.push(Equation {
            terms: both,
            right: Right::nothing(),
        });
        // First, so that the sums form a chain.
        equation.terms.insert(0, (sum, 1));
    }
    pieces.push(equation);
    Some(pieces)
}
