//! Many trainings at once: as many as there are cores, each on threads of its own.

use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use logltn::{Code, Diagnostic, Diagnostics};

/// Does `work` with each item, with as many at once as there are cores, but `most`. After an error no further item is begun.
///
/// # Errors
/// Those of `work`, or if threads cannot be started.
pub fn each_at_once<T: Sync>(
    items: &[T],
    most: usize,
    work: impl Fn(&T) -> Result<(), Diagnostics> + Sync,
) -> Result<(), Diagnostics> {
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let workers = cores.min(items.len()).min(most).max(1);
    // Two trainings on a thread each are faster than one after the other on two: small matrices share badly. Only with
    // fewer of them than cores does each get several; the result does not depend on it.
    let threads = (cores / workers).max(1);
    let next = AtomicUsize::new(0);
    let failed = AtomicBool::new(false);
    let errors = Mutex::new(Diagnostics::new());
    let worker = || -> Result<(), Diagnostics> {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
        let pool = pool.map_err(|error| {
            Diagnostic::error(Code::NoThreads, format!("cannot start threads: {error}"))
        })?;
        while let (false, Some(item)) = (
            failed.load(Ordering::Relaxed),
            items.get(next.fetch_add(1, Ordering::Relaxed)),
        ) {
            pool.install(|| work(item))?;
        }
        Ok(())
    };
    std::thread::scope(|scope| {
        for _ in 0..workers {
            scope.spawn(|| {
                if let Err(found) = worker() {
                    failed.store(true, Ordering::Relaxed);
                    if let Ok(mut errors) = errors.lock() {
                        errors.extend(found);
                    }
                }
            });
        }
    });
    let errors = errors.into_inner().unwrap_or_default();
    errors.into_result(()).map(drop)
}
