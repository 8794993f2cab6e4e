"""The same numbers and names in every form that arrays and data frames have: the same loss and gradients, or an `InputError`."""

import collections
import decimal
import warnings

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import logltn

torch = pytest.importorskip("torch")
import logltn.torch  # noqa: E402

THEORY = """
sort P
sort L
sort K = 0..2
table t(x: P, a: L, k: K, n: Int, w: Real)
predicate C(P, K)
predicate e(P)
predicate l(L, L)
function g(P, K): Real
axiom a: forall (x, a, k, n, w) in t where w < 2 and n >= 0 and g(x, k) < 2. C(x, k) -> l(a, a)
axiom b: forall x, y: P where dist(x, y) < 2 and x.u > -2. e(x) or not e(y)
"""
VALUES = {"C": np.array([[0.0, 1, -1], [2, -2, 1]]), "e": np.array([1.0, -2]), "l": np.array([[1.0, -1, 0], [0, 2, 1], [-2, 0, 1]])}
LABELS = ["1", "x y", "née"]
COLUMNS = {"x": [0, 1, 1], "a": ["née", "1", "1"], "k": [2, 0, 1], "n": [1, 0, -1], "w": [1.0, 0.0, 2.0]}
FIELDS = {"u": np.array([1.0, 0]), "X": np.array([[0.0, 1], [1, -1]])}
G = np.array([[0.0, 1, 2], [-1, 0, 1]])


def spread(a):
    wide = np.full([2 * n for n in a.shape], 9.0)
    wide[tuple(slice(None, None, 2) for _ in a.shape)] = a
    return wide[tuple(slice(None, None, 2) for _ in a.shape)]


def fixed(a):
    a = a.copy()
    a.setflags(write=False)
    return a


def frame(a, **more):
    return pd.DataFrame(a, **more) if a.ndim == 2 else pd.Series(a, **more)


def complexes(a):
    return torch.complex(torch.zeros(a.shape, dtype=torch.float64), torch.tensor(-a))


ARRAYS = {
    "fortran": np.asfortranarray, "reversed": lambda a: a[::-1].copy()[::-1], "read-only": fixed, "big-endian": lambda a: a.astype(">f8"), "spread": spread,
    "float32": lambda a: a.astype(np.float32), "float16": lambda a: a.astype(np.float16), "long": lambda a: a.astype(np.longdouble), "int": lambda a: a.astype(int),
    "int8": lambda a: a.astype(np.int8), "object": lambda a: a.astype(object), "texts": lambda a: a.astype(str), "list": lambda a: a.tolist(),
    "rows": list, "masked": lambda a: np.ma.masked_array(a, a == a.max()), "unmasked": lambda a: np.ma.masked_array(a, a == 7), "matrix": np.asmatrix,
    "memory": memoryview, "tensor": torch.tensor, "learnt": lambda a: torch.tensor(a, requires_grad=True), "single": lambda a: torch.tensor(a).float(),
    "bfloat16": lambda a: torch.tensor(a).bfloat16(), "half": lambda a: torch.tensor(a).half(), "long tensor": lambda a: torch.tensor(a).long(),
    "transposed": lambda a: torch.tensor(a.T.copy()).T if a.ndim == 2 else torch.tensor(a), "negated": lambda a: torch._neg_view(torch.tensor(-a)),
    "conjugated": lambda a: complexes(a).conj().imag, "sparse": lambda a: torch.tensor(a).to_sparse(), "pandas": frame,
    "pandas in another order": lambda a: frame(a, index=range(len(a))[::-1]), "nullable": lambda a: frame(a).astype("Float64"),
    "Int64": lambda a: frame(a).astype("Int64"), "arrow": lambda a: frame(a).astype("float64[pyarrow]"), "objects": lambda a: frame(a).astype(object),
    "polars": lambda a: pl.DataFrame(a) if a.ndim == 2 else pl.Series(a), "dates": lambda a: a.astype("M8[D]"), "complex": lambda a: a.astype(complex),
}  # fmt: skip
LISTS = {
    "tuple": tuple, "array": np.array, "objects": lambda c: np.array(c, object), "deque": collections.deque, "series": pd.Series,
    "another order": lambda c: pd.Series(c, index=range(len(c))[::-1]), "category": lambda c: pd.Series(c, dtype="category"),
    "index": pd.Index, "categorical": pd.Categorical, "object series": lambda c: pd.Series(c, dtype=object), "nullable": lambda c: pd.Series(c).convert_dtypes(),
    "arrow dtype": lambda c: pd.Series(c).convert_dtypes(dtype_backend="pyarrow"), "polars": pl.Series, "pyarrow": pa.array,
    "dictionary": lambda c: pa.array(c).dictionary_encode(), "chunks": lambda c: pa.chunked_array([c[:1], c[1:]]), "column": lambda c: np.array(c)[:, None],
    "frame": lambda c: pd.DataFrame({"z": c}), "floats": lambda c: [float(x) for x in c], "decimals": lambda c: [decimal.Decimal(x) for x in c],
    "tensor": torch.tensor, "enum": lambda c: pl.Series(c, dtype=pl.Enum(sorted(set(c)))), "polars category": lambda c: pl.Series(c).cast(pl.Categorical),
    "bytes": lambda c: [x.encode() for x in c], "missing": lambda c: pd.Series([*c[:-1], None]),
    "more categories": lambda c: pd.Series(c, dtype=pd.CategoricalDtype(sorted({*c, "zzz"}))),
}  # fmt: skip
TABLES = {
    "pandas": pd.DataFrame, "polars": pl.DataFrame, "pyarrow": pa.table, "lazy": pl.LazyFrame, "categories": lambda t: pd.DataFrame(t).astype("category"),
    "objects": lambda t: pd.DataFrame(t).astype(object), "nullable": lambda t: pd.DataFrame(t).convert_dtypes(), "batch": lambda t: pa.table(t).to_batches()[0],
    "another order": lambda t: pd.DataFrame(dict(reversed(t.items())), index=[5] * 3), "records": lambda t: pd.DataFrame(t).to_records(index=False),
    "rows": lambda t: list(zip(*t.values())), "array": lambda t: np.array(list(zip(*t.values())), object),
}  # fmt: skip
# Whatever else is refused is a form that somebody will bring.
TAKEN = {
    "values": {"fortran", "reversed", "read-only", "spread", "float32", "list", "unmasked", "tensor", "learnt", "negated", "pandas", "polars"},
    "features": {"fortran", "reversed", "float16", "int", "bfloat16", "half", "negated", "conjugated", "pandas", "polars", "nullable", "objects"},
    "function": {"fortran", "reversed", "object", "objects", "bfloat16", "negated", "nullable", "polars"},
    "column": {"tuple", "array", "objects", "series", "object series", "category", "nullable", "arrow dtype", "polars", "pyarrow", "dictionary", "chunks", "index"},
    "labels": {"tuple", "array", "series", "category", "polars", "pyarrow", "dictionary", "chunks", "enum", "index"},
    "table": {"pandas", "polars", "pyarrow", "categories", "objects", "nullable", "another order", "records", "batch"},
}


def cases():
    for where, forms in [("values", ARRAYS), ("features", ARRAYS), ("function", ARRAYS), ("column", LISTS), ("labels", LISTS), ("table", TABLES)]:
        for form in forms:
            yield where, form, forms[form]


def loss(cls, where, form):
    """For each place where it fits: the loss and its gradients, or the mistake."""
    places = {"values": VALUES, "features": FIELDS, "column": COLUMNS}.get(where, [None])
    for place in places:
        given = {"sorts": {"P": dict(FIELDS), "L": LABELS}, "tables": {"t": dict(COLUMNS)}, "functions": {"g": G}}
        values = dict(VALUES)
        into = {"values": values, "features": given["sorts"]["P"], "column": given["tables"]["t"]}.get(where)
        try:
            if into is not None:
                into[place] = form(into[place])
            elif where == "function":
                given["functions"]["g"] = form(G)
            elif where == "labels":
                given["sorts"]["L"] = form(LABELS)
            else:
                given["tables"]["t"] = form(COLUMNS)
        except Exception:  # there is no such form of it
            continue
        try:
            kb = cls(THEORY, **given, outputs={"C": "softmax"})
            if cls is logltn.KnowledgeBase:
                found = kb.evaluate(values, gradients=True)
                yield place, float(found.loss), {name: np.asarray(g, float) for name, g in found.gradients.items()}
            else:
                tensors = {name: torch.tensor(v, requires_grad=True) if type(v) is np.ndarray and name != place else v for name, v in values.items()}
                found = kb.loss(**tensors)
                found.backward()
                yield place, found.item(), {n: v.grad.double().numpy() for n, v in tensors.items() if isinstance(v, torch.Tensor) and v.is_leaf and v.grad is not None}
        except logltn.InputError as error:
            yield place, str(error), {}


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("cls", [logltn.KnowledgeBase, logltn.torch.KnowledgeBase], ids=["numpy", "torch"])
def test_the_form_of_what_is_given_changes_nothing(cls):
    [(_, right, gradients)] = loss(cls, "table", dict)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for where, name, form in cases():
            for place, found, slopes in loss(cls, where, form):
                told = f"{where} {place} as {name}: {found}"
                if isinstance(found, str):
                    assert name not in TAKEN[where], told
                    continue
                assert found == pytest.approx(right, rel=1e-6), told
                for predicate, slope in slopes.items():
                    assert np.allclose(slope, gradients[predicate], atol=1e-6), told
