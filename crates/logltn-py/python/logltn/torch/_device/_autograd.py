"""The loss and the axioms on a device, as functions that PyTorch can differentiate."""

from __future__ import annotations

from typing import Any

import torch

from .._autograd import backward
from ._engine import Engine, Evaluated
from ._graph import compute, times


class DeviceLoss(torch.autograd.Function):
    """The loss. Its gradient is computed along with it, and only where it is needed."""

    @staticmethod
    def forward(ctx: Any, owner: Any, engine: Engine, call: Any, parameters: Any, dtype: Any, *tensors: Any) -> Any:
        which, step = call.which, owner._step
        values, needed = tensors[: len(which)], ctx.needs_input_grad[5 : 5 + len(which)]
        captured = None
        if engine.graphs is not None:
            captured = engine.graphs.find(engine, which, values, needed, parameters)
        if captured is not None:
            truths, loss, ctx.gradients = captured(values, parameters)
        else:
            truths, loss, ctx.gradients = compute(engine, which, values, needed, parameters, step)
        owner.__dict__["_last"] = Evaluated(engine.names, truths)
        ctx.owner, ctx.call, ctx.of_loss = owner, call, True
        ctx.save_for_backward(*tensors)
        return loss.to(dtype)

    @staticmethod
    def backward(ctx: Any, by_loss: Any) -> Any:
        return None, None, None, None, None, *backward(ctx, by_loss, ctx.needs_input_grad[5:], lambda: times(ctx.gradients, by_loss))


class DeviceAxioms(torch.autograd.Function):
    """The truths of all axioms. Their weights are not known yet, so the gradient takes a second pass."""

    @staticmethod
    def forward(ctx: Any, owner: Any, engine: Engine, call: Any, parameters: Any, dtype: Any, *tensors: Any) -> Any:
        which = call.which
        values = tensors[: len(which)]
        truths, _, _ = engine.evaluate(engine.numbers(which, values), parameters, False, step=owner._step)
        owner.__dict__["_last"] = Evaluated(engine.names, truths)
        ctx.of = engine, parameters, owner._step
        ctx.owner, ctx.call, ctx.of_loss = owner, call, False
        ctx.save_for_backward(*tensors)
        return truths.to(dtype)

    @staticmethod
    def backward(ctx: Any, by_truths: Any) -> Any:
        def values() -> list[Any]:
            engine, parameters, step = ctx.of
            which = ctx.call.which
            tensors, needed = ctx.saved_tensors[: len(which)], ctx.needs_input_grad[5 : 5 + len(which)]
            _, _, by = engine.evaluate(engine.numbers(which, tensors), parameters, True, by_truths.detach(), step)
            return engine.gradients(which, tensors, needed, by)

        return None, None, None, None, None, *backward(ctx, by_truths, ctx.needs_input_grad[5:], values)
