"""`kb.identify`: the document of `logltn identify --json`."""

import numpy as np
import pytest

import logltn

THEORY = """
    sort Image  sort Digit = 0..9
    table sums(x: Image, y: Image, n: Int)
    predicate digit(Image, Digit)
    axiom add: forall (x, y, n) in sums. exists a, b: Digit where a + b = n. digit(x, a) and digit(y, b)
"""
PAIRS = np.array([(0, 6), (2, 8), (4, 6), (4, 8), (1, 5), (3, 7), (1, 9), (3, 9)])


def knowledge(**more):
    tables = {"sums": {"x": PAIRS[:, 0], "y": PAIRS[:, 1], "n": PAIRS.sum(1)}}
    return logltn.KnowledgeBase(THEORY, sorts={"Image": 10}, tables=tables, outputs={"digit": "softmax"}, **more)


@pytest.mark.parametrize("semantics", ["logltn", "probability", "stable"])
def test_even_odd_has_36_maps(semantics):
    found = knowledge(semantics=semantics).identify(labels=np.arange(10))
    assert (found["maps"], found["bijective"], found["support"]) == ("36", "2", "labels")
    assert [label["class"] for label in found["labels"]] == [0, 1]
    assert found["labels"][-1]["maps"] == "1"
    assert len(found["examples"]) == 10


def test_support_by_columns_and_by_file(tmp_path):
    kb = knowledge()
    columns = {"x": PAIRS[:, 0], "y": PAIRS[:, 1]}
    assert kb.identify(support={"add": columns})["maps"] == "36"
    path = tmp_path / "support.csv"
    path.write_text("x,y\n" + "".join(f"{a},{b}\n" for a, b in PAIRS))
    found = kb.identify("digit", support={"add": path})
    assert (found["maps"], found["support"]) == ("36", "file")
    assert kb.identify(labels={"Image": range(10)})["maps"] == "36"


@pytest.mark.parametrize(
    "arguments, message",
    [
        ({"labels": [0, 1]}, "expected 10 labels"),
        ({"labels": [11] * 10}, "not a class of `digit`"),
        ({"predicate": "digits"}, "did you mean `digit`"),
        ({"support": {"add": {"x": [0], "y": [1, 2]}}}, "different lengths"),
        ({"support": {"add": 3}}, "expected a dict of columns"),
        ({"support": {"ad": {"x": [0], "y": [0]}}}, "there is no axiom `ad`"),
    ],
)
def test_mistakes(arguments, message):
    with pytest.raises(logltn.InputError, match=message):
        knowledge().identify(**arguments)


def test_what_comes_with_calls_has_no_bindings():
    kb = logltn.KnowledgeBase(THEORY, outputs={"digit": "softmax"}, streamed=["sums"])
    with pytest.raises(logltn.InputError, match="come with each call"):
        kb.identify()
