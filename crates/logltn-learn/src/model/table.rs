//! Predicates with numbers of their own: given, or learnt.

use logltn::Precision;

use super::parameters::Parameters;
use super::{Grounded, Model};
use crate::given_numbers::Numbers;

/// A number for each tuple of individuals, or a row of them.
#[derive(Clone, Copy)]
pub(super) enum Table<'a> {
    Given(&'a Numbers),
    Learnt(&'a Parameters),
}

impl<'a> Table<'a> {
    /// The numbers of these individuals; none if there is nothing about one of them.
    pub fn read<T: Precision>(self, individuals: &[u32]) -> impl Iterator<Item = T> + use<'a, T> {
        let (given, learnt) = match self {
            Table::Given(table) => (table.row(individuals).map(|at| &table.values[at]), None),
            Table::Learnt(table) => {
                let width: usize = table.shape.iter().skip(individuals.len()).product();
                let start = table.place(individuals) * width;
                (None, Some(&table.values[start..start + width]))
            }
        };
        let learnt = learnt.into_iter().flatten().map(|&x| f64::from(x));
        let given = given.into_iter().flatten().copied();
        given.chain(learnt).map(T::from_f64)
    }
}

impl Model {
    /// The table of a predicate that has one.
    pub(super) fn table<'a>(&'a self, behind: &'a Grounded) -> Option<Table<'a>> {
        match behind {
            Grounded::Numbers(table) => Some(Table::Given(table)),
            Grounded::Learnable(table) => Some(Table::Learnt(&self.learnable[*table])),
            Grounded::Network | Grounded::Closed(_) | Grounded::Host | Grounded::Grounding(_) => {
                None
            }
        }
    }
}
