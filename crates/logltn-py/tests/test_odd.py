"""What nobody means as any argument of any method: an answer that is finite or an `InputError`, never another exception, and no crash.
LOGLTN_PYTHON_ODD says how many; LOGLTN_PYTHON_SEED where to begin."""

import datetime
import decimal
import os
import random
import warnings

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import logltn

torch = pytest.importorskip("torch")
import logltn.torch  # noqa: E402

TRIES = int(os.environ.get("LOGLTN_PYTHON_ODD", "500"))
SEED = int(os.environ.get("LOGLTN_PYTHON_SEED", "0"))

THEORY = """
sort P
sort K = 0..2
table t(x: P, k: K, w: Real)
param near
constant c: P
predicate C(P, K)
predicate e(P)
predicate r()
function age(P): Real
function h(P): K
function vec(P): Real[2]
define both(x: P): e(x) and r()
axiom a: forall (x, k, w) in t where w < near and age(x) > 0. C(x, k)
axiom b for k: K: forall x, y: P where dist(x, y) < near and x.u > -5. C(x, k) -> e(y)
axiom d: e(c) or r() or both(c)
axiom f: forall x: P. C(x, h(x))
"""
MADE = dict(
    sorts={"P": {"u": np.array([0.0, 1, 2]), "X": np.zeros((3, 2))}}, tables={"t": {"x": [0, 1], "k": [1, 2], "w": [0.0, 0.5]}}, params={"near": 1.5},
    constants={"c": 1}, functions={"age": np.array([1.0, 2, 0]), "h": np.array([0, 1, 2]), "vec": np.zeros((3, 2))}, outputs={"C": "softmax"},
    semantics="logltn", weights={"a": 2.0}, parameters={"b": {"alpha": 2.0}}, batched=["t"], streamed=[], laws=[], p_axioms=None, leave_out_empty=False,
    dtype=None, threads=1, memory=None,
)  # fmt: skip
VALUES = {"C": np.zeros((3, 3)), "e": np.zeros(3), "r": np.zeros(())}
CALL = dict(
    values=VALUES, alpha=2.0, p=2.0, p_forall=2.0, batch={"t": [0]}, sorts={}, tables={}, weights={"a": 1.0}, params={"near": 1.0},
    functions={"age": np.ones(3)}, gradients=False, check=True, top=3, axiom="b", open="both", formula="find x: P. e(x)", definition="both",
    predicate="e", n=2, seed=0, laws=["a"], support=None, labels=None,
)  # fmt: skip
COMING = "sorts tables params functions"
METHODS = {  # what it takes, first what it needs
    "evaluate": ("", f"values alpha p p_forall batch weights gradients {COMING}"),
    "loss": ("", f"values alpha p p_forall batch weights check {COMING}"),
    "axioms": ("", f"values alpha p p_forall batch {COMING}"),
    "query": ("formula", f"values top alpha p p_forall {COMING}"),
    "explain": ("", f"values axiom open top alpha p p_forall {COMING}"),
    "truths_of": ("definition", f"values alpha p p_forall {COMING}"),
    "rows": ("predicate", f"batch {COMING}"),
    "marginals": ("", "values laws batch sorts tables"),
    "world": ("", "values laws batch sorts tables"),
    "sample": ("n", "values seed laws batch sorts tables"),
    "entropy": ("", "values laws batch sorts tables"),
    "log_probability": ("formula", "values laws sorts tables"),
    "identify": ("", "predicate support labels"),
    "export_plan": ("", "batch sorts tables"),
}


class Raises:
    def __array__(self, *_, **__):
        raise OSError("no array")

    def __iter__(self):
        raise OSError("no items")


def odd(rng):
    frame = {"x": [0], "k": [1], "w": [0.1]}
    return rng.choice([
        None, True, 0, 1, -1, 2**31, 2**70, 10**400, 0.5, float("nan"), float("inf"), "", "x", "softmax", "t", "P", "\x00", "\ud800", b"x", [], [0],
        [1, 2], ["a", "a"], [None], [[1, 2], [3]], (), {}, {"x": 1}, {"P": 3}, {1: 2}, {"t"}, range(3), np.zeros(0), np.zeros(3), np.zeros((3, 2)),
        np.zeros((3, 3)), np.zeros(()), np.int64(1), np.array([2**63], np.uint64), np.zeros(3, bool), np.zeros(3, complex), np.array(["a", "b", "c"]),
        np.array([1, None, "x"], object), np.zeros(3, "M8[s]"), np.zeros(2, [("x", "i8"), ("k", "i8")]), np.zeros(3, np.float16), np.zeros(3, ">f8"),
        np.full(3, np.nan), np.full(3, -np.inf), np.ma.masked_array([1, 2, 3], [0, 1, 0]), torch.zeros(3), torch.zeros(3).bfloat16(),
        torch.zeros(3, 3).to_sparse(), torch.zeros(3, device="meta"), torch.zeros(()), torch.nn.Linear(2, 1), torch.nn.Embedding(3, 2),
        pd.DataFrame(frame), pd.DataFrame(), pd.DataFrame({**frame, "x": [None]}), pd.Series([1.0, 2, 3]), pl.DataFrame(frame), pl.Series([1, None]),
        pa.table(frame), pa.array([1, None]), Raises(), object(), int, lambda x: x, decimal.Decimal("1.5"), datetime.date(2020, 1, 1), 1j, slice(1),
        logltn.percentile(150, "dist(P, P)"), logltn.percentile("a", "dist(P, P)"), logltn.percentile(5, 5), logltn.AtRows(np.zeros(3)),
        logltn.AtRows(None), (i for i in range(3)),
    ])  # fmt: skip


def changed(rng, given):
    """It, or something in it, is another thing, is not there, or is there besides."""
    if not isinstance(given, dict) or not given or rng.random() < 0.25:
        return odd(rng)
    given, key, what = dict(given), rng.choice(list(given)), rng.random()
    if what < 0.75:
        given[key] = changed(rng, given[key])
    elif what < 0.85:
        del given[key]
    else:
        given[rng.choice(["zz", "P", "t", "a", "b[0]", "b[7]", "", 1, None])] = odd(rng)
    return given


def tried(rng, bases):
    """One call, and what it should be said to have been."""
    cls = rng.choice(list(bases))
    if rng.random() < 0.5:
        name = rng.choice(list(MADE))
        given = changed(rng, MADE[name])
        return f"{cls}({name}={given!r})", lambda: cls(THEORY, **{**MADE, name: given}).evaluate(VALUES).loss
    method = rng.choice([m for m in METHODS if hasattr(bases[cls], m)])
    needs, takes = ([word for word in words.split()] for words in METHODS[method])
    call = {name: CALL[name] for name in [*needs, *takes] if name in (*needs, "values") or rng.random() < 0.25}
    name = rng.choice([*needs, *takes])
    call[name] = changed(rng, CALL[name])
    return f"{cls}.{method}: {name}={call[name]!r} in {call!r}", lambda: getattr(bases[cls], method)(**call)


def test_odd_arguments():
    bases = {cls: cls(THEORY, **MADE) for cls in (logltn.KnowledgeBase, logltn.torch.KnowledgeBase)}
    answers = 0
    for seed in range(SEED, SEED + TRIES):
        told, run = tried(random.Random(seed), bases)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                found = run()
            except (logltn.InputError, MemoryError):
                continue
            except BaseException as error:
                raise AssertionError(f"LOGLTN_PYTHON_SEED={seed}: {told}") from error
        answers += 1
        loss = getattr(found, "loss", found)
        assert not isinstance(loss, (float, np.floating)) or np.isfinite(loss), f"LOGLTN_PYTHON_SEED={seed}: {told} is {loss}"
    assert answers > TRIES / 50
