"""Rows that are new in each call, on a device: chosen of a plan that is there already, against the CPU engine."""

import numpy as np
import torch
from device_cases import on_device

import logltn
import logltn.torch
from logltn import _plan

ADDITION = """
    sort Image  sort Digit = 0..9  table sums(x: Image, y: Image, n: Int)  predicate digit(Image, Digit)  predicate ok(Image)
    axiom addition: forall (x, y, n) in sums. exists a, b: Digit where a + b = n. digit(x, a) and digit(y, b)
    axiom either: forall (x, y, n) in sums where n > 4. ok(x) or ok(y) or not digit(x, 3)
"""
BATCHES = """
    sort P  sort C = {red, green, blue}  constant one: P  table t(x: P, y: P)  table u(x: P)
    predicate kind(P, C)  predicate near(P, P)
    axiom pairs: forall (x, y) in t. forall c: C. kind(x, c) -> kind(y, c)
    axiom other: forall c: C. forall (x, y) in t. kind(x, c) or not kind(y, c)
    axiom some: forall (x, y) in t where x != y. near(x, y) or near(y, x) or kind(x, red)
    axiom kinds: forall (x, y) in t. exists c: C. kind(x, c)
    axiom each: forall x: P. exists (z, y) in t where z = x. near(z, y) and kind(y, green)
    axiom known: forall (x) in u. near(x, one) or kind(x, red)
    axiom far: forall x, y: P. near(x, y) or kind(x, blue)
    axiom both: forall (x) in u. exists (z, y) in t. near(z, y) or near(x, z)
"""
SEMANTICS = ("logltn", "logltn-sum", "logltn-max", "prod", "stable", {"base": "logltn", "forall": "min"})


class Counting:
    """How many plans are exported meanwhile."""

    def __enter__(self):
        self.count, self._kept = 0, (_plan.exported, _plan.kept)
        for name, function in zip(("exported", "kept"), self._kept):
            setattr(_plan, name, self._counted(function))
        return self

    def _counted(self, function):
        def counted(*arguments):
            self.count += 1
            return function(*arguments)

        return counted

    def __exit__(self, *_):
        _plan.exported, _plan.kept = self._kept


def _same(kb, values, call, rtol, parts=None):
    """Loss, truths and gradients of a call, with some values on the rows that are asked for."""
    tensors = {n: torch.tensor(v, device=kb.there, requires_grad=True) for n, v in values.items()}
    given = {n: tensors[n] if rows is None else logltn.AtRows(tensors[n][rows]) for n, rows in (parts or dict.fromkeys(values)).items()}
    loss = kb.loss(values=given, **call)
    if loss.requires_grad:
        loss.backward()
    expected = kb.evaluate(values, gradients=True, **call)
    np.testing.assert_allclose(loss.item(), expected.loss, rtol=rtol)
    for name, truth in expected.truths.items():
        np.testing.assert_allclose(kb.truths[name], truth, rtol=rtol, atol=rtol, err_msg=name)
    for name, x in tensors.items():
        found = np.zeros(x.shape) if x.grad is None else x.grad.cpu().numpy()
        np.testing.assert_allclose(found, expected.gradients[name], rtol=10 * rtol, atol=rtol, err_msg=name)


def check_streams(device, options, semantics, calls=9):
    """Rows that come with the call: other individuals, other sums, fewer rows."""
    numbers = np.random.default_rng(2)
    arguments = dict(theory=ADDITION, outputs={"digit": "softmax"}, streamed=["sums"], semantics=semantics, dtype="float64")
    kb = on_device(arguments, device, options)
    counts = []
    for call in range(calls):
        rows = 6 if call % 3 else 4
        images = 2 * rows + call % 2
        order = numbers.integers(0, images, (2, rows))  # who may come twice
        values = {"digit": 2 * numbers.standard_normal((images, 10)), "ok": numbers.standard_normal(images)}
        tables = {"sums": {"x": order[0], "y": order[1], "n": numbers.integers(0, 19, rows) if call else np.arange(rows) * 3}}
        with Counting() as counting:
            _same(kb, values, dict(alpha=2.0, sorts={"Image": images}, tables=tables), 1e-9)
        counts.append(counting.count)
    assert sum(counts[5:]) == 0 < sum(counts[:5]), counts
    return calls


def check_batches(device, options, semantics, calls=8):
    """Batches that never repeat: repeated rows, guards that keep none or all, keys, constants, none at all; values at rows, too."""
    numbers = np.random.default_rng(3)
    tables = {"t": {"x": numbers.integers(0, 9, 40), "y": numbers.integers(0, 9, 40)}, "u": {"x": numbers.integers(0, 9, 12)}}
    tables["t"]["y"][:3] = tables["t"]["x"][:3]
    theory = BATCHES
    if semantics == "prod":  # whose `exists` is under a log there
        theory = "\n".join(line for line in BATCHES.split("\n") if "axiom both" not in line)
    kb = on_device(
        dict(
            theory=theory, sorts={"P": 9}, tables=tables, constants={"one": 4}, outputs={"kind": "softmax"}, batched=["t", "u"],
            semantics=semantics, dtype="float64",
        ), device, options,
    )  # fmt: skip
    counts = []
    for call in range(calls):
        values = {"kind": 2 * numbers.standard_normal((9, 3)), "near": numbers.standard_normal((9, 9))}
        batch = {"t": numbers.integers(0, 40, 7)}
        if call == 3:
            batch["t"] = np.array([0, 1, 2, 1])  # of which a guard keeps nothing
        if call == 5:
            batch["t"] = np.array([], dtype=int)
        if call % 2:
            batch["u"] = numbers.integers(0, 12, 1 + call % 3)
        parts = None
        if call % 4 == 2:
            at = kb._knowledge.rows("near", batch=batch)
            parts = {"kind": None, "near": (at[:, 0], at[:, 1])}
        with Counting() as counting:
            _same(kb, values, dict(alpha=2.0, p=3.0, batch=batch), 1e-9, parts)
        counts.append(counting.count)
    assert counts == [1] + [0] * (calls - 1), counts
    return calls


def check_modules(device, options, streamed):
    """Networks that are run on the rows that are asked for."""
    generator = torch.Generator().manual_seed(5)
    pictures = torch.randn(30, 4, generator=generator, dtype=torch.float64)
    torch.manual_seed(6)
    nets = {"digit": torch.nn.Linear(4, 10, dtype=torch.float64), "ok": torch.nn.Linear(4, 1, dtype=torch.float64)}
    numbers = np.random.default_rng(4)
    rows = {"x": numbers.integers(0, 30, 25), "y": numbers.integers(0, 30, 25), "n": np.arange(25) % 3 + 5}

    def make(**more):
        parts = {"digit": logltn.torch.softmax(nets["digit"]), "ok": nets["ok"]}
        return dict(theory=ADDITION, predicates=parts, dtype="float64", **more)

    given = dict(streamed=["sums"]) if streamed else dict(sorts={"Image": pictures.to(device)}, tables={"sums": rows}, batched=["sums"])
    kb = on_device(make(**given), device, options)
    for net in nets.values():
        net.to(device)
    known = logltn.torch.KnowledgeBase(**make(**given), backend="cpu")  # the same networks, whose answers are copied
    counts = []
    for call in range(9):
        at = numbers.integers(0, 25, 5)
        coming = dict(batch={"sums": at})
        if streamed:
            coming = dict(sorts={"Image": pictures.to(device)}, tables={"sums": {name: cells[at] for name, cells in rows.items()}})
        found = []
        for own in (kb, known):
            [net.zero_grad() for net in nets.values()]
            with Counting() as counting:
                loss = own(alpha=2.0, **coming)
            loss.backward()
            found.append([loss.detach().cpu(), *(p.grad.clone().cpu() for net in nets.values() for p in net.parameters())])
            counts += [counting.count] if own is kb else []
        for a, b in zip(*found):
            torch.testing.assert_close(a, b, rtol=1e-8, atol=1e-10)
    assert sum(counts[6:]) == 0 < sum(counts), counts
    return 9
