"""What a plan says of its operators, as torch operations. Which operators there are is not known here: a plan has expressions, and
PyTorch differentiates them (crates/logltn/PLAN-FORMAT.md)."""

from __future__ import annotations

import ast
import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import torch
from torch import Tensor

FLOOR = -1e5
NOTHING = 1e-30

Number = Any  # a number, or a tensor without axes
Names = dict[str, Any]


@dataclass(frozen=True)
class Settings:
    """The parameters of an axiom in a call, and the ε of the semantics."""

    alpha: Number
    p: Number
    p_forall: Number
    eps: float

    def names(self, dtype: torch.dtype, **more: Any) -> Names:
        """What expressions call them, with whatever else they are about."""
        return {"alpha": self.alpha, "p": self.p, "p_forall": self.p_forall, "eps": self.eps, "w": 1, "dtype": dtype, **more}


# --- expressions --------------------------------------------------------------------------------


def log_not(x: Tensor) -> Tensor:
    """log(1 − eˣ) for x < 0, without a slope where it is floored."""
    matters = x < -NOTHING
    own = torch.where(matters, x, -1.0)
    near = own > -math.log(2)
    # Each branch with a number of its own where it is not taken: an infinite slope times 0 is no number.
    value = torch.where(near, (-torch.where(near, own, -0.5).expm1()).log(), (-torch.where(near, -1.0, own).exp()).log1p())
    return torch.where(matters | x.isnan(), value.clamp(min=FLOOR) + torch.where(x.isnan(), x, 0.0), FLOOR)


def complement(x: Tensor) -> Tensor:
    """log(1 − eˣ), with x capped at 0."""
    return log_not(x.clamp(max=0))


def _power(names: Names, x: Any, y: Any) -> Any:
    """xʸ of x ≥ 0. At 0 its slope is 1 if y is 1, and 0 otherwise: never infinite."""
    if not isinstance(y, Tensor) and y == 1:
        return x
    if not isinstance(x, Tensor):
        return x**y
    none = x <= 0
    one = (y == 1).to(x.dtype) if isinstance(y, Tensor) else 0.0
    return torch.where(none, x * one, torch.where(none, 1.0, x) ** y)


def _where(names: Names, test: Any, one: Any, other: Any) -> Any:
    if not isinstance(test, Tensor):
        return one if test else other
    if not isinstance(one, Tensor) and not isinstance(other, Tensor):
        one = torch.full((), one, dtype=names["dtype"], device=test.device)
    return torch.where(test, one, other)


def _times(x: Any, y: Any) -> Any:
    return y if isinstance(x, int) and x == 1 else x * y


_FUNCTIONS: dict[str, Callable[..., Any]] = {
    "exp": lambda names, x: x.exp(),
    "log": lambda names, x: x.log() if isinstance(x, Tensor) else math.log(x),
    "log_not": lambda names, x: log_not(x),
    "power": _power,
    "where": _where,
    "away_from_zero": lambda names, x: (1 - names["eps"]) * x + names["eps"],
    "away_from_one": lambda names, x: (1 - names["eps"]) * x,
}
_OPERATIONS: dict[type, Callable[[Any, Any], Any]] = {
    ast.Add: lambda x, y: x + y,
    ast.Sub: lambda x, y: x - y,
    ast.Mult: _times,
    ast.Div: lambda x, y: x / y,
    ast.Eq: lambda x, y: x == y,
    ast.Lt: lambda x, y: x < y,
    ast.LtE: lambda x, y: x <= y,
    ast.Gt: lambda x, y: x > y,
    ast.GtE: lambda x, y: x >= y,
}

_Made = Callable[[Names, dict[str, Any]], Any]


def _make(node: ast.expr) -> _Made:
    if isinstance(node, ast.Constant):
        number = node.value
        return lambda names, known: number
    if isinstance(node, ast.Name):
        name = node.id
        return lambda names, known: names[name]
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        of = _make(node.operand)
        return lambda names, known: -of(names, known)
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
        function, parts = _FUNCTIONS[node.func.id], [_make(argument) for argument in node.args]
    elif isinstance(node, ast.BinOp):
        operation, parts = _OPERATIONS[type(node.op)], [_make(node.left), _make(node.right)]
        function = lambda names, x, y: operation(x, y)  # noqa: E731
    elif isinstance(node, ast.Compare) and len(node.ops) == 1:
        comparison, parts = _OPERATIONS[type(node.ops[0])], [_make(node.left), _make(node.comparators[0])]
        function = lambda names, x, y: comparison(x, y)  # noqa: E731
    else:
        raise RuntimeError(f"a plan with the expression {ast.unparse(node)}: the package is incomplete")
    key = ast.dump(node)

    def value(names: Names, known: dict[str, Any]) -> Any:
        # What an expression says twice is computed once.
        if key not in known:
            known[key] = function(names, *(part(names, known) for part in parts))
        return known[key]

    return value


@lru_cache(maxsize=1024)
def expression(text: str) -> Callable[[Names], Any]:
    """An expression as a function of what its names stand for."""
    made = _make(ast.parse(text, mode="eval").body)
    return lambda names: made(names, {})


# --- segments -----------------------------------------------------------------------------------


class Segments:
    """Which members belong to which outer binding: all to the only one, equally many to each, or as `index` says."""

    index: Any

    def __init__(self, parents: int, members: int, each: int | None, index: Tensor | None = None) -> None:
        self.parents, self.members, self.each, self.index = parents, members, each, index

    def sum(self, x: Tensor) -> Tensor:
        if self.each is not None:
            return x.reshape(self.parents, self.each).sum(1)
        return torch.zeros(self.parents, dtype=x.dtype, device=x.device).index_add(0, self.index, x)

    def greatest(self, x: Tensor) -> Tensor:
        if self.each is not None:
            return x.reshape(self.parents, self.each).amax(1)
        start = torch.full((self.parents,), -math.inf, dtype=x.dtype, device=x.device)
        return start.scatter_reduce(0, self.index, x, "amax")

    def spread(self, x: Tensor) -> Tensor:
        """The number of each member's outer binding."""
        if self.each is not None:
            return x[:, None].expand(self.parents, self.each).reshape(-1)
        return x.index_select(0, self.index)

    def count(self, like: Tensor) -> Tensor:
        if self.each is not None:
            return torch.full((self.parents,), self.each, dtype=like.dtype, device=like.device)
        return self.sum(torch.ones_like(like))


class _Stack:
    """The members of a connective, each with a number for every binding."""

    def sum(self, x: Tensor) -> Tensor:
        return x.sum(0)

    def greatest(self, x: Tensor) -> Tensor:
        return x.amax(0)

    def spread(self, x: Tensor) -> Tensor:
        return x

    def count(self, like: Tensor) -> int:
        return len(like)


# --- operators ----------------------------------------------------------------------------------

State = tuple[Any, ...]  # what is kept of the members, and last how many there were


class _Kept:
    def __init__(self, given: dict[str, str]) -> None:
        self.name, self.is_sum = given["name"], "sum" in given
        self.of = expression(given["sum" if self.is_sum else "greatest"])
        self.relative_to = given.get("relative_to")
        self.factor = expression(given["factor"]) if "factor" in given else None
        self.start = 0.0 if self.is_sum else -math.inf


class Reduction:
    """An operator of many members: `state` of members, `merge` of states, `value` of a state that has members. `slopes` are for members
    that are looked at again, some at a time."""

    def __init__(self, given: dict[str, Any]) -> None:
        self.keeps = [_Kept(kept) for kept in given["keeps"]]
        self._value = expression(given["value"])
        self.complements: bool = given["complements"]
        # Whether the derivative by a member is known before the members are, and whether weights are ignored.
        self.linear: bool = given.get("linear", False)
        self.picks_one: bool = given.get("picks_one", False)

    def nothing(self, like: Tensor) -> State:
        """The state of no members."""
        return tuple(torch.full((1,), x, dtype=like.dtype, device=like.device) for x in (*(k.start for k in self.keeps), 0.0))

    def _names(self, s: Settings, x: Tensor, c: Tensor | None, w: Tensor | None) -> Names:
        return s.names(x.dtype, x=x, c=c, **({} if w is None else {"w": w}))

    def state(self, s: Settings, g: Any, x: Tensor, c: Tensor | None, w: Tensor | None) -> State:
        names, state = self._names(s, x, c, w), []
        for kept in self.keeps:
            of = kept.of(names)
            state.append(g.sum(of) if kept.is_sum else g.greatest(of.detach()))
            names[kept.name] = g.spread(state[-1])
        return *state, g.count(x) if w is None else g.sum(w)

    def merge(self, s: Settings, one: State, other: State) -> State:
        counts = one[-1], other[-1]
        merged: list[Tensor] = []
        places = {kept.name: i for i, kept in enumerate(self.keeps)}
        for i, kept in enumerate(self.keeps):
            if not kept.is_sum:
                merged.append(torch.maximum(one[i], other[i]))
                continue
            total: Any = 0
            for state, count in zip((one, other), counts):
                own = state[i]
                if kept.factor is not None and kept.relative_to is not None:
                    at = places[kept.relative_to]
                    factor = kept.factor(s.names(own.dtype, old=state[at], new=merged[at]))
                    # What has seen nothing is relative to nothing.
                    own = torch.where(count > 0, own * factor, 0)
                total = total + own
            merged.append(total)
        return *merged, counts[0] + counts[1]

    def value(self, s: Settings, state: State) -> Tensor:
        named = {kept.name: own for kept, own in zip(self.keeps, state)}
        return self._value(s.names(state[0].dtype, **named, count=state[-1]))

    def value_or(self, empty: float, s: Settings, state: State) -> Tensor:
        """The value of states that may have no members."""
        some = state[-1] > 0
        # Nothing infinite where there is nothing: derivatives of it would be no numbers.
        return torch.where(some, self.value(s, tuple(torch.where(some, own, 1.0) for own in state)), empty)

    def slope(self, s: Settings, count: Number) -> Number:
        """The derivative by a member, if it is known: the value is so much of each."""
        named = dict.fromkeys((kept.name for kept in self.keeps), 1.0)
        return self._value(s.names(torch.float64, **named, count=count))

    def slopes(
        self, s: Settings, g: Segments, x: Tensor, c: Tensor | None, w: Tensor | None, state: State, by: Tensor
    ) -> tuple[Tensor, Tensor | None]:
        """The derivatives by members and complements, given the state of all."""
        with torch.enable_grad():
            own = tuple(part.detach().requires_grad_() for part in state)
            by_state = torch.autograd.grad(self.value(s, own), own[:-1], by, allow_unused=True)
            leaves = [t.detach().requires_grad_() for t in (x, c) if t is not None]
            names = self._names(s, leaves[0], leaves[1] if c is not None else None, w)
            names |= {kept.name: g.spread(part) for kept, part in zip(self.keeps, state)}
            sums = [(kept.of(names), d) for kept, d in zip(self.keeps, by_state) if kept.is_sum and d is not None]
            sums = [(of, g.spread(d)) for of, d in sums if of.requires_grad]
            found = torch.autograd.grad([of for of, _ in sums], leaves, [d for _, d in sums], allow_unused=True)
        slopes = [torch.zeros_like(leaf) if d is None else d for leaf, d in zip(leaves, found)]
        return slopes[0], slopes[1] if c is not None else None


class Connective:
    """`and`, `or`, `->` or `not` of tensors."""

    def __init__(self, given: dict[str, Any]) -> None:
        self._of = expression(given["of"]) if "of" in given else None
        self._all = Reduction(given) if "keeps" in given else None
        self.complements: bool = given.get("complements", False)

    def __call__(self, s: Settings, values: list[Tensor], complements: list[Tensor] | None = None) -> Tensor:
        if self._all is not None:
            c = None if complements is None else torch.stack(complements)
            return self._all.value(s, self._all.state(s, _Stack(), torch.stack(values), c, None))
        of, total = self._of, values[0]
        assert of is not None
        if len(values) == 1:
            return of(s.names(total.dtype, x=total))
        for value in values[1:]:
            total = of(s.names(total.dtype, x=total, y=value))
        return total


class Operators:
    """Those of a plan."""

    def __init__(self, semantics: dict[str, Any]) -> None:
        self.and_, self.or_, self.implies, self.not_ = (Connective(semantics[key]) for key in ("and", "or", "implies", "not"))
        self.forall, self.exists, self.over_axioms = (Reduction(semantics[key]) for key in ("forall", "exists", "over_axioms"))

    def aggregator(self, kind: str) -> Reduction:
        return self.forall if kind == "forall" else self.exists
