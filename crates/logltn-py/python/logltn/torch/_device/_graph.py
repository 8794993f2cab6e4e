"""A call as a CUDA graph. Where the same shapes come again, one launch takes the place of many, and of the Python before each."""

from __future__ import annotations

import threading
from typing import Any

import torch
from torch import Tensor

# This many calls of the same shapes come first: not every plan is used again, and capturing waits for the device once.
FIRST = 2
# Of one plan: the values may come with and without gradients, in one precision or the other.
MOST = 4

# Says whether a tensor is one of many at once, of which there is no list to multiply.
_is_transformed: Any = torch._C._functorch.is_functorch_wrapped_tensor  # pyright: ignore[reportAttributeAccessIssue]

Found = tuple[Tensor, Tensor, list[Any]]  # truths, loss, gradients


def compute(engine: Any, which: Any, tensors: Any, needed: Any, parameters: Any, step: Any = None) -> Found:
    """Truths, loss, and its gradient by the tensors that need one."""
    gradients = any(needed)
    truths, loss, by = engine.evaluate(engine.numbers(which, tensors), parameters, gradients, step=step)
    return truths, loss, engine.gradients(which, tensors, needed, by) if gradients else [None] * len(tensors)


def times(tensors: list[Any], by: Any) -> list[Any]:
    """New tensors, each so many times as large, in one launch."""
    there = [t for t in tensors if t is not None]
    apart = isinstance(by, Tensor) and (_is_transformed(by) or len({t.dtype for t in there}) > 1)
    if apart or not there:
        return [None if t is None else t * by.to(t.dtype) for t in tensors]
    by = by.to(there[0].dtype) if isinstance(by, Tensor) else by
    found = iter(torch._foreach_mul(there, by))  # pyright: ignore[reportPrivateImportUsage]
    return [None if t is None else next(found) for t in tensors]


class _Captured:
    """The launches of a call, with places for what comes in."""

    def __init__(self, engine: Any, which: Any, tensors: Any, needed: Any, parameters: Any) -> None:
        self._lock = threading.Lock()
        self._given: Any = None
        self._tensors = [torch.empty_like(t, memory_format=torch.contiguous_format, requires_grad=False) for t in tensors]
        self._parameters = tuple(torch.empty((), device=engine.device, dtype=engine.dtype) for _ in parameters)
        self._load(tensors, parameters)
        run = lambda: compute(engine, which, self._tensors, needed, self._parameters)  # noqa: E731
        current, stream = torch.cuda.current_stream(engine.device), torch.cuda.Stream(engine.device)
        stream.wait_stream(current)
        with torch.cuda.stream(stream):
            run()  # kernels are compiled for just these tensors
        current.wait_stream(stream)
        self._graph = torch.cuda.CUDAGraph()
        # Other threads, such as those that copy batches, go on meanwhile.
        with torch.cuda.graph(self._graph, stream=stream, capture_error_mode="thread_local"):
            self._found = run()

    def _load(self, tensors: Any, parameters: Any) -> None:
        if tensors:
            torch._foreach_copy_(self._tensors, list(tensors))  # pyright: ignore[reportPrivateImportUsage]
        if any(isinstance(x, Tensor) for x in parameters) or parameters != self._given:
            for own, given in zip(self._parameters, parameters):
                own.copy_(given) if isinstance(given, Tensor) else own.fill_(given)
            self._given = parameters

    def __call__(self, tensors: Any, parameters: Any) -> Found:
        with self._lock:
            self._load(tensors, parameters)
            self._graph.replay()
            # The next replay overwrites them, whoever still waits for these.
            truths, loss, gradients = self._found
            truths, loss, *gradients = times([truths, loss, *gradients], 1.0)
            return truths, loss, gradients


class Graphs:
    """The graphs of an engine."""

    def __init__(self) -> None:
        self._seen: dict[Any, int] = {}
        self._captured: dict[Any, _Captured] = {}
        self._works = True

    def find(self, engine: Any, which: Any, tensors: Any, needed: Any, parameters: Any) -> _Captured | None:
        """The graph of calls such as this one, if there have been some."""
        if not self._works or torch.cuda.is_current_stream_capturing():
            return None
        stream = torch.cuda.current_stream(engine.device).cuda_stream
        key = (stream, tuple(which), tuple(needed), *((t.shape, t.dtype) for t in tensors))
        captured = self._captured.get(key)
        if captured is not None:
            return captured
        seen = self._seen[key] = self._seen.get(key, 0) + 1
        if seen <= FIRST or len(self._captured) >= MOST:
            return None
        try:
            captured = self._captured[key] = _Captured(engine, which, tensors, needed, parameters)
        except RuntimeError:  # of memory, or of something that cannot be captured here: calls stay calls
            self._works = False
        return captured
