"""Which parts of a theory Triton kernels compute, and what they need to know. Everything else is left to torch operations.

Log space only, and only under means and sums (all of logLTN): there the derivative by each binding is known before its value.
"""

from __future__ import annotations

import math
import os
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import Tensor

from . import _literals
from ._blocks import Block
from ._operators import Settings
from ._upload import upload

# The most places that are listed for clauses one by one; two literals with more bindings than `LONG` go row by row.
MOST_PLACES = 1 << 25
LONG = 1 << 18
# From so many bindings on, and so many each, clauses have rows and columns; that many bindings are the most.
LEAST_GRID, LEAST_SIDE, MOST_GRID = 1 << 14, 16, 1 << 28
# An `exists` over more is cut into chunks.
MOST_MEMBERS = 64
_BLOCK = 256
# Logits in a task, and columns of a grid.
_LOGITS, _COLUMNS = 1024, 64
# The least sum of a scaled product that is as exact as its numbers are.
SMALL_SUM = {torch.float32: 1e-28, torch.float64: 1e-280}
# What has its number in the table of all, be it a predicate's or a stratum's.
_LITERALS = ("literal", "use")
# Kernels know an operator by the semiring that it is the sum of.
_FORMS = {"sum": 0, "mean": 1, "greatest": 2}


def available(device: torch.device) -> bool:
    """Whether kernels can run there: on CUDA, or anywhere in Triton's interpreter."""
    if device.type != "cuda" and os.environ.get("TRITON_INTERPRET") != "1":
        return False
    try:
        import triton  # type: ignore[import-untyped, import-not-found, unused-ignore]  # noqa: F401
    except ImportError:
        return False
    return True


def _power(n: int) -> int:
    return 1 << max(0, (n - 1).bit_length())


class Kernels:
    """The kernels of an engine."""

    @staticmethod
    def of(engine: Any) -> Kernels | None:
        if not engine.log or not available(engine.device) or engine.size >= 1 << 31:
            return None
        return Kernels(engine)

    def __init__(self, engine: Any) -> None:
        from . import _triton

        self.engine, self.kernels = engine, _triton
        self.device, self.dtype = engine.device, engine.dtype
        self.taken: dict[int, set[int]] = {}
        self._clauses: list[_Clause] = []
        self._others: list[_Part] = []
        self._sigmoids = [i for i, r in enumerate(engine.requests) if r["output"] == "sigmoid" and r["rows"] * r["width"] > 0]
        self._logits = engine.known("logits", self._tasks_of_logits)
        self._floor = _literals.lowest_log(self.dtype)
        self._ample = 1e-30 if self.dtype is torch.float32 else 1e-280
        for i, axiom in enumerate(engine.axioms):
            for root in axiom["roots"]:
                if self._take(i, axiom, root):
                    self.taken.setdefault(i, set()).add(root)
        self._lay_out()

    # --- choosing -----------------------------------------------------------------------------

    def _take(self, i: int, axiom: dict[str, Any], root: int) -> bool:
        engine, semantics = self.engine, self.engine.semantics
        nodes = axiom["nodes"]
        node = nodes[root]
        kind = node["kind"]
        if kind not in ("forall", "exists") or not engine.operators.aggregator(kind).linear:
            return False
        levels = [node["inner"]]
        total = engine.blocks.total(i, levels[0], engine.blocks.roots[i])
        # A mean of means over equally many is one mean.
        while nodes[node["body"]]["kind"] == kind and not self._is_keyed(axiom, nodes[node["body"]]["inner"]):
            node = nodes[node["body"]]
            levels.append(node["inner"])
            total *= self._size(axiom, node["inner"])
        if total == 0 or total >= 1 << 31 or "weights" in axiom["levels"][levels[0]]:
            return False
        scale = engine.operators.aggregator(kind).slope(Settings(1.0, 1.0, 1.0, 0.0), total)
        body = nodes[node["body"]]
        groups = self._groups(nodes, node["body"])
        if groups is not None:
            members = [m for group, _ in groups for m in group]
            several = len(groups) > 1 or (len(members) > 1 and groups[0][1] == 0)
            form = _FORMS.get(semantics["or"].get("semiring")) if several else 1
            if form is None:
                return False
            plain = len(groups) == 1 and len(members) == 2 and groups[0][1] == 0
            if plain and total >= LONG and form != 2 and self._pairs(i, axiom, levels, members, form, scale):
                return True
            sizes = [(len(group), kind) for group, kind in groups]
            grid = self._grid(i, axiom, levels, members) if LEAST_GRID <= total <= MOST_GRID else None
            if grid is not None:
                self._clauses.append(_Clause(i, *grid, sizes, form, scale))
                return True
            if total * len(members) > MOST_PLACES:
                return False
            block = self._chain(i, levels)
            self._list(i, torch.stack([self._places(i, m, block) for m in members]), sizes, form, scale)
            return True
        if body["kind"] == "exists" and nodes[body["body"]]["kind"] in _LITERALS:
            form = _FORMS.get(semantics["exists"].get("semiring"))
            if form is None or self._is_keyed(axiom, body["inner"]):
                return False
            size = self._size(axiom, body["inner"])
            if 0 < size <= MOST_MEMBERS and total * size <= MOST_PLACES:
                places = self._places(i, body["body"], self._chain(i, [*levels, body["inner"]]))
                self._list(i, places.reshape(total, size).t().contiguous(), [(size, 0)], form, scale)
                return True
            if size > MOST_MEMBERS and form != 2:
                return self._exists(i, axiom, levels, body, form, scale, total, size)
            return False
        if body["kind"] == "elimination" and semantics["exists"].get("semiring") in ("sum", "mean"):
            return self._eliminate(i, axiom, levels, body, scale, total)
        return False

    def _list(self, axiom: int, places: Tensor, groups: list[tuple[int, int]], form: int, scale: float) -> None:
        """A clause whose literals' places are listed for each binding."""
        columns = torch.zeros(len(places), 1, device=self.device, dtype=torch.int32)
        self._clauses.append(_Clause(axiom, places, columns, [0] * len(places), groups, form, scale))

    def _groups(self, nodes: list[dict[str, Any]], number: int) -> list[tuple[list[int], int]] | None:
        """A formula as a disjunction of disjunctions (0) and conjunctions (1) of literals, if it is one."""
        node = nodes[number]
        literals = lambda members: all(nodes[m]["kind"] in _LITERALS for m in members)  # noqa: E731
        adds = self.engine.semantics["and"]["adds"]

        def group(m: int) -> tuple[list[int], int] | None:
            kind = nodes[m]["kind"]
            if kind in _LITERALS:
                return [m], 0
            if kind == "or" and literals(nodes[m]["members"]):
                return nodes[m]["members"], 0
            if kind == "and" and adds and literals(nodes[m]["members"]):
                return nodes[m]["members"], 1
            return None

        whole = group(number)
        if whole is not None:
            return [whole]
        if node["kind"] != "or":
            return None
        found = [group(m) for m in node["members"]]
        return None if any(g is None for g in found) else [g for g in found if g is not None]

    def _is_keyed(self, axiom: dict[str, Any], level: int) -> bool:
        """Whether the bindings of a level are not simply all combinations, each once."""
        return "weights" in axiom["levels"][level] or any("key" in c for c in axiom["levels"][level]["components"])

    def _size(self, axiom: dict[str, Any], level: int) -> int:
        return math.prod(self.engine.blocks.components[c["component"]][0] for c in axiom["levels"][level]["components"])

    def _chain(self, i: int, levels: list[int]) -> Block:
        """All bindings of levels inside of each other."""
        block = self.engine.blocks.roots[i]
        for level in levels:
            block = self._whole(i, level, block)
        return block

    def _whole(self, axiom: int, level: int, parent: Block) -> Block:
        """All bindings of a level, which are not kept."""
        blocks = self.engine.blocks
        left, blocks._left = blocks._left, 0
        try:
            return blocks.fill(axiom, level, parent, 0, blocks.total(axiom, level, parent))
        finally:
            blocks._left = left

    def _places(self, axiom: int, number: int, block: Block) -> Tensor:
        """Where a literal's numbers stand in the table of all, for each binding."""
        node = self.engine.axioms[axiom]["nodes"][number]
        at: Any = self.engine.blocks.place(node["place"], block) + self.engine.offset(axiom, node)
        if not isinstance(at, Tensor):
            return torch.full((block.n,), at, device=self.device, dtype=torch.int32)
        return at.to(torch.int32)

    def _parts(self, i: int, axiom: dict[str, Any], levels: list[int], literal: dict[str, Any]) -> tuple[int, list[list[int]]] | None:
        """A literal's place as a number and, for each component of some levels, the maps that add to it."""
        if "array" not in literal["place"] or literal["level"] != levels[-1]:
            return None
        place = literal["place"]
        maps: list[list[list[int]]] = []
        for number in reversed(levels):
            level = axiom["levels"][number]
            if self._is_keyed(axiom, number):
                return None
            if "base" in place:
                maps.append([[] for _ in level["components"]])
                continue
            if any(lookup["array"] == place["array"] for lookup in level["lookups"]):
                return None
            add = level["adds"][place["array"]]
            maps.append(add["maps"])
            place = add["from"]
        base = place["base"] + self.engine.offset(i, literal)
        return base, [own for level in reversed(maps) for own in level]

    def _added(self, base: int, components: list[int], maps: list[list[int]]) -> Tensor:
        """A place for each combination of some components' tuples."""
        at: Any = torch.full((1,) * len(components), base, device=self.device, dtype=torch.int64)
        sizes = [self.engine.blocks.components[c][0] for c in components]
        for c, (size, own) in enumerate(zip(sizes, maps)):
            tuples = torch.arange(size, device=self.device)
            for m in own:
                at = at + self.engine.blocks._mapped(m, tuples).view(*[1] * c, -1, *[1] * (len(sizes) - c - 1))
        return at.expand(sizes).reshape(-1).to(torch.int32)

    def _grid(self, i: int, axiom: dict[str, Any], levels: list[int], members: list[int]) -> tuple[Tensor, Tensor, list[int]] | None:
        """Places by row and by column, and the sides of literals, if bindings are the product of rows and columns."""
        components = [c["component"] for level in levels for c in axiom["levels"][level]["components"]]
        sizes = [self.engine.blocks.components[c][0] for c in components]
        found = [self._parts(i, axiom, levels, axiom["nodes"][m]) for m in members]
        parts = [part for part in found if part is not None]
        if len(parts) < len(found):
            return None
        cuts = []
        for cut in range(1, len(sizes)):
            rows, columns = math.prod(sizes[:cut]), math.prod(sizes[cut:])
            if min(rows, columns) >= LEAST_SIDE:
                # What a literal adds for each binding is what takes time.
                cuts.append((sum(any(own[:cut]) and any(own[cut:]) for _, own in parts), max(rows, columns), cut))
        if not cuts:
            return None
        cut = min(cuts)[2]
        rows, columns, sides = [], [], []
        for base, own in parts:
            side = 0 if any(own[:cut]) and any(own[cut:]) else 2 if any(own[cut:]) else 1
            rows.append(self._added(0 if side == 2 else base, components[:cut], own[:cut]))
            columns.append(self._added(base if side == 2 else 0, components[cut:], own[cut:]))
            sides.append(side)
        return torch.stack(rows), torch.stack(columns), sides

    def _pairs(self, i: int, axiom: dict[str, Any], levels: list[int], members: list[int], form: int, scale: float) -> bool:
        """Two literals over a long list, and perhaps the classes."""
        engine = self.engine
        components = [c["component"] for level in levels for c in axiom["levels"][level]["components"]]
        sizes = [engine.blocks.components[c][0] for c in components]
        found = [self._parts(i, axiom, levels, axiom["nodes"][m]) for m in members]
        if len(components) > 2 or any(part is None for part in found):
            return False
        parts = [part for part in found if part is not None]
        long = next((c for c in sorted(range(len(components)), key=lambda c: -sizes[c]) if self._are_classes(components, c, parts)), None)
        if long is None:
            return False
        classes = math.prod(sizes[:long] + sizes[long + 1 :])
        maps = engine.plan.header["maps"]
        constant = [base + sum(maps[m]["range"][0] for own in all_[:long] + all_[long + 1 :] for m in own) for base, all_ in parts]
        rows = [self._added(base, [components[long]], [own[long]]) for (_, own), base in zip(parts, constant)]
        self._others.append(_Pairs(self, i, rows, classes, form == 1, scale))
        return True

    def _are_classes(self, components: list[int], long: int, parts: list[tuple[int, list[list[int]]]]) -> bool:
        """Whether all numbers of the components but one stand next to each other, for each literal."""
        others = [c for c in range(len(components)) if c != long]
        ranges = [[self.engine.plan.header["maps"][m].get("range") for m in own[c]] for _, own in parts for c in others]
        next_to = all(len(own) == 1 and own[0] is not None and own[0][1] == 1 for own in ranges)
        return next_to and not any(components[c] in self.engine.blocks.chosen for c in others)

    def _exists(
        self, i: int, axiom: dict[str, Any], levels: list[int], body: dict[str, Any], form: int, scale: float, total: int, size: int
    ) -> bool:
        """An `exists` over many: places are those of the outer binding and of the inner one, added."""
        engine = self.engine
        literal = axiom["nodes"][body["body"]]
        level = axiom["levels"][body["inner"]]
        if "array" not in literal["place"] or literal["level"] != body["inner"] or total > 1 << 16:
            return False
        index = literal["place"]["array"]
        if any(lookup["array"] == index for lookup in level["lookups"]) or len(level["components"]) != 1:
            return False
        add = level["adds"][index]
        inner: Any = torch.zeros(size, device=self.device, dtype=torch.int64)
        for m in add["maps"][0]:
            inner = inner + engine.blocks._mapped(m, torch.arange(size, device=self.device))
        outer = engine.blocks.place(add["from"], self._chain(i, levels))
        if not isinstance(outer, Tensor):
            outer = torch.full((total,), outer, device=self.device, dtype=torch.int64)
        outer = outer + engine.offset(i, literal)
        self._others.append(_Exists(self, i, outer.to(torch.int32).contiguous(), inner.to(torch.int32), form == 1, scale))
        return True

    def _eliminate(self, i: int, axiom: dict[str, Any], levels: list[int], body: dict[str, Any], scale: float, total: int) -> bool:
        engine, nodes = self.engine, axiom["nodes"]
        of = axiom["eliminations"][body["elimination"]]
        literals = all(nodes[f["body"]]["kind"] in _LITERALS and nodes[f["body"]]["level"] == f["level"] for f in of["factors"])
        if not literals or any(nodes[m]["kind"] not in _LITERALS for m in of["common"]):
            return False
        if total * (sum(f["size"] for f in of["factors"]) + len(of["common"])) > MOST_PLACES:
            return False
        block = self._chain(i, levels)
        places = [self._places(i, m, block) for m in of["common"]]
        for factor in of["factors"]:
            places.append(self._places(i, factor["body"], self._whole(i, factor["level"], block)))
        key: Any = engine.blocks.place(body["key"], block) if of["keyed"] else 0
        if not isinstance(key, Tensor):
            key = torch.full((total,), key, device=self.device, dtype=torch.int64)
        mean = engine.semantics["exists"]["semiring"] == "mean"
        self._others.append(_Elimination(self, i, body["elimination"], of, key, places, total, mean, scale))
        return True

    # --- running ------------------------------------------------------------------------------

    def _lay_out(self) -> None:
        """Where each part's values stand, those of an axiom together, and the clauses of all axioms in one launch."""
        roots: list[tuple[int, ...]] = []
        groups: list[tuple[int, int]] = []
        sides: list[int] = []
        row = column = 0
        for c in self._clauses:
            (members, rows), columns = c.rows.shape, c.columns.shape[1]
            roots.append((row, rows, column, columns, len(c.groups), c.axiom, c.form, len(groups), len(sides)))
            groups += c.groups
            sides += c.sides
            row, column = row + members * rows, column + members * columns
        others = tuple((part.axiom, part.slots) for part in self._others)
        scales = tuple([c.scale for c in self._clauses] + [part.scale for part in self._others])
        key = ("layout", tuple(roots), tuple(groups), tuple(sides), others, scales)
        tables, self._tasks, ats, self._slots = self.engine.known(key, lambda: self._tables(roots, groups, sides, others, scales))
        self._ends, self._roots, self._groups_of, self._sides, self._scales = tables
        for part, at in zip(self._others, ats):
            part.at = at
        for k, part in enumerate(self._others):
            part.root = len(self._clauses) + k
        none = [torch.zeros(1, device=self.device, dtype=torch.int32)]
        self._rows = torch.cat([c.rows.reshape(-1) for c in self._clauses] or none)
        self._columns = torch.cat([c.columns.reshape(-1) for c in self._clauses] or none)
        self._clauses = []
        own = [axiom.get("alpha") for axiom in self.engine.axioms]
        self._some_own = any(a is not None for a in own)
        if self._some_own:
            self._has_own = upload([a is not None for a in own], self.device)
            self._own = upload([a or 1.0 for a in own], self.device, self.dtype)

    def _tables(
        self, roots: Any, groups: Any, sides: Any, others: Any, scales: Any
    ) -> tuple[tuple[Tensor, ...], list[tuple[int, int, Tensor]], list[int], int]:
        """What kernels read of the layout, the tasks of clauses by rows and columns, where the values of each part with kernels of its own
        begin, and how many values there are."""
        tiles = []
        for _, _, _, columns, *_ in roots:
            width = min(_COLUMNS, _power(columns))
            tiles.append((_BLOCK, 1) if columns == 1 else (max(1, 4 * _BLOCK // width), width))
        room = [-(-root[1] // r) * -(-root[3] // c) for root, (r, c) in zip(roots, tiles)]
        parts = [(root[5], room[k], k) for k, root in enumerate(roots)]
        parts += [(axiom, slots, len(roots) + k) for k, (axiom, slots) in enumerate(others)]
        parts.sort(key=lambda part: part[0])
        ends = np.zeros(len(self.engine.axioms) + 1, np.int64)
        tasks: dict[tuple[int, int], list[np.ndarray]] = {}
        ats = [0] * len(others)
        at = 0
        for axiom, slots, part in parts:
            if part < len(roots):
                (r, c), across = tiles[part], -(-roots[part][3] // tiles[part][1])
                t = np.arange(slots)
                tasks.setdefault((r, c), []).append(np.stack([np.full_like(t, part), t // across * r, t % across * c, at + t], 1))
            else:
                ats[part - len(roots)] = at
            at += slots
            ends[axiom + 1] = at
        integers = lambda given: upload(given, self.device, torch.int64)  # noqa: E731
        tables = (
            integers(np.maximum.accumulate(ends)), integers(roots), integers(groups), integers(sides),
            upload(scales or [1.0], self.device, self.dtype),
        )  # fmt: skip
        return tables, [(*tile, integers(np.concatenate(own))) for tile, own in tasks.items()], ats, at

    def run(self, run: Any, derivatives: Tensor | None, forward: bool, backward: bool) -> Tensor:
        """What the parts of each axiom add up to; derivatives go into the tables'."""
        axioms = len(self.engine.axioms)
        truths = torch.empty(axioms, device=self.device, dtype=self.dtype)
        if not self.taken:
            return truths.zero_()
        table, by = run.tables.values, run.tables.by
        alpha = self._alpha
        if isinstance(alpha, Tensor):
            alphas = alpha.to(self.dtype).expand(axioms).contiguous()
        else:
            alphas = torch.full((axioms,), alpha, device=self.device, dtype=self.dtype)
        if self._some_own:
            alphas = torch.where(self._has_own, self._own, alphas)
        partial = torch.empty(self._slots, device=self.device, dtype=self.dtype)
        by = table if by is None else by
        slopes = truths if derivatives is None else derivatives.contiguous()
        for rows, columns, tasks in self._tasks:
            self.kernels.clauses[(len(tasks),)](
                table, by, self._rows, self._columns, self._sides, self._roots, self._groups_of, self._scales, tasks, alphas, slopes, partial,
                FORWARD=forward, BACKWARD=backward, BR=rows, BC=columns,
            )  # fmt: skip
        for part in self._others:
            part.run(table, by, self._scales, alphas, slopes, partial[part.at : part.at + part.slots], forward, backward)
        if forward:
            self.kernels.join[(axioms,)](partial, self._ends, truths, BLOCK=1024)
        return truths

    def small_sums(self, a: Tensor, b: Tensor, total: Tensor, found: Tensor, alpha: Any) -> None:
        """Puts what is too small for a product of matrices into `found`."""
        rows, columns, inner = a.shape[0], b.shape[0], a.shape[1]
        least = SMALL_SUM[self.dtype]
        self.kernels.small_sums[rows, -(-columns // 16)](
            a, b, total, found, columns, inner, self._one(alpha), least, BC=16, BK=min(64, _power(inner))
        )

    def small_sums_backward(self, a: Tensor, b: Tensor, total: Tensor, found: Tensor, by: Tensor, into: list[Tensor], alpha: Any) -> None:
        rows, columns, inner = a.shape[0], b.shape[0], a.shape[1]
        least = SMALL_SUM[self.dtype]
        self.kernels.small_sums_backward[rows, -(-columns // 16)](
            a, b, total, found, by.contiguous(), *into, columns, inner, self._one(alpha), least, BC=16, BK=min(64, _power(inner))
        )

    def _one(self, alpha: Any) -> Tensor:
        if isinstance(alpha, Tensor):
            return alpha.to(self.dtype).reshape(1)
        return torch.full((1,), alpha, device=self.device, dtype=self.dtype)

    def begin(self, alpha: Any) -> None:
        """The α of the call."""
        self._alpha = alpha

    def _tasks_of_logits(self) -> Tensor:
        """The tasks of sigmoids, whose logits stand one after the other."""
        tasks, begin = [np.zeros((0, 4), np.int64)], 0
        for i in self._sigmoids:
            request, (positive, negative) = self.engine.requests[i], self.engine.offsets[i]
            n = request["rows"] * request["width"]
            at = np.arange(0, n, _LOGITS)
            not_own = negative + at if negative != positive else np.full_like(at, -1)
            tasks.append(np.stack([begin + at, positive + at, not_own, np.minimum(_LOGITS, n - at)], 1))
            begin += n
        return upload(np.concatenate(tasks), self.device, torch.int64)

    def _together(self, numbers: list[Tensor]) -> Tensor:
        """The logits of all sigmoids."""
        if len(self._sigmoids) == 1:
            return numbers[self._sigmoids[0]].contiguous()
        return torch.cat([numbers[i].reshape(-1) for i in self._sigmoids])

    def literals(self, numbers: list[Tensor]) -> Tensor:
        engine = self.engine
        table = torch.empty(engine.size, device=self.device, dtype=self.dtype)
        if self._sigmoids:
            z, tasks = self._together(numbers), self._logits
            self.kernels.sigmoid_forward[(len(tasks),)](z, table, tasks, floor=self._floor, BLOCK=_LOGITS)
        for request, (positive, negative), z in zip(engine.requests, engine.offsets, numbers):
            kind, width = request["output"], request["width"]
            if z.numel() == 0 or kind == "sigmoid":
                continue
            negated = negative != positive
            if kind == "softmax" and width <= 1024:
                columns, rows = _power(width), max(1, 256 // _power(width))
                self.kernels.softmax_forward[(-(-z.shape[0] // rows),)](
                    z.contiguous(), table, positive, negative, z.shape[0], width, floor=self._floor, ample=self._ample,
                    NEGATED=negated, BR=rows, BW=columns,
                )  # fmt: skip
            else:
                own, not_own = _literals.forward(kind, True, negated, _literals.cleaned(kind, z))
                table[positive : positive + z.numel()] = own.reshape(-1)
                if negated and not_own is not None:
                    table[negative : negative + z.numel()] = not_own.reshape(-1)
        return table

    def literals_backward(self, numbers: list[Tensor], table: Tensor, by: Tensor) -> list[Tensor]:
        engine, found = self.engine, []
        for request, (positive, negative), z in zip(engine.requests, engine.offsets, numbers):
            kind, width = request["output"], request["width"]
            negated = negative != positive
            if z.numel() == 0 or kind == "sigmoid":
                out = torch.empty_like(z)
            elif kind == "softmax" and width <= 1024:
                out = torch.empty_like(z, memory_format=torch.contiguous_format)
                columns, rows = _power(width), max(1, 256 // _power(width))
                self.kernels.softmax_backward[(-(-z.shape[0] // rows),)](
                    z.contiguous(), by, positive, negative, out, z.shape[0], width, ample=self._ample,
                    NEGATED=negated, BR=rows, BW=columns,
                )  # fmt: skip
            else:
                own = by[positive : positive + z.numel()].view_as(z)
                not_own = by[negative : negative + z.numel()].view_as(z) if negated else None
                out = _literals.backward(kind, True, _literals.cleaned(kind, z), own, not_own)
            found.append(out)
        if self._sigmoids:
            z, tasks = self._together(numbers), self._logits
            out = torch.empty_like(z)
            self.kernels.sigmoid_backward[(len(tasks),)](z, by, tasks, out, BLOCK=_LOGITS)
            for i, own in zip(self._sigmoids, out.reshape(-1).split([numbers[i].numel() for i in self._sigmoids])):
                found[i] = own.view(numbers[i].shape)
        return found


@dataclass
class _Clause:
    """A disjunction of groups of literals."""

    axiom: int
    # Where the literals of a binding stand: the sum of what its row says and its column.
    rows: Tensor  # [members, rows]
    columns: Tensor  # [members, columns]
    sides: list[int]
    groups: list[tuple[int, int]]
    form: int
    scale: float


class _Part:
    """A part of an axiom with kernels of its own."""

    axiom: int
    slots: int
    scale: float
    at = 0
    root = 0

    def run(
        self, table: Tensor, by: Tensor, scales: Tensor, alphas: Tensor, slopes: Tensor, values: Tensor, forward: bool, backward: bool
    ) -> None:
        raise NotImplementedError


class _Pairs(_Part):
    def __init__(self, kernels: Kernels, axiom: int, rows: list[Tensor], classes: int, mean: bool, scale: float) -> None:
        self.kernels, self.axiom, self.classes, self.mean, self.scale = kernels.kernels, axiom, classes, mean, scale
        self.columns = min(128, _power(classes))
        self.rows, self.across = max(1, 128 // self.columns), -(-classes // self.columns)
        self.sides = []
        for own, other in (rows, rows[::-1]):
            order = torch.sort(own, stable=True)
            owners, counts = torch.unique_consecutive(order.values, return_counts=True)
            ends = torch.zeros(len(owners) + 1, device=own.device, dtype=torch.int64)
            ends[1:] = counts.cumsum(0)
            self.sides.append((owners.to(torch.int32), ends.to(torch.int32), other[order.indices].to(torch.int32)))
        self.slots = -(-len(self.sides[0][0]) // self.rows) * self.across

    def run(
        self, table: Tensor, by: Tensor, scales: Tensor, alphas: Tensor, slopes: Tensor, values: Tensor, forward: bool, backward: bool
    ) -> None:
        for side, (owners, ends, others) in enumerate(self.sides):
            if side == 1 and not backward:
                break
            self.kernels.pairs[(-(-len(owners) // self.rows), self.across)](
                table, by, owners, ends, others, scales, alphas, slopes, values, self.root, self.axiom, len(owners), self.classes,
                MEAN=self.mean, VALUES=forward and side == 0, BACKWARD=backward, BR=self.rows, BW=self.columns,
            )  # fmt: skip


class _Exists(_Part):
    _BLOCK = 1024

    def __init__(self, kernels: Kernels, axiom: int, outer: Tensor, inner: Tensor, mean: bool, scale: float) -> None:
        self.kernels, self.axiom, self.outer, self.inner, self.mean, self.scale = kernels.kernels, axiom, outer, inner, mean, scale
        self.slots, length = len(outer), len(inner)
        self.times = 1
        while -(-length // (self._BLOCK * self.times)) > 1024:
            self.times *= 2
        self.chunks = -(-length // (self._BLOCK * self.times))
        shape = (self.slots, self.chunks)
        self.tops = torch.empty(shape, device=kernels.device, dtype=kernels.dtype)
        self.sums = torch.empty(shape, device=kernels.device, dtype=kernels.dtype)

    def run(
        self, table: Tensor, by: Tensor, scales: Tensor, alphas: Tensor, slopes: Tensor, values: Tensor, forward: bool, backward: bool
    ) -> None:
        length = len(self.inner)
        if forward:
            self.kernels.exists_forward[(self.slots, self.chunks)](
                table, self.outer, self.inner, alphas, self.tops, self.sums, self.axiom, length, self.chunks,
                BLOCK=self._BLOCK, TIMES=self.times,
            )  # fmt: skip
            self.kernels.exists_join[(self.slots,)](
                self.tops, self.sums, scales, alphas, values, self.root, self.axiom, self.chunks, length if self.mean else 1,
                BLOCK=_power(self.chunks),
            )  # fmt: skip
        if backward:
            self.kernels.exists_backward[(self.slots, -(-length // self._BLOCK))](
                table, by, self.outer, self.inner, scales, alphas, slopes, self.tops, self.sums, self.root, self.axiom, length,
                self.chunks, BLOCK=self._BLOCK,
            )  # fmt: skip


class _Elimination(_Part):
    def __init__(
        self,
        kernels: Kernels,
        axiom: int,
        number: int,
        of: dict[str, Any],
        key: Tensor,
        places: list[Tensor],
        n: int,
        mean: bool,
        scale: float,
    ) -> None:
        self.kernels, self.axiom, self.scale, self.slots = kernels.kernels, axiom, scale, n
        device, dtype = kernels.device, kernels.dtype
        self.steps, self.common = len(of["steps"]), len(of["common"])
        arrays = kernels.engine.blocks._arrays
        known = kernels.engine.known((axiom, number, n), lambda: _elimination(arrays, of, n, device))
        self.plan, lists, self.room, self.tile = known
        self.keys = (lists + key * self.steps).to(torch.int32)
        counts = kernels.engine.blocks.array(of["counts"])[key]
        shift = -kernels.engine.blocks.array(of["log_counts"])[key] if mean else torch.full_like(counts, of["log_unread"])
        self.shifts = torch.where(counts > 0, shift, torch.nan).to(dtype)
        self.places = torch.cat(places) if places else torch.zeros(1, device=device, dtype=torch.int32)
        self.messages = torch.empty(n * self.room, device=device, dtype=dtype)
        self.by_messages = torch.empty(n * self.room, device=device, dtype=dtype)

    def run(
        self, table: Tensor, by: Tensor, scales: Tensor, alphas: Tensor, slopes: Tensor, values: Tensor, forward: bool, backward: bool
    ) -> None:
        self.kernels.eliminate[(self.slots,)](
            table, by, self.plan, self.places, self.keys, self.shifts, self.messages, self.by_messages, scales, alphas, slopes, values,
            self.root, self.axiom, self.steps, self.room, self.common, self.slots,
            FORWARD=forward, BACKWARD=backward, BP=self.tile[0], BC=self.tile[1], BZ=128, num_warps=2,
        )  # fmt: skip


def _elimination(arrays: list[np.ndarray], of: dict[str, Any], n: int, device: torch.device) -> tuple[Tensor, int, int, tuple[int, int]]:
    """An elimination for so many bindings as one array, where its lists by key begin, the room for messages, and the tile of a step."""
    steps = len(of["steps"])
    parts: list[np.ndarray] = [np.zeros(7 * steps, np.int32)]
    length = 7 * steps

    def put(array: Any) -> int:
        nonlocal length
        array = np.ascontiguousarray(array, np.int32)
        parts.append(array)
        length += len(array)
        return length - len(array)

    factor_starts, at = [], n * len(of["common"])
    for factor in of["factors"]:
        factor_starts.append(at)
        at += n * factor["size"]
    stands: list[int] = []
    room = 0
    for step in of["steps"]:
        messages = arrays[step["message_offsets"]]
        stands.append(room)
        room += int(np.diff(messages).max(initial=1))
    longest, widest = 1, 1
    for s, step in enumerate(of["steps"]):
        described = []
        for source, array in zip(step["inputs"], step["places"]):
            where = put(arrays[array])
            if "factor" in source:
                f = source["factor"]
                described += [1, where, factor_starts[f], of["factors"][f]["size"]]
            else:
                described += [0, where, stands[source["message"]], 0]
        offsets = put(arrays[step["combination_offsets"]]), put(arrays[step["message_offsets"]]), put(arrays[step["ends"]])
        parts[0][7 * s : 7 * s + 7] = len(step["inputs"]), put(described), *offsets, stands[s], int(step["last"])
        ends, messages = arrays[step["ends"]], arrays[step["message_offsets"]]
        for first, last in zip(messages[:-1], messages[1:]):
            longest = max(longest, int(np.diff(ends[first:last], prepend=0).max(initial=1)))
            widest = max(widest, int(last - first))
    lists = put(arrays[of["lists_of_key"]])
    return upload(np.concatenate(parts), device), lists, room, (min(32, _power(widest)), min(32, _power(longest)))
