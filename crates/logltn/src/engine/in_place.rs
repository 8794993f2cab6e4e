//! Numbers that are read, and gradients that are written, in the caller's own memory.

use super::{Engine, Precision};

/// The numbers of a request in the caller's memory, and the place for their gradient.
#[derive(Debug)]
pub struct InPlace<'a, T> {
    /// Row by row, as in [`Engine::numbers_mut`].
    pub numbers: &'a [T],
    /// As many numbers; overwritten if a gradient is requested. If absent, [`Engine::gradient`] has
    /// the gradient.
    pub gradient: Option<&'a mut [T]>,
}

/// What a call lends to the engine, by request; empty if it lends nothing.
pub(super) type Lent<'l, 'a, T> = &'l mut [Option<InPlace<'a, T>>];

/// The numbers of a request that comes after the strata's: those that were lent, or else the
/// engine's own.
pub(super) fn numbers<'n, T>(
    lent: &'n [Option<InPlace<T>>],
    own: &'n [Vec<T>],
    request: usize,
    strata: usize,
) -> &'n [T] {
    match lent.get(request - strata) {
        Some(Some(lent)) => lent.numbers,
        _ => &own[request],
    }
}

impl<T: Precision> Engine<T> {
    /// # Panics
    /// If the lent memory does not fit the requests.
    pub(super) fn check_lent(&self, lent: &[Option<InPlace<T>>]) {
        assert!(
            lent.is_empty() || lent.len() == self.requests().len(),
            "one for each request"
        );
        for (lent, own) in lent.iter().zip(&self.numbers[self.strata()..]) {
            let Some(lent) = lent else { continue };
            let gradient = lent.gradient.as_ref().map_or(own.len(), |g| g.len());
            assert!(
                lent.numbers.len() == own.len() && gradient == own.len(),
                "as many numbers as the request asks for"
            );
        }
    }
}
