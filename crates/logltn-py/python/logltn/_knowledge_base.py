"""A theory with its data, evaluated on NumPy arrays."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from . import _given, _native
from ._given import AtRows, Percentile, Problems
from ._plan import ExportedPlan, exported
from ._theory import Theory


class KnowledgeBase:
    """A theory, its data, and what the numbers behind its predicates mean.

    >>> import numpy as np
    >>> kb = KnowledgeBase('''
    ...     sort Image
    ...     sort Digit = 0..9
    ...     table sums(x: Image, y: Image, n: Int)
    ...     predicate digit(Image, Digit)
    ...     axiom addition: forall (x, y, n) in sums.
    ...         exists a, b: Digit where a + b = n. digit(x, a) and digit(y, b)
    ... ''', sorts={"Image": 4}, tables={"sums": {"x": [0, 2], "y": [1, 3], "n": [7, 12]}}, outputs={"digit": "softmax"})
    >>> r = kb.evaluate({"digit": np.zeros((4, 10), np.float32)}, alpha=2.0, gradients=True)
    >>> round(float(r.truths["addition"]), 4), r.gradients["digit"].shape
    (-4.6052, (4, 10))

    sorts
        A number of individuals, an array of features (first axis: individuals), a dict of such arrays (fields), or a list
        of labels. A sort that is not given has its size in each call.
    tables
        A dict of columns, an array with a column for each, or a data frame. Individuals are numbered from 0, integers of an
        integer sort are themselves, labels go by name.
    params
        Numbers, or :func:`logltn.percentile`.
    functions
        Given by data: an array with an axis for each argument, of numbers or of individuals.
    constants
        An individual of the sort, or a vector: then it is an individual of its own, numbered after the others, and the axes
        of its sort are longer by one.
    outputs
        ``"softmax"``, ``"sigmoid"`` (the default), ``"truth"`` or ``"log_truth"``.
    semantics
        A name, or a dict with ``base`` and other operators.
    weights, parameters
        What single axioms, or all members of a family, have of their own.
    batched, streamed
        Tables of which a call may look at some rows only, and tables whose rows come with each call.
    dtype, threads, memory
        The precision of computing (``"float32"`` or ``"float64"``), how many threads may be used (as many as there are
        cores), how many bytes the plan may take (half of the machine's memory).
    """

    theory: Theory
    _arguments: dict[str, Any]
    _defaults: tuple[float, float, float] = (1.0, 2.0, 2.0)

    def __init__(
        self,
        theory: Theory | str,
        *,
        sorts: Mapping[str, Any] | None = None,
        tables: Mapping[str, Any] | None = None,
        params: Mapping[str, float | Percentile] | None = None,
        constants: Mapping[str, Any] | None = None,
        functions: Mapping[str, Any] | None = None,
        outputs: Mapping[str, str] | None = None,
        semantics: str | Mapping[str, Any] = "logltn",
        weights: Mapping[str, float] | None = None,
        parameters: Mapping[str, Mapping[str, float]] | None = None,
        batched: Iterable[str] = (),
        streamed: Iterable[str] = (),
        dtype: Any = "float32",
        threads: int | None = None,
        memory: int | None = None,
        _sharded: bool = False,
    ) -> None:
        batched, streamed = _listed(batched), _listed(streamed)
        self._arguments = dict(
            theory=theory, sorts=sorts, tables=tables, params=params, constants=constants, functions=functions, outputs=outputs,
            semantics=semantics, weights=weights, parameters=parameters, batched=batched, streamed=streamed, dtype=dtype,
            threads=threads, memory=memory, _sharded=_sharded,
        )  # fmt: skip
        self.theory = theory if isinstance(theory, Theory) else Theory(theory)
        native = self.theory._native
        problems: Problems = []
        params = _given.names(params, "params", problems)
        percentiles = " ".join(p.of for p in params.values() if isinstance(p, Percentile))
        measured = set(native.measured)
        given_sorts = []
        for name, given in _given.names(sorts, "sorts", problems).items():
            read = _given.sort(given, name, name in measured or name in percentiles, problems)
            if read is not None:
                given_sorts.append((name, read))
        declared = dict(native.tables)
        given_tables = []
        for name, given in _given.names(tables, "tables", problems).items():
            # The native part says that there is no such table.
            columns = _given.columns(given, name, declared[name], problems) if name in declared else []
            if columns is not None:
                given_tables.append((name, columns))
        given_params = [(name, _given.param(p, name, problems)) for name, p in params.items()]
        double = _double(dtype, problems)
        limited = _limits(threads, memory, problems)
        given = {
            "sorts": given_sorts,
            "tables": given_tables,
            "params": [(name, value) for name, value in given_params if value is not None],
            "constants": [_constant(name, c, problems) for name, c in _given.names(constants, "constants", problems).items()],
            "functions": _functions(functions, native, problems),
            "outputs": [(name, str(o)) for name, o in _given.names(outputs, "outputs", problems).items()],
            "semantics": _semantics(semantics, problems),
            "weights": [
                (name, _given.number(w, f"the weight of axiom `{name}`", problems))
                for name, w in _given.names(weights, "weights", problems).items()
            ],
            "parameters": [
                (name, [(key, _given.number(x, f"`{key}` of axiom `{name}`", problems)) for key, x in own.items()])
                for name, own in _given.names(parameters, "parameters", problems).items()
            ],
            "batched": _given.list_of_names(batched, "batched", problems),
            "streamed": _given.list_of_names(streamed, "streamed", problems),
        }
        if not limited:  # the native part says so, with all else that is wrong
            threads, memory = None, None
        self._native = _native.KnowledgeBase(
            native, given, double=double, threads=threads, memory=memory, problems=problems, sharded=_sharded
        )
        self._places = {name: i for i, (name, _) in enumerate(native.predicates)}

    def evaluate(
        self,
        values: Mapping[str, Any] | None = None,
        *,
        alpha: float | None = None,
        p: float | None = None,
        p_forall: float | None = None,
        batch: Mapping[str, Any] | None = None,
        sorts: Mapping[str, Any] | None = None,
        tables: Mapping[str, Any] | None = None,
        gradients: bool = False,
        _step: Any = None,
    ) -> Evaluation:
        """The truth of each axiom, the loss and, if asked for, its gradient by every value.

        ``values`` has an array for each predicate, with an axis for each argument, or :class:`logltn.AtRows`. ``batch``
        says which rows of batched tables to look at, ``sorts`` and ``tables`` bring what comes with each call.
        """
        arrays, entries = self._entries(values, gradients)
        coming = _given.coming(self, batch, sorts, tables)
        numbers = _parameters(alpha, p, p_forall, self._defaults)
        exchange = None if _step is None else _step.exchange(numbers)
        evaluated = self._native.evaluate(entries, *numbers, coming, gradients, None, exchange)
        dtype = np.result_type(*(entry[2].dtype for entry in entries)) if entries else np.dtype(np.float64)
        return Evaluation(evaluated, dtype, arrays if gradients else None)

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
        """How true a formula is, or of whom: the document of ``logltn query --json``.

        A formula that begins with ``find`` has answers, the ``top`` truest first (0: all of them). Truths are logs in the log
        semantics. Computed in double precision, over all rows of batched tables.

        >>> import numpy as np
        >>> kb = KnowledgeBase('''
        ...     sort Person = {ann, bob}  predicate happy(Person)
        ...     axiom all: forall x: Person. happy(x)
        ... ''', outputs={"happy": "truth"}, semantics="stable")
        >>> values = {"happy": np.array([0.9, 0.25])}
        >>> round(kb.query("happy(ann) and happy(bob)", values)["truth"], 3)
        0.225
        >>> kb.query("find x: Person. not happy(x)", values, top=1)["answers"]
        [{'binding': {'x': 'bob'}, 'truth': 0.75}]
        """
        question = _question(formula, None, top, _parameters(alpha, p, p_forall, self._defaults))
        _, entries = self._entries(values)
        return json.loads(_native.ask(self._native, question, entries, _given.coming(self, None, sorts, tables)))

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
        """What breaks an axiom, a family or a member of one, or each of them: the document of ``logltn explain --json``.

        The ``top`` least true bindings of each (0: all of them), with the literals to blame and the witnesses. Computed in
        double precision, over all rows of batched tables.

        >>> import numpy as np
        >>> kb = KnowledgeBase('''
        ...     sort Person = {ann, bob}  predicate happy(Person)
        ...     axiom all: forall x: Person. happy(x)
        ... ''', outputs={"happy": "truth"}, semantics="stable")
        >>> worst = kb.explain({"happy": np.array([0.9, 0.25])}, top=1)["axioms"][0]["worst"][0]
        >>> worst["binding"], worst["literals"]
        ({'x': 'bob'}, [{'literal': 'happy(bob)', 'truth': 0.25, 'blame': 1.0}])
        """
        question = _question(None, axiom, top, _parameters(alpha, p, p_forall, self._defaults))
        _, entries = self._entries(values)
        document = _native.ask(self._native, question, entries, _given.coming(self, None, sorts, tables))
        return self._explanation(json.loads(document), {})

    def _explanation(
        self, document: dict[str, Any], coming: Mapping[str, Any], seen: Mapping[str, Mapping[str, np.ndarray]] = {}
    ) -> Explanation:
        """With pictures of individuals that have one, of those that came with the call too; `seen` has some by sort."""
        pictures: dict[str, dict[tuple[str, str], np.ndarray]] = {}
        variables = dict(self.theory._native.variables)
        known: dict[str, Mapping[str, np.ndarray]] = dict(seen)
        for axiom in document["axioms"]:
            sorts = dict(variables.get(axiom["name"].split("[")[0], ()))
            for worst in axiom["worst"]:
                for binding in (worst["binding"], *(w["binding"] or {} for w in worst["witnesses"])):
                    for variable, to in binding.items():
                        sort = sorts.get(variable, "")
                        if sort not in known:
                            known[sort] = self._picture_values(sort, coming)
                        if str(to) in known[sort]:
                            own = pictures.setdefault(axiom["name"], {})
                            own[variable, str(to)] = np.array(known[sort][str(to)])
        return Explanation(document, self._native.logs, pictures)

    def _picture_values(self, sort: str, coming: Mapping[str, Any]) -> Mapping[str, np.ndarray]:
        from ._html import is_picture

        fields: Any = {None: _given.array(coming[sort])} if sort in coming else self._features(sort)
        found = next((v for v in (fields or {}).values() if is_picture(v.shape[1:])), ())
        return {str(i): value for i, value in enumerate(found)}

    def _entries(
        self, values: Any, gradients: bool = False
    ) -> tuple[dict[str, Any], list[tuple[int, int, np.ndarray, np.ndarray | None]]]:
        """Values as the native part takes them, and arrays for their gradients."""
        problems: Problems = []
        arrays: dict[str, Any] = {}
        entries: list[tuple[int, int, np.ndarray, np.ndarray | None]] = []
        for name, value in _given.names(values, "values", problems).items():
            read = self._value(name, value, problems)
            if read is None:
                continue
            gradient = np.empty(read.shape, read.dtype) if gradients else None
            arrays[name] = gradient
            kind = 1 if isinstance(value, AtRows) else 0
            if read.ndim == 0:  # no buffer without axes
                kind, read = kind + 4, read.reshape(1)
                entries.append((self._places[name], kind, read, None if gradient is None else gradient.reshape(1)))
            else:
                entries.append((self._places[name], kind, read, gradient))
        if problems:
            _native.raise_problems(problems)
        return arrays, entries

    def _value(self, name: str, value: Any, problems: Problems) -> np.ndarray | None:
        if name not in self._places:
            help = _native.did_you_mean(name, list(self._places))
            problems.append(("unknown-predicate", f"the theory has no predicate `{name}`", help))
            return None
        if isinstance(value, AtRows):
            value = value.values
        try:
            read = _given.array(value)
        except Exception as error:  # noqa: BLE001  whatever conversion the object has may raise whatever it likes
            problems.append(("wrong-type", f"the values of predicate `{name}` cannot be read: {error}", None))
            return None
        if read.dtype.kind != "f" or read.dtype.itemsize not in (4, 8):
            help = "convert them, for example with `.astype(\"float32\")`"
            problems.append(
                ("unsupported-elements", f"the values of predicate `{name}` are {read.dtype}, not float32 or float64", help)
            )
            return None
        if read.dtype.isnative and read.flags.aligned:
            return read
        return read.astype(read.dtype.newbyteorder("="))

    def rows(
        self,
        predicate: str,
        *,
        batch: Mapping[str, Any] | None = None,
        sorts: Mapping[str, Any] | None = None,
        tables: Mapping[str, Any] | None = None,
    ) -> np.ndarray:
        """The rows that a predicate is asked about: ``int32``, ``[n, arity]``, each individual by its place in its sort,
        without the class of a softmax. Where an argument is a number, it is the number's place in :attr:`numbers`."""
        if predicate not in self._places:
            help = _native.did_you_mean(predicate, list(self._places))
            _native.raise_problems([("unknown-predicate", f"the theory has no predicate `{predicate}`", help)])
        coming = _given.coming(self, batch, sorts, tables)
        rows, arity = self._native.rows(self._places[predicate], coming)
        # A proposition has one row without individuals.
        return np.frombuffer(rows, np.int32).reshape(-1 if arity else 1, arity)

    def export_plan(
        self,
        *,
        batch: Mapping[str, Any] | None = None,
        sorts: Mapping[str, Any] | None = None,
        tables: Mapping[str, Any] | None = None,
    ) -> ExportedPlan:
        """The plan as a header and arrays, to be run elsewhere; docs/plan-format.md describes them."""
        return exported(self._native, _given.coming(self, batch, sorts, tables))

    @property
    def numbers(self) -> np.ndarray:
        """The numbers that stand as arguments of predicates, as of the last call."""
        return np.asarray(self._native.numbers())

    def check(self) -> dict[str, Any]:
        """The document of ``logltn check --json``. Whatever computes the values is ``"host"`` there, and what a step takes is
        what the axioms take."""
        document = json.loads(self._native.check(self._defaults))
        for sort in document["sorts"]:
            fields = self._features(sort["name"])
            if fields is not None:
                sort["features"] = [{"name": name, "shape": list(values.shape[1:])} for name, values in fields.items()]
        for constant in document["constants"]:
            if "learnable" in constant:
                constant["learnable"] = len(self._arguments["constants"][constant["name"]])
        return document

    def _features(self, sort: str) -> dict[str | None, np.ndarray] | None:
        """What was given of a sort's individuals, by field."""
        given = (self._arguments.get("sorts") or {}).get(sort)
        if isinstance(given, Mapping):
            return {name: _given.array(values) for name, values in given.items()}
        if given is None or isinstance(given, int) or _given.strings(given) is not None:
            return None
        values = _given.array(given)
        return {None: values} if values.ndim > 0 and values.dtype.kind in "fiub" else None

    def __repr__(self) -> str:
        return f"KnowledgeBase({', '.join(self.theory.axioms)})"

    def _repr_html_(self) -> str:
        from ._html import knowledge_base

        return knowledge_base(json.loads(self._native.check(None)))

    def __getstate__(self) -> dict[str, Any]:
        return self._arguments

    def __setstate__(self, arguments: dict[str, Any]) -> None:
        if "run" in arguments:
            self.__dict__.update(self._of_run(**arguments)[0].__dict__)
        else:
            self.__init__(**arguments)  # type: ignore[misc]

    @classmethod
    def _of_run(
        cls, run: str, dtype: Any, threads: Any, memory: Any
    ) -> tuple[KnowledgeBase, dict[str, Any], list[tuple[str, list[int], bytes]]]:
        """The knowledge base of a run, a description of what stands behind its symbols, and the tensors of that."""
        problems: Problems = []
        double = _double(dtype, problems)
        _limits(threads, memory, problems)
        if problems:
            _native.raise_problems(problems)
        (text, name), native, described, tensors, defaults = _native.load_run(run, double, threads, memory)
        knowledge = cls.__new__(cls)
        knowledge._arguments = dict(run=run, dtype=dtype, threads=threads, memory=memory)
        knowledge.theory = Theory(text, name=name)
        knowledge._native = native
        knowledge._places = {name: i for i, (name, _) in enumerate(knowledge.theory._native.predicates)}
        knowledge._defaults = defaults
        return knowledge, json.loads(described), tensors


class Evaluation:
    """What came out of :meth:`KnowledgeBase.evaluate`, in the dtype of the values.

    ``gradients`` has an array of the values' shape for each predicate that was given, if they were asked for.
    """

    __slots__ = ("_native", "_dtype", "gradients")

    gradients: dict[str, np.ndarray] | None

    def __init__(self, native: Any, dtype: np.dtype, gradients: dict[str, np.ndarray] | None) -> None:
        self._native = native
        self._dtype = dtype
        self.gradients = gradients

    @property
    def loss(self) -> Any:
        """What training minimises."""
        return self._dtype.type(self._native.loss)

    @property
    def sat(self) -> Any:
        """All axioms together: a log in the log semantics and in ``prod``, a truth degree in the others."""
        return self._dtype.type(self._native.sat)

    @property
    def truths(self) -> dict[str, Any]:
        """The truth of each axiom; of a family that of each member, ``name[ann]``."""
        number = self._dtype.type
        return {name: number(truth) for name, truth in self._native.truths().items()}

    @property
    def empty_exists(self) -> dict[str, int]:
        """How often an ``exists`` of an axiom had nothing to choose from."""
        return self._native.empty_exists()

    def __repr__(self) -> str:
        return f"Evaluation(loss={self._native.loss:.6g}, sat={self._native.sat:.6g})"

    def _repr_html_(self) -> str:
        from ._html import evaluation

        return evaluation(self)


class Explanation(dict[str, Any]):
    """What :meth:`KnowledgeBase.explain` says: the document of ``logltn explain --json``, which a notebook shows as tables."""

    def __init__(
        self, document: Mapping[str, Any] = {}, logs: tuple[bool, bool] = (False, False), pictures: dict[str, Any] | None = None
    ) -> None:
        super().__init__(document)
        self._logs = logs  # whether the truths of axioms, and of literals, are logs
        self._pictures = pictures or {}  # by axiom, of individuals by variable and number

    def _repr_html_(self) -> str:
        from ._html import explanation

        return explanation(self, *self._logs, self._pictures)


def _listed(given: Any) -> Any:
    return given if isinstance(given, str) or not isinstance(given, Iterable) else list(given)


def _parameters(alpha: Any, p: Any, p_forall: Any, defaults: tuple[float, float, float]) -> tuple[float, float, float]:
    problems: Problems = []
    numbers = tuple(
        default if x is None else _given.number(x, f"`{name}`", problems)
        for name, x, default in zip(("alpha", "p", "p_forall"), (alpha, p, p_forall), defaults)
    )
    if problems:
        _native.raise_problems(problems)
    return numbers  # type: ignore[return-value]


def _question(formula: Any, axiom: Any, top: Any, parameters: tuple[float, float, float]) -> dict[str, Any]:
    problems: Problems = []
    for name, text in (("formula", formula), ("axiom", axiom)):
        if text is not None and not isinstance(text, str):
            problems.append(("wrong-type", f"`{name}` is a text, not {_given.kind(text)}", None))
    if isinstance(top, bool) or not isinstance(top, int):
        problems.append(("wrong-type", f"`top` must be a number, not {top!r}", None))
    elif top < 0:
        problems.append(("value-out-of-range", f"`top` must be at least 0, which means all, not {top}", None))
    if problems:
        _native.raise_problems(problems)
    return {"formula": formula, "axiom": axiom, "parameters": parameters, "top": top}


def _double(dtype: Any, problems: Problems) -> bool:
    name = str(dtype).removeprefix("torch.")
    try:
        name = np.dtype(name if isinstance(dtype, str) or name != str(dtype) else dtype).name
    except TypeError:
        pass
    if name in ("float32", "float64"):
        return name == "float64"
    problems.append(("unknown-choice", f"`dtype` is \"float32\" or \"float64\", not {dtype!r}", None))
    return False


def _limits(threads: Any, memory: Any, problems: Problems) -> bool:
    before = len(problems)
    for name, value, unit, most in (("threads", threads, "", 1024), ("memory", memory, " bytes", 2**63)):
        if value is None:
            continue
        if isinstance(value, bool) or not isinstance(value, int):
            problems.append(("wrong-type", f"`{name}` must be a number{unit and ' of' + unit}, not {value!r}", None))
        elif value < 1:
            problems.append(("value-out-of-range", f"`{name}` must be at least 1, not {value}", None))
        elif value > most:
            problems.append(("value-out-of-range", f"`{name}` must be at most {most}, not {value}", None))
    return len(problems) == before


def _functions(functions: Any, native: Any, problems: Problems) -> list[tuple[str, list[int], Any]]:
    results = {name: result for name, _, result in native.functions}
    read = []
    for name, given in _given.names(functions, "functions", problems).items():
        try:
            values = _given.array(given)
        except Exception as error:  # noqa: BLE001  whatever conversion the object has may raise whatever it likes
            problems.append(("wrong-type", f"the values of function `{name}` cannot be read: {error}", None))
            continue
        real = "Real" if results.get(name, "").startswith("Real") else "Int"
        cells = _given.cells(values.reshape(-1), f"function `{name}`", real, problems)
        read.append((name, list(values.shape), cells))
    return read


def _constant(name: str, given: Any, problems: Problems) -> tuple[str, Any]:
    if isinstance(given, str):
        return name, given
    if hasattr(given, "ndim") and given.ndim == 0:
        given = given.item()
    if isinstance(given, int) and not isinstance(given, bool):
        return name, given
    vector = getattr(given, "ndim", None) or (1 if isinstance(given, (list, tuple)) else 0)
    if not vector:
        problems.append(("wrong-type", f"constant `{name}` is an individual of its sort or a vector, not {given!r}", None))
    return name, None


def _semantics(given: Any, problems: Problems) -> tuple[str, list[tuple[str, str]], float | None]:
    if isinstance(given, str):
        return given, [], None
    if not isinstance(given, Mapping):
        problems.append(("wrong-type", f"`semantics` is a name or a dict, not {_given.kind(given)}", None))
        return "logltn", [], None
    own = dict(given)
    base = own.pop("base", "logltn")
    eps = own.pop("stable_eps", None)
    operators = []
    for key, operator in own.items():
        if isinstance(operator, str):
            operators.append((str(key), operator))
        else:
            problems.append(("wrong-type", f"`semantics`: `{key}` must be the name of an operator, not {operator!r}", None))
    return str(base), operators, None if eps is None else _given.number(eps, "`stable_eps`", problems)
