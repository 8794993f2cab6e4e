"""A theory with its data, evaluated on NumPy arrays."""

from __future__ import annotations

import json
import os
from collections import OrderedDict
from collections.abc import Iterable, Mapping
from functools import cached_property
from typing import Any

import numpy as np

from . import _given, _native
from ._asking import Asking, Explanation, call_parameters
from ._errors import InputError
from ._given import AtRows, Percentile, Problems
from ._native import Holds
from ._plan import ExportedPlan, exported
from ._theory import Theory
from ._worlds import Worlds


class KnowledgeBase(Asking, Worlds):
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
        of labels. In a dict a list of strings has the individuals' names. A sort that is not given comes with each call.
    tables
        A dict of columns, an array with a column for each, or a data frame. Individuals are numbered from 0, integers of an
        integer sort are themselves, labels are given by name.
    params
        Numbers, or :func:`logltn.percentile`. Those that are not given come with each call.
    functions
        Given by data: an array with an axis for each argument, of numbers or of individuals. Those that guards need and that are
        not given come with each call.
    constants
        An individual of the sort, or a vector: then it is an additional individual, numbered after the others, and the axes
        of its sort are longer by one.
    outputs
        ``"softmax"``, ``"sigmoid"`` (the default), ``"truth"`` or ``"log_truth"``.
    semantics
        A name, or a dict with ``base`` and other operators.
    weights, parameters
        Of single axioms, or of all members of a family.
    batched, streamed
        Tables of which a call may look at some rows only, and tables whose rows come with each call.
    p_axioms
        p_forall of the mean over axioms, if it differs from that of quantifiers.
    leave_out_empty
        Whether bindings for which an ``exists`` has nothing to choose from, and axioms without groundings, are left out of the
        means around them. Otherwise the former count as false and the latter as true.
    laws
        Axioms that hold in every world, whatever the numbers say: :meth:`marginals`, :meth:`world` and related methods are
        conditional on all of them, and so are all values under ``semantics="probability"``.
    dtype, threads, memory
        The precision of computing (``"float32"`` or ``"float64"``; by default that of the values, the higher one where they
        differ), how many threads may be used (as many as there are cores), how many bytes the plan may take (half of the machine's
        memory).
    """

    theory: Theory
    _arguments: dict[str, Any]
    _made: Any
    # The error for data that are missing, if they may come with calls.
    _waits: InputError | None
    # Sorts whose features guards read.
    _measured: set[str]
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
        laws: Iterable[str] = (),
        p_axioms: float | None = None,
        leave_out_empty: bool = False,
        dtype: Any = None,
        threads: int | None = None,
        memory: int | None = None,
        _sharded: bool = False,
        _learnt: Iterable[str] = (),
        _share: bool = True,
    ) -> None:
        batched, streamed, laws = _given.listed(batched), _given.listed(streamed), _given.listed(laws)
        self._arguments = dict(
            theory=theory, sorts=sorts, tables=tables, params=params, constants=constants, functions=functions, outputs=outputs,
            semantics=semantics, weights=weights, parameters=parameters, batched=batched, streamed=streamed, laws=laws, p_axioms=p_axioms,
            leave_out_empty=leave_out_empty, dtype=dtype, threads=threads, memory=memory, _sharded=_sharded,
            _share=_share,
        )  # fmt: skip
        if _learnt:
            self._arguments["_learnt"] = tuple(_learnt)
        self._begin()
        self.theory = theory if isinstance(theory, Theory) else Theory(theory)
        native = self.theory._native
        problems: Problems = []
        params = _given.names(params, "params", problems)
        percentiles = " ".join(str(p.of) for p in params.values() if isinstance(p, Percentile))
        individuals = _given.names(sorts, "sorts", problems)
        named = {name: _given.individuals_names(given) for name, given in individuals.items()}
        labels_of = [(name, labels) for name, labels in named.items() if labels is not None]
        measured = set(native.measured(labels_of))
        self._measured = measured | {name.partition(".")[0] for name, *_ in native.functions if "." in name}
        given_sorts = []
        for name, given in individuals.items():
            read = _given.sort(given, name, name in measured or name in percentiles, problems)
            if read is not None:
                given_sorts.append((name, read))
        declared = dict(native.tables)
        given_tables = []
        for name, given in _given.names(tables, "tables", problems).items():
            # The native part reports that there is no such table.
            columns = _given.columns(given, name, declared[name], problems) if name in declared else []
            if columns is not None:
                given_tables.append((name, columns))
        given_params = [(name, _given.param(p, name, problems)) for name, p in params.items()]
        double = _double(dtype, problems)
        limited = _limits(threads, memory, problems)
        if p_axioms is not None:
            p_axioms = _given.number(p_axioms, "`p_axioms`", problems)
        if _sharded and leave_out_empty:
            problems.append(("conflicting-keys", "`leave_out_empty` is not possible with a `process_group`", None))
        given = {
            "sorts": given_sorts,
            "tables": given_tables,
            "params": [(name, value) for name, value in given_params if value is not None],
            "constants": [_constant(name, c, problems) for name, c in _given.names(constants, "constants", problems).items()],
            "functions": _functions({**_given.columns_in_guards(native.functions, individuals), **_given.names(functions, "functions", problems)}, native, problems),
            "outputs": [(name, str(o)) for name, o in _given.names(outputs, "outputs", problems).items()],
            "semantics": _semantics(semantics, problems),
            "weights": [
                (name, _given.number(w, f"the weight of axiom `{name}`", problems))
                for name, w in _given.names(weights, "weights", problems).items()
            ],
            "parameters": [
                (name, [(key, _given.number(x, f"`{key}` of axiom `{name}`", problems)) for key, x in _given.names(own, f"parameters of axiom `{name}`", problems).items()])
                for name, own in _given.names(parameters, "parameters", problems).items()
            ],
            "batched": _given.list_of_names(batched, "batched", problems),
            "streamed": _given.list_of_names(streamed, "streamed", problems),
            "laws": _given.list_of_names(laws, "laws", problems, "axioms"),
        }
        if not limited:  # the native part reports it, together with all other mistakes
            threads, memory = None, None
        self._places = {name: i for i, (name, _) in enumerate(native.predicates)}
        try:
            self._made = _given.read_by(
                _native.KnowledgeBase, native, given, double=double, threads=threads, memory=memory, problems=problems, sharded=_sharded,
                p_axioms=p_axioms, leave_out_empty=_given.switch(leave_out_empty, "leave_out_empty"), share=_share,
            )  # fmt: skip
        except InputError as error:
            if _sharded or not all(self._comes_with_calls(d) for d in error.diagnostics if d.severity == "error"):
                raise
            self._waits = error

    def _begin(self) -> None:
        self._made, self._waits = None, None
        # Copies with the last per-call data that plans depend on.
        self._others: OrderedDict[Any, KnowledgeBase] = OrderedDict()
        self._measured = set()
        self._said: set[str] = set()

    def _comes_with_calls(self, d: Any) -> bool:
        """Whether everything that is missing may come with calls."""
        given = _given.names(self._arguments["sorts"], "sorts", [])
        name = d.message.split("`")[1] if "`" in d.message else ""
        if d.code == "missing-data":
            return d.message.startswith("param ")
        if d.code == "learnt-in-guard":
            return name not in self._arguments.get("_learnt", ())
        return d.code in ("no-features", "unknown-column") and d.message.startswith("sort ") and name not in given

    @property
    def _native(self) -> Any:
        if self._made is None:
            assert self._waits is not None
            raise InputError(str(self._waits), self._waits.diagnostics)
        return self._made

    @property
    def _some(self) -> Any:
        """The native part, or that of the last call if something comes with calls."""
        last = next(reversed(self._others.values()), self) if self._made is None else self
        return last._native

    def _with(self, params: Any, functions: Any, sorts: Any, formula: str | None = None) -> tuple[KnowledgeBase, Any]:
        """The knowledge base for a call's data, and the remaining sorts. Data that plans depend on, apart from rows of tables and sizes,
        are part of a knowledge base; the last few of these are kept."""
        problems: Problems = []
        params = _given.names(params, "params", problems)
        functions = _given.names(functions, "functions", problems)
        coming = _given.names(sorts, "sorts", problems)
        if problems:
            _native.raise_problems(problems)
        own = self._arguments
        known = own.get("sorts") or {}
        reads = any(_given.asked_of_features(formula))
        read = [name for name in coming if name not in known and (reads or name in self._measured) and not _given.is_size(coming[name])]
        if not params and not functions and not read:
            return self, sorts
        problem = None
        if "run" in own:
            problem = "the params and functions of a run are those of its manifest"
        elif own["_sharded"]:
            problem = "with a `process_group`, params, functions and what guards measure do not come with calls"
        if problem is not None:
            _native.raise_problems([("not-streamed", problem, "give them when the knowledge base is made")])
        for name, given in params.items():
            _given.param(given, name, problems)
        if problems:
            _native.raise_problems(problems)
        merged = {name: given for name, given in coming.items() if name not in known}
        key = _given.key((params, functions, merged))
        other = self._others.get(key)
        if other is None:
            columns = _given.columns_in_guards(self.theory._native.functions, merged)
            other = KnowledgeBase(**{
                **own,
                "params": {**(own["params"] or {}), **params},
                "functions": {**(own["functions"] or {}), **columns, **functions},
                "sorts": {**known, **merged},
            })  # fmt: skip
            other._said = self._said
            self._others[key] = other
            if len(self._others) > 8:
                self._others.popitem(last=False)
        left = {name: given for name, given in coming.items() if name in known}
        return other, left or None

    @property
    def logs(self) -> bool:
        """Whether the truths of axioms are logs."""
        return self._some.logs[0]

    @property
    def semantics(self) -> str | dict[str, Any]:
        """The semantics as given: a name, or a dict with ``base`` and other operators."""
        given = self._arguments.get("semantics")
        return json.loads(self._native.check(None))["semantics"] if given is None else given

    @property
    def weights(self) -> dict[str, float]:
        """The weight of each axiom; for a family, of each member."""
        return dict(zip(self._some.axiom_names, self._some.weights))

    @cached_property
    def _classes(self) -> dict[str, int | None]:
        """For each predicate that answers for all classes at once, the number of classes; −1 if it is not known."""
        document = json.loads(self._native.check(None))
        size = {s["name"]: s["size"] for s in document["sorts"]}
        return {
            given["name"]: (size.get(given["arguments"][-1], 0) or -1) if given["per_class"] and given["arguments"] else None
            for given in document["predicates"]
        }

    def _weights(self, weights: Any) -> dict[int, Any]:
        """The weights of a call, by the place of the axiom."""
        problems: Problems = []
        names = self._native.axiom_names
        found: dict[int, Any] = {}
        for name, weight in _given.names(weights, "weights", problems).items():
            own = [i for i, axiom in enumerate(names) if axiom == name]
            own = own or [i for i, axiom in enumerate(names) if axiom.startswith(f"{name}[")]
            if not own and name not in self.theory.axioms:
                help = _native.did_you_mean(name, [*self.theory.axioms, *names])
                problems.append(("unknown-axiom", f"the theory has no axiom `{name}`", help))
            _given.number(weight, f"the weight of axiom `{name}`", problems)
            found.update((i, weight) for i in own)
        if problems:
            _native.raise_problems(problems)
        return found

    def _look(self, evaluated: Any, sorts: Any = None, tables: Any = None) -> None:
        """Warns, once, of rows for which an `exists` is empty, of observations with probability 0, and of truths that are not finite."""
        if not evaluated.odd:
            return
        infinite = next((name for name, truth in evaluated.truths().items() if not np.isfinite(truth)), None)
        if infinite is not None and "infinite" not in self._said:
            self._said.add("infinite")
            message = f"the log truth of axiom `{infinite}` is not finite, and neither are its gradients: a truth of exactly 0 has no finite logarithm"
            _native.warn_of([("not-finite", message, "`stable_eps` above 0 keeps away from it")])
        excluded = {name: count for name, count in evaluated.impossible().items() if count}
        if excluded and "impossible" not in self._said:
            self._said.add("impossible")
            axiom, count = next(iter(excluded.items()))
            observations = "observation has" if count == 1 else "observations have"
            message = f"axiom `{axiom}`: {count} {observations} probability 0 in this call"
            help = "laws or certain degrees exclude them, and they have no gradient: `kb.explain` shows which"
            _native.warn_of([("vanishing-gradient", message, help)])
        counts = evaluated.empty_exists()
        if not any(counts.values()) or "empty" in self._said:
            return
        self._said.add("empty")
        axiom = next(name for name, count in counts.items() if count)
        place = self._impossible(axiom, sorts, tables)
        times = f", {counts[axiom]} times in this call" if counts[axiom] > 1 else ""
        value = "log truth -100000" if self._native.logs[1] else "truth 0"
        message = f"axiom `{axiom}`: an `exists` has nothing to choose from{place}{times}: it is false there, with {value}"
        _native.warn_of([("nothing-to-choose", message, "leave such rows out, by hand or with `leave_out_empty=True`")])

    def _impossible(self, axiom: str, sorts: Any, tables: Any) -> str:
        """Where an axiom's `exists` is empty. That depends on guards alone, so any values will do."""
        try:
            values = {}
            for name in self._places:
                rows, classes = self.rows(name, sorts=sorts, tables=tables), self._classes[name]
                shape = (len(rows),) if classes is None else (len(rows), classes)
                likely = {"truth": 0.5, "log_truth": -1.0}.get((self._arguments["outputs"] or {}).get(name, ""), 0.0)
                if len(rows):
                    values[name] = AtRows(np.full(shape, likely))
            worst = self.explain(values, axiom, top=3, sorts=sorts, tables=tables)["axioms"][0]["worst"]
        except (InputError, KeyError):
            return ""
        empty = [w for w in worst if any(witness["binding"] is None for witness in w["witnesses"])]
        shown = ", ".join(f"{variable} = {to}" for variable, to in empty[0]["binding"].items()) if empty else ""
        return f" at {shown}" if shown else ""

    def _squashed(self, name: str, low: float, high: float) -> None:
        """Warns, in the first call, of logits that look as if they were degrees of truth: all of them are between 0 and 1, and not the same."""
        if 0 < low < high < 1:
            message = f"predicate `{name}` takes logits, but all its values lie between 0 and 1: they seem to have been through a sigmoid or softmax"
            help = 'leave that out, or say `outputs={"' + name + '": "truth"}`'
            _native.warn_of([("squashed-twice", message, help)])

    def _takes_logits(self, name: str) -> bool:
        """Whether the first values of a predicate should be checked."""
        if f"values of {name}" in self._said:
            return False
        self._said.add(f"values of {name}")
        output = (self._arguments.get("outputs") or {}).get(name, "sigmoid")
        return "run" not in self._arguments and output.split()[0] in ("sigmoid", "softmax")

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
        weights: Mapping[str, float] | None = None,
        params: Mapping[str, float | Percentile] | None = None,
        functions: Mapping[str, Any] | None = None,
        gradients: bool = False,
        _step: Any = None,
    ) -> Evaluation:
        """The truth of each axiom, the loss and, on request, its gradient by every value.

        ``values`` has an array for each predicate, with an axis for each argument, or :class:`logltn.AtRows`. ``batch``
        says which rows of batched tables to look at, ``sorts``, ``tables``, ``params`` and ``functions`` bring what comes with each
        call, ``weights`` replaces weights of axioms for this call.
        """
        if params is not None or functions is not None or sorts is not None:
            other, sorts = self._with(params, functions, sorts)
            if other is not self:
                return other.evaluate(
                    values, alpha=alpha, p=p, p_forall=p_forall, batch=batch, sorts=sorts, tables=tables, weights=weights,
                    gradients=gradients, _step=_step,
                )  # fmt: skip
        gradients = _given.switch(gradients, "gradients")
        arrays, entries = self._entries(values, gradients)
        for (name, array), entry in zip(arrays.items(), entries):
            if self._takes_logits(name) and entry[2].size:
                self._squashed(name, entry[2].min(), entry[2].max())
        coming = _given.coming(self, batch, sorts, tables)
        numbers = call_parameters(alpha, p, p_forall, self._defaults)
        exchange = None if _step is None else _step.exchange(numbers)
        weighed = None if weights is None else [(i, float(w)) for i, w in self._weights(weights).items()]
        evaluated = self._native.evaluate(entries, *numbers, coming, gradients, None, exchange, weighed)
        if evaluated.odd:
            self._look(evaluated, sorts, tables)
        dtype = np.result_type(*(entry[2].dtype for entry in entries)) if entries else np.dtype(np.float64)
        return Evaluation(evaluated, dtype, self.logs, arrays if gradients else None)

    def _ask(self, asked: dict[str, Any], values: Any, sorts: Any, tables: Any, params: Any, functions: Any) -> str:
        other, sorts = self._with(params, functions, sorts, asked["formula"])
        _, entries = self._entries(values)
        return _given.read_by(_native.ask, other._native, other._reading(asked), entries, other._coming(asked, sorts, tables))

    def _reading(self, question: dict[str, Any]) -> dict[str, Any]:
        """A question with the features that it reads and no axiom does, by sort and column."""
        columns, distances = _given.asked_of_features(question["formula"])
        known = [name for name, *_ in self.theory._native.functions]
        found = question["features"]
        for sort, given in (self._arguments.get("sorts") or {}).items():
            asked = [(f"{sort}.{column}",) for column in columns if f"{sort}.{column}" not in known]
            for name, values in _given.columns_in_guards(asked, {sort: given}).items():
                found.append((sort, name.partition(".")[2], np.ascontiguousarray(values), 1))
            read = _given.sort(given, sort, True, []) if distances and sort not in self._measured else None
            if isinstance(read, tuple):
                found.append((sort, None, *read[-2:]))
        return question

    def _coming(self, question: dict[str, Any], sorts: Any, tables: Any) -> Any:
        """The data of a question, without the rows of streamed tables that it does not use."""
        text, axiom = question["formula"], question["axiom"]
        if axiom is not None:
            name = axiom.split("[")[0]
            text = next((formula for own, _, formula in self.theory._native.axioms if own == name), None)
        return _given.coming(self, None, sorts, tables, text)

    def _explanation(
        self, document: dict[str, Any], sorts: Any, seen: Mapping[str, Mapping[str, np.ndarray]] = {}
    ) -> Explanation:
        """`seen` has some pictures by sort."""
        pictures: dict[str, dict[tuple[str, str], np.ndarray]] = {}
        variables = dict(self.theory._native.variables)
        known: dict[str, Mapping[str, np.ndarray]] = dict(seen)
        for axiom in document["axioms"]:
            own_sorts = dict(variables.get(axiom["name"].split("[")[0], ()))
            for worst in axiom["worst"]:
                for binding in (worst["binding"], *(w["binding"] or {} for w in worst["witnesses"])):
                    for variable, to in binding.items():
                        sort = own_sorts.get(variable, "")
                        if sort not in known:
                            known[sort] = self._picture_values(sort, sorts or {})
                        if str(to) in known[sort]:
                            own = pictures.setdefault(axiom["name"], {})
                            own[variable, str(to)] = np.array(known[sort][str(to)])
        return Explanation(document, self._some.logs, pictures)

    def _picture_values(self, sort: str, coming: Mapping[str, Any]) -> Mapping[str, np.ndarray]:
        from ._html import is_picture

        fields = self._features(sort, coming) or {}
        found = next((v for v in fields.values() if is_picture(v.shape[1:])), ())
        return {str(i): value for i, value in enumerate(found)}

    def _entries(
        self, values: Any, gradients: bool = False
    ) -> tuple[dict[str, Any], list[tuple[int, Holds, np.ndarray, np.ndarray | None]]]:
        """Values in the form that the native part takes, and arrays for their gradients."""
        problems: Problems = []
        arrays: dict[str, Any] = {}
        entries: list[tuple[int, Holds, np.ndarray, np.ndarray | None]] = []
        for name, value in _given.names(values, "values", problems).items():
            read = self._value(name, value, problems)
            if read is None:
                continue
            gradient = np.empty(read.shape, read.dtype) if gradients else None
            arrays[name] = gradient
            entries.append((self._places[name], Holds.ROWS if isinstance(value, AtRows) else Holds.GRID, read, gradient))
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
        params: Mapping[str, float | Percentile] | None = None,
        functions: Mapping[str, Any] | None = None,
    ) -> np.ndarray:
        """The rows on which a predicate is needed: ``int32``, ``[n, arity]``, each individual by its place in its sort,
        without the class of a softmax. For an argument that is a number, it has the number's place in :attr:`numbers`."""
        _given.texts(predicate=predicate)
        if predicate not in self._places:
            help = _native.did_you_mean(predicate, list(self._places))
            _native.raise_problems([("unknown-predicate", f"the theory has no predicate `{predicate}`", help)])
        other, sorts = self._with(params, functions, sorts)
        coming = _given.coming(other, batch, sorts, tables)
        rows, arity = other._native.rows(self._places[predicate], coming)
        # A proposition has one row without individuals.
        return np.frombuffer(rows, np.int32).reshape(-1 if arity else 1, arity)

    def export_plan(
        self,
        *,
        batch: Mapping[str, Any] | None = None,
        sorts: Mapping[str, Any] | None = None,
        tables: Mapping[str, Any] | None = None,
    ) -> ExportedPlan:
        """The plan as a header and arrays, to be run elsewhere; crates/logltn/PLAN-FORMAT.md describes them."""
        return exported(self._native, _given.coming(self, batch, sorts, tables))

    @property
    def numbers(self) -> np.ndarray:
        """The numbers that are arguments of predicates, in the last call."""
        return np.asarray(self._native.numbers())

    def identify(
        self, predicate: str | None = None, support: Mapping[str, Any] | None = None, labels: Any = None
    ) -> dict[str, Any]:
        """Whether the axioms fix the classes of a softmax, and which labels would: the document of ``logltn identify --json``.

        ``labels`` are the true classes of the individuals, one for each. ``support`` says for an axiom which true classes
        occur in it: a dict of columns, a data frame or the path of a CSV file, with a column for each of its variables
        that the predicate is asked about. Without either, all that satisfy an axiom are assumed to occur.

        >>> kb = KnowledgeBase('''
        ...     sort Image  sort Digit = 0..4  table sums(x: Image, y: Image, n: Int)  predicate digit(Image, Digit)
        ...     axiom add: forall (x, y, n) in sums. exists a, b: Digit where a + b = n. digit(x, a) and digit(y, b)
        ... ''', sorts={"Image": 5}, outputs={"digit": "softmax"},
        ...     tables={"sums": {"x": [0, 0, 2, 2], "y": [0, 1, 3, 4], "n": [0, 1, 5, 6]}})
        >>> found = kb.identify(labels=[0, 1, 2, 3, 4])
        >>> found["maps"], found["fixed"], found["labels"]
        ('3', [0, 1], [{'class': 2, 'maps': '1'}])
        """
        _given.texts(predicate=predicate)
        problems: Problems = []
        sort = None
        if isinstance(labels, Mapping):
            if len(labels) == 1:
                ((sort, labels),) = labels.items()
            else:
                problems.append(("wrong-type", "`labels`: expected the classes of the individuals of one sort", None))
        given = _given.names(support, "support", problems).items()
        supports = [(axiom, *_support(axiom, rows, problems)) for axiom, rows in given]
        own = None
        if labels is not None and not problems:
            try:
                own = None if sort is None else str(sort), _texts(labels)
                "".join(own[1]).encode()
            except Exception as error:  # noqa: BLE001  whatever conversion the object has may raise whatever it likes
                problems.append(("wrong-type", f"`labels` cannot be read: {error}", None))
        if problems:
            _native.raise_problems(problems)
        return json.loads(_native.identify(self._native, predicate, supports, own))

    def check(self) -> dict[str, Any]:
        """The document of ``logltn check --json``. The values count as ``"host"`` there, and the cost of a step is
        that of the axioms."""
        document = json.loads(self._native.check(self._defaults))
        for sort in document["sorts"]:
            fields = self._features(sort["name"])
            if fields is not None:
                sort["features"] = [{"name": name, "shape": list(values.shape[1:])} for name, values in fields.items()]
        for constant in document["constants"]:
            if "learnable" in constant:
                constant["learnable"] = len(self._arguments["constants"][constant["name"]])
        return document

    def _features(self, sort: str, coming: Mapping[str, Any] = {}) -> dict[str | None, np.ndarray] | None:
        """The features of a sort's individuals, given with the call or before, by field."""
        given = {**(self._arguments.get("sorts") or {}), **coming}.get(sort)
        if isinstance(given, Mapping):
            return {name: _given.array(values) for name, values in given.items() if _given.strings(values) is None}
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
        """The knowledge base of a run, a description of the groundings of its symbols, and the tensors of that."""
        problems: Problems = []
        double = _double(dtype, problems)
        _limits(threads, memory, problems)
        if problems:
            _native.raise_problems(problems)
        (text, name), native, described, tensors, defaults = _native.load_run(run, double, threads, memory)
        knowledge = cls.__new__(cls)
        knowledge._begin()
        knowledge._arguments = dict(run=run, dtype=dtype, threads=threads, memory=memory)
        knowledge.theory = Theory(text, name=name)
        knowledge._made = native
        knowledge._places = {name: i for i, (name, _) in enumerate(knowledge.theory._native.predicates)}
        knowledge._defaults = defaults
        return knowledge, json.loads(described), tensors


class Truths(dict[str, float]):
    """Truths by axiom. ``logs`` tells whether they are logs, as in the log semantics and in ``prod``, or degrees between 0 and 1."""

    def __init__(self, truths: Mapping[str, Any] = {}, logs: bool = False) -> None:
        super().__init__(truths)
        self.logs = logs

    def __reduce__(self) -> Any:
        return Truths, (dict(self), self.logs)


class Evaluation:
    """The result of :meth:`KnowledgeBase.evaluate`, in the dtype of the values.

    ``gradients`` has an array of the values' shape for each predicate that was given, if they were asked for.
    """

    __slots__ = ("_native", "_dtype", "_logs", "gradients")

    gradients: dict[str, np.ndarray] | None

    def __init__(self, native: Any, dtype: np.dtype, logs: bool, gradients: dict[str, np.ndarray] | None) -> None:
        self._native = native
        self._logs = logs
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
    def truths(self) -> Truths:
        """The truth of each axiom; for a family, of each member, ``name[ann]``. ``truths.logs`` tells whether they are logs."""
        number = self._dtype.type
        return Truths({name: number(truth) for name, truth in self._native.truths().items()}, self._logs)

    @property
    def empty_exists(self) -> dict[str, int]:
        """How often an ``exists`` of an axiom was empty."""
        return self._native.empty_exists()

    @property
    def impossible(self) -> dict[str, int]:
        """Under ``probability``: how many observations of an axiom have probability 0."""
        return self._native.impossible()

    def __repr__(self) -> str:
        return f"Evaluation(loss={self._native.loss:.6g}, sat={self._native.sat:.6g})"

    def _repr_html_(self) -> str:
        from ._html import evaluation

        return evaluation(self)


def _texts(column: Any) -> list[str]:
    """Classes as they are written: integers without a point, labels by name."""
    column = column.detach().cpu() if hasattr(column, "detach") else column
    cells = np.asarray(column).ravel().tolist() if not isinstance(column, (list, tuple)) else column
    cells = [c.item() if hasattr(c, "item") else c for c in cells]
    return [str(int(c)) if isinstance(c, (int, np.integer)) or (isinstance(c, float) and c.is_integer()) else str(c) for c in cells]


def _support(axiom: str, given: Any, problems: Problems) -> tuple[Any, list[str], list[list[str]]]:
    """The file of a support, or its columns and its rows."""
    if isinstance(given, (str, os.PathLike)):
        return given, [], []
    if not hasattr(given, "keys") and not hasattr(given, "columns"):
        problems.append(("wrong-type", f"`support` of `{axiom}`: expected a dict of columns, a data frame or a path", None))
        return None, [], []
    names = [str(name) for name in (given.keys() if hasattr(given, "keys") else given.columns)]
    cells = [_texts(given[name]) for name in names]
    if len({len(column) for column in cells}) > 1:
        problems.append(("sizes-disagree", f"`support` of `{axiom}`: its columns have different lengths", None))
        return None, [], []
    return None, names, [list(row) for row in zip(*cells)]


def _double(dtype: Any, problems: Problems) -> bool | None:
    """Whether to compute in double precision; None if the values decide."""
    if dtype is None:
        return None
    name = str(dtype).removeprefix("torch.")
    try:
        name = np.dtype(name if isinstance(dtype, str) or name != str(dtype) else dtype).name
    except Exception:  # noqa: BLE001  whatever it is, it names no precision
        pass
    if name in ("float32", "float64"):
        return name == "float64"
    problems.append(("unknown-choice", f"`dtype` is \"float32\", \"float64\" or None, not {dtype!r}", None))
    return None


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
        before = len(problems)
        cells = _given.cells(values.reshape(-1), f"function `{name}`", real, problems)
        if len(problems) == before:
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
