"""What a call of `kb.loss` and its backward pass cost beyond the engine, beside an empty `autograd.Function` on the same values.

    python bench/python/overhead.py [ROUNDS]

Three things are timed in turns, each on the same logits: (1) `kb.loss` and `backward`; (2) the engine alone, as (1) calls it, arrays and
room for gradients made beforehand; (3) an `autograd.Function` that does nothing, and `backward`. Overhead is (1) - (2), which is to be at
most 30 µs more than (3). Medians of the processor time of the thread, so that a busy machine counts less; exit status 1 if it is more.
"""

import statistics
import sys
import time

import torch

import logltn.torch
from logltn.torch import _autograd

MOST = 30e-6
CLUSTERING = """
    sort Point  sort Cluster = 0..4  param near  predicate C(Point, Cluster)
    axiom covered:   forall x: Point. exists c: Cluster. C(x, c)
    axiom inhabited: forall c: Cluster. exists x: Point. C(x, c)
    axiom smooth:    forall c: Cluster, x: Point, y: Point where dist(x, y) < near. C(x, c) -> C(y, c)
"""
FACTS = "sort Point  sort Cluster = 0..4  predicate C(Point, Cluster)  axiom all: forall x: Point. C(x, 0)"


class Empty(torch.autograd.Function):
    """Gives what it was given room for."""

    @staticmethod
    def forward(ctx, values, loss, gradient):
        ctx.gradient = gradient
        return loss.clone()

    @staticmethod
    def backward(ctx, by_loss):
        return ctx.gradient, None, None


def timed(action):
    start = time.thread_time()
    action()
    return time.thread_time() - start


def measure(name, theory, points, rounds, **arguments):
    torch.manual_seed(0)
    values = torch.randn(points, 5, requires_grad=True)
    kb = logltn.torch.KnowledgeBase(theory, sorts={"Point": torch.rand(points, 3)}, outputs={"C": "softmax"}, threads=1, **arguments)
    # What the function hands to the engine, caught on its way.
    caught = []
    apply = _autograd.Loss.apply
    _autograd.Loss.apply = lambda *given: caught.append(given) or apply(*given)
    kb.loss(C=values, alpha=2.0)
    del _autograd.Loss.apply
    _, (native, which, *numbers, coming), _, *tensors = caught[0]
    entries = _autograd._entries(which, tensors, [torch.empty_like(values)])

    def whole():
        values.grad = None
        kb.loss(C=values, alpha=2.0).backward()

    def engine():
        native.evaluate(entries, *numbers, coming, True)

    loss, gradient = torch.zeros(()), torch.zeros_like(values)

    def empty():
        values.grad = None
        Empty.apply(values, loss, gradient).backward()

    actions = (whole, engine, empty)
    found = {action: [] for action in actions}
    for turn in range(rounds + 50):
        for action in actions:
            seconds = timed(action)
            if turn >= 50:  # warm
                found[action].append(seconds)
    all_, own, nothing = (statistics.median(found[action]) for action in actions)
    more = all_ - own - nothing
    print(f"{name:24}{1e6 * all_:12.1f}{1e6 * own:12.1f}{1e6 * nothing:12.1f}{1e6 * more:12.1f}")
    return more


def main():
    torch.set_num_threads(1)
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else 3000
    print(f"{'µs, medians of ' + str(rounds):24}{'loss + back':>12}{'engine':>12}{'empty':>12}{'more':>12}")
    worst = max(
        measure("32 points, one axiom", FACTS, 32, rounds),
        measure("200 points, clustering", CLUSTERING, 200, rounds, params={"near": 0.2}),
        measure("8,000 points, one axiom", FACTS, 8_000, rounds),
    )
    verdict = "reached" if worst <= MOST else "missed"
    print(f"at most {1e6 * MOST:.0f} µs more than an empty function: {verdict} (the worst: {1e6 * worst:.1f} µs)")
    return 0 if worst <= MOST else 1


if __name__ == "__main__":
    sys.exit(main())
