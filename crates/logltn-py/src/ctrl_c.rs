//! Ctrl-C while something is computed.
//!
//! Python raises `KeyboardInterrupt` in the thread that runs its code and nowhere else, once that looks. So what may take long is
//! computed by other threads, while the one that called looks now and then. What is short does not wait for other threads.

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::Duration;

use pyo3::prelude::*;
use rayon::ThreadPool;

/// How often it is looked for.
const EVERY: Duration = Duration::from_millis(50);

/// Listens for Ctrl-C, and any other signal that Python has a handler for.
pub struct CtrlC {
    pub pool: Arc<ThreadPool>,
    /// Ends planning and evaluating.
    pub stop: Arc<AtomicBool>,
    /// What a handler raised.
    raised: Mutex<Option<PyErr>>,
}

/// Computes something, while somebody listens if it may be long.
pub fn compute<R: Send>(ctrl_c: Option<&CtrlC>, run: impl FnOnce() -> R + Send) -> R {
    match ctrl_c {
        Some(ctrl_c) => ctrl_c.interruptible(run),
        None => run(),
    }
}

impl CtrlC {
    pub fn new(pool: Arc<ThreadPool>, stop: Arc<AtomicBool>) -> CtrlC {
        // A fork may have copied it at any time.
        stop.store(false, Ordering::Relaxed);
        CtrlC {
            pool,
            stop,
            raised: Mutex::new(None),
        }
    }

    /// Computes in the pool, without the interpreter's lock. If a handler raises something meanwhile, it is asked to stop;
    /// [`CtrlC::raised`] then says what was raised.
    pub fn interruptible<R: Send>(&self, run: impl FnOnce() -> R + Send) -> R {
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

    /// What a handler raised since this was last asked.
    pub fn raised(&self) -> Option<PyErr> {
        let mut raised = self.raised.lock().unwrap_or_else(PoisonError::into_inner);
        raised.take()
    }
}
