//! The threads that a knowledge base runs in.
//!
//! A fork copies the memory of a pool, but not its threads: the child would wait for them forever. So there is a pool for
//! each process, made when it is first needed, and rayon's own is never used.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use logltn::{Code, Diagnostic, Diagnostics};
use pyo3::prelude::*;
use rayon::{ThreadPool, ThreadPoolBuilder};

/// By process and number of threads; 0 is as many as there are cores.
static POOLS: Mutex<Option<Pools>> = Mutex::new(None);

struct Pools {
    process: u32,
    by_threads: HashMap<usize, Arc<ThreadPool>>,
}

/// A pool of this many threads, shared by all knowledge bases of this process that want the same
/// number.
///
/// Callers hold the interpreter's lock, and so does whoever forks: the list of pools is consistent in a child.
pub fn pool(_: Python<'_>, threads: Option<usize>) -> Result<Arc<ThreadPool>, Diagnostics> {
    let process = std::process::id();
    let mut pools = POOLS.lock().unwrap_or_else(PoisonError::into_inner);
    if pools.as_ref().is_none_or(|p| p.process != process) {
        // Not dropped: that would wait for the parent's threads.
        std::mem::forget(pools.take());
    }
    let pools = pools.get_or_insert_with(|| Pools {
        process,
        by_threads: HashMap::new(),
    });
    let threads = threads.unwrap_or(0);
    if let Some(pool) = pools.by_threads.get(&threads) {
        return Ok(Arc::clone(pool));
    }
    let name = |i| format!("logltn-{i}");
    let made = ThreadPoolBuilder::new()
        .num_threads(threads)
        .thread_name(name)
        .build();
    let refused =
        |error| Diagnostic::error(Code::NoThreads, format!("cannot start threads: {error}"));
    let made = Arc::new(made.map_err(refused)?);
    pools.by_threads.insert(threads, Arc::clone(&made));
    Ok(made)
}
