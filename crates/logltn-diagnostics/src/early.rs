//! Warnings worth showing before long work begins and useless after it. A program that can show them at once
//! [listens](listen).
//!
//! ```
//! use logltn_diagnostics::{Code, Diagnostic, early};
//! early::listen(|warning| eprintln!("{warning}"));
//! early::say(&Diagnostic::warning(Code::SlowWork, "this takes about 3 hours"));
//! ```

use std::sync::OnceLock;

use crate::diagnostic::Diagnostic;

static LISTENER: OnceLock<fn(&Diagnostic)> = OnceLock::new();

/// Sets the listener; the first one stays.
pub fn listen(listener: fn(&Diagnostic)) {
    let _ = LISTENER.set(listener);
}

/// Whether there is a listener; without one the warning need not be computed.
pub fn is_heard() -> bool {
    LISTENER.get().is_some()
}

/// Tells the listener, if there is one.
pub fn say(warning: &Diagnostic) {
    if let Some(listener) = LISTENER.get() {
        listener(warning);
    }
}
