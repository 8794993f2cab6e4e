"""Every formula and every semantics by torch operations, block by block."""

from __future__ import annotations

import math
from functools import cached_property, reduce
from typing import Any

import numpy as np
import torch
from torch import Tensor

from ._blocks import Block, Blocks
from ._operators import FLOOR, Reduction, Settings, complement


class Tables:
    """The numbers of all literals one after the other, and the derivatives by them. All that is differentiable begins here."""

    def __init__(self, values: Tensor, by: Tensor | None) -> None:
        self.values, self.by = values, by

    @cached_property
    def anchor(self) -> Tensor:
        """What makes autograd come by; the derivatives go straight into `by`."""
        return torch.zeros((), device=self.values.device, dtype=self.values.dtype, requires_grad=self.by is not None)


class _Gather(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, anchor: Tensor, tables: Tables, at: Any, n: int) -> Tensor:
        ctx.tables, ctx.at = tables, at
        if isinstance(at, Tensor):
            return tables.values.index_select(0, at)
        return tables.values[at : at + 1].expand(n).clone()

    @staticmethod
    def backward(ctx: Any, by: Tensor) -> Any:
        at = ctx.at
        if isinstance(at, Tensor):
            ctx.tables.by.index_add_(0, at, by)
        else:
            ctx.tables.by[at : at + 1] += by.sum()
        return None, None, None, None


class _Chunked(torch.autograd.Function):
    """A quantifier with more bindings than are looked at together: its states are merged, and its derivatives are another pass."""

    @staticmethod
    def forward(ctx: Any, anchor: Tensor, run: Any, axiom: int, node: dict[str, Any], block: Block) -> Tensor:
        with torch.no_grad():
            state = run.state(axiom, node, block)
        ctx.of = run, axiom, node, block, state
        return run.operators.aggregator(node["kind"]).value_or(run.empty(node), run.settings[axiom], state)

    @staticmethod
    def backward(ctx: Any, by: Tensor) -> Any:
        run, axiom, node, block, state = ctx.of
        run.chunks_backward(axiom, node, block, state, by)
        return None, None, None, None, None


class Run:
    """One evaluation of formulas, given the numbers of literals."""

    # Whether autograd sees all of it.
    whole = False

    def __init__(self, engine: Any, tables: Tables, settings: list[Settings]) -> None:
        self.blocks, self.offsets, self.operators, self.strata = engine.blocks, engine.offsets, engine.operators, engine.strata
        # By axiom, and later by what strata have.
        self.tables = tables
        self.settings: list[Any] = [*settings, *[None] * (len(self.blocks.programs) - len(settings))]
        self.header = self.blocks.header
        self.axioms = len(settings)
        # Where the part of a stratum stands that is computed.
        self.at: tuple[int, int, int] = (0, -1, 0)
        self.space = self.header["semantics"]["space"]
        self.semiring = self.header["semantics"]["exists"].get("semiring")

    def empty(self, node: dict[str, Any]) -> float:
        if node["kind"] == "forall":
            return 1.0 if self.space == "truth" else 0.0
        return FLOOR if self.space == "log" else 0.0

    def put(self, first: int, values: Tensor) -> None:
        """Writes down what a stratum says."""
        self.tables.values[first : first + len(values)] = values

    def root(self, axiom: int, root: int, derivative: Tensor | None) -> Tensor:
        """The value of a part of an axiom. If the derivative by it is given, its derivatives go along where they can; the value
        then has none any more."""
        node = self.blocks.programs[axiom]["nodes"][root]
        block = self.blocks.roots[axiom]
        if derivative is not None and node["kind"] in ("forall", "exists") and self.operators.aggregator(node["kind"]).linear:
            total = self.blocks.total(axiom, node["inner"], block)
            if total > self.blocks.chunk(axiom, node["inner"]):
                return self._along(axiom, node, block, total, derivative)
        return self.forward(axiom, root, block).reshape(())

    def _along(self, axiom: int, node: dict[str, Any], block: Block, total: int, derivative: Tensor) -> Tensor:
        aggregator, s = self.operators.aggregator(node["kind"]), self.settings[axiom]
        slope = derivative * aggregator.slope(s, self.blocks.programs[axiom]["levels"][node["inner"]].get("counted", total))
        state = None
        for inner in self._chunks(axiom, node, block):
            with torch.enable_grad():
                x = self.forward(axiom, node["body"], inner)
            w = self.weights(axiom, node, inner)
            own = aggregator.state(s, inner.segments, x.detach(), None, w)
            state = own if state is None else aggregator.merge(s, state, own)
            if x.requires_grad:
                x.backward(slope.expand_as(x) if w is None else slope * w)
        return aggregator.value(s, state).reshape(())

    def _chunks(self, axiom: int, node: dict[str, Any], block: Block) -> Any:
        level = node["inner"]
        total, chunk = self.blocks.total(axiom, level, block), self.blocks.chunk(axiom, level)
        for start in range(0, total, chunk):
            yield self.blocks.fill(axiom, level, block, start, min(start + chunk, total))

    def state(self, axiom: int, node: dict[str, Any], block: Block) -> Any:
        aggregator, s, state = self.operators.aggregator(node["kind"]), self.settings[axiom], None
        for inner in self._chunks(axiom, node, block):
            x = self.forward(axiom, node["body"], inner)
            c = self.complements(axiom, [node["body"]], [x], inner)[0] if aggregator.complements else None
            own = aggregator.state(s, inner.segments, x, c, self.weights(axiom, node, inner))
            state = own if state is None else aggregator.merge(s, state, own)
        return state

    def chunks_backward(self, axiom: int, node: dict[str, Any], block: Block, state: Any, by: Tensor) -> None:
        aggregator, s = self.operators.aggregator(node["kind"]), self.settings[axiom]
        for inner in self._chunks(axiom, node, block):
            with torch.enable_grad():
                x = self.forward(axiom, node["body"], inner)
                c = self.complements(axiom, [node["body"]], [x], inner)[0] if aggregator.complements else None
            plain = None if c is None else c.detach()
            slopes = aggregator.slopes(s, inner.segments, x.detach(), plain, self.weights(axiom, node, inner), state, by)
            pairs = [(t, d) for t, d in zip((x, c), slopes) if t is not None and t.requires_grad]
            if pairs:
                torch.autograd.backward([t for t, _ in pairs], [d for _, d in pairs])

    def offset(self, axiom: int, node: dict[str, Any], opposite: bool = False) -> int:
        """Where the numbers begin among which a literal has its own, or what a stratum says."""
        if node["kind"] == "use":
            return self.strata.offset(self.at if axiom >= self.axioms else self.strata.outside(axiom), node)
        return self.offsets[node["request"]][node["negated"] != opposite]

    def literal(self, axiom: int, number: int, block: Block, opposite: bool = False) -> Tensor:
        node = self.blocks.programs[axiom]["nodes"][number]
        offset = self.offset(axiom, node, opposite)
        at = block.memo.get((number, offset))
        if at is None:
            at = block.memo[number, offset] = self.blocks.place(node["place"], block) + offset
        return _Gather.apply(self.tables.anchor, self.tables, at, block.n)

    def complements(self, axiom: int, members: list[int], values: list[Tensor], block: Block) -> list[Tensor]:
        nodes = self.blocks.programs[axiom]["nodes"]
        return [
            self.literal(axiom, member, block, opposite=True) if nodes[member]["kind"] == "literal" else complement(value)
            for member, value in zip(members, values)
        ]

    def forward(self, axiom: int, number: int, block: Block) -> Tensor:
        """The value of a formula for each binding of a block."""
        node = self.blocks.programs[axiom]["nodes"][number]
        kind, s = node["kind"], self.settings[axiom]
        if kind in ("literal", "use"):
            return self.literal(axiom, number, block)
        if kind in ("forall", "exists"):
            return self._quantifier(axiom, node, block)
        if kind == "elimination":
            return self._elimination(axiom, number, node, block)
        if kind == "constant":
            false = FLOOR if self.space == "log" else 0.0
            true = 0.0 if self.space == "log" else 1.0
            table = self.tables.values
            return torch.full((block.n,), true if node["truth"] else false, device=table.device, dtype=table.dtype)
        members = [self.forward(axiom, member, block) for member in node["members"]]
        operators = self.operators
        if kind in ("and", "or"):
            own = operators.and_ if kind == "and" else operators.or_
            return own(s, members, self.complements(axiom, node["members"], members, block) if own.complements else None)
        if kind == "not":
            return operators.not_(s, members)
        if kind == "implies":
            return operators.implies(s, members)
        if kind == "log":
            return ((1 - s.eps) * members[0] + s.eps).log()
        # An equivalence.
        return operators.and_(s, [operators.implies(s, members), operators.implies(s, members[::-1])])

    def _quantifier(self, axiom: int, node: dict[str, Any], block: Block) -> Tensor:
        level, blocks = node["inner"], self.blocks
        total = blocks.total(axiom, level, block)
        table = self.tables.values
        if total == 0:
            return torch.full((block.n,), self.empty(node), device=table.device, dtype=table.dtype)
        # A block may be somewhat longer than what was reckoned with: lists differ in length.
        if total > 4 * blocks.chunk(axiom, level) or (block.path == (axiom,) and total > blocks.chunk(axiom, level)):
            return _Chunked.apply(self.tables.anchor, self, axiom, node, block)
        inner = blocks.fill(axiom, level, block, 0, total)
        x = self.forward(axiom, node["body"], inner)
        aggregator = self.operators.aggregator(node["kind"])
        c = self.complements(axiom, [node["body"]], [x], inner)[0] if aggregator.complements else None
        return self._aggregate(aggregator, axiom, node, inner, x, c)

    def _aggregate(self, aggregator: Reduction, axiom: int, node: dict[str, Any], inner: Block, x: Tensor, c: Tensor | None) -> Tensor:
        s = self.settings[axiom]
        state = aggregator.state(s, inner.segments, x, c, self.weights(axiom, node, inner))
        return aggregator.value(s, state) if inner.segments.each else aggregator.value_or(self.empty(node), s, state)

    def weights(self, axiom: int, node: dict[str, Any], inner: Block) -> Tensor | None:
        """How many bindings each one under a quantifier stands for, if not for itself."""
        own = [inner.arrays[i] for i in self.blocks.programs[axiom]["levels"][node["inner"]].get("weights", ())]
        return reduce(torch.mul, own).to(self.tables.values.dtype) if own else None

    # --- elimination --------------------------------------------------------------------------

    def _elimination(self, axiom: int, number: int, node: dict[str, Any], block: Block) -> Tensor:
        of = self.blocks.programs[axiom]["eliminations"][node["elimination"]]
        blocks, alpha, n = self.blocks, self.settings[axiom].alpha, block.n
        steps = block.memo.get(("elimination", number))
        if steps is None:
            steps = _steps(blocks, of, node, number, block)
            block.memo["elimination", number] = steps
        keys, lists = steps
        factors = []
        for factor in of["factors"]:
            total = blocks.total(axiom, factor["level"], block)
            inner = blocks.fill(axiom, factor["level"], block, 0, total)
            factors.append(self.forward(axiom, factor["body"], inner))
        messages: list[Tensor] = []
        out: Any = 0
        for step, (inputs, segment, places, starts) in zip(of["steps"], lists):
            x: Any = torch.zeros(len(segment), device=blocks.device, dtype=self.tables.values.dtype) if not inputs else None
            for source, at in zip(step["inputs"], inputs):
                values = messages[source["message"]] if "message" in source else factors[source["factor"]]
                x = values.index_select(0, at) if x is None else x + values.index_select(0, at)
            start = torch.full((places,), -math.inf, device=x.device, dtype=x.dtype)
            if self.semiring == "greatest":
                message = start.scatter_reduce(0, segment, x, "amax")
            else:
                top = start.scatter_reduce(0, segment, x.detach(), "amax")
                e = ((x - top.index_select(0, segment)) * alpha).exp()
                message = top + torch.zeros_like(top).index_add(0, segment, e).log() / alpha
            messages.append(message)
            if step["last"]:
                out = out + message.index_select(0, starts)
        for member in of["common"]:
            out = out + self.forward(axiom, member, block)
        log_counts, empty = keys
        if self.semiring == "mean":
            out = out - log_counts.to(self.tables.values.dtype) / alpha
        elif self.semiring == "sum":
            out = out + of["log_unread"] / alpha
        if not isinstance(out, Tensor):
            out = torch.full((n,), out, device=self.tables.values.device, dtype=self.tables.values.dtype)
        return out if empty is None else torch.where(empty, FLOOR, out)


def _steps(blocks: Blocks, of: dict[str, Any], node: dict[str, Any], number: int, block: Block) -> Any:
    """For a block's outer bindings: the logs of their counts and which are empty; by step, where each input of each combination
    stands, to which place of the message it adds, how many places there are, and where each binding's message starts."""
    device, n, count = blocks.device, block.n, len(of["steps"])
    key: Any = blocks.place(node["key"], block) if of["keyed"] else 0
    if not isinstance(key, Tensor):
        key = torch.full((n,), key, device=device, dtype=torch.int64)
    counts = blocks.array(of["counts"])
    some_empty = bool((blocks._arrays[of["counts"]] == 0).any())
    keys = blocks.array(of["log_counts"])[key], counts[key] == 0 if some_empty else None
    lists_of_key = blocks.array(of["lists_of_key"])
    starts: list[Tensor] = []
    found = []
    for s, step in enumerate(of["steps"]):
        own = lists_of_key[key * count + s]
        there = own >= 0
        own = own.clamp(min=0)
        offsets, places = blocks.array(step["combination_offsets"]), blocks.array(step["message_offsets"])
        if len(offsets) == 1:  # no list at all
            offsets, places = torch.zeros(2, device=device, dtype=torch.int64), torch.zeros(2, device=device, dtype=torch.int64)
        lengths = torch.where(there, offsets[own + 1] - offsets[own], 0)
        widths = torch.where(there, places[own + 1] - places[own], 0)
        total = blocks.length((*block.path, -1, number, s, 0), lengths)
        wide = blocks.length((*block.path, -1, number, s, 1), widths)
        binding = torch.repeat_interleave(lengths, output_size=total)
        within = torch.arange(total, device=device) - (lengths.cumsum(0) - lengths)[binding]
        combination = offsets[own][binding] + within
        start = widths.cumsum(0) - widths
        place_of = _place_of_combination(blocks, step)
        segment = start[binding] + place_of[combination] if total else binding
        inputs = []
        for source, array in zip(step["inputs"], step["places"]):
            place = blocks.array(array)[combination]
            if "message" in source:
                inputs.append(place + starts[source["message"]][binding])
            else:
                inputs.append(place + binding * of["factors"][source["factor"]]["size"])
        starts.append(start)
        # The message of a binding without a list is not read, but something must be.
        found.append((inputs, segment, max(wide, 1), start.clamp(max=max(wide, 1) - 1)))
    return keys, found


def _place_of_combination(blocks: Blocks, step: dict[str, Any]) -> Tensor:
    known = step.get("place_of_combination")
    if known is None:
        ends, messages = blocks._arrays[step["ends"]], blocks._arrays[step["message_offsets"]]
        parts = []
        for first, last in zip(messages[:-1], messages[1:]):
            own = ends[first:last]
            parts.append(np.repeat(np.arange(last - first), np.diff(own, prepend=0)))
        flat = np.concatenate(parts) if parts else np.zeros(0, np.int64)
        known = step["place_of_combination"] = torch.tensor(flat, device=blocks.device, dtype=torch.int64)
    return known
