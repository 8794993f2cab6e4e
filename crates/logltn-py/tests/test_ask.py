"""`query` and `explain` are those of the command line, on the same numbers."""

import json
import subprocess
import sys

import numpy as np
import pytest

import logltn

THEORY = """
sort Person
sort Job = {cook, nurse, smith}
sort Level = 0..4
param near
table knows(x: Person, y: Person, n: Int)
predicate happy(Person)
predicate works(Person, Job)
predicate likes(Person, Person)
predicate at(Person, Level)
predicate rain()
axiom all_happy: forall x: Person. happy(x) or rain()
axiom liked: forall (x, y, n) in knows where n > 1. likes(x, y) -> exists j: Job. works(x, j) and works(y, j)
axiom each for j: Job: exists x: Person. works(x, j)
axiom levels: forall x: Person. exists l: Level where l > 2. at(x, l) and happy(x)
axiom never: forall x: Person. exists l: Level where l > 7. at(x, l)
"""
PEOPLE = ["ann", "bob", "eve", "joe"]
KNOWS = {"x": ["ann", "bob", "eve"], "y": ["bob", "eve", "joe"], "n": [1, 2, 3]}
SHAPES = {"happy": (4,), "works": (4, 3), "likes": (4, 4), "at": (4, 5), "rain": ()}
OUTPUTS = {"happy": "truth", "works": "softmax", "likes": "sigmoid", "at": "log_truth", "rain": "sigmoid"}
FORMULAS = [
    "forall x: Person. happy(x)",
    "find x: Person. happy(x) and not rain()",
    "find x: Person, j: Job where j != cook. works(x, j)",
    "find (x, y, n) in knows. likes(x, y)",
    "find x: Person where near > 1. happy(x)",
]


def values(seed=0):
    random = np.random.default_rng(seed)
    numbers = {name: random.standard_normal(shape) for name, shape in SHAPES.items()}
    numbers["happy"] = random.random(4)
    numbers["at"] = -random.random((4, 5))
    return {name: np.asarray(v, np.float64) for name, v in numbers.items()}


def knowledge(**more):
    arguments = dict(
        sorts={"Person": PEOPLE}, tables={"knows": KNOWS}, params={"near": 0.5}, outputs=OUTPUTS,
        parameters={"liked": {"alpha": 3.0}},
    )  # fmt: skip
    with pytest.warns(logltn.InputWarning):  # `never` has nothing to choose from
        return logltn.KnowledgeBase(THEORY, **{**arguments, **more})


def folder(path, numbers, semantics):
    (path / "t.ltn").write_text(THEORY)
    (path / "knows.csv").write_text("x,y,n\n" + "".join(f"{x},{y},{n}\n" for x, y, n in zip(*KNOWS.values())))
    lines = [f'theory = "t.ltn"\nsemantics = "{semantics}"\n[sorts.Person]\nindividuals = {json.dumps(PEOPLE)}\n']
    lines.append('[tables]\nknows = { rows = "knows.csv" }\n[params]\nnear = 0.5\n[axioms.liked]\nalpha = 3.0\n')
    for name, array in numbers.items():
        rows = array.reshape(-1, array.shape[-1] if OUTPUTS[name] == "softmax" else 1).tolist()
        head = ",".join(f"c{i}" for i in range(len(rows[0])))
        (path / f"{name}.csv").write_text(head + "\n" + "".join(",".join(map(repr, row)) + "\n" for row in rows))
        key = OUTPUTS[name] if "truth" in OUTPUTS[name] else "logits"
        output = f'output = "{OUTPUTS[name]}"\n' if key == "logits" else ""
        lines.append(f'[predicates.{name}]\n{key} = "{name}.csv"\n{output}')
    (path / "m.toml").write_text("".join(lines))
    return str(path / "m.toml")


def run(*arguments):
    done = subprocess.run([sys.executable, "-m", "logltn", *arguments, "--json"], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def bare(document):
    """Without the names of the files that warnings are about."""
    return {**document, "warnings": [{**w, "file": None} for w in document["warnings"]]}


@pytest.mark.parametrize("semantics", ["logltn", "stable"])
def test_documents_are_those_of_the_command_line(tmp_path, semantics):
    numbers = values()
    manifest = folder(tmp_path, numbers, semantics)
    kb = knowledge(semantics=semantics)
    for formula in FORMULAS:
        for top in (0, 2):
            theirs = run("query", manifest, formula, "--alpha", "2", "--top", str(top))
            assert bare(kb.query(formula, numbers, top=top, alpha=2.0)) == bare(theirs), formula
    for axiom in (None, "each", "each[nurse]", "liked"):
        theirs = run("explain", manifest, "--alpha", "2", "--top", "3", *(["--axiom", axiom] if axiom else []))
        assert bare(kb.explain(numbers, axiom, top=3, alpha=2.0)) == bare(theirs), axiom
    assert len(theirs["axioms"][0]["worst"]) == 2 and theirs["axioms"][0]["worst"][0]["witnesses"]


def test_torch_is_the_same_by_tensors_and_by_networks():
    torch = pytest.importorskip("torch")
    import logltn.torch

    numbers = values()
    arguments = knowledge()._arguments
    theirs = knowledge()
    tensors = {name: torch.tensor(v, requires_grad=True) for name, v in numbers.items()}
    with pytest.warns(logltn.InputWarning):
        kb = logltn.torch.KnowledgeBase(**arguments)
    assert kb.query(FORMULAS[1], tensors) == theirs.query(FORMULAS[1], numbers)
    assert kb.explain(tensors, top=1) == theirs.explain(numbers, top=1)
    meanings = {name: getattr(logltn.torch, OUTPUTS[name]) for name in numbers}
    look = {name: meanings[name](lambda *at, name=name: tensors[name][at]) for name in ("happy", "works", "at")}
    rest = {name: OUTPUTS[name] for name in ("likes", "rain")}
    with pytest.warns(logltn.InputWarning):
        kb = logltn.torch.KnowledgeBase(**{**arguments, "outputs": rest}, predicates=look)
    given = {name: tensors[name] for name in rest}
    for formula in FORMULAS:
        assert kb.query(formula, given) == theirs.query(formula, numbers), formula
    assert kb.explain(given) == theirs.explain(numbers)


def test_rows_may_be_those_of_the_axioms():
    kb, numbers = knowledge(), values()
    rows = kb.rows("likes")
    at_rows = {**numbers, "likes": logltn.AtRows(numbers["likes"][tuple(rows.T)])}
    assert len(rows) < 16
    assert kb.explain(at_rows) == kb.explain(numbers)
    question = "find (x, y, n) in knows where n > 1. likes(x, y)"
    assert kb.query(question, at_rows) == kb.query(question, numbers)
    with pytest.raises(logltn.InputError, match="rows that no axiom asks about"):
        kb.query("find x: Person, y: Person. likes(x, y)", at_rows)


def test_what_comes_with_the_call():
    theory = "sort Image  sort Digit = 0..2  table sums(x: Image, n: Int)  predicate digit(Image, Digit)  " \
        "axiom a: forall (x, n) in sums. exists d: Digit where d = n. digit(x, d)"
    numbers = {"digit": np.log(np.array([[0.5, 0.25, 0.25], [0.2, 0.2, 0.6]]))}
    streamed = logltn.KnowledgeBase(theory, outputs={"digit": "softmax"}, streamed=["sums"])
    known = logltn.KnowledgeBase(theory, outputs={"digit": "softmax"}, sorts={"Image": 2}, tables={"sums": {"x": [0, 1], "n": [2, 2]}})
    coming = dict(sorts={"Image": 2}, tables={"sums": {"x": [0, 1], "n": [2, 2]}})
    assert streamed.explain(numbers, **coming) == known.explain(numbers)
    assert streamed.explain(numbers, **coming)["axioms"][0]["worst"][0]["binding"] == {"x": 0, "n": 2}
    with pytest.raises(logltn.InputError, match="no individuals"):
        streamed.explain(numbers)


def test_mistakes_are_shown_in_place():
    kb, numbers = knowledge(), values()

    def code(ask):
        with pytest.raises(logltn.InputError) as raised:
            ask()
        return raised.value.diagnostics[0]

    found = code(lambda: kb.query("forall x: Person. hapy(x)", numbers))
    assert (found.code, found.line, found.column) == ("unknown-predicate", 1, 19)
    assert code(lambda: kb.explain(numbers, "nothing")).code == "unknown-axiom"
    assert code(lambda: kb.query(7, numbers)).code == "wrong-type"
    assert code(lambda: kb.query("rain()", numbers, top=-1)).code == "value-out-of-range"
    assert code(lambda: kb.query("rain()", {})).code == "not-grounded"
    assert code(lambda: kb.query("rain()", {"rain": np.array(np.nan)})).code == "not-finite"
    assert code(lambda: kb.query("happy(ann)", {"happy": np.zeros(3)})).code == "wrong-shape"
    # Nothing is lost.
    assert kb.query("rain()", numbers)["truth"] < 0


def test_an_explanation_shows_itself():
    shown = knowledge().explain(values(), top=1)._repr_html_()
    assert "each[nurse]" in shown and "blame" in shown and "nothing to choose from" in shown
