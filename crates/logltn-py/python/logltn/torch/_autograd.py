"""The loss and the axioms as functions that PyTorch can differentiate."""

from __future__ import annotations

from typing import Any

import torch

from .. import _native

# What a call has besides tensors: the knowledge base, what each tensor is, alpha, p, p_forall, and what comes with it.
Call = tuple[Any, list[tuple[int, int]], float, float, float, Any]


_CPU = torch.device("cpu")  # whatever the default device is
_DENSE = torch.contiguous_format
# Of these the numbers are where they say.
_PLAIN = (torch.Tensor, torch.nn.Parameter)
# Whether the native part sees at once where that is.
READS_TENSORS = _native.know_torch(*_PLAIN, torch.int64, torch.strided)


def _entries(which: list[tuple[int, int]], tensors: Any, needed: Any) -> tuple[list[tuple[Any, ...]], list[Any]]:
    """Values as the native part reads them, in place, and new tensors for the gradients that are needed, which it writes in place.

    Tensors are handed over as they are, if this PyTorch tells the native part about them at once, or as the place of the first of
    numbers that follow each other, their shape, and whether they are double: to make arrays of them takes longer than all else
    here. Whoever calls this keeps them until the native part is done."""
    entries: list[tuple[Any, ...]] = []
    gradients: list[Any] = []
    for (place, kind), tensor, need in zip(which, tensors, needed):
        # Dense, whatever the strides of the values are.
        gradient = torch.empty_like(tensor, memory_format=_DENSE) if need else None
        if READS_TENSORS and type(tensor) in _PLAIN and not tensor.is_neg():
            entries.append((place, kind, tensor, gradient))
            gradients.append(gradient)
            continue
        if tensor.is_contiguous() and type(tensor) in _PLAIN and not tensor.is_neg() and (start := tensor.data_ptr()):
            shape, double = tensor.shape, tensor.dtype is torch.float64
            entries.append((place, kind, (start, shape, double), None if gradient is None else (gradient.data_ptr(), shape, double)))
            gradients.append(gradient)
            continue
        array = tensor.numpy(force=True)
        room = None if gradient is None else gradient.numpy()
        if not array.shape:  # no buffer without axes
            kind, array, room = kind + 4, array.reshape(1), None if room is None else room.reshape(1)
        entries.append((place, kind, array, room))
        gradients.append(gradient)
    return entries, gradients


def _evaluate(
    call: Call, tensors: Any, needed: Any, derivatives: list[float] | None = None, step: Any = None
) -> tuple[Any, list[Any]]:
    native, which, alpha, p, p_forall, coming = call
    entries, gradients = _entries(which, tensors, needed)
    exchange = None if step is None else step.exchange((alpha, p, p_forall))
    return native.evaluate(entries, alpha, p, p_forall, coming, True in needed, derivatives, exchange), gradients


class Loss(torch.autograd.Function):
    """The loss. Its gradient is computed along with it, in one pass, and only where it is needed."""

    @staticmethod
    def forward(ctx: Any, owner: Any, call: Call, dtype: Any, *tensors: Any) -> Any:
        step = owner._step
        evaluated, gradients = _evaluate(call, tensors, ctx.needs_input_grad[3:], None, step)
        owner.__dict__["_last"] = evaluated  # not by `nn.Module.__setattr__`, which takes longer than the engine
        ctx.call, ctx.step, ctx.gradients = call, step, gradients
        ctx.save_for_backward(*tensors)
        return torch.scalar_tensor(evaluated.loss, dtype=dtype, device=_CPU)

    @staticmethod
    def backward(ctx: Any, by_loss: Any) -> Any:
        # Handed over, not copied: whoever keeps the graph and comes back has them computed again.
        gradients, ctx.gradients = ctx.gradients, None
        if gradients is None:
            _, gradients = _evaluate(ctx.call, ctx.saved_tensors, ctx.needs_input_grad[3:], None, ctx.step)
        try:
            by = by_loss.item()
        except RuntimeError:  # many at once (`is_grads_batched`)
            gradients = [None if g is None else g * by_loss.to(g.dtype) for g in gradients]
        else:
            if by != 1.0:
                for gradient in gradients:
                    if gradient is not None:
                        gradient.mul_(by)
        return None, None, None, *_once(ctx, by_loss, gradients)


class Axioms(torch.autograd.Function):
    """The truths of all axioms. What they will be weighed by is not known yet, so their gradient is a second pass."""

    @staticmethod
    def forward(ctx: Any, owner: Any, call: Call, dtype: Any, *tensors: Any) -> Any:
        step = owner._step
        evaluated, _ = _evaluate(call, tensors, [False] * len(tensors), None, step)
        owner.__dict__["_last"] = evaluated  # not by `nn.Module.__setattr__`, which takes longer than the engine
        ctx.call, ctx.step = call, step
        ctx.save_for_backward(*tensors)
        return torch.tensor(list(evaluated.truths().values()), dtype=dtype, device=_CPU)

    @staticmethod
    def backward(ctx: Any, by_truths: Any) -> Any:
        needed = ctx.needs_input_grad[3:]
        _, gradients = _evaluate(ctx.call, ctx.saved_tensors, needed, by_truths.detach().tolist(), ctx.step)
        return None, None, None, *_once(ctx, by_truths, gradients)


class _Once(torch.autograd.Function):
    """Hands gradients on, which depend on the values and on what was given, but not their derivatives."""

    @staticmethod
    def forward(ctx: Any, count: int, *tensors: Any) -> Any:
        return tuple(gradient.clone() for gradient in tensors[:count])

    @staticmethod
    def backward(ctx: Any, *_: Any) -> Any:
        raise RuntimeError(
            "logltn has no second derivatives: a gradient of its loss or its axioms cannot be differentiated again"
        )


def _once(ctx: Any, by: Any, gradients: list[Any]) -> list[Any]:
    # Only whoever said `create_graph=True` can come back for more.
    if not torch.is_grad_enabled():
        return gradients
    known = [g for g in gradients if g is not None]
    handed = iter(_Once.apply(len(known), *known, by, *ctx.saved_tensors))
    return [None if g is None else next(handed) for g in gradients]
