//! What `min` and `max` share as aggregators: the derivative goes to one member.

use super::aggregate::{Block, Slopes};
use crate::vector::Real;

/// `a` is the extreme, `b` becomes 1 once its derivative has been given away: the first of those that are equal takes
/// it all.
pub(super) fn slopes<T: Real>(block: Block<T>, to: Slopes<T>) {
    to.out.fill(T::ZERO);
    for segment in block.segments {
        let state = &mut to.states[segment.parent];
        if state.b != 0.0 {
            continue;
        }
        let values = block.values(segment);
        if let Some(at) = values.iter().position(|x| x.to_f64() == state.a) {
            to.out[segment.start + at] = T::from_f64((to.by)(segment.parent));
            state.b = 1.0;
        }
    }
}
