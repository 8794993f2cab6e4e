"""Which device a call runs on, and the plans that are there."""

from __future__ import annotations

from collections import OrderedDict
from typing import Any

import torch

from ... import _native
from ..._given import Problems
from ..._native import Holds
from ... import _plan as plans
from .._autograd import Answered
from ._engine import Engine
from ._rule import History, cpu_is_quicker

# "torch": by torch operations wherever the values are, for tests.
BACKENDS = ("auto", "cpu", "cuda", "torch")
# How many plans are kept: one for each batch, or for what came with a call; and of those of which calls choose rows.
MOST_PLANS = 16
MOST_WHOLES = 6


def native_about(about: Any) -> Any:
    """What a call is about, for the native part: which rows networks were asked about matters if it was those of a plan for more calls
    than one."""
    if not isinstance(about, Answered):
        return about
    return about.coming if about.asked.plan is None else about.asked


def is_capturing(device: torch.device) -> bool:
    """Whether somebody captures a CUDA graph, where nothing may be waited for."""
    return device.type == "cuda" and torch.cuda.is_current_stream_capturing()


def _keep(kept: OrderedDict[Any, Any], key: Any, engine: Any, most: int) -> None:
    kept[key] = engine
    if len(kept) > most:
        kept.popitem(last=False)


class Backend:
    """Runs calls of a knowledge base elsewhere than in its CPU engine."""

    def __init__(self, name: Any, double: bool | None, options: dict[str, Any] | None = None, shared: bool = False) -> None:
        self.name, self._double, self.shared = name, double, shared
        self._plans: OrderedDict[Any, Engine] = OrderedDict()
        self._wholes: OrderedDict[Any, Engine] = OrderedDict()
        # What answers questions about worlds; none where that is the CPU engine.
        self._worlds: OrderedDict[Any, Any] = OrderedDict()
        # By device: what is known of plans of single calls, which resemble each other.
        self._alone: dict[str, History] = {}
        self.options = options or {}

    @staticmethod
    def check(name: Any, problems: Problems) -> None:
        if not isinstance(name, str) or name not in BACKENDS:
            problems.append(("unknown-choice", f'`backend` is "auto", "cpu" or "cuda", not {name!r}', None))
        elif name == "cuda" and not torch.cuda.is_available():
            problems.append(("unknown-choice", '`backend="cuda"`, but PyTorch finds no CUDA device here', 'use "auto" or "cpu"'))

    def __deepcopy__(self, memo: Any) -> Backend:
        return Backend(*self.__getstate__())

    def __getstate__(self) -> Any:
        return self.name, self._double, self.options, self.shared

    def __setstate__(self, state: Any) -> None:
        self.__init__(*state)  # type: ignore[misc]

    def device(self, tensors: list[torch.Tensor]) -> torch.device | None:
        """Where a call with these values runs; none if that is the CPU engine."""
        if self.name == "cpu":
            return None
        if self.name == "torch":
            return next((t.device for t in tensors), torch.device("cpu"))
        for tensor in tensors:
            if tensor.is_cuda:
                return tensor.device
        return torch.device("cuda", torch.cuda.current_device()) if self.name == "cuda" else None

    def _precision(self, tensors: list[torch.Tensor]) -> torch.dtype:
        """What to compute in: as the knowledge base was told, or as precisely as the values are."""
        double = any(t.dtype is torch.float64 for t in tensors) if self._double is None else self._double
        return torch.float64 if double else torch.float32

    def find(self, call: Any, device: torch.device, tensors: list[torch.Tensor], stays: bool = False) -> Engine | None:
        """The plan of a call on a device; none if the call is better left to the CPU engine, unless it is to stay."""
        native, which, about = call.native, call.which, call.coming
        by_rows = any(holds is Holds.REQUEST or holds is Holds.ROWS and not native.settled[place] for place, holds in which)
        dtype, numbers = self._precision(tensors), sum(t.numel() for t in tensors)
        key = (native, str(device), dtype, by_rows, about)
        engine = self._plans.get(key)
        if engine is not None:
            self._plans.move_to_end(key)
            return None if not stays and self._leaves(engine.history, engine.bindings, numbers, device, False) else engine
        if is_capturing(device):
            raise RuntimeError(
                "a CUDA graph can capture a call of logltn after the same call has been on the device once: "
                'make that call first, with a knowledge base that has `backend="cuda"`'
            )
        # Which circuits there are depends on the rows.
        chosen = None if native.exact else plans.chosen(native, native_about(about), by_rows)
        if chosen is None:
            alone = self._alone.get(str(device)) if about is not None else None
            if alone is not None and not stays and self._leaves(alone, alone.bindings, numbers, device, True):
                return None
            engine = self._engine(native.exact)(plans.exported(native, native_about(about), by_rows), device, dtype, **self.options)
            if about is not None:
                self._alone[str(device)] = engine.follow(alone)
        else:
            plan, rows = chosen
            whole = self._whole(native, plan, device, dtype)
            bindings = whole.blocks.about(rows.components)
            if not stays and self._leaves(whole.history, bindings, numbers, device, True):
                return None
            engine = whole.choosing(rows)
            engine.bindings = bindings
        _keep(self._plans, key, engine, MOST_PLANS)
        return engine

    def worlds(self, call: Any, formula: str | None, laws: list[str] | None, tensors: list[torch.Tensor]) -> Any:
        """What answers a question about worlds where the values are; none if that is the CPU engine."""
        native, which, coming = call
        device = self.device(tensors)
        if device is None:
            return None
        values = [(place, holds, list(tensor.shape)) for (place, holds), tensor in zip(which, tensors)]
        key = (native, str(device), formula, coming, str(values), None if laws is None else tuple(laws))
        if key not in self._worlds:
            from ._worlds import DeviceWorlds

            # The CPU engine knows certain degrees, and the most probable world where there is no circuit.
            plan = plans.of_worlds(native, formula, laws, values, coming)
            engine = None
            if plan is not None and all(r["output"] in ("softmax", "sigmoid") for r in plan.header["requests"]):
                engine = DeviceWorlds(plan, device, torch.float64)
            _keep(self._worlds, key, engine, MOST_PLANS)
        self._worlds.move_to_end(key)
        return self._worlds[key]

    def _whole(self, native: Any, plan: Any, device: torch.device, dtype: torch.dtype) -> Engine:
        """A plan of which calls choose rows."""
        key = (str(device), dtype, plan)
        whole = self._wholes.get(key)
        if whole is None:
            whole = self._engine()(plans.kept(native, plan), device, dtype, chooses=True, **self.options)
            _keep(self._wholes, key, whole, MOST_WHOLES)
        self._wholes.move_to_end(key)
        return whole

    def _leaves(self, history: History, bindings: float, numbers: int, device: torch.device, new: bool) -> bool:
        """Whether the device is left to others. Never where somebody captures a CUDA graph, nor in the first call of a plan, so that one
        can be captured after that; nor with other processes, which would have to do the same."""
        if self.name != "auto" or self.shared or history.calls == 0 or is_capturing(device):
            return False
        return cpu_is_quicker(history, bindings, numbers, new)

    def _engine(self, exact: bool = False) -> type[Engine]:
        if exact:
            from ._circuits import CircuitEngine

            return CircuitEngine
        if not self.shared:
            return Engine
        from ._together import SharedEngine

        return SharedEngine

    def run(self, function: Any, owner: Any, engine: Engine, call: Any, dtype: Any, tensors: Any, check: bool) -> torch.Tensor:
        """The loss or the axioms, on the engine's device."""
        native, which, about = call.native, call.which, call.coming
        device = engine.device
        tensors, extras = [t if t.device == device else t.to(device) for t in tensors[: len(which)]], tensors[len(which) :]
        scalars = (("alpha", call.alpha), ("p", call.p), ("p_forall", call.p_forall))
        parameters = tuple(_parameter(n, x, device, engine.dtype) for n, x in scalars)
        engine.history.calls += 1
        if call.weights is not None:
            engine = engine.weighing(call.weights)
        shapes = tuple((place, holds, tuple(t.shape)) for (place, holds), t in zip(which, tensors))
        if shapes not in engine.fitting:
            given = [(place, holds, list(shape)) for place, holds, shape in shapes]
            _native.check_shapes(native, given, native_about(about))
            engine.fitting.add(shapes)
        if check:
            self._look(native, which, tensors, native_about(about))
        return function.apply(owner, engine, call, parameters, dtype, *tensors, *extras)

    @staticmethod
    def _look(native: Any, which: Any, tensors: Any, about: Any) -> None:
        """Raises what is wrong with numbers, which means waiting for them."""
        entries = [(place, holds, tensor.detach().cpu().numpy(), None) for (place, holds), tensor in zip(which, tensors)]
        native.evaluate(entries, 1.0, 2.0, 2.0, about, False)


def _parameter(name: str, given: Any, device: torch.device, dtype: torch.dtype) -> Any:
    if isinstance(given, torch.Tensor):
        return given.detach().to(device, dtype).reshape(())
    least = 1.0 if name == "p_forall" else 1e-3
    if not least <= given <= 1e6:
        shown = "0.001" if least < 1 else "1"
        _native.raise_problems([("value-out-of-range", f"`{name}` must be between {shown} and 1000000, not {given}", None)])
    return float(given)
