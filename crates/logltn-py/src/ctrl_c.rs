//! Ctrl-C during a computation.
//!
//! Python raises `KeyboardInterrupt` only in the thread that runs its code, when that thread checks. So long computations run in
//! other threads, while the calling thread checks now and then. Short ones do not use other threads.

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::Duration;

use pyo3::prelude::*;
use rayon::ThreadPool;

/// How often to check.
const EVERY: Duration = Duration::from_millis(50);

/// Listens for Ctrl-C, and any other signal that Python has a handler for.
pub struct CtrlC {
    pub pool: Arc<ThreadPool>,
    /// Stops planning and evaluation.
    pub stop: Arc<AtomicBool>,
    /// What a handler raised.
    raised: Mutex<Option<PyErr>>,
}

/// Runs a computation, listening for interrupts if it may be long.
pub fn compute<R: Send>(ctrl_c: Option<&CtrlC>, run: impl FnOnce() -> R + Send) -> R {
    match ctrl_c {
        Some(ctrl_c) => ctrl_c.interruptible(run),
        None => run(),
    }
}

impl CtrlC {
    pub fn new(pool: Arc<ThreadPool>, stop: Arc<AtomicBool>) -> CtrlC {
        // A fork may have copied it at any moment.
        stop.store(false, Ordering::Relaxed);
        CtrlC {
            pool,
            stop,
            raised: Mutex::new(None),
        }
    }

    /// Computes in the pool, without the interpreter's lock. If a handler raises an exception meanwhile, the computation
    /// is asked to stop; [`CtrlC::raised`] then returns the exception.
    pub fn interruptible<R: Send>(&self, run: impl FnOnce() -> R + Send) -> R {
        // A call computes one thing after the other: what was raised during the first, which may have ended before it was to
        // stop, stops the others.
        let raised = self.raised.lock().unwrap_or_else(PoisonError::into_inner);
        self.stop.store(raised.is_some(), Ordering::Relaxed);
        drop(raised);
        let (found, there) = (Mutex::new(None), Condvar::new());
        self.pool.in_place_scope(|scope| {
            scope.spawn(|_| {
                let done = catch_unwind(AssertUnwindSafe(run));
                *found.lock().unwrap_or_else(PoisonError::into_inner) = Some(done);
                there.notify_one();
            });
            loop {
                let waiting = found.lock().unwrap_or_else(PoisonError::into_inner);
                let waited = there.wait_timeout_while(waiting, EVERY, |found| found.is_none());
                let (found, _) = waited.unwrap_or_else(PoisonError::into_inner);
                if found.is_some() {
                    break;
                }
                drop(found);
                self.listen();
            }
        });
        self.stop.store(false, Ordering::Relaxed);
        let found = found.into_inner().unwrap_or_else(PoisonError::into_inner);
        match found.expect("it was waited for") {
            Ok(found) => found,
            Err(payload) => resume_unwind(payload),
        }
    }

    fn listen(&self) {
        if let Err(error) = Python::attach(|py| py.check_signals()) {
            self.stop.store(true, Ordering::Relaxed);
            *self.raised.lock().unwrap_or_else(PoisonError::into_inner) = Some(error);
        }
    }

    /// What a handler raised since the last call.
    pub fn raised(&self) -> Option<PyErr> {
        let mut raised = self.raised.lock().unwrap_or_else(PoisonError::into_inner);
        raised.take()
    }
}
