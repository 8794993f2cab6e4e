"""The plan on a device, by torch operations and by Triton's interpreter, against the CPU engine."""

import json
import os
import re
import subprocess
import sys
import warnings
from pathlib import Path

import numpy as np
import pytest

torch = pytest.importorskip("torch")
import logltn  # noqa: E402
import logltn.torch  # noqa: E402
import device_rows  # noqa: E402
from conformance_cases import same_gradients  # noqa: E402
from device_cases import NAMES, check_conformance, check_random, loss_and_gradients, on_device  # noqa: E402
from device_worlds import check_batches, check_worlds  # noqa: E402

CPU = torch.device("cpu")
OPERATIONS = {"kernels": False}
# So small that every quantifier is cut, and nothing is kept.
SMALL = {"kernels": False, "bindings": 7, "kept": 0}
ADDITION = """
    sort Image  sort Digit = 0..9  table sums(x: Image, y: Image, n: Int)  predicate digit(Image, Digit)
    axiom addition: forall (x, y, n) in sums. exists a, b: Digit where a + b = n. digit(x, a) and digit(y, b)
"""


@pytest.mark.parametrize("options", [OPERATIONS, SMALL], ids=["whole", "blocks"])
@pytest.mark.parametrize("name", NAMES)
def test_conformance(name, options):
    assert check_conformance(name, CPU, options) > 0


def test_random_theories():
    compared = sum(check_random(seed, CPU, SMALL if seed % 2 else OPERATIONS) for seed in range(60))
    assert compared > 45


def test_random_theories_in_single_precision():
    assert sum(check_random(seed, CPU, OPERATIONS, "float32") for seed in range(1000, 1020)) > 14


def test_worlds():
    assert sum(check_worlds(seed, CPU) for seed in range(40)) > 60
    assert check_batches(CPU) == 5


def test_kernels_in_the_interpreter():
    """In a process of its own: Triton looks at the environment when it is imported."""
    pytest.importorskip("triton")
    script = Path(__file__).with_name("device_kernels.py")
    done = subprocess.run([sys.executable, script], env={**os.environ, "TRITON_INTERPRET": "1"}, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "compared" in done.stdout


def addition(**more):
    arguments = dict(theory=ADDITION, sorts={"Image": 4}, outputs={"digit": "softmax"}, dtype="float64")
    arguments["tables"] = {"sums": {"x": [0, 2], "y": [1, 3], "n": [7, 12]}}
    return on_device({**arguments, **more}, CPU, OPERATIONS)


LOGITS = np.random.default_rng(0).standard_normal((4, 10))


def test_axioms_truths_and_parameters_as_tensors():
    kb = addition()
    expected = kb.evaluate({"digit": LOGITS}, alpha=3.0, gradients=True)
    x = torch.tensor(LOGITS, requires_grad=True)
    truths = kb.axioms(digit=x, alpha=torch.tensor(3.0, dtype=torch.float64))
    assert truths["addition"].item() == pytest.approx(expected.truths["addition"], rel=1e-12)
    assert kb.truths["addition"] == truths["addition"].item()
    (-truths["addition"]).backward()
    np.testing.assert_allclose(x.grad.numpy(), expected.gradients["digit"], rtol=1e-9, atol=1e-12)


def test_individuals_in_several_rows_that_come_with_calls():
    """Plans for more than one call ask about each row's individuals, whoever they are: all of it is in the gradient."""
    rng = np.random.default_rng(3)
    kb = on_device(dict(theory=ADDITION, outputs={"digit": "softmax"}, streamed=["sums"], dtype="float64"), CPU, OPERATIONS)
    for _ in range(12):
        tables = {"sums": {"x": rng.integers(0, 4, 5), "y": rng.integers(0, 4, 5), "n": rng.integers(0, 19, 5)}}
        coming = dict(sorts={"Image": 4}, tables=tables)
        x = torch.tensor(LOGITS, requires_grad=True)
        kb.loss(digit=x, alpha=2.0, **coming).backward()
        known = logltn.KnowledgeBase(ADDITION, outputs={"digit": "softmax"}, dtype="float64", **coming)
        expected = known.evaluate({"digit": LOGITS}, alpha=2.0, gradients=True).gradients["digit"]
        np.testing.assert_allclose(x.grad.numpy(), expected, rtol=1e-9, atol=1e-12)


def test_values_at_rows_that_come_with_calls():
    """No plan for each call on a device either."""
    rng = np.random.default_rng(4)
    kb = on_device(dict(theory=ADDITION, outputs={"digit": "softmax"}, streamed=["sums"], dtype="float64"), CPU, OPERATIONS)
    for call in range(30):
        tables = {"sums": {"x": rng.integers(0, 4, 5), "y": rng.integers(0, 4, 5), "n": rng.integers(0, 19, 5)}}
        coming = dict(sorts={"Image": 4}, tables=tables)
        rows = kb.rows("digit", **coming)[:, 0]
        x = torch.tensor(LOGITS[rows], requires_grad=True)
        kb.loss(digit=logltn.AtRows(x), alpha=2.0, **coming).backward()
        known = logltn.KnowledgeBase(ADDITION, outputs={"digit": "softmax"}, dtype="float64", **coming)
        expected = known.evaluate({"digit": LOGITS}, alpha=2.0, gradients=True).gradients["digit"]
        np.testing.assert_allclose(x.grad.numpy(), expected[rows], rtol=1e-9, atol=1e-12)
        if call == 15:
            before = kb._knowledge._native.plans
    assert kb._knowledge._native.plans == before


def test_rows_batches_and_streams():
    kb = addition(batched=["sums"])
    for batch in ([1], [0, 1], [0, 0, 1]):
        x = torch.tensor(LOGITS, requires_grad=True)
        kb.loss(digit=x, alpha=2.0, batch={"sums": batch}).backward()
        expected = kb.evaluate({"digit": LOGITS}, alpha=2.0, batch={"sums": batch}, gradients=True)
        np.testing.assert_allclose(x.grad.numpy(), expected.gradients["digit"], rtol=1e-9, atol=1e-12)
        rows = kb._knowledge.rows("digit", batch={"sums": batch})[:, 0]
        y = torch.tensor(LOGITS[rows], requires_grad=True)
        loss = kb.loss(digit=logltn.AtRows(y), alpha=2.0, batch={"sums": batch})
        assert loss.item() == pytest.approx(expected.loss, rel=1e-12)
        loss.backward()
        np.testing.assert_allclose(y.grad.numpy(), expected.gradients["digit"][rows], rtol=1e-9, atol=1e-12)
    kb = on_device(dict(theory=ADDITION, outputs={"digit": "softmax"}, streamed=["sums"], dtype="float64"), CPU, OPERATIONS)
    for n in ([3, 17], [0], [9, 9]):
        i = np.arange(2 * len(n))
        call = dict(alpha=2.0, sorts={"Image": len(i)}, tables={"sums": {"x": i[0::2], "y": i[1::2], "n": n}})
        loss = kb.loss(digit=torch.tensor(LOGITS[: len(i)]), **call)
        assert loss.item() == pytest.approx(kb.evaluate({"digit": LOGITS[: len(i)]}, **call).loss, rel=1e-12)


def test_module_mode():
    arguments = dict(
        theory="sort P  predicate C(P)  predicate eq(P, P)  axiom same: forall x, y: P. C(x) and eq(x, y) -> C(y)",
        sorts={"P": torch.rand(5, 2, generator=torch.Generator().manual_seed(1))},
    )
    net = torch.nn.Linear(2, 1)
    parts = {"C": net, "eq": logltn.torch.log_truth(lambda u, v: -(u - v).norm(dim=1))}
    kb = on_device({**arguments, "predicates": parts}, CPU, OPERATIONS)
    loss = kb(alpha=2.0)
    loss.backward()
    found = net.weight.grad.clone()
    net.zero_grad()
    other = logltn.torch.KnowledgeBase(**arguments, predicates=parts)
    again = other(alpha=2.0)
    again.backward()
    torch.testing.assert_close(loss, again)
    torch.testing.assert_close(found, net.weight.grad)


def test_mistakes():
    kb = addition()
    for code, call in {
        "unknown-predicate": lambda: kb.loss(digits=torch.tensor(LOGITS)),
        "wrong-shape": lambda: kb.loss(digit=torch.tensor(LOGITS[:3])),
        "not-grounded": lambda: kb.loss(),
        "value-out-of-range": lambda: kb.loss(digit=torch.tensor(LOGITS), alpha=0.0),
        "not-finite": lambda: kb.loss(digit=torch.tensor(LOGITS) * torch.nan, check=True),
        "unknown-choice": lambda: logltn.torch.KnowledgeBase(ADDITION, streamed=["sums"], backend="gpu"),
    }.items():
        with pytest.raises(logltn.InputError) as caught:
            call()
        assert caught.value.diagnostics[0].code == code
    bad = torch.tensor(LOGITS)
    bad[0, 3] = torch.inf
    assert kb.loss(digit=bad).isnan() and kb.loss(digit=bad * torch.nan).isnan()
    assert torch.isfinite(kb.loss(digit=torch.tensor(LOGITS), check=True))
    x = torch.tensor(LOGITS, requires_grad=True)
    gradient, = torch.autograd.grad(kb.loss(digit=x), x, create_graph=True)
    gradient.pow(2).sum().backward()  # slower, but there
    assert torch.isfinite(x.grad).all()
    if not torch.cuda.is_available():
        with pytest.raises(logltn.InputError):
            logltn.torch.KnowledgeBase(ADDITION, streamed=["sums"], backend="cuda")


def test_no_truth_beyond_its_range_goes_unnoticed():
    theory = "sort P  predicate t(P)  axiom a: forall x: P. t(x)"
    for output, value in (("truth", 1.5), ("log_truth", 0.5)):
        kb = on_device(dict(theory=theory, sorts={"P": 2}, outputs={"t": output}), CPU, OPERATIONS)
        assert kb.loss(t=torch.tensor([0.0, value])).isnan()
        with pytest.raises(logltn.InputError):
            kb.loss(t=torch.tensor([0.0, value]), check=True)


def test_export():
    kb = logltn.KnowledgeBase(
        "sort P  sort Q = 0..4  predicate C(P, Q)  axiom a: forall x, y: P, c: Q. C(x, c) or C(y, c)",
        sorts={"P": 1000}, outputs={"C": "softmax"},
    )  # fmt: skip
    plan = kb.export_plan()
    assert plan.header["format"] == "logltn-plan" and plan.header["version"] == 4
    json.dumps(plan.header)
    # Five million bindings: not one of them is listed.
    assert sum(a.size for a in plan.arrays) == 0
    assert [m["range"][1] for m in plan.header["maps"]] and all("range" in m for m in plan.header["maps"])


def test_calls_that_come_again_are_captured(monkeypatch):
    """With a stand-in for CUDA graphs: what is loaded, replayed and handed out. bench/gpu/test has the real ones."""
    from contextlib import nullcontext
    from types import SimpleNamespace

    from logltn.torch._device import _engine, _graph

    last = []

    def compute(*arguments):
        last[:] = [arguments, real(*arguments)]
        return last[1]

    class Graph:
        def replay(self):
            (truths, loss, gradients), (*new, new_gradients) = self.found, real(*self.arguments)
            for old, now in zip((truths, loss, *gradients), (*new, *new_gradients)):
                old.copy_(now)

    def graph(made, **_):
        class Capture(nullcontext):
            def __exit__(self, *_):
                made.arguments, made.found = last

        return Capture()

    stream = SimpleNamespace(wait_stream=lambda other: None, cuda_stream=0)
    fake = dict(
        current_stream=lambda device: stream, Stream=lambda device: stream, stream=nullcontext, graph=graph, CUDAGraph=Graph,
        is_current_stream_capturing=lambda: False,
    )  # fmt: skip
    real = _graph.compute
    monkeypatch.setattr(_graph, "compute", compute)
    for name, value in fake.items():
        monkeypatch.setattr(torch.cuda, name, value)
    init = _engine.Engine.__init__

    def with_graphs(self, *arguments, **options):
        init(self, *arguments, **options)
        self.graphs = _graph.Graphs()

    monkeypatch.setattr(_engine.Engine, "__init__", with_graphs)
    kb = addition()
    for call in range(8):
        given = []
        for more in range(2):  # both before the gradient of either
            x = torch.tensor(LOGITS + call + more * np.arange(10), requires_grad=True)
            alpha = 1.0 + call // 2 + more
            given.append((x, alpha, kb.loss(digit=x, alpha=torch.tensor(alpha) if call % 2 else alpha)))
        (given[0][2] + 3.0 * given[1][2]).backward()
        for (x, alpha, loss), factor in zip(given, (1.0, 3.0)):
            expected = kb.evaluate({"digit": x.detach().numpy()}, alpha=alpha, gradients=True)
            assert loss.item() == pytest.approx(expected.loss, rel=1e-12)
            np.testing.assert_allclose(x.grad.numpy(), factor * expected.gradients["digit"], rtol=1e-9, atol=1e-12)
    with torch.no_grad():
        assert kb.loss(digit=x, alpha=alpha).item() == loss.item()
    (engine,) = kb._backend._plans.values()
    assert len(engine.graphs._captured) == 1


@pytest.mark.parametrize("options", [OPERATIONS, SMALL], ids=["whole", "blocks"])
@pytest.mark.parametrize("semantics", device_rows.SEMANTICS, ids=str)
def test_rows_that_never_repeat(semantics, options):
    assert device_rows.check_streams(CPU, options, semantics) and device_rows.check_batches(CPU, options, semantics)


@pytest.mark.parametrize("streamed", [True, False])
def test_networks_on_rows_that_never_repeat(streamed):
    assert device_rows.check_modules(CPU, OPERATIONS, streamed)


def test_the_rule():
    """Kernels stay on the device however little there is to do; what is left to torch operations goes by its size."""
    from logltn.torch._device._rule import History, cpu_is_quicker

    for bindings in (1, 1e3, 1e5, 1e7):
        assert not cpu_is_quicker(History(3, 0), bindings, 100, False)
    assert cpu_is_quicker(History(3, 20), 1e3, 100, False) and cpu_is_quicker(History(3, 200), 1e5, 100, False)
    assert not cpu_is_quicker(History(3, 20), 1e7, 100, False) and not cpu_is_quicker(History(3, 20), 1e3, 10**7, False)


def test_auto_leaves_the_device_by_the_rule(monkeypatch):
    """With the CPU as a stand-in for a device."""
    from logltn.torch._device import _backend

    monkeypatch.setattr(_backend.Backend, "device", lambda self, tensors: None if self.name == "cpu" else CPU)
    capturing = []
    monkeypatch.setattr(_backend, "is_capturing", lambda device: bool(capturing))
    asked, ran, quicker = [], [], [False]

    def rule(history, bindings, numbers, new):
        asked.append((history.calls, bindings, numbers, new))
        return quicker[0]

    run = _backend.Backend.run
    monkeypatch.setattr(_backend, "cpu_is_quicker", rule)
    monkeypatch.setattr(_backend.Backend, "run", lambda self, *arguments: ran.append(1) or run(self, *arguments))
    kb = addition(batched=["sums"])
    kb._backend.name = "auto"
    assert kb.ran_on is None
    kb.there = None

    def call(values=LOGITS, **more):
        ran.clear()
        x = torch.tensor(values, requires_grad=True)
        # As if it were elsewhere: what is on the CPU is not asked about.
        coming = tuple(more.get(n) for n in ("batch", "sorts", "tables"))
        about = kb._call(None, {"digit": x}, (2.0, None, None), coming, (None, None, None))[1]
        loss = kb._loss([x], about, torch.float64, CPU, more.get("check", False))
        loss.backward()
        if not np.isnan(values).any():
            expected = kb.evaluate({"digit": values}, alpha=2.0, batch=more.get("batch"), gradients=True)
            assert loss.item() == pytest.approx(expected.loss, rel=1e-12)
            np.testing.assert_allclose(x.grad.numpy(), expected.gradients["digit"], rtol=1e-9, atol=1e-12)
        return loss, bool(ran)

    # The first call of a plan is on the device in any case.
    quicker[0] = True
    assert call()[1] and not asked
    assert not call()[1] and asked == [(1, asked[0][1], 40, False)]
    quicker[0] = False
    assert call()[1]
    # Rows of a batch are chosen of a plan with all rows, whose first call is on the device, too.
    quicker[0] = True
    asked.clear()
    assert call(batch={"sums": [0]})[1] and not asked
    [whole] = [plan for key, plan in kb._backend._plans.items() if key[1:] == ("cpu", torch.float64, False, None)]
    assert not call(batch={"sums": [1]})[1] and asked[-1][3] and asked[-1][1] < whole.bindings
    # Nothing leaves a device of which a graph is made, where nothing new can come either; and NaN is as there.
    capturing.append(True)
    assert call(batch={"sums": [0]})[1]
    with pytest.raises(RuntimeError, match="the same call has been on the device"):
        call(batch={"sums": [1, 0]})
    capturing.clear()
    bad = LOGITS.copy()
    bad[1, 1] = np.nan
    loss, there = call(bad)
    assert loss.isnan() and there
    with pytest.raises(logltn.InputError):
        call(bad, check=True)
    for name in ("cuda", "torch"):
        kb._backend.name = name
        assert call()[1]
    # Of plans of single calls, which are all new, the first one is on the device.
    kb = addition(sorts={}, tables={}, streamed=["sums"])
    kb._backend.name = "auto"
    there = []
    for n in ([1, 2], [17, 4]):
        x = torch.tensor(LOGITS, requires_grad=True)
        coming = dict(sorts={"Image": 4}, tables={"sums": {"x": [0, 1], "y": [2, 3], "n": n}})
        ran.clear()
        about = kb._call(None, {"digit": x}, (2.0, None, None), (None, *coming.values()), (None, None, None))[1]
        kb._loss([x], about, torch.float64, CPU, False).backward()
        there.append(bool(ran))
        expected = kb.evaluate({"digit": LOGITS}, alpha=2.0, gradients=True, **coming)
        np.testing.assert_allclose(x.grad.numpy(), expected.gradients["digit"], rtol=1e-9, atol=1e-12)
    assert there == [True, False]


def test_where_calls_ran():
    kb = logltn.torch.KnowledgeBase(ADDITION, outputs={"digit": "softmax"}, sorts={"Image": 4}, tables=addition()._knowledge._arguments["tables"])
    assert kb.ran_on is None
    kb.loss(digit=torch.tensor(LOGITS))
    assert kb.ran_on == CPU


OPERATORS_THEORY = """
    sort P  table links(x: P, y: P)  predicate r(P, P)  predicate q(P)  predicate s(P)
    axiom one: forall x: P. q(x) -> (exists y: P where y != x. r(x, y) and s(y) and not q(y))
    axiom two (weight 2.5): exists x: P. forall (y, z) in links. (r(x, y) or s(z) or q(x)) <-> not q(z)
    axiom three (weight 0): forall (x, y) in links. r(x, y)
    axiom four: q(P0) and not s(P1)
"""
KEYS = ("and", "or", "implies", "not", "forall", "exists", "over_axioms")


def every_operator():
    """Each operator of the list at each place where it fits, by what messages say of the list."""
    for base in ("logltn", "prod", "stable"):
        for key in KEYS:
            make = lambda name: logltn.KnowledgeBase(  # noqa: E731, B023
                "predicate p()  axiom a: p()", outputs={"p": "sigmoid"}, semantics={"base": base, key: name}  # noqa: B023
            )
            with pytest.raises(logltn.InputError) as refused:
                make("nonsense")
            for name in re.findall("`([a-z_]+)`", str(refused.value).partition("can be")[2]):
                try:
                    make(name)
                except logltn.InputError:
                    continue
                yield base, key, name


def test_every_operator():
    """Whatever operator is added: a plan says what it computes, and that must be what the engine computes."""
    rng, compared = np.random.default_rng(5), {}
    for base, key, name in every_operator():
        semantics = {"base": base, key: name}
        outer, inner = "exists x: P", "forall (y, z) in links"
        theory = OPERATORS_THEORY.replace(f"{outer}. {inner}", f"{inner}. {outer}") if base == "prod" else OPERATORS_THEORY
        arguments = dict(
            theory=theory, sorts={"P": ["P0", "P1", "P2"]}, outputs={n: "truth" for n in "rqs"}, semantics=semantics,
            tables={"links": {"x": [0, 0, 2], "y": [1, 2, 2]}},
        )  # fmt: skip
        call = dict(alpha=1.7, p=2.5, p_forall=3.0)
        for draw in range(3):
            values = {n: rng.random([3] * (2 if n == "r" else 1)) for n in "rqs"}
            if draw == 2 and base != "prod":  # what is certain, too: slopes at 0 and 1
                values["q"][1], values["s"][2] = 0.0, 1.0
            reference = logltn.KnowledgeBase(**arguments, dtype="float64")
            expected = reference.evaluate(values, gradients=True, **call)
            for options in (OPERATIONS, SMALL):
                loss, gradients = loss_and_gradients(on_device(arguments, CPU, options, dtype="float64"), values, torch.float64, call)
                assert loss == pytest.approx(expected.loss, rel=1e-10, abs=1e-10), (semantics, draw)
                same_gradients(gradients, expected.gradients, lambda v: reference.evaluate(v, **call).loss, values)
        compared.setdefault(key, set()).add(name)
    assert sum(map(len, compared.values())) >= 40, compared


SHARING = [
    "forall x: X, z: Z. exists y: Y. r(x, y) and q(y, z)",
    "forall x: X, z: Z. s(z) -> (exists y: Y. r(x, y) and not q(y, z) and t(y))",
    "forall x: X. exists y: Y, z: Z. r(x, y) and q(y, z) and s(z)",
    "exists x: X, z: Z. u(x) or (exists y: Y. (r(x, y) or t(y)) and (q(y, z) or s(z)))",
    "forall x: X. exists y: Y. r(x, y) and (forall z: Z. q(y, z) -> s(z))",
    "forall x, w: X. exists y: Y. r(x, y) and r(w, y) and u(x)",
    "forall x, w: X. exists v: X where v != x. a(x, v) and a(v, w)",
    "forall x, w: X where x != w. exists v: X where v != x and w != v. a(x, v) and a(w, v) and u(v)",
    "forall x, w: X. u(w) -> (forall v: X where v != w. a(x, v))",
    "forall x, w: X. a(x, w) -> (exists v: X where v != w. a(x, v) and u(v))",
    "forall x, w, v: X where x != w and w != v. a(x, w) -> u(w)",
    "exists x, w: X where x != w. a(x, w) or u(w)",
]
SHARING_SHAPES = {"r": "XY", "q": "YZ", "s": "Z", "t": "Y", "u": "X", "a": "XX"}


@pytest.mark.parametrize("semantics", ["logltn", "logltn-lse", "logltn-prob", "logltn-max", "stable", "godel"])
def test_shared_parts(semantics):
    """Parts that are computed once and read like literals, and products of matrices among them, against every formula as it is written."""
    rng, shared, products = np.random.default_rng(11), 0, 0
    for draw in range(12):
        chosen = rng.choice(len(SHARING), 2, replace=False)
        axioms = "".join(f"axiom a{i}: {SHARING[i]}\n" for i in chosen)
        predicates = "".join(f"predicate {n}({', '.join(sorts)})\n" for n, sorts in SHARING_SHAPES.items())
        sizes = {"X": int(rng.integers(10, 30)), "Y": int(rng.integers(15, 40)), "Z": int(rng.integers(10, 30))}
        if draw % 6 == 5:
            sizes[str(rng.choice(list("XYZ")))] = 1
        arguments = dict(
            theory="sort X  sort Y  sort Z\n" + predicates + axioms, sorts=sizes, outputs={n: "sigmoid" for n in SHARING_SHAPES},
            semantics=semantics, parameters={f"a{chosen[0]}": {"alpha": 3.0}} if draw % 2 else {},
        )  # fmt: skip
        # Far apart, the greatest numbers of two rows are in different places, and their product vanishes.
        scale = [1.0, 5.0, 1e4][draw % 3]
        values = {n: scale * rng.standard_normal([sizes[s] for s in sorts]) for n, sorts in SHARING_SHAPES.items()}
        call = dict(alpha=2.0, p=2.0, p_forall=3.0)
        reference = logltn.KnowledgeBase(**arguments, dtype="float64", _share=False)
        expected = reference.evaluate(values, gradients=True, **call)
        for options in (OPERATIONS, {"kernels": False, "bindings": 300, "kept": 0}):
            kb = on_device(arguments, CPU, options, dtype="float64")
            loss, gradients = loss_and_gradients(kb, values, torch.float64, call)
            assert loss == pytest.approx(expected.loss, rel=1e-9), (axioms, sizes)
            same_gradients(gradients, expected.gradients, lambda v: reference.evaluate(v, **call).loss, values)
        loss, gradients = loss_and_gradients(on_device(arguments, CPU, OPERATIONS, dtype="float32"), values, torch.float32, call)
        assert loss == pytest.approx(expected.loss, rel=3e-5, abs=1e-7), (axioms, sizes)
        assert all(np.isfinite(g).all() for g in gradients.values())
        strata = kb._knowledge.export_plan().header["strata"]
        shared, products = shared + (len(strata) > 0), products + any("product" in s for s in strata)
    sums = semantics in ("logltn", "logltn-lse", "logltn-max")
    assert shared >= (3 if sums else 1) and products >= (2 if sums else 0), (shared, products)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_unlikely_members_of_a_probabilistic_sum(dtype):
    """What is so unlikely that its complement rounds to 1 has the slopes of the CPU engine."""
    arguments = dict(theory="sort X  predicate p(X)  predicate q(X)  axiom a: forall x: X. p(x) or q(x)", sorts={"X": 60}, semantics="logltn-prob")
    values = {"p": -np.linspace(0, 90, 60), "q": -np.linspace(15, 60, 60)[::-1]}
    expected = logltn.KnowledgeBase(**arguments, dtype="float64").evaluate(values, gradients=True)
    loss, gradients = loss_and_gradients(on_device(arguments, CPU, OPERATIONS, dtype=dtype), values, getattr(torch, dtype), {})
    assert loss == pytest.approx(expected.loss, rel=1e-5)
    for name, own in expected.gradients.items():
        np.testing.assert_allclose(gradients[name], own, rtol=1e-4, atol=1e-8)


def test_definitions_and_batches():
    theory = """
        sort P  table rows(x: P, y: P)  predicate r(P, P)  predicate q(P)
        define near(x: P, y: P): r(x, y) or (exists z: P. r(x, z) and r(z, y) and q(z))
        define reach(x: P, y: P) to depth 4: near(x, y) or (exists z: P. near(x, z) and reach(z, y))
        axiom a: forall (x, y) in rows. reach(x, y) -> q(y)
        axiom b: forall (x, y) in rows. not near(y, x)
    """
    arguments = dict(
        theory=theory, sorts={"P": 5}, outputs={"r": "sigmoid", "q": "sigmoid"}, batched=["rows"], dtype="float64",
        tables={"rows": {"x": [0, 1, 2, 2], "y": [1, 1, 3, 4]}}, parameters={"b": {"alpha": 4.0}},
    )  # fmt: skip
    rng = np.random.default_rng(2)
    values = {"r": rng.standard_normal((5, 5)), "q": rng.standard_normal(5)}
    for options in (OPERATIONS, SMALL):
        kb = on_device(arguments, CPU, options)
        assert len(kb._knowledge.export_plan().header["strata"]) >= 2
        for batch in ([0], [1, 3], [0, 1, 2, 3], []):
            more = dict(alpha=2.0, batch={"rows": batch})
            expected = kb.evaluate(values, gradients=True, **more)
            loss, gradients = loss_and_gradients(kb, values, torch.float64, more)
            assert kb.ran_on == CPU
            assert loss == pytest.approx(expected.loss, rel=1e-10), batch
            for name, own in expected.gradients.items():
                np.testing.assert_allclose(gradients[name], own, rtol=1e-9, atol=1e-12)


PROBABILITY = """
    sort X  sort C = {a, b, c}  predicate kind(X, C)  predicate likes(X, X)  predicate good(X)
"""
EVENTS = [
    "forall x: X. (exists y: X. likes(x, y) and kind(y, a)) or good(x)",
    "forall x, y: X. likes(x, y) -> (kind(x, b) <-> not good(y))",
    "exists x: X. forall y: X. likes(x, y) or not kind(x, c)",
    "forall x: X. good(x) or not good(x)",
    "exists x: X. good(x) and not good(x)",
    "forall x: X. kind(x, a) -> (exists y: X. likes(y, x) and likes(x, y) and good(y))",
]
LAWS = ["forall x: X. kind(x, a) -> good(x)", "forall x, y: X. likes(x, y) -> likes(y, x)"]


def test_circuits():
    """Exact probabilities by torch operations: values, gradients, and what is impossible, against the CPU engine."""
    rng = np.random.default_rng(8)
    for draw in range(24):
        chosen, laws = rng.choice(len(EVENTS), 2, replace=False), rng.choice(len(LAWS), draw % 3, replace=False)
        text = "".join(f"axiom e{i} (weight {1 + int(i)}): {EVENTS[i]}\n" for i in chosen)
        text += "".join(f"axiom l{i}: {LAWS[i]}\n" for i in laws)
        size = int(rng.integers(1, 4))
        arguments = dict(
            theory=PROBABILITY + text, sorts={"X": size}, outputs={"kind": "softmax", "likes": "sigmoid", "good": "sigmoid"},
            semantics="probability", laws=[f"l{i}" for i in laws],
        )  # fmt: skip
        scale = [1.0, 20.0, 1e4][draw % 3]
        shapes = {"kind": (size, 3), "likes": (size, size), "good": (size,)}
        values = {n: (scale * rng.standard_normal(s)).astype(np.float32).astype(np.float64) for n, s in shapes.items()}
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            reference = logltn.KnowledgeBase(**arguments, dtype="float64")
            expected = reference.evaluate(values, gradients=True)
            found = {}
            for precision in ("float64", "float32"):
                kb = on_device(arguments, CPU, OPERATIONS, dtype=precision)
                found[precision] = loss_and_gradients(kb, values, getattr(torch, precision), {})
                assert "CircuitEngine" in {type(e).__name__ for e in kb._backend._plans.values()}
        loss, gradients = found["float64"]
        assert loss == pytest.approx(expected.loss, rel=1e-9, abs=1e-9), (draw, text)
        for name, own in expected.gradients.items():
            np.testing.assert_allclose(gradients[name], own, rtol=1e-7, atol=1e-9, err_msg=f"{draw} {text}")
        loss, gradients = found["float32"]
        assert loss == pytest.approx(expected.loss, rel=1e-4, abs=1e-5), (draw, text)
        for name, own in expected.gradients.items():
            np.testing.assert_allclose(gradients[name], own, rtol=2e-3, atol=1e-4, err_msg=f"{draw} {text}")
