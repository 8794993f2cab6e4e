"""What one does next to the examples: the precision of values, networks that hide something, rows that cannot be, and all that may come with a
call."""

import copy
import functools
import inspect
import warnings

import numpy as np
import pytest

import logltn

torch = pytest.importorskip("torch")
import logltn.torch  # noqa: E402
from torch import nn  # noqa: E402

ADDITION = """
sort Image
sort Digit = 0..9
table sums(x: Image, y: Image, n: Int)
predicate digit(Image, Digit)
axiom addition: forall (x, y, n) in sums. exists a, b: Digit where a + b = n. digit(x, a) and digit(y, b)
"""
NEAR = "sort Point  param near  predicate C(Point)  axiom a: forall x, y: Point where dist(x, y) < near. C(x) -> C(y)"
POINTS = np.array([[0.0, 0.0], [1.0, 0.0], [3.0, 0.0]])


def addition(**arguments):
    return logltn.torch.KnowledgeBase(ADDITION, outputs={"digit": "softmax"}, streamed=["sums"], **arguments)


def sums(*n):
    return dict(sorts={"Image": 4}, tables={"sums": {"x": [0, 2][: len(n)], "y": [1, 3][: len(n)], "n": list(n)}})


def codes(run):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        run()
    return [w.message.diagnostic.code for w in caught if isinstance(w.message, logltn.InputWarning) and w.message.diagnostic]


# --- precision --------------------------------------------------------------------------------------


def test_precision_follows_the_values():
    kb, numbers = addition(), np.random.default_rng(0).normal(size=(4, 10))
    exact = logltn.KnowledgeBase(ADDITION, outputs={"digit": "softmax"}, streamed=["sums"], dtype="float64")
    right = float(exact.evaluate({"digit": numbers}, **sums(7, 12)).loss)
    double = kb.loss(digit=torch.tensor(numbers), **sums(7, 12))
    single = kb.loss(digit=torch.tensor(numbers).float(), **sums(7, 12))
    assert double.dtype is torch.float64 and double.item() == right
    assert single.dtype is torch.float32 and single.item() == pytest.approx(right, rel=1e-5)
    told = addition(dtype="float32").loss(digit=torch.tensor(numbers), **sums(7, 12))
    assert told.dtype is torch.float64 and told.item() != right and told.item() == pytest.approx(right, rel=1e-5)


def test_mixed_values_are_computed_in_the_higher_precision():
    kb = logltn.KnowledgeBase("predicate p()  predicate q()  axiom a: p() and q()")
    single, double = np.float32(0.3), np.float64(0.7)
    r = kb.evaluate({"p": np.array(single), "q": np.array(double)}, gradients=True)
    right = -sum(np.log1p(np.exp(-np.float64(z))) for z in (single, double))
    assert r.loss.dtype == np.float64 and r.loss == pytest.approx(-right, rel=1e-14)
    assert r.gradients["p"].dtype == np.float32 and r.gradients["q"].dtype == np.float64


def test_networks_decide_about_the_precision():
    kb = logltn.torch.KnowledgeBase(
        "sort P  table t(x: P)  predicate C(P)  axiom a: forall (x) in t. C(x)", streamed=["t"], predicates={"C": nn.Linear(2, 1).double()}
    )
    points = torch.randn(3, 2, dtype=torch.float64)
    for _ in range(6):  # the same rows come again, which are prepared then
        loss = kb(sorts={"P": points}, tables={"t": {"x": [0, 2]}})
        right = -nn.functional.logsigmoid(kb.predicates.part("C")(points[[0, 2]])).mean()
        assert loss.dtype is torch.float64 and loss.item() == pytest.approx(right.item(), rel=1e-13)


# --- networks ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("last, kind, warns", [
    (nn.Sigmoid(), logltn.torch.sigmoid, True), (nn.Softmax(1), logltn.torch.softmax, True), (nn.LogSoftmax(1), logltn.torch.softmax, False),
    (nn.Sigmoid(), lambda f: logltn.torch.truth(f, classes=True), False), (nn.Linear(3, 3), logltn.torch.softmax, False),
])  # fmt: skip
def test_what_is_squashed_twice(last, kind, warns):
    text = "sort P  sort K = 0..2  predicate C(P, K)  axiom a: forall x: P, k: K. C(x, k)"
    net = kind(nn.Sequential(nn.Linear(2, 3), nn.Sequential(last)))
    found = codes(lambda: logltn.torch.KnowledgeBase(text, sorts={"P": torch.randn(4, 2)}, predicates={"C": net}))
    assert found == ["squashed-twice"] * warns


def test_values_that_look_like_truths():
    text = "sort P  predicate C(P)  axiom a: forall x: P. C(x)"
    make = lambda **more: logltn.torch.KnowledgeBase(text, sorts={"P": 3}, **more)  # noqa: E731
    kb = make()
    assert codes(lambda: [kb.loss(C=torch.tensor([0.1, 0.5, 0.9])) for _ in range(3)]) == ["squashed-twice"]
    assert codes(lambda: make().loss(C=torch.tensor([0.1, 0.5, 1.5]))) == []
    assert codes(lambda: make().loss(C=torch.full((3,), 0.5))) == []
    assert codes(lambda: make(outputs={"C": "truth"}).loss(C=torch.tensor([0.1, 0.5, 0.9]))) == []
    numpy = logltn.KnowledgeBase(text, sorts={"P": 3})
    assert codes(lambda: numpy.evaluate({"C": np.array([0.1, 0.5, 0.9])})) == ["squashed-twice"]


class Pair(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Linear(2, 1)

    def score(self, x):
        return self.net(x)


MODEL = nn.Linear(2, 1)


def test_parameters_of_methods_and_closures_are_found():
    pair, local = Pair(), nn.Linear(2, 1)
    kept = [nn.Linear(2, 1)]
    text = "sort P  predicate C(P)  axiom a: forall x: P. C(x)"
    make = lambda f: logltn.torch.KnowledgeBase(text, sorts={"P": torch.randn(3, 2)}, predicates={"C": f})  # noqa: E731
    for given, module in [
        (pair.score, pair.net), (lambda x: local(x), local), (lambda x: MODEL(x), MODEL), (functools.partial(torch.nn.functional.linear, weight=local.weight), local),
        (lambda x: kept[0](x), kept[0]), (lambda x, net=local: net(x), local),
    ]:  # fmt: skip
        kb = make(given)
        assert any(p is module.weight for p in kb.parameters())
        assert codes(lambda: kb().backward()) in ([], ["squashed-twice"])
        copied = copy.deepcopy(kb)
        copied.zero_grad()
        copied().backward()
        assert all(p.grad is not None for p in copied.parameters())  # what it runs is what it has
    hidden = iter([nn.Linear(2, 1)])
    found = next(hidden)
    kb = make(lambda x: [m for m in __import__("gc").get_objects() if m is found][0](x))
    assert any(p is found.weight for p in kb.parameters())  # a closure, too
    registry = type("Registry", (), {"get": staticmethod(lambda: HIDDEN[0])})
    kb = make(lambda x: registry.get()(x))
    assert not list(kb.parameters())
    assert "hidden-parameters" in codes(lambda: kb())


HIDDEN = [nn.Linear(2, 1)]


def test_classes_without_a_softmax():
    text = "sort P  sort K = 0..2  predicate C(P, K)  axiom a: forall x: P, k: K where k != 1. C(x, k)"
    points, net = torch.randn(4, 2), nn.Linear(2, 3)
    kb = logltn.torch.KnowledgeBase(text, sorts={"P": points}, predicates={"C": logltn.torch.sigmoid(net, classes=True)})
    right = -nn.functional.logsigmoid(net(points)[:, [0, 2]]).mean()
    assert kb().item() == pytest.approx(right.item(), rel=1e-5)
    assert kb.loss(C=net(points)).item() == pytest.approx(right.item(), rel=1e-5)


def test_loss_and_axioms_run_networks():
    text = "sort P  predicate A(P)  predicate B(P)  axiom a: forall x: P. A(x)  axiom b (weight 2): forall x: P. A(x) -> B(x)"
    points, net = torch.randn(4, 2), nn.Linear(2, 1)
    kb = logltn.torch.KnowledgeBase(text, sorts={"P": points}, predicates={"A": net})
    given = torch.randn(4)
    whole = kb.loss(A=net(points).squeeze(1), B=given).item()
    assert kb(B=given).item() == pytest.approx(whole) and kb.loss(B=given).item() == pytest.approx(whole)
    truths = kb.axioms(values={"B": given})
    assert -(truths["a"] + 2 * truths["b"]).item() / 3 == pytest.approx(whole)
    truths["b"].backward()
    assert net.weight.grad is not None


# --- rows that cannot be ------------------------------------------------------------------------------


def test_impossible_rows_are_said_once_with_the_row():
    kb, x = addition(), torch.randn(4, 10)
    with pytest.warns(logltn.InputWarning, match="x = 2, y = 3, n = 19") as caught:
        for _ in range(3):
            kb.loss(digit=x, **sums(7, 19))
    assert len(caught) == 1
    assert codes(lambda: addition().axioms(digit=x, **sums(7, 12))) == []


@pytest.mark.parametrize("semantics", ["logltn", "stable", "lukasiewicz"])
def test_empty_rows_and_axioms_are_left_out(semantics):
    text = ADDITION + "axiom other (weight 3): forall x: Image. not digit(x, 0)"
    make = lambda **more: logltn.torch.KnowledgeBase(  # noqa: E731
        text, outputs={"digit": "softmax"}, streamed=["sums"], semantics=semantics, **more
    )
    x = torch.randn(4, 10, dtype=torch.float64, requires_grad=True)
    kb, plain = make(leave_out_empty=True), make()
    left, right = kb.loss(digit=x, **sums(7, 19)), plain.loss(digit=x, **sums(7))
    assert left.item() == pytest.approx(right.item(), rel=1e-12)
    gradients = [torch.autograd.grad(loss, x)[0] for loss in (left, right)]
    assert torch.allclose(*gradients)
    alone = kb.loss(digit=x, **sums(19))  # the axiom is about nothing then
    only = logltn.torch.KnowledgeBase(text, outputs={"digit": "softmax"}, streamed=["sums"], semantics=semantics, weights={"addition": 0.0})
    assert alone.item() == pytest.approx(only.loss(digit=x, **sums(7)).item(), rel=1e-12)
    assert torch.isfinite(kb.loss(digit=torch.zeros(0, 10), sorts={"Image": 0}, tables={"sums": {"x": [], "y": [], "n": []}}))


def test_masked_classes():
    x = torch.randn(4, 10, dtype=torch.float64)
    x[:, 9] = -torch.inf
    x.requires_grad_()
    for dtype in (torch.float64, torch.float32):
        loss = addition().loss(digit=x.to(dtype), **sums(7, 12))
        right = addition().loss(digit=torch.cat([x[:, :9], torch.full((4, 1), -1e5)], 1).to(dtype), **sums(7, 12))
        assert loss.item() == pytest.approx(right.item(), rel=1e-6)
        gradient, = torch.autograd.grad(loss, x)
        assert torch.isfinite(gradient).all() and (gradient[:, 9] == 0).all()
    for wrong in (torch.full((4, 10), -torch.inf), torch.full((4, 10), torch.inf), torch.full((4, 10), torch.nan)):
        with pytest.raises(logltn.InputError, match="digit"):
            addition().loss(digit=wrong, **sums(7, 12))


# --- what comes with a call ---------------------------------------------------------------------------


def test_weights_of_a_call():
    text = "sort K = 0..2  predicate A(K)  predicate B()  axiom a for k: K: A(k)  axiom b (weight 2): B()"
    x, y = torch.randn(3, requires_grad=True), torch.randn((), requires_grad=True)
    kb = logltn.torch.KnowledgeBase(text)
    plain = kb.loss(A=x, B=y)
    truths = list(kb.truths.values())
    weighed = lambda *w: -sum(a * t for a, t in zip(w, truths)) / sum(w)  # noqa: E731
    assert kb.loss(A=x, B=y, weights={"a": 4, "b": 1}).item() == pytest.approx(weighed(4, 4, 4, 1))
    assert kb.loss(A=x, B=y, weights={"a[1]": 0.5}).item() == pytest.approx(weighed(1, 0.5, 1, 2))
    assert kb.loss(A=x, B=y).item() == plain.item() and kb.weights == {"a[0]": 1.0, "a[1]": 1.0, "a[2]": 1.0, "b": 2.0}
    w = torch.tensor(0.7, requires_grad=True)
    kb.loss(A=x, B=y, weights={"b": w}).backward()
    assert w.grad.item() == pytest.approx(torch.autograd.grad(weighed(1, 1, 1, v := w.detach().clone().requires_grad_()), v)[0].item(), rel=1e-4)
    numpy = logltn.KnowledgeBase(text)
    values = {"A": x.detach().numpy(), "B": y.detach().numpy()}
    assert numpy.evaluate(values, weights={"b": 5.0}).loss == pytest.approx(weighed(1, 1, 1, 5), rel=1e-5)
    for wrong, code in ({"c": 1}, "unknown-axiom"), ({"b": -1}, "value-out-of-range"), ({"a": 0, "b": 0}, "zero-weights"), ([1], "wrong-type"):
        with pytest.raises(logltn.InputError) as caught:
            kb.loss(A=x, B=y, weights=wrong)
        assert caught.value.diagnostics[0].code == code


def test_params_functions_and_features_come_with_a_call():
    c = torch.tensor([1.0, -1.0, 0.5], dtype=torch.float64)
    known = lambda near: logltn.torch.KnowledgeBase(NEAR, sorts={"Point": POINTS}, params={"near": near}).loss(C=c).item()  # noqa: E731
    kb = logltn.torch.KnowledgeBase(NEAR, sorts={"Point": POINTS})
    for near in (0.5, 2.5, 10, 2.5):
        assert kb.loss(C=c, params={"near": near}).item() == known(near)
    with pytest.raises(logltn.InputError, match="param `near` has no value"):
        kb.loss(C=c)
    kb = logltn.torch.KnowledgeBase(NEAR, params={"near": 1.5})
    assert kb.loss(C=c, sorts={"Point": torch.tensor(POINTS)}).item() == known(1.5)
    assert kb.loss(C=c, sorts={"Point": POINTS}, params={"near": 2.5}).item() == known(2.5)
    numpy = logltn.KnowledgeBase(NEAR)
    assert numpy.evaluate({"C": c.numpy()}, sorts={"Point": POINTS}, params={"near": 2.5}).loss == known(2.5)
    found = numpy.query("find x, y: Point where dist(x, y) < near. C(x)", {"C": c.numpy()}, sorts={"Point": POINTS}, params={"near": 1.5})
    assert found["total"] == 5
    old = "sort P  function age(P): Real  predicate C(P)  axiom a: forall x: P where age(x) > 40. C(x)"
    numbers = torch.randn(3)
    kb = logltn.torch.KnowledgeBase(old)
    for ages in ([30, 50, 60], [50, 10, 20]):
        loss = kb.loss(C=numbers, sorts={"P": 3}, functions={"age": np.array(ages, float)})
        right = logltn.torch.KnowledgeBase(old, sorts={"P": 3}, functions={"age": np.array(ages, float)}).loss(C=numbers)
        assert loss.item() == right.item()
    field = "sort P  predicate C(P)  axiom a: forall x: P where x.age > 40. C(x)"
    loss = logltn.torch.KnowledgeBase(field).loss(C=numbers, sorts={"P": {"age": torch.tensor([30.0, 50.0, 60.0])}})
    assert loss.item() == pytest.approx(-nn.functional.logsigmoid(numbers[1:]).mean().item(), rel=1e-5)


def test_names_and_features_of_one_sort():
    text = "sort Person  table knows(x: Person, y: Person)  param far  predicate C(Person)\n" + (
        "axiom a: forall (x, y) in knows where dist(x, y) < far. C(x)  axiom b: C(ann)"
    )
    people = {"name": ["ann", "bob", "eve"], "at": POINTS}
    kb = logltn.KnowledgeBase(text, sorts={"Person": people}, tables={"knows": {"x": ["ann", "eve"], "y": ["bob", "ann"]}}, params={"far": 2.0})
    found = kb.explain({"C": np.zeros(3)}, "a")["axioms"][0]
    assert [w["binding"] for w in found["worst"]] == [{"x": "ann", "y": "bob"}]
    rows = {"knows": {"x": ["ann"], "y": ["bob"]}}
    kb = logltn.torch.KnowledgeBase(text, sorts={"Person": people}, tables=rows, params={"far": 2.0}, predicates={"C": lambda f: f["at"][:, 0]})
    assert torch.isfinite(kb())


def test_questions_need_only_the_tables_they_speak_of():
    text = ADDITION + "axiom other: forall x: Image. digit(x, 1)"
    kb = logltn.torch.KnowledgeBase(text, outputs={"digit": "softmax"}, streamed=["sums"])
    x = torch.randn(4, 10)
    assert kb.query("find x: Image. digit(x, 3)", {"digit": x}, sorts={"Image": 4})["total"] == 4
    assert kb.explain({"digit": x}, "other", sorts={"Image": 4})["axioms"][0]["groundings"] == 4
    for ask in (lambda: kb.explain({"digit": x}, "addition", sorts={"Image": 4}), lambda: kb.query("forall (x, y, n) in sums. digit(x, 1)", {"digit": x}, sorts={"Image": 4})):
        with pytest.raises(logltn.InputError, match="table `sums` has no rows"):
            ask()


def test_p_of_the_mean_over_axioms():
    text = "predicate p()  predicate q()  axiom a: p()  axiom b: q()"
    outputs = {"p": "truth", "q": "truth"}
    kb = logltn.KnowledgeBase(text, semantics={"base": "stable", "stable_eps": 0}, outputs=outputs, p_axioms=5)
    values = {"p": np.array(0.9), "q": np.array(0.4)}
    assert kb.evaluate(values, p_forall=2.0).loss == pytest.approx(((0.1**5 + 0.6**5) / 2) ** 0.2)


# --- what one sees --------------------------------------------------------------------------------------


def test_what_a_knowledge_base_says_of_itself():
    kb = addition(weights={"addition": 3.0})
    assert kb.semantics == "logltn" and kb.weights == {"addition": 3.0}
    kb.loss(digit=torch.zeros(4, 10), **sums(7, 12))
    assert kb.truths.logs and not logltn.torch.KnowledgeBase("predicate p()  axiom a: p()", semantics="stable").truths.logs
    text = str(kb.explain({"digit": torch.zeros(4, 10)}, top=1, **sums(7, 12)))
    assert text.splitlines()[0].startswith("addition: truth 0.0") and "x = 0, y = 1, n = 7" in text and "{" not in text
    one = logltn.torch.KnowledgeBase("predicate p()  axiom a: p()").explain({"p": torch.zeros(())})
    assert "1 grounding\n" in str(one) and "1 grounding<" in one._repr_html_()


def test_every_parameter_is_in_the_signature():
    ours, theirs = (set(inspect.signature(c.__init__).parameters) for c in (logltn.torch.KnowledgeBase, logltn.KnowledgeBase))
    theirs = {name for name in theirs if not name.startswith("_")}
    assert theirs <= ours
    assert {*theirs, "predicates", "process_group"} - {"self"} <= set(inspect.signature(logltn.torch.KnowledgeBase).parameters) <= ours
    with pytest.raises(TypeError, match="semantic"):
        logltn.torch.KnowledgeBase("predicate p()  axiom a: p()", semantic="stable")


# --- features ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("cls", [logltn.KnowledgeBase, logltn.torch.KnowledgeBase])
def test_questions_about_features_that_no_axiom_reads(cls):
    text = "sort P  predicate C(P)  axiom a: forall x: P. C(x)"
    people, values = {"age": np.array([1.0, 2.0, 3.0]), "at": POINTS}, {"C": np.array([0.0, 1.0, -1.0])}
    asked = {"find x: P where x.age > 1.5. C(x)": 2, "find x, y: P where dist(x, y) < 1.8. C(x)": 5, "find x, y: P where dist(x, y) < 1.8 and x.age < 2. C(y)": 2}
    known, coming = cls(text, sorts={"P": people}), cls(text)
    for formula, total in asked.items():
        assert known.query(formula, values)["total"] == total
        assert coming.query(formula, values, sorts={"P": people})["total"] == total
    alone = cls(text, sorts={"P": POINTS})
    assert alone.query("find x, y: P where dist(x, y) < 1.8. C(x)", values)["total"] == 5
    for formula in ("find x: P where x.size > 1. C(x)", "find x: P where x.at > 1. C(x)"):
        with pytest.raises(logltn.InputError, match="no column of numbers"):
            known.query(formula, values)


def test_features_in_any_form():
    import pandas as pd
    import polars as pl
    import pyarrow as pa

    text, net, x = "sort P  predicate C(P)  axiom a: forall x: P. C(x)", nn.Linear(2, 1), torch.rand(3, 2)
    frame, right = pd.DataFrame(x.numpy(), columns=["u", "v"]), -nn.functional.logsigmoid(net(x)).mean().item()
    given = [x, x.numpy(), x.double().numpy(), x.tolist(), list(x), frame, pl.DataFrame(frame), pa.table(frame), x.numpy().astype(">f4"), x.numpy()[::-1][::-1]]
    for features in given:
        for loss in (
            logltn.torch.KnowledgeBase(text, sorts={"P": features}, predicates={"C": net})(),
            logltn.torch.KnowledgeBase(text, predicates={"C": net})(sorts={"P": features}),
        ):
            assert loss.item() == pytest.approx(right, rel=1e-5), type(features)
    by_field = lambda f: net(torch.stack([f["u"], f["v"]], 1))  # noqa: E731
    for fields in ({"u": x[:, 0], "v": x[:, 1]}, {"u": x[:, 0].tolist(), "v": x[:, 1].numpy()}):
        kb = logltn.torch.KnowledgeBase(text, predicates={"C": by_field})
        assert kb(sorts={"P": fields}).item() == pytest.approx(right, rel=1e-5)
    double = logltn.torch.KnowledgeBase(text, sorts={"P": x.bfloat16()}, predicates={"C": nn.Linear(2, 1).bfloat16()})
    assert double().dtype is torch.float32


@pytest.mark.parametrize("cls", [logltn.KnowledgeBase, logltn.torch.KnowledgeBase])
def test_functions_beside_the_examples(cls):
    text = "sort P  function age(P): Real  function f(P): P  predicate C(P)  axiom a: forall x, y: P where dist(x, y) < age(x). C(f(x))"
    make = lambda n, **more: cls(text, **{"sorts": {"P": np.zeros((n, 2))}, "functions": {"age": np.ones(n), "f": np.arange(n)}, **more})  # noqa: E731
    assert make(0).evaluate({"C": np.zeros(0)}).loss == 0  # nobody
    people = {"P": {"name": ["ann", "bob"], "at": np.zeros((2, 1))}}
    named = make(2, sorts=people, functions={"age": [1, 1], "f": ["bob", "bob"]}).evaluate({"C": np.array([5.0, 0.0])})
    assert named.loss == pytest.approx(np.log(2))
    with pytest.raises(logltn.InputError, match="individuals of sort `P` come with a call"):
        cls(text, functions={"age": np.ones(2), "f": np.arange(2)})


@pytest.mark.parametrize("cls", [logltn.KnowledgeBase, logltn.torch.KnowledgeBase])
@pytest.mark.parametrize("laws", [[], ["a"]])
def test_values_that_no_law_speaks_of_are_looked_at(cls, laws):
    text = "sort P  predicate e(P)  predicate g(P)  predicate s(P, P)  axiom a: forall x: P. e(x)  axiom b: forall x: P. g(x) and s(x, x)"
    kb = cls(text, sorts={"P": 2}, outputs={"g": "truth", "s": "softmax"}, laws=laws)
    for name, wrong in {"g": [np.array([np.nan, 0]), np.array([1.5, 0]), np.zeros(3), np.zeros(())], "s": [np.full((2, 2), -np.inf), np.zeros(2)]}.items():
        for value in wrong:
            values = {"e": np.zeros(2), "g": np.full(2, 0.5), "s": np.zeros((2, 2)), name: value}
            for ask in (kb.marginals, kb.world, kb.entropy, lambda v: kb.sample(v, 2)):
                with pytest.raises(logltn.InputError, match=f"predicate `{name}`"):
                    ask(values if cls is logltn.KnowledgeBase else {n: torch.tensor(v) for n, v in values.items()})
