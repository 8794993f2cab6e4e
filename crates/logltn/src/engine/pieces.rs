//! Work over long arrays, in pieces of a fixed length, on all threads: the result for a number depends on its row
//! alone, so no bit depends on the thread.

use rayon::ThreadPool;

/// The numbers of a piece: few enough for the caches, and enough to be worth another thread.
const PIECE: usize = 1 << 14;

/// The threads that an engine uses: its own pool, if it was given one, or rayon's.
#[derive(Clone, Copy, Debug)]
pub(super) struct Threads<'p>(pub Option<&'p ThreadPool>);

/// Something that can be cut into pieces.
pub(super) trait Pieces: Sized + Send {
    /// About how many numbers it has.
    fn numbers(&self) -> usize;
    /// Cuts it in two, the first of which has about this many numbers.
    fn cut(self, numbers: usize) -> (Self, Self);
}

impl Threads<'_> {
    /// Calls a function for every piece.
    pub fn each<P: Pieces>(self, all: P, work: impl Fn(P) + Sync + Send) {
        match self.0 {
            _ if all.numbers() <= PIECE => work(all),
            // Another thread would only mean waiting for it, and would have the data in its own
            // caches.
            Some(pool) if pool.current_num_threads() == 1 => one_by_one(all, work),
            Some(pool) => pool.install(|| halves(all, &work)),
            None => halves(all, &work),
        }
    }
}

fn one_by_one<P: Pieces>(mut all: P, work: impl Fn(P)) {
    while all.numbers() > 0 {
        let (first, rest) = all.cut(PIECE);
        work(first);
        all = rest;
    }
}

fn halves<P: Pieces>(all: P, work: &(impl Fn(P) + Sync + Send)) {
    let pieces = all.numbers().div_ceil(PIECE);
    if pieces <= 1 {
        return work(all);
    }
    let (first, second) = all.cut(pieces / 2 * PIECE);
    // A single row may be longer than a piece.
    if second.numbers() == 0 {
        return work(first);
    }
    rayon::join(|| halves(first, work), || halves(second, work));
}

impl<T: Sync> Pieces for &[T] {
    fn numbers(&self) -> usize {
        self.len()
    }

    fn cut(self, numbers: usize) -> (Self, Self) {
        self.split_at(numbers.min(self.len()))
    }
}

impl<T: Send> Pieces for &mut [T] {
    fn numbers(&self) -> usize {
        self.len()
    }

    fn cut(self, numbers: usize) -> (Self, Self) {
        let at = numbers.min(self.len());
        self.split_at_mut(at)
    }
}
