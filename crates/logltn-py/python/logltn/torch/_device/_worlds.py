"""Questions about worlds that keep laws, on the device of the values: the same circuits, with other ways up and down."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

from ..._native import Holds
from ._circuits import Circuit, CircuitEngine

# How many numbers worlds that are drawn at once may take.
MOST_NUMBERS = 1 << 23


class _Flows(torch.autograd.Function):
    """How probable it is, given the formula, that a world's way through the circuit goes through each state."""

    @staticmethod
    def forward(ctx: Any, circuit: Circuit, logs: Tensor) -> Tensor:
        values = circuit.up(logs)
        flows, out = circuit.down(logs, values, 1.0)
        ctx.circuit = circuit
        ctx.save_for_backward(logs, values, flows)
        return out

    @staticmethod
    @torch.autograd.function.once_differentiable
    def backward(ctx: Any, by: Tensor) -> Any:
        """The derivative of flows by logs is symmetric, so this is how they change where logs change in the direction `by`."""
        circuit: Circuit = ctx.circuit
        logs, values, flows = ctx.saved_tensors
        up, down, out = torch.zeros_like(values), torch.zeros_like(values), torch.zeros_like(logs)
        for number, level in enumerate(circuit.levels):
            t = (by if number == 0 else up).index_select(0, level.entries)
            if level.is_sum:
                t = t * level.share(values, (logs if number == 0 else values).index_select(0, level.entries))
            up.index_copy_(0, level.nodes, t.new_zeros(level.count, t.shape[1]).index_add_(0, level.segment, t))
        for number, level in reversed(list(enumerate(circuit.levels))):
            whole = lambda x: x.index_select(0, level.nodes).index_select(0, level.segment)  # noqa: B023, E731
            change = whole(down)
            if level.is_sum:
                x, t = ((logs, by) if number == 0 else (values, up))
                share = level.share(values, x.index_select(0, level.entries))
                change = share * (change + whole(flows) * (t.index_select(0, level.entries) - whole(up)))
            (out if number == 0 else down).index_add_(0, level.entries, change)
        return None, out


def _greatest(x: Tensor, segment: Tensor, count: int) -> Tensor:
    start = torch.full((count, *x.shape[1:]), float("-inf"), device=x.device, dtype=x.dtype)
    return start.scatter_reduce(0, segment.reshape(-1, *[1] * (x.dim() - 1)).expand_as(x), x, "amax")


def _first(kept: Tensor, segment: Tensor, count: int) -> Tensor:
    """By segment: the first place that is kept, or how many places there are."""
    places = torch.arange(len(kept), device=kept.device).reshape(-1, *[1] * (kept.dim() - 1))
    start = torch.full((count, *kept.shape[1:]), len(kept), device=kept.device, dtype=torch.int64)
    return start.scatter_reduce(0, segment.reshape(places.shape).expand_as(kept), torch.where(kept, places, len(kept)), "amin")


def _chosen(first: Tensor, segment: Tensor) -> Tensor:
    """By place: whether it is the one that its segment has chosen."""
    places = torch.arange(len(segment), device=segment.device).reshape(-1, *[1] * (first.dim() - 1))
    return first.index_select(0, segment) == places


def _descend(circuit: Circuit, chosen: list[Tensor | None], free: Tensor) -> Tensor:
    """By variable: its state, on the way down where every sum has chosen; where the way passes it by, its free one."""
    reached = torch.zeros(circuit.size, *free.shape[1:], dtype=torch.uint8, device=free.device)
    out = torch.zeros(len(circuit.variables), *free.shape[1:], dtype=torch.uint8, device=free.device)
    reached[circuit.root] = 1
    for number, level in reversed(list(enumerate(circuit.levels))):
        here = reached.index_select(0, level.nodes).index_select(0, level.segment)
        taken = chosen[number]
        if taken is not None:
            here = here * taken
        (out if number == 0 else reached).index_add_(0, level.entries, here)
    first = _first(out > 0, circuit.variables, circuit.domains)
    slots = circuit.slots.reshape(-1, *[1] * (free.dim() - 1))
    return torch.where(first < len(out), first - slots, free)


def _best(circuit: Circuit, logs: Tensor) -> Tensor:
    """By variable and instance: the state in the most probable world; of equally probable ones the first, as the CPU engine has it."""
    variables, domains = circuit.variables, circuit.domains
    top = _greatest(logs, variables, domains)
    first = _first(logs == top.index_select(0, variables), variables, domains)
    free = first - circuit.slots[:, None]
    if circuit.root < 0:
        return free
    # What it costs to be in a state instead of in the likeliest one, and how much earlier it is than that.
    cost = logs - top.index_select(0, variables)
    places = torch.arange(len(variables), device=logs.device)[:, None]
    earlier = (first.index_select(0, variables) - places).double()
    values, preferences = cost.new_zeros(circuit.size, circuit.count), cost.new_zeros(circuit.size, circuit.count)
    chosen: list[Tensor | None] = []
    for number, level in enumerate(circuit.levels):
        x, y = (z.index_select(0, level.entries) for z in ((cost, earlier) if number == 0 else (values, preferences)))
        if level.is_sum:
            best = _greatest(x, level.segment, level.count)
            is_best = x == best.index_select(0, level.segment)
            preferred = _greatest(torch.where(is_best, y, float("-inf")), level.segment, level.count)
            one = _first(is_best & (y == preferred.index_select(0, level.segment)), level.segment, level.count)
            chosen.append(_chosen(one, level.segment))
        else:
            best = x.new_zeros(level.count, circuit.count).index_add_(0, level.segment, x)
            preferred = y.new_zeros(level.count, circuit.count).index_add_(0, level.segment, y)
            chosen.append(None)
        values.index_copy_(0, level.nodes, best)
        preferences.index_copy_(0, level.nodes, preferred)
    return _descend(circuit, chosen, free)


def _signed(x: int) -> int:
    return x - (1 << 64) if x >> 63 else x


def _mixed(x: Tensor) -> Tensor:
    """A step of SplitMix64, as `circuit/evaluate.rs` has it."""
    shifted = lambda z, by: (z >> by) & ((1 << (64 - by)) - 1)  # noqa: E731
    z = x + _signed(0x9E3779B97F4A7C15)
    z = (z ^ shifted(z, 30)) * _signed(0xBF58476D1CE4E5B9)
    z = (z ^ shifted(z, 27)) * _signed(0x94D049BB133111EB)
    return z ^ shifted(z, 31)


class _Draws:
    """What is drawn in some worlds, by instance: the same numbers as on the CPU."""

    def __init__(self, circuit: Circuit, seed: int, worlds: Tensor) -> None:
        key = _mixed(torch.tensor(_signed(seed % (1 << 64)), device=worlds.device))
        self.keys = _mixed(_mixed(key + worlds)[None, :] + circuit.instances[:, None])

    def __call__(self, choices: Tensor) -> Tensor:
        """In [0, 1), by choice, instance and world."""
        z = _mixed(self.keys[None] + choices[:, None, None])
        return ((z >> 11) & ((1 << 53) - 1)).double() / 2.0**53


class _Shares:
    """How segments are cut into their entries, by instance."""

    def __init__(self, logs: Tensor, segment: Tensor, count: int) -> None:
        self.segment, self.count = segment, count
        weights = (logs - _greatest(logs, segment, count).index_select(0, segment)).exp()
        below = weights.cumsum(0)
        places = torch.arange(len(segment), device=logs.device)
        start = torch.full((count,), len(segment), device=logs.device).scatter_reduce(0, segment, places, "amin")
        end = torch.zeros_like(start).scatter_reduce(0, segment, places, "amax")
        self.possible = weights > 0
        self.below = below - (below - weights).index_select(0, start).index_select(0, segment)
        self.total = self.below.index_select(0, end)
        last = torch.where(self.possible, places[:, None], -1).double()
        self.last = _greatest(last, segment, count).long()

    def pick(self, unit: Tensor) -> Tensor:
        """By segment, instance and world: the place of an entry; never one that is impossible."""
        left = unit * self.total[:, :, None]
        kept = (self.below[:, :, None] > left.index_select(0, self.segment)) & self.possible[:, :, None]
        first = _first(kept, self.segment, self.count)
        return torch.where(first < len(self.segment), first, self.last[:, :, None])


def _drawn(circuit: Circuit, logs: Tensor, count: int, seed: int) -> Tensor:
    """By variable, instance and world: a state from the distribution given the formula."""
    of_free = _Shares(logs, circuit.variables, circuit.domains)
    shares: list[_Shares | None] = []
    if circuit.root >= 0:
        values = circuit.up(logs)
        for number, level in enumerate(circuit.levels):
            x = (logs if number == 0 else values).index_select(0, level.entries)
            shares.append(_Shares(x, level.segment, level.count) if level.is_sum else None)
    largest = max([len(circuit.variables), *(len(level.entries) for level in circuit.levels)])
    found, step = [], max(1, MOST_NUMBERS // max(1, largest * circuit.count))
    variables = torch.arange(circuit.domains, device=logs.device)
    for begin in range(0, max(1, count), step):  # one empty part for no worlds
        draws = _Draws(circuit, seed, torch.arange(begin, min(begin + step, count), device=logs.device))
        free = of_free.pick(draws(circuit.size + variables)) - circuit.slots[:, None, None]
        if circuit.root < 0:
            found.append(free)
            continue
        chosen = [
            None if own is None else _chosen(own.pick(draws(level.nodes)), level.segment) for own, level in zip(shares, circuit.levels)
        ]
        found.append(_descend(circuit, chosen, free))
    return torch.cat(found, 2)


class DeviceWorlds(CircuitEngine):
    """A plan of laws alone, or of a formula given them. Values may have gradients."""

    def _own(self, which: list[tuple[int, Holds]], tensors: list[Tensor]) -> Tensor:
        """The logs of all states, row by row; values that are not given are not asked about."""
        numbers = []
        found: dict[int, Tensor] = {}
        for (place, holds), tensor in zip(which, tensors):
            for request, rows in self._targets(place, holds):
                own = tensor.to(self.dtype).reshape(-1, self.requests[request]["width"])
                found[request] = own if rows is None else own.index_select(0, rows)
        for i, request in enumerate(self.requests):
            empty = torch.zeros(request["rows"], request["width"], device=self.device, dtype=self.dtype)
            numbers.append(found.get(i, empty))
        return self.logs(numbers)

    def log_probability(self, which: list[tuple[int, Holds]], tensors: list[Tensor]) -> Tensor:
        """Of the one axiom that is no law."""
        return self._truths_of(self._own(which, tensors).index_select(0, self._states)).sum()

    def marginals(self, which: list[tuple[int, Holds]], tensors: list[Tensor]) -> tuple[Tensor, Tensor]:
        """By state of all rows, its probability given the laws; and the entropy of the atoms that laws speak of."""
        every = self._own(which, tensors)
        logs = every.index_select(0, self._states)
        p, entropy = logs.exp(), logs.new_zeros(())
        for circuit in self._circuits:
            own = circuit.own(logs)
            if circuit.root >= 0:
                flows = _Flows.apply(circuit, own)
                free = 1.0 - flows.new_zeros(circuit.domains, circuit.count).index_add(0, circuit.variables, flows)
                found = flows + free.index_select(0, circuit.variables) * own.exp()
                # What is more than certain is so by rounding, and has its derivatives anyway.
                found = found + (found.detach().clamp(0.0, 1.0) - found.detach())
                p = p.index_copy(0, circuit.states.reshape(-1), found.reshape(-1))
            entropy = entropy + circuit(logs).sum()
        entropy = entropy - (p * logs).sum()
        return every.exp().index_copy(0, self._states, p), entropy

    def world(self, which: list[tuple[int, Holds]], tensors: list[Tensor]) -> tuple[Tensor, Tensor]:
        """By first state of each variable, the state in the most probable world, −1 where laws do not speak of it; and the log of its
        probability given the laws."""
        logs = self._own(which, tensors).index_select(0, self._states)
        number = logs.new_zeros(())

        def states(circuit: Circuit) -> Tensor:
            nonlocal number
            own = circuit.own(logs)
            best = _best(circuit, own)
            of_best = own.gather(0, best + circuit.slots[:, None]).sum(0)
            number = number + (of_best - circuit(logs)).clamp(max=0.0).sum()
            return best

        return self._told((), states), number

    def sample(self, which: list[tuple[int, Holds]], tensors: list[Tensor], count: int, seed: int) -> Tensor:
        """The same of worlds drawn at random, which are the last axis."""
        logs = self._own(which, tensors).index_select(0, self._states)
        return self._told((count,), lambda circuit: _drawn(circuit, circuit.own(logs), count, seed))

    def in_laws(self) -> Tensor:
        """By state of all rows: whether laws speak of it."""
        return torch.zeros(self.state_count, dtype=torch.bool, device=self.device).index_fill(0, self._states, True)

    def _told(self, more: tuple[int, ...], states: Callable[[Circuit], Tensor]) -> Tensor:
        out = torch.full((self.state_count, *more), -1, dtype=torch.int64, device=self.device)
        for circuit in self._circuits:
            first = self._states.index_select(0, circuit.states.index_select(0, circuit.slots).reshape(-1))
            out.index_copy_(0, first, states(circuit).reshape(-1, *more))
        return out

    def join(self, which: tuple[int, Holds], own: Tensor, told: Tensor, state: int | None, join: Callable[[Tensor, Tensor], Tensor]) -> Tensor:
        """What is said of a predicate: of each row that there is a request for, what `join` makes of what is told, by state of all rows, and
        of what was said. Told is one state of each variable; without it all classes of a softmax, and of others being true."""
        shape, more = own.shape, told.shape[1:]
        for request, rows in self._targets(*which):
            of, start = self.requests[request], self.starts[request]
            is_softmax = of["output"] == "softmax"
            variables, states = (1, of["width"]) if is_softmax else (of["width"], 2)
            part = told[start : start + of["rows"] * variables * states].reshape(of["rows"], variables, states, *more)
            part = part[:, 0] if state is None and is_softmax else part[:, :, 1 if state is None else state]
            own = own.reshape(-1, *part.shape[1:])
            new = join(part, own if rows is None else own.index_select(0, rows))
            own = new if rows is None else own.index_copy(0, rows, new)
        return own.reshape(shape)
