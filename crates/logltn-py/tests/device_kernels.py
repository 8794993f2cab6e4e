"""Run by test_device.py with TRITON_INTERPRET=1: the kernels on CPU tensors, at tiny sizes."""

import warnings

import device_rows
import numpy as np
import torch
from device_cases import check_conformance, check_random, on_device

import logltn
from logltn.torch._device import _kernels

CPU = torch.device("cpu")
warnings.simplefilter("ignore")
_kernels._BLOCK = 16

CLUSTERING = """
    sort Point  sort Cluster = 0..4  table near(x: Point, y: Point)  predicate C(Point, Cluster)
    axiom covered: forall x: Point. exists c: Cluster. C(x, c)
    axiom inhabited: forall c: Cluster. exists x: Point. C(x, c)
    axiom smooth: forall (x, y) in near. forall c: Cluster. C(x, c) <-> C(y, c)
    axiom near: forall c: Cluster, x: Point, y: Point where near(x, y). C(x, c) -> C(y, c)
    axiom nested: forall (x, y) in near. C(x, 0) and C(y, 1) -> (C(x, 2) or C(y, 3) or C(y, 4)) or (C(x, 3) and C(y, 2)) or C(x, 4)
    axiom apart (weight 2): forall (x, y) in near. not C(x, 0) or C(y, 1) or not C(y, 2)
"""


def compare(arguments, shapes, semantics, taken, scale=3.0, **call):
    numbers = np.random.default_rng(3)
    values = {name: scale * numbers.standard_normal(shape) for name, shape in shapes.items()}
    kb = on_device({**arguments, "semantics": semantics}, CPU, {}, dtype="float64")
    tensors = {name: torch.tensor(v, requires_grad=True) for name, v in values.items()}
    loss = kb.loss(values=tensors, **call)
    loss.backward()
    expected = logltn.KnowledgeBase(**arguments, semantics=semantics, dtype="float64").evaluate(values, gradients=True, **call)
    assert abs(loss.item() - expected.loss) <= 1e-9 * max(1, abs(expected.loss)), (semantics, loss.item(), expected.loss)
    for name, tensor in tensors.items():
        np.testing.assert_allclose(tensor.grad.numpy(), expected.gradients[name], rtol=1e-8, atol=1e-11, err_msg=str(semantics))
    engine = next(iter(kb._backend._plans.values()))
    kinds = {type(part).__name__ for part in engine.kernels._others} | ({"clauses"} if len(engine.kernels._tasks) else set())
    kinds |= {"grid"} if any(columns > 1 for _, columns, _ in engine.kernels._tasks) else set()
    kinds |= {"product"} if any("product" in stratum for stratum in engine.strata._all) else set()
    assert taken <= kinds, (taken, kinds)
    truths = kb.axioms(values=tensors, **call)
    for name, truth in expected.truths.items():
        assert abs(truths[name].item() - truth) <= 1e-9 * max(1, abs(truth)), (semantics, name)
    return 1


compared = 0
numbers = np.random.default_rng(0)
near = {"x": np.repeat(np.arange(30), 3), "y": numbers.integers(0, 30, 90)}
clustering = dict(theory=CLUSTERING, sorts={"Point": 30}, tables={"near": near}, outputs={"C": "softmax"})
_kernels.MOST_MEMBERS = 10
for long, kinds in ((1 << 18, {"clauses", "_Exists"}), (1, {"clauses", "_Exists", "_Pairs"})):
    _kernels.LONG = long
    for semantics in ("logltn", "logltn-sum", "logltn-lse"):
        compared += compare(clustering, {"C": (30, 5)}, semantics, kinds, alpha=2.5)
compared += compare(clustering, {"C": (30, 5)}, "logltn-max", {"clauses"})
compared += compare(clustering, {"C": (30, 5)}, {"base": "logltn", "over_axioms": "log_mean_exp"}, {"clauses", "_Exists", "_Pairs"})
compared += compare({**clustering, "parameters": {"smooth": {"alpha": 5.0}}}, {"C": (30, 5)}, "logltn", {"_Pairs"})
ADDITION = """
    sort Image  sort Digit = 0..9  table sums(a: Image, b: Image, c: Image, d: Image, n: Int)
    predicate digit(Image, Digit)  predicate ok(Image)
    axiom addition: forall (a, b, c, d, n) in sums.
        exists i, j, k, l: Digit where 10*i + j + 10*k + l = n. digit(a, i) and digit(b, j) and digit(c, k) and digit(d, l) and ok(a)
"""
sums = {c: numbers.integers(0, 8, 5) for c in "abcd"} | {"n": [57, 0, 198, 199, 120]}
addition = dict(theory=ADDITION, sorts={"Image": 8}, tables={"sums": sums}, outputs={"digit": "softmax"})
for semantics in ("logltn", "logltn-sum", "logltn-lse"):
    compared += compare(addition, {"digit": (8, 10), "ok": (8,)}, semantics, {"_Elimination"}, alpha=1.5)
# Products of matrices; far apart, the greatest numbers of two rows are in different places, and what they add up to vanishes.
PRODUCT = """
    sort X  sort Y  sort Z  predicate r(X, Y)  predicate q(Y, Z)
    axiom a: forall x: X, z: Z. exists y: Y. r(x, y) and q(y, z)
"""
for semantics in ("logltn", "logltn-lse", "logltn-max"):
    for scale, sizes in ((1.0, (20, 30, 18)), (1e3, (20, 30, 18)), (1e4, (17, 70, 33))):
        shapes = {"r": sizes[:2], "q": sizes[1:]}
        product = dict(theory=PRODUCT, sorts=dict(zip("XYZ", sizes)), outputs={"r": "sigmoid", "q": "sigmoid"})
        compared += compare(product, shapes, semantics, {"product"}, scale=scale, alpha=2.0)
# Bindings that are rows times columns, of literals on either side or on both; and many classes, a few at a time.
GRID = """
    sort X  sort Y = 0..7  predicate s(X)  predicate t(Y)  predicate r(X, Y)  predicate q(X, X)
    axiom lists: forall x: X, y: Y. s(x) -> t(y)
    axiom hops: forall x, y, z: X. q(x, y) and q(y, z) -> q(x, z)
    axiom groups: forall x: X. forall y: Y. (s(x) and t(y)) or (not r(x, y) and t(3)) or (r(x, 5) or not t(y)) or s(x)
    axiom fixed: forall x: X, y: Y. t(3) -> t(4) or r(x, 2)
"""
_kernels.LEAST_GRID, _kernels.LEAST_SIDE, _kernels._COLUMNS = 1, 2, 4
for semantics in ("logltn", "logltn-lse", "logltn-max"):
    shapes = {"s": (9,), "t": (8,), "r": (9, 8), "q": (9, 9)}
    compared += compare(dict(theory=GRID, sorts={"X": 9}), shapes, semantics, {"grid"}, alpha=1.5)
SMOOTH = "sort Point  sort K = 0..130  table near(x: Point, y: Point)  predicate C(Point, K) axiom a: forall (x, y) in near. forall c: K. C(x, c) -> C(y, c)"
few = {"x": near["x"][:20], "y": near["y"][:20]}
compared += compare(dict(theory=SMOOTH, sorts={"Point": 30}, tables={"near": few}, outputs={"C": "softmax"}), {"C": (30, 131)}, "logltn", {"_Pairs"})
# Masked classes.
masked = {"C": np.random.default_rng(4).standard_normal((30, 5))}
masked["C"][3, 2] = masked["C"][4, :4] = -np.inf
on_cpu = logltn.KnowledgeBase(**clustering, dtype="float64").evaluate(masked, gradients=True)
tensor = torch.tensor(masked["C"], requires_grad=True)
loss = on_device({**clustering}, CPU, {}, dtype="float64").loss(C=tensor)
loss.backward()
assert abs(loss.item() - on_cpu.loss) <= 1e-9 * abs(on_cpu.loss), (loss.item(), on_cpu.loss)
np.testing.assert_allclose(tensor.grad.numpy(), on_cpu.gradients["C"], rtol=1e-8, atol=1e-11)
for options in ({}, {"kernels": False}):
    masked["C"][5] = -np.inf
    assert on_device({**clustering}, CPU, options, dtype="float64").loss(C=torch.tensor(masked["C"])).isnan()
for name in ("addition", "clustering", "mereology", "nested", "empty", "extreme", "random_03", "random_10"):
    compared += check_conformance(name, CPU, {})
for semantics in ("logltn", "logltn-lse"):
    compared += device_rows.check_streams(CPU, {}, semantics, 7) + device_rows.check_batches(CPU, {}, semantics, 6)
compared += sum(check_random(seed, CPU, {}) for seed in range(2000, 2025))
print(f"{compared} compared")
