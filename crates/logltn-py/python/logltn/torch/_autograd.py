"""The loss and the axioms as functions that PyTorch can differentiate."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import torch

from .. import _native


class Answered(NamedTuple):
    """A call after its networks have run."""

    asked: Any
    coming: Any
    # By request, its predicate.
    predicates: list[int]

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Answered) and (self.asked.plan, self.coming) == (other.asked.plan, other.coming)

    def __hash__(self) -> int:
        return hash((self.asked.plan, self.coming))


class Call(NamedTuple):
    """The parts of a call besides tensors."""

    # The knowledge base for the call's data.
    knowledge: Any
    native: Any
    # What each tensor is.
    which: list[tuple[int, _native.Holds]]
    alpha: Any
    p: Any
    p_forall: Any
    # Rows, sizes, batches.
    coming: Any
    # Weights of this call, by axiom.
    weights: list[tuple[int, float]] | None = None
    # What the tensors after those of values are: the name of a parameter, or the axiom that one is the weight of.
    extras: tuple[str | int, ...] = ()
    # Sorts and tables as they were given.
    given: tuple[Any, Any] = (None, None)


_CPU = torch.device("cpu")  # whatever the default device is
_DENSE = torch.contiguous_format
# Of these the numbers are where they say.
_PLAIN = (torch.Tensor, torch.nn.Parameter)
# Whether the native part sees at once where that is.
READS_TENSORS = _native.know_torch(*_PLAIN, torch.int64, torch.strided)


def _entries(which: list[tuple[int, _native.Holds]], tensors: Any, needed: Any) -> tuple[list[tuple[Any, ...]], list[Any]]:
    """Values as the native part reads them, in place, and new tensors for the gradients that are needed, which it writes in place.

    Tensors are handed over as they are, if this PyTorch tells the native part about them at once, or as the place of the first of
    numbers that follow each other, their shape, and whether they are double: to make arrays of them takes longer than all else
    here. Whoever calls this keeps them until the native part is done."""
    entries: list[tuple[Any, ...]] = []
    gradients: list[Any] = []
    for (place, holds), tensor, need in zip(which, tensors, needed):
        # Dense, whatever the strides of the values are.
        gradient = torch.empty_like(tensor, memory_format=_DENSE) if need else None
        if READS_TENSORS and type(tensor) in _PLAIN and not tensor.is_neg():
            entries.append((place, holds, tensor, gradient))
            gradients.append(gradient)
            continue
        if tensor.is_contiguous() and type(tensor) in _PLAIN and not tensor.is_neg() and (start := tensor.data_ptr()):
            shape, double = tensor.shape, tensor.dtype is torch.float64
            entries.append((place, holds, (start, shape, double), None if gradient is None else (gradient.data_ptr(), shape, double)))
            gradients.append(gradient)
            continue
        entries.append((place, holds, tensor.numpy(force=True), None if gradient is None else gradient.numpy()))
        gradients.append(gradient)
    return entries, gradients


def _evaluate(
    call: Call, tensors: Any, needed: Any, derivatives: list[float] | None = None, step: Any = None
) -> tuple[Any, list[Any]]:
    numbers = call.alpha, call.p, call.p_forall
    entries, gradients = _entries(call.which, tensors, needed)
    exchange = None if step is None else step.exchange(numbers)
    about = call.coming.asked if type(call.coming) is Answered else call.coming
    evaluated = call.native.evaluate(entries, *numbers, about, True in needed, derivatives, exchange, call.weights)
    return evaluated, gradients


class Loss(torch.autograd.Function):
    """The loss. Its gradient is computed along with it, in one pass, and only where it is needed."""

    @staticmethod
    def forward(ctx: Any, owner: Any, call: Call, dtype: Any, *tensors: Any) -> Any:
        step, count = owner._step, len(call.which)
        evaluated, gradients = _evaluate(call, tensors[:count], ctx.needs_input_grad[3 : 3 + count], None, step)
        owner.__dict__["_last"] = evaluated  # not by `nn.Module.__setattr__`, which takes longer than the engine
        ctx.owner, ctx.call, ctx.step, ctx.gradients, ctx.of_loss = owner, call, step, gradients, True
        ctx.save_for_backward(*tensors)
        return torch.scalar_tensor(evaluated.loss, dtype=dtype, device=_CPU)

    @staticmethod
    def backward(ctx: Any, by_loss: Any) -> Any:
        def values() -> list[Any]:
            # Handed over, not copied: whoever keeps the graph and comes back has them computed again.
            gradients, ctx.gradients = ctx.gradients, None
            if gradients is None:
                count = len(ctx.call.which)
                needed = ctx.needs_input_grad[3 : 3 + count]
                _, gradients = _evaluate(ctx.call, ctx.saved_tensors[:count], needed, None, ctx.step)
            try:
                by = by_loss.item()
            except RuntimeError:  # many at once (`is_grads_batched`)
                return [None if g is None else g * by_loss.to(g.dtype) for g in gradients]
            if by != 1.0:
                for gradient in gradients:
                    if gradient is not None:
                        gradient.mul_(by)
            return gradients

        return None, None, None, *backward(ctx, by_loss, ctx.needs_input_grad[3:], values)


class Axioms(torch.autograd.Function):
    """The truths of all axioms. Their weights are not known yet, so the gradient takes a second pass."""

    @staticmethod
    def forward(ctx: Any, owner: Any, call: Call, dtype: Any, *tensors: Any) -> Any:
        step, count = owner._step, len(call.which)
        evaluated, _ = _evaluate(call, tensors[:count], [False] * count, None, step)
        owner.__dict__["_last"] = evaluated  # not by `nn.Module.__setattr__`, which takes longer than the engine
        ctx.owner, ctx.call, ctx.step, ctx.of_loss = owner, call, step, False
        ctx.save_for_backward(*tensors)
        return torch.tensor(list(evaluated.truths().values()), dtype=dtype, device=_CPU)

    @staticmethod
    def backward(ctx: Any, by_truths: Any) -> Any:
        def values() -> list[Any]:
            count = len(ctx.call.which)
            needed, tensors = ctx.needs_input_grad[3 : 3 + count], ctx.saved_tensors[:count]
            return _evaluate(ctx.call, tensors, needed, by_truths.detach().tolist(), ctx.step)[1]

        return None, None, None, *backward(ctx, by_truths, ctx.needs_input_grad[3:], values)


def backward(ctx: Any, by: Any, needed: Any, values: Callable[[], list[Any]]) -> list[Any]:
    """The derivatives by all tensors of a call: by the values as the engine gives them, by α, p, p_forall and weights through the formula
    itself; through that all of them if they are to be differentiated again, as `create_graph=True` says."""
    count = len(ctx.call.which)
    again = torch.is_grad_enabled()
    if not again and len(needed) == count:
        return values()
    found = [None] * count if again else values()
    wanted = [i for i, need in enumerate(needed) if need and (again or i >= count)]
    found = [*found, *([None] * (len(needed) - count))]
    if wanted:
        tensors = ctx.saved_tensors
        with torch.enable_grad():
            truths, loss = ctx.owner._formula(ctx.call, tensors)
            out = loss if ctx.of_loss else truths
            if out.requires_grad:
                some = torch.autograd.grad(out, [tensors[i] for i in wanted], by.to(out), create_graph=again, allow_unused=True)
                for i, gradient in zip(wanted, some):
                    found[i] = gradient  # type: ignore[call-overload]
        for i in wanted:
            if found[i] is None:
                found[i] = torch.zeros_like(tensors[i])  # type: ignore[call-overload]
    return found
