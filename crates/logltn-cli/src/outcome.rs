//! How a command ended, as the exit status says it.

use std::process::ExitCode;

/// The three ways to end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// Status 0.
    Done,
    /// Status 1: the input is right, but the run failed.
    Failed,
    /// Status 2: theory, manifest, data or flags are wrong.
    WrongInput,
}

impl From<Outcome> for ExitCode {
    fn from(outcome: Outcome) -> ExitCode {
        ExitCode::from(match outcome {
            Outcome::Done => 0,
            Outcome::Failed => 1,
            Outcome::WrongInput => 2,
        })
    }
}
