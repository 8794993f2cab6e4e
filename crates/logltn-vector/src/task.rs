//! A piece of work compiled for several kinds of processors, for loops that do not map a slice.

/// Work whose loops should use the best instructions of the machine: [`run_task`] picks them.
///
/// `run` and everything that it calls must be `#[inline(always)]`. Only then does its code end up inside the functions
/// below, which say for which processor it is compiled; what is left out of line is compiled for any.
pub trait Task {
    /// Its result.
    type Output;

    /// Does the work. `FUSED` says whether a multiplication and an addition are one instruction.
    fn run<const FUSED: bool>(self) -> Self::Output;
}

/// Runs a task with the fastest instructions of this machine.
///
/// ```
/// use logltn_vector::{Task, run_task};
///
/// struct Dot<'a>(&'a [f32], &'a [f32]);
///
/// impl Task for Dot<'_> {
///     type Output = f32;
///
///     #[inline(always)]
///     fn run<const FUSED: bool>(self) -> f32 {
///         let mut sum = 0.0;
///         for (x, y) in self.0.iter().zip(self.1) {
///             sum += x * y;
///         }
///         sum
///     }
/// }
/// assert_eq!(run_task(Dot(&[1.0, 2.0], &[3.0, 4.0])), 11.0);
/// ```
pub fn run_task<K: Task>(task: K) -> K::Output {
    #[cfg(target_arch = "x86_64")]
    {
        if has_avx512() {
            // SAFETY: the processor was just checked for these instructions.
            return unsafe { with_avx512(task) };
        }
        if has_avx2() {
            // SAFETY: as above.
            return unsafe { with_avx2(task) };
        }
    }
    // Fused multiplication is a basic instruction on 64-bit Arm.
    task.run::<{ cfg!(target_arch = "aarch64") }>()
}

#[cfg(target_arch = "x86_64")]
pub(super) fn has_avx2() -> bool {
    is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma")
}

#[cfg(target_arch = "x86_64")]
pub(super) fn has_avx512() -> bool {
    has_avx2()
        && is_x86_feature_detected!("avx512f")
        && is_x86_feature_detected!("avx512bw")
        && is_x86_feature_detected!("avx512dq")
        && is_x86_feature_detected!("avx512vl")
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,fma")]
fn with_avx2<K: Task>(task: K) -> K::Output {
    task.run::<true>()
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,fma,avx512f,avx512bw,avx512dq,avx512vl")]
fn with_avx512<K: Task>(task: K) -> K::Output {
    task.run::<true>()
}
