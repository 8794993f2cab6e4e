"""The loss and the axioms on a device, as functions that PyTorch can differentiate."""

from __future__ import annotations

from typing import Any

import torch

from .._autograd import _once
from ._engine import Engine, Evaluated
from ._graph import compute


class DeviceLoss(torch.autograd.Function):
    """The loss. Its gradient is computed along with it, and only where it is needed."""

    @staticmethod
    def forward(ctx: Any, owner: Any, engine: Engine, which: Any, parameters: Any, dtype: Any, *tensors: Any) -> Any:
        needed = ctx.needs_input_grad[5:]
        captured = None
        if engine.graphs is not None:
            captured = engine.graphs.find(engine, which, tensors, needed, parameters)
        if captured is not None:
            truths, loss, ctx.gradients = captured(tensors, parameters)
        else:
            truths, loss, ctx.gradients = compute(engine, which, tensors, needed, parameters, owner._step)
        owner.__dict__["_last"] = Evaluated(engine.names, truths)
        ctx.save_for_backward(*tensors)
        return loss.to(dtype)

    @staticmethod
    def backward(ctx: Any, by_loss: Any) -> Any:
        gradients = [None if g is None else g * by_loss.to(g.dtype) for g in ctx.gradients]
        return None, None, None, None, None, *_once(ctx, by_loss, gradients)


class DeviceAxioms(torch.autograd.Function):
    """The truths of all axioms. What they will be weighed by is not known yet, so their gradient is a second pass."""

    @staticmethod
    def forward(ctx: Any, owner: Any, engine: Engine, which: Any, parameters: Any, dtype: Any, *tensors: Any) -> Any:
        truths, _, _ = engine.evaluate(engine.numbers(which, tensors), parameters, False, step=owner._step)
        owner.__dict__["_last"] = Evaluated(engine.names, truths)
        ctx.of = engine, which, parameters, owner._step
        ctx.save_for_backward(*tensors)
        return truths.to(dtype)

    @staticmethod
    def backward(ctx: Any, by_truths: Any) -> Any:
        engine, which, parameters, step = ctx.of
        tensors, needed = ctx.saved_tensors, ctx.needs_input_grad[5:]
        numbers = engine.numbers(which, tensors)
        _, _, by = engine.evaluate(numbers, parameters, True, by_truths.detach(), step)
        gradients = engine.gradients(which, tensors, needed, by)
        return None, None, None, None, None, *_once(ctx, by_truths, gradients)
