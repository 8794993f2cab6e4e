"""Exact probabilities on a device: the circuits of a plan, level by level, all instances of a circuit at once."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import torch
from torch import Tensor

from ..._plan import ExportedPlan
from . import _literals
from ._engine import Engine, Parameters
from ._operators import FLOOR
from ._upload import upload


def log_sum(x: Tensor, segment: Tensor, count: int) -> Tensor:
    """log Σ exp over the first axis; −∞ where there is nothing, or nothing that can be."""
    start = torch.full((count, *x.shape[1:]), -math.inf, device=x.device, dtype=x.dtype)
    index = segment.reshape(-1, *[1] * (x.dim() - 1)).expand_as(x)
    top = start.scatter_reduce(0, index, x.detach(), "amax")
    top = torch.where(top == -math.inf, 0.0, top)
    total = torch.zeros_like(top).index_add(0, segment, (x - top.index_select(0, segment)).exp())
    return top + total.log()


class _Level:
    """Nodes of one kind that are equally far from the leaves, and what they are made of."""

    def __init__(self, nodes: np.ndarray, is_sum: bool, entries: list[np.ndarray], device: torch.device) -> None:
        integers = lambda given: upload(given, device, torch.int64)  # noqa: E731
        self.is_sum, self.count = is_sum, len(nodes)
        self.nodes = integers(nodes)
        self.entries = integers(np.concatenate(entries))
        self.segment = integers(np.repeat(np.arange(len(nodes)), [len(e) for e in entries]))

    def share(self, values: Tensor, x: Tensor) -> Tensor:
        """Which share of its sum each entry has."""
        whole = values.index_select(0, self.nodes).index_select(0, self.segment)
        return torch.where(whole == -math.inf, 0.0, (x - whole).exp())


class _Evaluate(torch.autograd.Function):
    """The log of the sum over worlds, for each instance; its derivatives are flows from the root to the leaves."""

    @staticmethod
    def forward(ctx: Any, circuit: Circuit, logs: Tensor) -> Tensor:
        values = circuit.up(logs)
        ctx.circuit = circuit
        ctx.save_for_backward(logs, values)
        return values[circuit.root].clone()

    @staticmethod
    @torch.autograd.function.once_differentiable
    def backward(ctx: Any, by: Tensor) -> Any:
        return None, ctx.circuit.down(*ctx.saved_tensors, by)[1]


class Circuit:
    """A circuit with all its instances."""

    def __init__(self, given: dict[str, Any], arrays: list[np.ndarray], device: torch.device) -> None:
        slots = arrays[given["slots"]]
        nodes, entries = arrays[given["nodes"]].reshape(-1, 3), arrays[given["entries"]]
        self.root: int = given["root"]
        self.size, self.device = len(nodes), device
        ends = nodes[:, 2]
        starts = np.concatenate([[0], ends[:-1]]).astype(np.int64)
        self.levels: list[_Level] = []
        for level in range(int(nodes[:, 0].max(initial=-1)) + 1):
            for is_sum in (1, 0):
                own = np.flatnonzero((nodes[:, 0] == level) & (nodes[:, 1] == is_sum))
                if len(own):
                    self.levels.append(_Level(own, is_sum == 1, [entries[starts[n] : ends[n]] for n in own], device))
        self.instances = upload(arrays[given["instances"]], device, torch.int64)
        count, domains = len(self.instances), np.diff(slots)
        variable = np.repeat(np.arange(len(domains)), domains)
        self.count, self.domains = count, len(domains)
        self.variables = upload(variable, device, torch.int64)
        self.slots = upload(slots[:-1], device, torch.int64)
        state = np.arange(len(variable)) - slots[:-1][variable]
        firsts = arrays[given["firsts"]].reshape(count, len(domains))
        # By state of the circuit and instance: which of all states it is.
        self.states = upload(firsts[:, variable].T + state[:, None], device, torch.int64)
        self._know(arrays[given["evidence"]].reshape(-1, 5), arrays[given["allowed"]], slots, count)

    def _know(self, evidence: np.ndarray, allowed: np.ndarray, slots: np.ndarray, count: int) -> None:
        """What is known of some variables of some instances."""
        self.known = len(evidence)
        masses, segments, owners, within, within_segments, without = [], [], [], [], [], []
        start = 0
        for number, (instance, variable, first, domain, end) in enumerate(evidence.tolist()):
            own = allowed[start:end]
            start = end
            masses.append(first + own)
            segments.append(np.full(len(own), number))
            owners.append(instance)
            if variable >= 0:
                within.append((slots[variable] + own) * count + instance)
                within_segments.append(np.full(len(own), number))
                others = np.setdiff1d(np.arange(domain), own)
                without.append((slots[variable] + others) * count + instance)
        joined = lambda lists: upload(np.concatenate([np.zeros(0, np.int64), *lists]), self.device, torch.int64)  # noqa: E731
        self.masses, self.segments, self.owners = joined(masses), joined(segments), upload(owners, self.device, torch.int64)
        self.within, self.within_segments, self.without = joined(within), joined(within_segments), joined(without)

    def own(self, logs: Tensor) -> Tensor:
        """By state of the circuit and instance, of what there is for all states."""
        return logs.index_select(0, self.states.reshape(-1)).reshape(self.states.shape)

    def up(self, logs: Tensor) -> Tensor:
        """By node and instance, the log of its sum."""
        values = logs.new_empty(self.size, logs.shape[1])
        for number, level in enumerate(self.levels):
            x = (logs if number == 0 else values).index_select(0, level.entries)
            if level.is_sum:
                own = log_sum(x, level.segment, level.count)
            else:
                own = x.new_zeros(level.count, x.shape[1]).index_add_(0, level.segment, x)
            values.index_copy_(0, level.nodes, own)
        return values

    def down(self, logs: Tensor, values: Tensor, by: Any) -> tuple[Tensor, Tensor]:
        """How much of the root's derivative goes through each node and each state."""
        flows, out = torch.zeros_like(values), torch.zeros_like(logs)
        flows[self.root] = by
        for number, level in reversed(list(enumerate(self.levels))):
            flow = flows.index_select(0, level.nodes).index_select(0, level.segment)
            if level.is_sum:
                x = (logs if number == 0 else values).index_select(0, level.entries)
                flow = flow * level.share(values, x)
            (out if number == 0 else flows).index_add_(0, level.entries, flow)
        return flows, out

    def __call__(self, logs: Tensor) -> Tensor:
        """The log of the probability of each instance, from the logs of all states."""
        own = self.own(logs).reshape(-1)
        offset = logs.new_zeros(self.count)
        if self.known:
            mass = log_sum(logs.index_select(0, self.masses), self.segments, self.known)
            offset = offset.index_add(0, self.owners, mass)
            own = own.index_add(0, self.within, -mass.index_select(0, self.within_segments))
            own = own.index_fill(0, self.without, -math.inf)
        if self.root < 0:
            return offset + (0.0 if self.root == -1 else -math.inf)
        return offset + _Evaluate.apply(self, own.reshape(self.states.shape))


class CircuitEngine(Engine):
    """Runs a plan whose axioms are events. In double precision, as the CPU engine does: what is given laws is a difference of large logs."""

    def __init__(self, plan: ExportedPlan, device: torch.device, dtype: torch.dtype, **options: Any) -> None:
        dtype = torch.float64
        super().__init__(plan, device, dtype, **{**options, "kernels": False})
        events, arrays = plan.header["events"], plan.arrays
        self._circuits = [Circuit(given, arrays, device) for given in events["circuits"]]
        states = arrays[events["states"]].reshape(-1, 2)
        starts, at = [], 0
        for request in self.requests:
            starts.append(at)
            at += request["rows"] * request["width"] * (1 if request["output"] == "softmax" else 2)
        # Where the states of each request begin, and how many there are.
        self.starts, self.state_count = starts, at
        self._states = upload(np.asarray(starts, np.int64)[states[:, 0]] + states[:, 1], device, torch.int64)
        observations = arrays[events["observations"]].reshape(-1, 3)
        terms = arrays[events["terms"]].reshape(-1, 2)
        self._axiom_of = upload(observations[:, 0], device, torch.int64)
        self._impossible = upload(observations[:, 1] == 1, device)
        lengths = np.diff(observations[:, 2], prepend=0)
        self._observation_of = upload(np.repeat(np.arange(len(observations)), lengths), device, torch.int64)
        self._terms = upload(terms[:, 0], device, torch.int64)
        self._signs = upload(terms[:, 1].astype(np.float64), device, dtype)
        self._shares = upload(arrays[events["weights"]], device, dtype)

    def evaluate(
        self, numbers: list[Tensor], parameters: Parameters, gradients: bool, by_axiom: Tensor | None = None, step: Any = None
    ) -> tuple[Tensor, Tensor, list[Tensor]]:
        with torch.set_grad_enabled(gradients):
            leaves = [z.detach().requires_grad_(gradients) for z in numbers]
            truths = self._events(leaves)
        loss, slopes = self._loss(parameters, truths.detach())
        if not gradients:
            return truths, loss, []
        slopes = slopes if by_axiom is None else by_axiom.to(self.dtype)
        slopes = torch.where(slopes.isfinite(), slopes, 0.0)
        found: Any = [None] * len(leaves)
        if truths.requires_grad:
            found = torch.autograd.grad(truths, leaves, slopes, allow_unused=True)
        return truths.detach(), loss, [torch.zeros_like(z) if g is None else g for z, g in zip(leaves, found)]

    def logs(self, numbers: list[Tensor]) -> Tensor:
        """Of all states of all rows: of a softmax the classes, of others false and true."""
        parts = []
        for request, z in zip(self.requests, numbers):
            z = _literals.cleaned(request["output"], z)
            if request["output"] == "softmax":
                parts.append(_literals.forward("softmax", True, False, z)[0].reshape(-1))
            else:
                parts.append(torch.nn.functional.logsigmoid(torch.stack([-z.reshape(-1), z.reshape(-1)], 1)).reshape(-1))
        return torch.cat(parts) if parts else torch.zeros(0, device=self.device, dtype=self.dtype)

    def _events(self, numbers: list[Tensor]) -> Tensor:
        """The truth of each axiom: the weighted sum of the logs of its observations' probabilities."""
        return self._truths_of(self.logs(numbers).index_select(0, self._states))

    def _truths_of(self, logs: Tensor) -> Tensor:
        size = sum(len(circuit.instances) for circuit in self._circuits)
        values = torch.zeros(size, device=self.device, dtype=self.dtype)
        for circuit in self._circuits:
            values = values.index_copy(0, circuit.instances, circuit(logs))
        sums = torch.zeros(len(self._shares), device=self.device, dtype=self.dtype)
        sums = sums.index_add(0, self._observation_of, values.index_select(0, self._terms) * self._signs)
        impossible = self._impossible | (sums == -math.inf)
        # What is more than certain is so by rounding, and has its derivatives anyway.
        capped = torch.where(impossible, FLOOR, sums - sums.detach().clamp(min=0))
        truths = torch.zeros(len(self.axioms), device=self.device, dtype=self.dtype)
        return truths.index_add(0, self._axiom_of, capped * self._shares)
