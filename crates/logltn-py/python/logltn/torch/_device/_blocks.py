"""Blocks of bindings on a device: for some bindings of a quantifier, where each literal inside finds its number.

Nothing here depends on values, and every size is known to the host after the first step: from the second step on nothing waits for
the device, and a CUDA graph can capture it. Blocks are kept while they are few; beyond that they are made anew each time, so that
the grid is never there as a whole.
"""

from __future__ import annotations

import copy
import math
from typing import Any

import numpy as np
import torch
from torch import Tensor

from ..._plan import ExportedPlan
from ._operators import Segments
from ._upload import upload

# How many bindings are evaluated together, and how many bytes of places are kept from step to step.
BINDINGS = 1 << 22
KEPT = 1 << 28


class Block:
    """Some bindings of a level, with what is known about them."""

    __slots__ = ("path", "n", "arrays", "wide", "segments", "kept", "memo")

    def __init__(self, path: tuple[int, ...], n: int, arrays: list[Tensor], wide: list[Tensor], segments: Any, kept: bool) -> None:
        self.path, self.n, self.arrays, self.wide, self.segments, self.kept = path, n, arrays, wide, segments, kept
        self.memo: dict[Any, Any] = {}


class Blocks:
    """Fills blocks of a plan on a device."""

    def __init__(self, plan: ExportedPlan, device: torch.device, bindings: int = BINDINGS, kept: int = KEPT) -> None:
        self.header, self.device = plan.header, device
        # Axioms, then what strata have of either sign.
        self.programs: list[Any] = list(self.header["axioms"])
        for stratum in self.header["strata"]:
            self.programs += [program or {"nodes": [], "levels": [{}], "eliminations": []} for program in stratum["programs"]]
        self._arrays = plan.arrays
        self._uploaded: dict[int, Tensor] = {}
        self._totals: dict[tuple[int, ...], int] = {}
        self._kept = self._left = kept
        self.bindings = bindings
        # For components of which a call has selected some tuples: the selection.
        self.chosen: dict[int, Tensor] = {}
        self.components: list[tuple[int, Tensor | None]] = []
        for component in self.header["components"]:
            offsets = component.get("offsets")
            size = component["size"] if offsets is None else int(plan.arrays[offsets][-1])
            self.components.append((size, None if offsets is None else self.array(offsets)))
        self.roots = [Block((i,), 1, [], [], None, True) for i in range(len(self.programs))]
        self._costs = [self._costs_of(program) for program in self.programs]

    def choosing(self, components: list[tuple[int, np.ndarray, np.ndarray]]) -> Blocks:
        """Blocks of the same plan with some tuples of these components alone."""
        own = copy.copy(self)
        own._totals, own._left, own.chosen, own.components = {}, self._kept, {}, list(self.components)
        own.roots = [Block((i,), 1, [], [], None, True) for i in range(len(self.roots))]
        for number, offsets, tuples in components:
            own.chosen[number] = upload(tuples, self.device, torch.int64)
            several = len(offsets) > 2
            own.components[number] = len(tuples), upload(offsets, self.device, torch.int64) if several else None
        return own

    def array(self, number: int) -> Tensor:
        """An array of the plan on the device."""
        if number not in self._uploaded:
            given = self._arrays[number]
            self._uploaded[number] = upload(given, self.device, torch.int64 if given.dtype.kind == "i" else None)
        return self._uploaded[number]

    def about(self, chosen: list[tuple[int, np.ndarray, np.ndarray]]) -> float:
        """About how many bindings there are, if some tuples of these components are looked at."""
        share = {number: len(tuples) / max(1, self.components[number][0]) for number, _, tuples in chosen}
        total = 0.0
        for axiom, costs in zip(self.programs, self._costs):
            own = {c["component"] for level in axiom["levels"] for c in level.get("components", ())}
            total += costs[0] * math.prod(share.get(c, 1.0) for c in own)
        return total

    def _costs_of(self, axiom: dict[str, Any]) -> list[int]:
        """By level: about how many bindings one of its bindings has inside."""
        levels = axiom["levels"]
        costs = [1] * len(levels)
        for node in axiom["nodes"]:
            if node["kind"] == "elimination":
                of = axiom["eliminations"][node["elimination"]]
                keys = max(1, len(self._arrays[of["counts"]]))
                combinations = sum(int(self._arrays[step["combination_offsets"]][-1]) for step in of["steps"])
                costs[node["level"]] += combinations // keys + sum(factor["size"] for factor in of["factors"])
        for i in range(len(levels) - 1, 0, -1):
            each = 1
            for given in levels[i]["components"]:
                size, offsets = self.components[given["component"]]
                each *= max(1, size if offsets is None else size // max(1, len(offsets) - 1))
            costs[levels[i]["parent"]] += each * costs[i]
        return costs

    def chunk(self, axiom: int, level: int) -> int:
        """How many bindings of a level to evaluate together."""
        return max(1, self.bindings // self._costs[axiom][level])

    def place(self, place: dict[str, int], block: Block) -> Any:
        """A number, or one for each binding."""
        return place["base"] if "base" in place else block.arrays[place["array"]]

    def total(self, axiom: int, level: int, parent: Block) -> int:
        """How many bindings a level has under a block of its parent."""
        if parent.n == 0:
            return 0
        given = self.programs[axiom]["levels"][level]
        if not any("key" in c for c in given["components"]):
            return parent.n * math.prod(self.components[c["component"]][0] for c in given["components"])
        path = (*parent.path, level)
        if path not in self._totals:
            # Waits for the device, once for a plan.
            self._totals[path] = int(self._lengths(given, level, parent)[0][-1])
        return self._totals[path]

    def length(self, path: tuple[int, ...], of: Tensor) -> int:
        """The sum of a plan's numbers, which the host is to know: asked for once."""
        if path not in self._totals:
            self._totals[path] = int(of.sum())
        return self._totals[path]

    def _lengths(self, given: dict[str, Any], level: int, parent: Block) -> tuple[Tensor, Tensor, list[tuple[Any, Any]]]:
        """Where each parent's bindings end and how many it has; by component, where its tuples start and how many there are."""
        known = parent.memo.get(("lengths", level))
        if known is not None:
            return known
        parts: list[tuple[Any, Any]] = []
        lengths: Any = 1
        for c in given["components"]:
            size, offsets = self.components[c["component"]]
            if "key" in c and offsets is not None:
                key = self.place(c["key"], parent)
                if not isinstance(key, Tensor):
                    key = torch.full((1,), key, device=self.device, dtype=torch.int64)
                first = offsets[key].expand(parent.n)
                parts.append((first, offsets[key + 1].expand(parent.n) - first))
            else:
                parts.append((0, size))
            lengths = lengths * parts[-1][1]
        if not isinstance(lengths, Tensor):
            lengths = torch.full((1,), lengths, device=self.device, dtype=torch.int64)
        lengths = lengths.expand(parent.n)
        found = (lengths.cumsum(0), lengths, parts)
        parent.memo["lengths", level] = found
        return found

    def fill(self, axiom: int, level: int, parent: Block, start: int, end: int) -> Block:
        """The bindings `start..end` of all that a level has under a block of its parent."""
        known = parent.memo.get((level, start, end))
        if known is not None:
            return known
        given = self.programs[axiom]["levels"][level]
        keyed = any("key" in c for c in given["components"])
        sizes = [self.components[c["component"]][0] for c in given["components"]]
        whole = start == 0 and end == self.total(axiom, level, parent)
        each = math.prod(sizes)
        n = end - start
        if whole and not keyed:
            shape = (parent.n, *sizes)
            at: list[Any] = []
            for c, size in enumerate(sizes):
                view = [1] * len(shape)
                view[c + 1] = size
                at.append(torch.arange(size, device=self.device).view(view))
            of_parent = lambda x: x.view(-1, *[1] * len(sizes)) if isinstance(x, Tensor) else x  # noqa: E731
            finish = lambda x: x.expand(shape).reshape(-1)  # noqa: E731
            segments = Segments(parent.n, n, each)
        else:
            i = torch.arange(start, end, device=self.device)
            finish = lambda x: x.expand(n)  # noqa: E731
            at = []
            if keyed:
                ends, lengths, parts = self._lengths(given, level, parent)
                owner = torch.searchsorted(ends, i, right=True) if parent.n > 1 else torch.zeros_like(i)
                rest = i - (ends - lengths)[owner]
                own = lambda x: x[owner] if isinstance(x, Tensor) else x  # noqa: E731
                parts = [(own(first), own(size)) for first, size in parts]
            else:
                owner, rest = i // max(1, each), i % max(1, each)
                parts = [(0, size) for size in sizes]
            for first, size in reversed(parts):
                at.insert(0, first + rest % size)
                rest = rest // size
            of_parent = lambda x: x[owner] if isinstance(x, Tensor) else x  # noqa: E731
            segments = Segments(1, n, n) if parent.n == 1 else Segments(parent.n, n, None, owner)

        def added(adds: list[dict[str, Any]], arrays: list[Tensor]) -> list[Tensor]:
            sums = []
            for add in adds:
                source = add["from"]
                value: Any = source["base"] if "base" in source else of_parent(arrays[source["array"]])
                for tuples, maps in zip(at, add["maps"]):
                    for number in maps:
                        value = value + self._mapped(number, tuples)
                if not isinstance(value, Tensor):
                    value = torch.full((1,), value, device=self.device, dtype=torch.int64)
                sums.append(finish(value))
            return sums

        arrays, wide = added(given["adds"], parent.arrays), added(given["wide_adds"], parent.wide)
        for lookup in given["lookups"]:
            arrays[lookup["array"]] = arrays[lookup["array"]] + self._looked_up(lookup, wide[lookup["wide"]])
        bytes_ = 8 * n * (len(arrays) + len(wide) + 2)
        kept = parent.kept and bytes_ <= self._left
        block = Block((*parent.path, level, start), n, arrays, wide, segments, kept)
        if kept:
            self._left -= bytes_
            parent.memo[level, start, end] = block
        return block

    def _mapped(self, number: int, tuples: Tensor) -> Tensor:
        given = self.header["maps"][number]
        chosen = self.chosen.get(given["component"])
        if chosen is not None:
            tuples = chosen[tuples]
        if "range" in given:
            start, step = given["range"]
            return start + step * tuples
        return self.array(given["values"])[tuples]

    def _looked_up(self, lookup: dict[str, Any], codes: Tensor) -> Tensor:
        if "applied" in lookup:
            applied: Any = sum(self._applied(tree, codes) * stride for tree, stride in lookup["applied"])
            codes = applied
        if "codes" in lookup:
            known, keys = self.array(lookup["codes"]), self.array(lookup["keys"])
            if not len(known):
                return torch.zeros_like(codes)
            at = torch.searchsorted(known, codes).clamp(max=len(known) - 1)
            return torch.where(known[at] == codes, keys[at], 0)
        if "request" not in lookup:
            return codes
        request = self.header["requests"][lookup["request"]]
        if "codes" in request:
            codes = torch.searchsorted(self.array(request["codes"]), codes)
        return codes * request["width"]

    def _applied(self, tree: dict[str, Any], codes: Tensor) -> Any:
        if "digit" in tree:
            stride, extent = tree["digit"]
            return codes // stride % extent
        if "fixed" in tree:
            return tree["fixed"]
        row: Any = 0
        for argument, size in tree["arguments"]:
            row = row * size + self._applied(argument, codes)
        if "values" not in tree:
            return row
        values = self.array(tree["values"])
        return values[row] if isinstance(row, Tensor) else values[row : row + 1]
