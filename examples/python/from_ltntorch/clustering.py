"""Clustering, as in LTNtorch and in logltn: no labels, only axioms that describe clusters.

    python examples/python/from_ltntorch/clustering.py
"""

import ltn
import torch
from side_by_side import And, Equiv, Exists, Forall, Not, OfClass, SatAgg, mlp, side_by_side
from torch import nn

import logltn.torch

torch.manual_seed(0)
drawn_from = torch.arange(120) % 4
points = torch.tensor([[-1.0, -1.0], [1.0, -1.0], [-1.0, 1.0], [1.0, 1.0]])[drawn_from] + 0.2 * torch.randn(120, 2)
NEAR, FAR = 0.25, 1.5


def theirs(modules):
    C = ltn.Predicate(OfClass(modules["C"], lambda logits: logits.softmax(1)))

    def distance(x, y):
        return (x.value - y.value).square().sum(1).sqrt()

    def loss():
        x, y, c = ltn.Variable("x", points), ltn.Variable("y", points), ltn.Variable("c", torch.arange(4))
        return 1 - SatAgg(
            Forall(x, Exists(c, C(x, c), p=6), p=4),
            Forall(c, Exists(x, C(x, c), p=6), p=4),
            Forall([c, x, y], Equiv(C(x, c), C(y, c)), p=4, cond_vars=[x, y], cond_fn=lambda x, y: distance(x, y) < NEAR),
            Forall([c, x, y], Not(And(C(x, c), C(y, c))), p=4, cond_vars=[x, y], cond_fn=lambda x, y: distance(x, y) > FAR),
        )

    return loss


def ours(modules):
    names = ["covered", "inhabited", "together", "apart"]
    return logltn.torch.KnowledgeBase(
        """
        sort Point
        sort Cluster = 0..3
        param near
        param far
        predicate C(Point, Cluster)
        axiom covered:   forall x: Point. exists c: Cluster. C(x, c)
        axiom inhabited: forall c: Cluster. exists x: Point. C(x, c)
        axiom together:  forall c: Cluster, x, y: Point where dist(x, y) < near. C(x, c) <-> C(y, c)
        axiom apart:     forall c: Cluster, x, y: Point where dist(x, y) > far. not (C(x, c) and C(y, c))
        """,
        sorts={"Point": points},
        params={"near": NEAR, "far": FAR},
        predicates={"C": logltn.torch.softmax(modules["C"])},
        semantics="stable",
        threads=1,
        parameters={name: {"p": 6, "p_forall": 4} for name in names},  # the axioms'; 2 is for all of them together
    )


@torch.no_grad()
def figures(modules):
    cluster = modules["C"](points).argmax(1)
    # The share of pairs of points for which it is right whether they were drawn together.
    right = (cluster[:, None] == cluster) == (drawn_from[:, None] == drawn_from)
    return {"pairs told right": right.float().mean().item()}


def main():
    return side_by_side(nn.ModuleDict({"C": mlp(2, 16, 16, 4)}), theirs, ours, figures, steps=150, rate=0.02)


if __name__ == "__main__":
    main()
