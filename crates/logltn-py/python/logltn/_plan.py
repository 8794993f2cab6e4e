"""The plan of a knowledge base as plain arrays: docs/plan-format.md."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

import numpy as np

VERSION = 1


@dataclass(frozen=True)
class ExportedPlan:
    """A plan as a header, a dict, and the arrays that it names by number.

    ``places`` has for each request its predicate's number and where its rows stand in an array with an axis for each argument,
    and in one of the rows that are asked for (``kb.rows``); ``None`` where they are just its rows.
    """

    header: dict[str, Any]
    arrays: list[np.ndarray]
    places: list[tuple[int, np.ndarray | None, np.ndarray | None]]


def exported(native: Any, coming: Any, by_rows: bool = True) -> ExportedPlan:
    header, arrays, places = native.export_plan(coming, by_rows)
    read = lambda given: None if given is None else np.frombuffer(given, np.int64)  # noqa: E731
    document = json.loads(header)
    if document["version"] != VERSION:
        raise RuntimeError(f"a plan of version {document['version']}, not {VERSION}: the package is not whole")
    return ExportedPlan(
        document,
        [np.frombuffer(data, np.dtype(dtype)) for dtype, data in arrays],
        [(predicate, read(grid), read(among)) for predicate, grid, among in places],
    )
