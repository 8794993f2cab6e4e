"""Worlds that satisfy the laws: marginals, the most probable world, random worlds."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from . import _given, _native
from ._given import Problems


class Worlds:
    """The questions that a knowledge base answers about worlds. The values of predicates are a distribution, whatever the semantics."""

    _places: dict[str, int]

    def marginals(
        self,
        values: Mapping[str, Any] | None = None,
        *,
        laws: Iterable[str] | None = None,
        batch: Mapping[str, Any] | None = None,
        sorts: Mapping[str, Any] | None = None,
        tables: Mapping[str, Any] | None = None,
    ) -> dict[str, np.ndarray]:
        """The probability of each atom given the laws: an array of the values' shape for each given predicate.

        ``laws`` replaces the knowledge base's laws, ``[]`` removes them. Atoms that no law uses keep their own degree.

        >>> import numpy as np
        >>> from logltn import KnowledgeBase
        >>> kb = KnowledgeBase('''
        ...     predicate cat()  predicate animal()
        ...     axiom isa: cat() -> animal()
        ... ''', outputs={"cat": "truth", "animal": "truth"}, laws=["isa"])
        >>> values = {"cat": np.array(0.5), "animal": np.array(0.5)}
        >>> {name: round(float(p), 3) for name, p in kb.marginals(values).items()}
        {'cat': 0.333, 'animal': 0.667}
        >>> kb.world(values)[0]
        {'cat': array(0), 'animal': array(0)}
        >>> round(float(kb.entropy(values)), 3), round(float(kb.log_probability(values, "cat()")), 3)
        (1.099, -1.099)
        """
        given, told, _ = self._told("marginals", values, laws, batch, sorts, tables)
        out = {name: degrees(kind, array) for name, (array, kind) in given.items()}
        for name, places, numbers in told:
            out[name].reshape(-1)[places] = numbers
        return {name: array.astype(given[name][0].dtype) for name, array in out.items()}

    def log_probability(
        self,
        values: Mapping[str, Any] | None,
        formula: str,
        *,
        laws: Iterable[str] | None = None,
        batch: Mapping[str, Any] | None = None,
        sorts: Mapping[str, Any] | None = None,
        tables: Mapping[str, Any] | None = None,
    ) -> Any:
        """The log of the probability that a closed formula holds, as one event, given the laws."""
        other, sorts = self._with(None, None, sorts)  # type: ignore[attr-defined]
        _, entries = self._entries(values)  # type: ignore[attr-defined]
        coming = _given.coming(other, batch, sorts, tables)
        found = _native.log_probability(other._native, text(formula), _laws(laws), entries, coming)
        return _dtype(entries).type(found)

    def world(
        self,
        values: Mapping[str, Any] | None = None,
        *,
        laws: Iterable[str] | None = None,
        batch: Mapping[str, Any] | None = None,
        sorts: Mapping[str, Any] | None = None,
        tables: Mapping[str, Any] | None = None,
    ) -> tuple[dict[str, np.ndarray], Any]:
        """The most probable world that satisfies all laws, and the log of its probability given the laws.

        Arrays of 0 and 1; for a softmax the index of the class, without the last axis. Of equally probable states the first is taken.
        """
        given, told, number = self._told("world", values, laws, batch, sorts, tables)
        out, likely = {}, {}
        for name, (array, kind) in given.items():
            p = degrees(kind, array)
            out[name] = np.array(p.argmax(-1) if kind == "softmax" else p > 0.5, np.int64)
            likely[name] = np.array(np.log(p.max(-1) if kind == "softmax" else np.maximum(p, 1 - p)))
        for name, places, states in told:
            out[name].reshape(-1)[places] = states
            likely[name].reshape(-1)[places] = 0.0
        number += sum(float(free.sum()) for free in likely.values())
        return out, _dtype(given.values()).type(number)

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
    ) -> dict[str, np.ndarray]:
        """``n`` worlds from the exact distribution given the laws, as in :meth:`world` with one more axis in front. The same for the
        same seed."""
        numbers(n=n, seed=seed)
        given, told, _ = self._told("sample", values, laws, batch, sorts, tables, count=int(n), seed=int(seed))
        random = np.random.Generator(np.random.PCG64(int(seed)))
        out = {}
        for name, (array, kind) in given.items():
            p = degrees(kind, array)
            if kind == "softmax":
                below = np.cumsum(p, -1)
                drawn = random.random((n, *p.shape[:-1], 1)) * below[..., -1:]
                # Never a class of probability 0, whatever rounding does.
                last = p.shape[-1] - 1 - (p[..., ::-1] > 0).argmax(-1)
                out[name] = np.array(np.minimum((drawn >= below).sum(-1), last), np.int64)
            else:
                out[name] = np.array(random.random((n, *p.shape)) < p, np.int64)
        for name, places, states in told:
            if n > 0 and len(places) > 0:
                out[name].reshape(n, -1)[:, places] = states.reshape(n, -1)
        return out

    def entropy(
        self,
        values: Mapping[str, Any] | None = None,
        *,
        laws: Iterable[str] | None = None,
        batch: Mapping[str, Any] | None = None,
        sorts: Mapping[str, Any] | None = None,
        tables: Mapping[str, Any] | None = None,
    ) -> Any:
        """The entropy of all given atoms under the laws, in nats."""
        given, told, number = self._told("entropy", values, laws, batch, sorts, tables)
        for name, (array, kind) in given.items():
            p = degrees(kind, array)
            own = np.array(_entropy(p) if kind == "softmax" else _entropy(p) + _entropy(1 - p))
            for other, places, _ in told:
                if other == name:
                    own.reshape(-1)[places] = 0.0
            number += float(own.sum())
        return _dtype(given.values()).type(number)

    def _told(
        self, what: str, values: Any, laws: Any, batch: Any, sorts: Any, tables: Any, count: int = 0, seed: int = 0
    ) -> tuple[dict[str, tuple[np.ndarray, str]], list[tuple[str, np.ndarray, np.ndarray]], float]:
        """The given arrays with what they mean; and for the atoms that laws use, their places and outputs."""
        other, sorts = self._with(None, None, sorts)  # type: ignore[attr-defined]
        _, entries = self._entries(values)  # type: ignore[attr-defined]
        question = ask(what, laws, count, seed)
        number, parts = _native.worlds(other._native, question, entries, _given.coming(other, batch, sorts, tables))
        names, outputs = list(self._places), other._native.outputs
        given = {names[place]: (array, outputs[place]) for place, _, array, _ in entries}
        valid({name: (kind, array) for name, (array, kind) in given.items()})
        told = [(names[place], np.frombuffer(at, np.int64), np.frombuffer(data)) for place, at, data in parts]
        return given, [part for part in told if part[0] in given], number


def ask(what: str, laws: Any, count: int = 0, seed: int = 0, along: Any = None) -> dict[str, Any]:
    """A question as the native part takes it."""
    return {"what": what, "laws": _laws(laws), "count": count, "seed": seed, "along": along}


def numbers(**given: Any) -> None:
    """Raises an error if one is not a number that is not negative."""
    problems: Problems = []
    for what, number in given.items():
        if isinstance(number, bool) or not isinstance(number, (int, np.integer)) or not 0 <= number < 2**63:
            problems.append(("wrong-type", f"`{what}` must be a number that is not negative, not {number!r}", None))
    if problems:
        _native.raise_problems(problems)


def valid(given: Mapping[str, tuple[str, np.ndarray]]) -> None:
    """Raises an error if a number cannot be what it is said to be, also where no law asks for it."""
    problems: Problems = []
    for name, (kind, array) in given.items():
        low, high = {"truth": (-1e-6, 1 + 1e-6), "log_truth": (np.finfo(array.dtype).min, 1e-6)}.get(kind, (-np.inf, np.finfo(array.dtype).max))
        wrong = ~((array >= low) & (array <= high))
        if kind == "softmax" and array.size and not wrong.any():  # every class is masked
            wrong = np.isneginf(array).all(-1, keepdims=True)
        if wrong.any():
            at = tuple(int(i) for i in np.unravel_index(wrong.argmax(), wrong.shape))
            place = f" at [{', '.join(map(str, at))}]" if at else ""
            problems.append(("not-finite" if not np.isfinite(array[at]) else "value-out-of-range", f"predicate `{name}`: the value{place} is {array[at]}", None))
    if problems:
        _native.raise_problems(problems)


def text(formula: str) -> str:
    _given.texts(formula=formula)
    return "" if formula is None else formula


def _laws(laws: Any) -> list[str] | None:
    if laws is None:
        return None
    problems: Problems = []
    listed = _given.list_of_names(laws, "laws", problems, "axioms")
    if problems:
        _native.raise_problems(problems)
    return listed


def degrees(kind: str, numbers: np.ndarray) -> np.ndarray:
    """The values as probabilities, without laws: a new array, row by row."""
    return np.array(_degrees(kind, numbers.astype(np.float64)), order="C")


def _degrees(kind: str, numbers: np.ndarray) -> Any:
    if kind == "truth":
        return numbers
    if kind == "log_truth":
        return np.minimum(np.exp(numbers), 1.0)
    if kind == "sigmoid":
        small = np.exp(-np.abs(numbers))
        return np.where(numbers < 0, small, 1.0) / (1.0 + small)
    shares = np.exp(numbers - numbers.max(-1, keepdims=True, initial=-np.inf))
    return shares / shares.sum(-1, keepdims=True)


def _entropy(p: np.ndarray) -> np.ndarray:
    return -p * np.log(np.where(p > 0, p, 1.0))


def _dtype(given: Any) -> np.dtype:
    dtypes = [part[2].dtype if isinstance(part[0], int) else part[0].dtype for part in given]
    return np.result_type(*dtypes) if dtypes else np.dtype(np.float64)
