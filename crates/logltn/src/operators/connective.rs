//! `and` and `or` over blocks: values forward, derivatives backward.

use super::expressed::Expressed;
use super::for_each::for_each;
use super::laws::ConnectiveLaws;
use super::settings::Settings;
use crate::vector::Real;

/// The operands of a connective, two or more, each with a value per binding of a block.
#[derive(Clone, Copy)]
pub(crate) struct Members<'a, T> {
    /// At least as long as the block.
    pub values: &'a [Vec<T>],
    /// The bindings of the block.
    pub len: usize,
    /// Their [complements](super::complement), for an operator that wants them.
    pub complements: &'a [Vec<T>],
}

impl<'a, T> Members<'a, T> {
    pub fn values(&self, member: usize) -> &'a [T] {
        &self.values[member][..self.len]
    }
}

/// Where [`Connective::forward`] puts what it finds.
pub(crate) struct Forward<'a, T> {
    /// A buffer per member, at least as long as the block, which keeps what [`Connective::backward`] may need.
    pub slopes: &'a mut [Vec<T>],
    pub out: &'a mut [T],
    pub scratch: &'a mut [T],
}

/// What [`Connective::backward`] is given besides the members.
pub(crate) struct Backward<'a, T> {
    /// The derivative by the value.
    pub by: &'a [T],
    /// Holds what [`Connective::forward`] left there; then receives the derivative by each member.
    pub slopes: &'a mut [Vec<T>],
    /// The derivative by each member's complement, for an operator that wants them.
    pub by_complements: &'a mut [Vec<T>],
    pub scratch: &'a mut [T],
}

/// The computation of an operator in one of two roles: `Role` is [`And`](super::And) or [`Or`](super::Or).
pub(crate) trait Connective<Role> {
    const LAWS: ConnectiveLaws;

    /// The same for other programs.
    const EXPRESSED: Expressed;

    fn forward<T: Real>(s: Settings<T>, members: Members<T>, to: Forward<T>);

    fn backward<T: Real>(s: Settings<T>, members: Members<T>, to: Backward<T>);

    /// All of this as a value.
    fn as_value<T: Real>() -> Connection<T> {
        Connection {
            laws: &Self::LAWS,
            forward: Self::forward::<T>,
            backward: Self::backward::<T>,
        }
    }
}

/// [`Connective`] as a value.
#[derive(Clone, Copy)]
pub(crate) struct Connection<T> {
    pub laws: &'static ConnectiveLaws,
    pub forward: fn(Settings<T>, Members<T>, Forward<T>),
    pub backward: fn(Settings<T>, Members<T>, Backward<T>),
}

/// A binary connective; n-ary ones fold it from the left.
pub(crate) trait Fold<Role> {
    const LAWS: ConnectiveLaws;

    /// The same for other programs, of `x` and `y`.
    const EXPRESSED: &'static str;

    fn of<T: Real>(s: Settings<T>, x: T, y: T) -> T;

    /// The derivatives by both operands.
    fn slopes<T: Real>(s: Settings<T>, x: T, y: T) -> (T, T);
}

impl<Role, O: Fold<Role>> Connective<Role> for O {
    const LAWS: ConnectiveLaws = <O as Fold<Role>>::LAWS;
    const EXPRESSED: Expressed = Expressed::Of(<O as Fold<Role>>::EXPRESSED);

    /// Keeps the intermediate results.
    fn forward<T: Real>(s: Settings<T>, members: Members<T>, to: Forward<T>) {
        to.out.copy_from_slice(members.values(0));
        to.slopes[0][..to.out.len()].copy_from_slice(to.out);
        for (k, kept) in to.slopes.iter_mut().enumerate().skip(1) {
            let y = members.values(k);
            for_each(to.out.iter_mut().zip(kept).zip(y), |((out, kept), &y)| {
                *out = O::of(s, *out, y);
                *kept = *out;
            });
        }
    }

    fn backward<T: Real>(s: Settings<T>, members: Members<T>, to: Backward<T>) {
        let rest = to.scratch;
        rest.copy_from_slice(to.by);
        for k in (1..to.slopes.len()).rev() {
            let (before, own) = to.slopes.split_at_mut(k);
            let (x, own) = (&before[k - 1], &mut own[0]);
            let y = members.values(k);
            for_each(
                rest.iter_mut().zip(own).zip(x.iter().zip(y)),
                |((rest, own), (&x, &y))| {
                    let (dx, dy) = O::slopes(s, x, y);
                    *own = *rest * dy;
                    *rest *= dx;
                },
            );
        }
        to.slopes[0][..rest.len()].copy_from_slice(rest);
    }
}
