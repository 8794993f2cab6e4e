"""Rows that come with each call: the same numbers as with known rows, whatever came before."""

import os

import numpy as np
import pytest

import logltn
from test_numpy import ADDITION

# Streamed rows beside fixed axioms, nested, and with guards that look at their cells.
THEORY = """
    sort P  sort L = 0..4  table rows(x: P, y: P, l: L, n: Int, w: Real)
    predicate type(P, L)  predicate part(P, P)  predicate sure()
    axiom a: forall (x, y, l, n, w) in rows where w > 0.2. part(x, y) -> exists k: L where k + l >= n. type(y, k)
    axiom b: exists (x, y, l, n, w) in rows where n % 2 = 0. type(x, l) and not part(y, x)
    axiom c: forall x: P. exists l: L. type(x, l)
    axiom d: sure() or exists x: P. part(x, x)
"""


def rows(rng, count, size):
    return {
        "x": rng.integers(0, size, count), "y": rng.integers(0, size, count), "l": rng.integers(0, 5, count),
        "n": rng.integers(0, 4, count), "w": rng.integers(0, 5, count) / 4,
    }  # fmt: skip


# Individuals are nothing but cells of rows: each row of a plan has its own.
ANYBODY = """
    sort P  sort L = 0..4  table rows(x: P, y: P, l: L, n: Int, w: Real)  table more(y: P, n: Int)
    predicate type(P, L)  predicate part(P, P)  predicate sure()
    axiom a: forall (x, y, l, n, w) in rows where w > 0.2. part(x, y) -> exists k: L where k + l >= n. type(y, k)
    axiom b: exists (x, y, l, n, w) in rows where n % 2 = 0. type(x, l) and not part(y, x)
    axiom c: forall (x, _y, _l, n, _w) in rows. forall (y, m) in more where n <= m. sure() or part(x, y)
    axiom d: forall (y, n) in more. exists k: L where k != n. type(y, k)
"""


@pytest.mark.filterwarnings("ignore::logltn.InputWarning")
@pytest.mark.parametrize("semantics", ["logltn", "stable", "logltn-max"])
def test_anybody(semantics):
    """Fresh individuals, sizes and numbers of rows in each call."""
    rng = np.random.default_rng(1)
    arguments = dict(outputs={"type": "softmax"}, semantics=semantics, dtype="float64")
    kb = logltn.KnowledgeBase(ANYBODY, streamed=["rows", "more"], **arguments)
    for call in range(60):
        size = int(rng.integers(1, 9))
        more = int(rng.integers(0, 4))
        tables = {
            "rows": rows(rng, int(rng.integers(0, 7)), size),
            "more": {"y": rng.integers(0, size, more), "n": rng.integers(0, 6, more)},
        }
        values = {"type": rng.normal(size=(size, 5)), "part": rng.normal(size=(size, size)), "sure": rng.normal(size=())}
        if call % 3 == 0:  # not one number after the other
            values["part"] = values["part"].T
        coming = dict(sorts={"P": size}, tables=tables)
        r = kb.evaluate(values, gradients=True, **coming)
        expected = logltn.KnowledgeBase(ANYBODY, **coming, **arguments).evaluate(values, gradients=True)
        assert r.loss == pytest.approx(expected.loss, rel=1e-12, abs=1e-12)
        assert r.truths == pytest.approx(expected.truths, rel=1e-12, abs=1e-12)
        assert r.empty_exists == expected.empty_exists
        for name in values:
            np.testing.assert_allclose(r.gradients[name], expected.gradients[name], rtol=1e-9, atol=1e-12)
    wrong = {name: v.copy() for name, v in values.items()}
    wrong["type"][-1] = np.nan
    everybody = np.arange(size)
    tables["more"] = {"y": everybody, "n": np.zeros(size, int)}
    for _ in range(5):
        with pytest.raises(logltn.InputError, match=rf"`type`: the value at \[{size - 1}, 0\] is NaN"):
            kb.evaluate(wrong, sorts={"P": size}, tables=tables)
        with pytest.raises(logltn.InputError, match="out of range|not an individual"):
            kb.evaluate(values, sorts={"P": size - 1}, tables=tables)


@pytest.mark.filterwarnings("ignore::logltn.InputWarning")
@pytest.mark.parametrize("semantics", ["logltn", "stable", "logltn-max"])
@pytest.mark.parametrize("theory", [THEORY, THEORY + "axiom e: forall x, y: P where exists (a, _b, _l, _n, _w) in rows. a = x. part(x, y)"])
def test_random_calls(theory, semantics):
    rng = np.random.default_rng(0)
    arguments = dict(outputs={"type": "softmax"}, semantics=semantics, dtype="float64")
    kb = logltn.KnowledgeBase(theory, streamed=["rows"], **arguments)
    for call in range(40):
        size = int(rng.choice([3, 3, 3, 5]))
        table = rows(rng, int(rng.integers(0, 6)), size)
        values = {"type": rng.normal(size=(size, 5)), "part": rng.normal(size=(size, size)), "sure": rng.normal(size=())}
        coming = dict(sorts={"P": size}, tables={"rows": table})
        r = kb.evaluate(values, gradients=True, **coming)
        known = logltn.KnowledgeBase(theory, **coming, **arguments)
        expected = known.evaluate(values, gradients=True)
        assert r.loss == pytest.approx(expected.loss, rel=1e-12, abs=1e-12)
        assert r.truths == pytest.approx(expected.truths, rel=1e-12, abs=1e-12)
        assert r.empty_exists == expected.empty_exists
        for name in values:
            np.testing.assert_allclose(r.gradients[name], expected.gradients[name], rtol=1e-9, atol=1e-12)
        # On rows, whose order must not depend on what came before.
        asked = kb.rows("part", **coming)
        at = kb.evaluate({**values, "part": logltn.AtRows(values["part"][asked[:, 0], asked[:, 1]])}, **coming)
        assert at.loss == pytest.approx(expected.loss, rel=1e-12, abs=1e-12)


def test_mistakes_are_not_learnt():
    kb = logltn.KnowledgeBase(ADDITION, outputs={"digit": "softmax"}, streamed=["sums"], dtype="float64")
    logits = np.random.default_rng(0).normal(size=(2, 10))
    good = dict(sorts={"Image": 2}, tables={"sums": {"x": [0], "y": [1], "n": [3]}})
    first = kb.evaluate({"digit": logits}, **good).loss
    for _ in range(10):
        with pytest.raises(logltn.InputError, match="out of range|not an individual"):
            kb.evaluate({"digit": logits}, sorts={"Image": 2}, tables={"sums": {"x": [0], "y": [2], "n": [3]}})
        assert kb.evaluate({"digit": logits}, **good).loss == first


@pytest.mark.parametrize("given", ["arrays", "rows"])
@pytest.mark.parametrize("batch", [32, 128])
def test_new_rows_are_not_planned_anew(batch, given):
    """After the first calls there are no plans, whoever is added to whom. bench/python/streams.py says how much more such calls take
    than calls with known rows."""
    theory = """
        sort Image  sort Digit = 0..9  table sums(a: Image, b: Image, c: Image, d: Image, n: Int)  predicate digit(Image, Digit)
        axiom addition: forall (a, b, c, d, n) in sums. exists i, j, k, l: Digit where 10 * i + j + 10 * k + l = n.
            digit(a, i) and digit(b, j) and digit(c, k) and digit(d, l)
    """
    rng = np.random.default_rng(0)
    kb = logltn.KnowledgeBase(theory, outputs={"digit": "softmax"}, streamed=["sums"], threads=1)
    logits = rng.normal(size=(4 * batch, 10)).astype(np.float32)

    def call(rows):
        who, n = rng.integers(0, 4 * rows, 4 * rows), rng.integers(0, 100, (rows, 2)).sum(1)
        coming = dict(sorts={"Image": 4 * rows}, tables={"sums": {**{c: who[i::4] for i, c in enumerate("abcd")}, "n": n}})
        values = logits[: 4 * rows]
        if given == "rows":
            values = logltn.AtRows(values[kb.rows("digit", **coming)[:, 0]])
        return kb.evaluate({"digit": values}, gradients=True, alpha=2.0, **coming)

    for i in range(60):
        call(batch - 5 * (i % 10 == 9))  # as at the end of an epoch
    before = kb._native.plans
    assert before < 40
    for i in range(50):
        call(batch - 5 * (i % 10 == 9))
    assert kb._native.plans == before


# Of each predicate it is clear which rows are asked about: arguments are cells, numbers among them, or everybody.
AT_ROWS = """
    sort P  sort L = 0..4  table rows(x: P, y: P, n: Int, w: Real)
    predicate type(P, L)  predicate part(P, P)  predicate old(P, Real)  predicate sure()
    axiom a: forall (x, y, n, _w) in rows where n > 0. part(x, y) -> exists k: L where k >= n. type(y, k)
    axiom b: exists (x, y, n, w) in rows. old(x, n) and old(y, w) and not part(y, x)
    axiom c: forall (x, y, _n, _w) in rows. sure() or part(y, x)
"""


@pytest.mark.filterwarnings("ignore::logltn.InputWarning")
@pytest.mark.parametrize("more", ["", "axiom d: forall x: P. old(x, 0.25) or sure()", "axiom d: forall x: P. exists y: P. part(x, y)"])
def test_at_rows(more):
    """`kb.rows` and `AtRows` of rows that come with calls: as with known rows, whatever came before and in between."""
    rng = np.random.default_rng(5)
    arguments = dict(outputs={"type": "softmax"}, dtype="float64")
    kb = logltn.KnowledgeBase(AT_ROWS + more, streamed=["rows"], **arguments)
    weights = {"type": rng.normal(size=5), "part": rng.normal(size=5), "old": rng.normal(size=5)}

    def asked(kb, name, **coming):
        rows = kb.rows(name, **coming)
        assert rows.flags.writeable  # PyTorch would warn of others
        cells = rows.astype(float)
        if name == "old":
            cells[:, 1] = kb.numbers[rows[:, 1]]
        return cells

    def values(name, cells):
        """Numbers that depend on what is asked."""
        angles = np.cos(3 * cells @ np.array([1.0, 1.7])[: cells.shape[1]])[:, None] * weights[name]
        return logltn.AtRows(angles if name == "type" else angles.sum(1))

    def drawn():
        size, count = int(rng.integers(2, 7)), int(rng.integers(0, 6))
        columns = {"x": rng.integers(0, size, count), "y": rng.integers(0, size, count)}
        columns |= {"n": rng.integers(0, 3, count), "w": rng.integers(0, 3, count) / 4}
        return dict(sorts={"P": size}, tables={"rows": columns})

    later = []
    for call in range(80):
        coming = drawn()
        known = logltn.KnowledgeBase(AT_ROWS + more, **coming, **arguments)
        cells = {}
        for name in weights:
            cells[name] = asked(kb, name, **coming)
            np.testing.assert_array_equal(cells[name], asked(known, name))
        given = {name: values(name, own) for name, own in cells.items()} | {"sure": np.array(0.3)}
        later.append((coming, given, known.evaluate(given, gradients=True)))
        # Those of this call, or of one before: rows may be asked for long before they are needed.
        coming, given, expected = later.pop(int(rng.integers(len(later)))) if call % 2 else later[-1]
        found = kb.evaluate(given, gradients=True, **coming)
        assert found.loss == pytest.approx(expected.loss, rel=1e-12, abs=1e-12)
        assert found.truths == pytest.approx(expected.truths, rel=1e-12, abs=1e-12)
        for name in given:
            np.testing.assert_allclose(found.gradients[name], expected.gradients[name], rtol=1e-9, atol=1e-12)
    if more:
        return  # individuals are met in another way too, and remembered along with the cells
    before = kb._native.plans
    for _ in range(20):
        coming = drawn()
        given = {name: values(name, asked(kb, name, **coming)) for name in weights} | {"sure": np.array(0.3)}
        kb.evaluate(given, **coming)
    assert kb._native.plans == before


def test_memory_is_bounded():
    """Rows that never repeat are forgotten. LOGLTN_CALLS says for how many calls; a million take some minutes."""
    import resource

    kb = logltn.KnowledgeBase(ADDITION, outputs={"digit": "softmax"}, streamed=["sums"])
    logits = np.zeros((64, 10), np.float32)
    i = np.arange(64)

    def some(start, calls):
        for call in range(start, start + calls):
            kb.evaluate({"digit": logits}, sorts={"Image": 64}, tables={"sums": {"x": i[0::2], "y": i[1::2], "n": call * 32 + i[:32]}})

    calls = int(os.environ.get("LOGLTN_CALLS", 4000))
    some(0, 1000)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    some(1000, calls)
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 8_000  # kB
