"""A knowledge base for PyTorch."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import numpy as np
import torch

from .. import _given, _native
from .._given import AtRows, Problems
from .._knowledge_base import KnowledgeBase as _KnowledgeBase
from .._knowledge_base import Evaluation, Explanation, _double, _parameters, _question
from .._theory import Theory
from .._errors import InputError
from ._autograd import _CPU, Axioms, Loss
from ._device._autograd import DeviceAxioms, DeviceLoss
from ._device._backend import Answered, Backend
from ._networks import Fields, Parts, Run, meaning, tensor

_HALF = (torch.float16, torch.bfloat16)
_STRIDED = torch.strided


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

    Or let the knowledge base run them, each once, on just the rows that axioms ask for:

    >>> _ = torch.manual_seed(0)
    >>> kb = logltn.torch.KnowledgeBase('''
    ...     sort Point  predicate C(Point)  predicate eq(Point, Point)
    ...     axiom same: forall x, y: Point. C(x) and eq(x, y) -> C(y)
    ... ''', sorts={"Point": torch.rand(5, 2)}, predicates={
    ...     "C": torch.nn.Linear(2, 1), "eq": logltn.torch.log_truth(lambda u, v: -(u - v).norm(dim=1))})
    >>> loss = kb(alpha=2.0)
    >>> loss.backward()
    >>> [tuple(p.grad.shape) for p in kb.parameters()]
    [(1, 2), (1,)]

    A callable gets a tensor for each argument, ``[n, …]``: features, values of functions, or ``int64`` numbers for sorts without
    features (integers of an integer sort are themselves); for a softmax the last argument is left out. :func:`softmax`,
    :func:`sigmoid`, :func:`truth` and :func:`log_truth` say what its numbers mean.

    Takes every other argument of :class:`logltn.KnowledgeBase`. Sorts may be tensors or ``nn.Embedding``, constants
    ``nn.Parameter``, functions callables.

    Values on a CUDA device stay there: the loss is computed where they are. ``backend="cpu"`` copies them to the CPU engine,
    ``"cuda"`` copies those of the CPU to the device. There NaN in the values gives a NaN loss, since looking would wait for the
    device; ``check=True`` looks and raises.

    With ``process_group=torch.distributed.group.WORLD`` every process gives its own rows of batched and streamed tables, and
    its own logits; the loss is that of all rows, and gradients are to be averaged as ``DistributedDataParallel`` does.
    """

    _group: Any = None
    # Of a call together with other processes.
    _step: Any = None

    def __new__(cls, *_: Any, process_group: Any = None, **__: Any) -> KnowledgeBase:
        if process_group is not None and cls is KnowledgeBase:
            from ._together import SharedKnowledgeBase

            return SharedKnowledgeBase.__new__(SharedKnowledgeBase)
        return super().__new__(cls)

    def __init__(
        self,
        theory: Theory | str,
        *,
        sorts: Mapping[str, Any] | None = None,
        predicates: Mapping[str, Any] | None = None,
        functions: Mapping[str, Any] | None = None,
        constants: Mapping[str, Any] | None = None,
        outputs: Mapping[str, str] | None = None,
        backend: str = "auto",
        process_group: Any = None,
        **arguments: Any,
    ) -> None:
        self._begin()
        theory = theory if isinstance(theory, Theory) else Theory(theory)
        problems: Problems = []
        Backend.check(backend, problems)
        outputs = dict(_given.names(outputs, "outputs", problems))
        for name, given in _given.names(predicates, "predicates", problems).items():
            if name in outputs:
                problems.append(("conflicting-keys", f"what predicate `{name}` gives is said with its callable, not in `outputs`", None))
            part, outputs[name] = meaning(name, given, problems)
            self.predicates.put(name, part)
        data = {}
        for name, given in _given.names(functions, "functions", problems).items():
            if callable(given):
                self.functions.put(name, given)
            else:
                data[name] = given = given.detach().cpu().numpy() if isinstance(given, torch.Tensor) else given
                values = tensor(given)
                if values.is_floating_point() and values.dim() > 0:
                    self.tables.put(name, values.reshape(-1, values.shape[-1]))
        known = [name for name, *_ in theory._native.functions]
        for name in self.functions.names():
            if name not in known:
                problems.append(("unknown-function", f"the theory has no function `{name}`", _native.did_you_mean(name, known)))
        vectors = {}
        for name, given in _given.names(constants, "constants", problems).items():
            if isinstance(given, torch.Tensor) and given.dim() > 0:
                self.vectors.put(name, given)
                given = given.detach().cpu().numpy()
            vectors[name] = given
        sizes = {name: self._sort(name, given) for name, given in _given.names(sorts, "sorts", problems).items()}
        if problems:
            _native.raise_problems(problems)
        knowledge = _KnowledgeBase(theory, sorts=sizes, functions=data or None, constants=vectors, outputs=outputs, **arguments)
        self._take(knowledge, backend)

    def _begin(self) -> None:
        super().__init__()
        self.individuals, self.predicates, self.functions, self.vectors = Parts(), Parts(), Parts(), Parts()
        self.tables = Parts()  # of functions that are given by data

    def _take(self, knowledge: _KnowledgeBase, backend: str = "auto") -> None:
        theory = knowledge.theory
        self._knowledge = knowledge
        double, shared = _double(knowledge._arguments["dtype"], []), knowledge._arguments.get("_sharded", False)
        self._backend = Backend(backend, double, None, shared)
        self._last: Any = None
        self._settled = knowledge._native.settled
        self._names = theory.predicates
        kinds = {name: (kind, ends) for name, kind, ends in theory._native.sorts}
        self._low = {name: int(ends[0]) for name, (kind, ends) in kinds.items() if kind == "range"}
        self._own: dict[str, list[str]] = {}
        for name, sort in theory._native.constants:
            if name in self.vectors:
                self._own.setdefault(sort, []).append(name)
        document = json.loads(knowledge._native.check(None))
        size = {s["name"]: s["size"] for s in document["sorts"]}
        self._classes = {
            given["name"]: (size.get(given["arguments"][-1], 0) or -1) if given["per_class"] and given["arguments"] else None
            for given in document["predicates"]
        }

    def _sort(self, name: str, given: Any) -> Any:
        """Keeps what networks read of a sort, and says what the plan has to know."""
        if isinstance(given, torch.nn.Embedding):
            self.individuals.put(name, given)
            return given.weight.detach().cpu().numpy()
        if isinstance(given, torch.Tensor):
            self.individuals.put(name, given)
            return given.detach().cpu().numpy()
        if isinstance(given, Mapping):
            self.individuals.put(name, Fields(given))
            return {field: _given.array(v.detach().cpu() if isinstance(v, torch.Tensor) else v) for field, v in given.items()}
        if hasattr(given, "shape") and len(given.shape) > 0 and np.asarray(given).dtype.kind in "fiub":
            self.individuals.put(name, tensor(given))
        return given

    def forward(
        self,
        values: Mapping[str, Any] | None = None,
        *,
        alpha: float | None = None,
        p: float | None = None,
        p_forall: float | None = None,
        batch: Mapping[str, Any] | None = None,
        sorts: Mapping[str, Any] | None = None,
        tables: Mapping[str, Any] | None = None,
        check: bool = False,
        **named: Any,
    ) -> torch.Tensor:
        """The loss, with the networks run by the knowledge base: each once, on the distinct rows that axioms ask for.

        Predicates without a callable are given as in :meth:`loss`. A sort whose size comes with the call may come as a
        tensor of features, ``sorts={"Image": images}``.
        """
        tensors, call, dtype, device = self._call(values, named, alpha, p, p_forall, batch, sorts, tables)
        native, which, alpha, p, p_forall, coming = call
        given = {place for place, _ in which}
        # Rows whose order depends on the plan are those of this call alone.
        by_rows = any(kind and not self._settled[place] for place, kind in which)
        asked, requests, numbers = native.requests(coming, by_rows)
        places, outs = self._run(requests, numbers, sorts, given)
        for place, out in zip(places, outs):
            if out.dtype in _HALF:
                out = out.float()
            if not out.is_cpu:
                device = out.device
            dtype = out.dtype if not tensors or dtype is out.dtype else torch.promote_types(dtype, out.dtype)
            which.append(place)
            tensors.append(out)
        about = Answered(asked, coming)
        loss = self._loss(tensors, (native, which, alpha, p, p_forall, about), dtype, device, check)
        if not outs and self.predicates.names() and torch.is_grad_enabled() and not loss.requires_grad:
            # An empty batch asks nothing; `backward` in a loop has nothing to do then, and no reason to fail.
            loss.requires_grad_()
        return loss

    def _run(
        self, requests: list[Any], numbers: list[float], sorts: Any, given: set[int]
    ) -> tuple[list[tuple[int, int]], list[torch.Tensor]]:
        """What the networks say to requests, but to those of predicates that are given."""
        asked = []
        for predicate, shape, rows, arity, count in requests:
            asked.append((predicate, shape, np.frombuffer(rows, np.int32).reshape(count, arity)))
        features = {name: tensor(v) for name, v in (sorts or {}).items() if len(getattr(v, "shape", ())) > 0}
        return Run(self, asked, np.asarray(numbers), features).values(given)

    @property
    def theory(self) -> Theory:
        """The theory."""
        return self._knowledge.theory

    def loss(
        self,
        values: Mapping[str, Any] | None = None,
        *,
        alpha: float | None = None,
        p: float | None = None,
        p_forall: float | None = None,
        batch: Mapping[str, Any] | None = None,
        sorts: Mapping[str, Any] | None = None,
        tables: Mapping[str, Any] | None = None,
        check: bool = False,
        **named: Any,
    ) -> torch.Tensor:
        """The loss: a 0-d tensor on the device and in the dtype of the values, with gradients to each of them.

        Values go by name, or as ``values``: a tensor for each predicate with an axis for each argument, or
        :class:`logltn.AtRows` of one. Those of half precision are computed with, and give a loss, in float32, as PyTorch's own
        losses do under ``autocast``.
        """
        tensors, call, dtype, device = self._call(values, named, alpha, p, p_forall, batch, sorts, tables)
        return self._loss(tensors, call, dtype, device, check)

    def _loss(
        self, tensors: list[torch.Tensor], call: Any, dtype: torch.dtype, device: torch.device | None, check: bool
    ) -> torch.Tensor:
        if device is None and self._backend.name == "auto":  # all are on the CPU, and in a hurry
            self.__dict__["_ran_on"] = _CPU
            return Loss.apply(self, _plain(call, self._knowledge), dtype, *tensors)
        return self._anywhere(Loss, DeviceLoss, tensors, call, dtype, device, check)

    def _anywhere(
        self, here: Any, elsewhere: Any, tensors: Any, call: Any, dtype: torch.dtype, device: torch.device | None, check: bool
    ) -> torch.Tensor:
        """Runs a call on a device or in the CPU engine, and gives what came out where the values are."""
        backend = self._backend
        there = backend.device(tensors)
        numbers = sum(t.numel() for t in tensors)
        engine: Any = None if there is None else backend.find(call, there, numbers)
        if engine is None:
            try:
                out = here.apply(self, _plain(call, self._knowledge), dtype, *(t.cpu() for t in tensors))
                self.__dict__["_ran_on"] = _CPU
                return out if device is None else out.to(device)
            except InputError:
                if there is None or check:
                    raise
            # On a device numbers are not looked at.
            engine = backend.find(call, there, numbers, stays=True)
        assert engine is not None
        out = backend.run(elsewhere, self, engine, call, dtype, tensors, check)
        self.__dict__["_ran_on"] = there
        return out.cpu() if device is None and out.device.type != "cpu" else out

    def axioms(
        self,
        values: Mapping[str, Any] | None = None,
        *,
        alpha: float | None = None,
        p: float | None = None,
        p_forall: float | None = None,
        batch: Mapping[str, Any] | None = None,
        sorts: Mapping[str, Any] | None = None,
        tables: Mapping[str, Any] | None = None,
        check: bool = False,
        **named: Any,
    ) -> dict[str, torch.Tensor]:
        """The truth of each axiom, as 0-d tensors with gradients: for whoever weighs axioms themselves."""
        tensors, call, dtype, device = self._call(values, named, alpha, p, p_forall, batch, sorts, tables)
        truths = self._anywhere(Axioms, DeviceAxioms, tensors, call, dtype, device, check)
        return dict(zip(self._knowledge._native.axiom_names, truths.unbind()))

    # A graph break is all that `torch.compile` can make of these.
    loss._torchdynamo_disable = True  # type: ignore[attr-defined]
    axioms._torchdynamo_disable = True  # type: ignore[attr-defined]

    @property
    def ran_on(self) -> torch.device | None:
        """Where the last call was computed: what ``backend="auto"`` chose."""
        return self.__dict__.get("_ran_on")

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
            kept = value.dtype
            if kept is torch.float32 or kept is torch.float64:
                pass
            elif kept in _HALF:
                value = value.float()
            else:
                help = "convert them, for example with `.float()`"
                message = f"the values of predicate `{name}` are {value.dtype}, not float32 or float64"
                problems.append(("unsupported-elements", message, help))
                continue
            here = value.is_cpu
            if value.layout is not _STRIDED or value.is_nested or not here and value.is_meta:
                message = f"the values of predicate `{name}` are a tensor without numbers in rows and columns"
                problems.append(("wrong-type", message, "make a dense one, for example with `.to_dense()`"))
                continue
            if not here:
                device = value.device
            if dtype is not kept:
                dtype = value.dtype if dtype is None or dtype is value.dtype else torch.float64
            tensors.append(value)
            which.append((places[name], kind))
        if problems:
            _native.raise_problems(problems)
        coming = None
        if batch is not None or sorts is not None or tables is not None:
            coming = _given.coming(knowledge, batch, sorts, tables)
        defaults = knowledge._defaults
        alpha, p = defaults[0] if alpha is None else alpha, defaults[1] if p is None else p
        p_forall = defaults[2] if p_forall is None else p_forall
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
            if isinstance(value, np.ndarray):
                value = _given.array(value)
                if not value.flags.writeable or not value.dtype.isnative or min(value.strides, default=0) < 0:
                    value = value.astype(value.dtype.newbyteorder("="))  # PyTorch has no such tensors
            return torch.as_tensor(value)
        except Exception as error:  # noqa: BLE001  whatever conversion the object has may raise whatever it likes
            problems.append(("wrong-type", f"the values of predicate `{name}` cannot be read: {error}", None))
            return None

    def evaluate(self, values: Mapping[str, Any] | None = None, **arguments: Any) -> Evaluation:
        """:meth:`logltn.KnowledgeBase.evaluate`."""
        return self._knowledge.evaluate(values, **arguments)

    def query(
        self,
        formula: str,
        values: Mapping[str, Any] | None = None,
        *,
        top: int = 10,
        alpha: float | None = None,
        p: float | None = None,
        p_forall: float | None = None,
        sorts: Mapping[str, Any] | None = None,
        tables: Mapping[str, Any] | None = None,
    ) -> dict[str, Any]:
        """:meth:`logltn.KnowledgeBase.query`; the knowledge base runs the networks of predicates that are not in ``values``."""
        question = _question(formula, None, top, _parameters(alpha, p, p_forall, self._knowledge._defaults))
        return json.loads(self._ask(question, values, sorts, tables))

    def explain(
        self,
        values: Mapping[str, Any] | None = None,
        axiom: str | None = None,
        *,
        top: int = 10,
        alpha: float | None = None,
        p: float | None = None,
        p_forall: float | None = None,
        sorts: Mapping[str, Any] | None = None,
        tables: Mapping[str, Any] | None = None,
    ) -> Explanation:
        """:meth:`logltn.KnowledgeBase.explain`; the knowledge base runs the networks of predicates that are not in ``values``."""
        question = _question(None, axiom, top, _parameters(alpha, p, p_forall, self._knowledge._defaults))
        document = json.loads(self._ask(question, values, sorts, tables))
        coming = {name: tensor(v).detach().cpu() for name, v in (sorts or {}).items() if len(getattr(v, "shape", ())) > 0}
        parts = {name: self.individuals.part(name) for name in self.individuals.names()}
        seen = {name: part.pictures() for name, part in parts.items() if hasattr(part, "pictures")}  # of a run
        return self._knowledge._explanation(document, coming, seen)

    @torch.no_grad()
    def _ask(self, question: dict[str, Any], values: Any, sorts: Any, tables: Any) -> str:
        tensors, call, *_ = self._call(values, {}, 1.0, 2.0, 2.0, None, sorts, tables)
        native, which, coming = call[0], call[1], call[-1]
        if self.predicates.names():
            given = {place for place, _ in which}
            requests, numbers = _native.asked(native, question, coming)
            places, outs = self._run(requests, numbers, sorts, given)
            which, tensors = [*which, *places], [*tensors, *outs]
        entries: list[tuple[int, int, np.ndarray, np.ndarray | None]] = []
        for (place, kind), value in zip(which, tensors):
            array = (value.float() if value.dtype in _HALF else value).detach().cpu().numpy()
            if array.ndim == 0:  # no buffer without axes
                kind, array = kind + 4, array.reshape(1)
            entries.append((place, kind, array, None))
        return _native.ask(native, question, entries, coming)

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


def _plain(call: Any, knowledge: _KnowledgeBase) -> Any:
    """A call with numbers for its parameters, of the CPU engine."""
    native, which, alpha, p, p_forall, coming = call
    if type(coming) is Answered:
        coming = coming.asked
        call = native, which, alpha, p, p_forall, coming
    if type(alpha) is float and type(p) is float and type(p_forall) is float:
        return call
    for name, given in (("alpha", alpha), ("p", p), ("p_forall", p_forall)):
        if name in knowledge._places and (isinstance(given, AtRows) or getattr(given, "ndim", 0) > 0):
            help = f'there is a predicate of that name: give its values as `values={{"{name}": …}}`'
            _native.raise_problems([("wrong-type", f"`{name}` must be a number, not {_given.kind(given)}", help)])
    return native, which, *_parameters(alpha, p, p_forall, knowledge._defaults), coming
