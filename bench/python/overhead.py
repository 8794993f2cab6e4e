"""What a call of `kb.loss` and its backward pass cost beyond the engine, beside an empty `autograd.Function` on the same values.

    python bench/python/overhead.py [ROUNDS]

In turns: (1) `kb.loss` and `backward`, less what choosing the rows and evaluating them took in that call, which it says; (2) an
`autograd.Function` on the same values that does nothing, and `backward`, after the engine has run once more, on a call like that of (1), so
that it finds the processor's caches as (1) does. The median of (1) is to be at most 30 µs more than that of (2); exit status 1 if it is more. Build the
package with optimisation (`pip install .` does; or LOGLTN_NATIVE names a library, see _package.py), and use a quiet machine: on a busy one others empty the caches meanwhile, which the last
column, the same of the lower quartiles, shows less of.
"""

import csv
import statistics
import sys
import time
from pathlib import Path

import numpy as np
import torch

import _package  # noqa: F401
import logltn.torch
from logltn.torch import _autograd

MOST = 30e-6
FOLDER = Path(__file__).resolve().parents[2] / "theories"
FACTS = "sort Point  sort Cluster = 0..4  predicate C(Point, Cluster)  axiom all: forall x: Point. C(x, 0)"
CLUSTERING = """
    sort Point  sort Cluster = 0..4  param near  predicate C(Point, Cluster)
    axiom covered:   forall x: Point. exists c: Cluster. C(x, c)
    axiom inhabited: forall c: Cluster. exists x: Point. C(x, c)
    axiom smooth:    forall c: Cluster, x: Point, y: Point where dist(x, y) < near. C(x, c) -> C(y, c)
"""
ADDITION = """
    sort Image  sort Digit = 0..9  table sums(x: Image, y: Image, n: Int)  predicate digit(Image, Digit)
    axiom addition: forall (x, y, n) in sums. exists a, b: Digit where a + b = n. digit(x, a) and digit(y, b)
"""


class Empty(torch.autograd.Function):
    """Gives what it was given room for."""

    @staticmethod
    def forward(ctx, loss, gradients, *values):
        ctx.gradients = gradients
        return loss.clone()

    @staticmethod
    def backward(ctx, by_loss):
        return None, None, *ctx.gradients


def points(text, count, **arguments):
    values = {"C": torch.randn(count, 5, requires_grad=True)}
    kb = logltn.torch.KnowledgeBase(text, sorts={"Point": torch.rand(count, 3)}, outputs={"C": "softmax"}, threads=1, **arguments)
    return kb, values, lambda: {"alpha": 2.0}


def addition(count):
    """New rows in each call."""
    kb = logltn.torch.KnowledgeBase(ADDITION, outputs={"digit": "softmax"}, streamed=["sums"], threads=1)
    i = torch.arange(2 * count)

    def coming():
        n = torch.randint(0, 10, (count, 2)).sum(1)
        return {"alpha": 2.0, "sorts": {"Image": 2 * count}, "tables": {"sums": {"x": i[0::2], "y": i[1::2], "n": n}}}

    return kb, {"digit": torch.randn(2 * count, 10, requires_grad=True)}, coming


def pascal_part():
    """60 axioms, the same 32 rows of each of five tables."""
    tables = {}
    for name in ("ontology", "labelled", "parts", "not_parts", "pairs", "boxes"):
        with open(FOLDER / "pascal_part" / f"{name}.csv", newline="") as file:
            rows = list(csv.DictReader(file))
        tables[name] = {c: [int(r[c]) if r[c].isdigit() else r[c] for r in rows] for c in rows[0]}
    with open(FOLDER / "pascal_part" / "classes.csv", newline="") as file:
        classes = [r[0] for r in csv.reader(file)]
    boxes = 1 + max(i for t in tables.values() for column in t.values() for i in column if isinstance(i, int))
    kb = logltn.torch.KnowledgeBase(
        logltn.Theory.read(FOLDER / "pascal_part.ltn"), sorts={"Box": boxes, "Type": classes}, tables=tables,
        outputs={"type": "softmax"}, batched=[name for name in tables if name != "ontology"], threads=1,
    )  # fmt: skip
    batch = {name: np.arange(32) for name in tables if name != "ontology"}
    types, parts = (torch.randn(len(kb.rows(p, batch=batch)), *w, requires_grad=True) for p, w in (("type", [len(classes)]), ("part_of", [])))
    return kb, {"type": logltn.AtRows(types), "part_of": logltn.AtRows(parts)}, lambda: {"alpha": 2.0, "batch": batch}


def measure(name, made, rounds):
    kb, values, coming = made
    tensors = [v.values if isinstance(v, logltn.AtRows) else v for v in values.values()]
    loss, gradients = torch.zeros(()), [torch.zeros_like(t) for t in tensors]
    found = {"whole": [], "engine": [], "beyond": [], "empty": []}
    warm = 200
    for turn in range(rounds + warm):
        arguments = coming()
        for t in tensors:
            t.grad = None
        start = time.perf_counter()
        kb.loss(values, **arguments).backward()
        whole, engine = time.perf_counter() - start, kb._last.seconds
        for t in tensors:
            t.grad = None
        arguments = coming()
        _, call, *_ = kb._call(values, {}, 2.0, None, None, *(arguments.get(key) for key in ("batch", "sorts", "tables")))
        _autograd._evaluate(call, tensors, [True] * len(tensors))
        start = time.perf_counter()
        Empty.apply(loss, gradients, *tensors).backward()
        empty = time.perf_counter() - start
        if turn >= warm:
            for key, seconds in (("whole", whole), ("engine", engine), ("beyond", whole - engine), ("empty", empty)):
                found[key].append(seconds)
    medians = {key: statistics.median(seconds) for key, seconds in found.items()}
    more = medians["beyond"] - medians["empty"]
    beyond, empty = (statistics.quantiles(found[key], n=4)[0] for key in ("beyond", "empty"))
    columns = [*medians.values(), more, beyond - empty]
    print(f"{name:28}" + "".join(f"{1e6 * seconds:10.1f}" for seconds in columns), flush=True)
    return more


def main():
    torch.set_num_threads(1)
    torch.manual_seed(0)
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else 3000
    print(f"{'µs, medians of ' + str(rounds):28}{'call':>10}{'engine':>10}{'beyond':>10}{'empty':>10}{'more':>10}{'quartiles':>10}")
    worst = max(
        measure("one axiom, 32 points", points(FACTS, 32), rounds),
        measure("one axiom, 60,000 points", points(FACTS, 60_000), max(100, rounds // 10)),
        measure("clustering, 200 points", points(CLUSTERING, 200, params={"near": 0.2}), rounds),
        measure("MNISTAdd, 32 new rows", addition(32), rounds),
        measure("MNISTAdd, 512 new rows", addition(512), max(100, rounds // 4)),
        measure("PASCAL-Part, batches of 32", pascal_part(), max(100, rounds // 4)),
    )
    verdict = "reached" if worst <= MOST else "missed"
    print(f"at most {1e6 * MOST:.0f} µs more than an empty function: {verdict} (the worst: {1e6 * worst:.1f} µs)")
    return 0 if worst <= MOST else 1


if __name__ == "__main__":
    sys.exit(main())
