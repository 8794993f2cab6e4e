//! Mutual exclusion: one call at a time; the others wait and handle signals meanwhile.
//!
//! A signal handler runs in the thread that computes, in the middle of it. If it waited for its turn, it would deadlock.

use std::sync::{Condvar, Mutex, PoisonError};
use std::thread::ThreadId;
use std::time::Duration;

use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;

use crate::error::Failure;

/// How often a waiting thread checks for signals.
const EVERY: Duration = Duration::from_millis(50);

/// The thread that computes, if there is one.
#[derive(Default)]
pub struct Turn {
    of: Mutex<Option<ThreadId>>,
    over: Condvar,
}

/// The turn ends when this is dropped.
pub struct Taken<'a>(&'a Turn);

impl Turn {
    /// Waits until nobody computes. The caller must not hold the interpreter's lock.
    pub fn wait(&self) -> Result<Taken<'_>, Failure> {
        let own = std::thread::current().id();
        let mut of = self.of.lock().unwrap_or_else(PoisonError::into_inner);
        loop {
            match *of {
                None => {
                    *of = Some(own);
                    return Ok(Taken(self));
                }
                Some(thread) if thread == own => {
                    let message = "this knowledge base is already computing in this thread: a signal handler, or anything else that runs in the middle of a call, cannot use it; it can use another one";
                    return Err(Failure::Python(PyRuntimeError::new_err(message)));
                }
                Some(_) => {
                    let waited = self.over.wait_timeout(of, EVERY);
                    let (found, late) = waited.unwrap_or_else(PoisonError::into_inner);
                    of = found;
                    if late.timed_out() {
                        drop(of);
                        Python::attach(|py| py.check_signals()).map_err(Failure::Python)?;
                        of = self.of.lock().unwrap_or_else(PoisonError::into_inner);
                    }
                }
            }
        }
    }
}

impl Drop for Taken<'_> {
    fn drop(&mut self) {
        *self.0.of.lock().unwrap_or_else(PoisonError::into_inner) = None;
        self.0.over.notify_one();
    }
}
