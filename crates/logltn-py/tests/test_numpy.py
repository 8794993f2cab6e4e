"""A knowledge base on NumPy: what may be given, and in which form."""

import base64
import copy
import pickle
import warnings

import numpy as np
import pytest

import logltn

ADDITION = """
    sort Image
    sort Digit = 0..9
    table sums(x: Image, y: Image, n: Int)
    predicate digit(Image, Digit)
    axiom addition: forall (x, y, n) in sums. exists a, b: Digit where a + b = n. digit(x, a) and digit(y, b)
"""
SUMS = {"x": [0, 2], "y": [1, 3], "n": [7, 12]}
rng = np.random.default_rng(0)
LOGITS = rng.normal(size=(4, 10))


def addition(**changed):
    arguments = dict(sorts={"Image": 4}, tables={"sums": SUMS}, outputs={"digit": "softmax"}, dtype="float64")
    return logltn.KnowledgeBase(ADDITION, **{**arguments, **changed})


def by_hand(logits, rows):
    """The log semantics with alpha = 1 of the addition axiom."""
    p = np.exp(logits - np.log(np.exp(logits).sum(1, keepdims=True)))
    truths = []
    for x, y, n in rows:
        pairs = [(a, n - a) for a in range(10) if 0 <= n - a <= 9]
        truths.append(np.log(np.mean([p[x, a] * p[y, b] for a, b in pairs])))
    return np.mean(truths)


def test_theory():
    theory = logltn.Theory(ADDITION)
    assert theory.sorts == ["Image", "Digit"] and theory.tables == ["sums"] and theory.predicates == ["digit"]
    assert theory.axioms == ["addition"] and theory.functions == theory.constants == theory.params == []
    assert logltn.Theory(str(theory)) == theory
    assert pickle.loads(pickle.dumps(theory)) == theory


def test_value():
    r = addition().evaluate({"digit": LOGITS})
    expected = by_hand(LOGITS, [(0, 1, 7), (2, 3, 12)])
    assert abs(r.truths["addition"] - expected) < 1e-12 and abs(r.loss + expected) < 1e-12
    assert r.gradients is None


def test_forms_of_values():
    kb = addition()
    expected = kb.evaluate({"digit": LOGITS}, gradients=True)
    frozen = LOGITS.copy()
    frozen.flags.writeable = False
    wide = np.zeros((8, 20))
    wide[::2, ::2] = LOGITS
    unaligned = np.frombuffer(b"x" + LOGITS.tobytes(), np.uint8)[1:].view(np.float64).reshape(4, 10)
    forms = [np.asfortranarray(LOGITS), frozen, wide[::2, ::2], LOGITS[::-1, ::-1].copy()[::-1, ::-1], LOGITS.tolist(), unaligned]
    for form in [*forms, LOGITS.astype(">f8")]:
        r = kb.evaluate({"digit": form}, gradients=True)
        assert r.loss == expected.loss
        np.testing.assert_array_equal(r.gradients["digit"], expected.gradients["digit"])

    class DLPack:
        def __dlpack__(self, **arguments):
            return LOGITS.__dlpack__(**arguments)

        def __dlpack_device__(self):
            return LOGITS.__dlpack_device__()

    assert kb.evaluate({"digit": DLPack()}).loss == expected.loss
    single = kb.evaluate({"digit": LOGITS.astype(np.float32)}, gradients=True)
    assert single.gradients["digit"].dtype == np.float32 and single.loss.dtype == np.float32
    assert abs(single.loss - expected.loss) < 1e-5


def test_forms_of_tables():
    expected = addition().evaluate({"digit": LOGITS}).loss
    pandas, polars, pyarrow = (pytest.importorskip(m) for m in ("pandas", "polars", "pyarrow"))
    forms = [
        np.array([[0, 1, 7], [2, 3, 12]]),
        np.array([[0, 1, 7], [2, 3, 12]], np.uint8),
        np.array([[0.0, 1, 7], [2, 3, 12]]),
        np.array([(0, 1, 7), (2, 3, 12)], dtype=[("x", int), ("y", int), ("n", int)]),
        [[0, 1, 7], [2, 3, 12]],
        pandas.DataFrame(SUMS)[["n", "y", "x"]],
        polars.DataFrame(SUMS),
        pyarrow.table(SUMS),
    ]
    for form in forms:
        assert addition(tables={"sums": form}).evaluate({"digit": LOGITS}).loss == expected


def test_labels_and_integers_and_constants():
    kb = logltn.KnowledgeBase(
        """sort Box  sort Type  sort Level = 3..5  table has(x: Box, t: Type, l: Level)  constant best: Box
           predicate type(Box, Type)  predicate level(Box, Level)
           axiom a: forall (x, t, l) in has. type(x, t) and level(x, l)
           axiom b: type(best, dog)""",
        sorts={"Box": 2, "Type": ["cat", "dog"]},
        tables={"has": {"x": [0, 1], "t": ["dog", "cat"], "l": [3, 5]}},
        constants={"best": 1},
        outputs={"type": "softmax"},
        dtype="float64",
    )
    values = {"type": np.array([[0.5, 1.0], [2.0, 0.0]]), "level": np.arange(6.0).reshape(2, 3) / 10}
    r = kb.evaluate(values)
    log_softmax = lambda v: v - np.log(np.exp(v).sum(-1, keepdims=True))
    sigmoid = lambda v: -np.log1p(np.exp(-v))
    t, l = log_softmax(values["type"]), sigmoid(values["level"])
    assert abs(r.truths["a"] - (t[0, 1] + l[0, 0] + t[1, 0] + l[1, 2]) / 2) < 1e-12
    assert abs(r.truths["b"] - t[1, 1]) < 1e-12


def test_features_and_percentiles():
    x = np.array([[0.0], [1.0], [3.0]])
    text = "sort P  param near  predicate C(P)  axiom a: forall x, y: P where dist(x, y) < near. C(x) -> C(y)"
    kb = logltn.KnowledgeBase(text, sorts={"P": x}, params={"near": logltn.percentile(60, "dist(P, P)")})
    assert kb.check()["params"][0]["value"] == 1.7999999999999998  # numpy.percentile of all nine distances
    assert kb.check()["axioms"][0]["groundings"] == 5
    fields = logltn.KnowledgeBase(text, sorts={"P": {"a": x, "b": np.zeros((3, 2))}}, params={"near": 1.5})
    assert fields.check()["axioms"][0]["groundings"] == 5


def test_weights_parameters_semantics():
    text = "predicate p()  predicate q()  axiom a: p() or q()  axiom b (weight 3): q()"
    values = {"p": np.float64(1.0), "q": np.array(-0.5)}
    r = logltn.KnowledgeBase(text, dtype="float64").evaluate(values, gradients=True)
    assert abs(r.sat - (r.truths["a"] + 3 * r.truths["b"]) / 4) < 1e-12
    assert r.gradients["p"].shape == () and r.gradients["p"] < 0
    own = logltn.KnowledgeBase(text, weights={"b": 1.0}, parameters={"a": {"alpha": 5.0}}, dtype="float64").evaluate(values)
    assert abs(own.sat - (own.truths["a"] + own.truths["b"]) / 2) < 1e-12
    assert own.truths["a"] > r.truths["a"]
    largest = logltn.KnowledgeBase(text, semantics={"base": "logltn", "or": "max"}, dtype="float64").evaluate(values)
    assert abs(largest.truths["a"] + np.log1p(np.exp(-1.0))) < 1e-12


def test_families():
    kb = logltn.KnowledgeBase(
        "sort Person  predicate happy(Person)  axiom each for p: Person: happy(p)",
        sorts={"Person": ["ann", "bob"]},
        weights={"each": 2.0, "each[bob]": 0.0},
    )
    assert kb.theory.axioms == ["each"]
    r = kb.evaluate({"happy": np.array([0.0, 1.0])})
    assert list(r.truths) == ["each[ann]", "each[bob]"] and r.sat == r.truths["each[ann]"]


def test_batches():
    kb = addition(batched=["sums"])
    whole = kb.evaluate({"digit": LOGITS})
    for rows in ([0], [1], [1, 0], [1, 1], np.array([1], np.uint8), []):
        r = kb.evaluate({"digit": LOGITS}, batch={"sums": rows}, gradients=True)
        table = [(0, 1, 7), (2, 3, 12)]
        expected = by_hand(LOGITS, [table[i] for i in rows]) if len(rows) else 0.0
        assert abs(r.sat - expected) < 1e-12
        unused = [i for i in range(4) if i // 2 not in list(rows)]
        assert not r.gradients["digit"][unused].any()
    assert kb.evaluate({"digit": LOGITS}).loss == whole.loss


def test_at_rows():
    text = "sort P  table near(x: P, y: P)  predicate r(P, P)  axiom a: forall (x, y) in near. r(x, y)"
    kb = logltn.KnowledgeBase(text, sorts={"P": 1000}, tables={"near": [[3, 4], [5, 5], [999, 0]]}, batched=["near"], dtype="float64")
    rows = kb.rows("r")
    assert rows.dtype == np.int32 and sorted(map(tuple, rows.tolist())) == [(3, 4), (5, 5), (999, 0)]
    values = rng.normal(size=(1000, 1000))
    dense = kb.evaluate({"r": values}, gradients=True)
    at = kb.evaluate({"r": logltn.AtRows(values[rows[:, 0], rows[:, 1]])}, gradients=True)
    assert at.loss == dense.loss
    np.testing.assert_array_equal(at.gradients["r"], dense.gradients["r"][rows[:, 0], rows[:, 1]])
    assert np.count_nonzero(dense.gradients["r"]) == 3
    assert kb.rows("r", batch={"near": [2]}).tolist() == [[999, 0]]
    kb = addition()
    rows = kb.rows("digit")
    assert rows.shape == (4, 1)
    at = kb.evaluate({"digit": logltn.AtRows(LOGITS[rows[:, 0]])}, gradients=True)
    assert at.loss == kb.evaluate({"digit": LOGITS}).loss and at.gradients["digit"].shape == (4, 10)


def test_streamed():
    kb = logltn.KnowledgeBase(
        ADDITION + "axiom some: exists d: Digit. exists x: Image. digit(x, d)",
        outputs={"digit": "softmax"}, streamed=["sums"], dtype="float64",
    )  # fmt: skip
    for images in (2, 6, 4):
        logits = rng.normal(size=(images, 10))
        rows = [(i, i + 1, int(rng.integers(0, 19))) for i in range(0, images, 2)]
        r = kb.evaluate({"digit": logits}, sorts={"Image": images}, tables={"sums": rows}, gradients=True)
        assert abs(r.truths["addition"] - by_hand(logits, rows)) < 1e-12
        again = logltn.KnowledgeBase(kb.theory, sorts={"Image": images}, tables={"sums": rows}, outputs={"digit": "softmax"}, dtype="float64")
        planned = again.evaluate({"digit": logits}, gradients=True)
        np.testing.assert_allclose(r.gradients["digit"], planned.gradients["digit"], rtol=1e-12, atol=1e-15)
    assert len(kb.rows("digit", sorts={"Image": 2}, tables={"sums": [(0, 1, 3)]})) == 2


def test_check_is_a_document():
    document = addition().check()
    assert document["axioms"][0]["groundings"] == 15 and document["tables"][0]["rows"] == 2
    assert {"theory", "semantics", "sorts", "params", "constants", "functions", "predicates", "memory_bytes", "warnings"} <= set(document)


def test_copies():
    kb = addition()
    for copied in (pickle.loads(pickle.dumps(kb)), copy.deepcopy(kb)):
        assert copied.evaluate({"digit": LOGITS}).loss == kb.evaluate({"digit": LOGITS}).loss


def test_notebooks():
    kb = addition()
    assert "forall" in kb.theory._repr_html_() and "&lt;" not in kb.theory._repr_html_()
    assert "addition" in kb._repr_html_() and "15" in kb._repr_html_()
    assert "addition" in kb.evaluate({"digit": LOGITS})._repr_html_()


def test_threads_change_no_bit():
    x = rng.normal(size=(300, 2))
    text = "sort P  param near  predicate C(P, P)  axiom a: forall x, y, z: P where dist(x, y) < near. C(x, z) -> C(y, z)"
    values = {"C": rng.normal(size=(300, 300)).astype(np.float32)}
    losses = set()
    for threads in (1, 2, 3):
        kb = logltn.KnowledgeBase(text, sorts={"P": x}, params={"near": 0.5}, threads=threads)
        r = kb.evaluate(values, gradients=True)
        losses.add((float(r.loss), r.gradients["C"].tobytes()))
    assert len(losses) == 1


def test_warnings():
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        text = "sort P = 0..1  param n  predicate C(P)  axiom a for x: P where n > 1: C(x)  axiom b: forall x: P. C(x)"
        logltn.KnowledgeBase(text, params={"n": 0})
    assert [w.category for w in caught] == [logltn.InputWarning]
    assert caught[0].message.diagnostic.code == "nothing-to-range-over"
    assert caught[0].filename == __file__


def test_pictures_in_notebooks():
    """Of individuals that are pictures: those that came with the knowledge base, grey or coloured."""
    for shape in ((4, 28, 28), (4, 1, 28, 28), (4, 3, 8, 8), (4, 8, 8, 3)):
        for pictures in (rng.random(shape), rng.integers(0, 256, shape, np.uint8), rng.normal(size=shape)):
            shown = addition(sorts={"Image": pictures}).explain({"digit": LOGITS}, top=1)._repr_html_()
            assert shown.count("data:image/png;base64,") == 2  # x and y
            png = base64.b64decode(shown.split("base64,")[1].split('"')[0])
            assert png[:8] == b"\x89PNG\r\n\x1a\n" and png.endswith(b"IEND\xaeB`\x82")
    for features in (4, rng.random((4, 28)), rng.random((4, 2, 2))):
        assert "<img" not in addition(sorts={"Image": features}).explain({"digit": LOGITS})._repr_html_()


def test_check_says_what_was_given():
    kb = logltn.KnowledgeBase(
        "sort P  sort Q  sort L = {a}  constant c: P  predicate p(P, Q)  axiom x: forall q: Q. p(c, q)",
        sorts={"P": rng.random((3, 2)), "Q": {"roi": rng.random((2, 4)), "at": rng.random((2, 2, 2))}}, constants={"c": [0.5, 0.5]},
    )  # fmt: skip
    document = kb.check()
    assert [s.get("features") for s in document["sorts"]] == [
        [{"name": None, "shape": [2]}], [{"name": "roi", "shape": [4]}, {"name": "at", "shape": [2, 2]}], None,
    ]  # fmt: skip
    assert document["constants"] == [{"name": "c", "sort": "P", "learnable": 2}]
    assert document["step"]["groundings"] == 2 and document["step"]["seconds"] >= 0
