"""From the numbers behind a predicate to its literals, and back, as `engine/literals.rs` does it: both logs exact, in log space."""

from __future__ import annotations

import math

import torch

TRUTH_EPS = 1e-7
ROUNDING = 1e-6
# The log of a truth whose logit is −∞.
MASKED = -1e5


def lowest_log(dtype: torch.dtype) -> float:
    return -1e30 if dtype is torch.float32 else -1e250


def _ample(dtype: torch.dtype) -> float:
    return 1e-30 if dtype is torch.float32 else 1e-280


def cleaned(kind: str, z: torch.Tensor) -> torch.Tensor:
    """Turns numbers that are not valid for their kind into NaN, since an error would have to wait for the device."""
    if kind in ("softmax", "sigmoid"):
        masked = z.isneginf()
        floor: torch.Tensor | float = MASKED
        if kind == "softmax":
            highest = z.masked_fill(masked, torch.finfo(z.dtype).min).amax(1, keepdim=True)
            floor = (highest + MASKED).masked_fill(masked.all(1, keepdim=True), torch.nan)
        return torch.where(z.isfinite(), z, torch.where(masked, floor, torch.nan))
    low, high = (0.0, 1.0) if kind == "truth" else (-math.inf, 0.0)
    good = z.isfinite() & (z >= low - ROUNDING) & (z <= high + ROUNDING)
    return torch.where(good, z.clamp(low, high), torch.nan)


def forward(kind: str, log: bool, negated: bool, z: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor | None]:
    """The literals of rows `[n, width]`, and their negations in log space if they occur."""
    negative = None
    if kind == "softmax":
        if not log:
            return z.softmax(1), None
        positive = _log_softmax(z)
        if negated:
            negative = _log_not_softmax(z)
    elif kind == "sigmoid":
        if not log:
            return z.sigmoid(), None
        positive = torch.nn.functional.logsigmoid(z)
        negative = torch.nn.functional.logsigmoid(-z) if negated else None
    elif kind == "truth":
        if not log:
            return z, None
        positive = (z + TRUTH_EPS).log()
        negative = (1 - z + TRUTH_EPS).log() if negated else None
    else:
        if not log:
            return z.exp(), None
        positive = z
        if negated:
            floor = math.log(TRUTH_EPS)
            exact = -z.expm1() > TRUTH_EPS
            own = torch.where(exact, z, -1.0)  # so that autograd finds no slope of what is not used
            near = own > -math.log(2)
            value = torch.where(near, (-torch.where(near, own, -0.5).expm1()).log(), (-own.exp()).log1p())
            negative = torch.where(exact, value.clamp(min=floor), floor + 0 * z)
    floor = lowest_log(z.dtype)
    return positive.clamp(min=floor), None if negative is None else negative.clamp(min=floor)


def _log_softmax(z: torch.Tensor) -> torch.Tensor:
    # Not torch's: next to certainty the log is what the others add up to, and adding 1 to them first would lose it.
    at = z.argmax(1, keepdim=True)
    best = torch.zeros_like(z, dtype=torch.bool).scatter(1, at, True)
    shifted = z - z.gather(1, at)  # not `amax`, whose slope those share that are equal
    return shifted - shifted.exp().masked_fill(best, 0).sum(1, keepdim=True).log1p()


def _without_best(z: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor, torch.Tensor]:
    """Where the first of the largest is, the others, and their sum of exponentials relative to all."""
    at = z.argmax(1, keepdim=True)
    best = torch.zeros_like(z, dtype=torch.bool).scatter(1, at, True)
    rest = z.masked_fill(best, -math.inf)
    top = z.gather(1, at)
    others = (rest - top).exp().sum(1, keepdim=True)
    return best, rest, top, others / (1 + others)


def _log_not_softmax(z: torch.Tensor) -> torch.Tensor:
    best, rest, top, others = _without_best(z)
    far = torch.logsumexp(rest, 1, keepdim=True) - top  # the logsumexp of all is the largest there
    ample = others > _ample(z.dtype)
    of_best = torch.where(ample, torch.where(ample, others, 1.0).log(), far)
    return torch.where(best, of_best, (-z.softmax(1).clamp(max=0.5)).log1p())


def backward(
    kind: str, log: bool, z: torch.Tensor, by_positive: torch.Tensor, by_negative: torch.Tensor | None
) -> torch.Tensor:
    """The derivative by the numbers, from those by the literals."""
    if kind == "softmax":
        p = z.softmax(1)
        if not log:
            return p * (by_positive - (by_positive * p).sum(1, keepdim=True))
        # Close to certainty 1 − p of the best would be all rounding error; the others' share is known to the last bit.
        best, rest, _, others = _without_best(z)
        by_rest = by_positive.masked_fill(best, 0)
        at_best = (by_positive - by_rest).sum(1, keepdim=True)
        if by_negative is None:
            common = by_rest.sum(1, keepdim=True)
            return torch.where(best, at_best * others - p * common, by_positive - p * (common + at_best))
        own = torch.where(best, 0, by_negative / (1 - p))
        by_best = by_negative.masked_fill(~best, 0).sum(1, keepdim=True)
        common = by_best + (by_rest - p * own).sum(1, keepdim=True)
        far = (rest - torch.logsumexp(rest, 1, keepdim=True)).exp()
        share = torch.where(others > _ample(z.dtype), p / others, far).masked_fill(best, 0)
        of_others = by_positive - p * (common + at_best + own) + torch.where(by_best != 0, by_best * share, 0 * by_best)
        return torch.where(best, at_best * others - p * common, of_others)
    if kind == "sigmoid":
        p, q = z.sigmoid(), (-z).sigmoid()
        if not log:
            return by_positive * p * q
        return by_positive * q if by_negative is None else by_positive * q - by_negative * p
    if kind == "truth":
        if not log:
            return by_positive
        by = by_positive / (z + TRUTH_EPS)
        return by if by_negative is None else by - by_negative / (1 - z + TRUTH_EPS)
    if not log:
        return by_positive * z.exp()
    if by_negative is None:
        return by_positive
    exact = (by_negative != 0) & (-z.expm1() > TRUTH_EPS)
    return by_positive - torch.where(exact, by_negative / torch.where(exact, (-z).expm1(), 1), 0)
