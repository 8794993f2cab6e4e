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
        ({"labels": {"Images": range(10)}}, "expected those of sort `Image`, .* found `Images`"),
        ({"labels": {"Digit": range(10)}}, "expected those of sort `Image`, .* found `Digit`"),
        ({"labels": {"Image": range(10), "Digit": range(10)}}, "of one sort"),
        ({"labels": {0: range(10)}}, "found `0`"),
        ({"predicate": "digits"}, "did you mean `digit`"),
        ({"support": {"add": {"x": [0], "y": [1, 2]}}}, "different lengths"),
        ({"support": {"add": 3}}, "expected a dict of columns"),
        ({"support": [("add", {"x": [0], "y": [0]})]}, "`support` must be a dict by name"),
        ({"support": {"add": "nowhere.csv"}}, "nowhere.csv"),
        ({"support": {"add": {"x": [0], "y": [12]}}}, "`12` is not a class of `digit`"),
        ({"support": {"add": {"x": [0]}}}, "asks about the class of an individual that no column gives"),
        ({"support": {"ad": {"x": [0], "y": [0]}}}, "there is no axiom `ad`"),
    ],
)
def test_mistakes(arguments, message):
    with pytest.raises(logltn.InputError, match=message):
        knowledge().identify(**arguments)


def test_files_are_read_as_the_program_reads_them(tmp_path):
    path = tmp_path / "support.csv"
    path.write_text("x,y\n0,6\n2\n")
    with pytest.raises(logltn.InputError, match="support.csv"):
        knowledge().identify(support={"add": path})
    path.write_text('"(x)",y\r\n' + "".join(f'"{a}",{b}\r\n' for a, b in PAIRS))
    assert knowledge().identify(support={"add": str(path)})["maps"] == "36"


def test_rows_that_count_for_nothing_are_warned_of():
    columns = {"x": [*PAIRS[:, 0], 9], "y": [*PAIRS[:, 1], 9]}
    with pytest.warns(logltn.InputWarning, match="1 of 9 rows satisfy no binding of axiom `add`.*x = 9, y = 9"):
        assert knowledge().identify(support={"add": columns})["maps"] == "36"
    with pytest.warns(logltn.InputWarning, match="no row satisfies 4 of the 8 bindings of axiom `add`"):
        knowledge().identify(support={"add": {"x": [0, 4], "y": [6, 8]}})


def test_neighbours_of_different_colours_may_be_permuted():
    kb = logltn.KnowledgeBase(
        """sort Node  sort Colour = {red, green, blue}  table edges(x: Node, y: Node)  predicate c(Node, Colour)
        axiom proper: forall (x, y) in edges. forall k: Colour. not (c(x, k) and c(y, k))""",
        sorts={"Node": 3},
        tables={"edges": [[0, 1], [1, 2]]},
        outputs={"c": "softmax"},
    )
    found = kb.identify()
    assert (found["maps"], found["bijective"], found["support"]) == ("6", "6", "satisfying")
    assert found["examples"][0] == {"red": "red", "green": "blue", "blue": "green"}
    found = kb.identify(labels=["red", "green", "red"])
    assert (found["maps"], found["labels"][0]["class"]) == ("18", "red")


def test_with_networks():
    torch = pytest.importorskip("torch")
    import logltn.torch

    kb = logltn.torch.KnowledgeBase(
        THEORY,
        sorts={"Image": torch.eye(10)},
        predicates={"digit": logltn.torch.softmax(torch.nn.Linear(10, 10))},
        tables={"sums": {"x": PAIRS[:, 0], "y": PAIRS[:, 1], "n": PAIRS.sum(1)}},
    )
    for labels in (torch.arange(10), list(torch.arange(10)), {"Image": torch.arange(10.0)}):
        assert kb.identify(labels=labels)["maps"] == "36"
    columns = {"x": torch.tensor(PAIRS[:, 0]), "y": torch.tensor(PAIRS[:, 1])}
    assert kb.identify("digit", support={"add": columns})["maps"] == "36"


def test_what_comes_with_calls_has_no_bindings():
    kb = logltn.KnowledgeBase(THEORY, outputs={"digit": "softmax"}, streamed=["sums"])
    with pytest.raises(logltn.InputError, match="come with each call"):
        kb.identify()
