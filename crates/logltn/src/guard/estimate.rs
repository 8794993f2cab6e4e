//! Estimates how much a guard lists before listing it, by random walks down the steps; each walk counts as often as it
//! had choices (Knuth 1975, *Estimating the efficiency of backtrack programs*).

use std::time::{Duration, Instant};

use super::evaluate::{Cell, GuardError, Scope};
use super::join::{Choices, Join, Step};
use crate::diagnostic::{Code, Diagnostic, early};
use crate::source::Span;
use crate::theory::{Guard, Theory};

/// Lower estimates, three standard errors below the means.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Estimate {
    /// Bindings that pass.
    pub kept: f64,
    /// Combinations that are tried.
    tried: f64,
    /// The mean number of tried combinations, if every `exists` that was given up had been searched to its end.
    up_to: f64,
}

const WALKS: usize = 2000;
const PATIENCE: Duration = Duration::from_millis(100);
/// After this many combinations a walk goes no further into an `exists`: that takes a tenth of a second.
const ENOUGH: u64 = 1 << 21;

/// With fewer combinations, listing is as quick as an estimate.
const WORTH_AN_ESTIMATE: u128 = 1 << 24;
/// How many combinations are tried at most to list a guard: some hours.
const MOST_TRIED: f64 = 1e11;
/// About how many seconds it takes to try one of them.
const SECONDS_TO_TRY: f64 = 5e-8;
const MINUTE: f64 = 60.0;

/// What to do about too many combinations.
const TIE: &str =
    "tie the variables to each other by equations, tables or distances of two, or bind fewer";

/// Warns of lists that take a minute or more.
pub(crate) fn say_if_slow(
    seconds: f64,
    what: impl FnOnce() -> String,
    theory: &Theory,
    span: Span,
) {
    if seconds >= MINUTE {
        let time = match seconds / MINUTE {
            minutes if minutes < 300.0 => format!("{minutes:.0} minutes"),
            minutes if minutes < 6000.0 => format!("{:.0} hours", minutes / 60.0),
            minutes => format!("{:.0} days", minutes / 1440.0),
        };
        let what = format!("{}, which takes about {time}", what());
        let warning = Diagnostic::warning(Code::SlowWork, what);
        early::say(&warning.at(&theory.source, span, "").help(TIE));
    }
}

impl Estimate {
    /// Refuses lists that would take too long, and warns of slow ones.
    pub fn check(&self, theory: &Theory, span: Span) -> Result<(), Diagnostic> {
        if self.tried > MOST_TRIED {
            return Err(Diagnostic::error(
                Code::TooManyBindings,
                format!(
                    "listing what this guard keeps would try about {:.1e} combinations, too many to wait for",
                    self.tried.max(self.up_to)
                ),
            )
            .at(&theory.source, span, "")
            .help(TIE));
        }
        let most = self.up_to.max(self.tried);
        let up_to = if most > 2.0 * self.tried {
            "up to"
        } else {
            "about"
        };
        let what =
            || format!("listing what this guard keeps tries {up_to} {most:.1e} combinations");
        say_if_slow(most * SECONDS_TO_TRY, what, theory, span);
        Ok(())
    }
}

impl Scope<'_> {
    /// Whether listing what some conditions keep of this many combinations deserves an estimate first.
    pub fn is_worth_an_estimate(&self, combinations: u128, conditions: &[&Guard]) -> bool {
        let tries = conditions.iter().map(|guard| self.tries(guard));
        let tries = tries.fold(0, u128::saturating_add).max(1);
        combinations.saturating_mul(tries) >= WORTH_AN_ESTIMATE
    }
}

impl Join<'_> {
    /// About how much there is to list under the outer bindings. `None` if something fails: listing will report it.
    pub fn estimate(&self, env: &mut Vec<Cell>) -> Option<Estimate> {
        let [mut kept, mut tried, mut up_to] = [const { Mean::new() }; 3];
        let end = Instant::now() + PATIENCE;
        let mut random = 0x9e37_79b9_7f4a_7c15;
        for walk in 0..WALKS {
            let mut chosen = Chosen {
                random,
                weight: 1.0,
                visited: 0.0,
                given_up: 0.0,
                repeats: false,
            };
            let arrived = self.walk_down(env, &mut chosen).ok()?;
            // Many walks through an `exists` may find the same binding, so they do not tell how many bindings there
            // are.
            let counts = arrived && !chosen.repeats;
            kept.add(if counts { chosen.weight } else { 0.0 });
            tried.add(chosen.visited);
            up_to.add(chosen.visited + chosen.given_up);
            random = chosen.random;
            // A walk that was given up took long, and so would the next.
            let least = if chosen.given_up > 0.0 { 4 } else { 8 };
            if walk > least && Instant::now() > end {
                break;
            }
        }
        Some(Estimate {
            kept: kept.at_least(),
            tried: tried.at_least(),
            up_to: up_to.mean,
        })
    }

    /// Makes one choice at each step. Returns whether it reaches the end.
    fn walk_down(&self, env: &mut Vec<Cell>, walk: &mut Chosen) -> Result<bool, GuardError> {
        let scope = &self.scope;
        for step in &self.steps {
            let before = scope.indexes.tried.get();
            let chosen = match step {
                Step::Exists { join, .. } => {
                    walk.repeats = true;
                    join.walk_down(env, walk)?.then_some(())
                }
                Step::Either(alternatives) => match walk.choose(alternatives.len()) {
                    Some(nth) => (alternatives[nth].1.walk_down(env, walk)?
                        && self.is_new(&alternatives[..nth], env)?)
                    .then_some(()),
                    None => None,
                },
                Step::Check(guard) => {
                    let holds = scope.tiring_after(ENOUGH, || scope.holds(guard, env));
                    // What an `exists` tries to find one.
                    let tried = (scope.indexes.tried.get() - before) as f64;
                    walk.visited += walk.weight * tried;
                    match holds {
                        // Given up: usually there is none, and all are tried.
                        Err(GuardError::Stopped) if !scope.data.is_stopped() => {
                            let rest = scope.tries(guard) as f64 - tried;
                            walk.given_up += walk.weight * rest.max(1.0);
                            None
                        }
                        holds => holds?.then_some(()),
                    }
                }
                step => self.choices(step, env)?.and_then(|choices| {
                    let nth = match choices {
                        Choices::One(..) => 0,
                        _ => walk.choose(choices.len())?,
                    };
                    choices.bind(nth, scope, env).then_some(())
                }),
            };
            if chosen.is_none() {
                return Ok(false);
            }
        }
        Ok(true)
    }
}

/// A walk so far.
struct Chosen {
    random: u64,
    /// How many bindings the current one represents.
    weight: f64,
    visited: f64,
    /// The combinations that were not tried.
    given_up: f64,
    /// Whether another walk may reach the same binding.
    repeats: bool,
}

impl Chosen {
    fn choose(&mut self, choices: usize) -> Option<usize> {
        self.weight *= choices as f64;
        self.visited += self.weight;
        // SplitMix64
        self.random = self.random.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.random;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        let z = z ^ (z >> 31);
        (choices > 0).then(|| (z % choices as u64) as usize)
    }
}

/// A running mean and its error.
struct Mean {
    count: f64,
    mean: f64,
    squares: f64,
}

impl Mean {
    const fn new() -> Mean {
        Mean {
            count: 0.0,
            mean: 0.0,
            squares: 0.0,
        }
    }

    fn add(&mut self, x: f64) {
        self.count += 1.0;
        let off = x - self.mean;
        self.mean += off / self.count;
        self.squares += off * (x - self.mean);
    }

    fn at_least(&self) -> f64 {
        let variance = self.squares / (self.count - 1.0).max(1.0);
        (self.mean - 3.0 * (variance / self.count.max(1.0)).sqrt()).max(0.0)
    }
}
