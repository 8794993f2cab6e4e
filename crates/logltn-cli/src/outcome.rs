//! How a command ended, as the exit status says it.

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

impl Outcome {
    /// The exit status.
    pub fn status(self) -> u8 {
        match self {
            Outcome::Done => 0,
            Outcome::Failed => 1,
            Outcome::WrongInput => 2,
        }
    }
}
