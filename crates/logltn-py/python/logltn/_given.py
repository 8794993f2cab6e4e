"""Converts the users' arguments to the names, numbers and arrays that the native part takes.

Mistakes are collected and reported together.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from numbers import Integral, Real
from typing import Any

import numpy as np

from . import _native

Problems = list[tuple[str, str, "str | None"]]


@dataclass(frozen=True)
class Percentile:
    """See :func:`percentile`."""

    percent: float
    of: str


def percentile(percent: float, of: str) -> Percentile:
    """A param that is a percentile of distances over all ordered pairs, self-pairs included, with linear interpolation.

    >>> percentile(97.5, "dist(Point, Point)")
    Percentile(percent=97.5, of='dist(Point, Point)')
    """
    return Percentile(percent, of)


class AtRows:
    """The values of a predicate on the rows where it is needed, ``kb.rows(name)``: a number, or a row of numbers with
    one for each class, for each of them."""

    __slots__ = ("values",)

    def __init__(self, values: Any) -> None:
        self.values = values

    def __repr__(self) -> str:
        return f"AtRows({self.values!r})"


def kind(value: object) -> str:
    """The type of something, for a message."""
    return type(value).__name__


def array(value: Any) -> np.ndarray:
    """An array from anything with ``__array__`` or ``__dlpack__``, without a copy where possible."""
    if type(value) is np.ndarray:
        return value
    if issubclass(type(value), np.ma.MaskedArray) and np.ma.is_masked(value):
        raise TypeError("some of it is masked: fill it in, for example with `.filled(0)`")
    if hasattr(value, "detach"):  # a tensor that learns has no `__array__` to speak of
        value = value.detach().resolve_conj().resolve_neg()
        value = value.float() if str(value.dtype) == "torch.bfloat16" else value  # NumPy has no such numbers
        if getattr(value, "device", None) is not None and value.device.type != "cpu":
            raise TypeError(f"it is on {value.device}, not on the CPU")
    if hasattr(value, "__dlpack__") and not hasattr(value, "__array__"):
        return np.from_dlpack(value)
    return np.asarray(value)


def columns_in_guards(functions: Iterable[tuple[str, ...]], sorts: Mapping[str, Any]) -> dict[str, Any]:
    """The columns of sorts that guards use (``x.age``), by the names of their functions."""
    found = {}
    for name, *_ in functions:
        sort, dot, field = name.partition(".")
        given = named_columns(sorts[sort]) if dot and sort in sorts else None
        if given and field in given:
            column: Any = given[field]
            try:
                values = np.asarray(array(column.detach().cpu() if hasattr(column, "detach") else column), dtype=np.float64)
            except Exception:  # noqa: BLE001  names, for example: a column of numbers is missed where it is used
                continue
            if values.ndim == 1 or values.shape[1:] == (1,):
                found[name] = values.reshape(-1)
    return found


def asked_of_features(formula: str | None) -> tuple[set[str], bool]:
    """The columns that a question may read, `x.age`, and whether it measures distances."""
    text = formula or ""
    return set(re.findall(r"(?<=\w)\.([^\W\d]\w*)(?!\w*\s*\()", text)), re.search(r"\bdist\s*\(", text) is not None


def names(mapping: Any, what: str, problems: Problems) -> Mapping[str, Any]:
    """A dict by name, or a problem."""
    if mapping is None:
        return {}
    if type(mapping) is dict or isinstance(mapping, Mapping):
        for key in mapping:
            if not is_text(key):
                problems.append(("wrong-type", f"`{what}` must be a dict by name, but has the key {key!r}", None))
                return {}
        return mapping
    problems.append(("wrong-type", f"`{what}` must be a dict by name, not {kind(mapping)}", None))
    return {}


def is_text(given: Any) -> bool:
    """Whether this is text, without halves of characters."""
    return isinstance(given, str) and (given.isascii() or not any("\ud800" <= c <= "\udfff" for c in given))


def texts(**given: Any) -> None:
    """Raises an error if one is something and no text."""
    wrong: Problems = [("wrong-type", f"`{what}` is a text, not {kind(x) if not isinstance(x, str) else ascii(x)}", None)
                       for what, x in given.items() if x is not None and not is_text(x)]  # fmt: skip
    if wrong:
        _native.raise_problems(wrong)


def switch(given: Any, what: str) -> bool:
    """Whether something is wanted."""
    if not isinstance(given, (bool, np.bool_)):
        _native.raise_problems([("wrong-type", f"`{what}` is True or False, not {kind(given)}", None)])
    return bool(given)


def read_by(native: Any, *arguments: Any, **named: Any) -> Any:
    """Calls the native part; what it cannot read is a mistake."""
    try:
        return native(*arguments, **named)
    except TypeError as error:
        field = re.match(r"failed to extract field \w+\.(\w+)", str(error))
        if field is None:
            raise
        return _native.raise_problems([("wrong-type", f"`{field[1]}` cannot be read: {error.__cause__}", None)])


def list_of_names(given: Any, what: str, problems: Problems, of: str = "tables") -> list[str]:
    """Names of tables or others, or a problem."""
    if given is None:
        return []
    given = listed(given)
    if isinstance(given, list) and all(map(is_text, given)):
        return given
    help = f"write [{given!r}]" if isinstance(given, str) else None
    problems.append(("wrong-type", f"`{what}` must be a list of names of {of}, not {given!r}", help))
    return []


def listed(given: Any) -> Any:
    """What can be listed as a list, since it is read more than once."""
    if isinstance(given, str) or not isinstance(given, Iterable):
        return given
    try:
        return list(given)
    except Exception:  # noqa: BLE001  whoever reads it says what is wrong
        return None if given is None else repr(given)


def is_size(given: Any) -> bool:
    """Whether this is only the number of a sort's individuals."""
    return isinstance(given, Integral)


def key(given: Any) -> Any:
    """A key that is equal for the same arrays and numbers."""
    if isinstance(given, (str, bytes, bool, Integral, Real, Percentile, type(None))):
        return type(given).__name__, given
    if isinstance(given, Mapping):
        return "dict", *((name, key(value)) for name, value in given.items())
    if isinstance(given, (list, tuple)):
        return "list", *map(key, given)
    if hasattr(given, "columns") or hasattr(given, "column_names"):
        return "table", *((name, key(value)) for name, value in (named_columns(given) or {}).items())
    try:
        values = array(given)
        numbers = values.tobytes() if values.dtype.kind != "O" else tuple(values.reshape(-1).tolist())
        hash(numbers)
        return values.shape, values.dtype.str, numbers
    except Exception:  # noqa: BLE001  whoever reads it says what is wrong
        return "object", id(given)


def size(given: Any, name: str, problems: Problems) -> int | None:
    """How many individuals a sort has."""
    if isinstance(given, Integral) and not isinstance(given, bool):
        if given < 0:
            problems.append(("value-out-of-range", f"sort `{name}` cannot have {given} individuals", None))
            return None
        if int(given) >= 2**32 - 1:
            message = f"sort `{name}` has {given} individuals: at most 4,294,967,294 are possible"
            problems.append(("too-many-individuals", message, None))
            return None
        return int(given)
    return None


def sort(given: Any, name: str, needed: bool, problems: Problems) -> Any:
    """The individuals of a sort: a number of them, labels, or features and their width where they are needed."""
    before = len(problems)
    count = size(given, name, problems)
    if count is not None or len(problems) > before:
        return count
    if isinstance(given, Mapping):
        fields, names = {}, None
        for field, values in given.items():
            labels = strings(values)
            if labels is not None and names is None:
                names = labels
                continue
            values = features(values, f"sort `{name}`, field `{field}`", problems)
            if values is not None:
                fields[field] = values
        lengths = {len(values) for values in fields.values()} | ({len(names)} if names is not None else set())
        if len(lengths) > 1:
            shown = ", ".join([*(f"{len(v)} in `{f}`" for f, v in fields.items()), *([f"{len(names)} names"] if names else [])])
            problems.append(("sizes-disagree", f"sort `{name}` has different numbers of individuals: {shown}", None))
        if len(lengths) != 1 or len(problems) > before:
            if not given:
                problems.append(("wrong-type", f"sort `{name}` has no fields", None))
            return None
        count = lengths.pop()
        if names is not None and named_twice(names, name, problems):
            return None
        if not needed or not fields:
            return count if names is None else names
        flat = np.concatenate([rows_of(v).astype(np.float64) for v in fields.values()], axis=1)
        flat = np.ascontiguousarray(flat)
        return (flat, flat.shape[1]) if names is None else (names, flat, flat.shape[1])
    labels = strings(given)
    if labels is not None:
        return None if named_twice(labels, name, problems) else labels
    values = features(given, f"sort `{name}`", problems)
    if values is None:
        return None
    if not needed:
        return len(values)
    flat = np.ascontiguousarray(rows_of(values), dtype=np.float64)
    return flat, flat.shape[1]


def rows_of(values: np.ndarray) -> np.ndarray:
    """The numbers of each individual in a row, also where there is none."""
    return values.reshape(len(values), math.prod(values.shape[1:]))


def named_twice(labels: list[str], sort: str, problems: Problems) -> bool:
    """Reports two individuals with the same name."""
    seen: set[str] = set()
    twice = None
    for label in labels if len(set(labels)) < len(labels) else ():
        twice = label if twice is None and label in seen else twice
        seen.add(label)
    if twice is not None:
        problems.append(("duplicate-name", f"sort `{sort}` has two individuals called `{twice}`", None))
    return twice is not None


def individuals_names(given: Any) -> list[str] | None:
    """The names of a sort's individuals, if it has any."""
    if isinstance(given, Mapping):
        return next((names for names in map(strings, given.values()) if names is not None), None)
    return strings(given)


def strings(given: Any) -> list[str] | None:
    """A list of strings, if it is one."""
    if isinstance(given, (str, bytes, Mapping)) or isinstance(given, Integral) or hasattr(given, "detach"):
        return None
    if hasattr(given, "columns"):  # a data frame, which may list the names of its columns
        return None
    if isinstance(given, np.ndarray) and given.dtype.kind not in "UOT":
        return None
    try:
        given = getattr(given, "to_pylist", lambda: list(given))()  # pyarrow's own items are no texts
    except Exception:  # noqa: BLE001  whoever reads it says what is wrong
        return None
    if given and all(isinstance(item, str) for item in given):
        return [str(item) for item in given]
    return None


def features(given: Any, what: str, problems: Problems) -> np.ndarray | None:
    """Features: numbers, first axis individuals."""
    try:
        values = unboxed(array(given))
    except Exception as error:  # noqa: BLE001  whatever conversion the object has may raise whatever it likes
        problems.append(("wrong-type", f"{what} cannot be read as an array: {error}", None))
        return None
    if values.ndim == 0 or values.dtype.kind not in "fiub":
        expected = "a number of individuals, an array of features, a dict of such arrays, or a list of labels"
        of = f" of {values.dtype}" if values.ndim else ""
        problems.append(("wrong-type", f"{what}: expected {expected}, not {kind(given)}{of}", None))
        return None
    return values


_native.know_numpy(np.ndarray)


def columns(given: Any, name: str, declared: Sequence[tuple[str, str]], problems: Problems) -> list[Any] | None:
    """The columns of a table in the order of their declaration."""
    expected = [column for column, _ in declared]
    what = f"table `{name}`"
    found = named_columns(given)
    if found is None:
        try:
            values = array(given)
        except Exception as error:  # noqa: BLE001
            problems.append(("wrong-type", f"{what} cannot be read: {error}", None))
            return None
        if values.dtype.names:
            found = {field: values[field] for field in values.dtype.names}
        elif values.ndim == 2 and values.shape[1] == len(expected):
            found = dict(zip(expected, values.T))
        elif values.size == 0 and values.ndim <= 2:
            found = {column: np.empty(0, np.int64) for column in expected}
        else:
            shape = f"must be a dict of columns, a data frame, or an array of shape (rows, {len(expected)})"
            problems.append(("wrong-shape", f"{what} {shape}, not {kind(given)} of shape {values.shape}", None))
            return None
    before = len(problems)
    for column in found:
        if column not in expected:
            problems.append(("unknown-column", f"{what} has no column `{column}`", _native.did_you_mean(str(column), expected)))
    for column in expected:
        if column not in found:
            problems.append(("missing-column", f"{what}: column `{column}` is missing", None))
    if len(problems) > before:
        return None
    read = [cells(found[column], f"{what}, column `{column}`", sort, problems) for column, sort in declared]
    if len(problems) > before:
        return None
    lengths = {len(column) for column in read}
    if len(lengths) > 1:
        shown = ", ".join(f"{len(cells)} in `{column}`" for column, cells in zip(expected, read))
        problems.append(("wrong-shape", f"{what} has columns of different lengths: {shown}", None))
        return None
    return read


def named_columns(given: Any) -> dict[str, Any] | None:
    """The columns of a dict or a data frame by name; None if it is neither."""
    if type(given) is dict:
        return given
    if isinstance(given, Mapping):
        return dict(given)
    named = getattr(given, "column_names", None)  # pyarrow
    if named is None:
        named = getattr(given, "columns", None)  # pandas, polars
    if named is None or callable(named):
        return None
    try:
        return {str(name): given[name] for name in named}
    except Exception:  # noqa: BLE001  a lazy frame has names only; whoever reads it says what is expected
        return None


def cells(given: Any, what: str, sort: str, problems: Problems) -> Any:
    """One column: integers, reals or strings."""
    try:
        if type(given) is np.ndarray:
            values = given
        elif hasattr(given, "detach"):
            values = given.numpy(force=True)
        else:
            values = array(given)
    except Exception as error:  # noqa: BLE001
        problems.append(("wrong-type", f"{what} cannot be read: {error}", None))
        return ()
    if values.ndim != 1:
        problems.append(("wrong-shape", f"{what} must have one axis, not {values.ndim}", None))
        return ()
    if values.size == 0:
        return np.empty(0, np.float64 if sort == "Real" else np.int64)
    values = unboxed(values)
    if values.dtype.kind == "i":
        return values if values.dtype == np.int64 and values.flags.aligned else values.astype(np.int64)
    if values.dtype.kind == "u":
        if values.dtype.itemsize == 8 and values.max() > np.iinfo(np.int64).max:
            problems.append(("number-too-large", f"{what}: {values.max()} is too large", None))
        return values.astype(np.int64)
    if values.dtype.kind == "f":
        values = values.astype(np.float64, copy=not values.flags.aligned)
        missing = np.flatnonzero(np.isnan(values) & (sort != "Real"))
        if missing.size:
            problems.append(("wrong-type", f"{what}: row {missing[0]} is missing", "leave such rows out"))
            return ()
        whole = sort != "Real" and np.all(np.isfinite(values)) and np.all(values == np.floor(values)) and np.all(np.abs(values) < 2**53)
        return values.astype(np.int64) if whole else values
    if values.dtype.kind in "UOT":
        names = values.tolist()
        wrong = next((i for i, name in enumerate(names) if not isinstance(name, str)), None)
        if wrong is None:
            return names
        if isinstance(names[wrong], int) and not isinstance(names[wrong], bool):
            problems.append(("number-too-large", f"{what}: row {wrong} is {shortened(names[wrong])}, which is too large", None))
        else:
            problems.append(("wrong-type", f"{what}: row {wrong} is {names[wrong]!r}, neither text nor a number", None))
        return ()
    problems.append(("wrong-type", f"{what} has elements of type {values.dtype}, neither numbers nor text", None))
    return ()


def unboxed(values: np.ndarray) -> np.ndarray:
    """An array of objects that are numbers, as data frames have them, as an array of numbers."""
    if values.dtype.kind != "O":
        return values
    items = values.reshape(-1).tolist()
    if not all(isinstance(x, (Real, Decimal)) and not isinstance(x, bool) for x in items):
        return values
    try:
        return np.array(items, np.int64 if all(isinstance(x, Integral) for x in items) else np.float64).reshape(values.shape)
    except OverflowError:
        return values


def param(given: Any, name: str, problems: Problems) -> Any:
    """A number, or a percentile."""
    what = f"param `{name}`"
    if isinstance(given, Percentile):
        if not is_text(given.of):
            problems.append(("wrong-type", f"{what}: a percentile is of a text such as \"dist(Point, Point)\", not of {kind(given.of)}", None))
            return None
        return number(given.percent, f"the percentile of {what}", problems), given.of
    given = scalar(given)
    if isinstance(given, bool) or not isinstance(given, Real):
        problems.append(("wrong-type", f"{what} must be a number or a percentile, not {kind(given)}", None))
        return None
    if not isinstance(given, Integral):
        return number(given, what, problems)
    whole = int(given)
    if not -(2**63) <= whole < 2**63:
        problems.append(("number-too-large", f"{what}: {shortened(whole)} is too large", None))
        return None
    return whole


def scalar(given: Any) -> Any:
    """The number of an array without axes."""
    if not isinstance(given, (int, float)) and hasattr(given, "item") and getattr(given, "ndim", 1) == 0:
        try:
            return given.item()
        except Exception:  # noqa: BLE001  a tensor on no device, for example: it is no number
            pass
    return given


def shortened(number: Any) -> str:
    """A number to be shown."""
    return str(number) if -(10**30) < number < 10**30 else "a number of more than 30 digits"


def number(given: Any, what: str, problems: Problems) -> float:
    """A number."""
    given = scalar(given)
    if isinstance(given, bool) or not isinstance(given, Real):
        problems.append(("wrong-type", f"{what} must be a number, not {kind(given)}", None))
        return 1.0
    try:
        return float(given)
    except OverflowError:
        problems.append(("number-too-large", f"{what}: {shortened(given)} is too large", None))
        return 1.0


def coming(knowledge: Any, batch: Any, sorts: Any, tables: Any, question: str | None = None) -> Any:
    """The data of a call to a knowledge base, in the native part's form. Tables that a question does not mention
    may be left out."""
    if question is None:
        if batch is None and sorts is None and tables is None:
            return None
        quickly = knowledge._native.coming_in_a_hurry(batch, sorts, tables)
        if quickly is not None:
            return quickly
    problems: Problems = []
    batches = []
    for name, rows in names(batch, "batch", problems).items():
        rows = cells(rows, f"the batch of table `{name}`", "Int", problems)
        if isinstance(rows, np.ndarray) and rows.dtype == np.int64:
            batches.append((name, rows))
        elif not problems:
            problems.append(("wrong-type", f"the batch of table `{name}` must be numbers of rows", None))
    sizes = []
    for name, given in names(sorts, "sorts", problems).items():
        before = len(problems)
        shape: Sequence[int] = () if is_size(given) else getattr(given, "shape", ())
        count = int(shape[0]) if len(shape) > 0 else sort(given, name, False, problems)
        if isinstance(count, int):
            sizes.append((name, count))
        elif len(problems) == before:
            problems.append(("wrong-type", f"sort `{name}`: names do not come with a call", "give them when the knowledge base is made"))
    declared = knowledge.theory._columns
    read = []
    for name, given in names(tables, "tables", problems).items():
        if name not in declared:
            help = _native.did_you_mean(name, list(declared))
            problems.append(("unknown-table", f"the theory has no table `{name}`", help))
            continue
        table = columns(given, name, declared[name], problems)
        if table is not None:
            read.append((name, table))
    if problems:
        _native.raise_problems(problems)
    return knowledge._native.coming(batches, sizes, read, question)
