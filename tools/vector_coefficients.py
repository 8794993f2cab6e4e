"""Derive the polynomials of crates/logltn-vector/src/coefficients.rs, and the reference values its tests use.

    python3 tools/vector_coefficients.py coefficients > crates/logltn-vector/src/coefficients.rs
    python3 tools/vector_coefficients.py references   > crates/logltn-vector/src/tests/references.rs

Needs mpmath. Each polynomial is the minimax one (Remez exchange) for the error that the code that uses it makes.
"""

import random
import struct
import sys

from mpmath import atanh, exp, floor, linspace, log, log1p, lu_solve, matrix, mp, mpf, nstr, sqrt

mp.dps = 60


def remez(target, weight, degree, low, high, rounds=12):
    """The polynomial p of this degree with the least max |weight·(p − target)| on [low, high], and that maximum."""
    n = degree + 2
    middle, half = (low + high) / 2, (high - low) / 2
    points = [middle - half * mp.cos(mp.pi * (i + mpf(1) / 2) / n) for i in range(n)]
    for _ in range(rounds):
        rows = matrix(n, n)
        right = matrix(n, 1)
        for i, x in enumerate(points):
            for j in range(degree + 1):
                rows[i, j] = x**j
            rows[i, degree + 1] = (-1) ** i / weight(x)
            right[i] = target(x)
        solution = lu_solve(rows, right)
        coefficients = [solution[j] for j in range(degree + 1)]

        def error(x):
            return weight(x) * (sum(c * x**j for j, c in enumerate(coefficients)) - target(x))

        # One extremum between each two sign changes of the error; a grid finds them well enough to converge.
        grid = linspace(low, high, 1500)
        errors = [error(x) for x in grid]
        extrema, best = [], 0
        for i in range(1, len(grid)):
            if errors[i] * errors[best] < 0:
                extrema.append(best)
                best = i
            elif abs(errors[i]) > abs(errors[best]):
                best = i
        extrema.append(best)
        if len(extrema) != n:
            break
        points = [grid[i] for i in extrema]
    return coefficients, max(abs(e) for e in errors)


def exp_tail(degree):
    """q with exp(r) = 1 + r + r²·q(r), least relative error for |r| ≤ ½ ln 2 (and a little beyond: rounding)."""
    bound = log(2) / 2 * mpf("1.001")

    def target(r):
        if abs(r) < mpf(10) ** -12:
            return mpf(1) / 2 + r / 6 + r * r / 24
        return (exp(r) - 1 - r) / r**2

    # The weight vanishes at 0, where the error of q does not matter; the exchange needs it positive.
    return remez(target, lambda r: (r * r + mpf(10) ** -9) / exp(r), degree, -bound, bound)


def atanh_tail(degree):
    """q with log(1 + f) = 2s + s·s²·q(s²), s = f / (2 + f), 1 + f between √½ and √2: error relative to 2s."""
    top = ((sqrt(2) - 1) / (sqrt(2) + 1)) ** 2 * mpf("1.001")

    def target(z):
        if z < mpf(10) ** -16:
            return mpf(2) / 3 + z * 2 / 5
        s = sqrt(z)
        return (2 * atanh(s) / s - 2) / z

    return remez(target, lambda z: (z + mpf(10) ** -9) / 2, degree, mpf(0), top)


def to_f32(x):
    return struct.unpack("<f", struct.pack("<f", float(x)))[0]


def literal(x, width):
    """The shortest decimal that is read as this number."""
    if width == 64:
        return repr(float(x))
    return next(text for digits in range(1, 10) if to_f32(text := f"{to_f32(x):.{digits}g}") == to_f32(x))


def split(x, bits):
    """x as high + low, the high part with so many bits."""
    scale = mpf(2) ** (bits - 1 - int(floor(log(x, 2))))
    high = floor(x * scale) / scale
    return high, x - high


def towards_zero(x, width):
    """x rounded towards zero, for an |x| from 64 to 1024 and a format of this width."""
    bits = 24 if width == 32 else 53
    scale = mpf(2) ** (bits - 1 - int(floor(log(abs(x), 2))))
    return mp.sign(x) * floor(abs(x) * scale) / scale


def coefficients():
    print("//! Polynomials and constants of the elementary functions. Made by tools/vector_coefficients.py: do not edit.\n")
    for width, exp_degree, ln_degree, high_bits in [(32, 4, 3, 15), (64, 9, 6, 41)]:
        number = f"f{width}"
        print(f"/// For `{number}`.\npub(super) mod for_{number} {{")
        for name, doc, (values, error) in [
            ("EXP", "exp(r) = 1 + r + r²·(c₀ + c₁ r + …) for |r| ≤ ½ ln 2", exp_tail(exp_degree)),
            ("LN", "log(1 + f) = 2s + s³·(c₀ + c₁ s² + …) with s = f/(2 + f), 1 + f from √½ to √2", atanh_tail(ln_degree)),
        ]:
            print(f"    /// {doc}.\n    /// Relative error 2^{nstr(log(error, 2), 4)} before rounding.")
            print(f"    pub const {name}: [{number}; {len(values)}] = [")
            for value in values:
                print(f"        {literal(value, width)},")
            print("    ];")
        high, low = split(log(2), high_bits)
        print(f"    /// The first {high_bits} bits of ln 2: its product with any exponent is exact.")
        print(f"    pub const LN2_HIGH: {number} = {literal(high, width)};")
        print(f"    /// ln 2 − `LN2_HIGH`.\n    pub const LN2_LOW: {number} = {literal(low, width)};")
        largest = (2 - mpf(2) ** (-23 if width == 32 else -52)) * mpf(2) ** (127 if width == 32 else 1023)
        least = mpf(2) ** (-126 if width == 32 else -1022)
        print("    /// The greatest number whose exponential is finite.")
        print(f"    pub const EXP_MAX: {number} = {literal(towards_zero(log(largest), width), width)};")
        print("    /// The least number whose exponential is normal.")
        print(f"    pub const EXP_MIN: {number} = {literal(towards_zero(log(least), width), width)};")
        print("}\n")


def references():
    random.seed(7)

    def log1p_exp_neg(x):
        return log1p(exp(-x))

    cases = [
        ("EXP", exp, [random.uniform(-708, 709) for _ in range(40)] + [random.uniform(-1, 1) for _ in range(40)]),
        ("LN", log, [2 ** random.uniform(-1070, 1023) for _ in range(40)] + [random.uniform(0.5, 2) for _ in range(40)]),
        ("LOG1P_EXP_NEG", log1p_exp_neg, [random.uniform(0, 5) for _ in range(40)] + [random.uniform(0, 700) for _ in range(40)]),
    ]
    print("//! Values rounded from 60 digits. Made by tools/vector_coefficients.py: do not edit.\n")
    for name, function, arguments in cases:
        print(f"/// `(x, f(x))`.\npub const {name}: [(f64, f64); {len(arguments)}] = [")
        for x in arguments:
            print(f"    ({x!r}, {float(function(mpf(x)))!r}),")
        print("];\n")


if __name__ == "__main__":
    {"coefficients": coefficients, "references": references}[sys.argv[1]]()
