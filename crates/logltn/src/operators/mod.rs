//! The operators that a [`Semantics`](crate::Semantics) chooses from: one file each, with the operator's computation
//! and its laws.
//!
//! Planner and engine ask for laws ([`laws`]) and never for names. A new operator is its file and its line in the
//! list below; if it lacks something for the roles in that line, it does not compile.

mod aggregate;
mod complement;
mod connective;
mod expressed;
mod extreme;
mod for_each;
mod implication;
mod key;
mod laws;
mod log_exp;
mod negation;
mod polynomial;
mod powers;
mod settings;
mod space;
mod sums;
pub(crate) mod table;
#[cfg(test)]
mod tests;

mod godel;
mod goguen;
mod kleene_dienes;
mod log_mean_exp;
mod log_probabilistic_sum;
mod log_product;
mod log_sum_exp;
mod lukasiewicz;
mod max;
mod mean;
mod min;
mod nnf;
mod p_mean;
mod p_mean_error;
mod probabilistic_sum;
mod product;
mod reichenbach;
mod standard;
mod sum;

use std::fmt;

use crate::vector::Real;

pub(crate) use aggregate::{Accumulated, Aggregation, Block, Segment, Slopes, State};
pub(crate) use complement::{FLOOR, NOTHING, add_slopes, complements};
pub(crate) use connective::{Backward, Connection, Forward, Members};
pub(crate) use expressed::{Expressed, How, Kept, Reduction};
pub(crate) use implication::Implication;
pub(crate) use key::Key;
pub(crate) use laws::{Additive, AggregatorLaws, ConnectiveLaws, Semiring, Summand};
pub(crate) use negation::Negation;
pub(crate) use polynomial::{Affine, Bilinear, Polynomial};
pub(crate) use settings::Settings;
pub(crate) use space::Domain;
pub use space::{Loss, Space};

/// Every operator, with the roles that it can play. An operator's name, in manifests and messages, is that of its file.
macro_rules! with_all_operators {
    ($then:ident) => {
        $then! {
            mean Mean { aggregator }
            sum Sum { and aggregator }
            min Min { and aggregator }
            max Max { or aggregator }
            product Product { and aggregator }
            log_product LogProduct { aggregator }
            log_mean_exp LogMeanExp { or aggregator }
            log_sum_exp LogSumExp { or aggregator }
            log_probabilistic_sum LogProbabilisticSum { or aggregator }
            p_mean PMean { aggregator }
            p_mean_error PMeanError { aggregator }
            probabilistic_sum ProbabilisticSum { or }
            nnf Nnf { implies not }
            reichenbach Reichenbach { implies }
            kleene_dienes KleeneDienes { implies }
            standard Standard { not }
            godel Godel { implies not }
            goguen Goguen { implies }
            lukasiewicz Lukasiewicz { and or implies }
        }
    };
}

/// The description of an operator, independent of its roles.
pub(crate) trait Operator {
    /// What it takes and gives.
    const DOMAIN: Domain;
    /// What it computes, for the documents: one line for each role, or for several similar ones.
    const FORMULAS: &'static [Formula];
}

/// A line of the table of operators in the documents.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Formula {
    /// The roles that the line is about; empty for all.
    pub roles: &'static str,
    /// What it is applied to.
    pub of: &'static str,
    pub is: &'static str,
    pub remarks: &'static str,
}

impl Formula {
    const fn new(
        roles: &'static str,
        of: &'static str,
        is: &'static str,
        remarks: &'static str,
    ) -> Formula {
        Formula {
            roles,
            of,
            is,
            remarks,
        }
    }
}

/// An operator of the list, for messages and documents.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Entry {
    pub name: &'static str,
    pub domain: Domain,
    pub formulas: &'static [Formula],
    pub roles: &'static [&'static str],
}

macro_rules! define_entries {
    ($($module:ident $operator:ident { $($role:ident)+ })+) => {
        /// All operators, in the order of the list.
        pub(crate) const ALL: &[Entry] = &[$(Entry {
            name: stringify!($module),
            domain: <$module::$operator as Operator>::DOMAIN,
            formulas: <$module::$operator as Operator>::FORMULAS,
            roles: &[$(stringify!($role)),+],
        }),+];
    };
}
with_all_operators!(define_entries);

/// Sorts the list by roles and passes each role its operators.
macro_rules! define_roles {
    ($($module:ident $operator:ident { $($role:ident)+ })+) => {
        define_roles!(@sort [] [] [] [] [] $($([$role $module $operator])+)+);
    };
    (@sort [$($a:tt)*] $o:tt $i:tt $n:tt $g:tt [and $($op:tt)+] $($rest:tt)*) => {
        define_roles!(@sort [$($a)* [$($op)+]] $o $i $n $g $($rest)*);
    };
    (@sort $a:tt [$($o:tt)*] $i:tt $n:tt $g:tt [or $($op:tt)+] $($rest:tt)*) => {
        define_roles!(@sort $a [$($o)* [$($op)+]] $i $n $g $($rest)*);
    };
    (@sort $a:tt $o:tt [$($i:tt)*] $n:tt $g:tt [implies $($op:tt)+] $($rest:tt)*) => {
        define_roles!(@sort $a $o [$($i)* [$($op)+]] $n $g $($rest)*);
    };
    (@sort $a:tt $o:tt $i:tt [$($n:tt)*] $g:tt [not $($op:tt)+] $($rest:tt)*) => {
        define_roles!(@sort $a $o $i [$($n)* [$($op)+]] $g $($rest)*);
    };
    (@sort $a:tt $o:tt $i:tt $n:tt [$($g:tt)*] [aggregator $($op:tt)+] $($rest:tt)*) => {
        define_roles!(@sort $a $o $i $n [$($g)* [$($op)+]] $($rest)*);
    };
    (@sort $and:tt $or:tt $implies:tt $not:tt $aggregator:tt) => {
        define_role! {
            /// `and`, and the n-ary `all`.
            And $and
            laws: ConnectiveLaws = [connective::Connective<And>],
            expressed: Expressed,
            computation: Connection,
        }
        define_role! {
            /// `or`, and the n-ary `any`.
            Or $or
            laws: ConnectiveLaws = [connective::Connective<Or>],
            expressed: Expressed,
            computation: Connection,
        }
        define_role! {
            /// `->`.
            Implies $implies
            laws: implication::ImplicationLaws = [implication::Implies],
            expressed: Expressed,
            computation: Implication,
        }
        define_role! {
            /// `not`.
            Not $not
            laws: negation::NegationLaws = [negation::Negate],
            expressed: Expressed,
            computation: Negation,
        }
        define_role! {
            /// How `forall`, `exists` and the combination of axioms aggregate many values.
            ///
            /// Over axioms, a weight w counts as w copies of the axiom: it multiplies what is added up, and is an
            /// exponent of what is multiplied. [`Min`](Aggregator::Min) and [`Max`](Aggregator::Max) ignore weights.
            Aggregator $aggregator
            laws: AggregatorLaws = [aggregate::Aggregate],
            expressed: Reduction,
            computation: Aggregation,
        }
    };
}

/// The operators of one role as an enum, with their laws and their computations.
macro_rules! define_role {
    (
        $(#[$doc:meta])*
        $role:ident [$([$module:ident $operator:ident])+]
        laws: $laws:ty = [$trait:path],
        expressed: $expressed:ty,
        computation: $computation:ident,
    ) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum $role {
            $(#[doc = concat!("`", stringify!($module), "`; see the table of [`Semantics`](crate::Semantics)")]
            $operator),+
        }

        impl $role {
            /// Every operator of this kind.
            pub(crate) const ALL: &'static [$role] = &[$($role::$operator),+];

            /// The name in a manifest and in messages.
            pub(crate) const fn name(self) -> &'static str {
                match self { $($role::$operator => stringify!($module)),+ }
            }

            /// What it takes and gives.
            pub(crate) const fn domain(self) -> Domain {
                match self { $($role::$operator => <$module::$operator as Operator>::DOMAIN),+ }
            }

            /// Its laws.
            pub(crate) const fn laws(self) -> &'static $laws {
                match self { $($role::$operator => &<$module::$operator as $trait>::LAWS),+ }
            }

            /// The same for other programs.
            pub(crate) const fn expressed(self) -> $expressed {
                match self { $($role::$operator => <$module::$operator as $trait>::EXPRESSED),+ }
            }

            /// How it is computed.
            pub(crate) fn computation<T: Real>(self) -> $computation<T> {
                match self { $($role::$operator => <$module::$operator as $trait>::as_value::<T>()),+ }
            }
        }

        impl fmt::Display for $role {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(self.name())
            }
        }
    };
}
with_all_operators!(define_roles);
