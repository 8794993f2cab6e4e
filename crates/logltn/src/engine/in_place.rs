//! Numbers that are read, and gradients that are written, where their owner has them.

use super::{Engine, Precision};

/// The numbers of a request where they are, and where their gradient is to go.
#[derive(Debug)]
pub struct InPlace<'a, T> {
    /// Row by row, as in [`Engine::numbers_mut`].
    pub numbers: &'a [T],
    /// As many; overwritten, if a gradient is asked for. Without it, [`Engine::gradient`] has it.
    pub gradient: Option<&'a mut [T]>,
}

/// What a call lends to the engine, by request; nothing at all if it is empty.
pub(super) type Lent<'l, 'a, T> = &'l mut [Option<InPlace<'a, T>>];

/// The numbers of a request after the strata, its owner's or the engine's.
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
    /// If what is lent does not fit the requests.
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
