"""The operators of `crates/logltn/src/operators/` on tensors: connectives with autograd, aggregators as states that can be merged.

An aggregator's derivatives are written out: a quantifier whose bindings do not fit into memory is gone through twice, and a
gradient must not depend on how it was cut.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

FLOOR = -1e5
NOTHING = 1e-30

Number = Any  # a number, or a tensor without axes


@dataclass(frozen=True)
class Settings:
    """The parameters of an axiom in a call, and the ε of the semantics."""

    alpha: Number
    p: Number
    p_forall: Number
    eps: float


# --- complements --------------------------------------------------------------------------------


def _log_not(x: Tensor) -> Tensor:
    value = torch.where(x > -math.log(2), (-x.expm1()).log(), (-x.exp()).log1p())
    return value.clamp(min=FLOOR)


class _Complement(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: Tensor) -> Tensor:
        ctx.save_for_backward(x)
        return _log_not(x.clamp(max=0))

    @staticmethod
    def backward(ctx: Any, by: Tensor) -> Tensor:
        return complement_slope(ctx.saved_tensors[0], by)


def complement(x: Tensor) -> Tensor:
    """log(1 − eˣ), with x capped at 0."""
    return _Complement.apply(x)


def complement_slope(x: Tensor, by: Tensor) -> Tensor:
    """The derivative by x, from that by its complement."""
    matters = x < -NOTHING
    return torch.where(matters, -by / torch.where(matters, (-x).expm1(), 1), 0)


class _LogProbabilisticSum(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, values: Tensor, complements: Tensor) -> Tensor:
        total = complements.clamp(max=0).sum(0)
        vanishes = total > -NOTHING
        joined = values.logsumexp(0)
        ctx.save_for_backward(values, complements, total, joined)
        return torch.where(vanishes, joined.clamp(min=FLOOR), _log_not(total))

    @staticmethod
    def backward(ctx: Any, by: Tensor) -> tuple[Tensor, Tensor]:
        values, complements, total, joined = ctx.saved_tensors
        vanishes = total > -NOTHING
        shares = torch.where(vanishes & (joined > FLOOR), by * (values - joined).exp(), 0)
        slope = torch.where(vanishes, 0, -by / torch.where(vanishes, 1, (-total).expm1()))
        return shares, torch.where(complements > 0, 0, slope.expand_as(complements))


# --- connectives --------------------------------------------------------------------------------


def _zero(s: Settings, x: Tensor) -> Tensor:
    return (1 - s.eps) * x + s.eps


def _one(s: Settings, x: Tensor) -> Tensor:
    return (1 - s.eps) * x


def _luk_and(s: Settings, x: Tensor, y: Tensor) -> Tensor:
    return torch.where(x + y > 1, x + y - 1, 0)


def _luk_or(s: Settings, x: Tensor, y: Tensor) -> Tensor:
    return torch.where(x + y < 1, x + y, 1)


def _probabilistic_sum(s: Settings, x: Tensor, y: Tensor) -> Tensor:
    x, y = _one(s, x), _one(s, y)
    return x + y - x * y


FOLDS: dict[tuple[str, str], Callable[[Settings, Tensor, Tensor], Tensor]] = {
    ("and", "sum"): lambda s, x, y: x + y,
    ("and", "min"): lambda s, x, y: torch.where(x <= y, x, y),
    ("or", "max"): lambda s, x, y: torch.where(x >= y, x, y),
    ("and", "product"): lambda s, x, y: _zero(s, x) * _zero(s, y),
    ("or", "probabilistic_sum"): _probabilistic_sum,
    ("and", "lukasiewicz"): _luk_and,
    ("or", "lukasiewicz"): _luk_or,
}


def connective(role: str, name: str, s: Settings, values: list[Tensor], complements: list[Tensor] | None) -> Tensor:
    """`and` or `or` of at least two members."""
    fold = FOLDS.get((role, name))
    if fold is not None:
        total = values[0]
        for value in values[1:]:
            total = fold(s, total, value)
        return total
    together = torch.stack(values)
    if name == "log_probabilistic_sum":
        assert complements is not None
        return _LogProbabilisticSum.apply(together, torch.stack(complements))
    mean = {"log_mean_exp": math.log(len(values)), "log_sum_exp": 0.0}[name]
    return ((together * s.alpha).logsumexp(0) - mean) / s.alpha


def _godel_not(x: Tensor) -> Tensor:
    return (x == 0).to(x.dtype) + 0 * x.detach()


def negation(name: str, x: Tensor) -> Tensor:
    return 1 - x if name == "standard" else _godel_not(x)


def implication(name: str, s: Settings, x: Tensor, y: Tensor) -> Tensor:
    if name == "reichenbach":
        x, y = _zero(s, x), _one(s, y)
        return 1 - x + x * y
    if name == "kleene_dienes":
        return torch.where(1 - x >= y, 1 - x, y)
    if name == "lukasiewicz":
        return torch.where(x > y, 1 - x + y, 1)
    if name == "godel":
        return torch.where(x <= y, 1, y)
    if name == "goguen":
        x = _zero(s, x)
        return torch.where(x <= y, 1, y / torch.where(x <= y, 1, x))
    raise NotImplementedError(name)


# --- segments -----------------------------------------------------------------------------------


class Segments:
    """Which members belong to which outer binding: all to the only one, equally many to each, or as `index` says."""

    index: Any

    def __init__(self, parents: int, members: int, each: int | None, index: Tensor | None = None) -> None:
        self.parents, self.members, self.each, self.index = parents, members, each, index

    def sum(self, x: Tensor) -> Tensor:
        if self.each is not None:
            return x.reshape(self.parents, self.each).sum(1)
        return torch.zeros(self.parents, dtype=x.dtype, device=x.device).index_add_(0, self.index, x)

    def extreme(self, x: Tensor, greatest: bool) -> Tensor:
        if self.each is not None:
            by_parent = x.reshape(self.parents, self.each)
            return by_parent.amax(1) if greatest else by_parent.amin(1)
        start = torch.full((self.parents,), -math.inf if greatest else math.inf, dtype=x.dtype, device=x.device)
        return start.scatter_reduce_(0, self.index, x, "amax" if greatest else "amin")

    def spread(self, x: Tensor) -> Tensor:
        """The number of each member's outer binding."""
        if self.each is not None:
            return x[:, None].expand(self.parents, self.each).reshape(-1)
        return x.index_select(0, self.index)

    def count(self, like: Tensor) -> Tensor:
        if self.each is not None:
            return torch.full((self.parents,), self.each, dtype=like.dtype, device=like.device)
        return self.sum(torch.ones_like(like))


# --- aggregators --------------------------------------------------------------------------------

State = tuple[Tensor, ...]  # what the aggregator keeps, and last how many members there were
Weights = Tensor | None


def _weighed(x: Tensor, w: Weights) -> Tensor:
    return x if w is None else x * w


class Aggregator:
    """`state` of members, `merge` of states, `value` of a state that has members, `slopes` by members (and complements)."""

    complements = False
    # The state of no members.
    start: tuple[float, ...] = (0.0, 0.0, 0.0)

    def nothing(self, like: Tensor) -> State:
        return tuple(torch.full((1,), x, dtype=like.dtype, device=like.device) for x in self.start)

    def state(self, s: Settings, g: Segments, x: Tensor, c: Tensor | None, w: Weights) -> State:
        raise NotImplementedError

    def merge(self, s: Settings, one: State, other: State) -> State:
        raise NotImplementedError

    def value(self, s: Settings, state: State) -> Tensor:
        raise NotImplementedError

    def slopes(
        self, s: Settings, g: Segments, x: Tensor, c: Tensor | None, w: Weights, state: State, by: Tensor
    ) -> tuple[Tensor, Tensor | None]:
        raise NotImplementedError


def _count(g: Segments, x: Tensor, w: Weights) -> Tensor:
    return g.count(x) if w is None else g.sum(w)


class Sums(Aggregator):
    start = (0.0, 0.0)

    def __init__(self, mean: bool, logs: bool = False) -> None:
        self.mean, self.logs = mean, logs

    def state(self, s: Settings, g: Segments, x: Tensor, c: Tensor | None, w: Weights) -> State:
        x = _zero(s, x).log() if self.logs else x
        return g.sum(_weighed(x, w)), _count(g, x, w)

    def merge(self, s: Settings, one: State, other: State) -> State:
        return one[0] + other[0], one[1] + other[1]

    def value(self, s: Settings, state: State) -> Tensor:
        return state[0] / state[1] if self.mean else state[0]

    def slopes(
        self, s: Settings, g: Segments, x: Tensor, c: Tensor | None, w: Weights, state: State, by: Tensor
    ) -> tuple[Tensor, Tensor | None]:
        out = _weighed(g.spread(by / state[1] if self.mean else by), w)
        return (out * (1 - s.eps) / _zero(s, x) if self.logs else out), None


class Exponentials(Aggregator):
    """The greatest member, and the sum of exponentials relative to it."""

    start = (-math.inf, 0.0, 0.0)

    def __init__(self, mean: bool) -> None:
        self.mean = mean

    def alpha(self, s: Settings) -> Number:
        return s.alpha

    def state(self, s: Settings, g: Segments, x: Tensor, c: Tensor | None, w: Weights) -> State:
        top = g.extreme(x, True)
        e = ((x - g.spread(top)) * self.alpha(s)).exp()
        return top, g.sum(_weighed(e, w)), _count(g, x, w)

    def merge(self, s: Settings, one: State, other: State) -> State:
        top = torch.maximum(one[0], other[0])
        relative = lambda state: torch.where(state[2] > 0, state[1] * ((state[0] - top) * self.alpha(s)).exp(), 0)  # noqa: E731
        return top, relative(one) + relative(other), one[2] + other[2]

    def value(self, s: Settings, state: State) -> Tensor:
        return state[0] + (state[1] / state[2] if self.mean else state[1]).log() / self.alpha(s)

    def slopes(
        self, s: Settings, g: Segments, x: Tensor, c: Tensor | None, w: Weights, state: State, by: Tensor
    ) -> tuple[Tensor, Tensor | None]:
        e = ((x - g.spread(state[0])) * self.alpha(s)).exp()
        return _weighed(e * g.spread(by / state[1]), w), None


class LogProbabilisticSum(Aggregator):
    """As of LogSumExp without α; and the sum of complements."""

    complements = True
    start = (0.0, -math.inf, 0.0, 0.0)
    _sums = Exponentials(False)

    def _plain(self, s: Settings) -> Settings:
        return Settings(1.0, s.p, s.p_forall, s.eps)

    def state(self, s: Settings, g: Segments, x: Tensor, c: Tensor | None, w: Weights) -> State:
        assert c is not None
        top, total, count = self._sums.state(self._plain(s), g, x, None, w)
        return g.sum(_weighed(c.clamp(max=0), w)), top, total, count

    def merge(self, s: Settings, one: State, other: State) -> State:
        return one[0] + other[0], *self._sums.merge(self._plain(s), one[1:], other[1:])

    def value(self, s: Settings, state: State) -> Tensor:
        joined = (state[1] + state[2].log()).clamp(min=FLOOR)
        return torch.where(state[0] > -NOTHING, joined, _log_not(state[0]))

    def slopes(
        self, s: Settings, g: Segments, x: Tensor, c: Tensor | None, w: Weights, state: State, by: Tensor
    ) -> tuple[Tensor, Tensor | None]:
        assert c is not None
        vanishes = state[0] > -NOTHING
        shares, _ = self._sums.slopes(self._plain(s), g, x, None, w, state[1:], by)
        joined = vanishes & (state[1] + state[2].log() > FLOOR)
        shares = torch.where(g.spread(joined), shares, 0)
        slope = torch.where(vanishes, 0, -by / torch.where(vanishes, 1, (-state[0]).expm1()))
        return shares, torch.where(c > 0, 0, _weighed(g.spread(slope), w))


class Powers(Aggregator):
    """The greatest of what is projected, and the sum of powers relative to it."""

    def __init__(self, error: bool) -> None:
        self.error = error

    def _p(self, s: Settings) -> Number:
        return s.p_forall if self.error else s.p

    def _projected(self, s: Settings, x: Tensor) -> Tensor:
        return 1 - (1 - s.eps) * x if self.error else _zero(s, x)

    def _relative(self, x: Tensor, top: Tensor) -> Tensor:
        return x / torch.where(top > 0, top, 1)

    def state(self, s: Settings, g: Segments, x: Tensor, c: Tensor | None, w: Weights) -> State:
        projected = self._projected(s, x)
        top = g.extreme(projected, True).clamp(min=0)
        powers = self._relative(projected, g.spread(top)) ** self._p(s)
        return top, g.sum(_weighed(powers, w)), _count(g, x, w)

    def merge(self, s: Settings, one: State, other: State) -> State:
        top = torch.maximum(one[0], other[0])
        power = lambda state: state[1] * self._relative(state[0], top) ** self._p(s)  # noqa: E731
        return top, power(one) + power(other), one[2] + other[2]

    def value(self, s: Settings, state: State) -> Tensor:
        mean = state[0] * (state[1] / state[2]) ** (1 / self._p(s))
        return 1 - mean if self.error else mean

    def slopes(
        self, s: Settings, g: Segments, x: Tensor, c: Tensor | None, w: Weights, state: State, by: Tensor
    ) -> tuple[Tensor, Tensor | None]:
        p = self._p(s)
        outer = by * (state[1] / state[2]) ** (1 / p - 1) / state[2] * (1 - s.eps)
        outer = torch.where(outer.isfinite() | by.isnan(), outer, 0)
        out = _weighed(self._relative(self._projected(s, x), g.spread(state[0])) ** (p - 1) * g.spread(outer), w)
        return torch.where(out.isfinite() | x.isnan(), out, 0), None


class Product(Aggregator):
    """The log of the product of those that are not 0, and the number of zeros."""

    def state(self, s: Settings, g: Segments, x: Tensor, c: Tensor | None, w: Weights) -> State:
        x = _zero(s, x)
        logs = _weighed(torch.where(x == 0, 0, x.log()), w)
        zero = ((x == 0) if w is None else (x**w == 0)).to(x.dtype)
        return g.sum(logs), g.sum(zero), _count(g, x, w)

    def merge(self, s: Settings, one: State, other: State) -> State:
        return one[0] + other[0], one[1] + other[1], one[2] + other[2]

    def value(self, s: Settings, state: State) -> Tensor:
        return torch.where(state[1] > 0, 0, state[0].exp())

    def slopes(
        self, s: Settings, g: Segments, x: Tensor, c: Tensor | None, w: Weights, state: State, by: Tensor
    ) -> tuple[Tensor, Tensor | None]:
        x = _zero(s, x)
        weight: Any = 1.0 if w is None else w
        zero = x**weight == 0
        product, zeros = g.spread(state[0].exp() * by * (1 - s.eps)), g.spread(state[1])
        alone = torch.where(zero, x ** (weight - 1), 1 / torch.where(zero, 1, x))
        return torch.where(zeros == zero.to(x.dtype), product * weight * alone, 0), None


class Extreme(Aggregator):
    """The extreme, and how many members attain it: they share its derivative."""

    def __init__(self, greatest: bool) -> None:
        self.greatest = greatest
        self.start = (-math.inf if greatest else math.inf, 0.0, 0.0)

    def state(self, s: Settings, g: Segments, x: Tensor, c: Tensor | None, w: Weights) -> State:
        top = g.extreme(x, self.greatest)
        return top, g.sum((x == g.spread(top)).to(x.dtype)), g.count(x)

    def merge(self, s: Settings, one: State, other: State) -> State:
        top = torch.maximum(one[0], other[0]) if self.greatest else torch.minimum(one[0], other[0])
        attain = lambda state: torch.where(state[0] == top, state[1], 0)  # noqa: E731
        return top, attain(one) + attain(other), one[2] + other[2]

    def value(self, s: Settings, state: State) -> Tensor:
        return state[0]

    def slopes(
        self, s: Settings, g: Segments, x: Tensor, c: Tensor | None, w: Weights, state: State, by: Tensor
    ) -> tuple[Tensor, Tensor | None]:
        return torch.where(x == g.spread(state[0]), g.spread(by / state[1]), 0), None


AGGREGATORS: dict[str, Aggregator] = {
    "mean": Sums(True),
    "sum": Sums(False),
    "log_product": Sums(False, logs=True),
    "min": Extreme(False),
    "max": Extreme(True),
    "product": Product(),
    "log_mean_exp": Exponentials(True),
    "log_sum_exp": Exponentials(False),
    "log_probabilistic_sum": LogProbabilisticSum(),
    "p_mean": Powers(False),
    "p_mean_error": Powers(True),
}
# Whose derivative by a member is known before the members are.
LINEAR = {"mean", "sum"}
