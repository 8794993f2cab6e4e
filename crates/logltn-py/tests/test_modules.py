"""The knowledge base runs the networks: each once, on the distinct rows that axioms ask for."""

import copy
import pickle

import numpy as np
import pytest

import logltn

torch = pytest.importorskip("torch")
import logltn.torch  # noqa: E402
from torch import nn  # noqa: E402


class Counted(nn.Module):
    def __init__(self, module):
        super().__init__()
        self.module = module
        self.calls = []

    def forward(self, *arguments):
        self.calls.append(len(arguments[0]))
        return self.module(*arguments)


def near(u, v):
    return -(u - v).abs().sum(1)


THEORY = """
    sort Point  sort Cluster = 0..2  sort Person  param near  function f(Point): Real[2]  constant ideal: Point
    table pairs(x: Point, y: Point)
    predicate C(Point, Cluster)  predicate friends(Person, Person)  predicate eq(Point, Point)  predicate good(Real[2])
    predicate type(Point)
    axiom covered: forall x: Point. exists c: Cluster. C(x, c)
    axiom smooth: forall c: Cluster, x, y: Point where dist(x, y) < near. C(x, c) -> C(y, c)
    axiom friendly: forall p, q: Person. friends(p, q) -> friends(q, p)
    axiom ideal: exists x: Point. eq(x, ideal)
    axiom functions: forall x: Point. good(f(x)) and type(x)
    axiom rows: forall (x, y) in pairs. eq(x, y) or C(x, 1)
"""


def parts():
    torch.manual_seed(0)
    return dict(
        sorts={"Point": torch.rand(6, 2), "Person": nn.Embedding(4, 5)},
        tables={"pairs": [[0, 1], [2, 3], [4, 5]]},
        predicates={
            "C": logltn.torch.softmax(Counted(nn.Sequential(nn.Linear(2, 8), nn.ELU(), nn.Linear(8, 3)))),
            "friends": nn.Bilinear(5, 5, 1),
            "eq": logltn.torch.log_truth(near),
            "good": Counted(nn.Linear(2, 1)),
            "type": logltn.torch.truth(nn.Sequential(nn.Linear(2, 1), nn.Sigmoid())),
        },
        functions={"f": Counted(nn.Linear(2, 2))},
        constants={"ideal": nn.Parameter(torch.full((2,), 0.1))},
        params={"near": 0.5},
        batched=["pairs"],
    )


def test_the_same_as_by_hand():
    given = parts()
    kb = logltn.torch.KnowledgeBase(THEORY, **given)
    loss = kb(alpha=2.0)
    loss.backward()
    found = {name: parameter.grad.clone() for name, parameter in kb.named_parameters()}
    assert set(found) >= {"individuals.Person.weight", "vectors.ideal", "functions.f.module.weight", "predicates.type.0.bias"}
    assert all(gradient.abs().sum() > 0 for gradient in found.values())
    kb.zero_grad()

    points, person, ideal = given["sorts"]["Point"], given["sorts"]["Person"].weight, given["constants"]["ideal"]
    networks = {name: g.callable if hasattr(g, "callable") else g for name, g in given["predicates"].items()}
    all_points = torch.cat([points, ideal[None]])
    f = given["functions"]["f"](points)
    # The functions are put into the values of a predicate over points.
    text = THEORY.replace("function f(Point): Real[2]", "").replace("good(Real[2])", "good(Point)").replace("good(f(x))", "good(x)")
    by_hand = logltn.torch.KnowledgeBase(
        text, sorts={"Point": points, "Person": 4}, tables=given["tables"], constants={"ideal": np.zeros(2)}, params=given["params"],
        outputs={"C": "softmax", "eq": "log_truth", "type": "truth"},
    )  # fmt: skip
    n = 7
    expected = by_hand.loss(
        C=networks["C"](all_points),
        friends=networks["friends"](person.repeat_interleave(4, 0), person.repeat(4, 1)).view(4, 4),
        eq=near(all_points.repeat_interleave(n, 0), all_points.repeat(n, 1)).view(n, n),
        good=torch.cat([networks["good"](f), torch.zeros(1, 1)]).squeeze(1),
        type=networks["type"](all_points).squeeze(1),
        alpha=2.0,
    )
    expected.backward()
    torch.testing.assert_close(loss, expected)
    for name, parameter in kb.named_parameters():
        torch.testing.assert_close(found[name], parameter.grad, msg=name)


def test_once_on_distinct_rows():
    given = parts()
    kb = logltn.torch.KnowledgeBase(THEORY, **given)
    kb(alpha=2.0, batch={"pairs": [1]})
    assert given["predicates"]["C"].callable.calls == [6]
    assert given["predicates"]["good"].calls == [6] and given["functions"]["f"].calls == [6]
    shared = Counted(nn.Linear(2, 1))
    kb = logltn.torch.KnowledgeBase(
        "sort P  table t(x: P)  predicate a(P)  predicate b(P)  axiom r: forall (x) in t. a(x) or b(x)",
        sorts={"P": torch.rand(100, 2)}, tables={"t": {"x": [3, 7, 7]}}, predicates={"a": shared, "b": shared},
    )  # fmt: skip
    kb().backward()
    assert shared.calls == [4]


def test_is_a_module():
    kb = logltn.torch.KnowledgeBase(THEORY, **parts())
    state = kb.state_dict()
    assert "predicates.C.module.0.weight" in state and not any("Point" in name for name in state)
    other = logltn.torch.KnowledgeBase(THEORY, **parts())
    torch.nn.init.zeros_(other.get_parameter("predicates.good.module.weight"))
    assert other(alpha=2.0).item() != kb(alpha=2.0).item()
    other.load_state_dict(state)
    assert other(alpha=2.0).item() == kb(alpha=2.0).item()
    assert not kb.eval().predicates.part("C").training and kb.train().predicates.part("C").training
    assert kb.double()(alpha=2.0).dtype == torch.float64
    for copied in (copy.deepcopy(other), pickle.loads(pickle.dumps(other))):
        assert copied(alpha=2.0).item() == other(alpha=2.0).item()
        copied.get_parameter("vectors.ideal").data += 1.0
        assert copied(alpha=2.0).item() != other(alpha=2.0).item()


def test_learns():
    kb = logltn.torch.KnowledgeBase(THEORY, **parts())
    optimizer = torch.optim.Adam(kb.parameters(), 0.05)
    first = kb(alpha=2.0).item()
    for _ in range(100):
        optimizer.zero_grad()
        loss = kb(alpha=2.0)
        loss.backward()
        optimizer.step()
    assert loss.item() < 0.7 * first and set(kb.truths) == set(kb.theory.axioms)


def test_numbers_integers_and_fields():
    seen = {}

    def keep(name):
        def call(*arguments):
            seen[name] = arguments
            return torch.zeros(len(next(iter(arguments[0].values())) if isinstance(arguments[0], dict) else arguments[0]))

        return call

    kb = logltn.torch.KnowledgeBase(
        """sort Box  sort Level = 3..5  table t(x: Box, l: Level, w: Real)
           predicate heavy(Box, Real)  predicate high(Level)
           axiom a: forall (x, l, w) in t. heavy(x, w) and high(l)""",
        sorts={"Box": {"roi": torch.rand(2, 4), "at": np.arange(4.0).reshape(2, 2)}},
        tables={"t": {"x": [0, 1], "l": [5, 3], "w": [0.5, 2.5]}},
        predicates={"heavy": keep("heavy"), "high": keep("high")},
    )
    kb()
    box, weight = seen["heavy"]
    assert set(box) == {"roi", "at"} and box["at"].shape == (2, 2)
    assert sorted(weight.tolist()) == [0.5, 2.5] and sorted(seen["high"][0].tolist()) == [3, 5]


def test_functions_given_by_data():
    text = "sort P  function age(P): Real  predicate tall(P)  axiom a: forall x: P where age(x) >= 18. tall(x)"
    for kb in (
        logltn.KnowledgeBase(text, sorts={"P": 3}, functions={"age": [12.0, 40.0, 71.5]}),
        logltn.torch.KnowledgeBase(text, sorts={"P": 3}, functions={"age": torch.tensor([12.0, 40.0, 71.5])}),
    ):
        assert kb.rows("tall").tolist() == [[1], [2]]
    with pytest.raises(logltn.InputError, match="shape"):
        logltn.KnowledgeBase(text, sorts={"P": 3}, functions={"age": [12.0, 40.0]})


def test_streamed_features():
    torch.manual_seed(0)
    net = nn.Linear(3, 10)
    text = """sort Image  sort Digit = 0..9  table sums(x: Image, y: Image, n: Int)  predicate digit(Image, Digit)
        axiom addition: forall (x, y, n) in sums. exists a, b: Digit where a + b = n. digit(x, a) and digit(y, b)"""
    kb = logltn.torch.KnowledgeBase(text, predicates={"digit": logltn.torch.softmax(net)}, streamed=["sums"])
    other = logltn.torch.KnowledgeBase(text, outputs={"digit": "softmax"}, streamed=["sums"])
    for _ in range(5):
        images = torch.rand(4, 3)
        tables = {"sums": {"x": [0, 2], "y": [1, 3], "n": torch.randint(0, 19, (2,))}}
        loss = kb(alpha=2.0, sorts={"Image": images}, tables=tables)
        expected = other.loss(digit=net(images), alpha=2.0, sorts={"Image": 4}, tables=tables)
        torch.testing.assert_close(loss, expected)


def test_mistakes():
    given = parts()
    for changed, code in [
        ({"predicates": {**given["predicates"], "D": nn.Linear(2, 1)}}, "unknown-predicate"),
        ({"predicates": {**given["predicates"], "C": 7}}, "wrong-type"),
        ({"functions": {"g": nn.Linear(2, 2)}}, "unknown-function"),
        ({"outputs": {"C": "softmax"}}, "conflicting-keys"),
    ]:
        with pytest.raises(logltn.InputError) as caught:
            logltn.torch.KnowledgeBase(THEORY, **{**given, **changed})
        assert caught.value.diagnostics[0].code == code
    for changed, code in [
        ({"predicates": {**given["predicates"], "C": logltn.torch.softmax(nn.Linear(2, 4))}}, "wrong-shape"),
        ({"predicates": {**given["predicates"], "good": nn.Linear(2, 2)}}, "wrong-shape"),
        ({"predicates": {**given["predicates"], "good": lambda x: None}}, "wrong-type"),
        ({"predicates": {name: p for name, p in given["predicates"].items() if name != "type"}}, "not-grounded"),
        ({"functions": {}}, "not-grounded"),
        ({"predicates": {**given["predicates"], "type": logltn.torch.truth(lambda x: x.sum(1) + 2)}}, "value-out-of-range"),
    ]:
        with pytest.raises(logltn.InputError) as caught:
            logltn.torch.KnowledgeBase(THEORY, **{**given, **changed})(alpha=2.0)
        assert caught.value.diagnostics[0].code == code, str(caught.value)
