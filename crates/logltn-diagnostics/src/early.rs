//! What is worth knowing before long work begins, and of no use after it: whoever can tell people something at once
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

/// From now on this is told; the first one stays.
pub fn listen(listener: fn(&Diagnostic)) {
    let _ = LISTENER.set(listener);
}

/// Whether somebody listens: otherwise nothing need be found out.
pub fn is_heard() -> bool {
    LISTENER.get().is_some()
}

/// Says it, if somebody listens.
pub fn say(warning: &Diagnostic) {
    if let Some(listener) = LISTENER.get() {
        listener(warning);
    }
}
