"""Rows that come with each call of a knowledge base that runs the networks: the same numbers as with known rows, whatever came
before, each network once on each different row, and no plan for each call."""

import numpy as np
import pytest

torch = pytest.importorskip("torch")

import logltn.torch  # noqa: E402
from test_streams import ANYBODY, THEORY, rows  # noqa: E402

# Individuals of the rows are arguments of functions, too.
APPLIED = """
    sort P  table rows(x: P, y: P, n: Int)  function f(P): Real[2]
    predicate near(P, Real[2])  predicate old(P, Real)
    axiom a: forall (x, y, n) in rows where n > 1. near(x, f(y))
    axiom b: forall (x, y, n) in rows. old(x, n) -> near(y, f(x))
"""


class Networks:
    """Networks that remember which rows they were asked about."""

    def __init__(self, seed=0):
        make = torch.Generator().manual_seed(seed)
        draw = lambda *shape: torch.randn(*shape, dtype=torch.float64, generator=make).requires_grad_()  # noqa: E731
        self.weights = {"type": draw(3, 5), "part": draw(3), "sure": draw(1), "f": draw(3, 2), "near": draw(3, 2), "old": draw(3)}
        self.asked = {}
        self.meanwhile = lambda: None

    def part(self, x, y):
        self.asked.setdefault("part", []).append(torch.cat([x, y], 1).detach().numpy().copy())
        self.meanwhile()
        return (x * self.weights["part"] * (y + 0.1)).sum(1)

    def type(self, x):
        self.asked.setdefault("type", []).append(x.detach().numpy().copy())
        self.meanwhile()
        return x @ self.weights["type"]

    @property
    def predicates(self):
        return {"type": logltn.torch.softmax(self.type), "part": self.part, "sure": lambda: self.weights["sure"]}

    def step(self, kb, features, **arguments):
        """The loss, all gradients, and what the networks were asked."""
        self.asked = {}
        loss = kb(alpha=2.0, **arguments)
        used = [features, *self.weights.values()]
        return loss.item(), torch.autograd.grad(loss, used, allow_unused=True), self.asked


def equal(found, expected):
    assert found[0] == pytest.approx(expected[0], rel=1e-12, abs=1e-12)
    for one, other in zip(found[1], expected[1]):
        assert (one is None) == (other is None)
        if one is not None:
            torch.testing.assert_close(one, other, rtol=1e-9, atol=1e-12)


@pytest.mark.filterwarnings("ignore::logltn.InputWarning")
@pytest.mark.parametrize("semantics", ["logltn", "stable", "logltn-max"])
@pytest.mark.parametrize("theory", [ANYBODY, THEORY])
def test_as_known_rows(theory, semantics):
    rng = np.random.default_rng(2)
    networks = Networks()
    arguments = dict(predicates=networks.predicates, semantics=semantics, dtype="float64")
    streamed = ["rows", "more"] if theory is ANYBODY else ["rows"]
    kb = logltn.torch.KnowledgeBase(theory, streamed=streamed, **arguments)
    kept = []
    for call in range(50):
        size = int(rng.choice([3, 3, 3, 5])) if theory is THEORY else int(rng.integers(1, 9))
        features = torch.tensor(rng.normal(size=(size, 3)), requires_grad=True)
        tables = {"rows": rows(rng, int(rng.integers(0, 7)), size)}
        if theory is ANYBODY:
            more = int(rng.integers(0, 4))
            tables["more"] = {"y": rng.integers(0, size, more), "n": rng.integers(0, 6, more)}
        found = networks.step(kb, features, sorts={"P": features}, tables=tables)
        known = logltn.torch.KnowledgeBase(theory, sorts={"P": features.detach()}, tables=tables, **arguments)
        known.individuals.put("P", features)
        expected = networks.step(known, features)
        equal(found, expected)
        # Each row once, and in the same order.
        for name, asked in found[2].items():
            assert len(asked) == 1
            assert len(np.unique(asked[0], axis=0)) == len(asked[0])
            np.testing.assert_array_equal(asked[0], expected[2][name][0])
        if call % 10 == 3:
            kept.append((kb(alpha=2.0, sorts={"P": features}, tables=tables), features, expected))
    # Graphs that are kept are those of their own rows, also where a gradient has to be computed again.
    for loss, features, expected in kept:
        for _ in range(2):
            used = [features, *networks.weights.values()]
            equal((loss.item(), torch.autograd.grad(loss, used, allow_unused=True, retain_graph=True)), expected)


@pytest.mark.filterwarnings("ignore::logltn.InputWarning")
def test_something_else_meanwhile():
    """Between question and answer others may ask, as threads do."""
    rng = np.random.default_rng(3)
    networks = Networks()
    arguments = dict(semantics="stable", dtype="float64")
    kb = logltn.torch.KnowledgeBase(ANYBODY, streamed=["rows", "more"], predicates=networks.predicates, **arguments)

    def drawn():
        size = int(rng.integers(2, 9))
        features = torch.tensor(rng.normal(size=(size, 3)), requires_grad=True)
        more = int(rng.integers(0, 4))
        return features, {"rows": rows(rng, int(rng.integers(1, 7)), size), "more": {"y": rng.integers(0, size, more), "n": rng.integers(0, 6, more)}}

    for _ in range(20):  # until most is known
        features, tables = drawn()
        networks.step(kb, features, sorts={"P": features}, tables=tables)
    for call in range(30):
        features, tables = drawn()

        def meanwhile():
            networks.meanwhile = lambda: None
            other, its_tables = drawn()
            if call % 3 == 0:  # new cells: the next plan is another one
                its_tables["rows"]["w"] = rng.normal(size=len(its_tables["rows"]["x"]))
            kb(sorts={"P": other}, tables=its_tables).backward()

        networks.meanwhile = meanwhile
        found = networks.step(kb, features, sorts={"P": features}, tables=tables)
        known = logltn.torch.KnowledgeBase(ANYBODY, sorts={"P": features.detach()}, tables=tables, predicates=networks.predicates, **arguments)
        known.individuals.put("P", features)
        equal(found, networks.step(known, features))


@pytest.mark.filterwarnings("ignore::logltn.InputWarning")
def test_functions_of_rows():
    rng = np.random.default_rng(4)
    networks = Networks()
    arguments = dict(
        dtype="float64",
        functions={"f": lambda x: x @ networks.weights["f"]},
        predicates={
            "near": lambda x, v: ((x @ networks.weights["near"]) * v).sum(1),
            "old": lambda x, n: (x @ networks.weights["old"]) * n,
        },
    )
    kb = logltn.torch.KnowledgeBase(APPLIED, streamed=["rows"], **arguments)
    for _ in range(30):
        features = torch.tensor(rng.normal(size=(4, 3)), requires_grad=True)
        count = int(rng.integers(0, 5))
        tables = {"rows": {"x": rng.integers(0, 4, count), "y": rng.integers(0, 4, count), "n": rng.integers(0, 4, count)}}
        found = networks.step(kb, features, sorts={"P": features}, tables=tables)
        known = logltn.torch.KnowledgeBase(APPLIED, sorts={"P": features.detach()}, tables=tables, **arguments)
        known.individuals.put("P", features)
        equal(found, networks.step(known, features))


def test_empty_batches():
    """A loop goes on, and learns nothing from them."""
    layer = torch.nn.Linear(2, 1)
    kb = logltn.torch.KnowledgeBase(
        "sort P  table pairs(x: P, y: P)  predicate p(P)  axiom a: forall (x, y) in pairs. p(x) -> p(y)", streamed=["pairs"], predicates={"p": layer}
    )
    for count in (2, 0, 3, 0, 0, 2):
        pairs = torch.arange(2 * count).reshape(count, 2)
        kb.zero_grad()
        loss = kb(sorts={"P": torch.rand(2 * count, 2)}, tables={"pairs": pairs})
        loss.backward()
        assert (layer.weight.grad is None) == (count == 0)
    with torch.no_grad():
        assert not kb(sorts={"P": torch.rand(0, 2)}, tables={"pairs": pairs[:0]}).requires_grad


def test_what_came_is_read_at_once():
    """Whoever fills the same index tensors again does not change the gradient of what was computed before."""
    kb = logltn.torch.KnowledgeBase(
        "sort P  table pairs(x: P, y: P)  predicate near(P, P)  axiom a: forall (x, y) in pairs. near(x, y)", streamed=["pairs"], dtype="float64"
    )
    logits = torch.randn(3, 3, dtype=torch.float64, requires_grad=True)
    x, y = torch.tensor([0, 1]), torch.tensor([2, 2])
    loss = kb.loss(near=logits, sorts={"P": 3}, tables={"pairs": {"x": x, "y": y}})
    truths = kb.axioms(near=logits, sorts={"P": 3}, tables={"pairs": {"x": x, "y": y}})
    first, = torch.autograd.grad(loss, logits, retain_graph=True)
    x.fill_(2)
    y.resize_(5000).fill_(1)
    for again in (loss, -truths["a"]):
        gradient, = torch.autograd.grad(again, logits, retain_graph=True)
        torch.testing.assert_close(gradient, first, rtol=1e-12, atol=1e-12)


def test_strided_columns():
    """Every other cell of a tensor, also backwards in NumPy."""
    kb = logltn.torch.KnowledgeBase(
        "sort P  table pairs(x: P, y: P)  predicate near(P, P)  axiom a: forall (x, y) in pairs. near(x, y)", streamed=["pairs"], dtype="float64"
    )
    logits = torch.randn(6, 6, dtype=torch.float64)
    pairs = torch.tensor([[0, 1], [4, 5], [2, 3]])
    expected = torch.nn.functional.logsigmoid(logits)[pairs[:, 0], pairs[:, 1]].mean()
    for x, y in (
        (pairs[:, 0], pairs[:, 1]),
        (pairs.T[0], pairs.T[1]),
        (pairs[:, 0].numpy()[::-1], pairs[:, 1].flip(0)),
        (pairs[:, 0].tolist(), pairs[:, 1].int()),
        (pairs[:, 0].numpy().astype(">i8"), pairs[:, 1].numpy().astype("<i8")),
        (np.ma.array(pairs[:, 0].numpy()), pairs[:, 1].numpy().astype(np.uint64)),
        (pairs[:1, 0].expand(3), pairs[:1, 1].expand(3)),
    ):
        loss = kb.loss(near=logits, sorts={"P": 6}, tables={"pairs": {"x": x, "y": y}})
        x, y = (c.numpy() if isinstance(c, torch.Tensor) else c for c in (x, y))
        same = torch.nn.functional.logsigmoid(logits)[np.array(x, np.int64), np.array(y, np.int64)].mean()
        torch.testing.assert_close(loss, -same)
    torch.testing.assert_close(-kb.loss(near=logits, sorts={"P": 6}, tables={"pairs": pairs}), expected)
    for wrong in (torch.tensor([0, 1]), torch.zeros(3, 1, dtype=torch.int64)):
        with pytest.raises(logltn.InputError, match="different lengths|one axis"):
            kb.loss(near=logits, sorts={"P": 6}, tables={"pairs": {"x": wrong, "y": pairs[:, 1]}})
    with pytest.raises(logltn.InputError, match="masked"):
        kb.loss(near=logits, sorts={"P": 6}, tables={"pairs": {"x": np.ma.array([0, 1, 2], mask=[0, 1, 0]), "y": pairs[:, 1]}})
    with pytest.raises(logltn.InputError, match="not an individual"):
        kb.loss(near=logits, sorts={"P": 6}, tables={"pairs": {"x": -pairs[:, 0] - 1, "y": pairs[:, 1]}})


def test_what_networks_may_give_and_get():
    def kb(network):
        text = "sort P  table rows(x: P)  predicate old(P)  axiom a: forall (x) in rows. old(x)"
        return logltn.torch.KnowledgeBase(text, predicates={"old": network}, streamed=["rows"])

    features = torch.rand(3, 2)
    arguments = dict(sorts={"P": features}, tables={"rows": {"x": [0, 2]}})
    expected = kb(lambda x: x[:, 0])(**arguments).item()
    # Features as an array, half precision, strides.
    assert kb(lambda x: x[:, 0])(sorts={"P": features.numpy()}, tables={"rows": {"x": [0, 2]}}).item() == expected
    assert kb(lambda x: x[:, 0].half())(**arguments).item() == pytest.approx(expected, rel=1e-3)
    for gives in (lambda x: x[:, 0].long(), lambda x: x[:, 0].to("meta"), lambda x: x[:, 0].to_sparse(), lambda x: x[:, 0] > 0):
        for _ in range(4):
            with pytest.raises(logltn.InputError, match="`old` returned a tensor of"):
                kb(gives)(**arguments)


def test_no_plan_for_each_call():
    """After the first calls nothing is planned. bench/python/streams.py says how much more new rows take than known ones."""
    digits = [f"d{i}" for i in range(4)]
    theory = f"""
        sort Image  sort Digit = 0..9  table sums({", ".join(f"{d}: Image" for d in digits)}, n: Int)  predicate digit(Image, Digit)
        axiom addition: forall (d0, d1, d2, d3, n) in sums. exists i, j, k, l: Digit where 10 * i + j + 10 * k + l = n.
            digit(d0, i) and digit(d1, j) and digit(d2, k) and digit(d3, l)
    """
    kb = logltn.torch.KnowledgeBase(theory, predicates={"digit": logltn.torch.softmax(lambda x: x)}, streamed=["sums"], threads=1)
    rng = np.random.default_rng(0)
    features = torch.randn(512, 10)

    def call():
        who = rng.permutation(512)
        table = {**{d: who[i::4] for i, d in enumerate(digits)}, "n": rng.integers(0, 100, (128, 2)).sum(1)}
        kb(sorts={"Image": features}, tables={"sums": table})

    for _ in range(40):
        call()
    before = kb._knowledge._native.plans
    for _ in range(30):
        call()
    assert kb._knowledge._native.plans == before < 30


def test_networks_beside_values_at_rows():
    """A predicate at rows, and a network behind another one: no plan either."""
    theory = """
        sort P  table rows(x: P, y: P, n: Int)  predicate near(P, P)  predicate old(P)
        axiom a: forall (x, y, n) in rows where n > 1. near(x, y) -> old(y)
    """
    rng = np.random.default_rng(1)
    weights = torch.randn(3, dtype=torch.float64, requires_grad=True)
    network = {"old": lambda x: x @ weights}
    kb = logltn.torch.KnowledgeBase(theory, predicates=network, streamed=["rows"], dtype="float64")
    before = None
    for call in range(40):
        features = torch.tensor(rng.normal(size=(6, 3)))
        tables = {"rows": {"x": rng.integers(0, 6, 8), "y": rng.integers(0, 6, 8), "n": rng.integers(0, 4, 8)}}
        rows = kb.rows("near", sorts={"P": 6}, tables=tables)
        near = torch.tensor(rng.normal(size=len(rows)), requires_grad=True)
        loss = kb(near=logltn.AtRows(near), alpha=2.0, sorts={"P": features}, tables=tables)
        found = torch.autograd.grad(loss, [near, weights])
        known = logltn.torch.KnowledgeBase(theory, sorts={"P": features}, tables=tables, predicates=network, dtype="float64")
        np.testing.assert_array_equal(rows, known.rows("near"))
        expected = known(near=logltn.AtRows(near), alpha=2.0)
        torch.testing.assert_close(loss, expected, rtol=1e-12, atol=1e-12)
        for one, other in zip(found, torch.autograd.grad(expected, [near, weights])):
            torch.testing.assert_close(one, other, rtol=1e-9, atol=1e-12)
        if call == 20:
            before = kb._knowledge._native.plans
    assert kb._knowledge._native.plans == before


def test_memory_is_bounded():
    """Over rows that never repeat. LOGLTN_CALLS says for how many calls."""
    import os
    import resource

    theory = "sort P  table rows(x: P, y: P, n: Int)  predicate old(P)  axiom a: forall (x, y, n) in rows where n > 3. old(x) -> old(y)"
    kb = logltn.torch.KnowledgeBase(theory, predicates={"old": torch.nn.Linear(2, 1)}, streamed=["rows"], threads=1)
    features, who = torch.rand(32, 2), np.arange(32)

    def some(start, calls):
        for call in range(start, start + calls):
            kb(sorts={"P": features}, tables={"rows": {"x": who[0::2], "y": who[1::2], "n": 16 * call + who[:16]}}).backward()

    some(0, 1500)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    some(1500, int(os.environ.get("LOGLTN_CALLS", 2000)))
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 8_000  # kB


# Of large sorts that are there before the rows are. Some ask who is in a row, some ask everybody, some do neither.
SAID = [
    "forall (x, y, q, _l) in t. near(x, y) -> good(y, q)",
    "exists (x, y, q, _l) in t. near(y, x) and not good(x, q)",
    "forall (x, _y, _q, l) in t. type(x, l)",
    "forall (x, y, _q, _l) in t. more(score(x), score(y))",
    "forall (x, y, _q, _l) in t. more(mix(score(x), score(y)), score(y))",
    "forall (x, _y, _q, _l) in t. forall (q) in u. good(x, q)",
    "forall (x, y, _q, l) in t where x != y. near(x, y) -> exists k: L where k > l. type(y, k)",
    "forall (x, _y, q, _l) in t. good(next(x), q)",
    "forall (x, _y, _q, _l) in t. near(x, one) or exists z: P. near(x, z) and near(z, one)",
    "forall (x, _y, _q, _l) in t. lonely(x)",
    "forall (x, y, _q, _l) in t. near(x, x) or near(y, x)",
    "forall x: P. exists y: P. near(x, y)",
    "forall x: P, q: Q. good(x, q)",
    "forall x: P. more(score(x), 0.5) or exists l: L. type(x, l)",
    "near(one, one)",
]


@pytest.mark.filterwarnings("ignore::logltn.InputWarning")
@pytest.mark.parametrize("semantics", ["logltn", "stable", "logltn-max", "probability"])
@pytest.mark.parametrize("seed", range(6))
def test_rows_of_known_sorts(semantics, seed):
    """Random theories, rows repeated within a call and across calls, none at all: as with known rows, each network once on each row."""
    rng = np.random.default_rng(seed)
    # Of probabilities only what is quick to compile, and what functions say is not known to be the same atom.
    few = [i for i, said in enumerate(SAID) if semantics != "probability" or not any(w in said for w in ("score", "lonely", "exists"))]
    chosen = [SAID[i] for i in rng.permutation(few)[:4]]
    axioms = "\n".join(f"axiom a{i}: {said}" for i, said in enumerate(chosen))
    text = f"""
        sort P  sort Q  sort L = 0..2  constant one: P  table t(x: P, y: P, q: Q, l: L)  table u(q: Q)
        function score(P): Real  function mix(Real, Real): Real  function next(P): P
        predicate near(P, P)  predicate good(P, Q)  predicate type(P, L)  predicate more(Real, Real)
        define lonely(x: P): not exists y: P. near(x, y)
        {axioms}
    """
    p, q, w = (torch.tensor(rng.normal(size=shape), requires_grad=True) for shape in ((7, 3), (4, 3), (3, 3)))
    asked = []

    def near(x, y):
        asked.append(torch.cat([x, y], 1).detach().numpy())
        return (x * (y + 0.3) * w[0]).sum(1)

    every = {
        "near": near, "good": lambda x, y: (x @ w * y).sum(1), "more": lambda a, b: (a - 2 * b).sum(1),
        "type": logltn.torch.softmax(lambda x: x @ w),
    }  # fmt: skip
    arguments = dict(
        sorts={"P": p, "Q": q}, constants={"one": 2}, predicates=every, semantics=semantics, dtype="float64",
        functions={"score": lambda x: x[:, :1] * w[1, 1], "mix": lambda a, b: a * b - w[2, 0], "next": np.array([3, 0, 1, 2, 6, 4, 5])},
    )  # fmt: skip
    streamed = [name for name in "tu" if f"in {name}" in axioms]
    if not streamed:
        pytest.skip("no rows")
    kb = logltn.torch.KnowledgeBase(text, streamed=["t", "u"], **arguments)
    for _ in range(12):
        rows, more = int(rng.integers(0, 6)), int(rng.integers(0, 3))
        tables = {
            "t": {"x": rng.integers(0, 7, rows), "y": rng.integers(0, 7, rows), "q": rng.integers(0, 4, rows), "l": rng.integers(0, 3, rows)},
            "u": {"q": rng.integers(0, 4, more)},
        }
        asked.clear()
        loss = kb(alpha=2.0, tables=tables)
        distinct = np.concatenate(asked) if asked else np.zeros((0, 6))
        assert len(np.unique(distinct, axis=0)) == len(distinct)
        known = logltn.torch.KnowledgeBase(text, **(arguments | {"tables": tables}))
        expected = known(alpha=2.0)
        torch.testing.assert_close(loss, expected, rtol=1e-10, atol=1e-12)
        if not expected.requires_grad:
            continue
        for one, other in zip(*(torch.autograd.grad(of, [p, q, w], allow_unused=True) for of in (loss, expected))):
            if one is None or other is None:
                assert one is other is None
            else:
                torch.testing.assert_close(one, other, rtol=1e-8, atol=1e-11)


def test_cost_does_not_grow():
    """Pairs of large sorts that never repeat: nothing is planned after the first calls, whoever they are."""
    text = """
        sort User  sort Item  table bought(u: User, i: Item)  predicate likes(User, Item)  predicate rare(Item)
        axiom a: forall (u, i) in bought. likes(u, i)
        axiom b: forall i: Item. rare(i)
    """
    users, items = torch.randn(6040, 4), torch.randn(3700, 4)
    networks = {"likes": lambda u, i: (u * i).sum(1), "rare": lambda i: i.sum(1)}
    kb = logltn.torch.KnowledgeBase(text, sorts={"User": users, "Item": items}, predicates=networks, streamed=["bought"])

    def call(rows):
        kb(tables={"bought": {"u": torch.randint(0, 6040, (rows,)), "i": torch.randint(0, 3700, (rows,))}})

    for _ in range(5):
        call(64)
    before = kb._knowledge._native.plans
    for i in range(30):
        call(64 - i % 3)
    assert kb._knowledge._native.plans == before
