//! Ground formulas, and the shape that formulas which differ only in the names of their variables share.

use rustc_hash::FxHashMap;

use crate::recursion::deep;

/// A formula without quantifiers over numbered variables.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Proposition {
    True,
    False,
    /// The variable is in the state, or it is not.
    Is {
        var: u32,
        state: u32,
        positive: bool,
    },
    And(Vec<Proposition>),
    Or(Vec<Proposition>),
}

// As high as the formulas of a theory.
impl Clone for Proposition {
    fn clone(&self) -> Proposition {
        let members = |members: &[Proposition]| deep(|| members.to_vec());
        match self {
            Proposition::And(all) => Proposition::And(members(all)),
            Proposition::Or(all) => Proposition::Or(members(all)),
            other => other.mapped(&|var, state, positive| Proposition::Is {
                var,
                state,
                positive,
            }),
        }
    }
}

impl Proposition {
    /// A conjunction, with constants removed.
    pub fn and(members: impl IntoIterator<Item = Proposition>) -> Proposition {
        Proposition::connective(true, members)
    }

    /// A disjunction, likewise.
    pub fn or(members: impl IntoIterator<Item = Proposition>) -> Proposition {
        Proposition::connective(false, members)
    }

    fn connective(and: bool, members: impl IntoIterator<Item = Proposition>) -> Proposition {
        let mut kept = Vec::new();
        for member in members {
            match (member, and) {
                (Proposition::True, true) | (Proposition::False, false) => {}
                (constant @ (Proposition::True | Proposition::False), _) => return constant,
                (Proposition::And(inner), true) | (Proposition::Or(inner), false) => {
                    kept.extend(inner);
                }
                (other, _) => kept.push(other),
            }
        }
        match (kept.len(), and) {
            (0, true) => Proposition::True,
            (0, false) => Proposition::False,
            (1, _) => kept.remove(0),
            (_, true) => Proposition::And(kept),
            (_, false) => Proposition::Or(kept),
        }
    }

    /// The formula with others in place of its literals, by variable, state and sign.
    pub fn mapped(&self, literal: &dyn Fn(u32, u32, bool) -> Proposition) -> Proposition {
        let all = |members: &[Proposition], and: bool| {
            deep(|| Proposition::connective(and, members.iter().map(|m| m.mapped(literal))))
        };
        match self {
            Proposition::True => Proposition::True,
            Proposition::False => Proposition::False,
            &Proposition::Is {
                var,
                state,
                positive,
            } => literal(var, state, positive),
            Proposition::And(members) => all(members, true),
            Proposition::Or(members) => all(members, false),
        }
    }

    /// The same formula with other numbers for its variables.
    pub fn renamed(&self, name: &dyn Fn(u32) -> u32) -> Proposition {
        self.mapped(&|var, state, positive| Proposition::Is {
            var: name(var),
            state,
            positive,
        })
    }

    /// Calls `visit` with each literal, as often as it occurs: its variable, state and sign.
    pub fn each_literal(&self, visit: &mut impl FnMut(u32, u32, bool)) {
        match *self {
            Proposition::True | Proposition::False => {}
            Proposition::Is {
                var,
                state,
                positive,
            } => visit(var, state, positive),
            Proposition::And(ref members) | Proposition::Or(ref members) => {
                deep(|| members.iter().for_each(|m| m.each_literal(visit)));
            }
        }
    }

    /// Calls `visit` with each variable, as often as it occurs.
    pub fn each_variable(&self, visit: &mut impl FnMut(u32)) {
        self.each_literal(&mut |var, _, _| visit(var));
    }
}

/// A conjunction whose variables are numbered in the order in which it mentions them: formulas that are the same up to
/// names have the same shape.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Shape {
    /// By variable: how many states it has.
    pub domains: Vec<u32>,
    /// The formula in prefix notation.
    code: Vec<u32>,
}

const TRUE: u32 = 0;
const FALSE: u32 = 1;
const IS: u32 = 2;
const IS_NOT: u32 = 3;
const AND: u32 = 4;
const OR: u32 = 5;

impl Shape {
    /// The shape of the conjunction of some formulas, and the variable behind each of the shape's own variables.
    pub fn of<'p>(
        members: impl ExactSizeIterator<Item = &'p Proposition>,
        domain: impl Fn(u32) -> u32,
    ) -> (Shape, Vec<u32>) {
        let mut names = Vec::new();
        let mut numbers = FxHashMap::default();
        let mut code = vec![AND, members.len() as u32];
        for member in members {
            write(member, &mut code, &mut names, &mut numbers);
        }
        let domains = names.iter().map(|v| domain(*v)).collect();
        (Shape { domains, code }, names)
    }

    /// How many numbers it has.
    pub fn length(&self) -> usize {
        self.domains.len() + self.code.len()
    }

    /// The formula again, over the shape's own variables.
    pub fn proposition(&self) -> Proposition {
        let mut at = 0;
        read(&self.code, &mut at)
    }
}

fn write(
    proposition: &Proposition,
    code: &mut Vec<u32>,
    names: &mut Vec<u32>,
    numbers: &mut FxHashMap<u32, u32>,
) {
    match proposition {
        Proposition::True => code.push(TRUE),
        Proposition::False => code.push(FALSE),
        Proposition::Is {
            var,
            state,
            positive,
        } => {
            let number = *numbers.entry(*var).or_insert_with(|| {
                names.push(*var);
                names.len() as u32 - 1
            });
            code.extend([if *positive { IS } else { IS_NOT }, number, *state]);
        }
        Proposition::And(members) | Proposition::Or(members) => {
            let is_and = matches!(proposition, Proposition::And(_));
            code.extend([if is_and { AND } else { OR }, members.len() as u32]);
            deep(|| {
                for member in members {
                    write(member, code, names, numbers);
                }
            });
        }
    }
}

fn read(code: &[u32], at: &mut usize) -> Proposition {
    let mut next = || {
        *at += 1;
        code[*at - 1]
    };
    match next() {
        TRUE => Proposition::True,
        FALSE => Proposition::False,
        kind @ (IS | IS_NOT) => Proposition::Is {
            var: next(),
            state: next(),
            positive: kind == IS,
        },
        kind => {
            let count = next();
            let members = (0..count).map(|_| deep(|| read(code, at))).collect();
            match kind {
                AND => Proposition::And(members),
                _ => Proposition::Or(members),
            }
        }
    }
}
