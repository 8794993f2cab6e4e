//! The kinds of processors that loops are compiled for.

/// What the loops may assume of a processor.
pub(crate) trait Kind {
    /// A multiplication and an addition are one instruction, rounded once. Elsewhere that would be a slow call.
    const FUSED: bool;
    /// There are 32 registers of 16 floats; otherwise there is room for 6 sums of 16 floats.
    const WIDE: bool;
}

/// Multiplies and adds, in one instruction where there is one.
#[inline(always)]
pub(crate) fn multiply_add<K: Kind>(a: f32, b: f32, c: f32) -> f32 {
    if K::FUSED { a.mul_add(b, c) } else { a * b + c }
}
