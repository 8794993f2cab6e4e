"""The plan of a knowledge base as plain arrays: crates/logltn/PLAN-FORMAT.md."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

import numpy as np

from . import _native

VERSION = 4


@dataclass(frozen=True)
class ExportedPlan:
    """A plan as a header, a dict, and the arrays that it names by number.

    ``places`` has for each request its predicate's number and where its rows stand in an array with an axis for each argument,
    and in one of the rows that are asked for (``kb.rows``); ``None`` where they are just its rows.
    """

    header: dict[str, Any]
    arrays: list[np.ndarray]
    places: list[tuple[int, np.ndarray | None, np.ndarray | None]]


@dataclass(frozen=True)
class ChosenRows:
    """The part that a call uses of a plan that was exported with all rows."""

    # The number of each component that lists rows of batched tables, its offsets, and its tuples by their places in the list of all.
    components: list[tuple[int, np.ndarray, np.ndarray]]
    # By request: the codes of its rows, if they differ from the plan's.
    codes: list[np.ndarray | None]
    # As those of a plan, and where rows are among those that networks were asked about.
    places: list[tuple[int, np.ndarray | None, np.ndarray | None, np.ndarray | None]]


def exported(native: Any, coming: Any, by_rows: bool = True) -> ExportedPlan:
    return _with_places(*_native.export_plan(native, coming, by_rows))


def of_worlds(native: Any, formula: str | None, laws: Any, values: Any, coming: Any) -> ExportedPlan | None:
    """The plan of a question about worlds, given predicates, kinds and shapes of the values; none if there is no circuit for it."""
    found = _native.export_worlds(native, formula, laws, values, coming)
    return None if found is None else _with_places(*found)


def _with_places(header: str, arrays: Any, places: Any) -> ExportedPlan:
    return _read(header, arrays, [tuple(map(_int64, own[1:3])) for own in places], [own[0] for own in places])


def kept(native: Any, plan: Any) -> ExportedPlan:
    """A plan that is reused across calls, with all its rows."""
    header, arrays = _native.export_kept(native, plan)
    return _read(header, arrays, [], [])


def chosen(native: Any, about: Any, by_rows: bool) -> tuple[Any, ChosenRows] | None:
    """The plan from which a call selects rows, and the selection; None if the plan was made for this call alone."""
    found = _native.choose(native, about, by_rows)
    if found is None:
        return None
    plan, components, codes, places = found
    int32 = lambda given: np.frombuffer(given, np.int32)  # noqa: E731
    rows = ChosenRows(
        [(number, int32(offsets), int32(tuples)) for number, offsets, tuples in components],
        [_int64(own) for own in codes],
        [(predicate, _int64(grid), _int64(among), _int64(different)) for predicate, grid, among, different in places],
    )
    return plan, rows


def _int64(given: bytes | None) -> np.ndarray | None:
    return None if given is None else np.frombuffer(given, np.int64)


def _read(header: str, arrays: Any, places: Any, predicates: list[int]) -> ExportedPlan:
    document = json.loads(header)
    if document["version"] != VERSION:
        raise RuntimeError(f"a plan of version {document['version']}, not {VERSION}: the package is incomplete")
    return ExportedPlan(
        document,
        [np.frombuffer(data, np.dtype(dtype)) for dtype, data in arrays],
        [(predicate, grid, among) for predicate, (grid, among) in zip(predicates, places)],
    )
