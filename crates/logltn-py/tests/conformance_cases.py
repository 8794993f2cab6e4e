"""The cases of conformance/, as arguments of a knowledge base."""

import csv
import json
import tomllib
from pathlib import Path

import numpy as np

import logltn

FOLDER = Path(__file__).resolve().parents[3] / "conformance"
NAMES = sorted(p.name for p in FOLDER.iterdir() if (p / "theory.ltn").is_file())
# A test that found none would pass without having compared anything.
assert len(NAMES) >= 30

_INTEGER = {"Int"}


def _rows(path):
    with open(path, newline="") as file:
        return list(csv.reader(file))


def read(name):
    """Arguments, values, and what is expected of them."""
    folder = FOLDER / name
    case = tomllib.loads((folder / "case.toml").read_text())
    theory = logltn.Theory.read(folder / case["theory"])
    sorts = {}
    for sort, given in case.get("sorts", {}).items():
        sorts[sort] = np.array([[float(x) for x in row] for row in _rows(folder / given["features"])[1:]])
    tables = {}
    signatures = dict(theory._native.tables)
    for table, given in case.get("tables", {}).items():
        head, *rows = _rows(folder / given["rows"])
        number = {column: float if sort == "Real" else int for column, sort in signatures[table]}
        tables[table] = {column: np.array([number[column](row[i]) for row in rows]) for i, column in enumerate(head)}
    sizes = {}
    for sort, kind, ends in theory._native.sorts:
        sizes[sort] = {"data": lambda: len(sorts[sort]), "range": lambda: int(ends[1]) - int(ends[0]) + 1, "labels": lambda: len(ends)}[kind]()
    outputs, values = {}, {}
    for predicate, arguments in theory._native.predicates:
        given = case["predicates"][predicate]
        key = next(k for k in ("logits", "truth", "log_truth") if k in given)
        outputs[predicate] = given["output"] if key == "logits" else key
        numbers = np.array([[float(x) for x in row] for row in _rows(folder / given[key])[1:]])
        values[predicate] = numbers.reshape([sizes[sort] for sort in arguments])
    arguments = dict(theory=theory, sorts=sorts, tables=tables, params=case.get("params", {}), outputs=outputs)
    return arguments, values, json.loads((folder / "expected.json").read_text())


def parameters(entry):
    return {key: entry[key] for key in ("alpha", "p", "p_forall") if key in entry}


def near(a, b, tolerance=1e-9):
    return abs(a - b) <= tolerance * max(1.0, abs(a), abs(b))


def same_gradients(found, expected, loss, values):
    """Whether all derivatives are right. At a tie any subgradient is: there the slopes to both sides differ, and what was
    found lies between them."""
    for predicate, array in values.items():
        flat = np.asarray(expected[predicate], dtype=float).reshape(-1)
        ours = np.asarray(found[predicate]).reshape(-1)
        assert len(flat) == len(ours)
        for i in np.flatnonzero(np.abs(ours - flat) > 1e-9 * np.maximum(1.0, np.abs(flat))):
            slopes = []
            for step in (-1e-6, 1e-6):
                moved = {name: a.copy() for name, a in values.items()}
                moved[predicate].reshape(-1)[i] += step
                slopes.append((loss(moved) - loss(values)) / step)
            low, high = min(slopes), max(slopes)
            assert high - low > 1e-4, (predicate, i, ours[i], flat[i])
            assert low - 1e-4 <= ours[i] <= high + 1e-4, (predicate, i, ours[i], slopes)
