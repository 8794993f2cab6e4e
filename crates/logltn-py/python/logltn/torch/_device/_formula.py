"""A loss as a formula of its values, α, p, p_forall and weights, which PyTorch differentiates as often as one likes.

The engine knows first derivatives by values only. For all others, and for `torch.func`, the plan is gone through with torch operations that
are nothing special to PyTorch: slower, without chunks, but any transformation of them works. Wherever a derivative does not exist,
it is the one that the engine takes."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from ..._native import Holds
from . import _literals
from ._blocks import Block
from ._engine import Engine
from ._general import Run, Tables
from ._operators import Segments, Settings, complement

class Formula(Run):
    """An evaluation all of which autograd sees."""

    whole = True

    def __init__(self, engine: Engine, values: Tensor, settings: list[Settings]) -> None:
        super().__init__(engine, Tables(values, None), settings)
        # Which axioms ask a predicate anything.
        self.asked: set[int] = set()

    def put(self, first: int, values: Tensor) -> None:
        self.tables.values = torch.slice_scatter(self.tables.values, values, 0, first, first + len(values))

    def literal(self, axiom: int, number: int, block: Block, opposite: bool = False) -> Tensor:
        node = self.blocks.programs[axiom]["nodes"][number]
        at = self.blocks.place(node["place"], block) + self.offset(axiom, node, opposite)
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
        aggregator = self.operators.aggregator(node["kind"])
        c = self.complements(axiom, [node["body"]], [x], inner)[0] if aggregator.complements else None
        return self._aggregate(aggregator, axiom, node, inner, x, c)


def _numbers(engine: Engine, which: list[tuple[int, Holds]], tensors: Any) -> list[Tensor]:
    """By request: its rows of numbers, `[n, width]`."""
    found: list[Any] = [None] * len(engine.requests)
    for (place, holds), tensor in zip(which, tensors):
        for request, rows in engine._targets(place, holds):
            own = tensor.to(engine.dtype).reshape(-1, engine.requests[request]["width"])
            found[request] = own if rows is None else own.index_select(0, rows)
    for i, (request, rows) in enumerate(zip(engine.requests, engine._rows)):
        if found[i] is not None and rows is None:
            continue
        zeros = torch.zeros(request["rows"], request["width"], device=engine.device, dtype=engine.dtype)
        found[i] = zeros if found[i] is None or rows is None else zeros.index_copy(0, rows, found[i])
    return [_literals.cleaned(request["output"], z) for request, z in zip(engine.requests, found)]


def formula(
    engine: Engine, which: list[tuple[int, Holds]], tensors: Any, parameters: Any, weights: Any, leave_out_empty: bool
) -> tuple[Tensor, Tensor]:
    """The truths of all axioms and the loss, with all their derivatives. `weights` has those of the axioms, numbers or tensors."""
    settings = [engine._settings(axiom, parameters) for axiom in engine.axioms]
    run = Formula(engine, engine._literals(_numbers(engine, which, tensors)), settings)
    engine.strata.forward(run, parameters)
    truths = torch.stack([
        sum((run.forward(i, root, run.blocks.roots[i]).reshape(()) for root in axiom["roots"]), torch.zeros((), dtype=engine.dtype, device=engine.device))
        for i, axiom in enumerate(engine.axioms)
    ])  # fmt: skip
    left = [i for i in range(len(weights)) if not leave_out_empty or i in run.asked] or list(range(len(weights)))
    # What has no weight is not looked at: it may be infinite. Extremes ignore weights.
    over = engine.operators.over_axioms
    left = [i for i in left if isinstance(weights[i], Tensor) or weights[i] > 0 or over.picks_one]
    x = torch.stack([truths[i] for i in left])
    w = torch.stack([torch.as_tensor(weights[i], dtype=engine.dtype, device=engine.device) for i in left])
    s, g = engine.over_axioms(parameters), Segments(1, len(left), len(left))
    sat = over.value(s, over.state(s, g, x, complement(x) if over.complements else None, w)).reshape(())
    return truths, -sat if engine.semantics["loss"] == "minus_sat" else 1 - sat
