"""Which device a call runs on, and the plans that are there."""

from __future__ import annotations

from collections import OrderedDict
from typing import Any

import torch

from ... import _native
from ..._given import Problems
from ..._plan import exported
from ._autograd import DeviceAxioms, DeviceLoss
from ._engine import Engine

# "torch": by torch operations wherever the values are, for tests.
BACKENDS = ("auto", "cpu", "cuda", "torch")
# How many plans are kept: one for each batch, or for what came with a call.
MOST_PLANS = 16


class Backend:
    """Runs calls of a knowledge base elsewhere than in its CPU engine."""

    def __init__(self, name: Any, double: bool, options: dict[str, Any] | None = None, shared: bool = False) -> None:
        self.name, self._dtype, self.shared = name, torch.float64 if double else torch.float32, shared
        self._plans: OrderedDict[Any, Engine] = OrderedDict()
        self.options = options or {}

    @staticmethod
    def check(name: Any, problems: Problems) -> None:
        if name not in BACKENDS:
            problems.append(("unknown-choice", f'`backend` is "auto", "cpu" or "cuda", not {name!r}', None))
        elif name == "cuda" and not torch.cuda.is_available():
            problems.append(("unknown-choice", '`backend="cuda"`, but PyTorch finds no CUDA device here', 'use "auto" or "cpu"'))

    def __deepcopy__(self, memo: Any) -> Backend:
        return Backend(*self.__getstate__())

    def __getstate__(self) -> Any:
        return self.name, self._dtype is torch.float64, self.options, self.shared

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

    def engine(self, native: Any, which: list[tuple[int, int]], coming: Any, device: torch.device) -> Engine:
        """The plan of a call on a device."""
        by_rows = any(kind != 0 for _, kind in which)
        key = (str(device), by_rows, coming)
        known = self._plans.get(key)
        if known is not None:
            self._plans.move_to_end(key)
            return known
        engine = self._engine()(exported(native, coming, by_rows), device, self._dtype, **self.options)
        self._plans[key] = engine
        if len(self._plans) > MOST_PLANS:
            self._plans.popitem(last=False)
        return engine

    def _engine(self) -> type[Engine]:
        if not self.shared:
            return Engine
        from ._together import SharedEngine

        return SharedEngine

    def loss(self, owner: Any, call: Any, dtype: Any, tensors: list[torch.Tensor], device: Any, check: bool) -> torch.Tensor:
        return self._apply(DeviceLoss, owner, call, dtype, tensors, device, check)

    def axioms(self, owner: Any, call: Any, dtype: Any, tensors: list[torch.Tensor], device: Any, check: bool) -> torch.Tensor:
        return self._apply(DeviceAxioms, owner, call, dtype, tensors, device, check)

    def _apply(self, function: Any, owner: Any, call: Any, dtype: Any, tensors: Any, device: Any, check: bool) -> torch.Tensor:
        native, which, alpha, p, p_forall, coming = call
        tensors = [t.to(device) for t in tensors]
        parameters = tuple(_parameter(n, x, device, self._dtype) for n, x in (("alpha", alpha), ("p", p), ("p_forall", p_forall)))
        engine = self.engine(native, which, coming, device)
        shapes = tuple((place, kind, tuple(t.shape)) for (place, kind), t in zip(which, tensors))
        if shapes not in engine.fitting:
            native.check_shapes([(place, kind, list(shape)) for place, kind, shape in shapes], coming)
            engine.fitting.add(shapes)
        if check:
            self._look(native, which, tensors, coming)
        return function.apply(owner, engine, which, parameters, dtype, *tensors)

    @staticmethod
    def _look(native: Any, which: Any, tensors: Any, coming: Any) -> None:
        """Raises what is wrong with numbers, which means waiting for them."""
        entries = []
        for (place, kind), tensor in zip(which, tensors):
            array = tensor.detach().cpu().numpy()
            entries.append((place, kind, array, None) if array.shape else (place, kind + 4, array.reshape(1), None))
        native.evaluate(entries, 1.0, 2.0, 2.0, coming, False)


def _parameter(name: str, given: Any, device: torch.device, dtype: torch.dtype) -> Any:
    if isinstance(given, torch.Tensor):
        return given.detach().to(device, dtype).reshape(())
    least = 1.0 if name == "p_forall" else 1e-3
    if not least <= given <= 1e6:
        shown = "0.001" if least < 1 else "1"
        _native.raise_problems([("value-out-of-range", f"`{name}` must be between {shown} and 1000000, not {given}", None)])
    return float(given)
