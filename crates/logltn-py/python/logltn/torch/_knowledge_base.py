"""A knowledge base for PyTorch."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import torch

from .. import _given, _native
from .._given import AtRows, Problems
from .._knowledge_base import KnowledgeBase as _KnowledgeBase
from .._knowledge_base import Evaluation, _parameters
from .._theory import Theory
from ._autograd import Axioms, Loss

_HALF = (torch.float16, torch.bfloat16)


class KnowledgeBase(torch.nn.Module):
    """A theory, its data, and your networks.

    Run the networks as you do now and hand over their outputs:

    >>> import torch, logltn.torch
    >>> kb = logltn.torch.KnowledgeBase('''
    ...     sort Image
    ...     sort Digit = 0..9
    ...     table sums(x: Image, y: Image, n: Int)
    ...     predicate digit(Image, Digit)
    ...     axiom addition: forall (x, y, n) in sums.
    ...         exists a, b: Digit where a + b = n. digit(x, a) and digit(y, b)
    ... ''', outputs={"digit": "softmax"}, streamed=["sums"])
    >>> logits = torch.zeros(4, 10, requires_grad=True)
    >>> loss = kb.loss(digit=logits, alpha=2.0, sorts={"Image": 4}, tables={"sums": {"x": [0, 2], "y": [1, 3], "n": [7, 12]}})
    >>> loss.backward()
    >>> round(loss.item(), 4), logits.grad.shape
    (4.6052, torch.Size([4, 10]))

    Takes every argument of :class:`logltn.KnowledgeBase`.
    """

    def __init__(self, theory: Theory | str, **arguments: Any) -> None:
        super().__init__()
        self._knowledge = _KnowledgeBase(theory, **arguments)
        self._last: Any = None

    @property
    def theory(self) -> Theory:
        """The theory."""
        return self._knowledge.theory

    def loss(
        self,
        values: Mapping[str, Any] | None = None,
        *,
        alpha: float = 1.0,
        p: float = 2.0,
        p_forall: float = 2.0,
        batch: Mapping[str, Any] | None = None,
        sorts: Mapping[str, Any] | None = None,
        tables: Mapping[str, Any] | None = None,
        **named: Any,
    ) -> torch.Tensor:
        """The loss: a 0-d tensor on the device and in the dtype of the values, with gradients to each of them.

        Values go by name, or as ``values``: a tensor for each predicate with an axis for each argument, or
        :class:`logltn.AtRows` of one. Those of half precision are computed with, and give a loss, in float32, as PyTorch's own
        losses do under ``autocast``.
        """
        tensors, call, dtype, device = self._call(values, named, alpha, p, p_forall, batch, sorts, tables)
        loss = Loss.apply(self, call, dtype, *tensors)
        return loss if device is None else loss.to(device)

    def axioms(
        self,
        values: Mapping[str, Any] | None = None,
        *,
        alpha: float = 1.0,
        p: float = 2.0,
        p_forall: float = 2.0,
        batch: Mapping[str, Any] | None = None,
        sorts: Mapping[str, Any] | None = None,
        tables: Mapping[str, Any] | None = None,
        **named: Any,
    ) -> dict[str, torch.Tensor]:
        """The truth of each axiom, as 0-d tensors with gradients: for whoever weighs axioms themselves."""
        tensors, call, dtype, device = self._call(values, named, alpha, p, p_forall, batch, sorts, tables)
        truths = Axioms.apply(self, call, dtype, *tensors)
        if device is not None:
            truths = truths.to(device)
        return dict(zip(self._knowledge._native.axiom_names, truths.unbind()))

    # A graph break is all that `torch.compile` can make of these.
    loss._torchdynamo_disable = True  # type: ignore[attr-defined]
    axioms._torchdynamo_disable = True  # type: ignore[attr-defined]

    @property
    def truths(self) -> dict[str, float]:
        """The truth of each axiom in the last call, as numbers."""
        return {} if self._last is None else self._last.truths()

    def _call(
        self, values: Any, named: dict[str, Any], alpha: Any, p: Any, p_forall: Any, batch: Any, sorts: Any, tables: Any
    ) -> tuple[list[torch.Tensor], Any, torch.dtype, torch.device | None]:
        knowledge = self._knowledge
        if values is not None:
            named = self._together(values, named)
        places = knowledge._places
        problems: Problems = []
        tensors: list[torch.Tensor] = []
        which: list[tuple[int, int]] = []
        dtype: torch.dtype | None = None
        device: torch.device | None = None
        for name, value in named.items():
            kind = 0
            if isinstance(value, AtRows):
                kind, value = 1, value.values
            if not isinstance(value, torch.Tensor):
                value = self._tensor(name, value, problems)
                if value is None:
                    continue
            if name not in places:
                help = _native.did_you_mean(name, list(places))
                problems.append(("unknown-predicate", f"the theory has no predicate `{name}`", help))
                continue
            if value.dtype in _HALF:
                value = value.float()
            elif value.dtype is not torch.float32 and value.dtype is not torch.float64:
                help = "convert them, for example with `.float()`"
                message = f"the values of predicate `{name}` are {value.dtype}, not float32 or float64"
                problems.append(("unsupported-elements", message, help))
                continue
            if not value.is_cpu:
                device = value.device
                value = value.cpu()
            dtype = value.dtype if dtype is None or dtype is value.dtype else torch.float64
            tensors.append(value)
            which.append((places[name], kind))
        if problems:
            _native.raise_problems(problems)
        coming = _given.coming(knowledge.theory, batch, sorts, tables)
        if type(alpha) is not float or type(p) is not float or type(p_forall) is not float:
            alpha, p, p_forall = _parameters(alpha, p, p_forall)
        return tensors, (knowledge._native, which, alpha, p, p_forall, coming), dtype or torch.float64, device

    @staticmethod
    def _together(values: Any, named: dict[str, Any]) -> dict[str, Any]:
        problems: Problems = []
        values = _given.names(values, "values", problems)
        for name in values:
            if name in named:
                problems.append(("duplicate-name", f"predicate `{name}` is given twice", None))
        if problems:
            _native.raise_problems(problems)
        return {**values, **named}

    @staticmethod
    def _tensor(name: str, value: Any, problems: Problems) -> torch.Tensor | None:
        try:
            return torch.as_tensor(value)
        except Exception as error:  # noqa: BLE001  whatever conversion the object has may raise whatever it likes
            problems.append(("wrong-type", f"the values of predicate `{name}` cannot be read: {error}", None))
            return None

    def evaluate(self, values: Mapping[str, Any] | None = None, **arguments: Any) -> Evaluation:
        """:meth:`logltn.KnowledgeBase.evaluate`."""
        return self._knowledge.evaluate(values, **arguments)

    def rows(self, predicate: str, **arguments: Any) -> Any:
        """:meth:`logltn.KnowledgeBase.rows`."""
        return self._knowledge.rows(predicate, **arguments)

    def check(self) -> dict[str, Any]:
        """:meth:`logltn.KnowledgeBase.check`."""
        return self._knowledge.check()

    def extra_repr(self) -> str:
        return ", ".join(self.theory.axioms)

    def _repr_html_(self) -> str:
        return self._knowledge._repr_html_()

    def __getstate__(self) -> dict[str, Any]:
        # What came out of the last call is not part of it.
        return {**self.__dict__, "_last": None}
