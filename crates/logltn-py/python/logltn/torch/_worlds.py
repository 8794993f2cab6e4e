"""Worlds that satisfy the laws, with gradients."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
import torch

from .. import _given, _native
from .._given import AtRows
from .._native import Holds
from .._worlds import ask, numbers, text, valid
from torch.autograd.function import once_differentiable

from ._autograd import _entries
from ._device._upload import upload

# Whether this is inside a transformation of `torch.func`.
_wrapped: Any = torch._C._functorch.is_functorch_wrapped_tensor  # pyright: ignore[reportAttributeAccessIssue]


class _Marginals(torch.autograd.Function):
    """The probabilities of all atoms that laws use, one after the other; or the entropy of all of them."""

    @staticmethod
    def forward(ctx: Any, call: Any, what: str, laws: Any, where: list[Any], *tensors: Any) -> Any:
        native, which, coming = call
        entries, _ = _entries(which, tensors, [False] * len(tensors))
        number, parts = _native.worlds(native, ask(what, laws), entries, coming)
        where.extend((place, np.frombuffer(at, np.int64)) for place, at, _ in parts)
        ctx.call, ctx.what, ctx.laws = call, what, laws
        ctx.save_for_backward(*tensors)
        if what == "entropy":
            return torch.tensor(number, dtype=torch.float64)
        numbers = [np.frombuffer(data) for _, _, data in parts]
        ctx.sizes = [len(part) for part in numbers]
        return torch.from_numpy(np.concatenate(numbers or [np.empty(0)]))

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, by: Any) -> Any:
        native, which, coming = ctx.call
        tensors = ctx.saved_tensors
        entries, _ = _entries(which, tensors, [False] * len(tensors))
        along = None
        if ctx.what != "entropy":
            along = [part.tolist() for part in torch.split(by.detach().double(), ctx.sizes)]
        _, parts = _native.worlds(native, ask("slopes", ctx.laws, along=along), entries, coming)
        gradients: list[Any] = []
        for (place, _), tensor in zip(which, tensors):
            slope = torch.zeros(tensor.numel(), dtype=torch.float64)
            for other, at, data in parts:
                if other == place:
                    slope.index_add_(0, torch.tensor(np.frombuffer(at, np.int64)), torch.tensor(np.frombuffer(data)))
            if along is None:
                slope = slope * by.double()
            gradients.append(slope.reshape(tensor.shape).to(tensor.dtype))
        return None, None, None, None, *gradients


class _LogProbability(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, call: Any, formula: str, laws: Any, *tensors: Any) -> Any:
        native, which, coming = call
        entries, ctx.gradients = _entries(which, tensors, ctx.needs_input_grad[3:])
        ctx.save_for_backward(*tensors)
        found = _native.log_probability(native, formula, ask("", laws)["laws"], entries, coming)
        return torch.tensor(found, dtype=torch.float64)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, by: Any) -> Any:
        gradients = [None if g is None else g * by.to(g.dtype) for g in ctx.gradients]
        return None, None, None, *gradients


class Worlds:
    """The questions that a knowledge base answers about worlds, where values are tensors."""

    _knowledge: Any
    _backend: Any

    def _worlds(self, values: Any, named: Any, batch: Any, sorts: Any, tables: Any) -> Any:
        knowledge, sorts = self._knowledge._with(None, None, sorts)
        if values is not None:
            named = self._together(values, named)  # type: ignore[attr-defined]
        tensors, which, dtype, device = self._read(knowledge, named)  # type: ignore[attr-defined]
        coming = _given.coming(knowledge, batch, sorts, tables)
        names, outputs = list(knowledge._places), knowledge._native.outputs
        given = {names[place]: (place, outputs[place], tensor) for (place, _), tensor in zip(which, tensors)}
        # Looking would wait for a device.
        seen = {name: (kind, tensor.detach().numpy()) for name, (_, kind, tensor) in given.items() if tensor.is_cpu and not _wrapped(tensor)}
        valid(seen)
        return given, (knowledge._native, which, coming), tensors, dtype or torch.float64, device

    def _there(self, call: Any, formula: str | None, laws: Any, tensors: list[torch.Tensor]) -> tuple[Any, list[torch.Tensor]]:
        """What answers where the values are, and these; where that is the CPU engine, none and copies of them there."""
        engine = self._backend.worlds(call, formula, ask("", laws)["laws"], tensors)
        return engine, [tensor.to("cpu" if engine is None else engine.device) for tensor in tensors]

    def marginals(
        self,
        values: Mapping[str, Any] | None = None,
        *,
        laws: Iterable[str] | None = None,
        batch: Mapping[str, Any] | None = None,
        sorts: Mapping[str, Any] | None = None,
        tables: Mapping[str, Any] | None = None,
        **named: Any,
    ) -> dict[str, torch.Tensor]:
        """:meth:`logltn.KnowledgeBase.marginals`, with gradients.

        >>> import torch, logltn.torch
        >>> kb = logltn.torch.KnowledgeBase('''
        ...     sort X  sort Label = {cat, animal}  predicate label(X, Label)
        ...     axiom isa: forall x: X. label(x, cat) -> label(x, animal)
        ... ''', laws=["isa"])
        >>> logits = torch.tensor([[2.0, -1.0]], requires_grad=True)
        >>> p = kb.marginals({"label": logits}, sorts={"X": len(logits)})["label"]
        >>> p.log().sum().backward()
        >>> bool(p[0, 0] < p[0, 1]), logits.grad.shape
        (True, torch.Size([1, 2]))
        """
        given, call, tensors, *_ = self._worlds(values, named, batch, sorts, tables)
        engine, tensors = self._there(call, None, laws, tensors)
        if engine is not None:
            told, _ = engine.marginals(call[1], tensors)
            replaced = lambda told, own: told.to(own.dtype)  # noqa: E731
            found = (engine.join(of, _degrees(kind, here), told, None, replaced) for of, here, (_, kind, _) in zip(call[1], tensors, given.values()))
            return {name: own.to(tensor.device) for (name, (_, _, tensor)), own in zip(given.items(), found)}
        where: list[Any] = []
        told = _Marginals.apply(call, "marginals", laws, where, *tensors)
        parts = torch.split(told, [len(at) for _, at in where])
        out = {}
        for name, (place, kind, tensor) in given.items():
            own = _degrees(kind, tensor)
            flat = own.reshape(-1)
            for (other, at), part in zip(where, parts):
                if other == place and len(at):
                    to = torch.tensor(at, device=tensor.device)
                    flat = flat.index_copy(0, to, part.to(tensor.device, tensor.dtype))
            out[name] = flat.reshape(own.shape)
        return out

    def entropy(
        self,
        values: Mapping[str, Any] | None = None,
        *,
        laws: Iterable[str] | None = None,
        batch: Mapping[str, Any] | None = None,
        sorts: Mapping[str, Any] | None = None,
        tables: Mapping[str, Any] | None = None,
        **named: Any,
    ) -> torch.Tensor:
        """:meth:`logltn.KnowledgeBase.entropy`: a 0-d tensor with gradients."""
        given, call, tensors, dtype, device = self._worlds(values, named, batch, sorts, tables)
        engine, tensors = self._there(call, None, laws, tensors)
        if engine is not None:
            _, total = engine.marginals(call[1], tensors)
            in_laws = engine.in_laws()
            not_in_laws = lambda told, own: torch.where(told, 0.0, own)  # noqa: E731
            for of, here, (_, kind, _) in zip(call[1], tensors, given.values()):
                total = total + engine.join(of, _entropies(kind, here), in_laws, 0, not_in_laws).sum()
            return total.to(device or "cpu", dtype)
        where: list[Any] = []
        total = _Marginals.apply(call, "entropy", laws, where, *tensors).to(device or "cpu", dtype)
        for place, kind, tensor in given.values():
            own = _entropies(kind, tensor)
            free = torch.ones(own.numel(), dtype=torch.bool)
            for other, at in where:
                if other == place:
                    at = at // tensor.shape[-1] if kind == "softmax" else at
                    free[torch.tensor(at)] = False
            total = total + own.reshape(-1)[free.to(own.device)].sum().to(total.device, dtype)
        return total

    def log_probability(
        self,
        values: Mapping[str, Any] | None,
        formula: str,
        *,
        laws: Iterable[str] | None = None,
        batch: Mapping[str, Any] | None = None,
        sorts: Mapping[str, Any] | None = None,
        tables: Mapping[str, Any] | None = None,
        **named: Any,
    ) -> torch.Tensor:
        """:meth:`logltn.KnowledgeBase.log_probability`: a 0-d tensor with gradients."""
        _, call, tensors, dtype, device = self._worlds(values, named, batch, sorts, tables)
        engine, tensors = self._there(call, text(formula), laws, tensors)
        if engine is not None:
            return engine.log_probability(call[1], tensors).to(device or "cpu", dtype)
        return _LogProbability.apply(call, text(formula), laws, *tensors).to(device or "cpu", dtype)

    @torch.no_grad()
    def world(
        self,
        values: Mapping[str, Any] | None = None,
        *,
        laws: Iterable[str] | None = None,
        batch: Mapping[str, Any] | None = None,
        sorts: Mapping[str, Any] | None = None,
        tables: Mapping[str, Any] | None = None,
    ) -> tuple[dict[str, torch.Tensor], torch.Tensor]:
        """:meth:`logltn.KnowledgeBase.world`, as tensors on the device of the values."""
        given, call, tensors, dtype, device = self._worlds(values, {}, batch, sorts, tables)
        engine, tensors = self._there(call, None, laws, tensors)
        if engine is None:
            worlds, number = self._knowledge.world(_arrays(given, call, tensors), laws=laws, batch=batch, sorts=sorts, tables=tables)
            states = {name: torch.from_numpy(world).to(device) for name, world in worlds.items()}
            return states, torch.tensor(float(number), dtype=dtype, device=device)
        told, number = engine.world(call[1], tensors)
        in_laws, out = engine.in_laws(), {}
        for of, here, (name, (_, kind, tensor)) in zip(call[1], tensors, given.items()):
            p = _degrees(kind, here.double())
            likely = (p.amax(-1) if kind == "softmax" else torch.maximum(p, 1 - p)).log()
            number = number + engine.join(of, likely, in_laws, 0, lambda told, own: torch.where(told, 0.0, own)).sum()
            out[name] = engine.join(of, p.argmax(-1) if kind == "softmax" else (p > 0.5).long(), told, 0, _where_told).to(tensor.device)
        return out, number.to(device or "cpu", dtype)

    @torch.no_grad()
    def sample(
        self,
        values: Mapping[str, Any] | None,
        n: int,
        *,
        seed: int = 0,
        laws: Iterable[str] | None = None,
        batch: Mapping[str, Any] | None = None,
        sorts: Mapping[str, Any] | None = None,
        tables: Mapping[str, Any] | None = None,
    ) -> dict[str, torch.Tensor]:
        """:meth:`logltn.KnowledgeBase.sample`, as tensors on the device of the values; the same worlds on every device."""
        numbers(n=n, seed=seed)
        given, call, tensors, _, device = self._worlds(values, {}, batch, sorts, tables)
        engine, tensors = self._there(call, None, laws, tensors)
        if engine is None:
            arrays = _arrays(given, call, tensors)
            worlds = self._knowledge.sample(arrays, n, seed=seed, laws=laws, batch=batch, sorts=sorts, tables=tables)
            return {name: torch.from_numpy(world).to(device) for name, world in worlds.items()}
        told = engine.sample(call[1], tensors, int(n), int(seed))
        random, out = np.random.Generator(np.random.PCG64(int(seed))), {}
        for of, here, (name, (_, kind, tensor)) in zip(call[1], tensors, given.items()):
            p = _degrees(kind, here.double())
            if kind == "softmax":
                below = p.cumsum(-1)
                drawn = upload(random.random((n, *p.shape[:-1], 1)), engine.device) * below[..., -1:]
                last = p.shape[-1] - 1 - (p.flip(-1) > 0).byte().argmax(-1)
                own = torch.minimum((drawn >= below).sum(-1), last)
            else:
                own = (upload(random.random((n, *p.shape)), engine.device) < p).long()
            # The worlds are the last axis of what is told.
            own = engine.join(of, own.movedim(0, -1), told, 0, _where_told).movedim(-1, 0)
            out[name] = own.to(tensor.device)
        return out


def _where_told(told: torch.Tensor, own: torch.Tensor) -> torch.Tensor:
    """The states in a world, where laws speak of them."""
    return torch.where(told < 0, own, told)


def _arrays(given: Any, call: Any, tensors: list[torch.Tensor]) -> dict[str, Any]:
    arrays = (tensor.detach().numpy() for tensor in tensors)
    return {name: AtRows(array) if holds is Holds.ROWS else array for name, (_, holds), array in zip(given, call[1], arrays)}


def _degrees(kind: str, numbers: torch.Tensor) -> torch.Tensor:
    if kind == "softmax":
        return torch.softmax(numbers, -1)
    if kind == "sigmoid":
        return torch.sigmoid(numbers)
    if kind == "truth":
        return numbers.clone()
    p = numbers.exp()
    return torch.where(p > 1, 1.0, p)  # with a slope at 1, which `clamp` has not


def _entropies(kind: str, numbers: torch.Tensor) -> torch.Tensor:
    """Of each variable by itself."""
    if kind == "softmax":
        return -(torch.softmax(numbers, -1) * torch.log_softmax(numbers, -1)).sum(-1)
    if kind == "sigmoid":
        softplus = torch.nn.functional.softplus
        return torch.sigmoid(numbers) * softplus(-numbers) + torch.sigmoid(-numbers) * softplus(numbers)
    p = _degrees(kind, numbers)
    # As steep as can be where something is certain: no slope there, as where laws speak of it.
    certain = (p <= 0) | (p >= 1)
    p = torch.where(certain, 0.5, p)
    return torch.where(certain, 0.0, torch.special.entr(p) + torch.special.entr(1 - p))
