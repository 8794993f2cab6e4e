//! Polynomials and constants of the elementary functions. Made by tools/vector_coefficients.py: do not edit.

/// For `f32`.
pub(super) mod for_f32 {
    /// exp(r) = 1 + r + r²·(c₀ + c₁ r + …) for |r| ≤ ½ ln 2.
    /// Relative error 2^-28.27 before rounding.
    pub const EXP: [f32; 5] = [
        0.49999994,
        0.1666652,
        0.041668393,
        0.008368781,
        0.0013814465,
    ];
    /// log(1 + f) = 2s + s³·(c₀ + c₁ s² + …) with s = f/(2 + f), 1 + f from √½ to √2.
    /// Relative error 2^-37.6 before rounding.
    pub const LN: [f32; 4] = [0.6666666, 0.40000337, 0.28537238, 0.23583569];
    /// The first 15 bits of ln 2: its product with any exponent is exact.
    pub const LN2_HIGH: f32 = 0.69314575;
    /// ln 2 − `LN2_HIGH`.
    pub const LN2_LOW: f32 = 1.4286068e-06;
    /// The greatest number whose exponential is finite.
    pub const EXP_MAX: f32 = 88.72283;
    /// The least number whose exponential is normal.
    pub const EXP_MIN: f32 = -87.33654;
}

/// For `f64`.
pub(super) mod for_f64 {
    /// exp(r) = 1 + r + r²·(c₀ + c₁ r + …) for |r| ≤ ½ ln 2.
    /// Relative error 2^-57.92 before rounding.
    pub const EXP: [f64; 10] = [
        0.5000000000000011,
        0.1666666666666641,
        0.04166666666652919,
        0.008333333333495625,
        0.0013888888943922538,
        0.00019841269504759456,
        2.4801492762891423e-05,
        2.7557587349402497e-06,
        2.763037859084274e-07,
        2.4999962545580734e-08,
    ];
    /// log(1 + f) = 2s + s³·(c₀ + c₁ s² + …) with s = f/(2 + f), 1 + f from √½ to √2.
    /// Relative error 2^-59.48 before rounding.
    pub const LN: [f64; 7] = [
        0.6666666666666735,
        0.3999999999941109,
        0.2857142874326248,
        0.22222198476018334,
        0.18183569737650185,
        0.15313903312346325,
        0.14797506963046073,
    ];
    /// The first 41 bits of ln 2: its product with any exponent is exact.
    pub const LN2_HIGH: f64 = 0.693147180559663;
    /// ln 2 − `LN2_HIGH`.
    pub const LN2_LOW: f64 = 2.8235290563031577e-13;
    /// The greatest number whose exponential is finite.
    pub const EXP_MAX: f64 = 709.782712893384;
    /// The least number whose exponential is normal.
    pub const EXP_MIN: f64 = -708.3964185322641;
}
