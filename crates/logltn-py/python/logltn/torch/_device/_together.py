"""A plan on a device of which other processes have other rows."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from ..._plan import ExportedPlan
from .._together import NUMBERS_PER_PART, Step
from ._engine import Engine, Parameters
from ._general import Run, Tables
from ._operators import Settings, State
from ._upload import upload


def _by_part(plan: ExportedPlan) -> ExportedPlan:
    """A plan whose axioms are the summands of the given one's."""
    parts = [{**axiom, "roots": [root]} for axiom in plan.header["axioms"] for root in axiom["roots"]]
    return ExportedPlan({**plan.header, "axioms": parts}, plan.arrays, plan.places)


class SharedEngine(Engine):
    """Runs each summand of an axiom by itself, and puts together what all processes found of those that are sharded.

    In the forward pass nothing is known of the others' rows, so derivatives are always a second pass."""

    def __init__(self, plan: ExportedPlan, device: torch.device, dtype: torch.dtype, **options: Any) -> None:
        axioms = plan.header["axioms"]
        self._sharded = [s for axiom in axioms for s in axiom.get("sharded", [False] * len(axiom["roots"]))]
        self._is_sharded = upload(self._sharded, device)
        self._axiom_of = upload([i for i, axiom in enumerate(axioms) for _ in axiom["roots"]], device)
        super().__init__(_by_part(plan), device, dtype, **{**options, "graphs": False})
        self.names = [axiom["name"] for axiom in axioms]
        self.weights = [axiom["weight"] for axiom in axioms]
        self._weigh()

    def _lay_out(self) -> None:
        super()._lay_out()
        sharded, device = self._sharded, self.device
        taken = self.kernels.taken if self.kernels is not None else {}
        self._roots = [part["nodes"][part["roots"][0]] for part in self.axioms]
        # By quantifier: the parts of which states are merged, and where that is.
        self._merged: dict[str, tuple[list[int], Tensor]] = {}
        for kind in ("forall", "exists"):
            own = [i for i, s in enumerate(sharded) if s and self._roots[i]["kind"] == kind]
            if own:
                self._merged[kind] = own, upload(own, device)
        # What kernels have computed is a value of this many bindings, not a state.
        self._valued = {i for i in taken if sharded[i]}
        counts = [self.blocks.total(i, self._roots[i]["inner"], self.blocks.roots[i]) if i in self._valued else 0 for i in range(len(sharded))]
        self._counts = upload(counts, device, torch.float64)
        self._plain = [i for i in self._general if not sharded[i]]
        self._plain_at = upload(self._plain, device, torch.int64)
        self._stated = [i for i in self._general if sharded[i]]

    def evaluate(
        self,
        numbers: list[Tensor],
        parameters: Parameters,
        gradients: bool,
        by_axiom: Tensor | None = None,
        step: Step | None = None,
    ) -> tuple[Tensor, Tensor, list[Tensor]]:
        assert step is not None
        settings = [self._settings(part, parameters) for part in self.axioms]
        values, numbers = self._begin(numbers, parameters)
        tables = Tables(values, torch.zeros_like(values) if gradients else None)
        run = Run(self, tables, settings)
        self.strata.forward(run, parameters)
        found = torch.zeros(len(self.axioms), device=self.device, dtype=self.dtype)
        if self.kernels is not None:
            found = self.kernels.run(run, None, forward=True, backward=False)
        plain: list[Tensor] = []
        with torch.set_grad_enabled(gradients):
            plain = [run.root(i, self.axioms[i]["roots"][0], None) for i in self._plain]
        if plain:
            found = found.index_copy(0, self._plain_at, torch.stack([value.detach() for value in plain]))
        truths, states, shares = self._exchange(run, found.double(), parameters, step)
        loss, slopes = self._loss(parameters, truths)
        if not gradients:
            return truths, loss, []
        slopes = slopes if by_axiom is None else by_axiom.to(self.dtype)
        slopes = torch.where(slopes.isfinite(), slopes, 0).index_select(0, self._axiom_of)
        # A caller that averages gradients over processes then has the sum of the parts.
        slopes = torch.where(self._is_sharded, slopes * step.group.size, slopes)
        if plain and any(value.requires_grad for value in plain):
            pairs = [(value, slopes[i]) for i, value in zip(self._plain, plain) if value.requires_grad]
            torch.autograd.backward([value for value, _ in pairs], [slope for _, slope in pairs])
        for i in self._stated:
            run.chunks_backward(i, self._roots[i], self.blocks.roots[i], states[i], slopes[i : i + 1])
        if self.kernels is not None:
            self.kernels.run(run, slopes * shares, forward=False, backward=True)
        self.strata.backward(run, parameters)
        return truths, loss, self._numbers_backward(numbers, tables)

    def _exchange(
        self, run: Run, found: Tensor, parameters: Parameters, step: Step
    ) -> tuple[Tensor, dict[int, State], Tensor]:
        """The truths of all axioms, the merged states of parts whose derivatives want them, and how much of each part is this
        process' own."""
        own = torch.zeros(len(self.axioms), NUMBERS_PER_PART, device=self.device, dtype=torch.float64)
        own[:, 0] = found
        lengths: dict[int, int] = {}
        for kind, (parts, at) in self._merged.items():
            aggregator = self.operators.aggregator(kind)
            rows = []
            for i in parts:
                if i in self._valued:
                    value, count = found[i], self._counts[i]
                    some = torch.where(count > 0, count, 1.0)
                    rows.append([value / aggregator.slope(run.settings[i], some), count])
                    continue
                with torch.no_grad():
                    state = run.state(i, self._roots[i], self.blocks.roots[i])
                if state is None:
                    state = aggregator.nothing(own)
                rows.append([x.reshape(()).double() for x in state])
            lengths.update((i, len(row)) for i, row in zip(parts, rows))
            own[at, : len(rows[0])] = torch.stack([torch.stack(row) for row in rows])
        every = step.gather(own, parameters).reshape(step.group.size, *own.shape)
        same = (every[:, :, 0] == every[:1, :, 0]).all(0)
        values = torch.where(same, every[0, :, 0], every[:, :, 0].mean(0))
        shares = torch.ones_like(values)
        states: dict[int, State] = {}
        for kind, (parts, at) in self._merged.items():
            aggregator, s = self.operators.aggregator(kind), self._settings_of(parts, parameters)
            length = lengths[parts[0]]
            ranks = [every[rank].index_select(0, at)[:, :length].unbind(1) for rank in range(step.group.size)]
            merged = ranks[0]
            for other in ranks[1:]:
                both = aggregator.merge(s, merged, other)
                # What has seen nothing changes nothing.
                merged = tuple(
                    torch.where(other[-1] == 0, a, torch.where(merged[-1] == 0, b, x)) for a, b, x in zip(merged, other, both)
                )
            count = merged[-1]
            value = aggregator.value_or(run.empty({"kind": kind}), s, merged)
            values = values.index_copy(0, at, value)
            for place, i in enumerate(parts):
                if i not in self._valued:
                    states[i] = tuple(x[place : place + 1].to(self.dtype) for x in merged)
            if aggregator.linear and self._valued:
                # Kernels take the derivative of what this process has alone.
                own_count = self._counts.index_select(0, at)
                part = aggregator.slope(s, count) / aggregator.slope(s, torch.where(own_count > 0, own_count, 1.0))
                shares = shares.index_copy(0, at, torch.where((count > 0) & (own_count > 0), part, torch.ones_like(count)))
        truths = torch.zeros(len(self.names), device=self.device, dtype=torch.float64).index_add_(0, self._axiom_of, values)
        return truths.to(self.dtype), states, shares.to(self.dtype)

    def _settings_of(self, parts: list[int], parameters: Parameters) -> Settings:
        """The settings of some parts, by part."""
        own = [self._settings(self.axioms[i], parameters) for i in parts]
        row = lambda key: torch.stack([  # noqa: E731
            torch.as_tensor(getattr(s, key), device=self.device, dtype=torch.float64).reshape(()) for s in own
        ])  # fmt: skip
        return Settings(row("alpha"), row("p"), row("p_forall"), self.semantics["stable_eps"])
