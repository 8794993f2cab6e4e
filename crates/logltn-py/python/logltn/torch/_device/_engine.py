"""A plan on a device: numbers in, the truth of each axiom, the loss and its gradient out, all on the device."""

from __future__ import annotations

import copy
import sys
from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

from ..._native import Holds
from ..._plan import ChosenRows, ExportedPlan
from . import _literals
from ._blocks import BINDINGS, KEPT, Blocks
from ._general import Run, Tables
from ._graph import Graphs
from ._kernels import Kernels
from ._operators import Operators, Segments, Settings, complement
from ._rule import History
from ._strata import Strata
from ._upload import upload

# The most values of formulas that are left to torch operations, in a call that becomes a CUDA graph.
MOST_CAPTURED = 1 << 28
# How many things are kept that depend on how many rows are chosen.
MOST_KNOWN = 256

Parameters = tuple[Any, Any, Any]  # alpha, p, p_forall: numbers, or tensors without axes


class Evaluated:
    """What came out of a call; asking for numbers waits for the device."""

    def __init__(self, names: list[str], truths: Tensor) -> None:
        self._names, self._truths = names, truths

    def truths(self) -> dict[str, float]:
        return dict(zip(self._names, self._truths.tolist()))


class Engine:
    """Runs an exported plan on a device."""

    def __init__(
        self,
        plan: ExportedPlan,
        device: torch.device,
        dtype: torch.dtype,
        *,
        bindings: int = BINDINGS,
        kept: int = KEPT,
        kernels: bool | None = None,
        graphs: bool = True,
        chooses: bool = False,
    ) -> None:
        self.plan, self.device, self.dtype = plan, device, dtype
        header = plan.header
        self.semantics, self.axioms, self.requests = header["semantics"], header["axioms"], header["requests"]
        self.operators = Operators(self.semantics)
        self.log = self.semantics["space"] == "log"
        self.names = [axiom["name"] for axiom in self.axioms]
        self.weights = [axiom["weight"] for axiom in self.axioms]
        self.offsets: list[tuple[int, int]] = []
        size = 0
        for request in self.requests:
            own = request["rows"] * request["width"]
            both = self.log and request["negated"]
            self.offsets.append((size, size + own if both else size))
            size += 2 * own if both else own
        self.blocks = Blocks(plan, device, bindings, kept)
        self.strata = Strata(self, size)
        self.size = self.strata.end
        self._weigh()
        self._uses_kernels, self._uses_graphs = kernels is not False, graphs and device.type == "cuda"
        self.bindings = sum(float(costs[0]) for costs in self.blocks._costs)
        self.history = History(bindings=self.bindings)
        self._known: dict[Any, Any] = {}
        self._chooses = chooses
        if not chooses:
            self._stand([(*places, None) for places in plan.places], [None] * len(self.requests))
            self._lay_out()
        # Formulas may be nested a thousand deep, each with two calls of Python's.
        longest = max((len(program["nodes"]) for program in self.blocks.programs), default=0)
        if longest > 250:
            sys.setrecursionlimit(max(sys.getrecursionlimit(), 1000 + 4 * min(longest, 5000)))

    def choosing(self, rows: ChosenRows) -> Engine:
        """Runs the same plan with the rows that a call has chosen."""
        own = copy.copy(self)
        own.blocks = self.blocks.choosing(rows.components)
        own._stand(rows.places, rows.codes)
        own._lay_out()
        return own

    def weighing(self, weights: list[tuple[int, float]]) -> Engine:
        """Runs the same plan with other weights of some axioms."""
        own = copy.copy(self)
        own.weights = list(self.weights)
        for axiom, weight in weights:
            own.weights[axiom] = weight
        own.graphs = None
        own.__dict__.pop("_chosen_axioms", None)
        own._weigh()
        return own

    def follow(self, earlier: History | None) -> History:
        """Takes this as a plan such as those that have been there before, and gives what is known of them all."""
        if earlier is not None:
            earlier.nodes, earlier.bindings = self.history.nodes, self.bindings
            self.history = earlier
        return self.history

    def known(self, key: Any, make: Callable[[], Any]) -> Any:
        """What is the same for all calls that choose as many rows."""
        if key not in self._known:
            if len(self._known) >= MOST_KNOWN:
                self._known.clear()
            self._known[key] = make()
        return self._known[key]

    def _stand(self, places: list[Any], codes: list[Any]) -> None:
        """Where the rows of requests stand in tensors, and which rows there are numbers for."""
        to_device = lambda given: None if given is None else upload(given, self.device)  # noqa: E731
        self._places = [(predicate, *map(to_device, own)) for predicate, *own in places]
        self._rows: list[Tensor | None] = []
        for request, own in zip(self.requests, codes):
            whole = own is None or len(own) == request["rows"]
            self._rows.append(None if whole else torch.searchsorted(self.blocks.array(request["codes"]), upload(own, self.device)))
        # Shapes of values that were found to be right.
        self.fitting: set[Any] = set()

    def _lay_out(self) -> None:
        """Finds out what kernels compute, and what is left to torch operations."""
        self.kernels = Kernels.of(self) if self._uses_kernels else None
        self.strata.kernels = self.kernels
        taken = self.kernels.taken if self.kernels is not None else {}
        self._general = [i for i, axiom in enumerate(self.axioms) if set(axiom["roots"]) - taken.get(i, set())]
        self._general_at = upload(self._general, self.device, torch.int64)
        strata = self.blocks.programs[len(self.axioms) :]
        nodes = sum(len(program["nodes"]) for program in [*(self.axioms[i] for i in self._general), *strata])
        # What is left to torch operations keeps its memory while there is a graph.
        few = nodes * self.bindings <= MOST_CAPTURED
        self.graphs = Graphs() if self._uses_graphs and few and self.strata.waits_for_nothing else None
        # Their launches cost nothing in a graph, if the same rows come again.
        self.history.nodes = 0 if self.graphs is not None and not self._chooses else nodes

    def _weigh(self) -> None:
        self._weights = upload(self.weights, self.device, self.dtype)
        # Of the loss by each axiom, where that is linear.
        over, none = self.operators.over_axioms, Settings(1.0, 1.0, 1.0, 0.0)
        self._linear = -self._weights * over.slope(none, sum(self.weights) or 1.0) if over.linear else None

    # --- numbers of requests ------------------------------------------------------------------

    def offset(self, axiom: int, node: dict[str, Any]) -> int:
        """Where the numbers begin among which a literal of an axiom has its own."""
        if node["kind"] == "use":
            return self.strata.offset(self.strata.outside(axiom), node)
        return self.offsets[node["request"]][node["negated"]]

    def _targets(self, place: int, holds: Holds) -> list[tuple[int, Tensor | None]]:
        """The requests whose numbers a tensor has, and where their rows are in it."""
        if holds is Holds.REQUEST:
            return [(place, self._places[place][3])]
        return [
            (i, own[1] if holds is Holds.GRID else own[2])
            for i, own in enumerate(self._places)
            if own[0] == place and self._count(i) > 0
        ]

    def _count(self, request: int) -> int:
        """How many rows there are numbers for."""
        rows = self._rows[request]
        return self.requests[request]["rows"] if rows is None else len(rows)

    def numbers(self, which: list[tuple[int, Holds]], tensors: Any) -> list[Tensor]:
        """By request: its rows of numbers, `[n, width]`."""
        found: list[Any] = [None] * len(self.requests)
        for (place, holds), tensor in zip(which, tensors):
            for request, rows in self._targets(place, holds):
                own = tensor.detach().to(self.dtype).reshape(-1, self.requests[request]["width"])
                found[request] = own if rows is None else own.index_select(0, rows)
        for i, (request, rows) in enumerate(zip(self.requests, self._rows)):
            if found[i] is not None and rows is None:
                continue
            # Nobody looks at the rows that are not there.
            zeros = torch.zeros(request["rows"], request["width"], device=self.device, dtype=self.dtype)
            found[i] = zeros if found[i] is None or rows is None else zeros.index_copy_(0, rows, found[i])
        return found

    def gradients(self, which: list[tuple[int, Holds]], tensors: Any, needed: Any, by: list[Tensor]) -> list[Tensor | None]:
        """The derivatives by the tensors, from those by the requests' numbers."""
        found: list[Tensor | None] = []
        for (place, holds), tensor, need in zip(which, tensors, needed):
            if not need:
                found.append(None)
                continue
            total: Tensor | None = None
            for request, rows in self._targets(place, holds):
                own, there = by[request], self._rows[request]
                if there is not None:
                    own = own.index_select(0, there)
                if rows is not None:
                    width = self.requests[request]["width"]
                    zeros = torch.zeros(tensor.numel() // max(1, width), width, device=self.device, dtype=self.dtype)
                    # A plan for many calls may ask about the same individual twice.
                    own = zeros.index_add_(0, rows, own)
                total = own if total is None else total + own.reshape(total.shape)
            if total is None:
                total = torch.zeros(tensor.shape, device=self.device, dtype=self.dtype)
            found.append(total.reshape(tensor.shape).to(tensor.dtype))
        return found

    # --- evaluation ---------------------------------------------------------------------------

    def evaluate(
        self,
        numbers: list[Tensor],
        parameters: Parameters,
        gradients: bool,
        by_axiom: Tensor | None = None,
        step: Any = None,
    ) -> tuple[Tensor, Tensor, list[Tensor]]:
        """The truths of all axioms, the loss, and, if they are wanted, the derivatives by the numbers: of the loss, or of
        something with these derivatives by the axioms."""
        settings = [self._settings(axiom, parameters) for axiom in self.axioms]
        values, numbers = self._begin(numbers, parameters)
        tables = Tables(values, torch.zeros_like(values) if gradients else None)
        derivatives = None
        if gradients and by_axiom is not None:
            derivatives = torch.where(by_axiom.isfinite(), by_axiom.to(self.dtype), 0)
        elif gradients:
            derivatives = self._linear
        run = Run(self, tables, settings)
        self.strata.forward(run, parameters)
        truths = self._truths(run, derivatives, gradients)
        loss, slopes = self._loss(parameters, truths.detach())
        if not gradients:
            return truths.detach(), loss, []
        if derivatives is None:
            slopes = torch.where(slopes.isfinite(), slopes, 0)
            if truths.requires_grad:
                torch.autograd.backward([truths], [slopes])
            if self.kernels is not None:
                self.kernels.run(run, slopes, forward=False, backward=True)
        self.strata.backward(run, parameters)
        return truths.detach(), loss, self._numbers_backward(numbers, tables)

    def _begin(self, numbers: list[Tensor], parameters: Parameters) -> tuple[Tensor, list[Tensor]]:
        """The numbers of all literals, and those they were made of."""
        if self.kernels is not None:
            self.kernels.begin(parameters[0])
            return self.kernels.literals(numbers), numbers
        numbers = [_literals.cleaned(r["output"], z) for r, z in zip(self.requests, numbers)]
        return self._literals(numbers), numbers

    def _loss(self, parameters: Parameters, truths: Tensor) -> tuple[Tensor, Tensor]:
        """The loss, and its derivative by each axiom."""
        if self._linear is not None and all(w > 0 for w in self.weights):
            loss = torch.dot(truths, self._linear)
            return (loss if self.semantics["loss"] == "minus_sat" else 1 + loss), self._linear
        sat, slopes = self._over_axioms(self.over_axioms(parameters), truths)
        return (-sat if self.semantics["loss"] == "minus_sat" else 1 - sat), slopes

    def over_axioms(self, parameters: Parameters) -> Settings:
        """The settings of the aggregation over axioms."""
        alpha, p, p_forall = parameters
        return Settings(alpha, p, self.semantics.get("p_axioms", p_forall), self.semantics["stable_eps"])

    def _settings(self, axiom: dict[str, Any], parameters: Parameters) -> Settings:
        alpha, p, p_forall = parameters
        own = axiom.get
        return Settings(own("alpha", alpha), own("p", p), own("p_forall", p_forall), self.semantics["stable_eps"])

    def _literals(self, numbers: list[Tensor]) -> Tensor:
        parts = []
        for request, z in zip(self.requests, numbers):
            positive, negative = _literals.forward(request["output"], self.log, request["negated"], z)
            parts.append(positive.reshape(-1))
            if negative is not None and self.log:
                parts.append(negative.reshape(-1))
        parts.append(torch.zeros(self.size - self.strata.begin, device=self.device, dtype=self.dtype))
        return torch.cat(parts)

    def _numbers_backward(self, numbers: list[Tensor], tables: Tables) -> list[Tensor]:
        by = tables.by
        assert by is not None
        if self.kernels is not None:
            return self.kernels.literals_backward(numbers, tables.values, by)
        found = []
        for request, (positive, negative), z in zip(self.requests, self.offsets, numbers):
            own = by[positive : positive + z.numel()].view_as(z)
            not_own = by[negative : negative + z.numel()].view_as(z) if negative != positive else None
            found.append(_literals.backward(request["output"], self.log, z, own, not_own))
        return found

    def _truths(self, run: Run, derivatives: Tensor | None, gradients: bool) -> Tensor:
        """The truth of each axiom. Where the derivatives by them are known, they are handed down at once."""
        taken: dict[int, set[int]] = {}
        if self.kernels is not None:
            taken = self.kernels.taken
            total = self.kernels.run(run, derivatives, forward=True, backward=derivatives is not None)
        else:
            total = torch.zeros(len(self.axioms), device=self.device, dtype=self.dtype)
        later: list[Tensor] = []
        for i in self._general:
            axiom, parts = self.axioms[i], []
            for root in axiom["roots"]:
                if root in taken.get(i, ()):
                    continue
                derivative = None if derivatives is None else derivatives[i]
                with torch.set_grad_enabled(gradients):
                    value = run.root(i, root, derivative)
                if derivative is not None and value.requires_grad:
                    value.backward(derivative)
                    value = value.detach()
                parts.append(value)
            with torch.set_grad_enabled(gradients):
                later.append(sum(parts[1:], parts[0]))
        with torch.set_grad_enabled(gradients):
            return total.index_add(0, self._general_at, torch.stack(later)) if later else total

    def _over_axioms(self, s: Settings, truths: Tensor) -> tuple[Tensor, Tensor]:
        """The satisfaction of all axioms, and the derivative of the loss by each."""
        over = self.operators.over_axioms
        # What has no weight is not looked at: it may be infinite. Extremes ignore weights.
        chosen = [i for i, w in enumerate(self.weights) if w > 0 or over.picks_one]
        every = len(chosen) == len(self.weights)
        at = None if every else self._chosen(chosen)
        w = self._weights if at is None else self._weights.index_select(0, at)
        g = Segments(1, len(chosen), len(chosen))
        with torch.enable_grad():
            x = (truths if at is None else truths.index_select(0, at)).detach().requires_grad_()
            sat = over.value(s, over.state(s, g, x, complement(x) if over.complements else None, w)).reshape(())
            (slopes,) = torch.autograd.grad(-sat, [x])
        return sat.detach(), slopes if at is None else torch.zeros_like(truths).index_copy_(0, at, slopes)

    def _chosen(self, chosen: list[int]) -> Tensor:
        if not hasattr(self, "_chosen_axioms"):
            self._chosen_axioms = upload(chosen, self.device)
        return self._chosen_axioms
