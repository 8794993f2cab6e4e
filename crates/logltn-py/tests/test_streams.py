"""Rows that come with each call: the same numbers as with known rows, whatever came before."""

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


def test_memory_is_bounded():
    """Rows that never repeat are forgotten."""
    import resource

    kb = logltn.KnowledgeBase(ADDITION, outputs={"digit": "softmax"}, streamed=["sums"])
    logits = np.zeros((64, 10), np.float32)
    i = np.arange(64)

    def some(start, calls):
        for call in range(start, start + calls):
            kb.evaluate({"digit": logits}, sorts={"Image": 64}, tables={"sums": {"x": i[0::2], "y": i[1::2], "n": call * 32 + i[:32]}})

    some(0, 1000)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    some(1000, 1000)
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 8_000  # kB
