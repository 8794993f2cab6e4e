//! Recursion over trees as deep as [`MAX_NESTING`](crate::parser::MAX_NESTING) allows, on any thread.

/// Runs `f` with room on the stack for one more level. Threads other than the main one have 2 MB by
/// default, which an unoptimised build can use up within a thousand levels.
pub(crate) fn deep<T>(f: impl FnOnce() -> T) -> T {
    stacker::maybe_grow(64 * 1024, 1024 * 1024, f)
}
