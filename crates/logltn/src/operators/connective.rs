//! `and` and `or` over blocks: values forward, derivatives backward.

use super::laws::ConnectiveLaws;
use super::settings::Settings;
use crate::vector::Real;

/// The operands of a connective, each with a value per binding of a block.
#[derive(Clone, Copy)]
pub(crate) struct Members<'a, T> {
    pub values: &'a dyn Fn(usize) -> &'a [T],
}

impl<'a, T> Members<'a, T> {
    pub fn values(&self, member: usize) -> &'a [T] {
        (self.values)(member)
    }
}

/// The computation of an operator in one of two roles: `Role` is [`And`](super::And) or [`Or`](super::Or).
pub(crate) trait Connective<Role> {
    const LAWS: ConnectiveLaws;

    /// All of this as a value.
    fn as_value<T: Real>() -> Connection<T> {
        Connection {
            laws: &Self::LAWS,
            forward: Self::forward::<T>,
            backward: Self::backward::<T>,
        }
    }

    /// The values of two or more members together. `slopes` has a buffer per member, at least as long as `out`, and is
    /// left holding whatever [`Connective::backward`] wants to find again.
    fn forward<T: Real>(
        s: Settings<T>,
        members: Members<T>,
        slopes: &mut [Vec<T>],
        out: &mut [T],
        scratch: &mut [T],
    );

    /// From the derivative by the value to those by the members, in `slopes`.
    fn backward<T: Real>(
        s: Settings<T>,
        members: Members<T>,
        by: &[T],
        slopes: &mut [Vec<T>],
        scratch: &mut [T],
    );
}

/// A connective of two, which n-ary ones fold from the left.
pub(crate) trait Fold<Role> {
    const LAWS: ConnectiveLaws;

    fn of<T: Real>(s: Settings<T>, x: T, y: T) -> T;

    /// The derivatives by both operands.
    fn slopes<T: Real>(s: Settings<T>, x: T, y: T) -> (T, T);
}

impl<Role, O: Fold<Role>> Connective<Role> for O {
    const LAWS: ConnectiveLaws = <O as Fold<Role>>::LAWS;

    /// `slopes` holds the intermediate results.
    fn forward<T: Real>(
        s: Settings<T>,
        members: Members<T>,
        slopes: &mut [Vec<T>],
        out: &mut [T],
        _: &mut [T],
    ) {
        let len = out.len();
        out.copy_from_slice(members.values(0));
        slopes[0][..len].copy_from_slice(out);
        for (k, slope) in slopes.iter_mut().enumerate().skip(1) {
            let y = members.values(k);
            for ((out, slope), &y) in out.iter_mut().zip(slope).zip(y) {
                *out = O::of(s, *out, y);
                *slope = *out;
            }
        }
    }

    fn backward<T: Real>(
        s: Settings<T>,
        members: Members<T>,
        by: &[T],
        slopes: &mut [Vec<T>],
        rest: &mut [T],
    ) {
        rest.copy_from_slice(by);
        for k in (1..slopes.len()).rev() {
            let (before, own) = slopes.split_at_mut(k);
            let (x, own) = (&before[k - 1], &mut own[0]);
            let y = members.values(k);
            for (((rest, own), &x), &y) in rest.iter_mut().zip(own).zip(x).zip(y) {
                let (dx, dy) = O::slopes(s, x, y);
                *own = *rest * dy;
                *rest *= dx;
            }
        }
        slopes[0][..rest.len()].copy_from_slice(rest);
    }
}

/// [`Connective`] as a value.
#[derive(Clone, Copy)]
#[allow(clippy::type_complexity)] // the signatures of the trait
pub(crate) struct Connection<T> {
    pub laws: &'static ConnectiveLaws,
    pub forward: fn(Settings<T>, Members<T>, &mut [Vec<T>], &mut [T], &mut [T]),
    pub backward: fn(Settings<T>, Members<T>, &[T], &mut [Vec<T>], &mut [T]),
}
