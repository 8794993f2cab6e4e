"""Mistakes are InputErrors that say what is wrong and how to mend it, and leave everything usable."""

import numpy as np
import pytest

import logltn
from test_numpy import ADDITION, LOGITS, SUMS, addition


def codes(call):
    with pytest.raises(logltn.InputError) as caught:
        call()
    error = caught.value
    assert isinstance(error, ValueError) and error.diagnostics
    for diagnostic in error.diagnostics:
        assert diagnostic.message in str(error).replace("\n", " ") or diagnostic.message.split(":")[0] in str(error)
    return [d.code for d in error.diagnostics]


def test_texts():
    text = "sort Point\npredicate near(Point)\naxiom a: forall x: Pont. near(x)\naxiom b: forall x: Point. far(x)\n"
    with pytest.raises(logltn.InputError) as caught:
        logltn.Theory(text, name="a.ltn")
    first, second = caught.value.diagnostics
    assert (first.code, first.file, first.line, first.column) == ("unknown-sort", "a.ltn", 3, 20)
    assert first.severity == "error" and "Point" in first.help
    assert second.code == "unknown-predicate"
    assert "a.ltn:3:20" in str(caught.value) and str(caught.value).endswith("2 errors")
    assert codes(lambda: logltn.Theory.read("nowhere.ltn")) == ["file-not-found"]
    assert codes(lambda: logltn.Theory(7)) == ["wrong-type"]
    assert codes(lambda: logltn.Theory("sort \ud800")) == ["unexpected-character"]


@pytest.mark.parametrize(
    "changed, expected",
    [
        ({"sorts": {"Imag": 4}}, {"unknown-sort"}),
        ({"sorts": {"Image": -1}}, {"value-out-of-range"}),
        ({"sorts": {"Image": "many"}}, {"wrong-type"}),
        ({"sorts": {"Image": 2**70}}, {"too-many-individuals"}),
        ({"threads": 10**9}, {"value-out-of-range"}),
        ({"memory": 2**70}, {"value-out-of-range"}),
        ({"sorts": {"Image": ["a", "a"]}}, {"duplicate-name"}),
        ({"sorts": {"Image": 4, "Digit": 10}}, {"defined-by-theory"}),
        ({"sorts": {"Image": {"a": np.zeros(3), "b": np.zeros(4)}}}, {"sizes-disagree"}),
        ({"sorts": {"Image": 3}}, {"unknown-individual"}),
        ({"tables": {}}, {"missing-data"}),
        ({"tables": {"sum": SUMS}}, {"unknown-table", "missing-data"}),
        ({"tables": {"sums": {**SUMS, "m": [1, 2]}}}, {"unknown-column", "missing-data"}),
        ({"tables": {"sums": {"x": [0], "y": [1]}}}, {"missing-column", "missing-data"}),
        ({"tables": {"sums": {**SUMS, "n": [1]}}}, {"wrong-shape", "missing-data"}),
        ({"tables": {"sums": {**SUMS, "n": [1.5, 2]}}}, {"wrong-sort", "missing-data"}),
        ({"tables": {"sums": {**SUMS, "x": ["a", "b"]}}}, {"wrong-sort", "missing-data"}),
        ({"tables": {"sums": {**SUMS, "x": [-1, 0]}}}, {"unknown-individual", "missing-data"}),
        ({"tables": {"sums": np.zeros((2, 2), int)}}, {"wrong-shape", "missing-data"}),
        ({"params": {"near": 1}}, {"unknown-param"}),
        ({"params": {"near": "1"}}, {"wrong-type"}),
        ({"constants": {"origin": 1}}, {"unknown-constant"}),
        ({"functions": {"f": [1.0]}}, {"unknown-function"}),
        ({"outputs": {"digit": "soft"}}, {"unknown-choice"}),
        ({"outputs": {"digt": "softmax"}}, {"unknown-predicate"}),
        ({"semantics": "fuzzy"}, {"unknown-semantics"}),
        ({"semantics": {"base": "logltn", "and": "product"}}, {"operators-do-not-mix"}),
        ({"semantics": {"or": "prod"}}, {"unknown-operator"}),
        ({"weights": {"subtraction": 1.0}}, {"unknown-axiom"}),
        ({"weights": {"addition": -1.0}}, {"value-out-of-range"}),
        ({"weights": {"addition": 0.0}}, {"zero-weights"}),
        ({"parameters": {"addition": {"beta": 1.0}}}, {"unknown-key"}),
        ({"parameters": {"addition": {"alpha": 0.0}}}, {"value-out-of-range"}),
        ({"batched": "sums"}, {"wrong-type"}),
        ({"batched": ["sum"]}, {"unknown-table"}),
        ({"streamed": ["sums"]}, {"conflicting-keys"}),
        ({"dtype": "float16"}, {"unknown-choice"}),
        ({"threads": 0}, {"value-out-of-range"}),
        ({"memory": 1}, {"too-much-memory"}),
    ],
)
def test_knowledge_bases(changed, expected):
    assert set(codes(lambda: addition(**changed))) == expected


def test_all_in_one_go():
    def everything():
        addition(params={"near": 1}, outputs={"digit": "soft"}, weights={}, dtype="half", constants={"c": 1})

    assert set(codes(everything)) == {"unknown-param", "unknown-choice", "unknown-constant"}


def test_numbers_that_may_be_labels():
    text = "sort T  table t(x: T)  predicate p(T)  axiom a: forall (x) in t. p(x)"
    assert codes(lambda: logltn.KnowledgeBase(text, sorts={"T": ["1", "2", "3"]}, tables={"t": {"x": [1, 2]}}))[0] == "wrong-sort"
    logltn.KnowledgeBase(text, sorts={"T": ["1", "2", "3"]}, tables={"t": {"x": ["1", "2"]}})


def test_values():
    kb = addition(batched=["sums"])
    before = kb.evaluate({"digit": LOGITS}).loss
    nan = LOGITS.copy()
    nan[2, 5] = np.nan
    with pytest.raises(logltn.InputError, match=r"`digit`: the value at \[2, 5\] is NaN"):
        kb.evaluate({"digit": nan})
    with pytest.raises(logltn.InputError, match=r"shape \(4, 9\), but must have \(4, 10\).*4 of `Image` × 10 of `Digit`"):
        kb.evaluate({"digit": LOGITS[:, :9]})
    wrong = {
        "unsupported-elements": lambda: kb.evaluate({"digit": LOGITS.astype(int)}),
        "unknown-predicate": lambda: kb.evaluate({"digit": LOGITS, "digits": LOGITS}),
        "not-grounded": lambda: kb.evaluate({}),
        "wrong-type": lambda: kb.evaluate({"digit": LOGITS}, alpha="big"),
        "value-out-of-range": lambda: kb.evaluate({"digit": LOGITS}, p_forall=0.5),
        "row-out-of-range": lambda: kb.evaluate({"digit": LOGITS}, batch={"sums": [2]}),
        "unknown-table": lambda: kb.evaluate({"digit": LOGITS}, batch={"sum": [0]}),
        "not-streamed": lambda: kb.evaluate({"digit": LOGITS}, sorts={"Image": 5}),
        "wrong-shape": lambda: kb.evaluate({"digit": logltn.AtRows(LOGITS[:3])}),
        "not-finite": lambda: kb.evaluate({"digit": LOGITS * np.inf}),
    }
    for code, call in wrong.items():
        assert codes(call) == [code]
        assert kb.evaluate({"digit": LOGITS}).loss == before
    assert codes(lambda: addition().evaluate({"digit": LOGITS}, batch={"sums": [0]})) == ["table-not-batched"]
    assert codes(lambda: kb.rows("digits")) == ["unknown-predicate"]


def test_truths_have_a_range():
    text = "predicate p()  axiom a: not p()"
    kb = logltn.KnowledgeBase(text, outputs={"p": "truth"}, dtype="float64")
    assert kb.evaluate({"p": np.array(1.0 + 1e-9)}).loss == kb.evaluate({"p": np.array(1.0)}).loss
    assert codes(lambda: kb.evaluate({"p": np.array(1.5)})) == ["value-out-of-range"]
    kb = logltn.KnowledgeBase(text, outputs={"p": "log_truth"})
    assert codes(lambda: kb.evaluate({"p": np.array(0.5)})) == ["value-out-of-range"]


def test_streams():
    kb = logltn.KnowledgeBase(ADDITION, outputs={"digit": "softmax"}, streamed=["sums"], dtype="float64")
    good = dict(sorts={"Image": 4}, tables={"sums": SUMS})
    before = kb.evaluate({"digit": LOGITS}, **good).loss
    wrong = {
        "missing-data": [dict(sorts={"Image": 4}), dict(tables={"sums": SUMS})],
        "wrong-type": [dict(good, sorts={"Image": "four"})],
        "unknown-individual": [dict(good, sorts={"Image": 3})],
        "unknown-sort": [dict(good, sorts={"Image": 4, "Imag": 4})],
        "missing-column": [dict(good, tables={"sums": {"x": [0], "n": [1]}})],
    }
    for code, calls in wrong.items():
        for call in calls:
            assert codes(lambda: kb.evaluate({"digit": LOGITS}, **call)) == [code]
            assert kb.evaluate({"digit": LOGITS}, **good).loss == before
