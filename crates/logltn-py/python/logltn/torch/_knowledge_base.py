"""A knowledge base for PyTorch."""

from __future__ import annotations

import inspect
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
import torch

from .. import _given, _native
from .._asking import Asking, Explanation, call_parameters
from .._given import AtRows, Percentile, Problems
from .._native import Holds
from .._knowledge_base import KnowledgeBase as _KnowledgeBase
from .._knowledge_base import Evaluation, Truths, _double
from .._theory import Theory
from .._errors import InputError
from ._autograd import _CPU, Answered, Axioms, Call, Loss
from ._compile import eagerly
from ._device._autograd import DeviceAxioms, DeviceLoss
from ._device._backend import Backend
from ._device._formula import formula
from ._networks import Enclosed, Fields, Parts, Run, host, meaning, rows_of, tensor
from ._worlds import Worlds

_HALF = (torch.float16, torch.bfloat16)
_STRIDED = torch.strided
# Says whether this is inside a transformation of `torch.func`.
_transforming: Any = torch._C._functorch.peek_interpreter_stack  # pyright: ignore[reportAttributeAccessIssue]


class KnowledgeBase(Asking, Worlds, torch.nn.Module):
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

    All other arguments are those of :class:`logltn.KnowledgeBase`. Sorts may be tensors or ``nn.Embedding``, constants
    ``nn.Parameter``, functions callables.

    Values on a CUDA device stay there: the loss is computed where they are. ``backend="cpu"`` copies them to the CPU engine,
    ``"cuda"`` copies CPU values to the device. There NaN in the values gives a NaN loss, since checking would wait for the
    device; ``check=True`` checks and raises.

    With ``process_group=torch.distributed.group.WORLD`` every process gives its own rows of batched and streamed tables, and
    its own logits; the loss is that of all rows, and gradients should be averaged, as ``DistributedDataParallel`` does.
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
        tables: Mapping[str, Any] | None = None,
        params: Mapping[str, float | Percentile] | None = None,
        functions: Mapping[str, Any] | None = None,
        constants: Mapping[str, Any] | None = None,
        outputs: Mapping[str, str] | None = None,
        semantics: str | Mapping[str, Any] = "logltn",
        weights: Mapping[str, float] | None = None,
        parameters: Mapping[str, Mapping[str, float]] | None = None,
        batched: Iterable[str] = (),
        streamed: Iterable[str] = (),
        laws: Iterable[str] = (),
        p_axioms: float | None = None,
        leave_out_empty: bool = False,
        dtype: Any = None,
        threads: int | None = None,
        memory: int | None = None,
        backend: str = "auto",
        process_group: Any = None,
        _sharded: bool = False,
        _share: bool = True,
    ) -> None:
        self._begin()
        theory = theory if isinstance(theory, Theory) else Theory(theory)
        problems: Problems = []
        Backend.check(backend, problems)
        outputs = dict(_given.names(outputs, "outputs", problems))
        for name, given in _given.names(predicates, "predicates", problems).items():
            if name in outputs:
                problems.append(("conflicting-keys", f"the output of predicate `{name}` is declared with its callable, not in `outputs`", None))
            part, outputs[name] = meaning(name, given, problems)
            self._put(self.predicates, name, part)
        data = {}
        for name, given in _given.names(functions, "functions", problems).items():
            if callable(given):
                self._put(self.functions, name, given)
            else:
                data[name] = host(given) if isinstance(given, torch.Tensor) else given
        data.update(_given.columns_in_guards(theory._native.functions, _given.names(sorts, "sorts", problems)))
        known = [name for name, *_ in theory._native.functions]
        for name in self.functions.names():
            if name not in known:
                problems.append(("unknown-function", f"the theory has no function `{name}`", _native.did_you_mean(name, known)))
        vectors = {}
        for name, given in _given.names(constants, "constants", problems).items():
            if isinstance(given, torch.Tensor) and given.dim() > 0:
                self.vectors.put(name, given)
                given = host(given)
            vectors[name] = given
        sizes = {name: self._sort(name, given) for name, given in _given.names(sorts, "sorts", problems).items()}
        if problems:
            _native.raise_problems(problems)
        knowledge = _KnowledgeBase(
            theory, sorts=sizes, functions=data or None, constants=vectors, outputs=outputs, tables=tables, params=params,
            semantics=semantics, weights=weights, parameters=parameters, batched=batched, streamed=streamed, laws=laws, p_axioms=p_axioms,
            leave_out_empty=leave_out_empty, dtype=dtype, threads=threads, memory=memory, _sharded=_sharded,
            _learnt=self.functions.names(), _share=_share,
        )  # fmt: skip
        self._take(knowledge, backend)
        for name, width in self._widths.items():
            if name in data:
                self.tables.put(name, rows_of(data[name], width))

    def _put(self, parts: Parts, name: str, given: Any) -> None:
        parts.put(name, given)
        if not isinstance(given, torch.nn.Module):
            self.enclosed.take(name, given)

    def _begin(self) -> None:
        super().__init__()
        self.enclosed = Enclosed()  # first, as copies share some of it
        self.individuals, self.predicates, self.functions, self.vectors = Parts(), Parts(), Parts(), Parts()
        self.tables = Parts()  # of functions that are given by data

    def _take(self, knowledge: _KnowledgeBase, backend: str = "auto") -> None:
        theory = knowledge.theory
        self._knowledge, self._defaults = knowledge, knowledge._defaults
        double, shared = _double(knowledge._arguments["dtype"], []), knowledge._arguments.get("_sharded", False)
        self._backend = Backend(backend, double, None, shared)
        self._formulas = Backend("torch", double, {"kernels": False, "graphs": False})
        self._last: Any = None
        self._unseen = set(theory.predicates)  # whose values nobody has looked at
        self._names = theory.predicates
        kinds = {name: (kind, ends) for name, kind, ends in theory._native.sorts}
        results = {name: result for name, _, result in theory._native.functions}
        self._widths = {name: int(result[5:-1]) for name, result in results.items() if result.startswith("Real[")}
        self._low = {name: int(ends[0]) for name, (kind, ends) in kinds.items() if kind == "range"}
        self._own: dict[str, list[str]] = {}
        for name, sort in theory._native.constants:
            if name in self.vectors:
                self._own.setdefault(sort, []).append(name)

    def _sort(self, name: str, given: Any) -> Any:
        """Keeps what networks read of a sort, and returns what the plan needs."""
        if isinstance(given, torch.nn.Embedding):
            self.individuals.put(name, given)
            return host(given.weight)
        if isinstance(given, torch.Tensor):
            self.individuals.put(name, given)
            return host(given)
        if isinstance(given, Mapping):
            self.individuals.put(name, Fields(given))
            return {field: host(v) if isinstance(v, torch.Tensor) else v for field, v in given.items()}
        if not _given.is_size(given) and _given.strings(given) is None:
            # Whoever reads what is no array says so.
            values = _given.features(given, name, [])
            if values is not None:
                self.individuals.put(name, tensor(values))
        return given

    def _ask_networks(
        self, tensors: list[torch.Tensor], call: Call, dtype: torch.dtype, device: torch.device | None, functions: Any
    ) -> tuple[list[torch.Tensor], Call, torch.dtype, torch.device | None]:
        """Runs the networks of predicates that are not given, each once, on the distinct rows that axioms ask for."""
        which, native = call.which, call.native
        # Rows whose order depends on the plan are those of this call alone.
        settled = native.settled
        by_rows = _transforming() is not None or any(holds is not Holds.GRID and not settled[place] for place, holds in which)
        asked, requests, numbers = native.requests(call.coming, by_rows)
        given = {place for place, _ in which}
        places, outs = self._run(call.knowledge, requests, numbers, call.given[0], functions, given)
        first = not tensors
        for out in outs:
            if out.dtype in _HALF:
                out = out.float()
            if not out.is_cpu:
                device = out.device
            dtype = out.dtype if first or dtype is out.dtype else torch.promote_types(dtype, out.dtype)
            first = False
            tensors.append(out)
        return tensors, call._replace(which=[*which, *places], coming=Answered(asked, call.coming, [r[0] for r in requests])), dtype, device

    def _run(
        self, knowledge: _KnowledgeBase, requests: list[Any], numbers: list[float], sorts: Any, functions: Any, given: set[int]
    ) -> tuple[list[tuple[int, Holds]], list[torch.Tensor]]:
        """The networks' answers to requests, except for predicates that are given."""
        asked = []
        for predicate, shape, rows, arity, count in requests:
            asked.append((predicate, shape, np.frombuffer(rows, np.int32).reshape(count, arity)))
        features: dict[str, Any] = {}
        problems: Problems = []
        for name, v in (sorts or {}).items():
            if isinstance(v, Mapping):
                features[name] = Fields(v)
            elif not _given.is_size(v) and not isinstance(v, torch.Tensor):
                v = _given.features(v, f"sort `{name}`", problems)
            if isinstance(v, (torch.Tensor, np.ndarray)):
                features[name] = tensor(v)
        if problems:
            _native.raise_problems(problems)
        return Run(self, knowledge._classes, asked, np.asarray(numbers), features, functions or {}).values(given)

    @property
    def theory(self) -> Theory:
        """The theory."""
        return self._knowledge.theory

    @eagerly
    def loss(
        self,
        values: Mapping[str, Any] | None = None,
        *,
        alpha: Any = None,
        p: Any = None,
        p_forall: Any = None,
        batch: Mapping[str, Any] | None = None,
        sorts: Mapping[str, Any] | None = None,
        tables: Mapping[str, Any] | None = None,
        weights: Mapping[str, Any] | None = None,
        params: Mapping[str, float | Percentile] | None = None,
        functions: Mapping[str, Any] | None = None,
        check: bool = False,
        **named: Any,
    ) -> torch.Tensor:
        """The loss: a 0-d tensor on the device and in the dtype of the values, with gradients to each of them.

        Values go by name, or as ``values``: a tensor for each predicate with an axis for each argument, or
        :class:`logltn.AtRows` of one. Half precision is computed in float32 and gives a float32 loss, as PyTorch's own
        losses do under ``autocast``. Networks of predicates that are not given are run by the knowledge base, each once, on the
        distinct rows that axioms ask for. A sort that comes with the call may come as a tensor of features,
        ``sorts={"Image": images}``.

        ``alpha``, ``p``, ``p_forall`` and ``weights`` (of axioms, for this call) may be 0-d tensors, with gradients if they
        require them. ``params`` and ``functions`` come with the call, or replace what the knowledge base has.
        """
        return self._loss(*self._call(values, named, (alpha, p, p_forall), (batch, sorts, tables), (weights, params, functions)), check)

    forward = loss

    def _loss(
        self, tensors: list[torch.Tensor], call: Call, dtype: torch.dtype, device: torch.device | None, check: bool
    ) -> torch.Tensor:
        if _transforming() is not None:
            return self._formula(_plain(call), tensors, True)[1].to(dtype)
        if device is None and self._backend.name == "auto":  # all are on the CPU: take the quick way
            self.__dict__["_ran_on"] = _CPU
            loss = Loss.apply(self, _plain(call), dtype, *tensors)
        else:
            loss = self._anywhere(Loss, DeviceLoss, tensors, call, dtype, device, check)
        self._look(call, tensors)
        if type(call.coming) is Answered and torch.is_grad_enabled() and not loss.requires_grad:
            # An empty batch needs no networks; `backward` in a loop must then do nothing and not fail.
            if not any(holds is Holds.REQUEST and tensor.numel() for (_, holds), tensor in zip(call.which, tensors)):
                loss.requires_grad_()
        return loss

    def _look(self, call: Call, tensors: list[torch.Tensor]) -> None:
        """Warns of probable mistakes, once each."""
        knowledge = call.knowledge
        last = self.__dict__["_last"]
        if getattr(last, "odd", 0) and self._group is None:
            knowledge._look(last, *call.given)
        unseen = self.__dict__["_unseen"]
        if not unseen:
            return
        asked = call.coming.predicates if type(call.coming) is Answered else None
        for (place, holds), value in zip(call.which, tensors):
            name = self._names[asked[place] if holds is Holds.REQUEST and asked is not None else place]
            if name in unseen and value.is_cpu and value.numel():
                unseen.discard(name)
                if knowledge._takes_logits(name):
                    knowledge._squashed(name, *(x.item() for x in value.detach().aminmax()))

    def _formula(self, call: Call, tensors: Any, fresh: bool = False) -> tuple[torch.Tensor, torch.Tensor]:
        """The truths and the loss by torch operations, which can be differentiated as often as one likes. What was made inside of a transformation is not kept after
        it: a fresh one is."""
        knowledge = call.knowledge
        if self._group is not None:
            raise RuntimeError("with a `process_group` only first derivatives by values exist: other processes have other rows")
        if knowledge._native.exact:
            raise RuntimeError('under the semantics "probability" only first derivatives by values exist: formulas are circuits there')
        count = len(call.which)
        values, extras = tensors[:count], dict(zip(call.extras, tensors[count:]))
        device = next((t.device for t in values), _CPU)
        backend = self._formulas if not fresh else Backend(*self._formulas.__getstate__())
        engine = backend.find(call, device, values, stays=True)
        assert engine is not None
        given = zip(("alpha", "p", "p_forall"), (call.alpha, call.p, call.p_forall))
        parameters = tuple(extras[n].to(device, engine.dtype) if n in extras else x for n, x in given)
        weights: list[Any] = list(knowledge._native.weights)
        for axiom, weight in call.weights or ():
            weights[axiom] = extras[axiom].to(device) if axiom in extras else weight
        return formula(engine, call.which, values, parameters, weights, knowledge._arguments.get("leave_out_empty", False))

    def _anywhere(
        self, here: Any, elsewhere: Any, tensors: Any, call: Any, dtype: torch.dtype, device: torch.device | None, check: bool
    ) -> torch.Tensor:
        """Runs a call on a device or in the CPU engine, and gives what came out where the values are."""
        backend = self._backend
        there = backend.device(tensors)
        values = tensors[: len(call.which)]
        # What is left out depends on the rows, which the CPU engine knows; so do the circuits of several processes, and of rows
        # that networks were asked about.
        leaves_out = call.knowledge._arguments.get("leave_out_empty", False) or not call.native.exports
        leaves_out = leaves_out or (call.native.exact and (backend.shared or type(call.coming) is Answered))
        engine: Any = None if there is None or leaves_out else backend.find(call, there, values)
        if engine is None:
            try:
                out = here.apply(self, _plain(call), dtype, *(t.cpu() for t in tensors))
                self.__dict__["_ran_on"] = _CPU
                return out if device is None else out.to(device)
            except InputError:
                if there is None or check or leaves_out:
                    raise
            # On a device numbers are not checked.
            engine = backend.find(call, there, values, stays=True)
        assert engine is not None
        out = backend.run(elsewhere, self, engine, call, dtype, tensors, check)
        self.__dict__["_ran_on"] = there
        return out.cpu() if device is None and out.device.type != "cpu" else out

    @eagerly
    def axioms(
        self,
        values: Mapping[str, Any] | None = None,
        *,
        alpha: Any = None,
        p: Any = None,
        p_forall: Any = None,
        batch: Mapping[str, Any] | None = None,
        sorts: Mapping[str, Any] | None = None,
        tables: Mapping[str, Any] | None = None,
        weights: Mapping[str, Any] | None = None,
        params: Mapping[str, float | Percentile] | None = None,
        functions: Mapping[str, Any] | None = None,
        check: bool = False,
        **named: Any,
    ) -> dict[str, torch.Tensor]:
        """The truth of each axiom, as 0-d tensors with gradients, to weigh axioms yourself. Takes what :meth:`loss` takes."""
        tensors, call, dtype, device = self._call(values, named, (alpha, p, p_forall), (batch, sorts, tables), (weights, params, functions))
        if _transforming() is not None:
            truths = self._formula(_plain(call), tensors, True)[0].to(dtype)
        else:
            truths = self._anywhere(Axioms, DeviceAxioms, tensors, call, dtype, device, check)
            self._look(call, tensors)
        return dict(zip(call.native.axiom_names, truths.unbind()))

    @property
    def ran_on(self) -> torch.device | None:
        """Where the last call was computed: what ``backend="auto"`` chose."""
        return self.__dict__.get("_ran_on")

    @property
    def truths(self) -> Truths:
        """The truth of each axiom in the last call, as numbers; ``truths.logs`` says whether they are logs."""
        return Truths({} if self._last is None else self._last.truths(), self._knowledge.logs)

    @property
    def semantics(self) -> str | dict[str, Any]:
        """:attr:`logltn.KnowledgeBase.semantics`."""
        return self._knowledge.semantics

    @property
    def weights(self) -> dict[str, float]:
        """:attr:`logltn.KnowledgeBase.weights`."""
        return self._knowledge.weights

    def _call(
        self, values: Any, named: dict[str, Any], numbers: tuple[Any, Any, Any], coming: tuple[Any, Any, Any], others: tuple[Any, Any, Any]
    ) -> tuple[list[torch.Tensor], Call, torch.dtype, torch.device | None]:
        """What a call is about: the tensors of its values, with those of networks that are run, and of parameters that learn; all else; the dtype of its
        loss; and the device of its values."""
        knowledge = self._knowledge
        batch, sorts, tables = coming
        weights, params, functions = others
        features = sorts
        if sorts is not None or params is not None or functions is not None:
            functions, data = self._functions(functions)
            knowledge, sorts = knowledge._with(params, data, sorts)
        if values is not None:
            named = self._together(values, named)
        tensors, which, dtype, device = self._read(knowledge, named)
        about = None
        if batch is not None or sorts is not None or tables is not None:
            about = _given.coming(knowledge, batch, sorts, tables)
        alpha, p, p_forall = numbers
        if alpha is None or p is None or p_forall is None:
            defaults = knowledge._defaults
            alpha = defaults[0] if alpha is None else alpha
            p = defaults[1] if p is None else p
            p_forall = defaults[2] if p_forall is None else p_forall
        call = Call(knowledge, knowledge._native, which, alpha, p, p_forall, about, None, (), (features, tables))
        found = tensors, call, dtype or torch.float64, device
        runs = self.predicates.known
        if runs and not runs <= named.keys():
            found = self._ask_networks(*found, functions)
        learn = type(alpha) is not float or type(p) is not float or type(p_forall) is not float
        if learn or weights is not None:
            found = (*self._extras(found[0], found[1], weights), *found[2:])
        return found

    def _extras(self, tensors: list[torch.Tensor], call: Call, weights: Any) -> tuple[list[torch.Tensor], Call]:
        """Takes over the weights of a call, and appends parameters and weights that are to have gradients."""
        weighed = None if weights is None else call.knowledge._weights(weights)
        given: list[tuple[str | int, Any]] = [("alpha", call.alpha), ("p", call.p), ("p_forall", call.p_forall)]
        given.extend((weighed or {}).items())
        of_functions = _transforming() is not None
        learn = [
            (name, x) for name, x in given
            if isinstance(x, torch.Tensor) and x.dim() == 0 and (of_functions or torch.is_grad_enabled() and x.requires_grad)
        ]  # fmt: skip
        numbers = None
        if weighed is not None:
            numbers = [(i, 1.0 if of_functions and isinstance(w, torch.Tensor) else float(w.detach() if isinstance(w, torch.Tensor) else w)) for i, w in weighed.items()]
        call = call._replace(weights=numbers, extras=tuple(name for name, _ in learn))
        return [*tensors, *(x for _, x in learn)], call

    def _functions(self, functions: Any) -> tuple[dict[str, Any] | None, Any]:
        """Functions that come with a call: all of them, and those that are given by data."""
        if not isinstance(functions, Mapping):
            return None, functions
        known = [name for name, *_ in self.theory._native.functions]
        problems: Problems = []
        for name in _given.names(functions, "functions", problems):
            if name not in known:
                problems.append(("unknown-function", f"the theory has no function `{name}`", _native.did_you_mean(name, known)))
        if problems:
            _native.raise_problems(problems)
        return dict(functions), {name: f for name, f in functions.items() if not callable(f)} or None

    def _read(
        self, knowledge: _KnowledgeBase, named: Mapping[str, Any]
    ) -> tuple[list[torch.Tensor], list[tuple[int, Holds]], torch.dtype | None, torch.device | None]:
        """Values as tensors, and what each of them is."""
        places = knowledge._places
        transforms = _transforming() is not None
        problems: Problems = []
        tensors: list[torch.Tensor] = []
        which: list[tuple[int, Holds]] = []
        dtype: torch.dtype | None = None
        device: torch.device | None = None
        for name, value in named.items():
            holds = Holds.GRID
            if isinstance(value, AtRows):
                holds, value = Holds.ROWS, value.values
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
            if value.layout is not _STRIDED or value.is_nested or not here and value.is_meta or not transforms and _has_no_numbers(value):
                message = f"the values of predicate `{name}` are not a dense tensor"
                problems.append(("wrong-type", message, "make a dense one, for example with `.to_dense()`"))
                continue
            if not here:
                device = value.device
            if dtype is not kept:
                dtype = value.dtype if dtype is None or dtype is value.dtype else torch.float64
            tensors.append(value)
            which.append((places[name], holds))
        if problems:
            _native.raise_problems(problems)
        return tensors, which, dtype, device

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
            # PyTorch reads a data frame by the names of its columns, and a column of doubles as floats.
            if hasattr(value, "__array__") and not isinstance(value, torch.Tensor):
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

    def _explanation(self, document: dict[str, Any], sorts: Any) -> Explanation:
        coming = {name: host(tensor(v)) for name, v in (sorts or {}).items() if len(getattr(v, "shape", ())) > 0}
        parts = {name: self.individuals.part(name) for name in self.individuals.names()}
        seen = {name: part.pictures() for name, part in parts.items() if hasattr(part, "pictures")}  # of a run
        return self._knowledge._explanation(document, coming, seen)

    @torch.no_grad()
    def _ask(self, asked: dict[str, Any], values: Any, sorts: Any, tables: Any, params: Any, functions: Any) -> str:
        features = sorts
        functions, data = self._functions(functions)
        knowledge, sorts = self._knowledge._with(params, data, sorts, asked["formula"])
        coming = knowledge._coming(asked, sorts, tables)
        asked = knowledge._reading(asked)
        native = knowledge._native
        tensors, which, *_ = self._read(knowledge, self._together(values, {}) if values is not None else {})
        if self.predicates.names():
            given = {place for place, _ in which}
            requests, numbers = _native.asked(native, asked, coming)
            places, outs = self._run(knowledge, requests, numbers, features, functions, given)
            which, tensors = [*which, *places], [*tensors, *outs]
        entries: list[tuple[int, Holds, np.ndarray, np.ndarray | None]] = []
        for (place, holds), value in zip(which, tensors):
            entries.append((place, holds, (value.float() if value.dtype in _HALF else value).detach().cpu().numpy(), None))
        return _given.read_by(_native.ask, native, asked, entries, coming)

    def rows(self, predicate: str, **arguments: Any) -> Any:
        """:meth:`logltn.KnowledgeBase.rows`."""
        return self._knowledge.rows(predicate, **arguments)

    def check(self) -> dict[str, Any]:
        """:meth:`logltn.KnowledgeBase.check`."""
        return self._knowledge.check()

    def export_plan(self, **arguments: Any) -> Any:
        """:meth:`logltn.KnowledgeBase.export_plan`."""
        return self._knowledge.export_plan(**arguments)

    def identify(
        self, predicate: str | None = None, support: Mapping[str, Any] | None = None, labels: Any = None
    ) -> dict[str, Any]:
        """:meth:`logltn.KnowledgeBase.identify`."""
        return self._knowledge.identify(predicate, support, labels)

    def extra_repr(self) -> str:
        return ", ".join(self.theory.axioms)

    def _repr_html_(self) -> str:
        return self._knowledge._repr_html_()

    def __getstate__(self) -> dict[str, Any]:
        # The result of the last call is not part of it.
        return {**self.__dict__, "_last": None}


# `inspect.signature` looks at `__new__` first, and editors in notebooks show what it finds.
_made = inspect.signature(KnowledgeBase.__init__)
setattr(KnowledgeBase.__new__, "__signature__", _made.replace(parameters=[p for p in _made.parameters.values() if p.name[0] != "_"]))


def _has_no_numbers(value: torch.Tensor) -> bool:
    """Whether a tensor has no memory behind it: it is all zeros without having any, or its storage was given back."""
    return value._is_zerotensor() or value.is_cpu and value.untyped_storage().nbytes() == 0 and value.numel() > 0


def _plain(call: Call) -> Call:
    """A call with numbers for its parameters, of the CPU engine."""
    alpha, p, p_forall = call.alpha, call.p, call.p_forall
    if type(alpha) is float and type(p) is float and type(p_forall) is float:
        return call
    knowledge = call.knowledge
    numbers = []
    for name, given in (("alpha", alpha), ("p", p), ("p_forall", p_forall)):
        if name in knowledge._places and (isinstance(given, AtRows) or getattr(given, "ndim", 0) > 0):
            help = f'there is a predicate of that name: give its values as `values={{"{name}": …}}`'
            _native.raise_problems([("wrong-type", f"`{name}` must be a number, not {_given.kind(given)}", help)])
        # In a transformation it has no number to ask for.
        numbers.append(1.0 if name in call.extras and _transforming() is not None else given)
    alpha, p, p_forall = call_parameters(numbers[0], numbers[1], numbers[2], knowledge._defaults)
    return call._replace(alpha=alpha, p=p, p_forall=p_forall)
