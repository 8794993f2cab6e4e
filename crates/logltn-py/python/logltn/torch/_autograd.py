"""The loss and the axioms as functions that PyTorch can differentiate."""

from __future__ import annotations

from typing import Any

import torch

# What a call has besides tensors: the knowledge base, what each tensor is, alpha, p, p_forall, and what comes with it.
Call = tuple[Any, list[tuple[int, int]], float, float, float, Any]


def _entries(which: list[tuple[int, int]], tensors: Any, gradients: list[Any]) -> list[tuple[Any, ...]]:
    entries = []
    for (place, kind), tensor, gradient in zip(which, tensors, gradients):
        array, room = tensor.detach().numpy(), None if gradient is None else gradient.numpy()
        if not array.shape:  # no buffer without axes
            kind, array, room = kind + 4, array.reshape(1), None if room is None else room.reshape(1)
        entries.append((place, kind, array, room))
    return entries


def _room(tensors: Any, needed: Any) -> list[Any]:
    # Dense, whatever the strides of the values are.
    return [
        torch.empty(tensor.shape, dtype=tensor.dtype) if need else None for tensor, need in zip(tensors, needed)
    ]


class Loss(torch.autograd.Function):
    """The loss. Its gradient is computed along with it, in one pass, and only where it is needed."""

    @staticmethod
    def forward(ctx: Any, owner: Any, call: Call, dtype: Any, *tensors: Any) -> Any:
        native, which, alpha, p, p_forall, coming = call
        gradients = _room(tensors, ctx.needs_input_grad[3:])
        wanted = any(gradient is not None for gradient in gradients)
        evaluated = native.evaluate(_entries(which, tensors, gradients), alpha, p, p_forall, coming, wanted)
        owner.__dict__["_last"] = evaluated  # not by `nn.Module.__setattr__`, which takes longer than the engine
        ctx.gradients = gradients
        ctx.save_for_backward(*tensors)
        return torch.tensor(evaluated.loss, dtype=dtype)

    @staticmethod
    def backward(ctx: Any, by_loss: Any) -> Any:
        gradients = [None if g is None else g * by_loss.to(g.dtype) for g in ctx.gradients]
        return None, None, None, *_once(ctx, by_loss, gradients)


class Axioms(torch.autograd.Function):
    """The truths of all axioms. What they will be weighed by is not known yet, so their gradient is a second pass."""

    @staticmethod
    def forward(ctx: Any, owner: Any, call: Call, dtype: Any, *tensors: Any) -> Any:
        native, which, alpha, p, p_forall, coming = call
        nothing = [None] * len(tensors)
        evaluated = native.evaluate(_entries(which, tensors, nothing), alpha, p, p_forall, coming, False)
        owner.__dict__["_last"] = evaluated  # not by `nn.Module.__setattr__`, which takes longer than the engine
        ctx.call = call
        ctx.save_for_backward(*tensors)
        return torch.tensor(list(evaluated.truths().values()), dtype=dtype)

    @staticmethod
    def backward(ctx: Any, by_truths: Any) -> Any:
        native, which, alpha, p, p_forall, coming = ctx.call
        tensors = ctx.saved_tensors
        gradients = _room(tensors, ctx.needs_input_grad[3:])
        entries = _entries(which, tensors, gradients)
        native.evaluate(entries, alpha, p, p_forall, coming, True, by_truths.detach().tolist())
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
