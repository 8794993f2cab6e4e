//! Loops over blocks of numbers with the best instructions of the machine.

use crate::vector::{Task, run_task};

/// Calls a function for every item of zipped slices. The loop is compiled for several kinds of processors, which
/// compute the same bits: nothing is fused.
pub(crate) fn for_each<I: Iterator, F: FnMut(I::Item)>(items: I, each: F) {
    run_task(ForEach { items, each });
}

struct ForEach<I, F> {
    items: I,
    each: F,
}

impl<I: Iterator, F: FnMut(I::Item)> Task for ForEach<I, F> {
    type Output = ();

    #[inline(always)]
    fn run<const FUSED: bool>(self) {
        self.items.for_each(self.each);
    }
}
