"""Binary classification, as in LTNtorch and in logltn: points of a square, of which those near its middle are A.

    python examples/python/from_ltntorch/binary.py
"""

import ltn
import torch
from side_by_side import Forall, Not, SatAgg, mlp, side_by_side
from torch import nn

import logltn.torch

torch.manual_seed(0)
points = torch.rand(100, 2)
is_a = (points - 0.5).square().sum(1) < 0.09
train, test = torch.arange(50), torch.arange(50, 100)


def theirs(modules):
    net = modules["A"]
    A = ltn.Predicate(func=lambda x: torch.sigmoid(net(x)).squeeze(1))
    inside, outside = points[train][is_a[train]], points[train][~is_a[train]]

    def loss():
        x_in, x_out = ltn.Variable("x_in", inside), ltn.Variable("x_out", outside)
        return 1 - SatAgg(Forall(x_in, A(x_in)), Forall(x_out, Not(A(x_out))))

    return loss


def ours(modules):
    return logltn.torch.KnowledgeBase(
        """
        sort Point
        table inside(x: Point)
        table outside(x: Point)
        predicate A(Point)
        axiom inside:  forall (x) in inside. A(x)
        axiom outside: forall (x) in outside. not A(x)
        """,
        sorts={"Point": points},
        tables={"inside": {"x": train[is_a[train]]}, "outside": {"x": train[~is_a[train]]}},
        predicates={"A": modules["A"]},
        semantics="stable",
        threads=1,
    )


@torch.no_grad()
def figures(modules):
    right = (modules["A"](points).squeeze(1) > 0) == is_a
    return {"accuracy on 50 other points": right[test].float().mean().item()}


def main():
    return side_by_side(nn.ModuleDict({"A": mlp(2, 16, 16, 1)}), theirs, ours, figures, steps=1000, rate=0.005)


if __name__ == "__main__":
    main()
