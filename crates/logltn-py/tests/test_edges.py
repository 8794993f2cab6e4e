"""What stands next to the examples: sizes of 0, what is known at different times, tensors without numbers, signals."""

import signal
import threading
import time

import numpy as np
import pytest
import torch

import logltn
import logltn.torch

SEMANTICS = ("logltn", "stable", "prod", "godel", "lukasiewicz", "goguen")


@pytest.mark.filterwarnings("ignore:.*never used")
@pytest.mark.parametrize("semantics", SEMANTICS)
@pytest.mark.parametrize(
    "formula, empty",
    [
        ("forall x: A. P(x)", True),
        ("forall x, y: A. P(x) -> P(y)", True),
        ("exists x: A. P(x)", False),
        ("forall x: A. exists b: B. R(x, b)", True),
        ("exists b: B. forall x: A. R(x, b)", True),
        ("(forall x: A. P(x)) and (exists b: B. Q(b))", None),
    ],
)
def test_a_sort_without_individuals(semantics, formula, empty):
    theory = f"sort A  sort B  predicate P(A)  predicate Q(B)  predicate R(A, B)  axiom a: {formula}"
    if semantics == "prod" and formula.startswith(("exists b", "(")):
        pytest.skip("`prod` has no `forall` inside of formulas")
    shapes = {"P": (0,), "Q": (2,), "R": (0, 2)}
    for dtype in (np.float32, np.float64):
        values = {name: np.zeros(shape, dtype) for name, shape in shapes.items()}
        known = logltn.KnowledgeBase(theory, sorts={"A": 0, "B": 2}, semantics=semantics)
        r = known.evaluate(values, gradients=True)
        coming = logltn.KnowledgeBase(theory, semantics=semantics)
        c = coming.evaluate(values, sorts={"A": 0, "B": 2}, gradients=True)
        assert r.truths == c.truths and r.loss == c.loss
        assert r.gradients["P"].shape == (0,) and r.gradients["R"].shape == (0, 2)
        if empty is not None and semantics != "prod":
            true, false = (0.0, -1e5) if semantics == "logltn" else (1.0, 0.0)
            assert r.truths["a"] == (true if empty else false)
        tensors = {name: torch.tensor(v, requires_grad=True) for name, v in values.items()}
        kb = logltn.torch.KnowledgeBase(theory, semantics=semantics)
        loss = kb.loss(tensors, sorts={"A": 0, "B": 2})
        loss.backward()
        assert loss.item() == pytest.approx(float(r.loss)) and tensors["P"].grad.shape == (0,)
        # The next batch is an ordinary one.
        assert np.isfinite(kb.loss({n: torch.zeros(1, *s[1:]) if s[0] == 0 else torch.zeros(s) for n, s in shapes.items()}, sorts={"A": 1, "B": 2}).item())


def test_networks_of_a_sort_without_individuals():
    kb = logltn.torch.KnowledgeBase(
        "sort A  predicate P(A)  axiom a: forall x: A. P(x)", predicates={"P": torch.nn.Linear(2, 1)}
    )
    loss = kb(sorts={"A": torch.zeros(0, 2)})
    loss.backward()
    assert loss.item() == 0 and kb(sorts={"A": torch.zeros(1, 2)}).item() > 0


@pytest.mark.parametrize("batched", [[], ["t"]])
def test_a_table_is_known_before_its_sort(batched):
    theory = "sort A  table t(x: A)  predicate P(A)  axiom a: forall (x) in t. P(x)"
    values = np.array([1.0, -2.0, 0.5])
    kb = logltn.KnowledgeBase(theory, tables={"t": {"x": [0, 1]}}, batched=batched)
    fresh = logltn.KnowledgeBase(theory, sorts={"A": 3}, tables={"t": {"x": [0, 1]}})
    for _ in range(3):
        assert kb.evaluate({"P": values}, sorts={"A": 3}).loss == fresh.evaluate({"P": values}).loss
        assert kb.evaluate({"P": values[:2]}, sorts={"A": 2}).loss == fresh.evaluate({"P": values}).loss
        with pytest.raises(logltn.InputError, match="row 1, column `x`: index 1 is out of range"):
            kb.evaluate({"P": values[:1]}, sorts={"A": 1})
    if batched:
        one = kb.evaluate({"P": values}, sorts={"A": 3}, batch={"t": [1]})
        assert one.truths["a"] == pytest.approx(-np.logaddexp(0, 2.0))


def test_a_constant_is_known_before_its_sort():
    theory = "sort A  constant c: A  predicate P(A)  predicate C(A, A)  axiom a: P(c)  axiom b: forall x: A. C(x, c)"
    for outputs in ({}, {"C": "softmax"}):
        kb = logltn.KnowledgeBase(theory, constants={"c": 2}, outputs=outputs)
        values = {"P": np.array([0.0, 0.0, 3.0]), "C": np.zeros((3, 3))}
        r = kb.evaluate(values, sorts={"A": 3})
        assert r.truths["a"] == pytest.approx(-np.logaddexp(0, -3.0))
        with pytest.raises(logltn.InputError, match="constant `c` is row 2, but sort `A` has 1"):
            kb.evaluate({"P": np.zeros(1), "C": np.zeros((1, 1))}, sorts={"A": 1})
        assert kb.evaluate(values, sorts={"A": 3}).loss == r.loss


def test_features_are_read_where_an_axiom_names_somebody_of_another_sort():
    theory = """sort A  sort D  predicate P(A)  predicate Q(D)
        axiom a: forall x, y: A where dist(x, y) < 1. P(x) and P(y) and Q(one)"""
    kb = logltn.KnowledgeBase(theory, sorts={"A": np.array([[0.0], [0.5], [5.0]]), "D": ["one", "two"]})
    assert kb.check()["axioms"][0]["groundings"] == 5


def test_compiled_with_networks():
    kb = logltn.torch.KnowledgeBase(
        "sort A  predicate P(A)  axiom a: forall x: A. P(x)",
        sorts={"A": torch.rand(3, 2)},
        predicates={"P": torch.nn.Linear(2, 1)},
    )
    compiled = torch.compile(kb)
    assert compiled().item() == kb().item()
    compiled().backward()
    assert all(p.grad is not None for p in kb.parameters())


def test_tensors_without_numbers():
    kb = logltn.torch.KnowledgeBase("sort A  predicate P(A)  axiom a: forall x: A. P(x)", sorts={"A": 3})
    freed = torch.zeros(3)
    freed.untyped_storage().resize_(0)
    for value in (torch._efficientzerotensor((3,)), freed, torch.zeros(3, device="meta"), torch.zeros(3).to_sparse()):
        with pytest.raises(logltn.InputError):
            kb.loss(P=value)


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="no timers")
def test_signals_while_computing():
    kb = logltn.KnowledgeBase(
        "sort A  predicate P(A, A)  axiom a: forall x, y, z: A. P(x, y) and P(y, z) -> P(x, z)",
        sorts={"A": 300},
        semantics="stable",
    )
    values = {"P": np.zeros((300, 300), np.float32)}
    heard = []

    def ask(*_):
        try:
            heard.append(kb.evaluate(values))
        except RuntimeError as error:
            heard.append(str(error))

    before = signal.signal(signal.SIGALRM, ask)
    try:
        while not heard:
            signal.setitimer(signal.ITIMER_REAL, 0.05)
            kb.evaluate(values)
            time.sleep(0.1)
        # Either it came in the middle, or between two calls.
        assert isinstance(heard[0], logltn.Evaluation) or "in this thread" in heard[0]

        def interrupt(*_):
            raise KeyboardInterrupt

        signal.signal(signal.SIGALRM, interrupt)
        stop = threading.Event()

        def compute():
            while not stop.is_set():
                kb.evaluate(values)

        other = threading.Thread(target=compute)
        other.start()
        try:
            with pytest.raises(KeyboardInterrupt):
                signal.setitimer(signal.ITIMER_REAL, 0.1)
                while True:
                    kb.evaluate(values)
        finally:
            stop.set()
            other.join()
    finally:
        signal.signal(signal.SIGALRM, before)


def test_a_double_network_that_is_asked_about_nobody():
    theory = "sort A  table s(x: A)  predicate P(A)  predicate Q()  axiom a: forall (x) in s. P(x)  axiom b: Q()"
    network = torch.nn.Linear(2, 1).double()
    q = torch.tensor(0.3)
    for given in (network, lambda x: network(x)[:, 0]):
        kb = logltn.torch.KnowledgeBase(theory, streamed=["s"], sorts={"A": torch.rand(5, 2).double()}, predicates={"P": logltn.torch.sigmoid(given)})
        loss = kb.loss(Q=q, tables={"s": {"x": []}})
        assert loss.dtype is torch.float64
        loss.backward()  # an empty batch in a loop
        right = kb.loss(Q=q.double(), P=torch.zeros(5).double(), tables={"s": {"x": []}})
        assert abs(float(loss - right)) < 1e-14


def test_an_infinite_loss_is_said():
    with pytest.warns(logltn.InputWarning, match="axiom `a` is not finite"):
        kb = logltn.KnowledgeBase(
            "sort P predicate p(P) axiom a: forall x: P. p(x)", sorts={"P": 2}, semantics={"base": "prod", "stable_eps": 0}, outputs={"p": "truth"}
        )
        assert kb.evaluate({"p": np.array([0.0, 1.0])}).loss == np.inf
