"""Functions that `torch.compile` leaves alone: a call to the engine is always a graph break."""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable
from typing import Any, TypeVar

import torch

Method = TypeVar("Method", bound=Callable[..., Any])


def eagerly(method: Method) -> Method:
    """A method that runs uncompiled, with everything that it calls, even if its caller is compiled.

    PyTorch's own `torch.compiler.disable` imports all of its compiler, which takes seconds: so it is asked only where that is there.
    """
    disabled: Any = None

    @functools.wraps(method)
    def run(*arguments: Any, **named: Any) -> Any:
        nonlocal disabled
        if "torch._dynamo" not in sys.modules:
            return method(*arguments, **named)
        if disabled is None:
            disabled = torch.compiler.disable(method)
        return disabled(*arguments, **named)

    run._torchdynamo_disable = True  # type: ignore[attr-defined]
    return run  # type: ignore[return-value]
