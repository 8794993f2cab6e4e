"""A loss as a formula of its values, α, p, p_forall and weights, which PyTorch differentiates as often as one likes.

The engine knows first derivatives by values only. For all others, and for `torch.func`, the plan is gone through with torch operations that
are nothing special to PyTorch: slower, without chunks, but any transformation of them works. Wherever a derivative does not exist,
it is the one that the engine takes."""

from __future__ import annotations

import math
from typing import Any

import torch
from torch import Tensor

from . import _literals
from ._blocks import Block
from ._engine import Engine
from ._general import Run, Tables
from ._operators import FLOOR, NOTHING, Segments, Settings, connective

Weights = Tensor | None


def _log_not(x: Tensor) -> Tensor:
    """log(1 − eˣ) for x < 0, without a slope where it is floored."""
    matters = x < -NOTHING
    own = torch.where(matters, x, -1.0)
    near = own > -math.log(2)
    value = torch.where(near, (-torch.where(near, own, -0.5).expm1()).log(), (-own.exp()).log1p())
    return torch.where(matters, value.clamp(min=FLOOR), FLOOR)


def _complement(x: Tensor) -> Tensor:
    return _log_not(x.clamp(max=0))


def _probabilistic(total: Tensor, joined: Tensor) -> Tensor:
    """From the sum of complements, and the LogSumExp that it is where that vanishes."""
    vanishes = total > -NOTHING
    return torch.where(vanishes, joined.clamp(min=FLOOR), _log_not(torch.where(vanishes, -1.0, total)))


def _connective(role: str, name: str, s: Settings, values: list[Tensor], complements: list[Tensor] | None) -> Tensor:
    if name == "log_probabilistic_sum":
        assert complements is not None
        return _probabilistic(torch.stack(complements).clamp(max=0).sum(0), torch.stack(values).logsumexp(0))
    return connective(role, name, s, values, complements)


# --- aggregators --------------------------------------------------------------------------------


def _sum(g: Segments, x: Tensor) -> Tensor:
    if g.each is not None:
        return x.reshape(g.parents, g.each).sum(1)
    return torch.zeros(g.parents, dtype=x.dtype, device=x.device).index_add(0, g.index, x)


def _extreme(g: Segments, x: Tensor, greatest: bool) -> Tensor:
    if g.each is not None:
        members = x.reshape(g.parents, g.each)
        return members.amax(1) if greatest else members.amin(1)
    start = torch.full((g.parents,), -math.inf if greatest else math.inf, dtype=x.dtype, device=x.device)
    return start.scatter_reduce(0, g.index, x, "amax" if greatest else "amin")


def _exponentials(mean: bool, alpha: Any, g: Segments, x: Tensor, w: Weights, count: Tensor) -> Tensor:
    some = count > 0
    top = torch.where(some, _extreme(g, x.detach(), True), 0.0)
    e = ((x - g.spread(top)) * alpha).exp()
    total = torch.where(some, _sum(g, e if w is None else e * w), 1.0)
    return top + (total / torch.where(some, count, 1.0) if mean else total).log() / alpha


def _powers(error: bool, s: Settings, g: Segments, x: Tensor, w: Weights, count: Tensor) -> Tensor:
    p = s.p_forall if error else s.p
    projected = 1 - (1 - s.eps) * x if error else (1 - s.eps) * x + s.eps
    top = _extreme(g, projected.detach(), True).clamp(min=0)
    relative = projected / g.spread(torch.where(top > 0, top, 1.0))
    some = relative > 0
    powers = torch.where(some, torch.where(some, relative, 1.0) ** p, 0.0)
    mean = _sum(g, powers if w is None else powers * w) / torch.where(count > 0, count, 1.0)
    some = mean > 0
    value = top * torch.where(some, torch.where(some, mean, 1.0) ** (1 / p), 0.0)
    return 1 - value if error else value


def aggregate(name: str, s: Settings, g: Segments, x: Tensor, c: Tensor | None, w: Weights) -> Tensor:
    """One value for each outer binding that has members."""
    count = _sum(g, torch.ones_like(x) if w is None else w)
    weighed = (lambda t: t) if w is None else (lambda t: t * w)  # noqa: E731
    if name in ("mean", "sum"):
        total = _sum(g, weighed(x))
        return total / torch.where(count > 0, count, 1.0) if name == "mean" else total
    if name == "log_product":
        return _sum(g, weighed(((1 - s.eps) * x + s.eps).log()))
    if name in ("min", "max"):
        return _extreme(g, x, name == "max")
    if name in ("log_mean_exp", "log_sum_exp"):
        return _exponentials(name == "log_mean_exp", s.alpha, g, x, w, count)
    if name in ("p_mean", "p_mean_error"):
        return _powers(name == "p_mean_error", s, g, x, w, count)
    if name == "log_probabilistic_sum":
        assert c is not None
        return _probabilistic(_sum(g, weighed(c.clamp(max=0))), _exponentials(False, 1.0, g, x, w, count))
    assert name == "product", name
    x = (1 - s.eps) * x + s.eps
    zero = x == 0
    product = _sum(g, weighed(torch.where(zero, 1.0, x).log())).exp()
    return torch.where(_sum(g, zero.to(x.dtype)) > 0, 0.0, product)


class Formula(Run):
    """An evaluation all of which autograd sees."""

    connective = staticmethod(_connective)
    complement = staticmethod(_complement)

    def __init__(self, engine: Engine, values: Tensor, settings: list[Settings]) -> None:
        super().__init__(engine.blocks, engine.offsets, Tables(values, None), settings)
        # Which axioms ask a predicate anything.
        self.asked: set[int] = set()

    def literal(self, axiom: int, number: int, block: Block, opposite: bool = False) -> Tensor:
        node = self.header["axioms"][axiom]["nodes"][number]
        at = self.blocks.place(node["place"], block) + self.offsets[node["request"]][node["negated"] != opposite]
        if block.n:
            self.asked.add(axiom)
        values = self.tables.values
        return values.index_select(0, at) if isinstance(at, Tensor) else values[at : at + 1].expand(block.n)

    def _quantifier(self, axiom: int, node: dict[str, Any], block: Block) -> Tensor:
        level, blocks = node["inner"], self.blocks
        total = blocks.total(axiom, level, block)
        table = self.tables.values
        if total == 0:
            return torch.full((block.n,), self.empty(node), device=table.device, dtype=table.dtype)
        inner = blocks.fill(axiom, level, block, 0, total)
        x = self.forward(axiom, node["body"], inner)
        name = self.semantics[node["kind"]]
        c = self.complements(axiom, [node["body"]], [x], inner)[0] if name == "log_probabilistic_sum" else None
        value = aggregate(name, self.settings[axiom], inner.segments, x, c, None)
        return value if inner.segments.each else torch.where(_sum(inner.segments, torch.ones_like(x)) > 0, value, self.empty(node))


def _numbers(engine: Engine, which: list[tuple[int, int]], tensors: Any) -> list[Tensor]:
    """By request: its rows of numbers, `[n, width]`."""
    found: list[Any] = [None] * len(engine.requests)
    for (place, kind), tensor in zip(which, tensors):
        for request, rows in engine._targets(place, kind):
            own = tensor.to(engine.dtype).reshape(-1, engine.requests[request]["width"])
            found[request] = own if rows is None else own.index_select(0, rows)
    for i, (request, rows) in enumerate(zip(engine.requests, engine._rows)):
        if found[i] is not None and rows is None:
            continue
        zeros = torch.zeros(request["rows"], request["width"], device=engine.device, dtype=engine.dtype)
        found[i] = zeros if found[i] is None or rows is None else zeros.index_copy(0, rows, found[i])
    return [_literals.cleaned(request["output"], z) for request, z in zip(engine.requests, found)]


def formula(
    engine: Engine, which: list[tuple[int, int]], tensors: Any, parameters: Any, weights: Any, leave_out_empty: bool
) -> tuple[Tensor, Tensor]:
    """The truths of all axioms and the loss, with all their derivatives. `weights` has those of the axioms, numbers or tensors."""
    settings = [engine._settings(axiom, parameters) for axiom in engine.axioms]
    run = Formula(engine, engine._literals(_numbers(engine, which, tensors)), settings)
    truths = torch.stack([
        sum((run.forward(i, root, run.blocks.roots[i]).reshape(()) for root in axiom["roots"]), torch.zeros((), dtype=engine.dtype, device=engine.device))
        for i, axiom in enumerate(engine.axioms)
    ])  # fmt: skip
    name = engine.semantics["over_axioms"]
    left = [i for i in range(len(weights)) if not leave_out_empty or i in run.asked] or list(range(len(weights)))
    # What has no weight is not looked at: it may be infinite. Extremes ignore weights.
    left = [i for i in left if isinstance(weights[i], Tensor) or weights[i] > 0 or name in ("min", "max")]
    x = torch.stack([truths[i] for i in left])
    w = torch.stack([torch.as_tensor(weights[i], dtype=engine.dtype, device=engine.device) for i in left])
    c = _complement(x) if name == "log_probabilistic_sum" else None
    plain = name in ("min", "max")
    g = Segments(1, len(left), len(left))
    sat = aggregate(name, engine.over_axioms(parameters), g, x, c, None if plain else w).reshape(())
    return truths, -sat if engine.semantics["loss"] == "minus_sat" else 1 - sat
